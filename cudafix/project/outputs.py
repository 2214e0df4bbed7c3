"""Files that the user names for cudafix to write: never a source, and over nothing but what cudafix wrote there itself.

A name is easily mistaken (`diff --html kernel.cu`), and nobody gets back what was there.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from enum import Enum

from cudafix import interrupts

_SOURCES = frozenset(
    ".c .cc .cpp .cppm .cu .cuf .cuh .cxx .f90 .h .hh .hpp .hxx .inc .inl .ipp .ipynb .ixx .m .mm .ptx .py .pyi .pyx "
    ".rs .s .toml .tpp .txx".split()
)
_HEAD = 4096  # bytes in which a file says what it is
_TAIL = 256  # bytes in which it ends; behind that stands what somebody has added


class Kind(Enum):
    """What cudafix writes, and how such a file begins. It ends with the end of a page or of an object of JSON."""

    PAGE = "a page of `diff --html`", rb'<!doctype html>.{,2000}<meta name="generator" content="cudafix'
    BASELINE = (
        "a baseline",
        (
            rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"findings"\s*:\s*\[\s*'
            rb'(?:\]|\{\s*"path"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"rule"\s*:)'
        ),
    )
    PROOFS = "a file of `check --shard`", rb'\s*\{\s*"format"\s*:\s*"cudafix proofs \d+"'
    RESULTS = "results of `cudafix verify`", rb'\s*\{\s*"format"\s*:\s*\d+\s*,\s*"plan"\s*:'

    @property
    def title(self) -> str:
        return self.value[0]

    @property
    def begins(self) -> re.Pattern[bytes]:
        return re.compile(self.value[1], re.DOTALL)


class OutputError(Exception):
    """A file that cannot be written, or that is not cudafix's to write. The message is one line with its path."""


def check(file: str, kind: Kind) -> None:
    """Whether a file may be written. Raises `OutputError`."""
    real = os.path.realpath(file)
    for name in (file, real):
        if os.path.splitext(name)[1].lower() in _SOURCES:
            raise OutputError(f"{file}: the name of a source or a configuration; {kind.title} is not written there")
    try:
        status = os.stat(real)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"{file}: is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OutputError(f"{file}: not a regular file")
    try:
        with open(real, "rb") as opened:
            head = opened.read(_HEAD)
            opened.seek(max(0, status.st_size - _TAIL))
            tail = opened.read().rstrip()
    except OSError as error:
        raise OutputError(f"{file}: cannot be read: {error.strerror}") from None
    if not tail.endswith(b"</html>" if kind is Kind.PAGE else b"}"):
        raise OutputError(f"{file}: does not end as {kind.title} does; it is left as it is")
    if kind.begins.match(head) is None:
        raise OutputError(f"{file}: is there already and is not {kind.title}; it is left as it is")


def write(file: str, text: str, kind: Kind) -> None:
    """Write a file whole or not at all; of a symbolic link the file behind it. Raises `OutputError`."""
    check(file, kind)
    real = os.path.realpath(file)
    with _temporary(file, real, text) as temporary:
        os.replace(temporary, real)


def make(file: str, text: str) -> None:
    """Write a file that is not there yet, whole or not at all. Raises `OutputError`."""
    with _temporary(file, file, text) as temporary:
        if os.path.lexists(file):
            raise OutputError(f"{file}: is there already")
        os.rename(temporary, file)


@contextlib.contextmanager
def _temporary(file: str, real: str, text: str) -> Iterator[str]:
    """The text in a file beside `real`, which gets its name; gone afterwards where it does not."""
    temporary = None
    with interrupts.deferred():
        try:
            handle, temporary = tempfile.mkstemp(prefix=".cudafix-", suffix=".tmp", dir=os.path.dirname(real) or ".")
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.chmod(temporary, _mode(real))
            yield temporary
        except OSError as error:
            raise OutputError(f"{file}: cannot be written: {error.strerror}") from None
        finally:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)


def _mode(real: str) -> int:
    """The permissions that the file has, or else those that the user's mask leaves."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(real).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
