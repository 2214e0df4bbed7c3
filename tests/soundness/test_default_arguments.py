"""Default arguments that a declaration gives, far from the definition: what a call that leaves them out passes, and what
it evaluates (C++17, 11.3.6 [dcl.fct.default]). One program a line (`other_stream`), with declarations in front of `||`.
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze as analyze_files
from cudafix.project.config import Config
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_to_memory import cases

# what the programs begin with, by the first word of their declarations, and of their statements
SHORT = {
    "G!": "int *gp; cudaStream_t gs; int go() { run(gp, gs); return 1; } struct T { T() { run(gp, gs); } T(int) { run(gp, gs); } };"
}
SET = {"S!": "gp = d; gs = other;"}


def source_of(case: str) -> str:
    declarations, _, statements = case.partition(" || ")
    first, _, more = declarations.partition(" ")
    begin, _, rest = statements.partition(" ")
    return f"{SHORT.get(first, first)} {more}" + MAIN % f"{SET.get(begin, begin)} {rest}"


ON_ANOTHER_STREAM = """
G! void f(int n = go()); void f(int n) {} || S! f();
G! void f(int n, int m = go()); void f(int n = 1, int m); void f(int n, int m) {} || S! f();
G! void f(int *p, int n); void f(int *p, int n = go()); void f(int *p, int n) {} || S! f(e);
G! void f(int n = go() ? 1 : 2); void f(int n) {} || S! f();
G! void f(int n = [] { return go(); }()); void f(int n) {} || S! f();
G! namespace n { void f(int n = go()); } void n::f(int n) {} || S! n::f();
G! template <class T> void f(T *p, int n = go()); template <class T> void f(T *p, int n) {} || S! f(e);
G! struct S { void f(int n = go()); }; void S::f(int n) {} || S! S s; s.f();
G! struct S { S(int n = go()); }; S::S(int n) {} || S! S s;
G! struct S { void operator()(int n = go()); }; void S::operator()(int n) {} || S! S s; s();
G! struct B { virtual void f(int n = go()) {} }; struct D : B { void f(int n = 3) override {} }; || S! D x; B &b = x; b.f();
G! struct B { virtual void f(int n = go()) = 0; }; struct D : B { void f(int) override {} }; || S! B *b = new D; b->f();
G! void f(T t = T()); void f(T t) {} || S! f();
G! void f(T t = {}); void f(T) {} || S! f();
G! void f(T t = {}) {} || S! f();
G! void f(const T &t = {}) {} || S! f();
G! void f(const T &t = {}); void f(const T &t) {} || S! f();
G! void f(const T & = T()); void f(const T &) {} || S! f();
G! void f(const T &t = 3); void f(const T &t) {} || S! f();
G! void f(int *p, cudaStream_t s = gs); void f(int *p, cudaStream_t s) { run(p, s); } || S! f(d);
G! void f(int *p = gp, cudaStream_t s = gs); void f(int *p, cudaStream_t s) { run(p, s); } || S! f();
G! void f(cudaStream_t s, int *p = 0); void f(cudaStream_t s, int *p) { if (p) run(p, s); } || f(other, d);
G! void f(int *p, cudaStream_t s = 0); void f(int *p, cudaStream_t s) { run(p, s); } || f(d, other);
G! void f(int *p, cudaStream_t s = 0) { run(p, s); } || S! void f(int *p, cudaStream_t s = gs); f(d);
G! void f(int *p, cudaStream_t s = 0); void f(int *p, cudaStream_t s) { run(p, s); } || S! { void f(int *, cudaStream_t = gs); f(d); }
G! namespace m { void f(int *p, cudaStream_t s = 0); } namespace n { void f(int *p, cudaStream_t s = gs); void f(int *p, cudaStream_t s) { run(p, s); } } || S! n::f(d);
G! struct B { virtual void f(int *p, cudaStream_t s = gs) {} }; struct D : B { void f(int *p, cudaStream_t s = 0) override { run(p, s); } }; || S! D x; B &b = x; b.f(d);
G! struct B { virtual void f(int *p, cudaStream_t s = gs); }; void B::f(int *p, cudaStream_t s) {} struct D : B { void f(int *p, cudaStream_t s = 0) override; }; void D::f(int *p, cudaStream_t s) { run(p, s); } || S! D x; B &b = x; b.f(d);
G! struct B { virtual void f(int *p, cudaStream_t s = gs) = 0; }; struct D : B { void f(int *p, cudaStream_t s) override; }; void D::f(int *p, cudaStream_t s) { run(p, s); } || S! B *b = new D; b->f(d);
"""


@pytest.mark.parametrize("case", cases(ON_ANOTHER_STREAM))
def test_what_a_default_argument_starts_on_another_stream_is_waited_for(case: str) -> None:
    check(analyze(source_of(case)))


ON_THE_DEFAULT_STREAM = """
void f(int *p, cudaStream_t s = 0); void f(int *p, cudaStream_t s) { run(p, s); } || f(d);
void f(int *p, cudaStream_t s = nullptr); void f(int *p, cudaStream_t s) { run(p, s); } || f(d);
void f(int *p, cudaStream_t s = NULL); void f(int *p, cudaStream_t s) { run(p, s); } || f(d);
void f(int *p, cudaStream_t s = {}); void f(int *p, cudaStream_t s) { run(p, s); } || f(d);
void f(int *p, cudaStream_t s = {}) { run(p, s); } || f(d);
void f(int *, cudaStream_t = 0); void f(int *p, cudaStream_t s) { run(p, s); } || f(d);
void f(int *, int = 3, cudaStream_t = 0); void f(int *p, const int n, cudaStream_t s) { run(p, s); } || f(d, 4);
namespace n { void f(int *p, cudaStream_t s = 0); } void n::f(int *p, cudaStream_t s) { run(p, s); } || n::f(d);
template <class T> void f(T *p, cudaStream_t s = 0); template <class T> void f(T *p, cudaStream_t s) { run(p, s); } || f(d);
struct S { S(int *p, cudaStream_t s = 0); }; S::S(int *p, cudaStream_t s) { run(p, s); } || S s(d);
struct S { void f(int *p, cudaStream_t s = 0) const; }; void S::f(int *p, cudaStream_t s) const { run(p, s); } || const S s{}; s.f(d);
struct S { static void f(int *p, cudaStream_t s = 0); }; void S::f(int *p, cudaStream_t s) { run(p, s); } || S::f(d);
template <class T> struct S { void f(T *p, cudaStream_t s = 0); }; template <class T> void S<T>::f(T *p, cudaStream_t s) { run(p, s); } || S<int> s; s.f(d);
struct B { virtual void f(int *p, cudaStream_t s = 0) = 0; }; struct D : B { void f(int *p, cudaStream_t s = 0) override; }; void D::f(int *p, cudaStream_t s) { run(p, s); } || D x; B &b = x; b.f(d);
"""


@pytest.mark.parametrize("case", cases(ON_THE_DEFAULT_STREAM))
def test_the_default_stream_of_a_declaration(case: str) -> None:
    declarations, _, statements = case.partition(" || ")
    report = analyze(declarations + MAIN % statements)
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


def test_the_default_stream_of_a_header() -> None:
    files = {
        "include/launch.cuh": "#pragma once\nvoid launch(float *, int n, float scale = 1.0f, cudaStream_t stream = 0);\n",
        "src/launch.cu": """#include "launch.cuh"
__global__ void k(float *p, int n, float s) { if (threadIdx.x < n) p[threadIdx.x] *= s; }
void launch(float *p, int n, float scale, cudaStream_t stream) { k<<<1, 32, 0, stream>>>(p, n, scale); }
""",
        "tests/main.cu": """#include "launch.cuh"
int main() {
    float *d, h[4] = {};
    cudaMalloc(&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    launch(d, 4);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h[0];
}
""",
    }
    report = analyze_files({path: text.encode() for path, text in files.items()}, Config())
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


@pytest.mark.parametrize("defines", [True, False])
def test_default_arguments_that_a_source_declares_for_a_function_of_another_one(defines: bool) -> None:
    others = ["void f(int n);"]
    if defines:
        others.append('#include "1.h"\nvoid f(int n) {}')
    text = '#include "1.h"\nint *gp; cudaStream_t gs; int go() { run(gp, gs); return 1; } void f(int n = go());'
    check(analyze(text + MAIN % "gp = d; gs = other; f();", *others))
