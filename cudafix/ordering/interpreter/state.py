"""What may still be pending, for whom: the lockstep state of the original program (P) and the rewritten one (Q).

An *observer* is a stream, a recorded event, or the host. Operations are bits of an int. For each observer `x`

* `pending[x]` holds the operations that may not have completed in Q before the next step of `x`, and
* `lost[x]` holds those of them that P guarantees to have completed by then: the edges that the rewrite would lose.

Both are upper bounds, joined by union, so an empty `lost` is a proof. P's own pending sets are never needed: with
`Q[x] &= Q[y]` and `P[x] &= P[y]` (x waits for y), `Q[x] - P[x]` becomes `(lost[x] & Q[y]) | (lost[y] & Q[x])`.
The rules are the table in docs/explanation/lattice.md; `tests/unit/test_ordering_state.py` runs them against the
happens-before graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

Bits: TypeAlias = int


class StreamKind(Enum):
    __hash__ = object.__hash__  # members are unique

    LEGACY = "legacy"
    BLOCKING = "blocking"
    NON_BLOCKING = "non-blocking"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream by where it came from. A `summary` stands for several streams: all but the generic one of a family, one
    in each of these `rounds`; or what one place has made again while an earlier one was still there.
    `device` is empty for the device that the program works on first, and `?` where it is not known.
    """

    name: str
    kind: StreamKind
    summary: bool = False
    device: str = ""
    rounds: tuple[str, ...] = ()
    _hash: int = field(init=False, compare=False, repr=False)  # streams are keys everywhere

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.name, self.summary)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Event:
    """An event by where it was created. A `summary` stands for several, as that of a `Stream`. Of one that is of Q
    alone, `brought` is the device that was current there, which has to be that of the streams that it is recorded on.
    """

    name: str
    summary: bool = False
    brought: str = ""
    rounds: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)


def _of_one_device(a: Stream, b: Stream) -> bool:
    """Whether two streams are certainly of one device: the default stream of each waits for the streams of its own."""
    return a.device == b.device != "?"


@dataclass(slots=True, eq=False)
class Host:
    pass


Observer: TypeAlias = Stream | Event | Host

HOST = Host()
STATUS = Host()  # in what a round has waited for: what the host has also looked at the status of
LEGACY = Stream("0", StreamKind.LEGACY)
PER_THREAD = Stream("cudaStreamPerThread", StreamKind.BLOCKING)
# What a stream would have to wait for if it were created now.
FRESH_BLOCKING = Stream("a new blocking stream", StreamKind.BLOCKING)
FRESH = Stream("a new non-blocking stream", StreamKind.NON_BLOCKING)


class In(Enum):
    """In which of the two programs a step happens."""

    BOTH = "both"
    ORIGINAL = "original"
    REWRITTEN = "rewritten"


def _stands_for(x: Observer) -> Stream:
    """The observer that has waited for as much as `x`, of which nothing is known: an event that was not recorded
    orders nothing.
    """
    return FRESH_BLOCKING if isinstance(x, Stream) and x.kind is StreamKind.BLOCKING and not x.device else FRESH


def is_default(stream: Stream) -> bool:
    """Whether this is the default stream of a device, or that of a thread: nobody creates or destroys it."""
    return stream.name in (LEGACY.name, PER_THREAD.name)


@lru_cache(maxsize=1 << 12)
def _end_of(s: Stream) -> Event:
    """Stands for the last step that was issued on a blocking stream."""
    return Event(f"the last step on {s.name}", s.summary)


class Orders:
    """The pending and lost sets of all observers. Copies are cheap: two dictionaries of ints."""

    __slots__ = ("elsewhere", "lost", "one_of", "own", "pending", "there")

    def __init__(self) -> None:
        self.pending: dict[Observer, Bits] = {HOST: 0, LEGACY: 0, FRESH_BLOCKING: 0, FRESH: 0}
        self.lost: dict[Observer, Bits] = {}
        self.own: dict[Stream, Bits] = {}  # what a family's other streams have run, each for itself
        self.elsewhere: Bits = 0  # what may have been issued on a stream that `LEGACY` does not wait for
        self.there: dict[str, Bits] = {}  # by another device, what is pending on streams that its legacy one waits for
        # streams that are one of these, whichever it is; None: of any
        self.one_of: dict[Stream, frozenset[Stream] | None] = {}

    def copy(self) -> Orders:
        other = Orders.__new__(Orders)
        other.pending = self.pending.copy()
        other.lost = self.lost.copy()
        other.own = self.own.copy()
        other.elsewhere = self.elsewhere
        other.there = self.there.copy()
        other.one_of = self.one_of.copy()
        return other

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Orders)
            and self.pending == other.pending
            and self.lost == other.lost
            and self.own == other.own
            and self.elsewhere == other.elsewhere
            and self.there == other.there
            and self.one_of == other.one_of
        )

    __hash__ = None  # type: ignore[assignment]  # it changes

    def join(self, other: Orders) -> bool:
        """Union with `other`; true if something was added."""
        if self == other:
            return False
        for x in other.pending:
            self.known(x)
        changed = bool(other.elsewhere & ~self.elsewhere)
        for name, among in other.one_of.items():
            known = self.one_of.get(name, frozenset())
            self.one_of[name] = None if known is None or among is None else known | among
            changed |= self.one_of[name] != known
        self.elsewhere |= other.elsewhere
        for device in self.there.keys() | other.there.keys():
            mine, yours = self.there.get(device, 0), other.there.get(device, 0)
            both = (mine | yours) & ~(self.pending[FRESH] & ~mine) & ~(other.pending[FRESH] & ~yours)
            changed |= both != mine
            self.there[device] = both
        for stream, bits in other.own.items():
            self.own[stream] = self.own.get(stream, 0) | bits
        theirs, no_loss = other.pending, not self.lost and not other.lost
        for x, bits in self.pending.items():
            like = x if x in theirs else _stands_for(x)
            more = bits | theirs[like]
            if no_loss:
                if more != bits:
                    self.pending[x] = more
                    changed = True
                continue
            less = self.lost.get(x, 0)
            lost = less | other.lost.get(like, 0)
            if more != bits or lost != less:
                self.pending[x], self.lost[x] = more, lost
                changed = True
        return changed

    # -- edges -----------------------------------------------------------------------------------------------------

    def known(self, x: Observer) -> None:
        """Let `x` be an observer from now on, with what its kind says that it has not waited for yet."""
        if x not in self.pending:
            like = _stands_for(x)
            self.pending[x] = self.pending[like]
            if like in self.lost:
                self.lost[x] = self.lost[like]
            if isinstance(x, Stream) and x.kind is StreamKind.BLOCKING and x.device:
                for s in [s for s in self.pending if isinstance(s, Stream) and s.kind is StreamKind.LEGACY]:
                    self.after(x, s, certain=_of_one_device(s, x) and not s.summary)

    def created(self, x: Stream | Event, of_others: Bits = 0) -> None:
        """A stream or an event is created here; an older one of the same name (an earlier round of a loop) is
        forgotten. What a summary has waited for, its new member has not; but what rounds before this one have run on
        members of their own, `of_others`, its own round has not run yet.
        """
        end = (_end_of(x),) if isinstance(x, Stream) else ()
        for one in (x, *end):
            if not x.summary:
                self.pending.pop(one, None)
                self.lost.pop(one, None)
            elif one in self.pending:
                like = _stands_for(one)
                self.pending[one] |= self.pending[like] & ~of_others
                self.lost[one] = self.lost.get(one, 0) | (self.lost.get(like, 0) & ~of_others)
        if isinstance(x, Stream):
            self.known(x)

    def forget(self, device: str) -> None:
        """The name of a device stands for another one from here on."""
        for s in [s for s in self.pending if isinstance(s, Stream) and s.device == device]:
            self.forget_stream(s)
        self.there.pop(device, None)

    def forget_stream(self, s: Stream) -> None:
        """Nobody names this stream any more, or not by this name."""
        for gone in (s, _end_of(s)):
            self.pending.pop(gone, None)
            self.lost.pop(gone, None)
        self.own.pop(s, None)
        self.one_of.pop(s, None)

    def chosen(self, x: Stream, among: Iterable[Stream], anything: bool, of_others: Bits = 0) -> None:
        """`x` is a name, from here on, for one of the streams `among`, or if `anything`, for any: a step on `x` is one
        on that, and may be one on each of them. `of_others` as in `created`; an older stream of this name is forgotten.
        """
        streams = [s for s in self.pending if isinstance(s, Stream) and s not in (FRESH, FRESH_BLOCKING)]
        for s in among:
            self.known(s)
        found = [*among, *(streams if anything else ())]
        bases: frozenset[Stream] | None = frozenset[Stream]()
        pending, lost = [0, 0], [0, 0]
        for s in found:
            own = self.one_of.get(s, frozenset({s}))
            bases = None if bases is None or own is None else bases | own
            end: Observer = s
            if s.kind is StreamKind.BLOCKING:
                end = _end_of(s) if _end_of(s) in self.pending else FRESH
            # who synchronizes with a stream of an unknown kind may do so with a blocking one
            own_steps: tuple[Observer, ...] = (s,) if x.kind is StreamKind.BLOCKING else (s, end)
            for n, ones in enumerate((own_steps, (end,))):
                for one in ones:
                    pending[n] |= self.pending[one]
                    lost[n] |= self.lost.get(one, 0)
        if anything:
            pending = [bits | self.pending[FRESH] for bits in pending]
            lost = [bits | self.lost.get(FRESH, 0) for bits in lost]
        observers: tuple[Observer, ...] = (x, _end_of(x))
        for n, one in enumerate(observers):
            more, less = pending[n] & ~of_others, lost[n] & ~of_others
            if x.summary and one in self.pending:
                more, less = self.pending[one] | more, self.lost.get(one, 0) | less
            if n == 0 or x.kind is StreamKind.BLOCKING:
                self.pending[one], self.lost[one] = more, less
        self.one_of[x] = None if anything else bases

    def may_be(self, x: Observer) -> list[Stream]:
        """The other streams that `x` may be: those among which it was chosen, and what was chosen among the same."""
        if not self.one_of or not isinstance(x, Stream):
            return []
        mine = self.one_of.get(x, frozenset({x}))
        found = [s for s, theirs in self.one_of.items() if s != x and (mine is None or theirs is None or mine & theirs)]
        if x in self.one_of:
            named = self.pending if mine is None else mine
            found += [s for s in named if isinstance(s, Stream) and s not in self.one_of and s in self.pending]
        return found

    def after(self, x: Observer, y: Observer, certain: bool = True, where: In = In.BOTH) -> None:
        """`x` waits for everything that `y` has finished or waited for. If not `certain`, it may or may not."""
        q, p = self.pending, self.lost
        if self.one_of and y is not HOST and where is not In.REWRITTEN:
            for other in self.may_be(x):  # which may be what waits
                if where is In.ORIGINAL:
                    p[other] = q[other]
                elif y in p:
                    p[other] = p.get(other, 0) | (p[y] & q[other])
        qx, qy = q[x], q[y]
        if where is In.REWRITTEN:
            if certain:
                q[x] = qx & qy
                if x in p:
                    p[x] &= qy
            return
        lx, ly = p.get(x, 0), p.get(y, 0)
        if where is In.ORIGINAL:  # P may have an order that Q has not, over everything that Q still has pending
            p[x] = qx
        elif certain:
            q[x] = qx & qy
            if lx or ly:
                p[x] = (lx & qy) | (ly & qx)
        elif ly:
            p[x] = lx | (ly & qx)

    def after_anything(self, x: Observer) -> None:
        """`x` waits for something that is not known: P may have an order that Q has not, Q has none for certain."""
        self.known(x)
        lost = 0
        for bits in self.lost.values():
            lost |= bits
        for one in (x, *self.may_be(x)) if lost else ():
            self.lost[one] = self.lost.get(one, 0) | (lost & self.pending[one])

    def enter(self, s: Stream, where: In = In.BOTH) -> None:
        """Before a step on `s`: the legacy stream waits for all blocking streams of its device (docs/FACTS.md)."""
        if s.kind is StreamKind.LEGACY:
            for b in [b for b in self.pending if isinstance(b, Stream)]:
                if b.kind is StreamKind.BLOCKING:
                    self.after(s, b, certain=_of_one_device(s, b) and not b.summary, where=where)
                elif b.kind is StreamKind.UNKNOWN:
                    self.after(s, b, certain=False, where=where)
            if where is not In.ORIGINAL:  # whichever blocking stream an operation was issued on
                left = ~self.there.get(s.device, 0) if s.device else self.elsewhere
                self.pending[s] &= left
                if s in self.lost:
                    self.lost[s] &= left
        elif s.kind is StreamKind.UNKNOWN:
            for b in [b for b in self.pending if isinstance(b, Stream) and b != s]:
                if b.kind is StreamKind.LEGACY or (s in self.one_of and b.kind is not StreamKind.NON_BLOCKING):
                    self.after(s, b, certain=False, where=where)  # it may be the legacy stream, or a blocking one

    def leave(self, s: Stream, where: In = In.BOTH, certain: bool = True) -> None:
        """After a step on `s`: the blocking streams wait for the legacy stream of their device. If not `certain`, there
        may be no step.
        """
        if s.kind is StreamKind.LEGACY:
            for b in [b for b in self.pending if isinstance(b, Stream)]:
                if b.kind is StreamKind.BLOCKING:
                    self.after(b, s, certain and _of_one_device(s, b) and not s.summary, where)
                elif b.kind is StreamKind.UNKNOWN:
                    self.after(b, s, certain=False, where=where)
        elif s.kind is StreamKind.UNKNOWN:
            for b in [b for b in self.pending if isinstance(b, Stream)]:
                unknown = b.kind is StreamKind.UNKNOWN and s in self.one_of
                if (unknown or b.kind in (StreamKind.BLOCKING, StreamKind.LEGACY)) and b != s:
                    self.after(b, s, certain=False, where=where)

    def follow(self, s: Stream, bit: Bits) -> None:
        """After an operation on `s`, as `leave`, for this operation only: the blocking streams run behind it."""
        if s.kind is StreamKind.LEGACY:
            for b in self.pending:
                if isinstance(b, Stream) and b.kind is StreamKind.BLOCKING and _of_one_device(s, b):
                    self.pending[b] &= ~bit

    # -- steps -----------------------------------------------------------------------------------------------------

    def issue(self, bit: Bits, streams: Iterable[Stream], one: bool = True) -> None:
        """An operation is issued on the stream of `streams`, if that is `one`, else on an unknown one of several.

        It becomes pending for every other observer, recorded events included. It never is for its own stream; but of
        several streams the next step may run on another one.
        """
        own = list(streams)
        exact = own[0] if one and len(own) == 1 else None
        really = [base for s in own for base in self.one_of.get(s, (s,)) or (s,)]
        devices = {s.device if s.kind in (StreamKind.BLOCKING, StreamKind.LEGACY) else "?" for s in really}
        if devices != {""}:
            self.elsewhere |= bit
        if devices != {""} or self.there:
            self._issue_there(bit, devices)
        if exact is not None and exact.summary:
            self.own[exact] = self.own.get(exact, 0) | bit
        for x in self.pending:
            if x != exact:
                self.pending[x] |= bit

    def _issue_there(self, bit: Bits, devices: set[str]) -> None:
        (device,) = devices if len(devices) == 1 else ("?",)
        if device not in ("", "?") and not self.pending[FRESH] & bit:
            self.there[device] = self.there.get(device, 0) | bit
        for other in self.there:
            if other != device:
                self.there[other] &= ~bit

    def ran(self, s: Stream, where: In = In.BOTH, certain: bool = True) -> None:
        """A step was issued on `s`, behind what it has waited for.

        Who synchronizes with a blocking stream waits for its last step, and for what that has waited for; not for work
        on the legacy stream that came behind it, which only the next step of the stream would wait for (docs/FACTS.md).
        """
        for other in self.may_be(s):
            self._ran(other, where, certain=False)
        self._ran(s, where, certain)

    def _ran(self, s: Stream, where: In, certain: bool) -> None:
        if s.kind is not StreamKind.BLOCKING:
            return
        end, q, p = _end_of(s), self.pending, self.lost
        if end not in q:
            q[end] = q[FRESH]
        if where is In.ORIGINAL:
            p[end] = q[end] & (~q[s] | p.get(s, 0))
        elif where is In.REWRITTEN:
            if certain:
                q[end] = q[s]
                p[end] = p.get(end, 0) & q[s]
        elif certain:
            q[end], p[end] = q[s], p.get(s, 0)
        else:
            p[end] = p.get(end, 0) | (p.get(s, 0) & q[end])

    def synchronized(self, s: Stream) -> Bits:
        """What may be pending for somebody who has synchronized with a stream."""
        if s.kind is not StreamKind.BLOCKING:
            return self.pending[s]
        return self.pending.get(_end_of(s), self.pending[FRESH])

    def record(self, event: Event, s: Stream, where: In = In.BOTH) -> None:
        if event.summary and event in self.pending:
            self.pending[event] |= self.pending[s]
            self.lost[event] = self.lost.get(event, 0) | self.lost.get(s, 0)
            return
        self.pending[event] = self.pending[s]
        self.lost[event] = self.lost.get(s, 0)

    def host_knows(self, where: In = In.BOTH) -> None:
        """What the host has seen finish is finished for all."""
        for x in self.pending:
            if x is not HOST:
                self.after(x, HOST, where=where)

    def host_waits(self, y: Observer, certain: bool = True, where: In = In.BOTH) -> None:
        """The host waits for a stream or for an event that was recorded."""
        if isinstance(y, Stream) and y.kind is StreamKind.BLOCKING:
            y = _end_of(y)
        elif isinstance(y, Stream):
            self.enter(y, where)
            self.leave(y, where, certain)
        if y in self.pending:
            self.after(HOST, y, certain, where)
            self.host_knows(where)

    def finish(self, bits: Bits, where: In = In.BOTH) -> None:
        """The operations `bits` have completed, for everybody (`-1`: all of them, as after a device sync)."""
        for x in self.pending:
            if where is not In.ORIGINAL:
                self.pending[x] &= ~bits
        if where is In.ORIGINAL:
            for x, pending in self.pending.items():
                self.lost[x] = self.lost.get(x, 0) | (pending & bits)
        else:
            for x in self.lost:
                self.lost[x] &= ~bits


def numbers(bits: Bits) -> Iterator[int]:
    """The positions of the bits that are set."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
