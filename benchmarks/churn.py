"""Buffers that are allocated and freed in a loop: before, after, and hoisted out of the loop by hand, on a GPU.

    python benchmarks/churn.py [--rounds 200] [--repeats 3] [--json FILE] [--at-most 1.3]

Needs Python, `nvcc` and a GPU, no package. `benchmarks/churn/<program>/after.cu` is what `cudafix apply` makes of
`before.cu` (a test holds it to that); `hoisted.cu` is the limit that nothing can beat. The three take turns, and each
figure is the median of the repeats, in microseconds a round. With `--at-most`, the exit status is 1 if after takes
longer than that many times hoisted where the kernels touch little, or longer than before anywhere.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cudafix.verify import nvcc

PROGRAMS = Path(__file__).with_name("churn")
VARIANTS = ("before", "after", "hoisted")
SIZES = {"4 KiB": 2**12, "64 KiB": 2**16, "1 MiB": 2**20, "16 MiB": 2**24, "64 MiB": 2**26, "256 MiB": 2**28}
SMALL = 4096
"""Bytes that the kernels touch where the work on the GPU is to be small."""
SECONDS = 120

Row = dict[str, str | float]


def build(folder: Path, architecture: str) -> dict[tuple[str, str], Path]:
    """The programs, by name and variant. Raises `SystemExit` with what the compiler says."""
    compiler = nvcc.find()
    if compiler is None:
        raise SystemExit("churn: no nvcc")
    built: dict[tuple[str, str], Path] = {}
    for source in sorted(PROGRAMS.glob("*/*.cu")):
        name = source.parent.name, source.stem
        built[name] = folder / "_".join(name)
        result = compiler.compile(source, ["-O2", "-std=c++17", f"-arch={architecture}"], built[name])
        if not result.ok:
            raise SystemExit(f"churn: {source}: {result.log}")
    return built


def measure(program: Path, size: int, touched: int, rounds: int) -> float:
    """Microseconds a round. Raises `SystemExit` if the program fails."""
    run = subprocess.run(
        [program, str(size), str(touched), str(rounds)], capture_output=True, text=True, timeout=SECONDS
    )
    if run.returncode:
        raise SystemExit(f"churn: {program.name}: exit code {run.returncode}: {run.stderr.strip()}")
    return float(run.stdout)


def table(rows: list[Row]) -> str:
    """Markdown."""
    lines = [
        "| program | buffers | kernels touch | before | after | hoisted | before / after | after / hoisted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        before, after, hoisted = (float(row[variant]) for variant in VARIANTS)
        lines.append(
            f"| {row['program']} | {row['size']} | {row['touched']} | {before:.1f} | {after:.1f} | {hoisted:.1f} "
            f"| {before / after:.1f} | {after / hoisted:.2f} |"
        )
    return "\n".join(lines)


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
    parser = argparse.ArgumentParser(description="Time allocation in a loop: before, after, hoisted.")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the loop in one run of a program")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each program, in turn")
    parser.add_argument("--architecture", default="native", help="nvcc -arch")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--at-most", type=float, metavar="RATIO", help="fail if after / hoisted is above it")
    arguments = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = build(Path(scratch), arguments.architecture)
        for name in sorted({program for program, _ in programs}):
            for touched, words in ((SMALL, "4 KiB"), (0, "all")):
                for size, size_in_bytes in SIZES.items():
                    if touched == size_in_bytes:
                        continue  # the same as `all`
                    times: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
                    for _ in range(arguments.repeats):
                        for variant, taken in times.items():
                            used = touched or size_in_bytes
                            taken.append(measure(programs[name, variant], size_in_bytes, used, arguments.rounds))
                    medians = {variant: statistics.median(taken) for variant, taken in times.items()}
                    rows.append({"program": name, "size": size, "touched": words, **medians})
    print(table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    said = too_slow(rows, arguments.at_most) if arguments.at_most else []
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
