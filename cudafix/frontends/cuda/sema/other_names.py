"""The other names of types that a text defines: `using R = float *;`, `typedef struct { … } S, *P;` (C++17, 10.1.3
[dcl.typedef]). They are read from the text, since other configurations of a file have no tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

_USING = re.compile(rb"\busing\s+(\w+)\s*(?:\[\[[^\]]*\]\]\s*)?=([^;{}]*)")
_TYPEDEF = re.compile(rb"\btypedef\b((?:(?!\btypedef\b)[^;{}])*)([;{])")
_BRACE = re.compile(rb"[{}]")
_WITH_BODY = re.compile(rb"\b(struct|class|union|enum)\b")
_DECLARATOR = re.compile(rb"(.*?)([\s*&]*)\b(\w+)\s*((?:\[[^][]*\]\s*)*)\Z", re.DOTALL)
_POINTER_TO_FUNCTION = re.compile(rb"\(\s*(?:\w+\s+|(?:\w+::)+)?\*\s*(?:const\s+)?(\w+)\s*\)\s*\(")
_TO_ARRAY = re.compile(rb"\(\s*&&?\s*(\w+)\s*\)")
# in which parentheses are no declarator
_IN_PARENTHESES = re.compile(rb"\b(?:decltype|typeof|unique_ptr)\b")
_DEPTH = re.compile(rb"[<>(),]")


class Form(Enum):
    """How a name is defined."""

    USING = auto()
    TYPEDEF = auto()
    ARRAY = auto()  # a `typedef` of an array
    FUNCTION = auto()  # of a pointer to a function
    REFERENCE = auto()  # of a reference to an array
    CLASS = auto()  # of a class that is defined there, or a pointer to one
    ENUMERATION = auto()  # of an enumeration that is defined there


class OtherName(NamedTuple):
    """A name, and the type that it stands for, as written; of a class that is defined there, only its marks."""

    name: str
    kind: str
    form: Form
    start: int  # of the declaration

    @property
    def is_array(self) -> bool:
        """Whether an object of it is an array."""
        return self.form is Form.ARRAY or self.kind.endswith("]")


@lru_cache(maxsize=64)
def other_names(text: bytes) -> tuple[OtherName, ...]:
    """Those that a text defines, in the order in which it does."""
    return tuple(sorted((*_of_using(text), *_of_typedef(text)), key=lambda one: one.start))


def stand_for(others: Iterable[OtherName]) -> dict[str, tuple[str, ...]]:
    """What these names stand for, by name; of classes only whether it is a reference to one."""
    found: dict[str, tuple[str, ...]] = {}
    for one in others:
        if one.form is not Form.ARRAY and one.form is not Form.FUNCTION:
            of_body = one.form in (Form.CLASS, Form.ENUMERATION)
            kind = one.kind if not of_body else "auto &" if one.kind.endswith("&") else "struct {}"
            known = found.get(one.name, ())
            found[one.name] = known if kind in known else (*known, kind)
    return found


def _of_using(text: bytes) -> Iterator[OtherName]:
    for found in _USING.finditer(text):
        yield OtherName(found[1].decode("utf-8", "replace"), _tidy(found[2]), Form.USING, found.start())


def _of_typedef(text: bytes) -> Iterator[OtherName]:
    for found in _TYPEDEF.finditer(text):
        for name, kind, form in _defined_by(found[1], found[2], text, found.end()):
            yield OtherName(name, kind, form, found.start())


def _defined_by(head: bytes, sign: bytes, text: bytes, end: int) -> Iterator[tuple[str, str, Form]]:
    """What a `typedef` defines, by what stands in front of its first semicolon or brace, which ends there."""
    if sign == b"{":
        body = _WITH_BODY.search(head)
        if body is not None:
            form = Form.ENUMERATION if body[1] == b"enum" else Form.CLASS
            behind = _behind_body(text, end)
            yield from ((name, marks, form) for name, marks, _ in _declarators(b"", behind))
    elif (to_function := _POINTER_TO_FUNCTION.search(head)) is not None and not _IN_PARENTHESES.search(head):
        yield to_function[1].decode("utf-8", "replace"), "", Form.FUNCTION
    elif (to_array := _TO_ARRAY.search(head)) is not None:
        yield to_array[1].decode("utf-8", "replace"), "auto &", Form.REFERENCE
    elif b"(" not in head or _IN_PARENTHESES.search(head):
        first, *others = _parts(head)
        declared = _DECLARATOR.match(first)
        base = declared[1] if declared is not None else b""
        for name, kind, is_array in _declarators(base, b",".join((first[len(base) :], *others))):
            yield name, kind, Form.ARRAY if is_array else Form.TYPEDEF


def _declarators(base: bytes, text: bytes) -> Iterator[tuple[str, str, bool]]:
    """The names that a list of declarators declares, with the type of each, but for its dimensions."""
    for part in _parts(text):
        if (one := _DECLARATOR.match(part)) is not None:
            yield one[3].decode("utf-8", "replace"), _tidy(base + one[1] + one[2]), bool(one[4])


def _behind_body(text: bytes, start: int) -> bytes:
    """What follows on a body that begins there, up to the semicolon."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            return text[brace.end() :].partition(b";")[0]
    return b""


def _parts(text: bytes) -> list[bytes]:
    """What commas separate that are in no parentheses and no template arguments."""
    found, depth, start = list[bytes](), 0, 0
    for sign in _DEPTH.finditer(text):
        depth += (sign[0] in b"<(") - (sign[0] in b">)")
        if sign[0] == b"," and depth == 0:
            found.append(text[start : sign.start()])
            start = sign.end()
    return [*found, text[start:]]


def _tidy(kind: bytes) -> str:
    return b" ".join(kind.split()).decode("utf-8", "replace")
