"""`check --statistics`, `--quiet`, and the progress bar: what people see of a long migration."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.report import progress
from cudafix.report.selection import select
from cudafix.report.statistics import statistics
from tests import reports

COMMENTED = b'// cudaMallocAsync(&p, 4, 0);\nconst char *s = "cudaMallocAsync(";\n'


def test_the_sites_add_up() -> None:
    tree = {path: COMMENTED + data.removeprefix(b"\xef\xbb\xbf") for path, data in reports.TREE.items()}
    report = driver.analyze(tree, Config())
    found = statistics(tree, report, select(report, Config()))
    assert (found.migrated, found.ready, found.churn, found.assumed, found.refused) == (1, 2, 1, 1, 1)
    assert found.sites == report.sites + 1
    assert [(reason.name, reason.sites, reason.files) for reason in found.reasons] == [("free_not_found", 1, 1)]
    assert found.assumptions[0].details == (("work", 1),)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    for path, data in reports.TREE.items():
        Path(path).write_bytes(data)


def check(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", *arguments])
    return int(ended.value.code or 0), *capfd.readouterr()


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("kind", ["churn", "once"])
def test_what_only_leaves_out_is_counted(capfd: pytest.CaptureFixture[str], kind: str) -> None:
    said = check(capfd, "--only", kind, "--no-cache")[1].splitlines()
    line = next(n for n, text in enumerate(said) if text.startswith("4 allocation sites: "))
    counted = [int(text.split()[0]) for text in said[line + 1 :] if " refused: " in text or " left: " in text]
    assert any(f"left: not `--only {kind}`" in text for text in said)
    assert int(said[line].split(": ")[1].split()[0]) + sum(counted) == 4


@pytest.mark.usefixtures("tree")
def test_the_report_of_a_migration(capfd: pytest.CaptureFixture[str]) -> None:
    assert check(capfd, "--statistics") == (
        1,
        """\
5 allocation sites
     1  20 %  stream-ordered already
     2  40 %  can move now  `cudafix apply`; 1 in a loop, where it pays
     1  20 %  rest on assumptions  assert them, or `--unsafe`
     1  20 %  refused  1 reason

What to assert, most sites first
     1 in 1 file  no_caller_relies_on_waits
            1  work

What stands in the way, most sites first
     1 in 1 file  free_not_found: No path leads from the allocation to a `cudaFree` of its pointer.
            1  no `cudaFree` of it is reached
""",
        "",
    )
    code, out, _ = check(capfd, "--format", "json")
    counts = json.loads(out)["statistics"]
    assert (code, counts["sites"], counts["reasons"][0]["name"]) == (1, 5, "free_not_found")
    assert check(capfd, "--format", "sarif", "--statistics")[0] == 2


@pytest.mark.usefixtures("tree")
def test_quiet_shows_what_fails_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capfd, "-q")
    assert (code, err) == (1, "")
    heads = [line for line in out.splitlines() if line.startswith("src/")]
    assert [line.split(": ")[1] for line in heads] == ["wait_between_streams", "stream_ordered_pairs"]
    assert check(capfd, "-q", "src/refused.cu") == (0, "", "")


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO) -> str:
    monkeypatch.setattr(progress, "_AFTER", 0)
    monkeypatch.setattr(progress, "_EVERY", 0)
    monkeypatch.setattr(sys, "stderr", screen)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    with progress.Bar() as bar:
        driver.analyze(reports.TREE, Config(), progress=bar)
    return screen.getvalue()


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = shown(monkeypatch, _Screen())
    assert "proving" in text
    assert "100 %" in text
    assert text.endswith("\x1b[2K")


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_pipe_and_a_dumb_terminal_get_none(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    monkeypatch.setenv("TERM", term)
    assert shown(monkeypatch, _Screen() if term == "dumb" else io.StringIO()) == ""


def test_progress_ends_with_all_that_there_is_to_do_in_processes_too() -> None:
    large = b"//" + b"x" * 60_000
    tree = {f"{n}/{path}": data + large for path, data in reports.TREE.items() for n in (1, 2)}
    for jobs in (1, 2):
        steps: list[tuple[int, int]] = []
        driver.analyze(tree, Config(), jobs, progress=lambda done, total, to=steps: to.append((done, total)))  # type: ignore[misc]
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1] > 0
