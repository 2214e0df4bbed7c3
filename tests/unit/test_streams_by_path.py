"""Which stream a variable or an element is, where that depends on the path of the program."""

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.rewrite import edits

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


LANES = """\
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void work(int *p, int *out) { *out = *p; }
cudaStream_t streams[4];
int *blocks[4], *host;
void setup(int n) {
    for (int i = 0; i < n; i++) cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    for (int i = 0; i < n; i++) cudaMalloc(&blocks[i], 4);
}
void launch(int n) { for (int i = 0; i < n; i++) work<<<1, 1, 0, streams[i]>>>(blocks[i], host + i); }
void wait(int n) { for (int i = 0; i < n; i++) cudaStreamSynchronize(streams[i]); }
void release(int n) { for (int i = 0; i < n; i++) { cudaFree(blocks[i]); } }
int main(int argc, char **argv) {
    cudaMallocHost(&host, 16);
    %s
    printf("%%d\\n", host[3]);
}
"""


@pytest.mark.parametrize(
    ("calls", "right"),
    [
        ("setup(4); launch(4); wait(4); release(4);", True),
        ("int n = 4; if (argc > 1) n = atoi(argv[1]); setup(n); launch(n); wait(n); release(n);", True),
        ("const int n = argc; setup(n); launch(n); wait(n); release(n);", True),
        ("setup(4); launch(4); wait(2); release(4);", False),
        ("int n = argc; setup(n); launch(n); n = 2; wait(n); release(4);", False),
        ("int n = 4; setup(n); launch(n); wait(n - 2); release(n);", False),
    ],
)
def test_a_parameter_of_a_loop_is_what_it_is_given(calls: str, right: bool) -> None:
    """Each function has an `n` of its own: a wait for fewer streams than have work is not enough."""
    text = (LANES % calls).encode()
    report = analyze({"main.cu": text}, Config())
    after = edits.apply(text, [edit for finding in report.findings for edit in finding.edits])
    moved = b"cudaFreeAsync(blocks[i]" in after
    waits = after.count(b"cudaStreamSynchronize(streams[i])")
    assert (moved and waits == 1) if right else (not moved or waits == 2)


@pytest.mark.parametrize(
    ("made", "used"),
    [
        pytest.param("many[argc]", "many[argc]", id="of an array on the heap"),
        pytest.param("lanes[argc].s", "lanes[argc].s", id="of structs"),
        pytest.param("(lanes + argc)->s", "lanes[argc].s", id="through a pointer to one of them"),
        pytest.param("s[argc]", "s[argc]", id="of a local array"),
    ],
)
def test_a_stream_at_an_unknown_index_is_not_the_first(made: str, used: str) -> None:
    arrays = (
        "cudaStream_t *many = (cudaStream_t *)calloc(9, 8); struct Lane { cudaStream_t s; } *lanes = new Lane[9]();"
    )
    assert decided(f"{arrays} {MAKE % made}", f"k<<<1, 1, 0, {used}>>>(d, h);") == ["needs_device_sync"]


def test_what_is_read_at_an_index_need_not_be_what_is_stored_at_an_unknown_one() -> None:
    """`*many` is null: the default stream."""
    many = f"cudaStream_t *many = (cudaStream_t *)calloc(9, 8); {MAKE % 'many[argc]'}"
    program = PROGRAM % (many, "k<<<1, 1, 0, many[argc]>>>(d, h);")
    waits = program.replace("cudaFree(d);", "cudaStreamSynchronize(*many); cudaFreeAsync(d, *many);")
    waits = waits.replace("cudaMalloc(&d, 4)", "cudaMallocAsync(&d, 4, *many)")
    assert prove({"main.cu": program.encode()}, {"main.cu": waits.encode()})


@pytest.mark.parametrize(
    ("storage", "kernel"),
    [
        pytest.param(
            "static cudaStream_t all[4];", "for (int i = 0; i < 4; i++) k<<<1, 1, 0, all[i]>>>(d, h);", id="static"
        ),
        pytest.param("static cudaStream_t all[4];", "k<<<1, 1, 0, all[argc]>>>(d, h);", id="at any index"),
        pytest.param("std::vector<cudaStream_t> all(4);", "k<<<1, 1, 0, all[argc]>>>(d, h);", id="vector"),
        pytest.param("auto *all = new cudaStream_t[4]();", "k<<<1, 1, 0, all[argc]>>>(d, h);", id="heap"),
        pytest.param("static struct { cudaStream_t all[4]; } o;", "k<<<1, 1, 0, o.all[argc]>>>(d, h);", id="member"),
    ],
)
def test_an_element_that_nobody_has_set_is_the_default_stream(storage: str, kernel: str) -> None:
    name = "o.all" if "struct" in storage else "all"
    one = f"{storage} {MAKE % f'{name}[0]'}"
    every = f"{storage} for (int i = 0; i < 4; i++) {{ {MAKE % f'{name}[i]'} }}"
    assert decided(one, kernel) in (["needs_device_sync"], ["out_of_order"])
    each = f"for (int i = 0; i < 4; i++) k<<<1, 1, 0, {name}[i]>>>(d, h);"
    wait = f"for (int i = 0; i < 4; i++) cudaStreamSynchronize({name}[i]);"
    assert decided(every, f"{each} {wait}") == ["stream_ordered_pairs"]
