"""One of several: a name for the stream that a place holds where it is not known which stream that is.

`cudaStream_t s = streams[head]` is one stream, whichever it is. What is issued on `s` and what waits for `s` are in
order for certain, as long as the same value is in the same place. So a place that may hold several streams gets a name
for the one that it holds when it is used first (`Orders.chosen`): one that may be each of them. The name goes wherever
the value is copied. When the place holds something else, a new one is chosen, and the older one, where somebody has a
copy of that, is one of several again: a name stands for one stream at a time.
"""

from __future__ import annotations

from collections.abc import Collection

from cudafix import ir
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.ordering.facts import paths
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.frames import ANY_ELEMENT, State
from cudafix.ordering.interpreter.machine import UNKNOWN_STREAM, Machine
from cudafix.ordering.interpreter.memory import Cell, Values
from cudafix.ordering.interpreter.program import Overlay
from cudafix.ordering.interpreter.state import Stream, StreamKind

_NO_OTHER = frozenset({mem.OTHER, mem.ZERO, mem.UNSET})  # beside streams, what is no address and no other handle


class Chosen(Machine):
    """Names what is one of several for certain."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self._chosen: dict[tuple[Cell, tuple[str, ...], str], int] = {}
        self._call_of: dict[Stream, str] = {}  # the call in whose variables it was chosen
        self._in_closures = {name for _, name in self.closures}
        self.recursions = 0  # around here

    def streams(self, state: State, expr: ir.Expr | None) -> frozenset[Stream]:
        found = super().streams(state, expr)
        if expr is None or self.one_stream(found):
            return found
        one = self._stream_at(state, expr, found)
        return frozenset({one}) if one is not None else found

    def choose(self, state: State, expr: ir.Expr, values: Values) -> None:
        """Let a place that holds one of several streams hold that one by a name."""
        if mem.has_stream(values) and not self.in_python:
            self.streams(state, expr)

    def read(self, state: State, expr: ir.Expr) -> Values:
        """What an expression has when the program itself reads it: something that was set."""
        values = self.values(state, expr)
        if mem.has_stream(values) and not self.in_python:
            self.used(state, expr)
            values = self.values(state, expr) - {mem.UNSET}
        return values

    def used(self, state: State, expr: ir.Expr | None) -> None:
        """The program uses a stream: what it is was set before (C++17, 11.6 [dcl.init] 12), and is there."""
        if expr is None or self.in_python or isinstance(expr, ir.Const):
            return
        streams = self.streams(state, expr)
        if streams & state.destroyed and streams & state.orders.one_of.keys():
            state.destroyed -= streams
        cell = self._only_place(state, expr)
        held = state.env.read(cell) if cell is not None else mem.NOTHING
        if cell is not None and mem.UNSET in held and mem.has_stream(held):
            state.env.refine(cell, held - {mem.UNSET})

    def _stream_at(self, state: State, expr: ir.Expr, found: Collection[Stream]) -> Stream | None:
        """A name for the stream that a place holds, one of those `found`; None where it may be several places."""
        cell = self._only_place(state, expr)
        if cell is None or not (mem.has_stream(held := self.values(state, expr)) or self.empty):
            return None
        if any(not isinstance(v, mem.StreamValue) and v not in _NO_OTHER for v in held):
            return None  # a pack has all of its elements in one place, a union something else
        known = frozenset(found) - {UNKNOWN_STREAM}
        anything = UNKNOWN_STREAM in found
        kinds, devices = {s.kind for s in found}, {s.device for s in known}
        kind = kinds.pop() if len(kinds) == 1 and not anything else StreamKind.UNKNOWN
        device = devices.pop() if len(devices) == 1 else "?"
        if not mem.has_stream(held):  # where no round was run that would have made one, no program gets here
            device = self.device_of_streams(state)
        number = self._chosen.setdefault((cell, self.rounds, device), len(self._chosen))
        one = Stream(f"one of several streams {number}", kind, bool(self.rounds), device, self.rounds)
        if one in state.orders.one_of:
            self._forget(state, one, cell)
        self._call_of[one] = str(cell[0][1])
        state.orders.chosen(one, known, anything, self.of_other_rounds(one))
        if state.destroyed & known:
            state.destroyed |= {one}
        unset = mem.NOTHING if mem.ZERO in held else held & {mem.UNSET}  # else it is null, which is one of these
        state.env.refine(cell, frozenset({mem.StreamValue(one)}) | unset)
        return one

    def _only_place(self, state: State, expr: ir.Expr) -> Cell | None:
        """The one place that an expression is for certain, and of which there is one: in each round around here."""
        if self.in_python or state.threads or self.recursions:
            return None
        if not isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            return None
        cells = self.cells(state, expr)
        if len(cells) != 1:
            return None
        ((root, path),) = cells
        if root[0] == "memory":
            number = int(root[1])
            made = self.outcome.objects[number]
            if number == mem.EXTERNAL or made.summary or made.several:
                return None
        elif root[0] == "local" and self._stands_for_several(root):
            return None
        if root in state.env.several or root in self.unfollowed:
            return None
        if any(paths.is_summary((step,)) and step[1] not in self.family for step in path):
            return None
        if state.env.is_overlaid(path) or (state.env.puns and state.env.puns.has(root, state.env[root])):
            return None
        return root, path

    def _stands_for_several(self, root: mem.Root) -> bool:
        """Whether a variable is one of several of its name: the copies of closures, the elements of a pack, what an
        algorithm gives its functions, the other objects of a client.
        """
        name = root[2]
        if name in self._in_closures or name.startswith(ANY_ELEMENT) or name == "%other":
            return True
        holder = next((f for f in reversed(self.frames) if f.name == root[1]), None)
        return holder is None or "..." in holder.function.types.get(name, "")

    def _forget(self, state: State, one: Stream, cell: Cell | None = None) -> None:
        """A name is given to another stream: who has a copy of what it stood for has one of several again."""
        value = mem.StreamValue(one)
        among = state.orders.one_of[one]
        known = [s for s in state.orders.may_be(one) if s not in state.orders.one_of] if among is None else among
        any_of: Values = frozenset(map(mem.StreamValue, known)) | ({mem.OTHER} if among is None else mem.NOTHING)
        for root, inner in list(state.env):
            for path, values in inner.items():
                if value in values and (root, path) != cell:
                    state.env.refine((root, path), values - {value} | any_of)

    def forget_chosen(self, state: State) -> None:
        """What was chosen is one of several again, wherever it is held."""
        for one in list(state.orders.one_of):
            self._forget(state, one)
            state.orders.forget_stream(one)

    def calls_end(self, state: State, names: Collection[str], returned: Values) -> None:
        """The variables of calls are gone, and so are the names of what they held, if nobody has a copy."""
        state.env.forget_calls(names)
        for one in [s for s in state.orders.one_of if self._call_of[s] in names]:
            value = mem.StreamValue(one)
            if value not in returned and not any(value in held for _, inner in state.env for held in inner.values()):
                state.orders.forget_stream(one)
