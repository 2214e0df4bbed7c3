"""The same bytes come out wherever and in whatever order the proofs are made, and whatever is known from before."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from cudafix.findings import Report
from cudafix.pipeline import driver, execution, executors, sharing
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.cluster import Cluster
from cudafix.pipeline.execution import Batch
from cudafix.pipeline.sharing import Shard
from cudafix.project.config import Config

pytestmark = pytest.mark.exhaustive

CASES = Path(__file__).parents[2] / "fixtures" / "stream_ordered_pairs"
PYTHON = b"""
from cuda.bindings import runtime as cudart
from helper import check

def main():
    d = check(cudart.cudaMalloc(64))
    check(cudart.cudaFree(d))

main()
"""


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """Programs of one file and of several, of one folder and of two, with headers that they share; and of Python."""
    found = {
        f"{case.name}/{path.relative_to(case / 'before')}": path.read_bytes()
        for case in sorted(CASES.iterdir())[:4]
        for path in sorted((case / "before").rglob("*"))
        if path.is_file()
    }
    shared = (
        b"#pragma once\n#include <cuda_runtime.h>\nvoid release(float *p);\n__global__ void k(float *p) { *p = 1; }\n"
    )
    user = (
        b'#include "../shared.h"\nint main() {\n  float *d;\n  cudaMalloc(&d, 4);\n  k<<<1, 1>>>(d);\n'
        b"  release(d);\n}\n"
    )
    found["linked/shared.h"] = shared
    found["linked/release/release.cu"] = b'#include "../shared.h"\nvoid release(float *p) { cudaFree(p); }\n'
    for name in ("one", "two"):
        found[f"linked/{name}/main.cu"] = user
    # a program that another one includes: what it is taken for depends on the file beside it
    found["included/train.cu"] = user.replace(b"../shared.h", b"../linked/shared.h")
    found["included/test.cu"] = b'#define TESTING\n#include "train.cu"\nint main() { return 0; }\n'
    found["python/helper.py"] = b"def check(found):\n    return found[1]\n"
    found["python/main.py"] = PYTHON
    return found


@pytest.fixture(scope="module")
def expected(files: dict[str, bytes]) -> Report:
    return driver.analyze(files, Config())


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes are started at once, with small batches."""
    monkeypatch.setattr(execution, "PAYS", 0)
    monkeypatch.setattr(execution, "_LEAST", 1)


def test_there_is_something_to_prove(expected: Report) -> None:
    assert len(expected.findings) > 3
    assert expected.refusals
    found = {f.path.split("/")[0] for f in expected.findings} | {r.path.split("/")[0] for r in expected.refusals}
    assert found >= {"linked", "included", "python"}


@pytest.mark.parametrize("seed", range(3))
def test_order_processes_and_cache_do_not_matter(
    files: dict[str, bytes], expected: Report, at_once: None, seed: int
) -> None:
    chance = random.Random(seed)
    names = list(files)
    chance.shuffle(names)
    cache = Cache()
    driver.analyze({name: files[name] for name in names[: len(names) // 2]}, Config(), cache=cache)  # some is known
    shuffled = {name: files[name] for name in names}
    assert driver.analyze(shuffled, Config(), jobs=1 + seed, cache=cache) == expected
    assert driver.analyze(shuffled, Config(), jobs=3 - seed, cache=cache) == expected


@pytest.mark.parametrize("seed", ["0", "2026"])
def test_the_seed_of_hashes_does_not_matter(files: dict[str, bytes], tmp_path: Path, seed: str) -> None:
    outputs = {
        _checked(tmp_path, files, "--no-cache", "-j", jobs, PYTHONHASHSEED=seed if jobs == "1" else "7").stdout
        for jobs in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"stream_ordered_pairs" in outputs.pop()


def _checked(
    folder: Path, files: dict[str, bytes], *options: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """`cudafix check` in a folder that holds the files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(content)
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "check", "--format", "json", *options]
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False)


def test_a_run_from_the_cache_prints_the_same_bytes(files: dict[str, bytes], tmp_path: Path) -> None:
    first = _checked(tmp_path, files)
    again = _checked(tmp_path, files)
    assert (again.returncode, again.stdout, again.stderr) == (first.returncode, first.stdout, first.stderr)
    (tmp_path / "linked/release/release.cu").write_bytes(b'#include "../shared.h"\nvoid release(float *p) {}\n')
    changed = _checked(tmp_path, files)
    assert changed.stdout == _checked(tmp_path, files, "--no-cache").stdout != first.stdout
    shutil.rmtree(tmp_path / "linked/one")
    left = {name: text for name, text in files.items() if not name.startswith("linked/one")}
    assert _checked(tmp_path, left).stdout == _checked(tmp_path, left, "--no-cache").stdout != changed.stdout


def test_a_file_beside_a_program_that_includes_it_is_part_of_the_question(files: dict[str, bytes]) -> None:
    cache = Cache()
    own = {name: text for name, text in files.items() if name.startswith(("included/", "linked/"))}
    for _ in range(2):
        for left_out in ("", "included/test.cu"):
            texts = {name: text for name, text in own.items() if name != left_out}
            assert driver.analyze(texts, Config(), cache=cache) == driver.analyze(texts, Config())


@pytest.mark.parametrize(
    "make",
    [
        lambda: ThreadPoolExecutor(3),
        lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    ],
)
def test_any_executor_will_do(
    files: dict[str, bytes], expected: Report, at_once: None, make: Callable[[], Executor]
) -> None:
    with make() as executor:
        assert driver.analyze(files, Config(), executor=executor) == expected


def test_a_small_run_starts_no_process(
    files: dict[str, bytes], expected: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "PAYS", 3600.0)
    monkeypatch.setattr(execution, "processes", None)
    assert driver.analyze(files, Config(), jobs=8) == expected


def test_what_kills_its_worker_is_a_result_of_its_own(
    files: dict[str, bytes], at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = files["a_buffer_is_freed_through_its_alias/main.cu"]
    few = {"a/main.cu": program, "b/main.cu": program, "c/main.cu": program}
    monkeypatch.setattr(execution, "work", _die)
    report = driver.analyze(few, Config(), jobs=2)
    assert {refusal.name for refusal in report.refusals} == {"internal_error"}
    assert all("a worker process was killed" in problem.message for problem in report.problems)
    assert report.problems
    assert not report.findings


def _die(batch: Batch) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_with_another_cudafix_are_refused(
    files: dict[str, bytes], at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Old(ThreadPoolExecutor):
        def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            return super().submit(lambda: work(*args, **kwargs)._replace(signature=b"old"))

    with Old() as executor, pytest.raises(executors.ExecutorError, match="another version of cudafix"):
        driver.analyze(files, Config(), executor=executor)


def test_what_one_run_lowered_is_not_taken_for_another_tree() -> None:
    """A worker keeps what it lowered; a file of the same text may include another header in the next tree."""
    program = b'#include "size.h"\nint main() {\n  float *d;\n  RESERVE(&d, 4);\n  RELEASE(d);\n}\n'
    pair = b"#define RESERVE(p, n) cudaMalloc(p, n)\n#define RELEASE(p) cudaFree(p)\n"
    trees = [
        {"main.cu": program + b"// cudaMalloc\n", "size.h": pair},
        {"main.cu": program + b"// cudaMalloc\n", "other/size.h": pair, "size.h": b"#define RESERVE(p, n)\n"},
        {"main.cu": program + b"// cudaMalloc\n"},
    ]
    alone = []
    for tree in trees:
        execution._last = None
        alone.append(driver.analyze(tree, Config()))
    assert [driver.analyze(tree, Config()) for tree in trees] == alone
    assert [driver.analyze(tree, Config()) for tree in reversed(trees)] == alone[::-1]


# -- shards ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_union_of_all_shards_is_the_whole(
    files: dict[str, bytes],
    expected: Report,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = []
    for n in range(1, number + 1):
        shard = Shard(n, number)
        proofs = driver.prove_shard(files, Config(), shard)
        sharing.write(str(tmp_path / f"{n}"), shard, proofs)
        parts.append(proofs)
    keys = [key for part in parts for key in part]
    assert len(keys) == len(set(keys))
    sharing.merge([str(tmp_path / f"{n}") for n in range(number, 0, -1)], Cache())
    monkeypatch.delattr(Cluster, "report")  # nothing is left to prove
    assert driver.analyze(files, Config(), cache=Cache()) == expected


def test_shards_have_about_the_same_to_do(files: dict[str, bytes]) -> None:
    sizes = [len(driver.prove_shard(files, Config(), Shard(n, 3))) for n in (1, 2, 3)]
    assert min(sizes) > 1


def test_shards_on_the_command_line(files: dict[str, bytes], tmp_path: Path) -> None:
    whole = _checked(tmp_path / "tree", files, "--no-cache")
    for n in (1, 2):
        own = str(tmp_path / f"cache{n}")
        run = _checked(tmp_path / "tree", files, "--shard", f"{n}/2", "--proofs", f"../{n}.json", CUDAFIX_CACHE_DIR=own)
        assert (run.returncode, run.stdout) == (0, b"")
        assert f"proofs of shard {n}/2".encode() in run.stderr
    merged = {"CUDAFIX_CACHE_DIR": str(tmp_path / "merged")}
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "merge", "1.json", "2.json"]
    said = subprocess.run(command, cwd=tmp_path, env={**os.environ, **merged}, capture_output=True, check=True).stderr
    assert b"proofs of 2 shards\n" in said
    assert _checked(tmp_path / "tree", files, **merged).stdout == whole.stdout


def test_a_shard_that_is_missing_is_said(files: dict[str, bytes], tmp_path: Path) -> None:
    small = {"main.cu": files["linked/one/main.cu"]}
    sharing.write(str(tmp_path / "2"), Shard(2, 3), driver.prove_shard(small, Config(), Shard(2, 3)))
    assert "1/3, 3/3 missing" in sharing.merge([str(tmp_path / "2")], Cache())


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3"])
def test_a_shard_that_cannot_be(text: str) -> None:
    with pytest.raises(sharing.ShardError, match="from 1/N to N/N"):
        Shard.parse(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a file that `check --shard` has written"),
        (b"{}", "not a file that `check --shard` has written"),
        (b"\xff\x00", "not a file that `check --shard` has written"),
        (b'{"format": "cudafix proofs 1", "cudafix": "00"}', "another version of cudafix"),
    ],
)
def test_a_file_that_cannot_be_merged(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "proofs").write_bytes(content)
    with pytest.raises(sharing.ShardError, match=message):
        sharing.merge([str(tmp_path / "proofs")], Cache())
    with pytest.raises(sharing.ShardError, match="cannot be read"):
        sharing.merge([str(tmp_path / "none")], Cache())


def test_a_damaged_proof_is_not_taken(files: dict[str, bytes], tmp_path: Path) -> None:
    file = tmp_path / "proofs"
    small = {"main.cu": files["linked/one/main.cu"]}
    sharing.write(str(file), Shard(1, 1), driver.prove_shard(small, Config(), Shard(1, 1)))
    file.write_text(file.read_text().replace("gA", "AA"))
    with pytest.raises(sharing.ShardError, match="damaged"):
        sharing.merge([str(file)], Cache())


# -- Dask --------------------------------------------------------------------------------------------------------------


class Dask:
    """A scheduler and workers on this machine, as programs of their own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self.address = f"tcp://127.0.0.1:{_free_port()}"
        self._programs = [self._start("dask_scheduler", "--host", self.address, "--no-dashboard")]
        for _ in range(workers):
            self.start_worker()

    def start_worker(self) -> subprocess.Popen[bytes]:
        worker = self._start(
            "dask_worker", self.address, "--nthreads", "2", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"
        )
        self._programs.append(worker)
        return worker

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{name}", *arguments]
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self._programs[1:]

    def close(self) -> None:
        for program in self._programs:
            program.kill()
            program.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    pytest.importorskip("distributed")
    (tmp_path / "dask").mkdir()
    cluster = Dask(tmp_path / "dask", 3)
    yield cluster
    cluster.close()


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_bytes(
    files: dict[str, bytes], tmp_path: Path, dask: Dask
) -> None:
    from distributed import Client

    tree = tmp_path / "tree"
    whole = _checked(tree, files, "--no-cache")
    program = "from cudafix.pipeline import execution; execution._LEAST = 1; from cudafix.cli.main import main; main()"
    command = [sys.executable, "-c", program, "check", "--format", "json", "--no-cache"]
    with Client(dask.address, timeout=60) as client:
        client.wait_for_workers(3, timeout=60)
        run = subprocess.Popen(
            [*command, "--executor", f"dask:{dask.address}"], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(client.processing().values()):
            time.sleep(0.01)
        busy = [pid for pid, calls in client.run(os.getpid).items() if client.processing().get(pid)]
        victim = dask.workers[0]
        victim.kill()
        out, err = run.communicate(timeout=300)
    assert busy
    assert (run.returncode, out) == (whole.returncode, whole.stdout), err


def test_an_executor_that_cannot_be_used_is_one_line(tmp_path: Path, files: dict[str, bytes]) -> None:
    pytest.importorskip("distributed")
    for name, message in (
        ("slurm:1", "`slurm:1` is no executor: `dask:ADDRESS`"),
        ("dask:", "`dask:` is no executor"),
        (f"dask:tcp://127.0.0.1:{_free_port()}", "no Dask scheduler answers"),
    ):
        run = _checked(tmp_path, files, "--executor", name)
        assert run.returncode == 2
        assert run.stderr.startswith(b"cudafix: ")
        assert message.encode() in run.stderr
        assert len(run.stderr.splitlines()) == 1
