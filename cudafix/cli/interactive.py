"""`cudafix apply --interactive`: fix by fix, as `git add -p` asks hunk by hunk. What moves together is one question."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from cudafix.findings import Edit, Finding, Safety
from cudafix.project.config import Config
from cudafix.report import colour, words
from cudafix.report.selection import Selection
from cudafix.report.terminal import readable
from cudafix.rewrite import edits

_HELP = """\
y - take this fix
n - leave it
a - take it, and all later ones of its kind
s - leave it, and all later ones in this file
w - show why it is right
e - edit it, and prove the result
q - leave it and all later ones; write what was taken
? - show this
"""
_QUESTION = "take this fix [y,n,a,s,w,e,q,?]"
_CUT = "@@"  # starts the line in front of each part of a fix that is edited


class _Unit(NamedTuple):
    """One decision: a group, or a finding on its own."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def kind(self) -> tuple[str, Safety]:
        return self.first.codemod, self.first.safety


def choose(
    sources: Mapping[str, bytes], selection: Selection, config: Config
) -> tuple[Selection, dict[str, list[Edit]]]:
    """Ask for each fix of a selection, and for each that rests on an assumption. Returns what was taken.

    Nothing is written here. The end of the input counts as `q`.
    """
    assumed = [finding for finding, _ in selection.left if finding.safety is Safety.ASSUMES]
    return _Session(sources, selection, config).ask(list(_units([*selection.chosen, *assumed])))


def _units(findings: Sequence[Finding]) -> Iterator[_Unit]:
    groups: dict[object, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: (f.path, f.offset, f.codemod)):
        if finding.edits:
            groups.setdefault(finding.group or finding, []).append(finding)
    yield from (_Unit(tuple(own)) for own in groups.values())


class _Session:
    def __init__(self, sources: Mapping[str, bytes], selection: Selection, config: Config) -> None:
        self.sources = sources
        self.selection = selection
        self.config = config
        self.taken: list[Finding] = []
        self.as_it_is: list[Finding] = []  # of these, the ones that were not edited
        self.by_hand: list[Mapping[str, Sequence[Edit]]] = []
        self.changes: dict[str, list[Edit]] = {}
        self.coloured = colour.wanted()

    def ask(self, units: Sequence[_Unit]) -> tuple[Selection, dict[str, list[Edit]]]:
        kinds: set[object] = set()
        skipped: set[str] = set()
        for number, unit in enumerate(units, 1):
            if unit.first.path in skipped:
                continue
            if unit.kind in kinds:
                self._take(unit, None)
                continue
            changes = self.selection.edits_of(unit.findings)
            self._show(unit, changes, f"({number}/{len(units)}) ")
            answer = self._answer(unit, changes)
            if answer == "q":
                break
            if answer == "a":
                kinds.add(unit.kind)
            if answer == "s":
                skipped.add(unit.first.path)
        if self.by_hand and len(self.by_hand) + len(self.as_it_is) > 1:
            self._prove_together()
        left = [(f, "not taken") for f in self.selection.chosen if f not in self.taken]
        left += [(f, reason) for f, reason in self.selection.left if f not in self.taken]
        return self.selection._replace(chosen=tuple(self.taken), left=tuple(left)), dict(sorted(self.changes.items()))

    def _answer(self, unit: _Unit, changes: dict[str, list[Edit]]) -> str:
        """Ask until the unit is decided; returns how."""
        edited: dict[str, list[Edit]] | None = None
        proved = True
        while True:
            try:
                question = click.style(_QUESTION, fg="blue", bold=True) if self.coloured else _QUESTION
                given = click.prompt(question, prompt_suffix="? ", default="", show_default=False)
            except click.Abort:
                if sys.stdin.isatty():  # Ctrl-C, or the end of what is typed
                    raise
                return "q"
            match given.strip().lower()[:1]:
                case "y" | "a" if not proved:
                    click.echo("what is not proven is not written: `e` to edit it again, `n` to leave it")
                case "y" | "a" as answer:
                    if self._take(unit, edited):
                        return answer
                    return "n"
                case "n" | "s" | "q" as answer:
                    return answer
                case "w":
                    self._why(unit)
                case "e":
                    made = self._edited(unit, edited or changes)
                    if made is not None:
                        edited, proved = made, self._prove(made)
                case _:
                    click.echo(_HELP, nl=False)

    def _take(self, unit: _Unit, edited: Mapping[str, Sequence[Edit]] | None) -> bool:
        as_it_is = [*self.as_it_is, *unit.findings] if edited is None else self.as_it_is
        by_hand = [*self.by_hand, edited] if edited is not None else self.by_hand
        changes = self.selection.edits_of(as_it_is)
        for one in by_hand:
            for path, own in one.items():
                changes[path] = [*changes.get(path, ()), *own]
        try:
            for own in changes.values():
                edits.ordered(own)
        except edits.OverlapError as error:
            self._say(f"{readable(str(error))}; left alone, as the other one was taken", fg="red")
            return False
        self.as_it_is, self.by_hand, self.changes = as_it_is, by_hand, changes
        self.taken += unit.findings
        return True

    def _say(self, text: str, *, fg: str | None = None, bold: bool = False, nl: bool = True) -> None:
        click.secho(text, nl=nl, color=self.coloured, fg=fg, bold=bold or None)

    # -- showing -------------------------------------------------------------------------------------------------------

    def _line(self, path: str, offset: int) -> int:
        return self.sources[path].count(b"\n", 0, offset) + 1

    def _show(self, unit: _Unit, changes: Mapping[str, Sequence[Edit]], counted: str) -> None:
        one = unit.first
        proof = "rests on an assumption" if one.safety is Safety.ASSUMES else one.safety.value
        runs = f", {one.runs.value}" if one.runs is not None else ""
        click.echo()
        self._say(f"{counted}{readable(one.path)}:{self._line(one.path, one.offset)}: ", bold=True, nl=False)
        self._say(one.codemod, fg="green", nl=False)
        click.echo(f": {readable(one.message)} ({proof}{runs})")
        for other in unit.findings[1:]:
            click.echo(f"  with it: {readable(other.path)}:{self._line(other.path, other.offset)}")
        for assumption in dict.fromkeys(text for finding in unit.findings for text in finding.assumptions):
            self._say(f"  assumes: {readable(assumption)}", fg="yellow")
        colours = {"-": "red", "+": "green", "@": "cyan"}
        for path, own in sorted(changes.items(), key=lambda change: change[0] not in self.sources):
            for line in edits.diff(path, self.sources.get(path), own).split(b"\n")[:-1]:
                text = readable(line.rstrip(b"\r").replace(b"\t", b"    "))
                self._say(text, fg=colours.get(text[:1]))

    def _why(self, unit: _Unit) -> None:
        said = list(dict.fromkeys(clause for finding in unit.findings for clause in words.clauses(finding)))
        for clause in said:
            lines = sorted({self._line(place.path, place.offset) for place in clause.places})
            where = f"  (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
            click.echo(f"  {clause.about:>10}: {readable(clause.text)}{where}")
        if not said:
            click.echo(f"  {unit.first.message}")
            for place in unit.first.related:
                click.echo(f"  line {self._line(place.path, place.offset)}: {readable(place.text)}")

    # -- editing -------------------------------------------------------------------------------------------------------

    def _edited(self, unit: _Unit, changes: Mapping[str, Sequence[Edit]]) -> dict[str, list[Edit]] | None:
        """The fix as the user wants it; None if it stays as it is."""
        places: list[tuple[str, edits.Region]] = [
            (path, region)
            for path, own in changes.items()
            for region in edits.regions(self.sources.get(path, b""), own)
        ]
        shown = "".join(
            f"{_CUT} {path}:{region.start + 1}, these lines become\n"
            + b"".join(region.new).decode("utf-8", "surrogateescape")
            for path, region in places
        )
        try:
            written = click.edit(shown, extension=os.path.splitext(unit.first.path)[1])
        except click.ClickException as error:
            self._say(error.format_message(), fg="red")
            return None
        parts = _parts(written) if written is not None else None
        if parts is None or len(parts) != len(places):
            click.echo("not changed" if written is None else f"not changed: keep the lines that start with `{_CUT}`")
            return None
        made: dict[str, list[Edit]] = {}
        for (path, region), text in zip(places, parts, strict=True):
            lines = edits.lines(self.sources.get(path, b""))
            start = sum(map(len, lines[: region.start]))
            end = start + sum(map(len, lines[region.start : region.stop]))
            made.setdefault(path, []).append(Edit(path, start, end, text.encode("utf-8", "surrogateescape")))
        self._show(unit, made, "edited: ")
        return made

    def _prove_together(self) -> None:
        """Each part of the fixes as they were found is proved; one that was edited may have taken away what another
        one needs.
        """
        click.echo("all that was taken, together:")
        if not self._prove(self.changes):
            click.echo("  the edited fixes are left alone")
            self.taken, self.changes = self.as_it_is, self.selection.edits_of(self.as_it_is)

    def _prove(self, changes: Mapping[str, Sequence[Edit]]) -> bool:
        from cudafix.pipeline import driver

        after = {p: edits.apply(data, changes[p]) if p in changes else data for p, data in self.sources.items()}
        wrong = driver.prove(self.sources, after, self.config)
        if not wrong:
            self._say("  proven, as it is now", fg="green")
        for reason in wrong:
            self._say(f"  not proven: {readable(reason)}", fg="red")
        return not wrong


def _parts(text: str) -> list[str] | None:
    """What stands behind each cut; None if something stands in front of the first one."""
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith(_CUT):
            parts.append("")
        elif parts:
            parts[-1] += line
        elif line.strip():
            return None
    return parts
