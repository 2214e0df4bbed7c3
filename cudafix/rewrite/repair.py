"""From a proof that fails to a rewrite that is proved, or to the reason why there is none.

Start from the bare rewrite of every group of sites that may meet. The checker answers with counterexamples: *this*
operation must be ordered before *that* point. Choose another stream, else insert the narrowest thing that orders them
(an event wait, a stream sync), and ask again. What needs a device-wide sync, or cannot be ordered at all, is refused.
In the end each insertion is taken out again, and stays only if the proof needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ordering.interpreter.program import (
    Key,
    Operation,
    Outcome,
    Overlay,
    Site,
    StreamName,
    Violation,
    Wrong,
    key_of,
)
from cudafix.ordering.interpreter.state import Stream, StreamKind
from cudafix.rewrite.groups import Group, Refused, only_read, stream_options
from cudafix.rewrite.loops import Beside, LoopEvent, Loops
from cudafix.rewrite.naming import DEFAULT, spelled
from cudafix.rewrite.own_events import OwnEvent, OwnEvents
from cudafix.rewrite.plan import Does, Insertion, Plan

MAX_ROUNDS = 40
MAX_CALLS = 8
Run = Callable[[Overlay], Sequence[Outcome]]
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


def _is_of_a_function(expr: ir.Expr) -> bool:
    """Whether an expression names what only one function, or object, knows by that name."""
    return any(isinstance(part, ir.Var) and not part.name.startswith("::") for part in ir.variables(expr))


def _is_recorded_here(site: Site, awaited: frozenset[Stream]) -> bool:
    """Whether a new event can be recorded on a stream: it is of the device that is current, and so is the stream."""
    current = (site.names or {}).get(DEFAULT, set())
    return {s.device for s in awaited} <= {s.device for s in current}


def _is_on_a_known_device(site: Site) -> bool:
    """Whether it is known which device is current: an event can be recorded there only if it was made there."""
    current = (site.names or {}).get(DEFAULT, set())
    return bool(current) and all(stream.device != "?" for stream in current)


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
        loops: Loops | None = None,
    ) -> None:
        self.run = run
        self.only_read = only_read
        self.unclear = unclear
        self.events = events
        self.loops = loops or Loops((), {})
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
        for simplify in (self._allocate_where_it_is_used, self._wait_without_others):
            if simplify():
                self._minimize()
        self.plan.in_place = {insertion: set(needed_by) for insertion, needed_by in self.plan.insertions.items()}
        if self._wait_in_front_of_a_call():
            self._minimize()
        for after in (True, False):
            if self._wait_outside_of_loops(after):
                self._minimize()
        if self._wait_in_front_of_branches():
            self._minimize()
        self._make_events_once()
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
        """Whether something can be written there: not in a function that could not be read as a whole, and where a
        function is only named in front of its call alone, with which that is written.
        """
        path, start = insertion.anchor.path, insertion.anchor.start
        if at.site.named and (insertion.after or not any(self._sites({insertion.anchor}))):
            return False
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

    def _allocate_where_it_is_used(self) -> bool:
        """Allocate on a stream that would wait for the allocation, in place of that, where the proof holds with that.
        Returns whether it does anywhere.
        """
        changed = False
        for insertion in list(self.plan.insertions):
            if insertion.does is not Does.WAIT or not insertion.after or insertion.event is not None:
                continue
            waiter, allocating = insertion.streams
            proved = self.plan.insertions
            sites = [(g, key) for g, key, _ in self._sites({insertion.anchor}) if g.streams[key] == allocating]
            self.plan.insertions = {i: needed_by for i, needed_by in proved.items() if i != insertion}
            for group, key in sites:
                group.streams[key] = waiter
            if not sites or self._ask():
                self.plan.insertions = proved
                for group, key in sites:
                    group.streams[key] = allocating
            else:
                changed = True
        return changed

    def _wait_without_others(self) -> bool:
        """Let the host wait for a stream itself in place of one that waits for that, where the proof holds with that.
        Returns whether it does anywhere.
        """
        changed = False
        for insertion in list(self.plan.insertions):
            if insertion.does is not Does.WAIT or insertion.event is not None:
                continue
            waiter, awaited = insertion.streams
            by_host = replace(insertion, does=Does.SYNC, streams=(waiter,))
            if by_host in self.plan.insertions:
                changed |= self._becomes(insertion, replace(by_host, streams=(awaited,)))
        return changed

    def _wait_outside_of_loops(self, after: bool) -> bool:
        """Let what is waited for in each round of a loop be waited for once, behind it or in front of it, where the
        proof holds with that. Returns whether anything has moved.
        """
        moved = False
        for insertion in list(self.plan.insertions):
            if insertion.does is Does.DEVICE_SYNC or insertion.event is not None:
                continue
            for place in self.loops.around(insertion.anchor):
                known = all(self.loops.is_known_beside(stream.expr, place.stmt) for stream in insertion.streams)
                if known and self._moves_beside(insertion, place, after):
                    moved = True
                    break
        return moved

    def _wait_in_front_of_a_call(self) -> bool:
        """Let what each run of a function waits for be waited for in front of one of its calls, where the proof holds
        with that. Returns whether any is.
        """
        changed = False
        for insertion in list(self.plan.insertions):
            if insertion.does is not Does.SYNC or insertion.after or insertion.event is not None:
                continue
            if any(_is_of_a_function(stream.expr) for stream in insertion.streams):
                continue
            calls = self.loops.calls(insertion.anchor)
            first = {frozenset(self.loops.function_at(key_of(one))): one for one in reversed(calls)}  # others follow
            for call in first.values() if 1 < len(calls) <= MAX_CALLS else ():
                there = replace(insertion, anchor=key_of(call))
                closed = any(path in self.only_read for path in there.paths())
                if not closed and self._may_stand(there, call) and not call.site.named:
                    self.plan.anchors.setdefault(there.anchor, call)
                    if self._becomes(insertion, there):
                        changed = True
                        break
        return changed

    def _wait_in_front_of_branches(self) -> bool:
        """Let one wait in front of a branch take the place of the same wait there and behind it, where the proof holds
        with that. Returns whether any does.
        """
        changed = False
        for insertion in list(self.plan.insertions):
            if insertion.after or insertion.does is Does.DEVICE_SYNC or insertion.event is not None:
                continue
            for place in self.loops.branches(insertion.anchor):
                same = self._same_from(insertion, place.stmt)
                known = all(self.loops.is_known_beside(stream.expr, place.stmt) for stream in insertion.streams)
                if known and len(same) > 1 and self._may_run_always(same) and self._join_beside(same, place):
                    changed = True
                    break
        return changed

    def _same_from(self, insertion: Insertion, stmt: ir.Loop | ir.If) -> list[Insertion]:
        """What is inserted as `insertion` is, in its function from a statement on, in the order of the text."""
        if insertion not in self.plan.insertions:
            return []
        around = self.loops.function_at(insertion.anchor)
        same = [
            other
            for other in self.plan.insertions
            if replace(other, anchor=insertion.anchor) == insertion
            and other.anchor >= key_of(stmt)
            and self.loops.function_at(other.anchor) == around
        ]
        return sorted(same, key=lambda other: other.anchor)

    def _may_run_always(self, insertions: Sequence[Insertion]) -> bool:
        """Whether waits cost nothing that matters where the branches around them do not run: buffers that come and go
        may be kept most of the time.
        """
        needing = {group for insertion in insertions for group in self.plan.insertions[insertion]}
        return not any(group.churn for group in self.plan.groups if id(group) in needing)

    def _join_beside(self, insertions: Sequence[Insertion], place: Beside) -> bool:
        """Make one of several insertions, in front of a branch; False, and nothing is changed, if the proof does not
        hold with that.
        """
        beside = replace(insertions[0], anchor=key_of(place.stmt))
        self.plan.anchors[beside.anchor] = place
        return self._become(insertions, beside)

    def _moves_beside(self, insertion: Insertion, place: Beside, after: bool) -> bool:
        """Move an insertion out of a loop; False, and nothing is changed, if the proof does not hold with that."""
        beside = replace(insertion, anchor=key_of(place.stmt), after=after)
        self.plan.anchors[beside.anchor] = place
        return self._becomes(insertion, beside)

    def _make_events_once(self) -> None:
        """Make the event of a wait in a loop once, in front of the loop, where the proof holds with that; a wait behind
        the loop shares it.
        """
        for insertion in list(self.plan.insertions):
            at = self.plan.anchors[insertion.anchor]
            if insertion.does is not Does.WAIT or insertion.event is not None or isinstance(at, Beside):
                continue
            sites = [site for _, _, site in self._sites({insertion.anchor})]
            if at.site.named or not sites or not all(map(_is_on_a_known_device, sites)):
                continue
            for place in self.loops.around(insertion.anchor):
                event = self.loops.event(place.stmt)
                if event is not None and self._becomes(insertion, replace(insertion, event=event)):
                    break
        made = {event.loop: event for event in self.plan.events() if isinstance(event, LoopEvent)}
        for insertion in list(self.plan.insertions):
            if insertion.does is Does.WAIT and insertion.after and insertion.event is None and insertion.anchor in made:
                self._becomes(insertion, replace(insertion, event=made[insertion.anchor]))

    def _becomes(self, insertion: Insertion, other: Insertion) -> bool:
        """Put another insertion in the place of one; False, and nothing is changed, if the proof does not hold so."""
        return self._become((insertion,), other)

    def _become(self, insertions: Collection[Insertion], other: Insertion) -> bool:
        """Put another insertion in the place of several, likewise."""
        proved, moved = self.plan.insertions, dict[Insertion, set[int]]()
        for each, needed_by in proved.items():
            moved.setdefault(other if each in insertions else each, set()).update(needed_by)
        self.plan.insertions = moved
        if self._ask():
            self.plan.insertions = proved
            return False
        return True

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
        legacy stream, or on what is written with their calls: they are written together.
        """
        moving = self.plan.moving()
        for insertion, needed_by in self.plan.insertions.items():
            at = self.plan.anchors[insertion.anchor]
            if not isinstance(at, Beside) and at.site.named:
                with_it = needed_by | {id(group) for group, _, _ in self._sites({insertion.anchor})}
                self.plan.bound |= with_it if len(with_it) > 1 else set()
        legacy = {id(group) for group in moving if DEFAULT in group.streams.values()}
        if len(moving) > 1 and legacy and any(outcome.blocking for outcome in self.outcomes):
            overlay = self.plan.overlay()
            overlay.apart = True
            found = [v for v in self._found(overlay) if not v.is_assumed]
            if found:
                self.plan.bound |= legacy.union(*map(self._needing, found))

    def _lacks(self, group: Group, insertions: Sequence[Insertion]) -> bool:
        """Whether something of this group is out of order with these insertions alone."""
        kept = self.plan.insertions
        self.plan.insertions = {i: needed_by for i, needed_by in kept.items() if i in insertions}
        lacks = any(id(group) in self._needing(v) for v in self._ask())
        self.plan.insertions = kept
        return lacks
