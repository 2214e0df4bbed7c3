"""`cudafix check` beside ripgrep, ast-grep and semgrep on the same files: wall time, processor time and memory.

    pip install -e '.[bench]'
    python benchmarks/speed.py TREE [--rounds 5] [--plot speed.svg] [--cold-at-most 0.5] [--warm-at-most 0.1]

All work on one copy that holds exactly the files that cudafix looks at. ripgrep looks for the words, ast-grep for one
bare pattern with the grammar that cudafix parses with (`customLanguages`; built from its source package with `cc`, or
`--grammar FILE`), semgrep for the same pattern as C++. What is not installed is left out. cudafix runs *cold* with an
empty cache, *warm* with nothing changed since, and with *one file changed*: a comment behind a file that allocates, in
each round another one, of those at a tenth, three, five, seven and nine tenths by size. After a round that warms the
page cache they take turns; the table has the medians of the rounds, and the ratio of the wall time to ast-grep's.
Processor time is that of all processes, memory that of the largest one. With `--cold-at-most` and `--warm-at-most`, the
exit status is 1 when a ratio is above.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from cudafix.project import discovery
from cudafix.project.config import Config
from cudafix.project.paths import SUFFIXES

COLD, WARM, ONE = "cudafix, cold", "cudafix, warm", "cudafix, one file changed"
PEER = "ast-grep"
LONGEST = 600
"""Seconds after which a run is killed, with all its processes."""
RULE = """rules:
  - id: allocation
    pattern: cudaMalloc(...)
    message: found
    languages: [cpp]
    severity: INFO
"""


class Usage(NamedTuple):
    """One run: wall time and processor time in seconds, memory of the largest process in MiB."""

    wall: float
    processor: float
    memory: float


class Contender(NamedTuple):
    """A command, the folder that it runs in, and what is done before each run."""

    command: list[str]
    folder: Path
    prepare: Callable[[], None] = lambda: None


def program(name: str) -> str | None:
    """The path of a program of this environment, or of PATH."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


def run(contender: Contender) -> Usage:
    """Exit status 1 is how all of them say what they found; above that it is a failure."""
    contender.prepare()
    start = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        cwd=contender.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    alarm = threading.Timer(LONGEST, os.killpg, (process.pid, signal.SIGKILL))
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        alarm.cancel()
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        command = " ".join(contender.command)
        raise SystemExit(f"speed: exit status {process.returncode} after {seconds:.0f} s: {command}")
    memory = usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    return Usage(seconds, usage.ru_utime + usage.ru_stime, memory)


def grammar(folder: Path) -> Path:
    """The grammar of the installed `tree-sitter-cuda` as a library of its own, which ast-grep can load."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
    subprocess.run([*pip, "-d", str(folder), f"tree-sitter-cuda=={version('tree-sitter-cuda')}"], check=True)
    (package,) = folder.glob("tree_sitter_cuda-*.tar.gz")
    with tarfile.open(package) as archive:
        archive.extractall(folder, filter="data")
    source = folder / package.name.removesuffix(".tar.gz") / "src"
    library = folder / "cuda.so"
    files = [str(source / "parser.c"), str(source / "scanner.c")]
    compiler = program("cc")
    if compiler is None:
        raise SystemExit("speed: no C compiler for the grammar of ast-grep; `--grammar FILE` names a library")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-I", str(source), *files, "-o", str(library)], check=True)
    return library


def copy_sources(tree: str, folder: Path) -> dict[str, int]:
    """Copy the files that cudafix looks at below `tree`; their sizes in bytes, by their names in `folder`."""
    found = discovery.discover([tree], Config())
    if found.problems:
        raise SystemExit("\n".join(f"speed: {problem.path}: {problem.message}" for problem in found.problems))
    root = Path(tree).resolve()
    sizes: dict[str, int] = {}
    for name, data in found.files.items():
        own = Path(name).resolve().relative_to(root)
        (folder / own).parent.mkdir(parents=True, exist_ok=True)
        (folder / own).write_bytes(data)
        sizes[str(own)] = len(data)
    return sizes


def allocating(folder: Path, sizes: Mapping[str, int]) -> list[str]:
    """The files that allocate, by size."""
    names = (name for name in sizes if not name.endswith((".py", ".ipynb")))
    return sorted((n for n in names if b"cudaMalloc" in (folder / n).read_bytes()), key=lambda n: (sizes[n], n))


def contenders(folder: Path, scratch: Path, sizes: Mapping[str, int], library: Path | None) -> dict[str, Contender]:
    """What takes turns."""
    found: dict[str, Contender] = {}
    ripgrep, ast_grep, semgrep, cudafix = map(program, ("rg", "ast-grep", "semgrep", "cudafix"))
    if ripgrep is not None:
        found["ripgrep"] = Contender([ripgrep, "-c", "cudaMalloc|cudaFree", "."], folder)
    if ast_grep is None or cudafix is None:
        raise SystemExit("speed: pip install -e '.[bench]'")
    own = library or grammar(scratch)
    globs = [f"*{suffix}" for suffix in sorted(SUFFIXES) if suffix not in (".py", ".ipynb")]
    language = {"libraryPath": str(own.resolve()), "extensions": ["cu"], "languageSymbol": "tree_sitter_cuda"}
    # JSON is YAML
    settings = {
        "ruleDirs": [],
        "customLanguages": {"cuda": {**language, "expandoChar": "_"}},
        "languageGlobs": {"cuda": globs},
    }
    (scratch / "sgconfig.yml").write_text(json.dumps(settings))
    command = [
        ast_grep,
        "--custom-languages",
        "allow",
        "run",
        "-c",
        str(scratch / "sgconfig.yml"),
        "-p",
        "cudaMalloc($$$)",
        "-l",
        "cuda",
        ".",
    ]
    found[PEER] = Contender(command, folder)
    if semgrep is not None:
        found["semgrep"] = _semgrep(semgrep, folder, scratch, sizes)
    cache = scratch / "cache"
    os.environ["CUDAFIX_CACHE_DIR"] = str(cache)
    check = [cudafix, "check", "."]
    found[COLD] = Contender(check, folder, lambda: shutil.rmtree(cache, ignore_errors=True))
    found[WARM] = Contender(check, folder)
    candidates = allocating(folder, sizes)
    if candidates:
        tenths = cycle((5, 1, 3, 5, 7, 9))  # the first one warms up

        def change() -> None:
            with (folder / candidates[len(candidates) * next(tenths) // 10]).open("a") as file:
                file.write("\n// changed\n")

        found[ONE] = Contender(check, folder, change)
    return found


def _semgrep(semgrep: str, folder: Path, scratch: Path, sizes: Mapping[str, int]) -> Contender:
    """By its name a file is taken for C++."""
    copy = scratch / "semgrep"
    for name in sizes:
        target = copy / (name + ".cpp" if name.endswith((".cu", ".cuh", ".inl")) else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target)
    (scratch / "rule.yml").write_text(RULE)
    options = ["--metrics", "off", "--disable-version-check", "--no-git-ignore", "--quiet"]
    return Contender([semgrep, "scan", "--config", str(scratch / "rule.yml"), *options, "."], copy)


def table(title: str, medians: Mapping[str, Usage]) -> str:
    """The medians as markdown."""
    lines = [title, "", f"| | wall s | processor s | largest process MiB | wall / {PEER} |", "|---|---|---|---|---|"]
    for name, usage in medians.items():
        ratio = usage.wall / medians[PEER].wall
        lines.append(f"| {name} | {usage.wall:.2f} | {usage.processor:.2f} | {usage.memory:.0f} | {ratio:.2f} |")
    return "\n".join(lines) + "\n"


def plot(title: str, medians: Mapping[str, Usage]) -> str:
    """The wall times as bars (SVG)."""
    longest = max(usage.wall for usage in medians.values())
    rows = []
    for n, (name, usage) in enumerate(medians.items()):
        y, width = 40 + 28 * n, 420 * usage.wall / longest
        fill = "#76b900" if name.startswith("cudafix") else "#9aa0a6"
        rows.append(f'<text x="190" y="{y + 14}" text-anchor="end">{name}</text>')
        rows.append(f'<rect x="200" y="{y}" width="{max(width, 1):.1f}" height="20" fill="{fill}"/>')
        rows.append(f'<text x="{206 + width:.1f}" y="{y + 14}">{usage.wall:.2f} s</text>')
    height = 50 + 28 * len(medians)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="{height}" font-family="sans-serif"'
        f' font-size="13">\n<rect width="700" height="{height}" fill="white"/>\n'
        f'<text x="10" y="22" font-weight="bold">{title}</text>\n' + "\n".join(rows) + "\n</svg>\n"
    )


def main() -> int:
    """Exit status 1 where a ratio is above what is allowed."""
    parser = argparse.ArgumentParser(description="The speed of `cudafix check` beside that of other tools.")
    parser.add_argument("tree")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grammar", type=Path, metavar="FILE", help="the CUDA grammar as a library")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the wall times as SVG")
    parser.add_argument("--cold-at-most", type=float, metavar="RATIO")
    parser.add_argument("--warm-at-most", type=float, metavar="RATIO")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch, folder = Path(name), Path(name, "tree")
        sizes = copy_sources(given.tree, folder)
        taking_turns = contenders(folder, scratch, sizes, given.grammar)
        allocate = len(allocating(folder, sizes))
        seen: dict[str, list[Usage]] = {name: [] for name in taking_turns}
        for turn in range(given.rounds + 1):
            for name, contender in taking_turns.items():
                usage = run(contender)
                if turn:
                    seen[name].append(usage)
    medians = {
        name: Usage(*(statistics.median(values) for values in zip(*usages, strict=True)))
        for name, usages in seen.items()
    }
    megabytes = sum(sizes.values()) / 1e6
    title = (
        f"{Path(given.tree).name}: {len(sizes)} files, {megabytes:.1f} MB, {allocate} allocate;"
        f" median of {given.rounds}, {os.cpu_count()} cores"
    )
    print(table(title, medians), end="")
    if given.plot is not None:
        given.plot.write_text(plot(title, medians))
    bounds = ((COLD, given.cold_at_most), (WARM, given.warm_at_most))
    above = [name for name, most in bounds if most is not None and medians[name].wall > most * medians[PEER].wall]
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
