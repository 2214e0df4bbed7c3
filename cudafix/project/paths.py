"""Names of files: what their suffixes say, and how a run names them."""

from __future__ import annotations

import os

SUFFIXES = frozenset((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inl", ".py", ".ipynb"))

HEADERS = (".cuh", ".h", ".hpp", ".inl")


def named(real: str, cwd: str) -> str:
    """How a run in the folder `cwd` names a file, by its real path."""
    return real.removeprefix(cwd.rstrip(os.sep) + os.sep)
