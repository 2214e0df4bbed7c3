"""Names in capitals that are constants of known libraries: to use one runs nothing.

Object-like macros and enumerators of C17 (7.6 fenv.h, 7.7 and 5.2.4.2.2 float.h, 7.10 limits.h, 7.12 math.h, 7.14
signal.h, 7.20 stdint.h, 7.21 stdio.h, 7.22 stdlib.h, 7.27 time.h, 7.8 inttypes.h), of POSIX.1-2017 (errno.h, fcntl.h,
getopt, limits.h, math.h, sys/mman.h, sys/stat.h, unistd.h), and of the CUDA toolkit (driver_types.h, cuda.h, the
headers of its libraries, math_constants.h), of MPI, of OpenCL (cl.h) and of OpenCV (interface.h).
"""

from __future__ import annotations

import re

_CONSTANT = re.compile(
    r"(?:S?CHAR|U?SHRT|U?INT|U?LONG|U?LLONG)_M(?:IN|AX)|UCHAR_MAX|(?:CHAR|WORD|LONG)_BIT|MB_LEN_MAX"
    r"|U?INT(?:_LEAST|_FAST)?(?:8|16|32|64)_M(?:IN|AX)|U?INT(?:PTR|MAX)_M(?:IN|AX)|S?SIZE_MAX|PTRDIFF_M(?:IN|AX)"
    r"|(?:FLT|DBL|LDBL)_(?:MANT_DIG|DIG|DECIMAL_DIG|M(?:IN|AX)(?:_10)?(?:_EXP)?|EPSILON|TRUE_MIN|HAS_SUBNORM)"
    r"|FLT_(?:RADIX|ROUNDS|EVAL_METHOD)|DECIMAL_DIG|HUGE_VAL[FL]?|INFINITY|NAN"
    r"|M_(?:E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)[fl]?|FP_\w+|FE_[A-Z]+"
    r"|EXIT_SUCCESS|EXIT_FAILURE|RAND_MAX|CLOCKS_PER_SEC|CLOCK_(?:REALTIME|MONOTONIC(?:_RAW)?|PROCESS_CPUTIME_ID)"
    r"|TIME_UTC|EOF|BUFSIZ|FILENAME_MAX|FOPEN_MAX|L_tmpnam|TMP_MAX|SEEK_(?:SET|CUR|END)|_IO[FLN]BF|LC_[A-Z]+"
    r"|(?:PRI|SCN)[diouxX](?:LEAST|FAST)?(?:8|16|32|64|MAX|PTR)|SIG(?:INT|TERM|SEGV|ABRT|FPE|ILL|USR[12]|ALRM|KILL|"
    r"CHLD|HUP|PIPE|QUIT|BUS|STOP|CONT|_DFL|_IGN|_ERR)"
    r"|O_(?:RDONLY|WRONLY|RDWR|CREAT|TRUNC|APPEND|EXCL|DIRECT|SYNC|CLOEXEC|NONBLOCK)|S_I[RWX](?:USR|GRP|OTH|WX[UGO])"
    r"|PROT_(?:READ|WRITE|EXEC|NONE)|MAP_(?:SHARED|PRIVATE|ANON(?:YMOUS)?|FIXED|FAILED|POPULATE|HUGETLB|NORESERVE)"
    r"|MADV_[A-Z]+|MS_(?:A?SYNC|INVALIDATE)|_SC_\w+|STD(?:IN|OUT|ERR)_FILENO|PATH_MAX|NAME_MAX"
    r"|E(?:INVAL|NOMEM|AGAIN|INTR|EXIST|NOENT|ACCES|PERM|BUSY|IO|RANGE|DOM|PIPE|TIMEDOUT)|TRUE|FALSE"
    r"|CUDART_[A-Z0-9_]+|CUDART?_VERSION|CU(?:BLAS(?:LT)?|FFT|RAND|SPARSE(?:LT)?|SOLVER|DNN|TENSOR|DSS)_[A-Z0-9_]+"
    r"|CUDA_(?:R|C)_[0-9A-Z_]+|CUDA_(?:SUCCESS|ERROR_[A-Z_]+)|CU_[A-Z0-9_]+|NVML_[A-Z0-9_]+|NCCL_[A-Z0-9_]+"
    r"|NVRTC_[A-Z0-9_]+|MPI_[A-Z][A-Z0-9_]*|CL_[A-Z0-9_]+|CV_[0-9]+[A-Z0-9_]+"
)


def is_library_constant(name: str) -> bool:
    return _CONSTANT.fullmatch(name) is not None
