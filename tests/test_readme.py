"""The README shows what the program does now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix import cli, codemod
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
