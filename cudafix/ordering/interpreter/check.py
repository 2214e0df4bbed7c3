"""Runs the engine over a program from one of its roots (`cudafix.ordering.facts.clients`).

`main` starts with nothing pending. Any other root is checked under its most general caller, which may have work
pending that the function waited for, and may look at anything when it returns (docs/explanation/proof.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.clients import assumption, called, is_client, never_runs, roots
from cudafix.ordering.facts.timing import Timing
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.effects import Effects
from cudafix.ordering.interpreter.engine import OutOfBudget, Settled
from cudafix.ordering.interpreter.frames import Catching, State
from cudafix.ordering.interpreter.machine import Asked, Followed
from cudafix.ordering.interpreter.memory import Environment, Values
from cudafix.ordering.interpreter.program import Outcome, Overlay, Point, Violation
from cudafix.ordering.interpreter.state import Orders, Stream, StreamKind
from cudafix.recursion import room

__all__ = ["Followed", "OutOfBudget", "called", "roots", "run"]


def run(
    program: Program,
    tables: Tables,
    overlay: Overlay,
    root: ir.Function,
    *,
    per_thread: bool = False,
    known: frozenset[object] | None = None,
    settled: Callable[[Outcome], bool] | None = None,
    asked: Asked | None = None,
    ways: list[Followed] | None = None,
) -> Outcome:
    """Run one root. Raises OutOfBudget when the program is too large. `known` violations (kind and place) are the
    original's. A run ends where what it has found is `settled`, which no further step may take back. `asked` streams
    are named where they may be. Of the `ways` to follow calls those are left that are not known to be too large.

    A loop over a family is proved for a generic round, so that all its loops are known to run together. That there may
    be no round at all is looked at apart: what is wrong then is added to the outcome.
    """
    if ways is None:
        kept: dict[int, list[Followed]] = program.kept("what is followed", dict)
        ways = kept.setdefault(id(root), list(Followed))
    once = partial(_once, program, tables, overlay, root, per_thread, ways)
    engine = once(frozenset(), settled=settled, asked=asked)
    outcome = engine.outcome
    if known is not None and any((v.kind, v.later.span) not in known and not v.is_assumed for v in outcome.violations):
        return outcome  # not proved as it is
    if overlay.replaced or overlay.removed or engine.async_objects:
        seen = {_identity(v) for v in outcome.violations}
        others = [once(empty) for empty in _choices(list(engine.ranges))]
        if engine.lints and engine.arrivals:  # one of the paths that meet at a label is the one from above
            others.append(once(frozenset(), straight=True))
        for other in others:
            without = other.outcome
            outcome.uncalm |= without.uncalm
            outcome.steps += without.steps
            for violation in without.violations:
                if _identity(violation) not in seen:
                    seen.add(_identity(violation))
                    certain = violation.certain and not other.empty  # on a path that may be taken
                    outcome.violations.append(replace(violation, certain=certain))
    return outcome


def _identity(v: Violation) -> tuple[object, ...]:
    earlier = v.earlier and (v.earlier.text, v.earlier.stmt)
    return v.kind, earlier, v.later.span, v.object and v.object.call, v.streams, v.certain


def _choices(ranges: list[str]) -> Iterator[frozenset[str]]:
    """Which ranges are empty: any of them, or, of many, each alone and all at once."""
    sizes = range(1, len(ranges) + 1) if len(ranges) <= 3 else {1, len(ranges)}
    for size in sizes:
        yield from map(frozenset, combinations(ranges, size))


def _once(
    program: Program,
    tables: Tables,
    overlay: Overlay,
    root: ir.Function,
    per_thread: bool,
    left: list[Followed],
    empty: frozenset[str],
    straight: bool = False,
    settled: Callable[[Outcome], bool] | None = None,
    asked: Asked | None = None,
) -> Effects:
    steps = 0
    joined: set[int] = program.kept("what is too large with paths apart", set)
    while True:
        engine = Effects(program, tables, overlay, per_thread)
        engine.keeps_apart = id(root) not in joined
        engine.empty, engine.straight, engine.followed, engine.settled = empty, straight, left[0], settled
        engine.asked = asked or engine.asked
        try:
            with suppress(Settled):
                start(engine, root)
            engine.outcome.steps = steps + engine.steps
            _measures(engine)
            _is_stored_late(engine)
            return engine
        except OutOfBudget as error:
            steps += engine.steps
            if engine.has_parted:
                joined.add(id(root))
                continue
            if left[0] is Followed.SHORT and not engine.mixed_up:
                left[:] = (way for way in left if way is not Followed.ALL)  # as large
            if len(left) == 1:
                error.steps = steps
                raise
            del left[0]  # for all runs from this root


def _is_stored_late(engine: Effects) -> None:
    """Where something runs at any time that stores in what others hold, no place is known to hold what it held."""
    late = engine.outcome.stored_late
    if late is not None:
        made = sum(1 << n for site in engine.outcome.allocations.values() for n in site.objects)
        text = f"is live where the order of statements is not known: {late.why}"
        engine.obstacle(made, "control_flow", text, late.span)


def _measures(engine: Effects) -> None:
    """What is there to be timed: an allocation alone that is never used, or one that is compared with the pool's."""
    timing = Timing.of(engine.program, engine.reach)
    for site in engine.outcome.allocations.values():
        call = site.call
        if id(call) in timing.compared:
            text = "is timed beside the same work with stream-ordered memory: the program compares the two"
            engine.obstacle(sum(1 << n for n in site.objects), "allocation_is_timed", text, call.span)
        unused = (n for n in site.objects if not engine.outcome.objects[n].used_by)
        if id(call) in timing.alone and (bits := sum(1 << n for n in unused)):
            text = "is never used: the program measures what the allocation takes"
            engine.obstacle(bits, "allocation_is_timed", text, call.span)


@room()
def start(engine: Effects, root: ir.Function) -> None:
    """Run `engine` from `root` to its end. Raises OutOfBudget."""
    program = engine.program
    is_main = root is program.main
    state = State(Orders(), Environment(engine.overlaid, engine.puns))
    args = [_parameter(engine, state, root, p) for p in root.params]
    this: Values = mem.UNKNOWN if root.cls is not None else mem.NOTHING
    if is_client(root):
        engine.any_order = True
    if is_client(root) and not never_runs(root):
        engine.outcome.assumption = assumption(root)
    if not is_main and not never_runs(root):
        engine.unseen_caller(root, state)
    ready: State | None = state
    if is_main or is_client(root):
        _globals(program, engine.classes, state)
    if is_main:
        for function in program.initializers():
            if ready is not None:
                ready, _ = engine.inline(function, [], f"{function.span.path}{function.name}", mem.NOTHING, ready)
        if ready is not None:  # so may the initializers of a source of which nothing is called
            engine.functions_change(ready)
    left = Catching(len(engine.frames), len(engine.unwinding))
    if not (
        is_main or is_client(root) or root.span.path.endswith(ir.PYTHON)
    ):  # those who call it may catch what leaves it
        engine.catching.append(left)
    end, value = engine.inline(root, args, "", this, ready) if ready is not None else (None, mem.NOTHING)
    engine.catching.clear()
    if (thrown := engine.caught(left, root.span)) is not None:
        span = ir.Span(root.span.path, root.span.end - 1, root.span.end)
        engine.returns(_held(thrown), Point(span, f"an exception leaves `{last(root.name)}`", None), thrown)
    if end is not None and not is_client(root):
        point = Point(ir.Span(root.span.path, root.span.end - 1, root.span.end), f"`{last(root.name)}` returns", None)
        if is_main:
            engine.frames.clear()
            engine.ends(end, point)
        else:
            engine.returns(value.union(_held(end), *engine.returned_inside.values()), point, end)


def _held(state: State) -> Values:
    """What variables at namespace scope hold."""
    return mem.NOTHING.union(*(v for place, inner in state.env if place[0] == "global" for v in inner.values()))


def _globals(program: Program, classes: Classes, state: State) -> None:
    """The pointers at namespace scope when the program starts: null, before initializers run; where another source has
    made them, they may lead anywhere.
    """
    # a member of a namespace may be defined outside of it, by a qualified name (C++17, 10.3.1.2 [namespace.memdef] 2)
    defined = {v.name.removeprefix("::") for module in program.modules for v in module.globals if not v.elsewhere}
    fields = {last(cls): members for module in program.modules for cls, members in module.fields.items()}
    for module in program.modules:
        for variable in module.globals:
            if variable.space != "host":
                continue
            root: mem.Root = "global", module.path if variable.internal else "", variable.name.removeprefix("::")
            is_defined = variable.name.removeprefix("::") in defined
            inside: paths.Path = (("at", paths.ANY),) if variable.array else ()
            pointer = "*" in variable.type.partition("<")[0] + variable.type.rpartition(">")[2]  # no container of them
            if pointer and is_defined and not variable.array:
                state.env.write([(root, ())], frozenset({mem.ZERO}))
            elif not is_defined:
                members = fields.get(last(variable.type), {})
                pointers = [name for name, member in members.items() if "*" in member.type]
                held = [classes.path_to(name, variable.type) for name in pointers]
                for path in [()] if "*" in variable.type else held:
                    state.env.write([(root, (*inside, *path))], mem.UNKNOWN)


def _parameter(engine: Effects, state: State, root: ir.Function, param: ir.Param) -> Values:
    plain = param.type.replace("const", "").strip(" *&")
    pointer = "*" in param.type or param.by_reference
    if plain in ("cudaStream_t", "CUstream") and not pointer:
        stream = Stream(f"{root.name}({param.name})", StreamKind.UNKNOWN, device=engine.device_of_streams(state))
        state.orders.known(stream)
        return frozenset({mem.StreamValue(stream)})
    return mem.UNKNOWN
