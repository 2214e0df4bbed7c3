"""Uses of a buffer that no plain call shows: lambdas, objects that somebody else makes, operators, virtual functions.

In each program a kernel works on the buffer on a stream of its own (see `other_stream`).
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline import driver
from cudafix.project.config import Config
from tests.other_stream import MAIN, analyze

USES = {
    "a lambda is called": ("", "auto f = [&] { k<<<1, 1, 0, other>>>(d); }; f();"),
    "a lambda in a lambda": ("", "auto f = [&] { auto g = [&] { k<<<1, 1, 0, other>>>(d); }; g(); }; f();"),
    "a lambda sets a variable": ("", "auto f = [&] { e = d; }; f(); k<<<1, 1, 0, other>>>(e);"),
    "a lambda returns the pointer": ("", "auto f = [&] { return d; }; k<<<1, 1, 0, other>>>(f());"),
    "a function of the program calls the lambda": (
        "template <class F> void call(F f) { f(); }",
        "call([&] { k<<<1, 1, 0, other>>>(d); });",
    ),
    "an algorithm calls the lambda": (
        "",
        "std::vector<int> v(3); std::for_each(v.begin(), v.end(), [&](int) { k<<<1, 1, 0, other>>>(d); });",
    ),
    "an unknown function gets the lambda": ("", "submit([&] { k<<<1, 1, 0, other>>>(d); });"),
    "a container keeps the lambda": (
        "",
        "std::vector<std::function<void()>> v; v.push_back([&] { k<<<1, 1, 0, other>>>(d); }); for (auto &f : v) f();",
    ),
    "a member keeps the lambda": (
        "struct Op { std::function<void()> f; void go() { f(); } };",
        "Op op; op.f = [&] { k<<<1, 1, 0, other>>>(d); }; op.go();",
    ),
    "a lambda outlives its function": (
        "std::function<void()> make(int *d, cudaStream_t s) { return [=] { k<<<1, 1, 0, s>>>(d); }; }",
        "auto f = make(d, other); f();",
    ),
    "a lambda has copied the pointer": (
        "",
        "int *p = d; auto f = [p, other] { k<<<1, 1, 0, other>>>(p); }; p = e; f();",
    ),
    "a virtual function": (
        """
        struct Base { int *p; cudaStream_t s; virtual void go() {} };
        struct Derived : Base { void go() override { k<<<1, 1, 0, s>>>(p); } };
        void all(Base &b) { b.go(); }
        """,
        "Derived x; x.p = d; x.s = other; all(x);",
    ),
    "a virtual function of this object": (
        """
        struct Base { int *p; cudaStream_t s; virtual void go() {} void all() { go(); } };
        struct Derived : Base { void go() override { k<<<1, 1, 0, s>>>(p); } };
        """,
        "Derived x; x.p = d; x.s = other; x.all();",
    ),
    "an operator": (
        "struct A { int *p; cudaStream_t s; }; A operator+(A a, int) { run(a.p, a.s); return a; }",
        "A a; a.p = d; a.s = other; a + 1;",
    ),
    "an assignment": (
        "struct A { int *p; cudaStream_t s; A &operator=(int) { run(p, s); return *this; } };",
        "A a; a.p = d; a.s = other; a = 1;",
    ),
    "a copy": (
        "struct A { int *p; cudaStream_t s; A(int *a) : p(a) {} A(const A &o) { run(o.p, o.s); } };",
        "A a(d); a.s = other; A b = a;",
    ),
    "an index": ("struct A { int *p; int *operator[](int i) { return p + i; } };", "A a; a.p = d; run(a[0], other);"),
    "a struct that a function returns": (
        "struct A { int *p; cudaStream_t s; }; A make(int *p, cudaStream_t s) { A a; a.p = p; a.s = s; return a; }",
        "A a = make(d, other); k<<<1, 1, 0, a.s>>>(a.p);",
    ),
    "a list of values that a function returns": (
        "struct A { int *p; cudaStream_t s; }; A make(int *p, cudaStream_t s) { return {p, s}; }",
        "A a = make(d, other); k<<<1, 1, 0, a.s>>>(a.p);",
    ),
    "structs in a container": (
        "struct A { int *p; cudaStream_t s; };",
        "std::vector<A> v; A a; a.p = d; a.s = other; v.push_back(a); for (auto &x : v) k<<<1, 1, 0, x.s>>>(x.p);",
    ),
    "a function in a member": (
        "struct A { void (*f)(int *, cudaStream_t); };",
        "A a = {run}; a.f(d, other);",
    ),
}


@pytest.mark.parametrize("use", USES)
def test_the_pair_stays_or_follows_the_stream(use: str) -> None:
    declarations, statements = USES[use]
    report = analyze(declarations + MAIN % statements)
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert len(moved) + len(report.refusals) == 1
    for finding in moved:
        assert any(place.text == "freed on `other`" for place in finding.related)


GIVEN = {
    "a bare algorithm": ("", "fill(d, d + 4, 0);"),
    "an algorithm that nothing waits for": ("", "int n = count(d, d + 4, 0);"),
    "a number's function": ("", "int n = min(d, 4);"),
    "a number in the table": ("", "write(d, 4);"),
    "through another pointer": ("", "int *p = d + 1; iota(p, p + 4, 0);"),
    "in a struct": ("struct A { int *p; };", "A a; a.p = d; print(a);"),
    "in a loop and a branch": ("", "for (int i = 0; i < 3; ++i) if (i > 1) { int n = count(d, d + 4, 0); (void)n; }"),
    "in a function that only works on the host": ("void f(int *p) { iota(p, p + 4, 0); }", "f(d);"),
    "through a global": ("int *shared; void f() { iota(shared, shared + 4, 0); }", "shared = d; f();"),
    "in a member": ("struct A { int *p; void go() { fill(p, p + 4, 0); } };", "A a; a.p = d; a.go();"),
    "in a lambda": ("", "auto f = [&] { fill(d, d + 4, 0); }; f();"),
    "a method of a class out of sight": ("", "Weights w; w.load(d);"),
    "a method that looks": ("", "Weights w; int n = w.count(d);"),
}


@pytest.mark.parametrize("given", GIVEN)
def test_a_host_function_that_is_given_device_memory_is_another_function(given: str) -> None:
    declarations, statements = GIVEN[given]
    report = analyze(declarations + MAIN % statements)
    assert [r.name for r in report.refusals] == ["unknown_call"]


NOT_GIVEN = {
    "the standard library's by name": "std::fill(d, d, 0); int n = std::min(3, 4);",
    "shown and compared": 'printf("%p", d); std::cout << d; assert(d != nullptr); assert(d); auto n = size_t(d);',
    "memory that the host may touch": "int *m; cudaMallocManaged(&m, 4); fill(m, m + 1, 0); cudaFree(m);",
    "an array that holds the pointer": "int *v[2] = {d, d}, *w[2]; memcpy(w, v, sizeof v); copy(v, v + 2, w);",
    "a struct that holds the pointer": "struct { int *p; } a, b; a.p = d; memcpy(&b, &a, sizeof a);",
    "host memory": "int *m = (int *)malloc(4); fill(m, m + 1, 0); int n = count(m, m + 1, 0); free(m);",
}


@pytest.mark.parametrize("given", NOT_GIVEN)
def test_a_host_function_may_know_the_pointer(given: str) -> None:
    report = analyze(MAIN % NOT_GIVEN[given])
    assert [f.safety for f in report.findings if f.codemod == "stream_ordered_pairs"] == [Safety.PROVEN]


BUFFER = """
struct B {
    int *p;
    cudaStream_t s;
    B(int *q, cudaStream_t t) : p(q), s(t) {}
    ~B() { k<<<1, 1, 0, s>>>(p); }
    B *self() { return this; }
};
B make(int *p, cudaStream_t s) { return B(p, s); }
void use(const B &b) {}
"""
LOUD = "struct C { int *p; cudaStream_t s; ~C() { run(p, s); } };"
TAKES = "struct C { int *p; void go(cudaStream_t s) { run(p, s); } };"
ENDS = {
    "a temporary object": "B(d, other);",
    "a temporary object whose method is called": "B(d, other).self();",
    "a temporary object in a declaration": "B *p = B(d, other).self();",
    "a temporary object that a function is given": "use(B(d, other));",
    "a temporary object in braces": "use(B{d, other});",
    "what a function returns": "make(d, other);",
    "what a function returns is an argument": "use(make(d, other));",
    "what a function returns is kept": "{ auto b = make(d, other); }",
    "a variable whose type is not written": "{ auto b = B(d, other); }",
    "what may be there": "{ std::optional<B> b; b.emplace(d, other); }",
    "an element of a local array": f"{LOUD} {{ C c[2]; c[0].p = d; c[0].s = other; }}",
    "a class in a function": f"{LOUD} {{ C c; c.p = d; c.s = other; }}",
    "a member of a class in a function": "struct C { B b; C(int *p, cudaStream_t s) : b(p, s) {} }; { C c(d, other); }",
    "a constructor of a class in a function": "struct C { C(int *p, cudaStream_t s) { run(p, s); } }; C c(d, other);",
    "a method of a class in a function": f"{TAKES} C c{{d}}; c.go(other);",
}


@pytest.mark.parametrize("ends", ENDS)
def test_a_destructor_uses_the_buffer(ends: str) -> None:
    report = analyze(BUFFER + MAIN % ENDS[ends])
    (moved,) = (f for f in report.findings if f.codemod == "stream_ordered_pairs")
    assert any(place.text == "freed on `other`" for place in moved.related)


def test_a_temporary_object_in_a_condition_ends_nobody_knows_where() -> None:
    report = analyze(BUFFER + MAIN % "if (B(d, other).self()) e = d;")
    assert [r.name for r in report.refusals] == ["unknown_call"]


def test_classes_of_one_name_in_two_functions_are_two() -> None:
    quiet = "void f(int *d) { struct C { int *p; cudaStream_t s; ~C() {} }; C c; c.p = d; }"
    loud = f"{LOUD} {{ C c; c.p = d; c.s = other; }} f(d);"
    (moved,) = (f for f in analyze(quiet + MAIN % loud).findings if f.codemod == "stream_ordered_pairs")
    assert any(place.text == "freed on `other`" for place in moved.related)


OWNED = {
    "what a smart pointer makes": "auto b = std::make_unique<B>(d, other);",
    "what a shared pointer makes": "std::shared_ptr<B> b = std::make_shared<B>(d, other);",
    "what a smart pointer owns": "std::unique_ptr<B> b(new B(d, other));",
    "a smart pointer hands the object on": "auto b = std::make_unique<B>(d, other); auto c = std::move(b);",
    "shared pointers own the object": "std::shared_ptr<B> b = std::make_shared<B>(d, other), c = b;",
    "a smart pointer gets the object of another": "std::unique_ptr<B> b(new B(d, other)), c(std::move(b));",
    "a smart pointer gets the object later": "B *raw = new B(e, other); std::unique_ptr<B> b(raw); raw->p = d;",
    "a container makes the object": "std::vector<B> v; v.emplace_back(d, other);",
    "a container gets the object": "std::vector<B> v; v.push_back(B(d, other));",
}


@pytest.mark.parametrize("owned", OWNED)
def test_a_destructor_that_nobody_calls_uses_the_buffer(owned: str) -> None:
    report = analyze(BUFFER + MAIN % f"{{ {OWNED[owned]} }}")
    assert not [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert report.refusals


STATICS = """
#include <cuda_runtime.h>
static int *data;
void %(name)s_open() { cudaMalloc(&data, 4); }
void %(name)s_close() { cudaFree(data); }
"""
TWO_SOURCES = {"a.cu": STATICS % {"name": "a"}, "b.cu": STATICS % {"name": "b"}}


def test_a_static_variable_of_a_header_is_one_of_each_source() -> None:
    files = {path: text.replace("static int *data;", '#include "shared.h"') for path, text in TWO_SOURCES.items()}
    files["shared.h"] = "static int *data;\n"
    files["main.cu"] = "void a_open(), b_close();\nint main() { a_open(); b_close(); return 0; }\n"
    report = driver.analyze({path: text.encode() for path, text in files.items()}, Config())
    assert not [f for f in report.findings if f.safety is Safety.PROVEN]
    assert [(r.path, r.name) for r in report.refusals if r.path == "a.cu"] == [("a.cu", "free_not_found")]


FILTER = """
struct Filter {
    int *d_ = nullptr;
    cudaStream_t s_ = nullptr;
    Filter() { cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking); cudaMalloc(&d_, 4); }
    ~Filter() { cudaFree(d_); cudaStreamDestroy(s_); }
    void go(cudaStream_t s) { k<<<1, 1, 0, s>>>(d_); }
};
"""
MADE = {
    "an element of an array": ("", "Filter x[2]; x[0].go(other);"),
    "an element of a container": ("", "std::vector<Filter> x(2); x[0].go(other);"),
    "an element that a container makes": ("", "std::vector<Filter> x; x.emplace_back(); x[0].go(other);"),
    "what smart pointers own": ("", "auto x = std::make_unique<Filter>(); auto y = std::move(x); y->go(other);"),
    "a global": ("static Filter x;", "x.go(other);"),
    "a static of a function": ("Filter &get() { static Filter x; return x; }", "get().go(other);"),
    "a container in another class": (
        "struct All { std::vector<Filter> v; };",
        "All x; x.v.resize(2); x.v[0].go(other);",
    ),
}


@pytest.mark.parametrize("made", MADE)
def test_an_object_that_somebody_else_makes_counts_too(made: str) -> None:
    declarations, statements = MADE[made]
    seen = "{ Filter own; own.go(own.s_); cudaDeviceSynchronize(); }"
    stream = "cudaStream_t other; cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);"
    text = f"int main() {{ {stream} {seen} {statements} return 0; }}"
    report = analyze(FILTER + declarations + text)
    assert not [f for f in report.findings if f.safety is Safety.PROVEN]
    assert report.refusals


def test_objects_that_main_makes_are_decided_by_main() -> None:
    text = "int main() { Filter own; own.go(own.s_); Filter *p = new Filter; p->go(p->s_); delete p; return 0; }"
    (finding,) = (f for f in analyze(FILTER + text).findings if f.codemod == "stream_ordered_pairs")
    assert finding.safety is Safety.PROVEN


def test_a_static_variable_belongs_to_its_file() -> None:
    main = "void a_open(), a_close(), b_open();\nint main() { a_open(); b_open(); a_close(); return 0; }\n"
    files = {**TWO_SOURCES, "main.cu": main}
    report = driver.analyze({path: text.encode() for path, text in files.items()}, Config())
    assert [f.path for f in report.findings if f.codemod == "stream_ordered_pairs"] == ["a.cu"]
    assert {(r.path, r.name) for r in report.refusals} == {("b.cu", "free_not_found")}


def test_nothing_is_inserted_in_a_function_that_could_not_be_read() -> None:
    text = b"""
__global__ void k(int *p) { *p = 1; }
void launch() { int *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d); }
int main() { char e[9]; strcpy(e->nameHOLDERS "hello"); launch(); cudaDeviceReset(); }
"""
    report = driver.analyze({"a.cu": text}, Config())
    (refusal,) = report.refusals
    told = "work of text that could not be parsed may still be pending when the device is reset"
    assert (refusal.name, refusal.message) == ("needs_device_sync", told)
    assert not any(finding.edits for finding in report.findings)
    fixed = driver.analyze({"a.cu": text.replace(b"HOLDERS", b",")}, Config())
    assert any(edit.text.startswith(b"cudaDeviceSynchronize") for f in fixed.findings for edit in f.edits)
