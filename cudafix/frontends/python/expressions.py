"""Expressions of Python, lowered: calls become statements, what is left is a place or a value."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings
from cudafix.frontends.python.calls import Calls
from cudafix.frontends.python.containers import DICTIONARIES, LISTS, keys_of
from cudafix.frontends.python.lowering import OUTPUT
from cudafix.frontends.python.meaning import (
    Dotted,
    OwnClass,
    OwnFunction,
    OwnGlobal,
    OwnModule,
    is_property,
)
from cudafix.frontends.python.names import SPECIAL, is_of_class, setter
from cudafix.frontends.python.nodes import only_part, walk
from cudafix.frontends.python.special import COMPARED, KEY, TEXT, TRUTH, Operand
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_place, is_plain, literal, opaque
from cudafix.ir import Const, Expr, Field, FuncRef, Index, Look, Var
from cudafix.models.python import MODULES, OUTPUTS, STREAM, VARIABLES_OF_OTHERS

_PLAIN_FIELDS = frozenset(
    "nbytes shape size dtype itemsize ndim strides name value flags __name__ __class__ __doc__ handle".split()
)
_SAME_FIELDS = frozenset("ctypes data T flat real imag base".split())


class Expressions(Calls):
    """Lowers the expressions of one function."""

    def value(self, node: cst.BaseExpression) -> Expr:
        """Lower an expression: its calls are emitted, its value is returned."""
        if node in self.done:
            return self.done[node]
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
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                values = [self.value(left), self.value(right)]
                asked = self.operator(node, operator, [(left, values[0]), (right, values[1])])
                if isinstance(operator, cst.Modulo) and not isinstance(left, cst.Integer | cst.Float | cst.Name):
                    self.shown(right, values[1])
                joined = [self._joined(node, values)] if isinstance(operator, cst.Add) else []
                return choice(self._arithmetic(node, values), *joined, *asked)
            case cst.UnaryOperation(operator=operator, expression=inner):
                value = self.value(inner)
                asked = self.operator(node, operator, [(inner, value)])
                if isinstance(operator, cst.Not):
                    return opaque(value)
                return choice(self._arithmetic(node, [value]), *asked)
            case cst.Comparison():
                values = self._operands(node)
                asked = self._compared(node, values)
                self._arithmetic(node, values)
                return choice(opaque(*(value for value in values if value in self.statuses)), *asked)
            case cst.BooleanOperation(left=left, operator=operator, right=right):
                return self._boolean(node, left, right, isinstance(operator, cst.Or))
            case cst.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(node, test, body, orelse)
            case cst.Lambda():
                return self.lambda_(node)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                if isinstance(node, cst.GeneratorExp) and node not in self.run_through:
                    self.problem("generator_expression", node)  # it runs later, bit by bit
                    return choice(self.comprehension(node), *self._read_later(node))
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
            case cst.TemplatedString(parts=parts):  # it holds what stands in it
                inside = [part.expression for part in parts if isinstance(part, cst.TemplatedStringExpression)]
                return choice(NOTHING, *(self.value(one) for one in inside))
            case cst.ConcatenatedString(left=left, right=right):
                return opaque(self.value(left), self.value(right))
            case cst.BaseString() | cst.BaseNumber() | cst.Ellipsis():
                return NOTHING
            case cst.Await(expression=inner):
                self.problem("coroutine", node)
                return self.unknown("`await`", node, (self.value(inner),))
            case cst.Yield() if self.marks is not None and not isinstance(node.value, cst.From):
                yielded = self.value(node.value) if node.value is not None else NONE
                mark = ir.Unknown("`yield`", self.span(node))
                self.emit(mark)
                self.marks.append((mark, yielded))
                return NOTHING
            case cst.Yield():
                self.problem("generator", node)
                given = node.value.item if isinstance(node.value, cst.From) else node.value
                return self.unknown("`yield`", node, (self.value(given),) if given is not None else ())
            case _:
                return self.unknown(f"`{type(node).__name__}`", node, ())

    def _read_later(self, node: cst.GeneratorExp) -> list[Expr]:
        """What a generator expression may read once somebody runs through it."""
        calls = [one.func for one in walk(node) if isinstance(one, cst.Call)]
        if not all(self.only_reads(func) for func in calls):
            self.emit(ir.Unknown("a generator runs later", self.span(node)))
        with self.block():
            values = [self.value(one) for one in walk(node) if isinstance(one, cst.Name | cst.Attribute)]
        return [value for value in values if is_place(value)]

    # -- names and fields ----------------------------------------------------------------------------------------------

    def _name(self, node: cst.Name, name: str) -> Expr:
        if name in self.renamed:
            return Var(self.renamed[name])
        match self.resolver.meaning(node):
            case OwnFunction() as function:
                return choice(*self.parts_of(function))
            case OwnClass(outline, cls):
                if any(one.runs_code for one in outline.ancestors(cls)):
                    self.emit(ir.Unknown(f"`{name}` runs code of its own", self.span(node)))
                return NOTHING
            case OwnModule():
                return NOTHING
            case OwnGlobal(outline, other):
                return Var(f"::{outline.id}::{other}")
            case Dotted(dotted):
                return self._dotted(dotted, node)
            case _:
                owner = self.scope.owner(name) if self.scope is not None else None
                found = owner.bindings if owner is not None else self.unit.outline.top
                if name in found.imports or (owner is None and not self.unit.outline.binds(name)):
                    return self.outside(node)  # a star import, a name that another module puts here, or a copy of one
                return self.variable(name)

    def _dotted(self, dotted: str, node: cst.CSTNode) -> Expr:
        """A constant of a binding module by its C name; whatever other packages hold is a plain value."""
        if dotted.startswith(("sys.modules", "__main__")):  # the variables of a module by their names
            self.emit(ir.Unknown(f"`{dotted}`", self.span(node)))
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
                on_class = isinstance(self.resolver.meaning(node.value), OwnClass) or self._is_class(node.value)
                every = self._overrides(function) if function.cls is not None else []
                others = [one for one in every if one is not None]
                if is_property(function.node):
                    known = len(others) == len(every) and all(is_property(one.node) for one in others)
                    if on_class or not known:  # of the class, it is an object that has the function
                        refs = (FuncRef(one.name) for one in (function, *others))
                        return self.unknown(f"`{self.source.text(node)}`", node, (self.value(node.value), *refs))
                    derived = [self.called(one.name, node, self.value(node.value)) for one in others]
                    return choice(self._property(node, function), *derived)
                if len(others) < len(every) and not on_class:
                    return self.unknown(f"`{self.source.text(node)}`", node, (self.value(node.value),))
                if function.cls is not None:
                    owner = self.value(node.value)
                    if is_place(owner):  # whoever calls it works on this object
                        methods = (function.name, *(one.name for one in others))
                        why = f"`{self.source.text(node)}` {ir.IS_KEPT}"
                        self.emit(ir.Unknown(why, self.span(node), (owner,), None, methods))
                return choice(FuncRef(function.name), *(FuncRef(one.name) for one in others))
            case OwnClass() | OwnModule():
                return NOTHING
        if name in VARIABLES_OF_OTHERS or name == "cache_clear":
            self.emit(ir.Unknown(f"`{name}`", self.span(node)))
        attribute = self._of_function(node)
        if attribute is not None:
            return attribute
        base = self.flat(self.value(node.value), node)
        if isinstance(base, Const):
            return base
        if name == "__dict__":
            self.emit(ir.Unknown("`__dict__`", self.span(node), (base,)))
            return self.unknown("__dict__", node, (base,))
        is_class = isinstance(self.resolver.meaning(node.value), OwnClass)
        if is_class or self.resolver.cls_of(node.value) is not None or self._is_own_field(name):
            values = self.class_values(node.value, name)
            more = self.described("__get__", node, values, base)
            if self._has_descriptor(name):
                more.append(self.unknown(f"`{name}`", node, (base, *values)))
            more += self._properties(node, name, base) if self.resolver.cls_of(node.value) is None else []
            return choice(Field(deref(base), name), *values, *more)
        held = self._properties(node, name, base)
        if self._has_descriptor(name):
            held.append(self.unknown(f"`{name}`", node, (base,)))
        if held:
            return choice(Field(deref(base), name), ir.Offset(base), *held)
        if name == "ptr" and (self.resolver.origin(node.value) or "").startswith("cupy.cuda."):
            return Field(deref(base), name)
        if name in _PLAIN_FIELDS and (self.resolver.origin(node.value) or "").partition(".")[0] != "ctypes":
            if name == "value" and self.resolver.origin(node.value) is None:
                self.elements_read(base, node)  # the characters of an array of `ctypes`
            return NOTHING
        if name in _SAME_FIELDS:
            return base
        found = choice(Field(deref(base), name), ir.Offset(base))
        self.emit(ir.HostAccess((Field(deref(base), name),), (), self.span(node)))  # a struct that stands in an array
        return found

    def _of_function(self, node: cst.Attribute) -> Var | None:
        """An attribute of a function of the program, which keeps it like a global variable."""
        function = self.resolver.meaning(node.value)
        if not isinstance(function, OwnFunction) or (function.cls is not None and is_property(function.node)):
            return None
        return Var(f"::{function.name}.{node.attr.value}")

    def _is_own_field(self, name: str) -> bool:
        """Whether some class of the file gives its objects a field of this name."""
        return any(cls.assigned[name] or name in cls.attributes for cls in self.unit.outline.classes.values())

    def _setters(self, node: cst.BaseExpression) -> frozenset[str]:
        """The attributes of an object that methods may set: those of its class; where that is not known, of any."""
        cls = self.resolver.cls_of(node)
        if cls is None or any(one.outside for one in cls.outline.ancestors(cls.cls)):
            return self.unit.outline.setters | self.unit.methods.elsewhere
        every = [one for one in cls.outline.classes.values() if one is cls.cls or cls.cls in cls.outline.ancestors(one)]
        related = [above for one in every for above in cls.outline.ancestors(one)]
        return frozenset[str]().union(*(one.setters for one in related), *(one.deleters for one in related))

    def set_by_method(self, target: cst.Attribute, value: Expr) -> None:
        """Run the setter of an attribute that is assigned, whichever class has one."""
        name, cls = setter(target.attr.value), self.resolver.cls_of(target.value)
        names = [name]
        if cls is not None:
            found = (one for one in cls.outline.related(cls.cls) if target.attr.value in one.setters)
            names = [f"{cls.outline.id}::{one.name}::{name}" for one in found]
        self._asked(names, target, self.value(target.value), (value,))

    def is_set_by_method(self, target: cst.BaseExpression) -> bool:
        """Whether assigning to a target may run a setter of a class that is seen."""
        if not isinstance(target, cst.Attribute) or target.attr.value not in self._setters(target.value):
            return False
        cls = self.resolver.cls_of(target.value)
        return cls is None or not any(one.outside for one in cls.outline.ancestors(cls.cls))

    def _has_descriptor(self, name: str) -> bool:
        """Whether a class of the program holds `property(…)` or its like under this name."""
        return name in self.unit.methods.described

    def _may_be_class(self, node: cst.BaseExpression) -> bool:
        """Whether this may be a class that no name says: `type(x)`, `x.__class__`, `Class.Inner`."""
        if isinstance(node, cst.Attribute) and isinstance(owner := self.resolver.meaning(node.value), OwnClass):
            value = owner.cls.attributes.get(node.attr.value)
            return value is None or is_plain(value)
        if isinstance(node, cst.Call):  # what a library makes is no class of the program
            return self.resolver.origin(node) is None
        return isinstance(node, cst.Attribute) and node.attr.value == "__class__"

    def _is_class(self, node: cst.BaseExpression) -> bool:
        """Whether this is the class that a class method is given."""
        method = self.scope.node if self.scope is not None else None
        is_this = isinstance(node, cst.Name) and self.resolver.is_this(node.value)
        return is_this and isinstance(method, cst.FunctionDef) and is_of_class(method)

    def _properties(self, node: cst.Attribute, name: str, base: Expr) -> list[Expr]:
        """What a property of some class of the program gives, of an object whose class is not known."""
        methods = [cls.methods[name] for cls in self.unit.outline.classes.values() if name in cls.methods]
        if name in self.unit.methods.elsewhere or any(map(is_property, methods)):
            return self.asks((name,), node, [(node.value, base)])
        return []

    def _property(self, node: cst.Attribute, function: OwnFunction, base: Expr | None = None) -> Expr:
        owner = self.value(node.value) if base is None else base
        if self.cannot_be_called(function.node, function.outline):
            return self.unknown(f"`{self.source.text(node)}`", node, (owner,))
        receiver = deref(owner)
        result = self.temporary()
        span = self.span(node)
        self.emit(
            ir.Call(
                function.name, (), span, self.span(node.attr), span.end, self.site(), (), receiver, result, Look.CHECKED
            )
        )
        return result

    # -- targets and elements ------------------------------------------------------------------------------------------

    def target(self, node: cst.BaseExpression, is_set: bool = False) -> Expr | None:
        """The place that a target names; None for a tuple of targets. `is_set`: who asks runs the setter, if any."""
        match node:
            case cst.Name(value=name):
                return self.variable(name)
            case cst.Attribute(value=inner, attr=attr):
                meaning = self.resolver.meaning(inner)
                if SPECIAL.fullmatch(attr.value):  # what a class or a function does is another thing from here on
                    self.emit(ir.Unknown(f"`{self.source.text(node)}` is set", self.span(node)))
                attribute = self._of_function(node)
                if attribute is not None:
                    return attribute
                if isinstance(meaning, OwnModule):
                    return Var(f"::{meaning.outline.id}::{attr.value}")
                if isinstance(meaning, Dotted) and f"{meaning.name}.{attr.value}" in OUTPUTS:
                    return OUTPUT
                if attr.value in self._setters(inner) and not is_set:
                    self.emit(ir.Unknown(f"the setter of `{attr.value}`", self.span(node)))
                if isinstance(meaning, OwnClass):
                    replaced = self.unit.modules.method(meaning.outline, meaning.cls, attr.value)
                    if replaced is not None and is_property(replaced.node):
                        self.emit(ir.Unknown(f"`{self.source.text(node)}` is set", self.span(node)))
                    return Var(f"::{meaning.outline.id}::{meaning.cls.name}::{attr.value}")
                if self._may_be_class(inner):
                    self.emit(ir.Unknown(f"`{self.source.text(node)}` is set", self.span(node)))
                base = self.value(inner)
                place = Field(deref(base), attr.value)
                values = self.class_values(inner, attr.value)
                if self._is_class(inner):
                    return choice(place, *values)
                self.described("__set__", node, values, base)
                if self._has_descriptor(attr.value):
                    self.unknown(f"the setter of `{attr.value}`", node, (base, *values))
                if self.resolver.cls_of(inner) is None and not self._is_own_field(attr.value):
                    self.emit(ir.HostAccess((), (place,), self.span(node)))  # as in `_attribute`
                return place
            case cst.Subscript(value=inner, slice=index):
                base, key = self.value(inner), self.key(index)
                self.emit(ir.HostAccess((), (Index(base, key),), self.span(node)))
                if self.resolver.origin(inner) in DICTIONARIES and is_place(key):
                    self.emit(ir.Assign(keys_of(base), key, self.span(node)))
                if self.resolver.origin(inner) in (None, *DICTIONARIES) and is_place(base):
                    self.other_keys(base, node)
                return Index(base, key)
            case _:
                return None

    def key(self, index: object) -> Expr:
        """The index of a subscript; `Opaque` for a slice and for several."""
        assert isinstance(index, list | tuple)
        inner = only_part(index)
        if isinstance(inner, cst.Index):
            value = self.value(inner.value)
            self._picked_by(inner.value, value)
            text = literal(inner.value)
            if text is not None:  # `x[True]` is `x[1]`, and so is `x[1.0]` of a dictionary
                return Const(text) if text.isdigit() or text.startswith('"') else NOTHING
            return value if isinstance(value, Var) else NOTHING
        for element in index:
            part = element.slice
            for node in (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else (part.value,):
                if node is not None:
                    self._picked_by(node, self.value(node))
        return NOTHING

    def _picked_by(self, node: cst.BaseExpression, value: Expr) -> None:
        """An index may be an array of them, and a key an object."""
        self.asks(KEY, node, [(node, value)])
        if is_place(value) and self.resolver.origin(node) not in ("builtins.int()", "builtins.str()"):
            self.emit(ir.HostAccess((Index(value, NOTHING),), (), self.span(node)))

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
        if isinstance(only_part(node.slice), cst.Slice) and self.resolver.origin(node.value) in (None, *LISTS):
            part = self.container(node)  # a new list of what the old one holds
            self.emit(ir.Assign(Index(part, NOTHING), Index(base, NOTHING), self.span(node)))
            place = choice(place, part) if self.resolver.origin(node.value) is None else part
        return choice(place, *self.asks(("__getitem__", "__array_finalize__"), node, [(node.value, base)], (key,)))

    # -- operators -----------------------------------------------------------------------------------------------------

    def _arithmetic(self, node: cst.CSTNode, values: list[Expr]) -> Expr:
        read = tuple(Index(v, NOTHING) for v in values if is_place(v) and v not in self.statuses)
        if read and any(not isinstance(v, Var) or not v.name.startswith("%") for v in values):
            self.emit(ir.HostAccess(read, (), self.span(node)))
        return opaque(*values)

    def _joined(self, node: cst.BinaryOperation, values: Sequence[Expr]) -> Expr:
        """A list of what two lists hold; which of them stands where is not known any more."""
        if self.resolver.origin(node) not in LISTS:
            return NOTHING
        made = self.container(node)
        for value in values:
            held = Index(value, NOTHING) if is_place(value) else NOTHING
            self.emit(ir.Assign(Index(made, NOTHING), held, self.span(node)))
        return made

    def _formatted(self, parts: object) -> Expr:
        """A text may tell an address to whoever reads it."""
        assert isinstance(parts, list | tuple)
        values: list[Expr] = []
        for part in parts:
            if isinstance(part, cst.FormattedStringExpression):
                value = self.value(part.expression)
                values.append(value)
                self.shown(part.expression, value)
                self.asks(TEXT, part, [(part.expression, value)], held=True)
                if part.format_spec is not None:
                    values.append(self._formatted(part.format_spec))
        return opaque(*values)

    def _operands(self, node: cst.Comparison) -> list[Expr]:
        """The values that are compared. Behind the second one, the next is asked for if all before it held."""
        first, *more = node.comparisons
        values = [self.value(node.left), self.value(first.comparator)]
        for one in more:
            with self.perhaps(one):
                values.append(self.value(one.comparator))
        return values

    def _compared(self, node: cst.Comparison, values: list[Expr]) -> list[Expr]:
        """What a comparison asks its operands for, those that a list holds too."""
        nodes = [node.left, *(one.comparator for one in node.comparisons)]
        found: list[Expr] = []
        for number, one in enumerate(node.comparisons):
            operands = list(zip(nodes, values, strict=True))[number : number + 2]
            self._compared_inside(one.operator, operands)
            found += self.operator(node, one.operator, operands, held=True)
        return found

    def _compared_inside(self, operator: cst.BaseCompOp, operands: Sequence[Operand]) -> None:
        """Containers are compared with all that they hold, but not with a literal; of a dictionary a text is a key."""
        if isinstance(operator, cst.Is | cst.IsNot):
            return
        if isinstance(operator, cst.In | cst.NotIn):
            (left, _), *operands = operands
            if left is not None and self.resolver.origin(left) == "builtins.str()":
                return
        elif any(isinstance(value, Const) for _, value in operands):
            return
        for node, value in operands:
            if node is not None and (self.resolver.origin(node) or "builtins.list()") in COMPARED:
                self.shown(node, value)

    def _boolean(self, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression, either: bool) -> Expr:
        """`left or right`, if `either`, else `left and right`; the second one runs where the first settles nothing."""
        first = self.value(left)
        self.asks(TRUTH, node, [(left, first)])
        with self.block() as inner:
            self.conditional += 1
            second = self.value(right)
            self.conditional -= 1
        if inner:
            then, other = ((), tuple(inner)) if either else (tuple(inner), ())
            self.emit(ir.If(ir.Test("other", None, self.source.text(left)), then, other, self.span(node)))
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
        if then or other or tested.kind in ("ok", "failed"):
            self.emit(ir.If(tested, tuple(then), tuple(other), self.span(node)))
        return choice(one, two)

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
                    self._compared(node, [one, two])
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
                with self.once([inner]):
                    value = self.done[inner]
                    if value in self.statuses:
                        return ir.Test("failed", value, text)
                    self.looked_through(value, inner)  # a number of `ctypes` that stands in an array
                    self.asks(TRUTH, node, [(node, self.value(node))])  # a property perhaps
                return ir.Test("other", None, text)
        value = self.value(node)
        self.asks(TRUTH, node, [(node, value)])
        if value in self.statuses:
            return ir.Test("failed", value, text)
        if is_place(value):
            return ir.Test("nonnull", value, text)
        return ir.Test("other", None, text)
