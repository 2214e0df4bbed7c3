"""Which device is current, as far as the text tells."""

from __future__ import annotations

import pytest

from cudafix import driver
from cudafix.config import Config

PROGRAM = """
#include <cuda_runtime.h>
#include <cstdlib>
__global__ void k(float *p) {{ p[0] = 1; }}
int main(int argc, char **argv) {{
    int device = atoi(argv[1]);
    cudaSetDevice(device);
    float *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    {between}
    cudaSetDevice(device);
    cudaFree(d);
    return 0;
}}
"""


def refused(between: str) -> set[str]:
    report = driver.analyze({"main.cu": PROGRAM.format(between=between).encode()}, Config())
    return {refusal.name for refusal in report.refusals}


def test_the_same_variable_is_the_same_device() -> None:
    assert refused("") == set()


@pytest.mark.parametrize("between", ["device = atoi(argv[2]);", "if (argc > 2) device = argc;", "device++;"])
def test_a_variable_that_changes_in_between_is_not(between: str) -> None:
    assert refused(between) == {"device_changes"}
