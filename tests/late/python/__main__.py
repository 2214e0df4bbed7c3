"""Runs a program in many orders, each in a process of its own: `python -m tests.late.python PROGRAM ORDER…`.

Prints a line of JSON for each order: how the process ended, what it wrote, how many blocks of memory were left.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import dataclasses
import datetime
import gc
import io
import json
import os
import queue
import runpy
import signal
import sys
import tempfile
import threading
import time
import traceback
import types
import typing
from pathlib import Path

from tests.late.python import core, cupy, driver, numba, numpy, nvrtc, runtime
from tests.late.python.device import the

SECONDS = 10
NOT_MODELLED = 76  # the program uses what no stand-in has
# What programs import: it is loaded once, and before the clocks are replaced.
LOADED = (asyncio, concurrent.futures, contextlib, dataclasses, datetime, queue, typing)


def install() -> None:
    """The stand-ins, under the names of the packages."""
    modules = {
        "numpy": numpy,
        "cuda": types.ModuleType("cuda"),
        "cuda.bindings": types.ModuleType("cuda.bindings"),
        "cuda.bindings.runtime": runtime,
        "cuda.bindings.driver": driver,
        "cuda.bindings.nvrtc": nvrtc,
        "cuda.cudart": runtime,
        "cuda.cuda": driver,
        "cuda.nvrtc": nvrtc,
        "cuda.core": core,
        "cuda.core.experimental": core,
        "cupy": cupy,
        "cupy.cuda": cupy.cuda,
        "cupy.cuda.runtime": cupy.runtime,
        "cupy.cuda.memory": cupy.cuda,
        "cupy.cuda.stream": cupy.cuda,
        "cupyx": cupy.cupyx,
        "numba": numba.numba,
        "numba.cuda": numba,
        "numba.cuda.cudadrv": numba.cudadrv,
        "numba.cuda.cudadrv.driver": numba.cudadrv.driver,
    }
    for name, module in modules.items():
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(modules[parent], last, module)


def set_clocks() -> None:
    """The clocks of the host show one millisecond for each operation that has run; waits of Python keep theirs."""
    kept = types.ModuleType("time")
    kept.__dict__.update(time.__dict__)
    asyncio.base_events.time = kept  # type: ignore[attr-defined]
    for name in ("time", "monotonic", "perf_counter", "process_time"):
        setattr(time, name, lambda: the.ran / 1000)
        setattr(time, f"{name}_ns", lambda: the.ran * 1_000_000)


def perform(program: Path) -> int:
    """The program to its end; returns its exit code."""
    sys.argv = [str(program)]
    sys.path.insert(0, str(program.parent))
    code = 0
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        traceback.print_exc()
        missing = isinstance(error, NotImplementedError) or "tests.late.python" in str(error)
        code = NOT_MODELLED if missing else 1
    numba.forget_deallocations()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    return code


def run(program: Path, order: str) -> dict[str, object]:
    with tempfile.TemporaryFile("w+") as shown, tempfile.TemporaryFile("w+") as left:
        child = os.fork()
        if not child:
            os.dup2(shown.fileno(), 1)
            sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            code = 1
            try:
                the.start(order)
                code = perform(program)
                left.write(str(the.finish()))
                left.flush()
                sys.stdout.flush()
            finally:
                os._exit(code & 0xFF)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        shown.seek(0)
        left.seek(0)
        return {"code": max(code, -1), "output": shown.read(), "left": left.read()}


def main() -> None:
    install()
    set_clocks()
    sys.setrecursionlimit(20_000)
    sys.dont_write_bytecode = True
    program = Path(sys.argv[1])
    for order in sys.argv[2:]:
        print(json.dumps(run(program, order)), flush=True)


if __name__ == "__main__":
    main()
