"""How the files of a tree are compiled: what its build says about the default stream, which macros it defines as
constants, and where the compilation database looks for headers.

nvcc compiles for the legacy default stream unless it is told otherwise (`--default-stream`, or the macro that this
stands for; CUDA programming guide, "Default Stream"). So a file has the legacy one where a build is found that does not
speak of it. Where something is said that can reach the file, it has a default stream of each thread only if the
compilation database says so for this file, or one of the files that make and CMake read plainly says so for all that
they compile; else that is not known. Where no build is found, or make or CMake include a file that is not there, nvcc's
default is an assumption.

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
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache, cached_property, lru_cache
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

from cudafix.project.build_texts import (
    DATABASE,
    DESCRIPTIONS,
    MAKEFILES,
    SOURCES,
    Definition,
    Place,
    defined_by,
    definitions,
    documents_per_thread,
    includes,
    is_build_file,
    is_prose,
    may_be_text,
    places,
    suffix_of,
    variable_line,
    whole,
)
from cudafix.project.config import Config
from cudafix.project.paths import HEADERS, SUFFIXES, named

__all__ = [
    "DefaultStreams",
    "constants",
    "default_streams",
    "documents_per_thread",
    "include_folders",
    "upward",
    "variable_line",
]

_OF_THE_ENVIRONMENT = re.compile(
    rb"NVCC_(?:APPEND|PREPEND)_FLAGS"
)  # nvcc reads it (its manual, "NVCC Environment Variables")
_READ_FIRST = re.compile(r"@|(?:--options-file|-optf|--pre-include|-include)(?:=|$)")
"""Options that name a file with more options, or with text that stands in front of the source (nvcc's manual)."""
_INCLUDES = re.compile(r"(?:-I|-iquote|-isystem|--?include-path)=?")

_BUILT_HERE = re.compile(
    r"CMakePresets\.json|package\.json|binding\.gyp|pyproject\.toml|setup\.cfg|Cargo\.toml|conanfile\.(?:py|txt)"
    r"|(?:Docker|Container|Jenkins|just)file.*|configure(?:\.ac)?|(?:build|compile)\.\w+|.*\.(?:sln|vcxproj|cmake|mk)"
)
"""With `DESCRIPTIONS` and the compilation database, names that show that a folder belongs to a build."""
_FOR_BUILDS = re.compile(r"build|cmake|make|out\b")
_LEFT_OUT = frozenset(
    ".bzr .cache .eggs .git .hg .hypothesis .ipynb_checkpoints .mypy_cache .nox .pytest_cache .ruff_cache .svn "
    ".terraform .tox __pycache__ node_modules site-packages".split()
)
_MOST_ENTRIES, _MOST_WITHOUT_REPOSITORY, _LARGEST = 200_000, 50_000, 1 << 20
_MOST_ALIKE = 500  # files of one suffix in a folder, which are data then
_MOST_ABOVE, _MOST_EMPTY = 8, 2  # folders above those that the user named, and in a row without a build file
_STARTS_ANOTHER = re.compile(rb"\$[({]MAKE[)}]|\bmake\b|\bexport\b")
_SEEN_BY_OTHERS = re.compile(r"\b(?:PUBLIC|INTERFACE|CACHE|PARENT_SCOPE|function|macro)\b|_property|_properties")
_FOLDER_ITSELF = re.compile(rb"\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}\Z|\$[({]CURDIR[)}]\Z")
_FOLDERS = re.compile(  # of the file itself, or of one above it
    r"^(?:\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR|CMAKE_SOURCE_DIR|\w+_SOURCE_DIR)\}|\$[({]CURDIR[)}])"
)
_PATTERN = re.compile(r"[*?\[]")
_WORD = re.compile(rb"[\w.+-]+")
_WITH_FOLDER = re.compile(rb"[\w./+-]*/[\w.+-]+")


class DefaultStreams(NamedTuple):
    """Files with a default stream for each thread, files that may have one, and the places (`file:line`) that may say
    so; files for which no build is found, and those whose build includes what is not there and does not speak of it.
    """

    per_thread: frozenset[str]
    perhaps: frozenset[str]
    unclear: tuple[str, ...]
    unbuilt: frozenset[str] = frozenset()
    partly_built: frozenset[str] = frozenset()


class _Command(NamedTuple):
    """How the compilation database compiles a source."""

    per_thread: bool | None
    folders: tuple[str, ...]  # where it looks for headers
    database: str
    constants: frozenset[str]  # macros that it defines


class _Said(NamedTuple):
    """What a build says of a source. `unclear` are the places to name where that is not enough for the source.
    `absent`: it includes what is not there.
    """

    per_thread: bool
    for_all: bool
    unclear: tuple[str, ...]
    built: bool
    absent: bool = False


def default_streams(paths: Iterable[str], config: Config, given: Iterable[str] = ()) -> DefaultStreams:
    """What the build says of these sources, where the configuration leaves it to that. `given` are the files and
    folders that the user named. The disk is looked at anew.
    """
    for kept in (_repository, _of_a_build, _Files.below, _Builds.around):
        kept.cache_clear()
    tops = _Tops(config, given)
    folders: dict[str, str] = {}
    found: set[str] = set()
    perhaps: set[str] = set()
    unbuilt: set[str] = set()
    partly_built: set[str] = set()
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
        else:
            says = dict.fromkeys(build.unclear or tops.of_others(folder))
            unclear |= says
            if build.per_thread or says:
                perhaps.add(path)
            elif build.absent:
                partly_built.add(path)
            elif not build.built:
                unbuilt.add(path)
    return DefaultStreams(
        frozenset(found), frozenset(perhaps), tuple(unclear), frozenset(unbuilt), frozenset(partly_built)
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


def upward(folder: str, root: str) -> Iterator[str]:
    """A folder and those above it, up to the repository or the root; itself alone where it lies outside."""
    yield folder
    while folder != root and not os.path.exists(os.path.join(folder, ".git")) and folder.startswith(root + os.sep):
        folder = os.path.dirname(folder)
        yield folder


# ---------------------------------------------------------------------------------------------------------------------
# where a build is looked for


class _Tops:
    """Up to which folder a build is looked for. Asked for a source, it does not depend on the current folder."""

    def __init__(self, config: Config, given: Iterable[str]) -> None:
        named = (os.path.realpath(each) for each in given)
        # a configuration that is read has the path of its folder; that of none is the current one
        self._root = os.path.realpath(config.root) if config.root.is_absolute() else None
        outer = {each if os.path.isdir(each) else os.path.dirname(each) for each in named}
        self._outer = sorted(outer | ({self._root} if self._root is not None else set()), key=len)
        self._found: dict[str, str] = {}
        self._commands: dict[str, dict[str, _Command]] = {}
        self._variables: dict[str, tuple[str, ...]] = {}

    def of(self, folder: str) -> str:
        if folder not in self._found:
            around = (each for each in self._outer if (folder + os.sep).startswith(each.rstrip(os.sep) + os.sep))
            outer = next(around, folder)
            self._found[folder] = _repository(folder) or _of_a_build(outer)
        return self._found[folder]

    def builds(self, folder: str) -> _Builds:
        return _Builds.around(folder, self.of(folder))

    def variables(self, folder: str) -> tuple[str, ...]:
        """The places that may choose the default stream of the programs of Python in a folder."""
        if folder not in self._variables:
            top = self.of(folder)
            tree = _Files.below(top)
            tree.look_at(upward(folder, top))
            self._variables[folder] = tree.variables_for(folder)
        return self._variables[folder]

    def command(self, folder: str, file: str) -> _Command | None:
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

    def _known(self, top: str) -> dict[str, _Command]:
        if top not in self._commands:
            databases = dict.fromkeys(_Files.below(top).databases)
            if self._root is not None and (top + os.sep).startswith(self._root + os.sep):
                databases |= dict.fromkeys(_databases(self._root))
            self._commands[top] = _commands(tuple((file, _changed(file)) for file in databases))
        return self._commands[top]


@cache
def _repository(folder: str) -> str | None:
    """The folder of the repository around a folder."""
    if os.path.exists(os.path.join(folder, ".git")):
        return folder
    above = os.path.dirname(folder)
    return _repository(above) if above != folder else None


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
    entries = _entries(folder)
    if any(_describes(entry.name) or _BUILT_HERE.fullmatch(entry.name) for entry in entries):
        return True
    inner = (entry.path for entry in entries if _FOR_BUILDS.match(entry.name) and _is_folder(entry))
    return any(_describes(entry.name) for each in inner for entry in _entries(each))


def _describes(name: str) -> bool:
    return name in DESCRIPTIONS or name == DATABASE


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


# ---------------------------------------------------------------------------------------------------------------------
# the compilation database


def _databases(folder: str) -> list[str]:
    """The compilation databases of a folder and of those in it (where CMake builds)."""
    folders = [folder, *(entry.path for entry in _entries(folder) if _is_folder(entry))]
    return [file for each in folders if os.path.isfile(file := os.path.join(each, DATABASE))]


@lru_cache(maxsize=8)
def _commands(databases: tuple[tuple[str, int], ...]) -> dict[str, _Command]:
    """How each source of some compilation databases is compiled; where they do not agree, that is not known. The newest
    one says where headers are.
    """
    found: dict[str, _Command] = {}
    for file, _ in sorted(databases, key=lambda each: each[1], reverse=True):
        try:
            commands = _read(file)
        except (OSError, ValueError):
            continue  # it is the build's, and says nothing then
        for source, command in commands.items():
            known = found.setdefault(source, command)
            per_thread = known.per_thread if known.per_thread is command.per_thread else None
            found[source] = known._replace(per_thread=per_thread, constants=known.constants & command.constants)
    return found


def _changed(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _read(file: str) -> dict[str, _Command]:
    """What a compilation database says. Raises OSError, ValueError.

    https://clang.llvm.org/docs/JSONCompilationDatabase.html
    """
    import json  # only a tree with a database pays for it

    entries = json.loads(Path(file).read_bytes())
    found: dict[str, _Command] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            folder = os.path.join(os.path.dirname(file), str(entry.get("directory", "")))
            source = os.path.realpath(os.path.join(folder, entry["file"]))
            if os.path.splitext(source)[1] in SUFFIXES:
                words = _words(entry)
                says = _compiled_by(words, folder)
                defined = list(defined_by(words))
                constant = {one.name for one in defined} - {one.name for one in defined if not one.is_constant}
                known = found.get(source, _Command(says, (), file, frozenset(constant)))
                folders = (os.path.realpath(os.path.join(folder, f)) for f in _folders(words))
                # a source that is compiled twice, with two default streams: which of them a program links is not known
                per_thread = says if says is known.per_thread else None
                found[source] = _Command(
                    per_thread, tuple(dict.fromkeys((*known.folders, *folders))), file, known.constants & constant
                )
    return found


def _compiled_by(words: list[str], folder: str) -> bool | None:
    """What a command says: of several options the last one counts, and the macro wins (docs/FACTS.md)."""
    texts = [" ".join(words)]
    for word, following in zip(words, (*words[1:], ""), strict=True):
        named = _READ_FIRST.match(word)
        if named is not None:
            file = word[named.end() :] or following
            texts.append(_text(os.path.join(folder, file)).decode("utf-8", "replace"))
    said = [mention for text in texts for mention in whole(text)]
    if not said:
        return False
    if not all(mention.known for mention in said) or len(texts) > 1:
        return None
    return any(mention.macro for mention in said) or said[-1].value == "per-thread"


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


# ---------------------------------------------------------------------------------------------------------------------
# texts of the build


def _text(file: str) -> bytes:
    """What a file holds; nothing, where it cannot be read, is large, or is no text."""
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > _LARGEST:
            return b""
        with open(file, "rb", buffering=0) as opened:
            data = opened.readall()
    except OSError:
        return b""
    return b"" if b"\0" in data[:1024] else data


def _may_be_read(name: str) -> bool:
    """Whether a build may take options from a file that it names: it reads it, or hands it to the compiler."""
    return is_build_file(name) or name.endswith(
        (*HEADERS, ".txt", ".json", ".rsp", ".opt", ".opts", ".flags", ".args", ".cfg")
    )


class _Builds:
    """The texts around one folder, up to the top of its tree, that may say how it is compiled."""

    def __init__(self, folder: str, above: tuple[str, ...], tree: _Files) -> None:
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
        tree = _Files.below(top)
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
        absent = any(tree.absent_in(file) for file in self._reaching)
        says += others
        built = tree.is_whole and any(tree.compiles(file) for file in self._reaching)
        plain = [file for file in says if self._decides(file) and all(place.plain for place in tree.places(file))]
        places = [place for file in plain for place in tree.places(file)]
        if (
            not absent
            and places
            and all(place.per_thread for file in says for place in tree.places(file))
            and self._is_one(plain)
        ):
            return _Said(True, any(place.macro for place in places), tuple(map(tree.where, plain)), built)
        unclear = [file for file in says if any(place.per_thread for place in tree.places(file))]
        return _Said(False, False, tuple(map(tree.where, sorted(unclear))), built, absent)

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


class _Listed(NamedTuple):
    folders: list[str]
    entries: int


class _Files:
    """The texts of a tree that may speak of the default stream, and its compilation databases."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.files: set[tuple[str, str]] = set()
        self.databases: list[str] = []
        self.saying: list[str] = []
        self._variables: dict[str, int] = {}  # where a file names a variable that packages of Python read
        self.is_whole = True  # else it is too large, and only its upper folders were looked at
        self._named: dict[bytes, list[str]] = defaultdict(list)
        self._with_sources: set[str] = {top}
        self._texts: dict[str, bytes] = {}
        self._places: dict[str, list[Place]] = {}
        self._definitions: dict[str, frozenset[Definition]] = {}
        self._speaking: dict[str, list[str]] = defaultdict(list)
        self._compiles: dict[str, bool] = {}
        self._naming: dict[str, list[str]] = {}
        self._open: dict[str, list[str]] = {}
        self._paths: dict[str, dict[str, list[tuple[int, str]]]] = {}
        self._projects: dict[str, str] = {}  # the outermost one around a folder that is known
        self._licensed: set[str] = set()
        self._seen: set[str] = set()
        most = _MOST_ENTRIES if _repository(top) is not None else _MOST_WITHOUT_REPOSITORY
        found: list[str] = []
        entries = 0
        folders = deque((top,))
        while folders:
            listed = self._look_into(folders.popleft(), found)
            folders += listed.folders
            entries += listed.entries
            if entries > most and folders:
                self.is_whole = False
                break
        self._keep(found)

    @staticmethod
    @cache
    def below(top: str) -> _Files:
        return _Files(top)

    def look_at(self, folders: Iterable[str]) -> None:
        """Take these folders of the tree too, where it is too large to be looked at as a whole."""
        found: list[str] = []
        for folder in () if self.is_whole else folders:
            if folder not in self._seen:
                self._look_into(folder, found)
        self._keep(found)

    def _look_into(self, folder: str, found: list[str]) -> _Listed:
        """List a folder; what may be a text of the build is `found`."""
        self._seen.add(folder)
        entries = _entries(folder)
        names = [entry.name for entry in entries]
        if "pyvenv.cfg" in names:
            return _Listed([], len(entries))
        if any(name.startswith(("LICENSE", "LICENCE", "COPYING")) for name in names):
            self._licensed.add(folder)
        alike = Counter(map(suffix_of, names)) if len(names) > _MOST_ALIKE else Counter()
        inner = []
        for entry in entries:
            name = entry.name
            if _is_folder(entry):
                if name not in _LEFT_OUT and not name.endswith((".egg-info", ".dist-info")) and not entry.is_symlink():
                    inner.append(entry.path)
                continue
            if name.endswith(SOURCES):
                each = folder
                while each not in self._with_sources:
                    self._with_sources.add(each)
                    each = os.path.dirname(each)
            else:
                self.files.add((folder, name))
                self._named[name.encode("utf-8", "surrogateescape")].append(entry.path)
            if name == DATABASE:
                self.databases.append(entry.path)
            elif is_build_file(name) or (may_be_text(name) and alike[suffix_of(name)] <= _MOST_ALIKE):
                found.append(entry.path)
        return _Listed(inner, len(entries))

    def _keep(self, found: Iterable[str]) -> None:
        """Keep the texts that are a build or say something, for the folders that they speak for."""
        for file in found:
            data, name = _text(file), os.path.basename(file)
            line = variable_line(name, data)
            if line is not None:
                self._variables[file] = line
            said = places(name, data)
            if said:
                self.saying.append(file)
            elif not is_build_file(name) and (b"nvcc" not in data or name.endswith(SOURCES)):
                continue
            self._texts[file], self._places[file] = data, said
            folder = os.path.dirname(file)
            while folder not in self._with_sources and folder not in self._licensed:
                folder = os.path.dirname(folder)
            self._speaking[folder].append(file)

    def text(self, file: str) -> bytes:
        if file not in self._texts:
            self._texts[file] = _text(file)
        return self._texts[file]

    def speaking_for(self, folder: str) -> list[str]:
        """The build files of a folder, and of those in it that hold no sources."""
        return self._speaking.get(folder, [])

    def variables_for(self, folder: str) -> tuple[str, ...]:
        """The places that speak of such a variable: those of what has a license of its own only for what is in it."""
        found = []
        for file, line in sorted(self._variables.items()):
            around = os.path.dirname(file)
            while around != self.top and around not in self._licensed:
                around = os.path.dirname(around)
            if (folder + os.sep).startswith(around.rstrip(os.sep) + os.sep):
                found.append(f"{os.path.relpath(file)}:{line}")
        return tuple(found)

    def project(self, path: str) -> str:
        """The outermost folder around a file, or a folder, that has a license of its own; else all that there is."""
        if path not in self._projects:
            outer = self.project(os.path.dirname(path)) if path != self.top else None
            is_first = outer is None or (outer == self.top and self.top not in self._licensed)
            self._projects[path] = path if is_first and path in self._licensed else outer or self.top
        return self._projects[path]

    def above(self, file: str) -> Iterator[str]:
        """The folder of a file, and those above it in the tree."""
        return upward(os.path.dirname(file), self.top)

    def paths_in(self, file: str) -> dict[str, list[tuple[int, str]]]:
        """The paths with a folder in a text, by their last name: where they start, and the folder."""
        if file not in self._paths:
            found: dict[str, list[tuple[int, str]]] = defaultdict(list)
            for match in _WITH_FOLDER.finditer(self.text(file)):
                folder, _, name = match[0].decode("utf-8", "replace").rpartition("/")
                found[name].append((match.start(), folder))
            self._paths[file] = found
        return self._paths[file]

    def _meant(self, name: bytes, folder: str) -> list[str]:
        """The files that a bare name may mean in a folder of a project: of several, those in it or in one above it."""
        project = self.project(folder) + os.sep
        files = [file for file in self._named[name] if file.startswith(project)]
        near = [file for file in files if (folder + os.sep).startswith(os.path.dirname(file) + os.sep)]
        return files if len(files) == 1 else near

    def reads_others(self, file: str) -> bool:
        """Whether a file may be read for options in files that it names."""
        name = os.path.basename(file)
        may_read = is_build_file(name) or b"nvcc" in self.text(file)
        return may_read and not is_prose(name) and not name.endswith((*HEADERS, *SOURCES))

    def named_in(self, file: str) -> list[str]:
        """The files of the tree that a build file names. Of those that every folder may have, only by their folder."""
        if file not in self._naming:
            words = set(_WORD.findall(self.text(file)))
            if file.endswith(("CMakeLists.txt", ".cmake")):
                words |= {word + b".cmake" for word in words}  # `include(flags)`
            found = [
                f
                for word in words & self._named.keys()
                if word.decode() not in DESCRIPTIONS and _may_be_read(word.decode())
                for f in self._meant(word, os.path.dirname(file))
            ]
            for match in _WITH_FOLDER.findall(self.text(file)):
                at = os.path.normpath(os.path.join(os.path.dirname(file), match.decode("utf-8", "replace")))
                if os.path.split(at) in self.files and _may_be_read(os.path.basename(at)):
                    found.append(at)
            inside, self._open[file] = self._included(file)
            found += inside
            self._naming[file] = [f for f in found if not is_prose(os.path.basename(f)) and not f.endswith(".ipynb")]
        return self._naming[file]

    def absent_in(self, file: str) -> list[str]:
        """The lines in which a build file includes what is not found."""
        if not self.reads_others(file):
            return []
        self.named_in(file)
        return self._open[file]

    def _included(self, file: str) -> tuple[list[str], list[str]]:
        """The files that a build file includes, of outside of the tree too, and the lines where none is found."""
        folder, name = os.path.split(file)
        found: list[str] = []
        absent: list[str] = []
        for line, path, optional in includes(name, self.text(file)):
            plain = _FOLDERS.sub("", path)
            meant = [os.path.normpath(os.path.join(each, plain.lstrip("/") if plain != path else path))
                     for each in self.above(file)] if "$" not in plain else []  # fmt: skip
            there = [each for one in meant for each in (glob(one) if _PATTERN.search(one) else [one])]
            there = [each for each in there if os.path.isfile(each)]
            last = os.path.basename(plain)
            there = there[:1] if _PATTERN.search(plain) is None else there
            there += self._meant(last.encode(), folder) if not there and "$" not in last else []
            found += there
            if not there and not (optional and meant):
                absent.append(f"{os.path.relpath(file)}:{line}")
        return found, absent

    def compiles(self, file: str) -> bool:
        """Whether a file is a build, and not only a setting."""
        if file not in self._compiles:
            data = self.text(file)
            name = os.path.basename(file)
            is_known = name in DESCRIPTIONS and re.search(rb"(?i)cuda|nvcc|\.cu\b", data) is not None
            runs_nvcc = b"nvcc" in data and re.search(rb"\.cu\b", data) is not None
            self._compiles[file] = is_known or (runs_nvcc and is_build_file(name) and not is_prose(name))
        return self._compiles[file]

    def definitions(self, file: str) -> frozenset[Definition]:
        if file not in self._definitions:
            self._definitions[file] = frozenset(definitions(os.path.basename(file), self.text(file)))
        return self._definitions[file]

    def where(self, file: str) -> str:
        """The first place of a file that may give other files a default stream of each thread."""
        place = min((place for place in self.places(file) if place.per_thread), default=None)
        return f"{os.path.relpath(file)}:{place.line if place is not None else 1}"

    def places(self, file: str) -> list[Place]:
        """The lines of a file that speak of the default stream."""
        if file not in self._places:
            data = self.text(file)
            self._places[file] = places(os.path.basename(file), data)
        return self._places[file]
