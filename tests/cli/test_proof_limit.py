"""`--proof-limit`: what is proved by then is reported and written, and what is not is named and not remembered."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Report
from cudafix.pipeline.cluster import Cluster
from cudafix.rewrite.certificates import Scenes
from tests.cases import ROOT

CASE = ROOT / "fixtures" / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before"
(SOURCE,) = (path.read_bytes() for path in CASE.glob("*.cu"))
LEFT = "slow.cu: not proved within the time limit of 5 s"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers have to start with what is replaced here")


@pytest.fixture(autouse=True)
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("first.cu", "second.cu", "slow.cu"):
        Path(name).write_bytes(SOURCE)


@pytest.fixture
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Cluster.report

    def slow(self: Cluster) -> tuple[Report, Scenes]:
        if "slow.cu" in self.paths:
            time.sleep(60)
        return report(self)

    monkeypatch.setattr(Cluster, "report", slow)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments])
    return int(ended.value.code or 0)


def looked_at(out: str) -> set[str]:
    return {result["path"] for result in json.loads(out)["results"]}


@pytest.mark.usefixtures("_slow")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_proved_by_then_is_reported_and_the_rest_is_named(
    jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    code = run("check", "--format", "json", "--proof-limit", "5", "--no-cache", "-j", jobs)
    assert time.monotonic() - begun < 50
    out, err = capsys.readouterr()
    found = {result["path"]: result["rule"] for result in json.loads(out)["results"]}
    moves = "stream_ordered_pairs"
    assert (code, found) == (2, {"first.cu": moves, "second.cu": moves, "slow.cu": "budget"})
    assert LEFT in err


def test_the_next_run_goes_on_where_the_time_was_over(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    report = Cluster.report
    with monkeypatch.context() as patched:
        patched.setattr(Cluster, "report", lambda self: time.sleep(60) if "slow.cu" in self.paths else report(self))
        assert run("check", "--format", "json", "--proof-limit", "5", "-j", "1") == 2

    def told(self: Cluster) -> tuple[Report, Scenes]:
        asked.extend(self.paths)
        return report(self)

    monkeypatch.setattr(Cluster, "report", told)
    capsys.readouterr()
    assert run("check", "--format", "json", "-j", "1") == 0
    assert looked_at(capsys.readouterr().out) == {"first.cu", "second.cu", "slow.cu"}
    assert asked == ["slow.cu"]


@pytest.mark.usefixtures("_slow")
def test_fixes_of_what_is_proved_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("apply", "--proof-limit", "5", "--no-cache", "-j", "2") == 2
    assert LEFT in capsys.readouterr().err
    assert {path.name for path in Path().iterdir() if path.read_bytes() == SOURCE} == {"slow.cu"}


def test_a_limit_that_is_not_reached_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for limit in ((), ("--proof-limit", "300")):
        run("check", "--no-cache", "-j", "1", *limit)
        said.append(capsys.readouterr())
    assert said[0] == said[1]


def test_a_shard_has_no_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--shard", "1/2", "--proofs", "proofs", "--proof-limit", "5") == 2
    assert "--proof-limit" in capsys.readouterr().err
