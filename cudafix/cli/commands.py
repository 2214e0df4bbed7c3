"""The command line.

Exit codes: 0 nothing to do, or done; 1 `check` has findings, `verify` a failure; 2 the tool could not do its work, or
not all of it; 3 `verify` could not tell; 130 and 143 after Ctrl-C and SIGTERM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace as with_values
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from cudafix import __version__, interrupts
from cudafix.cli import analysis, applying, checking
from cudafix.cli.analysis import Options, fail
from cudafix.cli.help import Group
from cudafix.pipeline.cache import Cache
from cudafix.project import config, outputs
from cudafix.project.config import Config
from cudafix.project.files import ChangedError
from cudafix.report import colour
from cudafix.report.selection import Analysis
from cudafix.rewrite import edits
from cudafix.verify import options as verification

if TYPE_CHECKING:
    pass

_quiet = click.option("-q", "--quiet", is_flag=True, help="No refusals, no summary.")


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.pass_context
@click.version_option(__version__, prog_name="cudafix", message="%(prog)s %(version)s")
def cli(context: click.Context) -> None:
    """Migrate cudaMalloc/cudaFree to stream-ordered allocation, with a proof of ordering or a named refusal.

    PATHS are files and folders; without any, those of the configuration, else the current folder. Without a command,
    says what is in the current folder and what to do next.
    """
    if context.invoked_subcommand is None:
        from cudafix.cli import overview

        overview.show(sys.stdout)


@cli.command()
@analysis.options
@checking.options
@click.option("--shard", metavar="I/N", help="Prove only this part, and write the proofs for `merge`.")
@click.option("--proofs", metavar="FILE", help="Where `--shard` writes them.")
@click.option("--stdin-filename", metavar="PATH", help="Take the text of this file from standard input.")
def check(options: Options, shard: str | None, proofs: str | None, stdin_filename: str | None, **how: Any) -> None:
    """Report what can move, what is refused and why, and defects.

    Exit code: 0 nothing that fails, 1 a defect or a pair that comes and goes (`--fail-on` says otherwise), 2 the tool
    could not do its work.
    """
    if (shard is None) != (proofs is None):
        raise click.UsageError("`--shard I/N` and `--proofs FILE` go together")
    if shard is not None and options.proof_limit is not None:
        raise click.UsageError("a shard is proved as a whole: `--proof-limit` is for runs that report")
    if shard is not None and proofs is not None:
        _prove_shard(options, shard, proofs)
        return
    settings = analysis.settings_of(options)
    request = checking.Request(**how).configured(settings)
    checking.ready(request)
    texts: Mapping[str, bytes] = {}
    if stdin_filename is not None:
        options, texts = analysis.from_stdin(options, stdin_filename, writes=request.writes)
    with checking.alone(options.paths, request):
        _check(options, request, settings, texts)


def _check(options: Options, request: checking.Request, settings: Config, texts: Mapping[str, bytes]) -> NoReturn:
    done, settings = analysis.analyse(options, settings, texts)

    def analyze(files: Mapping[str, bytes]) -> Analysis:
        return analysis.look_again(files, options, settings)

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
@analysis.options
@click.option("--html", "page", metavar="FILE", type=click.Path(), help="Write a page for review instead.")
@_quiet
def diff(options: Options, page: str | None, quiet: bool) -> None:
    """Print the fixes as a unified diff, for `git apply`.

    Refusals and the summary go to standard error.

    Exit code: 0 done, 2 the tool could not do its work, or not all of it: a file cannot be read (a line for each).
    """
    if page is not None:
        from cudafix.cli import reviewing

        reviewing.place(page)  # before the proofs: nobody should wait for them to be told
    done, _ = analysis.analyse(options, with_values(analysis.settings_of(options), certificates=page is not None))
    if page is not None:
        written = reviewing.write(page, done.report, done.selection, done.sources)
        if not quiet:
            _summarize(done, "can be rewritten")  # the page shows the rest
            click.echo(f"review: {written}", err=True)
        fail(done.report.problems)
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
        _tell(done)
    if base and text:
        click.echo(f"the paths start at {base}: apply with `git -C {base} apply`", err=True)
    fail(done.report.problems)


@cli.command()
@analysis.options
@applying.options
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of what was done.")
def apply(options: Options, quiet: bool, **how: Any) -> None:
    """Write the fixes to the files, all of them or none.

    These are the same bytes as those of `diff`.

    Exit code: 0 done, 2 the tool could not do its work (nothing is written then), or not all of it: a file cannot be
    read (what is proved without it is written).
    """
    from cudafix.rewrite import writing

    request, settings = applying.Request(**how), analysis.settings_of(options)
    if request.commit is not None and (request.interactive or request.allow_dirty):
        raise click.UsageError("`--commit` goes with neither `--interactive` nor `--allow-dirty`")
    fail(applying.links(options.paths, settings))
    with writing.alone(options.paths):
        done, settings = analysis.analyse(options, with_values(settings, certificates=request.interactive))
        applied = applying.run(request, done.sources, done.selection, settings)
    if applied.problems:
        fail((*applied.problems, *done.report.problems))
    if not quiet:
        applying.tell(done, applied)
    fail(done.report.problems)


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

    sys.exit(proving.run(before, after, analysis.configuration(config_file)))


@cli.command()
def undo() -> None:
    """Give the files of the last `apply` their old bytes back.

    That is the last one in this tree; all files or none.

    Exit code: 0 done, 2 there is nothing to undo, or a file has changed since (nothing is written then).
    """
    from cudafix.rewrite import writing

    with writing.alone():
        fail(applying.undo())


@cli.command()
@analysis.options
@verification.options
def verify(options: Options, **how: Any) -> None:
    """Build and run the program before and after, on a GPU.

    The current folder is copied twice, once with the fixes for PATHS; only the commands that you give are run, in the
    copies. With folders of fixtures as PATHS and no commands, verifies those and records what was seen.

    Exit code: 0 verified, 1 the rewrite fails, 2 the tool could not do its work (also: the program fails as it is),
    3 unverified: no GPU, or output that varies by itself.
    """
    if sys.platform == "win32":  # process groups, and locks that end with their process
        raise click.ClickException("`verify` works on Linux and macOS; on Windows, use it in WSL")
    from cudafix.verify import command

    def analysed() -> tuple[Analysis, Config]:
        done, settings = analysis.analyse(options, analysis.settings_of(options))
        fail(done.report.problems)
        return done, settings

    request = verification.Request(**how)
    sys.exit(command.run(options.paths, request, analysed, options.processes))


@cli.command()
def demo() -> None:
    """Show one program, from what breaks to the proved change.

    It says what a rename breaks, what cudafix writes instead, and why that is right. Nothing is read or written in the
    current folder.
    """
    from cudafix.cli import demo as story

    story.show(sys.stdout)


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


def _names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """The pages that the shell may complete a name to."""
    from cudafix.report import pages

    return [name for name in pages.names() if name.startswith(begun)]


@cli.command()
def server() -> None:
    """Serve an editor that speaks the Language Server Protocol.

    The editor starts it, and talks to it over standard input and output. Needs `pip install 'cudafix[server]'`.
    """
    try:
        from cudafix.server import language_server
    except ModuleNotFoundError as error:
        if error.name not in ("lsprotocol", "pygls"):
            raise
        raise click.ClickException("`server` needs `pygls`: pip install 'cudafix[server]'") from None
    language_server.run()


@cli.command()
@click.argument("name", required=False, shell_complete=_names)
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


def _tell(done: Analysis) -> None:
    from cudafix.report.terminal import Terminal

    sys.stdout.flush()
    without_fix = [finding for finding in done.selection.chosen if not finding.edits]
    Terminal(sys.stderr, done.sources).headlines(without_fix, done.report.refusals)
    _summarize(done, "in the diff")


def _summarize(done: Analysis, participle: str) -> None:
    from cudafix.report.terminal import Terminal

    Terminal(sys.stderr, done.sources).summary(done.report, done.selection, participle)


def _prove_shard(options: Options, text: str, proofs: str) -> None:
    from cudafix.pipeline import driver, sharing

    try:
        shard = sharing.Shard.parse(text)
        sharing.may_write(proofs)
        found = analysis.found_for(options, analysis.settings_of(options))
        with analysis.proving(options) as (bar, executor):
            cache = options.cache()
            made = driver.prove_shard(found.files, found.settings, shard, options.processes, cache, bar, executor)
        sharing.write(proofs, shard, made)
    except sharing.ShardError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"cudafix: {len(made)} proofs of shard {shard}", err=True)


def _base(changed: Mapping[str, object]) -> str | None:
    """The folder that a diff's paths start from, None: the current one. Files outside it need a common one."""
    if not any(os.path.isabs(path) for path in changed):
        return None
    common = Path(os.path.commonpath([os.path.dirname(os.path.realpath(path)) for path in changed]))
    roots = (folder for folder in (common, *common.parents) if (folder / ".git").exists())
    return str(next(roots, common))
