"""Statements to insert, in the code's own style: its check wrapper, indentation, line ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from cudafix.findings import Edit
from cudafix.ir import Call, Function, Goto, If, Label, Look, Site, Span, Var, walk

COMMENT = rb"//.*|/\*[^*]*\*/"
_INDENTED = re.compile(rb"^([ \t]+)\S", re.MULTILINE)
_OPENED = re.compile(rb"^( *)(?:\S.*)?\{[ \t]*\r?\n(?:[ \t]*\r?\n)*(?=( *)[^\s}])", re.MULTILINE)
_DECLARATION = re.compile(
    r"(?!\s*(?:return|goto|else|using|typedef|delete)\b)([ \t]*)((?:\w+ )*\w+)( +)(\w+(?:\[[^\]]*\])*(?: *=[^=].*)?;)"
)


class Style(NamedTuple):
    """How a file is written: the end of its lines and one level of indentation."""

    newline: str
    unit: str


def style_of(data: bytes) -> Style:
    """Read off the file: CRLF if its first line ends so; a tab if most indented lines start with one, else by how much
    most blocks are indented.
    """
    first = data.find(b"\n")
    newline = "\r\n" if first > 0 and data[first - 1 : first] == b"\r" else "\n"
    indents = [match[1] for match in _INDENTED.finditer(data, 0, 100_000)]
    if sum(indent[:1] == b"\t" for indent in indents) * 2 > len(indents):
        return Style(newline, "\t")
    opened = Counter(len(match[2]) - len(match[1]) for match in _OPENED.finditer(data, 0, 100_000))
    steps = [(count, -width) for width, count in opened.items() if width > 1]
    if steps:
        return Style(newline, " " * -max(steps)[1])
    widths = [len(indent) for indent in indents if indent[:1] == b" "]
    twos = sum(width == 2 for width in widths)
    fours = sum(width == 4 for width in widths)
    return Style(newline, "  " if twos > fours or (twos == fours and any(w % 4 for w in widths)) else "    ")


def lined_up(lines: Sequence[str], data: bytes) -> list[str]:
    """The lines, with the names of declarations that follow each other below each other, where the file has them so."""
    found = [_DECLARATION.fullmatch(line) for line in lines]
    if not _lines_up(data):
        return list(lines)
    made: list[str] = []
    for _, run in groupby(zip(lines, found, strict=True), lambda each: each[1] and each[1][1]):
        together = list(run)
        width = max((len(match[2]) for _, match in together if match), default=0)
        made += [f"{match[1]}{match[2]:<{width}} {match[4]}" if match else line for line, match in together]
    return made


def _lines_up(data: bytes) -> bool:
    """Whether most declarations on two lines in a row, of types that are not equally long, have their names in one
    column.
    """
    lines = data[:100_000].decode("latin-1").splitlines()
    found = [_DECLARATION.match(line) for line in lines]
    pairs = [
        (one, next_one)
        for one, next_one in pairwise(found)
        if one and next_one and one[1] == next_one[1] and len(one[2]) != len(next_one[2])
    ]
    return 2 * sum(one.start(4) == next_one.start(4) for one, next_one in pairs) > len(pairs)


class Names(NamedTuple):
    """What variables may be called that are inserted: not as what is `taken`; and where macros of headers are `unseen`,
    not by a single word either.
    """

    taken: frozenset[str] = frozenset()
    unseen: bool = False

    def free(self, word: str, words: str) -> str:
        """A name: the word, where it is free, or several of which nobody makes a macro by chance."""
        name = words if self.unseen else word
        while name in self.taken:
            name += "_"
        return name


class Check(NamedTuple):
    """What stands around a call of CUDA as a statement, and whether that looks at the status."""

    prefix: str
    suffix: str
    looks: bool


def usual_check(functions: Iterable[Function], data: bytes, at: int) -> Check | None:
    """The most common check in the text of some functions that may stand at an offset; None if they have none."""
    found = [
        stmt
        for function in functions
        for stmt in walk(function.body)
        if isinstance(stmt, Call) and stmt.callee.startswith("cuda") and stmt.site.prefix
        if data.startswith(stmt.site.prefix.encode(), stmt.site.span.start)
        if "=" not in stmt.site.prefix and not stmt.site.prefix.lstrip().startswith("return")
        if not _stores_the_status(stmt, function) and not any(label <= at for label in _goes_to(stmt, function))
    ]
    if not found:
        return None
    (style, _), *_ = Counter((call.site.prefix, call.site.suffix) for call in found).most_common()
    looks = (call.look is Look.CHECKED for call in found if (call.site.prefix, call.site.suffix) == style)
    return Check(*style, all(looks))


def _stores_the_status(call: Call, function: Function) -> bool:
    """Whether a check stores the status in a variable that the function declares: it would be another one there."""
    if not isinstance(call.result, Var) or call.result.name.startswith("%"):
        return False
    declared = call.result.name.partition("@")[2]  # in the macro, or in front of a variable that it hides
    return not declared.isdigit() or function.span.start <= int(declared) < function.span.end


def _goes_to(call: Call, function: Function) -> Iterator[int]:
    """Where a check goes on if the status is an error, as far as it says so: the labels that it jumps to."""
    labels = {stmt.name: stmt.span.start for stmt in walk(function.body) if isinstance(stmt, Label)}
    for stmt in walk(function.body):
        if isinstance(stmt, If) and stmt.test.place is not None and stmt.test.place == call.result:
            yield from (labels.get(one.label, 0) for one in walk((*stmt.then, *stmt.other)) if isinstance(one, Goto))


def checked(site: Site, call: str) -> str:
    """A call as a statement, in the wrapper of the statement that it stands next to."""
    return f"{site.prefix}{call}{site.suffix or ';'}"


def block(lines: Sequence[str], unit: str) -> list[str]:
    """The statements in a block of their own, so that what they declare meets no other name."""
    return ["{", *(unit + line for line in lines), "}"]


def shifted(start: int, end: int, by: int, path: str, data: bytes) -> list[Edit]:
    """What keeps the lines of an argument list in its column, which begins at `start` behind a parenthesis and moves
    right. Nothing where a line of it stands elsewhere, or may be part of a string literal.
    """
    if b'"' in data[start:end]:
        return []
    column = start - (data.rfind(b"\n", 0, start) + 1)
    begins = [at + 1 for at in range(start, end) if data.startswith(b"\n", at)]
    widths = [len(data[at:end]) - len(data[at:end].lstrip(b" ")) for at in begins]
    return [Edit(path, at, at, b" " * by) for at in begins] if all(width == column for width in widths) else []


def before(site: Site, lines: Sequence[str], data: bytes) -> list[Edit]:
    """Insert statements before the statement of a site. A branch or loop body without braces gets them."""
    style = style_of(data)
    newline = (" \\" if site.continuation else "") + style.newline
    span = site.span
    if site.needs_do:
        return _as_one(site, [*lines, ""], [], newline, data)
    if not site.needs_braces:
        in_front = data[data.rfind(b"\n", 0, span.start) + 1 : span.start].strip()
        between = " " if in_front and _fit_on_a_line(lines) else newline + site.indent
        text = "".join(line + between for line in lines)
        return [Edit(span.path, span.start, span.start, text.encode())]
    opening, outer = _before_body(span, data)
    inner = outer + style.unit
    text = " {" + newline + inner + (newline + inner).join([*lines, ""])
    return [
        Edit(span.path, opening, span.start, text.encode()),
        Edit(span.path, span.end, span.end, f"{newline}{outer}}}".encode()),
    ]


def after(site: Site, lines: Sequence[str], data: bytes, comment: bytes = COMMENT) -> list[Edit]:
    """Insert statements after the statement of a site, and after the comment that follows it on its line."""
    style = style_of(data)
    newline = (" \\" if site.continuation else "") + style.newline
    span = site.span
    if site.needs_do:
        return _as_one(site, [], ["", *lines], newline, data)
    if site.needs_braces:
        opening, outer = _before_body(span, data)
        inner = outer + style.unit
        text = "".join(newline + inner + line for line in lines)
        return [
            Edit(span.path, opening, span.start, f" {{{newline}{inner}".encode()),
            Edit(span.path, span.end, span.end, f"{text}{newline}{outer}}}".encode()),
        ]
    at = span.end
    rest = data[at : data.find(b"\n", at) if b"\n" in data[at:] else len(data)].rstrip(b"\r\n \t")
    if not site.continuation and re.fullmatch(rb"\s*(" + comment + rb")", rest):
        at, rest = at + len(rest), b""
    between = " " if rest and not site.continuation and _fit_on_a_line(lines) else newline + site.indent
    text = "".join(between + line for line in lines)
    return [Edit(span.path, at, at, text.encode())]


def _as_one(site: Site, lines: Sequence[str], behind: Sequence[str], newline: str, data: bytes) -> list[Edit]:
    """A statement in the body of a macro and what is inserted beside it, as one statement. The use of the macro may
    give the semicolon at its end.
    """
    between = newline + site.indent if site.continuation else " "
    span = site.span
    ended = data[span.start : span.end].rstrip().endswith(b";")
    first, last = f"do {{{between}", f"{between}}} while (0)"
    return [
        Edit(span.path, span.start, span.start, (first + between.join(lines)).encode()),
        Edit(
            span.path,
            span.end,
            span.end,
            ("" if ended else ";").encode() + (between.join(behind) + last).encode() + (b";" if ended else b""),
        ),
    ]


def _fit_on_a_line(lines: Sequence[str]) -> bool:
    """Whether statements may stand on the line of another one, as in the body of a function that is one line."""
    return len(lines) <= 2 and all(line.endswith(";") and "//" not in line for line in lines)


def _before_body(span: Span, data: bytes) -> tuple[int, str]:
    """Where the brace of a body without braces goes (after the condition), and the indentation of that line."""
    opening = len(data[: span.start].rstrip())
    line = data.rfind(b"\n", 0, opening) + 1
    indent = data[line:opening]
    return opening, indent[: len(indent) - len(indent.lstrip())].decode("ascii", "replace")


def moved_before(site: Site, target: Site, data: bytes, comment: bytes = COMMENT) -> list[Edit]:
    """Move the lines of a statement in front of another statement of the same block depth.

    Nothing if either shares its lines with other code, or if the two are not indented alike (another block).
    """
    lines, onto = _whole_lines(site, data, comment), _whole_lines(target, data, comment)
    if (
        lines is None
        or onto is None
        or site.indent != target.indent
        or site.continuation
        or target.continuation
        or site.needs_do
    ):
        return []
    path = site.span.path
    text = data[lines[0] : lines[1]]
    return [Edit(path, onto[0], onto[0], text), Edit(path, lines[0], lines[1], b"")]


def _whole_lines(site: Site, data: bytes, comment: bytes) -> tuple[int, int] | None:
    """The lines of a statement, with the comment behind it; None if something else stands there too."""
    start = data.rfind(b"\n", 0, site.span.start) + 1
    end = data.find(b"\n", site.span.end)
    end = len(data) if end < 0 else end + 1
    before, behind = data[start : site.span.start], data[site.span.end : end].strip()
    alone = not before.strip() and re.fullmatch(rb"(" + comment + rb")?", behind) is not None and not site.needs_braces
    return (start, end) if alone else None
