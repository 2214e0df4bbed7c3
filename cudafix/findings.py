"""What the analysis says about a program: findings (with a fix) and refusals (with what would unlock it)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace the bytes `[start, end)` of the file at `path` by `text`. Insertions have `start == end`."""

    path: str
    start: int
    end: int
    text: bytes


class Place(NamedTuple):
    """A place in a file and what happens there, for "… at line 12 may still run when … at line 20"."""

    path: str
    offset: int
    text: str


class Safety(Enum):
    PROVEN = "proven"
    ASSUMES = "assumes"


class Runs(Enum):
    """`churn`: in a loop or in a function that is called again and again. `once` gains nothing (docs/FACTS.md)."""

    CHURN = "churn"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cudafix can do, or a defect that it found. `edits` land all or not at all, across files.

    Findings that share a `group` are one decision: alloc and free sites that may meet move together.
    """

    codemod: str
    path: str
    offset: int
    message: str
    edits: tuple[Edit, ...] = ()
    related: tuple[Place, ...] = ()
    runs: Runs | None = None
    safety: Safety = Safety.PROVEN
    assumptions: tuple[str, ...] = ()
    group: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A site that stays as it is. `name` has a page (`cudafix explain NAME`); `unlock` is what would let it move."""

    name: str
    path: str
    offset: int
    message: str
    unlock: str
    related: tuple[Place, ...] = ()
    runs: Runs | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Input that the tool could not work on: one clear line. Any problem makes the exit code 2."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a set of files. `sites` counts host `cudaMalloc` call sites that were seen.

    `in_one_function` holds those (path and offset) whose memory is freed, and freed only in the function around them.
    """

    findings: tuple[Finding, ...]
    refusals: tuple[Refusal, ...]
    problems: tuple[Problem, ...] = ()
    sites: int = 0
    in_one_function: frozenset[tuple[str, int]] = frozenset()
