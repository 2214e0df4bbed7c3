"""`--only FILE`: the selection that a reviewer has made, taken as it was made or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cudafix.cli import main as cli

PAIRS = Path(__file__).parents[2] / "fixtures" / "stream_ordered_pairs"
SINGLE = PAIRS / "pinned_result_is_read_after_the_free"
TOGETHER = PAIRS / "swapped_buffers_move_together"
ASSUMES = """
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
void exported(int n) {
    int *p;
    cudaMalloc(&p, n);
    fill<<<1, 1>>>(p);
    cudaFree(p);
}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SINGLE / "before", tmp_path / "single")
    shutil.copytree(TOGETHER / "before", tmp_path / "together")
    (tmp_path / "assumes.cu").write_text(ASSUMES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fix(file: str, line: int, column: int) -> dict[str, object]:
    return {"codemod": "stream_ordered_pairs", "file": file, "line": line, "column": column}


def selection(*fixes: dict[str, object], **other: object) -> dict[str, Any]:
    names = {str(one["file"]) for one in fixes}
    files = {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in names if Path(name).exists()}
    return {"cudafix": "selection", "version": 1, "files": files, "fixes": list(fixes), **other}


def applied(content: object, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    Path("picked.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(SystemExit) as ended:
        cli.main(["apply", "--only", "picked.json"])
    return ended.value.code, capsys.readouterr().err


def changed(tree: Path) -> set[str]:
    before = {"single/main.cu": SINGLE, "together/main.cu": TOGETHER}
    found = {n for n, case in before.items() if (tree / n).read_bytes() != (case / "before/main.cu").read_bytes()}
    return found | ({"assumes.cu"} if (tree / "assumes.cu").read_text() != ASSUMES else set())


def test_only_what_is_selected_is_written(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = applied(selection(fix("single/main.cu", 39, 11)), capsys)
    assert code in (0, None), said
    assert changed(tree) == {"single/main.cu"}
    assert "left alone); `cudafix check` says why" in said


def test_a_fix_that_rests_on_an_assumption_is_taken_when_it_is_selected(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = applied(selection(fix("assumes.cu", 6, 5)), capsys)
    assert code in (0, None), said
    assert changed(tree) == {"assumes.cu"}


def test_one_of_those_that_move_together_moves_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (tree / "together/main.cu").read_text().splitlines()
    line = next(n for n, each in enumerate(text, 1) if "cudaMalloc(" in each)
    column = text[line - 1].index("cudaMalloc") + 1
    code, said = applied(selection(fix("together/main.cu", line, column)), capsys)
    assert code in (0, None), said
    assert changed(tree) == set()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "picked.json: is no selection: not JSON"),
        ("[" * 100_000, "picked.json: is no selection: not JSON"),
        ([1], "picked.json: is no selection of cudafix"),
        ({"cudafix": "selection"}, "picked.json: is no selection of cudafix"),
        ({"cudafix": "selection", "version": 2, "files": {}, "fixes": []}, "has version 2, and this cudafix reads"),
        ({"cudafix": "selection", "version": 1, "files": [], "fixes": []}, "`files` must give each file its sha256"),
        ({"cudafix": "selection", "version": 1, "files": {}, "fixes": {}}, "`fixes` must be a list"),
        ({"cudafix": "selection", "version": 1, "files": {}, "fixes": [{"file": "x"}]}, "fix 1 must have `codemod`"),
        ({"cudafix": "selection", "version": 1, "files": {}, "fixes": [], "reviews": 1}, "`reviews` must be a list"),
        (
            {"cudafix": "selection", "version": 1, "files": {}, "fixes": [], "reviews": [{}]},
            "review 1 must have `rule`",
        ),
        (
            {"cudafix": "selection", "version": 1, "files": {}, "fixes": [fix("single/main.cu", 1, 1)]},
            "no fix of `stream_ordered_pairs` at `single/main.cu:1:1`",
        ),
        ({"cudafix": "selection", "version": 1, "files": {"gone.cu": ""}, "fixes": []}, "`gone.cu` is not among"),
        (
            {"cudafix": "selection", "version": 1, "files": {"single/main.cu": "0"}, "fixes": []},
            "`single/main.cu` has changed since the page was made",
        ),
    ],
)
def test_a_selection_that_does_not_fit_is_one_line_and_nothing_is_written(
    tree: Path, capsys: pytest.CaptureFixture[str], content: object, said: str
) -> None:
    code, error = applied(content, capsys)
    assert code == 2
    assert said in error
    assert error.count("\n") == 1
    assert changed(tree) == set()


def test_a_word_that_is_neither_a_kind_nor_a_file_is_a_wrong_option(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["diff", "--only", "churm"])
    assert ended.value.code == 2
    assert "`churm` is neither churn nor once nor a file" in capsys.readouterr().err
