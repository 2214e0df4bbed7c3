"""Stands in for CuPy: `cupy`, `cupy.cuda`, `cupy.cuda.runtime` and the pinned arrays of `cupyx`.

Arrays are work on the current stream. Their memory comes from the allocator: `None` is `cudaMalloc` and `cudaFree`, a
`MemoryPool` (the default) keeps blocks for the stream that they were allocated with and waits for nothing, a
`MemoryAsyncPool` frees on that stream (cupy/cuda/memory.pyx, 14).
"""

from __future__ import annotations

import builtins
import re
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.late.python import device, numpy
from tests.late.python.arrays import (
    SCALARS,
    Array,
    DType,
    Host,
    OnDevice,
    address_of,
    array_of,
    as_dtype,
    as_shape,
    count_of,
    flat,
    shape_of,
)
from tests.late.python.device import PER_THREAD, CudaError, the
from tests.late.python.kernels import Kernel, kernels
from tests.late.python.runtime import cudaError_t

int8, uint8, int16, uint16, int32, uint32, int64, uint64 = (
    SCALARS[name] for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
float32, float64, bool_ = SCALARS["float32"], SCALARS["float64"], SCALARS["bool_"]
dtype = as_dtype


# cupy.cuda.runtime


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"{cudaError_t(status).name}")


def _raising(function: Any) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except CudaError as error:
            raise CUDARuntimeError(error.code) from None

    return call


def _free(address: int) -> None:
    the.free(address, "device", "pool", "managed")


def _nothing(*_: Any) -> None:
    pass


runtime: Any = types.ModuleType("cupy.cuda.runtime")
for _name, _function in {
    "malloc": lambda size: the.allocate(size, "device"),
    "free": _free,
    "mallocAsync": lambda size, stream: the.allocate_async(size, stream),
    "freeAsync": lambda ptr, stream: the.free_async(ptr, stream),
    "hostAlloc": lambda size, flags: the.allocate(size, "pinned"),
    "freeHost": lambda ptr: the.free(ptr, "pinned"),
    "hostRegister": lambda ptr, size, flags: the.register(ptr, size),
    "hostUnregister": lambda ptr: the.unregister(ptr),
    "mallocManaged": lambda size, flags=1: the.allocate(size, "managed"),
    "memcpy": lambda dst, src, size, kind: the.copy(dst, src, size, 0, blocking=True),
    "memcpyAsync": lambda dst, src, size, kind, stream: the.copy(dst, src, size, stream, blocking=False),
    "memset": lambda ptr, value, size: the.fill(ptr, value, size, 0),
    "memsetAsync": lambda ptr, value, size, stream: the.fill(ptr, value, size, stream),
    "streamCreate": lambda: the.create_stream(blocking=True),
    "streamCreateWithFlags": lambda flags: the.create_stream(blocking=not flags & 1),
    "streamDestroy": lambda stream: the.destroy_stream(stream),
    "streamSynchronize": lambda stream: the.synchronize(stream),
    "streamQuery": lambda stream: 0 if the.query(stream) else device.NOT_READY,
    "streamWaitEvent": lambda stream, event, flags=0: the.wait_event(stream, event),
    "launchHostFunc": lambda stream, function, data: the.launch(stream, lambda: function(data)),
    "eventCreate": lambda: the.create_event(),
    "eventCreateWithFlags": lambda flags: the.create_event(timed=not flags & 2),
    "eventDestroy": lambda event: the.destroy_event(event),
    "eventRecord": lambda event, stream: the.record(event, stream),
    "eventSynchronize": lambda event: the.event_synchronize(event),
    "eventQuery": lambda event: 0 if the.event_query(event) else device.NOT_READY,
    "eventElapsedTime": lambda start, end: the.elapsed(start, end),
    "deviceSynchronize": lambda: the.device_synchronize(),
    "deviceReset": lambda: the.reset(),
    "getDevice": lambda: 0,
    "setDevice": _nothing,
    "getDeviceCount": lambda: 1,
    "deviceGetAttribute": lambda attribute, device: 1,
    "deviceGetDefaultMemPool": lambda device: 1,
    "deviceGetMemPool": lambda device: 1,
    "memPoolSetAttribute": _nothing,
    "memPoolTrimTo": _nothing,
    "memGetInfo": lambda: (64 << 30, 64 << 30),
    "getErrorName": lambda status: cudaError_t(status).name,
}.items():
    setattr(runtime, _name, _raising(_function))
for _at, _name in enumerate("HostToHost HostToDevice DeviceToHost DeviceToDevice Default".split()):
    setattr(runtime, f"memcpy{_name}", _at)
runtime.CUDARuntimeError = CUDARuntimeError
runtime.streamDefault, runtime.streamNonBlocking, runtime.streamLegacy, runtime.streamPerThread = 0, 1, 1, 2
runtime.eventDefault, runtime.eventBlockingSync, runtime.eventDisableTiming = 0, 1, 2
runtime.hostAllocDefault, runtime.hostAllocPortable, runtime.hostAllocMapped = 0, 1, 2
runtime.cudaMemPoolAttrReleaseThreshold = 4


# Streams and events


class _Current(threading.local):
    def __init__(self) -> None:
        self.streams: list[Stream] = []


_current = _Current()


class Stream:
    null: Stream
    ptds: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None
    ) -> None:
        self.owned = not null and not ptds
        self.ptr = 0 if null else PER_THREAD if ptds else the.create_stream(blocking=not non_blocking)
        self.device_id = 0

    def __del__(self) -> None:
        if getattr(self, "owned", False):
            _raising(the.destroy_stream)(self.ptr)

    def __enter__(self) -> Stream:
        _current.streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.streams.pop()

    def use(self) -> Stream:
        if _current.streams:
            _current.streams.pop()
        _current.streams.append(self)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    @property
    def done(self) -> bool:
        return bool(runtime.streamQuery(self.ptr) == 0)

    def synchronize(self) -> None:
        runtime.streamSynchronize(self.ptr)

    def record(self, event: Event | None = None) -> Event:
        made = event if event is not None else Event()
        runtime.eventRecord(made.ptr, self.ptr)
        return made

    def wait_event(self, event: Event) -> None:
        runtime.streamWaitEvent(self.ptr, event.ptr)

    def launch_host_func(self, callback: Callable[[Any], object], arg: Any) -> None:
        runtime.launchHostFunc(self.ptr, callback, arg)

    def add_callback(self, callback: Callable[[Any, int, Any], object], arg: Any) -> None:
        runtime.launchHostFunc(self.ptr, lambda given: callback(self, 0, given), arg)


class ExternalStream(Stream):
    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self.owned = False
        self.ptr = int(ptr)


Stream.null, Stream.ptds = Stream(null=True), Stream(ptds=True)


def get_current_stream() -> Stream:
    return _current.streams[-1] if _current.streams else Stream.null


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.ptr = the.create_event(timed=not disable_timing)

    def __del__(self) -> None:
        _raising(the.destroy_event)(self.ptr)

    @property
    def done(self) -> bool:
        return bool(runtime.eventQuery(self.ptr) == 0)

    def record(self, stream: Stream | None = None) -> None:
        runtime.eventRecord(self.ptr, (stream or get_current_stream()).ptr)

    def synchronize(self) -> None:
        runtime.eventSynchronize(self.ptr)


def get_elapsed_time(start: Event, end: Event) -> float:
    return float(runtime.eventElapsedTime(start.ptr, end.ptr))


class Device:
    def __init__(self, device: Any = None) -> None:
        self.id = int(device or 0)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __int__(self) -> int:
        return self.id

    use = _nothing

    def synchronize(self) -> None:
        runtime.deviceSynchronize()


# Memory


class BaseMemory:
    ptr = 0
    size = 0
    device_id = 0
    device = Device(0)


class Memory(BaseMemory):
    def __init__(self, size: int) -> None:
        self.size, self.ptr = size, runtime.malloc(size)

    def __del__(self) -> None:
        if self.ptr:
            runtime.free(self.ptr)


class ManagedMemory(BaseMemory):
    def __init__(self, size: int) -> None:
        self.size, self.ptr = size, runtime.mallocManaged(size)

    __del__ = Memory.__del__


class MemoryAsync(BaseMemory):
    def __init__(self, size: int, stream: Stream) -> None:
        self.size, self.ptr, self.stream = size, runtime.mallocAsync(size, stream.ptr), weakref.ref(stream)

    def __del__(self) -> None:
        if self.ptr:
            stream = self.stream()
            runtime.freeAsync(self.ptr, (stream if stream is not None else get_current_stream()).ptr)


class UnownedMemory(BaseMemory):
    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr, self.size, self.owner = int(ptr), size, owner


class _Pooled(BaseMemory):
    def __init__(self, block: BaseMemory, free: list[BaseMemory]) -> None:
        self.block, self.free = block, free
        self.size, self.ptr = block.size, block.ptr

    def __del__(self) -> None:
        self.free.append(self.block)


class MemoryPointer:
    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset
        self.device = Device(0)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def __int__(self) -> int:
        return int(self.ptr)

    def copy_from_host(self, mem: Any, size: int) -> None:
        runtime.memcpy(self.ptr, address_of(mem), size, 1)

    def copy_to_host(self, mem: Any, size: int) -> None:
        runtime.memcpy(address_of(mem), self.ptr, size, 2)

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        runtime.memcpy(self.ptr, src.ptr, size, 3)

    def copy_from_host_async(self, mem: Any, size: int, stream: Stream | None = None) -> None:
        runtime.memcpyAsync(self.ptr, address_of(mem), size, 1, (stream or get_current_stream()).ptr)

    def copy_to_host_async(self, mem: Any, size: int, stream: Stream | None = None) -> None:
        runtime.memcpyAsync(address_of(mem), self.ptr, size, 2, (stream or get_current_stream()).ptr)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream: Stream | None = None) -> None:
        runtime.memcpyAsync(self.ptr, src.ptr, size, 3, (stream or get_current_stream()).ptr)

    def memset(self, value: int, size: int) -> None:
        runtime.memset(self.ptr, value, size)

    def memset_async(self, value: int, size: int, stream: Stream | None = None) -> None:
        runtime.memsetAsync(self.ptr, value, size, (stream or get_current_stream()).ptr)


def malloc_managed(size: int) -> MemoryPointer:
    return MemoryPointer(ManagedMemory(size), 0)


def _plain(size: int) -> MemoryPointer:
    return MemoryPointer(Memory(size), 0)


class MemoryPool:
    def __init__(self, allocator: Callable[[int], MemoryPointer] | None = None) -> None:
        self.allocator = allocator or _plain
        self.free: dict[tuple[int, int], list[BaseMemory]] = {}

    def malloc(self, size: int) -> MemoryPointer:
        rounded = (size + 511) // 512 * 512
        free = self.free.setdefault((get_current_stream().ptr, rounded), [])
        block = free.pop() if free else self.allocator(rounded).mem
        return MemoryPointer(_Pooled(block, free), 0)

    def free_all_blocks(self, stream: Stream | None = None) -> None:
        for key, free in self.free.items():
            if stream is None or key[0] == stream.ptr:
                free.clear()

    def used_bytes(self) -> int:
        return 0

    total_bytes = free_bytes = used_bytes


class MemoryAsyncPool:
    def __init__(self, pool_handles: Any = "current") -> None:
        pass

    def malloc(self, size: int) -> MemoryPointer:
        return MemoryPointer(MemoryAsync(size, get_current_stream()), 0)

    free_all_blocks = _nothing


class PythonFunctionAllocator:
    def __init__(self, malloc: Callable[[int, int], int], free: Callable[[int, int], object]) -> None:
        self.functions = malloc, free

    def malloc(self, size: int) -> MemoryPointer:
        take, give = self.functions
        memory = UnownedMemory(take(size, 0), size, None)
        weakref.finalize(memory, give, memory.ptr, 0)
        return MemoryPointer(memory, 0)


_pool = MemoryPool()
_allocator: Callable[[int], MemoryPointer] = _pool.malloc
_local = threading.local()


def set_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> None:
    global _allocator
    _allocator = allocator or _plain


@contextmanager
def using_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> Iterator[None]:
    before, _local.allocator = getattr(_local, "allocator", None), allocator or _plain
    try:
        yield
    finally:
        _local.allocator = before


def get_allocator() -> Callable[[int], MemoryPointer]:
    return getattr(_local, "allocator", None) or _allocator


def alloc(size: int) -> MemoryPointer:
    return get_allocator()(size)


def get_default_memory_pool() -> MemoryPool:
    return _pool


class PinnedMemory(BaseMemory):
    def __init__(self, size: int, flags: int = 0) -> None:
        self.size, self.ptr = size, runtime.hostAlloc(size, flags)

    def __del__(self) -> None:
        if self.ptr:
            runtime.freeHost(self.ptr)


class PinnedMemoryPointer:
    def __init__(self, mem: Any, offset: int = 0) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset

    def size(self) -> int:
        return int(self.mem.size)

    def __int__(self) -> int:
        return int(self.ptr)


_pinned: dict[int, list[BaseMemory]] = {}


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """From a pool, as CuPy does: what is given back waits for nothing."""
    free = _pinned.setdefault(size, [])
    return PinnedMemoryPointer(_Pooled(free.pop() if free else PinnedMemory(size), free))


def _empty_pinned(shape: Any, dtype: Any = float) -> Host:
    kind, sizes = as_dtype(dtype), as_shape(shape)
    memory = alloc_pinned_memory(count_of(sizes) * kind.itemsize)
    return Host(memory.ptr, sizes, kind, memory)


def _zeros_pinned(shape: Any, dtype: Any = float) -> Host:
    made = _empty_pinned(shape, dtype)
    made.fill(0)
    return made


cupyx: Any = types.ModuleType("cupyx")
cupyx.empty_pinned, cupyx.zeros_pinned = _empty_pinned, _zeros_pinned


# Arrays


class ndarray(Array):
    scalars_are_arrays = True

    def __init__(self, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None) -> None:
        kind, sizes = as_dtype(dtype), as_shape(shape)
        self.data = memptr if memptr is not None else alloc(max(1, count_of(sizes) * kind.itemsize))
        super().__init__(self.data.ptr, sizes, kind, self.data)

    def seen_by_the_device(self) -> OnDevice:
        return OnDevice(self.address, self.shape, self.dtype, None)

    def view_of(self, at: int, shape: tuple[int, ...], dtype: DType) -> ndarray:
        return ndarray(shape, dtype, self.data + at * self.itemsize)

    def like(self, shape: tuple[int, ...], dtype: DType) -> ndarray:
        return ndarray(shape, dtype)

    def computed(self, shape: tuple[int, ...], dtype: DType, function: Callable[..., Sequence[Any]], *of: Any) -> Any:
        made = self.like(shape, dtype)
        _work(made, function, *of)
        return made

    def assign(self, value: Any) -> None:
        if isinstance(value, Host):
            raise NotImplementedError("a host array is assigned to a part of one on the device")
        if not isinstance(value, Array):
            value = tuple(flat(value))
        _work(self, lambda to, given: to.broadcast(given), self, value)

    def reduced(self, operation: Callable[[Sequence[Any]], Any]) -> Any:
        kind = DTYPE_OF_SUMS.get(self.dtype.kind, self.dtype) if operation is builtins.sum else self.dtype
        return self.computed((), kind, lambda of: [operation(of.values())], self)

    def values(self) -> list[Any]:
        return list(self.get().values())

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "data": (self.address, False),
            "shape": self.shape,
            "typestr": self.dtype.str,
            "version": 3,
            "stream": get_current_stream().ptr or 1,
        }

    def get(self, stream: Stream | None = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        to = out if out is not None else numpy.empty(self.shape, self.dtype)
        on = (stream or get_current_stream()).ptr
        runtime.memcpyAsync(to.address, self.address, self.nbytes, 2, on)
        if blocking:
            runtime.streamSynchronize(on)
        return to

    def set(self, arr: Any, stream: Stream | None = None) -> None:
        runtime.memcpyAsync(self.address, arr.address, self.nbytes, 1, (stream or get_current_stream()).ptr)


DTYPE_OF_SUMS = {"i": as_dtype("int64"), "u": as_dtype("uint64")}


def _work(to: ndarray, function: Callable[..., Sequence[Any]], *of: Any) -> None:
    """Queues `to[...] = function(*of)` on the current stream."""
    target, given = OnDevice.of(to), [OnDevice.of(each) for each in of]
    _raising(the.launch)(get_current_stream().ptr, lambda: target.store(function(*given)))


def empty(shape: Any, dtype: Any = float) -> ndarray:
    return ndarray(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> ndarray:
    made = ndarray(shape, dtype if dtype is not None else type(fill_value))
    made.assign(fill_value)
    return made


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    """`cupy.zeros` is a `memset_async` on the current stream."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 1, dtype)


def empty_like(a: ndarray, dtype: Any = None) -> ndarray:
    return ndarray(a.shape, dtype or a.dtype)


def zeros_like(a: ndarray, dtype: Any = None) -> ndarray:
    return full(a.shape, 0, dtype or a.dtype)


def ones_like(a: ndarray, dtype: Any = None) -> ndarray:
    return full(a.shape, 1, dtype or a.dtype)


def array(obj: Any, dtype: Any = None) -> ndarray:
    """Host data is staged in pinned memory and copied on the current stream."""
    if isinstance(obj, ndarray):
        return obj.copy() if dtype is None else obj.astype(dtype)  # type: ignore[no-any-return]
    staged = array_of(obj, dtype)
    made = ndarray(shape_of(obj) or (), staged.dtype)
    _work(made, lambda given: given, staged.values())
    return made


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    staged = numpy.arange(start, stop, step, dtype)
    made = ndarray(staged.shape, staged.dtype)
    _work(made, lambda given: given, staged.values())
    return made


def asarray(a: Any, dtype: Any = None) -> ndarray:
    if isinstance(a, ndarray) and (dtype is None or a.dtype == as_dtype(dtype)):
        return a
    if (shown := getattr(a, "__cuda_array_interface__", None)) and not isinstance(a, ndarray):
        kind = as_dtype(shown["typestr"])
        memory = UnownedMemory(shown["data"][0], count_of(shown["shape"]) * kind.itemsize, a)
        if shown.get("stream"):
            ExternalStream(shown["stream"]).synchronize()
        return ndarray(shown["shape"], kind, MemoryPointer(memory, 0))
    return array(a, dtype)


ascontiguousarray = asarray


def asnumpy(a: Any, stream: Stream | None = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    return a.get(stream, order, out, blocking) if isinstance(a, ndarray) else numpy.asarray(a)


def copyto(dst: ndarray, src: Any) -> None:
    dst.assign(src)


def add(a: ndarray, b: Any, out: ndarray | None = None) -> ndarray:
    return _out(a + b, out)


def multiply(a: ndarray, b: Any, out: ndarray | None = None) -> ndarray:
    return _out(a * b, out)


def _out(made: ndarray, out: ndarray | None) -> ndarray:
    if out is None:
        return made
    out.assign(made)
    return out


def array_equal(a: Any, b: Any) -> Any:
    return (a == b).all()


def sum(a: ndarray) -> Any:
    return a.sum()


# Kernels


class RawKernel:
    def __init__(self, code: str, name: str, *_: Any, **__: Any) -> None:
        self.kernel: Kernel = kernels(code)[name]
        self.name = name

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None) -> None:
        on: Any = get_current_stream() if stream is None else stream
        self.kernel.launch(grid, block, int(getattr(on, "ptr", on)), [_argument(each) for each in args])


class RawModule:
    def __init__(self, *, code: str, **_: Any) -> None:
        self.code = code

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(self.code, name)


def _argument(given: Any) -> Any:
    if isinstance(given, Array):
        return given.address
    return given.ptr if isinstance(given, (MemoryPointer, PinnedMemoryPointer)) else given


class ElementwiseKernel:
    def __init__(self, in_params: str, out_params: str, operation: str, name: str = "kernel", **_: Any) -> None:
        self.inputs, self.outputs = (
            [each.split() for each in text.split(",") if each.strip()] for text in (in_params, out_params)
        )
        self.operation, self.name = operation, name

    def __call__(self, *args: Any, size: int | None = None, stream: Any = None) -> Any:
        given = list(args)
        arrays = [each for each in given if isinstance(each, Array)]
        count = size if size is not None else max(each.size for each in arrays)
        for words in self.outputs[len(given) - len(self.inputs) :]:
            kind = arrays[0].dtype if len(words[-2]) == 1 else as_dtype(words[-2])
            given.append(ndarray(arrays[0].shape if arrays else (count,), kind))
        text, body = [], self.operation
        for words, each in zip(self.inputs + self.outputs, given, strict=True):
            shown: Any = each.dtype.name if isinstance(each, Array) else words[-2]
            c_type = {"float32": "float", "float64": "double", "T": "double", "int32": "int", "int64": "long long"}[
                shown
            ]
            text.append(f"{c_type} {'*' if isinstance(each, Array) else ''}{words[-1]}")
            if isinstance(each, Array) and words[0] != "raw":
                body = re.sub(rf"\b{words[-1]}\b", f"{words[-1]}[i]", body)
        source = (
            f"void {self.name}({', '.join(text)}, long long n){{ for (long long i = 0; i < n; ++i) {{ {body}; }} }}"
        )
        on = get_current_stream() if stream is None else stream
        kernels(source)[self.name].launch(1, 1, int(on.ptr), [*map(_argument, given), count])
        made = given[len(self.inputs) :]
        return made[0] if len(made) == 1 else tuple(made)


# cupy.cuda


cuda: Any = types.ModuleType("cupy.cuda")
for _thing in (
    Stream,
    ExternalStream,
    Event,
    Device,
    BaseMemory,
    Memory,
    MemoryAsync,
    UnownedMemory,
    MemoryPointer,
    MemoryPool,
    MemoryAsyncPool,
    PythonFunctionAllocator,
    PinnedMemory,
    PinnedMemoryPointer,
    get_current_stream,
    get_elapsed_time,
    set_allocator,
    using_allocator,
    get_allocator,
    alloc,
    alloc_pinned_memory,
    malloc_managed,
):
    setattr(cuda, _thing.__name__, _thing)
cuda.runtime = runtime
cuda.memory = cuda.stream = cuda.device = cuda
cuda.is_available = lambda: True
