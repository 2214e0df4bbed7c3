"""Destroy streams and events before `cudaDeviceReset` instead of after it.

## What it does

Moves `cudaStreamDestroy` and `cudaEventDestroy` calls that follow a `cudaDeviceReset` in front of it.

## Why

The reset destroys the context, and the streams and events with it. `cudaStreamDestroy(s)` after `cudaDeviceReset()`
is a segmentation fault, or returns `cudaErrorInvalidResourceHandle`.

## Preconditions

The stream or event was created before the reset, is the same on every path to both calls, and nothing between the two
calls uses it.

## Refuses

A destroy in another function than the reset, in a destructor, or in a place that cannot be edited
(`site_not_editable`): it is reported without a fix.

## Example

```cuda
CHECK(cudaDeviceReset());
CHECK(cudaStreamDestroy(s));
```

Use instead:

```cuda
CHECK(cudaStreamDestroy(s));
CHECK(cudaDeviceReset());
```

## Fix safety

Proven: `cudaStreamDestroy` of a stream with pending work returns at once, and the work still completes.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix import ir
from cudafix.codemod import Codemod
from cudafix.ordering.interpreter.program import Overlay, Violation, Wrong, key_of
from cudafix.rewrite.defects import Context, Proposal
from cudafix.rewrite.statements import moved_before

CODEMOD = Codemod(
    name="destroy_before_reset",
    summary="destroy streams and events before `cudaDeviceReset`, not after it",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.DESTROYED_AFTER_RESET})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The destroy in front of the reset."""
    destroy = v.later.stmt
    if not isinstance(destroy, ir.Call):
        return
    resets = {key_of(c): c for o in context.outcomes for c in o.resets.values() if c.span.path == destroy.span.path}
    for reset in sorted(resets.values(), key=lambda c: -c.span.start):
        path = destroy.span.path
        edits = moved_before(destroy.site, reset.site, context.files[path], context.writer(path).comment)
        if edits and reset.span.start < destroy.span.start:
            yield Proposal(Overlay(before={key_of(reset): [destroy]}, removed={key_of(destroy)}), tuple(edits))
