"""Stands in for `cuda.bindings.nvrtc`: what it compiles is the text itself."""

from __future__ import annotations

import ctypes
import enum
from typing import Any

from tests.late.python.arrays import address_of


class nvrtcResult(enum.IntEnum):
    NVRTC_SUCCESS = 0


OK = nvrtcResult.NVRTC_SUCCESS


def nvrtcCreateProgram(src: bytes, *_: Any) -> tuple[nvrtcResult, bytes]:
    return OK, src if isinstance(src, bytes) else str(src).encode()


def nvrtcCompileProgram(prog: bytes, numOptions: int, options: Any) -> tuple[nvrtcResult]:
    return (OK,)


def nvrtcGetPTXSize(prog: bytes) -> tuple[nvrtcResult, int]:
    return OK, len(prog) + 1


def nvrtcGetPTX(prog: bytes, ptx: Any) -> tuple[nvrtcResult]:
    """Writes into the object itself, even into `bytes`, as the bindings do."""
    text = prog + b"\0"
    at = id(ptx) + bytes.__basicsize__ - 1 if isinstance(ptx, bytes) else address_of(ptx)
    ctypes.memmove(at, text, len(text))
    return (OK,)


nvrtcGetCUBINSize, nvrtcGetCUBIN = nvrtcGetPTXSize, nvrtcGetPTX


def nvrtcDestroyProgram(prog: bytes) -> tuple[nvrtcResult]:
    return (OK,)
