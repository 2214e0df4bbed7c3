"""Names in capitals that are constants of known libraries: to use one runs nothing.

C and POSIX: `system_constants`. The CUDA toolkit (driver_types.h, cuda.h, math_constants.h, the headers of its
libraries), MPI, OpenCL (cl.h), OpenGL (gl.h, glut.h), Vulkan (vulkan_core.h), Silo (silo.h) and OpenCV (interface.h)
begin the names of theirs with a prefix of their own.
"""

from __future__ import annotations

import re

from cudafix.models.system_constants import SYSTEM_CONSTANTS

_PREFIXED = re.compile(
    r"CUDART_[A-Z0-9_]+|CUDART?_VERSION|CU(?:BLAS(?:LT)?|FFT|RAND|SPARSE(?:LT)?|SOLVER|DNN|TENSOR|DSS)_[A-Z0-9_]+"
    r"|CUDA_(?:R|C)_[0-9A-Z_]+|CUDA_(?:SUCCESS|ERROR_[A-Z_]+)|CU_[A-Z0-9_]+|CUPTI_[A-Z0-9_]+|NVML_[A-Z0-9_]+"
    r"|NVJPEG_[A-Z0-9_]+|NPP_[A-Z0-9_]+|NPPI_[A-Z0-9_]+|NCCL_[A-Z0-9_]+|NVRTC_[A-Z0-9_]+"
    r"|MPI_[A-Z][A-Z0-9_]*|CL_[A-Z0-9_]+|GL_[A-Z0-9_]+|GLUT_[A-Z0-9_]+|VK_[A-Z0-9_]+|CV_[0-9]+[A-Z0-9_]+"
    r"|DBOPT_[A-Z0-9_]+|DB_(?:(?:NO)?CLOBBER|LOCAL|READ|APPEND|HDF5X?|PDB|UCD(?:MESH|VAR)|QUAD(?:MESH|VAR)|POINT(?:MESH|VAR)"
    r"|(?:NODE|ZONE)CENT|FLOAT|DOUBLE|INT|ZONETYPE_[A-Z]+)"
    r"|_IO[FLN]BF|_SC_\w+"
)


# C17 7.21, 7.5; POSIX.1-2017 errno, environ, getopt, timezone; getopt_long(3), program_invocation_name(3); C++17, 30.5
# [iostreams.manipulators], 21.6 [support.dynamic], by a using-directive; C17 6.4.2.2; GCC manual "Other Builtins"; CUDA
# C++ Programming Guide 13.0, "Built-in Variables"
_VARIABLES = frozenset(
    "stdin stdout stderr errno h_errno environ optarg optind opterr optopt timezone daylight tzname signgam "
    "program_invocation_name program_invocation_short_name cout cerr clog cin wcout wcerr wclog wcin endl ends flush "
    "hex dec oct fixed scientific defaultfloat left right internal boolalpha noboolalpha showbase noshowbase showpoint "
    "noshowpoint showpos noshowpos skipws noskipws unitbuf nounitbuf uppercase nouppercase ws nothrow ignore npos "
    "true false this nullptr threadIdx blockIdx blockDim gridDim warpSize".split()
)


def is_variable_of_a_library(name: str) -> bool:
    return name in _VARIABLES or (name.startswith("__") and name.endswith("__"))


def is_library_constant(name: str) -> bool:
    return name in SYSTEM_CONSTANTS or _PREFIXED.fullmatch(name) is not None


# by convention, whoever defines them: sys/param.h and linux/kernel.h, minmax.h, cuda_helper.h
_NUMBERS = frozenset(
    "min max abs sign clamp imin imax fmin fmax iabs sqr square pow2 swap ceil_div div_up div_ceil divup idivup "
    "round_up roundup align_up align_down howmany align bit array_size arraysize countof nelems likely unlikely unused "
    "stringify str xstr concat deg2rad rad2deg isnan isinf".split()
)


def computes_a_number(macro: str) -> bool:
    """Whether a macro with parameters that has this name does nothing but compute a number of what it is given."""
    return macro.lower().strip("_") in _NUMBERS
