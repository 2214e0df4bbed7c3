"""What a proof may cost, and what happens when that is not enough."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchmarks import costs
from cudafix import ir
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.ordering.facts.paths import ANY
from cudafix.ordering.interpreter import check, engine, memory
from cudafix.ordering.interpreter.program import Outcome, Overlay
from cudafix.pipeline import cluster, driver
from cudafix.pipeline import programs as linking
from cudafix.pipeline.tree import Tree, View
from cudafix.pipeline.views import views_of
from cudafix.project.config import Config

NOISE = 2.5
"""How much longer than expected a measurement may take beside other work."""


@pytest.mark.parametrize(
    ("make", "largest"),
    [
        pytest.param(costs.long_function, 2000, id="statements"),
        pytest.param(costs.call_chain, 30, id="calls"),
        pytest.param(costs.tree, 400, id="files"),
    ],
)
def test_cost_grows_with_the_size(make: Callable[[int], Mapping[str, bytes]], largest: int) -> None:
    costs.measure(make, largest // 4)
    small, _ = costs.measure(make, largest // 4)
    large, report = costs.measure(make, largest)
    assert report.findings
    assert not report.refusals
    assert large < 3 * NOISE
    assert large < 4 * NOISE * small + 0.1


def test_a_program_that_is_too_large_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_STEPS", 100)
    monkeypatch.setattr(engine, "MAX_COARSE_STEPS", 100)
    report = driver.analyze(costs.long_function(500), Config())
    assert not report.findings
    assert {refusal.name for refusal in report.refusals} == {"budget"}


TWO_PROGRAMS = """#include <cuda_runtime.h>
__global__ void k(float *v);
inline void work(cudaStream_t s) {
    float *v;
    cudaMalloc(&v, 4);
    k<<<1, 1, 0, s>>>(v);
    cudaFree(v);
}
"""


def two_programs() -> dict[str, bytes]:
    files = {"work.h": TWO_PROGRAMS.encode()}
    for name in ("one", "two"):
        files[f"{name}.cu"] = b'#include "work.h"\nint main() { work(0); return 0; }\n'
    return files


@pytest.mark.parametrize("most", range(0, 60, 3))
@pytest.mark.parametrize("limit", ["MOST_STEPS", "MOST_OF_A_CLUSTER"])
def test_programs_that_share_a_buffer_are_refused_if_not_all_could_be_proved(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, limit, most)
    report = driver.analyze(two_programs(), Config())
    assert [refusal.name for refusal in report.refusals] == ["budget"] * (not report.findings)
    assert report == driver.analyze(two_programs(), Config())


def test_programs_that_share_a_buffer_need_a_few_steps() -> None:
    assert driver.analyze(two_programs(), Config()).findings


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The roots that are run from here on."""
    roots: list[str] = []
    run = check.run

    def counting(program: Program, tables: Tables, overlay: Overlay, root: ir.Function, **options: Any) -> Outcome:
        roots.append(root.span.path)
        return run(program, tables, overlay, root, **options)

    monkeypatch.setattr(check, "run", counting)
    return roots


@pytest.mark.parametrize(("steps", "runs"), [(-1, ["a.cu"]), (cluster.MOST_FOR_A_REASON, ["a.cu", "b.cu", "c.cu"])])
def test_what_stays_as_one_program_is_too_large_is_seldom_run_in_the_others(
    steps: int, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MAX_STEPS", 100)
    monkeypatch.setattr(engine, "MAX_COARSE_STEPS", 100)
    monkeypatch.setattr(cluster, "MOST_FOR_A_REASON", steps)
    many = "work(0); " * 100
    files = {"work.h": TWO_PROGRAMS.encode()} | {
        f"{name}.cu": f'#include "work.h"\nint main() {{ {many if name == "a" else "work(0);"} return 0; }}\n'.encode()
        for name in "abc"
    }
    roots = counted(monkeypatch)
    report = driver.analyze(files, Config())
    assert roots == runs
    assert [refusal.name for refusal in report.refusals] == ["budget"]


CONFIGURATIONS = """#include <cuda_runtime.h>
__global__ void k(float *v);
int main() {
    float *v;
    cudaMalloc(&v, 4);
#ifdef TWICE
    k<<<1, 2>>>(v);
#endif
    k<<<1, 1>>>(v);
    cudaFree(v);
}
"""


def test_what_one_configuration_is_too_large_for_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: set[Program] = set()
    given: set[int] = set()
    run = check.run

    def noting(program: Program, *args: Any, ways: list[check.Followed], **options: Any) -> Outcome:
        programs.add(program)
        given.add(id(ways))
        return run(program, *args, ways=ways, **options)

    monkeypatch.setattr(check, "run", noting)
    assert driver.analyze({"main.cu": CONFIGURATIONS.encode()}, Config()).findings
    assert len(programs) == 2
    assert len(given) == 1


FREES_ONLY = """#include "pool.h"
__global__ void k(float *v);
int main() {
    float *v = take();
    k<<<1, 1>>>(v);
    cudaFree(v);
}
"""
POOL = """#pragma once
#include <cuda_runtime.h>
static inline float *take() {
    float *v;
    cudaMalloc(&v, 4);
    return v;
}
#define TAKE(v) cudaMalloc(&v, 4)
"""


@pytest.mark.parametrize(
    ("main", "lowered"), [(FREES_ONLY, False), (FREES_ONLY + "void f(float *v) { TAKE(v); }", True)]
)
def test_of_a_program_that_allocates_nothing_outside_of_shared_files_nothing_is_lowered(
    main: str, lowered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "MOST_TOGETHER", 4)
    files = {"pool.h": POOL.encode(), **{f"p{n}/main.cu": main.replace('"pool', '"../pool').encode() for n in range(4)}}
    seen: list[str] = []

    def noting(tree: Tree, programs: list[list[str]]) -> list[View]:
        seen.extend(path for program in programs for path in program)
        return views_of(tree, programs)

    monkeypatch.setattr("cudafix.pipeline.cluster.views_of", noting)
    report = driver.analyze(files, Config())
    assert ("p0/main.cu" in seen) is lowered
    assert {refusal.name for refusal in report.refusals if refusal.path == "pool.h"} == {"budget"}


LATE_FREE = """#include <cuda_runtime.h>
__global__ void k(float *v);
int main() {
    float *v;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocAsync(&v, 4, s);
    k<<<1, 1, 0, s>>>(v);
    cudaStreamDestroy(s);
    cudaFreeAsync(v, s);
    return 0;
}
"""


def test_a_defect_is_named_though_there_is_no_time_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (mended,) = driver.analyze({"main.cu": LATE_FREE.encode()}, Config()).findings
    monkeypatch.setattr(cluster, "MOST_STEPS", 0)
    (named,) = driver.analyze({"main.cu": LATE_FREE.encode()}, Config()).findings
    assert mended.edits
    assert not named.edits
    assert named.codemod == mended.codemod


NESTED = """#include <cuda_runtime.h>
__global__ void k(float *v);
int main(int n, char **) {{
    float *v;
    cudaMalloc(&v, 4);
    {opens} k<<<1, 1>>>(v); {closes}
    cudaFree(v);
}}
"""


def nested(depth: int) -> dict[str, bytes]:
    opens = " ".join(f"if (n > {n}) {{" for n in range(depth))
    return {"main.cu": NESTED.format(opens=opens, closes="}" * depth).encode()}


@pytest.mark.parametrize("limit", [400, 1000, 20_000])
@pytest.mark.parametrize(("depth", "moves"), [(20, True), (90, True), (300, False), (2000, False)])
def test_how_deep_code_may_nest_is_not_for_the_interpreter_to_say(depth: int, moves: bool, limit: int) -> None:
    before = sys.getrecursionlimit()
    used = len(inspect.stack(0))
    sys.setrecursionlimit(used + limit)
    try:
        report = driver.analyze(nested(depth), Config())
    finally:
        sys.setrecursionlimit(before)
    assert bool(report.findings) is moves
    assert bool(report.refusals) is not moves


def test_calls_may_nest_as_deep_as_the_budget_says() -> None:
    report = driver.analyze(costs.call_chain(39), Config())
    assert not report.refusals
    report = driver.analyze(costs.call_chain(60), Config())
    assert {refusal.name for refusal in report.refusals} == {"budget"}


def large_structs(members: int) -> dict[str, bytes]:
    """Structs of many pointers that are copied between places that are not known for certain."""
    names = [f"m{n}" for n in range(members)]
    lines = [
        "#include <cuda_runtime.h>\n#include <cstring>",
        f"struct S {{ {' '.join(f'float *{name};' for name in names)} }};",
        "__global__ void k(float *v);",
        "int main(int n, char **) {\n    S a[9], b[9], *p = n > 1 ? a : b, *q = n > 2 ? a : b;",
        *(f"    cudaMalloc(&a[{n % 9}].{name}, 4);" for n, name in enumerate(names)),
        "    for (int i = 0; i < n; ++i) {",
        *(
            f"        memcpy(p + {n}, q + i, sizeof(S)); memcpy(q + i, p + {n}, sizeof(S)); p[i] = q[{n}];"
            for n in range(20)
        ),
        f"        k<<<1, 1>>>(p[i].{names[-1]});\n    }}",
        *(f"    cudaFree(a[{n % 9}].{name});" for n, name in enumerate(names)),
        "}",
    ]
    return {"main.cu": "\n".join(lines).encode()}


def test_the_cost_of_copies_grows_with_the_struct() -> None:
    small, _ = costs.measure(large_structs, 25)
    large, report = costs.measure(large_structs, 100)
    assert not report.refusals
    assert large < 4 * NOISE * small


SPECIALIZED = """template <> class Pool<{n}> {{
public:
    static float *take(int size) {{ float *p = 0; check(cudaMalloc(&p, size)); return p; }}
    static void copy(float *to, float *from, int size) {{ check(cudaMemcpy(to, from, size, cudaMemcpyDefault)); }}
    static void fill(float *to, int size) {{ check(cudaMemset(to, 0, size)); }}
    static void give(float *p) {{ check(cudaFree(p)); }}
}};
"""


def test_each_specialization_of_a_class_is_a_class_of_its_own_for_its_client() -> None:
    head = "#include <cuda_runtime.h>\nvoid check(cudaError_t e) { if (e) throw e; }\ntemplate <int N> class Pool {};\n"
    text = head + "".join(SPECIALIZED.format(n=n) for n in range(60))
    report = driver.analyze({"pools.h": text.encode()}, Config())
    assert {refusal.name for refusal in report.refusals} == {"escapes"}


def test_work_that_is_assumed_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    run = check.run

    def counting(*args: Any, **kwargs: Any) -> Outcome:
        outcome = run(*args, **kwargs)
        seen.append(len(outcome.violations))
        return outcome

    monkeypatch.setattr(check, "run", counting)
    declared = "".join(f"void unseen{n}(); " for n in range(40))
    calls = "".join(f"    unseen{n}();\n    puts(*text);\n" for n in range(40))
    text = (
        f'#include <cuda_runtime.h>\n#include <cstdio>\nextern "C" {{ {declared}}}\n'
        "int main(int, char **text) {\n    float *v;\n    cudaMalloc(&v, 4);\n"
        f"{calls}    cudaFree(v);\n{calls}{calls}    return 0;\n}}\n"
    )
    (finding,) = driver.analyze({"main.cu": text.encode()}, Config()).findings
    assert {a.subject for a in finding.assumptions} == {f"unseen{n}" for n in range(40)}
    assert max(seen) <= 2 * 40


OVERLOADS = """#include <cuda_runtime.h>
{classes}
{overloads}
__global__ void k(float *p);
int main() {{
    V0<float> a;
    cudaMalloc(&a.data, 4);
    k<<<1, 1>>>(a.data);
    int n = (int)sum(a);
    cudaFree(a.data);
    return n;
}}
"""


def test_overloads_that_call_each_other_are_run_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """The element may be of any of the classes, since nobody says what `T` is."""
    monkeypatch.setattr(engine, "MAX_STEPS", 1000)
    monkeypatch.setattr(engine, "MAX_COARSE_STEPS", 0)
    classes = "\n".join(f"template <class T> struct V{n} {{ T x[2]; float *data; }};" for n in range(7))
    body = "{ T r = sum(v.x[0]); r = r + sum(v.x[1]); return r; }"
    overloads = "\n".join(f"template <class T> T sum(const V{n}<T> &v) {body}" for n in range(7))
    source = OVERLOADS.format(classes=classes, overloads=overloads).encode()
    report = driver.analyze({"main.cu": source}, Config())
    assert report.findings
    assert not report.refusals


LAUNCHES = 300
SETTLED_FIRST = """#include <cuda_runtime.h>
__global__ void k(int n);
__global__ void use(float *v);
void keep(float *v);
int main() {{
    float *v, *w;
    cudaMalloc(&v, 4);
    keep(v);
    cudaFree(v);
    {launches}
    {pair}
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("pair", "names"),
    [
        pytest.param("", {"unknown_call"}, id="nothing is left to find out"),
        pytest.param("cudaMalloc(&w, 4); use<<<1, 1>>>(w); cudaFree(w);", {"budget"}, id="another pair comes last"),
    ],
)
def test_a_run_ends_when_all_that_it_may_move_is_refused(
    pair: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit, steps in (("MAX_STEPS", 100), ("MAX_COARSE_STEPS", 100), ("LOOK_AFTER", 20), ("LOOK_AGAIN", 10)):
        monkeypatch.setattr(engine, limit, steps)
    source = SETTLED_FIRST.format(launches="k<<<1, 1>>>(1);\n    " * LAUNCHES, pair=pair)
    report = driver.analyze({"main.cu": source.encode()}, Config())
    assert not report.findings
    assert {refusal.name for refusal in report.refusals} == names


def test_a_program_that_is_too_large_for_a_reason_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_STEPS", 100)
    monkeypatch.setattr(engine, "MAX_COARSE_STEPS", 100)
    many = "work(0); " * 100
    files = {"work.h": TWO_PROGRAMS.encode()} | {
        f"{name}.cu": f'#include "work.h"\nint main() {{ {many}{name * 2}: return 0; }}\n'.encode() for name in "ab"
    }
    report = driver.analyze(files, Config())
    assert not report.problems
    assert [refusal.name for refusal in report.refusals] == ["budget"]


def test_what_is_copied_into_its_own_elements_has_an_end() -> None:
    env = memory.Environment()
    row: memory.Root = ("local", "main", "rows")
    element = (row, (("at", ANY),))
    env.write([element], frozenset({memory.Ptr(3)}))
    for _ in range(10):
        before = env.copy()
        env.write_parts([element, element], dict(env.under((row, ()))))
        if not before.join(env):
            break
    else:
        pytest.fail("each copy is deeper")
    deep = tuple(("at", "7") for _ in range(12))
    assert memory.Ptr(3) in env.read((row, deep))
