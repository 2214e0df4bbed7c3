"""Loops that fill an empty list with one element a round: what a round appends stands at the index of the round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from cudafix.frontends.python.meaning import Scope
from cudafix.frontends.python.names import chain
from cudafix.frontends.python.nodes import walk, walk_own

_LEAVES = (cst.Break, cst.Continue, cst.Return, cst.Yield, cst.Await)


def filled(before: Sequence[cst.BaseStatement], loop: cst.For, scope: Scope | None) -> list[cst.Call]:
    """The calls of `append` in a loop each of which runs once a round, and fills a list that is empty where the loop
    begins and that nobody else can name. `before` are the statements in front of the loop.
    """
    if scope is None or not isinstance(loop.body, cst.IndentedBlock) or loop.asynchronous is not None:
        return []
    if any(isinstance(one, _LEAVES) for one in walk_own(loop.body)):
        return []
    found: dict[str, list[cst.Call]] = {}
    for line in loop.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute() as func) as call)]):
                words = chain(func.value)
                if func.attr.value == "append" and words is not None and len(call.args) == 1 and not call.args[0].star:
                    found.setdefault(".".join(words), []).append(call)
    return [
        calls[0]
        for name, calls in found.items()
        if len(calls) == 1 and _is_own(name, scope, loop) and _is_empty(name, before) and _only_filled(name, loop)
    ]


def _is_own(name: str, scope: Scope, loop: cst.For) -> bool:
    """Whether no other function can change what this names: a variable of this one, or a field of an object that is
    being made, which nobody has yet.
    """
    this, _, field = name.partition(".")
    if not field:
        return scope.owner(name) is scope and name not in scope.shared and name not in scope.params
    node = scope.node
    if not isinstance(node, cst.FunctionDef) or node.name.value != "__init__" or this != scope.this or "." in field:
        return False
    inside = list(walk(node.body))
    of_this = [one for one in inside if isinstance(one, cst.Attribute) and _is_name(one.value, this)]
    called = [one.func for one in inside if isinstance(one, cst.Call)]
    names = sum(_is_name(one, this) for one in inside)
    return names == len(of_this) and not any(one is func for one in of_this for func in called)


def _is_empty(name: str, before: Sequence[cst.BaseStatement]) -> bool:
    """Whether a list is new and empty behind these statements."""
    for line in reversed(before):
        if not any(_names(one, name) for one in walk(line)):
            continue
        match line:
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]):
                return _names(target, name) and isinstance(value, cst.List) and not value.elements
            case cst.SimpleStatementLine(body=[cst.AnnAssign(target=target, value=cst.List() as value)]):
                return _names(target, name) and not value.elements
        return False
    return False


def _only_filled(name: str, loop: cst.For) -> bool:
    """Whether a loop does no more with a list than to append to it, and to read elements of it."""
    inside = list(walk(loop))
    read = [one.value for one in inside if isinstance(one, cst.Subscript)]
    appended = [one.value for one in inside if isinstance(one, cst.Attribute) and one.attr.value == "append"]
    stored = [one for line in inside for one in _targets(line)]
    named = [one for one in inside if _names(one, name)]
    allowed = sum(any(one is other for other in (*read, *appended)) for one in named)
    return len(named) == allowed and not any(_names(part, name) for one in stored for part in walk(one))


def _targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    match node:
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            yield target
        case cst.Del(target=target) | cst.For(target=target) | cst.NamedExpr(target=target):
            yield target
        case cst.With(items=items):
            yield from (item.asname for item in items if item.asname is not None)


def _names(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is this variable, or this field of one."""
    return isinstance(node, cst.Name | cst.Attribute) and ".".join(chain(node) or ["?"]) == name


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
