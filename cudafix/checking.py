"""`cudafix check`: what of a report is shown, in which format, and what makes the command fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import click

from cudafix.findings import Report, Safety
from cudafix.selection import Selection

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True)
class Request:
    """The options of `check`."""

    format: str
    quiet: bool


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a `Request`."""
    for option in (
        click.option("--format", type=click.Choice(FORMATS), default="text", help="How to write the report."),
        click.option("-q", "--quiet", is_flag=True, help="Only what makes the command fail: no refusals, no summary."),
    ):
        command = option(command)
    return command


def run(sources: Mapping[str, bytes], report: Report, selection: Selection, request: Request) -> int:
    """Write the report to standard output; the exit code. In other formats than text the summary goes to the side."""
    from cudafix.report.terminal import Terminal

    shown = report if not request.quiet else Report(report.findings, (), report.problems, report.sites)
    left = () if request.quiet else selection.left
    if request.format == "text":
        out = Terminal(sys.stdout, sources)
        assumed = [finding for finding, _ in left if finding.safety is Safety.ASSUMES]
        out.details((*selection.chosen, *assumed), shown.refusals)
        if not request.quiet:
            out.summary(report, selection, "can be rewritten")
    elif not report.problems:
        from cudafix.report.listing import Listing
        from cudafix.report.machine import render

        listing = Listing(sources, shown, Selection(selection.chosen, left))
        sys.stdout.flush()
        sys.stdout.buffer.write(render(request.format, listing))
        sys.stdout.buffer.flush()
        if not request.quiet:
            Terminal(sys.stderr, sources).summary(report, selection, "can be rewritten")
    errors = Terminal(sys.stderr, {})
    for problem in report.problems:
        errors.problem(problem)
    if report.problems:
        return 2
    return 1 if selection.chosen else 0
