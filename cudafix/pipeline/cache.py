"""What earlier runs found out, by everything that it depends on: reports, scenes of certificates, outlines of files.

One SQLite file in the user's cache folder (or in `CUDAFIX_CACHE_DIR`), shared by all trees and safe with several
processes. It only saves time: whatever is wrong with it (no room, no permission, a damaged file or entry), the run goes
on as if it were empty.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import os
import pickle
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

import cudafix.codemods
from cudafix import codemod
from cudafix.findings import Report

LIMIT = 256 * 2**20
"""Bytes; above that the half of the entries goes that was not used for the longest time."""
FRESH = 3600.0
"""Seconds within which a use of an entry is not noted again: most runs only read."""
_SUM = 16  # bytes of the check sum in front of an entry
# of reports and scenes; by name, as most runs need no engine
_MODULES = frozenset(
    ("cudafix.findings", "cudafix.rewrite.certificates", "cudafix.ordering.interpreter.program", "cudafix.ir.nodes")
)
_WAIT = 2.0  # seconds for another process that writes

T = TypeVar("T")


class Cache:
    """What earlier runs found out, by key. Keys are digests that the caller makes of all that it depends on, with the
    `signature` in each.
    """

    def __init__(self, file: Path | None = None) -> None:
        """The one of the user, unless another `file` is named."""
        folder = os.environ.get("CUDAFIX_CACHE_DIR") or platformdirs.user_cache_dir("cudafix")
        self.file = file or Path(folder, "cache.sqlite")
        self._database: sqlite3.Connection | None = None
        self._given_up = False  # another process does not let go of it: waiting once is enough

    def get(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """What is known, as it was put in."""
        found: dict[bytes, bytes] = {}

        def read(database: sqlite3.Connection) -> None:
            now = time.time()
            old = []
            for key in keys:
                row = database.execute("SELECT content, used FROM kept WHERE key = ?", (key,)).fetchone()
                if row is not None and (content := _checked(key, row[0])) is not None:
                    found[key] = content
                    if row[1] < now - FRESH:
                        old.append((now, key))
            if old:
                with database:
                    database.executemany("UPDATE kept SET used = ? WHERE key = ?", old)

        self._with_database(read)
        return found

    def put(self, contents: Mapping[bytes, bytes]) -> bool:
        """Keep something for later runs, all of it or nothing. Whether that was possible."""
        now = time.time()
        rows = [(key, _sum(key, content) + content, now) for key, content in contents.items()]

        def write(database: sqlite3.Connection) -> None:
            with database:
                (size,) = database.execute("SELECT total(length(content)) FROM kept").fetchone()
                if size > LIMIT:
                    database.execute(
                        "DELETE FROM kept WHERE key IN"
                        " (SELECT key FROM kept ORDER BY used LIMIT (SELECT count(*) / 2 FROM kept))"
                    )
                database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)

        return self._with_database(write)

    def reports(self, keys: Collection[bytes]) -> dict[bytes, Report]:
        """The reports that are known."""
        return self.entries(keys, Report)

    def entries(self, keys: Collection[bytes], kind: type[T]) -> dict[bytes, T]:
        """What is known of this kind."""
        found = {key: loaded(content, kind) for key, content in self.get(keys).items()}
        return {key: entry for key, entry in found.items() if entry is not None}

    def put_entries(self, entries: Mapping[bytes, object]) -> bool:
        """Keep reports and scenes for later runs. Whether that was possible."""
        return self.put({key: dumped(entry) for key, entry in entries.items()})

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _with_database(self, work: Callable[[sqlite3.Connection], None]) -> bool:
        """Whether it worked. A file that is no database any more is removed."""
        if self._given_up:
            return False
        try:
            work(self._open())
            return True
        except (OSError, sqlite3.OperationalError):
            self.close()  # locked for too long, read-only, or the disk is full
            self._given_up = True
        except sqlite3.DatabaseError:
            self.close()
            with contextlib.suppress(OSError):
                self.file.unlink()
        return False

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.file, timeout=_WAIT)
            # Its journal protects from a kill. After a power failure an entry may be torn: its check sum tells.
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, content BLOB, used REAL) WITHOUT ROWID"
            )
        return self._database


def _sum(key: bytes, content: bytes) -> bytes:
    return hashlib.sha256(key + content).digest()[:_SUM]


def _checked(key: bytes, entry: bytes) -> bytes | None:
    content = entry[_SUM:]
    return content if _sum(key, content) == entry[:_SUM] else None


@cache
def signature() -> bytes:
    """A digest of what decides: the sources of cudafix and of the codemods of others, the versions of the parsers."""
    digest = hashlib.sha256(" ".join(map(_version, ("tree-sitter", "tree-sitter-cuda", "libcst"))).encode())
    for package in (cudafix, cudafix.codemods):
        for file in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    for file in codemod.files():
        digest.update(hashlib.sha256(str(file).encode("utf-8", "surrogateescape") + file.read_bytes()).digest())
    return digest.digest()


def _version(distribution: str) -> str:
    """Of an installed package. Its folder is named after it (PEP 376); where it is not, the metadata are read."""
    name = distribution.replace("-", "_")
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        folders = sorted(Path(spec.origin).parent.parent.glob(f"{name}-*.dist-info"))
        if len(folders) == 1:
            return folders[0].name
    from importlib.metadata import version  # with the modules for mail, a tenth of the time of a short run

    return version(distribution)


class _Entries(pickle.Unpickler):
    """Makes what entries consist of, and nothing else: one may come from another machine (`cudafix merge`)."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module in _MODULES and "." not in name else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an entry")
        return found


def dumped(entry: object) -> bytes:
    """A report, or the scenes of one, as bytes for `loaded`."""
    return pickle.dumps(entry, protocol=5)


def loaded(content: bytes, kind: type[T]) -> T | None:
    """What was `dumped`; None for anything else."""
    try:
        entry = _Entries(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, AttributeError, EOFError, TypeError, ValueError, KeyError, IndexError):
        return None
    return entry if isinstance(entry, kind) else None
