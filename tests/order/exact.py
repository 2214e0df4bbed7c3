"""The meaning of an order program: one path, both programs run on their own, an operation for each time that one runs.

Nothing here knows of rows, facts or summaries: each program has the closed sets of its happens-before graph.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeVar

from cudafix.ordering.order.program import (
    HOST,
    STATUS,
    STREAMS,
    After,
    Age,
    Block,
    Branch,
    Call,
    Catch,
    Create,
    Destroy,
    Does,
    Exit,
    HostWait,
    In,
    Issue,
    Kind,
    Leave,
    Look,
    Loop,
    Memory,
    Observe,
    Program,
    Record,
    Targets,
    Wait,
    fixed_observers,
)

T = TypeVar("T")


class Infeasible(Exception):
    """The path has no end: it names what nothing has made, or it is too long."""


@dataclass(eq=False)
class Thing:
    """A stream or an event."""

    kind: Kind
    device: int
    alive: bool = True


@dataclass(eq=False)
class Activation:
    """A call that is running: what the function's own names and parameters stand for."""

    function: str
    site: int
    things: dict[int, list[Thing]] = field(default_factory=dict)
    memory: dict[int, list[object]] = field(default_factory=dict)


@dataclass(eq=False)
class Instance:
    """One run of an operation."""

    operation: int
    stack: tuple[Activation, ...]
    touches: frozenset[object]
    writes: frozenset[object]
    both: bool

    def key(self, depth: int) -> tuple[int, tuple[int, ...]]:
        """The operation as the function at this depth of the stack names it."""
        return self.operation, tuple(a.site for a in reversed(self.stack[depth + 1 :]))[:2]


class Machine:
    """One of the two programs. Sets are bits of an int over instances, and closed."""

    def __init__(self, legacies: list[Thing]) -> None:
        self.legacies = legacies
        self.last: dict[Thing, int] = dict.fromkeys(legacies, 0)
        self.events: dict[Thing, int] = {}
        self.host = self.status = 0

    def of_device(self, device: int, *kinds: Kind) -> int:
        found = 0
        for stream, last in self.last.items():
            if stream.device == device and (not kinds or stream.kind in kinds):
                found |= last
        return found

    def before(self, stream: Thing) -> int:
        """What has finished when the next step of a stream starts."""
        found = self.host | self.last.setdefault(stream, 0)
        if stream.kind is Kind.LEGACY:
            found |= self.of_device(stream.device, Kind.BLOCKING)
        elif stream.kind is Kind.BLOCKING:
            found |= self.last[self.legacies[stream.device]]
        return found

    def step(self, stream: Thing, more: int = 0) -> int:
        self.last[stream] = self.before(stream) | more
        return self.last[stream]

    def synchronize(self, thing: Thing) -> None:
        if thing.kind is Kind.DEVICE:
            self.host |= self.of_device(thing.device)
        elif thing.kind is Kind.LEGACY:
            self.host |= self.before(thing)
        else:
            self.host |= self.seen(thing)

    def seen(self, thing: Thing) -> int:
        """What somebody who synchronizes with a stream or an event has waited for."""
        return self.events.get(thing, 0) if thing.kind is Kind.EVENT else self.last.get(thing, 0)


def free_before_use(earlier: Does, later: Does) -> bool:
    return later is Does.FREE and earlier is not Does.FREE or later is Does.WORK and earlier is Does.ALLOCATE


class Path:
    """One random path from a root."""

    def __init__(self, program: Program, root: str, seed: int, things: Mapping[int, list[Thing]] | None = None) -> None:
        self.program = program
        self.rng = random.Random(seed)
        self.instances: list[Instance] = []
        self.compared = 0
        self.fixed = [Thing(x.kind, x.device or 0) for x in fixed_observers(program.devices)]
        legacies = [thing for thing in self.fixed if thing.kind is Kind.LEGACY]
        self.p, self.q = Machine(legacies), Machine(legacies)
        self.globals: dict[int, list[Thing]] = {n: [thing] for n, thing in enumerate(self.fixed)}
        self.global_memory: dict[int, list[object]] = {}
        self.global_things()
        self.globals.update(things or {})
        self.stack: list[Activation] = []
        self.clashes: set[tuple[str, str, tuple[int, tuple[int, ...]], tuple[int, tuple[int, ...]]]] = set()
        self.steps = 0
        self.exit: Exit | None = None
        self.root = root

    def run(self) -> Path:
        self.activate(Activation(self.root, -1), check_root=True)
        return self

    def activate(self, activation: Activation, check_root: bool = False) -> Exit | None:
        if len(self.stack) > 5:
            raise Infeasible
        self.stack.append(activation)
        self.exit = self.block(self.program.functions[activation.function].body)
        if not check_root:
            self.stack.pop()
        return self.exit

    def global_things(self) -> None:
        """What observers stand for that no function makes. A stream of an unknown kind may be any other one."""
        local = {x for function in self.program.functions.values() for x in function.local}
        for n, x in enumerate(self.program.observers):
            if n < len(self.fixed) or n in local:
                continue
            some = []
            for _ in range(self.rng.randint(1, 2) if x.several else 1):
                device = self.rng.randrange(self.program.devices) if x.device is None else x.device
                kind = x.kind
                if kind is Kind.UNKNOWN:
                    others = [t for ts in self.globals.values() for t in ts if t.kind in STREAMS]
                    others = [t for t in others if x.device in (None, t.device)]
                    if self.rng.random() < 0.6:
                        some.append(self.rng.choice(others))
                        continue
                    kind = self.rng.choice((Kind.BLOCKING, Kind.NON_BLOCKING))
                some.append(Thing(kind, device))
            self.globals[n] = some

    # -- names -------------------------------------------------------------------------------------------------------

    def things(self, name: int) -> list[Thing]:
        top = self.stack[-1]
        function = self.program.functions[top.function]
        return top.things.get(name, [] if name in function.local else self.globals.get(name, []))

    def pick(self, targets: Targets) -> Thing:
        some = [thing for name in targets for thing in self.things(name)]
        if not some:
            raise Infeasible
        return self.choice(some)

    def choice(self, some: Sequence[T]) -> T:
        """One of them. What is certain takes no random number, so that it may be there in one program and not in
        another one that takes the same path.
        """
        return some[0] if len(some) == 1 else self.rng.choice(some)

    def objects(self, name: int) -> list[object]:
        top = self.stack[-1]
        if name in self.program.functions[top.function].local_memory or name in top.memory:
            return top.memory.setdefault(name, [])
        return self.global_memory.setdefault(name, [object()])

    def touched(self, memory: Memory) -> frozenset[object]:
        return frozenset(self.choice(some) for name in sorted(memory) if (some := self.objects(name)))

    # -- running -----------------------------------------------------------------------------------------------------

    def machines(self, where: In) -> Iterator[Machine]:
        if where is not In.REWRITTEN:
            yield self.p
        if where is not In.ORIGINAL:
            yield self.q

    def block(self, block: Block) -> Exit | None:
        for instruction in block:
            self.steps += 1
            if self.steps > 400:
                raise Infeasible
            match instruction:
                case Branch(blocks):
                    left = self.block(self.rng.choice(blocks))
                case Loop(body, at_least_once):
                    left = None
                    for _ in range(self.rng.choice((0, 1, 1, 2, 3)) or at_least_once):
                        left = self.block(body)
                        if left not in (None, Exit.CONTINUE):
                            break
                    left = None if left in (Exit.BREAK, Exit.CONTINUE) else left
                case Catch(exit_, body, handler):
                    left = self.block(body)
                    left = self.block(handler) if left is exit_ else left
                case Leave(exit_):
                    return exit_
                case Call():
                    left = self.call(instruction)
                case _:
                    left = None
                    self.step(instruction)
            if left is not None:
                return left
        return None

    def call(self, call: Call) -> Exit | None:
        function = self.program.functions[call.function]
        new = Activation(call.function, call.site)
        for name, targets in call.observers.items():
            if name in function.local:
                continue
            if self.program.observers[name].several:
                new.things[name] = [thing for x in targets for thing in self.things(x)]
            else:
                new.things[name] = [self.pick(targets)]
        for name, memory in call.memory.items():
            if name not in function.local_memory:
                new.memory[name] = sorted(self.touched(memory), key=id)[:1]
        left = self.activate(new)
        top = self.stack[-1]
        for name, targets in call.observers.items():
            if name in function.local and new.things.get(name):
                (x,) = targets
                own = top.things if x in self.program.functions[top.function].local or x in top.things else self.globals
                several = self.program.observers[x].several
                own[x] = [*(own.get(x, []) if several else []), *new.things[name]]
        for name, memory in call.memory.items():
            if name in function.local_memory and new.memory.get(name):
                for x in memory:
                    self.objects(x)[:] = new.memory[name]
        return None if left is Exit.RETURN else left

    def step(self, instruction: object) -> None:
        match instruction:
            case Issue(number, streams, where):
                self.issue(number, self.pick(streams), where)
            case Observe(number, where):
                self.observe(number, where)
            case Record(events, streams, where, _):
                event, stream = self.pick(events), self.pick(streams)
                for machine in self.machines(where):
                    machine.events[event] = machine.step(stream)
            case Wait(streams, events, where):
                stream, event = self.pick(streams), self.pick(events)
                for machine in self.machines(where):
                    if event in machine.events:
                        machine.step(stream, machine.events[event])
            case After(streams, others, where):
                stream, other = self.pick(streams), self.pick(others)
                for machine in self.machines(where):
                    machine.step(stream, machine.step(other))
            case HostWait(targets, where):
                thing = self.pick(targets)
                for machine in self.machines(where):
                    machine.synchronize(thing)
            case Look(where):
                for machine in self.machines(where):
                    machine.status |= machine.host
            case Create(observer):
                x = self.program.observers[observer]
                thing = Thing(x.kind, x.device or 0)
                here = self.stack[-1]
                local = observer in self.program.functions[here.function].local or observer in here.things
                own = here.things if local else self.globals
                own[observer] = [*(own.get(observer, []) if x.several else []), thing]
            case Destroy(streams):
                stream = self.pick(streams)
                stream.alive = stream.kind is Kind.LEGACY  # which nobody can destroy
            case Age(observers, memory):
                for newest, older in observers:
                    moved = self.things(newest)
                    self.stack[-1].things[older] = [*self.things(older), *moved]
                    self.stack[-1].things[newest] = []
                for newest, older in memory:
                    self.objects(older).extend(self.objects(newest))
                    self.objects(newest)[:] = []

    def issue(self, number: int, stream: Thing, where: In) -> None:
        op = self.program.operations[number]
        if op.does is Does.ALLOCATE:
            for name in op.writes:
                self.objects(name)[:] = [object()]
        if where is In.ORIGINAL:
            self.p.step(stream)
            return
        writes = self.touched(op.writes)
        new = Instance(number, tuple(self.stack), self.touched(op.reads) | writes, writes, where is In.BOTH)
        p, q = self.p.before(stream), self.q.before(stream)
        self.meet(new, p, q, stream)
        bit = 1 << len(self.instances)
        self.instances.append(new)
        self.compared |= bit if where is In.BOTH else 0
        for machine in self.machines(where):
            machine.step(stream, bit)

    def observe(self, number: int, where: In) -> None:
        op = self.program.operations[number]
        if where is In.ORIGINAL:
            return
        writes = self.touched(op.writes)
        new = Instance(number, tuple(self.stack), self.touched(op.reads) | writes, writes, where is In.BOTH)
        status = op.does is Does.STATUS
        self.meet(new, *((self.p.status, self.q.status) if status else (self.p.host, self.q.host)), None)

    def meet(self, new: Instance, p: int, q: int, stream: Thing | None) -> None:
        later = self.program.operations[new.operation]
        if stream is not None and not stream.alive and later.does in (Does.ALLOCATE, Does.FREE):
            self.clashes.add(("stream destroyed", "", (0, ()), (new.operation, ())))
        for n, old in enumerate(self.instances):
            if q >> n & 1:
                continue
            earlier = self.program.operations[old.operation]
            common = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(old.stack, new.stack, strict=False)))
            at = common - 1, old.stack[common - 1].function
            pair = at[1], old.key(at[0]), new.key(at[0])
            overlaps = old.touches & new.touches
            freed_at_once = later.does is Does.FREE_MEMORY and earlier.does is Does.FREE and not old.both
            if freed_at_once or overlaps and free_before_use(earlier.does, later.does):
                self.clashes.add(("needs", *pair))
            elif p >> n & 1 and new.both and old.both and self.conflict(old, new):
                self.clashes.add(("order", *pair))

    def conflict(self, old: Instance, new: Instance) -> bool:
        earlier, later = self.program.operations[old.operation], self.program.operations[new.operation]
        printing = earlier.prints and earlier.does is Does.WORK
        match later.does:
            case Does.WORK | Does.HOST_READ | Does.HOST_WRITE:
                if later.prints and printing:
                    return True
                return earlier.does is Does.WORK and bool(old.writes & new.touches | old.touches & new.writes)
            case Does.OUTPUT | Does.END:
                return printing
            case Does.STATUS:
                return earlier.fails
            case Does.CLOCK:
                return True
        return False

    # -- results -----------------------------------------------------------------------------------------------------

    def unfinished(self, name: int, next_step: bool) -> tuple[set[tuple[int, tuple[int, ...]]], ...]:
        """What is unfinished in Q for an observer of the root, and what of that has finished in P."""
        pending, lost = set(), set()
        things = self.stack[0].things.get(name, self.globals.get(name, []))
        for thing in things:
            done = [self.done(machine, thing, next_step) for machine in (self.p, self.q)]
            for n, old in enumerate(self.instances):
                if not done[1] >> n & 1:
                    pending.add(old.key(0))
                    if done[0] >> n & 1 and old.both:
                        lost.add(old.key(0))
        return pending, lost

    def done(self, machine: Machine, thing: Thing, next_step: bool) -> int:
        if thing is self.fixed[HOST]:
            return machine.host
        if thing is self.fixed[STATUS]:
            return machine.status
        if thing.kind in STREAMS and next_step:
            return machine.before(thing)
        if thing.kind is Kind.DEVICE:
            return machine.of_device(thing.device) | machine.host
        return machine.seen(thing) | machine.host
