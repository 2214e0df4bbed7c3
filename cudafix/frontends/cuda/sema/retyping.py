"""As objects of which classes a file may use objects of other classes.

A pointer or reference to one class becomes one to an unrelated class only where that is written: by a cast that names
the type (C++17, 8.2.9 [expr.static.cast] 13, 8.2.10 [expr.reinterpret.cast], 8.4 [expr.cast]; implicit conversions only
lead to bases and to `void`, 7.11 [conv.ptr]), a placement new (8.3.4 [expr.new]), `va_arg`, or where the address itself
is written as something else: through a union, as bytes, through a pointer to another type than the pointer has, or by a
function that is called as one of another type. What storage functions return is no object yet (C++20, 6.7.2
[intro.object] 10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.frontends.cuda.sema.declarations import Declarations
from cudafix.ir.names import WORD
from cudafix.ir.types import Type

ANY_CLASS = "*"
"""Any class may be the one."""

_ARGUMENTS = rb"<((?:[^<>;{}()]|<(?:[^<>;{}()]|<[^<>;{}()]*>)*>)*)>"
_NAMED = re.compile(rb"\b\w*_cast\s*" + _ARGUMENTS + rb"\s*\(([^;]{0,64})")
_WRITTEN = re.compile(rb"\(([\w\s:<>,*&]+)\)\s*(?=((?:::|[\w(&*~!+\-\"'])[^;]{0,64}))")
_PLACED = re.compile(rb"\bnew\s*\([^;{}]*?\)\s*([\w:]+)|\bstart_lifetime_as(?:_array)?\s*" + _ARGUMENTS)
_VARIADIC = re.compile(rb"\bva_arg\s*\([^,;]*,([^;]*?)\)")
# what takes addresses for something else, without a type that says so
_AS_SOMETHING_ELSE = re.compile(
    rb"\b(?:union|asm|__asm|__asm__)\b"
    rb"|\b(?:\w*mem\w*(?:cpy|move)\w*|bcopy|swab|(?:__builtin_)?bit_cast|(?:_|p|f|gz)?read|p?readv|recv\w*"
    rb"|\w*scanf|dlsym|GetProcAddress|as_writable_bytes)\s*[(<]"
    # as a function of another type, an array, or what an expression is
    rb"|\(\s*[\w\s:<>,*&]*\(\s*(?:[\w:]*::)?\s*[*&]+\s*\)\s*[\[(][^;{}]*?[\])]\s*\)\s*[\w(&]"
    rb"|\(\s*(?:const\s+)?(?:decltype|typeof|__typeof|__typeof__)\b"
)
_OF_VARIABLE = re.compile(rb"&?\s*([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*(?=[,;)])")
# of a function that hands back none of its arguments (those of C that do begin so: C17, 7.22, 7.24, 7.29; POSIX)
_OF_CALL = re.compile(rb"(?!w?mem|str|wcs|re|[blt]search|[lt]find|dl|cuda|cu|hip)([A-Za-z_]\w*)\s*\(")
_BEFORE_VALUES = frozenset(b"return delete else case throw sizeof in and or not".split())
_FUNCTIONAL = re.compile(rb"\b([A-Za-z_]\w*)\s*[({]")  # `T(x)`: of a pointer, by another name (8.2.3 [expr.type.conv])
_LEADS = re.compile(r"[*&(]")
_CAST = re.compile(rb"_cast\s*<")
_FRESH = re.compile(
    rb"\(*\s*(?:std\s*::\s*|::\s*)?(?:malloc|calloc|aligned_alloc|memalign|valloc|operator\s+new(?:\s*\[\s*\])?)\s*\("
)
# gets the address of new memory, or of what is not of the host
_GETS_NEW_MEMORY = re.compile(rb"\b(?:(?:cuda|hip)(?:Malloc\w*|HostAlloc)|posix_memalign)\s*(?:<[^<>;]*>\s*)?\(\s*\Z")
_NO_CAST = re.compile(rb"\b(?:sizeof|alignof|_Alignof|__alignof__|typeid|noexcept|decltype)\s*\Z")
_NO_NAMES = frozenset(
    "const volatile struct class union enum typename signed unsigned __restrict__ __restrict restrict std".split()
)
_DEDUCED = frozenset("auto decltype typeof __typeof__ __typeof".split())
_BEHIND = re.compile(r"(?:\s*\b(?:const|volatile|__restrict__|__restrict|restrict)\b)+\s*\Z")


def taken_for_others(parsed: Parsed, found: Declarations) -> frozenset[str]:
    """The last name components of the classes as objects of which other objects may be used; `ANY_CLASS` among them
    where nothing says which. The same holds for their bases and for what is derived from them.
    """
    if parsed.path.endswith(".c"):  # `void *` becomes any pointer (C17, 6.3.2.3)
        return frozenset((ANY_CLASS,))
    classes: set[str] = set()
    for text in (parsed.unmasked, *(macro.body for macro in parsed.macros.values())):
        if _AS_SOMETHING_ELSE.search(text):
            return frozenset((ANY_CLASS,))
        casts = 0
        for kind, operand, before in _casts(text):
            casts += before is None
            if _FRESH.match(operand) or (before is not None and _GETS_NEW_MEMORY.search(before)):
                continue
            written = kind.decode("utf-8", "replace")
            if _are_numbers(written, found) and _leads_to_numbers(operand, text, found):
                continue
            if _is_opaque(written, operand, found):
                continue
            classes |= _classes_of(written, parsed, found, frozenset())
        for name in {word.decode() for word in _FUNCTIONAL.findall(text)}:
            if found.references.is_parameter(name) or any(_LEADS.search(k) for k in found.references.meanings(name)):
                classes |= _classes_of(name, parsed, found, frozenset())
        if casts != len(_CAST.findall(text)):  # to a type that is not read
            return frozenset((ANY_CLASS,))
    return frozenset(classes)


def _are_numbers(kind: str, found: Declarations) -> bool:
    return found.means_number(Type.of(kind).core)


def _is_opaque(kind: str, operand: bytes, found: Declarations) -> bool:
    """Whether a pointer that a library makes becomes one to a type of the library, of which nothing is seen."""
    name, called = kind.strip().removesuffix("*").strip(), _OF_CALL.match(operand)
    if called is None or not name.isidentifier() or found.names_type(name) or found.class_of(name) is not None:
        return False
    function = called[1].decode()
    return not (_are_numbers(name, found) or found.is_declared_function(function) or function in found.takes)


def _leads_to_numbers(operand: bytes, text: bytes, found: Declarations) -> bool:
    """Whether what is cast is a variable, or part or the address of one, that is made of numbers and of pointers to
    such wherever its name is declared.
    """
    named = _OF_VARIABLE.match(operand)
    if named is None:
        return False
    declared = rb"([\w:]*\w)(?:\s+|\s*[*&][\s*&]*(?:(?:const|__restrict__)\b\s*)*)" + named[1] + rb"\b"
    kinds = [kind.decode() for kind in re.findall(declared, text) if kind not in _BEFORE_VALUES]
    return bool(kinds) and all(_are_numbers(kind, found) for kind in kinds)


def _casts(text: bytes) -> Iterator[tuple[bytes, bytes, bytes | None]]:
    """The types that a text casts to, the begin of what is cast, and what stands in front of a C-style cast."""
    for named in _NAMED.finditer(text):
        yield named[1], named[2], None
    for written in _WRITTEN.finditer(text):
        before = text[max(0, written.start() - 64) : written.start()]
        if _NO_CAST.search(before) is None:
            yield written[1], written[2], before
    for placed in _PLACED.finditer(text):
        yield (placed[1] or placed[2]) + b" *", b"", b""
    for variadic in _VARIADIC.finditer(text):
        yield variadic[1], b"", b""


def _classes_of(kind: str, parsed: Parsed, found: Declarations, through: frozenset[str]) -> set[str]:
    """The classes that a pointer or reference of such a type may lead to, if it is one."""
    kind = _BEHIND.sub("", kind).strip()
    words = [word for word in WORD.findall(kind) if word not in _NO_NAMES and word not in through]
    head = [word for word in WORD.findall(kind.partition("<")[0]) if word not in _NO_NAMES][-1:]
    if "(" in kind or not _DEDUCED.isdisjoint(words):
        return {ANY_CLASS}
    leads = kind.endswith(("*", "&"))
    if not leads and ("*" in kind or "&" in kind) and "<" not in kind:
        return set()  # a product, not a type
    if leads and (kind.count("*") + kind.count("&") > 1 or not head):
        return {ANY_CLASS}  # an address is written as something else
    classes: set[str] = set()
    for word in words:
        meant = [one for one in found.references.meanings(word) if one != word]
        if (macro := parsed.macros.get(word)) is not None:
            meant.append(macro.body.decode("utf-8", "replace"))
        for one in meant:
            classes |= _classes_of(f"{one} *" if leads else one, parsed, found, through | {word})
        if meant:
            continue
        if found.references.is_parameter(word):
            return {ANY_CLASS}
        if not leads or (word == "void" and [word] == head):
            continue
        if (cls := found.class_of(word)) is not None:
            classes.add(cls.name.rpartition("::")[2])
        elif [word] == head:
            return {ANY_CLASS}
    return classes
