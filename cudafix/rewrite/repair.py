"""From a proof that fails to a rewrite that is proved, or to the reason why there is none.

Start from the bare rewrite of every group of sites that may meet. The checker answers with counterexamples: *this*
operation must be ordered before *that* point. Choose another stream, else insert the narrowest thing that orders them
(an event wait, a stream sync), and ask again. What needs a device-wide sync, or cannot be ordered at all, is refused.
In the end each insertion is taken out again, and stays only if the proof needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ordering.interpreter.program import (
    Key,
    Obstacle,
    Operation,
    Outcome,
    Overlay,
    Site,
    StreamName,
    Violation,
    Wrong,
    key_of,
    lacks_stream,
)
from cudafix.ordering.interpreter.state import Stream, StreamKind
from cudafix.project import prefilter
from cudafix.rewrite.naming import DEFAULT, spelled
from cudafix.rewrite.own_events import OwnEvent, OwnEvents, inserted

MAX_ROUNDS = 40

Run = Callable[[Overlay], Sequence[Outcome]]


class Does(Enum):
    """What an inserted statement does, from narrow to wide."""

    WAIT = "wait"  # one stream waits for another
    SYNC = "sync"  # the host waits for one stream
    DEVICE_SYNC = "device sync"  # the host waits for the device: only before a reset


@dataclass(frozen=True, slots=True)
class Insertion:
    """A statement to insert next to the statement of `anchor`. WAIT: the first stream waits for the second. With an
    `event` it is that of the object: the host, or the only stream, waits for it.
    """

    does: Does
    anchor: Key
    after: bool
    streams: tuple[StreamName, ...]
    event: OwnEvent | None = None

    def paths(self) -> list[str]:
        """The files that it is written to."""
        event = (self.event.declared.path, *(key.path for key in self.event.statements)) if self.event else ()
        return [self.anchor.path, *event]

    def calls(self, at: ir.Call | ir.Launch) -> list[ir.Call]:
        """The insertion in the IR, as the engine runs it in Q."""
        if self.does is Does.DEVICE_SYNC:
            return [inserted("cudaDeviceSynchronize", (), at)]
        if self.does is Does.SYNC and self.event is not None:
            return [inserted("cudaEventSynchronize", (self.event.place,), at)]
        if self.does is Does.SYNC:
            return [inserted("cudaStreamSynchronize", (self.streams[0].expr,), at)]
        if self.event is not None:
            return [inserted("cudaStreamWaitEvent", (self.streams[0].expr, self.event.place, ir.Const("0")), at)]
        event, (waiter, awaited) = ir.Var("%done"), self.streams
        return [
            inserted("cudaEventCreateWithFlags", (ir.Addr(event), ir.Const("cudaEventDisableTiming")), at),
            inserted("cudaEventRecord", (event, awaited.expr), at),
            inserted("cudaStreamWaitEvent", (waiter.expr, event, ir.Const("0")), at),
            inserted("cudaEventDestroy", (event,), at),
        ]


class Refused(NamedTuple):
    """Why a group stays as it is; where two operations would be out of order, `places` are those of the `clash`."""

    name: str
    text: str
    places: tuple[tuple[ir.Span, str], ...] = ()
    clash: Violation | None = None
    unlock: str = ""  # where the page of the refusal says more than what concerns this one


@dataclass(slots=True, eq=False)
class Group:
    """Allocation and free sites that may meet, over all programs and configurations: they move together or not at
    all.
    """

    allocations: dict[Key, Site] = field(default_factory=dict)
    frees: dict[Key, Site] = field(default_factory=dict)
    obstacles: dict[Obstacle, None] = field(default_factory=dict)
    users: list[Stream] = field(default_factory=list)
    options: list[dict[Key, StreamName]] = field(default_factory=list)
    chosen: int = 0
    refused: Refused | None = None
    assumptions: set[Assumption] = field(default_factory=set)
    churn: bool = False
    never_freed: bool = False  # in some configuration, from some root

    @property
    def streams(self) -> dict[Key, StreamName]:
        return self.options[self.chosen]

    def sites(self) -> Iterator[tuple[Key, Site]]:
        yield from self.allocations.items()
        yield from self.frees.items()

    def names_any(self, keys: set[Key]) -> bool:
        """Whether one of its sites is among `keys`."""
        return not (self.allocations.keys().isdisjoint(keys) and self.frees.keys().isdisjoint(keys))


@dataclass(slots=True)
class Plan:
    """What moves, on which streams, and what is inserted (for which groups). Those of `bound` move together."""

    groups: list[Group]
    insertions: dict[Insertion, set[int]] = field(default_factory=dict)
    anchors: dict[Key, ir.Call] = field(default_factory=dict)
    bound: set[int] = field(default_factory=set)

    def moving(self) -> list[Group]:
        return [g for g in self.groups if g.refused is None]

    def overlay(self) -> Overlay:
        overlay = Overlay()
        for group in self.moving():
            for key, site in group.sites():
                moved = moved_call(site.call, group.streams[key])
                if moved is not None:
                    overlay.replaced[key] = moved
        for insertion in self.insertions:
            at = self.anchors[insertion.anchor]
            target = overlay.after if insertion.after else overlay.before
            target.setdefault(insertion.anchor, []).extend(insertion.calls(at))
        for event in self.events():
            for key, after, step in event.steps():
                calls = (overlay.after if after else overlay.before).setdefault(key, [])
                if all((c.callee, c.args) != (step.callee, step.args) for c in calls):
                    calls.append(step)  # several waits share what makes an event
        return overlay

    def events(self) -> list[OwnEvent]:
        """The events that objects get."""
        return list(dict.fromkeys(i.event for i in self.insertions if i.event is not None))


_STREAM_ORDERED = {"cudaMalloc": "cudaMallocAsync", "cudaFree": "cudaFreeAsync"}


def moved_call(call: ir.Call, stream: StreamName) -> ir.Call | None:
    """The stream-ordered form of a blocking call, or of one that lacks its stream; None where the call has one."""
    if lacks_stream(call):
        return with_stream(call, stream)
    name = _STREAM_ORDERED.get(call.callee)
    return replace(with_stream(call, stream), callee=name) if name is not None else None


def with_stream(call: ir.Call, stream: StreamName) -> ir.Call:
    """The call with a stream as one more argument."""
    return replace(call, args=(*call.args, stream.expr))


# ---------------------------------------------------------------------------------------------------------------------
# groups


def groups_of(outcomes: Iterable[Outcome]) -> list[Group]:
    """Union sites that share a memory object in some context: what may meet moves together."""
    parent: dict[Key, Key] = {}

    def find(key: Key) -> Key:
        while parent.setdefault(key, key) != key:
            parent[key] = key = parent[parent[key]]
        return key

    members: list[tuple[Outcome, dict[Key, Site], Key]] = []
    for outcome in outcomes:
        by_object: dict[int, Key] = {}
        for sites in (outcome.allocations, outcome.frees):
            for key, site in sites.items():
                find(key)
                members.append((outcome, sites, key))
                for number in site.objects:
                    first = by_object.setdefault(number, key)
                    parent[find(key)] = find(first)
    groups: dict[Key, Group] = {}
    for outcome, sites, key in members:
        group = groups.setdefault(find(key), Group())
        is_allocation = sites is outcome.allocations
        mine = group.allocations if is_allocation else group.frees
        site = sites[key]
        if key in mine:
            _merge(mine[key], site)
        else:
            mine[key] = Site(
                site.call,
                site.function,
                set(),
                dict(site.names or {}),
                site.in_loop,
                set(site.contexts),
                set(site.frees_other),
                site.order,
                dict(site.others),
                set(site.gone),
            )
        if is_allocation:
            freed = set().union(*(s.objects for s in outcome.frees.values()))
            group.never_freed |= not site.objects <= freed
        group.churn |= site.in_loop or len(site.contexts) > 2
        for number in site.objects:
            group.obstacles |= dict.fromkeys(outcome.obstacles.get(number, {}).values())
            group.users += [s for s in outcome.first_use.get(number, ()) if s not in group.users]
    found = [g for g in groups.values() if g.allocations]
    return sorted(found, key=lambda g: min(g.allocations))


def _merge(mine: Site, other: Site) -> None:
    names = other.names or {}
    mine.names = {n: s | names[n] for n, s in (mine.names or {}).items() if n in names}
    mine.in_loop |= other.in_loop
    mine.contexts |= other.contexts
    mine.frees_other |= other.frees_other
    mine.others |= other.others
    mine.gone |= other.gone


def stream_options(group: Group) -> list[dict[Key, StreamName]]:
    """The ways to give every site of a group a stream, best first.

    The one stream that uses the buffer; else the stream of its first use; else the legacy stream, where all users are
    blocking: it orders them, and never more than `cudaFree` did. Then allocating on one and freeing on another.
    """

    def everywhere(allocate: Stream | None, release: Stream | None) -> dict[Key, StreamName] | None:
        named: dict[Key, StreamName] = {}
        for sites, stream in ((group.allocations, allocate), (group.frees, release)):
            for key, site in sites.items():
                name = DEFAULT if stream is None else site.name_of([stream])
                if name is None:
                    return None
                named[key] = name
        return named

    users = [None if s.kind is StreamKind.LEGACY else s for s in group.users if not s.summary]
    own = list(dict.fromkeys(u for u in users if u is not None))
    blocking = all(s.kind in (StreamKind.LEGACY, StreamKind.BLOCKING) for s in group.users)
    single = own[:1] if len(own) == 1 and None not in users else []
    order: list[tuple[Stream | None, Stream | None]] = [(s, s) for s in single]
    if blocking:
        order.append((None, None))
    order += [(s, s) for s in own]
    order.append((None, None))
    order += [(a, b) for a in own for b in own if a is not b]
    order += [(a, None) for a in own] + [(None, b) for b in own]
    options: list[dict[Key, StreamName]] = []
    for allocate, release in dict.fromkeys(order):
        option = everywhere(allocate, release)
        if option is not None and option not in options:
            options.append(option)
    return options[:12]


# ---------------------------------------------------------------------------------------------------------------------
# what no stream and no wait can mend


_INSTEAD = {
    f": {ir.THROUGH_POINTER}": "Call the function by its name, or give the pointer its one function in the code that "
    "is analysed.",
    ": nested too deeply": "Split the expression or the statement that is shown into several ones.",
}
"""What would unlock a group, by how its obstacle ends."""


def static_refusal(group: Group, outcomes: Iterable[Outcome]) -> Refused | None:
    """Why a group cannot move, whatever the order."""
    for site in (*group.allocations.values(), *group.frees.values()):
        fixed = site.call.site.fixed
        if site.call.name_span.start == site.call.name_span.end or fixed:
            text = f"`{site.call.callee}` cannot be edited here: {fixed or 'a macro makes the name'}"
            return Refused(
                "site_not_editable", text, unlock="Write the call out in plain text where the macro is used."
            )
        if lacks_stream(site.call) and site.call.span.path.endswith(prefilter.SUFFIX):
            return Refused("site_not_editable", f"`{site.call.callee}` needs a stream as its last argument")
    for obstacle in sorted(group.obstacles, key=lambda o: _RANK.get(o.name, 50)):
        unlock = next((text for why, text in _INSTEAD.items() if obstacle.text.endswith(why)), "")
        return Refused(obstacle.name, obstacle.text, ((obstacle.span, obstacle.text),), unlock=unlock)
    if not group.frees:
        return Refused("free_not_found", "no `cudaFree` of it is reached")
    if group.never_freed:
        return Refused("free_not_found", "there are paths or configurations in which nothing frees it")
    for site in group.frees.values():
        if site.frees_other & {"external", "nothing"}:
            return Refused(
                "escapes",
                "a pointer that cannot be followed may be freed at the same place",
                ((site.call.span, "this free"),),
            )
        other = site.frees_other - {"null", "interior", "async"}
        if other:
            kinds = " or ".join(sorted(other))
            return Refused(
                "mixed_allocation_kinds",
                f"the free may also give back {kinds} memory",
                ((site.call.span, "this free"), *_allocated(site)),
            )
        if "interior" in site.frees_other:
            return Refused(
                "out_of_order",
                "a pointer into the middle of a block may be freed",
                ((site.call.span, "this free"),),
                unlock="Free the pointer that the allocation gave, and move another one along.",
            )
    for outcome in outcomes:
        if outcome.peers and any(k in outcome.allocations for k in group.allocations):
            return Refused(
                "peer_access",
                "another device may reach it: pools need access of their own",
                ((outcome.peers[0], "peer access is enabled"),),
            )
    return None


def settled_sites(outcome: Outcome) -> set[Key]:
    """The sites that a run of the program has refused for good, however it goes on: an obstacle of one of them, or what
    else a free may give back, stays.
    """
    found = {key for group in groups_of([outcome]) if group.obstacles for key, _ in group.sites()}
    return found | {key for key, free in outcome.frees.items() if free.frees_other & {"external", "nothing"}}


def only_read(path: str, span: ir.Span, what: str) -> Refused:
    """The refusal of what would need an edit in a file that was not given, but read with those that were."""
    text = f"{what} is in `{path}`, which would have to change with it and was not given"
    return Refused("site_not_editable", text, ((span, "here"),), unlock=f"Give `{path}` too, or the folder of both.")


_SHOWN = 4  # allocations of other kinds that a refusal names


def _allocated(free: Site) -> list[tuple[ir.Span, str]]:
    """Where memory of other kinds that a free may give back is allocated."""
    found = [(call.span, f"`{call.callee}` allocates {kind} memory") for _, (call, kind) in sorted(free.others.items())]
    return found[:_SHOWN]


_RANK = {
    name: n
    for n, name in enumerate(
        (
            "freed_by_device_reset",
            "deleter",
            "several_host_threads",
            "ipc_handle",
            "external_library",
            "unknown_call",
            "escapes",
        )
    )
}

_REFUSAL = {
    Wrong.RESET_LEAKS: "freed_by_device_reset",
    Wrong.UNDER_CAPTURE: "under_capture",
    Wrong.OTHER_DEVICE: "device_changes",
    Wrong.FREE_MEMORY: "free_memory_is_measured",
    Wrong.STREAM_DESTROYED: "stream_destroyed",
}
_OF_TWO = frozenset(
    {
        Wrong.ORDER,
        Wrong.HOST_ACCESS,
        Wrong.OUTPUT,
        Wrong.CLOCK,
        Wrong.EXIT,
        Wrong.FAULT,
        Wrong.LEAVES,
        Wrong.USE_BEFORE_ALLOCATION,
        Wrong.USE_AFTER_FREE,
        Wrong.FREE_BEFORE_USE,
        Wrong.DOUBLE_FREE,
        Wrong.FREED_WITHOUT_WAIT,
        Wrong.STREAM_DESTROYED,
        Wrong.RESET_PENDING,
    }
)
"""What is wrong between two operations, which may be two runs of one statement."""
_UNLOCK = {
    Wrong.DOUBLE_FREE: "Free the memory once: take one of the two out, or set the pointer to null behind the first.",
    Wrong.USE_AFTER_FREE: "Free the memory behind its last use; what a captured graph works on, behind the last launch "
    "of the graph.",
}
_FREE_WHERE_ALLOCATED = (
    "Free the memory in front of the reset on each path that allocates it: in the same branch, or in a loop over the "
    "same elements of an array."
)
_FREE_ONCE_HERE = (
    "Free the memory once: this free runs twice on it. If it stands in a destructor, a copy of the object frees what "
    "the other one has: delete the copy constructor and the copy assignment. Else set the pointer to null behind it."
)
_OF_THE_PROGRAM = frozenset({Wrong.FREE_MEMORY, Wrong.RESET_PENDING, Wrong.RESET_LEAKS, Wrong.DESTROYED_AFTER_RESET})
"""What concerns all that the program moves, if it concerns no block of its own."""
_LIFETIME = frozenset(
    {
        Wrong.USE_BEFORE_ALLOCATION,
        Wrong.FREE_BEFORE_USE,
        Wrong.NO_STREAM,
        Wrong.STREAM_DESTROYED,
        Wrong.DOUBLE_FREE,
        Wrong.USE_AFTER_FREE,
    }
)


def _identity(v: Violation) -> tuple[object, ...]:
    return (
        v.kind,
        v.earlier.text if v.earlier else None,
        v.earlier.stmt.span if v.earlier and v.earlier.stmt else None,
        v.later.span,
    )


def _is_recorded_here(site: Site, awaited: frozenset[Stream]) -> bool:
    """Whether a new event can be recorded on a stream: it is of the device that is current, and so is the stream."""
    current = (site.names or {}).get(DEFAULT, set())
    return {s.device for s in awaited} <= {s.device for s in current}


class Repair:
    """The search for a plan, over all programs, roots and configurations that share the sites. Nothing is inserted in
    functions that are `unclear`, and in files that are `only_read`.
    """

    def __init__(
        self,
        run: Run,
        survey: Sequence[Outcome],
        groups: list[Group],
        events: OwnEvents | None = None,
        unclear: Sequence[ir.Span] = (),
        only_read: Collection[str] = (),
    ) -> None:
        self.run = run
        self.only_read = only_read
        self.unclear = unclear
        self.events = events
        self.plan = Plan(groups)
        self.outcomes = survey
        self.known = {_identity(v) for outcome in survey for v in outcome.violations}
        self.seen_in: dict[tuple[object, ...], list[Outcome]] = {}  # the counterexamples, by the runs that showed them
        self.tried: set[tuple[object, ...]] = set()
        self.fresh: set[Insertion] = set()

    def search(self) -> Plan:
        for group in self.plan.groups:
            if group.refused is None:
                group.options = stream_options(group)
                if not group.options:
                    group.refused = Refused(
                        "out_of_order",
                        "no stream that uses it can be named at every allocation and free",
                        unlock="Give the stream to the functions that allocate and free, or keep it with the pointer.",
                    )
        found = self._choose_streams()
        for _ in range(MAX_ROUNDS):
            if not found:
                break
            progress = False
            self.fresh = set()
            for violation in {_identity(v): v for v in found}.values():
                progress = self._mend(violation) or progress
            if not progress:
                break
            found = self._ask()
        if found:  # every remaining counterexample has been given up on: its groups are refused by now
            for violation in found:
                self._refuse(violation, "out_of_order")
            found = self._ask()
            for _ in range(len(self.plan.groups)):
                if not found:
                    break
                for violation in found:
                    self._refuse(violation, "out_of_order")
                found = self._ask()
            if found:
                for group in self.plan.moving():
                    group.refused = self._because(found[0], "out_of_order", group)
        self._drop_idle_insertions()
        self._minimize()
        self._bind()
        self._note_assumptions()
        return self.plan

    # -- asking ------------------------------------------------------------------------------------------------------

    def _all(self) -> list[Violation]:
        return self._found(self.plan.overlay()) if self.plan.moving() else []

    def _found(self, overlay: Overlay) -> list[Violation]:
        found: list[Violation] = []
        self.seen_in = {}
        for outcome in self.run(overlay):
            for v in outcome.violations:
                identity = _identity(v)
                if identity not in self.known or v.is_assumed:
                    found.append(v)
                    self.seen_in.setdefault(identity, []).append(outcome)
        return found

    def _ask(self) -> list[Violation]:
        return [v for v in self._all() if not v.is_assumed]

    def _note_assumptions(self) -> None:
        for outcome in self.outcomes:
            if outcome.assumption is None:
                continue
            for group in self.plan.moving():
                if any(key in outcome.allocations or key in outcome.frees for key, _ in group.sites()):
                    group.assumptions.add(outcome.assumption)
        if self.plan.moving() and any(outcome.unseen for outcome in self.outcomes):
            for outcome in self.run(self.plan.overlay()):
                if outcome.uncalm:  # the host does not know all that it knew: a hook might look at that
                    self._note_imports(outcome)
        for v in self._all():
            if v.earlier is not None and v.earlier.assumption is not None:
                for group in self._responsible(v):
                    group.assumptions.add(v.earlier.assumption)

    def _note_imports(self, outcome: Outcome) -> None:
        for group in self.plan.moving():
            if any(key in outcome.allocations or key in outcome.frees for key, _ in group.sites()):
                group.assumptions.update(Assumption("imports_set_no_hooks", f"`{name}`") for name in outcome.unseen)

    def _choose_streams(self) -> list[Violation]:
        """For each group the first way without a counterexample about its own memory, else the one with the fewest."""
        best: dict[int, tuple[int, int]] = {}
        found: list[Violation] = []
        while True:
            found = self._ask()
            again = False
            weights: Counter[int] = Counter()  # of the counterexamples, by the `id` of the groups
            for v in found:
                if v.kind in _LIFETIME:
                    weight = 3 if v.kind in (Wrong.NO_STREAM, Wrong.STREAM_DESTROYED) else 1
                    weights.update({id(group): weight for group in self._responsible(v)})
            for n, group in enumerate(self.plan.groups):
                if group.refused is not None:
                    continue
                bad = weights[id(group)]
                if n not in best or bad < best[n][0]:
                    best[n] = (bad, group.chosen)
                if bad and best[n][0] and group.chosen + 1 < len(group.options):
                    group.chosen += 1
                    again = True
            if not again:
                break
        changed = False
        for n, (_, chosen) in best.items():
            changed |= self.plan.groups[n].chosen != chosen
            self.plan.groups[n].chosen = chosen
        return self._ask() if changed else found

    def _responsible(self, v: Violation) -> list[Group]:
        """The groups whose move makes the counterexample possible."""
        keys = set(v.via)
        if v.object is not None and v.object.call is not None:
            keys.add(key_of(v.object.call))
        if isinstance(v.later.stmt, ir.Call) and v.kind in _LIFETIME | {
            Wrong.UNDER_CAPTURE,
            Wrong.OTHER_DEVICE,
            Wrong.NOT_UNDERSTOOD,
        }:
            keys.add(key_of(v.later.stmt))
        found = [g for g in self.plan.moving() if g.names_any(keys)]
        if v.kind is Wrong.NOT_UNDERSTOOD and v.later.stmt is not None:  # what an insertion does to its event
            at = key_of(v.later.stmt)
            needed = [by for i, by in self.plan.insertions.items() if i.event is not None and at in i.event.statements]
            found += [g for g in self.plan.moving() if any(id(g) in by for by in needed)]
        if found or v.kind not in _OF_THE_PROGRAM or any(g.refused and g.names_any(keys) for g in self.plan.groups):
            return found  # who is refused by now has nothing to do with the others
        outcomes = self.seen_in.get(_identity(v), ())
        reached = {key for outcome in outcomes for key in (*outcome.allocations, *outcome.frees)}
        return [g for g in self.plan.moving() if g.names_any(reached)]

    def _needing(self, v: Violation) -> set[int]:
        """The groups that need what orders the two of a counterexample, whichever of them are written."""
        needing = [*self._responsible(v), *(group for group in self.plan.moving() if group.names_any(v.every_via))]
        return {id(group) for group in needing}

    # -- mending -----------------------------------------------------------------------------------------------------

    def _mend(self, v: Violation) -> bool:
        """Insert something that orders the two, or refuse. True if the plan changed."""
        if v.kind in _REFUSAL and v.kind is not Wrong.STREAM_DESTROYED:
            return self._refuse(v, _REFUSAL[v.kind])
        if not self._responsible(v):
            return False
        elsewhere: tuple[str, ir.Span] | None = None
        for insertion, at in self._candidates(v):
            if (
                insertion in self.fresh and insertion in self.plan.insertions
            ):  # another counterexample of this round has asked for it
                self.plan.insertions[insertion] |= self._needing(v)
                return True
            token = (_identity(v), insertion)
            if token in self.tried or insertion in self.plan.insertions or not self._may_stand(insertion, at):
                continue  # it is there, or was there, and does not order these two
            closed = next((path for path in insertion.paths() if path in self.only_read), None)
            if closed is not None:
                elsewhere = elsewhere or (closed, at.span)
                continue
            self.tried.add(token)
            self.fresh.add(insertion)
            self.plan.insertions[insertion] = self._needing(v)
            self.plan.anchors[insertion.anchor] = at
            return True
        if elsewhere is not None:
            for group in self._responsible(v):
                group.refused = only_read(*elsewhere, "the place of a wait")
            self._drop_idle_insertions()
            return True
        return self._refuse(v, _REFUSAL.get(v.kind, "out_of_order"))

    def _may_stand(self, insertion: Insertion, at: ir.Call | ir.Launch) -> bool:
        """Whether something can be written there: not in a function that could not be read as a whole."""
        path, start = insertion.anchor.path, insertion.anchor.start
        return at.site.blocked is None and not any(s.path == path and s.start <= start < s.end for s in self.unclear)

    def _candidates(self, v: Violation) -> Iterator[tuple[Insertion, ir.Call]]:
        """Narrowest first."""
        if v.earlier is None:
            return
        if v.kind is Wrong.RESET_PENDING and isinstance(v.later.stmt, ir.Call):
            yield Insertion(Does.DEVICE_SYNC, key_of(v.later.stmt), False, ()), v.later.stmt
            return
        awaited = v.earlier.streams
        if v.kind is Wrong.USE_BEFORE_ALLOCATION and v.object is not None and v.object.call is not None:
            for group, key, site in self._sites({key_of(v.object.call)}):
                mine, waiter = group.streams[key], site.name_of(v.streams)
                if waiter is not None and waiter != mine:
                    yield Insertion(Does.WAIT, key, True, (waiter, mine)), site.call
                yield Insertion(Does.SYNC, key, True, (mine,)), site.call
            return
        if v.kind is Wrong.FREE_BEFORE_USE and isinstance(v.later.stmt, ir.Call):
            for group, key, site in self._sites({key_of(v.later.stmt)}):
                mine, other = group.streams[key], site.name_of(awaited)
                if other is not None and other != mine and _is_recorded_here(site, awaited):
                    yield Insertion(Does.WAIT, key, False, (mine, other)), site.call
                yield from self._before_destroy(mine, awaited)
                if other is not None:
                    yield Insertion(Does.SYNC, key, False, (other,)), site.call
                elif self._blocking(awaited):
                    yield Insertion(Does.SYNC, key, False, (DEFAULT,)), site.call
                elif (event := self._own_event(v.earlier, site.call)) is not None:
                    yield Insertion(Does.WAIT, key, False, (mine,), event), site.call
            return
        for _, key, site in self._sites(set(v.via)):
            other = site.name_of(awaited)
            waiter = site.name_of(v.streams) if v.streams else None
            if (
                v.streams
                and other is not None
                and waiter is not None
                and waiter != other
                and _is_recorded_here(site, awaited)
            ):
                yield Insertion(Does.WAIT, key, False, (waiter, other)), site.call
            if other is not None:
                yield Insertion(Does.SYNC, key, False, (other,)), site.call
            elif self._blocking(awaited):
                yield Insertion(Does.SYNC, key, False, (DEFAULT,)), site.call
            elif (event := self._own_event(v.earlier, site.call)) is not None:
                if waiter is not None:
                    yield Insertion(Does.WAIT, key, False, (waiter,), event), site.call
                yield Insertion(Does.SYNC, key, False, (), event), site.call
        yield from self._sync_before_destroy(awaited)

    def _own_event(self, op: Operation, free: ir.Call) -> OwnEvent | None:
        return self.events.between(op, free) if self.events is not None else None

    def _sites(self, keys: set[Key]) -> Iterator[tuple[Group, Key, Site]]:
        for group in self.plan.moving():
            for key, site in sorted(group.sites(), key=lambda item: item[1].order):
                if key in keys:
                    yield group, key, site

    def _blocking(self, streams: Iterable[Stream]) -> bool:
        found = list(streams)
        return bool(found) and all(s.kind in (StreamKind.BLOCKING, StreamKind.LEGACY) for s in found)

    def _destroys(self, streams: frozenset[Stream]) -> list[ir.Call]:
        return [call for outcome in self.outcomes for s in streams for call in outcome.destroys.get(s, ())]

    def _before_destroy(self, waiter: StreamName, awaited: frozenset[Stream]) -> Iterator[tuple[Insertion, ir.Call]]:
        """The stream to wait for is destroyed before the free: the default stream waits for it before that."""
        if waiter == DEFAULT:
            for call in self._destroys(awaited):
                name = StreamName(call.args[0], spelled(call.args[0]))
                yield Insertion(Does.WAIT, key_of(call), False, (DEFAULT, name)), call
        yield from self._sync_before_destroy(awaited)

    def _sync_before_destroy(self, awaited: frozenset[Stream]) -> Iterator[tuple[Insertion, ir.Call]]:
        for call in self._destroys(awaited):
            name = StreamName(call.args[0], spelled(call.args[0]))
            yield Insertion(Does.SYNC, key_of(call), False, (name,)), call

    # -- refusing ----------------------------------------------------------------------------------------------------

    def _because(self, v: Violation, name: str, group: Group) -> Refused:
        earlier, later = v.earlier, (v.later.span, v.later.text)
        if v.kind is Wrong.DOUBLE_FREE:
            later = v.later.span, f"{v.later.text} again"
        first: tuple[ir.Span, str] | None = None
        if v.kind in (Wrong.USE_AFTER_FREE, Wrong.DOUBLE_FREE):
            first = self._freed_before(v, group)
        elif v.kind is Wrong.STREAM_DESTROYED:
            first = next(((call.span, "the stream is destroyed") for call in self._destroys(v.streams)), None)
        elif earlier is not None and earlier.stmt is not None:
            first = earlier.stmt.span, earlier.text
        if name == "out_of_order" and earlier is not None and not self._nameable(earlier):
            name = "needs_device_sync"
        if v.kind is Wrong.FREE_BEFORE_USE and earlier is not None and first is not None:
            free = group.frees.get(Key(v.later.span.path, v.later.span.start))
            if free is not None and earlier.streams and earlier.streams <= free.gone:
                ends = tuple((call.span, "the stream is destroyed") for call in self._destroys(earlier.streams))
                text = f"{v.words}, and its stream may be destroyed by then"
                return Refused("stream_destroyed", text, (first, later, *dict.fromkeys(ends)), v)
        if first is not None and v.kind in _OF_TWO:
            twice_here = v.kind is Wrong.DOUBLE_FREE and first[0] == later[0]
            return Refused(name, v.words, (first, later), v, _FREE_ONCE_HERE if twice_here else _UNLOCK.get(v.kind, ""))
        unlock = _FREE_WHERE_ALLOCATED if v.kind is Wrong.RESET_LEAKS and v.is_freed_somewhere else ""
        places = (first, later) if first is not None and first[0] != later[0] else (later,)
        return Refused(name, v.words, places, unlock=unlock)

    def _freed_before(self, v: Violation, group: Group) -> tuple[ir.Span, str] | None:
        """The free that memory is used or freed again behind: the last one above that place, if one stands there."""
        at = Key(v.later.span.path, v.later.span.start)
        frees = sorted(group.frees.keys() - {at}) or sorted(group.frees)  # in a loop it may be this one
        if not frees:
            return None
        key = max((key for key in frees if key.path == at.path and key < at), default=frees[0])
        text = "the memory is freed" if len(frees) == 1 else "the memory may be freed"
        return group.frees[key].call.span, text

    def _nameable(self, op: Operation) -> bool:
        return len(op.streams) == 1 and not any(s.summary for s in op.streams)

    def _refuse(self, v: Violation, name: str) -> bool:
        found = self._responsible(v)
        for group in found:
            group.refused = self._because(v, name, group)
        self._drop_idle_insertions()
        return bool(found)

    def _drop_idle_insertions(self) -> None:
        moving = {id(g) for g in self.plan.moving()}
        for insertion, needed_by in list(self.plan.insertions.items()):
            if not needed_by & moving:
                del self.plan.insertions[insertion]

    def _minimize(self) -> None:
        """Take each insertion out again; it stays, at its place among the others, only if the proof needs it.

        What is not needed often stands together: behind one that could go, twice as many are tried at once.
        """
        served: set[int] = set()  # the groups whose own insertion went, as another one serves them too
        left, size = list(self.plan.insertions), 1
        while left:
            out, proved = left[:size], self.plan.insertions
            self.plan.insertions = {i: needed_by for i, needed_by in proved.items() if i not in out}
            found = self._ask()
            if not found:
                served = served.union(*(proved[insertion] for insertion in out))
                left, size = left[size:], 2 * size
                continue
            self.plan.insertions = proved
            if size == 1:
                proved[left[0]] |= {group for v in found for group in self._needing(v)}
                left = left[1:]
            size = max(1, size // 2)
        for group in self.plan.moving():
            if id(group) in served:
                self._adopt(group)

    def _adopt(self, group: Group) -> None:
        """Let a group need the insertions that order what it moves: it may be written without the groups that asked
        for them.
        """
        kept = self.plan.insertions
        own = [i for i, needed_by in kept.items() if id(group) in needed_by]
        others = [i for i in kept if i not in own]
        if others and self._lacks(group, own):
            enough = next(([i] for i in others if not self._lacks(group, [*own, i])), others)
            for insertion in enough:
                kept[insertion] |= {id(group)}

    def _bind(self) -> None:
        """Find the groups that lean on the order which other groups make between blocking streams by moving to the
        legacy stream: they are written together.
        """
        moving = self.plan.moving()
        legacy = {id(group) for group in moving if DEFAULT in group.streams.values()}
        if len(moving) > 1 and legacy and any(outcome.blocking for outcome in self.outcomes):
            overlay = self.plan.overlay()
            overlay.apart = True
            found = [v for v in self._found(overlay) if not v.is_assumed]
            if found:
                self.plan.bound = legacy.union(*map(self._needing, found))

    def _lacks(self, group: Group, insertions: Sequence[Insertion]) -> bool:
        """Whether something of this group is out of order with these insertions alone."""
        kept = self.plan.insertions
        self.plan.insertions = {i: needed_by for i, needed_by in kept.items() if i in insertions}
        lacks = any(id(group) in self._needing(v) for v in self._ask())
        self.plan.insertions = kept
        return lacks
