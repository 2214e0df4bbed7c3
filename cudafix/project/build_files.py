"""The files of a tree that a build may be made of, as far as they are read."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import cache
from glob import escape, glob
from typing import NamedTuple

from cudafix.project.build_texts import (
    DATABASE,
    DESCRIPTIONS,
    SOURCES,
    Definition,
    Place,
    definitions,
    header_folders,
    includes,
    is_build_file,
    is_prose,
    may_be_text,
    places,
    suffix_of,
    takes_options,
    variable_line,
)
from cudafix.project.paths import HEADERS

_LEFT_OUT = frozenset(
    ".bzr .cache .eggs .git .hg .hypothesis .ipynb_checkpoints .mypy_cache .nox .pytest_cache .ruff_cache .svn "
    ".terraform .tox __pycache__ node_modules site-packages".split()
)
_MOST_ENTRIES, _MOST_WITHOUT_REPOSITORY = 200_000, 50_000
_LARGEST = 1 << 20
_MOST_ALIKE = 500  # files of one suffix in a folder, which are data then
_FOLDERS = re.compile(  # of the file itself, or of one above it
    r"^(?:\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR|CMAKE_SOURCE_DIR|\w+_SOURCE_DIR)\}|\$[({]CURDIR[)}])"
)
_NO_FOLDER_FOR_HEADERS = rb"(?<!add_subdirectory\()(?<!\bcd )(?<!-C )(?<!-C)"
_NO_SOURCE = rb"(?![\w-]|/[\w*$][^\s]*\.(?:cu|c|cc|cpp|cxx|o|py)\b)"
_FOLDER_BY_VARIABLE = re.compile(rb"(?<![\w-])-(?:I|isystem)[ \t]*\"?\$(?:\(([\w.-]+)\)|\{([\w.-]+)\})\"?(?=\s|\Z)")
_PATTERN = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"\$(?:\([\w.-]+\)|\{[\w.-]+\})")
_LEAST_WRITTEN = 5  # letters of a name that a variable is in
_WORD = re.compile(rb"[\w.+-]+")
_WITH_FOLDER = re.compile(rb"[\w./+-]*/[\w.+-]+")


def upward(folder: str, root: str) -> Iterator[str]:
    """A folder and those above it, up to the repository or the root; itself alone where it lies outside."""
    yield folder
    while folder != root and not os.path.exists(os.path.join(folder, ".git")) and folder.startswith(root + os.sep):
        folder = os.path.dirname(folder)
        yield folder


@cache
def repository(folder: str) -> str | None:
    """The folder of the repository around a folder."""
    if os.path.exists(os.path.join(folder, ".git")):
        return folder
    above = os.path.dirname(folder)
    return repository(above) if above != folder else None


def is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def text(file: str) -> bytes:
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


class _Listed(NamedTuple):
    folders: list[str]
    entries: int


class Files:
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
        self._for_headers: dict[str, tuple[str, ...]] = {}
        self._naming: dict[str, list[str]] = {}
        self._lacking: dict[str, bool] = {}
        self._paths: dict[str, dict[str, list[tuple[int, str]]]] = {}
        self._projects: dict[str, str] = {}  # the outermost one around a folder that is known
        self._licensed: set[str] = set()
        self._seen: set[str] = set()
        most = _MOST_ENTRIES if repository(top) is not None else _MOST_WITHOUT_REPOSITORY
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
    def below(top: str) -> Files:
        return Files(top)

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
        entries = entries_of(folder)
        names = [entry.name for entry in entries]
        if "pyvenv.cfg" in names:
            return _Listed([], len(entries))
        if any(name.startswith(("LICENSE", "LICENCE", "COPYING")) for name in names):
            self._licensed.add(folder)
        alike = Counter(map(suffix_of, names)) if len(names) > _MOST_ALIKE else Counter()
        inner = []
        for entry in entries:
            name = entry.name
            if is_folder(entry):
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
            data, name = text(file), os.path.basename(file)
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
            self._texts[file] = text(file)
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
            inside, self._lacking[file] = self._included(file)
            found += inside
            self._naming[file] = [f for f in found if not is_prose(os.path.basename(f)) and not f.endswith(".ipynb")]
        return self._naming[file]

    def lacks_included(self, file: str) -> bool:
        """Whether a build file includes what is not found."""
        if not self.reads_others(file):
            return False
        self.named_in(file)
        return self._lacking[file]

    def _included(self, file: str) -> tuple[list[str], bool]:
        """The files that a build file includes, of outside of the tree too, and whether one is not found."""
        folder, name = os.path.split(file)
        found: list[str] = []
        absent = False
        for path, optional in includes(name, self.text(file)):
            plain = _FOLDERS.sub("", path)
            meant = [os.path.normpath(os.path.join(each, plain.lstrip("/") if plain != path else path))
                     for each in self.above(file)] if "$" not in plain else []  # fmt: skip
            there = [each for one in meant for each in (glob(one) if _PATTERN.search(one) else [one])]
            there = [each for each in there if os.path.isfile(each)]
            last = os.path.basename(plain)
            there += self._one_of(file, plain)
            there = there[:1] if _PATTERN.search(plain) is None and "$" not in last else there
            there += self._meant(last.encode(), folder) if not there and "$" not in last else []
            found += there
            absent |= not there and not (optional and meant)
        return found, absent

    def _one_of(self, file: str, path: str) -> list[str]:
        """The files of the tree of which a variable in the name picks one: `-include sites/make.inc.$(site)`."""
        folder, last = os.path.split(path)
        if "$" not in last or "$" in folder or len(_VARIABLE.sub("", last)) < _LEAST_WRITTEN:
            return []
        pattern = "*".join(map(escape, _VARIABLE.split(last)))
        found = (glob(os.path.join(escape(os.path.join(each, folder)), pattern)) for each in self.above(file))
        return next(filter(None, found), [])

    def compiles(self, file: str) -> bool:
        """Whether a file is a build, and not only a setting."""
        if file not in self._compiles:
            data = self.text(file)
            name = os.path.basename(file)
            is_known = name in DESCRIPTIONS and re.search(rb"(?i)cuda|nvcc|\.cu\b", data) is not None
            runs_nvcc = b"nvcc" in data and re.search(rb"\.cu\b", data) is not None
            self._compiles[file] = is_known or (runs_nvcc and is_build_file(name) and not is_prose(name))
        return self._compiles[file]

    def takes_options(self, file: str) -> bool:
        """Whether who starts a build may give the compiler more options."""
        return takes_options(os.path.basename(file), self.text(file))

    def definitions(self, file: str) -> frozenset[Definition]:
        if file not in self._definitions:
            self._definitions[file] = frozenset(definitions(os.path.basename(file), self.text(file)))
        return self._definitions[file]

    def header_folders(self, file: str) -> tuple[str, ...]:
        """The folders that a file of the build names for headers."""
        if file not in self._for_headers:
            folder, name = os.path.split(file)
            found: dict[str, None] = {}
            for path in header_folders(name, self.text(file)):
                plain = _FOLDERS.sub("", path)
                if "$" not in plain:
                    around = self.above(file) if plain != path else (folder,)
                    places = (os.path.normpath(os.path.join(each, plain.lstrip("/"))) for each in around)
                    meant = places if plain != path or not os.path.isabs(path) else (path,)
                    found |= dict.fromkeys(each for each in meant if os.path.isdir(each))
            self._for_headers[file] = tuple(found)
        return self._for_headers[file]

    def may_look_in(self, folder: str) -> bool:
        """Whether a text of the build may have a compiler look for headers in a folder: it has the name of the folder,
        and not only as one to go to, or that of a file in it; names the folder for headers; or a variable that it does
        not set.
        """
        name = os.path.basename(folder).encode("utf-8", "surrogateescape")
        named = re.compile(_NO_FOLDER_FOR_HEADERS + rb"(?<![\w.-])(?:-I)?" + re.escape(name) + _NO_SOURCE)
        texts = (file for files in self._speaking.values() for file in files)
        return any(
            named.search(self.text(file)) or folder in self.header_folders(file) or self._looks_anywhere(file)
            for file in texts
        )

    def _looks_anywhere(self, file: str) -> bool:
        data = self.text(file)
        variables = {found[1] or found[2] for found in _FOLDER_BY_VARIABLE.finditer(data)}
        unset = (rb"(?m)^[ \t]*(?:\w+[ \t]+)?%b[ \t]*[:?+]?=" % re.escape(name) for name in variables)
        return any(re.search(pattern, data) is None for pattern in unset)

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
