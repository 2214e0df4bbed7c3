"""What order programs cost as they grow."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import order_costs
from cudafix.ordering.order.program import Program

NOISE = 2.5
"""How much longer than expected a measurement may take beside other work."""


@pytest.mark.parametrize(
    ("make", "size"),
    [
        pytest.param(order_costs.pairs, 200, id="pairs in one function"),
        pytest.param(lambda n: order_costs.chains(n, 20), 100, id="functions"),
    ],
)
def test_cost_grows_with_the_size(make: Callable[[int], Program], size: int) -> None:
    small, large = (order_costs.measure(make, n) for n in (size // 4, size))
    assert large < 4**1.25 * NOISE * small + 0.1


@pytest.mark.parametrize(
    ("make", "depth"),
    [
        pytest.param(order_costs.twice, 24, id="calls"),
        pytest.param(order_costs.loops, 16, id="loops"),
    ],
)
def test_depth_does_not_multiply(make: Callable[[int], Program], depth: int) -> None:
    assert order_costs.measure(make, depth) < 1
