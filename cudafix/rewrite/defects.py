"""Defects of code that is stream-ordered already, with the fix of each where one is proved.

The engine reports them when it runs the program as it is. The codemod of each kind proposes edits with what they mean
for the engine (`Proposal`); a proposal is taken only if the defect is gone with it and nothing else is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudafix import ir
from cudafix.findings import Edit, Finding, Place, Runs, Safety
from cudafix.models import Tables
from cudafix.ordering.interpreter.program import Key, Outcome, Overlay, Site, StreamName, Violation, Wrong
from cudafix.ordering.interpreter.state import StreamKind
from cudafix.project import prefilter
from cudafix.rewrite.naming import named_stream

if TYPE_CHECKING:
    from cudafix.rewrite.writer import Writer

Run = Callable[[Overlay], Sequence[Outcome]]


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Edits, and the same as an overlay for the engine."""

    overlay: Overlay
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a codemod may look at: the files, how each is written, the tables, and what the program was seen to do."""

    files: Mapping[str, bytes]
    tables: Tables
    outcomes: Sequence[Outcome]
    writer: Callable[[str], Writer]
    unclear: Sequence[ir.Span] = ()  # functions that could not be read as a whole: what the text says there is a guess
    only_read: frozenset[str] = frozenset()  # files of which nothing is said, and to which nothing is written

    def may_edit(self, proposal: Proposal) -> bool:
        """Whether a proposal leaves the functions alone that could not be read, and the files that only are."""
        if any(edit.path in self.only_read for edit in proposal.edits):
            return False
        edits = [(e.path, e.start) for e in proposal.edits]
        return not any(s.path == path and s.start <= start <= s.end for path, start in edits for s in self.unclear)

    def stream_of(self, stmt: ir.Stmt | None) -> StreamName | None:
        return named_stream(stmt, self.tables)


Propose = Callable[[Violation, Context], Iterator[Proposal]]


def defects(
    survey: Sequence[Outcome],
    run: Run,
    context: Context,
    codemods: Mapping[str, tuple[frozenset[Wrong], Propose]],
) -> tuple[list[Finding], Overlay]:
    """One finding for each faulty statement and codemod, in source order, and the program with all of the fixes."""
    faulty: dict[tuple[str, ir.Span], list[Violation]] = {}
    leading: dict[tuple[str, ir.Span], list[Place]] = {}
    for outcome in survey:
        for v in outcome.violations:
            name = next((n for n, (kinds, _) in codemods.items() if v.kind in kinds), None)
            if v.later.span.path.endswith(prefilter.SUFFIX) and not _one_stream_each(v):
                continue  # streams in lists and dictionaries: which one it is is not known
            if v.later.span.path in context.only_read:
                continue
            if name is not None and v.later.stmt is not None and _certain(v):
                faulty.setdefault((name, v.later.span), []).append(v)
                leading.setdefault((name, v.later.span), _leading_to(v, outcome))
    known = {_identity(v) for outcome in survey for v in outcome.violations}
    mended = Overlay(mends=True)
    found: list[Finding] = []
    turns = sorted(faulty, key=lambda one: (one[1], one[0]))
    again: set[tuple[str, ir.Span]] = set()  # that nothing mends alone: perhaps with what is mended behind it
    for turn in turns:
        name, span = turn
        violations = faulty[turn]
        if found and not _left(run(mended), violations):
            continue  # mended with an earlier one
        proposed = [p for v in violations for p in codemods[name][1](v, context) if context.may_edit(p)]
        chosen = _proved(proposed, violations, mended, run, known)
        if proposed and not chosen and turn not in again:
            again.add(turn)
            turns.append(turn)
            continue
        mended = _merged([Proposal(mended, ()), *chosen])
        edits = tuple(e for p in chosen for e in p.edits)
        found.append(Finding(name, span.path, span.start, violations[0].words, edits, tuple(leading[name, span])))
    found.sort(key=lambda one: (one.path, one.offset, one.codemod))
    return found, mended


def completions(
    survey: Sequence[Outcome],
    run: Run,
    context: Context,
    codemods: Mapping[str, Callable[[Key, Context], Iterator[Proposal]]],
    mended: Overlay,
) -> list[Finding]:
    """Blocking frees of pool memory that are in order as they are, and can be stream-ordered too: one finding each."""
    known = {_identity(v) for outcome in survey for v in outcome.violations}
    faulty = {v.later.span for outcome in survey for v in outcome.violations}
    found: list[Finding] = []
    for key in sorted({key for outcome in survey for key in outcome.frees}):
        sites = [(outcome, outcome.frees[key]) for outcome in survey if key in outcome.frees]
        call = sites[0][1].call
        if (
            call.callee != "cudaFree"
            or call.span in faulty
            or call.name_span.start == call.name_span.end
            or not all(is_of_the_pool(outcome, site) for outcome, site in sites)
        ):
            continue
        for name, proposals in codemods.items():
            for proposal in filter(context.may_edit, proposals(key, context)):
                if all(
                    _identity(v) in known for o in run(_merged([Proposal(mended, ()), proposal])) for v in o.violations
                ):
                    churn = any(site.in_loop or len(site.contexts) > 2 for _, site in sites)
                    assumed = sorted({o.assumption for o, _ in sites if o.assumption is not None})
                    found.append(
                        Finding(
                            name,
                            key.path,
                            key.start,
                            "the memory is of the pool, and can be freed in the order of its stream",
                            proposal.edits,
                            runs=Runs.CHURN if churn else Runs.ONCE,
                            safety=Safety.ASSUMES if assumed else Safety.PROVEN,
                            assumptions=tuple(assumed),
                        )
                    )
                    break
    return found


def is_of_the_pool(outcome: Outcome, site: Site) -> bool:
    """Whether a free gives back stream-ordered memory only, of which everything is known."""
    objects = [outcome.objects[number] for number in site.objects]
    return (
        bool(objects)
        and all(o.memory == "async" and not outcome.obstacles.get(o.number) for o in objects)
        and site.frees_other <= {"null"}
    )


def _leading_to(v: Violation, outcome: Outcome) -> list[Place]:
    """What leads to a defect: the end of the stream, the allocation, the operation that it is about, and the frees of
    the memory.
    """
    places: dict[ir.Span, str] = {}
    if v.kind is Wrong.STREAM_DESTROYED:
        ends = (call for stream in v.streams for call in outcome.destroys.get(stream, ()))
        places |= {call.span: "the stream is destroyed" for call in ends}
    if v.kind in _OF_ONE_BLOCK and v.object is not None:
        if v.object.call is not None:
            places[v.object.call.span] = "allocated here"
        frees = (op.stmt for op in outcome.operations if v.object.freed_by >> op.number & 1)
        places |= {stmt.span: "given back here" for stmt in frees if stmt is not None}
    if v.earlier is not None and v.earlier.stmt is not None:
        places.setdefault(v.earlier.stmt.span, v.earlier.text)
    return [Place(span.path, span.start, text) for span, text in places.items() if span != v.later.span]


_OF_ONE_BLOCK = frozenset({Wrong.USE_AFTER_FREE, Wrong.DOUBLE_FREE, Wrong.RESET_LEAKS, Wrong.OTHER_MEMORY})


def _certain(v: Violation) -> bool:
    """Whether both operations are seen, on streams that are known: two unknown streams may be one."""
    streams = v.streams if v.earlier is None else v.streams | v.earlier.streams
    both = v.streams & v.earlier.streams if v.earlier is not None else frozenset()
    # perhaps both are the legacy stream: then they are in order
    null = len(streams) > 1 and any(s.kind is StreamKind.LEGACY for s in both)
    seen = v.certain and not v.is_assumed
    return seen and (v.apart or not (null or any(s.kind is StreamKind.UNKNOWN for s in streams)))


def _one_stream_each(v: Violation) -> bool:
    """Whether it is known on which stream both operations run."""
    earlier = v.earlier.streams if v.earlier is not None else frozenset()
    return all(len(streams) == 1 and not any(s.summary for s in streams) for streams in (earlier, v.streams) if streams)


def _merged(proposals: Sequence[Proposal]) -> Overlay:
    merged = Overlay(mends=True)
    for proposal in proposals:
        merged.replaced |= proposal.overlay.replaced
        merged.removed |= proposal.overlay.removed
        for mine, theirs in ((merged.before, proposal.overlay.before), (merged.after, proposal.overlay.after)):
            for key, calls in theirs.items():
                mine[key] = [*mine.get(key, ()), *calls]
    return merged


def _left(outcomes: Sequence[Outcome], violations: Sequence[Violation]) -> bool:
    """Whether one of the violations is still there."""
    wanted = {(v.kind, v.later.span) for v in violations}
    return any((v.kind, v.later.span) in wanted for outcome in outcomes for v in outcome.violations)


def _identity(v: Violation) -> tuple[object, ...]:
    return v.kind, v.earlier.stmt.span if v.earlier is not None and v.earlier.stmt is not None else None, v.later.span


def _proved(
    proposals: Sequence[Proposal],
    violations: Sequence[Violation],
    mended: Overlay,
    run: Run,
    known: set[tuple[object, ...]],
) -> list[Proposal]:
    """The fewest proposals with which the statement is in order and nothing else is out of order, if there are any."""

    def good(chosen: Sequence[Proposal]) -> bool:
        outcomes = run(_merged([Proposal(mended, ()), *chosen]))
        return not _left(outcomes, violations) and all(_identity(v) in known for o in outcomes for v in o.violations)

    alone = next(([p] for p in proposals if good([p])), None)
    if alone is not None:
        return alone
    together = list(dict.fromkeys(proposals)) if all(not p.overlay.replaced for p in proposals) else []
    if not together or not good(together):
        return []
    for proposal in list(together):
        rest = [p for p in together if p is not proposal]
        if good(rest):
            together = rest
    return together
