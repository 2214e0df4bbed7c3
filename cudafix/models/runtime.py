"""The CUDA runtime: `cuda_runtime_api.h` of CUDA 13.0, older signatures by their number of arguments.

Who waits for whom is what was measured (the table of facts in the documentation) where the header says only "may":
`cudaFree` of `cudaMalloc` memory, `cudaFreeHost` and `cudaFree` of managed memory wait for the whole device,
`cudaStreamDestroy` and `cudaMemset` do not wait. The calls below that can return the error of earlier asynchronous
work are nearly all: the header says so function by function.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_MEMORY = """
cudaMalloc                              alloc   new -                       ; memory=device
cudaMallocAsync                         alloc   new - stream                ; memory=async
cudaMallocAsync/4                       alloc   new - pool stream           ; memory=async
cudaMallocFromPoolAsync                 alloc   new - pool stream           ; memory=async
cudaMallocManaged                       alloc   new - flags                 ; memory=managed
cudaMallocHost                          alloc   new - flags                 ; memory=pinned
cudaHostAlloc                           alloc   new - flags                 ; memory=pinned
cudaMallocPitch                         alloc   new out - -                 ; memory=pitched
cudaMalloc3D                            alloc   new -                       ; memory=pitched
cudaMallocArray                         alloc   new - - - flags             ; memory=array
cudaMalloc3DArray                       alloc   new - - flags               ; memory=array
cudaMallocMipmappedArray                alloc   new - - - flags             ; memory=array
cudaFree                                free    free                        ; memory=device waits=device
cudaFreeAsync                           free    free stream                 ; memory=async
cudaFreeHost                            free    free                        ; memory=pinned waits=device
cudaFree{Array,MipmappedArray}          free    free                        ; memory=array waits=maybe
cudaHostRegister                        register hrw - flags
cudaHostUnregister                      nothing hrw                         ; waits=maybe
cudaHostGetDevicePointer                nothing alias of -
cudaGetSymbolAddress                    nothing alias of
cudaGetSymbolSize                       nothing out -
cudaHostGetFlags                        nothing out -
cudaGetMipmappedArrayLevel              nothing alias of -
cudaArrayGetPlane                       nothing alias of -
cudaArrayGetInfo                        nothing out out out -
cuda{,Mipmapped}ArrayGet{MemoryRequirements,SparseProperties} nothing out - -
cudaPointerGetAttributes                nothing out -
cudaMemGetInfo                          free_memory out out
cudaMemAdvise                           nothing - - - -
cudaMemPrefetchAsync/4                  work    rw - device stream
cudaMemPrefetchAsync                    work    rw - - - stream
cudaMemPrefetchAsync_v2                 work    rw - - - stream
cudaMem{Prefetch,DiscardAndPrefetch}BatchAsync work params - - - - - - stream
cudaMemDiscardBatchAsync                work    params - - - stream
cudaMemDiscardAsync                     work    w - - stream
cudaMemRangeGetAttribute                nothing out - - - -
cudaMemRangeGetAttributes               nothing out - - - - -
"""

_COPIES = """
# dst, src, ... as in the header; what the host waits for follows from the kinds of memory and from `sync`
cudaMemcpy                              copy    w r - kind                          ; sync
cudaMemcpyAsync                         copy    w r - kind stream
cudaMemcpyPeer                          copy    w - r - -                           ; sync
cudaMemcpyPeerAsync                     copy    w - r - - stream
cudaMemcpy2D                            copy    w - r - - - kind                    ; sync
cudaMemcpy2DAsync                       copy    w - r - - - kind stream
cudaMemcpy3D{,Peer}                     copy    params                              ; sync
cudaMemcpy3D{,Peer}Async                copy    params stream
cudaMemcpyToArray                       copy    w - - r - kind                      ; sync
cudaMemcpyToArrayAsync                  copy    w - - r - kind stream
cudaMemcpyFromArray                     copy    w r - - - kind                      ; sync
cudaMemcpyFromArrayAsync                copy    w r - - - kind stream
cudaMemcpyArrayToArray                  copy    w - - r - - - kind                  ; sync
cudaMemcpy2DToArray                     copy    w - - r - - - kind                  ; sync
cudaMemcpy2DToArrayAsync                copy    w - - r - - - kind stream
cudaMemcpy2DFromArray                   copy    w - r - - - - kind                  ; sync
cudaMemcpy2DFromArrayAsync              copy    w - r - - - - kind stream
cudaMemcpy2DArrayToArray                copy    w - - r - - - - kind                ; sync
cudaMemcpyToSymbol                      copy    w r - - kind                        ; sync
cudaMemcpyToSymbolAsync                 copy    w r - - kind stream
cudaMemcpyFromSymbol                    copy    w r - - kind                        ; sync
cudaMemcpyFromSymbolAsync               copy    w r - - kind stream
cudaMemcpyBatchAsync                    copy    params params - - - - - stream
cudaMemcpyBatchAsync/9                  copy    params params - - - - - - stream
cudaMemcpy3DBatchAsync                  copy    - params - stream
cudaMemcpy3DBatchAsync/5                copy    - params - - stream
cudaMemset                              work    w - -
cudaMemsetAsync                         work    w - - stream
cudaMemset2D                            work    w - - - -
cudaMemset2DAsync                       work    w - - - - stream
cudaMemset3D                            work    w - -
cudaMemset3DAsync                       work    w - - stream
"""

_STREAMS = """
cudaStreamCreate                        stream_create   stream_out
cudaStreamCreateWithFlags               stream_create   stream_out flags
cudaStreamCreateWithPriority            stream_create   stream_out flags -
cudaStreamDestroy                       stream_destroy  stream
cudaStreamSynchronize                   sync_stream     stream
cudaStreamQuery                         query           stream
cudaStreamWaitEvent                     wait            stream event -
cudaStreamAttachMemAsync                work            stream rw - -
cudaStreamGet{Priority,Flags,Id,Device} nothing         - out
cudaStreamGetAttribute                  nothing         - - out
cudaStreamSetAttribute                  nothing         - - -
cudaStreamCopyAttributes                nothing         - -
cudaEventCreate                         event_create    event_out flags
cudaEventCreateWithFlags                event_create    event_out flags
cudaEventDestroy                        event_destroy   event
cudaEventRecord                         record          event stream
cudaEventRecordWithFlags                record          event stream -
cudaEventSynchronize                    sync_event      event
cudaEventQuery                          query           event
cudaEventElapsedTime                    elapsed         out event event
cudaLaunchHostFunc                      host_func       stream fn params
cudaStreamAddCallback                   host_func       stream fn params -
cudaLaunchKernel                        work            kernel - - args - stream
cudaLaunchCooperativeKernel             work            kernel - - args - stream
cudaLaunchKernelExC                     work            stream->stream kernel args ; unset=attrs \
why=attributes of a launch may let it start early, and record events
cudaLaunchKernelEx                      work            stream->stream kernel params* ; unset=attrs \
why=attributes of a launch may let it start early, and record events
cudaLaunchCooperativeKernelMultiDevice  external        stream+params+kernel - - ; why=it launches on several devices \
at once
cuda{ConfigureCall,SetupArgument,Launch,LaunchDevice} external rw*       ; why=a launch interface that CUDA removed
"""

_GRAPHS = """
cudaStreamBeginCapture                  capture_begin   stream -
cudaStreamBeginCaptureToGraph           capture_begin   stream graph - - - -
cudaStreamEndCapture                    capture_end     stream graph_out
cudaStreamIsCapturing                   nothing         - out
cudaStreamGetCaptureInfo                nothing         - out out out out out out
cudaStreamUpdateCaptureDependencies     nothing         - - - - -
cudaThreadExchangeStreamCaptureMode     nothing         hrw
cudaGraphLaunch                         graph_launch    graph stream
cudaGraphUpload                         work            graph stream
cudaGraphCreate                         nothing         graph_out -
cudaGraphInstantiate                    nothing         graph_out graph -*
cudaGraphInstantiateWithFlags           nothing         graph_out graph -
cudaGraphInstantiateWithParams          nothing         graph_out graph -
cudaGraphClone                          nothing         graph_out graph
cudaGraph{,Exec}Destroy                 nothing         graph
cudaGraphExecUpdate                     nothing         graph keep - -
cudaGraphAddNode/5                      nothing         - graph - - keep
cudaGraphAddNode                        nothing         - graph - - - keep
cudaGraphAddKernelNode                  nothing         - graph - - keep
cudaGraphAdd{Memcpy,Host,MemAlloc}Node  nothing         - graph - - keep
cudaGraphAddMemsetNode                  nothing         - graph - - keep
cudaGraphAddMemcpyNode1D                nothing         - graph - - keep keep - kind
cudaGraphAddMemcpyNode{To,From}Symbol   nothing         - graph - - keep keep - - kind
cudaGraphAddMemFreeNode                 nothing         - graph - - keep
cudaGraphAddChildGraphNode              nothing         - graph - - keep
cudaGraphAdd{Empty,EventRecord,EventWait}Node nothing   - graph - - -
cudaGraphAddDependencies                nothing         graph - - - -
cudaGraphRemoveDependencies             nothing         graph - - - -
cudaGraphAddExternalSemaphores{Signal,Wait}Node external - graph - - - ; why=a semaphore of another API
cudaGraphExec{Kernel,Memcpy,Memset,Host,}NodeSetParams nothing graph - keep
cudaGraphExecMemcpyNodeSetParams1D      nothing         graph - keep keep - kind
cudaGraphExecMemcpyNodeSetParams{To,From}Symbol nothing graph - keep keep - - kind
cudaGraphExecChildGraphNodeSetParams    nothing         graph - keep
cudaGraphExecEvent{Record,Wait}NodeSetEvent nothing     graph - -
cudaGraphNodeSetEnabled                 nothing         graph - -
cudaGraphNodeGetEnabled                 nothing         graph - out
cudaGraphExecGetFlags                   nothing         graph out
cudaGraph{Kernel,Memcpy,Memset,Host,}NodeSetParams external - params ; why=a graph node takes other memory
cudaGraphMemcpyNodeSetParams{1D,ToSymbol,FromSymbol} external - rw* ; why=a graph node takes other memory
cudaGraph{Kernel,Memcpy,Memset,Host,MemAlloc,MemFree}NodeGetParams nothing - out
cudaGraphKernelNode{Get,Set}Attribute   nothing         - - -
cudaGraphKernelNodeCopyAttributes       nothing         - -
cudaGraphChildGraphNodeGetGraph         nothing         - graph_out
cudaGraphEvent{Record,Wait}Node{Get,Set}Event nothing   - -
cudaGraphGet{Nodes,RootNodes}           nothing         graph out out
cudaGraphGetEdges                       nothing         graph out out out out
cudaGraphNodeGet{Dependencies,DependentNodes} nothing   - out out out
cudaGraphNodeGetType                    nothing         - out
cudaGraphNodeFindInClone                nothing         out - -
cudaGraphDestroyNode                    nothing         -
cudaGraphDebugDotPrint                  output          graph hr -
cudaGraphConditionalHandleCreate        nothing         out graph - -
cudaGraphExternalSemaphores{Signal,Wait}Node{Get,Set}Params external - - ; why=a semaphore of another API
cudaGraphExecExternalSemaphores{Signal,Wait}NodeSetParams external graph - - ; why=a semaphore of another API
cudaUserObjectCreate                    external        out keep fn - - ; why=a function runs when the object goes away
cudaUserObject{Retain,Release}          external        - -             ; why=a function runs when the object goes away
cudaGraph{Retain,Release}UserObject     external        graph - - -     ; why=a function runs when the object goes away
cudaDeviceGraphMemTrim                  nothing         device
cudaDevice{Get,Set}GraphMemAttribute    nothing         device - hrw
"""

_DEVICE = """
cudaDeviceSynchronize                   sync_device
cudaDeviceSynchronize/1                 sync_device     device
cudaThreadSynchronize                   sync_device
cudaDeviceReset                         reset
cudaThreadExit                          reset
cudaSetDevice                           set_device      device
cudaInitDevice                          nothing         device - -
cudaGetDevice                           nothing         out
cudaGetDeviceCount                      nothing         out
cudaGetDeviceProperties                 nothing         out device
cudaDeviceGetAttribute                  nothing         out - device
cudaChooseDevice                        nothing         out -
cudaSetValidDevices                     nothing         hr -
cuda{Set,Get}DeviceFlags                nothing         -
cudaDeviceSetLimit                      nothing         - -     ; waits=maybe
cudaDeviceGetLimit                      nothing         out -
cudaDeviceSet{CacheConfig,SharedMemConfig} nothing      -
cudaDeviceGet{CacheConfig,SharedMemConfig} nothing      out
cudaThread{Set,Get}{CacheConfig,Limit}  nothing         hrw*
cudaCtxResetPersistingL2Cache           nothing
cudaDeviceGetStreamPriorityRange        nothing         out out
cudaDeviceGetByPCIBusId                 nothing         out -
cudaDeviceGetPCIBusId                   nothing         hrw*
cudaDeviceGetP2P{Attribute,AtomicCapabilities} nothing  out hrw*
cudaDeviceGetHostAtomicCapabilities     nothing         out hrw*
cudaDeviceGet{Texture1DLinearMaxWidth,NvSciSyncAttributes} nothing out hrw*
cudaDeviceFlushGPUDirectRDMAWrites      external        - -     ; why=remote direct memory access
cudaDevice{Register,Unregister}AsyncNotification external -*    ; why=a function runs when the driver likes
cudaDeviceCanAccessPeer                 nothing         out device device
cudaDeviceEnablePeerAccess              peer            device -
cudaDeviceDisablePeerAccess             nothing         device  ; waits=maybe
cudaDeviceGet{DefaultMemPool,MemPool}   nothing         pool_out device
cudaDeviceSetMemPool                    nothing         device pool
cudaMemPoolSetAttribute                 nothing         pool - hr
cudaMemPoolGetAttribute                 free_memory     pool setting out
cudaMemPoolSetAccess                    nothing         pool hr -
cudaMemPoolGetAccess                    nothing         out pool -
cudaMemPoolCreate                       nothing         pool_out -
cudaMemPoolDestroy                      nothing         pool    ; waits=maybe
cudaMemPoolTrimTo                       nothing         pool -  ; waits=maybe
cudaMemGet{DefaultMemPool,MemPool}      nothing         pool_out - -
cudaMemSetMemPool                       nothing         - - pool
cudaMemPoolExportPointer                ipc             out r
cudaMemPoolExportToShareableHandle      ipc             out pool - -
cudaMemPoolImport{Pointer,FromShareableHandle} external out -*  ; why=memory of another process
cudaIpcGetMemHandle                     ipc             out r
cudaIpcOpenMemHandle                    external        out - - ; why=memory of another process
cudaIpcCloseMemHandle                   external        -       ; why=memory of another process
cudaIpcGetEventHandle                   external        out event ; why=an event that another process sees
cudaIpcOpenEventHandle                  external        out -   ; why=an event of another process
cuda{Get,PeekAt}LastError               status
cudaGetError{Name,String}               nothing         -       ; silent
cuda{Runtime,Driver}GetVersion          nothing         out
cudaFuncSet{Attribute,CacheConfig,SharedMemConfig} nothing hrw*
cudaFuncGet{Attributes,Name}            nothing         out -
cudaFuncGetParamInfo                    nothing         - - out out
cudaOccupancyMaxActiveBlocksPerMultiprocessor{,WithFlags} nothing out hrw*
cudaOccupancyMaxPotentialBlockSize{,WithFlags} nothing  out out hrw*
cudaOccupancyMaxPotentialBlockSizeVariableSMem{,WithFlags} nothing out out - fn -*
cudaOccupancy{AvailableDynamicSMemPerBlock,MaxPotentialClusterSize,MaxActiveClusters} nothing out hrw*
cudaGetDriverEntryPoint{,ByVersion}     nothing         - out hrw*
cudaGet{FuncBySymbol,Kernel}            nothing         out -
cudaLogsRegisterCallback                external        fn - -  ; why=a function that the library calls
cudaLogs{UnregisterCallback,Current,DumpToFile,DumpToMemory} nothing hrw*
cudaGetExportTable                      external        out -   ; why=an interface without documentation
cudaLibrary{LoadData,LoadFromFile,GetKernel,GetUnifiedFunction,GetKernelCount,EnumerateKernels} nothing out hrw*
cudaLibraryGet{Global,Managed}          nothing         found out - -
cudaLibraryUnload                       nothing         -       ; ends waits=maybe
cudaKernelSetAttributeForDevice         nothing         - - - -
cudaProfiler{Start,Stop,Initialize}     nothing         hrw*
"""

_TEXTURES = """
cudaCreateChannelDesc{,Half,Half1,Half2,Half4} nothing  hrw*                  ; silent
cudaGetChannelDesc                      nothing         out -
cudaCreate{Texture,Surface}Object       nothing         keeper_out keep - -
# no document says that they wait, or that work which uses the object may still run
cudaDestroy{Texture,Surface}Object      nothing         -                     ; ends waits=maybe
cudaGet{Texture,Surface}ObjectResourceDesc nothing      out -
cudaGetTextureObject{TextureDesc,ResourceViewDesc} nothing out -
cudaBindTexture                         external        out - keep -* ; why=kernels read a texture reference without \
naming its memory
cudaBindTexture2D                       external        out - keep -* ; why=kernels read a texture reference without \
naming its memory
cudaBind{TextureToArray,TextureToMipmappedArray,SurfaceToArray} external - keep - ; why=kernels use the reference \
without naming the array
cudaBind{TextureToArray,TextureToMipmappedArray,SurfaceToArray}/2 external - keep ; why=kernels use the reference \
without naming the array
cudaUnbindTexture                       nothing         -
cudaGetTexture{Reference,AlignmentOffset} nothing       out -
cudaGetSurfaceReference                 nothing         out -
make_cuda{Extent,Pos}                   nothing         - - -               ; silent
make_cudaPitchedPtr                     nothing         keep - - -          ; silent returns=keeper
"""

_INTEROP = """
cudaGraphics{Map,Unmap}Resources        external        - hidden stream  ; why=a graphics API uses the memory
cudaGraphicsResourceGetMappedPointer    external        out out hidden ; why=memory of a graphics API
cudaGraphics{SubResourceGetMappedArray,ResourceGetMappedMipmappedArray,ResourceGetMappedEglFrame} external out hidden* ; \
why=memory of a graphics API
cudaGraphics{UnregisterResource,ResourceSetMapFlags} external hidden* ; why=memory of a graphics API
cudaGraphics{GLRegisterBuffer,GLRegisterImage,EGLRegisterImage,VDPAURegisterVideoSurface,VDPAURegisterOutputSurface} \
external out hidden* ; why=memory of a graphics API
cudaGraphics{D3D9,D3D10,D3D11}RegisterResource external out hidden* ; why=memory of a graphics API
cuda{GL,VDPAU,D3D9,D3D10,D3D11}{GetDevice,GetDevices,SetGLDevice,SetVDPAUDevice} nothing out hrw*
cuda{ImportExternalMemory,ExternalMemoryGetMappedBuffer,ExternalMemoryGetMappedMipmappedArray} external out -* ; \
why=memory of another API
cudaImportExternalSemaphore             external        out -       ; why=a semaphore of another API
cuda{Signal,Wait}ExternalSemaphoresAsync external       - - - stream ; why=a semaphore of another API
cudaDestroyExternal{Memory,Semaphore}   external        -           ; why=memory of another API
cudaEGLStream{ConsumerConnect,ConsumerConnectWithFlags,ConsumerDisconnect,ConsumerAcquireFrame,ConsumerReleaseFrame} \
external rw* ; why=memory of another API
cudaEGLStream{ProducerConnect,ProducerDisconnect,ProducerPresentFrame,ProducerReturnFrame} external rw* ; why=memory \
of another API
cudaEventCreateFromEGLSync              external        out -*      ; why=an event of another API
"""

TABLES = tuple(
    Table("CUDA Runtime API 13.0", rows) for rows in (_MEMORY, _COPIES, _STREAMS, _GRAPHS, _DEVICE, _TEXTURES, _INTEROP)
)
