"""cuSOLVER: `cusolverDn.h`, `cusolverSp.h`, `cusolverRf.h` of CUDA 13.0.

Dense routines work on the handle's stream and report through `devInfo`, device memory; the 64-bit interface (`X…`) also
uses a host workspace while it is called. Several dense routines synchronize inside, none says which: they wait maybe.
Sparse solvers return a scalar to the host. Functions whose name ends in `Host` compute on the host.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_DENSE = """
cusolver{Dn,Sp}Create                   handle_create   handle_out      ; waits=maybe
cusolverMgCreate                        external        out             ; why=works on several devices
cusolver{Dn,Sp}Destroy                  handle_destroy  handle          ; waits=maybe
cusolver{Dn,Sp}SetStream                handle_set_stream handle stream
cusolver{Dn,Sp}GetStream                external        handle stream_out ; why=a stream that is read back from a \
handle
cusolverDn{Set,Get}{AdvOptions,DeterministicMode,MathMode,EmulationStrategy} nothing hrw*
cusolverDn{Set,Get}FixedPointEmulation{MantissaControl,MaxMantissaBitCount,MantissaBitOffset} nothing handle -
cusolverMp*                             external        rw*     ; why=cuSOLVERMp: other processes take part
cusolverMp{NUMROC,GetVersion}           nothing         hrw*      ; silent
cusolverDn{Create,Destroy}{Params,GesvdjInfo,SyevjInfo,,IRSParams,IRSInfos} nothing out hrw*
cusolverDnX{gesvdj,syevj}{SetTolerance,SetMaxSweeps,SetSortEig,GetResidual,GetSweeps} nothing hrw*
cusolverDn{[SDCZ],X,}{potrf,getrf,getrs,geqrf,ormqr,orgqr,unmqr,ungqr,sytrf,gesvd,gesvdj,gesvda,gebrd,gesvdr,gesvdp}\
_bufferSize{,Ext} nothing hrw*
cusolverDn{[SDCZ],X,}{syevd,syevdx,syevj,heevd,heevdx,heevj,sygvd,sygvdx,sygvj,hegvd,hegvdx,hegvj,sytrd,hetrd,potri,\
trtri}\
_bufferSize{,Ext} nothing hrw*
cusolverDn{[SDCZ],X,}{gesvdjBatched,gesvdaStridedBatched,syevjBatched,heevjBatched,syevBatched,geev,laswp,orgbr,ungbr,\
ormtr,\
unmtr,orgtr,ungtr,sytri}_bufferSize{,Ext} nothing hrw*
# handle, uplo or m, n, ..., A, lda, workspace, ..., devInfo
cusolverDn[SDCZ]potrf                   work            handle - - rw - rw - w  ; waits=maybe
cusolverDn[SDCZ]potri                   work            handle - - rw - rw - w  ; waits=maybe
cusolverDn[SDCZ]potrs                   work            handle - - - r - rw - w ; waits=maybe
cusolverDn[SDCZ]potrfBatched            work            handle - - params - w - ; waits=maybe
cusolverDn[SDCZ]potrsBatched            work            handle - - - params - params - w - ; waits=maybe
cusolverDn[SDCZ]getrf                   work            handle - - rw - rw w w  ; waits=maybe
cusolverDn[SDCZ]getrs                   work            handle - - - r - r rw - w ; waits=maybe
cusolverDn[SDCZ]geqrf                   work            handle - - rw - w rw - w ; waits=maybe
cusolverDn{[SD]ormqr,[CZ]unmqr}         work            handle - - - - - r - r rw - rw - w ; waits=maybe
cusolverDn{[SD]orgqr,[CZ]ungqr}         work            handle - - - rw - r rw - w ; waits=maybe
cusolverDn[SDCZ]sytrf                   work            handle - - rw - w rw - w ; waits=maybe
cusolverDn[SDCZ]laswp                   work            handle - rw - - - r -
cusolverDn[SDCZ]gebrd                   work            handle - - rw - w w w w rw - w ; waits=maybe
cusolverDn[SDCZ]gesvd                   work            handle - - - - rw - w w - w - rw - rw w ; waits=maybe
cusolverDn[SDCZ]gesvdj                  work            handle - - - - rw - w w - w - rw - w - ; waits=maybe
cusolverDn[SDCZ]gesvdjBatched           work            handle - - - rw - w w - w - rw - w - - ; waits=maybe
cusolverDn[SDCZ]gesvdaStridedBatched    work            handle - - - - rw - - w - w - - w - - rw - w hw - ; waits=maybe
cusolverDn{[SD]syevd,[CZ]heevd}         work            handle - - - rw - w rw - w ; waits=maybe
cusolverDn{[SD]syevj,[CZ]heevj}         work            handle - - - rw - w rw - w - ; waits=maybe
cusolverDn{[SD]syevjBatched,[CZ]heevjBatched} work      handle - - - rw - w rw - w - - ; waits=maybe
cusolverDn{[SD]syevdx,[CZ]heevdx}       work            handle - - - - rw - - - - - hw w rw - w ; waits=maybe
cusolverDn{[SD]sygvd,[CZ]hegvd}         work            handle - - - - rw - rw - w rw - w ; waits=maybe
cusolverDn{[SD]sygvj,[CZ]hegvj}         work            handle - - - - rw - rw - w rw - w - ; waits=maybe
cusolverDnIRSParams{Create,Destroy,SetRefinementSolver,SetSolverMainPrecision,SetSolverLowestPrecision,SetTol,\
SetTolInner,\
SetSolverPrecisions,SetMaxIters,SetMaxItersInner,GetMaxIters,EnableFallback,DisableFallback} nothing hrw*
cusolverDnIRSInfos{Create,Destroy,GetNiters,GetOuterNiters,RequestResidual,GetResidualHistory,GetMaxIters} nothing hrw*
cusolverDnIRSX{gesv,gels}               work            handle rw* ; waits=maybe
cusolverDnIRSX{gesv,gels}_bufferSize    nothing         hrw*
cusolverDnLoggerSetCallback             external        fn      ; why=a function that the library calls
cusolverDnLogger{SetFile,OpenFile,SetLevel,SetMask,ForceDisable} nothing hrw*
cusolverDn{[SDCZ]lauum,Xsytrs,Xlarft}_bufferSize nothing hrw*
cusolverDn{[SDCZ]{lauum,sytri},[SD]{orgbr,sytrd,orgtr,ormtr,sygvdx},[CZ]{ungbr,hetrd,ungtr,unmtr,hegvdx}} work handle \
rw* ; waits=maybe
cusolverDn{Potrf,Potrs,Geqrf,Getrf,Getrs,Syevd,Syevdx,Gesvd} work handle rw* ; waits=maybe
cusolverDn{Potrf,Geqrf,Getrf,Syevd,Syevdx,Gesvd}_bufferSize nothing hrw*
cusolverDn{SS,SH,SB,SX,DD,DS,DH,DB,DX,ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY}{gesv,gels} work handle rw* ; waits=maybe
cusolverDn{SS,SH,SB,SX,DD,DS,DH,DB,DX,ZZ,ZC,ZK,ZE,ZY,CC,CK,CE,CY}{gesv,gels}_bufferSize nothing hrw*
# the 64-bit interface: pointers and sizes alternate in an order of their own for each routine
cusolverDnX{potrf,potrs,getrf,getrs,geqrf,gesvd,gesvdp,gesvdr,syevd,syevdx,sytrs,trtri,geev,syevBatched,larft} work \
handle rw* ; waits=maybe
"""

_SPARSE = """
cusolverSpCreateCsr{qr,chol}Info        nothing         keeper_out
cusolverSpDestroyCsr{qr,chol}Info       nothing         use                       ; waits=maybe
cusolverSp{Create,Destroy}Csr{luInfo,{qr,lu,chol}InfoHost} nothing out
cusolverSpX{csrissym,csrsymrcm,csrsymmdq,csrsymamd,csrmetisnd,csrperm_bufferSize,csrperm}Host host hrw*
cusolverSp[SDCZ]csrzfdHost              host            hrw*
cusolverSp{X,[SDCZ]}csr{qr,lu,chol}{Analysis,BufferInfo,Setup,Factor,ZeroPivot,Solve,Nnz,Extract}Host host hrw*
cusolverSp[SDCZ]{csrlsvlu,csrlsvqr,csrlsvchol,csrlsqvqr,csreigvsi,csreigs}Host host hrw*
cusolverSp[SDCZ]{csrlsvqr,csrlsvchol}   work            handle - - r r r r r - - w hw   ; waits=maybe
cusolverSp[SDCZ]csreigvsi               work            handle - - r r r r - r - - w w  ; waits=maybe
# what the structure that they share keeps of a matrix and of a buffer is not said: all, and any of them may work on it
@ cuSOLVER 13.0, cusolverSpSetStream(), cusolverSp<t>csrqrBatched(); cusolverSp_LOWLEVEL_PREVIEW.h of CUDA 13.0
cusolverSpXcsrqrAnalysis{,Batched}      work            handle - - - use+keep use+keep use+keep use+keeper ; waits=maybe
cusolverSpXcsrcholAnalysis              work            handle - - use+keep use+keep use+keep use+keeper ; waits=maybe
cusolverSp[SDCZ]csrqrBufferInfo         work            handle - - - use+keep use+keep use+keep use+keep use+keeper \
use+keep use+keep ; waits=maybe
cusolverSp[SDCZ]csrqrBufferInfoBatched  work            handle - - - use+keep use+keep use+keep use+keep - use+keeper \
use+keep use+keep ; waits=maybe
cusolverSp[SDCZ]csrcholBufferInfo       work            handle - - use+keep use+keep use+keep use+keep use+keeper \
use+keep use+keep ; waits=maybe
cusolverSp[SDCZ]csrqrSetup              work            handle - - - use+keep use+keep use+keep use+keep - \
use+keeper ; waits=maybe
cusolverSp[SDCZ]csrqrFactor             work            handle - - - use+keep use+keep use+keeper use+keep ; waits=maybe
cusolverSp[SDCZ]csrcholFactor           work            handle - - use+keep use+keep use+keep use+keep use+keeper \
use+keep ; waits=maybe
cusolverSp[SDCZ]csr{qr,chol}ZeroPivot   work            handle use+keeper - use+keep ; waits=maybe
cusolverSp[SDCZ]csrqrSolve              work            handle - - use+keep use+keep use+keeper use+keep ; waits=maybe
cusolverSp[SDCZ]csrcholSolve            work            handle - use+keep use+keep use+keeper use+keep ; waits=maybe
cusolverSp[SDCZ]csrcholDiag             work            handle use+keeper use+keep ; waits=maybe
cusolverSp[SDCZ]csrqrsvBatched          work            handle - - - use+keep use+keep use+keep use+keep use+keep \
use+keep - use+keeper use+keep ; waits=maybe
@ cuSOLVER 13.0
# refactorization keeps the pointers of its set-up and has no stream of its own
cusolverRf{Create,Destroy}              nothing         out                     ; waits=maybe
cusolverRf{Set,Get}{MatrixFormat,NumericProperties,NumericBoostReport,ResetValuesFastMode,Algs} nothing hrw*
cusolverRf{SetupDevice,SetupHost,Analyze,ResetValues,Refactor,Solve,AccessBundledFactorsDevice} external rw* ; \
why=works on a stream that its interface does not name
cusolverRf{ExtractBundledFactorsHost,ExtractSplitFactorsHost,BatchSetupHost,BatchAnalyze,BatchResetValues,\
BatchRefactor,\
BatchSolve,BatchZeroPivot} external rw* ; why=works on a stream that its interface does not name
cusolverMg{Destroy,DeviceSelect,CreateDeviceGrid,DestroyGrid,CreateMatrixDesc,DestroyMatrixDesc} external -* ; \
why=works on several devices
cusolverMg{Syevd,Getrf,Getrs,Potrf,Potrs,Potri}{,_bufferSize} external rw* ; why=works on several devices
cusolverGet{Version,Property}           nothing         hrw*                      ; silent
"""

TABLES = tuple(Table("cuSOLVER 13.0", rows, on="handle", exact=True) for rows in (_DENSE, _SPARSE))
