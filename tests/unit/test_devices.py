"""Which device is current, as far as the text tells."""

# ruff: noqa: E501  (each row is a program's lines, side by side)

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply
from tests.fixtures import rewritten

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
    for (int i = 0; i < 9; i++) {
        cudaMalloc(&a, 4);
        cudaFree(a);
    }
    cudaSetDevice(1);
    for (int i = 0; i < 9; i++) {
        cudaMalloc(&b, 4);
        cudaMalloc(&c, 4);
        cudaFree(b);
        cudaFree(c);
    }
    return 0;
}
"""


@pytest.mark.parametrize("program", [ROUNDS, TWO], ids=["in a loop", "one after the other"])
def test_each_device_has_a_pool_of_its_own_to_set_up(program: bytes) -> None:
    """`cudaGetDevice` names the pool: it is set up behind each `cudaSetDevice`, once for its allocations."""
    report = driver.analyze({"main.cu": program}, Config())
    after = apply(program, [edit for finding in report.findings for edit in finding.edits]).decode()
    switched = [part for part in after.split("cudaSetDevice(")[1:] if "cudaMallocAsync" in part]
    assert switched
    for part in switched:
        assert part.count("keep_pool_memory();") == 1
        assert part.index("keep_pool_memory();") < part.index("cudaMallocAsync")
    assert "keep_pool_memory();" not in after.split("cudaSetDevice(")[0]


def test_a_fix_of_one_device_sets_up_no_other_pool() -> None:
    report = driver.analyze({"main.cu": TWO}, Config())
    (first,) = (f for f in report.findings if TWO.startswith(b"cudaMalloc(&a", f.offset))
    assert apply(TWO, first.edits).count(b"keep_pool_memory();") == 1


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


SEVERAL = """
#include <cuda_runtime.h>
__global__ void w(int *m) {{ *m = 1; }}
__global__ void r(int *m, int *o) {{ *o = *m; }}
int main() {{
    int *a, *b, *m, *o;
    cudaStream_t s, t;
    cudaMallocManaged(&m, 4);
    cudaMallocManaged(&o, 4);
    cudaSetDevice(1);
    {one}
    cudaSetDevice(0);
    cudaMalloc(&a, 4);
    {zero}
    cudaFree(a);
    {then}
    return 0;
}}
"""


def with_several(one: str, zero: str, then: str) -> bytes:
    """What `SEVERAL` is rewritten to."""
    files = {"main.cu": SEVERAL.format(one=one, zero=zero, then=then).encode()}
    return rewritten(files, driver.analyze(files, Config()))["main.cu"]


# `cudaFree` waits for the device, and what follows leans on that.
@pytest.mark.parametrize(
    ("one", "zero", "then", "wanted"),
    [
        ("", "w<<<1, 1>>>(m);", "cudaSetDevice(1); r<<<1, 1>>>(m, o);", "cudaStreamSynchronize(0);"),
        ("", "w<<<1, 1>>>(m);", "cudaSetDevice(1); cudaStreamSynchronize(0); return *m;", "cudaStreamSynchronize(0);"),
        ("", "w<<<1, 1>>>(m);", "cudaSetDevice(1); cudaDeviceSynchronize(); return *m;", "cudaStreamSynchronize(0);"),
        ("", "w<<<1, 1>>>(m);", "cudaSetDevice(1); cudaMalloc(&b, 4); cudaMemcpy(o, b, 4, cudaMemcpyDeviceToHost); return *m;", "cudaStreamSynchronize(0);"),
        ("cudaStreamCreate(&s);", "w<<<1, 1>>>(m);", "cudaSetDevice(1); r<<<1, 1, 0, s>>>(m, o);", "cudaStreamWaitEvent(s, done, 0);"),
        ("", "w<<<1, 1>>>(m);", "cudaSetDevice(1); cudaStreamCreate(&s); r<<<1, 1, 0, s>>>(m, o);", "cudaStreamSynchronize(0);"),
        ("", "cudaStreamCreate(&t); w<<<1, 1, 0, t>>>(m);", "cudaSetDevice(1); r<<<1, 1>>>(m, o);", "cudaStreamSynchronize(t);"),
        ("cudaMalloc(&b, 4);", "w<<<1, 1>>>(m);", "cudaSetDevice(1); cudaFree(b); return *m;", "cudaStreamSynchronize(0);"),
    ],
)  # fmt: skip
def test_each_device_has_a_default_stream_of_its_own(one: str, zero: str, then: str, wanted: str) -> None:
    """It waits for the streams of its own device only, and they for it (docs/FACTS.md)."""
    after = with_several(one=one, zero=zero, then=then).decode()
    assert "cudaMallocAsync(&a" in after
    assert wanted in after.split("cudaMallocAsync(&a")[1]


def test_an_event_is_not_recorded_on_a_stream_of_another_device() -> None:
    """That fails (docs/FACTS.md); the host waits for the stream instead."""
    one = "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);"
    zero = "w<<<1, 1>>>(a); cudaMemcpyAsync(a, m, 4, cudaMemcpyDefault, s);"
    after = with_several(one=one, zero=zero, then="")
    assert b"cudaStreamSynchronize(s);" in after
    assert b"cudaEventRecord(done, s);" not in after


def test_memory_is_of_the_device_of_its_stream() -> None:
    """On a stream of another device the pair would get memory of that (docs/FACTS.md)."""
    copy = "cudaMemcpyAsync(a, m, 4, cudaMemcpyDefault, s);"
    after = with_several(one="cudaStreamCreate(&s);", zero=copy, then="")
    assert b"cudaMallocAsync(&a, 4, 0);" in after
    assert b"cudaFreeAsync(a, 0);" in after


def test_a_free_waits_for_the_device_that_its_memory_is_of() -> None:
    """Not for the one that is current (docs/FACTS.md): the free of `b` is no wait for the kernel."""
    kernel = "w<<<1, 1>>>(m);"
    after = with_several(one="cudaMalloc(&b, 4);", zero=kernel, then="cudaFree(b); return *m;")
    assert b"cudaStreamSynchronize(0);" in after


def test_a_kernel_that_ran_on_two_devices_is_not_finished_by_a_wait_for_one() -> None:
    one = "cudaMalloc(&b, 4);"
    zero = "for (int i = 0; i < 2; i++) { w<<<1, 1>>>(m); cudaSetDevice(1); } cudaFree(b); cudaSetDevice(0);"
    after = with_several(one=one, zero=zero, then="cudaDeviceSynchronize(); return *m;")
    assert b"cudaFree(b);" in after


EACH_ROUND = """
#include <cuda_runtime.h>
#include <cstdlib>
#include <vector>
__global__ void w(int *m) {{ *m = 1; }}
int main() {{
    int n, *d = nullptr, *e = nullptr, *m, h, first = -1, *a[8];
    cudaStream_t s = 0;
    std::vector<int *> v;
    cudaMallocManaged(&m, 4);
    cudaGetDeviceCount(&n);
    {lines}
    return 0;
}}
"""


@pytest.mark.parametrize(
    "lines",
    [
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); for (int j = 0; j < 3; j++) { cudaMalloc(&d, 4); w<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); } }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaStreamCreate(&s); cudaMalloc(&d, 4); w<<<1, 1, 0, s>>>(d); cudaStreamSynchronize(s); cudaFree(d); cudaStreamDestroy(s); }",
    ],
)  # fmt: skip
def test_a_device_that_each_round_picks_is_current_in_that_round(lines: str) -> None:
    files = {"main.cu": EACH_ROUND.format(lines=lines).encode()}
    report = driver.analyze(files, Config())
    after = rewritten(files, report)["main.cu"]
    assert not report.refusals
    assert b"Synchronize(0)" not in after
    assert after.index(b"cudaSetDevice") < after.index(b"keep_pool_memory();") < after.index(b"MallocAsync")


@pytest.mark.parametrize(
    "lines",
    [
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); if (d) cudaFree(d); cudaMalloc(&d, 4); w<<<1, 1>>>(d); } cudaFree(d);",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(d); if (i % 2) cudaSetDevice(0); cudaFree(d); }",
        "cudaMalloc(&d, 4); for (int i = 0; i < n; i++) { cudaSetDevice(i); w<<<1, 1>>>(d); cudaFree(d); break; }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(m); cudaFree(d); } cudaSetDevice(0); cudaDeviceSynchronize(); return *m;",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(m); cudaFree(d); } cudaDeviceSynchronize(); return *m;",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(m); cudaFree(d); cudaDeviceSynchronize(); w<<<1, 1>>>(m); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); if (!s) cudaStreamCreate(&s); cudaMalloc(&d, 4); w<<<1, 1, 0, s>>>(d); cudaFree(d); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); w<<<1, 1>>>(d); cudaMemcpyAsync(m, d, 4, cudaMemcpyDefault, 0); cudaFree(d); h = *m; }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); if (first < 0) first = i; cudaMalloc(&d, 4); cudaSetDevice(first); cudaFree(d); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); cudaSetDevice(++i); cudaFree(d); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); cudaMalloc(&d, 4); v.push_back(d); if (i) cudaFree(v[i - 1]); }",
        "for (int i = 0; i < n; i++) { cudaMalloc(&a[i], 4); while (rand() % 3) { cudaSetDevice(rand() % 2); if (!e) cudaMalloc(&e, 4); else { cudaFree(e); e = nullptr; } } cudaFree(a[i]); }",
        "for (int i = 0; i < n; i++) { cudaSetDevice(i); w<<<1, 1>>>(m); cudaMalloc(&d, 4); cudaFree(d); cudaSetDevice(0); cudaDeviceSynchronize(); h = *m; }",
    ],
)  # fmt: skip
def test_the_next_round_picks_another_device(lines: str) -> None:
    """Each leans on `cudaFree`, or frees memory of an earlier round: refused, or the host waits for the stream."""
    files = {"main.cu": EACH_ROUND.format(lines=lines).encode()}
    after = rewritten(files, driver.analyze(files, Config()))["main.cu"]
    assert b"cudaMallocAsync" not in after or b"cudaStreamSynchronize(0);" in after
