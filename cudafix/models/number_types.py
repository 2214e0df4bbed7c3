"""Types of numbers by their names: of the language, of CUDA and of its libraries."""

from __future__ import annotations

import re

_NARROW = re.compile(
    r"(?:const )?(?:bool|_Bool|(?:(?:un)?signed )?(?:char|short(?: int)?)|(?:std::)?u?int(?:\d|[12]\d|3[01])_t"
    r"|uchar|ushort)"
)
_NUMBERS = re.compile(
    r"(?:(?:un)?signed|char|short|int|long|bool|float|double|size_t|ssize_t|ptrdiff_t|u?int\d\d?_t|uint|uchar|ushort"
    r"|__int(?:8|16|32|64)|ulong|half|__half|__nv_bfloat16|nv_bfloat16|dim3|std::(?:size_t|ptrdiff_t|u?int(?:8|16|32|64)_t|string)"
    r"|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|clock_t|time_t|unsigned|uint8|uint32|uint64"
    r"|cuComplex|cuDoubleComplex|cufftComplex|cufftDoubleComplex|cudaDeviceProp"
    r"|cv::(?:Vec[2-46][bswifd]|Scalar|(?:Point[23]?|Size2?)[ilfd]?|Rect2?[ifd]?|Range|RotatedRect))"
    r"(?: (?:int|long|char|short|unsigned|double|__int(?:8|16|32|64)))*"
)
_ADDRESSES = re.compile(
    r"(?:std::)?u?intptr_t|CUdeviceptr|(?:std::)?uint64_t|unsigned (?:long(?: long)?|__int64)|ulonglong[1-4]"
)
_FLOATS = re.compile(r"(?:float|double|long double|half|__half|__nv_bfloat16|nv_bfloat16|dim3|(?:float|double)[1-4])")


_BYTES = frozenset(
    "char|signed char|unsigned char|uchar|int8_t|uint8_t|std::int8_t|std::uint8_t|byte|std::byte|BYTE|Byte".split("|")
)


def is_byte(kind: str) -> bool:
    """Whether an object of a type as written is a byte of another one ([basic.lval] 11)."""
    return kind in _BYTES


def is_number(kind: str) -> bool:
    """Whether a type as written is a plain number (or a small value made of numbers): no pointer, handle or status."""
    return _NUMBERS.fullmatch(kind) is not None


def is_narrow(kind: str) -> bool:
    """Whether a type as written is one of numbers that an `int` may lose its value in."""
    return _NARROW.fullmatch(kind) is not None


def is_address_number(kind: str) -> bool:
    """Whether a type as written is an integer that addresses are kept in."""
    return _ADDRESSES.fullmatch(kind) is not None


def is_floating(kind: str) -> bool:
    """Whether a type as written can neither be an index nor a flag."""
    return _FLOATS.fullmatch(kind) is not None
