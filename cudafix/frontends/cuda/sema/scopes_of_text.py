"""In which scope a place of a text stands: a namespace, a class or a function, by the braces around it."""

from __future__ import annotations

import re
from bisect import bisect_right

_BRACE = re.compile(rb"[{}]|\"(?:[^\"\\\n]|\\.)*\"|(?<!\w)'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_NAMESPACE = re.compile(rb"\bnamespace\b\s*(?:\[\[.*?\]\]\s*)?([\w:\s]*)\Z", re.DOTALL)
_CLASS = re.compile(
    rb"\b(?:struct|class|union)\s+(?:(?:__\w+__|alignas)\s*\([^{};]*?\)+\s*|\[\[[^\]]*\]\]\s*)*((?:\w+\s*::\s*)*\w+)"
    rb"(?:\s*<[^{};]*>)?\s*(?:final\s*)?(?::(?!:)[^{};]*)?\Z"
)
_FUNCTION = re.compile(rb"((?:\w+\s*(?:<[^<>{};()]*>)?\s*::\s*)*~?\w+)\s*\(")
_HEAD = re.compile(rb"[{};]")
_FAR = 2000  # bytes of the head of a class or function


class ScopesOfText:
    """The scopes of a text without comments and directives."""

    def __init__(self, text: bytes) -> None:
        self._starts = [0]
        self._names = [""]
        stack: list[tuple[str, bool]] = [("", False)]  # the name, and whether it is that of a function
        balanced = True
        for match in _BRACE.finditer(text):
            at = match.start()
            if match[0] not in b"{}":
                continue
            if match[0] == b"{":
                name, inside = stack[-1]
                stack.append((name, inside) if inside else _opened(_head(text, at), name))
            elif len(stack) > 1:
                stack.pop()
            else:
                balanced = False
            self._starts.append(at)
            name, inside = stack[-1]
            self._names.append(f"{name}()" if inside else name)
        self._balanced = balanced and len(stack) == 1

    def at(self, place: int) -> str | None:
        """The whole name of the scope around a place, of a block that of its function with `()` behind it: what is
        declared there need not be seen in all of it; None if braces are missing.
        """
        if not self._balanced:
            return None
        return self._names[bisect_right(self._starts, place) - 1]


def _head(text: bytes, at: int) -> bytes:
    """What stands in front of a brace, behind the last end of something else."""
    head = text[max(0, at - _FAR) : at]
    ends = [match.end() for match in _HEAD.finditer(head)]
    return head[ends[-1] if ends else 0 :].rstrip()


def _opened(head: bytes, around: str) -> tuple[str, bool]:
    """The scope that a brace behind this text opens in another one, and whether it is a function."""

    def inside(name: bytes) -> str:
        plain = re.sub(rb"\s|<[^<>]*>", b"", name).decode("utf-8", "replace")
        return f"{around}::{plain}" if around and plain else plain or around

    if (found := _NAMESPACE.search(head)) is not None:
        is_inline = head[: found.start()].rstrip().endswith(b"inline")  # as if around it ([namespace.def] 8)
        return around if is_inline else inside(found[1].strip()), False
    if (found := _CLASS.search(head)) is not None:
        return inside(found[1]), False
    if (found := _FUNCTION.search(head)) is not None:
        return inside(found[1]), True
    return around, False
