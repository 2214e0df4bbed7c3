"""`cudafix apply` and `cudafix undo`: which fixes, whether the tree may be written, and what is said about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import click

from cudafix.findings import Edit, Finding, Problem
from cudafix.project.config import Config
from cudafix.report.selection import Analysis, Selection
from cudafix.rewrite import edits


class Request(NamedTuple):
    """What `apply` is told beside what to analyse."""

    interactive: bool
    allow_dirty: bool


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `apply`."""
    for option in (
        click.option("--allow-dirty", is_flag=True, help="Write although git holds uncommitted changes."),
        click.option("-i", "--interactive", is_flag=True, help="Ask for each fix, with its diff and its proof."),
    ):
        command = option(command)
    return command


def links(paths: Sequence[str], config: Config) -> list[Problem]:
    """The paths to work on that lead out of their tree: what is behind such a link can be looked at, not written."""
    from cudafix.rewrite import writing

    named = paths or [os.path.join(config.root, path) for path in config.paths]
    return [problem for path in named if (problem := writing.leads_out(path)) is not None]


class Applied(NamedTuple):
    """What was chosen in the end, the edits that were made for it, and what went wrong; then nothing is written."""

    selection: Selection
    changes: Mapping[str, Sequence[Edit]]
    problems: Sequence[Problem] = ()


def run(request: Request, sources: Mapping[str, bytes], selection: Selection, config: Config) -> Applied:
    """Write the chosen fixes."""
    from cudafix.rewrite import writing

    if not request.allow_dirty:
        problems = writing.dirty(selection.edits())
        if problems:
            return Applied(selection, {}, problems)
    changes: Mapping[str, Sequence[Edit]] = selection.edits()
    if request.interactive:
        from cudafix.cli import interactive

        selection, changes = interactive.choose(sources, selection, config)
        problems = [] if request.allow_dirty else writing.dirty(changes)  # fixes that were left out at first
        if problems:
            return Applied(selection, {}, problems)
    after = {path: edits.apply(sources.get(path, b""), own) for path, own in changes.items()}
    return Applied(selection, changes, writing.replace(sources, after))


def tell(done: Analysis, applied: Applied) -> None:
    """What was done, with the places as they are now, and how many sites stay; defects without a fix are told too."""
    from cudafix.report.terminal import Terminal

    changes = applied.changes
    made = {path: edits.ordered(own) for path, own in changes.items()}  # what fixes share is made once
    texts = {path: edits.apply(done.sources.get(path, b""), own) for path, own in changes.items()}

    def moved(path: str, offset: int) -> int:
        return offset + sum(len(e.text) - (e.end - e.start) for e in made.get(path, ()) if e.end <= offset)

    def now(finding: Finding) -> Finding:
        related = tuple(place._replace(offset=moved(place.path, place.offset)) for place in finding.related)
        return replace(finding, offset=moved(finding.path, finding.offset), related=related)

    terminal = Terminal(sys.stderr, {**done.sources, **texts})
    terminal.written(map(now, applied.selection.chosen))
    terminal.summary_of_written(done.report, applied.selection)
    if changes:
        files = f"{len(changes)} file{'s' * (len(changes) != 1)}"
        click.echo(f"{files} written; `cudafix undo` takes it back", err=True)


def undo() -> list[Problem]:
    """Take the last `apply` in this tree back. Returns what went wrong; then nothing is written."""
    from cudafix.rewrite import writing

    paths, problems = writing.undo()
    if not problems:
        click.echo(f"{len(paths)} {'file has' if len(paths) == 1 else 'files have'} the old bytes again", err=True)
    return problems
