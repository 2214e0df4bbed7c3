"""Which files and configurations make one program."""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

TRAIN = b"""
struct Model { float *p; };
__global__ void k(float *p) { *p = 1; }
void forward(Model *m) {
    if (m->p == nullptr) cudaMalloc(&m->p, 4);
    k<<<1, 1>>>(m->p);
}
void release(Model *m) { cudaDeviceSynchronize(); cudaFree(m->p); m->p = nullptr; }
#ifndef TESTING
int main() {
    Model m;
    m.p = nullptr;
    for (int i = 0; i < 3; i++) forward(&m);
    release(&m);
}
#endif
"""
TEST = b"""
#define TESTING
#include "train.cu"
int main() {
    Model m;
    m.p = nullptr;
    forward(&m);
    release(&m);
}
"""


@pytest.mark.parametrize("path", ["test.cu", "tests/test.cu"])
def test_a_program_that_another_one_includes_without_its_main(path: str) -> None:
    test = TEST if path == "test.cu" else TEST.replace(b"train.cu", b"../train.cu")
    report = analyze({"train.cu": TRAIN, path: test}, Config())
    moves = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    if path == "test.cu":
        assert [f.safety for f in moves] == [Safety.PROVEN]
    else:  # no program of that folder is looked at: anybody may call `forward`
        assert not any(f.safety is Safety.PROVEN for f in moves)


def test_a_library_without_main_is_looked_at_for_any_caller() -> None:
    report = analyze({"train.cu": TRAIN}, Config())
    assert [r.name for r in report.refusals] == ["escapes"]


def test_a_program_that_asks_for_free_memory_does_not_hold_up_another_one() -> None:
    header = b"inline float *make() { float *p; cudaMalloc(&p, 4); cudaFree(p); return 0; }"
    asks = b"""
#include "make.h"
int main() { float *q; cudaMalloc(&q, 4); size_t free, total; cudaMemGetInfo(&free, &total); cudaFree(q); }
"""
    other = b"""
#include "make.h"
int main() { float *q; cudaMalloc(&q, 4); cudaFree(q); }
"""
    report = analyze({"make.h": header, "asks.cu": asks, "other.cu": other}, Config())
    assert {r.path for r in report.refusals if r.name == "free_memory_is_measured"} == {"asks.cu"}
    assert "other.cu" in {f.path for f in report.findings}


def test_a_program_that_resets_the_device_does_not_hold_up_another_one() -> None:
    helper = b"""
void helper(float *d) {
    float *t;
    if (d == nullptr) throw 1;
    cudaMalloc(&t, 400);
    cudaMemcpy(t, d, 400, cudaMemcpyDeviceToDevice);
    cudaFree(t);
}
"""
    resets = b"""
void helper(float *d);
int main() {
    float *d = nullptr;
    cudaMalloc(&d, 400);
    try {
        helper(d);
        cudaFree(d);
    } catch (int) {
        cudaDeviceReset();
        return 1;
    } catch (...) {
        cudaDeviceReset();
        return 2;
    }
    return 0;
}
"""
    other = b"void helper(float *d);\nint main() { float *d; cudaMalloc(&d, 400); helper(d); cudaFree(d); return 0; }\n"
    report = analyze({"helper.cu": helper, "resets.cu": resets, "other.cu": other}, Config())
    assert [(r.name, r.path) for r in report.refusals] == [("freed_by_device_reset", "resets.cu")]
    moves = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert sorted(f.path for f in moves) == ["helper.cu", "other.cu"]


def test_memory_of_a_function_that_nothing_calls_says_how_to_reach_it() -> None:
    source = b"static void f() { int *p; cudaMalloc(&p, 4); cudaFree(p); }\nint main() { start(f); }\n"
    (refusal,) = analyze({"a.cu": source}, Config()).refusals
    assert refusal.message == "its function is handed over as a value, and is not followed where that is called"
    assert refusal.unlock.startswith("Call the function by its name")


@pytest.mark.parametrize("defined", ["scale", "CUDA", "clock"])
def test_a_source_that_defines_nothing_that_a_program_lacks_is_no_part_of_it(defined: str) -> None:
    """Notes between the exercises of a folder: they seem to define a function that the program has itself, or a word of
    its texts and comments.
    """
    notes = f"""
In {defined} (and in C++ in general), the type of a pointer says what the raw bytes mean.
__global__ void kernel(float *f, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
"""
    main = """
#define CHECK(call) do { if (call) { printf("CUDA error"); exit(1); } } while (0)
__global__ void scale(float *f, int n) { f[n] *= 2; } // without a clock
int main() { float *d; CHECK(cudaMalloc(&d, 4)); scale<<<1, 1>>>(d, 0); CHECK(cudaFree(d)); return 0; }
"""
    report = analyze({"main.cu": main.encode(), "notes.cu": notes.encode()}, Config())
    assert [f.safety for f in report.findings if f.path == "main.cu"] == [Safety.PROVEN]
