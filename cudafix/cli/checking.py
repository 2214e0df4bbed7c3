"""`cudafix check`: what of a report counts, what is shown of it and how, and what makes the command fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import click

from cudafix.findings import Finding, Problem, Refusal, Safety
from cudafix.project.config import FAIL_ON, Config
from cudafix.report.listing import Shown, fails
from cudafix.report.selection import Analysis
from cudafix.rewrite import edits

FORMATS = ("text", "concise", "json", "sarif", "github", "github-review", "gitlab", "gitlab-review", "junit")
_FORMAT = f"How to write the report: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.  [default: text]"


@dataclass(frozen=True)
class Request:
    """The options of `check`."""

    format: str
    quiet: bool
    baseline: str | None
    update_baseline: bool
    prune_baseline: bool
    since: str | None
    fix_suppressions: bool
    statistics: bool
    fail_on: frozenset[str] | None

    @property
    def writes(self) -> bool:
        """Whether a file of the tree is written."""
        return self.update_baseline or self.prune_baseline or self.fix_suppressions

    def configured(self, config: Config) -> Request:
        """With the baseline of the configuration, and with what it fails on, where the command line names none."""
        baseline = self.baseline
        if baseline is None and config.baseline is not None:
            baseline = os.path.relpath(config.root / config.baseline)
        return replace(self, baseline=baseline, fail_on=config.fail_on if self.fail_on is None else self.fail_on)

    @property
    def counted(self) -> frozenset[str]:
        """What makes the command fail."""
        return Config.fail_on if self.fail_on is None else self.fail_on


_FAIL_ON = "Of defects, churn, once and refusals, with commas; or `none`.  [default: defects,churn]"


def _kinds(context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str] | None:
    """The kinds of results that `--fail-on` names; None where it is not given."""
    if value is None:
        return None
    kinds = [] if value.strip() == "none" else [kind.strip() for kind in value.split(",")]
    for kind in kinds:
        if kind not in FAIL_ON:
            raise click.BadParameter(f"`{kind}` is none of {', '.join(FAIL_ON)} and `none`")
    return frozenset(kinds)


def _begun(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """What the shell may complete the last of the kinds to."""
    front, comma, last = begun.rpartition(",")
    return [f"{front}{comma}{kind}" for kind in (*FAIL_ON, "none") if kind.startswith(last)]


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a `Request`."""
    for option in (
        click.option("--format", type=click.Choice(FORMATS), default="text", metavar="FORMAT", help=_FORMAT),
        click.option("-q", "--quiet", is_flag=True, help="Only what makes the command fail: no refusals, no summary."),
        click.option("--baseline", metavar="FILE", help="Findings that are listed in this file pass."),
        click.option("--update-baseline", is_flag=True, help="Make the baseline what is found now."),
        click.option("--prune-baseline", is_flag=True, help="Take out of the baseline what is fixed."),
        click.option("--fix-suppressions", is_flag=True, help="Take out suppressions that are not needed."),
        click.option("--statistics", is_flag=True, help="The state of the migration instead of the single results."),
        click.option("--fail-on", metavar="KINDS", callback=_kinds, shell_complete=_begun, help=_FAIL_ON),
        click.option("--since", metavar="REV", help="Only findings of what changed since this commit."),
    ):
        command = option(command)
    return command


def ready(request: Request) -> None:
    """Whether the options fit together, and what they name is there: nobody should wait for the proofs to be told.

    Raises `click.UsageError` and `click.ClickException`.
    """
    _consistent(request)
    if request.baseline is not None:
        from cudafix.report import baseline

        try:
            if request.update_baseline or request.prune_baseline:
                baseline.may_write(request.baseline)
            if not request.update_baseline:
                baseline.load(request.baseline)
        except baseline.BaselineError as error:
            raise click.ClickException(str(error)) from None
    if request.since is not None:
        from cudafix.report import since

        try:
            since.base_of(request.since)
        except since.GitError as error:
            raise click.ClickException(f"--since: {error}") from None


@contextmanager
def alone(paths: Sequence[str], request: Request) -> Iterator[None]:
    """Where files of the tree are written, only one command does it at a time. Raises `click.ClickException`."""
    if not request.writes:
        yield
        return
    from cudafix.rewrite import writing

    with writing.alone(paths):
        yield


def run(done: Analysis, request: Request, analyze: Callable[[Mapping[str, bytes]], Analysis]) -> int:
    """Write the report to standard output; the exit code. In other formats than text the summary goes to the side.

    `analyze` looks at other texts of the files in the same way. Raises `click.ClickException`.
    """
    unknown = done.report.problems  # what is known without these files is reported, and nothing is taken for gone
    if unknown and request.writes:
        kept = None if request.update_baseline else request.baseline
        request = replace(request, baseline=kept, update_baseline=False, prune_baseline=False, fix_suppressions=False)
    if request.fix_suppressions:
        done = _fix_suppressions(done, analyze)
        if done.report.problems:
            _tell(done.report.problems)
            return 2
    if request.since is not None:
        done = _since(done, request.since, analyze)
    if request.baseline is not None:
        from cudafix.report import baseline

        refusals = "refusals" in request.counted
        try:
            if request.update_baseline:
                click.echo(f"cudafix: {baseline.update(done, request.baseline, refusals=refusals)}", err=True)
                return 0
            done, message = baseline.compare(done, request.baseline, prune=request.prune_baseline, refusals=refusals)
        except baseline.BaselineError as error:
            raise click.ClickException(str(error)) from None
        if message and not request.quiet:
            click.echo(f"cudafix: {message}", err=True)
    _write(done, request)
    for each in () if request.quiet else done.idle:
        names, files = (", ".join(words) for words in (each.names, each.files))
        click.echo(f"cudafix: `ignore` of {names} in {files} is not needed: nothing of it is there", err=True)
    if unknown:
        _tell(unknown)
        return 2
    results: list[Finding | Refusal] = [*done.selection.chosen, *done.report.refusals]
    return 1 if any(fails(item, request.counted) for item in results) else 0


def _tell(problems: Sequence[Problem]) -> None:
    from cudafix.report.terminal import tell

    sys.stdout.flush()
    tell(problems)


def _consistent(request: Request) -> None:
    if request.statistics and request.format not in ("text", "json"):
        raise click.UsageError("`--statistics` is for the formats `text` and `json`, which always holds them")
    for option, on in (("--update-baseline", request.update_baseline), ("--prune-baseline", request.prune_baseline)):
        if on and request.baseline is None:
            raise click.UsageError(f"`{option}` needs `--baseline FILE`, or `baseline` in the configuration")
        if on and request.since is not None:
            raise click.UsageError(f"`{option}` needs all findings, not those of `--since`")


def _fix_suppressions(done: Analysis, analyze: Callable[[Mapping[str, bytes]], Analysis]) -> Analysis:
    """Take out what is not needed, all files or none, and look at the rest."""
    from cudafix.rewrite import writing

    after = {path: edits.apply(done.sources[path], changes) for path, changes in done.removals.items()}
    problems = writing.replace(done.sources, after)
    if problems:
        return done._replace(report=replace(done.report, problems=tuple(problems)))
    removed = sum(map(len, done.removals.values()))
    click.echo(f"cudafix: took out {removed} suppression{'s' * (removed != 1)}", err=True)
    return analyze({**done.sources, **after}) if after else done


def _since(done: Analysis, revision: str, analyze: Callable[[Mapping[str, bytes]], Analysis]) -> Analysis:
    from cudafix.report import since

    try:
        return since.only_new(done, revision, analyze)
    except since.GitError as error:
        raise click.ClickException(f"--since: {error}") from None


def _shown(request: Request) -> Mapping[str, Shown] | None:
    """The lines that the reader of a review sees."""
    if request.format not in ("github-review", "gitlab-review") or request.since is None:
        return None
    from cudafix.report import since

    try:
        return since.shown(request.since)
    except since.GitError as error:
        raise click.ClickException(f"--since: {error}") from None


def _write(done: Analysis, request: Request) -> None:
    from cudafix.report.terminal import Terminal

    sources, report, selection = done.sources, done.report, done.selection
    if request.quiet:
        chosen = tuple(finding for finding in selection.chosen if fails(finding, request.counted))
        refusals = report.refusals if "refusals" in request.counted else ()
        report = replace(report, refusals=refusals, suppressed=())
        selection = selection._replace(chosen=chosen, left=())
    if request.format == "text" and request.statistics:
        from rich.console import Console

        from cudafix.report.statistics import statistics, write

        write(Console(file=sys.stdout, highlight=False, soft_wrap=True), statistics(sources, report, selection))
    elif request.format in ("text", "concise"):
        out = Terminal(sys.stdout, sources)
        held = report.suppressed_findings
        left = [finding for finding, _ in selection.left if (finding.path, finding.offset, finding.codemod) not in held]
        shown = (*selection.chosen, *(finding for finding in left if finding.safety is Safety.ASSUMES))
        if request.format == "text":
            out.details(shown, report.refusals)
        else:
            out.headlines(shown, report.refusals)
            sys.stdout.flush()
            out = Terminal(sys.stderr, sources)
        if not request.quiet:
            out.summary(report, selection, "can be rewritten")
    else:
        from cudafix.report.listing import Listing
        from cudafix.report.machine import render

        listing = Listing(sources, report, selection, request.counted, _shown(request))
        sys.stdout.flush()
        sys.stdout.buffer.write(render(request.format, listing))
        sys.stdout.buffer.flush()
        if not request.quiet:
            Terminal(sys.stderr, sources).summary(report, selection, "can be rewritten")
