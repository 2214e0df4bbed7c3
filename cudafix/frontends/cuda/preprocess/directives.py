"""One scan over the bytes of a file: comments, string literals and preprocessor directives, and the groups of `#if`s.

The scan is lexical, in one regular expression, because tree-sitter sees branches of `#if` that are not both plain C++.
Offsets are bytes into the file. Nothing here raises on malformed input: an unterminated comment runs to the end of the
file, an unterminated literal ends with its line, a missing `#endif` stands at the end of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

# every byte but the line ends becomes a space; a carriage return stays, so that CRLF lines keep their shape
_SPACES = bytes(b if b in b"\r\n" else 0x20 for b in range(256))
# the bytes that no grammar knows: NUL, form feed, vertical tab, other controls
_CONTROLS = bytes(b if b >= 0x20 or b in b"\t\r\n" else 0x20 for b in range(256))

_STRING = rb'"(?:[^"\\\n]|\\\r?\n|\\.)*"'
_CHARACTER = rb"'(?:[^'\\\n]|\\[^\n]){1,8}'"
_CONTINUED = re.compile(rb"\\([ \t]+)(\r?\n)")
"""White space behind the backslash of a continued line, which GCC and Clang ignore (The C Preprocessor, 1.2)."""
_LINE_COMMENT = rb"//(?:\\\r?\n|[^\n])*"
_COMMENT = rb"/\*(?:.*?\*/|.*\Z)"
_TOKEN = re.compile(
    rb"(?P<comment>" + _LINE_COMMENT + rb"|" + _COMMENT + rb")"
    rb'|(?P<string>"(?<=R")(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"|' + _STRING + rb"|" + _CHARACTER + rb")"
    rb"|(?P<directive>\#(?:[^\n\\/\"']+|\\\r?\n|\\.|"
    + _LINE_COMMENT
    + rb"|"
    + _COMMENT
    + rb"|/|"
    + _STRING
    + rb"|"
    + _CHARACTER
    + rb"|[\"'\\])*)",
    re.DOTALL,
)
_COMMENT_OR_STRING = re.compile(
    rb"(?P<comment>" + _LINE_COMMENT + rb"|" + _COMMENT + rb")|" + _STRING + rb"|" + _CHARACTER, re.DOTALL
)
# other spellings of operators ([lex.digraph]), and these in as many bytes
_ALTERNATIVE = re.compile(rb"\b(?:and|or|not|xor|compl|bitand|bitor|and_eq|or_eq|xor_eq|not_eq)\b")
_PRIMARY = {
    alternative: primary.ljust(len(alternative))
    for alternative, primary in (
        *((b"and", b"&&"), (b"or", b"||"), (b"not", b"!"), (b"xor", b"^"), (b"compl", b"~"), (b"bitand", b"&")),
        *((b"bitor", b"|"), (b"and_eq", b"&="), (b"or_eq", b"|="), (b"xor_eq", b"^="), (b"not_eq", b"!=")),
    )
}
_KEYWORD = re.compile(rb"#[ \t]*([A-Za-z_]+)")
_PRAGMA = re.compile(rb"\b_Pragma\s*\(\s*\Z")
_KEEPS = re.compile(rb'"\s*((?:push|pop)_macro\s*\(\s*)\\"(\w+)\\"\s*\)\s*"\Z')
_CLOSING = re.compile(rb"\s*\)")
_CONTINUATION = re.compile(rb"\\(\r?\n)")

OPENING = frozenset((b"if", b"ifdef", b"ifndef"))
_ASKS_OR_DEFINES = frozenset((b"if", b"elif", b"define"))
NEXT = frozenset((b"elif", b"elifdef", b"elifndef", b"else"))


def blank(data: bytes) -> bytes:
    """`data` with every byte except line ends replaced by a space."""
    return data.translate(_SPACES)


@dataclass(frozen=True, slots=True)
class Directive:
    """`#keyword rest` at `[start, end)`, comments in it blanked and line continuations joined, same length. What
    `_Pragma` says of a macro is a directive as well.
    """

    keyword: bytes
    start: int
    end: int
    rest: bytes
    rest_start: int


@dataclass(slots=True)
class Branch:
    """`[start, end)` between two directives of one group; `directive` is the index of the one that opens it."""

    directive: int
    start: int
    end: int = -1


@dataclass(slots=True)
class Group:
    """`#if … #elif … #else … #endif`, `[start, end)` including its directives. `parent` is the group around it."""

    start: int
    parent: int | None
    branches: list[Branch] = field(default_factory=list)
    end: int = -1


@dataclass(slots=True)
class Scan:
    """What one scan finds. `code` is the file without comments, control bytes and BOM, and with `&&` for `and` and so
    on, of the same length.

    `strings` are the ranges of string and character literals; `groups` are in order of their opening directive, and
    `group_of` gives the group that a conditional directive (by its index) belongs to.
    """

    code: bytes
    directives: list[Directive]
    strings: list[tuple[int, int]]
    groups: list[Group] = field(default_factory=list)
    group_of: dict[int, int] = field(default_factory=dict)

    def without_strings(self) -> bytes:
        """`code` with the inside of string and character literals blanked."""
        parts: list[bytes] = []
        at = 0
        for start, end in self.strings:
            parts += (self.code[at : start + 1], blank(self.code[start + 1 : end - 1]))
            at = end - 1
        parts.append(self.code[at:])
        return b"".join(parts)


def _directive(data: bytes, start: int, end: int) -> Directive | None:
    text = data[start:end]
    if b"/" in text:
        text = _COMMENT_OR_STRING.sub(lambda m: blank(m[0]).replace(b"\n", b" ") if m["comment"] else m[0], text)
    if b"\n" in text:
        text = _CONTINUATION.sub(lambda m: b" " * len(m[0]), text)
    keyword = _KEYWORD.match(text)
    if keyword is None:
        return None if text[1:].strip() else Directive(b"", start, end, b"", end)
    if keyword[1] in _ASKS_OR_DEFINES and _ALTERNATIVE.search(text) is not None:
        text = _with_primary_operators(text, [m.span() for m in _COMMENT_OR_STRING.finditer(text)])
    return Directive(keyword[1], start, end, text[keyword.end() :], start + keyword.end())


def _with_primary_operators(code: bytes, strings: Sequence[tuple[int, int]]) -> bytes:
    """`code` with the operators that have several spellings in their primary one, but for literals."""
    found = bytearray(code)
    for match in _ALTERNATIVE.finditer(code):
        n = bisect_right(strings, match.start(), key=itemgetter(0)) - 1
        if n < 0 or strings[n][1] <= match.start():
            found[match.start() : match.end()] = _PRIMARY[match[0]]
    return bytes(found)


def scan(data: bytes) -> Scan:
    """Find comments, literals and directives of `data`, and nest the conditionals."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = b"   " + data[3:]
    data = _CONTINUED.sub(rb"\1\\\2", data.translate(_CONTROLS))
    parts: list[bytes] = []
    strings: list[tuple[int, int]] = []
    directives: list[Directive] = []
    at = 0
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "comment":
            parts += (data[at:start], match[0].translate(_SPACES))
            at = end
        elif kind == "directive":
            if data[data.rfind(b"\n", 0, start) + 1 : start].strip():
                continue
            directive = _directive(data, start, end)
            if directive is not None:
                directives.append(directive)
        else:
            strings.append((start, end))
            if (kept := _KEEPS.match(data, start, end)) is not None:
                operator = _PRAGMA.search(data, max(0, start - 99), start)
                closing = _CLOSING.match(data, end)
                if operator is not None and closing is not None:
                    rest = b' %b"%b")' % kept.groups()
                    directives.append(Directive(b"pragma", operator.start(), closing.end(), rest, start))
    parts.append(data[at:])
    result = Scan(_with_primary_operators(b"".join(parts), strings), directives, strings)
    _nest(result, len(data))
    return result


def _nest(result: Scan, size: int) -> None:
    open_groups: list[int] = []
    for index, directive in enumerate(result.directives):
        if directive.keyword in OPENING:
            group = Group(directive.start, open_groups[-1] if open_groups else None)
            group.branches.append(Branch(index, directive.end))
            open_groups.append(len(result.groups))
            result.group_of[index] = len(result.groups)
            result.groups.append(group)
        elif open_groups and (directive.keyword in NEXT or directive.keyword == b"endif"):
            group = result.groups[open_groups[-1]]
            group.branches[-1].end = directive.start
            result.group_of[index] = open_groups[-1]
            if directive.keyword == b"endif":
                group.end = directive.end
                open_groups.pop()
            else:
                group.branches.append(Branch(index, directive.end))
    for number in open_groups:
        group = result.groups[number]
        group.branches[-1].end = group.end = size
