"""Makes the scopes of functions, with what they get from their callees, and binds calls.

Functions that call each other get theirs as a fixpoint; tables only grow, and are finite, since the names of
operations tell only `CONTEXTS` calls apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cudafix.ordering.order.lattice import positions
from cudafix.ordering.order.program import (
    NO_MEMORY,
    After,
    Age,
    Call,
    Function,
    In,
    Instruction,
    Issue,
    Memory,
    Observe,
    Program,
    Targets,
    Wait,
    fixed_observers,
    instructions,
    named,
)
from cudafix.ordering.order.scopes import Access, Binding, Key, Runs, Scope, aged

CONTEXTS = 2
"""How many call sites tell operations of one instruction apart: those next to it."""


def make_scopes(program: Program, component: Sequence[str], done: Mapping[str, Scope]) -> dict[str, Scope]:
    """The scopes of functions that call each other; `done` has those of all others that they call."""
    scopes = {name: Scope(program, name, program.functions[name]) for name in component}
    every = {**done, **scopes}
    links = [_Link(scope, every, scopes) for scope in scopes.values()]
    _until_nothing_changes(links, _Link.name_observers)
    for link in links:
        link.import_operations(call for call in link.calls if call.function not in scopes)
    _until_nothing_changes(links, _Link.name_operations)
    for link in links:
        link.bind()
    return scopes


def _until_nothing_changes(links: Sequence[_Link], step: Callable[[_Link], None]) -> None:
    before = -1
    while before != (now := sum(link.scope.changes for link in links)):
        before = now
        for link in links:
            step(link)


class _Link:
    """A scope that is being made."""

    def __init__(self, scope: Scope, every: Mapping[str, Scope], component: Iterable[str]) -> None:
        self.scope = scope
        self.every = every
        self.body = list(instructions(scope.function.body))
        self.calls = [i for i in self.body if isinstance(i, Call)]
        self.inside = [call for call in self.calls if call.function in component]
        self.numbers: dict[int, list[int]] = {}  # by call site: what the callee's operations are here

    def name_observers(self) -> None:
        scope = self.scope
        scope.name_observers(range(len(fixed_observers(scope.program.devices))))
        for instruction in self.body:
            scope.name_observers(named(instruction))
        for call in self.calls:
            callee = self.every[call.function]
            local = callee.function.local
            scope.name_observers(x for x in callee.names if x not in call.observers and x not in local)

    def name_operations(self) -> None:
        """Those of the function itself, and those that it gets from the functions that it calls and that call it."""
        for instruction in self.body:
            self._name(instruction)
        self.import_operations(self.inside)

    def _name(self, instruction: Instruction) -> None:
        scope = self.scope
        match instruction:
            case Issue(number, streams, where):
                devices = scope.devices(streams)
            case Observe(number, where):
                devices = frozenset()
            case Wait(streams, others) | After(streams, others):
                scope.cross(scope.devices(streams), scope.devices(others))
                return
            case Age(_, memory) if memory:
                for new in [older for access in scope.accesses if (older := aged(access, memory)) is not None]:
                    scope.add(new)
                return
            case _:
                return
        op = scope.program.operations[number]
        both = where is In.BOTH
        scope.add(Access(Key(number), op.does, op.reads, op.writes, op.prints, op.fails, both, devices))

    def import_operations(self, calls: Iterable[Call]) -> None:
        for call in calls:
            callee = self.every[call.function]
            for device, others in enumerate(callee.crossing):
                self.scope.cross((device,), positions(others))
            some = callee.accesses.copy() if callee is self.scope else callee.accesses
            self.numbers[call.site] = [self.scope.add(_renamed(access, callee.function, call)) for access in some]

    def bind(self) -> None:
        for call in self.calls:
            self.scope.calls[call.site] = self._bound(call)

    def _bound(self, call: Call) -> Binding:
        scope, callee = self.scope, self.every[call.function]
        targets: list[Targets] = []
        for x in callee.names:
            some = call.observers.get(x, () if x in callee.function.local else (x,))
            targets.append(scope.places(some) if some else ())
        numbers = enumerate(self.numbers[call.site], callee.base)
        return Binding(callee, targets, Runs((there, scope.base + here) for there, here in numbers))


def _renamed(access: Access, callee: Function, call: Call) -> Access:
    """A callee's operation, as the caller sees it."""
    key = access.key
    if len(key.calls) < CONTEXTS:
        key = Key(key.operation, (*key.calls, call.site), key.aged)
    reads, writes = _memory(access.reads, callee, call), _memory(access.writes, callee, call)
    if key is access.key and reads is access.reads and writes is access.writes:
        return access
    return Access(key, access.does, reads, writes, access.prints, access.fails, access.compared, access.devices)


def _memory(memory: Memory, callee: Function, call: Call) -> Memory:
    if memory.isdisjoint(call.memory) and memory.isdisjoint(callee.local_memory):
        return memory
    found: set[int] = set()
    for o in memory:
        found |= call.memory.get(o, NO_MEMORY if o in callee.local_memory else frozenset({o}))
    return frozenset(found)
