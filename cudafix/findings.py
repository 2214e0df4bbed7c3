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


class Step(NamedTuple):
    """One step of a program on the path that a certificate shows.

    `kind` is `allocate`, `free`, `kernel`, `copy`, `work`, `record`, `wait`, `synchronize`, `host` or `end`. `lane` is
    the stream, as the program spells it; empty for the host. `after` holds the earlier steps on other lanes that the
    engine knows to be finished before this one, less those that follow from the rest. The host `waits` in a step, or
    only issues. `mine`: it touches the memory that the certificate is about. `inserted`: only the rewrite has it.
    """

    kind: str
    lane: str
    place: Place
    after: tuple[int, ...]
    waits: bool = False
    mine: bool = False
    inserted: bool = False


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of one group, shown on one path; or of a refused one, the path on which an order would be lost.

    `after` is the program as it would be rewritten, empty where nothing can be said of it. `lost` names the two steps
    of `after` that nothing orders any more. Of a defect, `before` is empty, and `after` the program as it is. The proof
    itself covers all paths of `runs` runs of the engine: one for each program, root and configuration that reaches the
    sites.
    """

    memory: tuple[Place, ...]
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    lost: tuple[int, int] | None = None
    runs: int = 1


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
    certificate: Certificate | None = None  # only where the configuration asks for it


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
    certificate: Certificate | None = None


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
