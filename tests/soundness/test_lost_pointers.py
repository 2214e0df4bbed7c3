"""Ways for a pointer to get from one place to another that are no plain assignments (see `other_stream`)."""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_to_memory import cases

NUMBERS = "__global__ void through(size_t *v) { *(int *)*v = 1; }"
PLAIN = "struct A { int *p; cudaStream_t s; };"
PARTS = "struct B { int *p, *q; };"
POINTER = "typedef void (*F)(int *, cudaStream_t); void nothing(int *, cudaStream_t) {}"
EITHER = "A a{d, other}, b{e, other}; int n = rand(); A *q = n ? &a : &b;"
OTHER = "A a{e, other}, b{d, other}; int n = rand(); A *q = n ? &a : &b;"
BY_VALUE = "void by_value(A a, cudaStream_t s) { run(a.p, s); }"
RETURNED = "A returned(A *a) { A x = *a; return x; }"
WAYS = {
    "a number in a list": ("", "size_t a[2] = {3, (size_t)d}; run((int *)a[1], other);"),
    "a number in a list that the device gets": (
        NUMBERS,
        "size_t a[1] = {(size_t)d}, *m; cudaMalloc(&m, 8); cudaMemcpy(m, a, 8, cudaMemcpyHostToDevice);"
        " through<<<1, 1, 0, other>>>(m);",
    ),
    "a number in the list of a struct": (
        "struct N { int n; size_t a; };",
        "N x = {3, (size_t)d}; run((int *)x.a, other);",
    ),
    "a number in the list of a vector": ("", "std::vector<size_t> a = {(size_t)d, 3}; run((int *)a[0], other);"),
    "a number in the list of an array": (
        "#include <array>\n",
        "std::array<size_t, 2> a = {(size_t)d, 3}; run((int *)a[0], other);",
    ),
    "the list of an array that the device gets": (
        "#include <array>\n__global__ void follow(int **v) { **v = 1; }",
        "std::array<int *, 2> a = {d, e}; int **m; cudaMalloc(&m, 16);"
        " cudaMemcpy(m, a.data(), 16, cudaMemcpyHostToDevice); follow<<<1, 1, 0, other>>>(m);",
    ),
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


# by way of the standard library and of the language
MORE = r"""
int **q = new int *(d); run(*q, other);
int **q = new int *{d}; run(*q, other);
auto q = new int *(d); run(*q, other);
auto q = std::make_unique<int *>(d); run(*q, other);
auto q = std::make_shared<int *>(d); run(*q, other);
std::unique_ptr<int *> q(new int *(d)); run(*q, other);
std::vector<int *> *q = new std::vector<int *>{d}; run((*q)[0], other);
std::vector<int *> *q = new std::vector<int *>(1, d); run(q->at(0), other);
auto q = new std::pair<int *, int>(d, 1); run(q->first, other);
auto q = new std::array<int *, 2>{d, e}; run((*q)[0], other);
auto q = new std::function<void()>([&] { run(d, other); }); (*q)();
auto q = std::make_unique<std::function<void()>>([&] { run(d, other); }); (*q)();
auto q = std::make_shared<std::function<void()>>([&] { run(d, other); }); (*q)();
struct S { int *p; }; || S *s = new S{d}; run(s->p, other);
struct S { int *p; }; || S *s = new S(S{d}); run(s->p, other);
struct S { int *p; }; || S a{d}; S *s = new S(a); run(s->p, other);
struct S { int *p; }; || S a{d}; auto s = std::make_unique<S>(a); run(s->p, other);
struct S { int *p; S(int *q) : p(q) {} }; || auto s = std::make_unique<S>(d); run(s->p, other);
struct S { int *p; S(int *q) : p(q) {} S(const S &) = default; }; || S a(d); auto s = std::make_unique<S>(a); run(s->p, other);
int *a[2] = {e, d}; int **end = std::end(a); run(end[-1], other);
int *a[2] = {e, d}; for (int **q = std::begin(a); q != std::end(a); ++q) run(*q, other);
int *a[2] = {e, d}; auto q = std::begin(a); std::advance(q, 1); run(*q, other);
std::vector<int *> a{e, d}; auto q = a.rbegin(); run(*q, other);
std::vector<int *> a{e, d}; auto q = std::prev(a.end()); run(*q, other);
std::vector<int *> a{e, d}; auto q = std::find(a.begin(), a.end(), d); run(*q, other);
std::vector<int *> a{e, d}; auto &q = a.back(); run(q, other);
std::vector<int *> a{e}; a.insert(a.begin(), d); run(a[0], other);
std::vector<int *> a; a.assign(2, d); run(a[0], other);
std::vector<int *> a; a.resize(2, d); run(a[0], other);
std::vector<int *> a(2); std::fill(a.begin(), a.end(), d); run(a[0], other);
std::vector<int *> a(2); std::generate(a.begin(), a.end(), [&] { return d; }); run(a[0], other);
std::vector<int *> a; std::generate_n(std::back_inserter(a), 2, [&] { return d; }); run(a[0], other);
std::vector<int *> a(2); std::transform(a.begin(), a.end(), a.begin(), [&](int *) { return d; }); run(a[0], other);
std::vector<int *> a{d}; for (auto &&[i, p] : std::views::enumerate(a)) run(p, other);
std::vector<int *> a{d}; for (auto p : a | std::views::filter([](int *q) { return q != nullptr; })) run(p, other);
std::vector<int *> a{d}; for (auto p : a | std::views::transform([](int *q) { return q + 1; })) run(p, other);
std::vector<int *> a{d}; for (auto p : std::views::reverse(a)) run(p, other);
std::vector<int *> a{d}; std::ranges::for_each(a, [&](int *p) { run(p, other); });
std::vector<int *> a{d}; std::for_each(a.begin(), a.end(), [&](int *p) { run(p, other); });
std::vector<int *> a{d}; std::for_each(std::begin(a), std::end(a), [&](auto p) { run(p, other); });
std::vector<int *> a{d}; std::accumulate(a.begin(), a.end(), 0, [&](int n, int *p) { run(p, other); return n; });
std::vector<int *> a{d}; std::any_of(a.begin(), a.end(), [&](int *p) { run(p, other); return false; });
std::map<std::string, int *> a; a["x"] = d; for (auto &[k, p] : a) run(p, other);
std::map<std::string, int *> a; a.emplace("x", d); for (auto &kv : a) run(kv.second, other);
std::map<std::string, int *> a{{"x", d}}; run(a.at("x"), other);
std::map<std::string, int *> a; a.insert({"x", d}); run(a.begin()->second, other);
std::map<std::string, int *> a; a.try_emplace("x", d); run(a["x"], other);
std::map<std::string, int *> a; a.insert_or_assign("x", d); auto it = a.find("x"); if (it != a.end()) run(it->second, other);
std::map<std::string, int *> a; auto [it, ok] = a.emplace("x", d); run(it->second, other);
std::map<std::string, int *> a; if (auto [it, ok] = a.insert({"x", d}); ok) run(it->second, other);
std::set<int *> a; a.insert(d); run(*a.begin(), other);
std::deque<int *> a; a.push_front(d); run(a.front(), other);
std::stack<int *> a; a.push(d); run(a.top(), other);
std::queue<int *> a; a.emplace(d); auto p = a.front(); a.pop(); run(p, other);
std::priority_queue<std::pair<int, int *>> a; a.push({1, d}); run(a.top().second, other);
std::list<int *> a{d}; std::list<int *> b; b.splice(b.begin(), a); run(b.front(), other);
std::vector<int *> a{d}, b; std::swap(a, b); run(b[0], other);
std::vector<int *> a{d}, b; b = std::exchange(a, {}); run(b[0], other);
std::vector<int *> a{d}, b; std::move(a.begin(), a.end(), std::back_inserter(b)); run(b[0], other);
std::vector<int *> a{d}; auto b = std::vector<int *>(std::make_move_iterator(a.begin()), std::make_move_iterator(a.end())); run(b[0], other);
std::vector<std::vector<int *>> a(2); a[1].push_back(d); run(a[1][0], other);
std::vector<std::pair<int *, int>> a; a.emplace_back(d, 1); run(a[0].first, other);
std::vector<std::tuple<int *, int>> a; a.emplace_back(d, 1); run(std::get<0>(a[0]), other);
std::vector<std::tuple<int *, int>> a{{d, 1}}; for (auto [p, n] : a) run(p, other);
std::array<std::pair<int *, int>, 1> a{{{d, 1}}}; run(a[0].first, other);
std::pair<int *, int> a{d, 1}; auto b = a; std::swap(a, b); run(b.first, other);
std::pair a(d, 1); run(a.first, other);
std::tuple a{d, 1}; auto [p, n] = a; run(p, other);
std::tuple<int *, int> a; a = {d, 1}; run(std::get<int *>(a), other);
auto a = std::tuple_cat(std::make_tuple(d), std::make_tuple(1)); run(std::get<0>(a), other);
std::optional<int *> a; a.emplace(d); run(a.value(), other);
std::optional<std::pair<int *, int>> a{{d, 1}}; run(a->first, other);
std::variant<int, int *> a; a = d; if (auto p = std::get_if<int *>(&a)) run(*p, other);
std::variant<int, int *> a{d}; std::visit([&](auto &&x) { if constexpr (std::is_pointer_v<std::decay_t<decltype(x)>>) run(x, other); }, a);
std::any a = d; if (auto p = std::any_cast<int *>(&a)) run(*p, other);
std::shared_ptr<int> a(d, [](int *) {}); run(a.get(), other);
std::unique_ptr<int, void (*)(int *)> a(d, [](int *) {}); run(a.get(), other);
std::unique_ptr<int, void (*)(int *)> a(d, [](int *) {}); auto b = std::move(a); run(b.get(), other);
auto a = std::shared_ptr<int>(d, [](int *) {}); auto b = a; run(b.get(), other);
std::shared_ptr<int> a(d, [](int *) {}); std::weak_ptr<int> w = a; run(w.lock().get(), other);
std::span<int> a(d, 1); run(a.data(), other);
std::span<int> a{d, 1}; run(a.subspan(0).data(), other);
std::reference_wrapper<int *> a(d); run(a, other);
std::reference_wrapper<int *> a = std::ref(d); run(a.get(), other);
auto f = [p = d](cudaStream_t s) { run(p, s); }; f(other);
auto f = [p = d]() mutable { auto q = p; p = nullptr; return q; }; run(f(), other);
auto f = [&]() -> int *& { return e; }; f() = d; run(e, other);
std::promise<int *> pr; auto fu = pr.get_future(); pr.set_value(d); run(fu.get(), other);
std::atomic<int *> a{nullptr}; a.store(d); run(a.load(), other);
std::atomic<int *> a; a = d; run(a, other);
std::atomic<int *> a{nullptr}; int *x = nullptr; a.compare_exchange_strong(x, d); run(a, other);
volatile uintptr_t a = (uintptr_t)d; run((int *)a, other);
uintptr_t a = reinterpret_cast<uintptr_t>(d) ^ 1; run(reinterpret_cast<int *>(a ^ 1), other);
long a[1]; a[0] = (long)d; run((int *)a[0], other);
double a; memcpy(&a, &d, 8); int *p; memcpy(&p, &a, 8); run(p, other);
auto a = std::bit_cast<uintptr_t>(d); run(std::bit_cast<int *>(a), other);
struct S { uint64_t v : 48; }; || S s; s.v = (uint64_t)d; run((int *)(uint64_t)s.v, other);
struct S { int *p; }; || S s; S *q = &s; (*q).p = d; run(q->p, other);
struct S { int *p; S *n; }; || S a{d, nullptr}, b{e, &a}; run(b.n->p, other);
struct S { int *p; S *n; }; || S *h = nullptr; for (int i = 0; i < 3; i++) { h = new S{i == 1 ? d : e, h}; } for (S *x = h; x; x = x->n) if (x->p) run(x->p, other);
struct S { std::map<int, std::vector<int *>> m; }; || S s; s.m[3].push_back(d); for (auto &[k, v] : s.m) for (auto p : v) run(p, other);
int *a[2][2]; a[1][0] = d; run(a[1][0], other);
int *a[4]; int **q = a; *q++ = e; *q++ = d; run(a[1], other);
int *a[4]; int i = 0; a[i++] = e; a[i++] = d; run(a[1], other);
int *a[4] = {}; a[rand() % 4] = d; for (int i = 0; i < 4; i++) if (a[i]) run(a[i], other);
int *x = (e = d, nullptr); run(e, other);
int *x; if ((x = d) != nullptr) run(x, other);
int *x = e ?: d; run(x, other);
for (int *x = d; x; x = nullptr) run(x, other);
switch (int *x = d; 1) { case 1: run(x, other); }
int *x = nullptr; switch (rand()) { case 0: x = d; case 1: run(x, other); }
int *x = nullptr; do { x = d; } while (0); run(x, other);
int *x = nullptr; goto l; l: x = d; run(x, other);
{ int *&x = e; x = d; } run(e, other);
int **x = &e; **&x = d; run(e, other);
int *x = d; int *&y = x; int *&z = y; run(z, other);
const int *x = d; run(const_cast<int *>(x), other);
void *x = d; run(static_cast<int *>(x), other);
char *x = (char *)d; x += 4; run((int *)(x - 4), other);
int (*x)[4] = (int (*)[4])d; run(*x, other);
int &x = *d; run(&x, other);
int *x = &d[0]; run(x, other);
int *x = &*d; run(x, other);
int *x = std::addressof(*d); run(x, other);
auto x = std::next(d, 1); run(x, other);
auto x = std::make_pair(d, other); run(x.first, x.second);
auto x = std::launder(d); run(x, other);
auto x = std::assume_aligned<4>(d); run(x, other);
auto x = thrust::device_pointer_cast(d); run(thrust::raw_pointer_cast(x), other);
thrust::device_ptr<int> x(d); run(x.get(), other);
auto x = std::min(d, d); run(x, other);
auto x = std::max({d, e}); run(x, other);
auto x = std::clamp(d, d, d); run(x, other);
auto x = std::as_const(d); run(x, other);
auto x = std::forward<int *>(d); run(x, other);
auto x = std::get<0>(std::make_tuple(d)); run(x, other);
auto x = std::identity{}(d); run(x, other);
int go(int *p, cudaStream_t s) { run(p, s); return 1; } || cv::Mat m; m.at<cv::Vec3b>(0, 1) = cv::Vec3b(go(d, other), 0, 0);
int go(int *p, cudaStream_t s) { run(p, s); return 1; } || cv::Scalar q = cv::Scalar(1, go(d, other), 3);
int go(int *p, cudaStream_t s) { run(p, s); return 1; } || cv::Scalar q(1, go(d, other), 3);
int go(int *p, cudaStream_t s) { run(p, s); return 1; } || cv::Point a[2] = {cv::Point(0, 0), {1, go(d, other)}};
std::vector<cv::Point2l> v(1); v.at(0) = cv::Point2l((long)d, 0); run((int *)v[0].x, other);
cv::Point2l q((long)d, 0); run((int *)q.x, other);
cv::Point2l q = cv::Point2l(0, (long)d); cv::Point2l r = q; run((int *)r.y, other);
cv::Point2l q; q.x = (long)d; cv::Point2l *r = &q; run((int *)r->x, other);
struct A { int *p; }; A held; A &holder() { return held; } || holder() = A{d}; run(held.p, other);
A &unseen(int *); struct A { int *p; }; || A a{e}; unseen(&e) = A{d};
"""


@pytest.mark.parametrize("case", cases(MORE))
def test_a_value_is_followed_or_the_pair_stays(case: str) -> None:
    declarations, both, statements = case.partition(" || ")
    check(analyze((declarations if both else "") + MAIN % (statements if both else case)))


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


# what a kernel stores, and what another one does with it on another stream
STORED = """
void put(int *p, int **q) { *q = p; } || void use(int **q) { **q = 1; } || int *
void put(int *p, void **q) { *q = p; } || void use(void **q) { *(int *)*q = 1; } || void *
void put(int *p, long *q) { *q = (long)p; } || void use(long *q) { *(int *)*q = 1; } || long
void put(int *p, long *q) { long v = (long)p; *q = v; } || void use(long *q) { long v = *q; int *p = (int *)v; *p = 1; } || long
typedef long Number; || void put(int *p, Number *q) { Number v = (Number)p; *q = v; } || void use(long *q) { long v = *q; int *p = (int *)v; *p = 1; } || long
void put(int *p, addr_t *q) { addr_t v = (addr_t)p; *q = v; } || void use(addr_t *q) { *(int *)*q = 1; } || addr_t
void put(int *p, size_t *q) { q[0] = reinterpret_cast<size_t>(p); } || void use(size_t *q) { *(int *)q[0] = 1; } || size_t
void put(int *p, size_t *q) { q[0] = __shfl_sync(~0u, (size_t)p, 0); } || void use(size_t *q) { *(int *)q[0] = 1; } || size_t
void put(int *p, size_t *q) { atomicExch(q, (size_t)p); } || void use(size_t *q) { *(int *)q[0] = 1; } || size_t
void put(int *p, char *q) { memcpy(q, &p, sizeof p); } || void use(char *q) { int *p; memcpy(&p, q, sizeof p); *p = 1; } || char
struct N { int *p; N *next; }; || void put(int *p, N *q) { q->p = p; } || void use(N *q) { *q->p = 1; } || N
struct N { int *p; N *next; }; || void put(int *p, N *q) { N &n = q[0]; n.p = p; } || void use(N *q) { *q->p = 1; } || N
struct N { int *p; }; __device__ void set(N *n, int *p) { n->p = p; } || void put(int *p, N *q) { set(q, p); } || void use(N *q) { *q->p = 1; } || N
__device__ void set(long *n, int *p) { *n = (long)p; } || void put(int *p, long *q) { set(q, p); } || void use(long *q) { *(int *)*q = 1; } || long
struct N { int *p; __device__ void set(int *v) { p = v; } }; || void put(int *p, N *q) { q->set(p); } || void use(N *q) { *q->p = 1; } || N
struct M { int *p; }; struct N { M m; }; || void put(int *p, N *q) { q->m.p = p; } || void use(N *q) { *q->m.p = 1; } || N
union N { int *p; long n; }; || void put(int *p, N *q) { N n; n.p = p; *q = n; } || void use(N *q) { *q->p = 1; } || N
template <class T> struct N { T *p; }; || void put(int *p, N<int> *q) { q->p = p; } || void use(N<int> *q) { *q->p = 1; } || N<int>
template <class T> || void put(int *p, T *q) { q[0] = p; } || void use(int **q) { **q = 1; } || int *
template <class T> || void put(int *p, T *q) { int *v = p + 1; q[threadIdx.x] = v; } || void use(int **q) { **q = 1; } || int *
template <class T> || void put(int *p, T *q) { *q = (p + threadIdx.x); } || void use(int **q) { **q = 1; } || int *
struct N { size_t a; }; || void put(int *p, N *q) { q->a = (size_t)p; } || void use(N *q) { *(int *)q->a = 1; } || N
"""


@pytest.mark.parametrize("case", cases(STORED))
def test_what_a_kernel_stores_in_memory_leads_there(case: str) -> None:
    *declarations, put, use, kind = case.split(" || ")
    kernels = f"{' '.join(declarations)} __global__ {put} __global__ {use}"
    stores = f"{kind} *m; cudaMalloc(&m, 8); put<<<1, 1>>>(d, m); cudaDeviceSynchronize(); use<<<1, 1, 0, other>>>(m);"
    check(analyze(kernels + MAIN % stores))


def test_a_pointer_by_value_in_a_struct_is_stored_and_stored_to() -> None:
    kernels = "struct C { int **q; int *p; }; __global__ void put(C c) { c.q[0] = c.p; } __global__ void use(C c) { **c.q = 1; }"
    stores = "C c; cudaMalloc(&c.q, 8); c.p = d; put<<<1, 1>>>(c); cudaDeviceSynchronize(); c.p = e; use<<<1, 1, 0, other>>>(c);"
    check(analyze(kernels + MAIN % stores))


READ_ONLY = """
void put(const float *p, float *q) { if (((size_t)p & 15) == 0) q[0] = p[0]; }
void put(const float *p, float *q) { q[(size_t)blockIdx.x * 3] = (float)p[1] + (double)p[2]; }
void put(const float *p, float4 *q) { q[0] = *reinterpret_cast<const float4 *>(p); q[1] = *(float4 *)&p[4]; }
void put(const float *p, float *q) { q[0] = (*p) + (float)*p; q[1] = (q[0]) * p[1]; }
struct N { float x, y; }; || void put(const float *p, N *q) { q->x = p[0]; }
struct V { const float *p; __device__ V(const float *q) { this->p = q; } }; || void put(const float *p, float *q) { V v(p); q[0] = v.p[0]; }
struct V { const float *p; }; || void put(const float *p, float *q) { V v; v.p = p; q[0] = v.p[0]; }
void put(const float *p, float *q) { const float *v[2]; v[0] = p; v[1] = p + 1; q[0] = v[1][0]; }
"""


@pytest.mark.parametrize("case", cases(READ_ONLY))
def test_what_a_kernel_computes_leads_nowhere(case: str) -> None:
    *declarations, put = case.split(" || ")
    kernels = f"{' '.join(declarations)} __global__ {put} __global__ void use(void *q) {{ *(float *)q = 1; }}"
    stores = "void *m; cudaMalloc(&m, 64); put<<<1, 1>>>((float *)d, (float4 *)m); use<<<1, 1, 0, other>>>(m);"
    report = analyze(kernels + MAIN % stores)
    moved = [place.text for f in report.findings for place in f.related]
    assert "freed on `0`" in moved or "freed on the default stream" in moved


# what a lambda for the device captures, and what it does with it
CAPTURED = """
V v{d}; || [=] __device__ (int i) { v.p[i] = 1; }
V v; v.p = d; || [v] __device__ (int i) { v.p[i] = 1; }
V v{d}; || [w = v] __device__ (int i) { w.p[i] = 1; }
W v; v.v.p = d; || [=] __device__ (int i) { v.v.p[i] = 1; }
X v; v.p = d; || [=] __device__ (int i) { v.p[i] = 1; }
View<int> v; v.p = d; || [=] __device__ (int i) { v(i) = 1; }
int *v[2] = {d, e}; || [=] __device__ (int i) { *v[i] = 1; }
V v[2] = {{d}, {e}}; || [=] __device__ (int i) { *v[i].p = 1; }
std::array<int *, 2> v = {d, e}; || [=] __device__ (int i) { *v[i] = 1; }
V a{d}; V &v = a; || [=] __device__ (int i) { v.p[i] = 1; }
V a{d}; const auto v = a; || [=] __device__ (int i) { v.p[i] = 1; }
"""
VIEWS = """
#include <array>
struct V { int *p; }; struct W { int n; V v; }; struct X : V { int n; };
template <class T> struct View { T *p; int n; __device__ T &operator()(int i) const { return p[i]; } };
template <class F> __global__ void each(F f) { f(0); }
template <class F> void launch(F f, cudaStream_t s) { each<<<1, 1, 0, s>>>(f); }
"""


@pytest.mark.parametrize(
    "through", ["each<<<1, 1, 0, other>>>(%s);", "auto f = %s; each<<<1, 1, 0, other>>>(f);", "launch(%s, other);"]
)
@pytest.mark.parametrize("case", cases(CAPTURED))
def test_what_a_lambda_of_the_device_captures_is_used_where_it_runs(case: str, through: str) -> None:
    made, function = case.split(" || ")
    check(analyze(VIEWS + MAIN % f"{made} {through % function}"))


WITH_A_STRUCT = """
std::pair<V, int> q(v, 1); || *q.first.p = 1;
std::pair<V, int> q{v, 1}; || *q.first.p = 1;
auto q = std::make_pair(v, 1); || *q.first.p = 1;
std::pair<int, V> q = {1, v}; || *q.second.p = 1;
std::tuple<V, int> q(v, 1); || *std::get<0>(q).p = 1;
"""


@pytest.mark.parametrize("case", cases(WITH_A_STRUCT))
def test_a_pair_has_what_the_structs_hold_that_it_is_made_of(case: str) -> None:
    made, used = case.split(" || ")
    kernel = f"struct V {{ int *p; }}; template <class Q> __global__ void use(Q q) {{ {used} }}"
    check(analyze(kernel + MAIN % f"V v{{d}}; {made} use<<<1, 1, 0, other>>>(q);"))
