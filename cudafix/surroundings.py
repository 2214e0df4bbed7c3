"""The macros that a file of a program may use because those define them that include it.

A header that is included where some macro is defined means what that macro says, though nothing in the header shows
it. Such a macro is seen if it is defined, in the same words, wherever a file of the program includes this one: in the
including file in front of the `#include`, in a header in front of it, or again around that file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from cudafix.frontends.cuda.macros import Macro
    from cudafix.tree import Tree

WORD = re.compile(rb"\b[A-Za-z_]\w*")
_UNDEFINED = re.compile(rb"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)

Macros: TypeAlias = "dict[str, Macro]"


class Surroundings:
    """What the files of one program see of the files that include them."""

    def __init__(self, tree: Tree, program: Sequence[str]) -> None:
        self._tree = tree
        self._definitions: dict[str, list[Macro]] = {}
        self._includers: dict[str, list[tuple[str, int]]] = {}  # with where the `#include` stands
        for path in program:
            for at, found in tree.includes_of(path):
                self._includers.setdefault(found, []).append((path, at))
            for name, macro in tree.macros_of(path).items():
                self._definitions.setdefault(name, []).append(macro)

    def of(self, path: str) -> tuple[Macro, ...]:
        """The macros that a file may use and that only those define which include it."""
        if path not in self._includers:
            return ()
        words = {word for word in self._tree.missing(path) if word in self._definitions}
        if not words:
            return ()
        found = self._around(path, self._closed(words))
        used: dict[str, Macro] = {}
        while fresh := sorted(words & found.keys() - used.keys()):  # what their bodies use is seen as well
            for name in fresh:
                used[name] = found[name]
                words |= set(_words(found[name]))
        own = {path, *self._tree.included(path)}
        return tuple(macro for macro in used.values() if macro.path not in own)

    def _closed(self, words: set[str]) -> set[str]:
        """These macros, and those that their bodies use."""
        found, fresh = set[str](), set(words)
        while fresh:
            found |= fresh
            bodies = (macro for name in fresh for macro in self._definitions[name])
            fresh = {word for macro in bodies for word in _words(macro) if word in self._definitions} - found
        return found

    def _around(self, path: str, wanted: set[str]) -> Macros:
        """Those of the wanted macros that are defined wherever the program includes a file: the greatest fixpoint over
        the files from which it is reached, since they may include each other in circles.
        """
        above: dict[str, None] = {path: None}
        for one in (queue := [path]):
            more = dict.fromkeys(i for i, _ in self._includers.get(one, ()) if i not in above)
            above.update(more)
            queue += more
        known: dict[str, Macros] = {one: {} for one in above if one not in self._includers}
        edges = {
            (includer, at): self._in_front(includer, at, wanted)
            for one in above
            for includer, at in self._includers.get(one, ())
        }
        gone = {one: {word.decode() for word in self._tree.words(one, _UNDEFINED)} for one in above}
        changed = True
        while changed:
            changed = False
            for one in reversed(above):  # those that nobody includes first
                seen = [
                    {n: m for n, m in {**known[i], **edges[i, at]}.items() if n not in gone[i]}
                    for i, at in self._includers.get(one, ())
                    if i in known
                ]
                if seen and (common := _common(seen)) != known.get(one):
                    known[one] = common
                    changed = True
        return known.get(path, {})

    def _in_front(self, includer: str, at: int, wanted: set[str]) -> Macros:
        """Which of the wanted macros a file has seen at one of its offsets, in itself and in its headers."""
        headers = [header for start, header in self._tree.includes_of(includer) if start < at]
        found: Macros = {}
        for header in headers:
            order = self._tree.order(header)
            for name in wanted:
                if fits := [macro for macro in self._definitions[name] if macro.path in order]:
                    found[name] = max(fits, key=lambda macro: order[macro.path])
        own = (m for name in wanted for m in self._definitions[name] if m.path == includer and m.body_start < at)
        return found | {macro.name: macro for macro in own}


def _words(macro: Macro) -> Iterator[str]:
    return (word.decode() for word in WORD.findall(macro.body))


def _common(several: Sequence[Macros]) -> Macros:
    """The macros that all have, in the same words."""
    first, *others = several
    return {n: m for n, m in first.items() if all((o := other.get(n)) is m or _same(o, m) for other in others)}


def _same(one: Macro | None, other: Macro) -> bool:
    return one is not None and (one.params, one.body, one.kind) == (other.params, other.body, other.kind)
