"""Every fixture, every check: see `tests/fixtures.py` for the checks and `tests/cases.py` for the folder's format."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cudafix.verify import nvcc
from tests import fixtures
from tests.cases import FIXTURES, ROOT, Case, cases, folders, load

CASES = cases()
REWRITES = [case for case in CASES if case.expect == "rewrite"]
NVCC = nvcc.find()

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
every_rewrite = pytest.mark.parametrize("case", REWRITES, ids=lambda case: case.id)


@every_case
def test_report_is_what_the_fixture_wants(case: Case) -> None:
    fixtures.check_wants(case, fixtures.report_of(case.files("before"), case.config))


@every_case
def test_rewrite_is_after(case: Case) -> None:
    before = case.files("before")
    result = fixtures.rewritten(before, fixtures.report_of(before, case.config))
    fixtures.check_same(result, case.files("after") or before)


@every_case
def test_rewrite_adds_no_parse_error(case: Case) -> None:
    before = case.files("before")
    result = fixtures.rewritten(before, fixtures.report_of(before, case.config))
    assert fixtures.errors_in(result) <= fixtures.errors_in(before)


@every_rewrite
def test_second_run_changes_nothing(case: Case) -> None:
    after = case.files("after")
    fixtures.check_same(fixtures.rewritten(after, fixtures.report_of(after, case.config)), after)


@every_rewrite
def test_after_proves_again(case: Case) -> None:
    assert fixtures.reasons_against(case.files("before"), case.files("after"), case.config) == []


@pytest.mark.parametrize("case", [case for case in CASES if case.expect == "clean"], ids=lambda case: case.id)
def test_checker_accepts_clean_code_as_its_own_rewrite(case: Case) -> None:
    assert fixtures.reasons_against(case.files("before"), case.files("before"), case.config) == []


@pytest.mark.parametrize("case", [case for case in CASES if len(case.files("before")) > 1], ids=lambda case: case.id)
def test_order_of_files_does_not_matter(case: Case) -> None:
    files = case.files("before")
    turned = dict(reversed(files.items()))
    there, back = fixtures.report_of(files, case.config), fixtures.report_of(turned, case.config)
    assert fixtures.lines_of(there, files) == fixtures.lines_of(back, files)
    fixtures.check_same(fixtures.rewritten(files, back), fixtures.rewritten(files, there))


@pytest.mark.parametrize(
    ("case", "name"),
    [pytest.param(case, wrong.name, id=f"{case.id}/{wrong.name}") for case in CASES for wrong in case.wrong],
)
def test_wrong_rewrite_is_rejected(case: Case, name: str) -> None:
    reasons = fixtures.reasons_against(case.files("before"), case.files(f"wrong/{name}"), case.config)
    assert reasons, "the checker proves a rewrite that is wrong"


# ---------------------------------------------------------------------------------------------------------------------
# nvcc


def test_nvcc_is_there_where_it_must_be() -> None:
    assert NVCC or os.environ.get("CUDAFIX_REQUIRE_NVCC") != "1", nvcc.MISSING


@pytest.mark.parametrize(
    ("case", "variant"),
    [pytest.param(case, variant, id=f"{case.id}/{variant}") for case in CASES for variant in case.variants]
    if NVCC
    else [pytest.param(None, "", marks=pytest.mark.skip(reason=nvcc.MISSING))],
)
def test_variant_compiles(case: Case, variant: str) -> None:
    assert NVCC
    errors = fixtures.compile_errors(NVCC, case, variant)
    assert bool(errors) != case.compiles(variant), errors or "compiles, and `compiles_before = false`"


# ---------------------------------------------------------------------------------------------------------------------
# conventions


@pytest.mark.parametrize("path", folders(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_folder_keeps_the_conventions(path: Path) -> None:
    case = load(path)
    entries = {entry.name for entry in path.iterdir()}
    assert entries <= {"case.toml", "before", "after", "wrong", "record.json"}, "what is this for?"
    assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+){2,}", path.name), "a case's name is a sentence in lower_case"
    before, after = case.files("before"), case.files("after")
    assert before, "before/ is empty"
    assert bool(after) == ("after" in entries) == (case.expect == "rewrite")
    assert before != after
    assert bool(case.wants()) == (case.expect != "clean"), "a clean case wants nothing, any other case wants something"
    folder = path / "wrong"
    assert {wrong.name for wrong in case.wrong} == {p.name for p in (folder.iterdir() if folder.is_dir() else ())}
    for variant in case.variants[1:]:
        files = case.files(variant)
        assert files.keys() in (before.keys(), after.keys()), f"{variant}/ has other files than before/ and after/"
        assert files not in (before, after) or variant == "after", f"{variant}/ is no mistake"


def test_every_codemod_has_a_fixture_and_no_fixture_is_an_orphan() -> None:
    codemods = {path.stem for path in (ROOT / "codemods").glob("*.py") if not path.stem.startswith("_")}
    groups = {path.parent.name for path in folders()}
    assert groups == codemods
    loose = [path.name for path in FIXTURES.iterdir() if path.is_file() and path.suffix not in (".py", ".md")]
    assert not loose
