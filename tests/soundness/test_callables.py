"""Functions that are values: pointers, lambdas, function objects, parameters of templates; and the elements that
algorithms give them. One program a line (`test_special_members`).
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_special_members import source_of
from tests.soundness.test_ways_to_memory import cases

CALLED = r"""
typedef int *P; cudaStream_t gs; void go(P p) { run(p, gs); } || S! void (*h)(P) = go; h(d);
P! || S! void (*h)(P) = go; h(d);
P! || S! void (*h)(P) = &go; h(d);
P! || S! void (*h)(P); h = go; h(d);
P! || S! void (*h)(P){go}; h(d);
P! || S! void (&h)(P) = go; h(d);
using P = int *; cudaStream_t gs; int go(P p) { run(p, gs); return 1; } || S! int (*h)(P) = go; h(d);
using P = int *; cudaStream_t gs; P go(P p) { run(p, gs); return p; } || S! P (*h)(P) = go; h(d);
P! || S! void (*h[2])(P) = {go, go}; h[1](d);
using P = int *; cudaStream_t gs; void go(P p, int) { run(p, gs); } || S! void (*h)(P, int) = go; h(d, 1);
P! void (*h)(P) = go; || S! h(d);
P! struct S { void (*h)(P); }; || S! S s; s.h = go; s.h(d);
P! struct S { void (*h)(P); }; || S! S s{go}; s.h(d);
P! void ap(void (*h)(P), P p) { h(p); } || S! ap(go, d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; || S! void (S::*h)(P) = &S::go; S s; (s.*h)(d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; || S! auto h = &S::go; S s; (s.*h)(d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; || S! auto h = &S::go; S *s = new S; (s->*h)(d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; || S! S s; std::invoke(&S::go, s, d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; || S! S s; auto m = std::mem_fn(&S::go); m(s, d);
P! || S! std::invoke(go, d);
P! || S! std::apply(go, std::make_tuple(d));
P! || S! std::map<int, void (*)(P)> m{{1, go}}; m[1](d);
P! || S! std::map<int, std::function<void(P)>> m; m[1] = go; m[1](d);
P! || S! std::vector<std::function<void()>> m; m.push_back([&] { go(d); }); for (auto &f : m) f();
P! || S! std::vector<std::function<void()>> m; m.emplace_back(std::bind(go, d)); m.back()();
P! || S! std::queue<std::function<void()>> q; q.push([&] { go(d); }); q.front()();
P! || S! std::queue<std::function<void()>> q; q.push([&] { go(d); }); auto f = std::move(q.front()); f();
P! || S! std::optional<std::function<void()>> q; q = [&] { go(d); }; (*q)();
P! || S! std::unique_ptr<std::function<void()>> q(new std::function<void()>([&] { go(d); })); (*q)();
P! || S! auto f = [](auto g, P p) { g(p); }; f(go, d);
P! || S! auto f = [](P p) { return [p] { go(p); }; }; f(d)();
P! || S! auto f = [](P p) { return [p] { go(p); }; }; auto g = f(d); g();
P! auto mk(P p) { return [p] { go(p); }; } || S! auto g = mk(d); g();
P! auto mk(P p) { return [p] { go(p); }; } || S! mk(d)();
P! std::function<void()> mk(P p) { return [=] { go(p); }; } || S! std::function<void()> g = mk(d); g();
P! template <class F> struct D { F f; ~D() { f(); } }; template <class F> D(F) -> D<F>; || S! { D x{[&] { go(d); }}; }
P! template <class F> struct D { F f; ~D() { f(); } }; template <class F> D<F> defer(F f) { return {f}; } || S! { auto x = defer([&] { go(d); }); }
P! struct D { std::function<void()> f; ~D() { f(); } }; || S! { D x{[&] { go(d); }}; }
P! struct D { std::function<void()> f; ~D() { f(); } }; || S! { D x; x.f = [&] { go(d); }; }
P! struct V { void operator()(int) {} void operator()(P p) { go(p); } }; || S! std::variant<int, P> v = d; std::visit(V{}, v);
P! template <class... T> struct O : T... { using T::operator()...; }; template <class... T> O(T...) -> O<T...>; || S! std::variant<int, P> v = d; std::visit(O{[](int) {}, [](P p) { go(p); }}, v);
P! || S! std::variant<int, P> v = d; std::visit([](auto x) { if constexpr (std::is_same_v<decltype(x), P>) go(x); }, v);
P! || S! std::any v = d; go(std::any_cast<P>(v));
P! || S! std::thread t(go, d); t.join();
P! || S! std::thread t{go, d}; t.join();
P! || S! std::jthread t(go, d);
P! || S! std::async(go, d).get();
P! || S! auto f = std::async(std::launch::deferred, go, d); f.wait();
P! || S! std::vector<std::thread> ts; ts.emplace_back(go, d); for (auto &t : ts) t.join();
P! || S! std::once_flag o; std::call_once(o, go, d);
P! struct S { P p; auto operator<=>(const S &) const = default; bool operator==(const S &o) const { go(p); return true; } }; || S! S a{d}, b{d}; if (a != b) e = 0;
P! template <class F> void each(F &&f) { std::forward<F>(f)(); } || S! each([&] { go(d); });
P! template <class F, class... A> void call(F &&f, A &&...a) { std::invoke(std::forward<F>(f), std::forward<A>(a)...); } || S! call(go, d);
P! template <auto F> void call(P p) { F(p); } || S! call<go>(d);
P! template <void (*F)(P)> struct C { void operator()(P p) { F(p); } }; || S! C<go>{}(d);
using P = int *; cudaStream_t gs; struct S { static void go(P p) { run(p, gs); } }; template <class T> void call(P p) { T::go(p); } || S! call<S>(d);
using P = int *; cudaStream_t gs; struct S { void operator()(P p) { run(p, gs); } }; template <class T> void call(P p) { T()(p); } || S! call<S>(d);
using P = int *; cudaStream_t gs; struct S { void operator()(P p) { run(p, gs); } }; template <class T> void call(P p) { T t; t(p); } || S! call<S>(d);
using P = int *; cudaStream_t gs; struct S { void go(P p) { run(p, gs); } }; template <class T> void call(P p) { T{}.go(p); } || S! call<S>(d);
using P = int *; cudaStream_t gs; template <int N> struct S { static void go(P p) { S<N - 1>::go(p); } }; template <> struct S<0> { static void go(P p) { run(p, gs); } }; || S! S<3>::go(d);
using P = int *; cudaStream_t gs; template <class T> void go(T p) {} template <> void go<P>(P p) { run(p, gs); } || S! go(d);
using P = int *; cudaStream_t gs; template <class T> struct S { static void go(T p) {} }; template <> struct S<P> { static void go(P p) { run(p, gs); } }; || S! S<P>::go(d);
using P = int *; cudaStream_t gs; template <class T> void go(T p) {} void go(P p) { run(p, gs); } || S! go(d);
using P = int *; cudaStream_t gs; void go(...) {} void go(P p) { run(p, gs); } || S! go(d);
P! void go(const float *) {} || S! go(d);
using P = int *; cudaStream_t gs; template <class T> requires std::is_pointer_v<T> void go(T p) { run(p, gs); } template <class T> void go(T p) {} || S! go(d);
using P = int *; cudaStream_t gs; template <class T> auto go(T p) -> std::enable_if_t<std::is_pointer_v<T>> { run(p, gs); } template <class T> auto go(T p) -> std::enable_if_t<!std::is_pointer_v<T>> {} || S! go(d);
template <class F> void each(F &&f) { f(); } || each([&] { run(d, other); });
template <class F> void each(F &&f) { std::forward<F>(f)(); } || each([&] { run(d, other); });
template <class F> void each(const F &f) { f(); } || each([&] { run(d, other); });
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F> void each(F &&f, int *p) { f(p); } || S! each(go, d);
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F> void each(F &&f, int *p) { std::invoke(f, p); } || S! each(go, d);
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F> void each(F f, int *p) { std::invoke(f, p); } || S! each(go, d);
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F, class... A> void each(F &&f, A &&...a) { f(a...); } || S! each(go, d);
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F, class... A> void each(F &&f, A &&...a) { f(std::forward<A>(a)...); } || S! each(go, d);
cudaStream_t gs; void go(int *p) { run(p, gs); } template <class F, class... A> void each(F &&f, A &&...a) { std::invoke(std::forward<F>(f), std::forward<A>(a)...); } || S! each(go, d);
cudaStream_t gs; int *gp; void go() { run(gp, gs); } template <class F> void each(F &&f) { f(); } || S! gp = d; each(go);
cudaStream_t gs; int *gp; void go() { run(gp, gs); } template <class F> void each(F &&f) { std::forward<F>(f)(); } || S! gp = d; each(go);
cudaStream_t gs; int *gp; void go() { run(gp, gs); } template <class F> void each(F &&f) { std::invoke(f); } || S! gp = d; each(go);
"""

# what algorithms, containers and smart pointers call
HANDED_OVER = r"""
std::vector<int> v(3); for (auto p : v | std::views::transform([&](int) { return d; })) run(p, other);
std::vector<int> v(3); auto w = v | std::views::transform([&](int) { run(d, other); return 1; }); cudaDeviceSynchronize(); for (int i : w) {}
std::vector<int> v(3); auto w = std::views::transform(v, [&](int) { run(d, other); return 1; }); cudaDeviceSynchronize(); for (int i : w) {}
std::vector<int *> v{d}; for (auto p : std::views::take(v, 1)) run(p, other);
std::vector<int *> v{d}; for (auto p : v | std::views::take(1)) run(p, other);
std::vector<int *> v{d}; auto w = v | std::views::reverse; for (auto p : w) run(p, other);
std::vector<int *> v{d}; std::vector<int *> w; std::ranges::copy(v, std::back_inserter(w)); run(w[0], other);
std::vector<int *> v{d}, w; std::copy_if(v.begin(), v.end(), std::back_inserter(w), [](int *p) { return p; }); run(w[0], other);
std::vector<int *> v{d}, w; std::transform(v.begin(), v.end(), std::back_inserter(w), [](int *p) { return p; }); run(w[0], other);
std::vector<int *> v{d}; std::sort(v.begin(), v.end(), [&](int *a, int *b) { run(a, other); return a < b; });
std::vector<int *> v{d}; v.erase(std::remove_if(v.begin(), v.end(), [&](int *a) { run(a, other); return false; }), v.end());
std::vector<int *> v{d}; std::erase_if(v, [&](int *a) { run(a, other); return false; });
std::map<int, int *> v{{1, d}}; std::erase_if(v, [&](auto &kv) { run(kv.second, other); return false; });
std::vector<std::pair<int *, int>> v{{d, 1}}; std::for_each(v.begin(), v.end(), [&](auto &x) { run(x.first, other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; std::for_each(v.begin(), v.end(), [&](S &x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S *> v{new S{d}}; std::for_each(v.begin(), v.end(), [&](S *x) { x->go(other); });
struct S { int *p; }; || std::map<int, S> v; v[1].p = d; std::for_each(v.begin(), v.end(), [&](auto &kv) { run(kv.second.p, other); });
struct S { int *p; }; || S v[2] = {{d}, {e}}; std::for_each(v, v + 2, [&](S &x) { if (x.p) run(x.p, other); });
struct S { int *p; }; || std::array<S, 1> v{{{d}}}; std::for_each(v.begin(), v.end(), [&](S &x) { run(x.p, other); });
struct S { int *p; }; || std::array<S, 1> v{{{d}}}; std::for_each_n(v.begin(), 1, [&](S &x) { run(x.p, other); });
std::tuple<int *, int> t{d, 1}; std::apply([&](int *p, int) { run(p, other); }, t);
std::optional<int *> o = d; o.and_then([&](int *p) { run(p, other); return std::optional<int>(1); });
std::optional<int *> o = d; o.transform([&](int *p) { run(p, other); return 1; });
std::variant<int *, int> o = d; std::visit([&](auto p) { if constexpr (std::is_pointer_v<decltype(p)>) run(p, other); }, o);
int *a[1] = {d}; qsort(a, 1, sizeof *a, [](const void *x, const void *) { return *(int **)x != nullptr; }); run(a[0], other);
std::call_once(*new std::once_flag, [&] { run(d, other); });
std::invoke([&](int *p) { run(p, other); }, d);
std::bind([&](int *p) { run(p, other); }, std::placeholders::_1)(d);
std::bind_front([&](int *p, int) { run(p, other); }, d)(1);
auto f = std::bind(&run, std::placeholders::_1, other); f(d);
auto f = std::bind_front(run, d); f(other);
auto f = std::not_fn([&](int *p) { run(p, other); return true; }); f(d);
std::function<void(int *)> f; f = [&](int *p) { run(p, other); }; std::function<void(int *)> g = f; g(d);
std::function<void(int *)> f = [&](int *p) { run(p, other); }; auto *g = f.target<void (*)(int *)>(); f(d);
std::function<void(int *)> f[2] = {[](int *) {}, [&](int *p) { run(p, other); }}; f[1](d);
std::array<std::function<void(int *)>, 2> f = {[](int *) {}, [&](int *p) { run(p, other); }}; f[1](d);
std::pair<std::function<void(int *)>, int> f{[&](int *p) { run(p, other); }, 1}; f.first(d);
std::tuple<std::function<void(int *)>> f{[&](int *p) { run(p, other); }}; std::get<0>(f)(d);
auto f = [&](int *p) { run(p, other); }; auto *g = &f; (*g)(d);
auto f = [&](int *p) { run(p, other); }; auto &g = f; g(d);
auto f = [&](int *p) { run(p, other); }; decltype(f) g = f; g(d);
auto f = [&](int *p) { run(p, other); }; std::reference_wrapper g(f); g(d);
auto f = [&](int *p) { run(p, other); }; struct { decltype(f) h; } g{f}; g.h(d);
auto f = +[](int *p) { k<<<1, 1>>>(p); }; f(d); run(d, other);
cudaStream_t gs; || S! auto f = +[](int *p) { run(p, gs); }; f(d);
cudaStream_t gs; || S! void (*f)(int *) = [](int *p) { run(p, gs); }; f(d);
cudaStream_t gs; struct S { void (*f)(int *); }; || S! S s{[](int *p) { run(p, gs); }}; s.f(d);
cudaStream_t gs; struct S { static void go(int *p) { run(p, gs); } }; || S! auto f = &S::go; f(d);
cudaStream_t gs; struct S { static constexpr auto go = [](int *p) { run(p, gs); }; }; || S! S::go(d);
cudaStream_t gs; auto go = [](int *p) { run(p, gs); }; || S! go(d);
cudaStream_t gs; inline constexpr auto go = [](int *p) { run(p, gs); }; || S! go(d);
cudaStream_t gs; std::function<void(int *)> go = [](int *p) { run(p, gs); }; || S! go(d);
cudaStream_t gs; const std::map<int, std::function<void(int *)>> go = {{1, [](int *p) { run(p, gs); }}}; || S! go.at(1)(d);
cudaStream_t gs; struct Go { void operator()(int *p) const { run(p, gs); } }; constexpr Go go{}; || S! go(d);
cudaStream_t gs; struct Go { static void operator()(int *p) { run(p, gs); } }; || S! Go{}(d); Go::operator()(d);
cudaStream_t gs; struct Go { void operator[](int *p) const { run(p, gs); } }; || S! Go g; g[d];
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; v[0].go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; run(v[0].p, other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; for (auto &x : v) run(x.p, other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; auto &x = v.front(); run(x.p, other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S *> v{new S{d}}; v[0]->go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S *> v{new S{d}}; for (auto *x : v) run(x->p, other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S *> v{new S{d}}; for (auto *x : v) x->go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v; v.push_back({d}); std::for_each(v.begin(), v.end(), [&](S &x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v(1); v[0].p = d; std::for_each(v.begin(), v.end(), [&](S &x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v(1); v[0].p = d; std::for_each(v.begin(), v.end(), [&](S x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S> v{{d}}; std::for_each(v.begin(), v.end(), [&](S x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<S *> v; v.push_back(new S{d}); std::for_each(v.begin(), v.end(), [&](S *x) { x->go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<std::unique_ptr<S>> v; v.push_back(std::make_unique<S>(S{d})); std::for_each(v.begin(), v.end(), [&](auto &x) { x->go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::vector<std::unique_ptr<S>> v; v.push_back(std::make_unique<S>(S{d})); for (auto &x : v) x->go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::map<int, S> v; v[1] = S{d}; for (auto &[k, x] : v) x.go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::map<int, S> v{{1, {d}}}; for (auto &kv : v) kv.second.go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::array<S, 1> v{{{d}}}; run(v[0].p, other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || std::array<S, 1> v{{{d}}}; for (auto &x : v) x.go(other);
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || S v[2] = {{d}, {e}}; std::for_each(v, v + 2, [&](S &x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || S v[2] = {{d}, {e}}; std::for_each(std::begin(v), std::end(v), [&](auto &x) { x.go(other); });
struct S { int *p; void go(cudaStream_t s) { run(p, s); } }; || S v[2] = {{d}, {e}}; for (auto x : v) x.go(other);
std::vector<int *> v{d}; int *saved = e; std::erase_if(v, [&](int *a) { saved = a; return false; }); run(saved, other);
std::vector<int *> v{d}; auto f = [&](int *a) { run(a, other); return false; }; std::erase_if(v, f);
std::vector<int *> v{d}; std::function<bool(int *)> f = [&](int *a) { run(a, other); return false; }; std::erase_if(v, f);
template <class F> void er(std::vector<int *> &v, F f) { std::erase_if(v, f); } || std::vector<int *> v{d}; er(v, [&](int *a) { run(a, other); return false; });
template <class F> void er(std::vector<int *> &v, F &&f) { std::erase_if(v, std::forward<F>(f)); } || std::vector<int *> v{d}; er(v, [&](int *a) { run(a, other); return false; });
template <class F> void er(std::vector<int> &v, F &&f) { std::erase_if(v, std::forward<F>(f)); } || std::vector<int> v{1}; er(v, [&](int a) { run(d, other); return false; });
template <class F> void er2(std::vector<int> &v, F f) { std::erase_if(v, f); } template <class F> void er(std::vector<int> &v, F f) { er2(v, f); } || std::vector<int> v{1}; er(v, [&](int a) { run(d, other); return false; });
std::vector<int> v{1}; std::generate(v.begin(), v.end(), [&] { run(d, other); return 1; });
std::vector<int> v{1}; std::lower_bound(v.begin(), v.end(), 1, [&](int, int) { run(d, other); return false; });
std::vector<int> v{1}; std::ranges::sort(v, [&](int, int) { run(d, other); return false; });
std::vector<int> v{1}; std::ranges::sort(v, {}, [&](int) { run(d, other); return 1; });
std::vector<int> v{1}; std::priority_queue q(v.begin(), v.end(), [&](int, int) { run(d, other); return false; });
std::vector<int> v{1}; std::set<int, std::function<bool(int, int)>> q([&](int, int) { run(d, other); return false; }); q.insert(1); q.insert(2);
std::vector<int> v{1}; auto cmp = [&](int, int) { run(d, other); return false; }; std::set<int, decltype(cmp)> q(cmp); q.insert(1); q.insert(2);
std::vector<int> v{1}; auto cmp = [&](int, int) { run(d, other); return false; }; std::map<int, int, decltype(cmp)> q(cmp); q[1] = 2; q[2] = 2;
struct C { int *p; cudaStream_t s; bool operator()(int, int) const { run(p, s); return false; } }; || std::map<int, int, C> q(C{d, other}); q[1] = 2; q[2] = 2;
G! struct C { bool operator()(int, int) const { run(gp, gs); return false; } }; || G! std::map<int, int, C> q; q[1] = 2; q[2] = 2;
G! struct C { size_t operator()(int) const { run(gp, gs); return 1; } }; || G! std::unordered_map<int, int, C> q; q[1] = 2; q[2] = 2;
G! struct K { int n; }; template <> struct std::hash<K> { size_t operator()(const K &) const { run(gp, gs); return 1; } }; || G! std::unordered_map<K, int> q; q[K{1}] = 2;
G! struct K { int n; bool operator<(const K &) const { run(gp, gs); return true; } }; || G! std::set<K> q; q.insert(K{1}); q.insert(K{2});
G! struct K { int n; friend bool operator<(const K &, const K &) { run(gp, gs); return true; } }; || G! std::set<K> q; q.insert(K{1}); q.insert(K{2});
G! struct K { int n; bool operator==(const K &) const { run(gp, gs); return true; } }; || G! std::vector<K> v{{1}}; std::find(v.begin(), v.end(), K{1});
G! struct A { using value_type = int; int *allocate(size_t n) { run(gp, gs); return (int *)malloc(n * 4); } void deallocate(int *p, size_t) { free(p); } }; || G! std::vector<int, A> v(3);
G! struct A { using value_type = int; int *allocate(size_t n) { return (int *)malloc(n * 4); } void deallocate(int *p, size_t) { run(gp, gs); free(p); } }; || G! { std::vector<int, A> v(3); }
template <class T> struct A { using value_type = T; T *allocate(size_t n) { return (T *)malloc(n * 4); } void deallocate(T *p, size_t) { run(gp, gs); free(p); } }; || G! { std::vector<int, A<int>> v(3); }
G! struct D { void operator()(int *p) { run(gp, gs); delete p; } }; || G! { std::unique_ptr<int, D> v(new int); }
G! void del(int *p) { run(gp, gs); delete p; } || G! { std::unique_ptr<int, decltype(&del)> v(new int, del); }
G! void del(int *p) { run(gp, gs); delete p; } || G! { std::shared_ptr<int> v(new int, del); }
G! struct R { std::unique_ptr<int, void (*)(int *)> v{new int, [](int *p) { run(gp, gs); }}; }; || G! { R r; }
G! || G! { std::shared_ptr<void> v(nullptr, [](void *) { run(gp, gs); }); }
G! || G! { auto v = std::shared_ptr<int>(new int, [](int *p) { run(gp, gs); delete p; }); auto w = v; v.reset(); }
G! struct B { virtual ~B() { run(gp, gs); } }; struct X : B {}; || G! { std::unique_ptr<B> b = std::make_unique<X>(); }
G! struct B { virtual ~B() {} }; struct X : B { ~X() { run(gp, gs); } }; || G! { std::unique_ptr<B> b(new X); }
G! struct B { virtual ~B() {} }; struct X : B { ~X() { run(gp, gs); } }; || G! B *b = new X; delete b;
G! struct B { ~B() { go(); } virtual void go() { run(gp, gs); } }; struct X : B { void go() override {} }; || G! { X x; }
G! struct B { B() { go(); } virtual void go() { run(gp, gs); } }; struct X : B { void go() override {} }; || G! { X x; }
G! struct B { B() { run(gp, gs); } }; struct X : virtual B {}; struct Y : virtual B {}; struct Z : X, Y {}; || G! { Z x; }
"""

# logs, coroutines, functions that call each other, and objects behind `std::optional`
OTHERS = r"""
cudaStream_t gs; int *gp; void go() { run(gp, gs); } || gp = d; gs = other; std::vector<void (*)()> v; v.push_back(go); for (auto f : v) f();
cudaStream_t gs; int *gp; void go() { run(gp, gs); } || gp = d; gs = other; std::map<int, void (*)()> v; v[1] = go; for (auto &[k, f] : v) f();
cudaStream_t gs; int *gp; void go() { run(gp, gs); } std::vector<void (*)()> v; || v.push_back(go); gp = d; gs = other; v[0]();
cudaStream_t gs; void go(int *p) { run(p, gs); } || gs = other; std::vector<void (*)(int *)> v{go}; for (auto f : v) f(d);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || VLOG(1) << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || LOG(INFO) << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || LOG_IF(INFO, f(d, other)) << 1;
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || CHECK_EQ(f(d, other), 1) << "x";
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || spdlog::info("{}", f(d, other));
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || BOOST_LOG_TRIVIAL(info) << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || std::clog << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || std::ofstream("x") << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } || (std::cout << "x").flush() << f(d, other);
int f(int *p, cudaStream_t s) { run(p, s); return 1; } struct L { template <class T> L &operator<<(const T &) { return *this; } }; L log() { return {}; } || log() << f(d, other);
struct Task { struct promise_type { Task get_return_object() { return {}; } std::suspend_never initial_suspend() { return {}; } std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; }; Task co(int *p, cudaStream_t s) { run(p, s); co_return; } || co(d, other);
struct Task { struct promise_type { Task get_return_object() { return {}; } std::suspend_never initial_suspend() { return {}; } std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; }; Task co(int *p, cudaStream_t s) { co_await std::suspend_never{}; run(p, s); } || co(d, other);
struct Task { struct promise_type { Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; } std::suspend_always initial_suspend() { return {}; } std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; std::coroutine_handle<promise_type> h; }; Task co(int *p, cudaStream_t s) { run(p, s); co_return; } || auto t = co(d, other); t.h.resume();
std::generator<int *> gen(int *p) { co_yield p; } || for (int *p : gen(d)) run(p, other);
cudaStream_t gs; int *gp; struct Aw { bool await_ready() { run(gp, gs); return true; } void await_suspend(std::coroutine_handle<>) {} void await_resume() {} }; struct Task { struct promise_type { Task get_return_object() { return {}; } std::suspend_never initial_suspend() { return {}; } std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; }; Task co() { co_await Aw{}; } || gp = d; gs = other; co();
void a(int n, int *p, cudaStream_t s); void b(int n, int *p, cudaStream_t s) { if (n) a(n - 1, p, s); else run(p, s); } void a(int n, int *p, cudaStream_t s) { if (n) b(n - 1, p, s); } || a(3, d, other);
void a(int n, int *p, cudaStream_t s); void b(int n, int *p, cudaStream_t s) { a(n - 1, p, s); run(p, s); } void a(int n, int *p, cudaStream_t s) { if (n > 0) b(n - 1, p, s); } || a(3, d, other);
cudaStream_t gs; int *gp; void a(int n); void b(int n) { a(n - 1); run(gp, gs); } void a(int n) { if (n > 0) b(n - 1); } || gp = d; gs = other; a(3);
cudaStream_t gs; int *gp; void a(int n); void c(int n) { a(n - 1); } void b(int n) { c(n); run(gp, gs); } void a(int n) { if (n > 0) b(n - 1); } || gp = d; gs = other; a(3);
cudaStream_t gs; int *gp; void a(int n, int **o); void b(int n, int **o) { a(n - 1, o); } void a(int n, int **o) { if (n > 0) b(n - 1, o); else *o = gp; } || gp = d; gs = other; int *q = e; a(3, &q); run(q, other);
struct T { T *l, *r; int *p; void go(cudaStream_t s) { if (l) l->go(s); if (r) r->go(s); if (p) run(p, s); } }; || T t{nullptr, nullptr, d}, u{&t, nullptr, e}; u.go(other);
struct T { std::vector<T> c; int *p = nullptr; void go(cudaStream_t s) { for (auto &x : c) x.go(s); if (p) run(p, s); } }; || T t; t.c.resize(1); t.c[0].p = d; t.go(other);
struct T { std::vector<std::unique_ptr<T>> c; int *p = nullptr; void go(cudaStream_t s) { for (auto &x : c) x->go(s); if (p) run(p, s); } }; || T t; t.c.push_back(std::make_unique<T>()); t.c[0]->p = d; t.go(other);
template <int N> struct R { static void go(int *p, cudaStream_t s) { R<N - 1>::go(p, s); } }; template <> struct R<0> { static void go(int *p, cudaStream_t s) { run(p, s); } }; || R<5>::go(d, other);
template <int N> void rec(int *p, cudaStream_t s) { if constexpr (N == 0) run(p, s); else rec<N - 1>(p, s); } || rec<4>(d, other);
template <class T, class... R> void rec(cudaStream_t s, T t, R... r) { run(t, s); if constexpr (sizeof...(r)) rec(s, r...); } || rec(other, e, d);
template <class... R> void rec(cudaStream_t s, R... r) { (run(r, s), ...); } || rec(other, e, d);
template <class... R> void rec(cudaStream_t s, R... r) { int *a[] = {r...}; for (auto p : a) run(p, s); } || rec(other, e, d);
template <class... R> void rec(cudaStream_t s, R... r) { for (auto p : {r...}) run(p, s); } || rec(other, e, d);
template <class... R> void rec(cudaStream_t s, R... r) { auto t = std::make_tuple(r...); std::apply([&](auto... x) { (run(x, s), ...); }, t); } || rec(other, e, d);
template <class... R> void rec(cudaStream_t s, R &&...r) { auto f = [&](auto x) { run(x, s); }; (f(r), ...); } || rec(other, e, d);
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; int x = **o;
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; auto o = std::make_unique<O>(O{d}); int x = **o;
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; auto o = std::make_shared<O>(O{d}); int x = **o;
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::vector<O> v{O{d}}; int x = *v[0]; int y = **v.begin();
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::vector<O> v{O{d}}; for (auto &o : v) *o;
struct O { int *p; int operator*() const { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::map<int, O> v; v[1].p = d; *v[1]; *v.at(1);
struct O { int *p; O *operator->() { run(p, gs); return this; } int x; static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; (*o)->x = 1;
struct O { int *p; O *operator->() { run(p, gs); return this; } int x; static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; O o{d}; o->x = 1;
struct O { int *p; void operator()() { run(p, gs); } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; (*o)();
struct O { int *p; int operator[](int) { run(p, gs); return 1; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; (*o)[1];
struct O { int *p; explicit operator bool() { run(p, gs); return true; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; if (*o) e = 0;
struct O { int *p; int operator+(int) { run(p, gs); return true; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::optional<O> o = O{d}; *o + 1;
struct O { int *p; int operator+(int) { run(p, gs); return true; } static cudaStream_t gs; }; cudaStream_t O::gs; || O::gs = other; std::unique_ptr<O> o(new O{d}); *o + 1;
struct T { std::vector<T> c; int *p = nullptr; }; void go(T &t, cudaStream_t s) { for (auto &x : t.c) go(x, s); if (t.p) run(t.p, s); } || T t; t.c.resize(1); t.c[0].p = d; go(t, other);
struct T { std::vector<T> c; int *p = nullptr; }; void go(T *t, cudaStream_t s) { for (auto &x : t->c) go(&x, s); if (t->p) run(t->p, s); } || T t; t.c.resize(1); t.c[0].p = d; go(&t, other);
struct T { std::vector<T> c; int *p = nullptr; }; || T t; t.c.resize(1); t.c[0].p = d; T *x = &t; while (!x->c.empty()) x = &x->c[0]; run(x->p, other);
struct T { std::vector<T> c; int *p = nullptr; }; || T t; t.c.resize(1); t.c[0].p = d; T *x = &t; for (int i = 0; i < 3; i++) { x = &x->c[i]; if (x->p) run(x->p, other); }
struct T { std::map<int, T> c; int *p = nullptr; }; || T t; T *x = &t; for (int i = 0; i < 3; i++) { x = &x->c[i]; x->p = d; } run(x->p, other);
struct T { T *c[2]; int *p; }; || T t{}; T *x = &t; for (int i = 0; i < 3; i++) { x->c[1] = new T{}; x = x->c[1]; x->p = d; } run(x->p, other);
struct T { std::unique_ptr<T> n; int *p = nullptr; void go(cudaStream_t s) { if (n) n->go(s); if (p) run(p, s); } }; || T t; t.n = std::make_unique<T>(); t.n->p = d; t.go(other);
"""


# libraries, graphs, tables of pointers, and launches with what a template was given
LAUNCHED = r"""
void *args[] = {&d}; cudaLaunchKernel((void *)k, dim3(1), dim3(1), args, 0, other);
void *args[] = {&d}; cudaLaunchCooperativeKernel((void *)k, 1, 1, args, 0, other);
cudaLaunchConfig_t c = {}; c.gridDim = 1; c.blockDim = 1; c.stream = other; cudaLaunchKernelEx(&c, k, d);
cudaLaunchConfig_t c{}; c.gridDim = 1; c.blockDim = 1; c.stream = other; void *args[] = {&d}; cudaLaunchKernelExC(&c, (void *)k, args);
cudaLaunchConfig_t c{1, 1, 0, other}; cudaLaunchKernelEx(&c, k, d);
cudaLaunchConfig_t c = {.gridDim = 1, .blockDim = 1, .stream = other}; cudaLaunchKernelEx(&c, k, d);
cudaLaunchConfig_t mk(cudaStream_t s) { cudaLaunchConfig_t c{}; c.stream = s; return c; } || auto c = mk(other); cudaLaunchKernelEx(&c, k, d);
cudaLaunchConfig_t c = {}; cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; a[0].val.programmaticStreamSerializationAllowed = 1; c.attrs = a; c.numAttrs = 1; c.stream = other; cudaLaunchKernelEx(&c, k, d);
cudaLaunchHostFunc(other, [](void *p) { cudaMemset(p, 0, 4); }, d);
cudaStreamAddCallback(other, [](cudaStream_t, cudaError_t, void *p) {}, d, 0); run(d, other);
cudaMemcpyAsync(d, e, 4, cudaMemcpyHostToDevice, other);
cudaMemcpy2DAsync(d, 4, e, 4, 4, 1, cudaMemcpyHostToDevice, other);
cudaMemcpy3DParms p = {}; p.dstPtr = make_cudaPitchedPtr(d, 4, 4, 1); p.kind = cudaMemcpyDefault; cudaMemcpy3DAsync(&p, other);
void *dst[] = {d}; void *src[] = {e}; size_t sz[] = {4}; cudaMemcpyAttributes at; size_t ix = 0, fi; cudaMemcpyBatchAsync(dst, src, sz, 1, &at, &ix, 1, &fi, other);
cudaMemcpyPeerAsync(d, 0, e, 0, 4, other);
cudaMemsetAsync(d, 0, 4, other);
cudaMemset2DAsync(d, 4, 0, 4, 1, other);
cudaMemPrefetchAsync(d, 4, 0, other);
cudaTextureObject_t t; cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = d; cudaCreateTextureObject(&t, &r, nullptr, nullptr); kt<<<1, 1, 0, other>>>(t);
__global__ void kt(cudaTextureObject_t t) { tex1Dfetch<int>(t, 0); } || cudaTextureObject_t t; cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = d; cudaCreateTextureObject(&t, &r, nullptr, nullptr); kt<<<1, 1, 0, other>>>(t);
texture<int> tx; __global__ void kt() { tex1Dfetch(tx, 0); } || cudaBindTexture(0, tx, d, 4); kt<<<1, 1, 0, other>>>();
__constant__ int *c; __global__ void kc() { *c = 1; } || cudaMemcpyToSymbol(c, &d, sizeof d); kc<<<1, 1, 0, other>>>();
__device__ int *c[2]; __global__ void kc() { *c[1] = 1; } || int *h[2] = {e, d}; cudaMemcpyToSymbol(c, h, sizeof h); kc<<<1, 1, 0, other>>>();
__device__ struct { int *p; int n; } c; __global__ void kc() { *c.p = 1; } || struct { int *p; int n; } h{d, 1}; cudaMemcpyToSymbol(c, &h, sizeof h); kc<<<1, 1, 0, other>>>();
__device__ int *c; __global__ void kc() { *c = 1; } || void *a; cudaGetSymbolAddress(&a, c); cudaMemcpy(a, &d, sizeof d, cudaMemcpyHostToDevice); kc<<<1, 1, 0, other>>>();
__managed__ int *c; __global__ void kc() { *c = 1; } || c = d; kc<<<1, 1, 0, other>>>();
__managed__ struct { int *p; } c; __global__ void kc() { *c.p = 1; } || c.p = d; kc<<<1, 1, 0, other>>>();
__global__ void kk(int **p) { *p[0] = 1; } || int **t; cudaMallocManaged(&t, 8); t[0] = d; kk<<<1, 1, 0, other>>>(t);
__global__ void kk(int **p) { *p[0] = 1; } || int **t; cudaMallocHost(&t, 8); *t = d; kk<<<1, 1, 0, other>>>(t);
__global__ void kk(int **p) { *p[0] = 1; } || int **t; cudaMalloc(&t, 8); int *h[1] = {d}; cudaMemcpy(t, h, 8, cudaMemcpyHostToDevice); kk<<<1, 1, 0, other>>>(t);
struct S { int *p; int n; }; __global__ void kk(S *s) { *s->p = 1; } || S *t; cudaMallocManaged(&t, sizeof(S)); t->p = d; kk<<<1, 1, 0, other>>>(t);
struct S { int *p; int n; }; __global__ void kk(S *s) { *s->p = 1; } || S *t; cudaMalloc(&t, sizeof(S)); S h{d, 1}; cudaMemcpy(t, &h, sizeof h, cudaMemcpyHostToDevice); kk<<<1, 1, 0, other>>>(t);
struct S { int *p; int n; }; __global__ void kk(S s) { *s.p = 1; } || kk<<<1, 1, 0, other>>>({d, 1});
struct S { int *p; int n; }; __global__ void kk(S s) { *s.p = 1; } || kk<<<1, 1, 0, other>>>(S{d, 1});
struct S { int *p[2]; }; __global__ void kk(S s) { *s.p[1] = 1; } || S s; s.p[1] = d; kk<<<1, 1, 0, other>>>(s);
struct S { int *p; __device__ void operator()() { *p = 1; } }; template <class F> __global__ void kk(F f) { f(); } || kk<<<1, 1, 0, other>>>(S{d});
template <class F> __global__ void kk(F f) { f(); } || auto f = [=] __device__() { *d = 1; }; kk<<<1, 1, 0, other>>>(f);
template <class F> __global__ void kk(F f) { f(); } template <class F> void launch(F f, cudaStream_t s) { kk<<<1, 1, 0, s>>>(f); } || launch([=] __device__() { *d = 1; }, other);
template <class F> __global__ void kk(F f) { f(); } template <class F> void launch(F &&f, cudaStream_t s) { kk<<<1, 1, 0, s>>>(std::forward<F>(f)); } || launch([p = d] __host__ __device__() { *p = 1; }, other);
template <class... A> __global__ void kk(A... a) {} template <class... A> void launch(cudaStream_t s, A... a) { kk<<<1, 1, 0, s>>>(a...); } || launch(other, 1, d);
template <class K, class... A> void launch(K kern, cudaStream_t s, A... a) { kern<<<1, 1, 0, s>>>(a...); } || launch(k, other, d);
template <class... P, class... A> void launch(void (*kern)(P...), cudaStream_t s, A &&...a) { void *v[] = {(void *)&a...}; cudaLaunchKernel((void *)kern, 1, 1, v, 0, s); } || launch(k, other, d);
auto f = k; f<<<1, 1, 0, other>>>(d);
void (*f)(int *) = k; f<<<1, 1, 0, other>>>(d);
void (*f[])(int *) = {k, k}; f[1]<<<1, 1, 0, other>>>(d);
struct S { void (*f)(int *); }; || S s{k}; s.f<<<1, 1, 0, other>>>(d);
auto pol = thrust::cuda::par_nosync.on(other); auto p = thrust::device_pointer_cast(d); thrust::for_each(pol, p, p + 1, [] __device__(int &x) { x = 1; });
size_t n = 0; cub::DeviceReduce::Sum(nullptr, n, e, d, 1, other); void *tmp; cudaMalloc(&tmp, n); cub::DeviceReduce::Sum(tmp, n, e, d, 1, other);
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, other); cublasSetWorkspace(h, d, 4); float a = 1, *x; cublasSscal(h, 1, &a, x, 1);
cufftHandle h; cufftCreate(&h); cufftSetStream(h, other); cufftSetWorkArea(h, d); cufftComplex *x; cufftExecC2C(h, x, x, CUFFT_FORWARD);
cufftHandle h; cufftPlan1d(&h, 4, CUFFT_C2C, 1); cufftSetStream(h, other); cufftExecC2C(h, (cufftComplex *)d, (cufftComplex *)d, CUFFT_FORWARD);
cudaGraph_t g; cudaGraphExec_t x; cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal); run(d, other); cudaStreamEndCapture(other, &g); cudaGraphInstantiate(&x, g, 0); cudaGraphLaunch(x, other);
cudaGraph_t g; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphInstantiate(&x, g, 0); cudaGraphNode_t n; cudaKernelNodeParams p = {}; void *a[] = {&d}; p.kernelParams = a; cudaGraphExecKernelNodeSetParams(x, n, &p); cudaGraphLaunch(x, other);
cudaStream_t s2[2]; for (auto &s : s2) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); run(d, s2[rand() % 2]);
std::vector<cudaStream_t> s2(2); for (auto &s : s2) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); for (auto s : s2) run(d, s);
cudaStream_t mk() { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; } || run(d, mk());
cudaStream_t mk() { static cudaStream_t s = [] { cudaStream_t t; cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); return t; }(); return s; } || run(d, mk());
cudaStream_t &mk() { static cudaStream_t s; if (!s) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; } || run(d, mk());
nvtxRangePushA("x"); run(d, other); nvtxRangePop(); cudaProfilerStop();
int nb; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, k, 1, 0); cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 4); k<<<nb, 1, 0, other>>>(d);
cudaEvent_t ev; cudaEventCreateWithFlags(&ev, cudaEventDisableTiming); run(d, other); cudaEventRecord(ev, 0); cudaEventSynchronize(ev);
cudaEvent_t ev; cudaEventCreate(&ev); cudaEventRecord(ev, other); run(d, other); cudaEventSynchronize(ev);
cudaEvent_t ev; cudaEventCreate(&ev); run(d, other); cudaEventRecordWithFlags(ev, other, cudaEventRecordExternal); cudaStreamWaitEvent(0, ev, cudaEventWaitExternal);
run(d, other); while (cudaStreamQuery(other) == cudaErrorNotReady && rand());
run(d, other); cudaStreamQuery(other);
run(d, other); if (cudaStreamQuery(other) != cudaSuccess) e = 0;
run(d, other); cudaGetLastError(); cudaPeekAtLastError();
run(d, other); cudaStreamSynchronize(0);
run(d, other); cudaStreamSynchronize(cudaStreamPerThread);
run(d, other); cudaMemcpy(e, e, 0, cudaMemcpyDefault);
run(d, other); int *t; cudaMalloc(&t, 4);
cudaGraph_t g; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p); cudaGraphInstantiate(&x, g, 0); cudaGraphLaunch(x, other);
cudaGraph_t g; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p); cudaGraphInstantiate(&x, g, nullptr, nullptr, 0); cudaGraphLaunch(x, other);
cudaGraph_t g; cudaGraphCreate(&g, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, g, NULL, 0, &p); cudaGraphExec_t x; cudaGraphInstantiate(&x, g, NULL, NULL, 0); cudaGraphLaunch(x, other);
cudaGraph_t g, c; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphCreate(&c, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, c, nullptr, 0, &p); cudaGraphAddChildGraphNode(&n, g, nullptr, 0, c); cudaGraphInstantiate(&x, g, 0); cudaGraphLaunch(x, other);
cudaGraph_t g, c; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p); cudaGraphClone(&c, g); cudaGraphInstantiate(&x, c, 0); cudaGraphLaunch(x, other);
cudaGraph_t g, c; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphCreate(&c, 0); cudaGraphInstantiate(&x, c, 0); cudaGraphNode_t n; cudaMemsetParams p = {}; p.dst = d; cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p); cudaGraphExecUpdateResultInfo i; cudaGraphExecUpdate(x, g, &i); cudaGraphLaunch(x, other);
cudaGraph_t g; cudaGraphExec_t x; cudaGraphCreate(&g, 0); cudaGraphNode_t n; cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, e, 4, cudaMemcpyDefault); cudaGraphInstantiateWithFlags(&x, g, 0); cudaGraphLaunch(x, other);
struct G { cudaGraph_t g; cudaGraphExec_t x; void add(int *p) { cudaGraphNode_t n; cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, p, p, 4, cudaMemcpyDefault); cudaGraphInstantiate(&x, g, 0); } void go(cudaStream_t s) { cudaGraphLaunch(x, s); } }; || G g; cudaGraphCreate(&g.g, 0); g.add(d); g.go(other);
CUgraph g; CUgraphExec x; cuGraphCreate(&g, 0); CUgraphNode n; CUDA_MEMSET_NODE_PARAMS p = {}; p.dst = (CUdeviceptr)d; cuGraphAddMemsetNode(&n, g, nullptr, 0, &p, 0); cuGraphInstantiate(&x, g, 0); cuGraphLaunch(x, other);
thrust::fill(thrust::cuda::par_nosync.on(other), d, d + 1, 0);
template <class P> void go(P pol, int *d) { thrust::fill(pol, d, d + 1, 0); } || go(thrust::cuda::par_nosync.on(other), d);
template <class P> void go(const P &pol, int *d) { thrust::sort(pol, d, d + 1); } || auto p = thrust::cuda::par_nosync.on(other); go(p, d);
struct A { int x; }; || A alloc; thrust::sort(thrust::cuda::par_nosync(alloc).on(other), d, d + 1);
thrust::transform(thrust::cuda::par_nosync.on(other), d, d + 1, d, thrust::negate<int>());
thrust::copy(thrust::cuda::par_nosync.on(other), d, d + 1, d);
thrust::inclusive_scan(thrust::cuda::par_nosync.on(other), d, d + 1, d);
template <class... P, class... A> void launch(void (*kern)(P...), cudaStream_t s, A &&...a) { kern<<<1, 1, 0, s>>>(std::forward<A>(a)...); } || launch(k, other, d);
template <class... A> void launch(void (*kern)(int *), cudaStream_t s, A &&...a) { kern<<<1, 1, 0, s>>>(std::forward<A>(a)...); } || launch(k, other, d);
template <class... A> void launch(void (*kern)(int *), cudaStream_t s, A... a) { kern<<<1, 1, 0, s>>>(a...); } || launch(k, other, d);
template <class... A> void launch(void (*kern)(A...), cudaStream_t s, A... a) { kern<<<1, 1, 0, s>>>(a...); } || launch(k, other, d);
template <class... A> void launch(cudaStream_t s, A &&...a) { k<<<1, 1, 0, s>>>(std::forward<A>(a)...); } || launch(other, d);
template <class... A> void launch(cudaStream_t s, A &&...a) { run(std::forward<A>(a)..., s); } || launch(other, d);
template <class F, class... A> void launch(F f, cudaStream_t s, A &&...a) { f(std::forward<A>(a)..., s); } || launch(run, other, d);
template <class F, class... A> void launch(F f, A &&...a) { f(std::forward<A>(a)...); } || launch(run, d, other);
template <class A> void launch(cudaStream_t s, A &&a) { k<<<1, 1, 0, s>>>(a); } || launch(other, d);
template <class A> void launch(cudaStream_t s, const A &a) { k<<<1, 1, 0, s>>>(a); } || launch(other, d);
void launch(cudaStream_t s, int *const &a) { k<<<1, 1, 0, s>>>(a); } || launch(other, d);
struct L { template <class... A> void operator()(cudaStream_t s, A &&...a) const { k<<<1, 1, 0, s>>>(std::forward<A>(a)...); } }; || L{}(other, d);
"""


@pytest.mark.parametrize("case", [*cases(CALLED), *cases(HANDED_OVER), *cases(OTHERS), *cases(LAUNCHED)])
def test_what_a_function_that_is_a_value_does_counts(case: str) -> None:
    check(analyze(source_of(case)))


KERNEL = "__global__ void touch(int *v) { *v = 1; }"
GLOBALS = "extern int *gp; extern cudaStream_t gs;"
REGISTRY = f"{GLOBALS} void add(void (*f)()); void fire(); struct Reg {{ Reg(void (*f)()) {{ add(f); }} }};"
FILES = {
    "an alias of a namespace": (
        "z::go(d, other);",
        "namespace a { void go(int *p, cudaStream_t s); } namespace z = a;",
        "namespace a { void go(int *p, cudaStream_t s) { touch<<<1, 1, 0, s>>>(p); } }",
    ),
    "an inline namespace": (
        "a::go(d, other);",
        "namespace a { inline namespace v { void go(int *p, cudaStream_t s); } }",
        "namespace a { inline namespace v { void go(int *p, cudaStream_t s) { touch<<<1, 1, 0, s>>>(p); } } }",
    ),
    "a static member": (
        "S s; s.slot = d; go(other);",
        "struct S { static int *slot; }; void go(cudaStream_t s);",
        "int *S::slot;\nvoid go(cudaStream_t s) { touch<<<1, 1, 0, s>>>(S::slot); }",
    ),
    "a constructor of an element": (
        "gp = d; gs = other; std::vector<T> v(2);",
        GLOBALS + "\nstruct T { T(); };",
        "int *gp; cudaStream_t gs;\nT::T() { touch<<<1, 1, 0, gs>>>(gp); }",
    ),
    "a constructor that converts": (
        "gp = d; gs = other; use(3);",
        GLOBALS + "\nstruct T { T(int); };\nvoid use(const T &);",
        "int *gp; cudaStream_t gs;\nT::T(int) { touch<<<1, 1, 0, gs>>>(gp); }\nvoid use(const T &) {}",
    ),
    "a constructor of a member": (
        "gp = d; gs = other; M m;",
        GLOBALS + "\nstruct T { T(int); }; struct M { T t = 3; };",
        "int *gp; cudaStream_t gs;\nT::T(int) { touch<<<1, 1, 0, gs>>>(gp); }",
    ),
    "a template": ("each([&] { run(d, other); });", "template <class F> void each(F &&f) { f(); }", ""),
    "a function that is registered before `main`": (
        "gp = d; gs = other; fire();",
        REGISTRY,
        "#include <vector>\nint *gp; cudaStream_t gs; static std::vector<void (*)()> all;\n"
        "void add(void (*f)()) { all.push_back(f); }\nvoid fire() { for (auto f : all) f(); }",
        "static void go() { run(gp, gs); } static Reg reg(go);",
    ),
}


@pytest.mark.parametrize("way", FILES)
def test_what_other_files_do_counts(way: str) -> None:
    statements, header, source, *more = FILES[way]
    main = '#include "1.h"\n' + "".join(more) + MAIN % statements
    check(analyze(main, f"#pragma once\n{header}\n", f'#include "1.h"\n{KERNEL}\n{source}\n'))


def test_code_that_is_not_seen_may_reach_what_a_global_variable_holds() -> None:
    reached = analyze("int *gp; void ext();" + MAIN % "gp = d; ext();")
    assert [f.safety for f in reached.findings] == [Safety.ASSUMES]
    hidden = analyze("static int *gp; void ext();" + MAIN % "gp = d; ext();")
    assert [f.safety for f in hidden.findings] == [Safety.PROVEN]
