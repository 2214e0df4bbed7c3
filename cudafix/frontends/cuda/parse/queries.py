"""Captures of tree-sitter queries in the order of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter


def captures(query: tree_sitter.Query, node: tree_sitter.Node) -> dict[str, list[tree_sitter.Node]]:
    """The nodes that each capture of a query has below `node`, outer ones first: the package has them in no order."""
    from tree_sitter import QueryCursor  # not every run parses

    found = QueryCursor(query).captures(node)
    return {name: sorted(nodes, key=_in_order) for name, nodes in found.items()}


def _in_order(node: tree_sitter.Node) -> tuple[int, int, int]:
    return node.start_byte, -node.end_byte, -node.descendant_count
