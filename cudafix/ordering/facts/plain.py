"""Types that no pointer fits into, as far as their words say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cudafix import ir
from cudafix.ir.types import Type
from cudafix.models import number_types
from cudafix.models.class_templates import OTHER

_WIDTHS = range(32)  # of bit-fields, whose type the front end names like one of the library
NUMBERS = frozenset(
    f"{sign}{kind}".strip()
    for sign in ("", "unsigned ", "signed ")
    for kind in ("", "int", "short", "short int", "char", "float", "double", "bool")
    if sign or kind  # a variable of Python has no type, and may hold anything
) | frozenset(("int32_t", "uint32_t", "uint", "uchar", "ushort", "clock_t"))
NUMBERS |= {f"{sign}int{bits}_t" for sign in ("", "u") for bits in _WIDTHS}
_INTEGER = re.compile(r"(?:0|[1-9]\d*)[uUlL]*")
_ZERO, _ONE = frozenset(("0", "false")), frozenset(("1", "true"))
FLOATING = frozenset(("float", "double", "long double"))
# the last number that every implementation has in a type (C17 5.2.4.2.1)
_LAST = {
    **{f"int{bits}_t": 2 ** max(bits - 1, 0) - 1 for bits in _WIDTHS},
    **{f"uint{bits}_t": 2**bits - 1 for bits in _WIDTHS},
    **dict.fromkeys(("char", "signed char"), 127),
    **dict.fromkeys(("unsigned char", "uchar"), 255),
    **dict.fromkeys(("short", "short int", "signed short", "signed short int"), 32767),
    **dict.fromkeys(("unsigned short", "unsigned short int", "ushort"), 65535),
}
PLAIN = NUMBERS | {"std::string", "string"}
ADDRESS = re.compile(r"\*|\bu?intptr_t\b|\bCUdeviceptr\b")  # in a type: a pointer, or one as a number
VECTORS = frozenset(
    f"{kind}{n}" for kind in ("char", "uchar", "short", "ushort", "int", "uint", "float") for n in "1234"
)


def may_lead(value: ir.Expr | None, function: ir.Function, computed: bool = False) -> bool:
    """Whether a value may be an address, or hold one, by the types as far as they are known. What is computed from
    addresses may be one in disguise, or an object that holds them; `computed`: also where it is not known of a part
    whether it is an address.
    """
    match value:
        case None | ir.Const():
            return False
        case ir.Var(name):  # a reference by its name is an address, what it refers to a `Deref`
            return may_be_array(name, function) or function.types.get(name) not in PLAIN
        case ir.Deref(ir.Var(name) as pointer):
            referred = function.types.get(name, "").removesuffix("&").strip()
            return referred not in PLAIN and not holds_numbers(pointer, function)
        case ir.Index(array):
            return not holds_numbers(array, function)
        case ir.Choice(options):
            return any(may_lead(option, function, computed) for option in options)
        case ir.Opaque(parts) if computed:
            return any(may_lead(part, function, computed) for part in parts)
        case ir.Opaque():
            return is_address(value, function)
        case _:
            return True


def is_address(value: ir.Expr, function: ir.Function) -> bool:
    """Whether a value is an address by its type, or computed from one."""
    match value:
        case ir.Addr() | ir.Offset() | ir.FuncRef():
            return True
        case ir.Var(name):
            return may_be_array(name, function) or ADDRESS.search(function.types.get(name, "")) is not None
        case ir.Index(ir.Var(name)) | ir.Deref(ir.Var(name)):
            kind = function.types.get(name, "")
            return kind.count("*") > 1 or ("*" in kind and (kind.endswith("&") or may_be_array(name, function)))
        case ir.Choice(parts) | ir.Opaque(parts):
            return any(is_address(part, function) for part in parts)
        case _:
            return False


def is_number(place: ir.Expr | None, function: ir.Function) -> bool:
    """Whether a place is a variable that no address fits into."""
    return isinstance(place, ir.Var) and function.types.get(place.name) in NUMBERS


def holds_numbers(array: ir.Expr, function: ir.Function) -> bool:
    """Whether an array, a pointer or a container has numbers as elements, and nothing else."""
    if not isinstance(array, ir.Var):
        return False
    kind = function.types.get(array.name, "")
    if "*" in kind and (kind.endswith("&") or ":" in array.name or may_be_array(array.name, function)):
        return False  # an array of pointers, or it may be one or a reference to one
    return all(one in NUMBERS or one in VECTORS for one in held_in(kind))


@lru_cache(maxsize=1 << 10)
def held_in(kind: str) -> tuple[str, ...]:
    """The types of what a container of the standard library has in it, or of what a pointer leads to, be it a reference
    to one of these; for anything else, its own.
    """
    of = Type.of(kind)
    if not of.is_direct:
        return (of.core,) if of.own_marks == ("*",) else (kind,)
    if of.library is OTHER or not of.arguments:
        return (of.core,)
    inside = map(Type.of, of.arguments[: of.library.made_of])
    return tuple(one.text if one.marks else one.core for one in inside)


def may_be_array(name: str, function: ir.Function) -> bool:
    """Whether a variable is an array that a function declares, or may be one of the function around a lambda."""
    return name in function.arrays or name in function.captures


def is_own_array(place: ir.Expr, function: ir.Function) -> bool:
    """Whether a place is an array that a function declares."""
    return isinstance(place, ir.Var) and place.name in function.arrays


def points_to_bytes(kind: str) -> bool:
    """Whether a type is a pointer to bytes that may be stored through."""
    of = Type.of(kind)
    return of.own_marks == ("*",) and not of.qualified and number_types.is_byte(of.core)


def beside_elements(writes: Sequence[ir.Expr]) -> Iterator[ir.Field]:
    """The members of unions that change because elements of another member are written: `u.bytes[i] = x`."""
    within = [one.base for place in writes for one in ir.variables(place) if isinstance(one, ir.Index)]
    arrays = [one for base in within for one in ir.variables(base) if isinstance(one, ir.Field)]
    for place in writes if arrays else ():
        if isinstance(place, ir.Field) and any(one != place and one.base == place.base for one in arrays):
            yield place


def stored_as_bytes(function: ir.Function) -> frozenset[str]:
    """The variables of a function that are pointers to bytes through which it stores, or hands to somebody who may."""
    names = {name for name, kind in function.types.items() if points_to_bytes(kind) and name not in function.arrays}
    found: set[str] = set()
    for stmt in function.statements if names else ():
        places: list[ir.Expr] = []
        match stmt:
            case ir.HostAccess(_, writes):
                places += writes
            case ir.Assign(target, value):
                places += (target, value)
            case ir.Call():
                places += (*stmt.args, *(() if stmt.result is None else (stmt.result,)))
            case _:
                pass
        for place in places:
            bases = (one.base for one in ir.variables(place) if isinstance(one, ir.Index | ir.Deref | ir.Offset))
            found.update(base.name for base in (*bases, place) if isinstance(base, ir.Var) and base.name in names)
    return frozenset(found)


@lru_cache(maxsize=1 << 10)
def number_type(kind: str) -> str:
    """The type of a number without its qualifiers, and without the atomic object around it; empty for any other."""
    of = Type.of(kind)
    if not of.is_direct:
        return ""
    if of.library.atomic:
        return number_type(of.arguments[0])
    plain = of.core.removeprefix("::").removeprefix("std::")
    plain = {"_Bool": "bool", "atomic_bool": "bool"}.get(plain, plain)
    return plain if plain in NUMBERS else ""


def as_held(text: str, kind: str) -> str | None:
    """The constant that a variable of a type of numbers holds which is given this one; None where that is not known.
    Any number but zero becomes `true`, others lose what does not fit (C++17, 7.8 [conv.integral] 3, 7.10 [conv.fpint],
    7.14 [conv.bool]).
    """
    if kind == "bool":
        if text in _ZERO or text in _ONE:
            return text
        return "1" if _INTEGER.fullmatch(text) else None
    if kind in FLOATING:
        return text
    if text[:1].isdigit() and not _INTEGER.fullmatch(text):
        return None if "." in text else text
    last = _LAST.get(kind)
    return None if last is not None and text.isdigit() and int(text) > last else text


def may_be_handle(kind: str) -> bool:
    """Whether a place of this type can be given as a stream, and not only what is cast to one: neither `void *` nor a
    number is converted to a pointer to a class (C++17, 7.11 [conv.ptr]).
    """
    of = Type.of(kind)
    if of.core == "void":
        return of.own_marks != ("*",)
    return not (of.is_direct and number_types.is_number(of.core))
