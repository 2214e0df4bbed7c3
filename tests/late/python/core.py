"""Stands in for `cuda.core`: devices, streams, events, buffers of the pool, and launches."""

from __future__ import annotations

from typing import Any

from tests.late.python import driver
from tests.late.python.arrays import Array
from tests.late.python.device import LEGACY, PER_THREAD, the
from tests.late.python.kernels import Kernel, kernels
from tests.late.python.runtime import number


class StreamOptions:
    def __init__(self, nonblocking: bool = True, priority: int | None = None) -> None:
        self.nonblocking = nonblocking


class EventOptions:
    def __init__(self, enable_timing: bool = False, busy_waited_sync: bool = False, **_: Any) -> None:
        self.enable_timing = enable_timing


class Event:
    def __init__(self, options: EventOptions | None = None) -> None:
        self._number = the.create_event(timed=options is not None and options.enable_timing)

    def close(self) -> None:
        if self._number:
            the.destroy_event(self._number)
        self._number = 0

    def __del__(self) -> None:
        self.close()

    @property
    def handle(self) -> driver.CUevent:
        return driver.CUevent(self._number)

    @property
    def is_done(self) -> bool:
        return the.event_query(self._number)

    def sync(self) -> None:
        the.event_synchronize(self._number)

    def __sub__(self, other: Event) -> float:
        return the.elapsed(other._number, self._number)


class Stream:
    def __init__(self, value: int, *, owned: bool) -> None:
        self._number, self.owned = value, owned

    @staticmethod
    def from_handle(handle: int) -> Stream:
        return Stream(int(handle), owned=False)

    def close(self) -> None:
        if self._number and self.owned:
            the.destroy_stream(self._number)
        self._number = 0

    def __del__(self) -> None:
        self.close()

    @property
    def handle(self) -> driver.CUstream:
        return driver.CUstream(self._number)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._number

    def sync(self) -> None:
        the.synchronize(self._number)

    def record(self, event: Event | None = None, options: EventOptions | None = None) -> Event:
        made = event if event is not None else Event(options)
        the.record(made._number, self._number)
        return made

    def wait(self, event_or_stream: Any) -> None:
        event = event_or_stream if isinstance(event_or_stream, Event) else event_or_stream.record()
        the.wait_event(self._number, event._number)


class Buffer:
    def __init__(self, address: int, size: int, stream: Stream) -> None:
        self._address, self.size, self._stream = address, size, stream

    @property
    def handle(self) -> driver.CUdeviceptr:
        return driver.CUdeviceptr(self._address)

    def __int__(self) -> int:
        return self._address

    def close(self, stream: Stream | None = None) -> None:
        if self._address:
            the.free_async(self._address, (stream or self._stream)._number)
        self._address = 0

    def __del__(self) -> None:
        self.close()

    def copy_to(self, dst: Buffer, *, stream: Stream) -> Buffer:
        the.copy(dst._address, self._address, self.size, stream._number, blocking=False)
        return dst

    def copy_from(self, src: Buffer, *, stream: Stream) -> None:
        the.copy(self._address, src._address, self.size, stream._number, blocking=False)


class Device:
    compute_capability = (9, 0)
    arch = "90"

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = device_id
        self.default_stream = LEGACY_DEFAULT_STREAM

    def set_current(self) -> None:
        pass

    def sync(self) -> None:
        the.device_synchronize()

    def create_stream(self, obj: Any = None, options: StreamOptions | None = None) -> Stream:
        if obj is not None:
            return Stream.from_handle(obj.__cuda_stream__()[1])
        return Stream(the.create_stream(blocking=options is not None and not options.nonblocking), owned=True)

    def create_event(self, options: EventOptions | None = None) -> Event:
        return Event(options)

    def allocate(self, size: int, stream: Stream | None = None) -> Buffer:
        on = stream if stream is not None else self.default_stream
        return Buffer(the.allocate_async(size, on._number), size, on)


LEGACY_DEFAULT_STREAM = Stream(LEGACY, owned=False)
PER_THREAD_DEFAULT_STREAM = Stream(PER_THREAD, owned=False)


class LaunchConfig:
    def __init__(self, grid: Any = 1, block: Any = 1, **_: Any) -> None:
        self.grid, self.block = grid, block


class ProgramOptions:
    def __init__(self, **_: Any) -> None:
        pass


class ObjectCode:
    def __init__(self, code: str) -> None:
        self.code = code

    def get_kernel(self, name: str) -> Kernel:
        return kernels(self.code)[name]


class Program:
    def __init__(self, code: str, code_type: str, options: ProgramOptions | None = None) -> None:
        self.code = code

    def compile(self, target_type: str, **_: Any) -> ObjectCode:
        return ObjectCode(self.code)


def launch(stream: Stream, config: LaunchConfig, kernel: Kernel, *kernel_args: Any) -> None:
    given = [each.address if isinstance(each, Array) else each for each in kernel_args]
    kernel.launch(config.grid, config.block, number(stream), given)
