"""Walking over libcst trees: only what has a meaning, without white space and punctuation, and without a visitor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

import libcst as cst

_LAYOUT = ("whitespace", "lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "leading_lines", "lines_after")
_SKIPPED = frozenset(("header", "footer", "comma", "semicolon", "trailing_whitespace", "indent", "dot", "newline"))
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}
_NODES: dict[type, bool] = {}  # whether a type is one of nodes: `isinstance` is slow for their abstract base class


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below a node."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(
            f.name for f in fields(kind) if not f.name.startswith(_LAYOUT) and f.name not in _SKIPPED
        )
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if _is_node(value):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += [one for one in value if _is_node(one)]
    return found


def _is_node(value: object) -> bool:
    kind = type(value)
    known = _NODES.get(kind)
    if known is None:
        known = _NODES[kind] = issubclass(kind, cst.CSTNode)
    return known


def only_part(parts: Sequence[cst.SubscriptElement]) -> cst.BaseSlice | None:
    """What stands between the brackets of a subscript, if that is no tuple: `x[1,]` is `x[(1,)]`."""
    one, *others = parts
    starred = isinstance(one.slice, cst.Index) and one.slice.star is not None
    return one.slice if not others and not starred and not isinstance(one.comma, cst.Comma) else None


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and everything below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += reversed(children(current))


def walk_own(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """As `walk`, but functions and classes inside (lambdas too) are only named, not entered."""
    stack = [node]
    first = True
    while stack:
        current = stack.pop()
        yield current
        if first or not isinstance(current, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            stack += reversed(children(current))
        first = False
