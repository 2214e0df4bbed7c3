"""What calls and launches do to the state: the API tables' words, executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import GRAPHICS, HOST_EFFECTS, Api, Effect, Waits, played_by
from cudafix.models.shell import stays_off_the_device
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.any_time import AnyTime
from cudafix.ordering.facts.callbacks import Callbacks
from cudafix.ordering.facts.classes import Observation
from cudafix.ordering.facts.clients import BEYOND, CALLER
from cudafix.ordering.facts.plain import FLOATING, holds_numbers, may_be_handle
from cudafix.ordering.facts.reach import Within, literal, makes_the_file, opens_to_read
from cudafix.ordering.facts.slicing import for_the_host
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.allocations import Allocations
from cudafix.ordering.interpreter.calls import held_at_namespace_scope, said
from cudafix.ordering.interpreter.frames import State, joined
from cudafix.ordering.interpreter.machine import FOR_THE_DEVICE, UNKNOWN_STREAM
from cudafix.ordering.interpreter.memory import Values
from cudafix.ordering.interpreter.program import OF_A_ROUND, Overlay, Point, Wrong, key_of, lacks_stream
from cudafix.ordering.interpreter.roles import GIVEN_TO_GRAPHICS, GIVEN_TO_LIBRARIES, Arguments
from cudafix.ordering.interpreter.state import HOST, Bits, Event, In, Observer, Stream, StreamKind, is_default, numbers

STREAM_STEPS = frozenset({Effect.RECORD, Effect.WAIT, Effect.SYNC_STREAM, Effect.QUERY})
_READS = frozenset({"hr", "hrw", "look", "path"})
HOST_MEMORY = frozenset({"host", "pinned", "mapped", "registered"})
_PAGEABLE = frozenset({"host", "external", "registered"})  # as far as anybody knows
_NOT_PAGEABLE = frozenset({"pinned", "mapped", "managed"})


# what has no element afterwards (C++17, 26.2.3 [sequence.reqmts])
_CLEARED = re.compile(r"std::(?:vector|deque|list|forward_list)\s*<")
_KEEPS_SIZE = frozenset(
    "size empty max_size capacity begin end cbegin cend rbegin rend crbegin crend data front back at operator[] "
    "reserve shrink_to_fit fill swap".split()
)
"""Methods of containers after which there are as many elements as before ([container.requirements], [vector]); what
`swap` does is said by its role.
"""
_LOOKS_AT = frozenset("begin end cbegin cend rbegin rend size ssize empty data".split())  # [iterator.range]


class Effects(Allocations):
    """Calls, launches, and the functions that nobody has seen."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
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
            Effect.HANDLE_DESTROY: self._handle_destroy,
            Effect.SET_DEVICE: self._set_device,
            Effect.RESET: self._reset,
            Effect.OUTPUT: self._output,
            Effect.CLOCK: self._clock,
            Effect.TIMER: self._clock,
            Effect.READ: self._read,
            Effect.EXIT: self._exit,
            Effect.AT_EXIT: self._at_exit,
            Effect.ANY_TIME: self._any_time,
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
        self.callbacks = Callbacks.of(program, tables)
        self.asks_for_events = program.kept("asks for events", lambda: _asks_for_events(program, tables))
        registers = program.kept("registers memory", lambda: _registers(program, tables))
        self.pins_elsewhere = self.registers = bool(registers)
        views = any(path.endswith(ir.PYTHON) for path in registers)  # which arrays are views of it?
        self.pins_unknown = views or program.kept("allocators", lambda: _pins_in_allocators(program, tables))

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
        if call.callee == BEYOND:
            what, user = call.args
            name = last(user.name) if isinstance(user, ir.FuncRef) else ""
            text = f"is held by an object, and `{name}` works on members of such objects, which it gets from elsewhere"
            held = self.mask(self.reachable(state, self.whole(state, what))) & state.live
            self.obstacle(held, "escapes", text, call.span)
            return state
        found = self.resolve(call, state)
        if isinstance(found, Api):
            return self.library_call(call, found, state, where)
        several = ir.is_any_of(call.callee) and not self.of_its_template(call)
        if several and self.program.methods(call.callee, len(call.args)):
            if not found:  # no object of a class that has it
                return state
            before = state.copy()  # the object may have none of them
            return joined(before, self.function_call(call, found, state))
        if found and id(call) in self.uncertain:  # or a method of a class that is not seen
            other = state.copy()
            self._unseen(call, other)
            return joined(self.function_call(call, found, state), other)
        if found:
            return self.function_call(call, found, state)
        if call.receiver is not None and self.classes.declares_none(call.callee):
            state.env.resized(None)
            return state
        self._unseen(call, state)
        return state

    def _unseen(self, call: ir.Call, state: State) -> None:
        back = self.unknown(f"`{said(call)}` is not known", call.given, call, call.span, state)
        self.result(call, back, state)

    def library_call(self, call: ir.Call, api: Api, state: State, where: In) -> State | None:
        certain = call.receiver is not None and self._has_known_type(call)
        # a floating-point number is no address ([expr.reinterpret.cast] 5)
        addresses = (e for e in for_the_host(call, api, certain) if self.type_stored_in(e).strip() not in FLOATING)
        if any(self.device_memory(state, expr) for expr in addresses):
            why = f"`{call.callee}` is given device memory, so it is not the host function of that name"
            self.unknown(why, call.given, call, call.span, state)
            self.result(call, mem.UNKNOWN, state)
            return state
        args = self.arguments(call, api, state)
        given = list(played_by(api, call.given))
        if api.effect in HOST_EFFECTS and state.orders.lost.get(HOST, 0):
            pointers = () if api.any else [e for role, e in given if role in _READS and not isinstance(e, ir.Const)]
            self.reads_of_others(state, call, args.host_reads, any(self.is_made(state, e) for e in pointers))
        if api.from_outside or api.effect is Effect.MESSAGE or _shows(api, args):
            # a mapping shows the file (POSIX, `mmap`); who reads what is written here may look at shared memory too
            others = self.shared_bit | (1 if api.from_outside else 0)
            args.host_reads |= others
            args.host_writes |= others
        if call.receiver is not None:
            self.kept_in(call.receiver, call.args, state)
        if args.host_reads or args.host_writes:
            point = Point(call.span, f"`{call.callee}` runs", call)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=args.host_reads, writes=args.host_writes)
            if state.unwaited:
                reads = self.led_to(state, (e for role, e in given if role in ("hr", "hrw")))
                writes = self.led_to(state, (e for role, e in given if role in ("hw", "hrw")))
                self.host_races(state, point, reads, writes)
        if any(map(self._may_ask_the_device, args.named.get("command", ()))):
            self.asks_for_free_memory(call, state, where, f"the program that `{call.callee}` starts may be one that")
        if api.timed:
            point = Point(call.span, f"`{call.callee}` runs, which may measure the time", call)
            self.host_observes(state, Wrong.CLOCK, point, everything=True)
        if api.ends:
            point = Point(call.span, f"`{call.callee}` runs, which destroys what it may use", call)
            self.host_observes(state, Wrong.ORDER, point, everything=True)
        if api.asks and call.result is not None:
            self._clock(call, api, args, state, where)
        if lacks_stream(call):  # it does not compile (docs/FACTS.md)
            op = self.operation("call", call, f"`{call.callee}`", state)
            self.wrong(Wrong.NO_STREAM_ARGUMENT, op, Point(call.span, f"`{call.callee}`", call))
        if args.stream is not None and where is not In.ORIGINAL and api.effect in STREAM_STEPS:
            gone = self.may_be_gone(self.streams(state, args.stream), state, where)
            if gone:
                op, point = (
                    self.operation("step", call, f"`{call.callee}`", state),
                    Point(call.span, f"`{call.callee}`", call),
                )
                certain = self.is_gone(state, args.stream)
                self.wrong(Wrong.STREAM_DESTROYED, op, point, streams=gone, certain=certain)
        if where is In.BOTH and api.effect is not Effect.STREAM_DESTROY:
            self.used(state, args.stream)
        run = self._effect.get(api.effect)
        returned = mem.NOTHING
        if api.effect in HOST_EFFECTS and call.args:
            state, returned = self._called_back(call, api, state)
        after = run(call, api, args, state, where) if run is not None else state
        if after is None:
            return None
        if self.callbacks.may_come(api):
            self._calls_back(call, api, args, after)
        if api.effect in HOST_EFFECTS:
            self._moves_pointers(args, returned, after)
        if api.stores_bytes or api.effect is Effect.MESSAGE:
            self._bytes_come_in(call, args, after)
        for expr in args.named.get("out", ()):
            places = self.cells(after, ir.Deref(expr)) or self.cells(after, expr)  # or it takes a reference
            after.env.write(places, frozenset({mem.OTHER}))
            self.overwritten(after, places)
        if call.receiver is not None and call.callee == "clear" and _CLEARED.match(self.type_of(call.receiver)):
            after.env.forget_inside(self.cells(after, call.receiver))
        if self.sized:
            self._sizes_change(call, api, after)
        self._keep(call, api, args, after)
        if call.result is not None and api.effect != Effect.ALLOC:
            elements, always = self.elements_named(call, api, after)
            held = self._returned(call, api, after) if not always else mem.NOTHING
            self.result(call, held.union(*map(after.env.read, elements)), after)
            if elements and isinstance(call.result, ir.Var) and call.result.name.startswith("%"):
                self._refers(after, self.root(call.result.name), frozenset(map(mem.Ref, elements)), always)
        if api.looks and call.look is ir.Look.CHECKED:
            self.looks(after)
        return after

    def _calls_back(self, call: ir.Call, api: Api, args: Arguments, state: State) -> None:
        """A library of the host may call the functions that it knows by name, and those that it finds in what it has
        got, now or before.
        """
        found: Values = frozenset(mem.Function(f.name, f.span.path) for f in self.callbacks.known_to(api))
        if self.callbacks.keeps(api):
            given = args.named.get("hidden", ())
            found = found.union(*(self.reachable(state, self.whole(state, expr)) for expr in given))
            found |= self.reachable(state, state.env.read(GIVEN_TO_GRAPHICS if api.library else GIVEN_TO_LIBRARIES))
        if self.hands_out(found, (), call, state, library=GRAPHICS if api.library else ""):
            self._foreign_work(call, f"`{call.callee}`", self.mask(found), state, Within(works=True))

    def _sizes_change(self, call: ir.Call, api: Api, state: State) -> None:
        """A library function may change how many elements the containers have that it is given; one that is no method
        may keep them, and do so later (`std::back_inserter`).
        """
        if call.receiver is not None and call.callee not in _KEEPS_SIZE:
            state.env.resized(self.cells(state, call.receiver) or None)
        if call.receiver is not None or last(call.callee) in _LOOKS_AT or call.callee.startswith("cu"):
            return
        for role, expr in played_by(api, call.given):
            if role == "swap" or isinstance(expr, ir.Const | ir.FuncRef):
                continue
            led = [v.cell for v in self.reachable(state, self.whole(state, expr)) if isinstance(v, mem.Ref)]
            if isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
                led += self.cells(state, expr)
            self.lend(state, led)

    def _may_ask_the_device(self, command: ir.Expr) -> bool:
        """Whether a program that a command starts may be one that asks the device: unless all that it starts are known
        not to; where it is computed, unless the program has strings that begin with such, and none that names another.
        """
        if (text := literal(command)) is not None:
            return not stays_off_the_device(text)
        parts = [module.commands for module in self.program.modules]
        return any(asking for _, asking in parts) or not any(harmless for harmless, _ in parts)

    def _bytes_come_in(self, call: ir.Call, args: Arguments, state: State) -> None:
        """A host function stores what it reads from text, a file or another process."""
        for expr in (e for role in ("hw", "hrw", "out") for e in args.named.get(role, ())):
            values = self.values(state, expr)
            places = [cell for value in values if (cell := mem.at(value, "0")) is not None]
            refers = isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref)
            if "::" not in call.callee and "operator" not in call.callee and self.type_of(expr).endswith("*"):
                refers = False  # a function of C takes no references
            self.written_as_bytes(state, [*places, *(self.cells(state, expr) if refers else ())])
            if not refers and not isinstance(expr, ir.Addr):
                continue
            place = expr.base if isinstance(expr, ir.Addr) else expr
            state.env.write(self.cells(state, place) * 2, self.as_address(place, frozenset({mem.OTHER})) - {mem.OTHER})

    # -- operations --------------------------------------------------------------------------------------------------

    # -- memory ------------------------------------------------------------------------------------------------------

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
        if old.effect is Effect.FREE:
            self.may_observe(call, state)
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

    # -- copies and work ---------------------------------------------------------------------------------------------

    def kinds(self, values: Values) -> set[str]:
        """The kinds of memory that pointers lead to: `registered` is memory of the host that may be pinned, `external`
        any of which nothing is known.
        """
        found: set[str] = set()
        for value in values:
            bits = self.mask([value])
            for n in numbers(bits & self.shared_bit or bits):
                memory = self.outcome.objects[n].memory
                if memory == "host" and (self.pins_unknown or self.pinned >> n & 1):
                    memory = "registered"
                found.add(memory if memory != "host" or self.has_own_elements(value) else "external")
            if value is mem.OTHER:
                found.add("external")
        return found or {"external"}

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
            if (either or direction.startswith("cudaMemcpyHost")) and not self._is_followed(args.reads):
                reads |= self.any_of_the_host(state)
            if (either or direction.endswith("ToHost")) and not self._is_followed(args.writes):
                writes |= self.any_of_the_host(state)
        if from_host and sources == {"host"}:  # pageable memory is staged before the call returns
            reads = 0
        if api.sync and from_host:  # the copy starts when the blocking streams are idle, and the host waits for that
            self.host_waits_for(streams, state, where)
        op = self.operation("copy", call, f"`{call.callee}`", state)
        self.issue(op, streams, state, where, call.span, reads, writes)
        if to_host and (api.sync or targets == {"host"}):
            self.host_waits_for(streams, state, where)
        elif to_host or (api.sync and from_host and not sources & _PAGEABLE):
            if api.sync:
                self.host_waits_for(streams, state, where)
            elif targets & _PAGEABLE:
                self._may_wait(streams, state, where)
        elif api.sync:
            self._may_wait(streams, state, where)
        for role in ("w", "rw"):
            for expr in args.named.get(role, ()):
                self.overwritten(state, self.cells(state, ir.Deref(expr)), array=True)
        self._copied_with(args, call, state)
        return state

    def _is_followed(self, values: Values) -> bool:
        """Whether an address of a copy is known, or is that of memory that only the device has."""
        rest = values - {v for v in values if isinstance(v, mem.Ptr) and v.object != mem.EXTERNAL}
        return bool(values) and (not rest or self.is_resolved(rest))

    def _copied_with(self, args: Arguments, call: ir.Call, state: State) -> None:
        """Pointers are copied with the memory that holds them."""
        held = mem.NOTHING.union(*(state.env.content(v) for v in args.reads))
        if held:
            if mem.leading(held):
                self._copies_bytes(e for role in ("r", "rw") for e in args.named.get(role, ()))
            for value in args.writes:
                cell = mem.at(value, paths.ANY)
                if cell is not None:
                    self.store(state, [cell], held, call.span)

    def _copies_bytes(self, sources: Iterable[ir.Expr]) -> None:
        """What may hold addresses is copied, and is not known to be numbers by its type: through the address that comes
        out of the bytes, an object may be used as one of any class.
        """
        for source in sources:
            while isinstance(source, ir.Offset):
                source = source.base
            if not holds_numbers(source, self.frame.function):
                self.puns.open()

    def _may_wait(self, streams: frozenset[Stream], state: State, where: In) -> None:
        for s in streams:
            self.await_(HOST, s, state, where, certain=False)

    def _work(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        if api.unset is not None and not self._is_unset(args.stream, api.unset, state):
            return self._external(call, api, args, state, where)
        streams = self.streams_for(api, args, state)
        if api.on == "none" and args.stream is None and args.one("handle") is None and not (args.reads or args.writes):
            return state
        if self._without_waits(api) and not any(s.kind is StreamKind.NON_BLOCKING for s in streams):
            streams = self._streams_of_a_policy(call, state)
        op = self.operation("work", call, f"`{call.callee}`", state)
        reads, writes = self.mask(args.reads), self.mask(args.writes)
        self.used_from(reads | writes, state, call.span)
        if call.callee.startswith("cu") and "::" not in call.callee:
            given = (e for role in ("r", "w", "rw") for e in args.named.get(role, ()))
            for expr in given:
                writes |= self.anywhere(state, self.whole(state, expr)) if not isinstance(expr, ir.Const) else 0
        for expr in args.named.get("use", ()):
            held = self.whole(state, expr)
            if self._seems_pointer(expr, held):
                writes |= self.anywhere(state, held)
        prints = False
        if "args" in args.named and "kernel" not in args.named:  # of a module that is loaded
            if self._finds_variables:
                reads, writes = reads | 1, writes | 1
            prints = op.says = op.times = not self.in_python
        for expr in args.named.get("kernel", ()):
            kernels = self._kernels_in(expr, state)
            uses, stores, prints = self._used_by(kernels, state)
            op.says = not kernels or any(kernel.prints for kernel in kernels)
            op.times = not kernels or any(kernel.times for kernel in kernels)
            reads, writes = reads | uses, writes | stores
        if api.templates and (functions := self.program.function_objects.of(self._types_given(args))):
            uses, stores, prints = self._used_by(functions, state)
            op.says = any(function.prints for function in functions)
            op.times = any(function.times for function in functions)
            reads, writes = reads | uses, writes | stores
            self._stored_in_variables(functions, mem.leading(args.reads), state)
        self.issue(op, streams, state, where, call.span, reads, writes, prints, certain=not api.idle)
        if api.templates:
            self._copied_with(args, call, state)
        self._library_waits(api, streams, state, where)
        if api.waits is Waits.OWN and not self._without_waits(api):  # whichever stream it ran on
            state.orders.finish(1 << op.number, where)
        return state

    def _types_given(self, args: Arguments) -> Iterator[str]:
        """The types of what a template gets as memory or to call, as far as its functions may run on the device: empty
        for one that is not known.
        """
        for role in ("r", "w", "rw", "op", "params", "args"):
            for expr in args.named.get(role, ()):
                yield from self._types_of(expr, frozenset())

    def _types_of(self, expr: ir.Expr, seen: frozenset[str]) -> Iterator[str]:
        """The type of an expression, or the types of what a library has made it of."""
        while isinstance(expr, ir.Offset | ir.Addr):
            expr = expr.base
        if isinstance(expr, ir.Const) or self.is_number(expr):
            return
        kind = self.type_of(expr)
        if kind and kind != "auto":
            yield kind
            return
        made = self.frame.function.kept("made by calls", _made_by_calls)
        name = expr.name if isinstance(expr, ir.Var) else ""
        makers = made.get(name, []) if name not in seen else []
        if not makers:
            yield ""
        for call in makers:
            if call.receiver is None:
                seen_here = self.program.resolve(call.callee, len(call.args), call.span.path)
                yield "" if seen_here else f"{call.callee}<{call.template_args}>"
            elif not self._has_known_type(call):
                yield ""
            for given in call.given:
                yield from self._types_of(given, seen | {name})

    def _is_unset(self, stream: ir.Expr | None, field: str, state: State) -> bool:
        """Whether a field of the struct that `stream` is a field of is null for certain: of a local variable, in which
        nothing but null was stored, there or as a whole.
        """
        if not isinstance(stream, ir.Field):
            return False
        cells = self.cells(state, ir.Field(stream.base, field))
        stored = [
            state.env[root][path[:n]]
            for root, path in cells
            for n in range(len(path) + 1)
            if path[:n] in state.env[root]
        ]
        local = bool(cells) and all(root[0] == "local" and not self.puns.is_known(root) for root, _ in cells)
        return local and all(values == {mem.ZERO} for values in stored)

    def _seems_pointer(self, expr: ir.Expr, held: Values) -> bool:
        """Whether an argument may be a pointer, by its type; where that is not known, unless it is a number."""
        while isinstance(expr, ir.Offset):
            expr = expr.base
        kind = self.type_of(expr)
        return "*" in kind or (not kind and not held and not isinstance(expr, ir.Const))

    def _without_waits(self, api: Api) -> bool:
        """Whether an algorithm of Thrust may be given a policy without waits: the program names one somewhere."""
        thrust = api.source.startswith("Thrust")
        return thrust and self.program.kept("without waits", lambda: _names_nosync(self.program))

    def _streams_of_a_policy(self, call: ir.Call, state: State) -> frozenset[Stream]:
        """The streams of the policy that an algorithm is given, where `par.on(stream)` has made that in sight."""
        policies = self.values(state, call.args[0]) if call.args else mem.NOTHING
        if not policies or not all(isinstance(policy, mem.Handle) for policy in policies):
            return frozenset({UNKNOWN_STREAM})
        return self.streams_of_handles(policies, state)

    def _library_waits(self, api: Api, streams: frozenset[Stream], state: State, where: In) -> None:
        if api.waits is Waits.OWN and self._without_waits(api):
            self._may_wait(streams, state, where)
        elif api.waits is Waits.OWN:
            self.host_waits_for(streams, state, where)
        elif api.waits is Waits.DEVICE:
            state.orders.finish(self.work_of(state.device), where)
        elif api.waits is Waits.MAYBE:
            self._may_wait(streams, state, where)

    def launch(self, launch: ir.Launch, state: State) -> State | None:
        self.used(state, launch.stream)
        streams = self.streams(state, launch.stream)
        given = 0
        if launch.pointer is None:
            kernels = self.program.kernels_named(launch.kernel)
        else:
            kernels = self._kernels_in(launch.pointer, state)
        reads = writes = 0
        for n, arg in enumerate(launch.args):
            values = self.reachable(state, self.whole(state, arg))
            direct = self.mask(self.values(state, arg))
            given |= direct
            deep = self.mask(values) & ~direct  # reached through memory or a struct: how is not known
            known = [k for k in kernels if n < len(k.params)]
            if known and all("*" in k.params[n].type for k in known):
                deep |= self.anywhere(state, self.values(state, arg))
            elif any(self.classes.holds_pointers(k.params[n].type) for k in known):
                deep |= self.anywhere(state, values)
            hidden = any("*" not in k.params[n].type and not k.params[n].by_reference for k in known)  # in a number
            if not known or hidden or any(n in k.reads for k in known):
                reads |= direct
            if not known or hidden or any(n in k.writes for k in known):
                writes |= direct
            reads |= deep
            writes |= deep
        self.used_from(given, state, launch.span)
        self._stored_by(launch, kernels, state)
        uses, stores, prints = self._used_by(kernels, state)
        reads, writes = reads | uses, writes | stores
        op = self.operation("launch", launch, f"`{launch.kernel}<<<…>>>`", state)
        op.says = not kernels or any(kernel.prints for kernel in kernels)
        op.times = not kernels or any(kernel.times for kernel in kernels)
        self.issue(op, streams, state, In.BOTH, launch.span, reads, writes, prints)
        return state

    def _kernels_in(self, expr: ir.Expr, state: State) -> list[ir.Kernel]:
        """The kernels that an address may be of, none if it may be another one."""
        pointers = self.values(state, expr)
        names = [v.name for v in pointers if isinstance(v, mem.Function)]
        found = [self.program.kernels.get(last(name), []) for name in names]
        known = len(found) == len(pointers) and all(found)
        return [kernel for kernels in found for kernel in kernels] if known else []

    def _used_by(self, kernels: Sequence[ir.Kernel], state: State) -> tuple[Bits, Bits, bool]:
        """What kernels read and write beside what they are given, and whether the user sees something of that. Without
        a kernel it is one that is not known.
        """
        reads = writes = 0
        prints = not kernels
        for kernel in kernels:
            prints |= kernel.prints or kernel.traps
            for names, write in ((kernel.globals_read, False), (kernel.globals_written, True)):
                for variable in self._variables(kernel, names):
                    bits = 1 << self.symbol(variable).number if variable is not None else 1
                    if variable is not None:
                        bits |= self.mask(self.reachable(state, frozenset({mem.Ptr(self.symbol(variable).number)})))
                    reads |= bits
                    writes |= bits if write else 0
        if not kernels or any(kernel.may_be_any for kernel in kernels):
            prints = True
            writes |= sum(1 << self.symbol(g).number for g in self.program.globals.values() if g.space != "host")
            writes |= int(self._finds_variables)  # those of modules
        return reads, writes, prints

    @property
    def _finds_variables(self) -> bool:
        """Whether the program asks for the address of a variable of a module that is loaded."""

        def found() -> bool:
            calls = (s for f in self.program.functions() for s in f.statements if isinstance(s, ir.Call))
            rows = (self.tables.lookup(call.callee, len(call.args)) for call in calls if call.receiver is None)
            return any(row is not None and "found" in row.roles for row in rows)

        return self.program.kept("finds variables", found)

    def _variables(self, kernel: ir.Kernel, names: Iterable[str]) -> Iterator[ir.GlobalVar | None]:
        """The variables of the device of these names, None for one that is not seen; and those that a file which
        includes that of the kernel may have in front of it.
        """
        for name in names:
            yield self.program.globals.get(name.removeprefix("::"))
        around = self.scopes.of_device_around(kernel.span.path)
        for name in sorted(around.keys() if kernel.calls_unknown else kernel.names & around.keys()):
            yield from around[name]

    def _stored_by(self, launch: ir.Launch, kernels: Sequence[ir.Kernel], state: State) -> None:
        """A kernel may store the pointers that it is given in memory that holds pointers, or that it stores them in as
        numbers.
        """
        given = mem.leading(mem.NOTHING.union(*(self.whole(state, arg) for arg in launch.args)))
        for kernel in kernels if given else ():
            holders: list[mem.Value] = []
            for n, arg in enumerate(launch.args):
                if n not in kernel.writes or n >= len(kernel.params):
                    continue
                kind = kernel.params[n].type
                if kernel.keeps or self.classes.leads_to_pointers(kind):
                    holders += self.values(state, arg)
                for path, values in self.parts(state, arg).items():  # of a struct that is passed by value
                    member = self.classes.type_of_part(kind, [name for step, name in path if step == "field"])
                    unknown = not member and len(path) > 1
                    if kernel.keeps or unknown or self.classes.leads_to_pointers(member):
                        holders += values
            self._stored_in(holders, given, state)
        self._stored_in_variables(kernels, given, state)

    def _stored_in_variables(self, kernels: Sequence[ir.Kernel], given: Values, state: State) -> None:
        """Functions may store the pointers that they have in variables of the device."""
        for kernel in kernels if given else ():
            variables = (one for one in self._variables(kernel, kernel.globals_written) if one is not None)
            kept = (v for v in variables if kernel.keeps or self.classes.leads_to_pointers(f"{v.type} *"))
            self._stored_in([mem.Ptr(self.symbol(variable).number) for variable in kept], given, state)

    def _stored_in(self, holders: Iterable[mem.Value], given: Values, state: State) -> None:
        for cell in [c for value in holders if (c := mem.at(value, paths.ANY)) is not None]:
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
        device, rounds = self.device_of_streams(state), self.rounds
        stream = Stream(self._fresh_name(call), kind, bool(rounds), device, rounds)
        cells = [cell for expr in args.named.get("stream_out", ()) for cell in self.cells(state, ir.Deref(expr))]
        each = self.reach.in_threads(call) and not self.lints  # what one thread does wrong by itself is wrong
        if where is not In.REWRITTEN and (each or self._is_another(stream, mem.StreamValue(stream), cells, state)):
            stream = Stream(stream.name + "+", StreamKind.UNKNOWN, True, device)
            self.several[stream.name] = kind
        self.outcome.blocking |= kind is StreamKind.BLOCKING
        state.destroyed -= {stream}
        state.dropped -= {stream}
        state.made(stream, self.of_other_rounds(stream))
        self.store(state, cells, frozenset({mem.StreamValue(stream)}), call.span)
        return state

    def _is_another(self, x: Stream | Event, value: mem.Value, cells: Collection[mem.Cell], state: State) -> bool:
        """Whether what is created here is not the only one of its name: an earlier one may be there still, and somebody
        holds it.
        """
        return not x.summary and x in state.alive and _is_held(value, state, cells)

    def _stream_destroy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        streams = self.streams(state, args.stream)
        for s in streams:
            calls = self.outcome.destroys.setdefault(s, [])
            if call not in calls and args.stream is not None and may_be_handle(self.type_of(args.stream)):
                calls.append(call)
        if self._ended_by_reset(args.stream, streams, state) and where is not In.ORIGINAL:
            op = self.operation("destroy", call, "a stream", state)
            self.wrong(Wrong.DESTROYED_AFTER_RESET, op, Point(call.span, f"`{call.callee}`", call), streams=streams)
        if where is not In.ORIGINAL:
            may_be = streams.union(*map(state.orders.may_be, streams))
            if UNKNOWN_STREAM in streams:
                may_be |= {s for s in state.orders.pending if isinstance(s, Stream)}
            state.destroyed |= {s for s in may_be if not is_default(s) and s is not UNKNOWN_STREAM}
            state.alive -= streams if self.one_stream(streams) else frozenset()
            self._give_back(args.stream, state)
        return state

    def _events(self, expr: ir.Expr | None, state: State) -> tuple[list[Event], bool]:
        """The events that an argument may be, and whether it is one of them for certain. A null handle, and one that is
        not known, are no event of them.
        """
        values = self.not_parts(self.values(state, expr)) if expr is not None else mem.NOTHING
        events = [v.event for v in values if isinstance(v, mem.EventValue)]
        certain = len(values) == len(events) == 1 and all(map(self.is_one, events))
        if certain and expr is not None and state.env.owners and not self._of_its_object(expr, state):
            certain = state.env.dropped_events().isdisjoint(events)
        return events, certain

    def _of_its_object(self, expr: ir.Expr, state: State) -> bool:
        """Whether a handle is read of the object of Python that owns it: then that is there."""
        cells = list(self.cells(state, expr)) if isinstance(expr, ir.Field) else []
        return bool(cells) and all(map(state.env.is_owned_at, cells))

    def _may_be_others(self, expr: ir.Expr | None, state: State) -> bool:
        """Whether an argument may be an event of which nothing is known."""
        values = self.values(state, expr) if expr is not None else mem.NOTHING
        return not values - {mem.ZERO} or any(not isinstance(v, mem.EventValue) for v in values - {mem.ZERO})

    def _event_create(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        brought = state.device if where is In.REWRITTEN else ""
        event = Event(self._fresh_name(call), bool(self.rounds), brought, self.rounds)
        cells = [c for expr in args.named.get("event_out", ()) for c in self.cells(state, ir.Deref(expr))]
        again = where is In.REWRITTEN and event in state.alive
        if again or self._is_another(event, mem.EventValue(event), cells, state):
            event = Event(event.name + "+", True, brought)
        state.made(event, self.of_other_rounds(event))
        self.store(state, cells, frozenset({mem.EventValue(event)}), call.span)
        return state

    def _ended_by_reset(self, expr: ir.Expr | None, meant: Iterable[Stream | Event], state: State) -> bool:
        """Whether a reset may have destroyed a stream or an event before: it may be one from before that."""
        if state.since_reset is None:
            return False
        known = expr is not None and mem.UNKNOWN.isdisjoint(self.values(state, expr))
        return not (known and meant and state.since_reset.issuperset(meant))

    def _event_destroy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events, certain = self._events(args.one("event"), state)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
        if certain:
            state.alive -= set(events)
        if self._ended_by_reset(args.one("event"), events, state) and where is not In.ORIGINAL:
            op = self.operation("destroy", call, "an event", state)
            self.wrong(Wrong.DESTROYED_AFTER_RESET, op, Point(call.span, f"`{call.callee}`", call))
        return state

    def _is_there(self, events: list[Event], call: ir.Call, state: State) -> None:
        """What Q alone does with an event needs one that is created, and not destroyed since: an object may have been
        copied with its event, or made by a constructor that is not seen. Under capture it would belong to the graph.
        """
        if not events or any(e.brought and e not in state.alive for e in events):
            self._not_understood(call, state, "may be given an event that is not there")
        if state.capturing:
            self._not_understood(call, state, "may run while a stream is captured")

    def _record(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        (events, certain), streams = self._events(args.one("event"), state), self.streams(state, args.stream)
        orders = state.orders
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
            here = self.device_of_streams(state)
            if any(e.brought not in ("", state.device) for e in events) or any(s.device != here for s in streams):
                self._not_understood(call, state, "may record an event of another device")
        if self.asks_for_events and where is In.BOTH:  # it takes its time on an idle stream too (docs/FACTS.md)
            op = self.operation("record", call, f"`{call.callee}`", state)
            self.issue(op, streams, state, where, call.span, 0, 0)
        for s in streams:
            orders.known(s)
            orders.enter(s, where)
        for event in events:
            if where is In.ORIGINAL:
                self._not_understood(call, state)
            elif certain and self.one_stream(streams):
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
            orders.ran(s, where, self.one_stream(streams))
        return state

    def _not_understood(self, call: ir.Call, state: State, text: str = "is taken away") -> None:
        self.wrong(Wrong.NOT_UNDERSTOOD, None, Point(call.span, f"`{call.callee}` {text}", call))

    def _wait(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        (events, certain), streams = self._events(args.one("event"), state), self.streams(state, args.stream)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
        for s in streams:
            if self._may_be_others(args.one("event"), state):
                state.orders.after_anything(s)
                state.apart = 0
            for event in events:
                self.await_(s, event, state, where, certain and self.one_stream(streams))
        return state

    def _sync_stream(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        streams = self.streams(state, args.stream)
        if state.env.owners and args.stream is not None and not self._of_its_object(args.stream, state):
            streams -= state.ended - state.destroyed  # the handle may be that of another one by now
            state.may_wait()
        self.host_waits_for(streams, state, where)
        return state

    def _sync_event(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        events, certain = self._events(args.one("event"), state)
        if where is In.REWRITTEN:
            self._is_there(events, call, state)
        if self._may_be_others(args.one("event"), state):
            state.orders.after_anything(HOST)
            state.may_wait()
        for event in events:
            self.await_(HOST, event, state, where, certain)
        return state

    def _sync_device(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        expr = args.one("device")
        device = state.device if expr is None else self._number(state, expr, call) or "?"
        if device == state.device or device in self._devices:
            state.orders.finish(self.work_of(device), where)
        return state

    def _query(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """The program learns whether something has finished, or how long it took: like a clock, for that observer."""
        state.may_wait()  # it may ask until it has
        observers: list[Observer] = list(self.streams(state, args.stream)) if args.stream is not None else []
        for expr in args.named.get("event", ()):
            observers += self._events(expr, state)[0]
        point = Point(call.span, f"the program asks `{call.callee}`", call)
        orders = state.orders
        for x in observers:
            # what it answers for: that the host has waited for in P and not in Q
            inside = orders.lost.get(HOST, 0) & ~orders.pending[x] if x in orders.pending else 0
            for number in numbers((orders.lost.get(x, 0) | inside) & ~self.told):
                op = self.outcome.operations[number]
                self.wrong(Wrong.CLOCK, op, point, via=tuple(op.via))
        return state

    # -- handles, devices --------------------------------------------------------------------------------------------

    def _handle_create(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        handle = mem.Handle(self._handle_name(call))
        cells = [cell for expr in args.named.get("handle_out", ()) for cell in self.cells(state, ir.Deref(expr))]
        made: Values = frozenset(mem.StreamValue(s) for s in self.streams(state, args.stream))
        before = state.env.read(_stream_of(handle))
        if before and _is_held(handle, state, cells):
            made |= before | _SEVERAL
        self.store(state, cells, frozenset({handle}), call.span)
        state.env.write([_stream_of(handle)], made)
        return state

    def _handles(self, args: Arguments, state: State) -> tuple[list[mem.Handle], bool]:
        """The handles that an argument may be, and whether it is that one for certain."""
        expr = args.one("handle")
        values = self.values(state, expr) if expr is not None else mem.NOTHING
        handles = [v for v in values if isinstance(v, mem.Handle)]
        return handles, len(values) == len(handles) == 1

    def _handle_set_stream(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        handles, certain = self._handles(args, state)
        values: Values = frozenset(mem.StreamValue(s) for s in self.streams(state, args.stream))
        for handle in handles:
            before = state.env.read(_stream_of(handle))
            weak = not certain or before >= _SEVERAL
            state.env.write([_stream_of(handle)], values | before if weak else values)
        return state

    def _handle_destroy(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        handles, certain = self._handles(args, state)
        if certain and not state.env.read(_stream_of(handles[0])) >= _SEVERAL:
            state.env.write([_stream_of(handles[0])], mem.NOTHING)
        return state

    def _set_device(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        expr = args.one("device")
        # without an argument it is a helper that picks one device for the whole program
        device = f"the device of `{call.callee}`" if expr is None else self._number(state, expr, call)
        if device is None:
            state.device = self._device_of_a_round(state, call)
            self._devices |= {state.device, "?"}
            return state
        if self.rounds and expr is not None and not device.isdigit():
            self.many.setdefault(device, self.rounds)
        if not state.live and not state.orders.pending[HOST] and self._devices == {"0"}:
            self._devices = {device}  # the program picks its device before it does anything
            if not self.placed and device not in self.many:
                self.home = device
        self._devices.add(device)
        state.device = device
        return state

    def _device_of_a_round(self, state: State, call: ir.Call) -> str:
        """A device that each round of a loop picks anew: this one, while it lasts. What is left of an earlier one is of
        a device that is not known, and so is the new one where a stream is left.
        """
        name = self.name_of(OF_A_ROUND, call)
        orders = state.orders
        streams = [s for s in orders.pending if isinstance(s, Stream) and s.device == name]
        if self.rounds or any(not is_default(s) and s not in state.destroyed for s in streams):
            return "?"
        orders.forget(name)
        for op in self.operations_in(orders.pending[HOST]):
            if op.device == name:
                op.device = "?"
        for number in numbers(state.live):
            if self.outcome.objects[number].device == name:
                self.outcome.objects[number].device = "?"
        state.alive = frozenset(x for x in state.alive if not isinstance(x, Event) or x.brought != name)
        return name

    def _number(self, state: State, expr: ir.Expr, call: ir.Call) -> str | None:
        """The name of a number, the same one only where the number is the same; None where that is not known."""
        values = self.values(state, expr)
        (value,) = values if len(values) == 1 else (None,)
        if isinstance(value, mem.Number):
            return value.text
        if self.loops > len(self.family):
            return None
        name = self.name_of("the number", call)
        self.named(state, self.cells(state, expr), values, name)
        return name

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
        for number in numbers(state.live & ~1):
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
        if where is In.BOTH and (api.effect is not Effect.OUTPUT or _shows(api, args)):
            point = Point(call.span, f"`{call.callee}` prints", call)
            self.host_observes(state, Wrong.OUTPUT, point)
            self.faults_are_reported(state, point)
        return state

    def _clock(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        if not any(map(makes_the_file, args.named.get("mode", ()))):
            what = "asks for what others may have done to files" if api.asks else "reads a clock"
            point = Point(call.span, f"`{call.callee}` {what}", call)
            self.host_observes(state, Wrong.CLOCK, point, everything=True)
        elif _shows(api, args):
            self._output(call, api, args, state, where)
        return state

    def _read(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """What a file tells may be a time: how long the process has run, when something was written."""
        if self.reach.reads_times:
            point = Point(call.span, f"`{call.callee}` reads a file that may tell the time", call)
            self.host_observes(state, Wrong.CLOCK, point, everything=True)
        return state

    def _exit(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self.ends(state, Point(call.span, f"`{call.callee}` ends the program", call))
        return None

    def _capture(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        state.capturing = api.effect is Effect.CAPTURE_BEGIN
        return state

    def _graph_launch(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """A graph touches what was captured, and what its nodes were given. Functions that these hold may be those of
        its host nodes, which run as `_host_func` says.
        """
        streams = self.streams_for(api, args, state)
        graphs = args.named.get("graph", ())
        values = mem.NOTHING.union(*(self.reachable(state, self.values(state, e)) for e in graphs))
        bits = self.mask(values) | state.captured | 1
        functions = frozenset(
            v for v in values if isinstance(v, mem.Function) and not self.program.kernels_named(v.name)
        )
        seen = self._observed_by(functions) if functions else set[Observation]()
        if functions:
            state.may_wait()
            self._stores_of_others(call, graphs, state)
            bits |= self._reached_by_host_functions(state)
        op = self.operation("graph", call, f"`{call.callee}`", state)
        kernels = [kernel for named in self.program.kernels.values() for kernel in named]
        op.says = self.captured_says or Observation.OUTPUT in seen or any(kernel.prints for kernel in kernels)
        op.times = self.captured_times or Observation.CLOCK in seen or any(kernel.times for kernel in kernels)
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
        """A host function runs on the stream: it may touch what it is given, globals and what they lead to, and print.
        It may make no CUDA call, and the host cannot touch memory of the device alone. What it prints stands behind
        what ran before it on its stream, and so does the time that it tells; one that is not seen may do both.
        """
        state.may_wait()  # it may tell the host
        self._stores_of_others(call, [*args.named.get("fn", ()), *args.named.get("params", ())], state)
        bits = self.mask(args.reads | args.writes) | self._reached_by_host_functions(state)
        op = self.operation("host function", call, f"the host function of `{call.callee}`", state)
        fn = mem.NOTHING.union(*(self.values(state, expr) for expr in args.named.get("fn", ())))
        seen = self._observed_by(fn)
        op.says = Observation.OUTPUT in seen
        op.times = Observation.CLOCK in seen
        self.issue(op, self.streams_for(api, args, state), state, where, call.span, bits, bits, prints=True)
        return state

    def _reached_by_host_functions(self, state: State) -> Bits:
        """The memory that any function of the host finds: its variables at namespace scope, and what they lead to."""
        held = self.reachable(state, held_at_namespace_scope(state))
        bits = (self.mask(held) & ~self.on_device(held, FOR_THE_DEVICE)) | 1
        for name, variable in self.program.globals.items():
            if variable.space == "host":
                bits |= 1 << self.variable(("global", "", name)).number
        for (name, path), variable in self.scopes.internal.items():
            if variable.space == "host":
                paths = (path, *self.scopes.copies.get(name, ()))
                bits |= sum(1 << self.variable(("global", p, name)).number for p in paths)
        return bits

    def _stores_of_others(self, call: ir.Call, given: Iterable[ir.Expr], state: State) -> None:
        """A function runs in another host thread, and may store in what it is given and in variables that others see.
        Where that can matter, it is to the host what another host thread is; one that is not seen may store anything.
        """
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, expr)) for expr in given))
        functions = self.functions_among(values)
        places = [v.cell for v in values if isinstance(v, mem.Ref)]
        if not functions:
            self.overwritten(state, places, array=True)
        if not (any(map(self.slicer.stores, functions)) if functions else places):
            return
        state.threads = True
        self._others_look(call, f"`{call.callee}` has a function run that stores", state)
        self.run_in_any_order(functions, values, call.span, state)

    def _observed_by(self, values: Values) -> set[Observation]:
        """What functions may observe that somebody else runs: anything where they are not known."""
        found = [self.program.resolve(v.name, 0, v.path) for v in values if isinstance(v, mem.Function)]
        if len(found) < len(values) or not found or not all(found):
            return set(Observation)
        return {kind for functions in found for f in functions for kind in self.classes.observations(f)}

    def _register(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """Whichever part of an object is registered, the object may be pinned from here on: which part a later copy
        works on is not known, and it may be unregistered again. Of an address that is not followed, nobody knows what
        lies there.
        """
        for role in ("hr", "hw", "hrw"):
            for expr in args.named.get(role, ()):
                values = self.values(state, expr)
                self.may_pin(values)
                self.pins_unknown |= not values
        return state

    def _free_memory(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        setting = args.one("setting")
        if not isinstance(setting, ir.Const) or _SETTING.fullmatch(setting.text) is None:
            self.asks_for_free_memory(call, state, where)
        return state

    def _at_exit(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """The function runs when the process ends, wherever that is from here on (C17, 7.22.4.2; Python's `atexit`)."""
        self.forget_chosen(state)  # by then the names may stand for others
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in call.given))
        if not self._only_host_work(values):
            return self._external(call, api, args, state, where)
        functions = self.functions_among(values)
        for function in functions:
            _, given = self.at_exit.get(id(function), (function, mem.UNKNOWN))
            self.at_exit[id(function)] = function, given | values
        return state

    def _any_time(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """The function runs at any moment from here on: who looks at what the host does is as another host thread, but
        where nobody can tell when it ran (`cudafix.ordering.facts.any_time`).
        """
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in call.given))
        if "fn" in args.named and all(_is_no_function(v, api, self.in_python) for v in values):
            return state
        any_time = AnyTime.of(self.program, self.tables)
        functions = self.functions_among(values)
        known = self._only_host_work(values)
        if known and not api.timed and not any_time.by_time and all(map(any_time.leaves_no_trace, functions)):
            return state
        state.threads = True
        self._others_look(call, f"`{call.callee}` has a function run at any time", state)
        if not known:
            return self._external(call, api, args, state, where)
        self.run_in_any_order(functions, values, call.span, state)
        return state

    def _external(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """Named, but out of reach: other threads, other processes, other libraries."""
        state.may_wait()
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in call.given))
        self.unseen_code_stores(values, state)
        of_c = _is_of_c(call, api)
        if not of_c:
            self.references_change(call, state)
        self._give_away(values, state)
        if api.why is None or "thread" not in api.why:
            self._may_be_pinned(call.given, values, state)
        works = self.hands_out(values, () if of_c else call.given, call, state, library=api.library)
        works = works or api.works_elsewhere or api.unset is not None
        within = Within(works=True) if works else None
        threads = api.why is not None and "thread" in api.why
        name = "foreign_pointer" if call.callee.startswith("ctypes.") else "external_library"
        name = "several_host_threads" if threads else name
        bits = self.mask(values)
        if threads:  # a thread sees the caller's variables and all globals
            if self._only_host_work(values):
                state, _ = self._called_back(call, api, state)  # it may have stored what it stores
                state.threads = True
                self._others_look(call, f"`{call.callee}` starts another host thread", state)
                return state
            if any(isinstance(v, mem.Function) for v in values):
                self.works_elsewhere = True
                self.pins_unknown |= self.registers
                bits |= self._visible(state)
            elif state.threads and not self.works_elsewhere:
                joins = call.receiver is not None and not call.args  # a thread of this program, if nobody calls it
                if not bits or (joins and self._callers_work is None):
                    return state  # it waits for a thread that has only worked on the host
        functions = self.functions_among(values)
        if any(self.reach.works_on_device(f) for f in functions):
            bits |= self._all_that_is_held(state)
        point = Point(call.span, f"`{call.callee}` runs, which is out of reach", call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, everything=True)
        self.faults_are_reported(state, point)
        self.escaped |= bits & ~1
        self.obstacle(bits, name, f"is reached by `{call.callee}`: {api.why}", call.span)
        self._foreign_work(call, f"`{call.callee}`", bits, state, within)
        return state

    def _message(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        """Another process gets or sends memory: host memory goes and comes like output, device memory is out of
        reach.
        """
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in call.given))
        bits = self.mask(values)
        if self.on_device(values) or bits & 1 or values & mem.UNKNOWN:
            return self._external(call, api, args, state, where)
        point = Point(call.span, f"`{call.callee}` passes a message", call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, reads=bits, writes=bits)
        self.overwritten(state, [v.cell for v in values if isinstance(v, mem.Ref)], array=True)
        return self._output(call, api, args, state, where)

    def _only_host_work(self, values: Values) -> bool:
        """Whether the functions that a thread is given are known, and none of them works on the device or calls what
        is not known.
        """
        functions = [self.program.resolve(v.name, 0, v.path) for v in values if isinstance(v, mem.Function)]
        known = all(functions) and bool(functions)
        return known and all(self.reach.stays_on_host(f) for found in functions for f in found)

    def _has_known_type(self, call: ir.Call) -> bool:
        """Whether the object of a call is of a type that the tables know, not one that only has such a method."""
        kind = self.type_of(call.receiver) if call.receiver is not None else ""
        return bool(kind) and self.tables.method(kind, call.callee, len(call.args)) is not None


def _asks_for_events(program: Program, tables: Tables) -> bool:
    """Whether a program asks whether events or streams are done, or how long something took, by the name of a function
    that tells it.
    """
    calls = (stmt for function in program.functions() for stmt in function.statements if isinstance(stmt, ir.Call))
    found = (tables.lookup(call.callee, len(call.args)) or tables.any_form(last(call.callee)) for call in calls)
    return any(api is not None and api.effect in (Effect.QUERY, Effect.ELAPSED) for api in found)


def _shows(api: Api, args: Arguments) -> bool:
    """Whether others see something of a call: of one that opens a file, if it may make, cut off or write that."""
    mode = args.one("mode")
    if api.effect is Effect.CLOCK:
        return mode is not None and not opens_to_read(mode)
    return api.effect is Effect.OUTPUT and not (mode is not None and opens_to_read(mode))


def _is_of_c(call: ir.Call, api: Api) -> bool:
    """Whether a call is one of a function of C: that names no class and knows no references, so it calls what it is
    given, and no methods, and stores by the addresses that it gets (C17, 6.5.2.2 p4; C++17, 10.5 [dcl.link]).
    """
    free = call.receiver is None and "::" not in call.callee and not call.template_args
    return free and not api.source.startswith("C++")


def _is_no_function(value: mem.Value, api: Api, in_python: bool) -> bool:
    """Whether what is registered to run is certainly none of the program, nor one that is not seen: `SIG_IGN`, null, or
    what was registered before; in Python also what a table has, which does nothing with the number of a signal.
    """
    if isinstance(value, mem.Number):
        return _NO_FUNCTION.fullmatch(value.text) is not None
    if in_python:
        return value is mem.OTHER and not api.timed
    return value is mem.OTHER or isinstance(value, mem.Ref)


_NO_FUNCTION = re.compile(r"[0-9]\w*|NULL|nullptr|None|(?:SIG|SA_|CLOCK_)\w*")
"""A number, or a constant of `<signal.h>` or `<time.h>`, by its text."""
_SETTING = re.compile(
    r"(?:.*\W)?(?:cudaMemPoolAttr|CU_MEMPOOL_ATTR_)(?:Reuse|REUSE|ReleaseThreshold$|RELEASE_THRESHOLD$)\w*"
)
"""What the program itself has set for a pool: all other attributes tell of its memory (cuda_runtime_api.h 13.0)."""


_SEVERAL: Values = frozenset({mem.OTHER})
"""Beside the streams of handles that one call has made, of which several may be alive: each may have any of them."""


def _is_held(value: mem.Value, state: State, replaced: Collection[mem.Cell]) -> bool:
    """Whether a handle, stream or event is kept in another place than the one that gets a new one. What is made by
    `new` may be another object each time.
    """
    ones = {value}
    if isinstance(value, mem.StreamValue):  # what was chosen may be one of these
        ones.update(map(mem.StreamValue, state.orders.may_be(value.stream)))
    kept = [(r, path) for r, inner in state.env for path, values in inner.items() if not ones.isdisjoint(values)]
    new = {root for root, path in replaced if root[0] == "memory" or paths.is_summary(path)}
    return any(cell not in replaced or len(replaced) > 1 or cell[0] in new for cell in kept)


def _made_by_calls(function: ir.Function) -> dict[str, list[ir.Call]]:
    """The variables of a function that only calls set, with these."""
    found: dict[str, list[ir.Call]] = {}
    others: set[str] = set()
    for stmt in function.statements:
        if isinstance(stmt, ir.Call) and isinstance(stmt.result, ir.Var):
            found.setdefault(stmt.result.name, []).append(stmt)
        elif isinstance(stmt, ir.Assign):
            others |= {part.name for part in ir.variables(stmt.target) if isinstance(part, ir.Var)}
    return {name: calls for name, calls in found.items() if name not in others}


def _stream_of(handle: mem.Handle) -> mem.Cell:
    return mem.stream_of(handle.name), ()


def _registers(program: Program, tables: Tables) -> frozenset[str]:
    """The files in which host memory is registered."""
    calls = (stmt for function in program.functions() for stmt in function.statements if isinstance(stmt, ir.Call))
    rows = ((call, tables.lookup(call.callee, len(call.args))) for call in calls if call.receiver is None)
    return frozenset(call.span.path for call, api in rows if api is not None and api.effect is Effect.REGISTER)


def _pins_in_allocators(program: Program, tables: Tables) -> bool:
    """Whether containers, and objects that are made by `new`, may lie in pinned or managed memory though their types do
    not say so: the program replaces the global `operator new`, has a class of allocators, or hands memory to the
    polymorphic ones ([replacement.functions], [allocator.requirements], [mem.res]).
    """
    functions = list(program.functions())
    methods = {(f.cls, last(f.name)) for f in functions if f.cls is not None}
    serves = (
        any(f.cls is None and f.name.startswith("operatornew") for f in functions)
        or any((cls, "deallocate") in methods for cls, name in methods if name == "allocate")
        or any(name == "do_allocate" for _, name in methods)
        or any("pmr::" in kind for f in functions for kind in f.types.values())
        or any("pmr::" in variable.type for variable in program.globals.values())
    )
    return serves and any(
        (api := tables.lookup(stmt.callee, len(stmt.args))) is not None
        and (api.effect is Effect.REGISTER or (api.effect is Effect.ALLOC and api.memory in _NOT_PAGEABLE))
        for f in functions
        for stmt in f.statements
        if isinstance(stmt, ir.Call) and stmt.receiver is None
    )


def _names_nosync(program: Program) -> bool:
    for function in program.functions():
        for stmt in function.statements:
            if isinstance(stmt, ir.Call) and "par_nosync" in stmt.callee:
                return True
            if any(isinstance(e, ir.Const) and "par_nosync" in e.text for e in ir.values_in(stmt)):
                return True
    return False
