"""Arrays of CuPy and Numba on several streams: which waits are written, what goes out of sight, what is rejected."""

from __future__ import annotations

import textwrap

import pytest

from cudafix.findings import Edit
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.rewrite import edits

CUPY = """\
import cupy as cp
import numpy as np
k = cp.RawKernel("", "k")
def main():
    cp.cuda.set_allocator(None)
    s = cp.cuda.Stream(non_blocking=True)
    t = cp.cuda.Stream(non_blocking=True)
    x = cp.zeros(10)
{body}
if __name__ == "__main__":
    main()
"""
NUMBA = """\
import numpy as np
from numba import cuda
@cuda.jit
def k(v, n):
    v[0] = n
def main():
    s = cuda.external_stream(5)
    b = cuda.stream()
    for n in range(9):
        v = cuda.to_device(np.zeros(10))
{body}
if __name__ == "__main__":
    main()
"""
LAUNCH = "k((1,), (1,), (x, np.int32(3)), stream=s)"
OPEN, CLOSE = "s.wait_event(cp.cuda.Stream.null.record())", "cp.cuda.Stream.null.wait_event(s.record())"
READY = ["ready = cuda.event(timing=False)", "ready.record(cuda.legacy_default_stream())", "ready.wait(s)"]
DONE = ["done = cuda.event(timing=False)", "done.record(s)", "done.wait(cuda.legacy_default_stream())"]


def program(template: str, body: str) -> dict[str, bytes]:
    indent = "    " if template is CUPY else " " * 8
    return {"main.py": template.format(body=textwrap.indent(textwrap.dedent(body).strip(), indent)).encode()}


def rewritten(files: dict[str, bytes]) -> dict[str, bytes]:
    report = analyze(files, Config())
    assert [refusal.message for refusal in report.refusals] == []
    by_path: dict[str, dict[Edit, None]] = {}
    for finding in report.findings:
        for edit in finding.edits:
            by_path.setdefault(edit.path, {})[edit] = None
    return files | {path: edits.apply(files.get(path, b""), list(found)) for path, found in by_path.items()}


def added(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    old = before["main.py"].decode().splitlines()
    setup = ("cuda.set_memory_manager", "from cudafix_numba", "cp.cuda.set_allocator")
    new = [line for line in after["main.py"].decode().splitlines() if line not in old]
    return [line.strip() for line in new if not line.strip().startswith(setup)]


@pytest.mark.parametrize(
    ("template", "body", "waits"),
    [
        (CUPY, LAUNCH, [OPEN, CLOSE]),
        (CUPY, f"with s:\n    {LAUNCH.replace(', stream=s', '')}", [OPEN, CLOSE]),
        (CUPY, f"{LAUNCH}\ns.synchronize()", [OPEN]),
        (CUPY, f"cp.cuda.Stream.null.synchronize()\n{LAUNCH}\ns.synchronize()", []),
        (CUPY, f"cp.cuda.Device().synchronize()\n{LAUNCH}  # here", [CLOSE]),
        (CUPY, f"{LAUNCH}\ncp.cuda.Device().synchronize()", [OPEN]),
        (CUPY, f"{LAUNCH}\ny = x + 1\ns.synchronize()", [OPEN, CLOSE]),
        (CUPY, f"{LAUNCH}\n{LAUNCH}", [OPEN, CLOSE]),
        (CUPY, f"{LAUNCH}\n{LAUNCH.replace('=s', '=t')}", [OPEN, "t" + OPEN[1:], CLOSE, CLOSE.replace("s.re", "t.re")]),
        (CUPY, f"try:\n    {LAUNCH}\n    {LAUNCH}\nexcept ValueError:\n    pass", [OPEN, CLOSE, OPEN, CLOSE]),
        (CUPY, "u = cp.cuda.Stream()\nk((1,), (1,), (x,), stream=u)", []),
        (CUPY, f"e = s.record()\nt.wait_event(e)\n{LAUNCH}", [OPEN, CLOSE]),
        (NUMBA, "k[1, 1, s](v, n)", [*READY, *DONE]),
        (NUMBA, "k[1, 1, s](v, 3)\ns.synchronize()", READY),
        (NUMBA, "k[1, 1, s](v, 3)\nk[1, 1, s](v, 4)", [*READY, *DONE]),
        (NUMBA, "cuda.synchronize()\nk[1, 1, s](v, 3)\ncuda.synchronize()", []),
        (NUMBA, "k[1, 1, b](v, n)\nk[1, 1](v, n)", []),
        (NUMBA, "ready = 1\nk[1, 1, s](v, n)", [line.replace("ready", "ready_") for line in READY] + DONE),
    ],
)
def test_a_launch_stands_between_two_waits(template: str, body: str, waits: list[str]) -> None:
    before = program(template, body)
    after = rewritten(before)
    assert added(before, after) == waits
    assert prove(before, after) == []
    assert rewritten(after) == after
    text = after["main.py"].decode()
    for wait in waits:  # each is needed
        lines = text.splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if line.strip() == wait)
        assert prove(before, after | {"main.py": "".join(lines[:at] + lines[at + 1 :]).encode()}), wait


@pytest.mark.parametrize(
    ("template", "body"),
    [
        (CUPY, "with s:\n    y = x + 1"),
        (CUPY, "s.use()"),
        (CUPY, f"u = s\n{LAUNCH}"),
        (CUPY, "f(s)"),
        (CUPY, "h = cp.asnumpy(x, stream=s)"),
        (CUPY, "k((1,), (1,), (x + 1,), stream=s)"),
        (CUPY, "k((1,), (1,), (x[x > 0],), stream=s)"),
        (CUPY, "k((1,), (1,), (cp.ones(3),), stream=s)"),
        (CUPY, "k((1,), (1,), (x.imag,), stream=s)"),
        (CUPY, "e = cp.ElementwiseKernel('', '', '', '')\ny = e(x, stream=s)"),
        (CUPY, "s = None\n" + LAUNCH),
        (CUPY, "all = [cp.cuda.Stream(non_blocking=True) for _ in range(3)]"),
        (CUPY, "make = cp.cuda.Stream\nu = make(non_blocking=True)"),
        (CUPY, "flag = bool(x)\nu = cp.cuda.Stream(non_blocking=flag)"),
        (CUPY, f"if x[0]: {LAUNCH}"),
        (CUPY, f"import threading\n{LAUNCH}"),
        (CUPY, f"from concurrent.futures import ThreadPoolExecutor\n{LAUNCH}"),
        (CUPY, f"import multiprocessing.dummy\n{LAUNCH}"),
        (CUPY, f"import asyncio\n{LAUNCH}"),
        (CUPY, "with other.stream:\n    k((1,), (1,), (x,))"),
        (NUMBA, "k[1, 1, s](np.zeros(3), n)"),
        (NUMBA, "k[1, 1, s](v.T, n)"),
        (NUMBA, "h = np.zeros(3)\nk[1, 1, s](h, n)"),
        (NUMBA, "v.copy_to_host(stream=s)"),
        (NUMBA, "h = cuda.to_device(np.zeros(3), s)"),
        (NUMBA, "launch = k[1, 1, s]\nlaunch(v, n)"),
        (NUMBA, "k.forall(9, stream=s)(v, n)"),
        (NUMBA, "q = pick(s)\nk[1, 1, q](v, n)"),
    ],
)
def test_a_stream_that_goes_out_of_sight_keeps_the_memory(template: str, body: str) -> None:
    report = analyze(program(template, body), Config())
    assert not report.findings
    assert {refusal.name for refusal in report.refusals} <= {"several_streams", "several_host_threads"}
    assert report.refusals


@pytest.mark.parametrize(
    "bad",
    [
        f"{LAUNCH}\n{OPEN}\n{CLOSE}",
        f"{OPEN}\ny = x + 1\n{LAUNCH}\n{CLOSE}",
        f"{OPEN}\n{LAUNCH}\ny = x + 1\n{CLOSE}",
        f"{OPEN}\n{LAUNCH}\n{CLOSE.replace('s.re', 't.re')}",
        f"s.wait_event(t.record())\n{LAUNCH}\n{CLOSE}",
        f"if x is None:\n    {OPEN}\n{LAUNCH}\n{CLOSE}",
    ],
)
def test_waits_in_other_places_are_rejected(bad: str) -> None:
    body = bad.replace(OPEN, "pass").replace(CLOSE, "pass").replace("s.wait_event(t.record())", "pass")
    before = program(CUPY, body)
    after = program(CUPY.replace("set_allocator(None)", "set_allocator(cp.cuda.MemoryAsyncPool().malloc)"), bad)
    assert prove(before, after)


def test_streams_of_another_module_are_not_followed() -> None:
    made = "import cupy as cp\nimport streams\ncp.cuda.set_allocator(None)\nx = cp.zeros(3)\n"
    text = f"{made}with streams.one:\n    y = x\n"
    files = {"main.py": text.encode(), "streams.py": b"import cupy as cp\none = cp.cuda.Stream(non_blocking=True)\n"}
    assert [refusal.name for refusal in analyze(files, Config()).refusals] == ["several_streams"]
