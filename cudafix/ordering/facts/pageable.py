"""Types whose elements lie in pageable memory of their own, as far as their words say.

`malloc` and `new` give pageable memory (CUDA Programming Guide, "Page-Locked Host Memory"), and so do the containers of
the standard library and of Thrust with their default allocators (ISO C++ [container.alloc.reqmts],
[default.allocator]). Where the elements of anything else lie, its type does not say: a view shows those of another
object, and an allocator may pin what it gives.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cudafix.ir.types import Type
from cudafix.models.class_templates import OTHER

_VIEWS = frozenset(("span", "Span", "mdspan", "basic_string_view"))
# beside those of which the tables say it
_HOLDERS = frozenset("weak_ptr complex bitset any thread mutex".split())
_OTHERS = re.compile(r"&|\b(?:reference_wrapper|span|mdspan)\b|_(?:view|iterator)\b")
_USUAL = ["std::allocator"]
NAMES = frozenset("vector deque valarray array string wstring u8string u16string u32string".split())
"""What a class of the program may be called, too."""


@lru_cache(maxsize=1 << 10)
def owns_pageable_elements(kind: str) -> bool:
    """Whether `kind` is a container that has its elements in pageable memory of its own."""
    of = Type.of(kind)
    if of.marks:
        return False
    if of.library.name == "array" or (of.library.positions and of.library.text and not of.arguments):
        return True
    return of.library.pageable and (len(of.arguments) == 1 or [Type.of(one).name for one in of.arguments[1:]] == _USUAL)


def element_of(kind: str) -> str:
    """The type of the elements of a container of the standard library, as it is written."""
    return (*Type.of(kind).arguments, "")[0]


def shows_elements_of_others(kind: str) -> bool:
    """Whether `kind` is a view: reading it reads the elements of another object (ISO C++ [views], [string.view])."""
    of = Type.of(kind)
    name = of.template.rpartition("::")[2]
    return name.endswith("string_view") or (name in _VIEWS and bool(of.arguments))


def holds_in_place(kind: str) -> bool:
    """Whether what `*x` names is a part of `x`, for an `x` of type `kind` (ISO C++ [optional.observe])."""
    of = Type.of(kind)
    return of.library.optional and of.is_direct and not any(one.is_reference for one in of.inside)


@lru_cache(maxsize=1 << 10)
def has_elements(kind: str) -> bool:
    """Whether an `x` of type `kind` has elements that are parts of it (ISO C++ [container.requirements])."""
    of = Type.of(kind)
    return of.library.elements and of.is_direct and _OTHERS.search(of.core) is None


@lru_cache(maxsize=1 << 10)
def has_its_own(kind: str) -> bool:
    """Whether what is inside of an object of type `kind` is its own, as far as its words say: it is no view, no object
    of references, and no other class template; nor one of which the arguments are deduced, which may be views.
    """
    of = Type.of(kind)
    if not of.core or of.is_deduced:
        return False
    if of.pointers or ("::" not in of.name and not of.arguments):
        return True
    outer = of.outer
    known = outer.ends_objects or outer.pageable or not outer.elements
    if outer is OTHER:
        known = of.template.removeprefix("std::") in _HOLDERS or (of.name.startswith("std::") and not of.arguments)
    deduced = not of.arguments and of.deduced is not OTHER and not of.deduced.text
    return known and not (deduced or outer.view) and _OTHERS.search(of.core) is None
