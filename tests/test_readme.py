"""The README shows what the program does now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix import cli, codemod, commands
from cudafix.discovery import SUFFIXES
from cudafix.findings import ASSUMPTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_refusal_is_what_check_prints(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"`cudafix check` in `(fixtures/[^`]+)`.*?```\n(.*?)```", README, re.DOTALL)
    assert found
    monkeypatch.chdir(ROOT / found[1])
    with pytest.raises(SystemExit) as ended:
        cli.main(["check"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == found[2]


def test_every_command_and_option_is_in_the_tables() -> None:
    for name, command in commands.cli.commands.items():
        assert re.search(rf"^\| `cudafix {name}[ `]", README, re.MULTILINE)
        for param in command.params:
            for option in param.opts if param.param_type_name == "option" else ():
                assert option in README


def test_every_assumption_is_in_the_table() -> None:
    for name in ASSUMPTIONS:
        assert f"| `{name}` |" in README


def test_links_and_names_exist() -> None:
    for path in re.findall(r"\]\(([^)#]+)\)|`((?:fixtures|docs|benchmarks|cudafix)/[\w./]+)`", README):
        assert (ROOT / (path[0] or path[1]).partition(' "')[0]).exists(), path
    configured = re.search(r"\[tool\.cudafix\.codemods\]\n(\w+) =", README)
    assert configured
    assert configured[1] in codemod.names()


def test_every_yes_beside_other_tools_names_its_test() -> None:
    table = README.partition("## Beside other tools\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert {len(row) for row in rows} == {9}
    for name, own, *_ in rows[2:]:
        named = re.findall(r'\]\((tests/test_\w+\.py) "(test_\w+)"\)', own)
        assert own == "\N{EN DASH}" or named, name
        for path, test in named:
            assert re.search(rf"^def {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), test


def test_what_is_said_of_tools_that_were_not_tried_names_its_source() -> None:
    table = README.partition("## Beside other tools\n")[2].partition("\n## ")[0]
    sources = dict(re.findall(r"^\[([\w-]+)\]: (https://\S+)$", table, re.MULTILINE))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    tools = rows[0]
    for row in rows[2:]:
        for tool in ("SYCLomatic", "OpenRewrite"):
            cell = row[tools.index(tool)]
            assert cell == "\N{EN DASH}" or re.search(r"\]\[[\w-]+\]", cell), (row[0], tool)
    used = set(re.findall(r"\]\[([\w-]+)\]", table))
    assert used == sources.keys()


def test_every_codemod_is_described() -> None:
    for name in codemod.names():
        assert f"`{name}`" in README


def test_every_suffix_is_in_the_list() -> None:
    listed = re.search(r"Sources are the files `([^`]+)`", README)
    assert listed
    assert set(listed[1].split()) == SUFFIXES
