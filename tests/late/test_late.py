"""The judge tells a right rewrite from wrong ones, of a program in which the host relies on the wait of `cudaFree`."""

from __future__ import annotations

import shutil

import pytest

from tests.late.judge import Judge, build_runtime, with_calls

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
