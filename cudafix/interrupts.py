"""What ends work before it is done: a signal, or that nobody wants its result any more (`Cancelled`).

After Ctrl-C and SIGTERM the command ends at once, with 130 and 143 (128 and the number, as shells have it).

Nothing has to be tidied up but what is `deferred`: files are replaced as a whole or not at all, workers end with the
process that they work for, and the cache is a database.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

_owner = 0  # the process whose signals these are
_came: list[int] = []
_deferred = 0
_raises = 0
_AT_ONCE = 3
_here = threading.local()


class Cancelled(BaseException):
    """The result of this work is not wanted any more. No `Exception`: nothing has failed, and nothing is reported."""


@contextmanager
def while_wanted(wanted: Callable[[], bool]) -> Iterator[None]:
    """What this thread does here ends with `Cancelled`, at a `checkpoint`, as soon as it is not `wanted`."""
    before = getattr(_here, "wanted", None)
    _here.wanted = wanted
    try:
        yield
    finally:
        _here.wanted = before


def checkpoint() -> None:
    """A place where work may end: nothing that lives longer than it is half done here. Raises `Cancelled`."""
    wanted = getattr(_here, "wanted", None)
    if wanted is not None and not wanted():
        raise Cancelled


def install() -> None:
    """From here on this process ends so, with one line."""
    global _owner
    _owner = os.getpid()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup`, or a job in the background
            signal.signal(number, _received)


def note(number: int) -> None:
    """A signal has come; a `KeyboardInterrupt` tells the rest of the command."""
    _came.append(number)


def code() -> int:
    """The exit code after a `KeyboardInterrupt`."""
    return 128 + (_came[0] if _came else signal.SIGINT)


@contextmanager
def deferred() -> Iterator[None]:
    """Files are written here: first all of them, then the signal counts, as it would have counted here."""
    global _deferred
    _deferred += 1
    try:
        yield
    finally:
        _deferred -= 1
        if _came and not _deferred:
            if _raises:
                raise KeyboardInterrupt
            _end()


@contextmanager
def raised() -> Iterator[None]:
    """Here the first signal is a `KeyboardInterrupt`, as what was started has to be ended; a third one ends at once."""
    global _raises
    _raises += 1
    try:
        yield
    finally:
        _raises -= 1


def _received(number: int, _: FrameType | None) -> None:
    if os.getpid() != _owner:  # a worker that was forked just now
        os._exit(128 + number)
    note(number)
    if _deferred:
        return
    if _raises and len(_came) < _AT_ONCE:
        if len(_came) == 1:
            raise KeyboardInterrupt
        return
    _end()


def _end() -> NoReturn:
    with suppress(OSError):
        os.write(2, b"cudafix: interrupted\n")
    os._exit(code())
