"""Broken files: a few mutated fixtures on each run, and what was once found by many more (`tests/fuzz.py`)."""

from __future__ import annotations

import random

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.cases import ROOT
from tests.fuzz import LIMIT, complaint, mutated, seeds_of

SLACK = 5  # a machine with other work takes more processor time for the same
SEEDS = seeds_of(ROOT / "fixtures" / "stream_ordered_pairs") + seeds_of(
    ROOT / "fixtures" / "python_stream_ordered_pairs"
)


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_a_mutated_file_is_taken(first: int) -> None:
    for number in range(first, first + 15):
        chance = random.Random(number)
        suffix = chance.choice((".cu", ".py"))
        data = mutated(chance, [text for kind, text in SEEDS if kind == suffix])
        assert complaint(f"a{suffix}", data, SLACK * LIMIT) is None, number


MAIN = b"int main() { float *d; cudaMalloc(&d, 4); cudaFree(d); }\n"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        pytest.param(
            "a.cu", MAIN + b"x = ; EXPORT " + b"not\t" * 10_000 + b"\n", id="a declaration of ten thousand words"
        ),
        pytest.param(
            "a.cu",
            MAIN + b"__global__ void k(int *p) { " + b"f(" * 10_000 + b"p" + b")" * 10_000 + b"; }\n",
            id="calls in calls of a kernel",
        ),
        pytest.param("a.cu", MAIN + b"x = ; " + b"A" * 60_000 + b"\n", id="a name of sixty thousand letters"),
        pytest.param(
            "a.cu", MAIN + b"#if X\n" * 10_000 + b"f();\n" + b"#endif\n" * 10_000, id="conditions in conditions"
        ),
        pytest.param("a.cu", MAIN + b"lambda:" * 20_000, id="an error at every word"),
        *(
            pytest.param(
                "a.cu", b"int main() { " + a * 10_000 + b" cudaDeviceSynchronize(); " + b * 10_000 + b"}", id=name
            )
            for a, b, name in (
                (b"{ ", b" }", "blocks in blocks"),
                (b"if (x) { ", b" }", "branches in branches"),
                (b"for (;;) { ", b" }", "loops in loops"),
                (b"x = (", b")", "brackets in brackets"),
                (b"", b" }", "ends without a beginning"),
                (b"f(", b"", "beginnings without an end"),
                (b"[&] { ", b" }();", "lambdas in lambdas"),
                (b"f(", b")", "calls in calls"),
            )
        ),
        *(
            pytest.param(
                "a.py",
                b"import cupy\n" + b"x = " + a * 10_000 + b"1" + b * 10_000 + b"\ncupy.cuda.runtime.malloc(4)\n",
                id=name,
            )
            for a, b, name in (
                (b"(", b")", "Python: brackets in brackets"),
                (b"(", b"", "Python: brackets that do not end"),
                (b"f(", b")", "Python: calls in calls"),
                (b"not ", b"", "Python: not not not"),
                (b"", b" and 1", "Python: a long and"),
                (b"", b" + 1", "Python: a long sum"),
                (b"", b".x", "Python: a long path"),
                (b"lambda: ", b"", "Python: lambdas in lambdas"),
            )
        ),
        *(
            pytest.param(
                "a.py",
                b"import cupy\ndef f(x):\n    y = x" + path * 60 + b"\n    cupy.cuda.runtime.malloc(4)\n",
                id=f"Python: {path.decode()} sixty times",
            )
            for path in (b".x", b"[0]", b"[x]", b".x[0]", b".x()")
        ),
        pytest.param(
            "a.py",
            b"import cupy\ndef f(a, weak=False, c" + b"lambda:" * 4_000 + b" = 0):\n    cupy.cuda.runtime.malloc(4)\n",
            id="Python: lambdas in lambdas where none may stand",
        ),
        *(
            pytest.param("a.cu", MAIN + b"__global__ void k(int *p) { " + a * 10_000 + b * 10_000 + b"; }\n", id=name)
            for a, b, name in (
                (b"[&]{", b"}()", "lambdas in lambdas of a kernel"),
                (b"", b"()", "calls of what calls return in a kernel"),
            )
        ),
        pytest.param(
            "a.cu",
            b"int main() { float *d[9];"
            + b"".join(b" cudaMalloc(&d[%d], 4);" % n for n in range(9))
            + b" case 0: ;" * 9_000
            + b"".join(b" cudaFree(d[%d]);" % n for n in range(9))
            + b" }\n",
            id="not understood while much is live",
        ),
        pytest.param("a.cu", MAIN + b'__global__ void k(int *, int) { asm("st.u32 [%0], 1;"); }\n', id="no names"),
    ],
)
def test_what_was_once_wrong_is_taken(path: str, data: bytes) -> None:
    assert complaint(path, data, SLACK * LIMIT) is None


def test_a_defect_in_a_function_that_cannot_be_read_gets_no_fix() -> None:
    case = (
        ROOT / "fixtures" / "wait_between_streams" / "a_free_on_a_third_stream_waits_for_the_use" / "before" / "main.cu"
    )
    whole = case.read_bytes()
    broken = whole.replace(b"    int bad = 0;\n", b"    int bad = 0;\n    show(bad, );\n")
    assert broken != whole
    assert any(finding.edits for finding in analyze({"a.cu": whole}, Config()).findings)
    found = analyze({"a.cu": broken}, Config()).findings
    assert found
    assert not any(finding.edits for finding in found)


def test_the_threshold_is_not_set_in_a_function_that_cannot_be_read() -> None:
    data = (
        b"void work() {\n    float *d;\n    cudaMalloc(&d, 4);\n    fill<<<1, 1>>>(d);\n    cudaFree(d);\n}\n"
        b"int main() {\n    work();\n    show(bad, );\n}\n"
    )
    edits = [edit for finding in analyze({"a.cu": data}, Config()).findings for edit in finding.edits]
    assert edits
    assert all(edit.start < data.index(b"int main") for edit in edits)
