"""Which device is current, as far as the text tells."""

# ruff: noqa: E501  (each row is a program's lines, side by side)

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


OTHER_DEVICE = """
#include <cuda_runtime.h>
#include <cstdlib>
#include <vector>
struct Config {{ int device; }};
int chosen;
Config config;
{declared}
__global__ void k(float *p) {{ p[0] = 1; }}
int main(int argc, char **argv) {{
    {first}
    float *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    {then}
    cudaFree(d);
    return 0;
}}
"""


# Each picks another device behind the allocation than in front of it, and looks the same there.
@pytest.mark.parametrize(
    ("declared", "first", "then"),
    [
        ("void pick(int x) { if (x) cudaSetDevice(0); else cudaSetDevice(1); }", "pick(argc);", "pick(0);"),
        ("void pick(int x) { if (x) { cudaSetDevice(0); return; } cudaSetDevice(1); }", "pick(argc);", "pick(0);"),
        ("void pick() { static int n = 0; if (n++) cudaSetDevice(1); }", "pick();", "pick();"),
        ("#define PICK(x) do { if (x) cudaSetDevice(0); else cudaSetDevice(1); } while (0)", "PICK(argc);", "PICK(0);"),
        ("#define PICK(x) do { int one = x; cudaSetDevice(one); } while (0)", "PICK(argc);", "PICK(argc - 1);"),
        ("void next() { chosen = 1; }", "chosen = 0; cudaSetDevice(chosen);", "next(); cudaSetDevice(chosen);"),
        ("void next() { chosen++; }", "chosen = atoi(argv[1]); cudaSetDevice(chosen);", "next(); cudaSetDevice(chosen);"),
        ("void next() { config.device = 1; }", "config.device = 0; cudaSetDevice(config.device);", "next(); cudaSetDevice(config.device);"),
        ("void next(Config &c) { c.device = 1; }", "Config c; c.device = argc; cudaSetDevice(c.device);", "next(c); cudaSetDevice(c.device);"),
        ("void pick(int *x) { cudaSetDevice(*x); }", "int x = argc; pick(&x);", "x++; pick(&x);"),
        ("", "int x = argc, *p = &x; cudaSetDevice(x);", "*p = 0; cudaSetDevice(x);"),
        ("", "int x = argc, &r = x; cudaSetDevice(x);", "r = 0; cudaSetDevice(x);"),
        ("", "int x[2] = {0, 0}; cudaSetDevice(x[0]);", "x[argc - 1] = 1; cudaSetDevice(x[0]);"),
        ("", "std::vector<int> x(2); cudaSetDevice(x[argc]);", "x[argc]++; cudaSetDevice(x[argc]);"),
        ("", "std::vector<int> x(2); cudaSetDevice(x.back());", "x.pop_back(); cudaSetDevice(x.back());"),
        ("", "cudaSetDevice(rand() % 2);", "cudaSetDevice(rand() % 2);"),
        ("", "cudaSetDevice(argc > 1 ? 0 : 1);", "argc++; cudaSetDevice(argc > 1 ? 0 : 1);"),
        ("", "int x = 0; cudaSetDevice(x);", "cudaDeviceGetByPCIBusId(&x, argv[1]); cudaSetDevice(x);"),
    ],
)  # fmt: skip
def test_what_looks_the_same_may_be_another_device(declared: str, first: str, then: str) -> None:
    source = OTHER_DEVICE.format(declared=declared, first=first, then=then)
    report = driver.analyze({"main.cu": source.encode()}, Config())
    assert [refusal.name for refusal in report.refusals] == ["device_changes"]


@pytest.mark.parametrize(
    ("declared", "first", "then"),
    [
        ("bool pick(int n) { if (n < 1) return false; cudaSetDevice(n - 1); return true; }", "if (!pick(argc)) return 0;", ""),
        ("void pick(int x) { if (x) { cudaSetDevice(0); return; } cudaSetDevice(1); }", "pick(argc);", ""),
        ("void next() { config.device = 1; }", "next(); cudaSetDevice(config.device);", "cudaSetDevice(config.device);"),
        ("struct Lane { int id; void use() { cudaSetDevice(id); } };", "Lane one{argc}; one.use();", "one.use();"),
    ],
)  # fmt: skip
def test_the_same_number_is_the_same_device(declared: str, first: str, then: str) -> None:
    source = OTHER_DEVICE.format(declared=declared, first=first, then=then)
    report = driver.analyze({"main.cu": source.encode()}, Config())
    assert not report.refusals
