"""What statements and calls work on: what places hold, the memory objects, the operations, and what is wrong so far."""

from __future__ import annotations

import re
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from cudafix import ir
from cudafix.ir.link import SOURCES, Program, last
from cudafix.models import Tables
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.given_classes import argument_named
from cudafix.ordering.facts.moving import BEHIND, Moving, Node
from cudafix.ordering.facts.pageable import (
    NAMES,
    element_of,
    has_elements,
    has_its_own,
    holds_in_place,
    owns_pageable_elements,
)
from cudafix.ordering.facts.paths import array_of
from cudafix.ordering.facts.plain import ADDRESS, NUMBERS, as_held, number_type
from cudafix.ordering.facts.reach import Reach
from cudafix.ordering.facts.scopes import Scopes
from cudafix.ordering.facts.slicing import NULLS, Slicer
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.frames import Catching, Frame, Meaning, State
from cudafix.ordering.interpreter.memory import Cell, Root, Values
from cudafix.ordering.interpreter.program import (
    Key,
    Object,
    Obstacle,
    Operation,
    Outcome,
    Overlay,
    Point,
    Violation,
    Wrong,
)
from cudafix.ordering.interpreter.state import (
    HOST,
    LEGACY,
    PER_THREAD,
    STATUS,
    Bits,
    Event,
    Stream,
    StreamKind,
    numbers,
)
from cudafix.project.stream_names import StreamText

MAX_PATH = 24  # steps from a variable to a part of it
UNKNOWN_STREAM = Stream("a stream that is not known", StreamKind.UNKNOWN, summary=True)
_MAY_STILL_RUN = frozenset(
    {Wrong.ORDER, Wrong.HOST_ACCESS, Wrong.OUTPUT, Wrong.CLOCK, Wrong.EXIT, Wrong.FAULT, Wrong.LEAVES}
)
"""What is wrong with an operation that P has waited for at frees, and Q has not: who is behind it does not matter where
the operation is only assumed.
"""
FOR_THE_DEVICE = frozenset(("device", "async", "pitched", "array"))  # memory that only the device can touch
_SHARED = object()
ON_DEVICE = FOR_THE_DEVICE | {"managed"}
_CURRENT = "current"  # of a default stream that a constant names: the device that is current where it is used
_STREAMS = {
    "cudaStreamPerThread": replace(PER_THREAD, device=_CURRENT),
    "cudaStreamLegacy": replace(LEGACY, device=_CURRENT),
}
_NO_NUMBER: Values = frozenset({mem.ZERO})
_OUT_OF_SIGHT: Root = ("memory", mem.EXTERNAL, "")
_TEMPLATE_ARGUMENTS = re.compile(r"<.*>", re.DOTALL)
_NEVER_FOLLOWED = re.compile(r"\b(?:FILE|DIR)\b")  # what only the C library looks into (C17 7.21.1, POSIX `dirent.h`)


class Followed(Enum):
    """Which functions that work on the host alone (`facts.alone`) are followed; others are one step each.
    The next is tried where a program is too large for the one before; the last only if the first has lost something.
    """

    SHORT = "short ones"
    NONE = "none"
    ALL = "all"


VALUES_OF_A_STEP = 16
PARTS_OF_A_STEP = 128  # of objects of which any may be meant, each in each
"""What can be reached counts for a step for each so many values: it is found out about as fast as a statement runs."""


@lru_cache(maxsize=1 << 12)
def constant(text: str) -> Values:
    """What a constant is."""
    if text in NULLS:
        return frozenset({mem.ZERO})
    if text in _STREAMS:
        return frozenset({mem.StreamValue(_STREAMS[text])})
    return frozenset({mem.Number(text)})


Asked: TypeAlias = Callable[[str, str], StreamText | None]
"""Which stream statements of a function are to name, by its file and name: what the configuration asks for."""
# the cells and the values of expressions, by their `id`
_Known: TypeAlias = tuple[dict[int, tuple[ir.Expr, list[Cell]]], dict[int, tuple[ir.Expr, Values]]]


class Machine:
    """What statements and effects share: the memory objects, the operations, and what is wrong so far."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        self.program = program
        self.tables = tables
        self.slicer = Slicer.of(program, tables)
        self.reach = Reach.of(program, tables)
        self.classes = Classes.of(program, self.reach)
        self.scopes = Scopes.of(program)
        self.moving = Moving.of(program, tables)
        self.overlay = overlay
        self.asked: Asked = lambda path, function: None
        self.default_stream = PER_THREAD if per_thread else LEGACY
        external = Object(0, "external", "external", None, True, "?")
        self.outcome = Outcome([external], [], {}, {}, {}, [], {}, {})
        imported = (name for module in program.modules if module.path.endswith(ir.PYTHON) for name in module.includes)
        self.outcome.unseen = frozenset(imported)
        self.async_objects: Bits = 0
        self.host_visible: Bits = 0  # memory that both the host and the device can touch
        self.lints = overlay.mends or not (overlay.replaced or overlay.removed)  # look for the program's own defects
        self.straight = False  # where a jump arrives, only what comes from above counts
        self.arrivals = False  # there is such a place, and both come there
        self.escaped: Bits = 0
        self.of_the_host: Bits = 0  # memory that the host allocates, and variables
        self._handed_on: dict[Cell, Bits] = {}  # the memory that a place may have got from others, or they from it
        self.pinned: Bits = 0  # those that may be pinned: they are registered, or unseen code may do so
        self.shared_bit: Bits = 0  # that of `shared`, as soon as there is such memory
        self.pins_elsewhere = False  # a function that is not run here may pin what it finds in global variables
        self.registers = False  # the program pins memory that it has got elsewhere
        self.pins_unknown = False  # memory is pinned of which nobody knows where it is: any of the host's may be
        self.scalars: dict[Root, int] = {}  # the objects of variables that are one number
        self.at_exit: dict[int, tuple[ir.Function, Values]] = {}  # what may run when the process ends, and what it gets
        self.is_ending = False  # what runs at the end of the process runs now
        self.kept: Bits = 0  # what libraries of the host have got, and may use whenever they are called
        self.rewritten_only: Bits = 0
        self.captured_says = self.captured_times = False  # a graph may have host functions that print, or tell the time
        self.frame: Frame
        self.frames: list[Frame] = []
        self.catching: list[Catching] = []  # each `try` around here
        self.family: tuple[str, ...] = ()  # the loop indices that are fixed here
        self.sized = False  # the size of a container is known, or was
        self.lent: set[Root] = set()  # whose containers others may change the size of that have been given them
        self.ranges: dict[str, None] = {}  # of the family loops that may have no round at all
        self.empty: frozenset[str] = frozenset()  # those that have none in this run
        self.followed = Followed.SHORT
        self.mixed_up = False  # what was not followed may have stored more than it would have
        self.any_order = False  # unseen code calls the functions, in orders of which some make no sense
        self.others = 0  # inside how many rounds for which the generic one stands
        # by the rounds of streams, what was run on them in the round that runs, and in those of the same loop before it
        self.in_round: dict[tuple[str, ...], Bits] = {}
        self.in_rounds_before: dict[tuple[str, ...], Bits] = {}
        self.loops = 0
        self.growing = 0  # where a vector moves its elements
        self.works_elsewhere = False  # a host thread was started that may work on the device
        self.steps = 0
        self.keeps_apart = True  # paths that an answer decides twice
        self.in_parts = 0  # how many such answers are given around here
        self.has_parted = False
        self.nesting = 0  # how many blocks are around here
        self.several: dict[str, StreamKind] = {}  # streams of one name that are alive together, and their kind
        self.overlaid = program.kept("overlaid", lambda: _overlaid(program))
        self.in_disguise = bool(self.overlaid)  # an address may have been made of text, bytes or a number
        self.puns = mem.Puns(self.classes.are_apart if len(self.classes.layouts) > 1 else None)
        self._classes_at: dict[Root, str] = {}  # of memory: the class of the first pointer that led there
        self._seen_as: set[tuple[str, Cell]] = set()
        self.of_bytes: set[Root] = set()  # the places with addresses that were written as bytes
        self.unfollowed: set[Root] = set()  # the variables whose address is kept where it is not followed
        self.aliased = program.kept("aliased", lambda: _aliased(program))
        self.exposed: set[Root] = set()  # the variables whose address somebody holds
        self.around = program.kept("around", lambda: _around(program))
        self.outlived: set[str] = set()  # functions that have ended while somebody holds one which stands in them
        self.closures = program.kept("closures", lambda: _closures(program))
        self.making = frozenset(
            around for function in program.functions() if (around := function.name.rpartition(ir.LAMBDA)[0])
        )
        self.anchors: dict[str, list[int]] = defaultdict(list)  # where the overlay says something, by file, sorted
        for key in (*overlay.replaced, *overlay.before, *overlay.after, *overlay.removed):
            insort(self.anchors[key.path], key.start)
        self._known_when: tuple[object, ...] = ()
        self._known_now: _Known = ({}, {})
        self._objects: dict[object, Object] = {}
        self.made_again: dict[int, tuple[str, ir.Span]] = {}
        """The functions (by `id`) that a call runs again while they run, with other values than are followed."""
        self._operations: dict[object, Operation] = {}
        self._seen: dict[object, Violation] = {}
        self.told: Bits = 0  # the assumed operations of which it is noted that they may still run
        self._devices: set[str] = {"0"}
        self.home = "0"  # the device that the program works on first
        self.placed = False  # it did
        self.many: dict[str, tuple[str, ...]] = {}  # the names that stand for several devices, one in each such round
        self._picked: dict[tuple[object, ...], int] = {}

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
        if name in self.aliased:
            return _OUT_OF_SIGHT
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
        own = (name, path) in self.scopes.internal
        if name in self.scopes.copies and not (own and path.endswith(SOURCES)):
            units = self.scopes.copies[name]
            unit = next((p for f in reversed(self.frames) if (p := f.function.span.path) in units), None)
            if unit is not None:
                return "global", unit, name
        return "global", path if own else "", name

    def global_at(self, root: Root) -> ir.GlobalVar | None:
        if root[0] != "global":
            return None
        return self.scopes.internal.get((root[2], str(root[1]))) or self.program.globals.get(root[2])

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
        return paths.ANY

    def _instance(self, arguments: str) -> mem.Value:
        """Which instantiation of a template has these arguments in the function that runs, as a text: two that differ
        are two (C++17, 17.5 [temp.type] 1).
        """
        frame = self.frame
        while frame.is_lambda and frame.home is not None:
            frame = frame.home
        written = ir.template_arguments(arguments) if not frame.is_lambda else []
        known = [argument_named(self.program, one, frame.function, frame.instance) for one in written]
        return mem.Number(f'"{", ".join(known)}"') if known and all(known) else mem.OTHER

    def _known(self, state: State) -> _Known:
        """What was found of expressions since anything has changed that this depends on."""
        env = state.env
        now = (
            env.version,
            env.several,
            self.frame,
            self.family,
            self.empty,
            self.any_order,
            self.in_disguise,
            len(self.unfollowed),
            len(self.of_bytes),
            len(self.lent),
            len(self._classes_at),
            self.puns.version,
        )
        if self._known_when != now:
            self._known_when, self._known_now = now, ({}, {})
        return self._known_now

    def cells(self, state: State, place: ir.Expr) -> list[Cell]:
        """The cells that an lvalue may name: a list that is kept, and that nobody changes."""
        known = self._known(state)[0]
        found = known.get(id(place))
        if found is None:
            found = known[id(place)] = place, self._cells(state, place)
        return found[1]

    def _cells(self, state: State, place: ir.Expr) -> list[Cell]:
        match place:
            case ir.Var(name):
                root = self.root(name)
                return self.referred_by(state, root) or [(root, ())]
            case ir.Field(base, name):
                within = self.cells(state, base)
                member = self._member(base, name)
                parts = [(root, (*path, *member)) for root, path in within]
                # an element of a map is a pair; `m[k]` and `m.at(k)` name what is mapped alone
                return parts + [cell for cell in within if name == "second" and cell[1] and cell[1][-1][0] == "at"]
            case ir.Deref(base):
                if holds_in_place(self.type_of(base)):
                    return self.cells(state, base)
                found = [mem.at(v, "0") for v in self.values(state, base)]
                pointed = [c for c in found if c is not None]
                if self.puns:
                    self._are_seen_as(base, pointed)
                return pointed
            case ir.Index(base, index):
                key = self.key(state, index)
                found = [mem.at(v, key) for v in self.values(state, base)]
                pointed = [c for c in found if c is not None]
                if pointed and self.puns and not self._is_array(base):
                    self._are_seen_as(base, pointed)
                if pointed and isinstance(base, ir.Deref):  # of an array that is led to as a whole, its elements
                    wholes = [root for root, path in self.cells(state, base) if path == (paths.FIRST,)]
                    pointed += [(root, (("at", key),)) for root in wholes if root[0] != "memory"]
                if pointed and self.in_place(base):
                    return pointed
                return [*pointed, *((root, (*path, ("at", key))) for root, path in self.cells(state, base))]
            case ir.Choice(options):
                return [c for option in options for c in self.cells(state, option)]
            case ir.Offset(base):
                return self.cells(state, ir.Deref(place))
            case _:
                return []

    def _is_array(self, base: ir.Expr) -> bool:
        return isinstance(base, ir.Var) and self.meaning(base.name).is_array

    def _are_seen_as(self, pointer: ir.Expr, cells: Iterable[Cell]) -> None:
        """A pointer or reference leads to places: as objects of another class than they are, if the types differ."""
        if not isinstance(pointer, ir.Var | ir.Field):
            return
        cells = list(cells)
        if any(root[:2] == ("memory", mem.EXTERNAL) for root, _ in cells):
            return  # of a pointer that may lead anywhere, the rest of where it leads says nothing
        kind = self.type_of(pointer).rstrip()
        if not kind.endswith(("&", "*")):
            return
        kind = kind.rstrip("&").rstrip() if kind.endswith("&") else kind[:-1].rstrip()
        for cell in cells:
            if (kind, cell) not in self._seen_as and cell[0] != _OUT_OF_SIGHT:
                self._seen_as.add((kind, cell))
                if cell[0][0] == "memory" and len(cell[1]) == 1 and self.classes.is_laid_out(kind):
                    self._classes_at.setdefault(cell[0], kind)
                if self.classes.is_retyped(self.type_at(cell), kind, self.puns.opened):
                    self.puns.add(cell[0])

    def type_at(self, cell: Cell) -> str:
        """The type of a place by the declarations, or by the first pointer that led there; empty where these do not say
        it.
        """
        root, path = cell
        if root[0] == "memory":
            return self._classes_at.get(root, "") if len(path) == 1 else ""
        return self._type_at(root, path)

    def _type_at(self, root: Root, path: paths.Path) -> str:
        """The type of a place in a variable by the declarations, empty where these do not say it."""
        kind, is_array = self._kind_of(root)
        for step, name in path:
            if step == "field":
                kind, is_array = self.classes.type_of_part(kind, [name]), False
            elif is_array:
                is_array = False
            else:
                kind = element_of(kind) if owns_pageable_elements(kind) else ""
        return "" if is_array else kind

    def _member(self, base: ir.Expr, name: str) -> paths.Path:
        """The steps to a data member. Where several subobjects of one object may have one of this name (C++17, 13.2
        [class.member.lookup] 1, 13.1.2 [class.mi] 4), which of them it is is not known.
        """
        if self.in_python or name not in self.classes.repeated:
            return (("field", name),)
        return self.classes.path_to(name, self.type_of(base))

    def in_place(self, base: ir.Expr) -> bool:
        """Whether the elements of an array or a pointer are where its values lead, and nowhere else."""
        kind = self.type_of(base)
        return self.in_python or (has_its_own(kind) and (self._is_array(base) or not has_elements(kind)))

    @staticmethod
    def referred_by(state: State, root: mem.Root) -> list[Cell]:
        """What the result of a call names that has returned a reference; nothing for any other variable."""
        if root[0] != "local" or not root[2].startswith("%"):
            return []
        return [v.cell for v in state.env[root].get(mem.REFERRED, ()) if isinstance(v, mem.Ref)]

    def is_of_one(self, state: State, size: Sequence[Cell]) -> bool:
        """Whether these are the size of one container, which nobody changes out of sight."""
        return len(size) == 1 and state.env.has_a_size(size[0]) and size[0][0] not in self.lent | self.unfollowed

    def values(self, state: State, expr: ir.Expr) -> Values:
        """What an expression may evaluate to."""
        known = self._known(state)[1]
        found = known.get(id(expr))
        if found is None:
            found = known[id(expr)] = expr, self._values(state, expr)
        return found[1]

    def _values(self, state: State, expr: ir.Expr) -> Values:
        if isinstance(expr, ir.Field) and expr.name == ir.SIZE:
            size = self.cells(state, expr)
            known = state.env.size(size[0]) if self.is_of_one(state, size) else None
            return frozenset({known if known is not None else mem.OTHER})
        found = self._held_by(state, expr)
        self.in_disguise |= mem.ANYWHERE in found
        if self.unfollowed and mem.has_number(found) and isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            if not self.unfollowed.isdisjoint(root for root, _ in self.cells(state, expr)):
                found = frozenset(v for v in found if not isinstance(v, mem.Number)) | {mem.OTHER}
        if mem.has_number(found) and isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref) and not self.in_python:
            found = self._converted(state, expr, found)
        if self.in_disguise and mem.ANYWHERE not in found and self._is_read_from_anywhere(state, expr, found):
            return found | {mem.ANYWHERE}
        return found

    def _converted(self, state: State, place: ir.Expr, found: Values) -> Values:
        """What a place holds of the numbers that were stored there, by its type."""
        kind = number_type(self.type_of(place))
        if not kind and found != _NO_NUMBER:
            kinds = {number_type(self.type_at(cell)) for cell in self.cells(state, place)}
            kind = next(iter(kinds)) if len(kinds) == 1 else "bool" if "bool" in kinds else ""
        if not kind:
            return found
        held = set[mem.Value]()
        for value in found:
            if isinstance(value, mem.Number):
                text = as_held(value.text, kind)
                value = mem.OTHER if text is None else value if text == value.text else mem.Number(text)
            held.add(value)
        return frozenset(held)

    def _is_read_from_anywhere(self, state: State, expr: ir.Expr, found: Values) -> bool:
        """Whether an expression may name a place that was written as bytes, or that is found through an address which
        was made of text or bytes.
        """
        while isinstance(expr, ir.Field):
            expr = expr.base
        if isinstance(expr, ir.Index | ir.Deref) and mem.ANYWHERE in self.values(state, expr.base):
            return True
        if not self.of_bytes or not isinstance(expr, ir.Var | ir.Index | ir.Deref) or not mem.leading(found):
            return False
        return not self.of_bytes.isdisjoint(root for root, _ in self.cells(state, expr))

    def _is_static(self, cell: Cell) -> bool:
        """Whether a place is in a variable at namespace scope itself: no container, which is no address, and no element
        of one, which there is only once somebody has put it there (C++17, 26.2.1 [container.requirements.general] 3).
        """
        root, path = cell
        variable = self.global_at(root)
        kind = variable.type if variable is not None else ""
        for step, name in path:
            if step == "field":
                kind = ir.member_of_pair(kind, name) or self.classes.type_of_part(kind, [name])
            elif has_elements(kind) and "array" not in kind.partition("<")[0]:
                return False
        return root[0] == "global" and not has_elements(kind)

    def _held_by(self, state: State, expr: ir.Expr) -> Values:
        match expr:
            case ir.Var(name) if name.startswith(ir.INSTANCE):
                return frozenset({self._instance(name.removeprefix(ir.INSTANCE))})
            case ir.Var(name):
                root, is_array, variable = self.meaning(name)
                if variable is not None and variable.space != "host":  # a symbol, or what it holds
                    held = mem.leading(state.env.read((root, ()))) if variable.space == "managed" else mem.NOTHING
                    return held | {mem.Ptr(self.symbol(variable).number)}
                if is_array:
                    return frozenset({mem.Ref((root, (paths.FIRST,)))})
                if named := self.referred_by(state, root):
                    return mem.NOTHING.union(*map(state.env.read, named))
                held = state.env.read((root, ()))
                if mem.UNSET in held and self._was_null(state, (root, ()), held):
                    held |= {mem.ZERO}
                if not held and variable is None and root[0] == "global":
                    if self.program.resolve(root[2], 0, self.frame.function.span.path):
                        return frozenset(
                            {mem.Function(root[2], self.frame.function.span.path)}
                        )  # a function of another file
                return held
            case ir.Field() | ir.Index() | ir.Deref():
                found: Values = mem.NOTHING
                cells = self.cells(state, expr)
                for cell in cells:
                    held = state.env.read(cell)
                    unset = not held and len(cells) > 1
                    if unset and (self._is_static(cell) or state.env.read((cell[0], ()))):
                        # zero, as in all static storage before it is set, or a part of a whole that is not known
                        held = frozenset({mem.OTHER})
                    if mem.has_stream(held) and (self._may_be_null(state, cell) or self._was_null(state, cell, held)):
                        held |= {mem.ZERO}
                    found |= held
                leads = self.values(state, expr.base) if isinstance(expr, ir.Deref) else mem.NOTHING
                if not found and mem.OTHER in leads:
                    return frozenset({mem.OTHER})  # what an address leads to of which nothing is known
                if self._leads_elsewhere(state, expr):
                    found |= {mem.OTHER}
                if mem.COMPUTED in leads:  # an iterator of what it is made of
                    found |= leads
                for keeper in [v for v in leads if isinstance(v, mem.Handle)]:  # `*std::make_optional(view)`
                    shown = state.env.read((("global", "", keeper.name), (("at", paths.ANY),)))
                    found |= {mem.COMPUTED, *(m for v in shown if (m := mem.moved(v)) is not None)}
                if isinstance(expr, ir.Deref) and isinstance(expr.base, ir.Var):  # `*f` is the function itself
                    found |= {v for v in self.values(state, expr.base) if isinstance(v, mem.Function)}
                return found
            case ir.Addr(ir.FuncRef(name)):
                return frozenset({mem.Function(name, self.frame.function.span.path)})
            case ir.Addr(base):
                if isinstance(base, ir.Var) and self.meaning(base.name).is_array:
                    return frozenset({mem.reference((self.root(base.name), (paths.FIRST,)))})
                places = self.cells(state, base)
                if any(len(path) > MAX_PATH for _, path in places):  # a loop goes from part to part, without end
                    text = "is live where a pointer goes from one part of an object to a part of that, again and again"
                    self.obstacle(state.live, "control_flow", text, self.frame.function.span)
                    state.env.touch()  # what else is live then is to be said, too
                    return mem.UNKNOWN
                return frozenset(self.reference(c) for c in places)
            case ir.Offset(base):
                return frozenset(m for v in self.values(state, base) if (m := mem.moved(v)) is not None)
            case ir.Const(text):
                return constant(text)
            case ir.Choice(options):
                nothing = frozenset({mem.OTHER})  # an option of which nothing is known is one all the same
                options = self._as_object(state, options) if self.in_python else options
                return mem.NOTHING.union(*(self.values(state, option) or nothing for option in options))
            case ir.Opaque(parts):
                inside = [v for part in parts for v in self._made_of(state, part)]
                kept = (v if isinstance(v, mem.Function | mem.Handle) else mem.moved(v) for v in inside)
                made = [v for v in kept if v is not None]
                return frozenset({mem.COMPUTED if made else mem.OTHER, *made})
            case ir.FuncRef(name):
                return frozenset({mem.Function(name, self.frame.function.span.path)})

    def _as_object(self, state: State, options: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        """What `x.name` and `x[i]` may be where the front end does not know what `x` is: if that leads to lists and
        objects of Python only, these hold what was stored there, and have no memory of which it could be a part.
        """
        parts = dict.fromkeys(view.base for view in options if isinstance(view, ir.Offset))
        for base in parts:
            held = [one for one in options if _part_of(one, base)]
            leads = self.values(state, base)
            if not held or not all(isinstance(v, mem.Ptr) and self.is_container(v) for v in leads):
                continue
            known = [one for one in held if not isinstance(one, ir.Index) or self.key(state, one.index) != paths.ANY]
            if leads and len(known) == len(held) and all(self.values(state, one) for one in held):
                keys = [one for one in options if _is_key_of(one, base) and not self.values(state, one.base)]
                return tuple(one for one in options if one != ir.Offset(base) and one not in keys)
        return options

    def is_container(self, value: mem.Ptr) -> bool:
        """Whether this leads to an object, a list or a dictionary of Python, which holds references."""
        made = self.outcome.objects[value.object].call
        return not value.interior and made is not None and made.callee == "operator new"

    def _leads_elsewhere(self, state: State, expr: ir.Expr) -> bool:
        """Whether a member is found through a pointer that may also lead where nothing is known."""
        if not isinstance(expr, ir.Field) or self.in_python:
            return False
        while isinstance(expr, ir.Field):
            expr = expr.base
        return isinstance(expr, ir.Deref) and mem.OTHER in self.values(state, expr.base)

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
        return path not in inside and not any(paths.covers(other, path) for other in inside)

    def _was_null(self, state: State, cell: Cell, held: Values) -> bool:
        """Whether a place where a stream was stored on some paths only is null on the others. Only what is automatic,
        and neither an object of a class nor in one, is indeterminate there, and no program reads it: static storage is
        zero (C++17, 6.6.2 [basic.start.static] 2), and so is what containers, `T()` and `T{}` make (11.6 [dcl.init] 8).
        """
        if mem.UNSET not in held or self.in_python or self.any_order:
            return False
        root, path = cell
        others = [n for n, (kind, key) in enumerate(path) if kind == "at" and key.startswith("o|")]
        if others:  # there may be no other round at all: the generic one says whether each has one
            generic = tuple((k, "k" + key[1:]) if n in others else (k, key) for n, (k, key) in enumerate(path))
            if mem.UNSET not in state.env[root].get(generic, {mem.UNSET}):
                return False
        if root[0] == "memory":
            call = self.outcome.objects[int(root[1])].call
            return call is None or last(call.callee) not in ("malloc", "aligned_alloc")  # (C17, 7.22.3.4)
        if root[0] != "local":
            return root[2] not in self.program.kept("begun once", lambda: _begun_once(self.program))
        holder = next((f for f in reversed(self.frames) if f.name == root[1]), self.frame)
        if any(kind == "field" for kind, _ in path):
            return all(param.name != root[2] for param in holder.function.params)
        kind = holder.function.types.get(root[2], "auto")
        return "<" in kind or kind.startswith("auto")

    def reference(self, cell: Cell) -> mem.Value:
        """The address of a cell, for somebody to keep."""
        if cell[1] == () and cell[0][0] == "local":
            self.exposed.add(cell[0])
        return mem.reference(cell)

    def streams(self, state: State, expr: ir.Expr | None) -> frozenset[Stream]:
        """The streams that a stream argument may be."""
        if expr is None:
            return frozenset({self.default_of(state)})
        found = set()
        for value in self.not_parts(self.values(state, expr)):
            if (stream := self.stream_of(state, value)) is not None:
                found.add(stream)
            elif value is not mem.UNSET:  # no program uses it
                found.add(UNKNOWN_STREAM)
        if not found and self.empty:  # never made, because no round was run: no program gets here
            return frozenset({self.default_of(state)})
        return frozenset(found) or frozenset({UNKNOWN_STREAM})

    def not_parts(self, values: Values) -> Values:
        """What an address, a stream or an event may be. In Python a part of a list or of another object of the host,
        which an attribute or a subscript of something unknown may be, is none of these: the bindings raise.
        """
        if not self.in_python:
            return values
        objects = self.outcome.objects
        parts = {v for v in values if isinstance(v, mem.Ptr) and v.interior and objects[v.object].memory == "host"}
        return values - parts or values

    def is_one(self, x: Stream | Event) -> bool:
        """Whether this is one stream or event for certain: of a family, in the round that it belongs to."""
        return not x.summary or (bool(x.rounds) and set(x.rounds) <= set(self.family))

    def one_stream(self, streams: Collection[Stream]) -> bool:
        """Whether a stream argument that may be these is one stream for certain."""
        return len(streams) == 1 and all(map(self.is_one, streams))

    @property
    def rounds(self) -> tuple[str, ...]:
        """The rounds around here that stand for several: what is made in them is made in each."""
        return tuple(key for key in self.family if key.startswith("o|"))

    def of_other_rounds(self, x: Stream | Event) -> Bits:
        """What earlier rounds of the loop that makes `x` have run on streams of their own, and this one has not."""
        return self.in_rounds_before.get(x.rounds, 0) & ~self.in_round.get(x.rounds, 0)

    def stream_of(self, state: State, value: mem.Value) -> Stream | None:
        """The stream that a value is."""
        if value == mem.ZERO:
            return self.default_of(state)
        if not isinstance(value, mem.StreamValue):
            return None
        return self._of_device(value.stream, state) if value.stream.device == _CURRENT else value.stream

    def default_of(self, state: State) -> Stream:
        """The default stream of the device that is current: each device has one of its own (docs/FACTS.md)."""
        self.outcome.default_stream = True
        return self._of_device(self.default_stream, state)

    def _of_device(self, stream: Stream, state: State) -> Stream:
        device = self.device_of_streams(state)
        if device == "?":
            return UNKNOWN_STREAM
        if device == stream.device:
            return stream
        return replace(stream, device=device, summary=device in self.many, rounds=self.many.get(device, ()))

    def device_of_streams(self, state: State) -> str:
        """The device that is current, as streams name it."""
        self.placed = True
        return "" if state.device == self.home else state.device

    # -- memory objects --------------------------------------------------------------------------------------------

    def context(self, stmt: object) -> tuple[object, ...]:
        return (stmt, self.frame.name, self.family)

    def name_of(self, what: str, stmt: object) -> str:
        """A name for what a statement picks, another one in each call of its function and for each use of a macro."""
        return f"{what} {self._picked.setdefault(self.context(stmt), len(self._picked))}"

    def new_object(self, identity: object, memory: str, after: str, call: ir.Call | None, state: State) -> Object:
        """The memory object of an allocation, the same one whenever the same call runs in the same context."""
        found = self._objects.get(identity)
        if found is None:
            summary = bool(self.rounds)
            found = Object(len(self.outcome.objects), memory, after, call, summary, state.device)
            self._objects[identity] = found
            self.outcome.objects.append(found)
            if after == "async":
                self.async_objects |= 1 << found.number
            elif after == "host":
                self.of_the_host |= 1 << found.number
            elif after in ("pinned", "mapped", "managed") and not summary:
                self.host_visible |= 1 << found.number
        elif found.device != state.device:
            found.device = "?"
        if (again := self.made_again.get(id(self.frame.function))) is not None:
            self.is_made_again(found, *again)
        return found

    def is_made_again(self, made: Object, by: str, span: ir.Span) -> None:
        """An object is made by a function that is run again, with other values than those that are followed."""
        text = f"is made in a function that may run again while it runs, with something else: {by}"
        self.obstacle(1 << made.number, "control_flow", text, span)

    def made_as(self, pointers: Set[mem.Value]) -> set[str]:
        """The classes that `new` made the objects of to which pointers lead; none where that is not known of each."""
        calls = [self.outcome.objects[v.object].call if isinstance(v, mem.Ptr) else None for v in pointers]
        kinds = {c.template_args if c is not None and c.callee == "operator new" else "" for c in calls}
        return kinds if "" not in kinds else set()

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
            kind, is_array = self._kind_of(root)
            if kind in NUMBERS and not is_array:
                self.scalars[root] = found.number
            else:
                self.of_the_host |= 1 << found.number
            if root[0] == "global" and self.pins_elsewhere:
                self.pinned |= 1 << found.number
        return found

    def _kind_of(self, root: Root) -> tuple[str, bool]:
        """The type of a variable as it is declared, as far as that is known, and whether it is an array of these."""
        if (variable := self.global_at(root)) is not None:
            return variable.type, variable.array
        frame = next((f for f in reversed(self.frames) if f.name == root[1]), None)
        return (frame.function.types.get(root[2], ""), root[2] in frame.arrays) if frame is not None else ("", False)

    def shared(self) -> Object:
        """All memory that a second mapping, a file or another process can reach: whichever it is, it is one block."""
        found = self._objects.get(_SHARED)
        if found is None:
            found = Object(len(self.outcome.objects), "host", "host", None, True, "?")
            self._objects[_SHARED] = found
            self.outcome.objects.append(found)
            self.of_the_host |= 1 << found.number
            self.shared_bit = 1 << found.number
        return found

    def has_own_elements(self, value: mem.Value) -> bool:
        """Whether a pointer leads into the memory of the object that it is said to lead into, by the type of that: not
        where it is a view of another object, a pointer that is not followed, or has its elements from an allocator of
        which nothing is known.
        """
        if not isinstance(value, mem.Ref):
            return isinstance(value, mem.Ptr) and value.object != mem.EXTERNAL
        root, path = value.cell
        if (variable := self.global_at(root)) is not None and self._is_named_elsewhere(variable):
            return False  # code that is not seen may pin it
        if all(kind == "field" for kind, _ in path):
            return True
        if self.in_python or (root[0] == "memory" and all(kind == "at" for kind, _ in path)):
            return True
        if root[0] == "memory":
            return False
        kind, is_array = self._kind_of(root)
        own = self.program.kept("own containers", lambda: _own_containers(self.program))
        for n, (step, name) in enumerate(path):
            if step == "field":
                kind, is_array = self.classes.type_of_part(kind, [name]), False
            elif is_array:
                is_array = False
            elif last(kind.partition("<")[0]) not in own and owns_pageable_elements(kind):
                kind = element_of(kind) if n + 1 < len(path) else ""
            else:
                return False
        return True

    def _is_named_elsewhere(self, variable: ir.GlobalVar) -> bool:
        """Whether code that is not seen has a variable, or can name it: one of a library with external linkage (C++17,
        6.5 [basic.link] 2).
        """
        return not self.in_python and (variable.elsewhere or (self.program.main is None and not variable.internal))

    def is_resolved(self, values: Iterable[mem.Value]) -> bool:
        """Whether it is known of a host address where it leads, whichever of these it is. Null leads nowhere."""
        found = [v for v in values if v != mem.ZERO]
        return bool(found) and all(map(self.has_own_elements, found))

    def may_pin(self, values: Values) -> None:
        """What these addresses lead to may be pinned from here on. What comes from code that is not seen may lie in
        what such code has got, or in variables that it knows the names of.
        """
        self.pinned |= self.mask(values) & self.of_the_host
        if values >= mem.UNKNOWN:
            self.pinned |= self.wide(1) & self.of_the_host
            self.pins_elsewhere = True
            for root, found in self._objects.items():
                if isinstance(root, tuple) and root[0] == "global":
                    self.pinned |= 1 << found.number
        rest = values - mem.UNKNOWN
        self.pins_unknown |= bool(rest) and not self.is_resolved(rest)

    def any_of_the_host(self, state: State) -> Bits:
        """Where a pointer may lead that the host uses, and the device may use too, of which nothing is known."""
        bits = 1 | (state.live & self.host_visible) | self.pinned
        return self.wide(bits) if self.pins_unknown else bits

    def functions_among(self, values: Iterable[mem.Value]) -> list[ir.Function]:
        """The functions of the program that are among values."""
        return [f for v in values if isinstance(v, mem.Function) for f in self.program.resolve(v.name, 0, v.path)]

    def mask(self, values: Iterable[mem.Value]) -> Bits:
        """The objects that pointers lead to."""
        bits = 0
        for value in values:
            if isinstance(value, mem.Ptr):
                bits |= 1 << value.object
            elif isinstance(value, mem.Ref):
                root = value.cell[0]
                bits |= 1 << (int(root[1]) if root[0] == "memory" else self.variable(root).number)
                if self.moving:
                    bits |= self._memory_handed_on(value.cell)
        return bits | 1 if bits & self.shared_bit else bits

    def _memory_handed_on(self, cell: Cell) -> Bits:
        """The memory of elements that a place may share with others, as it goes from owner to owner
        (`cudafix.ordering.facts.moving`): of all among which it does, one object.
        """
        found = self._handed_on.get(cell)
        if found is None:
            root, path = cell
            known = {self._class_of(root, path)}
            known |= {self.moving.shared(".", name) for kind, name in path if kind == "field"}
            if root[0] != "memory" and all(kind == "field" for kind, _ in path):
                kind, is_array = self._kind_of(root)
                if is_array or kind not in NUMBERS and not kind.endswith("*"):  # a whole, with all that is in it
                    known |= self.moving.members
            found = sum(1 << self._memory_among(one).number for one in known if one is not None)
            if root[0] != "local" or any(f.name == root[1] for f in self.frames):
                self._handed_on[cell] = found
        return found

    def _class_of(self, root: Root, path: paths.Path) -> Node | None:
        if root[0] == "memory":
            return self.moving.shared(*BEHIND) if len(path) > 1 else None
        if root[0] == "global":
            return self.moving.shared("", last(root[2]))
        frame = next((f for f in reversed(self.frames) if f.name == root[1]), None)
        return self.moving.shared(frame.function.name, root[2]) if frame is not None else None

    def _memory_among(self, one: Node) -> Object:
        """The memory of elements of a class of variables."""
        found = self._objects.get(("handed on", one))
        if found is None:
            found = Object(len(self.outcome.objects), "host", "host", None, True, "?")
            self._objects["handed on", one] = found
            self.outcome.objects.append(found)
            self.of_the_host |= 1 << found.number
        return found

    def reachable(self, state: State, values: Values) -> Values:
        """Everything that can be reached from pointers, handles and structs of them."""
        found, fresh = set(values), set(values)
        while fresh:
            held: set[mem.Value] = set()
            for value in fresh:
                if isinstance(value, mem.Ptr | mem.Ref):
                    held |= state.env.content(value)
                elif isinstance(value, mem.Handle):
                    held |= state.env[("global", "", value.name)].content(())
                elif isinstance(value, mem.Function):
                    held.update(self._shared_with(state, value))
            fresh = held - found
            found |= fresh
        self.step(len(found) // VALUES_OF_A_STEP)
        return frozenset(found)

    def _shared_with(self, state: State, function: mem.Function) -> Iterator[mem.Value]:
        """What a lambda reaches through the variables that it shares."""
        around = function.name.rpartition(ir.LAMBDA)[0]
        homes = [f.name for f in self.frames if f.function.name == around] if around else []
        for made in self.program.resolve(function.name, 0, function.path) if homes else ():
            names = made.kept("names", ir.names_in) & (made.captures | {"this"}) | made.copies
            for root in (("local", home, name) for home in homes for name in names):
                yield mem.Ref((root, ()))
                for values in state.env[root].values():
                    yield from values

    def parts(self, state: State, expr: ir.Expr) -> dict[paths.Path, Values]:
        """What the parts of a struct hold that an expression names."""
        if not isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref | ir.Choice):
            return {}
        cells = self.cells(state, expr)
        found = state.env.parts(cells)
        self.step(len(cells) * len(found) // PARTS_OF_A_STEP)
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
            shown = any(isinstance(v, mem.Ref) and not self.has_own_elements(v) for v in values)
            return self.any_of_the_host(state) if shown else 0
        device = sum(1 << n for n in numbers(state.live) if self.outcome.objects[n].memory != "host")
        return device | (self.any_of_the_host(state) if self.pinned or self.pins_unknown else 0)

    def type_of(self, expr: ir.Expr) -> str:
        raise NotImplementedError

    def step(self, number: int = 1) -> None:
        """Count steps against what the proof of a program may cost. Raises OutOfBudget, or Settled."""
        raise NotImplementedError

    def is_unset(self, values: Values) -> bool:
        """Whether nothing is known of where a pointer leads, though it must have been set."""
        if mem.ANYWHERE in values:
            return True
        known = any(not isinstance(v, mem.Other | mem.Number) or v == mem.ZERO for v in values)
        return not (known or self.any_order or self.empty)

    def place(self, state: State, expr: ir.Expr | None) -> Cell | None:
        """The one cell that an expression is for certain, None if that is not known."""
        cells = self.cells(state, expr) if isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref) else []
        return cells[0] if len(cells) == 1 and not paths.is_summary(cells[0][1]) else None

    def is_gone(self, state: State, expr: ir.Expr | None) -> bool:
        """Whether what an expression holds was given back for certain, and was not set since."""
        while isinstance(expr, ir.Offset):
            expr = expr.base
        return bool(state.env.gone) and self.place(state, expr) in state.env.gone

    def as_address(self, place: ir.Expr, values: Values) -> Values:
        """What a place holds in which values are stored: what is no address becomes one where the place is a pointer by
        its type. It was made of text, bytes or a number, and may be the address of anything.
        """
        named = any(isinstance(v, mem.Number) and "::" in v.text and "|" not in v.text for v in values)
        if (
            not (mem.OTHER in values or named) or mem.MIXED in values
        ):  # numbers beside addresses, as they are not told apart
            return values
        kind = _TEMPLATE_ARGUMENTS.sub("", self.type_stored_in(place))  # a container of addresses is none
        if ADDRESS.search(kind) is None or _NEVER_FOLLOWED.search(kind) is not None:
            return values
        self.in_disguise = True
        return values | {mem.ANYWHERE}

    def type_stored_in(self, place: ir.Expr) -> str:
        """The type of an lvalue: what a pointer leads to has one `*` less than that."""
        if not isinstance(place, ir.Index | ir.Deref):
            return self.type_of(place)
        kind = self.type_stored_in(place.base).rstrip()
        if isinstance(place, ir.Deref) and kind.endswith("&"):  # a reference by its name is an address
            return kind[:-1]
        if isinstance(place.base, ir.Var) and self.meaning(place.base.name).is_array:
            return kind
        kind = kind.rstrip("& ")
        if kind.endswith("*"):
            return kind[:-1]
        return self.type_of(place) if "<" in kind else kind  # a container; else an array of arrays, by an alias

    def written_as_bytes(self, state: State, places: Iterable[Cell]) -> None:
        """Somebody writes bytes into places: each address or handle that they hold may be another one from here on."""
        for root, path in list(places):
            base = array_of(path)
            for inner, values in state.env.under((root, base)):
                if mem.leading(values):
                    cell = root, (*base, *inner)
                    state.env.replace(cell, values | {mem.ANYWHERE})
                    self.in_disguise = True

    def leads_to_addresses(self, state: State, values: Values) -> list[Cell]:
        """The places that pointers lead to and that hold addresses or handles."""
        cells = [cell for v in values if (cell := mem.at(v, "0")) is not None and cell[0] != _OUT_OF_SIGHT]
        found: list[Cell] = []
        for root, path in cells:
            base = array_of(path)
            if any(mem.leading(held) for _, held in state.env.under((root, base))):
                found.append((root, path))
        return found

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

    def on_device(self, values: Values, kinds: frozenset[str] = ON_DEVICE) -> Bits:
        """The memory that pointers lead to and that the device may work on, of these kinds."""
        bits = 0
        for number in numbers(self.mask(values) & ~1):
            if self.outcome.objects[number].memory in kinds:
                bits |= 1 << number
        return bits

    def obstacle(self, bits: Bits, name: str, text: str, span: ir.Span) -> None:
        """The objects in `bits` cannot be migrated."""
        reason = Obstacle(name, text, span)
        for number in numbers(bits & ~1):
            self.outcome.obstacles.setdefault(number, {}).setdefault((name, span), reason)

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
        """Note a `Violation`, each once; of work that is assumed to be there and may still run, one for its frees."""
        if self.others:  # the generic round stands for the others
            return
        key: tuple[object, ...] = (kind, earlier and earlier.number, later.span, about and about.number, streams)
        if earlier is not None and earlier.assumption is not None and kind in _MAY_STILL_RUN:
            self.told |= 1 << earlier.number
            key = (earlier.assumption, via)
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
        elif found.device != state.device:
            found.device = "?"
        return found

    def conflicts(self, lost: Bits, reads: Bits, writes: Bits, state: State) -> Iterator[Operation]:
        """The lost operations that touch the same memory, one of the two writing."""
        for number in numbers(lost):
            other = self.outcome.operations[number]
            gone = sum(1 << n for n, used in state.used.items() if not used >> number & 1)
            theirs, written = (other.reads | other.writes) & ~gone, other.writes & ~gone
            if self.wide(writes) & self.wide(theirs) or self.wide(reads) & self.wide(written):
                yield other

    def wide(self, bits: Bits) -> Bits:
        """External memory may be anything that has escaped, and the other way round."""
        escaped = self.escaped
        if self.pins_unknown:
            escaped |= self.of_the_host
            escaped |= sum(1 << n for root, n in self.scalars.items() if root in self.exposed)
        if bits & 1:
            bits |= escaped
        return bits | 1 if bits & escaped else bits

    def host_observes(
        self, state: State, kind: Wrong, point: Point, *, reads: Bits = 0, writes: Bits = 0, everything: bool = False
    ) -> None:
        """The host looks at memory, or at everything: no operation that matters may be pending in Q and not in P."""
        lost = state.orders.lost.get(HOST, 0) & ~self.told
        if lost and not self.others:
            if everything:
                found: Iterable[Operation] = [self.outcome.operations[n] for n in numbers(lost)]
            elif kind in (Wrong.OUTPUT, Wrong.EXIT):
                found = [o for n in numbers(lost) if (o := self.outcome.operations[n]).prints]
            else:
                found = self.conflicts(lost, reads, writes, state)
            for op in found:
                self.wrong(kind, op, point, via=tuple(op.via))

    def faults_are_reported(self, state: State, point: Point) -> None:
        """What the user sees now must not be there if an operation has failed: P would have stopped before."""
        for number in numbers(state.unreported & ~self.told if not self.others else 0):
            op = self.outcome.operations[number]
            self.wrong(Wrong.FAULT, op, point, via=tuple(op.via))

    def looks(self, state: State) -> None:
        """The program looks at a status: it learns of the errors of all operations that have finished.

        Reporting an error one checked call later is not a loss, never reporting it is (docs/FACTS.md).
        """
        orders = state.orders
        state.unreported = (state.unreported & orders.pending[HOST]) | orders.lost.get(HOST, 0)
        if HOST in state.round_waits:
            state.round_waits[STATUS] = state.round_waits[HOST]

    def work_of(self, device: str) -> Bits:
        """The operations that a wait for a device covers."""
        if self._devices == {device}:
            return -1
        bits = 0
        if device != "?":
            for op in self.outcome.operations:
                if op.device == device:
                    bits |= 1 << op.number
        return bits


def leading_parts(parts: Mapping[paths.Path, Values]) -> dict[paths.Path, Values]:
    """What the parts of a number lead to: it has none, and so it was not known of which class the object is from which
    they come.
    """
    return {path: leads for path, values in parts.items() if (leads := mem.leading(values))}


def _own_containers(program: Program) -> frozenset[str]:
    """The classes of a program that are called like containers of the standard library."""
    named = (last(cls.partition("<")[0]) for module in program.modules for cls in module.fields)
    return NAMES.intersection(named)


def _overlaid(program: Program) -> dict[str, frozenset[str]]:
    """The data members that share memory with others, by name."""
    found: dict[str, frozenset[str]] = {}
    for module in program.modules:
        for name, others in module.overlaid.items():
            found[name] = found.get(name, frozenset()) | others
    return found


def _begun_once(program: Program) -> frozenset[str]:
    """The variables with static storage that begin with a value of their own when their function runs first."""
    tests = (s.test.text for f in program.functions() for s in f.statements if isinstance(s, ir.If))
    return frozenset(text.removeprefix("static ") for text in tests if text.startswith("static "))


def _around(program: Program) -> dict[str, str]:
    """The functions of Python that stand in another one, and that one, by their names."""
    names = {function.name for function in program.functions() if function.span.path.endswith(ir.PYTHON)}
    found = {name: name.rpartition("::")[0] for name in names}
    return {name: around for name, around in found.items() if around in names}


def _closures(program: Program) -> dict[tuple[str, str], str]:
    """The copies of variables that the closures of lambdas have, as variables of the functions around these: by the
    function and the name, the lambda.
    """
    return {(f.name.rpartition(ir.LAMBDA)[0], copy): f.name for f in program.functions() for copy in f.copies}


def _aliased(program: Program) -> frozenset[str]:
    """The variables at namespace scope that may share memory with others: those without a declaration of their own,
    which are members of an anonymous union (C++20, 11.5.2 [class.union.anon]) or names of a structured binding, and
    what such a binding is made of (9.6 [dcl.struct.bind]); those with a second name (`Module.second_names`), and
    those of one name with C linkage; and static data members that a header may name which does not see their class
    (C++17, 17.6.2.1 [temp.dep.type]).
    """
    found: set[str] = set()
    of_c: set[str] = set()
    for module in program.modules:
        found |= module.second_names
        if module.members_by_name and (
            not module.path.endswith(SOURCES) or Scopes.of(program).is_included(module.path)
        ):
            for name in program.globals:
                if (seen := module.members_by_name.get(last(name))) is not None and name not in seen:
                    found.update((name, f"::{name}") if name.rpartition("::")[0] in Scopes.of(program).classes else ())
        of_c |= module.of_c
    if of_c:
        alike: dict[str, set[str]] = {}
        for module in program.modules:
            for one in module.globals:
                if last(one.name) in of_c and not one.internal:
                    alike.setdefault(last(one.name), set()).add(one.name)
        found.update(name for names in alike.values() if len(names) > 1 for name in names)
    for function in program.functions():
        if function.span.path.endswith(ir.PYTHON):
            continue
        for stmt in function.statements:
            places: tuple[ir.Expr | None, ...] = ()
            match stmt:
                case ir.Assign(target, value):
                    places = (target,)
                    if isinstance(target, ir.Var) and "[" in target.name:
                        found.update(e.name for e in ir.variables(value) if isinstance(e, ir.Var) and "::" in e.name)
                case ir.HostAccess(_, writes):
                    places = writes
                case ir.Call():
                    places = (stmt.result, *(arg for arg in stmt.args if isinstance(arg, ir.Addr)))
                case _:
                    pass
            for place in places:
                while isinstance(place, ir.Field | ir.Index | ir.Addr):
                    place = place.base
                if not isinstance(place, ir.Var) or place.name.startswith("::<"):  # a name of cudafix's own
                    continue
                if place.name.startswith("::") and place.name[2:] not in program.globals:
                    found.add(place.name)
    return frozenset(found)


def _part_of(expr: ir.Expr, base: ir.Expr) -> bool:
    """Whether this is an attribute or an element of what an expression leads to."""
    return (isinstance(expr, ir.Field) and expr.base == ir.Deref(base)) or (
        isinstance(expr, ir.Index) and expr.base == base
    )


def _is_key_of(expr: ir.Expr, base: ir.Expr) -> TypeGuard[ir.Index]:
    """Whether this is any key of what an expression leads to, if that is a dictionary."""
    return isinstance(expr, ir.Index) and _part_of(expr.base, base)
