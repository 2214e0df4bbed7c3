"""Functions that `contextlib.contextmanager` has decorated: what `with` runs of them when it is entered and left.

Such a function yields once. `with f(…) as x:` runs it up to there; the rest runs behind the body of the `with`, or, if
an exception leaves the body, from a `raise` that stands in the place of the `yield` (Python 3.13 library, contextlib).
Its variables are kept in between in an object, its frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.frontends.python.meaning import Dotted, Modules, OwnFunction, Resolver
from cudafix.frontends.python.nodes import walk_own
from cudafix.ir import Assign, Block, Deref, Expr, Field, Span, Stmt, Var

ENTER, LEAVE, FAIL = "<enter>", "<leave>", "<fail>"
FRAME = Var("%frame")
GIVEN = "<given>"
"""The field of a frame that has what the function yields."""


def is_context(function: OwnFunction, modules: Modules) -> bool:
    """Whether this is a function with this one decorator, which yields at one place."""
    node, body = function.node, list(walk_own(function.node.body))
    if node.asynchronous is not None or len(node.decorators) != 1:
        return False
    made_by = Resolver(modules, function.outline, None).meaning(node.decorators[0].decorator)
    yields = [one for one in body if isinstance(one, cst.Yield)]
    plain = all(not isinstance(one.value, cst.From) for one in yields)
    return made_by == Dotted("contextlib.contextmanager") and len(yields) == 1 and plain


class InParts(NamedTuple):
    """What a block runs up to a statement of it, behind that, and if that raises. `catches`: an exception may stay."""

    before: Block
    behind: Block
    failing: Block
    catches: bool


def parts_of(block: Sequence[Stmt], at: Stmt, instead: Block, raised: Block) -> InParts | None:
    """The parts of a block around the statement `at`, which runs once on every way through it; `instead` stands in its
    place in front, and `raised` where it raises. None where it may run several times, or not at all.
    """
    for n, stmt in enumerate(block):
        before, behind = tuple(block[:n]), tuple(block[n + 1 :])
        if stmt is at:
            return InParts((*before, *instead), behind, raised, False)
        if isinstance(stmt, ir.Try):
            inner = parts_of(stmt.body, at, instead, raised)
            if inner is not None:
                return InParts(
                    (*before, replace(stmt, body=inner.before)),
                    (replace(stmt, body=inner.behind), *behind),
                    (replace(stmt, body=inner.failing), *behind),
                    inner.catches or not all(map(_raises, stmt.handlers)),
                )
    return None


def _raises(block: Block) -> bool:
    last = block[-1] if block else None
    return isinstance(last, ir.Call) and last.callee == "throw"


def saved(names: Sequence[str], frame: Expr, span: Span) -> Block:
    """The variables of a function are kept in its frame."""
    return tuple(Assign(Field(Deref(frame), name), Var(name), span) for name in names)


def restored(names: Sequence[str], span: Span) -> Block:
    return tuple(Assign(Var(name), Field(Deref(FRAME), name), span) for name in names)
