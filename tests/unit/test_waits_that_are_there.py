"""Waits of the program that the proof sees, so that it needs none of its own; and those that are one too few."""

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config

PROGRAM = """
#include <cstdio>
#include <utility>
#include <vector>
#include <cuda_runtime.h>
__global__ void fill(int *p) {{ p[0] = 1; }}
struct Any {{ template <class T> Any(T) {{}} }};
void wait(cudaStream_t s) {{ cudaStreamSynchronize(s); }}
void wait(cudaEvent_t e) {{ cudaEventSynchronize(e); }}
void look(Any) {{}}
void look(cudaStream_t s) {{ cudaStreamSynchronize(s); }}
int main(int argc, char **) {{
    cudaStream_t s[2], one;
    cudaEvent_t e[2];
    int *p, *h;
    cudaMallocHost(&h, 8);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    for (auto &stream : s) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2; ++i) cudaEventCreate(&e[i]);
    std::vector<cudaStream_t> w(2);
    for (auto &stream : w) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&p, 8);
    fill<<<1, 1, 0, {on}>>>(p);
    cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, {on});
    {wait}
    cudaFree(p);
    printf("%d", h[0]);
}}
"""

ENOUGH = {
    "an event of an array": ("s[0]", "cudaEventRecord(e[0], s[0]); cudaEventSynchronize(e[0]);"),
    "a loop over the streams": ("s[1]", "for (int i = 0; i < 2; i++) cudaStreamSynchronize(s[i]);"),
    "a loop over the array": ("s[0]", "for (auto &stream : s) cudaStreamSynchronize(stream);"),
    "a loop with a variable of its own": ("s[1]", "for (auto &stream : s) { auto own = stream; wait(own); }"),
    "an event of a vector": ("one", "@E cudaEventRecord(v[0], one); cudaEventSynchronize(v[0]);"),
    "a loop over a vector": ("w[0]", "for (auto stream : w) cudaStreamSynchronize(stream);"),
    "a list in braces": ("one", "for (auto stream : {s[0], one}) cudaStreamSynchronize(stream);"),
    "an overload for streams": ("one", "wait(one);"),
    "an overload for events": ("one", "cudaEventRecord(e[1], one); wait(e[1]);"),
}
TOO_FEW = {
    "an event of another stream": ("s[0]", "cudaEventRecord(e[0], s[1]); cudaEventSynchronize(e[0]);"),
    "an event that is not recorded": ("s[0]", "cudaEventRecord(e[0], s[0]); cudaEventSynchronize(e[1]);"),
    "a loop from the second one": ("s[0]", "for (int i = 1; i < 2; i++) cudaStreamSynchronize(s[i]);"),
    "a loop that is left": ("s[1]", "for (auto &stream : s) { if (argc > 1) break; cudaStreamSynchronize(stream); }"),
    "another event of a vector": ("one", "@E cudaEventRecord(v[0], one); cudaEventSynchronize(v[1]);"),
    "a vector that was cut off": ("w[1]", "one = w[1]; w.resize(1); for (auto own : w) cudaStreamSynchronize(own);"),
    "a vector that was moved away": ("w[0]", "@M for (auto stream : w) cudaStreamSynchronize(stream);"),
    "a list of either": ("one", "for (auto own : {argc > 1 ? s[0] : one, s[1]}) cudaStreamSynchronize(own);"),
    "the overload for events": ("one", "wait(e[1]);"),
    "an overload that takes anything": ("one", "look(argc > 1 ? Any(one) : Any(e[0]));"),
}


PARTS = {
    "@E": "std::vector<cudaEvent_t> v(2); for (auto &event : v) cudaEventCreate(&event);",
    "@M": "one = w[0]; std::vector<cudaStream_t> kept = std::move(w);",
}


def _inserted(on: str, wait: str) -> int:
    for mark, text in PARTS.items():
        wait = wait.replace(mark, text)
    text = PROGRAM.format(on=on, wait=wait)
    report = driver.analyze({"main.cu": text.encode()}, Config())
    assert not report.refusals
    edits = [edit.text for finding in report.findings for edit in finding.edits]
    return sum(b"Synchronize(" in one for one in edits)


@pytest.mark.parametrize(("on", "wait"), ENOUGH.values(), ids=ENOUGH)
def test_no_wait_is_added_to_one_that_is_there(on: str, wait: str) -> None:
    assert _inserted(on, wait) == 0


@pytest.mark.parametrize(("on", "wait"), TOO_FEW.values(), ids=TOO_FEW)
def test_a_wait_for_something_else_is_not_enough(on: str, wait: str) -> None:
    assert _inserted(on, wait) == 1
