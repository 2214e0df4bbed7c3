"""Which device is current, as far as the text tells."""

from __future__ import annotations

import pytest

from cudafix import driver
from cudafix.config import Config
from cudafix.edits import apply

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


ROUNDS = b"""
#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
int main() {
    int n;
    float *d[8], h;
    cudaGetDeviceCount(&n);
    for (int i = 0; i < n; i++) {
        cudaSetDevice(i);
        cudaMalloc(&d[i], 4);
        k<<<1, 1>>>(d[i]);
    }
    for (int i = 0; i < n; i++) {
        cudaSetDevice(i);
        cudaMemcpy(&h, d[i], 4, cudaMemcpyDeviceToHost);
        cudaFree(d[i]);
    }
    return h != 1;
}
"""
TWO = b"""
#include <cuda_runtime.h>
int main() {
    float *a, *b, *c;
    cudaSetDevice(0);
    cudaMalloc(&a, 4);
    cudaFree(a);
    cudaSetDevice(1);
    cudaMalloc(&b, 4);
    cudaMalloc(&c, 4);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
"""


@pytest.mark.parametrize("program", [ROUNDS, TWO], ids=["in a loop", "one after the other"])
def test_each_device_has_a_pool_of_its_own_to_set_up(program: bytes) -> None:
    """`cudaGetDevice` names the pool: the threshold is set behind each `cudaSetDevice`, once for its allocations."""
    report = driver.analyze({"main.cu": program}, Config())
    after = apply(program, [edit for finding in report.findings for edit in finding.edits]).decode()
    switched = [part for part in after.split("cudaSetDevice(")[1:] if "cudaMallocAsync" in part]
    assert switched
    for part in switched:
        assert part.count("cudaMemPoolAttrReleaseThreshold") == 1
        assert part.index("cudaMemPoolAttrReleaseThreshold") < part.index("cudaMallocAsync")
    assert after.split("cudaSetDevice(")[0].count("cudaMemPoolAttrReleaseThreshold") == 0


def test_a_fix_of_one_device_sets_up_no_other_pool() -> None:
    report = driver.analyze({"main.cu": TWO}, Config())
    (first,) = (f for f in report.findings if TWO.startswith(b"cudaMalloc(&a", f.offset))
    assert apply(TWO, first.edits).count(b"cudaMemPoolAttrReleaseThreshold") == 1


def test_a_fix_of_one_program_sets_up_no_other_one() -> None:
    """Two programs are looked at together for what both call, and written apart."""
    both = b"#include <cuda_runtime.h>\nvoid both(float *d) { float *t; cudaMalloc(&t, 4); cudaFree(t); }\n"
    one = b"""#include <cuda_runtime.h>
void both(float *d);
int main() { float *d; cudaMalloc(&d, 4); both(d); cudaFree(d); return 0; }
"""
    report = driver.analyze({"both.cu": both, "one.cu": one, "two.cu": one}, Config())
    (own,) = (f for f in report.findings if f.path == "one.cu")
    assert {edit.path for edit in own.edits} == {"one.cu"}
