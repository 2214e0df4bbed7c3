"""The parts of an object by name: paths of fields and elements, which of them may be the same place, and an index of
those that an object has.

Array elements are told apart by constant index, and by the index of a canonical loop, where `k` is the generic round
and `o` stands for all other rounds of the same range (docs/explanation/analysis.md: families).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf
from typing import TypeAlias

Step: TypeAlias = tuple[str, str]  # ("field", name) | ("at", key) | ("refers", "")
Path: TypeAlias = tuple[Step, ...]

ANY = "*"  # the key of an element whose index is not known
FIRST: Step = ("at", "0")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_TEXT = re.compile(r'c\|"[^"\\]*"')  # two of these that differ are not equal
_NONE: tuple[Path, ...] = ()
_NO_NAMES: frozenset[str] = frozenset()
_MOST_OF_A_NAME = 2  # classes that have a member of one name, one in the other: `this->buffer.buffer`
_MOST_DIMENSIONS = 4  # of an array of arrays, or of containers in each other


@lru_cache(maxsize=1 << 13)
def is_summary(path: Path) -> bool:
    """Whether the path may name several cells at once."""
    return any(kind == "at" and (key == ANY or key.startswith("o|")) for kind, key in path)


def _may_be_same(a: str, b: str) -> bool:
    if a == b or ANY in (a, b):
        return True
    if _TEXT.fullmatch(a) and _TEXT.fullmatch(b):
        return False
    kind_a, _, range_a = a.partition("|")
    kind_b, _, range_b = b.partition("|")
    if not (range_a or range_b):
        return False
    if (one := _extent(a)) is not None and (two := _extent(b)) is not None and (one[1] <= two[0] or two[1] <= one[0]):
        return False
    if range_a and range_b:
        return range_a != range_b or kind_a == kind_b
    return True


@lru_cache(maxsize=1 << 12)
def _extent(key: str) -> tuple[int, float] | None:
    """The indices that a key may stand for, as far as they are numbers: from one up to below another. None where the
    key does not begin with a number, and for a loop that does not go up by one.
    """
    kind, counted, bounds = key.partition("|")
    low, _, high = bounds.partition(":") if counted else (kind, "", f"={kind}")
    if not _NUMBER.fullmatch(low) or ":" in high:
        return None
    last = high.removeprefix("=")
    return int(low), int(last) + (last != high) if _NUMBER.fullmatch(last) else inf


def is_vaguer(a: Path, b: Path) -> bool:
    """Whether path `a` may name the same cell as `b` because it has an unknown index where that has one."""
    return any(x == ("at", ANY) != y for x, y in zip(a, b, strict=False)) and overlaps(a, b)


def covers(a: Path, b: Path) -> bool:
    """Whether every cell that path `b` may name has been written where path `a` was: the range of a loop holds it."""
    return len(a) == len(b) and all(
        x == y or (x[0] == y[0] == "at" and _holds(x[1], y[1])) for x, y in zip(a, b, strict=True)
    )


def _holds(range_: str, key: str) -> bool:
    """Whether the indices of a loop, as far as they are numbers, hold an index or those of another loop."""
    around, inside = _extent(range_), _extent(key)
    if around is None or inside is None or inf in (around[1], inside[1]):
        return False
    return around[0] <= inside[0] and inside[1] <= around[1]


@lru_cache(maxsize=1 << 13)
def is_unique(path: Path) -> bool:
    """Whether no other path names the same cell: only elements of arrays have several names."""
    return all(kind == "field" for kind, _ in path)


@lru_cache(maxsize=1 << 13)
def overlaps(a: Path, b: Path) -> bool:
    """Whether two paths from one root may name the same cell."""
    if a == b:
        return True
    if len(a) != len(b) or (a[-1] != b[-1] and "field" in (a[-1][0], b[-1][0])):
        return False
    for (ka, na), (kb, nb) in zip(a, b, strict=True):
        if ka != kb or (na != nb and not (ka == "at" and _may_be_same(na, nb))):
            return False
    return True


def array_of(path: Path) -> Path:
    """The place of the array that the place at a path is an element of; that one if it is no element."""
    return path[:-1] if path and path[-1][0] == "at" else path


@lru_cache(maxsize=1 << 14)
def kind_of(path: Path) -> Path:
    """Equal for all paths that may overlap: they lead through the same fields."""
    return tuple(step if step[0] == "field" else ("at", ANY) for step in path)


@lru_cache(maxsize=1 << 14)
def within_itself(path: Path) -> Path | None:
    """The beginning of a path that leads through a field of one name again and again, up to where it does so for the
    third time, or through elements of elements, up to the fifth in a row; None for any other. No object is a part of
    itself (C++17, 4.5 [intro.object] 4): these places are there because it was not known of a value of which class it
    is. Paths that are cut there are finite, and so are the rounds of a loop that copies parts of objects around.
    """
    if len(path) <= _MOST_OF_A_NAME:
        return None
    seen: dict[Step, int] = {}
    elements = 0
    for n, step in enumerate(path):
        elements = elements + 1 if step[0] == "at" else 0
        if step[0] == "field":
            seen[step] = seen.get(step, 0) + 1
        if elements > _MOST_DIMENSIONS or seen.get(step, 0) > _MOST_OF_A_NAME:
            return path[:n]
    return None


@lru_cache(maxsize=1 << 14)
def _is_plain(path: Path) -> bool:
    """Whether a path overlaps no other one that is plain: two indices that are written differently and stand for no
    range are different ones.
    """
    return not any(kind == "at" and (key == ANY or "|" in key) for kind, key in path)


class Index:
    """Which places an object has, and which of these may be parts of others or the same.

    It knows the paths of all places that were written, and every beginning of one.
    """

    __slots__ = ("_alike", "_compared", "_grown", "_own", "_vague", "inside", "members")

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.inside: dict[Path, list[Path]] = {}
        """All places that are in a place, by the path of that."""
        self._alike: dict[Path, list[Path]] = {}
        self._vague: dict[Path, list[Path]] = {}
        self._own: set[int] = set()  # the lists, by their `id`, that no other index has
        self.members: dict[Path, frozenset[str]] = {}
        """The names of the fields that a place has, by the `kind_of` its path."""
        self._grown: set[Path] = set()
        self._compared: bool | None = None
        for path in paths:
            self.add(path)

    def copy(self) -> Index:
        new = Index()
        new.inside = self.inside.copy()
        new._alike = self._alike.copy()
        new._vague = self._vague.copy()
        new.members = self.members.copy()
        new._grown = self._grown.copy()
        new._compared = self._compared
        self._own.clear()
        return new

    def add(self, path: Path) -> None:
        for n in range(len(path) + 1):
            around = path[:n]
            is_new = around not in self.inside
            self._append(self.inside, around, path)
            if is_new and not is_unique(around):
                kind = kind_of(around)
                self._append(self._alike, kind, around)
                if not _is_plain(around):
                    self._append(self._vague, kind, around)
            if is_new and n and path[n - 1][0] == "field":
                whole = kind_of(path[: n - 1])
                names = self.members.get(whole, _NO_NAMES)
                if path[n - 1][1] not in names:
                    self.members[whole] = names | {path[n - 1][1]}
                    self._grown.add(whole)

    def not_compared(self, mode: bool) -> list[frozenset[str]]:
        """The `members` of places that have grown since they were asked for in this mode; of all where it was another
        one.
        """
        found = self.members if self._compared is not mode else self._grown
        self._grown, self._compared = set(), mode
        return [self.members[whole] for whole in found]

    def _append(self, table: dict[Path, list[Path]], key: Path, path: Path) -> None:
        found = table.get(key)
        if found is not None and id(found) in self._own:
            found.append(path)
        else:
            table[key] = found = [path] if found is None else [*found, path]
            self._own.add(id(found))

    def same(self, path: Path) -> Sequence[Path]:
        """The places, or beginnings of paths of places, that may be the one at `path`."""
        own = (path,) if path in self.inside else _NONE
        if is_unique(path):
            return own
        if not _is_plain(path):
            return [other for other in self._alike.get(kind_of(path), _NONE) if overlaps(other, path)]
        vague = self._vague.get(kind_of(path))
        return own if vague is None else [*own, *(other for other in vague if overlaps(other, path))]
