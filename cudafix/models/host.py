"""Host functions: the C and C++ standard libraries, POSIX, OpenMP, NVTX, and the helper functions of NVIDIA's samples.

The lines `@ …` name the documents. Names of `std` stand without their namespace, methods as `type.method`. Memory that
a function touches only through its arguments is in the roles; iterators count as pointers. Functions that put a pointer
into a container `keep` it. Arguments that are no memory are `hr` where somebody's own function of the same name could
be given device memory: then the call is not what it seems (see `api`). Whatever shows something to the user is
`output`, whatever reads a clock `clock`, whatever reads a file `read`. Of a library that is known by the beginnings of
its names alone, each function may do what a library of the host can do at all.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_C = """
@ C17 7.22.3, POSIX.1-2017 mmap, munmap, mlock, msync, mprotect; alloca(3), malloc_usable_size(3), strdup(3)
malloc                                  alloc   -           ; memory=host returns=pointer
{calloc,aligned_alloc,_aligned_malloc,memalign} alloc - -   ; memory=host returns=pointer
realloc                                 alloc   free -      ; memory=host returns=pointer
{alloca,__builtin_alloca,valloc}        alloc   -           ; memory=host returns=pointer
posix_memalign                          alloc   new - -     ; memory=host
{strdup,strndup,_strdup}                alloc   hr -        ; memory=host returns=pointer
{free,_aligned_free,cfree}              free    free        ; memory=host
VirtualAlloc                            alloc   - - - -     ; memory=host returns=pointer
VirtualFree                             free    free - -    ; memory=host
@ C17 7.24, K.3.7; POSIX.1-2017 memccpy, bcopy of POSIX.1-2001; bzero(3), mempcpy(3), memrchr(3)
{memcpy,memmove,mempcpy,__builtin_memcpy} host  hw hr -     ; returns=same
{memcpy_s,memmove_s}                    host    hw - hr -
{memset,__builtin_memset}               host    hw - -      ; returns=same
{bzero,ZeroMemory}                      host    hw -
bcopy                                   host    hr hw -
{memcmp,bcmp}                           host    hr hr -
{memchr,memrchr}                        host    hr - -      ; returns=same
@ POSIX.1-2017 mlock, mprotect, mmap, munmap; madvise(2), malloc_usable_size(3)
{madvise,mlock,munlock,mprotect}        host    - - -
@ POSIX.1-2017 msync: other processes see the memory from then on
msync                                   output  hr - -
@ POSIX.1-2017 mmap, munmap, shmat, shmdt; mremap(2), malloc_usable_size(3), malloc_trim(3); Win32 MapViewOfFile
munmap                                  free    free -      ; memory=host
{mmap,mmap64}                           alloc   - - - flags - - ; memory=shared returns=pointer
mremap                                  host    - -*        ; returns=same
shmat                                   alloc   segment - - ; memory=shared returns=pointer
shmdt                                   free    free        ; memory=host
MapViewOfFile                           alloc   segment -*  ; memory=shared returns=pointer
MapViewOfFileEx                         alloc   segment -*  ; memory=shared returns=pointer
UnmapViewOfFile                         free    free        ; memory=host
{malloc_usable_size,malloc_trim}        host    -
@ C17 7.24 and 7.29; POSIX.1-2017 strcasecmp, stpcpy, strtok_r, strndup; strsep(3), strchrnul(3), strlcpy(3)
{strlen,strnlen,wcslen}                 host    hr -
{strcmp,strcasecmp,stricmp,_stricmp,strcoll} host hr hr
{strncmp,strncasecmp,strnicmp,_strnicmp} host   hr hr -
{strcpy,strcat,stpcpy,strncpy,strncat,stpncpy} host hw hr - ; returns=same
{strcpy_s,strcat_s,strncpy_s,strncat_s} host    hw -*
{strlcpy,strlcat}                       host    hw hr -
memccpy                                 host    hw hr - -   ; returns=same
{strchr,strrchr,strstr,strcasestr,strpbrk,strspn,strcspn,strchrnul} host hr hr ; returns=same
strsep                                  host    hrw hr      ; returns=same
strtok_r                                host    hrw hr hw
{strerror,strsignal,perror_r,gai_strerror} host -
@ C17 7.22.1, 7.8.2
{atoi,atol,atoll,atof,_atoi64}          host    hr
{strtol,strtoul,strtoll,strtoull,strtod,strtof,strtold,strtoimax,strtoumax} host hr+of alias -
@ C17 7.4
{isalpha,isdigit,isalnum,isspace,isupper,islower,ispunct,isprint,isxdigit,iscntrl,toupper,tolower} host -
@ C17 7.21.6, 7.22.8, 7.16, 7.19, 7.11, K.3.5.3; asprintf(3)
{mbstowcs,wcstombs}                     host    hw hr -
{sprintf,vsprintf}                      host    hw hr*      ; any
{asprintf,vasprintf}                    alloc   new hr*     ; memory=host any
{snprintf,vsnprintf,sprintf_s,snprintf_s,vsprintf_s,vsnprintf_s,_snprintf,swprintf} host hw - hr* ; any
{sscanf,vsscanf,sscanf_s}               host    hr hr hw* ; bytes
{va_start,va_end,va_copy,va_arg,offsetof} host hr* ; any
{setlocale,localeconv}                  host    hr*
@ POSIX.1-2017 iconv
iconv                                   host    - hrw hrw hrw hrw
@ C++20 [re]
{regex,wregex}                          host    hr*
{regex_match,regex_search}              host    hrw*
regex_replace                           host    hr*
@ C17 7.21, 7.29, K.3.5; POSIX.1-2017 write, close, syslog, psiginfo, pclose, fsync, send
{printf,vprintf,wprintf,printf_s}       output  hr*         ; any
{puts,putchar,perror}                   output  hr*
{fprintf,vfprintf,dprintf,fprintf_s,fwprintf} output - hr* ; any
{fputs,fputc,putc}                      output  hr -
fwrite                                  output  hr - - -
write                                   output  - hr -
{pwrite,send,sendto}                    output  - hr -*
{fflush,fclose,pclose,close,fsync,fdatasync,sync} output -
psignal                                 output  - hr
@ POSIX.1-2017 syslog: a line begins with the time; vsyslog(3)
{syslog,vsyslog}                        output  - hr*       ; any timed
@ POSIX.1-2017 openlog, closelog, setlogmask: openlog keeps its first argument
openlog                                 host    keep - -
{closelog,setlogmask}                   host    -*
@ C17 7.21, K.3.5; POSIX.1-2017 open, read, pread, getline, fdopen, fseeko, lseek. What a file holds may be a time: \
proc(5), sysfs(5)
{fopen,fopen64}                         output  path mode   ; asks
freopen                                 output  path mode - ; asks
tmpfile                                 host
fopen_s                                 output  out path mode ; asks
{open,open64}                           output  path mode - ; asks
openat                                  output  - path mode - ; asks
creat                                   output  path -
{read,_read}                            read    - hw -
pread                                   read    - hw - -
fread                                   read    hw - - -
fgets                                   read    hw - -      ; returns=same
gets                                    read    hw          ; returns=same
getline                                 read    hw hw -*
getdelim                                read    hw hw - -
{fgetc,getc,getchar}                    read    hr*
{ungetc,feof,ferror,clearerr,fileno,_fileno} host hr*
{fscanf,vfscanf,fscanf_s}               read    - hr hw*
{scanf,vscanf,scanf_s}                  read    hr hw*
{fseek,fseeko,fseeko64,rewind,_fseeki64} host   hr*
@ POSIX.1-2017 lseek, ftell, fgetpos: where the end is, others may have moved it
{lseek,lseek64,ftell,ftello,ftello64,_ftelli64} host hr* ; asks
fgetpos                                 clock   - hw
@ C17 7.21.9.3
fsetpos                                 host    - hr
@ C17 7.21.5.5, 7.21.5.6: the stream uses the array as its buffer until it is closed
setvbuf                                 host    - keep - -
setbuf                                  host    - keep
@ POSIX.1-2017 fmemopen: the stream reads and writes the array
fmemopen                                host    keep - hr
@ POSIX.1-2017 pipe, dup, socketpair, readv, writev
pipe                                    host    hw
{dup,dup2}                              host    -*
@ POSIX.1-2017 posix_fallocate, lockf, posix_fadvise, posix_madvise; dup3(2), fallocate(2), flock(2), mincore(2)
{dup3,posix_fadvise,posix_madvise,mincore} host hr*
{fallocate,posix_fallocate,flock,lockf} output  hr*
socketpair                              host    - - - hw
writev                                  output  - look -
readv                                   read    - use -
@ C17 7.24.5.8: a sequence of calls works on the string of the first one
strtok                                  host    hrw+keep hr
@ POSIX.1-2017 popen: what another program tells may be a time
popen                                   clock   hr+command hr
@ POSIX.1-2017 fdopen: who has opened the file is not said, nor what it holds
fdopen                                  clock   - hr
@ POSIX.1-2017 mkstemp
mkstemp                                 host    hrw
@ zlib.h 1.3
gzopen                                  output  path mode   ; asks
gzread                                  read    - hw -
gzwrite                                 output  - hr -
gzclose                                 output  -
@ POSIX.1-2017 recv, recvfrom: what comes may be a time, and that it has come tells of one
recv                                    clock   - hw - -    ; reads_files
recvfrom                                clock   - hw - - hrw hrw ; reads_files
@ C17 7.21.4, 7.22.4.8; POSIX.1-2017 unlink, mkdir, rmdir, chdir, access, chmod, truncate, ftruncate
{remove,unlink,rename,mkdir,_mkdir,rmdir,chmod,truncate,ftruncate} output hr* ; asks
@ POSIX.1-2017 link, symlink, linkat, symlinkat, renameat, unlinkat, mkdirat, mkfifo, mknod, fchmod, chown, utimes, \
utimensat, futimens; renameat2(2), futimes(3), syncfs(2), sync_file_range(2): others see it
{link,symlink,linkat,symlinkat,renameat,renameat2,unlinkat,mkdirat,mkfifo,mknod} output hr* ; asks
{fchmod,chown,lchown,fchown,utime,utimes,lutimes,futimes,utimensat,futimens,syncfs,sync_file_range} output hr* ; asks
{access,_access}                        host    hr -        ; asks
faccessat                               host    - hr - -    ; asks
chdir                                   host    path        ; asks
@ C17 7.22.4.8: another program runs, and may tell the time or measure it
system                                  output  hr+command ; timed
@ POSIX.1-2017 sys/stat.h: the times of the last access and change
{stat,fstat,lstat,_stat,stat64,fstat64,lstat64} clock hr hw
@ POSIX.1-2017 getcwd, realpath, opendir, readdir, closedir, readlink, basename, dirname, glob
getcwd                                  host    hw -        ; returns=same
realpath                                host    hr hw
readlink                                read    hr hw -     ; asks
{basename,dirname}                      host    hrw         ; returns=same
opendir                                 host    path        ; asks
readdir                                 read    hr          ; asks
closedir                                host    hr
globfree                                host    hr
@ C17 7.22.6, 7.12; CUDA Math API 13.0 for the functions that it adds
{abs,labs,llabs,div,ldiv,lldiv,imaxabs} host    - -
{fabs,sqrt,cbrt,exp,exp2,expm1,log,log2,log10,log1p,logb}{,f,l} host -
{sin,cos,tan,asin,acos,atan,sinh,cosh,tanh,asinh,acosh,atanh}{,f,l} host -
{erf,erfc,tgamma,lgamma,floor,ceil,round,trunc,rint,nearbyint,significand}{,f,l} host -
{lround,llround,lrint,llrint,ilogb}{,f,l} host  -
{pow,atan2,fmod,remainder,hypot,copysign,nextafter,nexttoward,fdim,fmin,fmax,scalbn,scalbln,ldexp}{,f,l} host - -
fma{,f,l}                               host    - - -
{frexp,modf}{,f,l}                      host    - out
remquo{,f,l}                            host    - - out
lgamma{,f,l}_r                          host    - out
sincos{,f,l}                            host    - out out
{sincospi,sincospif}                    host    - out out
{rsqrt,rcbrt,sinpi,cospi,exp10,normcdf,normcdfinv,erfinv,erfcinv,erfcx}{,f} host -
{j0,j1,y0,y1,jn,yn}{,f}                 host    - -
{isnan,isinf,isfinite,isnormal,signbit,fpclassify,isgreater,isless,isunordered,nan,nanf,__isnan,__isinf} host - -
{fesetround,fegetround,feclearexcept,fetestexcept,feenableexcept} host hr*
{rand,random,drand48,lrand48,mrand48}   host
{srand,srandom,srand48}                 host    -
{rand_r,erand48,nrand48}                host    hrw
@ C17 7.22.4, 7.2; err(3); GCC manual "Other Builtins"; Windows API ExitProcess
{exit,_exit,_Exit,quick_exit,abort,terminate,std_terminate,__builtin_trap,__builtin_unreachable,ExitProcess} exit -
{err,errx,errc,verr,verrx} exit         - hr*               ; any
{warn,warnx,warnc,vwarn,vwarnx} output  hr*                 ; any
{assert,static_assert,_STATIC_ASSERT,NDEBUG} host hr* ; any
{atexit,at_quick_exit}                  at_exit fn      ; why=a function runs at the end of the process
set_terminate                           at_exit fn      ; why=a function runs at the end of the process
@ on_exit(3)
on_exit                                 at_exit fn -    ; why=a function runs at the end of the process
@ C17 7.14, POSIX.1-2017 sigaction, sigset; sysv_signal(3)
{signal,bsd_signal,sysv_signal,sigset}  any_time - fn   ; why=a function runs at a signal
sigaction                               any_time - fn hw ; why=a function runs at a signal
{sigemptyset,sigfillset}                host    hw
{sigaddset,sigdelset,sigismember}       host    hr -
# the handler runs in them, or the process ends
{raise,kill,killpg,sigqueue,tgkill}     output  -*
@ POSIX.1-2017 pthread_atfork: they run in each `fork`
pthread_atfork                          any_time fn fn fn ; why=a function runs in a fork
@ POSIX.1-2017 timer_create, alarm, setitimer, timer_settime, fork, waitpid; ualarm of POSIX.1-2001; timerfd_create(2)
timer_create                            any_time - fn hw ; timed why=a function of a timer
{alarm,ualarm}                          timer   -*          ; returns=time
{setitimer,getitimer}                   timer   - hr*
{timer_settime,timer_gettime,timerfd_settime,timerfd_gettime} timer hr* ; returns=time
{timer_delete,timer_getoverrun,timerfd_create} timer hr*  ; returns=time
# the child may do in memory that both share what a host thread may do
{fork,vfork}                            any_time -* ; timed why=another process
{waitpid,wait}                          external -*         ; why=another process
@ C17 7.22.4, POSIX.1-2017 exec, posix_spawn; fexecve(3)
{execv,execvp,execl,execlp,execve,execle,execvpe,fexecve} external command -* ; why=another process
{posix_spawn,posix_spawnp}              external - command -* ; why=another process
{setjmp,longjmp,_setjmp,sigsetjmp,siglongjmp} external -*   ; why=control leaves the function
@ C17 7.22.4.6, POSIX.1-2017 getopt: `optarg` points into the arguments
{getenv,secure_getenv}                  host    hr
{setenv,unsetenv}                       host    hr*
@ POSIX.1-2017 putenv: the string becomes part of the environment
putenv                                  host    keep
@ POSIX.1-2017 getopt, getopt_long(3)
{getopt,getopt_long,getopt_long_only}   host    - hr hr -*
@ C17 7.22.5
qsort                                   host    hrw - - fn
bsearch                                 host    hr hr - - fn ; returns=given
@ GCC manual "Other Builtins", POSIX.1-2017 ffs, C++20 [expr]
{ffs,ffsl,ffsll,__builtin_ffs,__builtin_ffsll} host -
{__builtin_expect,__builtin_assume,__builtin_prefetch,__builtin_popcount,__builtin_popcountll,__builtin_clz,\
__builtin_ctz} host hr* ; any
{sizeof,alignof,decltype,typeid,defined,static_cast,UINT64_C,INT64_C,UINT32_C,noexcept} host hr* ; any
@ C17 7.27; POSIX.1-2017 gettimeofday, clock_gettime, getrusage, times, ftime of POSIX.1-2001; OpenMP 5.2 18.10
{clock,time,gettimeofday,clock_gettime,timespec_get,getrusage,times,ftime,omp_get_wtime} clock out* ; returns=time
@ Windows API "Time functions", "High-resolution time stamps", NtQuerySystemTime
{QueryPerformanceCounter,QueryPerformanceFrequency,GetTickCount,GetTickCount64,timeGetTime,GetSystemTimeAsFileTime,\
GetSystemTimePreciseAsFileTime,GetSystemTime,GetLocalTime,QueryUnbiasedInterruptTime,NtQuerySystemTime,\
NtQueryPerformanceCounter} clock out* ; returns=time
{GetProcessTimes,GetThreadTimes,QueryThreadCycleTime,QueryProcessCycleTime} clock - out* ; returns=time
@ GCC manual "x86 Built-in Functions", Clang "Builtin Functions", Intel Intrinsics Guide
{__rdtsc,_rdtsc,__builtin_ia32_rdtsc,__builtin_readcyclecounter,__builtin_readsteadycounter,\
__builtin_ppc_get_timebase} clock ; returns=time
asm                                     clock               ; returns=time
{__rdtscp,_rdtscp,__builtin_ia32_rdtscp} clock  out         ; returns=time
{_mm_lfence,_mm_sfence,_mm_mfence,_mm_pause,__builtin_ia32_pause,__builtin_ia32_lfence,__builtin_ia32_sfence,\
__builtin_ia32_mfence} host
@ C17 7.27, POSIX.1-2017 clock_getres, OpenMP 5.2 18.10
{difftime,mktime,localtime,gmtime,localtime_r,gmtime_r,ctime,asctime,strftime,clock_getres,omp_get_wtick} host hr*
@ POSIX.1-2017 sleep, usleep of POSIX.1-2001, nanosleep, sched_yield; Windows API Sleep: what is left
{sleep,nanosleep,clock_nanosleep}       clock   hr*
{usleep,Sleep,sched_yield}              host    hr*
@ timeradd(3)
{timeradd,timersub}                     host    hr hr hw
timerclear                              host    hw
{timercmp,timerisset}                   host    hr*
@ POSIX.1-2017 getpid, sysconf, gethostname, uname, getrlimit, setrlimit, isatty; prlimit(2), gettid(2), getpagesize(2)
{getpid,getppid,gettid,getuid,getpagesize,sysconf,isatty} host hr*
gethostname                             host    hw -
uname                                   host    hw
getrlimit                               host    - hw
# of CPU time: a signal comes when it is spent
{setrlimit,setrlimit64}                 timer   - hr
prlimit                                 timer   - - hr hw
@ sysinfo(2): `uptime`, `loads`, `freeram`
sysinfo                                 clock   hw
@ sched_setaffinity(2), sched_getcpu(3), CPU_SET(3), get_nprocs(3), numa(3)
{sched_setaffinity,sched_getaffinity,sched_getcpu,CPU_ZERO,CPU_SET,get_nprocs,numa_available,numa_node_of_cpu} host hr*
@ POSIX.1-2017 pthread.h, semaphore.h; Windows API CreateThread; dlopen(3), shm_open(3), shmget(2)
pthread_{create,join,detach,exit,cancel} external rw*       ; why=runs in another host thread
pthread_{self,equal,attr_init,attr_destroy,mutex_init,mutex_destroy,cond_init,cond_destroy,setaffinity_np} host hr*
pthread_{mutex_lock,mutex_trylock,mutex_unlock,cond_wait,cond_signal,cond_broadcast} external -* ; why=orders host \
threads
pthread_barrier_{init,wait,destroy}     external -*         ; why=orders host threads
sem_{init,wait,post,destroy,open,close} external -*         ; why=orders host threads or processes
{CreateThread,_beginthreadex,WaitForSingleObject,WaitForMultipleObjects} external rw* ; why=runs in another host thread
{dlopen,dlsym,dlclose,LoadLibrary,GetProcAddress} external -* ; why=calls code that is loaded at run time
@ POSIX.1-2017 shm_open, shm_unlink, shmget; memfd_create(2)
shm_open                                host    segment - -
shmget                                  host    segment - -
memfd_create                            host    hr -
shm_unlink                              output  hr
@ POSIX.1-2017 sys/socket.h, arpa/inet.h
{socket,listen,shutdown,inet_addr,inet_ntoa,htons,htonl,ntohs,ntohl} host hr*
CMSG_{FIRSTHDR,NXTHDR,DATA}             host    hr -        ; returns=given
@ cmsg(3)
CMSG_{LEN,SPACE,ALIGN}                  host    -
@ POSIX.1-2017 sys/socket.h, arpa/inet.h
setsockopt                              host    - - - hr -
inet_pton                               host    - hr hw
@ POSIX.1-2017 connect, accept, getsockopt: how long it takes, and what comes of it, tells of a time
connect                                 clock   - hr -
accept                                  clock   - hw hw
getsockopt                              clock   - - - hw hw
@ POSIX.1-2017 poll, select; epoll_wait(2): they return when a time is over
poll                                    clock   hrw - -
select                                  clock   - hrw hrw hrw hrw
epoll_wait                              clock   - hw - -
@ epoll_create(2), epoll_ctl(2)
epoll_create                            host    -
epoll_ctl                               host    - - - hr
@ OpenMP 5.2 18
omp_{get_thread_num,get_num_threads,get_max_threads,set_num_threads,get_num_procs,in_parallel,set_dynamic,set_nested} \
host hr*
omp_{init_lock,destroy_lock,set_lock,unset_lock,get_num_devices,get_default_device,set_schedule,is_initial_device} \
host hr*
@ NVTX 3 nvToolsExt.h
nvtx{RangePush,RangePushA,RangePushW,RangePushEx,RangePop,Mark,MarkA,MarkEx,RangeStart,RangeStartA,RangeStartEx,\
RangeEnd} host hr*
nvtx{NameOsThread,NameCategory,NameCuda}{,A,W} host         hr*
nvtx{NameCudaStreamA,NameCudaDeviceA,NameCudaEventA,DomainCreateA,DomainDestroy,DomainRangePushEx,DomainRangePop} \
host hr*
"""

_ALGORITHMS = """
@ C++20 [algorithms], [numeric.ops], [range.adaptors]
{sort,stable_sort,partial_sort,nth_element,make_heap,push_heap,pop_heap,sort_heap,rotate} host hrw hrw hrw fn
{reverse,shuffle,random_shuffle,next_permutation,prev_permutation,partition,stable_partition,inplace_merge} host hrw \
hrw fn fn ; returns=given
{unique,remove_if}                      host    hrw hrw fn - ; returns=given
{replace,replace_if}                    host    hrw hrw fn put
iota                                    host    hw hw -
fill                                    host    hw hw put
fill/2                                  host    hw put
fill_n                                  host    hw - put    ; returns=given
generate                                host    hw hw fn
generate_n                              host    hw - fn     ; returns=given
for_each                                host    hrw hrw fn
for_each_n                              host    hrw - fn
{copy,move,reverse_copy,move_backward,copy_backward,unique_copy} host hr hr hw ; returns=given
copy_n                                  host    hr - hw     ; returns=given
{copy,move,reverse_copy,move_backward,copy_backward,unique_copy}/2 host hr hw
{copy_if,remove_copy_if,transform}/3    host    hr hw fn
remove_copy/3                           host    hr hw -
{merge,set_union,set_intersection,set_difference,set_symmetric_difference}/3 host hr hr hw
views::{take,drop,reverse,iota,enumerate,keys,values,elements,join,common,all,counted,stride,chunk,slide,repeat,single,\
empty} host hr* ; returns=given
@ C++20 [range.adaptors]; C++23 [range.zip], [range.adjacent], [range.cartesian]; C++26 [range.concat]
views::{zip,zip_transform,adjacent,adjacent_transform,pairwise,pairwise_transform,cartesian_product,filter,transform,\
take_while,drop_while,split,lazy_split,as_const,as_rvalue,chunk_by,join_with,concat,cache_latest,to_input,as_input} \
external rw* ; why=gives what it is made of by reference
{zip_view,zip_transform_view,adjacent_view,adjacent_transform_view,cartesian_product_view,filter_view,transform_view,\
take_while_view,drop_while_view,split_view,lazy_split_view,as_const_view,as_rvalue_view,chunk_by_view,join_with_view,\
join_view,elements_view,keys_view,values_view,enumerate_view,stride_view,chunk_view,slide_view,concat_view,owning_view,\
cache_latest_view,single_view,repeat_view} external rw* ; why=gives what it is made of by reference
@ C++20 [views.span], [range.subrange], [range.ref.view], [range.take], [range.drop], [range.reverse]; C++23 \
[views.mdspan]
{span,mdspan,subrange,ref_view,common_view} host -* ; returns=view
{take_view,drop_view,reverse_view,counted_iterator,common_iterator} host -* ; returns=given
{copy_if,remove_copy,remove_copy_if} host hr hr hw fn ; returns=given
rotate_copy                             host    hr hr hr hw ; returns=given
transform/4                             host    hr hr hw fn ; returns=given
transform/5                             host    hr hr hr hw fn ; returns=given
{partial_sum,adjacent_difference,inclusive_scan} host hr hr hw fn - ; returns=given
exclusive_scan                          host    hr hr hw - fn ; returns=given
{merge,set_union,set_intersection,set_difference,set_symmetric_difference} host hr hr hr hr hw fn ; returns=given
{accumulate,reduce,count,count_if,find,find_if,find_if_not,all_of,any_of,none_of,adjacent_find} host hr hr fn fn ; \
returns=given
{partition_point,is_partitioned,is_heap,is_heap_until} host hr hr fn ; returns=given
{inner_product,transform_reduce}        host    hr hr hr - fn fn
{max_element,min_element,minmax_element,is_sorted,is_sorted_until} host hr hr fn ; returns=given
{lower_bound,upper_bound,equal_range,binary_search} host hr hr hr fn ; returns=given
{equal,mismatch,lexicographical_compare,search,find_end,find_first_of,search_n,includes,is_permutation} host hr hr hr \
hr fn fn ; returns=given
swap_ranges                             host    hrw hrw hrw ; returns=given
iter_swap                               host    hrw hrw
"""

_CPP = """
@ C++20 [utility.swap], [alg.min.max], [alg.clamp], [numeric.ops.gcd], [numeric.ops.midpoint]
swap                                    host    swap swap
{max,min,minmax,clamp}                  host    hr hr hr hr ; returns=given
{gcd,lcm,midpoint}                      host    hr hr
@ C++20 [iterators], [iterator.range]
{begin,cbegin,data,size,ssize,empty,advance,distance} host hr* ; returns=same
# somewhere in what they are given
{end,cend,rbegin,rend,crbegin,crend,next,prev,make_reverse_iterator} host hr* ; returns=given
{back_inserter,front_inserter,inserter,make_move_iterator,istream_iterator,ostream_iterator} host hr* ; returns=same
istreambuf_iterator                     read    hr*
@ C++20 [utilities], [memory], [function.objects], [tuple], [optional], [any], [variant], [ptr.launder], [support]
{move,forward,ref,cref,addressof,as_const,launder,move_if_noexcept,to_address,any_cast,bit_cast,\
reinterpret_pointer_cast} host hr ; returns=same
{start_lifetime_as,start_lifetime_as_array,as_bytes,as_writable_bytes} external rw* ; why=shows objects as others, or \
as bytes
{static_pointer_cast,dynamic_pointer_cast,const_pointer_cast} host - ; returns=same
get                                     host    hr -        ; returns=element
exchange                                external rw keep    ; why=the old value is returned and replaced
{make_pair,make_tuple,tie,forward_as_tuple,pair,tuple,optional,make_optional,array,initializer_list} host keep* ; \
returns=keeper
{make_unique,make_shared,allocate_shared,unique_ptr,shared_ptr,weak_ptr,bind,function,not_fn,mem_fn,make_any} host \
keep* ; returns=keeper
{plus,minus,multiplies,divides,modulus,negate,less,greater,less_equal,greater_equal,equal_to,not_equal_to,identity,\
hash} host hr*
{logical_and,logical_or,logical_not,bit_and,bit_or,bit_xor} host hr*
{apply,visit}                           host    hrw*
invoke                                  external rw*        ; why=calls a function object
{tuple_cat,bind_front,bind_back}        host    keep*       ; returns=keeper
{cmp_less,cmp_less_equal,cmp_greater,cmp_greater_equal,cmp_equal,cmp_not_equal,in_range} host hr hr
{errc,source_location::current}         host    -
{make_unique_for_overwrite,make_shared_for_overwrite} host keep* ; returns=keeper
{terminate_handler,uncaught_exception,uncaught_exceptions,current_exception} host hr*
{rethrow_exception,throw_with_nested}   exit    -
{real,imag,conj,norm,arg,polar,proj,complex} host hr hr
@ C++20 [complex.numbers], [alg.remove], [vector.erasure], [numerics], [bit]
remove/3                                host    hrw hrw -   ; returns=same
remove/2                                host    hrw -
{erase,erase_if}                        host    hrw fn
{lerp,popcount,countl_zero,countr_zero,bit_width,bit_ceil,has_single_bit,bit_floor,rotl,rotr} host hr*
@ C++20 [containers], [strings], [input.output], [diagnostics], [rand], [localization]
{vector,deque,list,forward_list,set,map,multimap,multiset,unordered_map,unordered_set,queue,stack,priority_queue,\
valarray} host keep* ; returns=keeper
{string_view,wstring_view,basic_string_view} host hr - ; returns=same
{string,wstring,basic_string,bitset,locale,random_device,seed_seq,error_code,exception,type_index} host hr*
{stringstream,ostringstream,istringstream,filebuf,stringbuf} host hr*
# the object tells whether the file is there
ifstream                                clock   path -      ; asks
fstream                                 clock   path mode   ; asks
ofstream                                output  hr*
{runtime_error,logic_error,invalid_argument,out_of_range,domain_error,length_error,range_error,overflow_error,\
bad_alloc} host hr*
{system_error,underflow_error,ios_base::failure,nested_exception,bad_cast,bad_function_call,\
ios_base::sync_with_stdio} host hr*
{mt19937,mt19937_64,default_random_engine,minstd_rand,minstd_rand0,knuth_b,ranlux24,ranlux48} host hr*
{uniform_int,uniform_real,normal,bernoulli,exponential,poisson,geometric,gamma,binomial,lognormal,\
cauchy}_distribution host hr*
{discrete,piecewise_constant,weibull,chi_squared,student_t}_distribution host hr*
{to_string,to_wstring,quoted,to_chars,format,generate_canonical} host hr*
{stoi,stol,stoll,stoul,stoull,stof,stod,stold} host hr out -
from_chars                              host    hr hr out - ; bytes
{print,println}                         output  hr*
{setw,setprecision,setfill,setbase,fixed,scientific,hex,dec,oct,boolalpha,left,right,put_time,get_time,setiosflags,\
resetiosflags} host hr*
{endl,flush,ends}                       output  hr*
operator<<                              output  hr*         ; any
operator>>                              read    hw*
numeric_limits::{max,min,lowest,epsilon,infinity,quiet_NaN,signaling_NaN,denorm_min} host
ios::sync_with_stdio                    host    -
{new,new[]}                             alloc   -*          ; memory=host returns=pointer
{delete,delete[]}                       free    free        ; memory=host
@ C++20 [filesystems]
filesystem::{current_path,absolute,path,temp_directory_path} host hr*
filesystem::{exists,is_directory,is_regular_file,is_empty,file_size,directory_iterator,recursive_directory_iterator,\
space,hard_link_count} clock hr*
filesystem::{create_directory,create_directories,remove,remove_all,rename,copy,copy_file,create_symlink,\
create_directory_symlink,create_hard_link,last_write_time,permissions,resize_file,copy_symlink} output hr* ; asks
@ C++20 [time], [thread.thread.this]
chrono::{steady_clock,system_clock,high_resolution_clock}::now clock ; returns=time
{steady_clock,system_clock,high_resolution_clock}::now clock ; returns=time
chrono::{duration_cast,time_point_cast,duration,time_point,floor,ceil,round,seconds,milliseconds,microseconds,\
nanoseconds,minutes,hours} host hr*
{duration_cast,time_point_cast,duration,time_point} host hr*
chrono::system_clock::{to_time_t,from_time_t} host -
this_thread::{sleep_for,sleep_until,yield,get_id} host -
@ C++20 [thread], [atomics]; GCC manual "Legacy __sync Built-in Functions"; other host threads are out of reach
{thread,jthread,async,packaged_task,promise,call_once,condition_variable,barrier,latch,counting_semaphore} external \
rw* ; why=runs in another host thread
thread::hardware_concurrency            host
{thread,jthread}.{join,detach}          external rw*            ; why=runs in another host thread
{thread,jthread}.{joinable,get_id}      host    -
{lock_guard,unique_lock,scoped_lock,shared_lock,lock,try_lock,mutex,recursive_mutex} external -* ; why=orders host \
threads
atomic_{thread_fence,signal_fence}      host    hr*
{atomic,atomic_load,atomic_fetch_add,atomic_fetch_sub} host hr*
{atomic_init,atomic_store}              host    hw put
@ C++20 [atomics.nonmembers], [util.smartptr.atomic]; C17 7.17.7
atomic_exchange{,_explicit}             host    hrw put -*
atomic_compare_exchange_{strong,weak}{,_explicit} host hrw hrw put -*
atomic_store_explicit                   host    hw put -
atomic_load_explicit                    host    hr -
{atomic_fetch_{and,or,xor,min,max},atomic_fetch_{add,sub,and,or,xor,min,max}_explicit,\
atomic_flag_{test_and_set,clear}{,_explicit},atomic_ref} external rw* ; why=the values may change places
@ C++20 [thread], [atomics]; GCC manual "Legacy __sync Built-in Functions"; other host threads are out of reach
__sync_{fetch_and_add,add_and_fetch,synchronize} host hrw*
__sync_lock_test_and_set                host    hrw put -*
__sync_{val,bool}_compare_and_swap      host    hrw - put -*
@ C++20 [expr.type.conv]; vector_types.h, vector_functions.h, cuComplex.h, cuda_fp16.h, cuda_bf16.h 13.0
{bool,char,short,int,long,float,double,unsigned,size_t,ssize_t,ptrdiff_t,intptr_t,uintptr_t,uint,uchar,ushort,ulong} \
host - ; any returns=same
{u,}int{8,16,32,64}_t                   host    -           ; any
{dim3,uint3}                            host    hr*
{char,uchar,short,ushort,int,uint,long,ulong,longlong,ulonglong,float,double}[1234] host hr*
make_{char,uchar,short,ushort,int,uint,long,ulong,longlong,ulonglong,float,double}[1234] host hr*
make_cu{Complex,DoubleComplex,FloatComplex} host hr*
cuC{real,imag,onj,add,sub,mul,div,abs,fma}{,f} host hr*
cuComplex{FloatToDouble,DoubleToFloat}  host    hr*
{__half,half,__half2,half2,nv_bfloat16,__nv_bfloat16,__nv_bfloat162,nv_bfloat162} host hr*
__{float2half,half2float,float2half_rn,float2bfloat16,bfloat162float,float2bfloat16_rn,floats2half2_rn,half22float2} \
host hr*
__{double2half,half2double,halves2half2,float22half2_rn,float2half2_rn,ushort_as_half,half_as_ushort,low2half,\
high2half} host hr*
{__float_as_int,__int_as_float,__float_as_uint,__uint_as_float,__double_as_longlong,__longlong_as_double} host -
"""

_METHODS = """
@ C++20 [containers], [strings], [utilities]; what a container holds is kept by the object
{vector,deque,list,forward_list,array,string,wstring,string_view,basic_string,set,multiset,unordered_set,span,\
valarray}.{size,empty,length,max_size,capacity,count,contains} host hr -
{map,multimap,unordered_map,unordered_multimap,queue,stack,priority_queue,bitset}.{size,empty,max_size,count,\
contains} host hr -
{vector,deque,list,array,set,multiset,unordered_set,string,basic_string,string_view,span,map,multimap,unordered_map,\
initializer_list}.{begin,end,cbegin,cend,rbegin,rend,crbegin,crend} host - ; returns=same
{vector,array,string,basic_string,string_view,span}.data host - ; returns=same
{vector,deque,list,forward_list,array,string,basic_string,string_view,span,valarray,queue,stack,priority_queue}.{front,\
back,at,top,operator[]} host - - ; returns=element
span.{first,last,subspan}               host    - - -       ; returns=given
{map,unordered_map,multimap,set,unordered_set,multiset}.{find,lower_bound,upper_bound,equal_range} host - - ; \
returns=same
{map,unordered_map}.{at,operator[]}     host    - - ; returns=element
{vector,deque,list,forward_list}.{push_back,push_front} host keeper keep*
# all elements become others
{vector,deque,list,forward_list}.assign host    keeper+hw keep+put*
{vector,deque,list,forward_list}.{insert,emplace,insert_after} host keeper keep* ; returns=same
{vector,deque,list,forward_list}.{emplace_back,emplace_front} host keeper keep* ; returns=element
{set,multiset,unordered_set,map,multimap,unordered_map}.{insert,emplace,try_emplace,insert_or_assign,emplace_hint} \
host keeper keep* ; returns=same
{queue,stack,priority_queue}.push       host    keeper keep*
{queue,stack}.emplace                   host    keeper keep* ; returns=element
priority_queue.emplace                  host    keeper keep*
# as `hrw`, what it holds changes its places
{deque,list,forward_list,queue,priority_queue}.{pop_front,pop} host hrw
{vector,deque,list,stack}.{pop_back,pop} host hw
{list,forward_list}.{reverse,sort,unique,remove,remove_if} host hrw -
{vector,deque,list,forward_list,set,map,multimap,unordered_map,unordered_set,string}.{clear,shrink_to_fit,rehash} host \
hw -
{vector,deque,list,string,wstring}.erase host hrw - - ; returns=same
{set,map,multimap,unordered_map,unordered_set}.erase host hw - - ; returns=same
{vector,deque,list,set,map,multimap,unordered_map,unordered_set,string,wstring}.reserve host hw -
{vector,deque,list,valarray,string,wstring}.resize host keeper - keep
{vector,deque,list,forward_list,set,map,unordered_map,unordered_set,string,array,queue,stack,unique_ptr,shared_ptr,\
pair,tuple,optional}.swap host swap swap
{array,valarray}.fill                   host    keeper+hw keep+put
valarray.{sum,max,min,shift,apply}      host    hr -
bitset.{set,reset,flip,test,any,none,all,to_string,to_ulong,to_ullong} host hrw - -
allocator.allocate                      alloc   - - -       ; memory=host returns=pointer
allocator.deallocate                    free    - free -    ; memory=host
@ C++20 [strings]
{string,wstring,basic_string,string_view}.{c_str,str} host - ; returns=same
{string,wstring,basic_string,string_view}.{find,rfind,find_first_of,find_last_of,find_first_not_of,find_last_not_of,\
compare} host hr -*
{string,wstring,basic_string}.substr    host    hr - -
# [string.view.ops]: a view of the same characters
{string_view,wstring_view,basic_string_view}.substr host hr - - ; returns=given
{string,wstring,basic_string,string_view}.copy host hr hw - -
{string,wstring,basic_string,string_view}.{starts_with,ends_with,remove_prefix,remove_suffix} host hr -*
{string,wstring,basic_string}.{append,push_back,pop_back,insert,replace,assign,clear,operator+=} host hrw hr*
@ C++20 [input.output]
# `std::cout << a << b` is a call of `std::cout`
{cout,cerr,clog,wcout,wcerr,wclog}      output  hr*         ; any
{cin,wcin}                              read    hw*
{ostream,ofstream,fstream,iostream,cout,cerr,clog}.{write,put,flush,close,operator<<} output - hr* ; returns=same
{ifstream,fstream,istream,iostream,cin}.{read,get,getline,readsome,operator>>} read - hw* ; returns=same
{istringstream,stringstream}.{read,get,getline,readsome,operator>>} host - hw* ; returns=same bytes
{ostream,istream,ofstream,ifstream,fstream,iostream,cout,cerr,clog,cin,stringstream,ostringstream,\
istringstream}.{is_open,good,bad,eof,fail,clear,rdstate,setstate,exceptions,tie,imbue} host -*
{ostream,istream,ofstream,ifstream,fstream,iostream,cout,cerr,clog,cin,stringstream,ostringstream,\
istringstream}.{precision,width,fill,setf,unsetf,flags,copyfmt,sync_with_stdio} host -*
{istream,ifstream,fstream,iostream,cin}.{ignore,peek} read -*
{stringstream,istringstream}.{ignore,peek} host -*
{istream,ifstream,fstream,iostream,cin,stringstream,istringstream}.{seekg,gcount,unget,putback} host -*
{istream,ifstream,fstream,iostream,cin}.tellg host -        ; asks
{stringstream,istringstream}.tellg      host    -
ifstream.open                           clock   - path -    ; asks
fstream.open                            clock   - path mode ; asks
{ostream,ofstream,fstream,iostream,stringstream,ostringstream}.seekp host -*
{streambuf,filebuf,stringbuf}.{sputn,sputc,pubsync} output - hr*
{ostream,ofstream,fstream,iostream}.tellp host -            ; asks
{stringstream,ostringstream}.tellp      host    -
ofstream.open                           output  - hr -
ifstream.close                          host    -
{stringstream,ostringstream,istringstream}.{str,view,write,put,flush,operator<<} host - hr*
@ C++20 [smartptr], [optional], [any], [refwrap], [support.initlist]
{unique_ptr,shared_ptr,weak_ptr}.{get,lock,operator->,operator*} host - ; returns=same
{unique_ptr,shared_ptr,weak_ptr}.{use_count,expired,get_deleter} host -
{unique_ptr,shared_ptr}.{reset,release} external rw keep*   ; why=the object's deleter runs, or the caller owns the \
memory now
{optional,reference_wrapper,any}.{value,get,operator*,operator->} host - - ; returns=same
optional.value_or                       host    - -     ; returns=given
{optional,any}.{has_value} host   -
{optional,any}.{reset,emplace}          host    keeper+hw keep*
{initializer_list}.size                 host    -
@ C++20 [time], [rand], [complex.numbers], [atomics], [diagnostics], [type.info], [filesystems]
{duration,seconds,milliseconds,microseconds,nanoseconds,minutes,hours}.{count,zero,min,max} host -
time_point.{time_since_epoch,min,max}   host    -           ; returns=same
{steady_clock,system_clock,high_resolution_clock}.{now} clock - ; returns=time
{mt19937,mt19937_64,default_random_engine,minstd_rand,minstd_rand0,random_device}.{operator(),seed,discard,entropy,\
min,max} host hrw -
{uniform_int,uniform_real,normal,bernoulli,exponential,poisson,geometric,gamma,binomial,lognormal,cauchy,\
discrete}_distribution.{operator(),reset,param,min,max,a,b,mean,stddev} host hrw - -
{complex,cuComplex}.{real,imag}         host    - -
atomic.{load,store,exchange,fetch_add,fetch_sub,fetch_or,fetch_and} host hrw -*
atomic.compare_exchange_{strong,weak}   external hrw+keeper rw keep -* ; why=the values may change places
{exception,runtime_error,logic_error,invalid_argument,out_of_range,bad_alloc,system_error,error_code,domain_error,\
length_error}.{what,code,message,value} host - ; returns=same
{type_info,type_index}.{name,hash_code} host    -
path.{string,c_str,filename,extension,stem,parent_path,u8string,generic_string,is_absolute,is_relative,empty} host -
directory_entry.path                    host    -
directory_entry.{exists,is_directory,is_regular_file,file_size} clock -
@ C++20 [thread]
{thread,jthread,future,shared_future,promise,packaged_task,condition_variable,barrier,latch}.{join,detach,get,wait,\
wait_for,set_value,notify_one,notify_all,get_future,arrive_and_wait,joinable,request_stop} external -* ; why=orders \
host threads
{mutex,recursive_mutex,shared_mutex,unique_lock,shared_lock,lock_guard}.{lock,unlock,try_lock,lock_shared,\
unlock_shared,owns_lock} external -* ; why=orders host threads
{thread,jthread}.get_id                 host    -
@ C++20; of an object whose type is not written, names that only plain types of the standard library have
auto.{count,size,begin,end,cbegin,cend,rbegin,rend,length,empty,c_str,time_since_epoch,what,is_open,eof,good,fail} \
host - ; returns=same
"""

_SAMPLES = """
{findCudaDevice,gpuDeviceInit,findIntegratedGPU,findCudaDeviceDRV,findCudaGLDevice,gpuGLDeviceInit} set_device -*
{gpuGetMaxGflopsDeviceId,gpuGetMaxGflopsGLDeviceId,checkCudaCapabilities,_ConvertSMVer2Cores,_ConvertSMVer2ArchName} \
host -*
{getLastCudaError,printLastCudaError,__getLastCudaError,__printLastCudaError} status -*
{_cudaGetErrorEnum,ftoi,stringRemoveDelimiter,getFileExtension} host -*
sdkCreateTimer                          host    hw
sdkDeleteTimer                          host    hrw
sdk{Start,Stop,Reset}Timer              clock   hrw         ; returns=time
sdkGetTimerValue                        clock   hrw         ; returns=time
sdkGetAverageTimerValue                 host    hrw
{checkCmdLineFlag,getCmdLineArgumentInt,getCmdLineArgumentFloat} host - hr hr
{getCmdLineArgumentString,getCmdLineArgumentValue} host - hr hr hw
sdkFindFilePath                         host    hr hr
sdkLoad{PGM,PPM,PPM4,PPM4ub,PPMub}      host    hr hw hw hw - ; reads_files
sdkSave{PGM,PPM,PPM4ub,PPMub}           output  hr hr - -
sdkReadFile                             read    path hw hw -
sdkReadFileBlocks                       read    path hw hw - - -
sdkWriteFile                            output  hr hr -*
{compareData,compareDataAsFloatThreshold} host  hr hr -*
sdkCompare{PPM,PGM,L2fe,Bin2BinUint,Bin2BinFloat} host hr hr -*
sdkDumpBin                              output  hr -*
sdkLoadJPG                              host    -*          ; reads_files
"""

_OTHERS = """
# a name that ends in `*` is every name that starts so and has no row of its own
@ freeglut API, "Callbacks", "The Event Loop"
glut{DisplayFunc,KeyboardFunc,ReshapeFunc,MouseFunc,MotionFunc,TimerFunc,IdleFunc,CloseFunc,CreateMenu,SpecialFunc} \
external fn* ; \
why=a function that the window system calls
glut{MainLoop,MainLoopEvent}            external        -*      ; why=functions that the window system calls
@ freeglut API 3.4, "Initialization", "Window Functions", "Menu Functions", "Font Functions", "Geometric Object \
Functions", as the worst case: callbacks run where events are processed, and none of these does that
glut{Init,InitDisplayMode,InitDisplayString,InitWindowSize,InitWindowPosition,SetOption,SwapBuffers,PostRedisplay,\
PostWindowRedisplay,SetWindowTitle,SetIconTitle,SetCursor,IgnoreKeyRepeat,GetModifiers,AddMenuEntry,AttachMenu,\
DetachMenu,BitmapCharacter,BitmapString,BitmapWidth,BitmapLength,BitmapHeight,StrokeCharacter,StrokeString,\
{Solid,Wire}{Sphere,Cube,Cone,Torus,Cylinder,Teapot,Octahedron,Tetrahedron,Dodecahedron,Icosahedron}} output hrw* ; \
anywhere timed
@ freeglut API 3.4, "Getting Window and System State": glutGet(GLUT_ELAPSED_TIME)
glutGet                                 clock           -
@ GLFW 3.4 reference, "Input reference"
glfwGet{Time,TimerValue,TimerFrequency} clock                   ; returns=time
@ OpenGL 4.6 core and 3.3 compatibility profile, 2.8 Vertex Arrays, 5.1 Object Lifetimes, 8.4 Pixel Transfer, 10.3: \
arrays and pointers of the client are kept, read by later draws and written by reads; a query may be of a time (4.2)
gl[ABCDEFGHIJKLMNOPQRSTUVWXYZ]*         output          hidden* ; anywhere timed
@ the worst case of EGL 1.5, GLX 1.4 and WGL
{egl,glX,wgl}*                          output          hidden* ; anywhere timed
@ the worst case of a library of the host that CUDA reaches by its interoperability functions alone (CUDA C++ \
Programming Guide 13.0, "Graphics Interoperability"): it reads, writes and keeps all host memory, and tells the time
{glut,glfw,glu,glew}*                   output          hidden* ; anywhere timed
@ the worst case: they may use memory and streams of CUDA
vk*                                     external        rw*     ; why=Vulkan may share memory with CUDA
{cudla,custatevec,cuquantum,AMGX_,NvSci}* external rw*          ; why=a library that has no table
{nvinfer1,torch,at,c10,raft,rmm,cutlass,boost}::* external rw* ; why=a library that has no table
@ NVML 13.0 reference, "Initialization and Cleanup", "System Queries", "Device Queries": what a device is
nvml{Init,InitWithFlags,Shutdown,ErrorString} host      hr*
nvmlSystemGet{DriverVersion,NVMLVersion} host           hw -
nvmlSystemGetCudaDriverVersion          host            out
nvmlDeviceGet{Count,HandleByIndex,HandleBySerial,HandleByUUID,HandleByPciBusId} host hrw*
nvmlDeviceGet{Name,UUID,Serial,BoardPartNumber,VbiosVersion} host hrw hw -
nvmlDeviceGet{Index,MinorNumber,Brand,PciInfo,PciInfo_v3,NumGpuCores,Architecture,BusType,MultiGpuBoard,BoardId} host \
- hw
nvmlDeviceGet{CudaComputeCapability,MaxPcieLinkGeneration,MaxPcieLinkWidth,PowerManagementLimit,\
PowerManagementDefaultLimit,EnforcedPowerLimit,MemoryBusWidth,PersistenceMode,DisplayMode} host - hw hw
@ NVML 13.0 reference, "Device Queries": how much memory is in use, by whom
nvmlDeviceGet{MemoryInfo,BAR1MemoryInfo} free_memory    - out
nvmlDeviceGet{Compute,Graphics,MPSCompute}RunningProcesses free_memory - out out
nvmlDeviceGetAccountingStats            free_memory     - - out
@ the worst case of NVML 13.0: what a device does, has used and when (clocks, power, energy, samples, events)
nvml*                                   host            hidden* ; anywhere timed
@ NVRTC 13.0, nvJitLink 13.0, PTX Compiler APIs 13.0: compilers, which reach no device; the flow callback is kept
nvrtcSetFlowCallback                    external        fn*     ; why=a function that the compiler calls
{nvrtc,nvJitLink,nvPTXCompiler}*        host            hrw*    ; returns=given
@ BLAS Technical Forum Standard, LAPACKE 3.12, LAPACK Users' Guide: they keep nothing
{xerbla,xerbla_,xerbla_array_}          output          hr*
{cblas_,LAPACKE_}*                      host            hrw*
{s,d,c,z}{gesv,geev,gels,gesvd,gesdd,getrf,getri,getrs,potrf,potri,potrs,geqrf,syev,syevd,heev,gemm,gemv,ger,trsm,\
trmm,axpy,scal,copy,swap}_ host hrw*
{s,d}{dot,nrm2,asum}_                   host            hr*
@ Intel Intrinsics Guide 3.6: of values, and of memory by their arguments
{_mm_,_mm256_,_mm512_}*                 host            hrw*    ; returns=given
@ GCC manual "Other Builtins", "x86 Built-in Functions": the worst case of what no other row names
__builtin_*                             host            hrw*    ; timed returns=given
@ MathWorks C MEX API, C Matrix API R2024b
mexPrintf                               output          hr*     ; any
mxMalloc                                alloc   -       ; memory=host returns=pointer
mxCalloc                                alloc   - -     ; memory=host returns=pointer
mxRealloc                               alloc   free -  ; memory=host returns=pointer
mxFree                                  free    free    ; memory=host
mx{GetPr,GetPi,GetData,GetImagData,GetDoubles,GetSingles} host hr ; memory=host returns=pointer
@ the worst case of libraries of the host, which know no CUDA: they read, write and keep all host memory, tell the time
{mex,mx,gsl_,fftw_,fftwf_,BZ2_bz,stbi_,H5,nc_,png_,jpeg_,TIFF,ma_,FreeImage_,WSA}* output hidden* ; \
anywhere timed returns=hidden
DB{AddOption,Close,Create,FreeOptlist,MakeOptlist,MkDir,MkDirP,MkSymlink,Open,SetDir,Write} output hidden* ; \
anywhere timed returns=hidden
DBPut{Materials,Material,Multimat,Multimesh,Multivar,Ucdmesh,Ucdvar,Ucdvar1,Zonelist,Zonelist2} output hidden* ; \
anywhere timed returns=hidden
"""

TABLES = (
    Table("", _C, looks=False),
    Table("", _ALGORITHMS, looks=False, policies=True),
    Table("", _CPP, looks=False),
    Table("", _METHODS, looks=False),
    Table("", _OTHERS, looks=False),
    Table("NVIDIA/cuda-samples Common", _SAMPLES, looks=False),
)
