"""Where the interpreter is: the state of P and Q, the calls around, what an exception meets on its way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from cudafix import ir
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.slicing import Slice
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.memory import Environment, Root, Values
from cudafix.ordering.interpreter.state import HOST, Bits, Event, Observer, Orders, Stream

NO_CLASSES: Mapping[str, str] = MappingProxyType({})
ANY_ELEMENT = "%element "  # the variable that stands for what an algorithm gives the functions that it calls


@dataclass(slots=True)
class State:
    """Where the program may be: orders, memory, and what the host has done. Joined where paths meet."""

    orders: Orders
    env: Environment
    device: str = "0"
    live: Bits = 0  # objects that may be allocated
    freed: Bits = 0  # objects that may be freed
    destroyed: frozenset[Stream] = frozenset()
    dropped: frozenset[Stream] = frozenset()  # whose object of Python only a closure may hold
    since_reset: frozenset[Stream | Event] | None = None  # what was made since the device was reset; None: it was not
    capturing: bool = False
    captured: Bits = 0  # objects that a graph may hold
    unreported: Bits = 0  # operations whose error P would have reported by now
    allocated: bool = False  # Q has allocated from the pool
    freed_early: Bits = 0  # objects that Q may have freed and P has not
    threads: bool = False  # others may run on the host at any time: what the host learns, they may be told
    unwaited: Bits = 0  # work on memory that the host sees too, for which it has certainly not waited
    issued: Bits = 0  # work that may have been issued, where the program is looked at for defects
    apart: Bits = 0  # work on non-blocking streams for which certainly nobody has waited
    alive: frozenset[Stream | Event] = frozenset()  # what was created, and may not be destroyed yet
    # Loops over a family: what a round has waited for, of the operations of that round's own members.
    round_waits: dict[Observer, Bits] = field(default_factory=dict)
    # By an object that is the only one there of its place: the operations that may have used it. What used the one
    # before it, which was freed, has no part in it: the pool hands out no memory that work is still to be done on.
    used: dict[int, Bits] = field(default_factory=dict)

    def copy(self) -> State:
        return State(
            self.orders.copy(),
            self.env.copy(),
            self.device,
            self.live,
            self.freed,
            self.destroyed,
            self.dropped,
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
            self.alive,
            dict(self.round_waits),
            dict(self.used),
        )

    def made(self, one: Stream | Event, of_others: Bits = 0) -> None:
        """A stream or an event is created (`Orders.created`): a reset of the device before that does not end it."""
        self.orders.created(one, of_others)
        self.alive |= {one}
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
            self.dropped,
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
            self.alive,
        )

    @property
    def ended(self) -> frozenset[Stream]:
        """The streams that may be destroyed: by a call, or with the object that owns them."""
        return self.destroyed | self.dropped | self.env.dropped() if self.env.owners else self.destroyed

    def is_as(self, other: State, variables: Collection[Root] | None) -> bool:
        """Whether nothing is different in two states but local variables: none of these, None: none at all."""
        return (
            self.orders == other.orders
            and self._flags() == other._flags()
            and self.round_waits == other.round_waits
            and self.used == other.used
            and self.env.is_as(other.env, variables)
        )

    def join(self, other: State) -> bool:
        changed = self.orders.join(other.orders)
        changed = self.env.join(other.env) or changed
        changed = self._used_on_either(other) or changed
        before = self._flags()
        if before == other._flags():
            self._round_waits_of_both(other)
            return changed
        if self.device != other.device:
            self.device = "?"
        self.live |= other.live
        self.freed |= other.freed
        self.destroyed |= other.destroyed
        self.dropped |= other.dropped
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
        self.alive |= other.alive
        self._round_waits_of_both(other)
        return changed or before != self._flags()

    def _used_on_either(self, other: State) -> bool:
        found = {n: bits | other.used[n] for n, bits in self.used.items() if n in other.used}
        changed = found != self.used
        self.used = found
        return changed

    def _round_waits_of_both(self, other: State) -> None:
        theirs = other.round_waits
        self.round_waits = {x: b & theirs[x] for x, b in self.round_waits.items() if x in theirs}


def joined(a: State | None, b: State | None) -> State | None:
    """The union of two paths; either may be None (not reached). May reuse `a`."""
    if a is None:
        return b
    if b is not None:
        a.join(b)
    return a


@dataclass(slots=True)
class Activations:
    """The states in which activations of some functions begin, joined, and those in which they end; and whether that
    has changed.
    """

    entry: State | None = None
    exit: State | None = None
    changed: bool = False

    def begins(self, state: State) -> None:
        """One of them begins in this state."""
        if self.entry is None:
            self.entry, self.changed = state.copy(), True
        else:
            self.changed |= self.entry.join(state)

    def ends(self, state: State | None) -> None:
        """One of them ends in this state, or not at all."""
        if state is None:
            return
        if self.exit is None:
            self.exit, self.changed = state.copy(), True
        else:
            self.changed |= self.exit.join(state)


@dataclass(slots=True)
class Catching:
    """A `try` whose body runs: in which call (by its depth), how much of `Engine.unwinding` and how many blocks are
    around it, what has reached its handlers, and which variables that has ended: by call, and by name.
    """

    depth: int
    around: int
    scopes: int = 0
    thrown: State | None = None
    ended: set[tuple[str, str]] = field(default_factory=set)


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
        "answers",
        "arrays",
        "breaks",
        "caller",
        "classes",
        "continues",
        "depth",
        "entered",
        "function",
        "given",
        "home",
        "inside",
        "instance",
        "labels",
        "loops",
        "meanings",
        "name",
        "referred",
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
        self.inside: dict[paths.Path, Values] = {}  # what the parts of a returned struct hold
        self.referred: Values = mem.NOTHING  # what a returned reference refers to
        self.labels: dict[str, State | None] = {}
        self.classes = NO_CLASSES  # for which the parameters of the template stand that it is
        self.instance = NO_CLASSES  # and the arguments that these certainly have
        self.breaks: list[State | None] = []
        self.continues: list[State | None] = []
        self.depth = depth
        self.home = home  # of a lambda: the call of the function around it, whose variables it shares
        self.meanings: dict[str, Meaning] = {}  # what names mean, as far as somebody has asked
        self.caller: Frame | None = None
        self.given: Sequence[ir.Expr] = ()  # the arguments, as the caller says them
        self.entered: Sequence[Values] = ()  # what the object and the arguments were when the call began
        self.loops = 0  # around the call
        self.answers: dict[str, bool] = {}  # to what is asked on the path that runs

    @property
    def is_lambda(self) -> bool:
        return ir.LAMBDA in self.function.name

    def shares(self, name: str) -> bool:
        """Whether a name means a variable of the function around a lambda."""
        if name == "this":  # of the copy that `[*this]` makes a variable of the call
            return self.is_lambda and not self.function.object
        return name in self.function.captures
