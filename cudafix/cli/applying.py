"""`cudafix apply` and `cudafix undo`: which fixes, whether the tree may be written, and what is said about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from cudafix.findings import Edit, Problem
from cudafix.project.config import Config
from cudafix.report.selection import Analysis, Selection
from cudafix.rewrite import edits

if TYPE_CHECKING:
    from cudafix.rewrite.committing import Made

WAYS = ("all", "folder", "codemod", "fix")
"""What gets a commit of its own."""


class Request(NamedTuple):
    """What `apply` is told beside what to analyse."""

    interactive: bool
    allow_dirty: bool
    commit: str | None


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `apply`."""
    for option in (
        click.option("--allow-dirty", is_flag=True, help="Write although git holds uncommitted changes."),
        click.option(
            "--commit",
            type=click.Choice(WAYS),
            help="Also commit the fixes: all at once, or one commit for each folder, codemod or fix.",
        ),
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
    committed: Made | None = None


def run(request: Request, sources: Mapping[str, bytes], selection: Selection, config: Config) -> Applied:
    """Write the chosen fixes."""
    from cudafix.rewrite import writing

    if request.commit is not None:
        from cudafix.report import commits
        from cudafix.rewrite import committing

        made = committing.commit(sources, commits.steps(request.commit, sources, selection))
        return Applied(selection, selection.edits(), made.problems, made)
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
    from cudafix.report import commits
    from cudafix.report.terminal import Terminal

    changes = applied.changes
    texts = {path: edits.apply(done.sources.get(path, b""), own) for path, own in changes.items()}
    terminal = Terminal(sys.stderr, {**done.sources, **texts})
    terminal.written(commits.now_at(applied.selection.chosen, changes))
    terminal.summary_of_written(done.report, applied.selection)
    if changes:
        files = f"{len(changes)} file{'s' * (len(changes) != 1)}"
        how = "`cudafix undo` takes it back"
        if applied.committed is not None:
            count = f"{applied.committed.number} commit{'s' * (applied.committed.number != 1)}"
            how = f"{count} made; `git revert --no-edit {applied.committed.range}` takes them back"
        click.echo(f"{files} written; {how}", err=True)


def undo() -> list[Problem]:
    """Take the last `apply` in this tree back. Returns what went wrong; then nothing is written."""
    from cudafix.rewrite import writing

    paths, problems = writing.undo()
    if not problems:
        click.echo(f"{len(paths)} {'file has' if len(paths) == 1 else 'files have'} the old bytes again", err=True)
    return problems
