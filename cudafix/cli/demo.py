"""`cudafix demo`: one program, from the wait that nobody wrote to the change that is proved to keep it."""

from __future__ import annotations

from importlib import resources
from typing import TextIO

from rich.console import Console
from rich.text import Text

from cudafix.findings import Finding
from cudafix.report import words
from cudafix.report.positions import Positions
from cudafix.rewrite import edits

NAME = "main.cu"
RENAMED = (
    (b"cudaMalloc(&d_v, bytes)", b"cudaMallocAsync(&d_v, bytes, stream)"),
    (b"cudaFree(d_v)", b"cudaFreeAsync(d_v, stream)"),
)
"""What a rename makes of the two calls."""
_FIRST, _LAST = b"int *d_v;", b"bad += "  # what is shown of the program
_TIMELINE = (
    ("as it is   host     launches | cudaFree waits ............ | reads h_v: done", "green"),
    ("           stream      | square | cudaMemcpyAsync to h_v |", ""),
    ("renamed    host     launches | reads h_v: too early", "red"),
    ("           stream      | square | cudaMemcpyAsync to h_v |", ""),
)
NEXT = (
    ("cudafix", "what is in this folder"),
    ("cudafix check", "what can move, and what is refused and why"),
    ("cudafix diff", "the changes, for review: `--html FILE` writes a page"),
    ("cudafix apply", "write them; `cudafix undo` takes them back"),
)


def source() -> bytes:
    """The program: that of the fixture `pinned_result_is_read_after_the_free`."""
    return resources.files("cudafix.cli").joinpath("example", NAME).read_bytes()


def show(file: TextIO) -> None:
    """Tell the story. What is said of the program is what the engine says now; the timeline is drawn by hand."""
    Story(file, source()).tell()


class Story:
    """The parts, in their order; each is written before the next one is worked out."""

    def __init__(self, file: TextIO, text: bytes) -> None:
        self._console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._text = text
        self._files = {NAME: text}
        self._positions = Positions(self._files)

    def tell(self) -> None:
        self._program()
        self._loss()
        (fix,) = self._fixes()
        self._change(fix)
        self._proof(fix)
        self._next()

    def _program(self) -> None:
        self._title(f"1. A program ({NAME})")
        first, last = (self._line(self._text.index(part)) for part in (_FIRST, _LAST))
        for number, line in enumerate(self._text.decode().splitlines(), 1):
            if first <= number <= last and line:
                self._say((f"{number:5} | ", "dim"), line)
        free, read = self._line(self._text.index(b"cudaFree(d_v)")), last - 1
        self._say(f'  The loop in line {read} needs the copy to be done. No line says "wait for it":')
        self._say(f"  `cudaFree` in line {free} waits, for the whole device.")

    def _loss(self) -> None:
        from cudafix.pipeline import driver

        self._title("2. What `sed s/cudaMalloc/cudaMallocAsync/` would lose")
        for drawn, style in _TIMELINE:
            self._say((f"  {drawn}", style))
        renamed = self._text
        for old, new in RENAMED:
            renamed = renamed.replace(old, new)
        lost = next(each for each in driver.reasons(self._files, {NAME: renamed}) if len(each.before) > 1)
        self._say(f"  {lost.text}:")
        for place in lost.before:
            line, column = self._positions.point(place.path, place.offset)
            self._say(f"    {place.path}:{line}:{column}: {place.text}")

    def _fixes(self) -> list[Finding]:
        from cudafix.pipeline import driver
        from cudafix.project.config import Config

        report = driver.analyze(self._files, Config(certificates=True, default_stream="legacy"))
        return [finding for finding in report.findings if finding.edits]

    def _change(self, fix: Finding) -> None:
        self._title("3. What cudafix writes")
        styles = {"+": "green", "-": "red"}
        diff = edits.diff(NAME, self._text, fix.edits).decode().splitlines()[2:]
        changed = [n for n, line in enumerate(diff) if line.startswith(("+", "-"))]
        for line in diff[changed[0] : changed[-1] + 1]:
            self._say((f"  {line}", styles.get(line[:1], "")))

    def _proof(self, fix: Finding) -> None:
        self._title("4. Why that is right")
        for clause in words.clauses(fix):
            lines = sorted({self._line(place.offset) for place in clause.places})
            where = f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
            self._say((f"  {clause.about:>9}: ", "bold"), f"{clause.text}{where}")

    def _next(self) -> None:
        self._title("Next, in a tree of your own")
        for command, what in NEXT:
            self._say((f"  {command:15}", "bold"), what)

    def _title(self, text: str) -> None:
        self._say((f"{text}\n" if text.startswith("1.") else f"\n{text}\n", "bold"), end="")

    def _say(self, *pieces: str | tuple[str, str], end: str = "\n") -> None:
        self._console.print(Text.assemble(*pieces), end=end)

    def _line(self, offset: int) -> int:
        return self._positions.point(NAME, offset)[0]
