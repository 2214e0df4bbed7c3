"""`--help` of each command: every option in a group, examples that work, the environment variables that count."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cudafix.cli import commands
from cudafix.cli import help as command_help

NAMES = sorted(commands.cli.commands)
CONFIGURATION = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text(encoding="utf-8")


def shown(*arguments: str) -> str:
    run = CliRunner().invoke(commands.cli, [*arguments, "--help"], prog_name="cudafix", terminal_width=80)
    assert run.exit_code == 0
    return run.output


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_in_a_group(name: str) -> None:
    groups = command_help.grouped(commands.cli.commands[name].params)
    assert [option.opts for title, options in groups for option in options if not title] == []


def test_a_group_names_options_that_are_there() -> None:
    known = {name for each in commands.cli.commands.values() for option in each.params for name in option.opts}
    named = [name for _, names in command_help.GROUPS for name in names]
    assert set(named) <= known
    assert len(named) == len(set(named))


def test_each_command_is_in_one_section() -> None:
    assert sorted(name for _, names in command_help.SECTIONS for name in names) == NAMES


def test_the_groups_of_check_stand_in_the_order_in_which_they_are_needed() -> None:
    titles = ["Selection:", "Output:", "Baseline and suppressions:", "Speed:", "Examples:", "Environment:"]
    lines = shown("check").splitlines()
    assert [line for line in lines if line in titles] == titles
    assert lines.index("Selection:") < lines.index(
        "  --unsafe                Also take fixes that rest on a named assumption."
    )


@pytest.mark.parametrize("name", ["", *NAMES])
def test_the_examples_work(name: str) -> None:
    text = shown(*([name] if name else []))
    assert max(map(len, text.splitlines())) <= 80
    for example, what in command_help.EXAMPLES[name]:
        assert example in text
        assert what.split()[0] in text
        program, *words = shlex.split(example.partition(" | ")[0])
        assert program == "cudafix"
        if name:
            assert words[0] == name
        if words:  # raises for what the command does not know
            commands.cli.commands[words[0]].make_context(words[0], words[1:], parent=click.Context(commands.cli))


def test_the_variables_are_those_of_the_configuration_page() -> None:
    assert set(command_help.ENVIRONMENT) <= {"", *NAMES}
    for variable in ("CUDAFIX_CACHE_DIR", "CUDAFIX_STATE_DIR", "NO_COLOR"):
        assert f"| `{variable}` |" in CONFIGURATION
        assert variable in shown()
    assert "CUDA_HOME" in shown("verify")
