"""Room for recursion: how deep code may nest is for the budgets of lowering and engine to say, not for the interpreter,
whose limit counts other things in each version of Python, and what the caller has used of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_DEEPEST = 4000
"""Python frames: `MAX_NESTING` blocks of the engine, or `MAX_DEPTH` expressions of a front end, take some 1,200."""


@contextmanager
def room() -> Iterator[None]:
    """Raise the interpreter's limit; also a decorator."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
