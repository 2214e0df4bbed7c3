"""Which types no implicit conversion leads to, so that an overload is not the one that is meant."""

from __future__ import annotations

import re

from cudafix.ir.link import Program, last
from cudafix.ir.names import HANDLE_KINDS
from cudafix.ir.types import Type
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.plain import NUMBERS

_NUMBERS = (
    NUMBERS
    | {
        f"{sign}{kind}".strip()
        for sign in ("", "unsigned ", "signed ")
        for kind in ("long", "long int", "long long", "long long int")
    }
    | {"size_t", "std::size_t", "ptrdiff_t", "ssize_t", "intptr_t", "uintptr_t", "long double"}
)
_CONVERSION = re.compile(r"operator\s*(?!new\b|delete\b|co_await\b)(?:\w|::)")
"""The name of a conversion function (C++17, 15.3.2 [class.conv.fct]); other operators have signs, or these names."""


class Conversions:
    """What is known of the types of a program; one for a program."""

    def __init__(self, program: Program, classes: Classes) -> None:
        self._classes = classes
        constructed: set[str] = set()
        converted: set[str] = set()
        for scope, name in _methods(program):
            if name == scope:
                constructed.add(scope)
            elif _CONVERSION.match(name):
                converted.add(scope)
        self._constructed = frozenset(constructed)
        self._converted = frozenset(converted)

    @staticmethod
    def of(program: Program, classes: Classes) -> Conversions:
        return program.kept("conversions", lambda: Conversions(program, classes))

    def may_convert(self, given: str, wanted: str) -> bool:
        """Whether a value of one type, which is no literal, may be given for a parameter of another one (C++17, 16.3.2
        [over.match.viable] 3); also where that is not known. The type of an array may be that of its elements here, and
        that of a function or a member that of its value. Known is this:

        - Pointers to unrelated types are not converted to each other (7.11 [conv.ptr]), nor to numbers but `bool`
          (7.14 [conv.bool]). A number is no pointer: only a literal zero is (7.11 [conv.ptr] 1), and a constant was
          (C++03, 4.10 [conv.ptr] 1).
        - An object of a class becomes something else by a conversion function or as an object of a base, something else
          becomes one by a constructor (15.3 [class.conv]).
        """
        source, target = self._kind(Type.of(given)), self._kind(Type.of(wanted))
        numbers = {source, target} <= {"number", "numbers"}
        constant = source == "number" and Type.of(given).qualified
        if not source or not target or numbers or constant or _is_object_of(wanted, "bool"):
            return True
        if source == target == "class" and self._is_of(given, wanted):
            return True
        if source == "class" and self._becomes_others(given):
            return True
        if target == "class" and self._is_made_of_others(wanted):
            return True
        return source == target != "class"

    def _kind(self, kind: Type) -> str:
        """What a type is; "" where that is not known, or where it may be several things."""
        if not kind.is_direct:
            to_numbers = kind.own_marks == ("*",) and kind.core in _NUMBERS
            return "numbers" if to_numbers else ""
        if kind.core in HANDLE_KINDS:  # pointers to classes of the driver, which are related to nothing else
            return HANDLE_KINDS[kind.core]
        if kind.core in _NUMBERS:
            return "number"
        named = not kind.arguments and "." not in kind.core
        return "class" if named and self._classes.is_class(kind.text) else ""

    def _is_of(self, cls: str, base: str) -> bool:
        """Whether an object of a class may be one of another: of the same, or of one derived from it."""
        lineage = self._classes.whole_lineage(cls)
        return lineage is None or Type.of(base).last in lineage or self._classes.may_be_of(cls, base)

    def _becomes_others(self, cls: str) -> bool:
        lineage = self._classes.whole_lineage(cls)
        return lineage is None or not lineage.isdisjoint(self._converted)

    def _is_made_of_others(self, cls: str) -> bool:
        """A class may have the constructors of a base too (C++17, 15.6.3 [class.inhctor.init])."""
        lineage = self._classes.whole_lineage(cls)
        return lineage is None or not lineage.isdisjoint(self._constructed)


def _methods(program: Program) -> set[tuple[str, str]]:
    """The methods that a program declares or defines and that take something else than an object of their class, and
    the conversion functions: the class and the name, by last name components.
    """
    found: set[tuple[str, str]] = set()
    for module in program.modules:
        declared = ((one.scope, one.name, one.types) for one in module.declares)
        defined = ((one.scope, one.name, one.types) for one in module.defines)
        lowered = ((f.cls, f.name, tuple(p.type for p in f.params)) for f in module.functions if f.cls)
        for scope, name, types in (*declared, *defined, *lowered):
            cls, (_, operator, kind) = last(scope), f"::{name}".partition("::operator")
            name = f"operator{kind}" if operator else last(name)  # `operator ::B`
            if _CONVERSION.match(name) or not all(_is_object_of(one, cls) for one in types):
                found.add((cls, name))
    return found


def _is_object_of(kind: str, cls: str) -> bool:
    """Whether a type is this one, or a reference to it."""
    of = Type.of(kind)
    return of.core == cls and of.is_direct
