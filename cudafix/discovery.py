"""Which files are looked at, under which names, and with which bytes.

A file is named by its real path: relative to the current folder if it lies below it, absolute otherwise. In a folder
that is walked, hidden entries, symbolic links (their targets are found where they are, so there are no loops and
nothing outside the folder is reached), and what `.gitignore`, `.git/info/exclude` or the configuration excludes are
left out. A file that the user names is taken even then.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cudafix.config import Config
from cudafix.findings import Problem
from cudafix.ignore import Ignore

SUFFIXES = frozenset((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inl", ".py", ".ipynb"))

LARGEST = 16 * 2**20
"""Bytes of a file. Such files are data written as code; they take minutes, and gigabytes of memory."""

_CUDA = re.compile(
    rb"\bcuda[A-Z]\w*|\bcuda_runtime|\b__(?:global|device|host)__\b|<<<|\bcuda\.bindings|\bcupy\b|\bcuMem\w|\bnumba\b|\bpycuda\b"
)


@dataclass(frozen=True)
class Sources:
    """The files to work on, by name and in sorted order, and what was wrong with the input."""

    files: dict[str, bytes]
    problems: tuple[Problem, ...]


def discover(paths: Iterable[str], config: Config) -> Sources:
    """Collect and read the sources under `paths` (files and folders), duplicates once.

    Problems: no such path, a file that is no regular file, is larger than `LARGEST`, has another suffix, is unreadable,
    binary (a NUL byte) or changes while it is read, an unreadable folder, and a folder without CUDA code.
    """
    cwd = os.path.realpath(".")
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for argument in paths:
        real = os.path.realpath(argument)
        if os.path.isdir(real):
            before = len(problems)
            found = [_named(path, cwd) for path in _walk(real, config, problems)]
            if not _load(found, files, problems) and len(problems) == before:
                problems.append(Problem(argument, "no CUDA code in this folder"))
        elif not os.path.lexists(argument):
            problems.append(Problem(argument, "no such file or folder"))
        elif not os.path.exists(real):
            problems.append(Problem(argument, "a symbolic link that leads nowhere"))
        elif os.path.splitext(real)[1] not in SUFFIXES:
            problems.append(Problem(argument, f"not a CUDA source ({' '.join(sorted(SUFFIXES))})"))
        else:
            _load([_named(real, cwd)], files, problems)
    return Sources(dict(sorted(files.items())), tuple(dict.fromkeys(problems)))


def read(path: str) -> bytes | Problem:
    """The bytes of a source file, or why they cannot be worked on."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):
                return Problem(path, "not a regular file")
            if before.st_size > LARGEST:
                size = f"has {before.st_size >> 20} MiB, and more than {LARGEST >> 20} are not analysed"
                return Problem(path, f"{size}: exclude it")
            content = file.read()
        after = os.stat(path)
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror}")
    if _version(before) != _version(after) or len(content) != before.st_size:
        return Problem(path, "changed while it was read")
    nul = content.find(b"\0")
    if nul >= 0:
        return Problem(path, f"a binary file: NUL byte at offset {nul}")
    return content


def _open_without_waiting(path: str, flags: int) -> int:
    # a named pipe without a writer would block the open
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _version(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _named(real: str, cwd: str) -> str:
    return real.removeprefix(cwd.rstrip(os.sep) + os.sep)


def _load(names: Iterable[str], files: dict[str, bytes], problems: list[Problem]) -> bool:
    """Read what is not read yet into `files`; whether any of the files has CUDA code."""
    cuda = False
    for name in names:
        content = files[name] if name in files else read(name)
        if isinstance(content, Problem):
            problems.append(content)
        else:
            files[name] = content
            cuda = cuda or _CUDA.search(content) is not None
    return cuda


def _walk(top: str, config: Config, problems: list[Problem]) -> Iterator[str]:
    outer = list(_outer_ignores(top))
    if _ignored(top, True, outer):
        outer = []  # the user named an ignored folder: the rules that ignore it do not count
    excluded = [Ignore(os.path.realpath(config.root), config.exclude)] if config.exclude else []
    yield from _walk_folder(top, outer, excluded, problems)


def _walk_folder(folder: str, outer: list[Ignore], excluded: list[Ignore], problems: list[Problem]) -> Iterator[str]:
    ignores = outer + list(_ignore_file(folder, ".gitignore"))
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(Problem(_named(folder, os.path.realpath(".")), f"cannot be read: {error.strerror}"))
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
            yield entry.path


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
