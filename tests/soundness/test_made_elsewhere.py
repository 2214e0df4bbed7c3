"""Variables that another source makes: what they hold is not known, unless that source belongs to the program. One
program a line: a header, a source, and the pinned memory that is copied to and looked at (`||` between them).
"""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

import pytest

from cudafix.findings import Report
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_to_memory import cases, inserted

MAIN = """
#include <cuda_runtime.h>
#include "g.h"
int main() {
    int *d;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&d, 4);
    cudaMemcpyAsync(%s, d, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(d);
    int n = %s;
    cudaDeviceSynchronize();
    return n;
}
"""
SOURCE = """
#include <cuda_runtime.h>
#include "g.h"
static int *make() { int *p; cudaMallocHost(&p, 8); return p; }
"""
ELSEWHERE = """
extern int *h; || int *h = make(); || h || h[0]
extern int *h; || int *h = make(); || h + 1 || *(h + 1)
extern int *h[2]; || int *h[2] = {make(), make()}; || h[1] || h[1][0]
namespace n { extern int *h; } || int *n::h = make(); || n::h || n::h[0]
struct B { static int *h; }; || int *B::h = make(); || B::h || B::h[0]
struct B { int n; int *h; }; extern B b; || B b = {1, make()}; || b.h || b.h[0]
struct B { int *h; }; extern B b[2]; || B b[2] = {{make()}, {make()}}; || b[1].h || b[1].h[0]
"""


def report_on(case: str, *, source: bool) -> Report:
    header, definition, copied, looked = case.split(" || ")
    texts = {"main.cu": MAIN % (copied, looked), "g.h": header}
    if source:
        texts["g.cu"] = SOURCE + definition
    return analyze({path: text.encode() for path, text in texts.items()}, Config())


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("case", cases(ELSEWHERE))
def test_what_another_source_has_made_may_be_pinned(case: str, source: bool) -> None:
    report = report_on(case, source=source)
    assert report.refusals or "cudaStreamSynchronize(s)" in inserted(report)


def test_a_pointer_that_a_function_of_the_source_sets_moves() -> None:
    texts = {
        "main.cu": '#include <cuda_runtime.h>\n#include "g.h"\nint main() { init(); cudaMemset(d, 0, 4); done(); }\n',
        "g.h": "extern int *d; void init(); void done();\n",
        "g.cu": '#include <cuda_runtime.h>\n#include "g.h"\nint *d;\n'
        "void init() { cudaMalloc(&d, 4); }\nvoid done() { cudaFree(d); }\n",
    }
    report = analyze({path: text.encode() for path, text in texts.items()}, Config())
    assert len(report.findings) == 1
    assert not report.refusals


AGGREGATES = """
struct C { int n; cudaStream_t s; }; C c = {3, make()}; || c.s
struct C { cudaStream_t s; }; C c = {make()}; || c.s
struct C { cudaStream_t s; int n; }; C c{make()}; || c.s
cudaStream_t c[2] = {make(), make()}; || c[1]
"""


@pytest.mark.parametrize("case", cases(AGGREGATES))
def test_a_stream_in_a_list_of_initial_values_is_named(case: str) -> None:
    definition, stream = case.split(" || ")
    text = f"""
#include <cuda_runtime.h>
cudaStream_t make() {{ cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; }}
{definition}
__global__ void k(int *v) {{ *v = 1; }}
int main() {{
    int *d;
    cudaMalloc(&d, 4);
    k<<<1, 1, 0, {stream}>>>(d);
    cudaFree(d);
}}
"""
    assert f", {stream}" in inserted(analyze({"main.cu": text.encode()}, Config()))


# how long an array is, is read from pinned memory
LENGTHS = """
int n = sizeof(char[h[0]]);
int n = sizeof(float[3][h[0]]) + sizeof(int);
int n = sizeof(int (*)[*h]);
typedef int A[h[0]]; int n = sizeof(A);
using A = int[h[0]]; int n = sizeof(A);
auto p = (int (*)[h[0]])malloc(100); int n = p != 0;
int (*p)[h[0]] = nullptr; int n = sizeof(*p);
char a[h[0]]; int n = sizeof(a);
int *a = new int[h[0]]; int n = a[0];
"""


@pytest.mark.parametrize("statements", cases(LENGTHS))
def test_a_length_that_is_read_from_memory_is_read_behind_the_copy(statements: str) -> None:
    main = MAIN.replace('#include "g.h"', "#include <cstdlib>").replace("int n = %s;", statements)
    main = (main % "h").replace("int *d;", "int *d, *h; cudaMallocHost(&h, 4);")
    report = analyze({"main.cu": main.encode()}, Config())
    assert report.refusals or "cudaStreamSynchronize(s)" in inserted(report)


# what makes a stream, how `main` names it ("": it cannot), and what `main` does with it and with `d`
def with_stream(definition: str, made: str, used: str) -> Report:
    """The report on a program with a stream that is defined, made and used so."""
    text = f"""
#include <cuda_runtime.h>
#define MAKE(s) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)
__global__ void k(int *v) {{ *v = 1; }}
{definition}
int main() {{
    int *d;
    {made}
    cudaMalloc(&d, 4);
    {used}
    cudaFree(d);
}}
"""
    return analyze({"main.cu": text.encode()}, Config())


SPELLED = """
namespace n { cudaStream_t s; } || n::s || MAKE(n::s); || k<<<1, 1, 0, n::s>>>(d);
namespace n { namespace { cudaStream_t s; } } || n::s || MAKE(n::s); || k<<<1, 1, 0, n::s>>>(d);
namespace n { namespace m { cudaStream_t s; } } using namespace n::m; || n::m::s || MAKE(s); || k<<<1, 1, 0, s>>>(d);
namespace { cudaStream_t s; } || s || MAKE(s); || k<<<1, 1, 0, s>>>(d);
cudaStream_t s; || s || MAKE(::s); || k<<<1, 1, 0, ::s>>>(d);
struct S { static cudaStream_t s; }; cudaStream_t S::s; || S::s || MAKE(S::s); || k<<<1, 1, 0, S::s>>>(d);
class S { static cudaStream_t s; public: static void make() { MAKE(s); } static void go(int *d) { k<<<1, 1, 0, s>>>(d); } }; cudaStream_t S::s; || || S::make(); || S::go(d);
void go(int *d) { static cudaStream_t s; MAKE(s); k<<<1, 1, 0, s>>>(d); } || || || go(d);
"""


@pytest.mark.parametrize("case", cases(SPELLED))
def test_a_stream_is_spelled_as_it_is_found_from_here(case: str) -> None:
    definition, stream, made, used = (part.strip() for part in case.split("||"))
    report = with_stream(definition, made, used)
    edits = [e.text.decode() for f in report.findings for e in f.edits]
    if stream:
        assert edits.count(f", {stream}") == 2
    else:
        assert report.refusals


TEMPLATES = """
template <class T> struct S { static cudaStream_t s; }; template <class T> cudaStream_t S<T>::s = 0; || MAKE(S<int>::s); S<float>::s = 0; || k<<<1, 1, 0, S<int>::s>>>(d);
template <class T> struct S { static cudaStream_t s; static void make() { MAKE(s); } }; template <class T> cudaStream_t S<T>::s = 0; || S<int>::make(); S<float>::s = 0; || k<<<1, 1, 0, S<int>::s>>>(d);
template <class T> struct S { inline static cudaStream_t s = 0; void go(int *d) { k<<<1, 1, 0, s>>>(d); } }; || MAKE(S<int>::s); S<float>::s = 0; || S<int> x; x.go(d);
"""


@pytest.mark.parametrize("case", cases(TEMPLATES))
def test_a_static_member_of_a_template_is_one_of_several(case: str) -> None:
    definition, made, used = case.split(" || ")
    report = with_stream(definition, made, used)
    assert report.refusals
    assert not report.findings
