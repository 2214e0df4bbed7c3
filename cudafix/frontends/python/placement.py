"""Where a statement may be added at the top of a file, and under which names."""

from __future__ import annotations

import sys
from typing import NamedTuple

import libcst as cst

from cudafix.findings import Edit
from cudafix.frontends.python.names import bindings_of, canonical
from cudafix.frontends.python.uses import File
from cudafix.models.python import HOST_PACKAGES


class Top(NamedTuple):
    """A place at the top of a file, at the end of a line. `line` is the offset of that end."""

    path: str
    line: int
    newline: str

    def insert(self, *lines: str) -> Edit:
        """The lines behind it."""
        return Edit(self.path, self.line, self.line, "".join(self.newline + line for line in lines).encode())


def name_of_module(file: File, dotted: str) -> str | None:
    """A name that means a module everywhere in a file: imported at its top, and assigned nowhere."""
    top = bindings_of(file.source.module)
    for name, meant in top.imports.items():
        if set(map(canonical, meant)) == {dotted} and not top.assigned[name]:
            return name
    return None


def fresh_name(file: File, wanted: str) -> str:
    """A name that the file does not have."""
    while wanted in file.names or wanted in bindings_of(file.source.module).imports:
        wanted += "_"
    return wanted


def behind_imports(file: File, name: str) -> Top | None:
    """Behind the imports at the beginning of a file, once `name` is imported and before anything may use the device.

    None where the import stands in a `try` or another compound statement, or behind such a call.
    """
    found: cst.SimpleStatementLine | None = None
    bound = False
    for statement in file.source.module.body:
        if isinstance(statement, cst.SimpleStatementLine) and all(
            isinstance(one, cst.Import | cst.ImportFrom) for one in statement.body
        ):
            found = statement
            bound = bound or name in bindings_of(statement).imports
        elif bound or not _is_harmless(file, statement):
            break
    if found is None or not bound:
        return None
    data = file.source.data
    end = file.source.span(found.body[-1]).end
    at = data.find(b"\n", end)
    at = len(data) if at < 0 else at - (data[at - 1 : at] == b"\r")
    return Top(file.path, at, file.source.module.default_newline)


def is_harmless(name: str) -> bool:
    """Whether a function with this full name works on the host only."""
    root = name.split(".")[0]
    if root == "builtins":
        return name not in ("builtins.exec", "builtins.eval", "builtins.__import__")
    return root in sys.stdlib_module_names or root in HOST_PACKAGES


def _is_harmless(file: File, statement: cst.CSTNode) -> bool:
    """Whether a statement at the top calls nothing that may use the device."""
    span = file.source.span(statement)
    calls = (use for use in file.uses if not use.function and span.start <= use.site.span.start < span.end)
    return all(is_harmless(use.name) and not use.own for use in calls)
