"""Commands that hang, flood, fork or run away: nothing that they started outlives them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudafix.verify.process import Commands, Interrupted, Limits, words

LIMITS = Limits(seconds=20, output=2**20)


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(true: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("./a.out 10 --n=3", ["./a.out", "10", "--n=3"]),
        ("exit 4", ["/bin/sh", "-c", "exit 4"]),
        ("./a.out > log", ["/bin/sh", "-c", "./a.out > log"]),
        ("N=1 make run", ["N=1", "make", "run"]),
        ("./a.out '1 2'", ["/bin/sh", "-c", "./a.out '1 2'"]),
        ("make && ./a.out $N", ["/bin/sh", "-c", "make && ./a.out $N"]),
    ],
)
def test_a_shell_only_where_it_is_needed(command: str, meant: list[str]) -> None:
    assert words(command) == (meant if not command.startswith("N=") else ["/bin/sh", "-c", command])


def test_what_a_command_did(tmp_path: Path) -> None:
    ran = Commands().run(words("pwd; echo oops >&2; exit 3"), tmp_path, LIMITS)
    assert (ran.exit, ran.stdout, ran.stderr, ran.stopped) == (3, f"{tmp_path}\n".encode(), b"oops\n", "")
    assert Commands().run(words("kill -9 $$"), tmp_path, LIMITS).exit == -9


def test_a_command_has_no_input_and_cannot_wait_for_some(tmp_path: Path) -> None:
    assert Commands().run(["cat"], tmp_path, LIMITS).exit == 0


def test_a_hung_program_is_killed_with_its_children(tmp_path: Path) -> None:
    script = """
    trap '' TERM
    sleep 60 & echo $! >> pids
    setsid sleep 61 & echo $! >> pids
    (sleep 62 & echo $! >> pids)
    echo started
    wait
    """
    ran = Commands().run(["sh", "-c", script], tmp_path, Limits(seconds=0.5, output=2**20))
    assert (ran.exit, ran.stopped, ran.stdout) == (None, "stopped after 0.5 s", b"started\n")
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 3
    assert until(lambda: not any(alive(pid) for pid in pids))


def test_what_a_program_leaves_in_the_background_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()
    ran = Commands().run(["sh", "-c", "sleep 60 & echo $!"], tmp_path, LIMITS)
    assert ran.exit == 0
    assert time.monotonic() - start < 10
    assert until(lambda: not alive(int(ran.stdout)))


def test_a_program_that_floods_is_stopped(tmp_path: Path) -> None:
    ran = Commands().run(["yes"], tmp_path, Limits(seconds=20, output=2**20))
    assert (ran.exit, ran.stopped) == (None, "stopped after 1 MiB of output")
    assert len(ran.stdout) == 2**20


def test_time_is_measured_well(tmp_path: Path) -> None:
    seconds = [Commands().run(["sleep", "0.1"], tmp_path, LIMITS).seconds for _ in range(3)]
    assert min(seconds) >= 0.1
    assert min(seconds) < 0.14  # waiting in steps would show


def test_the_launcher_stands_in_front_and_gets_the_environment(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text('#!/bin/sh\nshift\nexec env -i PATH="$PATH" "$@"\n')  # hands no environment on
    launcher.chmod(0o755)
    commands = Commands([str(launcher), "--gres=gpu:1"])
    assert commands.run(["sh", "-c", "echo $X"], tmp_path, LIMITS, {"X": "1 2"}, launch=True).stdout == b"1 2\n"
    assert commands.run(["sh", "-c", "echo $X"], tmp_path, LIMITS, {"X": "3"}).stdout == b"3\n"


def test_stop_ends_what_runs_and_lets_nothing_start(tmp_path: Path) -> None:
    commands = Commands()
    raised: list[BaseException] = []

    def work() -> None:
        try:
            commands.run(["sh", "-c", "echo $$ > pid; sleep 60"], tmp_path, LIMITS)
        except Interrupted as interrupted:
            raised.append(interrupted)

    thread = threading.Thread(target=work)
    thread.start()
    assert until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    commands.stop()
    thread.join(10)
    assert len(raised) == 1
    assert until(lambda: not alive(int((tmp_path / "pid").read_text())))
    with pytest.raises(Interrupted):
        commands.run([sys.executable, "-c", ""], tmp_path, LIMITS)


def test_a_command_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Commands().run([os.fspath(tmp_path / "absent")], tmp_path, LIMITS)
