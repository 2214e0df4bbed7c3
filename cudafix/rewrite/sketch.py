"""The picture of a counterexample where no single path shows it: its two operations, and what waits between them today.

A proof goes over all paths at once, so the order of two operations may be lost only on a path that no search for one
has found. What is known of such a path all the same, from the counterexample itself, is enough to draw the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudafix.findings import Certificate, Place, Step
from cudafix.models import Tables
from cudafix.ordering.interpreter.program import Key, Wrong
from cudafix.ordering.interpreter.state import LEGACY, Stream
from cudafix.ordering.interpreter.trace import DEFAULT_STREAMS, kind_of, lane_of
from cudafix.rewrite.groups import Group
from cudafix.rewrite.naming import DEFAULT

_ON_THE_HOST = {
    Wrong.EXIT: "end",
    Wrong.LEAVES: "end",
    Wrong.HOST_ACCESS: "host",
    Wrong.OUTPUT: "host",
    Wrong.CLOCK: "host",
    Wrong.FAULT: "host",
    Wrong.RESET_PENDING: "synchronize",
}
_FREES = frozenset({Wrong.FREE_BEFORE_USE, Wrong.DOUBLE_FREE, Wrong.FREED_WITHOUT_WAIT, Wrong.STREAM_DESTROYED})


def sketch(group: Group, waiting: Sequence[Group], tables: Tables) -> Certificate:
    """The counterexample for which a group is refused. The frees of the groups that are `waiting` order it today."""
    assert group.refused is not None
    assert group.refused.clash is not None
    clash = group.refused.clash
    first, second = (Place(span.path, span.start, text) for span, text in group.refused.places[:2])
    streams = {key: name for each in waiting for key, _ in each.sites() for name in _chosen(each, key)}

    if clash.kind is Wrong.STREAM_DESTROYED:
        earlier = was = Step("host", "", first, ())
    elif clash.kind in (Wrong.USE_AFTER_FREE, Wrong.DOUBLE_FREE) or clash.earlier is None:
        earlier = Step("free", streams.get(_key(first), _lane((LEGACY,), waiting)), first, (), mine=True)
        was = _blocking(earlier)
    else:
        kind, mine = kind_of(clash.earlier.stmt, tables), clash.object is not None
        earlier = Step(kind, _lane(clash.earlier.streams, waiting), first, (), mine=mine)
        was = earlier._replace(lane="") if kind == "allocate" else earlier

    if clash.kind in _ON_THE_HOST:
        later = will = Step(_ON_THE_HOST[clash.kind], "", second, ())
    elif clash.kind in _FREES:
        later = Step("free", _lane(clash.streams, waiting), second, (), mine=True)
        will = _blocking(later)
    else:
        later = will = Step(kind_of(clash.later.stmt, tables), _lane(clash.streams, waiting), second, ())

    own = {key for key, _ in group.sites()}
    behind = (0,) if was.lane else ()
    frees = [key for key in dict.fromkeys(clash.via) if key not in (_key(first), _key(second))]
    today = [Step("free", "", Place(*key, "`cudaFree`"), behind, waits=True, mine=key in own) for key in frees]
    moved = [
        step._replace(lane=streams[key], place=step.place._replace(text="`cudaFreeAsync`"), after=(), waits=False)
        for key, step in zip(frees, today, strict=True)
        if key in streams
    ]
    if will.waits or (not frees and was.lane != will.lane):
        will = will._replace(after=behind)
    after = (earlier, *moved, later)
    return Certificate((), (was, *today, will), after, (0, len(after) - 1), sketch=True)


def _blocking(free: Step) -> Step:
    """A free as it is today."""
    return free._replace(lane="", place=free.place._replace(text="`cudaFree`"), waits=True)


def _key(place: Place) -> Key:
    return Key(place.path, place.offset)


def _chosen(group: Group, key: Key) -> Iterable[str]:
    """The stream that a site would move to."""
    name = group.streams.get(key) if group.options else None
    return () if name is None else (DEFAULT_STREAMS[LEGACY],) if name == DEFAULT else (name.text,)


def _lane(streams: Iterable[Stream], groups: Sequence[Group]) -> str:
    """What the program calls a stream; empty for the host."""
    stream = min(streams, key=lambda each: each.name, default=None)
    if stream is None or stream in DEFAULT_STREAMS:
        return lane_of(stream, DEFAULT_STREAMS)
    named = (site.name_of([stream]) for group in groups for _, site in group.sites())
    return next((name.text for name in named if name is not None), lane_of(stream, DEFAULT_STREAMS))
