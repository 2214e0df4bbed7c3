"""Which pairs live in one function: the allocation and every free that its memory may meet.

The engine says which frees those are, whether the pair moves or not. Of memory for which it found none (nothing reaches
the allocation, the program is too large, the pointer is stored out of sight), a free of the same place in the same
function is taken for its free, so that a site does not drop out because it was not understood. A lambda belongs to the
function around it; the body of a macro is a function of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from cudafix import ir
from cudafix.ir import walk
from cudafix.ordering.interpreter.program import Key, Outcome, key_of


def in_one_function(functions: Iterable[ir.Function], outcomes: Iterable[Outcome]) -> frozenset[tuple[str, int]]:
    """Where `cudaMalloc` is called in `functions` (path, offset) and its memory is freed, in the same function only."""
    known = _frees(outcomes)
    spans: dict[str, list[ir.Span]] = defaultdict(list)
    allocations: list[ir.Call] = []
    frees: list[ir.Call] = []
    for function in functions:
        spans[function.span.path].append(function.span)
        for stmt in walk(function.body):
            if isinstance(stmt, ir.Call) and stmt.receiver is None and stmt.callee in ("cudaMalloc", "cudaFree"):
                (allocations if stmt.callee == "cudaMalloc" else frees).append(stmt)

    def around(key: Key) -> tuple[Key, int]:
        """The outermost function that holds a call, as where it starts and ends; the call itself where none does."""
        held = [(s.start, -s.end) for s in spans[key.path] if s.start <= key.start < s.end]
        start, end = min(held, default=(key.start, -key.start))
        return Key(key.path, start), -end

    freed_at = {(around(key_of(free)), _place(free.args[0])) for free in frees if free.args}
    found: set[tuple[str, int]] = set()
    for allocation in allocations:
        key = key_of(allocation)
        here = around(key)
        if known[key]:
            alone = all(around(free) == here for free in known[key])
        else:
            alone = bool(allocation.args) and (here, _place(ir.Deref(allocation.args[0]))) in freed_at
        if alone:
            found.add((key.path, key.start))
    return frozenset(found)


def _frees(outcomes: Iterable[Outcome]) -> dict[Key, set[Key]]:
    """The frees that the memory of each allocation may meet."""
    found: dict[Key, set[Key]] = defaultdict(set)
    for outcome in outcomes:
        of_object: dict[int, set[Key]] = defaultdict(set)
        for key, site in outcome.frees.items():
            for number in site.objects:
                of_object[number].add(key)
        for key, site in outcome.allocations.items():
            for number in site.objects:
                found[key] |= of_object[number]
    return found


def _place(expr: ir.Expr) -> ir.Expr:
    """The place that a free names or an allocation fills; the elements of one array are one place."""
    match expr:
        case ir.Deref(ir.Addr(base)):
            return _place(base)
        case ir.Deref(base):
            return ir.Deref(_place(base))
        case ir.Field(base, name):
            return ir.Field(_place(base), name)
        case ir.Index(base, _):
            return ir.Deref(_place(base))
        case ir.Offset(base):
            return _place(base)
        case _:
            return expr
