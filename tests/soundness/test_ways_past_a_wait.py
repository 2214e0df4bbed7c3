"""Ways past a wait: a program that leaned on the wait of `cudaFree`, one way a line.

Each table has what stands before a free (`|`) and what stands behind it. What comes behind needs what the device does
before, so that the free may move only with a wait, or may not move. The first tables have ways to reach memory of which
the name is not enough (see tests/soundness/test_ways_to_memory.py for pointers), the others ways through which control goes.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_to_memory import INCLUDES, cases


def moves_without(source: str, *words: str) -> bool:
    """Whether something is freed asynchronously by a proven rewrite that adds none of the words."""
    report = analyze({"a.cu": source.encode()}, Config())
    text = " ".join(e.text.decode() for f in report.findings if f.safety is Safety.PROVEN for e in f.edits)
    return "Async" in text and not any(word in text for word in words)


def parts(case: str) -> tuple[str, str, str]:
    """What stands at namespace scope (left of `||`), before the free, and behind it (right of `|`)."""
    first, both, second = case.partition(" || ")
    outside, rest = (first, second) if both else ("", first)
    before, _, behind = rest.partition(" | ")
    return outside, before, behind


def program(outside: str, before: str, behind: str) -> str:
    return f"""{INCLUDES}
__global__ void k(int *p, int *t) {{ p[0] = 1; t[0] = 1; }}
__global__ void pr(int *p) {{ printf("%d", *p); }}
{outside}
int main(int argc, char **argv) {{
    cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *t, *d2, *pg = (int *)malloc(400), *hp; cudaMallocManaged(&t, 400); cudaMalloc(&d2, 400);
    cudaMallocHost(&hp, 400);
    int *d; cudaMalloc(&d, 400);
    {before}
    cudaFree(d);
    {behind}
    cudaDeviceSynchronize();
    return 0;
}}
"""


# ---------------------------------------------------------------------------------------------------------------------
# variables of the device, by their names

MANAGED = """
km<<<1,1>>>(d); | return man;
km<<<1,1>>>(d); | int x = man; return x;
km<<<1,1>>>(d); | printf("%d", man);
km<<<1,1>>>(d); | if (man) return 2;
km<<<1,1>>>(d); | man = 3;
km<<<1,1>>>(d); | return look();
km<<<1,1>>>(d); | int *q = &man; return *q;
km<<<1,1>>>(d); | std::cout << man;
kms<<<1,1>>>(d); | return mans[1];
kms<<<1,1>>>(d); | return *mans;
kms<<<1,1>>>(d); | int x = mans[1]; return x;
kms<<<1,1>>>(d); | return mq.a;
kms<<<1,1>>>(d); | Q c = mq; return c.a;
kms<<<1,1>>>(d); | int x = mq.a + 1; return x;
kms<<<1,1>>>(d); | auto &r = mq; return r.a;
kms<<<1,1>>>(d); | return std::accumulate(mans, mans + 4, 0);
kms<<<1,1>>>(d); | for (int x : mans) argc += x; return argc;
kms<<<1,1>>>(d); | return [&] { return man; }();
kr<<<1,1>>>(d); | man = 3;
kr<<<1,1>>>(d); | man++;
kr<<<1,1>>>(d); | mans[1] = 3;
kr<<<1,1>>>(d); | memset(mans, 0, 4);
kr<<<1,1>>>(d); | std::cin >> man;
"""


@pytest.mark.parametrize("case", cases(MANAGED))
def test_a_managed_variable_is_memory_that_the_host_touches(case: str) -> None:
    source = """__managed__ int man;
__device__ __managed__ int mans[4];
struct Q { int a; float b; }; __managed__ Q mq;
__global__ void km(int *p) { man = p[0]; }
__global__ void kms(int *p) { mans[1] = p[0]; mq.a = 1; atomicAdd(&man, 1); }
__global__ void kr(int *p) { p[0] = man + mans[0]; }
static int look() { return man; }
"""
    _, before, behind = parts(case)
    assert not moves_without(program(source, before, behind), "Synchronize")


SYMBOLS = """
static __managed__ int man; __global__ void km(int *p) { man = p[0]; } || km<<<1,1>>>(d); | return man;
namespace a { __managed__ int man; __global__ void km(int *p) { man = p[0]; } } || a::km<<<1,1>>>(d); | return a::man;
namespace { __managed__ int man; __global__ void km(int *p) { man = p[0]; } } || km<<<1,1>>>(d); | return man;
extern __managed__ int man; __global__ void km(int *p) { man = p[0]; } || km<<<1,1>>>(d); | return man;
__managed__ int man; template <class T> __global__ void km(T *p) { man = p[0]; } || km<int><<<1,1>>>(d); | return man;
__managed__ int man[4]; __global__ void km(int *p) { p[0] = 1; } || km<<<1,1>>>(man); | return man[0];
__managed__ int man; __global__ void km(int *p) { p[0] = 1; } || km<<<1,1>>>(&man); | return man;
__managed__ int man; __global__ void km(int &p) { p = 1; } || km<<<1,1>>>(man); | return man;
__managed__ int *man; __global__ void km(int *p) { man[0] = p[0]; } || man = t; km<<<1,1>>>(d); | return man[0];
__managed__ int *man; __global__ void km(int *p) { man[0] = p[0]; } || man = t; km<<<1,1>>>(d); | return t[0];
__managed__ int *man; __global__ void km() { man[0] = 1; } || man = t; km<<<1,1>>>(); | return t[0];
"""


@pytest.mark.parametrize("case", cases(SYMBOLS))
def test_what_a_kernel_reaches_through_a_variable_of_the_device_is_waited_for(case: str) -> None:
    assert not moves_without(program(*parts(case)), "Synchronize")


REPLACED = """
kc<<<1,1,0,s>>>(d); | cudaMemcpyToSymbol(con, hp, 4);
kc<<<1,1,0,s>>>(d); | cudaMemcpyToSymbolAsync(con, hp, 4, 0, cudaMemcpyHostToDevice, 0);
kc<<<1,1,0,s>>>(d); | void *a; cudaGetSymbolAddress(&a, con); cudaMemset(a, 0, 4);
ks<<<1,1,0,s>>>(d); | int x; cudaMemcpyFromSymbol(&x, sym, 4);
ks<<<1,1,0,s>>>(d); | cudaMemcpyFromSymbolAsync(hp, sym, 4, 0, cudaMemcpyDeviceToHost, 0);
ks<<<1,1,0,s>>>(d); | void *a; cudaGetSymbolAddress(&a, sym); cudaMemset(a, 0, 4);
pr<<<1,1>>>(d); | pr<<<1,1,0,s>>>(d2);
pr<<<1,1,0,s>>>(d2); | pr<<<1,1>>>(d2);
"""


@pytest.mark.parametrize("case", cases(REPLACED))
def test_work_of_another_stream_on_a_variable_or_on_the_output_stays_in_order(case: str) -> None:
    source = """__device__ int sym; __constant__ int con[4];
__global__ void ks(int *p) { sym = p[0]; }
__global__ void kc(int *p) { p[0] = con[0]; }
"""
    _, before, behind = parts(case)
    assert not moves_without(program(source, before, behind), "Synchronize", "WaitEvent")


# ---------------------------------------------------------------------------------------------------------------------
# where the host reads: in declarations, containers, arguments, conditions

READS = """
std::string q((char *)t, 4); std::cout << q;
std::string q((char *)t); return q.size();
std::string q; q = (char *)t; return q.size();
std::string q = (char *)t; return q.size();
std::string q; q.append((char *)t); return q.size();
std::string q; q += (char *)t; return q.size();
std::string q; q.assign((char *)t, 3); return q.size();
std::string_view q((char *)t, 3); return q[0];
std::string q{(char *)t, 4}; return q[0];
auto q = std::string((char *)t, 4); return q[0];
std::set<int> q(t, t + 2); return q.size();
std::set<int> q; q.insert(t, t + 2); return q.size();
std::set<int> q; q.insert(*t); return q.size();
std::map<int, int> q; q[*t] = 1; return q.size();
std::map<int, int> q; q.emplace(*t, 1); return q.size();
std::vector<int> q(*t); return q.size();
std::vector<int> q(3, *t); return q.size();
std::vector<int> q{*t}; return q.size();
std::vector<int> q; q.resize(*t); return q.size();
std::list<int> q(t, t + 2); return q.size();
std::deque<int> q(t, t + 2); return q.size();
std::vector<int> q; std::copy(t, t + 2, std::back_inserter(q)); return q.size();
std::copy(t, t + 2, std::ostream_iterator<int>(std::cout));
int *n = new int(*t); return *n;
auto n = std::make_unique<int>(*t); return *n;
int *n = new int[*t]; return n[0];
int *n = (int *)malloc(*t); return n != 0;
k<<<*t, 1>>>(d2, d3);
dim3 g(t[0]); k<<<g, 1>>>(d2, d3);
k<<<dim3(t[0], 1), 1>>>(d2, d3);
k<<<1, 1>>>(d2 + *t, d3);
k<<<1, 1>>>(&d2[*t], d3);
cudaMemcpy(d2, d3, t[0], cudaMemcpyDeviceToDevice);
cudaMemset(d2, t[0], 4);
cudaMemcpyAsync(d2, d3, *t * 4, cudaMemcpyDeviceToDevice, s);
cudaStreamSynchronize(t[0] ? s : s2);
cudaSetDevice(t[0]);
argc = t[0], argc++;
static int st = t[0]; return st;
return argc > 1 ? t[0] : 2;
return argc && t[0];
return big[t[0]];
big[t[0]] = 1;
std::variant<int, float> v = t[0]; return std::get<int>(v);
std::optional<int> v = t[0]; return *v;
std::stringstream o; o << t[0]; return o.str().size();
return std::format("{}", t[0]).size();
return std::inner_product(t, t + 2, t, 0);
return std::count_if(t, t + 2, [](int x) { return x > 0; });
return std::equal(t, t + 2, big);
return std::equal(big, big + 2, t);
return memcmp(big, t, 4);
return strlen((char *)t);
return atoi((char *)t);
return std::reduce(t, t + 2);
return std::min(t[0], t[1]);
return std::minmax({t[0], t[1]}).first;
qsort(t, 2, 4, 0); cudaDeviceSynchronize();
int r = 0; while (r < t[1]) r++; return r;
for (int r = t[0]; r < 2; r++) argc++; return argc;
for (int r = 0; r < 2; r += t[0]) argc++; return argc;
if (int r = t[0]; r > 1) return 1;
if (int r = t[0]) return r;
int a[] = {t[0], t[1]}; return a[0];
int x(t[0]);
int x(t[n]);
float x(t[n]);
W w(t[0]);
W w{t[0]};
W w = t[0];
W w = W(t[0]);
W *w = new W(t[0]);
auto w = std::make_unique<W>(t[0]);
WS w((char *)t);
WS w{(char *)t};
WV w(t);
WM w(t);
WN w(t);
WR w(*t);  w.n++;
WR w(t[0]); int y = w.n;
WB w(t);
WD w(t);
WA w = *(WA *)t;
WA w; w = *(WA *)t;
WA w; memcpy(&w, t, 8);
WA w{t[0], t[1]};
WA w{{t[0], t[1]}};
dim3 g(t[0]);
dim3 g(t[0], 1);
dim3 g{t[0], 1, 1};
dim3 g = {t[0], 1, 1};
dim3 g(cnt(t));
dim3 g; g.x = t[0];
int x(cnt(t));
const int x = tv[0][0];
int x(tv[0][0]);
int x(ta[0][1]);
int x(ts.p[0]);
int x = *ts.p;
int x = *tv.at(1);
int x = tv.back()[0];
auto x = t[0];
auto x = *t + 1;
auto x{t[0]};
auto [a, b] = *(std::pair<int, int> *)t;
double x = t[0] * 2.0;
float x = t[0];
std::vector<int> v(t, t + 4);
std::vector<int> v{t, t + 4};
std::vector<int> v = std::vector<int>(t, t + 4);
auto v = std::vector<int>(t, t + 4);
std::vector<int> v; v = std::vector<int>(t, t + 4);
std::vector<int> v; v = {t[0], t[1]};
std::vector<int> v = {t[0], t[1]};
std::vector<int> v(4); v[0] = t[0];
std::vector<int> v(4); v.at(0) = t[0];
std::vector<int> v(4); v.back() = t[0];
std::vector<float> v(t, t + 4);
std::vector<std::vector<int>> v; v.push_back(std::vector<int>(t, t + 4));
std::vector<std::vector<int>> v(2); v[0].assign(t, t + 4);
std::vector<int> v; v.insert(v.begin(), t[0]);
std::vector<int> v; v.emplace_back(t[0]);
std::array<int, 2> v = *(std::array<int, 2> *)t;
std::array<int, 2> v{t[0], t[1]};
std::pair<int, int> v(t[0], t[1]);
auto v = std::make_pair(t[0], t[1]);
std::tuple<int, int> v{t[0], t[1]};
std::tie(argc, n) = std::make_pair(t[0], t[1]);
gv.assign(t, t + 4);
gv = std::vector<int>(t, t + 4);
gs = std::string((char *)t);
gs.assign((char *)t);
gs += (char *)t;
gs.append((char *)t, 3);
gs = gs + (char *)t;
gl = t[0];
gl += t[0];
gl |= *t;
std::swap(gl, t[0]);
std::copy(t, t + 4, gv.begin());
std::copy(t, t + 4, big);
std::memcpy(big, t, 4);
std::memmove(big, t, 4);
std::transform(t, t + 4, big, [](int x) { return x; });
std::partial_sum(t, t + 4, big);
std::for_each(t, t + 4, [&](int x) { gl += x; });
for (int *p = t, *e = t + 4; p != e; p++) gl += *p;
for (int i : {t[0], t[1]}) gl += i;
int i = 0; while (t[i++]) gl++;
if (t[0] == 0) gl++;
if (n && t[0]) gl++;
if (!t[0]) gl++;
if (t[0] < t[1]) gl++;
if (auto x = t[0]; x) gl++;
switch (t[0]) { case 1: gl++; }
gl = n ? t[0] : 0;
gl = n ? 0 : *t;
gl = (n, t[0]);
gl = cnt(t), n++;
gl = [](int *p) { return *p; }(t);
auto f = [x = t[0]] { return x; }; gl = f();
auto f = [x = *t] { return x; };
std::function<int()> f = [x = t[0]] { return x; };
auto f = std::bind(cnt, t); gl = f();
gl = std::invoke(cnt, t);
gl = std::apply(cnt, std::make_tuple(t));
int (*f)(int *) = cnt; gl = f(t);
assert(t[0]);
try { gl = t[0]; } catch (...) {}
try { gl = tv.at(1)[0]; } catch (...) {}
goto a; a: gl = t[0];
do { gl = t[0]; } while (0);
{ int x = t[0]; gl = x; }
struct L { int *p; int get() { return p[0]; } } l{t}; gl = l.get();
struct L { static int get(int *p) { return p[0]; } }; gl = L::get(t);
gl = *std::min_element(t, t + 4);
auto it = std::find(t, t + 4, 3); gl = it - t;
gl = std::distance(t, std::find(t, t + 4, 3));
gl = std::binary_search(t, t + 4, 3);
gl = std::lower_bound(t, t + 4, 3) - t;
gl = std::any_of(t, t + 4, [](int x) { return x; });
gl = std::accumulate(t, t + 4, 0, std::plus<int>());
gl = std::string((char *)t).size();
gl = std::string_view((char *)t).size();
gl = strcmp((char *)t, "x");
gl = strncmp((char *)t, "x", 1);
gl = *(volatile int *)t;
gl = const_cast<volatile int *>(t)[0];
gl = ((volatile int *)t)[1];
gl = *reinterpret_cast<short *>(t);
gl = __atomic_load_n(t, __ATOMIC_SEQ_CST);
gl = reinterpret_cast<std::atomic<int> *>(t)->load();
gl = std::atomic_ref<int>(*t).load();
gl = __sync_fetch_and_add(t, 0);
gl = _mm_cvtsi128_si32(_mm_loadu_si128((__m128i *)t));
gl = __builtin_popcount(t[0]);
gl = std::popcount((unsigned)t[0]);
gl = std::bit_cast<float>(t[0]);
gl = int{t[0]};
gl = int(t[0]);
gl = static_cast<int>(t[0] + 0.5);
gl = (int)(float)t[0];
gl = ~t[0];
gl = -*t;
gl = t[0]--;
gl = sizeof(int) * t[0];
gl = !!t[0];
gl = *t++;
gl = *++t;
gl = (t + 1)[0];
gl = 1[t];
gl = (&t[1])[-1];
gl = *(int *)(char *)t;
gl = (*&*t);
gl = t[t[0]];
gl = big[t[0]];
big[t[0]] = 2;
gl = std::max({t[0], t[1]});
gl = std::max<int>(t[0], 1);
gl = std::clamp(t[0], 0, 1);
gl = std::exchange(t[0], 1);
gl = fminf(t[0], 1.f);
gl = printf("%d", t[0]);
fprintf(stderr, "%d", t[0]);
sprintf((char *)big, "%d", t[0]);
snprintf((char *)big, 3, "%d", t[0]);
std::cerr << t[0];
std::ostringstream o; o << t[0] << 1;
std::ofstream o("x"); o.write((const char *)t, 4);
gl = std::to_string(t[0]).size();
throw t[0];
throw W(t[0]);
throw std::runtime_error(std::to_string(t[0]));
exit(t[0]);
return cnt(t);
throw std::runtime_error((char *)t);
delete new W(t[0]);
static W w(t[0]);
static W w{t[0]};
static const int c = t[0] + 1;
static int c(t[0]);
static std::vector<int> w(t, t + 3);
static std::string w((char *)t);
thread_local int w = t[0];
constexpr int one = 1; gl = t[one];
const auto &r = t[0]; gl = r;
auto &&r = t[0]; gl = r;
int &&r = int(t[0]); gl = r;
const int &r = std::max(t[0], t[1]); gl = r;
decltype(auto) r = t[0]; gl = r;
decltype(t[0]) r = t[0]; gl = r;
int *q = &t[0], x = *q;
int *q = t, **r = &q; gl = **r;
int (*q)[4] = (int (*)[4])t; gl = (*q)[0];
int (*q)[4] = (int (*)[4])t; gl = q[0][1];
typedef struct { int a, b; } ab; ab *q = (ab *)t; gl = q->b;
typedef struct { int a, b; } ab; ab q = *(ab *)t; gl = q.b;
typedef struct { int a, b; } ab; ab q = ((ab *)t)[0];
using P = int *; P q = t; gl = *q;
enum E { A }; E e = (E)t[0];
bool b = t[0];
bool b = t[0] == 1 && t[1] == 2;
std::bitset<4> b(t[0]);
std::complex<float> b(t[0], t[1]);
std::complex<float> b = *(std::complex<float> *)t;
float2 b = *(float2 *)t;
float4 b = make_float4(t[0], 1, 1, 1);
int2 b{t[0], 1};
__half b = __float2half(t[0]);
std::chrono::seconds b(t[0]);
std::this_thread::sleep_for(std::chrono::seconds(t[0]));
usleep(t[0]);
std::mt19937 b(t[0]);
srand(t[0]);
std::unique_ptr<int[]> b(new int[t[0]]);
auto b = std::make_unique<int[]>(t[0]);
int *b = new int[4]{t[0]};
int *b = new int{t[0]};
int *b = (int *)calloc(t[0], 4);
alloca(t[0]);
std::shared_ptr<int> b(new int(t[0]));
std::optional<int> b(t[0]);
std::optional<int> b{t[0]};
std::any b = t[0];
std::variant<int, float> b(t[0]);
std::map<int, int> b{{t[0], 1}};
std::map<int, int> b; b[1] = t[0];
std::map<int, int> b; b.insert({1, t[0]});
std::map<int, int> b; b.insert(std::make_pair(1, t[0]));
std::set<int> b{t[0]};
std::set<int> b(t, t + 2);
std::unordered_map<int, int> b; b[t[0]]++;
std::queue<int> b; b.push(t[0]);
std::priority_queue<int> b(t, t + 3);
std::valarray<int> b(t, 4);
std::initializer_list<int> b = {t[0]};
std::function<void(int)> b = [](int x) { gl = x; }; b(t[0]);
std::thread b([](int x) { gl = x; }, t[0]); b.join();
std::async(cnt, t).get();
"""


@pytest.mark.parametrize("read", cases(READS))
def test_what_the_host_reads_in_any_place_is_waited_for(read: str) -> None:
    source = """
struct W { int n; W(int x) : n(x) {} };
struct WS { std::string s; WS(const char *p) : s(p) {} };
struct WV { std::vector<int> v; WV(int *p) : v(p, p + 2) {} };
struct WM { int n; WM(int *p) : n(p[0]) {} };
struct WN { int n = 0; int m; WN(int *p) : m{*p} {} };
struct WR { int &n; WR(int &p) : n(p) {} };
struct WB : W { WB(int *p) : W(p[0]) {} };
struct WD { int n; WD(int x) : n(x) {} WD(int *p) : WD(p[0]) {} };
struct WA { int a[2]; };
__global__ void kn(int *p, int n) { p[0] = n; }
static int gl; static std::vector<int> gv; static std::string gs;
static int cnt(int *p) { return p[0]; }
"""
    before = "std::vector<int *> tv{t, t}; int *ta[2] = {t, t}; struct { int *p; } ts{t}; int n = argc, big[99];"
    before += " cudaStream_t s2; int *d3; k<<<1, 1>>>(d, t);"
    assert not moves_without(program(source, before, read), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# host memory that the device works on ends

ENDS = """
cudaHostRegister(pg, 400, 0); cudaMemcpyAsync(pg, d2, 4, cudaMemcpyDeviceToHost, s); | free(pg);
cudaHostRegister(pg, 400, 0); k<<<1,1,0,s>>>(d2, pg); | free(pg);
int *q = new int[4]; cudaHostRegister(q, 16, 0); cudaMemcpyAsync(q, d2, 4, cudaMemcpyDeviceToHost, s); | delete[] q;
int *q = new int[4]; cudaHostRegister(q, 16, 0); k<<<1,1,0,s>>>(d2, q); | delete[] q;
cudaHostRegister(pg, 400, 0); cudaMemcpyAsync(pg, d2, 4, cudaMemcpyDeviceToHost, s); | return pg[0];
cudaHostRegister(pg, 400, 0); cudaMemcpyAsync(d2, pg, 4, cudaMemcpyHostToDevice, s); | pg[0] = 1;
cudaHostRegister(pg, 400, 2); int *m; cudaHostGetDevicePointer(&m, pg, 0); k<<<1,1>>>(d, m); | return pg[0];
"""


@pytest.mark.parametrize("case", cases(ENDS))
def test_registered_memory_is_not_given_back_under_the_device(case: str) -> None:
    assert not moves_without(program(*parts(case)), "Synchronize")


# ---------------------------------------------------------------------------------------------------------------------
# ways in which memory is freed, and ways through which control goes, before the host reads what the kernel wrote; `D`
# allocates, `K` allocates and launches

SHORT = {"D": "int *d; cudaMalloc(&d, 4);", "K": "int *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d, t);"}


def read_behind(way: str) -> str:
    outside, both, inside = way.partition(" || ")
    words = (inside if both else way).split(" ")
    body = " ".join(SHORT.get(word, word) for word in words)
    return f"""{INCLUDES}
__global__ void k(int *p, int *t) {{ p[0] = 1; t[0] = 1; }}
struct G {{ int *p; G() {{ cudaMalloc(&p, 4); }} ~G() {{ cudaFree(p); }} }};
struct Del {{ void operator()(int *p) const {{ cudaFree(p); }} }};
static std::unique_ptr<int, Del> mk() {{ int *d; cudaMalloc(&d, 4); return std::unique_ptr<int, Del>(d); }}
static int go(int *x) {{ k<<<1, 1>>>(x, x); return 1; }}
static bool pred();
{outside if both else ""}
int main(int argc, char **argv) {{
    cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *t; cudaMallocManaged(&t, 4); t[0] = 0;
    {body}
    return t[0];
}}
"""


FREES = """
static void fr(int *p) { cudaFree(p); } || K fr(d);
static void fr(void *p) { if (p) cudaFree(p); } || K fr(d);
static void fr(int **p) { cudaFree(*p); *p = nullptr; } || K fr(&d);
static void fr(int *&p) { cudaFree(p); p = nullptr; } || K fr(d);
template <class T> void fr(T *&p) { if (p) { cudaFree(p); p = nullptr; } } || K fr(d);
template <class T> void fr(T p) { cudaFree(p); } || K fr(d);
template <class... T> void fr(T... p) { (cudaFree(p), ...); } || K fr(d);
template <class... T> void fr(T *... p) { int x[] = {(cudaFree(p), 0)...}; } || K fr(d);
static void fr(int *p, bool really) { if (really) cudaFree(p); } || K fr(d, true);
static void fr(int *p, int n) { if (n == 0) cudaFree(p); else fr(p, n - 1); } || K fr(d, 3);
static int fr(int *p) { return cudaFree(p); } || K return fr(d) + t[0];
static int fr(int *p) { return cudaFree(p); } || K return t[0] + fr(d);
#define FR(p) cudaFree(p); p = 0; || K FR(d)
#define FR(p) do { if (p) cudaFree(p); } while (0) || K FR(d);
{ G g; k<<<1, 1>>>(g.p, t); }
struct H { G g; }; || { H h; k<<<1, 1>>>(h.g.p, t); }
struct H : G { }; || { H h; k<<<1, 1>>>(h.p, t); }
struct H { G g[2]; }; || { H h; k<<<1, 1>>>(h.g[1].p, t); }
{ G g[2]; k<<<1, 1>>>(g[1].p, t); }
{ std::vector<G> g(2); k<<<1, 1>>>(g[1].p, t); }
{ std::array<G, 2> g; k<<<1, 1>>>(g[1].p, t); }
{ auto g = std::make_unique<G>(); k<<<1, 1>>>(g->p, t); }
{ auto g = std::make_shared<G>(); k<<<1, 1>>>(g->p, t); }
auto g = std::make_unique<G>(); k<<<1, 1>>>(g->p, t); g.reset();
auto g = std::make_unique<G>(); k<<<1, 1>>>(g->p, t); g = nullptr;
auto g = std::make_unique<G>(); k<<<1, 1>>>(g->p, t); g = std::make_unique<G>();
auto g = std::make_unique<G>(), h = std::move(g); k<<<1, 1>>>(h->p, t); h.reset();
auto g = std::make_unique<G>(), h = std::make_unique<G>(); k<<<1, 1>>>(h->p, t); std::swap(g, h); g.reset();
auto g = std::make_unique<G>(); k<<<1, 1>>>(g->p, t); delete g.release();
G *g = new G; k<<<1, 1>>>(g->p, t); delete g;
G *g = new G[2]; k<<<1, 1>>>(g[0].p, t); delete[] g;
G g; k<<<1, 1>>>(g.p, t); g.~G();
std::optional<G> g; g.emplace(); k<<<1, 1>>>(g->p, t); g.reset();
std::map<int, G> m; k<<<1, 1>>>(m[1].p, t); m.clear();
std::map<int, G> m; k<<<1, 1>>>(m[1].p, t); m.erase(1);
std::list<G> m; m.emplace_back(); k<<<1, 1>>>(m.back().p, t); m.pop_back();
std::vector<std::unique_ptr<G>> m; m.push_back(std::make_unique<G>()); k<<<1, 1>>>(m[0]->p, t); m.clear();
k<<<1, 1>>>(G().p, t);
for (int i = 0; i < 3; i++) { G g; k<<<1, 1>>>(g.p, t); if (i == 1) break; }
for (int i = 0; i < 3; i++) { G g; k<<<1, 1>>>(g.p, t); if (i == 1) continue; }
for (int i = 0; i < 3; i++) { G g; if (t[0] == 2) break; k<<<1, 1>>>(g.p, t); }
if (G g; argc > 1) k<<<1, 1>>>(g.p, t);
for (G g; t[0] < 2;) { k<<<1, 1>>>(g.p, t); break; }
switch (G g; argc) { default: k<<<1, 1>>>(g.p, t); }
try { G g; k<<<1, 1>>>(g.p, t); throw 1; } catch (int) { }
static void th() { throw 1; } || try { G g; k<<<1, 1>>>(g.p, t); th(); cudaDeviceSynchronize(); } catch (int) { }
static void f(int *t, int c) { G g; k<<<1, 1>>>(g.p, t); if (c) return; cudaDeviceSynchronize(); } || f(t, argc);
static int f(int *t) { G g; k<<<1, 1>>>(g.p, t); return 1; } || int x = f(t) + t[0]; return x;
static void f(int *t) { static G g; k<<<1, 1>>>(g.p, t); } || f(t); cudaFree(0);
K std::vector<std::function<void()>> v; v.push_back([=] { cudaFree(d); }); for (auto &f : v) f();
K std::function<void()> f = [&] { cudaFree(d); }; f();
K auto f = [&] { cudaFree(d); }; f();
D auto f = [&](int *x) { k<<<1, 1>>>(x, t); cudaFree(x); }; f(d);
struct Fin { std::function<void()> f; ~Fin() { f(); } }; || D { Fin fin{[&] { cudaFree(d); }}; k<<<1, 1>>>(d, t); }
D { std::unique_ptr<int, void (*)(int *)> fin(d, [](int *p) { cudaFree(p); }); k<<<1, 1>>>(d, t); }
D { std::shared_ptr<void> fin(nullptr, [&](void *) { cudaFree(d); }); k<<<1, 1>>>(d, t); }
D { std::unique_ptr<int, decltype(&cudaFree)> fin(d, cudaFree); k<<<1, 1>>>(d, t); }
{ D std::unique_ptr<int, Del> u(d); k<<<1, 1>>>(u.get(), t); }
D std::unique_ptr<int, Del> u(d); k<<<1, 1>>>(u.get(), t); u.reset();
D std::unique_ptr<int, Del> u(d); k<<<1, 1>>>(u.get(), t); u = nullptr;
{ auto u = mk(); k<<<1, 1>>>(u.get(), t); }
k<<<1, 1>>>(mk().get(), t);
auto u = mk(); k<<<1, 1>>>(u.get(), t); u = mk();
D std::vector<std::unique_ptr<int, Del>> v; v.emplace_back(d); k<<<1, 1>>>(d, t); v.clear();
struct H { std::unique_ptr<int, Del> u; }; || D { H h; h.u.reset(d); k<<<1, 1>>>(d, t); }
K for (int i = 0; i < 1; i++) cudaFree(d);
K if (argc > 1) cudaFree(d);
K switch (argc) { case 1: cudaFree(d); break; default: cudaFree(d); }
K goto end; end: cudaFree(d);
K try { throw 1; } catch (...) { cudaFree(d); }
K int *e = d; cudaFree(e);
K cudaFree(std::exchange(d, nullptr));
int *d; int **pp = &d; cudaMalloc(pp, 4); k<<<1, 1>>>(*pp, t); cudaFree(*pp);
K argc > 0 ? cudaFree(d) : cudaSuccess;
K argc && cudaFree(d);
K if (cudaFree(d) != cudaSuccess || t[0]) return 1;
K if (cudaFree(d) == cudaSuccess && t[0] == 1) return 1;
K int x = (cudaFree(d), t[0]); return x;
K printf("%d %d", cudaFree(d), 1);
K cudaError_t e[] = {cudaFree(d)};
K for (cudaFree(d); t[0] == 0;) break;
K while (cudaFree(d), t[0]) break;
K auto e = [&] { return cudaFree(d); }();
int *a[3]; for (auto &x : a) cudaMalloc(&x, 4); k<<<1, 1>>>(a[2], t); for (auto x : a) cudaFree(x);
int *a[3]; for (auto &x : a) cudaMalloc(&x, 4); k<<<1, 1>>>(a[2], t); for (int i = 2; i >= 0; --i) cudaFree(a[i]);
int *a[3]; for (auto &x : a) cudaMalloc(&x, 4); k<<<1, 1>>>(a[2], t); std::for_each(a, a + 3, cudaFree);
"""


@pytest.mark.parametrize("way", cases(FREES))
def test_wherever_it_is_freed_the_host_waits(way: str) -> None:
    assert not moves_without(read_behind(way), "Synchronize")


FLOW = r"""
D if (argc > 1 && (k<<<1,1>>>(d, t), true)) argc++; cudaFree(d);
D argc > 1 ? k<<<1,1>>>(d, t) : void(); cudaFree(d);
D for (int i = 0; i < argc; i++, k<<<1,1>>>(d, t)); cudaFree(d);
D for (k<<<1,1>>>(d, t); argc < 0;); cudaFree(d);
D do k<<<1,1>>>(d, t); while (0); cudaFree(d);
D switch (argc) { case 1: k<<<1,1>>>(d, t); case 2: cudaFree(d); break; default: cudaFree(d); }
D switch (argc) { case 1: k<<<1,1>>>(d, t); break; case 2: cudaDeviceSynchronize(); } cudaFree(d);
K switch (argc) { case 1: case 2: cudaDeviceSynchronize(); } cudaFree(d);
K for (int i = 0; i < argc; i++) cudaDeviceSynchronize(); cudaFree(d);
K while (pred()) cudaDeviceSynchronize(); cudaFree(d);
K if (argc > 1) goto x; cudaDeviceSynchronize(); x: cudaFree(d);
D x: k<<<1,1>>>(d, t); if (argc-- > 1) goto x; cudaFree(d);
K try { if (argc > 1) throw 1; cudaDeviceSynchronize(); } catch (...) {} cudaFree(d);
K try { std::stoi(argv[1]); cudaDeviceSynchronize(); } catch (...) {} cudaFree(d);
K try { std::vector<int> v(argc); cudaDeviceSynchronize(); } catch (...) {} cudaFree(d);
K try { std::vector<int> v; v.at(3); cudaDeviceSynchronize(); } catch (...) {} cudaFree(d);
K try { int *q = new int[argc]; cudaDeviceSynchronize(); } catch (...) {} cudaFree(d);
static void rec(int n, int *t) { D if (n) rec(n - 1, t); k<<<1,1>>>(d, t); cudaFree(d); } || rec(3, t);
static void run(int *d, int *t) { k<<<1,1>>>(d, t); } || D void (*f)(int *, int *) = run; f(d, t); cudaFree(d);
struct B { B(int *x, int *y) { k<<<1,1>>>(x, y); } B(int *x) : B(x, x) {} }; || D B o(t); cudaFree(d);
struct B { int *x; B &operator+=(int) { k<<<1,1>>>(x, x); return *this; } }; || D B o{t}; o += 1; cudaFree(d);
struct B { int *x; B &operator[](int) { k<<<1,1>>>(x, x); return *this; } }; || D B o{t}; o[1]; cudaFree(d);
struct B { int *x; void operator()(int) { k<<<1,1>>>(x, x); } }; || D B o{t}; o(1); cudaFree(d);
struct B { int *x; void operator()(int) { k<<<1,1>>>(x, x); } }; || D B{t}(1); cudaFree(d);
struct B { int *x; operator bool() { k<<<1,1>>>(x, x); return true; } }; || D B o{t}; if (o) argc++; cudaFree(d);
struct B { int *x; B &operator=(int) { k<<<1,1>>>(x, x); return *this; } }; || D B o{t}; o = 3; cudaFree(d);
struct B { int *x; }; static void operator<<(B &b, int) { k<<<1,1>>>(b.x, b.x); } || D B o{t}; o << 1; cudaFree(d);
static int gi = 0; struct B { int a = gi; }; || D static int once = go(t); cudaFree(d);
D int a[] = {1, go(t)}; cudaFree(d);
D int a(go(t)); cudaFree(d);
D float a(go(t)); cudaFree(d);
D dim3 a(go(t)); cudaFree(d);
D std::vector<int> a(go(t)); cudaFree(d);
D static std::vector<int> a(go(t)); cudaFree(d);
D std::vector<int> a{go(t)}; cudaFree(d);
D int *a = new int[go(t)]; cudaFree(d);
D int *a = new int(go(t)); cudaFree(d);
D argc = argc ? go(t) : 0; cudaFree(d);
D printf("%d", go(t)); cudaFree(d);
D std::cout << go(t); cudaFree(d);
D std::max(go(t), 1); cudaFree(d);
D argv[go(t)] = 0; cudaFree(d);
D if (int z = go(t); z) argc++; cudaFree(d);
D for (int i : {go(t)}) argc++; cudaFree(d);
D auto [a, b] = std::pair(go(t), 1); cudaFree(d);
D auto f = [z = go(t)] {}; cudaFree(d);
D auto f = [&] { return go(t); }; f(); cudaFree(d);
D std::function<int()> f = [&] { return go(t); }; f(); cudaFree(d);
D auto f = std::bind(go, t); f(); cudaFree(d);
D std::invoke(go, t); cudaFree(d);
D std::for_each(t, t + 1, [&](int) { go(t); }); cudaFree(d);
D std::generate(argv, argv + 1, [&] { go(t); return nullptr; }); cudaFree(d);
D std::call_once(*new std::once_flag, go, t); cudaFree(d);
D std::thread(go, t).join(); cudaFree(d);
D std::async(go, t).get(); cudaFree(d);
template <class... T> void all(T... f) { (f(), ...); } || D all([&] { go(t); }, [] {}); cudaFree(d);
template <int N> void all(int *t) { if constexpr (N > 0) { go(t); all<N - 1>(t); } } || D all<2>(t); cudaFree(d);
D auto rec = [&](auto self, int n) -> void { if (n) self(self, n - 1); else go(t); }; rec(rec, 2); cudaFree(d);
D std::function<void(int)> rec = [&](int n) { if (n) rec(n - 1); else go(t); }; rec(2); cudaFree(d);
D throw go(t); cudaFree(d);
#define TWICE(x) x; x || D TWICE((k<<<1,1>>>(d, t))); cudaFree(d);
#define PICK(a, b) b || D PICK(cudaDeviceSynchronize(), k<<<1,1>>>(d, t)); cudaFree(d);
#define PICK(a, b) b || K PICK(cudaDeviceSynchronize(), 0); cudaFree(d);
#define SYNC() (void)0 || K SYNC(); cudaFree(d);
K sizeof(cudaDeviceSynchronize()); cudaFree(d);
K decltype(cudaDeviceSynchronize()) e; cudaFree(d);
K auto f = [] { cudaDeviceSynchronize(); }; cudaFree(d);
K std::function<void()> f = [] { cudaDeviceSynchronize(); }; cudaFree(d);
K auto f = cudaDeviceSynchronize; cudaFree(d);
K argc > 1 && cudaDeviceSynchronize(); cudaFree(d);
K argc > 1 ? cudaDeviceSynchronize() : cudaSuccess; cudaFree(d);
K cudaStreamSynchronize(s); cudaFree(d);
K static int once = cudaDeviceSynchronize(); cudaFree(d);
for (int i = 0; i < 2; i++) { K static int once = cudaDeviceSynchronize(); cudaFree(d); }
struct N { ~N() { cudaDeviceSynchronize(); } }; || K N *n = new N; cudaFree(d);
struct N { ~N() { cudaDeviceSynchronize(); } }; || K static N n; cudaFree(d);
struct N { N() { cudaDeviceSynchronize(); } }; || K std::optional<N> n; cudaFree(d);
struct N { N() { cudaDeviceSynchronize(); } }; || K N *n = (N *)malloc(1); cudaFree(d);
struct N { N() { cudaDeviceSynchronize(); } }; || K std::vector<N> n; cudaFree(d);
struct N { N() { cudaDeviceSynchronize(); } }; || K N n(); cudaFree(d);
struct N { N() { cudaDeviceSynchronize(); } }; || K extern N n; cudaFree(d);
struct N { void w() { cudaDeviceSynchronize(); } }; struct O : N { void w() {} }; || K O o; o.w(); cudaFree(d);
static void w(int) { cudaDeviceSynchronize(); } static void w(float) {} || K w(1.f); cudaFree(d);
static void w(int) { cudaDeviceSynchronize(); } static void w(double) {} || K w(argc * 1.0); cudaFree(d);
static void w(void *) { cudaDeviceSynchronize(); } static void w(int *) {} || K w(t); cudaFree(d);
template <class T> static void w(T) { cudaDeviceSynchronize(); } static void w(int *) {} || K w(t); cudaFree(d);
template <class T> void w() { cudaDeviceSynchronize(); } template <> void w<int>() {} || K w<int>(); cudaFree(d);
template <bool B> void w() { if constexpr (B) cudaDeviceSynchronize(); } || K w<false>(); cudaFree(d);
template <bool B> void w() { if (B) cudaDeviceSynchronize(); } || K w<false>(); cudaFree(d);
static void w(bool b = false) { if (b) cudaDeviceSynchronize(); } || K w(); cudaFree(d);
namespace a { void w() { cudaDeviceSynchronize(); } } namespace b { void w() {} } || K b::w(); cudaFree(d);
namespace a { static int cudaDeviceSynchronize() { return 0; } } || K a::cudaDeviceSynchronize(); cudaFree(d);
struct M { void cudaDeviceSynchronize() {} }; || K M().cudaDeviceSynchronize(); cudaFree(d);
if (argc > 1) { K cudaFree(d); } else cudaDeviceSynchronize();
int *d = nullptr; if (argc > 1) { cudaMalloc(&d, 4); k<<<1,1>>>(d, t); } cudaFree(d);
int *d = nullptr; if (argc > 1) cudaMalloc(&d, 4); k<<<1,1>>>(d, t); if (d) cudaFree(d);
int *d = nullptr; if (!d) cudaMalloc(&d, 4); k<<<1,1>>>(d, t); cudaFree(d);
int *d; if (argc > 1) cudaMalloc(&d, 4); else cudaMalloc(&d, 8); k<<<1,1>>>(d, t); cudaFree(d);
int *d; if (argc > 1) cudaMalloc(&d, 4); else cudaMallocManaged(&d, 8); k<<<1,1>>>(d, t); cudaFree(d);
D for (int i = 0; i < 3; i++) { k<<<1,1>>>(d, t); cudaFree(d); cudaMalloc(&d, 4); } cudaFree(d);
int *d, *e; cudaMalloc(&d, 4); e = d; k<<<1,1>>>(e, t); cudaMalloc(&d, 4); cudaFree(e); cudaFree(d);
int *d, *e; cudaMalloc(&d, 4); cudaMalloc(&e, 4); std::swap(d, e); k<<<1,1>>>(d, t); cudaFree(d); cudaFree(e);
"""


@pytest.mark.parametrize("way", cases(FLOW))
def test_whichever_way_control_goes_the_host_waits(way: str) -> None:
    assert not moves_without(read_behind(way), "Synchronize")
