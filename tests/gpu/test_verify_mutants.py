"""Inserted waits, taken out one at a time; and the programs of `benchmarks/churn` are what cudafix makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix.findings import Edit
from cudafix.rewrite import edits
from cudafix.verify import nvcc
from cudafix.verify.fixtures import subjects
from cudafix.verify.mutants import mutants
from cudafix.verify.plan import Kind
from tests import fixtures
from tests.cases import ROOT, cases

pytestmark = pytest.mark.exhaustive

CHURN = sorted((ROOT / "benchmarks" / "churn").glob("*/before.cu"))


def test_every_inserted_wait_is_needed_by_the_proof() -> None:
    found = [
        (subject.name, variant)
        for subject in subjects(cases(), lambda files, _: fixtures.report_of(files), 2)
        for variant in subject.variants
        if variant.kind is Kind.MUTANT
    ]
    assert len(found) >= 20
    assert [(name, mutant.about) for name, mutant in found if not mutant.rejected] == []


def insertion(at: int, text: bytes) -> Edit:
    return Edit("main.cu", at, at, text)


CODE = b"int main() {\n    cudaFree(p);\n}\n"


@pytest.mark.parametrize(
    ("text", "left", "about"),
    [
        (b"CHECK(cudaStreamSynchronize(s));\n    ", b"\n    ", "`cudaStreamSynchronize(s)` at main.cu:2"),
        (b"status = cudaDeviceSynchronize(); \\\n    ", b" \\\n    ", "`cudaDeviceSynchronize()` at main.cu:2"),
        (
            b"{\r\n    CHECK(cudaEventRecord(done, b));\r\n    CHECK(cudaStreamWaitEvent(a, done, 0));\r\n}\r\n",
            b"{\r\n    CHECK(cudaEventRecord(done, b));\r\n    \r\n}\r\n",
            "`cudaStreamWaitEvent(a, done, 0)` at main.cu:2",
        ),
        (b"check(cudart.cudaStreamSynchronize(s))\n    ", b"\n    ", "`cudaStreamSynchronize(s)` at main.cu:2"),
        (b"check(driver.cuCtxSynchronize())\n    ", b"\n    ", "`cuCtxSynchronize()` at main.cu:2"),
        (
            b"rt.eventRecord(done, b.ptr)\n    cp.cuda.runtime.streamWaitEvent(a.ptr, done)\n    ",
            b"rt.eventRecord(done, b.ptr)\n    \n    ",
            "`cp.cuda.runtime.streamWaitEvent(a.ptr, done)` at main.cu:2",
        ),
        (b"a.wait_event(done)\n    ", b"\n    ", "`a.wait_event(done)` at main.cu:2"),
        (b"cuda.synchronize()\n    ", b"\n    ", "`cuda.synchronize()` at main.cu:2"),
    ],
)
def test_the_statement_goes_and_all_else_stays(text: bytes, left: bytes, about: str) -> None:
    (mutant,) = mutants({"main.cu": CODE}, [insertion(17, text)])
    assert mutant.files == {"main.cu": edits.apply(CODE, [insertion(17, left)])}
    assert mutant.about == about


def test_one_mutant_for_each_wait_and_none_for_other_edits() -> None:
    both = insertion(17, b"cudaStreamSynchronize(a);\n    cudaStreamSynchronize(b);\n    ")
    renamed = Edit("main.cu", 17, 25, b"cudaFreeAsync")
    found = list(mutants({"main.cu": CODE}, [both, renamed, both]))
    assert [mutant.name for mutant in found] == ["mutant/1", "mutant/2"]
    assert b"Synchronize(a)" not in found[0].files["main.cu"]
    assert b"Synchronize(b)" in found[0].files["main.cu"]
    assert all(b"cudaFreeAsync(p)" in mutant.files["main.cu"] for mutant in found)


def test_a_wait_that_was_there_and_moves_is_not_ours() -> None:
    line = b"    cudaStreamSynchronize(s);\n"
    code = b"int main() {\n    cudaFree(p);\n" + line + b"}\n"
    moved = Edit("main.cu", 13, len(code) - 2, line + b"    cudaFree(p);\n")
    assert list(mutants({"main.cu": code}, [moved])) == []


@pytest.mark.parametrize("before", CHURN, ids=lambda path: path.parent.name)
def test_churn_after_is_what_cudafix_writes(before: Path) -> None:
    files = {"main.cu": before.read_bytes()}
    fixtures.check_same(
        fixtures.rewritten(files, fixtures.report_of(files)), {"main.cu": before.with_name("after.cu").read_bytes()}
    )


@pytest.mark.skipif(nvcc.find() is None, reason=nvcc.MISSING)
@pytest.mark.parametrize("before", CHURN, ids=lambda path: path.parent.name)
def test_churn_hoisted_compiles(before: Path) -> None:
    compiler = nvcc.find()
    assert compiler
    result = compiler.compile(before.with_name("hoisted.cu"), ["-std=c++17"])
    assert result.ok, result.log
