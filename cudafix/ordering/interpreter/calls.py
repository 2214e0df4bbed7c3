"""Calls of the program's own functions, and of code that is not seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ir import walk
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, Prototype, are_one, played_by
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.alone import Alone
from cudafix.ordering.facts.any_time import AnyTime
from cudafix.ordering.facts.callbacks import Callbacks
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.clients import ELEMENT, OBJECT, assumption, is_client, is_meant
from cudafix.ordering.facts.conversions import Conversions
from cudafix.ordering.facts.getters import KEEPS_ONE
from cudafix.ordering.facts.given_classes import given_arguments, given_classes
from cudafix.ordering.facts.paths import array_of
from cudafix.ordering.facts.plain import NUMBERS
from cudafix.ordering.facts.reach import THREAD, Reach, Within
from cudafix.ordering.facts.slicing import Slicer, beside_the_library
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.any_order import MAX_ROUNDS, AnyOrder, UnwrittenCalls, may_change_values
from cudafix.ordering.interpreter.engine import MAX_DEPTH, OutOfBudget
from cudafix.ordering.interpreter.frames import ANY_ELEMENT, NO_CLASSES, Activations, Frame, State, joined
from cudafix.ordering.interpreter.machine import UNKNOWN_STREAM, Followed, leading_parts
from cudafix.ordering.interpreter.memory import Values
from cudafix.ordering.interpreter.operations import Operations
from cudafix.ordering.interpreter.program import Operation, Overlay, Point, Wrong
from cudafix.ordering.interpreter.state import Bits, In, numbers

FEW_LEADS, MOST_LEADS = 8, 64  # addresses that a call which is one step may mix up; the second in too large programs
_INVOKES_THE_FIRST = frozenset(("thread", "jthread", "async"))
_POINTER = re.compile(r"\*(?:\s*\b(?:const|volatile|__restrict__))*\s*$")
_CALLS_WHAT_IS_HELD = frozenset(("visit", "apply"))
MAX_PARTS = 12  # of a part of a part of a variable, in what calls itself
_WORD = re.compile(r"[A-Za-z_]\w*")
# what leads to an element of a map, and has no part of it (C++17, 27.2.1 [iterator.requirements.general])
_ITERATOR = re.compile(r"(?:std::)?(?:unordered_)?(?:multi)?map\s*<.*>::(?:const_)?iterator", re.DOTALL)
_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|class)\b|[\s&?]")


_RECURS = HOST_EFFECTS | frozenset(
    (
        Effect.COPY,
        Effect.WORK,
        Effect.RECORD,
        Effect.WAIT,
        Effect.SYNC_STREAM,
        Effect.SYNC_EVENT,
        Effect.SYNC_DEVICE,
        Effect.QUERY,
        Effect.ELAPSED,
        Effect.EVENT_CREATE,
        Effect.EVENT_DESTROY,
    )
)
_MEMORY = frozenset((Effect.ALLOC, Effect.FREE))


@dataclass(slots=True)
class Recursion:
    """All activations of a function that it has started itself: the name that they share, the states in which they
    begin and end, and on which objects.
    """

    name: str
    states: Activations = field(default_factory=Activations)
    this: Values = mem.NOTHING

    def has(self, value: mem.Value, root: mem.Root | None) -> bool:
        """Whether a value is an event of an activation, or a variable of one that somebody else has the address of: it
        would be taken for that of the next activation.
        """
        own = ("local", self.name)
        if isinstance(value, mem.Ref):
            return value.cell[0][:2] == own and (root is None or root[:2] != own)
        return isinstance(value, mem.EventValue) and self.name in value.event.name

    def begins(self, state: State, this: Values) -> None:
        self.states.changed |= not this <= self.this
        self.this |= this
        self.states.begins(state)


class Calls(Operations):
    """Which functions a call reaches, and what they do; what may happen where nobody knows."""

    def __init__(self, program: Program, tables: Tables, overlay: Overlay, per_thread: bool) -> None:
        super().__init__(program, tables, overlay, per_thread)
        self._callers_work: Operation | None = None
        self._looked_at: dict[int, int] = {}  # by a function (its `id`): how many objects `_made_again` has looked at
        self._recursions: dict[int, Recursion] = {}  # by the function (its `id`)
        self._overloads: list[frozenset[int]] = []  # what each call around here may reach, as functions (their `id`)
        self.uncertain: set[int] = set()  # calls (by `id`) that may reach methods which are not seen as well
        self._at_the_end: dict[int, ir.Function] = {}  # deleters and guards, by their `id`
        self._held_at_the_end: Values = mem.NOTHING
        self._unwritten_calls = UnwrittenCalls()
        self._any_order = AnyOrder(self, self._unwritten_calls, self._comes_back)

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
            held = state.env.class_of((root, path))
            classes = {v.text for v in held if isinstance(v, mem.Number)}
            for method in named:
                may_be = self._callers_work is not None or method.cls in given_away
                of_client = root[2] == OBJECT.name
                outside = (of_client or held >= mem.UNKNOWN) and may_be and last(method.name) not in running
                if method.cls in classes or outside:
                    this = found.get(id(method), (method, mem.NOTHING))[1]
                    found[id(method)] = method, this | {mem.reference((root, path))}
        return list(found.values())

    def _held_in(self, place: ir.Expr, arity: int, state: State) -> list[tuple[ir.Function, Values]]:
        """The functions that a place holds; none where it may hold something else, one with other parameters, or one
        whose variables may be those of another call of the function around it.
        """

        def fits(function: ir.Function) -> bool:
            return function.direct and len(function.params) == arity and function.cls is None

        found = self._functions_in(self.values(state, place), arity, fits)
        return found if all(self._has_its_variables(f) for f, _ in found) else []

    def _has_its_variables(self, function: ir.Function) -> bool:
        """Whether the variables that a function shares with the one around it are those of the call that made it."""
        around = self.around.get(function.name)
        running = sum(1 for frame in self.frames if frame.function.name == around)
        return around is None or (running == 1 and around not in self.outlived)

    def resolve(self, call: ir.Call, state: State) -> Api | list[tuple[ir.Function, Values]]:
        """What a call reaches: a library function, or the program's own (each with its `this`)."""
        found = self._named_by(call, state)
        if isinstance(found, Api):
            return found
        if is_client(self.frame.function):
            found = [(f, this) for f, this in found if is_meant(f, call)] or found
        if len(found) > 1 and not self.in_python:
            found = [(f, this) for f, this in found if self._is_viable(f, call)] or found
        return found

    def _is_viable(self, function: ir.Function, call: ir.Call) -> bool:
        """Whether the arguments, as far as their types are known, may be given for the parameters."""
        conversions = Conversions.of(self.program, self.classes)
        return all(
            conversions.may_convert(self._given_for(self._type_of_argument(arg)), param.type)
            for param, arg in zip(function.params, call.args, strict=False)
            if not isinstance(arg, ir.Const)
        )

    def _classes_given(self, call: ir.Call, function: ir.Function) -> Mapping[str, str]:
        if not function.templates and not function.class_templates:
            return NO_CLASSES
        receiver = self.type_of(call.receiver) if call.receiver is not None else ""
        kinds = [self._type_of_argument(arg) if isinstance(arg, ir.Var) else "" for arg in call.args]
        return given_classes(self.program, call, self.frame.function, self.frame.classes, function, receiver, kinds)

    def _instance_given(self, call: ir.Call, function: ir.Function) -> Mapping[str, str]:
        if not function.templates and not function.class_templates:
            return NO_CLASSES
        receiver = self.type_of(call.receiver) if call.receiver is not None else ""
        return given_arguments(self.program, call, self.frame.function, self.frame.instance, function, receiver)

    def of_its_template(self, call: ir.Call) -> str:
        """The name of the function that `P::f()` means in this call of a template; "" where that is not known."""
        if call.scope not in self.frame.classes:
            return ""
        meant = f"{self.frame.classes[call.scope]}::{ir.names_of(call.callee)[0]}"
        return meant if self.program.resolve(meant, len(call.args), call.span.path) else ""

    def _given_for(self, kind: str) -> str:
        """A type, with the class for which its name stands if that is a parameter of the template which runs."""
        name = _WORD.search(kind.removeprefix("const "))
        return kind.replace(name[0], self.frame.classes.get(name[0], name[0]), 1) if name is not None else kind

    def _named_by(self, call: ir.Call, state: State) -> Api | list[tuple[ir.Function, Values]]:
        """What a call may reach by the name that it has."""
        name, arity = call.callee, len(call.args)
        path = call.span.path
        if meant := self.of_its_template(call):
            other = replace(call, callee=meant, scope="")
            found = self._named_by(other, state)
            if id(other) in self.uncertain:
                self.uncertain.remove(id(other))
                self.uncertain.add(id(call))
            return found
        if call.receiver is not None and ir.is_any_of(call.callee):
            return self._of_its_class(call, call.receiver, state)
        if call.receiver is not None and ir.is_held(call.callee):
            return self._held_in(call.receiver, arity, state)
        if call.receiver is not None:
            kind = self._given_for(self.type_of(call.receiver))
            this = frozenset(mem.reference(c) for c in self.cells(state, call.receiver)) or mem.UNKNOWN
            pointed = self.values(state, call.receiver)
            if name == "operator()" and any(isinstance(v, mem.Function) for v in pointed):
                return self._functions_in(pointed, arity)
            leads = frozenset(v for v in pointed if isinstance(v, mem.Ptr | mem.Ref))
            if leads and "*" in _outer(kind):
                this = pointed
            elif not kind and isinstance(call.receiver, ir.Var) and call.receiver.name.startswith("%"):
                parts = self.parts(state, call.receiver)
                this = leads | this if parts or not leads else leads  # a call has returned a reference: `v.front().f()`
            methods, known = self.classes.methods(kind, name, arity, path)
            if methods and not known and (kinds := self._types_at(leads or this)):
                several = [self.classes.methods(one, name, arity, path) for one in kinds]
                methods, known = (
                    [f for found, _ in several for f in found],
                    all(found and sure for found, sure in several),
                )
            api = self.tables.method(kind, name, arity) if kind or not methods else None
            if name in ("emplace_back", "emplace_front") and (made := THREAD.search(kind)):
                api = self.tables.lookup(made[0], arity)  # its constructor runs
            if api is None and not methods and not self.classes.is_other_class(kind):
                api = self.slicer.method_by_name(name, arity)
            base = last(kind.removeprefix("const ").strip(" *&").partition("<")[0])
            if base and (own := [f for f in methods if base in map(last, f.bases)]):
                own = self.classes.of_objects(own, self.made_as(leads or this))
                return [(f, this) for f in own]  # of classes that are derived from one of a library
            if api is not None and not (methods and kind and "std::" not in kind and "thrust::" not in kind):
                return api
            exact = isinstance(call.receiver, ir.Var) and not {"*", "&"} & set(_outer(kind))
            if not exact and not ("::" in name and call.receiver == ir.Deref(ir.Var("this"))):  # a part of this object
                methods = methods + self.classes.overriders(methods)
                methods = self.classes.of_objects(methods, self.made_as(leads or this))
            if methods and (not known or self._may_be_undefined(call, methods)):
                self.uncertain.add(id(call))
            return [(f, this) for f in methods]
        if ir.is_any_of(name):
            this = state.env.read((self.root("this"), ())) if self.frame.function.cls is not None else mem.NOTHING
            return [(f, this) for f in self.program.methods(name, arity)]
        if last(name) == "now" and "::" in name and not arity:  # an alias of a clock of the standard library
            return self.tables.lookup("std::chrono::steady_clock::now", 0) or []
        if name.startswith(("cuda", "cublas")) and (api := self.tables.lookup(name, arity)) is not None:
            return api
        cls = self.frame.function.cls
        own = [f for f in self.program.resolve(name, arity, path, cls) if self._may_call(name, f)]
        api = self.tables.lookup(name, arity)
        if own and beside_the_library(call, own, self.tables) is not None:
            own = self._fitting(call, own)
        if own:
            this = state.env.read((self.root("this"), ())) if cls is not None else mem.NOTHING
            if "::" not in name:
                own = [*own, *self.classes.overriders(own)]
            if ("::" not in name and self._may_be_inherited(own)) or self._may_be_undefined(call, own):
                self.uncertain.add(id(call))
            return [(f, this) for f in own]
        if api is not None:
            return api
        return self._functions_in(self.values(state, ir.Var(name)), arity)

    def _fitting(self, call: ir.Call, own: list[ir.Function]) -> list[ir.Function]:
        """Those of the program's functions that a call may mean which may mean a function of the library too. The types
        of the arguments decide; where they are not known, it may be either.
        """
        found: list[ir.Function] = []
        for function in own:
            fits = [self._binds(p, e) for p, e in zip(function.params, call.args, strict=False)]
            if function.cls is not None or False not in fits:
                found.append(function)
                if function.cls is None and None in fits:
                    self.uncertain.add(id(call))
        return found

    def _binds(self, param: ir.Param, value: ir.Expr) -> bool | None:
        """Whether a reference to an object of a class that may be changed is bound to what is given for it, which is no
        conversion (C++17, 11.6.3 [dcl.init.ref] 5); None where the type of that is not known. True of other parameters.
        """
        if not param.takes_objects_only or "*" in param.type or not self.classes.is_class(param.type):
            return True
        kind = self.type_of(value)
        if not kind or self.classes.is_open(kind):
            return None
        return "*" not in kind and self.classes.may_be_of(kind, param.type)

    def _types_at(self, pointers: Values) -> set[str]:
        """The types of the variables, members and elements that pointers lead to, as they are declared; none where that
        is not known of each of them.
        """
        kinds = set[str]()
        for value in pointers:
            kind, is_array = self._kind_of(value.cell[0]) if isinstance(value, mem.Ref) else ("", False)
            for step, name in value.cell[1] if isinstance(value, mem.Ref) else ():
                if step == "field":
                    kind, is_array = self.classes.type_of_part(kind, [name]), False
                else:
                    kind, is_array = kind if is_array else _element(kind), False
            kinds.add("" if {"*", "&", "["} & set(kind) else kind)
        return kinds if "" not in kinds else set()

    def _functions_in(
        self, values: Values, arity: int, fits: Callable[[ir.Function], bool] = lambda _: True
    ) -> list[tuple[ir.Function, Values]]:
        """The functions that a value may be, a lambda or what a pointer leads to; none where it may be another one, one
        of which none `fits`, or a method that needs an object.
        """
        found = self._named_in(values, arity, lambda f: fits(f) and not _needs_object(f))
        return [(f, mem.NOTHING) for f in found]

    def _methods_in(self, values: Values, of: ir.Expr, arity: int, state: State) -> list[tuple[ir.Function, Values]]:
        """The methods to which a member pointer may lead, with the object that it is called with: one of the class, or
        a pointer to one (C++17, 23.14.3 [func.require] 1). None where it may be another one, or an object of something
        else.
        """
        kind = self.type_of(of)
        if isinstance(of, ir.Addr) or of == ir.Var("this") or "*" in _outer(kind):
            this = self.values(state, of)
        elif isinstance(of, ir.Var | ir.Field | ir.Index | ir.Deref) and self.classes.is_class(kind):
            this = frozenset(mem.reference(cell) for cell in self.cells(state, of))
        else:
            return []
        if not this or not all(isinstance(v, mem.Ptr | mem.Ref) for v in this):
            return []
        found = self._named_in(values, arity, lambda f: _needs_object(f) and not any(map(_is_copied, f.params)))
        return [(f, this) for f in (*found, *self.classes.overriders(found))]

    def _named_in(self, values: Values, arity: int, fits: Callable[[ir.Function], bool]) -> list[ir.Function]:
        pointers = values - {mem.ZERO}  # a call through null ends the program, one of `None` raises
        names = sorted((v.path, v.name) for v in pointers if isinstance(v, mem.Function))
        found = [[f for f in self.program.resolve(name, arity, path) if fits(f)] for path, name in names]
        known = len(names) == len(pointers) and all(found)
        return [f for functions in found for f in functions] if known else []

    def _may_be_inherited(self, found: list[ir.Function]) -> bool:
        """Whether a method of a base that is not seen may hide these functions at namespace scope (C++17, 6.4.1
        [basic.lookup.unqual] 8).
        """
        bases = self.frame.function.bases
        return not self.in_python and all(f.cls is None for f in found) and any(map(self.classes.is_unseen_base, bases))

    def _may_be_undefined(self, call: ir.Call, found: list[ir.Function]) -> bool:
        """Whether a call of one of these may mean another function of the name that the program declares and does not
        define: the types of the arguments do not say that it is one of these (C++17, 16.3 [over.match]).
        """
        scope, _, name = call.callee.removeprefix("::").rpartition("::")
        meant = ir.found_as(scope, self.program.namespaces) if scope else ()
        classes = {last(f.cls) if f.cls is not None else None for f in found}
        others = [
            one
            for one in self.program.undefined.get(name, ())
            if one.takes(len(call.args))
            and (last(one.scope) if one.is_method else None) in classes
            and (not meant or any(f"::{one.scope}".endswith(f"::{other}") for other in meant))
        ]
        return bool(others) and not any(self._is_closer(function, call, others) for function in found)

    def _is_closer(self, function: ir.Function, call: ir.Call, others: list[Prototype]) -> bool:
        """Whether the parameters of a function have the types of the arguments of a call, but for qualifiers, and those
        of none of the others do.
        """
        types = [_plain_type(param.type) for param in function.params]
        given = [_plain_type(self._type_of_argument(arg)) for arg in call.args]
        return (
            types == given
            and "" not in given
            and not any(are_one(tuple(types), tuple(map(_plain_type, one.types[: len(types)]))) for one in others)
        )

    def _type_of_argument(self, value: ir.Expr) -> str:
        """The type of an argument, "" if it is not known."""
        if isinstance(value, ir.Addr):
            kind = self.type_of(value.base)
            return f"{kind} *" if kind else ""
        if isinstance(value, ir.Const):
            return "int" if value.text.isdigit() else ""
        kind = self.type_of(value)
        is_array = isinstance(value, ir.Var) and self.meaning(value.name).is_array
        return f"{kind} *" if kind and is_array else kind

    def _may_call(self, name: str, function: ir.Function) -> bool:
        """Whether a call without an object may mean a function: no method of a class that is not the caller's."""
        caller = self.frame.function
        if function.cls is None or "::" in name or self.in_python:
            return True
        return last(function.cls) in {last(caller.cls or ""), *map(last, caller.bases)}

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
                if not self.in_python and (expr.name.startswith("%") or ir.LAMBDA not in frame.function.name):
                    break  # a variable of the caller is another one
        if isinstance(expr, ir.Const):
            return expr.text if "::" in expr.text else ""  # an object of a library: `thrust::cuda::par`
        if isinstance(expr, ir.Deref):
            kind = self.type_of(expr.base)
            if KEEPS_ONE.fullmatch(kind) is not None:
                return ir.template_arguments(kind)[0]
            return kind.rstrip().removesuffix("*").rstrip()
        if isinstance(expr, ir.Field):
            if (member := ir.member_of_pair(self.type_of(expr.base), expr.name)) is not None:
                return member
            cls = last(self.type_of(expr.base).strip(" *&").partition("<")[0])
            return self.classes.type_of_member(cls, expr.name)
        if isinstance(expr, ir.Index):
            if isinstance(expr.base, ir.Var) and self.meaning(expr.base.name).is_array:
                return self.type_of(expr.base)  # as it is written in front of the name
            return _element(self.type_of(expr.base))
        return ""

    def is_number(self, expr: ir.Expr) -> bool:
        """Whether an expression is a variable that no pointer fits into."""
        if not isinstance(expr, ir.Var) or self.meaning(expr.name).is_array:
            return False
        kind = self.type_of(expr).removeprefix("const ")
        return kind != "" and kind in NUMBERS

    # -- what runs on objects without a call ---------------------------------------------------------------------------

    def held_by(self, cls: str | None, values: Values, span: ir.Span, state: State) -> None:
        """An object of a class holds these: what runs on it without a call may work on them."""
        unseen = self.classes.runs_unseen(cls)
        if unseen:
            text = f"is held by an object on which `{unseen}` may run where no call is written"
            self.obstacle(self.mask(self.reachable(state, values)), "unknown_call", text, span)

    def owned_by(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        """A smart pointer or a container holds these, and makes and destroys objects of a class where no call is
        written: that may work on them.
        """
        cls = self.classes.made_in(kind)
        if cls:
            text = f"is held by a `{cls}` of a smart pointer or container, which ends where no call is written"
            self.obstacle(self.mask(self.reachable(state, values)) & state.live, "unknown_call", text, span)

    def held_in(self, kind: str, held: Callable[[], Values], span: ir.Span, state: State) -> None:
        """A variable of this type holds what is `held`: see `held_by` and `owned_by`."""
        if self.classes.runs_unseen(kind) or self.classes.made_in(kind):
            values = held()
            self.held_by(kind, values, span, state)
            self.owned_by(kind, values, span, state)

    def runs_at_the_end(self, kind: str, values: Values, span: ir.Span, state: State) -> None:
        """An object of a class that is not seen takes a function: a deleter, a guard. It may run when that ends."""
        if kind and kind in NUMBERS:
            return
        functions = self.functions_among(values)
        if not functions or kind.startswith(("std::function", "auto")) or _ITERATOR.fullmatch(kind) is not None:
            return
        if any(map(self.reach.works_on_device, functions)):
            holder = f"a `{kind}`" if kind else "an object"
            text = f"is live where {holder} is given a function, which may run when that ends"
            self.obstacle(state.live, "deleter", text, span)
        if not self.in_python:  # its finalizers are statements
            self._at_the_end.update({id(f): f for f in functions})
            self._held_at_the_end |= {v for v in self.reachable(state, values) if not isinstance(v, mem.Function)}
            self.something_ends(span, state)

    def something_ends(self, span: ir.Span, state: State, freed: Bits = 0) -> None:
        """Objects that hold functions may end from here on, here too. `freed` is the memory that Q gives back here
        without the wait that P has.
        """
        for function in tuple(self._at_the_end.values()):  # what these give others runs where it is given
            if any(frame.function is function for frame in self.frames):
                continue
            if self.reach.works_on_device(function):
                text = "is freed where an object is that calls a function when it ends, which works on the device"
                self.obstacle(freed, "deleter", text, span)
            given = [mem.UNKNOWN | self._held_at_the_end] * len(function.params)
            name = f"{self.frame.name}/{span.path}:{span.start}@{function.span.start}{''.join(self.family)}"
            after, _ = self.inline(function, given, name, mem.UNKNOWN, state.copy())
            if after is not None:
                state.join(after)

    # -- functions of the program --------------------------------------------------------------------------------------

    def function_call(self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State) -> State | None:
        """Inline every function that the call may reach, and join."""
        refers = call.result is not None and any(f.by_reference for f, _ in found)
        if (
            self.passes_over(state)
            and all(self.slicer.is_inert(f) for f, _ in found)
            and not refers
            and not any(self.device_memory(state, arg) for arg in call.args)
            and not any(self.on_device(self.reachable(state, this)) & state.live for _, this in found)
        ):
            for n, arg in enumerate(call.args):
                if isinstance(arg, ir.Addr) or any(n < len(f.params) and f.params[n].by_reference for f, _ in found):
                    whose = arg.base if isinstance(arg, ir.Addr) else arg
                    self.overwritten(state, self.cells(state, whose), fields=False)
                else:
                    places = (v.cell for v in self.values(state, arg) if isinstance(v, mem.Ref))
                    self.overwritten(state, places, fields=False, array=True)
                if any(self.slicer.stores_bytes(f) for f, _ in found):
                    self.seen_as_bytes(state, self.values(state, arg))
            self.result(call, mem.NOTHING, state)
            return state
        if not refers and self._is_one_step(found) and (returned := self._worked_alone(call, found, state)) is not None:
            self.result(call, returned, state)
            for root, path in self.cells(state, call.result) if call.result is not None else ():
                state.env.may_hold(root, path, returned)
            return state
        overloads = frozenset(id(function) for function, _ in found)
        again = call.receiver is None and any(overloads <= around for around in self._overloads)
        self._overloads.append(overloads)
        out = self._follow(call, found, state, again)
        self._overloads.pop()
        return out

    def _follow(
        self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State, again: bool
    ) -> State | None:
        """Run each function that a call may reach. `again`: a call around here may reach the same ones."""
        on_stack = {id(frame.function) for frame in self.frames}
        seen = on_stack.union(id(function) for function, _ in found if again)
        name = f"{self.frame.name}/{call.span.path}:{call.span.start}"
        if self.family:
            name += "".join(self.family)
        out: State | None = None
        value: Values = mem.NOTHING
        inside: dict[paths.Path, Values] = {}
        referred = back = mem.NOTHING
        for function, this in found:
            if id(function) in seen and not self.reach.works_on_device(function) and not self._may_work(call, state):
                given = (*self._argument_values(call, function, state), *(self.whole(state, e) for e in call.given))
                stored = self._comes_back(function, this.union(*given), state)
                back |= stored if function.returns not in NUMBERS else mem.NOTHING
                continue
            deep = len(self.frames) >= MAX_DEPTH
            if deep and self.reach.works_on_device(function):
                raise OutOfBudget
            if id(function) in on_stack and len(found) == 1 and self._may_recur(function, call, this, state):
                return self._recursion(call, function, this, state)
            if id(function) in on_stack or deep:
                one = len(found) == 1 or all(id(f) in on_stack for f, _ in found)
                itself = "calls itself" if one else "may call itself, as it is not decided which overload is meant"
                why = "is called too deep" if deep else itself
                within = self.reach.within(function for function, _ in found)
                within = within._replace(functions=())  # what is known of this call says more
                self.unknown(f"`{said(call)}` {why}", call.given, call, call.span, state, within)
                if id(function) in on_stack:
                    given = (this, *self._argument_values(call, function, state))
                    self._again(function, given, f"`{said(call)}`", call.span)
                return state
            args = self._argument_values(call, function, state)
            start = state.copy() if len(found) > 1 else state
            self._hand_over(call, function, name + "@" * (len(found) > 1) + function.name * (len(found) > 1), start)
            frame_name = name if len(found) == 1 else f"{name}@{function.span.start}"
            classes, instance = self._classes_given(call, function), self._instance_given(call, function)
            end, returned = self.inline(function, args, frame_name, this, start, call.args, classes, instance)
            if end is not None:
                self.held_by(function.cls, this, call.span, end)
            for path, held in self.returned_inside.items():
                inside[path] = inside.get(path, mem.NOTHING) | held
                if len(found) > 1 and path[-1] == ("field", ir.SIZE):
                    inside[path] |= {mem.OTHER}
            referred |= self.referred
            out = joined(out, end)
            value |= returned
        if all(id(function) in seen for function, _ in found):
            out = joined(out, state)
        if out is not None:
            self.result(call, value, out)
            if call.result is not None and inside:
                self.store_parts(out, self.cells(out, call.result), inside, call.span)
            back |= mem.leading(value) if mem.MIXED in value else mem.NOTHING
            for root, path in self.cells(out, call.result) if call.result is not None and back else ():
                out.env.may_hold(root, path, back)
            if referred and isinstance(call.result, ir.Var) and call.result.name.startswith("%"):
                self._refers(out, self.root(call.result.name), referred, all(f.by_reference for f, _ in found))
        return out

    def _again(self, function: ir.Function, given: Sequence[Values], by: str, span: ir.Span) -> None:
        """A function that is running is called again, and is not followed. Unless it is `given` what the first call was
        given, and stores nothing, it does something else: what it makes, or has made and freed, is not proved. Nothing
        is `given` where that is not known.
        """
        first = next(frame for frame in self.frames if frame.function is function)
        names = ("this", *(param.name for param in function.params))
        same = len(given) == len(first.entered) == len(names) and all(
            mem.leading(now) <= mem.leading(then) and (now == then or not self.slicer.decides(ir.Var(name), function))
            for name, now, then in zip(names, given, first.entered, strict=True)
        )
        if same and not self.slicer.stores(function):
            return
        self._made_again(function, by, span)

    def _made_again(self, function: ir.Function, by: str, span: ir.Span) -> None:
        """What a function makes, with all that it calls, is made again by what is not followed."""
        known = self._looked_at.get(id(function), 0)  # what is made behind here is told by `made_again`
        self._looked_at[id(function)] = len(self.outcome.objects)
        if known == len(self.outcome.objects) and id(function) in self.made_again:
            return
        within = self.reach.behind([function])
        for one in within:
            self.made_again.setdefault(id(one), (by, span))
        spans = [one.span for one in within]
        for made in self.outcome.objects[known:]:
            at = made.call.span if made.call is not None else None
            if at is not None and any(s.path == at.path and s.start <= at.start < s.end for s in spans):
                self.is_made_again(made, by, span)

    def _may_run_again(self, functions: Iterable[ir.Function], by: str, span: ir.Span) -> None:
        """Code that is not seen, or not understood, may call these functions: by that some that run may run again."""
        running = {id(frame.function) for frame in self.frames}
        for function in dict.fromkeys(functions):
            if self.reach.works_on_device(function) and not running.isdisjoint(self.reach.all_behind(function)):
                self._made_again(function, by, span)

    def _comes_back(self, function: ir.Function, given: Values, state: State) -> Values:
        """Host code calls itself, and is `given` something else than in the call that is run. It stores that or what it
        makes, and only where that leads, or in variables that others see. Returns all that it may store or return.
        """
        if id(function) in self.classes.storing_elsewhere:
            given |= {mem.Ref((root, ())) for root, _ in state.env if root[0] == "global"}
        within = self.reachable(state, given)
        cells = [v.cell for v in within if isinstance(v, mem.Ref)]
        self.overwritten(state, cells, array=True)
        stored = mem.leading(within)
        if id(function) in self.classes.making_objects:
            stored |= mem.UNKNOWN
        if id(function) not in self.classes.storing_addresses:
            return stored
        roots = {root for root, _ in cells} | {
            ("memory", v.object, "") for v in within if isinstance(v, mem.Ptr) and v.object != mem.EXTERNAL
        }
        self.spend(state, [(root, ()) for root in roots], len(stored))
        for root in roots:
            for path, held in list(state.env[root].items()):
                if mem.leading(held):
                    state.env.replace((root, path), held | stored)
        state.env.write_each((cell, stored) for cell in cells)
        return stored

    @staticmethod
    def _refers(state: State, root: mem.Root, places: Values, always: bool) -> None:
        """The result of a call is another name of one of these places; or, if not `always`, an object of its own."""
        state.env.write([(root, mem.REFERRED)], places if always else places | {mem.Ref((root, ()))})

    def _may_work(self, call: ir.Call, state: State) -> bool:
        """Whether a call gives away a function that works on the device."""
        given = [v for arg in call.args for v in self.values(state, arg) if isinstance(v, mem.Function)]
        return any(self.reach.works_on_device(f) for v in given for f in self.program.resolve(v.name, 0, v.path))

    def _argument_values(self, call: ir.Call, function: ir.Function, state: State) -> list[Values]:
        """What a call gives to the parameters of a function; to a reference the place."""
        args: list[Values] = []
        packed = self._packed(call, state)
        for n, arg in enumerate(call.args):
            if packed is not None and n >= packed[0]:
                _, held, places = packed
                args += [places if param.by_reference else held for param in function.params[n:]]
                break
            if n < len(function.params) and function.params[n].type.endswith("..."):
                rest = call.args[n:]
                held = mem.NOTHING.union(*(self.values(state, a) for a in rest))
                if function.params[n].by_reference:
                    known = (
                        self.reference(c) for a in rest if not isinstance(a, ir.Addr) for c in self.cells(state, a)
                    )
                    held = frozenset(known) | self._kept_apart(call, held, state)
                args.append(held)
                break
            by_reference = n < len(function.params) and function.params[n].by_reference
            place = self.cells(state, arg) if by_reference else []
            if place and not (isinstance(arg, ir.Addr)):
                args.append(frozenset(self.reference(c) for c in place))
            else:
                args.append(self.values(state, arg))
        return args

    # -- functions that call themselves --------------------------------------------------------------------------------

    def _may_recur(self, function: ir.Function, call: ir.Call, this: Values, state: State) -> bool:
        """Whether a function that calls itself, not by way of others, may be run to a fixpoint: it hands back a number
        at most, nobody gets the address of a variable of another activation, what one makes no other ends, and none
        works on a part of what the one before it worked on, and so on without end.
        """
        if self.frame.function is not function or self.catching or ir.LAMBDA in function.name or self.in_python:
            return False
        if len(call.args) != len(function.params) or any(param.type.endswith("...") for param in function.params):
            return False
        if function.returns not in NUMBERS | {"void", ""} or id(function) in self.program.reaching(
            "makes or ends", self._makes_or_ends
        ):
            return False
        active = self._recursions.get(id(function))
        if active is None:
            return True
        given = [(None, values) for values in (this, *self._argument_values(call, function, state))]
        if any(isinstance(v, mem.Ref) and len(v.cell[1]) > MAX_PARTS for _, values in given for v in values):
            return False
        held = [(root, values) for root, cells in state.env for values in cells.values()]
        return not any(active.has(v, root) for root, values in (*given, *held) for v in values)

    def _makes_or_ends(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call):
            return isinstance(stmt, ir.Declare) and ("thrust::" in stmt.type or "device_vector" in stmt.type)
        if stmt.receiver is not None:
            vector = "thrust::device_vector" if self._includes_thrust() else ""
            api = self.tables.method(vector, stmt.callee, len(stmt.args)) if vector else None
        elif self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
            return False
        else:
            api = self.tables.lookup(stmt.callee, len(stmt.args))
        return api is not None and api.effect not in _RECURS and not (api.effect in _MEMORY and api.memory == "host")

    def _includes_thrust(self) -> bool:
        return any("thrust" in include for module in self.program.modules for include in module.includes)

    def _recursion(self, call: ir.Call, function: ir.Function, this: Values, state: State) -> State | None:
        """Run all further activations of a function as one, to a fixpoint: it begins in any state in which one of them
        begins, and ends in any in which one ends. Each has variables of its own: who goes on finds those as they were.
        """
        known = self._recursions.get(id(function))
        self.forget_chosen(state)
        args = self._argument_values(call, function, state)
        here = f"{self.frame.name}/{call.span.path}:{call.span.start}{''.join(self.family)}"
        active = known or Recursion(f"{here} and so on")
        states = active.states
        variables = state.env.variables_of(active.name)
        start = state.copy()
        start.env.forget_calls([active.name])
        for param, arg, values in zip(function.params, call.args, args, strict=True):
            place = [(("local", active.name, param.name), ())]
            start.env.write(place, values)
            if not param.by_reference:
                start.env.write_parts(place, self.parts(state, arg))
        active.begins(start, this)
        if known is None:
            self._recursions[id(function)] = active
            self.loops += 1
            self.recursions += 1
            while states.changed:
                states.changed = False
                assert states.entry is not None
                entry = states.entry.copy()
                given = [entry.env.read((("local", active.name, param.name), ())) for param in function.params]
                end, _ = self.inline(function, given, active.name, active.this, entry)
                states.ends(end)
            self.loops -= 1
            self.recursions -= 1
            del self._recursions[id(function)]
        if states.exit is None:
            return None
        out = states.exit.copy()
        if known is not None:
            out.env.give_back(active.name, variables)
        self.result(call, mem.NOTHING, out)
        return out

    def _is_one_step(self, found: list[tuple[ir.Function, Values]]) -> bool:
        """Whether functions are not followed if they work on the host alone. Short ones are at first: what a step mixes
        up costs more than a few statements.
        """
        if self.followed is Followed.SHORT:
            return any(Alone.of(self.program, self.tables).is_long(f) for f, _ in found)
        return self.followed is Followed.NONE

    def _worked_alone(self, call: ir.Call, found: list[tuple[ir.Function, Values]], state: State) -> Values | None:
        """Run a call as one step (`cudafix.ordering.facts.alone`): what it may have returned; None where it has to be
        followed because it may reach the device, or hold something of it.
        """
        if not state.calm:
            return None
        alone = Alone.of(self.program, self.tables)
        names: set[str] = set()
        stored_in: set[str] = set()
        stores = disguised = False
        for function, _ in found:
            tree = alone.tree(function)
            if tree is None or ir.LAMBDA in function.name or self._is_anchored(tree):
                return None
            for one in tree:
                named, used = alone.names(one)
                names |= named
                stored_in |= used
            stores = stores or any(map(alone.stores, tree))
            disguised = disguised or any(map(alone.changes_bytes, tree))
        reached: set[mem.Value] = {mem.Ref((root, ())) for name in stored_in for root in self._shared(name)}
        for root in (root for name in names - stored_in for root in self._shared(name)):
            reached |= state.env[root].content(())
        for n, arg in enumerate(call.args):
            reached |= self.whole(state, arg)
            if any(n < len(f.params) and f.params[n].by_reference for f, _ in found):
                reached |= {self.reference(cell) for cell in self.cells(state, arg)}
        values = self.reachable(state, frozenset(reached).union(*(this for _, this in found)))
        handles = [v.name for v in values if isinstance(v, mem.Handle)]
        if self.on_device(values) or any(
            isinstance(v, mem.StreamValue | mem.EventValue | mem.Function) for v in values
        ):
            return None
        if any(state.env[mem.stream_of(name)] for name in handles):
            return None
        leads = {v for v in values if isinstance(v, mem.Ptr | mem.Ref | mem.Handle)}
        if stores and len(leads) > (MOST_LEADS if self.followed is Followed.NONE else FEW_LEADS):
            return None
        made = self.new_object("alone", "host", "host", None, state)  # stands for all that such functions allocate
        leads.add(mem.Ptr(made.number))
        anything = frozenset(
            {mem.COMPUTED if leads else mem.OTHER, *leads, *(m for v in leads if (m := mem.moved(v)) is not None)}
        )
        if disguised:
            self.in_disguise = True
        self.mixed_up |= stores
        places: list[mem.Cell] = []
        for value in leads:
            if isinstance(value, mem.Ref):
                root, path = value.cell
                places.append((root, array_of(path)))
            elif isinstance(value, mem.Ptr) and value.object != mem.EXTERNAL:
                places.append((("memory", value.object, ""), ()))
            elif isinstance(value, mem.Handle):
                places.append((("global", "", value.name), ()))
        self.spend(state, places)
        if stores:
            for root, path in places:
                state.env.may_hold(root, path, anything | {mem.ANYWHERE} if disguised else anything)
        else:
            self._numbers_are_stored(state, places)
        if self.catching:  # an exception may leave it when it has stored some of this
            self._thrown = None
            self.perhaps_throws(call, state)
        return anything if any(f.returns not in NUMBERS for f, _ in found) else frozenset({mem.OTHER})

    def _numbers_are_stored(self, state: State, places: Sequence[mem.Cell]) -> None:
        """Host code stores numbers in places, and null where an address is."""
        self.overwritten(state, places, array=True)
        for root, path in places:
            for inner, held in state.env.under((root, path)):
                if mem.leading(held) and mem.ZERO not in held:
                    state.env.replace((root, (*path, *inner)), held | {mem.ZERO})

    def _is_anchored(self, functions: Iterable[ir.Function]) -> bool:
        """Whether the rewritten program has another statement in one of these functions."""
        return any(self.is_rewritten(f.span) for f in functions)

    def _shared(self, name: str) -> Iterator[mem.Root]:
        """The variables at namespace scope that a name may mean in some function."""
        plain = name.removeprefix("::")
        if "::" not in name and plain not in self.program.globals:
            return
        yield "global", "", plain
        for one, path in self.scopes.internal:
            if one == plain:
                yield "global", path, plain
        for path in self.scopes.copies.get(plain, ()):
            yield "global", path, plain

    def _packed(self, call: ir.Call, state: State) -> tuple[int, Values, Values] | None:
        """The position of an argument that expands a parameter pack, what the pack may hold, and where that is."""
        packs: dict[str, ir.Param] = {}
        frame: Frame | None = self.frame
        while frame is not None:  # a lambda may capture one
            packs.update({p.name: p for p in frame.function.params if p.type.endswith("...") and p.name not in packs})
            frame = frame.home
        for n, arg in enumerate(call.args):
            names = [e for e in ir.variables(arg) if isinstance(e, ir.Var) and e.name in packs]
            if names and packs[names[0].name].by_reference:
                return n, self.values(state, ir.Deref(names[0])), self.values(state, names[0])
            if names:
                held = self.values(state, names[0])
                return n, held, self._kept_apart(call, held, state)
        return None

    def _kept_apart(self, call: ir.Call, values: Values, state: State) -> Values:
        """Where references lead to values that are in no variable, or of which it is not known in which."""
        root: mem.Root = ("local", self.frame.name, f"%pack {call.span.start}")
        state.env.write([(root, ())], values)
        return frozenset({mem.Ref((root, ()))})

    def _hand_over(self, call: ir.Call, function: ir.Function, frame: str, state: State) -> None:
        """Copy what structs that are passed by value hold into the callee's parameters."""
        for n, arg in enumerate(call.args):
            if n < len(function.params) and not function.params[n].by_reference:
                root = ("local", frame, function.params[n].name)
                parts = self.parts(state, arg)
                number = function.params[n].type in NUMBERS
                state.env.write_parts([(root, ())], leading_parts(parts) if number else parts)

    def result(self, call: ir.Call, values: Values, state: State) -> None:
        if call.result is not None and not self.frame.slice.drops(call.result):
            if isinstance(call.result, ir.Var) and self.referred_by(state, root := self.root(call.result.name)):
                state.env.replace((root, mem.REFERRED), mem.NOTHING)  # by an earlier round
            held = self.as_address(call.result, values or frozenset({mem.OTHER}))
            cells = self.cells(state, call.result)
            if self.sized:
                state.env.resized(cells)
            self.store(state, cells, held, call.span)
            self.whole_changes(state, call.result, cells, held)
            self.choose(state, call.result, held)

    def through_pointer(self, stmt: ir.Unknown, state: State) -> State | None:
        """A call of a function in a variable, where it is known which functions that may be; None where it is not."""
        values, args = self.values(state, stmt.parts[0]), stmt.parts[1:]
        if values == {mem.ZERO}:  # no program calls what leads to no function (C++17, 8.2.2 [expr.call] 1)
            return state
        library = self.of_libraries(values)
        found = self._functions_in(values - library, len(args))
        if not found and args and not library:
            found, args = self._methods_in(values, args[0], len(args) - 1, state), args[1:]
        if not found and (not library or values - library - {mem.ZERO}):
            return None
        out: State | None = None
        for name in sorted(one.name for one in library):
            out = joined(out, self.call(self._unwritten_calls.of(name, args, stmt.span), state.copy(), In.BOTH))
        if found:
            call = self._unwritten_calls.of(found[0][0].name, args, stmt.span)
            out = joined(out, self.function_call(call, found, state))
        return out

    def of_libraries(self, values: Values) -> frozenset[mem.Function]:
        """The functions of libraries that are among values, and do more than compute."""
        return frozenset(v for v in values if isinstance(v, mem.Function) and self._is_of_library(v.name, v.path))

    def _is_of_library(self, name: str, path: str) -> bool:
        if self.program.resolve(name, 0, path) or not self.tables.acts(name):
            return False
        return not (self.tables.is_in_namespace(name) and self.program.hides_libraries(name))

    def _called_back(self, call: ir.Call, api: Api, state: State) -> tuple[State, Values]:
        """An algorithm of the host calls the functions that it is given, for any number of elements. What they return
        comes second. Those of the nodes of a graph run where it is launched (CUDA Runtime API 13.0, Graph Management).
        """
        for expr in call.given:
            cls = last(self.type_of(expr).strip(" &"))
            deduced = cls.startswith("auto") and not any(isinstance(v, mem.Function) for v in self.values(state, expr))
            if cls in self.classes.callable or (deduced and self.classes.callable):
                called = self.program.methods("operator()", 0)
                within = self.reach.within(f for f in called if deduced or last(f.cls or "") == cls)
                self.unknown(f"`{call.callee}` calls a `{cls}`", (expr,), call, call.span, state, within)
        given = mem.NOTHING.union(*(self.values(state, expr) for expr in call.given if not self.is_number(expr)))
        graphs = [e for role, e in played_by(api, call.given) if role in ("graph", "graph_out")]
        given -= mem.NOTHING.union(*(self.values(state, e) for e in graphs))
        bound = frozenset(v for v in given if isinstance(v, mem.Handle))  # by `std::bind`, `std::mem_fn`
        functions = [v for v in given | self.reachable(state, bound) if isinstance(v, mem.Function)]
        if last(call.callee) in _CALLS_WHAT_IS_HELD:
            held = self.reachable(state, mem.NOTHING.union(*(self.whole(state, expr) for expr in call.given)))
            functions = [v for v in held if isinstance(v, mem.Function)]
        calm = self.passes_over(state)
        named = (f for v in functions for f in self.program.resolve(v.name, 0, v.path))
        found = [f for f in named if not (calm and self.slicer.is_inert(f))]
        library = self.of_libraries(frozenset(functions)) if not self.in_python else ()
        if not found and not library:
            return state, mem.NOTHING
        name = f"{self.frame.name}/{call.span.path}:{call.span.start}{''.join(self.family)}"
        self.loops += 1
        parts = [part for expr in call.args for part in ir.variables(expr)]
        values = mem.NOTHING.union(*(self.whole(state, part) for part in parts))
        elements = self.reachable(state, frozenset(v for v in values if not isinstance(v, mem.Function)))
        if found:  # behind a reference, one of them
            element: mem.Root = ("local", self.frame.name, f"{ANY_ELEMENT}{call.span.start}")
            state.env.write([(element, ())], mem.UNKNOWN | elements)
            elements |= {mem.Ref((element, ()))}
        cells = [cell for part in parts for cell in self.cells(state, part)]
        objects = elements.union(*({mem.Ref(c), mem.Ref((c[0], (*c[1], ("at", paths.ANY))))} for c in cells))
        self.run_in_any_order((), elements | {*library}, call.span, state)
        lazy = "views::" in call.callee  # runs where somebody looks at the elements
        results = mem.NOTHING
        running = {id(frame.function) for frame in self.frames}
        for function in found:
            again = id(function) in running
            if again and not self.reach.works_on_device(function):
                self._comes_back(function, elements, state)
                continue
            if again or len(self.frames) >= MAX_DEPTH:
                text = f"`{call.callee}` calls `{function.name}`, which " + ("runs already" if again else "is too deep")
                self.unknown(text, call.given, call, call.span, state, self.reach.within([function]))
                continue
            places = elements | objects  # `std::visit` calls with what is in an object
            params = [mem.UNKNOWN | (places if param.by_reference else elements) for param in function.params]
            for n, own in self._copies_given(call, function, state):
                params[n] = mem.UNKNOWN | own
            this = mem.UNKNOWN | objects if function.cls is not None else mem.UNKNOWN
            if lazy and self.reach.works_on_device(function):
                self.control(f"`{call.callee}` calls a function later", call.span, state)
            for _ in range(MAX_ROUNDS):
                after, returned = self.inline(function, params, f"{name}@{function.span.start}", this, state.copy())
                results = results.union(returned, *self.returned_inside.values())
                if lazy:
                    self.escape(state, returned, "escapes", f"is an element of `{call.callee}`", call.span)
                if after is None or not state.join(after):
                    break
            else:
                self.control(f"`{call.callee}` calls a function", call.span, state)
        self.loops -= 1
        return state, results

    def run_in_any_order(self, functions: Iterable[ir.Function], values: Values, span: ir.Span, state: State) -> None:
        library = () if self.in_python else self.of_libraries(values)
        self._any_order.run(functions, values, library, span, state)

    def _copies_given(self, call: ir.Call, function: ir.Function, state: State) -> Iterator[tuple[int, Values]]:
        """The parameters of a function that a thread runs which are pointers, and get copies of pointers that the call
        names: each that of its own place (C++17, [thread.thread.constr] 4, [futures.async] 3, by [func.require] 1). An
        object might be converted, by a function of its class.
        """
        if last(call.callee) not in _INVOKES_THE_FIRST or call.receiver is not None or self._packed(call, state):
            return
        if len(call.args) != 1 + len(function.params) or not self._is_only(self.values(state, call.args[0]), function):
            return
        for n, (param, arg) in enumerate(zip(function.params, call.args[1:], strict=True)):
            is_array = isinstance(arg, ir.Var) and self.meaning(arg.name).is_array
            to_pointer = _POINTER.search(param.type) is not None and not param.by_reference
            if to_pointer and (is_array or _POINTER.search(self.type_of(arg))):
                yield n, self.values(state, arg)

    def _is_only(self, values: Values, function: ir.Function) -> bool:
        """Whether a value is this function, which is no method, and no other."""
        if function.cls is not None:
            return False
        found = [self.program.resolve(v.name, 0, v.path) if isinstance(v, mem.Function) else () for v in values]
        return len(found) == 1 and len(found[0]) == 1 and found[0][0] is function

    def may_mean(self, arity: int) -> list[ir.Function]:
        """The functions that are values somewhere, and leave work on the device or change which object is meant: a call
        of what is not known may mean them.
        """
        names = self.program.functions_that_are_values()
        found = [f for name, path in names for f in self.program.resolve(name, arity, path) if len(f.params) == arity]
        if arity:  # the first argument may be the object of a method
            rest = (f for name, path in names for f in self.program.resolve(name, arity - 1, path))
            found += [f for f in rest if f.cls is not None and len(f.params) == arity - 1]
        acting = (f for f in found if self.reach.leaves_work(f) or may_change_values(f, self.slicer, self.reach))
        return [f for f in acting if not ir.begun_by_macro(f.cls)]

    # -- code that is not seen -----------------------------------------------------------------------------------------

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
        state.orders.issue(1 << self._callers_work.number, [UNKNOWN_STREAM], one=False)

    def returns(self, held: Values, point: Point, state: State) -> None:
        """A function returns to unseen code, which may look at anything, and use what it is given as it likes."""
        lost = state.unreported
        for bits in state.orders.lost.values():
            lost |= bits
        for number in numbers(lost & ~self.told):
            op = self.outcome.operations[number]
            self.wrong(Wrong.LEAVES, op, point, via=tuple(op.via))
        kept = self.mask(self.reachable(state, held)) & state.live
        self.obstacle(kept, "escapes", f"is still reachable when {point.text}", point.span)

    def control(self, why: str, span: ir.Span, state: State) -> None:
        """The order of statements is not known here: nothing that is live can be proved; nor, behind a jump back, what
        was made and freed so far, since that may be done again.
        """
        if why == ir.NOT_PARSED:
            self.obstacle(state.live, "parse_error", "is live where the text could not be parsed", span)
            return
        freed = (1 << len(self.outcome.objects)) - 1 & ~state.live
        where = f"where the order of statements is not known: {why}"
        self.obstacle(state.live, "control_flow", f"is live {where}", span)
        if why in ir.JUMPS_BACK:
            self.obstacle(freed, "control_flow", f"may be made again {where}", span)

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
        """Code that is not seen runs, or text of the program that is not understood. Returns what may come back from
        it: the pointers that it is given, too. `within` is what the program says of the work that it leaves. `stays`:
        nothing moves that is live here, for another reason.
        """
        state.may_wait()  # it may wait
        values = mem.NOTHING.union(*(self.reachable(state, self.whole(state, e)) for e in args))
        device = self.on_device(values)
        if self.in_python and self._may_reach_more(values):
            device |= self._all_that_is_held(state)
        self.escaped |= device | (self.mask(values) & self.host_visible)  # who reads what it kept, is not seen either
        self._may_be_pinned(args, values, state)
        self._give_away(values, state)
        functions = self.functions_among(values)
        if not all(map(AnyTime.of(self.program, self.tables).leaves_no_trace, functions)):
            state.threads = True  # it may keep them, and run them where no call shows it: at the end of an object
        runs = why if within is not None and not within.unseen else ""
        name = f"`{said(stmt)}`" if stmt is not None else why
        if self.hands_out(values, args, stmt, state, runs):
            within = Within(works=True, functions=within.functions if within is not None else ())
        got = self.functions_among(state.env.read(_HANDED_OUT))
        self._may_run_again((*functions, *got, *(within.functions if within is not None else ())), name, span)
        if not stays:  # nobody may use what an address led to that was freed (C++17, 6.7 [basic.stc] 4)
            gone = sum(1 << n for n in numbers(device) if self.was_freed(self.outcome.objects[n], state))
            self.obstacle(device & ~gone, "unknown_call", f"is given to code that is not seen: {why}", span)
        seen = "seen" if within is None or stmt is not None else "understood"
        point = Point(span, f"{name} runs, which is not {seen}", stmt)
        self.host_observes(state, Wrong.OUTPUT, point, everything=True)
        self.faults_are_reported(state, point)
        visible = (v for v in values if isinstance(v, mem.Ptr) and self.host_visible >> v.object & 1)
        back = mem.UNKNOWN | frozenset(mem.Ptr(v.object, True) for v in visible)
        changed: list[tuple[mem.Cell, Values]] = []  # what it is given the address of, or a reference, it may change
        references = list(self._may_be_references(args, stmt))
        if self.sized:
            self.lend(state, (cell for expr in references for cell in self.cells(state, expr)))
            shared = (v for root, inner in state.env if root[0] != "local" for v in mem.NOTHING.union(*inner.values()))
            led = self.reachable(state, values.union(shared))
            self.lend(state, (value.cell for value in led if isinstance(value, mem.Ref)))
            state.env.resized((root, ()) for root, _ in list(state.env) if root[0] != "local" or root in self.lent)
        for expr in references:
            for cell, held in self._inside(state, expr):
                if mem.leading(held) or (mem.ZERO in held and not self.is_number(expr)):
                    changed.append((cell, held | back))
        for value in values:
            if isinstance(value, mem.Ref):
                held = state.env.read(value.cell)
                if any(isinstance(v, mem.Ptr | mem.StreamValue | mem.EventValue) for v in held) or value.cell[1] == ():
                    changed.append((value.cell, held | back))
            changed += [(cell, held | back) for cell, held in self.queues_inside(value, state)]
        state.env.write_each(changed)  # behind all that was read: a set has no order
        if not self.in_python:
            self._numbers_change(references, values, state)
        if stmt is not None and stmt.receiver is not None and back != mem.UNKNOWN:  # the object may keep them
            cells = self.cells(state, stmt.receiver)
            state.env.write([*cells, *cells], back)
        reached = mem.NOTHING
        if self._is_of_the_program(stmt, why):
            self.functions_change(state)
            reached = self._held_in_globals(state)
        known = within is not None and why.startswith(f"{name} ")
        said_of_it = f"{name}, which {why[len(name) + 1 :]}," if known else ""
        self._foreign_work(stmt, name, self.mask(values | reached), state, within, said_of_it)
        return back

    def lend(self, state: State, cells: Iterable[mem.Cell]) -> None:
        """Somebody gets these places who may keep them, and change the sizes of the containers there at any time."""
        for root, path in cells:
            if any(inner[-1:] == (("field", ir.SIZE),) for inner, _ in state.env.under((root, path))):
                self.lent.add(root)
                state.env.resized([(root, path)])

    def references_change(self, call: ir.Call, state: State) -> None:
        """A function that is out of reach may store what it gets in the places that it gets: `u.reset(p)`."""
        stored = mem.leading(mem.NOTHING.union(*(self.values(state, e) for e in call.args))) | mem.UNKNOWN
        for expr in self._may_be_references(call.given, call):
            inside = self._inside(state, expr)
            state.env.write_each([(cell, held | stored) for cell, held in inside if mem.leading(held)])

    def _inside(self, state: State, expr: ir.Expr) -> Iterator[tuple[mem.Cell, Values]]:
        """The places in those that an expression may name, themselves included, and what they hold."""
        for root, path in self.cells(state, expr):
            for inner, held in state.env.under((root, path)):
                yield (root, (*path, *inner)), held

    def queues_inside(self, value: mem.Value, state: State) -> Iterator[tuple[mem.Cell, Values]]:
        """The places inside of what a pointer leads to, any element and any field, that hold streams or events, or
        objects of Python that own one: who gets that may store others there.
        """
        place = mem.at(value, paths.ANY) if isinstance(value, mem.Ptr) else None
        place = value.cell if isinstance(value, mem.Ref) else place
        if place is None:
            return
        root, path = place
        base = array_of(path)
        for inner, held in state.env.under((root, base)):
            if mem.has_queue(held) or state.env.leads_to_owner(held):
                yield (root, (*base, *inner)), held

    def _may_be_references(self, args: tuple[ir.Expr, ...], call: ir.Call | None) -> Iterator[ir.Expr]:
        """The arguments of code that is not seen that it may store in: all places but those for which each declaration
        has a parameter that is a value, or a reference to what is `const` (C++17, 11.3.2 [dcl.ref]).
        """
        if self.in_python:
            return
        listed = self._declared.get(last(call.callee), []) if call is not None else []
        fitting = [flags for flags in listed if call is not None and len(flags) >= len(call.args)]
        first = len(args) - len(call.args) if call is not None else 0  # the object comes first
        for number, expr in enumerate(args, -first):
            known = fitting and number >= 0 and not any(flags[number] for flags in fitting)
            places = expr.options if isinstance(expr, ir.Choice) else (expr,)
            if not known:
                yield from (one for one in places if isinstance(one, ir.Var | ir.Field | ir.Index | ir.Deref))

    @property
    def _declared(self) -> dict[str, list[tuple[bool, ...]]]:
        """The functions that the files of the program declare, by last name component: of each declaration, which of
        its parameters it may store in.
        """

        def found() -> dict[str, list[tuple[bool, ...]]]:
            listed: dict[str, list[tuple[bool, ...]]] = {}
            for module in self.program.modules:
                for name, flags in module.prototypes.items():
                    listed.setdefault(name, []).extend(flags)
            return listed

        return self.program.kept("declared", found)

    def _may_be_pinned(self, args: tuple[ir.Expr, ...], values: Values, state: State) -> None:
        """Code that is not seen may pin the memory that it is given, by its address or as an object."""
        named = (e for e in args if isinstance(e, ir.Var | ir.Field | ir.Index | ir.Deref))
        places = [mem.Ref(cell) for e in named for cell in self.cells(state, e)] if not self.in_python else []
        given = frozenset((*places, *(v for v in values if isinstance(v, mem.Ptr | mem.Ref))))
        self.escaped |= self.mask(given) & self.of_the_host  # and what comes back may lead there
        self.may_pin(given)
        runs = self.registers and any(isinstance(v, mem.Function) for v in values)
        self.pins_unknown |= runs or any(self._is_lost_address(e, state) for e in args)

    def _is_lost_address(self, expr: ir.Expr, state: State) -> bool:
        """Whether an argument may be an address, or an object of Python with memory, of which nobody knows where that
        is.
        """
        if isinstance(expr, ir.Const | ir.FuncRef | ir.Addr):
            return False
        values = self.values(state, expr)
        if self.in_python:
            return any(v is mem.OTHER for v in values)
        kind = self.type_of(expr)
        return ("*" in kind or not kind) and self.is_unset(values)

    def _is_of_the_program(self, stmt: ir.Call | None, why: str) -> bool:
        """Whether unseen code may be a function of the program: it knows the names of its global variables."""
        if stmt is None:
            return why == ir.THROUGH_POINTER
        return not self.in_python and last(stmt.callee) in self._declared

    def functions_change(self, state: State) -> None:
        """A function of the program that is not seen may put another one into a variable whose name it knows."""
        places = [
            (root, path)
            for root, inner in state.env
            if root[:2] == ("global", "") and (g := self.global_at(root)) is not None and not g.internal
            for path, values in inner.items()
            if any(isinstance(v, mem.Function) for v in values)
        ]
        state.env.write_each((place, mem.UNKNOWN) for place in places)

    def _held_in_globals(self, state: State) -> Values:
        """What leads to memory in the variables of which all files of the program know the names."""
        held = (
            v for root, inner in state.env if root[:2] == ("global", "") for v in mem.NOTHING.union(*inner.values())
        )
        return self.reachable(state, frozenset(held))

    def _numbers_change(self, references: Iterable[ir.Expr], values: Values, state: State) -> None:
        """Code that is not seen may store numbers: through references and addresses, and in variables that others see.
        The index of a loop is what the loop says.
        """
        cells = [cell for expr in references for cell in self.cells(state, expr)]
        read = [(cell, state.env.read(cell)) for cell in dict.fromkeys(cells)]
        named = [c for c, held in read if not any(isinstance(v, mem.Number) and "|" in v.text for v in held)]
        self.overwritten(state, named)
        self.overwritten(state, [v.cell for v in values if isinstance(v, mem.Ref)], array=True)
        seen = [root for root, _ in state.env if (g := self.global_at(root)) is not None and not g.internal]
        self.overwritten(state, [(root, ()) for root in seen], array=True)

    def _others_look(self, call: ir.Call, text: str, state: State) -> None:
        """Another host thread may look at anything from here on."""
        point = Point(call.span, text, call)
        self.host_observes(state, Wrong.HOST_ACCESS, point, everything=True)
        self.faults_are_reported(state, point)

    def _give_away(self, values: Values, state: State) -> None:
        """Code that is not seen gets objects of Python: what comes from there may be one of their classes."""
        if not self.in_python:
            return
        places = (place for value in values if (place := mem.at(value, "0")) is not None)
        classes = map(state.env.class_of, places)
        found = frozenset(one for held in classes for one in held if isinstance(one, mem.Number))
        if not found <= (known := state.env.read(_GIVEN_AWAY)):
            state.env.write([_GIVEN_AWAY], known | found)

    def hands_out(
        self,
        values: Values,
        args: Iterable[ir.Expr],
        call: ir.Call | None,
        state: State,
        runs: str = "",
        library: str = "",
    ) -> bool:
        """Code that is not seen gets functions of the program, or objects with methods, or these as template arguments:
        it may call them, now and whenever it runs again. True if it may leave work by that. `runs` says what code of
        the program it is, where it is no external one. That of a `library` calls nothing that others have got (`Api`).
        """
        able = self.program.kept("of use elsewhere", lambda: _of_use_elsewhere(self.program, self.reach, self.slicer))
        if self.in_python:
            return False
        path = self.frame.function.span.path
        words = set(_WORD.findall(call.template_args)) if call is not None else set[str]()
        for expr in args:
            for part in self._handed_over(expr):
                if isinstance(part, ir.Var | ir.Field | ir.Index | ir.Deref):
                    words.update(_WORD.findall(self.type_of(part)))
        names = (
            {v.name for v in values if isinstance(v, mem.Function)} | words | (set[str]() if library else {_REGISTERED})
        )
        found: Values = frozenset(mem.Function(one, path) for name in names for one in able.get(last(name), ()))
        found |= self.of_libraries(values)
        if found:
            found |= {v for v in values if isinstance(v, mem.Ref)}
        own: mem.Cell = (("global", "", f"<what {library} was given>"), ()) if library else _HANDED_OUT
        known = state.env.read(own)
        for place in dict.fromkeys((own, _HANDED_OUT)):
            if not found <= (held := state.env.read(place)):
                state.env.write([place], held | found)
        span = call.span if call is not None else self.frame.function.span
        named = self.program.kept("functions by name", lambda: _by_name(self.program))
        held = [f for v in known | found if isinstance(v, mem.Function) for f in named.get(v.name, ())]
        leaving = [function for function in held if self.reach.leaves_work(function)]
        if one := min((last(function.name) for function in leaving), default=""):
            what = "a lambda" if f"::{one}".startswith(ir.LAMBDA) else f"`{one}`"
            text = f"is live where {runs or 'an external function runs'}, which holds {what} and may call it"
            self.obstacle(state.live, "unknown_call", text, span)
        self.run_in_any_order(held, known | found | values, span, state)
        return bool(leaving) or any(map(self.reach.leaves_work, self.functions_among(values)))

    def _handed_over(self, expr: ir.Expr) -> Iterator[ir.Expr]:
        """An argument and everything inside it, but of a member of a known type not the object that it is of: nobody
        gets from the one to the other. The member of a template may be what its argument says.
        """
        if isinstance(expr, ir.Addr) and isinstance(expr.base, ir.Field):
            yield from self._handed_over(expr.base)
        elif isinstance(expr, ir.Field) and self.type_of(expr) and (of := self.type_of(expr.base)) and "<" not in of:
            yield expr
        else:
            yield from ir.variables(expr)

    def _foreign_work(
        self, call: ir.Call | None, name: str, bits: Bits, state: State, within: Within | None, words: str = ""
    ) -> None:
        """What unseen code may leave running: an operation on a stream of its own. Proofs that need it not to exist
        say so. Work of code that the program has cannot be assumed away: messages may use other `words` for that.
        """
        # text that is not understood may keep the memory of the host that it is given, and work on it later
        keeps = call is None and bool(bits & self.of_the_host)
        works = within is not None and (within.works or (keeps and not within.unseen))
        if within is not None and not works:
            if not within.unseen:
                return
            name = "`" + "`, `".join(within.unseen) + "`"
        op = self.operation(("foreign", name, works), call, f"work of {words if words and works else name}", state)
        if not works:
            op.assumption = Assumption("leaves_no_work", name)
        span = call.span if call is not None else self.frame.function.span
        self.issue(op, frozenset({UNKNOWN_STREAM}), state, In.BOTH, span, bits | 1, bits | 1, prints=True)

    def _may_reach_more(self, values: Values) -> bool:
        """Whether a function of the program is among these: a function of Python reaches what its scope holds."""
        path = self.frame.function.span.path
        return any(isinstance(v, mem.Function) and self.program.resolve(v.name, 0, path) for v in values)

    def _all_that_is_held(self, state: State) -> Bits:
        """All memory that some variable leads to."""
        held = mem.NOTHING.union(*(values for _, inner in state.env for values in inner.values()))
        return self.mask(self.reachable(state, held)) & state.live

    def _visible(self, state: State) -> Bits:
        bits = 0
        for root, inner in state.env:
            if root[0] == "global" or (root[0] == "local" and root[1] == self.frame.name):
                for values in inner.values():
                    bits |= self.mask(self.reachable(state, values))
        return bits

    # -- the end of a function, of a program ---------------------------------------------------------------------------

    def _throw(self, call: ir.Call, state: State) -> None:
        """An exception reaches the handlers around it; without one the process ends."""
        if self.catching:
            for arg in call.args:
                self.escape(state, self.whole(state, arg), "escapes", "is thrown", call.span)
            self.unwind(state, len(self.frames))  # where it is thrown, the destructors are written down
        else:
            self.ends(state, Point(call.span, "an exception ends the program", call))

    def ends(self, state: State, point: Point) -> None:
        """The process ends: what a kernel prints must be out, no error may go unnoticed, and a file or a segment that
        is mapped has what others find there later.
        """
        self.host_observes(state, Wrong.EXIT, point)
        stays = self.kept | (self.shared_bit and self.shared_bit | 1)
        self.host_observes(state, Wrong.HOST_ACCESS, point, reads=stays, writes=self.kept)
        self.faults_are_reported(state, point)
        if not self.is_ending:  # a handler may end the process itself
            self.is_ending = True
            self._behind_main(state)
            self.is_ending = False

    def _behind_main(self, state: State) -> None:
        """What the functions that were given to `atexit` and the destructors of statics do: they run before the
        runtime is shut down, if they were given or made after its first use. Destructors that work on the device are
        left out, with what they free.
        """
        held = held_at_namespace_scope(state)  # a deleter gets what its owner has then
        for function, given in self.at_exit.values():
            args = [given | held] * len(function.params)
            self.inline(function, args, f"{self.frame.name}/at exit", mem.NOTHING, state.copy())
        unseen = self.program.kept("unseen behind main", lambda: _unseen_statics(self.program))
        if unseen:
            point = Point(self.frame.function.span, f"`{unseen}` runs, which is not seen", None)
            self.host_observes(state.copy(), Wrong.OUTPUT, point, everything=True)
        for function, root in self.program.kept("behind main", lambda: _destructors_of_statics(self.program)):
            if not self.reach.works_on_device(function):
                copy = state.copy()
                held = self.reachable(copy, frozenset({mem.Ref((root, ()))}))
                this = frozenset({mem.Ref((root, ())), *(v for v in held if isinstance(v, mem.Ref | mem.Ptr))})
                self.inline(function, [], f"{self.frame.name}/behind main", this, copy)

    def _parallel_region(self, call: ir.Call, state: State) -> None:
        """Several host threads run the statement behind an OpenMP pragma: what is live may not be touched there."""
        inside = tuple(s for s in walk(self.frame.function.body) if call.span.start < s.span.start < call.close)
        if self.reach.device_work_in(inside, self.frame.function.cls):
            text = f"is touched in a region of `{call.callee}`"
            self.obstacle(self._visible(state) & state.live, "several_host_threads", text, call.span)


def _unseen_statics(program: Program) -> str:
    """The destructor of a variable that lives until the end of the program, of a class that is not seen."""
    names = (variable.unseen for module in program.modules for variable in module.globals)
    found = next(filter(None, names), "")
    return f"{found}::~{last(found)}" if found else ""


def _destructors_of_statics(program: Program) -> list[tuple[ir.Function, mem.Root]]:
    """The destructors of the variables that live until the end of the program, and what these are; of smart pointers
    and containers those of what they hold.
    """
    found: list[tuple[ir.Function, mem.Root]] = []
    for module in program.modules:
        for variable in module.globals:
            if "*" in variable.type:
                continue
            root: mem.Root = ("global", module.path if variable.internal else "", variable.name.removeprefix("::"))
            for kind in (variable.type, *ELEMENT.findall(variable.type)):
                cls = last(kind.partition("<")[0].strip())
                ending = program.resolve(f"{cls}::~{cls}", 0, module.path) if cls else []
                found += [(function, root) for function in ending if (function, root) not in found]
    return found


def _of_use_elsewhere(program: Program, reach: Reach, slicer: Slicer) -> dict[str, tuple[str, ...]]:
    """The functions that leave work on the device, or store what may decide, whatever they are given, since they know
    global variables or those around them: by their own last name components, those of their classes, of the bases of
    these and of the derived ones, and of the classes whose members lead there; by `_REGISTERED`, those of classes with
    a base that is not seen, which has got each object when it was made.
    """
    found: dict[str, dict[str, None]] = {}
    derived: dict[str, set[str]] = {}
    for function in program.functions():
        for base in function.bases:
            derived.setdefault(last(base), set()).add(last(function.cls or ""))
    classes = Classes.of(program, reach)
    values = {last(name) for name, _ in program.functions_that_are_values()}
    values |= Callbacks.of(program, reach.tables).names
    texts = (stmt for function in program.functions() for stmt in function.statements if isinstance(stmt, ir.Unknown))
    values |= {last(one.name) for text in texts for one in text.reaches or () if isinstance(one, ir.FuncRef)}
    for function in program.functions():
        named = function.cls is not None or ir.LAMBDA in function.name or last(function.name) in values
        changes = named and may_change_values(function, slicer, reach)
        acts = reach.leaves_work(function) or changes
        if acts and (ir.LAMBDA in function.name or reach.names_globals(function)):
            own = [] if function.cls is None else [last(function.cls), *map(last, function.bases)]
            of_class = derived.get(own[0], set()) if own else ()
            registered = [_REGISTERED] if any(map(classes.is_unseen_base, function.bases)) else []
            for name in (last(function.name), *own, *of_class, *registered):
                found.setdefault(name, {})[function.name] = None
    members = _led_to_by_members(program) if found else {}
    leading = {name: [f for cls in sorted(led) for f in found.get(cls, ())] for name, led in members.items()}
    return {
        name: tuple(dict.fromkeys((*found.get(name, ()), *leading.get(name, ()))))
        for name in (*found, *(name for name, functions in leading.items() if functions))
    }


def _by_name(program: Program) -> dict[str, list[ir.Function]]:
    found: dict[str, list[ir.Function]] = {}
    for function in program.functions():
        found.setdefault(function.name, []).append(function)
    return found


def _led_to_by_members(program: Program) -> dict[str, set[str]]:
    """The names in the types of the members of each class, of the classes of these, and so on."""
    found: dict[str, set[str]] = {}
    for module in program.modules:
        for cls, kinds in module.members.items():
            found.setdefault(last(cls), set()).update(*map(_WORD.findall, kinds))
    for own in found.values():
        fresh = own & found.keys()
        while fresh:
            more = set().union(*(found[cls] for cls in fresh)) - own
            own |= more
            fresh = more & found.keys()
    return found


def _is_copied(param: ir.Param) -> bool:
    """Whether a constructor may run for what is given for a parameter."""
    return not (param.by_reference or "*" in param.type or param.type.removeprefix("const ") in NUMBERS)


def _needs_object(function: ir.Function) -> bool:
    """Whether a function is a method that is called with an object; a lambda has the one around it."""
    return function.cls is not None and not function.unbound and ir.LAMBDA not in function.name


def said(call: ir.Call) -> str:
    """What a call calls, in words."""
    if call.callee == ir.DELETER:
        return "the deleter of a smart pointer"
    names = (_OF_OPERATOR.sub("operator ", name) for name in ir.names_of(call.callee))
    return "` or `".join(names).removeprefix("::")


_OF_OPERATOR = re.compile(r"operator(?=new|delete)")  # names are kept without blanks

_GIVEN_AWAY: mem.Cell = (("global", "", "<classes of objects that were given away>"), ())

_REGISTERED = "<registered>"

_HANDED_OUT: mem.Cell = (("global", "", ir.HANDED_OUT.removeprefix("::")), ())


def held_at_namespace_scope(state: State) -> Values:
    """What the variables at namespace scope hold, those that only one file sees too."""
    return mem.NOTHING.union(*(held for root, inner in state.env if root[0] == "global" for held in inner.values()))


def _element(kind: str) -> str:
    """The type of what `[]` gives: an element of an array or of a container, or what a map has for a key."""
    if kind.endswith("[]"):
        return kind.removesuffix("[]").rstrip()
    if "<" not in kind or ">" not in kind:
        return kind
    if kind[kind.rindex(">") + 1 :].strip(" &"):  # a pointer to containers
        return kind.rstrip(" &").removesuffix("*").rstrip()
    arguments = ir.template_arguments(kind)
    return arguments[kind.partition("<")[0].endswith("map") and len(arguments) > 1]


def _outer(kind: str) -> str:
    """A type without its template arguments."""
    return kind.partition("<")[0] + kind.rpartition(">")[2] if "<" in kind else kind


def _plain_type(kind: str) -> str:
    """A type without its qualifiers; of what may be any, none."""
    plain = _QUALIFIERS.sub("", kind)
    return "" if plain.startswith(("auto", "decltype")) else plain
