"""Types and names as they are written."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.ir import ENDED, template_arguments

WORDS = re.compile(r"\b[A-Za-z_]\w*")
_STD_ARRAY = re.compile(r"(?:std::)?array\s*<(.*),([^,<>]*)>")
_HOLDERS = tuple(
    f"{name}<"
    for name in (
        "std::vector vector thrust::host_vector std::array std::unique_ptr std::shared_ptr std::span std::optional"
    ).split()
)
_MAP = re.compile(r"std::(?:unordered_)?map\s*<")
BLANKS = re.compile(rb"\s+")
_BESIDE = re.compile(r" +(?=[^\w ]|$)|(?<=[^\w ]) +|^ +")
_DISAMBIGUATOR = re.compile(r"\btemplate\s+(?!<)")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
WIDE = re.compile(
    r"\b(?:long|size_t|u?int64(?:_t)?|__int64|u?intptr_t|ptrdiff_t|ulong|uint64)\b"
)  # a pointer fits into it
SPECIFIERS = re.compile(r"^(?:(?:typename|struct|class|const|volatile)\s+)+")


def element_type(kind: str) -> str:
    """A type without its array dimensions, as the IR names it."""
    while kind.endswith("[]"):
        kind = kind[:-2]
    return kind


IN_A_ROW = "{}"
_ROW, _ENDED = "std::vector<", f", {ENDED}>"


def elements(kind: str) -> tuple[str, str]:
    """The type of the elements of an array or `std::array` and how many there are: `?` if the type does not tell, empty
    for all other types; `{}` of a vector whose elements end where that is lowered: as many as it has.
    """
    if kind.endswith("]"):
        return element_type(kind).rstrip(), "?"
    if found := _STD_ARRAY.fullmatch(kind):
        return found.group(1).strip(), found.group(2).strip()
    if kind.endswith(_ENDED) and kind.startswith(_ROW):
        return kind[len(_ROW) : -len(_ENDED)], IN_A_ROW
    return kind, ""


def is_pointer(kind: str) -> bool:
    return kind.endswith(("*", "]"))


def pointee(kind: str) -> str:
    """The type of `*x` and `x[i]` for an `x` of this type; empty if it is not known."""
    if kind.endswith("]"):
        return kind[: kind.rindex("[")].rstrip()
    if kind.endswith("*"):
        return kind[:-1].rstrip()
    if _MAP.match(kind):
        return second_argument(kind)
    if kind.startswith(_HOLDERS) and kind.endswith(">"):
        return template_arguments(kind)[0].removesuffix("[]").strip()
    return ""


def second_argument(kind: str) -> str:
    """The second template argument of a type as written; empty if it has only one."""
    return (*template_arguments(kind), "", "")[1]


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


def may_refer(kind: str) -> bool:
    """Whether a function that returns this type, as written, may return a reference ([dcl.spec.auto])."""
    return kind.endswith(("&", OPEN)) or kind.startswith("decltype")
