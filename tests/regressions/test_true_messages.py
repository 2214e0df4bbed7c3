"""Messages say what is true of this code, and name an action that works on it."""

from __future__ import annotations

import pytest

from cudafix.findings import Refusal
from cudafix.pipeline import cluster
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.refusals import REFUSALS

HEAD = """#include <cuda_runtime.h>
#include <thread>
__global__ void k(int *p) { p[0] = 1; }
"""


def refusals(**files: str) -> list[Refusal]:
    return list(analyze({f"{name}.cu": (HEAD + text).encode() for name, text in files.items()}, Config()).refusals)


def only(**files: str) -> Refusal:
    (refusal,) = refusals(**files)
    return refusal


def test_a_function_that_a_thread_starts_is_not_called_unreachable() -> None:
    refusal = only(
        main="""
void worker(int n) {
    int *p;
    cudaMalloc(&p, n);
    k<<<1, 1>>>(p);
    cudaFree(p);
}
int main() {
    std::thread t(worker, 4);
    t.join();
}
"""
    )
    assert "a host thread that `std::thread` starts" in refusal.message
    assert "without a host thread" in refusal.unlock
    assert [place.text for place in refusal.related] == ["the function is handed over here"]


def test_an_edit_that_cannot_be_proved_again_is_a_defect_of_cudafix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster.Cluster, "_validate", lambda *_: "a parse error that was not there")
    refusal = only(
        main="""
int main() {
    int *p;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    cudaFree(p);
}
"""
    )
    assert refusal.name == "own_edit_failed"
    assert "report it" in refusal.unlock


def test_a_lambda_has_no_name_of_cudafix_in_a_message() -> None:
    refusal = only(
        main="""
template <class F> void each(F f);
int main() {
    int *p;
    cudaMalloc(&p, 4);
    auto again = [&](int n) { k<<<1, 1>>>(p); };
    each(again);
    cudaFree(p);
}
"""
    )
    assert "a lambda" in refusal.message
    assert "<lambda" not in refusal.message


def test_a_brace_that_a_macro_hides_is_no_loop_to_be_structured() -> None:
    refusal = only(
        main="""
#define BEGIN_TIMED { int started = 1;
#define END_TIMED (void)started; }
int main() {
    int *p;
    cudaMalloc(&p, 4);
    BEGIN_TIMED
    k<<<1, 1>>>(p);
    END_TIMED
    cudaFree(p);
}
"""
    )
    assert "`BEGIN_TIMED`" in refusal.message
    assert refusal.unlock.startswith("Write out the statement that the message names: a macro as its text")


def test_what_reads_as_a_call_of_a_number_is_no_function_to_assume_something_of() -> None:
    refusal = only(
        main="""
int main() {
    int *p;
    cudaMalloc(&p, 4);
    for (int i = 0; i < 4; ++i)
        i(p);
    cudaFree(p);
}
"""
    )
    assert refusal.name == "parse_error"


CALLS_A_HELPER = """
void helper(int *p);
int main() {
    int *p;
    cudaMalloc(&p, 4);
    helper(p);
    cudaFree(p);
}
"""


def test_a_file_that_is_there_is_not_asked_for() -> None:
    helper = "void helper(int *p) {\n    k<<<1, 1>>>(p);\n}\n"
    refusal = only(**{"app/main": CALLS_A_HELPER, "lib/helper": helper})
    assert refusal.unlock.startswith("`lib/helper.cu` defines a `helper`, but nothing links it")


def test_an_unknown_function_of_no_file_is_asked_for() -> None:
    assert only(main=CALLS_A_HELPER).unlock == REFUSALS["unknown_call"].unlock


def test_a_parse_error_of_python_is_no_advice_about_cpp() -> None:
    text = b"from cuda.bindings import runtime\ndef f(:\n    err, p = runtime.cudaMalloc(4)\n    runtime.cudaFree(p)\n"
    (refusal,) = analyze({"main.py": text}, Config()).refusals
    assert refusal.name == "parse_error"
    assert "py_compile" in refusal.unlock
    assert "C++" not in refusal.unlock


def test_a_budget_is_no_advice_to_make_a_small_function_smaller() -> None:
    assert "smaller function" not in REFUSALS["budget"].unlock


def test_a_parse_error_is_shown_where_the_text_cannot_be_read() -> None:
    """And not where the text begins that the grammar gives up on, in which a function may be right."""
    right = """template <class T> __global__ void first(T *data);
int main() {
    float *d;
    cudaMalloc(&d, 4);
    first<float><<<1, 1>>>(d);
    cudaFree(d);
}
"""
    row = "MORE MORE MORE MORE MORE MORE MORE"
    broken = "#define MORE +1\n" + "".join(
        f"""template <class T> __global__ void k{n}(T *data, int n, T v) {{
  T s = data[0];
  for (int j = 0; j < n; ++j) {{
    {row}
        {row}
  }}
  data[0] = s;
}}
"""
        for n in range(16)
    )
    refusal = only(main=right + broken)
    assert refusal.name == "parse_error"
    assert "`main` stands in text that is not understood" in refusal.message
    assert [place.offset > len(HEAD + right) for place in refusal.related] == [True]


def test_a_call_of_one_of_several_overloads_is_not_said_to_call_itself() -> None:
    refusal = only(
        main="""
struct Policy { int grid; };
template <class F, class... A> __global__ void run(F f, A... a) { f(a...); }
struct Add { __device__ void operator()(int *p) const { *p += 1; } };
template <class F, class... A> void launch(const Policy &p, F f, A... a);
template <class F, class... A> void launch(F f, A... a) {
    Policy p;
    p.grid = 1;
    launch(p, f, a...);
}
template <class F, class... A> void launch(const Policy &p, F f, A... a) { run<<<p.grid, 32>>>(f, a...); }
int main() {
    int *d;
    cudaMalloc(&d, 4);
    launch(Add(), d);
    cudaFree(d);
}
"""
    )
    assert "`launch` may call itself, as it is not decided which overload is meant" in refusal.message


def test_a_macro_of_a_header_that_was_given_is_not_asked_for() -> None:
    files = {
        "alloc.h": b"#define ALLOC(p) cudaMalloc(&p, 4)\n#define FREE(p) cudaFree(p)\n",
        "main.cu": b'#include "alloc.h"\n'
        + HEAD.encode()
        + b"int main() { int *x; ALLOC(x); k<<<1, 1>>>(x); FREE(x); }\n",
    }
    (refusal,) = analyze(files, Config()).refusals
    assert "a macro that another file defines" in refusal.message
    assert "to the paths" not in refusal.unlock


@pytest.mark.parametrize("allocation", ["(int)cudaMalloc(&d, 4)", "(int)ALLOC(d)", "make()"])
def test_what_initializes_a_global_is_reached_in_front_of_main(allocation: str) -> None:
    text = f"""
#define ALLOC(p) cudaMalloc(&p, 4)
int *d;
int make() {{ return {"cudaMalloc(&d, 4)" if allocation == "make()" else "0"}; }}
int init = {allocation};
int main() {{
    k<<<1, 1>>>(d);
    cudaFree(d);
}}
"""
    report = analyze({"main.cu": (HEAD + text).encode()}, Config())
    assert not report.refusals
    assert [bool(finding.edits) for finding in report.findings] == [True]


def test_a_free_in_an_initializer_that_work_has_to_end_before_names_both() -> None:
    refusal = only(
        main="""
int *d;
cudaStream_t s;
int a = (int)cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) + (int)cudaMalloc(&d, 4);
int go() { k<<<1, 1, 0, s>>>(d); return 0; }
int b = go();
int c = (int)cudaFree(d);
int main() {}
"""
    )
    assert "no path" not in refusal.message


def test_memory_that_a_destructor_frees_twice_is_not_said_to_have_two_frees() -> None:
    refusal = only(
        main="""
class Block {
    int *p;
  public:
    Block() { cudaMalloc(&p, 4); }
    Block(const Block &other) = default;
    ~Block() { cudaFree(p); }
};
int main() {
    Block a;
    Block b(a);
}
"""
    )
    assert refusal.message == "the memory is freed twice"
    assert "take one of the two out" not in refusal.unlock
    assert "copy constructor" in refusal.unlock


def test_a_recursion_is_named_where_its_work_is_in_the_way() -> None:
    refusal = only(
        main="""
void a(int n);
void b(int n) { if (n) a(n - 1); }
void a(int n) {
    int *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    b(n);
    cudaFree(d);
}
int main() { a(3); }
"""
    )
    assert refusal.message.startswith("work of `a`, which calls itself,")


def test_a_pointer_to_a_function_has_no_file_to_be_added() -> None:
    refusal = only(
        main="void (*cb)(int *);\nint main() {\n    int *d;\n    cudaMalloc(&d, 4);\n    cb(d);\n    cudaFree(d);\n}\n"
    )
    assert refusal.name == "unknown_call"
    assert "Add the file" not in refusal.unlock


def test_a_function_with_the_name_that_the_rewritten_call_would_have_is_shown() -> None:
    refusal = only(
        main="""
namespace memory {
cudaError_t cudaMallocAsync(void **p, size_t n) { return cudaMalloc(p, n); }
void cudaFreeAsync(void *p) { cudaFree(p); }
}
int main() {
    int *d;
    memory::cudaMallocAsync((void **)&d, 4);
    k<<<1, 1>>>(d);
    memory::cudaFreeAsync(d);
}
"""
    )
    assert refusal.name == "renaming_header"
    assert "of its own" in refusal.message


@pytest.mark.parametrize(
    "text",
    [
        "#define MAKE(T, n) ({ T *p_; cudaMalloc((void **)&p_, (n) * sizeof(T)); p_; })\n"
        "__global__ void of(int *p, int n) { if (n) p[n] += 1; }\n"
        "int main() { int *t = MAKE(int, 4); of<<<1, 1>>>(t, 1); cudaFree(t); return 0; }\n",
        "int main() try { int *d; if (cudaMalloc(&d, 4) != cudaSuccess) throw 1; else k<<<1, 1>>>(d); cudaFree(d); }\n"
        "catch (int) { return 1; }\n",
    ],
)
def test_an_edit_is_proved_again_where_the_text_is_unusual(text: str) -> None:
    report = analyze({"main.cu": (HEAD + text).encode()}, Config())
    assert not report.refusals
    assert any(finding.edits for finding in report.findings)


IN_LATIN_1 = """# coding: latin-1
from cuda.bindings import runtime
def main():
    err, p = runtime.cudaMalloc(4)
    runtime.cudaFree(p)
main()
"""


def test_another_encoding_is_no_error_of_the_file() -> None:
    text = IN_LATIN_1.replace("def", "# caf\xe9\ndef").encode("latin-1")
    (refusal,) = analyze({"main.py": text}, Config()).refusals
    assert "UTF-8" in refusal.unlock
    assert "py_compile" not in refusal.unlock


def test_another_encoding_that_says_the_same_as_utf_8_is_read() -> None:
    assert not analyze({"main.py": IN_LATIN_1.encode()}, Config()).refusals


def test_a_function_that_checks_nothing_is_not_assumed_to_be_a_check() -> None:
    source = """#include <cuda_runtime.h>
#include "verify.h"
__global__ void k(int *p) { p[0] = 1; }
int main() {
    int *d, h;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    VerifyResult(h, 1);
}
"""
    report = analyze({"a.cu": source.encode(), "verify.h": b"void VerifyResult(int got, int wanted);"}, Config())
    assert report.findings
    assert "evaluates_its_argument" not in {one.name for finding in report.findings for one in finding.defaults}


@pytest.mark.parametrize(
    ("starts", "by"),
    [
        ("std::vector<std::thread> ts;\n    ts.push_back(std::thread(worker, 4));\n    ts[0].join();", "std::thread"),
        ("std::thread t([&] { worker(1); });\n    t.join();", "std::thread"),
        ("std::thread t(outer, 4);\n    t.join();", "std::thread"),
        ("auto f = std::async(std::launch::async, [] { outer(4); });\n    f.get();", "std::async"),
    ],
    ids=["in_a_vector", "through_a_lambda", "through_another_function", "async"],
)
def test_what_starts_the_thread_is_named(starts: str, by: str) -> None:
    refusal = only(
        main=f"""
#include <future>
#include <vector>
static void worker(int n) {{
    int *p;
    cudaMalloc(&p, n);
    while (n) {{ k<<<1, 1>>>(p); --n; }}
    cudaFree(p);
}}
{"static void outer(int n) { worker(n); }" if "outer" in starts else ""}
int main() {{
    {starts}
}}
"""
    )
    assert f"a host thread that `{by}` starts" in refusal.message
    assert "loop" not in refusal.unlock


def test_a_function_that_is_a_value_is_in_no_thread() -> None:
    refusal = only(
        main="""
#include "run.h"
static void worker() {
    int *p;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    cudaFree(p);
}
int main() { run_later(worker); }
"""
    )
    assert "thread" not in refusal.message
    assert "by its name" in refusal.unlock


def test_a_cleanup_of_a_variable_is_no_setjmp() -> None:
    refusal = only(
        main="""
static void drop(int **p) { cudaFree(*p); }
int main() {
    __attribute__((cleanup(drop))) int *p;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
}
"""
    )
    assert refusal.name == "control_flow"
    assert "attribute `cleanup`" in refusal.message
    assert "longjmp" not in refusal.message


MAKES_A_GENERATOR = """from cuda.bindings import runtime
def main():
    err, p = runtime.cudaMalloc(4)
    later = (i for i in range(3) if p)
    runtime.cudaFree(p)
    list(later)
main()
"""


def test_a_function_that_makes_a_generator_expression_is_no_generator() -> None:
    (refusal,) = analyze({"main.py": MAKES_A_GENERATOR.encode()}, Config()).refusals
    assert refusal.name == "generator"
    assert "`main` makes a generator expression" in refusal.message
    assert refusal.unlock.startswith("Make a list of it")
    listed = MAKES_A_GENERATOR.replace("(i for i in range(3) if p)", "[i for i in range(3) if p]")
    assert not analyze({"main.py": listed.encode()}, Config()).refusals


@pytest.mark.parametrize(
    "reports",
    [
        "throw std::runtime_error(cudaGetErrorString(e));",
        'throw std::runtime_error(std::string("failed: ") + cudaGetErrorString(e));',
        "throw cuda_error(cudaGetErrorString(e));",
        "report_error(cudaGetErrorName(e));",
    ],
)
def test_what_is_told_of_an_error_is_not_assumed_to_be_a_check(reports: str) -> None:
    source = f"""#include <cuda_runtime.h>
#include <stdexcept>
#include "errors.h"
__global__ void k(int *p) {{ p[0] = 1; }}
static void check(cudaError_t e) {{ if (e != cudaSuccess) {reports} }}
int main() {{
    int *p;
    check(cudaMalloc(&p, 4));
    k<<<1, 1>>>(p);
    check(cudaFree(p));
}}
"""
    report = analyze({"a.cu": source.encode()}, Config())
    assert "evaluates_its_argument" not in {one.name for finding in report.findings for one in finding.defaults}
    assert report.findings or "std::" not in reports
