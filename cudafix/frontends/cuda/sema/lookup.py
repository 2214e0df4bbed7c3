"""Which variable at namespace scope a name means (C++17, 6.4 [basic.lookup], 10.3.3 [namespace.udecl], 10.3.4
[namespace.udir]).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from cudafix.ir import GlobalVar
from cudafix.ir.names import scopes_around

_BEFORE = 1 << 40  # what a header declares stands in front of the file
_ALWAYS = 1 << 60
_OF_LIBRARIES = frozenset("std thrust cub cuda cooperative_groups nvcuda cute cutlass boost".split())
_USING = re.compile(r"\s*using\s+(namespace\b)?\s*(?:typename\b)?(.*?);?\s*", re.DOTALL)
_ALIAS = re.compile(r"\s*namespace\s+(\w+)\s*=\s*(.*?);?\s*", re.DOTALL)
_ATTRIBUTES = re.compile(r"\[\[.*?\]\]", re.DOTALL)

Kind: TypeAlias = Literal["namespace", "variable"]
Found: TypeAlias = frozenset[tuple[Kind, str]]  # variables by `GlobalVar.name`, namespaces by their whole name
NOTHING: Found = frozenset()


class Using(NamedTuple):
    """A using-directive or one name of a using-declaration, as written without blanks."""

    is_directive: bool
    name: str

    @property
    def last(self) -> str:
        return self.name.rpartition("::")[2]


def using(text: str) -> list[Using]:
    """What a `using` names."""
    found = _USING.fullmatch(_ATTRIBUTES.sub(" ", text))
    if found is None:
        return []
    names = ("".join(one.split()) for one in found[2].split(","))
    return [Using(found[1] is not None, name) for name in names if name]


def renaming(text: str) -> tuple[str, str] | None:
    """The name that a namespace alias gives, and what it names."""
    found = _ALIAS.fullmatch(_ATTRIBUTES.sub(" ", text))
    return (found[1], "".join(found[2].split())) if found is not None else None


@dataclass(slots=True)
class Names:
    """The namespaces of a file, with what makes names visible in them, and where that stands. The whole name of the
    outermost one is empty.
    """

    spaces: set[str] = field(default_factory=lambda: {""})
    inline: dict[str, set[str]] = field(default_factory=dict)  # the inline namespaces of a namespace
    directives: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    brought: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)  # using-declarations
    aliases: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)  # where a variable is declared first
    twice: set[str] = field(default_factory=set)  # names that a variable in an unnamed namespace has, and another one

    def opens(self, space: str, is_inline: bool) -> None:
        """A definition of a namespace."""
        parts = space.split("::")
        self.spaces.update("::".join(parts[:count]) for count in range(1, len(parts) + 1))
        if is_inline:
            self.inline.setdefault(space.rpartition("::")[0], set()).add(space)

    def uses(self, space: str, one: Using, at: int) -> None:
        if one.is_directive:
            self.directives.setdefault(space, []).append((one.name, at))
        else:
            self.brought.setdefault((space, one.last), []).append((one.name, at))

    def renames(self, space: str, name: str, meant: str, at: int) -> None:
        self.aliases.setdefault((space, name), []).append((meant, at))

    def declares(self, variable: GlobalVar, known: GlobalVar | None, at: int) -> None:
        """A declaration of a variable, behind one that is `known` by its name."""
        self.first.setdefault(variable.name, at)
        if known is not None and known.name == variable.name and known.internal != variable.internal:
            if not (known.elsewhere or variable.elsewhere):
                self.twice.add(variable.name)

    def include(self, header: Names) -> None:
        """What a header has stands in front of all that the file has."""
        self.spaces |= header.spaces
        for space, inner in header.inline.items():
            self.inline.setdefault(space, set()).update(inner)
        for scope, opened in header.directives.items():
            self.directives.setdefault(scope, []).extend((name, at - _BEFORE) for name, at in opened)
        for key, targets in header.brought.items():
            self.brought.setdefault(key, []).extend((name, at - _BEFORE) for name, at in targets)
        for key, targets in header.aliases.items():
            self.aliases.setdefault(key, []).extend((name, at - _BEFORE) for name, at in targets)
        self.twice |= header.twice


class Use(NamedTuple):
    """Where a name is used: in which namespace, class or function; where that begins; and what the blocks around it
    have opened, with the aliases of namespaces in them.
    """

    scope: str
    at: int
    opened: tuple[str, ...] = ()
    aliases: tuple[tuple[str, frozenset[str]], ...] = ()


class Lookup:
    """Name lookup in a file and its headers."""

    def __init__(self, parts: Iterable[tuple[Names, Mapping[str, GlobalVar]]]) -> None:
        self._parts = tuple(parts)
        self._alike: dict[str, list[GlobalVar]] = {}
        for _, variables in reversed(self._parts):
            for key, one in variables.items():
                if key == one.name:
                    listed = self._alike.setdefault(one.name.rpartition("::")[2], [])
                    listed[:] = [*(other for other in listed if other.name != one.name), one]
        self._opened: dict[Use, tuple[tuple[tuple[str, str], ...], bool]] = {}

    def variables(self, name: str, use: Use) -> list[GlobalVar]:
        """The variables that a name may mean, one where lookup decides that. It does not for a name that it does not
        find, since another header may declare or open something; and where a namespace is opened that is not seen.
        """
        alike = self.alike(name.rpartition("::")[2])
        bare = "::" not in name.removeprefix("::")
        if len(alike) < 2 and bare:
            return alike
        found = self._resolve(name, use, NOTHING) if alike else NOTHING
        meant = [one for one in alike if ("variable", one.name) in found]
        if bare and (not meant or (not name.startswith("::") and self._opens(use)[1])):
            return alike
        return meant

    def alike(self, last: str) -> list[GlobalVar]:
        """The variables with this last name component."""
        return self._alike.get(last, [])

    def are_several(self, variable: GlobalVar) -> bool:
        """Whether the name of a variable is that of another one too, in an unnamed namespace."""
        alike = [one for _, variables in self._parts if (one := variables.get(variable.name)) is not None]
        there = [one.internal for one in alike if one.name == variable.name and not one.elsewhere]
        return len(set(there)) > 1 or any(variable.name in names.twice for names, _ in self._parts)

    def spaces_named(self, name: str, use: Use) -> frozenset[str]:
        """The namespaces that a name means."""
        found = self._resolve(f"{name}::", use, NOTHING)
        return frozenset(one for kind, one in found if kind == "namespace")

    def _resolve(self, written: str, use: Use, seen: Found) -> Found:
        """What a name means; a name of a namespace ends in `::`. `seen` are using-declarations on the way."""
        *homes, last = written.removeprefix("::").split("::")
        if not (homes or last):  # the parser has put a name where the text has none
            return NOTHING
        if not last:
            *homes, last = homes
            kind: Kind | None = "namespace"
        else:
            kind = None
        found = _spaces([""]) if written.startswith("::") else None
        for n, name in enumerate((*homes, last)):
            wanted = "namespace" if n < len(homes) else kind
            if found is None:
                found = self._unqualified(name, use, wanted, seen)
            else:
                spaces = [one for one_kind, one in found if one_kind == "namespace"]
                found = NOTHING.union(*(self._qualified(one, name, use.at, seen, frozenset()) for one in spaces))
            found = _of_kind(found, wanted)
        return found or NOTHING

    def _unqualified(self, name: str, use: Use, wanted: Kind | None, seen: Found) -> Found:
        """6.4.1 [basic.lookup.unqual]: the innermost scope that has it, where what a using-directive opens seems to be
        in the innermost namespace around both.
        """
        if wanted == "namespace":
            for one, meant in reversed(use.aliases):
                if one == name:
                    return _spaces(meant)
        opened, _ = self._opens(use)
        for level in scopes_around(use.scope):
            spaces = [level, *(space for at, space in opened if at == level)]
            found = NOTHING.union(*(self._declared(one, name, use.at, seen) for one in spaces))
            if found := _of_kind(found, wanted):
                return found
        return NOTHING

    def _qualified(self, space: str, name: str, at: int, seen: Found, through: frozenset[str]) -> Found:
        """6.4.3.2 [namespace.qual]: what a namespace declares, else what it opens."""
        if space in through:
            return NOTHING
        found = self._declared(space, name, at, seen)
        if not found:
            inner = (
                one for written, where in self._directives(space, at) for one in self._nominated(written, space, where)
            )
            found = NOTHING.union(*(self._qualified(one, name, at, seen, through | {space}) for one in inner))
        return found

    def _declared(self, space: str, name: str, at: int, seen: Found) -> Found:
        """What a namespace and its inline namespaces declare by a name in front of a place, by a using-declaration or
        an alias too.
        """
        full = f"{space}::{name}" if space else name
        key: tuple[Kind, str] = ("namespace", f"{full}::")
        if key in seen:
            return NOTHING
        seen |= {key}
        found: set[tuple[Kind, str]] = set()
        for names, variables in self._parts:
            one = variables.get(f"::{full}")
            if one is not None and one.name == f"::{full}" and names.first.get(one.name, -_ALWAYS) < at:
                found.add(("variable", one.name))
            if full in names.spaces:
                found.add(("namespace", full))
            for target, where in names.brought.get((space, name), ()):
                if where < at:
                    found |= self._resolve(target, Use(space, where), seen)
            for target, where in names.aliases.get((space, name), ()):
                if where < at:
                    found |= self._resolve(f"{target}::", Use(space, where), seen)
            for inner in names.inline.get(space, ()):
                found |= self._declared(inner, name, at, seen)
        return frozenset(found)

    def _opens(self, use: Use) -> tuple[tuple[tuple[str, str], ...], bool]:
        """The namespaces that using-directives open at a place, each with the one in which its names seem to be; and
        whether there are others, which are not seen.
        """
        if use not in self._opened:
            self._opened[use] = (), False  # a directive in front of this one may be on the way
            queue = [(use.scope, space) for space in use.opened if space]
            unseen = "" in use.opened
            for scope in scopes_around(use.scope):
                for written, where in self._directives(scope, use.at):
                    spaces = self._nominated(written, scope, where)
                    queue += ((scope, space) for space in spaces)
                    unseen = unseen or (not spaces and not of_library(written))
            found: dict[tuple[str, str], None] = {}
            done = set[tuple[str, str]]()
            while queue:
                scope, space = queue.pop()
                if (scope, space) in done:
                    continue
                done.add((scope, space))
                found[_common(scope, space), space] = None
                for written, where in self._directives(space, use.at):
                    queue += ((scope, inner) for inner in self._nominated(written, space, where))
            self._opened[use] = tuple(found), unseen
        return self._opened[use]

    def _directives(self, space: str, at: int) -> Iterator[tuple[str, int]]:
        for names, _ in self._parts:
            yield from ((written, where) for written, where in names.directives.get(space, ()) if where < at)

    def _nominated(self, written: str, scope: str, at: int) -> frozenset[str]:
        """The namespaces that a using-directive names: what stands in front of it counts."""
        return self.spaces_named(written, Use(scope, at))


def _spaces(names: Iterable[str]) -> Found:
    return frozenset(("namespace", name) for name in names)


def of_library(written: str) -> bool:
    """Whether a namespace is that of a library, which has no variables of the program."""
    return written.removeprefix("::").partition("::")[0] in _OF_LIBRARIES


def _of_kind(found: Found, wanted: Kind | None) -> Found:
    return found if wanted is None else frozenset(one for one in found if one[0] == wanted)


def _common(a: str, b: str) -> str:
    """The innermost scope around two."""
    return next(one for one in scopes_around(a) if not one or f"{b}::".startswith(f"{one}::"))
