"""Fixes in steps that can be reviewed: one commit for each folder, codemod or fix, with a message that says what moves.

Each step leaves the tree right by itself: what moves together stays in one step, and any subset of the fixes is proved
(docs/explanation/repair.md), the first steps too.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

from cudafix import __version__
from cudafix.findings import Edit, Finding
from cudafix.report.selection import Selection
from cudafix.report.terminal import Terminal, readable
from cudafix.rewrite import edits
from cudafix.rewrite.committing import Step

_LONGEST = 72  # characters of a subject, as `git log --oneline` shows them (git-commit(1): 50 would be better)
_WIDTH = 80  # of the lines of a message


def steps(way: str, sources: Mapping[str, bytes], selection: Selection) -> list[Step]:
    """The commits for the chosen fixes, one for all or for each folder, codemod or fix."""
    done: list[Finding] = []
    texts = dict(sources)
    found: list[Step] = []
    for findings in _parts(way, selection):
        done += findings
        changes = selection.edits_of(done)
        now = {path: edits.apply(sources.get(path, b""), own) for path, own in changes.items()}
        after = {path: text for path, text in now.items() if texts.get(path) != text}
        texts.update(after)
        if after:  # else others have made all that it shares with them
            found.append(Step(_message(selection._replace(chosen=tuple(findings)), texts, changes), after))
    return found


def now_at(findings: Sequence[Finding], changes: Mapping[str, Sequence[Edit]]) -> Iterator[Finding]:
    """The findings with their places as they are in the texts with these changes."""
    made = {path: edits.ordered(own) for path, own in changes.items()}  # what fixes share is made once

    def moved(path: str, offset: int) -> int:
        return offset + sum(len(e.text) - (e.end - e.start) for e in made.get(path, ()) if e.end <= offset)

    for finding in findings:
        related = tuple(place._replace(offset=moved(place.path, place.offset)) for place in finding.related)
        yield replace(finding, offset=moved(finding.path, finding.offset), related=related)


def units(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Findings with edits, those together that are taken together or not at all.

    A group moves together. Fixes of defects have none: each is proved on top of those in front of it
    (`cudafix.rewrite.defects`), so those of a file stay together.
    """
    found: dict[int | str, list[Finding]] = {}
    for finding in findings:
        if finding.edits:
            found.setdefault(finding.group or finding.path, []).append(finding)
    yield from found.values()


def _parts(way: str, selection: Selection) -> list[list[Finding]]:
    parts: dict[str, list[Finding]] = {}
    for number, unit in enumerate(units(selection.chosen)):
        key = {"all": "", "folder": _folder(unit), "codemod": min(f.codemod for f in unit), "fix": f"{number:9}"}[way]
        parts.setdefault(key, []).extend(unit)
    return [parts[key] for key in sorted(parts)]


def _folder(findings: Sequence[Finding]) -> str:
    """The folder that holds all files that some fixes change; the files are in one repository."""
    folders = {os.path.dirname(edit.path) for finding in findings for edit in finding.edits}
    outside = {os.path.isabs(folder) for folder in folders}  # of the current folder
    return os.path.commonpath(folders) if all(folders) and len(outside) == 1 else ""


def _message(made: Selection, texts: Mapping[str, bytes], changes: Mapping[str, Sequence[Edit]]) -> str:
    """What moved, and what the proof says and rests on."""
    written = io.StringIO()
    terminal = Terminal(written, texts)
    written.write(f"{_subject(made.chosen)}\n\n")
    terminal.written(now_at(made.chosen, changes))
    written.write(
        f"\nProved by cudafix {__version__}: every order between conflicting operations that the\n"
        "program guaranteed is still guaranteed.\n"
    )
    said = io.StringIO()
    for name, words in sorted({(each.name, str(each)) for fix in made.chosen for each in fix.assumptions}):
        said.write(f"assumed (`{name}`): {readable(words)}\n")
    Terminal(said, texts).caveats(made)
    wrapped = (
        wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False) for line in said.getvalue().splitlines()
    )
    return written.getvalue() + "".join(f"{line}\n" for lines in wrapped for line in lines)


def _subject(findings: Sequence[Finding]) -> str:
    names = sorted({finding.codemod for finding in findings})
    count = f"{len(findings)} fix{'es' * (len(findings) != 1)}"
    where = readable(_folder(findings))
    for what in (", ".join(names), f"{len(names)} codemods" if len(names) > 1 else names[0]):
        for folder in (f"{where}: " if where else "", ""):
            subject = f"{folder}{what} ({count})"
            if len(subject) <= _LONGEST:
                return subject
    return subject[:_LONGEST]
