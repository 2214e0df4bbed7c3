"""cuTENSOR 2: `cutensor.h` of 2.8.

A call that computes "calls asynchronous functions" on the stream in its last argument, and touches the tensors and the
workspace that it is given; a plan keeps none of them. alpha, beta and gamma are in host memory. Descriptors are made
from host arrays. Making a handle and a plan may wait. cuTENSORMg and cuTENSORMp work on several devices.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
cutensor{Create,Destroy}                nothing -                       ; waits=maybe
cutensorHandleResizePlanCache           nothing - -                     ; waits=maybe
cutensor{Handle{Write,Read}PlanCache,{Write,Read}KernelCache}{To,From}File output -*
cutensorCreateTensorDescriptor          nothing - out - use use - -
cutensorCreateBlockSparseTensorDescriptor nothing - out - - use use use use -
cutensorDestroy{TensorDescriptor,BlockSparseTensorDescriptor,OperationDescriptor,PlanPreference,Plan} nothing - ; \
waits=maybe
cutensorCreate{ElementwiseTrinary,ElementwiseBinary,Permutation,Contraction,Reduction,ContractionTrinary,\
BlockSparseContraction} nothing - out use*
cutensor{OperationDescriptor,PlanPreference}{Set,Get}Attribute nothing - - - use -
cutensorPlanGetAttribute                nothing - - - use -
cutensorCreatePlanPreference            nothing - out - -
cutensorEstimateWorkspaceSize           nothing - - - - out
cutensorCreatePlan                      nothing - out - - -             ; waits=maybe
cutensorElementwiseTrinaryExecute       work    - - use r use r use r w stream
cutensorElementwiseBinaryExecute        work    - - use r use r w stream
cutensorPermute                         work    - - use r w stream
cutensorContract                        work    - - use r r use r w rw - stream ; waits=maybe
cutensorReduce                          work    - - use r use r w rw - stream ; waits=maybe
cutensorContractTrinary                 work    - - use r r r use r w rw - stream ; waits=maybe
# arrays on the host of pointers to the blocks
cutensorBlockSparseContract             work    - - use use use use use use rw - stream ; waits=maybe
cutensor{GetErrorString,GetVersion,GetCudartVersion} nothing hrw*         ; silent
cutensorLogger{SetFile,OpenFile,SetLevel,SetMask,ForceDisable} nothing hrw*
cutensorLoggerSetCallback               external fn             ; why=a function that the library calls
cutensor{Mg,Mp}*                        external rw*                    ; why=works on several devices
"""

TABLES = (Table("cuTENSOR 2.8", _ROWS, idle=True, exact=True),)
