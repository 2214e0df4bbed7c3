"""Free a stream-ordered buffer before the stream that its free runs on is destroyed.

## What it does

Moves `cudaFreeAsync(p, s)` in front of `cudaStreamDestroy(s)`, on error paths too. Other calls on a stream that was
destroyed on every path are reported.

## Why

`cudaFreeAsync` on a destroyed stream is a segmentation fault. `cudaFree` needs no stream, so many programs destroy
their streams first and free their buffers last; with the names alone exchanged, such a program crashes when it cleans
up.

## Preconditions

The free is reached on every path on which the stream is destroyed, and nothing between the two calls uses the buffer
on another stream without being ordered before the free.

## Refuses

A stream whose destruction is in another function or object than the free: it is reported without a fix.

## Example

```cuda
CHECK(cudaStreamDestroy(s));
CHECK(cudaFreeAsync(p, s));
```

Use instead:

```cuda
CHECK(cudaFreeAsync(p, s));
CHECK(cudaStreamDestroy(s));
```

## Fix safety

Proven: the free waits for nothing on the host, and the stream finishes its work after `cudaStreamDestroy` has
returned.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix import ir
from cudafix.codemod import Codemod
from cudafix.ordering.interpreter.program import Overlay, Violation, Wrong, key_of
from cudafix.rewrite.defects import Context, Proposal
from cudafix.rewrite.statements import moved_before

CODEMOD = Codemod(
    name="free_before_stream_destroy",
    summary="free a buffer before the stream that its free runs on is destroyed",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.STREAM_DESTROYED})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The free in front of the call that destroys its stream."""
    free = v.later.stmt
    if not isinstance(free, ir.Call) or free.callee != "cudaFreeAsync":
        return
    destroys = [
        c for o in context.outcomes for s in v.streams for c in o.destroys.get(s, ()) if c.span.path == free.span.path
    ]
    for destroy in sorted(destroys, key=lambda c: -c.span.start):
        path = free.span.path
        edits = moved_before(free.site, destroy.site, context.files[path], context.writer(path).comment)
        if edits and destroy.span.start < free.span.start:
            yield Proposal(Overlay(before={key_of(destroy): [free]}, removed={key_of(free)}), tuple(edits))
