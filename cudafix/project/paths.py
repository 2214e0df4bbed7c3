"""Names of files: what their suffixes say, and how a run names them."""

from __future__ import annotations

import os

HEADERS = (
    *(".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".HPP", ".tcc"),
    *(".cuh", ".inl", ".ipp", ".tpp", ".txx"),
    *(".inc", ".def", ".impl"),
)
"""What headers are named like: to GCC (its manual, "Options Controlling the Kind of Output"), of CUDA, and by custom
those with the definitions of templates, and texts that are only made to be included.
"""

SUFFIXES = frozenset((".cu", ".cpp", ".cc", ".cxx", ".c", *HEADERS, ".py", ".ipynb"))


def named(real: str, cwd: str) -> str:
    """How a run in the folder `cwd` names a file, by its real path."""
    return real.removeprefix(cwd.rstrip(os.sep) + os.sep)
