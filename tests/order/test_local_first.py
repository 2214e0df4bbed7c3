"""What holds for every caller is never contradicted by an exact path from any caller."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import pytest

from cudafix.ordering.order.checks import Census, Local, local_first, violations
from cudafix.ordering.order.program import (
    HOST,
    Block,
    Branch,
    Call,
    Catch,
    Does,
    Function,
    HostWait,
    In,
    Instruction,
    Issue,
    Kind,
    Look,
    Loop,
    Observe,
    Observer,
    Operation,
    Program,
    device_of,
    fixed_observers,
    instructions,
    legacy,
)
from cudafix.ordering.order.summaries import Summaries
from cudafix.ordering.order.unknown import with_unknown_work
from tests.order.exact import Infeasible, Path
from tests.order.programs import Shape, random_program

RUNS = int(os.environ.get("CUDAFIX_RANDOM_PROGRAMS", "100"))
WEIGHTS = {"free": 14, "device": 8, "insert": 8, "op": 30, "call": 14, "observe": 8, "sync": 8, "leave": 1, "pair": 0}
BLOCKING = (Kind.BLOCKING, Kind.BLOCKING)
SHAPES = (
    Shape(vague=False, weights=WEIGHTS),
    Shape(vague=False, weights=WEIGHTS, streams=BLOCKING),
    Shape(vague=False, weights=WEIGHTS | {"pair": 8}, streams=BLOCKING),
    Shape(vague=False, weights=WEIGHTS, streams=BLOCKING, devices=2),
)


def census_of(shape: Shape) -> Census:
    return Census(dict.fromkeys(range(shape.devices), frozenset(shape.streams)), free_memory=True)


def with_rewritten(program: Program, names: Collection[str]) -> Program:
    """The program in which only these functions are rewritten: the others are in both programs what they were."""

    def block(some: Block) -> Block:
        return tuple(new for i in some for new in one(i))

    def one(i: Instruction) -> tuple[Instruction, ...]:
        match i:
            case Branch(blocks):
                return (Branch(tuple(map(block, blocks))),)
            case Loop(body):
                return (replace(i, body=block(body)),)
            case Catch(_, body, handler):
                return (replace(i, body=block(body), handler=block(handler)),)
            case HostWait() | Look() if i.where is In.ORIGINAL:
                return (replace(i, where=In.BOTH),)
        return () if getattr(i, "where", In.BOTH) is In.REWRITTEN else (i,)

    functions = {
        name: function if name in names else replace(function, body=block(function.body))
        for name, function in program.functions.items()
    }
    return replace(program, functions=functions)


def reached(program: Program, name: str) -> set[str]:
    found, work = {name}, [name]
    while work:
        for i in instructions(program.functions[work.pop()].body):
            if isinstance(i, Call) and i.function not in found:
                found.add(i.function)
                work.append(i.function)
    return found


def check(program: Program, name: str, census: Census) -> Local:
    summaries = Summaries(program)
    inside = {v for callee in reached(program, name) for v in violations(summaries[callee])}
    return local_first(summaries[name], census, inside)


def lost(program: Program, seed: int) -> set[tuple[object, ...]]:
    """What is wrong on a path."""
    path = Path(program, "main", seed)
    try:
        path.run()
    except Infeasible:
        return set(path.clashes)
    found: set[tuple[object, ...]] = set(path.clashes)
    for name in path.globals:
        for next_step in (True, False):
            found.update((name, next_step, key) for key in path.unfinished(name, next_step)[1])
    return found


def contradicted(program: Program, before: Collection[str], after: Collection[str], seed: int) -> bool:
    one, other = with_rewritten(program, before), with_rewritten(program, after)
    return any(lost(other, seed * 100 + n) - lost(one, seed * 100 + n) for n in range(4))


def test_what_holds_for_every_caller_is_not_contradicted(capsys: pytest.CaptureFixture[str]) -> None:
    held: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for seed in range(2 * RUNS):
        shape = SHAPES[seed % len(SHAPES)]
        census, program = census_of(shape), random_program(seed, shape)
        moved = {
            name
            for name, function in program.functions.items()
            if any(getattr(i, "where", In.BOTH) is In.ORIGINAL for i in instructions(function.body))
        }
        others = {name for n, name in enumerate(sorted(program.functions)) if seed >> n & 1}
        for name in sorted(moved - {"main"}):
            rest, callees = others - {name}, reached(program, name) - {name}
            forms = {
                "as they will be": (rest | {name}, rest),
                "callees as they were": (rest - callees | {name}, rest),
                "callees that are not kept": (rest | callees | {name}, rest - callees),
            }
            for variant, (form, start) in forms.items():
                if check(with_rewritten(program, form), name, census).holds:
                    held[variant] += 1
                    wrong[variant] += contradicted(program, start, start | {name}, seed)
        alone = {name for name in moved - {"main"} if check(with_rewritten(program, {name}), name, census).holds}
        if len(alone) > 1:
            held["several"] += 1
            wrong["several"] += contradicted(program, (), alone, seed)
    with capsys.disabled():
        print({variant: (count, wrong[variant]) for variant, count in held.items()}, end=" ")
    assert held["as they will be"] > RUNS // 10
    assert wrong["as they will be"] == wrong["several"] == 0


# -- small programs ----------------------------------------------------------------------------------------------------

L = (legacy(0),)
N = len(fixed_observers(1))
STREAM = (N,)
DEVICE = (device_of(0),)
FREED = HostWait(DEVICE, In.ORIGINAL)
SYNC = HostWait(DEVICE, In.REWRITTEN)
ONLY_LEGACY = Census({0: frozenset({Kind.LEGACY})})
WITH_BLOCKING = Census({0: frozenset({Kind.BLOCKING})})
WITH_NON_BLOCKING = Census({0: frozenset({Kind.BLOCKING, Kind.NON_BLOCKING})})
MINE, OTHERS = frozenset({0}), frozenset({1})
OPERATIONS = (
    Operation(Does.ALLOCATE, writes=MINE),
    Operation(Does.WORK, writes=MINE),
    Operation(Does.FREE, writes=MINE),
    Operation(Does.WORK, reads=MINE, writes=OTHERS),
    Operation(Does.HOST_READ, reads=OTHERS),
    Operation(Does.OUTPUT),
)
ALLOCATE, FREE = (Issue(n, L, In.REWRITTEN) for n in (0, 2))
WORK, COPY = Issue(1, L), (Issue(3, L), HostWait(L))


def small(kind: Kind, **bodies: Block) -> Program:
    observers = (*fixed_observers(1), Observer(kind, 0))
    functions = {name: Function(body, local_memory=MINE) for name, body in bodies.items()}
    return Program(1, observers, OPERATIONS, functions)


@pytest.mark.parametrize(
    ("body", "census", "holds"),
    [
        pytest.param((ALLOCATE, WORK, *COPY, FREE, FREED), WITH_BLOCKING, True, id="a blocking copy before the free"),
        pytest.param((ALLOCATE, WORK, *COPY, FREE, FREED), WITH_NON_BLOCKING, False, id="streams it does not wait for"),
        pytest.param((ALLOCATE, WORK, FREE, FREED), ONLY_LEGACY, False, id="the caller may look at what has run"),
        pytest.param((*COPY, WORK, FREE, FREED), ONLY_LEGACY, False, id="work of its own behind the wait"),
        pytest.param((HostWait(DEVICE), FREE, FREED), WITH_NON_BLOCKING, True, id="a device sync before the free"),
        pytest.param((FREE, FREED, HostWait(DEVICE)), WITH_NON_BLOCKING, True, id="a device sync behind the free"),
        pytest.param((FREE, FREED, Observe(5), HostWait(DEVICE)), ONLY_LEGACY, False, id="output in between"),
        pytest.param((FREE, FREED, Observe(4), HostWait(DEVICE)), ONLY_LEGACY, False, id="a host read in between"),
        pytest.param((FREE, FREED, WORK, HostWait(DEVICE)), ONLY_LEGACY, True, id="memory that differs for certain"),
        pytest.param((FREE, FREED, Issue(3, STREAM), HostWait(DEVICE)), ONLY_LEGACY, False, id="other memory"),
        pytest.param((FREE, FREED, HostWait(L)), WITH_BLOCKING, True, id="legacy waits for all blocking streams"),
        pytest.param((FREE, FREED, HostWait(L)), WITH_NON_BLOCKING, False, id="but not for the others"),
        pytest.param((Branch(((), (HostWait(DEVICE),))), FREED), ONLY_LEGACY, False, id="a wait on one path"),
    ],
)  # fmt: skip
def test_functions(body: Block, census: Census, holds: bool) -> None:
    assert check(small(Kind.NON_BLOCKING, f=body), "f", census).holds is holds


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        pytest.param((HostWait(DEVICE), FREE, FREED), False, id="another thread gets its turn during the wait"),
        pytest.param((FREE, FREED, HostWait(DEVICE)), True, id="no turn between the free and the wait"),
        pytest.param((FREE, FREED, SYNC), True, id="an inserted wait"),
    ],
)
def test_functions_beside_other_threads(body: Block, holds: bool) -> None:
    program = with_unknown_work(small(Kind.NON_BLOCKING, f=body), WITH_NON_BLOCKING)
    assert check(program, "f", WITH_NON_BLOCKING).holds is holds


def test_a_callee_as_it_was_hides_that_its_wait_will_go() -> None:
    program = small(Kind.BLOCKING, g=(FREED,), f=(Call("g", 0), FREED), main=(WORK, Call("f", 1), Observe(5)))
    assert check(with_rewritten(program, {"f"}), "f", ONLY_LEGACY).holds
    assert contradicted(program, {"g"}, {"f", "g"}, 0)
    assert not check(program, "f", ONLY_LEGACY).holds


def test_an_insertion_of_a_callee_belongs_to_the_fix_that_leans_on_it() -> None:
    program = small(Kind.BLOCKING, g=(SYNC,), f=(Call("g", 0), FREED), main=(WORK, Call("f", 1), Observe(5)))
    assert check(program, "f", ONLY_LEGACY).holds
    assert contradicted(program, (), {"f"}, 0)
    assert not check(with_rewritten(program, {"f"}), "f", ONLY_LEGACY).holds


def test_a_blocker_names_operation_observer_and_exit() -> None:
    (blocker, *_) = sorted(
        (b for b in check(small(Kind.BLOCKING, f=(WORK, FREED)), "f", ONLY_LEGACY).blockers if b.observer == HOST),
        key=lambda b: b.cause.value,
    )
    assert blocker.cause.value == "lost at exit"
    assert blocker.operation is not None
    assert blocker.operation.operation == 1
