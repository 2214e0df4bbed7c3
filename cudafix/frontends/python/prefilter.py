"""Which files of Python are worth a parse, from their bytes alone."""

from __future__ import annotations

import ast
import re

from cudafix import ir

NOTEBOOK = ".ipynb"
SUFFIX = ir.PYTHON
_BINDINGS = re.compile(rb"\b(?:cudaMalloc|cudaFree|cuMemAlloc|cuMemFree)(?:Async)?\b")
_CUPY = re.compile(rb"\.(?:malloc|free)(?:Async)?\s*\(")


def is_candidate(data: bytes) -> bool:
    """Whether a file may allocate or free: by the names of cuda-python, or through CuPy's runtime module."""
    if _BINDINGS.search(data) is not None:
        return True
    return b"cupy" in data and b"runtime" in data and _CUPY.search(data) is not None


# what chooses or ends the memory of arrays
_ARRAYS = re.compile(
    rb"\b(?:set_allocator|using_allocator|(?:Python|C)FunctionAllocator|ctxDestroy|devicePrimaryCtxRelease|"
    rb"free_all_blocks|_malloc|cuda(?:\.memory)?\.Memory)\b|\bimport Memory\b"
)
_FOREIGN = re.compile(rb"\b(?:mem_alloc(?:_pitch|_like)?|to_device|caching_allocator_alloc|CUDAPluggableAllocator)\b")
_OTHERS = re.compile(rb"\b(?:pycuda|torch)\b")
_NUMBA = re.compile(rb"\b(?:device_array(?:_like)?|to_device|cuda\.close|devices\.reset)\s*\(|\.reset\s*\(\s*\)")
_NUMBA_CUDA = re.compile(rb"\bnumba(?:\.cuda\b|[ \t]+import\b.*\bcuda\b)")
_TESTS = re.compile(rb"\b(?:unittest|pytest)\b|TestCase\b")


def uses_arrays(data: bytes) -> bool:
    """Whether a file may choose an allocator for arrays, or make and end what holds them. Tests of a package are left
    out: they try its allocators one by one.
    """
    chooses = b"cupy" in data and _ARRAYS.search(data) is not None
    makes = b"numba" in data and _NUMBA_CUDA.search(data) is not None and _NUMBA.search(data) is not None
    return (chooses or makes) and _TESTS.search(data) is None


def uses_other_memory(data: bytes) -> bool:
    """Whether a file may take memory of a library that has an allocator of its own."""
    return _OTHERS.search(data) is not None and _FOREIGN.search(data) is not None and _TESTS.search(data) is None


def may_be_script(path: str, data: bytes) -> bool:
    """Whether `lower.is_script` may hold: a notebook, or a file that has `__name__` or calls something at its top."""
    if path.endswith(NOTEBOOK) or b"__name__" in data:
        return True
    try:
        module = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # a newer Python, perhaps
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    statements = (statement for statement in module.body if not isinstance(statement, definitions))
    return any(isinstance(node, ast.Call) for statement in statements for node in ast.walk(statement))
