"""Move `cudaMalloc` / `cudaFree` pairs to `cudaMallocAsync` / `cudaFreeAsync`.

## What it does

Rewrites an allocation and every free that may meet it, together, to the stream-ordered calls on one stream: the
stream that uses the buffer, else the stream of the first use, else the legacy default stream `0`. Where the proof
needs it, an event wait or a stream synchronization is inserted, in the code's own error-check macro and indentation.
Where `cudaFree` itself is the deleter of a smart pointer, a lambda that calls `cudaFreeAsync` takes its place.

## Why

`cudaFree` of `cudaMalloc` memory waits until the whole device is idle: 300 ms behind a 300 ms kernel, on whatever
stream it runs. Three 1 MiB buffers allocated, used and freed take 119.8 µs a round with the blocking calls and 10.3
µs with the stream-ordered ones. A pair that runs once gains nothing, and the first `cudaMallocAsync` of a process
costs 5.5 ms, so each pair is labelled `churn` or `once`; `--only churn` leaves the second kind alone.

## Preconditions

Every order between conflicting operations that the original program guarantees still holds: between a use and the
release, between two streams that touch other memory, and between device work and what the host sees afterwards
(pinned, managed and mapped memory, device `printf`, error codes, clocks, the end of the process).

## Refuses

Whatever it cannot prove, by name: `cudafix explain` lists the refusals. Managed, pinned, pitched and array memory,
`cudaFree(0)`, and device-side calls of the same names are never candidates.

## Example

```cuda
CHECK(cudaMalloc(&p, n));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFree(p));
```

Use instead:

```cuda
CHECK(cudaMallocAsync(&p, n, s));
scale<<<grid, block, 0, s>>>(p);
CHECK(cudaFreeAsync(p, s));
```

## Fix safety

Proven, and the text that is written is parsed and proved again. A fix that rests on something unseen names the
assumption and is applied only with `--unsafe`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudafix.codemod import Codemod
from cudafix.findings import Edit
from cudafix.ir import Call
from cudafix.rewrite.naming import spelled

CODEMOD = Codemod(
    name="stream_ordered_pairs",
    summary="move `cudaMalloc` / `cudaFree` pairs to `cudaMallocAsync` / `cudaFreeAsync`",
)


def edits(call: Call, stream: str, data: bytes, in_front: Sequence[str] = ()) -> list[Edit]:
    """The call in its stream-ordered form: `Async` after the name if it is missing, the stream as the last argument.
    Where the text has only the name of the function, a lambda that does it, behind the statements `in_front`.
    """
    name, path = call.name_span, call.span.path
    if call.site.named:
        given = spelled(call.args[0])
        body = " ".join((*in_front, f"return cudaFreeAsync({given}, {stream});"))
        return [Edit(path, name.start, name.end, f"[](void *{given}) {{ {body} }}".encode())]
    at = data.rfind(call.callee.encode(), name.start, name.end) + len(call.callee)
    close = call.arg_spans[-1].end if call.arg_spans else call.close
    name_edits = [] if call.callee.endswith("Async") else [Edit(path, at, at, b"Async")]
    return [*name_edits, Edit(path, close, close, f", {stream}".encode())]
