"""What the engine finds out about one program: operations, memory objects, sites, and what would be out of order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.models.api import Api, field_of, played_by
from cudafix.ordering.interpreter.state import Bits, Stream


class Key(NamedTuple):
    """A statement or call, by file and byte offset: the same one in every configuration, context and round."""

    path: str
    start: int


def key_of(stmt: ir.Stmt) -> Key:
    return Key(stmt.span.path, stmt.span.start)


_WITH_STREAM = {"cudaMallocAsync": 3, "cudaFreeAsync": 2}


def lacks_stream(call: ir.Call) -> bool:
    """Whether a call has no stream although its function has no default for it: it does not compile."""
    return len(call.args) < _WITH_STREAM.get(call.callee, 0)


def stream_arguments(api: Api, given: Sequence[ir.Expr]) -> Iterator[ir.Expr]:
    """What a call names as its stream: an argument, or a field of one."""
    for role, expr in played_by(api, given):
        if role == "stream":
            yield expr
        elif role == "streams":
            match expr:
                case ir.Addr(ir.Var() as one):
                    yield one
                case _:  # whichever of them
                    yield ir.Index(expr, ir.Opaque(()))
        elif found := field_of(role, "stream"):
            field, by_address = found
            yield ir.Field(ir.Deref(expr) if by_address else expr, field)


@dataclass(slots=True)
class Overlay:
    """The rewritten program as a difference to the original one, on statements.

    `replaced` calls have another form in Q. `before` and `after` are statements that only Q has; `removed` ones only P
    has. If `apart`, any part of it may be written: an order that a moved call makes between other operations, as steps
    on the legacy stream do, is not built on. If it `mends`, the program is looked at for defects of its own.
    """

    replaced: dict[Key, ir.Call] = field(default_factory=dict)
    before: dict[Key, list[ir.Call]] = field(default_factory=dict)
    after: dict[Key, list[ir.Call]] = field(default_factory=dict)
    removed: set[Key] = field(default_factory=set)
    apart: bool = False
    mends: bool = False


OF_A_ROUND = "the device of a round"
"""How the name of a device begins that each round of a loop picks anew."""

Memory: TypeAlias = str  # device, async, managed, pinned, mapped, pitched, array, host, external


@dataclass(slots=True, eq=False)
class Object:
    """A memory object by allocation site, call context and loop family. In Q its memory is `memory_after`. `several`:
    it was allocated again while it was live, so that a free may be of one block and the next one of another.
    """

    number: int
    memory: Memory
    memory_after: Memory
    call: ir.Call | None
    summary: bool
    device: str
    allocated_by: Bits = 0  # the stream-ordered allocations, as operations
    used_by: Bits = 0
    freed_by: Bits = 0
    several: bool = False


@dataclass(slots=True, eq=False)
class Operation:
    """One operation on a device, by statement, call context and loop family."""

    number: int
    stmt: ir.Call | ir.Launch | None
    text: str
    frame: str
    device: str
    streams: frozenset[Stream] = frozenset()
    reads: Bits = 0
    writes: Bits = 0
    prints: bool = False  # or may, or stops the program
    says: bool = False  # prints where it runs: `printf` in its kernel, or a host function
    times: bool = False  # tells the time where it runs
    rewritten_only: bool = False
    assumption: Assumption | None = None
    via: list[Key] = field(default_factory=list)  # the frees at which P waited for it and Q does not


class Wrong(Enum):
    """What can be wrong with Q. The values are the words of the message."""

    __hash__ = object.__hash__  # members are unique

    ORDER = "may still run when"
    HOST_ACCESS = "may still run when the host touches what it works on"
    OUTPUT = "may print after what the program prints"
    CLOCK = "may still run when the program reads a clock"
    EXIT = "may not have run when the program ends"
    FAULT = "may fail without the program noticing"
    LEAVES = "may still run when the caller goes on"
    USE_BEFORE_ALLOCATION = "may run before the allocation"
    USE_AFTER_FREE = "uses memory that is freed already"
    FREE_BEFORE_USE = "may still run when the memory is freed"
    DOUBLE_FREE = "is freed twice"
    FREED_WITHOUT_WAIT = "may still run when `cudaFree` takes stream-ordered memory away without waiting"
    NO_STREAM = "the stream cannot be named here"
    NO_STREAM_ARGUMENT = "needs a stream as its last argument"
    STREAM_DESTROYED = "runs on a stream that is destroyed already"
    DESTROYED_AFTER_RESET = "is destroyed after the device was reset"
    RESET_PENDING = "may still be pending when the device is reset"
    RESET_LEAKS = "is still allocated when the device is reset, which leaks stream-ordered memory"
    UNDER_CAPTURE = "may run while a stream is captured"
    OTHER_DEVICE = "another device may be current when"
    FREE_MEMORY = "the program asks how much memory is free"
    HOST_RACE = "may still run when the host works on the same memory"
    OTHER_MEMORY = "is no memory that `cudaFreeAsync` can give back"
    NOT_UNDERSTOOD = "differs in a way that cannot be proved"


class Point(NamedTuple):
    """A statement and what happens there, in words."""

    span: ir.Span
    text: str
    stmt: ir.Stmt | None


@dataclass(frozen=True, slots=True)
class Violation:
    """`earlier` (an operation, or the object's allocation) `kind` `later`; `via`: the frees that used to order them.

    `every_via` holds those of other ways to `later` too, as of further rounds of a loop.
    """

    kind: Wrong
    earlier: Operation | None
    later: Point
    object: Object | None = None
    via: tuple[Key, ...] = ()
    streams: frozenset[Stream] = frozenset()  # where `later` runs; empty for the host
    certain: bool = True  # whether it is this memory, and on every path to here: then it is a defect
    apart: bool = False  # whether the streams are others for certain, though it is not known which
    every_via: set[Key] = field(default_factory=set, compare=False)

    @property
    def is_assumed(self) -> bool:
        """Whether unseen code would have to have left `earlier` running: a proof without it names an assumption."""
        return self.earlier is not None and self.earlier.assumption is not None

    @property
    def is_freed_somewhere(self) -> bool:
        """Whether some statement frees the block."""
        return not self.certain or (self.object is not None and bool(self.object.freed_by))

    @property
    def words(self) -> str:
        """The counterexample as a clause: what may happen when."""
        earlier = self.earlier.text if self.earlier is not None else "the program"
        match self.kind:
            case Wrong.USE_BEFORE_ALLOCATION:
                return f"{self.later.text} may run before {earlier}"
            case Wrong.ORDER:
                return f"{earlier} {self.kind.value} {self.later.text}"
            case Wrong.OTHER_DEVICE:
                return f"{self.kind.value} {self.later.text}"
            case Wrong.FREE_MEMORY:
                return f"{self.later.text} asks how much memory is free, and the pool keeps some"
            case Wrong.USE_AFTER_FREE if not self.certain:
                return f"{earlier} may use memory that is freed by then"
            case Wrong.DOUBLE_FREE:
                return "the memory is freed twice" if self.certain else "the memory may be freed twice"
            case Wrong.RESET_LEAKS if self.is_freed_somewhere:
                return f"{earlier} may still be allocated when the device is reset, which leaks stream-ordered memory"
            case Wrong.NOT_UNDERSTOOD:
                return f"{self.later.text}, which cannot be proved"
            case _:
                return f"{earlier} {self.kind.value}"


class StreamName(NamedTuple):
    """How a statement can name a stream."""

    expr: ir.Expr
    text: str


@dataclass(slots=True, eq=False)
class Site:
    """An allocation or free call, over all contexts in which it runs."""

    call: ir.Call
    function: str
    objects: set[int] = field(default_factory=set)
    names: dict[StreamName, set[Stream]] | None = None  # what can be named here in every context, and what it is then
    in_loop: bool = False
    contexts: set[str] = field(default_factory=set)
    frees_other: set[str] = field(default_factory=set)  # other kinds of memory that may be freed here
    order: int = 0
    others: dict[Key, tuple[ir.Call, str]] = field(default_factory=dict)  # where memory of other kinds is allocated
    gone: set[Stream] = field(default_factory=set)  # what may be destroyed when it runs

    def can_name(self, streams: Mapping[StreamName, Stream]) -> None:
        if self.names is None:
            self.names = {name: {stream} for name, stream in streams.items()}
        else:
            self.names = {n: s | {streams[n]} for n, s in self.names.items() if n in streams}

    def name_of(self, streams: Iterable[Stream]) -> StreamName | None:
        """How all of `streams` (one for each context) are named here."""
        wanted = set(streams)
        for name, found in (self.names or {}).items():
            if wanted and wanted <= found:
                return name
        return None


class Obstacle(NamedTuple):
    """Why a memory object cannot be migrated, whatever the streams: the name of a refusal and where."""

    name: str
    text: str
    span: ir.Span


@dataclass(slots=True)
class Outcome:
    """What one run of the engine over one program (in one configuration) found."""

    objects: list[Object]
    operations: list[Operation]
    allocations: dict[Key, Site]
    frees: dict[Key, Site]
    of_the_pool: dict[Key, Site]  # the allocations that are stream-ordered already
    violations: list[Violation]
    obstacles: dict[int, dict[tuple[str, ir.Span], Obstacle]]  # by object, each reason once at a place
    first_use: dict[int, list[Stream]]  # streams that use an object, in order of their first use
    destroys: dict[Stream, list[ir.Call]] = field(default_factory=dict)
    resets: dict[Key, ir.Call] = field(default_factory=dict)
    peers: list[ir.Span] = field(default_factory=list)
    assumption: Assumption | None = None  # what every proof from this root rests on
    unseen: frozenset[str] = frozenset()  # the packages of Python that are imported and not in the tree
    blocking: bool = False  # a stream that waits for the legacy stream is created
    uncalm: set[ir.Span] = field(default_factory=set)  # functions in which something was lost for the host
    stored_late: ir.Unknown | None = None  # what runs at any time, and stores in what others hold
    default_stream: bool = False  # something runs on the default stream, or waits for it
    steps: int = 0  # statements run for it, rounds of loops and other ways counted
