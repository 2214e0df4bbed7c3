"""Report `cudaFreeAsync` of memory that is not from a pool nor from `cudaMalloc`.

## What it does

Names a `cudaFreeAsync` that can only receive managed, pinned, mapped or host memory, or an array. It rewrites nothing.

## Why

`cudaFreeAsync` of managed memory is `cudaErrorNotSupported`, and of a host pointer `cudaErrorInvalidValue` (measured):
the memory is leaked, and the wait that `cudaFree` brought is gone. Programs often free several kinds in one helper.

## Preconditions

Every block that the pointer may lead to is of such a kind.

## Refuses

A pointer that may also lead to device memory is not reported.

## Example

```cuda
CHECK(cudaMallocManaged(&p, n));
CHECK(cudaFreeAsync(p, s));
```

Use instead:

```cuda
CHECK(cudaMallocManaged(&p, n));
CHECK(cudaFree(p));
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
    name="blocking_free_of_other_memory",
    summary="report stream-ordered frees of memory that they cannot give back",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.OTHER_MEMORY})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """Nothing: `cudaFree` would wait for the device again, which may or may not be wanted."""
    return iter(())
