"""Which files of Python are worth a parse, from their bytes alone."""

from __future__ import annotations

import ast
import re
import warnings

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


def error_of_syntax(data: bytes) -> int | None:
    """The line in which Python itself finds that a file is no Python, 1 if it cannot say; None if it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in strings
        try:
            ast.parse(data)
        except SyntaxError as error:
            return error.lineno or 1
        except (ValueError, RecursionError, MemoryError):
            return 1
    return None


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


_UTF_8 = (b"utf-8", b"utf8", b"ascii", b"us-ascii")
BOM = b"\xef\xbb\xbf"
_LIKE_ASCII = re.compile(rb"latin-?1|l1|iso-?8859-\d+|cp125\d|windows-125\d|koi8-[ru]")  # all begin as ASCII does
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def is_in_another_encoding(data: bytes) -> bool:
    """Whether a file says that it is written in another encoding than UTF-8, and its bytes may mean something else
    there (Python 3.13, 2.1.4).
    """
    shift = len(BOM) if data.startswith(BOM) else 0
    for line in data[shift:].split(b"\n", 2)[:2]:
        coding = _CODING.match(line)
        name = coding[1].lower().replace(b"_", b"-") if coding is not None else b"utf-8"
        if name not in _UTF_8 and not (data.isascii() and _LIKE_ASCII.fullmatch(name)):
            return True
    return False
