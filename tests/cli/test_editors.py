"""`check --format concise`, and the lines of docs/how-to/editors.md that make editors read it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix.cli.main import main
from tests import reports
from tests.terminals import on_a_terminal

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "editors.md").read_text(encoding="utf-8")
PLACES = [("src/race.cu", 9, 5), ("src/two pairs.cu", 8, 19)]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, data in reports.TREE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[list[str], str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--format", "concise", *options])
    assert ended.value.code == 1
    shown = capsys.readouterr()
    return shown.out.splitlines(), shown.err


def test_each_result_is_a_line_and_the_summary_goes_to_the_side(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, summary = check(capsys)
    pattern = re.compile(r"(src/.+\.cu):\d+:\d+: (?:refused: )?(\w+): .+")
    assert [(found[1], found[2]) for line in lines if (found := pattern.fullmatch(line))] == [
        ("src/assumed.cu", "stream_ordered_pairs"),
        ("src/race.cu", "wait_between_streams"),
        ("src/refused.cu", "free_not_found"),
        ("src/two pairs.cu", "stream_ordered_pairs"),
        ("src/two pairs.cu", "stream_ordered_pairs"),
    ]
    assert len(lines) == 5
    assert summary.startswith("4 allocation sites: ")


def test_quiet_leaves_what_makes_it_fail(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, summary = check(capsys, "-q")
    assert [line.split(": ")[0] for line in lines] == [":".join(map(str, place)) for place in PLACES]
    assert not summary


def test_paths_start_at_the_current_folder(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / ".git").mkdir()
    monkeypatch.chdir(tree / "src")
    assert check(capsys, "-q", "race.cu")[0][0].startswith("race.cu:9:5: ")


def test_a_terminal_gets_colour(tree: Path) -> None:
    assert "\x1b[1mrefused.cu" in on_a_terminal(tree / "src", "check", "--format", "concise", "refused.cu")


def test_the_pattern_for_visual_studio_code_reads_it(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (written,) = (found for found in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) if '"tasks"' in found)
    (task,) = json.loads(written)["tasks"]
    assert task["command"] == "cudafix check -q --format concise"
    found = [re.fullmatch(task["problemMatcher"]["pattern"]["regexp"], line) for line in check(capsys, "-q")[0]]
    assert [(match[1], int(match[2]), int(match[3])) for match in found if match] == PLACES


@pytest.mark.parametrize("editor", ["vim", "nvim"])
def test_the_errorformat_reads_it(editor: str, tree: Path) -> None:
    program = shutil.which(editor)
    if program is None:
        pytest.skip(f"no {editor}")
    written = re.search(r"```vim\n(.*?)```", PAGE, re.DOTALL)
    assert written
    (tree / "setup.vim").write_text(written[1])
    listed = "map(getqflist(), {_, e -> join([e.valid, bufname(e.bufnr), e.lnum, e.col], '|')})"
    steps = ["source setup.vim", "silent make", f"call writefile({listed}, 'listed')", "qa!"]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [program, "-es", "-u", "NONE", "-i", "NONE", *(part for step in steps for part in ("-c", step))]
    subprocess.run(command, cwd=tree, env=environment, timeout=100, check=False, stdin=subprocess.DEVNULL)
    rows = (tree / "listed").read_text().splitlines()
    assert rows == [f"1|{path}|{line}|{column}" for path, line, column in PLACES]
