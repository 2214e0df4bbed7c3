"""Where statements and functions of a file begin and end, as byte ranges, whatever the configuration."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from cudafix.frontends.cuda.parse import source

_BODIES = frozenset(("compound_statement", "translation_unit", "declaration_list", "field_declaration_list"))
_AROUND = frozenset(("template_declaration", "linkage_specification"))


def statements(path: str, data: bytes) -> list[tuple[int, int]]:
    """The statements that stand in a block, up to the blocks in them.

    `if (x)` with a body without braces is one, body and all; with braces it ends at the brace.
    """
    found: set[tuple[int, int]] = set()
    for node in _nodes(path, data):
        if node.parent is not None and node.parent.type in _BODIES:
            found.update(_parts(node))
    return sorted(found)


def functions(path: str, data: bytes) -> list[tuple[int, int]]:
    """The definitions of functions, with `template <…>` and `extern "C"` in front."""
    found: set[tuple[int, int]] = set()
    for node in _nodes(path, data):
        if node.type == "function_definition":
            outer = node
            while outer.parent is not None and outer.parent.type in _AROUND:
                outer = outer.parent
            found.add((outer.start_byte, outer.end_byte))
    return sorted(found)


def _nodes(path: str, data: bytes) -> Iterator[tree_sitter.Node]:
    for parsed in source.read(path, data):
        stack = [parsed.tree.root_node]
        while stack:
            node = stack.pop()
            yield node
            stack += node.named_children


def _parts(node: tree_sitter.Node) -> Iterator[tuple[int, int]]:
    start = node.start_byte
    for block in _blocks(node):
        yield start, block.start_byte + 1
        start = max(block.end_byte - 1, block.start_byte)
    if start < node.end_byte:
        yield start, node.end_byte


def _blocks(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        if child.type in _BODIES:
            yield child
        else:
            yield from _blocks(child)
