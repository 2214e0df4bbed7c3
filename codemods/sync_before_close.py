"""Wait for the device before a Python program ends its CUDA context, or trims a pool that several streams use.

## What it does

Inserts a wait for the device in front of Numba's `cuda.close()`, `current_context().reset()` and `device.reset()`, in
front of CuPy's `driver.ctxDestroy` and `driver.devicePrimaryCtxRelease`, and, in a program with several streams, in
front of `free_all_blocks()` of the asynchronous pool.

## Why

`cuda.close()` destroys the context at once: with a kernel pending, what it writes is lost, and finalizers that run
afterwards find no context (2,802 reports of the race detector in one program, and `CUDA_ERROR_CONTEXT_IS_DESTROYED`).
`MemoryAsyncPool.free_all_blocks()` waits for the current stream only, so what was freed on other streams stays in the
pool. That of CuPy's default pool is a `cudaFree`, which waits for the device, and is left alone.

## Preconditions

Work of the program is issued in the same function or in one that it calls, and no wait for the device stands between
that work and the call on every path.

## Refuses

Nothing on its own; a call that shares its line with others is reported without a fix.

## Example

```python
square[grid, block](d_v)
cuda.close()
```

Use instead:

```python
square[grid, block](d_v)
cuda.synchronize()
cuda.close()
```

## Fix safety

Proven: a wait of the host adds order and takes none away.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix.codemod import Codemod
from cudafix.findings import Edit, Finding, Place, Refusal
from cudafix.frontends.python.placement import name_of_module
from cudafix.frontends.python.source import Source
from cudafix.frontends.python.uses import LAUNCH, File, PythonProgram, Use

CODEMOD = Codemod(
    name="sync_before_close",
    summary="wait for the device before a Python program ends its CUDA context",
    finds_defects=True,
)


NUMBA = (
    "numba.cuda.close",
    "numba.cuda.current_context().reset",
    "numba.cuda.get_current_device().reset",
    "numba.cuda.current_context().device.reset",
    "numba.cuda.gpus[].reset",
    "numba.cuda.cudadrv.devices.reset",
)
CUPY = (
    "cupy.cuda.driver.ctxDestroy",
    "cupy.cuda.driver.devicePrimaryCtxRelease",
)
RELEASES = ("cupy.cuda.MemoryAsyncPool().free_all_blocks",)
WAITS = (
    "numba.cuda.synchronize",
    "numba.cuda.current_context().synchronize",
    "cupy.cuda.Device().synchronize",
    "cupy.cuda.runtime.deviceSynchronize",
    "cuda.bindings.runtime.cudaDeviceSynchronize",
    "cuda.bindings.driver.cuCtxSynchronize",
)
# a copy on the default stream, which waits for the streams of `cuda.stream()`
_COPIES_BACK = ".copy_to_host"
STREAMS = ("cupy.cuda.Stream", "cupy.cuda.ExternalStream")
_NO_WORK = ("cupy.cuda.", "cupy.get_", "cupy.show_", "cupy.is_available")


def examine(program: PythonProgram) -> Iterator[Finding | Refusal]:
    """One finding for each call that may meet work that is pending."""
    streams = [use for use in program.uses() if use.name in STREAMS]
    several = len(streams) > 1 or any(program.runs_again(use) for use in streams)
    for file in program.files.values():
        by_function: dict[str, list[Use]] = {}
        for use in file.uses:
            by_function.setdefault(use.function, []).append(use)
        for uses in by_function.values():
            for number, use in enumerate(uses):
                ends = use.name in NUMBA or use.name in CUPY
                if ends or (several and use.name in RELEASES):
                    work = _pending(program, uses[:number], use)
                    if work is not None:
                        yield _finding(file, use, work)


def _pending(program: PythonProgram, before: list[Use], end: Use) -> Use | None:
    """The last work that no wait for the device is certain to stand behind; in a loop, that of an earlier round."""
    one_stream = len([use for use in program.uses() if use.name == "numba.cuda.stream"]) == 1
    for use in reversed(before):
        waits = use.name in WAITS or (one_stream and use.name == "numba.cuda.stream().synchronize")
        if use.name.endswith(_COPIES_BACK) and end.name in NUMBA and use.argument(1, "stream") is None:
            waits = True
        if waits and (use.certain or (use.site.indent == end.site.indent and not end.certain)):
            return None
        found = _work(program, use, 4)
        if found is not None:
            return found
    return None


def _work(program: PythonProgram, use: Use, depth: int) -> Use | None:
    """What a call issues and does not wait for, if it is of the program, or works on the device itself."""
    if use.name == LAUNCH or (use.name.startswith("cupy.") and not use.name.startswith(_NO_WORK)):
        return use
    if use.name.startswith(("cupy.RawKernel()", "cupy.ElementwiseKernel()", "cupy.ReductionKernel()")):
        return use
    if use.own and depth:
        inner = [one for one in program.uses() if one.function == use.name]
        for one in reversed(inner):
            if one.name in WAITS and one.certain:
                return None
            found = _work(program, one, depth - 1)
            if found is not None:
                return found
    return None


def _finding(file: File, use: Use, work: Use) -> Finding:
    last = use.name.rpartition(".")[2]
    related = (Place(work.path, work.site.span.start, "what this starts may still run"),)
    wait = _wait(file, use)
    at = file.source.span(use.node).start
    edits: tuple[Edit, ...] = ()
    if wait is not None and use.site.blocked is None:
        edits = (_before(file.source, use, wait),)
    return Finding(CODEMOD.name, use.path, at, f"work may be pending when `{last}` is called", edits, related)


def _before(source: Source, use: Use, line: str) -> Edit:
    start = use.site.span.start
    return Edit(use.path, start, start, f"{line}{source.module.default_newline}{use.site.indent}".encode())


def _wait(file: File, use: Use) -> str | None:
    """A wait for the device in the file's own names."""
    if use.name in NUMBA:
        for dotted, tail in (("numba.cuda", ""), ("numba", ".cuda")):
            name = name_of_module(file, dotted)
            if name is not None:
                return f"{name}{tail}.synchronize()"
        return None
    for dotted, tail in (("cupy.cuda", ""), ("cupy", ".cuda")):
        name = name_of_module(file, dotted)
        if name is not None:
            return f"{name}{tail}.Device().synchronize()"
    return None
