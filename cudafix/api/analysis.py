"""From paths to what there is to say about them: what the commands, the language server and `cudafix.check` share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace as with_values
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cudafix import codemod
from cudafix.findings import Problem, Report
from cudafix.pipeline import asked
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.sources import remembered
from cudafix.project import build, config, discovery, prefilter, requirements
from cudafix.project.config import Config, Wrappers
from cudafix.project.files import ChangedError, Facts, Files
from cudafix.project.paths import named
from cudafix.project.replaced import replaced
from cudafix.report.selection import Analysis, select

if TYPE_CHECKING:
    from concurrent.futures import Executor


class InputError(Exception):
    """There is nothing to look at, or it cannot be looked at as it is asked for: one line for each problem."""

    def __init__(self, *lines: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__("\n".join((*lines, *(f"{each.path}: {each.message}" for each in problems))))
        self.problems = tuple(problems)


Proving: TypeAlias = AbstractContextManager[tuple[Callable[[int, int], None], "Executor | None"]]
"""Who is told how far the proofs are, and who makes them if not this machine, while they are made."""


class Means(NamedTuple):
    """How proofs are made, which does not matter for the result: on how many processes of this machine; where those of
    earlier runs are kept, None: nowhere; what is asked for where one has to be made; and for how many seconds (None: as
    long as it takes).
    """

    jobs: int = 1
    cache: Cache | None = None
    proving: Callable[[], Proving] = lambda: nullcontext((lambda _, __: None, None))
    seconds: float | None = None


class Found(NamedTuple):
    """The files, the configuration with what their build says, and the places of it that do not say it plainly."""

    sources: discovery.Sources
    settings: Config
    unclear: Sequence[str]

    @property
    def files(self) -> Files:
        return self.sources.files


def settings_at(file: str | os.PathLike[str] | None = None, start: Path | None = None) -> Config:
    """The configuration in a file, or else the one that governs a folder (the current one). Raises `InputError`."""
    try:
        path = Path(file) if file is not None else config.find(start or Path.cwd())
        return config.load(path, codemod.names()) if path is not None else Config()
    except config.ConfigError as error:
        raise InputError(str(error)) from None


def inputs_of(paths: Sequence[str], settings: Config) -> Sequence[str]:
    """The files and folders to work on: those that are named, else those of the configuration, else this folder."""
    return paths or [os.path.relpath(settings.root / path) for path in settings.paths] or ["."]


def found_at(
    paths: Sequence[str], settings: Config, cache: Cache | None = None, texts: Mapping[str, bytes] = {}
) -> Found:
    """What lies at the paths now. `texts`, by the names of files, stand in place of what the disk has of these. Raises
    `InputError`.
    """
    build.forget()
    requirements.forget()
    inputs = inputs_of(paths, settings)
    found = remembered(inputs, settings, cache, texts)
    unread = found.files.unread()
    if len(unread) == len(found.files):  # there is nothing to look at
        problems = (*found.problems, *found.folders, *unread)
        if problems:
            raise InputError(problems=problems)
    if found.problems:
        raise InputError(problems=found.problems)
    settings = with_values(settings, context=found.context)
    if settings.pool_setup is not None:
        settings = with_values(settings, pool_setup=_header(settings.pool_setup, found.files))
    if settings.wrappers is not None:
        _check(settings.wrappers, settings, found.files, any(map(os.path.isdir, inputs)))
    return Found(found, *as_built(found.files, settings, inputs))


def _check(asked: Wrappers, settings: Config, files: Files, whole: bool) -> None:
    """That the wrappers which the configuration names are known to be such. If these are some files, and not a `whole`
    folder, they may be defined elsewhere.
    """
    from cudafix.rewrite import wrappers

    texts = {path: data for path, data in files.items() if not path.endswith(prefilter.SUFFIX)}
    declared = [wrappers.declared_in(text) for text in texts.values() if wrappers.may_declare(text)]
    known = {function.name: function for each in declared for function in each.functions}
    if not whole and known.keys().isdisjoint(asked):
        return
    for name, api in zip(asked, ("cudaMallocAsync", "cudaFreeAsync"), strict=True):
        if name not in known or known[name].stands_for != api:
            text = f"`wrappers`: no `{name}` in the paths is known to be `{api}`: see `explain stream_ordered_pairs`"
            raise InputError(text)
        if settings.pools == "fallback" and not known[name].asks:
            raise InputError(f'`wrappers`: `{name}` does not do without memory pools, and `pools` is `"fallback"`')
    if len({(known[name].asks, known[name].answers) for name in asked}) > 1:
        raise InputError(
            f"`wrappers`: `{asked.malloc}` and `{asked.free}` do not ask the same function for memory pools"
        )


def _header(path: str, files: Files) -> str:
    """The header that sets up pools, as the files name it."""
    from cudafix import models
    from cudafix.pipeline.shared_set_up import functions_of
    from cudafix.pipeline.tree import Tree

    name = named(os.path.realpath(path), os.path.realpath("."))
    if name not in files:
        raise InputError(f"{name}: is `pool_setup`, and not in the paths")
    if not functions_of(Tree(files), name, models.load(())):
        text = "is `pool_setup`, and has no function that only sets up the pool: see `explain pool_release_threshold`"
        raise InputError(f"{name}: {text}")
    return name


def as_built(files: Mapping[str, bytes], settings: Config, inputs: Sequence[str]) -> tuple[Config, Sequence[str]]:
    """The configuration with what build files and requirements say, and the places of the former that may change the
    default stream and do not say it plainly.
    """
    known = Files.of(files)
    facts = ((path, known.facts(path)) for path in known)
    asked = [path for path, said in facts if not path.endswith(prefilter.SUFFIX) or said.allocates or said.arrays]
    streams = build.default_streams(asked, settings, inputs)
    folders = build.include_folders(files, settings, inputs)
    settings = with_values(
        settings,
        per_thread=streams.per_thread,
        perhaps_per_thread=streams.perhaps,
        unbuilt=streams.unbuilt,
        partly_built=streams.partly_built,
        to_be_chosen=streams.to_be_chosen,
        include_folders=folders,
        mentioned_folders=build.mentioned_folders(files, settings, inputs),
        replaced=replaced(known, dict(folders), lambda those: build.folders_for_headers(those, settings, inputs)),
        constants=build.constants(files, settings, inputs),
    )
    arrays = [path for path in known if known.facts(path).arrays]
    if arrays:
        settings = with_values(settings, rmm=requirements.with_rmm(arrays, settings))
    return settings, streams.unclear


def look_at(texts: Mapping[str, bytes], settings: Config, means: Means, focus: Iterable[str] | None = None) -> Analysis:
    """What there is to say about these texts; with a `focus`, as `driver.analyze`. Raises `ExecutorError`."""
    files = Files.of(texts)
    near = sorted(set(focus)) if focus is not None else None
    report = None
    while report is None:
        try:
            report = _report(files, settings, means, near)
        except ChangedError as error:  # noqa: PERF203 of that file nothing is known; the others are looked at without it
            if error.problem.path not in files or files.facts(error.problem.path).unread:
                raise
            files = files.without(error.problem)
    return selected(files, report, settings)


def selected(files: Files, report: Report, settings: Config) -> Analysis:
    """What of a report the configuration and the comments of the files want."""
    guarded = files if settings.is_too_old and settings.guard else None
    if not settings.ignored and not any(files.facts(path).suppresses for path in files):
        return Analysis(files, report, select(report, settings, guarded=guarded))
    from cudafix.report import suppressions

    judged = suppressions.judge(files, report, settings)
    selection = select(judged.report, settings, guarded=guarded)
    return Analysis(files, judged.report, selection, judged.removals, judged.idle)


def known(files: Files, settings: Config, cache: Cache | None) -> Report | None:
    """What an earlier run has found in these files; None where nothing is kept, or something has changed since."""
    return _kept(_key(files, settings), cache)


def _key(files: Files, settings: Config, focus: Collection[str] | None = None) -> bytes:
    more = settings.certificates if focus is None else (settings.certificates, focus)
    return asked.of_files("run", settings, files, files, more)


def _kept(key: bytes, cache: Cache | None) -> Report | None:
    return cache.reports([key]).get(key) if cache is not None else None


def _report(files: Files, settings: Config, means: Means, focus: Collection[str] | None) -> Report:
    """What is found; that of an earlier run if nothing has changed since, without the parsers and the engine."""
    key = _key(files, settings, focus)
    report = _kept(key, means.cache)
    if report is None:
        from cudafix.pipeline import driver

        with means.proving() as (progress, executor):
            report = driver.analyze(files, settings, means.jobs, means.cache, progress, executor, means.seconds, focus)
        if means.cache is not None and not report.problems:
            means.cache.put_entries({key: report})
    if files.unread():
        from cudafix.project import failures

        return failures.of_unread(files, report)
    return report


def with_texts(found: Found, texts: Mapping[str, bytes]) -> Found:
    """The same files and their build, some of them with other texts, which change neither (`says_the_same`)."""
    return found._replace(sources=with_values(found.sources, files=found.files.replaced(texts)))


def says_the_same(one: Facts, other: Facts) -> bool:
    """Whether two texts of a file lead to the same files and the same build: the places in them do not matter."""
    targets = [[target for _, target in facts.includes] for facts in (one, other)]
    return targets[0] == targets[1] and one._replace(includes=(), suppresses=False) == other._replace(
        includes=(), suppresses=False
    )


def analyse(found: Found, means: Means, focus: Iterable[str] | None = None) -> Analysis:
    """What there is to say about what was found, with what could not be read. Raises `ExecutorError`."""
    done = look_at(found.files, found.settings, means, focus)
    problems = (*found.sources.folders, *done.report.problems)
    return done._replace(report=with_values(done.report, problems=problems))
