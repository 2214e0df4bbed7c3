"""Report stream-ordered memory that a device reset leaks.

## What it does

Names the reset, and the allocation of the block that no path to it has given back. It rewrites nothing.

## Why

`cudaDeviceReset` gives back what `cudaMalloc` has allocated, and leaks what `cudaMallocAsync` has (documented). At
4 GiB a round, a program was out of memory at round 34.

## Preconditions

The block may be allocated when the reset runs, and no path to the reset frees it.

## Refuses

A block that some path frees is not reported: the branches may belong together.

## Example

```cuda
CHECK(cudaMallocAsync(&p, n, s));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaDeviceReset());
```

Use instead:

```cuda
CHECK(cudaMallocAsync(&p, n, s));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p, s));
CHECK(cudaDeviceSynchronize());
CHECK(cudaDeviceReset());
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
    name="free_before_reset",
    summary="report stream-ordered memory that a device reset leaks",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.RESET_LEAKS})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """Nothing: where the memory is not used any more is for the program to say."""
    return iter(())
