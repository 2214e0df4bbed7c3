"""OpenCL: the Khronos API specification, version 3.0. Its contexts, queues and buffers are apart from those of CUDA.

No call of it works on memory of the CUDA runtime, or waits for a stream; what it may do is read and write the memory of
the host that it is given, here or later. A call that takes code of the program to run later has no row.
"""

from __future__ import annotations

from cudafix.models.rows import Table

_ROWS = """
clCreateContext                         host    hr - hr fn hrw out
clCreateContextFromType                 host    hr - fn hrw out
clBuildProgram                          host    - - hr hr fn hrw
clCreate*                               host    hidden* ; anywhere
clGetEventProfilingInfo                 clock   hrw*
clGet*                                  host    hrw*
clRetain*                               host    -
clRelease*                              host    -       ; anywhere
clSetKernelArg                          host    - - - hr
clSetKernelArgSVMPointer                host    - - -
clSetKernelExecInfo                     host    - - - hr
clSet{CommandQueueProperty,DefaultDeviceCommandQueue} host hrw*
cl{Unload,UnloadPlatform}Compiler       host    -*
# buffers made with CL_MEM_USE_HOST_PTR are memory of the program's, which any command uses while it runs
clWaitForEvents                         host    - hr    ; anywhere
cl{Flush,Finish}                        host    -       ; anywhere
clEnqueue{Read,Write,Copy,Fill,Map,Migrate,Unmap,Acquire,Release}* host hidden* ; anywhere
clEnqueue{NDRangeKernel,Task,Marker,MarkerWithWaitList,Barrier,BarrierWithWaitList,WaitForEvents} host hidden* ; \
anywhere
clEnqueueSVM{Memcpy,MemFill,Map,Unmap,MigrateMem} host hidden* ; anywhere
"""

TABLES = (Table("https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html", _ROWS, looks=False),)
