"""Transfer functions: what an instruction does to a state. Calls and control flow are in `summaries`.

A step on a stream waits for what the stream's last step had waited for, for what the host has seen, and for its
neighbours (`scopes.neighbours`); then it is the last step, and the observers of "all blocking streams" and "all
streams" of the device have it behind them. All of this is one function, `_step`.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import NamedTuple

from cudafix.ordering.order.lattice import (
    NOBODY,
    NOTHING,
    Bits,
    Row,
    State,
    any_of,
    both,
    either,
    in_original,
    in_rewritten,
    knowing,
    perhaps,
)
from cudafix.ordering.order.program import (
    HOST,
    STATUS,
    After,
    Age,
    Create,
    Destroy,
    Does,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Look,
    Observe,
    Record,
    Targets,
    Wait,
)
from cudafix.ordering.order.scopes import Key, Runs, Scope


class Asked(NamedTuple):
    """What an operation asks of everything before it: its bit, and what had been waited for when it was issued.

    `streams` are the observers that have to be alive.
    """

    operation: Bits
    row: Row
    streams: Bits


def transfer(scope: Scope, state: State, instruction: Instruction) -> Asked | None:
    """Change `state` in place. Of an operation that Q has, returns what it asks."""
    match instruction:
        case Issue(number, streams, where):
            return _issue(scope, state, number, scope.places(streams), where)
        case Observe(number, where):
            seen = STATUS if scope.program.operations[number].does is Does.STATUS else HOST
            return None if where is In.ORIGINAL else Asked(scope.bit(Key(number)), state.rows[seen], 0)
        case Record(events, streams, where, also):
            row = _step(scope, state, scope.places(streams), NOTHING, where)
            _record(scope, state, scope.places(events), tuple(map(scope.place, also)), row, where)
        case Wait(streams, events, where):
            some = scope.places(events)
            certain = _one(scope, some) and bool(state.recorded >> some[0] & 1)
            awaited = any_of(_last_of(scope, state, e) for e in some)
            _wait(scope, state, scope.places(streams), awaited, where, _one(scope, some), certain)
        case After(streams, others, where):
            some = scope.places(others)
            row = _step(scope, state, some, NOTHING, where)
            _wait(scope, state, scope.places(streams), row, where, True, True)
        case HostWait(targets, where):
            _host_waits(scope, state, scope.places(targets), where)
        case Look(where):
            state.rows[STATUS] = _after(scope, state, state.rows[STATUS], state.rows[HOST], where)
        case Create(observer):
            _create(scope, state, scope.place(observer))
        case Destroy(streams):
            for x in scope.places(streams):
                state.dead |= 1 << x
        case Age():
            _age(scope, state, instruction)
        case _:
            raise AssertionError(instruction)
    return None


def start(scope: Scope) -> State:
    """The state at the entry of a function: each observer that exists has its own fact."""
    rows = []
    for place, x in enumerate(scope.kinds):
        if scope.local >> place & 1:
            rows.append(NOBODY if x.several else Row(0, 0, 1 << HOST))
        else:
            rows.append(Row(1 << place, 0, 1 << place))
    return State(rows)


# -- pieces ------------------------------------------------------------------------------------------------------------


def _one(scope: Scope, some: Targets) -> bool:
    """Whether some candidates are certainly one object."""
    return len(some) == 1 and not scope.kinds[some[0]].several


def _after(scope: Scope, state: State, x: Row, y: Row, where: In) -> Row:
    """The row of who waits for `y`. What P alone waits for has finished all that P can have finished."""
    match where:
        case In.BOTH:
            return both(x, y)
        case In.REWRITTEN:
            return in_rewritten(x, y)
    operations, facts = scope.everything
    return in_original(x, operations & state.issued | facts, (1 << scope.base) - 1)


def _last_of(scope: Scope, state: State, x: int) -> Row:
    """The row of an observer; of one that stands for nobody yet, it holds no more than there is."""
    row = state.rows[x]
    return row if row.done >= 0 else row._replace(done=row.done & (state.issued | (1 << scope.base) - 1))


def ready(scope: Scope, state: State, x: int) -> Row:
    """What the next step on a stream waits for."""
    rows = state.rows
    row = knowing(_last_of(scope, state, x), rows[HOST])
    near = scope.streams[x]
    for y in near.before:
        row = both(row, rows[y])
    for y in near.perhaps_before:
        row = perhaps(row, knowing(rows[y], rows[HOST]))
    return row


def _follow(scope: Scope, state: State, some: Targets, row: Row, where: In) -> None:
    """A step that waited for `row` was issued on one of some streams: tell those behind all of them, or some."""
    rows, shapes = state.rows, [scope.streams[x] for x in some]
    certain = set(shapes[0].behind).intersection(*(shape.behind for shape in shapes[1:]))
    for y in certain:
        rows[y] = _after(scope, state, rows[y], row, where)
    for y in {y for shape in shapes for y in (*shape.behind, *shape.perhaps_behind)} - certain:
        rows[y] = either(rows[y], _after(scope, state, rows[y], row, where))


def _step(scope: Scope, state: State, some: Targets, more: Row, where: In, stepped: bool = True) -> Row:
    """A step on one of some streams that also waits for `more`. Returns the row of that step.

    If not `stepped`, there may be no step, and what it would have waited for by itself has not been waited for then.
    """
    rows = state.rows
    if not _one(scope, some):
        result = any_of(both(ready(scope, state, x), more) for x in some)
        for x in some:
            rows[x] = either(rows[x], _last(scope, state, x, ready(scope, state, x), more, where))
        _follow(scope, state, some, result, where)
        return result
    (x,) = some
    row = ready(scope, state, x)
    new = _last(scope, state, x, row, more, where)
    if not stepped:
        new = either(new, _last(scope, state, x, knowing(rows[x], rows[HOST]), more, where))
    rows[x] = new
    _follow(scope, state, some, new, where)
    return new


def _last(scope: Scope, state: State, x: int, ready: Row, more: Row, where: In) -> Row:
    """The row of a stream's last step when that waited for `ready` and `more`."""
    if where is In.BOTH:
        return both(ready, more)
    return _after(scope, state, _after(scope, state, state.rows[x], ready, where), more, where)


# -- instructions ------------------------------------------------------------------------------------------------------


def _issue(scope: Scope, state: State, number: int, some: Targets, where: In) -> Asked | None:
    if where is In.ORIGINAL:
        _step(scope, state, some, NOTHING, where)
        return None
    bit = scope.bit(Key(number))
    again = state.issued & bit
    row = any_of(ready(scope, state, x) for x in some)
    asked = Asked(bit, row, sum(1 << x for x in some if scope.kinds[x].kind is not Kind.LEGACY))
    _step(scope, state, some, NOTHING, where)
    shapes = [scope.streams[x].behind for x in some]
    behind = set(shapes[0]).intersection(*shapes[1:])
    if _one(scope, some):
        behind.add(some[0])
    rows = state.rows
    for x in range(len(rows)) if again else behind:
        done, lost, may = rows[x]
        # issued again, the bit stands for both; only who has waited for the earlier one has both behind it
        if x in behind and (done & bit or not again):
            rows[x] = Row(done | bit, lost & ~bit, may)
        elif done & bit:
            rows[x] = Row(done & ~bit, lost, may)
    state.issued |= bit
    return asked


def _wait(scope: Scope, state: State, some: Targets, awaited: Row, where: In, certain: bool, stepped: bool) -> None:
    """One of some streams waits for what `awaited` has waited for: for certain, or perhaps."""
    _step(scope, state, some, awaited if certain else NOTHING, where, stepped)
    if certain or where is In.REWRITTEN:
        return
    for x in some:
        state.rows[x] = either(state.rows[x], _after(scope, state, state.rows[x], awaited, where))
    _follow(scope, state, some, any_of(state.rows[x] for x in some), where)


def _record(scope: Scope, state: State, some: Targets, also: Targets, row: Row, where: In) -> None:
    rows = state.rows
    operations, facts = scope.everything
    everything, may = operations & state.issued | facts, (1 << scope.base) - 1
    for e in (*some, *also):
        old = rows[e]
        if where is In.BOTH:
            new = row
        elif where is In.ORIGINAL:
            new = in_original(old, everything, may)
        elif scope.kinds[e].inserted:
            new = Row(row.done, rows[HOST].lost & ~row.done, rows[HOST].may)  # P has no more than the host
        else:  # P has recorded it somewhere else
            new = Row(row.done, everything & ~row.done, may)
        if _one(scope, some) and e in some:
            rows[e] = new
            if where is not In.ORIGINAL:
                state.recorded |= 1 << e
        else:
            rows[e] = either(old, new)


def _host_waits(scope: Scope, state: State, some: Targets, where: In) -> None:
    rows = state.rows
    if where is In.ORIGINAL:
        operations, facts = scope.everything
        may = (1 << scope.base) - 1
        if all(scope.kinds[x].kind is Kind.DEVICE for x in some):
            finished = [scope.finished_by[scope.kinds[x].device or 0] for x in some]
            operations, facts = (reduce(or_, bits) for bits in zip(*finished, strict=True))
            may = reduce(or_, (rows[x].may for x in some), facts)
        for x in range(len(rows)):
            if x != STATUS:  # what is finished for the host is finished for all
                rows[x] = in_original(rows[x], operations & state.issued | facts, may)
        return
    waited = [_after(scope, state, rows[HOST], _synchronized(scope, state, x), where) for x in some]
    host = any_of(waited)
    rows[HOST] = host if _one(scope, some) else either(rows[HOST], host)


def _synchronized(scope: Scope, state: State, x: int) -> Row:
    """What somebody who synchronizes with an observer has waited for: of a stream its last step; the legacy stream has
    waited for all blocking ones by then (docs/FACTS.md, "Ordering that must be added").
    """
    match scope.kinds[x].kind:
        case Kind.LEGACY:
            return ready(scope, state, x)
        case Kind.UNKNOWN:
            return perhaps(state.rows[x], ready(scope, state, x))
    return _last_of(scope, state, x)


def _create(scope: Scope, state: State, x: int) -> None:
    bit, host = 1 << x, state.rows[HOST]
    new = Row(0, host.lost, host.may)
    if scope.kinds[x].several:
        state.rows[x] = either(state.rows[x], new)
        state.recorded &= ~bit
        return
    state.rows[x] = new
    state.dead &= ~bit
    state.kept &= ~bit
    state.recorded &= ~bit


def _age(scope: Scope, state: State, age: Age) -> None:
    rows = state.rows
    for newest, older in age.observers:
        x, y = scope.place(newest), scope.place(older)
        rows[y] = either(rows[y], rows[x])
        if state.dead >> x & 1:
            state.dead |= 1 << y
        if not state.recorded >> x & 1:
            state.recorded &= ~(1 << y)
        state.kept |= (state.kept >> x & 1) << y
        _create(scope, state, x)
    moved = scope.aging.get(age.memory)
    if moved is not None and moved.runs:
        _rename_operations(state, moved)


def _rename_operations(state: State, moved: Runs) -> None:
    """Some operations are others from here on. One that has been issued as well then stands for both."""
    gone, arrived = moved.sources, moved(state.issued)
    issued = state.issued & ~gone | arrived
    for x, (done, lost, may) in enumerate(state.rows):
        if done == NOBODY.done:
            continue
        pending = state.issued & ~done
        pending = pending & ~gone | moved(pending)
        state.rows[x] = Row(done & ~gone & ~arrived | arrived & ~pending, lost & ~gone | moved(lost), may)
    state.issued = issued
