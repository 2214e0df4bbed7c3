"""Ways for a pointer to get from one place to another that are no plain assignments (see `other_stream`)."""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from tests.other_stream import MAIN, analyze, check

PLAIN = "struct A { int *p; cudaStream_t s; };"
PARTS = "struct B { int *p, *q; };"
POINTER = "typedef void (*F)(int *, cudaStream_t); void nothing(int *, cudaStream_t) {}"
EITHER = "A a{d, other}, b{e, other}; int n = rand(); A *q = n ? &a : &b;"
OTHER = "A a{e, other}, b{d, other}; int n = rand(); A *q = n ? &a : &b;"
BY_VALUE = "void by_value(A a, cudaStream_t s) { run(a.p, s); }"
RETURNED = "A returned(A *a) { A x = *a; return x; }"
WAYS = {
    "a choice that is assigned": ("", "int *x = e, *y = e; (e ? x : y) = d; run(x, other); run(y, other);"),
    "a reference to an array": ("", "int *v[3] = {e, e, e}; int *(&r)[3] = v; r[1] = d; run(v[1], other);"),
    "a union": ("union U { int *p; void *q; float *f; };", "U u; u.q = d; run(u.p, other);"),
    "a union without a name": ("struct S { union { int *p; void *q; }; };", "S u; u.q = d; run(u.p, other);"),
    "a union of local variables": ("", "union { int *p; void *q; }; q = d; run(p, other);"),
    "a struct that is copied as bytes": (PLAIN, "A a{d, other}, b; memcpy(&b, &a, sizeof a); run(b.p, b.s);"),
    "a pointer that is copied as bytes": ("", "int *p; memcpy(&p, &d, sizeof d); run(p, other);"),
    "an array that is moved": ("", "int *v[2] = {d, d}, *w[2]; std::memmove(w, v, sizeof v); run(w[1], other);"),
    "an array that is copied": ("", "int *v[2] = {d, d}, *w[2]; std::copy(v, v + 2, w); run(w[1], other);"),
    "a vector that is copied by elements": (
        "",
        "std::vector<int*> v{d}, w(1); std::copy(v.begin(), v.end(), w.begin()); run(w[0], other);",
    ),
    "a vector that is assigned": ("", "std::vector<int*> v{d}, w; w = v; run(w[0], other);"),
    "a copy of a vector": ("", "std::vector<int*> v{d}; std::vector<int*> w(v); run(w[0], other);"),
    "a vector of a range": ("", "std::vector<int*> v{d}; std::vector<int*> w(v.begin(), v.end()); run(w[0], other);"),
    "a vector of equal elements": ("", "std::vector<int*> w(2, d); run(w[0], other);"),
    "vectors that are swapped": ("", "std::vector<int*> v{d}, w; w.swap(v); run(w[0], other);"),
    "a copy of one of two structs": (PLAIN, f"{EITHER} A x = *q; run(x.p, other);"),
    "a copy of the other of two structs": (PLAIN, f"{OTHER} A x = *q; run(x.p, other);"),
    "a struct that is assigned one of two": (PLAIN, f"{EITHER} A x{{}}; x = *q; run(x.p, other);"),
    "a struct that is assigned the other of two": (PLAIN, f"{OTHER} A x{{}}; x = *q; run(x.p, other);"),
    "one of two structs as an argument": (f"{PLAIN} {BY_VALUE}", f"{EITHER} by_value(*q, other);"),
    "the other of two structs as an argument": (f"{PLAIN} {BY_VALUE}", f"{OTHER} by_value(*q, other);"),
    "one of two structs that is returned": (f"{PLAIN} {RETURNED}", f"{EITHER} run(returned(q).p, other);"),
    "the other of two structs that is returned": (f"{PLAIN} {RETURNED}", f"{OTHER} run(returned(q).p, other);"),
    "one of two structs that is swapped": (PLAIN, f"{EITHER} A x{{}}; std::swap(x, *q); run(x.p, other);"),
    "the other of two structs that is swapped": (PLAIN, f"{OTHER} A x{{}}; std::swap(x, *q); run(x.p, other);"),
    "the first member of a struct from outside": (
        f"{PLAIN} A load();",
        "A a = load(); if (rand()) *(int **)&a = d; run(a.p, other);",
    ),
    "some part of a struct from outside": (
        "struct B { int *p, *q; }; B load();",
        "B b = load(); ((int **)&b)[rand() % 2] = d; run(b.q, other);",
    ),
    "all of a struct on one path, a part of it on the other": (
        PARTS,
        "B b; void *x[2] = {d, d}; memcpy(&b, x, sizeof b); if (rand()) b.q = e; run(b.q, other);",
    ),
    "some part of a struct, which one path sets": (
        PARTS,
        "B b{e, e}; ((int **)&b)[rand() % 2] = d; if (rand()) b.q = e; run(b.q, other);",
    ),
    "some part of a struct from outside, which one path sets": (
        f"{PARTS} B load();",
        "B b = load(); ((int **)&b)[rand() % 2] = d; if (rand()) { b.q = e; } else e = 0; run(b.q, other);",
    ),
    "the first member of a struct, which a loop may set": (
        PARTS,
        "B b{e, e}; *(int **)&b = d; while (rand()) b.p = e; run(b.p, other);",
    ),
    "the first member of a struct on the heap, which one path sets": (
        PARTS,
        "B *b = new B; *(int **)b = d; if (rand()) b->p = e; run(b->p, other);",
    ),
    "the first member of an element, which one path sets": (
        PARTS,
        "std::vector<B> b(2); *(int **)&b[0] = d; if (rand()) b[0].p = e; run(b[0].p, other);",
    ),
    "a function or one from outside": (
        f"{POINTER} F obtain();",
        "F f = nothing; if (rand()) f = obtain(); f(d, other);",
    ),
    "a function that unseen code may replace": (
        f"{POINTER} void obtain(F *);",
        "F f = nothing; obtain(&f); f(d, other);",
    ),
    "a function in a struct from outside, which one path sets": (
        f"{POINTER} struct T {{ F f; }}; T make();",
        "T t = make(); if (rand()) t.f = nothing; t.f(d, other);",
    ),
    "a lambda, or a function from outside": (
        "std::function<void(int *, cudaStream_t)> obtain();",
        "std::function<void(int *, cudaStream_t)> f = [](int *, cudaStream_t) {}; if (rand()) f = obtain(); f(d, other);",
    ),
    "a lambda, or another one": (
        "",
        "std::function<void(int *)> f = [](int *) {}; if (rand()) f = [=](int *p) { run(p, other); }; f(d);",
    ),
    "what a map finds": ("", "std::map<int, int*> v; v[3] = d; run(v.find(3)->second, other);"),
    "variables that a tuple is assigned to": ("", "int *p, *q; std::tie(p, q) = std::make_tuple(d, e); run(p, other);"),
    "an element of a tuple that is assigned": (
        "",
        "std::tuple<int*, int> t; std::get<0>(t) = d; run(std::get<0>(t), other);",
    ),
    "names of the members of a struct": (PLAIN, "A a{d, other}; auto [p, q] = a; run(p, q);"),
    "names that refer to members": (PLAIN, "A a{e, other}; auto &[p, q] = a; p = d; run(a.p, other);"),
    "a pointer that a function copies as bytes": (
        "void put(char *q, void *v) { memcpy(q, &v, 8); }",
        "put((char *)&e, d); run(e, other);",
    ),
    "a pointer in an array of numbers": ("", "uint64_t v[2]; v[1] = (uint64_t)d; run((int *)v[1], other);"),
    "elements that are swapped": ("", "int *v[2] = {d, e}; std::iter_swap(v, v + 1); run(v[1], other);"),
    "elements that are rotated": ("", "int *v[3] = {d, e, e}; std::rotate(v, v + 1, v + 3); run(v[2], other);"),
    "elements that are reversed": ("", "int *v[3] = {d, e, e}; std::reverse(v, v + 3); run(v[2], other);"),
    "a vector that is moved": ("", "std::vector<int*> v{d}; auto w = std::move(v); run(w[0], other);"),
    "a pointer to a member that is assigned": (PLAIN, "A a{e, other}; int *A::*m = &A::p; a.*m = d; run(a.p, other);"),
    "a pointer to a member that is read": (PLAIN, "A a{d, other}; int *A::*m = &A::p; run(a.*m, other);"),
    "a function that is left by `longjmp`": (
        "",
        "jmp_buf b; if (setjmp(b) == 0) { longjmp(b, 1); } else { run(d, other); }",
    ),
    "an argument without a parameter": (
        "void f(int n, ...) { va_list l; va_start(l, n); int *p = va_arg(l, int *); cudaStream_t s = va_arg(l, cudaStream_t); run(p, s); va_end(l); }",
        "f(2, d, other);",
    ),
    "a variable of the device": (
        "__device__ int *sym; __global__ void k2() { *sym = 1; }",
        "cudaMemcpyToSymbol(sym, &d, sizeof d); k2<<<1, 1, 0, other>>>();",
    ),
    "an array that is overwritten": (
        "",
        "int *v[2] = {d, d}, *w[2] = {e, e}; memcpy(w, v, sizeof v); run(w[1], other);",
    ),
    "a struct that is overwritten": (PLAIN, "A a{d, other}, b{e, 0}; memcpy(&b, &a, sizeof a); run(b.p, b.s);"),
    "a pointer that is overwritten": ("", "int *p = e; memcpy(&p, &d, sizeof d); run(p, other);"),
    "a function that overwrites a pointer": (
        "void cp(int **a, int **b) { memcpy(a, b, 8); }",
        "int *p = e; cp(&p, &d); run(p, other);",
    ),
    "a function that overwrites memory": (
        "void cp(void *a, void *b) { memcpy(a, b, 8); }",
        "int *p = e; cp(&p, &d); run(p, other);",
    ),
    "a function that overwrites bytes": (
        "void cp(char *a, char *b) { for (int i = 0; i < 8; ++i) a[i] = b[i]; }",
        "int *p = e; cp((char *)&p, (char *)&d); run(p, other);",
    ),
    "a function that puts a pointer into bytes": (
        "void put(char *q, void *v) { memcpy(q, &v, 8); }",
        "e = d + 1; e = nullptr; put((char *)&e, d); run(e, other);",
    ),
    "full vectors that are swapped": ("", "std::vector<int*> v{d}, w{e}; w.swap(v); run(w[0], other);"),
    "a full vector that is assigned": ("", "std::vector<int*> v{d}, w{e}; w = v; run(w[0], other);"),
    "a full vector that is overwritten": (
        "",
        "std::vector<int*> v{d}, w{e}; std::copy(v.begin(), v.end(), w.begin()); run(w[0], other);",
    ),
    "an array that is assigned": ("", "std::array<int*, 2> v{d, d}, w{e, e}; w = v; run(w[0], other);"),
    "an array in a struct that is assigned": (
        "struct B { int *v[2]; };",
        "B a{{d, d}}, b{{e, e}}; b = a; run(b.v[1], other);",
    ),
    "a reference to a global that is assigned": ("int *g0; int *&slot() { return g0; }", "slot() = d; run(g0, other);"),
    "a reference to a member that is assigned": (
        "struct S { int *p; int *&at() { return p; } };",
        "S s; s.at() = d; run(s.p, other);",
    ),
    "a reference to an element that is assigned": (
        "struct S { int *p[3]; int *&at(int i) { return p[i]; } };",
        "S s; s.at(1) = d; run(s.p[1], other);",
    ),
    "a condition that reads as a declaration": (
        "int f(int *p, cudaStream_t s) { run(p, s); return 1; }",
        "e && f(d, other); d && f(d, other);",
    ),
    "an object that a function hands out": (
        "struct S { int *p; static S &get() { static S s; return s; } void go(cudaStream_t s) { run(p, s); } };",
        "S::get().p = d; S::get().go(other);",
    ),
    "the struct around a member": (
        "struct S { int x; int *p; };",
        "S s; s.p = d; int *px = &s.x; S *q = (S *)((char *)px - offsetof(S, x)); run(q->p, other);",
    ),
    "a struct that is taken for another": (
        "struct S { int *p; cudaStream_t s; }; struct T { int *q; cudaStream_t s; };",
        "S s{d, other}; T *t = (T *)&s; run(t->q, t->s);",
    ),
    "a struct that is taken for its first member": (
        "struct S { int *p; };",
        "S s{e}; int **q = (int **)&s; *q = d; run(s.p, other);",
    ),
    "a pointer that is printed and scanned": (
        "",
        'char b[64]; sprintf(b, "%p", d); void *p; sscanf(b, "%p", &p); run((int *)p, other);',
    ),
    "a pointer in a text": ("", "std::stringstream ss; ss << (void *)d; void *p; ss >> p; run((int *)p, other);"),
    "a pointer that may be there": ("", "std::optional<int *> a = d; run(*a, other);"),
    "a list in braces": ("", "auto l = {e, d}; for (int *p : l) if (p) run(p, other);"),
    "a list in braces as an argument": (
        "void f(std::initializer_list<int *> l, cudaStream_t s) { for (int *p : l) run(p, s); }",
        "f({e, d}, other);",
    ),
    "an iterator of a list": (
        "",
        "std::list<int *> q; q.push_back(d); for (auto it = q.begin(); it != q.end(); ++it) run(*it, other);",
    ),
    "a vector that a function returns": (
        "std::vector<int *> mk(int *p) { return {p}; }",
        "auto v = mk(d); run(v[0], other);",
    ),
    "a stream that is exchanged": ("", "cudaStream_t s = 0; cudaStream_t t = std::exchange(s, other); run(d, s);"),
    "a lambda of the device": (
        "template <class F> __global__ void kl(F f) { f(); }",
        "kl<<<1, 1, 0, other>>>([=] __device__() { *d = 1; });",
    ),
    "a pointer that a kernel gets as a number": (
        "__global__ void ki(unsigned long long p) { *(int *)p = 1; }",
        "ki<<<1, 1, 0, other>>>((unsigned long long)d);",
    ),
    "a pointer in an array of numbers that a kernel gets": (
        "__global__ void ki(unsigned long long p) { *(int *)p = 1; }",
        "unsigned long long v[2]; v[0] = (unsigned long long)d; ki<<<1, 1, 0, other>>>(v[0]);",
    ),
    "a pointer that a kernel stores": (
        "__device__ int *t; __global__ void st(int *p) { t = p; } __global__ void us() { *t = 1; }",
        "st<<<1, 1>>>(d); cudaDeviceSynchronize(); us<<<1, 1, 0, other>>>();",
    ),
    "a union that is set on the device": (
        "union U { int *p; void *v; };",
        "U u; u.p = d; cudaMemsetAsync(u.v, 0, 4, other);",
    ),
    "a union that is copied from": (
        "union U { int *p; void *v; };",
        "U u; u.p = d; int *x; cudaMallocHost(&x, 4); cudaMemcpyAsync(x, u.v, 4, cudaMemcpyDeviceToHost, other);",
    ),
    "a union that is copied to": (
        "union U { int *p; void *v; };",
        "U u; u.p = d; int *x; cudaMallocHost(&x, 4); cudaMemcpyAsync(u.v, x, 4, cudaMemcpyDefault, other);",
    ),
    "a union that a library gets": (
        "#include <cublas_v2.h>\nunion U { int *p; float *v; };",
        "U u; u.p = d; float a; cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, other); cublasSscal(h, 1, &a, u.v, 1);",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_pointer_is_followed_or_the_pair_stays(way: str) -> None:
    declarations, statements = WAYS[way]
    check(analyze(declarations + MAIN % statements))


def test_a_number_that_is_assigned_through_a_reference_leads_nowhere() -> None:
    declarations = (
        "#include <vector>\ntypedef double real8;\ntypedef real8 real;\n"
        "struct A { std::vector<real> v; real &at(int i) { return v[i]; } const int &size() const { return n; }\n"
        "  std::vector<real> &all() { return v; } int n; };\n"
    )
    statements = "A a; a.at(0) = a.at(1) * a.size(); a.all()[0] = a.at(1);"
    report = analyze(declarations + MAIN % statements)
    assert [f.safety for f in report.findings] == [Safety.PROVEN]
    assert not report.refusals
