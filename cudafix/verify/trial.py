"""One subject in trees of its own: built, run, watched, and bisected where its rewrite fails."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Semaphore

from cudafix.findings import Edit
from cudafix.rewrite import edits
from cudafix.verify import bisect, compare, detector, preload
from cudafix.verify.compare import Seen
from cudafix.verify.detector import Detected, worse
from cudafix.verify.judge import Check, against, signs, usable
from cudafix.verify.machine import Machine
from cudafix.verify.plan import Fix, Kind, Settings, Subject, Variant
from cudafix.verify.process import Commands, Limits, Ran, words
from cudafix.verify.result import Observation, Result
from cudafix.verify.timing import Timing
from cudafix.verify.timing import compare as compare_times

_EXCERPT = 400


class Tree:
    """A copy of a program's folder that can take other texts, and builds again only what they change."""

    def __init__(self, origin: Path, folder: Path) -> None:
        shutil.copytree(origin, folder, symlinks=True)
        self.folder = folder
        self._origin = origin
        self._changed: set[str] = set()

    def become(self, files: Mapping[str, bytes]) -> None:
        """Hold these texts, and those of the origin for all other files."""
        for path in self._changed - files.keys():
            if (self._origin / path).exists():
                self._write(path, (self._origin / path).read_bytes())
            else:
                (self.folder / path).unlink()
        for path, data in files.items():
            self._write(path, data)
        self._changed = set(files)

    def _write(self, path: str, data: bytes) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        # what stays keeps its time stamp, so that `make` leaves it alone
        if not place.exists() or place.read_bytes() != data:
            place.write_bytes(data)
            # Python takes a compiled module for that of any text of the same size and the same second
            for compiled in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
                compiled.unlink()


@dataclass(frozen=True)
class Tools:
    """What all trials of a plan share. `slots` limits the programs that use the GPU at one time."""

    settings: Settings
    commands: Commands
    machine: Machine
    library: Path | None
    slots: Semaphore


class Trial:
    """The steps, in their order: `build`, `rounds` (alone on the machine, for the timing), `check`, `result`."""

    def __init__(self, subject: Subject, origin: Path, scratch: Path, tools: Tools, notes: Iterable[str] = ()) -> None:
        self.subject = subject
        self.tools = tools
        self._origin = origin
        self._scratch = scratch
        self._trees: dict[str, Tree] = {}
        self._seen: dict[str, Observation] = {}
        self._first: dict[str, Seen] = {}
        self._sound: dict[str, bool] = {}  # schedules under which the right program does the same as without
        self._timing: Timing | None = None
        self._smallest: tuple[str, ...] = ()
        self._notes = list(notes)

    @property
    def _reached(self) -> Path:
        """A file that is there once a run with late streams had one."""
        return self._scratch / "reached"

    @property
    def _main(self) -> list[Variant]:
        """Before and after, as far as they are there."""
        found = (self.subject.variant(Kind.BEFORE), self.subject.variant(Kind.AFTER))
        return [variant for variant in found if variant is not None]

    def build(self) -> None:
        """Build before and after in two clean copies."""
        for variant in self._main:
            tree = self._trees[variant.name] = Tree(self._origin, self._scratch / variant.name)
            tree.become(variant.files)
            self._seen[variant.name] = Observation(compiler=self._built(tree))

    def rounds(self) -> None:
        """Run before and after in turn: are they noisy, do they differ, which is faster?"""
        ready = [variant.name for variant in self._main if not self._seen[variant.name].compiler]
        runs: dict[str, list[Seen]] = {name: [] for name in ready}
        for _ in range(self.tools.settings.rounds):
            for name in ready:
                runs[name].append(self._run(self._trees[name]))
                if runs[name][-1].ran.exit is None:  # one that hangs is not waited for again
                    ready = []
                    break
        for name, seen in runs.items():
            if seen:
                self._first[name] = seen[0]
        for name, seen in runs.items():
            if seen:
                noise = (compare.difference(seen[0], one, self.subject.comparison) for one in seen[1:])
                self._seen[name] = replace(self._described(seen[0]), noise=next(filter(None, noise), ""))
        seconds = [[one.ran.seconds for one in runs.get(kind.value, ())] for kind in (Kind.BEFORE, Kind.AFTER)]
        if ready and all(seconds) and len(seconds[0]) == len(seconds[1]) and min(map(min, seconds)) > 0:
            self._timing = compare_times(*seconds)

    def check(self) -> None:
        """What may run beside other trials: the detector, late streams, wrong rewrites, mutants, bisection."""
        for variant in self._main:
            seen = self._seen[variant.name]
            if seen.differs is None or seen.exit is None:
                continue
            tree = self._trees[variant.name]
            seen = replace(seen, detected=self._watched(tree, self._early_allowed(variant)), peak=self._peak(variant))
            if variant.kind is Kind.AFTER and not seen.noise and not seen.differs:
                seen = replace(seen, schedules=self._late_after(tree))
            self._seen[variant.name] = seen
        if not self._first:
            return
        spare: Tree | None = None
        for variant in self.subject.variants:
            if variant.kind in (Kind.WRONG, Kind.MUTANT):
                spare = spare or Tree(self._origin, self._scratch / "other")
                self._seen[variant.name] = self._other(spare, variant)
        after = self._seen.get(Kind.AFTER.value)
        if after is not None:
            faults = against(self.subject, self._seen[Kind.BEFORE.value], after)
            if faults and usable(self.subject, self._seen[Kind.BEFORE.value]):
                self._smallest = self._bisected({check for check, _ in faults}, spare)

    def result(self) -> Result:
        """What was seen; the trees are gone after that."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        return Result(
            self.subject.name, self.subject.hashes, dict(self._seen), self._timing, self._smallest, tuple(self._notes)
        )

    # -- steps ---------------------------------------------------------------------------------------------------------

    @property
    def _good(self) -> str:
        """The name of the variant that the others are compared with."""
        good = Kind.AFTER if self.subject.faulty and Kind.AFTER.value in self._first else Kind.BEFORE
        return good.value

    def _other(self, tree: Tree, variant: Variant) -> Observation:
        """A wrong rewrite or a mutant: built, run once, and watched; late streams only where nothing showed yet."""
        tree.become(variant.files)
        said = self._built(tree)
        if said:
            return Observation(compiler=said)
        with self.tools.slots:
            seen = self._described(self._run(tree))
        if seen.exit is None:
            return seen
        seen = replace(seen, detected=self._watched(tree, False))
        good = self._seen[self._good]
        if not signs(self.subject, seen, good) and variant.shows is not False:
            seen = replace(seen, schedules=self._late_other(tree))
        return seen

    def _bisected(self, checks: set[Check], spare: Tree | None) -> tuple[str, ...]:
        """The names of the smallest set of fixes with which a check fails that fails with all of them."""
        if len(self.subject.fixes) < 2:
            return tuple(fix.name for fix in self.subject.fixes)
        tree = spare or Tree(self._origin, self._scratch / "other")
        whole = self._seen[Kind.AFTER.value]
        paths = {edit.path for fix in self.subject.fixes for edit in fix.edits}
        originals = {path: (self._origin / path).read_bytes() for path in paths if (self._origin / path).exists()}

        def breaks(fixes: Sequence[Fix]) -> bool:
            tree.become(applied(originals, fixes))
            said = self._built(tree)
            seen = Observation(compiler=said)
            if not said:
                for _ in range(self.tools.settings.rounds):
                    with self.tools.slots:
                        seen = self._described(self._run(tree))
                    if seen.differs or seen.exit is None:
                        break
                if Check.DETECTOR in checks and seen.exit is not None:
                    seen = replace(seen, detected=self._watched(tree, True))
                if Check.SCHEDULES in checks and seen.exit is not None:
                    failing = [schedule for schedule, said in whole.schedules.items() if said]
                    seen = replace(seen, schedules={schedule: self._late(tree, schedule) for schedule in failing})
            faults = against(self.subject, self._seen[Kind.BEFORE.value], seen)
            return any(check in checks for check, _ in faults)

        return tuple(fix.name for fix in bisect.smallest(self.subject.fixes, breaks))

    def _built(self, tree: Tree) -> str:
        """What the build said where it failed; empty if it did not."""
        if not self.subject.build:
            return ""
        settings = self.tools.settings
        command = words(self.subject.build)
        limits = Limits(settings.build_seconds, settings.output)
        try:
            ran = self.tools.commands.run(command, tree.folder, limits, self.tools.machine.environment)
        except OSError as error:
            return f"{command[0]}: {error.strerror}"
        if ran.exit == 0:
            return ""
        said = (ran.stdout + ran.stderr).replace(os.fsencode(tree.folder), b".").decode(errors="replace").strip()
        how = ran.stopped or f"exit code {compare.ending(ran)}"
        return said[-2000:] if said and not ran.stopped else f"{said[-2000:]}\n{how}".strip()

    def _run(self, tree: Tree, environment: Mapping[str, str] | None = None) -> Seen:
        for path in self.subject.outputs:  # what an earlier run wrote must not pass for this one's
            with contextlib.suppress(FileNotFoundError):
                (tree.folder / path).unlink()
        ran = self._command((), tree, self.tools.settings.seconds, environment or {})
        return Seen(ran, {path: _content(tree.folder / path) for path in self.subject.outputs})

    def _command(self, prefix: Sequence[str], tree: Tree, seconds: float, environment: Mapping[str, str]) -> Ran:
        settings = self.tools.settings
        command = [*prefix, *words(self.subject.run)]
        limits = Limits(seconds, settings.output)
        try:
            ran = self.tools.commands.run(command, tree.folder, limits, environment, launch=True)
        except OSError as error:
            return Ran(127, 0.0, b"", f"{command[0]}: {error.strerror}\n".encode())
        # the two trees have different names, and a program may print where it is
        here = os.fsencode(tree.folder)
        return ran._replace(stdout=ran.stdout.replace(here, b"."), stderr=ran.stderr.replace(here, b"."))

    def _described(self, seen: Seen) -> Observation:
        how = self.subject.comparison
        good = self._first.get(self._good, seen)
        text = (seen.ran.stdout or seen.ran.stderr).decode(errors="replace")
        return Observation(
            exit=seen.ran.exit,
            ended=compare.ending(seen.ran),
            differs=compare.difference(good, seen, how),
            digest=seen.digest(how),
            excerpt=text[-_EXCERPT:],
            missing=tuple(path for path, data in seen.files.items() if data is None),
        )

    def _watched(self, tree: Tree, early: bool) -> Detected | None:
        """The detector's verdict; None where it is missing. `early`: look whether an alarm is false."""
        tool = self.tools.machine.detector
        if not tool:
            return None
        seconds = 10 * self.tools.settings.seconds

        def run(prefix: Sequence[str], environment: Mapping[str, str]) -> Ran:
            with self.tools.slots:
                return self._command(prefix, tree, seconds, environment)

        detected = detector.watch(tool, run, self.subject.leaks)
        library = self.tools.library
        if early and library and detected.caught == "memory":
            again = detector.watch(tool, lambda prefix, _: run(prefix, preload.early(library)), self.subject.leaks)
            if again.caught and not worse(again.caught, self._caught_before):
                return replace(detected, early=True, leaked=again.leaked)
        return detected

    @property
    def _caught_before(self) -> str:
        """What after may show without being worse than before."""
        before = self._seen[Kind.BEFORE.value].detected
        return "nothing" if self.subject.faulty or not before else before.caught or "nothing"

    def _early_allowed(self, variant: Variant) -> bool:
        return variant.kind is Kind.AFTER and self._caught_before != "memory"

    def _peak(self, variant: Variant) -> int | None:
        """The most device memory that a run has at one time; None where that cannot be seen."""
        if self.tools.library is None:
            return None
        noted = self._scratch / f"peak-{variant.name}"
        with self.tools.slots:
            self._run(self._trees[variant.name], preload.counting(self.tools.library, noted))
        return preload.peak_at(noted)

    @property
    def _schedules(self) -> Sequence[str]:
        """The schedules that are tried: none where the library is missing, or a difference would say nothing."""
        tried = self.tools.library and self.tools.settings.schedules and not self._seen[self._good].noise
        return preload.SCHEDULES if tried else ()

    def _late(self, tree: Tree, schedule: str) -> str:
        """How a run with late streams differs from the good variant without."""
        assert self.tools.library
        with self.tools.slots:
            seen = self._run(tree, preload.late(self.tools.library, schedule, self._reached))
        return compare.difference(self._first[self._good], seen, self.subject.comparison)

    def _late_after(self, tree: Tree) -> dict[str, str]:
        """How after differs, for each schedule. Where before differs too, that is no fault of the rewrite."""
        found: dict[str, str] = {}
        for schedule in self._schedules:
            said = self._late(tree, schedule)
            self._sound[schedule] = not said
            if said and not self.subject.faulty and self._late(self._trees[Kind.BEFORE.value], schedule):
                self._notes.append(f"with streams late ({schedule}) before itself does something else: not counted")
                said = ""
            found[schedule] = said
        if found and not any(found.values()) and not self._reached.exists():
            self._notes.append("no stream was late: the program does not look the driver up where that can be caught")
            return {}
        return found

    def _late_other(self, tree: Tree) -> dict[str, str]:
        """The first schedule under which a wrong rewrite or a mutant differs, and a right one does not."""
        for schedule in self._schedules:
            if schedule not in self._sound:
                self._sound[schedule] = not self._late(self._trees[self._good], schedule)
            said = self._late(tree, schedule) if self._sound[schedule] else ""
            if said:
                return {schedule: said}
        return dict.fromkeys(self._schedules, "")


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def applied(originals: Mapping[str, bytes], fixes: Iterable[Fix]) -> dict[str, bytes]:
    """The files that change, or are new, with these fixes."""
    by_path: dict[str, list[Edit]] = {}
    for fix in fixes:
        for edit in fix.edits:
            by_path.setdefault(edit.path, []).append(edit)
    return {path: edits.apply(originals.get(path, b""), changes) for path, changes in by_path.items()}
