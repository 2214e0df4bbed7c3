"""Defects of code that is stream-ordered already, with the fix of each where one is proved.

The engine reports them when it runs the program as it is. The codemod of each kind proposes edits with what they mean for the
engine (`Proposal`); a proposal is taken only if the defect is gone with it and nothing else is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cudafix import ir
from cudafix.findings import Edit, Finding, Place
from cudafix.models import Tables
from cudafix.ordering.program import Outcome, Overlay, StreamName, Violation, Wrong
from cudafix.repair import DEFAULT, spelled

Run = Callable[[Overlay], Sequence[Outcome]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Edits, and the same as an overlay for the engine."""

    overlay: Overlay
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a codemod may look at: the files, the tables, and what the program was seen to do."""

    files: Mapping[str, bytes]
    tables: Tables
    outcomes: Sequence[Outcome]

    def stream_of(self, stmt: ir.Stmt | None) -> StreamName | None:
        """The stream that an operation's own statement names; the default stream where it names none."""
        if isinstance(stmt, ir.Launch):
            return DEFAULT if stmt.stream is None else StreamName(stmt.stream, spelled(stmt.stream))
        if isinstance(stmt, ir.Call):
            api = self.tables.lookup(stmt.callee, len(stmt.args))
            if api is None:
                return None
            for role, arg in zip(api.roles, stmt.args, strict=False):
                if role == "stream":
                    return StreamName(arg, spelled(arg))
            return DEFAULT
        return None


Propose = Callable[[Violation, Context], Iterator[Proposal]]


def defects(
    survey: Sequence[Outcome],
    run: Run,
    context: Context,
    codemods: Mapping[str, tuple[frozenset[Wrong], Propose]],
) -> list[Finding]:
    """One finding for each faulty statement and codemod, in source order."""
    violations: dict[tuple[str, ir.Span], Violation] = {}
    for outcome in survey:
        for v in outcome.violations:
            name = next((n for n, (kinds, _) in codemods.items() if v.kind in kinds), None)
            if name is not None and v.later.stmt is not None and not (v.earlier and v.earlier.assumption):
                violations.setdefault((name, v.later.span), v)
    known = {_identity(v) for outcome in survey for v in outcome.violations}
    found: list[Finding] = []
    for (name, _), v in sorted(violations.items()):
        edits = _proved(codemods[name][1](v, context), v, run, known)
        earlier = v.earlier
        message = f"{earlier.text if earlier is not None else v.later.text} {v.kind.value}"
        related = []
        if earlier is not None and earlier.stmt is not None and earlier.stmt.span != v.later.span:
            related.append(Place(earlier.stmt.span.path, earlier.stmt.span.start, earlier.text))
        found.append(Finding(name, v.later.span.path, v.later.span.start, message, edits, tuple(related)))
    return found


def _identity(v: Violation) -> tuple[object, ...]:
    return v.kind, v.earlier.stmt.span if v.earlier is not None and v.earlier.stmt is not None else None, v.later.span


def _proved(proposals: Iterator[Proposal], v: Violation, run: Run, known: set[tuple[object, ...]]) -> tuple[Edit, ...]:
    for proposal in proposals:
        left = {_identity(w) for outcome in run(proposal.overlay) for w in outcome.violations}
        if not any((w[0], w[2]) == (v.kind, v.later.span) for w in left) and left <= known:
            return proposal.edits
    return ()
