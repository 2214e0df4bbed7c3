"""Edits become new bytes, a diff that `git apply` takes, or replaced files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from cudafix.findings import Edit, Problem

_CONTEXT = 3


class OverlapError(ValueError):
    """Two edits of one file want the same bytes."""


def ordered(edits: Iterable[Edit]) -> list[Edit]:
    """The edits of one file, in the order of their places, duplicates once.

    Different insertions at one offset keep the order that they were given in; an insertion at the start of a replaced
    range comes before it. Raises `OverlapError`.
    """
    unique = sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end))
    for first, second in pairwise(unique):
        if second.start < first.end or (first.start == second.start and first.end > first.start):
            raise OverlapError(f"{first.path}: edits overlap at bytes {second.start} to {first.end}")
    return unique


def apply(content: bytes, edits: Iterable[Edit]) -> bytes:
    """`content` with the edits of this file made. Raises `OverlapError`."""
    pieces: list[bytes] = []
    at = 0
    for edit in ordered(edits):
        pieces += (content[at : edit.start], edit.text)
        at = edit.end
    pieces.append(content[at:])
    return b"".join(pieces)


class _Region(NamedTuple):
    """Lines `[start, stop)` of the old file become `new`."""

    start: int
    stop: int
    new: list[bytes]


def diff(path: str, content: bytes | None, edits: Iterable[Edit]) -> bytes:
    """A unified diff of one file, three lines of context, in git's form; empty if nothing changes.

    `content` None: the file is not there yet, and the edits make it.

    Lines end at LF only, so CR and bytes of any encoding pass through. `path` is relative to where the diff is to be
    applied; the header has no `diff --git` line, because git would read the path from the top of the repository then.
    Raises `OverlapError`.
    """
    if content is None:
        new = _lines(apply(b"", edits))
        out = [b"--- /dev/null\n", b"+++ " + _quoted("b/" + path), b"@@ -0,0 +%s @@\n" % _range(0, len(new))]
        return b"".join(out + [_whole(b"+" + line) for line in new])
    old = _lines(content)
    regions = list(_regions(content, old, ordered(edits)))
    if not regions:
        return b""
    out = [b"--- " + _quoted("a/" + path), b"+++ " + _quoted("b/" + path)]
    shift = 0
    for hunk in _hunks(regions):
        first = max(hunk[0].start - _CONTEXT, 0)
        last = min(hunk[-1].stop + _CONTEXT, len(old))
        body: list[bytes] = []
        at = first
        for region in hunk:
            body += (b" " + line for line in old[at : region.start])
            body += (b"-" + line for line in old[region.start : region.stop])
            body += (b"+" + line for line in region.new)
            at = region.stop
        body += (b" " + line for line in old[at:last])
        growth = sum(len(region.new) - (region.stop - region.start) for region in hunk)
        out.append(b"@@ -%s +%s @@\n" % (_range(first, last - first), _range(first + shift, last - first + growth)))
        out += (_whole(line) for line in body)
        shift += growth
    return b"".join(out)


def _whole(line: bytes) -> bytes:
    """A line of a hunk, with the mark of a last line that has no end."""
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _regions(content: bytes, old: list[bytes], edits: list[Edit]) -> Iterator[_Region]:
    """The changed lines, without the equal ones at both ends of each region."""
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        # a last line without an end is changed by what is added after it
        start = max(min(bisect_right(starts, edit.start) - 1, len(old) - 1), 0)
        # an edit that takes a line's end away, or sits at it, changes the next line too
        stop = min(bisect_right(starts, edit.end), len(old))
        if groups and start <= groups[-1][1]:
            groups[-1] = (groups[-1][0], max(stop, groups[-1][1]), [*groups[-1][2], edit])
        else:
            groups.append((start, stop, [edit]))
    for start, stop, group in groups:
        base = starts[start]
        local = [edit._replace(start=edit.start - base, end=edit.end - base) for edit in group]
        new = _lines(apply(content[base : starts[stop]], local))
        while new and start < stop and new[0] == old[start]:
            start, new = start + 1, new[1:]
        while new and start < stop and new[-1] == old[stop - 1]:
            stop, new = stop - 1, new[:-1]
        if new or start < stop:
            yield _Region(start, stop, new)


def _hunks(regions: Iterable[_Region]) -> list[list[_Region]]:
    """Regions whose contexts touch share a hunk."""
    hunks: list[list[_Region]] = []
    for region in regions:
        if hunks and region.start - hunks[-1][-1].stop <= 2 * _CONTEXT:
            hunks[-1].append(region)
        else:
            hunks.append([region])
    return hunks


def _range(start: int, count: int) -> bytes:
    """A hunk's range: an empty one names the line before it, and a count of one is left out."""
    if count == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if count else start, count)


def _quoted(path: str) -> bytes:
    """A header's path and the end of its line, as git writes them."""
    raw = os.fsencode(path)
    if any(byte < 0x20 or byte >= 0x7F or byte in b'"\\' for byte in raw):
        names = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
        quoted = "".join(
            "\\" + names[byte] if byte in names else chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
            for byte in raw
        )
        return b'"' + quoted.encode() + b'"\n'
    # without the tab, what follows a blank could be read as a time stamp
    return raw + (b"\t\n" if b" " in raw else b"\n")


def replace(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Problem]:
    """Replace the files in `after` by their new bytes: each whole or not at all, and all or none.

    `before` holds the bytes that were analysed; a file that it lacks is made, and must not be there. If a file no
    longer has them, or a new file cannot be made beside it, nothing is written. If a replacement fails after others
    succeeded, those get their old bytes back, and what was made is taken away. The file mode is kept. Returns what went
    wrong.
    """
    temporary: dict[str, str] = {}
    problems: list[Problem] = []
    done: list[str] = []
    try:
        for path, content in after.items():
            problem = _unchanged(path, before.get(path))
            if problem is None:
                problem = _write_beside(path, content, temporary)
            if problem is not None:
                problems.append(problem)
        if problems:
            return problems
        for path in after:
            problem = _unchanged(path, before.get(path))
            try:
                if problem is None:
                    _put(temporary[path], path, new=path not in before)
            except OSError as error:
                problem = Problem(path, f"cannot be replaced: {error.strerror}")
            if problem is not None:
                return [problem, *_restore(done, before)]
            del temporary[path]
            done.append(path)
        for folder in sorted({os.path.dirname(path) for path in done}):
            _sync_folder(folder or ".")
        return []
    finally:
        for leftover in temporary.values():
            with contextlib.suppress(OSError):
                os.unlink(leftover)


def _put(temporary: str, path: str, new: bool) -> None:
    """Give a file that is written the name of the one that it stands for. Raises `OSError`.

    A file that is not there yet gets its name only if nobody else has made one in the meantime.
    """
    if new:
        os.link(temporary, path, follow_symlinks=False)
        os.unlink(temporary)
    else:
        os.replace(temporary, path)


def _unchanged(path: str, analysed: bytes | None) -> Problem | None:
    if analysed is None:
        return Problem(path, "is there already, and was not analysed") if os.path.lexists(path) else None
    try:
        with open(path, "rb") as file:
            if file.read() != analysed:
                return Problem(path, "changed since it was analysed")
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror}")
    if not os.access(path, os.W_OK):
        return Problem(path, "is read-only")
    return None


def _write_beside(path: str, content: bytes, temporary: dict[str, str]) -> Problem | None:
    try:
        handle, name = tempfile.mkstemp(prefix=".cudafix-", suffix=".tmp", dir=os.path.dirname(path) or ".")
        temporary[path] = name
        with os.fdopen(handle, "wb") as file:
            os.chmod(name, _mode(path))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Problem(path, f"cannot be replaced: {error.strerror}")
    return None


def _mode(path: str) -> int:
    """The permissions of a file; for a new one those that the user's mask leaves."""
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _restore(paths: Iterable[str], before: Mapping[str, bytes]) -> Iterator[Problem]:
    for path in paths:
        temporary: dict[str, str] = {}
        problem = _write_beside(path, before[path], temporary) if path in before else None
        try:
            if path not in before:
                os.unlink(path)
            elif problem is None:
                os.replace(temporary[path], path)
        except OSError as error:
            problem = Problem(path, f"cannot be replaced: {error.strerror}")
        if problem is not None:
            yield Problem(path, f"stays changed: {problem.message}")


def _sync_folder(folder: str) -> None:
    # the rename itself must survive a power cut; not every platform can open a folder
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
