"""Expressions of Python, lowered: calls become statements, what is left is a place or a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings, checks
from cudafix.frontends.python.checks import Parts, Result, Symbol
from cudafix.frontends.python.meaning import (
    Dotted,
    Modules,
    OwnClass,
    OwnFunction,
    OwnGlobal,
    OwnModule,
    Resolver,
    Scope,
    is_static,
    scope_of,
)
from cudafix.frontends.python.names import Outline, decorators
from cudafix.frontends.python.nodes import walk, walk_own
from cudafix.frontends.python.source import Source
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_place, is_plain, literal, opaque
from cudafix.frontends.python.writer import Style
from cudafix.ir import Addr, Const, Deref, Expr, Field, FuncRef, Index, Look, Opaque, Site, Span, Stmt, Var
from cudafix.models.api import HOST_EFFECTS, Effect, roles_of
from cudafix.models.python import CALLED, CALLERS, EVENT, KERNELS, METHODS, MODULES, PARAMETERS, STREAM
from cudafix.models.python import DEVICE as CUPY_DEVICE

_PLAIN_FIELDS = frozenset(
    "nbytes shape size dtype itemsize ndim strides name value flags __name__ __class__ __doc__ handle".split()
)
_SAME_FIELDS = frozenset("ctypes data T flat real imag base".split())
_STORES = {"append": 0, "add": 0, "appendleft": 0, "put": 0, "insert": 1, "extend": 0, "update": 0}
_LOADS = frozenset("pop popleft get values items setdefault popitem copy".split())
_PASSES = frozenset("int abs round".split())
_NUMBERS = frozenset(("pointer", *(f"builtins.{name}()" for name in "str hex repr format oct bin ascii".split())))
"""Where addresses come from that are numbers, or texts of them."""
_DICTIONARIES = frozenset(("builtins.dict()", "collections.OrderedDict()", "collections.defaultdict()"))
_CONTAINERS = frozenset(
    "builtins.list builtins.tuple builtins.set builtins.dict builtins.frozenset collections.OrderedDict "
    "collections.defaultdict collections.deque collections.namedtuple types.SimpleNamespace".split()
)
_LAUNCHES = {
    "cuLaunchKernel": (8, 9),
    "cuLaunchCooperativeKernel": (8, 9),
    "cudaLaunchKernel": (5, 3),
    "cudaLaunchCooperativeKernel": (5, 3),
}  # positions of the stream and of the kernel's arguments
DEVICE = frozenset(("jit", "rawkernel", "kernel"))
"""Decorators of functions that run on the device."""
TRANSPARENT = frozenset(
    "staticmethod classmethod property cached_property abstractmethod wraps override overload final no_grad "
    "inference_mode dataclass profile skipif parametrize gpu multi_gpu slow".split()
)
"""Decorators that leave it at one call of the function for each call."""
CURRENT = Var("::cupy::current")
"""CuPy's current stream. Every thread has one of its own; other threads are out of reach anyway."""
_DIRECTIONS = ("HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default")


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


@dataclass
class Unit:
    """What the functions of one file share."""

    source: Source
    outline: Outline
    modules: Modules
    functions: list[ir.Function] = field(default_factory=list)
    styles: dict[str, Style] = field(default_factory=dict)
    launches: dict[str, Span] = field(default_factory=dict)
    pending: list[Callable[[], None]] = field(default_factory=list)
    deferred: dict[cst.FunctionDef, bool] = field(default_factory=dict)
    returned: dict[tuple[cst.FunctionDef, tuple[Symbol, ...]], Symbol | None] = field(default_factory=dict)


class Expressions:
    """Lowers the expressions of one function."""

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
        self.marks = 0

    # -- small things --------------------------------------------------------------------------------------------------

    def span(self, node: cst.CSTNode) -> Span:
        return self.source.span(node)

    def emit(self, stmt: Stmt) -> None:
        self.out.append(stmt)

    def temporary(self) -> Var:
        self.temporaries += 1
        var = Var(f"%{self.temporaries}")
        self.types[var.name] = ""
        return var

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements that are emitted inside go to a block of their own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

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

    # -- names and places ----------------------------------------------------------------------------------------------

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

    def target(self, node: cst.BaseExpression) -> Expr | None:
        """The place that a target names; None for a tuple of targets."""
        match node:
            case cst.Name(value=name):
                return self.variable(name)
            case cst.Attribute(value=inner, attr=attr):
                meaning = self.resolver.meaning(inner)
                if isinstance(meaning, OwnModule):
                    return Var(f"::{meaning.outline.id}::{attr.value}")
                if attr.value in self.unit.outline.setters:
                    self.emit(ir.Unknown(f"the setter of `{attr.value}`", self.span(node)))
                return Field(deref(self.value(inner)), attr.value)
            case cst.Subscript(value=inner, slice=index):
                base, key = self.value(inner), self.key(index)
                self.emit(ir.HostAccess((), (Index(base, key),), self.span(node)))
                if self.resolver.origin(inner) in _DICTIONARIES and is_place(key):
                    self.emit(ir.Assign(_keys(base), key, self.span(node)))
                return Index(base, key)
            case _:
                return None

    def key(self, index: object) -> Expr:
        """The index of a subscript; `Opaque` for a slice and for several."""
        assert isinstance(index, list | tuple)
        inner = index[0].slice if len(index) == 1 else None
        if isinstance(inner, cst.Index):
            value = self.value(inner.value)
            text = literal(inner.value)
            if text is not None:
                return Const(text) if not text.startswith("-") else NOTHING
            return value if isinstance(value, Var) else NOTHING
        for element in index:
            part = element.slice
            for node in (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else (part.value,):
                if node is not None:
                    self.value(node)
        return NOTHING

    def element(self, node: cst.BaseExpression, base: Expr, key: Expr) -> Expr:
        """`base[key]`: what a container holds there, a part of an array, or either."""
        origin = self.resolver.origin(node)
        if origin is not None and origin.startswith("builtins.") and not origin.startswith("builtins.str"):
            return Index(base, key)
        if origin is not None and not origin.startswith(("builtins.", "collections.", "pointer")):
            return ir.Offset(base)
        if origin is None:
            return choice(Index(base, key), ir.Offset(base))
        return Index(base, key)

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, node: cst.BaseExpression) -> Expr:
        """Lower an expression: its calls are emitted, its value is returned."""
        text = literal(node)
        if text is not None:
            return Const(text)
        match node:
            case cst.Name(value="None"):
                return NONE
            case cst.Name(value=name):
                return self._name(node, name)
            case cst.Attribute():
                return self._attribute(node)
            case cst.Call():
                return self.call(node)
            case cst.Subscript():
                return self._subscript(node)
            case cst.Tuple(elements) | cst.List(elements) | cst.Set(elements):
                return self._display(node, elements)
            case cst.Dict(elements):
                return self._dict(node, elements)
            case cst.BinaryOperation(left=left, right=right):
                return self._arithmetic(node, [self.value(left), self.value(right)])
            case cst.UnaryOperation(expression=inner):
                return opaque(self.value(inner))
            case cst.Comparison(left=left, comparisons=comparisons):
                self._arithmetic(node, [self.value(left), *(self.value(c.comparator) for c in comparisons)])
                return NOTHING
            case cst.BooleanOperation(left=left, right=right):
                return self._boolean(node, left, right)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(node, test, body, orelse)
            case cst.Lambda():
                return self.lambda_(node)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                return self.comprehension(node)
            case cst.NamedExpr(target=target, value=inner):
                value = self.value(inner)
                place = self.target(target)
                if place is not None:
                    self.emit(ir.Assign(place, value, self.span(node)))
                    return place
                return value
            case cst.FormattedString(parts=parts):
                return self._formatted(parts)
            case cst.ConcatenatedString(left=left, right=right):
                return opaque(self.value(left), self.value(right))
            case cst.BaseString() | cst.BaseNumber() | cst.Ellipsis():
                return NOTHING
            case cst.Await(expression=inner):
                self.problem("coroutine", node)
                return self.unknown("`await`", node, (self.value(inner),))
            case cst.Yield():
                self.problem("generator", node)
                given = node.value.item if isinstance(node.value, cst.From) else node.value
                return self.unknown("`yield`", node, (self.value(given),) if given is not None else ())
            case _:
                return self.unknown(f"`{type(node).__name__}`", node, ())

    def problem(self, name: str, node: cst.CSTNode) -> None:
        self.problems.append((name, self.span(node).start))

    def _name(self, node: cst.Name, name: str) -> Expr:
        if name in self.renamed:
            return Var(self.renamed[name])
        match self.resolver.meaning(node):
            case OwnFunction(name=qualified):
                return FuncRef(qualified)
            case OwnClass() | OwnModule():
                return NOTHING
            case OwnGlobal(outline, other):
                return Var(f"::{outline.id}::{other}")
            case Dotted(dotted):
                return self._dotted(dotted, node)
            case _:
                owner = self.scope.owner(name) if self.scope is not None else None
                if owner is None and not self.unit.outline.assigned[name]:
                    return self.outside(node)  # a star import, or a name that another module puts here
                return self.variable(name)

    def _dotted(self, dotted: str, node: cst.CSTNode) -> Expr:
        """A constant of a binding module by its C name; whatever other packages hold is a plain value."""
        name = bindings.member(dotted)
        if dotted in (f"{STREAM}.null.ptr", f"{STREAM}.ptds.ptr"):
            return Const("0" if dotted.endswith("null.ptr") else "cudaStreamPerThread")
        if name is None:
            if dotted.startswith("builtins."):
                return FuncRef(dotted)
            known = bindings.tables()
            if dotted in MODULES or known.lookup(dotted, 0) is not None or known.lookup(f"{dotted}.any", 0) is not None:
                return NOTHING  # a module, a type, a number
            return self.outside(node)
        last = name.removesuffix(".value").rpartition(".")[2]
        module = bindings.module_of(dotted)
        if module is not None and MODULES[module].prefix:
            last = MODULES[module].prefix + last[:1].upper() + last[1:]
        if bindings.signature(dotted, 0) is not None or bindings.signature(dotted, 1) is not None:
            return FuncRef(last)
        return Const(last)

    def _attribute(self, node: cst.Attribute) -> Expr:
        name = node.attr.value
        match self.resolver.meaning(node):
            case Dotted(dotted):
                return self._dotted(dotted, node)
            case OwnGlobal(outline, other):
                return Var(f"::{outline.id}::{other}")
            case OwnFunction() as function:
                if "property" in decorators(function.node) or "cached_property" in decorators(function.node):
                    return self._property(node, function)
                if function.cls is not None:
                    self.value(node.value)
                return FuncRef(function.name)
            case OwnClass() | OwnModule():
                return NOTHING
        base = self.value(node.value)
        if isinstance(base, Const):
            return base
        if self.resolver.cls_of(node.value) is not None or self._is_own_field(name):
            return choice(Field(deref(base), name), *self._class_values(name))
        if name == "__dict__":
            return self.unknown("__dict__", node, (base,))
        held = self._properties(node, name, base)
        if held is not None:
            return held
        if name == "ptr" and (self.resolver.origin(node.value) or "").startswith("cupy.cuda."):
            return Field(deref(base), name)
        if name in _PLAIN_FIELDS:
            return NOTHING
        if name in _SAME_FIELDS:
            return base
        return choice(Field(deref(base), name), ir.Offset(base))

    def _is_own_field(self, name: str) -> bool:
        """Whether some class of the file gives its objects a field of this name."""
        return any(cls.assigned[name] or name in cls.attributes for cls in self.unit.outline.classes.values())

    def _class_values(self, name: str) -> list[Expr]:
        """What classes of the file hold under this name for all of their objects, other than literals."""
        outline = self.unit.outline
        return [
            Var(f"::{outline.id}::{cls.name}::{name}")
            for cls in outline.classes.values()
            if name in cls.attributes and not is_plain(cls.attributes[name])
        ]

    def _properties(self, node: cst.Attribute, name: str, base: Expr) -> Expr | None:
        """A property of some class of the file, of an object whose class is not known; None if there is none."""
        outline = self.unit.outline
        found = [
            OwnFunction(outline, cls.methods[name], f"{outline.id}::{cls.name}::{name}", cls)
            for cls in outline.classes.values()
            if name in cls.methods and {"property", "cached_property"} & decorators(cls.methods[name])
        ]
        if not found:
            return None
        values: list[Expr] = [Field(deref(base), name)]
        for function in found:
            with self.block() as inner:
                values.append(self._property(node, function, base))
            test = ir.Test("other", None, f"{function.name}@{self.span(node).start}")
            self.emit(ir.If(test, tuple(inner), (), self.span(node)))
        return choice(*values)

    def _property(self, node: cst.Attribute, function: OwnFunction, base: Expr | None = None) -> Expr:
        receiver = deref(self.value(node.value) if base is None else base)
        result = self.temporary()
        span = self.span(node)
        self.emit(
            ir.Call(
                function.name, (), span, self.span(node.attr), span.end, self.site(), (), receiver, result, Look.CHECKED
            )
        )
        return result

    def _subscript(self, node: cst.Subscript) -> Expr:
        call = self.api_call(node)
        if call is not None:
            return self.symbol_value(call, self.api(call), node)
        base = self.value(node.value)
        key = self.key(node.slice)
        if isinstance(base, Const) or base == NOTHING:
            return NOTHING
        place = self.element(node.value, base, key)
        self.emit(ir.HostAccess((Index(base, key),), (), self.span(node)))
        return place

    def _arithmetic(self, node: cst.CSTNode, values: list[Expr]) -> Expr:
        read = tuple(Index(v, NOTHING) for v in values if is_place(v) and v not in self.statuses)
        if read and any(not isinstance(v, Var) or not v.name.startswith("%") for v in values):
            self.emit(ir.HostAccess(read, (), self.span(node)))
        return opaque(*values)

    def _formatted(self, parts: object) -> Expr:
        """A text may tell an address to whoever reads it."""
        assert isinstance(parts, list | tuple)
        values: list[Expr] = []
        for part in parts:
            if isinstance(part, cst.FormattedStringExpression):
                value = self.value(part.expression)
                values.append(value)
                if is_place(value):
                    self.emit(ir.HostAccess((Index(value, NOTHING),), (), self.span(part.expression)))
                if part.format_spec is not None:
                    values.append(self._formatted(part.format_spec))
        return opaque(*values)

    def _boolean(self, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression) -> Expr:
        first = self.value(left)
        with self.block() as inner:
            self.conditional += 1
            second = self.value(right)
            self.conditional -= 1
        if inner:
            self.emit(ir.If(ir.Test("other", None, self.source.text(left)), tuple(inner), (), self.span(node)))
        return choice(first, second)

    def _conditional(
        self, node: cst.CSTNode, test: cst.BaseExpression, body: cst.BaseExpression, orelse: cst.BaseExpression
    ) -> Expr:
        tested = self.test(test)
        self.conditional += 1
        with self.block() as then:
            one = self.value(body)
        with self.block() as other:
            two = self.value(orelse)
        self.conditional -= 1
        if then or other:
            self.emit(ir.If(tested, tuple(then), tuple(other), self.span(node)))
        return choice(one, two)

    # -- containers ----------------------------------------------------------------------------------------------------

    def container(self, node: cst.CSTNode) -> Var:
        """A fresh object of the host: a list, a tuple, a struct."""
        result = self.temporary()
        span = self.span(node)
        empty = Span(span.path, span.start, span.start)
        self.emit(ir.Call("operator new", (), span, empty, span.end, self.site(), (), None, result, Look.IGNORED))
        return result

    def _display(self, node: cst.CSTNode, elements: object) -> Expr:
        assert isinstance(elements, list | tuple)
        values = [(self.value(element.value), isinstance(element, cst.StarredElement)) for element in elements]
        if all(isinstance(v, Const) or v == NOTHING for v, _ in values) and not isinstance(node, cst.List | cst.Set):
            return NOTHING
        made = self.container(node)
        known = not any(starred for _, starred in values)
        for number, (value, starred) in enumerate(values):
            if starred:
                value = Index(value, NOTHING)
            key: Expr = Const(str(number)) if known else NOTHING
            self.emit(ir.Assign(Index(made, key), value, self.span(node)))
        return made

    def _hold_key(self, made: Var, key: cst.BaseExpression, node: cst.CSTNode) -> None:
        """A key of a dictionary, which is kept like its values."""
        value = self.value(key)
        if is_place(value):
            self.emit(ir.Assign(_keys(made), value, self.span(node)))

    def _dict(self, node: cst.CSTNode, elements: object) -> Expr:
        assert isinstance(elements, list | tuple)
        made = self.container(node)
        for element in elements:
            if isinstance(element, cst.DictElement):
                text = literal(element.key)
                self._hold_key(made, element.key, node)
                value = self.value(element.value)
                key: Expr = Const(text) if text is not None else NOTHING
                self.emit(ir.Assign(Index(made, key), value, self.span(node)))
            else:
                value = self.value(element.value)
                self.emit(ir.Assign(Index(made, NOTHING), Index(value, NOTHING), self.span(node)))
        return made

    def comprehension(self, node: cst.BaseExpression) -> Expr:
        """`[f(x) for x in xs]` as a loop that fills a list; a generator expression the same."""
        assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp)
        made = self.container(node)
        renamed = dict(self.renamed)
        blocked, self.place.blocked = self.place.blocked, self.place.blocked or "it is in a comprehension"
        with self.block() as body:
            self._clauses(node, node.for_in, made)
        self.out += body
        self.place.blocked = blocked
        self.renamed = renamed
        return made

    def _clauses(self, node: cst.BaseExpression, clause: cst.CompFor | None, made: Var, key: Expr = NOTHING) -> None:
        if clause is None:
            if isinstance(node, cst.DictComp):
                self._hold_key(made, node.key, node)
                value = self.value(node.value)
            else:
                assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp)
                value = self.value(node.elt)
            self.emit(ir.Assign(Index(made, key), value, self.span(node)))
            return
        at = self.span(clause.target).start
        for name in _target_names(clause.target):
            self.renamed[name] = f"{name}@{at}"
            self.types[f"{name}@{at}"] = ""

        def rest(index: Var | None) -> None:
            inner = index if clause.inner_for_in is None and not clause.ifs and clause is _first(node) else None
            self.conditional += bool(clause.ifs)
            with self.block() as body:
                self._clauses(node, clause.inner_for_in, made, inner if inner is not None else NOTHING)
            for test in reversed(clause.ifs):
                with self.block() as wrapped:
                    tested = self.test(test.test)
                wrapped.append(ir.If(tested, tuple(body), (), self.span(test.test)))
                body = wrapped
            self.conditional -= bool(clause.ifs)
            self.out += body

        self.iterate(clause.target, clause.iter, self.span(node), rest)

    def iterate(
        self,
        target: cst.BaseExpression,
        iterable: cst.BaseExpression,
        span: Span,
        body: Callable[[Var | None], None],
        index_is_safe: Callable[[str], bool] = lambda name: True,
    ) -> None:
        """A loop over `iterable`; `body` lowers what it repeats and gets the index of a counted loop."""
        counted = self._range(iterable)
        place = self.target(target) if isinstance(target, cst.Name) else None
        if counted is not None and isinstance(place, Var) and isinstance(target, cst.Name):
            text, certain = counted
            if not place.name.startswith("::") and index_is_safe(target.value):
                with self.block() as inner:
                    body(place)
                self.emit(ir.Loop(tuple(inner), span, index=place, range=text, at_least_once=certain))
                return
        take = self._elements(iterable)
        with self.block() as inner:
            self.bind(target, take)
            body(None)
        display = isinstance(iterable, cst.List | cst.Tuple) and any(
            not isinstance(element, cst.StarredElement) for element in iterable.elements
        )
        self.emit(ir.Loop(tuple(inner), span, at_least_once=display or (counted is not None and counted[1])))

    def _range(self, node: cst.BaseExpression) -> tuple[str, bool] | None:
        """The bounds of `range(a, b)` as a text that is equal for equal ranges, and whether a round is certain."""
        if not isinstance(node, cst.Call) or self.resolver.meaning(node.func) != Dotted("builtins.range"):
            return None
        args = [a.value for a in node.args]
        if not 1 <= len(args) <= 2 or any(a.keyword is not None or a.star for a in node.args):
            for one in args:
                self.value(one)
            return None
        bounds = args if len(args) == 2 else [cst.Integer("0"), *args]
        texts: list[str] = []
        numbers: list[int] = []
        for bound in bounds:
            if not isinstance(bound, cst.Integer):
                self.value(bound)
            number = literal(bound)
            texts.append(number if number is not None else self.fixed_text(bound))
            if number is not None and number.lstrip("-").isdigit():
                numbers.append(int(number))
        certain = len(numbers) == 2 and numbers[0] < numbers[1]
        return f"{texts[0]}:{texts[1]}", certain

    def fixed_text(self, node: cst.BaseExpression) -> str:
        """The text of an expression, with a mark of its own where its value may differ from one place to another."""
        text = self.source.text(node)
        names = _plain_names(node)
        if names is None:
            return self._marked(text)
        for name in names:
            owner = self.scope.owner(name) if self.scope is not None else None
            bound = owner.bindings.assigned[name] + (name in owner.params) if owner is not None else 0
            if owner is None and self.unit.outline.constant(name) is None and self.unit.outline.assigned[name]:
                bound = 2
            if bound > 1 or (owner is not None and owner is not self.scope):
                return self._marked(text)
        return text

    def _marked(self, text: str) -> str:
        """A text that is equal to no other one: by its order in the function, which an edit does not change."""
        self.marks += 1
        return f"{text}#{self.marks}"

    def _elements(self, node: cst.BaseExpression) -> Callable[[], list[Expr]]:
        """Lowers an iterable; what it returns gives the value of each round, or the parts of it."""
        if isinstance(node, cst.Call):
            meaning = self.resolver.meaning(node.func)
            name = meaning.name if isinstance(meaning, Dotted) else ""
            args = [a.value for a in node.args if a.keyword is None]
            if name == "builtins.range":
                return lambda: [NOTHING]
            if (
                name in ("builtins.enumerate", "tqdm.tqdm", "builtins.reversed", "builtins.sorted", "builtins.iter")
                and args
            ):
                inner = self._elements(args[0])
                for extra in node.args[1:]:
                    self.value(extra.value)
                if name == "builtins.enumerate":
                    return lambda: [NOTHING, choice(*inner()) if len(inner()) == 1 else opaque(*inner())]
                return inner
            if name == "builtins.zip" and args:
                takes = [self._elements(one) for one in args]
                return lambda: [one for take in takes for one in take()[:1]]
            if meaning is None and isinstance(node.func, cst.Attribute) and not args:
                method = node.func.attr.value
                if method in ("values", "items", "keys"):
                    base = self.value(node.func.value)
                    held: Expr = Index(base, NOTHING)
                    keys = _keys(base)
                    given: dict[str, list[Expr]] = {"values": [held], "items": [keys, held], "keys": [keys]}
                    return lambda: given[method]
        value = self.value(node)
        origin = self.resolver.origin(node)
        if origin in _DICTIONARIES:
            return lambda: [_keys(value)]
        item = self.element(node, value, NOTHING)
        if origin is None and is_place(value):  # it may be a dictionary that somebody else made
            item = choice(item, _keys(value))
        return lambda: [item]

    def bind(self, target: cst.BaseExpression, take: Callable[[], list[Expr]]) -> None:
        """Assign what a round of a loop gives to its target."""
        values = take()
        if isinstance(target, cst.Tuple | cst.List):
            plain = [e for e in target.elements if not isinstance(e, cst.StarredElement)]
            if len(values) == len(target.elements) == len(plain) and len(values) > 1:
                for element, value in zip(target.elements, values, strict=True):
                    self.bind(element.value, lambda value=value: [value])  # type: ignore[misc]
                return
            whole = values[0] if len(values) == 1 else opaque(*values)
            self.unpack(target, whole)
            return
        place = self.target(target)
        if place is not None:
            value = values[0] if len(values) == 1 else opaque(*values)
            self.emit(ir.Assign(place, value, self.span(target)))

    def unpack(self, target: cst.BaseExpression, value: Expr) -> None:
        """`a, b = value`."""
        if not isinstance(target, cst.Tuple | cst.List):
            place = self.target(target)
            if place is not None:
                self.emit(ir.Assign(place, value, self.span(target)))
            return
        starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
        for number, element in enumerate(target.elements):
            item: Expr = Index(value, Const(str(number)) if not starred else NOTHING)
            if isinstance(value, Opaque):
                item = value
            if isinstance(element, cst.StarredElement):
                made = self.container(element)
                self.emit(ir.Assign(Index(made, NOTHING), item, self.span(element)))
                item = made
            self.unpack(element.value, item)

    # -- functions as values -------------------------------------------------------------------------------------------

    def lambda_(self, node: cst.Lambda) -> Expr:
        raise NotImplementedError

    # -- conditions ----------------------------------------------------------------------------------------------------

    def test(self, node: cst.BaseExpression) -> ir.Test:
        """A condition; what it calls is emitted."""
        text = self.source.text(node)
        match node:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                found = self.test(inner)
                flipped = {"nonnull": "null", "null": "nonnull", "ok": "failed", "failed": "ok", "other": "other"}
                return ir.Test(flipped[found.kind], found.place, text)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
                same = isinstance(operator, cst.Is | cst.Equal)
                if isinstance(operator, cst.Is | cst.IsNot | cst.Equal | cst.NotEqual):
                    one, two = self.value(left), self.value(right)
                    if isinstance(one, Const) and not isinstance(two, Const):
                        one, two = two, one
                    if isinstance(two, Const) and is_place(one):
                        success = two.text in ("cudaSuccess", "CUDA_SUCCESS") or one in self.statuses
                        if success:
                            return ir.Test("ok" if same else "failed", one, text)
                        if two in (NONE, Const("0")):
                            return ir.Test("null" if same else "nonnull", one, text)
                    if isinstance(two, Const) and two.text in ("cudaSuccess", "CUDA_SUCCESS"):
                        return ir.Test("ok" if same else "failed", None, text)
                    self._arithmetic(node, [one, two])
                    return ir.Test("other", None, text)
            case cst.Attribute(value=inner, attr=cst.Name(value="value")):
                value = self.value(inner)
                if value in self.statuses:
                    return ir.Test("failed", value, text)
                return ir.Test("other", None, text)
        value = self.value(node)
        if value in self.statuses:
            return ir.Test("failed", value, text)
        if is_place(value):
            return ir.Test("nonnull", value, text)
        return ir.Test("other", None, text)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, node: cst.Call) -> Expr:
        """A call in an expression."""
        api = self.api_call(node)
        if api is not None:
            return self.symbol_value(api, self.api(api), node)
        if self.resolver.origin(node.func) in KERNELS:
            return self._raw_kernel(node)
        match self.resolver.meaning(node.func):
            case Dotted(dotted):
                return self._library(node, dotted)
            case OwnFunction() as function:
                return self._own(node, function)
            case OwnClass() as cls:
                return self._construct(node, cls)
            case OwnModule() | OwnGlobal():
                return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
        if isinstance(node.func, cst.Attribute):
            return self._method(node, node.func)
        if isinstance(node.func, cst.BinaryOperation) and (self._is_ctypes(node.func.left)):
            return self._array(node)
        if isinstance(node.func, cst.Name) and node.func.value == "super" or self.is_super(node.func):
            return self._super(node)
        return self.unknown(self.source.text(node.func), node, (self.value(node.func), *self.given(node)))

    def _is_ctypes(self, node: cst.BaseExpression) -> bool:
        meaning = self.resolver.meaning(node)
        return isinstance(meaning, Dotted) and meaning.name.startswith("ctypes.c_")

    def _array(self, node: cst.Call) -> Expr:
        """`(ctypes.c_void_p * 2)(p, q)`: an array of the host that holds what it is given."""
        made = self.container(node)
        for value in self.given(node):
            if not isinstance(value, Const) and value != NOTHING:
                self.emit(ir.Assign(Index(made, NOTHING), value, self.span(node)))
        return made

    def is_super(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"

    def given(self, node: cst.Call) -> tuple[Expr, ...]:
        """The values of all arguments; what a starred one expands to is `Index(value, …)`."""
        values: list[Expr] = []
        for argument in node.args:
            value = self.value(argument.value)
            values.append(Index(value, NOTHING) if argument.star and not isinstance(value, Const) else value)
        return tuple(values)

    def pure(self, node: cst.Call) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """All arguments, and those of them whose memory a host function may look at: device addresses are numbers."""
        every: list[Expr] = []
        seen: list[Expr] = []
        for argument in node.args:
            value = self.value(argument.value)
            if argument.star and not isinstance(value, Const):
                value = Index(value, NOTHING)
            every.append(value)
            if isinstance(value, Const) or value == NOTHING or self.resolver.origin(argument.value) in _NUMBERS:
                continue
            if isinstance(argument.value, cst.List | cst.Tuple | cst.Dict | cst.ListComp):
                continue  # the list itself; what it leads to is read by whoever reads the elements
            seen.append(value)
        return tuple(every), tuple(seen)

    def _library(self, node: cst.Call, dotted: str) -> Expr:
        """A function of a package that is not in the program."""
        name = bindings.member(dotted)
        if name is not None:
            return self._type_of_binding(node, dotted, name)
        last = dotted.rpartition(".")[2]
        if dotted == "builtins.super":
            return NOTHING
        if dotted.startswith("cupy."):
            made = self._cupy(node, dotted)
            if made is not None:
                return made
        if dotted in ("builtins.exec", "builtins.eval", "builtins.globals", "builtins.locals", "builtins.vars"):
            if last in ("exec", "eval"):
                self.emit(ir.Unknown(f"`{last}`", self.span(node)))
        if dotted == "builtins.getattr" and len(node.args) >= 2:
            return self._getattr(node)
        if dotted.startswith("builtins.") and last in _PASSES and len(node.args) == 1:
            return self.value(node.args[0].value)
        if dotted in _CONTAINERS:
            return self._container_call(node)
        every, seen = self.pure(node)
        if self._calls_back(node, dotted, every):
            return self.unknown(dotted, node, every)
        placed = self._by_position(node, dotted, every, 0)
        if placed is None:
            return self.unknown(f"{dotted} (its arguments are given by name)", node, every)
        every = placed
        result = self.temporary()
        self.call_ir(node, dotted, seen if _only_looks(dotted, len(every)) else every, result=result)
        if dotted.startswith("builtins.") and last not in (
            "next",
            "min",
            "max",
            "sorted",
            "reversed",
            "map",
            "filter",
            "zip",
            "iter",
            "bytearray",
            "memoryview",
            "open",
            "str",
            "repr",
            "hex",
            "oct",
            "bin",
            "ascii",
            "format",
            "bytes",
        ):
            return NOTHING
        return choice(result, *(opaque(v) for v in every if not isinstance(v, Const) and v != NOTHING))

    def _calls_back(self, node: cst.Call, callee: str, values: tuple[Expr, ...]) -> bool:
        """Whether a function that only works on the host is given one to call that may do more."""
        api = bindings.tables().lookup(callee, len(values))
        if api is None or api.effect not in HOST_EFFECTS:
            return False
        for number, (argument, value) in enumerate(zip(node.args, values, strict=True)):
            word = argument.keyword.value if argument.keyword is not None else None
            if word in CALLED or CALLERS.get(callee) == number:
                if value != NONE and not self._only_computes(argument.value):
                    return True
            elif isinstance(value, FuncRef) and not self._only_computes(argument.value):
                return True
        return False

    def _only_computes(self, node: cst.BaseExpression) -> bool:
        """Whether a function that is named or written here does no more than the host functions of the tables."""
        if isinstance(node, cst.Lambda):
            inner = scope_of(node, f"{self.qual}::<lambda>", self.scope, None)
            resolver = Resolver(self.unit.modules, self.unit.outline, inner)
            names = [one for one in walk(node.body) if isinstance(one, cst.Name)]
            known = [one for one in names if one.value in inner.params or resolver.meaning(one) is not None]
            calls = [one.func for one in walk(node.body) if isinstance(one, cst.Call)]
            methods = [one.attr for one in walk(node.body) if isinstance(one, cst.Attribute)]
            return len(known) + len(methods) >= len(names) and all(
                _is_host(resolver.meaning(one)) or self._is_plain_method(one) for one in calls
            )
        return literal(node) is not None or _is_host(self.resolver.meaning(node))

    def _is_plain_method(self, func: cst.BaseExpression) -> bool:
        """Whether this names a method of plain objects, and of no class of the file."""
        if not isinstance(func, cst.Attribute):
            return False
        name = func.attr.value
        return _is_host(Dotted(f"object.{name}")) and all(
            name not in cls.methods for cls in self.unit.outline.classes.values()
        )

    def _by_position(
        self, node: cst.Call, callee: str, values: tuple[Expr, ...], skipped: int
    ) -> tuple[Expr, ...] | None:
        """The values of the arguments in the order of the roles of the row, of which the first `skipped` are not
        theirs; None where the order cannot be told.
        """
        if not any(a.keyword is not None or a.star for a in node.args):
            return values
        api = bindings.tables().lookup(callee, skipped + len(values))
        if api is None or len(set(roles_of(api, skipped + len(values))[skipped:])) <= 1:
            return values
        return _in_order(node.args, values, PARAMETERS.get(callee, ()))

    def _container_call(self, node: cst.Call) -> Expr:
        made = self.container(node)
        for argument in node.args:
            if isinstance(argument.value, cst.ListComp | cst.GeneratorExp) and len(node.args) == 1:
                return self.value(argument.value)
            value = self.value(argument.value)
            if argument.keyword is not None:
                text = f'"{argument.keyword.value}"'
                self.emit(ir.Assign(Index(made, Const(text)), value, self.span(node)))
                self.emit(ir.Assign(Field(Deref(made), argument.keyword.value), value, self.span(node)))
            elif not isinstance(value, Const) and value != NOTHING:
                self.emit(
                    ir.Assign(Index(made, NOTHING), self.element(argument.value, value, NOTHING), self.span(node))
                )
        return made

    def _getattr(self, node: cst.Call) -> Expr:
        """`getattr(x, "name")`; with a name that is computed, any field."""
        base = self.value(node.args[0].value)
        rest = [self.value(a.value) for a in node.args[1:]]
        name = node.args[1].value
        if isinstance(name, cst.SimpleString) and isinstance(name.evaluated_value, str):
            found: Expr = Field(deref(base), name.evaluated_value) if not isinstance(base, Const) else NOTHING
            return choice(found, *rest[1:]) if rest[1:] else found
        return self.unknown("`getattr`", node, (base, *rest))

    def _type_of_binding(self, node: cst.Call, dotted: str, name: str) -> Expr:
        """A type of the bindings: a handle or number is what it is made from, a struct holds what it is given."""
        module = bindings.module_of(dotted)
        if name[:1].isupper() or name.endswith("_t") or name.startswith(("CU", "make_", "dim3", "cuda")):
            values = self.given(node)
            is_function = bindings.signature(dotted, len(values)) is not None
            if not is_function and len(values) == 1:
                return values[0]
            if not is_function:
                made = self.container(node)
                for value in values:
                    if not isinstance(value, Const) and value != NOTHING:
                        self.emit(ir.Assign(Index(made, NOTHING), value, self.span(node)))
                return made
        return self.unknown(f"{module}.{name}", node, self.given(node))

    # -- CuPy ----------------------------------------------------------------------------------------------------------

    def _c_call(self, node: cst.CSTNode, callee: str, args: tuple[Expr, ...]) -> None:
        """A call of the C function behind a method of CuPy, which raises if it fails."""
        span = self.span(node)
        name = Span(span.path, span.start, span.start)
        site = self.site(fixed="it is a method of CuPy")
        self.emit(ir.Call(callee, args, span, name, span.end, site, (), None, None, Look.CHECKED))

    def _cupy(self, node: cst.Call, dotted: str) -> Expr | None:
        """Streams, events and devices of CuPy: objects with their handle in a field; None for anything else."""
        named = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
        null, ptds = (literal(named[key]) == "true" if key in named else False for key in ("null", "ptds"))
        if dotted == STREAM and len(named) == len(node.args):
            made = self.container(node)
            if null or ptds:
                handle = Const("0" if null else "cudaStreamPerThread")
                self.emit(ir.Assign(Field(Deref(made), "ptr"), handle, self.span(node)))
                return made
            given = literal(named["non_blocking"]) if "non_blocking" in named else "false"
            words = {"true": Const("cudaStreamNonBlocking"), "false": Const("cudaStreamDefault")}
            flags = words.get(given or "", NOTHING)
            self._c_call(node, "cudaStreamCreateWithFlags", (Addr(Field(Deref(made), "ptr")), flags))
            return made
        if dotted == EVENT:
            made = self.container(node)
            self._c_call(node, "cudaEventCreateWithFlags", (Addr(Field(Deref(made), "ptr")), NOTHING))
            return made
        if dotted == CUPY_DEVICE:
            made = self.container(node)
            number = self.value(node.args[0].value) if node.args else NOTHING
            self.emit(ir.Assign(Field(Deref(made), "id"), number, self.span(node)))
            return made
        if dotted in (f"{STREAM}.null.synchronize", f"{STREAM}.null.use"):
            if dotted.endswith("use"):
                self.emit(ir.Assign(CURRENT, Const("0"), self.span(node)))
            else:
                self._c_call(node, "cudaStreamSynchronize", (Const("0"),))
            return NOTHING
        return None

    def _cupy_method(self, node: cst.Call, name: str, base: Expr) -> Expr | None:
        given = [self._handle(a.value) for a in node.args] if name in METHODS or name.endswith(".record") else []
        if name == f"{STREAM}().use":
            self.emit(ir.Assign(CURRENT, Field(deref(base), "ptr"), self.span(node)))
            return base
        if name == f"{CUPY_DEVICE}().use":
            self._c_call(node, "cudaSetDevice", (Field(deref(base), "id"),))
            return NOTHING
        if name == f"{STREAM}().record":
            event: Expr = self.container(node) if not node.args else NOTHING
            if not node.args:
                self._c_call(node, "cudaEventCreateWithFlags", (Addr(Field(deref(event), "ptr")), NOTHING))
            handle = given[0] if given else Field(deref(event), "ptr")
            self._c_call(node, "cudaEventRecord", (handle, Field(deref(base), "ptr")))
            return event if not node.args else self.value(node.args[0].value)
        if name not in METHODS:
            return None
        callee, words = METHODS[name]
        places: dict[str, Expr] = {"self": Field(deref(base), "ptr"), "-": Const("0")}
        places["1"] = given[0] if given else NOTHING
        places["1|current"] = given[0] if given else CURRENT
        self._c_call(node, callee, tuple(places[word] for word in words.split()))
        return NOTHING

    def _handle(self, node: cst.BaseExpression) -> Expr:
        """The handle of an object of CuPy."""
        meaning = self.resolver.meaning(node)
        if meaning == Dotted(f"{STREAM}.null"):
            return Const("0")
        value = self.value(node)
        return Field(deref(value), "ptr") if not isinstance(value, Const) else value

    def _raw_kernel(self, node: cst.Call) -> Expr:
        """`kernel(grid, block, args, stream=s)`: on the stream that is current, unless it is given one."""
        values: list[Expr] = []
        stream: Expr = CURRENT
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == "stream":
                stream = self._handle(argument.value)
            else:
                values.append(self.value(argument.value))
        kernel = self.source.text(node.func)
        self.unit.launches.setdefault(kernel, self.span(node))
        given = tuple(v for v in values if not isinstance(v, Const) and v != NOTHING)
        self.emit(ir.Launch(kernel, given, stream, self.span(node), self.site()))
        return NOTHING

    # -- functions and classes of the program --------------------------------------------------------------------------

    def arguments(
        self, node: cst.Call, function: cst.FunctionDef, method: bool, outline: Outline
    ) -> tuple[Expr, ...] | None:
        """The arguments in the order of the parameters, defaults filled in; None where they cannot be told."""
        params = [*function.params.posonly_params, *function.params.params]
        if method and params:
            params = params[1:]
        if any(a.star for a in node.args) or function.params.star_kwarg is not None:
            return None
        star = isinstance(function.params.star_arg, cst.Param)
        by_name: dict[str, Expr] = {}
        rest: list[Expr] = []
        position = 0
        for argument in node.args:
            value = self.value(argument.value)
            if argument.keyword is not None:
                by_name[argument.keyword.value] = value
            elif position < len(params):
                by_name[params[position].name.value] = value
                position += 1
            elif star:
                rest.append(value)
            else:
                return None
        known = {p.name.value for p in (*params, *function.params.kwonly_params)}
        if not by_name.keys() <= known:
            return None
        values: list[Expr] = []
        for param in (*params, *function.params.kwonly_params):
            given = by_name.get(param.name.value)
            if given is None:
                given = self._default(node, param, outline)
            values.append(given)
        if star:
            if rest:
                made = self.container(node)
                for number, value in enumerate(rest):
                    self.emit(ir.Assign(Index(made, Const(str(number))), value, self.span(node)))
                values.insert(len(params), made)
            else:
                values.insert(len(params), NOTHING)
        return tuple(values)

    def _default(self, node: cst.Call, param: cst.Param, outline: Outline) -> Expr:
        default = param.default
        if default is None:
            return NOTHING
        text = literal(default)
        if text is not None:
            return Const(text)
        if isinstance(default, cst.Name) and default.value == "None":
            return NONE
        if isinstance(default, cst.Name) and outline.assigned[default.value]:
            return Var(f"::{outline.id}::{default.value}")
        return self.outside(node) if not isinstance(default, cst.BaseString | cst.Tuple | cst.Attribute) else NOTHING

    def _own(self, node: cst.Call, function: OwnFunction) -> Expr:
        """A function of the program, or a method whose object is known by its class."""
        if self._cannot_be_called(function.node):
            return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
        receiver: Expr | None = None
        method = function.cls is not None and not is_static(function.node)
        if method and isinstance(node.func, cst.Attribute):
            if isinstance(self.resolver.meaning(node.func.value), OwnClass):
                if "classmethod" not in decorators(function.node):  # `Class.method(object, …)`
                    return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
                receiver = NOTHING
            else:
                receiver = deref(self.value(node.func.value))
        given = self.arguments(node, function.node, method, function.outline)
        if given is None:
            return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
        result = self.temporary()
        if receiver is not None and function.cls is not None and receiver != NOTHING:
            for override in self._overrides(function):
                other = self.arguments(node, override.node, True, override.outline)
                with self.block() as inner:
                    if other is None or self._cannot_be_called(override.node):
                        self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
                    else:
                        self.call_ir(node, override.name, other, receiver, result)
                with self.block() as usual:
                    self.call_ir(node, function.name, given, receiver, result)
                test = ir.Test("other", None, f"{override.name}@{self.span(node).start}")
                self.emit(ir.If(test, tuple(inner), tuple(usual), self.span(node)))
                return result
        self.call_ir(node, function.name, given, receiver, result)
        return result

    def _overrides(self, function: OwnFunction) -> list[OwnFunction]:
        """The same method in classes that derive from this one: the object may be of one of them."""
        outline, name = function.outline, function.node.name.value
        return [
            OwnFunction(outline, cls.methods[name], f"{outline.id}::{cls.name}::{name}", cls)
            for cls in outline.classes.values()
            if cls is not function.cls
            and name in cls.methods
            and any(one is function.cls for one in outline.ancestors(cls))
        ]

    def _cannot_be_called(self, function: cst.FunctionDef) -> bool:
        """Generators and coroutines run later than they are called; kernels run on the device."""
        known = self.unit.deferred
        if function not in known:
            known[function] = (
                function.asynchronous is not None
                or not decorators(function) <= TRANSPARENT
                or any(isinstance(one, cst.Yield) for one in walk_own(function.body))
            )
        return known[function]

    def _construct(self, node: cst.Call, meaning: OwnClass) -> Expr:
        """`Class(…)`: a fresh object, the class's own values, then `__init__`."""
        outline, cls = meaning
        made = self.container(node)
        init = self.unit.modules.method(outline, cls, "__init__")
        new = self.unit.modules.method(outline, cls, "__new__")
        outside = any(one.outside for one in outline.ancestors(cls))
        if outside or new is not None:
            # what another class does with the object is not seen: its fields may be anything
            span = self.span(node)
            bases = ", ".join(base for one in outline.ancestors(cls) for base in one.bases) or cls.name
            self.emit(
                ir.Call(
                    f"base.{bases}", (), span, Span(span.path, span.start, span.start), span.end, self.site(), (), None,
                    Deref(made), Look.IGNORED,
                )
            )  # fmt: skip
        for one in reversed(list(outline.ancestors(cls))):
            for name, value in one.attributes.items():
                text = literal(value)
                if is_plain(value):
                    given: Expr = Const(text) if text is not None else NONE
                    self.emit(ir.Assign(Field(Deref(made), name), given, self.span(node)))
                elif "dataclass" in decorators(one.node):
                    self.emit(ir.Assign(Field(Deref(made), name), self.container(node), self.span(node)))
        if init is None:
            given_values = self.given(node)
            if given_values and "dataclass" in decorators(cls.node):
                fields = list(_fields(cls.node))
                for argument, argument_value in zip(node.args, given_values, strict=True):
                    name = argument.keyword.value if argument.keyword is not None else fields.pop(0) if fields else ""
                    self.emit(ir.Assign(Field(Deref(made), name), argument_value, self.span(node)))
            elif given_values:
                self.unknown(f"`{cls.name}`", node, (made, *given_values))
            return made
        given_args = self.arguments(node, init.node, True, init.outline)
        if given_args is None or self._cannot_be_called(init.node):
            self.unknown(f"`{cls.name}`", node, (made, *self.given(node)))
            return made
        self.call_ir(node, init.name, given_args, Deref(made))
        return made

    def _super(self, node: cst.Call) -> Expr:
        """`super().__init__(…)` of a class whose bases are outside."""
        return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))

    def _method(self, node: cst.Call, func: cst.Attribute) -> Expr:
        """A method of an object: by its class, by where the object comes from, else by the method's name."""
        name = func.attr.value
        if self.is_super(func.value):
            return self._super_method(node, func)
        origin = self.resolver.origin(func.value)
        base = self.value(func.value)
        if origin is not None and origin.startswith("cupy.cuda."):
            done = self._cupy_method(node, f"{origin}.{name}", base)
            if done is not None:
                return done
        own = [
            OwnFunction(self.unit.outline, cls.methods[name], f"{self.unit.outline.id}::{cls.name}::{name}", cls)
            for cls in self.unit.outline.classes.values()
            if name in cls.methods and origin is None
        ]
        if name in _STORES or name in _LOADS:
            done = self._container_method(node, name, base, origin, func.value)
            if done is not None and not own:
                return done
        every, seen = self.pure(node)
        result = self.temporary()
        callee = f"object.{name}"
        if origin is not None and origin != "pointer":
            full = f"{origin}.{name}"
            count = len(every) + 1
            known = bindings.tables()
            if known.lookup(full, count) is not None or known.lookup(callee, count) is None:
                callee = full
        alternatives: list[tuple[Stmt, ...]] = []
        for function in own:
            given = self.arguments(node, function.node, True, function.outline)
            if given is not None and not self._cannot_be_called(function.node):
                with self.block() as inner:
                    self.call_ir(node, function.name, given, deref(base), result)
                alternatives.append(tuple(inner))
        with self.block() as library:
            placed = self._by_position(node, callee, every, 1)
            if self._calls_back(node, callee, every):
                self.unknown(callee, node, (base, *every))
            elif placed is None:
                self.unknown(f"{callee} (its arguments are given by name)", node, (base, *every))
            else:
                passed = seen if _only_looks(callee, len(every) + 1) else placed
                self.call_ir(node, callee, (base, *passed), result=result)
        block: tuple[Stmt, ...] = tuple(library)
        for other in alternatives:
            block = (
                ir.If(ir.Test("other", None, f"method {name}@{self.span(node).start}"), other, block, self.span(node)),
            )
        self.out += block
        return choice(result, *(opaque(v) for v in (base, *every) if not isinstance(v, Const) and v != NOTHING))

    def _super_method(self, node: cst.Call, func: cst.Attribute) -> Expr:
        cls = self.resolver.this_class()
        scope = self.scope
        if cls is not None and scope is not None and scope.this is not None:
            for one in list(self.unit.outline.ancestors(cls))[1:]:
                if func.attr.value in one.methods:
                    function = OwnFunction(
                        self.unit.outline, one.methods[func.attr.value],
                        f"{self.unit.outline.id}::{one.name}::{func.attr.value}", one,
                    )  # fmt: skip
                    given = self.arguments(node, function.node, True, function.outline)
                    if given is not None:
                        result = self.temporary()
                        self.call_ir(node, function.name, given, Deref(Var("this")), result)
                        return result
            if not any(one.outside for one in self.unit.outline.ancestors(cls)):
                self.given(node)
                return NOTHING  # `object.__init__`
        this = (Var("this"),) if scope is not None and scope.this is not None else ()
        return self.unknown(f"`super().{func.attr.value}`", node, (*this, *self.given(node)))

    def _container_method(
        self, node: cst.Call, name: str, base: Expr, origin: str | None, owner: cst.BaseExpression
    ) -> Expr | None:
        """`append` and its kind store, `get` and its kind load; None where the object is no plain container."""
        if origin is not None and not origin.startswith(("builtins.", "collections.")):
            return None
        if isinstance(base, Const | Opaque):
            return None
        if name in _STORES:
            values = self.given(node)
            for argument, value in list(zip(node.args, values, strict=True))[_STORES[name] :]:
                if not isinstance(value, Const) and value != NOTHING:
                    stored = self.element(argument.value, value, NOTHING) if name in ("extend", "update") else value
                    self.emit(ir.Assign(Index(base, NOTHING), stored, self.span(node)))
            return NOTHING
        values = self.given(node)
        key: Expr = NOTHING
        if name in ("get", "pop", "setdefault") and node.args and origin != "builtins.list()":
            text = literal(node.args[0].value)
            key = Const(text) if text is not None else NOTHING
        if name == "copy":
            made = self.container(node)
            self.emit(ir.Assign(Index(made, NOTHING), Index(base, NOTHING), self.span(node)))
            return made
        if name == "items":
            return base
        found = choice(Index(base, key), *values[1:]) if name in ("get", "pop", "setdefault") else Index(base, key)
        if origin is None:  # it may also be an object of some other kind that has such a method
            return None if name in ("copy", "get") and not is_place(base) else found
        return found

    # -- the CUDA API --------------------------------------------------------------------------------------------------

    def api_call(self, node: cst.BaseExpression) -> ApiCall | None:
        """A call of the API, with the check functions and subscripts around it; None for anything else."""
        if isinstance(node, cst.Subscript):
            inner = self.api_call(node.value)
            index = node.slice[0].slice if len(node.slice) == 1 else None
            number = literal(index.value) if isinstance(index, cst.Index) else None
            if inner is None or number is None or not isinstance(inner.symbol, Parts):
                return None
            at = int(number) if number.lstrip("-").isdigit() else len(inner.symbol.items)
            if not -len(inner.symbol.items) <= at < len(inner.symbol.items):
                return None
            return inner._replace(symbol=inner.symbol.items[at])
        if not isinstance(node, cst.Call):
            return None
        meaning = self.resolver.meaning(node.func)
        if isinstance(meaning, Dotted):
            signature = bindings.signature(meaning.name, self.count(node)) if bindings.module_of(meaning.name) else None
            if signature is None:
                return None
            results: tuple[Symbol, ...] = tuple(Result(n) for n in range(signature.results))
            symbol: Symbol = Parts((checks.STATUS, *results))
            if not signature.status:
                symbol = results[0] if len(results) == 1 else Parts(results) if results else checks.NONE
            return ApiCall(node, meaning.name, symbol, None, False, not signature.status)
        if isinstance(meaning, OwnFunction) and node.args and not any(a.star for a in node.args):
            inner = self.api_call(node.args[0].value)
            if inner is None:
                return None
            starred = isinstance(meaning.node.params.star_arg, cst.Param)
            if starred and not meaning.node.params.params:
                return None
            given = (inner.symbol, *(checks.PLAIN for a in node.args[1:] if a.keyword is None))
            left = self._returned(meaning.node, given)
            if left is None:
                return None
            alone = len(node.args) == 1
            one = self._returned(meaning.node, (Parts((checks.STATUS, Result(0))),)) == Result(0)
            others = (*inner.others, *(a.value for a in node.args[1:]))
            return ApiCall(inner.node, inner.dotted, left, node if alone else None, one, True, others)
        return None

    def _returned(self, function: cst.FunctionDef, given: tuple[Symbol, ...]) -> Symbol | None:
        """`checks.returned`, once for each shape that a function is given."""
        key = function, given
        if key not in self.unit.returned:
            self.unit.returned[key] = checks.returned(function, given)
        return self.unit.returned[key]

    def api(
        self,
        call: ApiCall,
        places: Mapping[int, Expr] | None = None,
        status: Expr | None = None,
        looked_at: bool = False,
    ) -> tuple[Expr, list[Expr]]:
        """Emit a call of the API. `places` receive its results by position. Returns the status and all results."""
        node = call.node
        places = places or {}
        count = self.count(node)
        signature = bindings.signature(call.dotted, count)
        assert signature is not None
        values, spans = self._api_arguments(node, bindings.member(call.dotted) or "")
        for other in call.others:
            self.value(other)
        look = Look.CHECKED if call.checked or looked_at else Look.IGNORED
        result = status if status is not None else self.temporary()
        site = self._api_site(call)
        plain = bindings.c_name(call.dotted) or ""
        if plain in _LAUNCHES:
            return self._launch(node, plain, values, result)
        if values is None:
            self.unknown(f"{call.dotted} (its arguments are not given by position)", node, self.given(node))
            return result, [NOTHING] * signature.results
        if signature.plain:
            self._emit_api(node, signature.callee, (), (), result, look, site)
            if signature.status:
                self.statuses.add(result)
            return result, [NOTHING] * signature.results
        results = [places.get(n) or self.temporary() for n in range(signature.results)]
        args: list[Expr] = []
        for role, (is_result, number) in zip(signature.api.roles, signature.slots, strict=False):
            if is_result:
                args.append(Addr(results[number]) if role != "device" else results[number])
            else:
                given = values[number]
                if role == "kind" and isinstance(given, Const) and given.text.isdigit() and int(given.text) < 5:
                    given = Const(f"cudaMemcpy{_DIRECTIONS[int(given.text)]}")
                args.append(given)
        self._emit_api(node, signature.callee, tuple(args), spans, result if signature.status else None, look, site)
        if signature.status:
            self.statuses.add(result)
        return result, results

    def _emit_api(
        self,
        node: cst.Call,
        callee: str,
        args: tuple[Expr, ...],
        spans: tuple[Span, ...],
        result: Expr | None,
        look: Look,
        site: Site,
    ) -> None:
        span = self.span(node)
        self.emit(ir.Call(callee, args, span, self._name_span(node), span.end - 1, site, spans, None, result, look))

    def _api_arguments(self, node: cst.Call, name: str) -> tuple[list[Expr] | None, tuple[Span, ...]]:
        values: list[Expr] = []
        spans: list[Span] = []
        if len(node.args) > 1 and any(a.keyword is not None for a in node.args):
            names = PARAMETERS.get(name, ())
            order = _in_order(node.args, (NOTHING,) * len(node.args), names)
            if order is None or len(order) != len(node.args):
                return None, ()
            placed = _in_order(node.args, tuple(self.value(a.value) for a in node.args), names)
            return list(placed or ()), ()
        for argument in node.args:
            spans.append(self.span(argument.value))
            if argument.star:
                size = self.size_of(argument.value)
                if argument.star == "**" or size is None:
                    return None, ()
                values += [NOTHING] * size
            else:
                values.append(self.value(argument.value))
        return values, tuple(spans)

    def count(self, node: cst.Call) -> int:
        """How many arguments a call gives; a starred tuple counts as many as it has, where that is in the text."""
        return sum((self.size_of(a.value) or 1) if a.star else 1 for a in node.args)

    def size_of(self, node: cst.BaseExpression) -> int | None:
        """How many arguments a starred tuple of plain numbers is."""
        if isinstance(node, cst.Name) and self.scope is not None and self.scope.bindings.assigned[node.value] == 1:
            value = self.scope.bindings.values.get(node.value)
            if isinstance(value, cst.Tuple | cst.List):
                return len(value.elements)
        return len(node.elements) if isinstance(node, cst.Tuple | cst.List) else None

    def _launch(self, node: cst.Call, name: str, values: list[Expr] | None, result: Expr) -> tuple[Expr, list[Expr]]:
        span = self.span(node)
        at, params = _LAUNCHES[name]
        if values is None or len(values) <= max(at, params):
            self.unknown(f"{name} (its arguments are not given by position)", node, self.given(node))
            return result, []
        kernel = self.source.text(node.args[0].value)
        self.unit.launches.setdefault(kernel, span)
        given = tuple(v for v in values[params:] if not isinstance(v, Const) and v not in (NOTHING, values[at]))
        self.emit(ir.Launch(kernel, given, values[at], span, self.site()))
        self.emit(ir.Assign(result, NOTHING, span))
        self.statuses.add(result)
        return result, []

    def _api_site(self, call: ApiCall) -> Site:
        """Where text goes around a call of the API, and in which words: the module's name and the check function."""
        node = call.node
        fixed = None
        if any(a.keyword is not None or a.star for a in node.args):
            fixed = "its arguments are given by name or unpacked"
        if not isinstance(node.func, cst.Attribute):
            return self.site(fixed="the function is imported without its module")
        module = self.source.text(node.func.value)
        wrapper = self.source.text(call.wrapper.func) if call.wrapper is not None else ""
        prefix = f"{wrapper}({module}." if wrapper else f"{module}."
        suffix = ")" if wrapper else ""
        api = bindings.module_of(call.dotted)
        assert api is not None
        if not self.place.blocked and "\n" not in prefix:
            self.unit.styles.setdefault(prefix, Style(api, module, wrapper, call.unwraps)).uses += 1
        return self.site(prefix, suffix, fixed)

    def symbol_value(self, call: ApiCall, done: tuple[Expr, list[Expr]], node: cst.CSTNode) -> Expr:
        """What is left of a call of the API, as a value."""
        status, results = done
        return self.symbol_expr(call.symbol, status, results, node)

    def symbol_expr(self, symbol: Symbol, status: Expr, results: list[Expr], node: cst.CSTNode) -> Expr:
        match symbol:
            case Result(position):
                return results[position] if position < len(results) else NOTHING
            case Parts(items):
                made = self.container(node)
                for number, item in enumerate(items):
                    value = self.symbol_expr(item, status, results, node)
                    self.emit(ir.Assign(Index(made, Const(str(number))), value, self.span(node)))
                    if item == checks.STATUS:
                        self.statuses.add(Index(made, Const(str(number))))
                return made
            case checks.STATUS:
                return status
            case checks.NONE:
                return NONE
            case _:
                return NOTHING


def _is_host(meaning: object) -> bool:
    """Whether this is a function or type of which the tables know that it stays on the host and calls nothing else."""
    if not isinstance(meaning, Dotted) or meaning.name in CALLERS:
        return False
    api = bindings.tables().lookup(meaning.name, 1)
    return api is not None and api.effect is Effect.HOST


def _keys(dictionary: Expr) -> Expr:
    """Any key of a dictionary: it gives them to whoever runs through it."""
    return Index(Field(deref(dictionary), "<keys>"), NOTHING)


def _in_order(
    arguments: Sequence[cst.Arg], values: tuple[Expr, ...], parameters: tuple[str, ...]
) -> tuple[Expr, ...] | None:
    """The values in the order of these parameters, up to the last one that is given; None where one has no place."""
    placed: dict[int, Expr] = {}
    for number, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        name = argument.keyword.value if argument.keyword is not None else None
        if argument.star or (name is not None and name not in parameters):
            return None
        at = number if name is None else parameters.index(name)
        if at in placed:
            return None
        placed[at] = value
    return tuple(placed.get(at, NOTHING) for at in range(max(placed, default=-1) + 1))


def _only_looks(callee: str, count: int) -> bool:
    """Whether a row says that the host looks at whatever it is given, and does no more: addresses are numbers then."""
    api = bindings.tables().lookup(callee, count)
    if api is None or not api.roles or not api.roles[-1].endswith("*"):
        return False
    return all(role.rstrip("*") in ("hr", "hrw", "hw", "-") for role in api.roles) and api.effect is not Effect.EXTERNAL


def _first(node: cst.BaseExpression) -> cst.CompFor | None:
    return node.for_in if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) else None


def _target_names(node: cst.BaseExpression) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _target_names(element.value)


def _plain_names(node: cst.BaseExpression) -> set[str] | None:
    """The names in arithmetic; None where anything else is in it (a call, a field)."""
    match node:
        case cst.Name(value=name):
            return {name}
        case cst.BaseNumber():
            return set()
        case cst.BinaryOperation(left=left, right=right):
            one, two = _plain_names(left), _plain_names(right)
            return one | two if one is not None and two is not None else None
        case _:
            return None


def _fields(node: cst.ClassDef) -> Iterator[str]:
    """The fields of a dataclass, in order."""
    for statement in node.body.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                    yield small.target.value
