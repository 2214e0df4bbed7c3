"""`cudafix diff --html`: the review page, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from cudafix.findings import Report
from cudafix.project import outputs
from cudafix.report.selection import Selection


def place(target: str) -> str:
    """The file to write: `target`, or `index.html` in the folder `target`. Raises `ClickException` if it may not be."""
    if target.endswith(os.sep) or os.path.isdir(target):
        target = os.path.join(target, "index.html")
    try:
        outputs.check(target, outputs.Kind.PAGE)
    except outputs.OutputError as error:
        raise click.ClickException(str(error)) from None
    return target


def write(target: str, report: Report, selection: Selection, sources: Mapping[str, bytes]) -> str:
    """Write the page to the `place` of `target`; returns its path. Raises `ClickException` if it cannot be written."""
    from cudafix.report import html  # the highlighter: no other command needs it

    target = place(target)
    text = html.page(report, selection, sources, Path.cwd().name)
    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        outputs.write(target, text, outputs.Kind.PAGE)
    except OSError as error:
        raise click.ClickException(f"{target}: cannot be written: {error.strerror}") from None
    except outputs.OutputError as error:
        raise click.ClickException(str(error)) from None
    return target
