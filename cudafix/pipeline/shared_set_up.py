"""Functions of a project's headers that set up the pool: all programs may call them, and include the header for it.

What such a function does is read off the header alone, as text and as IR. An `#include` that only the rewritten program
has brings a header that holds nothing but such functions, under names that mean nothing else in the program.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from cudafix import ir
from cudafix.findings import Edit
from cudafix.ir.link import last
from cudafix.models import Tables
from cudafix.pipeline.tree import Tree
from cudafix.project.files import SILENT
from cudafix.project.paths import HEADERS
from cudafix.rewrite import residue
from cudafix.rewrite.align import Different, only_sets_up
from cudafix.rewrite.pool_setup import Call
from cudafix.rewrite.statements import style_of

_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
_GUARDED = re.compile(rb"^[ \t]*#[ \t]*(?:pragma[ \t]+once\b|ifndef\b)", re.MULTILINE)


def functions_of(tree: Tree, header: str, tables: Tables) -> frozenset[str]:
    """The functions of a header that set up the pool, and do nothing else."""
    if not header.endswith(HEADERS):
        return frozenset()
    written = residue.set_ups(tree.files[header], tables).names
    variants = tree.variants_of(header) if written else []
    if len(variants) != 1:
        return frozenset()
    functions = [function for function in variants[0].module.functions if last(function.name) in written]
    names = [last(function.name) for function in functions]
    found = (function for function in functions if _sets_threshold(function) and only_sets_up(function, tables))
    return frozenset(last(function.name) for function in found if names.count(last(function.name)) == 1)


def _sets_threshold(function: ir.Function) -> bool:
    calls = (s for s in function.statements if isinstance(s, ir.Call) and s.callee == "cudaMemPoolSetAttribute")
    return any("cudaMemPoolAttrReleaseThreshold" in repr(call.args) for call in calls)


class Included(NamedTuple):
    """What a rewrite may call of headers, by file, and the headers that each file includes for it."""

    functions: dict[str, frozenset[str]]
    headers: dict[str, list[str]]


def included(before: Tree, after: Tree, paths: Collection[str], tables: Tables) -> Included:
    """Of one program, by its files. Raises Different if an `#include` brings anything else."""
    headers: dict[str, list[str]] = {}
    for path in paths:
        if before.files[path] != after.files[path]:
            known = {header for _, header in before.includes_of(path)}
            headers[path] = [header for _, header in after.includes_of(path) if header not in known]
    if not headers:
        return Included({}, {})
    fresh = {header for added in headers.values() for header in added}
    functions: dict[str, frozenset[str]] = {}
    for header in sorted({path for path in paths if b"MemPoolSetAttribute" in before.files[path]} | fresh):
        same = header in before.files and before.files[header] == after.files[header]
        names = functions_of(before, header, tables) if same else frozenset[str]()
        texts = [before.files[path] for path in paths if path != header]
        functions[header] = frozenset(name for name in names if residue.only_called(name, texts))
        if header in fresh and (not same or functions[header] != names):
            raise Different(f"`{header}` is included, which is not known to hold nothing but what sets up the pool")
    for path, added in headers.items():
        for header in added:
            if not _may_include(before, path, header, tables):
                raise Different(f"{path}: `{header}` is included, which holds more than what sets up the pool")
    changed = headers.keys()
    visible = {path: [header for header in functions if header in after.included(path)] for path in changed}
    return Included({path: frozenset().union(*(functions[h] for h in visible[path])) for path in changed}, headers)


def _may_include(tree: Tree, path: str, header: str, tables: Tables) -> bool:
    """Whether a file stays what it is if it includes a header behind the others: that holds nothing but functions that
    set up the pool, and includes nothing that the file does not.
    """
    found = residue.set_ups(tree.files[header], tables)
    if not found.alone or found.names != functions_of(tree, header, tables):
        return False
    always = {target for at, target in tree.includes_of(path) if _always_counts(tree, path, at)}
    meant = dict(tree.includes_of(header))
    for at, target in tree.files.facts(header).includes:
        if at in meant and (meant[at] not in always or _GUARDED.search(tree.files[meant[at]]) is None):
            return False
        if at not in meant and not target.startswith("<"):
            return False
    return True


def _always_counts(tree: Tree, path: str, at: int) -> bool:
    """Whether what stands at an offset of a file is there under no condition but the guard of the file."""
    data = tree.files[path]
    code = SILENT.sub(lambda match: b" " * len(match[0]), data)
    depth = sum(1 if match[1] == b"if" else -1 for match in _CONDITION.finditer(code, 0, at))
    return depth == int(residue.is_guarded_by_a_name(data))


class Header:
    """The header that the configuration names, for some programs."""

    def __init__(self, tree: Tree, header: str, programs: Sequence[Sequence[str]], tables: Tables) -> None:
        self._tree = tree
        self._header = header
        self._programs = programs
        self._tables = tables
        self._functions = functions_of(tree, header, tables) if header in tree.files else frozenset[str]()

    def sets_up(self, paths: Collection[str]) -> bool:
        """Whether a file of a program calls its function."""
        calls = [re.compile(rb"\b%s\s*\(\s*\)\s*;" % name.encode()) for name in self._functions]
        texts = (self._tree.files[path] for path in paths if path != self._header)
        return any(call.search(text) for text in texts for call in calls)

    def call_in(self, path: str, at: int) -> Call | None:
        """A call of its function at a place of a file; None if the file, or a program of it, gives that another
        meaning.
        """
        if path.endswith(".c") or path == self._header:
            return None
        of = {each for program in self._programs if path in program for each in program if each != self._header}
        texts = [self._tree.files[each] for each in sorted(of)]
        names = sorted(self._functions)
        if not names or not all(residue.only_called(name, texts) for name in names):
            return None
        places = [place for place, target in self._tree.includes_of(path) if target == self._header]
        if places:
            seen = places[0] < at and _always_counts(self._tree, path, places[0])
            return Call(names[0], []) if seen else None
        if self._header in self._tree.included(path) or not _may_include(self._tree, path, self._header, self._tables):
            return None
        edit = self._include(path, at)
        return Call(names[0], [edit]) if edit is not None else None

    def _include(self, path: str, at: int) -> Edit | None:
        """The `#include` behind the last one of a file that always counts, in the way of the others."""
        data = self._tree.files[path]
        places = [
            place
            for place, _ in self._tree.files.facts(path).includes
            if place < at
            and not data[data.rfind(b"\n", 0, place) + 1 : place].strip()
            and _always_counts(self._tree, path, place)
        ]
        name = next(self._names(path), None)
        if not places or name is None:
            return None
        end = data.find(b"\n", max(places)) + 1
        if not end or data[max(places) : end].rstrip().endswith(b"\\"):
            return None
        return Edit(path, end, end, f'#include "{name}"{style_of(data).newline}'.encode())

    def _names(self, path: str) -> Iterator[str]:
        """How a file may name the header: from the folder that most of its other includes start at, else its own."""
        folder = os.path.dirname(path)
        meant = dict(self._tree.includes_of(path))
        roots: Counter[str] = Counter()
        for at, target in self._tree.files.facts(path).includes:
            name = target.strip('<>"')
            if at not in meant or meant[at] == os.path.normpath(os.path.join(folder, name)):
                roots[folder] += at in meant
            elif meant[at] == name or meant[at].endswith("/" + name):
                roots[meant[at][: -len(name)]] += 1  # with its slash
        names = [
            self._header.removeprefix(root)
            for root, count in roots.most_common()
            if count > roots[folder] and self._header.startswith(root)
        ]
        names.append(os.path.relpath(self._header, folder or ".").replace(os.sep, "/"))
        return (name for name in names if self._tree.headers.find(path, f'"{name}"') == self._header)
