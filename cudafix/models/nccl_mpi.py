"""NCCL 2, MPI 4, NVSHMEM 3, UCX, cuFile: what takes part in the work of other devices, processes and file systems.

A NCCL collective runs on the stream in its last argument like any kernel, but finishes only when the peers have joined,
and pools need peer access to be registered: it is `external`, as are all calls that hand a buffer to MPI (CUDA-aware
MPI reads device memory without a stream), to NVSHMEM, to UCX (the network card reads what is registered) or to cuFile
(GPUDirect Storage registers it, also for a single read). Calls that take no buffers are host functions; a barrier is
`output`, because other processes go on after it.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_NCCL = """
{p,}ncclAllReduce                       external        r w - - - - stream   ; why=NCCL: other devices read and write \
the buffer
{p,}ncclReduceScatter                   external        r w - - - - stream   ; why=NCCL: other devices read and write \
the buffer
{p,}ncclReduce                          external        r w - - - - - stream ; why=NCCL: other devices read and write \
the buffer
{p,}ncclBcast                           external        rw - - - - stream    ; why=NCCL: other devices read and write \
the buffer
{p,}ncclBroadcast                       external        r w - - - - stream   ; why=NCCL: other devices read and write \
the buffer
{p,}ncclAllGather                       external        r w - - - stream     ; why=NCCL: other devices read and write \
the buffer
{p,}nccl{AlltoAll,Gather,Scatter}       external        rw* stream           ; why=NCCL: other devices read and write \
the buffer
{p,}ncclSend                            external        r - - - - stream     ; why=NCCL: other devices read and write \
the buffer
{p,}ncclRecv                            external        w - - - - stream     ; why=NCCL: other devices read and write \
the buffer
{p,}nccl{CommRegister,CommDeregister,CommWindowRegister,CommWindowDeregister} external rw* ; why=NCCL: the buffer is \
registered
{p,}nccl{MemAlloc,MemFree}              external        rw*                  ; why=NCCL: memory that NCCL allocates
{p,}ncclComm{InitRank,InitRankConfig,InitAll,InitRankScalable,Split,Finalize,Destroy,Abort,Shrink} nothing hrw* ; \
waits=maybe
{p,}ncclGroup{Start,End,SimulateEnd}    nothing         hrw*                   ; waits=maybe
{p,}nccl{GetUniqueId,GetVersion,GetErrorString,GetLastError,CommCount,CommCuDevice,CommUserRank,CommGetAsyncError} \
nothing hrw*
{p,}ncclRedOpCreatePreMulSum            external        - r - - - ; why=NCCL: a later call reads the scalar
{p,}ncclRedOpDestroy                    nothing         hrw*
"""

_MPI = """
{P,}MPI_{Init,Init_thread,Finalize,Initialized,Finalized,Comm_rank,Comm_size,Comm_split,Comm_dup,Comm_free,\
Comm_group} host hrw*
{P,}MPI_{Comm_split_type,Comm_create,Comm_get_parent,Comm_set_errhandler,Comm_compare,Group_incl,Group_free,\
Group_rank} host hrw*
{P,}MPI_{Cart_create,Cart_coords,Cart_rank,Cart_shift,Cart_sub,Dims_create,Get_processor_name,Get_count,Get_version} \
host hrw*
{P,}MPI_{Type_contiguous,Type_vector,Type_create_struct,Type_commit,Type_free,Type_size,Type_indexed,\
Type_create_resized} host hw*
{P,}MPI_Op_create                       external        fn - hw ; why=MPI: a function that the library calls
{P,}MPI_{Op_free,Info_create,Info_free,Info_set,Error_string,Error_class,Query_thread,Type_create_subarray} \
host hrw*
{P,}MPI_Wtime                           clock           ; returns=time
{P,}MPI_{Barrier,Wtick,Pcontrol}        output          -*
{P,}MPI_Abort                           exit            - -
{P,}MPI_{Send,Ssend,Rsend,Bsend,Recv,Mrecv,Sendrecv,Sendrecv_replace} message rw* ; \
why=MPI: a message buffer that may be device memory
# MPI 4.1, 3.7.2 Communication Request Objects, 3.9 Persistent Communication Requests: the request leads to the buffer
{P,}MPI_{Isend,Issend,Irsend,Ibsend,Irecv} message keep - - - - - keeper_out ; \
why=MPI: a message buffer that may be device memory
{P,}MPI_{Send,Ssend,Rsend,Bsend,Recv}_init message keep - - - - - keeper_out ; \
why=MPI: a message buffer that may be device memory
{P,}MPI_Imrecv                          message keep - - - keeper_out ; \
why=MPI: a message buffer that may be device memory
{P,}MPI_{Bcast,Reduce,Allreduce,Gather,Gatherv,Scatter,Scatterv,Allgather,Allgatherv,Alltoall,Alltoallv,Alltoallw,\
Scan,Exscan,\
Reduce_scatter,Reduce_scatter_block} message rw* ; why=MPI: a message buffer that may be device memory
# MPI 4.1, 6.12 Nonblocking Collective Operations
{P,}MPI_{Ibcast,Ireduce,Iallreduce,Igather,Iscatter,Iallgather,Ialltoall,Ibarrier} message keep* keeper_out ; \
why=MPI: a message buffer that may be device memory
{P,}MPI_{Start,Startall,Pack,Unpack,Request_free,Cancel,Probe,Iprobe} message rw* ; \
why=MPI: a message buffer that may be device memory
{P,}MPI_{Wait,Waitall,Waitany,Waitsome,Test,Testall,Testany,Testsome} message rw* ; why=MPI: it ends a message
{P,}MPI_{Win_create,Win_allocate,Win_allocate_shared,Win_fence,Win_free,Win_lock,Win_unlock,Put,Get,Accumulate} \
external rw* ; \
why=MPI: memory that other processes write
{P,}MPI_{Alloc_mem,Free_mem,Buffer_attach,Buffer_detach} external rw* ; why=MPI: memory that MPI allocates
{P,}MPI_File_{open,close,read,write,read_at,write_at,read_all,write_all,seek,set_view} message rw* ; why=MPI: a file
MPIX_Query_cuda_support                 host
"""

_NVSHMEM = """
nvshmem_{malloc,calloc,align,free,ptr}  external        rw*     ; why=NVSHMEM: memory that other processes write
nvshmem{_,x_}{init,finalize,init_attr,my_pe,n_pes,hostlib_init_attr,set_attr_uniqueid_args,get_uniqueid,team_my_pe} \
external -* ; \
why=NVSHMEM: memory that other processes write
nvshmem{_,x_}{barrier_all,barrier_all_on_stream,sync_all,sync_all_on_stream,quiet,quiet_on_stream,fence,barrier} \
external rw* ; \
why=NVSHMEM: waits for other processes
nvshmem{_,x_}{putmem,getmem,putmem_nbi,getmem_nbi,putmem_on_stream,getmem_on_stream,collective_launch,cumodule_init} \
external rw* ; \
why=NVSHMEM: memory that other processes write
nvshmem{_,x_}{float,double,int,long,uint64,int64,uint32,int32}_{p,g,put,get,put_on_stream,sum_reduce,\
sum_reduce_on_stream} \
external rw* ; why=NVSHMEM: memory that other processes write
"""

_UCX = """
{ucp,uct,ucs,ucm}_*                     external        rw*     ; why=UCX: a message buffer that may be device memory
ucp_{config_read,config_release,config_modify,config_print,get_version,get_version_string} host hr*
ucp_{init,init_version,cleanup,context_query,context_print_info} host hrw*
ucp_worker_{create,destroy,query,get_address,release_address,print_info,get_efd} host hrw*
ucp_{ep_create,ep_query,ep_print_info,listener_create,listener_destroy,listener_query,conn_request_query} host hrw*
ucp_{request_is_completed,request_check_status,request_alloc} host hrw*
ucs_status_string                       host    -
"""

_CUFILE = """
cuFile{BufRegister,BufDeregister}       external        rw - -  ; why=cuFile: the buffer is registered for direct access
cuFile{Read,Write}                      external        - rw - - - ; why=cuFile: the storage reads or writes the buffer
cuFile{ReadAsync,WriteAsync}            external        - rw - - - - stream ; why=cuFile: the storage reads or writes \
the buffer
cuFileBatchIO{SetUp,Submit,GetStatus,Cancel,Destroy} external rw* ; why=cuFile: the storage reads or writes the buffer
cuFile{DriverOpen,DriverClose,DriverGetProperties,DriverSetPollMode,DriverSetMaxDirectIOSize,DriverSetMaxCacheSize,\
DriverSetMaxPinnedMemSize,UseCount,GetVersion} nothing hrw*
cuFile{HandleRegister,HandleDeregister} nothing         hrw*
cuFileStream{Register,Deregister}       nothing         hrw*
"""

TABLES = (
    Table("NCCL 2 user guide", _NCCL),
    Table("MPI 4.1", _MPI, looks=False),
    Table("NVSHMEM 3 documentation", _NVSHMEM),
    Table("UCX 1.17 documentation", _UCX, looks=False),
    Table("cuFile API reference of CUDA 13.0", _CUFILE, looks=False),
)
