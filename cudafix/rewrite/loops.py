"""The loops around a statement, in front of which and behind which other statements can be written.

What is written there runs once, whatever number of rounds a loop has; the proof decides whether that is enough.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cudafix import ir
from cudafix.ir import blocks_of
from cudafix.ir.link import Program
from cudafix.ordering.interpreter.program import Key, key_of
from cudafix.rewrite.own_events import inserted, is_inside
from cudafix.rewrite.pool_setup import is_in_macro
from cudafix.rewrite.statements import Names, usual_check

_LOOP = re.compile(rb"(?:for|while|do)\b")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Beside(NamedTuple):
    """The places in front of a loop and behind it, and what a call that is written there does with its status."""

    loop: ir.Loop
    look: ir.Look


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """An event that is made in front of a loop, recorded in its rounds, and destroyed behind it. A wait is for what had
    been recorded when it was issued, so one event serves all waits of a loop (CUDA runtime API, `cudaStreamWaitEvent`).
    Its variable has no initializer: a jump may pass that (C++17, 9.7 [stmt.dcl] 3).
    """

    name: str
    loop: Key
    statements: Mapping[Key, ir.Stmt] = field(compare=False)  # the loop, at its place

    @property
    def place(self) -> ir.Expr:
        return ir.Var(f"{self.name}@{self.loop.start}")

    def paths(self) -> list[str]:
        """The files that it is written to."""
        return [self.loop.path]

    def steps(self) -> Iterator[tuple[Key, bool, ir.Call]]:
        """What runs at which statement, in front of it or behind it."""
        at, disable = self.statements[self.loop], ir.Const("cudaEventDisableTiming")
        yield self.loop, False, inserted("cudaEventCreateWithFlags", (ir.Addr(self.place), disable), at)
        yield self.loop, True, inserted("cudaEventDestroy", (self.place,), at)


class Loops:
    """Finds loops in the functions of some programs, with the texts of their files and the names that are free."""

    def __init__(
        self,
        programs: Sequence[Program],
        files: Mapping[str, bytes],
        names: Callable[[str], Names] = lambda path: Names(),
    ) -> None:
        self.files = files
        self.names = names
        self._together = [[module.path for module in program.modules] for program in programs]
        self._events: dict[Key, LoopEvent] = {}
        self._functions: dict[str, dict[int, ir.Function]] = defaultdict(dict)
        for function in (function for program in programs for function in program.functions()):
            self._functions[function.span.path][id(function)] = function
        self._found: dict[Key, tuple[Beside, ...]] = {}

    def around(self, key: Key) -> tuple[Beside, ...]:
        """The loops around a statement beside which another may stand, the outermost first; none where the programs
        that have the statement do not agree on them.
        """
        if key not in self._found:
            chains = [chain for f in self._around(key) if (chain := _chain(f.body, key)) is not None]
            agreed = len({tuple(loop.span for loop in chain) for chain in chains}) == 1
            self._found[key] = tuple(map(self._beside, filter(self._has_room_beside, chains[0]))) if agreed else ()
        return self._found[key]

    def is_known_beside(self, expr: ir.Expr, loop: ir.Loop) -> bool:
        """Whether all variables of an expression in a loop mean the same outside of it: none is declared in it."""
        inside = {
            stmt.var
            for function in self._around(key_of(loop))
            for stmt in ir.walk(function.body)
            if isinstance(stmt, ir.Declare) and is_inside(key_of(stmt), loop.span)
        }
        named = {part for part in ir.variables(expr) if isinstance(part, ir.Var)}
        return not any(var in inside or var == loop.index or var.name.startswith("%") for var in named)

    def event(self, loop: ir.Loop) -> LoopEvent | None:
        """The event of a loop; None where something leaves the loop without passing the place behind it."""
        key = key_of(loop)
        if any(isinstance(stmt, ir.Return | ir.Goto) for stmt in ir.walk((loop,))):
            return None
        if key not in self._events:
            self._events[key] = LoopEvent(self._name(key), key, {key: loop})
        return self._events[key]

    def _name(self, key: Key) -> str:
        """A name that means nothing in the texts of the programs that have a loop: within its block it would mean the
        event.
        """
        beside = {path for paths in self._together if key.path in paths for path in paths}
        taken = {
            event.name
            for function in self._around(key)
            for event in self._events.values()
            if is_inside(event.loop, function.span)
        }
        names = self.names(key.path)
        name = names.free("done", "work_is_done")
        while name in taken or any(re.search(rb"\b%s\b" % name.encode(), self.files[path]) for path in beside):
            name = names.free(name + "_", name + "_")
        return name

    def _around(self, key: Key) -> Iterator[ir.Function]:
        """The functions in whose text a statement is."""
        return (f for f in self._functions[key.path].values() if is_inside(key, f.span))

    def _beside(self, loop: ir.Loop) -> Beside:
        check = usual_check(self._around(key_of(loop)), self.files[loop.span.path], loop.span.end)
        return Beside(loop, ir.Look.CHECKED if check is not None and check.looks else ir.Look.IGNORED)

    def _has_room_beside(self, loop: ir.Loop) -> bool:
        """Whether a loop is a statement of a block, as its text says: the body of a branch without braces is none."""
        data, start, end = self.files[loop.span.path], loop.span.start, loop.span.end
        in_front = _COMMENT.sub(b"", data[:start]).rstrip()
        return (
            _LOOP.match(data, start) is not None
            and data[start:end].rstrip()[-1:] in (b"}", b";")
            and in_front[-1:] in (b"{", b"}", b";")
            and not is_in_macro(data, start)
        )


def _chain(block: ir.Block, key: Key) -> tuple[ir.Loop, ...] | None:
    """The loops of a block that hold a call or a launch, the outermost first; None if it is not in there."""
    for stmt in block:
        if isinstance(stmt, ir.Call | ir.Launch) and key_of(stmt) == key:
            return ()
        for inner in blocks_of(stmt):
            if (found := _chain(inner, key)) is not None:
                return (stmt, *found) if isinstance(stmt, ir.Loop) else found
    return None
