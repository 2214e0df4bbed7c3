"""What is outside of functions in text of C++ that the grammar does not read: braces that only one branch of an `#if`
opens, or a macro between two statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cudafix.project.files import SILENT

_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\)*", re.MULTILINE)
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b[ \t]*(\w*)")
_GUARD = re.compile(rb"\s*#[ \t]*define[ \t]+(\w+)[ \t]*\r?$", re.MULTILINE)
_PRINTED = re.compile(rb"[^\n]")
_DELIMITER = re.compile(rb"[{};]")
_PARENTHESES = re.compile(rb"\([^()]*\)")
_ARGUMENTS = re.compile(rb"<[^<>(){}=]*>")
_OF_FUNCTION = re.compile(rb"\0[^=,\[\]\0]*$")  # an empty pair of parentheses is written as one byte
_NAMED = re.compile(  # with the initializers of a constructor
    rb"[\w:~]+\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[^():]*(?::(?!:)[^{}]*)?$"
)
_PROTOTYPE = re.compile(rb"\bvoid\s+\w+\s*\((?:[^()]|\([^()]*\))*\)\s*;")  # an object has another type
_OF_CLASS = re.compile(rb"\b(?:class|struct|union|enum|namespace)\b")

Span = tuple[int, int]


def blanked(data: bytes) -> bytes:
    """A text with blanks for comments and literals."""
    return SILENT.sub(lambda found: _PRINTED.sub(b" ", found[0]), data)


class Parts(NamedTuple):
    """The `functions` of a text, from their names to their ends, and what is `outside` of them: texts as long as the
    whole, with blanks for functions, comments and literals.
    """

    functions: list[bytes]
    outside: list[bytes]


def parts_of(data: bytes) -> Parts:
    """The parts of a text where the first branch of each `#if` is compiled, where the last one is, and where neither
    is. All is outside if braces do not match.
    """
    code = blanked(data)
    outside, functions, compiled = list[bytes](), list[bytes](), list[Span]()
    for last in (False, True):
        left_out = list(_left_out(code, last))
        text = _blank(code, left_out)
        bodies = _bodies(text)
        if bodies is None:
            return Parts([], [code])
        functions += (text[start:end] for start, end in bodies)
        text = _blank(text, bodies)
        outside.append(_blank(text, (found.span() for found in _PROTOTYPE.finditer(text))))
        compiled += _between(left_out, len(code))
    directives = (line.span() for line in _DIRECTIVE.finditer(code))
    return Parts(functions, [*outside, _blank(code, (*compiled, *directives))])


def _blank(code: bytes, spans: Iterable[Span]) -> bytes:
    text = bytearray(code)
    for start, end in spans:
        text[start:end] = _PRINTED.sub(b" ", code[start:end])
    return bytes(text)


def _between(spans: Iterable[Span], length: int) -> Iterator[Span]:
    at = 0
    for start, end in sorted(spans):
        yield at, max(at, start)
        at = max(at, end)
    yield at, length


def _left_out(code: bytes, last: bool) -> Iterator[Span]:
    """The directives, and what is not compiled where the first branch of each `#if` is, or the last one: none of one
    without `#else`. That of a guard against a second inclusion always is, and that of `#if 0` never.
    """
    around: list[tuple[bool, bool]] = []  # of each `#if` that is open: whether this branch is compiled, or one was
    since: int | None = None  # where the text begins that is not
    for line in _DIRECTIVE.finditer(code):
        yield line.span()
        found = _CONDITION.match(line[0])
        if found is None:
            continue
        word, name = found.groups()
        if word.startswith(b"if"):
            guard = _GUARD.match(code, line.end()) if word == b"ifndef" else None
            of_guard = guard is not None and guard[1] == name
            compiled = of_guard or (not last and (word, name) != (b"if", b"0"))
            around.append((compiled, compiled))
        elif around and word == b"endif":
            around.pop()
        elif around:
            before = around.pop()[1]
            compiled = not before and (word == b"else" or not last)
            around.append((compiled, before or compiled))
        if not all(compiled for compiled, _ in around):
            since = line.end() if since is None else since
        elif since is not None:
            yield since, line.start()
            since = None
    if since is not None:
        yield since, len(code)


def _bodies(code: bytes) -> list[Span] | None:
    """The functions that are in no other function, from their names to their ends, if each brace is closed."""
    found: list[Span] = []
    within: list[bool] = []  # of each brace that is open, whether it is in a function
    start = head = 0
    for delimiter in _DELIMITER.finditer(code):
        if delimiter[0] == b"{":
            inner = bool(within) and within[-1]
            named = None if inner else _named(code[head : delimiter.start()])
            within.append(inner or named is not None)
            if named is not None:
                start = head + named
        elif delimiter[0] == b"}":
            if not within:
                return None
            if within.pop() and not (within and within[-1]):
                found.append((start, delimiter.start()))
        head = delimiter.end()
    return found if not within else None


def _named(head: bytes) -> int | None:
    """Where the name of a function is, if the brace behind this text is that of one. One that returns a `struct S` is
    not found.
    """
    named = _NAMED.search(head)
    plain = _ARGUMENTS.sub(b"", head)  # `template <class T>`
    while plain != (plain := _PARENTHESES.sub(b"\0", plain)):
        pass
    if _OF_FUNCTION.search(plain) is None or b"=" in plain or _OF_CLASS.search(plain) is not None:
        return None
    return named.start() if named is not None else None
