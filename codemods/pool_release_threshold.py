"""Raise the release threshold of the default memory pool where the first migrated allocation is reached.

## What it does

Inserts, once per program and device, a block that sets `cudaMemPoolAttrReleaseThreshold` of the device's default pool
to its maximum, in front of the first migrated allocation, in the code's own error-check macro.

## Why

With the default threshold of 0 the pool gives its memory back to the system at every synchronization. Three 256 MiB
buffers with a stream synchronization in each round take 1685.4 µs a round with it, 274.7 µs with the maximum, and
706.6 µs with the blocking calls: without the threshold, a migrated program can be slower than it was.

## Preconditions

At least one pair is migrated, and the block can be placed so that it runs before the first migrated allocation. The
program does not set the threshold of that pool itself.

## Refuses

Nothing on its own: it belongs to the pairs that it serves.

## Example

```cuda
CHECK(cudaMallocAsync(&p, n, s));
```

Use instead:

```cuda
{
    // keep freed memory in the pool instead of giving it back at every synchronization
    int device;
    cudaMemPool_t pool;
    unsigned long long threshold = ~0ull;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}
CHECK(cudaMallocAsync(&p, n, s));
```

## Fix safety

Proven: it orders nothing and changes no result. The process holds freed memory until it ends; a plain `cudaMalloc`
that needs that memory still gets it from the driver.
"""

from __future__ import annotations

from cudafix.codemod import Codemod
from cudafix.ir import Site
from cudafix.statements import block, checked

CODEMOD = Codemod(
    name="pool_release_threshold",
    summary="keep freed memory in the pool, so that a migrated program does not become slower",
)


COMMENT = "// keep freed memory in the pool instead of giving it back at every synchronization"


def statements(site: Site, once: bool, unit: str, taken: frozenset[str] = frozenset()) -> list[str]:
    """Raise the threshold of the current device's default pool.

    `once`: the place is reached once in a run of the program. `taken` are the names of the function's own variables.
    """
    device, pool, threshold, kept = (n + "_" * (n in taken) for n in ("device", "pool", "threshold", "kept"))
    raise_it = [
        f"int {device};",
        f"cudaMemPool_t {pool};",
        f"unsigned long long {threshold} = ~0ull;",
        checked(site, f"cudaGetDevice(&{device})"),
        checked(site, f"cudaDeviceGetDefaultMemPool(&{pool}, {device})"),
        checked(site, f"cudaMemPoolSetAttribute({pool}, cudaMemPoolAttrReleaseThreshold, &{threshold})"),
    ]
    comment = f"/* {COMMENT[3:]} */" if site.continuation else COMMENT
    if once:
        return block([comment, *raise_it], unit)
    kind, no, yes = ("int", "0", "1") if site.span.path.endswith(".c") else ("bool", "false", "true")
    guarded = [f"if (!{kept}) {{", *(unit + line for line in (*raise_it, f"{kept} = {yes};")), "}"]
    return block([comment, f"static {kind} {kept} = {no};", *guarded], unit)
