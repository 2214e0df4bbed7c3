"""What order programs cost as they grow: processor time for summaries, violations and the local conditions.

    python benchmarks/order_costs.py

Each is measured at a size, and at twice and four times that size. `exponent` is how time grows with the size: 1 if the
cost is linear.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from cudafix.ordering.order.checks import Census, local_first, violations
from cudafix.ordering.order.program import (
    Block,
    Branch,
    Call,
    Does,
    Function,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Loop,
    Observe,
    Observer,
    Operation,
    Program,
    Record,
    Wait,
    device_of,
    fixed_observers,
    legacy,
)
from cudafix.ordering.order.summaries import Summaries

OBSERVERS = (
    *fixed_observers(1),
    *(Observer(kind, 0) for kind in (Kind.BLOCKING, Kind.BLOCKING, Kind.NON_BLOCKING, Kind.NON_BLOCKING)),
    *(Observer(Kind.EVENT, 0) for _ in range(2)),
)
BASE = len(fixed_observers(1))
STREAMS = (legacy(0), *range(BASE, BASE + 4))
EVENTS = (BASE + 4, BASE + 5)
CENSUS = Census({0: frozenset({Kind.BLOCKING, Kind.NON_BLOCKING})})
FREED = HostWait((device_of(0),), In.ORIGINAL)


class Maker:
    """Makes programs; `pair` is a buffer that is allocated, used on two streams and freed."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.memory = 0
        self.sites = 0

    def issue(self, operation: Operation, stream: int, where: In = In.BOTH) -> Issue:
        self.operations.append(operation)
        return Issue(len(self.operations) - 1, (stream,), where)

    def pair(self, n: int, inner: Block = ()) -> tuple[Instruction, ...]:
        self.memory += 1
        buffer = frozenset({self.memory})
        a, b, e = STREAMS[n % 5], STREAMS[(n + 1) % 5], EVENTS[n % 2]
        self.operations.append(Operation(Does.HOST_READ, reads=frozenset({0})))
        read = Observe(len(self.operations) - 1)
        return (
            self.issue(Operation(Does.ALLOCATE, writes=buffer), a, In.REWRITTEN),
            self.issue(Operation(writes=buffer), a),
            *inner,
            Record((e,), (a,)),
            Wait((b,), (e,)),
            self.issue(Operation(reads=buffer, writes=frozenset({0})), b),
            Branch(((HostWait((b,)), read), ())),
            self.issue(Operation(Does.FREE, writes=buffer), b, In.REWRITTEN),
            FREED,
        )

    def call(self, name: str) -> Call:
        self.sites += 1
        return Call(name, self.sites)

    def program(self, **bodies: Block) -> Program:
        return Program(1, OBSERVERS, tuple(self.operations), {name: Function(b) for name, b in bodies.items()})


def chains(functions: int, depth: int = 100) -> Program:
    """Chains of calls, a pair in each function."""
    make, bodies = Maker(), {}
    for n in range(functions):
        inner = (make.call(f"f{n - 1}"),) if n % depth else ()
        bodies[f"f{n}"] = make.pair(n, inner)
    return make.program(**bodies)


def twice(depth: int) -> Program:
    """Functions that call the next one twice."""
    make, bodies = Maker(), {}
    for n in range(depth):
        inner = (make.call(f"f{n - 1}"), make.call(f"f{n - 1}")) if n else ()
        bodies[f"f{n}"] = make.pair(n, inner)
    return make.program(**bodies)


def loops(depth: int) -> Program:
    """Loops inside each other, a pair in each."""
    make = Maker()
    body: Block = ()
    for n in range(depth):
        body = (Loop(make.pair(n, body)),)
    return make.program(f=body)


def pairs(count: int) -> Program:
    """Pairs behind each other in one function."""
    make = Maker()
    return make.program(f=tuple(i for n in range(count) for i in make.pair(n)))


def measure(make: Callable[[int], Program], size: int) -> float:
    """Seconds of processor time; the best of three."""
    program, best = make(size), math.inf
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        summaries = Summaries(program)
        for summary in summaries.values():
            local_first(summary, CENSUS, violations(summary))
        best = min(best, time.process_time() - start)
    return best


CASES = (
    ("functions, calls 100 deep", chains, 800),
    ("functions that call the next one twice", twice, 24),
    ("loops inside each other", loops, 16),
    ("pairs in one function", pairs, 400),
)


def exponent(small: float, large: float, times: int) -> float:
    return math.log(large / small, times)


def main() -> None:
    print("| | size | s | size | s | size | s | exponent |\n|---|---|---|---|---|---|---|---|")
    for name, make, largest in CASES:
        seen = [(size, measure(make, size)) for size in (largest // 4, largest // 2, largest)]
        cells = " | ".join(f"{size} | {seconds:.3f}" for size, seconds in seen)
        print(f"| {name} | {cells} | {exponent(seen[0][1], seen[-1][1], 4):.2f} |")


if __name__ == "__main__":
    main()
