"""Fixtures as data: what stands in a folder with a `case.toml`, and nothing about how it is checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cudafix.project import config
from cudafix.project.config import Config
from cudafix.project.paths import SUFFIXES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Files = Mapping[str, bytes]
"""The text of one variant: file name relative to the variant's folder (POSIX separators) to its bytes."""

MAIN = "main.py"
"""The file that a case in Python runs."""

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
"""Files that are compiled; the others are included by them."""

UNREAD = ".inc"
"""In the name of a text that stands for a library of which nobody but the compiler has the text."""

_KEYS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "": {"why": str, "expect": str, "build": dict, "run": dict, "settings": dict, "wrong": dict},
    "build": {"flags": list, "sources": list, "compiles_before": bool},
    "run": {"args": list, "exit": int, "compare": str, "leaks": bool, "races_before": bool},
    "wrong": {"why": str, "gpu_shows": (bool, str)},
}
_WANT = re.compile(rb'(?://|/\*|#)\s*want((?:\s+"[^"\n]*")+)')
_QUOTED = re.compile(rb'"([^"\n]*)"')


class CaseError(Exception):
    """A fixture that breaks the conventions of its folder; the message names the case and the fault."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A plausible bad rewrite. `gpu_shows`: does a run on a GPU reveal it? True, False or "maybe" (luck)."""

    name: str
    why: str
    gpu_shows: bool | str


@dataclass(frozen=True, slots=True)
class Want:
    """A report line that `before/` asks for: at this line (1-based), containing this text."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture folder. `exit` is the exit code of before and after; the other fields are the keys of `case.toml`.

    `sources` are the files that are linked to the program that runs: all, unless others stand beside it. `settings` is
    what the configuration says that it is migrated with.
    """

    path: Path
    why: str
    expect: str
    flags: tuple[str, ...]
    sources: tuple[str, ...]
    compiles_before: bool
    args: tuple[str, ...]
    exit: int
    compare: str
    leaks: bool
    races_before: bool
    wrong: tuple[Wrong, ...]
    settings: Config = field(default_factory=Config, compare=False)

    @property
    def codemod(self) -> str:
        return self.path.parent.name

    @property
    def id(self) -> str:
        return f"{self.codemod}/{self.path.name}"

    def files(self, variant: str) -> dict[str, bytes]:
        """The files of `before`, `after` or `wrong/<name>`; empty where the folder is absent."""
        folder = self.path / variant
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that exist on disk, `before` first."""
        after = ("after",) if (self.path / "after").is_dir() else ()
        return ("before", *after, *(f"wrong/{wrong.name}" for wrong in self.wrong))

    @property
    def is_python(self) -> bool:
        """Whether the case is a Python program: it is not built."""
        return (self.path / "before" / MAIN).is_file()

    def compiles(self, variant: str) -> bool:
        """Whether this variant is valid CUDA; only a defect that is an error of the language makes `before` invalid."""
        return variant != "before" or self.compiles_before

    @property
    def config(self) -> Config:
        """How the program is compiled and migrated, as a configuration of cudafix."""
        words = " ".join(self.flags).replace("=", " ")
        per_thread = "default-stream per-thread" in words
        return replace(self.settings, default_stream="per-thread" if per_thread else "legacy")

    def wants(self) -> list[Want]:
        found: list[Want] = []
        for path, data in self.files("before").items():
            if path.endswith(".ipynb"):
                data = data.replace(b'\\"', b'"')  # a comment inside a string of the JSON
            for number, line in enumerate(data.splitlines(), start=1):
                for comment in _WANT.finditer(line):
                    texts = _QUOTED.findall(comment.group(1))
                    found.extend(Want(path, number, text.decode()) for text in texts)
        return found


def _checked(table: object, kind: str, where: str) -> dict[str, Any]:
    """`table` with its keys and types checked against `_KEYS[kind]`."""
    if not isinstance(table, dict):
        raise CaseError(f"{where}: `{kind}` is not a table")
    for key, value in table.items():
        expected = _KEYS[kind].get(key)
        if expected is None:
            raise CaseError(f"{where}: unknown key `{key}` in [{kind}]" if kind else f"{where}: unknown key `{key}`")
        if not isinstance(value, expected):
            raise CaseError(f"{where}: `{key}` has the wrong type")
    return table


def sources_of(files: Files) -> dict[str, bytes]:
    """The files that cudafix reads of a variant."""
    read = SUFFIXES - {UNREAD}
    return {name: data for name, data in files.items() if Path(name).suffix in read}


def load(path: Path) -> Case:
    """The case in this folder. Raises `CaseError` for an absent, unreadable or ill-formed `case.toml`."""
    where = f"{path.parent.name}/{path.name}"
    try:
        top = _checked(tomllib.loads((path / "case.toml").read_text(encoding="utf-8")), "", where)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CaseError(f"{where}: case.toml: {error}") from error
    build = _checked(top.get("build", {}), "build", where)
    run = _checked(top.get("run", {}), "run", where)
    wrong: list[Wrong] = []
    for name, table in top.get("wrong", {}).items():
        fields = _checked(table, "wrong", where)
        shows = fields.get("gpu_shows", "maybe")
        if not fields.get("why") or (isinstance(shows, str) and shows != "maybe"):
            raise CaseError(f'{where}: [wrong.{name}] needs `why`, and `gpu_shows` true, false or "maybe"')
        wrong.append(Wrong(name, fields["why"], shows))
    if not top.get("why") or top.get("expect") not in ("rewrite", "refuse", "clean"):
        raise CaseError(f'{where}: needs `why`, and `expect` "rewrite", "refuse" or "clean"')
    if run.get("compare", "stdout") not in ("stdout", "none"):
        raise CaseError(f'{where}: `compare` is "stdout" or "none"')
    try:
        settings = config.read(path / "case.toml", top["settings"], ()) if "settings" in top else Config()
    except config.ConfigError as error:
        raise CaseError(f"{where}: [settings]: {error}") from error
    return Case(
        path=path,
        why=top["why"],
        expect=top["expect"],
        flags=tuple(build.get("flags", ())),
        sources=tuple(build.get("sources", ())),
        compiles_before=build.get("compiles_before", True),
        args=tuple(run.get("args", ())),
        exit=run.get("exit", 0),
        compare=run.get("compare", "stdout"),
        leaks=run.get("leaks", False),
        races_before=run.get("races_before", False),
        wrong=tuple(wrong),
        settings=settings,
    )


def below(folder: Path) -> list[Path]:
    """The folders at or below this one that hold a `case.toml`, in the order of their names."""
    return sorted(path.parent for path in folder.rglob("case.toml"))
