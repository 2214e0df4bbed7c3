"""Which files make a program: `main` or a file that allocates, its headers, and the sources that define what is called.

Nothing is lowered for this. A source of another folder belongs to a program if it defines a function that the program
may reach, and if both include the header that declares it. What may be reached is looked for by name in the parsed
text: a name too many makes a program larger, and a name too few leaves a call that nobody defines, which is refused.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

import tree_sitter
import tree_sitter_cuda

from cudafix.frontends.python import prefilter
from cudafix.link import SOURCES
from cudafix.tree import WORD, Tree, has_main, shared_folders

MOST_FILES = 200
"""Files of one program. A program that links more of them is proved without the sources of other folders."""

_DEFINED = re.compile(
    rb"^[A-Za-z_][\w\s:*&<>,\"]*?\b([A-Za-z_]\w*)\s*\([^;{}]*\)(?:[^;{}()/]|//.*$|/\*[^*]*\*/)*\{", re.MULTILINE
)
_ARGUMENTS = re.compile(rb"<[^<>]*>")
_STATIC = re.compile(rb"\bstatic\b")
_LANGUAGE = tree_sitter.Language(tree_sitter_cuda.language())
_QUERY = tree_sitter.Query(
    _LANGUAGE,
    """
    (function_definition body: (_) @body) @definition
    (function_declarator declarator: (_) @name)
    (class_specifier name: (_) body: (_)) @class
    (struct_specifier name: (_) body: (_)) @class
    (init_declarator value: (_) @value)
    (preproc_def name: (_) @macro value: (_) @words)
    (preproc_function_def name: (_) @macro value: (_) @words)
    (ERROR) @value
    """,
)


def clusters_of(tree: Tree) -> list[list[list[str]]]:
    """Programs, as lists of files, grouped by the candidates that they share.

    Candidates that no `main` needs are programs of their own, with what they call.
    """
    candidates = {p for p in tree.files if tree.is_candidate(p)}
    covered = {p for p in candidates if p.endswith(prefilter.SUFFIX)}  # programs of their own (below)
    linker = _Linker(tree, candidates)
    programs: list[list[str]] = []
    for main in linker.mains:
        program = linker.program(main)
        if not candidates.isdisjoint(program):
            programs.append(program)
            covered.update(program)
    for path in sorted(candidates, key=lambda p: (not p.endswith(SOURCES), p)):
        if path not in covered:
            programs.append(linker.program(path))
            covered.update(programs[-1] if path.endswith(SOURCES) else [path])
    if tree.python is not None:
        programs += tree.python.programs()
    return _united(programs, candidates)


class _Name(NamedTuple):
    """A function's name, and the class or namespace directly around it as far as it is written there."""

    scope: bytes
    last: bytes


@dataclass(slots=True)
class _Outline:
    """What a file says about functions: the words that each definition uses, by the function's name, and what is used
    outside of them (`always`); the functions that it `declares`, and those that it defines for other files (`exports`).
    """

    uses: dict[bytes, set[bytes]] = field(default_factory=dict)
    always: set[bytes] = field(default_factory=set)
    declares: set[_Name] = field(default_factory=set)
    exports: set[_Name] = field(default_factory=set)
    classes: set[bytes] = field(default_factory=set)

    def offers(self, source: _Outline) -> Iterator[_Name]:
        """The functions that this header declares and a source defines."""
        for name in source.exports:
            of_namespace = name.scope not in self.classes and _Name(b"", name.last) in self.declares
            if name in self.declares or of_namespace:
                yield name


class _Linker:
    """The sources of a tree, and which of them a program needs."""

    def __init__(self, tree: Tree, candidates: set[str]) -> None:
        self._tree = tree
        self._candidates = candidates
        self._outlines: dict[str, _Outline] = {}
        self._offers: dict[str, dict[_Name, list[str]]] = {}
        self._beside: dict[str, list[str]] = defaultdict(list)  # sources without `main`, by folder
        self._including: dict[str, list[str]] = defaultdict(list)  # and by header
        self._included: set[str] = set()  # sources that others include
        self.mains: list[str] = []
        self._without_main: list[str] = []
        for path in sorted(p for p in tree.files if p.endswith(SOURCES)):
            self._included.update(p for p in tree.included(path) if p.endswith(SOURCES))
            if has_main(tree.files[path]):
                self.mains.append(path)
                continue
            self._without_main.append(path)
            self._beside[os.path.dirname(path)].append(path)
            for header in tree.included(path):
                self._including[header].append(path)

    def program(self, start: str) -> list[str]:
        """A file with its headers, and the other sources that define what it calls.

        Those of other folders are left out where they would be too many: calls into a large library are unknown then.
        """
        files = self._grown(start, everywhere=True)
        return files if len(files) <= MOST_FILES else self._grown(start, everywhere=False)

    def _grown(self, start: str, everywhere: bool) -> list[str]:
        files: dict[str, None] = {}
        used: set[bytes] = set()
        fresh = [start]
        while fresh:
            added = [p for path in fresh for p in (path, *self._tree.included(path)) if p not in files]
            files.update(dict.fromkeys(added))
            linked = self._linked(files, start) if everywhere and len(files) <= MOST_FILES else []
            beside: Iterable[str] = ()
            if has_main(self._tree.files[start]):
                used.update(*(self._tree.words(p, WORD) for p in added))
                beside = self._beside_it(start, files, used)
            fresh = [p for p in dict.fromkeys((*beside, *linked)) if p not in files]
        return list(files)

    def _beside_it(self, start: str, files: Collection[str], used: AbstractSet[bytes]) -> Iterator[str]:
        """Sources of the same folder that define what the files use. What another source includes is compiled on its
        own only where a name would be missing.
        """
        defined: set[bytes] | None = None
        for path in self._defining(self._beside[os.path.dirname(start)], used):
            if path in self._included and path not in files:
                defined = defined or set().union(*(self._tree.words(p, _DEFINED) for p in files))
                if defined >= self._tree.words(path, _DEFINED) & used:
                    continue
            yield path

    def _defining(self, paths: Iterable[str], names: AbstractSet[bytes]) -> Iterator[str]:
        return (p for p in paths if not names.isdisjoint(self._tree.words(p, _DEFINED)))

    def _linked(self, files: Collection[str], start: str) -> list[str]:
        """Sources that define a name which the files reach, and which a header declares that both include."""
        offered: dict[_Name, set[str]] = defaultdict(set)
        for path in files:
            for function, sources in self._offered(path).items():
                offered[function].update(sources)
        if all(p in files for sources in offered.values() for p in sources):
            return []
        uses: dict[bytes, set[bytes]] = defaultdict(set)
        fresh, reached = {b"main"}, set[bytes]()
        for path in files:
            outline = self._outline(path)
            for name, words in outline.uses.items():
                uses[name] |= words
            fresh |= outline.always
            if path in self._candidates or path == start:  # what it exports is looked at too
                fresh |= outline.uses.keys()
        while fresh:
            reached |= fresh
            fresh = set().union(*(uses[name] for name in fresh & uses.keys())) - reached
        wanted = (sources for name, sources in sorted(offered.items()) if name.last in reached)
        return [path for sources in wanted for path in _nearest(sources, start)]

    def _offered(self, header: str) -> dict[_Name, list[str]]:
        """The functions that a file declares, with the sources that define them: those that include it."""
        if header not in self._offers:
            found: dict[_Name, list[str]] = defaultdict(list)
            sources = self._including.get(header, [])
            if header.endswith(SOURCES):  # a prototype without a header: the function is defined below its folder
                folder = os.path.join(os.path.dirname(header), "")
                sources = [p for p in self._without_main if p.startswith(folder)]
            words = self._tree.words(header, WORD) if sources else frozenset()
            for path in self._defining(sources, words):
                for name in self._outline(header).offers(self._outline(path)):
                    found[name].append(path)
            self._offers[header] = found
        return self._offers[header]

    def _outline(self, path: str) -> _Outline:
        if path not in self._outlines:
            self._outlines[path] = _outline_of(self._tree.files[path])
        return self._outlines[path]


def _nearest(sources: Iterable[str], start: str) -> list[str]:
    """Of several sources that define the same function, those that share most folders with a program's first file, and
    stand in the fewest others.
    """
    ranked = sorted(((-shared_folders(path, start), path.count(os.sep)), path) for path in sources)
    return [path for rank, path in ranked if rank == ranked[0][0]]


def _outline_of(data: bytes) -> _Outline:
    captures = tree_sitter.QueryCursor(_QUERY).captures(tree_sitter.Parser(_LANGUAGE).parse(data).root_node)
    found = _Outline()
    classes = [
        (node.start_byte, node.end_byte, WORD.findall(data[name.start_byte : name.end_byte])[0])
        for node in captures.get("class", ())
        if (name := node.child_by_field_name("name")) is not None
    ]
    found.classes.update(name for _, _, name in classes)
    names = sorted((node.start_byte, node.end_byte) for node in captures.get("name", ()))
    outside: list[tuple[int, int]] = []
    at = end = 0
    for node in sorted(captures.get("definition", ()), key=lambda node: node.start_byte):
        body = node.child_by_field_name("body")
        assert body is not None
        head = bisect_left(names, (node.start_byte, 0))
        if head < len(names) and names[head][0] < body.start_byte:
            start, stop = names[head]
            *scopes, last = WORD.findall(_ARGUMENTS.sub(b"", data[start:stop])) or [b""]
            found.uses.setdefault(last, set()).update(WORD.findall(data[stop : node.end_byte]))
            is_member = any(first < start < behind for first, behind, _ in classes)
            if not is_member and _STATIC.search(data, node.start_byte, start) is None:
                found.exports.add(_Name(scopes[-1] if scopes else b"", last))
        if node.start_byte >= end:
            outside.append((end, node.start_byte))
            end = node.end_byte
    outside.append((end, len(data)))
    for first, behind in outside:
        while at < len(names) and names[at][0] < behind:
            start, stop = names[at]
            at += 1
            if start >= first and (words := WORD.findall(data[start:stop])):
                around = [cls for cls in classes if cls[0] < start < cls[1]]
                found.declares.add(_Name(max(around)[2] if around else b"", words[-1]))
    for macro in captures.get("macro", ()):
        value = macro.parent.child_by_field_name("value") if macro.parent is not None else None
        if value is not None:
            words = WORD.findall(data[value.start_byte : value.end_byte])
            found.uses.setdefault(data[macro.start_byte : macro.end_byte], set()).update(words)
    for node in captures.get("value", ()):
        if any(first <= node.start_byte < behind for first, behind in outside):
            found.always.update(WORD.findall(data[node.start_byte : node.end_byte]))
    return found


def _united(programs: list[list[str]], candidates: set[str]) -> list[list[list[str]]]:
    parent = list(range(len(programs)))

    def find(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    first: dict[str, int] = {}
    for n, program in enumerate(programs):
        for path in program:
            if path in candidates:
                parent[find(n)] = find(first.setdefault(path, n))
    united: dict[int, list[list[str]]] = defaultdict(list)
    for n, program in enumerate(programs):
        united[find(n)].append(program)
    return list(united.values())
