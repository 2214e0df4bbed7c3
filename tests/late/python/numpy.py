"""Stands in for NumPy: what host programs of a few arrays need."""

from __future__ import annotations

import builtins
import ctypes
import types
from collections.abc import Callable
from typing import Any

from tests.late.python.arrays import (
    SCALARS,
    Array,
    Host,
    address_of,
    array_of,
    as_dtype,
    as_shape,
    count_of,
    filled,
    flat,
    host_array,
    shape_of,
)

int8, uint8, int16, uint16, int32, uint32, int64, uint64 = (
    SCALARS[name] for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
float32, float64, bool_ = SCALARS["float32"], SCALARS["float64"], SCALARS["bool_"]
intp, intc, single, double = int64, int32, float32, float64
integer, floating = int, float
ndarray, dtype = Array, as_dtype


def empty(shape: Any, dtype: Any = None) -> Host:
    return host_array(as_shape(shape), as_dtype(dtype))


def zeros(shape: Any, dtype: Any = None) -> Host:
    return filled(shape, 0, dtype)


def ones(shape: Any, dtype: Any = None) -> Host:
    return filled(shape, 1, dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> Host:
    return filled(shape, value, dtype if dtype is not None else type(value))


def empty_like(like: Array, dtype: Any = None) -> Host:
    return empty(like.shape, dtype or like.dtype)


def zeros_like(like: Array, dtype: Any = None) -> Host:
    return zeros(like.shape, dtype or like.dtype)


def ones_like(like: Array, dtype: Any = None) -> Host:
    return ones(like.shape, dtype or like.dtype)


def full_like(like: Array, value: Any, dtype: Any = None) -> Host:
    return full(like.shape, value, dtype or like.dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Host:
    if stop is None:
        start, stop = 0, start
    count = builtins.max(0, -int(-(stop - start) // step))
    return array_of([start + at * step for at in range(count)], dtype)


def array(values: Any, dtype: Any = None) -> Host:
    if type(values).__module__.endswith("cupy"):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    made = array_of(values, dtype)
    return made if shape_of(values) else made.view_of(0, (), made.dtype)


def asarray(values: Any, dtype: Any = None) -> Any:
    if isinstance(values, Host) and (dtype is None or values.dtype == as_dtype(dtype)):
        return values
    return array(values, dtype)


ascontiguousarray = asarray


def copyto(to: Array, source: Any) -> None:
    to.assign(source)


def copy(values: Array) -> Any:
    return values.copy()


def array_equal(first: Any, second: Any) -> bool:
    return shape_of(first) == shape_of(second) and list(flat(first)) == list(flat(second))


def allclose(first: Any, second: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    one, two = list(flat(first)), list(flat(second))
    length = builtins.max(len(one), len(two))
    pairs = zip(one * (length // len(one)), two * (length // len(two)), strict=True)
    return builtins.all(builtins.abs(a - b) <= atol + rtol * builtins.abs(b) for a, b in pairs)


def _reduction(operation: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def reduced(values: Any) -> Any:
        return operation(list(flat(values)))

    return reduced


all, any, sum, max, min = (_reduction(each) for each in (builtins.all, builtins.any, builtins.sum, max, min))
prod = _reduction(count_of)


def frombuffer(buffer: Any, dtype: Any = None, count: int = -1, offset: int = 0) -> Host:
    kind = as_dtype(dtype)
    pinned = hasattr(buffer, "mem")  # memory of CuPy
    length = buffer.mem.size if pinned else memoryview(buffer).nbytes
    at = buffer.ptr if pinned else address_of(buffer)
    number = (length - offset) // kind.itemsize if count < 0 else count
    return Host(at + offset, (number,), kind, buffer)


def _as_array(of: Any, shape: Any = None) -> Host:
    if isinstance(of, ctypes._Pointer):
        kind, at = type(of)._type_, ctypes.cast(of, ctypes.c_void_p).value or 0
    else:
        kind, at, shape = type(of)._type_, ctypes.addressof(of), (len(of),)
    return Host(at, as_shape(shape), as_dtype(kind), of)


ctypeslib = types.SimpleNamespace(as_array=_as_array)


def _assert_equal(first: Any, second: Any, *_: Any, **__: Any) -> None:
    assert list(flat(first)) == list(flat(second)), f"{first} != {second}"


def _assert_close(first: Any, second: Any, *_: Any, **__: Any) -> None:
    assert allclose(first, second), f"{first} != {second}"


testing = types.SimpleNamespace(
    assert_array_equal=_assert_equal, assert_equal=_assert_equal, assert_allclose=_assert_close
)
