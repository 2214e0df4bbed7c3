"""Which allocations a program times for their own sake: facts of a whole program, whatever runs.

A timed section is what runs between two looks at a clock, or two records of events if the program asks for the time
between events, calls included. An allocation that is alone in one is there to be timed. So is one that a program works
with and frees in one section, if it does the same work with stream-ordered memory in another one: it compares the two.
A section whose branches exclude each other is one for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from cudafix import ir
from cudafix.ir.link import Program, handed_over, last
from cudafix.models.api import Effect
from cudafix.ordering.facts.reach import LEAVES_NOTHING, Reach
from cudafix.recursion import room

_MOST_STEPS = 1000
"""A section with more steps measures no allocation."""
_NO_WORK = LEAVES_NOTHING | {Effect.RECORD, Effect.WAIT, Effect.FREE}

Arm: TypeAlias = tuple[object, object]
"""What chooses, and one of its branches. Equal conditions of one function choose alike."""
Given: TypeAlias = frozenset[tuple[str, str]]
"""The parameters of a function through which it may call, and the functions that they may be."""


class _Step(NamedTuple):
    """An allocation, a free (of `memory`) or work on the device (under its name, without `Async`)."""

    what: Effect
    name: str
    stmt: int
    arms: frozenset[Arm]


_Section: TypeAlias = dict[_Step, None]


class _Passage(NamedTuple):
    """What a function does before its first look at a clock and, if it looks at one, after its last."""

    before: _Section
    after: _Section | None


class Timing:
    """One for a program: what it says is found once."""

    def __init__(self, program: Program, reach: Reach) -> None:
        self.program = program
        self.reach = reach
        self._passages: dict[tuple[int, Given], _Passage] = {}
        self._found: list[_Section] = []

    @staticmethod
    def of(program: Program, reach: Reach) -> Timing:
        return program.kept("timing", lambda: Timing(program, reach))

    @cached_property
    def alone(self) -> frozenset[int]:
        """The allocations (by `id`) in timed sections without work on the device."""
        sections = (s for s in self._sections if all(step.what is not Effect.WORK for step in s))
        return frozenset(step.stmt for section in sections for step in section if step.what is Effect.ALLOC)

    @cached_property
    def compared(self) -> frozenset[int]:
        """The blocking allocations (by `id`) in timed sections beside which another does the same with stream-ordered
        memory.
        """
        ways = [way for section in self._sections for way in _ways(section)]
        stream_ordered = {_work(way) for way in ways if _only(way, "async")}
        compared = (way for way in ways if _only(way, "device") and _work(way) in stream_ordered)
        return frozenset(step.stmt for way in compared for step in way if step.what is Effect.ALLOC)

    @cached_property
    def _sections(self) -> list[_Section]:
        looking = self.program.reaching("looks at clocks", self.looks_at_clock)
        for function in self.program.functions() if looking else ():
            if id(function) in looking:
                self._passage(function, frozenset())
        return [section for section in self._found if len(section) <= _MOST_STEPS]

    @cached_property
    def _times_events(self) -> bool:
        """Whether somebody asks for the time between two events: records are no looks at a clock without."""
        return self.program.main is None or any(
            self._effect(stmt) is Effect.ELAPSED
            for function in self.program.functions()
            for stmt in function.statements
        )

    def _effect(self, stmt: ir.Stmt) -> Effect | None:
        api = self.reach.tables.lookup(stmt.callee, len(stmt.args)) if isinstance(stmt, ir.Call) else None
        return api.effect if api is not None else None

    def looks_at_clock(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call):
            return False
        effect = self._effect(stmt)
        if effect is None:
            return stmt.callee.endswith("::now")  # of a clock by another name
        return effect is Effect.CLOCK or (effect is Effect.RECORD and self._times_events)

    def _passage(self, function: ir.Function, given: Given) -> _Passage:
        key = id(function), given
        if key not in self._passages:
            self._passages[key] = _Passage({}, None)  # for the calls of itself
            walked = _Walk(self, function, given, self._found)
            walked.block(function.body, frozenset())
            self._passages[key] = (
                _Passage(walked.before, walked.section) if walked.timed else _Passage(walked.section, None)
            )
        return self._passages[key]

    def passages(self, functions: Iterable[ir.Function], given: Given) -> Iterator[tuple[ir.Function, _Passage]]:
        """Of those functions that do anything that counts here."""
        doing = self.program.reaching("steps that may be timed", self._counts)
        for function in dict.fromkeys(functions):
            if id(function) in doing or given:
                yield function, self._passage(function, given)

    def _counts(self, stmt: ir.Stmt) -> bool:
        return self.looks_at_clock(stmt) or self.step(stmt, frozenset()) is not None

    def step(self, stmt: ir.Stmt, arms: frozenset[Arm]) -> _Step | None:
        match stmt:
            case ir.Launch(kernel=kernel):
                return _Step(Effect.WORK, kernel, id(stmt), arms)
            case ir.Unknown() if self.reach.is_device_work(stmt):
                return _Step(Effect.WORK, f"{stmt.span}", id(stmt), arms)
            case ir.Call(callee=callee, args=args):
                api = self.reach.tables.lookup(callee, len(args))
                if api is not None and api.effect in (Effect.ALLOC, Effect.FREE):
                    return _Step(api.effect, api.memory or "", id(stmt), arms)
                if api is not None and api.effect not in _NO_WORK:
                    return _Step(Effect.WORK, last(callee).replace("Async", ""), id(stmt), arms)
        return None


class _Walk:
    """One walk through a function, in the order of the text."""

    def __init__(self, timing: Timing, function: ir.Function, given: Given, found: list[_Section]) -> None:
        self.timing = timing
        self.function = function
        self.given = given
        self.found = found
        self.timed = False  # whether `section` begins with a look at a clock
        self.before: _Section = {}
        self.section: _Section = {}

    @room()
    def block(self, block: ir.Block, arms: frozenset[Arm]) -> None:
        for stmt in block:
            match stmt:
                case ir.If(test=test):
                    choice = (id(self.function), test.text) if test.text else id(stmt)
                    self.block(stmt.then, arms | {(choice, True)})
                    self.block(stmt.other, arms | {(choice, False)})
                case ir.Switch():
                    for n, arm in enumerate(stmt.arms):
                        self.block(arm, arms | {(id(stmt), n)})
                case _ if inner := ir.blocks_of(stmt):
                    for one in inner:
                        self.block(one, arms)
                case _:
                    self._simple(stmt, arms)

    def _simple(self, stmt: ir.Stmt, arms: frozenset[Arm]) -> None:
        called = self.timing.program.reached_by(stmt, self.function.cls) if isinstance(stmt, ir.Call) else []
        given: Given = frozenset()
        if isinstance(stmt, ir.Call) and len(called) == 1:
            given = self._given(stmt, called[0])
        elif not called:
            names = {*handed_over(stmt), *self._through(stmt)}
            path = stmt.span.path
            called = [f for name in sorted(names) for f in self.timing.program.resolve(name, 0, path)]
        done = list(self.timing.passages(called, given))
        if not called:
            if self.timing.looks_at_clock(stmt):
                self._look()
            elif (step := self.timing.step(stmt, arms)) is not None:
                self.section[step] = None
        classes = frozenset(f.cls for f, _ in done)
        choice = classes if len(classes) == len(done) else id(stmt)
        for n, (function, passage) in enumerate(done):
            chosen = arms | {(choice, function.cls if choice is classes else n)} if len(done) > 1 else arms
            self._add(passage.before, chosen)
            if passage.after is not None:
                if self.timing.reach.leaves_work(function):  # it times that, and not what was done in front of it
                    self.section[_Step(Effect.WORK, last(function.name), id(stmt), chosen)] = None
                self._look()
                self._add(passage.after, chosen)

    def _given(self, call: ir.Call, function: ir.Function) -> Given:
        found: set[tuple[str, str]] = set()
        for param, arg in zip(function.params, call.args, strict=False):
            base = arg.base if isinstance(arg, ir.Addr) else arg
            if isinstance(base, ir.FuncRef):
                found.add((param.name, base.name))
            elif isinstance(base, ir.Var):
                found |= {(param.name, name) for own, name in self.given if own == base.name}
        return frozenset(found)

    def _through(self, stmt: ir.Stmt) -> set[str]:
        """What a call through a parameter may call."""
        if not self.given or not isinstance(stmt, ir.Unknown):
            return set()
        through = {part.name for part in stmt.parts if isinstance(part, ir.Var)}
        return {name for own, name in self.given if own in through}

    def _look(self) -> None:
        if self.timed:
            self.found.append(self.section)
        else:
            self.before = self.section
        self.timed, self.section = True, {}

    def _add(self, steps: _Section, arms: frozenset[Arm]) -> None:
        if len(self.section) <= _MOST_STEPS:
            self.section.update((step._replace(arms=step.arms | arms), None) for step in steps)


def _ways(section: _Section) -> Iterator[list[_Step]]:
    """A section, and what of it runs where one of its choices is made."""
    yield list(section)
    chosen = dict.fromkeys(arm for step in section for arm in step.arms)
    for choice in dict.fromkeys(choice for choice, _ in chosen):
        arms = {arm for arm in chosen if arm[0] == choice}
        for taken in (*arms, None):
            yield [step for step in section if taken in step.arms or arms.isdisjoint(step.arms)]


def _only(way: Iterable[_Step], memory: str) -> bool:
    """Whether it allocates and frees memory of a kind on the device, and none of the other."""
    found = {step[:2] for step in way if step.what is not Effect.WORK and step.name in ("async", "device")}
    return found == {(Effect.ALLOC, memory), (Effect.FREE, memory)}


def _work(way: Iterable[_Step]) -> frozenset[str]:
    return frozenset(step.name for step in way if step.what is Effect.WORK)
