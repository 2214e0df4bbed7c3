"""`cudafix check` against ast-grep scanning the same files for one pattern: wall time and peak memory, side by side.

    pip install -e '.[bench]'
    python benchmarks/check_speed.py TREE [--rounds 5] [--at-most 3]

All work on one copy that holds exactly the files that cudafix looks at. `check` is run without a cache, as it is the
first time, and again with what the last run has left, as in CI. After a round that warms the page cache, they take
turns; the table gives the median of the rounds, and its ratio to ast-grep's. Memory is read in a run of its own: `one`
is the largest process (`ru_maxrss`), `all` the sum of all processes (proportional set size, sampled; Linux only). With
`--at-most`, the exit status is 1 when the ratio of the first run is above it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from cudafix import discovery
from cudafix.config import Config

FIRST = "check"
PEER = "ast-grep"
PATTERN = "cudaMalloc($$$)"
INTERVAL = 0.02
"""Seconds between two readings of the memory."""
LONGEST = 300
"""Seconds after which a run is killed, with all its processes."""


class Usage(NamedTuple):
    """One run: wall time in seconds, memory in MiB (`all_processes` is None where /proc does not tell)."""

    seconds: float
    largest_process: float
    all_processes: float | None


def program(name: str) -> str:
    """The path of a program of this environment, or of PATH. Raises `SystemExit` where there is none."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if not found:
        raise SystemExit(f"check_speed: no {name}: pip install -e '.[bench]'")
    return found


def _memory_of(group: int) -> float | None:
    """The proportional set size of all processes of a process group, in MiB."""
    total, seen = 0, False
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(entry.name)) != group:
                continue
            rollup = (entry / "smaps_rollup").read_text()
        except OSError:
            continue  # it ended between the listing and the reading
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        seen = True
    return total / 1024 if seen else None


def run(command: list[str], folder: Path, watch: bool = False) -> Usage:
    """Run `command` in `folder`. Exit status 1 is how both tools say what they found; above that it is a failure."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    alarm = threading.Timer(LONGEST, os.killpg, (process.pid, signal.SIGKILL))
    alarm.start()
    peak: float | None = None
    done = 0
    try:
        while watch and not done:
            now = _memory_of(process.pid)
            peak = now if peak is None else max(peak, now or 0)
            time.sleep(INTERVAL)
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if not watch:
            done, status, usage = os.wait4(process.pid, 0)
    finally:
        alarm.cancel()
        if not done:
            os.killpg(process.pid, signal.SIGKILL)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"check_speed: exit status {process.returncode} after {seconds:.0f} s: {' '.join(command)}")
    return Usage(seconds, usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024), peak)


def copy_sources(tree: str, folder: Path) -> tuple[int, int]:
    """Copy the files that cudafix looks at below `tree` to `folder`; their number and size in bytes."""
    found = discovery.discover([tree], Config())
    if found.problems:
        raise SystemExit("\n".join(f"check_speed: {problem.path}: {problem.message}" for problem in found.problems))
    root = Path(tree).resolve()
    for name, data in found.files.items():
        target = folder / Path(name).resolve().relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return len(found.files), sum(map(len, found.files.values()))


def main() -> int:
    """Exit status 1 where the ratio is above `--at-most`."""
    parser = argparse.ArgumentParser(description="The speed of `cudafix check` against one ast-grep pattern.")
    parser.add_argument("tree")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-most", type=float, metavar="RATIO")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, rules = Path(scratch, "tree"), Path(scratch, "sgconfig.yml")
        number, size = copy_sources(arguments.tree, folder)
        # ast-grep's C++ does not claim every suffix that cudafix reads.
        globs = ", ".join(f'"*{suffix}"' for suffix in sorted(discovery.SUFFIXES))
        rules.write_text(f"ruleDirs: []\nlanguageGlobs:\n  cpp: [{globs}]\n")
        commands = {
            FIRST: [program("cudafix"), "check", "--no-cache", "."],
            "check, again": [program("cudafix"), "check", "."],
            PEER: [program("ast-grep"), "run", "-c", str(rules), "-p", PATTERN, "-l", "cpp", "."],
        }
        os.environ["CUDAFIX_CACHE_DIR"] = str(Path(scratch, "cache"))
        memory = {name: run(command, folder, watch=True) for name, command in commands.items()}
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                times[name].append(run(command, folder).seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{arguments.tree}: {number} files, {size / 1e6:.1f} MB, {arguments.rounds} rounds, {os.cpu_count()} cores\n")
    print("| program | median s | ratio | fastest s | slowest s | peak MiB, one | peak MiB, all |")
    print("|---|---|---|---|---|---|---|")
    for name, values in times.items():
        whole = memory[name].all_processes
        peak = f"{memory[name].largest_process:.0f} | {'-' if whole is None else f'{whole:.0f}'}"
        ratio = medians[name] / medians[PEER]
        print(f"| {name} | {medians[name]:.2f} | {ratio:.2f} | {min(values):.2f} | {max(values):.2f} | {peak} |")
    above = arguments.at_most is not None and medians[FIRST] > arguments.at_most * medians[PEER]
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
