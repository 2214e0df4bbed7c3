"""The CUDA compiler, for compile checks: the one that is installed, else the one of the extra `cudafix[nvcc]`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cudafix.verify import scratch

MISSING = "nvcc not found (PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda, `cudafix[nvcc]`): compile checks are skipped"


class Result(NamedTuple):
    """Outcome of one compiler run. `log` is what it printed, warnings included."""

    ok: bool
    log: str


class Nvcc(NamedTuple):
    """A compiler and the flags without which it does not find its own libraries."""

    path: Path
    flags: tuple[str, ...] = ()

    def compile(
        self, source: Path, flags: Sequence[str] = (), output: Path | None = None, timeout: float = 300
    ) -> Result:
        """Compile and link `source` to the program `output`; without `output`, compile only and keep nothing.

        `timeout` is in seconds; a run that is past it has failed.
        """
        with scratch.folder() as place:
            target = ["-o", str(output)] if output else ["-c", "-o", str(place / "a.o")]
            command = [str(self.path), *flags, str(source), *target, *(self.flags if output else ())]
            try:
                run = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
            except subprocess.TimeoutExpired:
                return Result(False, f"nvcc took longer than {timeout:g} s")
            except OSError as error:
                return Result(False, f"{self.path} cannot be run: {error.strerror}")
        return Result(run.returncode == 0, (run.stdout + run.stderr).decode("utf-8", "replace"))


def find() -> Nvcc | None:
    """The first compiler of PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda and the extra; None: see `MISSING`."""
    return next(_candidates(), None)


def _candidates() -> Iterator[Nvcc]:
    if on_path := shutil.which("nvcc"):
        yield Nvcc(Path(on_path))
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home and (found := shutil.which("nvcc", path=str(Path(home, "bin")))):
            yield Nvcc(Path(found))
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for toolkit in sorted(Path(folder).glob("cu[0-9]*"), reverse=True):
            if found := shutil.which("nvcc", path=str(toolkit / "bin")):
                # nvcc.profile looks in lib64 and the packages install to lib
                yield Nvcc(Path(found), (f"-L{toolkit / 'lib'}",))
