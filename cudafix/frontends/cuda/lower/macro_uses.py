"""What macros do outside of functions: hand functions to code that is not seen, and define variables and objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.context import File
from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema.declarations import DEFAULTED_DESTRUCTOR, Definition
from cudafix.ir.names import WORD_IN_BYTES

_DEFINES = re.compile(rb"^(?!\s*(?:extern\s+)?template\b)[^{}]*?(?:=|\b\w+\s+\**\w+(?:\s*##\s*\w+)*\s*[({])")
_SCOPES = frozenset(("namespace_definition", "linkage_specification"))


class Given(NamedTuple):
    """The functions that macros outside of functions name, or are given.

    Code that is not seen may have got those that are `registered`: `REGISTER("f", f)`, `TEST(a, b) { … }`. What macros
    define may call those of `defining` when it is initialized (`#define REGISTER(f) static int r_##f = add(f)`). A
    declaration of a function, and an instantiation of a template, run nothing (C++17, 17.7.2 [temp.explicit]).
    """

    registered: tuple[str, ...]
    defining: tuple[str, ...]


def given_by_macros(file: File, hosts: Sequence[Definition], parsed: Parsed) -> Given:
    """What the macros of a file give, and its functions without a type, which macros begin."""
    untyped = (
        one
        for one in hosts
        if one.node.child_by_field_name("type") is None and (one.cls is None or ir.begun_by_macro(one.cls))
    )
    registered = [one.name for one in untyped if one.name != "main"]
    defining: list[str] = []
    for start, end, in_class in _uses(file, parsed):
        words = WORD_IN_BYTES.findall(parsed.unmasked, start, end)
        bodies = [macro.body for macro in _used(file, words)]
        if any(_DEFINES.search(body) is not None for body in bodies):
            named = [word for body in bodies for word in WORD_IN_BYTES.findall(body)]
            defining += _functions(file, (*named, *words))
        if in_class:
            continue
        declares = DEFAULTED_DESTRUCTOR.fullmatch(parsed.unmasked, start, end) is not None
        for word in words:
            of_body = {one for macro in _used(file, (word,)) for one in WORD_IN_BYTES.findall(macro.body)}
            registered += sorted(_functions(file, of_body if declares else of_body | {word}))
    return Given(tuple(dict.fromkeys(registered)), tuple(dict.fromkeys(defining)))


def _used(file: File, words: Iterable[bytes]) -> list[Macro]:
    """The macros that these words are, and those in their texts."""
    found: dict[str, Macro] = {}
    stack = list(words)
    while stack:
        name = stack.pop().decode()
        if name not in found and (macro := file.macros.get(name)) is not None:
            found[name] = macro
            stack += WORD_IN_BYTES.findall(macro.body)
    return list(found.values())


def is_function(file: File, name: str) -> bool:
    """Whether a function has that name, of another file too."""
    return name in file.hosts or file.index.is_declared_function(name)


def _functions(file: File, words: Iterable[bytes]) -> Iterator[str]:
    return (name for word in words if is_function(file, name := word.decode()))


def _uses(file: File, parsed: Parsed) -> Iterator[tuple[int, int, bool]]:
    """The ranges outside of functions where macros may be used, and whether they are in a class."""
    root = parsed.tree.root_node
    yield from ((start, end, False) for start, end in _between_declarations(root))
    defining = [
        name.encode()
        for name in file.macros
        if any(_DEFINES.search(macro.body) is not None for macro in _used(file, (name.encode(),)))
    ]
    uses = re.finditer(rb"\b(?:%b)\b[^;{}]*" % b"|".join(map(re.escape, defining)), parsed.unmasked)
    for use in uses if defining else ():  # a member is made with each object
        node = root.descendant_for_byte_range(use.start(), use.start() + 1)
        while node is not None and node.type not in ("field_declaration_list", "compound_statement"):
            node = node.parent
        if node is not None and node.type == "field_declaration_list":
            yield *use.span(), True


def _between_declarations(node: Node) -> Iterator[tuple[int, int]]:
    """The ranges of what stands at namespace scope and does not read as a declaration."""
    at = node.start_byte if node.parent is not None else 0
    for child in node.children:
        yield at, child.start_byte
        at = child.end_byte
        if child.type in ("expression_statement", "ERROR"):
            yield child.start_byte, child.end_byte
        inner = child.child_by_field_name("body") if child.type in _SCOPES else None
        if inner is not None:
            yield from _between_declarations(inner)
    yield at, node.end_byte
