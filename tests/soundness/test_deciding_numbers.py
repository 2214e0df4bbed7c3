"""An index of buffers that a function on the host changes: which buffer a statement means is not what it was."""

# ruff: noqa: E501  (each row is a program's lines, side by side)

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply
from tests.soundness.test_ways_to_memory import cases

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


# what is declared | what the index is first | how it changes | the index
CHANGED = r"""
union U { int n; int *p; }; U u; void flip() { u.p = (int *)1; } | u.n = 0; | flip(); | u.n
union U { int n; unsigned m; }; U u; void flip() { u.m = 1; } | u.n = 0; | flip(); | u.n
union U { int n; unsigned char b[4]; }; U u; void flip() { u.b[0] = 1; } | u.n = 0; | flip(); | u.n
union U { int n; struct { short a, b; } s; }; U u; void flip() { u.s.a = 1; } | u.n = 0; | flip(); | u.n
union U { int n; float f; }; U u; void flip() { u.f = 1.5f; } | u.n = 0; | flip(); | u.n
struct S { union { int n; unsigned m; }; }; S u; void flip() { u.m = 1; } | u.n = 0; | flip(); | u.n
struct S { union { int n; unsigned m; } v; }; S u; void flip() { u.v.m = 1; } | u.v.n = 0; | flip(); | u.v.n
struct S { union { int n; unsigned m; } v; }; void flip(S *s) { s->v.m = 1; } | S u; u.v.n = 0; | flip(&u); | u.v.n
union U { int n; unsigned m; void set(unsigned x) { m = x; } }; U u; void flip() { u.set(1); } | u.n = 0; | flip(); | u.n
union U { int n; unsigned m; }; void flip(unsigned &m) { m = 1; } | U u; u.n = 0; | flip(u.m); | u.n
union U { int n; unsigned m; }; void flip(unsigned *m) { *m = 1; } | U u; u.n = 0; | flip(&u.m); | u.n
union U { int n[2]; long m; }; U u; void flip() { u.m = 1; } | u.n[0] = 0; | flip(); | u.n[0]
union U { int n; unsigned m; }; | U u; u.n = 0; | u.m = 1; | u.n
union U { int n; unsigned char b[4]; }; | U u; u.n = 0; | u.b[0] = 1; | u.n
union U { int n; struct { short a, b; } s; }; | U u; u.n = 0; | u.s.a = 1; | u.n
std::reference_wrapper<int> r = cur; void flip() { r.get() = 1; } | cur = 0; | flip(); | cur
std::reference_wrapper<int> r = std::ref(cur); void flip() { r.get() = 1; } | cur = 0; | flip(); | cur
std::reference_wrapper<int> r(cur); void flip() { r.get()++; } | cur = 0; | flip(); | cur
std::reference_wrapper<int> r{cur}; void flip() { int &x = r; x = 1; } | cur = 0; | flip(); | cur
std::reference_wrapper r{cur}; void flip() { static_cast<int &>(r) = 1; } | cur = 0; | flip(); | cur
auto r = std::ref(cur); void flip() { r.get() = 1; } | cur = 0; | flip(); | cur
std::reference_wrapper<Ring> r = ring; void flip() { r.get().now = 1; } | ring.now = 0; | flip(); | ring.now
std::vector<std::reference_wrapper<int>> r{cur}; void flip() { r[0].get() = 1; } | cur = 0; | flip(); | cur
std::atomic_ref<int> r(cur); void flip() { r.store(1); } | cur = 0; | flip(); | cur
std::atomic_ref<int> r(cur); void flip() { r = 1; } | cur = 0; | flip(); | cur
std::atomic_ref<int> r{cur}; void flip() { r.fetch_add(1); } | cur = 0; | flip(); | cur
std::span<int> r(&cur, 1); void flip() { r[0] = 1; } | cur = 0; | flip(); | cur
std::span<int> r{&cur, 1}; void flip() { for (int &x : r) x = 1; } | cur = 0; | flip(); | cur
std::tuple<int &> r(cur); void flip() { std::get<0>(r) = 1; } | cur = 0; | flip(); | cur
std::tuple<int &> r = std::tie(cur); void flip() { std::get<0>(r) = 1; } | cur = 0; | flip(); | cur
auto r = std::tie(cur); void flip() { std::get<0>(r) = 1; } | cur = 0; | flip(); | cur
std::pair<int &, int> r(cur, 0); void flip() { r.first = 1; } | cur = 0; | flip(); | cur
std::optional<std::reference_wrapper<int>> r = cur; void flip() { r->get() = 1; } | cur = 0; | flip(); | cur
std::shared_ptr<int> r(&cur, [](int *) {}); void flip() { *r = 1; } | cur = 0; | flip(); | cur
std::function<void()> r = [] { cur = 1; }; void flip() { r(); } | cur = 0; | flip(); | cur
auto r = [&c = cur] { c = 1; }; void flip() { r(); } | cur = 0; | flip(); | cur
int at[2]; auto &[a, b] = at; void flip() { a = 1; } | at[0] = 0; | flip(); | at[0]
int Ring::*m = &Ring::now; void flip() { ring.*m = 1; } | ring.now = 0; | flip(); | ring.now
std::map<std::string, int *> m{{"a", &cur}}; void flip() { *m["a"] = 1; } | cur = 0; | flip(); | cur
std::any a = &cur; void flip() { *std::any_cast<int *>(a) = 1; } | cur = 0; | flip(); | cur
std::variant<int *, float *> a = &cur; void flip() { *std::get<0>(a) = 1; } | cur = 0; | flip(); | cur
std::atomic<int> c; void flip() { c = 1; } | c = 0; | flip(); | c
std::atomic<int> c; void flip() { c.store(1); } | c = 0; | flip(); | c
std::atomic<int> c; void flip() { c.store(1); } | c.store(0); | flip(); | c.load()
std::atomic<int> c; void flip() { c++; } | c.store(0); | flip(); | c.load()
std::atomic<int> c; void flip() { c.fetch_add(1); } | c.store(0); | flip(); | c.load()
std::atomic<int> c; void flip() { c.exchange(1); } | c.store(0); | flip(); | c.load()
std::atomic<int> c; void flip() { int q = 0; c.compare_exchange_strong(q, 1); } | c.store(0); | flip(); | c.load()
std::atomic<int> c; | c.store(0); | c.exchange(1); | c.load()
std::atomic<int> c; | c.store(0); | c.fetch_add(1); | c.load()
std::atomic<int> c; | c = 0; | int q = 0; c.compare_exchange_strong(q, 1); | c
std::bitset<4> c; void flip() { c.set(0); } | c.reset(); | flip(); | c.to_ulong()
std::vector<int> c(2); void flip() { c.assign(2, 1); } | c[0] = 0; | flip(); | c[0]
std::vector<int> c(2); void flip() { std::fill(c.begin(), c.end(), 1); } | c[0] = 0; | flip(); | c[0]
std::vector<int> c(2); void flip() { c.erase(c.begin()); } | c[0] = 0; c[1] = 1; | flip(); | c[0]
std::vector<int> c(2); void flip() { c.insert(c.begin(), 1); } | c[0] = 0; | flip(); | c[0]
std::vector<int> c(2); void flip() { std::swap(c[0], c[1]); } | c[0] = 0; c[1] = 1; | flip(); | c[0]
std::vector<int> c(2); void flip() { std::reverse(c.begin(), c.end()); } | c[0] = 0; c[1] = 1; | flip(); | c[0]
std::vector<int> c(2); | c[0] = 0; c[1] = 1; | std::reverse(c.begin(), c.end()); | c[0]
std::vector<int> c(2); | c[0] = 0; c[1] = 1; | c.erase(c.begin()); | c[0]
std::vector<int> c(2); | c[0] = 0; c[1] = 1; | std::swap(c[0], c[1]); | c[0]
std::deque<int> c(2); | c[0] = 0; c[1] = 1; | c.pop_front(); | c[0]
std::deque<int> c(2); | c[0] = 0; | c.push_front(1); | c[0]
std::queue<int> c; | c.push(0); c.push(1); | c.pop(); | c.front()
std::array<int, 2> c; | c[0] = 0; | c.fill(1); | c[0]
int c[2]; | c[0] = 0; | std::fill(c, c + 2, 1); | c[0]
int c[2]; | c[0] = 0; | std::fill_n(c, 2, 1); | c[0]
int c[2]; | c[0] = 0; | std::generate(c, c + 2, [] { return 1; }); | c[0]
int c[2]; | c[0] = 0; | memset(c, 1, 8); | c[0]
int c[2]; | c[0] = 0; c[1] = 1; | std::rotate(c, c + 1, c + 2); | c[0]
int c[2]; | c[0] = 0; c[1] = 1; | std::sort(c, c + 2, [](int a, int b) { return a > b; }); | c[0]
int c[2]; | c[0] = 0; c[1] = 1; | c[0] ^= c[1]; | c[0]
int c[2]; | c[0] = 0; c[1] = 1; | std::swap(c[0], c[1]); | c[0]
int c[2]; | c[0] = 0; c[1] = 1; | std::exchange(c[0], 1); | c[0]
std::pair<int, int> c; | c = {0, 1}; | std::swap(c.first, c.second); | c.first
std::tuple<int, int> c; | c = {0, 1}; | std::get<0>(c) = 1; | std::get<0>(c)
std::optional<int> c; | c = 0; | c = 1; | *c
std::optional<int> c; | c = 0; | c.emplace(1); | *c
std::map<int, int> c; | c[0] = 0; | c[0] = 1; | c[0]
std::map<int, int> c; | c[0] = 0; | c.at(0)++; | c[0]
std::map<int, int> c; | c[0] = 0; | c.begin()->second = 1; | c[0]
std::map<int, int> c; | c[0] = 0; | for (auto &[k, v] : c) v = 1; | c[0]
std::map<int, int> c; | c[0] = 0; | c.insert_or_assign(0, 1); | c[0]
std::unique_ptr<int> c(new int); | *c = 0; | *c = 1; | *c
std::unique_ptr<int> c(new int); void flip() { *c = 1; } | *c = 0; | flip(); | *c
std::shared_ptr<int> c = std::make_shared<int>(); auto b = c; void flip() { *b = 1; } | *c = 0; | flip(); | *c
int *c = new int; int *b = c; void flip() { *b = 1; } | *c = 0; | flip(); | *c
volatile int c; void flip() { c = 1; } | c = 0; | flip(); | c
thread_local int c; void flip() { c = 1; } | c = 0; | flip(); | c
enum E { A, B }; E c; void flip() { c = B; } | c = A; | flip(); | c
enum class E { A, B }; E c; void flip() { c = E::B; } | c = E::A; | flip(); | (int)c
bool c; void flip() { c = !c; } | c = false; | flip(); | c
struct S { unsigned now : 1; }; S c; void flip() { c.now ^= 1; } | c.now = 0; | flip(); | c.now
struct S { unsigned now : 1; }; S c; | c.now = 0; | c.now++; | c.now
char c; void flip() { c ^= 1; } | c = 0; | flip(); | c
size_t c; void flip() { c = 1 - c; } | c = 0; | flip(); | c
long c; void flip() { c = (c + 1) & 1; } | c = 0; | flip(); | c
int c; struct T { ~T() { c = 1; } }; void flip() { static thread_local T t; } | c = 0; | { T t; } | c
int c; void flip() { auto f = [] { c = 1; }; f(); } | c = 0; | flip(); | c
int c; int step() { return c = 1; } void flip(int x = step()) {} | c = 0; | flip(); | c
int c; template <int N> void flip() { c = N; } | c = 0; | flip<1>(); | c
int c; struct O { operator int() { return c = 1; } }; | c = 0; | int z = O(); | c
int c; struct O { O &operator<<(int x) { c = x; return *this; } }; O o; | c = 0; | o << 1; | c
int c; constexpr int one() { return 1; } void flip() { if constexpr (one() == 1) c = 1; } | c = 0; | flip(); | c
int c; void flip() { switch (int q = 1; q) { case 1: c = q; } } | c = 0; | flip(); | c
int c; void flip() { for (int v[] = {1}; int q : v) c = q; } | c = 0; | flip(); | c
int c; void flip() { if (int q = 1) c = q; } | c = 0; | flip(); | c
int c; void flip() { c = ({ int q = 1; q; }); } | c = 0; | flip(); | c
int c; void flip() { __atomic_store_n(&c, 1, 5); } | c = 0; | flip(); | c
int c; void flip() { __sync_fetch_and_add(&c, 1); } | c = 0; | flip(); | c
int c; | c = 0; | __atomic_fetch_add(&c, 1, 5); | c
int c; | c = 0; | __sync_lock_test_and_set(&c, 1); | c
int c; | c = 0; | std::atomic_ref<int>(c).store(1); | c
int c; | c = 0; | std::atomic_ref(c)++; | c
int c; | c = 0; | std::iota(&c, &c + 1, 1); | c
int c; | c = 0; | sscanf("1", "%d", &c); | c
int c; | c = 0; | c = getchar(); | c
int c; | c = 0; | std::from_chars("1", "2", c); | c
int c; | c = 0; | std::cin >> c; | c
int c; | c = 0; | [&] { c = 1; }(); | c
int c; | c = 0; | [&c = c]() mutable { c = 1; }(); | c
int c; | c = 0; | std::invoke([&] { c = 1; }); | c
int c; | c = 0; | std::call_once(flag, [] { c = 1; }); | c
int c; | c = 0; | auto &[x] = *new std::array<int *, 1>{&c}; *x = 1; | c
int c; | c = 0; | cudaGetDeviceCount(&c); | c
int c; | c = 0; | cudaGetDevice(&c); | c
int c; | c = 0; | cudaDeviceGetAttribute(&c, cudaDevAttrWarpSize, 0); | c
int c; | c = 0; | cudaRuntimeGetVersion(&c); | c
int c; | c = 0; | cudaOccupancyMaxActiveBlocksPerMultiprocessor(&c, k, 1, 0); | c
int c; | c = 0; | MPI_Comm_rank(0, &c); | c
cudaDeviceProp c; | c.major = 0; | cudaGetDeviceProperties(&c, 0); | c.major
int c; __device__ int gc; | c = 0; | cudaMemcpyFromSymbol(&c, gc, 4); | c
int *c; | cudaMallocHost(&c, 4); *c = 0; | k<<<1, 1>>>(c); cudaDeviceSynchronize(); | *c
__managed__ int c; __global__ void kc() { c = 1; } | c = 0; | kc<<<1, 1>>>(); cudaDeviceSynchronize(); | c
int c; | c = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy(&c, h, 4, cudaMemcpyDeviceToHost); | c
struct M { int now; }; __global__ void km(M *m) { m->now = 1; } M *m; | cudaMallocManaged(&m, 4); m->now = 0; | km<<<1, 1>>>(m); cudaDeviceSynchronize(); | m->now
struct M { int now; }; __global__ void km(M *m) { m->now = 1; } M *m; | cudaMallocHost(&m, 4); m->now = 0; | km<<<1, 1>>>(m); cudaDeviceSynchronize(); | m->now
struct M { int now; }; M *m; | cudaMallocHost(&m, 4); m->now = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpyAsync(m, h, 4, cudaMemcpyDeviceToHost, s); cudaStreamSynchronize(s); | m->now
struct M { int now; }; __managed__ M m; __global__ void km() { m.now = 1; } | m.now = 0; | km<<<1, 1>>>(); cudaDeviceSynchronize(); | m.now
struct M { int now; }; | M m; m.now = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy(&m, h, 4, cudaMemcpyDeviceToHost); | m.now
struct M { int now; }; | M m; m.now = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy(&m.now, h, 4, cudaMemcpyDeviceToHost); | m.now
| int m[2]; m[0] = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy(m, h, 4, cudaMemcpyDeviceToHost); | m[0]
| int m[2]; m[0] = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy2D(m, 4, h, 4, 4, 1, cudaMemcpyDeviceToHost); | m[0]
| std::vector<int> m(2); m[0] = 0; | int *h; cudaMalloc(&h, 4); cudaMemcpy(m.data(), h, 4, cudaMemcpyDeviceToHost); | m[0]
| int c = 0; | std::thread q([&] { c = 1; }); q.join(); | c
| cur = 0; | std::thread q([] { cur = 1; }); q.join(); | cur
void f() { cur = 1; } | cur = 0; | std::thread q(f); q.join(); | cur
void *f(void *p) { *(int *)p = 1; return 0; } | int c = 0; | pthread_t q; pthread_create(&q, 0, f, &c); pthread_join(q, 0); | c
| int c = 0; | auto q = std::async([&] { c = 1; }); q.wait(); | c
| int c = 0; | std::jthread q([&] { c = 1; }); q.join(); | c
| int c = 0; | #pragma omp parallel\n c = 1; | c
| int c = 0; | #pragma omp parallel for\n for (int i = 0; i < 2; i++) c = i; | c
| int c = 0; | #pragma omp task shared(c)\n c = 1; | c
| int c = 0; | int z = thrust::reduce(thrust::host, &c, &c + 1); c = z; | c
| int c = 0; | cudaStreamGetPriority(s, &c); | c
| int c = 0; | cudaPointerAttributes pa; cudaPointerGetAttributes(&pa, 0); c = pa.device; | c
| cudaPointerAttributes c; c.device = 0; | cudaPointerGetAttributes(&c, 0); | c.device
| size_t c = 0; | size_t tot; cudaMemGetInfo(&c, &tot); | c
| float c = 0; | cudaEventElapsedTime(&c, 0, 0); | (int)c
| int c = 0; | getopt(argc, argv, "a"); c = optind; | c
| int c = 0; | c = atoi(argv[1]); | c
| int c = 0; | c += argc; | c
| int c = 0; | c = c ? 0 : 1; | c
| int c = 0; | if (argc) c = 1; | c
| int c = 0; | while (c < 1) c++; | c
| int c = 0; | do c++; while (c < 1); | c
| int c = 0; | for (c = 0; c < 1; ++c); | c
| int c = 0; | goto l; l: c = 1; | c
| int c = 0; | try { throw 1; } catch (int x) { c = x; } | c
| int c = 0; | switch (argc) { case 1: c = 1; default: break; } | c
| int c = 0; | (argc ? c : cur) = 1; | c
| int c = 0; | int &r = argc ? c : cur; r = 1; | c
| int c = 0; | int *r = argc ? &c : &cur; *r = 1; | c
| int c = 0; | *&c = 1; | c
| int c = 0; | (&c)[0] = 1; | c
| int c = 0; | 0[&c] = 1; | c
| int c = 0; | (c) = 1; | c
| int c = 0; | c = 0, c = 1; | c
| int c = 0; | ++(++c); | c
| int c = 0; | c = -~c; | c
| int c[1][1]; c[0][0] = 0; | c[0][0] = 1; | c[0][0]
| int c[1][1]; c[0][0] = 0; | memset(c, 1, 4); | c[0][0]
| Ring c; c.now = 0; | c = Ring(); c.now++; | c.now
| Ring c; c.now = 0; | c = {1}; | c.now
| Ring c; c.now = 0; | c = Ring{1}; | c.now
| Ring c; c.now = 0; | Ring o = {1}; c = o; | c.now
| Ring c; c.now = 0; | Ring o = {1}; std::swap(c, o); | c.now
| Ring c; c.now = 0; | new (&c) Ring{1}; | c.now
| Ring c; c.now = 0; | memcpy(&c, argv[0], 4); | c.now
| Ring c; c.now = 0; | *(int *)&c = 1; | c.now
| Ring c; c.now = 0; | ((char *)&c)[0] = 1; | c.now
| Ring c; c.now = 0; | std::cin.read((char *)&c, 4); | c.now
| Ring c; c.now = 0; | fread(&c, 4, 1, stdin); | c.now
| Ring c; c.now = 0; | read(0, &c, 4); | c.now
"""


@pytest.mark.parametrize("case", cases(CHANGED))
def test_an_index_is_what_it_was_made_in_whatever_way(case: str) -> None:
    declared, first, then, index = (part.strip().replace("\\n", "\n") for part in case.split("|", 3))
    source = PROGRAM.format(declared=declared, first=first, then=then, index=index).encode()
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
