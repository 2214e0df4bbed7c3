"""Which of several sources that define one function a program has, and which run without a call."""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline import programs as linking
from cudafix.pipeline.bodies import parts_of
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.programs import clusters_of
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config

HEADER = b"#pragma once\n#include <cuda_runtime.h>\nvoid work(float *p);\n"
MAIN = b"""
#include "../inc/work.h"
int main() { float *p; cudaMalloc(&p, 4); work(p); cudaFree(p); cudaDeviceSynchronize(); }
"""
PLAIN = b"""
#include "../inc/work.h"
__global__ void k(float *p) { p[0] = 1; }
void work(float *p) { k<<<1, 1>>>(p); }
"""
OTHER_STREAM = b"""
#include "../inc/work.h"
__global__ void k(float *p) { p[0] = 1; }
void work(float *p) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    k<<<1, 1, 0, s>>>(p);
}
"""
FILES = {"app/main.cu": MAIN, "inc/work.h": HEADER, "a/work.cu": PLAIN, "b/work.cu": OTHER_STREAM}


def programs(files: dict[str, bytes]) -> list[set[str]]:
    return [set(program) for cluster in clusters_of(Tree(files)) for program in cluster]


def test_each_source_that_defines_what_is_called_makes_a_program() -> None:
    common = {"app/main.cu", "inc/work.h"}
    assert programs(FILES) == [common | {"b/work.cu"}, common | {"a/work.cu"}]


def test_a_pair_moves_only_if_it_is_proved_with_each_definition() -> None:
    (refusal,) = analyze(FILES, Config()).refusals
    assert refusal.name == "out_of_order"
    (finding,) = analyze({path: text for path, text in FILES.items() if path != "b/work.cu"}, Config()).findings
    assert finding.safety is Safety.PROVEN


def test_where_too_many_define_it_what_is_called_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_CHOICES", 1)
    assert programs(FILES) == [{"app/main.cu", "inc/work.h"}]


@pytest.mark.parametrize(
    "change",
    [
        (b"void work", b"inline void work"),
        (b"void work(float *p)", b"void work(float *p, int n)"),
        (b"void work", b"#ifdef B\nvoid work"),
        (b"void work", b"#define work other\nvoid work"),
        (b"void work", b"__attribute__((weak)) void work"),
        (b"void work", b"namespace { int hidden; }\ntemplate <class T> void work"),
    ],
    ids=["inline", "an overload", "in a branch", "renamed", "weak", "a template"],
)
def test_definitions_that_go_together_are_in_one_program(change: tuple[bytes, bytes]) -> None:
    text = PLAIN.replace(*change) + (b"#endif\n" if b"#ifdef" in change[1] else b"")
    assert programs(FILES | {"a/work.cu": text.replace(b" k(", b" k2(")}) == [set(FILES)]


def test_a_source_that_runs_at_the_start_is_not_all_that_may_define_a_function() -> None:
    files = {
        "app/main.cu": MAIN.replace(b"work.h", b"log.h").replace(
            b"int main() {", b"void work(float *);\nint main() { Log l(2);"
        ),
        "inc/log.h": b"#pragma once\n#include <cuda_runtime.h>\nstruct Log { Log(int); };\n",
        "lib/log.cu": b'#include "../inc/log.h"\nint made;\nLog::Log(int) { ++made; }\n',
        "a/work.cu": PLAIN.replace(b"work.h", b"log.h") + b"static Log log_(3);\n",
        "b/work.cu": OTHER_STREAM.replace(b"work.h", b"log.h"),
    }
    report = analyze(files, Config())
    assert [refusal.name for refusal in report.refusals] == ["unknown_call"]


@pytest.mark.parametrize(("body", "runs"), [(b"", False), (b"++made;", True), (b"cudaSetDevice(1);", True)])
def test_a_constructor_that_leaves_nothing_behind_links_no_source(body: bytes, runs: bool) -> None:
    files = {
        "app/main.cu": b'#include "../inc/log.h"\nint main() { Log l(2); float *p; cudaMalloc(&p, 4); cudaFree(p); }\n',
        "inc/log.h": b"#pragma once\n#include <cuda_runtime.h>\nstruct Log { Log(int); int n; };\n",
        "lib/log.cu": b'#include "../inc/log.h"\nint made;\nLog::Log(int) : n(0) { %s }\n' % body,
        "lib/other.cu": b'#include "../inc/log.h"\nstatic Log log_(3);\n',
    }
    assert ("lib/other.cu" in programs(files)[0]) == runs


def test_what_is_in_a_function_that_cannot_be_read_does_not_run_at_the_start() -> None:
    text = b"""
REGISTER(first)
void torn(int n) {
#ifdef A
    if (n) {
#endif
    call(n);
#ifdef A
    }
#endif
}
A::A(int x) : b(x) { inside(); }
static Foo foo(3), bar = { make(1), 2 };
"""
    parts = parts_of(text)
    outside = b" ".join(parts.outside)
    assert [word in outside for word in (b"REGISTER(first)", b"foo(3)", b"make(1)")] == [True] * 3
    assert [word in outside for word in (b"call", b"inside")] == [False] * 2
    assert parts_of(b"void f() {").outside == [b"void f() {"]


def test_a_variable_that_is_made_by_a_lambda_is_no_definition_of_what_makes_it() -> None:
    files = {
        "app/main.cu": b'#include "../inc/hook.h"\nint main() { hook(0); float *p; cudaMalloc(&p, 4); cudaFree(p); }\n',
        "inc/hook.h": b"#pragma once\n#include <cuda_runtime.h>\n"
        b"int on(void (*)(cudaStream_t));\nint hook(cudaStream_t);\n",
        "lib/hook.cu": b'#include "../inc/hook.h"\nvoid (*now)(cudaStream_t);\n'
        b"int on(void (*f)(cudaStream_t)) { now = f; return 1; }\nint hook(cudaStream_t s) { now(s); return 1; }\n",
        "lib/other.cu": b'#include "../inc/hook.h"\nstatic int x = on([](cudaStream_t) {});\n',
    }
    assert "lib/other.cu" in programs(files)[0]
