"""The heads of functions: types, parameters, default arguments, and what a function returns."""

from __future__ import annotations

import re
from bisect import bisect_left

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarations import Declarations
from cudafix.frontends.cuda.sema.declarators import CLASS_NODES, Declared, declared, default_of, default_value, is_const
from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.frontends.cuda.sema.type_texts import is_pointer, text_of, tidy
from cudafix.ir import Param

_ONE_WORD = re.compile(r"(?<![\w:])[A-Za-z_]\w*\b(?!\s*(?:::|<))")
_OWNS_ALONE = re.compile(r"(?:std::)?unique_ptr\s*<[^;{}]*>")
# default arguments that evaluate nothing, where the parameter is no object
_EVALUATES_NOTHING = frozenset(
    (
        "number_literal null identifier qualified_identifier string_literal char_literal true false sizeof_expression"
    ).split()
)


def base_type(node: Node, text: bytes, index: Declarations) -> str:
    """The type specifier of a declaration or parameter, without qualifiers and storage classes. Other names of plain
    numbers are resolved, and of references: `&` is behind what these refer to, `OPEN` behind what may be one.
    """
    kind = node.child_by_field_name("type")
    if kind is None:
        return ""
    if kind.type in CLASS_NODES or kind.type == "enum_specifier":
        name = kind.child_by_field_name("name")
        if name is None and kind.type == "enum_specifier":
            return "int"  # its values are those of an integer (C++17, 10.2 [dcl.enum] 8)
        return text_of(name, text) if name is not None else f"__anonymous_{kind.start_byte}"
    written = tidy(kind, text)
    if (numbers := index.numbers) and written not in numbers:
        written = _ONE_WORD.sub(lambda word: numbers.get(word[0], word[0]), written)
    return numbers.get(written) or index.references.written_out(written)


def parameters(node: Node | None, text: bytes, index: Declarations) -> tuple[tuple[Param, Node], ...]:
    """The parameters of a parameter list, with the node of each; an unnamed one has the name ``""``."""
    found = []
    for child in node.children if node is not None else ():
        if child.type == "...":  # of C
            found.append((Param("", "..."), child))
            continue
        if child.type not in (
            "parameter_declaration",
            "optional_parameter_declaration",
            "variadic_parameter_declaration",
        ):
            continue
        base = base_type(child, text, index)
        inner = child.child_by_field_name("declarator")
        one = declared(base, inner, text) if inner is not None else None
        written = text_of(inner, text) if inner is not None else ""
        rvalue = written.startswith("&&")
        if one is None:
            pointer = "*" in written
            kind = base.removesuffix(OPEN).removesuffix(" &") + " *" * pointer
            is_open = base.endswith(OPEN) and not ("&" in written or pointer)
            refers = "&" in written or (base != kind and not pointer)
            if not (base == "void" and not written):
                optional = child.child_by_field_name("default_value") is not None
                constant = "*" not in written and base == kind and any(map(is_const, child.children))
                default = default_of(child, kind, text)
                found.append((Param("", kind, refers, default, optional, constant, rvalue, is_open), child))
        else:
            kind = one.type
            if kind.endswith("[]") and not one.reference:  # an array parameter is a pointer
                kind = kind.removesuffix("[]")
                kind += "*" if kind.endswith("*") else " *"
            if child.type == "variadic_parameter_declaration":
                kind += "..."
            optional = child.type == "optional_parameter_declaration"
            constant = (
                one.reference and not base.endswith("&") and "*" not in kind and any(map(is_const, child.children))
            )
            default = default_of(child, kind, text)
            found.append((Param(one.name, kind, one.may_refer, default, optional, constant, rvalue, one.open), child))
    return tuple(found)


def evaluates(one: Declared, text: bytes, found: Declarations) -> bool:
    """Whether a default argument of a declaration may do something, or make an object of a class that is seen."""
    for param, node in parameters(one.parameters, text, found):
        value = default_value(node)
        is_object = not is_pointer(param.type) and found.class_of(param.type) is not None
        if value is None:
            continue
        if is_object or not (value.type in _EVALUATES_NOTHING or text_of(value, text) == "{}"):
            return True
        if found.names_object(text_of(value, text)):  # it is converted
            return True
        if value.type == "identifier" and found.may_have_unseen_macros():
            return True
    return False


def hidden_qualifiers(qualifiers: tuple[tuple[int, str], ...], start: int, end: int) -> set[str]:
    """The CUDA qualifiers between two offsets that a mask hid."""
    first = bisect_left(qualifiers, (start, ""))
    words: set[str] = set()
    while first < len(qualifiers) and qualifiers[first][0] < end:
        words.update(qualifiers[first][1].split())
        first += 1
    return words


def returned(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    """What a function returns by value: its type in front, or behind its parameters."""
    kind = result(found, one, declarator, text)
    return "" if kind.endswith("&") else kind.removesuffix(OPEN)


def referred(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    """To what a function returns a reference."""
    kind = result(found, one, declarator, text)
    return kind.rstrip("&? ").removeprefix("const ") if kind.endswith(("&", OPEN)) else ""


def result(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    if one.may_refer:
        return one.type + (" &" if one.reference else OPEN)
    if one.type.startswith("auto"):
        for child in declarator.named_children:
            if child.type == "trailing_return_type":
                return found.references.written_out(text_of(child, text).removeprefix("->").strip())
    if one.type == "auto":
        return _owner_in(declarator, text) or one.type
    return one.type


def _owner_in(declarator: Node, text: bytes) -> str:
    """The type of the smart pointers that all statements `return std::unique_ptr<T, D>(p);` of a function make, which
    is what it returns (C++17, 10.1.7.4.1 [dcl.type.auto.deduct] 4); empty if they make something else.
    """
    definition = declarator.parent
    body = definition.child_by_field_name("body") if definition is not None else None
    stack, kinds = [body] if body is not None else [], set[str]()
    while stack:
        node = stack.pop()
        if node.type == "return_statement":
            value = next((child for child in node.named_children if child.type != "comment"), None)
            named = "function" if value is not None and value.type == "call_expression" else "type"
            made = value.child_by_field_name(named) if value is not None else None
            kinds.add(text_of(made, text) if made is not None else "")
        elif node.type != "lambda_expression" and node.type not in CLASS_NODES:
            stack += node.children
    kind = kinds.pop() if len(kinds) == 1 else ""
    return kind if _OWNS_ALONE.fullmatch(kind) is not None else ""
