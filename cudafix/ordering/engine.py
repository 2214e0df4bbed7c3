"""The interpreter: runs a program's IR over the lockstep state of P and Q, from its roots, and collects what is wrong.

Structured control flow needs no graph: branches join, loops run to a fixpoint, `break`, `continue`, `return` and
forward `goto` carry their states to where they arrive. Calls are inlined, within a budget. What a library call means
comes from the tables (`cudafix.models`), through `cudafix.ordering.effects`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from cudafix import ir
from cudafix.ir import blocks_of, walk
from cudafix.link import SOURCES, Program, last
from cudafix.models import Tables
from cudafix.ordering import memory as mem
from cudafix.ordering import ranges
from cudafix.ordering.memory import Cell, Environment, Root, Values
from cudafix.ordering.program import (
    Key,
    Object,
    Obstacle,
    Operation,
    Outcome,
    Overlay,
    Point,
    Site,
    StreamName,
    Violation,
    Wrong,
    key_of,
)
from cudafix.ordering.slicing import NULLS, Slice, Slicer
from cudafix.ordering.state import (
    HOST,
    LEGACY,
    PER_THREAD,
    Bits,
    Event,
    In,
    Observer,
    Orders,
    Stream,
    StreamKind,
)

MAX_DEPTH = 40  # inlined calls
MAX_NESTING = 200  # blocks in blocks, through calls
MAX_STEPS = 40_000  # statements run for one program, rounds of loops counted
CELLS_OF_A_STEP = 64  # a statement that stores where it is not known where counts for each so many cells it may mean
MAX_COARSE_STEPS = 5_000  # the same once the program has turned out to be too large, and much of it is one step each

UNKNOWN_STREAM = Stream("a stream that is not known", StreamKind.UNKNOWN, summary=True)


# Types whose destructor frees what they are given.
_OWNER = re.compile(r"(?:unique|shared|scoped|auto)_?ptr", re.IGNORECASE)


_SPELLED = re.compile(r"[A-Za-z_][\w:@]*")  # what the program itself calls a variable


_PRIVATE = re.compile(r"^m_|_$")
_STREAMS = {"cudaStreamPerThread": PER_THREAD, "cudaStreamLegacy": LEGACY}
_KEY = re.compile(r'c\|"[^"\\\n@:{}]*"')  # of a dictionary, a plain text
_DEPTH = 4
"""How far streams of a Python program are looked for: `self.lanes[i].stream.ptr`."""
_LAMBDA = "::<lambda@"
_OUT_OF_SIGHT: Root = ("memory", mem.EXTERNAL, "")


FOR_THE_DEVICE = frozenset(("device", "async", "pitched", "array"))  # memory that only the device can touch


class Followed(Enum):
    """Which functions that work on the host alone (`cudafix.ordering.alone`) are followed; others are one step each.
    The next is tried where a program is too large for the one before; the last only if the first has lost something.
    """

    SHORT = "short ones"
    NONE = "none"
    ALL = "all"


class OutOfBudget(Exception):
    """The program is too large for the proof; nothing in it is rewritten."""


def numbers(bits: Bits) -> Iterator[int]:
    """The positions of the bits that are set."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


@dataclass(slots=True)
class State:
    """Where the program may be: orders, memory, and what the host has done. Joined where paths meet."""

    orders: Orders
    env: Environment
    device: str = "0"
    live: Bits = 0  # objects that may be allocated
    freed: Bits = 0  # objects that may be freed
    destroyed: frozenset[Stream] = frozenset()
    since_reset: frozenset[Stream | Event] | None = None  # what was made since the device was reset; None: it was not
    capturing: bool = False
    captured: Bits = 0  # objects that a graph may hold
    unreported: Bits = 0  # operations whose error P would have reported by now
    allocated: bool = False  # Q has allocated from the pool
    freed_early: Bits = 0  # objects that Q may have freed and P has not
    threads: bool = False  # other host threads may run: what the host learns, they may be told
    unwaited: Bits = 0  # work on memory that the host sees too, for which it has certainly not waited
    issued: Bits = 0  # work that may have been issued, where the program is looked at for defects
    apart: Bits = 0  # work on non-blocking streams for which certainly nobody has waited
    brought: frozenset[Event] = frozenset()  # events that Q alone creates, and that may not be destroyed yet
    # Loops over a family: what a round has waited for, of the operations of that round's own members.
    round_waits: dict[Observer, Bits] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            self.orders.copy(),
            self.env.copy(),
            self.device,
            self.live,
            self.freed,
            self.destroyed,
            self.since_reset,
            self.capturing,
            self.captured,
            self.unreported,
            self.allocated,
            self.freed_early,
            self.threads,
            self.unwaited,
            self.issued,
            self.apart,
            self.brought,
            dict(self.round_waits),
        )

    def made(self, one: Stream | Event) -> None:
        """A stream or an event is created: a reset of the device before that does not end it."""
        if self.since_reset is not None and not one.summary:
            self.since_reset |= {one}

    def may_wait(self) -> None:
        """From here on it may be that somebody has waited for any work."""
        self.unwaited = self.apart = 0

    @property
    def calm(self) -> bool:
        """Whether the host knows as much in Q as in P, and has nothing to wait for that it may touch."""
        return not self.unreported and not self.orders.lost.get(HOST, 0) and not self.unwaited

    def _flags(self) -> tuple[object, ...]:
        """What is plain data, to tell whether a join has changed it."""
        return (
            self.device,
            self.live,
            self.freed,
            self.destroyed,
            self.since_reset,
            self.capturing,
            self.captured,
            self.unreported,
            self.allocated,
            self.freed_early,
            self.threads,
            self.unwaited,
            self.issued,
            self.apart,
            self.brought,
        )

    def join(self, other: State) -> bool:
        changed = self.orders.join(other.orders)
        changed = self.env.join(other.env) or changed
        before = self._flags()
        if self.device != other.device:
            self.device = "?"
        self.live |= other.live
        self.freed |= other.freed
        self.destroyed |= other.destroyed
        if self.since_reset is None:
            self.since_reset = other.since_reset
        elif other.since_reset is not None:
            self.since_reset &= other.since_reset
        self.capturing |= other.capturing
        self.captured |= other.captured
        self.unreported |= other.unreported
        self.allocated |= other.allocated
        self.freed_early |= other.freed_early
        self.threads |= other.threads
        only = self.issued ^ other.issued  # on the other path there is nothing to wait for
        self.unwaited = self.unwaited & other.unwaited | (self.unwaited | other.unwaited) & only
        self.apart = self.apart & other.apart | (self.apart | other.apart) & only
        self.issued |= other.issued
        self.brought |= other.brought
        self.round_waits = {x: b & other.round_waits[x] for x, b in self.round_waits.items() if x in other.round_waits}
        return changed or before != self._flags()


def joined(a: State | None, b: State | None) -> State | None:
    """The union of two paths; either may be None (not reached). May reuse `a`."""
    if a is None:
        return b
    if b is not None:
        a.join(b)
    return a


@dataclass(slots=True)
class Catching:
    """A `try` whose body runs: in which call (by its depth), how much of `Engine.unwinding` is around it, and what has
    reached its handlers.
    """

    depth: int
    around: int
    thrown: State | None = None


@dataclass(slots=True)
class Unwinding:
    """The objects of a block that an exception destroys: in which call (by its depth), in which loops, and how. What
    was thrown so far waits here, and is destroyed for at once.
    """

    depth: int
    loops: int
    family: tuple[str, ...]
    destructors: ir.Block
    thrown: State | None = None


class Meaning(NamedTuple):
    """What a name means in a function: a place, whether it is a C array, and the global variable that it is."""

    root: Root
    is_array: bool
    variable: ir.GlobalVar | None


class Frame:
    """One inlined call of a function."""

    __slots__ = (
        "arrays",
        "breaks",
        "caller",
        "continues",
        "depth",
        "function",
        "given",
        "home",
        "inside",
        "labels",
        "loops",
        "meanings",
        "name",
        "returned",
        "slice",
        "value",
    )

    def __init__(
        self,
        name: str,
        function: ir.Function,
        arrays: frozenset[str],
        part: Slice,
        depth: int,
        home: Frame | None,
    ) -> None:
        self.name = name
        self.function = function
        self.arrays = arrays
        self.slice = part
        self.returned: State | None = None
        self.value: Values = mem.NOTHING
        self.inside: dict[mem.Path, Values] = {}  # what the parts of a returned struct hold
        self.labels: dict[str, State | None] = {}
        self.breaks: list[State | None] = []
        self.continues: list[State | None] = []
        self.depth = depth
        self.home = home  # of a lambda: the call of the function around it, whose variables it shares
        self.meanings: dict[str, Meaning] = {}  # what names mean, as far as somebody has asked
        self.caller: Frame | None = None
        self.given: Sequence[ir.Expr] = ()  # the arguments, as the caller says them
        self.loops = 0  # around the call

    @property
    def is_lambda(self) -> bool:
        return _LAMBDA in self.function.name

    def shares(self, name: str) -> bool:
        """Whether a name means a variable of the function around a lambda."""
        return name in self.function.captures or (name == "this" and self.is_lambda)


def _owns(kind: str) -> bool:
    """Whether an object of a type frees the pointers that it is given: a smart pointer, or anything made of them that
    does not hold plain pointers too, as a map from one to the other does.
    """
    head, _, inside = kind.partition("<")
    return _OWNER.search(kind) is not None and (_OWNER.search(head) is not None or not _PLAIN_POINTER.search(inside))


_PLAIN_POINTER = re.compile(r",\s*[\w:\s]+\*\s*>\s*$")  # the last template argument


def _internal(program: Program) -> dict[tuple[str, str], ir.GlobalVar]:
    """The variables that only their file sees, by name and file."""
    return {(v.name.removeprefix("::"), m.path): v for m in program.modules for v in m.globals if v.internal}


def _included(program: Program) -> dict[str, set[str]]:
    """The files of a program that each of its files includes, through others too."""
    by_name = {m.path.rpartition("/")[2]: m for m in program.modules}
    found: dict[str, set[str]] = {}
    for module in program.modules:
        seen, queue = {module.path}, [module]
        while queue:
            targets = (target.strip('<>"').rpartition("/")[2] for target in queue.pop().includes)
            queue += [h for name in targets if (h := by_name.get(name)) is not None and h.path not in seen]
            seen.update(h.path for h in queue)
        found[module.path] = seen - {module.path}
    return found


def _copies(program: Program) -> dict[str, frozenset[str]]:
    """The `static` variables of headers that several sources include: each of these sources has its own. By name."""
    included = program.kept("included", lambda: _included(program))
    sources = [m.path for m in program.modules if m.path.endswith(SOURCES)]
    inner = set().union(*(included[path] for path in sources))
    found: dict[str, frozenset[str]] = {}
    for module in program.modules:
        units = frozenset(p for p in sources if p not in inner and module.path in included[p])
        if len(units) > 1:
            for variable in module.globals:
                if variable.internal and variable.space == "host":
                    name = variable.name.removeprefix("::")
                    found[name] = found.get(name, frozenset()) | units
    return found


def _visible_globals(program: Program) -> dict[str, set[str]]:
    """The variables at namespace scope that each file declares, or a header that it includes."""
    included = program.kept("included", lambda: _included(program))
    own = {m.path: {v.name.removeprefix("::") for v in m.globals} for m in program.modules}
    return {path: own[path].union(*(own[header] for header in headers)) for path, headers in included.items()}


def expressions_in(function: ir.Function) -> Iterator[ir.Expr]:
    """What the calls and launches of a function are given, and everything inside it."""
    for stmt in walk(function.body):
        exprs: tuple[ir.Expr | None, ...] = ()
        if isinstance(stmt, ir.Call):
            exprs = (*stmt.args, stmt.receiver)
        elif isinstance(stmt, ir.Launch):
            exprs = (*stmt.args, stmt.stream)
        for expr in exprs:
            if expr is not None:
                yield from variables(expr)


def _named_members(program: Program) -> set[str]:
    """The members that functions outside of classes name."""
    found: set[str] = set()
    for function in program.functions():
        if function.cls is None:
            found.update(e.name for e in expressions_in(function) if isinstance(e, ir.Field))
    return found


def declared_arrays(block: ir.Block) -> Iterator[str]:
    """The names of the C arrays that a block declares."""
    for stmt in walk(block):
        if isinstance(stmt, ir.Declare) and stmt.array:
            yield stmt.var.name


def variables(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The expression and everything inside it."""
    yield expr
    match expr:
        case ir.Field() | ir.Deref() | ir.Addr() | ir.Offset():
            yield from variables(expr.base)
        case ir.Index():
            yield from variables(expr.base)
            yield from variables(expr.index)
        case ir.Choice():
            for option in expr.options:
                yield from variables(option)
        case ir.Opaque():
            for part in expr.parts:
                yield from variables(part)
        case _:
            pass


@lru_cache(maxsize=1 << 12)
def constant(text: str) -> Values:
    """What a constant is."""
    if text in NULLS:
        return frozenset({mem.ZERO})
    if text in _STREAMS:
        return frozenset({mem.StreamValue(_STREAMS[text])})
    return frozenset({mem.Number(text)})


def indexes_device_state(loop: ir.Loop) -> bool:
    """Whether the loop's index picks buffers, streams or events out of arrays."""
    for stmt in walk(loop.body):
        exprs: tuple[ir.Expr, ...] = ()
        if isinstance(stmt, ir.Call):
            exprs = stmt.args if stmt.receiver is None else (*stmt.args, stmt.receiver)
        elif isinstance(stmt, ir.Launch):
            exprs = (*stmt.args, stmt.stream) if stmt.stream is not None else stmt.args
        elif isinstance(stmt, ir.Assign):
            exprs = (stmt.target, stmt.value)
        for expr in exprs:
            if any(isinstance(e, ir.Index) and loop.index in set(variables(e.index)) for e in variables(expr)):
                return True
    return False


class Machine:
    """What statements and effects share: the memory objects, the operations, and what is wrong so far."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        self.program = program
        self.tables = tables
        self.slicer = Slicer.of(program, tables)
        self.overlay = overlay
        self.default_stream = PER_THREAD if per_thread else LEGACY
        external = Object(0, "external", "external", None, True, "?")
        self.outcome = Outcome([external], [], {}, {}, [], {}, {})
        self.async_objects: Bits = 0
        self.host_visible: Bits = 0  # memory that both the host and the device can touch
        self.lints = overlay.mends or not (overlay.replaced or overlay.removed)  # look for the program's own defects
        self.straight = False  # where a jump arrives, only what comes from above counts
        self.arrivals = False  # there is such a place, and both come there
        self.escaped: Bits = 0
        self.rewritten_only: Bits = 0
        self.frame: Frame
        self.frames: list[Frame] = []
        self.catching: list[Catching] = []  # each `try` around here
        self.family: tuple[str, ...] = ()  # the loop indices that are fixed here
        self.ranges: dict[str, None] = {}  # of the family loops that may have no round at all
        self.empty: frozenset[str] = frozenset()  # those that have none in this run
        self.followed = Followed.SHORT
        self.mixed_up = False  # what was not followed may have stored more than it would have
        self.any_order = False  # unseen code calls the functions, in orders of which some make no sense
        self.others = 0  # inside how many rounds that are not the generic one
        self.loops = 0
        self.works_elsewhere = False  # a host thread was started that may work on the device
        self.steps = 0
        self.nesting = 0  # how many blocks are around here
        self.several: dict[str, StreamKind] = {}  # streams of one name that are alive together, and their kind
        self.exposed: set[Root] = set()  # the variables whose address somebody holds
        self.anchors: dict[str, list[int]] = defaultdict(list)  # where the overlay says something, by file, sorted
        for key in (*overlay.replaced, *overlay.before, *overlay.after, *overlay.removed):
            insort(self.anchors[key.path], key.start)
        self._objects: dict[object, Object] = {}
        self._operations: dict[object, Operation] = {}
        self._seen: dict[object, Violation] = {}
        self._devices: set[str] = {"0"}
        self._internal = program.kept("internal", lambda: _internal(program))
        self._copies = program.kept("copies", lambda: _copies(program))

    # -- expressions -----------------------------------------------------------------------------------------------

    def meaning(self, name: str) -> Meaning:
        """What a name means in the current function."""
        known = self.frame.meanings
        if name not in known:
            root = self._root(name)
            variable, holder = self.global_at(root), self.holder(name)
            if variable is not None and variable.space != "host":  # what kernels reach through its address
                root = ("memory", self.symbol(variable).number, "")
            local = holder is not None and name in holder.arrays
            known[name] = Meaning(root, local or (variable is not None and variable.array), variable)
        return known[name]

    def root(self, name: str) -> Root:
        """The place that a name means in the current function."""
        return self.meaning(name).root

    def _root(self, name: str) -> Root:
        if name.startswith("::"):
            return self._global(name[2:])
        if "::" in name and not name.startswith("%"):
            return self._global(name)
        if name in self.program.globals and name not in self.frame.function.types:
            return self._global(name)  # declared in a header, which the front end does not see
        frame = self.holder(name)
        return ("local", frame.name, name) if frame is not None else _OUT_OF_SIGHT

    def _global(self, name: str) -> Root:
        """A `static` variable, or one of an anonymous namespace, is another one in each source that has the name."""
        path = self.frame.function.span.path
        own = (name, path) in self._internal
        if name in self._copies and not (own and path.endswith(SOURCES)):
            units = self._copies[name]
            unit = next((p for f in reversed(self.frames) if (p := f.function.span.path) in units), None)
            if unit is not None:
                return "global", unit, name
        return "global", path if own else "", name

    def global_at(self, root: Root) -> ir.GlobalVar | None:
        if root[0] != "global":
            return None
        return self._internal.get((root[2], str(root[1]))) or self.program.globals.get(root[2])

    def holder(self, name: str) -> Frame | None:
        """The call whose variable a local name means; None where the call that made a lambda is over."""
        frame: Frame | None = self.frame
        while frame is not None and frame.shares(name):
            frame = frame.home
        return frame

    def key(self, state: State, index: ir.Expr) -> str:
        """The key of an array element: a constant, a loop index, or any."""
        values = self.values(state, index)
        if len(values) == 1:
            (value,) = values
            if isinstance(value, mem.Number):
                return value.text if value.text.isdigit() or "|" in value.text else f"c|{value.text}"
        return mem.ANY

    def cells(self, state: State, place: ir.Expr) -> list[Cell]:
        """The cells that an lvalue may name."""
        match place:
            case ir.Var(name):
                return [(self.root(name), ())]
            case ir.Field(base, name):
                return [(root, (*path, ("field", name))) for root, path in self.cells(state, base)]
            case ir.Deref(base):
                found = [mem.at(v, "0") for v in self.values(state, base)]
                return [c for c in found if c is not None]
            case ir.Index(base, index):
                key = self.key(state, index)
                found = [mem.at(v, key) for v in self.values(state, base)]
                pointed = [c for c in found if c is not None]
                return pointed or [(root, (*path, ("at", key))) for root, path in self.cells(state, base)]
            case ir.Choice(options):
                return [c for option in options for c in self.cells(state, option)]
            case ir.Offset(base):
                return self.cells(state, ir.Deref(place))
            case _:
                return []

    def values(self, state: State, expr: ir.Expr) -> Values:
        """What an expression may evaluate to."""
        match expr:
            case ir.Var(name):
                root, is_array, variable = self.meaning(name)
                if variable is not None and variable.space != "host":  # a symbol, or what it holds
                    held = mem.leading(state.env.read((root, ()))) if variable.space == "managed" else mem.NOTHING
                    return held | {mem.Ptr(self.symbol(variable).number)}
                if is_array:
                    return frozenset({mem.Ref((root, (mem.FIRST,)))})
                held = state.env.read((root, ()))
                if not held and variable is None and root[0] == "global":
                    if self.program.resolve(root[2], 0, self.frame.function.span.path):
                        return frozenset(
                            {mem.Function(root[2], self.frame.function.span.path)}
                        )  # a function of another file
                return held
            case ir.Field() | ir.Index() | ir.Deref():
                found: Values = mem.NOTHING
                for cell in self.cells(state, expr):
                    held = state.env.read(cell)
                    if any(isinstance(v, mem.StreamValue) for v in held) and self._may_be_null(state, cell):
                        held |= {mem.ZERO}
                    found |= held
                return found
            case ir.Addr(ir.FuncRef(name)):
                return frozenset({mem.Function(name, self.frame.function.span.path)})
            case ir.Addr(base):
                if isinstance(base, ir.Var) and self.meaning(base.name).is_array:
                    return frozenset({mem.reference((self.root(base.name), (mem.FIRST,)))})
                return frozenset(self.reference(c) for c in self.cells(state, base))
            case ir.Offset(base):
                return frozenset(m for v in self.values(state, base) if (m := mem.moved(v)) is not None)
            case ir.Const(text):
                return constant(text)
            case ir.Choice(options):
                return mem.NOTHING.union(*(self.values(state, option) for option in options))
            case ir.Opaque(parts):
                inside = [v for part in parts for v in self._made_of(state, part)]
                kept = (v if isinstance(v, mem.Function | mem.Handle) else mem.moved(v) for v in inside)
                return frozenset({mem.OTHER, *(v for v in kept if v is not None)})
            case ir.FuncRef(name):
                return frozenset({mem.Function(name, self.frame.function.span.path)})

    def _made_of(self, state: State, part: ir.Expr) -> Values:
        """What a computed value may have of one that it is made of: of a temporary object, all that it holds."""
        temporary = isinstance(part, ir.Var) and part.name.startswith("%")
        return self.whole(state, part) if temporary else self.values(state, part)

    @property
    def in_python(self) -> bool:
        return self.frame.function.span.path.endswith(ir.PYTHON)

    def _may_be_null(self, state: State, cell: Cell) -> bool:
        """Whether an element of an array of streams may be one that nobody has set, and null: the default stream. So
        it is for what has static storage, for the elements of a `std::vector(n)`, for `calloc` and `new T[n]()`.
        (Elements of a local array are indeterminate until they are set: no program reads them.)
        """
        root, path = cell
        indices = [key for kind, key in path if kind == "at"]
        if not indices or self.in_python:
            return False
        if root[0] == "local" and path[0][0] == "at":
            holder = next((f for f in reversed(self.frames) if f.name == root[1]), self.frame)
            if "vector" not in holder.function.types.get(root[2], ""):
                return False
        inside = state.env[root]
        return path not in inside and not any(mem.covers(other, path) for other in inside)

    def _gone_from_around(self, state: State, name: str, frame: str) -> None:
        """A lambda runs when a variable that it has kept is out of scope: what that led to is not known."""
        home = next((f for f in self.frames if f.name == frame), None)
        kind = home.function.types.get(name, "") if home is not None else ""
        if "*" in kind or "cuda" in kind:
            text = f"is live where `{name.split('@')[0]}` is used, which is out of scope"
            self.obstacle(state.live, "escapes", text, self.frame.function.span)

    def reference(self, cell: Cell) -> mem.Value:
        """The address of a cell, for somebody to keep."""
        if cell[1] == () and cell[0][0] == "local":
            self.exposed.add(cell[0])
        return mem.reference(cell)

    def streams(self, state: State, expr: ir.Expr | None) -> frozenset[Stream]:
        """The streams that a stream argument may be."""
        if expr is None:
            return frozenset({self.default_stream})
        found = set()
        for value in self.values(state, expr):
            if isinstance(value, mem.StreamValue):
                found.add(value.stream)
            elif value == mem.ZERO:
                found.add(self.default_stream)
            elif value is not mem.UNSET:  # no program uses it
                found.add(UNKNOWN_STREAM)
        if not found and self.empty:  # never made, because no round was run: no program gets here
            return frozenset({self.default_stream})
        return frozenset(found) or frozenset({UNKNOWN_STREAM})

    # -- memory objects --------------------------------------------------------------------------------------------

    def context(self, stmt: object) -> tuple[object, ...]:
        return (stmt, self.frame.name, self.family)

    def new_object(self, identity: object, memory: str, after: str, call: ir.Call | None, state: State) -> Object:
        """The memory object of an allocation, the same one whenever the same call runs in the same context."""
        found = self._objects.get(identity)
        if found is None:
            summary = any(f.startswith("o|") for f in self.family)
            found = Object(len(self.outcome.objects), memory, after, call, summary, state.device)
            self._objects[identity] = found
            self.outcome.objects.append(found)
            if after == "async":
                self.async_objects |= 1 << found.number
            elif after in ("pinned", "mapped", "managed") and not summary:
                self.host_visible |= 1 << found.number
        elif found.device != state.device:
            found.device = "?"
        return found

    def symbol(self, variable: ir.GlobalVar) -> Object:
        """The memory of a `__device__`, `__constant__` or `__managed__` variable."""
        space = "managed" if variable.space == "managed" else "device"
        found = self._objects.get(variable.name)
        if found is None:
            found = Object(len(self.outcome.objects), space, space, None, False, "?")
            self._objects[variable.name] = found
            self.outcome.objects.append(found)
        return found

    def variable(self, root: Root) -> Object:
        """The host memory of a variable."""
        found = self._objects.get(root)
        if found is None:
            found = Object(len(self.outcome.objects), "host", "host", None, False, "?")
            self._objects[root] = found
            self.outcome.objects.append(found)
        return found

    def mask(self, values: Iterable[mem.Value]) -> Bits:
        """The objects that pointers lead to."""
        bits = 0
        for value in values:
            if isinstance(value, mem.Ptr):
                bits |= 1 << value.object
            elif isinstance(value, mem.Ref):
                root = value.cell[0]
                bits |= 1 << (int(root[1]) if root[0] == "memory" else self.variable(root).number)
        return bits

    def reachable(self, state: State, values: Values) -> Values:
        """Everything that can be reached from pointers, handles and structs of them."""
        found, fresh = set(values), set(values)
        while fresh:
            held: set[mem.Value] = set()
            for value in fresh:
                if isinstance(value, mem.Ptr | mem.Ref):
                    held.update(*state.env.content(value))
                elif isinstance(value, mem.Handle):
                    held.update(*state.env[("global", "", value.name)].values())
                elif isinstance(value, mem.Function):
                    held.update(self._shared_with(state, value))
            fresh = held - found
            found |= fresh
        return frozenset(found)

    def _shared_with(self, state: State, function: mem.Function) -> Iterator[mem.Value]:
        """What a lambda reaches through the variables that it shares."""
        around = function.name.rpartition(_LAMBDA)[0]
        home = next((f for f in reversed(self.frames) if f.function.name == around), None) if around else None
        if home is None:
            return
        for made in self.program.resolve(function.name, 0, function.path):
            names = {e.name for e in expressions_in(made) if isinstance(e, ir.Var)} & (made.captures | {"this"})
            for root in (("local", home.name, name) for name in names):
                yield mem.Ref((root, ()))
                for values in state.env[root].values():
                    yield from values

    def parts(self, state: State, expr: ir.Expr) -> dict[mem.Path, Values]:
        """What the parts of a struct hold that an expression names."""
        if not isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            return {}
        found = state.env.parts(self.cells(state, expr))
        found.pop((), None)
        return found

    def whole(self, state: State, expr: ir.Expr) -> Values:
        """What an argument hands over: its value, or all that a struct passed by value holds."""
        return self.values(state, expr).union(*self.parts(state, expr).values())

    def anywhere(self, state: State, values: Values) -> Bits:
        """The memory that a pointer may lead to of which nothing is known: all that is live. Somebody has stored it in
        a way that was not understood; no program gives the device a pointer that was never set. (A client that calls
        functions in any order does, and what is made in a loop is not made where that has no round.)
        """
        if not self.is_unset(values):
            return 0
        return sum(1 << n for n in numbers(state.live) if self.outcome.objects[n].memory != "host")

    def type_of(self, expr: ir.Expr) -> str:
        raise NotImplementedError

    def is_unset(self, values: Values) -> bool:
        """Whether nothing is known of where a pointer leads, though it must have been set."""
        known = any(not isinstance(v, mem.Other | mem.Number) or v == mem.ZERO for v in values)
        return not (known or self.any_order or self.empty)

    def place(self, state: State, expr: ir.Expr | None) -> Cell | None:
        """The one cell that an expression is for certain, None if that is not known."""
        cells = self.cells(state, expr) if isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref) else []
        return cells[0] if len(cells) == 1 and not mem.is_summary(cells[0][1]) else None

    def is_gone(self, state: State, expr: ir.Expr | None) -> bool:
        """Whether what an expression holds was given back for certain, and was not set since."""
        while isinstance(expr, ir.Offset):
            expr = expr.base
        return bool(state.env.gone) and self.place(state, expr) in state.env.gone

    def device_memory(self, state: State, expr: ir.Expr) -> Bits:
        """The memory of the device, which the host cannot touch, that an argument may lead to: a pointer, or a struct
        of them.
        """
        values = self.values(state, expr)
        if isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            for cell in self.cells(state, expr):
                for path, inner in state.env.under(cell):
                    if path and all(kind == "field" for kind, _ in path):
                        values |= inner
        return self.device_objects(values) & state.live

    def device_objects(self, values: Values) -> Bits:
        """The memory of the device, which the host cannot touch, that pointers lead to."""
        bits = 0
        for value in values:
            if isinstance(value, mem.Ptr) and self.outcome.objects[value.object].memory in FOR_THE_DEVICE:
                bits |= 1 << value.object
        return bits

    def obstacle(self, bits: Bits, name: str, text: str, span: ir.Span) -> None:
        """The objects in `bits` cannot be migrated."""
        for number in numbers(bits & ~1):
            self.outcome.obstacles.setdefault(number, {}).setdefault((name, span), Obstacle(name, text, span))

    # -- what is wrong ---------------------------------------------------------------------------------------------

    def wrong(
        self,
        kind: Wrong,
        earlier: Operation | None,
        later: Point,
        about: Object | None = None,
        *,
        via: tuple[Key, ...] = (),
        streams: frozenset[Stream] = frozenset(),
        certain: bool = True,
        apart: bool = False,
    ) -> None:
        """Note a `Violation`, each once."""
        if self.others:  # the generic round stands for the others
            return
        key = (kind, earlier and earlier.number, later.span, about and about.number, streams)
        if key not in self._seen:
            self._seen[key] = Violation(kind, earlier, later, about, via, streams, certain, apart)
            self.outcome.violations.append(self._seen[key])
        elif certain and not self._seen[key].certain:
            known = self._seen[key]
            self._seen[key] = replace(known, certain=True)
            self.outcome.violations[self.outcome.violations.index(known)] = self._seen[key]
        self._seen[key].every_via.update(via)

    def operation(self, identity: object, stmt: ir.Call | ir.Launch | None, text: str, state: State) -> Operation:
        key = (identity, *self.context(stmt))
        found = self._operations.get(key)
        if found is None:
            found = Operation(len(self.outcome.operations), stmt, text, self.frame.name, state.device)
            self._operations[key] = found
            self.outcome.operations.append(found)
        return found

    def conflicts(self, lost: Bits, reads: Bits, writes: Bits) -> Iterator[Operation]:
        """The lost operations that touch the same memory, one of the two writing."""
        for number in numbers(lost):
            other = self.outcome.operations[number]
            if self.wide(writes) & self.wide(other.reads | other.writes) or self.wide(reads) & self.wide(other.writes):
                yield other

    def wide(self, bits: Bits) -> Bits:
        """External memory may be anything that has escaped, and the other way round."""
        if bits & 1:
            bits |= self.escaped
        return bits | 1 if bits & self.escaped else bits

    def host_observes(
        self, state: State, kind: Wrong, point: Point, *, reads: Bits = 0, writes: Bits = 0, everything: bool = False
    ) -> None:
        """The host looks at memory, or at everything: no operation that matters may be pending in Q and not in P."""
        lost = state.orders.lost.get(HOST, 0)
        if lost and not self.others:
            if everything:
                found: Iterable[Operation] = [self.outcome.operations[n] for n in numbers(lost)]
            elif kind in (Wrong.OUTPUT, Wrong.EXIT):
                found = [o for n in numbers(lost) if (o := self.outcome.operations[n]).prints]
            else:
                found = self.conflicts(lost, reads, writes)
            for op in found:
                self.wrong(kind, op, point, via=tuple(op.via))

    def faults_are_reported(self, state: State, point: Point) -> None:
        """What the user sees now must not be there if an operation has failed: P would have stopped before."""
        for number in numbers(state.unreported if not self.others else 0):
            op = self.outcome.operations[number]
            self.wrong(Wrong.FAULT, op, point, via=tuple(op.via))

    def looks(self, state: State) -> None:
        """The program looks at a status: it learns of the errors of all operations that have finished.

        Reporting an error one checked call later is not a loss, never reporting it is (docs/FACTS.md).
        """
        orders = state.orders
        state.unreported = (state.unreported & orders.pending[HOST]) | orders.lost.get(HOST, 0)

    def same_device(self, state: State) -> Bits:
        """The operations that a device-wide wait covers here."""
        if self._devices == {state.device}:
            return -1
        bits = 0
        if state.device != "?":
            for op in self.outcome.operations:
                if op.device == state.device:
                    bits |= 1 << op.number
        return bits


_THROWS_NOTHING = (ir.Launch, ir.Return, ir.Break, ir.Continue, ir.Goto, ir.Label)


def destructor_of(stmt: ir.Stmt) -> ir.Expr | None:
    """The object, or the array of them, that a destructor at the end of a scope ends; None for any other statement."""
    if isinstance(stmt, ir.Loop) and len(stmt.body) == 1 and stmt.index is not None:
        found = destructor_of(stmt.body[0])
        return found.base if isinstance(found, ir.Index) else None
    if isinstance(stmt, ir.Call) and last(stmt.callee).startswith("~") and not stmt.args:
        return stmt.receiver
    return None


def _makes(stmt: ir.Stmt, var: ir.Var) -> bool:
    """Whether a statement is a part of the initialization of an object: a constructor, or a member."""
    if isinstance(stmt, ir.Call):
        cls, _, name = stmt.callee.rpartition("::")
        return stmt.result == var or (stmt.receiver == var and last(cls) == name)
    place = stmt.target if isinstance(stmt, ir.Assign) else None
    while isinstance(place, ir.Field | ir.Index):
        place = place.base
    return place == var or isinstance(stmt, ir.HostAccess)


def _made_at(var: ir.Var, block: ir.Block, end: int) -> int | None:
    """The statement that makes an object which a block destroys at `end`; None if none does."""
    made = None
    for at in range(end - 1, -1, -1):
        stmt = block[at]
        if destructor_of(stmt) == var:
            break
        if isinstance(stmt, ir.Declare) and stmt.var == var:
            while at + 1 < end and _makes(block[at + 1], var):
                at += 1
            return at
        if not isinstance(stmt, ir.HostAccess) and _makes(stmt, var):
            made = at
    return made


def _launches(arm: ir.Block) -> object:
    """What an arm of a `switch` launches, if it does nothing else and then leaves; None for any other arm."""
    if not arm or not isinstance(arm[-1], ir.Break) or not all(isinstance(s, ir.Launch | ir.Break) for s in arm):
        return None
    return tuple((s.kernel, s.args, s.stream) for s in arm if isinstance(s, ir.Launch))


class Engine(Machine):
    """Runs statements. `cudafix.ordering.effects.Effects` adds what calls mean."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self.returned_inside: dict[mem.Path, Values] = {}  # of the call that ended last
        self._arrays: dict[int, frozenset[str]] = {}
        self._families: dict[int, bool] = {}
        self.unwinding: list[Unwinding] = []  # each block around here that has such objects
        self._destroyed: dict[int, list[tuple[int, int, ir.Stmt]]] = {}  # see `_objects_of`, by block
        self._run: dict[type, Callable[[ir.Stmt, State], State | None]] = {
            ir.Call: self._call_statement,
            ir.Launch: self._launch_statement,
            ir.Assign: self._assign,
            ir.Declare: self._declare,
            ir.HostAccess: self._host_access,
            ir.If: self._if,
            ir.Loop: self._loop,
            ir.Switch: self._switch,
            ir.Return: self._return,
            ir.Break: self._break,
            ir.Continue: self._continue,
            ir.Goto: self._goto,
            ir.Label: self._label,
            ir.Try: self._try,
            ir.Unknown: self._unknown_statement,
        }

    # -- calls (see effects) -----------------------------------------------------------------------------------------

    def call(self, call: ir.Call, state: State, where: In) -> State | None:
        raise NotImplementedError

    def launch(self, launch: ir.Launch, state: State) -> State | None:
        raise NotImplementedError

    def unknown(self, why: str, args: tuple[ir.Expr, ...], stmt: ir.Call | None, span: ir.Span, state: State) -> Values:
        raise NotImplementedError

    def control(self, why: str, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def through_pointer(self, stmt: ir.Unknown, state: State) -> State | None:
        raise NotImplementedError

    def works_on_device(self, block: ir.Block) -> bool:
        raise NotImplementedError

    def held_by(self, cls: str | None, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def runs_at_the_end(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def owned_by(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    # -- blocks ------------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block, state: State | None) -> State | None:
        if self.nesting >= MAX_NESTING:
            raise OutOfBudget
        self.nesting += 1
        declared: list[Root] = []
        objects: list[ir.Declare] = []
        self._watch(state)
        made = self._objects_of(block) if self.catching else []
        entered: ir.Block = ()
        for number, stmt in enumerate(block):
            if state is None and not isinstance(stmt, ir.Label) and not self._has_label(stmt):
                continue
            if made:
                entered = self._within(entered, tuple(end for at, to, end in made if at < number < to))
            if state is not None and self.passes(stmt, state):
                if self.catching:
                    self.perhaps_throws(stmt, state)
                continue
            self.steps += 1
            if self.steps > (MAX_COARSE_STEPS if self.followed is Followed.NONE else MAX_STEPS):
                raise OutOfBudget
            if isinstance(stmt, ir.Declare):
                declared.append(self.root(stmt.var.name))
                objects.append(stmt)
            if state is None:
                state = self._unreached(stmt)
                continue
            state = self._run_caught(stmt, state) if self.catching else self._step(stmt, state)
            self._watch(state)
        self._within(entered, ())
        if state is not None and declared:
            for stmt in objects:
                self.held_by(stmt.type, self.whole(state, stmt.var), stmt.span, state)
                self.owned_by(stmt.type, self.whole(state, stmt.var), stmt.span, state)
            state.env.forget(declared)
        self.nesting -= 1
        return state

    def _step(self, stmt: ir.Stmt, state: State) -> State | None:
        """Run a statement, with what the rewritten program has around it."""
        overlay = self.overlay
        if not (overlay.before or overlay.after):
            return self._run[type(stmt)](stmt, state)
        key = key_of(stmt)
        for inserted in overlay.before.get(key, ()):
            state = self.call(inserted, state, In.REWRITTEN) or state
        after = self._run[type(stmt)](stmt, state)
        if after is not None:
            for inserted in overlay.after.get(key, ()):
                after = self.call(inserted, after, In.REWRITTEN) or after
        return after

    # -- exceptions --------------------------------------------------------------------------------------------------

    def _run_caught(self, stmt: ir.Stmt, state: State) -> State | None:
        """Run a statement in a `try`."""
        if destructor_of(stmt) is not None:  # lets no exception out (C++ [except.dtor])
            kept, self.catching = self.catching, []
            out = self._step(stmt, state)
            self.catching = kept
            return out
        self.perhaps_throws(stmt, state)
        return self._step(stmt, state)

    def _within(self, before: ir.Block, destructors: ir.Block) -> ir.Block:
        """From here on an exception runs these, and no longer those from before."""
        if destructors != before:
            if before:
                self._destroy(self.unwinding.pop())
            if destructors:
                self.unwinding.append(Unwinding(len(self.frames), self.loops, self.family, destructors))
        return destructors

    def _destroy(self, block: Unwinding) -> None:
        """Let what was thrown in a block pass on to those around it."""
        if block.thrown is None:
            return
        kept = self.loops, self.family, self.catching
        self.loops, self.family, self.catching = block.loops, block.family, []
        out = self.block(block.destructors, block.thrown)
        self.loops, self.family, self.catching = kept
        if out is not None:
            self.unwind(out, len(self.frames) + 1)

    def perhaps_throws(self, stmt: ir.Stmt, state: State) -> None:
        """What is not known may throw. Functions of CUDA do not; what leaves a block has run its destructors before."""
        if isinstance(stmt, _THROWS_NOTHING) or (isinstance(stmt, ir.Declare) and not stmt.type.startswith("std::")):
            return
        if isinstance(stmt, ir.Call) and (stmt.callee == "throw" or last(stmt.callee).startswith("cu")):
            return
        if len(self.unwinding) > self.catching[-1].around:
            self.unwind(state.copy(), len(self.frames) + 1)

    def unwind(self, state: State, above: int) -> None:
        """An exception passes the blocks around here, of calls above this depth, to the handlers of a `try`."""
        around = self.catching[-1]
        passed = (block for block in reversed(self.unwinding[around.around :]) if block.depth < above)
        first = next(passed, around)
        state.env.forget_calls([frame.name for frame in self.frames[first.depth :]])
        first.thrown = joined(first.thrown, state)

    def _objects_of(self, block: ir.Block) -> list[tuple[int, int, ir.Stmt]]:
        """The objects of a block with a destructor: behind which statement each is made, and before which it ends, by
        its destructor.
        """
        found = self._destroyed.get(id(block))
        if found is None:
            found = self._destroyed[id(block)] = []
            params = {param.name for param in self.frame.function.params}
            for end, stmt in enumerate(block):
                var = destructor_of(stmt)
                if isinstance(var, ir.Var):
                    made = _made_at(var, block, end)
                    if made is None and var.name in params:
                        made = -1
                    if made is not None:
                        found.insert(0, (made, end, stmt))
        return found

    def _watch(self, state: State | None) -> None:
        if state is None:
            return
        state.unwaited &= state.orders.pending[HOST]
        state.apart &= state.orders.pending[HOST]
        if not state.calm:
            self.outcome.uncalm.add(self.frame.function.span)

    def passes_over(self, state: State) -> bool:
        """Whether what has no effect but on the host, and what the host sees, need not be run here."""
        return state.calm

    def passes(self, stmt: ir.Stmt, state: State) -> bool:
        """Whether a statement is quiet, and nothing is lost that it could show (see `cudafix.ordering.slicing`)."""
        found = self.frame.slice
        if id(stmt) not in found.quiet or not self.passes_over(state):
            return False
        if id(stmt) in found.writes and any(
            isinstance(value, mem.Number) for root in self.exposed for value in state.env[root].get((), ())
        ):
            return False
        if any(self.device_memory(state, expr) for expr in found.handed.get(id(stmt), ())):
            return False
        return not self.is_rewritten(stmt.span)

    def is_rewritten(self, span: ir.Span) -> bool:
        """Whether the overlay says something of a statement in there."""
        starts = self.anchors.get(span.path, ())
        return bisect_left(starts, span.start) < bisect_left(starts, span.end)

    def _has_label(self, stmt: ir.Stmt) -> bool:
        return bool(self.frame.labels) and any(isinstance(s, ir.Label) for b in blocks_of(stmt) for s in walk(b))

    def _unreached(self, stmt: ir.Stmt) -> State | None:
        """A statement that is reached only through a label in it (or is one)."""
        if isinstance(stmt, ir.Label):
            return self.frame.labels.pop(stmt.name, None)
        state: State | None = None
        for inner in blocks_of(stmt):
            state = joined(state, self.block(inner, None))
        return state

    # -- statements --------------------------------------------------------------------------------------------------

    def _call_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Call)
        key = key_of(stmt)
        if key in self.overlay.removed:
            return self.call(stmt, state, In.ORIGINAL)
        replacement = self.overlay.replaced.get(key)
        if replacement is None:
            return self.call(stmt, state, In.BOTH)
        return self.replaced(stmt, replacement, state)

    def replaced(self, call: ir.Call, replacement: ir.Call, state: State) -> State | None:
        raise NotImplementedError

    def _launch_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Launch)
        return self.launch(stmt, state)

    def _unknown_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Unknown)
        if stmt.parts and (called := self.through_pointer(stmt, state)) is not None:
            return called
        if not stmt.parts:
            self.control(stmt.why, stmt.span, state)
        self.unknown(stmt.why, stmt.parts, None, stmt.span, state)
        return state

    def _assign(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Assign)
        self.assign(state, stmt.target, stmt.value, stmt.span)
        return state

    def assign(self, state: State, target: ir.Expr, value: ir.Expr, span: ir.Span) -> None:
        values = self.values(state, value)
        targets = self.cells(state, target)
        if not targets:
            self.escape(state, self.whole(state, value), "escapes", "is stored where it cannot be followed", span)
        if isinstance(value, ir.Opaque) and isinstance(target, ir.Var):
            self._owned(state, target, value, values, span)
        inner = self.parts(state, value)  # a struct is copied with all that it holds
        if mem.leading(values) or isinstance(value, ir.Var | ir.Field | ir.Index | ir.Deref):
            state.env.forget_inside(targets)
        if any(step == ("at", mem.ANY) for _, path in targets for step in path):
            values = mem.kept_among_others(values)
            inner = {path: mem.kept_among_others(held) for path, held in inner.items()}
        self.store(state, targets, values, span)
        self.store_parts(state, targets, inner, span)

    def _owned(self, state: State, target: ir.Var, value: ir.Opaque, values: Values, span: ir.Span) -> None:
        """An object of some class takes a pointer; its destructor, or the deleter that it is given, may free it."""
        kind = self.frame.function.types.get(target.name, "")
        self.owned_by(kind, values, span, state)
        self.runs_at_the_end(kind, values, span, state)
        deleter = any(isinstance(e, ir.FuncRef) and e.name == "cudaFree" for e in variables(value))
        if deleter or _owns(kind):
            self.obstacle(
                self.mask(values), "deleter", f"is owned by `{target.name}`, whose destructor may free it", span
            )

    def store(self, state: State, targets: list[Cell], values: Values, span: ir.Span) -> None:
        """Write values to cells. What is written to external memory is out of sight from then on."""
        if any(root[0] == "memory" and root[1] == mem.EXTERNAL for root, _ in targets):
            self.escape(state, values, "escapes", "is stored where it cannot be followed", span)
        self.spend(state, targets)
        state.env.write(targets, values)

    def store_parts(self, state: State, targets: list[Cell], parts: Mapping[mem.Path, Values], span: ir.Span) -> None:
        """Store what the parts of a struct hold."""
        if parts and any(root[0] == "memory" and root[1] == mem.EXTERNAL for root, _ in targets):
            held = mem.NOTHING.union(*parts.values())
            self.escape(state, held, "escapes", "is stored where it cannot be followed", span)
        self.spend(state, targets, sum(map(len, parts.values())))
        state.env.write_parts(targets, parts)

    def spend(self, state: State, targets: Iterable[Cell], values: int = 0) -> None:
        """A write where it is not known where may mean each cell that is there. Raises OutOfBudget."""
        cells = sum(len(state.env[root]) + values for root, _ in targets)
        self.steps += cells // CELLS_OF_A_STEP
        if self.steps > (MAX_COARSE_STEPS if self.followed is Followed.NONE else MAX_STEPS):
            raise OutOfBudget

    def escape(self, state: State, values: Values, name: str, text: str, span: ir.Span) -> None:
        bits = self.mask(self.reachable(state, values)) & ~1
        if bits:
            self.escaped |= bits
            self.obstacle(bits, name, text, span)

    def _declare(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Declare)
        state.env.forget([self.root(stmt.var.name)])
        return state

    def _host_access(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.HostAccess)
        if state.unwaited:
            point = Point(stmt.span, "the host works on it", stmt)
            self.host_races(state, point, self._certainly(state, stmt.reads), self._certainly(state, stmt.writes))
        if state.orders.lost.get(HOST, 0):
            reads, writes = self.touched(state, stmt.reads), self.touched(state, stmt.writes)
            point = Point(stmt.span, "the host works on it", stmt)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=reads, writes=writes)
        for place in stmt.writes:
            self.overwritten(state, self.cells(state, place))
        return state

    def overwritten(self, state: State, cells: list[Cell]) -> None:
        """The host stores numbers here: a constant that a variable held is gone."""
        if cells and not any(isinstance(v, mem.Ptr | mem.Ref) for c in cells for v in state.env.read(c)):
            state.env.write([c for c in cells if c[1] == () and c[0][0] == "local"], frozenset({mem.OTHER}))

    def _certainly(self, state: State, places: Iterable[ir.Expr]) -> Bits:
        """The memory that host code touches through pointers of which it is known where they lead."""
        return self.led_to(state, (p.base for p in places if isinstance(p, ir.Index | ir.Deref)))

    def led_to(self, state: State, pointers: Iterable[ir.Expr]) -> Bits:
        """The memory that pointers lead to which can have one value only."""
        bits = 0
        for pointer in pointers:
            values = self.values(state, pointer) - {mem.ZERO}  # null leads nowhere
            if len(values) == 1:
                bits |= self.mask(values)
        return bits

    def host_races(self, state: State, point: Point, reads: Bits, writes: Bits) -> None:
        """The host touches memory while work on it runs for which it has not waited."""
        for number in numbers(state.unwaited & state.orders.pending[HOST]):
            op = self.outcome.operations[number]
            shared = (writes & (op.reads | op.writes) | reads & op.writes) & self.host_visible
            for n in numbers(shared):
                self.wrong(Wrong.HOST_RACE, op, point, self.outcome.objects[n])

    def touched(self, state: State, places: Iterable[ir.Expr]) -> Bits:
        bits = 0
        for place in places:
            variable = self.meaning(place.name).variable if isinstance(place, ir.Var) else None
            if variable is not None and variable.space in ("device", "constant"):
                continue  # the host can name the symbol, and touch nothing of it
            for cell in self.cells(state, place):
                bits |= self.mask([mem.reference(cell)])
            if isinstance(place, ir.Index | ir.Deref):
                bits |= self.mask(self.values(state, place.base))
            if state.live & self.host_visible and self._leads_anywhere(state, place):
                bits |= state.live & self.host_visible
        return bits

    def _leads_anywhere(self, state: State, place: ir.Expr) -> bool:
        """Whether a place is reached through a pointer that somebody has stored in a way that was not understood: it
        may be any memory that the host can touch.
        """
        while isinstance(place, ir.Field):
            place = place.base
        if not isinstance(place, ir.Index | ir.Deref) or self.in_python:
            return False
        kind = self.type_of(place.base)
        return (not kind or "*" in kind or "&" in kind) and self.is_unset(self.values(state, place.base))

    def _if(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.If)
        then, other = state, state.copy()
        if stmt.test.kind in ("nonnull", "null") and stmt.test.place is not None:
            some, none = (then, other) if stmt.test.kind == "nonnull" else (other, then)
            self._refine(some, none, stmt.test.place)
        one, two = self.block(stmt.then, then), self.block(stmt.other, other)
        if one is not None and two is not None and one.device != two.device and not self.loops:
            # Either branch picks a device, and the program stays on it: outside of loops that is one device.
            one.device = two.device = f"the device picked at {stmt.span.path}:{stmt.span.start}"
            self._devices.add(one.device)
        return joined(one, two)

    def _refine(self, some: State, none: State, place: ir.Expr) -> None:
        cells = self.cells(some, place)
        if len(cells) == 1 and not mem.is_summary(cells[0][1]):
            values = some.env.read(cells[0])
            if mem.ZERO in values and len(values) > 1:
                some.env.write(cells, values - {mem.ZERO})
                none.env.write(cells, frozenset({mem.ZERO}))
            if self.lints and self.async_objects:
                none.env.gone |= {cells[0]}
                if mem.ZERO not in values:  # it was not allocated: nothing else is null here
                    none.live &= ~sum(
                        1 << n
                        for n in numbers(self.mask(values) & self.async_objects)
                        if not self.outcome.objects[n].several
                    )

    def _switch(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Switch)
        self.frame.breaks.append(None)
        through: State | None = None
        seen: set[object] = set()
        for arm in stmt.arms:
            only = _launches(arm)
            if only is not None and through is None and only in seen:
                continue  # another instance of the same template, launched with the same arguments
            seen.add(only)
            through = self.block(arm, joined(state.copy(), through))
        out = joined(through, self.frame.breaks.pop())
        return out if stmt.has_default else joined(out, state)

    def _try(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Try)
        # An exception may leave the body after any of its statements; what was released then is not released twice.
        seen = state.copy()
        current: State | None = state
        self.catching.append(Catching(len(self.frames), len(self.unwinding)))
        made = self._objects_of(stmt.body)
        live: ir.Block = ()
        for number, inner in enumerate(stmt.body):
            live = self._within(live, tuple(end for at, to, end in made if at < number < to))
            current = self.block((inner,), current)
            if current is not None and not live:
                seen.join(current)
        self._within(live, ())
        thrown = self.catching.pop().thrown
        if thrown is not None:
            seen.join(thrown)
        if self.catching and not stmt.all:
            self.unwind(seen.copy(), len(self.frames) + 1)
        out = current
        for handler in stmt.handlers:
            out = joined(out, self.block(handler, seen.copy()))
        return out

    def _return(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Return)
        if stmt.value is not None:
            inside = self.frame.inside
            for cell in self.cells(state, stmt.value) if isinstance(stmt.value, ir.Var | ir.Field | ir.Index) else ():
                for path, held in state.env.under(cell):
                    if path:
                        inside[path] = inside.get(path, mem.NOTHING) | held
            self.frame.value |= self.values(state, stmt.value) if inside else self.whole(state, stmt.value)
        self.frame.returned = joined(self.frame.returned, state)
        return None

    def _break(self, stmt: ir.Stmt, state: State) -> State | None:
        if self.frame.breaks:
            self.frame.breaks[-1] = joined(self.frame.breaks[-1], state)
        return None

    def _continue(self, stmt: ir.Stmt, state: State) -> State | None:
        if self.frame.continues:
            self.frame.continues[-1] = joined(self.frame.continues[-1], state)
        return None

    def _goto(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Goto)
        self.frame.labels[stmt.label] = joined(self.frame.labels.get(stmt.label), state)
        return None

    def _label(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Label)
        jumped = self.frame.labels.pop(stmt.name, None)
        if state is None or jumped is None:
            return state if jumped is None else jumped
        self.arrivals = True
        return state if self.straight else joined(jumped, state)

    # -- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Loop)
        if stmt.index is not None and stmt.range is not None:
            if id(stmt) not in self._families:
                self._families[id(stmt)] = indexes_device_state(stmt) and self.works_on_device(stmt.body)
            if self._families[id(stmt)] and (bounds := self.range_of(stmt, state)) is not None:
                return self._family(stmt, bounds, state)
        self.loops += 1
        self.frame.breaks.append(None)
        if stmt.index is not None:
            state.env.write([(self.root(stmt.index.name), ())], frozenset({mem.OTHER}))
        out = self._rounds(stmt, state, at_least_once=stmt.at_least_once)
        left = self.frame.breaks.pop()
        self.loops -= 1
        return left if stmt.forever else joined(out, left)

    def _rounds(self, loop: ir.Loop, state: State, at_least_once: bool = False) -> State | None:
        """Any number of rounds, to a fixpoint."""
        head: State = state
        out: State | None = None
        current = self.block(loop.condition, head.copy())
        if not at_least_once:
            out = current.copy() if current is not None else None
        again = False
        while True:
            end = self._round(loop, current)
            if end is None:
                return out
            if loop.index is not None and not again and not end.env.gone <= head.env.gone:
                again = True
                self._round(loop, self.block(loop.condition, end.copy()))  # behind this round alone
            tested = self.block(loop.condition, end.copy())
            out = joined(out, tested.copy() if tested is not None else None)
            if not head.join(end):
                return out
            current = self.block(loop.condition, head.copy())

    def _round(self, loop: ir.Loop, state: State | None) -> State | None:
        self.frame.continues.append(None)
        state = self.block(loop.body, state)
        state = joined(state, self.frame.continues.pop())
        return self.block(loop.step, state)

    def _family(self, loop: ir.Loop, bounds: str, state: State) -> State | None:
        """A loop over arrays of buffers, streams or events: the generic round `k`, with all others before and after it.

        Every array element that is picked by this range's index is either the generic one or one of the others, so
        what is proved for `k` holds for each index (README).
        """
        assert loop.index is not None
        if not ranges.has_a_round(bounds):
            text = ranges.text(loop)
            if text in self.empty:
                return self.block(loop.condition, state)
            if not loop.at_least_once:
                self.ranges[text] = None
        self.loops += 1
        self.frame.breaks.append(None)
        outer = self.family
        index = [(self.root(loop.index.name), ())]

        def others(start: State) -> State | None:
            self.family = (*outer, f"o|{bounds}")
            self.others += 1
            start.env.write(index, frozenset({mem.Number(f"o|{bounds}")}))
            waits, start.round_waits = start.round_waits, {}
            head = start
            while True:
                end = self._round(loop, self.block(loop.condition, head.copy()))
                if end is None:
                    break
                done, end.round_waits = end.round_waits, {}
                if not head.join(end):
                    for x, bits in done.items():  # each member's round has waited for that member's own operations
                        head.orders.pending[x] &= ~bits
                        head.orders.lost[x] = head.orders.lost.get(x, 0) & ~bits
                        if x is HOST:
                            head.orders.host_knows()
                    break
            head.round_waits = waits
            self.others -= 1
            self.family = outer
            return head if end is not None else None

        current = others(state)
        if current is not None:
            self.family = (*outer, f"k|{bounds}")
            current.env.write(index, frozenset({mem.Number(f"k|{bounds}")}))
            current = self._round(loop, self.block(loop.condition, current))
            self.family = outer
        if current is not None:
            current = others(current)
        if current is not None:
            current.env.write(index, frozenset({mem.OTHER}))
        self.loops -= 1
        return joined(current, self.frame.breaks.pop())

    def range_of(self, loop: ir.Loop, state: State) -> str | None:
        """The range of a loop, equal for two loops only if they visit the same indices. None for a loop that may have
        other bounds each time that it runs.
        """
        assert loop.range is not None
        bounds = [self._bound(place, state) for place in loop.bounds]
        if not bounds:
            return loop.range
        if not self.in_python:  # the text tells apart what is assigned again in the function
            own = (str(self.cells(state, place)[:1]) for place in loop.bounds)
            return loop.range.format(*(said or cell for said, cell in zip(bounds, own, strict=True)))
        if None not in bounds:
            return loop.range.format(*bounds)
        return f"{loop.range} at {loop.span.start} of {self.frame.name}" if not self.loops else None

    def _bound(self, place: ir.Expr, state: State) -> str | None:
        """What a bound is: a number, or the variable that holds it; of a parameter, the variable that it is given.

        None where it may be another one the next time.
        """
        values = self.values(state, place)
        number = next(iter(values)) if len(values) == 1 else None
        if isinstance(number, mem.Number):
            return number.text
        cells = self.cells(state, place)
        if isinstance(place, ir.Field):
            known = f".{place.name}" in ranges.assigned_once(self.program)
            return str(cells[0]) if known and len(cells) == 1 and cells[0][0][1] != mem.EXTERNAL else None
        if not isinstance(place, ir.Var) or len(cells) != 1:
            return None
        if cells[0][0][0] == "global":
            return place.name if place.name in ranges.assigned_once(self.program) else None
        frame = self.frame
        if place.name in ranges.assigned_again(frame.function):
            return None
        names = [param.name for param in frame.function.params]
        if place.name in names and frame.caller is not None and (at := names.index(place.name)) < len(frame.given):
            self.frame = frame.caller
            said = self._bound(frame.given[at], state)
            self.frame = frame
            return said
        return str(cells[0]) if not (frame.loops and self.in_python) else None

    # -- functions ---------------------------------------------------------------------------------------------------

    def arrays(self, function: ir.Function) -> frozenset[str]:
        if id(function) not in self._arrays:
            self._arrays[id(function)] = frozenset(declared_arrays(function.body))
        return self._arrays[id(function)]

    def inline(
        self,
        function: ir.Function,
        args: Sequence[Values],
        name: str,
        this: Values,
        state: State,
        given: Sequence[ir.Expr] = (),
    ) -> tuple[State | None, Values]:
        """Run a function's body with these arguments, which are `given` as expressions. Returns the state after it and
        what it returns.
        """
        caller = self.frame if self.frames else None
        around = function.name.rpartition(_LAMBDA)[0]
        home = next((f for f in reversed(self.frames) if f.function.name == around), None) if around else None
        self.frame = Frame(name, function, self.arrays(function), self.slicer.slice(function), len(self.frames), home)
        self.frame.caller, self.frame.given, self.frame.loops = caller, given, self.loops
        self.frames.append(self.frame)
        if around and home is None:
            self.obstacle(
                state.live, "escapes", "is live while a lambda runs that has outlived its variables", function.span
            )
            seen = state.live & self.host_visible  # what it has kept may lead to any of it
            point = Point(function.span, "a lambda runs that has outlived its variables", None)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=seen, writes=seen)
        for n, param in enumerate(function.params):
            if n < len(args):
                state.env.write([(self.root(param.name), ())], args[n])
            elif param.default is not None:
                state.env.write([(self.root(param.name), ())], self.values(state, param.default))
        if not self.frame.is_lambda:
            state.env.write([(self.root("this"), ())], this)
        end = joined(self.block(function.body, state), self.frame.returned)
        value = self.frame.value
        given_back = self._given_back(function, end) if end is not None and end.env.gone else []
        self.returned_inside = self.frame.inside
        self.frames.pop()
        if end is not None:
            end.env.forget_calls([name])
        self.exposed = {r for r in self.exposed if r[1] != name}
        if caller is not None:
            self.frame = caller
            if end is not None:
                places = (self.place(end, given[n]) for n in given_back if n < len(given))
                end.env.gone |= {cell for cell in places if cell is not None}
        return end, value

    def _given_back(self, function: ir.Function, end: State) -> list[int]:
        """The parameters of a function that it never sets, and of which the memory has been given back."""
        assigned = ranges.assigned(function)
        return [
            n
            for n, param in enumerate(function.params)
            if not param.by_reference and param.name not in assigned and (self.root(param.name), ()) in end.env.gone
        ]

    # -- sites -------------------------------------------------------------------------------------------------------

    def site(self, sites: dict[Key, Site], call: ir.Call, state: State) -> Site:
        key = key_of(call)
        found = sites.get(key)
        if found is None:
            found = sites[key] = Site(call, self.frame.function.name)
            found.order = len(self.outcome.allocations) + len(self.outcome.frees)
        found.in_loop |= self.loops > 0
        if not self.others:
            found.contexts.add(self.frame.name)
            found.can_name(self.named_streams(state))
            found.gone |= state.destroyed
        return found

    def named_streams(self, state: State) -> dict[StreamName, Stream]:
        """The expressions in scope here that name a stream for certain. What is 0 may be a stream elsewhere: then it is
        the default stream here.
        """
        found: dict[StreamName, Stream] = {StreamName(ir.Const("0"), "0"): self.default_stream}
        hidden: dict[str, str] = {}
        frame, file = self.frame, self.frame.function.span.path
        declared = self.program.kept("visible globals", lambda: _visible_globals(self.program)).get(file, set())
        mentioned = expressions_in(frame.function) if frame.is_lambda else ()
        shared = {e.name for e in mentioned if isinstance(e, ir.Var)}  # a lambda may capture nothing else
        here = {r for r, _ in state.env if r[0] == "local" and (r[1] == frame.name or r[2] in shared)}
        here = {r for r in here if r[1] == frame.name or self.root(r[2]) == r}
        for root, _ in state.env:  # an inner variable hides an outer one of the same name
            if root in here:
                hidden[root[2].split("@")[0]] = root[2]
        indices = {
            value.text: name
            for (kind, frame, name), inner in state.env
            if kind == "local" and frame == self.frame.name
            for value in inner.get((), ())
            if isinstance(value, mem.Number) and value.text.startswith("k|")
        }
        deep = self.in_python and _holds_streams(state)
        for root, inner in sorted(state.env, key=lambda item: item[0][0] != "local"):  # a local name is the nearest
            if root[0] == "local" and (root not in here or hidden[root[2].split("@")[0]] != root[2]):
                continue
            if root[0] == "global" and (root[1] not in ("", file) or root[2] not in declared):
                continue
            if root[0] == "memory" or not _SPELLED.fullmatch(root[2]):
                continue
            var: ir.Expr = ir.Var(root[2] if root[0] == "local" else f"::{root[2]}")
            text = last(root[2].split("@")[0])
            for path, values in inner.items():
                if len(values) == 1:
                    (value,) = values
                    stream = self._stream_in(value, state)
                    if stream is not None:
                        name = _spell(var, text, path, indices) if self._may_name(path) else None
                        if name is not None:
                            found.setdefault(name, stream)
                    elif not path and deep:
                        self._inside(state, value, StreamName(var, text), found, indices)
                    elif not path and not self.in_python and isinstance(value, mem.Ref | mem.Ptr):
                        self._members(state, value, var, text, found)
        return found

    def _members(
        self,
        state: State,
        pointer: mem.Ref | mem.Ptr,
        var: ir.Expr,
        text: str,
        found: dict[StreamName, Stream],
    ) -> None:
        """Streams in the struct that a variable points to (`p->stream`, `this->stream`, or `*p`) or refers to."""
        cell = mem.at(pointer, "0")
        if cell is None or mem.is_summary(cell[1]):
            return
        root, base = cell  # what is stored at an index that is not known may be there, or not
        inside = state.env[root].items()
        known = ((path[len(base) :], values) for path, values in inside if path[: len(base)] == base)
        function = self.frame.function
        is_reference = isinstance(var, ir.Var) and (
            function.types.get(var.name, "").endswith("&")
            or any(p.by_reference and p.name == var.name for p in function.params)
        )
        for path, values in known:
            if len(values) == 1 and all(kind == "field" for kind, _ in path):
                (value,) = values
                place: ir.Expr = ir.Deref(var)
                for _, field_name in path:
                    place = ir.Field(place, field_name)
                fields = ".".join(name for _, name in path)
                if text == "this":
                    spelled = fields
                elif is_reference:
                    spelled = f"{text}.{fields}" if path else text
                else:
                    spelled = f"{text}->{fields}" if path else f"*{text}"
                stream = self._stream_in(value, state)
                if stream is not None and (text == "this" or self._may_name(path)):
                    found.setdefault(StreamName(place, spelled), stream)

    def _inside(
        self,
        state: State,
        pointer: mem.Value,
        name: StreamName,
        found: dict[StreamName, Stream],
        indices: dict[str, str],
    ) -> None:
        """Streams in the object of Python that `name` refers to: in its fields, in the elements of a list or
        dictionary, and in what these refer to.
        """
        front = [(name, pointer)]
        for _ in range(_DEPTH):
            deeper: list[tuple[StreamName, mem.Value]] = []
            for outer, one in front:
                cells = list(state.env.inside(one))
                fewer = any(path[-1:] == (("field", ir.SHRUNK),) for path, _ in cells)
                for path, values in cells:
                    part = _part(outer, path, indices) if len(values) == 1 else None
                    if part is None or (fewer and len(path) == 1):
                        continue
                    (value,) = values
                    stream = self._stream_in(value, state)
                    if stream is None:
                        deeper.append((part, value))
                    elif outer.text == "this" or self._may_name(path[1:]):
                        found.setdefault(part, stream)
            front = deeper

    def _stream_in(self, value: mem.Value, state: State) -> Stream | None:
        """The stream that a place names which holds this value."""
        if value == mem.ZERO:
            return self.default_stream
        if isinstance(value, mem.StreamValue) and value.stream not in state.destroyed:
            return value.stream
        return None

    def _may_name(self, path: mem.Path) -> bool:
        """Whether members of an object can be named from outside: not those that look private and that no function
        outside of a class names.
        """
        private = {name for kind, name in path if kind == "field" and _PRIVATE.search(name)}
        return not private or private <= self.program.kept("members", lambda: _named_members(self.program))


def _holds_streams(state: State) -> bool:
    """Whether anything is a stream that was made: all else is named without looking for it."""
    held = (values for _, inner in state.env for values in inner.values())
    return any(isinstance(value, mem.StreamValue) for values in held for value in values)


def _part(outer: StreamName, path: mem.Path, indices: dict[str, str]) -> StreamName | None:
    """A field (`outer.field`) or an element (`outer[0]`, `outer["key"]`, `outer[i]`) of an object of Python."""
    if not 1 <= len(path) <= 2 or path[0][0] != "at":
        return None
    (_, key), *fields = path
    if fields:
        name = fields[0][1]
        if key != "0" or not name.isidentifier():
            return None
        return StreamName(
            ir.Field(ir.Deref(outer.expr), name), f"{outer.text}.{name}" if outer.text != "this" else name
        )
    if key.isdigit() or _KEY.fullmatch(key):
        word = key.removeprefix("c|")
        return StreamName(ir.Index(outer.expr, ir.Const(word)), f"{outer.text}[{word}]")
    if key in indices:
        return StreamName(ir.Index(outer.expr, ir.Var(indices[key])), f"{outer.text}[{indices[key].split('@')[0]}]")
    return None


def _spell(var: ir.Expr, text: str, path: mem.Path, indices: dict[str, str]) -> StreamName | None:
    place = var
    for kind, name in path:
        if kind == "field":
            place, text = ir.Field(place, name), f"{text}.{name}"
        elif name.isdigit():
            place, text = ir.Index(place, ir.Const(name)), f"{text}[{name}]"
        elif name in indices:
            place, text = ir.Index(place, ir.Var(indices[name])), f"{text}[{indices[name].split('@')[0]}]"
        else:
            return None
    return StreamName(place, text)
