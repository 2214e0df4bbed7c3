"""What calls and launches do to the state: the API tables' words, executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ir import walk
from cudafix.link import Program, handed_over, last
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, Waits, roles_of
from cudafix.ordering import memory as mem
from cudafix.ordering.alone import Alone
from cudafix.ordering.clients import CALLER, ELEMENT, OBJECT, assumption
from cudafix.ordering.engine import (
    MAX_DEPTH,
    UNKNOWN_STREAM,
    Engine,
    Followed,
    OutOfBudget,
    State,
    joined,
    numbers,
    variables,
)
from cudafix.ordering.memory import Values
from cudafix.ordering.program import Object, Operation, Overlay, Point, Wrong, key_of, stream_arguments
from cudafix.ordering.slicing import NUMBERS, for_the_host
from cudafix.ordering.state import HOST, Bits, Event, In, Observer, Stream, StreamKind
from cudafix.ordering.unwritten import may_be_assigned_unseen

BLOCKING_MEMORY = frozenset({"device", "managed", "pitched"})  # `cudaFree` of these waits for the device
STREAM_STEPS = frozenset({Effect.RECORD, Effect.WAIT, Effect.SYNC_STREAM, Effect.QUERY})
NEEDS_STREAM = {"cudaMallocAsync": 3, "cudaFreeAsync": 2}
SHORT = 30  # statements of a function that is followed though it works on the host alone
FEW_LEADS, MOST_LEADS = 8, 64  # addresses that a call which is one step may mix up; the second in too large programs
MAX_CALLBACKS = 10  # rounds until nothing changes
THREAD = re.compile(r"\bstd::j?thread\b")
ADDS_AN_ELEMENT = frozenset({"push_back", "emplace_back", "push_front", "emplace_front", "push"})
HOST_MEMORY = frozenset({"host", "pinned", "mapped"})


@dataclass(slots=True)
class Arguments:
    """The arguments of a call by what the table says they are."""

    reads: Values = mem.NOTHING
    writes: Values = mem.NOTHING
    host_reads: Bits = 0
    host_writes: Bits = 0
    stream: ir.Expr | None = None
    named: dict[str, list[ir.Expr]] = field(default_factory=dict)

    def one(self, role: str) -> ir.Expr | None:
        found = self.named.get(role)
        return found[0] if found else None


_OUT_OF_SIGHT = frozenset(("device", "async", "pitched", "array"))
"""Memory that the host has no access to."""
_ON_DEVICE = _OUT_OF_SIGHT | {"managed"}


class Effects(Engine):
    """Calls, launches, and the functions that nobody has seen."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self._callers_work: Operation | None = None
        self._effect: dict[Effect, Callable[[ir.Call, Api, Arguments, State, In], State | None]] = {
            Effect.ALLOC: self._alloc,
            Effect.FREE: self._free,
            Effect.COPY: self._copy,
            Effect.WORK: self._work,
            Effect.RECORD: self._record,
            Effect.WAIT: self._wait,
            Effect.SYNC_STREAM: self._sync_stream,
            Effect.SYNC_EVENT: self._sync_event,
            Effect.SYNC_DEVICE: self._sync_device,
            Effect.QUERY: self._query,
            Effect.ELAPSED: self._query,
            Effect.STREAM_CREATE: self._stream_create,
            Effect.STREAM_DESTROY: self._stream_destroy,
            Effect.EVENT_CREATE: self._event_create,
            Effect.EVENT_DESTROY: self._event_destroy,
            Effect.HANDLE_CREATE: self._handle_create,
            Effect.HANDLE_SET_STREAM: self._handle_set_stream,
            Effect.SET_DEVICE: self._set_device,
            Effect.RESET: self._reset,
            Effect.OUTPUT: self._output,
            Effect.CLOCK: self._clock,
            Effect.EXIT: self._exit,
            Effect.CAPTURE_BEGIN: self._capture,
            Effect.CAPTURE_END: self._capture,
            Effect.GRAPH_LAUNCH: self._graph_launch,
            Effect.PEER: self._peer,
            Effect.IPC: self._ipc,
            Effect.HOST_FUNC: self._host_func,
            Effect.REGISTER: self._register,
            Effect.FREE_MEMORY: self._free_memory,
            Effect.EXTERNAL: self._external,
            Effect.MESSAGE: self._message,
        }

    # -- dispatch ----------------------------------------------------------------------------------------------------

    def call(self, call: ir.Call, state: State, where: In) -> State | None:
        if call.callee.startswith("#pragma"):
            self._parallel_region(call, state)
            return state
        if call.callee == "throw":
            self._throw(call, state)
            return None
        if call.callee == CALLER:
            result, *behind = call.args
            if behind:
                name = behind[0].name if isinstance(behind[0], ir.FuncRef) else ""
                self.returns(self.whole(state, result), Point(call.span, f"`{last(name)}` returns", None), state)
            self.unseen_caller(self.frame.function, state)
            return state
        found = self.resolve(call, state)
        if isinstance(found, Api):
            return self.library_call(call, found, state, where)
        if ir.is_any_of(call.callee) and self.program.methods(call.callee, len(call.args)):
            if not found:  # no object of a class that has it
                return state
            before = state.copy()  # the object may have none of them
            return joined(before, self.function_call(call, found, state))
        if found:
            return self.function_call(call, found, state)
        if call.callee.startswith("~") and call.receiver is not None:
            held = self.device_objects(self.whole(state, call.receiver)) & state.live
            text = f"is held by an object of the class `{call.callee[1:]}`, which is not seen, when that ends"
            self.obstacle(held, "unknown_call", text, call.span)
            return state
        back = self.unknown(f"`{_said(call)}` is not known", self.given(call), call, call.span, state)
        self.result(call, back, state)
        return state

    def _of_its_class(self, call: ir.Call, receiver: ir.Expr, state: State) -> list[tuple[ir.Function, Values]]:
        """The methods of these names, of the classes that an object may be of. One that comes from outside may be of
        those of which code that is not seen got an object, and of any where such code is the caller; inside of such a
        method, those of the same name are the ones that the outer call runs anyway.
        """
        named = self.program.methods(call.callee, len(call.args))
        running = {last(frame.function.name) for frame in self.frames}
        given_away = {v.text for v in state.env.read(_GIVEN_AWAY) if isinstance(v, mem.Number)}
        found: dict[int, tuple[ir.Function, Values]] = {}
        for root, path in self.cells(state, receiver):
            held = state.env.read((root, (*path, ("field", ir.CLASS))))
            classes = {v.text for v in held if isinstance(v, mem.Number)}
            for method in named:
                may_be = self._callers_work is not None or method.cls in given_away
                of_client = root[2] == OBJECT.name
                outside = (of_client or held >= mem.UNKNOWN) and may_be and last(method.name) not in running
                if method.cls in classes or outside:
                    this = found.get(id(method), (method, mem.NOTHING))[1]
                    found[id(method)] = method, this | {mem.reference((root, path))}
        return list(found.values())

    def unseen_caller(self, root: ir.Function, state: State) -> None:
        """Unseen code runs before a function of the program is called: it may have started work of its own."""
        if self._callers_work is None:
            op = Operation(len(self.outcome.operations), None, "the caller's work", "", state.device)
            op.assumption = assumption(root)
            op.reads = op.writes = 1
            op.prints = True
            op.streams = frozenset({UNKNOWN_STREAM})
            self.outcome.operations.append(op)
            self._callers_work = op
        state.orders.issue(1 << self._callers_work.number, [UNKNOWN_STREAM])

    def returns(self, held: Values, point: Point, state: State) -> None:
        """A function returns to unseen code, which may look at anything, and use what it is given as it likes."""
        lost = state.unreported
        for bits in state.orders.lost.values():
            lost |= bits
        for number in numbers(lost):
            op = self.outcome.operations[number]
            self.wrong(Wrong.LEAVES, op, point, via=tuple(op.via))
        kept = self.mask(self.reachable(state, held)) & state.live
        self.obstacle(kept, "escapes", f"is still reachable when {point.text}", point.span)

    def _throw(self, call: ir.Call, state: State) -> None:
        """An exception reaches the handlers around it; without one the process ends."""
        if self.catching:
            for arg in call.args:
                self.escape(state, self.whole(state, arg), "escapes", "is thrown", call.span)
            self.unwind(state, len(self.frames))  # where it is thrown, the destructors are written down
        else:
            self.ends(state, Point(call.span, "an exception ends the program", call))

    def _parallel_region(self, call: ir.Call, state: State) -> None:
        """Several host threads run the statement behind an OpenMP pragma: what is live may not be touched there."""
        inside = tuple(s for s in walk(self.frame.function.body) if call.span.start < s.span.start < call.close)
        if self.works_on_device(inside):
            text = f"is touched in a region of `{call.callee}`"
            self.obstacle(self._visible(state) & state.live, "several_host_threads", text, call.span)

    def _of_several_threads(self) -> frozenset[int]:
        """The calls (by `id`) that other host threads may run too: what stands in an OpenMP region; where the program
        starts threads, what stands in functions that it hands to somebody; and all that is reached from there. Each
        thread runs them on streams, blocks and perhaps a device of its own, and a `cudaFree` waits for the work of all.
        """
        stack: list[tuple[ir.Call, str | None]] = []
        named: list[tuple[str, str]] = []
        threads = False
        for function in self.program.functions():
            threads = threads or any(map(THREAD.search, function.types.values()))
            stmts = list(walk(function.body))
            calls = [s for s in stmts if isinstance(s, ir.Call)]
            threads = threads or any(map(self._starts_threads, calls))
            regions = [(c.span.start, c.close) for c in calls if c.callee.startswith("#pragma")]
            stack += [(c, function.cls) for c in calls for start, end in regions if start < c.span.start < end]
            named += [(name, s.span.path) for s in stmts for name in handed_over(s)]
        for name, path in named if threads else ():
            for given in self.program.resolve(name, 0, path):
                stack += [(s, given.cls) for s in walk(given.body) if isinstance(s, ir.Call)]
        found: set[int] = set()
        while stack:
            call, cls = stack.pop()
            if id(call) not in found:
                found.add(id(call))
                for called in self.program.reached_by(call, cls):
                    stack += [(s, called.cls) for s in walk(called.body) if isinstance(s, ir.Call)]
        return frozenset(found)

    def _starts_threads(self, call: ir.Call) -> bool:
        api = self.tables.lookup(call.callee, len(call.args))
        return api is not None and api.effect is Effect.EXTERNAL and api.why is not None and "thread" in api.why

    def _in_threads(self, call: ir.Call) -> bool:
        return id(call) in self.program.kept("calls of several threads", self._of_several_threads)

    def works_on_device(self, block: ir.Block) -> bool:
        """Whether a statement of a block reaches the device, through calls too."""
        return any(self._reaches_device(s) for s in walk(block))

    def _reaches_device(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Call):
            if any(self._works_on_device(f) for f in self.program.reached_by(stmt, self.frame.function.cls)):
                return True
        return self._is_device_work(stmt)

    def _works_on_device(self, function: ir.Function) -> bool:
        return id(function) in self.program.reaching("device work", self._is_device_work)

    def _is_device_work(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Call):
            if stmt.receiver is not None or self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
                return False
            api = self.tables.lookup(stmt.callee, len(stmt.args))
            if api is None or (api.why is not None and "thread" in api.why and self._hands_over_known(stmt)):
                return False  # what a thread runs is asked on its own
            return api.effect not in HOST_EFFECTS
        return isinstance(stmt, ir.Launch)

    def _hands_over_known(self, call: ir.Call) -> bool:
        """Whether the functions that a call is given are the program's, and there are some."""
        given = (arg.base if isinstance(arg, ir.Addr) else arg for arg in call.args)
        names = [function.name for function in given if isinstance(function, ir.FuncRef)]
        return bool(names) and all(self.program.resolve(name, 0, call.span.path) for name in names)

    def given(self, call: ir.Call) -> tuple[ir.Expr, ...]:
        return call.args if call.receiver is None else (call.receiver, *call.args)

    def resolve(self, call: ir.Call, state: State) -> Api | list[tuple[ir.Function, Values]]:
        """What a call reaches: a library function, or the program's own (each with its `this`)."""
        name, arity = call.callee, len(call.args)
        path = call.span.path
        if call.receiver is not None and ir.is_any_of(call.callee):
            return self._of_its_class(call, call.receiver, state)
        if call.receiver is not None:
            kind = self.type_of(call.receiver)
            this = frozenset(mem.reference(c) for c in self.cells(state, call.receiver)) or mem.UNKNOWN
            pointed = self.values(state, call.receiver)
            if any(isinstance(v, mem.Ptr | mem.Ref) for v in pointed) and "*" in kind:
                this = pointed
            methods = self.methods(kind, name, arity, path)
            api = self.tables.method(kind, name) if kind or not methods else None
            if name in ("emplace_back", "emplace_front") and (made := THREAD.search(kind)):
                api = self.tables.lookup(made[0], arity)  # its constructor runs
            if api is None and not methods:
                api = self.slicer.method_by_name(name)
            if api is not None and not (methods and kind and "std::" not in kind and "thrust::" not in kind):
                return api
            exact = isinstance(call.receiver, ir.Var) and not {"*", "&"} & set(kind)
            if not exact and not ("::" in name and call.receiver == ir.Deref(ir.Var("this"))):  # a part of this object
                methods += self.overriders(methods)
            return [(f, this) for f in methods]
        if last(name) == "now" and "::" in name and not arity:  # an alias of a clock of the standard library
            return self.tables.lookup("std::chrono::steady_clock::now", 0) or []
        if name.startswith(("cuda", "cublas")) and (api := self.tables.lookup(name, arity)) is not None:
            return api
        cls = self.frame.function.cls
        own = [f for f in self.program.resolve(name, arity, path, cls) if self._may_call(name, f)]
        if own:
            this = state.env.read((self.root("this"), ())) if cls is not None else mem.NOTHING
            if "::" not in name:
                own = [*own, *self.overriders(own)]
            return [(f, this) for f in own]
        api = self.tables.lookup(name, arity)
        if api is not None:
            return api
        # A lambda or function pointer in a variable.
        functions = [v for v in self.values(state, ir.Var(name)) if isinstance(v, mem.Function)]
        return [(f, mem.NOTHING) for v in functions for f in self.program.resolve(v.name, arity, v.path)]

    def methods(self, kind: str, name: str, arity: int, path: str) -> list[ir.Function]:
        """What a method call on an object of this type may reach: the method of its class; where that leaves it to
        others, those of its bases, or of the classes derived from it; of any class where it is not known which.
        """
        plain = kind.strip(" *&").partition("<")[0]
        own = [f for f in self.program.resolve(name, arity, path, plain or None) if f.cls is not None]
        cls = last(_QUALIFIERS.sub("", plain).strip())
        if "::" in name or any(last(f.cls or "") == cls for f in own):
            return own
        named = self.program.methods(name, arity)
        bases = self.program.kept("bases", lambda: _bases(self.program)).get(cls, set())
        if inherited := [f for f in named if last(f.cls or "") in bases]:
            return inherited
        derived = self.program.kept("derived", lambda: _derived(self.program)).get(cls, [])
        found = [f for f in derived if f in named]
        if found:
            bases = bases.union(*({last(base) for base in f.bases} for f in derived))
            return found + [f for f in named if f not in found and last(f.cls or "") in bases]
        return [] if self._is_unseen(cls) and not _HOLDS_OTHERS.match(plain) else named

    def _is_unseen(self, cls: str) -> bool:
        """Whether a type is a class that no file of the program defines."""
        known = self.program.kept("type names", lambda: _type_names(self.program))
        return bool(cls) and cls != "auto" and cls not in known and not self.in_python

    def _may_call(self, name: str, function: ir.Function) -> bool:
        """Whether a call without an object may mean a function: no method of a class that is not the caller's."""
        caller = self.frame.function
        if function.cls is None or "::" in name or self.in_python:
            return True
        return last(function.cls) in {last(caller.cls or ""), *map(last, caller.bases)}

    def overriders(self, methods: list[ir.Function]) -> list[ir.Function]:
        """What may run instead of these methods, if they are virtual: those of the classes derived from theirs."""
        derived = self.program.kept("derived", lambda: _derived(self.program))
        found: list[ir.Function] = []
        for method in methods:
            own, name = last(method.cls or ""), last(method.name)
            for other in derived.get(own, ()):
                same = last(other.name) == (f"~{last(other.cls or '')}" if name == f"~{own}" else name)
                if same and len(other.params) == len(method.params) and other not in methods and other not in found:
                    found.append(other)
        return found

    def type_of(self, expr: ir.Expr) -> str:
        """The declared type of the object that a method is called on, "" if it is not known."""
        if isinstance(expr, ir.Var):
            if expr.name == "this":
                return self.frame.function.cls or ""
            if expr.name.startswith("::") or "::" in expr.name:
                variable = self.program.globals.get(expr.name.removeprefix("::"))
                return variable.type if variable is not None else ""
            for frame in reversed(self.frames):
                if expr.name in frame.function.types:
                    return frame.function.types[expr.name]
                if not self.in_python and (expr.name.startswith("%") or "::<lambda@" not in frame.function.name):
                    break  # a variable of the caller is another one
        if isinstance(expr, ir.Deref):
            kind = self.type_of(expr.base)
            kept = _KEEPS_ONE.match(kind)
            return kept[1] if kept is not None else kind
        if isinstance(expr, ir.Field):
            cls = last(self.type_of(expr.base).strip(" *&").partition("<")[0])
            return self.program.kept("types of members", lambda: _types_of_members(self.program)).get(
                (cls, expr.name), ""
            )
        if isinstance(expr, ir.Index):
            if isinstance(expr.base, ir.Var) and self.meaning(expr.base.name).is_array:
                return self.type_of(expr.base)  # as it is written in front of the name
            return _element(self.type_of(expr.base))
        return ""

    def runs_unseen(self, cls: str | None) -> str:
        """A function of a class that works on the device and runs where no call is written: an operator, or a copy
        constructor. Empty if there is none.
        """
        if cls is None:
            return ""
        return self.program.kept("without calls", self._without_calls).get(last(cls), "")

    def _without_calls(self) -> dict[str, str]:
        found: dict[str, str] = {}
        called = {
            id(f)
            for function in self.program.functions()
            for stmt in walk(function.body)
            if isinstance(stmt, ir.Call)
            for f in self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path, function.cls)
        }
        for function in self.program.functions():
            name, owner = last(function.name), last(function.cls or "")
            operator = name.startswith("operator") and not name.startswith(("operator()", "operator new"))
            copies = name == owner and len(function.params) == 1 and _is_of(function.params[0], owner)
            if not (operator or copies and id(function) not in called) or not self._works_on_device(function):
                continue
            if name == "operator=" and not may_be_assigned_unseen(self.program, owner):
                continue
            classes = [owner] if owner else [_class_of(p) for p in function.params]
            found.update((cls, function.name) for cls in classes if cls)
        return found

    def held_by(self, cls: str | None, values: Values, span: ir.Span, state: State) -> None:
        """An object of a class holds these: what runs on it without a call may work on them."""
        unseen = self.runs_unseen(cls)
        if unseen:
            text = f"is held by an object on which `{unseen}` may run where no call is written"
            self.obstacle(self.mask(self.reachable(state, values)), "unknown_call", text, span)

    def owned_by(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        """A smart pointer or a container holds these, and makes and destroys objects of a class where no call is
        written: that may work on them.
        """
        if not values:
            return
        cls = self.program.kept(f"made in {kind}", lambda: self._made_in(kind))
        if cls:
            text = f"is held by a `{cls}` of a smart pointer or container, which ends where no call is written"
            self.obstacle(self.mask(self.reachable(state, values)) & state.live, "unknown_call", text, span)

    def runs_at_the_end(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        """An object of a class that is not seen takes a function: a deleter, a guard. It may run when that ends."""
        if kind and kind in NUMBERS:
            return
        functions = [f for v in values if isinstance(v, mem.Function) for f in self.program.resolve(v.name, 0, v.path)]
        if not kind.startswith(("std::function", "auto")) and any(self._works_on_device(f) for f in functions):
            text = f"is live where a `{kind}` is given a function, which may run when that ends"
            self.obstacle(state.live, "deleter", text, span)

    def _special(self) -> frozenset[str]:
        """The classes whose constructor or destructor works on the device, and those that they are derived from."""
        found = [
            f
            for f in self.program.functions()
            if f.cls is not None and last(f.name).removeprefix("~") == last(f.cls) and self._works_on_device(f)
        ]
        return frozenset(last(name) for f in found for name in (f.cls or "", *f.bases))

    def _made_in(self, kind: str) -> str:
        """The first of these classes of which objects are in a smart pointer or a container of this type, or in one
        that is a member of it. Empty if there is none.
        """
        special = self.program.kept("special", self._special)
        members = self.program.kept("members of classes", lambda: _members(self.program)) if special else {}
        queue, seen = [kind] if special else [], set[str]()
        while queue:
            current = queue.pop()
            names = [last(name) for name in ELEMENT.findall(current)] if "<" in current else []
            found = next((name for name in names if name in special), None)
            if found is not None:
                return found
            for name in (*names, last(current.removeprefix("struct ").partition("<")[0].strip(" []"))):
                if name not in seen:
                    seen.add(name)
                    queue += members.get(name, ())
        return ""

    def function_call(self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State) -> State | None:
        """Inline every function that the call may reach, and join."""
        if (
            self.passes_over(state)
            and all(self.slicer.is_inert(f) for f, _ in found)
            and not any(self.device_memory(state, arg) for arg in call.args)
            and not any(self._on_device(self.reachable(state, this)) & state.live for _, this in found)
        ):
            for n, arg in enumerate(call.args):
                if isinstance(arg, ir.Addr) or any(n < len(f.params) and f.params[n].by_reference for f, _ in found):
                    self.overwritten(state, self.cells(state, arg.base if isinstance(arg, ir.Addr) else arg))
                else:
                    self.overwritten(state, [v.cell for v in self.values(state, arg) if isinstance(v, mem.Ref)])
            self.result(call, mem.NOTHING, state)
            return state
        if self._is_one_step(found) and (returned := self._worked_alone(call, found, state)) is not None:
            self.result(call, returned, state)
            for root, path in self.cells(state, call.result) if call.result is not None else ():
                state.env.may_hold(root, path, returned)
            return state
        on_stack = {id(frame.function) for frame in self.frames}
        name = f"{self.frame.name}/{call.span.path}:{call.span.start}"
        if self.family:
            name += "".join(self.family)
        out: State | None = None
        value: Values = mem.NOTHING
        inside: dict[mem.Path, Values] = {}
        for function, this in found:
            if id(function) in on_stack and not self._works_on_device(function):
                continue  # host code that calls itself: what it does is seen in the outer call
            deep = len(self.frames) >= MAX_DEPTH
            if deep and self._works_on_device(function):
                raise OutOfBudget
            if id(function) in on_stack or deep:
                why = "is called too deep" if deep else "calls itself"
                self.unknown(f"`{_said(call)}` {why}", self.given(call), call, call.span, state)
                return state
            args: list[Values] = []
            packed = self._packed(call, state)
            for n, arg in enumerate(call.args):
                if packed is not None and n >= packed[0]:
                    args += [packed[1]] * (len(function.params) - n)
                    break
                if n < len(function.params) and function.params[n].type.endswith("..."):
                    args.append(mem.NOTHING.union(*(self.values(state, a) for a in call.args[n:])))
                    break
                by_reference = n < len(function.params) and function.params[n].by_reference
                place = self.cells(state, arg) if by_reference else []
                if place and not (isinstance(arg, ir.Addr)):
                    args.append(frozenset(self.reference(c) for c in place))
                else:
                    args.append(self.values(state, arg))
            start = state.copy() if len(found) > 1 else state
            self._hand_over(call, function, name + "@" * (len(found) > 1) + function.name * (len(found) > 1), start)
            frame_name = name if len(found) == 1 else f"{name}@{function.span.start}"
            end, returned = self.inline(function, args, frame_name, this, start, call.args)
            if end is not None:
                self.held_by(function.cls, this, call.span, end)
            for path, held in self.returned_inside.items():
                inside[path] = inside.get(path, mem.NOTHING) | held
            out = joined(out, end)
            value |= returned
        if all(id(function) in on_stack for function, _ in found):
            out = joined(out, state)
        if out is not None:
            self.result(call, value, out)
            if call.result is not None and inside:
                self.store_parts(out, self.cells(out, call.result), inside, call.span)
        return out

    def _is_one_step(self, found: list[tuple[ir.Function, Values]]) -> bool:
        """Whether functions are not followed if they work on the host alone. Short ones are at first: what a step mixes
        up costs more than a few statements.
        """
        if self.followed is Followed.SHORT:
            return any(f.kept("length", lambda f: sum(1 for _ in walk(f.body))) > SHORT for f, _ in found)
        return self.followed is Followed.NONE

    def _worked_alone(self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State) -> Values | None:
        """Run a call as one step (`cudafix.ordering.alone`): what it may have returned; None where it has to be
        followed because it may reach the device, or hold something of it.
        """
        if not state.calm or self.catching:
            return None
        alone = Alone.of(self.program, self.tables)
        names: set[str] = set()
        stores = False
        for function, _ in found:
            tree = alone.tree(function)
            if tree is None or "::<lambda@" in function.name or self._is_anchored(tree):
                return None
            names.update(*(alone.names(one) for one in tree))
            stores = stores or any(map(alone.stores, tree))
        reached: set[mem.Value] = {mem.Ref((root, ())) for name in names for root in self._shared(name)}
        for n, arg in enumerate(call.args):
            reached |= self.whole(state, arg)
            if any(n < len(f.params) and f.params[n].by_reference for f, _ in found):
                reached |= {self.reference(cell) for cell in self.cells(state, arg)}
        values = self.reachable(state, frozenset(reached).union(*(this for _, this in found)))
        handles = [v.name for v in values if isinstance(v, mem.Handle)]
        if self._on_device(values) or any(
            isinstance(v, mem.StreamValue | mem.EventValue | mem.Function) for v in values
        ):
            return None
        if any(state.env[("global", "", f"stream of {name}")] for name in handles):
            return None
        leads = {v for v in values if isinstance(v, mem.Ptr | mem.Ref | mem.Handle)}
        if len(leads) > (MOST_LEADS if self.followed is Followed.NONE else FEW_LEADS):
            return None
        made = self.new_object("alone", "host", "host", None, state)  # stands for all that such functions allocate
        leads.add(mem.Ptr(made.number))
        anything = frozenset({mem.OTHER, *leads, *(m for v in leads if (m := mem.moved(v)) is not None)})
        stored = anything if stores else frozenset({mem.OTHER})
        self.mixed_up |= stores
        for value in leads:
            if isinstance(value, mem.Ref):
                root, path = value.cell
                state.env.may_hold(root, path[:-1] if path and path[-1][0] == "at" else path, stored)
            elif isinstance(value, mem.Ptr) and value.object != mem.EXTERNAL:
                state.env.may_hold(("memory", value.object, ""), (), stored)
            elif isinstance(value, mem.Handle):
                state.env.may_hold(("global", "", value.name), (), stored)
        return anything if any(f.returns not in NUMBERS for f, _ in found) else frozenset({mem.OTHER})

    def _is_anchored(self, functions: Iterable[ir.Function]) -> bool:
        """Whether the rewritten program has another statement in one of these functions."""
        return any(self.is_rewritten(f.span) for f in functions)

    def _shared(self, name: str) -> Iterator[mem.Root]:
        """The variables at namespace scope that a name may mean in some function."""
        plain = name.removeprefix("::")
        if "::" not in name and plain not in self.program.globals:
            return
        yield "global", "", plain
        for one, path in self._internal:
            if one == plain:
                yield "global", path, plain
        for path in self._copies.get(plain, ()):
            yield "global", path, plain

    def _packed(self, call: ir.Call, state: State) -> tuple[int, Values] | None:
        """The position of an argument that expands a parameter pack, and what the pack may hold."""
        packs = {p.name for p in self.frame.function.params if p.type.endswith("...")}
        for n, arg in enumerate(call.args):
            names = [e for e in variables(arg) if isinstance(e, ir.Var) and e.name in packs]
            if names:
                return n, self.values(state, names[0])
        return None

    def _hand_over(self, call: ir.Call, function: ir.Function, frame: str, state: State) -> None:
        """Copy what structs that are passed by value hold into the callee's parameters."""
        for n, arg in enumerate(call.args):
            if n < len(function.params) and not function.params[n].by_reference:
                root = ("local", frame, function.params[n].name)
                state.env.write_parts([(root, ())], self.parts(state, arg))

    def result(self, call: ir.Call, values: Values, state: State) -> None:
        if call.result is not None and not self.frame.slice.drops(call.result):
            self.store(state, self.cells(state, call.result), values or frozenset({mem.OTHER}), call.span)

    def library_call(self, call: ir.Call, api: Api, state: State, where: In) -> State | None:
        certain = call.receiver is not None and self._has_known_type(call)
        if any(self.device_memory(state, expr) for expr in for_the_host(call, api, certain)):
            why = f"`{call.callee}` is given device memory, so it is not the host function of that name"
            self.unknown(why, self.given(call), call, call.span, state)
            self.result(call, mem.UNKNOWN, state)
            return state
        args = self.arguments(call, api, state)
        if args.host_reads or args.host_writes:
            point = Point(call.span, f"`{call.callee}` runs", call)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=args.host_reads, writes=args.host_writes)
            if state.unwaited:
                given = list(zip(roles_of(api, len(self.given(call))), self.given(call), strict=False))
                reads = self.led_to(state, (e for role, e in given if role in ("hr", "hrw")))
                writes = self.led_to(state, (e for role, e in given if role in ("hw", "hrw")))
                self.host_races(state, point, reads, writes)
        if len(call.args) < NEEDS_STREAM.get(call.callee, 0):  # it does not compile (docs/FACTS.md)
            op = self.operation("call", call, f"`{call.callee}`", state)
            self.wrong(Wrong.NO_STREAM_ARGUMENT, op, Point(call.span, f"`{call.callee}`", call))
        if args.stream is not None and state.destroyed and where is not In.ORIGINAL and api.effect in STREAM_STEPS:
            gone = self.streams(state, args.stream) & state.destroyed
            if gone:
                op, point = (
                    self.operation("step", call, f"`{call.callee}`", state),
                    Point(call.span, f"`{call.callee}`", call),
                )
                certain = self.is_gone(state, args.stream)
                self.wrong(Wrong.STREAM_DESTROYED, op, point, streams=gone, certain=certain)
        run = self._effect.get(api.effect)
        if api.effect in HOST_EFFECTS and call.args:
            state = self._called_back(call, state)
        after = run(call, api, args, state, where) if run is not None else state
        if after is None:
            return None
        if api.effect in HOST_EFFECTS:
            self._moves_pointers(args, after)
        for expr in args.named.get("out", ()):
            after.env.write(self.cells(after, ir.Deref(expr)), frozenset({mem.OTHER}))
        self._keep(call, api, args, after)
        if call.result is not None and api.effect != Effect.ALLOC:
            self.result(call, self._returned(call, api, after), after)
        if api.looks and call.look is ir.Look.CHECKED and where is not In.REWRITTEN:
            self.looks(after)
        return after

    def _moves_pointers(self, args: Arguments, state: State) -> None:
        """What a host function writes may be any pointer that it reads: it copies, sorts, swaps."""
        sources = [e for role in ("hr", "hw", "hrw") for e in args.named.get(role, ()) if not self._is_number(e)]
        targets = [e for role in ("hw", "hrw") for e in args.named.get(role, ())]
        if not targets or not sources[1:]:
            return
        held: dict[mem.Path, Values] = {}  # in one element, or in the struct
        for value in (v for expr in sources for v in self.values(state, expr)):
            for path, inner in state.env.inside(value):
                path = path[1:] if path and path[0][0] == "at" else path
                held[path] = held.get(path, mem.NOTHING) | mem.kept_among_others(mem.leading(inner))
        parts = {path: inner for path, inner in held.items() if inner}
        cost = sum(map(len, parts.values()))
        for value in (v for expr in targets for v in self.values(state, expr)):
            if (cell := mem.at(value, mem.ANY)) is not None:  # how much is written is not known
                self.spend(state, [cell], cost)
                state.env.write_parts([cell, cell], parts)

    def _is_number(self, expr: ir.Expr) -> bool:
        """Whether an expression is a variable that no pointer fits into."""
        if not isinstance(expr, ir.Var) or self.meaning(expr.name).is_array:
            return False
        kind = self.type_of(expr).removeprefix("const ")
        return kind != "" and kind in NUMBERS

    def _returned(self, call: ir.Call, api: Api, state: State) -> Values:
        if api.returns == "same":
            first = call.receiver if call.receiver is not None else call.args[0] if call.args else None
            if first is None:
                return mem.UNKNOWN
            values = self.values(state, first)
            cells = [] if values else self.cells(state, first)
            inside = frozenset(mem.Ref((root, (*path, mem.FIRST))) for root, path in cells)  # `v.data()`
            return values | inside
        if api.returns == "pointer":
            return frozenset(
                {mem.Ptr(self.new_object(("host", *self.context(call)), "host", "host", call, state).number)}
            )
        if api.returns == "hidden":
            seen = numbers(state.live & self.host_visible | 1)
            return frozenset({mem.OTHER, *(mem.Ptr(number, True) for number in seen)})
        if api.returns in ("handle", "keeper"):
            return frozenset({mem.Handle(self._handle_name(call))})
        return frozenset({mem.OTHER})

    def _keep(self, call: ir.Call, api: Api, args: Arguments, state: State) -> None:
        """Descriptors, plans and graphs hold pointers for later calls."""
        kept = args.named.get("keep", ())
        if kept:
            values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in kept))
            kind = f"<{call.template_args}>" if call.template_args else ""
            holder = call.receiver if call.receiver is not None else call.result
            self.owned_by(kind or (self.type_of(holder) if holder is not None else ""), values, call.span, state)
            owners: set[mem.Value] = set()
            for role in ("keeper", "keeper_out", "graph"):
                for expr in args.named.get(role, ()):
                    target = self.cells(state, ir.Deref(expr)) if role.endswith("_out") else []
                    held = self.values(state, expr) if not target else mem.NOTHING
                    owners |= held.union(*(state.env.read(v.cell) for v in held if isinstance(v, mem.Ref)))
                    for cell in target:
                        owners |= set(state.env.read(cell))
            if api.returns == "keeper":
                owners.add(mem.Handle(self._handle_name(call)))
            handles = [o for o in owners if isinstance(o, mem.Handle)]
            for handle in handles:
                state.env.write([(("global", "", handle.name), (("at", mem.ANY),))], values)
            if not handles and not self._put_in(call, args, state):
                self.escape(state, values, "escapes", f"is kept by `{call.callee}`", call.span)
        swapped = args.named.get("swap", ())
        if len(swapped) == 2:
            a, b = (self.cells(state, e) for e in swapped)
            of_a, of_b = (state.env.parts(cells) for cells in (a, b))
            state.env.write_parts(a, of_b)
            state.env.write_parts(b, of_a)

    def _called_back(self, call: ir.Call, state: State) -> State:
        """An algorithm of the host calls the functions that it is given, for any number of elements."""
        for expr in call.args:
            if (cls := last(self.type_of(expr).strip(" &"))) in self.program.kept("function objects", self._callable):
                self.unknown(f"`{call.callee}` calls a `{cls}`", (expr,), call, call.span, state)
        functions = [v for expr in call.args for v in self.values(state, expr) if isinstance(v, mem.Function)]
        found = [f for v in functions for f in self.program.resolve(v.name, 0, v.path) if not self.slicer.is_inert(f)]
        name = f"{self.frame.name}/{call.span.path}:{call.span.start}{''.join(self.family)}"
        self.loops += 1
        for function in found:
            given = [mem.UNKNOWN] * len(function.params)
            for _ in range(MAX_CALLBACKS):
                after, _returned = self.inline(
                    function, given, f"{name}@{function.span.start}", mem.UNKNOWN, state.copy()
                )
                if after is None or not state.join(after):
                    break
            else:
                self.control(f"`{call.callee}` calls a function", call.span, state)
        self.loops -= 1
        return state

    def _callable(self) -> frozenset[str]:
        """The classes whose objects can be called, where that works on the device."""
        found = (f for f in self.program.functions() if last(f.name) == "operator()" and f.cls is not None)
        return frozenset(last(f.cls or "") for f in found if self._works_on_device(f))

    def _put_in(self, call: ir.Call, args: Arguments, state: State) -> bool:
        """A container gets one more element. Which one it will be is not known."""
        holder = args.one("keeper")
        if call.callee not in ADDS_AN_ELEMENT or holder is None:
            return False
        elements = [(root, (*path, ("at", mem.ANY))) for root, path in self.cells(state, holder)]
        kept = [v for expr in args.named.get("keep", ()) for v in self.values(state, expr)]
        if not elements or any(root[0] == "memory" for root, _ in elements):
            return False
        if any(isinstance(v, mem.Function) for v in kept):  # which one is called, with which variables, is not known
            return False
        for expr in args.named.get("keep", ()):
            inside = {path: mem.kept_among_others(held) for path, held in self.parts(state, expr).items()}
            state.env.write(elements, mem.kept_among_others(self.values(state, expr)))
            state.env.write_parts(elements, inside)
        return True

    def arguments(self, call: ir.Call, api: Api, state: State) -> Arguments:
        args = Arguments()
        given = self.given(call)
        roles = zip(roles_of(api, len(given)), given, strict=False)
        for role, expr in ((role, expr) for one, expr in roles for role in one.split("+")):
            if role == "-":
                continue
            if role in ("r", "w", "rw"):
                values = (
                    self.reachable(state, self.whole(state, expr))
                    if api.effect is not Effect.COPY
                    else self._addresses(state, expr)
                )
                if "r" in role:
                    args.reads |= values
                if "w" in role:
                    args.writes |= values
            elif role in ("hr", "hw", "hrw"):
                bits = self.mask(self.values(state, expr)) | (
                    self.touched(state, (expr,)) if not isinstance(expr, ir.Addr) else 0
                )
                if "r" in role[1:]:
                    args.host_reads |= bits
                if "w" in role[1:]:
                    args.host_writes |= bits
                    self.overwritten(state, self.cells(state, ir.Deref(expr)))
            elif role == "look":
                values = self.reachable(state, self.whole(state, expr))
                args.host_reads |= self.mask(values) & ~self._on_device(values, _OUT_OF_SIGHT)
            elif role == "use":
                values = self.reachable(state, self.whole(state, expr))
                args.reads |= values
                args.writes |= values
                seen = self.mask(values) & ~self._on_device(values, _OUT_OF_SIGHT)
                args.host_reads |= seen
                args.host_writes |= seen
                self.overwritten(state, self.cells(state, ir.Deref(expr)))
            elif role == "hidden" and not (isinstance(expr, ir.Const) or self._is_number(expr)):
                args.host_reads |= state.live & self.host_visible | 1
                args.host_writes |= state.live & self.host_visible | 1
                self.overwritten(state, self.cells(state, expr.base if isinstance(expr, ir.Addr) else expr))
            elif role == "swap":
                bits = self.touched(state, (expr,))
                args.host_reads |= bits
                args.host_writes |= bits
            elif role == "params" or (role in ("keep", "keeper") and api.effect is Effect.WORK):
                values = self.reachable(state, self.whole(state, expr))
                args.reads |= values
                args.writes |= values
            elif args.stream is None and role == "stream?" and not self._are_memory(api, given):
                args.stream = expr
            args.named.setdefault(role, []).append(expr)
        if args.stream is None:
            args.stream = next(stream_arguments(api, given), None)
        for role in ("handle_out", "keeper_out", "graph_out", "pool_out"):
            for expr in args.named.get(role, ()):
                if api.effect is not Effect.HANDLE_CREATE or role != "handle_out":
                    self.store(
                        state,
                        self.cells(state, ir.Deref(expr)),
                        frozenset({mem.Handle(self._handle_name(call))}),
                        call.span,
                    )
        if api.holds is not None:
            own = self.new_object(("held", *self.context(call)), api.holds, api.holds, call, state)
            state.live |= 1 << own.number
            inside = ("global", "", self._handle_name(call)), (("at", mem.ANY),)
            state.env.write([inside], frozenset({mem.Ptr(own.number)}))
        for expr in args.named.get("alias", ()):
            of = args.one("of")
            if of is not None:
                self.store(state, self.cells(state, ir.Deref(expr)), self.values(state, of), call.span)
        return args

    def _are_memory(self, api: Api, given: Sequence[ir.Expr]) -> bool:
        """Whether all that a call is given as memory, but for its temporary storage, are pointers by their type."""
        memory = [expr for role, expr in list(zip(api.roles, given, strict=False))[1:] if role in ("r", "w", "rw")]
        return all("*" in self.type_of(e.base if isinstance(e, ir.Offset) else e) for e in memory)

    def _handle_name(self, call: ir.Call) -> str:
        return f"{call.callee}@{call.span.path}:{call.span.start}{self.frame.name}{''.join(self.family)}"

    # -- operations --------------------------------------------------------------------------------------------------

    def streams_for(self, api: Api, args: Arguments, state: State) -> frozenset[Stream]:
        if args.stream is not None:
            return self.streams(state, args.stream)
        handle = args.one("handle")
        if handle is None and (api.on == "unknown" or (api.on == "global" and self._sets_the_stream(api))):
            return frozenset({UNKNOWN_STREAM})
        if handle is not None:
            found: set[Stream] = set()
            for value in self.values(state, handle):
                held = state.env.read((("global", "", f"stream of {getattr(value, 'name', '')}"), ()))
                found |= {v.stream for v in held if isinstance(v, mem.StreamValue)}
                if not held:
                    found.add(UNKNOWN_STREAM)
            return frozenset(found) or frozenset({UNKNOWN_STREAM})
        return frozenset({self.default_stream})

    def _sets_the_stream(self, api: Api) -> bool:
        """Whether the program, or who calls it, may set the stream that all calls of a library run on."""

        def sets(call: ir.Call) -> bool:
            row = self.tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
            return row is not None and row.effect is Effect.HANDLE_SET_STREAM and row.source == api.source

        def found() -> bool:
            functions = self.program.functions()
            return any(isinstance(s, ir.Call) and sets(s) for function in functions for s in walk(function.body))

        return self._callers_work is not None or self.program.kept(f"sets the stream of {api.source}", found)

    def issue(
        self,
        op: Operation,
        streams: frozenset[Stream],
        state: State,
        where: In,
        span: ir.Span,
        reads: Bits = 0,
        writes: Bits = 0,
        prints: bool = False,
        certain: bool = True,
    ) -> None:
        """Run one operation: check it against what is pending on its stream, then let it be pending for all others.

        If not `certain`, there may be no operation, and no other stream is in order because of it.
        """
        orders = state.orders
        bit = 1 << op.number
        op.reads |= reads
        op.writes |= writes
        op.prints |= prints
        op.streams |= streams
        if where is In.REWRITTEN and not op.rewritten_only:
            op.rewritten_only = True
            self.rewritten_only |= bit
        if where is In.ORIGINAL:
            return
        exact = len(streams) == 1
        for s in streams:
            orders.known(s)
            if exact:
                orders.enter(s, where)
            elif s.kind in (StreamKind.LEGACY, StreamKind.UNKNOWN):
                for b in list(orders.pending):
                    if isinstance(b, Stream) and b.kind is not StreamKind.NON_BLOCKING:
                        orders.after(s, b, certain=False, where=where)
        pending = lost = 0
        for s in streams:
            pending |= orders.pending[s]
            lost |= orders.lost.get(s, 0)
            if s in state.destroyed:
                sure = op.stmt is None or self._runs_on_nothing(op.stmt, state)
                self.wrong(Wrong.STREAM_DESTROYED, op, Point(span, op.text, op.stmt), streams=streams, certain=sure)
        if not op.rewritten_only and lost and not self.others:
            point = Point(span, f"{op.text} runs", op.stmt)
            for other in self.conflicts(lost, reads, writes):
                self.wrong(Wrong.ORDER, other, point, via=tuple(other.via), streams=streams)
            for other in self.operations_in(lost) if op.says else ():  # what kernels print stands in their order
                if other.says:
                    self.wrong(Wrong.ORDER, other, point, via=tuple(other.via), streams=streams)
        touched = touches_async = (reads | writes) & self.async_objects
        while touched:
            low = touched & -touched
            touched ^= low
            obj = self.outcome.objects[low.bit_length() - 1]
            if obj.allocated_by & pending and not obj.summary:
                allocation = self.operations_in(obj.allocated_by & pending)[0]
                self.wrong(Wrong.USE_BEFORE_ALLOCATION, allocation, Point(span, op.text, op.stmt), obj, streams=streams)
            dangles = self._dangles(op.stmt, obj, state)
            if state.freed_early & low or self.was_freed(obj, state) or dangles:
                point, sure = Point(span, op.text, op.stmt), self._leads_to(op.stmt, obj, state) and not obj.several
                self.wrong(Wrong.USE_AFTER_FREE, op, point, obj, streams=streams, certain=sure or dangles)
        for bits in (reads | writes,):
            remaining = bits & ~1
            while remaining:
                low = remaining & -remaining
                remaining ^= low
                number = low.bit_length() - 1
                self.outcome.objects[number].used_by |= bit
                used = self.outcome.first_use.setdefault(number, [])
                used.extend(s for s in sorted(streams, key=lambda s: s.name) if s not in used)
        orders.issue(bit, streams)
        state.issued |= bit if self.lints else 0
        if self.lints and exact and certain and (reads | writes) & self.host_visible and touches_async:
            state.unwaited |= bit
        if self.lints and certain and touches_async and streams and all(map(self._stands_alone, streams)):
            state.apart |= bit
        for x in state.round_waits:
            state.round_waits[x] &= ~bit
        if exact:
            for s in streams:
                if op.rewritten_only and self.overlay.apart:
                    orders.follow(s, bit)
                else:
                    orders.leave(s, where, certain)
        for s in streams:
            orders.ran(s, where, exact and certain)
        if state.capturing:
            state.captured |= reads | writes

    def _stands_alone(self, stream: Stream) -> bool:
        """Whether no stream waits for a stream by itself."""
        kind = self.several.get(stream.name, stream.kind)
        return kind is StreamKind.NON_BLOCKING

    def _dangles(self, stmt: ir.Call | ir.Launch | None, obj: Object, state: State) -> bool:
        """Whether a statement is given a variable that holds this memory and was given back."""
        if not state.env.gone or stmt is None or self.any_order or not state.freed >> obj.number & 1:
            return False
        given = self.given(stmt) if isinstance(stmt, ir.Call) else stmt.args
        return any(self.mask(self.values(state, e)) >> obj.number & 1 for e in given if self.is_gone(state, e))

    def _runs_on_nothing(self, stmt: ir.Call | ir.Launch, state: State) -> bool:
        """Whether the stream of a statement is one that was destroyed on every path; a free is always told."""
        if isinstance(stmt, ir.Launch):
            return self.is_gone(state, stmt.stream)
        api = self.tables.lookup(stmt.callee, len(stmt.args))
        named = stream_arguments(api, stmt.args) if api is not None and stmt.receiver is None else ()
        return stmt.callee == "cudaFreeAsync" or any(self.is_gone(state, expr) for expr in named)

    def _leads_to(self, stmt: ir.Call | ir.Launch | None, obj: Object, state: State) -> bool:
        """Whether a pointer that a statement is given can lead to this memory only."""
        given = self.given(stmt) if isinstance(stmt, ir.Call) else stmt.args if stmt is not None else ()
        return bool(self.led_to(state, given) >> obj.number & 1)

    def await_(self, x: Observer, y: Stream | Event, state: State, where: In, certain: bool = True) -> None:
        """`x` (the host, or a stream) waits for a stream or a recorded event."""
        orders = state.orders
        if isinstance(y, Stream):
            orders.known(y)
        elif y not in orders.pending:
            return  # waiting for an event that was never recorded is a no-op
        if not isinstance(y, Stream) or not _waits_by_itself(y):
            state.apart = 0
        if isinstance(x, Stream):
            orders.known(x)
            orders.enter(x, where)
        if y.summary:
            certain = False
            if self.others and where is not In.ORIGINAL:
                own = 0
                for bits in orders.own.values():
                    own |= bits
                left = orders.synchronized(y) if isinstance(y, Stream) else orders.pending[y]
                state.round_waits[x] = state.round_waits.get(x, 0) | (own & ~left)
        if x is HOST:
            orders.host_waits(y, certain, where)
            state.unwaited &= orders.pending[HOST] if certain else 0
        else:
            orders.after(x, y, certain, where)
        if isinstance(x, Stream):
            orders.leave(x, where)
            orders.ran(x, where, certain)

    def host_waits_for(self, streams: Iterable[Stream], state: State, where: In) -> None:
        one = list(streams)
        for s in one:
            state.orders.known(s)
            self.await_(HOST, s, state, where, certain=len(one) == 1 and s is not UNKNOWN_STREAM)

    # -- memory ------------------------------------------------------------------------------------------------------

    def _alloc(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        memory = api.memory or "host"
        if memory == "pinned" and any("Mapped" in str(e) for e in args.named.get("flags", ())):
            memory = "mapped"
        obj = self.new_object(("alloc", *self.context(call)), memory, memory, call, state)
        self._allocated(call, obj, args, state)
        if memory == "async":
            streams = self.streams_for(api, args, state)
            op = self.operation("alloc", call, f"the allocation `{call.callee}`", state)
            obj.allocated_by |= 1 << op.number
            self.issue(op, streams, state, where, call.span)
        elif memory == "device":
            self.site(self.outcome.allocations, call, state).objects.add(obj.number)
        return state

    def _allocated(self, call: ir.Call, obj: Object, args: Arguments, state: State) -> None:
        bit = 1 << obj.number
        obj.several = obj.several or bool(state.live & bit)
        if self._in_threads(call):
            text = f"is allocated by `{call.callee}` where other host threads may run too"
            self.obstacle(bit, "several_host_threads", text, call.span)
        state.live |= bit
        if not obj.summary:
            state.freed &= ~bit
        pointer: Values = frozenset({mem.Ptr(obj.number)})
        state.env.forget([("memory", obj.number, "")] if not obj.summary else [])
        for expr in args.named.get("new", ()):
            cells = self.cells(state, ir.Deref(expr))
            self.store(state, cells, pointer, call.span)
            if not cells:
                self.escape(state, pointer, "escapes", "is stored where it cannot be followed", call.span)
        if call.result is not None and not args.named.get("new"):
            self.result(call, pointer, state)
        elif call.result is not None:
            self.result(call, frozenset({mem.OTHER}), state)

    def _addresses(self, state: State, expr: ir.Expr | None) -> Values:
        """What a free or a copy may be given. In Python a part of a list or of another object of the host, which a
        subscript of something unknown may be, is no address: the bindings raise.
        """
        values = self.values(state, expr) if expr is not None else mem.NOTHING
        if not self.in_python:
            return values
        hosts = {v for v in values if isinstance(v, mem.Ptr) and v.interior and self._is_of_the_host(v)}
        return values - hosts or values

    def _is_of_the_host(self, pointer: mem.Ptr) -> bool:
        return self.outcome.objects[pointer.object].memory == "host"

    def _freed(self, values: Values) -> list[Object]:
        """The objects that a free may give back. The address of a variable is an object of the host."""
        return [self.outcome.objects[n] for n in self._set(self.mask(values))]

    def _free(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self._held_when_freed(call, state)
        expr = args.one("free")
        values = self._addresses(state, expr)
        objects = self._freed(values)
        if api.memory in ("device", "async") and where is not In.REWRITTEN:
            site = self.site(self.outcome.frees, call, state)
            site.objects |= {o.number for o in objects if o.number and o.memory in ("device", "async")}
            other = [o for o in objects if o.memory not in ("device", "async")]
            site.frees_other |= {o.memory for o in other}
            site.others |= {key_of(o.call): (o.call, o.memory) for o in other if o.call is not None}
            if any(isinstance(v, mem.Ptr) and v.interior and v.object for v in values):
                site.frees_other.add("interior")
            if not values - {mem.ZERO}:
                site.frees_other |= {"null"} if values else {"nothing"}
        if api.memory == "async":
            streams = self.streams_for(api, args, state)
            self._free_on(call, objects, values, streams, state, where)
        elif api.memory == "device":
            self._free_and_wait(call, objects, values, state, where)
        elif api.waits is Waits.DEVICE and where is not In.REWRITTEN:
            certain = bool(values) and all(isinstance(v, mem.Ptr) and v.object for v in values)
            if certain:
                state.orders.finish(self.same_device(state), where)
        elif api.memory == "host":  # registered, it may be what the device works on
            point = Point(call.span, "the memory is freed", call)
            self.host_observes(state, Wrong.HOST_ACCESS, point, writes=self.mask(values) & ~1)
        if where is In.REWRITTEN:
            state.freed_early |= self.mask(values) & ~1
            return state
        if where is In.ORIGINAL:
            state.freed_early &= ~self.mask(values)
        self._gone(objects, values, state)
        if self._in_threads(call):
            text = f"is freed by `{call.callee}` where other host threads may run too"
            self.obstacle(self.mask(values), "several_host_threads", text, call.span)
        if objects and all(o.memory == "async" for o in objects):
            self._give_back(expr, state)
        return state

    def _give_back(self, expr: ir.Expr | None, state: State) -> None:
        """What a variable holds is not there any more, a block or a stream."""
        if self.lints and (cell := self.place(state, expr)) is not None:
            state.env.gone |= {cell}

    def _held_when_freed(self, call: ir.Call, state: State) -> None:
        """What the objects in scope hold when memory is freed: see `held_by` and `owned_by`."""
        if not self.program.kept("without calls", self._without_calls) and not self.program.kept(
            "special", self._special
        ):
            return
        types = {frame.name: frame.function.types for frame in self.frames}
        for root, inner in state.env:
            variable = self.global_at(root)
            kind = variable.type if variable is not None else types.get(str(root[1]), {}).get(root[2])
            if kind is not None and "*" not in kind:
                held = mem.NOTHING.union(*inner.values())
                self.held_by(kind, held, call.span, state)
                self.owned_by(kind, held, call.span, state)

    def _gone(self, objects: list[Object], values: Values, state: State) -> None:
        one = len(objects) == 1 and mem.ZERO not in values
        for obj in objects:
            bit = 1 << obj.number
            state.freed |= bit
            if one and not obj.summary:
                state.live &= ~bit

    def _free_on(
        self,
        call: ir.Call,
        objects: list[Object],
        values: Values,
        streams: frozenset[Stream],
        state: State,
        where: In,
    ) -> None:
        """`cudaFreeAsync`: an operation on a stream that no use of the memory may still be pending for."""
        orders = state.orders
        op = self.operation("free", call, f"the free of `{call.callee}`", state)
        pending = 0
        if len(streams) != 1 or any(s.summary and s.kind is StreamKind.UNKNOWN for s in streams):
            self.wrong(Wrong.NO_STREAM, op, Point(call.span, "the memory is freed", call), streams=streams)
        for s in streams:
            orders.known(s)
            if len(streams) == 1:
                orders.enter(s, where)
            pending |= orders.pending[s]
        for obj in objects:
            if obj.memory_after != "async" or not obj.number:
                continue
            obj.freed_by |= 1 << op.number
            if obj.summary:
                continue
            for use in self.operations_in((obj.used_by | obj.allocated_by) & pending):
                apart = bool(state.apart >> use.number & 1) and all(map(_waits_by_itself, streams))
                point = Point(call.span, "the memory is freed", call)
                self.wrong(Wrong.FREE_BEFORE_USE, use, point, obj, streams=streams, apart=apart)
            dangles = self._dangles(call, obj, state)
            if self.was_freed(obj, state) or dangles:
                point = Point(call.span, "the memory is freed", call)
                certain = (len(values - {mem.ZERO}) == 1 and not obj.several) or dangles
                self.wrong(Wrong.DOUBLE_FREE, op, point, obj, streams=streams, certain=certain)
        other = [o for o in objects if o.number and o.memory not in ("device", "async", "external", "pitched")]
        if other and len(other) == len(values):
            self.wrong(Wrong.OTHER_MEMORY, op, Point(call.span, "the memory is freed", call), other[0])
        frees = bool(values) and all(isinstance(v, mem.Ptr) for v in values)  # of a null pointer it is no step at all
        self.issue(op, streams, state, where, call.span, certain=frees)

    def was_freed(self, obj: Object, state: State) -> bool:
        """Whether memory is freed on all paths to here, in the original too; a client that does this is none."""
        bit = 1 << obj.number
        return bool(state.freed & bit) and not state.live & bit and not self.any_order

    def operations_in(self, bits: Bits) -> list[Operation]:
        return [op for op in self.outcome.operations if bits >> op.number & 1]

    def _free_and_wait(self, call: ir.Call, objects: list[Object], values: Values, state: State, where: In) -> None:
        """`cudaFree`: a barrier for the device if the memory is of `cudaMalloc`, none at all if it is
        stream-ordered.
        """
        orders = state.orders
        moved = any(o.memory in BLOCKING_MEMORY and o.memory_after == "async" for o in objects)
        if where is In.ORIGINAL and objects and all(o.memory == "async" for o in objects):
            return  # P did not wait either (docs/FACTS.md)
        if where is In.ORIGINAL or moved:
            # P waits here for everything; what Q still has pending is lost. (If the pointer is null P does not wait:
            # less is lost.)
            bits = orders.pending[HOST] & ~self.rewritten_only
            for op in self.operations_in(bits):
                if key_of(call) not in op.via:
                    op.via.append(key_of(call))
            orders.finish(~self.rewritten_only, In.ORIGINAL)
        if where is In.ORIGINAL:
            return
        for obj in objects:
            if obj.memory_after == "async" and not obj.summary:
                for use in self.operations_in((obj.used_by | obj.allocated_by) & orders.pending[HOST]):
                    self.wrong(Wrong.FREED_WITHOUT_WAIT, use, Point(call.span, "the memory is freed", call), obj)
                dangles = self._dangles(call, obj, state)
                if self.was_freed(obj, state) or dangles:
                    op = self.operation("free", call, "the free", state)
                    point = Point(call.span, "the memory is freed", call)
                    self.wrong(Wrong.DOUBLE_FREE, op, point, obj, certain=not obj.several or dangles)
        certain = bool(values) and all(
            isinstance(v, mem.Ptr) and self.outcome.objects[v.object].memory_after in BLOCKING_MEMORY for v in values
        )
        if certain:
            orders.finish(self.same_device(state), where)

    def replaced(self, call: ir.Call, replacement: ir.Call, state: State) -> State | None:
        """A call that has another form in Q: an allocation or free that became stream-ordered, a wait that another
        replaced.
        """
        old = self.tables.lookup(call.callee, len(call.args))
        new = self.tables.lookup(replacement.callee, len(replacement.args))
        if old is None or new is None or old.effect is not new.effect:
            self.wrong(
                Wrong.NOT_UNDERSTOOD, None, Point(call.span, f"`{call.callee}` became `{replacement.callee}`", call)
            )
            return self.call(call, state, In.BOTH)
        args = self.arguments(call, old, state)
        if old.effect is Effect.ALLOC:
            self._moved_allocation(call, old, new, replacement, args, state)
        elif old.effect is Effect.FREE:
            self._moved_free(call, replacement, new, args, state)
        else:
            return self._other_form(call, old, replacement, new, state)
        if old.looks and call.look is ir.Look.CHECKED:
            self.looks(state)
        return state

    def _other_form(self, call: ir.Call, old: Api, replacement: ir.Call, new: Api, state: State) -> State | None:
        """An operation or wait on another stream than in P: P's order through it is not used, Q's is what it says."""
        after = self.library_call(call, old, state, In.ORIGINAL)
        if after is not None:
            self.wrong(
                Wrong.NOT_UNDERSTOOD,
                None,
                Point(call.span, f"`{call.callee}` is called with other arguments", call),
            )
            after = self.library_call(replacement, new, after, In.REWRITTEN)
        return after

    def _moved_allocation(
        self, call: ir.Call, old: Api, new: Api, replacement: ir.Call, args: Arguments, state: State
    ) -> None:
        obj = self.new_object(("alloc", *self.context(call)), old.memory or "device", "async", call, state)
        self.site(self.outcome.allocations, call, state).objects.add(obj.number)
        streams = self.streams_for(new, self.arguments(replacement, new, state), state)
        self._allocated(call, obj, args, state)
        op = self.operation("alloc", call, f"the allocation `{call.callee}`", state)
        obj.allocated_by |= 1 << op.number
        if old.memory not in ("device", "async") or new.memory != "async":
            self.wrong(Wrong.NOT_UNDERSTOOD, op, Point(call.span, "another kind of memory is allocated", call), obj)
        self._site_streams(op, streams, call, obj, state)
        self.issue(op, streams, state, In.REWRITTEN, call.span)
        state.allocated = True

    def _site_streams(
        self, op: Operation, streams: frozenset[Stream], call: ir.Call, obj: Object | None, state: State
    ) -> None:
        point = Point(
            call.span, "the memory is allocated" if op.text.startswith("the alloc") else "the memory is freed", call
        )
        if len(streams) != 1 or any(s.summary and s.kind is StreamKind.UNKNOWN for s in streams):
            self.wrong(Wrong.NO_STREAM, op, point, obj, streams=streams)
        if state.capturing:
            self.wrong(Wrong.UNDER_CAPTURE, op, point, obj, streams=streams)
        if obj is not None and (obj.device != state.device or state.device == "?"):
            self.wrong(Wrong.OTHER_DEVICE, op, point, obj, streams=streams)

    def _moved_free(self, call: ir.Call, replacement: ir.Call, new: Api, args: Arguments, state: State) -> None:
        expr = args.one("free")
        values = self._addresses(state, expr)
        objects = self._freed(values)
        site = self.site(self.outcome.frees, call, state)
        site.objects |= {o.number for o in objects if o.number}
        streams = self.streams_for(new, self.arguments(replacement, new, state), state)
        op = self.operation("free", call, f"the free of `{call.callee}`", state)
        for obj in objects:
            self._site_streams(op, streams, call, obj, state)
            if obj.memory_after != "async":
                self.wrong(Wrong.NOT_UNDERSTOOD, op, Point(call.span, "other memory may be freed here", call), obj)
        # P's barrier comes first: what it waited for is what Q may lose.
        self._free_and_wait(call, objects, values, state, In.ORIGINAL)
        if state.threads:
            self._others_look(call, "another host thread may look at what it has done", state)
        self._free_on(call, objects, values, streams, state, In.REWRITTEN)
        self._gone(objects, values, state)

    # -- copies and work ---------------------------------------------------------------------------------------------

    def kinds(self, values: Values) -> set[str]:
        """The kinds of memory that pointers lead to; {"external"} when nothing is known of them."""
        return {self.outcome.objects[n].memory for n in self._set(self.mask(values))} or {"external"}

    def _copy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """A copy is one operation; whom the host waits for depends on the kinds of memory (docs/FACTS.md)."""
        streams = self.streams_for(api, args, state)
        sources, targets = self.kinds(args.reads), self.kinds(args.writes)
        kind = args.one("kind")
        direction = kind.text if isinstance(kind, ir.Const) else "cudaMemcpyDefault" if kind is None else "?"
        to_host = direction.endswith("ToHost") or (targets <= HOST_MEMORY and direction in ("cudaMemcpyDefault", "?"))
        from_host = direction.endswith(("HostToDevice", "HostToHost")) or (
            sources <= HOST_MEMORY and direction in ("cudaMemcpyDefault", "?")
        )
        if "params" in args.named:
            to_host = from_host = False
        reads, writes = self.mask(args.reads), self.mask(args.writes)
        if "params" not in args.named:
            either = direction in ("cudaMemcpyDefault", "?")  # the pointers say what is copied where
            reads |= self.anywhere(state, args.reads) if either or direction.startswith("cudaMemcpyDevice") else 0
            writes |= self.anywhere(state, args.writes) if either or direction.endswith("ToDevice") else 0
        if from_host and sources == {"host"}:  # pageable memory is staged before the call returns
            reads = 0
        if api.sync and from_host:  # the copy starts when the blocking streams are idle, and the host waits for that
            self.host_waits_for(streams, state, where)
        op = self.operation("copy", call, f"`{call.callee}`", state)
        self.issue(op, streams, state, where, call.span, reads, writes)
        if to_host and (api.sync or targets == {"host"}):
            self.host_waits_for(streams, state, where)
        elif to_host or (api.sync and from_host and not sources & {"host", "external"}):
            if api.sync:
                self.host_waits_for(streams, state, where)
            elif "pinned" not in targets and "mapped" not in targets:
                self._may_wait(streams, state, where)
        elif api.sync:
            self._may_wait(streams, state, where)
        # Pointers are copied with the memory that holds them.
        held = mem.NOTHING.union(*(inner for v in args.reads for inner in state.env.content(v)))
        if held:
            for value in args.writes:
                cell = mem.at(value, mem.ANY)
                if cell is not None:
                    self.store(state, [cell], held, call.span)
        return state

    def _may_wait(self, streams: frozenset[Stream], state: State, where: In) -> None:
        for s in streams:
            self.await_(HOST, s, state, where, certain=False)

    def _work(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        streams = self.streams_for(api, args, state)
        if api.on == "none" and args.stream is None and args.one("handle") is None and not (args.reads or args.writes):
            return state
        op = self.operation("work", call, f"`{call.callee}`", state)
        reads, writes = self.mask(args.reads), self.mask(args.writes)
        if call.callee.startswith("cu") and "::" not in call.callee:
            given = (e for role in ("r", "w", "rw") for e in args.named.get(role, ()))
            for expr in given:
                writes |= self.anywhere(state, self.whole(state, expr)) if not isinstance(expr, ir.Const) else 0
        for expr in args.named.get("use", ()):
            held = self.whole(state, expr)
            if self._may_point(expr, held):
                writes |= self.anywhere(state, held)
        self.issue(op, streams, state, where, call.span, reads, writes, certain=not api.idle)
        self._library_waits(api, streams, state, where)
        if api.waits is Waits.OWN:  # whichever stream it ran on
            state.orders.finish(1 << op.number, where)
        return state

    def _may_point(self, expr: ir.Expr, held: Values) -> bool:
        """Whether an argument may be a pointer, by its type; where that is not known, unless it is a number."""
        while isinstance(expr, ir.Offset):
            expr = expr.base
        kind = self.type_of(expr)
        return "*" in kind or (not kind and not held and not isinstance(expr, ir.Const))

    def _library_waits(self, api: Api, streams: frozenset[Stream], state: State, where: In) -> None:
        if api.waits is Waits.OWN:
            self.host_waits_for(streams, state, where)
        elif api.waits is Waits.DEVICE:
            state.orders.finish(self.same_device(state), where)
        elif api.waits is Waits.MAYBE:
            self._may_wait(streams, state, where)

    def launch(self, launch: ir.Launch, state: State) -> State | None:
        streams = self.streams(state, launch.stream)
        kernels = self.program.kernels.get(last(launch.kernel), [])
        reads = writes = 0
        prints = False
        for n, arg in enumerate(launch.args):
            values = self.reachable(state, self.whole(state, arg))
            direct = self.mask(self.values(state, arg))
            deep = self.mask(values) & ~direct  # reached through memory or a struct: how is not known
            known = [k for k in kernels if n < len(k.params)]
            if known and all("*" in k.params[n].type for k in known):
                deep |= self.anywhere(state, self.values(state, arg))
            hidden = any("*" not in k.params[n].type and not k.params[n].by_reference for k in known)  # in a number
            if not known or hidden or any(n in k.reads for k in known):
                reads |= direct
            if not known or hidden or any(n in k.writes for k in known):
                writes |= direct
            reads |= deep
            writes |= deep
        self._stored_by(launch, kernels, state)
        for kernel in kernels:
            prints |= kernel.prints or kernel.traps
            for names, write in ((kernel.globals_read, False), (kernel.globals_written, True)):
                for name in names:
                    variable = self.program.globals.get(name.removeprefix("::"))
                    bits = 1 << self.symbol(variable).number if variable is not None else 1
                    if variable is not None:
                        bits |= self.mask(self.reachable(state, frozenset({mem.Ptr(self.symbol(variable).number)})))
                    reads |= bits
                    writes |= bits if write else 0
        if not kernels:
            prints = True
            writes |= sum(1 << self.symbol(g).number for g in self.program.globals.values() if g.space != "host")
        op = self.operation("launch", launch, f"`{launch.kernel}<<<…>>>`", state)
        op.says = any(kernel.prints for kernel in kernels)
        self.issue(op, streams, state, In.BOTH, launch.span, reads, writes, prints)
        return state

    def _stored_by(self, launch: ir.Launch, kernels: list[ir.Kernel], state: State) -> None:
        """A kernel may store the pointers that it is given in memory that holds pointers."""
        given = mem.leading(mem.NOTHING.union(*(self.values(state, arg) for arg in launch.args)))
        for kernel in kernels if given else ():
            holders = [
                value
                for n, arg in enumerate(launch.args)
                if n in kernel.writes and n < len(kernel.params) and kernel.params[n].type.count("*") > 1
                for value in self.values(state, arg)
            ]
            for name in kernel.globals_written:
                variable = self.program.globals.get(name.removeprefix("::"))
                if variable is not None and "*" in variable.type:
                    holders.append(mem.Ptr(self.symbol(variable).number))
            for cell in [c for value in holders if (c := mem.at(value, mem.ANY)) is not None]:
                state.env.write([cell], given)

    # -- streams and events ------------------------------------------------------------------------------------------

    def _fresh_name(self, call: ir.Call) -> str:
        return f"{call.span.path}:{call.span.start}{self.frame.name}{''.join(self.family)}"

    def _stream_create(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        flags = args.one("flags")
        kind = StreamKind.BLOCKING
        if flags is not None:
            values = self.values(state, flags)
            if values <= {mem.Number("cudaStreamDefault"), mem.ZERO, mem.Number("CU_STREAM_DEFAULT")} and values:
                kind = StreamKind.BLOCKING
            elif (
                values <= {mem.Number("cudaStreamNonBlocking"), mem.Number("1"), mem.Number("CU_STREAM_NON_BLOCKING")}
                and values
            ):
                kind = StreamKind.NON_BLOCKING
            else:
                kind = StreamKind.UNKNOWN
        stream = Stream(self._fresh_name(call), kind, any(f.startswith("o|") for f in self.family), state.device)
        again = not stream.summary and stream in state.orders.pending and stream not in state.destroyed
        each = self._in_threads(call) and not self.lints  # what one thread does wrong by itself is wrong
        if where is not In.REWRITTEN and (again or each):
            stream = Stream(stream.name + "+", StreamKind.UNKNOWN, True, state.device)  # several of them are alive
            self.several[stream.name] = kind
        self.outcome.blocking |= kind is StreamKind.BLOCKING
        state.destroyed -= {stream}
        state.made(stream)
        state.orders.created(stream)
        for expr in args.named.get("stream_out", ()):
            self.store(state, self.cells(state, ir.Deref(expr)), frozenset({mem.StreamValue(stream)}), call.span)
        return state

    def _stream_destroy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        streams = self.streams(state, args.stream)
        for s in streams:
            calls = self.outcome.destroys.setdefault(s, [])
            if call not in calls:
                calls.append(call)
        if self._ended_by_reset(args.stream, streams, state) and where is not In.ORIGINAL:
            op = self.operation("destroy", call, "a stream", state)
            self.wrong(Wrong.DESTROYED_AFTER_RESET, op, Point(call.span, f"`{call.callee}`", call), streams=streams)
        if where is not In.ORIGINAL:
            state.destroyed |= {s for s in streams if s is not self.default_stream and s is not UNKNOWN_STREAM}
            self._give_back(args.stream, state)
        return state

    def _events(self, expr: ir.Expr | None, state: State) -> list[Event]:
        values = self.values(state, expr) if expr is not None else mem.NOTHING
        return [v.event for v in values if isinstance(v, mem.EventValue)]

    def _event_create(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        brought = state.device if where is In.REWRITTEN else ""
        event = Event(self._fresh_name(call), any(f.startswith("o|") for f in self.family), brought)
        cells = [c for expr in args.named.get("event_out", ()) for c in self.cells(state, ir.Deref(expr))]
        if where is In.REWRITTEN:
            if event in state.brought:
                event = Event(event.name + "+", True, brought)  # several of them are alive
            state.brought |= {event}
        elif not event.summary and event in state.orders.pending:
            held = {v for c in cells for v in state.env.read(c)}
            if held - {mem.EventValue(event), mem.OTHER, mem.ZERO}:
                event = Event(event.name + "+", True)
        if event not in state.orders.pending or not event.summary:
            state.orders.pending.pop(event, None)
            state.orders.lost.pop(event, None)
        state.made(event)
        self.store(state, cells, frozenset({mem.EventValue(event)}), call.span)
        return state

    def _ended_by_reset(self, expr: ir.Expr | None, meant: Iterable[Stream | Event], state: State) -> bool:
        """Whether a reset may have destroyed a stream or an event before: it may be one from before that."""
        if state.since_reset is None:
            return False
        known = expr is not None and mem.UNKNOWN.isdisjoint(self.values(state, expr))
        return not (known and meant and state.since_reset.issuperset(meant))

    def _event_destroy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events = self._events(args.one("event"), state)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
            if len(events) == 1 and not events[0].summary:
                state.brought -= {events[0]}
        if self._ended_by_reset(args.one("event"), events, state) and where is not In.ORIGINAL:
            op = self.operation("destroy", call, "an event", state)
            self.wrong(Wrong.DESTROYED_AFTER_RESET, op, Point(call.span, f"`{call.callee}`", call))
        return state

    def _is_there(self, events: list[Event], call: ir.Call, state: State) -> None:
        """What Q alone does with an event needs one that is created, and not destroyed since: an object may have been
        copied with its event, or made by a constructor that is not seen. Under capture it would belong to the graph.
        """
        if not events or any(e.brought and e not in state.brought for e in events):
            self._not_understood(call, state, "may be given an event that is not there")
        if state.capturing:
            self._not_understood(call, state, "may run while a stream is captured")

    def _record(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events, streams = self._events(args.one("event"), state), self.streams(state, args.stream)
        orders = state.orders
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
            if any(e.brought not in ("", state.device) for e in events):
                self._not_understood(call, state, "may record an event of another device")
        for s in streams:
            orders.known(s)
            orders.enter(s, where)
        for event in events:
            if where is In.ORIGINAL:
                self._not_understood(call, state)
            elif len(events) == 1 and len(streams) == 1 and UNKNOWN_STREAM not in streams:
                (s,) = streams
                orders.record(event, s, where)
            else:  # one of several: the event orders only what all of them would
                pending = lost = 0
                for s in streams:
                    pending |= orders.pending[s]
                    lost |= orders.lost.get(s, 0)
                if UNKNOWN_STREAM in streams or event not in orders.pending:
                    pending, lost = pending | orders.pending[HOST], lost | orders.lost.get(HOST, 0)
                orders.pending[event] = orders.pending.get(event, 0) | pending
                orders.lost[event] = orders.lost.get(event, 0) | lost
        for s in streams:
            orders.leave(s, where)
            orders.ran(s, where, len(streams) == 1 and UNKNOWN_STREAM not in streams)
        return state

    def _not_understood(self, call: ir.Call, state: State, text: str = "is taken away") -> None:
        self.wrong(Wrong.NOT_UNDERSTOOD, None, Point(call.span, f"`{call.callee}` {text}", call))

    def _wait(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events, streams = self._events(args.one("event"), state), self.streams(state, args.stream)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
        for s in streams:
            if not events:
                state.orders.after_anything(s)
                state.apart = 0
            for event in events:
                certain = len(events) == 1 and len(streams) == 1 and UNKNOWN_STREAM not in streams
                self.await_(s, event, state, where, certain)
        return state

    def _sync_stream(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self.host_waits_for(self.streams(state, args.stream), state, where)
        return state

    def _sync_event(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events = self._events(args.one("event"), state)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
        if not events:
            state.orders.after_anything(HOST)
            state.may_wait()
        for event in events:
            self.await_(HOST, event, state, where, certain=len(events) == 1)
        return state

    def _sync_device(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        state.orders.finish(self.same_device(state), where)
        return state

    def _query(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """The program learns whether something has finished, or how long it took: like a clock, for that observer."""
        state.may_wait()  # it may ask until it has
        observers: list[Observer] = list(self.streams(state, args.stream)) if args.stream is not None else []
        for expr in args.named.get("event", ()):
            observers += self._events(expr, state)
        point = Point(call.span, f"the program asks `{call.callee}`", call)
        for x in observers:
            for number in self._set(state.orders.lost.get(x, 0)):
                op = self.outcome.operations[number]
                self.wrong(Wrong.CLOCK, op, point, via=tuple(op.via))
        return state

    def _set(self, bits: Bits) -> list[int]:
        return [n for n in range(bits.bit_length()) if bits >> n & 1]

    # -- handles, devices --------------------------------------------------------------------------------------------

    def _handle_create(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        handle = mem.Handle(self._handle_name(call))
        for expr in args.named.get("handle_out", ()):
            self.store(state, self.cells(state, ir.Deref(expr)), frozenset({handle}), call.span)
        streams = self.streams(state, args.stream)
        state.env.write(
            [(("global", "", f"stream of {handle.name}"), ())], frozenset(mem.StreamValue(s) for s in streams)
        )
        return state

    def _handle_set_stream(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        expr = args.one("handle")
        handles = [v for v in (self.values(state, expr) if expr is not None else ()) if isinstance(v, mem.Handle)]
        values: Values = frozenset(mem.StreamValue(s) for s in self.streams(state, args.stream))
        for handle in handles:
            root = ("global", "", f"stream of {handle.name}")
            old = state.env.read((root, ())) if len(handles) > 1 else mem.NOTHING
            state.env.write([(root, ())], values | old)
        return state

    def _set_device(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        expr = args.one("device")
        device = "?"
        if expr is None:  # a helper that picks one device for the whole program
            device = f"the device of `{call.callee}`"
        else:
            values = self.values(state, expr)
            if len(values) == 1:
                (value,) = values
                if isinstance(value, mem.Number):
                    device = value.text
                elif not self.loops or self.family:
                    is_local = isinstance(expr, ir.Var) and not expr.name.startswith("::")
                    device = f"{expr}{self.frame.name if is_local else ''}{self._version(expr, call)}"
            elif not self.loops:
                device = f"{expr}{self.frame.name}{self._version(expr, call)}"
        if not state.live and not state.orders.pending[HOST] and self._devices == {"0"}:
            self._devices = {device}  # the program picks its device before it does anything
        self._devices.add(device)
        state.device = device
        return state

    def _version(self, expr: ir.Expr, call: ir.Call) -> str:
        """Tells the values of a variable apart that is written between two calls that look at it."""
        body = list(walk(self.frame.function.body))
        picks = {s.index.name for s in body if isinstance(s, ir.Loop) and s.index is not None}  # the same rounds
        names = {e.name for e in variables(expr) if isinstance(e, ir.Var)} - picks
        looks = [s for s in body if isinstance(s, ir.Call) and s.callee == call.callee and expr in s.args]
        between = (s for s in body if looks[0].span.start < s.span.start < looks[-1].span.start) if looks else ()
        return f"@{call.span.start}" if any(names & _written(s) for s in between) else ""

    def _reset(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """`cudaDeviceReset` gives back `cudaMalloc` memory, and leaks stream-ordered memory; callers must quiesce the
        device first.
        """
        orders = state.orders
        self.outcome.resets.setdefault(key_of(call), call)
        if where is In.ORIGINAL:
            orders.finish(~self.rewritten_only, where)
            return state
        point = Point(call.span, "the device is reset", call)
        for number in self._set(state.live & ~1):
            obj = self.outcome.objects[number]
            if obj.memory_after == "async" and not (state.freed >> number & 1 and obj.summary):
                op = self.operation("reset", call, "the memory", state)
                self.wrong(Wrong.RESET_LEAKS, op, point, obj, certain=not state.freed >> number & 1)
            elif obj.memory == "device" and not state.freed >> number & 1:
                self.obstacle(
                    1 << number, "freed_by_device_reset", "is still allocated when the device is reset", call.span
                )
        touching = 0
        for obj in self.outcome.objects:
            if obj.memory_after == "async":
                touching |= obj.used_by | obj.allocated_by | obj.freed_by
        pending = orders.pending[HOST] & (touching | orders.lost.get(HOST, 0))
        for op in self.operations_in(pending):
            self.wrong(Wrong.RESET_PENDING, op, point, via=tuple(op.via))
        orders.finish(-1, where)
        state.live = 0
        state.since_reset = frozenset()
        return state

    # -- what the host sees ------------------------------------------------------------------------------------------

    def _output(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        if where is In.BOTH:
            point = Point(call.span, f"`{call.callee}` prints", call)
            self.host_observes(state, Wrong.OUTPUT, point)
            self.faults_are_reported(state, point)
        return state

    def _clock(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self.host_observes(
            state, Wrong.CLOCK, Point(call.span, f"`{call.callee}` reads a clock", call), everything=True
        )
        return state

    def _exit(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self.ends(state, Point(call.span, f"`{call.callee}` ends the program", call))
        return None

    def ends(self, state: State, point: Point) -> None:
        """The process ends: what a kernel prints must be out, and no error may go unnoticed."""
        self.host_observes(state, Wrong.EXIT, point)
        self.faults_are_reported(state, point)
        self._behind_main(state)

    def _behind_main(self, state: State) -> None:
        """What the destructors of local statics do: they run before the runtime is shut down, if they were made after
        its first use. Those that work on the device are left out, with what they free.
        """
        for function, root in self.program.kept("behind main", lambda: _destructors_of_statics(self.program)):
            if not self._works_on_device(function):
                self.inline(
                    function, [], f"{self.frame.name}/behind main", frozenset({mem.Ref((root, ()))}), state.copy()
                )

    def _capture(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        state.capturing = api.effect is Effect.CAPTURE_BEGIN
        return state

    def _graph_launch(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """A graph touches what was captured, and what its nodes were given."""
        streams = self.streams_for(api, args, state)
        values = mem.NOTHING.union(*(self.reachable(state, self.values(state, e)) for e in args.named.get("graph", ())))
        bits = self.mask(values) | state.captured | 1
        op = self.operation("graph", call, f"`{call.callee}`", state)
        self.issue(op, streams, state, where, call.span, bits, bits, prints=True)
        return state

    def _peer(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self.outcome.peers.append(call.span)
        return state

    def _ipc(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        bits = self.mask(args.reads | args.writes) | args.host_reads
        self.obstacle(bits, "ipc_handle", f"is handed to another process by `{call.callee}`", call.span)
        return state

    def _host_func(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """A host function runs on the stream: it may touch what it is given, globals, and print."""
        state.may_wait()  # it may tell the host
        bits = self.mask(args.reads | args.writes) | 1
        for name, variable in self.program.globals.items():
            if variable.space == "host":
                bits |= 1 << self.variable(("global", "", name)).number
        for (name, path), variable in self._internal.items():
            if variable.space == "host":
                paths = (path, *self._copies.get(name, ()))
                bits |= sum(1 << self.variable(("global", p, name)).number for p in paths)
        op = self.operation("host function", call, f"the host function of `{call.callee}`", state)
        self.issue(op, self.streams_for(api, args, state), state, where, call.span, bits, bits, prints=True)
        return state

    def _register(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        for role in ("hr", "hw", "hrw"):
            for expr in args.named.get(role, ()):
                for number in self._set(self.mask(self.values(state, expr)) & ~1):
                    self.outcome.objects[number].memory = "pinned"
        return state

    def _free_memory(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        if state.allocated and where is In.BOTH:
            op = self.operation("query", call, "the pool", state)
            moved = tuple(key_of(o.call) for o in self.outcome.objects if o.memory_after == "async" and o.call)
            self.wrong(Wrong.FREE_MEMORY, op, Point(call.span, f"`{call.callee}`", call), via=moved)
        return state

    def _external(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """Named, but out of reach: other threads, other processes, other libraries."""
        state.may_wait()
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in self.given(call)))
        self._give_away(values, state)
        threads = api.why is not None and "thread" in api.why
        name = "foreign_pointer" if call.callee.startswith("ctypes.") else "external_library"
        name = "several_host_threads" if threads else name
        bits = self.mask(values)
        if threads:  # a thread sees the caller's variables and all globals
            if self._only_host_work(values):
                state.threads = True
                self._others_look(call, f"`{call.callee}` starts another host thread", state)
                return state
            if any(isinstance(v, mem.Function) for v in values):
                self.works_elsewhere = True
                bits |= self._visible(state)
            elif state.threads and not bits and not self.works_elsewhere:
                return state  # it waits for a thread that has only worked on the host
        functions = [f for v in values if isinstance(v, mem.Function) for f in self.program.resolve(v.name, 0, v.path)]
        if any(self._works_on_device(f) for f in functions):
            bits |= self._all_that_is_held(state)
        self.escaped |= bits & ~1
        self.obstacle(bits, name, f"is reached by `{call.callee}`: {api.why}", call.span)
        self._foreign_work(call, f"`{call.callee}`", bits, state)
        return state

    def _message(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """Another process gets or sends memory: host memory goes and comes like output, device memory is out of
        reach.
        """
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in self.given(call)))
        bits = self.mask(values)
        if self._on_device(values) or bits & 1 or values & mem.UNKNOWN:
            return self._external(call, api, args, state, where)
        point = Point(call.span, f"`{call.callee}` passes a message", call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, reads=bits, writes=bits)
        return self._output(call, api, args, state, where)

    def _others_look(self, call: ir.Call, text: str, state: State) -> None:
        """Another host thread may look at anything from here on."""
        point = Point(call.span, text, call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, everything=True)
        self.faults_are_reported(state, point)

    def _only_host_work(self, values: Values) -> bool:
        """Whether the functions that a thread is given are known, and none of them works on the device or calls what
        is not known.
        """
        functions = [self.program.resolve(v.name, 0, v.path) for v in values if isinstance(v, mem.Function)]
        beyond = self.program.reaching("device work or unknown code", self._is_beyond_the_host)
        return all(functions) and bool(functions) and not any(id(f) in beyond for found in functions for f in found)

    def _is_beyond_the_host(self, stmt: ir.Stmt) -> bool:
        if isinstance(stmt, ir.Call) and stmt.receiver is None and not stmt.callee.startswith("#pragma"):
            known = self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path)
            if not known and self.tables.lookup(stmt.callee, len(stmt.args)) is None and stmt.callee != "throw":
                return True
        return isinstance(stmt, ir.Unknown) or self._is_device_work(stmt)

    def _visible(self, state: State) -> Bits:
        bits = 0
        for root, inner in state.env:
            if root[0] == "global" or (root[0] == "local" and root[1] == self.frame.name):
                for values in inner.values():
                    bits |= self.mask(self.reachable(state, values))
        return bits

    def _foreign_work(self, call: ir.Call | None, name: str, bits: Bits, state: State) -> None:
        """What unseen code may leave running: an operation on a stream of its own. Proofs that need it not to exist
        say so.
        """
        op = self.operation(("foreign", name), call, f"work of {name}", state)
        op.assumption = Assumption("leaves_no_work", name)
        span = call.span if call is not None else self.frame.function.span
        self.issue(op, frozenset({UNKNOWN_STREAM}), state, In.BOTH, span, bits | 1, bits | 1, prints=True)

    def through_pointer(self, stmt: ir.Unknown, state: State) -> State | None:
        """A call of a function in a variable, where it is known which functions that may be; None where it is not."""
        pointed = self.values(state, stmt.parts[0])
        names = [v for v in pointed if isinstance(v, mem.Function)]
        found = [(f, mem.NOTHING) for v in names for f in self.program.resolve(v.name, len(stmt.parts) - 1, v.path)]
        if len(names) != len(pointed) or len(found) < len(names) or not found:
            return None
        site = ir.Site(stmt.span, "", "", ";", blocked="a call through a function pointer")
        call = ir.Call(names[0].name, stmt.parts[1:], stmt.span, ir.Span(stmt.span.path, 0, 0), stmt.span.end, site)
        return self.function_call(call, found, state)

    def _on_device(self, values: Values, kinds: frozenset[str] = _ON_DEVICE) -> Bits:
        """The memory that pointers lead to and that the device may work on, of these kinds."""
        bits = 0
        for number in self._set(self.mask(values) & ~1):
            if self.outcome.objects[number].memory in kinds:
                bits |= 1 << number
        return bits

    def _has_known_type(self, call: ir.Call) -> bool:
        """Whether the object of a call is of a type that the tables know, not one that only has such a method."""
        kind = self.type_of(call.receiver) if call.receiver is not None else ""
        return bool(kind) and self.tables.method(kind, call.callee) is not None

    def _may_reach_more(self, values: Values) -> bool:
        """Whether a function of the program is among these: a function of Python reaches what its scope holds."""
        path = self.frame.function.span.path
        return any(isinstance(v, mem.Function) and self.program.resolve(v.name, 0, path) for v in values)

    def _all_that_is_held(self, state: State) -> Bits:
        """All memory that some variable leads to."""
        bits = 0
        for _, inner in state.env:
            for values in inner.values():
                bits |= self.mask(self.reachable(state, values))
        return bits & state.live

    def control(self, why: str, span: ir.Span, state: State) -> None:
        """The order of statements is not known here: nothing that is live can be proved."""
        self.obstacle(state.live, "control_flow", f"is live where the order of statements is not known: {why}", span)

    def unknown(self, why: str, args: tuple[ir.Expr, ...], stmt: ir.Call | None, span: ir.Span, state: State) -> Values:
        """Code that is not seen runs. Returns what may come back from it: the pointers that it is given, too."""
        state.may_wait()  # it may wait
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in args))
        device = self._on_device(values)
        if self.in_python and self._may_reach_more(values):
            device |= self._all_that_is_held(state)
        self.escaped |= device
        self._give_away(values, state)
        self.obstacle(device, "unknown_call", f"is given to code that is not seen: {why}", span)
        name = f"`{stmt.callee}`" if stmt is not None else why
        point = Point(span, f"{name} runs, which is not seen", stmt)
        self.host_observes(state, Wrong.OUTPUT, point, everything=True)
        self.faults_are_reported(state, point)
        for expr in args:  # it may take a reference
            if isinstance(expr, ir.Var) and self.type_of(expr).startswith("cudaStream_t"):
                cells = self.cells(state, expr)
                if any(mem.ZERO in state.env.read(cell) for cell in cells):
                    state.env.write(cells * 2, mem.UNKNOWN)
        visible = (v for v in values if isinstance(v, mem.Ptr) and self.host_visible >> v.object & 1)
        back = mem.UNKNOWN | frozenset(mem.Ptr(v.object, True) for v in visible)
        for value in values:  # what it is given the address of, it may change
            if isinstance(value, mem.Ref):
                held = state.env.read(value.cell)
                if any(isinstance(v, mem.Ptr | mem.StreamValue | mem.EventValue) for v in held) or value.cell[1] == ():
                    state.env.write([value.cell, value.cell], held | back)
        if stmt is not None and stmt.receiver is not None and back != mem.UNKNOWN:  # the object may keep them
            cells = self.cells(state, stmt.receiver)
            state.env.write([*cells, *cells], back)
        self._foreign_work(stmt, name, self.mask(values), state)
        return back

    def _give_away(self, values: Values, state: State) -> None:
        """Code that is not seen gets objects of Python: what comes from there may be one of their classes."""
        if not self.in_python:
            return
        places = (place for value in values if (place := mem.at(value, "0")) is not None)
        classes = (state.env.read((root, (*path, ("field", ir.CLASS)))) for root, path in places)
        found = frozenset(one for held in classes for one in held if isinstance(one, mem.Number))
        if not found <= (known := state.env.read(_GIVEN_AWAY)):
            state.env.write([_GIVEN_AWAY], known | found)


def _said(call: ir.Call) -> str:
    """What a call calls, in words."""
    return "` or `".join(ir.names_of(call.callee))


_GIVEN_AWAY: mem.Cell = (("global", "", "<classes of objects that were given away>"), ())


def _element(kind: str) -> str:
    """The type of what `[]` gives: an element of an array or of a container, or what a map has for a key."""
    if "<" not in kind or ">" not in kind:
        return kind
    behind = kind[kind.rindex(">") + 1 :].strip(" &")
    if behind:  # an array of containers, or a pointer to one
        return kind.rstrip(" &").removesuffix("[]" if behind.endswith("[]") else "*").rstrip()
    arguments = ir.template_arguments(kind)
    return arguments[kind.partition("<")[0].endswith("map") and len(arguments) > 1]


def _waits_by_itself(stream: Stream) -> bool:
    """Whether a stream is the default stream, or one that waits for that, and which one is known."""
    return not stream.summary and stream.kind in (StreamKind.LEGACY, StreamKind.BLOCKING)


def _destructors_of_statics(program: Program) -> list[tuple[ir.Function, mem.Root]]:
    """The destructors of the variables that are static in a function, and what these are."""
    homes = {function.name for function in program.functions()}
    found: list[tuple[ir.Function, mem.Root]] = []
    for module in program.modules:
        for variable in module.globals:
            home, _, _ = variable.name.rpartition("::")
            cls = last(variable.type)
            if home in homes and not variable.array:
                ending = program.resolve(f"{cls}::~{cls}", 0, module.path)
                found += [(function, ("global", module.path, variable.name)) for function in ending]
    return found


def _class_of(param: ir.Param) -> str:
    """The last name component of the class of a parameter, be it a reference."""
    return last(param.type.replace("const", " ").replace("struct", " ").strip(" &").partition("<")[0])


def _is_of(param: ir.Param, cls: str) -> bool:
    return bool(cls) and _class_of(param) == cls and "*" not in param.type


def _members(program: Program) -> dict[str, tuple[str, ...]]:
    """The types of the data members of each class, by its last name component; of those of one name, of all."""
    found: dict[str, tuple[str, ...]] = {}
    for module in program.modules:
        for cls, kinds in module.members.items():
            found[last(cls)] = (*found.get(last(cls), ()), *(kind for kind in kinds if not kind.endswith("*")))
    return found


# through which a call may reach a method of what they hold
_HOLDS_OTHERS = re.compile(r"(?:const )?(?:std|thrust|boost)::|\w*_ptr\b|(?:optional|reference_wrapper)\b")
_KEEPS_ONE = re.compile(
    r"(?:std::)?(?:unique_ptr|shared_ptr|optional)\s*<\s*(\w[\w:]*(?:\s*\*)*)\s*[,>]"
)  # `*x` is that
_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|class|typename)\b")


def _type_names(program: Program) -> set[str]:
    """The names of the types that the files of a program declare."""
    found = {last(f.cls) for f in program.functions() if f.cls is not None}
    for module in program.modules:
        found.update(last(cls) for cls in module.members)
        found |= module.types
    return found


def _types_of_members(program: Program) -> dict[tuple[str, str], str]:
    """The types of data members by class (its last name component) and name; empty where classes of one name differ."""
    found: dict[tuple[str, str], str] = {}
    for module in program.modules:
        for cls, members in module.fields.items():
            for name, member in members.items():
                key = last(cls), name
                found[key] = member.type if found.get(key, member.type) == member.type else ""
    return found


def _bases(program: Program) -> dict[str, set[str]]:
    """The classes that each class is derived from, by last name components."""
    found: dict[str, set[str]] = {}
    for function in program.functions():
        if function.cls is not None:
            found.setdefault(last(function.cls), set()).update(map(last, function.bases))
    return found


def _derived(program: Program) -> dict[str, list[ir.Function]]:
    """The methods of the classes that are derived from each class, by its last name component."""
    found: dict[str, list[ir.Function]] = {}
    for function in program.functions():
        for base in function.bases:
            found.setdefault(last(base), []).append(function)
    return found


def _written(stmt: ir.Stmt) -> set[str]:
    """The variables that a statement stores to, or hands out the address of."""
    places: list[ir.Expr] = []
    match stmt:
        case ir.Assign(target):
            places = [target]
        case ir.HostAccess(_, writes):
            places = list(writes)
        case ir.Call(args=args, result=result):
            places = [a.base for a in args if isinstance(a, ir.Addr)] + ([result] if result is not None else [])
        case _:
            pass
    return {place.name for place in places if isinstance(place, ir.Var)}
