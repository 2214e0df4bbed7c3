"""Headers that come with the compiler, the operating system or the CUDA toolkit, by the names that sources include.

Headers of C++ have no suffix, so they are none of the files that cudafix reads, and are not listed.

Sources: ISO C17, 7.1.2 [Standard headers] and C23, 7.1.3; IEEE Std 1003.1-2017 (POSIX), Base Definitions, chapter 13
[Headers]; Linux and glibc manuals for those that systems add; the `include` folder of the CUDA toolkit 13.0.
"""

from __future__ import annotations

import re

_C = """
assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h
stdalign.h stdarg.h stdatomic.h stdbit.h stdbool.h stdckdint.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h
tgmath.h threads.h time.h uchar.h wchar.h wctype.h
"""
_POSIX = """
aio.h arpa/inet.h cpio.h dirent.h dlfcn.h fcntl.h fmtmsg.h fnmatch.h ftw.h glob.h grp.h iconv.h langinfo.h libgen.h
monetary.h mqueue.h ndbm.h net/if.h netdb.h netinet/in.h netinet/tcp.h nl_types.h poll.h pthread.h pwd.h regex.h sched.h
search.h semaphore.h spawn.h strings.h stropts.h sys/ipc.h sys/mman.h sys/msg.h sys/resource.h sys/select.h sys/sem.h
sys/shm.h sys/socket.h sys/stat.h sys/statvfs.h sys/time.h sys/times.h sys/types.h sys/uio.h sys/un.h sys/utsname.h
sys/wait.h syslog.h tar.h termios.h trace.h ulimit.h unistd.h utime.h utmpx.h wordexp.h
"""
_SYSTEM = """
alloca.h argp.h bits/stdc++.h byteswap.h dos.h endian.h err.h error.h execinfo.h fts.h getopt.h ifaddrs.h io.h
linux/limits.h linux/types.h malloc.h memory.h mntent.h numa.h obstack.h omp.h process.h sys/cdefs.h sys/epoll.h
sys/eventfd.h sys/file.h sys/ioctl.h sys/param.h sys/prctl.h sys/ptrace.h sys/sysinfo.h sys/timeb.h sys/timerfd.h
sysexits.h ucontext.h values.h windows.h winsock2.h x86intrin.h immintrin.h xmmintrin.h emmintrin.h
"""
_CUDA = """
builtin_types.h channel_descriptor.h cooperative_groups.h cuComplex.h cublas.h cublasLt.h cublasXt.h cublas_v2.h
cuda.h cudaEGL.h cudaGL.h cudaProfiler.h cudaTypedefs.h cudaVDPAU.h cuda_awbarrier.h cuda_bf16.h cuda_bf16.hpp
cuda_device_runtime_api.h cuda_egl_interop.h cuda_fp16.h cuda_fp16.hpp cuda_fp4.h cuda_fp6.h cuda_fp8.h
cuda_gl_interop.h cuda_occupancy.h cuda_pipeline.h cuda_pipeline_primitives.h cuda_profiler_api.h cuda_runtime.h
cuda_runtime_api.h cuda_vdpau_interop.h cufft.h cufftXt.h cufftw.h cufile.h cupti.h curand.h curand_kernel.h
cusolverDn.h cusolverRf.h cusolverSp.h cusolver_common.h cusparse.h cusparse_v2.h device_atomic_functions.h
device_functions.h device_launch_parameters.h device_types.h driver_functions.h driver_types.h fatbinary_section.h
host_config.h host_defines.h library_types.h math_constants.h math_functions.h mma.h npp.h nvJitLink.h nvToolsExt.h
nvtx3/nvToolsExt.h nvjpeg.h nvml.h nvrtc.h nvvm.h surface_indirect_functions.h surface_types.h
texture_indirect_functions.h texture_types.h vector_functions.h vector_functions.hpp vector_types.h
"""

_OF_THE_SYSTEM = frozenset(" ".join((_C, _POSIX, _SYSTEM)).split())
_OF_CUDA = frozenset(_CUDA.split())
PROVIDED = _OF_THE_SYSTEM | _OF_CUDA
# C++17 and C++20, [headers]
_CPP = """
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes ciso646
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstdbool
cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype deque exception execution expected
filesystem format forward_list fstream functional future generator initializer_list iomanip ios iosfwd iostream
istream iterator latch limits list locale map mdspan memory memory_resource mutex new numbers numeric optional ostream
print queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span spanstream
sstream stack stacktrace stdexcept stop_token streambuf string string_view strstream syncstream system_error thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
"""
# Thrust, CUB, libcu++, NPP and cuDLA of CUDA 13.0, folders of the system, and libraries whose macros without arguments
# are constants (Xlib, Khronos, Windows SDK), or of which the tables tell what they declare
_FOLDERS_OF_CUDA = re.compile(r"(?:thrust|cub|cuda|nv|cooperative_groups|nvtx3)/.*")
_BESIDE_CUDA = re.compile(
    r"(?:sys|linux|asm|bits|netinet|arpa|net|CL|GL|GLES\d?|GLUT|GLFW|EGL|KHR|OpenGL|OpenCL|vulkan|X11)/.*"
    r"|(?:windowsx|mmsystem|strsafe|aclapi|shellapi|shlobj|sddl|tchar|winternl|commctrl|crtdbg|new|initguid|xinput"
    r"|VersionHelpers|d3d\w+|dxgi\w*)\.h"
)
_KNOWN = re.compile(
    rf"{_FOLDERS_OF_CUDA.pattern}|{_BESIDE_CUDA.pattern}"
    r"|(?:npp\w*|cudla|cusolver\w*|cuda_d3d\w+|mpi|nccl|cudnn\w*|cutensor\w*|cusparseLt|cudss|cblas|lapacke|zlib|png|jpeglib)\.h"
)
_OF_CPP = frozenset(_CPP.split())


def is_known(name: str) -> bool:
    """Whether it is known of a header which is not in the tree what it declares: each macro of it that is used without
    arguments is a constant of the tables, or runs nothing.
    """
    return name in PROVIDED or name in _OF_CPP or _KNOWN.fullmatch(name) is not None


_RUNTIME = ("__CUDA_RUNTIME_H__", "__CUDA_RUNTIME_API_H__", "__DRIVER_TYPES_H__")
# The macros by which sources ask whether a header was included, with those that define them, as the preprocessor shows
# for each header of CUDA 13.0 (docs/FACTS.md). No other of `_OF_CUDA` defines one of the libraries'.
_DEFINED_BY: dict[str, str] = {
    "__CUDA_RUNTIME_H__": "cuda_runtime.h",
    "__CUDA_RUNTIME_API_H__": "cuda_runtime.h cuda_runtime_api.h",
    "__DRIVER_TYPES_H__": "cuda_runtime.h cuda_runtime_api.h driver_types.h",
    "CUBLAS_API_H_": "cublas.h cublas_api.h cublas_v2.h cublasLt.h cublasXt.h cusolverDn.h cusolverMg.h cusolverSp.h",
    "_CUFFT_H_": "cufft.h cufftXt.h cufftw.h",
    "CURAND_H_": "curand.h curand_kernel.h",
    "CUSPARSEAPI": "cusparse.h cusparse_v2.h cusolverSp.h",
    "CUSOLVER_COMMON_H_": "cusolver_common.h cusolverDn.h cusolverMg.h cusolverRf.h cusolverSp.h",
    "NV_NPPIDEFS_H": "npp.h nppcore.h nppdefs.h nppi.h npps.h",
    "NVJPEGAPI": "nvjpeg.h",
}
GUARDS = frozenset(_DEFINED_BY)
"""The macros by which sources ask whether a header of the toolkit was included."""
OF_LIBRARIES = GUARDS - {*_RUNTIME}
"""Those of headers that nothing but an `#include` brings: nvcc reads that of the runtime in front of a `.cu` file."""
_DEFINES = {
    header: frozenset(guard for guard, headers in _DEFINED_BY.items() if header in headers.split())
    for header in {header for headers in _DEFINED_BY.values() for header in headers.split()}
}


def stand_in(name: str) -> bytes:
    """A text that defines the `GUARDS` which a header defines that is not in the tree, and under a condition of which
    nothing is known those that it may define; empty where it defines none.
    """
    certain = _DEFINES.get(name, frozenset())
    if name in _OF_THE_SYSTEM or name in _OF_CPP or _BESIDE_CUDA.fullmatch(name):
        return b""
    of_cuda = name in _OF_CUDA or name in _DEFINES or _FOLDERS_OF_CUDA.fullmatch(name)
    perhaps = (frozenset(_RUNTIME) if of_cuda else GUARDS) - certain
    lines = [f"#define {guard}" for guard in sorted(certain)]
    if perhaps:
        lines += ["#if PERHAPS", *(f"#define {guard}" for guard in sorted(perhaps)), "#endif"]
    return "\n".join((*lines, "")).encode()
