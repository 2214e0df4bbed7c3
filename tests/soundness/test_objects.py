"""What constructors, destructors and operators of objects do to a buffer where no call is written (`other_stream`)."""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline import driver
from cudafix.project.config import Config
from tests.other_stream import MAIN, analyze, check

LOUD = "struct C { int *p; cudaStream_t s; ~C() { run(p, s); } };"
MADE = "struct C { int *p; cudaStream_t s; C(int *q, cudaStream_t t) : p(q), s(t) {} ~C() { run(p, s); } };"
CALLED = "struct F { int *p; cudaStream_t s; bool operator()(int, int) const { run(p, s); return false; } };"
USES = {
    "an argument in braces": (LOUD + "void use(C c) {}", "use({d, other});"),
    "an argument in braces that a constructor makes": (MADE + "void use(C c) {}", "use({d, other});"),
    "an argument in braces for a reference": (MADE + "void use(const C &c) {}", "use({d, other});"),
    "a copy as an argument": (LOUD + "void use(C c, int *q) { c.p = q; }", "C c{e, other}; use(c, d);"),
    "an argument that is converted": (
        "struct C { int *p; C(int *q): p(q) {} ~C() { k<<<1,1,0,g>>>(p);} static cudaStream_t g; }; cudaStream_t C::g; void use(C c) {}",
        "C::g = other; use(d);",
    ),
    "a copy for a template": (
        LOUD + "template <class T> void use(T c, int *q) { c.p = q; }",
        "C c{e, other}; use(c, d);",
    ),
    "a copy for a method": (
        LOUD + "struct M { void use(C c, int *q) { c.p = q; } };",
        "M m; C c{e, other}; m.use(c, d);",
    ),
    "a copy for a lambda": (LOUD, "C c{e, other}; auto f = [](C c, int *q) { c.p = q; }; f(c, d);"),
    "a copy for a constructor": (LOUD + "struct M { M(C c, int *q) { c.p = q; } };", "C c{e, other}; M m(c, d);"),
    "a copy in each round of a loop": (LOUD, "C c{e, other}; for (C b : {c}) { b.p = d; }"),
    "an array as a member": (LOUD + "struct M { C c[2]; };", "{ M m; m.c[0].p = d; m.c[0].s = other; m.c[1].p = e; }"),
    "an array as a member, set by a method": (
        LOUD + "struct M { C c[2]; void set(int *p, cudaStream_t s) { c[1].p = p; c[1].s = s; } };",
        "{ M m; m.set(d, other); }",
    ),
    "the constructors of an array that is a member": (
        "cudaStream_t gs; int *gp; struct C { C() { run(gp, gs); } }; struct M { C c[2]; };",
        "gp = d; gs = other; M m;",
    ),
    "a `std::array` as a member": (
        LOUD + "struct M { std::array<C, 2> c; };",
        "{ M m; m.c[0].p = d; m.c[0].s = other; }",
    ),
    "an object in a tuple": (MADE, "{ std::tuple<C, int> c(C(e, other), 1); std::get<0>(c).p = d; }"),
    "an array in braces": (LOUD, "{ C c[2] = {{d, other}, {e, other}}; }"),
    "an array of objects in braces": (MADE, "{ C c[] = {C(d, other), C(e, other)}; }"),
    "the constructor of a static variable": (
        "cudaStream_t gs; int *gp; struct C { C() { run(gp, gs); } };",
        "gp = d; gs = other; static C c;",
    ),
    "another name of a class": (LOUD + "using D = C;", "{ D m; m.p = d; m.s = other; }"),
    "a typedef of a class": (LOUD + "typedef C D;", "{ D m; m.p = d; m.s = other; }"),
    "another name of a template": (
        "template <class T> struct C { T *p; cudaStream_t s; ~C() { run(p, s); } }; using D = C<int>;",
        "{ D m; m.p = d; m.s = other; }",
    ),
    "another name of the class of a parameter": (LOUD + "using D = C; void use(D c) {}", "use({d, other});"),
    "another name of the class of a member": (
        LOUD + "using D = C; struct M { D c; };",
        "{ M m; m.c.p = d; m.c.s = other; }",
    ),
    "another name behind `new`": (LOUD + "using D = C;", "D *m = new D; m->p = d; m->s = other; delete m;"),
    "a class by `decltype`": (LOUD, "{ C a{e, other}; decltype(a) m; m.p = d; m.s = other; }"),
    "an object in the condition of a loop": (
        "struct C { int *p; cudaStream_t s; C(int *q, cudaStream_t t): p(q), s(t) {} operator bool() { return false; } ~C() { run(p, s); } };",
        "while (C m{d, other}) { }",
    ),
    "an object in the head of a switch": (MADE, "switch (C m(d, other); 1) { case 1: break; }"),
    "an exception in the same block": (LOUD, "try { C m{d, other}; throw 1; } catch (int) { }"),
    "an exception in a function": (
        LOUD + "void f(int *d, cudaStream_t s) { C m{d, s}; throw 1; }",
        "try { f(d, other); } catch (int) { }",
    ),
    "an exception that passes a function": (
        LOUD + "void g() { throw 1; } void f(int *d, cudaStream_t s) { C m{d, s}; g(); }",
        "try { f(d, other); } catch (int) { }",
    ),
    "a function whose body is a `try`": (
        LOUD + "void f(int *d, cudaStream_t s) try { C m{d, s}; throw 1; } catch (int) { }",
        "f(d, other);",
    ),
    "the object that is thrown": (MADE, "try { throw C(d, other); } catch (C &c) { }"),
    "the object that is caught": (MADE, "try { throw C(e, other); } catch (C c) { c.p = d; }"),
    "a function that is bound": ("", "auto f = std::bind(run, d, other); f();"),
    "a packaged task": ("", "std::packaged_task<void()> f([&] { run(d, other); }); f();"),
    "a function that runs at the exit": (
        "int *gd; cudaStream_t gs; void bye() { run(gd, gs); }",
        "gd = d; gs = other; atexit(bye);",
    ),
    "a function that runs at a signal": (
        "int *gd; cudaStream_t gs; void bye(int) { run(gd, gs); }",
        "gd = d; gs = other; signal(2, bye); raise(2);",
    ),
    "a function that an algorithm is given": (
        "int *gd; cudaStream_t gs; bool cmp(int, int) { run(gd, gs); return false; }",
        "gd = d; gs = other; int v[2]; std::sort(v, v + 2, cmp);",
    ),
    "a temporary function object": (CALLED, "int v[2]; std::sort(v, v + 2, F{d, other});"),
    "a function object": (
        "struct F { int *p; cudaStream_t s; void operator()(int) const { run(p, s); } };",
        "F f{d, other}; int v[2]; std::for_each(v, v + 2, f);",
    ),
    "an algorithm on a range": ("", "int v[2]; std::ranges::for_each(v, [&](int) { run(d, other); });"),
    "a variable as default argument": (
        "int *gd; cudaStream_t gs; void f(int *p = gd) { run(p, gs); }",
        "gd = d; gs = other; f();",
    ),
    "a call as default argument": (
        "int *gd; cudaStream_t gs; int g() { run(gd, gs); return 1; } void f(int p = g()) { }",
        "gd = d; gs = other; f();",
    ),
    "a member with an initializer": (
        "int *gd; cudaStream_t gs; struct S { int *p = gd; };",
        "gd = d; S s; run(s.p, other);",
    ),
    "a member whose initializer calls": (
        "int *gd; cudaStream_t gs; int g() { run(gd, gs); return 1; } struct S { int x = g(); };",
        "gd = d; gs = other; S s;",
    ),
    "an object as a member with braces": (
        "int *gd; cudaStream_t gs; struct B { B(int *a, cudaStream_t t) { run(a, t); } }; struct S { B b{gd, gs}; };",
        "gd = d; gs = other; S s;",
    ),
    "an object as a member with a constructor": (
        "int *gd; cudaStream_t gs; struct B { B(int *a, cudaStream_t t) { run(a, t); } }; struct S { B b = B(gd, gs); };",
        "gd = d; gs = other; S s;",
    ),
    "an object in memory that is there": (MADE, "alignas(C) char m[sizeof(C)]; C *c = new (m) C(d, other); c->~C();"),
    "the constructor of an object in memory that is there": (
        "struct C { C(int *q, cudaStream_t t) { run(q, t); } };",
        "alignas(C) char m[sizeof(C)]; new (m) C(d, other);",
    ),
    "an operator that is a method": (
        "struct S { cudaStream_t s; S &operator<<(int *p) { run(p, s); return *this; } };",
        "S s{other}; s << d;",
    ),
    "an operator that is a function": (
        "struct S { cudaStream_t s; }; S &operator<<(S &a, int *p) { run(p, a.s); return a; }",
        "S s{other}; s << d;",
    ),
    "an index operator": (
        "struct S { cudaStream_t s; int operator[](int *p) { run(p, s); return 1; } };",
        "S s{other}; s[d];",
    ),
    "an assignment that keeps a pointer": (
        "struct S { int *p; cudaStream_t s; S &operator=(int *q) { p = q; return *this; } };",
        "S s{e, other}; s = d; run(s.p, other);",
    ),
    "an assignment that keeps a pointer elsewhere": (
        "struct S { int *p, *r; cudaStream_t s; S &operator=(int *q) { r = q; return *this; } };",
        "S s{e, e, other}; s = d; run(s.r, other);",
    ),
    "an assignment that copies something else": (
        "int *gd; struct S { int *p; S &operator=(const S &o) { p = gd; return *this; } };",
        "gd = d; S s{e}, t{e}; s = t; run(s.p, other);",
    ),
    "a temporary object that is assigned": (MADE, "C c(e, other); c = C(d, other); c.p = e;"),
    "braces that are assigned": (LOUD, "C c{e, other}; c = {d, other}; c.p = e;"),
    "a temporary object in braces that is assigned": (LOUD, "C c{e, other}; c = C{d, other}; c.p = e;"),
    "what a function returns is assigned": (
        MADE + "C mk(int *p, cudaStream_t s) { return C(p, s); }",
        "C c(e, other); c = mk(d, other); c.p = e;",
    ),
    "an overload with a default argument": (
        "cudaStream_t gs; struct X{}; void f(float *p) {} void f(int *p, int x = 0) { run(p, gs); }",
        "gs = other; f(d);",
    ),
    "an overload with a pack": (
        "void f(float *p, cudaStream_t s) {} template <class... A> void f(A... a) { run(a...); }",
        "f(d, other);",
    ),
    "a function of the namespace of its argument": (
        "namespace n { struct T { int *p; }; void go(T t, cudaStream_t s) { run(t.p, s); } } void go(int, int) {}",
        "n::T t{d}; go(t, other);",
    ),
    "functions of one name in two namespaces": (
        "namespace m { struct T { int *p; }; void go(T t, cudaStream_t s) {} } namespace n { struct T { int *p; }; void go(T t, cudaStream_t s) { run(t.p, s); } }",
        "n::T t{d}; go(t, other);",
    ),
    "a deleter": (
        "",
        "{ auto del = [&](int *) { run(d, other); }; std::unique_ptr<int, decltype(del)> u(new int, del); }",
    ),
    "a deleter of a shared pointer": ("", "{ std::shared_ptr<void> u(nullptr, [&](void *) { run(d, other); }); }"),
    "a deleter of other memory": ("", "{ int x; std::shared_ptr<int> u(&x, [&](int *) { run(d, other); }); }"),
    "a virtual destructor behind a smart pointer": (
        "struct B { virtual ~B() {} }; struct D : B { int *p; cudaStream_t s; ~D() override { run(p, s); } };",
        "{ D *x = new D; x->p = d; x->s = other; std::unique_ptr<B> b(x); }",
    ),
    "a vector as a member": (
        LOUD + "struct M { std::vector<C> c; };",
        "{ M m; m.c.resize(2); m.c[1].p = d; m.c[1].s = other; }",
    ),
    "a vector as a member that gets an object": (
        LOUD + "struct M { std::vector<C> c; };",
        "{ M m; m.c.push_back(C{d, other}); }",
    ),
    "a map as a member": (LOUD + "struct M { std::map<int, C> c; };", "{ M m; m.c[1].p = d; m.c[1].s = other; }"),
    "a pair as a member": (
        LOUD + "struct M { std::pair<int, C> c; };",
        "{ M m; m.c.second.p = d; m.c.second.s = other; }",
    ),
    "another name that two classes have": (
        "struct A0 {}; struct C0 { int *p; cudaStream_t s; ~C0() { run(p, s); } }; struct O { using T = C0; T c; }; struct Q { using T = A0; T c; };",
        "{ O o; o.c.p = d; o.c.s = other; }",
    ),
    "a constructor that the compiler writes": (
        "cudaStream_t gs; int *gp; struct C { C() { run(gp, gs); } }; struct M { C c; M() = default; };",
        "gp = d; gs = other; M m;",
    ),
    "a class that a macro defines": (
        "#define CLS(n) struct n { int *p; cudaStream_t s; ~n() { run(p, s); } };\nCLS(C)",
        "{ C c; c.p = d; c.s = other; }",
    ),
    "a class behind a macro": (
        "#define API\nstruct API C { int *p; cudaStream_t s; ~C() { run(p, s); } };",
        "{ C c; c.p = d; c.s = other; }",
    ),
    "the constructor of a class that is not seen": ("", "Foreign f(d);"),
    "a temporary object of a class that is not seen": ("", "Foreign{d};"),
    "`new` of a class that is not seen": ("", "new Foreign(d);"),
    "the destructor of a class that is not seen": ("", "{ Foreign f; f.p = d; }"),
    "a member of a class that is not seen": ("struct M { Foreign f; };", "{ M m; m.f.p = d; }"),
    "a base that is not seen": ("struct M : Foreign { int *p; };", "{ M m; m.p = d; }"),
    "an array of a class that is not seen": ("", "{ Foreign f[2]; f[0].p = d; }"),
}


@pytest.mark.parametrize("use", USES)
def test_what_an_object_does_counts(use: str) -> None:
    declarations, statements = USES[use]
    check(analyze(declarations + MAIN % statements))


DECLARED = """
#pragma once
#include <cuda_runtime.h>
struct B {
    int *p;
    cudaStream_t s;
    B(int *q, cudaStream_t t) : p(q), s(t) {}
    ~B();
    B *self() { return this; }
};
B make(int *p, cudaStream_t s);
auto made(int *p, cudaStream_t s) -> B;
void look(const B &b);
void take(B b);
struct M {
    void look(const B &b);
    void take(B b);
    static B make(int *p, cudaStream_t s);
    B get(int *p, cudaStream_t s) const;
};
inline B here(int *p, cudaStream_t s) { return B(p, s); }
template <class T> B any(T *p, cudaStream_t s) { return B(p, s); }
"""
DEFINED = """
__global__ void touch(int *v) { *v = 1; }
B::~B() { touch<<<1, 1, 0, s>>>(p); }
B make(int *p, cudaStream_t s) { return B(p, s); }
auto made(int *p, cudaStream_t s) -> B { return B(p, s); }
void look(const B &b) {}
void take(B b) {}
void M::look(const B &b) {}
void M::take(B b) {}
B M::make(int *p, cudaStream_t s) { return B{p, s}; }
B M::get(int *p, cudaStream_t s) const { return {p, s}; }
"""
ELSEWHERE = (
    "B(d, other);",
    "look(B(d, other));",
    "look({d, other});",
    "take(B(d, other));",
    "take({d, other});",
    "take(B{d, other});",
    "M m; m.look(B(d, other));",
    "M m; m.look({d, other});",
    "M m; m.take(B(d, other));",
    "make(d, other);",
    "made(d, other);",
    "here(d, other);",
    "any(d, other);",
    "any<int>(d, other);",
    "M::make(d, other);",
    "M m; m.get(d, other);",
    "look(make(d, other));",
    "take(make(d, other));",
    "make(d, other).self();",
    "B *b = make(d, other).self();",
    "if (make(d, other).self()) e = d;",
    "(make(d, other), 1);",
    "for (int i = 0; i < 2; ++i) make(d, other);",
    "B b(e, other); b = make(d, other); b.p = e;",
    "{ B b = make(d, other); }",
    "{ auto b = make(d, other); }",
    "{ const B &b = make(d, other); }",
    "{ auto &&b = make(d, other); }",
    "{ auto b = here(d, other); }",
    "M m; { auto b = m.get(d, other); }",
    "auto f = [&] { return B(d, other); }; f();",
    "auto f = [&] { return B(d, other); }; { auto b = f(); }",
    "auto f = [](const B &) {}; f(B(d, other));",
    "auto f = [](B) {}; f(B(d, other));",
    "auto f = [](B) {}; f({d, other});",
    "auto f = [](auto b) {}; f(B(d, other));",
    "void (*f)(const B &) = look; f(B(d, other));",
    "std::function<void(B)> f = take; f(B(d, other));",
)


@pytest.mark.parametrize("use", ELSEWHERE)
@pytest.mark.parametrize("where", ["in a header", "in another file"])
def test_objects_of_functions_elsewhere_end_where_they_end(use: str, where: str) -> None:
    main = f'#include "1.h"\n{MAIN % use}'
    if where == "in a header":
        check(analyze(main, DECLARED.replace("#include <cuda_runtime.h>", "") + DEFINED.replace("B::~", "inline B::~")))
    else:
        check(analyze(main, DECLARED.replace("#include <cuda_runtime.h>", ""), '#include "1.h"\n' + DEFINED))


@pytest.mark.parametrize(
    ("constructor", "member", "made", "safety"),
    [
        ("", "= nullptr", "Gpu o;", Safety.PROVEN),
        ("", "{nullptr}", "Gpu o{};", Safety.PROVEN),
        ("", "{}", "Gpu o; Gpu *p = &o; p->step();", Safety.PROVEN),
        ("Gpu() = default;", "= NULL", "Gpu o;", Safety.PROVEN),
        ("Gpu() {}", "= 0", "Gpu o;", Safety.PROVEN),
        ("explicit Gpu(int) {}", "= nullptr", "Gpu o(3);", Safety.PROVEN),
        ("Gpu() : d(nullptr) {}", "", "Gpu o;", Safety.PROVEN),
        ("", "= nullptr", "struct S { int x; Gpu g; } s; Gpu &o = s.g;", Safety.PROVEN),
        ("", "= nullptr", "struct S { Gpu g; S() {} } s; Gpu &o = s.g;", Safety.PROVEN),
        ("", "= nullptr", "struct S : Gpu { int x; } o;", Safety.PROVEN),
        ("", "= nullptr", "Gpu *n = new Gpu; Gpu &o = *n; delete n; return 0;", Safety.PROVEN),
        ("", "", "Gpu o;", None),  # frees what nobody has set
        ("Gpu();", "= nullptr", "Gpu o;", None),  # a constructor that is not seen
        ("Gpu(int *p) : d(p) {}", "= nullptr", "int *m; cudaMallocManaged(&m, 4); Gpu o(m);", None),
        ("", "= nullptr", "int *m; cudaMallocManaged(&m, 4); Gpu o; o.d = m;", None),
        ("", "= nullptr", "int *m; cudaMallocManaged(&m, 4); Gpu o{m};", None),
    ],
)
def test_a_member_that_is_null_unless_a_constructor_says_otherwise(
    constructor: str, member: str, made: str, safety: Safety | None
) -> None:
    """`init` frees what is there before it allocates: nothing, the first time."""
    source = f"""#include <cuda_runtime.h>
__global__ void k(int *p) {{ p[0] = 1; }}
struct Gpu {{
    int *d {member};
    {constructor}
    ~Gpu() {{ release(); }}
    void init() {{ release(); cudaMalloc(&d, 4); }}
    void step() {{ if (d) k<<<1, 1>>>(d); cudaDeviceSynchronize(); }}
    void release() {{ if (d) cudaFree(d); d = nullptr; }}
}};
int main() {{
    {made.partition("delete")[0]}
    for (int i = 0; i < 3; i++) {{ o.init(); o.step(); }}
    {"".join(made.partition("delete")[1:])}
    return 0;
}}
"""
    report = driver.analyze({"a.cu": source.encode()}, Config())
    assert {f.safety for f in report.findings} == ({safety} if safety is not None else set())
    assert bool(report.refusals) == (safety is None)


@pytest.mark.parametrize(
    ("member", "is_quiet"),
    [
        ("const cudaDataType_t mine = Traits<float>::type;", True),
        ("const cublasComputeType_t mine = Traits<float>::type;", True),
        ("cublasGemmAlgo_t mine = CUBLAS_GEMM_DEFAULT;", True),
        ("cudnnConvolutionMode_t mine = Traits<float>::mode;", True),
        ("cudaDataType_t mine = pick();", False),
        ("cudaDataType_t mine{pick(3)};", False),
        ("cublasHandle_t mine = Traits<float>::handle;", False),
        ("cudaStream_t mine = Traits<float>::stream;", False),
        ("float *mine = Traits<float>::memory;", False),
    ],
)
def test_a_member_that_a_header_initializes_with_a_constant_of_cuda(member: str, is_quiet: bool) -> None:
    """What the header says is not lowered with the source: it may do anything to the object, but not with a name."""
    header = f"#pragma once\nstruct Gpu {{ Gpu(int n); ~Gpu(); void go(); float *data; {member} }};\n"
    source = """#include <cuda_runtime.h>
#include "gpu.h"
__global__ void k(float *p) { p[0] = 1; }
float *shared;
Gpu::Gpu(int n) { cudaMalloc(&data, n); shared = data; }
Gpu::~Gpu() { cudaFree(data); }
void Gpu::go() { k<<<1, 1>>>(shared); }
int main() { Gpu gpu(4); gpu.go(); cudaDeviceSynchronize(); puts("done"); unseen(3); cudaDeviceSynchronize(); return 0; }
"""
    report = driver.analyze({"gpu.h": header.encode(), "main.cu": source.encode()}, Config())
    proven = [f.safety for f in report.findings] == [Safety.PROVEN] and not report.refusals
    assert proven is is_quiet


def test_members_that_a_header_makes_null() -> None:
    header = """#pragma once
struct Pool { float *spare = nullptr; };
class Gpu {
public:
    Gpu(int n);
    ~Gpu();
    void grow(int n);
private:
    Pool pool;
    float *data = nullptr;
    cudaStream_t stream = nullptr;
};
"""
    source = """#include <cuda_runtime.h>
#include "gpu.h"
__global__ void k(float *p, float *q) { p[0] = q[0]; }
Gpu::Gpu(int n) { grow(n); }
Gpu::~Gpu() { cudaFree(data); cudaFree(pool.spare); }
void Gpu::grow(int n) {
    cudaFree(data);
    cudaFree(pool.spare);
    cudaMalloc(&data, n);
    cudaMalloc(&pool.spare, n);
    k<<<1, 1, 0, stream>>>(data, pool.spare);
    cudaDeviceSynchronize();
}
int main() { Gpu gpu(4); gpu.grow(8); return 0; }
"""
    report = driver.analyze({"gpu.h": header.encode(), "main.cu": source.encode()}, Config())
    assert not report.refusals
    assert [f.safety for f in report.findings] == [Safety.PROVEN] * 2


MANAGED = "static void *operator new(size_t n) { void *p; cudaMallocManaged(&p, n); return p; }"
MANY = MANAGED.replace("new(", "new[](")


@pytest.mark.parametrize(
    ("before", "members", "made"),
    [
        ("", MANAGED, "Gpu *g = new Gpu;"),
        ("", MANAGED, "Gpu *g = new Gpu();"),
        ("", MANAGED.replace("operator new", "operator  new "), "Gpu *g = new Gpu{3};"),
        ("", MANY, "Gpu *g = new Gpu[4];"),
        ("", MANAGED, "auto g = std::make_unique<Gpu>();"),
        ("", MANAGED, "std::unique_ptr<Gpu> g(new Gpu);"),
        ("", MANAGED, "std::unique_ptr<Gpu> o(new Gpu); Gpu *g = o.get();"),
        ("", MANAGED, "std::shared_ptr<Gpu> g(new Gpu);"),
        ("", "static void *operator new(size_t n);", "Gpu *g = new Gpu;"),
        (f"struct Managed {{ {MANAGED} }};", "", "Gpu *g = new Gpu;"),
        (f"struct Managed {{ {MANAGED} }};", "", "auto g = std::make_unique<Gpu>();"),
        ("struct Managed { static void *operator new(size_t n); };", "", "auto g = std::make_unique<Gpu>();"),
    ],
)
def test_objects_of_a_class_that_gets_its_memory_from_a_function_of_its_own(
    before: str, members: str, made: str
) -> None:
    """The host looks at what a kernel has written, behind the free of other memory."""
    source = f"""#include <cuda_runtime.h>
#include <memory>
__global__ void k(int *p) {{ p[0] += 1; }}
{before}
struct Gpu {": Managed " if before else ""}{{ int x; {members} }};
int main() {{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    {made}
    int *d;
    cudaMalloc(&d, 4);
    k<<<1, 1, 0, s>>>(&g->x);
    cudaFree(d);
    return g->x;
}}
"""
    report = driver.analyze({"a.cu": source.encode()}, Config())
    waits = any(b"cudaStreamSynchronize(s)" in edit.text for f in report.findings for edit in f.edits)
    assert waits or not any(f.safety is Safety.PROVEN for f in report.findings)


MADE_AGAIN = """
#include <cuda_runtime.h>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>
__global__ void k(int *v) {{ *v = 1; }}
struct Lane {{ cudaStream_t s; Lane *next; Lane(cudaStream_t x) : s(x) {{}} Lane() {{}} }};
int main(int argc, char **argv) {{
    int *d;
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMalloc(&d, 4);
    {lines}
    cudaFree(d);
    return 0;
}}
"""


@pytest.mark.parametrize(
    "lines",
    [
        "std::vector<Lane *> v; for (int i = 0; i < argc; i++) v.push_back(new Lane(t)); v.back()->s = s; k<<<1, 1, 0, v[0]->s>>>(d);",
        "std::map<int, Lane *> v; for (int i = 0; i < argc; i++) v[i] = new Lane(t); v[argc - 1]->s = s; k<<<1, 1, 0, v[0]->s>>>(d);",
        "Lane *head = nullptr; for (int i = 0; i < argc; i++) { Lane *n = new Lane; n->s = t; n->next = head; head = n; } head->s = s; k<<<1, 1, 0, head->next->s>>>(d);",
        "Lane *head = nullptr; for (int i = 0; i < argc; i++) { Lane *n = (Lane *)malloc(sizeof(Lane)); n->s = t; n->next = head; head = n; } head->s = s; k<<<1, 1, 0, head->next->s>>>(d);",
        "Lane *last = nullptr, *l = nullptr; for (int i = 0; i < argc; i++) { if (l) l->s = t; last = l; l = new Lane(s); } k<<<1, 1, 0, last->s>>>(d);",
    ],
)  # fmt: skip
def test_what_is_made_again_while_an_earlier_one_is_kept_is_another_object(lines: str) -> None:
    """What is written to one of them is not what the other holds."""
    report = driver.analyze({"main.cu": MADE_AGAIN.format(lines=lines).encode()}, Config())
    freed = {place.text for finding in report.findings for place in finding.related if "freed" in place.text}
    assert freed <= {"freed on `t`"}


def test_what_is_made_again_behind_its_end_is_the_one() -> None:
    lines = "for (int i = 0; i < argc; i++) { Lane *l = new Lane(t); l->s = s; k<<<1, 1, 0, l->s>>>(d); delete l; }"
    report = driver.analyze({"main.cu": MADE_AGAIN.format(lines=lines).encode()}, Config())
    assert not report.refusals
