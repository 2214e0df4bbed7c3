"""What is out of order: in any caller by its meetings, and of a function alone, for every caller at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from cudafix.ordering.order.lattice import Bits, Row, State, positions
from cudafix.ordering.order.program import (
    HOST,
    STATUS,
    Does,
    Exit,
    Kind,
    all_blocking,
    device_of,
    legacy,
)
from cudafix.ordering.order.scopes import Key, Scope
from cudafix.ordering.order.summaries import Summary


class Wrong(Enum):
    ORDER = "order"  # P guarantees that the earlier operation has finished, Q does not
    USE_BEFORE_ALLOCATION = "use before allocation"
    FREE_BEFORE_USE = "free before use"
    FREE_MEMORY = "free memory"  # is looked at while a free that P had done at once may be pending
    STREAM_DESTROYED = "stream destroyed"


class Violation(NamedTuple):
    """Two operations of a function that may be out of order; of a destroyed stream there is only the later one."""

    wrong: Wrong
    earlier: Key | None
    later: Key


_OF_NEEDS = {
    Does.WORK: Wrong.USE_BEFORE_ALLOCATION,
    Does.FREE: Wrong.FREE_BEFORE_USE,
    Does.FREE_MEMORY: Wrong.FREE_MEMORY,
}


def violations(summary: Summary) -> set[Violation]:
    """All pairs of operations that meet in this function and may be out of order. Those that meet inside a callee are
    among the callee's.
    """
    scope = summary.scope
    found: set[Violation] = set()
    for (pending, lost, destroyed), operations in summary.meetings.items():
        for later in positions(operations):
            access = scope.access(later)
            if destroyed and access.does in (Does.ALLOCATE, Does.FREE):
                found.add(Violation(Wrong.STREAM_DESTROYED, None, access.key))
            early = pending & scope.needs(later)
            for earlier in positions(early):
                found.add(Violation(_OF_NEEDS[access.does], scope.access(earlier).key, access.key))
            if access.compared and lost:
                for earlier in positions(lost & scope.conflicts(later) & ~early):
                    found.add(Violation(Wrong.ORDER, scope.access(earlier).key, access.key))
    return found


# -- local first -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Census:
    """The kinds of streams that the tree creates on each device (all of them have a legacy stream), and whether
    anything in it looks at the free memory of a device.
    """

    kinds: Mapping[int, frozenset[Kind]]
    free_memory: bool = False

    def needed(self, device: int) -> Bits | None:
        """Whose entry facts say together that all work of a device has been waited for; None if nobody's do."""
        kinds = self.kinds[device]
        if not kinds <= {Kind.LEGACY, Kind.BLOCKING}:
            return None
        return 1 << legacy(device) | (1 << all_blocking(device) if Kind.BLOCKING in kinds else 0)


class Cause(Enum):
    """Why a function may be wrong for some caller."""

    VIOLATION = "violation"  # inside, whoever calls
    ASKS = "asks"  # an operation may conflict with something from before the call that only P has waited for
    LOST_AT_EXIT = "lost at exit"  # an operation that only P has waited for
    WAITED_AT_EXIT = "waited at exit"  # P has waited for something from before the call, and Q has not
    FREES_AT_EXIT = "frees at exit"  # somebody may look at free memory
    ALIVE = "alive"  # a stream has to be alive that the caller may have destroyed


class Blocker(NamedTuple):
    cause: Cause
    operation: Key | None = None
    observer: int | None = None
    exit: Exit | None = None


@dataclass(frozen=True, slots=True)
class Local:
    """What keeps a function from being right for every caller; nothing, if it is."""

    blockers: frozenset[Blocker] = field(default_factory=frozenset)

    @property
    def holds(self) -> bool:
        return not self.blockers


def local_first(summary: Summary, census: Census, inside: set[Violation]) -> Local:
    """Whether a function is right for every caller, with its callees as their summaries say.

    The entry is the worst one: an unknown operation on each stream of the census, which may read, write, print and
    fail, pending for all observers but its own stream, lost nowhere. `inside` are the violations of the function and
    of all that it calls. All conditions are needed: what is not lost here could be lost behind the call.
    """
    scope = summary.scope
    found = {Blocker(Cause.VIOLATION, violation.later) for violation in inside}
    for question, operations in summary.asked.items():
        blocked = operations & scope.exposed if _left(census, question.facts) else 0
        if not all(_closed(census, question.facts.done, device) for device in census.kinds):
            blocked |= operations & scope.frees_of_callers
        found.update(Blocker(Cause.ASKS, scope.access(position).key) for position in positions(blocked))
        if question.alive:
            ends = operations & scope.allocates_or_frees
            found.update(Blocker(Cause.ALIVE, scope.access(position).key) for position in positions(ends))
    for exit_, state in summary.exits.items():
        found.update(_at_exit(scope, census, exit_, state))
    return Local(frozenset(found))


def _at_exit(scope: Scope, census: Census, exit_: Exit, state: State) -> Iterator[Blocker]:
    operations = scope.operations
    host = state.rows[HOST]
    for place, row in enumerate(state.rows):
        if scope.local >> place & 1:
            continue
        done = row.done if place == STATUS else row.done | host.done
        for position in positions(row.lost & operations & ~done):
            yield Blocker(Cause.LOST_AT_EXIT, scope.access(position).key, scope.names[place], exit_)
        if _left(census, Row(done, row.lost, row.may)):
            yield Blocker(Cause.WAITED_AT_EXIT, None, scope.names[place], exit_)
    if census.free_memory:
        for position in positions(state.issued & ~host.done & operations):
            access = scope.access(position)
            if access.does is Does.FREE and not access.compared:
                yield Blocker(Cause.FREES_AT_EXIT, access.key, None, exit_)


def _closed(census: Census, done: Bits, device: int) -> bool:
    """Whether all work of a device from before the call has been waited for."""
    if done >> device_of(device) & 1:
        return True
    needed = census.needed(device)
    return needed is not None and done & needed == needed


def _left(census: Census, row: Row) -> bool:
    """Whether P may have waited for work from before the call that Q has not waited for."""
    return any(row.lost >> device_of(d) & 1 and not _closed(census, row.done, d) for d in census.kinds)
