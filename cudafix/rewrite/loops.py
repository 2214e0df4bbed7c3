"""The loops and branches around a statement, in front of which and behind which other statements can be written.

What is written there runs once, whatever number of rounds a loop has and whichever branches run; the proof decides
whether that is enough.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from cudafix import ir
from cudafix.ir import blocks_of
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering.facts.event_objects import EventClass, EventObjects
from cudafix.ordering.interpreter.program import Key, key_of
from cudafix.rewrite.own_events import inserted, is_inside
from cudafix.rewrite.pool_setup import is_in_macro
from cudafix.rewrite.statements import Names, usual_check

_KEYWORD = re.compile(rb"(?:for|while|do|if)\b")
_REST_OF_A_LINE = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|$)")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Beside(NamedTuple):
    """The places in front of a loop or a branch and behind it, and what a call that is written there does with its
    status.
    """

    stmt: ir.Loop | ir.If
    look: ir.Look


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """An event that is made in front of a loop, recorded in its rounds, and destroyed behind it. A wait is for what had
    been recorded when it was issued, so one event serves all waits of a loop (CUDA runtime API, `cudaStreamWaitEvent`).
    Its variable has no initializer: a jump may pass that (C++17, 9.7 [stmt.dcl] 3). If it is an object of a class of
    the program, that destroys the event where it goes out of scope.
    """

    name: str
    loop: Key
    statements: Mapping[Key, ir.Stmt] = field(compare=False)  # the loop, at its place
    cls: EventClass | None = None

    @property
    def place(self) -> ir.Expr:
        variable = ir.Var(f"{self.name}@{self.loop.start}")
        return variable if self.cls is None else ir.Field(variable, self.cls.member)

    @property
    def text(self) -> str:
        """What the event is called."""
        return self.name if self.cls is None else self.name + self.cls.value

    @property
    def object(self) -> str:
        """The declaration of the object that it is, if it is one."""
        flags = "(cudaEventDisableTiming)" if self.cls is not None and self.cls.flags else ""
        return f"{self.cls.name} {self.name}{flags};" if self.cls is not None else ""

    def paths(self) -> list[str]:
        """The files that it is written to."""
        return [self.loop.path]

    def steps(self) -> Iterator[tuple[Key, bool, ir.Call]]:
        """What runs at which statement, in front of it or behind it."""
        at, disable = self.statements[self.loop], ir.Const("cudaEventDisableTiming")
        yield self.loop, False, inserted("cudaEventCreateWithFlags", (ir.Addr(self.place), disable), at)
        if self.cls is None:
            yield self.loop, True, inserted("cudaEventDestroy", (self.place,), at)


class Loops:
    """Finds loops in the functions of some programs, with the texts of their files and the names that are free."""

    def __init__(
        self,
        programs: Sequence[Program],
        files: Mapping[str, bytes],
        names: Callable[[str], Names] = lambda path: Names(),
        tables: Tables | None = None,
    ) -> None:
        self.files = files
        self.names = names
        self.tables = tables
        self._programs = programs
        self._together = [[module.path for module in program.modules] for program in programs]
        self.called: set[Key] = set()
        """The calls that somebody was told of, and the loops and branches around them: something may stand there."""
        self._of_python: dict[str, frozenset[tuple[int, int]]] = {}
        self._events: dict[Key, LoopEvent] = {}
        self._functions: dict[str, dict[int, ir.Function]] = defaultdict(dict)
        for function in (function for program in programs for function in program.functions()):
            self._functions[function.span.path][id(function)] = function
        self._found: dict[Key, tuple[ir.Loop | ir.If, ...]] = {}

    def around(self, key: Key) -> tuple[Beside, ...]:
        """The loops around a statement beside which another may stand, the outermost first; none where the programs
        that have the statement do not agree on them.
        """
        return self._beside_all(stmt for stmt in self._compound(key) if isinstance(stmt, ir.Loop))

    def branches(self, key: Key) -> tuple[Beside, ...]:
        """The branches around a statement, within the innermost loop, likewise; none that is the end of its function,
        as the handling of an error is: what stands in front of it runs mostly for others.
        """
        in_rounds = reversed(self._compound(key))
        inner = list(takewhile(lambda stmt: isinstance(stmt, ir.If) and not self._leaves(stmt), in_rounds))
        return self._beside_all(reversed(inner))

    def _leaves(self, stmt: ir.Stmt) -> bool:
        """Whether a block of a statement ends with one that leaves the function."""
        behind = (block[-1] for block in blocks_of(stmt) if block)
        return any(isinstance(s, ir.Return | ir.Goto) or (isinstance(s, ir.Call) and self._ends(s)) for s in behind)

    def _ends(self, call: ir.Call) -> bool:
        """Whether the process ends with a call."""
        known = self.tables is not None and call.receiver is None
        api = self.tables.lookup(call.callee, len(call.args)) if self.tables is not None and known else None
        return api is not None and api.effect is Effect.EXIT

    def every(self, key: Key) -> Iterator[Key]:
        """The places of all loops and branches around a statement."""
        return map(key_of, self._compound(key))

    def calls(self, key: Key) -> tuple[ir.Call, ...]:
        """The calls that run the function which a statement is in, in the order of the text; none where more than one
        function has the statement, or no text calls it.
        """
        around = self.function_at(key)
        found = self._callers.get(next(iter(around)), {}) if len(around) == 1 else {}
        self.called.update(found, *map(self.every, found))
        return tuple(found[at] for at in sorted(found))

    @cached_property
    def _callers(self) -> Mapping[ir.Span, dict[Key, ir.Call]]:
        """The calls of each function, by its text."""
        found: dict[ir.Span, dict[Key, ir.Call]] = defaultdict(dict)
        for program in self._programs:
            for function in program.functions():
                for call in (stmt for stmt in function.statements if isinstance(stmt, ir.Call)):
                    for meant in program.resolve(call.callee, len(call.args), call.span.path, function.cls):
                        found[meant.span][key_of(call)] = call
        return found

    def is_known_beside(self, expr: ir.Expr, stmt: ir.Loop | ir.If) -> bool:
        """Whether all variables of an expression in a loop or branch mean the same outside of it: none is declared in
        it.
        """
        inside = {
            declared.var
            for function in self._around(key_of(stmt))
            for declared in ir.walk(function.body)
            if isinstance(declared, ir.Declare) and is_inside(key_of(declared), stmt.span)
        }
        index = stmt.index if isinstance(stmt, ir.Loop) else None
        named = {part for part in ir.variables(expr) if isinstance(part, ir.Var)}
        return not any(var in inside or var == index or var.name.startswith("%") for var in named)

    def function_at(self, key: Key) -> set[ir.Span]:
        """The texts of the functions that a place is in."""
        return {function.span for function in self._around(key)}

    def _compound(self, key: Key) -> tuple[ir.Loop | ir.If, ...]:
        """The loops and branches around a statement, the outermost first; none where the programs do not agree."""
        if key not in self._found:
            chains = [chain for f in self._around(key) if (chain := _chain(f.body, key)) is not None]
            agreed = len({tuple(stmt.span for stmt in chain) for chain in chains}) == 1
            self._found[key] = chains[0] if agreed else ()
        return self._found[key]

    def _beside_all(self, stmts: Iterable[ir.Loop | ir.If]) -> tuple[Beside, ...]:
        return tuple(map(self._beside, filter(self._has_room_beside, stmts)))

    def event(self, loop: ir.Loop | ir.If) -> LoopEvent | None:
        """The event of a loop; None where something leaves the loop without passing the place behind it, and no object
        can hold it.
        """
        key = key_of(loop)
        cls = self._class_at(key)
        if cls is None and any(isinstance(stmt, ir.Return | ir.Goto) for stmt in ir.walk((loop,))):
            return None
        if key not in self._events:
            self._events[key] = LoopEvent(self._name(key), key, {key: loop}, cls)
        return self._events[key]

    def _class_at(self, key: Key) -> EventClass | None:
        """The class of the program whose objects hold events, where one may be declared: no jump may pass it (C++17,
        9.7 [stmt.dcl] 3), and the class is defined in front of it, or in a header that the file names.
        """
        around = list(self._around(key))
        jumps = (ir.Label, ir.Goto, ir.Switch)
        if self.tables is None or any(isinstance(stmt, jumps) for f in around for stmt in f.statements):
            return None
        programs = [program for program in self._programs if key.path in (m.path for m in program.modules)]
        found = [EventObjects.of(program, self.tables).classes for program in programs]
        if not found or any(classes != found[0] for classes in found):
            return None
        known = [cls for cls in found[0].values() if self._is_known_at(cls, key)]
        return known[0] if len(known) == 1 else None

    def _is_known_at(self, cls: EventClass, key: Key) -> bool:
        at = cls.constructor.span
        if not is_declarable(cls.name, self.files[at.path], at.start):
            return False
        name = last(cls.name).encode()
        if re.search(rb"[\w>*&]\s+%s\s*[;=,\[]" % name, self.files[key.path]) is not None:
            return False  # a variable of this name hides the class (C++17, 6.3.10 [basic.scope.hiding] 2)
        if at.path == key.path:
            return at.end < min(function.span.start for function in self._around(key))
        header = os.path.basename(at.path).encode()
        return re.search(rb'#\s*include\s*["<](?:[^">]*/)?%s[">]' % re.escape(header), self.files[key.path]) is not None

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

    def _python_loops(self, path: str) -> frozenset[tuple[int, int]]:
        if path not in self._of_python:
            self._of_python[path] = frozenset(_loops_of(self.files[path]))
        return self._of_python[path]

    def _around(self, key: Key) -> Iterator[ir.Function]:
        """The functions in whose text a statement is."""
        return (f for f in self._functions[key.path].values() if is_inside(key, f.span))

    def _beside(self, stmt: ir.Loop | ir.If) -> Beside:
        check = usual_check(self._around(key_of(stmt)), self.files[stmt.span.path], stmt.span.end)
        return Beside(stmt, ir.Look.CHECKED if check is not None and check.looks else ir.Look.IGNORED)

    def _has_room_beside(self, stmt: ir.Loop | ir.If) -> bool:
        """Whether a loop or branch is a statement of a block, as its text says: the body of a branch without braces is
        none.
        """
        data, start, end = self.files[stmt.span.path], stmt.span.start, stmt.span.end
        if stmt.span.path.endswith(ir.PYTHON):
            return isinstance(stmt, ir.Loop) and (start, end) in self._python_loops(stmt.span.path)
        in_front = _COMMENT.sub(b"", data[:start]).rstrip()
        return (
            _KEYWORD.match(data, start) is not None
            and data[start:end].rstrip()[-1:] in (b"}", b";")
            and in_front[-1:] in (b"{", b"}", b";")
            and not is_in_macro(data, start)
        )


def _loops_of(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the loops of a Python text begin and end that are statements on lines of their own. Behind one with an
    `else`, that has run.
    """
    starts = [0, *(match.end() for match in re.finditer(rb"\n", text))]
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.For | ast.While) and not node.orelse and node.end_lineno and node.end_col_offset:
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                behind = _REST_OF_A_LINE.match(text, end)
                if not text[starts[node.lineno - 1] : start].strip() and behind is not None:
                    yield start, end


def _chain(block: ir.Block, key: Key) -> tuple[ir.Loop | ir.If, ...] | None:
    """The loops and branches of a block that hold a call or a launch, the outermost first; None if it is not there."""
    for stmt in block:
        if isinstance(stmt, ir.Call | ir.Launch) and key_of(stmt) == key:
            return ()
        for inner in blocks_of(stmt):
            if (found := _chain(inner, key)) is not None:
                return (stmt, *found) if isinstance(stmt, ir.Loop | ir.If) else found
    return None


def is_declarable(name: str, text: bytes, constructor: int) -> bool:
    """Whether any function may declare an object of a class, by the text that defines it with its constructor: it is no
    member of another class, has no virtual functions, which may be pure, and who makes and ends it is public (C++17,
    13.4 [class.abstract] 2, 14 [class.access]).
    """
    scope, _, own = name.rpartition("::")
    if scope and re.search(rb"\bnamespace\s+(?:\w+::)*%s\b" % scope.rpartition("::")[2].encode(), text) is None:
        return False
    heads = list(re.finditer(rb"\b(class|struct)\s+%s\b[^;{}]*\{" % own.encode(), text[:constructor]))
    if not heads:
        return False
    body = text[heads[-1].end() :]
    depth, end = 1, 0
    for brace in re.finditer(rb"[{}]", body):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            end = brace.start()
            break
    made, ended = constructor - heads[-1].end(), body.find(b"~" + own.encode(), 0, end)
    usual = b"private" if heads[-1][1] == b"class" else b"public"
    for at in (made, ended):
        said = re.findall(rb"\b(public|private|protected)\s*:", body[: max(at, 0)])
        if (said[-1] if said else usual) != b"public":
            return False
    return 0 <= made < end and ended >= 0 and b"virtual" not in body[:end]
