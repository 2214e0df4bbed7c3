"""Certificates: what a proof, or a proof that failed, looks like on one path of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cudafix import ir
from cudafix.findings import Certificate, Finding, Place, Step
from cudafix.link import Program
from cudafix.models import Tables
from cudafix.ordering.engine import OutOfBudget
from cudafix.ordering.program import Key, Outcome, Overlay
from cudafix.ordering.trace import Moment, Tracer, lane_of, trace
from cudafix.repair import Group, Plan, moved_call, spelled

LONGEST = 60
"""Steps that one timeline shows; of a longer path the ones that touch the memory, and what orders them."""
_TRIES = 4  # programs and roots in which a defect is looked for
_BEHIND = 5  # steps after the last free: what comes next, and may rely on its wait


class View(Protocol):
    """One program from one root."""

    @property
    def program(self) -> Program: ...

    @property
    def root(self) -> ir.Function: ...


class Witness:
    """Makes the certificates of one cluster of programs."""

    def __init__(
        self, views: Sequence[View], survey: Sequence[Outcome], plan: Plan, tables: Tables, per_thread: bool
    ) -> None:
        self.views = views
        self.survey = survey
        self.plan = plan
        self.tables = tables
        self.per_thread = per_thread
        self.proved = plan.overlay()

    def certificate(self, group: Group) -> Certificate | None:
        """None where no path reaches the sites, or even one path is too long."""
        sites = {key for key, _ in group.sites()}
        reached = [
            (len(sites & (o.allocations.keys() | o.frees.keys())), -n)
            for n, o in enumerate(self.survey)
            if not sites.isdisjoint(o.allocations)
        ]
        if not reached:
            return None
        view = self.views[-max(reached)[1]]
        try:
            before = self._trace(view, Overlay(), sites)
            rewritten = self.proved if group.refused is None else _bare(group)
            after = self._trace(view, rewritten, sites) if rewritten is not None else None
        except OutOfBudget:
            return None
        memory = tuple(
            Place(key.path, key.start, _filled(site.call)) for key, site in sorted(group.allocations.items())
        )
        lost = _lost(group, after.moments) if after is not None else None
        if after is None:
            return Certificate(memory, _steps(before, set())[0], (), None, len(reached))
        steps, kept = _steps(after, set(lost or ()))
        there = (kept.index(lost[0]), kept.index(lost[1])) if lost is not None else None
        return Certificate(memory, _steps(before, set())[0], steps, there, len(reached))

    def of_defect(self, finding: Finding) -> Certificate | None:
        """The program as it is, where a path shows the two operations of a defect that nothing orders."""
        places = [Key(place.path, place.offset) for place in finding.related] + [Key(finding.path, finding.offset)]
        for view in self.views[:_TRIES]:
            try:
                found = self._trace(view, Overlay(), set(places))
            except OutOfBudget:
                continue
            lost = _between(places[0], places[-1], found.moments)
            if lost is not None:
                steps, kept = _steps(found, set(lost))
                return Certificate((), (), steps, (kept.index(lost[0]), kept.index(lost[1])))
        return None

    def _trace(self, view: View, overlay: Overlay, sites: set[Key]) -> Tracer:
        return trace(view.program, self.tables, overlay, view.root, sites, per_thread=self.per_thread)


def _bare(group: Group) -> Overlay | None:
    """The rewrite without anything inserted, where the order was the obstacle."""
    if group.refused is None or len(group.refused.places) != 2 or not group.options:
        return None
    overlay = Overlay()
    for key, site in group.sites():
        moved = moved_call(site.call, group.streams[key])
        if moved is not None:
            overlay.replaced[key] = moved
    return overlay


def _filled(call: ir.Call) -> str:
    """The variable that an allocation fills, as the program spells it."""
    place = call.args[0] if call.args else call.result
    return spelled(place.base if isinstance(place, ir.Addr) else place) if place is not None else ""


def _lost(group: Group, moments: Sequence[Moment]) -> tuple[int, int] | None:
    """The steps of the counterexample, if they are on this path and nothing orders them there."""
    if group.refused is None or len(group.refused.places) != 2:
        return None
    first, second = (Key(span.path, span.start) for span, _ in group.refused.places)
    return _between(first, second, moments)


def _between(first: Key, second: Key, moments: Sequence[Moment]) -> tuple[int, int] | None:
    """An operation at one place, and a later step at the other that it may not be finished for."""
    for n, earlier in enumerate(moments):
        if earlier.key == first and earlier.operation >= 0:
            for m in range(n + 1, len(moments)):
                if moments[m].key == second and not moments[m].done >> earlier.operation & 1:
                    return n, m
    return None


def _steps(tracer: Tracer, wanted: set[int]) -> tuple[tuple[Step, ...], list[int]]:
    """The steps that matter for the memory, and which moments they are."""
    moments = tracer.moments
    kept = _kept(moments, wanted)
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
        lane = lane_of(moment, tracer.names)
        place = Place(moment.key.path, moment.key.start, moment.text)
        steps.append(Step(moment.kind, lane, place, tuple(sorted(direct)), moment.waits, moment.mine, moment.inserted))
        last[moment.lane] = n
    return tuple(steps), kept


def _same(moments: Sequence[Moment], kept: Sequence[int], a: int, b: int) -> bool:
    return moments[kept[a]].lane is not None and moments[kept[a]].lane == moments[kept[b]].lane


def _kept(moments: Sequence[Moment], wanted: set[int]) -> list[int]:
    about = [n for n, moment in enumerate(moments) if moment.mine] + sorted(wanted)
    if not about:
        return sorted(wanted)
    first, last = min(about), max(about)
    kept = list(range(first, min(last + 1 + _BEHIND, len(moments))))
    used = 0
    for moment in moments:
        if moment.mine and moment.operation >= 0:
            used |= 1 << moment.operation

    def touches(moment: Moment) -> bool:
        return moment.mine or moment.inserted or bool(moment.waited & used)

    narrower = (
        lambda moment: touches(moment) or moment.kind not in ("host", "allocate", "free"),
        lambda moment: touches(moment) or moment.kind in ("record", "wait"),
        touches,
    )
    for keep in narrower:
        if len(kept) > LONGEST:
            kept = [n for n in kept if n in wanted or keep(moments[n])]
    if len(kept) > LONGEST:
        edges = {*kept[: LONGEST // 2], *kept[-LONGEST // 2 :], *wanted}
        kept = [n for n in kept if n in edges]
    return kept
