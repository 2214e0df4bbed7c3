"""Stands in for `cuda.bindings.driver`."""

from __future__ import annotations

import ctypes
import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

from tests.late.python import device
from tests.late.python.arrays import address_of
from tests.late.python.device import LEGACY, PER_THREAD, CudaError, the
from tests.late.python.kernels import CTYPES, Kernel, kernels
from tests.late.python.runtime import Handle, host_function, number
from tests.late.python.runtime import cuuint64_t as cuuint64_t

CU_STREAM_LEGACY, CU_STREAM_PER_THREAD = LEGACY, PER_THREAD


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = device.SUCCESS
    CUDA_ERROR_INVALID_VALUE = device.INVALID_VALUE
    CUDA_ERROR_OUT_OF_MEMORY = device.OUT_OF_MEMORY
    CUDA_ERROR_INVALID_HANDLE = device.INVALID_HANDLE
    CUDA_ERROR_NOT_READY = device.NOT_READY
    CUDA_ERROR_NOT_SUPPORTED = device.NOT_SUPPORTED
    CUDA_ERROR_LAUNCH_FAILED = device.LAUNCH_FAILURE


class CUstream_flags(enum.IntEnum):
    CU_STREAM_DEFAULT = 0
    CU_STREAM_NON_BLOCKING = 1


class CUevent_flags(enum.IntEnum):
    CU_EVENT_DEFAULT = 0
    CU_EVENT_BLOCKING_SYNC = 1
    CU_EVENT_DISABLE_TIMING = 2


class CUmemPool_attribute(enum.IntEnum):
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7


class CUdevice_attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115


CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP = 1, 2
CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP = 1, 2


class CUdeviceptr(Handle):
    pass


class CUstream(Handle):
    pass


class CUevent(Handle):
    pass


class CUdevice(Handle):
    pass


class CUcontext(Handle):
    pass


class CUmemoryPool(Handle):
    pass


class Module:
    def __init__(self, text: str) -> None:
        self.kernels = kernels(text)


def _call(function: Callable[..., Any]) -> Callable[..., Any]:
    returns = function.__annotations__["return"] != "None"

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = function(*arguments, **named)
        except CudaError as error:
            return (CUresult(error.code), None) if returns else (CUresult(error.code),)
        if not returns:
            return (CUresult.CUDA_SUCCESS,)
        return (CUresult.CUDA_SUCCESS, *result) if isinstance(result, tuple) else (CUresult.CUDA_SUCCESS, result)

    return call


@_call
def cuInit(Flags: int) -> None:
    return None


@_call
def cuDeviceGet(ordinal: int) -> CUdevice:
    return CUdevice(ordinal)


@_call
def cuDeviceGetAttribute(attrib: Any, dev: Any) -> int:
    return 1


@_call
def cuCtxCreate(*_: Any) -> CUcontext:
    return CUcontext(1)


@_call
def cuDevicePrimaryCtxRetain(dev: Any) -> CUcontext:
    return CUcontext(1)


@_call
def cuDevicePrimaryCtxRelease(dev: Any) -> None:
    return None


@_call
def cuCtxSetCurrent(ctx: Any) -> None:
    return None


@_call
def cuCtxGetCurrent() -> CUcontext:
    return CUcontext(1)


@_call
def cuCtxGetDevice() -> CUdevice:
    return CUdevice(0)


@_call
def cuCtxPushCurrent(ctx: Any) -> None:
    return None


@_call
def cuCtxPopCurrent() -> CUcontext:
    return CUcontext(1)


@_call
def cuCtxSynchronize() -> None:
    the.device_synchronize()


@_call
def cuCtxDestroy(ctx: Any) -> None:
    the.reset()


@_call
def cuMemAlloc(bytesize: int) -> CUdeviceptr:
    if not int(bytesize):
        raise CudaError(device.INVALID_VALUE)
    return CUdeviceptr(the.allocate(int(bytesize), "device"))


@_call
def cuMemFree(dptr: Any) -> None:
    the.free(address_of(dptr), "device", "pool", "managed")


@_call
def cuMemAllocAsync(bytesize: int, hStream: Any) -> CUdeviceptr:
    if not int(bytesize):
        raise CudaError(device.INVALID_VALUE)
    return CUdeviceptr(the.allocate_async(int(bytesize), number(hStream)))


@_call
def cuMemFreeAsync(dptr: Any, hStream: Any) -> None:
    the.free_async(address_of(dptr), number(hStream))


@_call
def cuMemAllocHost(bytesize: int) -> int:
    return the.allocate(int(bytesize), "pinned")


@_call
def cuMemHostAlloc(bytesize: int, Flags: int) -> int:
    return the.allocate(int(bytesize), "pinned")


@_call
def cuMemFreeHost(p: Any) -> None:
    the.free(address_of(p), "pinned")


@_call
def cuMemHostRegister(p: Any, bytesize: int, Flags: int) -> None:
    the.register(address_of(p), int(bytesize), p)


@_call
def cuMemHostUnregister(p: Any) -> None:
    the.unregister(address_of(p))


@_call
def cuMemHostGetDevicePointer(p: Any, Flags: int) -> CUdeviceptr:
    return CUdeviceptr(address_of(p))


@_call
def cuMemGetInfo() -> tuple[int, int]:
    return 64 << 30, 64 << 30


def _copy(to: Any, source: Any, size: int, stream: Any = None) -> None:
    blocking = stream is None
    the.copy(address_of(to), address_of(source), int(size), 0 if blocking else number(stream), blocking=blocking)


@_call
def cuMemcpyHtoD(dstDevice: Any, srcHost: Any, ByteCount: int) -> None:
    _copy(dstDevice, srcHost, ByteCount)


@_call
def cuMemcpyDtoH(dstHost: Any, srcDevice: Any, ByteCount: int) -> None:
    _copy(dstHost, srcDevice, ByteCount)


@_call
def cuMemcpyDtoD(dstDevice: Any, srcDevice: Any, ByteCount: int) -> None:
    _copy(dstDevice, srcDevice, ByteCount)


@_call
def cuMemcpyHtoDAsync(dstDevice: Any, srcHost: Any, ByteCount: int, hStream: Any) -> None:
    _copy(dstDevice, srcHost, ByteCount, number(hStream))


@_call
def cuMemcpyDtoHAsync(dstHost: Any, srcDevice: Any, ByteCount: int, hStream: Any) -> None:
    _copy(dstHost, srcDevice, ByteCount, number(hStream))


@_call
def cuMemcpyDtoDAsync(dstDevice: Any, srcDevice: Any, ByteCount: int, hStream: Any) -> None:
    _copy(dstDevice, srcDevice, ByteCount, number(hStream))


@_call
def cuMemcpy(dst: Any, src: Any, ByteCount: int) -> None:
    _copy(dst, src, ByteCount)


@_call
def cuMemcpyAsync(dst: Any, src: Any, ByteCount: int, hStream: Any) -> None:
    _copy(dst, src, ByteCount, number(hStream))


@_call
def cuMemsetD8(dstDevice: Any, uc: int, N: int) -> None:
    the.fill(address_of(dstDevice), uc, N, 0)


@_call
def cuMemsetD32(dstDevice: Any, ui: int, N: int) -> None:
    the.fill(address_of(dstDevice), ui, 4 * N, 0, width=4)


@_call
def cuMemsetD8Async(dstDevice: Any, uc: int, N: int, hStream: Any) -> None:
    the.fill(address_of(dstDevice), uc, N, number(hStream))


@_call
def cuMemsetD32Async(dstDevice: Any, ui: int, N: int, hStream: Any) -> None:
    the.fill(address_of(dstDevice), ui, 4 * N, number(hStream), width=4)


@_call
def cuStreamCreate(Flags: int) -> CUstream:
    return CUstream(the.create_stream(blocking=not int(Flags) & 1))


@_call
def cuStreamCreateWithPriority(flags: int, priority: int) -> CUstream:
    return CUstream(the.create_stream(blocking=not int(flags) & 1))


@_call
def cuStreamDestroy(hStream: Any) -> None:
    the.destroy_stream(number(hStream))


@_call
def cuStreamSynchronize(hStream: Any) -> None:
    the.synchronize(number(hStream))


def cuStreamQuery(hStream: Any) -> tuple[CUresult]:
    return (CUresult.CUDA_SUCCESS if the.query(number(hStream)) else CUresult.CUDA_ERROR_NOT_READY,)


@_call
def cuStreamWaitEvent(hStream: Any, hEvent: Any, Flags: int) -> None:
    the.wait_event(number(hStream), number(hEvent))


@_call
def cuLaunchHostFunc(hStream: Any, fn: Any, userData: Any) -> None:
    the.launch(number(hStream), host_function(fn, userData))


@_call
def cuEventCreate(Flags: int) -> CUevent:
    return CUevent(the.create_event(timed=not int(Flags) & 2))


@_call
def cuEventDestroy(hEvent: Any) -> None:
    the.destroy_event(number(hEvent))


@_call
def cuEventRecord(hEvent: Any, hStream: Any) -> None:
    the.record(number(hEvent), number(hStream))


@_call
def cuEventSynchronize(hEvent: Any) -> None:
    the.event_synchronize(number(hEvent))


def cuEventQuery(hEvent: Any) -> tuple[CUresult]:
    return (CUresult.CUDA_SUCCESS if the.event_query(number(hEvent)) else CUresult.CUDA_ERROR_NOT_READY,)


@_call
def cuEventElapsedTime(hStart: Any, hEnd: Any) -> float:
    return the.elapsed(number(hStart), number(hEnd))


@_call
def cuDeviceGetDefaultMemPool(dev: Any) -> CUmemoryPool:
    return CUmemoryPool(1)


cuDeviceGetMemPool = cuDeviceGetDefaultMemPool


@_call
def cuMemPoolSetAttribute(pool: Any, attr: Any, value: Any) -> None:
    return None


@_call
def cuMemPoolGetAttribute(pool: Any, attr: Any) -> int:
    return 0


@_call
def cuMemPoolTrimTo(pool: Any, minBytesToKeep: int) -> None:
    return None


@_call
def cuModuleLoadData(image: Any) -> Module:
    text = ctypes.string_at(address_of(image)) if not isinstance(image, (bytes, bytearray)) else bytes(image)
    return Module(text.decode())


@_call
def cuModuleUnload(hmod: Any) -> None:
    return None


@_call
def cuModuleGetFunction(hmod: Module, name: bytes) -> Kernel:
    return hmod.kernels[name.decode() if isinstance(name, bytes) else name]


def _parameters(given: Any, codes: Sequence[str]) -> list[Any]:
    """What `kernelParams` holds: values with their types, or an address of the addresses of the values."""
    if isinstance(given, tuple):
        return [
            address_of(each) if code[0] == "*" else getattr(each, "value", each)
            for each, code in zip(given[0], codes, strict=True)
        ]
    table = (ctypes.c_void_p * len(codes)).from_address(address_of(given)) if codes else ()
    kinds = [ctypes.c_uint64 if code[0] == "*" else CTYPES[code] for code in codes]
    return [kind.from_address(at).value for kind, at in zip(kinds, table, strict=True)]


@_call
def cuLaunchKernel(
    f: Kernel,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: Any,
    kernelParams: Any,
    extra: Any,
) -> None:
    grid, block = (gridDimX, gridDimY, gridDimZ), (blockDimX, blockDimY, blockDimZ)
    f.launch(grid, block, number(hStream), _parameters(kernelParams, f.codes))


@_call
def cuGetErrorName(error: Any) -> bytes:
    return CUresult(error).name.encode()


cuGetErrorString = cuGetErrorName
