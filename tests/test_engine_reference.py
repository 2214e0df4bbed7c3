"""Plans for random programs against the reference, which looks at every path by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from cudafix import ir, models
from cudafix.link import Program
from cudafix.ordering import check as engine
from cudafix.ordering.program import Outcome, Overlay
from cudafix.repair import Group, Plan, Repair, groups_of, moved_call, static_refusal
from tests import reference
from tests.random_programs import program

TABLES = models.load()
ORDER = frozenset({"out_of_order", "needs_device_sync", "stream_destroyed"})


def plan_for(module: ir.Module) -> Plan:
    """The plan for a program of one file, found as `cudafix.driver` finds it."""
    whole = Program([module])
    roots = engine.roots(whole)

    def run(overlay: Overlay) -> Sequence[Outcome]:
        return [engine.run(whole, TABLES, overlay, root) for root in roots]

    survey = run(Overlay())
    groups = groups_of(survey)
    for group in groups:
        group.refused = static_refusal(group, survey)
    return Repair(run, survey, groups).search()


@dataclass
class Verdict:
    """`wrong`: what the reference says against the plan. `figures` count what the tool did, and did without need."""

    plan: Plan
    wrong: list[str]
    figures: Counter[str]


def judge(module: ir.Module) -> Verdict | None:
    """None where there are too many paths to look at."""
    plan = plan_for(module)
    figures: Counter[str] = Counter(programs=1, groups=len(plan.groups), moved=len(plan.moving()))
    wrong = reference.check(module, plan.overlay())
    if wrong is None:
        return None
    figures["insertions"] = len(plan.insertions)
    if plan.insertions and not reference.check(module, Plan(plan.groups).overlay()):
        figures["insertions without need"] = len(plan.insertions)
    for group in plan.groups:
        if group.refused is not None:
            figures[f"refused {group.refused.name}"] += 1
            if group.refused.name in ORDER and any(
                reference.check(module, bare) == [] for bare in bare_rewrites(group)
            ):
                figures[f"refused {group.refused.name} without need"] += 1
    return Verdict(plan, wrong, figures)


def bare_rewrites(group: Group) -> Iterator[Overlay]:
    for option in group.options:
        moved = {key: moved_call(site.call, option[key]) for key, site in group.sites()}
        yield Overlay(replaced={key: call for key, call in moved.items() if call is not None})


@pytest.mark.parametrize("seed", range(0, 200, 50))
def test_no_plan_loses_what_the_program_guaranteed(seed: int) -> None:
    for n in range(seed, seed + 50):
        verdict = judge(program(n))
        assert verdict is None or not verdict.wrong, n


# Seeds that were wrong once, by what was wrong.
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(293, id="waits at one place changed their order when one of them was taken out"),
        pytest.param(1098, id="a wait in a loop over an array that has no round"),
        pytest.param(1332, id="a loop over an array that has no round put an allocation in order"),
        pytest.param(3034, id="a free of a null pointer put another stream in order"),
    ],
)
def test_a_plan_that_was_wrong_once_is_right(seed: int) -> None:
    verdict = judge(program(seed))
    assert verdict is not None
    assert not verdict.wrong


def test_the_reference_finds_what_a_bare_rewrite_loses() -> None:
    figures: Counter[str] = Counter()
    for seed in range(60):
        module = program(seed)
        plan = plan_for(module)
        if plan.insertions and reference.check(module, Plan(plan.groups).overlay()):
            figures["lost"] += 1
    assert figures["lost"] > 10
