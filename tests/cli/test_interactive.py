"""`apply --interactive`: what each answer does, on real fixtures."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix.cli.applying import Applied
from cudafix.cli.main import main
from cudafix.project.config import Config
from cudafix.report.selection import Selection
from tests.terminals import on_a_terminal

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "fixtures" / "stream_ordered_pairs"
CASES = {
    "a_single": PAIRS / "pinned_result_is_read_after_the_free",
    "b_together": PAIRS / "swapped_buffers_move_together",
    "c_another": PAIRS / "checked_free_is_the_only_one_to_notice_a_fault",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, case in CASES.items():
        shutil.copytree(case / "before", tmp_path / "tree" / name)
    return tmp_path / "tree"


def answered(tree: Path, answers: str, editor: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "apply", "--interactive"]
    environment = {"EDITOR": str(editor), "VISUAL": str(editor)} if editor is not None else {}
    run = subprocess.run(
        command, cwd=tree, input=answers, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "\x1b" not in run.stdout + run.stderr  # no colour into a pipe
    return run


def changed(tree: Path) -> list[str]:
    return [
        name
        for name, case in CASES.items()
        if (tree / name / "main.cu").read_bytes() != (case / "before" / "main.cu").read_bytes()
    ]


def test_yes_and_no(tree: Path) -> None:
    run = answered(tree, "n\ny\nn\n")
    assert changed(tree) == ["b_together"]
    assert (tree / "b_together/main.cu").read_bytes() == (CASES["b_together"] / "after/main.cu").read_bytes()
    assert "(1/3) a_single/main.cu:39: stream_ordered_pairs: moves to stream `stream` (proven, once)" in run.stdout
    assert "+    CHECK(cudaFreeAsync(d_v, stream));" in run.stdout
    assert "(2 left alone); `cudafix check` says why" in run.stderr


def test_a_file_that_a_fix_makes_is_shown_behind_the_lines_that_use_it(tmp_path: Path) -> None:
    case = ROOT / "fixtures" / "numba_memory_manager" / "manager_is_written_beside_the_program"
    shutil.copytree(case / "before", tmp_path / "tree")
    run = answered(tmp_path / "tree", "y\n")
    headers = [line for line in run.stdout.splitlines() if line.startswith(("--- ", "+++ "))]
    assert headers == ["--- a/main.py", "+++ b/main.py", "--- /dev/null", "+++ b/cudafix_numba_memory.py"]
    for file in (case / "after").iterdir():
        assert (tmp_path / "tree" / file.name).read_bytes() == file.read_bytes()


def test_what_moves_together_is_one_question(tree: Path) -> None:
    run = answered(tree, "n\nn\nn\n")
    assert run.stdout.count("take this fix") == 3
    assert "  with it: b_together/main.cu:" in run.stdout
    assert changed(tree) == []


def test_all_of_this_kind(tree: Path) -> None:
    answered(tree, "n\na\n")
    assert changed(tree) == ["b_together", "c_another"]


def test_skip_the_file(tree: Path) -> None:
    run = answered(tree, "s\ny\nq\n")
    assert changed(tree) == ["b_together"]
    assert run.stdout.count("a_single/main.cu:") == 1


@pytest.mark.parametrize("end", ["q\n", ""])
def test_quit_writes_what_was_taken(tree: Path, end: str) -> None:
    answered(tree, "y\n" + end)
    assert changed(tree) == ["a_single"]


def test_show_why(tree: Path) -> None:
    shown = answered(tree, "w\nq\n").stdout
    assert "allocated: `d_v` on `stream`, by `cudaMallocAsync`  (line 39)" in shown
    assert "used: on `stream`, by `square<<<…>>>` and `cudaMemcpyAsync`  (lines 40, 42)" in shown
    assert "before: the host stood still in `cudaFree`" in shown
    assert shown.count("take this fix") == 2


def test_an_unknown_answer_lists_the_answers(tree: Path) -> None:
    assert "w - show why it is right" in answered(tree, "\nq\n").stdout


def script(folder: Path, *lines: str) -> Path:
    """An editor that runs a program of sed over the file."""
    editor = folder / "editor.sh"
    editor.write_text("#!/bin/sh\n" + "\n".join(f"sed -i '{line}' \"$1\"" for line in lines) + "\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    return editor


def test_an_edited_fix_is_proved_again_and_written(tree: Path, tmp_path: Path) -> None:
    run = answered(tree, "e\ny\nq\n", script(tmp_path, "s/CHECK(cudaStreamSynchronize(stream));/& \\/\\/ for h_v/"))
    assert "  proven, as it is now" in run.stdout
    written = (tree / "a_single/main.cu").read_text()
    assert "CHECK(cudaStreamSynchronize(stream)); // for h_v\n" in written
    assert written.count("cudaMallocAsync") == 1


def test_an_edited_fix_that_is_wrong_is_called_so(tree: Path, tmp_path: Path) -> None:
    run = answered(tree, "e\nn\nq\n", script(tmp_path, "/cudaStreamSynchronize/d"))
    assert "  not proven: `cudaMemcpyAsync` may still run when the host touches what it works on" in run.stdout
    assert changed(tree) == []


def test_what_was_edited_and_is_not_proved_is_not_written(tree: Path, tmp_path: Path) -> None:
    run = answered(tree, "e\ny\nn\nq\n", script(tmp_path, "/cudaStreamSynchronize/d"))
    assert "what is not proven is not written: `e` to edit it again, `n` to leave it" in run.stdout
    assert changed(tree) == []


def test_an_edited_fix_and_the_others_are_proved_together(tree: Path, tmp_path: Path) -> None:
    run = answered(tree, "e\ny\ny\nq\n", script(tmp_path, "s/CHECK(cudaStreamSynchronize(stream));/& \\/\\/ for h_v/"))
    assert run.stdout.partition("all that was taken, together:\n")[2].startswith("  proven, as it is now\n")
    assert changed(tree) == ["a_single", "b_together"]


def test_an_edited_fix_that_takes_away_what_another_needs_is_left_alone(tmp_path: Path) -> None:
    """Alone the first fix needs no wait: the second `cudaFree` waits for the pinned result all the same."""
    source = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
int main() {
    int *a, *b, *pinned;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMallocHost(&pinned, 4);
    cudaMalloc(&a, 4);
    cudaMalloc(&b, 4);
    fill<<<1, 1, 0, s>>>(a);
    fill<<<1, 1, 0, s>>>(b);
    cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(a);
    cudaFree(b);
    printf("%d", pinned[0]);
}
"""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "main.cu").write_text(source)
    run = answered(tmp_path / "tree", "e\ny\ne\ny\n", script(tmp_path, "/cudaStreamSynchronize/d"))
    assert run.stdout.count("  proven, as it is now") == 2
    together = run.stdout.partition("all that was taken, together:\n")[2]
    assert together.startswith("  not proven: `cudaMemcpyAsync` may still run when the host touches what it works on")
    assert "the edited fixes are left alone" in together
    assert (tmp_path / "tree" / "main.cu").read_text() == source


def test_colour_follows_no_color_on_a_terminal(tree: Path) -> None:
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
    assert coloured.search(on_a_terminal(tree, "apply", "--interactive", answers="n\nq\n"))
    assert not coloured.search(on_a_terminal(tree, "apply", "--interactive", answers="n\nq\n", NO_COLOR="1"))


def test_an_edited_fix_is_proved_with_the_default_stream_of_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (CASES["b_together"] / "before" / "main.cu").read_bytes()
    (tmp_path / "main.cu").write_bytes(source)
    (tmp_path / "Makefile").write_text("main: main.cu\n\tnvcc --default-stream per-thread -o main main.cu\n")
    monkeypatch.chdir(tmp_path)
    asked: list[Config] = []

    def run(_: object, __: object, selection: Selection, config: Config) -> Applied:
        asked.append(config)
        return Applied(selection, {})

    monkeypatch.setattr("cudafix.cli.applying.run", run)
    with pytest.raises(SystemExit) as ended:
        main(["apply", "--interactive", "--no-cache", "main.cu"])
    assert not ended.value.code
    assert [config.per_thread for config in asked] == [frozenset({"main.cu"})]
