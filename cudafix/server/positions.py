"""Places in a text as LSP counts them: lines from 0, and columns from 0 in code units of what was negotiated.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#position
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_END = re.compile(rb"\r\n|\n|\r")  # what ends a line to LSP
_BOM = b"\xef\xbb\xbf"  # editors do not count it among the characters


class Point(NamedTuple):
    line: int
    character: int


class Text:
    """The bytes of a file, as an editor shows them."""

    def __init__(self, data: bytes, encoding: Encoding = "utf-16") -> None:
        self._data = data
        self._codec, self._size = _UNIT[encoding]
        self._starts = [len(_BOM) if data.startswith(_BOM) else 0, *(end.end() for end in _END.finditer(data))]
        self._lines = [0, *(end.end() for end in re.finditer(b"\n", data))]

    def point(self, offset: int) -> Point:
        """The place of the byte at `offset`."""
        line = max(bisect_right(self._starts, offset) - 1, 0)
        before = self._data[self._starts[line] : offset].decode("utf-8", "replace")
        return Point(line, len(before.encode(self._codec)) // self._size)

    def at(self, line: int, column: int) -> Point:
        """The place of a line and a column as cudafix counts them: from 1, lines that end in LF, in characters."""
        start = self._lines[min(line, len(self._lines)) - 1]
        end = self._data.find(b"\n", start)
        data = self._data[start : len(self._data) if end < 0 else end]
        mark = len(_BOM) if start == 0 and data.startswith(_BOM) else 0
        before = data[mark:].decode("utf-8", "surrogateescape")[: column - 1]
        return self.point(start + mark + len(before.encode("utf-8", "surrogateescape")))
