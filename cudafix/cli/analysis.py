"""What the commands that analyse have in common: options, the files and their configuration, and what is found."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace as with_values
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from cudafix.api import analysis
from cudafix.api.analysis import InputError
from cudafix.findings import Problem, Report, Runs
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.project.paths import SUFFIXES, named
from cudafix.report import picks
from cudafix.report.selection import Analysis, select

if TYPE_CHECKING:
    from concurrent.futures import Executor


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
    proof_limit: int | None

    @property
    def processes(self) -> int:
        return self.jobs or os.cpu_count() or 1

    def cache(self) -> Cache | None:
        return None if self.no_cache else Cache()


NONE = Options((), None, False, None, (), None, None, False, None)
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
            "--proof-limit",
            type=click.IntRange(min=1),
            metavar="SECONDS",
            help="Do without what is not proved by then; the next run goes on there.",
        ),
        click.option("--no-cache", is_flag=True, help="Do not use or keep proofs of earlier runs."),
    ):
        wrapped = option(wrapped)
    return wrapped


def analyse(options: Options, settings: Config, texts: Mapping[str, bytes] = {}) -> tuple[Analysis, Config]:
    """What there is to say about the files that are named, and the configuration as their build completes it."""
    selected = _selected(options)
    found = found_for(options, settings, texts)
    _collect_garbage_less_often()
    done = analysis.analyse(found, means_of(options))
    if any(r.name == "mixed_default_streams" or "the default stream may be" in r.message for r in done.report.refusals):
        for place in found.unclear:
            click.echo(f"cudafix: {place}: may change the default stream of files; say `default_stream`", err=True)
    left_out = _places(options.left_out, found.files, done.report)
    picked = picks.picked(selected, done.report, found.files) if selected is not None else None
    if left_out or picked is not None:
        selection = select(done.report, found.settings, left_out, done.selection.guarded, picked)
        done = done._replace(selection=selection)
    return done, found.settings


def found_for(options: Options, settings: Config, texts: Mapping[str, bytes] = {}) -> analysis.Found:
    """The files and their build. Ends the command where there is nothing to look at."""
    try:
        return analysis.found_at(options.paths, settings, options.cache(), texts)
    except InputError as error:
        fail(error.problems)
        raise click.ClickException(str(error)) from None


def from_stdin(options: Options, name: str, *, writes: bool) -> tuple[Options, dict[str, bytes]]:
    """The options with this file among the paths where none is given, and its text, which comes from standard input.
    Raises `click.UsageError`.
    """
    if os.path.splitext(name)[1] not in SUFFIXES:
        raise click.UsageError(f"`--stdin-filename`: {name}: not a CUDA source ({' '.join(sorted(SUFFIXES))})")
    if writes:
        raise click.UsageError("`--stdin-filename` only reports: the text is not that of the file")
    text = sys.stdin.buffer.read()
    own = named(os.path.realpath(name), os.path.realpath("."))
    return options if options.paths else options._replace(paths=(name,)), {own: text}


def look_again(files: Mapping[str, bytes], options: Options, settings: Config) -> Analysis:
    """What there is to say about other texts of the files."""
    built, _ = analysis.as_built(files, settings, analysis.inputs_of(options.paths, settings))
    return analysis.look_at(files, built, means_of(options))


def means_of(options: Options) -> analysis.Means:
    """How the proofs are made."""
    return analysis.Means(options.processes, options.cache(), functools.partial(proving, options), options.proof_limit)


@contextmanager
def proving(options: Options) -> Iterator[tuple[Callable[[int, int], None], Executor | None]]:
    """Who is told how far the proofs are, and who makes them if not this machine."""
    from cudafix.pipeline import executors
    from cudafix.report.progress import Bar

    try:
        with executors.opened(options.executor) as executor, Bar() as bar:
            yield bar, executor
    except executors.ExecutorError as error:
        raise click.ClickException(str(error)) from None


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
        return analysis.settings_at(file)
    except InputError as error:
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
