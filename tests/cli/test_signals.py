"""Ctrl-C, SIGTERM and SIGKILL at any moment, with real processes: the command ends, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases import ROOT

CASE = ROOT / "fixtures" / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before"
(SOURCE,) = (path.read_bytes() for path in CASE.glob("*.cu"))
WORKERS = "from cudafix.pipeline import execution; execution.PAYS = 0.0; execution._LEAST = 1;"
SLOW = "from cudafix.pipeline.cluster import Cluster; import time; Cluster.report = lambda self: time.sleep(60);"
COMMAND = "from cudafix.cli.main import main;"

pytestmark = [
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc"),
    pytest.mark.exhaustive,
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.cu").write_bytes(SOURCE)
    return folder


def started(tree: Path, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", f"{COMMAND}{before} main()", *arguments, "--no-cache", "-j", "2"]
    return subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def with_workers(process: subprocess.Popen[bytes]) -> list[int]:
    for _ in range(600):
        found = children(process.pid)
        if len(found) >= 2:
            return found
        time.sleep(0.05)
    raise AssertionError(process.communicate(timeout=1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_command_and_its_output_is_closed(tree: Path, number: signal.Signals) -> None:
    process = started(tree, "check", before=WORKERS + SLOW)
    workers = with_workers(process)
    time.sleep(0.2)
    sent = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=5)  # until nobody holds the other end of the pipe
    assert time.monotonic() - sent < 2
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert (out, err) == (b"", b"" if number == signal.SIGKILL else b"cudafix: interrupted\n")
    for _ in range(40):
        if not any(map(alive, workers)):
            break
        time.sleep(0.05)
    assert not any(map(alive, workers))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
def test_a_signal_at_any_moment_ends_the_command_without_a_traceback(
    tree: Path, wait: float, number: signal.Signals
) -> None:
    started_at = "import os; os.write(1, b'.');"  # the interpreter is ready, and the command comes next
    program = (
        f"from cudafix import interrupts; interrupts.install(); {started_at} from cudafix.cli.main import main; main()"
    )
    command = [sys.executable, "-c", program, "apply", "--no-cache", "-j", "2"]
    process = subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    time.sleep(wait)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert b"Traceback" not in err
    changed = {path.read_bytes() != SOURCE for path in tree.iterdir()}
    assert len(changed) == 1, "all files or none"
    assert process.returncode in (0, 128 + number, -number)
    if wait == 0:
        assert (process.returncode, err) == (128 + number, b"cudafix: interrupted\n")
    assert {path.name for path in tree.iterdir()} == {f"{n}.cu" for n in range(8)}


def test_only_one_command_writes_at_a_time(tree: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    first = started(tree, "apply", "--allow-dirty", before=SLOW + "from cudafix.pipeline import driver;" + _TOLD)
    assert first.stdout is not None
    first.stdout.read(1)
    (tree / "b.json").write_text('{\n "version": 1,\n "findings": []\n}\n')
    others = (
        ["apply"],
        ["undo"],
        ["check", "--fix-suppressions"],
        ["check", "--baseline", "b.json", "--update-baseline"],
    )
    for arguments in others:
        command = [sys.executable, "-c", f"{COMMAND} main()", *arguments]
        run = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (2, "cudafix: another cudafix is writing here; nothing was written\n")
    first.kill()
    first.communicate()
    again = subprocess.run([sys.executable, "-c", f"{COMMAND} main()", "apply", "--allow-dirty"], cwd=tree)
    assert again.returncode == 0, "the lock of a command that was killed is gone"
    assert all(path.read_bytes() != SOURCE for path in tree.glob("*.cu"))


_TOLD = (
    "import os; analyze = driver.analyze; driver.analyze = lambda *a, **k: (os.write(1, b'.'), analyze(*a, **k))[1];"
)


def test_of_several_that_start_at_once_one_writes_and_the_tree_is_whole(tree: Path) -> None:
    processes = [started(tree, "apply") for _ in range(3)]
    results = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
    assert 0 in [code for _, code in results]
    for err, code in results:
        assert code == 0 or (code, err) == (2, b"cudafix: another cudafix is writing here; nothing was written\n")
    assert len({path.read_bytes() for path in tree.iterdir()}) == 1
    assert {path.name for path in tree.iterdir()} == {f"{n}.cu" for n in range(8)}
