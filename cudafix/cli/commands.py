"""The command line.

Exit codes: 0 nothing to do, or done; 1 `check` has findings, `verify` a failure; 2 the tool could not do its work, or
not all of it; 3 `verify` could not tell; 130 and 143 after Ctrl-C and SIGTERM.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace as with_values
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from cudafix import __version__, codemod, interrupts
from cudafix.cli import applying, checking
from cudafix.findings import Problem, Report, Runs
from cudafix.pipeline import asked
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.sources import remembered
from cudafix.project import build, config, discovery, outputs, prefilter
from cudafix.project.config import Config
from cudafix.project.files import ChangedError, Files
from cudafix.project.paths import named
from cudafix.report import colour, picks
from cudafix.report.selection import Analysis, select
from cudafix.rewrite import edits
from cudafix.verify import options as verification

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cudafix.report.progress import Bar

_KINDS = [kind.value for kind in Runs]


class _Options(NamedTuple):
    """What the commands that analyse have in common."""

    paths: tuple[str, ...]
    only: str | None
    unsafe: bool
    config_file: str | None
    left_out: tuple[str, ...]
    jobs: int | None
    executor: str | None
    no_cache: bool

    @property
    def processes(self) -> int:
        return self.jobs or os.cpu_count() or 1

    def cache(self) -> Cache | None:
        return None if self.no_cache else Cache()


def _analysis_options(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        common = {name: values.pop(name) for name in _Options._fields}
        command(_Options(**common), **values)

    for option in (
        click.argument("paths", nargs=-1, type=click.Path()),
        click.option("--only", metavar="churn|once|FILE", help="Only pairs of this kind, or the fixes of a selection."),
        click.option("--unsafe", is_flag=True, help="Also take fixes that rest on a named assumption."),
        click.option("--config", "config_file", metavar="FILE", help="Use this configuration file."),
        click.option("--except", "left_out", multiple=True, metavar="FILE:LINE", help="Leave the fix of this line."),
        click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes to use.  [default: one per core]"),
        click.option("--executor", metavar="dask:ADDRESS", help="Prove on the workers of this Dask scheduler."),
        click.option("--no-cache", is_flag=True, help="Do not use or keep proofs of earlier runs."),
    ):
        wrapped = option(wrapped)
    return wrapped


_quiet = click.option("-q", "--quiet", is_flag=True, help="No refusals, no summary.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cudafix", message="%(prog)s %(version)s")
def cli() -> None:
    """Migrate cudaMalloc/cudaFree to stream-ordered allocation, with a proof of ordering or a named refusal.

    PATHS are files and folders; without any, those of the configuration, else the current folder.
    """


@cli.command()
@_analysis_options
@checking.options
@click.option("--shard", metavar="I/N", help="Prove only this part, and write the proofs for `merge`.")
@click.option("--proofs", metavar="FILE", help="Where `--shard` writes them.")
def check(options: _Options, shard: str | None, proofs: str | None, **how: Any) -> None:
    """Report what can move, what is refused and why, and defects.

    Exit code: 0 nothing to do, 1 findings (refusals alone are none), 2 the tool could not do its work.
    """
    if (shard is None) != (proofs is None):
        raise click.UsageError("`--shard I/N` and `--proofs FILE` go together")
    if shard is not None and proofs is not None:
        _prove_shard(options, shard, proofs)
        return
    settings = _settings(options)
    request = checking.Request(**how).configured(settings)
    checking.ready(request)
    with checking.alone(options.paths, request):
        _check(options, request, settings)


def _check(options: _Options, request: checking.Request, settings: Config) -> NoReturn:
    done, settings = _analyse(options, settings)

    def analyze(files: Mapping[str, bytes]) -> Analysis:
        return _look_at(files, options, _as_built(files, settings, _inputs(options, settings))[0])

    sys.exit(checking.run(done, request, analyze))


@cli.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
def merge(files: tuple[str, ...]) -> None:
    """Take over the proofs that `check --shard` has written.

    A command on the same files that follows here does not make them again.

    Exit code: 0 done, 2 a file cannot be used (nothing is taken then).
    """
    from cudafix.pipeline import sharing

    try:
        click.echo(f"cudafix: {sharing.merge(files, Cache())}", err=True)
    except sharing.ShardError as error:
        raise click.ClickException(str(error)) from None


@cli.command()
@_analysis_options
@click.option("--html", "page", metavar="FILE", type=click.Path(), help="Write a page for review instead.")
@_quiet
def diff(options: _Options, page: str | None, quiet: bool) -> None:
    """Print the fixes as a unified diff, for `git apply`.

    Refusals and the summary go to standard error.

    Exit code: 0 done, 2 the tool could not do its work, or not all of it: a file cannot be read (a line for each).
    """
    if page is not None:
        from cudafix.cli import reviewing

        reviewing.place(page)  # before the proofs: nobody should wait for them to be told
    done, _ = _analyse(options, with_values(_settings(options), certificates=page is not None))
    if page is not None:
        written = reviewing.write(page, done.report, done.selection, done.sources)
        if not quiet:
            _summarize(done, "can be rewritten")  # the page shows the rest
            click.echo(f"review: {written}", err=True)
        _fail(done.report.problems)
        return
    changed = done.selection.edits()
    base = _base(changed)
    text = b"".join(
        edits.diff(os.path.relpath(path, base) if base else path, done.sources.get(path), changes)
        for path, changes in changed.items()
    )
    sys.stdout.flush()
    sys.stdout.buffer.write(colour.diff(text) if colour.wanted() else text)
    sys.stdout.buffer.flush()
    if not quiet:
        _tell(done, "in the diff")
    if base and text:
        click.echo(f"the paths start at {base}: apply with `git -C {base} apply`", err=True)
    _fail(done.report.problems)


@cli.command()
@_analysis_options
@applying.options
@_quiet
def apply(options: _Options, quiet: bool, **how: Any) -> None:
    """Write the fixes to the files, all of them or none.

    These are the same bytes as those of `diff`.

    Exit code: 0 done, 2 the tool could not do its work (nothing is written then), or not all of it: a file cannot be
    read (what is proved without it is written).
    """
    from cudafix.rewrite import writing

    request, settings = applying.Request(**how), _settings(options)
    _fail(applying.links(options.paths, settings))
    with writing.alone(options.paths):
        done, settings = _analyse(options, with_values(settings, certificates=request.interactive))
        taken, problems = applying.run(request, done.sources, done.selection, settings)
    if problems:
        _fail((*problems, *done.report.problems))
    if not quiet:
        _tell(done._replace(selection=taken), "rewritten")
        if count := len(taken.edits()):
            click.echo(f"{count} {'file' if count == 1 else 'files'} written; `cudafix undo` takes it back", err=True)
    _fail(done.report.problems)


@cli.command()
@click.argument("before", type=click.Path())
@click.argument("after", type=click.Path())
@click.option("--config", "config_file", metavar="FILE", help="Use this configuration file.")
def prove(before: str, after: str, config_file: str | None) -> None:
    """Prove that a migration by hand keeps every order.

    BEFORE and AFTER are two folders, or two files, with the same program.

    Exit code: 0 proved, 1 not proved (each reason is a line), 2 the tool could not do its work.
    """
    from cudafix.cli import proving

    sys.exit(proving.run(before, after, _configuration(config_file)))


@cli.command()
def undo() -> None:
    """Give the files of the last `apply` their old bytes back.

    That is the last one in this tree; all files or none.

    Exit code: 0 done, 2 there is nothing to undo, or a file has changed since (nothing is written then).
    """
    from cudafix.rewrite import writing

    with writing.alone():
        _fail(applying.undo())


@cli.command()
@_analysis_options
@verification.options
def verify(options: _Options, **how: Any) -> None:
    """Build and run the program before and after, on a GPU.

    The current folder is copied twice, once with the fixes for PATHS; only the commands that you give are run, in the
    copies. With folders of fixtures as PATHS and no commands, verifies those and records what was seen.

    Exit code: 0 verified, 1 the rewrite fails, 2 the tool could not do its work (also: the program fails as it is),
    3 unverified: no GPU, or output that varies by itself.
    """
    from cudafix.verify import command

    def analysis() -> tuple[Analysis, Config]:
        done, settings = _analyse(options, _settings(options))
        _fail(done.report.problems)
        return done, settings

    request = verification.Request(**how)
    sys.exit(command.run(options.paths, request, analysis, options.processes))


@cli.command()
def init() -> None:
    """Write a commented `cudafix.toml` from what the folder holds."""
    from cudafix.cli import initialize

    try:
        known = config.find(Path.cwd())
        if known is not None and known.parent == Path.cwd():
            raise click.ClickException(f"{known.name}: has a configuration already")
        text = initialize.propose(".")
        outputs.make(initialize.FILE, text)
    except outputs.OutputError as error:
        raise click.ClickException(str(error)) from None
    except config.ConfigError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{initialize.FILE}: cannot be written: {error.strerror}") from None
    click.echo(f"cudafix: wrote {initialize.FILE}", err=True)


@cli.command()
@click.argument("name", required=False)
def explain(name: str | None) -> None:
    """Print the page of a codemod or a refusal.

    Without NAME, list them all.
    """
    from cudafix.report import pages

    try:
        pages.show(name, sys.stdout)
    except pages.NoSuchPageError as error:
        raise click.ClickException(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """The `cudafix` command. Always exits."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # source text must not be able to stop a report in a narrow locale
            stream.reconfigure(errors="backslashreplace")
    output = sys.stdout
    try:
        try:
            code = cli.main(arguments, prog_name="cudafix", standalone_mode=False)
        except SystemExit as left:
            if sys.stdout is not output:  # how click takes an output that nobody reads
                raise BrokenPipeError from None
            code = left.code
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "flush"):
                stream.flush()
        sys.exit(code)
    except click.UsageError as error:
        error.show()
    except ChangedError as error:
        click.echo(f"cudafix: {error}", err=True)
    except click.ClickException as error:
        click.echo(f"cudafix: {error.format_message()}", err=True)
    except (click.Abort, KeyboardInterrupt):
        click.echo("cudafix: interrupted", err=True)
        sys.exit(interrupts.code())
    except BrokenPipeError:  # nobody reads any more
        _give_up_output()
    except OSError as error:  # what is expected of files is caught where they are read and written
        click.echo(f"cudafix: {error.filename or 'the output'}: {error.strerror or error}", err=True)
        _give_up_output()
    except MemoryError:
        click.echo("cudafix: out of memory; nothing was written", err=True)
    except Exception:  # a defect in cudafix must not look like exit code 1, "findings"
        import traceback

        traceback.print_exc()
        click.echo("cudafix: internal error; nothing was written", err=True)
    sys.exit(2)


def _give_up_output() -> None:
    """What is still to be written to standard output has no place: Python must not try again at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _analyse(options: _Options, settings: Config) -> tuple[Analysis, Config]:
    """What there is to say about the files that are named, and the configuration as their build completes it."""
    selected = _selected(options)
    found, settings, unclear = _found(options, settings)
    files = found.files
    done = _look_at(files, options, settings)
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


def _found(options: _Options, settings: Config) -> tuple[discovery.Sources, Config, Sequence[str]]:
    """The files, the configuration with what their build says, and the places of it that do not say it plainly."""
    inputs = _inputs(options, settings)
    found = remembered(inputs, settings, options.cache())
    unread = found.files.unread()
    if len(unread) == len(found.files):
        _fail((*found.problems, *found.folders, *unread))  # there is nothing to look at
    _fail(found.problems)
    _collect_garbage_less_often()
    settings = with_values(settings, context=found.context)
    if settings.pool_setup is not None:
        settings = with_values(settings, pool_setup=_header(settings.pool_setup, found.files))
    return found, *_as_built(found.files, settings, inputs)


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


def _inputs(options: _Options, settings: Config) -> Sequence[str]:
    """The files and folders to work on."""
    return options.paths or [os.path.relpath(settings.root / path) for path in settings.paths] or ["."]


def _look_at(texts: Mapping[str, bytes], options: _Options, settings: Config) -> Analysis:
    files = Files.of(texts)
    report = None
    while report is None:
        try:
            report = _report(files, options, settings)
        except ChangedError as error:  # noqa: PERF203 of that file nothing is known; the others are looked at without it
            if error.problem.path not in files or files.facts(error.problem.path).unread:
                raise
            files = files.without(error.problem)
    guarded = files if settings.is_too_old and settings.guard else None
    if not settings.ignored and not any(files.facts(path).suppresses for path in files):
        return Analysis(files, report, select(report, settings, guarded=guarded))
    from cudafix.report import suppressions

    judged = suppressions.judge(files, report, settings)
    selection = select(judged.report, settings, guarded=guarded)
    return Analysis(files, judged.report, selection, judged.removals, judged.idle)


def _report(files: Files, options: _Options, settings: Config) -> Report:
    """What is found; that of an earlier run if nothing has changed since, without the parsers and the engine."""
    cache = options.cache()
    key = asked.of_files("run", settings, files, files, settings.certificates)
    known = cache.reports([key]) if cache is not None else {}
    if key not in known:
        from cudafix.pipeline import driver

        with _proving(options) as (bar, executor):
            known = {key: driver.analyze(files, settings, options.processes, cache, bar, executor)}
        if cache is not None and not known[key].problems:
            cache.put_entries(known)
    if files.unread():
        from cudafix.project import failures

        return failures.of_unread(files, known[key])
    return known[key]


def _prove_shard(options: _Options, text: str, proofs: str) -> None:
    from cudafix.pipeline import driver, sharing

    try:
        shard = sharing.Shard.parse(text)
        sharing.may_write(proofs)
        found, settings, _ = _found(options, _settings(options))
        with _proving(options) as (bar, executor):
            made = driver.prove_shard(found.files, settings, shard, options.processes, options.cache(), bar, executor)
        sharing.write(proofs, shard, made)
    except sharing.ShardError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"cudafix: {len(made)} proofs of shard {shard}", err=True)


@contextmanager
def _proving(options: _Options) -> Iterator[tuple[Bar, Executor | None]]:
    """Who is told how far the proofs are, and who makes them if not this machine."""
    from cudafix.pipeline import executors
    from cudafix.report.progress import Bar

    try:
        with executors.opened(options.executor) as executor, Bar() as bar:
            yield bar, executor
    except executors.ExecutorError as error:
        raise click.ClickException(str(error)) from None


def _as_built(files: Mapping[str, bytes], settings: Config, inputs: Sequence[str]) -> tuple[Config, Sequence[str]]:
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
        include_folders=folders,
        constants=build.constants(files, settings, inputs),
    )
    arrays = [path for path in known if known.facts(path).arrays]
    if arrays:
        from cudafix.project import requirements

        settings = with_values(settings, rmm=requirements.with_rmm(arrays, settings))
    return settings, streams.unclear


def _selected(options: _Options) -> picks.Picks | None:
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


def _configuration(file: str | None) -> Config:
    """The configuration that is named, or found from the current folder upward."""
    try:
        path = Path(file) if file is not None else config.find(Path.cwd())
        return config.load(path, codemod.names()) if path is not None else Config()
    except config.ConfigError as error:
        raise click.ClickException(str(error)) from None


def _settings(options: _Options) -> Config:
    settings = _configuration(options.config_file)
    return with_values(settings, only=Runs(options.only) if options.only in _KINDS else None, unsafe=options.unsafe)


def _fail(problems: Sequence[Problem]) -> None:
    """Exit with code 2 if there are problems, one line each."""
    if problems:
        from cudafix.report.terminal import tell

        tell(problems)
        sys.exit(2)


def _tell(done: Analysis, participle: str) -> None:
    from cudafix.report.terminal import Terminal

    sys.stdout.flush()
    without_fix = [finding for finding in done.selection.chosen if not finding.edits]
    Terminal(sys.stderr, done.sources).headlines(without_fix, done.report.refusals)
    _summarize(done, participle)


def _summarize(done: Analysis, participle: str) -> None:
    from cudafix.report.terminal import Terminal

    Terminal(sys.stderr, done.sources).summary(done.report, done.selection, participle)


def _base(changed: Mapping[str, object]) -> str | None:
    """The folder that a diff's paths start from, None: the current one. Files outside it need a common one."""
    if not any(os.path.isabs(path) for path in changed):
        return None
    common = Path(os.path.commonpath([os.path.dirname(os.path.realpath(path)) for path in changed]))
    roots = (folder for folder in (common, *common.parents) if (folder / ".git").exists())
    return str(next(roots, common))
