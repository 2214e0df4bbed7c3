"""`cudafix` without a command: what is here, what can move, what to do next, without a proof."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix.cli import overview
from cudafix.cli.main import main
from cudafix.pipeline import driver
from tests.terminals import on_a_terminal

LOOP = """#include <cuda_runtime.h>
__global__ void fill(float *p) { p[0] = 1; }
// a comment speaks of cudaMalloc(&p, 4)
int main() {
    for (int i = 0; i < 9; i++) {
        float *d;
        cudaMalloc(&d, 4);
        fill<<<1, 1>>>(d);
        cudaFree(d);
    }
    float *leaks;
    cudaMalloc((void **)&leaks, 4);
}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "loop.cu").write_text(LOOP)
    (tmp_path / "src" / "host.cpp").write_text("int f() { return 1; }\n")
    (tmp_path / "Makefile").write_text("loop: src/loop.cu\n\tnvcc -o loop src/loop.cu\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDAFIX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 14
    return lines


def steps(lines: list[str]) -> list[str]:
    return [found[1] for line in lines if (found := re.match(r"  (cudafix .*?)  ", line))]


def test_before_a_proof_it_counts_calls_and_proves_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "analyze", None)
    lines = said(capsys)
    assert "  2 sources: 1 with CUDA C++" in lines
    assert "  build files: Makefile" in lines
    assert "  2 calls of `cudaMalloc` in 1 file; not proved yet, or changed since" in lines
    assert steps(lines) == ["cudafix check --statistics", "cudafix init", "cudafix --help"]


def test_after_a_check_it_says_what_can_move(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "-q"])
    capsys.readouterr()
    lines = said(capsys)
    assert "  2 allocation sites: 1 can move now (1 in a loop, where it pays), 1 refused" in lines
    expected = ["cudafix diff --html review.html", "cudafix apply", "cudafix check --statistics"]
    assert steps(lines) == [*expected, "cudafix init", "cudafix --help"]
    (tree / "src" / "loop.cu").write_text(LOOP + "\n")
    assert any("changed since" in line for line in said(capsys))


def test_a_configuration_is_named_and_not_proposed_again(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "cudafix.toml").write_text('paths = ["src"]\n')
    lines = said(capsys)
    assert "  configuration: cudafix.toml" in lines
    assert "cudafix init" not in steps(lines)


def test_a_broken_configuration_is_an_error(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "cudafix.toml").write_text("path = 1\n")
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "did you mean" in capsys.readouterr().err


def test_where_nothing_allocates_it_says_so(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "src" / "loop.cu").write_text("__global__ void k() {}\n")
    assert "  no call of `cudaMalloc` in the text" in said(capsys)


@pytest.mark.parametrize("name", ["notes.txt", "plain.py"])
def test_outside_of_cuda_it_says_so_and_where_to_go(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x = 1\n")
    shown = on_a_terminal(tmp_path, NO_COLOR="1")
    assert "  no CUDA code in this folder" in shown
    assert "cudafix demo" in shown


def test_it_does_not_read_a_folder_that_is_hardly_one_tree(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MOST", 1)
    monkeypatch.setattr(overview, "remembered", None)
    assert "  more than 1 sources: go to the folder of a project, or name it" in said(capsys)


def test_help_is_another_thing(tree: Path) -> None:
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "--help"]
    shown = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("Usage: cudafix ")
