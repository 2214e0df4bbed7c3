"""Move `cudaMalloc` / `cudaFree` pairs of Python programs to the stream-ordered calls.

## What it does

Rewrites an allocation and every free that may meet it, together: `cudaMalloc` and `cudaFree` of cuda-python's runtime
bindings, `cuMemAlloc` and `cuMemFree` of its driver bindings, `malloc` and `free` of `cupy.cuda.runtime`. The call gets
`Async` at its name and the stream as its last argument; what it returns, and the check function around it, stay. Waits
and the release threshold of the pool are written in the file's own words.

## Why

What holds for `cudaFree` holds for its bindings: it waits until the whole device is idle. A round of `malloc`, one
kernel and `free` through CuPy's runtime module takes 65.4 µs, with the stream-ordered calls 6.4 µs (H200, 4 MiB).

## Preconditions

The same as for CUDA C++ (`cudafix explain stream_ordered_pairs`), proved by the same engine on the same rules.

## Refuses

Whatever it cannot prove, by name. Of Python alone: a free that `__del__` reaches (`finalizer`), generators and
coroutines that allocate or free (`generator`, `coroutine`), pointers that go to a package that no table describes
(`unknown_call`), and functions that are imported without their module (`site_not_editable`).

## Example

```python
p = check(cudart.cudaMalloc(n))
check(cudart.cudaMemsetAsync(p, 0, n, stream))
check(cudart.cudaFree(p))
```

Use instead:

```python
p = check(cudart.cudaMallocAsync(n, stream))
check(cudart.cudaMemsetAsync(p, 0, n, stream))
check(cudart.cudaFreeAsync(p, stream))
```

## Fix safety

Proven, and the text that is written is parsed and proved again. A fix that rests on something unseen names the
assumption and is applied only with `--unsafe`.
"""

from __future__ import annotations

from cudafix.codemod import Codemod
from cudafix.findings import Edit
from cudafix.ir import Call

CODEMOD = Codemod(
    name="python_stream_ordered_pairs",
    summary="move `cudaMalloc` / `cudaFree` pairs of cuda-python and CuPy to the stream-ordered calls",
)


def edits(call: Call, stream: str, data: bytes) -> list[Edit]:
    """The call in its stream-ordered form: `Async` after the name, the stream as the last argument."""
    path, at = call.span.path, call.name_span.end
    close = call.arg_spans[-1].end if call.arg_spans else call.close
    while data[close : close + 1] == b")" and close < call.close:  # parentheses around the last argument
        close += 1
    return [Edit(path, at, at, b"Async"), Edit(path, close, close, f", {stream}".encode())]
