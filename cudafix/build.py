"""How the files of a tree are compiled: what its build says about the default stream, and where the compilation
database looks for headers.

nvcc compiles for the legacy default stream unless it is told otherwise (`--default-stream`, or the macro that this
stands for; CUDA programming guide, "Default Stream"). So a file has the legacy one where a build is found that does not
speak of it. Where something is said that can reach the file, it has a default stream of each thread only if the
compilation database says so for this file, or one of the files that make and CMake read plainly says so for all that
they compile; else that is not known. Where no build is found, nvcc's default is an assumption.

What can reach a file is found without a parser for each kind of build: it is said

- in a build file, script, preset, workflow or container file of the source's folder or of one above it. A folder that
  holds no sources itself (`cmake/`, `scripts/`, `.github/`) speaks for the one around it, unless it is a project with a
  license of its own. Of a Makefile above the nearest one only if it may start that one, or exports variables to it;
- in whatever file one of these names, which covers `include`, `-include`, response files and configured headers;
- in a build file elsewhere in the project that names the source;
- for a target of the same CMake project, which may be linked to, in a variable that others see, or in a function.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from cudafix.config import Config
from cudafix.discovery import HEADERS, SUFFIXES, named

_SOURCES = tuple(sorted(SUFFIXES - {*HEADERS, ".py", ".ipynb"}))
_MACRO = "CUDA_API_PER_THREAD_DEFAULT_STREAM"
# Whether it is defined counts, whatever its value (docs/FACTS.md); projects have options named after it. CuPy, Numba
# and cuda-python read variables of their own, which say nothing of C++.
_SAYS = re.compile(
    r"default-stream(?P<gap>[\s=\\\"',]*)(?P<value>[\w-]*)"
    r"|(?<!CUPY_CUDA_)(?<!NUMBA_CUDA_)(?<!CUDA_PYTHON_CUDA_)(?<!CUDA_API_)PER_THREAD_DEFAULT_STREAM"
    rf"|{_MACRO}"
    # a word of it, which variables put together: `-D${PREFIX}_DEFAULT_STREAM`, `--$(WHICH)-stream per-thread`
    r"|CUDA_API_PER_THREAD|(?<==)per-thread\b|(?<![\w-])per-thread(?![\w-]|[ \t]+\w)"
    # a part of a word, in front of a quotation mark or beside a variable: `-DCUDA_$(WHICH)_STREAM`, `$(WHICH)-thread`
    r"|\bAPI_PER_THREAD|\bPER_THREAD_DEFAULT\b|(?<=[)}])-thread\b|--default-(?=[\"'$])|(?<![\w-])per-(?=[\"'$])"
)
_SAID = re.compile(
    rb"default-stream|PER_THREAD_DEFAULT|API_PER_THREAD|per-thread|[)}]-thread|--default-[\"'$]|\bper-[\"'$]"
)  # nearly no file holds it
_OF_THE_ENVIRONMENT = re.compile(
    rb"NVCC_(?:APPEND|PREPEND)_FLAGS"
)  # nvcc reads it (its manual, "NVCC Environment Variables")
_DOCUMENTED = re.compile(  # a command on a line of its own, in a comment too
    rb"^[ \t>/*#$]*(?:[\w ]+:)?[ \t$]*nvcc[ \t][^\n]*(?:default-stream[ =]+per-thread|" + _MACRO.encode() + rb")",
    re.MULTILINE,
)
_READ_FIRST = re.compile(r"@|(?:--options-file|-optf|--pre-include|-include)(?:=|$)")
"""Options that name a file with more options, or with text that stands in front of the source (nvcc's manual)."""
_INCLUDES = re.compile(r"(?:-I|-iquote|-isystem|--?include-path)=?")

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order of GNU make
_DESCRIPTIONS = frozenset(
    (
        *_MAKEFILES, "CMakeLists.txt", "meson.build", "BUILD", "BUILD.bazel", "SConstruct", "SConscript", "xmake.lua",
        "setup.py", "wscript", "premake5.lua", "build.ninja", "build.rs", "Makefile.am", "Makefile.in",
    )
)  # fmt: skip
"""Build files that every folder may have: their name alone does not say which of them is meant."""
_BUILD_SUFFIXES = tuple(
    ".ac .am .bash .bat .bazel .bazelrc .bzl .cmake .cmd .config .csh .def .dockerfile .env .fish .gn .gni .gradle "
    ".groovy .in .inc .ini .job .lsf .lua .m4 .mak .make .mk .ninja .nix .options .pbs .pri .pro .props .ps1 .rsp "
    ".sbatch .sh .slurm .targets .vcxproj "
    ".yaml .yml .zsh".split()
)
_BUILD_NAMES = frozenset(
    ".bazelrc .env .envrc CMakeCache.txt CMakePresets.json CMakeSettings.json CMakeUserPresets.json Cargo.toml "
    "c_cpp_properties.json conanfile.py config.toml configure.py devcontainer.json dodo.py fabfile.py "
    "meson_options.txt noxfile.py pixi.toml pyproject.toml settings.json setup.cfg tasks.json tasks.py".split()
)
_BUILDING_PYTHON = re.compile(
    rb"extra_cuda_cflags|CUDAExtension|load_inline|nvcc_flags|\bnvcc(?:_args)?\b|NVCC_(?:APPEND|PREPEND)_FLAGS|CUDA_?FLAGS"
)
_HIDDEN = frozenset(
    (".github", ".gitlab", ".circleci", ".vscode", ".devcontainer", ".buildkite", ".ci", ".azure", ".cargo", ".config")
)
_LEFT_OUT = frozenset(("node_modules", "__pycache__", "site-packages"))
_MOST_ENTRIES, _LARGEST = 200_000, 1 << 20
_COMMENT = re.compile(r"(?<![\\\w$])#(?!\s*(?:define|cmakedefine|undef|if)\b).*")
_MAKE_OPENS = re.compile(r"[ \t]*(?:ifeq|ifneq|ifdef|ifndef|define)\b")
_MAKE_CLOSES = re.compile(r"[ \t]*(?:endif|endef)\b")
_MAKE_VARIABLE = re.compile(r"[ ]*(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=(.*)")
_STARTS_ANOTHER = re.compile(rb"\$[({]MAKE[)}]|\bmake\b|\bexport\b")
_COMPILES = re.compile(r"nvcc|NVCC|\.cu\b")
_CMAKE_COMMAND = re.compile(r"(\w+)\s*\(")
_FOR_A_FOLDER = frozenset(("add_compile_options", "add_compile_definitions", "add_definitions"))
_VARIABLES = re.compile(r"\(\s*(?:APPEND\s+|PREPEND\s+)?(?:CMAKE_CUDA_FLAGS|CUDA_NVCC_FLAGS|CMAKE_CXX_FLAGS)\b")
_TARGETS = re.compile(r"(?:cuda_)?add_(?:executable|library)|add_subdirectory|include|fetchcontent_makeavailable")
_SEEN_BY_OTHERS = re.compile(r"\b(?:PUBLIC|INTERFACE|CACHE|PARENT_SCOPE|function|macro)\b|_property|_properties")
_FOLDER_ITSELF = re.compile(rb"\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}\Z|\$[({]CURDIR[)}]\Z")
_WORD = re.compile(rb"[\w.+-]+")
_WITH_FOLDER = re.compile(rb"[\w./+-]*/[\w.+-]+")


class DefaultStreams(NamedTuple):
    """Files with a default stream for each thread, files that may have one, and the places (`file:line`) that may say
    so; files for which no build is found.
    """

    per_thread: frozenset[str]
    perhaps: frozenset[str]
    unclear: tuple[str, ...]
    unbuilt: frozenset[str] = frozenset()


class _Command(NamedTuple):
    """How the compilation database compiles a source."""

    per_thread: bool | None
    folders: tuple[str, ...]  # where it looks for headers


class _Place(NamedTuple):
    """A line that speaks of the default stream."""

    line: int
    plain: bool  # for all that the file compiles, under no condition
    per_thread: bool  # else it says the legacy one
    macro: bool  # it holds for every compiler, not only for nvcc


class _Said(NamedTuple):
    per_thread: bool
    for_all: bool
    unclear: tuple[str, ...]
    built: bool


def default_streams(paths: Iterable[str], config: Config) -> DefaultStreams:
    """What the build says of these sources, where the configuration leaves it to that."""
    root = os.path.realpath(config.root)
    commands: dict[str, _Command] | None = None
    folders: dict[str, str] = {}
    found: set[str] = set()
    perhaps: set[str] = set()
    unbuilt: set[str] = set()
    unclear: dict[str, None] = {}
    for path in paths:
        if path.endswith((".py", ".ipynb")) or config.default_stream_of(path) != "auto":
            continue
        if commands is None:
            commands = _commands(root)
        name, file = os.path.split(path)  # a source is no symbolic link itself (`cudafix.discovery`)
        folder = folders.get(name)
        if folder is None:
            folder = folders[name] = os.path.realpath(name)
        command = commands.get(os.path.join(folder, file)) if commands else None
        build = _Builds.around(folder, root).said_of(file, only_environment=command is not None)
        if command is not None and (command.per_thread is None or build.unclear):
            perhaps.add(path)
            unclear |= dict.fromkeys(build.unclear)
        elif command is not None:
            found |= {path} if command.per_thread else set()
        elif build.per_thread and (build.for_all or path.endswith((".cu", ".cuh"))):
            found.add(path)
        else:
            unclear |= dict.fromkeys(build.unclear)
            if build.per_thread or build.unclear:
                perhaps.add(path)
            elif not build.built:
                unbuilt.add(path)
    return DefaultStreams(frozenset(found), frozenset(perhaps), tuple(unclear), frozenset(unbuilt))


def documents_per_thread(source: bytes) -> bool:
    """Whether a source tells to build it with a default stream for each thread."""
    return b"nvcc" in source and _DOCUMENTED.search(source) is not None


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


def upward(folder: str, root: str) -> Iterator[str]:
    """A folder and those above it, up to the repository or the root; itself alone where it lies outside."""
    yield folder
    while folder != root and not os.path.exists(os.path.join(folder, ".git")) and folder.startswith(root + os.sep):
        folder = os.path.dirname(folder)
        yield folder


# ---------------------------------------------------------------------------------------------------------------------
# the compilation database


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
            folder = os.path.join(file.parent, str(entry.get("directory", "")))
            source = os.path.realpath(os.path.join(folder, entry["file"]))
            if os.path.splitext(source)[1] in SUFFIXES:
                words = _words(entry)
                says = _compiled_by(words, folder)
                known = found.get(source, _Command(says, ()))
                folders = (os.path.realpath(os.path.join(folder, f)) for f in _folders(words))
                # a source that is compiled twice, with two default streams: which of them a program links is not known
                per_thread = says if says is known.per_thread else None
                found[source] = _Command(per_thread, tuple(dict.fromkeys((*known.folders, *folders))))
    return found


def _compiled_by(words: list[str], folder: str) -> bool | None:
    """What a command says: of several options the last one counts, and the macro wins (docs/FACTS.md)."""
    texts = [" ".join(words)]
    for word, following in zip(words, (*words[1:], ""), strict=True):
        named = _READ_FIRST.match(word)
        if named is not None:
            file = word[named.end() :] or following
            texts.append(_text(os.path.join(folder, file)).decode("utf-8", "replace"))
    values = [(match["value"], match[0] == _MACRO) for text in texts for match in _SAYS.finditer(text)]
    if not values:
        return False
    if any(not macro and value not in ("per-thread", "legacy", "null") for value, macro in values) or len(texts) > 1:
        return None
    return any(macro for _, macro in values) or values[-1][0] == "per-thread"


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
# build files


def _text(file: str) -> bytes:
    """What a file holds; nothing, where it cannot be read, is large, or is no text."""
    try:
        if os.path.getsize(file) > _LARGEST:
            return b""
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError:
        return b""
    return b"" if b"\0" in data[:1024] else data


def _is_build_file(name: str) -> bool:
    lower = name.lower()
    return (
        name in _DESCRIPTIONS
        or name in _BUILD_NAMES
        or lower.endswith(_BUILD_SUFFIXES)
        or lower.startswith(
            ("makefile", "dockerfile", "containerfile", "jenkinsfile", "justfile", "cmakelists", "readme")
        )
        or "." not in name
    )


def _may_be_read(name: str) -> bool:
    """Whether a build may take options from a file that it names: it reads it, or hands it to the compiler."""
    return _is_build_file(name) or name.endswith(
        (*HEADERS, ".txt", ".json", ".rsp", ".opt", ".opts", ".flags", ".args", ".cfg")
    )


class _Builds:
    """The build files around one folder, up to its repository or the root of the configuration."""

    def __init__(self, folder: str, above: tuple[str, ...], tree: _Files) -> None:
        self._folder = folder
        self._above = above
        self._tree = tree
        nearest = next((each for each in above if any((each, name) in tree.files for name in _MAKEFILES)), None)
        self._nearest = nearest
        self._reaching = self._closure([f for each in above for f in tree.speaking_for(each) if self._counts(f)])
        project = tree.project(folder)
        self._elsewhere = [f for f in tree.saying if f not in self._reaching and tree.project(f) == project]

    @staticmethod
    @cache
    def around(folder: str, root: str) -> _Builds:
        top = _repository(folder) or root
        above = tuple(upward(folder, top))
        return _Builds(folder, above, _Files.below(above[-1], above[-1] == top))

    def _counts(self, file: str) -> bool:
        """Whether a build file of the folder or of one above it speaks for what is in the folder: the first Makefile
        does, and one above that may start it, or export variables to it.
        """
        folder, name = os.path.split(file)
        if name not in _MAKEFILES or self._nearest is None:
            return True
        if folder == self._nearest:
            return name == next(name for name in _MAKEFILES if (folder, name) in self._tree.files)
        return _STARTS_ANOTHER.search(self._tree.text(file)) is not None

    def _closure(self, files: list[str]) -> dict[str, None]:
        """These files, and what they name."""
        found: dict[str, None] = {}
        while files:
            file = files.pop()
            if file not in found:
                found[file] = None
                if not os.path.basename(file).lower().startswith("readme") and not file.endswith(HEADERS):
                    files += self._tree.named_in(file)
        return found

    def said_of(self, source: str, only_environment: bool) -> _Said:
        """What is said of a source in the folder. Where its command is known, only the environment can add to it."""
        tree = self._tree
        says = [file for file in self._reaching if tree.places(file)]
        if only_environment:
            says = [file for file in says if _OF_THE_ENVIRONMENT.search(tree.text(file))]
            return _Said(False, False, tuple(tree.where(file) for file in says), True)
        says += [file for file in self._elsewhere if self._names(file, source) or self._shares(file)]
        built = any(tree.compiles(file) for file in self._reaching)
        plain = [file for file in says if self._decides(file) and all(place.plain for place in tree.places(file))]
        places = [place for file in plain for place in tree.places(file)]
        if places and all(place.per_thread for file in says for place in tree.places(file)) and self._is_one(plain):
            return _Said(True, any(place.macro for place in places), (), built)
        unclear = [file for file in says if any(place.per_thread for place in tree.places(file))]
        return _Said(False, False, tuple(map(tree.where, sorted(unclear))), built)

    def _decides(self, file: str) -> bool:
        """Whether it is the Makefile or a `CMakeLists.txt` that compiles the folder, as far as one can tell."""
        folder, name = os.path.split(file)
        return folder == self._nearest if name in _MAKEFILES else folder in self._above and name == "CMakeLists.txt"

    def _is_one(self, plain: list[str]) -> bool:
        """Whether no other build compiles the folder without a word of the default stream: make beside CMake."""
        others = (f for f in self._reaching if self._decides(f) and self._tree.compiles(f))
        return {f.endswith("CMakeLists.txt") for f in others} <= {f.endswith("CMakeLists.txt") for f in plain}

    def _names(self, file: str, source: str) -> bool:
        """Whether a build file elsewhere names a source here, or the folder with all that is in it."""
        folder, data = os.path.dirname(file), self._tree.text(file)
        name, last = source.encode(), os.path.basename(self._folder).encode()
        for match in _WITH_FOLDER.finditer(data):
            if not match[0].endswith(b"/" + name):
                continue
            before = match[0][: -len(name) - 1].decode("utf-8", "replace")
            computed = data[match.start() - 1 : match.start()] in (b")", b"}")
            if computed and _FOLDER_ITSELF.search(data[max(match.start() - 40, 0) : match.start()]):
                computed, before = False, before.lstrip("/")
            meant = os.path.normpath(os.path.join(folder, before))
            if meant == self._folder:
                return True
            # a path starts in the folder of its build file, or somewhere else where it leads to nothing from there
            if not computed and os.path.exists(os.path.join(meant, source)):
                continue
            rest = before.strip("/").rpartition("../")[2].removeprefix("./")
            if not rest or (self._folder + os.sep).endswith(f"/{rest}/"):
                return True
        patterns = re.findall(rb"(?<![\w.-])" + re.escape(last) + rb"/(\$|\*[\w.*]*)", data)
        return any(pattern == b"$" or fnmatch(source, pattern.decode()) for pattern in patterns)

    def _shares(self, file: str) -> bool:
        """Whether what a file of the same CMake project says may reach targets of other folders."""
        if not file.endswith(("CMakeLists.txt", ".cmake")):
            return False
        folder = os.path.dirname(file)
        projects = (each for each in self._above if (each, "CMakeLists.txt") in self._tree.files)
        if not any(folder.startswith(each + os.sep) for each in projects):
            return False
        return _SEEN_BY_OTHERS.search(self._tree.text(file).decode("utf-8", "replace")) is not None


def _repository(folder: str) -> str | None:
    """The folder of the repository around a folder."""
    for each in (folder, *map(str, Path(folder).parents)):
        if os.path.exists(os.path.join(each, ".git")):
            return each
    return None


class _Files:
    """The files below a folder that may speak of the default stream. Not `deep`: those in it, as it is no tree's."""

    def __init__(self, top: str, deep: bool) -> None:
        self.top = top
        self.files: set[tuple[str, str]] = set()
        self._named: dict[bytes, list[str]] = defaultdict(list)
        self._with_sources: set[str] = {top}
        self._texts: dict[str, bytes] = {}
        self._places: dict[str, list[_Place]] = {}
        self._speaking: dict[str, list[str]] = defaultdict(list)
        self._compiles: dict[str, bool] = {}
        self._naming: dict[str, list[str]] = {}
        found: list[str] = []
        self._projects: set[str] = set()
        entries = 0
        for folder, folders, names in os.walk(top):
            entries += len(folders) + len(names)
            if entries > _MOST_ENTRIES:
                break
            folders[:] = sorted(
                name
                for name in folders
                if (not name.startswith(".") or name in _HIDDEN)
                and name not in _LEFT_OUT
                and not name.endswith((".egg-info", ".dist-info"))
            )
            if not deep:
                folders[:] = []
            if "pyvenv.cfg" in names:
                folders[:] = []
                continue
            if any(name.startswith(("LICENSE", "LICENCE", "COPYING")) for name in names):
                self._projects.add(folder)
            for name in sorted(names):
                file = os.path.join(folder, name)
                if name.endswith(_SOURCES):
                    each = folder
                    while each not in self._with_sources:
                        self._with_sources.add(each)
                        each = os.path.dirname(each)
                    continue
                self.files.add((folder, name))
                self._named[name.encode("utf-8", "surrogateescape")].append(file)
                if _is_build_file(name) or name.endswith(".py"):
                    found.append(file)
        self.saying: list[str] = []
        for file in found:
            if file.endswith(".py") and os.path.basename(file) not in _BUILD_NAMES | _DESCRIPTIONS:
                data = self.text(file)
                if not (_SAID.search(data) and _BUILDING_PYTHON.search(data)):
                    continue
            folder = os.path.dirname(file)
            while folder not in self._with_sources and folder not in self._projects:
                folder = os.path.dirname(folder)
            self._speaking[folder].append(file)
            if self.places(file):
                self.saying.append(file)

    @staticmethod
    @cache
    def below(top: str, deep: bool) -> _Files:
        return _Files(top, deep)

    def text(self, file: str) -> bytes:
        if file not in self._texts:
            self._texts[file] = _text(file)
        return self._texts[file]

    def speaking_for(self, folder: str) -> list[str]:
        """The build files of a folder, and of those in it that hold no sources."""
        return self._speaking.get(folder, [])

    def project(self, path: str) -> str:
        """The outermost folder around a file, or a folder, that has a license of its own; else all that there is."""
        return min((each for each in self._projects if (path + os.sep).startswith(each + os.sep)), default=self.top)

    def _meant(self, name: bytes, folder: str) -> list[str]:
        """The files that a bare name may mean in a folder of a project: of several, those in it or in one above it."""
        project = self.project(folder) + os.sep
        files = [file for file in self._named[name] if file.startswith(project)]
        near = [file for file in files if (folder + os.sep).startswith(os.path.dirname(file) + os.sep)]
        return files if len(files) == 1 else near

    def named_in(self, file: str) -> list[str]:
        """The files of the tree that a build file names. Of those that every folder may have, only by their folder."""
        if file not in self._naming:
            words = set(_WORD.findall(self.text(file)))
            if file.endswith(("CMakeLists.txt", ".cmake")):
                words |= {word + b".cmake" for word in words}  # `include(flags)`
            found = [
                f
                for word in words & self._named.keys()
                if word.decode() not in _DESCRIPTIONS and _may_be_read(word.decode())
                for f in self._meant(word, os.path.dirname(file))
            ]
            for match in _WITH_FOLDER.findall(self.text(file)):
                at = os.path.normpath(os.path.join(os.path.dirname(file), match.decode("utf-8", "replace")))
                if os.path.split(at) in self.files and _may_be_read(os.path.basename(at)):
                    found.append(at)
            self._naming[file] = [f for f in found if not f.endswith((".md", ".rst", ".html", ".ipynb"))]
        return self._naming[file]

    def compiles(self, file: str) -> bool:
        """Whether a file is a build, and not only a setting."""
        if file not in self._compiles:
            data = self.text(file)
            is_known = os.path.basename(file) in _DESCRIPTIONS and re.search(rb"(?i)cuda|nvcc|\.cu\b", data) is not None
            is_documentation = os.path.basename(file).lower().startswith("readme")
            runs_nvcc = b"nvcc" in data and re.search(rb"\.cu\b", data) is not None
            self._compiles[file] = is_known or (runs_nvcc and not is_documentation)
        return self._compiles[file]

    def where(self, file: str) -> str:
        """The first place of a file that may give other files a default stream of each thread."""
        place = min((place for place in self.places(file) if place.per_thread), default=None)
        return f"{os.path.relpath(file)}:{place.line if place is not None else 1}"

    def places(self, file: str) -> list[_Place]:
        """The lines of a file that speak of the default stream."""
        if file not in self._places:
            data = self.text(file)
            self._places[file] = list(_places(os.path.basename(file), data)) if _SAID.search(data) else []
        return self._places[file]


def _places(name: str, data: bytes) -> Iterator[_Place]:
    text = data.decode("utf-8", "replace")
    if name.lower().startswith("readme"):
        for documented in _DOCUMENTED.finditer(data):  # the command that builds it
            yield _Place(data.count(b"\n", 0, documented.start()) + 1, False, True, False)
        return
    if not name.endswith((".json", ".lua", *HEADERS)):
        text = "\n".join(_COMMENT.sub("", line) for line in text.split("\n"))
    elif name.endswith(".lua"):
        text = "\n".join(re.sub(r"--(?=\s|\[\[).*", "", line) for line in text.split("\n"))
    plain = _plain_in_make(text) if name in _MAKEFILES else _plain_in_cmake(text) if name == "CMakeLists.txt" else set()
    for match in _SAYS.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        macro = match[0] == _MACRO
        known = macro or match["value"] in ("per-thread", "legacy", "null")
        yield _Place(line, known and line in plain, match["value"] not in ("legacy", "null"), macro)


def _plain_in_make(text: str) -> set[int]:
    """The lines that set, under no condition, a variable which every command that compiles with nvcc uses."""
    depth = 0
    lines: dict[int, str] = {}
    values: list[tuple[str, str]] = []
    commands: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        depth += bool(_MAKE_OPENS.match(line)) - bool(_MAKE_CLOSES.match(line))
        variable = _MAKE_VARIABLE.fullmatch(line) if not line.startswith("\t") else None
        if variable is not None:
            values.append((variable[1], variable[2]))
            if depth == 0:
                lines[number] = variable[1]
        elif _COMPILES.search(line) and line.startswith("\t"):
            commands.append((number, line))
    plain = set()
    for number, variable_name in lines.items():
        holding = {variable_name}
        while more := {n for n, value in values if n not in holding and any(_uses(value, v) for v in holding)}:
            holding |= more
        if all(any(_uses(command, v) for v in holding) for _, command in commands):
            plain.add(number)
    said = {number for number, command in commands if _SAID.search(command.encode())}
    return plain | said if len(said) == len(commands) else plain


def _uses(text: str, variable: str) -> bool:
    return f"$({variable})" in text or f"${{{variable}}}" in text


def _plain_in_cmake(text: str) -> set[int]:
    """The lines in commands for the whole folder, under no condition and in front of its targets."""
    depth, command, arguments, targets = 0, "", "", False
    plain = set()
    for number, line in enumerate(text.split("\n"), 1):
        started = _CMAKE_COMMAND.match(line.strip())
        if started:
            command, arguments = started[1].lower(), line.strip()[started.end() - 1 :]
            depth += command in ("if", "function", "macro", "foreach", "while", "block")
            depth -= command in ("endif", "endfunction", "endmacro", "endforeach", "endwhile", "endblock")
            targets = targets or _TARGETS.fullmatch(command) is not None
        if _SAID.search(line.encode()) is None or depth or re.search(r"\$<\$<(?!COMPILE_LANGUAGE:CUDA>)", line):
            continue
        # CMake uses the value that the variable has at the end of the folder
        variable = command in ("set", "string", "list") and _VARIABLES.match(arguments) is not None
        if variable or (command in _FOR_A_FOLDER and not targets):
            plain.add(number)
    return plain
