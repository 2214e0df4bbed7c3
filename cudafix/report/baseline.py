"""Findings that are known and may stay: a file that is kept in the repository.

One line for each finding, sorted, so that two branches merge. A finding is known by its fingerprint
(`cudafix.report.listing`), which stays when lines move.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cudafix.findings import Finding, Refusal
from cudafix.project import outputs
from cudafix.report.listing import fingerprints, key, relative, repository, rule
from cudafix.report.selection import Analysis

VERSION = 1


class BaselineError(Exception):
    """A baseline that cannot be used or written. The message is one line that starts with the file's path."""


class Known(NamedTuple):
    """A finding of a baseline. The path is relative to the repository; path and rule are for those who read it."""

    path: str
    rule: str
    fingerprint: str


def load(file: str) -> list[Known]:
    """Read a baseline. Raises `BaselineError`."""
    try:
        data = json.loads(Path(file).read_bytes())
    except FileNotFoundError:
        raise BaselineError(f"{file}: no such baseline; `--update-baseline` makes one") from None
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BaselineError(f"{file}: not a baseline: {error}") from None
    if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("findings"), list):
        raise BaselineError(f"{file}: not a baseline of version {VERSION}; `--update-baseline` writes it anew")
    known = []
    for entry in data["findings"]:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(field), str) for field in Known._fields):
            raise BaselineError(f"{file}: each finding needs {', '.join(f'`{field}`' for field in Known._fields)}")
        known.append(Known(entry["path"], entry["rule"], entry["fingerprint"]))
    return known


def may_write(file: str) -> None:
    """Whether a baseline may be written there. Raises `BaselineError`."""
    try:
        outputs.check(file, outputs.Kind.BASELINE)
    except outputs.OutputError as error:
        raise BaselineError(str(error)) from None


def save(file: str, known: Iterable[Known]) -> None:
    """Write a baseline, whole or not at all. Raises `BaselineError`."""
    lines = [f"  {json.dumps(entry._asdict())}" for entry in sorted(set(known))]
    findings = "\n".join(["[", ",\n".join(lines), " ]"]) if lines else "[]"
    text = f'{{\n "version": {VERSION},\n "findings": {findings}\n}}\n'
    try:
        outputs.write(file, text, outputs.Kind.BASELINE)
    except outputs.OutputError as error:
        raise BaselineError(str(error)) from None


def compare(done: Analysis, file: str, *, prune: bool, refusals: bool = False) -> tuple[Analysis, str]:
    """The analysis without what the baseline knows, and a line about what of it is fixed, which `prune` takes out.
    Where `refusals` count, those that it knows are left out as well.

    Raises `BaselineError`.
    """
    known = load(file)
    prints = fingerprints(done.sources, [*done.report.findings, *done.report.refusals])
    gone = _gone(known, frozenset(prints.values()), done)
    message = ""
    if gone and prune:
        save(file, set(known) - gone)
        message = f"{file}: took out {len(gone)} that {'is' if len(gone) == 1 else 'are'} fixed"
    elif gone:
        message = f"{file}: {len(gone)} fixed; `--prune-baseline` takes {'it' if len(gone) == 1 else 'them'} out"
    old = {entry.fingerprint for entry in known}
    if refusals:
        stays = tuple(refusal for refusal in done.report.refusals if prints[key(refusal)] not in old)
        done = done._replace(report=replace(done.report, refusals=stays))
    return done._replace(selection=done.selection.keep(lambda f: prints[key(f)] not in old, "in the baseline")), message


def update(done: Analysis, file: str, *, refusals: bool = False) -> str:
    """Make the baseline what is chosen now, where they count the `refusals` too, and what it holds of files that were
    not looked at; a line about it.

    Raises `BaselineError`.
    """
    try:
        known = load(file)
    except BaselineError:
        known = []  # there is none yet, or it is written anew
    base = repository(done.sources)
    items: list[Finding | Refusal] = [*done.selection.chosen, *(done.report.refusals if refusals else ())]
    prints = fingerprints(done.sources, [*done.report.findings, *done.report.refusals])
    now = {Known(relative(item.path, base), rule(item), prints[key(item)]) for item in items}
    after = now | (set(known) - _gone(known, frozenset(), done))
    save(file, after)
    count = f"{len(after)} finding{'s' * (len(after) != 1)}"
    return f"{file}: {count}, {len(after - set(known))} new, {len(set(known) - after)} gone"


def _gone(known: Iterable[Known], found: frozenset[str], done: Analysis) -> set[Known]:
    """What of a baseline is not found any more. A file that was not looked at keeps its findings while it exists."""
    base = repository(done.sources)
    looked_at = {relative(path, base) for path in done.report.given(done.sources)}
    return {
        entry
        for entry in known
        if entry.fingerprint not in found and (entry.path in looked_at or not Path(base, entry.path).exists())
    }
