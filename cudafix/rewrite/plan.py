"""What a rewrite changes: which groups move to which streams, and what is inserted where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from cudafix import ir
from cudafix.ordering.interpreter.program import (
    Key,
    Overlay,
    StreamName,
    lacks_stream,
)
from cudafix.rewrite.groups import Group
from cudafix.rewrite.loops import Beside, LoopEvent
from cudafix.rewrite.own_events import OwnEvent, inserted


class Does(Enum):
    """What an inserted statement does, from narrow to wide."""

    WAIT = "wait"  # one stream waits for another
    SYNC = "sync"  # the host waits for one stream
    DEVICE_SYNC = "device sync"  # the host waits for the device: only before a reset


@dataclass(frozen=True, slots=True)
class Insertion:
    """A statement to insert next to the statement of `anchor`. WAIT: the first stream waits for the second, by an event
    of its own, or by that of a loop. With the `event` of an object, the host, or the only stream, waits for that.
    """

    does: Does
    anchor: Key
    after: bool
    streams: tuple[StreamName, ...]
    event: OwnEvent | LoopEvent | None = None

    def paths(self) -> list[str]:
        """The files that it is written to."""
        return [self.anchor.path, *(self.event.paths() if self.event is not None else ())]

    def calls(self, at: ir.Call | ir.Launch | Beside) -> list[ir.Call]:
        """The insertion in the IR, as the engine runs it in Q."""
        stmt, look = (at.stmt, at.look) if isinstance(at, Beside) else (at, ir.Look.IGNORED)

        def call(name: str, *args: ir.Expr) -> ir.Call:
            made = inserted(name, args, stmt, look)
            if not isinstance(at, Beside) or not self.after:
                return made
            end = ir.Span(stmt.span.path, stmt.span.end, stmt.span.end)  # what it makes is not what is made in front
            return replace(made, span=end, name_span=end)

        if self.does is Does.DEVICE_SYNC:
            return [call("cudaDeviceSynchronize")]
        if self.does is Does.SYNC and self.event is not None:
            return [call("cudaEventSynchronize", self.event.place)]
        if self.does is Does.SYNC:
            return [call("cudaStreamSynchronize", self.streams[0].expr)]
        event = self.event.place if self.event is not None else ir.Var("%done")
        wait = call("cudaStreamWaitEvent", self.streams[0].expr, event, ir.Const("0"))
        if isinstance(self.event, OwnEvent):
            return [wait]
        record = call("cudaEventRecord", event, self.streams[1].expr)
        if self.event is not None:
            return [record, wait]
        made = call("cudaEventCreateWithFlags", ir.Addr(event), ir.Const("cudaEventDisableTiming"))
        return [made, record, wait, call("cudaEventDestroy", event)]


@dataclass(slots=True)
class Plan:
    """What moves, on which streams, and what is inserted (for which groups). Those of `bound` move together. With the
    insertions `in_place`, where they are needed, the rewrite was proved too.
    """

    groups: list[Group]
    insertions: dict[Insertion, set[int]] = field(default_factory=dict)
    anchors: dict[Key, ir.Call | Beside] = field(default_factory=dict)
    bound: set[int] = field(default_factory=set)
    in_place: dict[Insertion, set[int]] | None = None

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

    def moves_waits(self) -> bool:
        """Whether waits stand elsewhere than where they are needed, or events are made there."""
        return self.in_place is not None and self.in_place.keys() != self.insertions.keys()

    def put_waits_back(self) -> None:
        """Let each wait stand where it is needed, with an event of its own."""
        assert self.in_place is not None
        self.insertions = self.in_place

    def events(self) -> list[OwnEvent | LoopEvent]:
        """The events that objects and loops get."""
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
