"""Give CuPy arrays that use raw memory the stream-ordered pool.

## What it does

Rewrites `set_allocator(None)` and `using_allocator(None)`, which make every array a `cudaMalloc` and a `cudaFree`, to
`MemoryAsyncPool().malloc`; the pool is made once. `Memory(n)` becomes `MemoryAsync(n, Stream.null)`. CuPy's default
pool and pools that the program chooses are left alone: in steady state they do not block.

## Why

Two arrays and their sum take 194.8 µs a round with raw memory, 19.9 µs with the asynchronous pool, and 15.4 µs with
the default pool (H200, 4 MiB). The asynchronous pool shares its memory with everything else on the device that uses
`cudaMallocAsync`, which the default pool does not.

## Preconditions

The arrays of the program are made on the null stream of one device, which orders the allocation, the uses and the
release of each. Kernels may be launched on other streams: a stream that does not wait for the null stream by itself
(`non_blocking=True`) waits for it before the launch, and the null stream for it behind the launch, through events. The
host sees no memory that is still being written: no pinned, managed or mapped memory, no copy with
`blocking=False`, no output of kernels. The pool is made where a script begins.

## Refuses

Streams that go out of sight, or on which more than kernels is run (`several_streams`), several devices
(`device_changes`), host memory in flight (`host_memory_in_flight`), other packages that work on the device
(`external_library`), handlers of errors that the pool raises otherwise (`async_pool_differs`), a module that no script
imports (`unseen_caller`), and allocators of the program's own, `PythonFunctionAllocator` and `CFunctionAllocator`
(`foreign_allocator`).

## Example

```python
cp.cuda.set_allocator(None)
```

Use instead:

```python
cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)
```

## Fix safety

Proven where the program and what it imports are seen. Packages that are not seen, clocks that may have measured the
wait of a release (a package that no table describes may have one), and kernels that trap or whose text is not seen, as
it is no literal or includes other files, are named as assumptions; such a fix is applied only with `--unsafe`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from cudafix.codemod import Codemod
from cudafix.findings import Edit, Finding, Place, Refusal, Safety
from cudafix.frontends.python import conditions, streams
from cudafix.frontends.python.meaning import Dotted
from cudafix.frontends.python.placement import behind_imports, fresh_name, name_of_module
from cudafix.frontends.python.uses import File, PythonProgram, Use
from cudafix.project.prefilter import NOTEBOOK
from cudafix.refusals import REFUSALS

CODEMOD = Codemod(
    name="cupy_async_allocator",
    summary="give CuPy arrays that use raw memory the stream-ordered pool",
)


SETTERS = ("cupy.cuda.set_allocator", "cupy.cuda.using_allocator", "cupy.cuda.memory.set_allocator")
RAW = ("cupy.cuda.Memory", "cupy.cuda.memory.Memory")
FOREIGN = ("PythonFunctionAllocator", "CFunctionAllocator")


def examine(program: PythonProgram) -> Iterator[Finding | Refusal]:
    """One finding or refusal for each place where a program asks for raw memory."""
    sites = [use for use in program.uses() if _is_raw(use)]
    for use in program.uses():
        if use.name.startswith("cupy.cuda.") and use.name.endswith(FOREIGN):
            yield _refusal("foreign_allocator", use, "the program brings an allocator of its own", ())
    if not sites:
        return
    obstacle = next(conditions.cupy(program), None)
    if obstacle is None and not program.script:
        text = "no script of the tree imports this module: what else it works with is not seen"
        obstacle = conditions.Obstacle("unseen_caller", text, Place(sites[0].path, sites[0].site.span.start, "here"))
    assumed = tuple(conditions.assumptions_of_cupy(program))
    waits = _waits(program) if obstacle is None else ()
    # in a file that needs the pool ahead in one place, all places use that one
    ahead = {use.path for use in sites if use.name in RAW or not _is_once(program, use)}
    pools: dict[str, str] = {}
    for use in sites:
        if obstacle is not None:
            yield _refusal(obstacle.name, use, obstacle.text, (obstacle.place,))
            continue
        edits = _edits(program.files[use.path], use, use.path in ahead, pools)
        if not edits:
            yield _refusal("site_not_editable", use, "the file has no name for `cupy` there", ())
            continue
        safety = Safety.ASSUMES if assumed else Safety.PROVEN
        at = use.site.span.start if use.context else program.files[use.path].source.span(use.node).start
        yield Finding(
            CODEMOD.name,
            use.path,
            at,
            "its memory comes from the stream-ordered pool",
            (*edits, *waits),
            (),
            None,
            safety,
            assumed,
            int(bool(waits)),
        )


def _waits(program: PythonProgram) -> tuple[Edit, ...]:
    """The waits between the null stream, on which arrays are made and freed, and the streams that work on them."""
    edits: list[Edit] = []
    texts = [file.source.data for file in program.files.values()]
    needed, may_catch = streams.needed(texts), streams.catches(texts)
    for file in program.files.values() if needed else ():
        cuda = _cuda(file)
        if cuda is not None and not file.path.endswith(NOTEBOOK):
            edits += streams.waits(file.path, file.source.data, cuda, None, may_catch)
    return tuple(edits)


def _is_raw(use: Use) -> bool:
    if use.name in RAW:
        return True
    if use.name not in SETTERS:
        return False
    given = use.argument(0, "allocator")
    if given is None or (isinstance(given, cst.Name) and given.value == "None"):
        return not any(argument.star for argument in use.node.args)
    return use.resolver.meaning(given) == Dotted("cupy.cuda.memory._malloc")


def _refusal(name: str, use: Use, text: str, related: tuple[Place, ...]) -> Refusal:
    return Refusal(name, use.path, use.site.span.start, text, REFUSALS[name].unlock, related)


def _is_once(program: PythonProgram, use: Use) -> bool:
    """Whether a place is reached once in a run, as its own file shows."""
    here = all(call.path == use.path for call in program.calls_of(use.function))
    return here and not program.runs_again(use)


def _edits(file: File, use: Use, is_ahead: bool, pools: dict[str, str]) -> tuple[Edit, ...]:
    """The changed call, and the pool where it has to be made ahead; nothing where it cannot be written."""
    source = file.source
    cuda = _cuda(file)
    if cuda is None:
        return ()
    ahead = _pool(file, cuda, pools) if is_ahead else ()
    if is_ahead and not ahead:
        return ()
    if use.name in RAW:
        if len(use.node.args) != 1 or use.argument(0, "size") is None:
            return ()
        name, close = source.span(use.node.func).end, source.span(use.node.args[0]).end
        word = "stream=" if use.node.args[0].keyword is not None else ""
        stream = Edit(use.path, close, close, f", {word}{cuda}.Stream.null".encode())
        return (*ahead, Edit(use.path, name, name, b"Async"), stream)
    pool = pools[use.path] if is_ahead else f"{cuda}.MemoryAsyncPool()"
    given = use.argument(0, "allocator")
    if given is not None:
        place = source.span(given)
        return (*ahead, Edit(use.path, place.start, place.end, f"{pool}.malloc".encode()))
    end = source.span(use.node).end - 1
    return (*ahead, Edit(use.path, end, end, f"{pool}.malloc".encode()))


def _pool(file: File, cuda: str, pools: dict[str, str]) -> tuple[Edit, ...]:
    """A pool that is made once, behind the imports. Making it raises the release threshold on every device."""
    at = behind_imports(file, cuda.split(".")[0])
    if at is None:
        return ()
    if file.path not in pools:
        pools[file.path] = fresh_name(file, "async_pool")
    return (at.insert(f"{pools[file.path]} = {cuda}.MemoryAsyncPool()"),)


def _cuda(file: File) -> str | None:
    """What the file calls `cupy.cuda`."""
    for dotted, tail in (("cupy.cuda", ""), ("cupy", ".cuda")):
        name = name_of_module(file, dotted)
        if name is not None:
            return name + tail
    return None
