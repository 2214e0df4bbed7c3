"""Offsets in bytes as what people and other tools count: lines and columns from 1, in characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb"\w+|.", re.DOTALL)


class Region(NamedTuple):
    """From one character up to another one, which is not part of it."""

    line: int
    column: int
    end_line: int
    end_column: int


class Line(NamedTuple):
    """A line: its number from 1, where it starts, and its bytes without the line's end."""

    number: int
    start: int
    text: bytes


class Positions:
    """Places in `sources`, the bytes that were analysed, by path. A file that is not there yet is empty.

    A column counts Unicode characters. A byte order mark is none; each byte that is no UTF-8 is one.
    """

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self.sources = sources
        self._starts: dict[str, list[int]] = {}

    def line(self, path: str, offset: int) -> Line:
        """The line that `offset` stands in."""
        content = self.sources.get(path, b"")
        if path not in self._starts:
            self._starts[path] = [0, *accumulate(len(line) + 1 for line in content.split(b"\n")[:-1])]
        starts = self._starts[path]
        number = bisect_right(starts, offset)
        start = starts[number - 1]
        end = content.find(b"\n", start)
        return Line(number, start, content[start : len(content) if end < 0 else end].rstrip(b"\r"))

    def point(self, path: str, offset: int) -> tuple[int, int]:
        """Line and column of the character at `offset`."""
        line = self.line(path, offset)
        before = self.sources.get(path, b"")[line.start : offset]
        if not line.start:
            before = before.removeprefix(_BOM)
        return line.number, len(before.decode("utf-8", "replace")) + 1

    def span(self, path: str, start: int, end: int) -> Region:
        """The bytes `[start, end)`."""
        return Region(*self.point(path, start), *self.point(path, end))

    def token(self, path: str, offset: int) -> Region:
        """The word at `offset`, or the one character."""
        return self.span(path, offset, offset + len(self.word(path, offset)))

    def word(self, path: str, offset: int) -> bytes:
        """The bytes of the word at `offset`, or of the one character; none behind the end of a line."""
        line = self.line(path, offset)
        found = _TOKEN.match(line.text, offset - line.start)
        return found.group() if found else b""
