"""Types of headers that no tree has, of which objects begin, are copied, converted and end without running anything:
those of C, which have neither constructors nor destructors nor operators, and enumerations. By their names.

Any other class that a tree does not define may run code that is not seen where an object of it begins, is converted or
ends (C++17, 15.1 [class.ctor], 15.3.2 [class.conv.fct], 15.4 [class.dtor]).
"""

from __future__ import annotations

import re

_WORDS = (
    # C17 7.5 to 7.31, POSIX.1-2017 "Headers": the structures and types that these define
    "FILE DIR stat stat64 timeval timespec timezone timeb tm tms rusage rlimit utsname dirent itimerval itimerspec "
    "utimbuf iovec msghdr cmsghdr pollfd fd_set sigaction siginfo sigset sigevent sched_param passwd termios "
    "winsize flock statvfs lconv sembuf semid_ds shmid_ds msqid_ds ipc_perm option ucontext jmp_buf "
    "sigjmp_buf va_list __gnuc_va_list imaxdiv_t sockaddr sockaddr_in sockaddr_in6 sockaddr_un sockaddr_storage "
    "in_addr in6_addr hostent servent protoent addrinfo linger ifreq ifaddrs epoll_event _IO_FILE "
    # statfs(2), sysinfo(2), sched_setaffinity(2); <sys/types.h> and <sys/cdefs.h> of glibc
    "statfs sysinfo cpu_set cpu_set_t u_char u_short u_int u_long uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    # GCC manual, "128-bit Integers", "Additional Floating Types"
    "__int128 __uint128_t __int128_t __float128 _Float16 __fp16 __bf16 _Complex _Bool "
    # Windows API, "Windows Data Types", "SYSTEM_INFO", "PROCESS_MEMORY_COUNTERS"; winnt.h
    "BOOL BOOLEAN BYTE CHAR WCHAR TCHAR SHORT USHORT WORD INT UINT LONG ULONG DWORD DWORD32 DWORD64 QWORD FLOAT "
    "LONGLONG ULONGLONG LONG64 ULONG64 INT32 INT64 UINT8 UINT16 UINT32 UINT64 SIZE_T SSIZE_T DWORD_PTR ULONG_PTR "
    "LONG_PTR INT_PTR UINT_PTR PVOID LPVOID LPCVOID LPSTR LPCSTR LPWSTR LPCWSTR LPTSTR LPCTSTR HANDLE HINSTANCE "
    "HMODULE HWND HDC HGLRC HRESULT WPARAM LPARAM LRESULT LARGE_INTEGER ULARGE_INTEGER FILETIME SYSTEMTIME SYSTEM_INFO "
    "MEMORYSTATUSEX GUID LUID SECURITY_ATTRIBUTES OVERLAPPED STARTUPINFO STARTUPINFOA "
    "PROCESS_INFORMATION CRITICAL_SECTION WNDCLASS WNDCLASSEX OSVERSIONINFO OSVERSIONINFOEX WIN32_FIND_DATA WSADATA "
    "_LARGE_INTEGER __int64 "
    # CUDA C++ Programming Guide 13.0, "Built-in Vector Types"; Math API 13.0: their constructors make numbers
    "half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 nv_bfloat162 surfaceReference textureReference "
    # GoogleTest 1.14, gtest.h: what these keep are flags; Google Benchmark 1.8, benchmark.h: nothing
    "testing::Test testing::TestWithParam benchmark::Fixture "
    # helper_timer.h, paramgl.h of NVIDIA/cuda-samples: pointers to these alone are used
    "StopWatchInterface"
).split()
_BEGINNINGS = (
    # Khronos registry: OpenGL, EGL, GLX, Vulkan and OpenCL are interfaces of C; freeglut, GLFW and GLEW are as well
    "GL[a-z]", "PFN(?:_vk|GLX?|EGL)[A-Z]", "EGL(?:[A-Z]|int|enum|nsecs)", "khronos_", "GLX[A-Z]", "Vk[A-Z]",
    "cl_", "GLFW", "GLEW", "XEvent", "XVisualInfo",
    # CUDA 13.0: the libraries whose tables are beside this one are interfaces of C
    "cu(?:fft|blas|rand|sparse|solver|dnn|tensor|dss|pti|file)",
    # Intel Intrinsics Guide 3.6: vectors of numbers
    "__m(?:64|128|256|512)", "__mmask",
    # HDF5, FFTW, zlib, BLAS and LAPACK, jpeglib and libpng: interfaces of C
    "hid_t", "herr_t", "fftwf?_(?:plan|complex)", "z_stream", "gzFile", "CBLAS_", "lapack_", "jpeg_", "png_",
    # dlfcn.h, pthread.h, semaphore.h (POSIX.1-2017)
    "Dl_info", "sem_t", "pthread_",
)  # fmt: skip
_PLAIN = re.compile(rf"(?:{'|'.join(_WORDS)})\b(?!\s*::)|(?:{'|'.join(_BEGINNINGS)})\w*(?!\s*::)")


def is_plain(name: str) -> bool:
    """Whether objects of the type of this name run nothing that the tables do not know."""
    return _PLAIN.fullmatch(name) is not None


# the classes of C++17, in namespace std, which a using-directive may let stand without that
_STANDARD = frozenset(
    (
        "vector array map multimap set multiset list forward_list deque queue priority_queue stack string wstring "
        "basic_string string_view wstring_view basic_string_view pair tuple optional variant any function span bitset "
        "unordered_map unordered_set unordered_multimap unordered_multiset complex valarray initializer_list "
        "unique_ptr shared_ptr weak_ptr auto_ptr allocator reference_wrapper hash less greater plus minus "
        "ifstream ofstream fstream istringstream ostringstream stringstream istream ostream iostream streambuf ios "
        "ios_base filebuf stringbuf wifstream wofstream wstringstream locale "
        "thread jthread mutex recursive_mutex timed_mutex shared_mutex shared_timed_mutex lock_guard unique_lock "
        "scoped_lock shared_lock once_flag condition_variable condition_variable_any future shared_future promise "
        "packaged_task atomic atomic_flag atomic_int atomic_bool barrier latch counting_semaphore binary_semaphore "
        "exception runtime_error logic_error invalid_argument out_of_range domain_error length_error range_error "
        "overflow_error underflow_error bad_alloc bad_cast system_error error_code exception_ptr "
        "random_device mt19937 mt19937_64 minstd_rand default_random_engine seed_seq regex smatch cmatch "
        "type_index type_info numeric_limits ratio nanoseconds microseconds milliseconds seconds minutes hours "
        "steady_clock system_clock high_resolution_clock time_point duration path directory_iterator byte streampos "
        "nullptr_t max_align_t true_type false_type integral_constant back_insert_iterator istream_iterator "
        "ostream_iterator istreambuf_iterator reverse_iterator"
    ).split()
)


def is_standard(name: str) -> bool:
    """Whether a name is that of a class of the standard library, without its namespace."""
    return name in _STANDARD
