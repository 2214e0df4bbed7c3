"""Stands in for `numba.cuda`: a kernel is its Python function, called for each thread.

An array, a stream or an event that ends joins a queue, which is worked off once it has more than ten entries
(docs/FACTS.md). A memory manager takes the place of that for the memory of arrays.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.late.python import driver as bindings
from tests.late.python import numpy
from tests.late.python.arrays import Array, DType, Host, OnDevice, as_dtype, as_shape, count_of
from tests.late.python.device import LEGACY, PER_THREAD, the
from tests.late.python.kernels import blockDim, blockIdx, gridDim, over_the_grid, threadIdx

__all__ = ["blockDim", "blockIdx", "gridDim", "threadIdx"]
DEALLOCATIONS = 10


class CudaAPIError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Driver:
    """Numba's `driver`: the calls of the bindings, which raise, and return what follows the status."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(bindings, name)

        def call(*arguments: Any) -> Any:
            status, *rest = function(*arguments)
            if status:
                raise CudaAPIError(status)
            return rest[0] if len(rest) == 1 else tuple(rest) or None

        return call


driver = _Driver()


class _Deallocations:
    def __init__(self) -> None:
        self.queue: list[Callable[[], object]] = []
        self.addresses: list[int] = []  # of memory that is in the queue or was
        self.postponing = 0
        self.memory_capacity = 0

    def add(self, function: Callable[[], object]) -> None:
        self.queue.append(function)
        if len(self.queue) > DEALLOCATIONS:
            self.clear()

    def clear(self) -> None:
        while self.queue and not self.postponing:
            self.queue.pop(0)()


class MemoryPointer:
    def __init__(self, context: Any, pointer: Any, size: int, owner: Any = None, finalizer: Any = None) -> None:
        self.address, self.size = int(pointer), size
        if finalizer is not None:
            weakref.finalize(self, finalizer)


class MemoryInfo:
    def __init__(self, free: int, total: int) -> None:
        self.free, self.total = free, total


class HostOnlyCUDAMemoryManager:
    def __init__(self, *, context: Any) -> None:
        self.context = context
        self.deallocations = _Deallocations()

    def initialize(self) -> None:
        pass

    def reset(self) -> None:
        self.deallocations.clear()

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        self.deallocations.postponing += 1
        try:
            yield
        finally:
            self.deallocations.postponing -= 1
            self.deallocations.clear()


GetIpcHandleMixin = object


class _NumbaManager(HostOnlyCUDAMemoryManager):
    def memalloc(self, size: int) -> MemoryPointer:
        address = the.allocate(size, "device")
        return MemoryPointer(self.context, address, size, finalizer=lambda: self.release(address))

    def release(self, address: int) -> None:
        self.deallocations.addresses.append(address)
        self.deallocations.add(lambda: the.free(address, "device"))


class _Context:
    def __init__(self) -> None:
        self.handle = 1
        self.device = types.SimpleNamespace(id=0)
        self.manager_of: Any = _NumbaManager
        self._manager: Any = None

    @property
    def manager(self) -> Any:
        if self._manager is None:
            self._manager = self.manager_of(context=self)
            self._manager.initialize()
        return self._manager

    memory_manager = manager

    @property
    def deallocations(self) -> _Deallocations:
        found: _Deallocations = self.manager.deallocations
        return found

    def reset(self) -> None:
        self.manager.reset()

    def synchronize(self) -> None:
        the.device_synchronize()

    def get_memory_info(self) -> MemoryInfo:
        return MemoryInfo(64 << 30, 64 << 30)


_context = _Context()


def forget_deallocations() -> None:
    """What the queue still holds when the process ends is not lost."""
    for address in _context.deallocations.addresses if _context._manager else ():
        if (block := the.holding(address)) is not None:
            block.live = False


def current_context(devnum: int | None = None) -> _Context:
    return _context


def set_memory_manager(plugin: Any) -> None:
    if _context._manager is not None:
        raise RuntimeError("memory manager already initialized")
    _context.manager_of = plugin


def close() -> None:
    _context.manager.reset()
    the.reset()


def synchronize() -> None:
    the.device_synchronize()


@contextmanager
def defer_cleanup() -> Iterator[None]:
    with _context.manager.defer_cleanup():
        yield


class Stream:
    def __init__(self, value: int, *, owned: bool = False) -> None:
        self.handle = types.SimpleNamespace(value=value)
        self.value = value
        if owned:
            weakref.finalize(self, lambda: _context.deallocations.add(lambda: the.destroy_stream(value)))

    def __int__(self) -> int:
        return self.value

    def synchronize(self) -> None:
        the.synchronize(self.value)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[..., object], arg: Any = None) -> None:
        the.launch(self.value, lambda: callback(self, 0, arg))


def stream() -> Stream:
    return Stream(the.create_stream(blocking=True), owned=True)


def default_stream() -> Stream:
    return Stream(0)


def legacy_default_stream() -> Stream:
    return Stream(LEGACY)


def per_thread_default_stream() -> Stream:
    return Stream(PER_THREAD)


def external_stream(ptr: int) -> Stream:
    return Stream(int(ptr))


def _number(stream: Any) -> int:
    return int(getattr(stream, "value", stream) or 0)


class Event:
    def __init__(self, timing: bool) -> None:
        value = the.create_event(timed=timing)
        self.value = value
        weakref.finalize(self, lambda: _context.deallocations.add(lambda: the.destroy_event(value)))

    def record(self, stream: Any = 0) -> None:
        the.record(self.value, _number(stream))

    def wait(self, stream: Any = 0) -> None:
        the.wait_event(_number(stream), self.value)

    def synchronize(self) -> None:
        the.event_synchronize(self.value)

    def query(self) -> bool:
        return the.event_query(self.value)

    def elapsed_time(self, other: Event) -> float:
        return the.elapsed(self.value, other.value)


def event(timing: bool = True) -> Event:
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    return start.elapsed_time(end)


class DeviceNDArray(Array):
    def __init__(self, shape: tuple[int, ...], dtype: DType, memory: Any, at: int = 0, stream: Any = 0) -> None:
        self.memory, self.stream = memory, stream
        super().__init__(memory.address + at, shape, dtype, memory)

    def seen_by_the_device(self) -> OnDevice:
        return OnDevice(self.address, self.shape, self.dtype, None)

    def view_of(self, at: int, shape: tuple[int, ...], dtype: DType) -> DeviceNDArray:
        offset = self.address - self.memory.address + at * self.itemsize
        return DeviceNDArray(shape, dtype, self.memory, offset, self.stream)

    def values(self) -> list[Any]:
        return list(self.copy_to_host().values())

    def store(self, values: Any) -> None:
        self.copy_to_device(numpy.array(list(values), dtype=self.dtype))

    @property
    def device_ctypes_pointer(self) -> Any:
        return types.SimpleNamespace(value=self.address)

    gpu_data = device_ctypes_pointer

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        on = _number(self.stream) or None
        return {
            "data": (self.address, False),
            "shape": self.shape,
            "typestr": self.dtype.str,
            "version": 3,
            "stream": on,
        }

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        to = ary if ary is not None else numpy.empty(self.shape, self.dtype)
        on = _number(stream or self.stream)
        the.copy(to.address, self.address, self.nbytes, on, blocking=not on)
        if ary is None and on:
            the.synchronize(on)
        return to

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        on = _number(stream or self.stream)
        the.copy(self.address, ary.address, self.nbytes, on, blocking=not on)


def _device_array(shape: Any, dtype: Any, stream: Any = 0) -> DeviceNDArray:
    kind, sizes = as_dtype(dtype), as_shape(shape)
    memory = _context.manager.memalloc(max(1, count_of(sizes) * kind.itemsize))
    memory.address = int(getattr(memory, "address", 0))
    return DeviceNDArray(sizes, kind, memory, 0, stream)


def device_array(shape: Any, dtype: Any = float, strides: Any = None, order: str = "C", stream: Any = 0) -> Any:
    return _device_array(shape, dtype, stream)


def device_array_like(ary: Array, stream: Any = 0) -> DeviceNDArray:
    return _device_array(ary.shape, ary.dtype, stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> DeviceNDArray:
    made = to if to is not None else device_array_like(obj, stream)
    made.copy_to_device(obj, stream)
    return made


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    shown = obj.__cuda_array_interface__
    if sync and shown.get("stream"):
        the.synchronize(shown["stream"])
    kind = as_dtype(shown["typestr"])
    memory = MemoryPointer(_context, shown["data"][0], count_of(shown["shape"]) * kind.itemsize)
    memory.owner = obj  # type: ignore[attr-defined]
    return DeviceNDArray(tuple(shown["shape"]), kind, memory)


def is_cuda_array(obj: Any) -> bool:
    return hasattr(obj, "__cuda_array_interface__")


def pinned_array(shape: Any, dtype: Any = float, **_: Any) -> Host:
    kind, sizes = as_dtype(dtype), as_shape(shape)
    address = the.allocate(max(1, count_of(sizes) * kind.itemsize), "pinned")
    made = Host(address, sizes, kind, None)
    weakref.finalize(made, lambda: _context.deallocations.add(lambda: the.free(address, "pinned")))
    return made


def pinned_array_like(ary: Array) -> Host:
    return pinned_array(ary.shape, ary.dtype)


class _Mapped(Host):
    def seen_by_the_device(self) -> OnDevice:
        return OnDevice(self.address, self.shape, self.dtype, None)


def mapped_array(shape: Any, dtype: Any = float, **_: Any) -> Host:
    made = pinned_array(shape, dtype)
    return _Mapped(made.address, made.shape, made.dtype, made)


@contextmanager
def pinned(*arrays: Array) -> Iterator[None]:
    for each in arrays:
        the.register(each.address, each.nbytes, each)
    try:
        yield
    finally:
        for each in arrays:
            the.unregister(each.address)


class _Kernel:
    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        shape: tuple[Any, ...] = (*configuration, 0)
        grid, block, stream = shape[:3]

        def launch(*arguments: Any) -> None:
            made = [to_device(each) if type(each) is Host else each for each in arguments]
            given = [OnDevice.of(each) for each in made]

            def work() -> None:
                for _ in over_the_grid(grid, block):
                    self.py_func(*given)

            the.launch(_number(stream), work)
            for each, copy in zip(arguments, made, strict=True):
                if each is not copy:
                    copy.copy_to_host(each)

        return launch

    def __call__(self, *arguments: Any) -> object:
        return self.py_func(*arguments)


def jit(function: Any = None, **_: Any) -> Any:
    return _Kernel(function) if callable(function) else _Kernel


def grid(dimensions: int) -> Any:
    each = [block.__dict__[name] * of.__dict__[name] + at.__dict__[name] for name in "xyz" for block, of, at in _PLACE]
    return each[0] if dimensions == 1 else tuple(each[:dimensions])


def gridsize(dimensions: int) -> Any:
    each = [blockDim.x * gridDim.x, blockDim.y * gridDim.y, blockDim.z * gridDim.z]
    return each[0] if dimensions == 1 else tuple(each[:dimensions])


_PLACE = ((blockIdx, blockDim, threadIdx),)


def nanosleep(nanoseconds: int) -> None:
    pass


def syncthreads() -> None:
    pass


def _atomic_add(array: Any, index: Any, value: Any) -> Any:
    was = array[index]
    array[index] = was + value
    return was


atomic = types.SimpleNamespace(add=_atomic_add)


def is_available() -> bool:
    return True


def select_device(device: int) -> None:
    pass


def get_current_device() -> Any:
    return types.SimpleNamespace(id=0, compute_capability=(9, 0))


numba: Any = types.ModuleType("numba")
cudadrv: Any = types.ModuleType("numba.cuda.cudadrv")
cudadrv.driver = types.ModuleType("numba.cuda.cudadrv.driver")
cudadrv.driver.driver, cudadrv.driver.CudaAPIError = driver, CudaAPIError
