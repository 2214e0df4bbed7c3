"""Functions that no call names: in variables at namespace scope, with code that is not seen, made by macros; one way a
line. Each runs a kernel on `other` (see `other_stream`).
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_past_a_wait import moves_without, parts, program
from tests.soundness.test_ways_to_memory import cases

GO = "int *gd; cudaStream_t gs; void go() { run(gd, gs); }\n"
SET = "gd = d; gs = other; "


def source_of(case: str) -> str:
    declarations, _, statements = case.replace(r"\n", "\n").partition("|| ")
    return GO + declarations + MAIN % (SET + statements)


VARIABLES = """
void (*f)() = go; || f();
void (*f)() = &go; || (*f)();
void (*f)(void) = go; || f();
void (*f)()(go); || f();
void (*f)(){go}; || f();
void (&f)() = go; || f();
void (*f[])() = {go}; || f[0]();
void (*const f[2])() = {go, go}; || f[1]();
typedef void (*F)(); F f = go; || f();
typedef void (*F)(); void call(F f) { f(); } || call(go);
typedef void (*F)(int *, cudaStream_t); void call(F f, int *p) { f(p, gs); } || call(run, d);
typedef void (*F)(int *p, cudaStream_t s); void call(F f, int *p) { for (int i = 0; i < 2; i++) f(p, gs); } || call(run, d);
typedef void (*const F)(); struct T { F f; }; || T t{go}; t.f();
typedef void (CUDART_CB *F)(void *); void back(void *) { go(); } void call(F f) { f(e); } int *e; || call(back);
struct T { void (*f)(); }; T t = {go}; || t.f();
struct T { void (*f)(); }; const T t[] = {{go}}; || t[0].f();
struct T { void (*f)() = go; }; || T t; t.f();
typedef void F(); F *f = go; || f();
using F = void (*)(); F f = go; || f();
using R = void; R (*f)() = go; || f();
std::function<void()> f = go; || f();
std::function<void()> f(go); || f();
std::function<void()> f{go}; || f();
auto f = [] { go(); }; || f();
namespace n { void (*f)() = go; } || n::f();
namespace n { auto f = [] { go(); }; } || n::f();
namespace n { std::function<void()> f = go; } || n::f();
namespace n { std::function<void()> f; } || n::f = go; n::f();
namespace n { std::function<void()> f; } || n::f = [=] { run(d, other); }; n::f();
struct A { static void (*f)(); }; void (*A::f)() = go; || A::f();
struct A { static inline auto f = [] { go(); }; }; || A::f();
struct A { static inline void (*f)() = go; }; || A::f();
struct S { void go() { ::go(); } }; void (S::*f)() = &S::go; || S o; (o.*f)();
struct S { void go() { ::go(); } }; namespace n { void (S::*f)() = &S::go; } || S o; (o.*n::f)();
std::vector<void (*)()> f = {go}; || for (auto x : f) x();
std::map<int, std::function<void()>> f = {{1, go}}; || f[1]();
|| void (*f)() = &go; (*f)();
|| void (*f)(void)(go); f();
|| void (*f)()(go); f();
|| void (*f[])() = {go, &go}; (*f[1])();
|| auto *f = go; (*f)();
"""


@pytest.mark.parametrize("case", cases(VARIABLES))
def test_what_a_variable_calls_is_followed_or_the_pair_stays(case: str) -> None:
    check(analyze(source_of(case)))


QUIET = "void g2(int *p) { k<<<1, 1>>>(p); } void g3(int *p) { run(p, gs); }\n"
PICKED = """
static struct T { const char *n; void (*f)(int *); } t[] = {{"a", g2}, {"b", g3}}; || for (auto &x : t) x.f(d);
static struct T { const char *n; void (*f)(int *); } t[] = {{"a", g2}, {"b", g3}}; || t[1].f(d);
static struct T { const char *n; void (*f)(int *); } t[] = {{"a", g2}, {"b", g3}}; || auto *x = t; x++; x->f(d);
static void (*t[2])(int *) = {g2, g2}; void set(void (**x)(int *)) { *x = g3; } || set(t); t[0](d);
static void (*t[])(int *) = {[1] = g3, [0] = g2}; || t[1](d);
static struct T { void (*a)(int *), (*b)(int *); } t = {.a = g2, .b = g3}; || auto u = t; std::swap(u.a, u.b); u.a(d);
static void (*f)(int *) = g2; void set() { f = g3; } || set(); f(d);
static void (*f)(int *) = g2; static int set() { f = g3; return 1; } static int r = set(); || f(d);
static void (*f)(int *) = g2; static struct R { R() { f = g3; } } r; || f(d);
static void (*f)(int *) = g2; || unseen(&f); f(d);
void (*f)(int *) = g2; || f(d);
void (*f)(int *) = g2; void unseen(); || f = g2; unseen(); f(d);
namespace a { void g2(int *p) { g3(p); } void (*f)(int *) = g2; } namespace b { void (*f)(int *) = ::g2; } || a::f(d);
"""


@pytest.mark.parametrize("case", cases(PICKED))
def test_a_variable_may_hold_another_function_than_at_first(case: str) -> None:
    check(analyze(GO + QUIET + source_of(case).removeprefix(GO)))


def test_a_table_of_functions_that_only_this_file_knows_is_followed() -> None:
    table = 'static const struct { const char *n; void (*f)(int *); } t[] = {{"a", g2}, {"b", g2}};'
    report = analyze(GO + QUIET + table + MAIN % "for (auto &x : t) x.f(d);")
    assert [f.safety for f in report.findings if f.codemod == "stream_ordered_pairs"] == [Safety.PROVEN]


UNSEEN = r"""
|| unseen(go);
|| unseen(&go); unseen2();
|| MY_CHECK(go);
|| MY_CHECK(go, 3);
|| int r = MY_CHECK(&go);
|| if (MY_CHECK(go)) e = 0;
|| lib::unseen(go);
|| Unseen x; x.call(go);
|| unseen([] { go(); });
|| unseen<go>();
|| unseen::call<&go>(3);
|| Unseen<go> u; u.call();
void unseen(void (*)()); || unseen(go);
void early() { unseen(go); } || early(); unseen2();
struct S { static void f() { go(); } }; || MY_CHECK(S::f);
struct S { static void f() { go(); } }; || unseen<S>();
struct S { void f() { go(); } }; || S o; MY_CHECK(o, f);
struct S { void operator()() { go(); } }; || unseen(S{});
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; || W w; unseen(&w);
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; || V *v = new W; unseen(v);
struct W : Unseen { void f() override { go(); } }; || W w; w.start();
template <class T> void tgo() { go(); } || MY_CHECK(tgo<int>);
Unseen u(go); || u.call();
Unseen u = go; || u.call();
Unseen u{"go", go}; || unseen();
static Unseen u("go", [] { go(); }); || unseen();
REGISTER(go); || RUN_ALL();
REGISTER("name", go)\n || RUN_ALL();
TEST(a, b) { go(); } || RUN_ALL();
|| glutDisplayFunc(go); glutMainLoop();
struct Lib; struct R { Lib *lib; R() { lib = make(this); start(lib); } void step() { work(lib); } void kernels() { go(); } }; || R r; r.step();
struct Lib; struct I { R *owner; }; struct R { Lib *lib; void step() { work(this->lib, *this); } void kernels() { go(); } }; || R r; r.step();
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; struct H { V *v; }; || W w; H h; h.v = &w; unseen(h.v);
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; struct H { V *v; }; || W w; H h; h.v = &w; unseen(&h.v);
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; struct H { V *v; H *n; }; || W w; H h, i; h.v = &w; i.n = &h; unseen(i.n);
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; template <class T> struct H { T *v; }; || W w; H<W> h; h.v = &w; unseen(h.v);
struct W { void f() { go(); } }; struct H { W w; }; || H h; unseen(h.w);
struct W { void f() { go(); } }; struct H { W w; }; || H h; unseen(&h.w);
struct W { void f() { go(); } }; struct H { std::vector<W> w; }; || H h; unseen(h.w);
struct W { void f() { go(); } }; struct H { W w[3]; }; || H h; unseen(h.w[1]);
struct W { void f() { go(); } }; struct H { int n; W *w; }; || H h; unseen(h);
struct W : Unseen { int n; void f() override { go(); } void kick() { unseen(&n); } }; || W w; w.kick();
struct W : Unseen { int n; W() { unseen(n); } void f() override { go(); } }; || W w; w.start();
struct W : Unseen { void f() override { go(); } }; || W w; unseen();
struct W : public lib::Unseen { void f() override { go(); } }; || auto w = std::make_unique<W>(); unseen();
struct W : Unseen<W> { void f() override { go(); } }; || W *w = new W; unseen();
struct V : Unseen {}; struct W : V { void f() override { go(); } }; || W *w = new W; unseen();
"""


@pytest.mark.parametrize("case", cases(UNSEEN))
def test_code_that_is_not_seen_may_call_what_it_gets(case: str) -> None:
    check(analyze(source_of(case)))


HANDED = r"""
void (*hook)(); struct R { R(void (*f)()) { hook = f; } };\n#define REG(f) static R r_##f(f);\nREG(go)\n || hook();
void (*hook)(); struct R { R(void (*f)()) { hook = f; } };\n#define REG(f) static R r_##f(f)\nREG(go);\n || hook();
#define TEST(a, b) void a##_##b()\nTEST(x, y) { go(); } || x_y();
#define DEF(name) void name() { go(); }\nDEF(ho)\n || ho();
#define DEF(name) void go_##name() { go(); }\nDEF(a) DEF(b)\n || go_a();
#define DEF(name) \\n  void go_##name() \\n  { go(); }\nDEF(a)\n || go_a();
#define LIST X(a) X(b)\n#define X(n) void go_##n() { go(); }\nLIST\n#undef X\n || go_b();
#define LIST(X) X(a) X(b)\n#define DEF(n) void go_##n() { go(); }\nLIST(DEF)\n || go_b();
void go_a() { go(); } void go_b() {}\n#define LIST(X) X(a) X(b)\n#define CALL(n) go_##n();\n || LIST(CALL)
void go_a() { go(); } void go_b() {}\n#define LIST X(b) X(a)\n#define X(n) go_##n();\n || LIST
void go_a() { go(); } void go_b() {}\n#define X(n) go_##n()\n || X(a);
void go_a() { go(); } void go_b() {}\n#define X(m, n) m##_##n()\n#define Y(n) X(go, n)\n || Y(a);
void go_a() { go(); }\n#define X(n) void (*f_##n)() = go_##n; f_##n();\n || X(a);
#define X(n) { int *p_##n = gd; run(p_##n, gs); }\n || X(a);
#define X(n) [] { n##o(); }()\n || X(g);
#define FIELD(n) int *n##_p;\nstruct S { FIELD(a) FIELD(b) };\n || S s; s.b_p = d; run(s.b_p, other);
"""


@pytest.mark.parametrize("case", cases(HANDED))
def test_a_function_whose_name_a_macro_makes_is_followed_or_the_pair_stays(case: str) -> None:
    check(analyze(source_of(case)))


BY_TYPE = """
struct S { void go() { ::go(); } }; || S s; s.go();
namespace n { void go() {} void h() { ::go(); } } || n::h();
struct B { void h() { go(); } }; struct S : B { using B::h; void h(int) {} }; || S s; s.h();
struct B { virtual void h() { go(); } }; struct S : B { using Base = B; void h() { Base::h(); } }; || S s; s.h();
template <class D> struct B { void h() { D::impl(); } }; struct S : B<S> { static void impl() { go(); } }; || S s; s.h();
template <class D> struct B { void h() { static_cast<D *>(this)->impl(); } }; struct S : B<S> { void impl() { go(); } }; || S s; s.h();
template <class P> struct A { void h() { P::apply(); } }; struct P1 { static void apply() { go(); } }; || A<P1>().h();
template <class P> struct A : P { void h() { P::apply(); } }; struct P1 { void apply() { go(); } }; || A<P1> a; a.h();
template <class... M> struct A : M... { void h() { (M::apply(), ...); } }; struct P1 { void apply() { go(); } }; struct P2 { void apply() {} }; || A<P2, P1> a; a.h();
struct D { static void h() { go(); } }; template <class T> struct E : D {}; template <template <class> class C, class T> void call() { C<T>::h(); } || call<E, int>();
template <class F, class... R> void all(F f, R... r) { f(); if constexpr (sizeof...(r) > 0) all(r...); } || all([] {}, [] { go(); });
template <auto F> struct C { void operator()() { F(); } }; || C<go>{}();
template <void (*F)()> struct C { static void call() { F(); } }; || C<go>::call();
struct C { operator int() const { go(); return 1; } }; || auto x = static_cast<int>(C());
"""


@pytest.mark.parametrize("case", cases(BY_TYPE))
def test_what_a_type_or_an_argument_of_a_template_calls_is_followed_or_the_pair_stays(case: str) -> None:
    check(analyze(source_of(case)))


UNNAMED = """
struct I { void h() { go(); } }; struct J { I i; I *operator->() { return &i; } }; struct K { J operator->() { return J(); } }; || K x; x->h();
struct I { int n; }; struct J { I i; I *operator->() { go(); return &i; } }; struct K { J operator->() { return J(); } }; || K x; int z = x->n;
struct I { void h() { go(); } }; struct K { std::shared_ptr<I> j; std::shared_ptr<I> operator->() { return j; } }; || K x{std::make_shared<I>()}; x->h();
struct I { void h() { go(); } }; template <class T> struct P { T *p; T *operator->() { return p; } }; template <class T> struct L { P<T> q; P<T> operator->() { return q; } }; || I i; L<I> x{{&i}}; x->h();
struct S { void h() { go(); } }; || std::any a = S(); std::any_cast<S &>(a).h();
struct S { ~S() { go(); } }; || { std::any a = S(); }
struct S { ~S() { go(); } }; || std::any a = S(); a.reset();
struct S { ~S() { go(); } }; void take(std::any a) {} || take(S());
struct S { ~S() { go(); } }; struct H { std::any a; }; || H h{S()}; h.a.reset();
struct S { S() {} S(const S &) { go(); } }; || std::any a = S(); auto b = a;
struct S { ~S() { go(); } std::vector<int> v() { return {1}; } }; || for (int x : S().v()) e = 0;
struct S { ~S() { go(); } int n = 2; int *begin() { return &n; } int *end() { return &n + 1; } }; || for (int x : S()) break;
struct S { ~S() { go(); } }; std::vector<int> mk(const S &) { return {}; } || for (int x : mk(S())) break;
struct S { ~S() { go(); } }; || for (auto &x : std::vector<S>(1)) break;
struct It { int n; bool operator!=(It o) { return n != o.n; } void operator++() { go(); ++n; } int operator*() { return n; } }; struct S { It begin() { return {0}; } It end() { return {3}; } }; || for (int x : S()) e = 0;
struct V { virtual void f() {} }; struct W : V { void f() { go(); } }; || unseen(W());
"""


@pytest.mark.parametrize("case", cases(UNNAMED))
def test_an_object_without_a_name_counts(case: str) -> None:
    check(analyze(source_of(case)))


SHOWS = "struct S { int *p; }; std::ostream &operator<<(std::ostream &o, const S &) { go(); return o; }"
LIBRARY = """
SHOWS || S s; std::cout << 1 << s;
SHOWS template <class T> void show(const T &x) { std::cout << x; } || S s; show(s);
SHOWS || std::vector<S> v(1); std::copy(v.begin(), v.end(), std::ostream_iterator<S>(std::cout));
namespace n { struct S { int *p; }; void swap(S &, S &) { go(); } } || n::S a, b; swap(a, b);
namespace n { struct S { int *p; }; void swap(S &, S &) { go(); } } || std::vector<n::S> v(2); std::reverse(v.begin(), v.end());
struct E : std::exception { const char *what() const noexcept override { go(); return ""; } }; || try { throw E(); } catch (const std::exception &x) { puts(x.what()); }
struct S { int a; template <size_t N> int get() const { go(); return a; } }; template <> struct std::tuple_size<S> : std::integral_constant<size_t, 1> {}; || S s; auto [x] = s;
"""


@pytest.mark.parametrize("case", cases(LIBRARY))
def test_what_a_library_calls_of_the_program_counts(case: str) -> None:
    check(analyze(source_of(case.replace("SHOWS", SHOWS))))


LOUD = "struct M { int *p; cudaStream_t s; ~M() { run(p, s); } };\n"
THROWN = """
struct A { M m; A(int *p, cudaStream_t s) : m{p, s} { throw 1; } }; || A a(d, other);
struct A { M m; A(int *p, cudaStream_t s); }; A::A(int *p, cudaStream_t s) : m{p, s} { throw 1; } || A a(d, other);
struct A { M m; ~A() {} A(int *p, cudaStream_t s) : m{p, s} { throw 1; } }; || A a(d, other);
struct A { M m; A(int *p, cudaStream_t s, int n) : m{p, s} { if (n) throw 1; } }; || A a(d, other, rand());
struct A { M m[2]; A(int *p, cudaStream_t s) : m{{p, s}, {p, s}} { throw 1; } }; || A a(d, other);
struct A { M m; A(int *p, cudaStream_t s) : m{p, s} { unseen(); } }; || A a(d, other);
void f() { throw 1; } struct A { M m; A(int *p, cudaStream_t s) : m{p, s} { f(); } }; || A a(d, other);
int f() { throw 1; } struct A { M m; int n; A(int *p, cudaStream_t s) : m{p, s}, n(f()) { } }; || A a(d, other);
struct B { M m; B(int *p, cudaStream_t s) : m{p, s} {} }; struct A : B { A(int *p, cudaStream_t s) : B(p, s) { throw 1; } }; || A a(d, other);
struct A { M m; A(int *p, cudaStream_t s) : m{p, s} { throw 1; } }; || A *a = new A(d, other);
struct A { M m; A(int *p, cudaStream_t s) : m{p, s} { throw 1; } }; || auto a = std::make_unique<A>(d, other);
struct A { int *p; cudaStream_t s; A(int *q, cudaStream_t t) : p(q), s(t) {} A(int *q, cudaStream_t t, int) : A(q, t) { throw 1; } ~A() { run(p, s); } }; || A a(d, other, 1);
"""


@pytest.mark.parametrize("case", cases(THROWN))
def test_what_a_constructor_has_made_ends_where_it_throws(case: str) -> None:
    declarations, _, statements = case.partition(" || ")
    check(analyze(LOUD + declarations + MAIN % f"try {{ {statements} }} catch (...) {{ }}"))


TIED = """
|| std::tie(d, e) = std::make_pair(d, d); run(e, other);
std::pair<int *, int *> two(int *p) { return {p, p}; } || std::tie(d, e) = two(d); run(e, other);
|| auto x = std::tie(e); x = std::make_tuple(d); run(e, other);
|| cudaStream_t t = 0; std::tie(e, t) = std::make_pair(d, other); run(e, t);
|| cudaStream_t t = 0; std::tie(t) = std::tie(other); run(d, t);
|| int *q = nullptr; std::reference_wrapper<int *> x(d); x = std::ref(q); run(d, other);
|| std::pair<int *&, int> a(e, 1); a = std::make_pair(d, 2); run(e, other);
struct S { int *p, *q; std::tuple<int *&, int *&> parts() { return std::tie(p, q); } }; || S s{e, e}; s.parts() = std::make_tuple(d, d); run(s.q, other);
struct S { int *p, *q; auto parts() { return std::tie(p, q); } }; || S s{e, e}, t{d, d}; s.parts() = t.parts(); run(s.q, other);
"""


@pytest.mark.parametrize("case", cases(TIED))
def test_what_is_assigned_through_a_tuple_of_references_is_followed(case: str) -> None:
    check(analyze(source_of(case)))


# the host reads behind the free what a kernel wrote
KEPT = """
k<<<1,1>>>(d, t); int *w = std::get<0>(std::make_tuple(t, 2)); | return *w;
k<<<1,1>>>(d, t); auto x = std::make_tuple(t); | return *std::get<0>(x);
k<<<1,1>>>(d, t); auto x = std::make_tuple(t); int *w = std::get<0>(x); | return w[0];
k<<<1,1>>>(d, t); int *w = pg; std::tie(w) = std::make_tuple(t, 2); | return *w;
k<<<1,1>>>(d, t); int q, *w; std::tie(w, q) = std::make_tuple(t, 2); | return *w;
k<<<1,1>>>(d, t); int *q, *r; std::tie(q, r) = std::make_pair(t, t); | return r[0];
A! std::optional<A> v; v.emplace(t); | return v.value().get();
A! std::optional<A> v; v.emplace(A{t}); | return v->get();
A! std::map<int, A> v; v[1] = {t}; | return v.at(1).get();
A! std::map<int, A> v; v.emplace(1, A{t}); | return v.find(1)->second.get();
A! std::list<A> v; v.push_back({t}); | return v.front().get();
A! std::vector<A> v; v.push_back({t}); v.push_back({t}); | return v.back().get();
A! std::queue<A> v; v.push({t}); | return v.front().get();
A! std::stack<A> v; v.push({t}); | return v.top().get();
A! std::variant<A, int> v; v.emplace<A>(t); | return std::get<0>(v).get();
A! std::any v; v.emplace<A>(A{t}); | return std::any_cast<A>(&v)->get();
"""
GETS = "struct A { int *p; int get() { return *p; } };"


@pytest.mark.parametrize("case", cases(KEPT))
def test_what_a_tuple_or_container_leads_to_is_waited_for(case: str) -> None:
    assert not moves_without(program(*parts(case.replace("A! ", f"{GETS} || k<<<1,1>>>(d, t); "))), "Synchronize")


def test_a_method_that_knows_no_more_than_its_object_may_be_called_by_code_that_is_not_seen() -> None:
    declarations = "struct S { int *p = nullptr; void f(cudaStream_t s) { if (p) run(p, s); } };"
    assert not analyze(declarations + MAIN % "S o; unseen(o);").refusals


def test_a_member_that_unseen_code_gets_does_not_lead_to_its_object() -> None:
    """`R` knows a global variable and leaves work: that matters only to who gets an `R`."""
    declarations = (
        GO + "struct Lib; struct R { Lib *lib; R() { lib = make(); } void step() { work(lib); } void f() { go(); } };"
    )
    report = analyze(declarations + MAIN % (SET + "R r; r.step(); r.f();"))
    assert not report.refusals
    check(report)


@pytest.mark.parametrize(
    "declared",
    [
        "typedef void (*Step)(float *, int, void *);",
        "typedef void (*const Step)(\n    float *out,\n    int n, void *extra);",
        "typedef void Function(float *, int, void *); typedef Function *Step;",
        "using Step = void (*)(float *, int, void *);",
    ],
)
def test_a_function_that_is_given_with_its_data_is_followed(declared: str) -> None:
    declarations = """
struct Data { int *p; };
int all(int rounds, Step step, void *extra) { float out[8]; for (int i = 0; i < rounds; i++) step(out, 8, extra); return out[0]; }
void on_host(float *out, int n, void *) { for (int i = 0; i < n; i++) out[i] = 2; }
void on_device(float *out, int n, void *extra) {
    Data *data = (Data *)extra;
    k<<<1, 32>>>(data->p);
    cudaMemcpy(out, data->p, 4, cudaMemcpyDeviceToHost);
}
"""
    statements = "int a = all(3, on_host, nullptr); Data data; data.p = d; int b = all(3, on_device, &data);"
    report = analyze(declared + declarations + MAIN % statements)
    assert [f.safety for f in report.findings if f.codemod == "stream_ordered_pairs"] == [Safety.PROVEN]


def test_a_macro_that_is_not_understood_and_names_nothing_of_the_program() -> None:
    declarations = "#define SAY(x) for (int i = 0; i < 3; ++i\n"
    assert not analyze(declarations + MAIN % 'puts("no");').refusals
