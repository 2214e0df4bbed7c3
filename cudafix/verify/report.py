"""Verdicts as a table for people, and as JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cudafix.report.terminal import readable
from cudafix.verify.judge import LATE, Outcome, Verdict
from cudafix.verify.plan import Kind, Subject
from cudafix.verify.records import record
from cudafix.verify.result import Observation, Result

_COLOURS = {
    Outcome.VERIFIED: "green",
    Outcome.FAILED: "bold red",
    Outcome.UNUSABLE: "bold red",
    Outcome.NOISY: "yellow",
    Outcome.UNVERIFIED: "yellow",
}
_WORDS = 3
"""Columns that hold no figures."""


class Judged(NamedTuple):
    """One program with what was seen and decided."""

    subject: Subject
    result: Result
    verdict: Verdict


def as_json(judged: Sequence[Judged], machine: Mapping[str, str], file: TextIO) -> None:
    """One object: `machine`, `figures`, and `programs` in the form of the records."""
    programs = [record(one.subject, one.result, machine) for one in judged]
    json.dump(
        {"machine": dict(machine), "figures": figures(judged), "programs": programs}, file, indent=2, ensure_ascii=False
    )
    file.write("\n")


def as_table(judged: Sequence[Judged], machine: Mapping[str, str], file: TextIO) -> None:
    """A row for each program, then what failed, what was not checked, and the sums."""
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 400  # rows in a pipe or a log stay whole
    names = ("program", "outcome", "race detector", "before", "after", "after / before", "wrong shown", "waits noticed")
    rows = [_row(one) for one in judged]
    used = [n for n in range(len(names)) if any(row[n] for row in rows)]
    table = Table(box=None, pad_edge=False)
    for n in used:
        table.add_column(names[n], justify="left" if n < _WORDS else "right", no_wrap=n > 0)
    for row in rows:
        table.add_row(*(row[n] for n in used))
    if rows:
        console.print(table)
    for one in judged:
        _details(one, console)
    console.print(Text(_summary(judged, machine), style="bold"))


def _row(one: Judged) -> list[str | Text]:
    subject, result, verdict = one
    seen = result.observations.get(Kind.AFTER.value) or result.observations.get(Kind.BEFORE.value)
    times = result.timing
    detected = seen.detected if seen else None
    return [
        readable(subject.name),
        Text(verdict.outcome.value, style=_COLOURS[verdict.outcome]),
        {"nothing": "clean", "": "no verdict"}.get(detected.caught, detected.caught) if detected else "",
        f"{times.before * 1000:.0f} ms" if times else "",
        f"{times.after * 1000:.0f} ms" if times else "",
        f"{times.ratio:.2f} ({times.least:.2f} to {times.greatest:.2f})" if times else "",
        _share(one, Kind.WRONG),
        _share(one, Kind.MUTANT),
    ]


def _share(one: Judged, kind: Kind) -> str:
    names = [variant.name for variant in one.subject.variants if variant.kind is kind]
    shown = sum(bool(one.verdict.shown.get(name)) for name in names)
    return f"{shown} of {len(names)}" if names else ""


def _details(one: Judged, console: Console) -> None:
    subject, result, verdict = one
    lines = [(fault, "red") for fault in verdict.faults]
    if result.smallest:
        places = " ".join(f"--except {name}" for fix in result.smallest for name in fix.split())
        lines.append((f"the smallest set of fixes that breaks it; `cudafix apply {places}` leaves it out", "red"))
    if result.timing and result.timing.slower:
        lines.append((f"slower: {result.timing.ratio:.2f} times before, and never as fast", "yellow"))
    if (memory := _memory(result)) is not None:
        lines.append(memory)
    if verdict.outcome is Outcome.NOISY:
        lines.append(("give --ignore or --tolerance for what varies", "yellow"))
    lines += [(note, "yellow") for note in verdict.notes]
    lines += [(f"unverified wait: no run notices that {about} is gone", "yellow") for about in verdict.unnoticed]
    for text, colour in lines:
        console.print(Text.assemble((f"{readable(subject.name)}: ", "bold"), (readable(text), colour)))


def _memory(result: Result) -> tuple[str, str] | None:
    """The peak of device memory, before and after; pools keep what was freed, so that it may be more."""
    peaks = [result.observations.get(kind.value, Observation()).peak for kind in (Kind.BEFORE, Kind.AFTER)]
    before, after = peaks
    if before is None or after is None:
        return None
    text = f"peak of GPU memory: {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after"
    return (f"{text}, with what the pools keep", "yellow") if after > before else (text, "")


def figures(judged: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """How many programs have each outcome, and by what how many mutants and wrong rewrites are noticed.

    `run`: by a run or the detector alone; `late`: by these or with late streams; `proof`: by the static checker.
    """
    found = {"outcomes": {o.value: n for o in Outcome if (n := sum(one.verdict.outcome is o for one in judged))}}
    for kind in (Kind.MUTANT, Kind.WRONG):
        mine = [
            (variant, one.verdict.shown[variant.name])
            for one in judged
            for variant in one.subject.variants
            if variant.kind is kind and variant.name in one.verdict.shown
        ]
        found[kind.value] = {
            "all": len(mine),
            "proof": sum(bool(variant.rejected) for variant, _ in mine),
            "run": sum(any(sign != LATE for sign in signs) for _, signs in mine),
            "late": sum(bool(signs) for _, signs in mine),
        }
    return found


def _summary(judged: Sequence[Judged], machine: Mapping[str, str]) -> str:
    sums = figures(judged)
    where = f" on {machine['gpu']}, driver {machine['driver']}, CUDA {machine['cuda']}" if machine.get("gpu") else ""
    lines = [", ".join(f"{count} {outcome}" for outcome, count in sums["outcomes"].items()) + where]
    lines += [
        f"{mine['all']} {words}: {mine['proof']} rejected by the proof, {mine['run']} shown by a run or the detector, "
        f"{mine['late']} with late streams too"
        for kind, words in ((Kind.MUTANT, "inserted waits taken out"), (Kind.WRONG, "wrong rewrites"))
        if (mine := sums[kind.value])["all"]
    ]
    if not machine.get("gpu"):
        lines.append("no GPU: compiled only, nothing is verified")
    return "\n".join(lines)
