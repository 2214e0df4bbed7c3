"""Assignments of objects that own memory, one way a line: whether they are written as one or not, the host reads behind
them what a kernel wrote before, and leans on the `cudaFree` of the assignment. The ways that are followed move with a
wait, the others stay.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_past_a_wait import moves_without, parts
from tests.soundness.test_ways_to_memory import INCLUDES, cases

BUFFER = """struct B {
    int *p;
    explicit B(int n) { cudaMalloc(&p, n); }
    B(B &&o) : p(o.p) { o.p = nullptr; }
    B &operator=(B &&o) { if (p) cudaFree(p); p = o.p; o.p = nullptr; return *this; }
    ~B() { if (p) cudaFree(p); }
};"""
# the assignment frees what no object holds
SCRATCH = """static int *d;
struct B {
    int *p;
    explicit B(int n) : p(n == 400 ? d : nullptr) {}
    B(B &&o) : p(o.p) {}
    B &operator=(B &&o) { int *x; cudaMalloc(&x, 4); cudaFree(x); p = o.p; return *this; }
};"""
SHORT = {
    "A!": "B a(400); k<<<1, 1>>>(a.p, t);",
    "AB!": "B a(400), b(400); k<<<1, 1>>>(a.p, t);",
    "ARRAY": "B a[2] = {B(400), B(400)}; k<<<1, 1>>>(a[0].p, t);",
    "S!": "struct H { B b; };",
    "FILL": "v.emplace_back(400); v.emplace_back(4); k<<<1, 1>>>(v[0].p, t);",
    "E!": "v.erase(v.begin());",
    "HB": "struct H : B { H() : B(400) {}",
    "HG": "H h, g;",
    "W!": "struct W { B *b; B *begin() { return b; } B *end() { return b + 1; } };",
    "DEFAULT!": "H() = default; H(H &&) = default; H &operator=(H &&) noexcept; };",
    "KH": "k<<<1, 1>>>(h.b.p, t);",
    "KX": "k<<<1, 1>>>(x.v.p, t);",
}


def source_of(case: str, buffer: str = BUFFER) -> str:
    outside, before, behind = parts(" ".join(SHORT.get(word, word) for word in case.split(" ")))
    return f"""{INCLUDES}
#include <optional>
#include <tuple>
#include <memory>
__global__ void k(int *p, int *t) {{ p[0] = 1; t[0] = 1; }}
{buffer}
{outside}
int main(int argc, char **argv) {{
    int *t; cudaMallocManaged(&t, 400);
    {"cudaMalloc(&d, 400);" * (buffer is SCRATCH)}
    {before}
    {behind}
    return t[0];
}}
"""


FOLLOWED = """
A! | a = B(4);
AB! | a = std::move(b);
AB! | a = static_cast<B &&>(b);
A! | B &r = a; r = B(4);
A! | auto &r = a; r = B(4);
A! | B *q = &a; *q = B(4);
A! | auto *q = &a; *q = B(4);
A! | (a) = B(4);
A! | a.operator=(B(4));
A! | auto f = [&] { a = B(4); }; f();
using C = B; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
typedef B C; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
#define SET(x) x = B(4)\\n || A! | SET(a);
static void set(B &x) { x = B(4); } || A! | set(a);
static void set(B *x) { *x = B(4); } || A! | set(&a);
struct H { B b; H() : b(400) {} }; || H h; k<<<1, 1>>>(h.b.p, t); | h.b = B(4);
struct H { B b; H() : b(400) {} void set() { b = B(4); } }; || H h; k<<<1, 1>>>(h.b.p, t); | h.set();
struct H { B b; H() : b(400) {} }; || H h, g; k<<<1, 1>>>(h.b.p, t); | h = std::move(g);
struct H { B b; H() : b(400) {} H &operator=(H &&) = default; }; || H h, g; k<<<1, 1>>>(h.b.p, t); | h = std::move(g);
struct H : B { H() : B(400) {} }; || H h, g; k<<<1, 1>>>(h.p, t); | h = std::move(g);
struct G { B b; G() : b(400) {} }; struct H { int n; G g; }; || H h, i; k<<<1, 1>>>(h.g.b.p, t); | h = std::move(i);
"""


@pytest.mark.parametrize("case", cases(FOLLOWED))
def test_an_assignment_that_is_followed_moves_with_a_wait(case: str) -> None:
    source = source_of(case).replace("\\n", "\n")
    assert moves_without(source)
    assert not moves_without(source, "Synchronize")


UNWRITTEN = """
AB! | std::swap(a, b);
AB! | using std::swap; swap(a, b);
A! | std::exchange(a, B(4));
A! | (void)std::exchange(a, B(4));
AB! | (argc ? a : b) = B(4);
A! | static_cast<B &>(a) = B(4);
A! | ((B &)a) = B(4);
static B &get(B &x) { return x; } || A! | get(a) = B(4);
static auto &get(B &x) { return x; } || A! | get(a) = B(4);
static B *get(B &x) { return &x; } || A! | *get(a) = B(4);
template <class T> T &get(T &x) { return x; } || A! | get(a) = B(4);
template <class T> void set(T &x) { x = T(4); } || A! | set(a);
template <class T> void set(T &x) { x = T(4); } || A! | set<B>(a);
template <class T> void set(T *x) { *x = T(4); } || A! | set(&a);
template <class T> void set(T *x) { x[1] = T(4); } || B c[2]{400, 400}; k<<<1, 1>>>(c[1].p, t); | set(c);
template <class T> void set(T x[]) { x[1] = T(4); } || B c[2]{400, 400}; k<<<1, 1>>>(c[1].p, t); | set(c);
template <class T> void set(T *x, int n) { x[n] = T(4); } || B c[2]{400, 400}; k<<<1, 1>>>(c[1].p, t); | set(c, 1);
template <class T> void set(T &x, T &y) { std::swap(x, y); } || AB! | set(a, b);
template <class T> void set(T &x, T y) { x = std::move(y); } || A! | set(a, B(4));
static void set(auto &x) { x = B(4); } || A! | set(a);
A! | auto f = [](auto &x) { x = B(4); }; f(a);
A! | auto f = [](B &x) { x = B(4); }; f(a);
A! | auto f = [&](auto &&x) { a = std::move(x); }; f(B(4));
A! | std::function<void(B &)> f = [](B &x) { x = B(4); }; f(a);
A! | std::function<void()> f = [&] { a = B(4); }; f();
A! | std::ref(a).get() = B(4);
A! | auto r = std::ref(a); r.get() = B(4);
A! | std::addressof(a)[0] = B(4);
A! | *std::addressof(a) = B(4);
A! | decltype(auto) r = (a); r = B(4);
A! | decltype(a) &r = a; r = B(4);
typedef B C, *PC; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
typedef struct B C; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
typedef B *C; || A! C c = &a; | *c = B(4);
using C = struct B; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
using C = ::B; || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
using C = B &; || A! C c = a; | c = B(4);
using C = B *; || A! C c = &a; | *c = B(4);
#define C B\n || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
#define C ::B\n || C a(400); k<<<1, 1>>>(a.p, t); | a = C(4);
namespace n { using C = B; } || n::C a(400); k<<<1, 1>>>(a.p, t); | a = n::C(4);
namespace n { using ::B; } || n::B a(400); k<<<1, 1>>>(a.p, t); | a = n::B(4);
template <class T> using C = B; || C<int> a(400); k<<<1, 1>>>(a.p, t); | a = C<int>(4);
template <class T> struct I { using type = T; }; || I<B>::type a(400); k<<<1, 1>>>(a.p, t); | a = I<B>::type(4);
template <class T> struct I { using type = B; }; || I<int>::type a(400); k<<<1, 1>>>(a.p, t); | a = I<int>::type(4);
struct I { using type = B; }; || I::type a(400); k<<<1, 1>>>(a.p, t); | a = I::type(4);
struct I { typedef B type, *pointer; }; || I::type a(400); k<<<1, 1>>>(a.p, t); | a = I::type(4);
struct I : B { using B::B; using B::operator=; }; || I a(400); k<<<1, 1>>>(a.p, t); | a = B(4);
struct I : B { using B::B; }; || I a(400); k<<<1, 1>>>(a.p, t); | static_cast<B &>(a) = B(4);
struct I : B { using B::B; }; || I a(400); k<<<1, 1>>>(a.p, t); | B &b = a; b = B(4);
auto v = std::vector{B(400), B(4)}; k<<<1, 1>>>(v[0].p, t); | E!
std::vector<::B> v; FILL | E!
A! std::vector<decltype(a)> v; FILL | E!
A! | std::vector<std::reference_wrapper<B>> v{a}; v[0].get() = B(4);
using D = decltype(B(1)); || D a(400); k<<<1, 1>>>(a.p, t); | a = D(4);
AB! | std::tie(a, b) = std::make_tuple(B(4), B(4));
ARRAY | a[0] = std::move(a[1]);
ARRAY | std::move(a + 1, a + 2, a);
ARRAY | std::rotate(a, a + 1, a + 2);
ARRAY | std::swap(a[0], a[1]);
ARRAY | std::iter_swap(a, a + 1);
ARRAY | std::reverse(std::begin(a), std::end(a));
ARRAY | for (auto &x : a) x = B(4);
ARRAY | for (B &x : a) x = B(4);
ARRAY | std::for_each(a, a + 2, [](B &x) { x = B(4); });
ARRAY | std::for_each(a, a + 2, [](auto &x) { x = B(4); });
std::vector<B> v; FILL | v.erase(v.begin());
std::vector<B> v; v.push_back(B(400)); k<<<1, 1>>>(v[0].p, t); | v[0] = B(4);
std::vector<B> v; v.push_back(B(400)); k<<<1, 1>>>(v[0].p, t); | v.front() = B(4);
std::vector<B> v; v.push_back(B(400)); k<<<1, 1>>>(v[0].p, t); | *v.begin() = B(4);
std::vector<B> v; v.push_back(B(400)); k<<<1, 1>>>(v[0].p, t); | for (auto &x : v) x = B(4);
using V = std::vector<B>; || V v; v.push_back(B(400)); v.emplace_back(4); k<<<1, 1>>>(v[0].p, t); | v.erase(v.begin());
S! || std::vector<H> v; v.push_back({B(400)}); v.push_back({B(4)}); k<<<1, 1>>>(v[0].b.p, t); | v.erase(v.begin());
struct H { std::vector<B> v; }; || H h; auto &v = h.v; FILL | h.v.erase(h.v.begin());
std::optional<B> o(400); k<<<1, 1>>>(o->p, t); | o = B(4);
std::optional<B> o(400); k<<<1, 1>>>(o->p, t); | *o = B(4);
std::optional o{B(400)}; k<<<1, 1>>>(o->p, t); | o = B(4);
std::pair<B, int> o(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o = std::pair<B, int>(B(4), 1);
std::pair<B, int> o(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o.first = B(4);
std::pair o(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o = std::pair(B(4), 1);
std::pair o(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o.first = B(4);
auto o = std::make_pair(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o.first = B(4);
auto o = std::make_pair(B(400), 1); k<<<1, 1>>>(o.first.p, t); | o = std::make_pair(B(4), 1);
std::tuple<B, int> o(B(400), 1); k<<<1, 1>>>(std::get<0>(o).p, t); | std::get<0>(o) = B(4);
std::map<int, B> o; o.emplace(1, 400); k<<<1, 1>>>(o.at(1).p, t); | o.at(1) = B(4);
std::map<int, B> o; o.emplace(1, 400); k<<<1, 1>>>(o.at(1).p, t); | o.insert_or_assign(1, B(4));
std::array<B, 2> o{B(400), B(4)}; k<<<1, 1>>>(o[0].p, t); | o = std::array<B, 2>{B(4), B(4)};
auto u = std::make_unique<B>(400); k<<<1, 1>>>(u->p, t); | *u = B(4);
std::unique_ptr<B> u(new B(400)); k<<<1, 1>>>(u->p, t); | *u = B(4);
auto u = std::make_shared<B>(400); k<<<1, 1>>>(u->p, t); | *u = B(4);
B *q = new B(400); k<<<1, 1>>>(q->p, t); | *q = B(4); delete q;
S! || H h{B(400)}; k<<<1, 1>>>(h.b.p, t); | auto m = &H::b; h.*m = B(4);
S! || H h{B(400)}; k<<<1, 1>>>(h.b.p, t); | auto &[x] = h; x = B(4);
S! || H h{B(400)}, g{B(4)}; k<<<1, 1>>>(h.b.p, t); | std::swap(h, g);
S! || H h{B(400)}; k<<<1, 1>>>(h.b.p, t); | h = H{B(4)};
S! || H h{B(400)}; k<<<1, 1>>>(h.b.p, t); | h = {B(4)};
struct H { B b[2]; H() : b{B(400), B(400)} {} }; || HG k<<<1, 1>>>(h.b[0].p, t); | h = std::move(g);
struct W { B &r; }; || A! W w{a}; | w.r = B(4);
struct W { B *r; B &get() { return *r; } }; || A! W w{&a}; | w.get() = B(4);
struct W { B *r; B &operator*() { return *r; } }; || A! W w{&a}; | *w = B(4);
struct W { B *r; operator B &() { return *r; } void operator=(B &&) {} }; || A! W w{&a}; | static_cast<B &>(w) = B(4);
struct W { B *r; operator B &() { return *r; } }; || A! W w{&a}; | static_cast<B &>(w) = B(4);
template <class T> struct X { T v; void set(T &&x) { v = std::move(x); } }; || X<B> x{B(400)}; KX | x.set(B(4));
template <class T> struct X { T v; X(T &&x) : v(std::move(x)) {} }; || X x(B(400)), y(B(4)); KX | x = std::move(y);
template <class T> struct X { T *v; X(T *x) : v(x) {} void set() { *v = T(4); } }; || A! X x(&a); | x.set();
template <class T> struct X { T *v; void set() { *v = T(4); } }; || A! X<B> x{&a}; | x.set();
#define VEC(T) std::vector<T>\\n || VEC(B) v; FILL | v.erase(v.begin());
#define BS std::vector<B>\\n || BS v; FILL | v.erase(v.begin());
A! | a = B{4};
HB void reset() { B::operator=(B(4)); } }; || H h; k<<<1, 1>>>(h.p, t); | h.reset();
HB void reset() { static_cast<B &>(*this) = B(4); } }; || H h; k<<<1, 1>>>(h.p, t); | h.reset();
HB void reset() { *static_cast<B *>(this) = B(4); } }; || H h; k<<<1, 1>>>(h.p, t); | h.reset();
HB void reset() { B *b = this; *b = B(4); } }; || H h; k<<<1, 1>>>(h.p, t); | h.reset();
struct H { struct { B b; }; H() : b(400) {} }; || HG KH | h = std::move(g);
struct H { struct { B b{400}; } i; }; || HG k<<<1, 1>>>(h.i.b.p, t); | h = std::move(g);
struct H { struct { B b{400}; } i; }; || HG k<<<1, 1>>>(h.i.b.p, t); | h.i = std::move(g.i);
struct H { B b{400}; template <class T> H &operator=(T &&o) { b = std::move(o.b); return *this; } }; || HG KH | h = g;
struct H { B b{400}; friend void swap(H &x, H &y) { std::swap(x.b, y.b); } }; || HG KH | swap(h, g);
struct H { B b{400}; void swap(H &y) { using std::swap; swap(b, y.b); } }; || HG KH | h.swap(g);
A! | const_cast<B &>(a) = B(4);
A! | auto &&r = a; r = B(4);
A! | B &&r = std::move(a); r = B(4);
ARRAY | for (B *q = a; q != a + 2; ++q) *q = B(4);
A! B *q = &a, **w = &q; | **w = B(4);
ARRAY | *std::begin(a) = B(4);
ARRAY | a->operator=(B(4));
ARRAY | 0[a] = B(4);
B a[2] = {B(400), B(400)}; k<<<1, 1>>>(a[1].p, t); | *(a + 1) = B(4);
A! | (&a)[0] = B(4);
A! | if ((a = B(4)).p) argc++;
A! | (a = B(4)) = B(8);
AB! | argc ? a = B(4) : b = B(5);
A! | argc++, a = B(4);
A! | while (argc-- && (a = B(4)).p) argc--;
A! | for (int i = 0; i < 2; i++, a = B(4)) argc++;
A! | switch (argc) { case 1: a = B(4); }
A! | auto f = [&a]() -> B & { return a; }; f() = B(4);
A! | auto f = [&a](B x) { a = std::move(x); }; f(B(4));
A! | auto f = [q = &a] { *q = B(4); }; f();
A! | auto f = [b = std::move(a)]() mutable { b = B(4); }; f();
A! | [](B &x) { x = B(4); }(a);
A! | ({ a = B(4); });
static B g(400); || k<<<1, 1>>>(g.p, t); | g = B(4);
static B g(400); static void set() { g = B(4); } || k<<<1, 1>>>(g.p, t); | set();
A! static B *g; g = &a; | *g = B(4);
static thread_local B g(400); || k<<<1, 1>>>(g.p, t); | g = B(4);
A! | std::thread f([&] { a = B(4); }); f.join();
A! | std::async([&] { a = B(4); }).get();
A! | std::invoke([](B &x) { x = B(4); }, a);
A! | std::apply([](B &x) { x = B(4); }, std::tie(a));
std::variant<B, int> v(B(400)); k<<<1, 1>>>(std::get<0>(v).p, t); | v = 3;
std::variant<B, int> v(B(400)); k<<<1, 1>>>(std::get<0>(v).p, t); | std::get<B>(v) = B(4);
std::any v = 1; A! | v = std::move(a);
struct W { B &b; W &operator=(B &&o) { b = std::move(o); return *this; } }; || A! W w{a}; | w = B(4);
struct W { B *b; B &operator[](int) { return *b; } }; || A! W w{&a}; | w[0] = B(4);
struct W { B *b; B *operator->() { return b; } }; || A! W w{&a}; | *w.operator->() = B(4);
W! || A! W w{&a}; | for (auto &x : w) x = B(4);
W! || A! W w{&a}; | std::fill(w.begin(), w.end(), B(4));
struct W { B *b; auto get() -> B & { return *b; } }; || A! W w{&a}; | w.get() = B(4);
struct W { B *b; decltype(auto) get() { return *b; } }; || A! W w{&a}; | w.get() = B(4);
template <class... T> void set(T &...x) { ((x = B(4)), ...); } || AB! | set(a, b);
template <class F> void run(F f) { f(); } || A! | run([&] { a = B(4); });
template <class F, class... X> void run(F f, X &&...x) { f(x...); } || A! | run([](B &x) { x = B(4); }, a);
template <int N> void set(B (&x)[N]) { x[0] = B(4); } || B a[1] = {B(400)}; k<<<1, 1>>>(a[0].p, t); | set(a);
static void set(std::initializer_list<B *> x) { for (auto y : x) *y = B(4); } || A! | set({&a});
static void set(int n, ...) { va_list v; va_start(v, n); *va_arg(v, B *) = B(4); } || A! | set(1, &a);
static void set(void *x) { *(B *)x = B(4); } || A! | set(&a);
static void set(void *x) { auto y = (B *)x; *y = B(4); } || A! | set(&a);
static void set(void *x) { static_cast<B *>(x)->operator=(B(4)); } || A! | set(&a);
struct alignas(16) C { B b{400}; }; || C h, g; KH | h = std::move(g);
union U { B b; U() : b(400) {} ~U() {} }; || U u; k<<<1, 1>>>(u.b.p, t); | u.b = B(4);
struct H { B b{400}; DEFAULT! H &H::operator=(H &&) noexcept = default; || HG KH | h = std::move(g);
A! auto f = &B::operator=; | (a.*f)(B(4));
A! B &(B::*f)(B &&) = &B::operator=; | (a.*f)(B(4));
"""


@pytest.mark.parametrize("buffer", [BUFFER, SCRATCH], ids=["owned", "scratch"])
@pytest.mark.parametrize("case", cases(UNWRITTEN))
def test_an_assignment_that_is_not_written_as_one_is_waited_for(case: str, buffer: str) -> None:
    assert not moves_without(source_of(case, buffer).replace("\\n", "\n"), "Synchronize")


UNSEEN = """
void reset(B &x); || A! | reset(a);
struct H { B b{400}; H() {} H &operator=(H &&); }; || HG KH | h = std::move(g);
struct H { B b{400}; H() {} H &operator=(H &&) = delete; void operator=(int); }; || HG KH | h = 3;
"""


@pytest.mark.parametrize("case", cases(UNSEEN))
def test_what_code_that_is_not_seen_gets_is_waited_for(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# what no call has the name of, in a class of the file of `main`: it moves with the class, unless it runs all the same

UNCALLED = """struct M {
    int *p;
    explicit M(int n) { cudaMalloc(&p, n); }
    M(M &&o) : p(o.p) { o.p = nullptr; }
    M &operator=(M &&o) { if (p) cudaFree(p); p = o.p; o.p = nullptr; return *this; }
    ~M() { if (p) cudaFree(p); }
    void reset() { cudaFree(p); p = nullptr; }
    int *get() const { return p; }
};
"""


def test_what_nobody_calls_of_a_class_moves_with_it() -> None:
    main = "int main() { M m(4); k<<<1, 1>>>(m.get(), m.get()); return 0; }"
    source = f"{INCLUDES}\n__global__ void k(int *p, int *t) {{ p[0] = 1; t[0] = 1; }}\n{UNCALLED}"
    report = analyze({"a.cu": (source + main).encode()}, Config())
    (finding,) = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert finding.safety is Safety.PROVEN
    assert sum(b"Async" in e.text for e in finding.edits) == 4
    exported = analyze({"m.cuh": source.encode(), "a.cu": f'#include "m.cuh"\n{main}'.encode()}, Config())
    assert [r.name for r in exported.refusals] == ["escapes"]


# the host reads behind it what a kernel wrote: `GO` is what the class declares that waits for that by a `cudaFree`
RUNS = """
void go() { WAIT } || m.go();
void go() { WAIT } || auto f = &M::go; (m.*f)();
void go() { WAIT } || void (M::*f)() = &M::go; (m.*f)();
void go() { WAIT } || std::mem_fn(&M::go)(m);
void go() { WAIT } || std::bind(&M::go, &m)();
void go() { WAIT } || std::invoke(&M::go, m);
void go() { WAIT } || std::thread f(&M::go, &m); f.join();
void go() { WAIT } || [&] { m.go(); }();
void go() { WAIT } || std::function<void()> f = [&] { m.go(); }; f();
void go() { WAIT } }; template <class T> void run(T &x) { x.go(); } struct N { || run(m);
void go() { WAIT } }; static void run(auto &x) { x.go(); } struct N { || run(m);
void go() { WAIT } }; struct W { M *v; void go() { v->go(); } }; struct N { || W w{&m}; w.go();
void go() override { WAIT } }; struct W { V *v; void go() { v->go(); } }; struct N { || W w{&m}; w.go();
void go() override { WAIT } }; struct N { || V &v = m; v.go();
void go() override { WAIT } }; struct N { || std::unique_ptr<V> v(new M()); v->go();
void go() override { WAIT } void run() { go(); } }; struct N { || m.run();
void go() { WAIT } }; struct N { || m.CALLED(go);
void go_now() { WAIT } }; struct N { || m.PASTED(go);
void go_now() { WAIT } }; struct N { || RUN(m, go);
void go_now() { WAIT } }; struct N { || m.pasted(go);
void go() { WAIT } }; struct N { || m.gone();
void go() { WAIT } }; struct N { || RENAMED;
void go() final { WAIT } }; struct N { || m.run();
void draw() { WAIT } }; struct N { || UNSEEN(m, draw);
void draw() { WAIT } }; struct N { || if (argc) { m.draw() }
operator bool() const { WAIT return true; } || if (m) argc++;
operator int() const { WAIT return 1; } || argc += m;
explicit operator int() const { WAIT return 1; } || argc += (int)m;
operator int() const { WAIT return 1; } || printf("%d", static_cast<int>(m));
int operator[](int n) const { WAIT return n; } || argc += m[0];
bool operator<(const M &o) const { WAIT return p < o.p; } || std::sort(&m, &m + 1);
bool operator==(const M &o) const { WAIT return p == o.p; } || argc += std::count(&m, &m + 1, m);
M(const M &o) { WAIT } || M n = m;
M(const M &o) { WAIT } || M n(m);
M(const M &o) { WAIT } || auto n = m;
M(const M &o) { WAIT } || auto f = [m] { return 1; }; f();
M(const M &o) { WAIT } || auto f = [n = m] { return 1; }; f();
M(const M &o) { WAIT } || auto f = [=] { return m.p; }; f();
M(const M &o) { WAIT } || std::function<int()> f = [m] { return 1; }; f();
M(const M &o) { WAIT } }; static void by_value(M x) { } struct N { || by_value(m);
M(const M &o) { WAIT } }; static M given(M &x) { return x; } struct N { || given(m);
M(const M &o) { WAIT } }; static M given(M *x) { return *x; } struct N { || given(&m);
M(const M &o) { WAIT } }; static M kept; static M given() { return kept; } struct N { || given();
M(const M &o) { WAIT } }; struct W { M m; W() : m() {} M get() { return m; } }; struct N { || W w; w.get();
M(const M &o) { WAIT } }; template <class T> void by_value(T x) { } struct N { || by_value(m);
M(const M &o) { WAIT } || try { throw m; } catch (M &) { }
M(const M &o) { WAIT } || M n = argc ? m : m;
M(const M &o) { WAIT } || std::vector<M> v; v.push_back(m);
M(const M &o) { WAIT } || std::vector<M> v{m};
M(const M &o) { WAIT } || std::optional<M> v = m;
M(const M &o) { WAIT } || auto v = std::make_pair(m, 1);
M(const M &o) { WAIT } || auto v = std::make_tuple(m, 1);
M(const M &o) { WAIT } || std::any v = m;
M(const M &o) { WAIT } || std::any v(m);
M(const M &o) { WAIT } || auto v = std::make_unique<M>(m);
M(const M &o) { WAIT } || M v[2] = {m, m};
M(const M &o) { WAIT } || M v[1] = {M()}; for (auto x : v) argc++;
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h{m};
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h{M()}; H g = h;
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h{M()}; auto [x] = h;
M(const M &o) { WAIT } }; struct H : M { H() : M() {} }; struct N { || H h; H g = h;
M(const M &o) { WAIT } }; struct H { M m; }; static void f(H h) { } struct N { || H h; f(h);
M(const M &o) { WAIT } }; struct H { M m; }; static H f(H &h) { return h; } struct N { || H h; f(h);
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h; auto f = [h] { return 1; }; f();
M(const M &o) { WAIT } }; struct H { M m[2]; }; struct N { || H h; H g = h;
M(const M &o) { WAIT } || M a[1]; for (M x : a) argc++;
M(const M &o) { WAIT } || M a[1]; for (auto x : a) argc++;
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h; auto [x] = h;
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h; auto g = h;
M(const M &o) { WAIT } }; struct H { M m; H(const M &x) : m(x) {} }; struct N { || H h(m);
M(const M &o) { WAIT } }; struct H { M m; }; struct N { || H h = {m};
M(const M &o) { WAIT } || M *q = new M(m);
M(const M &o) { WAIT } || const M &q = argc ? m : M();
M(const M &o) { WAIT } || std::initializer_list<M> q = {m, m};
M(const M &o) { WAIT } || static M q = m;
M(const M &o) { WAIT } || M a[1] = {m};
M(const M &o) { WAIT } }; static void f(M x = M()) { } static M g; struct N { || f(g);
M(const M &o) { WAIT } || auto f = [](M x) { return 1; }; f(m);
M(const M &o) { WAIT } || std::function<int(M)> f = [](M x) { return 1; }; f(m);
M(const M &o) { WAIT } || auto f = [&] { return m; }; f();
M(const M &o) { WAIT } || auto f = [&]() -> M { return m; }; f();
M(const M &o) { WAIT } }; static M f() { M x; M y; if (g) return x; return y; } struct N { || f();
M(const M &o) { WAIT } M get() const { return *this; } || m.get();
M(const M &o) { WAIT } M get() { return M(*this); } || m.get();
"""


@pytest.mark.parametrize("case", cases(RUNS))
def test_what_runs_without_being_named_is_waited_for(case: str) -> None:
    declared, way = case.replace("WAIT", "int *x; cudaMalloc(&x, 4); cudaFree(x);").split(" || ")
    before = "M other = m;" if declared.startswith("M(") else ""  # a copy that is written as one
    base = "struct V { virtual void go() {} };\n" if "override" in declared else ""
    bases = " : V" if base else " : Framework" if "final" in declared else ""
    source = f"""{INCLUDES}
#define CALLED(x) x()
#define PASTED(x) x##_now()
#define pasted(x) x##_now()
#define RUN(o, x) o.x##_now()
#define gone go
#define RENAMED m.go()
static int *d;
__global__ void k(int *p, int *t) {{ p[0] = 1; t[0] = 1; }}
{base}struct M{bases} {{ int *p; M() : p(d) {{}} {declared} }};
int main(int argc, char **argv) {{
    int *t; cudaMallocManaged(&t, 400); cudaMalloc(&d, 400);
    M m; {before} k<<<1, 1>>>(m.p, t);
    {way}
    return t[0];
}}
"""
    assert not moves_without(source, "Synchronize")


INCLUDED = '\n#include "x.inc"\n'


@pytest.mark.parametrize("buffer", [BUFFER, SCRATCH], ids=["owner", "scratch"])
@pytest.mark.parametrize(
    "case",
    [
        f"AB! | {INCLUDED} return t[0];",
        f"static B *g, *h; static void go() {{ {INCLUDED} }} || AB! g = &a; h = &b; | go(); return t[0];",
    ],
    ids=["of its own", "of a function"],
)
def test_code_that_is_included_in_a_function_may_assign(case: str, buffer: str) -> None:
    assert not moves_without(source_of(case, buffer), "Synchronize")
