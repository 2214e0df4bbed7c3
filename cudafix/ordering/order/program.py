"""The order program: what the host code of a function issues, records and waits for, and nothing else.

An *observer* is whatever waits: a stream, an event, the host. An *operation* is whatever runs on a stream, and whatever
the host looks at. Both are small numbers, so is memory; what they stand for is for whoever makes the program to know.
Two programs are held at once: the original (P) and the rewritten one (Q). Each instruction says in which it happens.

Operands are tuples of candidates. A step is certain only for one candidate that stands for one object; else it is a
may-step: it gives Q nothing, and P all that it may have.

Two names of a function may stand for one object, as two parameters do when the caller passes one thing twice:

* of streams nothing needs to be said: what has finished in P alone has finished for the host, and so for all names;
* a `Record` lists in `also` the events that may be the recorded one, and `Destroy` all names of what it may destroy;
* an operation lists all names of the memory that it may use.

There are no instructions for these, because others say them:

* a blocking copy is an `Issue` on the legacy stream and a `HostWait` for it, as its direction says (docs/FACTS.md);
* `cudaFree` of blocking memory is a `HostWait` for its device, in P alone once it has moved;
* an unknown call or a callback is an `Issue` of an unknown operation on each stream that it may use;
* a virtual call is a `Branch` of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Targets: TypeAlias = tuple[int, ...]
Memory: TypeAlias = frozenset[int]

NO_MEMORY: Memory = frozenset()


class In(Enum):
    """In which of the two programs an instruction happens."""

    BOTH = "both"
    ORIGINAL = "original"
    REWRITTEN = "rewritten"


# -- observers ---------------------------------------------------------------------------------------------------------


class Kind(Enum):
    HOST = "host"
    STATUS = "status"  # the host, as far as it has looked at the status of what has finished
    LEGACY = "legacy"  # the default stream of a device
    ALL_BLOCKING = "all blocking"  # all blocking streams of a device, whoever has names for them
    DEVICE = "device"  # all streams of a device
    BLOCKING = "blocking"
    NON_BLOCKING = "non-blocking"
    UNKNOWN = "unknown"  # one stream, of any kind
    EVENT = "event"


STREAMS = frozenset({Kind.LEGACY, Kind.BLOCKING, Kind.NON_BLOCKING, Kind.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Observer:
    """`device` is None where it is not known. One that is `several` stands for any number of objects.

    An event that is `inserted` does not exist in P.
    """

    kind: Kind
    device: int | None = None
    several: bool = False
    inserted: bool = False


HOST = 0
STATUS = 1
_A_DEVICE = 3  # observers


def legacy(device: int) -> int:
    return 2 + _A_DEVICE * device


def all_blocking(device: int) -> int:
    return 3 + _A_DEVICE * device


def device_of(device: int) -> int:
    """The observer of all streams of a device."""
    return 4 + _A_DEVICE * device


def fixed_observers(devices: int) -> tuple[Observer, ...]:
    """The observers that every function can name; their numbers are those of the functions above."""
    found = [Observer(Kind.HOST), Observer(Kind.STATUS)]
    for device in range(devices):
        found += [Observer(kind, device) for kind in (Kind.LEGACY, Kind.ALL_BLOCKING, Kind.DEVICE)]
    return tuple(found)


# -- operations --------------------------------------------------------------------------------------------------------


class Does(Enum):
    """What an operation is. The first three run on a stream; the others are what the host looks at."""

    WORK = "work"
    ALLOCATE = "allocate"
    FREE = "free"
    HOST_READ = "host read"
    HOST_WRITE = "host write"  # of memory that a copy may still read
    OUTPUT = "output"
    STATUS = "status"
    CLOCK = "clock"
    FREE_MEMORY = "free memory"
    END = "end"


@dataclass(frozen=True, slots=True)
class Operation:
    """`ALLOCATE` and `FREE` of stream-ordered memory write what they allocate and free."""

    does: Does = Does.WORK
    reads: Memory = NO_MEMORY
    writes: Memory = NO_MEMORY
    prints: bool = False
    fails: bool = True  # its error is one that a status may show


# -- instructions ------------------------------------------------------------------------------------------------------


class Exit(Enum):
    """How a block is left other than at its end."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    THROW = "throw"
    EXIT = "exit"  # of the process


@dataclass(frozen=True, slots=True)
class Issue:
    """An operation is issued on one of the streams."""

    operation: int
    streams: Targets
    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class Observe:
    """The host looks at something."""

    operation: int
    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class Record:
    """One of the events is recorded on one of the streams. `also` holds events that may be the same one."""

    events: Targets
    streams: Targets
    where: In = In.BOTH
    also: Targets = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """One of the streams waits for one of the events. For one that was never recorded it does nothing at all."""

    streams: Targets
    events: Targets
    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class After:
    """One of the streams waits for one of the others: an event that nobody else names is recorded and waited for."""

    streams: Targets
    others: Targets
    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class HostWait:
    """The host waits for one of the streams, events or devices."""

    targets: Targets
    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class Look:
    """The host looks at the status of all that it has waited for."""

    where: In = In.BOTH


@dataclass(frozen=True, slots=True)
class Create:
    """A stream or an event is created. A new one has waited for nothing but what its kind says."""

    observer: int


@dataclass(frozen=True, slots=True)
class Destroy:
    """One of the streams is destroyed. What it runs goes on, and is waited for as before (docs/FACTS.md)."""

    streams: Targets


@dataclass(frozen=True, slots=True)
class Age:
    """What the newest object of a creation site was is from here on one of the older ones: pairs (newest, older)."""

    observers: tuple[tuple[int, int], ...] = ()
    memory: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call. `site` is a number of its own. What the callee names is the same thing here, but for what is renamed:

    its parameters, to one of several candidates each, and what it has made and the caller gets. Of the other things
    that it has made nothing is left but their operations.
    """

    function: str
    site: int
    observers: Mapping[int, Targets] = field(default_factory=dict)
    memory: Mapping[int, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Branch:
    """One of the blocks runs."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    body: Block
    at_least_once: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    exit: Exit


@dataclass(frozen=True, slots=True)
class Catch:
    """Runs `body`; where that is left by `exit`, the handler runs and the program goes on behind it."""

    exit: Exit
    body: Block
    handler: Block = ()


Instruction: TypeAlias = (
    Issue
    | Observe
    | Record
    | Wait
    | After
    | HostWait
    | Look
    | Create
    | Destroy
    | Age
    | Call
    | Branch
    | Loop
    | Leave
    | Catch
)
Block: TypeAlias = tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """`local` observers and memory do not exist before the function makes them: no caller has a name for them, and
    no operation from before the call can use such memory. Recursion needs no more: each activation makes its own.
    """

    body: Block
    local: frozenset[int] = frozenset()
    local_memory: Memory = NO_MEMORY


@dataclass(frozen=True, slots=True)
class Program:
    """`observers` starts with `fixed_observers(devices)`."""

    devices: int
    observers: tuple[Observer, ...]
    operations: tuple[Operation, ...]
    functions: Mapping[str, Function]


def blocks_of(instruction: Instruction) -> Iterator[Block]:
    """The blocks inside an instruction."""
    match instruction:
        case Branch(blocks):
            yield from blocks
        case Loop(body):
            yield body
        case Catch(_, body, handler):
            yield body
            yield handler


def instructions(block: Iterable[Instruction]) -> Iterator[Instruction]:
    """All instructions of a block and of the blocks inside, in the order of the text."""
    for instruction in block:
        yield instruction
        for inner in blocks_of(instruction):
            yield from instructions(inner)


def named(instruction: Instruction) -> Iterator[int]:
    """The observers that an instruction names; of a call, those that its arguments are."""
    match instruction:
        case Issue(_, streams) | Destroy(streams):
            yield from streams
        case Record(events, streams, _, also):
            yield from (*events, *streams, *also)
        case Wait(streams, others) | After(streams, others):
            yield from (*streams, *others)
        case HostWait(targets):
            yield from targets
        case Create(observer):
            yield observer
        case Age(pairs):
            for pair in pairs:
                yield from pair
        case Call():
            for targets in instruction.observers.values():
                yield from targets
