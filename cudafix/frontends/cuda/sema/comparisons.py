"""Whether a file gives containers of the standard library functions that they call: to compare, or to hash.

A container that is ordered, or hashed, and a priority queue keep an object of a type that they are given, and call it
wherever an element is looked up, put in or taken out (C++17, 26.2.6 [associative.reqmts], 26.2.7 [unord.req], 26.6.5
[priority.queue]). An object of a class is one of the template's arguments (`ir.Module.template_arguments`). A pointer
to a function, a `std::function` and a lambda are not: any function of which the program has a value may be meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cudafix.ir import template_arguments

_CONTAINER = re.compile(
    rb"\b(?:(?:unordered_)?(?:multi)?(?P<keys>set)|(?:unordered_)?(?:multi)?map|priority_queue)\s*(?P<given><)"
)
_DEDUCED = re.compile(rb"\bstd\s*::\s*(?:(?:unordered_)?(?:multi)?(?:set|map)|priority_queue)\s+\w+\s*[({=]")
_OF_THE_LIBRARY = re.compile(
    r"(?:(?:::)?std::(?:pmr::)?)?(?:less|greater|less_equal|greater_equal|equal_to|hash|allocator|polymorphic_allocator|"
    r"owner_less)\b\s*(?:<.*>)?",
    re.DOTALL,
)


def calls_functions(texts: Iterable[bytes], is_class: Callable[[str], bool]) -> bool:
    """Whether one of these texts makes such a type with an argument that is neither of the standard library nor a class
    of the program; or such an object whose type is deduced from what it is made of (C++17, 16.3.1.8
    [over.match.class.deduct]).
    """
    return any(_calls_functions(text, is_class) for text in texts)


def _calls_functions(text: bytes, is_class: Callable[[str], bool]) -> bool:
    if _DEDUCED.search(text):
        return True
    for match in _CONTAINER.finditer(text):
        given = template_arguments(_up_to_its_end(text, match.start("given")))
        for one in given[1 if match["keys"] else 2 :]:
            if _OF_THE_LIBRARY.fullmatch(one) is None and not is_class(one):
                return True
    return False


def _up_to_its_end(text: bytes, start: int) -> str:
    """The list of template arguments that begins here; up to the end of the statement where it does not end."""
    depth = parentheses = 0
    for at in range(start, len(text)):
        char = text[at : at + 1]
        if char in b";{":
            break
        parentheses += (char == b"(") - (char == b")")
        depth += ((char == b"<") - (char == b">")) * (parentheses == 0)
        if depth == 0:
            return text[start : at + 1].decode("utf-8", "replace")
    return f"{text[start:at].decode('utf-8', 'replace')}>"
