r"""Macros that stand for several arguments, a type, a declaration or a call; one way a line (`\n` is a line break). Each
runs a kernel on `other` (see `other_stream`).
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config
from tests.other_stream import MAIN, analyze, check
from tests.soundness.test_ways_to_memory import cases

S = "struct S { int *p; S(int *q, cudaStream_t s) { run(q, s); } void go(int *q, cudaStream_t s) { run(q, s); } };"
LOUD = "int *gd; cudaStream_t gs; struct Scope { int *p; Scope(int *q = nullptr) : p(q) {} ~Scope() { run(gd, gs); } };"
WAYS = r"""
#define ARGS d, other\n || run(ARGS);
#define ARGS d, other\n#define GO(x) run(x)\n || GO(ARGS);
#define ARGS d, other\n#define GO(f, x) f(x)\n || GO(run, ARGS);
#define ARGS d\n#define CFG 1, 1, 0, other\n || k<<<CFG>>>(ARGS);
#define CFG(s) 1, 1, 0, s\n || k<<<CFG(other)>>>(d);
#define CFG dim3(1), dim3(1), 0, other\n || k<<<CFG>>>(d);
#define ARGS (d, other)\n || run ARGS;
#define CALL(f, a) f a\n || CALL(run, (d, other));
#define ARGS(x) x, other\n || run(ARGS(d));
#define ARGS(x) x, other\n#define GO(x) run(ARGS(x))\n || GO(d);
#define ARGS d, other\n S! || S x(ARGS);
#define ARGS d, other\n S! || S x{ARGS};
#define ARGS d, other\n S! || auto x = S(ARGS);
#define ARGS e, nullptr\n S! || S x(ARGS); x.go(d, other);
struct S { int *q; cudaStream_t s; };\n#define ARGS d, other\n || S x = {ARGS}; run(x.q, x.s);
struct S { int *q; cudaStream_t s; };\n#define ARGS(x) x, other\n || S x = {ARGS(d)}; run(x.q, x.s);
#define ITEMS e, d\n || int *v[] = {ITEMS}; run(v[1], other);
#define ITEMS e, d\n || std::vector<int *> v{ITEMS}; run(v[1], other);
#define TYPE S<int>\n template <class T> struct S { int *q; cudaStream_t s; ~S() { run(q, s); } }; || { TYPE x{d, other}; }
#define SWITCH(n, ...) [&] { if (n) { constexpr int B = 1; return __VA_ARGS__(); } }()\n || SWITCH(rand(), [&] { run(d, other); });
#define SWITCH(n, f) [&] { if (n) { return f(); } }()\n || SWITCH(rand(), [&] { run(d, other); });
#define STREAM(n) oth##n\n || run(d, STREAM(er));
#define KERNEL(n) k##n\n __global__ void k1(int *p) { *p = 1; } || KERNEL(1)<<<1, 1, 0, other>>>(d);
#define LAUNCH(n) k##n<<<1, 1, 0, other>>>(d)\n __global__ void k1(int *p) { *p = 1; } || LAUNCH(1);
#define SCOPE(x) Scope scope_##x\n L! || gd = d; gs = other; { SCOPE(a); }
#define SCOPE(x) Scope scope_##x(x)\n L! || gd = d; gs = other; { SCOPE(d); }
#define SCOPE(x) Scope scope_(x)\n L! || gd = d; gs = other; { SCOPE(d); }
#define SCOPE Scope scope_\n L! || gd = d; gs = other; { SCOPE; }
#define GUARD(x) struct Guard_##x { ~Guard_##x() { run(gd, gs); } } guard_##x\n L! || gd = d; gs = other; { GUARD(a); }
"""


@pytest.mark.parametrize("case", cases(WAYS))
def test_what_a_macro_stands_for_is_followed_or_the_pair_stays(case: str) -> None:
    declarations, _, statements = case.partition(" || ")
    declarations = declarations.replace(r"\n", "\n").replace("S! ", S).replace("L! ", LOUD).replace("S!", S)
    check(analyze(declarations.replace("L!", LOUD) + "\n" + MAIN % statements))


KERNEL = "#include <cuda_runtime.h>\n__global__ void k2(int *p) { *p = 1; }"
REPLACED = f"{KERNEL} void go(int *p, cudaStream_t s) {{ k2<<<1, 1, 0, s>>>(p); }}"
WEAK = """
__attribute__((weak)) void go(int *p, cudaStream_t s) {}
void __attribute__((weak)) go(int *p, cudaStream_t s) {}
void go(int *p, cudaStream_t s) __attribute__((weak)); void go(int *p, cudaStream_t s) {}
__attribute__((visibility("default"), weak)) void go(int *p, cudaStream_t s) {}
"""


@pytest.mark.parametrize("case", [*cases(WEAK), "#pragma weak go\nvoid go(int *p, cudaStream_t s) {}"])
def test_another_function_may_replace_a_weak_one(case: str) -> None:
    check(analyze(f"{case}\n{MAIN % 'go(d, other);'}", REPLACED))


CLEANUP = """
{ __attribute__((cleanup(fin))) int z = 0; }
{ int z __attribute__((cleanup(fin))) = 0; }
{ int z __attribute__((unused, __cleanup__(fin))); }
{ [[gnu::cleanup(fin)]] int z = 0; }
"""


@pytest.mark.parametrize("case", cases(CLEANUP))
def test_what_runs_at_the_end_of_a_scope_counts(case: str) -> None:
    declarations = "int *gd; cudaStream_t gs; void fin(int *) { run(gd, gs); }\n"
    check(analyze(declarations + MAIN % f"gd = d; gs = other; {case}"))


CHECKED = """
#include <cuda_runtime.h>
#define CHECK(call) do {{ {check} }} while (0)
__global__ void k(int *v) {{ *v = 1; }}
int main() {{
    int *d, *p, *h, x;
    CHECK(cudaMallocHost(&h, 4));
    CHECK(cudaMalloc{o}(&d, 4{s}));
    CHECK(cudaMalloc{o}(&p, 4{s}));
    k<<<1, 1>>>(d);
    CHECK(cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, 0));
    {one}
    CHECK(cudaFree{o}(d{s}));
    x = *h;
    k<<<1, 1>>>(p);
    CHECK(cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, 0));
    {two}
    CHECK(cudaFree{o}(p{s}));
    x += *h;
    CHECK(cudaDeviceSynchronize());
    return x;
}}
"""


@pytest.mark.parametrize(
    "check",
    [
        "if (call) return 1;",
        "cudaError_t e; if ((e = (call)) != cudaSuccess) return 1;",
        "cudaError_t e; e = (call); if (e != cudaSuccess) return 1;",
        "int line = __LINE__; cudaError_t e = (call); if (e) return line;",
    ],
)
@pytest.mark.parametrize(("one", "two"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_wait_in_front_of_one_use_of_a_macro_is_in_front_of_no_other(check: str, one: bool, two: bool) -> None:
    """Each use has the text of the macro: where that declares something first, a wait stands in front of the call."""
    wait = "cudaStreamSynchronize(0);"
    before = CHECKED.format(check=check, o="", s="", one="", two="")
    after = CHECKED.format(check=check, o="Async", s=", 0", one=wait if one else "", two=wait if two else "")
    lost = driver.prove({"a.cu": before.encode()}, {"a.cu": after.encode()})
    assert (not lost) == (one and two)


def test_lines_stand_in_front_of_a_loop_whose_range_is_a_choice() -> None:
    program = b"""
#include <cuda_runtime.h>
#include <vector>
int main(int argc, char **argv) {
    for (int n : argc > 1 ? std::vector<int>() : std::vector<int>{1, 2}) {
        int *p;
        cudaMalloc(&p, n);
        cudaFree(p);
    }
}
"""
    report = driver.analyze({"main.cu": program}, Config())
    assert [finding.codemod for finding in report.findings] == ["stream_ordered_pairs"]
    assert not report.refusals
