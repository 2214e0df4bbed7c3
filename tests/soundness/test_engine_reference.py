"""Plans for random programs against the reference, which looks at every path by itself.

    HYPOTHESIS_PROFILE=long pytest tests/soundness/test_engine_reference.py --hypothesis-show-statistics

A program on which they disagree is printed as text; kept as a file in `once_wrong/`, it is looked at in every run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import event, find, given, note, settings

from cudafix import ir, models
from cudafix.ir.dump import dump
from cudafix.ir.link import Program
from cudafix.ordering.interpreter import check as engine
from cudafix.ordering.interpreter.program import Outcome, Overlay
from cudafix.rewrite.groups import Group, Refused, groups_of, static_refusal
from cudafix.rewrite.plan import Plan, moved_call
from cudafix.rewrite.repair import Repair
from tests import reference
from tests.cases import ROOT
from tests.random_programs import parse, programs

TABLES = models.load()
ORDER = frozenset({"out_of_order", "needs_device_sync", "stream_destroyed"})


def plan_for(module: ir.Module) -> Plan:
    """The plan for a program of one file, found as `cudafix.pipeline.driver` finds it."""
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


@given(programs())
def test_no_plan_loses_what_the_program_guaranteed(module: ir.Module) -> None:
    verdict = judge(module)
    if verdict is None:
        event("too many paths, or none without an error")
        return
    event(f"groups that move: {min(verdict.figures['moved'], 3)}")
    event(f"insertions: {min(verdict.figures['insertions'], 3)}")
    note(dump(module))
    assert not verdict.wrong


def part_of(plan: Plan, moving: Collection[Group]) -> Overlay:
    """The plan where only some groups are written, as somebody may choose, with the insertions that they need."""
    wanted = {id(group) for group in moving}
    whole, refused = plan.insertions, [group.refused for group in plan.groups]
    plan.insertions = {i: needed_by for i, needed_by in whole.items() if needed_by & wanted}
    for group in plan.groups:
        group.refused = group.refused or (None if id(group) in wanted else Refused("left_alone", ""))
    overlay = plan.overlay()
    plan.insertions = whole
    for group, why in zip(plan.groups, refused, strict=True):
        group.refused = why
    return overlay


def wrong_parts(module: ir.Module) -> list[str]:
    plan = plan_for(module)
    bound = [group for group in plan.moving() if id(group) in plan.bound]
    units = [[group] for group in plan.moving() if id(group) not in plan.bound] + ([bound] if bound else [])
    sizes = {1, 2, len(units) - 1} & set(range(1, len(units)))
    parts = (part_of(plan, list(chain(*some))) for size in sizes for some in combinations(units, size))
    return [why for part in parts for why in reference.check(module, part) or ()]


@given(programs())
def test_no_part_of_a_plan_loses_what_the_program_guaranteed(module: ir.Module) -> None:
    note(dump(module))
    assert not wrong_parts(module)


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "once_wrong").iterdir()), ids=lambda path: str(path.stem))
def test_a_plan_that_was_wrong_once_is_right(path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    verdict = judge(module)
    assert verdict is not None
    assert not verdict.wrong
    assert not wrong_parts(module)


@settings(max_examples=25)
@given(programs())
def test_a_program_is_read_from_its_text(module: ir.Module) -> None:
    text = dump(module)
    plain = "".join(line for line in text.replace("  [CHECK(…);]", "").splitlines(True) if line[:6] != "kernel")
    assert dump(parse(plain)) == text


def test_the_reference_finds_what_a_bare_rewrite_loses() -> None:
    def loses(module: ir.Module) -> bool:
        plan = plan_for(module)
        return bool(plan.insertions and reference.check(module, Plan(plan.groups).overlay()))

    smallest = find(programs(), loses, settings=settings(max_examples=1000, derandomize=True, database=None))
    assert len(dump(smallest).splitlines()) < 25
