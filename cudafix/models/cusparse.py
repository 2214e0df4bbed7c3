"""cuSPARSE: `cusparse.h` of CUDA 13.0, and the routines on raw CSR arrays that older versions had.

A descriptor that is made from device pointers keeps them; the generic routines (SpMV, SpMM, SpGEMM, …) read and write
memory only through descriptors and a buffer, which some descriptors keep from the analysis to the solve. alpha and beta
are host scalars unless the pointer mode is device. Routines that return a count to the host wait maybe.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_HANDLE = """
cusparseCreate                          handle_create   handle_out      ; waits=maybe
cusparseDestroy                         handle_destroy  handle          ; waits=maybe
cusparseSetStream                       handle_set_stream handle stream
cusparseGetStream                       external        handle stream_out ; why=a stream that is read back from a \
handle
cusparse{Set,Get}PointerMode            nothing         handle -
cusparseGet{Version,Property,ErrorName,ErrorString} nothing hrw*          ; silent
cusparseLogger{SetLevel,SetFile,OpenFile,SetMask,ForceDisable} nothing hrw*
cusparseLoggerSetCallback               external        fn      ; why=a function that the library calls
"""

_DESCRIPTORS = """
cusparseCreate{,Const}Csr               nothing         keeper_out - - - keep keep keep - - - -
cusparseCreate{,Const}Csc               nothing         keeper_out - - - keep keep keep - - - -
cusparseCreate{,Const}Coo               nothing         keeper_out - - - keep keep keep - - -
cusparseCreateCooAoS                    nothing         keeper_out - - - keep keep - - -
cusparseCreate{,Const}{BlockedEll,SlicedEll,Bsr} nothing keeper_out - - - - keep*
cusparseCreate{,Const}DnVec             nothing         keeper_out - keep -
cusparseCreate{,Const}SpVec             nothing         keeper_out - - keep keep - - -
cusparseCreate{,Const}DnMat             nothing         keeper_out - - - keep - -
cusparse{SpMat,DnMat,DnVec,SpVec}SetValues nothing      keeper keep
cusparse{Csr,Csc,Coo}SetPointers        nothing         keeper keep keep keep
cusparse{,Const}{SpMat,DnMat,DnVec,SpVec}GetValues nothing of alias
cusparse{,Const}{Csr,Csc,Coo,DnMat,DnVec,SpVec,BlockedEll}Get nothing of alias*
cusparse{SpMatGetSize,SpMatGetFormat,SpMatGetIndexBase,SpMatGetAttribute,SpMatSetAttribute,SpVecGetIndexBase} nothing \
-*
cusparse{Csr,Coo,DnMat,SpMat,Bsr}{Set,Get}StridedBatch nothing hrw*
cusparseDestroy{SpMat,DnMat,DnVec,SpVec} nothing        -
cusparse{Create,Destroy}{MatDescr,Csrilu02Info,Csric02Info,Bsrilu02Info,Bsric02Info,Csrsv2Info,Csrsm2Info,\
Csrgemm2Info,\
Bsrsv2Info,Bsrsm2Info,ColorInfo,PruneInfo,Csru2csrInfo,SolveAnalysisInfo} nothing out   ; waits=maybe
cusparseSetMat{Type,IndexBase,DiagType,FillMode} nothing - -
cusparseGetMat{Type,IndexBase,DiagType,FillMode} nothing -
cusparse{SpSV,SpSM,SpGEMM}_createDescr  nothing         keeper_out
cusparse{SpSV,SpSM,SpGEMM}_destroyDescr nothing         -
cusparseSpMMOp_{createDescr,destroyDescr} nothing       hrw*
cusparseSpMMOp_createPlan               nothing         - keeper_out - - keep keep keep - - hr - hr - hr - out ; \
waits=maybe
cusparseSpMMOp_destroyPlan              nothing         -               ; waits=maybe
"""

_GENERIC = """
cusparseAxpby                           work            handle hr r hr rw
cusparse{Gather,Scatter}                work            handle rw rw
cusparseRot                             work            handle hr hr rw rw
cusparseSpVV                            work            handle - r r w - rw             ; waits=maybe
cusparseSpMV{,_preprocess}              work            handle - hr r r hr rw - - rw
cusparseSpMM{,_preprocess}              work            handle - - hr r r hr rw - - rw
cusparseSpMMOp                          external        r rw    ; why=a plan that was made on another handle
cusparseSDDMM{,_preprocess}             work            handle - - hr r r hr rw - - rw
# analysis keeps the matrix and the buffer in the solve's descriptor
cusparseSpSV_analysis                   work            handle - hr r r rw - - keeper keep ; waits=maybe
cusparseSpSV_solve                      work            handle - hr r r rw - - rw
cusparseSpSV_updateMatrix               work            handle rw r -
cusparseSpSM_analysis                   work            handle - - hr r r rw - - keeper keep ; waits=maybe
cusparseSpSM_solve                      work            handle - - hr r r rw - - rw
cusparseSpSM_solve/11                   work            handle - - hr r r rw - - rw rw
cusparseSpSM_updateMatrix               work            handle rw r -
# the product of two sparse matrices keeps the buffers of its steps, which the later ones use
cusparseSpGEMM_{workEstimation,compute} work            handle - - hr r r hr rw - - keeper out keep ; waits=maybe
cusparseSpGEMM_estimateMemory           work            handle - - hr r r hr rw - - keeper - out w out ; waits=maybe
cusparseSpGEMM_copy                     work            handle - - hr r r hr rw - - rw ; waits=maybe
cusparseSpGEMMreuse_{workEstimation,compute,nnz,copy} external handle -* ; \
why=its descriptor keeps buffers from call to call
cusparse{SpVV,SpMV,SpMM,SDDMM,SpSV,SpSM,SparseToDense,DenseToSparse}_bufferSize nothing hrw*
cusparseSparseToDense                   work            handle r w - rw
cusparseDenseToSparse_{analysis,convert} work           handle r rw - rw                ; waits=maybe
cusparseCsr2cscEx2_bufferSize           nothing         hrw*
cusparseCsr2cscEx2                      work            handle - - - r r r w w w - - - - rw ; waits=maybe
"""

_LEGACY = """
cusparse[SDCZ]gtsv2{,_nopivot,StridedBatch,_nopivot_bufferSizeExt,_bufferSizeExt,StridedBatch_bufferSizeExt} work \
handle rw* ; \
waits=maybe
cusparse[SDCZ]{gtsvInterleavedBatch,gpsvInterleavedBatch}{,_bufferSizeExt} work handle rw* ; waits=maybe
cusparse{[SDCZ],X}{csrilu02,csric02,bsrilu02,bsric02,csrsv2,csrsm2,bsrsv2,bsrsm2,csrsm,csrsv}\
{,_bufferSize,_bufferSizeExt,_analysis,_solve,_zeroPivot,_numericBoost} work handle rw* ; waits=maybe
cusparse[SDCZ]{csrmv,csrmm,csrmm2,bsrmv,bsrmm,bsrxmv,gemvi,gemmi,hybmv,csrgemm,csrgeam,csrgeam2,csrgemm2} work handle \
rw* ; \
waits=maybe
cusparse{[SDCZ],X}{csrgeam2,csrgemm2}{_bufferSizeExt,Nnz} work handle rw*               ; waits=maybe
cusparse[SDCZ]{axpyi,doti,dotci,gthr,gthrz,sctr,roti} work handle rw*                   ; waits=maybe
cusparse{X,[SDCZ]}{csr2coo,coo2csr,csr2bsr,bsr2csr,csr2gebsr,gebsr2csr,csr2csc,csr2dense,csc2dense,dense2csr,\
dense2csc,nnz,\
csr2bsrNnz,csr2gebsrNnz,nnz_compress,csr2csr_compress,csrcolor,gebsr2gebsr,gebsr2gebsc} work handle rw* ; waits=maybe
cusparse[HSDC]prune{Dense2csr,Csr2csr}{_bufferSizeExt,Nnz,,ByPercentage,ByPercentage_bufferSizeExt,NnzByPercentage} \
work handle rw* ; \
waits=maybe
cusparse[SDCZ]{csru2csr,csr2csru,csru2csr_bufferSizeExt,gemvi_bufferSize} work handle rw* ; waits=maybe
cusparse[SDCZ]{gebsr2gebsc,csr2gebsr,gebsr2gebsr}_bufferSize{,Ext} nothing hrw*
cusparseXgebsr2gebsrNnz                 work            handle rw*                      ; waits=maybe
cusparseSpGEMM_getNumProducts           nothing         - out
cusparseX{csrsort,cscsort,coosort}_bufferSizeExt work   handle rw*                      ; waits=maybe
cusparseX{csrsort,cscsort}              work            handle - - - - r rw rw rw       ; waits=maybe
cusparseXcoosort{ByRow,ByColumn}        work            handle - - - rw rw rw rw        ; waits=maybe
cusparseCreateIdentityPermutation       work            handle - w
cusparse{Scsr,Dcsr,Ccsr,Zcsr}MvEx{,_bufferSize} work    handle rw*                      ; waits=maybe
"""

TABLES = tuple(
    Table("cuSPARSE 13.0", rows, on="handle", exact=True) for rows in (_HANDLE, _DESCRIPTORS, _GENERIC, _LEGACY)
)
