"""The types of the parameters of a function in one spelling, by which a declaration is found to be that of a definition
(C++17, 11.3.5 [dcl.fct] 5, 16.1 [over.load] 3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarators import declared
from cudafix.ir import Param

Meanings: TypeAlias = Callable[[str], tuple[str, ...]]
"""What a name of a type stands for; nothing for that of a class, and `PARAMETER` for one of a template."""

PARAMETER = "%"
_TOKENS = re.compile(r"::|&&|\.\.\.|\w+|[^\w\s]")
_ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\b__attribute__\s*\(\(.*?\)\)")
_SAYS_NOTHING = frozenset(
    "volatile register struct class union enum typename template __restrict__ __restrict restrict signed".split()
)
_SIZES = ("unsigned", "short", "long", "char", "double")
_MOST_MEANINGS = 8  # names of types that stand for each other


def signature(listed: Sequence[tuple[Param, Node]], text: bytes, meanings: Meanings) -> tuple[str, ...]:
    """The types of these parameters. Two that differ may be one type where a name stands for something that is not
    seen.
    """
    return tuple(_spelled(param, node, text, meanings) for param, node in listed)


def qualifiers(node: Node, text: bytes) -> Iterator[str]:
    """Those of a method, behind its parameters (C++17, 11.3.5 [dcl.fct] 6): `node` is its definition, or in its
    declarator.
    """
    at: Node | None = node
    while at is not None and at.type != "function_declarator":
        at = at.child_by_field_name("declarator") if node.type == "function_definition" else at.parent
    for child in at.children if at is not None else ():
        if child.type in ("type_qualifier", "ref_qualifier"):
            yield f"() {text[child.start_byte : child.end_byte].decode('utf-8', 'replace')}"


def _spelled(param: Param, node: Node, text: bytes, meanings: Meanings) -> str:
    if node.type == "...":
        return "..."
    value = node.child_by_field_name("default_value")
    end = value.start_byte if value is not None else node.end_byte
    written = text[node.start_byte : end]
    inner = node.child_by_field_name("declarator")
    one = declared("", inner, text) if inner is not None and param.name else None
    if one is not None:
        start, behind = one.node.start_byte - node.start_byte, one.node.end_byte - node.start_byte
        written = written[:start] + b" " + written[behind:]
    kind = _ATTRIBUTES.sub(" ", written.decode("utf-8", "replace"))
    if value is not None:
        kind = kind.rstrip().removesuffix("=")
    return " ".join(_in_order(list(_meant(list(_unqualified(kind)), meanings))))


def _unqualified(kind: str) -> Iterator[str]:
    """The parts of a type, without the scopes of its names, and with a pointer for an array."""
    found: list[str] = []
    brackets = 0
    for part in _TOKENS.findall(kind):
        if part == "[":
            brackets += 1
        if brackets:
            brackets -= part == "]"
            if part == "]" and not brackets:
                found.append("*")
        elif part == "::":
            while found and found[-1] == ">":  # the arguments of what the name is a member of
                depth = 0
                while found:
                    depth += {">": 1, "<": -1}.get(found.pop(), 0)
                    if not depth:
                        break
            if found and found[-1].isidentifier():
                found.pop()
        elif part not in _SAYS_NOTHING:
            found.append(part)
    yield from found


def _meant(tokens: list[str], meanings: Meanings) -> Iterator[str]:
    """These parts with what other names of types stand for."""
    for name in tokens:
        known, part = {name}, name
        for _ in range(_MOST_MEANINGS if part.isidentifier() else 0):
            kinds = meanings(part)
            parts = list(_unqualified(kinds[0])) if len(kinds) == 1 else []
            if len(parts) != 1 or parts[0] in known:
                if parts and not known.intersection(parts):
                    yield from _meant(parts, meanings)
                    part = ""
                break
            part = parts[0]
            known.add(part)
        if part:
            yield part


def _in_order(tokens: list[str]) -> list[str]:
    """A type with its words in one order: `int const *` is `const int *`, and `const` of the whole is none."""
    depth, parts, current = 0, list[list[str]](), list[str]()
    for word in tokens:
        depth += {"<": 1, ">": -1, "(": 1, ")": -1}.get(word, 0)
        current.append(word)
        if word in ("*", "&", "&&") and not depth:
            parts.append(current)
            current = []
    found: list[str] = []
    for number, part in enumerate((*parts, current)):
        last = number == len(parts)
        words = [word for word in part if not (last and word == "const")]
        numbers = sorted(word for word in words if word in _SIZES)
        if numbers:
            words = numbers + [word for word in words if word != "int" and word not in _SIZES]
        constant = "const" in words
        found += ["const"] * constant + [word for word in words if word != "const"]
    return found
