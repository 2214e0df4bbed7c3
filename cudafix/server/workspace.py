"""What there is to say about the open files of a workspace: with the texts of the editor, and the rest from the disk.

A file belongs to the project of the nearest configuration, or else to the folder that the editor has opened. All of
that is looked at, so that a program is whole; what no open file is decided with is left out. Proofs of earlier texts
come from the cache, and what was parsed stays in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cudafix.api import analysis
from cudafix.api.analysis import InputError, Means
from cudafix.api.checks import Report
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.project.files import given
from cudafix.project.paths import SUFFIXES, named
from cudafix.project.prefilter import NOTEBOOK


class Project(NamedTuple):
    """What is looked at together: files and folders, by their real paths, as a configuration says."""

    paths: tuple[str, ...]
    settings: Config

    def holds(self, real: str) -> bool:
        """Whether a file lies there."""
        return any(real == path or real.startswith(os.path.join(path, "")) for path in self.paths)


class Said(NamedTuple):
    """The reports on open files, by their real paths, and what could not be looked at, a line each."""

    reports: Mapping[str, Report]
    errors: tuple[str, ...]


def is_source(path: str) -> bool:
    """Whether an editor may ask about a file."""
    suffix = os.path.splitext(path)[1]
    return suffix in SUFFIXES and suffix != NOTEBOOK


class Workspace:
    """`folders` are those that the editor has opened, `config` a configuration file that it names."""

    def __init__(self, folders: Iterable[str] = (), config: str | None = None) -> None:
        self.folders = [os.path.realpath(folder) for folder in folders]
        self.config = config
        self._found: dict[tuple[str, ...], analysis.Found] = {}
        self._means = Means(jobs=1, cache=Cache())  # in this process: what is parsed stays, and work can be cancelled

    def forget(self) -> None:
        """Look at the disk anew: something has changed there, or other files are open."""
        self._found = {}

    def look(self, texts: Mapping[str, bytes], *, proofs: bool = False) -> Said:
        """What there is to say about open files. `texts` are what the editor shows of them, by their real paths."""
        errors: list[str] = []
        projects: dict[tuple[object, ...], tuple[Project, list[str]]] = {}
        for real in texts:
            project = self._project_of(real)
            if isinstance(project, InputError):
                errors += str(project).splitlines()
            else:
                projects.setdefault((project.paths, project.settings.root), (project, []))[1].append(real)
        reports: dict[str, Report] = {}
        for project, opened in projects.values():
            try:
                report = self._look_at(project, opened, texts, proofs)
            except InputError:  # a folder without CUDA code, a file that cannot be read: nothing to say
                continue
            reports |= dict.fromkeys(opened, report)
        return Said(reports, tuple(dict.fromkeys(errors)))

    def _look_at(self, project: Project, opened: list[str], texts: Mapping[str, bytes], proofs: bool) -> Report:
        here = os.path.realpath(".")
        names = [named(real, here) for real in opened]
        found = self._found_in(project, {named(real, here): text for real, text in texts.items()})
        settings = replace(found.settings, certificates=proofs)
        report = Report.of(analysis.analyse(found._replace(settings=settings), self._means, names), settings)
        if report.problems:
            self.forget()  # a file is not what it was: another look may tell more
        return report

    def _found_in(self, project: Project, texts: Mapping[str, bytes]) -> analysis.Found:
        """What lies there. While somebody types, that is what lay there before, with other texts."""
        found = self._found.get(project.paths)
        if found is not None:
            fresh = {name: text for name, text in texts.items() if name in found.files}
            if all(
                analysis.says_the_same(given(name, text).facts, found.files.facts(name)) for name, text in fresh.items()
            ):
                return analysis.with_texts(found, fresh)
        paths = [os.path.relpath(path) for path in project.paths]
        self._found[project.paths] = analysis.found_at(paths, project.settings, self._means.cache, texts)
        return self._found[project.paths]

    def _project_of(self, real: str) -> Project | InputError:
        """The project of a file, or what is wrong with its configuration."""
        try:
            settings = analysis.settings_at(self.config, Path(real).parent)
        except InputError as error:
            return error
        around = [folder for folder in self.folders if real.startswith(os.path.join(folder, ""))]
        configured = os.path.realpath(settings.root) if settings.root != Path() else ""
        top = max([configured, *around], key=len)
        paths = tuple(os.path.realpath(settings.root / path) for path in settings.paths) or (top,)
        project = Project(paths, settings)
        return project if top and project.holds(real) else Project((real,), settings)
