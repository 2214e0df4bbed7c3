"""The Python files of a run: which of them matter, which modules they import, and each of them lowered once."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from cudafix import ir
from cudafix.frontends.python import lower, source
from cudafix.frontends.python.lowering import Methods
from cudafix.frontends.python.meaning import Modules
from cudafix.frontends.python.names import Outline
from cudafix.frontends.python.source import UnreadableError
from cudafix.frontends.python.styles import Bindings
from cudafix.ir.names import WORD_IN_BYTES
from cudafix.models.python import CALLED_BACK
from cudafix.models.tensorrt import TAKES_CODE
from cudafix.project import failures
from cudafix.project.files import Files
from cudafix.project.including import MOST_MODULES, PACKAGES, imported, imported_names, module_file
from cudafix.project.prefilter import SUFFIX, is_candidate, may_be_script

_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t].*|import[ \t].*)$", re.MULTILINE)
_SETS = re.compile(rb"(\w+|[\])])\.([A-Za-z_]\w*)[ \t]*(?::[^=\n]*|[-+*/|&@%^]|//|\*\*|<<|>>)?=(?!=)")
# https://numpy.org/doc/stable/reference/arrays.interface.html
_INTERFACE = re.compile(
    rb"def __((?:cuda_)?array)_(?:interface|struct)__|__((?:cuda_)?array)_(?:interface|struct)__[\"']?\]?\s*[:=](?!=)"
)
_CLASS = re.compile(rb"^[ \t]*class[ \t]", re.MULTILINE)


class PythonTree:
    """Reads, outlines and lowers the files that are asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.paths = frozenset(path for path in files if path.endswith(SUFFIX))
        self.modules = Modules(
            self.find,
            self.outline,
            self._gives_code,
            self._set_from_outside,
            self._set_on_objects,
            self._beside,
            self._elsewhere,
        )
        self._set_names: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._set_for: dict[str, frozenset[str]] = {}
        self._sources: dict[str, source.Source | UnreadableError] = {}
        self._outlines: dict[str, Outline | None] = {}
        self._lowered: dict[tuple[str, Methods], tuple[ir.Module, Bindings | None, int]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._giving: dict[str, bool] = {}
        self._programs_with: dict[str, frozenset[str]] = {}
        self._named_as_packages: dict[str, list[str]] | None = None

    def take(self, other: PythonTree, same: Collection[str]) -> None:
        """Take over what another tree has read of files that are the same here."""
        self._sources |= {path: source for path, source in other._sources.items() if path in same}
        self._outlines |= {path: outline for path, outline in other._outlines.items() if path in same}

    def candidates(self) -> set[str]:
        return {path for path in self.paths if is_candidate(self.files[path])}

    def find(self, dotted: str, path: str) -> str | None:
        """The file of a module, in the folder of the file that imports it or in one above. A script that a file of its
        own program imports is none: Python makes a second module of it, with variables of its own
        (https://docs.python.org/3/library/__main__.html).
        """
        found = module_file(dotted, path, self.paths.__contains__)
        if found is not None and b"__main__" in self.files[found] and path in self.program(found):
            return None
        return found

    def source(self, path: str) -> source.Source | UnreadableError:
        if path not in self._sources:
            try:
                if Files.of(self.files).facts(path).unread:
                    raise UnreadableError(0)
                self._sources[path] = source.read(path, self.files[path])
            except UnreadableError as error:
                self._sources[path] = error
        return self._sources[path]

    def outline(self, path: str) -> Outline | None:
        if path not in self._outlines:
            self._outlines[path] = None  # of itself, while it is made
            read = self.source(path)
            if isinstance(read, source.Source):
                with contextlib.suppress(RecursionError):  # nested too deeply
                    self._outlines[path] = Outline(path, read.module)
        return self._outlines[path]

    def methods(self, path: str, program: Collection[str] = ()) -> Methods:
        """The methods of classes of a program which a file may call on an object that it is given: those that Python
        calls by itself, and those whose names it has.
        """
        outlines = {one: self.outline(one) for one in program or self.program(path)}
        known = {one: outline.methods for one, outline in outlines.items() if outline is not None}
        elsewhere = frozenset[str]().union(*(names for one, names in known.items() if one != path))
        if path not in self._words:
            self._words[path] = frozenset(word.decode() for word in WORD_IN_BYTES.findall(self.files[path]))
        words = self._words[path] | CALLED_BACK
        elsewhere = frozenset(name for name in elsewhere if name in words or name.startswith("__"))
        read = [outline for outline in outlines.values() if outline is not None]
        replaced = frozenset[str]().union(*(outline.replaces for outline in read))
        if not replaced.isdisjoint(("__class__", "__bases__")):  # objects get the methods of another class
            replaced |= frozenset[str]().union(*known.values())
        patched = frozenset[str]().union(*(outline.patches for outline in read))
        interfaces = {found for one in outlines for both in _INTERFACE.findall(self.files[one]) for found in both}
        every = elsewhere | known.get(path, frozenset())
        sets = any(self._sets(one)[0] for one in outlines)
        described = frozenset[str]().union(*(outline.described for outline in read))
        return Methods(every, elsewhere, replaced, patched, frozenset(filter(None, interfaces)), sets, described)

    def lowered(self, path: str, methods: Methods | None = None) -> tuple[ir.Module, Bindings | None, int]:
        """The module, how it calls the API, and how many places of it could not be read; `methods` as above."""
        methods = methods if methods is not None else self.methods(path)
        key = path, methods
        if key not in self._lowered:
            read, outline = self.source(path), self.outline(path)
            if isinstance(read, UnreadableError) or outline is None:
                offset = read.offset if isinstance(read, UnreadableError) else 0
                self._lowered[key] = lower.unreadable(path, self.files[path], offset), None, 1
            else:
                try:
                    done = lower.lower(read, outline, self.modules, methods)
                    self._lowered[key] = done.module, done.bindings, 0
                except RecursionError:  # nested too deeply
                    self._lowered[key] = lower.unreadable(path, self.files[path], 0), None, 1
        return self._lowered[key]

    # -- programs ------------------------------------------------------------------------------------------------------

    def imported(self, path: str) -> tuple[str, ...]:
        """The files of the tree that a file imports itself, found without parsing it."""
        if path not in self._imports:
            found = imported(imported_names(self.files[path]), path, self.paths.__contains__)
            self._imports[path] = tuple(dict.fromkeys(found))
        return self._imports[path]

    def program(self, path: str) -> list[str]:
        """A file and what it imports, through other files too."""
        found = {path: None}
        stack = [path]
        while stack and len(found) < MOST_MODULES:
            for other in self.imported(stack.pop(0)):
                if other not in found:
                    found[other] = None
                    stack.append(other)
        return list(found)

    def _sets(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """The attributes that a file sets of something but `self`, and those of something that it may have imported."""
        if path not in self._set_names:
            data = self.files[path]
            imported = set(WORD_IN_BYTES.findall(b" ".join(_IMPORTED.findall(data))))
            found = [(owner, name.decode()) for owner, name in _SETS.findall(data)]
            of_objects = frozenset(name for owner, name in found if owner not in (b"self", b"cls"))
            self._set_names[path] = of_objects, frozenset(name for owner, name in found if owner in imported)
        return self._set_names[path]

    def _set_from_outside(self, name: str) -> bool:
        if "" not in self._set_for:
            self._set_for[""] = frozenset[str]().union(*(self._sets(path)[1] for path in self.paths))
        return name in self._set_for[""]

    def _set_on_objects(self, name: str, home: str) -> bool:
        if home not in self._set_for:
            others = [path for path in self.paths if path != home and _stem(home) in self.files[path]]
            self._set_for[home] = frozenset[str]().union(*(self._sets(path)[0] for path in others))
        return name in self._set_for[home]

    def _beside(self, path: str) -> frozenset[str]:
        """The files of the programs that a file is part of, as far as they define classes."""
        if path not in self._programs_with:
            every = frozenset[str]().union(*(self.program(one) for one in self.importers({path})))
            self._programs_with[path] = frozenset(one for one in every if _CLASS.search(self.files[one]))
        return self._programs_with[path]

    def _elsewhere(self, dotted: str) -> Collection[str]:
        """The files of the tree that a module may be of a package that the tables describe: `sys.path` and the
        environment may name any folder that is not a package itself.
        """
        if self._named_as_packages is None:
            self._named_as_packages = defaultdict(list)
            for path in self.paths:
                words = path.removesuffix(".py").removesuffix(f"{os.sep}__init__").split(os.sep)
                for n in (n for n, word in enumerate(words) if word in PACKAGES):
                    if os.sep.join((*words[:n], "__init__.py")) not in self.paths:
                        self._named_as_packages[".".join(words[n:])].append(path)
        return self._named_as_packages.get(dotted, ())

    def _gives_code(self, path: str) -> bool:
        if path not in self._giving:
            files = self.program(path)
            self._giving[path] = len(files) >= MOST_MODULES or any(TAKES_CODE.search(self.files[one]) for one in files)
        return self._giving[path]

    def programs(self) -> Iterator[list[str]]:
        """Every script that reaches a candidate, then the candidates that no script reaches. What reaches only files
        that cannot be read proves nothing: those stand alone.
        """
        every = self.candidates()
        candidates = {path for path in every if isinstance(self.source(path), source.Source)}
        for path in sorted(every - candidates):
            yield [path]
        if not candidates:
            return
        covered: set[str] = set()
        for path in sorted(self.importers(candidates)):
            if not may_be_script(path, self.files[path]):
                continue
            read, outline = self.source(path), self.outline(path)
            if isinstance(read, source.Source) and outline is not None:
                with failures.alone(path):
                    is_script = lower.is_script(read.module, outline, self.modules)
                if is_script:
                    program = self.program(path)
                    if not candidates.isdisjoint(program):
                        covered.update(program)
                        yield program
        for path in sorted(candidates - covered):
            yield self.program(path)

    def importers(self, candidates: set[str]) -> set[str]:
        """The candidates and the files that import them, directly or not."""
        stems: dict[bytes, set[str]] = defaultdict(set)
        for path in candidates:
            stems[_stem(path)].add(path)
        found = set(candidates)
        wanted = set(stems)
        grown = True
        while grown:
            grown = False
            pattern = re.compile(rb"\b(?:" + b"|".join(sorted(re.escape(stem) for stem in wanted)) + rb")\b")
            for path in self.paths - found:
                if pattern.search(self.files[path]) and not found.isdisjoint(self.imported(path)):
                    found.add(path)
                    wanted.add(_stem(path))
                    grown = True
        return found


def _stem(path: str) -> bytes:
    name = os.path.basename(path).removesuffix(".py")
    return os.fsencode(os.path.basename(os.path.dirname(path)) if name == "__init__" else name) or b"__init__"
