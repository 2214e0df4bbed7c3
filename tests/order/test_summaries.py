"""Summaries and the inlined dataflow against exact paths, and against each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from cudafix.ordering.order.checks import Violation, violations
from cudafix.ordering.order.lattice import Bits, Row, knowing, positions
from cudafix.ordering.order.program import STREAMS, Exit, Kind, Program
from cudafix.ordering.order.scopes import Scope
from cudafix.ordering.order.summaries import Summaries, Summary
from cudafix.ordering.order.transfer import ready
from tests.order.exact import Infeasible, Path
from tests.order.inline import Inliner
from tests.order.programs import Shape, random_program

RUNS = int(os.environ.get("CUDAFIX_RANDOM_PROGRAMS", "100"))
"""Programs of each shape; 100,000 take hours."""
PATHS = 6

Named = tuple[int, tuple[int, ...]]

SHAPES = {
    "one device": Shape(vague=False),
    "two devices": Shape(devices=2, vague=False),
    "may-steps": Shape(),
    "may-steps on two devices": Shape(devices=2),
    "recursion": Shape(recursive=True, weights={"call": 20}),
    "recursion on two devices": Shape(devices=2, recursive=True),
    "loops": Shape(functions=1, weights={"loop": 14, "leave": 6, "create": 10, "age": 10}),
    "steps and nothing else": Shape(functions=0, weights={"if": 0, "loop": 0, "catch": 0, "leave": 0}),
}


def named(scope: Scope, bits: Bits, keys: Inliner | None = None) -> set[Named]:
    """Operations by name, whatever has become of their memory."""
    found = set()
    for position in positions(bits & scope.operations):
        key = scope.access(position).key
        key = key if keys is None else keys.keys[key.operation]
        found.add((key.operation, key.calls))
    return found


def paths(program: Program, seed: int, count: int = PATHS) -> Iterator[Path]:
    """Paths that reach an end, or as much of others as ran."""
    for n in range(count):
        path = Path(program, "main", seed * 1000 + n)
        try:
            path.run()
        except Infeasible:
            path.exit = None
            yield path
            continue
        path.exit = path.exit or Exit.RETURN
        yield path


def seen(summary: Summary, exit_: Exit, x: int, next_step: bool) -> Row:
    """What an observer has waited for at an exit, or will have at its next step."""
    scope, state = summary.scope, summary.exits[exit_]
    row = state.rows[x]
    if next_step and scope.kinds[x].kind in STREAMS:
        return ready(scope, state, x)
    return knowing(row, state.rows[0]) if x > 1 else row


def check_covered(summary: Summary, path: Path, keys: Inliner | None = None) -> None:
    """What is unfinished in Q on a path is pending, and what has finished only in P is lost."""
    assert path.exit is not None
    scope = summary.scope
    assert path.exit in summary.exits
    state = summary.exits[path.exit]
    for x, name in enumerate(scope.names):
        if scope.kinds[x].kind is Kind.ALL_BLOCKING:  # only the legacy stream reads it, beside its own row
            continue
        for next_step in (True, False):
            pending, lost = path.unfinished(name, next_step)
            row = seen(summary, path.exit, x, next_step)
            may_pending = named(scope, state.issued & ~row.done, keys)
            assert pending <= may_pending, (name, next_step, "pending", pending - may_pending)
            may_lost = named(scope, row.lost, keys)
            assert lost <= may_lost, (name, next_step, "lost", lost - may_lost)


def reported(found: dict[str, set[Violation]]) -> set[tuple[str, str, Named, Named]]:
    result = set()
    for function, several in found.items():
        for wrong, earlier, later in several:
            if earlier is not None:
                kind = "order" if wrong.value == "order" else "needs"
                result.add((kind, function, earlier[:2], later[:2]))
    return result


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_no_order_of_an_exact_path_is_missed(shape: Shape) -> None:
    for seed in range(RUNS):
        program = random_program(seed, shape)
        summaries = Summaries(program)
        composed = summaries["main"]
        keys = None if shape.recursive else Inliner(composed.scope)
        direct = None if keys is None else Summaries(keys.result)["main"]
        for path in paths(program, seed):
            if path.exit is not None:
                check_covered(composed, path)
                if direct is not None:
                    check_covered(direct, path, keys)
            found = {name: violations(summaries[name]) for name in program.functions}
            names = reported(found)
            missed = {clash for clash in path.clashes if clash[0] != "stream destroyed"} - names
            assert not missed, (seed, missed)
            for kind, _, _, (operation, _) in path.clashes:
                if kind == "stream destroyed":
                    assert any(
                        v.earlier is None and v.later.operation == operation for some in found.values() for v in some
                    ), (seed, operation)


NOTHING_REWRITTEN = {
    name: Shape(devices=devices, rewritten=False, vague=vague, recursive=recursive)
    for name, devices, vague, recursive in (
        ("one device", 1, False, False),
        ("two devices", 2, True, False),
        ("recursion", 1, True, True),
    )
}


@pytest.mark.parametrize("shape", NOTHING_REWRITTEN.values(), ids=NOTHING_REWRITTEN.keys())
def test_where_nothing_is_rewritten_nothing_is_lost(shape: Shape) -> None:
    for seed in range(RUNS):
        summaries = Summaries(random_program(seed, shape))
        for summary in summaries.values():
            assert not violations(summary)
            assert not any(row.lost for state in summary.exits.values() for row in state.rows)
            assert not any(question.facts.lost for question in summary.asked)


def test_summaries_are_hardly_larger_than_the_inlined_dataflow() -> None:
    sizes: Counter[str] = Counter()
    for shape in (SHAPES["one device"], SHAPES["two devices"], SHAPES["may-steps"]):
        for seed in range(RUNS):
            program = random_program(seed, shape)
            composed = Summaries(program)["main"]
            keys = Inliner(composed.scope)
            direct = Summaries(keys.result)["main"]
            for exit_, state in direct.exits.items():
                for x, name in enumerate(direct.scope.names):
                    if name not in composed.scope.names:
                        continue
                    here = composed.scope.place(name)
                    mine, its = (seen(s, exit_, at, True) for s, at in ((composed, here), (direct, x)))
                    pairs = [
                        (composed.exits[exit_].issued & ~mine.done, state.issued & ~its.done),
                        (mine.lost, its.lost),
                    ]
                    for a, b in pairs:
                        one, other = named(composed.scope, a), named(direct.scope, b, keys)
                        sizes["same" if one == other else "smaller" if one < other else "larger"] += 1
    print(dict(sizes))
    assert sizes["larger"] <= 0.02 * sizes.total()
