"""Which code reaches the device, through its calls, and which may run in several host threads: facts of a whole
program, whatever runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from cudafix import ir
from cudafix.ir import walk
from cudafix.ir.link import Program, handed_over, last
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, roles_of

LEAVES_NOTHING = HOST_EFFECTS | {
    Effect.ALLOC,
    Effect.SYNC_STREAM,
    Effect.SYNC_EVENT,
    Effect.SYNC_DEVICE,
    Effect.QUERY,
    Effect.ELAPSED,
    Effect.STREAM_CREATE,
    Effect.STREAM_DESTROY,
    Effect.EVENT_CREATE,
    Effect.EVENT_DESTROY,
    Effect.HANDLE_CREATE,
    Effect.HANDLE_DESTROY,
    Effect.HANDLE_SET_STREAM,
    Effect.SET_DEVICE,
    Effect.FREE_MEMORY,
    Effect.REGISTER,
}
"""What leaves nothing running on the device that was not there before."""
_ORDINARY_FILE = re.compile(
    r'"(?!…"|(?:[^"]*/)?(?:proc|sys|dev|run)(?:/|"))[^"\\]*"|\'(?!(?:[^\']*/)?(?:proc|sys|dev|run)(?:/|\'))[^\'\\]*\''
)
"""A file's name, as it is written, that holds no times: those of proc(5) and sysfs(5) are made when they are read.
`ir.LONG_TEXT` is no such name.
"""
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\'\\]*\'')
_WORD = re.compile(r"[A-Za-z]\w*")
_LITERALS = re.compile(rf"(?:\s*(?:{_LITERAL.pattern})\s*)+")
THREAD = re.compile(r"\bstd::j?thread\b")


class Within(NamedTuple):
    """What text of the program that is not understood may leave on the device: work of its own, or of functions that
    it calls and that the program does not have. `functions` are those of the program that it may call.
    """

    works: bool
    unseen: tuple[str, ...] = ()
    functions: tuple[ir.Function, ...] = ()


class Reach:
    """One for a program: what it says is found once."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self.program = program
        self.tables = tables
        self._behind: dict[int, frozenset[int]] = {}
        self._calls_of: dict[int, tuple[Sequence[str], Sequence[ir.Function]]] = {}  # by the `id` of the function

    @staticmethod
    def of(program: Program, tables: Tables) -> Reach:
        return program.kept("reach", lambda: Reach(program, tables))

    @cached_property
    def _of_several_threads(self) -> frozenset[int]:
        """The calls (by `id`) that other host threads may run too: what stands in an OpenMP region; where the program
        starts threads, what stands in functions that it hands to somebody; and all that is reached from there. Each
        thread runs them on streams, blocks and perhaps a device of its own, and a `cudaFree` waits for the work of all.
        """
        stack: list[tuple[ir.Call, str | None]] = []
        named: list[tuple[str, str]] = []
        threads = False
        for function in self.program.functions():
            threads = threads or any(map(THREAD.search, function.types.values()))
            stmts = list(function.statements)
            calls = [s for s in stmts if isinstance(s, ir.Call)]
            threads = threads or any(map(self._starts_threads, calls))
            regions = [(c.span.start, c.close) for c in calls if c.callee.startswith("#pragma")]
            stack += [(c, function.cls) for c in calls for start, end in regions if start < c.span.start < end]
            named += [(name, s.span.path) for s in stmts for name in handed_over(s)]
        for name, path in named if threads else ():
            for given in self.program.resolve(name, 0, path):
                stack += [(s, given.cls) for s in walk(given.body) if isinstance(s, ir.Call)]
        found: set[int] = set()
        while stack:
            call, cls = stack.pop()
            if id(call) not in found:
                found.add(id(call))
                for called in self.program.reached_by(call, cls):
                    stack += [(s, called.cls) for s in called.statements if isinstance(s, ir.Call)]
        return frozenset(found)

    def _starts_threads(self, call: ir.Call) -> bool:
        api = self.tables.lookup(call.callee, len(call.args))
        return api is not None and api.effect is Effect.EXTERNAL and api.why is not None and "thread" in api.why

    @cached_property
    def reads_times(self) -> bool:
        """Whether a file that the program reads may tell the time. It tells none where the program opens files by names
        that are written out, all of them ordinary ones, and gets no file from elsewhere.
        """
        if self.program.main is None:
            return True
        opened = False
        for function in self.program.functions():
            for stmt in function.statements:
                if isinstance(stmt, ir.Assign) and _makes_a_file(stmt, function):
                    return True
                if not isinstance(stmt, ir.Call):
                    continue
                api = self.library(stmt, function)
                if api is None:
                    if stmt.result is not None and not list(self.program.reached_by(stmt, function.cls)):
                        return True  # it may have opened a file
                    continue
                roles = roles_of(api, len(stmt.given))
                names = [e for role, e in zip(roles, stmt.given, strict=False) if role == "path"]
                opened |= bool(names)
                if "segment" in roles or not all(
                    isinstance(e, ir.Const) and _ORDINARY_FILE.fullmatch(e.text) for e in names
                ):
                    return True
        return not opened

    def library(self, call: ir.Call, function: ir.Function) -> Api | None:
        if call.receiver is None:
            return self.tables.lookup(call.callee, len(call.args))
        kind = function.types.get(call.receiver.name, "") if isinstance(call.receiver, ir.Var) else ""
        return self.tables.method(kind, call.callee, len(call.args))

    def tells_time(self, call: ir.Call, api: Api) -> bool:
        """Whether a call of a library tells the time, or what others have done to files by then."""
        if api.effect is Effect.READ:
            return self.reads_times
        if api.effect in (Effect.CLOCK, Effect.TIMER):
            modes = (e for role, e in zip(roles_of(api, len(call.given)), call.given, strict=False) if role == "mode")
            return not any(map(makes_the_file, modes))
        return api.timed or (api.asks and call.result is not None)

    def in_threads(self, call: ir.Call) -> bool:
        """Whether other host threads may run a call too."""
        return id(call) in self._of_several_threads

    def works_on_device(self, function: ir.Function) -> bool:
        return id(function) in self.program.reaching("device work", self.is_device_work)

    def leaves_work(self, function: ir.Function) -> bool:
        """Whether a function may leave more on the device than memory, streams and events of its own."""
        return id(function) in self.program.reaching("work that is left", self._leaves_work)

    def within(self, functions: Iterable[ir.Function]) -> Within:
        """What functions of the program may leave on the device that are not followed."""
        known = tuple(functions)
        return Within(any(map(self.leaves_work, known)), self._unseen_behind(known), known)

    def within_text(self, stmt: ir.Unknown) -> Within | None:
        """What text may leave on the device; None if the program does not have it."""
        if stmt.names is None:
            included = any(module.path.endswith(one) for one in stmt.called for module in self.program.modules)
            return Within(works=True) if included else None
        named = (f for name in stmt.names for f in self.program.resolve(name, 0, stmt.span.path))
        found = self.within(dict.fromkeys(named))
        if self._works_without_calls or self._text_works(stmt, LEAVES_NOTHING):
            return found._replace(works=True, unseen=())
        return found._replace(unseen=tuple(dict.fromkeys((*self._unseen_in(stmt), *found.unseen))))

    def _unseen_in(self, stmt: ir.Unknown) -> tuple[str, ...]:
        """The functions that text of the program calls which is not understood, and that the program does not have."""
        classes = self.program.kept("names of classes", lambda: _names_of_classes(self.program))
        return tuple(
            name.removeprefix(".") for name in stmt.called if last(name) not in classes and self._is_unseen(name, stmt)
        )

    def _is_unseen(self, name: str, stmt: ir.Unknown) -> bool:
        """Whether text calls a function of this name that neither the program nor a table has."""
        plain = name.removeprefix(".")
        if last(plain) in self.program.kernels or self.program.resolve(last(plain), 0, stmt.span.path):
            return False
        if name != plain:
            return all(self.tables.method(kind, plain) is None for kind in ("auto", "std::vector<int>", "std::string"))
        return self.tables.any_form(plain) is None

    def _unseen_behind(self, functions: Iterable[ir.Function]) -> tuple[str, ...]:
        """The functions that are called from these, through others too, and that the program does not have."""
        return tuple(dict.fromkeys(name for one in self.behind(functions) for name in self._called_by(one)[0]))

    def behind(self, functions: Iterable[ir.Function]) -> list[ir.Function]:
        """These functions of the program, and those that are called from them, or handed on by them, through others
        too.
        """
        found: dict[int, ir.Function] = {}
        stack = list(functions)
        while stack:
            function = stack.pop()
            if id(function) not in found:
                found[id(function)] = function
                stack += self._called_by(function)[1]
        return list(found.values())

    def all_behind(self, function: ir.Function) -> frozenset[int]:
        """What is `behind` one function, by their `id`."""
        if id(function) not in self._behind:
            self._behind[id(function)] = frozenset(map(id, self.behind([function])))
        return self._behind[id(function)]

    def _called_by(self, function: ir.Function) -> tuple[Sequence[str], Sequence[ir.Function]]:
        if id(function) not in self._calls_of:
            self._calls_of[id(function)] = self._calls(function)
        return self._calls_of[id(function)]

    def _calls(self, function: ir.Function) -> tuple[Sequence[str], Sequence[ir.Function]]:
        """What a function calls, or hands to somebody who may: what the program does not have, and what it has."""
        unseen: list[str] = []
        known: list[ir.Function] = []
        for stmt in function.statements:
            if isinstance(stmt, ir.Unknown):
                unseen += self._unseen_in(stmt) or ((stmt.why,) if stmt.names is None else ())
            if isinstance(stmt, ir.Call):
                called = self.program.reached_by(stmt, function.cls)
                known += called
                if not called and self.library(stmt, function) is None and not stmt.callee.startswith("#"):
                    unseen.append(last(stmt.callee))
            known += (f for name in handed_over(stmt) for f in self.program.resolve(name, 0, stmt.span.path))
        return unseen, known

    @cached_property
    def _works_without_calls(self) -> bool:
        """Whether a constructor, a destructor or an operator of the program leaves work: no name says where it runs."""
        return any(_is_unwritten(function) and self.leaves_work(function) for function in self.program.functions())

    def _text_works(self, stmt: ir.Unknown, harmless: frozenset[Effect]) -> bool:
        """Whether text that is not understood launches, or names a function of a library with another effect."""
        words = (*(stmt.names or ()), *stmt.called)
        found = (api for name in words if (api := self.tables.any_form(name)) is not None)
        return ir.LAUNCHES in words or any(api.effect not in harmless for api in found)

    @cached_property
    def may_measure(self) -> tuple[ir.Span, str] | None:
        """Where the program may ask how much memory is free without a call that is followed, and how: it names what
        tells it, or asks in a function that runs where no call is written, or that somebody else is given.
        """
        for module in self.program.modules:
            if module.measures is not None:
                return ir.Span(module.path, module.measures, module.measures), "which is named here, and not called"
        asking = self.program.reaching("free memory", self._measures)
        if not asking:
            return None
        functions = tuple(self.program.functions())
        given = {last(name) for function in functions for stmt in function.statements for name in handed_over(stmt)}
        for function in functions:
            if id(function) in asking and (_is_unwritten(function) or last(function.name) in given):
                return function.span, f"in `{function.name}`, which may run where no call is written"
        return None

    def _measures(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call) or self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
            return False
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        return api is not None and api.effect is Effect.FREE_MEMORY

    def names_globals(self, function: ir.Function) -> bool:
        """Whether a function gets at variables by their names that outlive it: at namespace scope, or static."""
        return id(function) in self.program.reaching("names of globals", _names_global)

    def leads_elsewhere(self, function: ir.Function) -> bool:
        """Whether other streams, or none, are meant behind a function: it ends streams, or makes another device the
        current one.
        """
        sets_device = self.program.reaching("another device", lambda stmt: self._has_effect(stmt, Effect.SET_DEVICE))
        return id(function) in sets_device or self.ends_streams(function)

    def ends_streams(self, function: ir.Function) -> bool:
        ending = self.program.reaching("streams that end", lambda stmt: self._has_effect(stmt, Effect.STREAM_DESTROY))
        return id(function) in ending

    def _has_effect(self, stmt: ir.Stmt, effect: Effect) -> bool:
        """Whether a statement is a call of a library on the device with this effect."""
        if not isinstance(stmt, ir.Call) or not self.is_device_work(stmt):
            return False
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        return api is not None and api.effect is effect

    def _leaves_work(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Unknown):
            return self._text_works(stmt, LEAVES_NOTHING)
        if not self.is_device_work(stmt) or not isinstance(stmt, ir.Call):
            return isinstance(stmt, ir.Launch)
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        if api is not None and api.effect is Effect.FREE:
            return any(isinstance(e, ir.Var) and "::" in e.name for arg in stmt.args for e in ir.variables(arg))
        return api is not None and api.effect not in LEAVES_NOTHING

    def device_work_in(self, block: ir.Block, cls: str | None) -> bool:
        """Whether a statement of a block, in a method of `cls`, reaches the device, through calls too."""
        return any(self._reaches_device(s, cls) for s in walk(block))

    def moves_memory_in(self, block: ir.Block, cls: str | None) -> bool:
        """Whether a statement of a block, in a method of `cls`, allocates or frees memory, through calls too."""
        moving = self.program.reaching("memory that comes or goes", self._moves_memory)
        called = (f for s in walk(block) if isinstance(s, ir.Call) for f in self.program.reached_by(s, cls))
        return any(map(self._moves_memory, walk(block))) or any(id(f) in moving for f in called)

    def _moves_memory(self, stmt: ir.Stmt) -> bool:
        return isinstance(stmt, ir.Unknown) or any(self._has_effect(stmt, one) for one in (Effect.ALLOC, Effect.FREE))

    def _reaches_device(self, stmt: ir.Stmt, cls: str | None) -> bool:
        if isinstance(stmt, ir.Call) and any(map(self.works_on_device, self.program.reached_by(stmt, cls))):
            return True
        return self.is_device_work(stmt)

    def is_device_work(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Call):
            if stmt.receiver is not None or self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
                return False
            api = self.tables.lookup(stmt.callee, len(stmt.args))
            if api is None or (runs_on_its_own(api) and self._hands_over_known(stmt)):
                return False  # what a thread, or a signal, runs is asked on its own
            return api.effect not in HOST_EFFECTS
        if isinstance(stmt, ir.Unknown):
            return self._text_works(stmt, HOST_EFFECTS)
        return isinstance(stmt, ir.Launch)

    def _hands_over_known(self, call: ir.Call) -> bool:
        """Whether the functions that a call is given are the program's, and there are some."""
        given = (arg.base if isinstance(arg, ir.Addr) else arg for arg in call.args)
        names = [function.name for function in given if isinstance(function, ir.FuncRef)]
        return bool(names) and all(self.program.resolve(name, 0, call.span.path) for name in names)

    def stays_on_host(self, function: ir.Function) -> bool:
        """Whether a function neither works on the device nor calls what is not known."""
        beyond = self.program.reaching("device work or unknown code", self._is_beyond_the_host)
        return id(function) not in beyond

    def _is_beyond_the_host(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Call) and stmt.receiver is None and not stmt.callee.startswith("#pragma"):
            known = self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path)
            if not known and self.tables.lookup(stmt.callee, len(stmt.args)) is None and stmt.callee != "throw":
                return True
        return isinstance(stmt, ir.Unknown) or self.is_device_work(stmt)


def runs_on_its_own(api: Api) -> bool:
    """Whether a call has functions run at other moments, in a host thread or without one."""
    return api.effect is Effect.ANY_TIME or (api.why is not None and "thread" in api.why)


def _is_unwritten(function: ir.Function) -> bool:
    """Whether it is a constructor, a destructor or an operator: it runs where no call is written, too."""
    name, owner = last(function.name), last(function.cls or "")
    return name.startswith("operator") or bool(owner) and name.removeprefix("~") == owner


def _names_of_classes(program: Program) -> frozenset[str]:
    """The last name components of the classes that a program has, and of what else names a type in it."""
    classes = (cls for module in program.modules for cls in module.members)
    return frozenset(map(last, classes)).union(*(module.types for module in program.modules))


def _names_global(stmt: ir.Stmt) -> bool:
    return any(isinstance(expr, ir.Var) and "::" in expr.name for expr in ir.values_in(stmt))


def literal(command: ir.Expr) -> str | None:
    """The text of a string literal, or of several in a row; None for anything else."""
    if not isinstance(command, ir.Const) or command.text == ir.LONG_TEXT or not _LITERALS.fullmatch(command.text):
        return None
    return "".join(found[0][1:-1] for found in _LITERAL.finditer(command.text)).replace("\\n", "\n")


def makes_the_file(mode: ir.Expr) -> bool:
    """Whether a file that is opened so is made where it is not there, so that nobody learns whether it is: in C and
    POSIX (C17, 7.21.5.3; POSIX.1-2017, `open`) and of a file stream (C++20, [filebuf.members], table 122).
    """
    if (text := literal(mode)) is not None:
        return text[:1] in ("w", "a") and "x" not in text
    words = set(_WORD.findall(str(mode)))
    if "O_CREAT" in words:
        return "O_EXCL" not in words
    writes = "trunc" in words or "app" in words or ("out" in words and "in" not in words)
    return writes and "noreplace" not in words


def opens_to_read(mode: ir.Expr) -> bool:
    """Whether a file that is opened so is there as it was: nothing is made, cut off or written. As `makes_the_file`;
    in Python (library reference, `open`).
    """
    if (text := literal(mode)) is not None:
        return "r" in text and {"w", "a", "x", "+"}.isdisjoint(text)
    words = set(_WORD.findall(str(mode)))
    return not words.isdisjoint(("O_RDONLY", "in")) and words.isdisjoint(
        ("O_CREAT", "O_TRUNC", "O_WRONLY", "O_RDWR", "out", "app", "trunc")
    )


def _makes_a_file(stmt: ir.Assign, function: ir.Function) -> bool:
    """Whether a file stream is made of something: what the constructor is given is not seen."""
    kind = function.types.get(stmt.target.name, "") if isinstance(stmt.target, ir.Var) else ""
    if "fstream" not in kind or not isinstance(stmt.value, ir.Opaque) or not stmt.value.parts:
        return False
    name = stmt.value.parts[0]
    return not (isinstance(name, ir.Const) and _ORDINARY_FILE.fullmatch(name.text))
