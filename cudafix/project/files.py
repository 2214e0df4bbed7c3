"""The texts of a run by name, and what their bytes say without a parse.

Of a tree that was looked at before, only what has changed is read again: what is known of a file holds as long as its
size, its times and its inode do. Texts are read when they are asked for, and a bounded part of them is kept.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from cudafix.findings import Problem
from cudafix.project import prefilter
from cudafix.project.including import imported_names

KEPT = 128 * 2**20
"""Bytes of texts that are kept in memory; what is above is read again."""
LARGEST = 16 * 2**20
"""Bytes of a file. Such files are data written as code; they take minutes, and gigabytes of memory."""
DEEPEST = 1000
"""Brackets in brackets. Clang stops at 256 (`-fbracket-depth`)."""
_RACY = 2_000_000_000  # nanoseconds: the coarsest time stamps of file systems in use (FAT)
MARK = b"cudafix:"
"""What a comment that suppresses results starts with (`cudafix.report.suppressions`)."""

CANDIDATE = re.compile(rb"\bcuda(?:Malloc|Free)(?:Async)?\b|\bcuMemAlloc(?:_v2)?\b")
SILENT = re.compile(rb"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\[^'\n]{1,8}|[^'\\\n])'""", re.DOTALL)
"""Comments and literals of C++."""
_NO_BRACKETS = bytes(sorted({*range(256)} - {*b"([{}])"}))
_INCLUDE = re.compile(rb'#[ \t]*(?:include|include_next|import)(?:[ \t]*("[^"\n]*"|<[^>\n]*>)|[ \t]+([A-Za-z_]\w*))')
_MAIN = re.compile(
    rb"^[ \t]*(?:extern\s+\"C\"\s+)?(?:(?:signed|static|inline)\s+)?(?:int|void|auto)\s+main\s*\(", re.MULTILINE
)


class Facts(NamedTuple):
    """What the bytes of a file say: whether it has a `main`, may allocate or free, and may suppress results; of Python
    whether it may choose or end the memory of arrays (`arrays`), or take that of another library (`others`); the
    targets of its `#include` lines, as `includes_of`, and what it `imports`, as `including.imported_names`. `unread`
    says why its bytes are not known.
    """

    main: bool
    allocates: bool
    suppresses: bool
    arrays: bool = False
    others: bool = False
    includes: tuple[tuple[int, str], ...] = ()
    imports: tuple[str, ...] = ()
    unread: str = ""


class Version(NamedTuple):
    """Two files of one name with the same version have the same bytes (as git's index takes it)."""

    device: int
    inode: int
    size: int
    changed: int
    status_changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Version:
        """Times in nanoseconds."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Entry(NamedTuple):
    """What is known of a file. `version` is None where it could change without a trace: it was written just now."""

    version: Version | None
    size: int
    digest: bytes
    facts: Facts

    @classmethod
    def of(cls, path: str, data: bytes, version: Version | None = None) -> Entry:
        return cls(version, len(data), digest(data), facts(path, data))

    @classmethod
    def unknown(cls, problem: Problem) -> Entry:
        """A file that is there and cannot be worked on: an empty text stands for it, which says nothing."""
        return cls(
            None, 0, digest(f"unread: {problem.message}".encode()), Facts(False, False, False, unread=problem.message)
        )


class ChangedError(Exception):
    """A file is not any more what it was when the run began."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.path}: {problem.message}")
        self.problem = problem


class FailedError(ChangedError):
    """cudafix itself failed on a file, looked at alone. The message says where."""


class _Read:
    """Texts that were read, in place of those that were read before if they are too many."""

    def __init__(self) -> None:
        self.texts: dict[str, bytes] = {}
        self._size = 0

    def keep(self, path: str, data: bytes) -> None:
        self.texts[path] = data
        self._size += len(data)
        while self._size > KEPT and len(self.texts) > 1:
            self._size -= len(self.texts.pop(next(iter(self.texts))))


class Files(Mapping[str, bytes]):
    """The texts, in sorted order of their names. Raises `ChangedError` for one that has changed meanwhile."""

    def __init__(self, entries: Mapping[str, Entry], texts: Mapping[str, bytes], read: _Read | None = None) -> None:
        """`texts` lie in memory alone; those that are `read` may be those of other lists of the same files."""
        self.entries = dict(sorted(entries.items()))
        self._own = texts
        self._read = read or _Read()

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Files:
        """Texts that are in memory."""
        if isinstance(files, Files):
            return files
        return cls({path: Entry.of(path, data) for path, data in files.items()}, dict(files))

    def replaced(self, texts: Mapping[str, bytes]) -> Files:
        """The same files, some of them with other texts."""
        if not texts:
            return self
        fresh = {path: Entry.of(path, data) for path, data in texts.items()}
        return Files({**self.entries, **fresh}, {**self._own, **texts}, self._read)

    def only(self, paths: Iterable[str]) -> Files:
        """Some of the files."""
        return Files({path: self.entries[path] for path in paths}, self._own, self._read)

    def with_entries(self, entries: Mapping[str, Entry], own: Mapping[str, bytes] = {}) -> Files:
        """Other files, with what was read so far; `own` texts lie in memory alone."""
        return Files(entries, {**self._own, **own}, self._read)

    def without(self, problem: Problem) -> Files:
        """The same files, one of them as one that cannot be worked on."""
        return self.with_entries({**self.entries, problem.path: Entry.unknown(problem)})

    def held(self) -> Files:
        """The same files with all of their texts in memory, for another process."""
        return Files(self.entries, {path: self[path] for path in self})

    def keep(self, path: str, data: bytes) -> None:
        """Keep a text that was read."""
        self._read.keep(path, data)

    def digest(self, path: str) -> bytes:
        return self.entries[path].digest

    def changed(self, except_for: Collection[str] = ()) -> list[Problem]:
        """The files on the disk that are not what they were when they were read, but for some that are looked at
        otherwise, and those of which only a text in memory is known.
        """
        problems = []
        for path, entry in self.entries.items():
            if path in self._own or path in except_for or entry.facts.unread:
                continue
            try:
                if entry.version is not None and Version.of(os.stat(path)) == entry.version:
                    continue
                with open(path, "rb") as file:
                    same = digest(file.read()) == entry.digest
            except OSError as error:
                problems.append(Problem(path, f"cannot be read: {error.strerror}"))
                continue
            if not same:
                problems.append(Problem(path, "changed since it was analysed"))
        return problems

    def unread(self) -> list[Problem]:
        """The files that are there and cannot be worked on."""
        return [Problem(path, entry.facts.unread) for path, entry in self.entries.items() if entry.facts.unread]

    def size(self, paths: Iterable[str]) -> int:
        """Of some of the files together, in bytes."""
        return sum(self.entries[path].size for path in paths)

    def facts(self, path: str) -> Facts:
        return self.entries[path].facts

    def __getitem__(self, path: str) -> bytes:
        entry = self.entries[path]
        if entry.facts.unread:
            return b""
        if path in self._own:
            return self._own[path]
        if path in self._read.texts:
            return self._read.texts[path]
        data = read(path)
        if isinstance(data, Problem):
            raise ChangedError(data)
        if digest(data[0]) != entry.digest:
            raise ChangedError(Problem(path, "changed while it was read"))
        self.keep(path, data[0])
        return data[0]

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def read(path: str) -> tuple[bytes, Version] | Problem:
    """The bytes of a source file, or why they cannot be worked on."""
    found = _read_from_disk(path)
    if isinstance(found, Problem):
        return found
    wrong = _wrong_with(path, found[0])
    return Problem(path, wrong) if wrong else found


def given(path: str, text: bytes) -> Entry:
    """What is known of a text that is not read from the disk: what an editor holds, say."""
    wrong = _wrong_with(path, text)
    return Entry.unknown(Problem(path, wrong)) if wrong else Entry.of(path, text)


def _read_from_disk(path: str) -> tuple[bytes, Version] | Problem:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):
                return Problem(path, "not a regular file")
            if before.st_size > LARGEST:
                return Problem(path, _too_large(before.st_size))
            content = file.read()
            after = os.stat(path)
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror}")
    version = Version.of(after)
    if Version.of(before)[:4] != version[:4] or len(content) != before.st_size:
        return Problem(path, "changed while it was read")
    return content, version


def _wrong_with(path: str, content: bytes) -> str:
    """Why a text cannot be worked on; empty if it can."""
    if len(content) > LARGEST:
        return _too_large(len(content))
    nul = content.find(b"\0")
    if nul >= 0:
        return f"a binary file: NUL byte at offset {nul}"
    if path.endswith(prefilter.SUFFIX):
        return ""
    if b"\r" in content and b"\n" not in content:  # to GCC one line, and after a `//` or a `#` nothing else
        return "its lines end in CR alone: convert them to LF"
    if (deepest := _nesting(content)) > DEEPEST:
        return f"nests {deepest} brackets, and more than {DEEPEST} are not analysed: exclude it"
    return ""


def _too_large(size: int) -> str:
    return f"has {size >> 20} MiB, and more than {LARGEST >> 20} are not analysed: exclude it"


def _nesting(content: bytes) -> int:
    """How deep the brackets of C++ are nested."""
    if len(content) - len(content.translate(None, b"([{")) <= DEEPEST:
        return 0
    deepest = depth = 0
    for code in SILENT.split(content):
        for bracket in code.translate(None, _NO_BRACKETS):
            depth = depth + 1 if bracket in b"([{" else max(depth - 1, 0)
            deepest = max(deepest, depth)
    return deepest


def _open_without_waiting(path: str, flags: int) -> int:
    # a named pipe without a writer would block the open
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def look(path: str) -> tuple[bytes, Entry] | Problem:
    """Read a file, and say what is known of it."""
    now = time.time_ns()
    found = read(path)
    if isinstance(found, Problem):
        return found
    data, version = found
    # as git does: a file that was written in the moment that it is read may be written again in the same moment
    settled = max(version.changed, version.status_changed) < now - _RACY
    return data, Entry.of(path, data, version if settled else None)


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def facts(path: str, data: bytes) -> Facts:
    """What the bytes of a file say."""
    suppresses = MARK in data
    if path.endswith(prefilter.SUFFIX):
        arrays, others = prefilter.uses_arrays(data), prefilter.uses_other_memory(data)
        imports = tuple(dict.fromkeys(imported_names(_code(path, data))))
        return Facts(False, prefilter.is_candidate(data), suppresses, arrays, others, imports=imports)
    # the literal words first: looking for them is ten times as fast
    words = (b"cudaMalloc", b"cudaFree", b"cuMemAlloc")
    allocates = any(word in data for word in words) and is_in_code(CANDIDATE, data)
    return Facts(has_main(data), allocates, suppresses, includes=includes_of(data))


def is_in_code(pattern: re.Pattern[bytes], data: bytes) -> bool:
    """Whether a C++ file has a pattern outside of its comments, or in a literal of text. Raw literals may hold what
    looks like the start of a comment: with one, all is code.
    """
    if pattern.search(data) is None or b'R"' in data:
        return pattern.search(data) is not None
    for token in _or_silent(pattern).finditer(data):
        text = token[0]
        if token.lastgroup is not None or (text[:1] != b"/" and pattern.search(text) is not None):
            return True
    return False


@lru_cache(maxsize=8)
def _or_silent(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    return re.compile(rb"%s|(?P<found>%s)" % (SILENT.pattern, pattern.pattern), re.DOTALL)


def _code(path: str, data: bytes) -> bytes:
    """The text of a Python file; of a notebook (JSON) its strings, each line of them on a line of its own."""
    return data.replace(b"\\n", b"\n").replace(b'"', b"\n") if path.endswith(prefilter.NOTEBOOK) else data


def has_main(data: bytes) -> bool:
    return b"main" in data and _MAIN.search(data) is not None


def includes_of(data: bytes) -> tuple[tuple[int, str], ...]:
    """All `#include` lines, in order, those in comments too: where each begins, and its target with its quotes or
    brackets, or the macro that stands for it.
    """
    found: list[tuple[int, str]] = []
    for match in _INCLUDE.finditer(data):
        start = data.rfind(b"\n", 0, match.start()) + 1
        if not data[start : match.start()].strip(b" \t"):
            found.append((start, (match[1] or match[2]).decode("utf-8", "surrogateescape")))
    return tuple(found)


def dumped(entries: Mapping[str, Entry]) -> bytes:
    """What is known of files, for `loaded` of the same Python."""
    return marshal.dumps(
        [(path, tuple(e.version), e.size, e.digest, tuple(e.facts)) for path, e in entries.items() if e.version]
    )


def loaded(content: bytes) -> dict[str, Entry]:
    """What is known of files. `content` has to come from `dumped`."""
    rows = marshal.loads(content)  # noqa: S302 the cache has held it against its check sum
    return {
        path: Entry(Version(*version), size, its_digest, Facts(*facts))
        for path, version, size, its_digest, facts in rows
    }
