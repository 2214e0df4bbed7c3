"""Views: a program in one configuration, from one root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cudafix import ir
from cudafix.ir.device_code import Closures
from cudafix.ir.link import Program
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
    known = tree.wrappers_of(paths)
    closures = Closures()
    for n, own in enumerate(variants):
        for chosen in own:
            picked = tuple(chosen if m == n else _agreeing(others, chosen) for m, others in enumerate(variants))
            if tuple(map(id, picked)) not in seen:
                seen.add(tuple(map(id, picked)))
                parts = dict.fromkeys(v for one, all_ in zip(picked, several, strict=True) for v in (one, *all_))
                programs.append(Program((tree.as_called(variant.module, known) for variant in parts), closures))
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


def functions_of(view: View) -> list[ir.Function]:
    """The functions that a view may run by their names; initializers of globals run in front of `main`."""
    stack = [view.root]
    if view.root is view.program.main:
        stack += view.program.initializers()
    return reached_from(view.program, stack)


def reached_from(program: Program, functions: Iterable[ir.Function]) -> list[ir.Function]:
    """These functions, and those that they may call, in the order of the program."""
    callees: dict[int, list[ir.Function]] = program.kept("callees", dict)
    found: set[int] = set()
    stack = list(functions)
    while stack:
        function = stack.pop()
        if id(function) not in found:
            found.add(id(function))
            if id(function) not in callees:
                callees[id(function)] = list(_may_call(program, function))
            stack += callees[id(function)]
    return [function for function in program.functions() if id(function) in found] if found else []


def _may_call(program: Program, function: ir.Function) -> Iterator[ir.Function]:
    for name, arity, path in check.called(function):
        yield from program.resolve(name, arity, path, function.cls)
        yield from program.methods(name, arity)  # it may be called on an object of any class
        yield from program.derived_ends(name)
