"""Functions that work on the host alone, taken in one step.

A call of such a function, with all that it calls, is one step where the function is long and has little to mix up; and
anywhere in a program that is too large to be followed call by call, which is run again in this coarser way. The step
issues nothing, waits for nothing and frees no memory of the device. So what is pending stays pending, and all that it
can do to a proof is to store what it can reach where it can reach. While nothing is lost for the host, what it prints
or looks at does not matter either (see `cudafix.ordering.facts.slicing`).

A function works on the host alone if every statement of it and of what it calls does: no launch, no call that no table
and no file knows, none that a table calls anything but host work, no function stored as a value (who calls it later
would not be seen). A method that is called on some object may be any method of that name. Python is left out: there, a
name may mean a function that is stored anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.types import Type
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, played, roles_of
from cudafix.ordering.facts.clients import CALLER
from cudafix.ordering.facts.plain import may_lead, points_to_bytes, stored_as_bytes
from cudafix.ordering.facts.slicing import Slicer, expressions, is_outside, names_in

_THIS = ir.Deref(ir.Var("this"))
SHORT, SHORT_WITH_ADDRESSES = 30, 40  # statements of functions that are followed, the second with all that they call
HOLDS = frozenset(("keep", "swap", "new", "alias"))
_ONLY_READ = frozenset(("-", "hr", "hr*", "look", "look*", "path", "mode", "segment", "kind", "flags", "hr+of"))
_MEMORY = frozenset((Effect.ALLOC, Effect.FREE))


def _names_one(expr: ir.Expr, names: Set[str]) -> bool:
    return any(isinstance(part, ir.Var) and part.name in names for part in ir.variables(expr))


def _is_pointer(expr: ir.Expr, names: Set[str]) -> bool:
    """Whether a value may be one of these pointers, or be computed of one; a byte that one leads to is none."""
    return not isinstance(expr, ir.Index | ir.Deref) and _names_one(expr, names)


class Alone:
    """What the functions of a program reach, and which of them work on the host alone."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self._program = program
        self._tables = tables
        self._slicer = Slicer.of(program, tables)
        self._methods: dict[str, list[ir.Function]] = {}
        for function in program.functions():
            if function.cls is not None:
                self._methods.setdefault(last(function.name), []).append(function)
        self._trees: dict[int, tuple[ir.Function, ...] | None] = {}
        self._callees: dict[int, list[ir.Function] | None] = {}
        self._names: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._stores: dict[int, bool] = {}

    @staticmethod
    def of(program: Program, tables: Tables) -> Alone:
        return program.kept("alone", lambda: Alone(program, tables))

    def tree(self, function: ir.Function) -> tuple[ir.Function, ...] | None:
        """The function and all that it may call, if they work on the host alone; else None."""
        if id(function) not in self._trees:
            found: dict[int, ir.Function] = {}
            stack = [function]
            complete = True
            while stack and complete:
                current = stack.pop()
                if id(current) not in found:
                    found[id(current)] = current
                    callees = self._called_by(current)
                    complete = callees is not None
                    stack += callees or ()
            self._trees[id(function)] = tuple(found.values()) if complete else None
        return self._trees[id(function)]

    def is_long(self, function: ir.Function) -> bool:
        """Whether a function has many statements, or has them with what it calls, if they work on the host alone. It
        takes more of those where addresses are stored: what a step mixes up costs more than a few statements.
        """
        tree = self.tree(function) or (function,)
        own, *called = (one.kept("length", lambda f: sum(1 for _ in f.statements)) for one in tree)
        return own > SHORT or own + sum(called) > (SHORT_WITH_ADDRESSES if any(map(self.stores, tree)) else SHORT)

    def stores(self, function: ir.Function) -> bool:
        """Whether the function itself may store an address where others find it."""
        if id(function) not in self._stores:
            self._stores[id(function)] = bool(function.kept("bytes", stored_as_bytes)) or any(
                self._may_store(stmt, function) for stmt in function.statements
            )
        return self._stores[id(function)]

    def changes_bytes(self, function: ir.Function) -> bool:
        """Whether the function itself may store through a pointer to bytes, or hands one to somebody who may: the
        addresses that stand there are others then.
        """
        names = function.kept("bytes", stored_as_bytes)
        return bool(names) and any(self._may_change(stmt, function, names) for stmt in function.statements)

    def _may_change(self, stmt: ir.Stmt, function: ir.Function, names: Set[str]) -> bool:
        if isinstance(stmt, ir.HostAccess):
            return any(_names_one(place, names) for place in stmt.writes)
        if isinstance(stmt, ir.Assign):  # a copy of the pointer is one of these names too
            given = _is_pointer(stmt.value, names) and not (
                isinstance(stmt.target, ir.Var) and stmt.target.name in names
            )
            return given or (not isinstance(stmt.target, ir.Var) and _names_one(stmt.target, names))
        if not isinstance(stmt, ir.Call):
            return False
        given_at = [n for n, arg in enumerate(stmt.args) if _is_pointer(arg, names)]
        api = self._library(stmt, function)
        if api is not None:
            roles = roles_of(api, len(stmt.args))
            return stmt.receiver is not None or any(n >= len(roles) or roles[n] not in _ONLY_READ for n in given_at)
        called = self._of(stmt, function)
        if not called:
            return bool(given_at)
        return any(n >= len(f.params) or not points_to_bytes(f.params[n].type) for f in called for n in given_at)

    def _may_store(self, stmt: ir.Stmt, function: ir.Function) -> bool:
        if isinstance(stmt, ir.Assign):
            return is_outside(stmt.target) and may_lead(stmt.value, function, computed=True)
        if not isinstance(stmt, ir.Call):
            return False
        api = self._library(stmt, function)
        if api is not None and not HOLDS.isdisjoint(played(api)):
            return True
        return stmt.result is not None and is_outside(stmt.result)

    def names(self, function: ir.Function) -> tuple[frozenset[str], frozenset[str]]:
        """Every variable that the function itself names, and those with which it does more than read them."""
        if id(function) not in self._names:
            named: set[str] = set()
            used: set[str] = set()
            for stmt in function.statements:
                handed = list(self._only_read(stmt, function))
                for expr in expressions(stmt):
                    names_in(expr, named if any(expr is one for one in handed) else used)
            self._names[id(function)] = frozenset(named | used), frozenset(used)
        return self._names[id(function)]

    def _only_read(self, stmt: ir.Stmt, function: ir.Function) -> Iterator[ir.Expr]:
        """What a statement only reads, or hands to a function of a library which does."""
        if isinstance(stmt, ir.HostAccess):
            yield from stmt.reads
        if isinstance(stmt, ir.Call) and not any(self._own(stmt, function)):
            api = self._library(stmt, function)
            roles = roles_of(api, len(stmt.given)) if api is not None and not api.any else ()
            for role, expr in zip(roles, stmt.given, strict=False):
                if role in _ONLY_READ and isinstance(expr, ir.Var):
                    yield expr

    def _called_by(self, function: ir.Function) -> list[ir.Function] | None:
        """What a function calls; None if it does anything but host work itself."""
        if id(function) not in self._callees:
            found: list[ir.Function] | None = [] if not function.span.path.endswith(".py") else None
            for stmt in function.statements:
                called = self._of(stmt, function)
                if called is None or found is None:
                    found = None
                    break
                found += called
            self._callees[id(function)] = found
        return self._callees[id(function)]

    def _of(self, stmt: ir.Stmt, function: ir.Function) -> list[ir.Function] | None:
        match stmt:
            case ir.Launch() | ir.Unknown():
                return None
            case ir.Assign(_, value) | ir.Return(value):
                return None if value is not None and _has_function(value) else []
            case ir.Declare(_, kind):
                return None if "thrust::" in kind or "device_vector" in kind else []
            case ir.Call():
                return self._of_call(stmt, function)
            case _:
                return []

    def _of_call(self, call: ir.Call, function: ir.Function) -> list[ir.Function] | None:
        if call.callee.startswith("#pragma") or call.callee == "throw":
            return []
        if call.callee == CALLER:
            return None
        own = list(self._own(call, function))
        api = self._library(call, function)
        if call.receiver is None and (own or api is None):
            if call.callee.startswith(("cuda", "cublas")) and api is not None:
                own = []
            else:
                api = None
        if not own and api is None:
            return None
        if api is not None and api.holds is not None:
            return None
        if api is not None and api.effect not in HOST_EFFECTS and api.effect is not Effect.EXIT:
            if api.effect not in _MEMORY or api.memory != "host":
                return None
        given = call.given
        roles = roles_of(api, len(given)) if api is not None else []
        for n, expr in enumerate(given):
            if _has_function(expr):
                if own or n >= len(roles) or roles[n] != "fn":
                    return None
                reference = expr.base if isinstance(expr, ir.Addr) else expr
                if not isinstance(reference, ir.FuncRef):
                    return None
                own += self._program.resolve(reference.name, 0, call.span.path)
        return own

    def _own(self, call: ir.Call, function: ir.Function) -> Iterator[ir.Function]:
        """The functions of the program that a call may reach."""
        name = last(call.callee)
        if call.receiver is None or "::" in call.callee or call.receiver == _THIS:
            yield from self._program.resolve(call.callee, len(call.args), call.span.path, function.cls)
            if name.startswith("~"):  # of the class that is named, or of one that is derived from some class
                yield from (f for n, found in self._methods.items() if n.startswith("~") for f in found if f.bases)
            elif call.receiver is not None or function.cls is not None:
                yield from (f for f in self._methods.get(name, ()) if f.bases)
        else:
            kind = Type.of(self._type_of(call, function)).last
            # an object that is called is of the class that is written, or unknown
            methods = [f for one in ir.names_of(name) for f in self._methods.get(one, ())]
            yield from (f for f in methods if name != "operator()" or last(f.cls or "") == kind)

    def _library(self, call: ir.Call, function: ir.Function) -> Api | None:
        if call.receiver is None:
            return self._tables.lookup(call.callee, len(call.args))
        kind = self._type_of(call, function)
        api = self._tables.method(kind, call.callee, len(call.args)) if kind else None
        return api or self._slicer.method_by_name(call.callee, len(call.args))

    def _type_of(self, call: ir.Call, function: ir.Function) -> str:
        """The declared type of the object that a method is called on, as far as the function says it."""
        return function.types.get(call.receiver.name, "") if isinstance(call.receiver, ir.Var) else ""


def _has_function(expr: ir.Expr) -> bool:
    """Whether a function, or its address, is a part of an expression."""
    match expr:
        case ir.FuncRef():
            return True
        case ir.Index(base, index):
            return _has_function(base) or _has_function(index)
        case ir.Field(base) | ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
            return _has_function(base)
        case ir.Choice(parts) | ir.Opaque(parts):
            return any(map(_has_function, parts))
        case _:
            return False
