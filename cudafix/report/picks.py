"""The file that says which fixes to take: written by the review page, read by `--only FILE`.

It is JSON. A fix is named by its place in a file, and each file by the digest of the bytes that were looked at::

    {
      "cudafix": "selection",
      "version": 1,
      "files": {"src/main.cu": "<sha256>"},
      "fixes": [{"codemod": "stream_ordered_pairs", "file": "src/main.cu", "line": 39, "column": 11}],
      "reviews": [{"rule": "stream_ordered_pairs", "file": "src/main.cu", "line": 39, "column": 11,
                   "approved": true, "comment": "seen with the author"}]
    }

`reviews` is there if the reviewer approved or commented anything, a refusal too. It is for people: `--only` takes the
`fixes`, whatever was said of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from cudafix.findings import Finding, Report

_KEYS = frozenset({"cudafix", "version", "files", "fixes"})
_FIX = {"codemod": str, "file": str, "line": int, "column": int}
_REVIEW = {"rule": str, "file": str, "line": int, "column": int, "approved": bool, "comment": str}


class PicksError(click.ClickException):
    """A selection that cannot be used. The message is one line that starts with the file's path."""


class Fix(NamedTuple):
    """One fix that was ticked."""

    codemod: str
    file: str
    line: int
    column: int


class Review(NamedTuple):
    """What the reviewer said of a fix or a refusal."""

    rule: str
    file: str
    line: int
    column: int
    approved: bool
    comment: str


class Picks(NamedTuple):
    """What a selection file holds."""

    path: str
    files: Mapping[str, str]
    fixes: tuple[Fix, ...]
    reviews: tuple[Review, ...] = ()


def read(path: str) -> Picks:
    """The selection in a file. Raises `PicksError`."""
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise PicksError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise PicksError(f"{path}: is no selection: not JSON; the review page (`diff --html`) writes one") from None
    if not isinstance(content, dict) or content.get("cudafix") != "selection" or content.keys() - {"reviews"} != _KEYS:
        raise PicksError(f"{path}: is no selection of cudafix; the review page (`diff --html`) writes one")
    if content["version"] != 1:
        raise PicksError(f"{path}: has version {content['version']!r}, and this cudafix reads version 1")
    files, fixes, reviews = content["files"], content["fixes"], content.get("reviews", [])
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        raise PicksError(f"{path}: `files` must give each file its sha256")
    for name, listed in (("fixes", fixes), ("reviews", reviews)):
        if not isinstance(listed, list):
            raise PicksError(f"{path}: `{name}` must be a list")
    return Picks(
        path,
        files,
        tuple(Fix(**_checked(path, f"fix {n}", one, _FIX)) for n, one in enumerate(fixes, 1)),
        tuple(Review(**_checked(path, f"review {n}", one, _REVIEW)) for n, one in enumerate(reviews, 1)),
    )


def _checked(path: str, what: str, given: Any, kinds: Mapping[str, type]) -> Mapping[str, Any]:
    right = isinstance(given, dict) and given.keys() == kinds.keys()
    if not right or any(type(given[key]) is not kind for key, kind in kinds.items()):
        raise PicksError(f"{path}: {what} must have {', '.join(f'`{key}`' for key in kinds)}, and nothing else")
    checked: Mapping[str, Any] = given
    return checked


def picked(picks: Picks, report: Report, sources: Mapping[str, bytes]) -> frozenset[tuple[str, int, str]]:
    """The findings that a selection names: path, offset and codemod of each.

    Raises `PicksError` if a file is another one now, or a fix is not there.
    """
    for name, digest in picks.files.items():
        if name not in sources:
            raise PicksError(f"{picks.path}: `{name}` is not among the files; run in the folder that the page is of")
        if hashlib.sha256(sources[name]).hexdigest() != digest:
            raise PicksError(f"{picks.path}: `{name}` has changed since the page was made; make it anew")
    there = {place(f, sources[f.path]): (f.path, f.offset, f.codemod) for f in report.findings}
    for fix in picks.fixes:
        if fix not in there:
            raise PicksError(f"{picks.path}: no fix of `{fix.codemod}` at `{fix.file}:{fix.line}:{fix.column}`")
    return frozenset(there[fix] for fix in picks.fixes)


def place(finding: Finding, content: bytes) -> Fix:
    """How a selection names a finding: line and column from 1, the column in characters as they are shown."""
    start = content.rfind(b"\n", 0, finding.offset) + 1
    column = len(content[start : finding.offset].decode("utf-8", "replace")) + 1
    return Fix(finding.codemod, finding.path, content.count(b"\n", 0, finding.offset) + 1, column)
