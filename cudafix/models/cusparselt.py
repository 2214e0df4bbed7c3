"""cuSPARSELt: `cusparseLt.h` of 0.10.

The objects are structs of the program, which the functions get the address of. A matrix or product descriptor keeps the
pointers that are set as its attributes (bias, scales), a plan the descriptors it is made of. The product runs on the
streams in an array: on which one without any is not documented. Pruning, checking and compressing run on the stream in
the last argument. A search runs the product and times it.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
cusparseLt{Init,Destroy}                nothing -                       ; waits=maybe
cusparseLtGet{Version,Property,ErrorName,ErrorString} nothing hrw*        ; silent
cusparseLt{Dense,Structured}DescriptorInit nothing - keeper_out hrw*
cusparseLtMat{Descriptor,mulAlgSelection,mulPlan}Destroy nothing -      ; waits=maybe
cusparseLtMatmulAlgSelectionDestroy     nothing -
cusparseLtMat{,mul}DescSetAttribute     nothing - keeper - use+keep -
cusparseLtMat{,mul}DescGetAttribute     nothing - of - alias -
cusparseLtMatmulDescriptorInit          nothing - keeper_out - - keep keep keep keep -
cusparseLtMatmulAlgSelectionInit        nothing - keeper_out keep -
cusparseLtMatmulAlg{Set,Get}Attribute   nothing - - - use -
cusparseLtMatmulGetWorkspace            nothing - - out
cusparseLtMatmulPlanInit                nothing - keeper_out keep keep  ; waits=maybe
cusparseLtMatmul                        work    - use use r r use r w rw streams - ; waits=maybe
# it measures how long each algorithm takes
cusparseLtMatmulSearch                  work    - use use r r use r w rw streams - ; timed waits=maybe
cusparseLtSpMMAPrune                    work    - use r w - stream      ; waits=maybe
cusparseLtSpMMAPrune2                   work    - use - - r w - stream  ; waits=maybe
cusparseLtSpMMAPruneCheck               work    - use r use stream      ; waits=maybe
cusparseLtSpMMAPruneCheck2              work    - use - - r use stream  ; waits=maybe
cusparseLtSpMMACompressedSize{,2}       nothing - - out out
cusparseLtSpMMACompress                 work    - use r w rw stream     ; waits=maybe
cusparseLtSpMMACompress2                work    - use - - r w rw stream ; waits=maybe
"""

TABLES = (Table("cuSPARSELt 0.10", _ROWS, idle=True, exact=True),)
