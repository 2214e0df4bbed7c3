"""What attributes of functions and variables say about order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cudafix import ir
from cudafix.frontends.cuda.lower.context import File
from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.ir.names import WORD_IN_BYTES

_WEAK = re.compile(
    rb"\bweak(?:__)?\s*\)\s*\)[^;{}()]*?\b(\w+)\s*\("
    rb"|\b(\w+)\s*\([^;{}()]*\)\s*__attribute__\s*\(\(\s*(?:__)?weak"
    rb"|(?:#\s*pragma\s+|\b_*[Pp]ragma(?:__)?\s*\(\s*\")weak\s+(\w+)"
)
_CLEANUP = re.compile(rb"__attribute__\s*\(\([^;{}]*?\b(?:__)?cleanup(?:__)?\s*\(|\[\[\s*gnu::cleanup\s*\(")
_ATTRIBUTES = (
    rb"__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\)",
    rb"\[\[[^][]*\]\]",
)
_RUNS_BY_ITSELF = re.compile(rb"\b(?:__)?(con|de)structor(?:__)?\b")
_SECTION = re.compile(rb"\bsection(?:__)?\s*\(")
_SECTION_OF_OTHERS = re.compile(
    rb"\bsection(?:__)?\s*\(\s*\"(?!\.(?:pre)?init_array|\.fini_array|\.[cd]tors)[^\"]*\"\s*\)"
)
_SECTION_AT_START = re.compile(rb"\bsection(?:__)?\s*\(\s*\"\.(?:(?:pre)?init_array|ctors)")
_MARK = b"\0"
_MARKED = re.compile(rb"\b(\w+)\s*\([^()\0]*\)\s*\0([AZ])|\0([AZ])[^;{}()]*?\b(\w+)\s*\([^()]*\)\s*[\0\w\s]*[;{]")
_MARKED_VARIABLE = re.compile(rb"\0([az])([^;]*);")


def apply_attributes(functions: Sequence[ir.Function], parsed: Parsed) -> None:
    """What attributes of functions and variables say about order: another definition may replace a weak function, and
    `cleanup` calls one at the end of a scope.
    """
    if b"weak" in parsed.original:
        weak = {name.decode() for names in _WEAK.findall(parsed.original) for name in names if name}
        mangled = "".join(name for name in weak if name.startswith("_Z"))
        for function in functions:
            name = function.name.rpartition("::")[2]
            if function.cls is None and (name in weak or f"{len(name)}{name}" in mangled):
                replaced = ir.Unknown("a weak function, which another one may replace", function.span, ())
                function.body = (replaced, *function.body)
    for found in _CLEANUP.finditer(parsed.original) if b"cleanup" in parsed.original else ():
        for function in functions:
            if function.span.start <= found.start() < function.span.end:
                function.problems = (*function.problems, ("cleanup", found.start()))


def at_start(file: File) -> list[tuple[str, bool]]:
    """The functions that run without a call, by an attribute or since a variable in a section of such pointers holds
    them, and whether that is at the end (GCC manual, "Common Function Attributes"; System V gABI, "Initialization and
    Termination Functions").
    """

    def may_run(text: bytes) -> bool:
        return _RUNS_BY_ITSELF.search(text) is not None or _SECTION.search(text) is not None

    def mark(match: re.Match[bytes]) -> bytes:
        text = match.group()
        text = macros[text].body if text in macros else text
        if found := _RUNS_BY_ITSELF.search(text):
            return _MARK + (b"A" if found[1] == b"con" else b"Z")
        if _SECTION.search(text) and not _SECTION_OF_OTHERS.search(text):
            return _MARK + (b"a" if _SECTION_AT_START.search(text) else b"z")
        return b" "

    macros = {
        macro.name.encode(): macro
        for macro in file.every_macro.values()
        if macro.params is None and may_run(macro.body)
    }
    if not macros and not may_run(file.original):
        return []
    names = [rb"\b" + name + rb"\b" for name in macros]
    text = re.sub(b"|".join((*_ATTRIBUTES, *names)), mark, file.original)
    found: list[tuple[str, bool]] = []
    for named, first, second, other in _MARKED.findall(text):
        found.append(((named or other).decode(), (first or second) == b"Z"))
    for kind, variable in _MARKED_VARIABLE.findall(text):
        words = (word.decode() for word in WORD_IN_BYTES.findall(variable))
        found += [(word, kind == b"z") for word in words if word in file.hosts]
    return found
