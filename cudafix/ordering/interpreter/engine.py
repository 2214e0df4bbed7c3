"""The interpreter: runs a program's IR over the lockstep state of P and Q, from its roots, and collects what is wrong.

Structured control flow needs no graph: branches join, loops run to a fixpoint, `break`, `continue`, `return` and
forward `goto` carry their states to where they arrive. Calls are inlined, within a budget. What a library call means
comes from the tables (`cudafix.models`), through `cudafix.ordering.interpreter.effects`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from cudafix import ir
from cudafix.interrupts import checkpoint
from cudafix.ir import blocks_of, walk
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering.facts import paths, ranges
from cudafix.ordering.facts.any_time import AnyTime
from cudafix.ordering.facts.handing_over import hands_over
from cudafix.ordering.facts.pageable import has_elements, has_its_own, shows_elements_of_others
from cudafix.ordering.facts.paths import array_of
from cudafix.ordering.facts.plain import NUMBERS, beside_elements, stored_as_bytes
from cudafix.ordering.facts.reach import Within
from cudafix.ordering.facts.throwing import may_throw
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.chosen import Chosen
from cudafix.ordering.interpreter.frames import ANY_ELEMENT, NO_CLASSES, Catching, Frame, State, Unwinding, joined
from cudafix.ordering.interpreter.machine import Followed, leading_parts
from cudafix.ordering.interpreter.memory import Cell, Root, Values
from cudafix.ordering.interpreter.program import Key, Outcome, Overlay, Point, Site, Wrong, key_of
from cudafix.ordering.interpreter.state import FRESH, HOST, STATUS, Bits, In, numbers
from cudafix.ordering.interpreter.stream_names import named_streams

MAX_DEPTH = 40  # inlined calls
MAX_NESTING = 200  # blocks in blocks, through calls
_MOST_PARTS = 2  # answers that are looked at apart at a time
MAX_STEPS = 50_000  # statements run for one program, rounds of loops counted
_REFERENCES_TO = re.compile(r"(?:std::)?reference_wrapper\s*<\s*([\w ]+?)\s*>")
_NOT_FOLLOWED = re.compile(r"map\s*<|\breference_wrapper\b")
CELLS_OF_A_STEP = 64  # a statement that stores where it is not known where counts for each so many cells it may mean
MAX_COARSE_STEPS = 5_000  # the same once the program has turned out to be too large, and much of it is one step each


# Types whose destructor frees what they are given.
ADDRESS_OF_A_DEVICE = re.compile(r"(?!0[xX]?0*[uUlL]*$)\d[\da-fA-FxX']*[uUlLzZ]*|[A-Za-z_]\w*")
"""A number that is no null pointer, or a name of one."""
_OWNER = re.compile(r"(?:unique|shared|scoped|auto)_?ptr", re.IGNORECASE)


LOOK_AFTER, LOOK_AGAIN = 2_000, 500
"""Steps after which a run asks for the first time, and again, whether all that it could find out is settled."""


class OutOfBudget(Exception):
    """The program is too large for the proof; nothing in it is rewritten. `steps` is what it took to find out."""

    steps = 0


class Settled(Exception):
    """What a run is for is settled: nothing that comes can change it."""


def _element_of_round(loop: ir.Loop) -> str:
    """The variable of a range-based `for`, which ends with each round; nothing for other loops."""
    if loop.index is None or not loop.index.name.startswith(ir.ROUND):
        return ""
    made = (s for s in loop.body if isinstance(s, ir.Assign) and loop.index in set(ir.variables(s.value)))
    return next((s.target.name for s in made if isinstance(s.target, ir.Var)), "")


def _goes_round(loop: ir.Loop) -> bool:
    """Whether a loop may have more than one round: not `do { … break; … } while (0)`, which is a block to leave."""
    ends = bool(loop.body) and isinstance(loop.body[-1], ir.Break)
    return not ends or any(isinstance(stmt, ir.Continue) for stmt in walk(loop.body))


def _owns(kind: str) -> bool:
    """Whether an object of a type frees the pointers that it is given: a smart pointer, or anything made of them that
    does not hold plain pointers too, as a map from one to the other does.
    """
    head, _, inside = kind.partition("<")
    return _OWNER.search(kind) is not None and (_OWNER.search(head) is not None or not _PLAIN_POINTER.search(inside))


_PLAIN_POINTER = re.compile(r",\s*[\w:\s]+\*\s*>\s*$")  # the last template argument


_THROWS_NOTHING = (ir.Launch, ir.Return, ir.Break, ir.Continue, ir.Goto, ir.Label)


def destructor_of(stmt: ir.Stmt) -> ir.Expr | None:
    """The object, the array of them, or their owner, that a destructor at the end of a scope ends; None for any other
    statement.
    """
    if isinstance(stmt, ir.Loop) and len(stmt.body) == 1 and stmt.index is not None:
        found = destructor_of(stmt.body[0])
        return found.base if isinstance(found, ir.Index) else None
    if isinstance(stmt, ir.Call) and last(stmt.callee).startswith("~") and not stmt.args:
        return stmt.receiver
    if isinstance(stmt, ir.If) and stmt.test.kind == "held" and len(stmt.then) == 1:
        return stmt.test.place  # it ends for what it holds
    return None


def _is_as_large(before: str, now: str) -> bool:
    """Whether one size is another one, or a larger number."""
    return before == now or (before.isdigit() and now.isdigit() and int(before) <= int(now))


def _makes(stmt: ir.Stmt, var: ir.Var) -> bool:
    """Whether a statement is a part of the initialization of an object: a constructor, or a member."""
    if isinstance(stmt, ir.Call):
        cls, _, name = stmt.callee.rpartition("::")
        return stmt.result == var or (stmt.receiver == var and last(cls) == name)
    place = stmt.target if isinstance(stmt, ir.Assign) else None
    while isinstance(place, ir.Field | ir.Index):
        place = place.base
    return place == var or isinstance(stmt, ir.HostAccess)


def _made_at(var: ir.Var, block: ir.Block, end: int) -> int | None:
    """The statement that makes an object which a block destroys at `end`; None if none does."""
    made = None
    holds = isinstance(block[end], ir.If)  # an owner, which may hold other objects before
    for at in range(end - 1, -1, -1):
        stmt = block[at]
        if destructor_of(stmt) == var:
            break
        if isinstance(stmt, ir.Declare) and stmt.var == var:
            while at + 1 < end and _makes(block[at + 1], var):
                at += 1
            return at
        if not holds and not isinstance(stmt, ir.HostAccess) and _makes(stmt, var):
            made = at
    return made


def _launches(arm: ir.Block) -> object:
    """What an arm of a `switch` launches, if it does nothing else and then leaves; None for any other arm."""
    if not arm or not isinstance(arm[-1], ir.Break) or not all(isinstance(s, ir.Launch | ir.Break) for s in arm):
        return None
    return tuple((s.kernel, s.args, s.stream, s.pointer) for s in arm if isinstance(s, ir.Launch))


def _made_in_rounds(before: mem.Environment, after: mem.Environment, key: str) -> list[tuple[Cell, Values]]:
    """The streams that rounds have for certain in elements of their own."""
    return [
        ((root, path), values)
        for root, inner in after
        if inner is not before[root]
        for path, values in inner.items()
        if ("at", key) in path and path not in before[root] and mem.has_stream(values) and mem.UNSET not in values
    ]


def _given_for(param: ir.Var, frame: Frame) -> int | None:
    """The position of the argument that a parameter of a call was given."""
    names = [p.name for p in frame.function.params]
    at = names.index(param.name) if param.name in names and frame.caller is not None else len(frame.given)
    return at if at < len(frame.given) else None


def _own_names(function: ir.Function) -> list[str]:
    """The variables of a function that are objects of their own: no references, and no results of calls."""
    own = (name for name, kind in function.types.items() if kind[-1:] != "&" or name in function.arrays)
    declared = {stmt.var.name for stmt in function.statements if isinstance(stmt, ir.Declare)}
    declared.update(param.name for param in function.params)
    referred = {param.name for param in function.params if param.by_reference}
    return sorted(name for name in own if name not in referred and (name[:1] != "%" or name in declared))


_FEW = 6
"""How many rounds of a loop are looked at one by one, at most."""


class Engine(Chosen):
    """Runs statements. `cudafix.ordering.interpreter.effects.Effects` adds what calls mean."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self.settled: Callable[[Outcome], bool] | None = None  # whether no further step can change what is asked
        self._look_at = LOOK_AFTER
        self.returned_inside: dict[paths.Path, Values] = {}  # of the call that ended last
        self.referred: Values = mem.NOTHING  # by what the call that ended last has returned
        self._families: dict[int, bool] = {}
        # by loop: the lambdas in it with what their closures copy, and its variables
        self._closures_in: dict[int, tuple[list[tuple[str, ir.Var]], list[ir.Var]]] = {}
        self.unwinding: list[Unwinding] = []  # each block around here that has such objects
        self._thrown: State | None = None  # what was thrown here last, if nothing has changed it since
        self._destroyed: dict[int, list[tuple[int, int, ir.Stmt]]] = {}  # see `_objects_of`, by block
        self._declared_in: dict[object, tuple[ir.Stmt, list[str]]] = {}  # see `_scope_ends`, by statement
        self._scopes: list[tuple[str, ir.Block]] = []  # the blocks around here that declare variables, by call
        self._run: dict[type, Callable[[ir.Stmt, State], State | None]] = {
            ir.Call: self._call_statement,
            ir.Launch: self._launch_statement,
            ir.Assign: self._assign,
            ir.Declare: self._declare,
            ir.HostAccess: self._host_access,
            ir.If: self._if,
            ir.Loop: self._loop,
            ir.Switch: self._switch,
            ir.Return: self._return,
            ir.Break: self._break,
            ir.Continue: self._continue,
            ir.Goto: self._goto,
            ir.Label: self._label,
            ir.Try: self._try,
            ir.Unknown: self._unknown_statement,
        }

    # -- calls (see effects) -----------------------------------------------------------------------------------------

    def call(self, call: ir.Call, state: State, where: In) -> State | None:
        raise NotImplementedError

    def launch(self, launch: ir.Launch, state: State) -> State | None:
        raise NotImplementedError

    def unknown(
        self,
        why: str,
        args: tuple[ir.Expr, ...],
        stmt: ir.Call | None,
        span: ir.Span,
        state: State,
        within: Within | None = None,
        stays: bool = False,
    ) -> Values:
        raise NotImplementedError

    def control(self, why: str, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def through_pointer(self, stmt: ir.Unknown, state: State) -> State | None:
        raise NotImplementedError

    def may_mean(self, arity: int) -> list[ir.Function]:
        raise NotImplementedError

    def run_in_any_order(self, functions: Iterable[ir.Function], values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def held_by(self, cls: str | None, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def runs_at_the_end(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def lend(self, state: State, cells: Iterable[Cell]) -> None:
        raise NotImplementedError

    def owned_by(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        raise NotImplementedError

    def held_in(self, kind: str, held: Callable[[], Values], span: ir.Span, state: State) -> None:
        raise NotImplementedError

    # -- blocks ------------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block, state: State | None) -> State | None:
        if self.nesting >= MAX_NESTING:
            raise OutOfBudget
        self.nesting += 1
        declared: dict[Root, ir.Declare] = {}
        self._watch(state)
        scoped = any(isinstance(stmt, ir.Declare) for stmt in block)
        if scoped:
            self._scopes.append((self.frame.name, block))
        state = self._statements(block, 0, state, declared)
        if scoped:
            self._scopes.pop()
            if state is not None:
                names = [stmt.var.name for stmt in block if isinstance(stmt, ir.Declare)]
                self._variables_end(names, block[-1].span, state)
        if state is not None and declared:
            for stmt in declared.values():
                self.held_in(stmt.type, partial(self.whole, state, stmt.var), stmt.span, state)
            state.env.forget(list(declared))
        self.nesting -= 1
        return state

    def _statements(
        self, block: ir.Block, start: int, state: State | None, declared: dict[Root, ir.Declare]
    ) -> State | None:
        """Run the statements of a block from one on; what they declare is added to `declared`."""
        made = self._objects_of(block) if self.catching else []
        entered: ir.Block = ()
        for number, stmt in enumerate(block[start:], start):
            if state is None and not isinstance(stmt, ir.Label) and not self._has_label(stmt):
                continue
            if made:
                entered = self._within(entered, tuple(end for at, to, end in made if at < number < to))
            elif state is not None and isinstance(stmt, ir.If) and self._parts(stmt, block[number + 1 :]):
                return self._apart(block, number, stmt, state, declared)
            if state is not None and self.passes(stmt, state):
                if self.catching:
                    self.perhaps_throws(stmt, state)
                continue
            self.step()
            if isinstance(stmt, ir.Declare) and self._lambda_with(stmt.var) is None:
                declared[self.root(stmt.var.name)] = stmt
            if state is None:
                state = self._unreached(stmt)
                continue
            state = self._run_caught(stmt, state) if self.catching else self._step(stmt, state)
            self._watch(state)
        self._within(entered, ())
        return state

    def _parts(self, stmt: ir.If, rest: ir.Block) -> bool:
        """Whether the paths through a branch stay apart up to the end of the block: the answer to what is asked is the
        same for the rest of the call, another branch asks it again, and they leave different memory in one pointer.
        """
        if stmt.test.asked is None or self.in_parts >= _MOST_PARTS or not self.keeps_apart:
            return False
        question = stmt.test.asked[0]
        if question in self.frame.answers:
            return False

        def again(function: ir.Function) -> bool:
            others = (s for s in ir.walk(rest) if isinstance(s, ir.If) and s.test.asked is not None)
            if not any(other.test.asked is not None and other.test.asked[0] == question for other in others):
                return False
            one, two = self._memory_from(stmt.then), self._memory_from(stmt.other)
            return any(one[place] != two[place] for place in one.keys() & two.keys())

        return self.frame.function.kept(f"is asked again {stmt.span.start}", again)

    def _memory_from(self, block: ir.Block) -> dict[ir.Expr, set[str]]:
        """The places where a block stores pointers, each with the functions that may have given their memory."""
        found: dict[ir.Expr, set[str]] = defaultdict(set)
        for stmt in ir.walk(block):
            if isinstance(stmt, ir.Assign):
                found[stmt.target].add("")
            elif isinstance(stmt, ir.Call):
                api = self.tables.lookup(stmt.callee, len(stmt.args)) if stmt.receiver is None else None
                called = self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path, self.frame.function.cls)
                works = (self.reach.works_on_device(function) for function in called)
                if api is not None and api.effect is not Effect.ALLOC or (api is None and not any(works)):
                    continue
                places = [arg.base for arg in stmt.args if isinstance(arg, ir.Addr)]
                for place in (*places, *((stmt.result,) if stmt.result is not None else ())):
                    found[place].add(stmt.callee)
        return found

    def _apart(
        self, block: ir.Block, number: int, stmt: ir.If, state: State, declared: dict[Root, ir.Declare]
    ) -> State | None:
        """Run a block from a branch on, once for each answer to what that asks."""
        assert stmt.test.asked is not None
        question, answers, loops = stmt.test.asked[0], self.frame.answers, self.loops
        self.in_parts += 1
        self.has_parted = True
        found: list[State | None] = []
        for answer, path in ((True, state.copy()), (False, state)):
            answers[question] = answer
            found.append(self._statements(block, number, path, declared))
        del answers[question]
        self.in_parts -= 1
        return self._met(found[0], found[1], stmt, loops)

    def _step(self, stmt: ir.Stmt, state: State) -> State | None:
        """Run a statement, with what the rewritten program has around it."""
        overlay = self.overlay
        if not (overlay.before or overlay.after):
            return self._run[type(stmt)](stmt, state)
        key = key_of(stmt)
        for inserted in overlay.before.get(key, ()):
            state = self.call(inserted, state, In.REWRITTEN) or state
        after = self._run[type(stmt)](stmt, state)
        if after is not None:
            for inserted in overlay.after.get(key, ()):
                after = self.call(inserted, after, In.REWRITTEN) or after
        return after

    # -- exceptions --------------------------------------------------------------------------------------------------

    def _run_caught(self, stmt: ir.Stmt, state: State) -> State | None:
        """Run a statement in a `try`."""
        if destructor_of(stmt) is not None:  # lets no exception out (C++ [except.dtor])
            kept, self.catching = self.catching, []
            out = self._step(stmt, state)
            self.catching = kept
            return out
        self.perhaps_throws(stmt, state)
        self._thrown = None
        after = self._step(stmt, state)
        self._thrown = None
        return after

    def _within(self, before: ir.Block, destructors: ir.Block) -> ir.Block:
        """From here on an exception runs these, and no longer those from before."""
        if destructors != before:
            self._thrown = None
            if before:
                self._destroy(self.unwinding.pop())
            if destructors:
                self.unwinding.append(Unwinding(len(self.frames), self.loops, self.family, destructors))
        return destructors

    def _destroy(self, block: Unwinding) -> None:
        """Let what was thrown in a block pass on to those around it."""
        if block.thrown is None:
            return
        kept = self.loops, self.family, self.catching
        self.loops, self.family, self.catching = block.loops, block.family, []
        out = self.block(block.destructors, block.thrown)
        self.loops, self.family, self.catching = kept
        if out is not None:
            self.unwind(out, len(self.frames) + 1)

    def perhaps_throws(self, stmt: ir.Stmt, state: State) -> None:
        """What is not known may throw. Functions of CUDA do not; what leaves a block has run its destructors before."""
        if isinstance(stmt, _THROWS_NOTHING) or (isinstance(stmt, ir.Declare) and not stmt.type.startswith("std::")):
            return
        if isinstance(stmt, ir.Call) and (stmt.callee == "throw" or last(stmt.callee).startswith("cu")):
            return
        has_objects = len(self.unwinding) > self.catching[-1].around
        if self._thrown is not state and (has_objects or may_throw(self.program, self.tables, stmt)):
            self.unwind(state.copy(), len(self.frames) + 1)
            self._thrown = state

    def unwind(self, state: State, above: int) -> None:
        """An exception passes the blocks around here, of calls above this depth, to the handlers of a `try`."""
        around = self.catching[-1]
        if state.orders.lost.get(HOST, 0):
            around.ended.update(self._ended_between(around))
        passed = (block for block in reversed(self.unwinding[around.around :]) if block.depth < above)
        first = next(passed, around)
        state.env.forget_calls([frame.name for frame in self.frames[first.depth :]])
        first.thrown = joined(first.thrown, state)

    def caught(self, left: Catching, span: ir.Span) -> State | None:
        """What holds where exceptions are caught that have left what ran; None if there are none."""
        if left.thrown is not None and left.ended:
            self._roots_end([("local", *one) for one in sorted(left.ended)], span, left.thrown)
        return left.thrown

    def _ended_between(self, around: Catching) -> Iterator[tuple[str, str]]:
        """The variables that end where an exception passes from here to a `try`: by call, and by name."""
        for frame in self.frames[around.depth :]:
            yield from ((frame.name, name) for name in self._names_of(frame.function))
        for call, block in self._scopes[around.scopes :]:
            yield from ((call, stmt.var.name) for stmt in block if isinstance(stmt, ir.Declare))

    def _objects_of(self, block: ir.Block) -> list[tuple[int, int, ir.Stmt]]:
        """The objects of a block with a destructor: behind which statement each is made, and before which it ends, by
        its destructor.
        """
        found = self._destroyed.get(id(block))
        if found is None:
            found = self._destroyed[id(block)] = []
            params = {param.name for param in self.frame.function.params}
            for end, stmt in enumerate(block):
                var = destructor_of(stmt)
                if isinstance(var, ir.Var):
                    made = _made_at(var, block, end)
                    if made is None and var.name in params:
                        made = -1
                    if made is not None:
                        found.insert(0, (made, end, stmt))
            if block is self.frame.function.body:
                ends = reversed(self._ends_of_parts(self.frame.function))
                found[:0] = [(-1, len(block), stmt) for stmt in ends]
        return found

    def _ends_of_parts(self, function: ir.Function) -> list[ir.Stmt]:
        """How the bases and members end of an object whose constructor an exception leaves (C++17, 18.2 [except.ctor]
        3): as at the end of its destructor.
        """
        cls = last(function.cls or "")
        if not cls or last(function.name) != cls:
            return []
        ending = self.program.resolve(f"{function.cls}::~{cls}", 0, function.span.path)
        of_this = (ir.Deref(ir.Var("this")), ir.Var("this"))
        return [
            stmt
            for one in ending
            for stmt in one.body
            if (place := destructor_of(stmt)) is not None
            and (place in of_this or getattr(place, "base", None) in of_this)
        ]

    def _watch(self, state: State | None) -> None:
        if state is None:
            return
        state.unwaited &= state.orders.pending[HOST]
        state.apart &= state.orders.pending[HOST]
        if not state.calm:
            self.outcome.uncalm.add(self.frame.function.span)

    def passes_over(self, state: State) -> bool:
        """Whether what has no effect but on the host, and what the host sees, need not be run here."""
        return state.calm

    def passes(self, stmt: ir.Stmt, state: State) -> bool:
        """Whether a statement is quiet, and nothing is lost that it could show (see `facts.slicing`)."""
        found = self.frame.slice
        if id(stmt) not in found.quiet or not self.passes_over(state):
            return False
        if id(stmt) in found.writes and any(
            mem.has_number(state.env[root].get((), mem.NOTHING)) for root in self.exposed
        ):
            return False
        if self.in_disguise and id(stmt) in found.writes:
            return False
        if any(self.device_memory(state, expr) for expr in found.handed.get(id(stmt), ())):
            return False
        return not self.is_rewritten(stmt.span)

    def is_rewritten(self, span: ir.Span) -> bool:
        """Whether the overlay says something of a statement in there."""
        starts = self.anchors.get(span.path, ())
        return bisect_left(starts, span.start) < bisect_left(starts, span.end)

    def _has_label(self, stmt: ir.Stmt) -> bool:
        return bool(self.frame.labels) and any(isinstance(s, ir.Label) for b in blocks_of(stmt) for s in walk(b))

    def _unreached(self, stmt: ir.Stmt) -> State | None:
        """A statement that is reached only through a label in it (or is one)."""
        if isinstance(stmt, ir.Label):
            return self.frame.labels.pop(stmt.name, None)
        state: State | None = None
        for inner in blocks_of(stmt):
            state = joined(state, self.block(inner, None))
        return state

    # -- statements --------------------------------------------------------------------------------------------------

    def _call_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Call)
        key = key_of(stmt)
        if key in self.overlay.removed:
            return self.call(stmt, state, In.ORIGINAL)
        replacement = self.overlay.replaced.get(key)
        if replacement is None:
            return self.call(stmt, state, In.BOTH)
        return self.replaced(stmt, replacement, state)

    def replaced(self, call: ir.Call, replacement: ir.Call, state: State) -> State | None:
        raise NotImplementedError

    def _launch_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Launch)
        return self.launch(stmt, state)

    def _unknown_statement(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Unknown)
        if stmt.why == ir.THROUGH_POINTER and (called := self.through_pointer(stmt, state)) is not None:
            return called
        if stmt.why.endswith(ir.IS_KEPT) and AnyTime.of(self.program, self.tables).may_run(stmt.called, stmt.span.path):
            return state
        within: Within | None = None
        if stmt.why == ir.THROUGH_POINTER:
            meant = self.may_mean(len(stmt.parts) - 1)
            if leaving := [function for function in meant if self.reach.leaves_work(function)]:
                text = f"is live where `{leaving[0].name}` may be called through a pointer or a template parameter"
                self.obstacle(state.live, "unknown_call", text, stmt.span)
                within = Within(works=True, functions=tuple(leaving))
            given = mem.NOTHING.union(*(self.reachable(state, self.whole(state, part)) for part in stmt.parts[1:]))
            named = (mem.Function(name, path) for name, path in self.program.names_of_values)
            self.run_in_any_order(meant, given.union(named), stmt.span, state)
        else:
            within = self.reach.within_text(stmt)
        state.threads |= stmt.why.endswith(ir.AT_ANY_TIME)
        if stmt.why.endswith(ir.STORES_AT_ANY_TIME):
            self.outcome.stored_late = stmt
        if not stmt.parts:
            self.control(stmt.why, stmt.span, state)
        self.unknown(stmt.why, stmt.parts or stmt.reaches, None, stmt.span, state, within, not stmt.parts)
        return state

    def _assign(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Assign)
        self.assign(state, stmt.target, stmt.value, stmt.span)
        return state

    def assign(self, state: State, target: ir.Expr, value: ir.Expr, span: ir.Span) -> None:
        if isinstance(target, ir.Field) and target.name == ir.SIZE:
            self._takes_size(state, target, value)
            return
        if isinstance(target, ir.Field) and target.name == ir.SHRUNK and not self.in_python:
            self._may_shrink(state, target.base, value)
            return
        values = self.as_address(target, self.read(state, value)) or frozenset({mem.OTHER})
        targets = self.cells(state, target)
        made = self._lambda_with(target)
        if made is not None:
            values = self._counted(state, value, values, target)
        if self.in_disguise:
            self._stored_anywhere(state, target, span)
        self.kept_in(target, (value,), state)
        if self.is_seen_as_bytes(target):
            self.seen_as_bytes(state, values)
        null = isinstance(target, ir.Deref | ir.Index) and self.values(state, target.base) == {mem.ZERO}
        if not targets and not null:  # through a null pointer no program stores (C++17, 11.3.2 [dcl.ref] 5)
            self.escape(state, self.whole(state, value), "escapes", "is stored where it cannot be followed", span)
            through = target
            while isinstance(through, ir.Field):
                through = through.base
            if isinstance(through, ir.Deref | ir.Index | ir.Opaque) and (
                mem.leading(values) or not mem.has_number(values)
            ):
                named = [e for e in ir.variables(target) if isinstance(e, ir.Var)]
                around = {cell[0] for e in named for cell in self.cells(state, e)}
                self.written_elsewhere(state, (), values, unseen=True, around=around)
        if isinstance(value, ir.Opaque) and isinstance(target, ir.Var):
            self._owned(state, target, value, values, span)
        elif isinstance(value, ir.Opaque) and isinstance(target, ir.Field):
            self.runs_at_the_end(self.type_of(target), values, span, state)
        inner = self.parts(state, value)  # a struct is copied with all that it holds
        if inner and self.type_stored_in(target).strip() in NUMBERS:
            inner = leading_parts(inner)
        again = made is not None and self._is_held(state, made)
        if again:  # the closures that the lambda has made so far have their own copies: these are of any of them
            targets = targets * 2
        elif not any(part == target for part in ir.variables(value)):
            state.env.forget_inside(targets)
        if not isinstance(target, ir.Var) and mem.leading(values) and self.is_result(state, target):
            self.written_elsewhere(state, (), values, unseen=True)
        if self.sized and not self.in_python:  # where all that changes the size of a list says so
            state.env.resized(targets)
            if isinstance(value, ir.Opaque):  # an object that is made of a container may keep it
                self.lend(state, (cell for part in value.parts for cell in self.cells(state, part)))
        if inner and self.puns and self.classes.is_pun(self.type_stored_in(value), self.type_stored_in(target)):
            for root, _ in targets:
                self.puns.add(root)
        self.store(state, targets, values, span)
        self.whole_changes(state, target, targets, values)
        if isinstance(value, ir.Opaque) and has_elements(self.type_stored_in(target)):  # of the range that these begin
            came = mem.leading(mem.NOTHING.union(*map(state.env.content, values)))
            if came:
                state.env.write_each([((root, (*path, ("at", paths.ANY))), came) for root, path in targets])
        self.store_parts(state, targets, inner, span)
        self.choose(state, target, values)

    def _may_shrink(self, state: State, container: ir.Expr, value: ir.Expr) -> None:
        """A container is about to have this many elements: those beyond are gone."""
        size = ir.Field(container, ir.SIZE)
        cells = self.cells(state, size)
        before = state.env.size(cells[0]) if len(cells) == 1 else None
        now = self._count_of(state, size, value) if before is not None else None
        if before is None or now is None or not _is_as_large(before.text, now.text):
            state.env.loses_elements(self.cells(state, container))

    def _takes_size(self, state: State, size: ir.Field, value: ir.Expr) -> None:
        """A container has this many elements from here on; what it was in its parts, and where it is not known which
        container it is, is not known any more.
        """
        self.sized = True
        cells = self.cells(state, size)
        state.env.resized((root, path[:-1]) for root, path in cells)
        if len(cells) != 1 or not state.env.has_a_size(cells[0]):
            return
        count = self._count_of(state, size, value)
        state.env.write(cells, frozenset({count if count is not None else mem.OTHER}))

    def _count_of(self, state: State, size: ir.Field, value: ir.Expr) -> mem.Number | None:
        """The number of elements that a container gets, or a name for it."""
        values = self.values(state, value)
        only = next(iter(values)) if len(values) == 1 else None
        if self.in_python:
            said = self._bound(value, state) if not isinstance(only, mem.Number) else None
            only = mem.Number(said) if said is not None else only
        elif not isinstance(only, mem.Number) and isinstance(value, ir.Var) and not self.loops:
            said = self.named(state, self.cells(state, value), values, self.name_of("the number", (size, value)))
            only = mem.Number(said) if said is not None else None
        return only if isinstance(only, mem.Number) else None

    def _size_of(self, state: State, size: ir.Field, name: str) -> str | None:
        """How many elements a container has: a number, or its name. With a `name`, it gets this one where none is
        known. None where it may be another number the next time.
        """
        cells = self.cells(state, size)
        if not self.is_of_one(state, cells):
            return None
        known = state.env.size(cells[0])
        if known is not None:
            return known.text
        if name:
            self.sized = True
            state.env.write(cells, frozenset({mem.Number(name)}))
        return name or None

    def whole_changes(self, state: State, target: ir.Expr, cells: list[Cell], values: Values) -> None:
        """A struct or a container gets a value: what its parts lead to may be what that leads to, until it is said
        which part has what. In Python a name stands for another object from here on.
        """
        kind = self.type_of(target).removeprefix("const ")
        if isinstance(target, ir.Deref):
            kind = kind.removesuffix("*").rstrip()
        if self.in_python or kind.endswith("*") or kind in NUMBERS or kind in ir.HANDLES:
            return
        given = mem.leading(values) or frozenset({mem.OTHER})
        for root, path in cells:
            under = state.env.under((root, path))
            parts = [(root, (*path, *inner)) for inner, held in under if inner and mem.leading(held)]
            state.env.write(parts * 2, given)

    def _lambda_with(self, target: ir.Expr) -> str | None:
        """The lambda whose closure has this copy of a variable; None for any other place. In a call of the lambda, it
        is like any variable of that call.
        """
        return self.closures.get((self.frame.function.name, target.name)) if isinstance(target, ir.Var) else None

    def _is_held(self, state: State, name: str) -> bool:
        """Whether somebody holds a function of this name."""
        return any(
            isinstance(value, mem.Function) and value.name == name
            for _, cells in state.env
            for values in cells.values()
            for value in values
        )

    def _counted(self, state: State, value: ir.Expr, values: Values, target: ir.Expr) -> Values:
        """What a closure copies of a number: the same number, of which both know from here on that it is the same."""
        number = isinstance(target, ir.Var) and self.frame.function.types.get(target.name, "") in NUMBERS
        if not number or self.loops or mem.has_number(values):
            return values
        said = self.named(state, self.cells(state, value), values, self.name_of("the number", (target, value)))
        return values if said is None else frozenset({mem.Number(said)})

    def _stored_anywhere(self, state: State, place: ir.Expr, span: ir.Span) -> None:
        """The host stores where an address leads that was made of text or bytes: which variable, is not known."""
        while isinstance(place, ir.Field):
            place = place.base
        if isinstance(place, ir.Index | ir.Deref) and mem.ANYWHERE in self.values(state, place.base):
            text = "is live where the host may store through an address that was made of text, bytes or a number"
            self.obstacle(state.live, "escapes", text, span)

    def kept_in(self, holder: ir.Expr, values: Iterable[ir.Expr], state: State) -> None:
        """Something keeps these. Where it is a map, or has `std::reference_wrapper`s, who stores through it is not
        followed: the numbers of the variables that it leads to are not known from here on.
        """
        while isinstance(holder, ir.Field | ir.Index | ir.Deref):
            holder = holder.base
        kind = self.type_of(holder) if isinstance(holder, ir.Var) else ""
        if _NOT_FOLLOWED.search(kind) is None:
            return
        for value in values:
            led = self.whole(state, value)
            if "reference_wrapper" in kind:  # it is made of the variable itself
                led = led.union(*(map(mem.Ref, self.cells(state, e)) for e in ir.variables(value)))
            self.unfollowed.update(v.cell[0] for v in led if isinstance(v, mem.Ref) and v.cell[0][0] != "memory")

    def is_seen_as_bytes(self, place: ir.Expr) -> bool:
        """Whether a place is a pointer to bytes that its function stores through. Such a pointer may lead to an object
        of any type (C++20, 7.2.1 [basic.lval] 11).
        """
        return isinstance(place, ir.Var) and place.name in self.frame.function.kept("bytes", stored_as_bytes)

    def seen_as_bytes(self, state: State, values: Values) -> None:
        """Somebody has a pointer to bytes, and stores through it: addresses there may be others from now on."""
        places = self.leads_to_addresses(state, values)
        self.of_bytes.update(root for root, _ in places)
        self.written_as_bytes(state, places)

    def _owned(self, state: State, target: ir.Var, value: ir.Opaque, values: Values, span: ir.Span) -> None:
        """An object of some class takes a pointer; its destructor, or the deleter that it is given, may free it."""
        kind = self.frame.function.types.get(target.name, "")
        self.owned_by(kind, values, span, state)
        self.runs_at_the_end(kind, values, span, state)
        deleter = any(isinstance(e, ir.FuncRef) and e.name == "cudaFree" for e in ir.variables(value))
        if deleter or _owns(kind):
            self.obstacle(
                self.mask(values), "deleter", f"is owned by `{target.name}`, whose destructor may free it", span
            )

    def store(self, state: State, targets: list[Cell], values: Values, span: ir.Span) -> None:
        """Write values to cells. What is written to external memory is out of sight from then on."""
        if mem.leading(values):
            self.written_elsewhere(state, (cell for cell in targets if cell[1]), values)
        if any(root[0] == "memory" and root[1] == mem.EXTERNAL for root, _ in targets):
            self.escape(state, values, "escapes", "is stored where it cannot be followed", span)
        self.spend(state, targets)
        state.env.write(targets, values)
        for root, path in targets:
            if path[1:] and path[-1] == ("field", "second") and path[-2][0] == "at":  # of the pair that a map has
                state.env.write([(root, path[:-1])] * 2, values)

    def store_parts(self, state: State, targets: list[Cell], parts: Mapping[paths.Path, Values], span: ir.Span) -> None:
        """Store what the parts of a struct hold."""
        if parts and any(root[0] == "memory" and root[1] == mem.EXTERNAL for root, _ in targets):
            held = mem.NOTHING.union(*parts.values())
            self.escape(state, held, "escapes", "is stored where it cannot be followed", span)
        if held := mem.leading(mem.NOTHING.union(*parts.values())):
            self.written_elsewhere(state, (cell for cell in targets if cell[1]), held)
        self.spend(state, targets, sum(map(len, parts.values())))
        state.env.write_parts(targets, parts)

    def written_elsewhere(
        self,
        state: State,
        cells: Iterable[Cell],
        values: Values,
        unseen: bool = False,
        around: Collection[mem.Root] = (),
    ) -> None:
        """A write to a part of an object, or to what a call has returned. Where that may show what others hold
        (`std::span`, a tuple of references, an object of a class that is not seen), or where the place is `unseen`, it
        may be a write to any element, or to any variable that somebody has the address of, or that the place is named
        by: what is `around` it.
        """
        if self.in_python or not (unseen or any(self._shows_others(root) for root, _ in cells)):
            return
        held = [
            ((root, path), leads)
            for root, inner in state.env
            for path, found in inner.items()
            if (leads := mem.leading(found))
            and (root in self.exposed or root in around or root[0] != "local" or any(kind == "at" for kind, _ in path))
        ]
        given = mem.leading(values).union(*(leads for _, leads in held))
        self.step(len(held) * len(given) // CELLS_OF_A_STEP)
        state.env.write_each((cell, given) for cell, _ in held)

    def _shows_others(self, root: mem.Root) -> bool:
        """Whether what is inside of a variable may be another name of what others hold."""
        if root[0] == "memory" or root[2].startswith(ANY_ELEMENT):
            return False
        if root[0] == "global":
            variable = self.global_at(root)
            kind = variable.type if variable is not None else ""
        else:
            holder = next((frame for frame in reversed(self.frames) if frame.name == root[1]), None)
            kind = holder.function.types.get(root[2], "") if holder is not None else ""
        numbers = _REFERENCES_TO.sub(lambda one: "int" if one[1] in NUMBERS else one[0], kind)  # no address goes there
        return bool(kind) and not has_its_own(numbers) and not self.classes.is_other_class(kind)

    def is_result(self, state: State, place: ir.Expr) -> bool:
        """Whether a place is what a call has returned, or a part of that: a reference, to what is not known."""
        while isinstance(place, ir.Field | ir.Index | ir.Addr | ir.Offset):
            place = place.base
        if not isinstance(place, ir.Var) or not place.name.startswith("%") or self.type_of(place):
            return False
        return not self.referred_by(state, self.root(place.name))

    def spend(self, state: State, targets: Iterable[Cell], values: int = 0) -> None:
        """A write where it is not known where may mean each cell that is there. Raises OutOfBudget."""
        cells = sum(len(state.env[root]) + values for root, _ in targets)
        self.step(cells // CELLS_OF_A_STEP)

    def step(self, number: int = 1) -> None:
        checkpoint()
        self.steps += number
        if self.settled is not None and self.steps >= self._look_at:
            self._look_at = self.steps + LOOK_AGAIN
            if self.settled(self.outcome):
                raise Settled
        if self.steps > (MAX_COARSE_STEPS if self.followed is Followed.NONE else MAX_STEPS):
            raise OutOfBudget

    def escape(self, state: State, values: Values, name: str, text: str, span: ir.Span) -> None:
        reachable = self.reachable(state, values)
        self.unfollowed.update(v.cell[0] for v in reachable if isinstance(v, mem.Ref) and v.cell[0][0] != "memory")
        bits = self.mask(reachable) & ~1
        if bits:
            self.escaped |= bits
            self.obstacle(bits, name, text, span)

    def _declare(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Declare)
        made = self._lambda_with(stmt.var)
        if made is None or not self._is_held(state, made):
            state.env.forget([self.root(stmt.var.name)])
        return state

    def _host_access(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.HostAccess)
        if state.unwaited:
            point = Point(stmt.span, "the host works on it", stmt)
            self.host_races(state, point, self._certainly(state, stmt.reads), self._certainly(state, stmt.writes))
        if state.orders.lost.get(HOST, 0):
            reads, writes = self.touched(state, stmt.reads), self.touched(state, stmt.writes)
            point = Point(stmt.span, "the host works on it", stmt)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=reads, writes=writes)
            self.reads_of_others(state, stmt, reads, self.led_anywhere(state, stmt.reads))
        if stmt.ends:
            return state
        for place in stmt.writes:
            self.overwritten(state, self.cells(state, place))
            if self.in_disguise:
                self._stored_anywhere(state, place, stmt.span)
        for member in beside_elements(stmt.writes):
            self.written_as_bytes(state, self.cells(state, member))
        return state

    def overwritten(self, state: State, cells: Iterable[Cell], fields: bool = True, array: bool = False) -> None:
        """The host stores numbers here: a constant that a variable, an element or a field held is gone. `array`: in any
        element of the arrays that these are elements of. Not `fields`: who stores in fields is followed.
        """
        places = list(cells)
        if places and not any(mem.has_pointer(held) or mem.has_handle(held) for held in map(state.env.read, places)):
            state.env.write([c for c in places if c[1] == () and c[0][0] == "local"], frozenset({mem.OTHER}))
        numbers_in = [
            (root, (*base, *inner))
            for root, path in places
            for base in (array_of(path) if array else path,)
            for inner, values in state.env.under((root, base))
            if mem.has_number(values)
            and not mem.leading(values)
            and ("field", ir.CLASS) not in inner
            and (fields or all(kind != "field" for kind, _ in inner))
        ]
        if len(places) == 1 and not array:
            for cell in numbers_in:
                state.env.write([cell], frozenset({mem.OTHER}))
        else:
            state.env.write_each((cell, frozenset({mem.OTHER})) for cell in numbers_in)

    def _certainly(self, state: State, places: Iterable[ir.Expr]) -> Bits:
        """The memory that host code touches through pointers of which it is known where they lead."""
        return self.led_to(state, (p.base for p in places if isinstance(p, ir.Index | ir.Deref)))

    def led_to(self, state: State, pointers: Iterable[ir.Expr]) -> Bits:
        """The memory that pointers lead to which can have one value only."""
        bits = 0
        for pointer in pointers:
            values = self.values(state, pointer) - {mem.ZERO}  # null leads nowhere
            if len(values) == 1:
                bits |= self.mask(values)
        return bits

    def host_races(self, state: State, point: Point, reads: Bits, writes: Bits) -> None:
        """The host touches memory while work on it runs for which it has not waited."""
        for number in numbers(state.unwaited & state.orders.pending[HOST]):
            op = self.outcome.operations[number]
            shared = (writes & (op.reads | op.writes) | reads & op.writes) & self.host_visible
            for n in numbers(shared):
                self.wrong(Wrong.HOST_RACE, op, point, self.outcome.objects[n])

    def touched(self, state: State, places: Iterable[ir.Expr]) -> Bits:
        bits = 0
        for place in places:
            variable = self.meaning(place.name).variable if isinstance(place, ir.Var) else None
            if variable is not None and variable.space in ("device", "constant"):
                continue  # the host can name the symbol, and touch nothing of it
            for cell in self.cells(state, place):
                bits |= self.mask([mem.reference(cell)])
            if isinstance(place, ir.Index | ir.Deref):
                values = self.values(state, place.base)
                kept = frozenset(v for v in values if isinstance(v, mem.Handle))  # one of what a tuple keeps
                bits |= self.mask(values) | (self.mask(self.reachable(state, kept)) if kept else 0)
            shows = isinstance(place, ir.Var | ir.Field) and shows_elements_of_others(self.type_of(place))
            if shows or self._leads_anywhere(state, place):
                bits |= self.any_of_the_host(state)
        return bits

    def reads_of_others(self, state: State, stmt: ir.HostAccess | ir.Call, reads: Bits, anywhere: bool) -> None:
        """What the host reads may be a clock: others write to a mapping that they have too, and there may be a device
        at an address that is a number. A mapping of a file that holds no times shows none (POSIX, `mmap`).
        """
        if anywhere or (self.wide(reads) & self.shared_bit and self.reach.reads_times):
            point = Point(stmt.span, "the host reads memory that others may keep a clock in", stmt)
            self.host_observes(state, Wrong.CLOCK, point, everything=True)

    def led_anywhere(self, state: State, places: Iterable[ir.Expr]) -> bool:
        """Whether places may be reached through an address that was made of a number, text or bytes."""
        for place in places:
            while not isinstance(place, ir.Var | ir.Const | ir.FuncRef | ir.Opaque | ir.Choice):
                base = place.base
                if isinstance(place, ir.Index | ir.Deref) and self.is_made(state, base):
                    return True
                place = base
        return False

    def is_made(self, state: State, pointer: ir.Expr) -> bool:
        """Whether an address may have been made of a number, text or bytes."""
        while isinstance(pointer, ir.Offset):
            pointer = pointer.base
        if self.in_python:
            return False
        values = self.values(state, pointer)
        if mem.ANYWHERE in values:
            return True
        written = isinstance(pointer, ir.Const | ir.Opaque)
        if not written and "*" not in self.type_of(pointer):
            return False
        numbers = any(isinstance(v, mem.Number) and ADDRESS_OF_A_DEVICE.fullmatch(v.text) for v in values)
        return numbers or (isinstance(pointer, ir.Opaque) and not mem.leading(values))

    def _leads_anywhere(self, state: State, place: ir.Expr) -> bool:
        """Whether a place is reached through a pointer that somebody has stored in a way that was not understood: it
        may be any memory that the host can touch.
        """
        while isinstance(place, ir.Field):
            place = place.base
        if not isinstance(place, ir.Index | ir.Deref):
            return False
        values = self.values(state, place.base)
        if self.in_python:  # an array is no pointer; what memory it shows, nobody says
            return self._may_show_anything(values)
        kind = self.type_of(place.base)
        if (not kind or "*" in kind or "&" in kind) and self.is_unset(values):
            return True
        cells = self.cells(state, place) if not mem.has_pointer(values) else []
        return any(not self.has_own_elements(mem.reference(cell)) for cell in cells)

    def may_lead_anywhere(self, state: State, pointer: ir.Expr) -> bool:
        """The same of what a function of the host is given."""
        if isinstance(pointer, ir.Const | ir.FuncRef):
            return False
        values = self.values(state, pointer)
        if self.in_python:
            return self._may_show_anything(values)
        kind = self.type_of(pointer)
        if "*" in kind or (not kind and (self.pins_unknown or bool(self.shared_bit))):
            return self.is_unset(values)
        return any(isinstance(v, mem.Ref) and not self.has_own_elements(v) for v in values)

    def _may_show_anything(self, values: Values) -> bool:
        """Whether the memory of an object of Python may be some that the device works on while nobody waits."""
        return (self.pins_unknown or bool(self.shared_bit)) and not self.is_resolved(values)

    def _if(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.If)
        if stmt.test.asked is not None and (answer := self.frame.answers.get(stmt.test.asked[0])) is not None:
            return self.block(stmt.then if answer is stmt.test.asked[1] else stmt.other, state)
        if stmt.test.kind == "is" and (found := self._is_of_class(state, stmt.test)) is not None:
            return self.block(stmt.then if found else stmt.other, state)
        if stmt.test.kind == "held" and (holds := self._holds(state, stmt.test)) is not None:
            return self.block(stmt.then if holds else stmt.other, state)
        then, other = state, state.copy()
        if stmt.test.kind == "held" and stmt.test.place is not None:
            self._refine(then, other, stmt.test.place)
        elif stmt.test.kind in ("nonnull", "null") and stmt.test.place is not None:
            some, none = (then, other) if stmt.test.kind == "nonnull" else (other, then)
            self._refine(some, none, stmt.test.place)
        moves = stmt.test.text in (ir.MOVES, ir.COPIES)
        if stmt.test.text == ir.MOVES and self._leaves_nothing(stmt):
            return state
        self.growing += moves
        one = self.block(stmt.then, then)
        self.growing -= moves
        return self._met(one, self.block(stmt.other, other), stmt, self.loops)

    def _leaves_nothing(self, stmt: ir.If) -> bool:
        """Whether a vector of this class is the same when it has moved its elements."""
        calls = (s for s in walk(stmt.then) if isinstance(s, ir.Call) and "::~" in s.callee)
        return all(self._hands_over(call.callee.rpartition("::")[0]) for call in calls)

    def _hands_over(self, cls: str) -> bool:
        return self.program.kept(f"hands over {cls}", lambda: hands_over(self.program, self.tables, cls))

    def _holds(self, state: State, test: ir.Test) -> bool | None:
        """Whether an owner holds an object; None where it may or may not. What `new` returns is not null (C++17,
        6.7.4.1 [basic.stc.dynamic.allocation] 4).
        """
        cells = self.cells(state, test.place) if test.place is not None else ()
        if len(cells) != 1 or paths.is_summary(cells[0][1]):
            return None
        values = state.env.read(cells[0])
        empty = {
            value == mem.ZERO if isinstance(value, mem.Number | mem.Ref) else False if self.made_as({value}) else None
            for value in values
        }
        found = empty.pop() if len(empty) == 1 else None
        return None if found is None else not found

    def _is_of_class(self, state: State, test: ir.Test) -> bool | None:
        """Whether an object of Python is of a class, which it stays; None where that is not certain. A number is of
        none, and neither is a stream, an event or an address, which are numbers.
        """
        leads = self.values(state, test.place) if test.place is not None else mem.NOTHING
        found: set[bool | None] = set() if leads else {None}
        for value in leads:
            if isinstance(value, mem.Ptr) and value.object != mem.EXTERNAL and not value.interior:
                classes = self._said_class(state, value)
                known = bool(classes) and all(isinstance(one, mem.Number) for one in classes)
                one = mem.Number(test.text) in classes
                found.add(one if known and (not one or len(classes) == 1) else None)
            else:
                found.add(False if isinstance(value, mem.StreamValue | mem.EventValue | mem.Number) else None)
        return found.pop() if len(found) == 1 else None

    def _said_class(self, state: State, value: mem.Ptr) -> Values:
        """What says of which class an object of Python is; nothing where nobody says it."""
        cell = mem.at(value, "0") if self.is_container(value) else None
        return state.env.class_of(cell) if cell is not None else mem.NOTHING

    def _met(self, one: State | None, two: State | None, at: object, loops: int) -> State | None:
        """Two paths meet, in so many loops. Either may have picked a device, and the program stays on it: outside of
        loops that is one device.
        """
        if one is not None and two is not None and one.device != two.device and not loops:
            one.device = two.device = self.name_of("the device picked", at)
            self._devices.add(one.device)
        return joined(one, two)

    def _refine(self, some: State, none: State, place: ir.Expr) -> None:
        cells = self.cells(some, place)
        if len(cells) == 1 and not paths.is_summary(cells[0][1]):
            values = some.env.read(cells[0])
            if mem.ZERO in values and len(values) > 1:
                some.env.write(cells, values - {mem.ZERO})
                none.env.write(cells, frozenset({mem.ZERO}))
            if self.lints and self.async_objects:
                none.env.gone |= {cells[0]}
            only = next(iter(values)) if len(values) == 1 else None
            if isinstance(only, mem.Ptr) and only.object and not self.outcome.objects[only.object].several:
                none.live &= ~(1 << only.object)  # it was not allocated: `cudaMalloc` failed, or was asked for no byte

    def _switch(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Switch)
        self.frame.breaks.append(None)
        through: State | None = None
        seen: set[object] = set()
        for arm in stmt.arms:
            only = _launches(arm)
            if only is not None and through is None and only in seen:
                continue  # another instance of the same template, launched with the same arguments
            seen.add(only)
            through = self.block(arm, joined(state.copy(), through))
        left = self.frame.breaks.pop()
        self._scope_ends(stmt, left)
        out = joined(through, left)
        return out if stmt.has_default else joined(out, state)

    def _try(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Try)
        # An exception may leave the body after any of its statements; what was released then is not released twice.
        seen = state.copy()
        current: State | None = state
        self.catching.append(Catching(len(self.frames), len(self.unwinding), len(self._scopes)))
        self._thrown = None
        made = self._objects_of(stmt.body)
        self._scopes.append((self.frame.name, stmt.body))
        live: ir.Block = ()
        for number, inner in enumerate(stmt.body):
            live = self._within(live, tuple(end for at, to, end in made if at < number < to))
            current = self.block((inner,), current)
            if current is not None and not live:
                seen.join(current)
        self._within(live, ())
        self._scopes.pop()
        if current is not None:
            names = [inner.var.name for inner in stmt.body if isinstance(inner, ir.Declare)]
            self._variables_end(names, stmt.span, current)
        thrown = self.caught(self.catching.pop(), stmt.span)
        if thrown is not None:
            seen.join(thrown)
        if self.catching and not stmt.all:
            self.unwind(seen.copy(), len(self.frames) + 1)
        out = current
        for handler in stmt.handlers:
            out = joined(out, self.block(handler, seen.copy()))
        return out

    def _return(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Return)
        if stmt.value is not None:
            inside = self.frame.inside
            sizes = {path for path in inside if path[-1] == ("field", ir.SIZE)}
            if self.frame.function.by_reference:
                self.frame.referred |= frozenset(map(self.reference, self.cells(state, stmt.value)))
            for cell in self.cells(state, stmt.value) if isinstance(stmt.value, ir.Var | ir.Field | ir.Index) else ():
                for path, held in state.env.under(cell):
                    if path:
                        inside[path] = inside.get(path, mem.NOTHING) | held
                        if self.frame.returned is not None and path[-1] == ("field", ir.SIZE):
                            inside[path] |= mem.NOTHING if path in sizes else frozenset({mem.OTHER})
                        sizes.discard(path)
            for path in sizes:  # what another `return` gives has a size that is not known
                inside[path] |= {mem.OTHER}
            value = self.values(state, stmt.value) if inside else self.whole(state, stmt.value)
            if "*" in self.frame.function.returns and mem.OTHER in value:
                value |= {mem.ANYWHERE}
                self.in_disguise = True
            self.frame.value |= value
        self.frame.returned = self._met(self.frame.returned, state, stmt, self.frame.loops)
        return None

    def _break(self, stmt: ir.Stmt, state: State) -> State | None:
        if self.frame.breaks:
            self.frame.breaks[-1] = joined(self.frame.breaks[-1], state)
        return None

    def _continue(self, stmt: ir.Stmt, state: State) -> State | None:
        if self.frame.continues:
            self.frame.continues[-1] = joined(self.frame.continues[-1], state)
        return None

    def _goto(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Goto)
        nested = [block for call, block in self._scopes if call == self.frame.name][1:]
        names = [s.var.name for block in nested for s in block if isinstance(s, ir.Declare)]
        self._variables_end(names, stmt.span, state)
        self.frame.labels[stmt.label] = joined(self.frame.labels.get(stmt.label), state)
        return None

    def _label(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Label)
        jumped = self.frame.labels.pop(stmt.name, None)
        if state is None or jumped is None:
            return state if jumped is None else jumped
        self.arrivals = True
        return state if self.straight else joined(jumped, state)

    # -- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, stmt: ir.Stmt, state: State) -> State | None:
        assert isinstance(stmt, ir.Loop)
        if stmt.index is not None and stmt.range is not None:
            is_family = self.is_family(stmt) and self._leads_somewhere(stmt, state)
            if is_family and (rounds := range(self._listed_one_by_one(stmt, state))):
                start = state.copy()
                if (done := self._one_by_one(stmt, rounds, state)) is not None:
                    return done[0]
                state = start  # a round has changed what there is
            if is_family and not stmt.range.startswith(ir.KEYS) and (bounds := self.range_of(stmt, state)) is not None:
                has_sizes = any(map(ranges.is_size, stmt.bounds))
                if has_sizes and bounds == "0:0" and not stmt.condition:  # of an empty container
                    return state
                start = state.copy() if has_sizes else state
                rounds = self._told_apart(stmt, bounds)
                done = self._one_by_one(stmt, rounds, state) if rounds else None
                end = done[0] if done is not None else self._family(stmt, bounds, state)
                if not has_sizes:
                    return end
                if end is None or self.range_of(stmt, end) == bounds:
                    return end
                state = start  # a round has changed how many there are
        goes_round = _goes_round(stmt)
        self.loops += goes_round
        self.frame.breaks.append(None)
        if stmt.index is not None:
            state.env.write([(self.root(stmt.index.name), ())], frozenset({mem.OTHER}))
        out = self._rounds(stmt, state, at_least_once=stmt.at_least_once)
        left = self.frame.breaks.pop()
        self._scope_ends(stmt, left)
        self.loops -= goes_round
        return left if stmt.forever else joined(out, left)

    def is_family(self, loop: ir.Loop) -> bool:
        """Whether the rounds of a loop work on members of a family of buffers, streams or events, one each."""
        if id(loop) not in self._families:
            function = self.frame.function
            works = self.reach.device_work_in(loop.body, function.cls) or ranges.copies(loop, function)
            self._families[id(loop)] = works and ranges.picks(loop)
        return self._families[id(loop)]

    def _leads_somewhere(self, loop: ir.Loop, state: State) -> bool:
        """Whether what a loop picks may be more than numbers and texts: the lists of Python that it runs through hold
        more, or it picks from others.
        """
        lists = ranges.lists_of(loop) if self.in_python else []
        if not lists or any(base not in lists for base in ranges.picked_from(loop)):
            return True
        return any(mem.leading(self.values(state, ir.Index(one, ir.Opaque(())))) for one in lists)

    def _told_apart(self, loop: ir.Loop, bounds: str) -> range:
        """The few rounds of a loop in C++ of which none stands for the others; none where one does."""
        arrays = map(ranges.array_name, ranges.picked_from(loop))
        if self.in_python or ranges.told_apart(self.program, self.reach.moves_memory_in).isdisjoint(arrays):
            return range(0)
        counted = ranges.numbered(bounds)
        return counted if len(counted) <= _FEW else range(0)

    def _listed_one_by_one(self, loop: ir.Loop, state: State) -> int:
        """How many rounds a loop has through lists of Python whose few elements are known one by one; 0 for any other.
        The keys of a dictionary are known if no two of them are the same.
        """
        lists = ranges.lists_of(loop) if self.in_python else []
        counts: set[int] = set()
        for one in lists:
            size = self._size_of(state, ir.Field(ir.Deref(one), ir.SIZE), "")
            count = int(size) if size is not None and size.isdigit() and 0 < int(size) <= _FEW else 0
            held = [self.values(state, ir.Index(one, ir.Const(str(n)))) for n in range(count)]
            cells = [self.cells(state, ir.Index(one, ir.Const(str(n)))) for n in range(count)]
            certain = all(len(cell) == 1 and cell[0][1] in state.env[cell[0][0]] for cell in cells)
            others = (
                {path for cell in cells[:1] for path in state.env[cell[0][0]] if len(path) == 1} if certain else set()
            )
            texts = [values for values in held if any(isinstance(v, mem.Number) for v in values)]
            plain = len(others) == count and all(len(values) == 1 for values in texts)
            counts.add(count if certain and plain and len(set(texts)) == len(texts) else 0)
        return counts.pop() if len(counts) == 1 else 0

    def _one_by_one(self, loop: ir.Loop, rounds: range, state: State) -> tuple[State | None] | None:
        """The rounds of a loop one after the other, each with the elements of its own. None if a round changes how many
        there are.
        """
        assert loop.index is not None
        self.loops += 1
        self.frame.breaks.append(None)
        outer = self.family
        index = self.root(loop.index.name)
        current: State | None = state
        same = True
        for number in rounds:
            if self.in_python and current is not None:
                same = same and self._listed_one_by_one(loop, current) == len(rounds)
            if current is not None and same:
                current.env.write([(index, ())], frozenset({mem.Number(str(number))}))
                self.family = (*outer, f"{number} of {len(rounds)}")
                current = self._round(loop, self.block(loop.condition, current))
        self.family = outer
        if current is not None:
            current.env.write([(index, ())], frozenset({mem.OTHER}))
            targets = (stmt.target for stmt in walk(loop.body) if isinstance(stmt, ir.Assign))
            own = (stmt.var for stmt in walk(loop.body) if isinstance(stmt, ir.Declare))
            inside = {t.name for t in targets if isinstance(t, ir.Var) and "@" in t.name}  # of comprehensions
            if not self.in_python:
                inside |= {var.name for var in own} | {_element_of_round(loop)} - {""}
            current.env.forget(map(self.root, inside))
            current = self.block(loop.condition, current)
        self.loops -= 1
        out = joined(current, self.frame.breaks.pop())
        return (out,) if same else None

    def _rounds(self, loop: ir.Loop, state: State, at_least_once: bool = False) -> State | None:
        """Any number of rounds, to a fixpoint."""
        head: State = state
        out: State | None = None
        current = self.block(loop.condition, head.copy())
        if not at_least_once:
            out = current.copy() if current is not None else None
        again = False
        if self._keeps_nothing(state):
            first = self._round(loop, current)  # this one may run what runs once, and no other one
            if first is None:
                return out
            head = first
            current = self.block(loop.condition, head.copy())
            out = joined(out, current.copy() if current is not None else None)
        while True:
            end = self._round(loop, current)
            if end is None:
                return out
            chosen = loop.index is not None and not loop.index.name.startswith(ir.ROUND)
            if chosen and not again and not end.env.gone <= head.env.gone:
                again = True
                self._round(loop, self.block(loop.condition, end.copy()))  # behind this round alone
            tested = self.block(loop.condition, end.copy())
            out = joined(out, tested.copy() if tested is not None else None)
            if not head.join(end):
                return out
            current = self.block(loop.condition, head.copy())

    def _keeps_nothing(self, state: State) -> bool:
        """Whether a function that runs once may not have run yet."""
        held = (inner.get((), mem.NOTHING) for root, inner in state.env if root[2].endswith("::<kept>"))
        return any(
            isinstance(value, mem.Ptr) and mem.Number(ir.NOT_KEPT) in self._said_class(state, value)
            for values in held
            for value in values
        )

    def _round(self, loop: ir.Loop, state: State | None) -> State | None:
        self.frame.continues.append(None)
        state = self.block(loop.body, state)
        early = self.frame.continues.pop()
        self._scope_ends(loop, early)
        state = joined(state, early)
        if state is not None:
            self._end_closures(loop, state)
        return self.block(loop.step, state)

    def _end_closures(self, loop: ir.Loop, state: State) -> None:
        """The closures that a round has made and that nobody holds any more are gone, with what they have copied. So
        are the variables of the round, those too that `continue` has left.
        """
        if id(loop) not in self._closures_in:
            stmts = list(walk(loop.body)) if self.closures else []
            targets = [stmt.target for stmt in stmts if isinstance(stmt, ir.Assign)]
            copies = [
                (made, t) for t in targets if isinstance(t, ir.Var) and (made := self._lambda_with(t)) is not None
            ]
            own = [s.var for s in stmts if isinstance(s, ir.Declare) and self._lambda_with(s.var) is None]
            self._closures_in[id(loop)] = copies, own if copies else []
        copies, own = self._closures_in[id(loop)]
        state.env.forget(self.root(var.name) for var in own)
        state.env.forget(self.root(copy.name) for made, copy in copies if not self._is_held(state, made))

    def _family(self, loop: ir.Loop, bounds: str, state: State) -> State | None:
        """A loop over arrays of buffers, streams or events: the generic round `k`, with all others before and after it.

        Every array element that is picked by this range's index is either the generic one or one of the others, so
        what is proved for `k` holds for each index (docs/explanation/analysis.md: families).
        """
        assert loop.index is not None
        if not ranges.has_a_round(bounds):
            text = bounds if any(map(ranges.is_size, loop.bounds)) else ranges.text(loop)
            if text in self.empty:
                return self.block(loop.condition, state)
            if not loop.at_least_once:
                self.ranges[text] = None
        self.loops += 1
        self.frame.breaks.append(None)
        outer = self.family
        index = [(self.root(loop.index.name), ())]
        several = (*self.rounds, f"o|{bounds}")
        self.in_rounds_before[several] = 0
        # an earlier run of the loop may have run them on other streams of the same rounds
        before = state.orders.pending[FRESH]

        def others(start: State, behind: bool = False) -> State | None:
            self.family = (*outer, f"o|{bounds}")
            # a round of the same indices around here has picked the generic one: these are judged for themselves
            stands_for = f"k|{bounds}" not in outer
            self.others += stands_for
            start.env.write(index, frozenset({mem.Number(f"o|{bounds}")}))
            waits, start.round_waits = start.round_waits, {}
            # the generic round may be the first: only when all are over has each waited for what was there before
            earlier = 0 if behind else start.orders.pending[HOST]
            head = start
            while True:
                self.in_round[several] = 0
                end = self._round(loop, self.block(loop.condition, head.copy()))
                if end is None:
                    break
                self.in_rounds_before[several] |= self.in_round[several] & ~before
                done, end.round_waits = end.round_waits, {}
                fresh = [] if self.in_python else _made_in_rounds(head.env, end.env, f"o|{bounds}")
                grows = head.join(end)
                for cell, values in fresh:  # of rounds that are not there, nobody reads anything
                    head.env.refine(cell, values)
                if not grows:
                    head.unreported &= ~done.pop(STATUS, 0) | earlier
                    for x, bits in done.items():  # each member's round has waited for that member's own operations
                        head.orders.pending[x] &= ~bits | earlier
                        head.orders.lost[x] = head.orders.lost.get(x, 0) & (~bits | earlier)
                        if x is HOST:
                            head.orders.host_knows()
                    break
            head.round_waits = waits
            self.in_round[several] = 0
            self.others -= stands_for
            self.family = outer
            return head if end is not None else None

        current = others(state)
        if current is not None:
            self.family = (*outer, f"k|{bounds}")
            current.env.write(index, frozenset({mem.Number(f"k|{bounds}")}))
            current = self._round(loop, self.block(loop.condition, current))
            self.family = outer
        if current is not None:
            current = others(current, behind=True)
        if current is not None:
            current.env.write(index, frozenset({mem.OTHER}))
        self.loops -= 1
        return joined(current, self.frame.breaks.pop())

    def range_of(self, loop: ir.Loop, state: State) -> str | None:
        """The range of a loop, equal for two loops only if they visit the same indices. None for a loop that may have
        other bounds each time that it runs.
        """
        assert loop.range is not None
        if not self.in_python:
            return self._range_in_cuda(loop, loop.range, state)
        if any(map(ranges.is_size, loop.bounds)):
            return self._range_of_lists(loop, loop.range, state)
        bounds = [self._bound(place, state) for place in loop.bounds]
        if not bounds:
            return loop.range
        if None not in bounds:
            return loop.range.format(*bounds)
        return f"{loop.range} at {loop.span.start} of {self.frame.name}" if not self.loops else None

    def _range_of_lists(self, loop: ir.Loop, text: str, state: State) -> str | None:
        """A loop through lists side by side ends with the shortest one: it visits all elements if they are as many."""
        names = ("" if self.loops else self.name_of("the number", (loop, n)) for n, _ in enumerate(loop.bounds))
        sizes = [
            self._size_of(state, place, name)
            for place, name in zip(loop.bounds, names, strict=True)
            if isinstance(place, ir.Field)
        ]
        alike = len(sizes) == len(loop.bounds) and len(set(sizes)) == 1
        return text.format(sizes[0]) if alike and sizes[0] is not None else None

    def _range_in_cuda(self, loop: ir.Loop, text: str, state: State) -> str | None:
        """The text tells apart what is assigned again in the function; what a variable holds that somebody else may
        assign gets a name there, which goes when that happens.
        """
        found: list[str] = []
        for n, place in enumerate(ranges.numbers(loop)):
            if isinstance(place, ir.Field) and place.name == ir.SIZE:
                size = self._size_of(state, place, "" if self.loops else self.name_of("the number", (loop, n)))
                if size is None:
                    return None
                found.append(size)
                continue
            own = self.cells(state, place)
            said = self._bound(place, state, "" if self.loops else self.name_of("the number", (loop, n)))
            if said is None and not isinstance(place, ir.Var | ir.Field):
                return None  # an element or what a pointer leads to may be stored in by another name
            if said is None and self.loops and ranges.is_assigned_elsewhere(self.program, self.frame.function, place):
                return None
            found.append(said or str(own[:1]))
        marks, more = found[: len(loop.bounds)], found[len(loop.bounds) :]
        named = [one for one in marks if "{}" not in text] + more
        return text.format(*marks) + "".join(f" of {one}" for one in named)

    def _bound(self, place: ir.Expr, state: State, name: str = "") -> str | None:
        """What a bound is: a number, or the variable that holds it; of a parameter, the variable that it is given. With
        a `name`, what the variable holds is a number of that name from here on.

        None where it may be another one the next time.
        """
        values = self.values(state, place)
        number = next(iter(values)) if len(values) == 1 else None
        if isinstance(number, mem.Number):
            return number.text
        cells = self.cells(state, place)
        frame = self.frame
        again = isinstance(place, ir.Var) and place.name in ranges.assigned_again(frame.function)
        if isinstance(place, ir.Var) and not again and (n := _given_for(place, frame)) is not None:
            assert frame.caller is not None
            self.frame = frame.caller
            said = self._bound(frame.given[n], state, name)
            self.frame = frame
            if said is not None or not name:
                return said
        if name:
            return self.named(state, cells, values, name)
        if isinstance(place, ir.Field):
            known = f".{place.name}" in ranges.assigned_once(self.program)
            return str(cells[0]) if known and len(cells) == 1 and cells[0][0][1] != mem.EXTERNAL else None
        if not isinstance(place, ir.Var) or len(cells) != 1:
            return None
        if cells[0][0][0] == "global":
            return place.name if place.name in ranges.assigned_once(self.program) else None
        return str(cells[0]) if not again and not (frame.loops and self.in_python) else None

    def named(self, state: State, cells: list[Cell], values: Values, name: str) -> str | None:
        """Give a name to the number that a place holds: whoever reads it, or a copy of it, finds the same number until
        something else is stored there. None where it is not one place.
        """
        if len(cells) != 1 or paths.is_summary(cells[0][1]) or mem.leading(values) - mem.UNKNOWN:
            return None
        if cells[0][0] == ("memory", mem.EXTERNAL, ""):
            return None
        state.env.write(cells, frozenset({mem.Number(name)}))
        return name

    # -- functions ---------------------------------------------------------------------------------------------------

    def inline(
        self,
        function: ir.Function,
        args: Sequence[Values],
        name: str,
        this: Values,
        state: State,
        given: Sequence[ir.Expr] = (),
        classes: Mapping[str, str] = NO_CLASSES,
        instance: Mapping[str, str] = NO_CLASSES,
    ) -> tuple[State | None, Values]:
        """Run a function's body with these arguments, which are `given` as expressions, and with these classes and
        arguments for the parameters of the template that it is. Returns the state after it and what it returns.
        """
        caller = self.frame if self.frames else None
        around = function.name.rpartition(ir.LAMBDA)[0]
        homes = [f for f in self.frames if f.function.name == around] if around else []
        home = homes[0] if len(homes) == 1 and function.name not in self.outlived else None
        self.frame = Frame(name, function, function.arrays, self.slicer.slice(function), len(self.frames), home)
        self.frame.caller, self.frame.given, self.frame.loops = caller, given, self.loops
        self.frame.entered, self.frame.classes, self.frame.instance = (this, *args), classes, instance
        self.frames.append(self.frame)
        outlives = home is None and self._needs_its_closure(function)
        if outlives:
            self.obstacle(
                state.live, "escapes", "is live while a lambda runs that has outlived its variables", function.span
            )
            seen = self.any_of_the_host(state)  # what it has kept may lead to any of it
            point = Point(function.span, "a lambda runs that has outlived its variables", None)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=seen, writes=seen)
        for n, param in enumerate(function.params):
            if n < len(args):
                state.env.write([(self.root(param.name), ())], args[n])
                self.choose(state, ir.Var(param.name), args[n])
                if self.is_seen_as_bytes(ir.Var(param.name)):
                    self.seen_as_bytes(state, args[n])
            elif param.default is not None:
                state.env.write([(self.root(param.name), ())], self.values(state, param.default))
        if function.object:
            this = frozenset({self.reference((self.root(function.object), ()))})
        if not self.frame.is_lambda or function.object:
            state.env.write([(self.root("this"), ())], this)
        # what a method returns, or keeps in a lambda, may lead to its object
        self.exposed.update(v.cell[0] for v in this if isinstance(v, mem.Ref) and v.cell[0][0] == "local")
        end = self._met(self.block(function.body, state), self.frame.returned, function, self.loops)
        value = self.frame.value
        if end is not None and outlives:  # it stores through what it has kept
            self.written_elsewhere(end, (), mem.UNKNOWN, unseen=True)
        if end is not None:
            self._variables_end(self._names_of(function), function.span, end)
        given_back = self._given_back(function, end) if end is not None and end.env.gone else []
        self.returned_inside = self.frame.inside
        self.referred = self.frame.referred
        self.frames.pop()
        if end is not None:
            self.calls_end(end, [name], value.union(*self.returned_inside.values()))
            if function.name in self.around.values():
                self._closures_end(function.name, end, value)
            elif function.name in self.making:
                self.outlived |= self._kept_inside_of(function.name, end, value)
        self.exposed = {r for r in self.exposed if r[1] != name}
        if caller is not None:
            self.frame = caller
            if end is not None:
                places = (self.place(end, given[n]) for n in given_back if n < len(given))
                end.env.gone |= {cell for cell in places if cell is not None}
        return end, value

    def _closures_end(self, around: str, end: State, returned: Values) -> None:
        """A function of Python ends that shares variables with functions in it: they end with the last of these."""
        shared = f"{around}::"
        if self._kept_inside_of(around, end, returned):
            self.outlived.add(around)
            end.dropped |= end.env.dropped(returned, shared)
        elif end.env.owners and all(frame.function.name != around for frame in self.frames):
            own = [root for root, _ in end.env if root[0] == "global" and root[2].rpartition("::")[0] == around]
            end.env.forget(own)

    def _names_of(self, function: ir.Function) -> list[str]:
        """The variables of a call of a function, whichever block they stand in."""
        return function.kept("own names", _own_names)

    def _scope_ends(self, stmt: ir.Loop | ir.Switch, state: State | None) -> None:
        """Here a `break` or a `continue` has left the blocks of a statement."""
        if state is None or not state.orders.lost.get(HOST, 0):
            return
        found = self._declared_in.get(id(stmt))
        if found is None:
            inside = (s for block in blocks_of(stmt) for s in walk(block))
            found = stmt, [s.var.name for s in inside if isinstance(s, ir.Declare)]
            self._declared_in[id(stmt)] = found
        self._variables_end(found[1], stmt.span, state)

    def _variables_end(self, names: Iterable[str], span: ir.Span, state: State) -> None:
        """Variables of this call end here."""
        if state.orders.lost.get(HOST, 0):
            self._roots_end([("local", self.frame.name, name) for name in names], span, state)

    def _roots_end(self, roots: Sequence[Root], span: ir.Span, state: State) -> None:
        """The memory of variables is given back where they end (C++17, 6.6.4.3 [basic.stc.auto]), and so is what they
        own: no work may still use it, as where the host writes there.
        """
        bits = 0
        for root in roots:
            kind, is_array = self._kind_of(root)
            own = is_array or kind[-1:] not in ("*", "&") or (kind[-1:] == "*" and root in self.exposed)
            if own and root in self._objects:
                bits |= self.mask([mem.Ref((root, ()))])
            bits |= self._owned_by(root, kind, state)
        if self.in_python:  # an object may outlive the variables that it had
            bits &= self.of_the_host
            bits &= -1 if self.pins_unknown else self.pinned
        if bits:
            point = Point(span, f"the variables of `{last(self.frame.function.name)}` end", None)
            self.host_observes(state, Wrong.HOST_ACCESS, point, writes=bits)

    def _owned_by(self, root: Root, kind: str, state: State) -> Bits:
        """The memory of the host that a variable owns, as a smart pointer does, or one that is a part of it."""
        if kind[-1:] in ("*", "&") or kind in NUMBERS:
            return 0
        bits = 0
        for path, values in state.env[root].items():
            if mem.leading(values) and any(_OWNER.search(self._type_at(root, path[:n])) for n in range(len(path) + 1)):
                bits |= self.mask(values) & ~self.on_device(values)
        return bits

    def _needs_its_closure(self, function: ir.Function) -> bool:
        """Whether a lambda names variables of the function around it."""
        around = function.name.rpartition(ir.LAMBDA)[0]
        if not around or last(around) == ir.INITIALIZERS:  # around which there are no variables
            return False
        return function.name in self.making or not function.kept("names", ir.names_in).isdisjoint(
            (*function.captures, "this")
        )

    def _kept_inside_of(self, around: str, end: State, returned: Values) -> set[str]:
        """The functions that stand in this one and that somebody has when a call of it has ended."""
        inside = f"{around}::"
        own = inside if self.in_python else "\0"  # in C++ these are `static` variables
        cells = (cells for root, cells in end.env if not root[2].removeprefix("::").startswith(own))
        kept = (value for held in cells for values in held.values() for value in values)
        return {v.name for v in (*returned, *kept) if isinstance(v, mem.Function) and v.name.startswith(inside)}

    def _given_back(self, function: ir.Function, end: State) -> list[int]:
        """The parameters of a function that it never sets, and of which the memory has been given back."""
        assigned = ranges.assigned(function)
        return [
            n
            for n, param in enumerate(function.params)
            if not param.by_reference and param.name not in assigned and (self.root(param.name), ()) in end.env.gone
        ]

    # -- sites -------------------------------------------------------------------------------------------------------

    def site(self, sites: dict[Key, Site], call: ir.Call, state: State) -> Site:
        key = key_of(call)
        found = sites.get(key)
        if found is None:
            found = sites[key] = Site(call, self.frame.function.name)
            found.order = len(self.outcome.allocations) + len(self.outcome.frees) + len(self.outcome.of_the_pool)
        found.in_loop |= self.loops > 0
        if not self.others:
            found.contexts.add(self.frame.name)
            found.can_name(named_streams(self, state))
            found.gone |= state.ended
        return found
