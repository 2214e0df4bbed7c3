"""cuFFT and cuFFTXt: `cufft.h`, `cufftXt.h` of CUDA 13.0. A plan is a handle; its work runs on the plan's stream.

Making a plan allocates its work area and may wait; destroying it frees the area and may wait. All executions of a plan
use that area, on whatever stream ("cuFFT default behavior is to allocate the work area at plan generation time",
`cufftSetAutoAllocation`). The data of an execution is read and, for an in-place or multi-dimensional complex-to-real
transform, overwritten, so the input is `rw`.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
cufftPlan{1d,2d,3d,Many}                handle_create   handle_out hr*  ; holds=device waits=maybe
cufftCreate                             handle_create   handle_out      ; holds=device waits=maybe
cufftDestroy                            handle_destroy  handle          ; waits=maybe
cufftMakePlan{1d,2d,3d,Many,Many64}     nothing         handle hrw*       ; waits=maybe
cufftXtMakePlanMany                     nothing         handle hrw*       ; waits=maybe
cufftSetStream                          handle_set_stream handle stream
cufftSetWorkArea                        nothing         keeper keep
cufft{SetAutoAllocation,SetCompatibilityMode,SetPlanPropertyInt64,GetPlanPropertyInt64,ResetPlanProperty} nothing \
handle -*
cufft{Estimate,GetSize}{1d,2d,3d,Many,Many64,} nothing  hrw*              ; waits=maybe
cufftXtGetSizeMany                      nothing         hrw*              ; waits=maybe
cufft{GetVersion,GetProperty}           nothing         hrw*              ; silent
cufftExec{C2C,Z2Z}                      work            handle rw w -
cufftExec{R2C,C2R,D2Z,Z2D}              work            handle rw w
cufftXtExec                             work            handle rw w -
# the functions, and what they are given
cufftXt{SetCallback,SetJITCallback}     nothing         keeper keep*
cufftXt{ClearCallback,SetCallbackSharedSize} nothing    handle hrw*
# memory that cuFFT spreads over devices itself, or over processes
cufftMp*                                external        rw*     ; why=cuFFTMp: other processes take part
cufftXtSetGPUs                          external        handle - -      ; why=works on several devices
cufftXt{Malloc,Free,Memcpy,SetWorkArea,QueryPlan,SetWorkAreaPolicy} external rw* ; why=works on several devices
cufftXtExecDescriptor{,C2C,Z2Z,R2C,C2R,D2Z,Z2D} external rw*            ; why=works on several devices
"""

TABLES = (Table("cuFFT 13.0", _ROWS, on="handle", exact=True),)
