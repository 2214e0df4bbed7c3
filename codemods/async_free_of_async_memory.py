"""Free memory of `cudaMallocAsync` with `cudaFreeAsync`, or wait for its users before `cudaFree`.

## What it does

Rewrites a `cudaFree` that receives stream-ordered memory whose users may still run to `cudaFreeAsync` on the stream
that is ordered after them.

## Why

`cudaFree` of `cudaMallocAsync` memory does not wait (documented), unlike `cudaFree` of `cudaMalloc` memory. Freed
under a running kernel, the block was reused and corrupted.

## Preconditions

Every allocation that may reach the free is stream-ordered, and a use may be pending when the host reaches it. A
`cudaFree` after a synchronization that covers every use is correct and is left alone.

## Refuses

A pointer that may also come from `cudaMalloc`: it is reported without a fix.

## Example

```cuda
CHECK(cudaMallocAsync(&p, n, s));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFree(p));
```

Use instead:

```cuda
CHECK(cudaMallocAsync(&p, n, s));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p, s));
```

## Fix safety

Proven: the release comes after every use in the order of the stream, and the host waits no less than before.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix import ir
from cudafix.codemod import Codemod
from cudafix.defects import Context, Proposal
from cudafix.ordering.program import Overlay, Violation, Wrong, key_of
from cudafix.repair import moved_call

CODEMOD = Codemod(
    name="async_free_of_async_memory",
    summary="free stream-ordered memory on a stream that is ordered after its users",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.FREED_WITHOUT_WAIT})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The free on the stream of the operation that may still run."""
    free = v.later.stmt
    stream = context.stream_of(v.earlier.stmt) if v.earlier is not None else None
    if isinstance(free, ir.Call) and stream is not None and not free.site.fixed:
        moved = moved_call(free, stream)
        if moved is not None:
            path = free.span.path
            edits = context.writer(path).moved(free, stream, context.files[path])
            yield Proposal(Overlay(replaced={key_of(free): moved}), tuple(edits))
