"""Report host code that works on memory while stream-ordered work on the same memory is pending.

## What it does

Names the statement that reads or writes pinned, mapped or managed memory, and the copy or kernel that works on it and
on stream-ordered memory, for which the host has not waited on any path. It rewrites nothing.

## Why

`cudaFree` waits until the device is idle, and programs lean on that without saying so. `cudaFreeAsync` waits for
nothing: a pinned result that was 42 behind `cudaFree` was 0 behind `cudaFreeAsync` (measured), since the copy had not
run yet. This is what a renamed program looks like.

## Preconditions

The operation runs on a stream that is known, it is issued on every path, and no wait, query, callback or unknown call
stands between it and the host's access.

## Refuses

Accesses through pointers that may lead to several places are not reported.

## Example

```cuda
CHECK(cudaMemcpyAsync(pinned, p, bytes, cudaMemcpyDeviceToHost, s));
CHECK(cudaFreeAsync(p, s));
sum += pinned[0];
```

Use instead:

```cuda
CHECK(cudaMemcpyAsync(pinned, p, bytes, cudaMemcpyDeviceToHost, s));
CHECK(cudaFreeAsync(p, s));
CHECK(cudaStreamSynchronize(s));
sum += pinned[0];
```

## Fix safety

There is no fix: where the host can wait without losing what the stream was for, a person knows best.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix.codemod import Codemod
from cudafix.ordering.interpreter.program import Violation, Wrong
from cudafix.rewrite.defects import Context, Proposal

CODEMOD = Codemod(
    name="wait_before_host_access",
    summary="report host code that touches memory while stream-ordered work on it is pending",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.HOST_RACE})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """Nothing: where to wait is a choice."""
    return iter(())
