"""Work of other host threads, for functions that are to be right for every caller although there are such threads.

An unknown operation at the entry is what an entry fact is. Behind the entry, another thread gets its turn whenever the
host waits; `with_unknown_work` writes that down as instructions: perhaps an operation of which nothing is known, on any
stream of the census.
"""

from __future__ import annotations

from dataclasses import replace

from cudafix.ordering.order.checks import Census
from cudafix.ordering.order.program import (
    Block,
    Branch,
    Catch,
    Function,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Loop,
    Observer,
    Operation,
    Program,
    legacy,
)


def with_unknown_work(program: Program, census: Census) -> Program:
    """The program with unknown work behind each wait of the host that Q has."""
    observers = list(program.observers)
    streams: list[int] = []
    for device, kinds in census.kinds.items():
        streams.append(legacy(device))
        for kind in sorted(kinds - {Kind.LEGACY}, key=lambda kind: kind.value):
            streams.append(len(observers))
            observers.append(Observer(kind, device, several=True))
    operations = list(program.operations)
    memory = frozenset().union(*(op.reads | op.writes for op in program.operations))
    functions = {}
    for name, function in program.functions.items():
        reached = memory - function.local_memory
        work = tuple(Issue(len(operations), (s,)) for s in streams)
        operations.append(Operation(reads=reached, writes=reached, prints=True))
        functions[name] = _with_work(function, Branch((work, ())))
    return replace(program, observers=tuple(observers), operations=tuple(operations), functions=functions)


def _with_work(function: Function, work: Instruction) -> Function:
    def block(some: Block) -> Block:
        return tuple(new for i in some for new in one(i))

    def one(i: Instruction) -> Block:
        match i:
            case HostWait(_, where) if where is not In.ORIGINAL:
                return i, work
            case Branch(blocks):
                return (Branch(tuple(map(block, blocks))),)
            case Loop(body):
                return (replace(i, body=block(body)),)
            case Catch(_, body, handler):
                return (replace(i, body=block(body), handler=block(handler)),)
        return (i,)

    return replace(function, body=block(function.body))
