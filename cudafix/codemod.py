"""What a codemod declares about itself, and how codemods are found."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

from cudafix.findings import Safety


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
    package = importlib.import_module("cudafix.codemods")
    return sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_"))


def module(name: str) -> ModuleType:
    """The module of the codemod `name`."""
    return importlib.import_module(f"cudafix.codemods.{name}")


def codemods() -> dict[str, Codemod]:
    """The declarations of all codemods, by name, in alphabetical order.

    Raises `TypeError` for a module without a declaration, or with one of another name.
    """
    found = {}
    for name in names():
        declared = getattr(module(name), "CODEMOD", None)
        if not isinstance(declared, Codemod) or declared.name != name:
            raise TypeError(f"codemods/{name}.py must declare `CODEMOD = Codemod(name={name!r}, ...)`")
        found[name] = declared
    return found
