"""Free memory of `cudaMallocAsync` with `cudaFreeAsync`.

## What it does

Rewrites a `cudaFree` that receives stream-ordered memory to `cudaFreeAsync` on a stream that is ordered after its
users: where they may still run, which is a defect, and where the host has waited for them, which is half a migration.

## Why

`cudaFree` of `cudaMallocAsync` memory does not wait (documented), unlike `cudaFree` of `cudaMalloc` memory. Freed
under a running kernel, the block was reused and corrupted. Behind a synchronization it is correct; freed in the order
of its stream, the memory needs no synchronization.

## Preconditions

Every allocation that may reach the free is stream-ordered, and a stream is in scope on which the free is in order.

## Refuses

A pointer that may also come from `cudaMalloc`: it is reported without a fix where a use may be pending.

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
from cudafix.ordering.interpreter.program import Key, Overlay, StreamName, Violation, Wrong, key_of
from cudafix.rewrite.defects import Context, Proposal
from cudafix.rewrite.naming import DEFAULT
from cudafix.rewrite.plan import moved_call

CODEMOD = Codemod(
    name="async_free_of_async_memory",
    summary="free stream-ordered memory on a stream that is ordered after its users",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.FREED_WITHOUT_WAIT})


def completes(key: Key, context: Context) -> Iterator[Proposal]:
    """A free that is in order as it is, on each stream that it could be freed on: of its uses, of its allocation, then
    the legacy stream.
    """
    names: dict[StreamName, None] = {}
    found = [(outcome, outcome.frees[key]) for outcome in context.outcomes if key in outcome.frees]
    for outcome, site in found:
        for number in sorted(site.objects):
            obj = outcome.objects[number]
            made = (op.streams for op in outcome.operations if obj.allocated_by >> op.number & 1)
            for stream in (*outcome.first_use.get(number, ()), *(s for streams in made for s in streams)):
                name = site.name_of([stream])
                if name is not None:
                    names[name] = None
    names[DEFAULT] = None
    for name in names:
        yield from _moved(found[0][1].call, name, context)


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The free on the stream of the operation that may still run."""
    free = v.later.stmt
    stream = context.stream_of(v.earlier.stmt) if v.earlier is not None else None
    if isinstance(free, ir.Call) and stream is not None:
        yield from _moved(free, stream, context)


def _moved(free: ir.Call, stream: StreamName, context: Context) -> Iterator[Proposal]:
    moved = moved_call(free, stream)
    if moved is not None and not free.site.fixed:
        path = free.span.path
        edits = context.writer(path).moved(free, stream, context.files[path])
        yield Proposal(Overlay(replaced={key_of(free): moved}), tuple(edits))
