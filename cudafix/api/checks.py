"""`cudafix.check`: what the command `check` finds, as data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cudafix.api import analysis
from cudafix.api.analysis import Means
from cudafix.findings import Edit, Finding, Problem
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.project.paths import named
from cudafix.report.listing import Listing, key
from cudafix.report.results import Result, results
from cudafix.report.selection import Analysis
from cudafix.rewrite import edits

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Report:
    """What there is to say about some files: the results in the order of their places, and the files that could not be
    worked on. `sources` are the bytes that were analysed, by path.
    """

    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    sources: Mapping[str, bytes] = field(repr=False)
    done: Analysis = field(repr=False, compare=False)
    """What the results were made of: as the other modules take it."""

    @classmethod
    def of(cls, done: Analysis, settings: Config) -> Report:
        """An analysis as a report; the configuration says what fails."""
        listing = Listing(done.sources, done.report, done.selection, settings.fail_on)
        return cls(tuple(results(listing)), done.report.problems, done.sources, done)

    @property
    def findings(self) -> tuple[Result, ...]:
        """What can be rewritten, and what is wrong."""
        return tuple(result for result in self.results if not result.is_refusal)

    @property
    def refusals(self) -> tuple[Result, ...]:
        """The sites that stay as they are."""
        return tuple(result for result in self.results if result.is_refusal)

    @property
    def failing(self) -> tuple[Result, ...]:
        """What makes the command `check` exit with code 1."""
        return tuple(result for result in self.results if result.fails)

    def fixed(self, wanted: Iterable[Result] | None = None) -> dict[str, bytes]:
        """The new texts of the files that change, by path: with the fixes that `apply` makes, or with those that are
        `wanted` and all that move together with them.
        """
        return {path: edits.apply(self.sources.get(path, b""), made) for path, made in self.changes(wanted).items()}

    def changes(self, wanted: Iterable[Result] | None = None) -> dict[str, list[Edit]]:
        """The edits that make the texts of `fixed`, by path."""
        selection = self.done.selection
        return selection.edits_of(selection.chosen if wanted is None else self._findings(wanted))

    def _findings(self, wanted: Iterable[Result]) -> Iterable[Finding]:
        every = [*self.done.selection.chosen, *(finding for finding, _ in self.done.selection.left)]
        named = {(result.path, result.offset, result.rule) for result in wanted}
        groups = {finding.group for finding in every if finding.group and key(finding) in named}
        return [finding for finding in every if finding.group in groups or key(finding) in named]


def check(
    paths: Path | Sequence[Path] = (),
    config: Config | Path | None = None,
    *,
    texts: Mapping[str, bytes] | None = None,
    proofs: bool = False,
    jobs: int = 1,
    cache: bool = True,
) -> Report:
    """What the command `check` finds in these files and folders; without any, in those of the configuration, or else in
    the current folder.

    `config` is a configuration file, or what one holds; without it, the one that governs the current folder. `texts`
    stand in place of what the disk has of these files, which need not be there. With `proofs`, each result shows its
    `proof`. More than one process (`jobs`) only saves time, and so does the `cache` of proofs of earlier runs.

    Raises `InputError` if there is nothing to look at, or the configuration is wrong.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    settings = config if isinstance(config, Config) else analysis.settings_at(config)
    here = os.path.realpath(".")
    given = {named(os.path.realpath(path), here): text for path, text in (texts or {}).items()}
    means = Means(jobs, Cache() if cache else None)
    settings = replace(settings, certificates=proofs)
    found = analysis.found_at([os.fspath(path) for path in listed], settings, means.cache, given)
    return Report.of(analysis.analyse(found, means), found.settings)
