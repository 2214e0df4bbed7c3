"""Types that no pointer fits into, as far as their words say."""

from __future__ import annotations

import re

from cudafix import ir

NUMBERS = frozenset(
    f"{sign}{kind}".strip()
    for sign in ("", "unsigned ", "signed ")
    for kind in ("", "int", "short", "short int", "char", "float", "double", "bool")
    if sign or kind  # a variable of Python has no type, and may hold anything
) | frozenset(("int8_t", "int16_t", "int32_t", "uint8_t", "uint16_t", "uint32_t", "uint", "uchar", "ushort", "clock_t"))
VECTORS = frozenset(
    f"{kind}{n}" for kind in ("char", "uchar", "short", "ushort", "int", "uint", "float") for n in "1234"
)
ONE_NUMBER = re.compile(r"(?:std::)?\w+\s*<\s*([\w ]+?)\s*(?:,[^<>]*)?>")  # a container of one type


def holds_numbers(array: ir.Expr, function: ir.Function) -> bool:
    """Whether a local array, a pointer or a container has numbers as elements, and nothing else."""
    if not isinstance(array, ir.Var) or ":" in array.name:
        return False
    kind = function.types.get(array.name, "")
    if "*" in kind and (kind.endswith("&") or is_own_array(array, function)):
        return False  # an array of pointers, or it may be a reference to one
    plain = kind.removesuffix("&").strip()
    container = ONE_NUMBER.fullmatch(plain)
    element = container[1] if container is not None else plain.removesuffix("*").strip()
    return element.removeprefix("const ") in NUMBERS | VECTORS


def is_own_array(place: ir.Expr, function: ir.Function) -> bool:
    """Whether a place is an array that a function declares."""
    return isinstance(place, ir.Var) and place.name in function.arrays
