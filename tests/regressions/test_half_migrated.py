"""Pairs of which one half is stream-ordered already, with a device reset behind them: what is written is in order, and
leaves nothing for a second run.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Report
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

HEAD = "#include <cuda_runtime.h>\n#include <vector>\n__global__ void k(int *p) { p[0] = 1; }\n"
STREAM = "cudaStream_t s;\n    cudaStreamCreate(&s);\n    "


def body(*lines: str) -> str:
    return "int main() {\n    " + "\n    ".join(lines) + "\n}\n"


SYNC, RESET = "cudaDeviceSynchronize();", "cudaDeviceReset();"
ASYNC_P = "int *p;\n    cudaMallocAsync(&p, 4, s);\n    k<<<1, 1, 0, s>>>(p);"
P = "int *p;\n    cudaMalloc(&p, 4);\n    k<<<1, 1>>>(p);"
VECTOR = (
    "std::vector<int *> v(4);",
    "for (int i = 0; i < 4; ++i) cudaMalloc(&v[i], 4);",
    "for (int i = 0; i < 4; ++i) k<<<1, 1>>>(v[i]);",
    "for (int i = 0; i < 4; ++i) cudaFreeAsync(v[i], 0);",
)
CLASS = "struct B { int *p; B() { cudaMalloc(&p, 4); } ~B() { cudaFreeAsync(p, 0); } };\n"
HELPERS = (
    "static int *make(int n) {\n    int *p;\n    cudaMalloc(&p, n);\n    return p;\n}\n"
    "static void drop(int *p) { cudaFreeAsync(p, 0); }\n"
)
MENDED = {
    "the_free_is_stream_ordered": body(P, "cudaFreeAsync(p, 0);", RESET),
    "the_host_waits_for_the_device": body(P, "cudaFreeAsync(p, 0);", SYNC, RESET),
    "two_buffers": body(P, P.replace("p", "q"), "cudaFreeAsync(p, 0);", "cudaFreeAsync(q, 0);", RESET),
    "a_vector": body(*VECTOR, RESET),
    "an_array": body(*VECTOR, SYNC, RESET).replace("std::vector<int *> v(4)", "int *v[4]"),
    "a_class": CLASS + body("{", "    B b;", "    k<<<1, 1>>>(b.p);", "}", RESET),
    "helpers": HELPERS + body("int *p = make(4);", "k<<<1, 1>>>(p);", "drop(p);", RESET),
    "nobody_waits_for_the_allocation_that_is_stream_ordered": body(STREAM + ASYNC_P, "cudaFree(p);", RESET),
    "one_half_of_each": body(STREAM + ASYNC_P, P.replace("p", "q"), "cudaFree(p);", "cudaFreeAsync(q, 0);", RESET),
    "one_half_of_each_the_other_way_round": body(
        STREAM + ASYNC_P, P.replace("p", "q"), "cudaFreeAsync(q, 0);", "cudaFree(p);", RESET
    ),
}
IN_ORDER = {
    "the_host_has_waited_for_the_stream": body(STREAM + ASYNC_P, "cudaStreamSynchronize(s);", "cudaFree(p);", RESET),
    "the_host_has_waited_for_the_device": body(STREAM + ASYNC_P, SYNC, "cudaFree(p);", RESET),
}


def looked_at(text: bytes) -> Report:
    return analyze({"main.cu": text}, Config())


@pytest.mark.parametrize("text", MENDED.values(), ids=MENDED)
def test_what_is_written_is_in_order_and_leaves_nothing(text: str) -> None:
    before = (HEAD + text).encode()
    report = looked_at(before)
    assert not report.refusals
    assert all(finding.edits for finding in report.findings)
    after = apply(before, list(dict.fromkeys(edit for finding in report.findings for edit in finding.edits)))
    assert b"cudaMalloc(" not in after
    assert b"cudaFree(" not in after
    assert after.index(SYNC.encode()) < after.index(RESET.encode())
    again = looked_at(after)
    assert (again.findings, again.refusals) == ((), ())


@pytest.mark.parametrize("text", IN_ORDER.values(), ids=IN_ORDER)
def test_what_is_in_order_is_left_alone(text: str) -> None:
    report = looked_at((HEAD + text).encode())
    assert (report.findings, report.refusals) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        body(
            "std::vector<int *> v;",
            "for (int i = 0; i < 4; ++i) { int *p; cudaMalloc(&p, 4); v.push_back(p); }",
            "for (int *p : v) k<<<1, 1>>>(p);",
            "for (int *p : v) cudaFreeAsync(p, 0);",
            RESET,
        ),
        body("int *p = nullptr;", "if (rand()) cudaMalloc(&p, 4);", "if (p) cudaFreeAsync(p, 0);", RESET),
    ],
    ids=["a_vector_that_grows", "under_a_condition"],
)
def test_memory_that_is_freed_somewhere_is_not_said_to_be_allocated_for_certain(text: str) -> None:
    (refusal,) = looked_at((HEAD + "#include <cstdlib>\n" + text).encode()).refusals
    assert refusal.name == "freed_by_device_reset"
    assert "the memory may still be allocated" in refusal.message
    assert "on each path that allocates it" in refusal.unlock
