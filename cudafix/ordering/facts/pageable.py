"""Types whose elements lie in pageable memory of their own, as far as their words say.

`malloc` and `new` give pageable memory (CUDA Programming Guide, "Page-Locked Host Memory"), and so do the containers of
the standard library and of Thrust with their default allocators (ISO C++ [container.alloc.reqmts],
[default.allocator]). Where the elements of anything else lie, its type does not say: a view shows those of another
object, and an allocator may pin what it gives.
"""

from __future__ import annotations

import re
from functools import lru_cache

_OPTIONAL = re.compile(r"(?:const )?(?:::)?(?:std::)?optional\s*<(?!.*&\s*>)")
_TEXT = re.compile(r"(?:std::)?(?:string|wstring|u8string|u16string|u32string)")
_ARRAY = re.compile(r"(?:std::)?array\s*<.*>")
_CONTAINER = re.compile(r"(?:(?:std::)?(?:vector|deque|valarray)|thrust::host_vector)\s*<(.*)>", re.DOTALL)
_VIEW = re.compile(r"(?:\w+::)*(?:\w*string_view\b|(?:[sS]pan|mdspan|basic_string_view)\s*<)")
_STANDARD = re.compile(r"std::allocator\s*<.*>", re.DOTALL)
_HOLDER = re.compile(
    r"(?:(?:cuda::)?std::|thrust::)?(?:vector|deque|valarray|array|(?:forward_)?list|(?:unordered_)?(?:multi)?(?:map|set)"
    r"|pair|tuple|optional|variant|(?:unique|shared|weak)_ptr|queue|stack|priority_queue|atomic|complex|bitset|any|string"
    r"|host_vector|device_vector|device_ptr|function|thread|mutex)\b|std::(?:\w+::)*\w+(?![\w:<])"
)
_ELEMENTS = re.compile(
    r"(?:std::|thrust::)?(?:vector|deque|valarray|array|(?:forward_)?list|(?:unordered_)?(?:multi)?(?:map|set)|queue|stack"
    r"|priority_queue|host_vector|initializer_list)\s*<.*>",
    re.DOTALL,
)
_DEDUCED = re.compile(  # class templates of which the arguments are not written ([over.match.class.deduct])
    r"std::(?:vector|deque|valarray|array|(?:forward_)?list|(?:unordered_)?(?:multi)?(?:map|set)|pair|tuple|optional)"
)
_OTHERS = re.compile(r"&|\b(?:reference_wrapper|span|mdspan)\b|_(?:view|iterator)\b")
NAMES = frozenset("vector deque valarray array string wstring u8string u16string u32string".split())
"""What a class of the program may be called, too."""


@lru_cache(maxsize=1 << 10)
def owns_pageable_elements(kind: str) -> bool:
    """Whether `kind` is a container that has its elements in pageable memory of its own."""
    plain = kind.removeprefix("::").removeprefix("const ").strip()
    if _TEXT.fullmatch(plain) or _ARRAY.fullmatch(plain):
        return True
    found = _CONTAINER.fullmatch(plain)
    arguments = _arguments(found[1]) if found is not None else []
    return len(arguments) == 1 or (len(arguments) == 2 and _STANDARD.fullmatch(arguments[1]) is not None)


def element_of(kind: str) -> str:
    """The type of the elements of a container of the standard library, as it is written."""
    return (_arguments(kind.partition("<")[2].rpartition(">")[0]) or [""])[0]


def shows_elements_of_others(kind: str) -> bool:
    """Whether `kind` is a view: reading it reads the elements of another object (ISO C++ [views], [string.view])."""
    return _VIEW.match(kind.removeprefix("const ").strip()) is not None


def holds_in_place(kind: str) -> bool:
    """Whether what `*x` names is a part of `x`, for an `x` of type `kind` (ISO C++ [optional.observe])."""
    return _OPTIONAL.match(kind) is not None


def has_elements(kind: str) -> bool:
    """Whether an `x` of type `kind` has elements that are parts of it (ISO C++ [container.requirements])."""
    plain = kind.removeprefix("const ").removeprefix("::").strip().rstrip("&").rstrip()
    return _ELEMENTS.fullmatch(plain) is not None and _OTHERS.search(plain) is None


def has_its_own(kind: str) -> bool:
    """Whether what is inside of an object of type `kind` is its own, as far as its words say: it is no view, no object
    of references, and no other class template; nor one of which the arguments are deduced, which may be views.
    """
    plain = kind.removeprefix("const ").removeprefix("::").strip().rstrip("&").rstrip()
    if not plain or plain.startswith(("auto", "decltype")):
        return False
    if plain.endswith(("*", "]")) or "::" not in plain.partition("<")[0] and "<" not in plain:
        return True
    if _DEDUCED.fullmatch(plain) is not None:
        return False
    return _HOLDER.match(plain) is not None and _OTHERS.search(plain) is None


def _arguments(text: str) -> list[str]:
    """Template arguments, one by one."""
    found, depth = [""], 0
    for char in text:
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [one.strip() for one in found]
