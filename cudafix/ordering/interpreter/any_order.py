"""Functions that code which is not seen may call where it runs: in any order, each as often as it likes, or not at all.

They run to a fixpoint of the state. While one of them runs, such code may run again; then all that it may call runs
from the states in which that happens, joined (`Reentered`): how deep that is, and which of them are around it, is not
told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from cudafix import ir
from cudafix.ordering.facts.reach import Reach
from cudafix.ordering.facts.slicing import Slicer
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.engine import Engine
from cudafix.ordering.interpreter.frames import ANY_ELEMENT, Activations, State
from cudafix.ordering.interpreter.memory import Values
from cudafix.ordering.interpreter.state import In

MAX_ROUNDS = 10  # until nothing changes
_MOST_KEPT = 8  # states: who asks again does so soon
_ROOTS_OF_A_STEP = 10  # where functions run inside each other, the states are joined: so many variables are a step


def may_change_values(function: ir.Function, slicer: Slicer, reach: Reach) -> bool:
    """Whether a function stores what may decide, or lets others do so."""
    return slicer.stores(function) or reach.leads_elsewhere(function)


class UnwrittenCalls:
    """The calls that no text writes, where a value is called that leads to a function: the same one each time, as what
    a call leaves is known by it.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[str, tuple[ir.Expr, ...], ir.Span], ir.Call] = {}

    def of(self, name: str, args: tuple[ir.Expr, ...], span: ir.Span) -> ir.Call:
        """The call of the function `name` with these arguments there."""
        if (made := self._made.get((name, args, span))) is None:
            site = ir.Site(span, "", "", ";", blocked="a call through a function pointer")
            made = ir.Call(name, args, span, ir.Span(span.path, 0, 0), span.end, site)
            self._made[name, args, span] = made
        return made


@dataclass(slots=True)
class Reentered:
    """What code that is not seen may call while a function runs that it has called: the functions, what they may be
    given, and the states in which they begin and end there.
    """

    functions: dict[int, ir.Function] = field(default_factory=dict)  # by their `id`
    library: set[str] = field(default_factory=set)
    values: Values = mem.NOTHING
    states: Activations = field(default_factory=Activations)

    def begins(self, functions: Iterable[ir.Function], library: Iterable[str], values: Values, state: State) -> None:
        """These functions may be called in this state, and be given these values."""
        known = len(self.functions), len(self.library), self.values
        self.functions.update((id(function), function) for function in functions)
        self.library.update(library)
        self.values |= values
        self.states.changed |= known != (len(self.functions), len(self.library), self.values)
        self.states.begins(state)


class AnyOrder:
    """Runs functions in any order, by the interpreter of the program; `comes_back` does what host code does that runs
    any number of times, and returns what it may store.
    """

    def __init__(
        self, engine: Engine, unwritten: UnwrittenCalls, comes_back: Callable[[ir.Function, Values, State], Values]
    ) -> None:
        self._engine = engine
        self._unwritten = unwritten
        self._comes_back = comes_back
        self._reentered: Reentered | None = None  # while functions run that unseen code has called
        self._closed_under: dict[tuple[tuple[int, ...], tuple[str, ...], Values], State] = {}
        """Where functions that were given these values have left nothing new."""

    def run(
        self,
        functions: Iterable[ir.Function],
        values: Values,
        of_libraries: Collection[mem.Function],
        span: ir.Span,
        state: State,
    ) -> None:
        """Functions may run here, each given any of these values: of these those that leave no work, and change which
        object is meant behind them, and those of libraries.
        """
        engine, reach = self._engine, self._engine.reach
        running = {id(frame.function) for frame in engine.frames}
        changing = (f for f in functions if may_change_values(f, engine.slicer, reach))
        able = sorted((f for f in changing if id(f) not in running), key=lambda f: f.span)
        library = sorted({one.name for one in of_libraries})
        if not able and not library:
            return
        seen = self._closed_under.get(key := (tuple(map(id, able)), tuple(library), values))
        if seen is not None and seen.is_as(state, self._within_reach_of(able, values, state)):
            return  # they have run from here already, and left what is here
        for function in able:
            if not reach.works_on_device(function):
                self._comes_back(function, mem.UNKNOWN | values, state)
        able = [f for f in able if reach.works_on_device(f) and not reach.leaves_work(f)]
        values = mem.UNKNOWN | frozenset(v for v in values if not isinstance(v, mem.Function))
        if self._reentered is not None:
            self._reenters(self._reentered, able, library, values, state)
            return
        inside = self._reentered = Reentered()
        states = inside.states
        for _ in range(MAX_ROUNDS):
            states.changed = False
            given = {id(f): f for f in (*able, *inside.functions.values())}.values()  # some were given away by others
            among = {*library, *inside.library}
            changed = self._each_runs(given, among, values | inside.values, span, state)
            if states.entry is not None:
                begun = tuple(inside.functions.values())
                self._each_runs(begun, inside.library, inside.values, span, states.entry, states)
            if not changed and not states.changed:
                self._closed_under[key] = state.copy()
                if len(self._closed_under) > _MOST_KEPT:
                    del self._closed_under[next(iter(self._closed_under))]
                break
        else:
            engine.control("functions run in any order", span, state)
        self._reentered = None

    def _reenters(
        self, inside: Reentered, able: list[ir.Function], library: list[str], values: Values, state: State
    ) -> None:
        """Functions may run in any order while one of such functions runs."""
        self._engine.step(1 + sum(1 for _ in state.env) // _ROOTS_OF_A_STEP)
        inside.begins(able, library, values, state)
        if inside.states.exit is not None:
            end = inside.states.exit.copy()
            end.env.keep_variables(state.env, self._within_reach_of(inside.functions.values(), inside.values, state))
            state.join(end)

    def _each_runs(
        self,
        functions: Iterable[ir.Function],
        library: Iterable[str],
        values: Values,
        span: ir.Span,
        state: State,
        inside: Activations | None = None,
    ) -> bool:
        """Each of these functions runs from a state, or none. `inside` of another one the calls are others. Returns
        whether that has changed the state.
        """
        engine = self._engine
        place = ir.Var(f"{ANY_ELEMENT}{span.start}")
        mark = "@" if inside is None else "@@"
        changed = False

        def has_run(after: State | None) -> bool:
            if inside is not None:
                inside.ends(after)
            return after is not None and state.join(after)

        for function in functions:
            name = f"{engine.frame.name}/{span.path}:{span.start}{mark}{function.span.start}{''.join(engine.family)}"
            after, _ = engine.inline(function, [values] * len(function.params), name, values, state.copy())
            changed |= has_run(after)
        for one in sorted(library):
            before = state.copy()
            before.env.write([(engine.root(place.name), ())], values)
            api = engine.tables.any_form(one)
            call = self._unwritten.of(one, (place,) * len(api.roles if api is not None else ()), span)
            changed |= has_run(engine.call(call, before, In.BOTH))
        return changed

    def _within_reach_of(self, functions: Iterable[ir.Function], values: Values, state: State) -> set[mem.Root] | None:
        """The local variables that functions may read or change which are given these values, or find them where all
        may look; None for any.
        """
        if any(ir.LAMBDA in function.name for function in functions):
            return None
        shared = (held for root, inner in state.env if root[0] != "local" for held in inner.values())
        reached = self._engine.reachable(state, values.union(*shared))
        return {v.cell[0] for v in reached if isinstance(v, mem.Ref) and v.cell[0][0] == "local"}
