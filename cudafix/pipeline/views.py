"""Views: a program in one configuration, from one root; which of them run the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from cudafix import ir
from cudafix.ir.device_code import Closures
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.ordering.facts.slicing import Slicer
from cudafix.ordering.facts.unwritten import assigned_unseen
from cudafix.ordering.interpreter import check
from cudafix.pipeline.tree import Tree, Variant, View, is_included_by_a_program


def views_of(tree: Tree, programs: list[list[str]]) -> list[View]:
    """Every program in every configuration, from every root.

    Configurations of different files are not multiplied: while one file with candidates takes each of its own, the
    others take the first one that agrees with it on the conditions that both have. Roots that reach no candidate are
    left out. A header that some files include in one configuration and others in another is there in each.
    """
    for paths in programs:
        if tuple(paths) not in tree.views:
            tree.views[tuple(paths)] = _views(tree, paths)
    return [view for paths in programs for view in tree.views[tuple(paths)]]


def _views(tree: Tree, paths: list[str]) -> list[View]:
    programs: list[Program] = []
    variants = [tree.variants_of(p, paths) for p in paths]
    several = [own if len(own) > 1 and tree.differs(p, paths) else [] for p, own in zip(paths, variants, strict=True)]
    seen: set[tuple[int, ...]] = set()
    closures = Closures()
    for n, own in enumerate(variants):
        for chosen in own:
            picked = tuple(chosen if m == n else _agreeing(others, chosen) for m, others in enumerate(variants))
            if tuple(map(id, picked)) not in seen:
                seen.add(tuple(map(id, picked)))
                parts = dict.fromkeys(v for one, all_ in zip(picked, several, strict=True) for v in (one, *all_))
                programs.append(Program((variant.module for variant in parts), closures))
    mains = [sum(f.name in ("main", "::main") for f in program.functions()) for program in programs]
    if 1 in mains:  # two do not link; none is what another program includes
        fewest = 1 if 0 in mains and is_included_by_a_program(tree, paths[0]) else 0
        programs = [program for program, count in zip(programs, mains, strict=True) if fewest <= count <= 1]
    return [View(program, root) for program in programs for root in check.roots(program)]


def _agreeing(variants: Sequence[Variant], chosen: Variant) -> Variant:
    if len(variants) == 1:
        return variants[0]
    wanted = dict(chosen.values)
    return next((m for m in variants if all(wanted.get(c, v) == v for c, v in m.values)), variants[0])


def _reached(program: Program, root: ir.Function) -> set[int]:
    """The functions (by `id`) that a root may run; initializers of globals run in front of `main`."""
    callees: dict[int, list[ir.Function]] = program.kept("callees", dict)
    found: set[int] = set()
    stack = [root]
    if root is program.main:
        stack += program.initializers()
    while stack:
        function = stack.pop()
        if id(function) not in found:
            found.add(id(function))
            if id(function) not in callees:
                callees[id(function)] = list(_may_call(program, function))
            stack += callees[id(function)]
    return found


def _may_call(program: Program, function: ir.Function) -> Iterator[ir.Function]:
    for name, arity in check.called(function):
        yield from program.resolve(name, arity, function.span.path, function.cls)
        yield from program.methods(name, arity)  # it may be called on an object of any class
        yield from program.derived_ends(name)


class Alike:
    """Tells views apart by what they run: configurations that differ elsewhere give the same proof."""

    def __init__(self, tables: Tables, views: Sequence[View]) -> None:
        self._tables = tables
        self._configurations = Counter(view.root.span for view in views)
        self._skeletons: dict[tuple[int, int], bytes] = {}  # by the `id` of slicer and function
        self._seen: set[object] = set()
        self._first: dict[object, View] = {}

    def first(self, view: View) -> View | None:
        """The first view asked for that runs the same statements from the same root, less quiet ones; None if one has
        run them with these too.
        """
        if self._configurations[view.root.span] == 1:
            return view
        if (same := fingerprint(view)) in self._seen:
            return None
        self._seen.add(same)
        slicer = Slicer.of(view.program, self._tables)

        def of(function: ir.Function) -> bytes:
            key = id(slicer), id(function)
            if key not in self._skeletons:
                self._skeletons[key] = _hash(slicer.skeleton(function))
            return self._skeletons[key]

        return self._first.setdefault(fingerprint(view, of), view)


def differences(one: View, other: View) -> frozenset[ir.Span]:
    """The functions in which two views differ."""
    a, b = ({f.span: _statements(f) for f in functions_of(view)} for view in (one, other))
    return frozenset(span for span in a.keys() | b.keys() if a.get(span) != b.get(span))


def _statements(function: ir.Function) -> bytes:
    return function.kept("print", lambda f: _hash((f.name, f.params, f.body, f.problems)))


def fingerprint(view: View, of: Callable[[ir.Function], bytes] = _statements) -> object:
    """Equal for two views only if they run the same statements from the same root."""
    functions = tuple(sorted(of(f) for f in functions_of(view)))
    unseen = tuple(sorted((*assigned_unseen(view.program), *(c for m in view.program.modules for c in m.ended))))
    return of(view.root), functions, view.program.device.facts, tuple(sorted(view.program.globals)), unseen


def functions_of(view: View) -> list[ir.Function]:
    reached = _reached(view.program, view.root)
    return [f for f in view.program.functions() if id(f) in reached]


def _hash(meaning: tuple[object, ...]) -> bytes:
    return hashlib.sha256(repr(meaning).encode("utf-8", "surrogatepass")).digest()
