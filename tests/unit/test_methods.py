"""Which method a call on an object reaches: a method of the same name in the same file is not enough."""

from __future__ import annotations

import pytest

from cudafix.findings import Report, Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

KERNELS = b"""
#include <cuda_runtime.h>
__global__ void k(float *d) { *d = 1; }
"""
RUNNER = "struct Runner { Part *part; void step(float *d) { k<<<1, 1>>>(d); } void go(float *d) { part->step(d); } };"
MAIN = """
#include "part.h"
%s
int main() { Runner r; r.part = make_part(); float *d; cudaMalloc(&d, 4); r.go(d); cudaFree(d); }
"""
PART = b"""
#pragma once
struct Part { virtual void step(float *d) = 0; };
Part *make_part();
"""
LATE = b"""
#include <cuda_runtime.h>
#include "part.h"
__global__ void slow(float *d) { *d = 2; }
struct Late : Part {
    cudaStream_t s;
    Late() { cudaStreamCreateWithFlags(&s, %s); }
    void step(float *d) override { slow<<<1, 1, 0, s>>>(d); }
};
Part *make_part() { return new Late; }
"""


def of_another_file(flags: bytes) -> Report:
    main = KERNELS + (MAIN % RUNNER).encode()
    return analyze({"main.cu": main, "part.h": PART, "part.cu": LATE % flags}, Config())


def test_a_method_of_a_derived_class_in_another_file_runs() -> None:
    assert [refusal.name for refusal in of_another_file(b"cudaStreamNonBlocking").refusals] == ["out_of_order"]
    assert of_another_file(b"cudaStreamDefault").findings


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("Unseen e; e.step(d);", id="a local"),
        pytest.param("Unseen *e = make_unseen(); e->step(d);", id="through a pointer"),
        pytest.param("Holder h; h.e->step(d);", id="a member"),
        pytest.param("other::Unseen<float> e; e.step(d);", id="of a template"),
        pytest.param("const Unseen &e = the_unseen(); e.step(d);", id="through a reference"),
    ],
)
def test_a_class_that_is_not_seen_has_no_method_of_another_one(made: str) -> None:
    text = f"""
#include "unseen.h"
struct Runner {{ void step(float *d) {{ k<<<1, 1>>>(d); }} }};
struct Holder {{ Unseen *e; }};
int main() {{ float *d; cudaMalloc(&d, 4); {made} cudaFree(d); }}
"""
    report = analyze({"main.cu": KERNELS + text.encode()}, Config())
    assert [refusal.name for refusal in report.refusals] == ["unknown_call"]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("using Name = Runner; Name e; e.step(d);", id="an alias"),
        pytest.param("\n#define NAME Runner\nNAME e; e.step(d);", id="a macro"),
        pytest.param("struct Runner e; e.step(d);", id="with its keyword"),
        pytest.param("auto e = Runner(); e.step(d);", id="deduced"),
        pytest.param("std::vector<Runner> e(1); e[0].step(d);", id="an element"),
        pytest.param("run(Runner(), d);", id="of a template"),
        pytest.param("Outer o; o.inner.step(d);", id="a member"),
        pytest.param("std::shared_ptr<Runner> e(new Runner); e->step(d);", id="through a smart pointer"),
    ],
)
def test_a_class_that_is_seen_has_its_method(made: str) -> None:
    text = f"""
#include <memory>
#include <vector>
struct Runner {{ void step(float *d) {{ k<<<1, 1>>>(d); }} }};
struct Outer {{ Runner inner; }};
template <class T> void run(T &&t, float *d) {{ t.step(d); }}
int main() {{ float *d; cudaMalloc(&d, 4); {made} cudaFree(d); }}
"""
    report = analyze({"main.cu": KERNELS + text.encode()}, Config())
    assert not report.refusals
    assert report.findings


def test_a_method_that_a_class_inherits_is_that_of_its_base() -> None:
    text = """
struct Base { void step(float *d) { k<<<1, 1>>>(d); } };
struct Other { cudaStream_t s; void step(float *d) { k<<<1, 1, 0, s>>>(d); } };
struct Own : Base { void go(float *d) { this->step(d); step(d); } };
int main() { float *d; cudaMalloc(&d, 4); Own o; o.go(d); o.step(d); cudaFree(d); }
"""
    report = analyze({"main.cu": KERNELS + text.encode()}, Config())
    assert report.findings
    assert not report.refusals


@pytest.mark.parametrize(
    ("caller", "moves"),
    [
        pytest.param("void go(float *d) { step(d); }", False, id="a function"),
        pytest.param("struct Own : Unseen { void go(float *d) { step(d); } }; Own o; void go(float *d) { o.go(d); }",
                     False, id="a method of a class with an unseen base"),
        pytest.param("void go(float *d) { auto f = [=] { step(d); }; f(); }", False, id="a lambda"),
        pytest.param("void go(float *d) { Runner().again(d); }", True, id="the class itself"),
    ],
)  # fmt: skip
def test_a_call_without_an_object_is_no_method_of_some_class(caller: str, moves: bool) -> None:
    text = f"""
#include "unseen.h"
struct Runner {{
    void step(float *d) {{ k<<<1, 1>>>(d); }}
    void again(float *d) {{ step(d); }}
}};
{caller}
int main() {{ float *d; cudaMalloc(&d, 4); go(d); cudaFree(d); }}
"""
    report = analyze({"main.cu": KERNELS + text.encode()}, Config())
    assert bool(report.findings) is moves
    assert moves or [refusal.name for refusal in report.refusals] == ["unknown_call"]


DELEGATES = b"""
struct Part { float *p; Part(int n) { cudaMalloc(&p, n); } ~Part() { cudaFree(p); } };
struct Bench {
    Part part;
    float *q;
    Bench(int n)
        : Bench(n, n) {
        cudaMemset(q, 0, n);
    }
    Bench() : Bench(1, 2) {}
    Bench(int n, int m) : part(n + m) {
        cudaMalloc(&q, n);
    }
    ~Bench() { cudaFree(q); }
};
"""


def test_a_constructor_that_calls_another_one_makes_no_parts_of_its_own() -> None:
    report = analyze({"main.cu": DELEGATES + b"int main() { { Bench a; } Bench b(4); return 0; }\n"}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN, Safety.PROVEN]


def test_nothing_is_written_into_the_initializer_list_of_a_constructor() -> None:
    """The pool is set up in the body that allocates, not in front of `Bench(n, n)`."""
    source = DELEGATES.replace(b": part(n + m)", b"").replace(b"    Part part;\n", b"")
    source = source.replace(b"cudaMalloc(&q, n);", b"for (m = 0; m < n; m++) { cudaMalloc(&q, n); cudaFree(q); }")
    source = source.replace(b"~Bench() { cudaFree(q); }", b"")
    report = analyze({"bench.cuh": source}, Config())
    edits = [edit for finding in report.findings for edit in finding.edits]
    after = apply(source, edits).decode()
    assert "        : Bench(n, n) {\n" in after
    assert "keep_pool_memory();" in after[after.index("Bench(int n, int m)") :]


def test_the_difference_of_two_times_is_no_operator_of_a_class_of_the_program() -> None:
    source = b"""
#include <chrono>
#include <cuda_runtime.h>
using Clock = std::chrono::steady_clock;
template <class T> struct Pair { T a, b; Pair operator-() const { return {-a, -b}; } };
__global__ void k(float *d) { *d = 1; }
int main() {
    float *d;
    cudaMalloc(&d, 4);
    auto start = Clock::now();
    k<<<1, 1>>>(d);
    cudaDeviceSynchronize();
    auto end = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(end - start).count();
    cudaFree(d);
    return seconds > 3;
}
"""
    report = analyze({"main.cu": source}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


NAMED_LIKE_A_LIBRARY = """
#include <cuda_runtime.h>
#include <vector>
__global__ void k(int *p) { p[0] = 1; }
cudaStream_t s;
struct Job { int *d; void begin() { k<<<1, 1, 0, s>>>(d); } int size() { k<<<1, 1, 0, s>>>(d); return 1; } };
%s
int main() {
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    Job job;
    cudaMalloc(&job.d, 4);
    %s
    cudaFree(job.d);
}
"""


@pytest.mark.parametrize(
    ("declared", "calls"),
    [
        ("template <class T> void go(T &x) { x.begin(); }", "go(job);"),
        ("template <class T> void go(T *x) { x->begin(); }", "go(&job);"),
        ("template <class T> void go(T x) { x.begin(); }", "go(job);"),
        ("template <class... T> void go(T &... x) { (x.begin(), ...); }", "go(job);"),
        ("template <class T> int go(T &x) { return x.size() + 1; }", "int n = go(job);"),
        ("template <class T> struct Box { T &t; void go() { t.begin(); } };", "Box<Job> b{job}; b.go();"),
        ("template <class T> void go(T &x) { for (auto &e : x) e.begin(); }", "std::vector<Job> v{job}; go(v);"),
        ("void go(auto &x) { x.begin(); }", "go(job);"),
        ("", "auto go = [](auto &x) { x.begin(); }; go(job);"),
        ("", "decltype(job) &x = job; x.begin();"),
        ("struct J { using T = Job; }; template <class U> void go(typename U::T &x) { x.begin(); }", "go<J>(job);"),
    ],
)  # fmt: skip
def test_a_method_that_is_called_like_one_of_the_standard_library(declared: str, calls: str) -> None:
    """`size` and `begin` of a type that the caller of a template gives may be those of a class of the program."""
    source = (NAMED_LIKE_A_LIBRARY % (declared, calls)).encode()
    report = analyze({"main.cu": source}, Config(unsafe=True))
    after = apply(source, [edit for finding in report.findings for edit in finding.edits])
    assert b"cudaFreeAsync(job.d, s)" in after or b"cudaFreeAsync" not in after
