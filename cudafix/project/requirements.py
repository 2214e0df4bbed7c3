"""What the project around a Python file depends on: which package it may import without asking for a new one.

The nearest folder that lists requirements decides, from the file's own up to the repository's or the configuration's:
`pyproject.toml` (`[project]`, its extras, and `[dependency-groups]`), `setup.cfg`, `requirements*.txt` with what they
include, and `environment*.yml` of conda. What cannot be read says nothing.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from cudafix.project.build_files import upward
from cudafix.project.config import Config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# RMM's names on PyPI end in the CUDA release that they are built with (https://docs.rapids.ai/install)
_RMM = re.compile(r"rmm(?:-cu\d+)?")
_NUMBA = frozenset(("numba", "numba-cuda"))
_COMMENT = re.compile(r"(?:^|\s)#.*")  # as pip has it
_INCLUDES = re.compile(r"(?:-r|--requirement)[\s=]+(\S+)")
_CONDA = re.compile(r"(?:[^:\s]*::)?([\w.-]+)")


class _List(NamedTuple):
    """The packages that are installed together; `always` if whoever runs the project has them."""

    always: bool
    names: frozenset[str]


def with_rmm(paths: Iterable[str], config: Config) -> frozenset[str]:
    """The files whose project has RMM wherever it has Numba: RMM is among its requirements, or in each optional list
    (an extra, a group, another file of requirements) that brings Numba.

    Conditional requirements (`rmm-cu13; sys_platform == "linux"`) do not count.
    """
    root = os.path.realpath(config.root)
    return frozenset(path for path in paths if _has_rmm(os.path.realpath(os.path.dirname(path)), root))


def forget() -> None:
    """Look at the disk anew from here on."""
    _has_rmm.cache_clear()


@cache
def _has_rmm(folder: str, root: str) -> bool:
    for each in upward(folder, root):
        lists = list(_lists(each))
        if lists:
            if any(one.always and _is_rmm(one) for one in lists):
                return True
            bring = [one for one in lists if not _NUMBA.isdisjoint(one.names)]
            return bool(bring) and all(map(_is_rmm, bring))
    return False


def _is_rmm(one: _List) -> bool:
    return any(map(_RMM.fullmatch, one.names))


def _lists(folder: str) -> Iterator[_List]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        file = Path(folder, name)
        if name == "pyproject.toml":
            yield from _pyproject(file)
        elif name == "setup.cfg":
            yield from _setup(file)
        elif name.startswith("requirements") and name.endswith(".txt"):
            yield _List(name == "requirements.txt", frozenset(_named(_lines(file, set()))))
        elif name.startswith("environment") and name.endswith((".yml", ".yaml")):
            yield from _environment(file)


def _pyproject(file: Path) -> Iterator[_List]:
    """https://packaging.python.org/specifications/pyproject-toml"""
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    project = _table(said.get("project"))
    if "dependencies" in project:
        yield _List(True, frozenset(_named(_texts(project["dependencies"]))))
    for optional in (project.get("optional-dependencies"), said.get("dependency-groups")):
        for listed in _table(optional).values():
            yield _List(False, frozenset(_named(_texts(listed))))


def _setup(file: Path) -> Iterator[_List]:
    """https://setuptools.pypa.io/en/latest/userguide/declarative_config.html"""
    said = configparser.RawConfigParser()
    try:
        said.read_string(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return
    if said.has_option("options", "install_requires"):
        yield _List(True, frozenset(_named(_split(said.get("options", "install_requires")))))
    if said.has_section("options.extras_require"):
        for _, listed in said.items("options.extras_require"):
            yield _List(False, frozenset(_named(_split(listed))))


def _split(listed: str) -> list[str]:
    return listed.split("\n") if "\n" in listed else listed.split(";")


def _environment(file: Path) -> Iterator[_List]:
    """https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html"""
    import yaml  # only a project with such a file pays for it

    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return
    listed = _table(said).get("dependencies")
    if not isinstance(listed, list):
        return
    found = {match[1].lower() for one in _texts(listed) if (match := _CONDA.match(one.strip()))}
    for one in listed:
        found |= set(_named(_texts(_table(one).get("pip"))))
    yield _List(file.stem == "environment", frozenset(found))


def _lines(file: Path, seen: set[Path]) -> Iterator[str]:
    """https://pip.pypa.io/en/stable/reference/requirements-file-format"""
    if file in seen:
        return
    seen.add(file)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    for line in text.replace("\\\n", " ").split("\n"):
        plain = _COMMENT.sub("", line).strip()
        other = _INCLUDES.fullmatch(plain)
        if other is not None:
            yield from _lines((file.parent / other[1]).resolve(), seen)
        else:
            yield plain.partition(" --")[0]  # hashes


def _named(lines: Iterable[str]) -> Iterator[str]:
    """The packages of requirements that always hold (PEP 508)."""
    for line in lines:
        try:
            found = Requirement(line)
        except InvalidRequirement:
            continue  # an option, a path, an empty line
        if found.marker is None:
            yield canonicalize_name(found.name)


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
