"""Check functions are told by what they do with the shape of a tuple, not by their name."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from cudafix.frontends.python.checks import NONE, STATUS, Parts, Result, Symbol, returned


def run(code: str, results: int) -> Symbol | None:
    function = cst.parse_module(textwrap.dedent(code)).body[0]
    assert isinstance(function, cst.FunctionDef)
    return returned(function, (Parts((STATUS, *(Result(n) for n in range(results)))),))


BY_LENGTH = """
def check(result):
    if result[0].value:
        raise RuntimeError(f"CUDA error code={result[0].value}({_cudaGetErrorEnum(result[0])})")
    if len(result) == 1:
        return None
    elif len(result) == 2:
        return result[1]
    else:
        return result[1:]
"""
BY_SLICE = """
def cuda_call(call):
    def name(error):
        return cudart.cudaGetErrorName(error)[1]
    err, res = call[0], call[1:]
    if isinstance(err, cuda.CUresult):
        if err != cuda.CUresult.CUDA_SUCCESS:
            raise RuntimeError("Cuda Error: {}".format(err))
    elif isinstance(err, cudart.cudaError_t):
        if err != cudart.cudaError_t.cudaSuccess:
            raise RuntimeError("Cuda Runtime Error: {}".format(err))
    else:
        raise RuntimeError("Unknown error type: {}".format(err))
    if len(res) == 1:
        res = res[0]
    return res
"""
BY_STAR = """
def check(values):
    err, *rest = values
    assert err == 0, err
    return rest[0] if len(rest) == 1 else tuple(rest) if rest else None
"""
WHOLE = """
def check(result):
    if result[0] != cudart.cudaError_t.cudaSuccess:
        print("error", result[0])
        sys.exit(1)
    return result
"""


@pytest.mark.parametrize(
    ("code", "results", "want"),
    [
        (BY_LENGTH, 0, NONE),
        (BY_LENGTH, 1, Result(0)),
        (BY_LENGTH, 2, Parts((Result(0), Result(1)))),
        (BY_SLICE, 0, Parts(())),
        (BY_SLICE, 1, Result(0)),
        (BY_SLICE, 2, Parts((Result(0), Result(1)))),
        (BY_STAR, 1, Result(0)),
        (BY_STAR, 2, Parts((Result(0), Result(1)))),
        (WHOLE, 1, Parts((STATUS, Result(0)))),
    ],
)
def test_what_a_check_returns(code: str, results: int, want: Symbol) -> None:
    assert run(code, results) == want


@pytest.mark.parametrize(
    "code",
    [
        "def f(r):\n    cudart.cudaDeviceReset()\n    return r[1]\n",
        "def f(r):\n    for x in r:\n        print(x)\n",
        "def f(r):\n    keep.append(r[1])\n    return r[1]\n",
        "def f(r):\n    return r[1] if r[0] else r[0]\n",
        "def f(r):\n    if other:\n        return r[1]\n    return None\n",
        "def f(r):\n    raise RuntimeError\n",
        "async def f(r):\n    return r[1]\n",
        "def f():\n    return 1\n",
    ],
)
def test_a_function_that_does_more_is_no_check(code: str) -> None:
    assert run(code, 1) is None
