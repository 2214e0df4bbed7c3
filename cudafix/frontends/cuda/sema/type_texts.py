"""Types and names as they are written."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.ir import ENDED
from cudafix.ir.types import Type

_REFER = frozenset(("reference_wrapper", "atomic_ref"))  # [refwrap], [atomics.ref.generic]
WORDS = re.compile(r"\b[A-Za-z_]\w*")
BLANKS = re.compile(rb"\s+")
_BESIDE = re.compile(r" +(?=[^\w ]|$)|(?<=[^\w ]) +|^ +")
_DISAMBIGUATOR = re.compile(r"\btemplate\s+(?!<)")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
WIDE = re.compile(
    r"\b(?:long|size_t|u?int64(?:_t)?|__int64|u?intptr_t|ptrdiff_t|ulong|uint64)\b"
)  # a pointer fits into it


def element_type(kind: str) -> str:
    """A type without its array dimensions, as the IR names it."""
    while kind.endswith("[]"):
        kind = kind[:-2]
    return kind


IN_A_ROW = "{}"


def elements(kind: str) -> tuple[str, str]:
    """The type of the elements of an array or `std::array` and how many there are: `?` if the type does not tell, empty
    for all other types; `{}` of a vector whose elements end where that is lowered: as many as it has.
    """
    of = Type.of(kind)
    if of.marks[-1:] == ("[]",):
        return element_type(kind).rstrip(), "?"
    if of.marks or len(of.arguments) != 2:
        return kind, ""
    if of.library.name == "array":
        return of.arguments
    return (of.arguments[0], IN_A_ROW) if of.arguments[1] == ENDED else (kind, "")


def is_pointer(kind: str) -> bool:
    return Type.of(kind).is_pointer


def pointee(kind: str) -> str:
    """The type of `*x` and `x[i]` for an `x` of this type; empty if it is not known."""
    if kind.endswith("]"):
        return kind[: kind.rindex("[")].rstrip()
    if kind.endswith("*"):
        return kind[:-1].rstrip()
    of = Type.of(kind)
    if of.marks or not of.arguments:
        return ""
    if of.library.pairs:
        return (*of.arguments, "")[1]
    return of.arguments[0].removesuffix("[]").strip() if of.library.is_indexed else ""


@lru_cache(maxsize=1 << 16)
def plain_name(name: str) -> str:
    """A qualified name without its template arguments: `A<T>::f` is `A::f`, and so is `A<T>::template f`."""
    name = _DISAMBIGUATOR.sub("", name)
    while "<" in name and not name.startswith("operator"):
        shorter = _TEMPLATE_ARGUMENTS.sub("", name)
        if shorter == name:
            return name
        name = shorter
    if "operator" in name:
        return name.replace(" ", "")
    return _BESIDE.sub("", name)  # two words are no name, but stand where text is broken: `int main`


def text_of(node: Node, text: bytes) -> str:
    return text[node.start_byte : node.end_byte].decode("utf-8", "replace")


def tidy(node: Node, text: bytes) -> str:
    return BLANKS.sub(b" ", text[node.start_byte : node.end_byte]).decode("utf-8", "replace").strip()


@lru_cache(maxsize=1 << 12)
def keeps_references(kind: str) -> bool:
    """Whether an object of a type keeps references, so that to use it is to use what it refers to."""
    of = Type.of(kind)
    inside = list(of.inside)
    return any(one.is_reference for one in inside) or any(one.last in _REFER for one in (of, *inside))


def may_refer(kind: str) -> bool:
    """Whether a function that returns this type, as written, may return a reference ([dcl.spec.auto])."""
    return kind.endswith(("&", OPEN)) or kind.startswith("decltype")
