"""What a function can name: its observers and operations, those of its callees included, as positions in a row.

Scopes are made before any dataflow runs, callees first; those of functions that call each other as a fixpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from cudafix.ordering.order.lattice import Bits, positions
from cudafix.ordering.order.program import (
    STREAMS,
    Age,
    Does,
    Function,
    Kind,
    Memory,
    Observer,
    Program,
    Targets,
    all_blocking,
    device_of,
    instructions,
    legacy,
)

_TOUCH = (Does.WORK, Does.HOST_READ, Does.HOST_WRITE)
_ON_STREAMS = (Does.WORK, Does.ALLOCATE, Does.FREE)


class Key(NamedTuple):
    """An operation, told apart by the calls around it, and by which of its memory has become older (`Age`)."""

    operation: int
    calls: tuple[int, ...] = ()
    aged: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Access:
    """An operation as the function sees it."""

    key: Key
    does: Does
    reads: Memory
    writes: Memory
    prints: bool
    fails: bool
    compared: bool = False  # it happens in both programs
    devices: frozenset[int] = frozenset()  # on which it may run

    @property
    def memory(self) -> Memory:
        return self.reads | self.writes

    def merged(self, other: Access) -> Access:
        """Two operations by one name."""
        if self is other or self == other:
            return self
        return replace(
            self,
            reads=self.reads | other.reads,
            writes=self.writes | other.writes,
            compared=self.compared or other.compared,
            devices=self.devices | other.devices,
        )


class Neighbours(NamedTuple):
    """Which rows a step on a stream reads besides its own, and which it changes, for certain and perhaps.

    A step on the legacy stream of a device waits for all blocking streams of it, and they wait for that; this and that
    each device has a legacy stream of its own is measured (docs/FACTS.md, "Ordering that must be added").
    """

    before: Targets = ()
    perhaps_before: Targets = ()
    behind: Targets = ()
    perhaps_behind: Targets = ()


def neighbours(x: Observer, devices: int) -> Neighbours:
    """The neighbours of a stream. All observers in the result are fixed ones."""
    some = tuple(range(devices)) if x.device is None else (x.device,)
    known = x.device is not None
    legacies, blocking = tuple(map(legacy, some)), tuple(map(all_blocking, some))
    whole = tuple(map(device_of, some))
    match x.kind:
        case Kind.LEGACY:
            return Neighbours(blocking, (), whole, ())
        case Kind.BLOCKING if known:
            return Neighbours(legacies, (), (*blocking, *whole), ())
        case Kind.BLOCKING:
            return Neighbours((), legacies, (), (*blocking, *whole))
        case Kind.NON_BLOCKING:
            return Neighbours((), (), whole if known else (), () if known else whole)
    either = (*legacies, *blocking)
    return Neighbours((), either, whole if known else (), either if known else (*either, *whole))


class Runs:
    """A map between positions, kept as runs of neighbours that stay neighbours, so that it costs a few shifts."""

    __slots__ = ("runs", "sources")

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.runs: list[tuple[int, Bits, int]] = []
        pairs = list(pairs)
        self.sources: Bits = sum(1 << source for source, _ in pairs)
        start = length = target = 0
        for source, destination in sorted(pairs):
            if length and source == start + length and destination == target + length:
                length += 1
                continue
            if length:
                self.runs.append((start, (1 << length) - 1, target))
            start, length, target = source, 1, destination
        if length:
            self.runs.append((start, (1 << length) - 1, target))

    def __call__(self, bits: Bits) -> Bits:
        found = 0
        for start, mask, target in self.runs:
            found |= (bits >> start & mask) << target
        return found


@dataclass(slots=True)
class Binding:
    """What a callee's observers and operations are in the caller.

    `targets[y]` are the candidates in the caller for the callee's observer y, none if nothing is left of it.
    """

    callee: Scope
    targets: list[Targets]
    operations: Runs


@dataclass(eq=False)
class Scope:
    """Tables of a function. Bits of operations lie above those of the observers."""

    program: Program
    name: str
    function: Function
    names: list[int] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    crossing: list[Bits] = field(default_factory=list)
    """By device, the devices that its streams may have waited for, itself included."""
    calls: dict[int, Binding] = field(default_factory=dict)  # by site
    changes: int = 0  # so far, to its tables
    _places: dict[int, int] = field(default_factory=dict)
    _numbers: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.crossing = [1 << device for device in range(self.program.devices)]

    # -- observers -----------------------------------------------------------------------------------------------------

    def name_observers(self, observers: Iterable[int]) -> None:
        for x in observers:
            if x not in self._places:
                self._places[x] = len(self.names)
                self.names.append(x)
                self.changes += 1

    def place(self, observer: int) -> int:
        """The position of an observer."""
        return self._places[observer]

    def places(self, observers: Targets) -> Targets:
        """The positions of some candidates, each once."""
        return tuple(dict.fromkeys(map(self.place, observers))) if len(observers) > 1 else (self.place(observers[0]),)

    @cached_property
    def kinds(self) -> list[Observer]:
        return [self.program.observers[x] for x in self.names]

    @cached_property
    def streams(self) -> list[Neighbours]:
        """The neighbours of all observers that are streams."""
        return [neighbours(x, self.program.devices) if x.kind in STREAMS else Neighbours() for x in self.kinds]

    @cached_property
    def local(self) -> Bits:
        return sum(1 << self._places[x] for x in self.function.local if x in self._places)

    # -- operations ----------------------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> int:
        """The position of the first operation. Final once all observers are named."""
        return len(self.names)

    def position(self, key: Key) -> int:
        return self.base + self._numbers[key]

    def bit(self, key: Key) -> Bits:
        return 1 << self.position(key)

    def access(self, position: int) -> Access:
        return self.accesses[position - self.base]

    def add(self, new: Access) -> int:
        """Name an operation. Returns its number."""
        number = self._numbers.setdefault(new.key, len(self.accesses))
        if number == len(self.accesses):
            self.accesses.append(new)
            self.changes += 1
        elif (merged := self.accesses[number].merged(new)) is not self.accesses[number]:
            self.changes += merged != self.accesses[number]
            self.accesses[number] = merged
        return number

    def bits_of(self, chosen: Iterable[bool]) -> Bits:
        digits = "".join("1" if yes else "0" for yes in chosen)
        return int(digits[::-1] or "0", 2) << self.base

    @cached_property
    def operations(self) -> Bits:
        """All operations."""
        return (1 << len(self.accesses)) - 1 << self.base

    @cached_property
    def compared(self) -> Bits:
        """The operations that both programs have: what P may have finished and Q not."""
        return self.bits_of(access.compared for access in self.accesses)

    @cached_property
    def waits(self) -> Bits:
        """The operations that something has to be finished for in Q, whatever P guarantees."""
        allocated = {o for access in self.accesses if access.does is Does.ALLOCATE for o in access.writes}
        kinds = (Does.FREE, Does.FREE_MEMORY)
        return self.bits_of(
            a.does in kinds or a.does is Does.WORK and not allocated.isdisjoint(a.memory) for a in self.accesses
        )

    @cached_property
    def _by_memory(self) -> dict[tuple[str, int], Bits]:
        """Who reads, writes, and allocates a piece of memory."""
        found: dict[tuple[str, int], Bits] = {}
        for n, access in enumerate(self.accesses):
            uses: dict[str, Memory] = {}
            if access.does is Does.WORK:
                uses = {"reads": access.reads, "writes": access.writes}
            elif access.does is Does.ALLOCATE:
                uses = {"allocates": access.writes}
            for use, memory in uses.items():
                for o in memory:
                    found[use, o] = found.get((use, o), 0) | 1 << self.base + n
        return found

    def needs(self, position: int) -> Bits:
        """The operations that have to be finished in Q when this one starts: the allocation of what it uses; when it
        frees, all uses; and when the host looks at free memory, the frees that P has done at once.
        """
        access, by = self.access(position), self._by_memory
        match access.does:
            case Does.WORK:
                uses = ["allocates"]
            case Does.FREE:
                uses = ["allocates", "reads", "writes"]
            case Does.FREE_MEMORY:
                return self.bits_of(a.does is Does.FREE and not a.compared for a in self.accesses)
            case _:
                return 0
        return reduce(or_, (by.get((use, o), 0) for o in access.memory for use in uses), 0)

    def conflicts(self, position: int) -> Bits:
        """The operations that have to be finished in Q when this one starts if P guarantees it."""
        access, by = self.access(position), self._by_memory
        found = 0
        match access.does:
            case Does.WORK | Does.HOST_READ | Does.HOST_WRITE:
                for o in access.writes:
                    found |= by.get(("reads", o), 0) | by.get(("writes", o), 0)
                for o in access.reads:
                    found |= by.get(("writes", o), 0)
                if access.prints:  # what kernels print stands in their order
                    found |= self._printing
            case Does.OUTPUT | Does.END:
                found = self._printing
            case Does.STATUS:
                found = self.bits_of(a.fails and a.does in _ON_STREAMS for a in self.accesses)
            case Does.CLOCK:
                found = self.bits_of(a.does in _ON_STREAMS for a in self.accesses)
            case Does.FREE_MEMORY:
                found = self.bits_of(a.does is Does.FREE for a in self.accesses)
        return found

    @cached_property
    def exposed(self) -> Bits:
        """The operations that an unknown one from before the call may conflict with."""
        return self.bits_of(
            a.compared
            and (a.prints or not a.memory <= self.function.local_memory or a.does not in _TOUCH)
            and a.does not in (Does.ALLOCATE, Does.FREE)
            for a in self.accesses
        )

    @cached_property
    def frees_of_callers(self) -> Bits:
        """The frees of memory that exists before the call."""
        return self.bits_of(a.does is Does.FREE and not a.memory <= self.function.local_memory for a in self.accesses)

    @cached_property
    def allocates_or_frees(self) -> Bits:
        return self.bits_of(a.does in (Does.ALLOCATE, Does.FREE) for a in self.accesses)

    @cached_property
    def _printing(self) -> Bits:
        return self.bits_of(a.prints and a.does is Does.WORK for a in self.accesses)

    @cached_property
    def finished_by(self) -> list[tuple[Bits, Bits]]:
        """By device, what may have finished in P when that has waited for the device: operations, and entry facts."""
        found = []
        for crossing in self.crossing:
            some = set(positions(crossing))
            operations = self.bits_of(access.compared and bool(access.devices & some) for access in self.accesses)
            found.append((operations, sum(1 << device_of(device) for device in some)))
        return found

    @cached_property
    def everything(self) -> tuple[Bits, Bits]:
        """What may have finished in P at any point: operations, and entry facts."""
        return self.compared, sum(1 << device_of(device) for device in range(self.program.devices))

    @cached_property
    def aging(self) -> dict[tuple[tuple[int, int], ...], Runs]:
        """By the memory that an `Age` renames, where the operations go that use it."""
        found = {}
        for instruction in instructions(self.function.body):
            if isinstance(instruction, Age) and instruction.memory not in found:
                some = ((access.key, aged(access, instruction.memory)) for access in self.accesses)
                found[instruction.memory] = Runs(
                    (self.position(key), self.position(older.key)) for key, older in some if older is not None
                )
        return found

    # -- devices -------------------------------------------------------------------------------------------------------

    def devices(self, observers: Iterable[int]) -> frozenset[int]:
        """The devices of some observers."""
        found: set[int] = set()
        for x in observers:
            device = self.program.observers[x].device
            found.update(range(self.program.devices) if device is None else (device,))
        return frozenset(found)

    def cross(self, waiters: Iterable[int], others: Iterable[int]) -> None:
        """Streams of some devices wait for what others run."""
        if self.program.devices == 1:
            return
        before = self.crossing.copy()
        for device in waiters:
            for other in others:
                self.crossing[device] |= self.crossing[other]
        for one, mask in enumerate(self.crossing):  # what the devices have waited for by then
            for other in positions(mask):
                self.crossing[one] |= self.crossing[other]
        self.changes += before != self.crossing


def aged(access: Access, memory: Sequence[tuple[int, int]]) -> Access | None:
    """An operation whose memory is older now, or None if it uses none that is."""
    renamed = {new: old for new, old in memory if new in access.memory}
    if not renamed or access.does not in _ON_STREAMS:
        return None
    key = access.key._replace(aged=access.key.aged.union(renamed.items()))
    reads, writes = (frozenset(renamed.get(o, o) for o in some) for some in (access.reads, access.writes))
    return Access(key, access.does, reads, writes, access.prints, access.fails, access.compared, access.devices)
