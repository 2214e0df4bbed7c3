"""Certificates: what a proof, or a proof that failed, looks like on one path of the program."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from cudafix import ir
from cudafix.findings import Certificate, Finding, Place, Refusal, Report, Step
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.ordering.interpreter.engine import OutOfBudget
from cudafix.ordering.interpreter.program import Key, Outcome, Overlay
from cudafix.ordering.interpreter.state import Bits
from cudafix.ordering.interpreter.trace import Moment, Tracer, lane_of, trace
from cudafix.rewrite.groups import Group
from cudafix.rewrite.naming import spelled
from cudafix.rewrite.plan import Plan, moved_call
from cudafix.rewrite.sketch import sketch

_LONG = 24  # steps; of a longer path a timeline shows those that touch the memory, and what orders them
_LONGEST = 60  # steps that are shown at all
_TRIES = 4  # programs and roots in which a defect is looked for
_TURNS = 40  # paths that are tried to show one counterexample
_TOUCHES = 3  # the weight of a moment that touches the memory, or orders what does
_BEHIND = 5  # steps after the last free: what comes next, and may rely on its wait


class View(Protocol):
    """One program from one root."""

    @property
    def program(self) -> Program: ...

    @property
    def root(self) -> ir.Function: ...


@dataclass(frozen=True, slots=True)
class Scene:
    """What it takes to show one certificate later, without a proof.

    `views` are the programs to try, by their numbers among those of the cluster (`views.views_of`). `after`
    is the rewrite, None where none can be shown. `clash` names the two operations of a counterexample, the same one
    twice where there is one only; of a defect (`faulty`) they clash in the program as it is. `via` are the frees that
    order them today. The `sketch` is what is shown where no path shows both.
    """

    views: tuple[int, ...]
    sites: frozenset[Key]
    memory: tuple[Place, ...]
    after: Overlay | None
    clash: tuple[Key, Key] | None = None
    faulty: bool = False
    runs: int = 1
    via: tuple[Key, ...] = ()
    sketch: Certificate | None = None


@dataclass(frozen=True, slots=True)
class Scenes:
    """The scenes of a report, by name, path and offset of the finding or the refusal.

    `per_thread`: its programs are compiled with a default stream for each thread.
    """

    of: Mapping[tuple[str, str, int], Scene]
    per_thread: bool


def scenes(
    report: Report,
    plan: Plan,
    survey: Sequence[Outcome],
    numbers: Sequence[int],
    mended: Overlay,
    tables: Tables,
    *,
    per_thread: bool,
) -> Scenes:
    """The scenes of what was found. `numbers` are those of the surveyed views, `mended` the program without defects."""
    proved = plan.overlay()
    groups = [_scene(group, plan, survey, numbers, proved, tables) for group in plan.groups]
    by_site = {key: scene for group, scene in zip(plan.groups, groups, strict=True) for key in group.allocations}
    found: dict[tuple[str, str, int], Scene | None] = {}
    for refusal in report.refusals:
        found[refusal.name, refusal.path, refusal.offset] = by_site.get(Key(refusal.path, refusal.offset))
    for finding in report.findings:
        scene = by_site.get(Key(finding.path, finding.offset)) if finding.group else None
        if not finding.group:
            scene = _scene_of_defect(finding, survey, numbers, mended)
        found[finding.codemod, finding.path, finding.offset] = scene
    return Scenes({name: scene for name, scene in found.items() if scene is not None}, per_thread)


def _scene(
    group: Group, plan: Plan, survey: Sequence[Outcome], numbers: Sequence[int], proved: Overlay, tables: Tables
) -> Scene | None:
    """None where no path reaches the sites."""
    sites = {key for key, _ in group.sites()}
    reached = [
        (-len(sites & (outcome.allocations.keys() | outcome.frees.keys())), number)
        for number, outcome in zip(numbers, survey, strict=True)
        if not sites.isdisjoint(outcome.allocations)
    ]
    if not reached:
        return None
    memory = tuple(Place(key.path, key.start, _filled(site.call)) for key, site in sorted(group.allocations.items()))
    views, runs = (min(reached)[1],), len(reached)
    if group.refused is None:
        return Scene(views, frozenset(sites), memory, proved, runs=runs)
    clash = group.refused.clash
    if clash is None:
        return Scene(views, frozenset(sites), memory, None, runs=runs)
    (first, _), (second, _) = group.refused.places[:2]
    both = Key(first.path, first.start), Key(second.path, second.start)
    waiting = [each for each in plan.groups if each is group or each.names_any(clash.every_via)]
    drawn = replace(sketch(group, waiting, tables), memory=memory, runs=runs)
    return Scene(views, frozenset(sites), memory, _bare(waiting), both, False, runs, clash.via, drawn)


def _scene_of_defect(finding: Finding, survey: Sequence[Outcome], numbers: Sequence[int], mended: Overlay) -> Scene:
    later = Key(finding.path, finding.offset)
    places = [*(Key(place.path, place.offset) for place in finding.related), later]
    faulty = tuple(
        number
        for number, outcome in zip(numbers, survey, strict=True)
        if any((v.later.span.path, v.later.span.start) == later for v in outcome.violations)
    )
    after = mended if finding.edits else None
    return Scene(faulty[:_TRIES], frozenset(places), (), after, (places[0], later), True, len(faulty))


def certified(report: Report, known: Scenes, views: Sequence[View], tables: Tables) -> Report:
    """The report with the certificates of its findings and refusals; those of a group share one."""
    scenes = list({id(scene): scene for scene in known.of.values()}.values())
    witness = _Witness(scenes, views, tables, known.per_thread)
    shown = {id(scene): witness.certificate(scene) for scene in scenes}

    def of(name: str, item: Finding | Refusal) -> Certificate | None:
        scene = known.of.get((name, item.path, item.offset))
        return shown[id(scene)] if scene is not None else None

    return replace(
        report,
        findings=tuple(replace(each, certificate=of(each.codemod, each)) for each in report.findings),
        refusals=tuple(replace(each, certificate=of(each.name, each)) for each in report.refusals),
    )


class _Witness:
    """Walks through the programs of one cluster: once for all scenes that one path shows."""

    def __init__(self, scenes: Sequence[Scene], views: Sequence[View], tables: Tables, per_thread: bool) -> None:
        self.scenes = scenes
        self.views = views
        self.tables = tables
        self.per_thread = per_thread
        self._walked: dict[tuple[int, int], Tracer | None] = {}  # by view and the `id` of the overlay
        self._turned: dict[tuple[Key, Key], int] = {}  # the turn of the path that shows two operations

    def certificate(self, scene: Scene) -> Certificate | None:
        """None where even one path is too long, or does not show a defect; the sketch, where there is one."""
        for number in scene.views:
            try:
                shown = self._shown(number, scene)
            except OutOfBudget:
                continue
            if shown is not None and (shown.lost is not None or scene.sketch is None):
                return shown
        return scene.sketch

    def _shown(self, number: int, scene: Scene) -> Certificate | None:
        before = self._path(number, None, scene)
        faulty = _lost(scene.clash, before.moments) if scene.faulty and scene.clash else None
        if scene.faulty and faulty is None and not _passes(before, scene):
            return None
        if scene.after is None:
            steps, faulty = _steps(before, faulty, _kept(before.moments, set(faulty or ())))
            return Certificate(scene.memory, steps, (), None, faulty, scene.runs)
        after = self._path(number, scene.after, scene)
        lost, was = None, faulty
        if scene.faulty and scene.clash is not None:
            lost = _lost(scene.clash, after.moments)
        elif scene.clash is not None:
            with contextlib.suppress(OutOfBudget):
                before, after, lost = self._clashing(number, scene, scene.clash) or (before, after, None)
            was = _as_in(before.moments, after.moments, lost)
        # both show as much: what one of them is too long for, the other leaves out too
        pairs = [(path.moments, set(pair or ())) for path, pair in ((before, was), (after, lost))]
        narrow = max(_narrow(moments, wanted) for moments, wanted in pairs)
        kept = [_kept(moments, wanted, narrow) for moments, wanted in pairs]
        steps, was = _steps(before, was, kept[0])
        rewritten, lost = _steps(after, lost, kept[1])
        return Certificate(scene.memory, steps, rewritten, lost, was if scene.faulty else None, scene.runs)

    def _path(self, number: int, overlay: Overlay | None, scene: Scene) -> Tracer:
        """A path that allocates and frees what the scene is about; if that of all scenes does not, one of its own."""
        if (number, id(overlay)) not in self._walked:
            alike = [s for s in self.scenes if s.views[:1] == (number,) and (overlay is None or s.after is overlay)]
            sites = frozenset().union(*(s.sites for s in alike))
            shared = None
            with contextlib.suppress(OutOfBudget):
                shared = self._trace(number, overlay, sites) if len(alike) > 1 else None
            self._walked[number, id(overlay)] = shared
        path = self._walked[number, id(overlay)]
        if path is not None:
            path.look_at(scene.sites)
            if {"allocate", "free"} <= {moment.kind for moment in path.moments if moment.mine}:
                return path
        return self._trace(number, overlay, scene.sites)

    def _clashing(
        self, number: int, scene: Scene, clash: tuple[Key, Key]
    ) -> tuple[Tracer, Tracer, tuple[int, int]] | None:
        """A path that shows a counterexample, before and after: the usual one, or one that turns off from it."""
        sites = scene.sites | {*clash, *scene.via}
        turns = [self._turned[clash], -1] if clash in self._turned else [-1]
        while turns:
            turn = turns.pop(0)
            after = self._trace(number, scene.after, sites, turn, clash)
            lost = _lost(clash, after.moments)
            if lost is not None:
                self._turned[clash] = turn
                before = self._trace(number, None, sites, along=after.taken)
                before.look_at(scene.sites)
                after.look_at(scene.sites)
                return before, after, lost
            if turn < 0:
                first = next((n for n, moment in enumerate(after.moments) if moment.key == clash[0]), -1)
                turns = [n for n, passed in enumerate(after.turns) if passed > first][:_TURNS]
        return None

    def _trace(
        self,
        number: int,
        overlay: Overlay | None,
        sites: frozenset[Key],
        turn: int = -1,
        clash: tuple[Key, Key] | None = None,
        along: Sequence[bool] = (),
    ) -> Tracer:
        view, overlay, own = self.views[number], overlay or Overlay(), self.per_thread
        return trace(
            view.program, self.tables, overlay, view.root, sites, per_thread=own, turn=turn, clash=clash, along=along
        )


def _passes(tracer: Tracer, scene: Scene) -> bool:
    """Whether a path shows a defect that is one operation on its own."""
    return scene.clash is not None and len(set(scene.clash)) == 1 and any(m.key in scene.clash for m in tracer.moments)


def _bare(groups: Sequence[Group]) -> Overlay | None:
    """The rewrite of these groups without anything inserted; None where a stream has no name."""
    overlay = Overlay()
    for group in groups:
        for key, site in group.sites() if group.options else ():
            moved = moved_call(site.call, group.streams[key])
            if moved is not None:
                overlay.replaced[key] = moved
    return overlay if overlay.replaced else None


def _filled(call: ir.Call) -> str:
    """The variable that an allocation fills, as the program spells it."""
    place = call.args[0] if call.args else call.result
    name = spelled(place.base if isinstance(place, ir.Addr) else place) if place is not None else ""
    return name.replace("[]", "[…]")


def _between(first: Key, second: Key, moments: Sequence[Moment]) -> tuple[int, int] | None:
    """An operation at one place, and a later step at the other that it may not be finished for."""
    for n, earlier in enumerate(moments):
        if earlier.key == first and earlier.operation >= 0:
            for m in range(n + 1, len(moments)):
                if moments[m].key == second and not moments[m].done >> earlier.operation & 1:
                    return n, m
    return None


def _as_in(moments: Sequence[Moment], others: Sequence[Moment], pair: tuple[int, int] | None) -> tuple[int, int] | None:
    """The two moments of one path that are those of another one: at the same place, for the same time."""

    def found(n: int) -> int | None:
        times = sum(moment.key == others[n].key for moment in others[:n])
        return next(islice((m for m, moment in enumerate(moments) if moment.key == others[n].key), times, None), None)

    first, second = (found(pair[0]), found(pair[1])) if pair is not None else (None, None)
    return (first, second) if first is not None and second is not None else None


def _lost(clash: tuple[Key, Key], moments: Sequence[Moment]) -> tuple[int, int] | None:
    """The two steps of a counterexample: out of order, or something behind a free, or behind the end of its stream."""
    ends = [n for n, moment in enumerate(moments) if moment.key == clash[0] and moment.kind in ("free", "host")]
    uses = [n for n, moment in enumerate(moments) if moment.key == clash[1] and moment.operation >= 0]
    behind = ((end, use) for end in ends for use in uses if end < use)
    return _between(*clash, moments) or next(behind, None)


def _steps(
    tracer: Tracer, clash: tuple[int, int] | None, kept: Sequence[int]
) -> tuple[tuple[Step, ...], tuple[int, int] | None]:
    """The moments that are `kept` as steps, and which of them the two are that clash."""
    moments = tracer.moments
    steps: list[Step] = []
    finished: list[set[int]] = []  # for each step, the earlier ones that are finished before it
    last: dict[object, int] = {}
    operations = {moments[m].operation: n for n, m in enumerate(kept) if moments[m].operation >= 0}
    for n, m in enumerate(kept):
        moment = moments[m]
        mine = {at for op, at in operations.items() if at < n and moment.done >> op & 1}
        implied = {at for op, at in operations.items() if at < n and moment.known >> op & 1}
        if moment.lane is None:
            implied = set()
        for before in (last.get(moment.lane), last.get(None)):
            if before is not None:
                implied |= finished[before] | ({before} if steps[before].lane or moment.lane is None else set())
        direct = mine - implied - {at for at in mine if kept[at] == m}
        recorded = kept.index(moment.recorded) if moment.recorded in kept else -1
        if recorded >= 0:
            direct -= finished[recorded] | {at for at in direct if at < recorded and _same(moments, kept, at, recorded)}
        direct -= {
            a for a in direct for b in direct if a != b and (a in finished[b] or (a < b and _same(moments, kept, a, b)))
        }
        if recorded >= 0:
            direct.add(recorded)
        finished.append(mine | implied)
        lane = lane_of(moment.lane, tracer.names)
        place = Place(moment.key.path, moment.key.start, moment.text)
        steps.append(Step(moment.kind, lane, place, tuple(sorted(direct)), moment.waits, moment.mine, moment.inserted))
        last[moment.lane] = n
    return tuple(steps), (kept.index(clash[0]), kept.index(clash[1])) if clash is not None else None


def _same(moments: Sequence[Moment], kept: Sequence[int], a: int, b: int) -> bool:
    return moments[kept[a]].lane is not None and moments[kept[a]].lane == moments[kept[b]].lane


def _narrow(moments: Sequence[Moment], wanted: set[int]) -> int:
    """How much moments have to matter so that a timeline is short enough."""
    return next((n for n in range(_TOUCHES) if len(_range(moments, wanted, n)) <= _LONG), _TOUCHES)


def _kept(moments: Sequence[Moment], wanted: set[int], narrow: int | None = None) -> list[int]:
    kept = _range(moments, wanted, _narrow(moments, wanted) if narrow is None else narrow)
    if len(kept) > _LONGEST:
        edges = {*kept[: _LONGEST // 2], *kept[-_LONGEST // 2 :], *wanted}
        kept = [n for n in kept if n in edges]
    return kept


def _range(moments: Sequence[Moment], wanted: set[int], narrow: int) -> list[int]:
    """The moments around those that touch the memory, as far as they matter."""
    about = [n for n, moment in enumerate(moments) if moment.mine] + sorted(wanted)
    about = about or [n for n, moment in enumerate(moments) if moment.inserted]
    if not about:
        return []
    first, last = min(about), max(about)
    stop = min(last + 1 + _BEHIND, len(moments))
    used = 0
    for moment in moments:
        if moment.mine and moment.operation >= 0:
            used |= 1 << moment.operation
    kept = [*range(first, stop), *(n for n in range(stop, len(moments)) if moments[n].inserted)]
    return [n for n in kept if n in wanted or _weight(moments[n], used) >= narrow]


def _weight(moment: Moment, used: Bits) -> int:
    """How much a moment matters for memory on which the operations `used` work."""
    if moment.mine or moment.inserted or moment.waited & used:
        return _TOUCHES
    if moment.kind in ("record", "wait"):
        return 2
    return 0 if moment.kind in ("host", "allocate", "free") else 1
