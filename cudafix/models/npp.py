"""NPP and NPP+: `nppcore.h`, `nppi*.h`, `npps*.h` of CUDA 12.4 and 13.2, and NPP's "General API Conventions" (11.0).

The thousands of functions differ in what they compute; what they mean for ordering is in their names. `…_Ctx` runs on
the stream in the field `hStream` of its last argument, `NppStreamContext`; a function without it, which CUDA 13 has no
more, on NPP's global stream: stream 0 until `nppSetStream` sets another one. `…Get…Size…` returns a size through a host
pointer. "All pointer arguments in those APIs are device pointers", but for the arrays of constants, coefficients and
channel pointers that are said to be in host memory, and a few lists whose names end in `Host`. Which of its arguments a
function reads and writes, whether it reads a host array before it returns, and whether it waits is not said one by one:
so each of them may be read and written by the operation and by the host (`use`), and the call waits maybe, and may
leave its stream idle (nothing to do in an empty region).
"""

from __future__ import annotations

from cudafix.models.rows import Table

_CORE = """
nppGet{LibVersion,GpuComputeCapability,GpuNumSMs,GpuName,GpuDeviceProperties,MaxThreadsPerBlock,MaxThreadsPerSM,\
StreamNumSMs,StreamMaxThreadsPerSM} nothing -* ; silent
nppSetStream                            handle_set_stream stream        ; waits=maybe
# which stream that is stays open: work on it is on a stream that is not known
nppGetStream                            nothing                         ; silent
nppGetStreamContext                     nothing out                     ; silent
{nppPlusV::,}nppiMalloc_*               alloc   - - out                 ; memory=pitched returns=pointer
{nppPlusV::,}nppsMalloc_*               alloc   -                       ; memory=pitched returns=pointer
{nppPlusV::,}npp{i,s}Free               free    free                    ; memory=pitched waits=maybe
"""

_FUNCTIONS = """
{nppPlusV::,}npp[is]*Get*Size*          nothing use*                    ; silent
{nppPlusV::,}nppiGet{Affine,Perspective,Rotate,Resize,FilterGaussPyramid}* nothing use* ; silent
{nppPlusV::,}nppiEvenLevelsHost*        nothing use*                    ; silent
{nppPlusV::,}nppi{Graphcut,Workspace}*{,_Ctx} external rw*                   ; why=NPP: its state keeps a buffer
{nppPlusV::,}npp[is]*_Ctx               work    use* stream.hStream     ; waits=maybe
{nppPlusV::,}nppi*OutputGeometryLists*  output  use*                    ; silent
{nppPlusV::,}npp[is]*                   work    use*                    ; on=global waits=maybe
"""

TABLES = (Table("NPP 13.2", _CORE), Table("NPP 13.2", _FUNCTIONS, idle=True))
