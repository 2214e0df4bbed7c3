"""Which programs time the allocation itself, by comparing blocking with stream-ordered memory, and which do not."""

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config

HEAD = """
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
using Clock = std::chrono::steady_clock;
__global__ void fill(int *p) { p[0] = 1; }
__global__ void sum(int *p) { p[0] += 1; }
struct Timer {
    Clock::time_point since;
    Timer() : since(Clock::now()) {}
    ~Timer() { std::chrono::duration<double> took = Clock::now() - since; printf("%f", took.count()); }
};
void blocking(cudaStream_t s) { int *p; cudaMalloc(&p, 4); fill<<<1, 1, 0, s>>>(p); cudaFree(p); }
void pool(cudaStream_t s) { int *p; cudaMallocAsync(&p, 4, s); fill<<<1, 1, 0, s>>>(p); cudaFreeAsync(p, s); }
void adds(cudaStream_t s) { int *p; cudaMallocAsync(&p, 4, s); sum<<<1, 1, 0, s>>>(p); cudaFreeAsync(p, s); }
template <class Way> long timed(Way way, cudaStream_t s) {
    auto t0 = Clock::now();
    way(s);
    return (Clock::now() - t0).count();
}
"""
EVENTS = "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);"
BETWEEN = "cudaEventRecord(a, s); {}(s); cudaEventRecord(b, s); cudaEventSynchronize(b);"

COMPARES = {
    "one after the other": "auto t0 = Clock::now(); blocking(s); auto t1 = Clock::now(); pool(s); Clock::now();",
    "in loops": "{ Timer t; for (int i = 0; i < 9; i++) blocking(s); }"
    " { Timer t; for (int i = 0; i < 9; i++) pool(s); }",
    "between events": f"{EVENTS} float ms; {BETWEEN.format('blocking')} cudaEventElapsedTime(&ms, a, b);"
    f" {BETWEEN.format('pool')} cudaEventElapsedTime(&ms, a, b);",
    "given to a function that times": 'printf("%ld", timed(blocking, s)); printf("%ld", timed(pool, s));',
    "by a flag": "for (int way = 0; way < 2; way++) { Timer t; if (way) pool(s); else blocking(s); }",
    "by two equal conditions": """for (int way = 0; way < 2; way++) {
        Timer t;
        int *p;
        if (way) cudaMallocAsync(&p, 4, s); else cudaMalloc(&p, 4);
        fill<<<1, 1, 0, s>>>(p);
        if (way) cudaFreeAsync(p, s); else cudaFree(p);
    }""",
}
DOES_NOT = {
    "one section": "Timer t; blocking(s);",
    "two of blocking memory": "{ Timer t; blocking(s); } { Timer t; blocking(s); }",
    "steps that do something else": "{ Timer t; blocking(s); } { Timer t; adds(s); }",
    "steps of which one is chosen": "Timer t; if (argc > 1) blocking(s); else adds(s);",
    "one section with both kinds": "{ Timer t; blocking(s); pool(s); }",
    "only the other one is timed": "blocking(s); { Timer t; pool(s); }",
    "freed behind the section": """int *p;
    auto t0 = Clock::now();
    cudaMalloc(&p, 4);
    fill<<<1, 1, 0, s>>>(p);
    auto t1 = Clock::now();
    cudaStreamSynchronize(s);
    cudaFree(p);
    auto t2 = Clock::now();
    pool(s);
    auto t3 = Clock::now();""",
    "events that order": f"{EVENTS} {BETWEEN.format('blocking')} {BETWEEN.format('pool')}",
}


def _names(body: str) -> tuple[set[str], set[str]]:
    start = "cudaStream_t s; cudaStreamCreate(&s);"
    text = f"{HEAD}int main(int argc, char **) {{ {start} {body} cudaDeviceSynchronize(); }}\n"
    report = driver.analyze({"main.cu": text.encode()}, Config())
    return {refusal.name for refusal in report.refusals}, {finding.codemod for finding in report.findings}


@pytest.mark.parametrize("body", COMPARES.values(), ids=COMPARES)
def test_a_program_that_compares_the_two_stays(body: str) -> None:
    refused, _ = _names(body)
    assert refused == {"allocation_is_timed"}


@pytest.mark.parametrize("body", DOES_NOT.values(), ids=DOES_NOT)
def test_a_program_that_times_its_work_is_rewritten(body: str) -> None:
    refused, found = _names(body)
    assert not refused
    assert "stream_ordered_pairs" in found
