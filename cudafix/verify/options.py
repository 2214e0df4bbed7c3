"""The options of `cudafix verify`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., None])


@dataclass(frozen=True)
class Request:
    """What the user asked for; the fields are the options below."""

    build: str | None
    run: str | None
    exit: int
    output: tuple[str, ...]
    compare: str
    ignore: tuple[str, ...]
    tolerance: float | None
    copy: tuple[str, ...]
    launcher: str
    rounds: int
    time_limit: float
    build_limit: float
    output_limit: int
    gpu_jobs: int
    mutants: bool | None
    schedules: bool
    stale: bool
    export: str | None
    results: str | None
    save_case: str | None
    format: str


def _expression(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    try:
        for pattern in value:
            re.compile(pattern.encode())
    except re.error as error:
        raise click.BadParameter(f"`{pattern}` is no regular expression: {error}") from None
    return value


_SOME = click.IntRange(min=1)
_POSITIVE = click.FloatRange(min=0, min_open=True)


def options(command: _Command) -> _Command:
    """All of them, for a command that takes them as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _option(*names: str, **how: Any) -> Callable[[_Command], _Command]:
    return click.option(*names, **how)


_OPTIONS = (
    _option("--build", metavar="CMD", help="Builds the program, in the root of its tree. Python programs need none."),
    _option("--run", metavar="CMD", help="Runs it, in the same place."),
    _option("--exit", default=0, show_default=True, help="Exit code of a good run."),
    _option("--output", multiple=True, metavar="FILE", help="A file that it writes, to be compared too."),
    _option(
        "--compare",
        type=click.Choice(["both", "stdout", "stderr", "none"]),
        default="both",
        show_default=True,
        help="What is compared besides the exit code and the files.",
    ),
    _option("--ignore", multiple=True, metavar="REGEX", callback=_expression, help="Leave out what this matches."),
    _option("--tolerance", type=_POSITIVE, metavar="X", help="Numbers may differ by X * max(|a|, |b|, 1)."),
    _option("--copy", multiple=True, metavar="PATH", help="Also copy this, though git ignores it: data."),
    _option("--launcher", default="", metavar="CMD", help="Put this in front of each run: 'srun --gres=gpu:1'."),
    _option("--rounds", type=_SOME, default=5, show_default=True, help="Runs of before and after."),
    _option("--time-limit", type=_POSITIVE, default=120, show_default=True, metavar="S", help="Seconds for one run."),
    _option("--build-limit", type=_POSITIVE, default=1800, show_default=True, metavar="S", help="For one build."),
    _option("--output-limit", type=_SOME, default=64, show_default=True, metavar="MIB", help="Of what a run prints."),
    _option("--gpu-jobs", type=_SOME, default=1, show_default=True, help="Programs at one time; timings run alone."),
    _option("--mutants/--no-mutants", default=None, help="Take out each inserted wait.  [default: fixtures only]"),
    _option("--schedules/--no-schedules", default=True, help="Also run after with streams made late.  [default: on]"),
    _option("--stale", is_flag=True, help="Only fixtures without a good record of their text."),
    _option("--export", metavar="DIR", help="Write a folder to run on another machine, and run nothing."),
    _option("--import", "results", metavar="FILE", help="Take the results that the folder's run.py wrote."),
    _option("--save-case", metavar="DIR", help="Where the rewrite fails, keep it as a fixture."),
    _option("--format", type=click.Choice(["table", "json"]), default="table", show_default=True),
)
