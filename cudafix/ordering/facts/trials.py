"""Allocations whose size is found by trial: one that fails is tried again with another size.

So a program measures how much device memory is free, without asking for it. A pool keeps what was freed, and where its
release threshold is raised the process keeps all that was ever tried.

A size is tried if it depends on whether an allocation failed: it was changed where one has failed, or it is that of an
allocation in a branch for the failure, and differs. What tells of the failure is the status, what is computed from it,
what a function returns that allocates, an exception, or the condition of a loop. Which of two branches is the one for
the failure is not always known; then both are, but for one that ends the function with an error. Sizes are followed
through variables, fields, arguments, calls and stores through pointers; fields are told apart by name, whatever the
object. A call of what nobody knows may mean each function that allocates and of which the address is taken.

A function that allocates, frees again and tells its caller whether that has worked is a probe. It is tried where it
runs again with another size before a test of its answer has ended the function, whatever is done with the answer: what
an answer is computed into is not followed. So are answers that a loop stores in a container, where no such test reads
them, and blocks that a loop takes until one fails, where what it has counted is read behind it. So is what a loop
allocates in different sizes, or keeps, where it prints every status, or what it computes from them, or changes where
one is good or bad, is used behind it, and no test of that has ended the function.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cudafix import ir
from cudafix.ir.link import Program, handed_over, last
from cudafix.models import Tables
from cudafix.models.api import Effect, roles_of
from cudafix.ordering.facts.deciding import keys_of, owner

Key: TypeAlias = tuple[str, str]

_OF_THE_DEVICE = frozenset({"device", "async", "managed", "pitched", "array"})
_ERRORS = re.compile(r"-?[1-9]\d*|-1|false|False|nullptr|NULL|None|EXIT_FAILURE|cudaError\w+|CUDA_ERROR\w+")
_ENDS = frozenset({"exit", "abort", "_exit", "quick_exit", "std::exit", "std::abort", "terminate", "throw", "raise"})
_OUTPUT = ("builtins.", "std::")  # what has nothing but a value to check, and does not end the program for it
_RAISED = "python::raised"  # holds what an exception was made of
_FALSE = frozenset({"0", "false", "False", "nullptr", "NULL", "None"})
_OPERAND = re.compile(
    r"(!|not )? *([\w.:<>-]+ *(?:\(.*\))?) *(?:(==|!=|<|is not|is) *(0|nullptr|NULL|None|False|false))?"
)
_MARKS = re.compile(r"@\d+|(?<=[^ ]) \w+#\d+")
_COMPARED = re.compile(r"(!|not )? *(?:[\w.]+(?:\.|->))?(\w+) *(?:(==|!=|<=|>=|<|>|is not|is) *([\w.:]+(?:\(\))?))?")
_OF_STATUS = ("ok", "failed")
_LAST_ERROR = frozenset({"cudaGetLastError", "cudaPeekAtLastError"})
_STATUSES = frozenset({"bool", "cudaError_t", "cudaError", "CUresult"})  # of several: whether all have worked
_MOST_ROUNDS = 8
_KEPT: Key = ("", "<a block that outlives its call>")


@dataclass(frozen=True, slots=True)
class _Event:
    """An allocation, or the call of a function that allocates: what its size is made of, how that is written, and what
    names the block.
    """

    sizes: frozenset[Key]
    written: tuple[ir.Expr, ...]
    made: frozenset[Key] = frozenset()
    into: tuple[ir.Expr, ...] = ()  # what else the call is given, and where its result goes
    probes: str = ""  # the function, where that frees what it allocates and tells whether it could


@dataclass(frozen=True, slots=True)
class _State:
    """What may hold at a point: the allocations before it, and what was changed since one has failed.

    `failed` is what must hold: 2 if an allocation has failed, 1 if it has, or has not, and a branch depends on it.
    `given_up`: one may have failed, and nothing has been done since as if it had not; `caught`: an exception may have
    told so, and what follows runs all the same. `untested` are variables with a status that nobody has looked at, and
    `since` the ones that were changed since that. `open` are the probes and
    allocations of which no test of the answer has ended the function yet; `reported` those of them of which a failure
    has been printed, and nothing more.
    """

    events: frozenset[_Event] = frozenset()
    changed: frozenset[Key] = frozenset()
    untested: frozenset[Key] = frozenset()
    since: frozenset[Key] = frozenset()
    open: frozenset[_Event] = frozenset()
    reported: frozenset[_Event] = frozenset()
    failed: int = 0
    given_up: bool = False
    caught: bool = False


def _joined(states: Iterable[_State | None]) -> _State | None:
    found = [state for state in states if state is not None]
    if not found:
        return None
    return _State(
        frozenset().union(*(s.events for s in found)),
        frozenset().union(*(s.changed for s in found)),
        frozenset().union(*(s.untested for s in found)),
        frozenset().union(*(s.since for s in found)),
        frozenset().union(*(s.open for s in found)),
        frozenset().union(*(s.reported for s in found)),
        min(s.failed for s in found),
        any(s.given_up for s in found),
        any(s.caught for s in found),
    )


@dataclass(slots=True)
class _Summary:
    """A function that allocates: the parameters and shared variables that sizes are made of, those that it changes
    where an allocation has failed, and whether what it returns tells of that.
    """

    params: frozenset[int] = frozenset()
    shared: frozenset[Key] = frozenset()
    changed_params: frozenset[int] = frozenset()
    changed: frozenset[Key] = frozenset()
    tells: bool = False
    told: frozenset[Key] = frozenset()  # the shared variables that tell of a failure
    told_params: frozenset[int] = frozenset()  # and the parameters, if they are references or pointers
    keeps: bool = False  # a block that it allocates may outlive the call
    decided: bool = False  # what others see is changed in a branch that depends on whether an allocation has failed
    leaves_open: bool = False  # it may end after a failure that no test in it has ended it for
    fails: frozenset[str] = frozenset()  # what it returns then: "false", "true" (for a condition), or "?"

    @property
    def tells_elsewhere(self) -> bool:
        """Whether it tells of a failure in what others see, beside its result."""
        return self.leaves_open and bool(self.told or self.told_params or self.decided)


def trials(program: Program, tables: Tables) -> frozenset[int]:
    """The allocations of device memory (by `id`) whose size is found by trial."""
    return program.kept("sizes by trial", lambda: _Trials(program, tables).found)


class _Trials:
    def __init__(self, program: Program, tables: Tables) -> None:
        self.program = program
        self.tables = tables
        self.found: frozenset[int] = frozenset()
        allocating = program.reaching("allocates device memory", self.is_allocation)
        functions = [function for function in program.functions() if id(function) in allocating]
        self.given_away = [f for f in self._given_away(program) if id(f) in allocating]
        if self.given_away:
            by_pointer = program.reaching("calls through a pointer", is_by_pointer)
            functions = [f for f in program.functions() if id(f) in allocating or id(f) in by_pointer]
        self.stored_elsewhere = self.stored_anywhere()
        self.freeing = program.reaching("frees device memory", self.is_free)
        self.askers: frozenset[str] = frozenset()  # the functions that return what tells of a failure, in a field
        self.summaries = {id(function): _Summary() for function in functions}
        found: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            before = repr(list(self.summaries.values()))
            found = set()
            for function in functions:
                walk = _Walk(self, function)
                walk.run()
                self.summaries[id(function)] = walk.summary
                found |= walk.tried
            told = frozenset[Key]().union(*(one.told for one in self.summaries.values()))
            askers = frozenset(last(f.name) for f in program.functions() if _returns_one_of(f, told))
            if repr(list(self.summaries.values())) == before and askers == self.askers:
                break
            self.askers = askers
        self.found = frozenset(found)

    def _given_away(self, program: Program) -> list[ir.Function]:
        """The functions of which an address is taken: they may be called wherever a pointer is."""
        named = {one for function in program.functions() for one in function.kept("handed over", _handed_over)}
        return list(dict.fromkeys(f for name, path in sorted(named) for f in program.resolve(name, 0, path)))

    def is_allocation(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call):
            return False
        api = self.tables.lookup(stmt.callee, len(stmt.args)) if stmt.receiver is None else None
        return api is not None and api.effect is Effect.ALLOC and api.memory in _OF_THE_DEVICE

    def is_free(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call) or stmt.receiver is not None:
            return False
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        return api is not None and api.effect is Effect.FREE and api.memory in _OF_THE_DEVICE

    def called(self, call: ir.Call, cls: str | None) -> list[ir.Function]:
        """The functions that allocate, and that a call may reach."""
        return [f for f in self.program.reached_by(call, cls) if id(f) in self.summaries]

    def may_run(self, call: ir.Call, function: ir.Function) -> bool:
        """Whether a call comes to run a function, by way of others."""
        seen: set[int] = set()
        stack = self.called(call, function.cls)
        while stack:
            one = stack.pop()
            if one is function:
                return True
            if id(one) not in seen:
                seen.add(id(one))
                for stmt in one.statements:
                    stack += self.called(stmt, one.cls) if isinstance(stmt, ir.Call) else []
        return False

    def stored_by(self, functions: Iterable[ir.Function]) -> frozenset[Key]:
        """What functions store in that others see, by themselves or by those that they call."""
        found = frozenset[Key]()
        seen: set[int] = set()
        stack = list(functions)
        while stack:
            function = stack.pop()
            if id(function) not in seen:
                seen.add(id(function))
                found |= function.kept("stores seen by others", _stores)
                for stmt in function.statements:
                    stack += self.program.reached_by(stmt, function.cls) if isinstance(stmt, ir.Call) else []
        return found

    def stored_anywhere(self) -> frozenset[Key]:
        """What code that is not seen may store in: what the program does not keep constant."""
        known = (function.kept("stores seen by others", _stores) for function in self.program.functions())
        elsewhere = (one.name for module in self.program.modules for one in module.globals if one.elsewhere)
        return frozenset[Key]().union(*known, {("", name.removeprefix("::")) for name in elsewhere})

    def below(self, functions: Iterable[ir.Function]) -> set[int]:
        """The allocations that functions run."""
        found: set[int] = set()
        seen: set[int] = set()
        stack = list(functions)
        while stack:
            function = stack.pop()
            if id(function) in seen:
                continue
            seen.add(id(function))
            for stmt in function.statements:
                if self.is_allocation(stmt):
                    found.add(id(stmt))
                elif isinstance(stmt, ir.Call):
                    stack += self.called(stmt, function.cls)
        return found


def _handed_over(function: ir.Function) -> frozenset[tuple[str, str]]:
    """The functions that one hands to somebody who may call them, by their names and the files that say these."""
    return frozenset((name, stmt.span.path) for stmt in function.statements for name in handed_over(stmt))


def _stores(function: ir.Function) -> frozenset[Key]:
    """What a function stores in that others see. A lambda shares the variables of the function around it."""
    places: list[ir.Expr] = []
    for stmt in function.statements:
        match stmt:
            case ir.Assign(target):
                places.append(target)
            case ir.HostAccess(writes=writes):
                places += writes
            case ir.Call(result=result):
                places += [*([result] if result is not None else []), *_lent(stmt)]
            case _:
                pass
    found = {key for place in places for key in keys_of(_array_of(place), owner(function), function.types)}
    return frozenset(key for key in found if not key[0] or ir.LAMBDA in function.name)


def _lent(call: ir.Call) -> list[ir.Expr]:
    """What a call is given by its address."""
    return [arg.base for arg in call.given if isinstance(arg, ir.Addr)]


def _addresses_in(value: ir.Expr) -> Iterator[ir.Addr]:
    """The addresses that a value is made of."""
    match value:
        case ir.Addr():
            yield value
        case ir.Opaque(parts) | ir.Choice(parts):
            for part in parts:
                yield from _addresses_in(part)
        case _:
            pass


def _array_of(place: ir.Expr) -> ir.Expr:
    while isinstance(place, ir.Index):
        place = place.base
    return place


def _returns_one_of(function: ir.Function, keys: frozenset[Key]) -> bool:
    found = (stmt.value for stmt in function.statements if isinstance(stmt, ir.Return) and stmt.value is not None)
    return bool(keys) and any(not keys.isdisjoint(keys_of(e, owner(function), function.types)) for e in found)


def is_by_pointer(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Unknown) and stmt.why == ir.THROUGH_POINTER


@dataclass(slots=True)
class _Exits:
    breaks: list[_State] = field(default_factory=list)
    continues: list[_State] = field(default_factory=list)
    returns: list[_State] = field(default_factory=list)  # without a value
    assigned: frozenset[Key] = frozenset()
    frees: bool = False


class _Walk:
    """One function, walked with what its callees are known to do."""

    def __init__(self, trials: _Trials, function: ir.Function) -> None:
        self.trials = trials
        self.function = function
        self.here = owner(function)
        self.tried: set[int] = set()
        self.summary = _Summary()
        self.loops: list[_Exits] = []
        self.labels: dict[str, list[_State]] = {}
        self.events: dict[_Event, set[int]] = {}
        self.feeds: dict[Key, set[Key]] = {}
        self.statuses: set[Key] = set()
        self.pointers: set[Key] = set()  # to what was allocated: null tells of a failure, and so do copies alone
        self.names: set[str] = set()
        self.fails: dict[str, set[str]] = {}  # of variables and functions, how they tell of a failure in a condition
        self.tuples = self._tuples()
        self._flow()
        self.names |= trials.askers
        self._lent_to_others: frozenset[Key] | None = None

    def keys(self, expr: ir.Expr | None) -> frozenset[Key]:
        return frozenset(keys_of(expr, self.here, self.function.types)) if expr is not None else frozenset()

    def sized_by(self, expr: ir.Expr) -> frozenset[Key]:
        """What a size is made of: where it is a member or an element, what says of which object as well. It is another
        size where that is another object.
        """
        found = self.keys(expr)
        for part in ir.variables(expr):
            base = part
            while isinstance(base, ir.Field | ir.Deref | ir.Index | ir.Offset):
                base = base.base
                found |= self.keys(base)
        return found

    def target(self, expr: ir.Expr) -> frozenset[Key]:
        return self.keys(_array_of(expr))

    # -- facts of the whole function -----------------------------------------------------------------------------------

    def _flow(self) -> None:
        """What flows into which variable, and which of them tell whether an allocation has failed."""
        assigned: list[tuple[frozenset[Key], frozenset[Key]]] = []
        answers: list[tuple[frozenset[Key], frozenset[Key]]] = []
        copies: list[tuple[frozenset[Key], frozenset[Key]]] = []
        before: ir.Stmt | None = None
        for stmt in ir.walk(self.function.body):
            previous, before = before, stmt
            match stmt:
                case ir.HostAccess(reads, writes):
                    stored = frozenset[Key]().union(*map(self.target, writes))
                    if isinstance(previous, ir.Call) and self._is_compared(previous):
                        self.statuses |= stored  # `*ok = f() == 0`
                    assigned.append((stored, frozenset[Key]().union(*map(self.keys, reads))))
                case ir.Assign(target, value):
                    assigned.append((self.target(target), self.keys(value)))
                    answers.append((self.target(target), self._answers(value)))
                    if isinstance(value, ir.Var | ir.Field | ir.Index):
                        copies.append(assigned[-1])
                    if any(map(self._is_telling, ir.variables(value))):
                        self.names |= {name.removeprefix(".") for _, name in assigned[-1][0]}
                case ir.Call(result=result):
                    tells = self._tells(stmt)
                    self.statuses |= self._told(stmt)
                    if tells:
                        self.names.add(last(stmt.callee))
                        self._told_by(stmt)
                        if result is not None:
                            self.statuses |= self.target(result)
                        if self.trials.is_allocation(stmt) and stmt.look is ir.Look.IGNORED:
                            self.pointers |= self._made(stmt)
                    elif result is not None:
                        values = frozenset[Key]().union(*map(self.keys, stmt.given))
                        assigned.append((self.target(result), values))
                        answers.append(assigned[-1])
                        if self._is_host_only(stmt):
                            into = (e for e in stmt.given if isinstance(e, ir.Addr))
                            more = [(self.target(e.base), values) for e in into]
                            assigned += more
                            answers += more
                case _:
                    pass
        for targets, values in assigned:
            for one in targets:
                self.feeds.setdefault(one, set()).update(values)
        _grow(self.statuses, answers)
        _grow(self.pointers, copies)
        told = {name for _, name in self.statuses | self.pointers}
        self.names |= {name.removeprefix(".") for name in told if not name.startswith("%")}

    def _tuples(self) -> dict[str, frozenset[str]]:
        """The temporary objects of which all elements are stored by a number, and in which of them is no status: of
        what a call of Python returns, `(status, pointer)`.
        """
        stored: dict[str, dict[str, bool]] = {}
        others: set[str] = set()
        told = {call.result for call in ir.walk(self.function.body) if isinstance(call, ir.Call) and self._tells(call)}
        for stmt in ir.walk(self.function.body):
            if isinstance(stmt, ir.Assign) and isinstance(stmt.target, ir.Index) and _is_temporary(stmt.target.base):
                assert isinstance(stmt.target.base, ir.Var)
                name, index = stmt.target.base.name, stmt.target.index
                if isinstance(index, ir.Const) and isinstance(stmt.value, ir.Var | ir.Const):
                    stored.setdefault(name, {})[index.text] = stmt.value in told
                else:
                    others.add(name)
        return {
            name: frozenset(index for index, tells in one.items() if not tells)
            for name, one in stored.items()
            if name not in others
        }

    def _answers(self, value: ir.Expr) -> frozenset[Key]:
        """What a value may have a status from."""
        match value:
            case ir.Index(ir.Var(name), ir.Const(index)) if index in self.tuples.get(name, ()):
                return frozenset()
            case _:
                return self.keys(value)

    def _is_host_only(self, call: ir.Call) -> bool:
        api = self.trials.tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
        return api is None or api.effect is Effect.NOTHING

    def _tells(self, call: ir.Call) -> bool:
        if self.trials.is_allocation(call) or call.callee in _LAST_ERROR:
            return True
        return any(self.trials.summaries[id(f)].tells for f in self.trials.called(call, self.function.cls))

    def _is_compared(self, call: ir.Call) -> bool:
        """Whether the statement around a call may store what it tells: no check stands around it."""
        unseen = call.look is ir.Look.IGNORED or "(" in call.site.prefix
        return call.result is not None and _is_temporary(call.result) and not unseen and self._tells(call)

    def _told_by(self, call: ir.Call) -> None:
        """Keep how a call tells of a failure: a status is not zero then."""
        known = [self.trials.summaries[id(f)].fails for f in self.trials.called(call, self.function.cls)]
        ways = set[str]().union(*known) if known else {"true"}
        names = {_last(call.callee)}
        if call.result is not None:
            names |= {name for _, name in self.target(call.result)}
        for name in names:
            self.fails.setdefault(name.removeprefix("."), set()).update(ways)

    def _told(self, call: ir.Call) -> frozenset[Key]:
        """The variables by which a function of the program tells of a failure, beside its result."""
        found = frozenset[Key]()
        for callee in self.trials.called(call, self.function.cls):
            one = self.trials.summaries[id(callee)]
            found |= one.told.union(*(self.keys(arg) for n, arg in enumerate(call.args) if n in one.told_params))
        return found

    def _is_telling(self, expr: ir.Expr) -> bool:
        """Whether this is a function, a lambda for one, of which the result tells of a failure."""
        if not isinstance(expr, ir.FuncRef):
            return False
        found = self.trials.program.resolve(expr.name, 0, self.function.span.path)
        return any(self.trials.summaries[id(f)].tells for f in found if id(f) in self.trials.summaries)

    def _made(self, call: ir.Call) -> frozenset[Key]:
        api = self.trials.tables.lookup(call.callee, len(call.args))
        assert api is not None
        found = zip(roles_of(api, len(call.args)), call.args, strict=False)
        return frozenset[Key]().union(*(self.keys(e) for role, e in found if role == "new"))

    def _whole(self, call: ir.Call) -> frozenset[Key]:
        """The variables of which the pointers to what is allocated are parts: who gets these gets the block."""
        found = frozenset[Key]()
        for place in (arg.base for arg in call.args if isinstance(arg, ir.Addr)):
            while isinstance(place, ir.Field | ir.Index):
                place = place.base
            found |= self.keys(place) if isinstance(place, ir.Var) else frozenset()
        return found

    def _put_away(self, stmts: Iterable[ir.Stmt]) -> frozenset[Key]:
        """What calls are given that may keep it, and that allocate and free nothing: methods of containers."""
        methods = (s for s in stmts if isinstance(s, ir.Call) and s.receiver is not None)
        calls = (s for s in methods if not self.trials.called(s, self.function.cls) and not self._frees_below(s))
        return frozenset[Key]().union(*map(self._handed, calls))

    def _closure(self, keys: Iterable[Key]) -> frozenset[Key]:
        found = set(keys)
        stack = list(found)
        while stack:
            fresh = self.feeds.get(stack.pop(), set()) - found
            found |= fresh
            stack += fresh
        return frozenset(found)

    def _event(self, call: ir.Call) -> _Event | None:
        """What a call allocates, if it does."""
        event: _Event | None = None
        if self.trials.is_allocation(call):
            api = self.trials.tables.lookup(call.callee, len(call.args))
            assert api is not None
            given = zip(roles_of(api, len(call.args)), call.args, strict=False)
            sizes = tuple(expr for role, expr in given if role == "-")
            made = self._made(call) | self._whole(call)
            event = _Event(frozenset[Key]().union(*map(self.sized_by, sizes)), sizes, made, _into(call, sizes))
            self.events.setdefault(event, set()).add(id(call))
        elif callees := self.trials.called(call, self.function.cls):
            known = [self.trials.summaries[id(f)] for f in callees]
            written = tuple(e for n, e in enumerate(call.args) if any(n in one.params for one in known))
            shared = frozenset[Key]().union(*(one.shared for one in known))
            made = frozenset({_KEPT}) if any(one.keeps for one in known) else frozenset[Key]()
            if call.template_args:
                written = (*written, ir.Const(call.template_args))
            tells = [one.tells or one.tells_elsewhere for one in known]
            probes = any(tell and id(f) in self.trials.freeing for tell, f in zip(tells, callees, strict=True))
            into = _into(call, written)
            name = call.callee if probes else ""
            of_object = call.receiver is not None and any(key[1].startswith(".") for key in shared)
            sizes = (*written, call.receiver) if of_object and call.receiver is not None else written
            event = _Event(shared.union(*map(self.sized_by, sizes)), written, made, into, name)
            self.events.setdefault(event, set()).update(self.trials.below(callees))
        if event is not None:
            self._sized(self._closure(event.sizes))
        return event

    def _sized(self, sizes: frozenset[Key]) -> None:
        params = {(self.here, param.name): n for n, param in enumerate(self.function.params)}
        self.summary.params |= {params[key] for key in sizes if key in params}
        self.summary.shared |= self._shared(sizes)

    def _shared(self, keys: frozenset[Key]) -> frozenset[Key]:
        """Those that other functions see. A lambda shares the variables of the function around it."""
        return keys if ir.LAMBDA in self.function.name else frozenset(key for key in keys if not key[0])

    # -- one walk ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        end = self.block(self.function.body, _State())
        if end is not None and end.caught and any(isinstance(s, ir.Return) for s in ir.walk(self.function.body)):
            self.summary.tells = True  # nothing is returned where an exception has been caught
            self.summary.fails |= {"false"}
        self._leaves(end)
        self._stored_answers()
        self._sized_by_answers()
        self._are_counted()
        self.summary.told = self._shared(frozenset(self.statuses))
        asked = (s for s in ir.walk(self.function.body) if isinstance(s, ir.If) and self._is_about_failure(s.test))
        own = {s.var.name for s in ir.walk(self.function.body) if isinstance(s, ir.Declare)}
        seen = self._shared(frozenset[Key]().union(*(self._set_by((*s.then, *s.other)) for s in asked)))
        captured = self.function.captures
        self.summary.decided = any(not key[0] or key[1] in captured for key in seen if key[1] not in own)
        for n, param in enumerate(self.function.params):
            if (self.here, param.name) in self.statuses and (param.by_reference or "*" in param.type):
                self.summary.told_params |= {n}
        kept = self._kept()
        self.summary.keeps = any(not event.made.isdisjoint(kept) for event in self.events)

    def _kept(self) -> frozenset[Key]:
        """What leads to a block that may live on behind the function: what is stored elsewhere than in a variable of
        its own, is given to what may keep it, or is returned.
        """
        found = {_KEPT}
        for stmt in ir.walk(self.function.body):
            match stmt:
                case ir.Assign(target, value) if not isinstance(target, ir.Var) or "::" in target.name:
                    found |= self.keys(value)
                case ir.Return(value):
                    found |= self.keys(value)
                case ir.Call():
                    found |= self._handed(stmt)
                case _:
                    pass
        others = {key for event in self.events for key in event.made if not key[0]}
        seen = {*(param.name for param in self.function.params), *self.function.captures}
        return frozenset(found | others | {(self.here, name) for name in seen})

    def _handed(self, call: ir.Call) -> frozenset[Key]:
        """What a call is given and may keep: of a function that the tables do not know, a container for one."""
        api = self.trials.tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
        return frozenset[Key]() if api is not None else frozenset[Key]().union(*map(self.keys, call.args))

    def _leaves(self, state: _State | None) -> None:
        if state is None:
            return
        self.summary.leaves_open |= bool(state.open or (state.failed and state.events))
        self.summary.changed |= self._shared(state.changed)
        for n, param in enumerate(self.function.params):
            if (self.here, param.name) in state.changed and (param.by_reference or "*" in param.type):
                self.summary.changed_params |= {n}

    def block(self, block: ir.Block, state: _State | None) -> _State | None:
        previous: ir.Stmt | None = None
        for stmt in block:
            if isinstance(stmt, ir.Label):
                state = _joined([state, *self.labels.get(stmt.name, ())])
            if state is not None:
                state = self.statement(stmt, previous, state)
            previous = stmt
        return state

    def statement(self, stmt: ir.Stmt, previous: ir.Stmt | None, state: _State) -> _State | None:
        match stmt:
            case ir.Assign(target, value):
                if (
                    isinstance(value, ir.Choice)
                    and isinstance(previous, ir.If)
                    and self._is_about_failure(previous.test)
                ):
                    inside = replace(state, failed=state.failed or 1)  # the condition of the choice
                    stored = self._stored(self.target(target), self.keys(value), False, inside)
                    return replace(stored, failed=state.failed)
                return self._stored(self.target(target), self.keys(value), isinstance(target, ir.Var), state)
            case ir.HostAccess(reads, writes) if writes:  # `*size /= 2`
                values = frozenset[Key]().union(*map(self.keys, reads))
                return self._stored(frozenset[Key]().union(*map(self.target, writes)), values, False, state)
            case ir.Call():
                return self._call(stmt, state)
            case ir.If(test):
                return self._if(stmt, test, state)
            case ir.Launch():
                return replace(state, untested=frozenset(), given_up=False)
            case ir.Switch():
                inside = replace(state, failed=1) if isinstance(previous, ir.Call) and self._tells(previous) else state
                exits = _Exits()
                self.loops.append(exits)
                ends = [self.block(arm, inside) for arm in stmt.arms]
                self.loops.pop()
                if self.loops:
                    self.loops[-1].continues += exits.continues
                return _joined(
                    [replace(s, failed=state.failed) for s in (*ends, *exits.breaks, state) if s is not None]
                )
            case ir.Loop():
                return self._loop(stmt, state)
            case ir.Try():
                return self._try(stmt, state)
            case ir.Return(value):
                returned = self.keys(value)
                place = isinstance(value, ir.Var | ir.Field | ir.Index | ir.Choice)
                told = self.statuses | (self.pointers if place else set())
                told |= frozenset[Key]().union(*(event.made for event in state.reported)) if place else set()
                tells = bool(state.events) and not returned.isdisjoint(told)
                tells |= bool(state.failed and state.events) or (value is not None and bool(state.open))
                self.summary.tells |= tells
                if tells:
                    self.summary.fails |= self._way(value, state)
                if state.failed and self.loops and any(returned & self._closure(e.sizes) for e in state.events):
                    self._are_tried(state.events)
                if self.loops and value is None:
                    self.loops[-1].returns.append(state)
                self._leaves(state)
                return None
            case ir.Break() | ir.Continue():
                if self.loops:
                    self._goes_on(state)
                    exits = self.loops[-1]
                    (exits.breaks if isinstance(stmt, ir.Break) else exits.continues).append(state)
                return None
            case ir.Goto(label):
                self.labels.setdefault(label, []).append(state)
                return None
            case ir.Unknown(parts=parts) if is_by_pointer(stmt):
                self._comes_back(parts, state)
                if self.loops:
                    self._by_pointer(parts)
                if not (state.failed and state.events):
                    return state
                given = frozenset[Key]().union(*map(self.target, parts))
                return self._stored(given | self._stored_below(stmt), given, False, state)
            case ir.Unknown(why) if why == "backward goto":
                for event in self.events:
                    if state.failed and not state.changed.isdisjoint(self._closure(event.sizes)):
                        self._are_tried([event])
                return state
            case _:
                return state

    def _way(self, value: ir.Expr | None, state: _State) -> frozenset[str]:
        """How a condition sees what is returned, where it tells of a failure."""
        match value:
            case None:
                return frozenset({"false"})
            case ir.Const(text):
                return frozenset({"false" if text in _FALSE else "true"})
            case ir.Choice(options) if any(isinstance(one, ir.Const) and one.text in _FALSE for one in options):
                constant = all(isinstance(one, ir.Const) for one in options)
                return frozenset({"?" if constant else "false"})
            case ir.Var() | ir.Field() | ir.Index():
                names = {name.removeprefix(".") for _, name in self.keys(value)}
                ways = set[str]().union(*(self.fails.get(name, set()) for name in names))
                ways |= {"false"} if not self.keys(value).isdisjoint(self.pointers) else set()
                return frozenset(ways or ({"?"} if state.failed or state.open else set()))
            case _:
                return frozenset({"?"})

    def _stored_answers(self) -> None:
        """Statuses that a loop stores in a container, and that no test reads which ends the function."""
        for loop in (s for s in ir.walk(self.function.body) if isinstance(s, ir.Loop)):
            inside = list(ir.walk(loop.body))
            places = [s.result for s in inside if isinstance(s, ir.Call) and s.result is not None and self._tells(s)]
            places += [s.target for s in inside if isinstance(s, ir.Assign) and self.keys(s.value) & self.statuses]
            held = frozenset[Key]().union(
                *(self.target(e) for e in places if isinstance(e, ir.Index) and not isinstance(e.index, ir.Const)),
                *(
                    self.keys(s.receiver)
                    for s in inside
                    if isinstance(s, ir.Call) and s.receiver is not None
                    if any(self.keys(arg) & self.statuses for arg in s.args)
                ),
            )
            if held and not self._is_ended(held):
                calls = (s for s in inside if isinstance(s, ir.Call))
                self._are_tried(event for call in calls if (event := self._event(call)) is not None)

    def _sized_by_answers(self) -> None:
        """Allocations whose size is computed from how others went, or chosen by that, or counted up or set where one
        was good or bad. What decides a choice is not seen: it may be any status that a variable holds.
        """
        stmts = list(ir.walk(self.function.body))
        flows = [(frozenset({into}), frozenset(values)) for into, values in self.feeds.items()]
        for call in (s for s in stmts if isinstance(s, ir.Call) and not self._tells(s)):
            given = frozenset[Key]().union(*map(self.keys, call.args))
            known = self.trials.program.reached_by(call, self.function.cls)
            into = self.trials.stored_by(known) | (self.keys(call.receiver) if call.receiver is not None else set())
            flows += [(into, given)] if into and given else []
        told = set(self.statuses)
        _grow(told, flows)
        if any(not name.startswith("%") for _, name in told) and not self._is_ended(frozenset(self.statuses), True):
            chosen = (s for s in stmts if isinstance(s, ir.Assign) and isinstance(s.value, ir.Choice))
            told = told.union(*(self.target(s.target) for s in chosen))
            _grow(told, flows)
        self._are_sized_by(told)
        for stmt in stmts:
            if isinstance(stmt, ir.If) and self._is_about_failure(stmt.test):
                if not (self._ends(stmt.then) or self._ends(stmt.other)):
                    inside = set(map(id, ir.walk((stmt,))))
                    outside = self._set_by(tuple(s for s in stmts if id(s) not in inside))
                    told = set(self._set_by((*stmt.then, *stmt.other)) & outside)
                    _grow(told, flows)
                    self._are_sized_by(told, inside)

    def _are_counted(self) -> None:
        """Allocations of which a number is computed that may say how many have worked, or which, where that is used and
        no test of it ends the function. One that is only returned is left to the caller.
        """
        stmts = list(ir.walk(self.function.body))
        results = (s.result for s in stmts if isinstance(s, ir.Call) and s.result is not None and self._tells(s))
        seeds = frozenset[Key]().union(*map(self.target, results))
        told: dict[Key, int] = {}
        counting: set[int] = set()
        asked = [s for s in stmts if isinstance(s, ir.If) and self._is_about_failure(s.test)]
        left = (block for s in asked for block in (s.then, s.other) if self._ends(block))
        behind = {id(s) for block in left for s in ir.walk(block)}  # what ends the function
        for stmt in stmts:
            if id(stmt) in behind:
                continue
            if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Opaque):
                for key in self.target(stmt.target):
                    told[key] = max(told.get(key, 0), len(self._closure(self.keys(stmt.value)) & seeds - {key}))
                    counting |= {id(stmt)} if key in self.keys(stmt.value) else set()
            elif isinstance(stmt, ir.If) and self._is_about_failure(stmt.test):
                if self._ends(stmt.then) or self._ends(stmt.other):
                    continue
                inside = [s for s in ir.walk((*stmt.then, *stmt.other)) if isinstance(s, ir.Assign)]
                for key in frozenset[Key]().union(*(self.target(s.target) & self.keys(s.value) for s in inside)):
                    told[key] = told.get(key, 0) + 1
        several = {key for key, count in told.items() if count > 1 and not key[1].startswith("%")}
        several -= {key for key in several if self.function.types.get(key[1], "") in _STATUSES}
        others = [s for s in stmts if id(s) not in counting and not isinstance(s, ir.Return)]
        if several and self._is_used(others, several) and not self._is_ended(frozenset(several)):
            self._are_tried(self.events)

    def _is_used(self, stmts: Iterable[ir.Stmt], keys: set[Key]) -> bool:
        """Whether one of these statements has the value of one of these variables."""
        stmts = list(stmts)
        texts = (s.test.text if isinstance(s, ir.If) else s.test for s in stmts if isinstance(s, ir.If | ir.Loop))
        words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
        return any(key.lstrip(".") in words for _, key in keys) or not keys.isdisjoint(self._read(stmts))

    def _are_sized_by(self, told: set[Key], but: Container[int] = ()) -> None:
        """Allocations whose sizes are made of these are tried, and so is all that may have told so: not calls in
        `but`.
        """
        flows = frozenset(told)
        for event, calls in self.events.items():
            if not self._closure(event.sizes).isdisjoint(flows) and any(one not in but for one in calls):
                self._are_tried(self.events)
                return

    def _is_ended(self, held: frozenset[Key], unused: bool = False) -> bool:
        """Whether a test reads what these hold and ends the function, or a function of the program is given it; where
        it is to be `unused`, one of which nobody has the result.
        """
        flows = [(frozenset({into}), frozenset(values)) for into, values in self.feeds.items()]
        found = set(held)
        _grow(found, flows)
        names = {name.removeprefix(".") for _, name in found}
        for stmt in ir.walk(self.function.body):
            if isinstance(stmt, ir.If) and (_ends_with_error(stmt.then) or _ends_with_error(stmt.other)):
                if self.keys(stmt.test.place) & found or names & set(re.findall(r"[A-Za-z_]\w*", stmt.test.text)):
                    return True
            elif isinstance(stmt, ir.Call) and stmt.receiver is None and not stmt.callee.startswith(_OUTPUT):
                if unused and stmt.result is not None:
                    continue
                ends = self.trials.program.resolve(stmt.callee, len(stmt.args), stmt.span.path, self.function.cls)
                if ends and any(self.keys(arg) & found for arg in stmt.args):
                    return True
        return False

    def _by_pointer(self, parts: tuple[ir.Expr, ...]) -> None:
        """A call of what nobody knows, in a loop that computes a size from what it was: any function may be meant of
        which the address is taken.
        """
        known = [(f, self.trials.summaries[id(f)]) for f in self.trials.given_away]
        sizes = self._closure(frozenset[Key]().union(*map(self.keys, parts)))
        assigned = self.loops[-1].assigned
        if any(key in assigned and key in self._closure(self.feeds.get(key, ())) for key in sizes):
            for function, summary in known:
                if summary.tells and summary.params:
                    self.tried |= self.trials.below([function])

    def _comes_back(self, parts: tuple[ir.Expr, ...], state: _State) -> None:
        """A call of what nobody knows, where an allocation has failed, with a number that is computed from its size: it
        may mean the function that has tried that, if the address of one is taken.
        """
        if not (state.failed and state.events):
            return
        given_away = self.trials.below(self.trials.given_away)
        for event in state.events:
            sizes = self._closure(event.sizes)
            computed = (e for e in parts if isinstance(e, ir.Opaque) or not self.keys(e).isdisjoint(state.changed))
            other = any(not self._closure(self.keys(e)).isdisjoint(sizes) for e in computed)
            if other and not given_away.isdisjoint(self.events.get(event, ())):
                self._are_tried([event])

    def _goes_on(self, state: _State) -> None:
        """A loop that tries sizes, frees what it got, and ends or goes on where one fails."""
        exits = self.loops[-1]
        if state.failed and exits.frees:
            self._are_tried(e for e in state.events if not self._closure(e.sizes).isdisjoint(exits.assigned))

    def _are_tried(self, events: Iterable[_Event]) -> None:
        for event in events:
            self.tried |= self.events.get(event, set())

    def _stored(self, targets: frozenset[Key], values: frozenset[Key], whole: bool, state: _State) -> _State:
        state = replace(state, since=state.since | targets)
        if not values.isdisjoint(state.untested):
            state = replace(state, untested=state.untested | targets)
        after_failure = bool(state.events) and (state.failed > 0 or not values.isdisjoint(self.statuses))
        if after_failure or not values.isdisjoint(state.changed):
            return replace(state, changed=state.changed | targets)
        return replace(state, changed=state.changed - targets) if whole else state

    def _call(self, call: ir.Call, state: _State) -> _State | None:
        if _last(call.callee) in _ENDS:
            return None
        self._runs_for_each(call)
        event = self._event(call)
        if event is not None:
            again = not state.changed.isdisjoint(self._closure(event.sizes))
            itself = self.function in self.trials.called(call, self.function.cls)
            computed = any(isinstance(expr, ir.Opaque) for expr in event.written)  # perhaps another number each time
            through = not itself and state.failed and self.trials.may_run(call, self.function)
            if through:  # it comes back here by way of others, which may have computed another size
                self._are_tried([event, *state.events])
            others = [other for other in state.events if computed or other.written != event.written]
            if again or (others and (state.failed == 2 or (itself and state.failed))):
                self._are_tried([event, *(others or state.events)])
            if state.failed == 1 and any(one.into == event.into or one.probes for one in others):
                self._are_tried([event, *others])
            if event.probes and (asked := [one for one in others if one in state.open and one.probes == event.probes]):
                self._are_tried([event, *asked])
            known = [self.trials.summaries[id(f)] for f in self.trials.called(call, self.function.cls)]
            changed = state.changed.union(*(one.changed for one in known))
            for n, arg in enumerate(call.args):
                if any(n in one.changed_params for one in known):
                    changed |= self.keys(arg)
            status = self.target(call.result) if call.result is not None and self._tells(call) else frozenset[Key]()
            status |= self._told(call)
            if self.trials.is_allocation(call) and call.look is ir.Look.IGNORED:
                status |= self._made(call)
            is_open = self._is_open(call, event)
            return _State(
                state.events | {event},
                changed,
                state.untested | status,
                open=state.open | {event} if is_open else state.open,
                reported=state.reported,
                caught=state.caught,
            )
        if call.callee in _LAST_ERROR:
            untested = self.target(call.result) if call.result is not None else frozenset[Key]()
            return replace(state, untested=state.untested | {key for key in untested if not key[1].startswith("%")})
        given = frozenset[Key]().union(*map(self.keys, call.given))
        if not call.callee.startswith(_OUTPUT):
            state = replace(state, untested=state.untested - given)  # a function that checks it
            if not given.isdisjoint(self.statuses) and self._may_check(call):
                state = replace(state, open=frozenset(), reported=frozenset())
        if self._frees(call):
            state = replace(state, untested=frozenset(), given_up=False)
        written = self._written(call)
        if call.result is not None:
            written |= self.target(call.result)
        if state.failed and state.events:
            written |= self._stored_below(call)
        return self._stored(written, given, False, state) if written else state

    def _written(self, call: ir.Call) -> frozenset[Key]:
        """What a call may store in of what it is given."""
        places = _lent(call)
        known = self.trials.program.reached_by(call, self.function.cls)
        if known or call.receiver is not None or self.trials.tables.lookup(call.callee, len(call.args)) is None:
            for n, arg in enumerate(call.args):
                params = [one.params[n] for one in known if n < len(one.params)]
                if not known or any(param.by_reference or "*" in param.type for param in params):
                    places.append(arg)
            places += [call.receiver] if call.receiver is not None and not known else []
        return frozenset[Key]().union(*map(self.target, places))

    def _stored_below(self, stmt: ir.Call | ir.Unknown) -> frozenset[Key]:
        """What others see and a call may store in, whatever it is given."""
        if isinstance(stmt, ir.Call):
            if known := self.trials.program.reached_by(stmt, self.function.cls):
                return self.trials.stored_by(known)
            if self._is_of_library(stmt):
                resolve = self.trials.program.resolve
                given = (f for name in handed_over(stmt) for f in resolve(name, 0, stmt.span.path))
                return self.trials.stored_by(given)
        return self.trials.stored_elsewhere | self._lent_before()

    def _is_of_library(self, call: ir.Call) -> bool:
        if call.receiver is None:
            return self.trials.tables.lookup(call.callee, len(call.args)) is not None
        kind = self._type_of(call.receiver).removeprefix("const ")
        in_python = call.span.path.endswith(ir.PYTHON)
        known = self.trials.tables.method(kind, call.callee, len(call.args)) is not None
        return in_python or known or kind.startswith("std::")

    def _lent_before(self) -> frozenset[Key]:
        """The variables of the function to which code that is not seen may have a pointer or a reference, be it in an
        object.
        """
        if self._lent_to_others is None:
            found: list[ir.Expr] = []
            for stmt in ir.walk(self.function.body):
                if isinstance(stmt, ir.Call) and not self._is_of_library(stmt):
                    known = self.trials.program.reached_by(stmt, self.function.cls)
                    for n, arg in enumerate(stmt.args):
                        if not known or any(n < len(one.params) and one.params[n].by_reference for one in known):
                            found.append(arg)
                    found += _lent(stmt)
                elif isinstance(stmt, ir.Assign | ir.Unknown):
                    values = stmt.parts if isinstance(stmt, ir.Unknown) else (stmt.value,)
                    found += (part.base for value in values for part in _addresses_in(value))
            self._lent_to_others = frozenset[Key]().union(*map(self.target, found))
        return self._lent_to_others

    def _is_open(self, call: ir.Call, event: _Event) -> bool:
        """Whether the answer of a call is kept, and not looked at by a check around it."""
        called = self.trials.called(call, self.function.cls)
        if event.probes and any(self.trials.summaries[id(f)].tells_elsewhere for f in called):
            return True
        if call.result is None or call.look is ir.Look.IGNORED or "(" in call.site.prefix:
            return False
        return bool(event.probes) or self._tells(call)

    def _may_check(self, call: ir.Call) -> bool:
        """Whether a function that is given a status may end the program for it: not one of a library."""
        return call.receiver is None and self.trials.tables.lookup(call.callee, len(call.args)) is None

    def _runs_for_each(self, call: ir.Call) -> None:
        """An algorithm of a library that is given a probe may run it for one size after the other."""
        if self.trials.program.resolve(call.callee, len(call.args), call.span.path, self.function.cls):
            return
        for name in handed_over(call):
            for function in self.trials.program.resolve(name, 0, call.span.path):
                summary = self.trials.summaries.get(id(function))
                if summary is None or not summary.params or id(function) not in self.trials.freeing:
                    continue
                if summary.tells or summary.changed or summary.decided:
                    self.tried |= self.trials.below([function])

    def _bad_is_then(self, test: ir.Test) -> bool | None:
        """Whether a condition holds where an allocation has failed; None if that is not known."""
        found: set[bool] = set()
        text = _MARKS.sub("", test.text).strip()
        for part in re.split(r"\|\|| or |&&| and ", text):
            match = _OPERAND.fullmatch(part.strip())
            if match is None:
                return None
            negated, name, operator, _ = match.groups()
            ways = self.fails.get(_last(re.split(r"[(<]", name)[0].strip().split("->")[-1]), set())
            if len(ways) != 1 or ways == {"?"} or operator == "<":
                return None
            flipped = bool(negated) != (operator in ("==", "is"))
            found.add((ways == {"true"}) != flipped)
        return found.pop() if len(found) == 1 else None

    def _if(self, stmt: ir.If, test: ir.Test, state: _State) -> _State | None:
        then = other = state
        if state.events and self._is_about_failure(test):
            tested = self.keys(test.place)
            rest = state.untested - tested if tested else frozenset[Key]()
            before = replace(state, untested=rest)
            pointer = test.place is not None and "*" in self._type_of(test.place)
            if test.kind in ("ok", "failed") or pointer:
                bad = test.kind in ("failed", "null")
                then, other = replace(before, failed=2 * bad), replace(before, failed=2 * (not bad))
            elif _ends_with_error(stmt.then):
                then, other = replace(before, failed=2), replace(before, failed=0)
            elif stmt.other and _ends_with_error(stmt.other):
                then, other = replace(before, failed=0), replace(before, failed=2)
            elif (known := self._bad_is_then(test)) is not None:
                then, other = replace(before, failed=2 * known), replace(before, failed=2 * (not known))
            else:
                then = other = replace(before, failed=1)
            if self._ends(stmt.then):
                other = replace(other, open=frozenset(), reported=frozenset())
            if self._ends(stmt.other):
                then = replace(then, open=frozenset(), reported=frozenset())
            if (stmt.then or stmt.other) and self._only_reports((*stmt.then, *stmt.other)):
                done = state.reported | state.open
                then, other = (replace(s, open=frozenset(), reported=done) for s in (then, other))
        then, other = (replace(s, given_up=s.given_up or bool(s.failed)) for s in (then, other))
        one, two = self.block(stmt.then, then), self.block(stmt.other, other)
        if one is not None and two is not None:
            joined = _joined([one, two])
            assert joined is not None
            if joined.failed == 2:  # one allocation in either branch
                return joined
            return replace(joined, failed=state.failed if joined.events == state.events else 0)
        return one or two

    def _only_reports(self, block: ir.Block) -> bool:
        """Whether statements do no more than print, as far as it can be told: they store nothing, and stay here."""
        for stmt in block:
            match stmt:
                case ir.HostAccess(writes=()):
                    pass
                case ir.Call(result=result) if result is None or _is_temporary(result):
                    if _last(stmt.callee) in _ENDS:
                        return False
                    if self.trials.program.resolve(stmt.callee, len(stmt.args), stmt.span.path, self.function.cls):
                        return False
                    if self.trials.is_allocation(stmt) or self._frees(stmt):
                        return False
                case _:
                    return False
        return True

    def _ends(self, block: ir.Block) -> bool:
        """Whether a branch ends the function as for an error, or goes where that is cleaned up."""
        if block and isinstance(block[-1], ir.Return) and block[-1].value is not None:
            return _ends_with_error(block) or not self.keys(block[-1].value).isdisjoint(self.statuses)
        return _ends_with_error(block) or (bool(block) and isinstance(block[-1], ir.Goto))

    def _type_of(self, place: ir.Expr) -> str:
        return self.function.types.get(place.name, "") if isinstance(place, ir.Var) else ""

    def _is_about_failure(self, test: ir.Test) -> bool:
        if test.place is not None:
            return not self.keys(test.place).isdisjoint(self.statuses | self.pointers)
        return not self.names.isdisjoint(re.findall(r"[A-Za-z_]\w*", test.text))

    def _loop(self, stmt: ir.Loop, state: _State) -> _State | None:
        inside = list(ir.walk((*stmt.condition, *stmt.body, *stmt.step)))
        assigned = (self.target(s.target) for s in inside if isinstance(s, ir.Assign))
        given = (self.keys(e) for s in ir.walk(stmt.body) if isinstance(s, ir.Call) for e in s.given)
        handed = frozenset[Key]({_KEPT}).union(*given)
        stored = (self.keys(s.value) for s in inside if isinstance(s, ir.Assign) and not isinstance(s.target, ir.Var))
        stored_keys = frozenset[Key]().union(*stored)
        handed |= stored_keys
        freed = (self.keys(e) for s in inside if isinstance(s, ir.Call) and self._frees(s) for e in s.args)
        kept = frozenset[Key]({_KEPT}).union(*(self._handed(s) for s in inside if isinstance(s, ir.Call)))
        freed_keys = frozenset[Key]().union(*freed)
        kept = (kept | stored_keys) - freed_keys
        put_away = self._put_away(inside) - freed_keys
        # a method whose result nobody takes is called for what it does to its object
        done = (s.receiver for s in inside if isinstance(s, ir.Call) and s.result is None and s.receiver is not None)
        calls = [s for s in inside if isinstance(s, ir.Call) and not self.trials.called(s, self.function.cls)]
        below = (self.trials.stored_by(self.trials.program.reached_by(s, self.function.cls)) for s in calls)
        exits = _Exits(
            assigned=frozenset[Key]().union(*assigned, self.keys(stmt.index), *map(self.target, done), *below),
            frees=any(isinstance(s, ir.Call) and self._frees_below(s) for s in inside),
        )
        made = (self._made(s) for s in inside if isinstance(s, ir.Call) and self.trials.is_allocation(s))
        # a condition may ask for a pointer that the rounds allocate, and need not for another one
        others = self.pointers - exits.assigned.union(*made)
        words = set(re.findall(r"[A-Za-z_]\w*", stmt.test))
        in_condition = any(
            (isinstance(s, ir.Call) and self._tells(s)) or (isinstance(s, ir.If) and self._is_about_failure(s.test))
            for s in ir.walk(stmt.condition)
        )
        # what a `try` sets behind an allocation tells whether that has raised
        set_in_try = frozenset[Key]().union(*(self._set_by(s.body) for s in inside if isinstance(s, ir.Try)))
        may_ask_for_it = any(not words or name.removeprefix(".") in words for _, name in set_in_try)

        def may_ask(untested: frozenset[Key]) -> bool:
            names = {name for _, name in untested - others if not name.startswith("%") and name != _RAISED}
            return any(not words or name.removeprefix(".") in words for name in names)

        open_condition = not stmt.forever and stmt.range is None
        entry: _State | None = state
        left: list[_State] = []
        for _ in range(_MOST_ROUNDS):
            if entry is None:
                break
            self.loops.append(exits)
            exits.breaks, exits.continues, exits.returns = [], [], []
            condition = self.block(stmt.condition, entry)
            if condition is not None:
                # what the condition says is not known
                depends = in_condition or (open_condition and may_ask(entry.untested | condition.untested))
                if depends and condition.events:
                    condition = replace(condition, failed=1, changed=condition.changed | condition.since)
                    self._takes_all(condition, exits, handed) if in_condition else None
                left.append(condition)
            body = _joined([self.block(stmt.body, condition), *exits.continues])
            end = self.block(stmt.step, body)
            if end is not None and open_condition and may_ask(end.untested):
                end = replace(end, failed=1, changed=end.changed | end.since)
            if end is not None and open_condition and end.caught and may_ask_for_it:
                end = replace(end, changed=end.changed | end.since)
            if end is not None and (end.given_up or end.failed):
                self._goes_on_with(end, exits)
            if end is not None:
                assigned_here = exits.assigned
                probed = [e for e in end.open if e.probes and not self._closure(e.sizes).isdisjoint(assigned_here)]
                self._are_tried(probed)
                self._are_recorded(stmt, end, exits)
            if end is not None and stmt.at_least_once:
                left.append(end)
            if stmt.forever:
                for state_of_break in (s for s in exits.breaks if s.failed == 2):
                    self._takes_all(state_of_break, exits, kept)
                for state_of_break in (s for s in exits.breaks if s.failed == 1):
                    into = ((e, frozenset[Key]().union(*map(self.keys, e.into))) for e in state_of_break.events)
                    self._are_tried(e for e, objects in into if not objects.isdisjoint(put_away))
            bad = [s for s in exits.breaks if s.failed == 2]
            if bad and (
                self._counted(stmt) or self._is_shown_behind(stmt, self._assigned_in(stmt.step) | self.keys(stmt.index))
            ):
                for state_of_break in bad:
                    self._takes_all(state_of_break, exits, stored_keys | self._indexed(stmt))
            if any(not key[0] for key in self._counts(stmt)):
                for state_of_return in (s for s in exits.returns if s.failed == 2):
                    self._takes_all(state_of_return, exits, stored_keys | self._indexed(stmt))
            self.loops.pop()
            left += exits.breaks
            again = _joined([entry, end])
            if end is not None and end.failed and again is not None and not _same_but_for_failure(again, entry):
                entry = replace(again, failed=end.failed)
            elif again is None or again == entry:
                break
            else:
                entry = again
        ways = left if not stmt.forever else [s for s in left if s in exits.breaks] or exits.breaks
        end = _joined(ways) if ways or stmt.forever else state
        return replace(end, failed=state.failed if end.events == state.events else 0) if end is not None else None

    def _are_recorded(self, loop: ir.Loop, state: _State, exits: _Exits) -> None:
        """The allocations of a round that no test of the status has ended, where the statuses of all rounds are shown,
        or what was computed from them, or counted where one was good or bad.
        """
        found = [event for event in state.open if not event.probes]
        if not found:
            return
        sized = [e for e in found if not exits.frees or not self._closure(e.sizes).isdisjoint(exits.assigned)]
        computed = [e for e in found if not e.sizes and any(isinstance(size, ir.Opaque) for size in e.written)]
        recorded = self._recorded(loop.body)
        if (sized or computed) and self._is_read_behind(loop, self._mixed(loop)):
            self._are_tried((*sized, *computed))
            return
        shown = not self._shown(loop.body, output=True).isdisjoint(self.statuses)
        if self._is_read_out_of_sight(loop):  # in the condition of a choice
            recorded |= self._assigned_in(loop.body)
            prints = (s for s in ir.walk(loop.body) if isinstance(s, ir.Call) and self._prints(s))
            shown |= any(isinstance(e, ir.Choice) for s in prints for e in s.given)
        if (sized or computed) and self._is_shown_behind(loop, recorded):
            self._are_tried((*sized, *computed))
        elif sized and shown and not self._is_ended(frozenset(self.statuses)):
            self._are_tried(sized)

    def _is_read_out_of_sight(self, loop: ir.Loop) -> bool:
        """Whether a loop keeps a status in a variable that no statement reads."""
        stmts = list(ir.walk(self.function.body))
        tests = [s.test for s in stmts if isinstance(s, ir.If)]
        values = (*(e for s in stmts for e in ir.values_in(s)), *(test.place for test in tests))
        read = frozenset[Key]().union(*map(self.keys, values))
        words = {word for test in tests for word in re.findall(r"[A-Za-z_]\w*", test.text)}
        calls = [s for s in ir.walk(loop.body) if isinstance(s, ir.Call) and self._tells(s)]
        kept = (s.result for s in calls if isinstance(s.result, ir.Var) and not _is_temporary(s.result))
        return any(not self.keys(e) & read and e.name not in words for e in kept)

    def _recorded(self, block: ir.Block) -> frozenset[Key]:
        """The variables that tell how the allocations of a block went: by their values, or by being changed where one
        was good or bad.
        """
        found = frozenset[Key]()
        before: ir.Stmt | None = None
        for stmt in ir.walk(block):
            previous, before = before, stmt
            chosen = isinstance(previous, ir.Call) and self._is_compared(previous)
            match stmt:
                case ir.Assign(target, value) if (chosen and isinstance(value, ir.Choice)) or (
                    not self.keys(value).isdisjoint(self.statuses)
                ):
                    found |= self.target(target)
                case ir.HostAccess(writes=writes):
                    told = (place for place in writes if not self.keys(place).isdisjoint(self.statuses))
                    found = found.union(*map(self.target, told), *(map(self.target, writes) if chosen else ()))
                case ir.If(test) if self._is_about_failure(test):
                    found |= self._assigned_in((*stmt.then, *stmt.other))
                case _:
                    pass
        return found

    def _mixed(self, loop: ir.Loop) -> frozenset[Key]:
        """The variables that may say which allocations of a loop have failed, or how many: what is computed there from
        how one went and from what other rounds have left. A number that is zero before the loop, and is only counted
        up or down or set where one has failed, is no such: whether it is zero tells whether all have worked.
        """
        own = set(map(id, ir.walk((loop,))))
        outside = [s for s in ir.walk(self.function.body) if isinstance(s, ir.Assign) and id(s) not in own]
        begun = frozenset[Key]().union(*(self.target(s.target) for s in outside))
        begun -= frozenset[Key]().union(
            *(self.target(s.target) for s in outside if not (isinstance(s.value, ir.Const) and s.value.text in _FALSE))
        )
        changing = self._assigned_in(loop.body) | self._assigned_in(loop.step) | self.keys(loop.index)
        found = frozenset[Key]()
        before: ir.Stmt | None = None
        for stmt in ir.walk(loop.body):
            previous, before = before, stmt
            told = isinstance(previous, ir.Call) and self._is_compared(previous)
            match stmt:
                case ir.Assign(target, ir.Opaque() | ir.Choice() as value):
                    values, targets = self.keys(value), self.target(target)
                    if (told or values & self.statuses) and values & (changing | targets):
                        found |= targets
                case ir.If(test) if self._is_about_failure(test):
                    bad = test.kind == "failed" if test.kind in _OF_STATUS else self._bad_is_then(test)
                    if bad is not None:
                        block = stmt.then if bad else stmt.other
                        turned = self._turned(block)
                        found |= (self._assigned_in(block) - begun) | turned
                case _:
                    pass
        return frozenset(key for key in found if not key[1].startswith("%"))

    def _turned(self, block: ir.Block) -> frozenset[Key]:
        """The variables that may be what they were after a block has run several times."""
        stmts = [s for s in ir.walk(block) if isinstance(s, ir.Assign)]
        turned = {
            key for s in stmts if not (s.counts or isinstance(s.value, ir.Const)) for key in self.target(s.target)
        }
        given: dict[Key, str] = {}
        for stmt in stmts:
            if isinstance(stmt.value, ir.Const):
                for key in self.target(stmt.target):
                    if given.setdefault(key, stmt.value.text) != stmt.value.text:
                        turned.add(key)
        return frozenset(turned)

    def _is_read_behind(self, loop: ir.Loop, keys: frozenset[Key]) -> bool:
        """Whether any statement of the function but those of a loop has the value of one of these."""
        own = set(map(id, ir.walk((loop,))))
        return self._is_used((s for s in ir.walk(self.function.body) if id(s) not in own), set(keys))

    def _assigned_in(self, block: ir.Block) -> frozenset[Key]:
        """The variables that a block computes from what they were, or from others."""
        stmts = (s for s in ir.walk(block) if isinstance(s, ir.Assign) and not isinstance(s.value, ir.Const))
        return frozenset[Key]().union(*(self.target(s.target) for s in stmts))

    def _is_shown_behind(self, loop: ir.Loop, keys: frozenset[Key]) -> bool:
        """Whether what a loop has stored is used behind it, and no test of that ends the function where one allocation
        has failed. A test that lets some fail is a use.
        """
        keys |= self._set_where_good(loop)
        if not keys:
            return False
        own = set(map(id, ir.walk((loop,))))
        tests = [s.test for s in ir.walk(self.function.body) if isinstance(s, ir.If) and id(s) not in own]
        if any(self._lets_some_fail(test, loop, keys) for test in tests):
            return True
        used = self._shown(self.function.body, own)
        return not used.isdisjoint(keys) and not self._is_ended(keys)

    def _set_where_good(self, loop: ir.Loop) -> frozenset[Key]:
        """The variables that a loop sets, or computes from what they were, where an allocation has worked."""
        found = frozenset[Key]()
        for stmt in ir.walk(loop.body):
            if isinstance(stmt, ir.If) and self._is_about_failure(stmt.test):
                bad = stmt.test.kind == "failed" if stmt.test.kind in _OF_STATUS else self._bad_is_then(stmt.test)
                good = () if bad is None else stmt.other if bad else stmt.then
                found = found.union(*(self.target(s.target) for s in ir.walk(good) if isinstance(s, ir.Assign)))
        return frozenset(key for key in found if not key[1].startswith("%"))

    def _lets_some_fail(self, test: ir.Test, loop: ir.Loop, keys: frozenset[Key]) -> bool:
        """Whether a test of what a loop has recorded says something else than whether all of its allocations worked: it
        compares a number of those that did with no bound of the loop, or one of those that did not with another number
        than zero.
        """
        text = _MARKS.sub("", test.text).strip()
        match = _COMPARED.fullmatch(text)
        if match is None:
            return False
        negated, name, operator, other = match.groups()
        if name not in {key.removeprefix(".") for _, key in keys}:
            return False
        bounds = f"{loop.test} {loop.range or ''}"
        is_bound = bool(other) and re.search(rf"(?<!\w){re.escape(other)}(?!\w)", bounds) is not None
        good = self._set_where_good(loop) | self._assigned_in(loop.step) | self.keys(loop.index)
        if any(key.removeprefix(".") == name for _, key in good):
            return not is_bound or other == "0"
        return bool(operator) and not negated and other not in (*_FALSE, "cudaSuccess", "CUDA_SUCCESS", "1")

    def _shown(self, block: ir.Block, but: Container[int] = (), output: bool = False) -> frozenset[Key]:
        """The variables that are printed, given to a call or stored elsewhere, but where an allocation has failed."""
        found = frozenset[Key]()
        for stmt in block:
            match stmt:
                case _ if id(stmt) in but:
                    pass
                case ir.If(test, then, other) if self._is_about_failure(test):
                    bad = then if test.kind == "failed" else other if test.kind == "ok" else ()
                    branches = (one for one in (then, other) if one is not bad and not self._only_reports(one))
                    found = found.union(*(self._shown(one, but, output) for one in branches))
                case ir.Call() if not self._frees(stmt) and (not output or self._prints(stmt)):
                    found = found.union(*map(self._named_in, stmt.given))
                case ir.Loop(bounds=bounds) if not output and not self._only_frees(stmt.body):
                    found = found.union(self._shown(stmt.body, but), *map(self._named_in, bounds))
                case ir.Launch() if not output:
                    found = found.union(*map(self._named_in, stmt.args))
                case ir.Assign(target, value) if not output:
                    found |= self._named_in(value) - self.target(target)
                case _:
                    found = found.union(*(self._shown(one, but, output) for one in ir.blocks_of(stmt)))
        return found

    def _only_frees(self, block: ir.Block) -> bool:
        used = (s for s in ir.walk(block) if isinstance(s, ir.Launch | ir.Call))
        return all(isinstance(s, ir.Call) and self._frees(s) for s in used)

    def _prints(self, call: ir.Call) -> bool:
        api = self.trials.tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
        return api is not None and api.effect is Effect.OUTPUT

    def _named_in(self, expr: ir.Expr) -> frozenset[Key]:
        """The variables whose values an expression has; not those that only say which element it is."""
        match expr:
            case ir.Opaque(parts) | ir.Choice(parts):
                return frozenset[Key]().union(*map(self._named_in, parts))
            case _:
                return self.target(expr)

    def _frees_below(self, call: ir.Call) -> bool:
        called = self.trials.called(call, self.function.cls)
        return self._frees(call) or any(id(f) in self.trials.freeing for f in called)

    def _counted(self, loop: ir.Loop) -> bool:
        """Whether what a loop has counted is read elsewhere in the function."""
        own = set(map(id, ir.walk((loop,))))
        return bool(self._counts(loop) & self._read(s for s in ir.walk(self.function.body) if id(s) not in own))

    def _counts(self, loop: ir.Loop) -> frozenset[Key]:
        """What a loop computes from what it was."""
        return frozenset(
            key
            for stmt in ir.walk(loop.body)
            if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Opaque | ir.Choice)
            for key in self.target(stmt.target) & self.keys(stmt.value)
        )

    def _read(self, stmts: Iterable[ir.Stmt]) -> frozenset[Key]:
        found = frozenset[Key]()
        for stmt in stmts:
            values = (*ir.values_in(stmt), *(ir.places_in(stmt) if not isinstance(stmt, ir.Assign) else ()))
            found = found.union(*map(self.keys, values))
        return found

    def _indexed(self, loop: ir.Loop) -> frozenset[Key]:
        """The arrays of which a loop allocates one element after the other."""
        calls = (s for s in ir.walk(loop.body) if isinstance(s, ir.Call) and self.trials.is_allocation(s))
        args = (e for call in calls for e in call.args)
        places = (e.base.base for e in args if isinstance(e, ir.Addr) and isinstance(e.base, ir.Index))
        return frozenset[Key]().union(*map(self.keys, places))

    def _set_by(self, block: ir.Block) -> frozenset[Key]:
        """The variables of the program that a block assigns."""
        stmts = list(ir.walk(block))
        targets = [s.target for s in stmts if isinstance(s, ir.Assign)]
        targets += [s.result for s in stmts if isinstance(s, ir.Call) and s.result is not None]
        found = frozenset[Key]().union(*map(self.target, targets))
        return frozenset(key for key in found if not key[1].startswith(("%", "::")))

    def _goes_on_with(self, state: _State, exits: _Exits) -> None:
        for event in state.events:
            if exits.frees and not self._closure(event.sizes).isdisjoint(exits.assigned):
                self._are_tried([event])

    def _takes_all(self, state: _State, exits: _Exits, handed: frozenset[Key] = frozenset()) -> None:
        """A loop that ends where no further block can be had: each is stored, or is `handed` to what may keep it."""
        for event in state.events:
            if not event.made.isdisjoint(exits.assigned | handed):
                self._are_tried([event])

    def _frees(self, call: ir.Call) -> bool:
        return self.trials.is_free(call)

    def _try(self, stmt: ir.Try, state: _State) -> _State | None:
        end = self.block(stmt.body, state)
        calls = [s for s in ir.walk(stmt.body) if isinstance(s, ir.Call)]
        events = frozenset(event for call in calls if (event := self._event(call)) is not None)
        thrown = state
        if events:
            changed = end.changed if end is not None else state.changed
            thrown = replace(
                state, events=state.events | events, changed=state.changed | changed, failed=2, caught=True
            )
        if events and not all(map(_ends_with_error, stmt.handlers)):
            for loop in (s for s in ir.walk(stmt.body) if isinstance(s, ir.Loop)):
                self._left_by_exception(loop)
        ends = [self.block(handler, thrown) for handler in stmt.handlers]
        if end is None and len([e for e in ends if e is not None]) == 1:
            return next(e for e in ends if e is not None)
        joined = _joined([end, *ends])
        return replace(joined, failed=state.failed if joined.events == state.events else 0) if joined else None

    def _left_by_exception(self, loop: ir.Loop) -> None:
        """A loop over sizes, or one that takes blocks, ends by an exception, and something reads how far it came."""
        inside = list(ir.walk((loop,)))
        calls = [s for s in inside if isinstance(s, ir.Call)]
        grown = frozenset[Key]().union(*(self.target(s.receiver) for s in calls if s.receiver is not None))
        stored = [(self.target(s.target), self.keys(s.value)) for s in inside if isinstance(s, ir.Assign)]
        grown = grown.union(self.keys(loop.index), *(targets & values for targets, values in stored))
        assigned = grown.union(*(targets for targets, _ in stored))
        own = set(map(id, inside))
        behind = self._read(s for s in ir.walk(self.function.body) if id(s) not in own)
        if not assigned & behind:
            return
        frees = any(map(self._frees_below, calls))
        counts = loop.forever or bool(grown & behind)
        for event in [event for call in calls if (event := self._event(call)) is not None]:
            if (frees and not self._closure(event.sizes).isdisjoint(assigned)) or (counts and not frees):
                self._are_tried([event])


def _into(call: ir.Call, written: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """Where a call puts what it allocates, as far as it can be told: its object, its result, and what is no size."""
    named = call.result if call.result is not None and not _is_temporary(call.result) else None
    found = (call.receiver, *(arg for arg in call.args if arg not in written))
    pointers = tuple(one for one in found if one is not None)
    return pointers or ((named,) if named is not None else ())


def _is_temporary(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Var) and expr.name.startswith("%")


def _last(name: str) -> str:
    return last(name).rsplit(".", 1)[-1]


def _grow(found: set[Key], flows: Iterable[tuple[frozenset[Key], frozenset[Key]]]) -> None:
    """Add what gets its value from one of these."""
    growing = True
    while growing:
        growing = False
        for targets, values in flows:
            if not values.isdisjoint(found) and not targets <= found:
                found |= targets
                growing = True


def _same_but_for_failure(one: _State, other: _State) -> bool:
    return replace(one, failed=0) == replace(other, failed=0)


def _ends_with_error(block: ir.Block) -> bool:
    """Whether a branch ends the function, or the program, as for an error."""
    if not block:
        return False
    match block[-1]:
        case ir.Return(value):
            return isinstance(value, ir.Const) and _ERRORS.fullmatch(value.text) is not None
        case ir.Call(callee):
            return _last(callee) in _ENDS
        case _:
            return False
