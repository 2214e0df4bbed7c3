"""Are two outputs the same: byte for byte, without what a pattern matches, or as numbers within a tolerance?"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cudafix.verify.process import Ran

_NUMBER = re.compile(rb"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|(?:inf|nan)\b)", re.IGNORECASE)
_SHOWN = 160


@dataclass(frozen=True)
class Comparison:
    """What is compared, and how.

    `streams` are of "stdout" and "stderr"; the exit code always counts. What `ignore` matches (regular expressions, `^`
    and `$` at every line) is left out on both sides. With a `tolerance`, numbers a and b are equal if
    |a - b| <= tolerance * max(|a|, |b|, 1), and the text between them must be the same up to blanks.
    """

    streams: tuple[str, ...] = ("stdout", "stderr")
    ignore: tuple[str, ...] = ()
    tolerance: float | None = None


@dataclass(frozen=True)
class Seen:
    """One run: what it did, and the bytes of the files that it wrote (None: it did not write the file)."""

    ran: Ran
    files: Mapping[str, bytes | None]

    def parts(self, how: Comparison) -> dict[str, bytes | None]:
        streams = {"stdout": self.ran.stdout, "stderr": self.ran.stderr}
        return {**{name: streams[name] for name in how.streams}, **self.files}

    def digest(self, how: Comparison) -> str:
        """SHA-256 of what is compared, before anything is ignored."""
        whole = hashlib.sha256(repr(self.ran.exit).encode())
        for name, data in self.parts(how).items():
            whole.update(f"\0{name}\0{-1 if data is None else len(data)}\0".encode() + (data or b""))
        return whole.hexdigest()


def difference(one: Seen, other: Seen, how: Comparison) -> str:
    """What is different between two runs, in one line; empty if they are the same."""
    if one.ran.exit != other.ran.exit:
        return f"exit code: {ending(one.ran)}, then {ending(other.ran)}"
    left, right = one.parts(how), other.parts(how)
    for name in left:
        said = _differ(left[name], right[name], how)
        if said:
            return f"{name}: {said}"
    return ""


def ending(ran: Ran) -> str:
    """How a run ended, in words."""
    if ran.exit is None:
        return ran.stopped
    return f"signal {-ran.exit}" if ran.exit < 0 else str(ran.exit)


def _differ(one: bytes | None, other: bytes | None, how: Comparison) -> str:
    if one == other:
        return ""
    if one is None or other is None:
        return f"written only {'after' if one is None else 'before'}" if one != other else ""
    for pattern in how.ignore:
        expression = re.compile(pattern.encode(), re.MULTILINE)
        one, other = expression.sub(b"", one), expression.sub(b"", other)
    left, right = one.splitlines(), other.splitlines()
    if one != other and left == right:
        return "the line ends differ"
    for number, (a, b) in enumerate(zip(left, right, strict=False), 1):
        if a != b and not (how.tolerance is not None and _close(a, b, how.tolerance)):
            return f"line {number}: {_readable(a)}, then {_readable(b)}"
    if len(left) != len(right):
        longer = left if len(left) > len(right) else right
        extra = _readable(longer[min(len(left), len(right))])
        return f"{len(left)} lines, then {len(right)}: {extra}"
    return ""


def _close(one: bytes, other: bytes, tolerance: float) -> bool:
    def text(line: bytes) -> list[list[bytes]]:
        return [piece.split() for piece in _NUMBER.split(line)]

    a, b = ([float(number) for number in _NUMBER.findall(line)] for line in (one, other))
    if len(a) != len(b) or text(one) != text(other):
        return False
    return all(_near(x, y, tolerance) for x, y in zip(a, b, strict=True))


def _near(x: float, y: float, tolerance: float) -> bool:
    if math.isfinite(x) and math.isfinite(y):
        return abs(x - y) <= tolerance * max(abs(x), abs(y), 1.0)
    return x == y or (math.isnan(x) and math.isnan(y))


def _readable(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
