"""Refusals name the places that stand in the way, and what would unlock this one."""

from __future__ import annotations

import pytest

from cudafix.findings import Refusal
from cudafix.ordering.interpreter import engine
from cudafix.pipeline import driver
from cudafix.project.config import Config

HEAD = """
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
"""


def refused(text: str) -> Refusal:
    (refusal,) = driver.analyze({"main.cu": (HEAD + text).encode()}, Config()).refusals
    return refusal


def test_a_free_of_several_kinds_is_named_with_every_allocation() -> None:
    refusal = refused("""
int main(int argc, char **) {
    int *p;
    if (argc > 2)
        cudaMallocHost(&p, 4);
    else if (argc > 1)
        cudaMallocManaged(&p, 4);
    else
        cudaMalloc(&p, 4);
    cudaFree(p);
}
""")
    assert refusal.name == "mixed_allocation_kinds"
    assert refusal.message == "the free may also give back managed or pinned memory"
    assert not refusal.order
    assert [place.text for place in refusal.related] == [
        "this free",
        "`cudaMallocHost` allocates pinned memory",
        "`cudaMallocManaged` allocates managed memory",
    ]


@pytest.mark.parametrize(
    ("body", "places", "unlock"),
    [
        (
            "cudaFree(p);\n    cudaFree(p);",
            ["the memory is freed", "the memory is freed again"],
            "Free the memory once",
        ),
        (
            "cudaFree(p);\n    fill<<<1, 1>>>(p);",
            ["the memory is freed", "`fill<<<…>>>`"],
            "Free the memory behind its",
        ),
    ],
)
def test_what_follows_a_free_is_named_with_it(body: str, places: list[str], unlock: str) -> None:
    refusal = refused(f"int main(int argc, char **) {{\n    int *p;\n    cudaMalloc(&p, 4);\n    {body}\n}}\n")
    assert (refusal.name, refusal.order) == ("out_of_order", True)
    assert [place.text for place in refusal.related] == places
    assert refusal.unlock.startswith(unlock)


def test_a_stream_that_may_be_destroyed_before_the_free_is_named() -> None:
    refusal = refused("""
int main(int argc, char **) {
    int *p;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&p, 4);
    fill<<<1, 1, 0, s>>>(p);
    if (argc > 1)
        cudaStreamDestroy(s);
    cudaFree(p);
}
""")
    assert (refusal.name, refusal.order) == ("stream_destroyed", True)
    texts = [place.text for place in refusal.related]
    assert texts == ["`fill<<<…>>>`", "the memory is freed", "the stream is destroyed"]


def test_a_stream_that_is_destroyed_behind_the_free_is_not() -> None:
    refusal = refused("""
void run(int *p, cudaStream_t *streams, int n) {
    fill<<<1, 1, 0, streams[n]>>>(p);
}
int main(int argc, char **) {
    int *p;
    cudaStream_t streams[8];
    for (int i = 0; i < 8; i++)
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    cudaMalloc(&p, 4);
    run(p, streams, argc);
    cudaFree(p);
    for (int i = 0; i < 8; i++)
        cudaStreamDestroy(streams[i]);
}
""")
    assert refusal.name == "needs_device_sync"


def test_a_stream_that_is_made_anew_in_each_round_is_no_stream_that_is_gone() -> None:
    report = driver.analyze(
        {
            "main.cu": (
                HEAD
                + """
int main(int argc, char **) {
    int *p;
    for (int i = 0; i < argc; i++) {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaMalloc(&p, 4);
        fill<<<1, 1, 0, s>>>(p);
        cudaFree(p);
        cudaStreamDestroy(s);
    }
}
"""
            ).encode()
        },
        Config(),
    )
    assert len(report.findings) == 1
    assert report.refusals == ()


def test_of_a_program_that_is_too_large_its_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_STEPS", 3)
    monkeypatch.setattr(engine, "MAX_COARSE_STEPS", 3)
    refusal = refused("int main() { int *p; cudaMalloc(&p, 4); fill<<<1, 1>>>(p); cudaFree(p); }")
    assert refusal.name == "budget"
    assert [place.text for place in refusal.related] == ["the program that starts with `main`"]


def test_what_runs_is_named_truly() -> None:
    """A function of the program that calls itself is no external one."""
    refusal = refused(
        "int *shown;\n"
        "struct Image { int *p; void show(); };\n"
        "void Image::show() { fill<<<1, 1>>>(shown); }\n"
        "void each(Image &image, int n) { Image next = image; if (n > 1) each(next, n - 1); image.show(); }\n"
        "int main(int n, char **) { Image i; int *q; cudaMalloc(&q, 4); each(i, n); cudaFree(q); }"
    )
    assert refusal.message.startswith("is live where `each` calls itself")


CLOCKS = """#include <chrono>
#include <cuda_runtime.h>
using Clock = std::chrono::steady_clock;
int main() {{
    cudaEvent_t start, stop;
    float ms;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    int *d;
    {body}
    cudaEventElapsedTime(&ms, start, stop);
    return ms > 1;
}}
"""
RECORD = "cudaEventRecord(start);", "cudaEventRecord(stop); cudaEventSynchronize(stop);"
HOST = "auto t = Clock::now();", "auto u = Clock::now();"


@pytest.mark.parametrize(("before", "after"), [RECORD, HOST])
@pytest.mark.parametrize(
    "body",
    [
        "{before} cudaMalloc(&d, 4); cudaFree(d); {after}",
        "{before} for (int i = 0; i < 9; i++) {{ cudaMalloc(&d, 4); cudaFree(d); }} {after}",
        "{before} if (cudaMalloc(&d, 4) != cudaSuccess) return 1; {after} cudaFree(d);",
    ],
)
def test_a_program_that_times_the_allocation_keeps_it(body: str, before: str, after: str) -> None:
    text = CLOCKS.format(body=body.format(before=before, after=after))
    (refusal,) = driver.analyze({"main.cu": text.encode()}, Config()).refusals
    assert refusal.name == "allocation_is_timed"


@pytest.mark.parametrize(
    "body",
    [
        "cudaMalloc(&d, 4); cudaFree(d);",
        "cudaMalloc(&d, 4); {before} cudaMemset(d, 0, 4); {after} cudaFree(d);",
        "{before} cudaMalloc(&d, 4); cudaMemset(d, 0, 4); {after} cudaFree(d);",
        "{before} cudaMalloc(&d, 4); {after} cudaMemset(d, 0, 4); cudaFree(d);",
    ],
)
def test_a_program_that_times_more_than_an_allocation_does_not(body: str) -> None:
    text = CLOCKS.format(body=body.format(before=HOST[0], after=HOST[1]))
    report = driver.analyze({"main.cu": text.encode()}, Config())
    assert not report.refusals
    assert any(f.codemod == "stream_ordered_pairs" for f in report.findings)
