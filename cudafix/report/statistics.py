"""The state of a migration: the share that is done, what is left to do, and what stands in the way, most first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from cudafix.findings import Finding, Refusal, Report, Runs, Safety
from cudafix.project.prefilter import SUFFIX
from cudafix.report import pages
from cudafix.report.selection import Selection
from cudafix.report.terminal import PAIRS, readable
from cudafix.rewrite import wrappers

_NAMES = rb"(?:cudaMalloc(?:FromPool)?Async|cuMemAlloc(?:FromPool)?Async|mallocAsync)\s*(?:<[^<>;]*>\s*)?\("
_ASYNC = re.compile(rb"\b" + _NAMES)
# C++ compares names whole: `memory::cudaMallocAsync` and `pool.cudaMallocAsync` are the program's
_BARE = re.compile(rb"(?<![\w:.>])" + _NAMES)
_OUTERMOST = re.compile(rb"(?<![\w>:])(?<!\w )::\s*" + _NAMES)
_DECLARED = re.compile(rb"\b(?!return\b|else\b|throw\b|do\b)[A-Za-z_]\w*(?:\s+|\s*[*&]\s*)" + _NAMES)
_MOST = 3  # details of one reason


@dataclass(frozen=True)
class Reason:
    """What keeps sites where they are. `details` are the messages behind it with the number of their sites."""

    name: str
    sites: int
    files: int
    details: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Statistics:
    """Allocation sites: `migrated` ones are stream-ordered already; `ready` ones can move, `churn` of them in a loop;
    `assumed` ones rest on `assumptions`; `left` ones are not wanted, by reason; `refused` ones stay, for `reasons`.
    """

    migrated: int
    ready: int
    churn: int
    assumed: int
    left: tuple[tuple[str, int], ...]
    refused: int
    reasons: tuple[Reason, ...]
    assumptions: tuple[Reason, ...]

    @property
    def sites(self) -> int:
        return self.migrated + self.ready + self.assumed + sum(count for _, count in self.left) + self.refused


def statistics(sources: Mapping[str, bytes], report: Report, selection: Selection) -> Statistics:
    """Count the allocation sites of a report."""
    pairs = [finding for finding in selection.chosen if finding.codemod in PAIRS]
    left = [(finding, reason) for finding, reason in selection.left if finding.codemod in PAIRS]
    assumed = [finding for finding, _ in left if finding.safety is Safety.ASSUMES]
    others = Counter(reason for finding, reason in left if finding.safety is not Safety.ASSUMES)
    others["suppressed"] += report.suppressed_refusals
    texts = {path: sources[path] for path in report.given(sources)}
    known = wrappers.of_texts({path: data for path, data in texts.items() if not path.endswith(SUFFIX)})
    return Statistics(
        sum(stream_ordered(path, wrappers.plain_text(data, path, known)) for path, data in texts.items()),
        len(pairs),
        sum(finding.runs is Runs.CHURN for finding in pairs),
        len(assumed),
        tuple(sorted((+others).items(), key=_most)),
        len(report.refusals),
        _ranked((refusal.name, refusal, refusal.message) for refusal in report.refusals),
        _ranked((each.name, finding, each.subject) for finding in assumed for each in finding.assumptions),
    )


def as_json(found: Statistics) -> dict[str, Any]:
    """For the JSON report."""

    def rows(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
        return [{"name": r.name, "sites": r.sites, "files": r.files, "details": dict(r.details)} for r in reasons]

    counts = {name: getattr(found, name) for name in ("sites", "migrated", "ready", "churn", "assumed", "refused")}
    rest = {"reasons": rows(found.reasons), "assumptions": rows(found.assumptions)}
    return counts | {"left": dict(found.left)} | rest


def write(console: Console, found: Statistics) -> None:
    """The migration report as text."""

    def line(what: str, count: int, note: str = "") -> None:
        share = f"{round(100 * count / found.sites)} %" if found.sites else ""
        told = f"  {note}" if note and count else ""
        console.print(Text.assemble((f"{count:6} {share:>5}  ", "bold"), what, (told, "dim")))

    console.print(Text(f"{found.sites} allocation site{'s' * (found.sites != 1)}", style="bold"))
    line("stream-ordered already", found.migrated)
    line("can move now", found.ready, f"`cudafix apply`; {found.churn} in a loop, where it pays")
    line("rest on assumptions", found.assumed, "assert them, or `--unsafe`")
    for why, count in found.left:
        line(f"left: {why}", count)
    line("refused", found.refused, f"{len(found.reasons)} reason{'s' * (len(found.reasons) != 1)}")
    for title, reasons in (("What to assert", found.assumptions), ("What stands in the way", found.reasons)):
        if reasons:
            console.print(Text(f"\n{title}, most sites first", style="bold"))
        for reason in reasons:
            about = f": {pages.title(reason.name)}" if reasons is found.reasons else ""
            where = f"{reason.sites:6} in {reason.files} file{'s' * (reason.files != 1)}  "
            console.print(Text.assemble((where, "bold"), (reason.name, "yellow"), about))
            for text, count in reason.details[:_MOST]:
                console.print(Text(f"{'':8}{count:5}  {readable(text)}", style="dim"))
            if len(reason.details) > _MOST:
                console.print(Text(f"{'':15}and {len(reason.details) - _MOST} more", style="dim"))


def _ranked(rows: Iterable[tuple[str, Finding | Refusal, str]]) -> tuple[Reason, ...]:
    """Names with their sites and details, most frequent first."""
    sites: dict[str, set[tuple[str, int]]] = defaultdict(set)
    details: dict[str, Counter[str]] = defaultdict(Counter)
    for name, item, detail in rows:
        sites[name].add((item.path, item.offset))
        details[name][detail] += 1
    found = [
        Reason(name, len(places), len({path for path, _ in places}), tuple(sorted(details[name].items(), key=_most)))
        for name, places in sites.items()
    ]
    return tuple(sorted(found, key=lambda reason: (-reason.sites, reason.name)))


def _most(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


def stream_ordered(path: str, data: bytes) -> int:
    """How many calls in a text allocate stream-ordered memory."""
    if b"llocAsync" not in data and b"llocFromPoolAsync" not in data:
        return 0
    if not path.endswith(".py"):
        from cudafix.frontends.cuda.preprocess.directives import scan

        data = scan(data).without_strings()
        if _DECLARED.search(data) is not None:  # a bare name is the program's own
            return len(_OUTERMOST.findall(data))
        return len(_OUTERMOST.findall(data)) + len(_BARE.findall(data))
    return len(_ASYNC.findall(data))
