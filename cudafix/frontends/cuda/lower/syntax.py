"""What the syntax of expressions says by itself. `raw` gives the text of a node."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from cudafix.frontends.cuda.sema.names import CASTS

Raw = Callable[[Node], str]
_TEST_OF_STATUS = re.compile(r"[^|?]*[!=]=\s*(?:cuda|CUDA_|\w+_STATUS_)S(?:uccess|UCCESS)", re.DOTALL)


def first_named(node: Node) -> Node | None:
    for child in node.children:
        if child.is_named and child.type != "comment":
            return child
    return None


def is_cast(raw: Raw, node: Node) -> bool:
    """Whether an expression is what a cast gives."""
    while node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
        node = inner
    return node.type == "cast_expression" or cast_argument(raw, node) is not None


def cast_type(raw: Raw, node: Node) -> str:
    """The type of `static_cast<T>(x)` and the like."""
    cast = _cast_head(raw, node)
    written = cast.child_by_field_name("arguments") if cast is not None else None
    return raw(written)[1:-1].strip() if written is not None else ""


def written_type(raw: Raw, node: Node) -> str:
    """The type that a cast gives a value, be it in parentheses; nothing for what is no cast."""
    while node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
        node = inner
    kind = node.child_by_field_name("type") if node.type == "cast_expression" else None
    return raw(kind) if kind is not None else cast_type(raw, node)


def cast_argument(raw: Raw, node: Node) -> Node | None:
    """The argument of `static_cast<T>(x)` and the like."""
    arguments = node.child_by_field_name("arguments") if _cast_head(raw, node) is not None else None
    return first_named(arguments) if arguments is not None else None


def _cast_head(raw: Raw, node: Node) -> Node | None:
    """The `static_cast<T>` of `static_cast<T>(x)` and the like."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "qualified_identifier":  # `std::bit_cast<T>`
        function = function.child_by_field_name("name")
    if function is None or function.type != "template_function":
        return None
    name = function.child_by_field_name("name")
    return function if name is not None and raw(name) in CASTS else None


def counts(raw: Raw, node: Node) -> bool:
    """Whether an assignment steps a number by one that is written, or sets bits of it."""
    if node.type != "assignment_expression":
        return node.type == "update_expression"
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return False
    if operator.type == "=" and right.type == "binary_expression":
        parts = right.child_by_field_name("left"), right.child_by_field_name("right")
        operator = right.child_by_field_name("operator")
        if operator is None or raw(left) not in (raw(one) for one in parts if one is not None):
            return False
        if operator.type == "-" and (parts[0] is None or raw(parts[0]) != raw(left)):
            return False
        right = next((one for one in parts if one is not None and raw(one) != raw(left)), None)
    return (
        right is not None
        and operator is not None
        and operator.type.removesuffix("=") in ("+", "-", "|")
        and right.type == "number_literal"
    )


def is_test_of_status(raw: Raw, node: Node) -> bool:
    """Whether an expression is a comparison of the status of a call with success."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    return node.type == "binary_expression" and _TEST_OF_STATUS.fullmatch(raw(node)) is not None


def is_constant_around(raw: Raw, node: Node, name: str) -> bool:
    """Whether a template around a name has a parameter, or a block around it an enumerator, that is called so."""
    word = re.compile(rf"\b{name}\b")
    at: Node | None = node
    while at is not None:
        parameters = at.child_by_field_name("parameters") if at.type == "template_declaration" else None
        if parameters is not None and word.search(raw(parameters)):
            return True
        if at.type == "compound_statement":
            for listed in re.findall(r"\benum\b[^;{}()]*\{([^{}]*)\}", raw(at)):
                if word.search(listed):
                    return True
        at = at.parent
    return False
