"""Clocks of the device: whether a function does more with one than wait."""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Language, Node, Query
from tree_sitter_cuda import language

from cudafix.frontends.cuda.parse.queries import captures as captures_of

# CUDA C++ Programming Guide, "Time Function"; PTX ISA, special registers `%clock`, `%clock64`, `%globaltimer`
CLOCK = re.compile(
    rb"\b(?:clock64|clock|__nanotime|__globaltimer\w*)\s*\(|%(?:clock|globaltimer)\w*|\b(?:system|steady|high_resolution)_clock\b"
)
_READ_BY_ASSEMBLY = (
    rb"\basm\s*(?:volatile\b)?\s*\(\s*\"mov\.\w+\s+%0,\s*%%?(?:clock|globaltimer)\w*;\"\s*:\s*\"=\w+\"\s*\(\s*(\w+)\s*\)"
    rb"(?:\s*:\s*:\s*\"memory\")?\s*\)"
)
_SET_BY_CLOCK = re.compile(  # a variable of the function
    rb"\b(?:auto|const|int|long|unsigned|\w+_t)\s+(\w+)\s*=\s*clock(?:64)?\s*\(\s*\)(?=\s*;)|" + _READ_BY_ASSEMBLY
)
_DECLARED = re.compile(rb"\b(?:(?:unsigned|long|int|\w+_t)\s+)+(\w+(?:\s*,\s*\w+)*)\s*;")
_ONLY_WAITS = re.compile(
    rb"(?:[\s{};]|__nanosleep\s*\([\w\s]*\)|" + _READ_BY_ASSEMBLY.replace(rb"(\w+)", rb"\w+") + rb")*"
)


@cache
def _waits() -> Query:
    return Query(Language(language()), "[(while_statement) (do_statement)] @loop")


def times(body: Node, text: bytes, besides: bytes) -> bool:
    """Whether device code does more with a clock than wait until some time has passed, in a loop that does nothing.
    `besides`: what runs with the body, of macros and initializers.
    """
    if CLOCK.search(besides):
        return True
    rest = bytearray(text[body.start_byte : body.end_byte])
    for loop in captures_of(_waits(), body).get("loop", ()):
        inner = loop.child_by_field_name("body")
        if inner is not None and _ONLY_WAITS.fullmatch(text, inner.start_byte, inner.end_byte):
            at, end = loop.start_byte - body.start_byte, loop.end_byte - body.start_byte
            rest[at:end] = b" " * (end - at)
    since = {found[1] or found[2] for found in _SET_BY_CLOCK.finditer(text, body.start_byte, body.end_byte)}
    left = _SET_BY_CLOCK.sub(b"", bytes(rest))
    declared = (found for found in _DECLARED.finditer(left) if since.issuperset(re.split(rb"\s*,\s*", found[1])))
    for found in reversed(list(declared)):
        left = left[: found.start()] + left[found.end() :]
    return CLOCK.search(left) is not None or any(re.search(rb"\b%s\b" % name, left) for name in since)
