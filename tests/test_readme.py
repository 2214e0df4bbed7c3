"""The README shows what the program does now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix import cli, codemod
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
    for name, command in cli.cli.commands.items():
        assert re.search(rf"^\| `cudafix {name}[ `]", README, re.MULTILINE)
        for param in command.params:
            for option in param.opts if param.param_type_name == "option" else ():
                assert option in README


def test_every_assumption_is_in_the_table() -> None:
    for name in ASSUMPTIONS:
        assert f"| `{name}` |" in README


def test_links_and_names_exist() -> None:
    for path in re.findall(r"\]\(([^)#]+)\)|`((?:fixtures|docs|benchmarks|cudafix)/[\w./]+)`", README):
        assert (ROOT / (path[0] or path[1])).exists(), path
    configured = re.search(r"\[tool\.cudafix\.codemods\]\n(\w+) =", README)
    assert configured
    assert configured[1] in codemod.names()


def test_every_yes_beside_other_tools_has_its_test() -> None:
    table = README.partition("## Beside other tools\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert {len(row) for row in rows} == {9}
    for name, own, *_ in rows[2:]:
        assert own == "\N{EN DASH}" or re.search(r"\]\(tests/test_\w+\.py\)", own), name


def test_every_codemod_is_described() -> None:
    for name in codemod.names():
        assert f"`{name}`" in README


def test_every_suffix_is_in_the_list() -> None:
    listed = re.search(r"Sources are the files `([^`]+)`", README)
    assert listed
    assert set(listed[1].split()) == SUFFIXES
