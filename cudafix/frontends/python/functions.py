"""Calls of functions and classes of the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.frontends.python.cupy_objects import CupyObjects
from cudafix.frontends.python.decorators import forwarders, is_cache
from cudafix.frontends.python.decorators import is_plain as is_undecorated
from cudafix.frontends.python.finalizers import asked_at_the_end, stores_at_the_end
from cudafix.frontends.python.generators import ENTER, FAIL, LEAVE, is_context
from cudafix.frontends.python.meaning import (
    Dotted,
    OwnClass,
    OwnFunction,
    Resolver,
    is_static,
)
from cudafix.frontends.python.names import Class, Outline, chain, decorators
from cudafix.frontends.python.nodes import walk, walk_own
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_plain, literal
from cudafix.ir import Const, Deref, Expr, Field, FuncRef, Index, Look, Span, Stmt, Var

DEVICE = frozenset(("jit", "rawkernel", "kernel"))
"""Decorators of functions that run on the device."""
TRANSPARENT = frozenset(
    "staticmethod classmethod property cached_property abstractmethod wraps override overload final no_grad "
    "inference_mode getter setter deleter dataclass profile skipif parametrize gpu multi_gpu slow".split()
)
"""Decorators that leave it at one call of the function for each call."""


_EMPTY = frozenset("list dict set tuple str bytes bytearray int float bool object".split())
"""What makes the default of a field and does no more."""


class Functions(CupyObjects):
    """Lowers calls whose code is in the tree."""

    def arguments(self, node: cst.Call, function: OwnFunction, method: bool) -> tuple[Expr, ...] | None:
        """The arguments in the order of the parameters, defaults filled in; None where they cannot be told."""
        declared = function.node.params
        params = [*declared.posonly_params, *declared.params]
        if method and params:
            params = params[1:]
        if any(a.star for a in node.args) or declared.star_kwarg is not None:
            return None
        star = isinstance(declared.star_arg, cst.Param)
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
        known = {p.name.value for p in (*params, *declared.kwonly_params)}
        if not by_name.keys() <= known:
            return None
        values: list[Expr] = []
        for param in (*params, *declared.kwonly_params):
            given = by_name.get(param.name.value)
            values.append(_default(function.name, param) if given is None else given)
        if star:
            if rest:
                made = self.container(node)
                for number, value in enumerate(rest):
                    self.emit(ir.Assign(Index(made, Const(str(number))), value, self.span(node)))
                values.insert(len(params), made)
            else:
                values.insert(len(params), NOTHING)
        return tuple(values)

    @staticmethod
    def is_spread(node: cst.Call, function: cst.FunctionDef) -> bool:
        """Whether a call or a function has a star, so that which parameter gets what is not told."""
        return function.params.star_kwarg is not None or any(argument.star for argument in node.args)

    def is_transparent(self, decorator: cst.BaseExpression, known: frozenset[str], outline: Outline) -> bool:
        """Whether this is a decorator of one of the known names, and not one that the program has made itself."""
        inner = decorator.func if isinstance(decorator, cst.Call) else decorator
        words = chain(inner)
        if words is None or words[-1] not in known:
            return False
        meaning = Resolver(self.unit.modules, outline, None).meaning(inner)
        return isinstance(meaning, Dotted) or (meaning is None and words[-1] not in outline.defined)

    def is_direct(self, function: cst.FunctionDef | cst.Lambda) -> bool:
        """Whether a call of its value runs it, with the arguments as its parameters one by one."""
        params = function.params
        starred = params.star_kwarg is not None or isinstance(params.star_arg, cst.Param)
        called = isinstance(function, cst.Lambda) or not self.cannot_be_called(function, self.unit.outline)
        return called and not starred and not params.kwonly_params

    def _own(self, node: cst.Call, function: OwnFunction) -> Expr:
        """A function of the program, or a method whose object is known by its class."""
        if is_undecorated(function.name):
            return self._forward(node, function)
        if self.cannot_be_called(function.node, function.outline):
            parts = self.parts_of(function) if is_context(function, self.unit.modules) else []
            return self.unknown(f"`{self.source.text(node.func)}`", node, (*self.given(node), *parts))
        receiver: Expr | None = None
        owner: Expr = NOTHING
        on_object = False
        method = function.cls is not None and not is_static(function.node)
        if function.cls is not None and isinstance(node.func, cst.Attribute):
            on_object = not isinstance(self.resolver.meaning(node.func.value), OwnClass)
            if on_object:
                owner = self.value(node.func.value)
            elif method and "classmethod" not in decorators(function.node):  # `Class.method(object, …)`
                return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
            if method:
                receiver = deref(owner) if on_object else NOTHING
        given = self.arguments(node, function, method)
        if given is None:
            return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
        result = self.temporary()
        with self.block() as block:
            self.call_ir(node, function.name, given, receiver, result)
        for number, override in enumerate(self._overrides(function) if on_object else ()):
            static = override is not None and is_static(override.node)
            other = self.arguments(node, override, not static) if override is not None else None
            with self.block() as inner:
                if override is None or other is None or self.cannot_be_called(override.node, override.outline):
                    back = self.unknown(f"`{self.source.text(node.func)}`", node, (owner, *self.given(node)))
                    self.emit(ir.Assign(result, back, self.span(node)))
                else:
                    self.call_ir(node, override.name, other, deref(owner) if not static else None, result)
            test = ir.Test("other", None, f"override@{self.span(node).start}:{number}")
            block = [ir.If(test, tuple(inner), tuple(block), self.span(node))]
        self.out += block
        return result

    def parts_of(self, function: OwnFunction) -> list[FuncRef]:
        """What runs where a function does: a context is in parts."""
        names = [function.name]
        if is_context(function, self.unit.modules):
            names += [f"{function.name}::{part}" for part in (ENTER, LEAVE, FAIL)]
        return [FuncRef(name) for name in names]

    def _forward(self, node: cst.Call, function: OwnFunction) -> Expr:
        """A wrapper calls the function in whose place it stands, with what it was given itself."""
        result = self.temporary()
        given = self.forwarded
        if given is None:
            values = [self.value(argument.value) for argument in node.args]
            given = tuple(values[1:] if self.scope is not None and self.scope.this is not None else values)
        is_method = function.cls is not None and not is_static(function.node)
        self.call_ir(node, function.name, given, Deref(Var("this")) if is_method else None, result)
        return result

    def _overrides(self, function: OwnFunction) -> list[OwnFunction | None]:
        """What classes that derive from that of a method have in its place, be it by another of their bases: the object
        may be of one of them. None for what is no method.
        """
        outline, cls = function.outline, function.cls
        derived = [one for one in outline.classes.values() if cls is not one and cls in outline.ancestors(one)]
        found = dict.fromkeys(self.unit.modules.method(outline, one, function.node.name.value) for one in derived)
        return [one for one in found if one is None or one.node is not function.node]

    def is_itself(self, function: cst.FunctionDef, outline: Outline | None = None) -> bool:
        """Whether decorators leave it at one call of the function for each call."""
        outline = outline if outline is not None else self.unit.outline
        if forwarders(function, self.unit.modules, outline) is not None:
            return True
        modules = self.unit.modules
        return all(
            self.is_transparent(one.decorator, TRANSPARENT, outline) or is_cache(one.decorator, modules, outline)
            for one in function.decorators
        )

    def cannot_be_called(self, function: cst.FunctionDef, outline: Outline) -> bool:
        """Generators and coroutines run later than they are called; kernels run on the device; a decorator may have
        put another function in its place.
        """
        known = self.unit.deferred
        if function not in known:
            known[function] = (
                function.asynchronous is not None
                or not self.is_itself(function, outline)
                or any(isinstance(one, cst.Yield) for one in walk_own(function.body))
            )
        return known[function]

    def _construct(self, node: cst.Call, meaning: OwnClass) -> Expr:
        """`Class(…)`: a fresh object, unless the class, its metaclass or a decorator may give another one."""
        made = self._fresh(node, meaning)
        outline, cls = meaning
        others = any(one.may_be_others for one in outline.ancestors(cls))
        return choice(made, self.outside(node)) if others else made

    def _fresh(self, node: cst.Call, meaning: OwnClass) -> Expr:
        """A fresh object of a class, the class's own values, then `__init__`."""
        outline, cls = meaning
        made = self.container(node)
        classes = choice(*(Const(f"{outline.id}::{one.name}") for one in outline.ancestors(cls)))
        self.emit(ir.Assign(Field(Deref(made), ir.CLASS), classes, self.span(node)))
        if self._ends_late(outline, cls):
            ends = (f"{outline.id}::{one.name}::__del__" for one in outline.ancestors(cls) if "__del__" in one.methods)
            stores = any(stores_at_the_end({**methods, "__del__": end}) for methods, end in self._ends_of(outline, cls))
            why = f"`{cls.name}.__del__` {ir.STORES_AT_ANY_TIME if stores else ir.AT_ANY_TIME}"
            self.emit(ir.Unknown(why, self.span(node), names=tuple(ends)))
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
                    if _may_do_more(value):
                        self.unknown(f"`default_factory` of `{name}`", node, (made,))
        if init is None:
            self._dataclass(node, meaning, made)
            return made
        given_args = self.arguments(node, init, True)
        if given_args is None or self.cannot_be_called(init.node, init.outline):
            self.unknown(f"`{cls.name}`", node, (made, *self.given(node)))
            return made
        self.call_ir(node, init.name, given_args, Deref(made))
        return made

    def _ends_of(self, outline: Outline, cls: Class) -> Iterator[tuple[dict[str, cst.FunctionDef], cst.FunctionDef]]:
        """The methods of a class, and each `__del__` of it and its bases."""
        bases = outline.ancestors(cls)
        methods = {name: method for one in reversed(bases) for name, method in one.methods.items()}
        yield from ((methods, one.methods["__del__"]) for one in bases if "__del__" in one.methods)

    def _ends_late(self, outline: Outline, cls: Class) -> bool:
        """Whether `__del__` of a class or of a base does something else than to give back what the object holds."""

        def answer() -> list[frozenset[str] | None]:
            listed = [{**methods, "__del__": end} for methods, end in self._ends_of(outline, cls)]
            return [None if stores_at_the_end(one) else asked_at_the_end(one, outline.imports) for one in listed]

        nothing: list[frozenset[str] | None] = []
        asked = self.unit.modules.questions.ask(("asked at the end", outline.path, cls.name), nothing, answer)
        every = self.unit.methods.every
        return any(names is None or not names.isdisjoint(every) for names in asked)

    def _dataclass(self, node: cst.Call, meaning: OwnClass, made: Expr) -> None:
        """The `__init__` that `dataclass` writes: it takes the fields by their order, those of bases first."""
        outline, cls = meaning
        values = self.given(node)
        after = self.unit.modules.method(outline, cls, "__post_init__")
        if not values and after is None:
            return
        written = "dataclass" in decorators(cls.node) and not any(
            _says(one.decorator, "init") for one in cls.node.decorators
        )
        fields = _fields(outline, cls) if written else None
        positions = [one.name for one in fields or () if not one.by_name_only]
        positional = [argument for argument in node.args if argument.keyword is None]
        if fields is None or len(positional) > len(positions) or any(argument.star for argument in node.args):
            ends = (FuncRef(after.name),) if after is not None else ()
            self.unknown(f"`{cls.name}`", node, (made, *values, *ends))
            return
        given: dict[str, Expr] = {}
        for argument, value in zip(node.args, values, strict=True):
            name = argument.keyword.value if argument.keyword is not None else positions[len(given)]
            given[name] = value
            self.emit(ir.Assign(Field(Deref(made), name), value, self.span(node)))
        if after is not None:
            passed = [given.get(one.name, NOTHING) for one in fields if one.is_passed_on]
            self.call_ir(node, after.name, tuple(passed), Deref(made))

    # -- bases ---------------------------------------------------------------------------------------------------------

    def is_super(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"

    def _super(self, node: cst.Call) -> Expr:
        """`super().__init__(…)` of a class whose bases are outside."""
        return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))

    def _super_method(self, node: cst.Call, func: cst.Attribute) -> Expr:
        scope = self.scope
        cls = self._seen_from(func.value)
        if cls is not None and scope is not None and scope.this is not None:
            nexts = self._next_methods(cls, func.attr.value)
            if nexts is not None:
                return self._one_of(node, nexts)
        this = (Var("this"),) if scope is not None and scope.this is not None else ()
        return self.unknown(f"`super().{func.attr.value}`", node, (*this, *self.given(node)))

    def _seen_from(self, node: cst.BaseExpression) -> Class | None:
        """The class behind which `super()` or `super(C, self)` begins to look; None where that is not known."""
        if not isinstance(node, cst.Call) or not node.args:
            return self.resolver.this_class()
        first, *others = (argument.value for argument in node.args)
        named = self.resolver.meaning(first)
        is_of_this = len(others) == 1 and isinstance(others[0], cst.Name) and self.resolver.is_this(others[0].value)
        if not is_of_this or not isinstance(named, OwnClass) or named.outline is not self.unit.outline:
            return None
        return named.cls

    def _next_methods(self, cls: Class, name: str) -> list[OwnFunction | None] | None:
        """What `super()` in a method of a class may lead to: the next one in the order of the class that the object is
        of. None among them: there is none but that of `object`; None instead: a class that is not seen may be next.
        """
        outline = self.unit.outline
        if any(one.outside for one in outline.ancestors(cls)) or name in self.unit.methods.elsewhere:
            return None
        found: list[OwnFunction | None] = []
        for one in outline.classes.values():
            order = list(outline.ancestors(one))
            if cls in order:
                behind = order[order.index(cls) + 1 :]
                last = next((base for base in behind if name in base.methods), None)
                if last is None and any(base.outside for base in order):
                    return None
                named = f"{outline.id}::{last.name}::{name}" if last is not None else ""
                found.append(OwnFunction(outline, last.methods[name], named, last) if last is not None else None)
        return list(dict.fromkeys(found))

    def _one_of(self, node: cst.Call, functions: list[OwnFunction | None]) -> Expr:
        """One of these methods is called on this object."""
        result: Expr = NOTHING
        block: list[Stmt] = []
        with self.once([argument.value for argument in node.args]):
            for number, function in enumerate(functions):
                with self.block() as inner:
                    given = self.arguments(node, function, True) if function is not None else ()
                    if given is None or function is not None and self.cannot_be_called(function.node, function.outline):
                        back = self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
                        result = self.temporary() if result == NOTHING else result
                        self.emit(ir.Assign(result, back, self.span(node)))
                    elif function is not None:
                        result = self.temporary() if result == NOTHING else result
                        self.call_ir(node, function.name, given, Deref(Var("this")), result)
                if number:
                    test = ir.Test("other", None, f"super@{self.span(node).start}:{number}")
                    inner = [ir.If(test, tuple(inner), tuple(block), self.span(node))]
                block = inner
        self.out += block
        return result


def default_of(function: str, param: cst.Param) -> Var:
    """What holds the default value of a parameter, from where the function is defined."""
    return Var(f"::{function}::<default of {param.name.value}>")


def _default(function: str, param: cst.Param) -> Expr:
    if param.default is None:
        return NOTHING
    if not is_plain(param.default):
        return default_of(function, param)
    text = literal(param.default)
    return Const(text) if text is not None else NONE


def _may_do_more(value: cst.BaseExpression) -> bool:
    """Whether the default of a field is made by a function that is not one of the containers."""
    given = value.args if isinstance(value, cst.Call) else ()
    factories = [one.value for one in given if one.keyword is not None and one.keyword.value == "default_factory"]
    return any(not isinstance(one, cst.Name) or one.value not in _EMPTY for one in factories)


class _Field(NamedTuple):
    """A field of a dataclass that its `__init__` takes. `is_passed_on`: `__post_init__` gets it (`InitVar`)."""

    name: str
    by_name_only: bool
    is_passed_on: bool


def _fields(outline: Outline, cls: Class) -> list[_Field] | None:
    """The fields of a dataclass in the order in which its `__init__` takes them; None where that cannot be told."""
    found: dict[str, _Field | None] = {}
    for one in reversed(outline.ancestors(cls)):
        if one.outside or any(isinstance(line, cst.BaseCompoundStatement) for line in _statements_of(one.node)):
            return None
        if "dataclass" not in decorators(one.node):
            continue
        by_name = any(_says(line.decorator, "kw_only") for line in one.node.decorators)
        for small in _small_statements_of(one.node):
            if not isinstance(small, cst.AnnAssign) or not isinstance(small.target, cst.Name):
                continue
            words = {name.value for name in walk(small.annotation) if isinstance(name, cst.Name)}
            texts = [part.raw_value for part in walk(small.annotation) if isinstance(part, cst.SimpleString)]
            if any(word in text for text in texts for word in ("ClassVar", "InitVar", "KW_ONLY")):
                return None
            if "KW_ONLY" in words:
                by_name = True
            elif "ClassVar" not in words:
                name, value = small.target.value, small.value
                alone = by_name or (value is not None and _says(value, "kw_only"))
                kept = value is not None and _says(value, "init")
                found[name] = None if kept else _Field(name, alone, "InitVar" in words)
    return [one for one in found.values() if one is not None]


def _says(node: cst.BaseExpression, word: str) -> bool:
    """Whether a call has a keyword argument of this name."""
    return isinstance(node, cst.Call) and any(a.keyword is not None and a.keyword.value == word for a in node.args)


def _statements_of(node: cst.ClassDef) -> Iterator[cst.BaseStatement | cst.BaseSmallStatement]:
    """What stands in the body of a class besides functions and classes."""
    for line in node.body.body:
        if not isinstance(line, cst.FunctionDef | cst.ClassDef):
            yield line


def _small_statements_of(node: cst.ClassDef) -> Iterator[cst.BaseSmallStatement]:
    for line in _statements_of(node):
        if isinstance(line, cst.SimpleStatementLine):
            yield from line.body
        elif isinstance(line, cst.BaseSmallStatement):
            yield line
