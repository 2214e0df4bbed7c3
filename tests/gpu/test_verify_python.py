"""`cudafix verify` of Python programs: what is different when nothing is compiled and an interpreter runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Edit
from cudafix.verify import detector, machine, nvcc, preload
from cudafix.verify.fixtures import subjects
from cudafix.verify.mutants import mutants
from cudafix.verify.plan import Fix
from cudafix.verify.process import Commands, Ran
from cudafix.verify.trial import Tree, applied
from tests import fixtures
from tests.cases import FIXTURES, ROOT, load

PAIRS = FIXTURES / "python_stream_ordered_pairs"
SOURCE = """\
from cuda.bindings import runtime as cudart


def work(nbytes):
    err, stream = cudart.cudaStreamCreate()
    err, block = cudart.cudaMalloc(nbytes)
    (err,) = cudart.cudaMemsetAsync(block, 0, nbytes, stream)
    (err,) = cudart.cudaStreamSynchronize(stream)
    (err,) = cudart.cudaFree(block)
    (err,) = cudart.cudaStreamDestroy(stream)


if __name__ == "__main__":
    work(64)
"""


def test_a_program_of_python_needs_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nvidia-smi").write_text('#!/bin/sh\necho "Pretend GPU, 1.2.3, 9.0"\n')
    (tools / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    project = tmp_path / "project"
    project.mkdir()
    (project / "prog.py").write_text(SOURCE)
    monkeypatch.chdir(project)
    run = "if grep -q FreeAsync prog.py; then echo moved; else echo stayed; fi"
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", "prog.py", "--run", run, "--rounds", "2", "--no-schedules", "--format", "json"])
    assert ended.value.code == 1
    (program,) = json.loads(capsys.readouterr().out)["programs"]
    assert program["faults"] == ["after: stdout: line 1: 'stayed', then 'moved'"]
    assert program["machine"]["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert (project / "prog.py").read_text() == SOURCE


def test_every_fixture_of_python_is_a_subject_that_runs_its_main_file() -> None:
    one, other = (load(PAIRS / name) for name in ("pair_spans_two_files", "memory_of_a_generator_stays"))
    moved, stays = subjects([one, other], lambda files, _: fixtures.report_of(files), 1)
    assert (moved.build, moved.run) == ("python3 -m py_compile buffers.py main.py", "python3 main.py")
    assert [variant.name for variant in moved.variants[:3]] == ["before", "after", "wrong/freed_before_the_copy"]
    assert [variant.name for variant in stays.variants] == ["before"]


def test_a_compiled_module_of_another_text_is_not_taken(tmp_path: Path) -> None:
    """Python tells texts apart by size and second."""
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "helper.py").write_text("VALUE = 1\n")
    tree = Tree(origin, tmp_path / "tree")
    program = [sys.executable, "-c", "import helper; print(helper.VALUE)"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    for value in range(5):
        tree.become({"helper.py": b"VALUE = %d\n" % value})
        os.utime(tree.folder / "helper.py", (1_000_000_000, 1_000_000_000))
        ran = subprocess.run(program, cwd=tree.folder, env=environment, capture_output=True, text=True, check=True)
        assert ran.stdout == f"{value}\n"


def test_a_file_that_a_fix_makes_is_there_and_gone_again(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "main.py").write_text("import helper\n")
    fix = Fix("main.py:1", (Edit("lib/helper.py", 0, 0, b"VALUE = 1\n"), Edit("main.py", 0, 6, b"from lib import")))
    after = applied({"main.py": b"import helper\n"}, [fix])
    assert after == {"lib/helper.py": b"VALUE = 1\n", "main.py": b"from lib import helper\n"}
    tree = Tree(origin, tmp_path / "tree")
    tree.become(after)
    assert (tree.folder / "lib/helper.py").read_bytes() == b"VALUE = 1\n"
    tree.become({})
    assert not (tree.folder / "lib/helper.py").exists()
    assert (tree.folder / "main.py").read_text() == "import helper\n"
    assert list(mutants({"main.py": b"import helper\n"}, [Edit("helper.py", 0, 0, b"cuda.synchronize()\n")])) == []


def watched(races: bool, leaked: int, fails: bool) -> detector.Detected:
    """The verdict on a program that does these things, from a detector that counts as the real one does."""

    def run(prefix: Sequence[str], _: Mapping[str, str]) -> Ran:
        lines = ["========= Invalid __global__ read of size 4 bytes"] * races
        if "--leak-check" in prefix:
            lines += [f"========= LEAK SUMMARY: {leaked} bytes leaked in 1 allocations"]
        found = races or ("--leak-check" in prefix and leaked > 0) or (fails and "--report-api-errors" not in prefix)
        lines += [f"========= ERROR SUMMARY: {int(found)} errors"]
        return Ran(detector.CAUGHT if found else 0, 0.0, "\n".join(lines).encode(), b"")

    return detector.watch("compute-sanitizer", run, leaks=True)


@pytest.mark.parametrize(
    ("races", "leaked", "fails", "caught"),
    [
        (False, 0, False, "nothing"),
        (False, 0, True, "api"),
        (False, 64, False, "leak"),
        (True, 0, False, "memory"),
        (True, 64, True, "memory"),
    ],
)
def test_what_the_interpreter_never_frees_hides_no_race(races: bool, leaked: int, fails: bool, caught: str) -> None:
    """A pool that keeps its memory leaks before and after: that must not pass for the same verdict as a race."""
    found = watched(races, leaked, fails)
    assert (found.caught, found.leaked) == (caught, leaked)


@pytest.mark.skipif(nvcc.find() is None or shutil.which("python3") is None, reason=nvcc.MISSING)
def test_streams_are_late_for_what_finds_the_driver_through_ctypes(tmp_path: Path) -> None:
    """CuPy and Numba find the driver so; the bindings ask `dlsym` themselves."""
    library, said = preload.build(tmp_path, machine.look(Commands()), Commands())
    assert library, said
    compiler = nvcc.find()
    assert compiler
    shared = ["-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-soname,libcuda.so.1", "-o", "libcuda.so.1"]
    command = [str(compiler.path), "-std=c++17", "-cudart", "none", *compiler.flags, *shared]
    subprocess.run([*command, str(ROOT / "tests/pretend/driver.cpp")], cwd=tmp_path, check=True, capture_output=True)
    program = (
        "import ctypes; driver = ctypes.CDLL('libcuda.so.1'); block = ctypes.c_uint64(); stream = ctypes.c_void_p(11)\n"
        "driver.cuMemAllocAsync(ctypes.byref(block), ctypes.c_size_t(64), stream)\n"
        "driver.cuMemFreeAsync(block, stream)\n"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), **preload.late(library, "0=1", tmp_path / "reached")}
    ran = subprocess.run(["python3", "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "delay 11",
        "allocate 64 bytes on 11",
        "write A5 to 64 bytes on 11",
        "delay 11",
        "write DB to 64 bytes on 11",
        "free on 11",
    ]
    assert (tmp_path / "reached").exists()
