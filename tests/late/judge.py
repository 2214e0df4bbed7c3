"""Runs a program and its rewrite in many orders, and compares them.

C++ is built against the runtime in `runtime/`; in Python the modules in `python/` take the place of packages.

A program keeps its result in every order that CUDA allows, or it is racy by itself and says nothing about a rewrite.
A rewrite is wrong if it does not compile, or if in some order it ends differently: another output or exit code, memory
that is accessed before it is allocated or behind its release, a destroyed stream, other blocks that are never freed.

    python -m tests.late.judge BEFORE AFTER

takes two files or two folders of `.cu` and `.cpp` files, or of `.py` files with a `main.py`, and prints the verdict and
the orders that show it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cudafix.project.paths import SUFFIXES

RUNTIME = Path(__file__).parent / "runtime"
ROOT = Path(__file__).parents[2]
STANDARD = "-std=c++20"
ORDERS = (
    "late",
    "early",
    "frees",
    *(f"starve:{n}" for n in range(5)),
    *(f"only:{n}" for n in range(5)),
    *(f"random:{n}" for n in range(6)),
)
NOT_MODELLED, POISONED, DESTROYED = 76, 77, 78

_OPENING, _CLOSING = "([{", ")]}"
_TEMPLATE_KERNEL = re.compile(r"template\s*<[^;{}]*>\s*(?:static\s+|inline\s+)*__global__\s+void\s+(\w+)")
_WORD = re.compile(r"[\w:.]+$")
_TIMER = re.compile(r'asm\s+volatile\s*\(\s*"mov\.u64\s+%0,\s*%%\w+;"\s*:\s*"=l"\((\w+)\)\s*\)')
_TICKS = re.compile(r"\b__rdtsc\s*\(\s*\)")
_TICKS_ASM = re.compile(
    r'(?:__)?asm(?:__)?\s+(?:__)?volatile(?:__)?\s*\(\s*"rdtscp?[^"]*"\s*:\s*"=a"\s*\((\w+)\)\s*,\s*"=d"\s*\((\w+)\)[^;]*\)'
)


@dataclass(frozen=True)
class Outcome:
    """What one run shows."""

    code: int
    output: str
    left: str = ""

    def __str__(self) -> str:
        name = {
            NOT_MODELLED: "not modelled",
            POISONED: "poisoned access",
            DESTROYED: "destroyed stream",
            -1: "timeout",
        }.get(self.code, f"exit {self.code}")
        return f"{name}, {self.output!r}, {self.left or '?'} blocks left"


@dataclass(frozen=True)
class Verdict:
    """`right`, `wrong`, `racy` (the original by itself) or `broken` (the original does not compile or end), and why."""

    kind: str
    why: str = ""


class DoesNotCompile(Exception):
    """What the compiler said."""


def _kernel_start(text: str, end: int) -> int:
    """Where the name of the kernel in front of `<<<` begins: `ns::name<A, B>`, `table[i]`, `(name)`."""
    at = end
    while at and text[at - 1].isspace():
        at -= 1
    while at:
        last = text[at - 1]
        if last in ">])":
            depth, opens = 0, {">": "<", "]": "[", ")": "("}[last]
            while at:
                at -= 1
                depth += (text[at] == last) - (text[at] == opens)
                if depth == 0:
                    break
            if last == ")":
                return at
        elif word := _WORD.search(text[:at]):
            at = word.start()
            if at >= 2 and text[at - 2 : at] == "->":
                at -= 2
            else:
                return at
        else:
            return at
    return at


def _launch_end(text: str, start: int) -> int:
    """Where the `>>>` begins that closes the configuration that begins at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in _OPENING:
            depth += 1
        elif text[at] in _CLOSING:
            depth -= 1
        elif depth == 0 and text.startswith(">>>", at):
            return at
    raise ValueError("a launch is not closed")


def with_calls(text: str, deduced: Iterable[str] = ()) -> str:
    """`text` with calls in place of launches and timers.

    `deduced` names the kernels whose template arguments are left out in a launch.
    """
    names = set(deduced)
    text = _TIMER.sub(r"\1 = clock64()", text)
    text = _TICKS.sub("late::ticks()", text)
    text = _TICKS_ASM.sub(r"(\1 = late::ticks(), \2 = late::ticks() >> 32)", text)
    at = 0
    while (at := text.find("<<<", at)) >= 0:
        start, stop = _kernel_start(text, at), _launch_end(text, at + 3)
        kernel, config = text[start:at].strip(), text[at + 3 : stop]
        if kernel.rsplit("::", 1)[-1] in names:
            call = f"late::launch_deduced(late::Config({config}), [](auto... each) {{ {kernel}(each...); }})"
        else:
            call = f"late::launch(late::Config({config}), {kernel})"
        text = text[:start] + call + text[stop + 3 :]
        at = start + len(call)
    return text


def build_runtime(into: Path) -> None:
    """Compiles the runtime; programs that are built with this folder are linked with it."""
    _compile([RUNTIME / "runtime.cpp", "-c", "-o", into / "runtime.o"], into)


def _compile(arguments: list[str | Path], include: Path) -> None:
    command = ["g++", STANDARD, "-pthread", "-w", f"-I{include}", f"-I{RUNTIME}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DoesNotCompile(done.stderr)


def build(sources: Mapping[str, str], folder: Path, runtime: Path) -> Path:
    """The executable of a program, given as texts by file name. Raises `DoesNotCompile`."""
    folder.mkdir(parents=True, exist_ok=True)
    deduced = {name for text in sources.values() for name in _TEMPLATE_KERNEL.findall(text)}
    units: list[str | Path] = []
    for name, text in sources.items():
        written = folder / name
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(with_calls(text, deduced))
        if written.suffix in (".cu", ".cpp"):
            units += ["-x", "c++", written]
    program = folder / "program"
    header = ["-include", "cuda_runtime.h"]
    _compile([*header, *units, "-x", "none", runtime / "runtime.o", "-o", program], runtime)
    return program


def run(program: Path, order: str, seconds: float = 10) -> Outcome:
    """One run in one order."""
    report = program.with_suffix(".left")
    report.unlink(missing_ok=True)
    environment = {**os.environ, "LATE_ORDER": order, "LATE_REPORT": str(report)}
    try:
        done = subprocess.run(
            [program], capture_output=True, text=True, errors="replace", env=environment, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(-1, "")
    left = report.read_text().strip() if report.exists() else ""
    return Outcome(done.returncode, done.stdout, left)


def _python(sources: Mapping[str, str], folder: Path) -> Iterator[Outcome]:
    """How a program in Python ends in each order."""
    for name, text in sources.items():
        written = folder / name
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text)
    main = folder / ("main.py" if "main.py" in sources else next(iter(sources)))
    command = [sys.executable, "-B", "-m", "tests.late.python", str(main), *ORDERS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                yield Outcome(**json.loads(line))
        finally:
            process.kill()


def outcomes(sources: Mapping[str, str], folder: Path, runtime: Path) -> Iterator[tuple[str, Outcome]]:
    """How a program ends in each order. Raises `DoesNotCompile` or `ValueError`."""
    if any(name.endswith(".py") for name in sources):
        yield from zip(ORDERS, _python(sources, folder), strict=True)
        return
    program = build(sources, folder, runtime)
    for order in ORDERS:
        yield order, run(program, order)


class Judge:
    """Knows how a program ends in every order, and compares rewrites of it with that."""

    def __init__(self, before: Mapping[str, str], folder: Path, runtime: Path) -> None:
        self.folder = folder
        self.runtime = runtime
        self.refusal: Verdict | None = None
        shown = outcomes(before, folder / "before", runtime)
        try:
            first, self.expected = next(shown)
        except (DoesNotCompile, ValueError) as error:
            self.refusal = Verdict("broken", str(error))
            return
        if self.expected.code in (-1, NOT_MODELLED, POISONED, DESTROYED):
            self.refusal = Verdict("broken", f"{first}: {self.expected}")
            return
        for order, other in shown:
            if other != self.expected:
                self.refusal = Verdict("racy", f"{first}: {self.expected}; {order}: {other}")
                return

    def verdict(self, after: Mapping[str, str]) -> Verdict:
        """Whether `after` does in every order what the original does in every order."""
        if self.refusal is not None:
            return self.refusal
        try:
            found = list(outcomes(after, self.folder / "after", self.runtime))
        except (DoesNotCompile, ValueError) as error:
            return Verdict("wrong", f"does not compile: {error}")
        if found[0][1].code == NOT_MODELLED:
            return Verdict("broken", str(found[0][1]))
        shows = [f"{order}: {shown}" for order, shown in found if shown != self.expected]
        if shows:
            return Verdict("wrong", "\n".join([f"expected: {self.expected}", *shows]))
        return Verdict("right", str(self.expected))


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_file():
        yield f"main{path.suffix}", path.read_text()
        return
    for file in sorted(path.rglob("*")):
        if file.suffix in SUFFIXES:
            yield str(file.relative_to(path)), file.read_text()


def main() -> int:
    """The command line."""
    before, after = (dict(_sources(Path(name))) for name in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not any(source.endswith(".py") for source in before):
            build_runtime(folder)
        verdict = Judge(before, folder, folder).verdict(after)
    print(f"{verdict.kind}\n{verdict.why}")
    return verdict.kind == "wrong"


if __name__ == "__main__":
    sys.exit(main())
