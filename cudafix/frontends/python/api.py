"""Calls of the CUDA API: check functions around them, results in tuples, where text may be inserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings, checks
from cudafix.frontends.python.checks import Parts, Result, Symbol
from cudafix.frontends.python.containers import Containers
from cudafix.frontends.python.lowering import ApiCall
from cudafix.frontends.python.meaning import (
    Dotted,
    OwnFunction,
)
from cudafix.frontends.python.nodes import only_part
from cudafix.frontends.python.styles import Style
from cudafix.frontends.python.terms import NONE, NOTHING, literal
from cudafix.ir import Addr, Const, Expr, Index, Look, Site, Span
from cudafix.models.python import PARAMETERS

_LAUNCHES = {
    "cuLaunchKernel": (8, 9),
    "cuLaunchCooperativeKernel": (8, 9),
    "cudaLaunchKernel": (5, 3),
    "cudaLaunchCooperativeKernel": (5, 3),
}  # positions of the stream and of the kernel's arguments
_DIRECTIONS = ("HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default")


class Api(Containers):
    """Lowers calls of the modules that bind C functions."""

    def api_call(self, node: cst.BaseExpression) -> ApiCall | None:
        """A call of the API, with the check functions and subscripts around it; None for anything else."""
        if isinstance(node, cst.Subscript):
            inner = self.api_call(node.value)
            index = only_part(node.slice)
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
        if self.is_patched(meaning):
            return None
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

    def is_patched(self, meaning: object) -> bool:
        """Whether the program puts something else in the place of what a package has under this name, perhaps through
        another name of the package. Built-in functions have no other name.
        """
        if not isinstance(meaning, Dotted):
            return False
        methods, (package, _, name) = self.unit.methods, meaning.name.rpartition(".")
        return name in methods.patched or (package != "builtins" and name in methods.replaced)

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
            order = in_order(node.args, (NOTHING,) * len(node.args), names)
            if order is None or len(order) != len(node.args):
                return None, ()
            placed = in_order(node.args, tuple(self.value(a.value) for a in node.args), names)
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


def in_order(
    arguments: Sequence[cst.Arg],
    values: tuple[Expr, ...],
    parameters: tuple[str, ...],
    defaults: Mapping[int, str] | None = None,
) -> tuple[Expr, ...] | None:
    """The values in the order of these parameters, up to the last one that is given; None where one has no place.
    `defaults`: the values of those that are not given, where they are known.
    """
    placed: dict[int, Expr] = {}
    for number, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        name = argument.keyword.value if argument.keyword is not None else None
        if argument.star or (name is not None and name not in parameters):
            return None
        at = number if name is None else parameters.index(name)
        if at in placed:
            return None
        placed[at] = value
    assumed: dict[int, Expr] = {at: Const(text) for at, text in (defaults or {}).items()}
    return tuple((assumed | placed).get(at, NOTHING) for at in range(max(placed, default=-1) + 1))
