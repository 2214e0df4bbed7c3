"""`cudafix apply` and `cudafix undo`: which fixes, whether the tree may be written, and what is said about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import click

from cudafix.findings import Edit, Problem
from cudafix.project.config import Config
from cudafix.report.selection import Selection
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


def run(
    request: Request, sources: Mapping[str, bytes], selection: Selection, config: Config
) -> tuple[Selection, list[Problem]]:
    """Write the chosen fixes. Returns what was chosen in the end, and what went wrong; then nothing is written."""
    from cudafix.rewrite import writing

    if not request.allow_dirty:
        problems = writing.dirty(selection.edits())
        if problems:
            return selection, problems
    changes: Mapping[str, Sequence[Edit]] = selection.edits()
    if request.interactive:
        from cudafix.cli import interactive

        selection, changes = interactive.choose(sources, selection, config)
        problems = [] if request.allow_dirty else writing.dirty(changes)  # fixes that were left out at first
        if problems:
            return selection, problems
    after = {path: edits.apply(sources.get(path, b""), own) for path, own in changes.items()}
    return selection, writing.replace(sources, after)


def undo() -> list[Problem]:
    """Take the last `apply` in this tree back. Returns what went wrong; then nothing is written."""
    from cudafix.rewrite import writing

    paths, problems = writing.undo()
    if not problems:
        click.echo(f"{len(paths)} {'file has' if len(paths) == 1 else 'files have'} the old bytes again", err=True)
    return problems
