"""The rooms of the package: which folder may import which, held against the imports as they are."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from docs import architecture
from docs.architecture import ROOMS, box_of


def test_the_picture_is_drawn_from_the_imports_as_they_are() -> None:
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture.picture(), "the imports changed: run `python -m docs.architecture`"


def test_imports_point_down_the_list_of_rooms() -> None:
    def floor(module: str) -> int:
        box = box_of(module)
        return ROOMS.index(box) if box in ROOMS else len(ROOMS)  # what lies in `cudafix/` itself is below all rooms

    graph = architecture.imports()
    upward = [(module, other) for module, others in graph.items() for other in others if floor(other) < floor(module)]
    assert upward == []


def test_no_module_imports_itself_through_others() -> None:
    try:
        TopologicalSorter(architecture.imports()).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {error.args[1]}")


def test_few_modules_lie_in_no_room() -> None:
    loose = {box_of(module) for module in architecture.modules()} - {*ROOMS, ""}
    assert loose == {"codemod", "findings", "interrupts", "recursion", "refusals"}


def test_a_row_of_the_picture_imports_only_from_the_rows_below() -> None:
    graph = {"a": frozenset("bc"), "b": frozenset("d"), "c": frozenset("bd"), "d": frozenset[str]()}
    assert architecture.rows(graph) == [["a"], ["c"], ["b"], ["d"]]
