"""Is the rewritten program slower or faster? Rounds of before and after in turn, compared round by round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

SLOWER = 1.05
"""Ratio from which on a program counts as slower, if it was slower in every round."""


@dataclass(frozen=True)
class Timing:
    """Seconds of whole processes (medians), and after / before of each round: the median, the least, the greatest."""

    before: float
    after: float
    ratio: float
    least: float
    greatest: float
    rounds: int

    @property
    def slower(self) -> bool:
        """Every round says so, and by more than what the first `cudaMallocAsync` of a process costs (5.5 ms)."""
        return self.rounds > 1 and self.ratio > SLOWER and self.least > 1 and self.after - self.before > 0.008


def compare(before: Sequence[float], after: Sequence[float]) -> Timing:
    """The rounds, in their order: before and after of one round ran one after the other, on the same machine state."""
    ratios = [second / first for first, second in zip(before, after, strict=True)]
    return Timing(
        before=round(statistics.median(before), 6),
        after=round(statistics.median(after), 6),
        ratio=round(statistics.median(ratios), 4),
        least=round(min(ratios), 4),
        greatest=round(max(ratios), 4),
        rounds=len(ratios),
    )
