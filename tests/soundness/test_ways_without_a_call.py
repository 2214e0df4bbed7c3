"""Ways that no call shows: operators, conversions and initializers of the program's own classes; and calls that are
written and may not be made. One way a line, as in tests/soundness/test_ways_past_a_wait.py.
"""

from __future__ import annotations

import re

import pytest

from tests.soundness.test_ways_past_a_wait import moves_without, parts, program, read_behind
from tests.soundness.test_ways_to_memory import cases

# ---------------------------------------------------------------------------------------------------------------------
# the host reads behind the free what a kernel wrote: `G!` puts the memory into the global pointer `g`, `R!` into
# the pointer `p` of an object of the class `R`; both run the kernel, as `K!` does. In front of `||` stands more for the
# file, or only what the class `R` declares

SHORT = {
    "G!": "g = t; k<<<1, 1>>>(d, t);",
    "R!": "R r{t}; k<<<1, 1>>>(d, t);",
    "K!": "k<<<1, 1>>>(d, t);",
    "LOOP": "for (int x : r) argc += x;",
    "STAR": "int operator*() const { return *p; }",
    "BOOL": "operator bool() const { return *p; }",
    "INT": "operator int() const { return *p; }",
    "LESS": "bool operator<(const R &o) const { return *p < *o.p; }",
    "SAME": "bool operator==(const R &o) const { return *p == *o.p; }",
}
_WHOLE = re.compile(r"(?:struct|template|static|__managed__) ")


def source_of(case: str) -> str:
    outside, before, behind = parts(" ".join(SHORT.get(word, word) for word in case.split(" ")))
    if outside and not _WHOLE.match(outside):
        outside = f"struct R {{ int *p; {outside} }};"
    return program("static int *g;\n" + outside, before, behind)


MEMBERS = """
struct W { int *p; int n = p[0]; }; || K! | W w{t}; return w.n;
struct W { int *p; int n = *p; }; || K! | W w{t}; return w.n;
struct W { int n = g[0]; }; || G! | W w; return w.n;
struct W { int n = g[0]; W() {} }; || G! | W w; return w.n;
struct W { int n = *g; float m = 1; }; || G! | W w{}; return w.n;
struct W { int n{g[0]}; }; || G! | W w; return w.n;
struct W { int n = g[0] + 1; }; || G! | auto w = std::make_unique<W>(); return w->n;
struct W { int n = g[0] + 1; }; || G! | W *w = new W; return w->n;
struct W { int n = g[0] + 1; }; || G! | return W().n;
struct W { int n = g[0] + 1; }; || G! | return W{}.n;
struct W { int n = g[0] + 1; }; struct V : W {}; || G! | V v; return v.n;
struct W { int n = g[0] + 1; }; struct V { W w; }; || G! | V v; return v.w.n;
struct W { int n = g[0] + 1; }; || G! | W w[2]; return w[0].n;
struct W { int n = g[0] + 1; }; || G! | static W w; return w.n;
struct W { int *p; int n = p[0]; W(int *q) : p(q) {} }; || K! | W w(t); return w.n;
struct W { int *p; int n = *p; W(int *q) : p(q) {} }; || K! | W w(t); return w.n;
struct B { int *p; int get() { return *p; } }; B b; struct W { int n = b.get(); }; || b.p = t; K! | W w;
struct B { int *p; operator int() { return *p; } }; B b; struct W { int n = b; }; || b.p = t; K! | W w;
struct W { bool n = g[0] == 1; }; || G! | W w; return w.n;
struct W { static inline int n = 0; int m = g[n]; }; || G! | W w; return w.m;
__managed__ int m; __global__ void km() { m = 1; } struct W { int n = m; }; || km<<<1,1>>>(); | W w; return w.n;
struct Q { int *p; }; static Q q; struct W { int m = q.p[0]; }; || q.p = t; K! | W w; return w.m;
"""


@pytest.mark.parametrize("case", cases(MEMBERS))
def test_what_the_initializer_of_a_member_reads_is_waited_for(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")


NS = {
    "INIT": "static int o; namespace ns { template <int N> struct W { int n = g[0]; W() = default; W(int) {} }; }",
    "END": "static int o; namespace ns { template <int N> struct W { int n; ~W() { o = g[0]; } }; }",
}
NUMBERED = """
INIT || G! | ns::W<4> w; return w.n;
INIT || G! | ns::W<4> w{}; return w.n;
INIT || G! | ns::W<4> w(3); return w.n;
INIT || G! | ns::W<4> v, w; return w.n;
INIT || G! | ns::W<4> w[2]; return w[0].n;
INIT || G! | ns::W<2 * 2> w; return w.n;
INIT || G! | ns::W<sizeof(int)> w; return w.n;
INIT || G! | ::ns::W<4> w = 3; return w.n;
INIT || G! | auto *w = new ns::W<4>(); return w->n;
INIT || G! | auto *w = new ns::W<4>(3); return w->n;
INIT || G! | auto w = ns::W<4>(); return w.n;
INIT || G! | auto w = ns::W<4>{3}; return w.n;
INIT || G! | return ns::W<4>().n;
END || G! | { ns::W<4> w{3}; }
END || G! ns::W<4> w; |
END || G! | auto *w = new ns::W<4>(); delete w;
"""


@pytest.mark.parametrize("case", cases(NUMBERED))
def test_an_object_of_a_class_with_a_number_is_no_comparison(case: str) -> None:
    name, _, rest = case.partition(" ")
    assert not moves_without(source_of(f"{NS[name]} {rest}"), "Synchronize")


STRUCT = {
    "INIT": "static int o; struct W { int n = g[0]; W() = default; W(int) {} }; static int h(W w) { return w.n; }",
    "END": "static int o; struct W { int n; ~W() { o = g[0]; } };",
}
MADE_UNSEEN = """
INIT || G! | W w = 3; return w.n;
INIT || G! | W w = argc; return w.n;
INIT || G! | return h(3);
INIT || G! | return h(argc);
INIT || G! | auto f = [](W w) { return w.n; }; return f(3);
END || G! | auto *w = new W(); delete w;
END || G! | auto *const w = new W; delete w;
END || G! | const auto *w = new W; delete w;
END || G! | auto *w{new W}; delete w;
END || G! | auto *w = new W[2]; delete[] w;
END || G! | auto &w = *new W; delete &w;
END || G! W v; | { auto *w = &v; w->~W(); new (w) W; }
"""


@pytest.mark.parametrize("case", cases(MADE_UNSEEN))
def test_an_object_is_made_and_ends_where_its_type_is_not_written(case: str) -> None:
    name, _, rest = case.partition(" ")
    assert not moves_without(source_of(f"{STRUCT[name]} {rest}"), "Synchronize")


OPERATORS = """
STAR || R! | return *r;
int &operator*() const { return *p; } || R! | return *r;
STAR || R! | int x = *r; return x;
int operator-() const { return *p; } || R! | return -r;
int operator+() const { return *p; } || R! | return +r;
int operator~() const { return *p; } || R! | return ~r;
bool operator!() const { return *p; } || R! | return !r;
bool operator!() const { return *p; } || R! | if (!r);
int operator++() { return *p; } || R! | return ++r;
int operator++(int) { return *p; } || R! | return r++;
int operator--() { return *p; } || R! | return --r;
R &operator++() { ++*p; return *this; } || R! | ++r;
R &operator++() { ++*p; return *this; } || R! | for (int i = 0; i < 3; i++, ++r) argc++;
bool operator==(int x) const { return *p == x; } || R! | if (r == 1);
bool operator==(int x) const { return *p == x; } || R! | return r == 1;
bool operator==(int x) const { return *p == x; } || R! | if (r != 1);
bool operator==(int x) const { return *p == x; } || R! | if (1 == r);
bool operator!=(int x) const { return *p != x; } || R! | while (r != 1) argc++;
bool operator<(int x) const { return *p < x; } || R! | if (r < 1);
bool operator<(int x) const { return *p < x; } || R! | while (r < 1) argc++;
bool operator<(int x) const { return *p < x; } || R! | return r < 1 ? 2 : 3;
int operator<=>(int x) const { return *p - x; } || R! | if (r < 1);
struct R { int *p; }; static bool operator==(const R &a, const R &b) { return *a.p == *b.p; } || R! | if (r == r);
struct R { int *p; }; static bool operator<(const R &a, const R &b) { return *a.p < *b.p; } || R! | if (r < r);
struct R { int *p; }; static int operator*(const R &a) { return *a.p; } || R! | return *r;
struct R { int *p; }; static int operator-(const R &a) { return *a.p; } || R! | return -r;
struct R { int *p; }; static int operator!(const R &a) { return *a.p; } || R! | if (!r);
struct R { int *p; }; static int operator++(R &a) { return *a.p; } || R! | return ++r;
struct R { int *p; }; static int operator++(R &a, int) { return *a.p; } || R! | return r++;
int operator,(int x) const { return *p; } || R! | return r, 1;
int operator&&(int x) const { return *p; } || R! | return r && 1;
int operator||(int x) const { return *p; } || R! | if (r || 1);
int operator[](int x) const { return p[x]; } || R! | return r[1];
int &operator[](int x) const { return p[x]; } || R! | return r[1];
int operator()(int x) const { return p[x]; } || R! | return r(1);
int operator()() const { return p[0]; } || R! | return r();
int operator()() const { return p[0]; } || K! | return R{t}();
BOOL || R! | if (r);
BOOL || R! | while (r) argc++;
BOOL || R! | if (!r);
BOOL || R! | if (argc > 1 && r);
explicit BOOL || R! | return r ? 1 : 2;
BOOL || K! | if (R r{t});
BOOL || K! | if (R{t});
struct R { int *p; operator bool() { return *p; } }; R mk(int *t) { return {t}; } || K! | if (mk(t));
struct R { int *p; operator int() { return *p; } }; R mk(int *t) { return {t}; } || K! | int x = mk(t); return x;
INT || R! | switch (r) { case 1: argc++; }
INT || R! | return argv[r] != 0;
INT || R! | return r + 1;
INT || R *r = new R{t}; K! | return *r + 1;
INT || std::vector<R> r{R{t}}; K! | return r[0] + 1;
struct R { int *p; operator int() const { return p[0]; } }; static int id(int x) { return x; } || R! | return id(r);
INT || R! | printf("%d", (int)r); return 0;
INT || R! | std::cout << r; return 0;
struct R { int *p; }; auto &operator<<(std::ostream &o, const R &r) { return o << *r.p; } || R! | std::cout << r;
int *operator->() const { return p; } || R! | return *r.operator->();
struct X { int a; }; struct R { X *p; X *operator->() const { return p; } }; || R r{(X *)t}; K! | return r->a;
struct X { int a; }; struct R { int *p; X x; X *operator->() { x.a = *p; return &x; } }; || R! | return r->a;
R &operator=(int x) { *p = x; return *this; } || R! | r = 3;
R &operator+=(int x) { *p += x; return *this; } || R! | r += 3;
R &operator<<(int x) { *p += x; return *this; } || R! | r << 3 << 4;
int operator+(int x) const { return *p + x; } || R! | return r + 3;
struct R { int *p; }; static int operator+(int x, const R &r) { return *r.p + x; } || R! | return 3 + r;
int operator+(int x) const { return *p + x; } || R a[2] = {{t}, {t}}; K! | return a[1] + 3;
int operator&() const { return *p; } || R! | return &r;
struct R { int operator*() const { return *g; } }; || R r; G! | return *r;
struct R { bool operator==(int x) const { return *g == x; } }; || R r; G! | return r == 1;
struct R { int operator()() const { return *g; } }; || R r; G! | return r();
struct R { int operator+(int x) const { return *g; } }; || R r; G! | return r + 1;
struct R { int n; R &operator+=(int x) { n = *g; return *this; } }; || R r; G! | r += 1; return r.n;
struct R { int n; R &operator=(int x) { n = *g; return *this; } }; || R r; G! | r = 1; return r.n;
struct R { operator bool() const { return *g; } }; || R r; G! | if (r);
struct R { R &operator=(const R &) { ++*g; return *this; } }; || R r, q; G! | r = q;
struct R { R() {} R(const R &) { ++*g; } }; || R r; G! | R q = r;
struct B { int *p; int operator*() const { return *p; } }; struct R : B { }; || R r; r.p = t; K! | return *r;
template <class T> struct R { T *p; T operator*() const { return *p; } }; || R<int> r{t}; K! | return *r;
template <class T> struct R { T *p; bool operator==(T x) const { return *p == x; } }; || R<int> r{t}; K! | if (r == 1);
template <class T> struct R { T *p; R &operator++() { ++*p; return *this; } }; || R<int> r{t}; K! | ++r;
int operator*() const { return *p; } }; struct H { R r; || H h{{t}}; K! | return *h.r;
int operator*() const { return *p; } int f() { return **this; } || R! | return r.f();
bool operator==(int x) const { return *p == x; } int f() { return *this == 2; } || R! | return r.f();
STAR || auto r = std::make_unique<R>(R{t}); K! | return **r;
struct R { int *p; int operator*() const { return *p; } }; static int f(const R &r) { return *r; } || R! | return f(r);
struct R { int *p; int operator*() const { return *p; } }; template <class T> int f(T &r) { return *r; } || R! | f(r);
STAR || auto f = [](auto r) { return *r; }; R! | return f(r);
LESS || std::vector<R> r{R{t}, R{t}}; K! | std::sort(r.begin(), r.end());
LESS || R a{t}, b{t}; K! | std::swap(a, b); return std::min(a, b).p != 0;
LESS || std::map<R, int> m; K! | m[R{t}] = 1; m[R{t}] = 2;
SAME || std::vector<R> r{R{t}, R{t}}; K! | return std::find(r.begin(), r.end(), R{t}) == r.end();
SAME || std::vector<R> r{R{t}, R{t}}; K! | return r == r;
int operator+(const R &o) const { return *p; } || R a{t}; K! | return (a) + a;
int *begin() { return p; } int *end() { return p + 2; } || R! | LOOP
struct R { int v[2]; int *begin() { v[0] = *g; return v; } int *end() { return v + 2; } }; || R r; G! | LOOP
struct R { int v[2]; int *begin() { return v; } int *end() { return v + *g; } }; || R r; G! | LOOP
struct R { int v[2]; }; int *begin(R &r) { r.v[0] = *g; return r.v; } int *end(R &r) { return r.v; } || R r; G! | LOOP
"""


ITERATORS = """
int *p; int operator*() { return *p; } bool operator!=(It o) { return p != o.p; } It &operator++() { return *this; }
int *p; int operator*() { return 1; } bool operator!=(It o) { return *p; } It &operator++() { return *this; }
int *p; int operator*() { return *g; } bool operator!=(It o) { return p != o.p; } It &operator++() { return *this; }
"""


@pytest.mark.parametrize("members", cases(ITERATORS))
def test_what_an_iterator_of_a_class_reads_is_waited_for(members: str) -> None:
    both = "It begin() { return {p}; } It end() { return {p}; }"
    outside = f"struct It {{ {members} }}; struct R {{ int *p; {both} }};"
    assert not moves_without(source_of(f"{outside} || R r{{t}}; G! | LOOP"), "Synchronize")


@pytest.mark.parametrize("case", cases(OPERATORS))
def test_what_an_operator_of_a_class_reads_is_waited_for(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# work that is launched by an operator before the free (`D` allocates, `K` allocates and launches)

LAUNCHES = """
struct B { int *x; B &operator++() { go(x); return *this; } }; || D B o{t}; ++o; cudaFree(d);
struct B { int *x; B operator++(int) { go(x); return *this; } }; || D B o{t}; o++; cudaFree(d);
struct B { int *x; int operator*() { return go(x); } }; || D B o{t}; *o; cudaFree(d);
struct B { int *x; int operator-() { return go(x); } }; || D B o{t}; -o; cudaFree(d);
struct B { int *x; int operator!() { return go(x); } }; || D B o{t}; if (!o); cudaFree(d);
struct B { int *x; bool operator==(int) { return go(x); } }; || D B o{t}; if (o == 1); cudaFree(d);
struct B { int *x; bool operator<(int) { return go(x); } }; || D B o{t}; while (o < argc--) ; cudaFree(d);
struct B { int *x; int operator,(int) { return go(x); } }; || D B o{t}; o, 1; cudaFree(d);
struct B { int *x; B *operator->() { go(x); return this; } void n() {} }; || D B o{t}; o->n(); cudaFree(d);
struct B { int *x; int operator&() { return go(x); } }; || D B o{t}; &o; cudaFree(d);
struct B { int *x; int *begin() { go(x); return x; } int *end() { return x; } }; || D B o{t}; LOOP cudaFree(d);
struct B { int *x; auto begin() { return x; } auto end() { go(x); return x; } }; || D B o{t}; LOOP cudaFree(d);
struct B { int *x; int n = go(x); }; || D B o{t}; cudaFree(d);
static int *gt; struct B { int n = go(gt); }; || gt = t; D B o; cudaFree(d);
static int *gt; struct B { void operator()() { go(gt); } }; || gt = t; D B o; o(); cudaFree(d);
static int *gt; struct B { int operator+(int) { return go(gt); } }; || gt = t; D B o; o + 1; cudaFree(d);
static int *gt; struct B { int operator*() { return go(gt); } }; || gt = t; D B o; *o; cudaFree(d);
static int *gt; struct B { operator int() { return go(gt); } }; || gt = t; D B o; int y = o; cudaFree(d);
static int *gt; struct B { int operator[](int) { return go(gt); } }; || gt = t; D B o; o[1]; cudaFree(d);
static int *gt; struct B { B &operator=(int) { go(gt); return *this; } }; || gt = t; D B o; o = 1; cudaFree(d);
"""


@pytest.mark.parametrize("way", cases(LAUNCHES))
def test_what_an_operator_of_a_class_launches_is_waited_for(way: str) -> None:
    assert not moves_without(read_behind(way.replace("LOOP", "for (int y : o);")), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# what is reached through views, objects that keep references, copies that containers make, and assembly

KEPT = r"""
K! | int x; asm volatile("movl %1, %0" : "=r"(x) : "m"(*t)); return x;
K! | int x; asm volatile("movl (%1), %0" : "=r"(x) : "r"(t) : "memory"); return x;
K! | int x; asm("movl (%1), %0" : "=r"(x) : "r"(t)); return x;
K! | __asm__ __volatile__("lock; incl %0" : "+m"(t[0]));
K! | asm volatile("call f" ::: "memory");
static int rd(int *p) { int x; asm("movl (%1), %0" : "=r"(x) : "r"(p)); return x; } || K! | return rd(t);
static inline void fence() { asm volatile("" ::: "memory"); } || K! | fence(); return t[0];
K! | return std::span<int>(t, 4)[0];
K! | return std::span(t, 4)[0];
K! | return std::span{t, 4}.front();
K! | for (int x : std::span<int>(t, 4)) argc += x; return argc;
K! | for (int x : std::span(t, 4)) argc += x; return argc;
K! | std::string_view v((char *)t, 4); return v[0];
K! | return std::string_view((char *)t, 4)[0];
K! | return std::string_view((char *)t, 4) == "x";
K! | return std::string((char *)t, 4)[0];
K! | return std::vector<int>(t, t + 4)[0];
K! | return std::vector<int>(t, t + 4).size();
K! | std::ranges::sort(t, t + 4);
K! | std::ranges::sort(std::span(t, 4));
K! | std::ranges::fill(t, t + 4, 1);
K! | return std::ranges::max(std::span(t, 4));
K! | return *std::ranges::max_element(t, t + 4);
K! | std::ranges::copy(t, t + 4, pg);
K! | std::ranges::copy(std::span(t, 4), pg);
K! | std::ranges::for_each(t, t + 4, [&](int x) { argc += x; }); return argc;
K! | return std::ranges::equal(t, t + 4, pg, pg + 4);
K! | for (int x : std::ranges::subrange(t, t + 4)) argc += x; return argc;
K! | for (int x : std::views::counted(t, 4)) argc += x; return argc;
K! | return std::ranges::count(t, t + 4, 1);
auto u = std::tie(t[0], t[1]); K! | return std::get<0>(u);
auto u = std::tie(t[0], t[1]); K! | u = std::make_tuple(1, 2);
std::tuple<int &, int &> u(t[0], t[1]); K! | std::get<0>(u) = 3;
std::tuple<int &> u(t[0]); K! | return std::get<0>(u);
std::pair<int &, int> u(t[0], 1); K! | return u.first;
auto u = std::ref(t[0]); K! | return u;
auto u = std::ref(t[0]); K! | return u.get();
auto u = std::ref(t[0]); K! | u.get() = 2;
std::reference_wrapper<int> u(t[0]); K! | return u;
std::reference_wrapper<int> u(t[0]); K! | return u.get();
std::reference_wrapper<int> u = t[0]; K! | int x = u; return x;
std::vector<std::reference_wrapper<int>> u{t[0]}; K! | return u[0].get();
auto u = std::forward_as_tuple(t[0]); K! | return std::get<0>(u);
struct V { int &r; }; || V u{t[0]}; K! | return u.r;
struct V { int &r; V(int &x) : r(x) {} }; || V u(t[0]); K! | return u.r;
struct V { int &r; int get() { return r; } }; || V u{t[0]}; K! | return u.get();
struct V { int &r; void set() { r = 1; } }; || V u{t[0]}; K! | u.set();
struct V { int *p; int &at() { return *p; } }; || V u{t}; int &q = u.at(); K! | return q;
struct V { int *p; int &at() { return *p; } }; || V u{t}; auto &q = u.at(); K! | q = 2;
struct V { int *p; int &operator*() { return *p; } }; || V u{t}; int &q = *u; K! | return q;
struct V { int *p; int &operator[](int i) { return p[i]; } }; || V u{t}; int &q = u[1]; K! | return q;
static int &at(int *p) { return *p; } || int &q = at(t); K! | return q;
static int &at(int *p) { return *p; } || int *q = &at(t); K! | return *q;
K! | std::vector<std::vector<int>> v; v.emplace_back(t, t + 4); return v[0][0];
K! | std::vector<std::string> v; v.emplace_back((char *)t); return v.size();
K! | std::vector<std::string> v; v.push_back((char *)t); return v.size();
K! | std::map<int, std::vector<int>> v; v.emplace(1, std::vector<int>(t, t + 2)); return v.size();
K! | std::map<std::string, int> v; v[(char *)t] = 1; return v.size();
K! | std::map<std::string, int> v; v.emplace((char *)t, 1); return v.size();
K! | std::map<std::string, int> v; return v.count((char *)t);
K! | std::optional<std::vector<int>> v; v.emplace(t, t + 2); return v->size();
K! | auto v = std::make_unique<std::vector<int>>(t, t + 2); return v->size();
K! | auto v = new std::vector<int>(t, t + 2); return v->size();
K! | auto v = std::make_shared<std::string>((char *)t); return v->size();
static int f(const std::string &s) { return s.size(); } || K! | return f((char *)t);
static int f(std::vector<int> s) { return s.size(); } || K! | return f({t, t + 2});
std::reverse_iterator<int *> u(t + 4); K! | return *u;
auto u = std::make_reverse_iterator(t + 4); K! | return *u;
auto u = std::make_move_iterator(t); K! | return *u;
auto u = std::begin(*(int (*)[4])t); K! | return *u;
auto u = std::next(t, 2); K! | return *u;
std::span<int> s4(t, 4); auto u = s4.begin(); K! | return *u;
std::span<int> s4(t, 4); auto u = s4.subspan(1); K! | return u[0];
std::span<int> s4(t, 4); auto u = s4.first(1); K! | return u[0];
std::span<int> s4(t, 4); auto u = s4.rbegin(); K! | return *u;
auto u = std::to_address(t); K! | return *u;
int *u = std::addressof(t[0]); K! | return *u;
std::atomic_ref<int> u(t[0]); K! | return u.load();
std::atomic_ref<int> u(t[0]); K! | return u;
std::atomic_ref<int> u(t[0]); K! | u++;
std::atomic_ref<int> u(t[0]); K! | u = 3;
auto *u = reinterpret_cast<std::atomic<int> *>(t); K! | return *u;
auto *u = reinterpret_cast<std::atomic<int> *>(t); K! | while (*u == 0) ;
auto *u = reinterpret_cast<std::atomic<int> *>(t); K! | return u->load();
std::experimental::mdspan u(t, 2, 2); K! | return u(0, 1);
std::valarray<int> u; K! | u = std::valarray<int>(t, 4); return u[0];
std::istringstream u; K! | std::istringstream v((char *)t); return v.good();
K! | std::stringstream o; o.write((char *)t, 4); return 0;
std::function<int()> f = std::bind([](int &x) { return x; }, std::ref(t[0])); K! | return f();
auto f = std::bind([](int *x) { return *x; }, t); K! | return f();
"""


@pytest.mark.parametrize("case", cases(KEPT))
def test_what_is_reached_through_something_that_keeps_where_it_is_is_waited_for(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")


QUIET = r"""
static inline void fence() { asm volatile("" ::: "memory"); } || k<<<1,1>>>(d, d2); | fence(); cudaFree(d2);
static inline void pause() { asm volatile("pause"); } || k<<<1,1>>>(d, d2); | pause(); cudaFree(d2);
static int id() { int a; asm("cpuid" : "=a"(a)); return a; } || k<<<1,1>>>(d, d2); | id(); cudaFree(d2);
"""


@pytest.mark.parametrize("case", cases(QUIET))
def test_assembly_that_touches_no_memory_is_no_use(case: str) -> None:
    assert moves_without(program(*parts(case)), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# an unseen function throws: destructors run before the handler (`G` frees what the kernel works on, `S`
# waits for the device, `C` reads what the kernel wrote)

THROWS = """
int r = 0; try { G g; W un(1); S } catch (int) { r = t[0]; } return r;
try { G g; W un(1); S } C
try { G g; { W un(1); } S } C
try { G g; W if (argc) un(1); S } C
static void f(int *t) { G g; W un(1); S } || try { f(t); } C
static void f(int *t) { un(1); } || try { G g; W f(t); S } C
try { std::vector<int> v; G g; W v.resize(argc); S } catch (...) { return t[0]; }
try { G g; W int x = std::stoi(argv[1]); S } catch (...) { return t[0]; }
try { G g; W std::vector<int> v(argc); S } catch (...) { return t[0]; }
try { G g; W int *q = new int[argc]; S } catch (...) { return t[0]; }
try { D std::unique_ptr<int, Del> u(d); K! un(1); S } C
try { for (int i = 0; i < 3; i++) { G g; W un(1); S } } C
struct H { int *q; ~H() { q[0] = 1; } }; || D try { H h{t}; K! cudaFree(d); un(1); } C
struct H { int *q; ~H() { q[0] = 1; } }; || D try { H h{t}; K! cudaFree(d); un(1); S } catch (int) { }
struct H { int *q; ~H() { printf("%d", q[0]); } }; || D try { H h{t}; K! cudaFree(d); un(1); S } catch (int) { }
try { G g; try { W un(1); } catch (float) { } S } C
try { try { G g; W un(1); S } catch (float) { S } } C
try { G g; W throw 1; } C
WORKS GW g; g.work(t); S } C
WORKS GW g(1); g.work(t); S } C
WORKS auto g = GW(1); g.work(t); S } C
"""
IN_THROWS = {
    "W": "k<<<1, 1>>>(g.p, t);",
    "K!": "k<<<1, 1>>>(d, t);",
    "S": "cudaDeviceSynchronize();",
    "C": "catch (int) { return t[0]; }",
    "WORKS": "struct GW : G { GW(int = 0) {} void work(int *t) { k<<<1, 1>>>(p, t); un(1); } }; || try {",
}


@pytest.mark.parametrize("way", cases(THROWS))
def test_what_ends_where_an_exception_passes_is_waited_for(way: str) -> None:
    written = " ".join(IN_THROWS.get(word, word) for word in way.split(" "))
    both = "" if " || " in written else " || "
    assert not moves_without(read_behind(f"void un(int); {both}{written}"), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# waits that are not carried out, or not in every build: `NDEBUG` takes `assert` away with what it is given

NO_WAITS = r"""
K assert(cudaDeviceSynchronize() == cudaSuccess); cudaFree(d);
K assert(cudaDeviceSynchronize() == 0); cudaFree(d);
K assert(!cudaDeviceSynchronize()); cudaFree(d);
K assert(cudaStreamSynchronize(0) == cudaSuccess); cudaFree(d);
K assert(cudaSuccess == cudaDeviceSynchronize() && "x"); cudaFree(d);
K assert((cudaDeviceSynchronize(), true)); cudaFree(d);
static bool done() { return cudaDeviceSynchronize() == cudaSuccess; } || K assert(done()); cudaFree(d);
static void done() { assert(cudaDeviceSynchronize() == cudaSuccess); } || K done(); cudaFree(d);
#define CK(x) assert((x) == cudaSuccess) || K CK(cudaDeviceSynchronize()); cudaFree(d);
#define CK(x) assert(cudaSuccess == (x)) || K CK(cudaStreamSynchronize(0)); cudaFree(d);
K noexcept(cudaDeviceSynchronize()); cudaFree(d);
K bool b = noexcept(cudaDeviceSynchronize()); cudaFree(d);
K static_assert(noexcept(cudaDeviceSynchronize())); cudaFree(d);
K static_assert(sizeof(cudaDeviceSynchronize()) == 4, "x"); cudaFree(d);
K static_assert(std::is_same<decltype(cudaDeviceSynchronize()), cudaError_t>::value); cudaFree(d);
K int b = sizeof(cudaDeviceSynchronize()); cudaFree(d);
K int b = sizeof cudaDeviceSynchronize(); cudaFree(d);
K int b = alignof(decltype(cudaDeviceSynchronize())); cudaFree(d);
K decltype(cudaDeviceSynchronize()) b; cudaFree(d);
K using E = decltype(cudaDeviceSynchronize()); cudaFree(d);
K typedef decltype(cudaDeviceSynchronize()) E; cudaFree(d);
K std::vector<decltype(cudaDeviceSynchronize())> b; cudaFree(d);
K typeid(cudaDeviceSynchronize()); cudaFree(d);
K const char *b = typeid(cudaDeviceSynchronize()).name(); cudaFree(d);
K bool b = std::is_same_v<decltype(cudaDeviceSynchronize()), int>; cudaFree(d);
K auto b = static_cast<decltype(cudaDeviceSynchronize())>(0); cudaFree(d);
K if constexpr (sizeof(cudaDeviceSynchronize()) == 8) argc++; cudaFree(d);
K if constexpr (false) cudaDeviceSynchronize(); cudaFree(d);
K if constexpr (sizeof(int) == 8) cudaDeviceSynchronize(); cudaFree(d);
K bool b = requires { cudaDeviceSynchronize(); }; cudaFree(d);
K static_assert(requires { cudaDeviceSynchronize(); }); cudaFree(d);
template <class T> auto w(T) -> decltype(cudaDeviceSynchronize()) { return cudaSuccess; } || K w(1); cudaFree(d);
template <class T> void w(T, decltype(cudaDeviceSynchronize()) = cudaSuccess) { } || K w(1); cudaFree(d);
void w() noexcept(noexcept(cudaDeviceSynchronize())) { } || K w(); cudaFree(d);
struct N { void w(); }; || K (void)sizeof(cudaDeviceSynchronize()); cudaFree(d);
K (void)noexcept(cudaDeviceSynchronize()); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K bool b = noexcept(w()); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K auto b = sizeof(w()); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K decltype(w()) b; cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K typeid(w()); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K __builtin_constant_p(w()); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K __builtin_assume(w() == 0); cudaFree(d);
static cudaError_t w() { return cudaDeviceSynchronize(); } || K [[assume(w() == 0)]]; cudaFree(d);
K cudaFree(d); assert(t[0] == 1);
K __builtin_choose_expr(0, cudaDeviceSynchronize(), 0); cudaFree(d);
#define CHECK(x) do { } while (0 && (x)) || K CHECK(cudaDeviceSynchronize()); cudaFree(d);
#define CHECK(x) ((void)sizeof(x)) || K CHECK(cudaDeviceSynchronize()); cudaFree(d);
#define CHECK(x) (void)0 || K CHECK(cudaDeviceSynchronize()); cudaFree(d);
#define CHECK(x) if (0) (x) || K CHECK(cudaDeviceSynchronize()); cudaFree(d);
#define DBG(x) if (argc > 3) (x) || K DBG(cudaDeviceSynchronize()); cudaFree(d);
K DCHECK(cudaDeviceSynchronize() == cudaSuccess); cudaFree(d);
K Q_ASSERT(cudaDeviceSynchronize() == cudaSuccess); cudaFree(d);
K VLOG(2) << (cudaDeviceSynchronize(), 1); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K VLOG(2) << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K VLOG(2) << "x" << w() << "y"; cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K LOG_IF(INFO, argc) << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K DLOG(INFO) << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K LOG_EVERY_N(INFO, 10) << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K TRACE << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K VLOG(2) << [&] { return w(); }(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K BOOST_LOG_TRIVIAL(info) << w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K QCDEBUG(x) << w(); cudaFree(d);
"""


@pytest.mark.parametrize("way", cases(NO_WAITS))
def test_a_wait_that_may_not_be_carried_out_is_none(way: str) -> None:
    assert not moves_without(read_behind(way), "Synchronize")


SELDOM = r"""
struct T { T() { cudaDeviceSynchronize(); } T(int) {} }; struct M { T t; }; || K M m{3}; cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } T(int) {} }; struct M { T t; M() : t(3) {} }; || K M m; cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } T(int) {} }; struct M { T t = 3; }; || K M m; cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } T(int) {} }; struct M { T t; M(int x) : t(x) {} M() : M(3) {} }; || K M m; cudaFree(d);
struct B {}; struct T : B { T() {} T(const B &) { cudaDeviceSynchronize(); } }; || K T x; B &b = x; static_cast<T &>(b); cudaFree(d);
struct B {}; struct T : B { T() {} T(const B &) { cudaDeviceSynchronize(); } int n; }; || K T x; B &b = x; static_cast<T &>(b).n = 3; cudaFree(d);
struct B {}; struct T : B { T() {} T(const B &) { cudaDeviceSynchronize(); } int n; }; || K T x; B *b = &x; ((T *)b)->n = 3; cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } }; static void f(const T &) {} static void f(int) {} || K f(3); cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } }; static void f(const T &) {} static void f(double) {} || K f(3.0); cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } }; static void f(const T &, int) {} static void f(int) {} || K f(3); cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } }; struct S { S(const T &) {} S(int) {} }; || K S s(3); cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } }; struct S { S(const T &) {} S(long) {} }; || K S s = 3; cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } T &operator=(int) { return *this; } }; || K T x; x = 3; cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } bool operator==(int) const { return true; } }; || K T x; if (x == 3) argc++; cudaFree(d);
struct T { T() {} T(int) { cudaDeviceSynchronize(); } bool operator==(const T &) const { return true; } bool operator==(int) const { return true; } }; || K T x; if (x == 3) argc++; cudaFree(d);
struct T { T() {} T(float) { cudaDeviceSynchronize(); } T(int) {} }; || K T x = 3; cudaFree(d);
struct T { T() {} T(float) { cudaDeviceSynchronize(); } T(int) {} }; static void f(T) {} || K f(3); cudaFree(d);
struct T { T() {} T(const char *) { cudaDeviceSynchronize(); } T(int) {} }; static void f(T) {} || K f(3); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; static T g; static T f() { return T(); } || K T x = f(); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; static T f() { T r; return r; } || K T x = f(); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } T(T &&) {} }; static T f(bool b) { T r, q; if (b) return r; return q; } || K T x = f(argc); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } T(T &&) {} }; || K T a; T b = std::move(a); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } T(T &&) {} }; static void f(T) {} || K f(T()); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } T(T &&) {} }; static void f(T) {} || K T a; f(std::move(a)); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; static void f(const T &) {} || K T a; f(a); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; static void f(T &&) {} || K f(T()); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; template <class X> static void f(X &&) {} || K T a; f(a); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K T a; auto f = [&a] {}; f(); cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K T a[2]; for (auto &x : a) argc++; cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K T a[2]; for (const auto &x : a) argc++; cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K T a[2]; auto &[x, y] = a; cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K try { argc++; } catch (T t) { } cudaFree(d);
struct T { T() {} T(const T &) { cudaDeviceSynchronize(); } }; || K T a; throw a; cudaFree(d);
struct T { T() {} ~T() { cudaDeviceSynchronize(); } }; || K new T; cudaFree(d);
struct T { T() {} ~T() { cudaDeviceSynchronize(); } }; || K auto p = std::make_unique<T>(); cudaFree(d);
struct T { T() {} ~T() { cudaDeviceSynchronize(); } }; || K auto p = std::make_unique<T>(); p.release(); cudaFree(d);
struct T { T() {} ~T() { cudaDeviceSynchronize(); } }; || K std::vector<T> v(0); v.clear(); cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } }; T early; || K cudaFree(d);
struct T { ~T() { cudaDeviceSynchronize(); } }; T late; || K cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } }; extern T early; || K cudaFree(d);
struct T { T() { cudaDeviceSynchronize(); } }; || K static T x; cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } || K static int x = w(); cudaFree(d);
static int w() { return cudaDeviceSynchronize(); } static void f() { static int x = w(); } || f(); K f(); cudaFree(d);
template <class F> static void each(F &&f, int n) { for (int i = 0; i < n; i++) f(); } || K each([] { cudaDeviceSynchronize(); }, argc); cudaFree(d);
template <class F> static void maybe(F &&f, bool b) { if (b) f(); } || K maybe([] { cudaDeviceSynchronize(); }, argc); cudaFree(d);
template <class F> static void never(F &&f) { (void)f; } || K never([] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::vector<int> v(argc); std::for_each(v.begin(), v.end(), [](int) { cudaDeviceSynchronize(); }); cudaFree(d);
K std::vector<int> v(argc); for (int x : v) cudaDeviceSynchronize(); cudaFree(d);
K std::vector<int> v(argc); std::any_of(v.begin(), v.end(), [](int) { return cudaDeviceSynchronize() == 0; }); cudaFree(d);
K std::variant<int, float> v; std::visit([](auto x) { if constexpr (std::is_same_v<decltype(x), float>) cudaDeviceSynchronize(); }, v); cudaFree(d);
K std::optional<int> o; if (o) cudaDeviceSynchronize(); cudaFree(d);
K std::function<void()> f; if (argc) f = [] { cudaDeviceSynchronize(); }; else f = [] {}; f(); cudaFree(d);
K std::function<void()> f = [] { cudaDeviceSynchronize(); }; f = nullptr; if (f) f(); cudaFree(d);
K void (*f)() = [] {}; void (*g)() = [] { cudaDeviceSynchronize(); }; std::swap(f, g); g(); cudaFree(d);
K auto f = [] { cudaDeviceSynchronize(); }; auto g = [&] { f(); }; (void)g; cudaFree(d);
K std::call_once(*new std::once_flag, [] {}); cudaFree(d);
K auto r = std::async(std::launch::deferred, [] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::thread([] { cudaDeviceSynchronize(); }).detach(); cudaFree(d);
K std::jthread th([] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::vector<int> v(3); auto w = v | std::views::transform([](int) { return (int)cudaDeviceSynchronize(); }); cudaFree(d);
K std::vector<int> v(3); auto w = std::views::transform(v, [](int) { return (int)cudaDeviceSynchronize(); }); cudaFree(d);
K std::set_terminate([] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::atexit([] { cudaDeviceSynchronize(); }); cudaFree(d);
K signal(SIGINT, [](int) { cudaDeviceSynchronize(); }); cudaFree(d);
K std::bind([] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::packaged_task<void()> p([] { cudaDeviceSynchronize(); }); cudaFree(d);
K auto l = [](auto f) { return [=] { f(); }; }([] { cudaDeviceSynchronize(); }); cudaFree(d);
K std::unique_ptr<int, void (*)(int *)> u(nullptr, [](int *) { cudaDeviceSynchronize(); }); u.reset(); cudaFree(d);
K std::shared_ptr<int> u(new int, [](int *p) { cudaDeviceSynchronize(); delete p; }); auto v = u; u.reset(); cudaFree(d);
namespace a { static void w() { cudaDeviceSynchronize(); } } namespace b { static void w() {} using namespace a; } || K b::w(); cudaFree(d);
namespace a { inline namespace v1 { static void w() {} } namespace v2 { static void w() { cudaDeviceSynchronize(); } } } || K a::w(); cudaFree(d);
namespace a { static void w() { cudaDeviceSynchronize(); } } namespace b = a; namespace c { namespace b { static void w() {} } static void g() { b::w(); } } || K c::g(); cudaFree(d);
struct S { static void w() { cudaDeviceSynchronize(); } }; struct R : S { static void w() {} }; || K R::w(); cudaFree(d);
struct S { virtual void w() { cudaDeviceSynchronize(); } }; struct R : S { void w() override {} }; || K R r; S &s = r; s.w(); cudaFree(d);
struct S { virtual void w() { cudaDeviceSynchronize(); } }; struct R : S { void w() override {} }; || K R r; S *s = &r; s->w(); cudaFree(d);
struct S { virtual void w() { cudaDeviceSynchronize(); } }; struct R : S { void w() override {} }; || K std::unique_ptr<S> s = std::make_unique<R>(); s->w(); cudaFree(d);
struct S { void w() { cudaDeviceSynchronize(); } }; struct R : S { void w() {} }; || K R r; r.w(); cudaFree(d);
template <class T> struct S { void w() { cudaDeviceSynchronize(); } }; template <> struct S<int> { void w() {} }; || K S<int> r; r.w(); cudaFree(d);
template <class T> static void w(T) { cudaDeviceSynchronize(); } template <> void w(int) {} || K w(3); cudaFree(d);
template <class T> static void w() { if constexpr (std::is_same_v<T, float>) cudaDeviceSynchronize(); } || K w<int>(); cudaFree(d);
static void w(float) { cudaDeviceSynchronize(); } static void w(int) {} || K w(3); cudaFree(d);
static void w(float) { cudaDeviceSynchronize(); } static void w(int) {} || K (w)(3); cudaFree(d);
"""


@pytest.mark.parametrize("way", cases(SELDOM))
def test_a_wait_of_code_that_another_one_runs_instead_of_is_none(way: str) -> None:
    assert not moves_without(read_behind(way), "Synchronize")


ASSERTED = r"""
int *d; assert(!cudaMalloc(&d, 4)); k<<<1,1>>>(d, t); assert(!cudaDeviceSynchronize()); cudaFree(d);
#define CK(x) assert(!(x)) || int *d; CK(cudaMalloc(&d, 4)); k<<<1,1>>>(d, t); CK(cudaDeviceSynchronize()); cudaFree(d);
"""


@pytest.mark.parametrize("way", cases(ASSERTED))
def test_a_program_that_allocates_in_assert_is_built_with_it(way: str) -> None:
    assert moves_without(read_behind(way), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# what stands in one configuration only, and what macros stand for: lines are divided by `//`

CONFIGURATIONS = """
K! | // #ifdef SHOW // return t[0]; // #endif //
K! | // #ifndef QUIET // return t[0]; // #endif //
K! | // #if defined(SHOW) && LEVEL > 2 // return t[0]; // #endif //
K! // #ifdef SYNC // cudaDeviceSynchronize(); // #endif // | return t[0];
// #if USE_K // k<<<1, 1>>>(d, t); // #endif // | return t[0];
K! | // #ifdef A // argc = 2; // #elif defined(B) // argc = t[0]; // #else // argc = 3; // #endif // return argc;
K! | if (argc) // #ifdef A // return t[0]; // #else // return 1; // #endif //
K! | return // #ifdef A // t[0] // #else // 0 // #endif // ;
// #ifdef A // int *q = t; // #else // int *q = pg; // #endif // k<<<1, 1>>>(d, t); | return q[0];
K! | // #ifdef A // if (argc) { // #else // { // #endif // return t[0]; }
static int o; // #ifdef A // #define LOOK t[0] // #else // #define LOOK 0 // #endif // || K! | return LOOK;
static int o; // #ifdef A // #define LOOK (*t) // #else // #define LOOK 0 // #endif // || K! | return LOOK;
static int o; // #ifdef A // #define LOOK(x) x[0] // #else // #define LOOK(x) 0 // #endif // || K! | return LOOK(t);
static int o; // #ifdef A // #define P t // #else // #define P pg // #endif // || K! | return P[0];
static int o; // #ifdef A // #define P o // #else // #define P g[0] // #endif // || G! | return P;
static int see() { return g[0]; } // #ifdef A // #define L see() // #else // #define L 0 // #endif // || G! | return L;
static int o; // #ifdef A // #define R k<<<1, 1>>>(d, t) // #else // #define R o++ // #endif // || R; | return t[0];
static int o; // #define LOOK see() // static int see() { return g[0]; } || G! | return LOOK;
static int o; // #define LOOK (1 + see()) // static int see() { return g[0]; } || G! | argc = LOOK; return argc;
static int o; // #define IN g[0] // #define LOOK IN // || G! | return LOOK;
static int o; // #define IN(x) x[0] // #define LOOK IN(g) // || G! | return LOOK;
static int o; // #define IN see() // #define LOOK (IN) // static int see() { return g[0]; } || G! | return LOOK;
K! | // #include "x.inc" // return 0;
K! | { int *q = t; // #include "x.inc" // }
K! | // #ifdef A // #include "x.inc" // #endif // return 0;
static int see(int *t) { // #include "x.inc" // } || K! | return see(t);
"""


@pytest.mark.parametrize("case", cases(CONFIGURATIONS))
def test_what_one_configuration_does_is_waited_for_in_all(case: str) -> None:
    assert not moves_without(
        source_of(case.replace(" // ", "\n").replace(" //", "\n").replace("// ", "\n")), "Synchronize"
    )


THROWN = {
    "BASE": "struct B { virtual ~B() {} };",
    "END": "static int o; struct B { virtual ~B() {} }; struct E : B { int *p; E(int *p) : p(p) {} ~E() { o = *p; } };",
    "PART": "static int o; struct H { int *p; ~H() { o = *p; } }; struct E { H h; E(int *p) : h{p} {} ~E() {} };",
}
CAUGHT = """
END || K! | try { throw E(t); } catch (B &b) { }
END || K! | try { throw E(t); } catch (...) { }
END || K! | try { throw E(t); } catch (E &e) { }
END || K! | try { throw E(t); } catch (E e) { }
PART || K! | try { throw E(t); } catch (E &e) { }
PART || K! | try { throw E(t); } catch (...) { }
BASE struct E : B { int *p; E(int *p) : p(p) {} }; || K! | try { throw E(t); } catch (E &e) { return *e.p; }
BASE struct E : B { int *p; E(int *p) : p(p) {} ~E() {} }; || K! | try { throw E(t); } catch (E &e) { return *e.p; }
"""


@pytest.mark.parametrize("case", cases(CAUGHT))
def test_what_is_thrown_is_seen_where_it_is_caught(case: str) -> None:
    name, _, rest = case.partition(" ")
    assert not moves_without(source_of(f"{THROWN[name]} {rest}"), "Synchronize")


def test_an_exception_whose_destructor_is_empty_is_no_obstacle() -> None:
    source = source_of(f"{THROWN['BASE']} struct E : B {{}}; || K! | try {{ throw E(); }} catch (B &) {{ argc = 2; }}")
    assert moves_without(source, "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# before and behind `main`

AROUND_MAIN = r"""
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; T tt; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; T tt{}; || | return gm[0];
static int *gm; struct T { T(int) { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; T tt(3); || | return gm[0];
static int *gm; struct T { T(int) { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; T tt = 3; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; static T tt[2]; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; T *tt = new T; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; auto tt = std::make_unique<T>(); || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; std::vector<T> tt(1); || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; struct U { T t; }; U tt; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; struct U { static inline T t; }; || | return gm[0];
static int *gm; struct T { T() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } }; namespace { struct U : T {}; const U tt; } || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } static int x = init(); || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } static int x{init()}; || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } static int x(init()); || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } static int x = 2 + init(); || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } struct S { static inline int x = init(); }; || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } struct S { static const int x; }; const int S::x = init(); || | return gm[0];
static int *gm; static int init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; } struct S { int n = init(); }; static S x; || | return gm[0];
static int *gm; static int x = [] { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); return 1; }(); || | return gm[0];
static int *gm; __attribute__((constructor)) static void init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } || | return gm[0];
static int *gm; static void init() __attribute__((constructor)); static void init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } || | return gm[0];
static int *gm; [[gnu::constructor]] static void init() { cudaMallocManaged(&gm, 4); k<<<1, 1>>>(gm, gm); } || | return gm[0];
struct E { ~E() { printf("%d", g[0]); } } ee; || G! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } } ee; || ee.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; static E ee; || ee.p = t; K! | return 0;
struct E { int *p; ~E() { p[0]++; printf("%d", p[0]); } }; E ee; || ee.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; static inline E ee{nullptr}; || ee.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; static E ee[2]; || ee[1].p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; struct H { static E ee; }; E H::ee; || H::ee.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; static std::unique_ptr<E> ee; || ee = std::make_unique<E>(); ee->p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; static std::vector<E> ee; || ee.push_back({t}); K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; namespace { E ee; } || ee.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; struct F { E e; }; F ee; || ee.e.p = t; K! | return 0;
struct E { int *p; ~E() { printf("%d", p[0]); } }; thread_local E ee; || ee.p = t; K! | return 0;
static void bye() { printf("%d", g[0]); } || atexit(bye); G! | return 0;
static void bye() { printf("%d", g[0]); } __attribute__((destructor)) static void b2() { bye(); } || G! | return 0;
static void bye() { printf("%d", g[0]); } || std::atexit(bye); G! | return 0;
static void bye() { printf("%d", g[0]); } || std::at_quick_exit(bye); G! | std::quick_exit(0);
static void bye(int, void *) { printf("%d", g[0]); } || on_exit(bye, nullptr); G! | return 0;
static int o; || atexit([] { printf("%d", g[0]); }); G! | return 0;
struct E { ~E() { printf("%d", g[0]); } }; || G! static E ee; | return 0;
struct E { ~E() { printf("%d", g[0]); } }; static E &get() { static E ee; return ee; } || get(); G! | return 0;
"""


@pytest.mark.parametrize("case", cases(AROUND_MAIN))
def test_what_runs_before_or_behind_main_is_waited_for(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")


def test_an_object_with_a_quiet_constructor_is_no_obstacle() -> None:
    outside = "static int o; struct W { int n; W() : n(3) { o++; } ~W() { o--; } }; W w; static W ws[2]; const W v{};"
    assert moves_without(source_of(f"{outside} || k<<<1, 1>>>(d, d); | return o + w.n + v.n;"), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# behind conversions, callbacks and everything else that evaluates an expression

EVALUATED = r"""
STAR || std::optional<R> r = R{t}; K! | return **r;
STAR || std::optional<R> r{R{t}}; K! | return **r;
STAR || auto r = std::make_shared<R>(R{t}); K! | return **r;
STAR || std::vector<R> r{R{t}}; K! | return *r[0];
STAR || std::map<int, R> r; r[0].p = t; K! | return *r[0];
STAR || std::vector<R> r{R{t}}; K! | for (auto &x : r) argc += *x; return argc;
STAR || std::vector<R> r{R{t}}; K! | std::for_each(r.begin(), r.end(), [&](R &x) { argc += *x; }); return argc;
INT || std::vector<R> r{R{t}}; K! | return std::accumulate(r.begin(), r.end(), 0);
struct W { int n = g[0]; W() = default; W(int) {} }; || G! | W w; w = 3; return w.n;
struct W { int n; W(int) { n = g[0]; } }; int h(const W &w) { return w.n; } || G! | return h(argc);
struct W { int n; W(int) { n = g[0]; } }; W h() { return 3; } || G! | return h().n;
struct W { int n; W(int) { n = g[0]; } }; W h() { return {3}; } || G! | return h().n;
struct W { int n; W(int) { n = g[0]; } }; struct V { W w; }; || G! | V v{3}; return v.w.n;
struct W { int n; W(int) { n = g[0]; } }; struct V { W w = 3; }; || G! | V v; return v.w.n;
struct W { int n; W(int) { n = g[0]; } }; || G! | W w[] = {1, 2}; return w[0].n;
struct W { int n; W(int) { n = g[0]; } }; || G! | return static_cast<W>(3).n;
struct W { int n; W(int) { n = g[0]; } }; || G! | return ((W)3).n;
struct W { int n; W(int) { n = g[0]; } }; || G! | const W &w = 3; return w.n;
struct W { int n; W(int) { n = g[0]; } }; int h(W w = 3) { return w.n; } || G! | return h();
struct W { int n; W(int) { n = g[0]; } bool operator==(const W &) const { return true; } }; || W v(1); G! | return v == 3;
struct W { int n; W() {} W(const W &) { n = g[0]; } }; || G! | W w; auto f = [w] { return w.n; }; return f();
struct W { int n; W() {} W(const W &) { n = g[0]; } }; || G! | W w[2]; for (auto x : w) argc += x.n; return argc;
struct W { int n; W() {} W(const W &) { n = g[0]; } }; || G! | W w[2]; auto [a, b] = w; return a.n;
struct W { int n; W() {} W(const W &) { n = g[0]; } }; static int h(W w) { return w.n; } || G! | W w; int (*f)(W) = h; return f(w);
int operator""_x(unsigned long long) { return g[0]; } || G! | return 3_x;
namespace a { int h() { return g[0]; } } namespace b = a; || G! | return b::h();
namespace a { inline namespace v { int h() { return g[0]; } } } || G! | return a::h();
struct S { static inline int *q; }; || S s; s.q = t; K! | return S::q[0];
template <class F> int each(F &&f) { return f(); } || G! | return each([] { return g[0]; });
template <class F> int each(const F &f) { return f(); } || G! | return each([] { return g[0]; });
template <auto F> int each() { return F(); } int h() { return g[0]; } || G! | return each<h>();
std::vector<int *> v{t}; K! | std::for_each(v.begin(), v.end(), [&](int *p) { argc += *p; }); return argc;
std::vector<int *> v{t}; K! | return std::accumulate(v.begin(), v.end(), 0, [&](int n, int *p) { return n + *p; });
std::vector<int *> v{t}; K! | std::erase_if(v, [&](int *p) { return *p; });
std::vector<int *> v{t}; K! | for (int x : v | std::views::transform([](int *p) { return *p; })) argc += x; return argc;
std::vector<int> v(3); K! | for (int x : v | std::views::transform([&](int) { return *t; })) argc += x; return argc;
struct H { std::vector<int *> v; int sum() { int n = 0; std::for_each(v.begin(), v.end(), [&](int *p) { n += *p; }); return n; } }; || H h; h.v.push_back(t); K! | return h.sum();
struct H { int *p; bool operator()(int a, int b) const { return *p; } }; || K! | int v[3]; std::sort(v, v + 3, H{t}); return v[0];
auto cmp = [&](int a, int b) { return *t > a; }; K! | std::vector<int> v(3); std::sort(v.begin(), v.end(), cmp); return v[0];
auto cmp = [&](int a, int b) { return *t > a; }; K! | std::set<int, decltype(cmp)> v(cmp); v.insert(1); v.insert(2); return v.size();
auto cmp = [&](int a, int b) { return *t > a; }; K! | std::priority_queue<int, std::vector<int>, decltype(cmp)> v(cmp); v.push(1); v.push(2); return v.top();
auto cmp = [&](int a, int b) { return *t > a; }; std::set<int, decltype(cmp)> v(cmp); K! | v.insert(1); v.insert(2); return v.size();
std::function<int()> f = [=] { return *t; }; K! | return f();
auto f = [=] { return *t; }; K! | return std::invoke(f);
auto f = [=](int x) { return *t + x; }; K! | return std::apply(f, std::make_tuple(1));
auto f = std::async(std::launch::deferred, [=] { return *t; }); K! | return f.get();
std::packaged_task<int()> f([=] { return *t; }); K! | f(); return f.get_future().get();
std::unique_ptr<int, void (*)(int *)> f(t, [](int *p) { g[0] = *p; }); K! | f.reset(); return g[0];
K! | try { throw t; } catch (int *p) { return *p; }
K! | try { throw std::make_pair(t, 1); } catch (std::pair<int *, int> &p) { return *p.first; }
std::exception_ptr e; try { throw t; } catch (...) { e = std::current_exception(); } K! | try { std::rethrow_exception(e); } catch (int *p) { return *p; }
K! | switch (argc) { case 0: if (0) { case 1: return *t; } }
K! | int n = argc; switch (n & 3) { case 0: do { argc += *t; case 1: argc++; } while (--n > 0); } return argc;
K! | goto a; b: return *t; a: if (argc) goto b;
K! | for (;;) { if (argc++ > 3) break; else continue; } return t[0];
K! | while (argc--) if (argc == 2) return t[argc]; else if (argc == 1) break;
K! | do { argc--; } while (argc > 0 && t[0]);
K! | return argc > 1 ? 0 : t[0];
K! | return argc or t[0];
K! | return (argc, t)[0];
K! | return t ? *t : 0;
K! | return argc[t];
K! | int a[t[0]]; return sizeof a;
K! | int *a = (int *)alloca(t[0]); return a[0];
K! | return (int){t[0]};
K! | struct Q { int x; } q = {.x = t[0]}; return q.x;
K! | struct Q { int x : 3; } q; q.x = t[0]; return q.x;
K! | int &&r = std::move(t[0]); return r;
K! | auto [a, b] = std::pair(t[0], t[1]); return a;
K! | if (int x = t[0]; x > 1) return x;
K! | if (auto x = t[0]) return x;
K! | while (auto x = t[0]) return x;
K! | for (int i = t[0]; i < 3; i++) argc++;
K! | for (int i = 0; i < t[0]; i++) argc++;
K! | for (int i = 0; i < 3; i += t[0]) argc++;
K! | return sizeof(int) + alignof(int) + t[0];
K! | static int z = t[0]; return z;
K! | const int z{t[0]}; return z;
K! | int z(t[0]); return z;
K! | delete new int(t[0]);
K! | auto p = new int[t[0]]; return p[0];
K! | std::vector<int> v(t[0]); return v.size();
K! | std::vector<int> v{t[0]}; return v[0];
K! | std::string s(t[0], 'x'); return s.size();
K! | std::array<int, 2> v{t[0], t[1]}; return v[0];
K! | return std::max({t[0], t[1]});
K! | return [x = t[0]] { return x; }();
K! | return [](int x) { return x; }(t[0]);
K! | throw t[0];
K! | if constexpr (sizeof(int) == 4) return t[0];
K! | return std::bit_cast<float>(t[0]) > 0;
K! | return reinterpret_cast<float &>(t[0]) > 0;
K! | return *std::launder(t);
K! | return std::as_const(t[0]);
K! | std::swap(t[0], argc); return argc;
K! | return std::exchange(t[0], 3);
K! | t[0] = 3;
K! | t[0]++;
K! | t[0] += 3;
K! | std::memcpy(&argc, t, 4); return argc;
K! | std::fill_n(t, 3, 1);
K! | *t = argc, argc = 3;
K! | int x = 0; x = *t ?: 3; return x;
K! | asm volatile("" : "+r"(t[0]));
K! | return __builtin_expect(t[0], 0);
K! | __builtin_prefetch(t); return __atomic_load_n(t, __ATOMIC_SEQ_CST);
K! | return std::atomic_ref<int>(t[0]).fetch_add(1);
K! | return __sync_fetch_and_add(t, 1);
K! | return ((volatile int *)t)[0];
K! | return *(int *)((char *)t + 4);
K! | return ((int (*)[2])t)[0][1];
K! | fwrite(t, 4, 1, stdout);
K! | write(1, t, 4);
K! | send(1, t, 4, 0);
K! | struct iovec v{t, 4}; writev(1, &v, 1);
K! | qsort(t, 1, 4, [](const void *, const void *) { return 0; });
K! | std::thread([&] { argc = t[0]; }).join(); return argc;
struct R { int *p; bool operator==(const R &o) const { return *p == *o.p; } }; struct P { int x; R r; bool operator==(const P &) const = default; }; || P a{1, {t}}, b{1, {t}}; K! | return a == b;
struct R { int *p; bool operator==(const R &o) const { return *p == *o.p; } }; struct P { int x; R r; bool operator==(const P &) const = default; }; || P a{1, {t}}, b{1, {t}}; K! | return a != b;
struct R { int *p; int operator<=>(const R &o) const { return *p - *o.p; } }; struct P { int x; R r; auto operator<=>(const P &) const = default; }; || P a{1, {t}}, b{1, {t}}; K! | return a < b;
struct R { int *p; bool operator==(const R &o) const { return *p == *o.p; } }; struct P : R { int x; bool operator==(const P &) const = default; }; || P a, b; a.p = b.p = t; K! | return a == b;
struct R { int *p; int operator<=>(const R &o) const { return *p - *o.p; } }; struct P { R r; auto operator<=>(const P &) const = default; }; || std::set<P> s; K! | s.insert(P{{t}}); s.insert(P{{t}}); return 0;
std::optional<int *> get(int *q) { return q; } || K! | return **get(t);
std::optional<int *> get(int *q) { return q; } || auto o = get(t); K! | return *o.value();
std::optional<int *> get(int *q) { return q; } || auto o = get(t); K! | return **o;
struct S { int *p; }; std::optional<S> get(int *q) { return S{q}; } || auto o = get(t); K! | return *o->p;
struct S { int *p; int v() { return *p; } }; std::optional<S> get(int *q) { return S{q}; } || auto o = get(t); K! | return o->v();
struct S { int *p; int v() { return *p; } }; std::optional<S> get(int *q) { return S{q}; } || K! | if (auto o = get(t)) return o->v();
struct S { int *p; int v() { return *p; } }; std::optional<S> get(int *q) { S s{q}; return s; } || K! | if (auto o = get(t)) return (*o).v();
"""


@pytest.mark.parametrize("case", cases(EVALUATED))
def test_whatever_evaluates_an_expression_waits_for_what_it_reads(case: str) -> None:
    assert not moves_without(source_of(case), "Synchronize")
