"""The page of every refusal: what it means, the CUDA fact behind it, and what would unlock the site.

Figures are measurements on one NVIDIA H200, driver 580, CUDA 13.0; a row that says "documented" is from
`cuda_runtime_api.h` of CUDA 13.0.
"""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """`title`: one line, lower case. `why`: the fact. `unlock`: what a user can change so that the pair can move."""

    title: str
    why: str
    unlock: str


REFUSALS: dict[str, Page] = {
    "unknown_call": Page(
        "a call that no table knows and no file defines receives the buffer",
        "`cudaFree` waits for the whole device (300 ms behind a 300 ms kernel, whatever its stream), so it orders even "
        "work that an unseen function started. `cudaFreeAsync` orders only its own stream. What runs on a stream "
        "that nobody sees may still use the block when the pool hands it out again: measured, the next allocation got "
        "the same address and was corrupted.",
        "Add the file that defines the function to the paths, or describe the function in a table of your own "
        "(`tables` in the configuration): which arguments it reads and writes, and on which stream.",
    ),
    "free_not_found": Page(
        "no path leads from the allocation to a `cudaFree` of its pointer",
        "Allocation and release move together. A `cudaMallocAsync` block that nobody frees is not given back by "
        "`cudaDeviceReset`, as a `cudaMalloc` block is: at 4 GiB a round, a program was out of memory at round 34.",
        "Free the pointer in the code that is analysed, or add the file that frees it, or that calls what frees it, "
        "to the paths.",
    ),
    "escapes": Page(
        "the pointer is stored or returned where its later use cannot be followed",
        "A stream-ordered block may be used only by work that is ordered after its allocation and before its release. "
        "Uses that are out of sight can be on any stream; a use on stream b of a block that was freed on stream a "
        "without an event between them was corrupted by the next owner of the address.",
        "Keep the pointer in one variable or in one member of a struct, or add the files that use it to the paths.",
    ),
    "mixed_allocation_kinds": Page(
        "one `cudaFree` may receive memory of two kinds",
        "The free would have to fit both. `cudaFreeAsync` of managed memory fails with `cudaErrorNotSupported`, and of "
        "a host pointer with `cudaErrorInvalidValue`. Real code frees `cudaMalloc` and `cudaMallocManaged` memory with "
        "one call in about one of a hundred places.",
        "Give each kind of memory a pointer and a free of its own. Two tests of one flag are not known to go the same "
        "way: a free under `if (managed)` may be that of memory which is allocated under its `else`.",
    ),
    "freed_by_device_reset": Page(
        "only `cudaDeviceReset` releases this memory",
        "`cudaDeviceReset` releases `cudaMalloc` memory, but it leaks `cudaMallocAsync` memory that was not freed "
        "(documented, and measured: 4 GiB a round, out of memory at round 34).",
        "Free the pointer before the reset.",
    ),
    "ipc_handle": Page(
        "the memory is shared with another process",
        "`cudaIpcGetMemHandle` of `cudaMallocAsync` memory fails with `cudaErrorInvalidValue`. Sharing pool memory "
        "takes another API: a pool made for export, and `cudaMemPoolExportPointer`.",
        "Keep shared buffers on `cudaMalloc`, where nothing needs to be done. Or share memory of a pool that is made "
        "for export: `cudaMemPoolExportPointer`.",
    ),
    "external_library": Page(
        "the buffer is handed to a library that keeps it or uses it out of the reach of streams",
        "CUDA-aware MPI, RDMA registration, graphics interop and video codecs hold on to device addresses past the "
        "call that hands them over, and order their accesses by their own rules. An event or a wait on a stream does "
        "not cover them; the device-wide wait of `cudaFree`, or the registration, did.",
        "Describe the function in a table of your own if it only uses the buffer on a known stream and keeps nothing.",
    ),
    "under_capture": Page(
        "the call may run while a stream is being captured",
        "`cudaMalloc`, `cudaFree` and `cudaMallocAsync` on another stream fail during a global capture with "
        "`cudaErrorStreamCaptureUnsupported`, and the capture is lost. `cudaMallocAsync` on the capturing stream "
        "becomes a node of the graph: the memory then lives as the graph runs, not as the host code does.",
        "Allocate before the capture begins, and free after it has ended.",
    ),
    "device_changes": Page(
        "the current device may differ between allocation, use and release",
        "`cudaMalloc` allocates on the current device; `cudaMallocAsync` allocates on the device of its stream: with "
        "device 0 current and a stream of device 1, the memory is on device 1. With more than one device, the stream "
        "must be shown to belong to the device that the code meant.",
        "Allocate, use and free each buffer under one `cudaSetDevice`, in one function.",
    ),
    "driver_memory": Page(
        "it is memory of the driver API, which is reported and left alone",
        "`cuMemAlloc` gives the memory that `cudaMalloc` gives, and `cuMemFree` waits for the device as `cudaFree` "
        "does. In C++, no pair of the driver API is rewritten: the addresses are numbers there (`CUdeviceptr`), "
        "kernels are found by their names while the program runs, and nothing shows which of their arguments they "
        "write.",
        "Allocate with `cudaMalloc` and free with `cudaFree`: the driver takes these addresses too. Or write "
        "`cuMemAllocAsync` and `cuMemFreeAsync` by hand, with the waits that `cuMemFree` was good for.",
    ),
    "pycuda_memory": Page(
        "it is memory of PyCUDA, which has no stream-ordered allocator",
        "`pycuda.driver.mem_alloc` is `cuMemAlloc`; the object frees itself with `cuMemFree`, which waits for the"
        " device, "
        "when Python drops it. PyCUDA 2026.1 binds neither `cuMemAllocAsync` nor `cuMemFreeAsync`.",
        "For arrays that come and go, use `pycuda.tools.DeviceMemoryPool` (`gpuarray` takes its `allocate` as "
        "`allocator`): it keeps freed blocks and does not block in steady state. Or move to cuda-python or CuPy.",
    ),
    "peer_access": Page(
        "another device accesses the memory directly",
        "`cudaDeviceEnablePeerAccess` opens `cudaMalloc` memory to a peer, but not memory of a pool: a kernel on the "
        "peer that wrote to `cudaMallocAsync` memory got an illegal address. Pools need `cudaMemPoolSetAccess` for "
        "each peer. `cudaMemcpyPeer` works without it.",
        "Grant the peer access to the pool with `cudaMemPoolSetAccess`, or copy between the devices with "
        "`cudaMemcpyPeerAsync`.",
    ),
    "several_host_threads": Page(
        "more than one host thread works with the buffer",
        "The order of operations in one thread says nothing about another. And built with `--default-stream "
        "per-thread`, stream `0` is another stream in each thread: a block allocated on `0` in one thread and used on "
        "`0` in another gave 38 errors in the race detector, and none in a legacy build.",
        "Allocate, use and free the buffer in one host thread, or hand it over with an event on a named stream.",
    ),
    "several_streams": Page(
        "work may run on a stream that is not ordered with the one that allocates and frees",
        "Python drops an array without a word of the streams that still use it. Raw memory is freed with "
        "`cudaFree`, which "
        "waits for all of them; a pool frees on one stream. What ran on another stream without an event in between "
        "then worked on a block of the next owner.",
        "Let streams that share arrays wait for each other (`a.wait_event(b.record())` in CuPy, `event.record(b)` and "
        "`event.wait(a)` in Numba) before an array is dropped, and choose the pool by hand.",
    ),
    "stream_destroyed": Page(
        "the stream that the free would run on is destroyed first",
        "`cudaFreeAsync(p, s)` after `cudaStreamDestroy(s)` is a segmentation fault. `cudaFree` needs no stream, so "
        "many programs destroy their streams before they free their buffers.",
        "Free the buffer before the stream is destroyed.",
    ),
    "renaming_header": Page(
        "a header gives the CUDA calls the meaning of another platform",
        "Code that is compiled for HIP or MUSA through `#define cudaMalloc hipMalloc` does not compile any more where "
        "the header has no line for `cudaMallocAsync` and `cudaFreeAsync`, and the calls of the other platform wait by "
        "rules of their own. It is often built elsewhere, so nobody would notice here. A header of the tree may do the "
        "same that a build may take for one of the system, and that has names of the program.",
        "Translate the code for the other platform when it is built (`hipify`), and leave the CUDA names alone here.",
    ),
    "internal_error": Page(
        "cudafix failed while it worked on this program",
        "It met something that it was not written for, or its process was ended from outside, as the system does where "
        "memory is short. Nothing is known of this program then, so nothing of it is changed; all others are decided "
        "as ever, and the exit code is 2.",
        "Report it with the message and, if you may, with the file: `CUDAFIX_TRACEBACK=1 cudafix check -j 1 --no-cache "
        "FILE` shows where it failed. Nothing in the code has to be changed.",
    ),
    "unreadable_file": Page(
        "a file cannot be read, or is not text",
        "A file that is unreadable, binary, no regular file or larger than 16 MiB, or C++ with more than 1,000 "
        "brackets in each other or lines that end in CR alone, counts as code that nobody knows: what it defines is "
        "not seen, and where it is included, anything may be declared and run.",
        "Make the file readable, or exclude it (`exclude` in the configuration) if it is no part of the program.",
    ),
    "parse_error": Page(
        "the function holds code that could not be parsed",
        "What is not understood may use the buffer on any stream, free it or return. No order can be proved across it. "
        "Only the function with the error is affected; the rest of the file is analysed. Of Python, a file with an "
        "error is not read at all; `python -m py_compile` shows the place.",
        "Write the place that is shown in plainer C++: most often it is a macro that hides a brace, or an "
        "`#if` that splits an expression.",
    ),
    "finalizer": Page(
        "a finalizer frees the memory, or ends what the free would need",
        "`__del__` runs when the last reference to an object goes, or when the interpreter ends, with or without a "
        "context: no statement says when. `cudaFree` waits there for whatever still uses the block. A free on a "
        "stream has to come after those uses, and nothing shows that it does; a stream that a finalizer destroys may "
        "be gone before the free.",
        "Free the memory in a method that the program calls (`close`, `__exit__`), and leave it out of `__del__`.",
    ),
    "host_memory_in_flight": Page(
        "the host may look at something that the device is still writing",
        "The release of an array in raw memory waits for the whole device, and with it for copies into pinned memory, "
        "for kernels that write managed or mapped memory, and for what kernels print. A release into the "
        "pool waits for nothing: 42 with `cudaFree`, 0 with `cudaFreeAsync`, read from pinned memory right after it.",
        "Wait for the stream before the host looks (`stream.synchronize()`), and choose the asynchronous pool by hand: "
        "`set_allocator(MemoryAsyncPool().malloc)`.",
    ),
    "implicit_call": Page(
        "a method that Python calls by itself allocates or frees the memory",
        "`__iter__`, `__getitem__`, `__call__` and their kind run where an operator, a loop or a library asks for "
        "them. Which statements do that is not always in the text, and with `cudaFree` each of them waits.",
        "Allocate and free in a method that is called by its name.",
    ),
    "gains_nothing": Page(
        "the program makes its device arrays once",
        "A stream-ordered memory manager saves 71 µs for each array that is made and dropped (Numba, 4 MiB, "
        "H200). To set it "
        "up costs more than that: the pool of a process is made at its first allocation, in 5.5 ms.",
        "Nothing needs to be done. For arrays that are made again and again, the manager is worth it.",
    ),
    "generator": Page(
        "a generator allocates or frees the memory, or a function that does makes a generator expression",
        "The body of a generator runs when somebody asks for its next value, between other statements of the caller, "
        "or never to its end; so does a generator expression. The order of its operations and the caller's is not in "
        "the text.",
        "Allocate and free in a plain function around the generator.",
    ),
    "coroutine": Page(
        "a coroutine allocates or frees the memory",
        "Other tasks run wherever a coroutine waits. What they put on the device between two of its statements is not "
        "in the text, and `cudaFree` waited for that too.",
        "Allocate and free in a plain function that the coroutine calls.",
    ),
    "async_pool_differs": Page(
        "the program uses something in which CuPy's asynchronous pool differs from raw memory",
        "Raw memory raises `CUDARuntimeError` where there is no room, the asynchronous pool `OutOfMemoryError`. A"
        " handler "
        "that was written for the one does not meet the other.",
        "Catch both exceptions in a function of its own, or choose `MemoryAsyncPool().malloc` by hand.",
    ),
    "cell_order": Page(
        "the cells of the notebook were last run in another order than they stand",
        "The cells are proved as one module, from top to bottom. The execution counts that the notebook holds say that "
        "they ran in another order, so an allocation, a use and a free may follow each other otherwise than the text "
        "says.",
        "Restart the kernel, run all cells from top to bottom, and save the notebook.",
    ),
    "control_flow": Page(
        "the order of operations is not in the text: a jump, a host thread, or code that nothing reaches",
        "A `goto` into the life of the buffer or backward, `setjmp`, a coroutine or a computed function pointer lets "
        "operations run in orders that the text does not show. A free that is skipped leaks; one that comes early "
        "hands the block to its next owner while it is in use. Of code that nothing in the analysed files calls, "
        "or that runs in a host thread of its own, nobody can say what runs before, beside and after it.",
        "Write out the statement that the message names: a macro as its text, a jump as a loop or a branch, or as a "
        "forward `goto` to the cleanup at the end of the function. Or allocate and free on one side of it. Call what "
        "runs in a host thread without one.",
    ),
    "needs_device_sync": Page(
        "only a device-wide wait would keep the order",
        "The program leans on `cudaFree` to wait for everything. The migration could keep that only with a "
        "`cudaDeviceSynchronize` before the free, which costs what it should save: with a wait in each round, "
        "a 256 MiB buffer took 1685 µs a round with the default pool, against 707 µs with `cudaFree`.",
        "Wait for the stream or the event that matters, in front of the operation that the message names; the "
        "device-wide wait is then not needed.",
    ),
    "out_of_order": Page(
        "an operation could run before another one that it must follow",
        "Two operations that the original orders, by `cudaFree`'s device-wide wait or by the blocking copy between "
        "them, conflict, and no event wait or stream wait in scope would restore the order. Memory that is freed on "
        "stream a while stream b uses it was corrupted.",
        "Put both operations on one stream, or record an event after the first and wait for it before the second. What "
        "may be used behind its free, by a graph that was captured with it, has to be freed later.",
    ),
    "own_edit_failed": Page(
        "cudafix could not prove the text that it would have written",
        "Every edit is parsed and proved again before it is written. Here the second proof did not confirm the first, "
        "so nothing was changed. The reason is in cudafix and not in this code: a place that the edit did not fit, or "
        "a construct that is read in two ways.",
        "Nothing needs to be done here. Please report it with the message and the function: `cudafix check` on a copy "
        "that is cut down to the function often shows it too.",
    ),
    "deleter": Page(
        "the pointer is freed by a deleter or a destructor of a smart pointer",
        "Where a smart pointer is copied, or its deleter is a value that is not known, no statement says where the "
        "memory is freed. The last of the owners that a `std::shared_ptr` has calls the deleter "
        "([util.smartptr.shared.dest]), and which one that is depends on how the program runs.",
        "Use a `std::unique_ptr` whose deleter is a class, `struct Free { void operator()(void *p) const "
        "{ cudaFree(p); } };`, or a pointer to a function, as in `std::unique_ptr<float, decltype(&cudaFree)>`: where "
        "it runs is known. So it is for a local `std::shared_ptr` that is given a function, a lambda without captures "
        "or an object of a class without members, and of which no other owner is made.",
    ),
    "foreign_allocator": Page(
        "the memory of arrays comes from an allocator of the program's own",
        "`PythonFunctionAllocator` and `CFunctionAllocator` call functions that give out device memory. How they "
        "get it, "
        "and on which stream they give it back, is up to them: CuPy passes them no stream.",
        "Use `cupy.cuda.MemoryAsyncPool().malloc`, or let the functions call `mallocAsync` and `freeAsync` on "
        "`cupy.cuda.get_current_stream().ptr`.",
    ),
    "foreign_pointer": Page(
        "the address of the buffer goes to code that is no Python, through ctypes",
        "A C function may keep the address, start work on streams of its own, or free it with `cudaFree`. "
        "`cudaFree` waits "
        "for the whole device, so it orders even such work; `cudaFreeAsync` orders only its own stream. "
        "From outside, nothing shows what the function does.",
        "Call the library through a module that is imported by name, and describe its functions in a table of your own "
        "(`tables` in the configuration, `module.function`): which arguments they read and write, and on which stream.",
    ),
    "free_memory_is_measured": Page(
        "the program reads how much device memory is free, or finds it out by trying",
        "The pool keeps freed blocks, so `cudaMemGetInfo` reports less free memory than after `cudaFree`. A program "
        "that sizes its next allocation or prints a leak check by this figure would behave differently. So would one "
        "that tries a failed allocation again with another size: the pool keeps all that it got, 149.5 GB of an H200.",
        "Measure before the first allocation, or read the pool's own counters (`cudaMemPoolGetAttribute` with "
        "`cudaMemPoolAttrUsedMemCurrent`). Size blocks by `cudaMemGetInfo` in front of the first of them, and not by "
        "trial.",
    ),
    "allocation_is_timed": Page(
        "the program times the allocation itself",
        "Memory that is allocated between two looks at a clock and never used is there to be timed: the program "
        "compares `cudaMalloc` with something else, a pool for example. So does one that allocates, works and frees "
        "in one timed section, and does the same work with stream-ordered memory in another. With `cudaMallocAsync` it "
        "would print the time of another function.",
        "Nothing needs to be done.",
    ),
    "torch_memory": Page(
        "it is memory of PyTorch's caching allocator",
        "PyTorch keeps freed blocks and hands them out again in the order of its streams, so tensors do not block"
        " in steady "
        "state. It calls `cudaMalloc` and `cudaFree` only when its cache grows or is emptied.",
        "Set `PYTORCH_ALLOC_CONF=backend:cudaMallocAsync` (before PyTorch 2.9 `PYTORCH_CUDA_ALLOC_CONF`) in the "
        "environment "
        "to let PyTorch use the stream-ordered pool; take `empty_cache()` out of loops.",
    ),
    "too_many_configurations": Page(
        "the `#if` branches around the pair have too many combinations",
        "Every combination of `#if` branches that changes what happens to the buffer is proved on its own, because "
        "a proof for one build says nothing about another. Their number doubles with each independent condition.",
        "Give the pair a function of its own, without conditions that do not concern it.",
    ),
    "budget": Page(
        "the proof needs more steps than the analysis allows itself",
        "Calls are followed into the functions that they reach, and loops are run to a fixpoint. Past a fixed number "
        "of steps the rest counts as unknown, and unknown code may use the buffer on any stream. A site in a header or "
        "source that many programs have has to be proved for all of them; past a fixed number of files it stays. With "
        "`--proof-limit`, so does what is not proved by then.",
        "The limit is on whole programs (from the function that is shown, where one is), not on the function with the "
        "pair. Check the file by itself (`cudafix check FILE`): then only what it includes is followed. If that is "
        "refused too, nothing can be done on the side of the code.",
    ),
    "site_not_editable": Page(
        "the text of the call cannot be changed in one place",
        "The call is put together by a macro (`cuda(Malloc(&p, n))` by token pasting), stands in a macro argument that "
        "is expanded twice, or in a file that was not given, but only read with those that were. A change of that text "
        "would change other calls too, or none, or what was not asked for.",
        "Write the call out in plain text where the macro is used. Of a file that was only read, add that file to the "
        "paths.",
    ),
    "unseen_caller": Page(
        "code outside the analysed files may call this function",
        "What the caller does before and after decides on which stream the buffer is used and who waits for it. "
        "A caller that is not seen may read a pinned result right after the free: 42 with `cudaFree`, 0 with "
        "`cudaFreeAsync`.",
        "Add the callers to the paths, or make the function `static`.",
    ),
    "old_cuda": Page(
        "the code is also built with a CUDA that has no stream-ordered allocation",
        "`cudaMallocAsync` and `cudaFreeAsync` came with CUDA 11.2: with an older one the rewritten code does not "
        "compile. The configuration says that such a CUDA is still in use (`cuda`).",
        "Raise `cuda` in the configuration, or set `guard = true` there: each edit then stands behind "
        "`#if CUDART_VERSION >= 11020`, beside the code as it was. Python, and the body of a macro, cannot be guarded.",
    ),
    "mixed_default_streams": Page(
        "the files of one program are compiled with different default streams, or it is not known with which",
        "With `nvcc --default-stream per-thread` stream `0` is a stream of its thread, which does not wait for the "
        "legacy default stream of the other files as a blocking stream would. Which of the two an operation "
        "runs on depends on the file that it stands in, and the proof knows one default stream for a program: where it "
        "is open which, a program with one source that names CUDA is proved with both. Python programs take it from a "
        "variable of the environment (`CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`, those of CuPy and Numba), which "
        "whatever starts them may set.",
        "Compile all files of the program with the same `--default-stream`, or say in the configuration how they are "
        "compiled (`default_stream`, also in `overrides`).",
    ),
}

NOT_OF_THE_TEXT = frozenset(("own_edit_failed", "internal_error", "unreadable_file"))
"""Refusals that no text of a program shows: a file that is no text, and defects of cudafix of which none is known."""
