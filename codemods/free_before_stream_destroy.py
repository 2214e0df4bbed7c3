"""Free a stream-ordered buffer before the stream that its free runs on is destroyed.

## What it does

Moves `cudaFreeAsync(p, s)` in front of `cudaStreamDestroy(s)`, on error paths too.

## Why

`cudaFreeAsync` on a destroyed stream is a segmentation fault. `cudaFree` needs no stream, so many programs destroy
their streams first and free their buffers last; with the names alone exchanged, such a program crashes when it cleans
up.

## Preconditions

The free is reached on every path on which the stream is destroyed, and nothing between the two calls uses the buffer
on another stream without being ordered before the free.

## Refuses

A stream whose destruction is in another function or object than the free: `stream_destroyed`.

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

from cudafix.codemod import Codemod

CODEMOD = Codemod(
    name="free_before_stream_destroy",
    summary="free a buffer before the stream that its free runs on is destroyed",
    finds_defects=True,
)
