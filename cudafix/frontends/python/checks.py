"""Check functions: what `check(cudart.cudaMalloc(n))` returns, found out by running its body on the shape of a tuple.

Calls of cuda-python return a tuple, the status first. Every project has a function that looks at the status, raises
or ends the program if it is an error, and returns the rest in its own way. The body is run here on symbols: the
status, the results by position, and `PLAIN` for anything else. A branch that depends on the length of the tuple is
decided, one that depends on the status is taken both ways, and what raises or exits is left out. A body that does
anything else is no check function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

from cudafix.frontends.python.names import chain
from cudafix.frontends.python.nodes import only_part


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the call at this position: 0 is the first one behind the status."""

    position: int


@dataclass(frozen=True, slots=True)
class Mark:
    name: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A tuple of symbols."""

    items: tuple[Symbol, ...]


Symbol: TypeAlias = Result | Mark | Parts
STATUS = Mark("status")  # the status, or something that is computed from it alone
NONE = Mark("none")
PLAIN = Mark("plain")

# What a check function may call: error names, formatting, output, and the ways to stop.
_HARMLESS = re.compile(
    r"(?:\w+\.)*(?:cudaGetErrorName|cudaGetErrorString|cuGetErrorName|cuGetErrorString|nvrtcGetErrorString|_?\w*[eE]rr\w*"
    r"|isinstance|len|str|int|repr|type|tuple|list|print|format|hasattr|getattr|join|decode|format_exc|stack|print_exc"
    r"|log|error|warning|info|debug|critical|exception|exit|_exit|abort|RuntimeError|ValueError|TypeError|Exception"
    r"|AssertionError|SystemExit|Exception|currentframe|getframeinfo|_cudaGetErrorEnum|bool)"
)
_STOPS = re.compile(r"(?:sys\.|os\.)?(?:exit|_exit|abort|quit)")


class _NoCheckError(Exception):
    """The body does something that a check does not do."""


class _Stopped(Exception):
    """What ends a path that raises or exits."""


class _Returned(Exception):
    def __init__(self, value: Symbol) -> None:
        self.value = value


def returned(function: cst.FunctionDef, arguments: tuple[Symbol, ...]) -> Symbol | None:
    """What a check function returns for these arguments when there is no error; None if it is no check function."""
    if function.asynchronous is not None:
        return None
    names: dict[str, Symbol] = {}
    params = [p.name.value for p in function.params.params]
    if params[:1] in (["self"], ["cls"]) and not any(
        isinstance(d.decorator, cst.Name) and d.decorator.value == "staticmethod" for d in function.decorators
    ):
        params = params[1:]
    star = function.params.star_arg
    if isinstance(star, cst.Param):
        names[star.name.value] = Parts(arguments[len(params) :])
    elif len(arguments) > len(params):
        return None
    names.update(zip(params, arguments, strict=False))
    for param in (*function.params.params, *function.params.kwonly_params):
        names.setdefault(param.name.value, PLAIN)
    try:
        _Run(names).suite(function.body)
    except _Returned as end:
        return end.value
    except (_NoCheckError, _Stopped):
        return None
    return NONE


class _Run:
    def __init__(self, names: dict[str, Symbol]) -> None:
        self.names = names

    def suite(self, body: cst.BaseSuite) -> None:
        for statement in body.body:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self.small(small)
            elif isinstance(statement, cst.BaseSmallStatement):
                self.small(statement)
            elif isinstance(statement, cst.If):
                self.branch(statement)
            elif not isinstance(statement, cst.FunctionDef):
                raise _NoCheckError

    def small(self, node: cst.BaseSmallStatement) -> None:
        match node:
            case cst.Return(value):
                raise _Returned(NONE if value is None else self.value(value))
            case cst.Raise():
                raise _Stopped
            case cst.Assign(targets, value):
                symbol = self.value(value)
                for target in targets:
                    self.assign(target.target, symbol)
            case cst.Expr(value):
                if isinstance(value, cst.Call):
                    words = chain(value.func)
                    if words is not None and _STOPS.fullmatch(".".join(words)):
                        raise _Stopped
                self.value(value)
            case cst.Assert(test):
                self.value(test)
            case cst.Pass() | cst.Import() | cst.ImportFrom() | cst.Global():
                pass
            case _:
                raise _NoCheckError

    def assign(self, target: cst.BaseExpression, symbol: Symbol) -> None:
        if isinstance(target, cst.Name):
            self.names[target.value] = symbol
        elif isinstance(target, cst.Tuple | cst.List) and isinstance(symbol, Parts):
            stars = [n for n, e in enumerate(target.elements) if isinstance(e, cst.StarredElement)]
            wanted, given = len(target.elements), len(symbol.items)
            if len(stars) > 1 or (not stars and wanted != given) or given < wanted - len(stars):
                raise _Stopped  # it cannot be unpacked: Python raises
            at = stars[0] if stars else wanted
            behind = wanted - at - 1
            items = list(symbol.items)
            values: list[Symbol] = items[:at]
            if stars:
                values += [Parts(tuple(items[at : given - behind])), *items[given - behind :]]
            for element, value in zip(target.elements, values, strict=True):
                self.assign(element.value, value)
        else:
            raise _NoCheckError

    def branch(self, node: cst.If) -> None:
        decided = self.decided(node.test)
        if decided is not None:
            if decided:
                self.suite(node.body)
            else:
                self.other(node.orelse)
            return
        self.value(node.test)
        before = dict(self.names)
        ends: list[tuple[dict[str, Symbol], Symbol | None]] = []
        for way in (0, 1):
            self.names = dict(before)
            try:
                if way:
                    self.other(node.orelse)
                else:
                    self.suite(node.body)
                ends.append((self.names, None))
            except _Stopped:
                continue
            except _Returned as end:
                ends.append((self.names, end.value))
        if not ends:
            raise _Stopped
        if any(end != ends[0] for end in ends[1:]):
            raise _NoCheckError
        self.names, value = ends[0]
        if value is not None:
            raise _Returned(value)

    def other(self, node: cst.If | cst.Else | None) -> None:
        if isinstance(node, cst.If):
            self.branch(node)
        elif node is not None:
            self.suite(node.body)

    def decided(self, test: cst.BaseExpression) -> bool | None:
        """Whether a test about the length of a tuple holds."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            inner = self.decided(test.expression)
            return None if inner is None else not inner
        if isinstance(test, cst.Name):
            symbol = self.names.get(test.value)
            if isinstance(symbol, Parts):
                return bool(symbol.items)
        if isinstance(test, cst.Call) and isinstance(test.func, cst.Name) and test.func.value == "isinstance":
            symbol = self.value(test.args[0].value) if test.args else PLAIN
            kind = chain(test.args[1].value) if len(test.args) == 2 else None
            if kind == ["tuple"]:
                return isinstance(symbol, Parts)
        length = self.length(test)
        if length is not None:
            return length > 0
        if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
            left = self.length(test.left)
            right = test.comparisons[0].comparator
            if left is not None and isinstance(right, cst.Integer):
                number = int(right.value)
                match test.comparisons[0].operator:
                    case cst.Equal():
                        return left == number
                    case cst.NotEqual():
                        return left != number
                    case cst.GreaterThan():
                        return left > number
                    case cst.GreaterThanEqual():
                        return left >= number
                    case cst.LessThan():
                        return left < number
                    case cst.LessThanEqual():
                        return left <= number
        return None

    def length(self, node: cst.BaseExpression) -> int | None:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len" and node.args:
            symbol = self.value(node.args[0].value)
            if isinstance(symbol, Parts):
                return len(symbol.items)
        return None

    def value(self, node: cst.BaseExpression) -> Symbol:
        match node:
            case cst.Name(value="None"):
                return NONE
            case cst.Name(value=name):
                return self.names.get(name, PLAIN)
            case cst.Tuple(elements) | cst.List(elements):
                return self._tuple(elements)
            case cst.Subscript(value=inner, slice=index):
                return self._element(self.value(inner), index)
            case cst.Attribute(value=inner):
                return STATUS if self.value(inner) == STATUS else PLAIN
            case cst.IfExp(test=test, body=body, orelse=orelse):
                decided = self.decided(test)
                if decided is not None:
                    return self.value(body if decided else orelse)
                self.value(test)
                one, two = self.value(body), self.value(orelse)
                if one != two and not {one, two} <= {STATUS, PLAIN, NONE}:
                    raise _NoCheckError
                return PLAIN
            case cst.Call():
                return self._call(node)
            case cst.BaseString() | cst.BaseNumber():
                return PLAIN
            case cst.Comparison(left=left, comparisons=comparisons):
                self.value(left)
                for comparison in comparisons:
                    self.value(comparison.comparator)
                return PLAIN
            case cst.BooleanOperation(left=left, right=right) | cst.BinaryOperation(left=left, right=right):
                self.value(left)
                self.value(right)
                return PLAIN
            case cst.UnaryOperation(expression=inner):
                self.value(inner)
                return PLAIN
            case _:
                raise _NoCheckError

    def _tuple(self, elements: object) -> Symbol:
        items: list[Symbol] = []
        assert isinstance(elements, list | tuple)
        for element in elements:
            symbol = self.value(element.value)
            if isinstance(element, cst.StarredElement):
                if not isinstance(symbol, Parts):
                    raise _NoCheckError
                items += symbol.items
            else:
                items.append(symbol)
        return Parts(tuple(items))

    def _element(self, symbol: Symbol, index: object) -> Symbol:
        assert isinstance(index, list | tuple)
        if not isinstance(symbol, Parts):
            return PLAIN
        inner = only_part(index)
        if isinstance(inner, cst.Index):
            number = _number(inner.value)
            if number is None:
                raise _NoCheckError
            if not -len(symbol.items) <= number < len(symbol.items):
                raise _Stopped
            return symbol.items[number]
        if isinstance(inner, cst.Slice) and inner.step is None:
            lower = 0 if inner.lower is None else _number(inner.lower)
            upper = len(symbol.items) if inner.upper is None else _number(inner.upper)
            if lower is not None and upper is not None:
                return Parts(symbol.items[lower:upper])
        raise _NoCheckError

    def _call(self, node: cst.Call) -> Symbol:
        words = chain(node.func)
        if words is None and isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.BaseString):
            words = ["str", node.func.attr.value]
        if words is None or not _HARMLESS.fullmatch(".".join(words)):
            raise _NoCheckError
        given = [self.value(argument.value) for argument in node.args]
        if words == ["tuple"] and len(given) == 1 and isinstance(given[0], Parts):
            return given[0]
        return PLAIN


def _number(node: cst.BaseExpression) -> int | None:
    if isinstance(node, cst.Integer):
        return int(node.value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        if isinstance(node.expression, cst.Integer):
            return -int(node.expression.value)
    return None
