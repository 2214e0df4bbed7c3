"""Buffers that are allocated and freed in a loop: before, after, and hoisted out of the loop by hand, on a GPU.

    python benchmarks/churn.py [--rounds 200] [--repeats 3] [--seconds 100] [--json FILE] [--at-most 1.3]

Needs Python, `nvcc` and a GPU, no package. `benchmarks/churn/<program>/after.cu` is what `cudafix apply` makes of
`before.cu` (a test holds it to that); `hoisted.cu` is the limit that nothing can beat. The 15 programs are compiled
at the same time, as many as there are cores, and each is started once: it measures one line of its input after the
other, so no context is made between two figures. Before, after and hoisted take turns; each figure is the median of
the repeats, in microseconds a round. A row is printed as soon as it is measured. The sizes that say most come first;
no row is begun that would be past the time; the last line says what was left out. With `--at-most`, the exit status
is 1 if after takes longer than that many times hoisted where the kernels touch little, or longer than before
anywhere, or if rows were left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cudafix.verify import nvcc

PROGRAMS = Path(__file__).with_name("churn")
VARIANTS = ("before", "after", "hoisted")
SIZES = {"4 KiB": 2**12, "64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24, "64 MiB": 2**26, "256 MiB": 2**28}
SMALL = 4096
"""Bytes that the kernels touch where the work on the GPU is to be small."""
CASES = (
    *(("1 MiB", SMALL), ("16 MiB", SMALL), ("256 MiB", SMALL), ("4 KiB", 0), ("16 MiB", 0), ("256 MiB", 0)),
    *(("64 KiB", SMALL), ("64 MiB", SMALL), ("64 KiB", 0), ("1 MiB", 0), ("64 MiB", 0)),
)
"""Size of each buffer and how much of it the kernels touch (0: all), what says most first."""

Row = dict[str, str | float]


def build(folder: Path, architecture: str) -> dict[str, dict[str, Path]]:
    """The variants of each program. Raises `SystemExit` with what the compiler says."""
    compiler = nvcc.find()
    if compiler is None:
        raise SystemExit("churn: no nvcc")

    def compiled(source: Path) -> Path:
        target = folder / f"{source.parent.name}_{source.stem}"
        result = compiler.compile(source, ["-O2", "-std=c++17", f"-arch={architecture}"], target)
        if not result.ok:
            raise SystemExit(f"churn: {source}: {result.log}")
        return target

    names = sorted(folder.name for folder in PROGRAMS.iterdir() if folder.is_dir())
    sources = [PROGRAMS / name / f"{variant}.cu" for name in names for variant in VARIANTS]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        built = dict(zip(sources, workers.map(compiled, sources), strict=True))
    return {name: {variant: built[PROGRAMS / name / f"{variant}.cu"] for variant in VARIANTS} for name in names}


class Program:
    """A program that runs and waits for what to measure."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._run = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, size: int, touched: int, rounds: int) -> None:
        """Begins to measure."""
        assert self._run.stdin
        with contextlib.suppress(BrokenPipeError):  # `answer` says what happened to it
            self._run.stdin.write(f"{size} {touched} {rounds}\n")

    def answer(self, end: float) -> float:
        """Microseconds a round. Raises `SystemExit` if the program fails, or says nothing until `end`."""
        assert self._run.stdout
        # one line is answered by one line, so nothing lies unread in the buffer of the pipe
        if not select.select([self._run.stdout], [], [], max(0, end - time.monotonic()))[0]:
            raise SystemExit(f"churn: {self._name} takes too long")
        said = self._run.stdout.readline()
        if not said:
            raise SystemExit(f"churn: {self._name}: exit code {self._run.wait()}")
        return float(said)

    def close(self) -> None:
        """Ends it."""
        self._run.kill()
        self._run.communicate()


@contextlib.contextmanager
def running(paths: dict[str, Path]) -> Iterator[dict[str, Program]]:
    """The programs, started at the same time and ended behind the block."""
    programs = {variant: Program(path) for variant, path in paths.items()}
    try:
        yield programs
    finally:
        for program in programs.values():
            program.close()


HEADER = (
    "| program | buffers | kernels touch | before | after | hoisted | before / after | after / hoisted |",
    "|---|---|---|---|---|---|---|---|",
)


def line(row: Row) -> str:
    """Markdown."""
    before, after, hoisted = (float(row[variant]) for variant in VARIANTS)
    return (
        f"| {row['program']} | {row['size']} | {row['touched']} | {before:.1f} | {after:.1f} | {hoisted:.1f} "
        f"| {before / after:.1f} | {after / hoisted:.2f} |"
    )


def rows(programs: dict[str, dict[str, Path]], rounds: int, repeats: int, end: float) -> Iterator[Row]:
    """The figures, one row after the other, until all are measured or one as long as those before would pass `end`."""
    with contextlib.ExitStack() as stack:
        live = {name: stack.enter_context(running(paths)) for name, paths in programs.items()}
        everything = [program for variants in live.values() for program in variants.values()]
        for program in everything:  # all make their contexts at the same time
            program.ask(SMALL, SMALL, 1)
        for program in everything:
            program.answer(end)
        longest: dict[str, float] = {}
        for size, touched in CASES:
            for name, variants in live.items():
                begin = time.monotonic()
                if begin + longest.get(size, max(longest.values(), default=0)) > end:
                    return
                times: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
                for _ in range(repeats):
                    for variant, taken in times.items():
                        variants[variant].ask(SIZES[size], touched or SIZES[size], rounds)
                        taken.append(variants[variant].answer(end))
                longest[size] = max(longest.get(size, 0), time.monotonic() - begin)
                words = "4 KiB" if touched else "all"
                medians = {variant: statistics.median(taken) for variant, taken in times.items()}
                yield {"program": name, "size": size, "touched": words, **medians}


def too_slow(rows: list[Row], at_most: float) -> list[str]:
    """What breaks a promise, one line each."""
    said: list[str] = []
    for row in rows:
        before, after, hoisted = (float(row[variant]) for variant in VARIANTS)
        what = f"{row['program']}, {row['size']}, kernels touch {row['touched']}"
        if row["touched"] != "all" and after > at_most * hoisted:
            said.append(f"{what}: after takes {after / hoisted:.2f} times hoisted")
        if after > before:
            said.append(f"{what}: after takes {after / before:.2f} times before")
    return said


def main() -> int:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description="Time allocation in a loop: before, after, hoisted.")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the loop in one run of a program")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each program, in turn")
    parser.add_argument("--seconds", type=float, default=100, help="for all, compilation included")
    parser.add_argument("--architecture", default="native", help="nvcc -arch")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here, after each row")
    parser.add_argument("--at-most", type=float, metavar="RATIO", help="fail if after / hoisted is above it")
    arguments = parser.parse_args()
    measured: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = build(Path(scratch), arguments.architecture)
        print(f"{time.monotonic() - began:.0f} s: compiled", file=sys.stderr, flush=True)
        print("\n".join(HEADER), flush=True)
        for row in rows(programs, arguments.rounds, arguments.repeats, began + arguments.seconds):
            measured.append(row)
            print(line(row), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    left_out = len(CASES) * len(programs) - len(measured)
    print(f"{time.monotonic() - began:.0f} s: {len(measured)} rows, {left_out} left out", file=sys.stderr)
    said = too_slow(measured, arguments.at_most) if arguments.at_most else []
    print("\n".join(said), end="\n" if said else "")
    return 1 if said or (arguments.at_most and left_out) else 0


if __name__ == "__main__":
    sys.exit(main())
