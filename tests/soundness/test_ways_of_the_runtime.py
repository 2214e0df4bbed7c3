"""Ways past the wait of `cudaFree` that lead through CUDA, Thrust and the life of the process.
One way a line in ways_of_the_runtime.txt.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soundness.test_ways_past_a_wait import moves_without, parts, program

WAYS = [
    line
    for line in Path(__file__).with_name("ways_of_the_runtime.txt").read_text().splitlines()
    if line and not line.startswith("# ")
]


@pytest.mark.parametrize("way", WAYS)
def test_what_needs_the_wait_keeps_it(way: str) -> None:
    assert not moves_without(program(*parts(way)), "Synchronize", "WaitEvent")
