"""Which files of Python are worth a parse, from their bytes alone."""

from __future__ import annotations

import re

NOTEBOOK = ".ipynb"
SUFFIX = (".py", NOTEBOOK)
"""The names of files in Python end in one of these."""
_BINDINGS = re.compile(rb"\b(?:cudaMalloc|cudaFree|cuMemAlloc|cuMemFree)(?:Async)?\b")
PER_THREAD = re.compile(rb"environ.{0,80}PER_THREAD_DEFAULT_STREAM")  # stream 0 is another stream in each thread
_CUPY = re.compile(rb"\.(?:malloc|free)(?:Async)?\s*\(")


def is_candidate(data: bytes) -> bool:
    """Whether a file may allocate or free: by the names of cuda-python, or through CuPy's runtime module."""
    if _BINDINGS.search(data) is not None:
        return True
    return b"cupy" in data and b"runtime" in data and _CUPY.search(data) is not None
