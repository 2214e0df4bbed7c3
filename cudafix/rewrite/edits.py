"""Edits become new bytes, or a diff that `git apply` takes. `cudafix.rewrite.writing` replaces the files."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from cudafix.findings import Edit

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


class Region(NamedTuple):
    """Lines `[start, stop)` of the old file, counted from 0, become `new`."""

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
        new = lines(apply(b"", edits))
        out = [b"--- /dev/null\n", b"+++ " + _quoted("b/" + path), b"@@ -0,0 +%s @@\n" % _range(0, len(new))]
        return b"".join(out + [_whole(b"+" + line) for line in new])
    old = lines(content)
    changed = regions(content, edits)
    if not changed:
        return b""
    out = [b"--- " + _quoted("a/" + path), b"+++ " + _quoted("b/" + path)]
    shift = 0
    for hunk in _hunks(changed):
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


def regions(content: bytes, edits: Iterable[Edit]) -> list[Region]:
    """The lines of one file that the edits change, in order. Raises `OverlapError`."""
    return list(_regions(content, lines(content), ordered(edits)))


def lines(content: bytes) -> list[bytes]:
    """The lines of a file with their ends: at LF only."""
    split = content.split(b"\n")
    return [line + b"\n" for line in split[:-1]] + ([split[-1]] if split[-1] else [])


def _regions(content: bytes, old: list[bytes], edits: list[Edit]) -> Iterator[Region]:
    """The changed lines, without the equal ones around and between them."""
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
        new = lines(apply(content[base : starts[stop]], local))
        while new and start < stop and new[0] == old[start]:
            start, new = start + 1, new[1:]
        while new and start < stop and new[-1] == old[stop - 1]:
            stop, new = stop - 1, new[:-1]
        for kind, first, last, low, high in SequenceMatcher(None, old[start:stop], new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield Region(start + first, start + last, new[low:high])


def _hunks(regions: Iterable[Region]) -> list[list[Region]]:
    """Regions whose contexts touch share a hunk."""
    hunks: list[list[Region]] = []
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
