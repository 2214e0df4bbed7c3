"""`cudafix verify`: what it is asked for becomes a plan, the plan is carried out, sent away or taken back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cudafix import interrupts
from cudafix.pipeline import driver
from cudafix.pipeline.programs import clusters_of
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config
from cudafix.project.prefilter import SUFFIX
from cudafix.report.selection import Analysis
from cudafix.rewrite import edits
from cudafix.verify import bundle, cases, execute, fixtures, mutants, records, scratch, tree
from cudafix.verify import report as reports
from cudafix.verify import result as results
from cudafix.verify.cases import Case
from cudafix.verify.compare import Comparison
from cudafix.verify.judge import Outcome, judge
from cudafix.verify.options import Request
from cudafix.verify.plan import Kind, Plan, PlanError, Settings, Subject, Variant
from cudafix.verify.report import Judged
from cudafix.verify.result import Result
from cudafix.verify.runner import status
from cudafix.verify.trial import applied


def run(paths: Sequence[str], request: Request, analysis: Callable[[], tuple[Analysis, Config]], processes: int) -> int:
    """Do it; returns the exit code. Raises `click.ClickException` for what the user has to change."""
    try:
        for named in (request.export, request.save_case):
            if named is not None and os.path.lexists(named) and not (os.path.isdir(named) and not os.listdir(named)):
                raise PlanError(f"{named}: is there already, and not an empty folder")
        if request.results is not None:
            return _imported(paths, request)
        if request.build is None and request.run is None:
            return _fixtures(paths, request, processes)
        if request.run is None:
            raise click.UsageError("`--build` needs `--run CMD`")
        _inside(map(os.path.realpath, paths))
        return _tree(request, analysis, processes)
    except PlanError as error:
        raise click.ClickException(str(error)) from None


def _imported(paths: Sequence[str], request: Request) -> int:
    assert request.results is not None
    taken = results.load(Path(request.results))
    wanted = _found(paths) if paths else []
    known = {case.id: case for case in wanted}
    by_name = {result.name: result for result in taken.results}
    judged = [_judged(s, by_name[s.name]) for s in taken.plan.subjects if s.name in by_name]
    code = _told(judged, taken.machine, request)
    missing = [subject.name for subject in taken.plan.subjects if subject.name not in by_name]
    for one in judged if known else ():
        case = known.get(one.subject.name)
        said = records.install(case, one.subject, one.result, taken.machine) if case else "no such fixture"
        if said:
            click.echo(f"not recorded: {one.subject.name}: {said}", err=True)
            code = code or 1
    for name in missing:
        click.echo(f"no result: {name}", err=True)
    return code or (3 if missing else 0)


def _fixtures(paths: Sequence[str], request: Request, processes: int) -> int:
    found = _found(paths)
    if request.stale:
        found = [case for case in found if not records.is_current(case)]
        if not found:
            click.echo("every fixture has a good record of its text", err=True)
            return 0
    by_name = {case.id: case for case in found}
    subjects = fixtures.subjects(found, driver.analyze, processes, request.mutants is not False)
    plan = Plan(_settings(request), tuple(subjects))

    def origin(subject: Subject, folder: Path) -> None:
        shutil.copytree(by_name[subject.name].path / "before", folder)

    def keep(judged: Sequence[Judged], machine: Mapping[str, str]) -> None:
        for one in judged:
            if machine["gpu"] and one.verdict.outcome is Outcome.VERIFIED:
                records.install(by_name[one.subject.name], one.subject, one.result, machine)

    return _carried_out(plan, origin, request, keep)


def _found(paths: Sequence[str]) -> list[Case]:
    folders = [folder for path in paths for folder in cases.below(Path(path))]
    if not folders:
        raise click.UsageError("needs `--build CMD` and `--run CMD`, or folders with fixtures (`case.toml`)")
    try:
        return [cases.load(folder.resolve()) for folder in dict.fromkeys(folders)]
    except cases.CaseError as error:
        raise click.ClickException(str(error)) from None


def _tree(request: Request, analysis: Callable[[], tuple[Analysis, Config]], processes: int) -> int:
    done, config = analysis()
    sources = done.sources
    _inside(map(os.path.realpath, done.report.given(sources)))  # the configuration may name paths too
    fixes = tree.fixes(sources, done.selection.chosen)
    if not fixes:
        click.echo("nothing is rewritten, so there is nothing to verify", err=True)
        return 0
    # as `apply` writes them: behind a version check where `guard` asks for it. The fixes of a bisection and the mutants
    # go without, since the checks of neighbours are one; the CUDA that a run needs takes the same branch
    files = {path: edits.apply(sources.get(path, b""), own) for path, own in done.selection.edits().items()}
    compiled = next((path for path in files if not path.endswith(SUFFIX)), None)
    if request.build is None and compiled is not None:
        raise click.UsageError(f"`--run` needs `--build CMD`: {compiled} is compiled (`--build true` builds nothing)")
    variants = [Variant("before", Kind.BEFORE, {}), Variant("after", Kind.AFTER, files)]
    if request.mutants:
        made = list(mutants.mutants(sources, [edit for fix in fixes for edit in fix.edits]))
        programs = [mutants.program_of(sources, list(mutant.files), _clusters) for mutant in made]
        pairs = [(own, {**own, **mutant.files}) for own, mutant in zip(programs, made, strict=True)]
        reasons = mutants.rejected([(*pair, config) for pair in pairs], processes)
        variants += [
            Variant(mutant.name, mutant.kind, mutant.files, mutant.about, said)
            for mutant, said in zip(made, reasons, strict=True)
        ]
    streams = {"both": ("stdout", "stderr"), "none": ()}.get(request.compare, (request.compare,))
    subject = Subject(
        name=Path.cwd().name or "program",
        build=request.build or "",
        run=request.run or "",
        variants=tuple(variants),
        fixes=fixes,
        exit=request.exit,
        outputs=request.output,
        comparison=Comparison(streams, request.ignore, request.tolerance),
        hashes=tree.hashes(files, (request.build, request.run)),
    )

    def origin(_: Subject, folder: Path) -> None:
        tree.copy(Path.cwd(), folder, request.copy)
        absent = next((path for path in files if path in sources and not (folder / path).is_file()), None)
        if absent is not None:
            raise PlanError(f"{absent}: ignored by git, so that it is not copied: name it with --copy")

    def keep(judged: Sequence[Judged], _: Mapping[str, str]) -> None:
        if request.save_case and judged[0].verdict.outcome is Outcome.FAILED:
            _save_case(Path(request.save_case), sources, judged[0])
            click.echo(f"kept as a fixture: {request.save_case}", err=True)

    return _carried_out(Plan(_settings(request), (subject,)), origin, request, keep)


def _inside(paths: Iterable[str]) -> None:
    here = os.path.realpath(".")
    for path in paths:
        if os.path.commonpath([here, path]) != here:
            raise PlanError(f"{path}: not below the current folder, which is what is copied and built")


def _clusters(files: Mapping[str, bytes]) -> list[list[str]]:
    return [[p for program in cluster for p in program] for cluster in clusters_of(Tree(files))]


def _settings(request: Request) -> Settings:
    return Settings(
        rounds=request.rounds,
        seconds=request.time_limit,
        build_seconds=request.build_limit,
        output=request.output_limit * 2**20,
        jobs=request.gpu_jobs,
        launcher=tuple(shlex.split(request.launcher)),
        schedules=request.schedules,
    )


def _carried_out(
    plan: Plan,
    origin: bundle.Origin,
    request: Request,
    keep: Callable[[Sequence[Judged], Mapping[str, str]], None],
) -> int:
    if request.export is not None:
        folder = Path(request.export)
        existed = folder.is_dir()
        is_new = not existed or not any(folder.iterdir())
        try:
            bundle.write(plan, folder, origin)
            bundle.add_runner(plan, folder)
        except BaseException:
            if is_new:  # half a plan is of no use, and stands in the way of the next one
                shutil.rmtree(folder, ignore_errors=True)
                if existed:
                    folder.mkdir()
            raise
        click.echo(
            f"{folder}: run `python3 run.py` there on a machine with a GPU, "
            "then `cudafix verify --import` the results.json that it writes",
            err=True,
        )
        return 0
    with interrupts.raised(), scratch.folder() as place:
        folder = place / "plan"
        bundle.write(plan, folder, origin)
        with _bar(execute.STEPS * len(plan.subjects)) as progress:
            machine, found = execute.execute(plan, folder, {}, lambda *_: None, progress)
    judged = [_judged(subject, result) for subject, result in zip(plan.subjects, found, strict=True)]
    keep(judged, machine.described())
    return _told(judged, machine.described(), request)


def _judged(subject: Subject, result: Result) -> Judged:
    return Judged(subject, result, judge(subject, result))


def _told(judged: Sequence[Judged], machine: Mapping[str, str], request: Request) -> int:
    show = reports.as_json if request.format == "json" else reports.as_table
    show(judged, machine, sys.stdout)
    return status([one.verdict for one in judged])


@contextmanager
def _bar(total: int) -> Iterator[execute.Progress]:
    """A progress bar on standard error, if that is a terminal."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("verify", total=total)
        yield lambda text, done: bar.update(task, advance=done, description=text or None)


def _save_case(folder: Path, sources: Mapping[str, bytes], one: Judged) -> None:
    """The sources of the program as they were, and with the smallest set of fixes that breaks it."""
    if folder.exists() and any(folder.iterdir()):
        raise PlanError(f"{folder}: is not empty")
    fixes = [fix for fix in one.subject.fixes if fix.name in one.result.smallest] or list(one.subject.fixes)
    changed = applied(sources, fixes)
    own = mutants.program_of(sources, list(changed), _clusters)
    for name, files in (("before", own), ("wrong/what_cudafix_wrote", {**own, **changed})):
        for path, data in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    lines = [
        f"# built with {json.dumps(one.subject.build)}, run with {json.dumps(one.subject.run)}",
        'why = "a rewrite that was proved and does something else"',
        'expect = "refuse"',
        "",
        "[wrong.what_cudafix_wrote]",
        f"why = {json.dumps('; '.join(one.verdict.faults))}",  # JSON's strings are strings of TOML
        "gpu_shows = true",
    ]
    (folder / "case.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
