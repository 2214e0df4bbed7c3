"""The lattice: what observers have waited for, in the original program (P) and in the rewritten one (Q) at once.

A `Row` belongs to an observer; its sets are bits of an int. The low bits are *entry facts*, one for each observer: "all
that this observer had waited for when the function was entered". The bits above them are operations of the function.
So the dataflow over a function, started with each observer having its own entry fact, is the function's summary.

* `done`: what has finished in Q before the observer's next step (a lower bound). What is issued and not done is
  *pending*.
* `lost`: what has finished in P by then and is pending in Q (an upper bound). The only entry facts in it are those of
  devices: what P alone waits for is a device, or is taken for all of them.
* `may`: the entry facts that P may have waited for (an upper bound): what was lost before the entry is lost here if it
  is pending and some fact of `may` carries it.

Invariant: `done & lost == 0`. P's own sets are not needed: if x waits for y in both programs, what P has finished for x
and Q has not is `(lost[x] & ~done[y]) | (lost[y] & ~done[x])`. Comparing the waits of P and Q behind a join instead
would forget that both take the same branch.

What is stored for a stream is what its *last* step had waited for, as in the happens-before graph. What the next step
waits for in addition (what the host has seen, the legacy stream, the blocking ones) is read when there is a next
step. So a step changes a handful of rows, however many streams there are, and a callee leaves the rows alone of what it
does not name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple, TypeAlias

Bits: TypeAlias = int


class Row(NamedTuple):
    done: Bits
    lost: Bits
    may: Bits


NOTHING = Row(0, 0, 0)
NOBODY = Row(-1, 0, 0)
"""The row of several objects of which there is none yet: neutral in joins."""


def both(x: Row, y: Row) -> Row:
    """`x` waits for `y` in both programs."""
    if x is y:
        return x
    xd, xl, xm = x
    yd, yl, ym = y
    return Row(xd | yd, (xl & ~yd) | (yl & ~xd), xm | ym)


def knowing(x: Row, host: Row) -> Row:
    """`x` waits for what the host has seen. Of what only P has finished for the host all rows are told when it happens;
    adding here what is lost for the host would forget, behind a join, on which path x has waited for it in Q.
    """
    return Row(x.done | host.done, x.lost & ~host.done, x.may | host.may)


def in_rewritten(x: Row, y: Row) -> Row:
    """`x` waits for `y` in Q alone."""
    return Row(x.done | y.done, x.lost & ~y.done, x.may)


def in_original(x: Row, finished: Bits, may: Bits) -> Row:
    """`x` waits in P alone for what has `finished` there at most."""
    return Row(x.done, (x.lost | finished) & ~x.done, x.may | may)


def perhaps(x: Row, y: Row) -> Row:
    """`x` waits for `y` in both programs, or in neither."""
    return Row(x.done, x.lost | (y.lost & ~x.done), x.may | y.may)


def either(x: Row, y: Row) -> Row:
    """The least upper bound of two rows of one state."""
    if x is y:
        return x
    return Row(x.done & y.done, x.lost | y.lost, x.may | y.may)


def any_of(rows: Iterable[Row]) -> Row:
    """The row of one of several; there is at least one."""
    return reduce(either, rows)


class State:
    """The rows of all observers of a function at one of its points.

    `issued`: the operations that may have been issued. `dead`: the streams that may have been destroyed. `recorded`:
    the events that were recorded for certain. `kept`: the observers that may still be the object that they were at the
    entry, so that what the caller knows of them counts.
    """

    __slots__ = ("dead", "issued", "kept", "recorded", "rows")

    def __init__(self, rows: list[Row], issued: Bits = 0, dead: Bits = 0, recorded: Bits = 0, kept: Bits = -1) -> None:
        self.rows = rows
        self.issued = issued
        self.dead = dead
        self.recorded = recorded
        self.kept = kept

    def copy(self) -> State:
        return State(self.rows.copy(), self.issued, self.dead, self.recorded, self.kept)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.issued == other.issued
            and self.dead == other.dead
            and self.recorded == other.recorded
            and self.kept == other.kept
            and self.rows == other.rows
        )

    __hash__ = None  # type: ignore[assignment]  # states are mutable

    def join(self, other: State) -> State:
        """The least upper bound. What one of them has not issued is not pending there."""
        only_mine, only_theirs = self.issued & ~other.issued, other.issued & ~self.issued
        host, their_host = self.rows[0], other.rows[0]
        rows: list[Row] = []
        for x, (mine, theirs) in enumerate(zip(self.rows, other.rows, strict=True)):
            if mine is theirs or mine == theirs:
                rows.append(mine)
                continue
            if x > 1:  # what the host has seen finish is finished for all: said before the host's rows are joined
                mine, theirs = knowing(mine, host), knowing(theirs, their_host)
            done = (mine.done | only_theirs) & (theirs.done | only_mine)
            rows.append(Row(done, mine.lost | theirs.lost, mine.may | theirs.may))
        return State(
            rows,
            self.issued | other.issued,
            self.dead | other.dead,
            self.recorded & other.recorded,
            self.kept | other.kept,
        )


def joined(x: State | None, y: State | None) -> State | None:
    """The least upper bound, None being a point that nothing reaches."""
    if x is None or y is None:
        return x if y is None else y
    return x.join(y)


def positions(bits: Bits) -> list[int]:
    """The positions of the bits that are set, ascending."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
