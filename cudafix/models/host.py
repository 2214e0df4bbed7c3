"""Host functions: the C and C++ standard libraries, POSIX, OpenMP, NVTX, and the helper functions of NVIDIA's samples.

Sources: ISO C17 and C++20, POSIX.1-2017, `err.h` of BSD and glibc, OpenMP 5.2, `helper_cuda.h`, `helper_timer.h`,
`helper_image.h` and `helper_string.h` of NVIDIA/cuda-samples. Names of `std` stand without their namespace, methods as
`type.method`. Memory that a function touches only through its arguments is in the roles; iterators count as pointers.
Functions that put a pointer into a container `keep` it. Arguments that are no memory are `hr` where somebody's own
function of the same name could be given device memory: then the call is not what it seems (see `api`). Whatever shows
something to the user is `output`, whatever reads a clock `clock`.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_C = """
# memory
malloc                                  alloc   -           ; memory=host returns=pointer
{calloc,aligned_alloc,_aligned_malloc,memalign} alloc - -   ; memory=host returns=pointer
realloc                                 alloc   free -      ; memory=host returns=pointer
{alloca,__builtin_alloca,valloc}        alloc   -           ; memory=host returns=pointer
posix_memalign                          alloc   new - -     ; memory=host
{strdup,strndup,_strdup}                alloc   hr -        ; memory=host returns=pointer
{free,_aligned_free,cfree}              free    free        ; memory=host
VirtualAlloc                            alloc   - - - -     ; memory=host returns=pointer
VirtualFree                             free    free - -    ; memory=host
{memcpy,memmove,mempcpy,__builtin_memcpy} host  hw hr -     ; returns=same
{memcpy_s,memmove_s}                    host    hw - hr -
{memset,__builtin_memset}               host    hw - -      ; returns=same
{bzero,ZeroMemory}                      host    hw -
bcopy                                   host    hr hw -
{memcmp,bcmp}                           host    hr hr -
{memchr,memrchr}                        host    hr - -      ; returns=same
{madvise,mlock,munlock,msync,mprotect}  host    - - -
munmap                                  free    free -      ; memory=host
mmap                                    alloc   - - - - - - ; memory=host returns=pointer
{malloc_usable_size,malloc_trim}        host    -
# text
{strlen,strnlen,wcslen}                 host    hr -
{strcmp,strcasecmp,stricmp,_stricmp,strcoll} host hr hr
{strncmp,strncasecmp,strnicmp,_strnicmp} host   hr hr -
{strcpy,strcat,stpcpy,strncpy,strncat,stpncpy} host hw hr - ; returns=same
{strcpy_s,strcat_s,strncpy_s,strncat_s} host    hw -*
{strlcpy,strlcat}                       host    hw hr -
memccpy                                 host    hw hr - -   ; returns=same
{strchr,strrchr,strstr,strcasestr,strpbrk,strspn,strcspn,strchrnul} host hr hr ; returns=same
{strtok,strsep}                         host    hrw hr      ; returns=same
strtok_r                                host    hrw hr hw   ; returns=same
{strerror,strsignal,perror_r,gai_strerror} host -
{atoi,atol,atoll,atof,_atoi64}          host    hr
{strtol,strtoul,strtoll,strtoull,strtod,strtof,strtold,strtoimax,strtoumax} host hr out -
{isalpha,isdigit,isalnum,isspace,isupper,islower,ispunct,isprint,isxdigit,iscntrl,toupper,tolower} host -
{mbstowcs,wcstombs}                     host    hw hr -
{sprintf,vsprintf}                      host    hw hr*      ; any
{asprintf,vasprintf}                    alloc   new hr*     ; memory=host any
{snprintf,vsnprintf,sprintf_s,_snprintf,vsprintf_s,swprintf} host hw - hr* ; any
{sscanf,vsscanf,sscanf_s}               host    hr hr hw* ; bytes
{va_start,va_end,va_copy,va_arg,offsetof} host hr* ; any
{setlocale,localeconv,iconv}            host    hr*
{regex,wregex}                          host    hr*
{regex_match,regex_search}              host    hrw*
regex_replace                           host    hr*
# output and input
{printf,vprintf,wprintf,printf_s}       output  hr*         ; any
{puts,putchar,perror}                   output  hr*
{fprintf,vfprintf,dprintf,fprintf_s,fwprintf} output - hr* ; any
{fputs,fputc,putc}                      output  hr -
fwrite                                  output  hr - - -
write                                   output  - hr -
{pwrite,send,sendto}                    output  - hr -*
{fflush,fclose,pclose,close,fsync,fdatasync,sync} output -
{syslog,psignal}                        output  - hr*
{fopen,fopen64,freopen,popen,fdopen,tmpfile} host hr hr -
{fopen_s,_wfopen_s}                     host    out hr hr
mkstemp                                 host    hrw
gzopen                                  host    hr hr
gzread                                  host    - hw - ; bytes
gzwrite                                 output  - hr -
gzclose                                 output  -
{open,open64,creat,_open}               host    hr - -
{read,_read}                            host    - hw - ; bytes
{pread,recv,recvfrom}                   host    - hw -* ; bytes
fread                                   host    hw - - - ; bytes
fgets                                   host    hw - -      ; returns=same bytes
gets                                    host    hw          ; returns=same bytes
{getline,getdelim}                      host    hw hw -* ; bytes
{fgetc,getc,getchar,ungetc,getch,_getch,feof,ferror,clearerr,fileno,_fileno,kbhit,_kbhit} host hr*
{fscanf,vfscanf,fscanf_s}               host    - hr hw* ; bytes
{scanf,vscanf,scanf_s}                  host    hr hw* ; bytes
{fseek,fseeko,fseeko64,ftell,ftello,ftello64,rewind,lseek,lseek64,_fseeki64,_ftelli64,setvbuf,setbuf,fgetpos,fsetpos} \
host hr*
{remove,unlink,rename,mkdir,_mkdir,rmdir,chdir,access,_access,chmod,truncate,ftruncate,system} output hr*
{_findfirst,_findnext}                 host    hr hw
_findclose                              host    -
{stat64,fstat64,lstat64}               host    hr hw
{stat,fstat,lstat,_stat,getcwd,realpath,readlink,opendir,readdir,closedir,glob,globfree,basename,dirname} host hr*
# numbers
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
# program
{exit,_exit,_Exit,quick_exit,abort,terminate,std_terminate,__builtin_trap,__builtin_unreachable,ExitProcess} exit -
{err,errx,errc,verr,verrx} exit         - hr*               ; any
{warn,warnx,warnc,vwarn,vwarnx} output  hr*                 ; any
{assert,static_assert,_STATIC_ASSERT,NDEBUG} host hr* ; any
{atexit,at_quick_exit,on_exit,set_terminate,signal,sigaction} external fn* ; why=a function runs at the end of the \
process or at a signal
{fork,vfork,execv,execvp,execl,execlp,waitpid,wait} external -* ; why=another process
{setjmp,longjmp,_setjmp,sigsetjmp,siglongjmp} external -*   ; why=control leaves the function
{getenv,secure_getenv}                  host    hr
{setenv,unsetenv,putenv,_putenv}        host    hr*
{getopt,getopt_long,getopt_long_only}   host    - hr hr -*
{qsort,_quicksort}                      host    hrw - - fn
bsearch                                 host    hr hr - - fn ; returns=same
{ffs,ffsl,ffsll,__builtin_ffs,__builtin_ffsll} host -
{__builtin_expect,__builtin_assume,__builtin_prefetch,__builtin_popcount,__builtin_popcountll,__builtin_clz,\
__builtin_ctz} host hr* ; any
{sizeof,alignof,decltype,typeid,defined,static_cast,UINT64_C,INT64_C,UINT32_C,noexcept} host hr* ; any
# time and system
{clock,time,gettimeofday,clock_gettime,timespec_get,getrusage,times,ftime,omp_get_wtime} clock out* ; returns=time
{QueryPerformanceCounter,QueryPerformanceFrequency,GetTickCount,GetTickCount64,timeGetTime,GetSystemTimeAsFileTime} \
clock out* ; returns=time
{__rdtsc,_rdtsc,__builtin_ia32_rdtsc,__builtin_readcyclecounter} clock ; returns=time
{difftime,mktime,localtime,gmtime,localtime_r,gmtime_r,ctime,asctime,strftime,clock_getres,omp_get_wtick} host hr*
{sleep,usleep,nanosleep,Sleep,clock_nanosleep,sched_yield,alarm} host hr*
{timeradd,timersub}                     host    hr hr hw
timerclear                              host    hw
{timercmp,timerisset}                   host    hr*
{getpid,getppid,gettid,getuid,getpagesize,sysconf,gethostname,uname,sysinfo,getrlimit,setrlimit,isatty} host hr*
{sched_setaffinity,sched_getaffinity,sched_getcpu,CPU_ZERO,CPU_SET,get_nprocs,numa_available,numa_node_of_cpu} host hr*
pthread_{create,join,detach,exit,cancel} external rw*       ; why=runs in another host thread
pthread_{self,equal,attr_init,attr_destroy,mutex_init,mutex_destroy,cond_init,cond_destroy,setaffinity_np} host hr*
pthread_{mutex_lock,mutex_trylock,mutex_unlock,cond_wait,cond_signal,cond_broadcast} external -* ; why=orders host \
threads
pthread_barrier_{init,wait,destroy}     external -*         ; why=orders host threads
sem_{init,wait,post,destroy,open,close} external -*         ; why=orders host threads or processes
{CreateThread,_beginthreadex,WaitForSingleObject,WaitForMultipleObjects} external rw* ; why=runs in another host thread
{dlopen,dlsym,dlclose,LoadLibrary,GetProcAddress} external -* ; why=calls code that is loaded at run time
{shm_open,shm_unlink,shmget,shmat,shmdt} external -*        ; why=memory that other processes see
{socket,listen,accept,connect,setsockopt,getsockopt,shutdown,inet_addr,inet_pton,inet_ntoa,htons,htonl,ntohs,\
ntohl} host hr*
{poll,select,epoll_wait,epoll_create,epoll_ctl,ioctl,fcntl} host hr*
omp_{get_thread_num,get_num_threads,get_max_threads,set_num_threads,get_num_procs,in_parallel,set_dynamic,set_nested} \
host hr*
omp_{init_lock,destroy_lock,set_lock,unset_lock,get_num_devices,get_default_device,set_schedule,is_initial_device} \
host hr*
nvtx{RangePush,RangePushA,RangePushW,RangePushEx,RangePop,Mark,MarkA,MarkEx,RangeStart,RangeStartA,RangeStartEx,\
RangeEnd} host hr*
nvtx{NameOsThread,NameCategory,NameCuda}{,A,W} host         hr*
nvtx{NameCudaStreamA,NameCudaDeviceA,NameCudaEventA,DomainCreateA,DomainDestroy,DomainRangePushEx,DomainRangePop} \
host hr*
"""

_CPP = """
# <algorithm>, <numeric>
{sort,stable_sort,partial_sort,nth_element,make_heap,push_heap,pop_heap,sort_heap,rotate} host hrw hrw hrw fn
{reverse,shuffle,random_shuffle,next_permutation,prev_permutation,partition,stable_partition,inplace_merge} host hrw \
hrw fn fn
{unique,remove_if}                      host    hrw hrw fn - ; returns=same
{replace,replace_if}                    host    hrw hrw fn put
iota                                    host    hw hw -
fill                                    host    hw hw put
fill/2                                  host    hw put
fill_n                                  host    hw - put    ; returns=same
generate                                host    hw hw fn
generate_n                              host    hw - fn
for_each                                host    hrw hrw fn
for_each_n                              host    hrw - fn
{copy,move,reverse_copy,move_backward,copy_backward,unique_copy} host hr hr hw
copy_n                                  host    hr - hw
{copy,move,reverse_copy,move_backward,copy_backward,unique_copy}/2 host hr hw
{copy_if,remove_copy_if,transform}/3    host    hr hw fn
remove_copy/3                           host    hr hw -
{merge,set_union,set_intersection,set_difference,set_symmetric_difference}/3 host hr hr hw
views::{take,drop,reverse,iota,enumerate,keys,values,elements,join,common,all,counted,stride,chunk,slide,repeat,single,\
empty} host hr* ; returns=same
{copy_if,remove_copy,remove_copy_if,rotate_copy} host hr hr hw fn
transform/4                             host    hr hr hw fn
transform/5                             host    hr hr hr hw fn
{partial_sum,adjacent_difference,inclusive_scan} host hr hr hw fn -
exclusive_scan                          host    hr hr hw - fn
{merge,set_union,set_intersection,set_difference,set_symmetric_difference} host hr hr hr hr hw fn
{accumulate,reduce,count,count_if,find,find_if,find_if_not,all_of,any_of,none_of,adjacent_find} host hr hr fn fn ; \
returns=same
{inner_product,transform_reduce}        host    hr hr hr - fn fn
{max_element,min_element,minmax_element,is_sorted,is_sorted_until} host hr hr fn ; returns=same
{lower_bound,upper_bound,equal_range,binary_search} host hr hr - fn ; returns=same
{equal,mismatch,lexicographical_compare,search,includes,is_permutation} host hr hr hr fn fn
swap_ranges                             host    hrw hrw hrw
swap                                    host    swap swap
iter_swap                               host    hrw hrw
{max,min,minmax,clamp,gcd,lcm,midpoint} host      hr hr hr hr
{begin,end,cbegin,cend,rbegin,rend,data,size,ssize,empty,advance,next,prev,distance} host hr* ; returns=same
{back_inserter,front_inserter,inserter,make_move_iterator,make_reverse_iterator,istream_iterator,ostream_iterator} \
host hr* ; returns=same
istreambuf_iterator                     host    hr*
# <utility>, <memory>, <functional>, <tuple>, <optional>
{move,forward,ref,cref,addressof,as_const,launder,move_if_noexcept,to_address,any_cast,bit_cast,\
reinterpret_pointer_cast} host hr ; returns=same
{static_pointer_cast,dynamic_pointer_cast,const_pointer_cast} host - ; returns=same
get                                     host    hr -        ; returns=same
exchange                                external rw keep    ; why=the old value is returned and replaced
{make_pair,make_tuple,tie,forward_as_tuple,pair,tuple,optional,make_optional,array,initializer_list,span} host keep* \
; returns=keeper
{make_unique,make_shared,allocate_shared,unique_ptr,shared_ptr,weak_ptr,bind,function,make_any} host keep* ; \
returns=keeper
{plus,minus,multiplies,divides,modulus,negate,less,greater,less_equal,greater_equal,equal_to,not_equal_to,identity,\
hash} host hr*
{logical_and,logical_or,logical_not,bit_and,bit_or,bit_xor,not_fn,mem_fn} host hr*
{apply,visit}                           host    hrw*
invoke                                  external rw*        ; why=calls a function object
{tuple_cat,bind_front,bind_back}        host    keep*       ; returns=keeper
{cmp_less,cmp_less_equal,cmp_greater,cmp_greater_equal,cmp_equal,cmp_not_equal,in_range} host hr hr
{errc,source_location::current}         host    -
{make_unique_for_overwrite,make_shared_for_overwrite} host keep* ; returns=keeper
{terminate_handler,uncaught_exception,uncaught_exceptions,current_exception} host hr*
{rethrow_exception,throw_with_nested}   exit    -
{real,imag,conj,norm,arg,polar,proj,complex} host hr hr
remove/3                                host    hrw hrw -   ; returns=same
{erase,erase_if}                        host    hrw fn
{lerp,popcount,countl_zero,countr_zero,bit_width,bit_ceil,has_single_bit,bit_floor,rotl,rotr} host hr*
# containers, text and numbers by their constructors
{vector,deque,list,forward_list,set,map,multimap,multiset,unordered_map,unordered_set,queue,stack,priority_queue,\
valarray} host keep* ; returns=keeper
{string,wstring,string_view,basic_string,bitset,locale,random_device,seed_seq,error_code,exception,type_index} host hr*
{stringstream,ostringstream,istringstream,ifstream,ofstream,fstream,filebuf,stringbuf} host hr*
{runtime_error,logic_error,invalid_argument,out_of_range,domain_error,length_error,range_error,overflow_error,\
bad_alloc} host hr*
{system_error,underflow_error,ios_base::failure,nested_exception,bad_cast,bad_function_call,\
ios_base::sync_with_stdio} host hr*
{mt19937,mt19937_64,default_random_engine,minstd_rand,minstd_rand0,knuth_b,ranlux24,ranlux48} host hr*
{uniform_int,uniform_real,normal,bernoulli,exponential,poisson,geometric,gamma,binomial,lognormal,\
cauchy}_distribution host hr*
{discrete,piecewise_constant,weibull,chi_squared,student_t}_distribution host hr*
{to_string,to_wstring,stoi,stol,stoll,stoul,stoull,stof,stod,stold,quoted,to_chars,format,generate_canonical} \
host hr*
from_chars                              host    hr hr out - ; bytes
{print,println}                         output  hr*
{setw,setprecision,setfill,setbase,fixed,scientific,hex,dec,oct,boolalpha,left,right,put_time,get_time,setiosflags,\
resetiosflags} host hr*
{endl,flush,ends}                       output  hr*
operator<<                              output  hr*         ; any
operator>>                              host    hw* ; bytes
numeric_limits::{max,min,lowest,epsilon,infinity,quiet_NaN,signaling_NaN,denorm_min} host
ios::sync_with_stdio                    host    -
{new,new[]}                             alloc   -*          ; memory=host returns=pointer
{delete,delete[]}                       free    free        ; memory=host
filesystem::{exists,is_directory,is_regular_file,file_size,current_path,absolute,path,temp_directory_path,\
directory_iterator} host hr*
filesystem::{create_directory,create_directories,remove,remove_all,rename,copy,copy_file} output hr*
# time
chrono::{steady_clock,system_clock,high_resolution_clock}::now clock ; returns=time
{steady_clock,system_clock,high_resolution_clock}::now clock ; returns=time
chrono::{duration_cast,time_point_cast,duration,time_point,floor,ceil,round,seconds,milliseconds,microseconds,\
nanoseconds,minutes,hours} host hr*
{duration_cast,time_point_cast,duration,time_point} host hr*
chrono::system_clock::{to_time_t,from_time_t} host -
this_thread::{sleep_for,sleep_until,yield,get_id} host -
# threads: other host threads are out of reach
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
__sync_{fetch_and_add,add_and_fetch,val_compare_and_swap,bool_compare_and_swap,synchronize,lock_test_and_set} host hrw*
# casts written as calls, and the vector types of CUDA
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
# containers: what they hold is kept by the object
{vector,deque,list,forward_list,array,string,wstring,string_view,basic_string,set,multiset,unordered_set,span,\
valarray}.{size,empty,length,max_size,capacity,count,contains} host hr -
{map,multimap,unordered_map,unordered_multimap,queue,stack,priority_queue,bitset}.{size,empty,max_size,count,\
contains} host hr -
{vector,deque,list,array,set,multiset,unordered_set,string,basic_string,string_view,span,map,multimap,unordered_map,\
initializer_list}.{begin,end,cbegin,cend,rbegin,rend,crbegin,crend} host - ; returns=same
{vector,deque,list,forward_list,array,string,basic_string,string_view,span,valarray,queue,stack,priority_queue}.{data,\
front,back,at,top,operator[]} host - - ; returns=same
{map,unordered_map,multimap,set,unordered_set,multiset}.{find,lower_bound,upper_bound,equal_range,at,operator[]} host \
- - ; returns=same
{vector,deque,list,forward_list}.{push_back,emplace_back,push_front,emplace_front,insert,emplace,assign,insert_after} \
host keeper keep*
{set,multiset,unordered_set,map,multimap,unordered_map}.{insert,emplace,try_emplace,insert_or_assign,emplace_hint} \
host keeper keep*
{queue,stack,priority_queue}.{push,emplace} host keeper keep*
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
{array,valarray}.{fill}                 host    keeper keep
valarray.{sum,max,min,shift,apply}      host    hr -
bitset.{set,reset,flip,test,any,none,all,to_string,to_ulong,to_ullong} host hrw - -
# text
{string,wstring,basic_string,string_view}.{c_str,str} host - ; returns=same
{string,wstring,basic_string,string_view}.{find,rfind,find_first_of,find_last_of,find_first_not_of,find_last_not_of,\
compare,substr} host hr -*
{string,wstring,basic_string,string_view}.{starts_with,ends_with,copy,remove_prefix,remove_suffix} host hr -*
{string,wstring,basic_string}.{append,push_back,pop_back,insert,replace,assign,clear,operator+=} host hrw hr*
# streams; `std::cout << a << b` is a call of `std::cout`
{cout,cerr,clog,wcout,wcerr,wclog}      output  hr*         ; any
{cin,wcin}                              host    hw* ; bytes
{ostream,ofstream,fstream,iostream,cout,cerr,clog}.{write,put,flush,close,operator<<} output - hr* ; returns=same
{ifstream,fstream,istream,iostream,cin,istringstream,stringstream}.{read,get,getline,readsome,operator>>} host - hw* \
; returns=same bytes
{ostream,istream,ofstream,ifstream,fstream,iostream,cout,cerr,clog,cin,stringstream,ostringstream,\
istringstream}.{is_open,good,bad,eof,fail,clear,rdbuf,rdstate,setstate,exceptions,tie,imbue} host -*
{ostream,istream,ofstream,ifstream,fstream,iostream,cout,cerr,clog,cin,stringstream,ostringstream,\
istringstream}.{precision,width,fill,setf,unsetf,flags,copyfmt,sync_with_stdio} host -*
{istream,ifstream,fstream,iostream,cin,stringstream,istringstream}.{seekg,tellg,gcount,ignore,peek,unget,putback,\
open} host -*
{ostream,ofstream,fstream,iostream,stringstream,ostringstream}.{seekp,tellp,open} host -*
ifstream.close                          host    -
{stringstream,ostringstream,istringstream}.{str,view,write,put,flush,operator<<} host - hr*
# pointers and wrappers
{unique_ptr,shared_ptr,weak_ptr}.{get,lock,operator->,operator*} host - ; returns=same
{unique_ptr,shared_ptr,weak_ptr}.{use_count,expired,get_deleter} host -
{unique_ptr,shared_ptr}.{reset,release} external rw keep*   ; why=the object's deleter runs, or the caller owns the \
memory now
{optional,reference_wrapper,any}.{value,get,value_or,operator*,operator->} host - - ; returns=same
{optional,any}.{has_value} host   -
{optional,any}.{reset,emplace}          host    keeper keep*
{initializer_list}.size                 host    -
# time and numbers
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
directory_entry.{path,is_directory,is_regular_file} host -
# threads
{thread,jthread,future,shared_future,promise,packaged_task,condition_variable,barrier,latch}.{join,detach,get,wait,\
wait_for,set_value,notify_one,notify_all,get_future,arrive_and_wait,joinable,request_stop} external -* ; why=orders \
host threads
{mutex,recursive_mutex,shared_mutex,unique_lock,shared_lock,lock_guard}.{lock,unlock,try_lock,lock_shared,\
unlock_shared,owns_lock} external -* ; why=orders host threads
{thread,jthread}.get_id                 host    -
# an object whose type is not written: names that only the standard library's plain types have
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
sdkLoad{PGM,PPM,PPM4,PPM4ub,PPMub}      host    hr hw hw hw -
sdkSave{PGM,PPM,PPM4ub,PPMub}           output  hr hr - -
sdkReadFile                             host    hr hw hw -
sdkReadFileBlocks                       host    hr hw hw - - -
sdkWriteFile                            output  hr hr -*
{compareData,compareDataAsFloatThreshold} host  hr hr -*
sdkCompare{PPM,PGM,L2fe,Bin2BinUint,Bin2BinFloat} host hr hr -*
sdkDumpBin                              output  hr -*
sdkLoadJPG                              host    -*
"""

_OTHERS = """
# libraries by prefix: a name that ends in `*` is every name that starts so and has no row of its own
glut{DisplayFunc,KeyboardFunc,ReshapeFunc,MouseFunc,MotionFunc,TimerFunc,IdleFunc,CloseFunc,CreateMenu,SpecialFunc} \
external fn* ; \
why=a function that the window system calls
glut{MainLoop,MainLoopEvent}            external        -*      ; why=functions that the window system calls
{glut,glfw,egl,glX,wgl,glu,vk,glew}*    output          hr*
gl[ABCDEFGHIJKLMNOPQRSTUVWXYZ]*         output          hr*
{cudla,custatevec,cuquantum,AMGX_,NvSci}* external rw*          ; why=a library that has no table
nvrtcSetFlowCallback                    external        fn*     ; why=a function that the compiler calls
{nvml,nvrtc,nvJitLink,nvPTXCompiler,WSA,BZ2_bz,cblas_,LAPACKE_,gsl_,fftw_,fftwf_,_mm_,_mm256_,_mm512_,__builtin_,\
stbi_}* host hrw*
{s,d,c,z}{gesv,geev,gels,gesvd,gesdd,getrf,getri,getrs,potrf,potri,potrs,geqrf,syev,syevd,heev,gemm,gemv,ger,trsm,\
trmm,axpy,scal,copy,swap}_ host hrw*
{s,d}{dot,nrm2,asum}_                   host            hr*
mexPrintf                               output          hr*     ; any
mex*                                    host            hr*
mx*                                     host            hrw*
mxMalloc                                alloc   -       ; memory=host returns=pointer
mxCalloc                                alloc   - -     ; memory=host returns=pointer
mxRealloc                               alloc   free -  ; memory=host returns=pointer
mxFree                                  free    free    ; memory=host
mx{GetPr,GetPi,GetData,GetImagData,GetDoubles,GetSingles} host hr ; memory=host returns=pointer
{H5,nc_,png_,jpeg_,TIFF,ma_,FreeImage_}* output        hrw*
{nvinfer1,torch,at,c10,raft,rmm,cutlass,boost}::* external rw* ; why=a library that has no table
"""

TABLES = (
    Table("ISO C17, POSIX.1-2017, OpenMP 5.2, NVTX 3", _C, looks=False),
    Table("ISO C++20", _CPP, looks=False),
    Table("ISO C++20", _METHODS, looks=False),
    Table("the libraries' own documentation", _OTHERS, looks=False),
    Table("NVIDIA/cuda-samples Common", _SAMPLES, looks=False),
)
