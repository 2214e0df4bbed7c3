"""Ordinary lines of host code, as most programs have them: none stands in the way of a proof, or is taken for more than
it is. Each row stands between the blocking copy back of a program on the default stream and its free.
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config
from tests.fixtures import rewritten
from tests.soundness.test_ways_to_memory import cases

HEADERS = """algorithm array atomic bitset cassert chrono cmath complex cstdio cstdlib cstring deque filesystem fstream
functional future iomanip iostream iterator limits list map memory numeric optional queue random regex set sstream stack
string thread unordered_map variant vector sys/time.h unistd.h omp.h cuda_runtime.h"""

LINES = r"""
std::cin >> n;
std::cin >> n >> m;
while (std::cin >> n) v.push_back(n);
if (!(std::cin >> n)) return 1;
while (std::getline(std::cin, s)) n++;
std::ifstream f("x"); while (f >> n) v.push_back(n);
std::ifstream f("x"); if (!f) return 1; f >> n;
std::ifstream f("x", std::ios::binary); f.read(reinterpret_cast<char *>(v.data()), 16);
std::ofstream o("y"); o << n << "\n"; o.close();
std::istringstream iss(s); if (!(iss >> n >> m)) return 1;
std::stringstream ss; ss << n << "x"; s = ss.str();
std::cout << std::fixed << std::setprecision(3) << n << std::endl;
std::cout << std::setw(10) << std::left << n << '\n';
std::cerr << "error: " << cudaGetErrorString(cudaGetLastError()) << std::endl;
std::sort(v.begin(), v.end());
std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
std::sort(v.begin(), v.end(), std::greater<int>());
std::shuffle(v.begin(), v.end(), std::mt19937{std::random_device{}()});
std::mt19937 gen(42); std::uniform_real_distribution<float> dist(0.f, 1.f); for (auto &x : v) x = dist(gen);
std::random_device rd; std::mt19937 gen(rd()); std::uniform_int_distribution<> dis(0, 9); n = dis(gen);
srand(time(NULL)); for (int i = 0; i < 4; i++) v[i] = rand() % 10;
n = std::accumulate(v.begin(), v.end(), 0);
n = std::inner_product(v.begin(), v.end(), v.begin(), 0);
n = *std::max_element(v.begin(), v.end());
auto [lo, hi] = std::minmax_element(v.begin(), v.end()); n = *lo + *hi;
n = std::max(n, m); m = std::min({n, m, 3});
n = (int)::sqrtf(-2.0f * ::logf((float)n)); m = ::abs(n); ::printf("%d\n", m);
std::iota(v.begin(), v.end(), 0);
std::fill(v.begin(), v.end(), 1);
std::transform(v.begin(), v.end(), v.begin(), [](int x) { return x * 2; });
bool same = std::equal(v.begin(), v.end(), w.begin()); n = same;
n = v == w ? 1 : 0;
std::vector<std::vector<int>> g(3, std::vector<int>(3, 0)); g[1][2] = 4;
std::map<std::string, int> c; c["a"]++; for (auto &[k, x] : c) n += x;
std::unordered_map<int, std::string> c; c[1] = "x"; if (c.count(1)) n = 1;
std::set<int> q; q.insert(n); if (q.find(3) != q.end()) n = 2;
std::array<int, 4> a{}; a.fill(0); n = a.size();
std::pair<int, float> pr = std::make_pair(1, 2.f); n = pr.first;
std::tuple<int, int> tp = std::make_tuple(1, 2); n = std::get<0>(tp);
std::optional<int> op; op = 3; n = op.value_or(0);
std::string str = std::to_string(n) + "x"; s += str; n = std::stoi("3");
s = std::string(argv[0]); if (s == "--help") return 0;
if (argc > 1) n = std::atoi(argv[1]);
if (argc > 1 && strcmp(argv[1], "-v") == 0) m = 1;
n = s.find("x") != std::string::npos ? s.substr(1).size() : 0;
std::unique_ptr<int[]> up(new int[4]); up[0] = 1;
auto up = std::make_unique<float[]>(4); up[0] = 1;
auto sp = std::make_shared<std::vector<int>>(4); sp->push_back(1);
int *p = new int[4]; p[0] = 1; delete[] p;
int *p = (int *)malloc(16); memset(p, 0, 16); free(p);
FILE *fp = fopen("x", "rb"); if (!fp) { perror("x"); exit(1); } n = fread(v.data(), 4, 4, fp); fclose(fp);
fprintf(stderr, "%d\n", n); fflush(stdout);
assert(n == 0);
try { n = std::stoi(s); } catch (const std::exception &e) { std::cerr << e.what(); }
if (n < 0) throw std::runtime_error("bad");
std::function<int(int)> fn = [](int x) { return x + 1; }; n = fn(2);
auto sq = [](float x) { return x * x; }; n = (int)sq(2.f);
std::complex<float> z(1, 2); n = (int)std::abs(z);
n = (int)std::sqrt(2.0) + std::pow(2, 3) + fabs(-1.0f) + std::ceil(1.5);
for (const auto &x : v) std::cout << x << " ";
for (auto it = v.begin(); it != v.end(); ++it) n += *it;
std::copy(v.begin(), v.end(), std::ostream_iterator<int>(std::cout, " "));
std::vector<int> r(v.rbegin(), v.rend()); v.swap(r);
v.resize(8); v.assign(4, 0); v.insert(v.end(), 3); v.erase(v.begin());
v.reserve(9); v.emplace_back(3); v.pop_back(); v.shrink_to_fit(); n = v.front() + v.back() + v.at(0);
std::queue<int> q; q.push(1); n = q.front(); q.pop();
std::priority_queue<int> q; q.push(1); n = q.top(); q.pop();
std::deque<int> q; q.push_front(1); n = q.back();
std::stack<int> q; q.push(1); n = q.top(); q.pop();
std::bitset<8> b; b.set(1); n = b.count();
std::numeric_limits<float>::max(); n = INT_MAX;
timeval tv; gettimeofday(&tv, NULL); n = tv.tv_sec;
clock_t c0 = clock(); printf("%f\n", (double)(clock() - c0) / CLOCKS_PER_SEC);
static const int N = 4; constexpr int M = N * 2; n = M;
switch (n) { case 0: m = 1; break; default: m = 2; }
int a[4] = {1, 2, 3, 4}; for (int i : a) n += i;
struct P { int x, y; } p{1, 2}; n = p.x;
enum class E { A, B }; E e = E::A; n = e == E::B;
using T = std::vector<float>; T t(3); t[0] = 1;
getchar(); system("pause");
std::this_thread::sleep_for(std::chrono::milliseconds(1));
std::string name = "x"; printf("%s\n", name.c_str());
const char *names[] = {"a", "b"}; puts(names[0]);
std::unordered_set<int> q{1, 2}; n = q.contains(1);
std::vector<bool> b(4); b[1] = true;
std::filesystem::path ph("x"); n = std::filesystem::exists(ph);
std::string_view sv = "abc"; n = sv.size();
std::atomic<int> at{0}; at++; n = at.load();
n = std::count_if(v.begin(), v.end(), [](int x) { return x > 0; });
n = std::any_of(v.begin(), v.end(), [&](int x) { return x > m; });
v.erase(std::remove_if(v.begin(), v.end(), [](int x) { return x == 0; }), v.end());
v.erase(std::unique(v.begin(), v.end()), v.end());
std::partial_sum(v.begin(), v.end(), w.begin()); std::reverse(w.begin(), w.end());
std::nth_element(v.begin(), v.begin() + 2, v.end()); n = std::lower_bound(v.begin(), v.end(), 3) - v.begin();
auto fut = std::async([] { return 1; }); n = fut.get();
std::variant<int, float> va = 1; n = std::get<int>(va);
std::list<int> l{1}; l.push_back(2); n = l.size();
std::regex re("a.*"); n = std::regex_match(s, re);
std::swap(n, m); std::exchange(n, 3);
char buf[64]; snprintf(buf, sizeof(buf), "%d", n); puts(buf);
char line[64]; while (fgets(line, 64, stdin)) sscanf(line, "%d", &n);
scanf("%d %d", &n, &m);
float x = 1.f / n; if (std::isnan(x) || isinf(x)) return 1;
std::vector<int> u = {3, 1}; std::vector<int> u2(u); u2 = u; u2 = std::move(u);
std::cout << "n: " << v.size() * sizeof(int) / 1e6 << " MB" << std::endl;
int opt; while ((opt = getopt(argc, argv, "n:")) != -1) { switch (opt) { case 'n': n = atoi(optarg); break; } }
std::ostringstream os; os << "a" << n; printf("%s", os.str().c_str());
goto done; done: n++;
std::generate_n(std::back_inserter(v), 4, rand);
std::vector<std::string> names{"a", "b"}; for (const std::string &nm : names) std::cout << nm;
std::cout << std::boolalpha << true << std::hex << n << std::dec << std::endl;
std::cout.precision(4); std::cout << std::scientific << 1.0;
std::ios::sync_with_stdio(false); std::cin.tie(nullptr);
std::initializer_list<int> il = {1, 2}; n = il.size();
std::span<int> sp(v); n = sp[0];
if (auto e = getenv("X")) n = atoi(e);
std::bernoulli_distribution bd(0.5); std::minstd_rand mr; n = bd(mr);
double wall = omp_get_wtime(); printf("%f", omp_get_wtime() - wall);
usleep(10); sleep(0);
std::valarray<float> va(4); n = va.size();
std::cin.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
v = std::vector<int>(4, 1);
static_assert(sizeof(int) == 4, "x");
n = std::stoul(s) + std::stof(s) + std::strtol(s.c_str(), nullptr, 10);
std::vector<float> f2(v.begin(), v.end()); n = f2.empty();
std::cout << std::string(10, '-') << std::endl;
std::thread t([] { printf("x"); }); t.join();
std::filesystem::create_directories("out");
std::clamp(n, 0, 3); n = std::abs(n - m); std::hypot(1.0, 2.0);
std::mt19937 g(std::random_device{}()); n = g();
std::mt19937 g{std::random_device{}()}; std::shuffle(v.begin(), v.end(), g);
auto seed = std::random_device{}(); n = seed;
std::random_shuffle(v.begin(), v.end());
std::smatch mm; if (std::regex_search(s, mm, std::regex("a"))) n = mm.size();
s = std::regex_replace(s, std::regex("a"), "b");
std::uniform_int_distribution<int> di(0, 3); std::mt19937 g; auto roll = [&]() { return di(g); }; n = roll();
std::cout << std::endl << std::flush; std::cout.flush();
std::vector<int> order(n); std::sort(order.begin(), order.end(), [&](int a, int b) { return v[a] < v[b]; });
std::cout << "x" << std::put_time(std::localtime(nullptr), "%F");
std::time_t now = std::time(nullptr); std::cout << std::ctime(&now);
std::vector<float> a2(4); float *raw = a2.data(); raw[1] = 2;
std::this_thread::yield(); std::this_thread::get_id();
std::error_code ec; std::filesystem::remove("x", ec);
std::hash<int> hs; n = hs(3);
n = std::distance(v.begin(), v.end()); auto it = std::next(v.begin()); std::advance(it, 1);
std::replace(v.begin(), v.end(), 1, 2); std::fill_n(v.begin(), 2, 0); std::rotate(v.begin(), v.begin() + 1, v.end());
std::cout << std::max(1, 2) << std::min(1, 2);
n = std::find(v.begin(), v.end(), 3) == v.end();
n = std::binary_search(v.begin(), v.end(), 3);
std::merge(v.begin(), v.end(), w.begin(), w.end(), std::back_inserter(v));
std::set_intersection(v.begin(), v.end(), w.begin(), w.end(), std::back_inserter(v));
std::vector<std::pair<float, int>> pr; pr.emplace_back(1.f, 2); std::sort(pr.rbegin(), pr.rend());
std::tie(n, m) = std::make_pair(1, 2);
std::string line; std::getline(std::cin, line); std::transform(line.begin(), line.end(), line.begin(), ::tolower);
if (s.empty() || s.back() == 'x' || s.starts_with("a")) s.pop_back();
char c = s[0]; n = isdigit(c) && std::isalpha(c); c = toupper(c);
std::cout << std::quoted(s) << std::hex << std::uppercase << std::setfill('0') << std::setw(2) << n;
printf("%s %d\n", __FILE__, __LINE__); printf("%s", __func__);
int x = 3, *px = &x; *px = 4; int &rx = x; rx = 5;
const auto N = v.size(); for (std::size_t i = 0; i < N; ++i) v[i] = static_cast<int>(i);
double sum = 0; for (auto x : v) sum += x; printf("%f", sum / v.size());
std::unique_ptr<FILE, decltype(&fclose)> fp(fopen("x", "r"), &fclose);
std::array<std::array<float, 3>, 3> mat{}; mat[0][1] = 1;
std::vector<uint8_t> bytes(16); memcpy(bytes.data(), v.data(), 16);
std::wcout << L"x"; std::wstring ws = L"abc"; n = ws.size();
struct timespec ts; clock_gettime(CLOCK_MONOTONIC, &ts); n = ts.tv_nsec;
fseek(stdin, 0, SEEK_END); long sz = ftell(stdin); rewind(stdin);
if (n) { fprintf(stderr, "bad\n"); exit(EXIT_FAILURE); }
if (n) std::abort();
std::vector<int>().swap(v);
int *it2 = std::find(&v[0], &v[0] + 4, 3);
qsort(v.data(), 4, sizeof(int), [](const void *a, const void *b) { return *(int *)a - *(int *)b; });
std::for_each(v.begin(), v.end(), [&n](int x) { n += x; });
auto lam = [&](auto &&...xs) { (std::cout << ... << xs); }; lam(1, 2);
n = [&] { return m + 1; }();
n = std::popcount(3u); n = __builtin_popcount(3); n = __builtin_clz(4);
std::cerr << std::strerror(errno); errno = 0;
std::reduce(v.begin(), v.end()); std::exclusive_scan(v.begin(), v.end(), w.begin(), 0);
std::cout << std::format("{}", n);
std::from_chars(s.data(), s.data() + s.size(), n);
std::stop_token st; std::jthread jt([] {});
std::multimap<int, int> mm; mm.insert({1, 2}); auto rg = mm.equal_range(1);
std::mt19937 g(std::random_device()()); n = g();
n = std::hash<int>{}(3) + std::hash<int>()(4);
switch (n) { case 0 ... 9: n = 1; break; case 'a' ... 'f': n = 2; break; default: m = 3; }
n = std::plus<int>{}(3, 4);
n = std::greater<>{}(3, 4);
cl_event e; clEnqueueMarker(queue, &e); clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof n, &n, NULL);
cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, &n); clReleaseContext(c);
FILE *f = fopen64("x", "rb"); fseeko64(f, 0, SEEK_END); n = lseek64(open64("y", O_RDONLY), 0, 2);
char *line; asprintf(&line, "%d", n); free(line);
struct F { int operator()(int x) const { return x + 1; } }; n = F{}(3) + F()(4);
struct F { int operator()(int x) const { return x + 1; } }; n = F{}(3);
struct F { int operator()(int x) const { return x + 1; } }; n = F()(4);
struct F { int *p; int operator()(int x) const { return p[0]; } }; int q = 0; n = F{&q}(3);
struct F { int *p; F(int *p) : p(p) {} int operator()(int x) const { return p[0]; } }; int q = 0; n = F(&q)(3);
"""


MODERN = r"""
struct Cfg { int n; Cfg(int k) : n(k) {} }; static Cfg cfg(3); || n = cfg.n;
struct Cfg { int n; Cfg(int k = 2) : n(k) {} }; Cfg mk() { return 3; } || n = mk().n;
struct Cfg { int n; std::string s; Cfg() : n(0) {} ~Cfg() { std::cout << s; } }; static Cfg cfg; || cfg.s = "x";
struct Vec { float x, y, z; Vec(float v = 0) : x(v), y(v), z(v) {} Vec operator+(const Vec &o) const { Vec r; r.x = x + o.x; return r; } Vec operator*(float f) const { return Vec(x * f); } }; || Vec a(1), b = 2.f; Vec c = a + b * 3; c = 4; n = (int)c.x;
struct Vec { float x, y, z; Vec() {} Vec(float v) : x(v) {} friend Vec operator*(float f, const Vec &v) { return Vec(v.x * f); } }; || std::vector<Vec> vs(3); for (auto &q : vs) q = 2 * q; n = vs[0].x;
struct Vec { float x; Vec(float v) : x(v) {} }; float len(const Vec &v) { return v.x; } || n = len(3) + len(n) + len(n + 1) + len(2.5f * n);
struct Timer { std::chrono::steady_clock::time_point t0 = std::chrono::steady_clock::now(); ~Timer() { std::cout << (std::chrono::steady_clock::now() - t0).count(); } }; || { Timer t; n++; }
template <class T> concept Number = std::is_arithmetic_v<T>; template <Number T> T twice(T x) { return x * 2; } || n = twice(n) + (int)twice(2.5);
template <class T> requires std::integral<T> T inc(T x) { return x + 1; } || n = inc(n);
auto add(auto a, auto b) { return a + b; } || n = add(n, 1) + (int)add(1.0, 2.f);
template <class... A> auto sum(A... a) { return (a + ...); } || n = sum(1, 2, n);
template <class F> auto timed(F &&f) { auto t = std::chrono::steady_clock::now(); auto r = f(); std::cout << (std::chrono::steady_clock::now() - t).count(); return r; } || n = timed([&] { return m + 1; });
template <class F> void repeat(int c, F f) { for (int i = 0; i < c; i++) f(i); } || repeat(3, [&](int i) { v[i] += i; });
template <class F> void repeat(int c, const F &f) { for (int i = 0; i < c; i++) f(i); } || repeat(3, [&](int i) { v[i] += i; });
template <class F> void repeat(int c, F &&f) { for (int i = 0; i < c; i++) std::forward<F>(f)(i); } || repeat(3, [&](int i) { v[i] += i; });
template <class F, class... A> decltype(auto) call(F &&f, A &&...a) { return std::invoke(std::forward<F>(f), std::forward<A>(a)...); } || n = call([](int x) { return x + 1; }, n);
for (int i : std::views::iota(0, 4)) v[i] = i;
for (auto [i, x] : std::views::enumerate(v)) n += i * x;
std::ranges::sort(v); std::ranges::reverse(v); n = std::ranges::max(v);
std::ranges::sort(v, std::greater{}); n = std::ranges::count_if(v, [](int x) { return x > 1; });
std::ranges::transform(v, w.begin(), [](int x) { return x + 1; });
std::ranges::for_each(v, [&](int &x) { x += m; });
std::ranges::fill(v, 3); std::ranges::copy(v, w.begin()); n = std::ranges::equal(v, w);
std::ranges::generate(v, [i = 0]() mutable { return i++; });
n = std::ranges::find(v, 3) != v.end();
n = std::ranges::any_of(v, [&](int x) { return x == m; });
auto it = std::ranges::max_element(v); n = *it; n = std::ranges::distance(v.begin(), it);
std::vector<std::pair<int, std::string>> ps{{1, "a"}, {2, "b"}}; std::ranges::sort(ps, {}, &std::pair<int, std::string>::first);
struct P { int x; auto operator<=>(const P &) const = default; }; P a{1}, b{2}; n = a < b;
struct P { int x, y; }; P p{.x = 1, .y = 2}; auto [x, y] = p; n = x + y;
struct P { int x; bool operator<(const P &o) const { return x < o.x; } }; std::vector<P> ps(3); std::sort(ps.begin(), ps.end());
struct P { int x; bool operator==(const P &o) const = default; }; std::vector<P> ps(3); n = std::count(ps.begin(), ps.end(), P{1});
struct P { int x; }; std::vector<P> ps(3); std::sort(ps.begin(), ps.end(), [](const P &a, const P &b) { return a.x < b.x; });
struct P { int x; P(int v) : x(v) {} }; std::vector<P> ps; ps.emplace_back(3); ps.push_back(P(4)); ps.push_back(5); n = ps[0].x;
struct P { std::string s; P(std::string v) : s(std::move(v)) {} }; std::vector<P> ps; ps.emplace_back("a"); n = ps.size();
struct P { int x; P() : x(1) {} ~P() { x = 0; } }; std::vector<P> ps(4); auto q = std::make_unique<P>(); auto r = std::make_shared<P>(); n = q->x + r->x;
struct B { virtual int f() = 0; virtual ~B() = default; }; struct D1 : B { int f() override { return 1; } }; std::vector<std::unique_ptr<B>> bs; bs.push_back(std::make_unique<D1>()); for (auto &b : bs) n += b->f();
struct B { virtual int f() const { return 0; } virtual ~B() {} }; struct D1 : B { int f() const override { return 1; } }; std::shared_ptr<B> b = std::make_shared<D1>(); n = b->f();
int (*fp)(int) = [](int x) { return x; }; n = fp(3);
int sq(int x) { return x * x; } || int (*fp)(int) = sq; n = fp(3); int (*tab[])(int) = {sq, sq}; n = tab[1](2);
int sq(int x) { return x * x; } using Fn = int (*)(int); Fn pick(int) { return sq; } || n = pick(1)(3);
auto fact = [](auto self, int k) -> int { return k < 2 ? 1 : k * self(self, k - 1); }; n = fact(fact, 5);
std::function<int(int)> fib = [&](int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }; n = fib(5);
int fib(int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); } || n = fib(5);
struct Node { int x; Node *l = nullptr, *r = nullptr; int sum() { return x + (l ? l->sum() : 0) + (r ? r->sum() : 0); } }; || Node a{1}, b{2, &a}; n = b.sum();
struct Node { int x; std::vector<Node> c; int sum() const { int t = x; for (auto &k : c) t += k.sum(); return t; } }; || Node a{1}; a.c.push_back({2}); n = a.sum();
struct Node { int x; std::unique_ptr<Node> next; }; || auto h = std::make_unique<Node>(); h->next = std::make_unique<Node>(); for (auto *p = h.get(); p; p = p->next.get()) n += p->x;
namespace fs = std::filesystem; || n = fs::exists("x"); for (auto &e : fs::directory_iterator(".")) n++;
namespace cr = std::chrono; || auto t = cr::steady_clock::now(); n = cr::duration_cast<cr::milliseconds>(cr::steady_clock::now() - t).count();
namespace a { inline namespace v1 { int f(int x) { return x; } } } || n = a::f(3);
namespace a { int f(int x) { return x; } } namespace b = a; || n = b::f(3);
using namespace std::literals; || auto str = "abc"s; auto sv = "abc"sv; auto ms = 3ms; n = str.size() + sv.size();
long double operator""_km(long double x) { return x * 1000; } || n = (int)3.5_km;
enum class E : int { A, B }; using enum E; || E e = A; switch (e) { case A: n = 1; break; case B: n = 2; }
std::optional<int> parse(const std::string &s) { if (s.empty()) return std::nullopt; return std::stoi(s); } || if (auto x = parse(s)) n = *x; else n = parse("3").value_or(2);
std::variant<int, std::string> va = 3; std::visit([&](auto &&x) { if constexpr (std::is_same_v<std::decay_t<decltype(x)>, int>) n = x; }, va);
template <class... T> struct over : T... { using T::operator()...; }; template <class... T> over(T...) -> over<T...>; || std::variant<int, float> va = 3; n = std::visit(over{[](int x) { return x; }, [](float) { return 1; }}, va);
std::any a = 3; if (a.has_value()) n = std::any_cast<int>(a);
std::expected<int, std::string> ex = 3; if (ex) n = *ex;
auto [q, r] = std::div(7, 2); n = q + r;
std::set<int> seen; if (auto [it, ok] = seen.insert(3); ok) n = 1;
if (int x = n + 1; x > 3) n = x;
switch (int x = n; x) { case 1: n = 2; [[fallthrough]]; default: break; }
[[maybe_unused]] int unused = 3; [[likely]] n++;
constexpr auto table = [] { std::array<int, 4> t{}; for (int i = 0; i < 4; i++) t[i] = i * i; return t; }(); n = table[2];
consteval int cube(int x) { return x * x * x; } || constexpr int c = cube(3); n = c;
constinit static int counter = 0; || counter++; n = counter;
std::cout << std::format("{:>8} {}\n", n, s);
std::print("{}\n", n);
std::atomic<int> at{0}; at.fetch_add(1); at.store(3, std::memory_order_release); n = at.load() + at;
std::string_view sv = s; n = sv.substr(0, 1).size() + sv.starts_with("a") + sv.contains("b");
n = std::bit_width(8u) + std::countl_zero(1u) + std::has_single_bit(4u);
n = std::numbers::pi_v<float> > 3; n = std::midpoint(1, 3) + std::lerp(0.f, 1.f, .5f);
n = std::cmp_less(-1, 1u); n = std::ssize(v); n = std::size(v) + std::empty(v);
auto p = std::make_unique_for_overwrite<int[]>(4); p[0] = 1; auto q = std::make_shared<int[]>(4); q[1] = 2;
std::erase(v, 3); std::erase_if(v, [](int x) { return x > 2; }); std::erase_if(w, [&](int x) { return x > m; });
auto f = [x = n, &v]() mutable -> int { return x++ + v.size(); }; n = f();
auto f = [=, &n] { n = m; }; f();
auto f = [&]<class T>(T x) { return x + m; }; n = f(3);
std::priority_queue<std::pair<float, int>, std::vector<std::pair<float, int>>, std::greater<>> pq; pq.push({1.f, 2}); pq.emplace(2.f, 3); n = pq.top().second;
auto cmp = [](int a, int b) { return a > b; }; std::priority_queue<int, std::vector<int>, decltype(cmp)> pq(cmp); pq.push(3); n = pq.top();
auto cmp = [&](int a, int b) { return v[a] > v[b]; }; std::set<int, decltype(cmp)> st(cmp); st.insert(1); n = st.size();
struct H { size_t operator()(const std::pair<int, int> &p) const { return p.first; } }; std::unordered_map<std::pair<int, int>, int, H> um; um[{1, 2}] = 3; n = um.size();
struct K { int a; bool operator<(const K &o) const { return a < o.a; } }; std::map<K, int> mp; mp[K{1}] = 2; mp.emplace(K{3}, 4); n = mp.size();
std::tuple<int, float, std::string> tp{1, 2.f, "x"}; auto &[a, b, c] = tp; n = a; std::get<0>(tp) = 3; n = std::tuple_size_v<decltype(tp)>;
auto tp = std::tuple_cat(std::tuple(1), std::tuple(2)); n = std::apply([](auto... x) { return (x + ...); }, tp);
std::vector<int> a2 = [&] { std::vector<int> r; for (int x : v) if (x > 0) r.push_back(x); return r; }(); n = a2.size();
std::vector<std::vector<float>> mat(3, std::vector<float>(3)); for (auto &row : mat) std::fill(row.begin(), row.end(), 1.f); n = mat[1][2];
std::array<std::array<int, 2>, 2> mat{{{1, 2}, {3, 4}}}; for (auto &row : mat) for (int x : row) n += x;
auto *raw = new int[4]{1, 2, 3, 4}; n = raw[2]; delete[] raw; int *one(new int(3)); n = *one; delete one;
int arr[n + 4]; arr[0] = 1; n = arr[0];
int arr[] = {1, 2, 3}; n = std::size(arr); for (auto p = std::begin(arr); p != std::end(arr); ++p) n += *p; auto q = std::begin(arr); std::advance(q, 1); n += *q;
std::random_device rd; std::mt19937_64 rng{rd()}; std::normal_distribution<double> nd{0, 1}; std::ranges::generate(v, [&] { return (int)nd(rng); });
auto now = std::chrono::system_clock::now(); auto tt = std::chrono::system_clock::to_time_t(now); std::cout << std::put_time(std::localtime(&tt), "%F");
using clk = std::chrono::high_resolution_clock; auto t0 = clk::now(); std::chrono::duration<double, std::milli> dt = clk::now() - t0; std::cout << dt.count();
auto t0 = std::chrono::steady_clock::now(); auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - t0).count(); printf("%ld", us);
class Logger { std::ostringstream os; public: template <class T> Logger &operator<<(const T &x) { os << x; return *this; } ~Logger() { std::cerr << os.str(); } }; || Logger() << "x" << n;
class Args { std::map<std::string, std::string> kv; public: Args(int argc, char **argv) { for (int i = 1; i + 1 < argc; i += 2) kv[argv[i]] = argv[i + 1]; } int get(const std::string &k, int def) const { auto it = kv.find(k); return it == kv.end() ? def : std::stoi(it->second); } }; || Args a(argc, argv); n = a.get("n", 4);
class Matrix { std::vector<float> x; int r, c; public: Matrix(int r, int c, float v = 0) : x(r * c, v), r(r), c(c) {} float &operator()(int i, int j) { return x[i * c + j]; } Matrix operator*(const Matrix &o) const { Matrix m(r, o.c); return m; } Matrix &operator+=(float f) { for (auto &e : x) e += f; return *this; } }; || Matrix a(2, 2), b(2, 2, 1); auto c = a * b; c += 2; n = c(1, 1);
template <class T> class Stack { std::vector<T> x; public: void push(T v) { x.push_back(std::move(v)); } T pop() { T v = std::move(x.back()); x.pop_back(); return v; } bool empty() const { return x.empty(); } }; || Stack<int> st; st.push(3); n = st.pop(); Stack<std::string> ss; ss.push("a"); s = ss.pop();
template <class T, int N> struct Arr { T x[N]; constexpr int size() const { return N; } T &operator[](int i) { return x[i]; } T *begin() { return x; } T *end() { return x + N; } }; || Arr<int, 4> a{}; for (auto &x : a) x = 1; n = a[2] + a.size();
template <class T> struct Lazy { std::function<T()> f; std::optional<T> v; T &get() { if (!v) v = f(); return *v; } }; || Lazy<int> l{[] { return 3; }}; n = l.get();
template <class F> struct Defer { F f; ~Defer() { f(); } }; || { Defer g{[&] { n++; }}; }
template <class T> T *find(std::vector<T> &v, const T &x) { for (auto &e : v) if (e == x) return &e; return nullptr; } || if (int *p = find(v, 3)) *p = 4;
template <class It> auto total(It a, It b) { typename std::iterator_traits<It>::value_type t{}; while (a != b) t += *a++; return t; } || n = total(v.begin(), v.end());
struct Counter { static int &get() { static int c = 0; return c; } }; || Counter::get()++; n = Counter::get();
struct Cfg { static Cfg &instance() { static Cfg c; return c; } int n = 3; std::string name; }; || n = Cfg::instance().n; Cfg::instance().name = "x";
extern "C" int my_c_function(int x) { return x; } || n = my_c_function(3);
static_assert(sizeof(int) == 4); static const std::unordered_map<std::string, int> kNames{{"a", 1}, {"b", 2}}; || n = kNames.at("a"); if (auto it = kNames.find("b"); it != kNames.end()) n = it->second;
static const std::vector<std::string> kList = {"a", "b"}; || for (const auto &x : kList) n += x.size();
cv::Mat img(4, 4, CV_8UC3, cv::Scalar(0, 0, 0)); img.at<cv::Vec3b>(1, 2) = cv::Vec3b(n, m, 255); n = img.at<cv::Vec3b>(1, 2)[0];
cv::Mat img(4, 4, CV_8UC3); cv::Vec3b c(1, 2, 3); img.at<cv::Vec3b>(cv::Point(n, m)) = c; cv::circle(img, cv::Point2f(1.f, 2.f), 2, c, -1);
void draw(cv::Mat &img, int r) { for (int y = 0; y < 4; y++) img.at<cv::Vec3b>(y, 2) = cv::Vec3b(r, 1, 2); } || cv::Mat img(4, 4, CV_8UC3); draw(img, n); cv::imwrite("x.png", img);
std::vector<cv::Point> ps{cv::Point(1, 2), {3, 4}}; ps.back() = cv::Point(n, 3); ps[0] += ps[1]; n = ps.front().x;
static std::mt19937 rng(42); static float rnd() { static std::uniform_real_distribution<float> u(0, 1); return u(rng); } || n = rnd() > .5f; std::generate(v.begin(), v.end(), [] { return (int)(rnd() * 10); });
"""


@pytest.mark.parametrize("line", [*cases(LINES), *cases(MODERN)])
def test_an_ordinary_line_does_not_stand_in_the_way(line: str) -> None:
    outside, both, inside = line.partition(" || ")
    outside, line = (outside, inside) if both and outside.endswith(("}", ";")) else ("", line)
    includes = "".join(f"#include <{header}>\n" for header in HEADERS.split())
    source = f"""{includes}
__global__ void k(int *p, int n) {{ if (threadIdx.x < n) p[threadIdx.x]++; }}
{outside}
int main(int argc, char **argv) {{
    std::vector<int> v(4), w(4); std::string s;
    int n = 0, m = 0, *d;
    cudaMalloc(&d, 4 * sizeof(int));
    cudaMemcpy(d, v.data(), 4 * sizeof(int), cudaMemcpyHostToDevice);
    k<<<1, 256>>>(d, n + m);
    cudaMemcpy(v.data(), d, 4 * sizeof(int), cudaMemcpyDeviceToHost);
    {line}
    cudaFree(d);
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert not report.refusals
    assert {(f.codemod, f.safety) for f in report.findings} == {("stream_ordered_pairs", Safety.PROVEN)}


@pytest.mark.parametrize(
    ("element", "loop", "reached"),
    [
        (0, "l = 1; l < n; l++", False),  # the first level of a pyramid is the image itself
        (0, "l = 1; l < 4; l++", False),
        (4, "l = 0; l < 4; l++", False),
        (4, "l = 0; l <= 3; l++", False),
        (4, "l = 3; l >= 0; l--", True),  # not understood
        (4, "l = 0; l <= 4; l++", True),
        (0, "l = 0; l < n; l++", True),
        (1, "l = 1; l < 4; l++", True),
        (3, "l = 0; l < 4; l++", True),
        (4, "l = 0; l < n; l++", True),
        (4, "l = 0; l < 010; l++", True),
        (2, "l = 3; l > 0; l--", True),
        (2, "l = 3; l != 0; l--", True),
        (2, "l = 3; l >= 0; l -= 1", True),
    ],
)
def test_an_element_that_no_round_of_a_loop_reaches(element: int, loop: str, reached: bool) -> None:
    source = f"""#include <cuda_runtime.h>
__global__ void k(int *p) {{ p[0] = 1; }}
void pyramid(int n, cudaStream_t other) {{
    int *image, *level[8];
    cudaMalloc(&image, 4);
    for (int {loop}) cudaMalloc(&level[l], 4);
    level[{element}] = image;
    cudaDeviceSynchronize();
    for (int {loop}) k<<<1, 1, 0, other>>>(level[l]);
    cudaFree(image);
    cudaDeviceSynchronize();
}}
int main(int argc, char **argv) {{
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    pyramid(argc, other);
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert {p.text for f in report.findings for p in f.related} == {"freed on `other`" if reached else "freed on `0`"}


@pytest.mark.parametrize(
    ("outside", "inside", "certain"),
    [
        ("", "const int rounds = 10;", True),
        ("", "int const rounds = 10u;", True),
        ("", "static constexpr size_t rounds = 10;", True),
        ("", "{ int rounds = argc; } const int rounds = 10;", True),
        ("const int rounds = 10;", "", True),
        ("static constexpr int rounds = 10;", "", True),
        ("namespace other { const int rounds = 0; } constexpr int rounds = 10;", "", True),
        ("#ifdef QUICK\nconst int rounds = 5;\n#else\nconst int rounds = 10;\n#endif", "", True),
        ("#ifdef QUICK\nconst int rounds = 0;\n#else\nconst int rounds = 10;\n#endif", "", False),
        ("#ifdef QUICK\nint const rounds(0);\n#else\nconst int rounds = 10;\n#endif", "", False),
        ("", "const int rounds = 0;", False),
        ("", "const int rounds = argc - 1;", False),
        ("", "int rounds = 10; if (argc > 1) rounds = atoi(argv[1]);", False),
        ("", "{ const int rounds = 10; } int rounds = argc - 1;", False),
        ("const int rounds = 10;", "int rounds = argc - 1;", False),
        ("const int rounds = 10;", "const int &rounds = argc;", False),
        ("namespace other { const int rounds = 10; } extern int rounds;", "", False),
        ("namespace other { const int rounds = 10; } using namespace other;", "", False),  # not looked for
    ],
)
def test_a_loop_over_a_constant_has_a_round(outside: str, inside: str, certain: bool) -> None:
    """The copy in the loop tells the host what the free told it, where there is a round."""
    source = f"""#include <cuda_runtime.h>
#include <cstdlib>
{outside}
#define CHECK(x) if ((x) != cudaSuccess) exit(1)
__global__ void k(int *p) {{ p[0] = 1; }}
int main(int argc, char **argv) {{
    int *d, h;
    CHECK(cudaMalloc(&d, 4));
    k<<<1, 1>>>(d);
    {inside}
    for (int i = 0; i < rounds; i++) CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]
    assert any(b"cudaStreamSynchronize" in edit.text for f in report.findings for edit in f.edits) != certain


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("template <int rounds> void f(int n) { %s }", "f<0>(argc);"),
        ("template <class T, int rounds = 3> void f(int n) { %s }", "f<int, 0>(argc);"),
        ("template <int rounds> struct S { void f(int n) { %s } };", "S<0> s; s.f(argc);"),
        ("struct S { int rounds; void f(int n) { %s } };", "S s; s.rounds = argc - 1; s.f(argc);"),
        ("struct B { int rounds; }; struct S : B { void f(int n) { %s } };", "S s; s.rounds = argc - 1; s.f(argc);"),
        ("void f(int n, int rounds) { %s }", "f(argc, argc - 1);"),
        ("void f(int n) { enum { rounds = 0 }; %s }", "f(argc);"),
        ("void f(int n) { auto g = [&](int rounds) { %s }; g(n - 1); }", "f(argc);"),
        ("void f(int n) { if (const int rounds = rand()) { %s } }", "f(argc);"),
        ("namespace b { const int rounds = 0; void f(int n) { %s } }", "b::f(argc);"),
        ("#define rounds (n - 1)\nvoid f(int n) { %s }", "f(argc);"),
    ],
)
def test_what_has_the_name_of_a_constant_may_be_none(function: str, call: str) -> None:
    body = """int *d, h;
    CHECK(cudaMalloc(&d, 4));
    k<<<1, 1>>>(d);
    for (int i = 0; i < rounds; i++) CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));"""
    source = f"""#include <cuda_runtime.h>
#include <cstdlib>
#define CHECK(x) if ((x) != cudaSuccess) exit(1)
const int rounds = 10;
__global__ void k(int *p) {{ p[0] = 1; }}
{function % body}
int main(int argc, char **argv) {{ {call} return 0; }}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert report.findings
    assert any(b"cudaStreamSynchronize" in edit.text for f in report.findings for edit in f.edits)


def test_arithmetic_in_the_members_of_a_header_class_does_not_stand_in_the_way() -> None:
    header = """#pragma once
class Layer {
public:
    Layer();
    ~Layer();
    void run();

private:
    int size = 32, kernel = 3;
    int inner = size - (kernel - 1) + 2 * (kernel / 2);
    float *data;
};
"""
    source = """#include "layer.h"
#include <cuda_runtime.h>
__global__ void k(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x]++; }
Layer::Layer() { cudaMalloc(&data, inner * sizeof(float)); }
Layer::~Layer() { cudaFree(data); }
void Layer::run() { k<<<1, 32>>>(data, inner); cudaDeviceSynchronize(); }
int main() { Layer layer; layer.run(); return 0; }
"""
    report = analyze({"layer.h": header.encode(), "main.cu": source.encode()}, Config())
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


CHECK = "#define CHECK(call) { const cudaError_t e = call; if (e != cudaSuccess) exit(1); }"
NVTX = "#ifdef NVTX\n#define POP_RANGE nvtxRangePop();\n#else\n#define POP_RANGE\n#endif"


LOG = r"""#include <string>
#include <ctime>
inline const char *now() { time_t t = time(nullptr); return ctime(&t); }
#define TAG "a"
#define LOG(format, ...) do { printf("[" TAG " %s %d] " format "\n", now(), __LINE__, ##__VA_ARGS__); } while (0)"""


@pytest.mark.parametrize(
    ("define", "free"),
    [
        ("#define POP_RANGE", 'POP_RANGE\n    if (argc > 1) puts("");\n    cudaFree(d);'),
        (NVTX, 'POP_RANGE\n    for (int i = 0; i < argc; i++) { puts(""); }\n    cudaFree(d);'),
        (CHECK, "CHECK(cudaFree(d););"),
        (CHECK, "CHECK(cudaFree(d);)"),
        (CHECK, "CHECK(cudaFree(d);  );"),
        (LOG, 'LOG("%s", std::string("a").c_str()); cudaFree(d);'),
        (LOG, 'LOG("done"); if (argc > 1) { LOG("%d", atoi(argv[1])); }\n    cudaFree(d);'),
    ],
)
def test_a_macro_that_stands_for_a_statement_in_an_odd_way(define: str, free: str) -> None:
    source = f"""#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
{define}
__global__ void k(int *p) {{ p[0] = 1; }}
int main(int argc, char **argv) {{
    int *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    {free}
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


@pytest.mark.parametrize(
    "body",
    [
        'if (call != cudaSuccess) { printf("%s", cudaGetErrorString(call)); exit(1); }',
        'if ((call) == cudaSuccess) {} else { fprintf(stderr, "no"); abort(); }',
        'if (cudaError_t e = (call)) { fprintf(stderr, "%d", e); exit(1); }',
    ],
)
def test_a_check_that_is_a_plain_if_around_the_lines_for_the_pool(body: str) -> None:
    """The function may be called again: the lines stand in an `if` of their own."""
    source = f"""#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call) {body}
__global__ void k(int *p) {{ p[0] = 1; }}
void work(int *h) {{
    int *d;
    for (int i = 0; i < 9; i++) {{
        CHECK(cudaMalloc(&d, 4));
        k<<<1, 1>>>(d);
        CHECK(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d));
    }}
}}
"""
    files = {"a.cu": source.encode()}
    report = analyze(files, Config())
    assert not report.refusals
    assert b"kept = true" in rewritten(files, report)["a.cu"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("clock_t start = clock();", "clock_t stop = clock();"),
        ("auto start = std::chrono::steady_clock::now();", "auto stop = std::chrono::steady_clock::now();"),
        ("cudaEventRecord(begin);", "cudaEventRecord(end);"),
        ("clock_t start = clock(); cudaEventRecord(begin);", "cudaEventRecord(end); clock_t stop = clock();"),
    ],
)
def test_the_lines_for_the_pool_stand_in_front_of_a_clock_that_times_a_call(before: str, after: str) -> None:
    source = f"""#include <chrono>
#include <ctime>
#include <cuda_runtime.h>
__global__ void k(int *p) {{ p[0] = 1; }}
void work(int *h) {{
    int *d;
    for (int i = 0; i < 9; i++) {{
        cudaMalloc(&d, 4);
        k<<<1, 1>>>(d);
        cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost);
        cudaFree(d);
    }}
}}
int main() {{
    int h;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    {before}
    work(&h);
    {after}
    work(&h);
    return h;
}}
"""
    files = {"a.cu": source.encode()}
    text = rewritten(files, analyze(files, Config()))["a.cu"].decode()
    assert text.index("cudaMemPoolSetAttribute") < text.index(before) < text.index("work(&h);")


@pytest.mark.parametrize("main", ["", "int main() { E e; e.rounds = 3; e.work(2, 0); return 0; }"])
@pytest.mark.parametrize("first", ["sums = std::vector<float>(n);", "sums.assign(n, 0.f);", "sums[0] = 1; rounds = n;"])
def test_the_lines_for_the_pool_stand_between_accesses_that_are_one_in_the_original(first: str, main: str) -> None:
    source = f"""#include <vector>
#include <cuda_runtime.h>
__global__ void k(int *p) {{ p[0] = 1; }}
struct E {{
    int round, rounds;
    std::vector<float> sums;
    void work(int n, cudaStream_t s) {{
        {first}
        for (round = 0; round < rounds; round++) {{
            int *d;
            cudaMalloc(&d, 4);
            k<<<1, 1, 0, s>>>(d);
            cudaFree(d);
        }}
    }}
}};
{main}
"""
    files = {"a.cu": source.encode()}
    report = analyze(files, Config())
    assert not report.refusals
    assert b"cudaMemPoolSetAttribute" in rewritten(files, report)["a.cu"]


def test_a_check_over_several_lines_is_one_line_around_the_lines_for_the_pool() -> None:
    source = """#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call) do { if ((call) != cudaSuccess) exit(1); } while (0)
__global__ void k(int *p) { p[0] = 1; }
int main() {
    int *d;
    for (int i = 0; i < 9; i++) {
        CHECK(
            cudaMalloc(
                &d, 4
            )
        );
        k<<<1, 1>>>(d);
        CHECK(
            cudaFree(d)
        );
    }
    return 0;
}
"""
    files = {"a.cu": source.encode()}
    assert b"CHECK(cudaGetDevice(&device));" in rewritten(files, analyze(files, Config()))["a.cu"]


def test_an_object_that_its_own_class_copies_is_not_given_to_a_template() -> None:
    source = """#include <cuda_runtime.h>
__global__ void k(int *p) { p[0] = 1; }
template <typename T> struct Array {
    T *p;
    size_t pitch;
    Array(const Array &other) : p(other.p), pitch(other.pitch) {}
    Array(T *host, int n) {
        cudaMallocPitch((void **)&p, &pitch, n * sizeof(T), 1);
        cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
    }
    void dispose() { cudaFree(p); }
};
void use(Array<int> a) { k<<<1, 1>>>(a.p); }
int main() {
    int *d, h[4] = {};
    Array<int> a(h, 4);
    cudaMalloc(&d, 4);
    use(a);
    k<<<1, 1>>>(d);
    cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    a.dispose();
    return h[0];
}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


def test_a_macro_of_a_header_that_ends_the_process_in_one_way_or_another() -> None:
    header = """#pragma once
#if defined(_WIN32)
#define LEAVE(x) { std::cout << "press return"; std::cin.get(); exit(x); }
#else
#define LEAVE(x) exit(x)
#endif
#define CHECK_ERROR() { cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) { puts("no"); LEAVE(-1); } }
"""
    source = """#include "common.h"
#include <iostream>
#include <cuda_runtime.h>
__global__ void k(int *p) { p[0] = 1; }
int main() {
    int *d, h;
    cudaMalloc(&d, 4);
    CHECK_ERROR();
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    CHECK_ERROR();
    cudaFree(d);
    return h;
}
"""
    report = analyze({"common.h": header.encode(), "main.cu": source.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]
    goes_on = header.replace("exit(x); }", "if (x > 1) exit(x); }")  # each way is read by itself
    report = analyze({"common.h": goes_on.encode(), "main.cu": source.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]
    unseen = header.replace("exit(x); }", "leave(x); }")
    report = analyze({"common.h": unseen.encode(), "main.cu": source.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.ASSUMES]


@pytest.mark.parametrize(
    ("first", "other", "proven"),
    [
        ("#define TIMED 1", "", True),
        ("", "", False),
        ("#define TIMED 1\n#undef TIMED", "", False),
        ("#ifdef NOT_HERE\n#define TIMED 1\n#endif", "", False),
        ("#define TIMED 1", "#undef TIMED", False),
        ('#include "other.h"\n#define TIMED 1', "", True),
    ],
)
def test_what_a_source_defines_decides_which_macro_of_a_header_it_uses(first: str, other: str, proven: bool) -> None:
    header = """#define START
#ifdef COUNTERS
#undef START
#define START for (int e = 0; e < 4; e++) { if (count(e)) continue;
#endif
#if defined(TIMED) || defined(FLOPS)
#undef START
#define START tick();
#endif
extern void tick();
"""
    source = f"""{first}
#include "other.h"
#include "timer.h"
#include <cuda_runtime.h>
#include <cstdio>
__global__ void k(int *p) {{ p[0] = 1; }}
void tick() {{ puts("start"); }}
int main() {{
    int *d, h;
    cudaMalloc(&d, 4);
    START;
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h;
}}
"""
    files = {"main.cu": source.encode(), "timer.h": header.encode(), "other.h": f"{other}\n".encode()}
    report = analyze(files, Config())
    assert ([f.safety for f in report.findings] == [Safety.PROVEN]) == proven
    assert bool(report.refusals) != proven


@pytest.mark.parametrize("call", ["Launcher<32>::template run<int>(d);", "Launcher<32> l; l.template go<int>(d);"])
def test_a_member_that_is_said_to_be_a_template(call: str) -> None:
    source = f"""#include <cuda_runtime.h>
template <class T> __global__ void k(T *p) {{ p[0] = 1; }}
template <int N> struct Launcher {{
    template <class T> static void run(T *p) {{ k<T><<<1, N>>>(p); }}
    template <class T> void go(T *p) {{ k<T><<<1, N>>>(p); }}
}};
int main() {{
    int *d;
    cudaMalloc(&d, 4);
    {call}
    cudaDeviceSynchronize();
    cudaFree(d);
    return 0;
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


@pytest.mark.parametrize("body", ['if ("a" and free_it(x)) puts("b" TAG "c")', 'puts("a" TAG "b"), free_it(x)'])
def test_a_call_near_a_literal_is_not_lost(body: str) -> None:
    source = f"""#include <cstdio>
#include <cuda_runtime.h>
#define TAG "tag"
#define LOG(x) do {{ {body}; }} while (0)
__global__ void k(int *p) {{ p[0] = 1; }}
int free_it(int *d);
int main() {{
    int *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    LOG(d);
    cudaFree(d);
    return 0;
}}
"""
    assert not any(f.safety is Safety.PROVEN for f in analyze({"a.cu": source.encode()}, Config()).findings)


def test_a_kernel_that_calls_many_functions_is_the_same_kernel_in_another_text() -> None:
    functions = "".join(f"__device__ float f{n}(float x) {{ return x * {n}; }}\n" for n in range(12))
    calls = "".join(f"    p[{n}] += f{n}(p[{n}]) + f{(n * 5) % 12}(q[{n}]);\n" for n in range(12))
    text = f"""#include <cuda_runtime.h>
{functions}__global__ void k(float *p, const float *q) {{
{calls}}}
int main() {{
    float *p, *q;
    for (int n = 0; n < 3; n++) {{
        cudaMalloc(&p, 48);
        cudaMalloc(&q, 48);
        k<<<1, 1>>>(p, q);
        cudaFree(p);
        cudaFree(q);
    }}
    return 0;
}}
"""
    found = analyze({"a.cu": text.encode()}, Config())
    assert [refusal.name for refusal in found.refusals] == []
    assert found.findings


def test_what_is_known_of_a_kernel_does_not_lean_on_where_it_stands() -> None:
    calls = " + ".join(f"f{n}(p[{n}])" for n in range(40))
    kernel = f"__global__ void k(float *p) {{ p[0] = {calls}; }}\n"
    texts = [b"// moved\n" * n + kernel.encode() for n in range(20)]
    known = [Tree({"a.cu": text}).variants_of("a.cu")[0].module.kernels[0].facts() for text in texts]
    assert all(facts == known[0] for facts in known)
