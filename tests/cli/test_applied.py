"""What `apply` says: what it did, where that is now, and how many sites stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix.cli.main import main
from tests import reports
from tests.terminals import on_a_terminal


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, data in reports.TREE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def apply(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        main(["apply", *arguments])
    assert not ended.value.code
    shown = capsys.readouterr()
    assert not shown.out
    return shown.err.splitlines()


def test_it_says_what_it_did_and_how_many_stay(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = apply(capsys)
    plain = [re.sub(r":\d+:\d+: ", ": ", line) for line in lines]
    assert plain == [
        "src/race.cu: wait_between_streams: `race<<<…>>>` may run before the allocation `cudaMallocAsync`",
        "  src/race.cu: the allocation `cudaMallocAsync`",
        "src/two pairs.cu: stream_ordered_pairs: moves to stream `0` (once)",
        "src/two pairs.cu: stream_ordered_pairs: moves to stream `0` (churn)",
        "  src/two pairs.cu: freed on `0`",
        "4 allocation sites: 2 rewritten (1 churn, 1 once)",
        "      1 wait_between_streams",
        "2 stay as they are (1 refused, 1 for `--unsafe`); `cudafix check` says why",
        "the new code needs devices with memory pools: `pools` in the configuration settles it",
        *[line for line in plain if "rests on" in line or "rest on" in line],
        "2 files written; `cudafix undo` takes it back",
    ]


def test_the_places_are_those_of_the_new_text(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = re.findall(r"^ *(src/.*?):(\d+):(\d+): (?:stream_ordered|freed)", "\n".join(apply(capsys)), re.MULTILINE)
    words = []
    for path, line, column in places:
        text = (tree / path).read_text(encoding="utf-8-sig").splitlines()[int(line) - 1]
        found = re.match(r"\w+", text[int(column) - 1 :])
        words.append(found and found[0])
    assert words == ["cudaMallocAsync", "cudaMallocAsync", "cudaFreeAsync"]


def test_what_several_fixes_share_moves_a_place_once(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "src" / "two pairs.cu").unlink()
    case = Path(__file__).parents[2] / "fixtures/stream_ordered_pairs/swapped_buffers_move_together/before/main.cu"
    (tree / "swapped.cu").write_bytes(case.read_bytes())
    lines = apply(capsys, "swapped.cu")
    for line in lines[:2]:
        number, column = map(int, line.split(":")[1:3])
        assert (tree / "swapped.cu").read_text().splitlines()[number - 1][column - 1 :].startswith("cudaMallocAsync")


def test_where_nothing_can_move_it_says_how_many_stay(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert apply(capsys, "src/refused.cu") == [
        "1 allocation site: 0 rewritten",
        "1 stays as it is (1 refused); `cudafix check` says why",
    ]


def test_a_terminal_gets_the_same_in_colour(tree: Path) -> None:
    shown = on_a_terminal(tree, "apply", "src/two pairs.cu")
    assert "\x1b[1;32mstream_ordered_pairs\x1b[0m" in shown
    assert "free_not_found" not in shown
