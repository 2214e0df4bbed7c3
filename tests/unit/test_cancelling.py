"""Work that nobody wants any more ends, is reported as no failure, and leaves nothing that is half done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cudafix.interrupts import Cancelled, checkpoint, while_wanted
from cudafix.pipeline import driver
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from tests import reports


def after(number: int) -> Callable[[], bool]:
    """What says so often that work is wanted."""
    left = [number]

    def wanted() -> bool:
        left[0] -= 1
        return left[0] >= 0

    return wanted


def test_a_checkpoint_ends_what_is_not_wanted_and_nothing_else() -> None:
    checkpoint()
    with pytest.raises(Cancelled), while_wanted(lambda: False):
        checkpoint()
    checkpoint()


def test_wherever_it_is_cancelled_the_next_run_says_what_it_says_anyway() -> None:
    expected = driver.analyze(reports.TREE, Config())
    counted = [0]

    def count() -> bool:
        counted[0] += 1
        return True

    with while_wanted(count):
        assert driver.analyze(reports.TREE, Config()) == expected
    edited = {path: text.replace(b"p[0] = 1", b"p[0] = 2") for path, text in reports.TREE.items()}
    assert counted[0] > 50
    for number in range(0, counted[0], counted[0] // 12):
        with pytest.raises(Cancelled), while_wanted(after(number)):
            driver.analyze(edited, Config(), cache=Cache())
        assert driver.analyze(reports.TREE, Config()) == expected


def test_a_focus_leaves_out_what_is_decided_apart_and_nothing_else() -> None:
    every = driver.analyze(reports.TREE, Config())
    for path in reports.TREE:
        near = driver.analyze(reports.TREE, Config(), focus=[path])
        found = [(f.codemod, f.offset, f.message, f.edits) for f in near.findings]
        assert found == [(f.codemod, f.offset, f.message, f.edits) for f in every.findings if f.path == path]
        assert near.refusals == tuple(refusal for refusal in every.refusals if refusal.path == path)
