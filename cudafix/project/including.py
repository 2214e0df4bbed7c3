"""Which file an `#include` or an `import` means, whatever says which files there are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from cudafix.models.headers import PROVIDED

Exists = Callable[[str], bool]

PACKAGES = frozenset("cuda cupy cupyx cupy_backends numba numba_cuda numpy scipy torch tensorrt rmm pycuda".split())
"""Packages that the tables describe."""
MOST_MODULES = 60
"""Files of one program of Python."""
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*\(?([^)\n#]*)|import[ \t]+([^\n#]+))", re.MULTILINE
)


class Headers:
    """The files that `#include` lines may mean: those for which `exists` holds, by their names (`named`), and in which
    folders the build looks for the headers of a source. `mains` are the sources with `main` in a folder; `mentioned`,
    of a file, the folders that its build names for headers anywhere.
    """

    def __init__(
        self,
        exists: Exists,
        named: Callable[[str], Sequence[str]],
        folders: Mapping[str, tuple[str, ...]],
        mains: Callable[[str], Sequence[str]] = lambda _: (),
        mentioned: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._exists = exists
        self._named = named
        self._folders = folders
        self._mains = mains
        self._mentioned = mentioned or {}

    def find(self, path: str, target: str) -> str | None:
        """The file that an `#include` means, in quotes or brackets. In brackets not the folder of the file comes first
        but those of the options (C++17, 19.2 [cpp.include]); without options, of several of one name the nearest in a
        folder that the build mentions, or the nearest of all. A name in brackets that the compiler, the system or the
        toolkit provides is no file of another program, and none is the file itself but by an option: it would bring
        nothing.
        """
        name, by_option = target.strip('<>"'), target.startswith("<")
        direct = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if self._exists(direct) and not (by_option and (self._folders or direct == path)):
            return direct
        wanted = os.path.normpath(name)
        found = self._by_option(path, name)
        if not found:
            ending = os.sep + wanted.lstrip("./")
            found = [p for p in self._named(os.path.basename(wanted)) if p == wanted or p.endswith(ending)]
            if by_option:
                found = [p for p in found if p != path]
            if by_option and name in PROVIDED:
                found = [p for p in found if not self._is_of_another_program(p, path)]
            places = {os.path.normpath(os.path.join(folder, name)) for folder in self._mentioned.get(path, ())}
            found = [p for p in found if p in places] or found
        return max(found, key=lambda p: (shared_folders(p, path), -len(p))) if found else None

    def of_other_programs(self, path: str, target: str) -> list[str]:
        """The files of other programs that are no header of this file unless its build says so, where it has a name in
        brackets that the compiler, the system or the toolkit provides.
        """
        name = target.strip('<>"')
        if not target.startswith("<") or name not in PROVIDED or path in self._folders:
            return []
        listed = self._named(os.path.basename(name)) if self.find(path, target) is None else ()
        ending = os.sep + name
        return [p for p in listed if p.endswith(ending) and self._is_of_another_program(p, path)]

    def _is_of_another_program(self, header: str, path: str) -> bool:
        """Whether a folder around a header that is not around the file has a `main`."""
        folder = os.path.dirname(header)
        while folder and folder != os.path.dirname(folder) and not path.startswith(os.path.join(folder, "")):
            if self._mains(folder):
                return True
            folder = os.path.dirname(folder)
        return False

    def _by_option(self, path: str, name: str) -> list[str]:
        """What the options of the build find: of a source its own; of a header, those of all that are compiled."""
        own = self._folders.get(path)
        lists = [own] if own is not None else dict.fromkeys(self._folders.values())
        places = ([os.path.normpath(os.path.join(folder, name)) for folder in folders] for folders in lists)
        found = (next(filter(self._exists, listed), None) for listed in places)
        return list(dict.fromkeys(place for place in found if place is not None))


def shared_folders(a: str, b: str) -> int:
    """How many leading folders two paths share."""
    pairs = zip(a.split(os.sep), b.split(os.sep), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# -- Python ------------------------------------------------------------------------------------------------------------


def imported_names(data: bytes) -> Iterator[str]:
    """What a Python file imports, in words: modules, and what may be one (`from package import name`)."""
    for match in _IMPORTS.finditer(data):
        module, names, plain = match.groups()
        if plain is not None:
            for one in plain.split(b","):
                yield one.split(b" as ")[0].strip().decode("ascii", "replace")
            continue
        base = module.decode("ascii", "replace")
        yield base
        for one in names.split(b","):
            name = one.split(b" as ")[0].strip().decode("ascii", "replace")
            if name.isidentifier():
                yield f"{base}{'' if base.endswith('.') else '.'}{name}"


def imported(names: Iterable[str], path: str, exists: Exists) -> Iterator[str]:
    """The files that a file imports itself, by `imported_names`."""
    for dotted in names:
        full = absolute(dotted, path)
        separator = "/" if full != dotted else "."
        words = full.split(separator)
        modules = (module_file(separator.join(words[:n]), path, exists) for n in range(len(words), 0, -1))
        found = next(filter(None, modules), None)
        if found is not None and found != path:
            yield found


def absolute(dotted: str, path: str) -> str:
    """A relative import (`..common.check`) as the path of what it names, with `/`; others unchanged."""
    if not dotted.startswith("."):
        return dotted
    level = len(dotted) - len(dotted.lstrip("."))
    folder = os.path.dirname(path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    return os.path.join(folder, *dotted.lstrip(".").split("."))


def module_file(dotted: str, path: str, exists: Exists) -> str | None:
    """The file of a module, in the folder of the file that imports it or in one above."""
    if "/" in dotted:
        return _file(dotted, exists)
    words = dotted.split(".")
    if not words[0]:
        return None
    folder = os.path.dirname(path)
    while True:
        found = _file(os.path.join(folder, *words), exists)
        if found is not None or not folder or folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def _file(stem: str, exists: Exists) -> str | None:
    places = (os.path.normpath(place) for place in (f"{stem}.py", os.path.join(stem, "__init__.py")))
    return next(filter(exists, places), None)
