"""Edits behind a version check, for code that is also built with a CUDA before 11.2.

The lines of each statement that changes stand twice: as they become, and as they were::

    #if CUDART_VERSION >= 11020
        CHECK(cudaMallocAsync(&p, n, s));
    #else
        CHECK(cudaMalloc(&p, n));
    #endif

A directive may stand between statements only: in the arguments of a macro it would be undefined behaviour (C++17,
19.3 [cpp.replace] 11). A second run reads the code as CUDA 11.2 or newer does, so it finds nothing to do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from cudafix.findings import Edit
from cudafix.frontends.cuda.parse.extents import statements
from cudafix.frontends.cuda.preprocess.directives import scan
from cudafix.rewrite.edits import apply, ordered
from cudafix.rewrite.statements import style_of

_BOM = b"\xef\xbb\xbf"
CONDITION = b"#if CUDART_VERSION >= 11020"


def is_in_directive(data: bytes, offset: int) -> bool:
    """Whether a place is in a preprocessor directive: the body of a macro."""
    return any(directive.start <= offset < directive.end for directive in scan(data).directives)


def guarded(data: bytes, edits: Iterable[Edit]) -> list[Edit]:
    """The edits of one file as replacements of whole lines, each with a version check around it."""
    changes = ordered(edits)
    if not changes:
        return []
    lines = _Lines(data)
    parts = list(statements(changes[0].path, data))
    groups = [(lines.of(group.start), lines.of(max(group.end - 1, group.start))) for group in scan(data).groups]
    regions: list[tuple[int, int, list[Edit]]] = []  # first line, last line, what changes there
    for edit in changes:
        first, last = lines.of(edit.start), lines.of(max(edit.end - 1, edit.start))
        while True:
            wider = _wider(first, last, parts, lines)
            for group in groups:  # all of an `#if` or, where the region lies inside of it, nothing of it
                if wider[0] <= group[1] and group[0] <= wider[1] and not group[0] < wider[0] <= wider[1] < group[1]:
                    wider = min(wider[0], group[0]), max(wider[1], group[1])
            if wider == (first, last):
                break
            first, last = wider
        if regions and first <= regions[-1][1] + 1:
            before = regions.pop()
            first, last = min(first, before[0]), max(last, before[1])
            regions.append((first, last, [*before[2], edit]))
        else:
            regions.append((first, last, [edit]))
    return [_replacement(data, lines, *region) for region in regions]


class _Lines:
    def __init__(self, data: bytes) -> None:
        self.starts = [0]
        at = data.find(b"\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = data.find(b"\n", at + 1)
        self.starts.append(len(data) + (not data.endswith(b"\n")))

    def of(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1


def _replacement(data: bytes, lines: _Lines, first: int, last: int, edits: list[Edit]) -> Edit:
    start, end = lines.starts[first], min(lines.starts[last + 1], len(data))
    if not start and data.startswith(_BOM):
        start = len(_BOM)
    old = data[start:end]
    new = apply(old, [Edit(e.path, e.start - start, e.end - start, e.text) for e in edits])
    newline = style_of(data).newline.encode()
    pieces = [CONDITION, new.removesuffix(b"\n").removesuffix(b"\r"), b"#else", old.rstrip(b"\r\n"), b"#endif"]
    return Edit(edits[0].path, start, end, newline.join(pieces) + (newline if old.endswith(b"\n") else b""))


def _wider(first: int, last: int, parts: list[tuple[int, int]], lines: _Lines) -> tuple[int, int]:
    """The lines `first` to `last` and those of every statement that has a part there."""
    start, end = lines.starts[first], lines.starts[last + 1]
    for begins, ends in parts:
        if begins < end and start < ends:
            first, last = min(first, lines.of(begins)), max(last, lines.of(ends - 1))
    return first, last
