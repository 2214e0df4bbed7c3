"""Functions that no call names: in variables at namespace scope, with code that is not seen, made by macros; one way a
line. Each runs a kernel on `other` (see `other_stream`).
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from tests.other_stream import MAIN, analyze, check
from tests.test_ways_past_a_wait import moves_without, parts, program
from tests.test_ways_to_memory import cases

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
"""


@pytest.mark.parametrize("case", cases(KEPT))
def test_what_a_tuple_leads_to_is_waited_for(case: str) -> None:
    assert not moves_without(program(*parts(case)), "Synchronize")


def test_a_method_that_knows_no_more_than_its_object_may_be_called_by_code_that_is_not_seen() -> None:
    declarations = "struct S { int *p = nullptr; void f(cudaStream_t s) { if (p) run(p, s); } };"
    assert not analyze(declarations + MAIN % "S o; unseen(o);").refusals


def test_a_macro_that_is_not_understood_and_names_nothing_of_the_program() -> None:
    declarations = "#define SAY(x) for (int i = 0; i < 3; ++i\n"
    assert not analyze(declarations + MAIN % 'puts("no");').refusals
