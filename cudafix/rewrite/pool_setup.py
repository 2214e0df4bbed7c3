"""The function that sets up the memory pool: where it is defined, what it is called, and in which words.

It stands in front of the function that calls it, so that it sees the same headers and macros.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from cudafix.findings import Edit
from cudafix.project.paths import HEADERS
from cudafix.rewrite.statements import style_of

_TOKEN = re.compile(
    rb"(?P<directive>^[ \t]*#(?:\\\r?\n|/\*.*?\*/|[^\n])*)"
    rb"|(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)"
    rb'|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    rb"|(?P<space>\s+)|(?P<word>\w+)|.",
    re.MULTILINE | re.DOTALL,
)
_BLANK = re.compile(rb"\n[ \t]*\r?\n")
_FUNCTION = re.compile(
    rb"^[\w:<>,*& \t]+[ \t*&](\w+)\([^;{}()]*\)(\s*)\{(?![^\n]*\})", re.MULTILINE
)  # of several lines
_LEAVES = re.compile(r"\b(?:return|goto|break|continue|co_return)\b")
_ASSIGNS = re.compile(r"(?<![=!<>+\-*/%&|^])([\w.\]]+)\s*=(?!=)")
_A_CLASS = re.compile(rb"(?:.*[\s>])?(?:class|struct|union)\s[^()]*", re.DOTALL)
_IN_A_NAMESPACE = re.compile(rb'(?:.*[\s;{}])?(?:namespace\b[^(]*|extern\s*"C(?:\+\+)?"\s*)', re.DOTALL)


class Call(NamedTuple):
    """A call of the function of a header, and the `#include` that it needs."""

    name: str
    edits: list[Edit]


class Header(Protocol):
    """A header of the project with a function that sets up the pool, for some programs."""

    def sets_up(self, paths: Collection[str]) -> bool:
        """Whether a file of a program calls the function."""

    def call_in(self, path: str, at: int) -> Call | None:
        """A call of the function at a place of a file; None if the file, or a program of it, gives that another
        meaning.
        """


class Function(NamedTuple):
    """`at`: the offset in front of which it is defined."""

    at: int
    name: str


def defined_in(data: bytes, start: int, files: Iterable[bytes]) -> Function | None:
    """The function for a call in the function that starts at `start`; None if there is no room for it in front of what
    holds that: a function, or the class whose member it is.

    The name is one that no file of the program has, written as the functions of this file are.
    """
    at = _in_front(data, start)
    if at is None:
        return None
    name = "keepPoolMemory" if has_humps(data) else "keep_pool_memory"
    taken = b"\n".join(files)
    while re.search(rb"\b" + name.encode() + rb"\b", taken):
        name += "_"
    return Function(at, name)


def has_humps(data: bytes) -> bool:
    """Whether the functions of a file are named `likeThis`."""
    names = [match[1] for match in _FUNCTION.finditer(data)]
    return sum(re.search(rb"[a-z][A-Z]", name) is not None for name in names) > sum(b"_" in each for each in names)


def has_braces_alone(data: bytes) -> bool:
    """Whether the brace of a function stands on a line of its own in a file."""
    braces = [match[2] for match in _FUNCTION.finditer(data)]
    return sum(b"\n" in each for each in braces) * 2 > len(braces)


def in_front_of_all(data: bytes, start: int) -> int | None:
    """The start of the line where what holds `start` begins that stands in nothing else, with the comment on it; None
    if that shares its line.
    """
    return _in_front(data, start, outermost=True)


def definition(function: Function, lines: Sequence[str], path: str, data: bytes) -> bytes:
    """The definition of the function, of which the first of the lines is a comment."""
    newline, unit = style_of(data)
    own_line = has_braces_alone(data)
    head = f"static {'inline ' * path.endswith(HEADERS)}void {function.name}({'void' if path.endswith('.c') else ''})"
    opening = [head, "{"] if own_line else [head + " {"]
    line = data[function.at : data.find(b"\n", function.at)]
    indent = line[: len(line) - len(line.lstrip(b" \t"))].decode()
    whole = [lines[0], *opening, *(unit + each for each in lines[1:]), "}"]
    return (newline.join(indent + each for each in whole) + newline * 2).encode()


def works_in_it(prefix: str, files: Collection[bytes], functions: Collection[str]) -> bool:
    """Whether a check, as it begins a statement, may stand in a function that returns nothing: one of some
    functions, or a macro of the program that does not leave the function, and assigns nothing but what it declares.
    """
    name = prefix.strip().removesuffix("(").strip()
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return not prefix
    define = re.compile(
        rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\(([^()]*)\)((?:\\\r?\n|[^\n])*)", re.MULTILINE
    )
    bodies = [match[2].decode("utf-8", "replace") for data in files for match in define.finditer(data)]
    return bool(bodies or name in functions) and not any(
        _LEAVES.search(body) or not _declares_what_it_assigns(body) for body in bodies
    )


def _declares_what_it_assigns(body: str) -> bool:
    code = re.sub(r'"(?:\\.|[^"\\])*"', '""', body)
    for match in _ASSIGNS.finditer(code):
        name = match[1]
        if not re.search(rf"\w[\s*&]+{re.escape(name)}\s*=(?!=)", code):
            return False
    return True


def is_in_macro(data: bytes, offset: int) -> bool:
    """Whether an offset is in the text of a `#define`."""
    start = data.rfind(b"\n", 0, offset) + 1
    while start and data[:start].rstrip(b"\r\n").endswith(b"\\"):
        start = data.rfind(b"\n", 0, start - 1) + 1
    return re.match(rb"[ \t]*#", data[start:offset]) is not None


def _in_front(data: bytes, start: int, outermost: bool = False) -> int | None:
    """The start of the line where the declaration that holds `start` begins, with the comment on it, or the outermost
    class that holds it (or namespace, if `outermost`); None if that is not in a namespace, or shares its line.
    """
    around: list[tuple[int, bool | None]] = []  # open braces: where what has one begins; a class? None: a namespace
    begins = declared = at = 0
    fresh = True  # whether a new declaration may begin at the next line
    while at < start and (found := _TOKEN.match(data, at)) is not None:
        kind, word = found.lastgroup, found[0]
        end = found.end()
        if kind == "space":
            blank = [match.end() for match in _BLANK.finditer(data, at, min(end, start))]
            if declared == begins and (blank or (fresh and b"\n" in word)):
                begins = declared = data.rfind(b"\n", at, min(end, start)) + 1
                fresh = False
        elif kind == "directive":
            begins = declared = end
            fresh = True
        elif kind != "comment":
            if word == b"{":
                around.append((begins, _is_of_a_class(data, begins, at)))
            elif word == b"}":
                if not around:
                    return None
                around.pop()
            if word in (b"{", b"}", b";"):
                begins = declared = end
                fresh = True
            else:
                declared = end
        at = end
    inner = [each for each in around if each[1] is not None]
    if inner:
        begins, _ = inner[0]
    if outermost and around:
        begins, _ = around[0]
    alone = not data[data.rfind(b"\n", 0, begins) + 1 : begins].strip()
    return begins if alone and all(is_class for _, is_class in inner) else None


def _is_of_a_class(data: bytes, start: int, brace: int) -> bool | None:
    """Whether the declaration that begins at `start` is that of a class; None if its brace opens a namespace."""
    if _IN_A_NAMESPACE.fullmatch(data, start, brace) is not None:
        return None
    return _A_CLASS.fullmatch(data, start, brace) is not None
