"""The judge tells a right rewrite from wrong ones, of a program in which the host relies on the wait of `cudaFree`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.late.judge import Judge, build_runtime, with_calls
from tests.late.python.kernels import kernels

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="each order is a process that is forked")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the judge compiles with g++")

PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>

__global__ void put(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }

int main()
{
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    int *h, *d;
    cudaMallocHost(&h, 256);
    cudaMalloc(&d, 256);
    put<<<1, 64, 0, a>>>(d, 7);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, a);
    cudaFree(d);
    printf("%d\\n", h[5]);
    return 0;
}
"""


def rewritten(release: str) -> str:
    """The program with its pair on stream `a`, and `release` in place of `cudaFree`."""
    return PROGRAM.replace("cudaMalloc(&d, 256)", "cudaMallocAsync(&d, 256, a)").replace("cudaFree(d);", release)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    folder = tmp_path_factory.mktemp("late")
    build_runtime(folder)
    return Judge({"main.cu": PROGRAM}, folder, folder)


@needs_compiler
@pytest.mark.parametrize(
    ("after", "kind", "shown"),
    [
        pytest.param(rewritten("cudaStreamSynchronize(a); cudaFreeAsync(d, a);"), "right", "12", id="waits"),
        pytest.param(rewritten("cudaFreeAsync(d, b);"), "wrong", "poisoned access", id="freed_on_another_stream"),
    ],
)
def test_verdict(after: str, kind: str, shown: str, judge: Judge) -> None:
    verdict = judge.verdict({"main.cu": after})
    assert verdict.kind == kind
    assert shown in verdict.why


@pytest.mark.parametrize(
    ("launch", "call"),
    [
        ("k<<<1, f(2, 3)>>>(p)", "late::launch(late::Config(1, f(2, 3)), k)(p)"),
        ("ns::k<int, 4><<<g, b>>>(p)", "late::launch(late::Config(g, b), ns::k<int, 4>)(p)"),
        ("if (x) table[i]<<<g, b, 0, s>>>(p)", "if (x) late::launch(late::Config(g, b, 0, s), table[i])(p)"),
    ],
)
def test_launches_become_calls(launch: str, call: str) -> None:
    assert with_calls(launch) == call


PAIRS = Path(__file__).parents[2] / "fixtures" / "python_stream_ordered_pairs"


def program(case: str, folder: str) -> dict[str, str]:
    """A fixture, with a quarter of the threads."""
    files = sorted((PAIRS / case / folder).glob("*.py"))
    return {file.name: file.read_text().replace("n = 1024", "n = 256") for file in files}


@needs_fork
@pytest.mark.parametrize(
    ("case", "wrong", "shown"),
    [
        ("pinned_result_is_read_after_the_free", "sync_of_the_legacy_stream", "FAIL"),
        ("pair_in_a_loop_moves_to_its_stream", "allocated_on_a_stream_that_is_destroyed", "destroyed stream"),
        ("cupy_pair_moves_to_the_current_stream", "copied_on_another_stream", "poisoned access"),
    ],
)
def test_python(case: str, wrong: str, shown: str, tmp_path: Path) -> None:
    judge = Judge(program(case, "before"), tmp_path, tmp_path)
    assert judge.verdict(program(case, "after")).kind == "right"
    verdict = judge.verdict(program(case, f"wrong/{wrong}"))
    assert verdict.kind == "wrong"
    assert shown in verdict.why


@needs_fork
def test_what_no_stand_in_has_is_not_judged(tmp_path: Path) -> None:
    text = "from cuda.bindings import runtime\nruntime.cudaIpcGetMemHandle(0)\n"
    assert Judge({"main.py": text}, tmp_path, tmp_path).verdict({}).kind == "broken"


def test_kernels_become_functions() -> None:
    text = """
    __global__ void sums(int *to, const float *from, int n) {
        int total = 7 / 2;
        for (int i = 0; i < n; i++) {
            if (i == 1) continue;
            total += (int)from[i];
        }
        do { --total; } while (total > 100 && n);
        to[0] = n > 2 ? total : -total;
    }
    """
    to = [0]
    kernels(text)["sums"].function(to, [1.5, 100.0, 2.5], 3)
    assert to == [3 + 1 + 2 - 1]
