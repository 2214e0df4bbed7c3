"""Reports of earlier runs, and the scenes of their certificates, by everything that they depend on.

One SQLite file in the user's cache folder (or in `CUDAFIX_CACHE_DIR`), shared by all trees and safe with several
processes. It only saves time: whatever is wrong with it (no room, no permission, a damaged file or entry), the run goes
on as if it were empty.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

import cudafix.codemods
from cudafix.certificates import Scenes
from cudafix.findings import Report
from cudafix.ir import Call
from cudafix.ordering.program import Overlay

LIMIT = 128 * 2**20
"""Bytes; above that the half of the entries goes that was not used for the longest time."""
_SUM = 16  # bytes of the check sum in front of an entry
_WAIT = 2.0  # seconds for another process that writes
_MODULES = frozenset({Report.__module__, Scenes.__module__, Overlay.__module__, Call.__module__})
_Entry = TypeVar("_Entry", Report, Scenes)


class Cache:
    """Entries by key. Keys are digests that the caller makes of the input; `signature` belongs into each."""

    def __init__(self) -> None:
        folder = os.environ.get("CUDAFIX_CACHE_DIR") or platformdirs.user_cache_dir("cudafix")
        self.file = Path(folder, "reports.sqlite")

    def get(self, keys: Collection[bytes], kind: type[_Entry]) -> dict[bytes, _Entry]:
        """The entries of this kind that are known."""
        found: dict[bytes, _Entry] = {}

        def read(database: sqlite3.Connection) -> None:
            for key in keys:
                row = database.execute("SELECT report FROM reports WHERE key = ?", (key,)).fetchone()
                entry = _loaded(row[0]) if row is not None else None
                if isinstance(entry, kind):
                    found[key] = entry
            now = time.time()
            database.executemany("UPDATE reports SET used = ? WHERE key = ?", [(now, key) for key in found])

        self._in_transaction(read)
        return found

    def put(self, entries: Mapping[bytes, Report | Scenes]) -> None:
        """Keep entries for later runs."""
        now = time.time()
        rows = [(key, _dumped(entry), now) for key, entry in entries.items()]

        def write(database: sqlite3.Connection) -> None:
            (size,) = database.execute("SELECT total(length(report)) FROM reports").fetchone()
            if size > LIMIT:
                database.execute(
                    "DELETE FROM reports WHERE key IN"
                    " (SELECT key FROM reports ORDER BY used LIMIT (SELECT count(*) / 2 FROM reports))"
                )
            database.executemany("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", rows)

        self._in_transaction(write)

    def _in_transaction(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """All of the work or nothing. A file that is no database any more is removed."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(self.file, timeout=_WAIT)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS reports (key BLOB PRIMARY KEY, report BLOB, used REAL) WITHOUT ROWID"
                )
                work(database)
        except (OSError, sqlite3.OperationalError):
            pass  # locked for too long, read-only, or the disk is full
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                self.file.unlink()


@cache
def signature() -> bytes:
    """A digest of what decides: the sources of cudafix, and the versions of the parsers."""
    digest = hashlib.sha256(" ".join(map(version, ("tree-sitter", "tree-sitter-cuda", "libcst"))).encode())
    for package in (cudafix, cudafix.codemods):
        for file in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()


class _Entries(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module not in _MODULES or "." in name:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an entry")
        return super().find_class(module, name)


def _dumped(entry: Report | Scenes) -> bytes:
    content = pickle.dumps(entry, protocol=pickle.HIGHEST_PROTOCOL)
    return hashlib.sha256(content).digest()[:_SUM] + content


def _loaded(entry: bytes) -> object:
    content = entry[_SUM:]
    if hashlib.sha256(content).digest()[:_SUM] != entry[:_SUM]:
        return None
    try:
        return _Entries(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, AttributeError, EOFError, TypeError):
        return None
