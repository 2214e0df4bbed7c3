"""Straight programs: the rows against `interpreter.state`, which keeps a set for each observer's next step."""

from __future__ import annotations

import os
import random

import pytest

from cudafix.ordering.interpreter.state import HOST, LEGACY, Event, Orders, Stream, StreamKind
from cudafix.ordering.interpreter.state import In as Where
from cudafix.ordering.order.lattice import knowing, positions
from cudafix.ordering.order.program import (
    After,
    Create,
    Exit,
    Function,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Observer,
    Operation,
    Program,
    Record,
    Wait,
    device_of,
    fixed_observers,
    legacy,
)
from cudafix.ordering.order.summaries import Summaries
from cudafix.ordering.order.transfer import ready

RUNS = int(os.environ.get("CUDAFIX_RANDOM_PROGRAMS", "400"))
KINDS = {Kind.BLOCKING: StreamKind.BLOCKING, Kind.NON_BLOCKING: StreamKind.NON_BLOCKING}
BASE = len(fixed_observers(1))
NAMED = (Kind.BLOCKING, Kind.BLOCKING, Kind.NON_BLOCKING, Kind.NON_BLOCKING, Kind.EVENT, Kind.EVENT)
OBSERVERS = (*fixed_observers(1), *(Observer(kind, 0) for kind in NAMED), Observer(Kind.EVENT, 0, inserted=True))
STREAMS = (legacy(0), *range(BASE, BASE + 4))
EVENTS = (BASE + 4, BASE + 5)
INSERTED = BASE + 6


def random_steps(rng: random.Random) -> list[Instruction]:
    steps: list[Instruction] = []
    for n in range(rng.randint(3, 16)):
        s, t, e = rng.choice(STREAMS), rng.choice(STREAMS), rng.choice(EVENTS)
        choices: list[list[Instruction]] = [
            [Issue(n, (s,))],
            [Record((e,), (s,))],
            [Wait((s,), (e,))],
            [HostWait((rng.choice((s, e)),))],
            [HostWait((device_of(0),))],
            [HostWait((device_of(0),), In.ORIGINAL)],
            [Record((INSERTED,), (t,), In.REWRITTEN), Wait((s,), (INSERTED,), In.REWRITTEN)],
            [HostWait((s,), In.REWRITTEN)],
            [Create(rng.choice(STREAMS[1:]))],
        ]
        steps += rng.choices(choices, (30, 10, 12, 6, 4, 6, 6, 3, 3))[0]
    return steps


def old_name(x: int) -> Stream | Event:
    if x == legacy(0):
        return LEGACY
    kind = OBSERVERS[x].kind
    return Event(str(x)) if kind is Kind.EVENT else Stream(str(x), KINDS[kind])


def old(steps: list[Instruction]) -> Orders:
    orders = Orders()
    for x in STREAMS:
        name = old_name(x)
        assert isinstance(name, Stream)
        orders.known(name)
    for i in steps:
        where = Where[getattr(i, "where", In.BOTH).name]
        match i:
            case Issue(number, (x,)):
                s = old_name(x)
                assert isinstance(s, Stream)
                orders.enter(s, where)
                orders.issue(1 << number, [s])
                orders.leave(s, where)
                orders.ran(s, where)
            case Record((e,), (x,)):
                s, event = old_name(x), old_name(e)
                assert isinstance(s, Stream)
                assert isinstance(event, Event)
                orders.enter(s, where)
                orders.record(event, s, where)
                orders.leave(s, where)
                orders.ran(s, where)
            case Wait((x,), (e,)) if old_name(e) in orders.pending:
                s = old_name(x)
                assert isinstance(s, Stream)
                orders.enter(s, where)
                orders.after(s, old_name(e), where=where)
                orders.leave(s, where)
                orders.ran(s, where)
            case HostWait((x,)) if x == device_of(0):
                orders.finish(-1, where)
            case HostWait((x,)):
                orders.host_waits(old_name(x), where=where)
            case Create(x):
                orders.created(old_name(x))
    orders.enter(LEGACY)
    return orders


@pytest.mark.parametrize("part", range(2))
def test_straight_programs_are_those_of_the_old_state(part: int) -> None:
    for seed in range(part * RUNS, (part + 1) * RUNS):
        steps = random_steps(random.Random(seed))
        operations = tuple(Operation() for _ in range(16))
        function = Function(tuple(steps), frozenset((*EVENTS, INSERTED)))
        summary = Summaries(Program(1, OBSERVERS, operations, {"f": function}))["f"]
        scope, state = summary.scope, summary.exits[Exit.RETURN]
        orders = old(steps)
        for x in (0, *STREAMS, *EVENTS):
            if x not in scope.names:
                continue
            place = scope.place(x)
            row = ready(scope, state, place) if x in STREAMS else knowing(state.rows[place], state.rows[0])
            name = HOST if x == 0 else old_name(x)
            if name not in orders.pending:  # an event that was not recorded
                continue
            pending, lost = (
                sum(1 << scope.access(p).key.operation for p in positions(bits & scope.operations))
                for bits in (state.issued & ~row.done, row.lost)
            )
            if any(isinstance(i, Create) for i in steps):  # the old state forgets what destroyed streams run
                assert pending & ~orders.pending[name] == 0, (seed, x)
                assert lost & ~orders.lost.get(name, 0) == 0, (seed, x)
                continue
            assert pending == orders.pending[name], (seed, x)
            assert lost == orders.lost.get(name, 0), (seed, x)


def test_an_inserted_order_is_one_of_an_event_that_nobody_else_names() -> None:
    one = (After((BASE,), (BASE + 2,), In.REWRITTEN),)
    other = (Record((INSERTED,), (BASE + 2,), In.REWRITTEN), Wait((BASE,), (INSERTED,), In.REWRITTEN))
    around = (Issue(0, (BASE + 2,)), HostWait((device_of(0),), In.ORIGINAL)), (Issue(1, (BASE,)),)
    rows = []
    for middle in (one, other):
        function = Function((*around[0], *middle, *around[1]), frozenset({INSERTED}))
        program = Program(1, OBSERVERS, (Operation(), Operation()), {"f": function})
        summary = Summaries(program)["f"]
        row = summary.exits[Exit.RETURN].rows[summary.scope.place(BASE)]
        rows.append((row.lost >> summary.scope.base, row.done >> summary.scope.base))
    assert rows[0] == rows[1] == (0, 3)
