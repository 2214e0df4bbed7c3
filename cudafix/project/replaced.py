"""Headers of the system that a build may replace by files of another program of the tree."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from cudafix.ir.link import SOURCES
from cudafix.project.files import Files
from cudafix.project.including import Headers

_NAMES = re.compile(  # of macros and of functions
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)"
    rb"|(?:^|[;}{])\s*(?!return\b|else\b)(?:[\w:]+[\s*&]+)+([A-Za-z_]\w*)\s*\(",
    re.MULTILINE,
)
_WORD = re.compile(rb"[A-Za-z_]\w*")


class Replaced(NamedTuple):
    """What an `#include` of a file may mean, and a name of that file, or of one beside it, that is another's then."""

    path: str
    included: str
    header: str
    name: str


def replaced(
    files: Files,
    include_folders: Mapping[str, tuple[str, ...]],
    for_headers: Callable[[Collection[str]], Collection[str]],
) -> tuple[Replaced, ...]:
    """The files for which that is not certain: `for_headers` picks the folders that a build may name for headers."""
    by_name: dict[str, list[str]] = {}
    mains: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(os.path.basename(path), []).append(path)
        if path.endswith(SOURCES) and files.facts(path).main:
            mains.setdefault(os.path.dirname(path), []).append(path)
    headers = Headers(
        files.__contains__, lambda name: by_name.get(name, ()), include_folders, lambda f: mains.get(f, ())
    )
    possible = [
        (path, target, header)
        for path in files
        for _, target in files.facts(path).includes
        for header in headers.of_other_programs(path, target)
    ]
    named = for_headers({_folder(header, target) for _, target, header in possible})
    known = _Included(files, headers)
    return tuple(
        Replaced(path, target, header, name)
        for path, target, header in possible
        if _folder(header, target) in named
        for name in _meant_otherwise(files, known.behind([header]), known.beside(path))
    )


def _folder(header: str, target: str) -> str:
    return header.removesuffix(target.strip("<>")).rstrip("/")


def _meant_otherwise(files: Files, headers: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """A name in some files that headers declare or make a macro."""
    words = set[bytes]().union(*(_WORD.findall(files[path]) for path in others))
    names = (match[1] or match[2] for header in headers for match in _NAMES.finditer(files[header]))
    yield from (name.decode() for name in islice(filter(words.__contains__, names), 1))


class _Included:
    """Which files include which."""

    def __init__(self, files: Files, headers: Headers) -> None:
        self._files = files
        self._headers = headers

    @cached_property
    def _all(self) -> dict[str, list[str]]:
        return {path: self._of(path) for path in self._files}

    def _of(self, path: str) -> list[str]:
        found = (self._headers.find(path, target) for _, target in self._files.facts(path).includes)
        return [one for one in dict.fromkeys(found) if one is not None]

    def behind(self, paths: Iterable[str]) -> list[str]:
        """Some files, and all that they include."""
        queue = list(dict.fromkeys(paths))
        for one in queue:
            queue += [other for other in self._all[one] if other not in queue]
        return queue

    def beside(self, path: str) -> list[str]:
        """The files that may be in a translation unit with a file."""
        around = [path]
        for one in around:
            around += [other for other, found in self._all.items() if one in found and other not in around]
        return self.behind(around)
