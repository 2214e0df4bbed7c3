"""The results of a run as data with names and types: what `cudafix.check` returns, and the JSON report is written from.

Lines and columns start at 1 and count characters; the ranges of `Change` are in bytes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cudafix.findings import Assumption, Finding, Place, Runs, Safety
from cudafix.report import words
from cudafix.report.listing import Entry, Level, Listing
from cudafix.report.positions import Region
from cudafix.report.terminal import readable


class Related(NamedTuple):
    """Another place that a result is about, and what happens there."""

    path: str
    region: Region
    message: str


class Change(NamedTuple):
    """Replace the bytes `[start, end)` of the file at `path`, which are the characters of `region`, by `text`."""

    path: str
    region: Region
    start: int
    end: int
    text: bytes


class Resting(NamedTuple):
    """An assumption that a fix rests on: its name in the configuration, what it is about, and the words for it."""

    name: str
    subject: str
    message: str


class Clause(NamedTuple):
    """One line of a proof, or of why there is none: what it is about (`allocated`, `ordered`, …), and where."""

    about: str
    text: str
    places: tuple[Related, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A finding, or a refusal: a site that stays as it is.

    `rule` is the name of a codemod or of a refusal (`cudafix explain`); `fails`: `check` exits with code 1. `offset` is
    where the region starts, in bytes of the file. `edits` land all or not at all, with those of all results of the
    same `group` (if it is not 0); `chosen`: `apply` makes them. `suppressed` is the reason that a comment or the
    configuration gives. Of a refusal, `unlock` says what would let the site move, and `safety` is None. `proof` is
    there if it was asked for.
    """

    rule: str
    level: Level
    fails: bool
    path: str
    region: Region
    offset: int
    message: str
    fingerprint: str
    runs: Runs | None
    related: tuple[Related, ...]
    chosen: bool
    suppressed: str | None = None
    safety: Safety | None = None
    assumptions: tuple[Resting, ...] = ()
    defaults: tuple[Resting, ...] = ()
    group: int = 0
    edits: tuple[Change, ...] = ()
    unlock: str | None = None
    proof: tuple[Clause, ...] = ()

    @property
    def is_refusal(self) -> bool:
        return self.safety is None


def results(listing: Listing) -> list[Result]:
    """The entries of a listing, in order, with the paths that the run names files by."""
    chosen = {id(finding) for finding in listing.selection.chosen}
    return [_result(listing, entry, id(entry.item) in chosen) for entry in listing.entries]


def _result(listing: Listing, entry: Entry, chosen: bool) -> Result:
    item = entry.item
    finding = item if isinstance(item, Finding) else None
    return Result(
        rule=entry.rule,
        level=entry.level,
        fails=entry.fails,
        path=item.path,
        region=entry.region,
        offset=item.offset,
        message=entry.message,
        fingerprint=entry.fingerprint,
        runs=item.runs,
        related=tuple(_related(listing, item.related)),
        chosen=chosen,
        suppressed=readable(entry.suppressed.reason) if entry.suppressed is not None else None,
        safety=finding.safety if finding is not None else None,
        assumptions=_resting(finding.assumptions) if finding is not None else (),
        defaults=_resting(finding.defaults) if finding is not None else (),
        group=finding.group if finding is not None else 0,
        edits=tuple(_changes(listing, finding)) if finding is not None else (),
        unlock=None if isinstance(item, Finding) else readable(item.unlock),
        proof=tuple(
            Clause(clause.about, readable(clause.text), tuple(_related(listing, clause.places)))
            for clause in words.clauses(item)
        ),
    )


def _related(listing: Listing, places: Iterable[Place]) -> Iterator[Related]:
    return (Related(place.path, listing.region(place), readable(place.text)) for place in places)


def _resting(assumptions: Iterable[Assumption]) -> tuple[Resting, ...]:
    return tuple(Resting(each.name, readable(each.subject), readable(each)) for each in assumptions)


def _changes(listing: Listing, finding: Finding) -> Iterator[Change]:
    for edits in listing.selection.edits_of([finding]).values():
        for path, start, end, text in edits:
            yield Change(path, listing.positions.span(path, start, end), start, end, text)
