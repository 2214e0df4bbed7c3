"""`cudafix demo`: what it says of its program is so, and it fits on a screen."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cudafix.cli import demo
from cudafix.cli.main import main
from tests.terminals import on_a_terminal

FIXTURE = Path(__file__).parents[2] / "fixtures/stream_ordered_pairs/pinned_result_is_read_after_the_free"


def plain(path: Path) -> list[str]:
    return [line.partition(" // want")[0] for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a terminal gets, less the colours. The folder holds a program that is none of its business."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "main.cu").write_text("int main() { cudaMalloc(")
    text = on_a_terminal(folder, "demo")
    assert os.listdir(folder) == ["main.cu"]
    assert "\x1b[32m" in text
    return re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r\n", "\n")


def test_the_program_is_one_that_ran_on_a_gpu() -> None:
    assert demo.source().decode().splitlines() == plain(FIXTURE / "before" / "main.cu")


def test_it_names_the_two_operations_that_the_rename_loses(shown: str) -> None:
    assert "    main.cu:42:11: `cudaMemcpyAsync`\n    main.cu:46:5: the host works on it\n" in shown


def test_the_rename_is_the_wrong_rewrite_of_the_fixture() -> None:
    renamed = demo.source()
    for old, new in demo.RENAMED:
        assert old in renamed
        renamed = renamed.replace(old, new)
    added = set(plain(FIXTURE / "wrong" / "bare_rename" / "main.cu")) - set(demo.source().decode().splitlines())
    assert set(renamed.decode().splitlines()) - set(demo.source().decode().splitlines()) <= added


def test_the_change_is_that_of_the_fixture(shown: str) -> None:
    part = shown.partition("3. What cudafix writes\n")[2].partition("\n4. ")[0]
    old, new = (plain(FIXTURE / which / "main.cu") for which in ("before", "after"))
    lines = [line[2:] for line in part.splitlines()]
    assert [line[1:] for line in lines if line[:1] == "-"] == [line for line in old if line not in new]
    assert all(line[1:] in new for line in lines if line[:1] == "+")
    assert "+    CHECK(cudaStreamSynchronize(stream));" in lines


def test_it_gives_the_proof_and_what_to_do_next(shown: str) -> None:
    proof, _, then = shown.partition("4. Why that is right\n")[2].partition("\nNext, ")
    assert "the host waits for `cudaMemcpyAsync` on `stream` (`cudaStreamSynchronize`, inserted)" in proof
    assert "on every path" in proof
    assert re.findall(r"^  (cudafix(?: \w+)?)  ", then, re.MULTILINE) == [name for name, _ in demo.NEXT]


def test_it_fits_on_a_screen(shown: str) -> None:
    lines = shown.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 110


def test_a_pipe_gets_the_same_without_colour(shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo"])
    assert not ended.value.code
    assert capsys.readouterr().out == shown
