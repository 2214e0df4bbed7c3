"""Python: the modules that bind the CUDA API, the standard library, NumPy, and what else a program calls.

Names are dotted and full: `numpy.zeros`. A method of what a call returned is `numpy.zeros().astype`, so that
`numpy.*` covers the arrays too. A method of an object of which nothing is known is `object.append`: only names that
plain containers, strings, files and NumPy arrays have.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cudafix.models.rows import Table, expand


class Module(NamedTuple):
    """A module that binds C functions. `prefix` is what it leaves out of their names; `status`: a call returns it."""

    prefix: str
    status: bool


MODULES = {
    "cuda.bindings.runtime": Module("", True),
    "cuda.bindings.driver": Module("", True),
    "cupy.cuda.runtime": Module("cuda", False),
}

# The driver's names of what the ordering engine calls by the runtime's: both manage the same memory (FACTS).
TWINS = {
    "cuMemAlloc": "cudaMalloc",
    "cuMemFree": "cudaFree",
    "cuMemAllocAsync": "cudaMallocAsync",
    "cuMemFreeAsync": "cudaFreeAsync",
    "cuCtxSynchronize": "cudaDeviceSynchronize",
    "cuStreamSynchronize": "cudaStreamSynchronize",
}

# Methods of CuPy's objects as C calls; `self` and `1` are the handles (`.ptr`) of the object and of the argument.
# `current` is the stream that is current in this thread, where no argument says another. `id` is the number of a
# device: `Device(1).synchronize()` makes that one current while it waits (cupy/cuda/device.pyx).
METHODS = {
    "cupy.cuda.Stream().synchronize": ("cudaStreamSynchronize", "self"),
    "cupy.cuda.Stream().wait_event": ("cudaStreamWaitEvent", "self 1 -"),
    "cupy.cuda.Event().record": ("cudaEventRecord", "self 1|current"),
    "cupy.cuda.Event().synchronize": ("cudaEventSynchronize", "self"),
    "cupy.cuda.Device().synchronize": ("cudaDeviceSynchronize", "id"),
}
STREAM, EVENT, DEVICE = "cupy.cuda.Stream", "cupy.cuda.Event", "cupy.cuda.Device"
EXTERNAL = "cupy.cuda.ExternalStream"
"""A stream that somebody else has made, by its handle."""
OF_STREAMS = (f"{STREAM}().use", f"{STREAM}().record", f"{STREAM}().launch_host_func")
"""Further methods of a stream, which are more than one call."""
DEFAULTS = {f"{STREAM}.null": "0", f"{STREAM}.ptds": "cudaStreamPerThread"}
"""The handles of CuPy's own streams."""
KERNELS = {
    "cupy.RawKernel()": False,
    "cupy.RawModule().get_function()": False,
    "cupy.ElementwiseKernel()": True,
    "cupy.ReductionKernel()": True,
}
"""Objects that are launched on the current stream, unless they are given one; whether they return an array."""
DECORATORS = {"cupyx.jit.rawkernel": False, "cupy.fuse": True, "numba.cuda.jit": False}
"""The same of decorators that make a function a kernel. One of Numba runs on the stream that its launch names."""

# Functions whose result may be an object of any kind: what a method of it does, no row of these modules says.
ANYTHING = re.compile(
    r"builtins\.(getattr|next|min|max|iter|super|type|vars|globals|locals|eval|__import__|map|filter|reversed)$"
    r"|(random|heapq|importlib|copy|functools|operator|contextlib|pickle|json|toml|tomllib|types|typing|typing_extensions|itertools|weakref|inspect"
    r"|dataclasses|enum|gc|pkgutil|yaml|queue|contextvars|abc)\.|collections\.(namedtuple|ChainMap|User\w+)$"
)
COMBINES = re.compile(r"builtins\.(?:zip|enumerate)$|itertools\.")
"""Functions that put what they are given, and what that holds, together anew."""
TAKES = frozenset(("pop", "popleft", "popitem", "get", "setdefault", "__getitem__"))
"""Methods of containers that give an element."""
STORES = {"append": 0, "add": 0, "appendleft": 0, "put": 0, "insert": 1, "extend": 0, "update": 0}
"""Methods of containers that store what they are given from this argument on."""

INTO = re.compile(
    r"builtins\.(?:list|dict|set|bytearray)(?:\(\))?\.\w+$|object\.__\w+__$|operator\.(?:setitem|iadd|iconcat|ior)$|"
    r"heapq\.|bisect\.insort|collections\.\w+(?:\(\))?\.\w+$"
)
"""Methods of containers by other names than `STORES` has: each may keep in one argument what another is or holds, and
give what they hold.
"""

REARRANGES = re.compile(r"(?:random|numpy)\.(?:.*\.)?shuffle$|object\.shuffle$|heapq\.heap|bisect\.insort")
"""Functions that put the elements of a list that they are given into another order."""
CAUGHT = frozenset(("sys.exc_info", "sys.exception"))
"""Functions that give the exception which was caught."""
VARIABLES_OF_OTHERS = frozenset(
    "f_locals f_globals __globals__ __closure__ cell_contents __self__ __defaults__ __kwdefaults__ __code__".split()
)
"""Attributes of functions, frames and cells that lead to the variables, defaults and bodies of functions."""
SHOWS_VARIABLES = frozenset(
    (
        *(
            f"inspect.get{name}"
            for name in "argvalues closurevars generatorlocals coroutinelocals asyncgenlocals".split()
        ),
        *("gc.get_objects", "gc.get_referrers", "rich.traceback.install", "capture_locals", "show_locals"),
        "tracebacks_show_locals",
    )
)
"""Functions that do so, and words that ask others for it."""

LOADED = re.compile(r"(?:json|pickle|yaml|toml|tomllib)\.\w*load\w*$")
"""Functions that make lists and dictionaries."""
MAKERS = frozenset(("parse_args", "parse_known_args", "add_parser", "add_subparsers", "add_argument_group"))
"""Methods that make an object to which a program adds fields of its own, whatever they are called on."""
KEEPS = {"add_argument": frozenset(("default", "const")), "set_defaults": frozenset[str]()}
"""Methods of parsers of command lines, and what they get (nothing is said: all) that comes out with the arguments."""

TAKES_ADDRESSES = frozenset(f"ctypes.{name}" for name in ("string_at", "wstring_at", "memmove", "memset"))
"""Functions that work on the memory at an address, be it only a number."""

CALLED_BACK = frozenset("write writelines read readline readinto flush keys".split())
"""What functions of libraries call of an object that they are given, besides its special methods: as of a file."""
OUTPUTS = frozenset(("sys.stdout", "sys.stderr"))
"""What the functions write to that show something."""
CLOSES = {
    "contextlib.closing": "close",
    "contextlib.aclosing": "aclose",
    "contextlib.redirect_stdout": "write",
    "contextlib.redirect_stderr": "write",
}
"""Contexts that call a method of what they are given, in their body or at its end."""

# Functions that call what they are given: the position of the function, or its keyword.
CALLERS = {
    name: at
    for at, names in (
        (0, "builtins.{map,filter} functools.reduce itertools.{starmap,takewhile,dropwhile,filterfalse}"),
        (0, "numpy.{vectorize,frompyfunc,apply_along_axis,apply_over_axes,fromfunction}"),
        (1, "itertools.{accumulate,groupby}"),
    )
    for pattern in names.split()
    for name in expand(pattern)
}
CALLED = frozenset("cls key func function callback hook object_hook default_factory target default".split())

# Making a context current picks a device, by what stands for the context: the result or the first argument.
CONTEXTS = {"cuCtxCreate": True, "cuCtxPopCurrent": True, "cuCtxSetCurrent": False, "cuCtxPushCurrent": False}

# How many results come behind the status where the row of the C function does not show it; of the others it is one.
RESULTS = {
    name: count
    for count, families in (
        (
            0,
            "cuCtx{ResetPersistingL2Cache,SetCacheConfig,SetFlags,SetSharedMemConfig} cuDevicePrimaryCtxSetFlags "
            "cuFunc{Load,SetAttribute,SetBlockShape,SetCacheConfig,SetSharedMemConfig,SetSharedSize} "
            "cuKernelSet{Attribute,CacheConfig} cuLink{AddData,AddFile,Destroy} cuMemPoolSetAccess "
            "cu{,da}Profiler{Start,Stop} cu{Surf,Tex}ObjectDestroy cuTexRef{Destroy,SetAddressMode,SetBorderColor} "
            "cuTexRefSet{FilterMode,Flags,Format,MaxAnisotropy,MipmapFilterMode,MipmapLevelBias,MipmapLevelClamp} "
            "cudaFuncSet{Attribute,CacheConfig,SharedMemConfig} cudaCreateChannelDesc",
        ),
        (1, "cudaGetDeviceFlags cuStreamGet{Attribute,Ctx,Device,Flags,Id,Priority}"),
        (
            2,
            "cuCtxGetStreamPriorityRange cuDevice{ComputeCapability,GetLuid,PrimaryCtxGetState} cuLinkComplete "
            "cuOccupancyMaxPotentialBlockSize{,WithFlags} cu{Func,Kernel}GetParamInfo cuGetProcAddress "
            "cudaGetDriverEntryPoint{,ByVersion} cu{,da}GLGetDevices cuTexRefGet{Format,MipmapLevelClamp}",
        ),
    )
    for family in families.split()
    for name in expand(family)
}

_PARAMETERS = """
cudaMallocAsync                         size hStream
cudaFreeAsync                           devPtr hStream
cudaMemcpy                              dst src count kind
cudaMemcpyAsync                         dst src count kind stream
cudaMemset                              devPtr value count
cudaMemsetAsync                         devPtr value count stream
{cudaEventRecord,eventRecord}           event stream
{cudaStreamWaitEvent,streamWaitEvent}   stream event flags
{cudaStreamCreate,streamCreate}WithPriority flags priority
cuMemAllocAsync                         bytesize hStream
cuMemFreeAsync                          dptr hStream
cuMemcpy                                dst src ByteCount
cuMemcpyAsync                           dst src ByteCount hStream
cuMemcpyHtoD                            dstDevice srcHost ByteCount
cuMemcpyHtoDAsync                       dstDevice srcHost ByteCount hStream
cuMemcpyDtoH                            dstHost srcDevice ByteCount
cuMemcpyDtoHAsync                       dstHost srcDevice ByteCount hStream
cuMemcpyDtoD                            dstDevice srcDevice ByteCount
cuMemcpyDtoDAsync                       dstDevice srcDevice ByteCount hStream
cuMemsetD8                              dstDevice uc N
cuMemsetD8Async                         dstDevice uc N hStream
cuMemsetD16                             dstDevice us N
cuMemsetD16Async                        dstDevice us N hStream
cuMemsetD32                             dstDevice ui N
cuMemsetD32Async                        dstDevice ui N hStream
cuEventRecord                           hEvent hStream
cuStreamWaitEvent                       hStream hEvent Flags
cuLaunchKernel                          f gridDimX gridDimY gridDimZ blockDimX blockDimY blockDimZ sharedMemBytes \
hStream kernelParams extra
mallocAsync                             size stream
freeAsync                               ptr stream
memcpy                                  dst src size kind
memcpyAsync                             dst src size kind stream
memset                                  ptr value size
memsetAsync                             ptr value size stream
object.execute                          batch_size bindings
object.execute_v2                       bindings
object.execute_async                    batch_size bindings stream_handle input_consumed
object.execute_async_v2                 bindings stream_handle input_consumed
object.execute_async_v3                 stream_handle
object.set_tensor_address               name memory
builtins.open                           file mode="r" buffering encoding errors newline closefd opener
"""
_WRITTEN = {
    name: tuple(names)
    for pattern, *names in (line.split() for line in _PARAMETERS.splitlines() if line)
    for name in expand(pattern)
}
# The names of parameters whose order matters: of cuda-python 13.0, CuPy 14.2 (`cupy.cuda.runtime`), TensorRT 10 and
# Python 3.14.
PARAMETERS = {name: tuple(one.partition("=")[0] for one in names) for name, names in _WRITTEN.items()}
# What some of them are where they are not given, by their position.
ASSUMED: dict[str, dict[int, str]] = {
    name: {at: one.partition("=")[2] for at, one in enumerate(names) if "=" in one} for name, names in _WRITTEN.items()
}

_BUILTINS = """
builtins.{print,input}                  output  look*
builtins.{str,repr,format,ascii}        host    look*
builtins.str().{format,format_map,join} host    - look*
builtins.{breakpoint}                   output  hr*
builtins.{exit,quit}                    exit    -*
builtins.{len,bool,id,hash,isinstance,issubclass,callable} host hr*
builtins.open/1                         host    path
builtins.open                           output  path mode -*
builtins.open().{read,readline,readlines,readinto,__next__,__iter__} read hrw*
builtins.*                              host    hrw*
builtins.open().{read,readline,readlines,readinto,readinto1,read1,__next__,__iter__} host hr hrw* ; reads_files
builtins.open().writelines              output  - look*
builtins.open().{write,flush,close,truncate,__enter__,__exit__} output - hr*
builtins.{exec,eval,compile,__import__,setattr,delattr,object.__setattr__,object.__delattr__} \
external rw* ; why=code that is made while the program runs
"""

_STANDARD = """
# a value that comes from code that is not seen
python.outside                          host    ; returns=same
time.{time,time_ns,perf_counter,perf_counter_ns,monotonic,monotonic_ns,process_time,process_time_ns,thread_time,\
thread_time_ns} clock ; returns=time
time.{clock_gettime,clock_gettime_ns,localtime,gmtime,ctime,asctime,strftime} clock -* ; returns=time
time.{sleep,mktime,strptime,struct_time,get_clock_info,clock_getres,tzset} host hr*
timeit.*                                clock   hrw*        ; returns=time
datetime.datetime.{now,utcnow,today}    clock   -*          ; returns=time
{datetime.date.today,pandas.Timestamp.now,os.times,uuid.uuid1,resource.getrusage} clock -* ; returns=time
{numpy.datetime64,pandas.{Timestamp,to_datetime},os.path.{getmtime,getctime,getatime}} clock hr* ; returns=time
@ Python 3.13 library: mmap, multiprocessing.shared_memory
mmap.mmap                               alloc   -*          ; memory=shared returns=pointer
mmap.mmap().{read,readline,read_byte,__getitem__,find,rfind} host hr -* ; reads_files
mmap.mmap().{write,write_byte,flush,resize,move,__setitem__} output hrw hr*
mmap.mmap().{seek,tell,size,close,madvise,__enter__,__exit__} host hr -*
multiprocessing.shared_memory.SharedMemory alloc -*         ; memory=shared returns=pointer
multiprocessing.shared_memory.SharedMemory().close host hr
multiprocessing.shared_memory.SharedMemory().unlink output hr
multiprocessing.shared_memory.ShareableList alloc -*        ; memory=shared returns=pointer
@ Python 3.13 library: os, pathlib, io, subprocess; psutil 7
# when a file was written, what another program tells, how busy the machine is
os.popen                                clock   hrw+command hrw*
os.{stat,lstat,fstat,scandir,getloadavg,wait,wait3,wait4,waitpid,waitid,read,pread,readv} clock hrw*
pathlib.{Path,PurePath}().{stat,lstat}  clock   hr*
pathlib.Path().{read_text,read_bytes}   read    hr*
pathlib.{Path,PurePath,PosixPath,PurePosixPath,WindowsPath,PureWindowsPath} host path*
{io,codecs,gzip,bz2,lzma}.open          output  path*
psutil.*                                clock   hrw*
subprocess.*                            output  hrw+command hrw* ; timed
os.posix_spawn{,p}                      external rw+command rw* ; why=runs in another process
# the child may do in memory that both share what a host thread may do
os.{fork,forkpty}                       any_time -* ; timed why=runs in another process
sys.exit                                exit    -*
os.{_exit,abort,execv,execvp}           exit    -*
sys.{stdout,stderr}.writelines          output  look*
{sys.{stdout,stderr,__stdout__,__stderr__}.,sys.{displayhook,excepthook,unraisablehook}}* output hr*
sys.{stdout,stderr}.{isatty,fileno}     host    hr*
io.{BytesIO,StringIO,BufferedWriter,FileIO}().writelines output hrw look*
os.system                               output  hr+command  ; timed
# others see all that a program does to files, processes and the terminal, but for what these functions do
os.{access,chdir,fchdir,getcwd,getcwdb,listdir,walk,fwalk,readlink,statvfs,fstatvfs,isatty,ttyname,ctermid} host hrw*
os.{getenv,getenvb,putenv,unsetenv,fspath,fsencode,fsdecode,strerror,device_encoding,get_terminal_size,umask} host hrw*
os.{getpid,getppid,getpgid,getpgrp,getsid,getuid,geteuid,getgid,getegid,getgroups,getlogin,getpriority,uname} host hrw*
os.{sysconf,confstr,pathconf,fpathconf,cpu_count,process_cpu_count,urandom,getrandom,get_exec_path,lseek} host hrw*
os.{pipe,pipe2,dup,dup2,fdopen,memfd_create,get_blocking,set_blocking,get_inheritable,set_inheritable} host hrw*
os.{major,minor,makedev,PathLike,DirEntry,error} host hrw*
os.{sched_,environ,path.,W,O_,F_,R_,X_,SEEK_}* host hrw*
os.open                                 output  path mode*
io.{open,FileIO,BufferedWriter,TextIOWrapper}().{write,flush,close,truncate,__enter__,__exit__} output - hr*
{tempfile,shutil,warnings,pprint,traceback,webbrowser,pickle,csv}.* output hr*
# they show or send the time, or wait for others who do
{logging,urllib,requests,socket,tqdm,wandb,rich}.* output hrw* ; timed
logging.{getLogger,Formatter,StreamHandler,FileHandler,basicConfig} host hr*
{threading,multiprocessing,concurrent,asyncio,queue,sched,joblib}.* external rw* ; why=runs in another host thread
threading.{Lock,RLock,current_thread,get_ident} host -*
threading.{Lock,RLock}().{acquire,release,__enter__,__exit__,locked} host -*
atexit.register                         at_exit fn rw*     ; why=a function that runs later
signal.signal                           any_time -  fn      ; why=a function that runs at a signal
signal.{alarm,setitimer,getitimer,sigtimedwait} timer hr*   ; returns=time
signal.{raise_signal,pthread_kill}      output  -*
signal.SIG*                             nothing
signal.ITIMER_*                         nothing
signal.{Signals,Handlers,getsignal,strsignal,valid_signals,siginterrupt} host -*
weakref.finalize                        any_time rw fn rw* ; timed why=a function that runs when an object ends
{sys,threading}.{settrace,setprofile,settrace_all_threads,setprofile_all_threads} any_time fn ; timed why=a function \
that runs at each step
sys.addaudithook                        any_time fn ; timed why=a function that runs at each step
weakref.{ref,proxy,WeakMethod}/2        any_time rw fn     ; timed why=a function that runs when an object ends
gc.callbacks.{append,insert,extend}     any_time fn* ; timed why=a function that runs when memory is looked through
{json.{dump,dumps},copy.deepcopy,dataclasses.{astuple,asdict},string.*} host look*
os.{read,pread,readv,preadv} host hrw* ; reads_files
os.{sendfile,copy_file_range,splice} output hrw* ; reads_files
os.*                                    output  hrw*
io.*.{read,readline,readlines,readinto,readall,read1} host hrw* ; reads_files
pathlib.*.{read_text,read_bytes} host hrw* ; reads_files
pathlib.*.{absolute,as_posix,as_uri,exists,expanduser,full_match,glob,group,is_absolute,is_block_device,is_char_device,\
is_dir,is_fifo,is_file,is_junction,is_mount,is_relative_to,is_socket,is_symlink,iterdir,joinpath,match,owner,readlink,\
relative_to,resolve,rglob,samefile,walk,with_name,with_segments,with_stem,with_suffix} host hrw*
pathlib.*.__*                           host    hrw*
pathlib.Path.{cwd,home,from_uri}        host    hrw*
pathlib.Path().open/1                   host    hr
pathlib.Path().open                     output  hr mode*
pathlib.*                               output  hrw*
{gzip,zipfile,tarfile,configparser,codecs,toml,tomllib,yaml,fileinput,linecache}.* host hrw* ; reads_files
json.load                               host    hrw*        ; reads_files
{math,cmath,random,json,re,sys,io,time,datetime,argparse,collections,itertools,functools,operator,typing,\
struct,string,textwrap,copy,decimal,fractions,statistics,enum,dataclasses,abc,contextlib,platform,glob,fnmatch,\
hashlib,base64,uuid,inspect,types,bisect,heapq,array,secrets,getpass,gc,weakref,errno,locale,zlib,\
unicodedata,importlib,pkgutil,site,numbers,__future__,sysconfig,shlex,binascii,calendar,\
typing_extensions,packaging}.* host hrw*
"""

_NUMPY = """
@ NumPy 2.3 reference; SciPy 1.16, Pillow 11, pandas 2.3, ONNX 1.18, scikit-image 0.25, h5py 3.14, NetworkX 3.5, \
SymPy 1.14: of what they are given, whatever it may hold
numpy.memmap                            alloc   -*          ; memory=shared returns=pointer
numpy.{fromfile,load,loadtxt,genfromtxt} host hrw*          ; reads_files
numpy.{save,savez,savez_compressed,savetxt,ndarray.tofile,*.tofile,*.dump,*.flush} output hr*
{numpy,ml_dtypes,networkx,sympy}.*       host    hrw*
{scipy,PIL,pandas,onnx,skimage,h5py}.*  host    hrw*        ; reads_files
@ matplotlib 3.10, OpenCV 4, imageio 2.37
{matplotlib,imageio}.*                  output  hrw*
cv2.{VideoCapture,getTickCount,TickMeter}* output hrw*      ; timed
cv2.*                                   output  hrw*
@ google.colab of 2025
google.colab.{files,drive,userdata,auth,patches,data_table,sheets,snippets}* output hrw*
google.colab.{output,_message,kernel}*  external rw*        ; why=functions that the page of the notebook calls
@ Python 3.13 library reference, ctypes
ctypes.{CDLL,cdll,PyDLL,CFUNCTYPE,WinDLL}* external rw*     ; why=code that is no Python
ctypes.*                                host    hrw*
"""

_CUDA = """
# what the bindings have besides the C functions: types, structs and enumerators, made from plain values
cuda.bindings.nvrtc.*                   nothing hrw*
cuda.pathfinder.*                       host    hr*
cupy.cuda.compile_with_cache            nothing hr*
# memory of a pool, which gives the same again when Python has dropped an earlier object
cupy.cuda.alloc_pinned_memory           alloc   -*          ; memory=shared returns=pointer
cupy.{RawKernel,RawModule,ElementwiseKernel,ReductionKernel,fuse} nothing hr*
cupyx.jit.rawkernel                     nothing hr*
cupy.RawModule().get_function           nothing hr*
cupy.cuda.{get_device_id,is_available,get_cuda_path} nothing hr*
cupy.cuda.{Stream,Event,Device}().{done,ptr,id,is_non_blocking} nothing hr*
@ NVML 13.0 reference; the worst case of what a device does, has used and when
pynvml.nvml{Init,Shutdown,SystemGetDriverVersion,SystemGetNVMLVersion,SystemGetCudaDriverVersion} nothing hr*
pynvml.nvmlDeviceGet{Count,HandleByIndex,HandleByUUID,HandleByPciBusId,Name,UUID,Index,PciInfo,\
CudaComputeCapability,NumGpuCores,Architecture} nothing hr*
pynvml.nvmlDeviceGet{MemoryInfo,BAR1MemoryInfo,ComputeRunningProcesses,GraphicsRunningProcesses} free_memory
pynvml.nvmlDeviceGet{MemoryInfo,BAR1MemoryInfo,ComputeRunningProcesses,GraphicsRunningProcesses}/1 free_memory -
pynvml.*                                host    hr*         ; timed
# packages that ask NVML or start nvidia-smi for what devices have free
{GPUtil,gpustat,nvidia_smi,py3nvml,nvitop}.* free_memory hr*
torch.cuda.{mem_get_info,device_memory_used,list_gpu_processes} free_memory hr*
"""

_METHODS = """
object.{append,extend,insert,remove,pop,popleft,appendleft,popitem,clear,sort,reverse,update,setdefault,add,discard,\
rotate,fill,put,partition,resize,itemset} host hrw hrw*
object.{get_memory_info,mem_get_info,memGetInfo,nvmlDeviceGetMemoryInfo} free_memory hr hr*
object.{keys,values,items,get,index,count,copy,union,difference,intersection,issubset,isdisjoint} host hr hr*
object.{format,format_map,join} host hr look*
object.{split,rsplit,splitlines,strip,lstrip,rstrip,replace,startswith,endswith,lower,upper,title,encode,\
decode,ljust,rjust,center,zfill,partition,rpartition,find,rfind,isdigit,isalpha,capitalize,expandtabs,hex,\
casefold,removeprefix,removesuffix} host hr hr*
object.{astype,reshape,ravel,flatten,tolist,transpose,squeeze,swapaxes,view,tobytes,item,mean,sum,min,max,std,var,prod,\
cumsum,argmax,argmin,argsort,all,any,dot,clip,round,nonzero,repeat,take,diagonal,trace,conj,byteswap,newbyteorder} \
host hr hr*
object.{data_as,from_address,from_buffer,from_buffer_copy,as_integer_ratio,bit_length,to_bytes,from_bytes,is_integer} \
host hr hr*
object.{add_argument,parse_args,parse_known_args,add_mutually_exclusive_group,add_subparsers,set_defaults,\
add_argument_group} host hrw hr*
object.{print_help,print_usage} output look look*
object.{read,readline,readlines,readinto,read_text,read_bytes} read hr hrw*
object.{seek,tell,fileno,exists,is_file,is_dir,iterdir,\
joinpath,resolve,absolute,with_suffix,relative_to,as_posix,expanduser,total_seconds,isoformat,strftime,group,groups} \
host hr hrw*
object.{info,debug,warning,error,critical,exception,log} output hr look* ; timed
object.writelines                       output  hr look*
object.{write,flush,close,write_text,write_bytes,mkdir,\
unlink,touch,rmdir,rename,chmod,lchmod,symlink_to,hardlink_to,link_to} output hr hr*
# of a path, which has no more arguments (`str.replace` has)
object.replace/2                        output  hr hr
"""

TABLES = (
    Table("Python 3.13 library reference, Built-in Functions", _BUILTINS, looks=False),
    Table("Python 3.13 library reference", _STANDARD, looks=False),
    Table("", _NUMPY, looks=False),
    Table("cuda-python 13.5, CuPy 14.2", _CUDA, looks=False),
    Table("Python 3.13, NumPy 2.3", _METHODS, looks=False),
)

GPU_LIBRARIES = frozenset(
    "torch torchvision jax jaxlib tensorflow cudf cuml cugraph cuspatial cuvs raft_dask dask_cuda mpi4py tensorrt "
    "polygraphy onnxruntime paddle mxnet pycuda nvidia_dali cuquantum custatevec cutensor nvmath cuda cucim warp "
    "pylibraft kvikio ucp ucxx nccl triton chainer xgboost lightgbm cupy cupyx numba rmm".split()
)

HOST_PACKAGES = frozenset(
    "numpy scipy matplotlib pandas PIL tqdm pytest sympy imageio skimage yaml rich click seaborn psutil IPython "
    "ipywidgets tabulate requests sklearn networkx h5py plotly bokeh nvtx pynvml google".split()
)
"""Packages that do not work on the device, or not on arrays of another package."""

NO_CLOCKS = frozenset(
    "__future__ abc argparse array ast atexit base64 binascii bisect bz2 cmath codecs collections colorsys "
    "configparser contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib enum errno "
    "fnmatch fractions functools gc getopt glob hashlib heapq hmac html io itertools json keyword locale lzma "
    "math numbers operator optparse os pathlib pickle platform pprint random re reprlib secrets shlex shutil "
    "statistics string struct sys tempfile textwrap threading time tomllib toml traceback types typing "
    "typing_extensions unicodedata uuid warnings weakref zlib numpy scipy networkx sympy PIL ml_dtypes yaml "
    "pandas skimage tabulate nvtx matplotlib h5py".split()
)
"""Modules that tell no time, but for the functions of which a row says so: Python 3.13 library reference; NumPy 2.3,
SciPy 1.16, NetworkX 3.5, SymPy 1.14, Pillow 11, ml_dtypes 0.5, PyYAML 6, pandas 2.3, scikit-image 0.25, tabulate 0.9,
nvtx 0.2, matplotlib 3.10, h5py 3.14.
"""
HAS_CLOCKS = frozenset(
    "time datetime datetime.datetime datetime.date os os.path uuid pandas pandas.Timestamp io threading".split()
)
"""Those of them, and their classes, that have such functions."""
CLOCK_METHODS = frozenset(
    "now utcnow today getmtime getctime getatime st_mtime st_mtime_ns st_ctime st_atime stat lstat lastResort "
    "perf_counter perf_counter_ns monotonic monotonic_ns time_ns process_time process_time_ns thread_time "
    "thread_time_ns clock_gettime clock_gettime_ns getrusage uuid1 uuid6 uuid7 get_elapsed_time elapsed_time "
    "read_text read_bytes FuncAnimation ginput waitforbuttonpress new_timer make_archive "
    "pythonapi LibraryLoader PYFUNCTYPE".split()
)
"""Functions and attributes by which objects of these modules tell a time, whatever they are asked of."""
REACHES_MODULES = frozenset(
    "__import__ import_module __builtins__ modules _getframe _current_frames f_globals f_builtins __globals__ __dict__ "
    "__loader__ __spec__ get_objects get_referrers get_referents monitoring settrace setprofile getmembers "
    "getmembers_static".split()
)
"""Attributes by which a program may reach any module, that it has not imported."""
BUILTINS_THAT_REACH_MODULES = REACHES_MODULES | frozenset("compile exec eval globals vars locals get_ipython".split())
"""The same of built-in functions."""
CLOCKS_OF_GPU_LIBRARIES = re.compile(
    r"cupy\.cuda\.(?:get_elapsed_time|profiler|nvtx)|cupy\.testing|cupyx$|cupyx\.(?:profiler|time)|"
    r"numba\.(?:core|misc|testing|tests|np\.ufunc\.parallel)|rmm\.statistics|cuda\.core"
)
FILE_READERS = frozenset(f"numpy.{name}" for name in ("fromfile", "loadtxt", "genfromtxt", "memmap"))
"""Functions that may read a file of any form by its name."""
