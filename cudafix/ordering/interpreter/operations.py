"""Operations on streams: what they may not overtake, who waits for them, and what comes behind."""

from __future__ import annotations

from collections.abc import Iterable

from cudafix import ir
from cudafix.ordering.interpreter.engine import Engine
from cudafix.ordering.interpreter.frames import State
from cudafix.ordering.interpreter.program import Object, Operation, Point, Wrong, stream_arguments
from cudafix.ordering.interpreter.state import HOST, Bits, Event, In, Observer, Stream, StreamKind, is_default, numbers

_SHARED = frozenset(("pinned", "mapped", "managed"))  # memory that both the host and the device store in


class Operations(Engine):
    """Issues operations, and waits."""

    def used_from(self, bits: Bits, state: State, span: ir.Span) -> None:
        """Work on the current device uses these objects. Those of another one it reaches by peer access, whoever has
        enabled that, which does not open the memory of a pool (docs/FACTS.md).
        """
        if self.others:  # the generic round stands for them
            return
        objects = (self.outcome.objects[n] for n in numbers(bits & ~1))
        elsewhere = (one for one in objects if one.memory == "device" and one.device not in ("?", state.device))
        far = sum(1 << one.number for one in elsewhere) if state.device != "?" else 0
        self.obstacle(far, "peer_access", "is used by work on another device than its own", span)

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
        """Run one operation: check it against what is pending on its stream, then let it be pending for all others.

        If not `certain`, there may be no operation, and no other stream is in order because of it.
        """
        orders = state.orders
        bit = 1 << op.number
        op.reads |= reads
        op.writes |= writes
        op.prints |= prints
        op.streams |= streams
        if where is In.REWRITTEN and not op.rewritten_only:
            op.rewritten_only = True
            self.rewritten_only |= bit
        if where is In.ORIGINAL:
            return
        exact = self.one_stream(streams)
        for s in streams:
            orders.known(s)
            if exact:
                orders.enter(s, where)
            elif s.kind in (StreamKind.LEGACY, StreamKind.UNKNOWN):
                for b in list(orders.pending):
                    if isinstance(b, Stream) and b.kind is not StreamKind.NON_BLOCKING:
                        orders.after(s, b, certain=False, where=where)
        pending = lost = 0
        for s in streams:
            pending |= orders.pending[s]
            lost |= orders.lost.get(s, 0)
            if s in state.destroyed:
                sure = op.stmt is None or self._runs_on_nothing(op.stmt, state)
                self.wrong(Wrong.STREAM_DESTROYED, op, Point(span, op.text, op.stmt), streams=streams, certain=sure)
            elif self.may_be_gone(frozenset({s}), state, where):
                self.wrong(Wrong.STREAM_DESTROYED, op, Point(span, op.text, op.stmt), streams=streams, certain=False)
        lost &= ~self.told
        if not op.rewritten_only and lost and not self.others:
            point = Point(span, f"{op.text} runs", op.stmt)
            for other in self.conflicts(lost, reads, writes, state):
                self.wrong(Wrong.ORDER, other, point, via=tuple(other.via), streams=streams)
            # what kernels print stands in their order; what one measures is longer with what ran before it
            for other in self.operations_in(lost) if op.says or op.times else ():
                if op.times or other.says:
                    self.wrong(Wrong.ORDER, other, point, via=tuple(other.via), streams=streams)
        touched = touches_async = (reads | writes) & self.async_objects
        while touched:
            low = touched & -touched
            touched ^= low
            if low.bit_length() - 1 in state.used:
                state.used[low.bit_length() - 1] |= bit
            obj = self.outcome.objects[low.bit_length() - 1]
            if obj.allocated_by & pending:
                allocation = self.operations_in(obj.allocated_by & pending)[0]
                self.wrong(Wrong.USE_BEFORE_ALLOCATION, allocation, Point(span, op.text, op.stmt), obj, streams=streams)
            dangles = self._dangles(op.stmt, obj, state)
            if state.freed_early & low or self.was_freed(obj, state) or dangles:
                point, sure = Point(span, op.text, op.stmt), self._leads_to(op.stmt, obj, state) and not obj.several
                self.wrong(Wrong.USE_AFTER_FREE, op, point, obj, streams=streams, certain=sure or dangles)
        for number in numbers(writes):
            if self.outcome.objects[number].memory in _SHARED:  # numbers that the host has stored there are gone
                self.overwritten(state, [(("memory", number, ""), ())])
        for bits in (reads | writes,):
            remaining = bits & ~1
            while remaining:
                low = remaining & -remaining
                remaining ^= low
                number = low.bit_length() - 1
                self.outcome.objects[number].used_by |= bit
                used = self.outcome.first_use.setdefault(number, [])
                used.extend(s for s in sorted(streams, key=lambda s: s.name) if s not in used)
        orders.issue(bit, streams, exact)
        for s in streams if exact else ():
            if s.rounds:
                self.in_round[s.rounds] = self.in_round.get(s.rounds, 0) | bit
        state.issued |= bit if self.lints else 0
        if self.lints and exact and certain and (reads | writes) & self.host_visible and touches_async:
            state.unwaited |= bit
        if self.lints and certain and touches_async and streams and all(map(self._stands_alone, streams)):
            state.apart |= bit
        for x in state.round_waits:
            state.round_waits[x] &= ~bit
        if exact:
            for s in streams:
                if op.rewritten_only and self.overlay.apart:
                    orders.follow(s, bit)
                else:
                    orders.leave(s, where, certain)
        for s in streams:
            orders.ran(s, where, exact and certain)
        if state.capturing:
            state.captured |= reads | writes
            self.captured_says |= op.says
            self.captured_times |= op.times

    def _stands_alone(self, stream: Stream) -> bool:
        """Whether no stream waits for a stream by itself."""
        kind = self.several.get(stream.name, stream.kind)
        return kind is StreamKind.NON_BLOCKING

    def _dangles(self, stmt: ir.Call | ir.Launch | None, obj: Object, state: State) -> bool:
        """Whether a statement is given a variable that holds this memory and was given back."""
        if not state.env.gone or stmt is None or self.any_order or not state.freed >> obj.number & 1:
            return False
        given = stmt.given if isinstance(stmt, ir.Call) else stmt.args
        return any(self.mask(self.values(state, e)) >> obj.number & 1 for e in given if self.is_gone(state, e))

    def may_be_gone(self, streams: frozenset[Stream], state: State, where: In) -> frozenset[Stream]:
        """Those of some streams that may be destroyed. For what is inserted an object that a template ends may have
        done it, where no call is written; what the program does itself on a stream it does while there is one, and
        such an object is there in its own functions. An object of Python that owns a stream is there then too.
        """
        if where is In.REWRITTEN and self.classes.ends_streams:
            if not any(self.classes.runs_in_templates(frame.function) for frame in self.frames):
                return frozenset(s for s in streams if not is_default(s))
        ended = state.ended if where is In.REWRITTEN else state.destroyed
        return streams & ended if ended else frozenset()

    def _runs_on_nothing(self, stmt: ir.Call | ir.Launch, state: State) -> bool:
        """Whether the stream of a statement is one that was destroyed on every path; a free is always told."""
        if isinstance(stmt, ir.Launch):
            return self.is_gone(state, stmt.stream)
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        named = stream_arguments(api, stmt.args) if api is not None and stmt.receiver is None else ()
        return stmt.callee == "cudaFreeAsync" or any(self.is_gone(state, expr) for expr in named)

    def _leads_to(self, stmt: ir.Call | ir.Launch | None, obj: Object, state: State) -> bool:
        """Whether a pointer that a statement is given can lead to this memory only."""
        given = stmt.given if isinstance(stmt, ir.Call) else stmt.args if stmt is not None else ()
        return bool(self.led_to(state, given) >> obj.number & 1)

    def await_(self, x: Observer, y: Stream | Event, state: State, where: In, certain: bool = True) -> None:
        """`x` (the host, or a stream) waits for a stream or a recorded event."""
        orders = state.orders
        if isinstance(y, Stream):
            orders.known(y)
        elif y not in orders.pending:
            return  # waiting for an event that was never recorded is a no-op
        if not isinstance(y, Stream) or not waits_by_itself(y):
            state.apart = 0
        if isinstance(x, Stream):
            orders.known(x)
            orders.enter(x, where)
        if y.summary:
            if certain and self.is_one(y) and where is not In.ORIGINAL:
                own = 0
                for bits in orders.own.values():
                    own |= bits
                if isinstance(y, Stream) and y.kind is StreamKind.LEGACY:
                    orders.enter(y, where)
                    own |= orders.there.get(y.device, 0)
                left = orders.synchronized(y) if isinstance(y, Stream) else orders.pending[y]
                state.round_waits[x] = state.round_waits.get(x, 0) | (own & ~left)
            certain = False
        if x is HOST:
            orders.host_waits(y, certain, where)
            state.unwaited &= orders.pending[HOST] if certain else 0
        else:
            orders.after(x, y, certain, where)
        if isinstance(x, Stream):
            orders.leave(x, where)
            orders.ran(x, where, certain)

    def host_waits_for(self, streams: Iterable[Stream], state: State, where: In) -> None:
        several = frozenset(streams)
        for s in several:
            state.orders.known(s)
            self.await_(HOST, s, state, where, certain=self.one_stream(several))

    def was_freed(self, obj: Object, state: State) -> bool:
        """Whether memory is freed on all paths to here, in the original too; a client that does this is none."""
        bit = 1 << obj.number
        return bool(state.freed & bit) and not state.live & bit and not self.any_order

    def operations_in(self, bits: Bits) -> list[Operation]:
        return [op for op in self.outcome.operations if bits >> op.number & 1]


def waits_by_itself(stream: Stream) -> bool:
    """Whether a stream is the default stream, or one that waits for that, and which one is known."""
    return not stream.summary and stream.kind in (StreamKind.LEGACY, StreamKind.BLOCKING)
