"""Statements to insert, in the code's own style: its check wrapper, indentation, line ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cudafix.findings import Edit
from cudafix.ir import Site, Span

_INDENTED = re.compile(rb"^([ \t]+)\S", re.MULTILINE)


class Style(NamedTuple):
    """How a file is written: the end of its lines and one level of indentation."""

    newline: str
    unit: str


def style_of(data: bytes) -> Style:
    """Read off the file: CRLF if its first line ends so; a tab if most indented lines start with one."""
    first = data.find(b"\n")
    newline = "\r\n" if first > 0 and data[first - 1 : first] == b"\r" else "\n"
    indents = [match[1] for match in _INDENTED.finditer(data, 0, 100_000)]
    if sum(indent[:1] == b"\t" for indent in indents) * 2 > len(indents):
        return Style(newline, "\t")
    widths = [len(indent) for indent in indents if indent[:1] == b" "]
    twos = sum(width == 2 for width in widths)
    fours = sum(width == 4 for width in widths)
    return Style(newline, "  " if twos > fours or (twos == fours and any(w % 4 for w in widths)) else "    ")


def checked(site: Site, call: str) -> str:
    """A call as a statement, in the wrapper of the statement that it stands next to."""
    return f"{site.prefix}{call}{site.suffix or ';'}"


def block(lines: Sequence[str], unit: str) -> list[str]:
    """The statements in a block of their own, so that what they declare meets no other name."""
    return ["{", *(unit + line for line in lines), "}"]


def before(site: Site, lines: Sequence[str], data: bytes) -> list[Edit]:
    """Insert statements before the statement of a site. A branch or loop body without braces gets them."""
    style = style_of(data)
    newline = (" \\" if site.continuation else "") + style.newline
    span = site.span
    if not site.needs_braces:
        text = "".join(line + newline + site.indent for line in lines)
        return [Edit(span.path, span.start, span.start, text.encode())]
    opening, outer = _before_body(span, data)
    inner = outer + style.unit
    text = " {" + newline + inner + (newline + inner).join([*lines, ""])
    return [
        Edit(span.path, opening, span.start, text.encode()),
        Edit(span.path, span.end, span.end, f"{newline}{outer}}}".encode()),
    ]


def after(site: Site, lines: Sequence[str], data: bytes) -> list[Edit]:
    """Insert statements after the statement of a site, and after the comment that follows it on its line."""
    style = style_of(data)
    newline = (" \\" if site.continuation else "") + style.newline
    span = site.span
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
    if not site.continuation and re.fullmatch(rb"\s*(//.*|/\*[^*]*\*/)", rest):
        at += len(rest)
    text = "".join(newline + site.indent + line for line in lines)
    return [Edit(span.path, at, at, text.encode())]


def _before_body(span: Span, data: bytes) -> tuple[int, str]:
    """Where the brace of a body without braces goes (after the condition), and the indentation of that line."""
    opening = len(data[: span.start].rstrip())
    line = data.rfind(b"\n", 0, opening) + 1
    indent = data[line:opening]
    return opening, indent[: len(indent) - len(indent.lstrip())].decode("ascii", "replace")
