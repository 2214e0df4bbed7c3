"""What CONTRIBUTING.md shows is performed: somebody who follows it gets what it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import cudafix.codemods
import pytest

from cudafix import codemod as declared
from cudafix.cli import checking
from cudafix.models import load
from cudafix.models.api import Effect
from cudafix.models.rows import Table
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.report import machine, pages
from tests.unit.test_pages import SECTIONS

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
FREED_TWICE = b"""#include <cuda_runtime.h>
int main() {
    cudaStream_t s;
    cudaStreamCreate(&s);
    float *p;
    cudaMallocAsync(&p, 64, s);
    cudaFreeAsync(p, s);
    cudaFreeAsync(p, s);
    cudaStreamSynchronize(s);
}
"""


@pytest.fixture
def codemod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The codemod of the example, in a folder of its own beside the others."""
    found = re.search(r"For example `codemods/(\w+)\.py`.*?````python\n(.*?)````\n", CONTRIBUTING, re.DOTALL)
    assert found
    name, text = found.groups()
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(cudafix.codemods, "__path__", [*cudafix.codemods.__path__, str(tmp_path)])
    yield name
    sys.modules.pop(f"cudafix.codemods.{name}", None)
    if hasattr(cudafix.codemods, name):
        delattr(cudafix.codemods, name)


def test_a_new_codemod_is_one_file(codemod: str) -> None:
    assert re.findall(r"^## (.*)$", pages.page(codemod), re.MULTILINE) == SECTIONS
    report = driver.analyze({"main.cu": FREED_TWICE}, Config())
    (finding,) = [each for each in report.findings if each.codemod == codemod]
    assert FREED_TWICE.count(b"\n", 0, finding.offset) + 1 == 8


def test_a_codemod_may_live_in_a_package_of_its_own(
    codemod: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (tmp_path / f"{codemod}.py").read_text(encoding="utf-8").replace(codemod, "a_second_free")
    folder = tmp_path / "site"
    for name, content in (
        ("of_somebody/__init__.py", ""),
        ("of_somebody/twice.py", text),
        ("of_somebody-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: of-somebody\nVersion: 1.0\n"),
        ("of_somebody-1.0.dist-info/entry_points.txt", "[cudafix.codemods]\na_second_free = of_somebody.twice\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    declared.others.cache_clear()
    try:
        assert re.findall(r"^## (.*)$", pages.page("a_second_free"), re.MULTILINE) == SECTIONS
        assert folder / "of_somebody" / "twice.py" in declared.files()
        report = driver.analyze({"main.cu": FREED_TWICE}, Config())
        assert [each.codemod for each in report.findings] == ["a_second_free"]
    finally:
        sys.modules.pop("of_somebody.twice", None)
        declared.others.cache_clear()


def test_without_it_another_codemod_reports_the_same() -> None:
    report = driver.analyze({"main.cu": FREED_TWICE}, Config())
    assert [each.codemod for each in report.findings if each.codemod.startswith("free")] == ["free_behind_last_use"]


def test_a_row_is_a_line_under_its_document() -> None:
    found = re.search(r"under\nthe document that says so:\n\n```text\n(.*?)```", CONTRIBUTING, re.DOTALL)
    assert found
    rows = {name: (line, source) for name, line, source in Table(source="", rows=found[1]).index()}
    assert rows.keys() == {"cudaEventRecord", "cudaEventRecord/1"}
    api = Table(source="", rows=found[1]).parse(*rows["cudaEventRecord"])
    built_in = load().lookup("cudaEventRecord", 2)
    assert built_in is not None
    assert (api.effect, api.roles) == (built_in.effect, built_in.roles) == (Effect.RECORD, ("event", "stream"))
    assert api.source.startswith("CUDA Runtime API")


def test_a_format_stands_in_both_lists() -> None:
    assert set(checking.FORMATS) == {"text", "concise", *machine.FORMATS}
