"""One path through a program, step by step, for people to look at.

The interpreter itself runs, with the same tables and the same state; only that it takes one arm where paths part, and
one round of each loop. The arm that reaches the sites asked for is taken; where none or both do, the one that goes on.
A path may turn off from that once: `turns` numbers the places where paths parted. A path that is to show a
counterexample does not take an arm or a round behind which the earlier operation is finished.
On a single path `pending` is exact for streams that are known, and so are the orders that are read from it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cudafix import ir
from cudafix.ir import walk
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Api, Effect, played_by
from cudafix.ordering.interpreter import check
from cudafix.ordering.interpreter.effects import Effects
from cudafix.ordering.interpreter.frames import Catching, State, joined
from cudafix.ordering.interpreter.memory import OTHER, Number, Values
from cudafix.ordering.interpreter.program import Key, Operation, Overlay, Point, key_of
from cudafix.ordering.interpreter.state import HOST, LEGACY, PER_THREAD, Bits, Event, In, Stream, numbers
from cudafix.ordering.interpreter.stream_names import named_streams

_KINDS = {
    Effect.ALLOC: "allocate",
    Effect.FREE: "free",
    Effect.COPY: "copy",
    Effect.RECORD: "record",
    Effect.WAIT: "wait",
    Effect.SYNC_STREAM: "synchronize",
    Effect.SYNC_EVENT: "synchronize",
    Effect.SYNC_DEVICE: "synchronize",
    Effect.RESET: "synchronize",
    Effect.OUTPUT: "host",
    Effect.CLOCK: "host",
    Effect.TIMER: "host",
    Effect.STREAM_DESTROY: "host",
}
_SHOWN = frozenset({Effect.SYNC_STREAM, Effect.SYNC_EVENT, Effect.SYNC_DEVICE, Effect.RESET, Effect.FREE, Effect.ALLOC})
DEFAULT_STREAMS = {LEGACY: "default stream", PER_THREAD: "default stream of the thread"}
_OF_THE_HOST = frozenset({"host", "pinned", "mapped", "external"})


@dataclass(slots=True, eq=False)
class Moment:
    """A step as the engine passes it. `done` are the operations that are finished before it, by number."""

    kind: str
    lane: Stream | None  # None: the host
    key: Key
    text: str
    done: Bits
    known: Bits  # what the host knows to be finished when it issues this
    operation: int = -1
    waited: Bits = 0  # what the host waits for in this step
    waits: bool = False  # the host stands still
    mine: bool = False
    inserted: bool = False
    touched: Bits = 0  # the memory that the operation reads or writes
    recorded: int = -1  # the step that recorded the event which is waited for


def trace(
    program: Program,
    tables: Tables,
    overlay: Overlay,
    root: ir.Function,
    sites: Collection[Key],
    *,
    per_thread: bool = False,
    turn: int = -1,
    clash: tuple[Key, Key] | None = None,
    along: Sequence[bool] = (),
) -> Tracer:
    """Run one path from `root` that reaches `sites`, with the other arm at the place number `turn` where paths part,
    and with the operations of a counterexample (`clash`) out of order, if that can be had; or the path `along` which
    another one went (its `taken`).

    Raises OutOfBudget when even that is too long.
    """
    tracer = Tracer(program, tables, overlay, per_thread, frozenset(sites), turn, clash)
    tracer.along = along
    check.start(tracer, root)
    return tracer


class Tracer(Effects):
    """The interpreter on one path. `moments` is what it passed, `names` what the program calls the streams.

    `turns` holds, for each place where paths part, how many moments came before it; `taken`, whether the arm that comes
    first, or a round, was taken there.
    """

    def __init__(
        self,
        program: Program,
        tables: Tables,
        overlay: Overlay,
        per_thread: bool,
        sites: frozenset[Key],
        turn: int,
        clash: tuple[Key, Key] | None,
    ) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self.sites = sites
        self.turn = turn
        self.clash = clash
        self.along: Sequence[bool] = ()
        self.turns: list[int] = []
        self.taken: list[bool] = []
        self.moments: list[Moment] = []
        self.names = dict(DEFAULT_STREAMS)
        self._kind = "work"
        self._inserted = False
        self._recorded: dict[Event, int] = {}

    # -- one path ------------------------------------------------------------------------------------------------------

    def _reaches(self, block: ir.Block) -> bool:
        """Whether a block runs one of the sites, through calls too."""

        def is_site(stmt: ir.Stmt) -> bool:
            return isinstance(stmt, ir.Call | ir.Launch) and key_of(stmt) in self.sites

        reach = self.program.reaching(f"sites {sorted(self.sites)}", is_site)
        return any(
            is_site(stmt)
            or isinstance(stmt, ir.Call)
            and any(id(f) in reach for f in self.program.reached_by(stmt, self.frame.function.cls))
            for stmt in walk(block)
        )

    def _may_show(self, state: State | None) -> bool:
        """Whether an operation at the first place of the counterexample has run and may not be finished."""
        if self.clash is None or state is None:
            return False
        pending = state.orders.pending[HOST]
        earlier = self.clash[0]
        return any(m.operation >= 0 and m.key == earlier and pending >> m.operation & 1 for m in self.moments)

    def _ends_it(self, start: int, may_show: bool, state: State | None) -> bool:
        """Whether a path that might have shown the counterexample before step `start` cannot do so any more."""
        if not may_show or state is None or self._may_show(state) or self.clash is None:
            return False
        later = self.clash[1]
        return all(moment.key != later for moment in self.moments[start:])

    def _if(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.If)
        arms = [stmt.then, stmt.other]
        first, second = map(self._reaches, arms)
        if second and not first or first is second and stmt.test.kind in ("null", "failed"):
            arms.reverse()
        if len(self.taken) < len(self.along):
            self.taken.append(self.along[len(self.taken)])
            return self.block(arms[0 if self.taken[-1] else 1], state)
        mark = len(self.taken)
        self.taken.append(True)
        self.turns.append(len(self.moments))
        turns = len(self.turns) == self.turn + 1
        steps, returned, spare = len(self.moments), self.frame.returned, state.copy()
        may_show = self._may_show(state)
        there = self.block(arms[0], state)
        passed = {moment.kind for moment in self.moments[steps:] if moment.mine}
        stays = there is not None or first and second or {"allocate", "free"} <= passed or "host" in passed
        stays = stays and not self._ends_it(steps, may_show, there)
        if stays is not turns:
            return there
        beyond = self.moments[steps:], self.taken[mark:], self.frame.returned
        del self.moments[steps:]
        self.taken[mark:] = [False]
        self.frame.returned = returned
        there = self.block(arms[1], spare)
        if there is None:  # neither goes on
            self.moments[steps:], self.taken[mark:], self.frame.returned = beyond
        return there

    def _switch(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Switch)
        self.frame.breaks.append(None)
        start = next((n for n, arm in enumerate(stmt.arms) if self._reaches(arm)), 0)
        through: State | None = state
        for arm in stmt.arms[start:]:
            through = self.block(arm, through)
        return joined(through, self.frame.breaks.pop())

    def unwind(self, state: State, above: int) -> None:
        self.catching[-1].thrown = state  # on one path the destructors are those of the `throw`

    def perhaps_throws(self, stmt: ir.Stmt, state: State) -> None:
        pass

    def _try(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Try)
        self.catching.append(Catching(len(self.frames), len(self.unwinding), len(self._scopes)))
        end = self.block(stmt.body, state)
        thrown = self.catching.pop().thrown
        if end is None and thrown is not None and stmt.handlers:
            return self.block(stmt.handlers[0], thrown)
        return end

    def _loop(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Loop)
        outer = self.family
        if stmt.index is not None:
            generic = stmt.range is not None and self.is_family(stmt)
            bounds = self.range_of(stmt, state) if generic else None
            value = Number(f"k|{bounds}") if bounds is not None else OTHER
            self.family = (*outer, f"k|{bounds}") if bounds is not None else outer
            state.env.write([(self.root(stmt.index.name), ())], frozenset({value}))
        self.loops += 1
        self.frame.breaks.append(None)
        tested = self.block(stmt.condition, state)
        may_show, steps = self._may_show(tested), len(self.moments)
        may_be_none = not (stmt.at_least_once or stmt.forever)
        spare = tested.copy() if may_show and may_be_none and tested is not None else None
        mark, given = len(self.taken), len(self.taken) < len(self.along)
        self.taken.append(self.along[mark] if given else True)
        end = self._round(stmt, tested) if self.taken[mark] else tested
        if spare is not None and not given and self._ends_it(steps, may_show, end):
            del self.moments[steps:]
            self.taken[mark:] = [False]
            self.frame.breaks[-1] = None
            end = spare
        self.family = outer
        self.loops -= 1
        return joined(end, self.frame.breaks.pop())

    def function_call(self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State) -> State | None:
        inserted, self._inserted = self._inserted, False
        after = super().function_call(call, found[:1], state)
        self._inserted = inserted
        return after

    def passes_over(self, state: State) -> bool:
        # it depends on what is lost: two paths, before and after, would not agree
        return self.clash is None and not self.along and super().passes_over(state)

    def passes(self, stmt: ir.Stmt, state: State) -> bool:
        return not isinstance(stmt, ir.HostAccess) and super().passes(stmt, state)

    # -- what is passed ------------------------------------------------------------------------------------------------

    def issue(
        self,
        op: Operation,
        streams: frozenset[Stream],
        state: State,
        where: In,
        span: ir.Span,
        reads: Bits = 0,
        writes: Bits = 0,
        prints: bool = False,
        certain: bool = True,
    ) -> None:
        super().issue(op, streams, state, where, span, reads, writes, prints, certain)
        if where is In.ORIGINAL or not streams:
            return
        pending = 0
        for s in streams:
            pending |= state.orders.pending[s]
        kind = "kernel" if isinstance(op.stmt, ir.Launch) else self._kind
        lane = min(streams, key=lambda s: s.name)
        key = Key(span.path, span.start)
        touched = reads | writes
        mine = bool(touched & self._memory()) or key in self.sites
        moment = self._moment(kind, lane, key, op.text, ~pending, state, operation=op.number, mine=mine)
        moment.touched = touched

    def look_at(self, sites: frozenset[Key]) -> None:
        """Make the moments `mine` that are about these sites, some of those that the path was asked to reach."""
        self.sites = sites
        memory = self._memory()
        for moment in self.moments:
            if moment.operation >= 0:
                moment.mine = bool(moment.touched & memory) or moment.key in sites
            elif moment.kind not in ("host", "end", "record", "wait"):
                moment.mine = moment.key in sites and not moment.inserted

    def _memory(self) -> Bits:
        bits = 0
        for obj in self.outcome.objects:
            if obj.call is not None and key_of(obj.call) in self.sites:
                bits |= 1 << obj.number
        return bits

    def _moment(
        self, kind: str, lane: Stream | None, key: Key, text: str, done: Bits, state: State, *, operation: int = -1,
        mine: bool = False,
    ) -> Moment:  # fmt: skip
        everything = (1 << len(self.outcome.operations)) - 1
        moment = Moment(
            kind,
            lane,
            key,
            text,
            done & everything,
            ~state.orders.pending[HOST] & everything,
            operation,
            mine=mine,
            inserted=self._inserted,
        )
        self.moments.append(moment)
        if lane is not None and lane not in self.names:
            for name, stream in named_streams(self, state).items():
                self.names.setdefault(stream, name.text)
        return moment

    def library_call(self, call: ir.Call, api: Api, state: State, where: In) -> State | None:
        if where is In.ORIGINAL:
            return super().library_call(call, api, state, where)
        outer = self._kind, self._inserted
        self._kind = _KINDS.get(api.effect, "work")
        self._inserted = self._inserted or where is In.REWRITTEN
        before, steps = state.orders.pending[HOST], len(self.moments)
        after = super().library_call(call, api, state, where)
        if after is not None:
            new = [m for m in self.moments[steps:] if m.operation >= 0]
            issued = 0
            for moment in new:
                issued |= 1 << moment.operation
            self._passed(call, api, after, (before | issued) & ~after.orders.pending[HOST], bool(new))
        self._kind, self._inserted = outer
        return after

    def _passed(self, call: ir.Call, api: Api, state: State, waited: Bits, issued: bool) -> None:
        """What a call was beside the operation that it issued: something on the host, or a mark on a stream."""
        key, text = key_of(call), f"`{call.callee}`"
        if api.effect in (Effect.RECORD, Effect.WAIT):
            expr = next(
                (arg for role, arg in played_by(api, call.args) if role == "stream"),
                None,
            )
            (lane, *others) = self.streams(state, expr)
            if not others:
                events = [e for arg in call.args for e in self._events(arg, state)[0]]
                moment = self._moment(self._kind, lane, key, text, ~state.orders.pending[lane], state)
                for event in events:
                    if api.effect is Effect.RECORD:
                        self._recorded[event] = len(self.moments) - 1
                    else:
                        moment.recorded = self._recorded.get(event, -1)
            return
        shown = api.effect in _SHOWN and not issued and api.memory != "host"
        seen = api.effect in (Effect.OUTPUT, Effect.CLOCK) or api.effect is Effect.STREAM_DESTROY and key in self.sites
        if not waited and not shown and not seen:
            return
        kind = "synchronize" if issued else self._kind
        moment = self._moment(kind, None, key, text, ~state.orders.pending[HOST], state, mine=key in self.sites)
        moment.mine &= not moment.inserted
        moment.waited = waited
        moment.waits = bool(waited) or (shown and api.effect is not Effect.ALLOC)

    def replaced(self, call: ir.Call, replacement: ir.Call, state: State) -> State | None:
        api = self.tables.lookup(replacement.callee, len(replacement.args))
        outer, self._kind = self._kind, _KINDS.get(api.effect, "work") if api is not None else "work"
        steps = len(self.moments)
        after = super().replaced(call, replacement, state)
        for moment in self.moments[steps:][-1:]:
            moment.text = f"`{replacement.callee}`"
        self._kind = outer
        return after

    def _host_access(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.HostAccess)
        reads, writes = self.touched(state, stmt.reads), self.touched(state, stmt.writes)
        touched = reads | writes
        worked = [op for op in self.outcome.operations if (op.reads | op.writes) & touched & ~1]
        if worked and all(self.outcome.objects[n].memory in _OF_THE_HOST for n in numbers(touched)):
            shared = 0
            for op in worked:
                shared |= (op.reads | op.writes) & ~1
            names = [_named(place) for place in (*stmt.reads, *stmt.writes) if self.touched(state, (place,)) & shared]
            what = ", ".join(f"`{name}`" for name in dict.fromkeys(names) if name) or "memory"
            verb = "writes" if not reads else "reads" if not writes else "works on"
            key = key_of(stmt)
            self._moment("host", None, key, f"the host {verb} {what}", ~state.orders.pending[HOST], state)
        return super()._host_access(stmt, state)

    def ends(self, state: State, point: Point) -> None:
        super().ends(state, point)
        key = Key(point.span.path, point.span.start)
        self._moment("end", None, key, point.text, ~state.orders.pending[HOST], state)

    def returns(self, held: Values, point: Point, state: State) -> None:
        super().returns(held, point, state)
        key = Key(point.span.path, point.span.start)
        self._moment("end", None, key, point.text, ~state.orders.pending[HOST], state)


def _named(place: ir.Expr) -> str:
    """The variable that an expression starts from."""
    names = [e.name for e in ir.variables(place) if isinstance(e, ir.Var)]
    return last(names[0].split("@")[0]) if names and not names[0].startswith("%") else ""


def kind_of(stmt: ir.Stmt | None, tables: Tables) -> str:
    """The `Step.kind` of an operation."""
    if isinstance(stmt, ir.Launch):
        return "kernel"
    api = tables.lookup(stmt.callee, len(stmt.args)) if isinstance(stmt, ir.Call) else None
    return _KINDS.get(api.effect, "work") if api is not None else "work"


def lane_of(stream: Stream | None, names: Mapping[Stream, str]) -> str:
    """What the program calls the stream of a step, empty for the host."""
    if stream is None:
        return ""
    return names.get(stream) or stream.name.partition("(")[2].removesuffix(")") or "unknown stream"
