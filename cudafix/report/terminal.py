"""Findings, refusals and the summary as text for a terminal, a pipe or a log."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TextIO, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cudafix.findings import Finding, Problem, Refusal, Report, Runs, Safety
from cudafix.report.positions import Positions
from cudafix.report.selection import Selection

# what a source line or a name may hold and a terminal would act on
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
Piece: TypeAlias = str | tuple[str, str]
"""A part of a line, alone or with its style."""
PAIRS = frozenset(
    ("stream_ordered_pairs", "python_stream_ordered_pairs", "cupy_async_allocator", "numba_memory_manager")
)


def readable(text: str | bytes) -> str:
    """`text` (a path, a source line) with what is no text made visible instead of sent to the terminal."""
    # not in the encoding of the locale, in which a source may not be possible
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", raw.decode("utf-8", "replace"))


_RESTING = {
    "legacy_default_stream": "the default stream being the legacy one: no build file was found; `default_stream` in "
    "the configuration settles it",
    "built_as_written": "the default stream that the build files choose: who starts the build may give other options; "
    "`default_stream` in the configuration settles it",
    "evaluates_its_argument": "`{}`, which no file here defines, to evaluate the argument and only look at the status; "
    "`check_macros` in the configuration settles it",
}
"""What fixes rest on by default, by the name of the assumption; the subjects are inserted."""


class Terminal:
    """Writes a report to `file`. `sources` are the bytes that were analysed, by path.

    Colour follows rich: only on a terminal, and not with `NO_COLOR`. Source lines are cut to the width of a terminal,
    around the caret; in a pipe every line is whole.
    """

    def __init__(self, file: TextIO, sources: Mapping[str, bytes]) -> None:
        self._console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._positions = Positions(sources)
        self._plain = not self._console.is_terminal and self._console.color_system is None

    def _print(self, *pieces: Piece, **how: Any) -> None:
        """Write a line that is made of texts, some with their style."""
        if self._plain:
            line = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
            if "\t" not in line:
                # without colour rich would write the same, at a hundredth of the speed
                self._console.file.write(f"{line}\n")
                return
        self._console.print(Text.assemble(*pieces), **how)

    def problem(self, problem: Problem) -> None:
        """One line: `cudafix: path: message`."""
        self._print(("cudafix: ", "bold red"), f"{readable(problem.path)}: {readable(problem.message)}")

    def details(self, findings: Iterable[Finding], refusals: Iterable[Refusal]) -> None:
        """Every finding and refusal with its source line, the related places, and what would unlock it. A path is named
        once for the places that follow each other in it.
        """
        for item in _by_place(findings, refusals):
            self._headline(item)
            of_pair = isinstance(item, Refusal) or item.codemod in PAIRS
            self._snippet(item.path, item.offset, "allocated here" if of_pair else "")
            path = item.path
            for place in item.related:
                seen = place.path in self._positions.sources
                if place.path != path or not seen:
                    said = "" if seen else f": {readable(place.text)}"
                    self._print(f"  {self._position(place.path, place.offset)}{said}")
                path = place.path
                self._snippet(place.path, place.offset, readable(place.text))
            if isinstance(item, Refusal):
                self._note("unlock", item.unlock)
            else:
                for assumption in item.assumptions:
                    asserted = item.safety is Safety.ASSERTED
                    self._note("asserted" if asserted else "assumes", f"{assumption} (`{assumption.name}`)")
            self._print()

    def headlines(self, findings: Iterable[Finding], refusals: Iterable[Refusal]) -> None:
        """Every finding and refusal in one line."""
        for item in _by_place(findings, refusals):
            self._headline(item)

    def written(self, findings: Iterable[Finding]) -> None:
        """Every fix that was made, with the other places of it; of a pair that runs once a single line."""
        for item in _by_place(findings, ()):
            self._headline(item)
            for place in item.related if item.runs is not Runs.ONCE else ():
                self._print(f"  {self._position(place.path, place.offset)}: {readable(place.text)}")

    def summary_of_written(self, report: Report, selection: Selection) -> None:
        """How many sites were rewritten, how many stay, and how to see why."""
        self._print((self._rewritten(report, selection, "rewritten"), "bold"))
        self._counted(Counter(f.codemod for f in selection.chosen if f.codemod not in PAIRS and f.edits))
        assumed = sum(f.safety is Safety.ASSUMES and f.codemod in PAIRS for f, _ in selection.left)
        others = sum(finding.codemod in PAIRS for finding, _ in selection.left) - assumed
        stay = (
            (len(report.refusals), "refused"),
            (assumed, "for `--unsafe`"),
            (others + report.suppressed_refusals, "left alone"),
        )
        if total := sum(count for count, _ in stay):
            why = ", ".join(f"{count} {what}" for count, what in stay if count)
            verb = "stays as it is" if total == 1 else "stay as they are"
            self._print(f"{total} {verb} ({why}); `cudafix check` says why")
        self.caveats(selection)

    def _rewritten(self, report: Report, selection: Selection, done: str) -> str:
        pairs = [finding for finding in selection.chosen if finding.codemod in PAIRS]
        runs = Counter(finding.runs for finding in pairs)
        kinds = ", ".join(f"{runs[kind]} {kind.value}" for kind in Runs if runs[kind])
        line = f"{_count(report.sites, 'allocation site')}: {len(pairs)} {done}"
        return line + (f" ({kinds})" if kinds else "")

    def summary(self, report: Report, selection: Selection, done: str) -> None:
        """What became of the sites. `done` is the participle for those with a fix: `rewritten`, `can be rewritten`."""
        line = f"{self._rewritten(report, selection, done)}, {len(report.refusals)} refused"
        others = Counter(finding.codemod for finding in selection.chosen if finding.codemod not in PAIRS)
        left = Counter(reason for _, reason in selection.left)
        left["suppressed"] += report.suppressed_refusals
        left += Counter(report.left_alone)
        self._print((line, "bold"))
        self._counted(others)
        for name, count in sorted(Counter(refusal.name for refusal in report.refusals).items(), key=_most):
            self._print(f"  {count:5} refused: {name}")
        for reason, count in sorted((+left).items(), key=_most):
            self._print(f"  {count:5} left: {reason}")
        if names := {refusal.name for refusal in report.refusals}:
            self._print(f"`cudafix explain {names.pop() if len(names) == 1 else 'NAME'}` says more about a refusal")
        self.caveats(selection)

    def _counted(self, names: Counter[str]) -> None:
        for name, count in sorted(names.items(), key=_most):
            self._print(f"  {count:5} {name}")

    def caveats(self, selection: Selection) -> None:
        """What of the configuration, or of its silence, the fixes depend on."""
        churns = any(finding.codemod in PAIRS and finding.runs is Runs.CHURN for finding in selection.chosen)
        if selection.keeps_nothing and churns:
            self._print(
                "`pool_threshold` is `keep`: the pool gives its memory back at every synchronization, and what churns "
                "may become slower than it was"
            )
        if selection.needs_pools and any(finding.codemod in PAIRS for finding in selection.chosen):
            self._print("the new code needs devices with memory pools: `pools` in the configuration settles it")
        resting = Counter(name for f in selection.chosen for name in {each.name for each in f.defaults})
        for name, count in sorted(resting.items(), reverse=True):
            fixes = f"{_count(count, 'fix', 'fixes')} {'rests' if count == 1 else 'rest'}"
            subjects = sorted({e.subject for f in selection.chosen for e in f.defaults if e.name == name})
            self._print(f"{fixes} on {_RESTING[name].format('`, `'.join(subjects))}")

    def _headline(self, item: Finding | Refusal) -> None:
        line: list[Piece] = [(self._position(item.path, item.offset), "bold"), ": "]
        if isinstance(item, Refusal):
            line += [("refused: ", "yellow"), (item.name, "bold yellow")]
        else:
            line.append((item.codemod, "bold green" if item.codemod in PAIRS else "bold cyan"))
        line.append(f": {readable(item.message)}")
        if item.runs is not None:
            line.append((f" ({item.runs.value})", "dim"))
        self._print(*line)

    def _note(self, name: str, text: str) -> None:
        self._print("  ", (f"{name}: ", "bold"), readable(text))

    def _position(self, path: str, offset: int) -> str:
        if path not in self._positions.sources:
            return readable(path)
        line, column = self._positions.point(path, offset)
        return f"{readable(path)}:{line}:{column}"

    def _snippet(self, path: str, offset: int, label: str) -> None:
        """The source line, and a caret below the token at `offset` with a label; a line of its own if that is long."""
        if path not in self._positions.sources:
            return
        number, start, line = self._positions.line(path, offset)
        token = self._positions.word(path, offset)
        before, marked, after = (
            readable(part.removeprefix(b"\xef\xbb\xbf") if not number - 1 else part)
            for part in (line[: offset - start], token, line[offset - start + len(token) :])
        )
        before = before.expandtabs(4)
        shown = before + marked + after.expandtabs(4)
        caret, length = cell_len(before), max(cell_len(marked), 1)
        margin, below = f"{number:6} | ", " " * 6 + " | "
        if self._console.is_terminal and cell_len(shown) > (room := self._console.width - len(margin)):
            cut = max(0, min(len(before) - room // 3, len(shown) - room))
            caret -= cell_len(shown[:cut])
            shown = shown[cut : cut + room]
            length = max(min(length, room - caret), 1)
        self._print((margin, "dim"), shown, crop=False, no_wrap=True, overflow="ignore")
        fits = not self._console.is_terminal or (
            len(below) + caret + length + 1 + cell_len(label) <= self._console.width
        )
        marks: list[Piece] = [(below, "dim"), " " * caret, ("^" * length, "bold magenta")]
        self._print(*marks, f" {label}" if label and fits else "")
        if label and not fits:
            self._print((below, "dim"), label)


def tell(problems: Iterable[Problem]) -> None:
    """Each problem as one line on standard error."""
    terminal = Terminal(sys.stderr, {})
    for problem in problems:
        terminal.problem(problem)


def _by_place(findings: Iterable[Finding], refusals: Iterable[Refusal]) -> list[Finding | Refusal]:
    items: list[Finding | Refusal] = [*findings, *refusals]
    return sorted(items, key=lambda item: (item.path, item.offset))


def _most(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


def _count(number: int, noun: str, several: str = "") -> str:
    return f"{number} {noun if number == 1 else several or noun + 's'}"
