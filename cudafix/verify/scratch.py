"""Folders for a while: gone when the command ends, by Ctrl-C and SIGTERM too, and after a SIGKILL with the next one."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_PREFIX, _LOCK = "cudafix-scratch-", ".cudafix-lock"


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder. Its owner holds a lock (`flock(2)`), which the system takes back from a process that is killed."""
    made: tuple[Path, int] | None = None
    try:
        with _signals_wait():
            _clear()
            made = _made()
        yield made[0]
    finally:
        if made is not None:
            with _signals_wait():
                shutil.rmtree(made[0], ignore_errors=True)
                os.close(made[1])


def _made() -> tuple[Path, int]:
    while True:
        place = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = _locked(place)
        if lock is not None and os.fstat(lock).st_nlink:  # another command may have cleared it before it was locked
            return place, lock
        if lock is not None:
            os.close(lock)


def _locked(place: Path, flags: int = os.O_CREAT) -> int | None:
    """The lock of a folder; None if somebody else holds it, or there is none."""
    import fcntl  # Windows has none

    try:
        lock = os.open(place / _LOCK, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _clear() -> None:
    """Remove what commands of the same user have left that were killed."""
    with suppress(OSError):
        for entry in list(os.scandir(tempfile.gettempdir())):
            with suppress(OSError):
                own = entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False)
                if own and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                    lock = _locked(Path(entry.path), flags=0)
                    if lock is not None:
                        shutil.rmtree(entry.path, ignore_errors=True)
                        os.close(lock)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Ctrl-C and SIGTERM count from the end of this on. Only the main thread has handlers (`signal`)."""
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    old = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                old[number] = handler
                signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        for first in came[:1]:
            signal.raise_signal(first)
