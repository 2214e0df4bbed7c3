"""Constructors, destructors, conversions and operators that run where no call of them is written, and names that mean
another one: one program a line (`other_stream`), with declarations in front of `||`.
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_to_memory import cases

# what the programs begin with, by the first word of their declarations and statements
SHORT = {"G!": "int *gp; cudaStream_t gs;", "P!": "using P = int *; cudaStream_t gs; void go(P p) { run(p, gs); }"}
SET = {"G!": "gp = d; gs = other;", "S!": "gs = other;"}


def source_of(case: str) -> str:
    declarations, both, statements = case.partition(" || ")
    if not both:
        declarations, statements = "", case
    first, _, more = declarations.partition(" ")
    begin, _, rest = statements.partition(" ")
    return f"{SHORT.get(first, first)} {more}" + MAIN % f"{SET.get(begin, begin)} {rest}"


# read as a comparison, a product or a function
MISREAD = r"""
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; Buffer(int *q, cudaStream_t t):p(q),s(t){} ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; } || if (ns::Buffer<4> b = ns::Buffer<4>(d, other)) { e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || if (ns::Buffer<4> b = ns::f(d, other)) { e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || while (ns::Buffer<4> b = ns::f(d, other)) { break; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || if (ns::Buffer<4> b{d, other}) { e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || if (ns::Buffer<4> b = ns::f(d, other); e) { e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} explicit operator bool() { return true; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || for (ns::Buffer<4> b = ns::f(d, other); e;) { e = 0; }
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; template<int N> struct B { int x[N]; }; } || { ns::A<sizeof(ns::B<4>)> x(d, other); }
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } template<int N> struct B { int x[N]; }; || { ns::A<sizeof(B<4>)> x(d, other); }
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || { ns::A<(3 > 2)> x(d, other); }
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || { ns::A<(4 << 2)> x(d, other); }
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || { ns::A<(4 >> 2)> x(d, other); }
namespace ns { template<int N, int M> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || { ns::A<4, 3> x(d, other); }
template<int N, int M> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || { A<4, 3> x(d, other); }
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || { A<4> x(d, other); }
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; template<int N> struct B { int x[N]; }; || { A<sizeof(B<4>)> x(d, other); }
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || constexpr int N = 4; { A<N> x(d, other); }
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || constexpr int N = 4; { A<N> x{d, other}; }
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || A<4>(d, other);
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || (A<4>(d, other));
template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; || auto x = A<4>(d, other);
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || auto x = ns::A<4>(d, other);
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || ns::A<4>(d, other);
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; } || ns::A<4>{d, other};
namespace ns { template<int N> struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t):p(q),s(t){} ~A() { run(p,s);} }; void f(A<4>) {} } || ns::f(ns::A<4>(d, other));
namespace ns { template<int N> struct A { static void go(int *p, cudaStream_t s) { run(p,s);} }; } || ns::A<4>::go(d, other);
namespace ns { template<int N> void go(int *p, cudaStream_t s) { run(p,s);} } || ns::go<4>(d, other);
namespace ns { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} } || int x = ns::go<4>(d, other);
namespace ns { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} } || if (ns::go<4>(d, other)) e = 0;
namespace ns { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} } || return ns::go<4>(d, other);
template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} || if (go<4>(d, other) && e) e = 0;
template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} || int x = go<4>(d, other) + go<3>(e, other);
template<bool N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} || int x = go<(3 > 2)>(d, other);
template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} template<int N> struct B { int x[N]; }; || int x = go<sizeof(B<3>)>(d, other);
struct A { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} }; || A a; a.go<4>(d, other);
struct A { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} }; || A a; a.template go<4>(d, other);
struct A { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} }; || A a; int x = a.go<4>(d, other);
struct A { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} }; || A a; if (a.go<4>(d, other) > 3) e = 0;
struct A { template<int N> int go(int *p, cudaStream_t s) { run(p,s); return 0;} }; || A *a = new A; if (a->go<4>(d, other) > 3) e = 0;
struct T { int *p; cudaStream_t s; T() {} ~T() { run(p, s); } }; || auto *p(new T); p->p = d; p->s = other; delete p;
struct T { int *p; cudaStream_t s; T() {} ~T() { run(p, s); } }; || auto p(new T); p->p = d; p->s = other; delete p;
struct T { int *p; cudaStream_t s; T() {} ~T() { run(p, s); } }; || T *p(new T); p->p = d; p->s = other; delete p;
struct T { int *p; cudaStream_t s; T() {} ~T() { run(p, s); } }; || T *p(new T()); p->p = d; p->s = other; delete p;
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t):p(q),s(t) {} ~T() { run(p, s); } }; || auto *p(new T(d, other)); delete p;
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t):p(q),s(t) {} ~T() { run(p, s); } }; || auto *p{new T{d, other}}; delete p;
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t):p(q),s(t) {} ~T() { run(p, s); } }; || const auto *p(new T(d, other)); delete p;
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || auto *p(new T(d, other));
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || auto p(new T(d, other));
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || std::unique_ptr<T> p(new T(d, other));
namespace ns { struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; } || ns::T *p(new ns::T(d, other));
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || T *p(new T{d, other});
struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || T *p ( new T(d, other) );
template <int N> struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || T<4> *p(new T<4>(d, other));
template <int N> struct T { int *p; cudaStream_t s; T(int *q, cudaStream_t t) { run(q, t); } }; || auto *p(new T<4>(d, other)), *q(new T<4>(e, other));
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} operator int() { return 1; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || switch (ns::Buffer<4> b = ns::f(d, other)) { case 1: e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} operator int() { return 1; } }; } || if (ns::Buffer<4> b{d, other}) { e = 0; }
namespace ns { template<int N> struct Buffer { int *p; cudaStream_t s; ~Buffer() { run(p,s);} operator int() { return 1; } }; Buffer<4> f(int *p, cudaStream_t s) { return {p, s}; } } || if (ns::Buffer<4> b = ns::f(d, other); b) { e = 0; }
"""

# on memory that a global variable leads to
UNWRITTEN = r"""
G! struct T { T() { run(gp, gs); } }; || G! auto *p(new T);
G! struct T { T() { run(gp, gs); } }; || G! auto p(new T);
G! struct T { T() { run(gp, gs); } }; || G! T *p(new T);
G! struct T { T() { run(gp, gs); } }; || G! T *p(new T[2]);
G! struct T { T() { run(gp, gs); } }; || G! std::vector<T> v(2);
G! struct T { T() { run(gp, gs); } }; || G! std::vector<T> v{2};
G! struct T { ~T() { run(gp, gs); } }; || G! { std::vector<T> v(2); }
G! struct T { T() { run(gp, gs); } }; || G! std::vector<T> v; v.resize(3);
G! struct T { T() { run(gp, gs); } }; || G! std::vector<T> v; v.emplace_back();
G! struct T { T(int) { run(gp, gs); } }; || G! std::vector<T> v; v.emplace_back(3);
G! struct T { T(int) { run(gp, gs); } }; || G! std::vector<T> v(2, 3);
G! struct T { T() { run(gp, gs); } }; || G! std::array<T, 3> v;
G! struct T { T() { run(gp, gs); } }; || G! std::deque<T> v(2);
G! struct T { T() { run(gp, gs); } }; || G! std::map<int, T> v; v[3];
G! struct T { T() { run(gp, gs); } }; || G! std::optional<T> v; v.emplace();
G! struct T { T() { run(gp, gs); } }; || G! std::optional<T> v(std::in_place);
G! struct T { T() { run(gp, gs); } }; || G! std::pair<int, T> v;
G! struct T { T() { run(gp, gs); } }; || G! std::tuple<int, T> v;
G! struct T { T() { run(gp, gs); } }; || G! std::variant<T, int> v;
G! struct T { T() { run(gp, gs); } }; || G! auto v = std::make_unique<T[]>(3);
G! struct T { T() { run(gp, gs); } }; || G! auto v = std::make_shared<T>();
G! struct T { T() { run(gp, gs); } }; || G! auto v = std::vector<T>(3);
G! struct T { T() { run(gp, gs); } }; || G! auto *v = new std::vector<T>(3);
G! struct T { T() { run(gp, gs); } }; struct M { std::vector<T> v; M() : v(3) {} }; || G! M m;
G! struct T { T() { run(gp, gs); } }; struct M { std::vector<T> v = std::vector<T>(3); }; || G! M m;
G! struct T { T() { run(gp, gs); } }; struct M { T v[3]; }; || G! M m;
G! struct T { T() { run(gp, gs); } }; || G! std::vector<std::vector<T>> v(3, std::vector<T>(2));
G! struct T { int n = (run(gp, gs), 1); }; || G! std::vector<T> v(3);
G! struct T { ~T() { run(gp, gs); } }; || G! { std::unique_ptr<T> p(new T); }
G! struct T { ~T() { run(gp, gs); } }; || G! { auto p = std::make_unique<T>(); }
G! struct T { ~T() { run(gp, gs); } }; || G! { auto p = std::make_shared<T>(); }
G! struct T { ~T() { run(gp, gs); } }; || G! { std::shared_ptr<T> p = std::make_shared<T>(); p.reset(); }
G! struct T { ~T() { run(gp, gs); } }; template <class X> struct H { X x; }; || G! { H<T> h; }
G! struct T { T() { run(gp, gs); } }; template <class X> struct H { X x; }; || G! { H<T> h; }
struct T { int *p; cudaStream_t s; ~T() { run(p, s); } }; template <class X> struct H { X x; }; || { H<T> h; h.x.p = d; h.x.s = other; }
struct T { int *p; cudaStream_t s; ~T() { run(p, s); } }; template <class X> struct H : X { }; || { H<T> h; h.p = d; h.s = other; }
struct T { int *p; cudaStream_t s; ~T() { run(p, s); } }; template <class X> struct H { X x[2]; }; || { H<T> h; h.x[0].p = d; h.x[0].s = other; }
struct T { int *p; cudaStream_t s; ~T() { run(p, s); } }; template <class X> struct H { std::vector<X> x; }; || { H<T> h; h.x.resize(1); h.x[0].p = d; h.x[0].s = other; }
struct T { int *p; cudaStream_t s; ~T() { run(p, s); } }; template <class... X> struct H : X... { }; || { H<T> h; h.p = d; h.s = other; }
struct T { void go(int *p, cudaStream_t s) { run(p, s); } }; template <class X> struct H { X x; void go(int *p, cudaStream_t s) { x.go(p, s); } }; || H<T> h; h.go(d, other);
struct T { static void go(int *p, cudaStream_t s) { run(p, s); } }; template <class X> struct H { void go(int *p, cudaStream_t s) { X::go(p, s); } }; || H<T> h; h.go(d, other);
struct T { static void go(int *p, cudaStream_t s) { run(p, s); } }; struct U { static void go(int *p, cudaStream_t s) { } }; template <class X> struct H { void go(int *p, cudaStream_t s) { X::go(p, s); } }; || H<T> h; h.go(d, other);
template <class D> struct B { void go(int *p, cudaStream_t s) { static_cast<D *>(this)->impl(p, s); } }; struct X : B<X> { void impl(int *p, cudaStream_t s) { run(p, s); } }; || X x; x.go(d, other);
template <class D> struct B { ~B() { static_cast<D *>(this)->impl(); } }; struct X : B<X> { int *p; cudaStream_t s; void impl() { run(p, s); } }; || { X x; x.p = d; x.s = other; }
template <class D> struct B { void go(int *p, cudaStream_t s) { auto &self = static_cast<D &>(*this); self.impl(p, s); } }; struct X : B<X> { void impl(int *p, cudaStream_t s) { run(p, s); } }; struct Y : B<Y> { void impl(int *p, cudaStream_t s) { } }; || X x; Y y; x.go(d, other); y.go(d, other);
template <class B> struct Mix : B { void go(int *p, cudaStream_t s) { B::go(p, s); } }; struct X { void go(int *p, cudaStream_t s) { run(p, s); } }; || Mix<X> m; m.go(d, other);
template <class B> struct Mix : B { void go(int *p, cudaStream_t s) { this->impl(p, s); } }; struct X { void impl(int *p, cudaStream_t s) { run(p, s); } }; || Mix<X> m; m.go(d, other);
struct B { virtual void go(int *p, cudaStream_t s) = 0; virtual ~B() = default; }; struct X : B { void go(int *p, cudaStream_t s) override { run(p, s); } }; || std::unique_ptr<B> b = std::make_unique<X>(); b->go(d, other);
struct B { virtual void go(int *p, cudaStream_t s) = 0; virtual ~B() = default; }; struct X : B { void go(int *p, cudaStream_t s) override { run(p, s); } }; void f(B &b, int *p, cudaStream_t s) { b.go(p, s); } || X x; f(x, d, other);
struct B { virtual void go(int *p, cudaStream_t s) {} void call(int *p, cudaStream_t s) { go(p, s); } }; struct X : B { void go(int *p, cudaStream_t s) override { run(p, s); } }; || X x; x.call(d, other);
struct B { virtual void go(int *p, cudaStream_t s) {} void call(int *p, cudaStream_t s) { this->go(p, s); } }; struct Y : B {}; struct X : Y { void go(int *p, cudaStream_t s) override { run(p, s); } }; || X x; B &b = x; b.call(d, other);
struct B { virtual void go(int *p, cudaStream_t s) {} }; struct Y : B {}; struct X : Y { void go(int *p, cudaStream_t s) override { run(p, s); } }; || X x; B *b = &x; b->go(d, other);
struct B { virtual void operator()(int *p, cudaStream_t s) {} }; struct X : B { void operator()(int *p, cudaStream_t s) override { run(p, s); } }; || X x; B &b = x; b(d, other);
struct B { void go(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using B::go; void go(int) {} }; || X x; x.go(d, other);
struct B { B(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using B::B; }; || X x(d, other);
struct B { B(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using B::B; }; || X x{d, other};
struct B { B(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using B::B; int n = 0; }; || auto x = X(d, other);
struct B { B(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using B::B; int n = 0; }; || auto x = std::make_unique<X>(d, other);
struct B { B(int *p, cudaStream_t s) { run(p, s); } }; struct X : B { using Base = B; using Base::Base; int n = 0; }; || X x(d, other);
struct X { X(int *p, cudaStream_t s) : X(p, s, 1) {} X(int *p, cudaStream_t s, int) { run(p, s); } }; || X x(d, other);
struct X { X() : X(nullptr, 0) {} X(int *p, cudaStream_t s) { if (p) run(p, s); } }; || X x(d, other);
int operator""_go(unsigned long long) ; int *gp; cudaStream_t gs; int operator""_go(unsigned long long) { run(gp, gs); return 1; } || G! int x = 3_go;
G! int operator""_go(const char *, size_t) { run(gp, gs); return 1; } || G! int x = "abc"_go;
G! struct T { void *operator new(size_t n) { run(gp, gs); return malloc(n); } }; || G! T *t = new T;
G! struct T { void operator delete(void *p) { run(gp, gs); free(p); } }; || G! T *t = new T; delete t;
G! void *operator new(size_t n) { if (gp) run(gp, gs); return malloc(n); } || G! int *t = new int;
G! void *operator new(size_t n) { if (gp) run(gp, gs); return malloc(n); } || G! std::vector<int> v(10);
G! void operator delete(void *n) noexcept { if (gp) run(gp, gs); free(n); } || G! delete e;
G! thread_local int t = (run(gp, gs), 1); || G! int n = t;
G! int go() { run(gp, gs); return 1; } thread_local int t = go(); || G! int n = t;
G! int go() { run(gp, gs); return 1; } static thread_local int t{go()}; || G! int n = t;
G! int go() { run(gp, gs); return 1; } thread_local int t(go()); || G! int n = t;
G! int go() { run(gp, gs); return 1; } thread_local const int t = go(); || G! int n = t;
G! int go() { run(gp, gs); return 1; } struct S { static thread_local int t; }; thread_local int S::t = go(); || G! int n = S::t;
G! int go() { run(gp, gs); return 1; } struct S { inline static thread_local int t = go(); }; || G! int n = S::t;
G! int go() { run(gp, gs); return 1; } namespace n { thread_local int t = go(); } || G! int n = n::t;
G! int go() { run(gp, gs); return 1; } namespace { thread_local int t = go(), u = 3; } int get() { return u; } || G! int n = get();
G! struct T { int n; T() { if (gp) run(gp, gs); } }; thread_local T t; || G! int n = t.n;
G! struct T { int n; T() { if (gp) run(gp, gs); } }; inline thread_local T t[2]; || G! int n = t[1].n;
G! struct T { int n = 0; ~T() {} }; struct U { T t; U() { run(gp, gs); } }; thread_local std::vector<U> t(3); || G! t.clear();
G! struct C { operator int() const { run(gp, gs); return 1; } }; C c; void f(int n = c) {} || G! f();
G! struct C { operator int() const { run(gp, gs); return 1; } }; C c; void f(int n = c); void f(int n) {} || G! f();
G! struct C { operator int() const { run(gp, gs); return 1; } }; namespace m { C c; } void f(int *p, double n = m::c); void f(int *p, double n) {} || G! f(e);
G! struct C { operator int() const { run(gp, gs); return 1; } static C all; }; C C::all; struct S { void f(int n = C::all) {} }; || G! S s; s.f();
G! struct C { operator int() const { run(gp, gs); return 1; } static C all; }; C C::all; struct S { void f(int n = C::all); }; void S::f(int n) {} || G! S s; s.f();
G! struct C { operator int *() const { run(gp, gs); return gp; } }; C c; void f(int *p = c) {} || G! f();
G! struct C { operator int() const { run(gp, gs); return 1; } }; C c; template <class T> void f(T n = c) {} || G! f<int>();
G! struct C { operator int() const { run(gp, gs); return 1; } }; extern C c; void f(int n = c) {} C c; || G! f();
G! struct C { operator int() const { run(gp, gs); return 1; } static C all; }; C C::all; || G! int n = C::all;
G! struct C { void go() const { run(gp, gs); } }; struct S { static C all; }; C S::all; || G! S::all.go();
G! struct C { void operator()() const { run(gp, gs); } }; struct S { static C all; }; C S::all; || G! S::all();
G! struct C { C &operator=(int) { run(gp, gs); return *this; } }; struct S { static C all; void f() { all = 3; } }; C S::all; || G! S s; s.f();
G! struct C { operator bool() const { run(gp, gs); return true; } }; struct S { static C all; int f() { return all ? 1 : 2; } }; C S::all; || G! S s; s.f();
G! struct R : std::pmr::memory_resource { void *do_allocate(size_t n, size_t) override { run(gp, gs); return malloc(n); } void do_deallocate(void *p, size_t, size_t) override { free(p); } bool do_is_equal(const memory_resource &o) const noexcept override { return this == &o; } }; || G! R r; std::pmr::vector<int> v(&r); v.push_back(3);
G! struct R : std::pmr::memory_resource { void *do_allocate(size_t n, size_t) override { return malloc(n); } void do_deallocate(void *p, size_t, size_t) override { run(gp, gs); free(p); } bool do_is_equal(const memory_resource &o) const noexcept override { return this == &o; } }; || G! { R r; std::pmr::monotonic_buffer_resource m(&r); std::pmr::vector<int> v(&m); v.push_back(3); }
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; std::vector<int> v(t);
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; for (int i = 0; i < t; ++i) {}
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; int a[4]; a[t] = 1;
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; printf("%d", t + 1);
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; int x{t};
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; int a[] = {1, t};
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; k<<<t, 1>>>(e);
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; || G! T t; cudaMemset(e, t, 4);
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! int x = mk();
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! switch (mk()) { case 1: break; }
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! int x = 3 + mk();
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! int x = static_cast<int>(mk());
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! int x = (int)T{1};
G! struct T { int x; operator int() const { run(gp, gs); return 1; } }; T mk() { return {1}; } || G! int x = int(T{1});
G! struct T { int x; template <class U> operator U() const { run(gp, gs); return 1; } }; || G! T t; int x = t;
G! struct T { T(int) { run(gp, gs); } }; T f() { return 3; } || G! f();
G! struct T { T(int) { run(gp, gs); } }; T f() { return {3}; } || G! f();
G! struct T { T(int) { run(gp, gs); } }; || G! auto f = []() -> T { return 3; }; f();
G! struct T { T(int) { run(gp, gs); } }; || G! T t = 1; t = 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T t; t = 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; struct M { T t; }; || G! M m{3};
G! struct T { T() {} T(int) { run(gp, gs); } }; struct M { T t; }; || G! M m; m.t = 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; struct M { T t; M() : t(3) {} }; || G! M m;
G! struct T { T() {} T(int) { run(gp, gs); } }; struct M { T t = 3; }; || G! M m;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T a[2] = {1, 2};
G! struct T { T() {} T(int) { run(gp, gs); } }; bool operator==(T, T) { return true; } || G! T t; if (t == 3) e = 0;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! int n = 1; T t = n ? T() : 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::vector<T> v{1, 2};
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::vector<T> v; v.push_back(1);
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::optional<T> v = 1;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::map<int, T> v{{1, 2}};
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::map<int, T> v; v[1] = 2;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! static_cast<T>(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! (T)3;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! const T &t = 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T &&t = 3;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! const T &t = T(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! throw T(3);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T t; auto f = [t] {}; f();
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T t; T u = t;
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T t; std::vector<T> v; v.push_back(t);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; void f(T) {} || G! T t; f(t);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; void f(T) {} || G! T t; void (*h)(T) = f; h(t);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; void f(T) {} || G! T t; std::function<void(T)> h = f; h(t);
G! struct T { T() {} ~T() { run(gp, gs); } }; void f(T) {} || G! void (*h)(T) = f; h({});
G! struct T { T() {} T(const T &) { run(gp, gs); } }; struct S { void f(T) {} }; || G! T t; S s; auto h = &S::f; (s.*h)(t);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; void f(T) {} typedef void (*F)(T); || G! T t; F tab[2] = {f, f}; tab[1](t);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; T g; T f() { return g; } || G! f();
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a[2]; for (auto x : a) {}
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a[2]; auto [x, y] = a;
G! struct T { T() {} T(const T &) { run(gp, gs); } }; struct M { T a, b; }; || G! M m; auto [x, y] = m;
G! struct T { T() {} T(T &&) { run(gp, gs); } }; || G! T t; T u = std::move(t);
G! struct T { T() {} T(T &&) { run(gp, gs); } }; || G! T t; T u(static_cast<T &&>(t));
G! struct T { T() {} T(T &&) { run(gp, gs); } T &operator=(T &&) { return *this; } }; || G! T t, u; std::swap(t, u);
G! struct T { T() {} T &operator=(const T &) { run(gp, gs); return *this; } }; || G! T t, u; std::swap(t, u);
G! struct T { T() {} T &operator=(const T &) { run(gp, gs); return *this; } }; || G! std::vector<T> v(2), w(2); v = w;
G! struct T { T() {} T &operator=(const T &) { run(gp, gs); return *this; } }; struct M { T t; }; || G! M v, w; v = w;
G! struct T { T() {} T(const T &) { run(gp, gs); } }; struct M { T t; }; || G! M v; M w = v;
G! struct T { T() {} T(const T &) { run(gp, gs); } }; struct M { T t[2]; }; || G! M v; M w = v;
G! struct T { T() {} T(const T &) { run(gp, gs); } }; struct M : T { }; || G! M v; M w{v};
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a; auto *b = new T(a);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a; auto b = std::make_unique<T>(a);
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a; std::thread t([](T) {}, a); t.join();
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! T a; try { throw a; } catch (...) {}
G! struct T { T() {} T(const T &) { run(gp, gs); } }; || G! try { throw T(); } catch (T t) {}
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! int n = 1; T t = n + 1;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! int n = 1; T t = -n;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! int n = 1; T t = n ? 1 : 2;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! int n = 1; T t = n++;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T t = sizeof(int);
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T t = true;
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! T t = abs(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; int num() { return 3; } || G! T t = num();
G! struct T { T() {} T(int) { run(gp, gs); } }; int num(); || G! T t = num();
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::vector<int> v(3); T t = v[0];
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! std::vector<int> v(3); T t = v.size();
G! struct T { T() {} T(int) { run(gp, gs); } }; || G! enum { A }; T t = A;
G! struct T { T() {} T(const char *) { run(gp, gs); } }; || G! T t = "x";
G! struct T { T() {} T(std::string) { run(gp, gs); } }; || G! T t = std::string("x");
G! struct T { T() {} T(std::string) { run(gp, gs); } }; || G! std::string s; T t = s;
G! struct T { T() {} T(std::string) { run(gp, gs); } }; void f(T) {} || G! std::string s; f(s);
G! struct T { T() {} T(std::vector<int>) { run(gp, gs); } }; void f(const T &) {} || G! std::vector<int> s; f(s);
G! struct U {}; struct T { T() {} T(U) { run(gp, gs); } }; void f(T) {} || G! U s; f(s);
G! struct U {}; struct T { T() {} T(const U &) { run(gp, gs); } }; void f(const T &) {} || G! U s; f(s);
G! struct U {}; struct T { T() {} T(const U &) { run(gp, gs); } }; || G! U s; T t = s;
G! struct U {}; struct T { T() {} T(const U &) { run(gp, gs); } }; || G! U s; T t; t = s;
G! struct T; struct U { operator T(); }; struct T { }; U::operator T() { run(gp, gs); return {}; } || G! U s; T t = s;
G! struct T { }; struct U { operator T() { run(gp, gs); return {}; } }; void f(T) {} || G! U s; f(s);
G! struct T { T() {} T(int) { run(gp, gs); } }; void f(T) {} || G! int n = 1; f(n + 1);
G! struct T { T() {} T(int) { run(gp, gs); } }; void f(const T &) {} || G! int n = 1; f(n * 2);
G! struct T { T() {} T(int) { run(gp, gs); } }; void f(const T &) {} || G! f(abs(2));
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { void f(const T &) {} }; || G! S s; int n = 1; s.f(n);
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { S(const T &) {} }; || G! S s(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { S(const T &) {} }; || G! S s{3};
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { S(const T &) {} }; || G! auto *s = new S(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { S(const T &) {} }; || G! auto s = std::make_unique<S>(3);
G! struct T { T() {} T(int) { run(gp, gs); } }; struct S { S(const T &) {} }; struct R : S { R() : S(3) {} }; || G! R r;
G! struct T { T() {} T(int) { run(gp, gs); } }; void f(const T & = 3) {} || G! f();
G! struct T { T() {} T(int) { run(gp, gs); } }; void f(const T & = {}) {} void h(T = 5) {} || G! h();
G! struct T { T(int n = 3) { run(gp, gs); } }; void f(T = {}) {} || G! f();
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! T t{};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! T t = {};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! T();
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! T{};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! (void)T{};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! auto t = T{};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! static T t;
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! thread_local T t;
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! static T t = 4;
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! static T t[2];
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! static T t{};
G! struct T { T(int n = 3) { run(gp, gs); } }; || G! static const T &t = T();
G! struct T { T(int n = 3) { run(gp, gs); } }; T &get() { static T t; return t; } || G! get();
G! struct T { T(int n = 3) { run(gp, gs); } }; T &get() { static T *t = new T; return *t; } || G! get();
G! struct T { T(int n = 3) { run(gp, gs); } }; T &get() { static std::unique_ptr<T> t(new T); return *t; } || G! get();
G! struct T { T(int n = 3) { run(gp, gs); } }; T &get() { static auto t = std::make_unique<T>(); return *t; } || G! get();
G! struct T { T(int n = 3) { run(gp, gs); } }; T &get() { static auto t = [] { return T(); }(); return t; } || G! get();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> X &get() { static X t; return t; } || G! get<T>();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> void get() { X t; } || G! get<T>();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> void get() { X(); } || G! get<T>();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> void get() { X{}; } || G! get<T>();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> void get() { new X; } || G! get<T>();
G! struct T { T(int n = 3) { run(gp, gs); } }; template <class X> auto get() { return std::make_unique<X>(); } || G! get<T>();
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> void get(X) { X t(3); } || G! T t; get(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> void get(X *) { X t(3); } || G! T t; get(&t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> void get(X *) { X t(3); } || G! T *t = nullptr; get(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> struct W { void get() { X t(3); } }; || G! W<T> w; w.get();
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> struct W { X mk() { return 3; } }; || G! W<T> w; w.mk();
G! struct T { T() {} T(int n) { run(gp, gs); } }; void f(auto x) { decltype(x) y(3); } || G! T t; f(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; || G! auto f = [](auto x) { decltype(x) y(3); }; T t; f(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; || G! auto f = [](auto &&x) { using X = std::decay_t<decltype(x)>; X y(3); }; T t; f(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; || G! auto f = []<class X>(X x) { X y(3); }; T t; f(t);
G! struct T { T() {} T(int n) { run(gp, gs); } }; struct Tr { using type = T; }; || G! typename Tr::type t(3);
G! struct T { T() {} T(int n) { run(gp, gs); } }; struct Tr { using type = T; }; || G! Tr::type t(3);
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> struct Tr { using type = X; }; || G! Tr<T>::type t(3);
G! struct T { T() {} T(int n) { run(gp, gs); } }; template <class X> using Al = X; || G! Al<T> t(3);
G! struct T { T() {} T(int n) { run(gp, gs); } }; || G! std::conditional_t<true, T, int> t(3);
G! namespace a { inline namespace b { struct T { T() {} T(int n) { run(gp, gs); } }; } } || G! a::T t(3);
G! namespace a { struct T { T() {} T(int n) { run(gp, gs); } }; } namespace z = a; || G! z::T t(3);
G! namespace a { struct T { T() {} T(int n) { run(gp, gs); } }; } using a::T; || G! T t(3);
G! namespace a { struct T { T() {} T(int n) { run(gp, gs); } }; } using namespace a; || G! T t(3);
G! namespace a { void go() { run(gp, gs); } } namespace z = a; || G! z::go();
G! namespace a { void go() { run(gp, gs); } } namespace b { using a::go; } || G! b::go();
G! namespace a { void go() { run(gp, gs); } } namespace b { using namespace a; } || G! b::go();
G! namespace a { inline namespace v1 { void go() { run(gp, gs); } } } || G! a::go();
G! struct S { friend void go(S) { run(gp, gs); } }; || G! S s; go(s);
G! struct S { friend S operator+(S a, S) { run(gp, gs); return a; } }; || G! S s; s + s;
"""

# of namespaces and of static members
NAMES = r"""
namespace a { void go(int *p, cudaStream_t s) { run(p, s); } } namespace z = a; || z::go(d, other);
namespace a { void go(int *p, cudaStream_t s) { run(p, s); } } || namespace z = a; z::go(d, other);
namespace a { void go(int *p, cudaStream_t s) { run(p, s); } } namespace b { using a::go; } || b::go(d, other);
namespace a { void go(int *p, cudaStream_t s) { run(p, s); } } namespace b { using namespace a; } || b::go(d, other);
namespace a { inline namespace v1 { void go(int *p, cudaStream_t s) { run(p, s); } } } || a::go(d, other);
namespace a { inline namespace v1 { void go(int *p, cudaStream_t s) { run(p, s); } } } || a::v1::go(d, other);
namespace a::b { void go(int *p, cudaStream_t s) { run(p, s); } } namespace z = a::b; || z::go(d, other);
namespace a::b { void go(int *p, cudaStream_t s) { run(p, s); } } namespace z = a; || z::b::go(d, other);
namespace a::inline b { void go(int *p, cudaStream_t s) { run(p, s); } } || a::go(d, other);
namespace a { namespace { void go(int *p, cudaStream_t s) { run(p, s); } } } || a::go(d, other);
namespace a { struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; } namespace z = a; || z::S::go(d, other);
namespace a { inline namespace v { struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; } } || a::S::go(d, other);
namespace a { struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; } || using Z = a::S; Z::go(d, other);
namespace a { struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; } using Z = a::S; || Z::go(d, other);
namespace a { struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; } typedef a::S Z; || Z::go(d, other);
template <class T> struct S { static void go(int *p, cudaStream_t s) { run(p, s); } }; using Z = S<int>; || Z::go(d, other);
struct B { static void go(int *p, cudaStream_t s) { run(p, s); } }; struct S : B {}; || S::go(d, other);
struct B { static void go(int *p, cudaStream_t s) { run(p, s); } }; struct S : B {}; using Z = S; || Z::go(d, other);
struct B { static void go(int *p, cudaStream_t s) { run(p, s); } }; struct S { using Z = B; }; || S::Z::go(d, other);
namespace a { inline namespace v { int *slot; } } || a::slot = d; run(a::v::slot, other);
namespace a { int *slot; } namespace z = a; || z::slot = d; run(a::slot, other);
namespace a { int *slot; } namespace b { using a::slot; } || b::slot = d; run(a::slot, other);
namespace a { int *slot; } using a::slot; || slot = d; run(a::slot, other);
namespace a { int *slot; } using namespace a; || slot = d; run(a::slot, other);
namespace a { int *slot; } || using namespace a; slot = d; run(a::slot, other);
namespace a { int *slot; } || using a::slot; slot = d; run(a::slot, other);
namespace a { int *slot; void go(cudaStream_t s) { run(slot, s); } } namespace z = a; || z::slot = d; a::go(other);
namespace a { inline namespace v { int *slot; } void go(cudaStream_t s) { run(slot, s); } } || a::slot = d; a::go(other);
namespace a { namespace { int *slot; } void go(cudaStream_t s) { run(slot, s); } } || a::slot = d; a::go(other);
extern int *slot; void go(cudaStream_t s); int *slot; void go(cudaStream_t s) { run(slot, s); } || ::slot = d; go(other);
struct S { static int *slot; static void go(cudaStream_t s) { run(slot, s); } }; int *S::slot; using Z = S; || Z::slot = d; S::go(other);
struct S { static inline int *slot; void go(cudaStream_t s) { run(slot, s); } }; struct R : S {}; || R::slot = d; S x; x.go(other);
struct S { static inline int *slot; void go(cudaStream_t s) { run(slot, s); } }; struct R : S {}; || R r; r.slot = d; S x; x.go(other);
struct S { static inline int *slot; void go(cudaStream_t s) { run(slot, s); } }; || S r; r.slot = d; S x; x.go(other);
struct S { static inline int *slot; void go(cudaStream_t s) { run(this->slot, s); } }; || S r; r.slot = d; S x; x.go(other);
struct S { static inline int *slot; void go(cudaStream_t s) { run(this->slot, s); } }; || S *r = nullptr; r->slot = d; S x; x.go(other);
template <class T> struct S { static inline T *slot; void go(cudaStream_t s) { run(slot, s); } }; || S<int>::slot = d; S<int> x; x.go(other);
template <class T> T *slot; void go(cudaStream_t s) { run(slot<int>, s); } || slot<int> = d; go(other);
"""


# objects of a class without a constructor, and objects that nobody takes
UNNAMED = r"""
G! struct T { ~T() { run(gp, gs); } }; || G! T();
G! struct T { ~T() { run(gp, gs); } }; || G! (void)T();
G! struct T { ~T() { run(gp, gs); } }; || G! static_cast<void>(T());
G! struct T { ~T() { run(gp, gs); } }; || G! static_cast<void>(T{});
G! struct T { ~T() { run(gp, gs); } }; || G! void(T());
G! struct T { ~T() { run(gp, gs); } }; || G! ((void)T());
G! struct T { int x; ~T() { run(gp, gs); } }; || G! T(), e;
G! struct T { int x; ~T() { run(gp, gs); } }; || G! e = (T(), e);
G! struct T { int x; ~T() { run(gp, gs); } }; || G! std::shared_ptr<void> p(new T);
G! struct T { int x; ~T() { run(gp, gs); } }; || G! std::shared_ptr<void> p{new T()};
G! struct T { int x; ~T() { run(gp, gs); } }; || G! std::shared_ptr<void> p; p.reset(new T);
G! struct T { int x; ~T() { run(gp, gs); } }; || G! auto p = std::shared_ptr<void>(new T);
"""

# a class that looks at what a copy brings to the host, and what ends, makes, copies or compares its objects
LOOKS = {
    "struct C { C() { seen = *hh; } };": r"""
std::vector<C> v(1);
std::vector<C> v; v.resize(1);
std::vector<C> v; v.emplace_back();
std::optional<C> o; o.emplace();
std::map<int, C> m; m[3];
std::array<C, 2> a;
std::tuple<C> p;
struct W { std::vector<C> c = std::vector<C>(1); }; W w;
auto x = new std::vector<C>(2);
using V = std::vector<C>; V v(2);
std::variant<C, int> v;
""",
    "struct C { int x; ~C() { seen = *hh; } };": r"""
{ std::vector<C> v(1); }
std::vector<C> v(1); v.clear();
auto c = std::make_unique<C>(); c.reset();
std::unique_ptr<C> c(new C); c = nullptr;
std::optional<C> o; o.emplace(); o.reset();
{ std::pair<int, C> p; }
delete new std::vector<C>(2);
{ auto p = std::unique_ptr<C[]>(new C[2]); }
std::vector<std::unique_ptr<C>> v; v.emplace_back(new C); v.clear();
std::vector<std::vector<C>> v(2, std::vector<C>(2)); v.clear();
""",
    "struct C { int x; C() {} C(const C &o) { seen = *hh; } C &operator=(const C &o) { seen = *hh; return *this; } };": r"""
std::vector<C> v(2); auto w = v;
std::vector<C> v(2), w(2); std::copy(v.begin(), v.end(), w.begin());
C a, b; std::swap(a, b);
std::pair<int, C> p; auto q = p;
std::vector<C> v(2); std::reverse(v.begin(), v.end());
""",
    "struct C { int x; bool operator<(const C &o) const { seen = *hh; return x < o.x; } };": r"""
std::vector<C> v(2); std::sort(v.begin(), v.end());
std::map<C, int> m; m[C{3}] = 3; m[C{4}] = 3;
std::set<C> m; m.insert(C{3}); m.insert(C{4});
""",
}
STAGED = """
int *hh, seen;
%s
int main() {
    int *d;
    cudaMallocHost(&hh, 4);
    for (int i = 0; i < 9; i++) {
        cudaMalloc(&d, 4);
        k<<<1, 1>>>(d);
        cudaMemcpyAsync(hh, d, 4, cudaMemcpyDeviceToHost, 0);
        cudaFree(d);
        %s
    }
    cudaFreeHost(hh);
    return 0;
}
"""


@pytest.mark.parametrize(("declared", "use"), [(cls, use) for cls, uses in LOOKS.items() for use in cases(uses)])
def test_what_is_looked_at_without_a_call_is_waited_for(declared: str, use: str) -> None:
    report = analyze(STAGED % (declared, use))
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert moved or report.refusals
    assert all(any(b"Synchronize(" in edit.text for edit in f.edits) for f in moved)


def test_what_objects_hold_themselves_needs_no_wait() -> None:
    report = analyze(STAGED % ("struct C { int x; C() { x = 3; } ~C() { x = 0; } };", "std::vector<C> v(2);"))
    (moved,) = (f for f in report.findings if f.codemod == "stream_ordered_pairs")
    assert moved.safety is Safety.PROVEN
    assert not any(b"Synchronize(" in edit.text for edit in moved.edits)


@pytest.mark.parametrize("case", [*cases(MISREAD), *cases(UNNAMED), *cases(UNWRITTEN), *cases(NAMES)])
def test_what_runs_without_a_call_counts(case: str) -> None:
    check(analyze(source_of(case)))
