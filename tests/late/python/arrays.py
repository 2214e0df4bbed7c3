"""Small arrays of one or two dimensions over given memory: what programs need of NumPy, and of arrays on the device."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.late.python.device import the
from tests.late.python.kernels import CTYPES, converted


class DType:
    """The type of the elements."""

    def __init__(self, name: str, code: str) -> None:
        self.name, self.char = name, code
        self.itemsize = ctypes.sizeof(CTYPES[code])
        self.str = f"<{'f' if code in 'fd' else 'u' if code.isupper() else 'i'}{self.itemsize}"
        self.kind = self.str[1]

    @property
    def type(self) -> Scalar:
        return SCALARS[self.name]

    def __call__(self, value: Any) -> Any:
        return SCALARS[self.name](value)

    def __eq__(self, other: object) -> bool:
        return self.char == as_dtype(other).char

    def __hash__(self) -> int:
        return hash(self.char)

    def __repr__(self) -> str:
        return f"dtype('{self.name}')"


class Scalar(type):
    """`int32` and the like: a type of numbers that knows the type of elements."""

    dtype: DType
    itemsize: int
    nbytes: int


DTYPES = {
    name: DType(name, code)
    for name, code in (
        ("int8", "b"),
        ("uint8", "B"),
        ("int16", "h"),
        ("uint16", "H"),
        ("int32", "i"),
        ("uint32", "I"),
        ("int64", "q"),
        ("uint64", "Q"),
        ("float32", "f"),
        ("float64", "d"),
        ("bool_", "?"),
    )
}


def _scalar(dtype: DType) -> Scalar:
    base: Any = float if dtype.kind == "f" else int

    def made(cls: Any, value: Any = 0) -> Any:
        return base.__new__(cls, converted(dtype.char, value))

    def item(self: Any) -> Any:
        return base(self)

    return Scalar(
        dtype.name,
        (base,),
        {"__new__": made, "item": item, "dtype": dtype, "itemsize": dtype.itemsize, "nbytes": dtype.itemsize},
    )


SCALARS: dict[str, Scalar] = {name: _scalar(dtype) for name, dtype in DTYPES.items()}
_BY_CODE = {dtype.char: dtype for dtype in DTYPES.values()}
_BY_CTYPE = {CTYPES[code]: dtype for code, dtype in _BY_CODE.items()}


def as_dtype(given: Any) -> DType:
    if isinstance(given, DType):
        return given
    if isinstance(given, Scalar):
        return given.dtype
    if given is None or given is float:
        return DTYPES["float64"]
    if given is int:
        return DTYPES["int64"]
    if given is bool:
        return DTYPES["bool_"]
    if given in _BY_CTYPE:
        return _BY_CTYPE[given]
    for dtype in DTYPES.values():
        if given in (dtype.name, dtype.str, dtype.str[1:], dtype.char):
            return dtype
    raise TypeError(f"dtype {given!r}")


def as_shape(given: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in given) if isinstance(given, (tuple, list)) else (int(given),)


def count_of(shape: Sequence[int]) -> int:
    count = 1
    for each in shape:
        count *= each
    return count


def flat(values: Any) -> Iterator[Any]:
    """The numbers of nested sequences."""
    if isinstance(values, Array):
        yield from values.values()
    elif isinstance(values, (list, tuple, range)):
        for each in values:
            yield from flat(each)
    else:
        yield values


def shape_of(values: Any) -> tuple[int, ...]:
    if isinstance(values, Array):
        return values.shape
    if isinstance(values, (list, tuple, range)):
        return (len(values), *(shape_of(values[0]) if len(values) else ()))
    return ()


class _Address:
    """`array.ctypes`."""

    def __init__(self, array: Array) -> None:
        self.data = array.address
        self.array = array

    def data_as(self, kind: Any) -> Any:
        made = ctypes.cast(self.data, kind)
        made._array = self.array
        return made


class Array:
    """Contiguous elements at an address. `base` keeps the memory."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: DType, base: object) -> None:
        self.address, self.shape, self.dtype, self.base = address, shape, dtype, base
        self.size = count_of(shape)
        self.itemsize = dtype.itemsize
        self.nbytes = self.size * self.itemsize
        self.ndim = len(shape)

    # How the elements are reached; arrays on the device do it in other ways.

    def _elements(self) -> Any:
        return (CTYPES[self.dtype.char] * self.size).from_address(self.address)

    def values(self) -> list[Any]:
        return list(self._elements())

    def store(self, values: Sequence[Any]) -> None:
        elements = self._elements()
        for at in range(self.size):
            elements[at] = converted(self.dtype.char, values[at]) if self.dtype.char != "?" else bool(values[at])

    def like(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """New memory of the same sort."""
        return host_array(shape, dtype)

    def computed(self, shape: tuple[int, ...], dtype: DType, function: Callable[..., Sequence[Any]], *of: Any) -> Any:
        """A new array of what `function` makes of the arrays and numbers `of`."""
        made = self.like(shape, dtype)
        made.store(function(*of))
        return made

    # What all have in common

    @property
    def ctypes(self) -> _Address:
        return _Address(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": self.shape, "typestr": self.dtype.str, "version": 3}

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    def part(self, key: Any) -> tuple[int, tuple[int, ...]]:
        """Where the elements of an index or a slice begin, and their shape."""
        keys = key if isinstance(key, tuple) else (key,)
        if keys in ((Ellipsis,), ()):
            return 0, self.shape
        at, shape = 0, self.shape
        for depth, each in enumerate(keys):
            size, *rest = shape
            step = count_of(rest)
            if isinstance(each, slice):
                start, stop, stride = each.indices(size)
                if stride != 1 or any(one != slice(None) for one in keys[depth + 1 :]):
                    raise NotImplementedError("strides")
                return at + start * step, (max(0, stop - start), *rest)
            index = operator.index(each)
            if not -size <= index < size:
                raise IndexError(f"index {index} is out of bounds for size {size}")
            at, shape = at + index % size * step, tuple(rest)
        return at, shape

    def view_of(self, at: int, shape: tuple[int, ...], dtype: DType) -> Any:
        return type(self)(self.address + at * self.itemsize, shape, dtype, self)

    def __getitem__(self, key: Any) -> Any:
        at, shape = self.part(key)
        part = self.view_of(at, shape, self.dtype)
        if shape or self.scalars_are_arrays:
            return part
        return SCALARS[self.dtype.name](part.values()[0]) if self.dtype.char != "?" else part.values()[0]

    scalars_are_arrays = False

    def __setitem__(self, key: Any, value: Any) -> None:
        at, shape = self.part(key)
        part = self.view_of(at, shape, self.dtype)
        part.assign(value)

    def assign(self, value: Any) -> None:
        """Writes all elements."""
        self.store(self.broadcast(value))

    def broadcast(self, value: Any) -> list[Any]:
        given = list(flat(value))
        return given if len(given) == self.size else given * (self.size // max(1, len(given)))

    def _each(self, operation: Callable[[Any, Any], Any], other: Any, kind: str = "") -> Any:
        def values(first: Array, second: Any) -> list[Any]:
            return [operation(a, b) for a, b in zip(first.values(), first.broadcast(second), strict=True)]

        dtype = DTYPES[kind] if kind else self.dtype
        if not kind and self.dtype.kind != "f":
            if isinstance(other, float) or (isinstance(other, Array) and other.dtype.kind == "f"):
                dtype = DTYPES["float64"]
        if isinstance(other, Array) and other.size > self.size:
            return NotImplemented
        return self.computed(self.shape, dtype, values, self, other)

    def _in_place(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        self.assign(self._each(operation, other))
        return self

    def __eq__(self, other: object) -> Any:
        return self._each(operator.eq, other, "bool_")

    def __ne__(self, other: object) -> Any:
        return self._each(operator.ne, other, "bool_")

    __hash__ = None  # type: ignore[assignment]

    def reduced(self, operation: Callable[[Sequence[Any]], Any]) -> Any:
        return operation(self.values())

    def sum(self) -> Any:
        return self.reduced(sum)

    def all(self) -> Any:
        return self.reduced(all)

    def any(self) -> Any:
        return self.reduced(any)

    def min(self) -> Any:
        return self.reduced(min)

    def max(self) -> Any:
        return self.reduced(max)

    def mean(self) -> Any:
        return self.reduced(lambda values: sum(values) / len(values))

    def item(self, at: int = 0) -> Any:
        return self.values()[at]

    def __index__(self) -> int:
        return operator.index(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array is ambiguous")
        return bool(self.item())

    def fill(self, value: Any) -> None:
        self.assign(value)

    def copy(self) -> Any:
        return self.computed(self.shape, self.dtype, Array.values, self)

    def astype(self, dtype: Any) -> Any:
        return self.computed(self.shape, as_dtype(dtype), Array.values, self)

    def view(self, dtype: Any = None) -> Any:
        kind = as_dtype(dtype) if dtype is not None else self.dtype
        return self.view_of(0, (self.nbytes // kind.itemsize,) if dtype is not None else self.shape, kind)

    def reshape(self, *shape: Any) -> Any:
        wanted = as_shape(shape[0] if len(shape) == 1 else shape)
        if -1 in wanted:
            wanted = tuple(self.size // -count_of(wanted) if each == -1 else each for each in wanted)
        return self.view_of(0, wanted, self.dtype)

    def ravel(self) -> Any:
        return self.reshape(self.size)

    flatten = ravel

    def tolist(self) -> Any:
        values = self.values()
        return (
            values if self.ndim == 1 else [values[at : at + self.shape[1]] for at in range(0, self.size, self.shape[1])]
        )

    def tobytes(self) -> bytes:
        return ctypes.string_at(self.address, self.nbytes)

    def __repr__(self) -> str:
        return f"array({self.values()})"

    def __str__(self) -> str:
        return "[" + " ".join(map(str, self.values())) + "]"


def _install(name: str, operation: Callable[[Any, Any], Any], kind: str = "") -> None:
    def forward(self: Array, other: Any) -> Any:
        return self._each(operation, other, kind)

    def backward(self: Array, other: Any) -> Any:
        return self._each(lambda a, b: operation(b, a), other, kind)

    def in_place(self: Array, other: Any) -> Any:
        return self._in_place(operation, other)

    setattr(Array, f"__{name}__", forward)
    if not kind:
        setattr(Array, f"__r{name}__", backward)
        setattr(Array, f"__i{name}__", in_place)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _install(_name, getattr(operator, _name), "float64" if _name == "truediv" else "")
for _name in ("lt", "le", "gt", "ge"):
    _install(_name, getattr(operator, _name), "bool_")
for _name in ("and", "or"):
    _install(_name, getattr(operator, f"{_name}_"))


class Host(Array):
    """An array of NumPy."""


class OnDevice(Array):
    """An array as the device sees it: without its memory, which may be gone."""

    elements: Any = None

    @staticmethod
    def of(thing: Any) -> Any:
        """`thing` for work that is queued; what is no array on the device is itself."""
        return thing.seen_by_the_device() if hasattr(thing, "seen_by_the_device") else thing

    def _elements(self) -> Any:
        if self.elements is None and self.size:
            the.access(self.address, self.nbytes)
            self.elements = super()._elements()
        return self.elements if self.size else ()

    def __getitem__(self, key: Any) -> Any:
        return self._elements()[key] if type(key) is int and self.ndim == 1 and key >= 0 else super().__getitem__(key)

    def like(self, shape: tuple[int, ...], dtype: DType) -> Array:
        return host_array(shape, dtype)


def host_array(shape: tuple[int, ...], dtype: DType) -> Host:
    memory = ctypes.create_string_buffer(max(1, count_of(shape) * dtype.itemsize))
    return Host(ctypes.addressof(memory), shape, dtype, memory)


def filled(shape: Any, value: Any, dtype: Any) -> Host:
    made = host_array(as_shape(shape), as_dtype(dtype))
    made.assign(value)
    return made


def array_of(values: Any, dtype: Any = None) -> Host:
    """A new array with these values."""
    numbers = list(flat(values))
    if dtype is None:
        known = getattr(values, "dtype", None) or getattr(numbers[0] if numbers else 0.0, "dtype", None)
        dtype = known or (float if any(isinstance(each, float) for each in numbers) else int)
    made = host_array(shape_of(values), as_dtype(dtype))
    made.store(numbers)
    return made


def address_of(thing: Any) -> int:
    """What an argument of the bindings that takes memory stands for."""
    if thing is None:
        return 0
    if isinstance(thing, Array):
        return thing.address
    if isinstance(thing, (bytes, bytearray)):
        kept = (
            ctypes.c_char_p(bytes(thing))
            if isinstance(thing, bytes)
            else (ctypes.c_char * len(thing)).from_buffer(thing)
        )
        return ctypes.cast(kept, ctypes.c_void_p).value or 0
    if isinstance(thing, memoryview):
        return ctypes.addressof(ctypes.c_char.from_buffer(thing))
    if isinstance(thing, (ctypes.Array, ctypes.Structure)):
        return ctypes.addressof(thing)
    if isinstance(thing, ctypes._Pointer):
        return ctypes.cast(thing, ctypes.c_void_p).value or 0
    if isinstance(thing, ctypes._SimpleCData):
        return int(thing.value or 0)
    return int(thing)
