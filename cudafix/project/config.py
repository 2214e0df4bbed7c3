"""The configuration: `cudafix.toml`, or `[tool.cudafix]` in `pyproject.toml`.

| key | value | default |
|---|---|---|
| `paths` | files and folders to work on when the command line names none, relative to the file | the current folder |
| `exclude` | patterns in `.gitignore` syntax, relative to the file | none |
| `codemods` | a table of codemod names, each `true` or `false` | all on |
| `default_stream` | how the code is compiled: `"legacy"`, `"per-thread"`, or `"auto"`: as its build says | `"auto"` |
| `tables` | rows of your own, or TOML files with `[[api]]` rows: what calls do that cudafix does not know | none |
| `check_macros` | macros and functions of headers outside the tree that only look at the status they get | none |
| `assume` | a table of assumptions, each `true` or a list of names | none |
| `cuda` | the oldest CUDA that is built with, `"11.0"`: below 11.2 every pair is refused (`old_cuda`) | 11.2 or newer |
| `guard` | below 11.2, each edit stands behind `#if CUDART_VERSION >= 11020`, beside the code as it was | `false` |
| `stream` | in CUDA C++, what a stream is called wherever that means the right one: `"ctx.stream()"` | none |
| `pool_threshold` | what a pool keeps: `"max"`, `"64 MiB"`, `"keep"` (the driver's default: nothing) | `"max"` |
| `pools` | on devices without memory pools: `"required"` (it fails), or `"fallback"` to `cudaMalloc` | `"required"` |
| `wrappers` | your own functions, called instead of the runtime's: a table with `malloc` and `free` | none |
| `pool_setup` | the header whose function sets up pools for all programs, which then include and call it | none |
| `baseline` | the baseline of `check`, relative to the file | none |
| `fail_on` | what makes `check` fail: of `"defects"`, `"churn"`, `"once"`, `"refusals"` | `["defects", "churn"]` |
| `ignore` | tables with `files` (patterns), `names` of codemods and refusals, and the `reason` why they stay | none |
| `overrides` | tables with `files` (patterns), and their `codemods`, `assume`, `default_stream`, `stream` | none |

What a row holds is described in `cudafix.models`::

    [[api]]
    name = "pool_take"
    effect = "alloc"
    roles = "new -"
    memory = "device"
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cudafix.findings import ASSUMPTIONS, Assumption, Runs
from cudafix.models import nearest
from cudafix.project import stream_names
from cudafix.project.ignore import Ignore
from cudafix.project.replaced import Replaced
from cudafix.project.stream_names import StreamText
from cudafix.refusals import REFUSALS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DefaultStream = Literal["legacy", "per-thread", "auto"]
Pools = Literal["required", "fallback"]
FAIL_ON = ("defects", "churn", "once", "refusals")
"""What can make `check` fail. With defects count suppressions that are wrong or not needed."""

_KEYS = (
    "assume", "baseline", "check_macros", "codemods", "cuda", "default_stream", "exclude", "fail_on", "guard",
    "ignore", "overrides", "paths", "pool_setup", "pool_threshold", "pools", "stream", "tables", "wrappers",
)  # fmt: skip
_IGNORE_KEYS = ("files", "names", "reason")
_OVERRIDE_KEYS = ("assume", "codemods", "default_stream", "files", "functions", "stream")
_DEFAULT_STREAMS: tuple[DefaultStream, ...] = ("legacy", "per-thread", "auto")
ASYNC_SINCE = 11, 2
"""The CUDA release that brought `cudaMallocAsync`."""
ALL = 2**64 - 1
"""The release threshold with which a pool keeps all of its memory."""
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class Wrappers(NamedTuple):
    """The qualified names of the functions that are written for `cudaMallocAsync` and `cudaFreeAsync`."""

    malloc: str
    free: str


class ConfigError(Exception):
    """A configuration that cannot be used. The message is one line that starts with the file's path."""


@dataclass(frozen=True)
class Override:
    """What holds for the files that match, in front of what holds for all. `stream` is for some `functions` of them, by
    their names, if there are any.
    """

    files: tuple[str, ...]
    codemods: Mapping[str, bool] = field(default_factory=dict)
    assume: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    default_stream: DefaultStream | None = None
    stream: StreamText | None = None
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ignored:
    """Results that stay in the files that match, and why: for code that takes no comment of ours."""

    files: tuple[str, ...]
    names: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Config:
    """What the analysis is told about the program, and which fixes are wanted.

    `root` is the folder that `exclude`, `overrides` and relative `paths` start from. `tables` holds the user's own API
    rows, as `cudafix.models.load` takes them. `assume` has patterns of subjects (`*` for `true`) by assumption. `only`,
    `unsafe` and `certificates` come from the command line: keep pairs of one kind, take fixes that rest on assumptions,
    and show each proof on one path (the report then takes longer).
    `per_thread`, `perhaps_per_thread`, `unbuilt`, `partly_built` and `to_be_chosen` come from `project.build`: the
    files that are compiled with a default stream for each thread, those of which that is not known, those for which no
    build is found, those whose build includes what is not there, and those for which who starts it may choose. So do
    `include_folders`: for each source that the compilation database names, the folders of its `-I` options, in their
    order; `mentioned_folders`, for each file those that its build names for headers anywhere; and `constants`, for each
    source the macros that its build defines as constants. `replaced` comes from `project.replaced`: headers that may
    stand for those of the system. `rmm` comes from `project.requirements`: the files whose project has RMM. `context`
    comes from `project.context`: the files that are read for what they say to those that were named; nothing is said
    about them, and nothing is written to them.
    """

    root: Path = Path()
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    default_stream: DefaultStream = "auto"
    tables: tuple[Mapping[str, object], ...] = ()
    check_macros: tuple[str, ...] = ()
    assume: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cuda: tuple[int, int] | None = None
    guard: bool = False
    stream: StreamText | None = None
    pool_threshold: int = ALL  # in bytes; 0 is the driver's default
    pool_setup: str | None = None  # a path; in an analysis, as its files are named
    pools: Pools | None = None  # None: nothing is said, which is `required`
    wrappers: Wrappers | None = None
    baseline: str | None = None
    fail_on: frozenset[str] = frozenset(("defects", "churn"))
    ignored: tuple[Ignored, ...] = ()
    overrides: tuple[Override, ...] = ()
    only: Runs | None = None
    unsafe: bool = False
    certificates: bool = False
    per_thread: frozenset[str] = frozenset()
    perhaps_per_thread: frozenset[str] = frozenset()
    unbuilt: frozenset[str] = frozenset()
    partly_built: frozenset[str] = frozenset()
    to_be_chosen: frozenset[str] = frozenset()
    rmm: frozenset[str] = frozenset()
    include_folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    mentioned_folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    replaced: tuple[Replaced, ...] = ()
    constants: tuple[tuple[str, tuple[str, ...]], ...] = ()
    context: frozenset[str] = frozenset()

    @property
    def is_too_old(self) -> bool:
        """Whether the code is also built with a CUDA that has no stream-ordered allocation."""
        return self.cuda is not None and self.cuda < ASYNC_SINCE

    def is_on(self, codemod: str, path: str) -> bool:
        """Whether a codemod is wanted in a file: the last override that names it decides."""
        for override in reversed(self._overrides(path)):
            if codemod in override.codemods:
                return override.codemods[codemod]
        return codemod not in self.disabled

    def is_off_everywhere(self, codemod: str) -> bool:
        """Whether no file wants a codemod."""
        return codemod in self.disabled and not any(each.codemods.get(codemod) for each in self.overrides)

    def asserts(self, assumption: Assumption, path: str) -> bool:
        """Whether an assumption is asserted, for all files or for this one."""
        tables = (self.assume, *(override.assume for override in self._overrides(path)))
        patterns = [pattern for table in tables for pattern in table.get(assumption.name, ())]
        return any(fnmatchcase(assumption.subject, pattern) for pattern in patterns)

    def default_stream_of(self, path: str) -> DefaultStream:
        """How a file is compiled, as far as the configuration says."""
        said = [o.default_stream for o in self._overrides(path) if o.default_stream is not None]
        return said[-1] if said else self.default_stream

    def stream_in(self, path: str, function: str) -> StreamText | None:
        """The expression that is to name the stream in a function, by its qualified name: of several overrides the last
        one, and one for the function in front of one for its file.
        """
        said = self.streams_in(path)
        of_function = [text for names, text in said if any(f"::{function}".endswith(f"::{name}") for name in names)]
        return [self.stream, *(text for names, text in said if not names), *of_function][-1]

    def streams_in(self, path: str) -> list[tuple[tuple[str, ...], StreamText]]:
        """What overrides say of the stream in a file, for some functions of it or, where there are none, for all."""
        return [(o.functions, o.stream) for o in self._overrides(path) if o.stream is not None]

    def ignored_in(self, path: str) -> list[Ignored]:
        """What stays in a file."""
        return [each for each in self.ignored if _matches(str(self.root), each.files, path)]

    def _overrides(self, path: str) -> list[Override]:
        return [o for o in self.overrides if _matches(str(self.root), o.files, path)]


@cache
def _ignore(root: str, patterns: tuple[str, ...]) -> Ignore:
    return Ignore(os.path.realpath(root), patterns)


def _matches(root: str, patterns: tuple[str, ...], path: str) -> bool:
    """Whether patterns select a file: itself, or a folder that it lies in."""
    ignore, real = _ignore(root, patterns), os.path.realpath(path)
    folders = [str(folder) for folder in Path(real).parents]
    return ignore.verdict(real, False) is True or any(ignore.verdict(folder, True) for folder in folders)


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
    if "tool" in data and path.name != "pyproject.toml":
        raise ConfigError(f"{path}: the keys stand here without `tool.cudafix`, which is for `pyproject.toml`")
    return read(path, data, codemods)


def read(path: Path, data: Mapping[str, Any], codemods: Collection[str]) -> Config:
    """The configuration that the keys in `data` are, as of the file at `path`; see `load`."""
    for key in data:
        _known(path, "key", key, _KEYS)
    guard = data.get("guard", False)
    if not isinstance(guard, bool):
        raise ConfigError(f"{path}: `guard` must be `true` or `false`")
    pools = _pools(path, data)
    if pools == "fallback" and guard:
        raise ConfigError(f'{path}: `guard` does not go with `pools = "fallback"`, whose functions name CUDA 11.2')
    if pools == "fallback" and "pool_setup" in data:
        raise ConfigError(
            f'{path}: `pool_setup` does not go with `pools = "fallback"`: its function fails where there are no pools'
        )
    baseline = data.get("baseline")
    if not isinstance(baseline, str | None):
        raise ConfigError(f"{path}: `baseline` must be the path of a file")
    return Config(
        root=path.absolute().parent,
        paths=_strings(path, data, "paths"),
        exclude=_strings(path, data, "exclude"),
        disabled=frozenset(name for name, on in _switches(path, data, codemods).items() if not on),
        default_stream=_default_stream(path, data) or "auto",
        tables=_tables(path, data.get("tables", [])),
        check_macros=_names(path, data, "check_macros"),
        assume=_assume(path, data),
        cuda=_version(path, data.get("cuda")),
        guard=guard,
        stream=_stream(path, data),
        pool_threshold=_threshold(path, data.get("pool_threshold", "max")),
        pool_setup=_header(path, data.get("pool_setup")),
        pools=pools,
        wrappers=_wrappers(path, data.get("wrappers")),
        baseline=baseline,
        fail_on=_fail_on(path, data["fail_on"]) if "fail_on" in data else Config.fail_on,
        ignored=tuple(_ignored(path, each, codemods) for each in _list_of_tables(path, data, "ignore")),
        overrides=tuple(_override(path, each, codemods) for each in _list_of_tables(path, data, "overrides")),
    )


def _list_of_tables(path: Path, data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = data.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise ConfigError(f"{path}: `{key}` must be a list of tables: `[[{key}]]`")
    return tables


def _ignored(path: Path, data: Mapping[str, Any], codemods: Collection[str]) -> Ignored:
    for key in data:
        _known(path, "key of `ignore`", key, _IGNORE_KEYS)
    files, names, reason = _strings(path, data, "files"), _strings(path, data, "names"), data.get("reason")
    if not files or not names:
        raise ConfigError(f"{path}: each of `ignore` needs `files`, a list of patterns, and `names`, a list")
    for name in names:
        _known(path, "codemod or refusal", name, [*codemods, *REFUSALS])
    if not isinstance(reason, str) or not reason.strip():
        raise ConfigError(f"{path}: each of `ignore` needs a `reason`")
    return Ignored(files, names, reason)


def _override(path: Path, data: Mapping[str, Any], codemods: Collection[str]) -> Override:
    for key in data:
        _known(path, "key of `overrides`", key, _OVERRIDE_KEYS)
    files = _strings(path, data, "files")
    if not files:
        raise ConfigError(f"{path}: each of `overrides` needs `files`, a list of patterns")
    functions, stream = _strings(path, data, "functions"), _stream(path, data)
    for name in functions:
        if not re.fullmatch(r"\w+(?:::~?\w+)*", name):
            raise ConfigError(f"{path}: `functions`: `{name}` is no name of a function, as in `Solver::step`")
    if "functions" in data and (not functions or data.keys() != {"files", "functions", "stream"}):
        raise ConfigError(f"{path}: `functions` of `overrides` needs names, and goes with `files` and `stream` alone")
    return Override(
        files, _switches(path, data, codemods), _assume(path, data), _default_stream(path, data), stream, functions
    )


def _switches(path: Path, data: Mapping[str, Any], codemods: Collection[str]) -> dict[str, bool]:
    switches = data.get("codemods", {})
    if not isinstance(switches, dict) or not all(isinstance(on, bool) for on in switches.values()):
        raise ConfigError(f"{path}: `codemods` must be a table of names, each `true` or `false`")
    for name in switches:
        _known(path, "codemod", name, codemods)
    return switches


def _default_stream(path: Path, data: Mapping[str, Any]) -> DefaultStream | None:
    stream = data.get("default_stream")
    if stream is None:
        return None
    if not isinstance(stream, str):
        raise ConfigError(f"{path}: `default_stream` must be a string")
    _known(path, "value of `default_stream`", stream, _DEFAULT_STREAMS)
    return next(each for each in _DEFAULT_STREAMS if each == stream)


def _stream(path: Path, data: Mapping[str, Any]) -> StreamText | None:
    text = data.get("stream")
    if text is None:
        return None
    stream = stream_names.parse(text) if isinstance(text, str) else None
    if stream is None:
        form = 'a name with members, and calls that are given nothing, as in `"ctx.stream()"`'
        raise ConfigError(f"{path}: `stream` must be {form}")
    return stream


def _pools(path: Path, data: Mapping[str, Any]) -> Pools | None:
    pools = data.get("pools")
    if pools is None or pools == "required" or pools == "fallback":
        found: Pools | None = pools
        return found
    raise ConfigError(f'{path}: `pools` must be `"required"` or `"fallback"`')


def _wrappers(path: Path, value: object) -> Wrappers | None:
    if value is None:
        return None
    names = (value.get("malloc"), value.get("free")) if isinstance(value, dict) and len(value) == 2 else (None, None)
    if not all(isinstance(name, str) and _QUALIFIED.fullmatch(name) for name in names):
        form = '{ malloc = "mem::allocate", free = "mem::release" }'
        raise ConfigError(f"{path}: `wrappers` must be a table of two names of functions, as in `{form}`")
    return Wrappers(*map(str, names))


def _assume(path: Path, data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    table = data.get("assume", {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `assume` must be a table of assumptions, each `true` or a list of subjects")
    found: dict[str, tuple[str, ...]] = {}
    for name, value in table.items():
        _known(path, "assumption", name, ASSUMPTIONS)
        if value is True:
            found[name] = ("*",)
        elif isinstance(value, list) and all(isinstance(subject, str) for subject in value):
            found[name] = tuple(value)
        elif value is not False:
            raise ConfigError(f"{path}: `assume.{name}` must be `true`, `false` or a list of subjects")
    return found


def _version(path: Path, value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)", value) if isinstance(value, str) else None
    if match is None:
        raise ConfigError(f'{path}: `cuda` must be a version in quotes, as in `cuda = "11.0"`')
    return int(match[1]), int(match[2])


def _threshold(path: Path, value: object) -> int:
    if value in ("max", "keep"):
        return ALL if value == "max" else 0
    match = re.fullmatch(r"([1-9]\d*) ?([KMG]iB|B)", value) if isinstance(value, str) else None
    size = int(match[1]) * _UNITS[match[2]] if match is not None else ALL
    if size >= ALL:
        raise ConfigError(f'{path}: `pool_threshold` must be `"max"`, `"keep"` or a size, as in `"64 MiB"`')
    return size


def _header(path: Path, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigError(f'{path}: `pool_setup` must be the path of a header, as in `"gpu/pool.h"`')
    header = path.absolute().parent / value
    if not header.is_file():
        raise ConfigError(f"{path}: `pool_setup`: {value}: no such file")
    return str(header)


def _fail_on(path: Path, value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f'{path}: `fail_on` must be a list, as in `["defects", "churn"]`')
    for name in value:
        _known(path, "value of `fail_on`", name, FAIL_ON)
    return frozenset(value)


def _names(path: Path, data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = _strings(path, data, key)
    for name in names:
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ConfigError(f"{path}: `{key}`: `{name}` is no name of a macro or a function")
    return names


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
    if name not in right:
        raise ConfigError(f"{path}: unknown {what} `{name}`; {nearest.hint(name, right)}")


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
