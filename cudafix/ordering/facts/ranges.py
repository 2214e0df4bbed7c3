"""Which loops visit the same indices: what the bounds of their ranges are, as far as they certainly stay the same.

`for i in range(n)` in two functions is one range only if both have the same `n`: the text alone does not say so. A
bound counts as the same if it is the same number, or the same variable that is assigned once.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from cudafix import ir
from cudafix.ir import blocks_of
from cudafix.ir.link import Program, last
from cudafix.ordering.facts.plain import may_lead

_HANDLES = re.compile(r"\b(?:cudaStream_t|cudaEvent_t|CUstream|CUevent)\b")
_NUMBER = re.compile(r"0|[1-9][0-9]*")  # no octal literal (C++17, 5.13.2 [lex.icon])
_ASSIGN_ANY = frozenset(("builtins.setattr", "builtins.vars", "builtins.exec"))


def text(loop: ir.Loop) -> str:
    """A range as the program says it: those that are empty together where it does not say how many rounds there are."""
    names = (place.name if isinstance(place, ir.Var | ir.Field) else "" for place in loop.bounds)
    return (loop.range or "").format(*names) if loop.bounds else loop.range or ""


def is_size(bound: ir.Expr) -> bool:
    """Whether a bound is the number of the elements of a container."""
    return isinstance(bound, ir.Field) and bound.name == ir.SIZE


def lists_of(loop: ir.Loop) -> list[ir.Expr]:
    """The lists of Python that a loop runs through side by side."""
    sizes = (bound.base for bound in loop.bounds if isinstance(bound, ir.Field) and is_size(bound))
    return [one.base for one in sizes if isinstance(one, ir.Deref)]


def numbered(bounds: str) -> range:
    """The indices of a range, as far as its text says them; none where it does not."""
    low, _, high = bounds.partition(":")
    return range(int(low), int(high)) if _NUMBER.fullmatch(low) and _NUMBER.fullmatch(high) else range(0)


def has_a_round(bounds: str) -> bool:
    """Whether a loop over a range runs at least once, for all that its text says."""
    return len(numbered(bounds)) > 0


def picks(loop: ir.Loop) -> bool:
    """Whether the loop's index picks buffers, streams or events out of arrays."""
    return any(True for _ in picked_from(loop))


def picked_from(loop: ir.Loop) -> Iterator[ir.Expr]:
    """The arrays out of which a loop's index picks."""
    for stmt in ir.walk(loop.body):
        for expr in (stmt.target, stmt.value) if isinstance(stmt, ir.Assign) else ir.given_to(stmt):
            for one in ir.variables(expr):
                if isinstance(one, ir.Index) and loop.index in set(ir.variables(one.index)):
                    yield one.base


def told_apart(program: Program, moves_memory: Callable[[ir.Block, str | None], bool]) -> frozenset[str]:
    """The names of the arrays of streams and events whose elements are told apart by number: from which something is
    picked by a number, or stored by one, beside loops, so that no generic round knows it. No loop, and no call, has
    other arrays beside them, whose elements belong to theirs, and no loop over them moves memory: its streams are those
    of each round.
    """
    return program.kept("told apart", lambda: _told_apart(program, moves_memory))


def _told_apart(program: Program, moves_memory: Callable[[ir.Block, str | None], bool]) -> frozenset[str]:
    beside: dict[str, set[str]] = {}
    found: set[str] = set()
    handles: set[str] = set()
    others: set[str] = set()

    def meet(names: Iterable[str]) -> None:
        for name in (alike := frozenset(names)):
            beside.setdefault(name, set()).update(alike)

    for function in program.functions():
        for stmt in function.statements:
            if isinstance(stmt, ir.Loop) and stmt.index is not None:
                arrays = list(picked_from(stmt))
                meet(map(array_name, arrays))
                handles.update(array_name(one) for one in arrays if _of_handles(program, function, one))
                if arrays and moves_memory(stmt.body, function.cls):
                    others.update(map(array_name, arrays))
                continue
            stored = (stmt.target,) if isinstance(stmt, ir.Assign) else ()
            for one in (one for expr in (*stored, *ir.values_in(stmt)) for one in ir.variables(expr)):
                match one:
                    case ir.Index(base, ir.Const(text)) if _NUMBER.fullmatch(text):
                        found |= {array_name(base)} if _of_handles(program, function, base) else set()
    found &= handles
    for function in program.functions() if found else ():
        for call in (s for s in function.statements if isinstance(s, ir.Call)):
            for called in program.resolve(call.callee, len(call.args), call.span.path, function.cls):
                for param, arg in zip(called.params, call.args, strict=False):
                    if "*" in param.type or "[" in param.type or param.by_reference:
                        meet({param.name, array_name(arg)})
    told: set[str] = set()
    for name in found:
        together, queue = {name}, [name]
        while queue:
            fresh = beside.get(queue.pop(), set()) - together
            together |= fresh
            queue += fresh
        if together <= handles - others:
            told |= together
    return frozenset(told)


def array_name(place: ir.Expr) -> str:
    """The name of an array, whatever the object that it is a part of; nothing for what has no name."""
    while isinstance(place, ir.Addr | ir.Deref | ir.Offset):
        place = place.base
    return last(place.name.split("@")[0]) if isinstance(place, ir.Var | ir.Field) else ""


def _of_handles(program: Program, function: ir.Function, array: ir.Expr) -> bool:
    """Whether an array has streams or events."""
    if isinstance(array, ir.Field):
        return any(map(_HANDLES.search, program.types_of_members().get(array.name, ())))
    if not isinstance(array, ir.Var):
        return False
    if array.name in function.types:
        return _HANDLES.search(function.types[array.name]) is not None
    named = (one for module in program.modules for one in module.globals if last(one.name) == last(array.name))
    return any(_HANDLES.search(one.type) for one in named)


def elements_of_rounds(function: ir.Function) -> dict[str, tuple[ir.Expr, ...]]:
    """The elements, and their parts, that each round of the loops with an index uses for certain, by the index: those
    in its own statements, as far as it cannot be left before.
    """
    found: dict[str, tuple[ir.Expr, ...]] = {}
    for loop in function.statements:
        if not isinstance(loop, ir.Loop) or loop.index is None:
            continue
        used: dict[ir.Expr, None] = {}
        for stmt in loop.body:
            inside = list(ir.walk((stmt,)))
            if any(isinstance(s, ir.Break | ir.Continue | ir.Return) or not _is_known(s) for s in inside):
                break
            exprs = (part for e in ir.values_in(stmt) for part in ir.variables(e)) if len(inside) == 1 else ()
            used |= dict.fromkeys(e for e in exprs if _is_picked_by(e, loop.index))
        found[loop.index.name] = tuple(used)
    return found


def _is_known(stmt: ir.Stmt) -> bool:
    return not isinstance(stmt, ir.Unknown | ir.Switch | ir.Goto | ir.Try)


def _is_picked_by(expr: ir.Expr, index: ir.Var) -> bool:
    """Whether an expression is an element that an index picks, or a part of it."""
    while isinstance(expr, ir.Field):
        expr = expr.base
    return isinstance(expr, ir.Index) and expr.index == index


def copies(loop: ir.Loop, function: ir.Function) -> bool:
    """Whether each round of a loop stores in an element of its own what may be an address or a handle."""
    assigned = (s for s in ir.walk(loop.body) if isinstance(s, ir.Assign) and isinstance(s.value, ir.Index))
    return any(isinstance(s.target, ir.Index) and may_lead(s.value, function) for s in assigned)


def assigned_again(function: ir.Function) -> frozenset[str]:
    """The variables of a function that may be assigned anew after they were used as a bound, or given to a function."""
    return function.kept("assigned again", _assigned_again)


def _assigned_again(function: ir.Function) -> frozenset[str]:
    times = Counter(param.name for param in function.params)
    last: dict[str, int] = {}
    for target, often, at in _targets(function.body):
        if isinstance(target, ir.Var):
            times[target.name] += 1 + often
            last[target.name] = max(last.get(target.name, 0), sys.maxsize if often else at)
    used: dict[str, int] = {}
    for stmt in function.statements:
        places = stmt.bounds if isinstance(stmt, ir.Loop) else stmt.args if isinstance(stmt, ir.Call) else ()
        for place in places:
            if isinstance(place, ir.Var):
                used[place.name] = min(used.get(place.name, sys.maxsize), stmt.span.start)
    return frozenset(name for name, count in times.items() if count > 1 and last.get(name, 0) >= used.get(name, 0))


def assigned(function: ir.Function) -> frozenset[str]:
    """The variables that a function assigns, or gives the address of to a call."""
    names = (target.name for target, _, _ in _targets(function.body) if isinstance(target, ir.Var))
    return function.kept("assigned", lambda _: frozenset(names))


def numbers(loop: ir.Loop) -> tuple[ir.Expr, ...]:
    """The places whose numbers say which rounds a canonical loop has: its bounds, and what its head reads."""
    read = [place for s in loop.condition if isinstance(s, ir.HostAccess) for place in s.reads]
    return (*loop.bounds, *dict.fromkeys(place for place in (*loop.reads, *read) if place not in loop.bounds))


def is_assigned_elsewhere(program: Program, function: ir.Function, place: ir.Expr) -> bool:
    """Whether another function assigns a variable at namespace scope, or a field of the name; where this one does so
    itself, whether one that it calls does.
    """
    if not isinstance(place, ir.Var | ir.Field):
        return False
    if isinstance(place, ir.Var) and ":" not in place.name and place.name in function.types:
        return False
    name = _name(place)
    by = program.kept("assigned by", lambda: _assigned_by(program)).get(name, set())
    if id(function) not in by:
        return bool(by)
    reach = program.reaching(f"assigns {name}", lambda s: any(_name(t) == name for t, _, _ in _targets((s,))))
    calls = (s for s in function.statements if isinstance(s, ir.Call))
    return any(id(callee) in reach for call in calls for callee in program.reached_by(call, function.cls))


def _name(target: ir.Expr) -> str:
    """How a variable at namespace scope (`::n`) or a field (`.n`) is known to all functions."""
    if isinstance(target, ir.Field):
        return f".{target.name}"
    return target.name if isinstance(target, ir.Var) else ""


def _assigned_by(program: Program) -> dict[str, set[int]]:
    """The functions (by `id`) that assign variables at namespace scope and fields (`.n`), by name. A constructor does
    so before anybody looks.
    """
    found: dict[str, set[int]] = {}
    for function in program.functions():
        if function.cls is not None and last(function.name) == last(function.cls):
            continue
        for target, _, _ in _targets(function.body):
            found.setdefault(_name(target), set()).add(id(function))
    return found


def assigned_once(program: Program) -> frozenset[str]:
    """The global variables (`::n`) and fields (`.n`) of a program that are assigned at one place, where that runs once:
    at the top of `main` or of a module, in the constructor of the object.
    """
    return program.kept("assigned once", lambda: _assigned_once(program))


def _assigned_once(program: Program) -> frozenset[str]:
    times: Counter[str] = Counter()
    for function in program.functions():
        if any(isinstance(stmt, ir.Call) and stmt.callee in _ASSIGN_ANY for stmt in function.statements):
            return frozenset()
        name = last(function.name)
        for target, often, _ in _targets(function.body):
            if isinstance(target, ir.Var) and target.name.startswith("::"):
                times[target.name] += 1 if name in ("main", ir.INITIALIZERS) and not often else 2
            elif isinstance(target, ir.Field):
                times[f".{target.name}"] += 1 if name == "__init__" and not often else 2
    return frozenset(name for name, count in times.items() if count == 1)


def _targets(block: ir.Block, often: bool = False) -> Iterator[tuple[ir.Expr, bool, int]]:
    """What statements assign, whether a loop is around them, and where they stand."""
    for stmt in block:
        match stmt:
            case ir.Assign():
                yield stmt.target, often, stmt.span.start
            case ir.Call():
                if stmt.result is not None:
                    yield stmt.result, often, stmt.span.start
                yield from ((arg.base, often, stmt.span.start) for arg in stmt.args if isinstance(arg, ir.Addr))
            case ir.HostAccess():
                yield from ((place, often, stmt.span.start) for place in stmt.writes)
            case ir.Loop(index=ir.Var() as index):
                yield index, True, stmt.span.start
        for inner in blocks_of(stmt):
            yield from _targets(inner, often or isinstance(stmt, ir.Loop))
