"""Functions of the program that a library of the host calls though the call does not name them: it was given them
before, or knows their names.
"""

from __future__ import annotations

from collections.abc import Mapping

from cudafix import ir
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, played


class Callbacks:
    """What the libraries of a program may call. One for a program."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self._are_given = bool(program.functions_that_are_values())
        self._by_document = _known_by_name(program, tables)

    @staticmethod
    def of(program: Program, tables: Tables) -> Callbacks:
        return program.kept("callbacks", lambda: Callbacks(program, tables))

    @property
    def names(self) -> frozenset[str]:
        """The names of the functions that libraries know."""
        return frozenset(function.name for known in self._by_document.values() for function in known)

    def may_come(self, api: Api) -> bool:
        """Whether a call of this function may call functions that it is not given."""
        return self.keeps(api) or bool(self.known_to(api))

    def keeps(self, api: Api) -> bool:
        """Whether it may call what it, or another such function, was given earlier."""
        return self._are_given and "hidden" in played(api)

    def known_to(self, api: Api) -> tuple[ir.Function, ...]:
        """The functions of the program that are the library's by their names: `xerbla_`."""
        return self._by_document.get(api.source, ()) if api.effect in HOST_EFFECTS else ()


def _known_by_name(program: Program, tables: Tables) -> Mapping[str, tuple[ir.Function, ...]]:
    """The functions that the program defines with C linkage, and a document declares: of one name there is one in a
    program, which all call (C++17, 10.5 [dcl.link] 6). By the document.
    """
    of_c = frozenset[str]().union(*(module.of_c for module in program.modules))
    found: dict[str, tuple[ir.Function, ...]] = {}
    for function in program.functions() if of_c else ():
        name = function.name.removeprefix("::")
        if name in of_c and not function.internal and (api := tables.any_form(name)) is not None:
            found[api.source] = (*found.get(api.source, ()), function)
    return found
