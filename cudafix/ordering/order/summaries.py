"""Summaries: what a function does to any state at its entry, made once a function, callees first.

A summary is the state at each exit of the dataflow that starts with entry facts (`transfer.start`). What operations ask
of the entry is kept as a map from facts to sets of operations, so that a call costs the same however much runs inside.
A call is one composition: each fact is replaced by what the caller has behind it, which for `done` is a product of
boolean matrices. Loops and functions that call each other are least fixpoints from below: nothing reaches an exit, and
nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cudafix.ordering.order.lattice import NOTHING, Bits, Row, State, any_of, both, either, joined, positions
from cudafix.ordering.order.linking import make_scopes
from cudafix.ordering.order.program import (
    HOST,
    STATUS,
    STREAMS,
    Block,
    Branch,
    Call,
    Catch,
    Exit,
    Instruction,
    Leave,
    Loop,
    Program,
    instructions,
)
from cudafix.ordering.order.scopes import Binding, Scope
from cudafix.ordering.order.transfer import Asked, start, transfer


class Question(NamedTuple):
    """What operations ask of the state at the entry: facts of a row, and the streams that have to be alive."""

    facts: Row
    alive: Bits


class Meeting(NamedTuple):
    """Earlier operations of the function when some operation was issued: those that may be pending in Q, those that P
    has finished, and whether its stream may have been destroyed.
    """

    pending: Bits
    lost: Bits
    destroyed: bool


@dataclass(slots=True)
class Summary:
    scope: Scope
    exits: dict[Exit, State] = field(default_factory=dict)
    asked: dict[Question, Bits] = field(default_factory=dict)
    meetings: dict[Meeting, Bits] = field(default_factory=dict)

    def join(self, older: Summary) -> bool:
        """Add what an earlier run has found. False if nothing has changed since."""
        for exit_, state in older.exits.items():
            _leave(self.exits, exit_, state)
        for question, operations in older.asked.items():
            self.asked[question] = self.asked.get(question, 0) | operations
        for meeting, operations in older.meetings.items():
            self.meetings[meeting] = self.meetings.get(meeting, 0) | operations
        return self.exits != older.exits or self.asked != older.asked or self.meetings != older.meetings


class Summaries(Mapping[str, Summary]):
    """The summaries of the functions of a program, made when they are asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._scopes: dict[str, Scope] = {}
        self._done: dict[str, Summary] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.program.functions)

    def __len__(self) -> int:
        return len(self.program.functions)

    def __getitem__(self, name: str) -> Summary:
        if name not in self._done:
            for component in components(self.program, name, self._done):
                self._summarize(component)
        return self._done[name]

    def _summarize(self, component: Sequence[str]) -> None:
        self._scopes.update(make_scopes(self.program, component, self._scopes))
        for name in component:
            self._done[name] = Summary(self._scopes[name])
        recursive = any(callee in component for name in component for callee in callees(self.program, name))
        changed = True
        while changed:
            changed = False
            for name in component:
                new = _Walk(self._scopes[name], self._done).summary()
                if new.join(self._done[name]):
                    changed |= recursive
                self._done[name] = new


def callees(program: Program, name: str) -> Iterator[str]:
    """The functions that a function calls."""
    return (i.function for i in instructions(program.functions[name].body) if isinstance(i, Call))


def components(program: Program, root: str, done: Mapping[str, object]) -> list[list[str]]:
    """The strongly connected components of the call graph that `root` reaches, callees first (Tarjan, 1972)."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()

    def enter(name: str) -> tuple[str, Iterator[str]]:
        number[name] = low[name] = len(number)
        open_.append(name)
        is_open.add(name)
        return name, callees(program, name)

    work = [enter(root)]
    while work:
        name, rest = work[-1]
        for callee in rest:
            if callee in done:
                continue
            if callee not in number:
                work.append(enter(callee))
                break
            if callee in is_open:
                low[name] = min(low[name], number[callee])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == number[name]:
                at = open_.index(name)
                found.append(open_[at:])
                is_open.difference_update(open_[at:])
                del open_[at:]
    return found


Path = tuple[int, ...]


class _Walk:
    """One run over a function's body.

    Loops keep the state at their head, by their path in the body: within an outer loop the states that reach them only
    grow, so that a loop starts where it ended before, and one that nothing new has reached is not run again.
    """

    def __init__(self, scope: Scope, done: Mapping[str, Summary]) -> None:
        self.scope = scope
        self.done = done
        self.result = Summary(scope)
        self.loops: dict[Path, tuple[State, State | None, dict[Exit, State]]] = {}

    def summary(self) -> Summary:
        exits = self.result.exits
        end = self.block(self.scope.function.body, start(self.scope), exits, ())
        _leave(exits, Exit.RETURN, end)
        return self.result

    def block(self, block: Block, state: State | None, exits: dict[Exit, State], path: Path) -> State | None:
        """Run a block; it owns `state`. Adds to `exits`; returns the state at the end, None if nothing gets there."""
        for n, instruction in enumerate(block):
            if state is None:
                return None
            state = self.instruction(instruction, state, exits, (*path, n))
        return state

    def instruction(self, instruction: Instruction, state: State, exits: dict[Exit, State], path: Path) -> State | None:
        match instruction:
            case Branch(blocks):
                end: State | None = None
                for n, block in enumerate(blocks):
                    end = joined(end, self.block(block, state.copy(), exits, (*path, n)))
                return end
            case Loop():
                return self.loop(instruction, state, exits, path)
            case Leave(exit_):
                _leave(exits, exit_, state)
                return None
            case Catch(exit_, body, handler):
                inner: dict[Exit, State] = {}
                end = self.block(body, state, inner, (*path, 0))
                caught = inner.pop(exit_, None)
                for other, at in inner.items():
                    _leave(exits, other, at)
                return joined(end, self.block(handler, caught, exits, (*path, 1)))
            case Call():
                return self.call(instruction, state, exits)
        if (asked := transfer(self.scope, state, instruction)) is not None:
            self.ask(asked, state)
        return state

    def loop(self, loop: Loop, state: State, exits: dict[Exit, State], path: Path) -> State | None:
        head = state
        end: State | None = None
        inner: dict[Exit, State] = {}
        known = self.loops.get(path)
        if known is not None:
            head = known[0].join(state)
        if known is not None and head == known[0]:
            _, end, inner = known
        else:
            while True:
                inner = {}
                bottom = self.block(loop.body, head.copy(), inner, path)
                bottom = joined(bottom, inner.pop(Exit.CONTINUE, None))
                end = joined(bottom if loop.at_least_once else head, inner.pop(Exit.BREAK, None))
                again = head if bottom is None else head.join(bottom)
                if again == head:
                    break
                head = again
            self.loops[path] = head, end, inner
        for exit_, at in inner.items():
            _leave(exits, exit_, at)
        return None if end is None else end.copy()

    def ask(self, asked: Asked, state: State) -> None:
        """Keep what an operation asks: of earlier operations here, of those before the call as facts."""
        operation, row, streams = asked
        base = self.scope.base
        facts = (1 << base) - 1
        pending, lost = state.issued & ~row.done, row.lost & ~facts
        destroyed = bool(streams & state.dead)
        meets = operation if lost or destroyed else operation & self.scope.waits
        if pending and meets or destroyed:
            meeting = Meeting(pending, lost, destroyed)
            self.result.meetings[meeting] = self.result.meetings.get(meeting, 0) | meets
        question = Question(Row(row.done & facts, row.lost & facts, row.may), streams & state.kept & ~self.scope.local)
        self.result.asked[question] = self.result.asked.get(question, 0) | operation

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, call: Call, state: State, exits: dict[Exit, State]) -> State | None:
        callee = self.done[call.function]
        binding = self.scope.calls[call.site]
        composed = _Composition(self.scope, binding, state)
        for question, operations in callee.asked.items():
            self.ask(
                Asked(
                    binding.operations(operations),
                    composed.facts(question.facts),
                    composed.observers(question.alive),
                ),
                state,
            )
        end = None
        for exit_, at in callee.exits.items():
            after = composed.behind(at, exit_ is Exit.RETURN)
            if exit_ is Exit.RETURN:
                end = after
            else:
                _leave(exits, exit_, after)
        return end


def _leave(exits: dict[Exit, State], exit_: Exit, state: State | None) -> None:
    if (found := joined(exits.get(exit_), state)) is not None:
        exits[exit_] = found


class _Composition:
    """A callee's states put behind a state of the caller."""

    def __init__(self, scope: Scope, binding: Binding, state: State) -> None:
        self.scope = scope
        self.binding = binding
        self.state = state
        self.known: dict[Row, Row] = {}
        self.entry = [any_of(state.rows[x] for x in some) if some else NOTHING for some in binding.targets]

    def observers(self, callee: Bits) -> Bits:
        """The candidates for some of the callee's observers."""
        found = 0
        for y in positions(callee):
            for x in self.binding.targets[y]:
                found |= 1 << x
        return found

    def facts(self, facts: Row) -> Row:
        """A row of facts at the callee's entry, as the caller's row of facts and operations."""
        if facts in self.known:
            return self.known[facts]
        done = lost = may = 0
        for y in positions(facts.done):
            done |= self.entry[y].done
        for y in positions(facts.may):
            lost |= self.entry[y].lost
            may |= self.entry[y].may
        for y in positions(facts.lost):
            device = self.scope.kinds[y].device  # devices have the same positions everywhere
            assert device is not None
            operations, more = self.scope.finished_by[device]
            lost |= operations & self.state.issued | more
        found = self.known[facts] = Row(done, lost & ~done, may)
        return found

    def behind(self, exit_: State, returns: bool) -> State:
        """The state behind the call that is left like this. If it does not return, the caller may or may not have got
        what the callee has made.
        """
        binding, state = self.binding, self.state
        scope, move = binding.callee, binding.operations
        low = (1 << scope.base) - 1
        issued = move(exit_.issued)
        again, new = issued & state.issued, issued & ~state.issued

        def image(row: Row) -> Row:
            before = self.facts(Row(row.done & low, row.lost & low, row.may))
            finished = issued & ~move(exit_.issued & ~row.done)
            done = before.done & ~issued | finished & new | finished & before.done
            return Row(done, (before.lost | move(row.lost)) & ~done, before.may)

        rows = state.rows.copy()
        if again:  # what has been waited for before, has not been waited for again
            rows = [Row(row.done & ~again, row.lost, row.may) if row.done & again else row for row in rows]
        host = exit_.rows[HOST]
        if (
            lost := image(host._replace(may=0)).lost if host.lost else 0
        ):  # tell who has no name in the callee (`knowing`)
            told = rows[STATUS]
            rows = [Row(row.done, row.lost | lost & ~row.done, row.may) for row in rows]
            rows[STATUS] = told
        found: dict[int, list[Row]] = {}
        for y, row in enumerate(exit_.rows):
            fact = 1 << y
            if not binding.targets[y] or (row.done == fact == row.may and not row.lost):
                continue
            new_row = image(row)
            certain = len(binding.targets[y]) == 1
            if scope.local & fact:  # what was not made, or not got, is what the caller had by this name
                certain &= returns and not exit_.kept & fact
            for x in binding.targets[y]:
                if certain and not self.scope.kinds[x].several:
                    found.setdefault(x, []).append(new_row)
                else:
                    found.setdefault(x, []).append(either(rows[x], new_row))
        for x, images in found.items():
            rows[x] = images[0] if len(images) == 1 else self._of_one(x, images)
        after = State(rows, state.issued | issued, state.dead, state.recorded, state.kept)
        self._lives(exit_, after, returns)
        return after

    def _of_one(self, x: int, images: Sequence[Row]) -> Row:
        """The row of one object for which the callee has several names: all steps under any name are steps of a stream,
        an event is what it was under the name that was recorded last.
        """
        found = images[0]
        for image in images[1:]:
            found = both(found, image) if self.scope.kinds[x].kind in STREAMS else either(found, image)
        return found

    def _lives(self, exit_: State, after: State, returns: bool) -> None:
        """Which objects are alive, recorded, and still those of the caller's own entry."""
        callee = self.binding.callee
        low = (1 << callee.base) - 1
        for y in positions((exit_.dead | exit_.recorded | ~exit_.kept | callee.local) & low):
            bit, targets = 1 << y, self.binding.targets[y]
            certain = len(targets) == 1 and not self.scope.kinds[targets[0]].several
            here = self.observers(bit)
            another = bool(~exit_.kept & bit)
            certain &= returns and another or not callee.local & bit
            if another and not exit_.recorded & bit:
                after.recorded &= ~here
            if certain:
                if another:
                    after.dead &= ~here
                    after.kept &= ~here
                if exit_.recorded & bit:
                    after.recorded |= here
            if exit_.dead & bit:
                after.dead |= here
