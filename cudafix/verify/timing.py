"""Is the rewritten program slower or faster? Rounds of before and after in turn, compared round by round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RATIO = 1.05
"""A program counts as slower only from this ratio on."""
SECONDS = 0.008
"""And only if it loses more than that: the first `cudaMallocAsync` of a process costs 5.5 ms (docs/FACTS.md)."""


@dataclass(frozen=True)
class Timing:
    """Seconds of whole processes (medians), and after / before of each round: the median, the least, the greatest.

    `slower`: the slowest run of before was faster than the fastest of after, and the medians are apart by enough.
    """

    before: float
    after: float
    ratio: float
    least: float
    greatest: float
    rounds: int
    slower: bool


def compare(before: Sequence[float], after: Sequence[float]) -> Timing:
    """The rounds, in their order: before and after of one round ran one after the other, on the same machine state.

    Of three rounds or more, the first warms up and is not counted.
    """
    warm = slice(1 if len(before) > 2 else 0, None)
    before, after = before[warm], after[warm]
    ratios = [second / first for first, second in zip(before, after, strict=True)]
    usual, now, ratio = statistics.median(before), statistics.median(after), statistics.median(ratios)
    apart = len(ratios) > 1 and min(after) > max(before)
    return Timing(
        before=round(usual, 6),
        after=round(now, 6),
        ratio=round(ratio, 4),
        least=round(min(ratios), 4),
        greatest=round(max(ratios), 4),
        rounds=len(ratios),
        slower=apart and ratio > RATIO and now - usual > SECONDS,
    )
