"""Functions that only say what a place holds: `cudaStream_t stream() const { return stream_; }`.

A call of one is another way to name that place: nothing is issued, waited for, or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.reach import Reach
from cudafix.ordering.facts.scopes import Scopes

_OWN = ir.Var("this")
_DEPTH = 4
KEEPS_ONE = re.compile(r"(?:const )?(?:std::)?(?:unique_ptr|shared_ptr|optional)\s*<.*>(?: &)?")
"""The types of which `*x` is what they hold."""


class Getters:
    """One for a program."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self.program = program
        self.tables = tables
        self.classes = Classes.of(program, Reach.of(program, tables))
        self.internal = Scopes.of(program).internal

    @staticmethod
    def of(program: Program, tables: Tables) -> Getters:
        return program.kept("getters", lambda: Getters(program, tables))

    def named_by(self, around: ir.Function, call: ir.Call) -> ir.Expr | None:
        """The place of which a call in the function `around` only returns the value; None where it may do more."""
        return self.place(around, call.callee, call.receiver) if not call.args else None

    def place(self, around: ir.Function, callee: str, receiver: ir.Expr | None, depth: int = _DEPTH) -> ir.Expr | None:
        """The place of which a call with no arguments in the function `around` returns the value; None where it may do
        more than that, or another function may be meant.
        """
        function = self._meant(around, callee, receiver)
        if function is None or function.problems or function.params or not depth:
            return None
        inner: dict[ir.Expr, ir.Expr] = {}  # what the calls in it return
        for stmt in function.body:
            match stmt:
                case ir.HostAccess(writes=(), ends=False, throws=False):
                    continue
                case ir.Call(args=(), result=ir.Var() as result):
                    on = put(stmt.receiver, inner) if stmt.receiver is not None else None
                    found = self.place(function, stmt.callee, on, depth - 1)
                    if found is None:
                        return None
                    inner[result] = found
                case ir.Return(value=value) if value is not None and stmt is function.body[-1]:
                    return self._as_called(put(value, inner), receiver, function, around)
                case _:
                    return None
        return None

    def _as_called(
        self, place: ir.Expr, receiver: ir.Expr | None, function: ir.Function, around: ir.Function
    ) -> ir.Expr | None:
        """A place that a function names, as its caller names it; None if it has another meaning there, or none."""
        parts = list(ir.variables(place))
        names = {part.name for part in parts if isinstance(part, ir.Var)}
        own = {_OWN.name} if receiver is not None and function.cls is not None else set()
        known = all(name in own or "::" in name for name in names)
        if not known or not all(isinstance(part, ir.Var | ir.Field | ir.Deref) for part in parts):
            return None
        if not self._is_the_same(place, function, around):
            return None
        return put(place, {ir.Deref(_OWN): receiver, _OWN: ir.Addr(receiver)}) if own and receiver else place

    def _is_the_same(self, place: ir.Expr, one: ir.Function, other: ir.Function) -> bool:
        """Whether two functions mean the same place: a variable with internal linkage is one of each source (C++17, 6.5
        [basic.link] 2).
        """
        paths = {one.span.path, other.span.path}
        names = {part.name.removeprefix("::") for part in ir.variables(place) if isinstance(part, ir.Var)}
        return len(paths) == 1 or all((name, path) not in self.internal for name in names for path in paths)

    def _meant(self, around: ir.Function, callee: str, receiver: ir.Expr | None) -> ir.Function | None:
        """The one function that a call can mean."""
        path = around.span.path
        if receiver is None:
            known = self.program.resolve(callee, 0, path, around.cls)
            scoped = "::" in callee or not around.bases  # else a method of a base may hide it
            if self.tables.lookup(callee, 0) is not None or self.program.undefined.get(last(callee)) or not scoped:
                return None
            return known[0] if len(known) == 1 and known[0].cls is None else None
        kind = self.type_of(around, receiver)
        methods, sure = self.classes.methods(kind, callee, 0, path) if kind else ([], False)
        if len(methods) != 1 or not sure or self.tables.method(kind, callee, 0) is not None:
            return None
        exact = isinstance(receiver, ir.Var) and not {"*", "&"} & set(kind)
        return methods[0] if exact or not self.classes.overriders(methods) else None

    def type_of(self, around: ir.Function, place: ir.Expr) -> str:
        """The declared type of a place, as a function names it; empty where that is not known."""
        match place:
            case ir.Var("this"):
                return around.cls or ""
            case ir.Var(name) if name in around.types:
                return around.types[name]
            case ir.Var(name):
                variable = self.program.globals.get(name.removeprefix("::")) if "::" in name else None
                return variable.type if variable is not None else ""
            case ir.Deref(base):
                kind = self.type_of(around, base)
                return ir.template_arguments(kind)[0] if KEEPS_ONE.fullmatch(kind) is not None else kind
            case ir.Field(base, name):
                return self.classes.type_of_member(Classes.class_of(self.type_of(around, base)), name)
            case _:
                return ""


def put(place: ir.Expr, others: Mapping[ir.Expr, ir.Expr]) -> ir.Expr:
    """A place with some parts of it named in another way."""
    if place in others:
        return others[place]
    match place:
        case ir.Field(base, name):
            return ir.Field(put(base, others), name)
        case ir.Deref(base):
            return ir.Deref(put(base, others))
        case _:
            return place
