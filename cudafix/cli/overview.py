"""`cudafix` without a command: what is in this folder, what of it can move, and what to do next. It proves nothing."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from rich.console import Console
from rich.text import Text

from cudafix import __version__
from cudafix.api import analysis
from cudafix.cli.analysis import NONE, settings_of
from cudafix.findings import Report
from cudafix.pipeline.sources import remembered
from cudafix.project import build, config, discovery
from cudafix.project.config import Config
from cudafix.project.files import SILENT, Files
from cudafix.project.prefilter import SUFFIX
from cudafix.report.terminal import readable

if TYPE_CHECKING:
    from cudafix.report.statistics import Statistics

MOST = 50_000
"""Sources of a folder that is looked at without being named: above that it is hardly one tree."""
_CALL = re.compile(rb"(?<![\w.])(?:cudaMalloc|cuMemAlloc(?:_v2)?)\s*(?:<[^<>;]*>\s*)?\(")
_CALL_OF_PYTHON = re.compile(rb"\b(?:cudaMalloc|cuMemAlloc)\s*\(|\bruntime\.malloc\s*\(")
_SHOWN = 3  # build files
Steps = tuple[tuple[str, str], ...]
_ELSEWHERE: Steps = (
    ("cudafix check PATHS", "files and folders elsewhere"),
    ("cudafix demo", "one program: what a rename breaks in it, and the proved change"),
    ("cudafix --help", "all commands"),
)
_REVIEW: Steps = (
    ("cudafix diff --html review.html", "look at each change and its proof"),
    ("cudafix apply", "write the changes; `cudafix undo` takes them back"),
)
_BLOCKED: Steps = (("cudafix check --statistics", "what blocks the rest"),)
_PROVE: Steps = (("cudafix check --statistics", "prove them: how much can move, and what blocks the rest"),)
_DEFECTS: Steps = (("cudafix check", "look for defects of stream-ordered code"),)
_INIT: Steps = (("cudafix init", "a commented configuration, from what is here"),)
_HELP: Steps = (("cudafix --help", "all commands"),)


class Calls(NamedTuple):
    """Calls that allocate, by the text alone: nobody has looked at what they mean."""

    blocking: int
    ordered: int
    files: int


def show(file: TextIO) -> None:
    """About ten lines. Raises `ClickException` where the configuration cannot be used."""
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
    settings = settings_of(NONE)
    inputs = analysis.inputs_of((), settings)
    console.print(Text(f"cudafix {__version__} in {readable(os.getcwd())}", style="bold"))
    if _too_many(inputs, settings):
        console.print(f"  more than {MOST} sources: go to the folder of a project, or name it")
        _next(console, _ELSEWHERE)
        return
    found = remembered(inputs, settings, NONE.cache())
    cuda = [path for path in found.files if _is_cuda(path, found.files)]
    if found.problems or not cuda:
        for problem in found.problems:
            where = f"{readable(problem.path)}: " if problem.path != "." else ""
            console.print(f"  {where}{readable(problem.message)}")
        if not found.problems:
            console.print("  no CUDA code that allocates or frees device memory")
        _next(console, _ELSEWHERE)
        return
    _what_is_there(console, found.files, cuda, settings)
    settings, _ = analysis.as_built(found.files, settings, inputs)
    report = analysis.known(found.files, settings, NONE.cache())
    if report is None:
        _next(console, _not_proved(console, _calls(found.files, cuda)), settings)
    else:
        _next(console, _proved(console, found.files, report, settings), settings)


def _too_many(inputs: Sequence[str], settings: Config) -> bool:
    walked = (discovery.walk(os.path.realpath(each), settings, []) for each in inputs if os.path.isdir(each))
    return next(itertools.islice(itertools.chain.from_iterable(walked), MOST, None), None) is not None


def _is_cuda(path: str, files: Files) -> bool:
    facts = files.facts(path)
    return path.endswith((".cu", ".cuh")) or facts.allocates or facts.arrays or facts.others


def _what_is_there(console: Console, files: Files, cuda: Sequence[str], settings: Config) -> None:
    python = sum(path.endswith(SUFFIX) for path in cuda)
    kinds = ((len(cuda) - python, "with CUDA C++"), (python, "with CUDA in Python"))
    counts = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
    console.print(f"  {_count(len(files), 'source')}: {counts}")
    roots = dict.fromkeys(each for each in (".", os.path.relpath(settings.root)) if not each.startswith(".."))
    builds = list(dict.fromkeys(os.path.normpath(each) for root in roots for each in build.described(root)))
    more = f" and {len(builds) - _SHOWN} more" if len(builds) > _SHOWN else ""
    console.print(f"  build files: {readable(', '.join(builds[:_SHOWN])) or 'none here'}{more}")
    used = config.find(Path.cwd())
    console.print(f"  configuration: {readable(os.path.relpath(used)) if used is not None else 'none'}")


def _calls(files: Files, cuda: Sequence[str]) -> Calls:
    from cudafix.report.statistics import stream_ordered

    blocking = ordered = own = 0
    for path in cuda:
        if files.facts(path).unread:
            continue
        text = files[path]
        found = _CALL_OF_PYTHON.findall(text) if path.endswith(SUFFIX) else _CALL.findall(SILENT.sub(b" ", text))
        blocking += len(found)
        own += bool(found)
        ordered += stream_ordered(path, text)
    return Calls(blocking, ordered, own)


def _not_proved(console: Console, calls: Calls) -> Steps:
    ordered = f", {calls.ordered} stream-ordered already" if calls.ordered else ""
    if not calls.blocking:
        console.print(f"\n  no call of `cudaMalloc` in the text{ordered}")
        return _DEFECTS
    where = f" in {_count(calls.files, 'file')}"
    console.print(
        f"\n  {_count(calls.blocking, 'call')} of `cudaMalloc`{where}{ordered}; not proved yet, or changed since"
    )
    return _PROVE


def _proved(console: Console, files: Files, report: Report, settings: Config) -> Steps:
    from cudafix.report.statistics import statistics

    done = analysis.selected(files, report, settings)
    found = statistics(done.sources, done.report, done.selection)
    console.print(Text(f"\n  {_count(found.sites, 'allocation site')}: {_shares(found)}", style="bold"))
    if not found.ready:
        return _BLOCKED if found.refused or found.assumed else _DEFECTS
    return (*_REVIEW, *(_BLOCKED if found.refused or found.assumed else ()))


def _shares(found: Statistics) -> str:
    loops = f" ({found.churn} in a loop, where it pays)" if found.churn else ""
    left = sum(count for _, count in found.left)
    parts = (
        (found.migrated, "stream-ordered already"),
        (found.ready, f"can move now{loops}"),
        (found.assumed, "if you assert an assumption"),
        (left, "left alone"),
        (found.refused, "refused"),
    )
    return ", ".join(f"{number} {text}" for number, text in parts if number) or "nothing to do"


def _next(console: Console, steps: Steps, settings: Config | None = None) -> None:
    console.print()
    if settings is not None:
        steps = (*steps, *(_INIT if config.find(Path.cwd()) is None else ()), *_HELP)
    width = max(len(command) for command, _ in steps)
    for command, what in steps:
        console.print(Text.assemble("  ", (f"{command:{width}}", "bold"), f"  {what}"))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
