"""From the bytes of a CUDA or C++ file to clean syntax trees: one for each configuration of its `#if`s.

In the text that is parsed, comments, directives and inactive branches are spaces, and so is what the grammar cannot
read (`masking`). Nothing is ever moved: byte k of the text stands for byte k of the file, and line ends stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

import tree_sitter
import tree_sitter_cuda

from cudafix.frontends.cuda.parse import masking
from cudafix.frontends.cuda.parse.queries import captures
from cudafix.frontends.cuda.preprocess.configurations import Preprocessor, Redefined, Run, in_force
from cudafix.frontends.cuda.preprocess.directives import scan
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.preprocess.units import Listing, Unit

__all__ = [
    "Configuration",
    "Macro",
    "Parsed",
    "check_macro",
    "configurations",
    "for_others",
    "macros_of",
    "read",
]


@cache
def _query() -> tree_sitter.Query:
    """Compiled where it is asked for: that takes as long as lowering some ten functions."""
    return tree_sitter.Query(tree_sitter.Language(tree_sitter_cuda.language()), "(function_definition) @function")


@dataclass(slots=True)
class Parsed:
    """One file in one configuration.

    `text` has the length of `original`; where they differ, it is masked. `configuration` are the free conditions and
    their values, by normalized text (`defined(X)`). `macros` are those of the program's headers and those that the file
    defines in this configuration. `errors` are byte ranges that the grammar could not read; a missing semicolon after a
    macro is not one. `includes` keep their quotes or brackets. `between` are the directives that mean something where
    they stand, as offset and text: `#include`, or what follows `#pragma`, without `unroll`. `qualifiers` are the CUDA
    qualifiers (`__device__`, `__global__`) that a mask hid, as the offset of the mask and the qualifiers: those of a
    lambda stand behind its `]`, those from a macro before a declaration. `unmasked` is the text in which only comments,
    directives and inactive branches are blank, and macros written out that would be misread; spaces fill up the rest of
    their names, in the ranges `filled` (`expansion`).
    `redefined` are those of the macros that do not mean the same wherever they are used, see `macros_in`.
    `too_many_configurations` are ranges of functions, or of groups at file scope, whose combinations of conditions are
    not all among the trees.
    """

    path: str
    original: bytes
    text: bytes
    tree: tree_sitter.Tree
    configuration: tuple[tuple[str, bool], ...]
    macros: Mapping[str, Macro]
    errors: tuple[tuple[int, int], ...]
    includes: tuple[str, ...]
    too_many_configurations: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, str], ...] = ()
    qualifiers: tuple[tuple[int, str], ...] = ()
    unmasked: bytes = b""
    redefined: Redefined = field(default_factory=dict)
    filled: tuple[tuple[int, int], ...] = ()

    def macros_in(self, start: int, end: int) -> Mapping[str, Macro]:
        """The macros by which a part of the text is read."""
        return in_force(self.macros, self.redefined, self.unmasked, start, end)


@dataclass(slots=True, eq=False)
class Configuration:
    """A configuration of a file, parsed when it is asked for. `values` is the `configuration` of what comes out."""

    path: str
    data: bytes
    run: Run
    values: tuple[tuple[str, bool], ...]
    too_many: tuple[tuple[int, int], ...]
    default: Parsed
    is_default: bool

    def parse(self) -> Parsed:
        parsed = self.default if self.is_default else _parse(self.path, self.data, self.run, self.default)
        parsed.configuration = self.values
        parsed.too_many_configurations = self.too_many
        return parsed


def read(path: str, data: bytes, macros: Mapping[str, Macro] = {}) -> list[Parsed]:
    """Parse `data` in each configuration that may matter, the default one first; never empty, whatever the input.

    `macros` are those of the headers that the file includes, by name.
    """
    return [one.parse() for one in configurations(path, data, macros)]


def configurations(
    path: str,
    data: bytes,
    macros: Mapping[str, Macro] = {},
    unit: Unit | None = None,
    decided: Iterable[tuple[str, bool]] = (),
) -> list[Configuration]:
    """As `read`, without parsing more than the default configuration. The macros of the `unit` come with the headers:
    where each is included. `decided` says of some that conditions ask for whether they are defined.
    """
    preprocessor = Preprocessor(scan(data), path, macros, unit, decided)
    brought = unit.names if unit is not None else frozenset()
    default = preprocessor.run({})
    first = _parse(path, data, default)
    choices, too_many = preprocessor.choices(default, lambda: _functions(first.tree))
    if choices == [{}]:
        return [Configuration(path, data, default, (), too_many, first, True)]
    result: list[Configuration] = []
    seen: set[tuple[object, ...]] = set()
    for chosen in choices:
        run = preprocessor.run(chosen)
        own = [macro for macro in run.macros.values() if macro.path == path or macro.name in brought]
        called = frozenset(macro.name for macro in own if macro.path == path and macro.params is not None)
        mattering = tuple(macro for macro in own if macro.name in brought or preprocessor.matters(macro))
        key = run.text, mattering, called, tuple(run.between), tuple(run.redefined.items())
        if key in seen:
            continue
        seen.add(key)
        values = tuple((atom, value) for atom, value in run.met.items() if atom in chosen)
        is_default = (run.text, run.macros, run.between, run.redefined) == (
            default.text, default.macros, default.between, default.redefined,
        )  # fmt: skip
        result.append(Configuration(path, data, run, values, too_many, first, is_default))
    return result


def macros_of(path: str, data: bytes) -> dict[str, Macro]:
    """Every macro that the file defines, in whatever configuration; what several bodies disagree on is `opaque`."""
    return for_others(path, data)[0]


def for_others(path: str, data: bytes) -> tuple[dict[str, Macro], Listing]:
    """What a file is to those that include it: `macros_of`, and the directives that may change macros."""
    preprocessor = Preprocessor(scan(data), path, {})
    return preprocessor.macros(), preprocessor.listing()


def check_macro(name: str) -> Macro:
    """A macro, or a function, of a header that is not seen, which only looks at the status that it gets first."""
    return Macro(name, ("status", "..."), b"status", 0, "", "transparent", 0, True)


def _parse(path: str, data: bytes, run: Run, like: Parsed | None = None) -> Parsed:
    masked = masking.mask(run.text, run.macros, None if like is None else (like.text, like.tree), run.redefined)
    return Parsed(
        path, data, masked.text, masked.tree, (), run.macros, masked.errors, tuple(run.includes), (),
        tuple(run.between), masked.qualifiers, run.text, run.redefined, run.filled,
    )  # fmt: skip


def _functions(tree: tree_sitter.Tree) -> list[tuple[int, int]]:
    return [(node.start_byte, node.end_byte) for node in captures(_query(), tree.root_node).get("function", [])]
