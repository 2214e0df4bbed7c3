"""Move `cudaMalloc` / `cudaFree` pairs to `cudaMallocAsync` / `cudaFreeAsync`.

## What it does

Rewrites an allocation and every free that may meet it, together, to the stream-ordered calls on one stream: the
stream that uses the buffer, else the stream of the first use, else the legacy default stream `0`. `stream` in the
configuration says what the stream is called, as in `"ctx.stream()"`. Where the proof needs it, an event wait or a
stream synchronization is inserted, in the code's own error-check macro and indentation.
Where `cudaFree` itself is the deleter of a smart pointer, a lambda that calls `cudaFreeAsync` takes its place.

With `pools = "fallback"` in the configuration the calls are those of small functions that do without memory pools,
which are defined in front of what uses them. `wrappers = { malloc = "mem::allocate", free = "mem::release" }` has
functions of the project called. They are read, and only what is known to be such a function is called: one that returns
what `cudaMallocAsync` and `cudaFreeAsync` do, or where a function says that the device has no pools, what `cudaMalloc`
and `cudaFree` do.

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

The device has to have memory pools (`cudaDevAttrMemoryPoolsSupported`), which some vGPUs, Windows in TCC mode and old
drivers do not have: `pools = "fallback"` is for these.

Proven, and the text that is written is parsed and proved again. A fix that rests on something unseen names the
assumption and is applied only with `--unsafe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cudafix.codemod import Codemod
from cudafix.findings import Edit
from cudafix.ir import Call
from cudafix.rewrite.naming import spelled
from cudafix.rewrite.statements import Names, shifted

CODEMOD = Codemod(
    name="stream_ordered_pairs",
    summary="move `cudaMalloc` / `cudaFree` pairs to `cudaMallocAsync` / `cudaFreeAsync`",
)


def edits(
    call: Call, stream: str, data: bytes, wrapper: str = "", untyped: bool = False, in_front: Sequence[str] = ()
) -> list[Edit]:
    """The call in its stream-ordered form: `Async` after the name if it is missing, or the name of a `wrapper` in its
    place; the stream as the last argument. To an `untyped` one the address of a pointer is given as a `void **`. Where
    the text has only the name of the function, a lambda that does it, behind the statements `in_front`.
    """
    name, path = call.name_span, call.span.path
    if call.site.named:
        given = spelled(call.args[0])
        body = " ".join((*in_front, f"return {wrapper or 'cudaFreeAsync'}({given}, {stream});"))
        return [Edit(path, name.start, name.end, f"[](void *{given}) {{ {body} }}".encode())]
    start = data.rfind(call.callee.encode(), name.start, name.end)
    at = start + len(call.callee)
    close = call.arg_spans[-1].end if call.arg_spans else call.close
    argument = Edit(path, close, close, f", {stream}".encode())
    if not wrapper:
        if call.callee.endswith("Async"):
            return [argument]
        below = shifted(call.arg_spans[0].start, close, len("Async"), path, data) if call.arg_spans else []
        return [Edit(path, at, at, b"Async"), *below, argument]
    front = data[:start].rstrip()
    start = front.rfind(b"::") if front.endswith(b"::") else start
    first = call.arg_spans[0].start
    cast = [Edit(path, first, first, b"(void **)")] if untyped and data.startswith(b"&", first) else []
    return [Edit(path, start, at, wrapper.encode()), *cast, argument]


_VARIABLES = {
    "T": "PointedTo",
    "pools": "devices_with_pools",
    "found": "pools_found",
    "count": "device_count",
    "device": "device_of_pool",
    "has": "device_has_pool",
    "memory": "stream_memory",
    "size": "memory_size",
    "stream": "memory_stream",
}
"""The names in these functions, and those that they have where macros may have the first ones."""


def fallback(names: Mapping[str, str], own_line: bool, inline: bool, unit: str, variables: Names) -> list[list[str]]:
    """The functions that `names` has names for, as lines: `finds` the devices with memory pools, `asks` whether the
    current one has them, and `cudaMallocAsync` and `cudaFreeAsync`, with what is done where it has none.
    """
    # what inline functions of a header name is one (C++17, 6.2 [basic.def.odr] 6)
    kind = "inline" if inline else "static"
    n = {word: variables.free(word, words) for word, words in _VARIABLES.items()}
    finds = [
        "// the devices that have memory pools, a bit for each: some vGPUs, Windows TCC and old drivers have none",
        f"{kind} unsigned long long {names['finds']}()",
        f"unsigned long long {n['found']} = 0;",
        f"int {n['count']} = 0;",
        f"cudaGetDeviceCount(&{n['count']});",
        f"for (int {n['device']} = 0; {n['device']} < {n['count']} && {n['device']} < 64; {n['device']}++) {{",
        f"{unit}int {n['has']} = 0;",
        f"{unit}cudaDeviceGetAttribute(&{n['has']}, cudaDevAttrMemoryPoolsSupported, {n['device']});",
        f"{unit}{n['found']} |= static_cast<unsigned long long>({n['has']} != 0) << {n['device']};",
        "}",
        f"return {n['found']};",
    ]
    asks = [
        "// whether the current device has memory pools; each device is asked once",
        f"{kind} bool {names['asks']}()",
        f"static const unsigned long long {n['pools']} = {names['finds']}();",
        f"int {n['device']} = 0;",
        f"cudaGetDevice(&{n['device']});",
        f"return {n['device']} < 64 && ({n['pools']} >> {n['device']} & 1) != 0;",
    ]
    test, memory, size, stream = f"{names['asks']}()", n["memory"], n["size"], n["stream"]
    malloc = [
        "// memory that is in the order of a stream where the device has memory pools, else that of all",
        f"template <class {n['T']}>",
        f"{kind} cudaError_t {names.get('cudaMallocAsync')}({n['T']} **{memory}, size_t {size}, cudaStream_t {stream})",
        f"return {test} ? cudaMallocAsync({memory}, {size}, {stream}) : cudaMalloc({memory}, {size});",
    ]
    free = [
        "// the same for giving it back: without memory pools it waits for the device",
        f"{kind} cudaError_t {names.get('cudaFreeAsync')}(void *{memory}, cudaStream_t {stream})",
        f"return {test} ? cudaFreeAsync({memory}, {stream}) : cudaFree({memory});",
    ]
    whole: list[list[str]] = []
    every = (("finds", finds, 2), ("asks", asks, 2), ("cudaMallocAsync", malloc, 3), ("cudaFreeAsync", free, 2))
    for name, lines, head in every:
        if name not in names:
            continue
        opening = [lines[head - 1], "{"] if own_line else [f"{lines[head - 1]} {{"]
        whole.append([*lines[: head - 1], *opening, *(unit + line for line in lines[head:]), "}"])
    return whole
