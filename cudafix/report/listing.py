"""What a report for machines is made of: one entry for each finding and refusal, with its level, place and fingerprint.

Paths are relative to the repository, with forward slashes. A fingerprint is made of the rule, the path and the text of
the line, so it stays when lines move; of equal lines in one file the first is the first again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cudafix.findings import Finding, Place, Refusal, Report, Runs, Safety, Suppressed
from cudafix.project.config import Config
from cudafix.report import suppressions
from cudafix.report.positions import Positions, Region
from cudafix.report.selection import Selection
from cudafix.report.terminal import PAIRS, readable

_COMMENT = re.compile(rb"//.*|/\*.*?\*/")
_BLANK = re.compile(rb"\s+")


class Level(Enum):
    """How much a result matters to CI. What makes `check` fail is another question (`fails`)."""

    ERROR = "error"  # a defect of code that is stream-ordered already
    WARNING = "warning"  # a pair in a loop, a suppression that is out of order, or a refusal that fails
    NOTE = "note"  # a pair that runs once
    REVIEW = "review"  # a fix that rests on an assumption
    NONE = "none"  # a refusal: nothing to do


_TOLD = frozenset((Level.ERROR, Level.WARNING, Level.NOTE))


@dataclass(frozen=True, slots=True)
class Entry:
    """One result. `rule` is the name of a codemod or of a refusal, and has a page (`cudafix explain`)."""

    rule: str
    level: Level
    path: str
    region: Region
    message: str
    fingerprint: str
    item: Finding | Refusal
    suppressed: Suppressed | None = None
    fails: bool = False


class Shown(NamedTuple):
    """What a diff shows of a file as it is now: its `lines` in pieces, the numbers that unchanged ones had in the `old`
    file, and the `name` of that; it is empty where it is the same.
    """

    lines: Sequence[range]
    old: Mapping[int, int] = MappingProxyType({})
    name: str = ""


class Listing:
    """The results of a run, in the order of their places. `fail_on` is what makes `check` fail.

    `shown` is what the reader of a change is shown, by path from the top of the repository; None if the reader has
    everything.
    """

    def __init__(
        self,
        sources: Mapping[str, bytes],
        report: Report,
        selection: Selection,
        fail_on: Collection[str] = Config.fail_on,
        shown: Mapping[str, Shown] | None = None,
    ) -> None:
        self.positions = Positions(sources)
        self.report = report
        self.selection = selection
        self.base = repository(sources)
        self._shown = shown
        assumed = [finding for finding, _ in selection.left if finding.safety is Safety.ASSUMES]
        reasons = {key(held.item): held for held in report.suppressed}
        listed: list[Finding | Refusal] = [*(held.item for held in report.suppressed), *selection.chosen, *assumed]
        items = {key(item): item for item in (*listed, *report.refusals)}
        prints = fingerprints(sources, [*report.findings, *items.values()])
        chosen = {key(finding) for finding in selection.chosen}
        counted = chosen | {key(refusal) for refusal in report.refusals}
        self.entries = [
            Entry(
                rule(item),
                _level(item, place in chosen or place in reasons, fail_on),
                self.name(item.path),
                self.positions.token(item.path, item.offset),
                _message(item),
                prints[place],
                item,
                reasons.get(place),
                place in counted and place not in reasons and fails(item, fail_on),
            )
            for place, item in sorted(items.items())
        ]

    def name(self, path: str) -> str:
        """The path as a report shows it."""
        return relative(path, self.base)

    def is_shown(self, name: str, first: int, last: int) -> bool:
        """Whether the reader of a change is shown these lines of a file, by the name in the report, in one piece."""
        if self._shown is None:
            return True
        found = self._shown.get(name)
        return found is not None and any(first in lines and last in lines for lines in found.lines)

    def before(self, name: str, line: int) -> tuple[str, int | None]:
        """The name that a file had before a change, and the number that a line had, None for one that is new."""
        found = (self._shown or {}).get(name)
        return (found.name or name, found.old.get(line)) if found is not None else (name, None)

    def region(self, place: Place) -> Region:
        """Where a related place is."""
        return self.positions.token(place.path, place.offset)


def key(item: Finding | Refusal) -> tuple[str, int, str]:
    """What tells two results of one run apart."""
    return item.path, item.offset, rule(item)


def fingerprints(sources: Mapping[str, bytes], items: Iterable[Finding | Refusal]) -> dict[tuple[str, int, str], str]:
    """The fingerprint of each result, by its `key`. Two results of a run never share one."""
    positions, base = Positions(sources), repository(sources)
    seen: Counter[bytes] = Counter()
    found: dict[tuple[str, int, str], str] = {}
    for path, offset, name in sorted({key(item) for item in items}):
        text = _BLANK.sub(b" ", _COMMENT.sub(b"", positions.line(path, offset).text)).strip()
        parts = (name.encode(), os.fsencode(relative(path, base)), text)
        same = b"\0".join(parts)
        found[path, offset, name] = hashlib.sha256(b"%b\0%d" % (same, seen[same])).hexdigest()[:32]
        seen[same] += 1
    return found


def repository(paths: Iterable[str]) -> str:
    """The folder that reported paths start from: that of `.git` above the current folder, or above all of `paths`.

    The current folder where there is none.
    """
    here = Path.cwd()
    outside = [os.path.dirname(path) for path in paths if os.path.isabs(path)]
    common = Path(os.path.commonpath([*outside, here])) if outside else here
    for start in dict.fromkeys((here, common, *(map(Path, outside[:1])))):
        for folder in (start, *start.parents):
            if (folder / ".git").exists():
                return str(folder)
    return str(here)


def relative(path: str, base: str) -> str:
    """`path` (as a run names it) from `base`, with forward slashes; absolute where it lies outside."""
    absolute = Path(os.path.abspath(path))
    try:
        return absolute.relative_to(base).as_posix()
    except ValueError:
        return absolute.as_posix()


def told(entries: Sequence[Entry]) -> list[Entry]:
    """The entries to tell somebody who looks at a change: what fails, and notes."""
    return [entry for entry in entries if entry.level in _TOLD and entry.suppressed is None]


def failing(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that make `check` fail."""
    return [entry for entry in entries if entry.fails]


def fails(item: Finding | Refusal, fail_on: Collection[str]) -> bool:
    """Whether a result that is wanted and not known makes `check` fail (`config.FAIL_ON`)."""
    return _kind(item) in fail_on


def _kind(item: Finding | Refusal) -> str:
    """One of `config.FAIL_ON`."""
    if isinstance(item, Refusal):
        return "refusals"
    if item.runs is None:
        return "churn" if item.codemod in PAIRS else "defects"  # the arrays of Python come and go
    return item.runs.value


def rule(item: Finding | Refusal) -> str:
    """The name that `explain` takes."""
    return item.name if isinstance(item, Refusal) else item.codemod


def _message(item: Finding | Refusal) -> str:
    """The message with its subject: in a list of annotations no headline says what it is about."""
    text = readable(item.message)
    runs = f" ({'in a loop' if item.runs is Runs.CHURN else 'runs once'})" if item.runs is not None else ""
    if isinstance(item, Refusal):
        return f"stays: {text}{runs}" if item.name == "driver_memory" else f"stays `cudaMalloc`: {text}{runs}"
    if item.codemod.endswith("stream_ordered_pairs"):
        return f"`cudaMalloc` and its `cudaFree` can be stream-ordered: the pair {text}{runs}"
    return f"{text}{runs}"


def whole_message(entry: Entry) -> str:
    """The message in one line; what it rests on, or what would unlock it, belongs to it."""
    item = entry.item
    if not isinstance(item, Finding):
        return f"{entry.message}. To unlock: {readable(item.unlock)}"
    if item.safety is Safety.PROVEN:
        return entry.message
    who = "the configuration asserts" if item.safety is Safety.ASSERTED else "this assumes"
    return f"{entry.message}; {who} that {readable('; '.join(item.assumptions))}"


def _level(item: Finding | Refusal, chosen: bool, fail_on: Collection[str]) -> Level:
    if isinstance(item, Refusal):
        return Level.WARNING if fails(item, fail_on) else Level.NONE
    if not chosen:
        return Level.REVIEW
    if item.codemod == suppressions.NAME:
        return Level.WARNING
    return {"defects": Level.ERROR, "churn": Level.WARNING, "once": Level.NOTE}[_kind(item)]
