"""A defect is reported where it is certain: what nobody has seen is no defect."""

from __future__ import annotations

import pytest

from cudafix import driver
from cudafix.config import Config

CROSSING = """
#include <cuda_runtime.h>
__global__ void k(float *p) {{ p[0] = 1; }}
{signature} {{
    {first}
    float *d;
    cudaMallocAsync(&d, 4, {stream});
    {use}
    cudaFreeAsync(d, {stream});
    {last}
}}
"""


def found(**parts: str) -> list[str]:
    report = driver.analyze({"main.cu": CROSSING.format(**({"first": "", "last": ""} | parts)).encode()}, Config())
    return [finding.codemod for finding in report.findings]


def test_a_use_on_another_stream_that_is_known() -> None:
    first = "cudaStream_t s, t; cudaStreamCreateWithFlags(&s, 1); cudaStreamCreateWithFlags(&t, 1);"
    assert found(signature="int main()", first=first, stream="s", use="k<<<1, 1, 0, t>>>(d);", last="return 0;")


@pytest.mark.parametrize("use", ["k<<<1, 1>>>(d);", "unseen(d);", "k<<<1, 1, 0, other()>>>(d);"])
def test_streams_that_may_be_the_same(use: str) -> None:
    assert not found(signature="void f(cudaStream_t s)", stream="s", use=use)
