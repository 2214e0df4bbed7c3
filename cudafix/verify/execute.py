"""Carry out a plan on this machine: builds side by side, timings alone, then all that does not mind neighbours."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore
from types import FrameType
from typing import TypeVar

from cudafix import interrupts
from cudafix.verify import machine, preload, scratch
from cudafix.verify.machine import Machine
from cudafix.verify.plan import Plan, Subject, tree
from cudafix.verify.process import Commands
from cudafix.verify.result import Result
from cudafix.verify.trial import Tools, Trial

_BATCH = 16
"""Subjects between two results that are kept, should the time run out."""

Progress = Callable[[str, int], None]
"""Told what goes on, and how many steps of `STEPS` for each subject are done since the last call."""
STEPS = 3
Item = TypeVar("Item")


def execute(
    plan: Plan,
    folder: Path,
    known: Mapping[str, Result],
    keep: Callable[[Machine, Sequence[Result]], None],
    progress: Progress,
    deadline: float = float("inf"),
    only: Collection[str] | None = None,
) -> tuple[Machine, list[Result]]:
    """Results for the subjects of a plan that stands in `folder`, in its order.

    Those of `known` that are of the same text are taken as they are. `keep` gets all results so far after each batch;
    past `deadline` (`time.monotonic`) no further batch starts, and results are missing, as are those of subjects that
    are not in `only`. On Ctrl-C or SIGTERM all that
    runs is killed, and `KeyboardInterrupt` goes on to the caller.
    """
    commands = Commands(plan.settings.launcher)
    with scratch.folder() as place, _interruptible(commands):
        here = machine.look(commands)
        library = None
        notes: tuple[str, ...] = ()
        if here.gpu and plan.settings.schedules:
            library, said = preload.build(place, here, commands)
            notes = () if library else (f"late streams were not tried: {said.splitlines()[-1]}",)
        slots = Semaphore(plan.settings.jobs)
        tools = Tools(plan.settings, commands, here, library, slots)
        done = {s.name: known[s.name] for s in plan.subjects if s.name in known and known[s.name].hashes == s.hashes}
        progress("", STEPS * len(done))
        todo = [s for s in plan.subjects if s.name not in done and (only is None or s.name in only)]
        for batch in (todo[at : at + _BATCH] for at in range(0, len(todo), _BATCH)):
            if time.monotonic() > deadline:
                break
            trials = [
                Trial(subject, tree(folder, plan, subject) / "before", place / str(number), tools, notes)
                for number, subject in enumerate(batch)
            ]
            _carry_out(trials, bool(here.gpu), plan.settings.jobs, progress)
            for subject, trial in zip(batch, trials, strict=True):
                done[subject.name] = trial.result()
            keep(here, _in_order(plan.subjects, done))
        return here, _in_order(plan.subjects, done)


def _carry_out(trials: Sequence[Trial], gpu: bool, jobs: int, progress: Progress) -> None:
    cores = os.cpu_count() or 1
    _side_by_side(trials, Trial.build, cores, lambda trial: progress(f"built {trial.subject.name}", 1))
    if not gpu:
        progress("", (STEPS - 1) * len(trials))
        return
    for trial in trials:
        # in a thread too: an interrupt reaches this one, which can then stop the program that the other one waits for
        _side_by_side([trial], Trial.rounds, 1, lambda trial: progress(f"timed {trial.subject.name}", 1))
    # twice as many as may use the GPU, so that some build meanwhile
    _side_by_side(trials, Trial.check, 2 * jobs, lambda trial: progress(f"checked {trial.subject.name}", 1))


def _side_by_side(items: Sequence[Item], work: Callable[[Item], None], jobs: int, done: Callable[[Item], None]) -> None:
    """Do the work for each item in threads; raises what it raises, once all threads have ended."""
    with ThreadPoolExecutor(jobs) as pool:
        futures: dict[Future[None], Item] = {pool.submit(work, item): item for item in items}
        waiting = set(futures)
        try:
            while waiting:
                ready, waiting = wait(waiting, timeout=0.2, return_when="FIRST_COMPLETED")
                for future in ready:
                    future.result()
                    done(futures[future])
        finally:
            for future in waiting:
                future.cancel()


def _in_order(subjects: Sequence[Subject], done: Mapping[str, Result]) -> list[Result]:
    return [done[subject.name] for subject in subjects if subject.name in done]


@contextmanager
def _interruptible(commands: Commands) -> Iterator[None]:
    """Ends all commands before an interrupt goes on, and treats SIGTERM as one."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        is_first = not commands.is_stopping
        commands.stop()
        interrupts.note(number)
        if is_first:  # what runs is being ended
            raise KeyboardInterrupt

    old = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        commands.stop()
        for number, handler in old.items():
            signal.signal(number, handler)
        commands.sweep()
