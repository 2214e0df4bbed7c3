"""Which numbers decide what a statement touches: indices of buffers and streams, device numbers, rounds of a loop.

A function that works on the host alone and stores only numbers is passed over (`facts.slicing`), and what
was known of the places that it stores in would be out of date: `buffer[current]` is another buffer after `flip()`. So a
store counts where the number may decide. Variables at namespace scope are told apart by name, fields by name whatever
the object, local variables by function. From what decides, the flow of numbers through assignments, arguments and
results is followed backwards; no order of statements is known. An index into numbers decides if one of these does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import played_by
from cudafix.ordering.facts import ranges
from cudafix.ordering.facts.plain import holds_numbers, is_number, may_lead

Key: TypeAlias = tuple[str, str]
"""The function of a local variable, or nothing where others see the variable, and its name. Fields start with a dot."""
_DECIDING = frozenset(("device", "flags"))
_RESULT = "%result"


class Flow(NamedTuple):
    """What decides in one function, and where that comes from: pairs of a place and what flows into it."""

    decides: frozenset[Key]
    feeds: tuple[tuple[Key, frozenset[Key]], ...]


def deciding(program: Program, tables: Tables) -> frozenset[Key]:
    """The variables and fields whose number may decide."""
    return program.kept("deciding", lambda: _deciding(program, tables))


def owner(function: ir.Function) -> str:
    """The function of a local variable, as its key says it. A lambda shares the variables of the function around it."""
    return last(function.name.partition(ir.LAMBDA)[0])


def _deciding(program: Program, tables: Tables) -> frozenset[Key]:
    feeds: dict[Key, set[Key]] = defaultdict(set)
    found: set[Key] = set()
    for function in program.functions():
        flow = function.kept("flow of numbers", lambda f: _flow(f, tables))
        found |= flow.decides
        for place, values in flow.feeds:
            feeds[place] |= values
    queue = list(found)
    while queue:
        fresh = feeds.get(queue.pop(), set()) - found
        found |= fresh
        queue += fresh
    return frozenset(found)


def _flow(function: ir.Function, tables: Tables) -> Flow:
    here = owner(function)
    decides: set[Key] = set()
    feeds: list[tuple[Key, frozenset[Key]]] = []

    def keys(expr: ir.Expr | None) -> frozenset[Key]:
        return frozenset(keys_of(expr, here, function.types)) if expr is not None else frozenset()

    def flows(into: Iterable[Key], values: frozenset[Key], leads: bool) -> None:
        """`leads`: what is stored may be an address, through which what it is the address of changes."""
        for key in into:
            feeds.append((key, values))
            if leads:
                feeds.extend((value, frozenset({key})) for value in values)

    for n, param in enumerate(function.params):
        leads = param.by_reference or "*" in param.type or "[" in param.type or not param.type
        flows([(here, param.name)], frozenset({(last(function.name), str(n))}), leads)
    for stmt in function.statements:
        for expr in _picking(stmt):
            for one in ir.variables(expr):
                if not isinstance(one, ir.Index):
                    continue
                if holds_numbers(one.base, function):  # which of them matters where the numbers do
                    feeds += [(key, keys(one.index)) for key in keys(one.base)]
                else:
                    decides |= keys(one.index)
        match stmt:
            case ir.Assign(target, value):
                flows(_stored_in(target, here, function.types), keys(value), _may_store(target, value, function))
            case ir.Return(value):
                flows([(last(function.name), _RESULT)], keys(value), may_lead(value, function))
            case ir.Loop() if ranges.picks(stmt):
                decides |= {key for bound in ranges.numbers(stmt) for key in keys(bound)}
            case ir.Call():
                api = tables.lookup(stmt.callee, len(stmt.args)) if stmt.receiver is None else None
                given = played_by(api, stmt.args) if api is not None else ()
                decides |= {key for role, e in given if role in _DECIDING for key in keys(e)}
                into = list(_stored_in(stmt.result, here, function.types)) if stmt.result is not None else []
                if stmt.receiver is not None:  # a container keeps what it is given, and gives it back
                    held = keys(stmt.receiver)
                    for arg in stmt.args:
                        flows(held, keys(arg), not isinstance(arg, ir.Opaque | ir.Const))
                    flows(into, held, not is_number(stmt.result, function))
                if api is not None and api.returns in ("same", "element", "view", "given", "keeper"):
                    for arg in stmt.args:
                        flows(into, keys(arg), not is_number(stmt.result, function))
                for name in map(last, ir.names_of(stmt.callee)):
                    for n, arg in enumerate(stmt.args):
                        flows([(name, str(n))], keys(arg), not isinstance(arg, ir.Opaque | ir.Const))
                    flows(into, frozenset({(name, _RESULT)}), not is_number(stmt.result, function))
            case _:
                pass
    return Flow(frozenset(decides), tuple(feeds))


def _may_store(target: ir.Expr | None, value: ir.Expr | None, function: ir.Function) -> bool:
    """Whether what is stored in a place may be an address."""
    return not is_number(target, function) and (value is None or may_lead(value, function))


def _picking(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement that may lead to buffers, streams or events."""
    yield from ir.given_to(stmt)
    match stmt:
        case ir.Call(result=result) if result is not None:
            yield result
        case ir.Assign(target, value):
            yield from (target, value)
        case ir.Return(value) if value is not None:
            yield value
        case ir.If(test) if test.place is not None:
            yield test.place
        case ir.Unknown():
            yield from stmt.parts
        case _:
            pass


def _stored_in(place: ir.Expr, here: str, types: Mapping[str, str]) -> Iterator[Key]:
    """What a store in a place changes: not the number that says which element."""
    while isinstance(place, ir.Index):
        place = place.base
    return keys_of(place, here, types)


def keys_of(expr: ir.Expr, here: str, types: Mapping[str, str]) -> Iterator[Key]:
    """What a number comes from: variables and fields."""
    match expr:
        case ir.Var(name):
            if ":" not in name:
                yield here, name
            if ":" in name or not (name in types or name == "this" or name.startswith("%")):
                yield "", name.removeprefix("::")  # or declared in a header, which the front end does not see
        case ir.Field(base, name):
            yield "", f".{name}"
            for inner in ir.variables(base):
                if isinstance(inner, ir.Index):
                    yield from keys_of(inner.index, here, types)
        case ir.Index(base, index):
            yield from keys_of(base, here, types)
            yield from keys_of(index, here, types)
        case ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
            yield from keys_of(base, here, types)
        case ir.Choice(parts) | ir.Opaque(parts):
            for part in parts:
                yield from keys_of(part, here, types)
        case _:
            pass
