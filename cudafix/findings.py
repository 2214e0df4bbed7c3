"""What the analysis says about a program: findings (with a fix) and refusals (with what would unlock it)."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    """`asserted`: rests on assumptions, all of which the configuration asserts."""

    PROVEN = "proven"
    ASSUMES = "assumes"
    ASSERTED = "asserted"


ASSUMPTIONS = {
    "leaves_no_work": "{} leaves no work running on the device",
    "no_caller_relies_on_waits": "no caller of {} relies on it to wait for work that the caller started",
    "used_through_its_functions": "whoever uses {} does so through its functions only, on one device and in one host "
    "thread, and does not rely on them to wait for work of its own",
    "current_stream_only": "{} works with the program's arrays on the current stream only",
    "imports_set_no_hooks": "importing {} sets no hooks that look at the program's memory (tracing, `atexit`, other "
    "built-in functions), and no object of it stands where an annotation names a class of the program",
    "no_release_is_timed": "no measured time is meant to contain the wait of a release",
    "host_waits_itself": "the host looks at what a copy or kernel writes or prints only after a wait of its own",
    "cells_run_in_order": "the cells run from top to bottom, once",
    "evaluates_its_argument": "{} evaluates its argument, and only looks at the status",
    "built_as_written": "{} is built as its build files say: nobody chooses another default stream on the command line",
    "legacy_default_stream": "{} is compiled for the legacy default stream, as nvcc does unless it is told otherwise",
}
"""What a proof may rest on, by the names that a configuration asserts them by: words about a subject."""


class Assumption(str):
    """What a proof expects of code that was not seen, in words. `name` is a key of `ASSUMPTIONS`; `subject` is
    the one name in backticks that the words are about; all of these words where there is none, or several.
    """

    name: str
    subject: str
    _about: str

    def __new__(cls, name: str, subject: str) -> Assumption:
        self = super().__new__(cls, ASSUMPTIONS[name].format(subject))
        self.name = name
        quoted = re.findall("`([^`]+)`", subject)
        self.subject = quoted[0] if len(quoted) == 1 else subject
        self._about = subject
        return self

    def __reduce__(self) -> tuple[type[Assumption], tuple[str, str]]:
        return Assumption, (self.name, self._about)


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
    of `after` that nothing orders any more; `faulty`, of a defect, the two of `before` that nothing orders as it is.
    The proof itself covers all paths of `runs` runs of the engine: one for each program, root and configuration that
    reaches the sites. A `sketch` is no path: it shows the two operations of a counterexample and what waits between
    them, where no path that was tried shows both.
    """

    memory: tuple[Place, ...]
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    lost: tuple[int, int] | None = None
    faulty: tuple[int, int] | None = None
    runs: int = 1
    sketch: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cudafix can do, or a defect that it found. `edits` land all or not at all, across files.

    Findings that share a `group` are one decision: alloc and free sites that may meet move together. `defaults` are the
    assumptions that hold unless something is said against them: they make no fix less than proven.
    """

    codemod: str
    path: str
    offset: int
    message: str
    edits: tuple[Edit, ...] = ()
    related: tuple[Place, ...] = ()
    runs: Runs | None = None
    safety: Safety = Safety.PROVEN
    assumptions: tuple[Assumption, ...] = ()
    group: int = 0
    certificate: Certificate | None = None  # only where the configuration asks for it
    defaults: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A site that stays as it is. `name` has a page (`cudafix explain NAME`); `unlock` is what would let it move.

    If it is about an `order`, the first two of `related` are the operations that would be out of order.
    """

    name: str
    path: str
    offset: int
    message: str
    unlock: str
    related: tuple[Place, ...] = ()
    runs: Runs | None = None
    certificate: Certificate | None = None
    order: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Input that the tool could not work on: one clear line. Any problem makes the exit code 2."""

    path: str
    message: str


class Suppressed(NamedTuple):
    """A result that a comment in the source, or else the configuration, holds back, and the reason that it gives."""

    item: Finding | Refusal
    reason: str
    in_source: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a set of files. `sites` counts host `cudaMalloc` call sites that were seen, and those of
    `cuMemAlloc` in C++.

    `in_one_function` holds those (path and offset) whose memory is freed, and freed only in the function around them.
    `suppressed` are results that comments or the configuration hold back: refusals are left out of `refusals`, findings
    are left alone. `left_alone` says why of each site that nobody looked at any further. `context` are the files that
    were only read: nothing is said about them.
    """

    findings: tuple[Finding, ...]
    refusals: tuple[Refusal, ...]
    problems: tuple[Problem, ...] = ()
    sites: int = 0
    in_one_function: frozenset[tuple[str, int]] = frozenset()
    suppressed: tuple[Suppressed, ...] = ()
    left_alone: tuple[str, ...] = ()
    context: frozenset[str] = frozenset()

    def given(self, files: Iterable[str]) -> list[str]:
        """Those of the files that are not only read."""
        return [path for path in files if path not in self.context]

    @property
    def suppressed_findings(self) -> frozenset[tuple[str, int, str]]:
        """Path, offset and codemod of the findings among them."""
        items = (held.item for held in self.suppressed)
        return frozenset((item.path, item.offset, item.codemod) for item in items if isinstance(item, Finding))

    @property
    def suppressed_refusals(self) -> int:
        return sum(isinstance(held.item, Refusal) for held in self.suppressed)
