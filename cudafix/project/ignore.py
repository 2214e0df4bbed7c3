"""The patterns of `.gitignore` files, with git's own meaning (gitignore(5), all of it but POSIX character classes).

A path is tested on its own, not with the folders above it: as in git, a walk never enters a folder that is ignored,
so `*` with `!*/` after it ignores files and enters folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Pattern(NamedTuple):
    """One line. `segments` are matched one to a path's part, `None` (`**`) to any number of them.

    A pattern that is not `anchored` has one segment, for the last part of a path at any depth.
    """

    segments: tuple[re.Pattern[str] | None, ...]
    anchored: bool
    folders_only: bool
    negated: bool

    def matches(self, parts: tuple[str, ...]) -> bool:
        """Whether the path, relative to the folder that the pattern belongs to, is meant."""
        return _match(self.segments, parts if self.anchored else parts[-1:])


class Ignore:
    """The patterns that hold below the folder at the real path `base`."""

    def __init__(self, base: str, lines: Iterable[str]) -> None:
        self._prefix = base.rstrip("/") + "/"
        self._patterns = [pattern for line in lines if (pattern := parse(line)) is not None]

    def verdict(self, path: str, folder: bool) -> bool | None:
        """True: ignored; False: taken, whatever outer patterns say; None: no pattern matches. The last match wins."""
        if not path.startswith(self._prefix):
            return None
        parts = tuple(path[len(self._prefix) :].split("/"))
        for pattern in reversed(self._patterns):
            if (folder or not pattern.folders_only) and pattern.matches(parts):
                return not pattern.negated
        return None


def parse(line: str) -> Pattern | None:
    """The pattern on a line; None for a comment, a blank line, or a pattern that matches nothing."""
    line = line.removesuffix("\r")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    anchored = "/" in line
    try:
        words = line.removeprefix("/").split("/")
        segments = tuple(None if word == "**" and anchored else re.compile(_regex(word), re.DOTALL) for word in words)
    except (ValueError, re.error):
        return None
    return Pattern(segments, anchored, folders_only, negated) if line else None


def _match(segments: tuple[re.Pattern[str] | None, ...], parts: tuple[str, ...]) -> bool:
    if not segments:
        return not parts
    head, rest = segments[0], segments[1:]
    if head is None:
        # at the end `**` means what is inside, so at least one part; elsewhere any number of folders
        return any(_match(rest, parts[skip:]) for skip in range(len(parts) + 1)) if rest else bool(parts)
    return bool(parts) and head.fullmatch(parts[0]) is not None and _match(rest, parts[1:])


def _regex(word: str) -> str:
    """A segment as a regular expression. Raises `ValueError` for one that matches nothing: `a[b`, a final backslash."""
    out, at = [], 0
    while at < len(word):
        char = word[at]
        at += 1
        if char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "[":
            inside, at = _bracket(word, at)
            out.append(inside)
        else:
            if char == "\\":
                if at == len(word):
                    raise ValueError(word)
                char = word[at]
                at += 1
            out.append(re.escape(char))
    return "".join(out)


def _bracket(word: str, at: int) -> tuple[str, int]:
    """The character class whose content starts at `at`, and the place behind it. A `]` that comes first is a member."""
    negated = word[at : at + 1] in ("!", "^")
    at += negated
    out, first = "", at
    while word[at : at + 1] != "]" or at == first:
        escaped = word[at : at + 1] == "\\"
        at += escaped
        if at >= len(word):
            raise ValueError(word)
        out += "-" if word[at] == "-" and not escaped else re.escape(word[at])
        at += 1
    return f"[{'^' if negated else ''}{out}]", at + 1
