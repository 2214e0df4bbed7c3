"""Python's own syntax trees of the files of a program, for questions about what is mentioned in them."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from cudafix.frontends.python.uses import File

_PARSED: WeakKeyDictionary[File, ast.Module | None] = WeakKeyDictionary()


def parsed(file: File) -> ast.Module | None:
    """The syntax tree of a file; None where it has none."""
    if file not in _PARSED:
        try:
            _PARSED[file] = ast.parse(file.source.module.code)
        except (SyntaxError, ValueError):
            _PARSED[file] = None
    return _PARSED[file]


def words(node: ast.expr) -> list[str] | None:
    """`a.b.c` as words; None for anything else."""
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.append(node.attr)
        node = node.value
    return [node.id, *found[::-1]] if isinstance(node, ast.Name) else None
