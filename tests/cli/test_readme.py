"""The README, and the pages that it was, show what the program does now."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix import codemod
from cudafix.cli import commands
from cudafix.cli import main as cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OTHER_TOOLS = (ROOT / "docs" / "evidence" / "other-tools.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 250


def test_the_refusal_is_what_check_prints(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"`cudafix check` in `(fixtures/[^`]+)`.*?```\n(.*?)```", README, re.DOTALL)
    assert found
    monkeypatch.chdir(ROOT / found[1])
    with pytest.raises(SystemExit) as ended:
        cli.main(["check"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == found[2]


def test_the_diff_is_that_of_the_fixture() -> None:
    found = re.search(r"\(`(fixtures/[^`]+)`\):\n\n```diff\n(.*?)```", README, re.DOTALL)
    assert found
    old, new = ((ROOT / found[1] / which / "main.cu").read_text().splitlines() for which in ("before", "after"))
    plain = [[line.partition(" // want")[0] for line in lines] for lines in (old, new)]
    for line in found[2].splitlines():
        assert line[:1] == "+" or line[1:] in plain[0], line
        assert line[:1] == "-" or line[1:] in plain[1], line


def test_the_figures_of_the_results_stand_in_the_pages_that_they_link_to() -> None:
    table = README.partition("## Results\n")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| .*$", table, re.MULTILINE)[1:]:
        (link,) = re.findall(r"\]\(([^)#]+)", row)
        page = (ROOT / link).read_text(encoding="utf-8")
        for figure in re.findall(r"\d+\.\d+", row):
            assert figure in page, figure


def test_every_command_is_in_the_table() -> None:
    table = README.partition("| command |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`cudafix (\w+)", table)) == sorted(commands.cli.commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?(?: "[^"]*")?\)', text):
        generated = re.search(r"reference/(?:codemods|refusals)/(\w+)\.md$|^(?:codemods|refusals)/(\w+)\.md$", link)
        assert ":" in link or generated or (page.parent / link).exists(), link
    for name in re.findall(r"`((?:fixtures|docs|benchmarks|cudafix|tests)/[\w./]+)`", text):
        assert (ROOT / name).exists() or "NAME" in name, name


def test_the_configuration_that_is_shown_names_codemods() -> None:
    text = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    configured = re.search(r"\[tool\.cudafix\.codemods\]\n(\w+) =", text)
    assert configured
    assert configured[1] in codemod.names()


def test_the_commands_of_the_tutorial_do_what_it_says(tmp_path: Path) -> None:
    text = (
        (ROOT / "docs" / "start" / "tutorial.md")
        .read_text(encoding="utf-8")
        .replace("../cudafix-tutorial", str(tmp_path / "t"))
    )
    commands_of = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(commands_of) == 7
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    script = "\n".join(f"echo '### {n}'\n{lines}" for n, lines in enumerate(commands_of[:-1]))
    command = [shutil.which("bash") or "bash", "-c", script]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    said = run.stdout.split("### ")[1:]
    assert "stream_ordered_pairs" in said[1]
    assert "+    CHECK(cudaStreamSynchronize(stream));" in said[2]
    assert (tmp_path / "t" / "review.html").is_file()
    assert "+    CHECK(cudaFreeAsync(d_v, stream));" in said[4]
    assert "cudaFreeAsync" in (tmp_path / "t" / "main.cu").read_text()
    assert "refused: needs_device_sync" in said[5]


def test_every_yes_beside_other_tools_names_its_test() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in OTHER_TOOLS.splitlines() if line[:1] == "|"]
    assert len(rows) > 10
    assert {len(row) for row in rows} == {9}
    for name, own, *_ in rows[2:]:
        named = re.findall(r'\]\(\.\./\.\./(tests/\w+/test_\w+\.py) "(test_\w+)"\)', own)
        assert own == "\N{EN DASH}" or named, name
        for path, test in named:
            assert re.search(rf"^def {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), test


def test_what_is_said_of_tools_that_were_not_tried_names_its_source() -> None:
    sources = dict(re.findall(r"^\[([\w-]+)\]: (https://\S+)$", OTHER_TOOLS, re.MULTILINE))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in OTHER_TOOLS.splitlines() if line[:1] == "|"]
    tools = rows[0]
    for row in rows[2:]:
        for tool in ("SYCLomatic", "OpenRewrite"):
            cell = row[tools.index(tool)]
            assert cell == "\N{EN DASH}" or re.search(r"\]\[[\w-]+\]", cell), (row[0], tool)
    used = set(re.findall(r"\]\[([\w-]+)\]", OTHER_TOOLS))
    assert used == sources.keys()
