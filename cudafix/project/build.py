"""How the files of a tree are compiled: what its build says about the default stream, which macros it defines as
constants, and where the compilation database looks for headers.

nvcc compiles for the legacy default stream unless it is told otherwise (`--default-stream`, or the macro that this
stands for; CUDA programming guide, "Default Stream"). So a file has the legacy one where a build is found that does not
speak of it. Where something is said that can reach the file, it has a default stream of each thread only if the
compilation database says so for this file, or one of the files that make and CMake read plainly says so for all that
they compile; else that is not known. Where no build is found, or make or CMake include a file that is not there, nvcc's
default is an assumption. Who starts a build may give the compiler options that are in no text
(`make NVCCFLAGS=--default-stream=per-thread`): that nobody does is one that a line of the summary names.

Any text may say something (`build_texts`). What can reach a file is found without a parser for each kind of
build: it is said

- in a text of the source's folder or of one above it. A folder that holds no sources itself (`cmake/`, `scripts/`,
  `.github/`) speaks for the one around it, unless it is a project with a license of its own. Of a Makefile above the
  nearest one only if it may start that one, or exports variables to it;
- in whatever file one of these names, which covers `include`, `-include`, response files and configured headers;
- in a text elsewhere in the project that names the source;
- for a target of the same CMake project, which may be linked to, in a variable that others see, or in a function.

A program of Python has the legacy default stream unless a variable of the environment says otherwise. Whatever starts
it may set that: any text of the tree that speaks of one leaves it open, but for one of another project, with a license
of its own.

The tree that this is looked for in is the repository around the source. Where there is none, it is the outermost folder
around the source of those that the user named and that of the configuration, and above it what has build files
(`_Tops`): the current folder does not matter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from cudafix.project.build_files import Files, entries_of, is_folder, repository, upward
from cudafix.project.build_texts import (
    DATABASE,
    DESCRIPTIONS,
    MAKEFILES,
    documents_per_thread,
    is_build_file,
    variable_line,
)
from cudafix.project.compile_commands import Command, commands
from cudafix.project.config import Config
from cudafix.project.paths import named

__all__ = [
    "DefaultStreams",
    "constants",
    "default_streams",
    "described",
    "documents_per_thread",
    "folders_for_headers",
    "include_folders",
    "mentioned_folders",
    "variable_line",
]
_OF_THE_ENVIRONMENT = re.compile(
    rb"NVCC_(?:APPEND|PREPEND)_FLAGS"
)  # nvcc reads it (its manual, "NVCC Environment Variables")
_BUILT_HERE = re.compile(
    r"CMakePresets\.json|package\.json|binding\.gyp|pyproject\.toml|setup\.cfg|Cargo\.toml|conanfile\.(?:py|txt)"
    r"|(?:Docker|Container|Jenkins|just)file.*|configure(?:\.ac)?|(?:build|compile)\.\w+|.*\.(?:sln|vcxproj|cmake|mk)"
)
"""With `DESCRIPTIONS` and the compilation database, names that show that a folder belongs to a build."""
_FOR_BUILDS = re.compile(r"build|cmake|make|out\b")
_MOST_ABOVE, _MOST_EMPTY = 8, 2  # folders above those that the user named, and in a row without a build file
_STARTS_ANOTHER = re.compile(rb"\$[({]MAKE[)}]|\bmake\b|\bexport\b")
_SEEN_BY_OTHERS = re.compile(r"\b(?:PUBLIC|INTERFACE|CACHE|PARENT_SCOPE|function|macro)\b|_property|_properties")
_FOLDER_ITSELF = re.compile(rb"\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}\Z|\$[({]CURDIR[)}]\Z")


class DefaultStreams(NamedTuple):
    """Files with a default stream for each thread, files that may have one, and the places (`file:line`) that may say
    so; files for which no build is found, those whose build includes what is not there and does not speak of it, and
    those for which who starts the build may choose another one: `make NVCCFLAGS=--default-stream=per-thread`.
    """

    per_thread: frozenset[str]
    perhaps: frozenset[str]
    unclear: tuple[str, ...]
    unbuilt: frozenset[str] = frozenset()
    partly_built: frozenset[str] = frozenset()
    to_be_chosen: frozenset[str] = frozenset()


class _Said(NamedTuple):
    """What a build says of a source. `unclear` are the places to name where that is not enough for the source.
    `absent`: it includes what is not there. `takes_options`: who starts it may say something else.
    """

    per_thread: bool
    for_all: bool
    unclear: tuple[str, ...]
    built: bool
    absent: bool = False
    takes_options: bool = False


def forget() -> None:
    """Look at the disk anew from here on: what is known of its build files may not be true any more."""
    for known in (_of_a_build, _Builds.around, Files.below, repository):
        known.cache_clear()


def default_streams(paths: Iterable[str], config: Config, given: Iterable[str] = ()) -> DefaultStreams:
    """What the build says of these sources, where the configuration leaves it to that. `given` are the files and
    folders that the user named. The disk is looked at anew.
    """
    forget()
    tops = _Tops(config, given)
    folders: dict[str, str] = {}
    found: set[str] = set()
    perhaps: set[str] = set()
    unbuilt: set[str] = set()
    partly_built: set[str] = set()
    to_be_chosen: set[str] = set()
    unclear: dict[str, None] = {}
    for path in paths:
        if config.default_stream_of(path) != "auto":
            continue
        name, file = os.path.split(path)  # a source is no symbolic link itself (`cudafix.project.discovery`)
        folder = folders.get(name)
        if folder is None:
            folder = folders[name] = os.path.realpath(name)
        if path.endswith((".py", ".ipynb")):
            says = dict.fromkeys(tops.variables(folder))
            unclear |= says
            perhaps |= {path} if says else set()
            continue
        command = tops.command(folder, file)
        build = tops.builds(folder).said_of(file, only_environment=command is not None)
        if command is not None and command.per_thread is None:
            perhaps.add(path)
            unclear |= dict.fromkeys(build.unclear or (f"{os.path.relpath(command.database)}:1",))
        elif command is not None and build.unclear:
            perhaps.add(path)
            unclear |= dict.fromkeys(build.unclear)
        elif command is not None:
            found |= {path} if command.per_thread else set()
        elif build.per_thread and (build.for_all or path.endswith((".cu", ".cuh"))):
            found.add(path)
            to_be_chosen |= {path} if build.takes_options else set()
        else:
            says = dict.fromkeys(build.unclear or tops.of_others(folder))
            unclear |= says
            if build.per_thread or says:
                perhaps.add(path)
            elif build.absent:
                partly_built.add(path)
            elif not build.built:
                unbuilt.add(path)
            elif build.takes_options:
                to_be_chosen.add(path)
    return DefaultStreams(
        frozenset(found),
        frozenset(perhaps),
        tuple(unclear),
        frozenset(unbuilt),
        frozenset(partly_built),
        frozenset(to_be_chosen),
    )


def include_folders(
    paths: Iterable[str], config: Config, given: Iterable[str] = ()
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The folders in which the compilation database looks for the headers of these sources, named as `paths` are."""
    tops = _Tops(config, given)
    here = os.path.realpath(".")
    found = ((p, tops.command(*os.path.split(os.path.realpath(p)))) for p in paths if not p.endswith((".py", ".ipynb")))
    return tuple(
        (path, tuple("" if folder == here else named(folder, here) for folder in command.folders))
        for path, command in found
        if command is not None
    )


def mentioned_folders(
    paths: Iterable[str], config: Config, given: Iterable[str] = ()
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The folders that the texts which reach these files name for headers, named as `paths` are."""
    tops = _Tops(config, given)
    here = os.path.realpath(".")
    known: dict[str, tuple[str, ...]] = {}
    found = []
    for path in paths:
        if not path.endswith((".py", ".ipynb")):
            folder = os.path.dirname(os.path.realpath(path))
            if folder not in known:
                folders = tops.builds(folder).header_folders
                known[folder] = tuple("" if each == here else named(each, here) for each in folders)
            if known[folder]:
                found.append((path, known[folder]))
    return tuple(found)


def folders_for_headers(folders: Iterable[str], config: Config, given: Iterable[str] = ()) -> frozenset[str]:
    """Those of some folders that a text of their tree may name for headers."""
    tops = _Tops(config, given)
    real = {folder: os.path.realpath(folder) for folder in folders}
    return frozenset(folder for folder, at in real.items() if Files.below(tops.of(at)).may_look_in(at))


def constants(
    paths: Iterable[str], config: Config, given: Iterable[str] = ()
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The macros that the build defines as constants for these sources, where it defines any: by the command of the
    compilation database, else by the texts that reach their folders.
    """
    tops = _Tops(config, given)
    found = []
    for path in paths:
        if not path.endswith((".py", ".ipynb")):
            folder, file = os.path.split(os.path.realpath(path))
            command = tops.command(folder, file)
            names = command.constants if command is not None else tops.builds(folder).constants
            if names:
                found.append((path, tuple(sorted(names))))
    return tuple(found)


class _Tops:
    """Up to which folder a build is looked for. Asked for a source, it does not depend on the current folder."""

    def __init__(self, config: Config, given: Iterable[str]) -> None:
        named = (os.path.realpath(each) for each in given)
        # a configuration that is read has the path of its folder; that of none is the current one
        self._root = os.path.realpath(config.root) if config.root.is_absolute() else None
        outer = {each if os.path.isdir(each) else os.path.dirname(each) for each in named}
        self._outer = sorted(outer | ({self._root} if self._root is not None else set()), key=len)
        self._found: dict[str, str] = {}
        self._commands: dict[str, dict[str, Command]] = {}
        self._variables: dict[str, tuple[str, ...]] = {}

    def of(self, folder: str) -> str:
        if folder not in self._found:
            around = (each for each in self._outer if (folder + os.sep).startswith(each.rstrip(os.sep) + os.sep))
            outer = next(around, folder)
            self._found[folder] = repository(folder) or _of_a_build(outer)
        return self._found[folder]

    def builds(self, folder: str) -> _Builds:
        return _Builds.around(folder, self.of(folder))

    def variables(self, folder: str) -> tuple[str, ...]:
        """The places that may choose the default stream of the programs of Python in a folder."""
        if folder not in self._variables:
            top = self.of(folder)
            tree = Files.below(top)
            tree.look_at(upward(folder, top))
            self._variables[folder] = tree.variables_for(folder)
        return self._variables[folder]

    def command(self, folder: str, file: str) -> Command | None:
        """How a source is compiled, by a compilation database of its tree, or of the folder of the configuration."""
        return self._known(self.of(folder)).get(os.path.join(folder, file))

    def of_others(self, folder: str) -> Iterator[str]:
        """The databases around a folder that compile some source with a default stream of each thread."""
        top = self.of(folder)
        around = set(upward(folder, top))
        for database in sorted({each.database for each in self._known(top).values() if each.per_thread is not False}):
            here = os.path.dirname(database)
            if here in around or os.path.dirname(here) in around:
                yield f"{os.path.relpath(database)}:1"

    def _known(self, top: str) -> dict[str, Command]:
        if top not in self._commands:
            databases = dict.fromkeys(Files.below(top).databases)
            if self._root is not None and (top + os.sep).startswith(self._root + os.sep):
                databases |= dict.fromkeys(_databases(self._root))
            self._commands[top] = commands(tuple((file, _changed(file)) for file in databases))
        return self._commands[top]


@cache
def _of_a_build(folder: str) -> str:
    """A folder, or the outermost above it to which folders with build files lead up. The user's own folder, that of
    temporary files and the root of the file system are not looked at: what lies there is not one tree.
    """
    import tempfile

    ends = {os.path.realpath(each) for each in ("/", "~", tempfile.gettempdir())} | {os.path.expanduser("~")}
    found, empty = folder, 0
    for above in list(map(str, Path(folder).parents))[:_MOST_ABOVE]:
        if above in ends or empty > _MOST_EMPTY:
            break
        found, empty = (above, 0) if _has_build_file(above) else (found, empty + 1)
    return found


def _has_build_file(folder: str) -> bool:
    """Whether a folder is part of a build: it or a folder in it that is for builds holds what describes one."""
    entries = entries_of(folder)
    if any(_describes(entry.name) or _BUILT_HERE.fullmatch(entry.name) for entry in entries):
        return True
    inner = (entry.path for entry in entries if _FOR_BUILDS.match(entry.name) and is_folder(entry))
    return any(_describes(entry.name) for each in inner for entry in entries_of(each))


def described(folder: str) -> list[str]:
    """The files that say how a folder is built: those in it, and the compilation databases in its folders."""
    own = (entry.path for entry in entries_of(folder) if _describes(entry.name) and not is_folder(entry))
    return [*sorted(own), *(each for each in _databases(folder) if os.path.dirname(each) != folder)]


def _describes(name: str) -> bool:
    return name in DESCRIPTIONS or name == DATABASE


def _databases(folder: str) -> list[str]:
    """The compilation databases of a folder and of those in it (where CMake builds)."""
    folders = [folder, *(entry.path for entry in entries_of(folder) if is_folder(entry))]
    return [file for each in folders if os.path.isfile(file := os.path.join(each, DATABASE))]


def _changed(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


class _Builds:
    """The texts around one folder, up to the top of its tree, that may say how it is compiled."""

    def __init__(self, folder: str, above: tuple[str, ...], tree: Files) -> None:
        self._folder = folder
        self._above = above
        self._tree = tree
        nearest = next((each for each in above if any((each, name) in tree.files for name in MAKEFILES)), None)
        self._nearest = nearest
        self._reaching = self._closure([f for each in above for f in tree.speaking_for(each) if self._counts(f)])
        project = tree.project(folder)
        self._elsewhere = [f for f in tree.saying if f not in self._reaching and tree.project(f) == project]
        self._shared = frozenset(filter(self._shares, self._elsewhere))
        self._said: dict[tuple[bool, tuple[str, ...]], _Said] = {}  # by what else speaks of a source
        self._patterns: dict[str, list[str]] = {}  # see `_patterns_in`

    @staticmethod
    @cache
    def around(folder: str, top: str) -> _Builds:
        above = tuple(upward(folder, top))
        tree = Files.below(top)
        tree.look_at(above)
        return _Builds(folder, above, tree)

    def _counts(self, file: str) -> bool:
        """Whether a build file of the folder or of one above it speaks for what is in the folder: the first Makefile
        does, and one above that may start it, or export variables to it.
        """
        folder, name = os.path.split(file)
        if name not in MAKEFILES or self._nearest is None:
            return True
        if folder == self._nearest:
            return name == next(name for name in MAKEFILES if (folder, name) in self._tree.files)
        return _STARTS_ANOTHER.search(self._tree.text(file)) is not None

    def _closure(self, files: list[str]) -> dict[str, None]:
        """These files, and what they name."""
        found: dict[str, None] = {}
        while files:
            file = files.pop()
            if file not in found:
                found[file] = None
                if self._tree.reads_others(file):
                    files += self._tree.named_in(file)
        return found

    @cached_property
    def constants(self) -> frozenset[str]:
        """The macros that the texts which reach the folder define as constants, and none of them as something else."""
        found = [one for file in self._reaching for one in self._tree.definitions(file)]
        return frozenset(one.name for one in found) - {one.name for one in found if not one.is_constant}

    @cached_property
    def header_folders(self) -> list[str]:
        """The folders that the texts which reach the folder name for headers."""
        return sorted({each for file in self._reaching for each in self._tree.header_folders(file)})

    def said_of(self, source: str, only_environment: bool) -> _Said:
        """What is said of a source in the folder. Where its command is known, only the environment can add to it."""
        others = (
            () if only_environment else tuple(f for f in self._elsewhere if f in self._shared or self._names(f, source))
        )
        if (only_environment, others) not in self._said:
            self._said[only_environment, others] = self._said_by(others, only_environment)
        return self._said[only_environment, others]

    def _said_by(self, others: Iterable[str], only_environment: bool) -> _Said:
        """What the texts that reach the folder say, and these `others`."""
        tree = self._tree
        says = [file for file in self._reaching if tree.places(file)]
        if only_environment:
            says = [file for file in says if _OF_THE_ENVIRONMENT.search(tree.text(file))]
            return _Said(False, False, tuple(tree.where(file) for file in says), True)
        absent = any(tree.lacks_included(file) for file in self._reaching)
        says += others
        compiling = [file for file in self._reaching if tree.compiles(file)]
        built = tree.is_whole and bool(compiling)
        takes = any(map(tree.takes_options, compiling))
        plain = [file for file in says if self._decides(file) and all(place.plain for place in tree.places(file))]
        places = [place for file in plain for place in tree.places(file)]
        if (
            not absent
            and places
            and all(place.per_thread for file in says for place in tree.places(file))
            and self._is_one(plain)
        ):
            return _Said(True, any(place.macro for place in places), tuple(map(tree.where, plain)), built, False, takes)
        unclear = [file for file in says if any(place.per_thread for place in tree.places(file))]
        return _Said(False, False, tuple(map(tree.where, sorted(unclear))), built, absent, takes)

    def _decides(self, file: str) -> bool:
        """Whether it is the Makefile or a `CMakeLists.txt` that compiles the folder, as far as one can tell."""
        folder, name = os.path.split(file)
        return folder == self._nearest if name in MAKEFILES else folder in self._above and name == "CMakeLists.txt"

    def _is_one(self, plain: list[str]) -> bool:
        """Whether no other build compiles the folder without a word of the default stream: make beside CMake."""
        others = (f for f in self._reaching if self._decides(f) and self._tree.compiles(f))
        return {f.endswith("CMakeLists.txt") for f in others} <= {f.endswith("CMakeLists.txt") for f in plain}

    def _names(self, file: str, source: str) -> bool:
        """Whether a text elsewhere names a source here, or the folder with all that is in it."""
        folder, data = os.path.dirname(file), self._tree.text(file)
        for start, before in self._tree.paths_in(file).get(source, ()):
            computed = data[start - 1 : start] in (b")", b"}")
            if computed and _FOLDER_ITSELF.search(data[max(start - 40, 0) : start]):
                computed, before = False, before.lstrip("/")
            meant = os.path.normpath(os.path.join(folder, before))
            if meant == self._folder:
                return True
            # a path starts in the folder of its build file, or somewhere else where it leads to nothing from there
            if not computed and os.path.exists(os.path.join(meant, source)):
                continue
            # (what is no build file starts in its folder, or in one above it)
            if not computed and not is_build_file(os.path.basename(file)):
                if any(os.path.normpath(os.path.join(each, before)) == self._folder for each in self._tree.above(file)):
                    return True
                continue
            rest = before.strip("/").rpartition("../")[2].removeprefix("./")
            if not rest or (self._folder + os.sep).endswith(f"/{rest}/"):
                return True
        return any(pattern == "$" or fnmatch(source, pattern) for pattern in self._patterns_in(file))

    def _patterns_in(self, file: str) -> list[str]:
        """What a text elsewhere writes behind the name of the folder, for many files in it."""
        if file not in self._patterns:
            last = os.path.basename(self._folder).encode()
            found = re.findall(rb"(?<![\w.-])" + re.escape(last) + rb"/(\$|\*[\w.*]*)", self._tree.text(file))
            self._patterns[file] = list(map(bytes.decode, found))
        return self._patterns[file]

    def _shares(self, file: str) -> bool:
        """Whether what a file of the same CMake project says may reach targets of other folders."""
        if not file.endswith(("CMakeLists.txt", ".cmake")):
            return False
        folder = os.path.dirname(file)
        projects = (each for each in self._above if (each, "CMakeLists.txt") in self._tree.files)
        if not any(folder.startswith(each + os.sep) for each in projects):
            return False
        return _SEEN_BY_OTHERS.search(self._tree.text(file).decode("utf-8", "replace")) is not None
