"""The configuration: `cudafix.toml`, or `[tool.cudafix]` in `pyproject.toml`.

| key | value | default |
|---|---|---|
| `paths` | files and folders to work on when the command line names none, relative to the file | the current folder |
| `exclude` | patterns in `.gitignore` syntax, relative to the file | none |
| `codemods` | a table of codemod names, each `true` or `false` | all on |
| `default_stream` | `"legacy"` or `"per-thread"`: how the code is compiled (`nvcc --default-stream`) | `"legacy"` |
| `tables` | a list of your own API tables: paths of TOML files, or tables written in place | none |

An API table maps a function's name to a row of `cudafix.models.api.Api`, enumerators by their values::

    [pool_take]
    effect = "alloc"
    roles = ["new", "-"]
    memory = "device"
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from cudafix.findings import Runs
from cudafix.models.api import Api, Effect, Waits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DefaultStream = Literal["legacy", "per-thread"]

_KEYS = ("codemods", "default_stream", "exclude", "paths", "tables")
_DEFAULT_STREAMS: tuple[DefaultStream, ...] = ("legacy", "per-thread")
_OBJECTS = ("stream", "event", "handle", "pool", "graph")
_ROLES = frozenset(
    (
        "r",
        "w",
        "rw",
        "hr",
        "hw",
        "hrw",
        "new",
        "free",
        "out",
        "alias",
        "of",
        "kind",
        "flags",
        "device",
        "fn",
        "params",
        "-",
    )
    + _OBJECTS
    + tuple(f"{role}_out" for role in _OBJECTS)
)
_MEMORY = ("array", "async", "device", "host", "managed", "mapped", "pinned", "pitched")
_API_FIELDS = {f.name: f for f in dataclasses.fields(Api)}


class ConfigError(Exception):
    """A configuration that cannot be used. The message is one line that starts with the file's path."""


@dataclass(frozen=True)
class Config:
    """What the analysis is told about the program, and which fixes are wanted.

    `root` is the folder that `exclude` and relative `paths` start from. `apis` holds the rows of all `tables`, by
    function name. `only` and `unsafe` come from the command line: keep pairs of one kind, and take fixes that rest on
    assumptions.
    """

    root: Path = Path()
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    default_stream: DefaultStream = "legacy"
    apis: Mapping[str, Api] = field(default_factory=dict)
    only: Runs | None = None
    unsafe: bool = False


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
        apis=_apis(path, data.get("tables", [])),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the configuration: {error.strerror}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_bytes(path).decode())
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


def _apis(path: Path, tables: object) -> dict[str, Api]:
    if not isinstance(tables, list):
        raise ConfigError(f"{path}: `tables` must be a list of paths and tables")
    rows: dict[str, Api] = {}
    for table in tables:
        if isinstance(table, str):
            source, content = path.parent / table, _toml(path.parent / table)
        elif isinstance(table, dict):
            source, content = path, table
        else:
            raise ConfigError(f"{path}: `tables` must be a list of paths and tables")
        for name, row in content.items():
            rows[name] = _api(source, name, row)
    return rows


def _api(path: Path, name: str, row: object) -> Api:
    if not isinstance(row, dict) or "effect" not in row:
        raise ConfigError(f"{path}: `{name}` must be a table with an `effect`")
    values: dict[str, Any] = {}
    for key, value in row.items():
        _known(path, f"field of `{name}`", key, _API_FIELDS)
        values[key] = _api_value(path, f"{name}.{key}", key, value)
    return Api(**values)


def _api_value(path: Path, where: str, key: str, value: object) -> object:
    enums: dict[str, type[Enum]] = {"effect": Effect, "waits": Waits}
    if key == "roles":
        if not isinstance(value, list) or not all(isinstance(role, str) for role in value):
            raise ConfigError(f"{path}: `{where}` must be a list of strings")
        for role in value:
            _known(path, f"role in `{where}`", role.removesuffix("*"), _ROLES)
        return tuple(value)
    expected = bool if key in ("sync", "looks") else str
    if not isinstance(value, expected):
        raise ConfigError(f"{path}: `{where}` must be a {'boolean' if expected is bool else 'string'}")
    if key in enums:
        _known(path, f"value of `{where}`", str(value), [str(each.value) for each in enums[key]])
        return enums[key](value)
    if key == "memory":
        _known(path, f"value of `{where}`", str(value), _MEMORY)
    return value
