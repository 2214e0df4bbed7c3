"""`benchmarks/decisions.py` and `benchmarks/real_trees.py`: the tables for a tree, and the difference of two."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import FIXTURES, ROOT

PAIRS = FIXTURES / "stream_ordered_pairs"


def script(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "benchmarks" / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.cu").write_bytes((PAIRS / "pinned_result_is_read_after_the_free" / "before" / "main.cu").read_bytes())
    return tree


def test_decisions_are_counted_and_compared(tree: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    first = script("decisions.py", tree, "--json", old, "-j", "1")
    assert first.returncode == 0, first.stderr
    assert "| `cudaMalloc` sites | 1 |" in first.stdout
    assert "| **rewritten** | 1 (100 %) |" in first.stdout
    source = tree / "a.cu"
    source.write_text(source.read_text().replace("cudaFree(", "hidden("))
    assert script("decisions.py", tree, "--json", new, "-j", "1").returncode == 0
    same = script("decisions.py", "--diff", old, old)
    assert (same.returncode, same.stdout) == (0, "no change\n")
    changed = script("decisions.py", "--diff", old, new)
    assert changed.returncode == 1
    place, count = changed.stdout.splitlines()
    assert place.startswith("tree/a.cu:")
    assert "stream_ordered_pairs" in place
    assert "-> refused: " in place
    assert count.split()[0] == "1"


def test_what_has_to_hold_on_a_tree_is_a_row(tree: Path, tmp_path: Path) -> None:
    kept = tmp_path / "rows.json"
    for _ in range(2):  # the second time from what was kept
        run = script("real_trees.py", tree, "--json", kept)
        assert run.returncode == 0, run.stderr
        (row,) = (line.split(" | ") for line in run.stdout.splitlines() if line.startswith("| tree | 1"))
        assert row[5:] == ["1", "1", "0", "0", "1", "0 |"]
