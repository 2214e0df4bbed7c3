"""What the engine passes over: statements that only compute and show, and nothing that a proof depends on."""

from __future__ import annotations

import textwrap

import pytest

from cudafix import ir, models
from cudafix.findings import Report
from cudafix.frontends.cuda.lower import module as lower
from cudafix.frontends.cuda.parse import source
from cudafix.ir.link import Program, last
from cudafix.ordering.facts.slicing import Slicer
from cudafix.pipeline import driver
from cudafix.project.config import Config


def loud(body: str, around: str = "") -> list[str]:
    """The source text of the statements of `f` that are run, those around others left out."""
    text = f"{around}\nvoid f(int argc, char **argv) {{\n{textwrap.dedent(body)}\n}}\n".encode()
    (module,) = (lower.lower(parsed) for parsed in source.read("f.cu", text))
    (function,) = (one for one in module.functions if one.name == "f")
    quiet = Slicer(Program([module]), models.load()).slice(function).quiet
    found: list[str] = []

    def collect(block: ir.Block) -> None:
        for stmt in block:
            if id(stmt) not in quiet:
                if not ir.blocks_of(stmt):
                    found.append(text[stmt.span.start : stmt.span.end].decode().rstrip(";"))
                for inner in ir.blocks_of(stmt):
                    collect(inner)

    collect(function.body)
    return list(dict.fromkeys(found))


def test_arithmetic_and_output_are_quiet() -> None:
    body = """
        float sum = 0;
        for (int i = 0; i < argc; i++) { sum += i; if (i > 3) printf("%f", sum); }
        printf("%f\\n", sum);
        """
    assert loud(body) == []


def test_what_decides_where_work_goes_is_not() -> None:
    body = """
        int device = argc, other = 3;
        other = argc + 1;
        device = argc + 1;
        cudaSetDevice(device);
        """
    kept = loud(body)
    assert "device = argc + 1" in kept
    assert "cudaSetDevice(device)" in kept
    assert not any("other" in text for text in kept if "device" not in text)


def test_a_branch_that_ends_the_process_is_quiet_as_a_whole() -> None:
    assert loud('if (argc < 2) { printf("usage"); exit(1); }') == []


def test_an_exit_on_its_own_is_not() -> None:
    assert loud("float *d; cudaMalloc(&d, 4); cudaFree(d); exit(1);")[-1] == "exit(1)"


def test_a_break_of_a_loop_that_works_on_the_device_is_not() -> None:
    kept = loud("float *d; while (1) { cudaMalloc(&d, 4); if (argc) break; cudaFree(d); }")
    assert "break" in kept


def test_a_null_check_that_ends_the_process_tells_the_rest_something() -> None:
    kept = loud("float *d = 0; if (argc) cudaMalloc(&d, 4); if (!d) exit(1); cudaFree(d);")
    assert "exit(1)" in kept


def test_pointers_are_followed() -> None:
    kept = loud("float *d, *e; cudaMalloc(&d, 4); e = d + argc; cudaFree(e);")
    assert "e = d + argc" in kept


def test_a_function_that_works_on_the_device_is_called() -> None:
    around = "void g() { cudaDeviceSynchronize(); }\nint h(int n) { return n + 1; }"
    assert loud("g(); h(argc);", around) == ["g()"]


def inert(text: str) -> list[str]:
    """The functions of a program that may be passed over where nothing is lost for the host."""
    modules = [lower.lower(parsed) for parsed in source.read("f.cu", text.encode())]
    slicer = Slicer(program := Program(modules), models.load())
    return [last(function.name) for function in program.functions() if slicer.is_inert(function)]


@pytest.mark.parametrize(
    "text",
    [
        "struct S { int n; void f(int m) { n = m; } };",
        "struct S { std::string s; void f(const std::string &t) { s = t; } };",
        "struct S { float s; void f(const float *v) { s = v[0]; } };",
        "#include <thrust/sort.h>\nstruct S { int size() { return 3; } }; bool f(S &s) { return s.size() > 2; }",
        "int now;\nint *d[2];\nvoid g() { d[now] = d[0]; }\nbool h(const int &a) { return a; } bool f() { h(now); }",
    ],
)
def test_functions_that_keep_numbers_only(text: str) -> None:
    assert "f" in inert(text)


@pytest.mark.parametrize(
    "text",
    [
        "struct S { int *n; void f(int *m) { n = m; } };",
        "struct S { void *n; void f(size_t m) { n = (void *)m; } };",
        "template <class T> struct S { T n; void f(T m) { n = m; } };",
        "struct S { float **s; void f(float **v) { s[0] = v[0]; } };",
        "struct S { void go(); }; bool f(S &s) { s.go(); return true; }",
        "int now;\nint *d[2];\nvoid g() { d[now] = d[0]; } void store(int &a) { a = 1; } void f() { store(now); }",
        "int now;\nint *d[2];\nvoid g() { d[now] = d[0]; } struct S { void f(const int &a) { now = a; } };",
    ],
)
def test_functions_that_keep_more(text: str) -> None:
    assert "f" not in inert(text)


PICKS = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>
%s
__global__ void k(float *p) { p[0] = 1; }
int main(int argc, char **argv) {
    cudaStream_t s[2];
    cudaStreamCreateWithFlags(&s[0], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s[1], cudaStreamNonBlocking);
    int which = 0;
    %s
    float *d;
    cudaMalloc(&d, 4);
    k<<<1, 1, 0, s[which]>>>(d);
    cudaFree(d);
    cudaStreamDestroy(s[0]);
    cudaStreamDestroy(s[1]);
    return 0;
}
"""


def analyze(helper: str, change: str) -> Report:
    return driver.analyze({"main.cu": (PICKS % (helper, change)).encode()}, Config())


def streams(report: Report) -> set[bytes]:
    """The streams that the fix frees on or waits for."""
    texts = [edit.text for finding in report.findings for edit in finding.edits]
    return {name for name in (b"s[0]", b"s[which]") if any(name in text for text in texts)}


def test_a_constant_that_nobody_changes_is_known() -> None:
    assert streams(analyze("", ""))


@pytest.mark.parametrize(
    ("helper", "change"),
    [
        ("", 'sscanf(argv[1], "%d", &which);'),
        ("", "int *p = &which; p[0] = argc;"),
        ("", "int *p = &which; memcpy(p, argv[1], 4);"),
        ("void pick(int &n, int argc) { n = argc; }", "pick(which, argc);"),
        ("void pick(int *n, int argc) { *n = argc; }", "pick(&which, argc);"),
        ("void pick(int *n, int argc) { *n = argc; }", "int *p = &which; pick(p, argc);"),
        ("", "if (argc > 1) which = argc;"),
        ("", "for (int i = 0; i < argc; i++) which = i;"),
    ],
)
def test_a_constant_that_somebody_changes_is_not(helper: str, change: str) -> None:
    assert b"s[0]" not in streams(analyze(helper, change))


GUARDED = """
#include <cuda_runtime.h>
#include <cstdio>
__global__ void k(float *p) { p[0] = 1; printf("k"); }
int main() {
    float *d;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
#ifdef VERBOSE
    printf("start\\n");
#endif
    cudaMalloc(&d, 4);
    k<<<1, 1, 0, s>>>(d);
    cudaFree(d);
%s
    cudaStreamDestroy(s);
    cudaDeviceSynchronize();
    return 0;
}
"""


@pytest.mark.parametrize("after", ['#ifdef VERBOSE\n    printf("done\\n");\n#endif', ""])
def test_a_configuration_is_run_where_it_shows_what_was_lost(after: str) -> None:
    """What a kernel prints comes before what the program prints after `cudaFree`, in one of the configurations."""
    report = driver.analyze({"main.cu": (GUARDED % after).encode()}, Config())
    (finding,) = (f for f in report.findings if f.codemod == "stream_ordered_pairs")
    waits = [edit for edit in finding.edits if b"Synchronize" in edit.text]
    assert bool(waits) == bool(after)


def test_every_global_keeps_what_it_is_given() -> None:
    body = """
        float *a = here + argc;
        float *b = here + argc + 1;
        one = a;
        two = b;
        """
    kept = loud(body, "float *here, *one, *two;")
    assert any("a = here" in text for text in kept)
    assert any("b = here" in text for text in kept)
