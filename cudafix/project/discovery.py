"""Which files are looked at, under which names, and with which bytes.

A file is named by its real path: relative to the current folder if it lies below it, absolute otherwise. In a folder
that is walked, hidden entries, symbolic links (their targets are found where they are, so there are no loops and
nothing outside the folder is reached), and what `.gitignore`, `.git/info/exclude` or the configuration excludes are
left out. A file that the user names is taken even then.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cudafix.findings import Problem
from cudafix.project.config import Config
from cudafix.project.files import Entry, Files, Version, given, look
from cudafix.project.ignore import Ignore
from cudafix.project.paths import HEADERS, SUFFIXES, named

_CUDA = re.compile(
    rb"\bcuda[A-Z]\w*|\bcuda_runtime|\b__(?:global|device|host)__\b|<<<|\bcuda\.bindings|\bcupy\b|\bcuMem\w|\bnumba\b|\bpycuda\b"
)


@dataclass(frozen=True)
class Sources:
    """The files to work on, what was wrong with the input, and whether all of the files were known already. Those of
    `alone` were named, and not found in a folder; of `context` is only read what they say to these.
    """

    files: Files
    problems: tuple[Problem, ...]
    known: bool = False
    alone: tuple[str, ...] = ()
    context: frozenset[str] = frozenset()
    folders: tuple[Problem, ...] = ()


def discover(
    paths: Iterable[str], config: Config, known: Mapping[str, Entry] = {}, texts: Mapping[str, bytes] = {}
) -> Sources:
    """Find and read the sources under `paths` (files and folders), duplicates once. Of those that are `known` from an
    earlier run only what has changed is read. `texts`, by the names of files, stand in place of what the disk has of
    these, which may be nothing yet.

    Problems: no such path, a file that has another suffix, and a folder without CUDA code. A file that is no
    regular file, is larger than `files.LARGEST`, nests too deeply, is unreadable, binary (a NUL byte) or changes
    while it is read is one of which nothing is known (`Facts.unread`). Of an unreadable folder only the problem is
    known, which stops nothing (`Sources.folders`). Headers in UTF-16 are left out of a folder.
    """
    cwd = os.path.realpath(".")
    loader = Loader(known, texts=texts)
    problems = loader.problems
    folders: list[Problem] = []
    in_folders: set[str] = set()
    alone: dict[str, None] = {}
    for argument in paths:
        real = os.path.realpath(argument)
        if os.path.isdir(real):
            before = len(folders)
            found: list[tuple[str, os.DirEntry[str] | None]]
            found = [(named(entry.path, cwd), entry) for entry in walk(real, config, folders)]
            found += ((name, None) for name in texts if _is_new_below(real, name))
            in_folders.update(name for name, _ in found)
            if not loader.load(found) and len(folders) == before and not loader.has_unread(found):
                problems.append(Problem(argument, "no CUDA code in this folder"))
        elif not os.path.lexists(argument) and named(real, cwd) not in texts:
            problems.append(Problem(argument, "no such file or folder"))
        elif not os.path.exists(real) and named(real, cwd) not in texts:
            problems.append(Problem(argument, "a symbolic link that leads nowhere"))
        elif os.path.splitext(real)[1] not in SUFFIXES:
            problems.append(Problem(argument, f"not a CUDA source ({' '.join(sorted(SUFFIXES))})"))
        else:
            loader.load([(named(real, cwd), None)])
            alone[named(real, cwd)] = None
    named_alone = tuple(name for name in alone if name not in in_folders)
    return Sources(
        loader.files(), tuple(dict.fromkeys(problems)), loader.read == 0, named_alone, folders=tuple(folders)
    )


class Loader:
    """Reads what is not known yet."""

    def __init__(self, known: Mapping[str, Entry], files: Files | None = None, texts: Mapping[str, bytes] = {}) -> None:
        """What it loads comes to `files`; `texts` stand in place of what the disk has."""
        self.texts = texts
        self.problems: list[Problem] = []
        self.read = 0  # files
        self._known = known
        self._files = files if files is not None else Files({}, {})
        self._entries: dict[str, Entry] = dict(self._files.entries)

    def load(self, found: Iterable[tuple[str, os.DirEntry[str] | None]]) -> bool:
        """Whether any of the files has CUDA code."""
        names = []
        for name, entry in found:
            if name not in self._entries and (looked := self._look(name, entry)) is not None:
                self._entries[name] = looked
            if name in self._entries:
                names.append(name)
        return self._has_cuda(names)

    def has_unread(self, found: Iterable[tuple[str, object]]) -> bool:
        """Whether something cannot be said of these, as one cannot be worked on."""
        return any(name in self._entries and self._entries[name].facts.unread for name, _ in found)

    def files(self) -> Files:
        return self._files.with_entries(
            self._entries, {p: text for p, text in self.texts.items() if p in self._entries}
        )

    def load_if_readable(self, name: str) -> Entry | None:
        """What is known of a file by its real path; None of one that is as if it were not there."""
        if name not in self._entries:
            looked = self._look(name, Path(name))
            if looked is None:
                return None
            self._entries[name] = looked
        return self._entries[name]

    def _look(self, name: str, found: os.DirEntry[str] | Path | None) -> Entry | None:
        if name in self.texts:
            return given(name, self.texts[name])
        entry = self._known.get(name)
        if entry is not None and entry.version is not None and found is not None:
            try:
                if Version.of(found.stat(follow_symlinks=False)) == entry.version:
                    return entry
            except OSError:
                pass  # said when it is read
        looked = look(name)
        if isinstance(looked, Problem) and found is not None and _is_wide_header(name):
            return None
        self.read += 1
        if isinstance(looked, Problem):
            return Entry.unknown(looked)
        self._files.keep(name, looked[0])
        return looked[1]

    def _has_cuda(self, names: Sequence[str]) -> bool:
        """Asked of one file after the other: most trees have some in one of the first files."""
        if any(self._entries[name].facts.allocates for name in names):
            return True
        files = self.files()
        return any(_CUDA.search(files[name]) is not None for name in names)


def _is_new_below(folder: str, name: str) -> bool:
    """Whether a source that is not on the disk would lie in a folder."""
    real = os.path.realpath(name)
    if os.path.splitext(real)[1] not in SUFFIXES or os.path.lexists(real):
        return False
    return real.startswith(os.path.join(folder, ""))


def _is_wide_header(name: str) -> bool:
    """Whether a file is a header in UTF-16: only Microsoft's compiler reads it (`resource.h` of an application), so it
    is as if it were not in the tree.
    """
    if not name.endswith(HEADERS) or not os.path.isfile(name):  # to open a pipe would wait for somebody who writes
        return False
    try:
        with open(name, "rb") as file:
            return file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    except OSError:
        return False


def walk(top: str, config: Config, problems: list[Problem]) -> Iterator[os.DirEntry[str]]:
    """The sources below a folder, without what is left out."""
    outer = list(_outer_ignores(top))
    if _ignored(top, True, outer):
        outer = []  # the user named an ignored folder: the rules that ignore it do not count
    excluded = [Ignore(os.path.realpath(config.root), config.exclude)] if config.exclude else []
    yield from _walk_folder(top, outer, excluded, problems)


def _walk_folder(
    folder: str, outer: list[Ignore], excluded: list[Ignore], problems: list[Problem]
) -> Iterator[os.DirEntry[str]]:
    ignores = outer + list(_ignore_file(folder, ".gitignore"))
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(Problem(named(folder, os.path.realpath(".")), f"cannot be read: {error.strerror}"))
        return
    for entry in listed:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        folder_entry = entry.is_dir()
        if not folder_entry and os.path.splitext(entry.name)[1] not in SUFFIXES:
            continue
        if _ignored(entry.path, folder_entry, ignores) or _ignored(entry.path, folder_entry, excluded):
            continue
        if folder_entry:
            yield from _walk_folder(entry.path, ignores, excluded, problems)
        else:
            yield entry


def _ignored(path: str, folder: bool, ignores: list[Ignore]) -> bool:
    """The last ignore file that has a matching pattern decides; deeper ones come later."""
    for ignore in reversed(ignores):
        verdict = ignore.verdict(path, folder)
        if verdict is not None:
            return verdict
    return False


def _outer_ignores(top: str) -> Iterator[Ignore]:
    """The ignore files above `top`, from the root of its git repository downward."""
    parents = [top, *(str(parent) for parent in Path(top).parents)]
    for depth, parent in enumerate(parents):
        if os.path.exists(os.path.join(parent, ".git")):
            yield from _ignore_file(parent, os.path.join(".git", "info", "exclude"))
            for above in reversed(parents[1 : depth + 1]):
                yield from _ignore_file(above, ".gitignore")
            return


def _ignore_file(base: str, name: str) -> Iterator[Ignore]:
    try:
        text = Path(base, name).read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    except OSError:
        return  # there is none, or git could not read it either
    yield Ignore(base, text.split("\n"))
