"""What changed since a commit: the lines of each file, and the tree as it was.

The commit is the one where the branch left `REV` (`git merge-base`), so that what others did since then on `REV` does
not count. Changes in the working tree do, committed or not. Git is called with argument lists.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from cudafix.findings import Finding, Safety
from cudafix.project.paths import SUFFIXES
from cudafix.report.listing import Shown, fingerprints, key
from cudafix.report.positions import Positions
from cudafix.report.selection import Analysis

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class GitError(Exception):
    """Git could not answer. The message is one line."""


class Changes(NamedTuple):
    """`before` is the tree as it was, under the names of now; `lines` are the lines of now (from 1) that are new or
    changed, by path. Files without a change are not in `lines`.
    """

    before: Mapping[str, bytes]
    lines: Mapping[str, frozenset[int]]


def base_of(revision: str) -> str:
    """The commit in which the branch left `revision`. Raises `GitError`."""
    if revision.startswith("-"):
        raise GitError(f"`{revision}` is no revision")
    _text("rev-parse", "--show-toplevel")  # outside of a repository this says so
    try:
        return _text("merge-base", revision, "HEAD")
    except GitError as error:
        hint = "is it there? In a shallow clone, fetch more of the history"
        raise GitError(f"`{revision}` and HEAD have no commit in common ({hint}): {error}") from None


def changes(revision: str, sources: Mapping[str, bytes], given: Collection[str]) -> Changes:
    """What changed in `sources` since `revision`; what was deleted beside those that are `given` is of the tree as it
    was. Raises `GitError`.
    """
    base = base_of(revision)
    top = os.path.realpath(_text("rev-parse", "--show-toplevel"))
    names = {_in_repository(path, top): path for path in sources}
    listed = _fields(_git("ls-tree", "-r", "-z", "--name-only", "--full-tree", base))
    old = {name: name for name in listed}  # the name then, by the name of now
    touched: set[str] = set()
    status = iter(_fields(_git("diff", "--name-status", "-z", "-M", "--no-ext-diff", "--no-relative", base, "--")))
    for kind in status:
        name = next(status)
        if kind.startswith("R"):
            new = next(status)
            old.pop(name, None)
            old[new] = name
            name = new
        touched.add(name)
    before = {path: sources[path] for name, path in names.items() if name in old}
    lines: dict[str, frozenset[int]] = {}
    for name, path in names.items():
        if name not in old:
            lines[path] = _all(sources[path])
        elif name in touched:
            before[path] = _git("cat-file", "--filters", f"{base}:{old[name]}")
            lines[path] = _changed(before[path], sources[path])
    folders = {os.path.dirname(name) for name, path in names.items() if path in given}
    for name in touched - names.keys():
        # deleted beside what is looked at: it may have been part of a program
        if name in old and os.path.splitext(name)[1] in SUFFIXES and os.path.dirname(name) in folders:
            if not Path(top, name).exists():
                before[_named(name, top)] = _git("cat-file", "--filters", f"{base}:{name}")
    return Changes(before, {path: found for path, found in lines.items() if found})


def shown(revision: str) -> dict[str, Shown]:
    """What a diff since `revision` shows, with three lines around each change, as a pull request does; by path from the
    top of the repository. Raises `GitError`.
    """
    # -c: the path of a file as it is, whatever the user has set
    asked = ("-c", "core.quotePath=false", "diff", "-U3", "-M", "--no-ext-diff", "--no-relative", "--no-color")
    text = _git(*asked, "--src-prefix=a/", "--dst-prefix=b/", base_of(revision), "--")
    pieces: dict[str, list[range]] = {}
    old: dict[str, dict[int, int]] = {}
    names: dict[str, str] = {}
    before, path, mine, theirs = "", "", range(0), range(0)  # of a hunk, the lines that are still to come, then and now
    for line in text.split(b"\n"):
        if mine or theirs:
            if line[:1] == b" ":
                old[path][theirs.start] = mine.start
            mine = mine[line[:1] in b" -" :]
            theirs = theirs[line[:1] in b" +" :]
        elif line.startswith(b"--- "):
            before = os.fsdecode(line[6:].rstrip(b"\t")) if line.startswith(b"--- a/") else ""
        elif line.startswith(b"+++ "):  # `/dev/null` for a file that is gone: it has no lines
            path = os.fsdecode(line[6:].rstrip(b"\t"))
            pieces[path], old[path], names[path] = [], {}, before
        elif hunk := _HUNK.match(line):
            mine = range(int(hunk[1]), int(hunk[1]) + int(hunk[2] or 1))
            theirs = range(int(hunk[3]), int(hunk[3]) + int(hunk[4] or 1))
            pieces[path].append(theirs)
    return {path: Shown(lines, old[path], names[path]) for path, lines in pieces.items()}


def only_new(done: Analysis, revision: str, analyze: Callable[[Mapping[str, bytes]], Analysis]) -> Analysis:
    """Of the findings those with a place on a line that changed, and those that the tree did not have before, also of
    those that rest on an assumption; of the refusals those on such lines. `analyze` looks at the tree as it was.

    Raises `GitError`.
    """
    found = changes(revision, done.sources, frozenset(done.report.given(done.sources)))
    now = fingerprints(done.sources, done.report.findings)
    old: set[str] = set(now.values())
    if found.lines or found.before.keys() != done.sources.keys():
        before = analyze(found.before)
        old = set(fingerprints(before.sources, before.report.findings).values())
    positions = Positions(done.sources)

    def touched(path: str, offset: int) -> bool:
        return positions.line(path, offset).number in found.lines.get(path, ())

    def is_new(finding: Finding) -> bool:
        places = [(finding.path, finding.offset), *((place.path, place.offset) for place in finding.related)]
        return now[key(finding)] not in old or any(touched(*place) for place in places)

    refusals = tuple(refusal for refusal in done.report.refusals if touched(refusal.path, refusal.offset))
    left = tuple((f, why) for f, why in done.selection.left if f.safety is not Safety.ASSUMES or is_new(f))
    selection = done.selection._replace(left=left).keep(is_new, f"there before `--since {revision}`")
    return done._replace(report=replace(done.report, refusals=refusals), selection=selection)


def _changed(before: bytes, after: bytes) -> frozenset[int]:
    """The lines of `after` that are not those of `before`; where lines were only taken out, the one behind them."""
    old, new = before.split(b"\n"), after.split(b"\n")
    found: set[int] = set()
    for tag, _, _, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found.update(range(start + 1, max(stop, start + 1) + 1))
    return frozenset(found)


def _all(content: bytes) -> frozenset[int]:
    return frozenset(range(1, content.count(b"\n") + 2))


def _in_repository(path: str, top: str) -> str:
    return Path(os.path.relpath(os.path.realpath(path), top)).as_posix()


def _named(name: str, top: str) -> str:
    """A file of the repository as a run names it (`cudafix.project.discovery`)."""
    real, here = os.path.join(top, name), os.path.realpath(".")
    return real.removeprefix(here.rstrip(os.sep) + os.sep)


def _fields(output: bytes) -> list[str]:
    return [os.fsdecode(field) for field in output.split(b"\0") if field]


def _text(*arguments: str) -> str:
    return os.fsdecode(_git(*arguments)).rstrip("\n")


def _git(*arguments: str) -> bytes:
    git = shutil.which("git")
    if git is None:
        raise GitError("there is no `git`")
    run = subprocess.run([git, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(said[0] if said else f"`git {arguments[0]}` ended with code {run.returncode}")
    return run.stdout
