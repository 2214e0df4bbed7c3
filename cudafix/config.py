"""The configuration: `cudafix.toml`, or `[tool.cudafix]` in `pyproject.toml`.

| key | value | default |
|---|---|---|
| `paths` | files and folders to work on when the command line names none, relative to the file | the current folder |
| `exclude` | patterns in `.gitignore` syntax, relative to the file | none |
| `codemods` | a table of codemod names, each `true` or `false` | all on |
| `default_stream` | `"legacy"` or `"per-thread"`: how the code is compiled (`nvcc --default-stream`) | `"legacy"` |
| `tables` | your own API rows: a list of rows and of paths of TOML files with `[[api]]` rows | none |

What a row holds is described in `cudafix.models`::

    [[api]]
    name = "pool_take"
    effect = "alloc"
    roles = "new -"
    memory = "device"
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cudafix.findings import Runs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DefaultStream = Literal["legacy", "per-thread"]

_KEYS = ("codemods", "default_stream", "exclude", "paths", "tables")
_DEFAULT_STREAMS: tuple[DefaultStream, ...] = ("legacy", "per-thread")


class ConfigError(Exception):
    """A configuration that cannot be used. The message is one line that starts with the file's path."""


@dataclass(frozen=True)
class Config:
    """What the analysis is told about the program, and which fixes are wanted.

    `root` is the folder that `exclude` and relative `paths` start from. `tables` holds the user's own API rows, as
    `cudafix.models.load` takes them. `only`, `unsafe` and `certificates` come from the command line: keep pairs of one
    kind, take fixes that rest on assumptions, and show each proof on one path (the report then takes longer).
    """

    root: Path = Path()
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    default_stream: DefaultStream = "legacy"
    tables: tuple[Mapping[str, object], ...] = ()
    only: Runs | None = None
    unsafe: bool = False
    certificates: bool = False


def find(start: Path) -> Path | None:
    """The configuration file that governs `start`: the nearest one, upward; `cudafix.toml` wins over `pyproject.toml`.

    A `pyproject.toml` counts only if it has a `[tool.cudafix]` table. Raises `ConfigError` if it cannot be read.
    """
    for folder in (start, *start.parents):
        own = folder / "cudafix.toml"
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and b"cudafix" in _bytes(project) and "cudafix" in _tool(_toml(project)):
            return project
    return None


def load(path: Path, codemods: Collection[str]) -> Config:
    """Read the configuration at `path`; `codemods` are the names that its `codemods` table may hold.

    Raises `ConfigError`: unreadable, broken TOML, an unknown key (with the nearest right one), a value of a wrong type.
    """
    data = _toml(path)
    if path.name == "pyproject.toml":
        data = _tool(data).get("cudafix", {})
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: `tool.cudafix` must be a table")
    for key in data:
        _known(path, "key", key, _KEYS)
    stream = data.get("default_stream", "legacy")
    if not isinstance(stream, str):
        raise ConfigError(f"{path}: `default_stream` must be a string")
    _known(path, "value of `default_stream`", stream, _DEFAULT_STREAMS)
    switches = data.get("codemods", {})
    if not isinstance(switches, dict) or not all(isinstance(on, bool) for on in switches.values()):
        raise ConfigError(f"{path}: `codemods` must be a table of names, each `true` or `false`")
    for name in switches:
        _known(path, "codemod", name, codemods)
    return Config(
        root=path.parent,
        paths=_strings(path, data, "paths"),
        exclude=_strings(path, data, "exclude"),
        disabled=frozenset(name for name, on in switches.items() if not on),
        default_stream="per-thread" if stream == "per-thread" else "legacy",
        tables=_tables(path, data.get("tables", [])),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the configuration: {error.strerror}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(_bytes(path).decode())
        return data
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}".replace("\n", " ")) from None


def _tool(data: dict[str, Any]) -> dict[str, Any]:
    tool = data.get("tool", {})
    return tool if isinstance(tool, dict) else {}


def _known(path: Path, what: str, name: str, right: Collection[str]) -> None:
    if name in right:
        return
    import difflib  # only a mistake pays for its import

    near = difflib.get_close_matches(name, sorted(right), n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else "known: " + ", ".join(f"`{each}`" for each in sorted(right))
    raise ConfigError(f"{path}: unknown {what} `{name}`; {hint}")


def _strings(path: Path, data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: `{key}` must be a list of strings")
    return tuple(value)


def _tables(path: Path, listed: object) -> tuple[Mapping[str, object], ...]:
    wrong = f"{path}: `tables` must be a list of rows and of paths of TOML files with `[[api]]` rows"
    if not isinstance(listed, list):
        raise ConfigError(wrong)
    rows: list[Mapping[str, object]] = []
    for item in listed:
        if isinstance(item, dict):
            rows += _checked(path, [item])
        elif isinstance(item, str):
            own = path.parent / item
            content = _toml(own)
            for key in content:
                _known(own, "key", key, ("api",))
            rows += _checked(own, content.get("api", []))
        else:
            raise ConfigError(wrong)
    return tuple(rows)


def _checked(path: Path, rows: object) -> list[Mapping[str, object]]:
    from cudafix import models  # hundreds of rows that only a user's own row has to be held against

    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path}: `api` must be a list of tables: `[[api]]`")
    try:
        models.load(rows)
    except models.TableError as error:
        raise ConfigError(f"{path}: {error}") from None
    return rows
