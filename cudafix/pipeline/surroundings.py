"""The macros that a file of a program may use because those define them that include it.

A header that is included where some macro is defined means what that macro says, though nothing in the header shows
it. The directives of each source are followed to every place where a file is included (`units`): the macro is seen if
it is the same in all of them, in the same words. If it is not, or defined in some only, it may be either: opaque.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol

from cudafix.frontends.cuda.lower.expressions import SHOUT
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.preprocess.meanings import GONE, UNSET, Meaning, checks_alike, joined, merged
from cudafix.frontends.cuda.preprocess.units import Listing, Unit, Walk
from cudafix.models.headers import GUARDS, OF_LIBRARIES

WORD = re.compile(rb"\b[A-Za-z_]\w*")
RUNTIME = "<cuda_runtime.h>"


class Texts(Protocol):
    """What is asked of the files of a run (`tree.Tree`)."""

    @property
    def built_in(self) -> dict[str, tuple[str, ...]]: ...

    def included(self, path: str) -> list[str]: ...

    def includes_of(self, path: str) -> list[tuple[int, str]]: ...

    def macros_of(self, path: str) -> dict[str, Macro]: ...

    def listing_of(self, path: str) -> Listing: ...

    def unit(self, paths: Collection[str], names: Iterable[str], visited: Iterable[str] = ()) -> Unit: ...

    def names_in(self, path: str) -> frozenset[str]: ...

    def declared_for(self, path: str) -> frozenset[str]: ...

    def unit_with_headers(self, paths: Collection[str], names: Collection[str], visited: Iterable[str]) -> Unit: ...

    def lacks_headers(self, path: str) -> bool: ...


class Surroundings:
    """What the files of one program see of the files that include them."""

    def __init__(self, tree: Texts, program: Sequence[str]) -> None:
        self._tree = tree
        self._program = tuple(program)
        self._definitions: dict[str, list[Macro]] = {}
        self._changing: dict[str, list[str]] = {}
        self._included: set[str] = set()
        for path in program:
            self._included.update(found for _, found in tree.includes_of(path))
            for name, macro in tree.macros_of(path).items():
                self._definitions.setdefault(name, []).append(macro)
            for name in tree.listing_of(path).changes:
                self._changing.setdefault(name, []).append(path)

    def of(self, path: str) -> tuple[Macro, ...]:
        """The macros that a file may use and that only those define which include it."""
        found = self._entered.get(path, {})
        own = self._own(path)
        used: list[Macro] = []
        for name in sorted(found):
            meaning = found[name]
            mine = [m for p in own if (m := self._tree.macros_of(p).get(name)) is not None]
            if all(any(checks_alike(m, one) for one in mine) for m in meaning.macros):
                continue
            # where it is not defined in front, it may be defined here
            several = (*meaning.macros, *(() if meaning.defined else mine))
            macro = merged(several, not meaning.defined and not mine)
            used += [macro] if macro is not None else []
        return tuple(used)

    def differs(self, path: str) -> bool:
        """Whether conditions in a file ask for macros that are not the same wherever it is included."""
        found = self._entered.get(path, {})
        meant = (found[name] for name in self._tree.listing_of(path).asks & found.keys())
        return any(m.perhaps or len({(one.params, one.body) for one in m.macros}) > 1 for m in meant)

    def names_around(self, path: str) -> tuple[frozenset[str], bool]:
        """The names that a file may use, and that each source which includes it declares, itself or in its headers, or
        that its build defines as constants; and whether a source may have macros of headers that are not here. Where
        none has, only names in capitals are told.
        """
        sources = [path]
        if path in self._included:
            sources = [one for one in self._program if one not in self._included and path in self._tree.included(one)]
        unseen = any(map(self._tree.lacks_headers, sources or [path]))
        found = self._tree.names_in(path) if sources else frozenset[str]()
        found = found if unseen else frozenset(filter(SHOUT.fullmatch, found))
        for source in sources:
            declared = self._tree.declared_for(source) if source != path else frozenset[str]()
            changed = {
                name for one in (source, *self._tree.included(source)) for name in self._tree.listing_of(one).changes
            }
            found &= declared.union(name for name in self._tree.built_in.get(source, ()) if name not in changed)
        return found - self._tree.declared_for(path) if found and path in self._included else found, unseen

    def guards_around(self, path: str) -> tuple[tuple[str, bool], ...]:
        """Of the headers of the toolkit by whose guards a file asks for them, whether they are included in front of it
        wherever the program includes it; none that is only included in front of some, or that it may itself bring.
        """
        found: list[tuple[str, bool]] = []
        for name, meaning in sorted(self._with_headers.get(path, {}).items()):
            if meaning.defined:
                found.append((name, True))
            elif meaning == UNSET and name in OF_LIBRARIES:
                found.append((name, False))
        return tuple(found)

    @cached_property
    def _with_headers(self) -> dict[str, dict[str, Meaning]]:
        """What the guards are of the headers of the toolkit that each file asks for, wherever the program includes it.
        nvcc reads that of the runtime in front of a `.cu` file (nvcc documentation, "CUDA Compilation Trajectory").
        """
        asked = {path: self._tree.listing_of(path).asks & GUARDS for path in self._program if path in self._included}
        asked = {path: names for path, names in asked.items() if names}
        found: dict[str, dict[str, Meaning]] = {path: {} for path in asked}
        if not asked:
            return found
        unit = self._tree.unit_with_headers(self._program, GUARDS, asked)

        def enter(path: str, walk: Walk) -> None:
            for name in asked.get(path, ()):
                meaning = walk.of(name)
                found[path][name] = joined((found[path].get(name, meaning), meaning))

        for source in self._program:
            if source not in self._included and source in unit.files:
                walk = Walk(unit, enter=enter)
                if source.endswith(".cu"):
                    walk.included(source, RUNTIME)
                if not walk.read(source):
                    return {}
        return found

    @cached_property
    def _entered(self) -> dict[str, dict[str, Meaning]]:
        """What the macros are that each file may use, wherever the program includes it."""
        wanted = {path: names for path in self._program if path in self._included and (names := self._wanted(path))}
        if not wanted:
            return {}
        unit = self._tree.unit(self._program, set[str]().union(*wanted.values()), wanted)
        found: dict[str, dict[str, Meaning]] = {path: {} for path in wanted}

        def enter(path: str, walk: Walk) -> None:
            for name in wanted.get(path, ()):
                meaning = walk.of(name)
                meaning = meaning if meaning.macros else GONE
                old = found[path].get(name, meaning)
                found[path][name] = meaning if meaning == old else joined((old, meaning))

        for source in self._program:
            if source not in self._included and source in unit.files:
                if not Walk(unit, enter=enter).read(source):
                    for path, names in wanted.items():
                        found[path].update((name, unit.all_of(name)) for name in names)
        return found

    def _own(self, path: str) -> set[str]:
        return {path, *self._tree.included(path)}

    def _wanted(self, path: str) -> frozenset[str]:
        """The macros that a file may use, itself or through the bodies of others, and that files change which it does
        not include.
        """
        own = self._own(path)
        found, fresh = set[str](), set(self._tree.names_in(path) & self._changing.keys())
        while fresh:
            found |= fresh
            bodies = (macro for name in fresh for macro in self._definitions.get(name, ()))
            fresh = {word for macro in bodies for word in _words(macro)} & self._changing.keys() - found
        return frozenset(name for name in found if not own.issuperset(self._changing[name]))


def _words(macro: Macro) -> Iterator[str]:
    return (word.decode() for word in WORD.findall(macro.body))
