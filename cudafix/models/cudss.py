"""cuDSS: `cudss.h` of 1.0 and the cuDSS documentation, "General Description" and "Functions", of 0.7 and 1.0.

A matrix keeps the pointers that it is made from, a configuration and a solver's data those that are set in it (newer
versions copy them: "the buffer is copied", but for the flag that interrupts). `cudssExecute` works on the handle's
stream, on the device and on the host: "some of cuDSS APIs (e.g. factorization and solve phases) are asynchronous";
which phase waits for what is not said. The data has host and device buffers of its own, used by whoever gets it.
Distributed solvers, several devices and allocators of the program's own are out of reach.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
cudssCreate                             handle_create   handle_out      ; waits=maybe
cudssDestroy                            handle_destroy  handle          ; waits=maybe
cudssSetStream                          handle_set_stream handle stream
cudssConfigCreate                       nothing keeper_out
cudssConfigSet                          nothing keeper - use+keep -
cudssConfigGet                          nothing - - use - use
cudssConfigDestroy                      nothing -
cudssDataCreate                         nothing - keeper_out            ; holds=pinned waits=maybe
cudssDataSet                            work    handle use+keeper - use+keep - ; waits=maybe
cudssDataGet                            work    handle use - use - use  ; waits=maybe
cudssDataDestroy                        nothing - use                   ; waits=maybe
cudssExecute                            work    handle - use use use use use ; waits=maybe
cudssMatrixCreateDn                     nothing keeper_out - - - keep - -
cudssMatrixCreateCsr                    nothing keeper_out - - - keep keep keep keep - - - - - -
cudssMatrixCreateCsr/13                 nothing keeper_out - - - keep keep keep keep - - - - -
# sizes and arrays of pointers, on the host or on the device
cudssMatrixCreateBatchDn                nothing keeper_out - use+keep use+keep use+keep use+keep - - -
cudssMatrixCreateBatchCsr               nothing keeper_out - use+keep use+keep use+keep use+keep use+keep use+keep \
use+keep - - - - - -
cudssMatrixCreateBatchCsr/14            nothing keeper_out - use+keep use+keep use+keep use+keep use+keep use+keep \
use+keep - - - - -
cudssMatrix{SetValues,SetBatchValues}   nothing keeper use+keep
cudssMatrix{SetCsrPointers,SetBatchCsrPointers} nothing keeper use+keep use+keep use+keep use+keep
cudssMatrixGetDn                        nothing of out out out alias out out
cudssMatrixGetCsr                       nothing of out out out alias alias alias alias out*
cudssMatrixGetBatchDn                   nothing of out alias alias alias alias out*
cudssMatrixGetBatchCsr                  nothing of out alias alias alias alias alias alias alias out*
cudssMatrix{GetFormat,GetDistributionRow1d} nothing - out*
cudssMatrixSetDistributionRow1d         nothing - - -
cudssMatrixDestroy                      nothing -
cudssGetProperty                        nothing - out                   ; silent
cudssLogger{SetFile,OpenFile,SetLevel,SetMask,ForceDisable} nothing hrw*
cudssSetThreadingLayer                  nothing - -
cudssSetJitCacheDir                     nothing - -
cudssGet{Device,Pinned}MemHandler       nothing - out
cudssSet{Device,Pinned}MemHandler       external - rw   ; why=cuDSS gets its memory from an allocator of the program's
cudssLoggerSetCallback                  external fn     ; why=a function that the library calls
cudssSetCommLayer                       external - -    ; why=cuDSS: other processes take part
cudss{CreateMg,SetMgStreams}            external rw*    ; why=works on several devices
"""

TABLES = (Table("cuDSS 1.0", _ROWS, on="handle", idle=True, exact=True),)
