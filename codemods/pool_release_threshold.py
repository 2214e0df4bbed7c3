"""Raise the release threshold of the default memory pool where migrated memory comes and goes.

## What it does

Defines one small function that sets `cudaMemPoolAttrReleaseThreshold` of the device's default pool, and calls it in
front of the first migrated allocation of a pair that is in a loop, or in a function that is called again and again:
once per program and device, and never in a macro. The function stands in front of the one that calls it, or of the
class, and uses the code's own error-check if that works in a function that returns nothing. Where there is no room for
it, and in Python, the statements stand in place. A program in which no pair comes and goes gets nothing.

A project may have the function once, in a header that `pool_setup` names:

```toml
pool_setup = "gpu/pool.h"
```

Then files call the function of that header, and include it behind their other headers. It is `inline` or `static`,
takes nothing, sets the threshold of the current device's pool, and does nothing else: a header without one is an error,
and that it does nothing else is looked at in its text and in the proof. It may be called again and again. The
header holds nothing else but a guard and includes, and includes no header of the project that a file does not include
anyway. (For files that include it already, there may be more in it, but no conditions of the preprocessor.) Where that
does not hold, or the name means something else in a program, the file gets a function of its own.

`pool_threshold` says how much the pool keeps: `"max"`, a size as in `"64 MiB"`, or `"keep"` for the driver's default.
Then nothing is inserted, and the summary says what that costs.

Of code that is stream-ordered already, `check` reports where such a pair first allocates in a whole program that sets
no threshold. The fix is the same function.

## Why

With the default threshold of 0 the pool gives its memory back to the system at every synchronization. Three 256 MiB
buffers with a stream synchronization in each round take 1685.4 µs a round with it, 274.7 µs with the maximum, and
706.6 µs with the blocking calls: without the threshold, a migrated program can be slower than it was. A pair that runs
once gains nothing from it.

## Preconditions

At least one pair that comes and goes is migrated, and there is a place that runs before its first
allocation, with the same device current: the attribute is of the pool of that device. The program neither sets the
threshold itself nor gives a device another pool. Of memory that is stream-ordered already the program has its `main` in
the paths: else who calls it may set the threshold.

## Refuses

Nothing on its own: it belongs to the pairs that it serves.

## Example

```cuda
for (int i = 0; i < rounds; i++) {
    CHECK(cudaMallocAsync(&p, n, s));
```

Use instead:

```cuda
// keep freed memory in the pool instead of giving it back at every synchronization
static void keep_pool_memory()
{
    int device;
    cudaMemPool_t pool;
    unsigned long long threshold = ~0ull;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}

keep_pool_memory();
for (int i = 0; i < rounds; i++) {
    CHECK(cudaMallocAsync(&p, n, s));
```

## Fix safety

Proven: it orders nothing and changes no result. The process holds freed memory until it ends, up to the threshold. A
plain `cudaMalloc` of the same process that needs that memory still gets it from the driver; another process on the same
GPU does not, and may run out of memory that is not in use. Where processes share a GPU, choose a size, or `"keep"`.
"""

from __future__ import annotations

from cudafix.codemod import Codemod
from cudafix.ir import Site
from cudafix.project.config import ALL
from cudafix.rewrite.statements import Names, block, checked

CODEMOD = Codemod(
    name="pool_release_threshold",
    summary="keep freed memory in the pool, so that a migrated program does not become slower",
    finds_defects=True,
)


COMMENT = "// keep freed memory in the pool instead of giving it back at every synchronization"


def statements(site: Site, once: bool, unit: str, size: int, names: Names, asks: str = "") -> list[str]:
    """The same in a block of its own."""
    return block(raised(site, once, unit, size, names, asks), unit)


def raised(site: Site, once: bool, unit: str, size: int, names: Names, asks: str = "") -> list[str]:
    """Raise the threshold of the current device's default pool to a size in bytes: a comment and statements.

    `once`: the place is reached once in a run of the program. `asks` is the function that says whether the device has
    pools, where it may have none.
    """
    device, pool = names.free("device", "device_of_pool"), names.free("pool", "pool_of_device")
    threshold, kept = names.free("threshold", "release_threshold"), names.free("kept", "memory_is_kept")
    raise_it = [
        f"int {device};",
        f"cudaMemPool_t {pool};",
        f"unsigned long long {threshold} = {'~0ull' if size == ALL else f'{size}ull'};",
        checked(site, f"cudaGetDevice(&{device})"),
        checked(site, f"cudaDeviceGetDefaultMemPool(&{pool}, {device})"),
        checked(site, f"cudaMemPoolSetAttribute({pool}, cudaMemPoolAttrReleaseThreshold, &{threshold})"),
    ]
    if asks:
        raise_it = [f"if ({asks}()) {{", *(unit + line for line in raise_it), "}"]
    comment = f"/* {COMMENT[3:]} */" if site.continuation else COMMENT
    if once:
        return [comment, *raise_it]
    kind, no, yes = ("int", "0", "1") if site.span.path.endswith(".c") else ("bool", "false", "true")
    guarded = [f"if (!{kept}) {{", *(unit + line for line in (*raise_it, f"{kept} = {yes};")), "}"]
    return [comment, f"static {kind} {kept} = {no};", *guarded]
