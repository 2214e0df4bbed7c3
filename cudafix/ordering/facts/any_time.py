"""Functions that run at moments which no statement shows: handlers of signals, functions of timers, hooks of the
interpreter.

Such a function sees what the host thread that it interrupts has done so far, and that thread sees what the function has
stored (C17, 5.1.2.3 p5; C++17 [support.signal]; Python 3.13 `signal`). So it may tell where the program is and what
the device has done by then: from its registration on, it is to the host what another host thread is.

Nobody can tell when it ran if its moment is chosen outside of the program and what it does depends on nothing that the
program has done: it stores constants in flags, prints them, ends the process. Where it runs before a wait that Q has
not, it could have run before the wait of P. What a timer calls tells the time, whatever it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Api, Effect, roles_of
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.plain import NUMBERS
from cudafix.ordering.facts.reach import Reach

_HARMLESS = frozenset({Effect.HOST, Effect.NOTHING, Effect.OUTPUT, Effect.EXIT, Effect.ANY_TIME})
_FLAGS = NUMBERS | {"sig_atomic_t", "long", "long long", "size_t", "int64_t", "uint64_t"}
_AT_ONCE = frozenset(("_exit", "_Exit", "abort", "os._exit", "os.abort"))
"""They end the process and run nothing of it before."""
_STREAMS_OF_C = frozenset((ir.Var("::stderr"), ir.Var("::stdout")))
"""Of the C library: no other file at any time, unless `freopen` says so, which opens it in their place."""
_ATOMIC = ("atomic<", "atomic_bool", "atomic_int", "atomic_flag")


class AnyTime:
    """What a program has run at any time. One for a program."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self._program = program
        self._tables = tables
        self._classes = Classes.of(program, Reach.of(program, tables))

    @staticmethod
    def of(program: Program, tables: Tables) -> AnyTime:
        return program.kept("any time", lambda: AnyTime(program, tables))

    @cached_property
    def by_time(self) -> bool:
        """Whether a moment may come by the clock: the program sets a timer, or starts another program, which may wait
        for a time and send a signal.
        """
        return any(map(self._sets_timer, self._calls()))

    @cached_property
    def _indices(self) -> frozenset[str]:
        return frozenset(self._names_of_indices())

    @cached_property
    def _leading(self) -> frozenset[str]:
        return frozenset(self._names_of_more_than_constants())

    @cached_property
    def _ends_quietly(self) -> bool:
        return not any(map(self._runs_at_the_end, self._statements()))

    def may_run(self, names: Iterable[str], path: str) -> bool:
        """Whether whoever has got these functions may run them whenever that likes to, and nobody can tell when."""
        found = [self._program.resolve(name, 0, path) for name in names]
        known = bool(found) and all(found) and not self.by_time
        return known and all(self.leaves_no_trace(function) for functions in found for function in functions)

    def leaves_no_trace(self, function: ir.Function) -> bool:
        """Whether nobody can tell by what a function does when it has run, if its moment is chosen outside."""
        seen: set[int] = set()
        stack = [function]
        while stack:
            one = stack.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            for stmt in one.statements:
                called = self._called(stmt, one)
                if called is None:
                    return False
                stack += called
        return True

    def _statements(self) -> Iterator[ir.Stmt]:
        for function in self._program.functions():
            yield from function.statements

    def _calls(self) -> Iterator[ir.Call]:
        return (stmt for stmt in self._statements() if isinstance(stmt, ir.Call))

    def _runs_at_the_end(self, stmt: ir.Stmt) -> bool:
        """Whether something of the program may run where a function ends the process: what `atexit` was given, a
        handler of the exception that does it in Python, the destructor of some object.
        """
        if isinstance(stmt, ir.Call):
            api = self._library(stmt)
            return api is not None and api.effect is Effect.AT_EXIT
        return isinstance(stmt, ir.Try)

    def _sets_timer(self, call: ir.Call) -> bool:
        api = self._library(call)
        if api is None:
            return False
        timed = api.effect is Effect.TIMER or (api.effect is Effect.ANY_TIME and api.timed)
        return timed or any("command" in role for role in roles_of(api, len(call.args)))

    def _library(self, call: ir.Call) -> Api | None:
        if call.receiver is not None or self._program.resolve(call.callee, len(call.args), call.span.path):
            return None
        return self._tables.lookup(call.callee, len(call.args))

    def _names_of_indices(self) -> Iterator[str]:
        """The variables that decide which element of something is meant."""
        for stmt in self._statements():
            for expr in ir.values_in(stmt):
                if isinstance(expr, ir.Index):
                    yield from (one.name for one in ir.variables(expr.index) if isinstance(one, ir.Var))

    def _names_of_more_than_constants(self) -> Iterator[str]:
        """The variables and members, by their last name components, that something else than a constant is stored in,
        or whose address somebody gets.
        """
        for stmt in self._statements():
            places = [expr.base for expr in ir.values_in(stmt) if isinstance(expr, ir.Addr)]
            if isinstance(stmt, ir.Assign) and not isinstance(stmt.value, ir.Const):
                places.append(stmt.target)
            if isinstance(stmt, ir.Call) and stmt.result is not None:
                places.append(stmt.result)
            yield from (last(one.name) for one in places if isinstance(one, ir.Var | ir.Field))

    def _called(self, stmt: ir.Stmt, function: ir.Function) -> list[ir.Function] | None:
        """The functions that a statement calls; None if it may leave a trace of the moment itself."""
        match stmt:
            case ir.HostAccess(reads, writes):
                reads_own = all(_is_own(one, function) for one in reads)
                return [] if reads_own and all(self._is_flag(one, function) for one in writes) else None
            case ir.Assign(target, value):
                return [] if self._is_flag(target, function) and _is_own(value, function) else None
            case ir.Declare(_, kind):
                return [] if kind in _FLAGS or kind.endswith("*") else None
            case ir.Call():
                return self._called_by(stmt, function)
            case ir.Return(value):
                return [] if value is None or _is_own(value, function) else None
            case ir.If() | ir.Switch() | ir.Loop() | ir.Break() | ir.Continue():
                return []
            case _:
                return None

    def _called_by(self, call: ir.Call, function: ir.Function) -> list[ir.Function] | None:
        handed = [e.name for e in call.args if isinstance(e, ir.FuncRef)]
        if call.receiver is not None or not all(_is_given(e, function) for e in call.args):
            return None
        if call.result is not None and not self._is_flag(call.result, function):
            return None
        own = [self._program.resolve(name, 0, call.span.path) for name in handed]
        found = self._program.resolve(call.callee, len(call.args), call.span.path, function.cls)
        api = self._tables.lookup(call.callee, len(call.args))
        if not all(own) or (not found and (api is None or api.effect not in _HARMLESS or api.timed or api.ends)):
            return None
        if not found and api is not None:
            if _keeps(api, len(call.args)) or (handed and api.effect is not Effect.ANY_TIME):
                return None
            if api.effect is Effect.EXIT and not self._ends_quietly and last(call.callee) not in _AT_ONCE:
                return None
        return [*found, *(one for functions in own for one in functions)]

    def _is_flag(self, place: ir.Expr, function: ir.Function) -> bool:
        """Whether a place is a variable of the function itself, or one that holds a number which decides nothing about
        memory.
        """
        match place:
            case ir.Var(name) if _is_own(place, function):
                return True
            case ir.Var(name) | ir.Field(ir.Deref(ir.Var()), name) if _is_python(function):
                return last(name) not in self._leading and name not in self._indices
            case ir.Var(name):
                kind = self._program.type_of_global(name)
                return _is_number(kind or function.types.get(name, "")) and name not in self._indices
            case ir.Field(ir.Var(name), member):
                kind = self._program.type_of_global(name)
                return bool(kind) and _is_number(self._classes.type_of_member(last(kind), member))
            case _:
                return False


def _is_number(kind: str) -> bool:
    kind = kind.removeprefix("volatile ").removeprefix("std::")
    return kind in _FLAGS or kind.startswith(_ATOMIC)


def _is_python(function: ir.Function) -> bool:
    return function.span.path.endswith(ir.PYTHON)


def _is_own(expr: ir.Expr, function: ir.Function) -> bool:
    """Whether a value depends on nothing but constants and variables of the function itself."""
    return all(
        one in _STREAMS_OF_C
        or not isinstance(one, ir.Var | ir.Deref | ir.Field | ir.Index | ir.Addr | ir.FuncRef)
        or (
            isinstance(one, ir.Var)
            and "::" not in one.name
            and one.name != "this"
            and one.name not in function.captures
            and _is_plain_param(one.name, function)
        )
        for one in ir.variables(expr)
    )


def _is_plain_param(name: str, function: ir.Function) -> bool:
    """Whether this is no parameter that may lead to memory: of a handler in Python, the first is a number."""
    for n, param in enumerate(function.params):
        if param.name == name:
            return n == 0 if _is_python(function) and function.cls is None else param.type in _FLAGS
    return True


def _is_given(expr: ir.Expr, function: ir.Function) -> bool:
    """Whether an argument is such a value, or a function."""
    return isinstance(expr, ir.FuncRef) or _is_own(expr, function)


def _keeps(api: Api, count: int) -> bool:
    return any("keep" in role or role in ("put", "swap", "new", "alias") for role in roles_of(api, count))
