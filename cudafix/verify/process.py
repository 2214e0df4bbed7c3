"""Run a command that is not trusted: limits on time and output, and nothing that it started outlives it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

_MARK = "CUDAFIX_RUN"
_PLAIN = re.compile(r"(?!\w+=)[\w@%+=:,./ -]+")
_GRACE = 0.5
"""Seconds between the polite and the final signal: `srun` and the like hand the first one on to other machines."""


class Interrupted(Exception):
    """The user stopped the verification; no result may be kept."""


class Limits(NamedTuple):
    """For one command: seconds of wall time, and bytes of standard output and error together."""

    seconds: float = 600
    output: int = 64 * 2**20


class Ran(NamedTuple):
    """What a command did. `exit` is negative for a signal, and None where it was stopped: `stopped` says why."""

    exit: int | None
    seconds: float
    stdout: bytes
    stderr: bytes
    stopped: str = ""


def words(command: str) -> list[str]:
    """A command line as an argument list; through the shell only where it is more than a program and plain words."""
    plain = command.split() if _PLAIN.fullmatch(command) else []
    if plain and ("/" in plain[0] or shutil.which(plain[0])):  # neither is a word of the shell's own, like `exit`
        return plain
    return ["/bin/sh", "-c", command]


class Commands:
    """Runs commands from any thread, each in a session of its own. `launcher` stands in front of those that want it."""

    def __init__(self, launcher: Sequence[str] = ()) -> None:
        self.launcher = tuple(launcher)
        self._mark = uuid.uuid4().hex
        self._stopping = threading.Event()

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        launch: bool = False,
    ) -> Ran:
        """Run a command without input in `folder`. Raises `Interrupted`, and `OSError` if it cannot be started.

        `environment` is added to the own one. With `launch` the command goes through the launcher, with `env` in
        front, because a launcher need not hand its environment on.
        """
        extra = dict(environment or {})
        whole = list(command)
        if launch and self.launcher:
            assigned = [f"{name}={value}" for name, value in extra.items()]
            whole = [*self.launcher, *(["env", *assigned] if assigned else []), *whole]
            extra = {}
        if self._stopping.is_set():
            raise Interrupted
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.perf_counter()
            process = subprocess.Popen(
                whole,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **extra, _MARK: self._mark},
                start_new_session=True,
            )
            watch = _Watch(process.pid, limits, (out, err), self._stopping)
            try:
                # leaves the process unreaped, so that its group's number cannot be taken by another one
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            finally:
                seconds = time.perf_counter() - start
                watch.end()
                _signal(process.pid, signal.SIGKILL)
                process.wait()
            if self._stopping.is_set():
                raise Interrupted
            if watch.reason:
                self.sweep()
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(limits.output))
        return Ran(None if watch.reason else process.returncode, seconds, texts[0], texts[1], watch.reason)

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """End every command that runs, and let none start."""
        self._stopping.set()

    def sweep(self) -> None:
        """Kill what a command left behind in a session of its own. Only where there is a /proc; Linux."""
        for _ in range(5):  # a process may start another one meanwhile
            found = list(_marked(self._mark))
            if not found:
                return
            for pid in found:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


class _Watch:
    """A thread that ends a process group that is past a limit, or that the user wants to end."""

    def __init__(self, group: int, limits: Limits, files: Sequence[IO[bytes]], stopping: threading.Event) -> None:
        self.reason = ""
        self._group, self._limits, self._files, self._stopping = group, limits, files, stopping
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        deadline = time.monotonic() + self._limits.seconds
        while not self._done.wait(0.05):
            if self._stopping.is_set():
                self.reason = "interrupted"
            elif time.monotonic() > deadline:
                self.reason = f"stopped after {self._limits.seconds:g} s"
            elif sum(os.fstat(file.fileno()).st_size for file in self._files) > self._limits.output:
                self.reason = f"stopped after {self._limits.output / 2**20:g} MiB of output"
            if self.reason:
                _signal(self._group, signal.SIGTERM)
                self._done.wait(_GRACE)
                _signal(self._group, signal.SIGKILL)
                return


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
        os.killpg(group, number)


def _marked(mark: str) -> Iterator[int]:
    wanted = f"{_MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
