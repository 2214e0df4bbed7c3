"""One device whose work runs when an order says so: what `runtime/runtime.cpp` is for C++, for programs in Python.

What waits, and for whom, is docs/FACTS.md; the orders are those of runtime.cpp. An operation knows those that CUDA
orders before it: the one before it on its stream, what an event carries over, and, between the legacy stream and
blocking ones, either way. Memory that is not allocated yet, or freed already, cannot be accessed by the device: a
program that does ends with code 77; use of a destroyed stream ends it with code 78. Freed memory is overwritten,
so the host sees that too.
"""

from __future__ import annotations

import bisect
import ctypes
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

POISONED, DESTROYED = 77, 78
LEGACY, PER_THREAD = 1, 2
PER_THREAD_DEFAULT = (
    "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM",
    "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM",
    "NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM",
)
SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, INVALID_HANDLE, NOT_READY, NOT_SUPPORTED, LAUNCH_FAILURE = (
    0,
    1,
    2,
    400,
    600,
    801,
    719,
)
_real_sleep = time.sleep


class DeviceFault(Exception):
    """What a kernel ends with that traps: every later call returns an error."""


class CudaError(Exception):
    """A call has failed; a stand-in makes of it what its package does."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def end(code: int) -> NoReturn:
    """Ends the process, as a fault of the device or of the driver does."""
    sys.stdout.flush()
    os._exit(code)


@dataclass(eq=False)
class Operation:
    stream: Stream
    work: Callable[[], object] | None
    after: list[Operation]
    quick: bool = False  # allocates, frees or marks a point: takes no time
    frees: bool = False
    done: bool = False


@dataclass(eq=False)
class Stream:
    number: int
    blocking: bool
    destroyed: bool = False
    last: Operation | None = None
    queries: int = 0


@dataclass(eq=False)
class Event:
    timed: bool = True
    recorded: Operation | None = None
    destroyed: bool = False
    time: int = 0
    queries: int = 0


@dataclass(eq=False)
class Block:
    """Memory that the device knows, of one `kind`: device, pool, pinned, registered or managed."""

    address: int
    size: int
    kind: str
    memory: object = None  # holds the bytes, for ever: no address comes again
    live: bool = True  # no call has freed it
    open: bool = True  # the device may access it
    released: bool = False  # its release has taken effect
    allocation: Operation | None = None

    @property
    def on_device(self) -> bool:
        return self.kind in ("device", "pool")


@dataclass
class Order:
    kind: str = "late"
    number: int = 0
    dice: random.Random = field(default_factory=random.Random)

    @staticmethod
    def parse(text: str) -> Order:
        kind, _, number = text.partition(":")
        return Order(kind, int(number or 0), random.Random(int(number or 0)))


class Device:
    """The device; `the` is the only one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.order = Order()
        self.pending: list[Operation] = []  # in the order of the calls
        self.streams: list[Stream] = [Stream(0, True)]
        self.handles: dict[int, Stream | Event] = {LEGACY: self.streams[0]}
        self.own = threading.local()
        self.blocks: list[Block] = []  # by address
        self.starts: list[int] = []
        self.sticky = SUCCESS
        self.last_error = SUCCESS
        self.ran = self.calls = 0

    def start(self, order: str) -> None:
        self.order = Order.parse(order)
        threading.Thread(target=self._nudge, daemon=True).start()

    # Streams and events

    def stream(self, handle: int) -> Stream:
        if handle == 0:
            handle = PER_THREAD if any(os.environ.get(name, "0") != "0" for name in PER_THREAD_DEFAULT) else LEGACY
        if handle == PER_THREAD:
            if not hasattr(self.own, "stream"):
                self.own.stream = self._new_stream(blocking=True)
            own: Stream = self.own.stream
            return own
        found = self.handles.get(handle)
        if not isinstance(found, Stream) or found.destroyed:
            end(DESTROYED)
        return found

    def _new_stream(self, *, blocking: bool) -> Stream:
        made = Stream(len(self.streams), blocking)
        self.streams.append(made)
        return made

    def _handle(self, thing: Stream | Event) -> int:
        handle = 0x55000000 + 0x40 * len(self.handles)
        self.handles[handle] = thing
        return handle

    def create_stream(self, *, blocking: bool) -> int:
        with self.call():
            return self._handle(self._new_stream(blocking=blocking))

    def destroy_stream(self, handle: int) -> None:
        with self.call():
            self.stream(handle).destroyed = True

    def event(self, handle: int) -> Event:
        found = self.handles.get(handle)
        if not isinstance(found, Event) or found.destroyed:
            raise CudaError(INVALID_HANDLE)
        return found

    def create_event(self, *, timed: bool = True) -> int:
        with self.call():
            return self._handle(Event(timed))

    def destroy_event(self, handle: int) -> None:
        with self.call():
            self.event(handle).destroyed = True

    def record(self, handle: int, stream: int) -> None:
        with self.call():
            event = self.event(handle)

            def mark() -> None:
                event.time = self.ran

            event.recorded = self.enqueue(self.stream(stream), mark, quick=True)

    def wait_event(self, stream: int, handle: int) -> None:
        with self.call():
            self.enqueue(self.stream(stream), None, also=self.event(handle).recorded)

    def event_synchronize(self, handle: int) -> None:
        with self.call():
            self.run(self.event(handle).recorded)

    def event_query(self, handle: int) -> bool:
        with self.call():
            event = self.event(handle)
            if not self._idle(event.recorded):
                event.queries += 1
                if event.queries % 4 == 0:
                    self.run(event.recorded)
                return False
            self.run(event.recorded)
            return True

    def elapsed(self, start: int, stop: int) -> float:
        with self.call():
            first, second = self.event(start), self.event(stop)
            if first.recorded is None or second.recorded is None or not (first.timed and second.timed):
                raise CudaError(INVALID_HANDLE)
            if not (first.recorded.done and second.recorded.done):
                raise CudaError(NOT_READY)
            return float(second.time - first.time)

    def synchronize(self, stream: int) -> None:
        with self.call():
            self.wait(self.stream(stream))

    def query(self, handle: int) -> bool:
        with self.call():
            stream = self.stream(handle)
            left = self._before(stream) if stream is self.streams[0] else [stream.last]
            if not all(self._idle(one) for one in left):
                stream.queries += 1
                if stream.queries % 4 == 0:
                    self.wait(stream)
                return False
            self.wait(stream)
            return True

    # Work

    def call(self) -> Call:
        """What every call of the host does: what the order wants runs before it and behind it."""
        return Call(self)

    def _before(self, stream: Stream) -> list[Operation]:
        """What CUDA orders before the next operation on `stream`."""
        others = [stream]
        if stream is self.streams[0]:
            others += [other for other in self.streams[1:] if other.blocking]
        elif stream.blocking:
            others.append(self.streams[0])
        return [other.last for other in others if other.last is not None and not other.last.done]

    def enqueue(
        self, stream: Stream, work: Callable[[], object] | None, *, quick: bool = False, also: Operation | None = None
    ) -> Operation:
        after = self._before(stream)
        if also is not None and not also.done:
            after.append(also)
        queued = Operation(stream, work, after, quick or work is None)
        stream.last = queued
        self.pending.append(queued)
        return queued

    def launch(self, stream: int, work: Callable[[], object]) -> None:
        with self.call():
            self.enqueue(self.stream(stream), work)

    def run(self, queued: Operation | None) -> None:
        """Runs an operation, and first what is ordered before it."""
        if queued is None or queued.done:
            return
        after, queued.after = queued.after, []
        for earlier in after:
            self.run(earlier)
        queued.done = True
        if self.sticky == SUCCESS and queued.work is not None:
            try:
                queued.work()
            except DeviceFault:
                self.sticky = LAUNCH_FAILURE
        queued.work = None
        self.ran += 1
        self.pending.remove(queued)

    def _starved(self, queued: Operation) -> bool:
        return queued.stream.number == self.order.number or any(
            not earlier.done and self._starved(earlier) for earlier in queued.after
        )

    def _now(self, queued: Operation) -> bool:
        kind = self.order.kind
        return (
            kind == "early"
            or (kind == "frees" and queued.frees)
            or (kind == "only" and queued.stream.number == self.order.number)
            or (kind == "starve" and not self._starved(queued))
            or (kind == "random" and self.order.dice.randrange(8) == 0)
        )

    def progress(self) -> None:
        """Runs what the order wants to run now."""
        for queued in list(self.pending):
            if not queued.done and self._now(queued):
                self.run(queued)

    def drain(self) -> None:
        """Runs everything, in an order that CUDA allows."""
        waiting = list(self.pending)
        if self.order.kind == "random":
            self.order.dice.shuffle(waiting)
        if self.order.kind == "late":
            waiting.reverse()
        if self.order.kind == "starve":
            for queued in waiting:
                if not queued.done and not self._starved(queued):
                    self.run(queued)
        for queued in waiting:
            self.run(queued)

    def wait(self, stream: Stream) -> None:
        """The legacy stream stands for all blocking ones (docs/FACTS.md)."""
        if stream is self.streams[0]:
            for earlier in self._before(stream):
                self.run(earlier)
        self.run(stream.last)

    def device_synchronize(self) -> None:
        with self.call():
            self.drain()

    def _idle(self, queued: Operation | None) -> bool:
        """Whether nothing that takes time is left of it: no query finds a stream busy with memory."""
        return queued is None or queued.done or (queued.quick and all(self._idle(one) for one in queued.after))

    def _nudge(self) -> None:
        """A host that calls nothing for a while waits for the device in a way of its own: something has to run."""
        seen = -1
        while True:
            _real_sleep(0.15)
            if self.lock.acquire(blocking=False):
                if seen == self.calls and self.pending:
                    self.run(self.pending[0])
                seen = self.calls
                self.lock.release()

    # Memory

    def _map(self, size: int, kind: str) -> Block:
        memory = (ctypes.c_char * (size + 64)).from_buffer(bytearray(b"\xa5" * (size + 64)))
        return self._add(Block(ctypes.addressof(memory), size, kind, memory, open=kind != "pool"))

    def _add(self, block: Block) -> Block:
        at = bisect.bisect(self.starts, block.address)
        self.starts.insert(at, block.address)
        self.blocks.insert(at, block)
        return block

    def holding(self, address: int) -> Block | None:
        """The block that holds an address; of two with one address the later one."""
        at = bisect.bisect(self.starts, address) - 1
        if at >= 0 and address < self.blocks[at].address + self.blocks[at].size:
            return self.blocks[at]
        return None

    def _live(self, address: int) -> Block | None:
        found = self.holding(address)
        return found if found is not None and found.live else None

    def _starting(self, address: int, *kinds: str) -> Block:
        found = self._live(address)
        if found is None or found.address != address or found.kind not in kinds:
            raise CudaError(INVALID_VALUE)
        return found

    def _close(self, block: Block) -> None:
        block.released, block.open = True, False
        ctypes.memset(block.address, 0xA5, block.size)

    def allocate(self, size: int, kind: str) -> int:
        with self.call():
            return self._map(size, kind).address if size else 0

    def free(self, address: int, *kinds: str) -> None:
        """A release that first waits for the whole device; memory of a pool waits for nothing (docs/FACTS.md)."""
        with self.call():
            if not address:
                return
            block = self._starting(address, *kinds)
            if block.kind == "pool":
                self.run(block.allocation)
            else:
                self.drain()
            block.live = False
            self._close(block)

    def allocate_async(self, size: int, stream: int) -> int:
        with self.call():
            on = self.stream(stream)
            if not size:
                return 0
            block = self._map(size, "pool")

            def opened() -> None:
                if not block.released:  # by a free that nothing orders behind the allocation
                    block.open = True

            block.allocation = self.enqueue(on, opened, quick=True)
            return block.address

    def free_async(self, address: int, stream: int) -> None:
        with self.call():
            on = self.stream(stream)
            if not address:
                return
            found = self._live(address)
            if found is not None and found.kind == "managed":
                raise CudaError(NOT_SUPPORTED)
            block = self._starting(address, "device", "pool")
            block.live = False
            self.enqueue(on, lambda: self._close(block), quick=True).frees = True

    def register(self, address: int, size: int, memory: object = None) -> None:
        with self.call():
            self._add(Block(address, size, "registered", memory))

    def unregister(self, address: int) -> None:
        with self.call():
            block = self._starting(address, "registered")
            self.starts.remove(address)
            self.blocks.remove(block)

    def kind(self, address: int) -> str:
        """`pageable` where no call of CUDA has made the memory."""
        found = self._live(address)
        return found.kind if found else "pageable"

    def access(self, address: int, size: int, *, by_host: bool = False) -> None:
        """The device, or a copy, accesses memory: it must be there."""
        found = self.holding(address)
        if found is None:
            if not by_host:
                end(POISONED)
        elif not found.open or address + size > found.address + found.size:
            end(POISONED)

    def _move(self, to: int, source: int, size: int) -> None:
        self.access(to, size, by_host=True)
        self.access(source, size, by_host=True)
        ctypes.memmove(to, source, size)

    def copy(self, to: int, source: int, size: int, stream: int, *, blocking: bool) -> None:
        """What a copy waits for depends on the memory (CUDA Runtime API, "API synchronization behavior")."""
        with self.call():
            on = self.stream(stream)
            onto, off = self._live(to), self._live(source)
            if off is None and onto is not None and onto.on_device:
                # Pageable memory is staged before the call returns; the blocking copy first waits for its stream.
                if blocking:
                    self.wait(on)
                staged = ctypes.create_string_buffer(ctypes.string_at(source, size), size)
                at = ctypes.addressof(staged)

                def arrive(staged: object = staged) -> None:
                    self._move(to, at, size)

                self.enqueue(on, arrive)
                return
            queued = self.enqueue(on, lambda: self._move(to, source, size))
            between = onto is not None and onto.on_device and off is not None and off.on_device
            if not between if blocking else onto is None:
                self.run(queued)

    def fill(self, to: int, value: int, size: int, stream: int, *, width: int = 1) -> None:
        """`size` bytes, of which each `width` are `value`."""

        def work() -> None:
            self.access(to, size)
            pattern = (value & (1 << 8 * width) - 1).to_bytes(width, sys.byteorder)
            ctypes.memmove(to, pattern * (size // width), size // width * width)

        self.launch(stream, work)

    # Ends

    def reset(self) -> None:
        with self.call():
            self.drain()
            for block in self.blocks:
                if block.live and block.kind != "registered":
                    self._close(block)
                    block.live = block.kind == "pool"  # documented to be leaked
            for stream in self.streams[1:]:
                stream.destroyed = True

    def finish(self) -> int:
        """The end of the process: what nobody has waited for is lost, or runs now. Returns the blocks that are left."""
        with self.lock:
            if self.order.kind not in ("late", "only"):
                self.drain()
            return sum(block.live and block.on_device for block in self.blocks)

    def clock(self) -> int:
        """A clock of the device on which any wait is over soon."""
        self.ticks = getattr(self, "ticks", 0) + 1_000_000_000
        return self.ticks


class Call:
    def __init__(self, device: Device) -> None:
        self.device = device

    def __enter__(self) -> None:
        self.device.lock.acquire()
        self.device.calls += 1
        self.device.progress()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.device.progress()
            if kind is None and self.device.sticky != SUCCESS:
                raise CudaError(self.device.sticky)
        finally:
            self.device.lock.release()


the = Device()
