"""What a library call is given, by the roles that its table gives to its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cudafix import ir
from cudafix.models.api import HOST_EFFECTS, Api, Effect, played_by
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.pageable import has_elements
from cudafix.ordering.facts.paths import Index, array_of
from cudafix.ordering.facts.plain import holds_numbers
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.calls import Calls
from cudafix.ordering.interpreter.frames import State
from cudafix.ordering.interpreter.machine import FOR_THE_DEVICE, UNKNOWN_STREAM
from cudafix.ordering.interpreter.memory import Values
from cudafix.ordering.interpreter.program import lacks_stream, stream_arguments
from cudafix.ordering.interpreter.state import Bits, Stream, numbers

ADDS_AN_ELEMENT = frozenset({"push_back", "emplace_back", "push_front", "emplace_front", "push"})
_AT_THE_END = frozenset({"push_back", "emplace_back", "append"})
"""Adds an element behind the others, which stay where they are."""


_CHANGES = frozenset(("w", "rw", "hw", "hrw", "out", "use", "hidden"))


@dataclass(slots=True)
class Arguments:
    """The arguments of a call by what the table says they are."""

    reads: Values = mem.NOTHING
    writes: Values = mem.NOTHING
    host_reads: Bits = 0
    host_writes: Bits = 0
    stream: ir.Expr | None = None
    lacks_stream: bool = False  # its stream is one that nobody can name: the call does not compile
    named: dict[str, list[ir.Expr]] = field(default_factory=dict)

    def one(self, role: str) -> ir.Expr | None:
        found = self.named.get(role)
        return found[0] if found else None


_SMART_POINTER = re.compile(r"\b(?:std::)?(?:shared_ptr|unique_ptr)\b")
"""What may be given a deleter, which runs when it ends ([util.smartptr.shared.dest], [unique.ptr.single.dtor])."""
_OF_ANY = frozenset(  # which element, is not known
    "at back top get find lower_bound upper_bound operator[] emplace_back emplace_front insert emplace insert_after "
    "try_emplace insert_or_assign emplace_hint".split()
)


class Roles(Calls):
    """What the arguments of library calls lead to, and what is kept of them."""

    def arguments(self, call: ir.Call, api: Api, state: State) -> Arguments:
        args = Arguments(lacks_stream=lacks_stream(call))
        given = call.given
        for role, expr in played_by(api, given):
            if role == "-":
                continue
            if role in _CHANGES and expr is not call.receiver and self.is_number(expr):  # it is given by reference
                self.overwritten(state, self.cells(state, expr), array=True)
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
                if api.templates:
                    values = self._through_objects(api, state, expr, values)
                    args.reads |= values
                    args.writes |= values
            elif role in ("hr", "hw", "hrw", "out", "alias", "path", "mode"):
                bits = self.mask(self.values(state, expr)) | (
                    self.touched(state, (expr,)) if not isinstance(expr, ir.Addr) else 0
                )
                if api.effect is Effect.WORK:  # a scalar that is on the device after all, as the handle may say
                    scalars = {v for v in self.values(state, expr) if isinstance(v, mem.Ptr) and self._is_scalar(v)}
                    args.reads |= scalars
                    args.writes |= scalars if "w" in role[1:] else mem.NOTHING
                if not api.any and self.may_lead_anywhere(state, expr):
                    bits |= self.any_of_the_host(state)
                if role in ("path", "mode") or "r" in role[1:]:
                    args.host_reads |= bits
                if role in ("hw", "hrw", "out", "alias"):
                    args.host_writes |= bits
                if role in ("hw", "hrw"):
                    places = self._elements_of(state, expr) or self.cells(state, expr) if expr is call.receiver else []
                    self.overwritten(state, [*places, *self.cells(state, ir.Deref(expr))], array=True)
            elif role == "look":
                values = self.reachable(state, self.whole(state, expr))
                args.host_reads |= self.mask(values) & ~self.on_device(values, FOR_THE_DEVICE)
                if self.may_lead_anywhere(state, expr):
                    args.host_reads |= self.any_of_the_host(state)
            elif role == "use":
                values = self.reachable(state, self.whole(state, expr))
                args.reads |= values
                args.writes |= values
                seen = self.mask(values) & ~self.on_device(values, FOR_THE_DEVICE)
                args.host_reads |= seen
                args.host_writes |= seen
                self.overwritten(state, self.cells(state, ir.Deref(expr)), array=True)
            elif role == "hidden" and not (isinstance(expr, ir.Const) or self.is_number(expr)):
                self._sees_all(args, state)
                self.overwritten(state, self.cells(state, expr.base if isinstance(expr, ir.Addr) else expr))
                self._stored_by_a_library(api, self.reachable(state, self.whole(state, expr)), state)
            elif role == "swap":
                bits = self.touched(state, (expr,))
                args.host_reads |= bits
                args.host_writes |= bits
            elif role == "handle" and api.effect is Effect.WORK:
                kept = frozenset(v for v in self.values(state, expr) if isinstance(v, mem.Handle))
                values = self.reachable(state, kept) - kept
                args.reads |= values
                args.writes |= values
            elif role == "args":
                values = self._used_as_arguments(state, expr)
                args.reads |= values
                args.writes |= values
            elif role in ("params", "op") or (role in ("keep", "keeper") and api.effect is Effect.WORK):
                values = self.reachable(state, self.whole(state, expr))
                args.reads |= values
                args.writes |= values
            elif args.stream is None and role == "stream?" and not self._are_memory(api, given):
                args.stream = expr
            args.named.setdefault(role, []).append(expr)
        if args.stream is None:
            args.stream = next(stream_arguments(api, given), None)
        if api.anywhere:
            self._sees_all(args, state)
        if api.effect in HOST_EFFECTS:
            args.host_reads |= self.kept
            args.host_writes |= self.kept
        for expr in args.named.get("found", ()):
            self.store(state, self.cells(state, ir.Deref(expr)), mem.UNKNOWN, call.span)
        for role in ("handle_out", "keeper_out", "graph_out", "pool_out"):
            for expr in args.named.get(role, ()):
                if api.effect is not Effect.HANDLE_CREATE or role != "handle_out":
                    self.store(
                        state,
                        self.cells(state, ir.Deref(expr)),
                        frozenset({mem.Handle(self._handle_name(call))}),
                        call.span,
                    )
        if "graph_out" in args.named and "graph" in args.named:  # made of another graph, it uses the same memory
            made_of = mem.NOTHING.union(*(self.reachable(state, self.values(state, e)) for e in args.named["graph"]))
            state.env.write([(("global", "", self._handle_name(call)), (("at", paths.ANY),))], made_of)
        if api.holds is not None:
            own = self.new_object(("held", *self.context(call)), api.holds, api.holds, call, state)
            state.live |= 1 << own.number
            inside = ("global", "", self._handle_name(call)), (("at", paths.ANY),)
            state.env.write([inside], frozenset({mem.Ptr(own.number)}))
        for expr in args.named.get("alias", ()):
            of = args.one("of")
            if of is not None:
                self.store(state, self.cells(state, ir.Deref(expr)), self.values(state, of), call.span)
        return args

    def _through_objects(self, api: Api, state: State, expr: ir.Expr, values: Values) -> Values:
        """What a template reaches by the functions of what it is given as memory: all that an object leads to, as an
        iterator, and not a pointer; with function objects, what the elements do too.
        """
        pointers = frozenset(v for v in self.values(state, expr) if isinstance(v, mem.Ptr | mem.Ref))
        if any(role.startswith("op") for role in api.roles):
            return values - pointers
        return self.reachable(state, self.whole(state, expr) - pointers)

    def _used_as_arguments(self, state: State, expr: ir.Expr) -> Values:
        """What a kernel reaches by an array of the addresses of its arguments: the array, and the arguments, are copied
        before the call returns (CUDA Driver API, `cuLaunchKernel`).
        """
        array = self.values(state, expr)
        whole = self.whole(state, expr)
        arguments = (whole - array).union(*(state.env.content(value) for value in array))
        led = mem.NOTHING.union(*(state.env.content(value) for value in arguments))
        used = self.reachable(state, led)
        return used | {v for v in self.reachable(state, whole) if not isinstance(v, mem.Ref)}

    def _stored_by_a_library(self, api: Api, values: Values, state: State) -> None:
        """A library of the host gets these, and keeps them: it may store there now, and in later calls."""
        given = GIVEN_TO_GRAPHICS if api.library else GIVEN_TO_LIBRARIES
        kept, places = state.env.read(given), frozenset(v for v in values if isinstance(v, mem.Ref))
        if not places <= kept:
            state.env.write([given], kept | places)
        self.unseen_code_stores(values | self.reachable(state, kept), state)

    def unseen_code_stores(self, values: Values, state: State) -> None:
        """Somebody who is not seen gets these, and may store numbers, streams and events where they lead."""
        self.overwritten(state, [v.cell for v in values if isinstance(v, mem.Ref)], array=True)
        queues = (one for value in values for one in self.queues_inside(value, state))
        state.env.write_each([(cell, held | mem.UNKNOWN) for cell, held in queues])

    def _sees_all(self, args: Arguments, state: State) -> None:
        """The host may read and write all memory that it can see."""
        seen = state.live & self.host_visible | self.any_of_the_host(state) | 1
        args.host_reads |= seen
        args.host_writes |= seen

    def _are_memory(self, api: Api, given: Sequence[ir.Expr]) -> bool:
        """Whether all that a call is given as memory, but for its temporary storage, are pointers by their type."""
        memory = [expr for role, expr in list(zip(api.roles, given, strict=False))[1:] if role in ("r", "w", "rw")]
        return all("*" in self.type_of(e.base if isinstance(e, ir.Offset) else e) for e in memory)

    def _addresses(self, state: State, expr: ir.Expr | None) -> Values:
        """What a free or a copy may be given."""
        return self.not_parts(self.values(state, expr)) if expr is not None else mem.NOTHING

    def _is_scalar(self, pointer: mem.Ptr) -> bool:
        """Whether a pointer is to memory that the host cannot look at."""
        return self.outcome.objects[pointer.object].memory in ("device", "async")

    def _handle_name(self, call: ir.Call) -> str:
        return f"{call.callee}@{call.span.path}:{call.span.start}{self.frame.name}{''.join(self.family)}"

    def streams_for(self, api: Api, args: Arguments, state: State) -> frozenset[Stream]:
        if args.stream is not None:
            return self.streams(state, args.stream)
        if args.lacks_stream and not self.lints:  # where defects are looked for, it is one, on the default stream
            return frozenset({UNKNOWN_STREAM})
        handle = args.one("handle")
        if handle is None and (api.on == "unknown" or (api.on == "global" and self._sets_the_stream(api))):
            return frozenset({UNKNOWN_STREAM})
        if handle is not None:
            return self.streams_of_handles(self.values(state, handle), state)
        return frozenset({self.default_of(state)})

    def streams_of_handles(self, handles: Values, state: State) -> frozenset[Stream]:
        """The streams that the calls which are given one of these handles run on."""
        found: set[Stream] = set()
        for value in handles:
            held = state.env.read((mem.stream_of(getattr(value, "name", "")), ()))
            found |= {v.stream for v in held if isinstance(v, mem.StreamValue)}
            if not held:
                found.add(UNKNOWN_STREAM)
        return frozenset(found) or frozenset({UNKNOWN_STREAM})

    def _sets_the_stream(self, api: Api) -> bool:
        """Whether the program, or who calls it, may set the stream that all calls of a library run on."""

        def sets(call: ir.Call) -> bool:
            row = self.tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
            return row is not None and row.effect is Effect.HANDLE_SET_STREAM and row.source == api.source

        def found() -> bool:
            functions = self.program.functions()
            return any(isinstance(s, ir.Call) and sets(s) for function in functions for s in function.statements)

        return self._callers_work is not None or self.program.kept(f"sets the stream of {api.source}", found)

    def _keep(self, call: ir.Call, api: Api, args: Arguments, state: State) -> None:
        """Descriptors, plans and graphs hold pointers for later calls."""
        kept = args.named.get("keep", ())
        if kept:
            values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in kept))
            if not self.in_python:  # a view shows the elements of the object that it is made of
                named = [e for e in kept if isinstance(e, ir.Var | ir.Field) and not self.is_number(e)]
                self.escaped |= self.mask(mem.Ref(c) for e in named for c in self.cells(state, e)) & self.of_the_host
            kind = f"<{call.template_args}>" if call.template_args else ""
            holder = call.receiver if call.receiver is not None else call.result
            kind = kind or (self.type_of(holder) if holder is not None else "")
            self.owned_by(kind, values, call.span, state)
            if pointer := _SMART_POINTER.search(f"{call.callee} {kind}"):
                self.runs_at_the_end(pointer[0], values, call.span, state)
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
                state.env.write([(("global", "", handle.name), (("at", paths.ANY),))], values)
            is_handle = call.receiver is None and bool(handles)  # of a library in C: it has no elements
            if call.callee not in _AT_THE_END and not is_handle:
                self._put_among(args, values, state)
            if not handles and not self._put_in(call, args, state):
                if api.effect in HOST_EFFECTS and not {"keeper", "keeper_out", "graph"} & args.named.keys():
                    self.kept |= self.mask(values) & ~self.on_device(values, FOR_THE_DEVICE) & ~1
                self.escape(state, values, "escapes", f"is kept by `{call.callee}`", call.span)
        swapped = args.named.get("swap", ())
        if len(swapped) == 2:
            a, b = (self._exchanged(state, e) for e in swapped)
            inside = state.env.parts(a).keys() | state.env.parts(b).keys()
            if any(state.env.is_overlaid(path) for _, path in (*a, *b)):
                inside |= {()}
            of_a, of_b = (state.env.at_parts(cells, inside) for cells in (a, b))
            self.spend(state, (*a, *b), len(of_a) + len(of_b))
            if not any(isinstance(e, ir.Index) and holds_numbers(e.base, self.frame.function) for e in swapped):
                unseen = not (a and b) or any(self.is_result(state, e) for e in swapped)
                unseen = unseen or any(root[2].startswith("%") and root[0] == "local" for root, _ in (*a, *b))
                given = mem.NOTHING.union(*(self.values(state, e) for e in swapped)) if unseen else mem.NOTHING
                self.written_elsewhere(state, (*a, *b), given, unseen)
            self.overwritten(state, (*a, *b))
            state.env.write_parts(a, of_b)
            state.env.write_parts(b, of_a)

    def _exchanged(self, state: State, expr: ir.Expr) -> list[mem.Cell]:
        """What `std::swap` is given: of an array, which decays to the address of its first element, all of it."""
        if isinstance(expr, ir.Addr):
            cells = self.cells(state, expr.base)
            return [(root, array_of(path)) for root, path in cells]
        return self.cells(state, expr)

    def _put_in(self, call: ir.Call, args: Arguments, state: State) -> bool:
        """A container gets one more element. Which one it will be is not known."""
        holder = args.one("keeper")
        if call.callee not in ADDS_AN_ELEMENT or holder is None:
            return False
        elements = [(root, (*path, ("at", paths.ANY))) for root, path in self.cells(state, holder)]
        kept = [v for expr in args.named.get("keep", ()) for v in self.values(state, expr)]
        if not elements or any(root[0] == "memory" for root, _ in elements):
            return False
        if any(isinstance(v, mem.Function) and ir.LAMBDA in v.name for v in kept):
            return False  # which one is called, with which variables, is not known
        for expr in args.named.get("keep", ()):
            state.env.write_parts(elements, self.parts(state, expr))  # of an element of which nothing is known yet
            state.env.write(elements, self.values(state, expr))
        return True

    def _put_among(self, args: Arguments, values: Values, state: State) -> None:
        """A container gets elements in front of others, or in their places: each may be any of them."""
        for expr in args.named.get("keeper", ()):
            for root, path in self.cells(state, expr):
                inside = list(state.env.under((root, path)))
                elements = [inner for inner, held in inside if (inner[0][0] == "at" if inner else mem.leading(held))]
                mixed: dict[paths.Path, Values] = {(): mem.leading(values)}
                for inner, held in inside:
                    mixed[inner[1:]] = mixed.get(inner[1:], mem.leading(values)) | held  # of a struct, by any name
                each = [((root, (*path, *inner)), mixed[inner[1:]]) for inner in elements]
                state.env.write_each([((root, (*path, ("at", paths.ANY))), mixed[()]), *each])

    def elements_named(self, call: ir.Call, api: Api, state: State) -> tuple[list[mem.Cell], bool]:
        """The places one of which a library function returns a reference to (`returns=element`), and whether it is
        certainly one of these.
        """
        first = call.receiver if call.receiver is not None else call.args[0] if call.args else None
        if api.returns != "element" or first is None:
            return [], False
        key = paths.ANY if call.callee in _OF_ANY else "0"
        kind, around = self.type_of(first), self.cells(state, first)
        own = [(root, (*path, ("at", key))) for root, path in around]
        if has_elements(kind):
            return own, True
        members = {
            (root, (*path, inner[0]))
            for root, path in around
            for inner, _ in state.env.under((root, path))
            if inner and inner[0][0] == "field" and inner[0][1] != ir.SIZE
        }
        led = [cell for v in self.values(state, first) if (cell := mem.at(v, key)) is not None]
        return [*own, *sorted(members, key=repr), *led], False

    def _returned(self, call: ir.Call, api: Api, state: State) -> Values:
        if api.returns in ("same", "element"):
            first = call.receiver if call.receiver is not None else call.args[0] if call.args else None
            if first is None:
                return mem.UNKNOWN
            values = self.values(state, first)
            key = paths.ANY if call.callee in _OF_ANY else "0"  # `v.find(i)`, `v.data()`
            kind = self.type_of(first)
            is_container = has_elements(kind)
            holds = is_container or (not mem.leading(values) and self.classes.is_open(kind))
            cells = self.cells(state, first) if holds or not values else []
            return values.union(mem.Ref((root, (*path, ("at", key)))) for root, path in cells)
        if api.returns == "view":
            return mem.NOTHING.union(*(self._shown(state, e) for e in call.given)) or frozenset({mem.OTHER})
        if api.returns == "given":
            held = mem.NOTHING.union(*(self._shown(state, e) for e in call.given))
            return held | {mem.OTHER, *(m for v in held if (m := mem.moved(v)) is not None)}
        if api.returns == "pointer":
            return frozenset(
                {mem.Ptr(self.new_object(("host", *self.context(call)), "host", "host", call, state).number)}
            )
        if api.returns == "hidden":
            seen = numbers(self.any_of_the_host(state))
            return frozenset({mem.COMPUTED, *(mem.Ptr(number, True) for number in seen)})
        if api.returns in ("handle", "keeper"):
            return frozenset({mem.Handle(self._handle_name(call))})
        return frozenset({mem.OTHER})

    def _moves_pointers(self, args: Arguments, returned: Values, state: State) -> None:
        """What a host function writes may be any pointer that it reads: it copies, sorts, swaps; or that it is given
        to be put there, or that the functions return which it calls.
        """
        targets = [e for role in ("hw", "hrw") for e in args.named.get(role, ())]
        if not targets:
            return
        held: dict[paths.Path, Values] = {(): mem.leading(returned)}  # in one element or struct
        sources = [e for role in ("hr", "hw", "hrw") for e in args.named.get(role, ()) if not self.is_number(e)]
        read = [part for expr in sources for v in self._memory_of(state, expr) for part in state.env.inside(v)]
        for expr in args.named.get("put", ()):
            read += [((), self.values(state, expr)), *self.parts(state, expr).items()]
        if not (returned or args.named.get("put") or set(sources) - set(args.named.get("hw", ()))):
            read.append(((), frozenset({mem.OTHER})))  # it writes what it does not read: `memset`
        for path, inner in read:
            element = bool(path) and path[0][0] == "at"
            # an element that nothing was stored in has no stream, or the default one
            unset = frozenset({mem.OTHER}) if mem.OTHER in inner or (element and mem.has_queue(inner)) else mem.NOTHING
            path = path[1:] if element else path
            held[path] = held.get(path, mem.NOTHING) | mem.leading(inner) | unset
        parts = {path: inner for path, inner in held.items() if inner}
        leads = any(map(mem.leading, parts.values()))
        cost = sum(map(len, parts.values()))
        if leads and any(self.is_result(state, e) and not mem.leading(self.values(state, e)) for e in targets):
            self.written_elsewhere(state, (), mem.NOTHING, unseen=True)
        for expr in targets if parts else ():
            for value in self._memory_of(state, expr):
                if (cell := mem.at(value, paths.ANY)) is not None:  # how much is written is not known
                    self.spend(state, [cell], cost)
                    comes = self._as_bytes(state, cell, expr, sources, parts) if leads and self.puns else parts
                    self._parts_come_in(state, cell, comes, isinstance(expr, ir.Offset))
                    if leads:
                        self.written_elsewhere(state, [cell], mem.NOTHING)
                        state.env.write_parts([cell, cell], comes)
                        if (came := mem.leading(returned)) and any(path for path, _ in state.env.under(cell)):
                            state.env.may_hold(*cell, came)  # in whichever part of a struct that is returned

    def _as_bytes(
        self, state: State, cell: mem.Cell, place: ir.Expr, sources: list[ir.Expr], parts: dict[paths.Path, Values]
    ) -> dict[paths.Path, Values]:
        """The parts of objects that are copied to a place: as they are to objects of their class, else as bytes, of
        which each address and handle may be part (C++20, 6.8 [basic.types.general] 2).
        """
        if any(self._led_to_by(e, place) for e in sources):
            return parts
        kind = self.type_at(cell)
        followed = [self._memory_of(state, e) for e in (place, *sources)]
        if any(root[:2] == ("memory", mem.EXTERNAL) for values in followed for root, _ in _places(values)):
            return parts  # of an address that may be any, the rest of where it leads says nothing
        given = (one for values in followed[1:] for one in _places(values))
        if not any(self.classes.are_bytes_of(self.type_at(one), kind) for one in given if one[0] != cell[0]):
            return parts
        self.puns.add(cell[0])
        every = mem.NOTHING.union({mem.ANYWHERE}, *map(mem.leading, parts.values()))
        self.in_disguise = True
        return {path: values | every for path, values in parts.items()}

    def _led_to_by(self, one: ir.Expr, other: ir.Expr) -> bool:
        """Whether two addresses are those of objects of one type, by the declarations of this function."""
        if one == other:
            return False
        kinds = {
            self.type_of(e.base).removeprefix("const ").rstrip("& ") + " *"
            if isinstance(e, ir.Addr)
            else self.type_of(e).removeprefix("const ").rstrip("& ")
            for e in (one, other)
        }
        return len(kinds) == 1 and not kinds <= {"", " *", "void *", "auto *", "auto"}

    def _parts_come_in(self, state: State, cell: mem.Cell, parts: Mapping[paths.Path, Values], moved: bool) -> None:
        """What leads somewhere in a place may be replaced by parts of another one: by the part of its name, by all of
        what it is in, or by what is in it. With a pointer that was `moved`, by any.
        """
        root, base = cell
        n = len(base)
        index = Index(parts)
        for path, values in list(state.env[root].items()):
            if len(path) < n or not paths.overlaps(path[:n], base) or not mem.leading(values):
                continue
            inner = path[n:]
            around = (inner[:length] for length in range(len(inner)))
            comes = parts if moved else (*(p for p in around if p in parts), *index.inside.get(inner, ()))
            state.env.replace((root, path), values.union(*(parts[part] for part in comes)))

    def _memory_of(self, state: State, expr: ir.Expr) -> Values:
        """Where an argument leads that a host function reads or writes; of a container, to its elements; of an object
        that keeps something, which may be a view, to what that shows.
        """
        values = self.values(state, expr)
        for keeper in [v for v in values if isinstance(v, mem.Handle)]:
            values |= state.env.read((("global", "", keeper.name), (("at", paths.ANY),)))
        return values if mem.leading(values) else values.union(map(mem.Ref, self._elements_of(state, expr)))

    def _shown(self, state: State, expr: ir.Expr) -> Values:
        """Where iterators and views lead that are made of an argument; of a container, to its elements."""
        values = self._addresses(state, expr)
        if self.in_python or mem.leading(values) or not isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            return values
        if self.is_number(expr):
            return values
        elements = (mem.Ref((root, (*path, paths.FIRST))) for root, path in self.cells(state, expr))
        return values.union(elements)

    def _elements_of(self, state: State, expr: ir.Expr) -> list[mem.Cell]:
        """The first elements of the containers that an expression may name, as far as something is in there."""
        if not isinstance(expr, ir.Var | ir.Field | ir.Index | ir.Deref):
            return []
        return [
            (root, (*path, paths.FIRST))
            for root, path in self.cells(state, expr)
            if any(inner and inner[0][0] == "at" for inner, _ in state.env.under((root, path)))
        ]


def _places(values: Iterable[mem.Value]) -> Iterator[mem.Cell]:
    """Where addresses lead."""
    return (cell for value in values if (cell := mem.at(value, "0")) is not None)


GIVEN_TO_LIBRARIES: mem.Cell = (("global", "", "<places that libraries of the host were given>"), ())
GIVEN_TO_GRAPHICS: mem.Cell = (("global", "", "<places that graphics APIs were given>"), ())
