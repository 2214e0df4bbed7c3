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

from cudafix.codemod import Codemod

CODEMOD = Codemod(
    name="destroy_before_reset",
    summary="destroy streams and events before `cudaDeviceReset`, not after it",
    finds_defects=True,
)
