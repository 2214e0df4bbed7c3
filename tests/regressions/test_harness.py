"""The harness itself must fail where it should: wants that nothing meets, reports nobody wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix.findings import Finding, Refusal, Report
from tests import fixtures
from tests.cases import Case, CaseError, load

TOML = """
why = "an example"
expect = "rewrite"
[build]
flags = ["-std=c++17"]
[run]
exit = 3
[wrong.too_early]
why = "freed before the kernel"
gpu_shows = true
"""
BEFORE = b"""int main() {
    cudaMalloc(&p, 4); // want "moves" "refused: pinned"
    cudaFree(p); /* want "late" */
}
"""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    folder = tmp_path / "group" / "a_small_case"
    (folder / "before").mkdir(parents=True)
    (folder / "case.toml").write_text(TOML)
    (folder / "before" / "main.cu").write_bytes(BEFORE)
    return load(folder)


def report(*, late: int = 2) -> Report:
    at = [BEFORE.index(b"cudaMalloc"), BEFORE.index(b"cudaFree")]
    findings = (Finding("pairs", "main.cu", at[0], "moves to `s`"), Finding("waits", "main.cu", at[late - 1], "late"))
    return Report(findings, (Refusal("pinned", "main.cu", at[0], "read after the free", "a sync"),))


def test_wants_that_are_met_pass(case: Case) -> None:
    fixtures.check_wants(case, report())


def test_want_on_another_line_is_unmatched_and_its_finding_unexpected(case: Case) -> None:
    with pytest.raises(AssertionError) as failure:
        fixtures.check_wants(case, report(late=1))
    assert 'main.cu:3: nothing matches want "late"' in str(failure.value)
    assert "main.cu:2: unexpected: waits: late" in str(failure.value)


def test_two_reports_do_not_meet_one_want(case: Case) -> None:
    twice = Report(report().findings * 2, report().refusals)
    with pytest.raises(AssertionError, match="unexpected: pairs"):
        fixtures.check_wants(case, twice)


def test_difference_shows_bytes_that_look_alike() -> None:
    with pytest.raises(AssertionError, match=r"-a\\r\\n"):
        fixtures.check_same({"main.cu": b"a\n"}, {"main.cu": b"a\r\n"})


@pytest.mark.parametrize("key", ['typo = "x"', "[run]\nleaks = 1", '[wrong.x]\nwhy = ""'])
def test_bad_case_toml_is_an_error(case: Case, key: str) -> None:
    (case.path / "case.toml").write_text(f'why = "w"\nexpect = "clean"\n{key}\n')
    with pytest.raises(CaseError, match="group/a_small_case"):
        load(case.path)
