"""Random order programs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from cudafix.ordering.order.program import (
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
    Function,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Leave,
    Look,
    Loop,
    Memory,
    Observe,
    Observer,
    Operation,
    Program,
    Record,
    Targets,
    Wait,
    device_of,
    fixed_observers,
    legacy,
)


@dataclass(frozen=True)
class Shape:
    """What random programs have."""

    devices: int = 1
    rewritten: bool = True
    recursive: bool = False
    vague: bool = True  # may-steps, unknown kinds, names that may be one object
    streams: tuple[Kind, ...] = (Kind.BLOCKING, Kind.BLOCKING, Kind.NON_BLOCKING, Kind.NON_BLOCKING)
    functions: int = 3
    weights: dict[str, int] = field(default_factory=dict)


WEIGHTS = {
    "op": 30, "record": 10, "wait": 12, "sync": 6, "device": 4, "free": 7, "insert": 6, "observe": 6, "create": 4,
    "destroy": 1, "age": 2, "if": 5, "loop": 4, "call": 11, "leave": 2, "catch": 1, "look": 3, "pair": 4,
}  # fmt: skip


@dataclass
class Names:
    """What a function can name."""

    streams: list[int]
    events: list[int]
    memory: list[int]
    given: list[int] = field(default_factory=list)
    local: list[int] = field(default_factory=list)
    local_memory: list[int] = field(default_factory=list)
    ages: list[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]] = field(default_factory=list)


SHARED = 2
"""Memory that is never passed: what a parameter is has no other name in a function."""


class Generator:
    def __init__(self, seed: int, shape: Shape) -> None:
        self.rng = random.Random(seed)
        self.shape = shape
        self.observers = list(fixed_observers(shape.devices))
        self.operations: list[Operation] = []
        self.functions: dict[str, Function] = {}
        self.formals: dict[str, tuple[list[int], list[int]]] = {}
        self.made: dict[str, Names] = {}
        self.sites = 0
        self.weights = WEIGHTS | shape.weights
        self.inserted_event = -1

    def observer(self, kind: Kind, device: int | None = 0, several: bool = False, inserted: bool = False) -> int:
        self.observers.append(Observer(kind, device, several, inserted))
        return len(self.observers) - 1

    def device(self) -> int:
        return self.rng.randrange(self.shape.devices)

    def program(self) -> Program:
        rng, shape = self.rng, self.shape
        streams = [legacy(d) for d in range(shape.devices)]
        streams += [self.observer(kind, self.device()) for kind in shape.streams]
        events = [self.observer(Kind.EVENT, self.device() if rng.random() < 0.5 else None) for _ in range(2)]
        if shape.vague:
            streams.append(self.observer(Kind.UNKNOWN, rng.choice((None, 0))))
            streams.append(self.observer(rng.choice(shape.streams), self.device(), several=True))
            events.append(self.observer(Kind.EVENT, None, several=True))
        self.inserted_event = self.observer(Kind.EVENT, None, inserted=True)
        self.memory = SHARED + 1
        names = ["main", *"fgh"[: shape.functions]]
        for name in names:
            self.made[name] = self.names(name, streams, events, [0, 1] if name == "main" else [SHARED])
        for name in reversed(names):
            after = names[names.index(name) + 1 :]
            callable_ = names[1:] if shape.recursive and name != "main" else after
            body = self.block(rng.randint(2, 7), self.made[name], callable_, 0)
            mine = self.made[name]
            self.functions[name] = Function(body, frozenset(mine.local), frozenset(mine.local_memory))
        return Program(shape.devices, tuple(self.observers), tuple(self.operations), self.functions)

    def names(self, name: str, streams: list[int], events: list[int], memory: list[int]) -> Names:
        rng = self.rng
        made = Names(streams.copy(), events.copy(), memory.copy())
        if name != "main":
            kind = rng.choice((*self.shape.streams, *([Kind.UNKNOWN] if self.shape.vague else [])))
            device = self.device()
            given = [self.observer(kind, device), self.observer(Kind.EVENT, None)]
            made.given = given
            made.streams += [given[0]] * 2
            made.events += [given[1]]
            made.memory += [self.memory]
            self.formals[name] = given, [self.memory]
            self.memory += 1
        if rng.random() < 0.6:
            kind, device = rng.choice(self.shape.streams), self.device()
            newest, older = self.observer(kind, device), self.observer(kind, device, several=True)
            made.local = [newest, older]
            made.streams += [newest]
            mine = self.memory, self.memory + 1
            self.memory += 2
            made.local_memory = list(mine)
            made.memory += mine
            made.ages = [(((newest, older),), ()), (((newest, older),), (mine,)), ((), (mine,))]
        return made

    # -- blocks ------------------------------------------------------------------------------------------------------

    def block(self, size: int, names: Names, callable_: list[str], depth: int, loop: bool = False) -> Block:
        kinds = [k for k in self.weights if self.fits(k, names, callable_, depth)]
        out: list[Instruction] = []
        for _ in range(size):
            (kind,) = self.rng.choices(kinds, [self.weights[k] for k in kinds])
            match kind:
                case "if":
                    blocks = tuple(
                        self.block(self.rng.randint(0, 3), names, callable_, depth + 1, loop) for _ in range(2)
                    )
                    out.append(Branch(blocks))
                case "loop":
                    body = self.block(self.rng.randint(1, 4), names, callable_, depth + 1, True)
                    out.append(Loop(body, self.rng.random() < 0.3))
                case "catch":
                    bodies = [self.block(self.rng.randint(1, 3), names, callable_, depth + 1, loop) for _ in range(2)]
                    out.append(Catch(Exit.THROW, *bodies))
                case "leave":
                    ways = [Exit.RETURN, Exit.THROW, Exit.EXIT, *([Exit.BREAK, Exit.CONTINUE] if loop else [])]
                    out.append(Branch((((Leave(self.rng.choice(ways)),)), ())))
                case "call":
                    out.append(self.call(self.rng.choice(callable_), names))
                case _:
                    out += self.some(kind, names)
        return tuple(out)

    def fits(self, kind: str, names: Names, callable_: list[str], depth: int) -> bool:
        if kind in ("free", "insert", "pair") and not self.shape.rewritten:
            return False
        if kind in ("if", "loop", "catch") and depth > 1:
            return False
        return bool({"age": names.ages, "create": names.local, "call": callable_}.get(kind, True))

    def targets(self, some: list[int]) -> Targets:
        if self.shape.vague and self.rng.random() < 0.1:
            return tuple(self.rng.sample(some, min(2, len(some))))
        return (self.rng.choice(some),)

    def uses(self, names: Names) -> Memory:
        return frozenset(self.rng.sample(names.memory, min(len(names.memory), self.rng.choice((0, 1, 1, 2)))))

    def operation(self, operation: Operation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def recorded(self, names: Names) -> tuple[Targets, Targets]:
        """Events and streams, on one device; with what may be the same event in a function with parameters."""
        events = self.targets(names.events)
        devices = {self.observers[e].device for e in events} - {None}
        streams = [s for s in names.streams if not devices or {self.observers[s].device} == devices]
        return (events, self.targets(streams)) if streams else (events, ())

    def some(self, kind: str, names: Names) -> list[Instruction]:
        rng = self.rng
        match kind:
            case "op":
                op = Operation(Does.WORK, self.uses(names), self.uses(names), rng.random() < 0.2)
                return [Issue(self.operation(op), self.targets(names.streams))]
            case "record":
                events, streams = self.recorded(names)
                given = set(names.events) & set(names.given)  # may be any other one
                also = tuple(e for e in names.events if e not in events and (e in given or given & set(events)))
                return [Record(events, streams, also=also)] if streams else []
            case "wait":
                return [Wait(self.targets(names.streams), self.targets(names.events))]
            case "sync":
                return [HostWait(self.targets([*names.streams, *names.events]))]
            case "device":
                return [HostWait((device_of(self.device()),))]
            case "free":
                where = In.ORIGINAL if rng.random() < 0.9 else In.BOTH
                if self.shape.vague and rng.random() < 0.1:
                    return [HostWait(self.targets(names.streams), In.ORIGINAL)]
                return [HostWait((device_of(self.device()),), where), *([Look(where)] if rng.random() < 0.3 else [])]
            case "look":
                return [Look()]
            case "insert":
                return self.inserted(names)
            case "observe":
                does = rng.choice(list(Does)[3:])
                op = Operation(does, self.uses(names), self.uses(names))
                return [Observe(self.operation(op))]
            case "create":
                return [Create(names.local[0])]
            case "destroy":
                some = [s for s in names.streams if self.observers[s].kind is not Kind.LEGACY]
                return [Destroy(tuple(dict.fromkeys(some)))]  # whichever of them, by all names that it may have
            case "age":
                observers, older_memory = rng.choice(names.ages)
                names.streams += [older for _, older in observers if older not in names.streams]
                return [Age(observers, older_memory), *(Create(newest) for newest, _ in observers)]
        memory = frozenset({rng.choice(names.memory)})
        ends = [Issue(self.operation(Operation(does, writes=memory)), (rng.choice(names.streams),), In.REWRITTEN)
                for does in (Does.ALLOCATE, Does.FREE)]  # fmt: skip
        op = Operation(Does.WORK, writes=memory)
        return [ends[0], *([Issue(self.operation(op), self.targets(names.streams))] * (rng.random() < 0.7)), ends[1]]

    def inserted(self, names: Names) -> list[Instruction]:
        rng = self.rng
        a, b = (rng.choice(names.streams) for _ in range(2))
        match rng.randrange(4):
            case 0:
                return [After((a,), (b,), In.REWRITTEN)]
            case 1:
                return [HostWait((a,), In.REWRITTEN), Look(In.REWRITTEN)]
            case 2:
                event = (self.inserted_event,)
                return [Record(event, (b,), In.REWRITTEN), Wait((a,), event, In.REWRITTEN)]
        return [HostWait((device_of(self.device()),), In.REWRITTEN)]

    def call(self, name: str, names: Names) -> Call:
        self.sites += 1
        (stream, event), (memory,) = self.formals[name]
        want = self.observers[stream]
        fits = [
            s
            for s in names.streams
            if self.observers[s].device == want.device and want.kind in (self.observers[s].kind, Kind.UNKNOWN)
        ]
        if not fits:
            fits = [legacy(want.device or 0)] if want.kind is Kind.UNKNOWN else self.any_of(want)
        observers: dict[int, Targets] = {
            stream: self.targets(fits),
            event: self.targets([e for e in names.events if self.observers[e].device is None] or [self.any_event()]),
        }
        free = [o for o in names.memory if o != SHARED]
        given = self.rng.sample(free, min(len(free), self.rng.choice((1, 1, 2)) if self.shape.vague else 1))
        memories = {memory: frozenset(given)}
        made = self.made[name]
        if made.local and names.local and self.rng.random() < 0.4:
            one, mine = self.observers[made.local[0]], self.observers[names.local[0]]
            if replace(one, several=False) == replace(mine, several=False):
                observers[made.local[0]] = (names.local[self.rng.randrange(2)],)
        return Call(name, self.sites, observers, memories)

    def any_of(self, like: Observer) -> list[int]:
        """A global stream of this kind, made for want of another one."""
        return [self.observer(like.kind, like.device)]

    def any_event(self) -> int:
        return self.observer(Kind.EVENT, None)


def random_program(seed: int, shape: Shape) -> Program:
    return Generator(seed, shape).program()
