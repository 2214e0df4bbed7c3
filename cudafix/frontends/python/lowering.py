"""The state of one function while it is lowered, and how statements of the IR are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings
from cudafix.frontends.python.checks import Symbol
from cudafix.frontends.python.meaning import (
    Modules,
    Resolver,
    Scope,
)
from cudafix.frontends.python.names import Outline
from cudafix.frontends.python.source import Source
from cudafix.frontends.python.styles import Style
from cudafix.frontends.python.terms import is_deep
from cudafix.ir import Expr, Look, Site, Span, Stmt, Var

CURRENT = Var("::cupy::current")
"""CuPy's current stream. Every thread has one of its own; other threads are out of reach anyway."""


OUTPUT = Var("::python::output")
"""What `sys.stdout` and `sys.stderr` are, where the program sets them."""


RAISED = Var("::python::raised")
"""What the exceptions hold that were raised: whoever catches one gets it."""


@dataclass(slots=True)
class Place:
    """The statement that is being lowered. `blocked` says why nothing may be inserted beside it."""

    span: Span
    indent: str
    blocked: str | None = None


class ApiCall(NamedTuple):
    """A call of the CUDA API with what is around it: the symbol that is left of the tuple that it returns."""

    node: cst.Call
    dotted: str
    symbol: Symbol
    wrapper: cst.Call | None
    unwraps: bool
    checked: bool
    others: tuple[cst.BaseExpression, ...] = ()


class Methods(NamedTuple):
    """The names of methods of classes whose objects a file may meet: of all classes of its program, and of those in
    other files than this one. `replaced`: the names of functions and methods that the program sets as attributes;
    `patched`: of what it imports. `interfaces`: how objects of the program hand out memory as arrays.
    `sets`: the program sets attributes of objects from outside of their methods. `described`: the names under which
    classes hold `property(…)` or its like.
    """

    every: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    patched: frozenset[str] = frozenset()
    interfaces: frozenset[bytes] = frozenset()
    sets: bool = False
    described: frozenset[str] = frozenset()


@dataclass
class Unit:
    """What the functions of one file share."""

    source: Source
    outline: Outline
    modules: Modules
    methods: Methods
    functions: list[ir.Function] = field(default_factory=list)
    styles: dict[str, Style] = field(default_factory=dict)
    launches: dict[str, Span] = field(default_factory=dict)
    pending: list[Callable[[], None]] = field(default_factory=list)
    measures: list[int] = field(default_factory=list)  # where functions of a binding may be called by their names
    deferred: dict[cst.FunctionDef, bool] = field(default_factory=dict)
    contexts: dict[cst.FunctionDef, bool] = field(default_factory=dict)  # run in parts; whether they catch exceptions
    returned: dict[tuple[cst.FunctionDef, tuple[Symbol, ...]], Symbol | None] = field(default_factory=dict)


class Lowering:
    """Lowers one function; each class that derives from this one adds a kind of expression or statement."""

    def __init__(self, unit: Unit, scope: Scope | None, qual: str) -> None:
        self.unit = unit
        self.source = unit.source
        self.scope = scope
        self.qual = qual
        self.resolver = Resolver(unit.modules, unit.outline, scope)
        self.out: list[Stmt] = []
        self.types: dict[str, str] = {}
        self.place = Place(Span(unit.source.path, 0, 0), "")
        self.renamed: dict[str, str] = {}
        self.statuses: set[Expr] = set()
        self.temporaries = 0
        self.problems: list[tuple[str, int]] = []
        self.conditional = 0
        self.done: dict[cst.CSTNode, Expr] = {}  # expressions that are lowered already
        self.fills: dict[cst.For, list[cst.Call]] = {}  # the calls that append once a round of a loop
        self.filling: dict[cst.Call, Var] = {}  # those of the loops that are being lowered, and the index of the round
        self.marks: list[tuple[Stmt, Expr]] | None = None  # where a function yields that is lowered in parts
        self.forwarded: tuple[Expr, ...] | None = None  # what the wrapper of a function is given, if it takes anything
        self.run_through: set[cst.CSTNode] = set()  # generator expressions that run where they stand
        self.cut_short: set[cst.CSTNode] = set()  # those of them that may not be run to their end

    # -- what the classes below add ------------------------------------------------------------------------------------

    def value(self, node: cst.BaseExpression) -> Expr:
        """Lower an expression: its calls are emitted, its value is returned."""
        raise NotImplementedError

    def target(self, node: cst.BaseExpression, is_set: bool = False) -> Expr | None:
        """The place that a target names; None for a tuple of targets. `is_set`: who asks runs the setter, if any."""
        raise NotImplementedError

    def test(self, node: cst.BaseExpression) -> ir.Test:
        """A condition; what it calls is emitted."""
        raise NotImplementedError

    def lambda_(self, node: cst.Lambda) -> Expr:
        """A function without a name, as a value."""
        raise NotImplementedError

    # -- statements ----------------------------------------------------------------------------------------------------

    def span(self, node: cst.CSTNode) -> Span:
        return self.source.span(node)

    def emit(self, stmt: Stmt) -> None:
        self.out.append(stmt)

    def temporary(self) -> Var:
        self.temporaries += 1
        var = Var(f"%{self.temporaries}")
        self.types[var.name] = ""
        return var

    def flat(self, value: Expr, node: cst.CSTNode) -> Expr:
        """The same value, kept in a temporary if it is nested deeply."""
        if not is_deep(value):
            return value
        kept = self.temporary()
        self.emit(ir.Assign(kept, value, self.span(node)))
        return kept

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements that are emitted inside go to a block of their own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    @contextmanager
    def perhaps(self, node: cst.CSTNode) -> Iterator[None]:
        """What is emitted inside runs under a condition of which nothing is known."""
        self.conditional += 1
        with self.block() as inner:
            yield
        self.conditional -= 1
        if inner:
            span = self.span(node)
            self.emit(ir.If(ir.Test("other", None, f"perhaps@{span.start}"), tuple(inner), (), span))

    @contextmanager
    def once(self, nodes: Sequence[cst.BaseExpression]) -> Iterator[None]:
        """Lower these expressions here: inside, whoever asks for one of them gets the value."""
        self.done.update([(node, self.value(node)) for node in nodes])
        yield
        for node in nodes:
            del self.done[node]

    def site(self, prefix: str = "", suffix: str = "", fixed: str | None = None) -> Site:
        blocked = self.place.blocked
        if self.conditional and blocked is None:
            blocked = "it runs inside an expression, under a condition"
        return Site(self.place.span, self.place.indent, prefix, suffix, blocked=blocked, fixed=fixed)

    def call_ir(
        self,
        node: cst.Call,
        callee: str,
        args: tuple[Expr, ...],
        receiver: Expr | None = None,
        result: Expr | None = None,
        look: Look = Look.CHECKED,
        site: Site | None = None,
    ) -> None:
        """Emit a call that is no site of the API: its text never changes."""
        span = self.span(node)
        name = self._name_span(node)
        self.emit(ir.Call(callee, args, span, name, span.end - 1, site or self.site(), (), receiver, result, look))

    def _name_span(self, node: cst.Call) -> Span:
        return self.span(node.func.attr if isinstance(node.func, cst.Attribute) else node.func)

    def unknown(self, why: str, node: cst.CSTNode, parts: tuple[Expr, ...]) -> Expr:
        """Something that is not understood; its value may be anything."""
        result = self.temporary()
        span = self.span(node)
        callee = f"{why.strip('`')}(…)"
        if bindings.tables().lookup(callee, len(parts)) is not None:
            callee = f"({callee})"  # no row is about a text that only begins like a name
        self.emit(
            ir.Call(
                callee, parts, span, Span(span.path, span.start, span.start), span.end,
                self.site(fixed="it is not understood"), (), None, result, Look.CHECKED,
            )
        )  # fmt: skip
        return result

    def outside(self, node: cst.CSTNode) -> Expr:
        """A value that comes from code that is not seen: it may be, or lead to, anything that was not made here."""
        result = self.temporary()
        span = self.span(node)
        name = Span(span.path, span.start, span.start)
        site = self.site(fixed="a value from outside")
        self.emit(ir.Call("python.outside", (), span, name, span.end, site, (), None, result, Look.IGNORED))
        return result

    def problem(self, name: str, node: cst.CSTNode) -> None:
        self.problems.append((name, self.span(node).start))

    # -- names and values ----------------------------------------------------------------------------------------------

    def variable(self, name: str) -> Var:
        """A variable by the name that scopes give it."""
        if name in self.renamed:
            return Var(self.renamed[name])
        owner = self.scope.owner(name) if self.scope is not None else None
        if owner is None:
            return Var(f"::{self.unit.outline.id}::{name}")
        if owner.this == name and not owner.bindings.assigned[name]:
            return Var("this") if owner is self.scope else Var(f"::{owner.qual}::this")
        if owner is not self.scope or name in owner.shared:
            return Var(f"::{owner.qual}::{name}")
        self.types.setdefault(name, "")
        return Var(name)

    def given(self, node: cst.Call) -> tuple[Expr, ...]:
        """The values of all arguments; what a starred one expands to is `Index(value, …)`."""
        values: list[Expr] = []
        for argument in node.args:
            value = self.value(argument.value)
            values.append(self.expanded(argument, value))
        return tuple(values)

    def expanded(self, argument: cst.Arg, value: Expr) -> Expr:
        """An argument; what a starred one expands to."""
        raise NotImplementedError

    def container(self, node: cst.CSTNode) -> Var:
        """A fresh object of the host: a list, a tuple, a struct.

        It stands at the end of its text: at the start, the call of the API may stand of which it holds the results.
        """
        result = self.temporary()
        end = self.span(node).end
        empty = Span(self.source.path, end, end)
        self.emit(ir.Call("operator new", (), empty, empty, end, self.site(), (), None, result, Look.IGNORED))
        return result
