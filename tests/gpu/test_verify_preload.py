"""The library that makes streams late, between a program that finds the driver as cudart does and a stand-in for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from cudafix.verify import machine, nvcc, preload
from cudafix.verify.process import Commands
from tests.cases import ROOT

PRETEND = ROOT / "tests" / "pretend"
FOUND = nvcc.find()
pytestmark = pytest.mark.skipif(FOUND is None, reason=nvcc.MISSING)


class Built:
    def __init__(self, folder: Path) -> None:
        here = machine.look(Commands())
        library, said = preload.build(folder, here, Commands())
        assert library, said
        assert FOUND
        self.library = library
        self.folder = folder
        command = [str(FOUND.path), "-std=c++17", "-cudart", "none", *FOUND.flags]
        # the file that a program asks for by this name is known to the loader by its soname
        shared = ["-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-soname,libcuda.so.1"]
        for arguments in (
            [*shared, "-o", "libcuda.so.1", str(PRETEND / "driver.cpp")],
            ["-o", "program", str(PRETEND / "program.cpp"), "-ldl"],
        ):
            subprocess.run([*command, *arguments], cwd=folder, check=True, capture_output=True)

    def late(self, schedule: str) -> dict[str, str]:
        return preload.late(self.library, schedule, self.folder / "reached")

    def run(self, what: str, environment: Mapping[str, str]) -> list[str]:
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), **environment}
        run = subprocess.run([self.folder / "program", what], env=env, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, "")
        return run.stdout.splitlines()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("preload"))


PLAIN = """\
allocate 64 bytes on 11
launch on 12
launch on 0
launch on 0
free on 11
allocate 16 bytes on 11
free on 14
allocate 64 bytes on 11
free on 11""".splitlines()


def test_without_it_the_program_runs_as_it_is(built: Built) -> None:
    assert built.run("streams", {}) == PLAIN


def test_it_says_whether_it_saw_an_operation(built: Built) -> None:
    (built.folder / "reached").unlink(missing_ok=True)
    built.run("streams", {})
    assert not (built.folder / "reached").exists()
    built.run("streams", built.late("0=1"))
    assert (built.folder / "reached").exists()


def test_it_delays_the_chosen_streams_and_overwrites_what_is_fresh_or_freed(built: Built) -> None:
    assert built.run("streams", built.late("0=1")) == [
        "delay 11",
        "allocate 64 bytes on 11",
        "write A5 to 64 bytes on 11",
        "launch on 12",
        "launch on 0",
        "delay per-thread",
        "launch on 0",
        "delay 11",
        "write DB to 64 bytes on 11",
        "free on 11",
        "delay 11",
        "allocate 16 bytes on 11",
        "write A5 to 16 bytes on 11",
        # a free on an idle stream is not late: it takes effect at once
        "create 100 with 1",
        "write DB to 16 bytes on 100",
        "wait for 100",
        "destroy 100",
        "free on 14",
        # nothing is added to a capture
        "allocate 64 bytes on 11",
        "free on 11",
    ]


def test_any_two_of_four_streams_are_told_apart_by_a_schedule(built: Built) -> None:
    delayed = []
    for schedule in preload.SCHEDULES:
        lines = built.run("streams", built.late(schedule))
        delayed.append({line.removeprefix("delay ") for line in lines if line.startswith("delay")})
    streams = {"11", "12", "legacy", "per-thread"}
    assert set().union(*delayed) == streams
    for one in streams:
        for other in streams - {one}:
            assert any(one in late and other not in late for late in delayed)


def test_delays_of_one_stream_end(built: Built) -> None:
    lines = built.run("streams", {**built.late("0=1"), "CUDAFIX_DELAYS": "1"})
    assert [line for line in lines if line.startswith("delay")] == ["delay 11", "delay per-thread"]


def test_fresh_memory_of_the_blocking_call_holds_the_same_on_a_stream_that_orders_nothing(built: Built) -> None:
    assert built.run("early", built.late("0=0"))[:5] == [
        "allocate 32 bytes",
        "create 100 with 1",
        "write A5 to 32 bytes on 100",
        "wait for 100",
        "destroy 100",
    ]


def test_it_counts_memory_and_changes_nothing(built: Built) -> None:
    peak = built.folder / "peak"
    assert preload.peak_at(peak) is None
    assert built.run("streams", preload.counting(built.library, peak)) == PLAIN
    assert preload.peak_at(peak) == 64 + 16  # its pool keeps what was freed; a graph has memory of its own
    assert "allocate 32 bytes" in built.run("early", preload.counting(built.library, peak))
    assert preload.peak_at(peak) == 64 + 16 + 32  # another process


def test_early_streams_are_those_that_the_program_gets(built: Built) -> None:
    lines = built.run("early", preload.early(built.library))
    made = [line.split()[1] for line in lines if line.startswith("create") and line.endswith("with 0")]
    assert lines.index(f"create {made[0]} with 0") < lines.index("allocate 32 bytes")
    first, second = (line.split()[1] for line in lines if line.startswith("got"))
    assert first in made
    assert second not in made
    assert len(made) == 64


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_programs_of_nvcc_look_the_driver_up_with_dlsym(tmp_path: Path) -> None:
    """What the library relies on, of the static runtime that nvcc links by default."""
    assert FOUND
    source = tmp_path / "main.cu"
    source.write_text("int main() { void *p; return cudaMalloc(&p, 4); }\n")
    assert FOUND.compile(source, output=tmp_path / "program").ok
    names = subprocess.run(["nm", "-D", tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    assert " U dlsym" in names
    assert "cudaMalloc" not in names
