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
#include <map>
#include <sstream>
#include <vector>
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
        ("void flip(int *c) { *c = 1; } void g() { flip(at); } int at[2];", "at[0] = 0;", "g();", "at[0]"),
        ("void flip(int &c, int v) { c = v; } struct S { int n; void g() { flip(n, 1); } };", "S s; s.n = 0;", "s.g();", "s.n"),
        ("struct S { int n; S(int v) : n(v) {} void g(const int &v) { n = v; } };", "S s(0);", "s.g(1);", "s.n"),
        ("struct V { int a[2]; int &operator[](int i) { return a[i]; } }; V v; void g(int n) { v[0] = n; }", "v[0] = 0;", "g(1);", "v.a[0]"),
        ("struct V { int a[2]; void set(int i, int n) { a[i] = n; } }; struct W { V v; void set(int n) { v.set(0, n); } }; W w;", "w.v.a[0] = 0;", "w.set(1);", "w.v.a[0]"),
        ("template <class T> void put(const T &a, T &b) { b = a; } void g(int n) { put(n, cur); }", "cur = 0;", "g(1);", "cur"),
        ("struct B { virtual void size() {} }; struct D : B { void size() { cur = 1; } }; void g(B &b) { b.size(); } D o;", "cur = 0;", "g(o);", "cur"),
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


@pytest.mark.parametrize(
    "declared",
    [
        "int *p = &cur; void flip() { *p = 1; }",
        "int *const p = &cur; void flip() { p[0] = 1; }",
        "int &r = cur; void flip() { r = 1; }",
        "int &r{cur}; void flip() { ++r; }",
        "Ring *p = &ring; int &cur_ = ring.now; void flip() { cur = 1; cur_ = 1; }",
        "struct H { int *p; }; H h = {&cur}; void flip() { *h.p = 1; }",
        "struct H { int n; int *p; }; static H h = {0, &cur}; void flip() { *h.p = 1; }",
        "int *ps[1] = {&cur}; void flip() { *ps[0] = 1; }",
        "void flip() { static int *p = &cur; *p = 1; }",
        "void flip() { int &r = cur; r = 1; }",
        "struct W { int &r; W(int &x) : r(x) {} void go() { r = 1; } }; W w(cur); void flip() { w.go(); }",
        "struct W { int *r; W(int *x) : r(x) {} void go() { *r = 1; } }; W w(&cur); void flip() { w.go(); }",
        "struct W { int *r; void set(int *x) { r = x; } void go() { *r = 1; } }; W w; void flip() { w.set(&cur); w.go(); }",
        "struct W { int *r = &cur; void go() { *r = 1; } }; W w; void flip() { w.go(); }",
        "int *where() { return &cur; } void flip() { *where() = 1; }",
        "int &where() { return cur; } void flip() { where() = 1; }",
        "int *pick(int *a, int *b) { return a ? a : b; } void flip() { *pick(&cur, 0) = 1; }",
        "void set(int *p, int v) { *p = v; } void flip() { set(&cur, 1); }",
        "void set(const int &p) { const_cast<int &>(p) = 1; } void flip() { set(cur); }",
        "template <class T> void set(T &p) { p = 1; } void flip() { set(cur); }",
        "std::vector<int *> v; void flip() { v.push_back(&cur); *v[0] = 1; }",
        "std::vector<int *> v{&cur}; void flip() { for (int *p : v) *p = 1; }",
        "std::map<int, int *> v; void keep(int *p) { v[3] = p; } void flip() { keep(&cur); *v[3] = 1; }",
        'void flip() { std::istringstream s("1"); s >> cur; }',
        "int *p; void keep(void *q) { p = (int *)((char *)q + 4 - 4); } void flip() { keep(&cur); *p = 1; }",
        "int **pp; int *p = &cur; void flip() { pp = &p; **pp = 1; }",
    ],
)  # fmt: skip
def test_an_index_that_is_changed_through_a_pointer_or_a_reference(declared: str) -> None:
    source = PROGRAM.format(declared=declared, first="cur = 0;", then="flip();", index="cur").encode()
    report = analyze({"main.cu": source}, Config(unsafe=True))
    after = apply(source, list(dict.fromkeys(edit for finding in report.findings for edit in finding.edits)))
    assert b"cudaFreeAsync(d[1], t)" in after or b"cudaFreeAsync" not in after


def test_a_list_of_numbers_that_picks_a_buffer_is_followed() -> None:
    """Which element of the list is read decides, and only since the list does."""
    first, then = "int at[2] = {0, 1}; int w = 0; float sums[2]; sums[cur] = 0;", "pick(w);"
    source = PROGRAM.format(declared="void pick(int &w) { w = 1; }", first=first, then=then, index="at[w]").encode()
    report = analyze({"main.cu": source}, Config(unsafe=True))
    after = apply(source, list(dict.fromkeys(edit for finding in report.findings for edit in finding.edits)))
    assert b"cudaFreeAsync(d[1], t)" in after


ROUNDS = """
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
struct Sizes {{ int n; }};
int n;
Sizes sizes;
{declared}
__global__ void k(int *p) {{ *p = 42; }}
int main(int argc, char **argv) {{
    cudaStream_t s[8];
    int *d, *out;
    {first}
    cudaMallocHost(&out, 32);
    for (int i = 0; i < {bound}; i++) cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    cudaMalloc(&d, 32);
    for (int i = 0; i < {bound}; i++) k<<<1, 1, 0, s[i]>>>(out + i);
    {then}
    for (int i = 0; i < {bound}; i++) cudaStreamSynchronize(s[i]);
    cudaFree(d);
    printf("%d\\n", out[3]);
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("declared", "first", "then", "bound"),
    [
        ("void fewer() { n = 1; }", "n = atoi(argv[1]);", "fewer();", "n"),
        ("void fewer() { n = 1; }", "n = 4;", "fewer();", "n"),
        ("void fewer() { n /= 2; }", "n = atoi(argv[1]);", "fewer();", "n"),
        ("void fewer() { sizes.n = 1; }", "sizes.n = atoi(argv[1]);", "fewer();", "sizes.n"),
        ("void fewer(Sizes &c) { c.n--; }", "Sizes c; c.n = atoi(argv[1]);", "fewer(c);", "c.n"),
        ("void fewer(int *c) { *c = 1; }", "int c = atoi(argv[1]);", "fewer(&c);", "c"),
        ("void fewer();", "n = atoi(argv[1]);", "fewer();", "n"),
    ],
)
def test_a_loop_visits_what_its_bound_says_now(declared: str, first: str, then: str, bound: str) -> None:
    """`cudaFree` waits for all streams, the loop in front of it only for some: the host would read too early."""
    source = ROUNDS.format(declared=declared, first=first, then=then, bound=bound).encode()
    report = analyze({"main.cu": source}, Config(unsafe=True))
    assert not any(finding.edits for finding in report.findings)


@pytest.mark.parametrize(
    ("declared", "first", "then", "bound"),
    [
        ("void read(char **v) { n = atoi(v[1]); }", "read(argv);", "", "n"),
        ("", "int c = atoi(argv[1]);", "", "c"),
        ("", "int c = atoi(argv[1]);", "", "2 * c"),
    ],
)
def test_a_loop_over_the_same_bound_visits_the_same(declared: str, first: str, then: str, bound: str) -> None:
    source = ROUNDS.format(declared=declared, first=first, then=then, bound=bound).encode()
    report = analyze({"main.cu": source}, Config())
    assert not report.refusals
    assert b"cudaFreeAsync(d, 0)" in apply(source, list(dict.fromkeys(e for f in report.findings for e in f.edits)))
