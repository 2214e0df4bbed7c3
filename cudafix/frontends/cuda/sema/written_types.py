"""What the text of a file says about the names of types, wherever they stand: aliases, and names of plain numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from cudafix.frontends.cuda.sema.declarations import Declarations, are_alike, is_given_its_deleter
from cudafix.frontends.cuda.sema.other_names import Form, other_names, stand_for
from cudafix.frontends.cuda.sema.references import gives_references
from cudafix.frontends.cuda.sema.scopes_of_text import ScopesOfText
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number

_TYPE_NAMES = re.compile(rb"\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]|\benum\s+(\w+)")
_ENUMERATIONS = re.compile(rb"\benum\s+(?:(?:class|struct)\s+)?(\w+)")
# `using N::C;`
_BROUGHT = re.compile(rb"\busing\s+(?:typename\s+)?((?:::)?(?:\w+\s*::\s*)+(\w+))\s*;")
_OPENED = re.compile(rb"\busing\s+namespace\s+(?:::)?\s*((?:\w+\s*::\s*)*\w+)")
_CLASS_NAME = re.compile(rb"\b(?:struct|class|union)\s+(\w+)")
_NAMESPACE_ALIASES = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::)?([\w:]+)\s*;")
_MEASURED = re.compile(r"\b(?:decltype|typeof)\b")
_OF_NAMES = frozenset((Form.USING, Form.TYPEDEF))
# a parameter of a template that may be a function: `template <auto F>`, `template <void (*F)(int *)>`
_TEMPLATE = re.compile(rb"\btemplate\s*<")
_END_OF_HEAD = re.compile(rb"[;{}]|\Z")
_AUTO_PARAMETER = re.compile(rb"[<,]?\s*auto\s*(?:\.\.\.\s*)?(\w+)\s*[,>=]")
_FUNCTION_PARAMETER = re.compile(rb"\((?=\s*[*&]\s*(\w+)\s*\)\s*\()")


def names_of_types(
    text: bytes,
    visible: Declarations | None,
    numbers: dict[str, str],
    spelled: Mapping[str, str],
    renames: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]],
    acting: frozenset[str],
) -> Declarations:
    """The declarations of a file, of which only the names of types are known (the parameters are those of
    `indexing.index`).
    """
    others = other_names(text)
    found = Declarations(
        numbers=numbers,
        types=frozenset(_names_of_types(text)),
        defined=frozenset(name.decode("utf-8", "replace") for name in _ENUMERATIONS.findall(text))
        | {one.name for one in others if one.form in (Form.ARRAY, Form.ENUMERATION)},
        visible=visible,
        given=frozenset(_function_parameters(text)),
        stand_for={**stand_for(others), **{name: (kind,) for name, kind in spelled.items()}},
        renames=renames,
        acting=acting,
    )
    found.gives_references = gives_references(text, found.references.may_be)

    scopes = ScopesOfText(text)
    found.opened = frozenset(b"".join(one.split()).decode() for one in _OPENED.findall(text))

    def means(name: str, meant: str, known: Iterable[str], at: int = -1) -> None:
        found.aliases[name] = tuple(dict.fromkeys((*known, meant)))
        if at >= 0 and (scope := scopes.at(at)) is not None:
            there = found.aliases_in.setdefault(name, {})
            there[scope] = tuple(dict.fromkeys((*there.get(scope, ()), meant)))
            found.aliased[scope, name] = min(at, found.aliased.get((scope, name), at))

    named = [one for one in others if one.form in _OF_NAMES]
    for one in named:
        if _is_named(of := Type.of(one.kind)):
            means(one.name, of.core, found.aliases.get(one.name, ()), one.start)
    for brought in _BROUGHT.finditer(text):
        name, meant = brought[2].decode("utf-8", "replace"), b"".join(brought[1].split()).decode("utf-8", "replace")
        found.brought.add(name)
        if not f"::{meant}".endswith(f"::{name}::{name}"):  # not the constructors of a base
            means(name, meant, found.aliases.get(name, ()), brought.start())
    for one in named:
        if _MEASURED.search(one.kind) is not None:  # it may be any type
            found.aliases[one.name] = ("decltype",)
    for one in named:
        if is_given_its_deleter(one.kind):
            means(one.name, one.kind, (kind for kind in found.aliases.get(one.name, ()) if kind != "decltype"))
    for new, kind in _NAMESPACE_ALIASES.findall(text):
        found.opens(new.decode(), kind.decode("utf-8", "replace"))
    return found


def _names_of_types(text: bytes) -> Iterator[str]:
    """The names of types that are no classes, and parameters of templates, each as often as the text has it."""
    for names in _TYPE_NAMES.findall(text):
        yield from (name.decode("utf-8", "replace") for name in names if name)
    yield from (one.name for one in other_names(text) if one.form in (*_OF_NAMES, Form.FUNCTION))


def _is_named(of: Type) -> bool:
    """Whether a type is a name, perhaps with template arguments, and nothing else."""
    whole = of.core.endswith(">") if of.arguments else bool(of.name)
    return whole and not (of.marks or of.qualified or "(" in of.core or " " in of.template)


def names_of_numbers(
    text: bytes, original: bytes, macros: Mapping[str, bytes], visible: Declarations | None
) -> dict[str, str]:
    """The other names of plain numbers in a file, and the types that they mean: those of `macros`, which are types, and
    those that `text` defines and that mean the same wherever `original` defines them, in other configurations too, or
    a floating number everywhere: of others it is not known whether they may be an index, or may hold an address.
    """
    known = dict(visible.numbers) if visible is not None else {}
    own = _defined_as_numbers(text, known)
    if own or known:
        everywhere = _defined_as_numbers(original, known)
        defined, classes = _defined_types(original)
        known = {name: kind for name, kind in known.items() if name not in defined}
        for name, (*_, kind) in own.items():
            kinds = everywhere.get(name, ())
            if len(kinds) == defined[name] and name not in classes and are_alike(kinds):
                known[name] = kind
    for name, body in macros.items():
        if is_number(kind := body.decode("utf-8", "replace")):
            known[name] = kind
    return known


def names_of_either(original: bytes, numbers: Mapping[str, str]) -> frozenset[str]:
    """Those of the names of numbers that a file defines as several floating types, one in each configuration."""
    kinds = _defined_as_numbers(original, {}) if numbers else {}
    return frozenset(name for name in numbers.keys() & kinds.keys() if len(set(kinds[name])) > 1)


@lru_cache(maxsize=64)
def _defined_types(original: bytes) -> tuple[Counter[str], frozenset[str]]:
    """How often a file defines each name of a type that is no class, and the names of classes; kept for its next
    configuration.
    """
    return Counter(_names_of_types(original)), frozenset(name.decode() for name in _CLASS_NAME.findall(original))


def _defined_as_numbers(text: bytes, known: Mapping[str, str]) -> dict[str, list[str]]:
    """The other names of plain numbers and of pointers to them."""
    found: dict[str, list[str]] = {}
    for one in other_names(text):
        of = Type.of(one.kind)
        if one.form not in _OF_NAMES or not all(mark == "*" for mark in of.marks):
            continue
        written = of.core if of.marks else one.kind
        kinds = found.get(written, [known.get(written, written)])
        if of.marks and (is_number(kinds[-1]) or kinds[-1] == "void"):
            found.setdefault(one.name, []).append(f"{kinds[-1]} {'*' * len(of.marks)}")
        elif not of.marks and is_number(kinds[-1]) and are_alike(kinds):
            found.setdefault(one.name, []).append(kinds[-1])
    return found


def _function_parameters(text: bytes) -> Iterator[str]:
    """The first parameter that may be a function in the head of each template, or behind it."""
    for template in _TEMPLATE.finditer(text):
        end = _END_OF_HEAD.search(text, template.end())
        head = text[template.end() : end.start() if end is not None else len(text)]
        auto, pointer = _AUTO_PARAMETER.search(head), _FUNCTION_PARAMETER.search(head)
        start = max(head.rfind(b",", 0, pointer.start()), 0) if pointer is not None else len(head)
        if auto is not None and auto.start() <= start:
            yield auto[1].decode()
        elif pointer is not None:
            comma = head.find(b",", pointer.start())
            pointers = _FUNCTION_PARAMETER.finditer(head, pointer.start(), comma if comma >= 0 else len(head))
            yield [one[1].decode() for one in pointers][-1]
