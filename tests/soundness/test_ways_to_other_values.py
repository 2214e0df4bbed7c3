"""A place that held one buffer holds another: copied, filled or turned round, as bytes, as a number, or in a struct.

The kernel on `other` gets that, though everything that a plain assignment shows says that it gets the first one.
"""

from __future__ import annotations

import pytest

from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_to_memory import cases


def program(case: str, first: str = "") -> str:
    declarations, between, statements = case.partition(" || ")
    return (declarations if between else "") + MAIN % (first + (statements if between else case))


# ---------------------------------------------------------------------------------------------------------------------
# `e` is another buffer

HELD = """
int *x[2] = {e, e}; std::fill(x, x + 2, d); run(x[1], other);
int *x[2] = {e, e}; std::fill_n(x, 2, d); run(x[1], other);
std::vector<int *> x = {e, e}; std::fill(x.begin(), x.end(), d); run(x[1], other);
std::vector<int *> x = {e, e}; std::ranges::fill(x, d); run(x[1], other);
std::vector<int *> x = {e, e}; std::fill_n(x.begin(), 2, d); run(x[1], other);
std::vector<int *> x = {e, e}; std::replace(x.begin(), x.end(), e, d); run(x[1], other);
std::vector<int *> x = {e, e}; std::replace_if(x.begin(), x.end(), [](int *) { return true; }, d); run(x[1], other);
std::vector<int *> x = {e, e}; std::generate(x.begin(), x.end(), [=] { return d; }); run(x[1], other);
std::vector<int *> x = {e, e}; std::transform(x.begin(), x.end(), x.begin(), [=](int *) { return d; }); run(x[1], other);
std::vector<int *> x = {e, e}; std::for_each(x.begin(), x.end(), [=](int *&p) { p = d; }); run(x[1], other);
std::vector<int *> x = {e, e}; x.assign(2, d); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; x.assign(y.begin(), y.end()); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; std::copy(y.begin(), y.end(), x.begin()); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; std::copy_if(y.begin(), y.end(), x.begin(), [](int *) { return true; }); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; std::swap_ranges(y.begin(), y.end(), x.begin()); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; std::ranges::copy(y, x.begin()); run(x[1], other);
std::vector<int *> x = {e, e}, y = {d, d}; x.insert(x.end(), y.begin(), y.end()); run(x[3], other);
std::vector<int *> x = {e, e}; x.insert(x.begin(), d); run(x[0], other);
std::vector<int *> x = {e, e}; x.resize(4, d); run(x[3], other);
std::vector<int *> x = {e, e}; x.emplace(x.begin(), d); run(x[0], other);
std::vector<int *> x = {e, e}; x.front() = d; run(x[0], other);
std::vector<int *> x = {e, e}; *x.begin() = d; run(x[0], other);
std::vector<int *> x = {e, e}; x.erase(x.begin()); x.push_back(d); run(x[1], other);
std::vector<int *> x = {e, d}; x.erase(x.begin()); run(x[0], other);
std::vector<int *> x = {e, d}; x.pop_back(); x.push_back(d); run(x.back(), other);
std::vector<int *> x = {d, e}; std::reverse(x.begin(), x.end()); run(x[1], other);
std::vector<int *> x = {d, e}; std::rotate(x.begin(), x.begin() + 1, x.end()); run(x[1], other);
std::vector<int *> x = {d, e}; std::iter_swap(x.begin(), x.begin() + 1); run(x[1], other);
int *x[2] = {d, e}; std::swap(x[0], x[1]); run(x[1], other);
int *x[2] = {d, e}; std::reverse(x, x + 2); run(x[1], other);
int *x[2] = {d, e}; std::sort(x, x + 2); run(x[1], other);
int *x[2] = {d, e}; qsort(x, 2, 8, [](const void *, const void *) { return 1; }); run(x[1], other);
int *x[2] = {d, e}, *y[2] = {e, e}; std::copy(x, x + 2, y); run(y[0], other);
int *x[2] = {d, e}, *y[2] = {e, e}; memcpy(y, x, sizeof x); run(y[0], other);
int *x[2] = {d, e}, *y[2] = {e, e}; for (int i = 0; i < 2; i++) y[i] = x[i]; run(y[0], other);
int *x[2] = {d, e}, *y[2] = {e, e}; std::swap(x, y); run(y[0], other);
std::array<int *, 2> x{e, e}; x.fill(d); run(x[1], other);
std::array<int *, 2> x{e, e}; std::fill(x.begin(), x.end(), d); run(x[1], other);
std::array<int *, 2> x{e, e}, y{d, d}; x = y; run(x[1], other);
std::array<int *, 2> x{e, e}, y{d, d}; x.swap(y); run(x[1], other);
std::array<int *, 2> x{e, e}, y{d, d}; std::swap(x, y); run(x[1], other);
std::list<int *> x{e, e}; x.push_front(d); run(x.front(), other);
std::list<int *> x{e, e}, y{d}; x.splice(x.begin(), y); run(x.front(), other);
std::list<int *> x{e, e}, y{d}; x.merge(y); run(x.front(), other);
std::map<int, int *> x{{1, e}}, y{{2, d}}; x.merge(y); run(x[2], other);
std::map<int, int *> x{{1, e}}, y{{2, d}}; x.insert(y.begin(), y.end()); run(x[2], other);
std::map<int, int *> x{{1, e}}; x.insert_or_assign(1, d); run(x[1], other);
std::map<int, int *> x{{1, e}}; x.try_emplace(2, d); run(x[2], other);
std::map<int, int *> x{{1, e}}; auto n = x.extract(1); n.mapped() = d; x.insert(std::move(n)); run(x[1], other);
std::map<int, int *> x{{1, e}}; x.begin()->second = d; run(x[1], other);
std::map<int, int *> x{{1, e}}; for (auto &[k, v] : x) v = d; run(x[1], other);
std::map<int, int *> x{{1, e}}; for (auto &kv : x) kv.second = d; run(x[1], other);
std::map<int, int *> x{{1, e}}; auto &v = x[1]; v = d; run(x[1], other);
std::map<int, int *> x{{1, e}}; if (auto it = x.find(1); it != x.end()) it->second = d; run(x.at(1), other);
std::map<int, int *> x{{1, e}}; auto [it, ok] = x.emplace(2, d); run(it->second, other);
std::optional<int *> x = e; x.emplace(d); run(*x, other);
std::optional<int *> x = e; x = d; run(*x, other);
std::optional<int *> x = e; *x = d; run(*x, other);
std::optional<int *> x = e, y = d; x.swap(y); run(*x, other);
std::optional<int *> x = e, y = d; std::swap(x, y); run(x.value(), other);
std::variant<int, int *> x = e; x = d; run(std::get<int *>(x), other);
std::variant<int, int *> x = e; std::get<int *>(x) = d; run(std::get<int *>(x), other);
std::variant<int, int *> x = e; *std::get_if<int *>(&x) = d; run(std::get<int *>(x), other);
std::variant<int, int *> x = e; std::visit([&](auto &v) { if constexpr (std::is_pointer_v<std::decay_t<decltype(v)>>) v = d; }, x); run(std::get<int *>(x), other);
std::any x = e; x = d; run(std::any_cast<int *>(x), other);
std::tuple<int *, int> x{e, 1}; std::get<0>(x) = d; run(std::get<0>(x), other);
std::pair<int *, int *> x{e, d}; std::swap(x.first, x.second); run(x.first, other);
std::atomic<int *> x = e; x.store(d); run(x.load(), other);
std::atomic<int *> x = e; x = d; run(x, other);
std::atomic<int *> x = e; x.exchange(d); run(x, other);
std::atomic<int *> x = e; x.compare_exchange_strong(e, d); run(x, other);
std::atomic<int *> x = e; int *y = x.exchange(d); y = x.exchange(e); run(y, other);
std::atomic<int *> x = e; std::atomic_store(&x, d); run(std::atomic_load(&x), other);
int *x = e; __atomic_store_n(&x, d, 5); run(x, other);
int *x = e; std::exchange(x, d); run(x, other);
int *x = e; int *y = std::exchange(x, d); y = std::exchange(x, e); run(y, other);
int *x = e; std::tie(x, std::ignore) = std::make_pair(d, 1); run(x, other);
int *x = e; auto &&[a, b] = std::tie(x, e); a = d; run(x, other);
int *x = e; std::ref(x).get() = d; run(x, other);
int *x = e; std::reference_wrapper<int *> r = x; r.get() = d; run(x, other);
int *x = e; auto r = std::ref(x); static_cast<int *&>(r) = d; run(x, other);
int *x = e; std::addressof(x)[0] = d; run(x, other);
int *x = e; *std::addressof(x) = d; run(x, other);
int *x = e; std::construct_at(&x, d); run(x, other);
int *x = e; new (&x) int *{d}; run(x, other);
int *x = e; new (&x) int *(d); run(x, other);
int *x = e; ::new ((void *)&x) (int *)(d); run(x, other);
int *x = e; std::span<int *> s(&x, 1); s[0] = d; run(x, other);
int *x = e; std::span s(&x, 1); for (auto &p : s) p = d; run(x, other);
int *x = e; std::uninitialized_fill_n(&x, 1, d); run(x, other);
int *x = e; std::memcpy(&x, std::addressof(d), sizeof d); run(x, other);
int *x = e; memmove(&x, &d, 8); run(x, other);
int *x = e; std::copy_n(&d, 1, &x); run(x, other);
int *x = e; std::copy_n((char *)&d, 8, (char *)&x); run(x, other);
int *x = e; for (int i = 0; i < 8; i++) ((char *)&x)[i] = ((char *)&d)[i]; run(x, other);
int *x = e; char *a = (char *)&x, *b = (char *)&d; for (int i = 0; i < 8; i++) a[i] = b[i]; run(x, other);
int *x = e; char *a = (char *)&x, *b = (char *)&d, *c = b + 8; while (b < c) *a++ = *b++; run(x, other);
int *x = e; *(long *)&x = *(long *)&d; run(x, other);
int *x = e; *(double *)&x = *(double *)&d; run(x, other);
int *x = e; *(int *)&x = *(int *)&d; ((int *)&x)[1] = ((int *)&d)[1]; run(x, other);
int *x = e; ((uint32_t *)&x)[0] = (uint32_t)(uintptr_t)d; ((uint32_t *)&x)[1] = (uintptr_t)d >> 32; run(x, other);
"""
ELSEWHERE = """
void cp(void *to, const void *from, size_t n) { char *a = (char *)to; const char *b = (const char *)from; while (n--) *a++ = *b++; } || int *x = e; cp(&x, &d, 8); run(x, other);
void cp(void *to, const void *from, size_t n) { unsigned char *a = (unsigned char *)to; const unsigned char *b = (const unsigned char *)from; for (size_t i = 0; i < n; i++) a[i] = b[i]; } || int *x = e; cp(&x, &d, 8); run(x, other);
void cp(void *to, const void *from, size_t n) { auto *a = static_cast<char *>(to); auto *b = static_cast<const char *>(from); for (size_t i = 0; i < n; i++) a[i] = b[i]; } || int *x = e; cp(&x, &d, 8); run(x, other);
void cp(void *to, const void *from, size_t n) { auto *a = static_cast<std::byte *>(to); auto *b = static_cast<const std::byte *>(from); for (size_t i = 0; i < n; i++) a[i] = b[i]; } || int *x = e; cp(&x, &d, 8); run(x, other);
void cp(void *to, const void *from, size_t n) { for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((char *)from)[i]; } || int *x = e; cp(&x, &d, 8); run(x, other);
void sw(void *p, void *q, size_t n) { char *a = (char *)p, *b = (char *)q; for (size_t i = 0; i < n; i++) { char t = a[i]; a[i] = b[i]; b[i] = t; } } || int *x = e, *y = d; sw(&x, &y, 8); run(x, other);
struct P { std::vector<int *> v; int *get() { int *p = v.front(); v.erase(v.begin()); return p; } void put(int *p) { v.push_back(p); } }; || P x; x.put(e); x.put(d); x.get(); run(x.get(), other);
struct P { std::deque<int *> v; int *get() { int *p = v.front(); v.pop_front(); return p; } }; || P x{{e, d}}; x.get(); run(x.get(), other);
struct P { std::deque<int *> v; void skip() { v.pop_front(); } }; || P x{{e, d}}; x.skip(); run(x.v[0], other);
struct P { std::vector<int *> v; void skip() { v.erase(v.begin()); } }; || P x; x.v = {e, d}; x.skip(); run(x.v[0], other);
struct P { std::vector<int *> v; void turn() { std::reverse(v.begin(), v.end()); } }; || P x; x.v = {e, d}; x.turn(); run(x.v[0], other);
std::vector<int *> g; void turn() { std::reverse(g.begin(), g.end()); } || g = {e, d}; turn(); run(g[0], other);
std::vector<int *> g; void turn() { std::ranges::reverse(g); } || g = {e, d}; turn(); run(g[0], other);
std::vector<int *> g; void turn() { std::swap(g[0], g[1]); } || g = {e, d}; turn(); run(g[0], other);
std::vector<int *> g; void turn() { std::iter_swap(g.begin(), g.begin() + 1); } || g = {e, d}; turn(); run(g[0], other);
std::vector<int *> g; void turn() { g.erase(g.begin()); } || g = {e, d}; turn(); run(g[0], other);
std::vector<int *> g; void turn() { std::rotate(g.begin(), g.begin() + 1, g.end()); } || g = {e, d}; turn(); run(g[0], other);
int *g[2]; void turn() { std::swap(g[0], g[1]); } || g[0] = e; g[1] = d; turn(); run(g[0], other);
int *g[2]; void turn() { std::reverse(g, g + 2); } || g[0] = e; g[1] = d; turn(); run(g[0], other);
int *g[2]; void turn() { int *t = g[0]; g[0] = g[1]; g[1] = t; } || g[0] = e; g[1] = d; turn(); run(g[0], other);
int *gd; std::vector<int *> g; void keep() { g.push_back(gd); } || g = {e}; gd = d; keep(); run(g.back(), other);
int *gd; std::vector<int *> g; void keep() { g[0] = gd; } || g = {e}; gd = d; keep(); run(g[0], other);
int *gd; std::vector<int *> g; void keep() { std::fill(g.begin(), g.end(), gd); } || g = {e}; gd = d; keep(); run(g[0], other);
int *gd; std::vector<int *> g; void keep() { g.assign(2, gd); } || g = {e}; gd = d; keep(); run(g[0], other);
int *gd; std::map<int, int *> g; void keep() { g[0] = gd; } || g[0] = e; gd = d; keep(); run(g[0], other);
int *gd; std::map<int, int *> g; void keep() { g.insert_or_assign(0, gd); } || g[0] = e; gd = d; keep(); run(g[0], other);
int *gd; std::map<int, int *> g; void keep() { g.begin()->second = gd; } || g[0] = e; gd = d; keep(); run(g[0], other);
int *gd; std::map<int, int *> g; void keep() { for (auto &[k, v] : g) v = gd; } || g[0] = e; gd = d; keep(); run(g[0], other);
int *gd; int *gx; void keep() { gx = gd; } || gx = e; gd = d; keep(); run(gx, other);
int *gd; uintptr_t gx; void keep() { gx = (uintptr_t)gd ^ 1; } || gx = (uintptr_t)e; gd = d; keep(); run((int *)(gx ^ 1), other);
int *gd; uintptr_t gx[2]; void keep() { gx[1] = (uintptr_t)gd ^ 1; } || gx[1] = (uintptr_t)e; gd = d; keep(); run((int *)(gx[1] ^ 1), other);
int *gd; struct G { int *p; } gx; void keep() { gx = G{gd}; } || gx.p = e; gd = d; keep(); run(gx.p, other);
int *gd; struct G { int *p; } gx; void keep() { gx = {gd}; } || gx.p = e; gd = d; keep(); run(gx.p, other);
int *gd; struct G { int *p; } gx; void keep() { gx = {.p = gd}; } || gx.p = e; gd = d; keep(); run(gx.p, other);
int *gd; std::pair<int *, int> gx; void keep() { gx = {gd, 1}; } || gx.first = e; gd = d; keep(); run(gx.first, other);
int *gd; std::optional<int *> gx; void keep() { gx = gd; } || gx = e; gd = d; keep(); run(*gx, other);
int *gd; std::optional<int *> gx; void keep() { gx.emplace(gd); } || gx = e; gd = d; keep(); run(*gx, other);
int *gd, *gx; void keep() { std::swap(gx, gd); } || gx = e; gd = d; keep(); run(gx, other);
int *gd, *gx; void keep() { std::tie(gx, gd) = std::make_pair(gd, gx); } || gx = e; gd = d; keep(); run(gx, other);
int *gd, *gx; void keep() { memcpy(&gx, &gd, sizeof gd); } || gx = e; gd = d; keep(); run(gx, other);
int *gd, *gx; void keep() { gx = std::exchange(gd, nullptr); } || gx = e; gd = d; keep(); run(gx, other);
int *gd; std::atomic<int *> gx; void keep() { gx.store(gd); } || gx = e; gd = d; keep(); run(gx.load(), other);
int *gd; std::atomic<int *> gx; void keep() { gx = gd; } || gx = e; gd = d; keep(); run(gx, other);
int *gd; std::atomic<int *> gx; void keep() { gx.exchange(gd); } || gx = e; gd = d; keep(); run(gx, other);
int *gd; std::unique_ptr<int *> gx; void keep() { *gx = gd; } || gx = std::make_unique<int *>(e); gd = d; keep(); run(*gx, other);
int *gd; std::list<int *> gx; void keep() { gx.push_front(gd); } || gx.push_front(e); gd = d; keep(); run(gx.front(), other);
int *gd; std::list<int *> gx; void keep() { gx.front() = gd; } || gx.push_front(e); gd = d; keep(); run(gx.front(), other);
int *gd; std::stack<int *> gx; void keep() { gx.push(gd); } || gx.push(e); gd = d; keep(); run(gx.top(), other);
int *gd; std::queue<int *> gx; void keep() { gx.pop(); } || gx.push(e); gx.push(d); keep(); run(gx.front(), other);
int *gd; std::set<int *> gx; void keep() { gx.insert(gd); } || gx.insert(e); gd = d; keep(); for (auto p : gx) run(p, other);
"""


@pytest.mark.parametrize("case", cases(HELD) + cases(ELSEWHERE))
def test_what_a_place_has_got_since_is_seen(case: str) -> None:
    check(analyze(program(case, "cudaMalloc(&e, 4); ")))


# ---------------------------------------------------------------------------------------------------------------------
# a kernel gets an address that is disguised: `KD` is its launch

SHORT = {
    "KD": "kd<<<1, 1, 0, other>>>",
    "DOUBLE": "__global__ void kd(double v) { *(int *)__double_as_longlong(v) = 1; }",
    "MEMBER": "__global__ void kd(D v) { *(int *)__double_as_longlong(v.v) = 1; }",
    "BYTES": "__global__ void kd(D v) { **(int **)v.v = 1; }",
    "NUMBER": "__global__ void kd(D v) { *(int *)v.v = 1; }",
    "HALVES": "__global__ void kd(unsigned lo, unsigned hi) { *(int *)(((unsigned long long)hi << 32) | lo) = 1; }",
    "BOTH": "__global__ void kd(uint2 v) { *(int *)(((unsigned long long)v.y << 32) | v.x) = 1; }",
}
DISGUISED = """
__global__ void kd(double v) { *(int *)(long long)v = 1; } || double x; memcpy(&x, &d, 8); KD(x);
DOUBLE || double x = *(double *)&d; KD(x);
DOUBLE || double x = (double)(uintptr_t)d; KD(x);
DOUBLE || double x = std::bit_cast<double>(d); KD(x);
DOUBLE || KD(std::bit_cast<double>(d));
DOUBLE || KD(*(double *)&d);
DOUBLE || KD(*reinterpret_cast<double *>(&d));
DOUBLE || union { double f; int *p; } u; u.p = d; KD(u.f);
struct D { double v; }; MEMBER || D x; memcpy(&x, &d, 8); KD(x);
struct D { double v; }; MEMBER || D x; memcpy(&x.v, &d, 8); KD(x);
struct D { double v; }; MEMBER || D x; x.v = *(double *)&d; KD(x);
struct D { double v; }; MEMBER || D x{*(double *)&d}; KD(x);
struct D { double v; }; MEMBER || KD(D{*(double *)&d});
double gv; DOUBLE void go(cudaStream_t s) { kd<<<1, 1, 0, s>>>(gv); } || memcpy(&gv, &d, 8); go(other);
struct D { char v[8]; }; BYTES || D x; memcpy(&x, &d, 8); KD(x);
struct D { char v[8]; }; BYTES || D x; memcpy(x.v, &d, 8); KD(x);
struct D { char v[8]; }; BYTES || D x; memcpy(&x.v, &d, 8); KD(x);
struct D { char v[8]; }; BYTES || D x; memcpy(&x.v[0], &d, 8); KD(x);
struct D { unsigned char v[8]; }; BYTES || D x; memcpy(x.v, &d, sizeof d); KD(x);
struct D { uint8_t v[8]; int n; }; BYTES || D x; memcpy(x.v, &d, sizeof d); KD(x);
struct D { std::byte v[8]; int n; }; BYTES || D x; memcpy(x.v, &d, sizeof d); KD(x);
struct D { int v[2]; int n; }; BYTES || D x; memcpy(x.v, &d, sizeof d); KD(x);
struct D { int lo, hi; }; __global__ void kd(D v) { **(int **)&v.lo = 1; } || D x; x.lo = (int)(uintptr_t)d; x.hi = (int)((uintptr_t)d >> 32); KD(x);
struct D { float v[2]; int n; }; BYTES || D x; memcpy(x.v, &d, sizeof d); KD(x);
struct D { char v[8]; }; BYTES || D x; *(int **)x.v = d; KD(x);
struct D { char v[8]; }; BYTES || D x; new (x.v) int *(d); KD(x);
struct D { char v[8]; }; BYTES || D x; std::copy_n((char *)&d, 8, x.v); KD(x);
struct D { char v[8]; }; BYTES || D x; for (int i = 0; i < 8; i++) x.v[i] = ((char *)&d)[i]; KD(x);
struct D { char v[8]; }; BYTES void put(void *to, const void *from) { memcpy(to, from, 8); } || D x; put(x.v, &d); KD(x);
struct D { unsigned long long v; }; NUMBER || KD(D{(unsigned long long)d});
struct D { unsigned long long v; }; NUMBER || KD({(unsigned long long)d});
struct D { uintptr_t v; }; NUMBER || KD(D{reinterpret_cast<uintptr_t>(d)});
struct D { uintptr_t v; }; NUMBER D mk(uintptr_t v) { return D{v}; } || KD(mk((uintptr_t)d));
struct D { uintptr_t v; }; NUMBER D mk(int *v) { return {(uintptr_t)v}; } || KD(mk(d));
struct D { uintptr_t v; }; NUMBER || D x; x = D{(uintptr_t)d}; KD(x);
struct D { uintptr_t v; }; NUMBER || D x = {.v = (uintptr_t)d}; KD(x);
struct D { uintptr_t v; D(int *p) : v((uintptr_t)p) {} }; NUMBER || KD(D(d));
struct D { uintptr_t v; D(uintptr_t p) : v(p) {} }; NUMBER || KD(D((uintptr_t)d));
struct D { int n; uintptr_t v; }; NUMBER || KD(D{3, (uintptr_t)d});
struct D { int n; uintptr_t v; }; struct E { D d; }; __global__ void kd(E v) { *(int *)v.d.v = 1; } || KD(E{{3, (uintptr_t)d}});
struct D { uintptr_t v; }; NUMBER || auto x = D{(uintptr_t)d}; KD(x);
struct D { uintptr_t v; }; NUMBER || std::vector<D> x; x.push_back(D{(uintptr_t)d}); KD(x[0]);
struct D { uintptr_t v; }; NUMBER || std::vector<D> x{D{(uintptr_t)d}}; KD(x[0]);
struct D { uintptr_t v; }; NUMBER || auto f = [&](D x) { KD(x); }; f(D{(uintptr_t)d});
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || KD(cuda::std::tuple<D, int>(D{d}, 1));
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; KD(cuda::std::make_tuple(x, 1));
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; auto t = cuda::std::make_tuple(x, 1); KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; cuda::std::tuple<D, int> t(x, 1); KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; cuda::std::tuple<D, int> t{x, 1}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; cuda::std::tuple<D, int> t; cuda::std::get<0>(t) = x; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::tuple<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; cuda::std::tuple t{x, 1}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::pair<D, int> v) { *v.first.p = 1; } || D x{d}; cuda::std::pair<D, int> t{x, 1}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::array<D, 2> v) { *v[0].p = 1; } || D x{d}; cuda::std::array<D, 2> t{x, x}; KD(t);
struct D { int *p; }; __global__ void kd(thrust::tuple<D, int> v) { *thrust::get<0>(v).p = 1; } || D x{d}; thrust::tuple<D, int> t(x, 1); KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::optional<D> v) { *v->p = 1; } || D x{d}; cuda::std::optional<D> t{x}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::variant<D, int> v) { *cuda::std::get<0>(v).p = 1; } || D x{d}; cuda::std::variant<D, int> t{x}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::span<int> v) { v[0] = 1; } || cuda::std::span<int> t{d, 1}; KD(t);
struct D { int *p; }; __global__ void kd(cuda::std::mdspan<int, int> v) { v[0] = 1; } || cuda::std::mdspan<int, int> t{d, 1}; KD(t);
struct D { int *p; }; template <class T> __global__ void kd(T v) { *v.p = 1; } template <class... A> void go(cudaStream_t s, cuda::std::tuple<A...> t) { cuda::std::apply([&](auto... a) { (kd<<<1, 1, 0, s>>>(a), ...); }, t); } || D x{d}; go(other, cuda::std::make_tuple(x));
struct A { int *p[2]; }; void go(int **p, cudaStream_t s) { run(p[0], s); } || A a; a.p[0] = d; go(a.p, other);
struct A { int *p[2]; }; void put(int **p, int *d) { p[0] = d; } || A a; put(a.p, d); run(a.p[0], other);
struct A { int *p[2]; }; void put(int **p, int *d) { p[0] = d; } void all(A *a, int *d) { put(a->p, d); } || A a; all(&a, d); run(a.p[0], other);
struct A { char p[8]; }; || A a; memcpy(&a, &d, 8); memcpy(&e, a.p, 8); run(e, other);
struct A { char p[8]; }; void put(char *to, const void *from) { memcpy(to, from, 8); } || A a; put(a.p, &d); memcpy(&e, &a, 8); run(e, other);
struct A { char p[8]; }; void put(void *to, void *from) { *(int **)to = (int *)from; } || A a; put(a.p, d); memcpy(&e, &a, 8); run(e, other);
struct A { char p[8]; }; void put(void *to, void *from) { *(int **)to = (int *)from; } || A a; put(&a, d); memcpy(&e, &a.p, 8); run(e, other);
struct A { char p[8]; }; void put(void *to, void *from) { *(int **)to = (int *)from; } || A a; put(a.p, d); run(*(int **)a.p, other);
struct A { char p[8]; }; || A a; *(int **)a.p = d; run(*(int **)a.p, other);
struct A { char p[8]; }; || A a; auto q = (int **)a.p; *q = d; run(*(int **)a.p, other);
struct A { char p[8]; }; || A a; auto q = reinterpret_cast<int **>(a.p); q[0] = d; run(*(int **)a.p, other);
struct A { char p[8]; }; struct B { int *q; }; || A a; new (a.p) B{d}; run(reinterpret_cast<B *>(a.p)->q, other);
struct A { char p[8]; }; struct B { int *q; }; || A a; auto b = new (a.p) B{d}; run(reinterpret_cast<B *>(a.p)->q, other);
struct A { alignas(8) char p[8]; }; struct B { int *q; B(int *x) : q(x) {} }; || A a; auto b = new (&a.p) B{d}; run(reinterpret_cast<B *>(&a.p)->q, other);
struct A { char p[8]; }; struct B { int *q; }; || A a; B *b = (B *)a.p; b->q = d; run(((B *)a.p)->q, other);
struct A { std::array<char, 8> p; }; || A a; memcpy(a.p.data(), &d, 8); memcpy(&e, a.p.data(), 8); run(e, other);
std::array<char, 8> p; memcpy(p.data(), &d, 8); memcpy(&e, p.data(), 8); run(e, other);
std::vector<char> p(8); memcpy(p.data(), &d, 8); memcpy(&e, p.data(), 8); run(e, other);
std::vector<char> p(8); memcpy(&p[0], &d, 8); memcpy(&e, &p[0], 8); run(e, other);
std::string p(8, 0); memcpy(&p[0], &d, 8); memcpy(&e, &p[0], 8); run(e, other);
std::string p((char *)&d, 8); memcpy(&e, p.data(), 8); run(e, other);
std::vector<char> p((char *)&d, (char *)&d + 8); memcpy(&e, p.data(), 8); run(e, other);
std::vector<char> p; p.insert(p.end(), (char *)&d, (char *)&d + 8); memcpy(&e, p.data(), 8); run(e, other);
int p[2]; memcpy(p, &d, 8); memcpy(&e, p, 8); run(e, other);
float p[2]; memcpy(p, &d, 8); memcpy(&e, p, 8); run(e, other);
double p; memcpy(&p, &d, 8); memcpy(&e, &p, 8); run(e, other);
double p = 0; *(int **)&p = d; memcpy(&e, &p, 8); run(e, other);
double p = *(double *)&d; e = *(int **)&p; run(e, other);
double p = *(double *)&d; memcpy(&e, &p, 8); run(e, other);
double p[1]; p[0] = *(double *)&d; memcpy(&e, &p, 8); run(e, other);
double p = std::bit_cast<double>(d); e = std::bit_cast<int *>(p); run(e, other);
double p = std::bit_cast<double>(d), q = p; e = std::bit_cast<int *>(q); run(e, other);
std::vector<double> p; p.push_back(std::bit_cast<double>(d)); e = std::bit_cast<int *>(p[0]); run(e, other);
std::vector<double> p; p.push_back(*(double *)&d); e = *(int **)&p[0]; run(e, other);
double get(int *p) { return *(double *)&p; } || double p = get(d); e = *(int **)&p; run(e, other);
double get(int *p) { double r; memcpy(&r, &p, 8); return r; } int *un(double x) { int *r; memcpy(&r, &x, 8); return r; } || e = un(get(d)); run(e, other);
union U { double f; int *p; }; double get(int *p) { U u; u.p = p; return u.f; } int *un(double x) { U u; u.f = x; return u.p; } || e = un(get(d)); run(e, other);
union U { double f; int *p; }; || U u; u.p = d; double x = u.f; U v; v.f = x; run(v.p, other);
union U { double f; int *p; }; || U u{.p = d}; double x = u.f; U v{x}; run(v.p, other);
union U { double f; int *p; }; double gx; void keep(int *p) { U u; u.p = p; gx = u.f; } int *un() { U u; u.f = gx; return u.p; } || keep(d); run(un(), other);
double gx; void keep(int *p) { memcpy(&gx, &p, 8); } int *un() { int *r; memcpy(&r, &gx, 8); return r; } || keep(d); run(un(), other);
double gx; void keep(int *p) { gx = *(double *)&p; } int *un() { return *(int **)&gx; } || keep(d); run(un(), other);
std::complex<float> c; memcpy(&c, &d, 8); memcpy(&e, &c, 8); run(e, other);
float2 c = *(float2 *)&d; e = *(int **)&c; run(e, other);
int2 c = *(int2 *)&d; e = *(int **)&c; run(e, other);
uint2 c; memcpy(&c, &d, 8); kernel2<<<1, 1, 0, other>>>(c);
BOTH || uint2 c; memcpy(&c, &d, 8); KD(c);
BOTH || uint2 c = *(uint2 *)&d; KD(c);
BOTH || uint2 c = *reinterpret_cast<uint2 *>(&d); KD(c);
BOTH || uint2 c = make_uint2((unsigned)(uintptr_t)d, (unsigned)((uintptr_t)d >> 32)); KD(c);
BOTH || uint2 c; c.x = (unsigned)(uintptr_t)d; c.y = (unsigned)((uintptr_t)d >> 32); KD(c);
HALVES || unsigned lo = (unsigned)(uintptr_t)d, hi = (unsigned)((uintptr_t)d >> 32); KD(lo, hi);
HALVES || KD((unsigned)(uintptr_t)d, (unsigned)((uintptr_t)d >> 32));
HALVES || uintptr_t a = (uintptr_t)d; int lo = a & 0xffffffff, hi = a >> 32; KD(lo, hi);
__global__ void kd(double2 v) { *(int *)__double_as_longlong(v.x) = 1; } || double2 c = make_double2(*(double *)&d, 0); KD(c);
__global__ void kd(double2 v) { *(int *)__double_as_longlong(v.x) = 1; } || double2 c; c.x = *(double *)&d; KD(c);
__global__ void kd(float2 v) { *(int *)__double_as_longlong(*(double *)&v) = 1; } || float2 c; memcpy(&c, &d, 8); KD(c);
__global__ void kd(longlong2 v) { *(int *)v.x = 1; } || longlong2 c = make_longlong2((long long)d, 0); KD(c);
__global__ void kd(longlong2 v) { *(int *)v.x = 1; } || longlong2 c{(long long)d, 0}; KD(c);
__global__ void kd(ulonglong2 v) { *(int *)v.x = 1; } || ulonglong2 c; c.x = (unsigned long long)d; KD(c);
"""


def spelled(case: str) -> str:
    for word, text in SHORT.items():
        case = case.replace(word, text)
    return case


@pytest.mark.parametrize("case", cases(DISGUISED))
def test_an_address_in_disguise_is_one(case: str) -> None:
    check(analyze(program(spelled(case))))


# ---------------------------------------------------------------------------------------------------------------------
# a kernel gets a struct by value that holds the address, `@` when it is made, out of something that holds the struct

STRUCTS = {
    "D{(uintptr_t)d}": "struct D { uintptr_t v; }; NUMBER",
    "D(d)": "struct D { int *v; D() : v(0) {} D(int *p) : v(p) {} }; __global__ void kd(D v) { *v.v = 1; }",
}
HOLDING = """
std::vector<D> x{@}; KD(x[0]);
std::vector<D> x = {@}; KD(x[0]);
std::vector<D> x(1, @); KD(x[0]);
std::vector<D> x; x.push_back(@); KD(x[0]);
std::vector<D> x; x.emplace_back(@); KD(x[0]);
std::vector<D> x; x.push_back(@); KD(x.back());
std::vector<D> x{@}; KD(x.front());
std::vector<D> x{@}; for (auto &y : x) { KD(y); }
std::vector<D> x{@}; for (auto y : x) { KD(y); }
std::vector<D> x{@}; KD(*x.begin());
std::vector<D> x{@}; KD(x.at(0));
std::vector<D> x{@}; KD(x.data()[0]);
std::vector<D> x{@}; auto y = x; KD(y[0]);
std::vector<D> x{@}; auto y = std::move(x); KD(y[0]);
std::array<D, 1> x{@}; KD(x[0]);
std::array<D, 1> x = {@}; KD(x[0]);
std::array<D, 1> x = {{@}}; KD(x[0]);
D x[1] = {@}; KD(x[0]);
D x[] = {@}; for (auto &y : x) { KD(y); }
std::list<D> x{@}; KD(x.front());
std::list<D> x{@}; for (auto &y : x) { KD(y); }
std::deque<D> x{@}; KD(x[0]);
std::map<int, D> x{{1, @}}; KD(x[1]);
std::map<int, D> x; x.emplace(1, @); KD(x.at(1));
std::map<int, D> x; x[1] = @; KD(x[1]);
std::map<int, D> x; x.insert({1, @}); KD(x.find(1)->second);
std::map<int, D> x; x[1] = @; for (auto &[k, y] : x) { KD(y); }
std::map<int, D> x{{1, @}}; for (auto &y : x) { KD(y.second); }
std::pair<int, D> x{1, @}; KD(x.second);
std::pair<int, D> x(1, @); KD(x.second);
auto x = std::make_pair(1, @); KD(x.second);
std::tuple<int, D> x{1, @}; KD(std::get<1>(x));
std::tuple<int, D> x(1, @); KD(std::get<1>(x));
auto [n, y] = std::make_pair(1, @); KD(y);
std::optional<D> x{@}; KD(*x);
std::optional<D> x = @; KD(x.value());
std::optional<D> x; x.emplace(@); KD(x.value());
std::variant<int, D> x{@}; KD(std::get<D>(x));
std::variant<int, D> x = @; KD(std::get<1>(x));
std::any x = @; KD(std::any_cast<D>(x));
auto x = std::make_unique<D>(@); KD(*x);
auto x = std::make_shared<D>(@); KD(*x);
D *x = new D(@); KD(*x);
D *x = new D[1]{@}; KD(x[0]);
D *x = new D[1]; x[0] = @; KD(x[0]);
auto f = [y = @](cudaStream_t s) { kd<<<1, 1, 0, s>>>(y); }; f(other);
auto y = @; auto f = [y](cudaStream_t s) { kd<<<1, 1, 0, s>>>(y); }; f(other);
D y = @; std::function<void()> f = [=] { KD(y); }; f();
std::initializer_list<D> x{@}; KD(*x.begin());
for (auto &y : {@}) { KD(y); }
for (D y : {@}) { KD(y); }
struct E { D d; int n; }; E x{@, 1}; KD(x.d);
struct E { D d; int n; }; E x = {@, 1}; std::vector<E> z{x}; KD(z[0].d);
struct E { D d; int n; }; std::vector<E> z{{@, 1}}; KD(z[0].d);
struct E { D d[2]; }; E x{{@, @}}; KD(x.d[1]);
D x = @; D y = x; KD(y);
D x = @, *y = &x; KD(*y);
const D &x = @; KD(x);
D &&x = @; KD(x);
auto &&x = @; KD(x);
static D x = @; KD(x);
KD(@);
D a = @; D b(a); KD(b);
D a = @; D b{a}; KD(b);
D a = @; D b{std::move(a)}; KD(b);
std::vector<std::vector<D>> x{{@}}; KD(x[0][0]);
std::vector<std::vector<D>> x; x.push_back({@}); KD(x[0][0]);
std::unordered_map<std::string, std::vector<D>> x; x["a"].push_back(@); KD(x["a"][0]);
std::stack<D> x; x.push(@); KD(x.top());
std::queue<D> x; x.push(@); KD(x.front());
std::vector<D> x; x.resize(1, @); KD(x[0]);
std::vector<D> x; x.assign(1, @); KD(x[0]);
std::vector<D> x; x.insert(x.begin(), @); KD(x[0]);
std::vector<D> x(1); x[0] = @; KD(x[0]);
std::vector<D> x(1); x.at(0) = @; KD(x[0]);
std::vector<D> x(1); x.front() = @; KD(x[0]);
std::vector<D> x(1); *x.begin() = @; KD(x[0]);
std::vector<D> x(1); std::fill(x.begin(), x.end(), @); KD(x[0]);
std::vector<D> x(1); std::generate(x.begin(), x.end(), [&] { return @; }); KD(x[0]);
std::vector<D> x; std::generate_n(std::back_inserter(x), 1, [&] { return @; }); KD(x[0]);
std::vector<D> x; std::fill_n(std::back_inserter(x), 1, @); KD(x[0]);
D x[1]; std::fill_n(x, 1, @); KD(x[0]);
D x; std::tie(x) = std::make_tuple(@); KD(x);
D x; std::exchange(x, @); KD(x);
D x, y = @; std::swap(x, y); KD(x);
cuda::std::tuple<D, int> x(@, 1); KD(cuda::std::get<0>(x));
cuda::std::array<D, 1> x{@}; KD(x[0]);
thrust::host_vector<D> x(1, @); KD(x[0]);
thrust::pair<D, int> x(@, 1); KD(x.first);
D a = @; cuda::std::tuple<D, int> x(a, 1); KD(cuda::std::get<0>(x));
D a = @; std::tuple<D, int> x(a, 1); KD(std::get<0>(x));
D a = @; thrust::tuple<D, int> x(a, 1); KD(thrust::get<0>(x));
D a = @; std::pair<D, int> x(a, 1); KD(x.first);
D a = @; std::vector<D> x(3, a); KD(x[2]);
D a = @; std::optional<D> x(a); KD(*x);
D a = @; std::span<D> x(&a, 1); KD(x[0]);
"""


@pytest.mark.parametrize("made", STRUCTS)
@pytest.mark.parametrize("case", cases(HOLDING))
def test_a_struct_that_something_holds_has_what_it_was_made_of(made: str, case: str) -> None:
    check(analyze(program(spelled(f"{STRUCTS[made]} || {case.replace('@', made)}"))))


# ---------------------------------------------------------------------------------------------------------------------
# an object of the library at namespace scope: what it gets, and the use

SCOPES = {
    "at namespace scope": "%s || %s %s",
    "static in a function": "static %s %s %s",
    "set by a function": "%s int *sd; cudaStream_t so;"
    " void put() { int *d = sd; cudaStream_t other = so; %s } || sd = d; so = other; put(); %s",
}
OBJECTS = """
std::vector<int *> g; || g.push_back(d); | run(g.front(), other);
std::list<int *> g; || g.push_back(d); | run(g.front(), other);
std::deque<int *> g; || g.push_back(d); | run(g.front(), other);
std::stack<int *> g; || g.push(d); | run(g.top(), other);
std::queue<int *> g; || g.push(d); | run(g.front(), other);
std::priority_queue<int *> g; || g.push(d); | run(g.top(), other);
std::map<int, int *> g; || g[0] = d; | run(g[0], other);
std::unordered_map<int, int *> g; || g.emplace(0, d); | run(g.at(0), other);
std::map<int, int *> g; || g.emplace(0, d); | run(g.find(0)->second, other);
std::set<int *> g; || g.insert(d); | run(*g.begin(), other);
std::unordered_set<int *> g; || g.insert(d); | for (auto p : g) run(p, other);
std::forward_list<int *> g; || g.push_front(d); | run(g.front(), other);
std::optional<int *> g; || g = d; | run(*g, other);
std::optional<int *> g; || g = d; | run(g.value(), other);
std::variant<int, int *> g; || g = d; | run(std::get<1>(g), other);
std::any g; || g = d; | run(std::any_cast<int *>(g), other);
std::tuple<int, int *> g; || std::get<1>(g) = d; | run(std::get<1>(g), other);
std::pair<int, int *> g; || g.second = d; | run(g.second, other);
std::array<int *, 2> g; || g[1] = d; | run(g[1], other);
std::array<int *, 2> g; || g.fill(d); | run(g.front(), other);
std::atomic<int *> g; || g = d; | run(g, other);
std::span<int> g; || g = std::span<int>(d, 1); | run(g.data(), other);
std::unique_ptr<int *> g; || g.reset(new int *(d)); | run(*g, other);
std::shared_ptr<int *> g; || g = std::make_shared<int *>(d); | run(*g, other);
std::valarray<int *> g; || g.resize(1, d); | run(g[0], other);
std::vector<std::vector<int *>> g; || g.push_back({d}); | run(g[0][0], other);
std::vector<std::pair<int *, int>> g; || g.emplace_back(d, 1); | run(g[0].first, other);
std::function<int *()> g; || g = [d] { return d; }; | run(g(), other);
std::list<std::pair<int *, int>> g; || g.emplace_back(d, 1); | run(g.front().first, other);
std::queue<std::pair<int *, cudaStream_t>> g; || g.push({d, other}); | run(g.front().first, g.front().second);
std::queue<cudaStream_t> g; || g.push(other); | run(d, g.front());
std::stack<cudaStream_t> g; || g.push(other); | run(d, g.top());
std::map<int, cudaStream_t> g; || g[0] = other; | run(d, g[0]);
std::list<cudaStream_t> g; || g.push_back(other); | run(d, g.front());
std::list<cudaStream_t> g; || g.push_back(other); | for (auto s : g) run(d, s);
std::set<cudaStream_t> g; || g.insert(other); | run(d, *g.begin());
std::optional<cudaStream_t> g; || g = other; | run(d, *g);
std::unordered_map<std::string, cudaStream_t> g; || g["a"] = other; | run(d, g["a"]);
std::vector<cudaStream_t> g; || g.push_back(other); | run(d, g.back());
std::array<cudaStream_t, 2> g; || g[0] = other; | run(d, g[0]);
std::array<cudaStream_t, 2> g; || g.fill(other); | run(d, g[1]);
std::deque<cudaStream_t> g; || g.push_front(other); | run(d, g[0]);
std::pair<int, cudaStream_t> g; || g.second = other; | run(d, g.second);
std::tuple<int, cudaStream_t> g; || g = std::make_tuple(1, other); | run(d, std::get<1>(g));
std::unique_ptr<cudaStream_t> g; || g = std::make_unique<cudaStream_t>(other); | run(d, *g);
cudaStream_t g; || g = other; | run(d, g);
std::vector<int *> * g; || g = new std::vector<int *>{d}; | run((*g)[0], other);
std::multimap<int, int *> g; || g.insert({0, d}); | run(g.begin()->second, other);
"""


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("case", cases(OBJECTS))
def test_an_object_of_the_library_that_is_there_from_the_start(scope: str, case: str) -> None:
    declared, _, rest = case.partition(" || ")
    check(analyze(program(SCOPES[scope] % (declared, *rest.split(" | ")))))


# ---------------------------------------------------------------------------------------------------------------------
# a kernel finds the address in memory

IN_MEMORY = """
__device__ int *gp; __global__ void kg() { *gp = 1; } || cudaMemcpyToSymbol(gp, &d, sizeof d); kg<<<1, 1, 0, other>>>();
__device__ int *gp; __global__ void kg() { *gp = 1; } || cudaMemcpyToSymbolAsync(gp, &d, sizeof d, 0, cudaMemcpyHostToDevice, other); kg<<<1, 1, 0, other>>>();
__constant__ int *gp; __global__ void kg() { *gp = 1; } || void *a; cudaGetSymbolAddress(&a, gp); cudaMemcpy(a, &d, 8, cudaMemcpyHostToDevice); kg<<<1, 1, 0, other>>>();
__managed__ int *gp; __global__ void kg() { *gp = 1; } || gp = d; kg<<<1, 1, 0, other>>>();
__managed__ int *gp[2]; __global__ void kg() { *gp[1] = 1; } || gp[1] = d; kg<<<1, 1, 0, other>>>();
struct P { int *p; }; __constant__ P gp; __global__ void kg() { *gp.p = 1; } || P h{d}; cudaMemcpyToSymbol(gp, &h, sizeof h); kg<<<1, 1, 0, other>>>();
struct P { int *p; }; __constant__ P gp[2]; __global__ void kg() { *gp[1].p = 1; } || P h[2]; h[1].p = d; cudaMemcpyToSymbol(gp, h, sizeof h); kg<<<1, 1, 0, other>>>();
struct P { int *p; }; __global__ void kg(P *p) { *p->p = 1; } || P *m; cudaMallocManaged(&m, 8); m->p = d; kg<<<1, 1, 0, other>>>(m);
__global__ void kg(int **p) { *p[0] = 1; } || int **m; cudaMallocHost(&m, 8); m[0] = d; kg<<<1, 1, 0, other>>>(m);
__global__ void kg(int **p) { *p[0] = 1; } || int *m[1] = {d}, **q; cudaMalloc(&q, 8); cudaMemcpy(q, m, 8, cudaMemcpyHostToDevice); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || std::vector<int *> m{d}; int **q; cudaMalloc(&q, 8); cudaMemcpy(q, m.data(), 8, cudaMemcpyHostToDevice); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || std::vector<int *> m{d}; thrust::device_vector<int *> q = m; kg<<<1, 1, 0, other>>>(thrust::raw_pointer_cast(q.data()));
__global__ void kg(int **p) { *p[0] = 1; } || thrust::device_vector<int *> q; q.push_back(d); kg<<<1, 1, 0, other>>>(thrust::raw_pointer_cast(q.data()));
__global__ void kg(int **p) { *p[0] = 1; } || thrust::device_vector<int *> q(1); q[0] = d; kg<<<1, 1, 0, other>>>(thrust::raw_pointer_cast(&q[0]));
__global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); cudaMemcpy2D(q, 8, &d, 8, 8, 1, cudaMemcpyHostToDevice); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); cuMemcpyHtoD((CUdeviceptr)q, &d, 8); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); cudaMemcpyAsync(q, &d, 8, cudaMemcpyDefault, 0); cudaDeviceSynchronize(); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); cublasSetVector(1, 8, &d, 1, q, 1); kg<<<1, 1, 0, other>>>(q);
__global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); thrust::copy(&d, &d + 1, thrust::device_pointer_cast(q)); kg<<<1, 1, 0, other>>>(q);
__global__ void ks(int **q, int *p) { q[0] = p; } __global__ void kg(int **p) { *p[0] = 1; } || int **q; cudaMalloc(&q, 8); ks<<<1, 1>>>(q, d); cudaDeviceSynchronize(); kg<<<1, 1, 0, other>>>(q);
"""


@pytest.mark.parametrize("case", cases(IN_MEMORY))
def test_an_address_that_is_in_memory_is_followed(case: str) -> None:
    check(analyze(program(case)))
