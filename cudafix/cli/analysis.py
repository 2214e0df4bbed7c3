"""What the commands that analyse have in common: options, the files and their configuration, and what is found."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace as with_values
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from cudafix import codemod
from cudafix.findings import Problem, Report, Runs
from cudafix.pipeline import asked
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.sources import remembered
from cudafix.project import build, config, discovery, prefilter
from cudafix.project.config import Config
from cudafix.project.files import ChangedError, Files
from cudafix.project.paths import named
from cudafix.report import picks
from cudafix.report.selection import Analysis, select

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cudafix.report.progress import Bar

_KINDS = [kind.value for kind in Runs]


class Options(NamedTuple):
    """What the commands that analyse have in common."""

    paths: tuple[str, ...]
    only: str | None
    unsafe: bool
    config_file: str | None
    left_out: tuple[str, ...]
    jobs: int | None
    executor: str | None
    no_cache: bool
    time_limit: int | None

    @property
    def processes(self) -> int:
        return self.jobs or os.cpu_count() or 1

    def cache(self) -> Cache | None:
        return None if self.no_cache else Cache()


NONE = Options((), None, False, None, (), None, None, False)
"""What holds where the user says nothing."""


def _kind(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """What the shell may complete `--only` to: a kind, else a file."""
    kinds = [CompletionItem(kind) for kind in _KINDS if kind.startswith(begun)]
    return kinds or [CompletionItem(begun, type="file")]


def options(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        common = {name: values.pop(name) for name in Options._fields}
        command(Options(**common), **values)

    for option in (
        click.argument("paths", nargs=-1, type=click.Path()),
        click.option(
            "--only",
            metavar="churn|once|FILE",
            shell_complete=_kind,
            help="Only pairs of this kind, or the fixes of a selection.",
        ),
        click.option("--unsafe", is_flag=True, help="Also take fixes that rest on a named assumption."),
        click.option("--config", "config_file", metavar="FILE", help="Use this configuration file."),
        click.option("--except", "left_out", multiple=True, metavar="FILE:LINE", help="Leave the fix of this line."),
        click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes to use.  [default: one per core]"),
        click.option("--executor", metavar="dask:ADDRESS", help="Prove on the workers of this Dask scheduler."),
        click.option(
            "--time-limit",
            type=click.IntRange(min=1),
            metavar="SECONDS",
            help="Do without what is not proved by then; the next run goes on there.",
        ),
        click.option("--no-cache", is_flag=True, help="Do not use or keep proofs of earlier runs."),
    ):
        wrapped = option(wrapped)
    return wrapped


def analyse(options: Options, settings: Config) -> tuple[Analysis, Config]:
    """What there is to say about the files that are named, and the configuration as their build completes it."""
    selected = _selected(options)
    found, settings, unclear = found_for(options, settings)
    files = found.files
    done = look_at(files, options, settings)
    if any(r.name == "mixed_default_streams" or "the default stream may be" in r.message for r in done.report.refusals):
        for place in unclear:
            click.echo(f"cudafix: {place}: may change the default stream of files; say `default_stream`", err=True)
    done = done._replace(report=with_values(done.report, problems=(*found.folders, *done.report.problems)))
    left_out = _places(options.left_out, files, done.report)
    picked = picks.picked(selected, done.report, files) if selected is not None else None
    if left_out or picked is not None:
        selection = select(done.report, settings, left_out, done.selection.guarded, picked)
        done = done._replace(selection=selection)
    return done, settings


def found_for(options: Options, settings: Config) -> tuple[discovery.Sources, Config, Sequence[str]]:
    """The files, the configuration with what their build says, and the places of it that do not say it plainly."""
    inputs = inputs_of(options, settings)
    found = remembered(inputs, settings, options.cache())
    unread = found.files.unread()
    if len(unread) == len(found.files):
        fail((*found.problems, *found.folders, *unread))  # there is nothing to look at
    fail(found.problems)
    _collect_garbage_less_often()
    settings = with_values(settings, context=found.context)
    if settings.pool_setup is not None:
        settings = with_values(settings, pool_setup=_header(settings.pool_setup, found.files))
    return found, *as_built(found.files, settings, inputs)


def _header(path: str, files: Files) -> str:
    """The header that sets up pools, as the files name it."""
    from cudafix import models
    from cudafix.pipeline.shared_set_up import functions_of
    from cudafix.pipeline.tree import Tree

    name = named(os.path.realpath(path), os.path.realpath("."))
    if name not in files:
        raise click.ClickException(f"{name}: is `pool_setup`, and not in the paths")
    if not functions_of(Tree(files), name, models.load(())):
        text = "is `pool_setup`, and has no function that only sets up the pool: see `explain pool_release_threshold`"
        raise click.ClickException(f"{name}: {text}")
    return name


def inputs_of(options: Options, settings: Config) -> Sequence[str]:
    """The files and folders to work on."""
    return options.paths or [os.path.relpath(settings.root / path) for path in settings.paths] or ["."]


def look_at(texts: Mapping[str, bytes], options: Options, settings: Config) -> Analysis:
    files = Files.of(texts)
    report = None
    while report is None:
        try:
            report = _report(files, options, settings)
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
    if cache is None:
        return None
    key = asked.of_files("run", settings, files, files, settings.certificates)
    return cache.reports([key]).get(key)


def _report(files: Files, options: Options, settings: Config) -> Report:
    """What is found; that of an earlier run if nothing has changed since, without the parsers and the engine."""
    cache = options.cache()
    key = asked.of_files("run", settings, files, files, settings.certificates)
    known = cache.reports([key]) if cache is not None else {}
    if key not in known:
        from cudafix.pipeline import driver

        with proving(options) as (bar, executor):
            report = driver.analyze(files, settings, options.processes, cache, bar, executor, options.time_limit)
        known = {key: report}
        if cache is not None and not known[key].problems:
            cache.put_entries(known)
    if files.unread():
        from cudafix.project import failures

        return failures.of_unread(files, known[key])
    return known[key]


@contextmanager
def proving(options: Options) -> Iterator[tuple[Bar, Executor | None]]:
    """Who is told how far the proofs are, and who makes them if not this machine."""
    from cudafix.pipeline import executors
    from cudafix.report.progress import Bar

    try:
        with executors.opened(options.executor) as executor, Bar() as bar:
            yield bar, executor
    except executors.ExecutorError as error:
        raise click.ClickException(str(error)) from None


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
        include_folders=folders,
        mentioned_folders=build.mentioned_folders(files, settings, inputs),
        constants=build.constants(files, settings, inputs),
    )
    arrays = [path for path in known if known.facts(path).arrays]
    if arrays:
        from cudafix.project import requirements

        settings = with_values(settings, rmm=requirements.with_rmm(arrays, settings))
    return settings, streams.unclear


def _selected(options: Options) -> picks.Picks | None:
    """The selection file that `--only` names."""
    if options.only is None or options.only in _KINDS:
        return None
    if not os.path.lexists(options.only):
        raise click.BadParameter(f"`{options.only}` is neither {' nor '.join(_KINDS)} nor a file", param_hint="--only")
    return picks.read(options.only)


def _places(names: Sequence[str], sources: Mapping[str, bytes], report: Report) -> frozenset[tuple[str, int]]:
    """The findings that `FILE:LINE` names, as path and offset."""
    found: dict[str, set[tuple[str, int]]] = {}
    for finding in report.findings if names else ():
        line = sources[finding.path].count(b"\n", 0, finding.offset) + 1
        found.setdefault(f"{finding.path}:{line}", set()).add((finding.path, finding.offset))
    for name in names:
        if name not in found:
            raise click.BadParameter(f"no fix at `{name}`", param_hint="--except")
    return frozenset(place for name in names for place in found[name])


def _collect_garbage_less_often() -> None:
    """Nearly all that an analysis makes lives until its end; looking for garbage in it takes a tenth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def configuration(file: str | None) -> Config:
    """The configuration that is named, or found from the current folder upward."""
    try:
        path = Path(file) if file is not None else config.find(Path.cwd())
        return config.load(path, codemod.names()) if path is not None else Config()
    except config.ConfigError as error:
        raise click.ClickException(str(error)) from None


def settings_of(options: Options) -> Config:
    settings = configuration(options.config_file)
    return with_values(settings, only=Runs(options.only) if options.only in _KINDS else None, unsafe=options.unsafe)


def fail(problems: Sequence[Problem]) -> None:
    """Exit with code 2 if there are problems, one line each."""
    if problems:
        from cudafix.report.terminal import tell

        tell(problems)
        sys.exit(2)
