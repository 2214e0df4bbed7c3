"""Which statements matter: the slice of a function that the ordering engine has to run.

A statement is *quiet* if it changes nothing that a proof is made of, and only looks: it computes, prints, reads a
clock, or ends the process. It matters only while P guarantees to the host what Q does not, or an error is unreported;
otherwise the engine passes over it. A variable is *observed* if its value may decide what a statement touches, on which
stream or device: assignments of all others are quiet. The analysis knows no order of statements, and no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Flag, auto
from itertools import zip_longest

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.types import Type
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, played, played_by, plays, roles_of
from cudafix.ordering.facts.callbacks import Callbacks
from cudafix.ordering.facts.deciding import deciding, owner
from cudafix.ordering.facts.pageable import has_its_own
from cudafix.ordering.facts.plain import (
    ADDRESS,
    NUMBERS,
    PLAIN,
    beside_elements,
    held_in,
    holds_numbers,
    is_address,
    is_own_array,
    may_be_array,
    may_lead,
    number_type,
    stored_as_bytes,
)

NULLS = frozenset({"0", "NULL", "nullptr", "0L", "0u", "0U", "0UL", "false", "NIL"})
_STANDARD = tuple(f"std::{name}" for name in "vector string_view string atomic map fstream streambuf exception".split())
_HANDED_BACK = frozenset({"same", "element", "view", "given", "hidden"})
_INERT = frozenset({Effect.HOST, Effect.OUTPUT, Effect.CLOCK, Effect.READ, Effect.NOTHING})
_HOST_ROLES = frozenset("- hr hw hrw look hidden out put path mode segment kind flags device".split())
_WRITES = frozenset(("hw", "hrw", "hidden", "out"))
_HANDLES = frozenset("swap new alias found stream_out event_out handle_out pool_out graph_out".split())
_STORES = _WRITES | {"swap", "w", "rw", "use"}
_HOST_MEMORY = frozenset(("hr", "hw", "hrw", "path", "mode"))
_READS = frozenset(("hr", "hrw"))
_MEMORY_WRITES = frozenset(("hw", "hrw"))
_HANDED = _HOST_MEMORY | {"hidden"}
_ON_THE_HOST = frozenset({Effect.HOST, Effect.OUTPUT, Effect.CLOCK, Effect.READ, Effect.EXIT})
_OWNERS = re.compile(r"(?:ptr|optional)\s*<", re.IGNORECASE)  # what they hold is destroyed where no call is written
_LIBRARIES = ("std::", "::std::", "thrust::", "::thrust::")  # nobody else defines functions there

_TIMES = re.compile(r"(?:std::)?chrono::\w+(?:<.*>|::time_point|::duration)?")  # made of numbers (C++17, 23.17 [time])
_HALVES = frozenset(("half", "__half", "__nv_bfloat16"))
_RESIZES = frozenset(
    "push_back emplace_back pop_back insert emplace erase erase_if clear resize assign swap append_range assign_range "
    "insert_range".split()
)
"""After these a container may have another number of elements ([vector.modifiers], [vector.erasure])."""
_LONG = _HALVES | {"long", "long long", "size_t", "int64_t", "uint64_t"}
_PLAIN = frozenset(("", "void", "auto", "FILE", "T"))


def _holds_pointers(expr: ir.Expr, function: ir.Function, raw: bool = False) -> bool:
    """Whether there may be pointers in the memory that an argument leads to, by its type as far as that is known.
    `raw`: also in an array of numbers, or in one number that is as large.
    """
    match expr:
        case ir.Const() | ir.FuncRef() | ir.Opaque():
            return False
        case ir.Addr(ir.Var(name)):
            kind = function.types.get(name, "")
            return kind not in NUMBERS or (raw and (kind == "double" or may_be_array(name, function)))
        case ir.Addr(ir.Index(base)) | ir.Offset(base) | ir.Index(base):
            return _holds_pointers(base, function, raw)
        case ir.Var(name) if name in function.types:
            kind = function.types[name]
            whole = may_be_array(name, function) or (":" in name and "*" in kind)  # it may be an array of pointers
            kinds = (kind.removesuffix("&").strip(),) if whole else held_in(kind)
            return raw or not all(one in NUMBERS or one in _HALVES for one in kinds)
        case _:
            return True


def _may_have_handles(kind: str) -> bool:
    """Whether an object of a type may have pointers, streams or events in it: no number, text or container of these."""
    of = Type.of(kind)
    whole = (of.library.parts or of.library.pageable) and not of.library.pairs
    holds = whole and (of.library.numbered or len(of.arguments) == 1)
    inside = of.arguments[0] if holds else of.core
    plain = number_type(inside) or inside
    return "*" in of.marks or (plain not in PLAIN | _HALVES and _TIMES.fullmatch(of.core) is None)


def _may_be_addresses(expr: ir.Expr, function: ir.Function) -> bool:
    """Whether an argument may be a pointer to addresses, or a reference to one, by its type as far as that is known."""
    named = isinstance(expr, ir.Var) and ADDRESS.search(function.types.get(expr.name, "")) is not None
    return _holds_pointers(expr, function) or (named and not holds_numbers(expr, function))


def moves_pointers(function: ir.Function, tables: Tables) -> frozenset[int]:
    """The calls in a function (by `id`) of host functions that may copy, store, reorder or overwrite pointers:
    `memcpy`, `fill`, `iter_swap`, `v.erase`, `memset`.
    """
    found: set[int] = set()
    for stmt in function.statements:
        if not isinstance(stmt, ir.Call):
            continue
        if stmt.receiver is None:
            api = tables.lookup(stmt.callee, len(stmt.args))
        else:
            kind = function.types.get(stmt.receiver.name, "") if isinstance(stmt.receiver, ir.Var) else ""
            api = tables.method(kind, stmt.callee, len(stmt.args)) if kind else None
        if api is None or api.effect not in HOST_EFFECTS or api.any:
            continue
        given = list(played_by(api, stmt.given))
        reads = any(
            (role in _READS and _holds_pointers(e, function)) or (role == "put" and may_lead(e, function))
            for role, e in given
        )
        if any(role in _MEMORY_WRITES and _holds_pointers(e, function, reads) for role, e in given):
            found.add(id(stmt))
    return frozenset(found)


def fills_structs(function: ir.Function, tables: Tables) -> frozenset[int]:
    """The calls in a function (by `id`) of host functions that store in all of a struct, or of an array of them:
    `memset(p, 0, sizeof *p)`.
    """
    found: set[int] = set()
    for stmt in function.statements:
        if isinstance(stmt, ir.Call) and stmt.receiver is None:
            api = tables.lookup(stmt.callee, len(stmt.args))
            for role, expr in played_by(api, stmt.args) if api is not None else ():
                if role in _WRITES and isinstance(expr, ir.Var) and _is_struct(function.types.get(expr.name, "")):
                    found.add(id(stmt))
    return frozenset(found)


def _is_struct(kind: str) -> bool:
    """Whether a type is a struct, a pointer or a reference to one, as far as its words say."""
    plain = kind.removeprefix("const ").removeprefix("struct ").rstrip(" *&")
    return not (plain in NUMBERS or plain in _LONG or plain in _PLAIN or plain.startswith("std::"))


class Way(Flag):
    """How control may leave a statement."""

    BELOW = auto()
    BREAK = auto()
    CONTINUE = auto()
    END = auto()  # the process ends


_PASSES = Way.BELOW | Way.END  # with END alone, what follows is not reached


class Slice:
    """The quiet statements of one function, by `id`, those of them that write through pointers, what they hand to host
    functions, and the observed variables.
    """

    __slots__ = ("handed", "observed", "quiet", "writes")

    def __init__(
        self,
        quiet: frozenset[int],
        writes: frozenset[int],
        handed: dict[int, tuple[ir.Expr, ...]],
        observed: frozenset[str],
    ) -> None:
        self.quiet = quiet
        self.writes = writes
        self.handed = handed
        self.observed = observed

    def drops(self, result: ir.Expr) -> bool:
        """Whether the result of a call is a temporary that nobody looks at."""
        return isinstance(result, ir.Var) and result.name.startswith("%") and result.name not in self.observed


def for_the_host(call: ir.Call, api: Api, certain: bool) -> Iterator[ir.Expr]:
    """The arguments that no function which works on the host alone can be given device memory in. If one is, the call
    reaches another function, which only has the name of that one. `certain`: the type of the object is known. In Python
    a name says which module it is of.
    """
    if api.any or api.effect not in _ON_THE_HOST or call.callee.startswith(_LIBRARIES) or certain:
        return
    if call.span.path.endswith(ir.PYTHON):
        return
    roles = roles_of(api, len(call.args) + (call.receiver is not None))[call.receiver is not None :]
    for role, arg in zip_longest(roles, call.args, fillvalue="-"):
        if isinstance(arg, str | ir.Const | ir.FuncRef):
            continue
        if plays(role, _HANDED) or (
            role == "-" and api.returns not in ("same", "element", "view", "given") and not isinstance(arg, ir.Opaque)
        ):
            yield arg


def is_outside(place: ir.Expr) -> bool:
    """Whether who is not in a function may see what is stored in a place."""
    return not isinstance(place, ir.Var) or "::" in place.name


def _is_assigned_outside(place: ir.Expr) -> bool:
    """The same of a place that is assigned to: also by a reference that a call has returned."""
    return is_outside(place) or (isinstance(place, ir.Var) and place.name.startswith("%"))


def _is_copied(stmt: ir.Stmt, function: ir.Function) -> bool:
    """Whether a statement stores in a temporary that is no reference which a call has returned."""
    target = stmt.target if isinstance(stmt, ir.Assign) else None
    if not isinstance(target, ir.Var) or not target.name.startswith("%"):
        return False
    return target.name not in function.kept("results", _results)


def _results(function: ir.Function) -> frozenset[str]:
    """The variables that calls store their results in."""
    calls = (one.result for one in function.statements if isinstance(one, ir.Call))
    return frozenset(one.name for one in calls if isinstance(one, ir.Var))


class Slicer:
    """Slices the functions of a program, each once."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self._program = program
        self._tables = tables
        self._slices: dict[int, Slice] = {}
        self._shared: dict[str, set[str]] = {}  # by function: what lambdas inside of it name
        self._outward: set[int] = set()  # statements of lambdas that matter to the function around
        self._moves: set[int] = set()
        self._fills: set[int] = set()
        for function in program.functions():
            self._moves |= function.kept("moves pointers", lambda f: moves_pointers(f, tables))
            self._fills |= function.kept("fills structs", lambda f: fills_structs(f, tables))
            outer, inside, _ = function.name.rpartition(ir.LAMBDA)
            if not inside:
                continue
            named: set[str] = set()
            for stmt in function.statements:
                for expr in expressions(stmt):
                    names_in(expr, named)
                if isinstance(stmt, ir.Assign) and isinstance(stmt.target, ir.Var):
                    if stmt.target.name in function.captures:
                        self._outward.add(id(stmt))
                elif isinstance(stmt, ir.Call) and any(
                    isinstance(e, ir.Var) and e.name in function.captures and "*" in function.types.get(e.name, "")
                    for e in stmt.args
                ):
                    self._outward.add(id(stmt))  # nobody hands it over to the lambda
            while outer:  # a lambda in a lambda shares the variables of both
                self._shared.setdefault(outer, set()).update(named & function.captures)
                outer = outer.rpartition(ir.LAMBDA)[0]
        self._function: ir.Function
        self._observed: set[str]
        self._quiet: set[int]
        self._writes: set[int]
        self._handed: list[ir.Expr]
        self._handed_in: dict[int, tuple[ir.Expr, ...]]

        self._callbacks = Callbacks.of(program, tables)

    @staticmethod
    def of(program: Program, tables: Tables) -> Slicer:
        return program.kept("slicer", lambda: Slicer(program, tables))

    def slice(self, function: ir.Function) -> Slice:
        found = self._slices.get(id(function))
        if found is None:
            self._function = function
            self._observe(function)
            self._quiet, self._writes = set(), set()
            self._handed, self._handed_in = [], {}
            self._block(function.body)
            handed = {n: exprs for n, exprs in self._handed_in.items() if n in self._quiet}
            found = Slice(frozenset(self._quiet), frozenset(self._writes), handed, frozenset(self._observed))
            self._slices[id(function)] = found
        return found

    def skeleton(self, function: ir.Function) -> tuple[object, ...]:
        """What is left of a function without its quiet statements (but for those that may overwrite a constant)."""
        found = self.slice(function)
        types = sorted((name, kind) for name, kind in function.types.items() if name in found.observed)
        return (
            function.name,
            function.params,
            _without(function.body, found.quiet - found.writes - found.handed.keys()),
            function.problems,
            types,
        )

    def stores_bytes(self, function: ir.Function) -> bool:
        """Whether a function, or one that it calls, stores through a pointer to bytes."""
        return id(function) in self._program.reaching_those("bytes", lambda f: bool(f.kept("bytes", stored_as_bytes)))

    # -- inert functions ---------------------------------------------------------------------------------------------

    def is_inert(self, function: ir.Function) -> bool:
        """Host code that matters only while an order is lost: it computes, prints, reads clocks, and keeps no
        pointer.
        """
        reaching = self._program.reaching_those("consequence", self._has_consequence)
        if "*" in function.returns or id(function) in reaching:
            return False
        if function.returns.removeprefix("const ") in PLAIN:
            return True
        if any(isinstance(s, ir.Return) and may_lead(s.value, function) for s in function.statements):
            return False
        return not any(c.isupper() or c == ":" for c in function.returns)

    def _has_consequence(self, function: ir.Function) -> bool:
        return any(self._is_consequence(stmt, function) for stmt in function.statements)

    def stores(self, function: ir.Function) -> bool:
        """Whether a function, or one that it calls, stores an address, a handle or a number that may decide where
        others see it, or gives code that is not seen what leads there.
        """
        return id(function) in self._program.reaching_those("stores", self._has_store)

    def _has_store(self, function: ir.Function) -> bool:
        statements = (one for one in function.statements if not _is_copied(one, function))
        return any(self._stores(one, function) or self._lets_store(one, function) for one in statements)

    def _lets_store(self, stmt: ir.Stmt, function: ir.Function) -> bool:
        if isinstance(stmt, ir.Unknown):
            return True
        if not isinstance(stmt, ir.Call) or self._program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
            return False
        if stmt.receiver is not None and self.method_by_name(stmt.callee, len(stmt.args)) is not None:
            return False
        if stmt.receiver is None and self._tables.lookup(stmt.callee, len(stmt.args)) is not None:
            return False
        led = bool(function.captures or function.cls) or any(p.by_reference or "*" in p.type for p in function.params)
        named = (one.name for expr in stmt.given for one in ir.variables(expr) if isinstance(one, ir.Var))
        return any(may_lead(expr, function) for expr in stmt.given) and (led or any("::" in name for name in named))

    def _stores(self, stmt: ir.Stmt, function: ir.Function) -> bool:
        """Whether a statement stores what may decide, or lead somewhere, where others may see it."""
        if isinstance(stmt, ir.Assign):
            if self._stores_a_number(stmt.target, function):
                return True
            is_size = isinstance(stmt.target, ir.Field) and stmt.target.name == ir.SIZE
            if is_size or not _is_assigned_outside(stmt.target):
                return False
            value = _is_null(stmt.value) or may_lead(stmt.value, function)
            handles = self._may_hold_handles(stmt.target, function)
            named = isinstance(stmt.target, ir.Var | ir.Field)
            return handles or (value and not named)  # what a variable or a member holds, its type says
        if isinstance(stmt, ir.HostAccess):
            return any(beside_elements(stmt.writes)) or any(
                self._stores_a_number(place, function) for place in stmt.writes
            )
        if isinstance(stmt, ir.Call) and stmt.result is not None and is_outside(stmt.result):
            if self._may_hold_handles(stmt.result, function):
                return True
        if isinstance(stmt, ir.Call) and any(map(self.decides, self._may_store_in(stmt, function))):
            return True
        if isinstance(stmt, ir.Call) and any(is_outside(e) for e in self._gets_handles(stmt)):
            return True
        if isinstance(stmt, ir.Call) and last(stmt.callee) in _RESIZES and self._sizes_decide():
            return True
        return id(stmt) in self._fills and self._a_field_decides()

    def _gets_handles(self, call: ir.Call) -> Iterator[ir.Expr]:
        """The places in which a function of a library stores an address or a handle."""
        api = self._tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
        if api is None or self._program.resolve(call.callee, len(call.args), call.span.path):
            return
        for role, expr in played_by(api, call.args):
            if role in _HANDLES:
                yield expr if role == "swap" else expr.base if isinstance(expr, ir.Addr) else ir.Deref(expr)

    def _is_consequence(self, stmt: ir.Stmt, function: ir.Function) -> bool:
        if id(stmt) in self._outward or id(stmt) in self._moves:
            return True
        if self._stores(stmt, function):
            return True
        if not isinstance(stmt, ir.Call):
            return isinstance(stmt, ir.Launch | ir.Unknown)
        named = stmt.receiver is None or ir.is_any_of(stmt.callee)
        if named and (own := self._program.resolve(stmt.callee, len(stmt.args), stmt.span.path)):
            if any(map(self.stores_bytes, own)):  # it may store in the addresses of others
                return any(isinstance(e, ir.Addr) and _holds_pointers(e, function) for e in stmt.args)
            if stmt.receiver is not None or beside_the_library(stmt, own, self._tables) is None:
                return False  # what it calls is asked on its own
        if stmt.receiver is not None and self._is_own_method(stmt, stmt.receiver, function):
            return False  # and so are all methods of this name
        if stmt.receiver is not None:
            api = self.method_by_name(stmt.callee, len(stmt.args))
        else:
            api = self._tables.lookup(stmt.callee, len(stmt.args))
        if api is None or api.effect not in _INERT or api.returns == "pointer" or "command" in played(api):
            return True
        if api.returns in _HANDED_BACK and stmt.result is not None and is_outside(stmt.result):
            if any(may_lead(e, function) for e in stmt.given):
                return True
        for role, expr in played_by(api, stmt.given):
            if (role in ("swap", "keep") and may_lead(expr, function)) or (
                (role == "hidden" or (role == "hrw" and expr == stmt.receiver)) and _holds_pointers(expr, function)
            ):
                return True
        if api.stores_bytes and any(
            role in _WRITES and _may_be_addresses(expr, function) for role, expr in played_by(api, stmt.given)
        ):
            return True
        if any(isinstance(part, ir.Var) and part.name in self._callables for part in _parts(stmt)):
            return True
        return any(self._is_of_the_program(expr) for expr in for_the_host(stmt, api, False))

    def _may_hold_handles(self, place: ir.Expr, function: ir.Function) -> bool:
        """Whether a place may be an object with pointers, streams or events, by its type as far as that is known. None
        of them is left where another object is stored in it.
        """
        match place:
            case ir.Field():
                named = self._program.types_of_members()
                kinds = named.get(place.name, {""})
                return any(map(_may_have_handles, kinds))
            case ir.Deref(ir.Var(name)) if (kind := function.types.get(name, "")).endswith("&"):
                return _may_have_handles(kind.rstrip("& "))
            case ir.Deref(base):
                return _holds_pointers(base, function)
            case ir.Var(name) if "::" in name:
                return _may_have_handles(self._program.type_of_global(name))
            case _:
                return _holds_pointers(ir.Addr(place), function)

    def _is_own_method(self, call: ir.Call, receiver: ir.Expr, function: ir.Function) -> bool:
        """Whether the declared class of an object has the method itself that is called on it."""
        while isinstance(receiver, ir.Deref):
            receiver = receiver.base
        kind = function.types.get(receiver.name, "") if isinstance(receiver, ir.Var) else ""
        cls = Type.of(kind).last
        return bool(cls) and any(last(f.cls or "") == cls for f in self._program.methods(call.callee, len(call.args)))

    def _may_store_in(self, call: ir.Call, function: ir.Function) -> Iterator[ir.Expr]:
        """The places that a call may store numbers in: its result, and those that it gets the address of, or a
        reference to.
        """
        if call.result is not None:
            yield call.result
        own = self._program.resolve(call.callee, len(call.args), call.span.path)
        api = self._tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
        roles = roles_of(api, len(call.args)) if api is not None else []
        if call.receiver is not None:
            kind = function.types.get(call.receiver.name, "") if isinstance(call.receiver, ir.Var) else ""
            arity = len(call.args)
            method = self._tables.method(kind, call.callee, arity) if kind else self.method_by_name(call.callee, arity)
            if method is not None and method.roles and plays(method.roles[0], _STORES):
                yield call.receiver
        for n, expr in enumerate(call.args):
            refers = isinstance(expr, ir.Addr) or any(n < len(f.params) and f.params[n].may_change for f in own)
            if ((own or call.receiver is not None) and refers) or (n < len(roles) and plays(roles[n], _STORES)):
                yield expr

    def _stores_a_number(self, place: ir.Expr, function: ir.Function) -> bool:
        """Whether a number that is stored here may decide: where others may see it, or through a pointer."""
        own = isinstance(place, ir.Var) or (isinstance(place, ir.Index) and is_own_array(place.base, function))
        return self.decides(place, None if own else function)

    def decides(self, place: ir.Expr, function: ir.Function | None = None) -> bool:
        """Whether a number in a place may decide what a later statement touches (`facts.deciding`). Without
        the function whose variables are meant: where others may see it.
        """
        match place:
            case ir.Var(name):
                found = deciding(self._program, self._tables)
                if function is not None and (owner(function), name) in found:
                    return True
                if function is not None and _is_struct(function.types.get(name, "")) and self._a_field_decides():
                    return True
                plain = name.removeprefix("::")
                variable = self._program.globals.get(plain)
                if variable is None and not _is_shared(name):
                    return False
                is_struct = variable is not None and "*" not in variable.type and variable.type not in NUMBERS | _LONG
                return ("", plain) in found or (is_struct and self._a_field_decides())
            case ir.Field(_, name):
                return ("", f".{name}") in deciding(self._program, self._tables)
            case ir.Index(base) | ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
                return self.decides(base, function)
            case ir.Choice(options):
                return any(self.decides(option, function) for option in options)
            case _:
                return False

    def _sizes_decide(self) -> bool:
        return ("", f".{ir.SIZE}") in deciding(self._program, self._tables)

    def _a_field_decides(self) -> bool:
        return any(name.startswith(".") for _, name in deciding(self._program, self._tables))

    def _is_of_the_program(self, expr: ir.Expr) -> bool:
        """Whether a pointer may come from a global variable: who calls the function does not hand it over."""
        named: set[str] = set()
        names_in(expr, named)
        found = [self._program.globals.get(name.removeprefix("::")) for name in named if "::" in name]
        return any(v is None or (v.space == "host" and v.type not in NUMBERS) for v in found)

    def method_by_name(self, method: str, arity: int) -> Api | None:
        """A method of an object whose type is not known: of the standard library, if only that has such a method
        here.
        """
        if any("thrust" in include for module in self._program.modules for include in module.includes):
            return None
        found = (self._tables.method(kind, method, arity) for kind in _STANDARD)
        return next((api for api in found if api is not None), None)

    # -- observed variables ------------------------------------------------------------------------------------------

    def _observe(self, function: ir.Function) -> None:
        observed: set[str] = set(function.captures) | self._shared.get(function.name, set())
        observed |= {
            name
            for name, kind in function.types.items()
            if ("<" in kind and _OWNERS.search(kind)) or (kind and not has_its_own(kind))
        }
        self._observed = observed
        feeds: dict[str, list[ir.Expr]] = {}
        for stmt in function.statements:
            match stmt:
                case ir.Assign(target, value):
                    if isinstance(target, ir.Var):
                        feeds.setdefault(target.name, []).append(value)
                        if is_address(value, function):  # though it may be called a number
                            observed.add(target.name)
                    else:
                        names_in(target, observed)
                        names_in(value, observed)
                case ir.Call():
                    self._arguments(stmt)
                case ir.Launch():
                    for arg in stmt.args:
                        self._pointers(arg, exact=True)
                    for expr in (stmt.stream, stmt.pointer):
                        if expr is not None:
                            names_in(expr, observed)
                case ir.HostAccess(reads, writes):
                    for place in (*reads, *writes):
                        if not isinstance(place, ir.Var):
                            self._pointers(place)
                case ir.If(test) if test.place is not None and test.kind in ("null", "nonnull", "held"):
                    self._pointers(test.place, exact=True)
                case ir.Return(value) if value is not None:
                    names_in(value, observed)
                case ir.Unknown():
                    for part in stmt.parts:
                        names_in(part, observed)
                case _:
                    pass
        # Globals are seen by others. A variable that hides another one must be known (`stream_names`).
        while seen := [name for name in feeds if name in observed or _is_shared(name)]:
            for name in seen:
                for value in feeds.pop(name):
                    names_in(value, observed)

    def _arguments(self, call: ir.Call) -> None:
        api = self._api(call)
        given = call.given
        if api is None or api.effect in (Effect.EXTERNAL, Effect.MESSAGE, Effect.AT_EXIT, Effect.ANY_TIME):
            for expr in given:
                names_in(expr, self._observed)
        else:
            host_only = api.effect in HOST_EFFECTS
            for role, expr in played_by(api, given):
                if role in _HANDED and host_only:
                    self._pointers(expr)
                elif role != "-":
                    names_in(expr, self._observed)
            back = {"same": given[:1], "element": given[:1], "view": given, "given": given}
            for expr in back.get(api.returns or "", ()):
                self._pointers(expr, exact=True)
        if call.result is not None and not isinstance(call.result, ir.Var):
            names_in(call.result, self._observed)

    def _pointers(self, expr: ir.Expr, exact: bool = False) -> None:
        """Observe what decides to which memory an expression leads. If not `exact`, any element of an array will do."""
        match expr:
            case ir.Var(name):
                if self._function.types.get(name) not in NUMBERS:
                    self._observed.add(name)
            case ir.Index(base, index):
                self._pointers(base, exact)
                if exact:
                    names_in(index, self._observed)
            case ir.Field(base) | ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
                self._pointers(base, exact)
            case ir.Choice(parts) | ir.Opaque(parts):
                for part in parts:
                    self._pointers(part, exact)
            case _:
                pass

    def _is_observed(self, place: ir.Expr) -> bool:
        """Whether somebody looks at what is stored in a place."""
        return not isinstance(place, ir.Var) or place.name in self._observed or _is_shared(place.name)

    # -- quiet statements --------------------------------------------------------------------------------------------

    def _block(self, block: Iterable[ir.Stmt]) -> Way | None:
        """Mark the quiet statements of a block. The ways out of it if all are quiet, None if one is not."""
        ways: Way | None = Way.BELOW
        for stmt in block:
            writing, handing = len(self._writes), len(self._handed)
            out = self._statement(stmt)
            if len(self._handed) > handing:
                self._handed_in[id(stmt)] = tuple(dict.fromkeys(self._handed[handing:]))
            if len(self._writes) > writing:
                self._writes.add(id(stmt))
            if out is not None and out in _PASSES and Way.BELOW in out:
                self._quiet.add(id(stmt))
            if out is None or ways is None:
                ways = None
            elif Way.BELOW in ways:
                ways = ways & ~Way.BELOW | out
        return ways

    def _statement(self, stmt: ir.Stmt) -> Way | None:
        match stmt:
            case ir.HostAccess():
                return self._host_access(stmt)
            case ir.Assign(target, ir.Opaque(parts)) if any(map(self._may_work, parts)):
                return None  # who holds it may call it
            case ir.Assign(target):
                return None if _is_assigned_outside(target) or self._is_observed(target) else Way.BELOW
            case ir.Declare(var):
                return None if self._is_observed(var) else Way.BELOW
            case ir.Call():
                return self._call(stmt)
            case ir.If():
                return self._if(stmt)
            case ir.Switch():
                return self._switch(stmt)
            case ir.Loop():
                return self._loop(stmt)
            case ir.Break():
                return Way.BREAK
            case ir.Continue():
                return Way.CONTINUE
            case ir.Try(body, handlers):
                for inner in (body, *handlers):
                    self._block(inner)
                return None
            case _:
                return None

    def _host_access(self, stmt: ir.HostAccess) -> Way | None:
        if any(beside_elements(stmt.writes)):
            return None
        for place in stmt.writes:
            if self.decides(place, self._function):
                return None
            if isinstance(place, ir.Var):
                if self._is_observed(place) and "::" not in place.name:
                    return None  # a constant that it held is gone
            elif not isinstance(place, ir.Field):
                self._writes.add(id(stmt))
        return Way.BELOW

    def _if(self, stmt: ir.If) -> Way | None:
        then, other = self._block(stmt.then), self._block(stmt.other)
        if then is None or other is None:
            return None
        if Way.END in then | other and stmt.test.kind in ("null", "nonnull", "held"):
            return None  # whoever goes on knows which of the two it is
        return then | other

    def _switch(self, stmt: ir.Switch) -> Way | None:
        found = Way(0) if stmt.has_default else Way.BELOW
        arms = [self._block(arm) for arm in stmt.arms]
        for arm in arms:
            if arm is None:
                return None
            found |= arm
        return found & ~Way.BREAK | Way.BELOW if Way.BREAK in found else found

    def _loop(self, loop: ir.Loop) -> Way | None:
        around = [self._block(inner) for inner in (loop.condition, loop.step)]
        body = self._block(loop.body)
        if body is None or None in around or (loop.index is not None and self._is_observed(loop.index)):
            return None
        goes_on = Way.BREAK in body or not (loop.forever or (loop.at_least_once and body is Way.END))
        return (Way.BELOW if goes_on else Way(0)) | (body & Way.END)

    def _call(self, call: ir.Call) -> Way | None:
        if id(call) in self._moves or (call.result is not None and self._is_observed(call.result)):
            return None
        given = call.given
        api = self._api(call)
        if api is None:
            own = self._own(call)
            if not own or not all(self.is_inert(f) for f in own):
                return None
            if call.receiver is None and beside_the_library(call, own, self._tables) is not None:
                return None
            if any(map(self.stores_bytes, own)) and any(_holds_pointers(e, self._function) for e in given):
                return None
            written = given
            self._handed += [e for e in given if self._may_point(e)]
        elif (
            api.effect in HOST_EFFECTS
            and api.returns not in ("handle", "keeper")
            and all(role.rstrip("*") in _HOST_ROLES for role in api.roles)
        ):
            written = tuple(e for role, e in played_by(api, given) if role in _WRITES)
            if api.stores_bytes and any(_may_be_addresses(e, self._function) for e in written):
                return None
            self._handed += [e for e in for_the_host(call, api, call.receiver is not None) if self._may_point(e)]
            if any(map(self._may_work, _parts(call))) or self._is_overridden(call):
                return None
            if self._callbacks.may_come(api):
                return None
            hidden = (e for role, e in played_by(api, given) if role == "hidden")
            if any(_holds_pointers(e, self._function) for e in hidden):
                return None  # it may store streams and events there
        else:
            return None
        if id(call) in self._fills and self._a_field_decides():
            return None
        stores = list(self._may_store_in(call, self._function))
        for expr in written:
            place = expr.base if isinstance(expr, ir.Addr) else expr
            if expr in stores and self.decides(place, self._function):
                return None
            if isinstance(place, ir.Var) and (isinstance(expr, ir.Addr) or (api is None and expr in stores)):
                if self._is_observed(place):
                    return None
            elif not isinstance(place, ir.Const):
                self._writes.add(id(call))
        return Way.END if api is not None and api.effect is Effect.EXIT else Way.BELOW

    def _is_overridden(self, call: ir.Call) -> bool:
        """Whether a method of a library may be one of a class of the program that is derived from one of the library's:
        `what` of an exception.
        """
        own = self._program.methods(call.callee, len(call.args)) if call.receiver is not None else ()
        return any(one.bases and not self.is_inert(one) for one in own)

    def _may_work(self, part: ir.Expr) -> bool:
        """Whether a function that a host function is given, and may call, is more than inert."""
        if isinstance(part, ir.FuncRef):
            own = self._program.resolve(part.name, 0, self._function.span.path)
            return not all(map(self.is_inert, own)) or (not own and self._tables.acts(part.name))
        return isinstance(part, ir.Var) and part.name in self._callables

    @property
    def _callables(self) -> frozenset[str]:
        """The names of variables that may hold a function of the program."""
        return self._program.kept("callable variables", lambda: _callable_variables(self._program))

    def _may_point(self, expr: ir.Expr) -> bool:
        """Whether an argument may be a pointer, by its type as far as that is known."""
        while isinstance(expr, ir.Offset):
            expr = expr.base
        return not isinstance(expr, ir.Const) and not (
            isinstance(expr, ir.Var) and self._function.types.get(expr.name) in NUMBERS
        )

    # -- what calls mean ---------------------------------------------------------------------------------------------

    def _own(self, call: ir.Call) -> list[ir.Function]:
        """The program's functions that a plain call reaches; none for a method, and where a variable may hide them."""
        if ir.is_any_of(call.callee):
            return self._program.methods(call.callee, len(call.args))
        if call.receiver is not None or call.callee in self._function.types:
            return []
        return self._program.resolve(call.callee, len(call.args), call.span.path, self._function.cls)

    def _api(self, call: ir.Call) -> Api | None:
        """The library function that a call reaches whatever variables hold; None where that is not certain."""
        name, arity = call.callee, len(call.args)
        if call.receiver is not None:
            if not isinstance(call.receiver, ir.Var):
                return None
            kind = self._function.types.get(call.receiver.name, "")
            return self._tables.method(kind, name, arity) if kind.startswith("std::") else None
        if name.startswith("#") or name in self._function.types:
            return None
        if not name.startswith(("cuda", "cublas")) and self._own(call):
            return None
        return self._tables.lookup(name, arity)


def beside_the_library(call: ir.Call, own: list[ir.Function], tables: Tables) -> Api | None:
    """The function of a library that a call may mean by a name which functions of the program have as well, for objects
    of their classes: by a using-declaration, by the classes of its arguments, or as the template that they specialize
    (C++17, 6.4.2 [basic.lookup.argdep]; 20.5.4.2.1 [namespace.std] 1).
    """
    if not any(f.cls is None and any(map(_takes_objects, f.params)) for f in own) or call.span.path.endswith(ir.PYTHON):
        return None
    return tables.lookup(call.callee, len(call.args))


def _takes_objects(param: ir.Param) -> bool:
    return param.takes_objects_only and "*" not in param.type and param.type not in NUMBERS


def expressions(stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The expressions of a statement, those of its blocks left out."""
    found: tuple[ir.Expr | None, ...] = ()
    match stmt:
        case ir.Call():
            found = (*stmt.args, stmt.receiver, stmt.result)
        case ir.Launch():
            found = (*stmt.args, stmt.stream, stmt.pointer)
        case ir.Assign():
            found = (stmt.target, stmt.value)
        case ir.HostAccess():
            found = (*stmt.reads, *stmt.writes)
        case ir.If():
            found = (stmt.test.place,)
        case ir.Return():
            found = (stmt.value,)
        case ir.Unknown():
            found = stmt.parts
        case _:
            pass
    return tuple(expr for expr in found if expr is not None)


def _parts(call: ir.Call) -> Iterator[ir.Expr]:
    """What a call is given, and everything inside it."""
    return (part for expr in call.args for part in ir.variables(expr))


def _callable_variables(program: Program) -> frozenset[str]:
    found: set[str] = set()

    def is_callable(expr: ir.Expr) -> bool:
        return any(
            isinstance(part, ir.FuncRef) or (isinstance(part, ir.Var) and part.name in found)
            for part in ir.variables(expr)
        )

    count = -1
    while len(found) > count:
        count = len(found)
        for function in program.functions():
            for stmt in function.statements:
                if isinstance(stmt, ir.Assign) and isinstance(stmt.target, ir.Var) and is_callable(stmt.value):
                    found.add(stmt.target.name)
                elif isinstance(stmt, ir.Call):
                    given = [n for n, arg in enumerate(stmt.args) if is_callable(arg)]
                    for called in program.resolve(stmt.callee, len(stmt.args), stmt.span.path) if given else ():
                        found.update(param.name for n, param in enumerate(called.params) if n in given)
    return frozenset(found)


def _is_null(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.text in NULLS


def _is_shared(name: str) -> bool:
    """Whether a variable is a global, or hides another variable."""
    return ":" in name or "@" in name


def names_in(expr: ir.Expr, into: set[str]) -> None:
    """Every variable in an expression."""
    match expr:
        case ir.Var(name):
            into.add(name)
        case ir.Index(base, index):
            names_in(base, into)
            names_in(index, into)
        case ir.Field(base) | ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
            names_in(base, into)
        case ir.Choice(parts) | ir.Opaque(parts):
            for part in parts:
                names_in(part, into)
        case _:
            pass


def _without(block: ir.Block, left_out: frozenset[int]) -> ir.Block:
    """A block less some statements, nested ones too."""
    kept: list[ir.Stmt] = []
    for stmt in block:
        if id(stmt) in left_out:
            continue
        match stmt:
            case ir.If():
                kept.append(replace(stmt, then=_without(stmt.then, left_out), other=_without(stmt.other, left_out)))
            case ir.Loop():
                condition, body, step = (_without(inner, left_out) for inner in ir.blocks_of(stmt))
                kept.append(replace(stmt, condition=condition, body=body, step=step))
            case ir.Switch():
                kept.append(replace(stmt, arms=tuple(_without(arm, left_out) for arm in stmt.arms)))
            case ir.Try():
                body, *handlers = (_without(inner, left_out) for inner in ir.blocks_of(stmt))
                kept.append(replace(stmt, body=body, handlers=tuple(handlers)))
            case _:
                kept.append(stmt)
    return tuple(kept)
