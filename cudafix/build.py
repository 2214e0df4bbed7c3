"""How the files of a tree are compiled: what their build files say plainly about the default stream, and where the
compilation database looks for headers.

Read, nearest first: `compile_commands.json` of the configuration's folder or a folder in it, which knows each source;
else the Makefile of the source's folder or the nearest one above, and every `CMakeLists.txt` from the source's folder
upward, as options are inherited. An option counts as plain if it stands under no condition, and in CMake if it is for a
whole folder. It is `nvcc`'s: of a `.cpp` file only the compilation database says whether `nvcc` compiles it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from cudafix.config import Config
from cudafix.discovery import SUFFIXES, named

# nvcc's own option, and the macro that it stands for (CUDA programming guide, "Default Stream")
_OPTION = re.compile(
    r"(?<![\w-])--?default-stream(?:\s*=\s*|\s+|[\"']\s*,?\s*[\"'])[\"']?per-thread\b"
    r"|(?<!\w)(?:-D\s*)?CUDA_API_PER_THREAD_DEFAULT_STREAM\b(?!=0)"
)
_INCLUDES = re.compile(r"(?:-I|-iquote|-isystem|--?include-path)=?")
_MACRO = "CUDA_API_PER_THREAD_DEFAULT_STREAM"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order of GNU make
_MAKE_OPENS = re.compile(r"[ \t]*(?:ifeq|ifneq|ifdef|ifndef)\b")
_MAKE_CLOSES = re.compile(r"[ \t]*endif\b")
_CMAKE_COMMAND = re.compile(r"(\w+)\s*\(")
_FOR_A_FOLDER = frozenset(
    ("add_compile_options", "add_compile_definitions", "add_definitions", "set", "string", "list")
)  # fmt: skip


class DefaultStreams(NamedTuple):
    """Files with a default stream for each thread, files that may have one, and the places (`file:line`) where that
    depends on a condition.
    """

    per_thread: frozenset[str]
    perhaps: frozenset[str]
    unclear: tuple[str, ...]


class _Command(NamedTuple):
    """How the compilation database compiles a source."""

    per_thread: bool
    folders: tuple[str, ...]  # where it looks for headers


class _Said(NamedTuple):
    plain: bool
    for_all: bool  # a macro, which holds for every compiler
    unclear: tuple[str, ...]


def default_streams(paths: Iterable[str], config: Config) -> DefaultStreams:
    """What the build files say of these sources, where the configuration leaves it to them."""
    root = os.path.realpath(config.root)
    commands: dict[str, _Command] | None = None
    folders: dict[str, str] = {}
    found: set[str] = set()
    perhaps: set[str] = set()
    unclear: dict[str, None] = {}
    for path in paths:
        if path.endswith(".py") or config.default_stream_of(path) != "auto":
            continue
        if commands is None:
            commands = _commands(root)
        name, file = os.path.split(path)  # a source is no symbolic link itself (`cudafix.discovery`)
        folder = folders.get(name)
        if folder is None:
            folder = folders[name] = os.path.realpath(name)
        command = commands.get(os.path.join(folder, file)) if commands else None
        said = command is not None and command.per_thread
        if command is None:
            build = _folder(folder, root)
            said = build.plain and (build.for_all or path.endswith((".cu", ".cuh")))
            unclear |= dict.fromkeys(build.unclear)
            if not said and (build.plain or build.unclear):
                perhaps.add(path)
        if said:
            found.add(path)
    return DefaultStreams(frozenset(found), frozenset(perhaps), tuple(unclear))


def include_folders(paths: Iterable[str], config: Config) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The folders in which the compilation database looks for the headers of these sources, named as `paths` are."""
    commands = _commands(os.path.realpath(config.root))
    here = os.path.realpath(".")
    found = ((path, commands.get(os.path.realpath(path))) for path in paths if commands)
    return tuple(
        (path, tuple("" if folder == here else named(folder, here) for folder in command.folders))
        for path, command in found
        if command is not None
    )


def compilation_database(root: str) -> Path | None:
    """The newest `compile_commands.json` of a folder or of one in it (where CMake builds)."""
    folders = [Path(root), *(Path(entry.path) for entry in _entries(root) if os.path.isdir(entry.path))]
    files = [folder / "compile_commands.json" for folder in folders]
    return max((file for file in files if file.is_file()), key=lambda file: file.stat().st_mtime, default=None)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return


def _commands(root: str) -> dict[str, _Command]:
    """How each source of the compilation database is compiled.

    https://clang.llvm.org/docs/JSONCompilationDatabase.html
    """
    file = compilation_database(root)
    try:
        return _read(file, file.stat().st_mtime_ns) if file is not None else {}
    except (OSError, ValueError):
        return {}  # it is the build's, and says nothing then


@lru_cache(maxsize=1)
def _read(file: Path, changed: int) -> dict[str, _Command]:
    """What a compilation database says, at the time that it was `changed`. Raises OSError, ValueError."""
    import json  # only a tree with a database pays for it

    entries = json.loads(file.read_bytes())
    found: dict[str, _Command] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            source = os.path.realpath(os.path.join(str(entry.get("directory", "")), entry["file"]))
            if os.path.splitext(source)[1] in SUFFIXES:
                # a source that is compiled twice: one of the two is enough to be careful
                known, words = found.get(source, _Command(False, ())), _words(entry)
                per_thread = known.per_thread or _OPTION.search(" ".join(words)) is not None
                folders = (os.path.realpath(os.path.join(str(entry.get("directory", "")), f)) for f in _folders(words))
                found[source] = _Command(per_thread, tuple(dict.fromkeys((*known.folders, *folders))))
    return found


def _words(entry: dict[str, Any]) -> list[str]:
    if isinstance(entry.get("arguments"), list):
        return list(map(str, entry["arguments"]))
    import shlex

    try:
        return shlex.split(str(entry.get("command", "")))
    except ValueError:
        return str(entry.get("command", "")).split()


def _folders(words: list[str]) -> Iterator[str]:
    """The folders of the options that name one for headers, joined to it or behind it."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        option = _INCLUDES.match(word)
        if option is not None:
            yield word[option.end() :] or following


@cache
def _folder(folder: str, root: str) -> _Said:
    """What the Makefile or the `CMakeLists.txt` files say of the sources in a folder."""
    unclear: list[str] = []
    own_makefile = True
    for each in upward(folder, root):
        makefile, cmake = _build_files(each)
        for file, reads, text in (*(makefile if own_makefile else ()), *cmake):
            for line, plain in reads(text):
                if plain:
                    return _Said(True, _MACRO in text, ())
                unclear.append(f"{os.path.relpath(file)}:{line}")
        own_makefile = own_makefile and not makefile
    return _Said(False, False, tuple(unclear))


_BuildFile = tuple[str, Callable[[str], Iterator[tuple[int, bool]]], str]


@cache
def _build_files(folder: str) -> tuple[tuple[_BuildFile, ...], tuple[_BuildFile, ...]]:
    """The Makefile and the `CMakeLists.txt` of a folder as far as there are any, with how they are read."""
    makefiles = (found for name in _MAKEFILES for found in _build_file(os.path.join(folder, name), _makefile))
    return tuple(islice(makefiles, 1)), tuple(_build_file(os.path.join(folder, "CMakeLists.txt"), _cmake))


def _build_file(file: str, reads: Callable[[str], Iterator[tuple[int, bool]]]) -> Iterator[_BuildFile]:
    try:
        with open(file, "rb") as opened:
            yield file, reads, opened.read().decode("utf-8", "replace")
    except OSError:
        return


def upward(folder: str, root: str) -> Iterator[str]:
    """A folder and those above it, up to the repository or the root; itself alone where it lies outside."""
    yield folder
    while folder != root and not os.path.exists(os.path.join(folder, ".git")) and folder.startswith(root + os.sep):
        folder = os.path.dirname(folder)
        yield folder


def _without_comments(text: str) -> list[str]:
    if _OPTION.search(text) is None:
        return []  # most build files say nothing of it
    return [re.sub(r"(?<!\\)#.*", "", line) for line in text.split("\n")]


def _makefile(text: str) -> Iterator[tuple[int, bool]]:
    """The lines with the option, and whether each stands under no condition."""
    depth = 0
    for number, line in enumerate(_without_comments(text), 1):
        if _MAKE_OPENS.match(line):
            depth += 1
        elif _MAKE_CLOSES.match(line):
            depth -= 1
        if _OPTION.search(line):
            yield number, depth == 0


def _cmake(text: str) -> Iterator[tuple[int, bool]]:
    """The lines with the option, and whether each stands under no condition in a command for the whole folder."""
    depth, command = 0, ""
    for number, line in enumerate(_without_comments(text), 1):
        started = _CMAKE_COMMAND.match(line.strip())
        if started:
            command = started[1].lower()
            depth += (command in ("if", "function", "macro")) - (command in ("endif", "endfunction", "endmacro"))
        if _OPTION.search(line):
            conditional = re.search(r"\$<\$<(?!COMPILE_LANGUAGE:CUDA>)", line) is not None
            yield number, depth == 0 and command in _FOR_A_FOLDER and not conditional
