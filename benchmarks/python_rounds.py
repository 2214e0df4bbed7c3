"""One round of allocation, kernel and free in Python, before and after the migrations, on a GPU.

    python benchmarks/python_rounds.py [--rounds 2000] [--repeats 5] [--json FILE] [CASE ...]

Needs what is to be measured: CuPy, cuda-python (`cuda.bindings`), Numba with numba-cuda, RMM; a package that is missing
gives a line that says so. cudafix is not needed: the manager of the Numba row is `codemods/_cudafix_numba_memory.py`,
looked for beside this file's folder. A round allocates 4 MiB, launches one kernel on it and frees it; the rows of
arrays make two arrays and their sum. Each figure is the median of the repeats, in microseconds a round, behind rounds
that warm up, with a wait for the device at both ends. Every row runs in a process of its own: an allocator or memory
manager is chosen once. Where memory is freed to a pool, the release threshold is the one that the migration sets.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZE = 4 << 20
"""Bytes of one allocation."""
COUNT = SIZE // 4
WARM = 20
SECONDS = 60
MANAGER = Path(__file__).resolve().parent.parent / "codemods" / "_cudafix_numba_memory.py"
KEEP_ALL = 2**64 - 1
"""The release threshold with which a pool gives nothing back."""
SOURCE = (
    'extern "C" __global__ void fill(float *v, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) v[i] = i; }'
)

Round = Callable[[], None]
Setup = Callable[[], tuple[Round, Round]]


def cupy_runtime(asynchronous: bool) -> tuple[Round, Round]:
    """`cupy.cuda.runtime.malloc` and `free`, or their stream-ordered forms."""
    import cupy
    import numpy

    runtime, null = cupy.cuda.runtime, cupy.cuda.Stream.null
    fill = cupy.RawKernel(SOURCE, "fill")
    count = numpy.int32(COUNT)
    if asynchronous:
        pool = runtime.deviceGetDefaultMemPool(0)
        runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, KEEP_ALL)

    def once() -> None:
        pointer = runtime.mallocAsync(SIZE, null.ptr) if asynchronous else runtime.malloc(SIZE)
        fill((COUNT // 256,), (256,), (pointer, count))
        if asynchronous:
            runtime.freeAsync(pointer, null.ptr)
        else:
            runtime.free(pointer)

    return once, runtime.deviceSynchronize


def cupy_arrays(allocator: str) -> tuple[Round, Round]:
    """Two arrays and their sum, with raw memory, the asynchronous pool or CuPy's default pool."""
    import cupy

    if allocator == "none":
        cupy.cuda.set_allocator(None)
    elif allocator == "async":
        cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)

    def once() -> None:
        one = cupy.ones(COUNT, dtype=cupy.float32)
        two = cupy.ones(COUNT, dtype=cupy.float32)
        one + two

    return once, cupy.cuda.runtime.deviceSynchronize


def numba_arrays(manager: str) -> tuple[Round, Round]:
    """`numba.cuda.device_array`, with Numba's own memory, the manager that cudafix ships, or RMM's."""
    from numba import cuda

    if manager == "cudafix":
        spec = importlib.util.spec_from_file_location("cudafix_numba_memory", MANAGER)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cuda.set_memory_manager(module.StreamOrderedMemoryManager)
    elif manager == "rmm":
        import rmm
        from rmm.allocators.numba import RMMNumbaManager

        rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())
        cuda.set_memory_manager(RMMNumbaManager)

    def body(v: Any) -> None:
        i = cuda.grid(1)
        if i < v.size:
            v[i] = i

    fill = cuda.jit(body)

    def once() -> None:
        v = cuda.device_array(COUNT, dtype="float32")
        fill[COUNT // 256, 256](v)

    return once, cuda.synchronize


def cuda_python(binding: str, asynchronous: bool) -> tuple[Round, Round]:
    """`cudaMalloc` and `cudaFree` of `cuda.bindings.runtime`, or the twins of `cuda.bindings.driver`."""
    import ctypes

    from cuda.bindings import driver, nvrtc, runtime

    def check(result: Any) -> Any:
        if int(result[0]):
            raise RuntimeError(str(result[0]))
        return result[1] if len(result) == 2 else result[1:]

    check(runtime.cudaFree(0))  # makes the context
    major, minor = (
        check(runtime.cudaDeviceGetAttribute(getattr(runtime.cudaDeviceAttr, f"cudaDevAttrComputeCapability{part}"), 0))
        for part in ("Major", "Minor")
    )
    program = check(nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"fill.cu", 0, [], []))
    check(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture=sm_{major}{minor}".encode()]))
    cubin = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
    check(nvrtc.nvrtcGetCUBIN(program, cubin))
    fill = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(cubin)), b"fill"))
    if asynchronous:
        attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        pool = check(driver.cuDeviceGetDefaultMemPool(check(driver.cuDeviceGet(0))))
        check(driver.cuMemPoolSetAttribute(pool, attribute, driver.cuuint64_t(KEEP_ALL)))
    names = ("cuMemAlloc", "cuMemFree") if binding == "driver" else ("cudaMalloc", "cudaFree")
    module = driver if binding == "driver" else runtime
    allocate, free = (getattr(module, name + ("Async" if asynchronous else "")) for name in names)
    stream = (0,) if asynchronous else ()
    kinds = (ctypes.c_void_p, ctypes.c_int)

    def once() -> None:
        pointer = check(allocate(SIZE, *stream))
        check(driver.cuLaunchKernel(fill, COUNT // 256, 1, 1, 256, 1, 1, 0, 0, ((int(pointer), COUNT), kinds), 0))
        check(free(pointer, *stream))

    return once, lambda: check(runtime.cudaDeviceSynchronize())


CASES: dict[str, tuple[str, Setup]] = {
    "cupy-runtime": ("`cupy.cuda.runtime.malloc` / `free`", lambda: cupy_runtime(False)),
    "cupy-runtime-async": ("`cupy.cuda.runtime.mallocAsync` / `freeAsync`", lambda: cupy_runtime(True)),
    "cupy-none": ("CuPy arrays, `set_allocator(None)`", lambda: cupy_arrays("none")),
    "cupy-async": ("CuPy arrays, `MemoryAsyncPool`", lambda: cupy_arrays("async")),
    "cupy-default": ("CuPy arrays, the default pool (left alone)", lambda: cupy_arrays("default")),
    "numba": ("Numba `device_array`", lambda: numba_arrays("none")),
    "numba-cudafix": ("Numba with `cudafix_numba_memory.py`", lambda: numba_arrays("cudafix")),
    "numba-rmm": ("Numba with RMM's asynchronous resource", lambda: numba_arrays("rmm")),
    "runtime": ("cuda-python `cudaMalloc` / `cudaFree`", lambda: cuda_python("runtime", False)),
    "runtime-async": ("cuda-python `cudaMallocAsync` / `cudaFreeAsync`", lambda: cuda_python("runtime", True)),
    "driver": ("cuda-python `cuMemAlloc` / `cuMemFree`", lambda: cuda_python("driver", False)),
    "driver-async": ("cuda-python `cuMemAllocAsync` / `cuMemFreeAsync`", lambda: cuda_python("driver", True)),
}


def measure(case: str, rounds: int, repeats: int) -> list[float]:
    """Microseconds a round, once for each repeat."""
    once, wait = CASES[case][1]()
    found = []
    for _ in range(repeats):
        for _ in range(WARM):
            once()
        wait()
        start = time.perf_counter()
        for _ in range(rounds):
            once()
        wait()
        found.append((time.perf_counter() - start) / rounds * 1e6)
    return found


def apart(case: str, rounds: int, repeats: int) -> list[float] | str:
    """The same in a process of its own; one line that says why there are no figures."""
    command = [sys.executable, __file__, "--rounds", str(rounds), "--repeats", str(repeats), "--one", case]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=os.environ)
    except subprocess.TimeoutExpired:
        return f"not finished in {SECONDS} s"
    if run.returncode:
        return (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
    figures: list[float] = json.loads(run.stdout.strip().splitlines()[-1])
    return figures


def table(found: dict[str, list[float] | str]) -> str:
    """Markdown: a row for each case, with the median, and the extremes of the repeats."""
    lines = ["| what | round, µs | least to most |", "|---|---|---|"]
    for case, figures in found.items():
        if isinstance(figures, str):
            lines.append(f"| {CASES[case][0]} | not measured | {figures} |")
        else:
            median = statistics.median(figures)
            lines.append(f"| {CASES[case][0]} | {median:.1f} | {min(figures):.1f} to {max(figures):.1f} |")
    return "\n".join(lines)


def main() -> int:
    """Exit status 1 where a row has no figures, other than for a package that is missing."""
    parser = argparse.ArgumentParser(description="Round times of GPU memory in Python.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all of them if none is named")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    parser.add_argument("--one", choices=CASES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := [case for case in arguments.cases if case not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}")
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.rounds, arguments.repeats)))
        return 0
    found = {case: apart(case, arguments.rounds, arguments.repeats) for case in arguments.cases or CASES}
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))
    missing = "ModuleNotFoundError"
    return int(any(isinstance(figures, str) and not figures.startswith(missing) for figures in found.values()))


if __name__ == "__main__":
    sys.exit(main())
