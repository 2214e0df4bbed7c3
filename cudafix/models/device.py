"""Device library functions: what a kernel may call without its body being in the tree.

Sources: the CUDA C++ Programming Guide 13.0 (appendices on language extensions and cooperative groups), the CUDA Math
API, the cuRAND device API, CUB and libcu++. Only what matters to a kernel's summary is said: which pointers it reads
and writes, whether it prints (`output`), and whether it ends the kernel (`exit`). Whatever is not here may do anything.
"""

from __future__ import annotations

import re
from functools import cache

from cudafix.models import Tables, load
from cudafix.models.api import Api, Effect
from cudafix.models.rows import UNDOCUMENTED, Table

_SPECIAL = """
{printf,vprintf,puts}                   output  hr*
{assert,__assert_fail,__assertfail,__trap,trap,__brkpt,__exit,abort,__builtin_trap} exit -*
{malloc,free,alloca,__nv_aligned_device_malloc} host -*
{memcpy,memmove}                        work    w r -
memset                                  work    w - -
atomic{Add,Sub,Exch,Min,Max,Inc,Dec,CAS,And,Or,Xor}{,_block,_system} work rw - -
__nv_atomic_{add,sub,exchange,exchange_n,min,max,and,or,xor,compare_exchange,compare_exchange_n,fetch_add,fetch_sub} \
work rw*
__nv_atomic_{load,load_n}               work    r w -*
__nv_atomic_{store,store_n}             work    w r -*
__ld{g,cg,ca,cs,lu,cv}                  work    r
__st{wb,cg,cs,wt}                       work    w -
__pipeline_memcpy_async                 work    w r - -
__pipeline_{commit,wait_prior,arrive_on} host   -*
__prefetch_{global_l1,global_l2}{,_uniform} work r
__isGlobal                              host    -
{tex1D,tex2D,tex3D,tex1Dfetch,texCubemap,tex2Dgather}{,Lod,Grad} host -*
{tex1DLayered,tex2DLayered,texCubemapLayered}{,Lod,Grad} host -*
surf{1D,2D,3D,1DLayered,2DLayered,Cubemap,CubemapLayered}read host -*
surf{1D,2D,3D,1DLayered,2DLayered,Cubemap,CubemapLayered}write work - rw -*
curand_init                             work    - - - rw
curand{,4,_uniform,_uniform2_double,_uniform4,_uniform4_double,_uniform_double,_discrete,_discrete4,_poisson,\
_poisson4} work rw -*
curand_{normal,normal2,normal4,log_normal,log_normal2,log_normal4}{,_double} work rw -*
{skipahead,skipahead_sequence,skipahead_subsequence} work - rw
{sincos,sincosf,sincospi,sincospif,__sincosf} work - w w
{frexp,frexpf,modf,modff}               work    - w
{remquo,remquof}                        work    - - w
{rhypot,norm3d,rnorm3d,norm4d,rnorm4d}{,f} host -*
{norm,rnorm}{,f}                        work    - r
{cooperative_groups,cg}::memcpy_async   work    - w r -*
{cooperative_groups,cg}::{wait,wait_prior,sync,this_thread_block,this_grid,this_multi_grid,this_cluster,this_thread} \
host -*
{cooperative_groups,cg}::{tiled_partition,coalesced_threads,labeled_partition,binary_partition,invoke_one} host -*
{cooperative_groups,cg}::{reduce,inclusive_scan,exclusive_scan,plus,less,greater,bit_and,bit_or,bit_xor,thread_rank} \
host -*
{cooperative_groups,cg}::{reduce_update_async,reduce_store_async} work rw*
{nvcuda::,}wmma::{load_matrix_sync,store_matrix_sync} work rw rw -*
{nvcuda::,}wmma::{fill_fragment,mma_sync,__float_to_tf32,fragment} host -*
cuda::memcpy_async                      work    w r -*
cuda::memcpy_async/5                    work    - w r -*
cuda::{make_pipeline,pipeline_consumer_wait_prior,pipeline_producer_commit,aligned_size_t,barrier,pipeline} host -*
cuda::{atomic_ref,atomic,annotated_ptr,access_property,associate_access_property} work rw*
cuda::device::{memcpy_async_tx,barrier_arrive_tx,barrier_native_handle,barrier_expect_tx} work rw*
# methods of groups, of CUB's block and warp algorithms and of pipelines, whatever the type
.{sync,thread_rank,size,num_threads,group_index,thread_index,block_rank,num_blocks,dim_blocks,dim_threads,group_dim} \
host -*
.{shfl,shfl_up,shfl_down,shfl_xor,any,all,ballot,match_any,match_all,meta_group_rank,meta_group_size,is_valid} host -*
.{cluster_ctarank,barrier_arrive,barrier_wait,arrive,wait,wait_prior,arrive_and_wait,grid_rank,block_index} host -*
.{producer_acquire,producer_commit,consumer_wait,consumer_release,quit} host -*
.{Sum,Reduce,InclusiveSum,ExclusiveSum,InclusiveScan,ExclusiveScan,Sort,SortDescending,SortBlockedToStriped,\
HeadSegmentedSum} \
host -*
.{BlockedToStriped,StripedToBlocked,FlagHeads,FlagTails,SubtractLeft,ShuffleUp,ShuffleDown,Broadcast} host -*
.map_shared_rank                        host    r       ; returns=same
.Load                                   work    r w -*
.Store                                  work    w r -*
.{load,test}                            work    r -*
.{store,exchange,fetch_add,fetch_sub,fetch_min,fetch_max,fetch_or,fetch_and,fetch_xor,compare_exchange_strong} work \
rw rw -*
cub::{Block,Warp}{Reduce,Scan,RadixSort,MergeSort,Load,Store,Exchange,Shuffle,Discontinuity,Histogram} host -*
cudaGraphSetConditional                 host    -*
cudaTriggerProgrammaticLaunchCompletion host
cudaGridDependencySynchronize           host
"""

# Families of functions of values: threads, votes, shuffles, integers, conversions, vector types.
_PLAIN = re.compile(
    r"__(?:syncthreads|syncwarp|threadfence|shfl|all|any|ballot|uni|activemask|match|reduce_|nanosleep|popc|clz|ffs|brev"
    r"|byte_perm|funnelshift|mul|umul|mad|sad|usad|hadd|rhadd|uhadd|urhadd|dp[24]a|fns|saturate|v(?:abs|add|avg|cmp|max|min"
    r"|neg|sad|set|sub|iadd|imax|imin|ibm)|float|double|half|bfloat|int|uint|ll|ull|short|ushort|char|hiloint|longlong"
    r"|f(?:add|sub|mul|ma|div|rcp|sqrt|rsqrt|mas)|d(?:add|sub|mul|ma|div|rcp|sqrt)|r(?:sqrt|cp)|fmaf|ddiv|frsqrt|drcp"
    r"|h(?:add|sub|mul|div|fma|neg|abs|eq|ne|lt|le|gt|ge|max|min|isnan|isinf|cmadd|2div|alves|igh|iadd)|low|high|lows|highs"
    r"|b(?:eq|ne|lt|le|gt|ge)|exp|log|sin|cos|tan|pow|cluster|builtin_|nv_cvt|fp8|cvt|assume|launch_bounds|expect|fdividef"
    r"|cvta|isShared|isLocal|isConstant|maxnreg|tanhf|clusterDim)\w*"
    r"|(?:make_)?(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]?|dim3|make_(?:half|bfloat16)\w*"
    r"|bool|unsigned|size_t|uint|uchar|ushort|u?int(?:8|16|32|64)_t|half2?|(?:__)?nv_bfloat162?"
    r"|make_cu\w*Complex|cuC(?:real|imag|onj|add|sub|mul|div|abs|fma)f?|cuComplex\w+"
    r"|h2?(?:exp|exp2|exp10|log|log2|log10|sin|cos|sqrt|rsqrt|rcp|tanh|floor|ceil|rint|trunc)"
    r"|clock(?:64)?|globaltimer|__(?:clock|globaltimer)\w*|(?:u|ll|ull|um)?(?:min|max|abs|mul24|mulhi)|saturate|rsqrtf?|rcbrtf?"
    r"|(?:threadIdx|blockIdx|blockDim|gridDim)|static_assert|sizeof|alignof|(?:static|reinterpret|const|dynamic|bit)_cast"
)
TABLES = (Table("CUDA C++ Programming Guide 13.0", _SPECIAL, looks=False),)


@cache
def _rows() -> dict[str, Api]:
    rows = reversed([row for table in TABLES for row in table.index()])
    return {name: TABLES[0].parse(line, source) for name, line, source in rows}


@cache
def _host() -> Tables:
    return load()


@cache
def device(name: str, arity: int) -> Api | None:
    """What the device library function `name` does, template arguments aside; None if no such function is known.

    Methods are asked for as `.name`: their object's type does not matter, and it is no argument of the row. An `Api`
    without roles touches no memory: mathematics, votes, shuffles, conversions. The C mathematics that host and device
    share is in the host's table, whose `host` rows hold on the device too.
    """
    plain = re.sub(r"<.*>", "", name).strip().removeprefix("::")
    for key in (f"{plain}/{arity}", plain):
        if (row := _rows().get(key)) is not None:
            return None if row is UNDOCUMENTED else row
    if _PLAIN.fullmatch(plain):
        return TABLES[0].parse("_ host -*", TABLES[0].source)
    api = _host().lookup(plain, arity)
    # A bare `reduce` or `copy` may be a function of the program whose body was not seen; mathematics has no namespace.
    shared = api is not None and api.effect is Effect.HOST and ("std::" in name or api.source.startswith("C17"))
    return api if shared else None
