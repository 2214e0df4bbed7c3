"""An index of buffers that a function on the host changes: which buffer a statement means is not what it was."""

# ruff: noqa: E501  (each row is a program's lines, side by side)

from __future__ import annotations

import pytest

from cudafix.config import Config
from cudafix.driver import analyze
from cudafix.edits import apply

PROGRAM = """
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
struct Ring {{ int now; int *where; }};
int cur;
Ring ring;
{declared}
__global__ void k(int *p) {{ p[0] = 1; }}
int main(int argc, char **argv) {{
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    int *d[2];
    {first}
    cudaMalloc(&d[0], 4);
    cudaMalloc(&d[1], 4);
    k<<<1, 1, 0, s>>>(d[0]);
    {then}
    k<<<1, 1, 0, t>>>(d[{index}]);
    cudaFree(d[0]);
    cudaFree(d[1]);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("declared", "first", "then", "index"),
    [
        ("void flip() { cur = 1; }", "cur = 0;", "flip();", "cur"),
        ("void flip() { cur ^= 1; }", "cur = 0;", "flip();", "cur"),
        ("void flip() { ++cur; }", "cur = 0;", "flip();", "cur"),
        ("void flip() { cur += 1; }", "cur = 0;", "flip();", "cur % 2"),
        ("int other; void flip() { other = 1; }", "other = 0;", "flip(); int c = other;", "c"),
        ("int other; void flip() { other = 1; } int get() { return other; }", "other = 0;", "flip(); int c = get();", "c"),
        ("int at[2]; void flip() { at[0] = 1; }", "at[0] = 0;", "flip();", "at[0]"),
        ("int other; void flip() { std::swap(cur, other); }", "cur = 0; other = 1;", "flip();", "cur"),
        ("void flip() { scanf(\"%d\", &cur); }", "cur = 0;", "flip();", "cur"),
        ("void flip(int &c) { c = 1; }", "int c = 0;", "flip(c);", "c"),
        ("void set(int *c) { *c = 1; } void flip(int *c) { set(c); }", "int c = 0;", "flip(&c);", "c"),
        ("void flip(int *c) { c[0] = 1; }", "int c[2]; c[0] = 0;", "flip(c);", "c[0]"),
        ("void flip(Ring *r) { r->now = 1; }", "Ring r; r.now = 0;", "flip(&r);", "r.now"),
        ("void flip(Ring &r) { r.now ^= 1; }", "Ring r; r.now = 0;", "flip(r);", "r.now"),
        ("void flip(Ring *r) { scanf(\"%d\", &r->now); }", "Ring r; r.now = 0;", "flip(&r);", "r.now"),
        ("void flip() { memset(&ring, 1, sizeof ring); }", "ring.now = 0;", "flip();", "ring.now"),
        ("void flip(Ring *r) { memset(r, 1, sizeof *r); }", "Ring r; r.now = 0;", "flip(&r);", "r.now"),
        ("void flip(Ring *r) { Ring one = {1}; *r = one; }", "Ring r; r.now = 0;", "flip(&r);", "r.now"),
        ("void flip(Ring *r) { *r->where = 1; }", "int c = 0; Ring r; r.where = &c;", "flip(&r);", "c"),
        ("struct R { int now = 0; void flip() { now = 1 - now; } };", "R r;", "r.flip();", "r.now"),
        ("bool flip() { cur = 1; return true; }", "cur = 0;", "if (flip()) puts(\"\");", "cur"),
        ("struct R { ~R() { cur = 1; } };", "cur = 0;", "{ R r; }", "cur"),
        ("void flip(int &c);", "int c = 0;", "flip(c);", "c"),
        ("void flip(Ring *r);", "Ring r; r.now = 0;", "flip(&r);", "r.now"),
        ("void flip();", "cur = 0;", "flip();", "cur"),
    ],
)  # fmt: skip
def test_an_index_is_what_a_function_has_made_it(declared: str, first: str, then: str, index: str) -> None:
    """`d[1]` was used on `t`: its free goes there, or waits for it."""
    source = PROGRAM.format(declared=declared, first=first, then=then, index=index).encode()
    report = analyze({"main.cu": source}, Config(unsafe=True))
    edits = [edit for finding in report.findings for edit in finding.edits]
    after = apply(source, list(dict.fromkeys(edits)))
    assert b"cudaFreeAsync(d[1], t)" in after
