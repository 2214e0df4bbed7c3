"""Which argument of a call of CUB is its stream: forms with as many arguments differ in it."""

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

PROGRAM = """
#include <cub/cub.cuh>
#include <cuda_runtime.h>
struct Lookup {{ int *table; Lookup(int *t) : table(t) {{}} __device__ int operator()(int v, int w) const; }};
struct Positive {{ __host__ __device__ bool operator()(int v) const {{ return v > 0; }} }};
void work(int *a, int *b, int *c, char *f, cudaStream_t s, int n, size_t m) {{
    void *t = nullptr;
    size_t bytes = 0;
    cub::{call};
    cudaMalloc(&t, bytes);
    cub::{call};
    cudaFree(t);
}}
int main(int argc, char **argv) {{
    int *a, *b, *c;
    char *f;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&a, 4);
    cudaMalloc(&b, 4);
    cudaMalloc(&c, 4);
    cudaMalloc(&f, 4);
    cudaDeviceSynchronize();
    work(a, b, c, f, s, argc, argc);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(f);
    return 0;
}}
"""
ON_THE_DEFAULT_STREAM = [
    "DeviceScan::ExclusiveSum(t, bytes, a, b, n)",
    "DeviceScan::InclusiveSum(t, bytes, a, b, m)",
    "DeviceScan::ExclusiveSum(t, bytes, a + 1, b + n, n)",
    "DeviceScan::ExclusiveSum(t, bytes, a, n, 0)",
    "DeviceScan::ExclusiveScan(t, bytes, a, b, cub::Sum(), 0, n)",
    "DeviceScan::InclusiveScan(t, bytes, a, b, cub::Sum(), n)",
    "DeviceSelect::If(t, bytes, a, b, c, n, Positive())",
    "DeviceSelect::Flagged(t, bytes, a, f, b, c, m)",
    "DeviceRadixSort::SortKeys(t, bytes, a, b, n, 0, 8)",
]
ON_THE_STREAM = [
    "DeviceScan::ExclusiveSum(t, bytes, a, b, n, s)",
    "DeviceScan::ExclusiveSum(t, bytes, a, n, s)",
    "DeviceScan::InclusiveSum(t, bytes, a, m, s)",
    "DeviceScan::InclusiveScan(t, bytes, a, cub::Sum(), n, s)",
    "DeviceScan::InclusiveScan(t, bytes, a, Lookup(b), n, s)",
    "DeviceScan::ExclusiveScan(t, bytes, a, Lookup{b}, 0, n, s)",
    "DeviceSelect::If(t, bytes, a, b, n, Positive(), s)",
    "DeviceSelect::Flagged(t, bytes, a, f, b, n, s)",
]


def freed_on(call: str) -> set[str]:
    """The streams that the temporary storage is freed on; empty where it stays."""
    source = PROGRAM.format(call=call).encode()
    report = analyze({"main.cu": source}, Config())
    found = [f for f in report.findings if source.startswith(b"cudaMalloc(&t", f.offset)]
    return {place.text for finding in found for place in finding.related}


@pytest.mark.parametrize("call", ON_THE_DEFAULT_STREAM)
def test_the_last_argument_is_a_number(call: str) -> None:
    assert freed_on(call) == {"freed on `0`"}


@pytest.mark.parametrize("call", ON_THE_STREAM)
def test_the_last_argument_is_the_stream(call: str) -> None:
    assert freed_on(call) == {"freed on `s`"}
