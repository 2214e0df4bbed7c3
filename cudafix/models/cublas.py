"""cuBLAS, cuBLASLt, cuBLASXt: `cublas_api.h`, `cublasLt.h`, `cublasXt.h` and `cublas.h` (the legacy API) of CUDA 13.0
and the cuBLAS documentation.

The scalars alpha and beta are on the host unless `cublasSetPointerMode` says device: they are `hr`. Functions that
compute a scalar (dot, nrm2, asum, amax, rotg) wait for their stream in host mode and not in device mode, so they wait
maybe; their result is `hw`, which a device pointer contradicts, so it is `w` here: written by the operation on its
stream. The documentation says that `cublasDestroy` synchronizes the device in releasing what `cublasCreate` allocated;
it is a remark on cost and not a promise to build on, so both wait maybe.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_HANDLE = """
cublasCreate{,_v2}                      handle_create   handle_out      ; waits=maybe
cublasDestroy{,_v2}                     handle_destroy  handle          ; waits=maybe
cublasSetStream{,_v2}                   handle_set_stream handle stream
cublasGetStream{,_v2}                   external        handle stream_out ; why=a stream that is read back from a \
handle
cublasSetWorkspace{,_v2}                nothing         keeper keep -   ; waits=maybe
cublas{Set,Get}{PointerMode,MathMode,AtomicsMode,SmCountTarget,EmulationStrategy}{,_v2} nothing handle -
cublas{Set,Get}FixedPointEmulation{MantissaControl,MaxMantissaBitCount,MantissaBitOffset} nothing handle -
cublasSetFixedPointEmulationMantissaBitCountPointer nothing keeper keep
cublasGet{Version,Property}{,_v2}       nothing         hrw*
cublasMp*                               external        rw*     ; why=cuBLASMp: other processes take part
cublasMp{Numroc,GetVersion,GetStatusString} nothing     hrw*      ; silent
cublasGetCudartVersion                  nothing                         ; silent
cublasGet{StatusString,StatusName}      nothing -              ; silent
cublasMigrateComputeType                nothing         handle - out
cublas{LoggerConfigure,GetLoggerCallback} nothing hrw*
cublasSetLoggerCallback                 external        fn      ; why=a function that the library calls
# copies between host and device: blocking forms on the default stream, as cudaMemcpy
cublas{Set,Get}Vector{,_64}             copy            - - r - w -     ; sync on=legacy
cublas{Set,Get}Matrix{,_64}             copy            - - - r - w -   ; sync on=legacy
cublas{Set,Get}VectorAsync{,_64}        copy            - - r - w - stream
cublas{Set,Get}MatrixAsync{,_64}        copy            - - - r - w - stream
# the interface of CUDA 1: no handle, one global stream
cublas{Init,Shutdown}                   nothing                         ; waits=maybe
cublasAlloc                             external        - - new         ; why=the first cuBLAS interface allocates \
itself
cublasFree                              external        free            ; why=the first cuBLAS interface frees itself
cublasSetKernelStream                   external        stream          ; why=the first cuBLAS interface has one \
global stream
cublas{GetError,Xerbla}                 status          -*
"""

_LEVEL_1 = """
# handle, n, ...
cublas{I[sdcz]{amax,amin},[SD]nrm2,{Sc,Dz}nrm2,[SD]asum,{Sc,Dz}asum}{,_v2}{,_64} work handle - r - w ; waits=maybe
cublas{[SD]dot,[CZ]dotu,[CZ]dotc}{,_v2}{,_64} work      handle - r - r - w      ; waits=maybe
cublas{Nrm2Ex,AsumEx}{,_64}             work            handle - r - - w - -    ; waits=maybe
cublas{IamaxEx,IaminEx}{,_64}           work            handle - r - - w        ; waits=maybe
cublas{DotEx,DotcEx}{,_64}              work            handle - r - - r - - w - - ; waits=maybe
cublas[SDCZ]axpy{,_v2}{,_64}            work            handle - hr r - rw -
cublasAxpyEx{,_64}                      work            handle - hr - r - - rw - - -
cublas{[SDCZ]scal,Csscal,Zdscal}{,_v2}{,_64} work       handle - hr rw -
cublasScalEx{,_64}                      work            handle - hr - rw - - -
cublas[SDCZ]copy{,_v2}{,_64}            work            handle - r - w -
cublasCopyEx{,_64}                      work            handle - r - - w - -
cublas[SDCZ]swap{,_v2}{,_64}            work            handle - rw - rw -
cublasSwapEx{,_64}                      work            handle - rw - - rw - -
cublas{[SDCZ]rot,Csrot,Zdrot}{,_v2}{,_64} work          handle - rw - rw - hr hr
cublasRotEx{,_64}                       work            handle - rw - - rw - - hr hr - -
cublas{RotgEx,RotmEx,RotmgEx}{,_64}     work            handle rw*              ; waits=maybe
cublas[SDCZ]rotg{,_v2}                  work            handle rw rw w w        ; waits=maybe
cublas[SD]rotm{,_v2}{,_64}              work            handle - rw - rw - hr
cublas[SD]rotmg{,_v2}                   work            handle rw rw rw r w     ; waits=maybe
"""

_LEVEL_2 = """
cublas[SDCZ]gemv{,_v2}{,_64}            work            handle - - - hr r - r - hr rw -
cublas[SDCZ]gbmv{,_v2}{,_64}            work            handle - - - - - hr r - r - hr rw -
cublas{[SDCZ]symv,[CZ]hemv}{,_v2}{,_64} work            handle - - hr r - r - hr rw -
cublas{[SD]sbmv,[CZ]hbmv}{,_v2}{,_64}   work            handle - - - hr r - r - hr rw -
cublas{[SD]spmv,[CZ]hpmv}{,_v2}{,_64}   work            handle - - hr r r - hr rw -
cublas[SDCZ]{trmv,trsv}{,_v2}{,_64}     work            handle - - - - r - rw -
cublas[SDCZ]{tbmv,tbsv}{,_v2}{,_64}     work            handle - - - - - r - rw -
cublas[SDCZ]{tpmv,tpsv}{,_v2}{,_64}     work            handle - - - - r rw -
cublas{[SD]ger,[CZ]geru,[CZ]gerc}{,_v2}{,_64} work      handle - - hr r - r - rw -
cublas{[SDCZ]syr,[CZ]her}{,_v2}{,_64}   work            handle - - hr r - rw -
cublas{[SDCZ]syr2,[CZ]her2}{,_v2}{,_64} work            handle - - hr r - r - rw -
cublas{[SD]spr,[CZ]hpr}{,_v2}{,_64}     work            handle - - hr r - rw
cublas{[SD]spr2,[CZ]hpr2}{,_v2}{,_64}   work            handle - - hr r - r - rw
"""

_LEVEL_3 = """
cublas{[SDCZ]gemm,Hgemm,[CZ]gemm3m}{,_v2}{,_64} work    handle - - - - - hr r - r - hr rw -
cublas{GemmEx,Gemm_Ex}{,_64}            work            handle - - - - - hr r - - r - - hr rw - - - -
cublas{SgemmEx,CgemmEx,Cgemm3mEx}{,_64} work            handle - - - - - hr r - - r - - hr rw - -
cublas{[SDCZ]symm,[CZ]hemm}{,_v2}{,_64} work            handle - - - - hr r - r - hr rw -
cublas{[SDCZ]syrk,[CZ]herk}{,_v2}{,_64} work            handle - - - - hr r - hr rw -
cublas{Csyrk,Cherk}{Ex,3mEx}{,_64}      work            handle - - - - hr r - - hr rw - -
cublas{[SDCZ]syr2k,[CZ]her2k,[SDCZ]syrkx,[CZ]herkx}{,_v2}{,_64} work handle - - - - hr r - r - hr rw -
cublas[SDCZ]trmm{,_v2}{,_64}            work            handle - - - - - - hr r - r - w -
cublas[SDCZ]trsm{,_v2}{,_64}            work            handle - - - - - - hr r - rw -
cublas[SDCZ]geam{,_64}                  work            handle - - - - hr r - hr r - w -
cublas[SDCZ]dgmm{,_64}                  work            handle - - - r - r - w -
cublas[SDCZ]tpttr                       work            handle - - r w -
cublas[SDCZ]trttp                       work            handle - - r - w
cublasUint8gemmBias                     work            handle - - - - - - r - - r - - w - - - -
# batched: arrays of pointers on the device, which reach more memory than the call names: `params`
cublas{[SDCZ]gemm,Hgemm,Cgemm3m}Batched{,_64} work      handle - - - - - hr params - params - hr params - -
cublas{HSH,HSS,BF16,TSS,TST}gemmBatched{,_64} work      handle - - - - - hr params - params - hr params - -
cublasGemmBatchedEx{,_64}               work            handle - - - - - hr params - - params - - hr params - - - - -
cublasGemmGroupedBatchedEx{,_64}        work            handle hr hr hr hr hr hr params - hr params - hr hr params - \
hr - hr -
cublas[SD]gemmGroupedBatched{,_64}      work            handle hr hr hr hr hr hr params hr params hr hr params hr - hr
cublas{[SDCZ]gemm,Hgemm,Cgemm3m}StridedBatched{,_64} work handle - - - - - hr r - - r - - hr rw - - -
cublasGemmStridedBatchedEx{,_64}        work            handle - - - - - hr r - - - r - - - hr rw - - - - - -
cublas[SDCZ]gemvBatched{,_64}           work            handle - - - hr params - params - hr params - -
cublas{HSH,HSS,TST,TSS}gemvBatched{,_64} work           handle - - - hr params - params - hr params - -
cublas{[SDCZ],HSH,HSS,TST,TSS}gemvStridedBatched{,_64} work handle - - - hr r - - r - - hr rw - - -
cublas[SDCZ]trsmBatched{,_64}           work            handle - - - - - - hr params - params - -
cublas[SDCZ]getrfBatched                work            handle - params - w w -
cublas[SDCZ]getrsBatched                work            handle - - - params - r params - hw -
cublas[SDCZ]getriBatched                work            handle - params - r params - w -
cublas[SDCZ]matinvBatched               work            handle - params - params - w -
cublas[SDCZ]geqrfBatched                work            handle - - params - params hw -
cublas[SDCZ]gelsBatched                 work            handle - - - - params - params - hw w -
"""

_LT = """
cublasLtCreate                          nothing         out             ; waits=maybe
cublasLtDestroy                         nothing         -               ; waits=maybe
# handle, operation, alpha, A, layout, B, layout, beta, C, layout, D, layout, ..., workspace, its size, stream; the
# operation keeps the pointers that were set as its attributes (bias, scales)
cublasLtMatmul                          work            - r hr r r r r hr r r w r - rw - stream
cublasLtMatrixTransform                 work            - r hr r r hr r r w r stream
cublasLt{MatmulDesc,MatrixTransformDesc}SetAttribute nothing keeper - keep -
cublasLt{MatrixLayout,MatmulPreference,MatmulAlgoConfig}SetAttribute nothing - - hr -
cublasLt{MatmulDesc,MatrixTransformDesc,MatrixLayout,MatmulPreference,MatmulAlgoConfig}GetAttribute nothing - - out - \
out
cublasLtMatmulDescCreate                nothing         keeper_out - -
cublasLtMatrixTransformDescCreate       nothing         keeper_out -
cublasLt{MatmulDesc,MatrixTransformDesc}{Init,Init_internal} nothing out hrw*
cublasLt{MatrixLayout,MatmulPreference}{Create,Init,Init_internal} nothing out hrw*
cublasLt{MatmulDesc,MatrixTransformDesc,MatrixLayout,MatmulPreference}Destroy nothing -
cublasLtMatmulAlgo{GetHeuristic,GetIds,Init,Check,CapGetAttribute,ConfigGetAttribute,ConfigSetAttribute} nothing hrw*
cublasLt{GetVersion,GetCudartVersion,GetProperty,GetStatusName,GetStatusString,HeuristicsCacheGetCapacity} nothing hrw*
cublasLt{HeuristicsCacheSetCapacity,LoggerSetLevel,LoggerSetFile,LoggerOpenFile,LoggerSetMask,LoggerForceDisable,\
DisableCpuInstructionsSetMask} nothing hrw*
cublasLtLoggerSetCallback               external        fn      ; why=a function that the library calls
# cublasXt works on its own streams on several devices and waits for them
cublasXt{Create,Destroy,DeviceSelect,SetBlockDim,GetBlockDim,SetPinningMemMode,GetNumBoards,MaxBoards,SetCpuRoutine,\
SetCpuRatio} nothing hrw*
cublasXt{[SDCZ]{gemm,symm,syrk,syr2k,syrkx,trmm,trsm,spmm},[CZ]{hemm,herk,her2k,herkx}} external rw* ; \
why=works on its own streams on several devices
"""

# without a handle: scalars by value, results as what the function returns, one stream for all calls
_LEGACY = """
cublas{Init,Shutdown}                   nothing                         ; waits=maybe
cublasGetError                          nothing
cublasSetKernelStream                   handle_set_stream stream
cublas[SDCZ]axpy/6                      work    - - r - rw -
cublas[SDCZ]copy/5                      work    - r - w -
cublas[SDCZ]swap/5                      work    - rw - rw -
cublas{[SDCZ]scal,Csscal,Zdscal}/4      work    - - rw -
cublas{[SD]dot,[CZ]dotu,[CZ]dotc}/5     work    - r - r -               ; waits=own
cublas{[SD]nrm2,Scnrm2,Dznrm2,[SD]asum,Scasum,Dzasum,I[sdcz]amax,I[sdcz]amin}/3 work - r - ; waits=own
cublas[SDCZ]gemv/11                     work    - - - - r - r - - rw -
cublas{[SD]ger,[CZ]geru,[CZ]gerc}/9     work    - - - r - r - rw -
cublas{[SD]symv,[CZ]hemv}/10            work    - - - r - r - - rw -
cublas[SDCZ]{trmv,trsv}/8               work    - - - - r - rw -
cublas[SDCZ]gemm/13                     work    - - - - - - r - r - - rw -
cublas{[SDCZ]symm,[CZ]hemm,[SDCZ]syr2k,[CZ]her2k}/12 work - - - - - r - r - - rw -
cublas{[SDCZ]syrk,[CZ]herk}/10          work    - - - - - r - - rw -
cublas[SDCZ]{trmm,trsm}/11              work    - - - - - - - r - rw -
"""

TABLES = (
    *(Table("cuBLAS 13.0", rows, on="handle", exact=True) for rows in (_HANDLE, _LEVEL_1, _LEVEL_2, _LEVEL_3, _LT)),
    Table("cuBLAS 13.0, the legacy API", _LEGACY, looks=False, on="global", exact=True),
)
