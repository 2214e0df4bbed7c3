"""Allocations and frees of a library, as they are in P and as they are in Q."""

from __future__ import annotations

from functools import partial

from cudafix import ir
from cudafix.models.api import Api, Waits
from cudafix.ordering.facts.classes import Observation
from cudafix.ordering.facts.trials import trials
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.frames import State
from cudafix.ordering.interpreter.memory import Values
from cudafix.ordering.interpreter.operations import waits_by_itself
from cudafix.ordering.interpreter.program import Object, Operation, Point, Wrong, key_of
from cudafix.ordering.interpreter.roles import Arguments, Roles
from cudafix.ordering.interpreter.state import HOST, Bits, In, Stream, numbers

BLOCKING_MEMORY = frozenset({"device", "managed", "pitched"})  # `cudaFree` of these waits for the device


class Allocations(Roles):
    """The calls that are rewritten, and those that are so already."""

    def _alloc(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        memory = api.memory or "host"
        if memory == "shared":
            flags = str(args.named.get("flags", ""))
            if "MAP_PRIVATE" not in flags or "MAP_ANON" not in flags or "MAP_SHARED" in flags:
                self.result(call, frozenset({mem.Ptr(self.shared().number)}), state)
                return state
            memory = "host"  # memory of no file that no other process has (POSIX, `mmap`)
        if memory == "pinned" and any("Mapped" in str(e) for e in args.named.get("flags", ())):
            memory = "mapped"
        written = self.mask(v for expr in args.named.get("new", ()) for v in self.values(state, expr)) & ~1
        point = Point(call.span, f"`{call.callee}` stores the address", call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, writes=written)
        obj = self.new_object(("alloc", *self.context(call)), memory, memory, call, state)
        if where is In.BOTH and id(call) in trials(self.program, self.tables):
            self.asks_for_free_memory(call, state, where)
        self._allocated(call, obj, args, state)
        if memory == "async":
            self.site(self.outcome.of_the_pool, call, state).objects.add(obj.number)
            streams = self.streams_for(api, args, state)
            op = self.operation("alloc", call, f"the allocation `{call.callee}`", state)
            obj.allocated_by |= 1 << op.number
            self.issue(op, streams, state, where, call.span)
        elif memory == "device":
            self.site(self.outcome.allocations, call, state).objects.add(obj.number)
        return state

    def _allocated(self, call: ir.Call, obj: Object, args: Arguments, state: State) -> None:
        bit = 1 << obj.number
        again = bool(state.live & bit)
        obj.several = obj.several or again
        state.used.pop(obj.number, None)
        if obj.memory_after == "async" and not (obj.summary or obj.several or self.any_order or state.threads):
            state.used[obj.number] = 0
        if id(call) in trials(self.program, self.tables):
            text = "is allocated with a size that is found by trial: what fails is tried again with another size"
            self.obstacle(bit, "free_memory_is_measured", text, call.span)
        if (measured := self.reach.may_measure) is not None:
            at, how = measured
            text = f"is allocated in a program that may ask how much memory is free, {how}"
            self.obstacle(bit, "free_memory_is_measured", text, at)
        if self.reach.in_threads(call):
            text = f"is allocated by `{call.callee}` where other host threads may run too"
            self.obstacle(bit, "several_host_threads", text, call.span)
        hidden = (frame.function for frame in self.frames if self.classes.runs_in_templates(frame.function))
        # where unseen code calls it anyway, the proof names what that is not expected to do
        if self._callers_work is None and (unseen := next(hidden, None)) is not None:
            text = f"is allocated in `{unseen.name}`, which may run where no call is written"
            self.obstacle(bit, "unknown_call", text, call.span)
        state.live |= bit
        if not obj.summary:
            state.freed &= ~bit
        pointer: Values = frozenset({mem.Ptr(obj.number)})
        root: mem.Root = ("memory", obj.number, "")
        if again and obj.memory == "host":
            holders = set(state.env.holders(obj.number))
            if self.in_python:  # drops an object by itself where the one variable that holds it gets the next one
                holders -= set(self.cells(state, call.result) if call.result is not None else ())
                variable = len(holders) == 1 and all(where[0] == "local" and not path for where, path in holders)
                holders = set() if variable else holders
            if holders:
                state.env.several |= {root}
        if not obj.summary and root not in state.env.several:
            state.env.forget([root])
        for expr in args.named.get("new", ()):
            cells = self.cells(state, ir.Deref(expr))
            self.store(state, cells, pointer, call.span)
            if not cells:
                self.escape(state, pointer, "escapes", "is stored where it cannot be followed", call.span)
        if call.result is not None and not args.named.get("new"):
            self.result(call, pointer, state)
        elif call.result is not None:
            self.result(call, frozenset({mem.OTHER}), state)

    def asks_for_free_memory(self, call: ir.Call, state: State, where: In, who: str = "") -> None:
        """The program learns how much memory is free: less than in P, where a pool keeps some of it."""
        if state.allocated and where is In.BOTH:
            op = self.operation("query", call, "the pool", state)
            moved = tuple(key_of(o.call) for o in self.outcome.objects if o.memory_after == "async" and o.call)
            self.wrong(Wrong.FREE_MEMORY, op, Point(call.span, who or f"`{call.callee}`", call), via=moved)

    def _free(self, call: ir.Call, api: Api, args: Arguments, state: State, where: In) -> State | None:
        self._held_when_freed(call, state)
        expr = args.one("free")
        values = self._addresses(state, expr)
        objects = self._freed(values)
        if self.growing:  # an element that was copied, or of which the copy has the same memory
            text = "is freed where a vector moves its elements to other memory"
            self.obstacle(self.mask(values), "escapes", text, call.span)
        # unseen code calls the function that is run: what that leaves itself is work of its caller
        running = {id(frame.function) for frame in self.frames} if self._callers_work is not None else set[int]()
        if unseen := next((f.name for f in self.classes.leaving_work if id(f) not in running), ""):
            text = f"is freed where work may run that `{unseen}` has left, for which no call is written"
            self.obstacle(self.mask(values), "unknown_call", text, call.span)
        if unseen := self.classes.stores_elsewhere:
            text = f"is freed where `{unseen}` may have stored in variables of others, for which no call is written"
            self.obstacle(self.mask(values), "unknown_call", text, call.span)
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
                self._wait_for_the_device(objects, state, where)
        elif api.memory == "host":  # registered, it may be what the device works on
            point = Point(call.span, "the memory is freed", call)
            self.host_observes(state, Wrong.HOST_ACCESS, point, writes=self.mask(values) & ~1)
        if where is In.REWRITTEN:
            state.freed_early |= self.mask(values) & ~1
            return state
        if where is In.ORIGINAL:
            state.freed_early &= ~self.mask(values)
        self._gone(objects, values, state)
        if self.reach.in_threads(call):
            text = f"is freed by `{call.callee}` where other host threads may run too"
            self.obstacle(self.mask(values), "several_host_threads", text, call.span)
        if objects and all(o.memory == "async" for o in objects):
            self._give_back(expr, state)
        return state

    def may_observe(self, call: ir.Call, state: State) -> None:
        """What functions may see, or show, that run where no call is written: behind a free, too."""
        for kind, name in self.classes.observe.items():
            point = Point(call.span, f"`{name}` may run, for which no call is written", call)
            match kind:
                case Observation.CLOCK:
                    self.host_observes(state, Wrong.CLOCK, point, everything=True)
                case Observation.OUTPUT:
                    self.host_observes(state, Wrong.HOST_ACCESS, point, reads=self.shared_bit)
                    self.host_observes(state, Wrong.OUTPUT, point)
                    self.faults_are_reported(state, point)
                case Observation.STATUS:
                    state.unreported |= state.orders.lost.get(HOST, 0)

    def _of_the_host(self) -> Bits:
        """All memory that the host may look at."""
        return sum(1 << o.number for o in self.outcome.objects if o.memory not in ("device", "async"))

    def _give_back(self, expr: ir.Expr | None, state: State) -> None:
        """What a variable holds is not there any more, a block or a stream."""
        if self.lints and (cell := self.place(state, expr)) is not None:
            state.env.gone |= {cell}

    def _held_when_freed(self, call: ir.Call, state: State) -> None:
        """What the objects in scope hold when memory is freed: see `held_in`."""
        if not self.classes.run_by_themselves:
            return
        types = {frame.name: frame.function.types for frame in self.frames}
        for root, inner in state.env:
            variable = self.global_at(root)
            kind = variable.type if variable is not None else types.get(str(root[1]), {}).get(root[2])
            if kind is not None and "*" not in kind:
                self.held_in(kind, partial(mem.NOTHING.union, *inner.values()), call.span, state)

    def _freed(self, values: Values) -> list[Object]:
        """The objects that a free may give back. The address of a variable is an object of the host."""
        return [self.outcome.objects[n] for n in numbers(self.mask(values))]

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
        if not self.one_stream(streams) and state.device != "?":
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
            for use in self.operations_in((obj.used_by | obj.allocated_by) & pending):
                apart = bool(state.apart >> use.number & 1) and all(map(waits_by_itself, streams))
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
            free = key_of(call)
            for op in self.operations_in(bits):
                if free not in op.via:
                    op.via.append(free)
                    self.told &= ~(1 << op.number)
            orders.finish(~self.rewritten_only, In.ORIGINAL)
        if where is In.ORIGINAL:
            return
        for obj in objects:
            if obj.memory_after == "async":
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
            self._wait_for_the_device(objects, state, where)

    def _wait_for_the_device(self, objects: list[Object], state: State, where: In) -> None:
        """What frees memory waits for the device that it is of, whichever is current (docs/FACTS.md)."""
        done: Bits = -1
        for device in {obj.device for obj in objects}:
            done &= self.work_of(device)
        state.orders.finish(done, where)

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
        if obj is not None and (obj.device != state.device or state.device == "?"):
            self.wrong(Wrong.OTHER_DEVICE, op, point, obj, streams=streams)
        elif not self.one_stream(streams) or any(
            s.device != self.device_of_streams(state)  # memory is of the device of its stream (docs/FACTS.md)
            for s in streams
        ):
            self.wrong(Wrong.NO_STREAM, op, point, obj, streams=streams)
        if state.capturing:
            self.wrong(Wrong.UNDER_CAPTURE, op, point, obj, streams=streams)

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
            self._others_look(call, "other code of the host may look at what it has done at any time", state)
        if unseen := self.classes.look_at_the_host:
            point = Point(call.span, f"`{unseen}` may run, for which no call is written", call)
            self.host_observes(state, Wrong.HOST_ACCESS, point, reads=self._of_the_host())
        self.something_ends(call.span, state, sum(1 << o.number for o in objects))
        self._free_on(call, objects, values, streams, state, In.REWRITTEN)
        self._gone(objects, values, state)
