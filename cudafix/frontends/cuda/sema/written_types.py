"""What the text of a file says about the names of types, wherever they stand: aliases, and names of plain numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from cudafix.frontends.cuda.sema.declarations import Declarations, are_alike, is_given_its_deleter
from cudafix.frontends.cuda.sema.references import gives_references, other_names
from cudafix.frontends.cuda.sema.scopes_of_text import ScopesOfText
from cudafix.frontends.cuda.sema.type_texts import BLANKS
from cudafix.models.number_types import is_number

_TYPE_NAMES = re.compile(
    rb"\busing\s+(\w+)\s*=|\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]|\benum\s+(\w+)|\btypedef\b[^;{}()]*?(\w+)\s*;"
    rb"|\btypedef\b[^;{}()]*\(\s*(?:\w+\s+|(?:\w+::)+)?\*\s*(?:const\s+)?(\w+)\s*\)\s*\("  # a pointer to a function
)
# `using N::C;`
_BROUGHT = re.compile(rb"\busing\s+(?:typename\s+)?((?:::)?(?:\w+\s*::\s*)+(\w+))\s*;")
# `using D = C;`, `typedef C D;`: other names of a type that has a name itself
_ALIASES = re.compile(
    rb"\busing\s+(\w+)\s*=\s*(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s*;"
    rb"|\btypedef\s+(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s+(\w+)\s*;"
)
# `enum class E`, `typedef enum { A } E;`, `typedef float Row[4];`
_OTHER_TYPES = re.compile(
    rb"\benum\s+(?:(?:class|struct)\s+)?(\w+)|\btypedef\s+enum\b[^{};]*\{[^{}]*\}\s*(\w+)"
    rb"|\btypedef\b[^;{}()]*?(\w+)\s*\[[^;{}]*;"
)
# `typedef unsigned char Byte;`, `using Real = float;`: what may be another name of a number
_NAMES_OF_NUMBERS = re.compile(
    rb"\btypedef\s+(\w+(?:::\w+)?(?:\s+\w+)*)\s+(\w+)\s*;|\busing\s+(\w+)\s*=\s*(\w+(?:::\w+)?(?:\s+\w+)*)\s*;"
)
_NAMES_OF_POINTERS = re.compile(
    rb"\btypedef\s+(?:const\s+)?(\w+(?:::\w+)?(?:\s+\w+)*?)\s*((?:\*\s*)+)(\w+)\s*;"
    rb"|\busing\s+(\w+)\s*=\s*(?:const\s+)?(\w+(?:::\w+)?(?:\s+\w+)*?)\s*((?:\*\s*)+);"
)
_OPENED = re.compile(rb"\busing\s+namespace\s+(?:::)?\s*((?:\w+\s*::\s*)*\w+)")
_CLASS_NAME = re.compile(rb"\b(?:struct|class|union)\s+(\w+)")
_NAMESPACE_ALIASES = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::)?([\w:]+)\s*;")
# `using X = …decltype(…)…;`: a type that may be any
_MEASURED = re.compile(
    rb"\busing\s+(\w+)\s*=[^;]*\b(?:decltype|typeof)\b|\btypedef\b[^;]*\b(?:decltype|typeof)\b[^;]*?(\w+)\s*;"
)
# `using X = std::unique_ptr<T, decltype(&f)>;`: a smart pointer with a pointer to a function
_NAMES_OF_OWNERS = re.compile(
    rb"\busing\s+(\w+)\s*=\s*((?:std::)?unique_ptr\s*<[^;{}<>]*>)\s*;"
    rb"|\btypedef\s+((?:std::)?unique_ptr\s*<[^;{}<>]*>)\s*(\w+)\s*;"
)
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
    found = Declarations(
        numbers=numbers,
        types=frozenset(n.decode("utf-8", "replace") for names in _TYPE_NAMES.findall(text) for n in names if n),
        defined=frozenset(n.decode("utf-8", "replace") for names in _OTHER_TYPES.findall(text) for n in names if n),
        visible=visible,
        given=frozenset(_function_parameters(text)),
        stand_for={**other_names(text), **{name: (kind,) for name, kind in spelled.items()}},
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

    for one in _ALIASES.finditer(text):
        new, kind, other_kind, other_new = one.groups()
        name = (new or other_new).decode("utf-8", "replace")
        meant = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        means(name, meant, found.aliases.get(name, ()), one.start())
    for one in _BROUGHT.finditer(text):
        name, meant = one[2].decode("utf-8", "replace"), b"".join(one[1].split()).decode("utf-8", "replace")
        found.brought.add(name)
        if not f"::{meant}".endswith(f"::{name}::{name}"):  # not the constructors of a base
            means(name, meant, found.aliases.get(name, ()), one.start())
    for new, other_new in _MEASURED.findall(text):
        found.aliases[(new or other_new).decode("utf-8", "replace")] = ("decltype",)
    for new, kind, other_kind, other_new in _NAMES_OF_OWNERS.findall(text):
        meant = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        if is_given_its_deleter(meant):
            name = (new or other_new).decode("utf-8", "replace")
            means(name, meant, (one for one in found.aliases.get(name, ()) if one != "decltype"))
    for new, kind in _NAMESPACE_ALIASES.findall(text):
        found.opens(new.decode(), kind.decode("utf-8", "replace"))
    return found


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
    types = Counter(name.decode("utf-8", "replace") for names in _TYPE_NAMES.findall(original) for name in names)
    return types, frozenset(name.decode() for name in _CLASS_NAME.findall(original))


def _defined_as_numbers(text: bytes, known: Mapping[str, str]) -> dict[str, list[str]]:
    """The other names of plain numbers and of pointers to them."""
    found: dict[str, list[str]] = {}
    for kind, new, other_new, other_kind in _NAMES_OF_NUMBERS.findall(text):
        written = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        kinds = found.get(written, [known.get(written, written)])
        if is_number(kinds[-1]) and are_alike(kinds):
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(kinds[-1])
    for kind, stars, new, other_new, other_kind, other_stars in _NAMES_OF_POINTERS.findall(text):
        written = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        pointed = found.get(written, [known.get(written, written)])[-1]
        if is_number(pointed) or pointed == "void":
            pointer = f"{pointed} {'*' * (stars or other_stars).count(b'*')}"
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(pointer)
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
