"""Ways to reach memory: whichever a program takes, that it touches the memory is seen.

Each table has one way a line. A way that lowering does not understand may be refused, never passed over: each of these
stands for a rewrite that would change what a program computes.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Report, Safety
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config

INCLUDES = "".join(
    f"#include <{name}>\n"
    for name in (
        "algorithm array cstdio cstring functional iostream map memory numeric optional span thread tuple vector "
        "cuda_runtime.h"
    ).split()
)


def cases(table: str) -> list[str]:
    return table.strip("\n").split("\n")


def moves(report: Report, source: str, statement: str) -> bool:
    """Whether a proven rewrite changes this statement."""
    start = source.index(statement)
    edits = [e for f in report.findings if f.safety is Safety.PROVEN for e in f.edits]
    return any(start <= edit.start < start + len(statement) for edit in edits)


def inserted(report: Report) -> str:
    return " ".join(e.text.decode() for f in report.findings for e in f.edits)


# ---------------------------------------------------------------------------------------------------------------------
# the host reads what a kernel wrote, behind a free that was the wait

READS = """
 | int ok = totals[0] == 1;
 | int ok = *totals;
int &r = totals[0]; | int ok = r == 1;
auto &r = *totals; | bool ok = r;
const int *q = totals; | int ok = q[0];
int *q = totals + 1; | int ok = q[-1];
int *q(totals); | int ok = *q;
int *q{totals}; | int ok = *q;
auto q{totals}; | int ok = *q;
Box b{totals}; | int ok = b.get();
Box b{totals}; | int ok = b.ref();
Box b{totals}; | int ok = b;
Box b; b.p = totals; | int ok = *b.p;
Box b = {totals}; Box c = b; | int ok = *c.p;
Box *b = new Box{totals}; | int ok = *b->p;
std::vector<int *> v; v.push_back(totals); | int ok = *v[0];
std::vector<int *> v{totals}; | int ok = *v.front();
std::vector<int *> v(1, totals); | int ok = *v.back();
std::vector<int *> v(1); v[0] = totals; | int ok = 0; for (auto p : v) ok += *p;
int *a[2] = {totals, 0}; | int ok = *a[0];
 | int ok = look(totals);
 | int ok = lookr(*totals);
 | int ok = call([&] { return totals[0]; });
auto f = [&] { return totals[0]; }; | int ok = f();
auto f = [totals] { return totals[0]; }; | int ok = f();
auto f = [q = totals] { return q[0]; }; | int ok = f();
auto f = [](int *q) { return q[0]; }; | int ok = f(totals);
 | int ok = first(totals);
 | int ok = *same(totals);
keep = totals; | int ok = *keep;
 | int ok = unseen(totals);
 | int ok = std::accumulate(totals, totals + 2, 0);
 | int ok = *std::max_element(totals, totals + 2);
 | int ok = 1; printf("%d", *totals);
 | int ok = 1; printf("%d", totals[0]);
 | int ok = 1; std::cout << *totals;
 | int ok = 1; std::cout << totals[0] << std::endl;
 | std::vector<int> h(totals, totals + 2); int ok = h[0];
 | int h[2]; memcpy(h, totals, 8); int ok = h[0];
 | int h[2]; std::copy(totals, totals + 2, h); int ok = h[0];
 | int h[2]; std::copy_n(totals, 2, h); int ok = h[0];
 | int ok = 1; fwrite(totals, 4, 2, stdout);
 | Two t = *(Two *)totals; int ok = t.a;
 | int ok = ((Two *)totals)->a;
 | int ok = reinterpret_cast<Two *>(totals)->a;
 | int ok = 1; if (*totals) ok = 0;
 | int ok = 1; while (*totals == 0) ok++;
 | int ok = *totals ? 1 : 0;
 | int ok = 1; for (int i = 0; i < totals[0]; i++) ok++;
 | int ok = 1; switch (*totals) { case 1: ok = 0; }
 | return *totals; int ok = 0;
 | int ok = 1; (*totals)++;
 | int ok = 1; totals[0] = 3; cudaDeviceSynchronize(); ok = totals[0];
 | int ok = 1; std::swap(totals[0], totals[1]);
 | int ok = 1; std::sort(totals, totals + 2);
 | int ok = std::is_sorted(totals, totals + 2);
 | auto [x, y] = *(Two *)totals; int ok = x;
 | int ok = *(totals + (0));
 | int ok = *&totals[0];
 | int ok = 0[totals];
 | int ok = std::max(totals[0], 1);
 | int ok = assert_ok(totals[0]);
 | int x = totals[0] + 1, ok = x;
 | int ok; ok = totals[0];
 | int ok = 1; ok += totals[0];
 | int ok = 1; ok = ok && totals[0];
 | int ok = !*totals;
 | int ok = -totals[0];
 | int ok = (int)totals[0];
 | int ok = static_cast<int>(*totals);
 | int ok = int(*totals);
 | int ok{*totals};
 | int ok(*totals);
 | int ok = sizeof(totals[0]) + totals[1];
 | int ok = 1; throw totals[0];
 | int ok = 1; exit(totals[0]);
 | std::string s = std::to_string(totals[0]); int ok = s.size();
 | int ok = abs(totals[0]) < 3;
 | double d = sqrt(totals[0]); int ok = d > 0;
 | std::vector<int> h(2); h.assign(totals, totals + 2); int ok = 1;
 | std::vector<int> h; h.push_back(totals[0]); int ok = 1;
 | std::vector<int> h; h.insert(h.end(), totals, totals + 2); int ok = 1;
 | int ok = 1; for (int *p = totals; p < totals + 2; ++p) ok += *p;
 | int ok = 1; int i = 0; do { ok += totals[i]; } while (++i < 2);
 | const int &r = totals[0]; int ok = r;
 | int *const &r = totals; int ok = *r;
int **pp = &totals; | int ok = **pp;
int **pp = &totals; | int ok = (*pp)[0];
void *v = totals; | int ok = *(int *)v;
void *v = totals; | int ok = *static_cast<int *>(v);
size_t u = (size_t)totals; | int ok = *(int *)u;
uintptr_t u = reinterpret_cast<uintptr_t>(totals); | int ok = *reinterpret_cast<int *>(u);
std::unique_ptr<Box> b(new Box{totals}); | int ok = b->get();
std::array<int *, 2> a{totals, totals}; | int ok = *a[0];
std::pair<int *, int> a(totals, 1); | int ok = *a.first;
std::tuple<int *> a(totals); | int ok = *std::get<0>(a);
std::map<int, int *> a; a[0] = totals; | int ok = *a[0];
std::function<int()> f = [=] { return totals[0]; }; | int ok = f();
int *q; q = totals; | int ok = q[0];
int *q = n > 2 ? totals : nullptr; | int ok = q[0];
int *q; if (n > 2) q = totals; else q = totals + 1; | int ok = q[0];
static int *q; q = totals; | int ok = q[0];
union { int *i; float *f; } u; u.i = totals; | int ok = *u.f > 0;
std::span<int> s(totals, 2); | int ok = s[0];
std::span<int> s(totals, 2); | int ok = 0; for (int x : s) ok += x;
Two &t = *(Two *)totals; | int ok = t.a;
Two *t = (Two *)totals; | int ok = t->a;
int (&t)[2] = *(int (*)[2])totals; | int ok = t[0];
volatile int *q = totals; | int ok = *q;
int *q = totals; q++; | int ok = q[-1];
"""


@pytest.mark.parametrize("case", cases(READS))
def test_what_the_host_reads_behind_the_free_is_waited_for(case: str) -> None:
    setup, _, read = case.partition(" | ")
    source = f"""{INCLUDES}
__global__ void sum_up(const int *in, int n, int *totals) {{ for (int i = 0; i < n; i++) totals[0] += in[i]; }}
struct Box {{
    int *p;
    int get() const {{ return *p; }}
    int &ref() {{ return *p; }}
    operator int() const {{ return *p; }}
}};
struct Two {{ int a, b; }};
static int look(const int *p) {{ return *p; }}
static int lookr(const int &r) {{ return r; }}
template <class F> int call(F f) {{ return f(); }}
template <class T> T first(const T *p) {{ return p[0]; }}
static int *same(int *p) {{ return p; }}
static int *keep;
int unseen(const int *);
int main() {{
    const int n = 20; int in[n]; for (int i = 0; i < n; i++) in[i] = i;
    int *totals = nullptr, *d_in = nullptr;
    cudaMallocManaged(&totals, 2 * sizeof(int));
    totals[0] = totals[1] = 0;
    {setup}
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyHostToDevice);
    sum_up<<<1, 1>>>(d_in, n, totals);
    cudaFree(d_in);
    {read}
    return ok ? 0 : 1;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert not moves(report, source, "cudaFree(d_in)") or "Synchronize" in inserted(report)


# ---------------------------------------------------------------------------------------------------------------------
# the host writes what a copy reads, behind a free that was the wait

WRITES = """
 | h[0] = 2;
 | *h = 2;
 | h[0]++;
 | h[0] += 3;
float *q = h; | *q++ = 1;
float &r = h[0]; | r = 1;
auto &r = *h; | r += 1;
Box b{h}; | b.set(1);
Box b{h}; | b.at(1) = 2;
Box b{h}; Box &c = b; | c.p[0] = 1;
Box *b = new Box{h}; | b->set(1);
auto b = std::make_unique<Box>(Box{h}); | b->set(1);
 | put(h);
 | put(h + 1);
 | put(&h[1]);
 | putr(h[0]);
 | call([&] { h[0] = 1; });
auto f = [=] { h[0] = 1; }; | f();
auto f = [q = h] { q[0] = 1; }; | f();
auto f = [](float *q) { q[0] = 1; }; | f(h);
 | same(h)[0] = 1;
 | *same(h) = 1;
 | unseen(h);
 | memset(h, 0, 4);
 | std::memset(h, 0, 4);
 | memcpy(h, &out, 4);
 | std::fill(h, h + 2, 0.f);
 | std::fill_n(h, 2, 0.f);
 | std::iota(h, h + 2, 0.f);
 | std::generate(h, h + 2, rand);
 | std::generate(h, h + 2, [] { return 1.f; });
 | std::transform(h, h + 2, h, [](float x) { return x; });
 | std::for_each(h, h + 2, [](float &x) { x = 1; });
 | std::sort(h, h + 2);
 | std::reverse(h, h + 2);
 | std::swap(h[0], h[1]);
 | std::vector<float> v(2); std::copy(v.begin(), v.end(), h);
 | std::vector<float> v(2); std::copy_n(v.begin(), 2, h);
 | std::vector<float> v(2); std::move(v.begin(), v.end(), h);
 | std::cin >> h[0];
 | std::cin >> *h;
 | scanf("%f", h);
 | scanf("%f", &h[0]);
 | fread(h, 4, 2, stdin);
 | sprintf((char *)h, "x");
 | sscanf("1", "%f", h);
 | std::cin.read((char *)h, 4);
 | std::cin >> (char *)h;
char *t = (char *)h; | std::cin >> t;
struct W { float *p; void operator()() const { p[0] = 1; } }; | W{h}();
struct W { float *p; W(float *p) : p(p) {} void operator()() { *p = 1; } }; | W(h)();
struct W { void operator()(float *p) const { p[0] = 1; } }; | W{}(h);
struct W { void operator()(float *p) const { p[0] = 1; } }; | W()(h);
 | for (int i = 0; i < n; i++) h[i] = i;
 | for (float *p = h; p < h + n; p++) *p = 0;
 | for (int i = 0; i < n; ++i) { float &x = h[i]; x = i; }
 | int i = 0; while (i < n) h[i++] = 1;
 | if (argc > 1) h[0] = 1;
 | argc > 1 ? h[0] = 1 : 0;
 | argc > 1 && (h[0] = 1);
 | out = h[0] = 3;
 | (void)(h[0] = 1);
 | ((int *)h)[0] = 1;
 | *(int *)h = 1;
 | reinterpret_cast<int *>(h)[0] = 1;
 | auto q = reinterpret_cast<int *>(h); q[0] = 1;
 | *(float *)((char *)h + 4) = 1;
void *v = h; | ((float *)v)[0] = 1;
size_t u = (size_t)h; | *(float *)u = 1;
std::vector<float *> v{h}; | v[0][0] = 1;
std::vector<float *> v{h}; | for (auto p : v) *p = 1;
std::vector<float *> v{h}; | for (auto &p : v) p[0] = 1;
std::vector<Box> v{{h}}; | v[0].set(1);
float *a[2] = {h, h}; | a[1][0] = 1;
float **pp = &h; | (*pp)[0] = 1;
float *&r = h; | r[0] = 1;
 | new (h) float(1);
 | 0[h] = 1;
union { float *f; int *i; } u; u.i = nullptr; u.f = h; | u.i[0] = 1;
float (&t)[4] = *(float (*)[4])h; | t[0] = 1;
float *q; q = h; | q[1] = 1;
static float *q = h; | q[1] = 1;
 | h[argc] = 1;
 | --h[0];
 | goto l; l: h[0] = 1;
 | switch (argc) { case 1: h[0] = 1; }
 | do h[0] = 1; while (0);
 | try { h[0] = 1; } catch (...) { }
 | try { throw 1; } catch (int) { h[0] = 1; }
 | std::thread t([&] { h[0] = 1; }); t.join();
 | atomicish(h);
 | float x = 1, y = 2; std::tie(h[0], h[1]) = std::make_tuple(x, y);
 | struct P { float x, y; }; ((P *)h)->x = 1;
 | struct P { float x, y; }; P *p = (P *)h; p->y = 1;
 | struct P { float x, y; }; P &p = *(P *)h; p.y = 1;
 | struct P { float x, y; }; *(P *)h = {1, 2};
 | std::complex<float> *c = (std::complex<float> *)h; c[0] = 1;
 | std::exchange(h[0], 1.f);
 | h[0] = std::exchange(h[1], 1.f);
 | std::partial_sum(h, h + 2, h);
 | std::inclusive_scan(h, h + 2, h);
 | std::span<float> s(h, 2); s[0] = 1;
 | std::span<float> s(h, 2); for (auto &x : s) x = 1;
"""


@pytest.mark.parametrize("case", cases(WRITES))
def test_what_the_host_writes_behind_the_free_is_waited_for(case: str) -> None:
    setup, _, write = case.partition(" | ")
    source = f"""{INCLUDES}
struct Box {{ float *p; void set(int i) {{ p[i] = 1; }} float &at(int i) {{ return p[i]; }} }};
static void put(float *p) {{ *p = 1; }}
static void putr(float &p) {{ p = 1; }}
template <class F> void call(F f) {{ f(); }}
static float *same(float *p) {{ return p; }}
void unseen(float *);
int main(int argc, char **argv) {{
    const int n = 20; float *h, *d, *e; float out;
    cudaMallocHost(&h, 4 * n); cudaMalloc(&e, 4 * n);
    {setup}
    cudaMalloc(&d, 4 * n);
    cudaMemcpyAsync(e, h, 4 * n, cudaMemcpyHostToDevice);
    cudaFree(d);
    {write}
    cudaMemcpy(&out, e, 4, cudaMemcpyDeviceToHost);
    printf("%f", out);
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert not moves(report, source, "cudaFree(d)") or "Synchronize" in inserted(report)


# ---------------------------------------------------------------------------------------------------------------------
# work on another stream, and then the free

USES = """
 | work<<<1, 1, 0, s>>>(d, 1);
 | work<<<1, 1, 0, s>>>(d + 1, 1);
 | work<<<1, 1, 0, s>>>(&d[1], 1);
 | work<<<1, 1, 0, s>>>(same(d), 1);
 | workv<<<1, 1, 0, s>>>(d);
 | workv<<<1, 1, 0, s>>>((char *)d + 4);
Box b{d}; | workb<<<1, 1, 0, s>>>(b);
 | workb<<<1, 1, 0, s>>>(Box{d});
 | workb<<<1, 1, 0, s>>>({d});
Box b{d}; | work<<<1, 1, 0, s>>>(b, 1);
Box b{d}; | work<<<1, 1, 0, s>>>(b.p, 1);
Box b{d}; | work<<<1, 1, 0, s>>>(b.get(), 1);
Box b{d}; | b.run(s);
Box *b = new Box{d}; | work<<<1, 1, 0, s>>>(b->p, 1);
Box *b = new Box{d}; | b->run(s);
Box *b = new Box{d}; | work<<<1, 1, 0, s>>>(*b, 1);
Box *b = (Box *)malloc(sizeof(Box)); b->p = d; | work<<<1, 1, 0, s>>>(b->p, 1);
Box b; memset(&b, 0, sizeof b); b.p = d; | workb<<<1, 1, 0, s>>>(b);
Box b, c; b.p = d; memcpy(&c, &b, sizeof b); | workb<<<1, 1, 0, s>>>(c);
Box b; b.p = d; Box &r = b; | r.run(s);
Box b[2]; b[0].p = b[1].p = d; | b[1].run(s);
Box b[2] = {{d}, {nullptr}}; | b[0].run(s);
std::vector<Box> b; b.push_back({d}); | b[0].run(s);
std::vector<Box> b; b.push_back(Box{d}); | b.back().run(s);
std::vector<Box> b(1); b[0].p = d; | for (auto &x : b) x.run(s);
std::vector<Box> b{{d}}; | for (auto &x : b) x.run(s);
std::vector<Box> b; b.emplace_back(Box{d}); | b[0].run(s);
std::vector<float *> v; v.emplace_back(d); | run(v[0], s);
std::vector<float *> v{d}; | run(v.at(0), s);
std::vector<float *> v(2, d); | run(v.data()[1], s);
std::vector<float *> v(2); std::fill(v.begin(), v.end(), d); | run(v[1], s);
std::vector<float *> v(2); v.assign(2, d); | run(v[1], s);
std::vector<float *> v{d}; std::vector<float *> w(v); | run(w[0], s);
std::vector<float *> v{d}; std::vector<float *> w(v.begin(), v.end()); | run(w[0], s);
std::vector<float *> v{d}; auto w = std::move(v); | run(w[0], s);
std::map<int, float *> m; m[1] = d; | run(m[1], s);
std::map<int, float *> m{{1, d}}; | run(m.begin()->second, s);
std::map<int, Box> m; m[1].p = d; | m[1].run(s);
std::map<int, float *> m; m.insert({1, d}); | for (auto &kv : m) run(kv.second, s);
std::map<int, float *> m; m.emplace(1, d); | for (auto &[k, v] : m) run(v, s);
std::pair<int, float *> m(1, d); | run(m.second, s);
auto m = std::make_pair(1, d); | run(m.second, s);
auto m = std::make_tuple(1, d); | run(std::get<1>(m), s);
auto m = std::make_tuple(1, d); | auto [a, b] = m; run(b, s);
float *q; std::tie(q) = std::make_tuple(d); | run(q, s);
std::array<float *, 2> a{d, d}; | run(a[1], s);
std::array<float *, 2> a = {{d, d}}; | run(a[0], s);
std::unique_ptr<Box> b(new Box{d}); | b->run(s);
auto b = std::make_unique<Box>(Box{d}); | b->run(s);
auto b = std::make_unique<Worker>(d); | b->go(s);
auto b = std::make_shared<Worker>(d); | b->go(s);
std::shared_ptr<Box> b(new Box{d}); auto c = b; | c->run(s);
std::unique_ptr<Base> b(new Derived(d)); | b->go(s);
std::unique_ptr<Base> b = std::make_unique<Derived>(d); | b->go(s);
Base *b = new Derived(d); | b->go(s);
std::vector<std::unique_ptr<Base>> v; v.push_back(std::make_unique<Derived>(d)); | v[0]->go(s);
std::vector<std::unique_ptr<Base>> v; v.emplace_back(new Derived(d)); | for (auto &b : v) b->go(s);
std::vector<Base *> v; v.push_back(new Derived(d)); | for (Base *b : v) b->go(s);
Worker w(d); | w.go(s);
Worker w{d}; | w.go(s);
Worker w = Worker(d); | w.go(s);
auto w = Worker(d); | w.go(s);
 | Worker(d).go(s);
 | Worker{d}.go(s);
Worker *w = new Worker(d); | w->go(s);
std::optional<Worker> w; w.emplace(d); | w->go(s);
std::optional<float *> w = d; | run(*w, s);
Holder<float> h{d}; | run(h.data(), s);
Holder<float> h; h.p = d; | run(h.p, s);
auto f = [&] { run(d, s); }; | f();
auto f = [=] { run(d, s); }; | f();
auto f = [p = d](cudaStream_t s) { run(p, s); }; | f(s);
 | call([&] { run(d, s); });
 | [&] { run(d, s); }();
std::function<void()> f = [&] { run(d, s); }; | f();
std::function<void(float *, cudaStream_t)> f = run; | f(d, s);
auto f = std::bind(run, d, s); | f();
void (*f)(float *, cudaStream_t) = run; | f(d, s);
void (*f[1])(float *, cudaStream_t) = {run}; | f[0](d, s);
keep = d; | run(keep, s);
static float *q = d; | run(q, s);
float *q; out(&q, d); | run(q, s);
float *q; outr(q, d); | run(q, s);
float **pp = &d; | run(*pp, s);
float *&r = d; | run(r, s);
float *a[4]; a[2] = d; | run(a[2], s);
float *a[4] = {d}; | run(a[0], s);
float *a[4]; for (int i = 0; i < 4; i++) a[i] = d + i; | run(a[n - 17], s);
float *a[2][2]; a[1][0] = d; | run(a[1][0], s);
void *v = d; | run((float *)v, s);
void *v = d; | run(static_cast<float *>(v), s);
size_t u = (size_t)d; | run((float *)u, s);
CUdeviceptr u = (CUdeviceptr)d; | run((float *)u, s);
union { float *f; void *v; } u; u.f = d; | workv<<<1, 1, 0, s>>>(u.v);
union U { float *f; void *v; }; U u; u.v = d; | run(u.f, s);
union { float *f; void *v; } u = {d}; | workv<<<1, 1, 0, s>>>(u.v);
void *args[] = {&d, (void *)&n}; | cudaLaunchKernel((void *)work, 1, 1, args, 0, s);
void *args[2]; args[0] = &d; | cudaLaunchKernel((void *)work, dim3(1), dim3(1), args, 0, s);
 | void *args[] = {(void *)&d}; cudaLaunchCooperativeKernel((void *)workv, 1, 1, args, 0, s);
 | cudaMemcpyAsync(d, d + 4, 4, cudaMemcpyDeviceToDevice, s);
 | cudaMemsetAsync(d, 0, 4, s);
 | cudaMemset2DAsync(d, 4, 0, 4, 1, s);
 | cudaMemcpy2DAsync(d, 4, d + 4, 4, 4, 1, cudaMemcpyDeviceToDevice, s);
 | cudaMemcpy3DParms p = {0}; p.dstPtr = make_cudaPitchedPtr(d, 4, 4, 1); p.srcPtr = p.dstPtr; cudaMemcpy3DAsync(&p, s);
 | cudaMemPrefetchAsync(d, 4, 0, s);
 | cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, s); float a = 1; cublasSaxpy(h, 1, &a, d, 1, d, 1);
 | size_t b = 0; cub::DeviceReduce::Sum(nullptr, b, d, d, 4, s); cub::DeviceReduce::Sum(d, b, d, d + 4, 4, s);
 | float h[4]; cudaMemcpyAsync(h, d, 16, cudaMemcpyDeviceToHost, s);
Args a = {d, 1}; | worka<<<1, 1, 0, s>>>(a);
Args a = {.in = d, .n = 1}; | worka<<<1, 1, 0, s>>>(a);
Args a; a.in = d; Args b = a; | worka<<<1, 1, 0, s>>>(b);
Args a; auto set = [&](float *p) { a.in = p; }; set(d); | worka<<<1, 1, 0, s>>>(a);
auto make = [](float *p) { return Args{p, 1}; }; | worka<<<1, 1, 0, s>>>(make(d));
auto make = [](float *p) { Args a; a.in = p; return a; }; Args a = make(d); | worka<<<1, 1, 0, s>>>(a);
 | if (n > 2) run(d, s);
 | n > 2 ? run(d, s) : (void)0;
 | n > 2 && (run(d, s), 1);
 | for (int i = 0; i < n; i++) run(d + i, s);
 | do { run(d, s); } while (0);
 | switch (n) { case 20: run(d, s); break; default: break; }
 | try { run(d, s); throw 1; } catch (int) { }
 | goto l; l: run(d, s);
 | { run(d, s); }
union { float *f; void *v; } u = {d}; | workv<<<1, 1, 0, s>>>(u.v);
union { float *f; void *v; } u; u.v = nullptr; u.f = d; | workv<<<1, 1, 0, s>>>(u.v);
union U { float *f; void *v; }; U u; u.f = nullptr; u.v = d; | run(u.f, s);
struct S { int n; union { float *f; void *v; }; } u; u.f = nullptr; u.v = d; | run(u.f, s);
struct S { int n; union { float *f; void *v; } w; } u; u.w.f = nullptr; u.w.v = d; | run(u.w.f, s);
struct S { int n; union { float *f; void *v; }; } u = {1, {d}}; | workv<<<1, 1, 0, s>>>(u.v);
struct S { int n; union { float *f; void *v; }; } u = {1, d}; | workv<<<1, 1, 0, s>>>(u.v);
"""


@pytest.mark.parametrize("case", cases(USES))
def test_a_free_behind_work_on_another_stream_is_in_order(case: str) -> None:
    setup, _, use = case.partition(" | ")
    source = f"""{INCLUDES}
__global__ void work(float *p, int n) {{ p[0] = n; }}
__global__ void workv(void *p) {{ ((float *)p)[0] = 1; }}
struct Box {{
    float *p;
    float *get() const {{ return p; }}
    operator float *() const {{ return p; }}
    void run(cudaStream_t s) {{ work<<<1, 1, 0, s>>>(p, 1); }}
}};
struct Args {{ float *in; int n; }};
__global__ void workb(Box b) {{ b.p[0] = 1; }}
__global__ void worka(Args a) {{ a.in[0] = 1; }}
template <class T> struct Holder {{ T *p; T *data() {{ return p; }} }};
static float *same(float *p) {{ return p; }}
static void out(float **to, float *p) {{ *to = p; }}
static void outr(float *&to, float *p) {{ to = p; }}
static void run(float *p, cudaStream_t s) {{ work<<<1, 1, 0, s>>>(p, 1); }}
template <class F> void call(F f) {{ f(); }}
static float *keep;
class Worker {{
public:
    Worker(float *p) : p_(p) {{}}
    void go(cudaStream_t s) {{ work<<<1, 1, 0, s>>>(p_, 1); }}
private:
    float *p_;
}};
struct Base {{ virtual void go(cudaStream_t s) = 0; virtual ~Base() {{}} }};
struct Derived : Base {{
    float *p;
    Derived(float *q) : p(q) {{}}
    void go(cudaStream_t s) override {{ work<<<1, 1, 0, s>>>(p, 1); }}
}};
int main() {{
    const int n = 20; float *d = nullptr; cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&d, 4 * n);
    {setup}
    {use}
    cudaFree(d);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    ordered = any(word in inserted(report) for word in (", s", "Synchronize", "WaitEvent"))
    assert not moves(report, source, "cudaFree(d)") or ordered


# ---------------------------------------------------------------------------------------------------------------------
# a stream takes a way, and work on it is pending at the free; none of these orders it

STREAMS = """
 | work<<<1, 1, 0, s>>>(d, 1);
 | run(d, s);
Ctx c{s}; | work<<<1, 1, 0, c.st>>>(d, 1);
Ctx c{s}; | work<<<1, 1, 0, c.get()>>>(d, 1);
Ctx c{s}; | work<<<1, 1, 0, c>>>(d, 1);
Ctx c; c.st = s; | runr(d, c);
Ctx *c = new Ctx{s}; | run(d, c->st);
Ctx *c = new Ctx{s}; | run(d, *c);
auto c = std::make_unique<Ctx>(Ctx{s}); | run(d, c->st);
auto c = std::make_shared<Ctx>(Ctx{s}); | run(d, c->get());
Own o; | run(d, o.st);
Own o; | run(d, o);
Own *o = new Own; | run(d, o->st);
auto o = std::make_unique<Own>(); | run(d, o->st);
std::vector<Own> o(2); | run(d, o[1].st);
std::vector<cudaStream_t> v{s}; | run(d, v[0]);
std::vector<cudaStream_t> v(2); for (auto &t : v) cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); | run(d, v[1]);
std::vector<cudaStream_t> v(2); for (int i = 0; i < 2; i++) cudaStreamCreateWithFlags(&v[i], cudaStreamNonBlocking); | run(d, v[argc % 2]);
cudaStream_t v[2]; for (int i = 0; i < 2; i++) cudaStreamCreateWithFlags(&v[i], cudaStreamNonBlocking); | run(d, v[argc % 2]);
cudaStream_t v[2] = {s, s}; | run(d, v[1]);
cudaStream_t v[2] = {s, 0}; | run(d, v[argc % 2]);
std::array<cudaStream_t, 2> v{s, s}; | run(d, v[1]);
std::map<int, cudaStream_t> m; m[0] = s; | run(d, m[0]);
std::map<int, cudaStream_t> m{{0, s}}; | run(d, m.at(0));
std::pair<int, cudaStream_t> m(0, s); | run(d, m.second);
auto m = std::make_pair(0, s); | run(d, m.second);
auto m = std::make_tuple(0, s); | run(d, std::get<1>(m));
auto [a, b] = std::make_pair(0, s); | run(d, b);
std::optional<cudaStream_t> o = s; | run(d, *o);
std::optional<cudaStream_t> o; o = s; | run(d, o.value());
std::function<cudaStream_t()> f = [=] { return s; }; | run(d, f());
auto f = [&] { return s; }; | run(d, f());
auto f = [t = s](float *p) { work<<<1, 1, 0, t>>>(p, 1); }; | f(d);
cudaStream_t t = make(); | run(d, t);
cudaStream_t t; make2(&t); | run(d, t);
cudaStream_t t; maker(t); | run(d, t);
 | run(d, make());
 | run(d, the());
 | run(d, same(s));
 | run(d, argc > 1 ? s : 0);
cudaStream_t t = 0; if (argc > 1) t = s; | run(d, t);
cudaStream_t *t = &s; | run(d, *t);
cudaStream_t &t = s; | run(d, t);
void *t = s; | run(d, (cudaStream_t)t);
size_t t = (size_t)s; | run(d, (cudaStream_t)t);
g = s; | run(d, g);
static cudaStream_t t = make(); | run(d, t);
Worker w(s); | w.go(d);
Worker w{s}; | w.go(d);
auto w = Worker(s); | w.go(d);
 | Worker(s).go(d);
auto w = std::make_unique<Worker>(s); | w->go(d);
 | runt(d, s);
 | runt<cudaStream_t>(d, s);
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, s); float a = 1; | cublasSaxpy(h, 1, &a, d, 1, d, 1);
cublasHandle_t h; cublasCreate(&h); cublasSetStream(h, s); float a = 1; auto h2 = h; | cublasSaxpy(h2, 1, &a, d, 1, d, 1);
struct L { cublasHandle_t h; } l; cublasCreate(&l.h); cublasSetStream(l.h, s); float a = 1; | cublasSaxpy(l.h, 1, &a, d, 1, d, 1);
CUstream t = s; | cuMemsetD8Async((CUdeviceptr)d, 0, 4, t);
cudaLaunchConfig_t c = {}; c.stream = s; c.gridDim = 1; c.blockDim = 1; | cudaLaunchKernelEx(&c, work, d, 1);
cudaLaunchConfig_t c = {1, 1, 0, s}; | cudaLaunchKernelEx(&c, work, d, 1);
cudaGraph_t gr; cudaGraphExec_t ge; | cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); work<<<1, 1, 0, s>>>(d, 1); cudaStreamEndCapture(s, &gr); cudaGraphInstantiate(&ge, gr, 0); cudaGraphLaunch(ge, s);
std::unique_ptr<cudaStream_t> t(new cudaStream_t(s)); | run(d, *t);
auto t = std::make_shared<cudaStream_t>(s); | run(d, *t);
auto del = [](cudaStream_t *t) {}; std::unique_ptr<cudaStream_t, decltype(del)> t(new cudaStream_t(s), del); | run(d, *t);
union { cudaStream_t t; void *v; } u; u.v = s; | run(d, u.t);
cudaEvent_t e; cudaEventCreate(&e); | run(d, s); cudaEventRecord(e, 0); cudaStreamWaitEvent(s, e, 0);
cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s); | run(d, s); cudaStreamWaitEvent(0, e, 0);
cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s); | run(d, s); cudaEventSynchronize(e);
cudaEvent_t e; cudaEventCreate(&e); | run(d, s); cudaEventRecord(e, s); run(d, s); cudaEventSynchronize(e);
 | run(d, s); cudaStreamQuery(s);
 | run(d, s); cudaEventQuery(0);
 | run(d, s); if (argc > 1) cudaStreamSynchronize(s);
 | run(d, s); for (int i = 0; i < argc - 1; i++) cudaStreamSynchronize(s);
 | run(d, s); argc > 1 && cudaStreamSynchronize(s);
 | run(d, s); argc > 1 ? cudaStreamSynchronize(s) : cudaSuccess;
 | run(d, s); cudaStreamSynchronize(0);
 | run(d, s); cudaStreamSynchronize(make());
 | run(d, s); { cudaStream_t s = make(); cudaStreamSynchronize(s); }
 | run(d, s); cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice);
 | run(d, s); float h; cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, 0);
 | run(d, s); sizeof(cudaStreamSynchronize(s));
 | run(d, s); auto f = [&] { cudaStreamSynchronize(s); };
 | run(d, s); try { throw 1; cudaStreamSynchronize(s); } catch (int) {}
 | run(d, s); goto l; cudaStreamSynchronize(s); l:;
 | run(d, s); switch (argc) { default: break; case 5: cudaStreamSynchronize(s); }
 | run(d, s); while (argc-- > 1) { cudaStreamSynchronize(s); }
 | run(d, s); if (0) cudaStreamSynchronize(s);
 | if (argc > 1) run(d, s); else run(d, 0);
"""


@pytest.mark.parametrize("case", cases(STREAMS))
def test_the_stream_that_work_is_on_is_the_one_of_the_free(case: str) -> None:
    setup, _, use = case.partition(" | ")
    source = f"""{INCLUDES}
#include <cublas_v2.h>
__global__ void work(float *p, int n) {{ p[0] = n; }}
struct Ctx {{
    cudaStream_t st;
    cudaStream_t get() const {{ return st; }}
    operator cudaStream_t() const {{ return st; }}
}};
struct Own {{
    cudaStream_t st;
    Own() {{ cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking); }}
    ~Own() {{ cudaStreamDestroy(st); }}
    operator cudaStream_t() {{ return st; }}
}};
static cudaStream_t make() {{ cudaStream_t t; cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); return t; }}
static void make2(cudaStream_t *t) {{ cudaStreamCreateWithFlags(t, cudaStreamNonBlocking); }}
static void maker(cudaStream_t &t) {{ cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); }}
static cudaStream_t &the() {{ static cudaStream_t t = make(); return t; }}
static cudaStream_t same(cudaStream_t t) {{ return t; }}
static void run(float *p, cudaStream_t t = 0) {{ work<<<1, 1, 0, t>>>(p, 1); }}
static void runr(float *p, const Ctx &c) {{ work<<<1, 1, 0, c.st>>>(p, 1); }}
template <class S> void runt(float *p, S t) {{ work<<<1, 1, 0, t>>>(p, 1); }}
static cudaStream_t g;
class Worker {{
public:
    Worker(cudaStream_t t) : t_(t) {{}}
    void go(float *p) {{ work<<<1, 1, 0, t_>>>(p, 1); }}
private:
    cudaStream_t t_;
}};
int main(int argc, char **argv) {{
    const int n = 20; float *d = nullptr; cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    {setup}
    cudaMalloc(&d, 4 * n);
    {use}
    cudaFree(d);
    cudaDeviceSynchronize();
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    free = source.index("cudaFree(d)")
    given = [
        e.text for f in report.findings for e in f.edits if free < e.start < free + 12 and e.text.startswith(b", ")
    ]
    waits = "WaitEvent" in inserted(report) or "Synchronize" in inserted(report)
    assert not moves(report, source, "cudaFree(d)") or given != [b", 0"] or waits


# ---------------------------------------------------------------------------------------------------------------------
# a kernel writes through its parameter

DEVICE = """
#include <cuda_runtime.h>
#define FOR(i, n) for (int i = 0; i < n; i++)
#define SET(a, b) a = b
struct S {
    float *a; int n;
    __device__ void set(int i) { a[i] = 1; }
    __device__ float *at(int i) const { return a + i; }
    __device__ float &operator[](int i) const { return a[i]; }
};
template <class T> struct View {
    T *d; int n;
    __device__ T &operator()(int i) const { return d[i]; }
    __device__ T *data() const { return d; }
};
struct Writer {
    float *to;
    __device__ Writer(float *t) : to(t) {}
    __device__ void set(int i, float v) { to[i] = v; }
};
struct Op { float *o; __device__ void operator()(int i) const { o[i] = 1; } };
__device__ void put(float *x, float v) { *x = v; }
__device__ float *id(float *x) { return x; }
__device__ float &el(float *x, int i) { return x[i]; }
__device__ void viaref(const S &s) { s.a[0] = 1; }
__device__ void viaptr(const S *s) { s->a[0] = 1; }
__device__ void byval(const S s) { s.a[0] = 1; }
__device__ void store(S s, int i) { s.set(i); }
__device__ __forceinline__ void cp(float *__restrict__ d, const float *__restrict__ s) { d[0] = s[0]; }
template <class V> __device__ void viatempl(const V &v) { v(0) = 1; }
template <class F> __device__ void apply(F f, float *x) { f(x, 1); }
template <class F> __device__ void each(int n, const F &f) { for (int i = 0; i < n; i++) f(i); }
"""
STATEMENTS = """
*p++ = 1;
p[i] += 1;
reinterpret_cast<float4*>(p)[i] = make_float4(0,0,0,0);
((float4*)p)[i] = make_float4(0,0,0,0);
atomicAdd(&p[i], 1.0f);
atomicAdd(p + i, 1.0f);
__stcs(p, 1.0f);
wmma::store_matrix_sync(p, frag, 16, wmma::mem_row_major);
memcpy(p, q, 16);
struct V { float *x; } s; s.x = p; s.x[0] = 1;
struct V { float *x; } s = {p}; s.x[0] = 1;
struct V { float *x; } s{p}; s.x[0] = 1;
float &r = p[i]; r = 1;
auto &r = p[i]; r = 1;
float *t = i ? p : nullptr; t[0] = 1;
(i ? p : t)[0] = 1;
for (float *t = p; t != p + i; ++t) *t = 0;
float *ps[2] = {p, p}; ps[i][0] = 1;
float *ps[2]; ps[0] = p; ps[1][0] = 1;
cg::memcpy_async(block, p, q, 16);
cuda::atomic_ref<float> r(*p); r.fetch_add(1);
new (p) float(1);
float a = 1; std::swap(p[i], a);
swap(p[i], p[0]);
float *t; t = p; t++; t[0] = 1;
float **pp = &p; (*pp)[0] = 1;
auto t = p + 1; t[i]--;
auto *t = reinterpret_cast<int *>(p); t[i] = 3;
int *t = (int *)(p); t[i] = 3;
volatile float *t = p; *t = 2;
put(p, 1);
put(&p[1], 1);
auto f = put; f(p, 1);
void (*f)(float *, float) = put; f(p, 1);
apply(put, p);
Writer w(p); w.set(i, 1);
Writer w{p}; w.set(i, 1);
Writer(p).set(i, 1);
p[i] = p[i];
1 ? p[0] = 1 : 0;
if (float *t = p) *t = 1;
while (float *t = p) { *t = 1; break; }
float (&t)[4] = *(float (*)[4])p; t[0] = 1;
typedef float4 F; F *t = (F *)p; *t = F();
using F = float4; auto t = (F *)p; t->x = 1;
float4 *t = (float4 *)p; t->x = 1;
float4 *t = (float4 *)p; (*t).x += 1;
extern __shared__ float sm[]; float *t = sm; t = p; t[0] = 1;
uintptr_t u = (uintptr_t)p; *(float *)u = 1;
size_t u = (size_t)p; ((float *)u)[0] = 1;
unsigned long long u = reinterpret_cast<unsigned long long>(p); float *t = reinterpret_cast<float *>(u); *t = 1;
pipe.producer_acquire(); cuda::memcpy_async(p, q, sizeof(float), pipe);
__pipeline_memcpy_async(p, q, 16);
asm volatile("st.global.f32 [%0], %1;" :: "l"(p), "f"(1.0f));
asm volatile("red.global.add.f32 [%0], %1;" :: "l"(p), "f"(1.0f));
cub::StoreDirectBlocked(i, p, items);
BlockStore(temp).Store(p, items);
thrust::device_ptr<float> d(p); d[0] = 1;
thrust::fill(thrust::device, p, p + 4, 1.0f);
atomicCAS((int *)p, 0, 1);
atomicExch(&((int *)p)[i], 1);
auto g = [p](int i) { p[i] = 1; }; g(i);
auto g = [=](int i) mutable { p[i] = 1; }; g(i);
auto g = [t = p](int i) { t[i] = 1; }; g(i);
auto g = [&](auto x) { x[i] = 1; }; g(p);
FOR(i, 4) p[i] = 1;
SET(p[i], 1);
for (auto &x : view(p)) x = 1;
goto out; out: p[0] = 1;
switch (i) { case 0: p[0] = 1; }
float t = p[i]++;
do *p = 1; while (0);
p[i] <<= 1;
float *const t = p, *u = t; u[0] = 1;
float *t = p, u = 0; *t = u;
const float *c = p; const_cast<float *>(c)[0] = 1;
float *t = id(p); t[0] = 1;
float *t = p + (i ? 1 : 2); t[0] = 1;
float *t = &p[i]; t[0] = 1;
float *t = &(*p); t[0] = 1;
float *t{p}; t[0] = 1;
float *t(p); t[0] = 1;
auto t(p); t[0] = 1;
auto [t, u] = std::pair(p, 1); t[0] = 1;
std::tuple<float *> t(p); std::get<0>(t)[0] = 1;
union { float *f; int *n; } u; u.f = p; u.n[0] = 1;
p[i] = 1;
return (void)(p[0] = 1);
S s; s.a.b = p; s.a.b[0] = 1;
S *s = &gs; s->x = p; s->x[0] = 1;
cooperative_groups::memcpy_async(b, p, q, 4);
__nv_atomic_store_n(p, 1.0f, 0, 0);
__threadfence(); p[i] = 1;
"""
PARAMETERS = """
const S s | s.a[i] = 1;
S s | s.a[i] = 1;
S s | S t = s; t.a[0] = 1;
S s | auto &a = s.a; a[0] = 1;
S s | float *a = s.a; a[0] = 1;
S s | s.set(1);
S s | viaref(s);
S s | viaptr(&s);
S s | byval(s);
S s | store(s, 1);
S s | *s.at(1) = 1;
S s | s[1] = 1;
S *s | s->a[0] = 1;
const S *s | s->a[0] = 1;
const S *s | viaptr(s);
const S *s | viaref(*s);
const S *s | s[1].a[0] = 1;
const S *__restrict__ s | float *t = s->a; t[0] = 1;
View<float> s | s(1) = 2;
View<float> s | viatempl(s);
View<float> s | auto &r = s(1); r = 2;
View<float> s | s.data()[1] = 2;
View<float> s | float *t = s.data(); t[0] = 1;
const View<float> s | put(s.data(), 1);
float *s | el(s, 1) = 2;
float *s | auto &r = el(s, 1); r = 2;
float *s | cp(s, id(s));
float *s | cp(s + 1, 0);
float **s | s[0][1] = 2;
float *const *s | s[0][1] = 2;
Op s | s(1);
Op s | each(4, s);
float *s | each(4, Op{s});
float *s | each(4, Op(s));
float *s | Op o{s}; each(4, o);
float *s | each(4, [=](int i) { s[i] = 1; });
float4 *s | s[i].x = 1;
float4 *s | float4 v = s[i]; v.x = 1; s[i] = v;
float4 *s | float4 &v = s[i]; v.x = 1;
float4 *s | float *f = &s[i].x; *f = 1;
float4 *s | float *f = (float *)s + 1; *f = 1;
void *s | ((float *)s)[i] = 1;
void *s | static_cast<float *>(s)[i] = 1;
void *s | auto t = static_cast<float *>(s); t[i] = 1;
char *s | *(float *)(s + 4 * i) = 1;
cudaPitchedPtr s | char *row = (char *)s.ptr + i; ((float *)row)[0] = 1;
CUdeviceptr s | auto t = reinterpret_cast<float *>(s); *t = 1;
float (*s)[4] | s[0][1] = 1;
float s[] | s[0] = 1;
float s[4] | s[0] = 1;
thrust::device_ptr<float> s | s[0] = 1;
half2 *s | s[i] = __hadd2(s[i], s[i]);
T *__restrict__ s | s[i] = T(1);
float *s | if (i) { float *t = s; { float *u = t; *u = 1; } }
float *s | float *t[2]; t[0] = t[1] = s; *t[0] = 1;
float *s | float *t = nullptr, *u = s; if (i) t = u; if (t) *t = 1;
float *s | struct { float *x[2]; } l; l.x[1] = s; l.x[1][0] = 1;
float *s | float *t; { t = id(s); } t[0] = 1;
float *s | float *t; t = i ? s + 1 : s; t[0] = 1;
float *s | float *t; t = (float *)((char *)s + i); t[0] = 1;
float *s | float *t; t = s + i * 4 + 1; t[0] = 1;
float *s | int *t; t = reinterpret_cast<int *>(s); atomicOr(t, 1);
float *s | float *t = s; t += 4; t[-1] = 1;
float *s | float x = 1; s[0] = x;
float *s | asm("" ::); s[0]--;
float *s | --s[0];
float *s | (*s)++;
float *s | s[0] |= 1;
float *s | i = s[0] = 1;
float *s | for (;;) if (i) s[0] = 1; else break;
float *s | __stwt(&s[i], 1.f);
float *s | __nanosleep(1), s[i] = 1;
float *s | nvcuda::wmma::store_matrix_sync(&s[i], f, 16, nvcuda::wmma::mem_row_major);
float *s | mma_store(s);
float *s | cooperative_groups::coalesced_threads(); atomicMax((int *)&s[1], 2);
float *s | cuda::atomic<float> *a = (cuda::atomic<float> *)s; a->store(1);
float *s | auto a = cuda::atomic_ref<float, cuda::thread_scope_device>(s[0]); a.store(1);
float *s | cub::DeviceStore(s);
float *s | cub::BlockStore<float, 32, 4>(t).Store(s, x);
float *s | cub::StoreDirectStriped<32>(i, s, x);
"""


def written(parameter: str, body: str) -> bool:
    source = f"{DEVICE}template <class T>\n__global__ void k({parameter}, int i, const float *q) {{\n{body}\n}}\n"
    (module,) = (variant.module for variant in Tree({"a.cu": source.encode()}).variants_of("a.cu"))
    (kernel,) = (kernel for kernel in module.kernels if kernel.name == "k")
    return 0 in kernel.writes


@pytest.mark.parametrize("body", cases(STATEMENTS))
def test_what_a_kernel_writes_through_a_pointer_is_seen(body: str) -> None:
    assert written("float *p", body)


@pytest.mark.parametrize("case", cases(PARAMETERS))
def test_what_a_kernel_writes_through_its_parameter_is_seen(case: str) -> None:
    parameter, _, body = case.partition(" | ")
    assert written(parameter, body)


@pytest.mark.parametrize(
    "body",
    cases("""
float v = p[i]; v = 1;
auto v = p[i]; v += 1;
const float &v = p[i]; float w = v; w = 2;
auto f = [=](float v) { return v + p[i]; }; float w = f(p[0]);
float *t = p; t++;
if (float v = p[i]) i = v;
"""),
)
def test_what_a_kernel_only_reads_is_not_written(body: str) -> None:
    assert not written("float *p", body)
