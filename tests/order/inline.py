"""A program without calls: each is replaced by the body of its callee."""

from __future__ import annotations

from collections.abc import Mapping

from cudafix.ordering.order.program import (
    After,
    Age,
    Block,
    Branch,
    Call,
    Catch,
    Create,
    Destroy,
    Exit,
    Function,
    HostWait,
    Instruction,
    Issue,
    Leave,
    Loop,
    Memory,
    Observe,
    Operation,
    Program,
    Record,
    Targets,
    Wait,
)
from cudafix.ordering.order.scopes import Key, Scope

Names = Mapping[int, Targets]


class Inliner:
    """Flattens the function of a scope. `keys` says which of its operations those of the result stand for."""

    def __init__(self, scope: Scope) -> None:
        self.program = scope.program
        self.observers = list(scope.program.observers)
        self.local = set(scope.function.local)
        self.keys: dict[int, Key] = {}
        self.numbers: dict[Key, int] = {}
        self.operations: list[Operation] = []
        for access in scope.accesses:
            key = access.key
            if not key.aged:
                self.numbers[key] = len(self.operations)
                self.keys[len(self.operations)] = key
                self.operations.append(Operation(access.does, access.reads, access.writes, access.prints, access.fails))
        body = self.block(scope.function.body, {}, {}, ())
        flat = Function(body, frozenset(self.local), scope.function.local_memory)
        self.result = Program(scope.program.devices, tuple(self.observers), tuple(self.operations), {scope.name: flat})

    def block(self, block: Block, names: Names, memory: Mapping[int, Memory], calls: tuple[int, ...]) -> Block:
        return tuple(self.instruction(i, names, memory, calls) for i in block)

    def instruction(
        self, i: Instruction, names: Names, memory: Mapping[int, Memory], calls: tuple[int, ...]
    ) -> Instruction:
        def to(targets: Targets) -> Targets:
            return tuple(dict.fromkeys(y for x in targets for y in names.get(x, (x,))))

        match i:
            case Issue(number, streams, where):
                return Issue(self.numbers[Key(number, calls[:2])], to(streams), where)
            case Observe(number, where):
                return Observe(self.numbers[Key(number, calls[:2])], where)
            case Record(events, streams, where, also):
                return Record(to(events), to(streams), where, to(also))
            case Wait(streams, events, where):
                return Wait(to(streams), to(events), where)
            case After(streams, others, where):
                return After(to(streams), to(others), where)
            case HostWait(targets, where):
                return HostWait(to(targets), where)
            case Create(observer):
                return Create(*to((observer,)))
            case Destroy(streams):
                return Destroy(to(streams))
            case Age(observers, memories):
                pairs = tuple((to((new,))[0], to((old,))[0]) for new, old in observers)
                return Age(pairs, () if calls else memories)  # memory of a callee has no name here
            case Branch(blocks):
                return Branch(tuple(self.block(b, names, memory, calls) for b in blocks))
            case Loop(body, at_least_once):
                return Loop(self.block(body, names, memory, calls), at_least_once)
            case Catch(exit_, body, handler):
                bodies = (self.block(b, names, memory, calls) for b in (body, handler))
                return Catch(exit_, *bodies)
            case Call():
                return self.call(i, names, memory, calls)
        return i

    def call(self, call: Call, names: Names, memory: Mapping[int, Memory], calls: tuple[int, ...]) -> Instruction:
        callee = self.program.functions[call.function]
        inner: dict[int, Targets] = {}
        for x, targets in call.observers.items():
            if x not in callee.local:
                inner[x] = tuple(dict.fromkeys(y for t in targets for y in names.get(t, (t,))))
        aged: list[tuple[int, int]] = []
        for x in sorted(callee.local):
            kept = call.observers.get(x, ())
            outside = tuple(y for t in kept for y in names.get(t, (t,)))
            if outside and not self.observers[outside[0]].several and not self.observers[x].several:
                inner[x] = outside
                continue
            self.observers.append(self.program.observers[x])
            inner[x] = (len(self.observers) - 1,)
            self.local.add(len(self.observers) - 1)
            aged += [(len(self.observers) - 1, y) for y in outside]
        body = self.block(callee.body, inner, memory, (call.site, *calls))
        flat: Instruction = Catch(Exit.RETURN, body)
        if not aged:
            return flat
        got = Age(tuple(aged))  # however the callee is left
        for exit_ in (Exit.THROW, Exit.EXIT):
            flat = Catch(exit_, (flat,), (got, Leave(exit_)))
        return Catch(Exit.BREAK, (flat, got))
