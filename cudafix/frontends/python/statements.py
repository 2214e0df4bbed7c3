"""Statements of Python: branches, loops, `with`, `try` and `finally`, and the functions inside functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings, checks
from cudafix.frontends.python.checks import Parts, Result, Symbol
from cudafix.frontends.python.containers import LISTS
from cudafix.frontends.python.decorators import PLAIN, Forwarder, forwarders, is_cache, runs_once
from cudafix.frontends.python.expressions import Expressions
from cudafix.frontends.python.filling import filled
from cudafix.frontends.python.functions import DEVICE, TRANSPARENT, default_of
from cudafix.frontends.python.generators import (
    ENTER,
    FAIL,
    FRAME,
    GIVEN,
    LEAVE,
    InParts,
    is_context,
    parts_of,
    restored,
    saved,
)
from cudafix.frontends.python.lowering import CURRENT, RAISED, ApiCall, Place, Unit
from cudafix.frontends.python.meaning import Dotted, OwnClass, OwnFunction, OwnGlobal, Scope, is_static, scope_of
from cudafix.frontends.python.names import (
    Class,
    bindings_of,
    bound_otherwise,
    chain,
    decorators,
    imported_by,
    inner_reads,
    methods_of,
)
from cudafix.frontends.python.nodes import walk, walk_own
from cudafix.frontends.python.special import ITERATION
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_place, is_plain, literal, opaque
from cudafix.ir import Assign, Const, Expr, FuncRef, Span, Stmt, Var
from cudafix.models.python import CLOSES, DEFAULTS, EXTERNAL, OUTPUTS, STREAM
from cudafix.project.including import PACKAGES

HEADER = "it is in the header of a compound statement"
_IN_CLASS = "it is in the body of a class"
_TEXTS = ("builtins.str()", "builtins.int()")
# Contexts of the standard library that only change how exceptions or output go.
_PLAIN_CONTEXTS = ("builtins.open", "contextlib.", "tempfile.", "warnings.", "zipfile.", "tarfile.", "gzip.", "io.")


class Statements(Expressions):
    """Lowers the body of one function."""

    def __init__(self, unit: Unit, scope: Scope | None, qual: str) -> None:
        super().__init__(unit, scope, qual)
        self.finals: list[tuple[Callable[[], None], int]] = []  # what runs at the end, and the number of loops around
        self.loops = 0
        self.kept_in: Expr | None = None  # where the object keeps what the function returns, a `cached_property`
        self.began = False  # the script has done something; what it imports from here on does not run before that

    # -- bodies --------------------------------------------------------------------------------------------------------

    def suite(self, body: cst.BaseSuite | cst.Module) -> tuple[Stmt, ...]:
        """A body as a block of its own."""
        with self.block() as inner:
            self.statements(body)
        return tuple(inner)

    def statements(self, body: cst.BaseSuite | cst.Module) -> None:
        if isinstance(body, cst.SimpleStatementSuite):
            for small in body.body:
                self.small(small, "its body is on the line of its header")
            return
        for number, statement in enumerate(body.body):
            if isinstance(statement, cst.For):
                before = [one for one in body.body[:number] if isinstance(one, cst.BaseStatement)]
                self.fills[statement] = filled(before, statement, self.scope)
            self.statement(statement)

    def at(self, node: cst.CSTNode, blocked: str | None = None) -> None:
        """The statement that is lowered from here on."""
        span = self.span(node)
        data = self.source.data
        line = data.rfind(b"\n", 0, span.start) + 1
        head = data[line : span.start]
        indent = head[: len(head) - len(head.lstrip(b" \t"))]
        self.place = Place(span, indent.decode("ascii"), blocked)

    def statement(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            blocked = "several statements are on one line" if len(node.body) > 1 else None
            for small in node.body:
                self.small(small, blocked)
            return
        match node:
            case cst.If():
                self.if_(node)
            case cst.For():
                self.for_(node)
            case cst.While():
                self.while_(node)
            case cst.With():
                self.with_(node)
            case cst.Try():
                self.try_(node)
            case cst.FunctionDef():
                self.nested(node)
            case cst.ClassDef():
                self.nested_class(node)
            case cst.Match():
                self.match_(node)
            case _:
                self.at(node, HEADER)
                self.emit(ir.Unknown(f"`{type(node).__name__}`", self.span(node)))

    # -- simple statements ---------------------------------------------------------------------------------------------

    def small(self, node: cst.BaseSmallStatement, blocked: str | None) -> None:
        self.at(node, blocked)
        match node:
            case cst.Expr(value):
                self.expression(value)
            case cst.Assign():
                self.assign([t.target for t in node.targets], node.value)
            case cst.AnnAssign():
                if self.scope is None:
                    self._annotation(node.annotation.annotation)
                if node.value is not None:
                    self.assign([node.target], node.value)
            case cst.AugAssign(target=target, value=value):
                self.augmented(node, target, value)
            case cst.Return():
                self.return_(node)
            case cst.Raise():
                self.raise_(node)
            case cst.Break():
                self.leave(node, ir.Break(self.span(node)))
            case cst.Continue():
                self.leave(node, ir.Continue(self.span(node)))
            case cst.Del(target=target):
                self.delete(node, target)
            case cst.Assert(test=test, msg=message):
                with self.perhaps(node):  # not with `python -O`
                    self.test(test)
                    if message is not None:
                        self.shown(message, self.value(message))
            case cst.Import() | cst.ImportFrom():
                if self.scope is not None or self.began:
                    self._import(node)
            case cst.Pass() | cst.Global() | cst.Nonlocal():
                pass
            case _:
                self.emit(ir.Unknown(f"`{type(node).__name__}`", self.span(node)))

    def expression(self, node: cst.BaseExpression) -> None:
        call = self.api_call(node)
        if call is not None:
            self.api(call)
            return
        self.value(node)

    def augmented(self, node: cst.AugAssign, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        old, given = self.value(target), self.value(value)
        self._hooked_in(target, value)
        self.stored_by_device(node, target, old)
        place = self.target(target)
        reads = tuple(ir.Index(v, NOTHING) for v in (old, given) if is_place(v))
        asked = self.operator(node, node.operator, [(target, old), (value, given)])
        if place is not None:
            if is_place(old):  # perhaps of a list, which takes more elements
                self.resized(old, node)
                self.other_keys(old, node)
            if isinstance(node.operator, cst.AddAssign) and isinstance(value, cst.List | cst.ListComp):
                self.emit(Assign(ir.Index(place, NOTHING), ir.Index(given, NOTHING), self.span(node)))
                return
            # an array is changed in place, a number is replaced, a list or dictionary takes what the other one holds
            self.emit(ir.HostAccess(reads, (ir.Index(place, NOTHING),) if is_place(old) else (), self.span(node)))
            if is_place(given) and isinstance(node.operator, cst.AddAssign | cst.BitOrAssign):
                self.emit(Assign(ir.Index(place, NOTHING), ir.Index(given, NOTHING), self.span(node)))
            if isinstance(place, Var) or is_place(given) or asked:
                self.emit(Assign(place, choice(old, opaque(old, given), *asked), self.span(node)))
            if isinstance(place, ir.Index) and isinstance(target, cst.Subscript):
                self.asks(("__setitem__",), target, [(target.value, place.base)], (place.index, opaque(old, given)))

    def delete(self, node: cst.Del, target: cst.BaseExpression) -> None:
        for one in [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]:
            if isinstance(one, cst.Name | cst.Attribute):
                if (
                    self.resolver.origin(one) == "cupy.cuda.Stream()"
                ):  # the last reference may go, and the stream with it
                    self._c_call(one, "cudaStreamDestroy", (ir.Field(deref(self.value(one)), "ptr"),))
                place = self.target(one)
                if isinstance(one, cst.Attribute):
                    self.asks(("__delattr__",), node, [(one.value, self.value(one.value))])
                if place is not None:
                    self.emit(Assign(place, NOTHING, self.span(node)))
            elif isinstance(one, cst.Subscript):
                base = self.value(one.value)
                self.shuffle(base, node)
                self.asks(("__delitem__",), node, [(one.value, base)], (self.key(one.slice),))

    def assign(self, targets: Sequence[cst.BaseExpression], value: cst.BaseExpression) -> None:
        """`a = b = value`; the results of a call of the API go straight to the places that take them."""
        call = self.api_call(value)
        if call is not None and len(targets) == 1:
            self.assign_api(targets[0], call, value)
            return
        given = self.value(value)
        if isinstance(value, cst.List | cst.Tuple) and value.elements and (given == NOTHING or isinstance(given, Var)):
            whole = all(isinstance(target, cst.Name | cst.Attribute) for target in targets)
            if whole and not any(isinstance(one, cst.StarredElement) for one in value.elements):
                given = self.listed(value, given)
        for target in targets:
            if isinstance(target, cst.Tuple | cst.List):
                self._assign_parts(target, value, given)
                continue
            if isinstance(target, cst.Subscript):
                self._hooked_in(target, value)
            else:
                self._hooked(target, value, given)
            if isinstance(target, cst.Attribute) and self.is_set_by_method(target):
                with self.once([target.value]):
                    place = self.target(target, is_set=True)
                    if place is not None:
                        self.store(target, place, given, self.place.span)
                    self.set_by_method(target, given)
                continue
            place = self.target(target)
            if place is not None:
                if (
                    isinstance(target, cst.Subscript)
                    and self.resolver.origin(value) != "pointer"
                    and (_has_slice(target) or not self._is_container(target.value))
                ):
                    self.looked_through(given, value, owner=value)  # an array copies what it is given
                    self.asks(("__array__", "__float__", "__int__", "__index__"), value, [(value, given)])
                if isinstance(target, cst.Subscript) and isinstance(place, ir.Index):
                    self.stored_by_device(target, target.value, place.base)
                if isinstance(target, cst.Subscript) and _has_slice(target):
                    self.emit(Assign(place, ir.Index(given, NOTHING), self.place.span))
                    self.shuffle(place.base if isinstance(place, ir.Index) else place, target)
                    if self.resolver.origin(value) in LISTS and isinstance(place, ir.Index):  # its elements are stored
                        self.asks(("__setitem__",), target, [(target.value, place.base)], (place.index, given))
                        continue
                self.store(target, place, given, self.place.span)
                if given in self.statuses:
                    self.statuses.add(place)

    def _hooked(self, target: cst.BaseExpression, value: cst.BaseExpression, given: Expr) -> None:
        """A module of others gets something of the program, which it may call whenever it likes."""
        if not isinstance(target, cst.Attribute) or not isinstance(self.resolver.meaning(target.value), Dotted):
            return
        is_output = self.source.text(target) in OUTPUTS and self.resolver.cls_of(value) is not None
        has_function = self._has_function(value)
        if has_function or (not is_output and self.resolver.origin(value) is None and not self.only_computes(value)):
            names = (given.name,) if isinstance(given, ir.FuncRef) else None
            why = f"`{self.source.text(target)}` is set to what {ir.AT_ANY_TIME}"
            self.emit(ir.Unknown(why, self.span(target), names=names))

    def _hooked_in(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """A list or dictionary of a module of others gets a function of the program."""
        while isinstance(target, cst.Subscript):
            target = target.value
        meaning = self.resolver.meaning(target)
        if isinstance(meaning, Dotted) and (meaning.name == "gc.callbacks" or self._has_function(value)):
            why = f"`{self.source.text(target)}` has what {ir.AT_ANY_TIME}"
            self.emit(ir.Unknown(why, self.span(target)))

    def _has_function(self, node: cst.BaseExpression) -> bool:
        """Whether a function of the program is written here, or stands in the list or dictionary that is written."""
        match node:
            case cst.List(elements) | cst.Tuple(elements) | cst.Set(elements) | cst.Dict(elements):
                return any(self._has_function(one.value) for one in elements)
            case cst.Lambda():
                return not self.only_computes(node)
            case cst.Name() | cst.Attribute():
                return isinstance(self.resolver.meaning(node), OwnFunction)
            case _:
                return False

    def _is_container(self, node: cst.BaseExpression) -> bool:
        return (self.resolver.origin(node) or "").startswith(("builtins.", "collections."))

    def _assign_parts(self, target: cst.Tuple | cst.List, node: cst.BaseExpression, given: Expr) -> None:
        """`a, b = c, d` and `a, b = f()`."""
        if given == NOTHING and isinstance(node, cst.Tuple) and len(node.elements) == len(target.elements):
            texts = [literal(element.value) for element in node.elements]
            names = [element.value for element in target.elements]
            if None not in texts and all(isinstance(name, cst.Name) for name in names):
                for name, text in zip(names, texts, strict=True):
                    place = self.target(name)
                    if place is not None:
                        self.emit(Assign(place, Const(text or ""), self.place.span))
                return
        self.unpack(target, given, isinstance(node, cst.Tuple | cst.List))

    def assign_api(self, target: cst.BaseExpression, call: ApiCall, node: cst.BaseExpression) -> None:
        wanted: dict[int, cst.BaseExpression] = {}
        status: list[cst.BaseExpression] = []
        rest: list[tuple[cst.BaseExpression, Symbol]] = []

        def match(one: cst.BaseExpression, symbol: Symbol) -> None:
            elements = one.elements if isinstance(one, cst.Tuple | cst.List) else None
            if elements is not None and isinstance(symbol, Parts):
                if any(isinstance(e, cst.StarredElement) for e in elements) or len(elements) != len(symbol.items):
                    rest.append((one, symbol))
                    return
                for element, item in zip(elements, symbol.items, strict=True):
                    match(element.value, item)
            elif isinstance(symbol, Result) and symbol.position not in wanted:
                wanted[symbol.position] = one
            elif symbol == checks.STATUS and not status:
                status.append(one)
            else:
                rest.append((one, symbol))

        match(target, call.symbol)
        looked_at = any(self._loaded(one) for one in status) or any(self._loaded(one) for one, _ in rest)
        places = {n: place for n, one in wanted.items() if (place := self.target(one)) is not None}
        result = self.target(status[0]) if status else None
        done_status, results = self.api(call, places, result, looked_at)
        for number, one in wanted.items():
            place = places.get(number)
            if number < len(results) and place is not None and results[number] != place:
                self.store(one, place, results[number], self.place.span)
            elif place is None and number < len(results):
                self.unpack(one, results[number])
        for one, symbol in rest:
            given = self.symbol_expr(symbol, done_status, results, node)
            if isinstance(one, cst.Tuple | cst.List):
                self.unpack(one, given)
                continue
            place = self.target(one)
            if place is not None:
                self.store(one, place, given, self.place.span)
                if symbol == Parts((checks.STATUS,)):
                    self.statuses.add(place)  # `if ret != success` of a tuple of one

    def _loaded(self, node: cst.BaseExpression) -> bool:
        """Whether the program looks at what a target receives."""
        if not isinstance(node, cst.Name):
            return not isinstance(node, cst.Tuple | cst.List) or any(self._loaded(e.value) for e in node.elements)
        if node.value == "_":
            return False
        owner = self.scope.owner(node.value) if self.scope is not None else None
        return (owner.bindings if owner is not None else self.unit.outline.top).loaded(node.value)

    # -- leaving -------------------------------------------------------------------------------------------------------

    def _run_finals(self, inside_loop: bool) -> None:
        """The `finally` bodies between here and where control goes."""
        kept = self.finals
        place = self.place
        for n in range(len(kept) - 1, -1, -1):
            leave, loops = kept[n]
            if inside_loop and loops < self.loops:
                break
            self.finals = kept[:n]
            leave()
        self.finals, self.place = kept, place

    def return_(self, node: cst.Return) -> None:
        value = self.value(node.value) if node.value is not None else None
        if self.finals and value is not None and is_place(value):
            kept = self.temporary()
            self.emit(Assign(kept, value, self.span(node)))
            value = kept
        if self.kept_in is not None and (value is not None or isinstance(self.kept_in, Var)):
            value = value if value is not None else NONE
            again = () if isinstance(self.kept_in, Var) else (self.kept_in,)
            self.emit(Assign(self.kept_in, choice(*again, value), self.span(node)))
            value = self.kept_in
        site = self.site()
        self._run_finals(inside_loop=False)
        self.emit(ir.Return(value, self.span(node), site))

    def leave(self, node: cst.CSTNode, stmt: Stmt) -> None:
        self._run_finals(inside_loop=True)
        self.emit(stmt)

    def raise_(self, node: cst.Raise) -> None:
        for one in (node.exc, node.cause.item if node.cause is not None else None):
            given = [argument.value for argument in one.args] if isinstance(one, cst.Call) else []
            with self.once(given):
                held = [self.value(one)] if one is not None else []
                if isinstance(one, cst.Call) and self._is_of_python(one.func):
                    held = []  # it holds what it is given
                if one is not None and isinstance(raised := self.resolver.meaning(one), OwnClass):
                    init = self.unit.modules.method(*raised, "__init__")
                    held.append(self.container(one))
                    self.called(init.name if init is not None else "", one, held[-1])
                held += [self.done[argument] for argument in given]
            # a class of Python itself (`raise SystemExit`) holds nothing
            for value in (one for one in held if not isinstance(one, Const | FuncRef) and one != NOTHING):
                self.emit(Assign(ir.Index(RAISED, NOTHING), value, self.span(node)))
        self.throw(node)

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        """An import behind which something has run already: a module runs where it is imported first."""
        if self.unit.modules.runs(node, self.unit.outline.path):
            self.emit(ir.Unknown("the module runs that is imported here", self.span(node)))
        words = imported_by(node)
        if isinstance(node, cst.ImportFrom):  # what it takes from a module, or modules beside this one
            words = words[:1] if node.module is not None else words[1:]
        for word in words:
            package = word.partition(".")[0]
            known = package in sys.stdlib_module_names or package in PACKAGES
            if not known and isinstance(self.unit.modules.meaning(word, self.unit.outline.path), Dotted):
                if bindings.tables().lookup(f"{package}.any", 0) is None:
                    span, site = self.span(node), self.site(fixed="it is an import")
                    place = Span(span.path, span.start, span.start)
                    self.emit(
                        ir.Call(f"import {word}", (), span, place, span.end, site, (), None, None, ir.Look.IGNORED)
                    )

    def _is_of_python(self, node: cst.BaseExpression) -> bool:
        meaning = self.resolver.meaning(node)
        return isinstance(meaning, Dotted) and meaning.name.startswith("builtins.")

    def throw(self, node: cst.CSTNode) -> None:
        span = self.span(node)
        site = self.site(fixed="it raises")
        self.emit(ir.Call("throw", (), span, Span(span.path, span.start, span.start), span.end, site))

    # -- branches ------------------------------------------------------------------------------------------------------

    def if_(self, node: cst.If) -> None:
        always = self.decided(node.test)
        if always is not None:
            if always:
                self.statements(node.body)
            elif node.orelse is not None:
                self.orelse(node.orelse)
            return
        self.at(node, None)
        test = self.test(node.test)
        span = self.span(node)
        then = self.suite(node.body)
        with self.block() as other:
            if node.orelse is not None:
                self.orelse(node.orelse)
        self.emit(ir.If(test, then, tuple(other), span))

    def orelse(self, node: cst.If | cst.Else) -> None:
        if isinstance(node, cst.Else):
            self.statements(node.body)
            return
        always = self.decided(node.test)
        if always is None:
            self.at(node, HEADER)  # an `elif`: nothing goes in front of it
            test = self.test(node.test)
            then = self.suite(node.body)
            with self.block() as other:
                if node.orelse is not None:
                    self.orelse(node.orelse)
            self.emit(ir.If(test, then, tuple(other), self.span(node)))
        elif always:
            self.statements(node.body)
        elif node.orelse is not None:
            self.orelse(node.orelse)

    def decided(self, test: cst.BaseExpression) -> bool | None:
        """Conditions that hold always or never: `if __name__ == "__main__"`, `if TYPE_CHECKING`, `if True`."""
        match test:
            case cst.Name(value="True") | cst.Integer(value="1"):
                return True
            case cst.Name(value="False" | "TYPE_CHECKING") | cst.Integer(value="0"):
                return False
            case cst.Comparison(
                left=cst.Name(value="__name__"),
                comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.SimpleString() as name)],
            ) if name.evaluated_value == "__main__":
                return self.scope is None
        return None

    def match_(self, node: cst.Match) -> None:
        self.at(node, None)
        subject = self.value(node.subject)
        self.asks(("__eq__", *ITERATION), node, [(node.subject, subject)])
        for case in node.cases:
            self._pattern(case.pattern, subject, node.subject)
        for guard in (one.guard for one in node.cases if one.guard is not None):
            with self.perhaps(guard):
                self.test(guard)
        span = self.span(node)
        block: tuple[Stmt, ...] = ()
        for number, case in reversed(list(enumerate(node.cases))):
            body = self.suite(case.body)
            text = f"case {number} of {span.start}"
            block = (ir.If(ir.Test("other", None, text), body, block, span),)
        self.out += block

    def _pattern(self, pattern: cst.MatchPattern, value: Expr, owner: cst.BaseExpression | None = None) -> None:
        """What a pattern reads of a value, and the names that it gives to parts of it."""
        inside: list[Expr] = []
        if value != NOTHING and not isinstance(value, Const):
            inside = [ir.Index(value, NOTHING), ir.Offset(value)]
        match pattern:
            case cst.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self._pattern(inner, value, owner)
                if name is not None:
                    self.emit(Assign(self.variable(name.value), value, self.span(pattern)))
            case cst.MatchOr(patterns=elements):
                for one in elements:
                    self._pattern(one.pattern, value, owner)
            case cst.MatchList(patterns=parts) | cst.MatchTuple(patterns=parts):
                item = choice(NOTHING, *inside, *self.looked_through(value, pattern))
                for part in parts:
                    if isinstance(part, cst.MatchSequenceElement):
                        self._pattern(part.value, item)
                    elif part.name is not None:
                        self._rest(part.name.value, item, part)
            case cst.MatchMapping(elements=entries, rest=rest):
                item = choice(NOTHING, *inside, *self.looked_through(value, pattern))
                for entry in entries:
                    self._pattern(entry.pattern, item)
                if rest is not None:
                    self._rest(rest.value, item, pattern)
            case cst.MatchClass(cls=cls, patterns=parts, kwds=words):
                if parts:  # `__match_args__` says which attributes
                    self.unknown("`match`", cls, (value,))
                for word in words:
                    asked = self.asks((word.key.value,), pattern, [(None, value)])
                    self._pattern(word.pattern, choice(ir.Field(deref(value), word.key.value), *inside, *asked))
            case cst.MatchValue(value=literal_or_name):
                self.value(literal_or_name)
                if owner is None or self.resolver.origin(owner) not in _TEXTS:
                    self.shown(owner if owner is not None else literal_or_name, value)

    def _rest(self, name: str, item: Expr, node: cst.CSTNode) -> None:
        """`*rest` and `**rest` of a pattern: a new list, or dictionary."""
        made = self.container(node)
        self.emit(Assign(ir.Index(made, NOTHING), item, self.span(node)))
        self.emit(Assign(self.variable(name), made, self.span(node)))

    # -- loops ---------------------------------------------------------------------------------------------------------

    def for_(self, node: cst.For) -> None:
        self.at(node, None)
        if node.asynchronous is not None:
            self.problem("coroutine", node)
        assigned = bindings_of(node.body)

        ours = self.fills.pop(node, [])

        def body(index: Var | None) -> None:
            if index is not None:
                self.filling.update(dict.fromkeys(ours, index))
            self.loops += 1
            self.statements(node.body)
            self.loops -= 1

        def safe(name: str) -> bool:
            return not assigned.assigned[name] and self._bounds_stay(node.iter, assigned.assigned)

        count = self.iterate(node.target, node.iter, self.span(node), body, safe)
        for call in ours:
            index = self.filling.pop(call, None)
            if index is not None and count is not None and isinstance(call.func, cst.Attribute):
                place = ir.Field(deref(self.value(call.func.value)), ir.SIZE)
                self.emit(Assign(place, count, self.span(call)))
        self.loop_else(node.orelse)

    @staticmethod
    def _bounds_stay(iterable: cst.BaseExpression, assigned: object) -> bool:
        assert isinstance(assigned, dict)
        return not any(assigned.get(one.value) for one in walk(iterable) if isinstance(one, cst.Name))

    def loop_else(self, orelse: cst.Else | None) -> None:
        if orelse is not None:
            span = self.span(orelse)
            self.emit(ir.If(ir.Test("other", None, f"no break@{span.start}"), self.suite(orelse.body), (), span))

    def while_(self, node: cst.While) -> None:
        self.at(node, HEADER)
        forever = self.decided(node.test) is True
        with self.block() as condition:
            test = self.test(node.test) if not forever else None
            if test is not None and test.kind in ("ok", "failed"):
                self.emit(ir.If(test, (), (), self.span(node)))
        self.loops += 1
        body = self.suite(node.body)
        self.loops -= 1
        self.emit(ir.Loop(body, self.span(node), condition=tuple(condition), forever=forever))
        self.loop_else(node.orelse)

    # -- with, try -----------------------------------------------------------------------------------------------------

    def with_(self, node: cst.With) -> None:
        if node.asynchronous is not None:
            self.problem("coroutine", node)
        self._with(node, list(node.items))

    def _with(self, node: cst.With, items: list[cst.WithItem]) -> None:
        """The first context around the others around the body."""
        if not items:
            self.statements(node.body)
            return
        self.at(node, HEADER if len(node.items) > 1 else None)
        item = items[0]
        span = self.span(node)
        origin = self.resolver.origin(item.item)
        named = self.resolver.meaning(item.item)
        if isinstance(named, Dotted) and named.name in DEFAULTS and item.asname is None:
            self._current(node, items, Const(DEFAULTS[named.name]))
            return
        if isinstance(item.item, cst.Call) and self._in_generator(node, items, item.item):
            return
        value = self.value(item.item)
        if origin in (f"{STREAM}()", f"{EXTERNAL}()", "cupy.cuda.Device()"):
            self._cupy_context(node, items, value, origin)
            return
        cls = self.resolver.cls_of(item.item)
        meaning = self.resolver.meaning(item.item.func) if isinstance(item.item, cst.Call) else None
        entered = value
        if cls is not None:
            entered = self._context_method(node, cls, "__enter__", value) or value
        elif (origin or "").startswith("tensorrt.") or self._makes_context(item.item):
            pass  # it gives itself, and does nothing at the end
        elif origin is None and meaning is None and is_place(value) and self.uses_cupy():
            self._perhaps_stream(node, items, value)
            return
        elif not (isinstance(meaning, Dotted) and meaning.name.startswith(_PLAIN_CONTEXTS)) or (
            CLOSES.get(meaning.name) in self.unit.methods.every
        ):
            if origin is None or not self._is_lock(origin):
                entered = self.unknown("with " + self.source.text(item.item), node, (value,))
        if item.asname is not None:
            self.bind(item.asname.name, [entered])
        if cls is not None:
            method = self.unit.modules.method(cls.outline, cls.cls, "__exit__")
            self._leaving(node, items, lambda: self._exit(node, cls, value), method is not None and _gives(method.node))
            return
        suppresses = isinstance(meaning, Dotted) and meaning.name == "contextlib.suppress"
        with self.block() as body:
            if origin is None:
                self.perhaps_current(node, value)
            self._with(node, items[1:])
        if suppresses:
            self.emit(ir.Try(tuple(body), ((),), span))
        else:
            self.out += body

    def _cupy_context(self, node: cst.With, items: list[cst.WithItem], value: Expr, origin: str) -> None:
        """`with stream:` makes it the current stream of its body; a device the same."""
        if items[0].asname is not None:
            self.bind(items[0].asname.name, [value])
        if origin == "cupy.cuda.Device()":
            before = self.temporary()
            self._c_call(node, "cudaSetDevice", (ir.Field(deref(value), "id"),))
            self._with(node, items[1:])
            self._c_call(node, "cudaSetDevice", (before,))
            return
        self._current(node, items, ir.Field(deref(value), "ptr"))

    def _perhaps_stream(self, node: cst.With, items: list[cst.WithItem], value: Expr) -> None:
        """`with x:` of what may be a stream of CuPy, as far as the text says."""
        span, test = self.span(node), ir.Test("is", value, STREAM)
        before, entered = self.temporary(), self.temporary()
        self.emit(Assign(before, CURRENT, span))
        with self.block() as other:
            self.emit(Assign(entered, self.unknown("with " + self.source.text(items[0].item), node, (value,)), span))
            self.perhaps_current(node, value)
        then = (Assign(CURRENT, ir.Field(deref(value), "ptr"), span), Assign(entered, value, span))
        self.emit(ir.If(test, then, tuple(other), span))
        if items[0].asname is not None:
            self.bind(items[0].asname.name, [entered])
        self._leaving(node, items, lambda: self.emit(ir.If(test, (Assign(CURRENT, before, span),), (), span)))

    def _current(self, node: cst.With, items: list[cst.WithItem], handle: Expr) -> None:
        """The stream that was current is so again behind the block, and behind an exception that leaves it."""
        before, span = self.temporary(), self.span(node)
        self.emit(Assign(before, CURRENT, span))
        self.emit(Assign(CURRENT, handle, span))
        self._leaving(node, items, lambda: self.emit(Assign(CURRENT, before, span)))

    def _in_generator(self, node: cst.With, items: list[cst.WithItem], call: cst.Call) -> bool:
        """`with f(…):` of a function that `contextlib.contextmanager` has decorated, if it is one that is followed."""
        function = self.resolver.meaning(call.func)
        if not isinstance(function, OwnFunction) or (catches := self.unit.contexts.get(function.node)) is None:
            return False
        is_method = function.cls is not None and not is_static(function.node)
        named = isinstance(call.func, cst.Attribute) and not isinstance(
            self.resolver.meaning(call.func.value), OwnClass
        )
        if is_method != named or (is_method and self._overrides(function)):
            return False
        if function.node.name.value in self.unit.methods.replaced:
            return False
        given = self.arguments(call, function, is_method)
        if given is None:
            return False
        frame, span = self.temporary(), self.span(node)
        this = deref(self.value(call.func.value)) if isinstance(call.func, cst.Attribute) and is_method else None
        self.call_ir(call, f"{function.name}::{ENTER}", given, this, frame)
        if items[0].asname is not None:
            self.bind(items[0].asname.name, [ir.Field(deref(frame), GIVEN)])

        def run(part: str) -> None:
            place = Span(span.path, span.start, span.start)
            site = self.site(fixed="it is called by `with`")
            of = ir.Deref(ir.Field(deref(frame), "this")) if is_method else None
            self.emit(
                ir.Call(
                    f"{function.name}::{part}", (frame,), span, place, span.end, site, (), of, None, ir.Look.CHECKED
                )
            )

        self._leaving(node, items, lambda: run(LEAVE), catches, lambda: run(FAIL))
        return True

    def around_yield(self, node: cst.FunctionDef, then: tuple[Stmt, ...] = ()) -> InParts | None:
        """Lower a function that yields once, in parts: in front of the rest, its frame is made, which holds what it
        yields, and is left `then`.
        """
        self.marks = []
        self.take_params(node)
        self.statements(node.body)
        if len(self.marks) != 1 or self.problems:
            return None
        mark, given = self.marks[0]
        self.at(node, HEADER)
        with self.block() as made:
            self.emit(Assign(FRAME, self.container(node.params), self.span(node)))
            self.emit(Assign(ir.Field(deref(FRAME), GIVEN), given, self.span(node)))
        with self.block() as raised:
            self.throw(node)
        return parts_of(self.out, mark, (*made, *then), tuple(raised))

    def take_params(self, node: cst.FunctionDef | cst.Lambda) -> None:
        """The parameters that functions inside this one use too are variables that both know."""
        scope = self.scope
        assert scope is not None
        for name in scope.bindings.assigned:
            if scope.binds(name) and name not in scope.shared:
                self.types.setdefault(name, "")
        self.at(node, HEADER)
        for name in (name for name in scope.params if name != scope.this):
            self.types.setdefault(name, "")
            if name in scope.shared:
                self.emit(Assign(self.variable(name), Var(name), self.span(node)))

    def _leaving(
        self,
        node: cst.With,
        items: list[cst.WithItem],
        leave: Callable[[], None],
        may_catch: bool = False,
        fail: Callable[[], None] | None = None,
    ) -> None:
        """The body of a `with`, and what happens at its end, however it is left; `fail` is what happens if an exception
        leaves it, if that is something else. `may_catch`: an exception may go no further.
        """
        self.finals.append((leave, self.loops))
        with self.block() as body:
            self._with(node, items[1:])
        self.finals.pop()
        self.at(node, HEADER)
        with self.block() as failing:
            (fail or leave)()
            with self.block() as thrown:
                self.throw(node)
            if may_catch:
                test = ir.Test("other", None, f"caught@{self.span(node).start}")
                thrown = [ir.If(test, tuple(thrown), (), self.span(node))]
            self.out += thrown
        self.emit(ir.Try(tuple(body), (tuple(failing),), self.span(node)))
        leave()

    def _exit(self, node: cst.With, cls: OwnClass, value: Expr) -> None:
        self.at(node, HEADER)
        self._context_method(node, cls, "__exit__", value)

    def _makes_context(self, node: cst.BaseExpression) -> bool:
        """Whether this asks an engine of TensorRT for an execution context."""
        name = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
        return name.startswith("create_execution_context") and name not in self.unit.methods.every

    @staticmethod
    def _is_lock(origin: str) -> bool:
        return origin.startswith(("threading.Lock()", "threading.RLock()", "builtins.", "numpy."))

    def _context_method(self, node: cst.With, meaning: OwnClass, name: str, value: Expr) -> Expr | None:
        method = self.unit.modules.method(meaning.outline, meaning.cls, name)
        if method is None:
            return None
        params = len(method.node.params.params) - 1
        result = self.temporary()
        span = self.span(node)
        self.emit(
            ir.Call(
                method.name, tuple([NONE] * max(params, 0)), span, Span(span.path, span.start, span.start), span.end,
                self.site(fixed="it is called by `with`"), (), deref(value), result, ir.Look.CHECKED,
            )
        )  # fmt: skip
        return result

    def try_(self, node: cst.Try) -> None:
        span = self.span(node)
        final = node.finalbody.body if node.finalbody is not None else None
        if final is not None:
            self.finals.append((lambda: self.statements(final), self.loops))
        with self.block() as inner:
            body = self.suite(node.body)
            handlers = tuple(self._handler(h) for h in node.handlers)
            if handlers:
                self.emit(ir.Try(body, handlers, span))
            else:
                self.out += body
            if node.orelse is not None:
                self._unless_caught(node.orelse, handlers)
        if final is None:
            self.out += inner
            return
        self.finals.pop()
        with self.block() as failing:
            self.statements(final)
            self.at(node, HEADER)
            self.throw(node)
        self.emit(ir.Try(tuple(inner), (tuple(failing),), span))
        self.statements(final)

    def _unless_caught(self, node: cst.Else, handlers: Sequence[tuple[Stmt, ...]]) -> None:
        """What runs behind a `try` whose body has raised nothing."""
        if all(map(_leaves, handlers)):
            self.statements(node.body)
        else:
            span = self.span(node)
            self.emit(ir.If(ir.Test("other", None, f"nothing raised@{span.start}"), self.suite(node.body), (), span))

    def _handler(self, node: cst.ExceptHandler) -> tuple[Stmt, ...]:
        with self.block() as block:
            if node.type is not None and any(isinstance(one, cst.Call) for one in walk(node.type)):
                self.value(node.type)
            if node.name is not None and isinstance(node.name.name, cst.Name):
                place = self.variable(node.name.name.value)
                made = self.container(node.name.name)  # the program may set fields of it
                self.emit(Assign(place, choice(made, ir.Index(RAISED, NOTHING)), self.span(node)))
            self.statements(node.body)
        return tuple(block)

    # -- functions inside ----------------------------------------------------------------------------------------------

    def nested(self, node: cst.FunctionDef) -> None:
        """A function inside a function: lowered on its own, bound to its name."""
        qual = self._qualified(node)
        self.header(node, FuncRef(qual))
        self.later(lambda: function(self.unit, node, qual, self.scope, None))
        if self.scope is not None:
            place = self.variable(node.name.value)
            self.emit(Assign(place, FuncRef(qual), self.span(node.name)))

    def _qualified(self, node: cst.FunctionDef | cst.ClassDef) -> str:
        """The name in the IR of what is defined here. One that a later definition replaces is another one."""
        name, scope = node.name.value, self.scope.bindings if self.scope is not None else self.unit.outline.top
        is_last = node in (scope.functions.get(name), scope.classes.get(name))
        return f"{self.qual}::{name}" if is_last else f"{self.qual}::{name}@{self.span(node).start}"

    def header(self, node: cst.FunctionDef | cst.ClassDef, made: Expr) -> None:
        """What a definition runs: default values, bases, and decorators, which may keep what they decorate."""
        if isinstance(node, cst.FunctionDef):
            assert isinstance(made, FuncRef)
            self._defaults(node.params, made.name)
            every = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
            for note in (*(one.annotation for one in every), node.returns):
                if note is not None:
                    self._annotation(note.annotation)
        else:
            bases = [self.value(argument.value) for argument in (*node.bases, *node.keywords)]
            for word in node.keywords:
                if isinstance(self.resolver.meaning(word.value), OwnClass):
                    self.emit(ir.Unknown(f"the metaclass of `{node.name.value}`", self.span(node)))
            if any(isinstance(base, Var) for base in bases):  # a class of code that is not seen knows its children
                self.unknown(f"`{node.name.value}`", node, (made, *bases))
        if isinstance(node, cst.FunctionDef) and (ours := forwarders(node, self.unit.modules, self.unit.outline)):
            for one, decorator in zip(ours, node.decorators, strict=True):
                self._made_by_factory(one, decorator.decorator)
            return
        if node in self.unit.contexts:
            return
        for decorator in reversed(node.decorators):
            if isinstance(made, FuncRef) and is_cache(decorator.decorator, self.unit.modules, self.unit.outline):
                self._nothing_kept(node, made.name)
                continue
            if not self.is_transparent(decorator.decorator, TRANSPARENT | DEVICE, self.unit.outline):
                made = self._decorated(decorator.decorator, made)

    def _nothing_kept(self, node: cst.FunctionDef | cst.ClassDef, qual: str) -> None:
        """A function that keeps its results is defined: it has none."""
        made = self.container(node.name)
        self.emit(Assign(ir.Field(deref(made), ir.CLASS), Const(ir.NOT_KEPT), self.span(node.name)))
        self.emit(Assign(_kept(qual), made, self.span(node.name)))

    def _made_by_factory(self, forwarder: Forwarder, decorator: cst.BaseExpression) -> None:
        """What the function that makes a decorator is given: its wrappers find it in its parameters."""
        factory = forwarder.factory
        if factory is None or not isinstance(decorator, cst.Call):
            return
        values = self.arguments(decorator, factory, False)
        if values is None:
            self.unknown(self.source.text(decorator), decorator, self.given(decorator))
            return
        params = factory.node.params
        for param, value in zip((*params.posonly_params, *params.params, *params.kwonly_params), values, strict=False):
            place = Var(f"::{factory.name}::{param.name.value}")  # that of each use of the factory
            self.emit(Assign(place, choice(place, value), self.span(decorator)))

    def _defaults(self, params: cst.Parameters, qual: str) -> None:
        """Default values are made once for each definition, and are the same objects in all calls."""
        for param in (*params.posonly_params, *params.params, *params.kwonly_params):
            if param.default is not None and not is_plain(param.default):
                value = self.value(param.default)
                place = default_of(qual, param)
                again = self.scope is not None or self.loops > 0
                self.emit(Assign(place, choice(place, value) if again else value, self.span(param)))

    def _annotation(self, node: cst.BaseExpression) -> None:
        """What an annotation runs; names and types run nothing."""
        if "annotations" in self.unit.outline.imports:
            return
        inside = list(walk(node))
        indexed = [one.value for one in inside if isinstance(one, cst.Subscript)]
        if any(isinstance(one, cst.Call) for one in inside) or any(map(self._is_variable, indexed)):
            self.value(node)

    def _is_variable(self, node: cst.BaseExpression) -> bool:
        return self.resolver.meaning(node) is None or isinstance(self.resolver.meaning(node), OwnGlobal)

    def _decorated(self, decorator: cst.BaseExpression, made: Expr) -> Expr:
        """What a decorator makes of a function or class."""
        function = self.value(decorator)
        span, result = self.span(decorator), self.temporary()
        if not isinstance(function, FuncRef) and not is_place(function):
            return self.unknown(self.source.text(decorator), decorator, (made, function))
        callee = ir.held_in(f"{self.source.text(decorator)}(…)")
        site = self.site(fixed="it is a decorator")
        name = Span(span.path, span.start, span.start)
        self.emit(ir.Call(callee, (made,), span, name, span.end, site, (), function, result, ir.Look.CHECKED))
        return result

    def nested_class(self, node: cst.ClassDef) -> None:
        """A class inside a function: nobody is seen to call its methods."""
        cls = Class(node.name.value, node, methods_of(node), bindings_of(node.body).setters, outside=True)
        values = self.class_body(node)
        for name, method in cls.functions():
            qual = f"{self._qualified(node)}::{name}"
            self.later(lambda method=method, qual=qual: function(self.unit, method, qual, self.scope, cls))  # type: ignore[misc]
        if self.scope is not None:  # whoever gets the class may call its methods, and look at what it holds
            held: list[Expr] = [FuncRef(f"{self._qualified(node)}::{name}") for name in cls.methods]
            inside = [value for _, value in values]
            if any(is_place(one) for one in inside):  # its objects have it too
                self.emit(ir.Unknown(f"`{node.name.value}` holds it", self.span(node.name), tuple(inside)))
            held += inside
            place = self.variable(node.name.value)
            self.emit(Assign(place, choice(NOTHING, *held), self.span(node.name)))
            self.header(node, place)

    def class_body(self, node: cst.ClassDef) -> list[tuple[str, Expr]]:
        """What the body of a class runs when it is defined; the values that the class holds by their names."""
        held: list[tuple[str, Expr]] = []
        renamed, at = dict(self.renamed), self.span(node).start
        for line in node.body.body:
            self.at(line, _IN_CLASS)
            if isinstance(line, cst.BaseCompoundStatement) and not isinstance(line, cst.FunctionDef | cst.ClassDef):
                for name in bindings_of(line).assigned:
                    self._name_of_class(name, at)
            match line:
                case cst.FunctionDef():
                    self.header(line, FuncRef(f"{self._qualified(node)}::{line.name.value}"))
                case cst.ClassDef():
                    self.class_body(line)
                    self.header(line, NOTHING)
                case cst.BaseCompoundStatement():
                    self.statement(line)
                case cst.SimpleStatementLine(body=smalls):
                    for small in smalls:
                        held += self._of_class(node, small)
                case cst.BaseSmallStatement():  # `class A: pass`
                    held += self._of_class(node, line)
        other = bound_otherwise(node)
        if other is not None:
            self.emit(ir.Unknown(f"`{other}` of `{node.name.value}` may be another method", self.span(node.name)))
        self.asks(("__set_name__",), node, [(None, value) for _, value in held])
        self.renamed = renamed
        return held

    def _of_class(self, cls: cst.ClassDef, small: cst.BaseSmallStatement) -> list[tuple[str, Expr]]:
        """A statement in the body of a class; what it gives to the class."""
        match small:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                pass
            case cst.AnnAssign(target=cst.Name(value=name), value=value) if value is not None:
                pass
            case cst.AnnAssign(target=cst.Name(), value=None):
                self._annotation(small.annotation.annotation)
                return []
            case _:
                self.small(small, _IN_CLASS)
                return []
        if isinstance(small, cst.AnnAssign):
            self._annotation(small.annotation.annotation)
        if "dataclass" in decorators(cls) and isinstance(value, cst.Call) and _last_word(value) == "field":
            return []  # made anew for each object
        given = self.value(value)
        self._name_of_class(name, self.span(cls).start)
        self.emit(Assign(self.variable(name), given, self.span(small)))
        return [(name, given)]

    def _name_of_class(self, name: str, at: int) -> None:
        """From here on, in the body of the class that stands `at` this place, the name is one of the class."""
        self.renamed[name] = f"{name}@{at}"
        self.types[f"{name}@{at}"] = ""

    def later(self, work: Callable[[], None]) -> None:
        self.unit.pending.append(work)

    def lambda_(self, node: cst.Lambda) -> Expr:
        qual = f"{self.qual}{ir.LAMBDA}{self.span(node).start}>"
        self._defaults(node.params, qual)
        self.later(lambda: function(self.unit, node, qual, self.scope, None))
        return FuncRef(qual)


def function(
    unit: Unit, node: cst.FunctionDef | cst.Lambda, qual: str, parent: Scope | None, cls: Class | None
) -> None:
    """Lower one function into the unit. If decorators stand in its place, these have its name, and it another one."""
    if isinstance(node, cst.FunctionDef):
        for number, one in enumerate(forwarders(node, unit.modules, unit.outline) or ()):
            inner = f"{name_of(qual)}::{PLAIN}{number}>"
            _wrapper(unit, node, one, qual, inner, cls)
            qual = inner
        if node in unit.contexts:
            _context(unit, node, qual, cls)
            return
    scope = scope_of(node, qual, parent, cls)
    lowering = Statements(unit, scope, qual)
    if isinstance(node, cst.FunctionDef) and any(
        lowering.is_transparent(one.decorator, DEVICE, unit.outline) for one in node.decorators
    ):
        return  # device code
    lowering.take_params(node)
    params = [name for name in scope.params if name != scope.this]
    inside = [one for one in walk_own(node.body) if isinstance(one, cst.FunctionDef | cst.Lambda | cst.ClassDef)]
    if scope.this is not None and any(scope.this in inner_reads(one) for one in inside):
        lowering.emit(Assign(Var(f"::{qual}::this"), Var("this"), lowering.span(node)))
    if isinstance(node, cst.FunctionDef):
        if node.asynchronous is not None:
            lowering.problem("coroutine", node)
        if scope.this is not None and "cached_property" in decorators(node):
            lowering.kept_in = ir.Field(deref(Var("this")), node.name.value)
        elif any(is_cache(one.decorator, unit.modules, unit.outline) for one in node.decorators):
            lowering.kept_in = _kept(qual) if runs_once(node) else ir.Index(_kept(qual), NOTHING)
        with lowering.block() as body:
            if cls is not None and not lowering.is_itself(node):
                lowering.unknown(f"{cls.name}.{node.name.value}, decorated", node, (Var("this"), *map(Var, params)))
            lowering.statements(node.body)
        if lowering.kept_in is not None:  # it runs where nothing is kept yet
            test = ir.Test("other", None, f"kept@{lowering.span(node).start}")
            if isinstance(lowering.kept_in, Var):
                test = ir.Test("is", lowering.kept_in, ir.NOT_KEPT)
                body.append(Assign(lowering.kept_in, NONE, lowering.span(node)))
            body = [ir.If(test, tuple(body), (), lowering.span(node))]
            body.append(ir.Return(lowering.kept_in, lowering.span(node), lowering.site()))
        lowering.out += body
    else:
        value = lowering.value(node.body)
        lowering.emit(ir.Return(value, lowering.span(node.body), lowering.site()))
    cls_name = name_of(qual).rpartition("::")[0] if scope.this is not None else None
    _add(lowering, qual, _names_of_params(node, scope.this is not None), node, cls_name)


def _names_of_params(node: cst.FunctionDef | cst.Lambda, is_method: bool) -> list[str]:
    """The parameters of a function, without the object of a method."""
    star = node.params.star_arg.name.value if isinstance(node.params.star_arg, cst.Param) else None
    order = [*node.params.posonly_params, *node.params.params][is_method:]
    names = [p.name.value for p in order] + ([star] if star is not None else [])
    names += [p.name.value for p in node.params.kwonly_params]
    if node.params.star_kwarg is not None:
        names.append(node.params.star_kwarg.name.value)
    return names


def contexts_of(unit: Unit) -> dict[cst.FunctionDef, bool]:
    """The functions of a module, and of classes in it, that `with` runs in two parts; whether they catch exceptions."""
    found: dict[cst.FunctionDef, bool] = {}
    outline = unit.outline
    every: list[tuple[cst.FunctionDef, str, Class | None]] = [
        (one, f"{outline.id}::{one.name.value}", None) for one in outline.functions.values()
    ]
    every += [
        (one, f"{outline.id}::{cls.name}::{name}", cls)
        for cls in outline.classes.values()
        for name, one in cls.functions()
    ]
    for node, qual, cls in every:
        if is_context(OwnFunction(outline, node, qual, cls), unit.modules):
            pending, functions = list(unit.pending), list(unit.functions)
            parts = Statements(unit, scope_of(node, qual, None, cls), qual).around_yield(node)
            unit.pending[:], unit.functions[:] = pending, functions
            if parts is not None:
                found[node] = parts.catches
    return found


def _context(unit: Unit, node: cst.FunctionDef, qual: str, cls: Class | None) -> None:
    """Lower a function that `with` runs in parts: each is a function, which takes over the variables of the first."""
    span, pending = unit.source.span(node), list(unit.pending)
    kept: tuple[Stmt, ...] = ()
    for part in (FAIL, LEAVE, ENTER):
        unit.pending[:] = pending  # functions inside of it are lowered once
        scope = scope_of(node, qual, None, cls)
        lowering = Statements(unit, scope, qual)
        lowering.types[FRAME.name] = ""
        parts = lowering.around_yield(node, kept)
        assert parts is not None
        if part == ENTER:
            with lowering.block() as raised:
                lowering.throw(node)  # it has not yielded
            lowering.out = [*parts.before, *raised]
        else:
            rest = ir.Function(qual, (), (*parts.behind, *parts.failing), span)
            names = sorted((ir.names_in(rest) - {FRAME.name}) & lowering.types.keys())
            lowering.out = [*restored(names, span), *(parts.behind if part == LEAVE else parts.failing)]
            this = (Assign(ir.Field(deref(FRAME), "this"), Var("this"), span),) if scope.this is not None else ()
            kept = (*saved(names, FRAME, span), *this, ir.Return(FRAME, span, lowering.site()))
        params = _names_of_params(node, scope.this is not None) if part == ENTER else [FRAME.name]
        _add(lowering, f"{qual}::{part}", params, node, qual.rpartition("::")[0] if scope.this is not None else None)


def _wrapper(unit: Unit, node: cst.FunctionDef, forwarder: Forwarder, qual: str, inner: str, cls: Class | None) -> None:
    """Lower what stands in the place of a function, as a function of the same parameters."""
    scope = forwarder.scope(qual, cls, OwnFunction(unit.outline, node, inner, cls))
    lowering = Statements(unit, scope, qual)
    wrapper, span = forwarder.wrapper, unit.source.span(forwarder.wrapper)
    for name in (*scope.bindings.assigned, *scope.params):
        if scope.binds(name) and name not in scope.shared:
            lowering.types.setdefault(name, "")
    lowering.at(wrapper, HEADER)
    params = node.params
    order = [*params.posonly_params, *params.params]
    is_method = cls is not None and not is_static(node)
    count = len(order[is_method:]) + len(params.kwonly_params)
    count += isinstance(params.star_arg, cst.Param) + (params.star_kwarg is not None)
    names = [param.name.value for param in order[is_method:]]
    if forwarder.stars:
        names = [f"%given {number}" for number in range(count)]
        lowering.forwarded = tuple(map(Var, names))
        held = lowering.container(wrapper.params)
        for value in (*([Var("this")] if is_method else []), *lowering.forwarded):
            lowering.emit(Assign(ir.Index(held, NOTHING), value, span))
        for star in (wrapper.params.star_arg, wrapper.params.star_kwarg):
            if isinstance(star, cst.Param):
                lowering.emit(Assign(lowering.variable(star.name.value), held, span))
    for name in names:
        lowering.types.setdefault(name, "")
        if name in scope.shared:
            lowering.emit(Assign(lowering.variable(name), Var(name), span))
    lowering.statements(wrapper.body)
    _add(lowering, qual, names, node, name_of(qual).rpartition("::")[0] if is_method else None)


def _kept(qual: str) -> Var:
    """What holds the results of a function that keeps them."""
    return Var(f"::{qual}::<kept>")


def name_of(qual: str) -> str:
    """The name that the program has for a function."""
    return qual.partition(f"::{PLAIN}")[0]


def _add(
    lowering: Statements, qual: str, names: Sequence[str], node: cst.FunctionDef | cst.Lambda, cls: str | None
) -> None:
    """The unit has a function with these parameters."""
    streams = _stream_params(lowering.out)
    returns = any(isinstance(s, ir.Return) and s.value is not None for s in ir.walk(tuple(lowering.out)))
    lowering.unit.functions.append(
        ir.Function(
            qual,
            tuple(ir.Param(n, "cudaStream_t" if n in streams else "object") for n in names),
            tuple(lowering.out),
            lowering.unit.source.span(node),
            cls=cls,
            types=lowering.types,
            problems=tuple(lowering.problems[:1]),
            returns="object *" if returns else "void",
            direct=lowering.is_direct(node),
        )
    )


def _leaves(block: tuple[Stmt, ...]) -> bool:
    """Whether control never comes to the end of a block."""
    last = block[-1] if block else None
    is_raise = isinstance(last, ir.Call) and last.callee == "throw"
    return is_raise or isinstance(last, ir.Return | ir.Break | ir.Continue)


def _has_slice(target: cst.Subscript) -> bool:
    return any(isinstance(element.slice, cst.Slice) for element in target.slice)


def _gives(function: cst.FunctionDef) -> bool:
    """Whether `__exit__` may return something, and so keep an exception from going on."""
    returns = (one.value for one in walk_own(function.body) if isinstance(one, cst.Return))
    return any(value is not None and (not is_plain(value) or literal(value) == "true") for value in returns)


def _stream_params(block: Sequence[Stmt]) -> set[str]:
    """The parameters that are given to the API as a stream."""
    found: set[str] = set()
    for stmt in ir.walk(tuple(block)):
        if isinstance(stmt, ir.Launch) and isinstance(stmt.stream, Var):
            found.add(stmt.stream.name)
        if isinstance(stmt, ir.Call) and stmt.callee.startswith("cu"):
            api = bindings.tables().lookup(stmt.callee, len(stmt.args))
            if api is not None:
                for role, arg in zip(api.roles, stmt.args, strict=False):
                    if role == "stream" and isinstance(arg, Var):
                        found.add(arg.name)
    return found


def _last_word(decorator: cst.BaseExpression) -> str:
    words = chain(decorator.func if isinstance(decorator, cst.Call) else decorator)
    return words[-1] if words is not None else ""
