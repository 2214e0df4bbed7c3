"""Runs the engine over a program from its roots: `main`, and every function that nobody in the program calls.

`main` starts with nothing pending. Any other root is checked under its most general caller, which may have work
pending that the function waited for, and may look at anything when it returns (README, "What is proved").
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cudafix import ir
from cudafix.ir import walk
from cudafix.link import Program, last
from cudafix.models import Tables
from cudafix.ordering import memory as mem
from cudafix.ordering.effects import Effects
from cudafix.ordering.engine import UNKNOWN_STREAM, OutOfBudget, State, numbers
from cudafix.ordering.memory import Environment, Values
from cudafix.ordering.program import Outcome, Overlay, Point, Violation, Wrong
from cudafix.ordering.state import Orders, Stream, StreamKind

__all__ = ["OutOfBudget", "roots", "run"]


def called(function: ir.Function) -> Iterator[tuple[str, int]]:
    """The names that a function calls, with the number of arguments."""
    for stmt in walk(function.body):
        if isinstance(stmt, ir.Call):
            yield stmt.callee, len(stmt.args)
        if isinstance(stmt, ir.Call | ir.Unknown):
            for arg in stmt.args if isinstance(stmt, ir.Call) else stmt.parts:
                if isinstance(arg, ir.Addr):
                    arg = arg.base
                if isinstance(arg, ir.FuncRef):  # may be called later, with any arguments
                    yield arg.name, 0


def roots(program: Program) -> list[ir.Function]:
    """Where to start: `main`, and the functions that no other function of the program calls, in source order.

    Functions that reach no allocation and no free are left out.
    """
    functions = list(program.functions())
    calls: dict[int, list[ir.Function]] = {}
    manages: set[int] = set()
    for function in functions:
        found: list[ir.Function] = []
        for name, arity in called(function):
            if name in _MANAGES:
                manages.add(id(function))
            found += program.resolve(name, arity, function.span.path, function.cls)
        calls[id(function)] = found
    grown = True
    while grown:  # callers of a function that allocates or frees
        grown = False
        for function in functions:
            if id(function) not in manages and any(id(f) in manages for f in calls[id(function)]):
                manages.add(id(function))
                grown = True
    reached: set[int] = set()

    def reach(function: ir.Function) -> None:
        stack = [function]
        while stack:
            current = stack.pop()
            if id(current) not in reached:
                reached.add(id(current))
                stack.extend(calls.get(id(current), ()))

    found = []
    main = program.main
    if main is not None:
        found.append(main)
        reach(main)
    if main is not None:
        for function in functions:
            if last(function.name) == "<initializers>":
                reach(function)
    called_by_others = {id(f) for g in functions for f in calls[id(g)] if f is not g}
    for only_uncalled in (True, False):  # then what calls itself in a circle
        for function in functions:
            if id(function) not in reached and not (only_uncalled and id(function) in called_by_others):
                found.append(function)
                reach(function)
    return [f for f in found if id(f) in manages]


_MANAGES = frozenset(
    {"cudaMalloc", "cudaFree", "cudaMallocAsync", "cudaFreeAsync", "cudaMallocFromPoolAsync", "cudaDeviceReset"}
)


def run(
    program: Program,
    tables: Tables,
    overlay: Overlay,
    root: ir.Function,
    *,
    per_thread: bool = False,
    known: frozenset[object] | None = None,
) -> Outcome:
    """Run one root. Raises OutOfBudget when the program is too large. `known` violations (kind and place) are the
    original's.

    A loop over a family is proved for a generic round, so that all its loops are known to run together. That there may
    be no round at all is looked at apart: what is wrong then is added to the outcome.
    """
    engine = _once(program, tables, overlay, root, per_thread, frozenset())
    outcome = engine.outcome
    if known is not None and any((v.kind, v.later.span) not in known and not _assumed(v) for v in outcome.violations):
        return outcome  # not proved as it is
    if overlay.replaced or overlay.removed or engine.async_objects:
        seen = {_identity(v) for v in outcome.violations}
        for empty in _choices(list(engine.ranges)):
            without = _once(program, tables, overlay, root, per_thread, empty).outcome
            outcome.uncalm |= without.uncalm
            for violation in without.violations:
                if _identity(violation) not in seen:
                    seen.add(_identity(violation))
                    outcome.violations.append(violation)
    return outcome


def _assumed(v: Violation) -> bool:
    return v.earlier is not None and v.earlier.assumption is not None


def _identity(v: Violation) -> tuple[object, ...]:
    return v.kind, v.earlier and (v.earlier.text, v.earlier.stmt), v.later.span, v.object and v.object.call, v.streams


def _choices(ranges: list[str]) -> Iterator[frozenset[str]]:
    """Which ranges are empty: any of them, or, of many, each alone and all at once."""
    sizes = range(1, len(ranges) + 1) if len(ranges) <= 3 else {1, len(ranges)}
    for size in sizes:
        yield from map(frozenset, combinations(ranges, size))


def _once(
    program: Program, tables: Tables, overlay: Overlay, root: ir.Function, per_thread: bool, empty: frozenset[str]
) -> Effects:
    engine = Effects(program, tables, overlay, per_thread)
    engine.empty = empty
    is_main = root is program.main
    state = State(Orders(), Environment())
    args = [_parameter(engine, state, root, p) for p in root.params]
    this: Values = mem.UNKNOWN if root.cls is not None else mem.NOTHING
    if not is_main:
        _caller_has_work(engine, state, root)
    start: State | None = state
    if is_main:
        for function in program.functions():
            if last(function.name) == "<initializers>" and start is not None:  # globals, before `main`
                start, _ = engine.inline(function, [], f"{function.span.path}<initializers>", mem.NOTHING, start)
    end, value = engine.inline(root, args, "", this, start) if start is not None else (None, mem.NOTHING)
    if end is not None:
        point = Point(ir.Span(root.span.path, root.span.end - 1, root.span.end), f"`{last(root.name)}` returns", None)
        if is_main:
            engine.frames.clear()
            engine.ends(end, point)
        else:
            _caller_goes_on(engine, end, value, root, point)
    return engine


def _parameter(engine: Effects, state: State, root: ir.Function, param: ir.Param) -> Values:
    plain = param.type.replace("const", "").strip(" *&")
    pointer = "*" in param.type or param.by_reference
    if plain in ("cudaStream_t", "CUstream") and not pointer:
        stream = Stream(f"{root.name}({param.name})", StreamKind.UNKNOWN, device=state.device)
        state.orders.known(stream)
        return frozenset({mem.StreamValue(stream)})
    return mem.UNKNOWN


def _caller_has_work(engine: Effects, state: State, root: ir.Function) -> None:
    op = engine.start_operation("the caller's work", state)
    op.assumption = f"no caller of `{last(root.name)}` relies on it to wait for work that the caller started"
    op.reads = op.writes = 1
    op.prints = True
    op.streams = frozenset({UNKNOWN_STREAM})
    state.orders.issue(1 << op.number, [UNKNOWN_STREAM])


def _caller_goes_on(engine: Effects, end: State, value: Values, root: ir.Function, point: Point) -> None:
    lost = end.unreported
    for bits in end.orders.lost.values():
        lost |= bits
    for number in numbers(lost):
        op = engine.outcome.operations[number]
        engine.wrong(Violation(Wrong.LEAVES, op, point, via=tuple(op.via)))
    held: Values = value
    for place, inner in end.env.roots.items():
        if place[0] == "global":
            held = held.union(*inner.values())
    kept = engine.mask(engine.reachable(end, held)) & end.live
    engine.obstacle(kept, "escapes", f"is still reachable when `{last(root.name)}` returns", point.span)
