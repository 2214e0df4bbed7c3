"""Colour on a terminal: only where it is one, and not with `NO_COLOR` (https://no-color.org) or a dumb terminal."""

from __future__ import annotations

import os
import sys

_OF_LINES = {b"-": b"\x1b[31m", b"+": b"\x1b[32m", b"@": b"\x1b[36m"}


def wanted() -> bool:
    """Whether standard output takes colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def diff(text: bytes) -> bytes:
    """A unified diff with its lines in colour."""
    return b"".join(
        _OF_LINES[line[:1]] + line.rstrip(b"\r\n") + b"\x1b[m" + line[len(line.rstrip(b"\r\n")) :]
        if line[:1] in _OF_LINES
        else line
        for line in text.splitlines(keepends=True)
    )
