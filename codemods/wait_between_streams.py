"""Make one stream wait for another where stream-ordered memory crosses between them.

## What it does

Inserts an event that is recorded on the stream that goes first, and a wait for it on the stream that must follow.

## Why

A block that is used on stream b and freed on stream a, with no event between, goes to the next allocation on a while
b still works on it: measured, the same address came back and was corrupted. The same holds for an allocation on one
stream and a first use on another, and for a plain `cudaMemcpy`, which runs on the legacy stream, into a block that
was allocated on a non-blocking stream. The race detector of `compute-sanitizer` reports these when they happen to
run; this finds them in the text.

## Preconditions

The two operations conflict, no chain of events, waits and synchronizations orders them, and both streams are in scope
where the wait is needed.

## Refuses

Two operations in functions that share neither stream: reported without a fix.

## Example

```cuda
scale<<<grid, block, 0, b>>>(p);
CHECK(cudaFreeAsync(p, a));
```

Use instead:

```cuda
scale<<<grid, block, 0, b>>>(p);
{
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, b));
    CHECK(cudaStreamWaitEvent(a, done, 0));
    CHECK(cudaEventDestroy(done));
}
CHECK(cudaFreeAsync(p, a));
```

## Fix safety

Proven: a wait adds order and takes none away. The host does not wait.
"""

from __future__ import annotations

from cudafix.codemod import Codemod
from cudafix.ir import Site
from cudafix.statements import block, checked

CODEMOD = Codemod(
    name="wait_between_streams",
    summary="make a stream wait for another where stream-ordered memory crosses between them",
    finds_defects=True,
)


def statements(site: Site, waiter: str, awaited: str, unit: str) -> list[str]:
    """`waiter` waits for what `awaited` has done so far. The event may be destroyed at once: it is released when it is done."""
    event = "done"
    while event in f"{waiter} {awaited}":
        event += "_"
    return block(
        [
            f"cudaEvent_t {event};",
            checked(site, f"cudaEventCreateWithFlags(&{event}, cudaEventDisableTiming)"),
            checked(site, f"cudaEventRecord({event}, {awaited})"),
            checked(site, f"cudaStreamWaitEvent({waiter}, {event}, 0)"),
            checked(site, f"cudaEventDestroy({event})"),
        ],
        unit,
    )
