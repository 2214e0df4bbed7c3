"""What a codemod declares about itself, and how codemods are found: in `codemods/`, and in other installed packages."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from cudafix.findings import Safety

GROUP = "cudafix.codemods"
"""The entry points that name codemods of other packages: `name = "package.module"`."""


@dataclass(frozen=True)
class Codemod:
    """The declaration at the top of a file in `codemods/`: `CODEMOD = Codemod(...)`.

    `name` is the module's name. `summary` is one line, lower case, no full stop. `safety` is the most that its fixes
    reach: `PROVEN`, or `ASSUMES` if they always name an assumption. `finds_defects` is true for a codemod that also
    reports faults of code which is stream-ordered already.
    """

    name: str
    summary: str
    safety: Safety = Safety.PROVEN
    finds_defects: bool = False


def names() -> list[str]:
    """The names of all codemods, in alphabetical order; imports none of them."""
    return sorted({*_own(), *others()})


def _own() -> list[str]:
    package = importlib.import_module("cudafix.codemods")
    return [info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_")]


@cache
def others() -> Mapping[str, str]:
    """The modules of the codemods that other installed packages have, by name; those of cudafix stay what they are.

    Where no package has one, `importlib.metadata` is not imported: it takes a tenth of the time of a short run.
    """
    folders = (path for path in map(Path, dict.fromkeys(sys.path)) if path.is_dir())
    infos = (info for folder in folders for info in (*folder.glob("*.dist-info"), *folder.glob("*.egg-info")))
    texts = (file.read_bytes() for info in infos if (file := info / "entry_points.txt").is_file())
    if not any(GROUP.encode() in text for text in texts):
        return {}
    from importlib.metadata import entry_points

    own = _own()
    return {point.name: point.value for point in entry_points(group=GROUP) if point.name not in own}


def files() -> list[Path]:
    """The sources of the packages that those codemods are in: what they find depends on these."""
    found: set[Path] = set()
    for value in others().values():
        spec = importlib.util.find_spec(value.partition(".")[0])
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            found.update(Path(folder).rglob("*.py"))
        if spec is not None and spec.origin is not None:
            found.add(Path(spec.origin))
    return sorted(found)


def module(name: str) -> ModuleType:
    """The module of the codemod `name`."""
    return importlib.import_module(others().get(name) or f"cudafix.codemods.{name}")


def codemods() -> dict[str, Codemod]:
    """The declarations of all codemods, by name, in alphabetical order.

    Raises `TypeError` for a module without a declaration, or with one of another name.
    """
    found = {}
    for name in names():
        declared = getattr(module(name), "CODEMOD", None)
        if not isinstance(declared, Codemod) or declared.name != name:
            where = others().get(name) or f"codemods/{name}.py"
            raise TypeError(f"{where} must declare `CODEMOD = Codemod(name={name!r}, ...)`")
        found[name] = declared
    return found
