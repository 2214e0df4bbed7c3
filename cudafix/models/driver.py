"""The CUDA driver API: `cuda.h` of CUDA 13.0; older signatures by their number of arguments.

The rows say what the runtime's table says of the twin of each function. A context is a device here: making one current
changes the device. Memory from `cuMemAlloc` is the memory that `cudaMalloc` gives; virtual memory management
(`cuMemCreate`, `cuMemMap`) is neither blocking nor stream-ordered and stays out.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_MEMORY = """
cuMemAlloc                              alloc   new -                       ; memory=device
cuMemAllocAsync                         alloc   new - stream                ; memory=async
cuMemAllocFromPoolAsync                 alloc   new - pool stream           ; memory=async
cuMemAllocManaged                       alloc   new - flags                 ; memory=managed
cuMemAllocHost                          alloc   new -                       ; memory=pinned
cuMemHostAlloc                          alloc   new - flags                 ; memory=pinned
cuMemAllocPitch                         alloc   new out - - -               ; memory=pitched
cu{Array,Array3D}Create                 alloc   new -                       ; memory=array
cuMipmappedArrayCreate                  alloc   new - -                     ; memory=array
cuMemFree                               free    free                        ; memory=device waits=device
cuMemFreeAsync                          free    free stream                 ; memory=async
cuMemFreeHost                           free    free                        ; memory=pinned waits=device
cu{Array,MipmappedArray}Destroy         free    free                        ; memory=array waits=maybe
cuMemHostRegister                       register hrw - flags
cuMemHostUnregister                     nothing hrw                         ; waits=maybe
cuMemHostGetDevicePointer               nothing alias of -
cuMemHostGetFlags                       nothing out -
cuMipmappedArrayGetLevel                nothing alias of -
cuArrayGetPlane                         nothing alias of -
cu{Array,Array3D}GetDescriptor          nothing out -
cu{,Mipmapped}ArrayGet{MemoryRequirements,SparseProperties} nothing out hrw*
cuMemGetAddressRange                    nothing alias out of
cuPointer{GetAttribute,GetAttributes}   nothing hrw*
cuPointerSetAttribute                   external - - r              ; why=the memory is registered for another device \
or bus
cuMemGetInfo                            free_memory out out
cuMemAdvise                             nothing - - - -
cuMemPrefetchAsync/4                    work    rw - device stream
cuMemPrefetchAsync                      work    rw - - - stream
cuMem{Prefetch,DiscardAndPrefetch}BatchAsync work params - - - - - - stream
cuMemDiscardBatchAsync                  work    params - - - stream
cuMemRangeGetAttribute{,s}              nothing out hrw*
cuMem{AddressReserve,Create,Map,MapArrayAsync,RetainAllocationHandle} external rw* ; why=virtual memory management
cuMem{AddressFree,Release,Unmap,SetAccess,BatchDecompressAsync} external rw* ; why=virtual memory management
cuMem{GetAccess,GetAllocationGranularity,GetAllocationPropertiesFromHandle} nothing out hrw*
cuMem{ExportToShareableHandle,ImportFromShareableHandle,GetHandleForAddressRange} external rw* ; why=memory that is \
shared
cuMulticast{Create,AddDevice,BindMem,BindAddr,Unbind,GetGranularity} external rw* ; why=multicast memory
"""

_COPIES = """
cuMemcpy                                copy    w r -                       ; sync
cuMemcpyAsync                           copy    w r - stream
cuMemcpy{HtoD,DtoH,DtoD}                copy    w r -                       ; sync
cuMemcpy{HtoD,DtoH,DtoD}Async           copy    w r - stream
cuMemcpyPeer                            copy    w - r - -                   ; sync
cuMemcpyPeerAsync                       copy    w - r - - stream
cuMemcpy{DtoA,HtoA}                     copy    w - r -                     ; sync
cuMemcpy{AtoD,AtoH}                     copy    w r - -                     ; sync
cuMemcpyAtoA                            copy    w - r - -                   ; sync
cuMemcpyHtoAAsync                       copy    w - r - stream
cuMemcpyAtoHAsync                       copy    w r - - stream
cuMemcpy{2D,2DUnaligned,3D,3DPeer}      copy    params                      ; sync
cuMemcpy{2D,3D,3DPeer}Async             copy    params stream
cuMemcpyBatchAsync                      copy    params params - - - - - stream
cuMemcpyBatchAsync/9                    copy    params params - - - - - - stream
cuMemcpy3DBatchAsync                    copy    - params - stream
cuMemcpy3DBatchAsync/5                  copy    - params - - stream
cuMemsetD{8,16,32}                      work    w - -
cuMemsetD{8,16,32}Async                 work    w - - stream
cuMemsetD2D{8,16,32}                    work    w - - - -
cuMemsetD2D{8,16,32}Async               work    w - - - - stream
"""

_STREAMS = """
cuStreamCreate                          stream_create   stream_out flags
cuStreamCreateWithPriority              stream_create   stream_out flags -
cuStreamDestroy                         stream_destroy  stream
cuStreamSynchronize                     sync_stream     stream
cuStreamQuery                           query           stream
cuStreamWaitEvent                       wait            stream event -
cuStreamAttachMemAsync                  work            stream rw - -
cuStream{Wait,Write}Value{32,64}        external        stream rw - -   ; why=a stream waits for a value in memory
cuStreamBatchMemOp                      external        stream - params - ; why=a stream waits for a value in memory
cuStreamGet{Priority,Flags,Id,Device,Ctx,GreenCtx} nothing - out out
cuStream{Get,Set}Attribute              nothing         - - -
cuStreamCopyAttributes                  nothing         - -
cuEventCreate                           event_create    event_out flags
cuEventDestroy                          event_destroy   event
cuEventRecord                           record          event stream
cuEventRecordWithFlags                  record          event stream -
cuEventSynchronize                      sync_event      event
cuEventQuery                            query           event
cuEventElapsedTime                      elapsed         out event event
cuCtx{Record,Wait}Event                 external        - event         ; why=an event of a whole context
cuLaunchHostFunc                        host_func       stream fn params
cuStreamAddCallback                     host_func       stream fn params -
cuLaunchKernel                          work            - - - - - - - - stream args params
cuLaunchCooperativeKernel               work            - - - - - - - - stream args
cuLaunchKernelEx                        work            stream->hStream - args params ; unset=attrs \
why=attributes of a launch may let it start early, and record events
cuLaunchCooperativeKernelMultiDevice    external        stream+params+kernel - - ; why=it launches on several devices \
at once
cu{Launch,LaunchGrid,LaunchGridAsync}   external        kernel - - stream ; why=its arguments were set by earlier calls
cuParam{SetSize,Seti,Setf,Setv,SetTexRef} external      - - keep -      ; why=arguments of a later launch
cuFunc{SetBlockShape,SetSharedSize,SetCacheConfig,SetSharedMemConfig,SetAttribute} nothing hrw*
cuFunc{GetAttribute,GetModule,GetName,GetParamInfo,IsLoaded,Load} nothing hrw*
cuOccupancy{MaxActiveBlocksPerMultiprocessor,MaxPotentialBlockSize}{,WithFlags} nothing hrw*
cuOccupancy{AvailableDynamicSMemPerBlock,MaxPotentialClusterSize,MaxActiveClusters} nothing hrw*
"""

_GRAPHS = """
cuStreamBeginCapture                    capture_begin   stream -
cuStreamBeginCaptureToGraph             capture_begin   stream graph - - - -
cuStreamEndCapture                      capture_end     stream graph_out
cuStreamIsCapturing                     nothing         - out
cuStreamGetCaptureInfo                  nothing         - out out out out out out
cuStreamUpdateCaptureDependencies       nothing         - - - - -
cuThreadExchangeStreamCaptureMode       nothing         hrw
cuGraphLaunch                           graph_launch    graph stream
cuGraphUpload                           work            graph stream
cuGraphCreate                           nothing         graph_out -
cuGraphInstantiate{,WithFlags,WithParams} nothing       graph_out graph -*
cuGraphClone                            nothing         graph_out graph
cuGraph{,Exec}Destroy                   nothing         graph
cuGraphExecUpdate                       nothing         graph keep - -
cuGraphAddNode/5                        nothing         - graph - - keep
cuGraphAddNode                          nothing         - graph - - - keep
cuGraphAdd{Kernel,Host,MemAlloc,MemFree}Node nothing    - graph - - keep
cuGraphAdd{Memcpy,Memset}Node           nothing         - graph - - keep -
cuGraphAddChildGraphNode                nothing         - graph - - keep
cuGraphAdd{Empty,EventRecord,EventWait}Node nothing     - graph - - -
cuGraph{Add,Remove}Dependencies         nothing         graph - - - -
cuGraphAdd{ExternalSemaphoresSignal,ExternalSemaphoresWait,BatchMemOp}Node external - graph - - - ; why=a semaphore
cuGraphExec{Kernel,Memcpy,Memset,Host,}NodeSetParams nothing graph - keep -
cuGraphExecChildGraphNodeSetParams      nothing         graph - keep
cuGraphExecEvent{Record,Wait}NodeSetEvent nothing       graph - -
cuGraphNode{SetEnabled,GetEnabled}      nothing         graph - -
cuGraph{Kernel,Memcpy,Memset,Host,}NodeSetParams external - params ; why=a graph node takes other memory
cuGraph{Kernel,Memcpy,Memset,Host,MemAlloc,MemFree}NodeGetParams nothing - out
cuGraph{ChildGraphNodeGetGraph,EventRecordNodeGetEvent,EventWaitNodeGetEvent,EventRecordNodeSetEvent,\
EventWaitNodeSetEvent} \
nothing hrw*
cuGraph{,Exec}{ExternalSemaphoresSignal,ExternalSemaphoresWait,BatchMemOp}Node{Get,Set}Params external -* ; why=a \
semaphore
cuUserObject{Retain,Release}            external        -*              ; why=a function runs when the object goes away
cuGraph{GetNodes,GetRootNodes,GetEdges,NodeGetDependencies,NodeGetDependentNodes,NodeGetType,NodeFindInClone} nothing \
-*
cuGraph{DestroyNode,ExecGetFlags,KernelNodeCopyAttributes,KernelNodeGetAttribute,KernelNodeSetAttribute} nothing hrw*
cuGraphDebugDotPrint                    output          graph hr -
cuGraphConditionalHandleCreate          nothing         out graph - - -
cu{UserObjectCreate,GraphRetainUserObject,GraphReleaseUserObject} external rw* ; why=a function runs when the object \
goes away
cuDevice{GraphMemTrim,GetGraphMemAttribute,SetGraphMemAttribute} nothing device - hrw
"""

_DEVICE = """
cuCtxSynchronize                        sync_device     -
cuInit                                  nothing         -
cuCtxCreate                             set_device      out - - -*
cuCtxDestroy                            reset           -
cuDevicePrimaryCtxReset                 reset           device
cuDevicePrimaryCtxRelease               nothing         device          ; waits=maybe
cuDevicePrimaryCtx{Retain,SetFlags,GetState} nothing    hrw*
cuCtx{PushCurrent,SetCurrent,PopCurrent,Attach,Detach} set_device -*
cuCtxGetDevice                          nothing         out -
cuCtx{GetCurrent,GetFlags,SetFlags,GetId,GetApiVersion,GetLimit,GetStreamPriorityRange,\
ResetPersistingL2Cache} nothing hrw*
cuCtx{GetCacheConfig,SetCacheConfig,GetSharedMemConfig,SetSharedMemConfig,GetExecAffinity} nothing hrw*
cuCtxSetLimit                           nothing         - -             ; waits=maybe
cuDevice{Get,GetCount,GetName,GetUuid,GetLuid,TotalMem,GetAttribute,GetProperties,ComputeCapability} nothing hrw*
cuDevice{GetByPCIBusId,GetPCIBusId,GetP2PAttribute,GetExecAffinitySupport,GetTexture1DLinearMaxWidth} nothing hrw*
cuDevice{GetNvSciSyncAttributes,GetHostAtomicCapabilities,GetP2PAtomicCapabilities} nothing hrw*
cuDeviceCanAccessPeer                   nothing         out device device
cuCtxEnablePeerAccess                   peer            device -
cuCtxDisablePeerAccess                  nothing         device          ; waits=maybe
cuDeviceGet{DefaultMemPool,MemPool}     nothing         pool_out device
cuDeviceSetMemPool                      nothing         device pool
cuMemPoolSetAttribute                   nothing         pool - hr
cuMemPoolGetAttribute                   free_memory     pool setting out
cuMemPool{SetAccess,GetAccess}          nothing         hrw*
cuMemPoolCreate                         nothing         pool_out -
cuMemPool{Destroy,TrimTo}               nothing         pool -          ; waits=maybe
cuMemPoolExportPointer                  ipc             out r
cuMemPoolExportToShareableHandle        ipc             out pool - -
cuMemPoolImport{Pointer,FromShareableHandle} external   out -*          ; why=memory of another process
cuIpcGetMemHandle                       ipc             out r
cuIpc{OpenMemHandle,CloseMemHandle,GetEventHandle,OpenEventHandle} external rw* ; why=memory or an event of another \
process
cuGetError{String,Name}                 nothing         - out           ; silent
cu{DriverGetVersion,GetProcAddress}     nothing         hrw*
cuLogsRegisterCallback                  external        fn - -          ; why=a function that the library calls
cuLogs{UnregisterCallback,Current,DumpToFile,DumpToMemory} nothing hrw*
cuCoredump{Get,Set}Attribute{,Global}   nothing         hrw*
cuFlushGPUDirectRDMAWrites              external        - -             ; why=remote direct memory access
cuDevice{Register,Unregister}AsyncNotification external -*              ; why=a function runs when the driver likes
cuMemGet{DefaultMemPool,MemPool}        nothing         pool_out - -
cuMemSetMemPool                         nothing         - - pool
cuGreenCtx{Create,Destroy,GetDevResource,RecordEvent,WaitEvent,StreamCreate,GetId} external -* ; why=a context with a \
part of the device
cu{CtxFromGreenCtx,CtxGetDevResource,DeviceGetDevResource,DevSmResourceSplitByCount,DevResourceGenerateDesc} external \
-* ; \
why=a context with a part of the device
cuCheckpointProcess{GetRestoreThreadId,GetState,Lock,Checkpoint,Restore,Unlock} external -* ; why=another process
cuGetExportTable                        external        -*              ; why=an interface without documentation
cuModule{Load,LoadData,LoadDataEx,LoadFatBinary,GetFunction,GetFunctionCount,EnumerateFunctions,GetLoadingMode} \
nothing hrw*
cuModuleGet{TexRef,SurfRef}             nothing         keeper_out - -
cuModuleUnload                          nothing         -               ; ends waits=maybe
cuModuleGetGlobal                       nothing         found out - -
cuLibrary{LoadData,LoadFromFile,GetKernel,GetKernelCount,EnumerateKernels,GetModule,GetUnifiedFunction} nothing hrw*
cuLibraryGet{Global,Managed}            nothing         found out - -
cuLibraryUnload                         nothing         -               ; ends waits=maybe
cuKernel{GetFunction,GetLibrary,GetAttribute,SetAttribute,SetCacheConfig,GetName,GetParamInfo} nothing hrw*
cuLink{Create,AddData,AddFile,Complete,Destroy} nothing hrw*
cuProfiler{Start,Stop,Initialize}       nothing         hrw*
"""

_TEXTURES = """
cu{Tex,Surf}ObjectCreate                nothing         keeper_out keep - -
# no document says that they wait, or that work which uses the object may still run
cu{Tex,Surf}ObjectDestroy               nothing         hrw*                  ; ends waits=maybe
cu{Tex,Surf}Object{GetResourceDesc,GetTextureDesc,GetResourceViewDesc} nothing hrw*
cuTexRefSet{Address,Address2D,Array,MipmappedArray} external rw* ; why=kernels read a texture reference without \
naming its memory
cuSurfRefSetArray                       external        rw*      ; why=kernels use the reference without naming the \
array
cuTensorMapEncodeTiled                  nothing         keeper_out - - keep -*
cuTensorMapEncodeIm2col{,Wide}          nothing         keeper_out - - keep -*
cuTensorMapReplaceAddress               nothing         keeper keep
cuTexRef{SetMipmapLevelBias,SetMipmapLevelClamp,GetMipmappedArray,GetMipmapFilterMode,GetMipmapLevelBias} nothing hrw*
cuTexRef{GetMipmapLevelClamp,GetMaxAnisotropy,GetBorderColor} nothing hrw*
cuSurfRefGetArray                       nothing         out -
cuTexRef{SetFormat,SetAddressMode,SetFilterMode,SetMipmapFilterMode,SetFlags,SetBorderColor,SetMaxAnisotropy} nothing \
-*
cuTexRef{Create,Destroy,GetAddress,GetArray,GetFormat,GetFlags,GetFilterMode,GetAddressMode} nothing hrw*
cuGraphics{MapResources,UnmapResources} external        - hidden stream ; why=a graphics API uses the memory
cuGraphics{UnregisterResource,ResourceSetMapFlags,ResourceGetMappedPointer,SubResourceGetMappedArray} external hidden* ; \
why=memory of a graphics API
cuGraphics{ResourceGetMappedMipmappedArray,ResourceGetMappedEglFrame,GLRegisterBuffer,GLRegisterImage,\
EGLRegisterImage} \
external hidden* ; why=memory of a graphics API
cu{GL,EGL,VDPAU}{GetDevice,GetDevices,CtxCreate} nothing hrw*
cuEGLStream{ConsumerConnect,ConsumerConnectWithFlags,ConsumerDisconnect,ConsumerAcquireFrame,ConsumerReleaseFrame,\
ProducerConnect,ProducerDisconnect,ProducerPresentFrame,ProducerReturnFrame} external rw* ; why=memory of another API
cuEventCreateFromEGLSync                external        event_out -* ; why=an event of another API
cu{ImportExternalMemory,ExternalMemoryGetMappedBuffer,ExternalMemoryGetMappedMipmappedArray,DestroyExternalMemory,\
ImportExternalSemaphore,DestroyExternalSemaphore} external rw* ; why=memory or a semaphore of another API
cu{Signal,Wait}ExternalSemaphoresAsync  external        - - - stream ; why=a semaphore of another API
"""

TABLES = tuple(
    Table("CUDA Driver API 13.0", rows) for rows in (_MEMORY, _COPIES, _STREAMS, _GRAPHS, _DEVICE, _TEXTURES)
)
