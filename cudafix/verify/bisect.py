"""The smallest set of fixes that breaks a program, found by trying subsets (delta debugging)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Fix = TypeVar("Fix")


def smallest(fixes: Sequence[Fix], breaks: Callable[[Sequence[Fix]], bool]) -> list[Fix]:
    """A subset that breaks and of which no fix can be left out. All of `fixes` together must break.

    Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): about log2(n) tries where a
    single fix is at fault, n * n at worst. Keeps the order of `fixes`.
    """
    rest = list(fixes)
    parts = 2
    while len(rest) > 1:
        size = -(-len(rest) // parts)
        chunks = [rest[at : at + size] for at in range(0, len(rest), size)]
        found = next((chunk for chunk in chunks if breaks(chunk)), None)
        if found is not None:
            rest, parts = found, 2
            continue
        # with two parts, each complement is the other part, and was tried
        others = ([fix for fix in rest if fix not in chunk] for chunk in chunks) if len(chunks) > 2 else ()
        found = next((other for other in others if breaks(other)), None)
        if found is not None:
            rest, parts = found, max(len(chunks) - 1, 2)
        elif len(chunks) == len(rest):
            break
        else:
            parts = min(2 * len(chunks), len(rest))
    return rest
