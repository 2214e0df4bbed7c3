"""Which stream a variable or an element is, where that depends on the path of the program."""

from __future__ import annotations

from cudafix.config import Config
from cudafix.driver import analyze

PROGRAM = """\
#include <cstdio>
#include <cuda_runtime.h>
__global__ void k(int *p, int *h) { *h = *p; }
int main(int argc, char **argv) {
    int *d, *h, j = argc - 1;
    cudaStream_t s[4], other;
    cudaMallocHost(&h, 4);
    %s
    for (int round = 0; round < 3; round++) {
        cudaMalloc(&d, 4);
        %s
        cudaFree(d);
        printf("%%d\\n", *h);
    }
}
"""
MAKE = "cudaStreamCreateWithFlags(&%s, cudaStreamNonBlocking);"


def decided(before: str, body: str) -> list[str]:
    report = analyze({"main.cu": (PROGRAM % (before, body)).encode()}, Config())
    return [f.codemod for f in report.findings if f.codemod == "stream_ordered_pairs"] + [
        refusal.name for refusal in report.refusals
    ]


def test_a_stream_that_is_made_is_named() -> None:
    assert decided(MAKE % "other", "k<<<1, 1, 0, other>>>(d, h);") == ["stream_ordered_pairs"]


def test_a_stream_that_one_path_does_not_make_is_not_named() -> None:
    """Without the `if` it is no handle: a call that is given it may do anything."""
    made = f"if (j) {MAKE % 'other'}"
    assert decided(made, "if (j) k<<<1, 1, 0, other>>>(d, h);") == ["out_of_order"]


def test_an_element_of_which_the_index_is_not_known_may_be_any_of_them() -> None:
    made = f"{MAKE % 's[0]'} {MAKE % 'other'} s[argc] = other;"
    wait = "cudaStreamSynchronize(other);"
    assert decided(made, f"k<<<1, 1, 0, s[j]>>>(d, h); {wait}") == ["needs_device_sync"]
    assert decided(made, f"k<<<1, 1, 0, other>>>(d, h); {wait}") == ["stream_ordered_pairs"]
