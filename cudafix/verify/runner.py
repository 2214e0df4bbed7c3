"""The command of an exported folder: `python3 run.py`. Standard library only."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cudafix import interrupts
from cudafix.verify import plan as plans
from cudafix.verify import result as results
from cudafix.verify.execute import STEPS, execute
from cudafix.verify.judge import Outcome, Verdict, judge
from cudafix.verify.machine import Machine
from cudafix.verify.plan import PlanError
from cudafix.verify.result import Result


def main(folder: Path) -> int:
    """Exit code 0 where all holds, 1 where something failed, 2 where there is no usable result, 3 unverified."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Build and run the programs before and after, and write down what was seen.",
        epilog="Take the file that it writes to `cudafix verify --import FILE`.",
    )
    parser.add_argument("only", nargs="*", metavar="NAME", help="only programs whose name contains one of these")
    parser.add_argument("--results", type=Path, default=folder / "results.json", metavar="FILE", help="where to write")
    parser.add_argument("--jobs", type=int, help="programs on the GPU at one time, except for timings")
    parser.add_argument("--rounds", type=int, help="timed runs of before and after")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which nothing more is started")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.limit
    try:
        plan = plans.load(folder / "plan.json")
        known = {}
        if arguments.results.exists():  # a run that goes on where the last one ended
            earlier = results.load(arguments.results)
            if earlier.machine.get("gpu"):
                known = {result.name: result for result in earlier.results}
        settings = replace(
            plan.settings,
            jobs=arguments.jobs or plan.settings.jobs,
            rounds=arguments.rounds or plan.settings.rounds,
        )
        plan = replace(plan, settings=settings)
        steps = 0

        def progress(text: str, done: int) -> None:
            nonlocal steps
            steps += done
            if text:
                print(f"{steps}/{STEPS * len(plan.subjects)} {text}", flush=True)

        def keep(machine: Machine, done: Sequence[Result]) -> None:
            rest = [result for name, result in known.items() if name not in {one.name for one in done}]
            results.save(arguments.results, plan, machine.described(), [*done, *rest])

        chosen = [
            subject.name
            for subject in plan.subjects
            if not arguments.only or any(part in subject.name for part in arguments.only)
        ]
        _, found = execute(plan, folder, known, keep, progress, deadline, frozenset(chosen))
    except PlanError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("run.py: interrupted", file=sys.stderr)
        return interrupts.code()
    by_name = {subject.name: subject for subject in plan.subjects}
    verdicts = {result.name: judge(by_name[result.name], result) for result in found}
    for name, verdict in verdicts.items():
        print(f"{verdict.outcome.value:10} {name}")
        print("".join(f"           {fault}\n" for fault in verdict.faults), end="")
    missing = len(chosen) - sum(name in verdicts for name in chosen)
    if missing:
        print(f"{missing} not reached in time: run it again to go on")
    return status(list(verdicts.values()), missing)


def status(verdicts: Sequence[Verdict], missing: int = 0) -> int:
    """The exit code for these verdicts."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.UNUSABLE in outcomes:
        return 2
    if Outcome.FAILED in outcomes:
        return 1
    return 3 if missing or outcomes & {Outcome.UNVERIFIED, Outcome.NOISY} else 0
