"""Lowering CUDA C++: what each construct becomes, as dumps of the IR."""

# ruff: noqa: E501  (code and its dump stand side by side)

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudafix import ir
from cudafix.frontends.cuda.lower.module import lower
from cudafix.frontends.cuda.parse.source import read
from cudafix.frontends.cuda.sema.type_texts import plain_name
from cudafix.ir.dump import dump
from cudafix.pipeline.tree import Tree

CHECK = """\
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s", cudaGetErrorString(e)); exit(1); } } while (0)
"""


GROWING = {
    "statements of a function": lambda n: f"void f() {{ int x = 0; {'x = 1; ' * n} }}",
    "calls of a function": lambda n: f"int g(int); void f() {{ int x; {'x = g(1); ' * n} }}",
    "functions": lambda n: "".join(f"int f{k}(int &a) {{ return a; }}\n" for k in range(n)),
    "classes in classes": lambda n: (
        "__global__ void k() {}\n" + "".join(f"struct s{k} {{\n" for k in range(n)) + "};\n" * n
    ),
    "device functions that call each other": lambda n: (
        "__device__ void f0() {}\n"
        + "".join(f"__device__ void f{k + 1}() {{ f{k}(); }}\n" for k in range(n))
        + f"__global__ void k() {{ f{n}(); }}\n"
    ),
}


@pytest.mark.parametrize("program", GROWING.values(), ids=GROWING)
def test_work_grows_as_the_text_does(program: Callable[[int], str]) -> None:
    """Counted in calls, and resumptions of generators: no clock is asked."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    needed = []
    for size in (4, 150, 300):  # the first fills the caches
        calls = 0
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            lowered(program(size))
        finally:
            sys.setprofile(before)
        needed.append(calls)
    assert needed[2] < 2.5 * needed[1]


class Case(NamedTuple):
    name: str
    code: str
    want: str


def lowered(code: str) -> ir.Module:
    return lower(read("a.cu", textwrap.dedent(code).encode())[0])


def body(code: str, params: str = "") -> str:
    """The dump of one function around `code`."""
    text = dump(lowered(f"void f({params}) {{\n{textwrap.dedent(code)}\n}}\n"))
    return "\n".join(line[2:] for line in text.splitlines() if line.startswith("  "))


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    for statement in block:
        yield statement
        for name in ("then", "other", "body", "condition", "step"):
            inner = getattr(statement, name, ())
            if isinstance(inner, tuple):
                yield from statements(inner)
        for name in ("arms", "handlers"):
            for inner in getattr(statement, name, ()):
                yield from statements(inner)


def calls(module: ir.Module, name: str) -> list[ir.Call]:
    found = [s for f in module.functions for s in statements(f.body) if isinstance(s, ir.Call)]
    return [call for call in found if call.callee == name]


STATEMENTS = [
    Case("a cast of the address", "float *p; cudaMalloc((void**)&p, n);", "declare p: float *\nhost read ::n\ncudaMalloc(&p, ::n)"),
    Case(
        "a template cast",
        "float *p; cudaMalloc(reinterpret_cast<void**>(&p), 4);",
        "declare p: float *\ncudaMalloc(&p, 4)",
    ),
    Case(
        "an assigned status that is compared",
        "float *p; cudaError_t e = cudaFree(p); if (e != cudaSuccess) { g(); }",
        "declare p: float *\ne = cudaFree(p) checked\nif failed e\n  g()",
    ),
    Case(
        "a chain of allocations",
        "float *a, *b; if (cudaMalloc(&a, 4) != cudaSuccess || cudaMalloc(&b, 4) != cudaSuccess) return;",
        "declare a: float *\ndeclare b: float *\n%1 = cudaMalloc(&a, 4) checked\nif failed %1\n  return\nelse\n"
        "  %2 = cudaMalloc(&b, 4) checked  [blocked: in the second operand of `||`]\n  if failed %2\n    return",
    ),
    Case(
        "an assignment in a condition",
        "cudaError_t e; if ((e = cudaDeviceSynchronize()) == cudaSuccess) g();",
        "declare e: cudaError_t\ne = cudaDeviceSynchronize() checked\nif ok e\n  g()  [braces]",
    ),
    Case("a negated status", "if (!cudaDeviceSynchronize()) g();", "%1 = cudaDeviceSynchronize() checked\nif ok %1\n  g()  [braces]"),
    Case("a pointer test", "float *p = 0; if (p) cudaFree(p);", "p = nullptr\nif nonnull p\n  cudaFree(p)  [braces]"),
    Case("a null test", "float *p = h(); if (NULL == p) return;", "p = h() checked\nif null p\n  return"),
    Case(
        "both pointers",
        "float *p = h(); int n = 0; if (p && n > 2) g();",
        "p = h() checked\nn = 0\nif nonnull p\n  if `n>2`\n    g()  [braces]",
    ),
    Case("void casts ignore", "(void)cudaFree(0);", "cudaFree(0)  [(void)…;]"),
    Case("a returned status", "return cudaFree(0);", "%1 = cudaFree(0) checked\nreturn %1"),
    Case(
        "an array of streams",
        "cudaStream_t s[4]; for (int i = 0; i < 4; i++) cudaStreamCreate(&s[i]); for (int j = 3; j >= 0; j--) cudaStreamDestroy(s[j]);",
        "declare s: cudaStream_t array\ni = 0\nloop i in 0:4 at least once\n  cudaStreamCreate(&s[i])  [braces]\n"
        "j = 3\nloop j in 3:>=0:-1\n  host read s[j]\n  cudaStreamDestroy(s[j])  [braces]",
    ),
    Case(
        "downwards is the same range",
        "int n = h(); for (int i = n - 1; i >= 0; i--) g(i);",
        "n = h() checked\ni = …(n)\nloop i in 0:n\n  g(i)  [braces]",
    ),
    Case(
        "a loop that changes its bound",
        "int n = 3; for (int i = 0; i < n; i++) { g(); n--; }",
        "n = 3\ni = 0\nloop\n  g()\n  n = …(n)\n  step\n    i = …(i)",
    ),
    Case(
        "a bound that changes between two loops",
        "int n = 3; for (int i = 0; i < n; i++) g(); n = 2; for (int i = 0; i < n; i++) g();",
        "n = 3\ni = 0\nloop i in 0:n\n  g()  [braces]\nn = 2\ni = 0\nloop i in 0:n#1\n  g()  [braces]",
    ),
    Case(
        "plain loops are one access",
        "float *h = new float[9]; for (int i = 0; i < 9; i++) { for (int j = 0; j < 2; j++) h[i] += sqrt(j); }",
        "h = operator new<float>(…) checked\ni = 0\nhost read h[…]; write h[…]\ni = …\nj = …",
    ),
    Case(
        "a reference",
        "float *p; auto &r = p; cudaFree(r);",
        "declare p: float *\nr = &p\nhost read *r\ncudaFree(*r)",
    ),
    Case(
        "a range for by reference",
        "std::vector<float*> v; for (auto &p : v) cudaFree(p);",
        "declare v: std::vector<float*>\nv.<size> = 0\nloop <round>@34 in 0:v.<size>\n  host read v[<round>@34]\n  p = &v[<round>@34]\n  host read *p\n  cudaFree(*p)  [braces]",
    ),
    Case("output in a chain", "std::cout << 1 << g();", "%1 = g() checked\nstd::cout(1, %1)  [blocked: another call runs earlier in the same statement]"),
    Case("a clock keeps its name", "auto t = std::chrono::steady_clock::now();", "t = std::chrono::steady_clock::now() checked"),
    Case(
        "a conditional value with calls",
        "bool c = true; float *p = c ? h() : 0;",
        "c = true\nif `c`\n  %1 = h() checked  [blocked: in one arm of `?:`]\n  p = %1\nelse\n  p = 0",
    ),
    Case("a conditional value", "bool c = true; float *a, *b; float *p = c ? a : b;", "c = true\ndeclare a: float *\ndeclare b: float *\np = {a | b}"),
    Case(
        "pointer arithmetic",
        "float *p = h(); float *q = p + 4; float *r = &p[3]; q += 2;",
        "p = h() checked\nq = p+…\nr = p+…\nq = q+…",
    ),
    Case("elements of a pointer array", "float *d[2] = {0}; cudaMalloc(d + 1, 4); cudaMalloc(&d[0], 4);",
         "declare d: float * array\nd[…] = nullptr\ncudaMalloc(&d[1], 4)\ncudaMalloc(&d[0], 4)"),
    Case("a shadowed name", "float *p; { float *p; cudaFree(p); } cudaFree(p);",
         "declare p: float *\ndeclare p@30: float *\ncudaFree(p@30)\ncudaFree(p)"),
    Case("goto forward", "if (cudaFree(0)) goto out; g(); out: h();",
         "%1 = cudaFree(0) checked\nif failed %1\n  goto out\ng()\nout:\nh()"),
    Case("goto backward", "again: g(); goto again;", "again:\ng()\nunknown: backward goto"),
    Case("a switch", "int k = 1; switch (k) { case 1: g(); break; default: h(); }",
         "k = 1\nswitch with default\n  case\n    g()\n    break\n  case\n    h()"),
    Case("try and catch", "try { g(); } catch (...) { h(); }", "try\n  g()\ncatch\n  h()"),
    Case("do once", "do { g(); } while (0);", "g()"),
    Case("do at least once", "do { g(); } while (h());", "loop at least once\n  while\n    %1 = h() checked  [blocked: in the head of a loop]\n  g()"),
    Case("forever", "while (true) { g(); break; }", "loop at least once forever\n  g()\n  break"),
    Case("names of a header: a variable and a constant", "cublasCreate(&cublas_handle); cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);",
         "cublasCreate(&::cublas_handle)\ncudaStreamCreateWithFlags(&::s, cudaStreamNonBlocking)"),
    Case("a call of the runtime that is given a pack", "#define COPY(...) cudaMemcpy(__VA_ARGS__)\nint n = 4; COPY(d, h, n, cudaMemcpyHostToDevice);",
         "n = 4\nhost read ::d, ::h\ncudaMemcpy(::d, ::h, n, cudaMemcpyHostToDevice)  [do]"),
    Case("a pack of expressions", "#define DO(...) do { __VA_ARGS__; } while (0)\nDO(g(1), h(2));", "g(1)\nh(2)  [blocked: in an argument that a macro evaluates after another call]"),
    Case("code of a pack in front of a jump", "#define DO(...) __VA_ARGS__ break;\nwhile (true) { DO({ g(1); }) }",
         "loop at least once forever\n  g(1)\n  break"),
    Case("a macro that picks a macro by the number of arguments", "#define ONE(a) g(a);\n#define TWO(a, b) ONE(a) ONE(b)\n#define PICK(_1, _2, NAME, ...) NAME\n#define ALL(...) PICK(__VA_ARGS__, TWO, ONE)(__VA_ARGS__)\nALL(1, 2);", "g(1)  [do]\ng(2)  [do]"),
    Case("a macro that picks a function", "#define PICK(_1, _2, NAME, ...) NAME\n#define ALL(...) PICK(__VA_ARGS__, two, one)(__VA_ARGS__)\nALL(1, 2); ALL(3);", "two(1, 2)  [do; fixed: a macro picks the name]\none(3)  [do; fixed: a macro picks the name]"),
    Case("a macro that is an arm of a switch", "#define NAME(x) case x: return g(#x)\nint n = 2; switch (n) { NAME(1); default: break; } h();", 'n = 2\nswitch with default\n  case\n    %1 = g("") checked  [do]\n    return %1\n  case\n    break\nh()'),
    Case("an array is deleted in parentheses", "int *p = h(); delete[](p);", "p = h() checked\noperator delete(p)"),
    Case("a template that a macro is given", "#define AS_INT(f, ...) f<int>(__VA_ARGS__)\nAS_INT(g, 1);", "%1 = g<int>(1) checked  [do; fixed: the name is an argument of a macro]"),
    Case("a block that a macro is given", "#define DO(...) do { __VA_ARGS__; } while (0)\nint n = 2; DO({ if (n) { g(1); return; } h(2); });",
         "n = 2\nif `n`\n  g(1)\n  return\nh(2)"),
    Case("code in front of a statement", "#define THEN(body) body return\nTHEN({ g(1); });", "g(1)\nreturn"),
    Case("a macro that reads as a type", "#define WORK g(1)\n#define DO WORK break\nwhile (true) { DO; }",
         "loop at least once forever\n  unknown: a statement that reads as a declaration"),
    Case("a swap", "float *a, *b; std::swap(a, b);", "declare a: float *\ndeclare b: float *\nstd::swap(a, b)"),
    Case("a function pointer", "void (*q)(int) = h; q(1);", "host read ::h\nq = ::h\nunknown: call through a function pointer (q, 1)"),
    Case("numbers are no calls", "double x = sqrt(2.0) + rand();", ""),
    Case("a function-style declaration", "std::vector<float*> v(n, nullptr); cudaFree(v[0]);",
         "host read ::n\ndeclare v: std::vector<float*>\nv = …(::n)\nv.<size> = …\nhost read v[0]\ncudaFree(v[0])"),
    Case("a wrapped launch", "k<<<1, 2, 0, s>>>(p + 1); k<<<1, 2>>>();", "host read ::s, ::p\nlaunch k(::p+…) on ::s\nlaunch k()"),
    Case("delete", "float *p = h(); delete[] p;", "p = h() checked\noperator delete(p)"),
    Case("a late declaration", "int n = 4; const int m = n * 2;", "n = 4\nm = …(n)"),
    Case("what a number was before is gone", "int n = 4; n += 2;", "n = 4\nn = …(n)"),
]  # fmt: skip


@pytest.mark.parametrize("case", STATEMENTS, ids=lambda case: case.name)
def test_statements(case: Case) -> None:
    assert body(case.code) == case.want


MODULES = [
    Case(
        "a check macro is transparent",
        CHECK + "void f(float *p) { CHECK(cudaMalloc(&p, 4)); if (p) CHECK(cudaFree(p)); }",
        "function f(p: float *)\n  %1 = cudaMalloc(&p, 4) checked  [CHECK(…);]\n  if nonnull p\n"
        "    %2 = cudaFree(p) checked  [CHECK(…);; braces]\nstyle CHECK(…);\n",
    ),
    Case(
        "a check macro that returns",
        "#define CHECK(x) { cudaError_t e = (x); if (e != cudaSuccess) return 1; }\nint f(float *p) { CHECK(cudaFree(p)); return 0; }",
        "function f(p: float *)\n  e@31 = cudaFree(p) checked  [CHECK(…);]\n  if failed e@31\n    return 1\n  return 0\nstyle CHECK(…);\n",
    ),
    Case(
        "an unknown check macro",
        'void f(float *p) { CUDA_CHECK(cudaFree(p)); checkErr(cudaDeviceSynchronize(), "x"); }',
        "function f(p: float *)\n  %1 = cudaFree(p) checked  [CUDA_CHECK(…);]\n"
        '  %2 = cudaDeviceSynchronize() checked  [checkErr(…, "x");]\nstyle CUDA_CHECK(…);\n',
    ),
    Case(
        "a check function that synchronizes is a call",
        "void check(cudaError_t e) { cudaDeviceSynchronize(); }\nvoid f(float *p) { check(cudaFree(p)); }",
        "function check(e: cudaError_t)\n  cudaDeviceSynchronize()\nfunction f(p: float *)\n  %1 = cudaFree(p) checked\n"
        "  check(%1)  [blocked: another call runs earlier in the same statement]\n",
    ),
    Case(
        "default arguments",
        "void f(float *p, int n = g(), cudaStream_t s = 0, float *q = nullptr) { h(p); }",
        "function f(p: float *, n: int, s: cudaStream_t = 0, q: float * = nullptr)\n"
        "  if `default of n`\n    n = g() checked  [blocked: a default argument]\n  h(p)\n",
    ),
    Case(
        "a check function that only looks",
        "inline void check(cudaError_t e) { if (e != cudaSuccess) exit(1); }\nvoid f(float *p) { check(cudaFree(p)); }",
        "function check(e: cudaError_t)\n  if failed e\n    exit(1)  [check(…);; braces]\nfunction f(p: float *)\n"
        "  %1 = cudaFree(p) checked  [check(…);]\nstyle check(…);\n",
    ),
    Case(
        "a macro that frees",
        "#define CLEANUP() do { if (a) cudaFree(a); \\\n  cudaFree(b); } while (0)\nvoid f() { float *a, *b; CLEANUP(); }",
        "function f()\n  declare a: float *\n  declare b: float *\n  if nonnull a\n    cudaFree(a)  [braces; do; continuation]\n"
        "  cudaFree(b)  [continuation]\n",
    ),
    Case(
        "a pasted name",
        "#define cuda(x) check(cuda##x)\nvoid f(float *p) { cuda(Free(p)); }",
        "function f(p: float *)\n  %1 = cudaFree(p) checked  [fixed: the name is made by the macro `cuda`]\n",
    ),
    Case(
        "a class with a destructor",
        "struct B { float *p; B() { cudaMalloc(&p, 4); } ~B() { cudaFree(p); } };\nint f(int n) { B b; if (n) return 1; return 2; }",
        "function B::B()\n  cudaMalloc(&this->p, 4)\nfunction B::~B()\n  host read this->p\n  cudaFree(this->p)\n"
        "function f(n: int)\n  declare b: B\n  b.B::B()\n  if `n`\n"
        "    b.B::~B()  [blocked: a destructor at the end of a scope]\n    return 1\n"
        "  b.B::~B()  [blocked: a destructor at the end of a scope]\n  return 2\n",
    ),
    Case(
        "methods out of the class, statics, globals",
        "struct A { static int n; float *p; void m(); };\nstatic float *g;\nnamespace x { float *h; void A2() { cudaFree(h); } }\n"
        "void A::m() { cudaFree(p); cudaFree(g); static float *s = 0; cudaFree(s); other(n); m(); }",
        "host global A::n: int\nhost global ::g: float *\nhost global ::x::h: float *\nhost global A::m::s: float *\n"
        "function x::A2()\n  cudaFree(::x::h)\nfunction A::m()\n  host read this->p\n  cudaFree(this->p)\n"
        "  cudaFree(::g)\n  cudaFree(A::m::s)\n  host read A::n\n  other(A::n)\n  *this.m()\n",
    ),
    Case(
        "bases and members have constructors and destructors",
        "struct B { float *p; B() { cudaMalloc(&p, 4); } ~B() { cudaFree(p); } };\n"
        "struct C : B { B one, two; int m; C(int n) : two(), m(n) { if (n) return; g(); } };\nvoid f() { C c(1); }",
        "function B::B()\n  cudaMalloc(&this->p, 4)\nfunction B::~B()\n  host read this->p\n  cudaFree(this->p)\n"
        "function C::C(n: int)\n  *this.B::B()  [blocked: before the body of a constructor]\n"
        "  this->one.B::B()  [blocked: before the body of a constructor]\n"
        "  this->two.B::B()  [blocked: in the initializer list of a constructor]\n"
        "  this->m = n\n  if `n`\n    return\n  g()\n"
        "function f()\n  declare c: C\n  c.C::C(1)\n  c.C::~C()  [blocked: a destructor at the end of a scope]\n"
        "function C::~C()\n  this->two.B::~B()  [blocked: a destructor at the end of a scope]\n"
        "  this->one.B::~B()  [blocked: a destructor at the end of a scope]\n"
        "  *this.B::~B()  [blocked: a destructor at the end of a scope]\n",
    ),
    Case(
        "an array of objects",
        "struct B { float *p; B() { cudaMalloc(&p, 4); } ~B() { cudaFree(p); } };\n"
        "void f(int n) { B *b = new B[n]; delete[] b; }",
        "function B::B()\n  cudaMalloc(&this->p, 4)\nfunction B::~B()\n  host read this->p\n  cudaFree(this->p)\n"
        "function f(n: int)\n  b = operator new<B>(…(n)) checked\n  loop %1 in 0:n\n"
        "    b[%1].B::B()  [blocked: another call runs earlier in the same statement]\n"
        "  loop %2 in 0:n\n    b[%2].B::~B()  [blocked: in `new` or `delete`]\n"
        "  operator delete(b)  [blocked: another call runs earlier in the same statement]\n",
    ),
    Case(
        "qualifiers in macros",
        "#define HD __host__ __device__\n#define DEV __device__\nHD void a() { g(); }\nDEV void b() { cudaFree(0); }\n"
        "void f() { run([=] __device__ (int i) { cudaFree(0); }); }",
        "function a()\n  g()\nfunction f()\n  run(…)\n",
    ),
    Case(
        "a temporary object and a conversion",
        "template <typename T> class V { public: V(int n) { cudaMalloc(&p, n); } T *p; };\n"
        "template <typename T> void f(int n) { use(V(n)); float x = T(n); }",
        "function V::V(n: int)\n  cudaMalloc(&this->p, n)\nfunction f(n: int)\n  %1.V::V(n)\n"
        "  use(%1)  [blocked: another call runs earlier in the same statement]\n",
    ),
    Case(
        "a lambda shares the variables around it",
        "void f() { float *p; auto drop = [&](int i) { cudaFree(p); }; drop(1); run([&] { cudaFree(p); }); }",
        "function f()\n  declare p: float *\n  declare drop: auto\n  drop = &f::<lambda@33>()\n  f::<lambda@33>(1)\n  run(&f::<lambda@75>())\n"
        "function f::<lambda@33>(i: int)\n  cudaFree(p)\nfunction f::<lambda@75>()\n  cudaFree(p)\n",
    ),
    Case(
        "a lambda that captures by copy has copies of its own",
        "void f() { float *p, *q; run([p, &q] { use(p, q); }); run([=] { use(p); }); run([r = q] { use(r); }); }",
        "function f()\n"
        "  declare p: float *\n"
        "  declare q: float *\n"
        "  p@29 = p\n"
        "  run(&f::<lambda@29>())\n"
        "  p@58 = p\n"
        "  run(&f::<lambda@58>())\n"
        "  host read q\n"
        "  r@80 = q\n"
        "  run(&f::<lambda@80>())\n"
        "function f::<lambda@29>()\n"
        "  host read q\n"
        "  use(p@29, q)\n"
        "function f::<lambda@58>()\n"
        "  use(p@58)\n"
        "function f::<lambda@80>()\n"
        "  use(r@80)\n",
    ),
    Case(
        "a reference parameter",
        "void f(float *&p, const int &n) { cudaMalloc(&p, n); p = 0; }",
        "function f(p: float *&, n: int&)\n  host read *n\n  cudaMalloc(p, *n)\n  host write *p\n  *p = nullptr\n",
    ),
    Case(
        "kernels",
        "__device__ float total; __device__ int odd;\n__device__ void put(float *q, float v) { q[0] = v; }\n"
        "__global__ void k(const float *a, float *b, float *c, int n) { float *t = b + n; put(t, a[0]); total += c[0]; }\n"
        '__global__ void p(int *x) { printf("%d", odd); mystery(x); __trap(); }\n',
        "device global ::total: float\ndevice global ::odd: int\n"
        "kernel k: reads a, b, c; writes b; reads global ::total; writes global ::total\n"
        "kernel p: reads x; writes x; prints; traps; reads global ::odd; calls unknown mystery\n",
    ),
    Case(
        "lambdas of a kernel that are handed pointers",
        "__global__ void k(float *a, float *b, float *c, float *d, int n) {\n"
        "auto put = [](float *q, float v) { *q = v; };\nauto half = [=](float v, int i) { return v * d[i]; };\n"
        "if (half(b[n], n) > 0) put(a, n);\n[](float *q) { *q = 0; }(c); }\n",
        "kernel k: reads a, b, c, d; writes a, c\n",
    ),
    Case(
        "ways to write through a parameter of a kernel",
        "struct S { float *x; };\nstruct Op { float *x; __device__ void operator()(int i) const { x[i] = 1; } };\n"
        "template <class F> __device__ void each(int n, const F &f) { f(n); }\n__device__ float t;\n"
        "__global__ void element(float *a, float *b) { float &r = a[0], v = b[0]; r = v; }\n"
        "__global__ void object(float *a, float *b) { View<float> v(a), w(b); v.set(w); }\n"
        "__global__ void tested(float *a) { if (float *q = a) *q = 1; }\n"
        "__global__ void number(float *a) { size_t n = (size_t)a; *(float *)n = 1; }\n"
        "__global__ void bound(float *a, float *b) { auto [q, n] = pair(a, 1); q[0] = b[0]; }\n"
        "__global__ void placed(float *a) { new (a) float(1); }\n"
        "__global__ void behind_const(const S *s, const float *a) { s->x[0] = a[0]; }\n"
        "__global__ void functor(float *a, Op op) { each(4, Op{a}); op(1); }\n"
        "__global__ void of_global(int n) { float &r = t; r = n; }\n",
        "device global ::t: float\n"
        "kernel element: reads a, b; writes a\nkernel object: reads a, b; writes a, b; calls unknown set\n"
        "kernel tested: reads a; writes a\nkernel number: reads a; writes a\n"
        "kernel bound: reads a, b; writes a; calls unknown pair\nkernel placed: reads a; writes a\n"
        "kernel behind_const: reads s, a; writes s\nkernel functor: reads a, op; writes a, op\n"
        "kernel of_global: reads global ::t; writes global ::t\n",
    ),
    Case(
        "a struct of pointers",
        "struct S { float *in, *out; int n; };\n__global__ void k(S s) { s.out[0] = s.in[0]; }\nvoid f() { S s = {}; cudaFree(s.in); }",
        "kernel k: reads s; writes s\nfunction f()\n  declare s: S\n  s.in = nullptr\n  s.out = nullptr\n"
        "  host read s.in\n  cudaFree(s.in)\n",
    ),
    Case(
        "a deleter",
        "void f(float *p) { std::unique_ptr<float, decltype(&cudaFree)> u(p, cudaFree); }",
        "function f(p: float *)\n"
        "  declare u: unique_ptr_a_cu_f_u_at_0\n"
        "  u.unique_ptr_a_cu_f_u_at_0::unique_ptr_a_cu_f_u_at_0(p)\n"
        "  u.unique_ptr_a_cu_f_u_at_0::~unique_ptr_a_cu_f_u_at_0()  [blocked: a destructor at the end of a scope]\n"
        "function f::<lambda@68>(held: void *)\n"
        "  %1 = cudaFree(held) checked\n"
        "  return %1\n"
        "function unique_ptr_a_cu_f_u_at_0::unique_ptr_a_cu_f_u_at_0(p: void * = nullptr)\n"
        "  *this = p\n"
        "function unique_ptr_a_cu_f_u_at_0::~unique_ptr_a_cu_f_u_at_0()\n"
        "  %old = *this\n"
        "  if held %old\n"
        "    f::<lambda@68>(%old)  [blocked: a smart pointer calls its deleter]\n"
        "references cudaFree\n",
    ),
    Case(
        "several host threads",
        "void f() {\n#pragma omp parallel for\n  for (int i = 0; i < 4; i++) g(i);\n}",
        "function f()\n  #pragma omp parallel()  [blocked: a pragma]\n  i = 0\n  loop i in 0:4 at least once\n    g(i)  [braces]\n",
    ),
    Case(
        "globals that are made by calls",
        "float *make();\nstatic float *g = make();\nint n = 4;\n",
        "host global ::g: float *\nhost global ::n: int\nfunction <initializers>()\n"
        "  ::g = make() checked  [blocked: outside of a function body]\n",
    ),
]


@pytest.mark.parametrize("case", MODULES, ids=lambda case: case.name)
def test_modules(case: Case) -> None:
    assert dump(lowered(case.code)) == case.want


def test_spans_are_bytes_of_the_file() -> None:
    code = "// \u00e4\n" + CHECK + "void f(float *p) {\n\tCHECK(cudaMalloc((void **)&p, 4 * 2));\n}\n"
    data = code.encode()
    (call,) = calls(lower(read("a.cu", data)[0]), "cudaMalloc")
    assert data[call.span.start : call.span.end] == b"cudaMalloc((void **)&p, 4 * 2)"
    assert data[call.name_span.start : call.name_span.end] == b"cudaMalloc"
    assert data[call.close : call.close + 1] == b")"
    assert [data[s.start : s.end] for s in call.arg_spans] == [b"(void **)&p", b"4 * 2"]
    assert data[call.site.span.start : call.site.span.end] == b"CHECK(cudaMalloc((void **)&p, 4 * 2));"
    assert (call.site.indent, call.site.prefix, call.site.suffix) == ("\t", "CHECK(", ");")


def test_a_macro_body_is_edited_where_it_is_defined() -> None:
    code = "#define DROP(x) \\\n    cudaFree(x); \\\n    x = 0\nvoid f(float *p, float *q) { DROP(p); DROP(q); }\n"
    found = calls(lowered(code), "cudaFree")
    at = code.index("cudaFree")
    assert [(call.span.start, call.args) for call in found] == [(at, (ir.Var("p"),)), (at, (ir.Var("q"),))]
    assert all(call.site.continuation and call.site.blocked is None and call.site.fixed is None for call in found)


def test_an_argument_that_is_evaluated_twice_is_fixed() -> None:
    found = calls(lowered("#define TWICE(x) x; x\nvoid f(float *p) { TWICE(cudaFree(p)); }"), "cudaFree")
    assert [call.site.fixed is None for call in found] == [True, False]


def test_a_quiet_call_in_an_argument_does_not_block() -> None:
    (call,) = calls(lowered("void f(std::unique_ptr<int> p) { cudaMemcpy(p.get(), h, n, k); }"), "cudaMemcpy")
    assert call.site.blocked is None


def test_a_check_without_a_semicolon_is_a_style_of_its_own() -> None:
    code = (
        CHECK.replace("do {", "{").replace("} while (0)", "}") + "void f(float *p) {\n  CHECK(cudaFree(p))\n  g();\n}\n"
    )
    (call,) = calls(lowered(code), "cudaFree")
    assert code[call.site.span.start : call.site.span.end] == "CHECK(cudaFree(p))"
    assert (call.site.prefix, call.site.suffix) == ("CHECK(", ")")


def test_a_check_of_another_library_is_no_style() -> None:
    unseen = "void f() { CUBLAS_CHECK(cublasCreate(&h)); cudaFree(p); }"
    assert lowered(unseen).check_style is None
    assert lowered(unseen.replace("cudaFree(p)", "CHECK(cudaFree(p))")).check_style == ("CHECK(", ");")


def test_parentheses_alone_are_no_style() -> None:
    (call,) = calls(lowered("void f(float *p) { ( cudaFree(p) ); }"), "cudaFree")
    assert (call.site.prefix, call.site.suffix) == ("", ";")


def test_the_last_statement_of_a_macro_gets_a_semicolon() -> None:
    code = CHECK + "#define DROP(p) CHECK(cudaFree(p))\nvoid f(float *p) { DROP(p); }\n"
    (call,) = calls(lowered(code), "cudaFree")
    assert code[call.site.span.start : call.site.span.end] == "CHECK(cudaFree(p))"
    assert (call.site.prefix, call.site.suffix) == ("CHECK(", ");")


def test_a_site_in_a_statement_with_an_earlier_call_is_blocked() -> None:
    (call,) = calls(lowered("void f(float *p) { g(h(), cudaFree(p)); }"), "cudaFree")
    assert call.site.blocked == "another call runs earlier in the same statement"


def test_problems_name_the_function() -> None:
    module = lowered("void f() { setjmp(b); }\nvoid g() {}\n")
    assert [[why for why, _ in function.problems] for function in module.functions] == [["control_flow"], []]


@pytest.mark.parametrize(
    "code",
    [
        "void f() {" + "{" * 10_000 + "g();" + "}" * 10_000 + "}",
        "void f() { x = " + "(" * 5_000 + "1" + ")" * 5_000 + "; }",
        "void f() { std::cout" + " << 1" * 5_000 + "; }",
        "void f() { x = a" + " + a" * 5_000 + "; }",
        "void f() { if (a" + " || g()" * 3_000 + ") h(); }",
        "void f() { " + "if (a) g(); else " * 3_000 + "; }",
        "void f() { x = " + "g(" * 3_000 + ")" * 3_000 + "; }",
    ],
    ids=["blocks", "parentheses", "output", "sum", "or", "else", "calls"],
)
def test_deep_nesting_is_refused_not_fatal(code: str) -> None:
    assert dump(lowered(code))


TOKENS = (
    "void f ( ) { } ; if else for while do switch case break return goto x : , = == && || ! & * p q n cudaMalloc cudaFree "
    "[ ] 0 <<< >>> k new delete auto float int -> . ? try catch lambda # define template < > struct :: ~ this static"
).split()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(TOKENS), max_size=60))
def test_any_text_is_lowered(tokens: list[str]) -> None:
    dump(lowered("void f(float *p) { " + " ".join(tokens) + " }"))
    dump(lowered(" ".join(tokens)))


def test_a_name_has_no_blanks_and_words_that_are_none_stay_apart() -> None:
    assert [plain_name(n) for n in ("A :: f", "A<T> :: ~ A", "operator bool")] == ["A::f", "A::~A", "operatorbool"]
    assert plain_name("int main") == "int main"  # where the text around it is broken


PROSE = """
| **Codes** | Given back by the call (`cudaError_t`). | It gives `cudaSuccess`, but the device is *lost*. \
The next call fails. |
| **Examples** | `cudaMalloc(&ptr, size)` fails if `size` is too large or the device has no memory. \
| A launch with `<<<blocks, threads>>>()` where `threads > 1024` or `blocks > most` may still return `cudaSuccess`. |
| **Timing** | Immediate (host side). | Delayed; depends on the device. |
"""


def test_prose_binds_no_reference_at_namespace_scope() -> None:
    """All sources of a folder may run before `main`: what the grammar misreads in one would count for each program."""
    assert not lowered(PROSE).functions


@pytest.mark.parametrize(
    ("statement", "keeps"),
    [
        ("out[0] = (long)in;", True),
        ("memcpy(out, &in, 8);", True),
        ("State own = states[0]; out[0] += uniform(&own) * 2;", False),
        ("out[0] = in[1];", False),
    ],
)
def test_a_kernel_keeps_the_addresses_that_it_stores(statement: str, keeps: bool) -> None:
    """What a function returns that is given the address of a variable of the kernel is a number."""
    (kernel,) = lowered(f"__global__ void k(long *out, int *in, State *states) {{ {statement} }}").kernels
    assert kernel.keeps is keeps


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("typedef float real; void f() { real *x; }", "float *"),
        ("using real = unsigned char; void f() { const real x = 1; }", "unsigned char"),
        ("#define real float\nvoid f() { std::vector<real> x; }", "std::vector<float>"),
        ("typedef /* a word */ float real; void f() { real x; }", "real"),
        ("typedef float one; typedef one real; void f() { real x; }", "float"),
        ("typedef real real; typedef int real; void f() { real x; }", "real"),
        ("#if A\ntypedef float real;\n#else\ntypedef double real;\n#endif\nvoid f() { real x; }", "double"),
        ("#if A\ntypedef float real;\n#else\ntypedef int real;\n#endif\nvoid f() { real x; }", "real"),
        ("#if A\ntypedef float *real;\n#else\ntypedef float real;\n#endif\nvoid f() { real x; }", "real"),
        ("typedef float real; void f() { typedef int *real; real x; }", "real"),
        ("typedef float real; template <typename real> void f() { real x; }", "real"),
        ("typedef float real; namespace n { struct real { int *p; }; void f() { real x; } }", "n_real_or_other"),
        ("typedef float real; namespace n { void f() { other::real x; } }", "other::real"),
        ("typedef int real, *pointer; void f() { real x; }", "int"),
        ("#define real float\n#undef real\n#define real float *\nvoid f() { real x; }", "real"),
        ("#define real float *\nvoid f() { real x; }\n#undef real\n#define real float\n", "real"),
    ],
)
def test_another_name_of_a_number_is_one_where_it_is_nothing_else(code: str, kind: str) -> None:
    (function,) = (f for f in lowered(code).functions if f.name.endswith("f"))
    assert function.types["x"] == kind


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        (("typedef float real;",), "float"),
        (("typedef float real;", "typedef double real;"), "double"),
        (("typedef float real;", "typedef long real;"), "real"),
        (("typedef float real;", "typedef float *real;"), "real"),
        (("typedef float real;", "namespace n { struct real { int *p; }; }"), "n_real_or_other"),
    ],
)
def test_names_of_numbers_come_from_headers(headers: tuple[str, ...], kind: str) -> None:
    files = {f"{n}.h": text.encode() for n, text in enumerate(headers)}
    files["a.cu"] = "".join(f'#include "{path}"\n' for path in files).encode() + b"void f() { real x; }\n"
    (function,) = (f for f in Tree(files).variants_of("a.cu")[0].module.functions if f.name.endswith("f"))
    assert function.types["x"] == kind
