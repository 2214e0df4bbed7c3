"""Give `cudaFreeAsync` and `cudaMallocAsync` the stream argument that they lack.

## What it does

Adds the stream to a `cudaFreeAsync(p)` or `cudaMallocAsync(&p, n)`: the stream that uses the buffer, or the legacy
default stream `0` where that stream is ordered with every use.

## Why

The stream argument of `cudaFreeAsync` has no default: a call with one argument does not compile. It is what a search
and replace of the name leaves behind, often in a branch of an `#if` that nobody builds.

## Preconditions

One stream is in scope and alive at the call for which the order of allocation, uses and free is proved.

## Refuses

A call for which no stream in scope keeps the order: `out_of_order`.

## Example

```cuda
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p));
```

Use instead:

```cuda
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p, s));
```

## Fix safety

Proven: the code did not compile before, and the order of the code after is proved.
"""

from __future__ import annotations

from cudafix.codemod import Codemod

CODEMOD = Codemod(
    name="missing_stream_argument",
    summary="give `cudaFreeAsync` and `cudaMallocAsync` the stream argument that they lack",
    finds_defects=True,
)
