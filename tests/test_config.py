"""The configuration file: what it may say, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix import config
from cudafix.config import Config, ConfigError

NAMES = ["stream_ordered_pairs", "wait_between_streams"]


def load(folder: Path, text: str) -> Config:
    path = folder / "cudafix.toml"
    path.write_text(text)
    return config.load(path, NAMES)


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Config(root=tmp_path)


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[api]]\nname = "take"\neffect = "alloc"\nroles = "new -"\nmemory = "device"\n')
    text = """
        paths = ["src"]
        exclude = ["third_party/"]
        default_stream = "per-thread"
        tables = ["own.toml", { name = "peek", effect = "work", roles = ["r", "stream"] }]
        codemods = { wait_between_streams = false, stream_ordered_pairs = true }
    """
    assert load(tmp_path, text) == Config(
        root=tmp_path,
        paths=("src",),
        exclude=("third_party/",),
        disabled=frozenset(["wait_between_streams"]),
        default_stream="per-thread",
        tables=(
            {"name": "take", "effect": "alloc", "roles": "new -", "memory": "device"},
            {"name": "peek", "effect": "work", "roles": ["r", "stream"]},
        ),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path = []", "unknown key `path`; did you mean `paths`?"),
        ("zzz = 1", "unknown key `zzz`; known: `codemods`, `default_stream`, `exclude`, `paths`, `tables`"),
        ("paths = 'src'", "`paths` must be a list of strings"),
        ("exclude = [1]", "`exclude` must be a list of strings"),
        ("default_stream = 'per-thred'", "unknown value of `default_stream` `per-thred`; did you mean `per-thread`?"),
        ("default_stream = 1", "`default_stream` must be a string"),
        ("codemods = { wait_between_stream = true }", "did you mean `wait_between_streams`?"),
        ("codemods = ['wait_between_streams']", "`codemods` must be a table of names, each `true` or `false`"),
        ("tables = 'own.toml'", "`tables` must be a list of rows and of paths"),
        ("tables = [{ name = 'f', effekt = 'work' }]", "unknown field `effekt`"),
        ("tables = ['nothing.toml']", "nothing.toml: cannot read the configuration: No such file or directory"),
        ("paths = [", "not valid TOML: "),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "cudafix.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        config.load(path, NAMES)


def test_the_nearest_file_upward_governs(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.cudafix]\npaths = ['x']\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert config.find(below) == tmp_path / "pyproject.toml"
    assert config.load(tmp_path / "pyproject.toml", NAMES).paths == ("x",)
    (tmp_path / "a" / "cudafix.toml").write_text("")
    assert config.find(below) == tmp_path / "a" / "cudafix.toml"
