"""The text that would be written, lowered from scratch and held against the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from operator import ge

from cudafix import ir
from cudafix.ir import blocks_of
from cudafix.ir.link import Program
from cudafix.models import Tables
from cudafix.models.api import Effect, Prototype
from cudafix.ordering.facts.event_objects import EventObjects
from cudafix.ordering.facts.getters import Getters
from cudafix.ordering.interpreter import check
from cudafix.ordering.interpreter.program import Key, Overlay, Violation, key_of
from cudafix.pipeline.alike import Fingerprints, fingerprint
from cudafix.pipeline.shared_set_up import included
from cudafix.pipeline.tree import Tree, View
from cudafix.pipeline.views import views_of
from cudafix.rewrite.align import Different, align
from cudafix.rewrite.groups import groups_of, static_refusal


def undefined(views: Iterable[View]) -> set[Prototype]:
    return {one for view in views for known in view.program.undefined.values() for one in known if not one.is_method}


def words(calls: Sequence[ir.Call]) -> tuple[object, ...]:
    return tuple((c.callee, c.args) for c in calls)


def lockstep(
    before: Tree,
    after: Tree,
    programs: Iterable[list[str]],
    tables: Tables,
    per_thread: bool,
    proved: Overlay | None = None,
) -> list[Violation | str]:
    """What is wrong with `after` as a rewrite of `before`: counterexamples, or why it could not be laid beside it.

    `proved`: the rewrite comes from this plan, which moves no group that is refused, and moves groups whole.
    """
    found: list[Violation | str] = []
    for paths in programs:
        if all(before.files[path] == after.files[path] for path in paths):
            continue
        try:
            shared = included(before, after, paths, tables).functions
        except Different as different:
            return [str(different)]
        tables = tables.without(undefined(views_of(before, [paths])))
        for path in paths:
            if before.files[path] != after.files[path] and before.errors(path, paths) < after.errors(path, paths):
                return [f"{path}: a parse error that was not there"]
        views, rewritten = views_of(before, [paths]), views_of(after, [paths])
        if len(views) != len(rewritten):
            return ["the roots or configurations of the program changed"]
        seen = set()
        fingerprints = Fingerprints(tables)
        for view, other in zip(views, rewritten, strict=True):
            if len(views) > 1:
                pair = tuple((fingerprint(one), fingerprints.beyond(one)) for one in (view, other))
                if pair in seen:
                    continue
                seen.add(pair)
            try:
                getters = Getters.of(other.program, tables)
                stands_for = EventObjects.of(other.program, tables).stands_for
                overlay = align(
                    view.program.modules, other.program.modules, tables, shared, getters.named_by, stands_for
                )
                if overlay == Overlay() or (proved is not None and _same(overlay, proved, view.program, tables)):
                    continue
                if proved is None:
                    found += _unfit(view, overlay, tables, per_thread)
                found += check.run(view.program, tables, overlay, view.root, per_thread=per_thread).violations
            except Different as different:
                return [str(different)]
            except check.OutOfBudget:
                return ["the program is too large for the proof"]
    return found


def _same(overlay: Overlay, proved: Overlay, program: Program, tables: Tables) -> bool:
    """Whether an overlay of one program is what the plan said, as far as the program goes."""
    keys = [
        key for one in (overlay, proved) for part in (one.before, one.after, one.replaced, one.removed) for key in part
    ]
    gaps = _gaps(program, {key.path for key in keys})

    def inserted(one: Overlay) -> dict[tuple[Key, bool], list[ir.Call]]:
        found: dict[tuple[Key, bool], list[ir.Call]] = {}
        for where, is_after in ((one.after, True), (one.before, False)):  # in a gap, the first stand first
            for key, calls in where.items():
                apis = ((call, tables.lookup(call.callee, len(call.args))) for call in calls)
                steps = [call for call, api in apis if api is None or api.effect is not Effect.NOTHING]
                if key in gaps and steps:
                    found.setdefault(gaps[key][is_after], []).extend(steps)
        return found

    def meaning(one: Overlay) -> tuple[object, ...]:
        replaced = {k: (c.callee, c.args) for k, c in one.replaced.items() if k in gaps}
        return replaced, {gap: words(calls) for gap, calls in inserted(one).items()}, one.removed & gaps.keys()

    def looks(one: Overlay) -> list[bool]:
        return [call.look is ir.Look.CHECKED for _, calls in sorted(inserted(one).items()) for call in calls]

    # a status that the proof has looked at has to be looked at; one more look loses no error (docs/FACTS.md)
    return meaning(overlay) == meaning(proved) and all(map(ge, looks(overlay), looks(proved)))


def _gaps(program: Program, paths: AbstractSet[str]) -> dict[Key, tuple[tuple[Key, bool], tuple[Key, bool]]]:
    """For each statement of functions with some of these `paths` the gaps before and behind it, by the statement that
    follows and False, or that stands in front and True. What the host only reads between two statements parts no gap:
    it issues nothing and waits for nothing, and what is inserted behind it in the IR stands in front of the arguments
    that it is of in the text.
    """
    found: dict[Key, tuple[tuple[Key, bool], tuple[Key, bool]]] = {}
    blocks = [function.body for function in program.functions() if not paths.isdisjoint(function.kept("paths", _paths))]
    while blocks:
        block = blocks.pop()
        before: tuple[Key, bool] | None = None
        for stmt, following in zip_longest(block, block[1:]):
            key = key_of(stmt)
            if before is None:
                before = key, False
            reads_only = isinstance(stmt, ir.HostAccess) and not stmt.writes
            behind = before if reads_only else (key, True)
            if following is not None and not reads_only and not isinstance(following, ir.Label):
                behind = key_of(following), False
            found[key] = ((key, False), (key, True)) if key in found else (before, behind)
            before = behind if following is None or not isinstance(following, ir.Label) else None
            blocks += blocks_of(stmt)
    return found


def _paths(function: ir.Function) -> frozenset[str]:
    return frozenset(stmt.span.path for stmt in function.statements)


def _unfit(view: View, overlay: Overlay, tables: Tables, per_thread: bool) -> list[str]:
    """Groups that a rewrite moves although they cannot move, or moves in part."""
    found: list[str] = []
    survey = check.run(view.program, tables, Overlay(), view.root, per_thread=per_thread)
    for group in groups_of([survey]):
        refused = static_refusal(group, [survey])
        blocking = {k for k, s in group.sites() if s.call.callee in ("cudaMalloc", "cudaFree")} - overlay.removed
        moves = blocking & overlay.replaced.keys()
        if moves and refused is not None:
            found.append(f"{refused.name}: {refused.text}")
        elif moves and moves != blocking:
            found.append("allocations and frees that may meet do not move together")
    return found
