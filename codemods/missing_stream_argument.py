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

A call for which no stream in scope keeps the order: it is reported without a fix.

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

from collections.abc import Iterator

from cudafix import ir
from cudafix.codemod import Codemod
from cudafix.findings import Edit
from cudafix.ordering.interpreter.program import Overlay, StreamName, Violation, Wrong, key_of
from cudafix.rewrite.defects import Context, Proposal
from cudafix.rewrite.naming import DEFAULT
from cudafix.rewrite.plan import with_stream

CODEMOD = Codemod(
    name="missing_stream_argument",
    summary="give `cudaFreeAsync` and `cudaMallocAsync` the stream argument that they lack",
    finds_defects=True,
)


DEFECTS = frozenset({Wrong.NO_STREAM_ARGUMENT})


def propose(v: Violation, context: Context) -> Iterator[Proposal]:
    """The streams that can be named there: of the first use, of the allocation, then the legacy stream."""
    call = v.later.stmt
    if not isinstance(call, ir.Call) or call.site.fixed:
        return
    key = key_of(call)
    names: dict[StreamName, None] = {}
    for outcome in context.outcomes:
        site = outcome.frees.get(key) or outcome.allocations.get(key)
        if site is not None:
            for number in sorted(site.objects):
                for stream in outcome.first_use.get(number, ()):
                    name = site.name_of([stream])
                    if name is not None:
                        names[name] = None
    names[DEFAULT] = None
    at = call.arg_spans[-1].end if call.arg_spans else call.close
    for name in names:
        edit = Edit(call.span.path, at, at, f", {context.writer(call.span.path).stream(name)}".encode())
        yield Proposal(Overlay(replaced={key: with_stream(call, name)}), (edit,))
