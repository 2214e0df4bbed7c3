"""Report stream-ordered memory that is used, or freed again, behind its free.

## What it does

Names the operation that touches a block which `cudaFreeAsync` or `cudaFree` has given back on every path to there, and
where it was given back. It rewrites nothing: which of the two statements is the one that is misplaced is for a person
to say.

## Why

A block that is given back goes to the next allocation on its stream, at once. What is issued behind the free works on
memory of somebody else, and no wait can mend that. A second `cudaFreeAsync` is `cudaErrorInvalidValue`.

## Preconditions

It is known which block the pointer leads to, and the block is given back on every path; or the variable is the one
that was given back, and was not set since.

## Refuses

Another variable that may lead to several blocks, and blocks that are given back on some paths only, are not reported.
The second round of a counted loop and the way from above to a label count as paths.

## Example

```cuda
CHECK(cudaFreeAsync(p, s));
scale<<<grid, block, 0, s>>>(p);
```

Use instead:

```cuda
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p, s));
```

## Fix safety

There is no fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix.codemod import Codemod
from cudafix.ordering.interpreter.program import Violation, Wrong
from cudafix.rewrite.defects import Context, Proposal

CODEMOD = Codemod(
    name="free_behind_last_use",
    summary="report stream-ordered memory that is used or freed behind its free",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.USE_AFTER_FREE, Wrong.DOUBLE_FREE})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """Nothing: the free or the use may be the one that is misplaced."""
    return iter(())
