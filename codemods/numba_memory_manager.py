"""Give the device arrays of a Numba program stream-ordered memory.

## What it does

Installs a memory manager, behind the imports of a script and so before its first CUDA call: RMM's asynchronous
resource where the program imports RMM or its project depends on it (`pyproject.toml`, `setup.cfg`,
`requirements*.txt`, `environment*.yml`), else a small one that is written beside the script as
`cudafix_numba_memory.py`. Before a launch on an external stream, which may not wait for the default stream, that
stream waits for it, and the default stream waits behind the launch.

## Why

Numba allocates device arrays with `cuMemAlloc` and frees them with `cuMemFree`, which waits for the device, in batches.
A round with one array takes 135.3 µs, with a stream-ordered manager 64.6 µs (H200, 4 MiB). The manager works on the
legacy stream, for which streams of `cuda.stream()` wait: make arrays in front of the launches on several streams, not
between them, or the launches run one after another.

## Preconditions

The program allocates again and again (in a loop, or in a function that is called again and again). All of its kernels
and copies run on the default stream or on streams of `cuda.stream()`, which are ordered with the legacy stream that the
manager allocates and frees on; kernels on an external stream get event waits around them. Nothing works on the device
before the manager is installed.

## Refuses

A program that makes its arrays once (`gains_nothing`), external streams that go out of sight (`several_streams`),
several devices (`device_changes`), IPC (`ipc_handle`), other packages that work on the device (`external_library`), but
for CuPy on the null stream, and
scripts where there is no place before the first CUDA call (`site_not_editable`). Modules that no script imports are
passed over: which manager a process has is not theirs to choose.

## Example

```python
from numba import cuda
```

Use instead:

```python
from numba import cuda
from cudafix_numba_memory import StreamOrderedMemoryManager
cuda.set_memory_manager(StreamOrderedMemoryManager)
```

## Fix safety

Proven where the program and what it imports are seen, and the host sees nothing of the device but behind waits of its
own: Numba gives memory back at once or in batches, as its settings say, and waits for the device each time. Questions
about events and streams (but in a loop that only waits for the answer), callbacks, pinned, mapped and managed arrays,
copies to the host on a stream, output of kernels (linked code may have some), clocks (so may packages that no table
describes), and a program that sets the size of the batches are named as assumptions; such a fix is applied only with
`--unsafe`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cudafix.codemod import Codemod
from cudafix.findings import Assumption, Edit, Finding, Place, Refusal, Runs, Safety
from cudafix.frontends.python import conditions, streams
from cudafix.frontends.python.placement import behind_imports, fresh_name, name_of_module
from cudafix.frontends.python.uses import File, PythonProgram, Use
from cudafix.project.prefilter import NOTEBOOK
from cudafix.refusals import REFUSALS

CODEMOD = Codemod(
    name="numba_memory_manager",
    summary="give the device arrays of a Numba program stream-ordered memory",
)


ALLOCATES = ("numba.cuda.device_array", "numba.cuda.device_array_like", "numba.cuda.to_device")
FILE = "cudafix_numba_memory.py"
CLASS = "StreamOrderedMemoryManager"
_CHOSEN = re.compile(rb"NUMBA_CUDA_MEMORY_MANAGER|set_memory_manager")
_BATCHES = re.compile(rb"(?i)DEALLOCS|\bdeallocations\b")  # the program decides when memory is given back


def manager() -> bytes:
    """The text of the manager that is written beside a script."""
    return Path(__file__).with_name(f"_{FILE}").read_bytes()


def examine(program: PythonProgram) -> Iterator[Finding | Refusal]:
    """One finding or refusal for each place where a program makes a device array."""
    sites = [use for use in program.uses() if use.name in ALLOCATES]
    if not program.script or not sites or any(_CHOSEN.search(file.source.data) for file in program.files.values()):
        return
    obstacle = next(_obstacles(program, sites), None)
    edits = _edits(program) if obstacle is None else ()
    if obstacle is None and not edits:
        place = Place(program.main.path, 0, "here")
        text = "there is no place behind the imports and before the first CUDA call"
        obstacle = conditions.Obstacle("site_not_editable", text, place)
    if obstacle is None:
        edits = (*edits, *_waits(program))
    assumed = (*conditions.assumptions(program), *_assumed(program))
    for use in sites:
        at = program.files[use.path].source.span(use.node).start
        runs = Runs.CHURN if program.runs_again(use) else Runs.ONCE
        if obstacle is not None:
            name, text, place = obstacle
            yield Refusal(name, use.path, at, text, REFUSALS[name].unlock, (place,), runs)
            continue
        whose = "RMM" if program.has_rmm else f"`{FILE}`"
        yield Finding(
            CODEMOD.name, use.path, at, f"its memory comes from the manager of {whose}", edits, (), runs,
            Safety.ASSUMES if assumed else Safety.PROVEN, assumed, 1,
        )  # fmt: skip


def _obstacles(program: PythonProgram, sites: list[Use]) -> Iterator[conditions.Obstacle]:
    here = Place(sites[0].path, sites[0].site.span.start, "the first of them")
    if not any(program.runs_again(use) for use in sites):
        yield conditions.Obstacle("gains_nothing", "the program makes its arrays once", here)
    yield from conditions.numba(program)
    for file in list(program.files.values())[1:]:
        for use in file.uses:
            if not use.function and use.name.startswith("numba.cuda.") and not use.name.endswith("jit"):
                place = Place(use.path, use.site.span.start, "here")
                yield conditions.Obstacle("site_not_editable", "an imported module works on the device", place)


def _waits(program: PythonProgram) -> Iterator[Edit]:
    """The waits between the legacy stream, on which the manager works, and external streams."""
    texts = [file.source.data for file in program.files.values()]
    needed, may_catch = streams.needed(texts), streams.catches(texts)
    for file in program.files.values() if needed else ():
        cuda = _cuda(file)
        if cuda is not None and not file.path.endswith(NOTEBOOK):
            events = fresh_name(file, "ready"), fresh_name(file, "done")
            yield from streams.waits(file.path, file.source.data, cuda, events, may_catch)


def _assumed(program: PythonProgram) -> Iterator[Assumption]:
    batches = any(_BATCHES.search(file.source.data) for file in program.files.values())
    if batches or conditions.host_may_look_early(program):
        yield Assumption("host_waits_itself", "")


def _edits(program: PythonProgram) -> tuple[Edit, ...]:
    """The lines behind the imports of the script, and the new file; nothing where there is no place for them."""
    main = program.main
    cuda = _cuda(main)
    at = behind_imports(main, cuda.split(".")[0]) if cuda is not None else None
    if at is None:
        return ()
    if program.has_rmm:
        chosen = any(use.name.startswith(("rmm.reinitialize", "rmm.mr.set_")) for use in program.uses())
        name = name_of_module(main, "rmm")
        lines = ["from rmm.allocators.numba import RMMNumbaManager"]
        if not chosen:
            lines = lines if name is not None else ["import rmm", *lines]
            name = name or "rmm"
            lines.append(f"{name}.mr.set_current_device_resource({name}.mr.CudaAsyncMemoryResource())")
        return (at.insert(*lines, f"{cuda}.set_memory_manager(RMMNumbaManager)"),)
    path = os.path.join(os.path.dirname(main.path), FILE)
    present = program.tree.files.get(path)
    if present is not None and present != manager():
        return ()
    lines = [f"from {FILE.removesuffix('.py')} import {CLASS}", f"{cuda}.set_memory_manager({CLASS})"]
    added = at.insert(*lines)
    return (added,) if present is not None else (added, Edit(path, 0, 0, manager()))


def _cuda(file: File) -> str | None:
    """What the file calls `numba.cuda`."""
    name = name_of_module(file, "numba.cuda")
    if name is None and name_of_module(file, "numba") is not None:
        return f"{name_of_module(file, 'numba')}.cuda"
    return name
