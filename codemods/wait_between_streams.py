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

from collections.abc import Iterator

from cudafix import ir
from cudafix.codemod import Codemod
from cudafix.ordering.interpreter.program import Overlay, Violation, Wrong, key_of
from cudafix.rewrite import statements as text
from cudafix.rewrite.defects import Context, Proposal
from cudafix.rewrite.plan import Does, Insertion

CODEMOD = Codemod(
    name="wait_between_streams",
    summary="make a stream wait for another where stream-ordered memory crosses between them",
    finds_defects=True,
)


def statements(site: ir.Site, waiter: str, awaited: str, unit: str, names: text.Names) -> list[str]:
    """`waiter` waits for what `awaited` has done so far. A destroyed event is released when it is done."""
    event = names.free("done", "work_is_done")
    while event in f"{waiter} {awaited}":
        event = names.free(event + "_", event + "_")
    return text.block(
        [
            f"cudaEvent_t {event};",
            text.checked(site, f"cudaEventCreateWithFlags(&{event}, cudaEventDisableTiming)"),
            text.checked(site, f"cudaEventRecord({event}, {awaited})"),
            text.checked(site, f"cudaStreamWaitEvent({waiter}, {event}, 0)"),
            text.checked(site, f"cudaEventDestroy({event})"),
        ],
        unit,
    )


DEFECTS = frozenset({Wrong.USE_BEFORE_ALLOCATION, Wrong.FREE_BEFORE_USE})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The later operation's stream waits for the earlier one's, in front of the later statement."""
    later = v.later.stmt
    waiter = context.stream_of(later)
    awaited = context.stream_of(v.earlier.stmt) if v.earlier is not None else None
    if not isinstance(later, ir.Call | ir.Launch) or waiter is None or awaited is None or later.site.blocked:
        return
    insertion = Insertion(Does.WAIT, key_of(later), False, (waiter, awaited))
    data = context.files[later.span.path]
    lines = context.writer(later.span.path).wait(later.site, waiter, awaited, text.style_of(data).unit)
    overlay = Overlay(before={insertion.anchor: insertion.calls(later)})
    yield Proposal(overlay, tuple(text.before(later.site, lines, data)))
