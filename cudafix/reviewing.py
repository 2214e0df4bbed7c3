"""`cudafix diff --html`: the review page, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from cudafix.findings import Report
from cudafix.selection import Selection


def write(target: str, report: Report, selection: Selection, sources: Mapping[str, bytes]) -> str:
    """Write the page to the file `target`, or to `index.html` in the folder `target`; returns its path.

    Raises `ClickException` if it cannot be written.
    """
    from cudafix.report import html  # the highlighter: no other command needs it

    if target.endswith(os.sep) or os.path.isdir(target):
        target = os.path.join(target, "index.html")
    text = html.page(report, selection, sources, Path.cwd().name)
    temporary = None
    try:
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".cudafix-", suffix=".tmp", dir=os.path.dirname(target) or ".")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # a file as any other, not one for its owner only
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise click.ClickException(f"{target}: cannot be written: {error.strerror}") from None
    return target
