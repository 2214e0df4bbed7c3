"""Stands in for `cuda.bindings.runtime`: each call returns its status, and then what C returns by a pointer."""

from __future__ import annotations

import ctypes
import enum
import functools
from collections.abc import Callable
from typing import Any

from tests.late.python import device
from tests.late.python.arrays import address_of
from tests.late.python.device import LEGACY, PER_THREAD, CudaError, the


class cudaError_t(enum.IntEnum):
    cudaSuccess = device.SUCCESS
    cudaErrorInvalidValue = device.INVALID_VALUE
    cudaErrorMemoryAllocation = device.OUT_OF_MEMORY
    cudaErrorInvalidResourceHandle = device.INVALID_HANDLE
    cudaErrorNotReady = device.NOT_READY
    cudaErrorNotSupported = device.NOT_SUPPORTED
    cudaErrorLaunchFailure = device.LAUNCH_FAILURE


class cudaMemcpyKind(enum.IntEnum):
    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


class cudaMemPoolAttr(enum.IntEnum):
    cudaMemPoolReuseFollowEventDependencies = 1
    cudaMemPoolReuseAllowOpportunistic = 2
    cudaMemPoolReuseAllowInternalDependencies = 3
    cudaMemPoolAttrReleaseThreshold = 4


class cudaDeviceAttr(enum.IntEnum):
    cudaDevAttrMultiProcessorCount = 16
    cudaDevAttrMemoryPoolsSupported = 115


class cudaMemoryType(enum.IntEnum):
    cudaMemoryTypeUnregistered = 0
    cudaMemoryTypeHost = 1
    cudaMemoryTypeDevice = 2
    cudaMemoryTypeManaged = 3


cudaStreamDefault, cudaStreamNonBlocking = 0, 1
cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming = 0, 1, 2
cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 0, 1, 2, 4
cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped = 0, 1, 2
cudaMemAttachGlobal, cudaDeviceScheduleBlockingSync, cudaDeviceMapHost = 1, 4, 8
cudaStreamLegacy, cudaStreamPerThread = LEGACY, PER_THREAD


class Handle:
    """An object of the bindings that holds a value of C: equal where the values are."""

    def __init__(self, init_value: Any = 0, **_: Any) -> None:
        self._value = int(init_value)

    def __int__(self) -> int:
        return self._value

    def getPtr(self) -> int:
        self._cell = ctypes.c_void_p(self._value)
        return ctypes.addressof(self._cell)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and self._value == int(other)

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._value:#x}>"


class cudaStream_t(Handle):
    pass


class cudaEvent_t(Handle):
    pass


class cudaMemPool_t(Handle):
    pass


class cudaHostFn_t(Handle):
    def __init__(self, init_value: Any = 0, _ptr: int = 0, **_: Any) -> None:
        super().__init__(init_value or _ptr)


class cuuint64_t(Handle):
    pass


def number(handle: Any) -> int:
    """The value of a handle; None is zero."""
    return 0 if handle is None else int(getattr(handle, "handle", handle))


_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def host_function(function: Any, data: Any) -> Callable[[], object]:
    """What `cudaLaunchHostFunc` calls: a function that `ctypes` made, or its address."""
    at = address_of(data)
    call = function if callable(function) else _FUNCTION(int(function))
    return lambda: call(at)


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    returns = function.__annotations__["return"] != "None"

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = function(*arguments, **named)
        except CudaError as error:
            if error.code != device.NOT_READY:
                the.last_error = error.code
            return (cudaError_t(error.code), None) if returns else (cudaError_t(error.code),)
        if not returns:
            return (cudaError_t.cudaSuccess,)
        return (cudaError_t.cudaSuccess, *result) if isinstance(result, tuple) else (cudaError_t.cudaSuccess, result)

    return call


@_call
def cudaMalloc(size: int) -> int:
    return the.allocate(int(size), "device")


@_call
def cudaFree(devPtr: Any) -> None:
    the.free(address_of(devPtr), "device", "pool", "managed")


@_call
def cudaMallocAsync(size: int, hStream: Any) -> int:
    return the.allocate_async(int(size), number(hStream))


@_call
def cudaMallocFromPoolAsync(size: int, memPool: Any, stream: Any) -> int:
    return the.allocate_async(int(size), number(stream))


@_call
def cudaFreeAsync(devPtr: Any, hStream: Any) -> None:
    the.free_async(address_of(devPtr), number(hStream))


@_call
def cudaMallocHost(size: int) -> int:
    return the.allocate(int(size), "pinned")


@_call
def cudaHostAlloc(size: int, flags: int) -> int:
    return the.allocate(int(size), "pinned")


@_call
def cudaFreeHost(ptr: Any) -> None:
    the.free(address_of(ptr), "pinned")


@_call
def cudaMallocManaged(size: int, flags: int = cudaMemAttachGlobal) -> int:
    return the.allocate(int(size), "managed")


@_call
def cudaHostRegister(ptr: Any, size: int, flags: int) -> None:
    the.register(address_of(ptr), int(size), ptr)


@_call
def cudaHostUnregister(ptr: Any) -> None:
    the.unregister(address_of(ptr))


@_call
def cudaHostGetDevicePointer(pHost: Any, flags: int) -> int:
    return address_of(pHost)


@_call
def cudaMemGetInfo() -> tuple[int, int]:
    return 64 << 30, 64 << 30


@_call
def cudaMemcpy(dst: Any, src: Any, count: int, kind: Any) -> None:
    the.copy(address_of(dst), address_of(src), int(count), 0, blocking=True)


@_call
def cudaMemcpyAsync(dst: Any, src: Any, count: int, kind: Any, stream: Any = 0) -> None:
    the.copy(address_of(dst), address_of(src), int(count), number(stream), blocking=False)


@_call
def cudaMemset(devPtr: Any, value: int, count: int) -> None:
    the.fill(address_of(devPtr), int(value), int(count), 0)


@_call
def cudaMemsetAsync(devPtr: Any, value: int, count: int, stream: Any = 0) -> None:
    the.fill(address_of(devPtr), int(value), int(count), number(stream))


@_call
def cudaMemPrefetchAsync(devPtr: Any, count: int, *where: Any) -> None:
    the.launch(number(where[-1]), lambda: None)


@_call
def cudaStreamCreate() -> cudaStream_t:
    return cudaStream_t(the.create_stream(blocking=True))


@_call
def cudaStreamCreateWithFlags(flags: int) -> cudaStream_t:
    return cudaStream_t(the.create_stream(blocking=not int(flags) & cudaStreamNonBlocking))


@_call
def cudaStreamCreateWithPriority(flags: int, priority: int) -> cudaStream_t:
    return cudaStream_t(the.create_stream(blocking=not int(flags) & cudaStreamNonBlocking))


@_call
def cudaStreamDestroy(stream: Any) -> None:
    the.destroy_stream(number(stream))


@_call
def cudaStreamSynchronize(stream: Any) -> None:
    the.synchronize(number(stream))


def cudaStreamQuery(stream: Any) -> tuple[cudaError_t]:
    return (cudaError_t.cudaSuccess if the.query(number(stream)) else cudaError_t.cudaErrorNotReady,)


@_call
def cudaStreamWaitEvent(stream: Any, event: Any, flags: int = 0) -> None:
    the.wait_event(number(stream), number(event))


@_call
def cudaStreamGetFlags(hStream: Any) -> int:
    return cudaStreamDefault if the.stream(number(hStream)).blocking else cudaStreamNonBlocking


@_call
def cudaLaunchHostFunc(stream: Any, fn: Any, userData: Any) -> None:
    the.launch(number(stream), host_function(fn, userData))


@_call
def cudaEventCreate() -> cudaEvent_t:
    return cudaEvent_t(the.create_event())


@_call
def cudaEventCreateWithFlags(flags: int) -> cudaEvent_t:
    return cudaEvent_t(the.create_event(timed=not int(flags) & cudaEventDisableTiming))


@_call
def cudaEventDestroy(event: Any) -> None:
    the.destroy_event(number(event))


@_call
def cudaEventRecord(event: Any, stream: Any = 0) -> None:
    the.record(number(event), number(stream))


@_call
def cudaEventSynchronize(event: Any) -> None:
    the.event_synchronize(number(event))


def cudaEventQuery(event: Any) -> tuple[cudaError_t]:
    return (cudaError_t.cudaSuccess if the.event_query(number(event)) else cudaError_t.cudaErrorNotReady,)


@_call
def cudaEventElapsedTime(start: Any, end: Any) -> float:
    return the.elapsed(number(start), number(end))


@_call
def cudaDeviceSynchronize() -> None:
    the.device_synchronize()


@_call
def cudaDeviceReset() -> None:
    the.reset()


@_call
def cudaGetDeviceCount() -> int:
    return 1


@_call
def cudaSetDevice(device: int) -> None:
    return None


@_call
def cudaGetDevice() -> int:
    return 0


@_call
def cudaSetDeviceFlags(flags: int) -> None:
    return None


@_call
def cudaDeviceGetAttribute(attr: Any, device: int) -> int:
    return 1


@_call
def cudaDeviceGetStreamPriorityRange() -> tuple[int, int]:
    return 0, 0


@_call
def cudaDeviceGetDefaultMemPool(device: int) -> cudaMemPool_t:
    return cudaMemPool_t(1)


cudaDeviceGetMemPool = cudaDeviceGetDefaultMemPool


@_call
def cudaMemPoolSetAttribute(memPool: Any, attr: Any, value: Any) -> None:
    return None


@_call
def cudaMemPoolTrimTo(memPool: Any, minBytesToKeep: int) -> None:
    return None


def cudaPeekAtLastError() -> tuple[cudaError_t]:
    return (cudaError_t(the.sticky or the.last_error),)


def cudaGetLastError() -> tuple[cudaError_t]:
    found = the.sticky or the.last_error
    the.last_error = device.SUCCESS
    return (cudaError_t(found),)


@_call
def cudaGetErrorString(error: Any) -> bytes:
    return cudaError_t(error).name.encode()


cudaGetErrorName = cudaGetErrorString
