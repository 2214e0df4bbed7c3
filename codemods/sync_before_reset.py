"""Put a device synchronization before `cudaDeviceReset` where stream-ordered work may still be pending.

## What it does

Inserts `cudaDeviceSynchronize()` in front of a `cudaDeviceReset()` that pending kernels, copies or stream-ordered
frees can reach.

## Why

`cudaDeviceReset` is documented to destroy the context immediately; the caller must make sure that the device is idle.
`cudaFree` did that as a side effect. On one driver a reset with a kernel and a `cudaFreeAsync` pending waited and
succeeded; nothing promises it. A free that is dropped leaks: memory of `cudaMallocAsync` that is not freed before the
reset is not given back (4 GiB a round: out of memory at round 34).

## Preconditions

Some operation issued before the reset may not have completed when the host reaches it, on at least one path.

## Refuses

A reset whose place cannot be edited (`site_not_editable`). Memory that only the reset releases is another matter:
`freed_by_device_reset`.

## Example

```cuda
CHECK(cudaFreeAsync(p, s));
CHECK(cudaDeviceReset());
```

Use instead:

```cuda
CHECK(cudaFreeAsync(p, s));
CHECK(cudaDeviceSynchronize());
CHECK(cudaDeviceReset());
```

## Fix safety

Proven: a wait of the host adds order and takes none away.
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
    name="sync_before_reset",
    summary="wait for the device before `cudaDeviceReset` where work may still be pending",
    finds_defects=True,
)


def statements(site: ir.Site) -> list[str]:
    """The host waits for the device."""
    return [text.checked(site, "cudaDeviceSynchronize()")]


DEFECTS = frozenset({Wrong.RESET_PENDING})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """A device sync in front of the reset."""
    reset = v.later.stmt
    if isinstance(reset, ir.Call) and not reset.site.blocked:
        insertion = Insertion(Does.DEVICE_SYNC, key_of(reset), False, ())
        path = reset.span.path
        edits = text.before(reset.site, context.writer(path).synchronize_device(reset.site), context.files[path])
        yield Proposal(Overlay(before={insertion.anchor: insertion.calls(reset)}), tuple(edits))
