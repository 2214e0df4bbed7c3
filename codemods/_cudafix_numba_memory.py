"""Stream-ordered device memory for Numba: an external memory manager over `cuMemAllocAsync` and `cuMemFreeAsync`.

    from numba import cuda
    from cudafix_numba_memory import StreamOrderedMemoryManager
    cuda.set_memory_manager(StreamOrderedMemoryManager)  # before the first array or kernel

Memory is allocated and freed on the legacy default stream. Kernels and copies on the default stream, on streams of
`cuda.stream()` and on per-thread default streams are ordered with it; one on another stream (`cuda.external_stream`)
has to wait for the default stream first, and the default stream for it before the array is dropped. Freed memory stays
in the pool of the device. Pinned, mapped and managed memory is Numba's own; memory of the pool has no IPC handles.

Needs numba-cuda with cuda-bindings. Written by cudafix; yours to change.
"""

import contextlib
import itertools

from cuda.bindings import driver as binding
from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError, driver

_LEGACY = binding.CUstream(binding.CU_STREAM_LEGACY)


class StreamOrderedMemoryManager(cuda.HostOnlyCUDAMemoryManager):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._pool = None
        self._blocks = {}  # by a number of their own: the address of a freed block comes again
        self._numbers = itertools.count()
        self._postponed = []
        self._postponing = 0

    @property
    def interface_version(self):
        return 1

    def initialize(self):
        """Called with the context current, every time it is made so."""
        if self._pool is not None:
            return
        self.deallocations.memory_capacity = driver.cuMemGetInfo()[1]  # for pinned memory, as Numba does
        self._pool = driver.cuDeviceGetMemPool(self.context.device.id)
        # keep freed memory in the pool instead of giving it back at every synchronization
        threshold = binding.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        driver.cuMemPoolSetAttribute(self._pool, threshold, binding.cuuint64_t(2**64 - 1))

    def memalloc(self, size):
        try:
            address = driver.cuMemAllocAsync(size, _LEGACY)
        except CudaAPIError as error:
            if error.code != binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                raise
            self.deallocations.clear()
            driver.cuCtxSynchronize()  # what was freed is free from here on
            address = driver.cuMemAllocAsync(size, _LEGACY)
        number = next(self._numbers)
        self._blocks[number] = address
        return cuda.MemoryPointer(self.context, address, size, finalizer=lambda: self._release(number))

    def _release(self, number):
        """The last reference to an array is gone: on any thread, with any context current or none."""
        if number not in self._blocks:
            return  # `reset` has given it back
        if self._postponing:
            self._postponed.append(number)
        else:
            with self._current():
                self._free(number)

    def _free(self, number):
        address = self._blocks.pop(number, None)
        if address is not None:
            driver.cuMemFreeAsync(address, _LEGACY)

    @contextlib.contextmanager
    def _current(self):
        """The context of this manager is current: the legacy stream is that of the current context."""
        current = int(driver.cuCtxGetCurrent()) == int(self.context.handle)
        if not current:
            driver.cuCtxPushCurrent(self.context.handle)
        try:
            yield
        finally:
            if not current:
                driver.cuCtxPopCurrent()

    def reset(self):
        """Give everything back, once the device is done with it. `cuda.close()` calls this with no context current."""
        with self._current():
            driver.cuCtxSynchronize()
            for number in list(self._blocks):
                self._free(number)
            self._postponed.clear()
            super().reset()
            driver.cuCtxSynchronize()
            if self._pool is not None:
                driver.cuMemPoolTrimTo(self._pool, 0)

    @contextlib.contextmanager
    def defer_cleanup(self):
        with super().defer_cleanup():
            self._postponing += 1
            try:
                yield
            finally:
                self._postponing -= 1
                if not self._postponing:
                    while self._postponed:
                        self._release(self._postponed.pop())

    def get_memory_info(self):
        """What the pool holds and nobody uses counts as free."""
        free, total = driver.cuMemGetInfo()
        attribute = binding.CUmemPool_attribute
        held, used = (
            int(driver.cuMemPoolGetAttribute(self._pool, one))
            for one in (attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        )
        return cuda.MemoryInfo(free=free + held - used, total=total)

    def get_ipc_handle(self, memory):
        raise NotImplementedError("memory of the stream-ordered pool has no IPC handle")
