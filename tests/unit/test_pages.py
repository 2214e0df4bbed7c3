"""Conventions of the pages: a codemod's docstring is its manual, and every name that a user can meet has a page."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import cudafix
from cudafix import codemod
from cudafix.refusals import REFUSALS
from cudafix.report import pages

ROOT = Path(__file__).parents[2]
SECTIONS = ["What it does", "Why", "Preconditions", "Refuses", "Example", "Fix safety"]


@pytest.mark.parametrize("name", codemod.names())
def test_a_docstring_has_the_sections_of_a_manual_page(name: str) -> None:
    text = inspect.getdoc(codemod.module(name)) or ""
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert text.count("```cuda\n") + text.count("```python\n") == 2
    assert "\nUse instead:\n" in text


@pytest.mark.parametrize("name", codemod.names())
def test_a_summary_is_lower_case_without_a_full_stop(name: str) -> None:
    summary = codemod.codemods()[name].summary
    assert summary[0].islower()
    assert not summary.endswith(".")


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_why_and_what_unlocks_it(name: str) -> None:
    page = REFUSALS[name]
    assert not page.title[0].isupper()
    assert not page.title.endswith(".")
    assert 2 <= len(re.findall(r"[.:](?:\s|$)", page.why)) <= 8
    assert page.unlock.endswith(".")


def test_every_refusal_that_a_fixture_wants_has_a_page() -> None:
    wanted = {
        name
        for path in (ROOT / "fixtures").glob("*/*/before/**/*")
        if path.is_file()
        for name in re.findall(r'"refused: (\w+)', path.read_text(errors="replace"))
    }
    assert wanted - set(REFUSALS) == set()


def test_every_refusal_that_the_code_makes_has_a_page() -> None:
    made: set[str] = set()
    for path in (ROOT / "cudafix").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("Refusal", "Refused")
            ):
                made |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    # `left_alone` marks what `--only` leaves, and is never shown
    assert made - set(REFUSALS) <= {"left_alone"}


def test_every_fixture_belongs_to_a_codemod() -> None:
    folders = {path.name for path in (ROOT / "fixtures").iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders - set(codemod.names()) == set()


def test_a_page_shows_the_first_fixture_as_a_diff() -> None:
    text = pages.page("stream_ordered_pairs")
    assert "## Seen on a fixture\n\n```diff\n--- a/" in text
    assert "// want" not in text


def test_a_page_without_fixtures_is_whole_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudafix, "__file__", str(tmp_path / "cudafix" / "__init__.py"))
    assert pages.page("stream_ordered_pairs").endswith("with `--unsafe`.\n")
