"""Between which variables the memory of elements may go from owner to owner.

A container that is moved, swapped or returned gives the memory of its elements to another one, whose addresses are the
same as before (C++17, 26.2.1 [container.requirements.general] 10: `swap` and move construction invalidate no
references, and these refer to elements of the other container). What was said of that memory, that it is pinned, is
true of the new owner's. Copies are not told from moves: they look alike in the IR.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.types import Type
from cudafix.models import Tables
from cudafix.models.api import HOST_EFFECTS, Api, Effect, played, roles_of
from cudafix.ordering.facts.pageable import element_of
from cudafix.ordering.facts.plain import NUMBERS

Node: TypeAlias = tuple[str, str]
"""A variable, by its function and name (of one at namespace scope: `""`); a data member (`.`) of any object, by its
name; or what a function returns."""

BEHIND: Node = ("*", "")  # all that pointers lead to, and what code that is not seen has
_ONLY_TOUCHED = frozenset("r w rw hr hw hrw - out".split())
_NO_OWNER = re.compile(
    r"(?:std::)?(?:size_t|ssize_t|ptrdiff_t|u?int\w*_t)|(?:unsigned |signed )?long(?: long)?(?: int)?|void|cu\w+_t|dim3"
    r"|CU(?:stream|event|deviceptr|result|context|device|module|function)|(?:std::)?chrono::.*"
)
_ADDRESSES = frozenset(  # what returns no element, but where one is
    "data c_str begin end cbegin cend rbegin rend crbegin crend find lower_bound upper_bound equal_range next prev "
    "addressof to_address insert erase emplace size empty".split()
)
_WRITTEN = frozenset("w rw hw hrw".split())


@lru_cache(maxsize=1 << 10)
def may_own(kind: str) -> bool:
    """Whether an object of a type may have memory of its own that it can give away, as far as the words say."""
    of = Type.of(kind)
    if not of.is_direct:
        return not of.leads
    if of.library.name == "array":  # of which each element is moved for itself
        return may_own(of.arguments[0])
    return not (of.core in NUMBERS or _NO_OWNER.fullmatch(of.core))


def _functions_named(function: ir.Function) -> frozenset[str]:
    """The functions that are values in one."""
    values = (value for stmt in function.statements for value in ir.values_in(stmt))
    return frozenset(value.name for value in values if isinstance(value, ir.FuncRef))


class Moving:
    """Classes of variables and members among which memory of elements may have been handed on."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self._program = program
        self._tables = tables
        self._parents: dict[Node, Node] = {}
        self._moved: set[Node] = set()  # that take part in a move, by representative
        self._several: set[Node] = set()  # objects of one name among which there is one
        self._aliases: list[tuple[Node, Node]] = []  # names of other objects: what is done to the one is to the other
        self._functions = {f.name: f for f in program.functions()}
        self._values = {  # the functions that calls may reach which do not name them
            name for function in self._functions.values() for name in function.kept("functions named", _functions_named)
        }
        self._members = program.types_of_members()
        for function in program.functions():
            if not function.span.path.endswith(ir.PYTHON):
                for stmt in function.statements:
                    self._statement(stmt, function)
        for function in program.functions():
            if function.name in self._values or ir.LAMBDA in function.name:
                self._called_by_value(function)
        self._follow_aliases()
        sizes: dict[Node, int] = {}
        for node in self._parents:
            if not node[1].startswith("%") and node[0] != "return":
                sizes[self._find(node)] = sizes.get(self._find(node), 0) + 1
        several = {self._find(node) for node in self._several}
        unseen = {self._find(BEHIND)}
        self._shared = {one for one in map(self._find, self._moved) if sizes.get(one, 0) > 1 or one in several | unseen}
        self.members = frozenset(
            self._find(node) for node in self._parents if node[0] == "." and self._find(node) in self._shared
        )

    @staticmethod
    def of(program: Program, tables: Tables) -> Moving:
        return program.kept("moving", lambda: Moving(program, tables))

    def __bool__(self) -> bool:
        return bool(self._shared)

    def shared(self, function: str, name: str) -> Node | None:
        """The class of a variable, or of a member (`.`), among which memory of elements is handed on; None if it keeps
        its own.
        """
        node = (function, name)
        found = self._find(node) if node in self._parents else node
        return found if found in self._shared else None

    # -- classes -----------------------------------------------------------------------------------------------------

    def _find(self, node: Node) -> Node:
        self._parents.setdefault(node, node)
        while self._parents[node] != node:
            self._parents[node] = node = self._parents[self._parents[node]]
        return node

    def _give(self, one: Node, other: Node) -> None:
        """The memory of one may be that of the other from here on."""
        if one == other:
            self._several.add(one)
        self._parents[self._find(one)] = self._find(other)
        self._moved |= {one, other}

    def _all_give(self, nodes: Iterable[Node]) -> None:
        first, *rest = [*nodes] or [BEHIND]
        for node in rest:
            self._give(first, node)

    def _follow_aliases(self) -> None:
        left = self._aliases
        changed = True
        while changed:
            moved = set(map(self._find, self._moved))
            now = [pair for pair in left if self._find(pair[0]) in moved]
            left = [pair for pair in left if self._find(pair[0]) not in moved]
            for alias, node in now:
                if alias != node:
                    self._give(alias, node)
            changed = bool(now)

    # -- what statements do ------------------------------------------------------------------------------------------

    def _statement(self, stmt: ir.Stmt, function: ir.Function) -> None:
        match stmt:
            case ir.Assign(target, value):
                if isinstance(target, ir.Var) and self._kind(target, function).rstrip().endswith("&"):
                    self._refer(self._variable(target.name, function), value, function)
                    return
                self._addresses(value, function)
                for place in self._owners(target, function):
                    for node in self._owners(value, function):
                        self._give(place, node)
            case ir.Return(value) if value is not None:
                result = ("return", function.name)
                if function.by_reference:
                    self._refer(result, value, function)
                    return
                self._addresses(value, function)
                if may_own(function.returns):
                    for node in self._owners(value, function):
                        self._give(result, node)
            case ir.Call():
                self._call(stmt, function)
            case ir.Unknown(parts=parts):
                self._all_give([BEHIND, *(node for part in parts for node in self._reached(part, function))])
            case _:
                pass

    def _refer(self, alias: Node, value: ir.Expr, function: ir.Function) -> None:
        """`value` is what a reference is made of: an address, or a place."""
        self._aliases += ((alias, node) for node in self._reached(value, function))

    def _addresses(self, value: ir.Expr, function: ir.Function) -> None:
        """Who has an address may do with the object what he likes."""
        for part in ir.variables(value):
            if isinstance(part, ir.Addr):
                self._aliases += ((BEHIND, node) for node in self._owners(part.base, function))

    def _call(self, call: ir.Call, function: ir.Function) -> None:
        results = [*self._owners(call.result, function)] if call.result is not None else []
        found = self._program.resolve(call.callee, len(call.args), call.span.path, function.cls)
        if call.receiver is not None:
            found = [*found, *self._program.methods(call.callee, len(call.args))]
        for callee in found:
            self._own_call(call, callee, results, function)
        api = self._api(call, function)
        if api is not None:
            self._library_call(call, api, results, function)
        elif not found:
            given = [node for e, kept in self._unseen(call) if kept for node in self._reached(e, function)]
            self._all_give([BEHIND, *given, *results])

    def _own_call(self, call: ir.Call, callee: ir.Function, results: list[Node], function: ir.Function) -> None:
        if call.receiver is not None:
            self._refer((callee.name, "this"), call.receiver, function)
        for param, arg in zip_longest(callee.params, call.args):
            if arg is None:
                continue
            self._addresses(arg, function)
            if param is None:
                self._all_give([BEHIND, *self._reached(arg, function)])
            elif param.by_reference:
                self._refer((callee.name, param.name), arg, function)
            elif may_own(param.type):
                for node in self._owners(arg, function):
                    self._give((callee.name, param.name), node)
        for node in results:
            if callee.by_reference and self._is_alias(call.result, function):
                self._aliases.append((node, ("return", callee.name)))
            elif callee.by_reference or may_own(callee.returns):
                self._give(node, ("return", callee.name))

    def _is_alias(self, result: ir.Expr | None, function: ir.Function) -> bool:
        """Whether what a call returns gets no object of its own here, but another name."""
        temporary = isinstance(result, ir.Var) and result.name.startswith("%")
        return result is None or temporary or self._kind(result, function).rstrip().endswith("&")

    def _called_by_value(self, function: ir.Function) -> None:
        self._aliases.append((("return", function.name), BEHIND))
        for param in function.params:
            self._aliases.append(((function.name, param.name), BEHIND))
            if not param.by_reference and may_own(param.type):
                self._give((function.name, param.name), BEHIND)

    def _library_call(self, call: ir.Call, api: Api, results: list[Node], function: ir.Function) -> None:
        roles = roles_of(api, len(call.given))
        kept: list[Node] = []
        writes = not _WRITTEN.isdisjoint(played(api))
        for role, expr in zip_longest(roles, call.given, fillvalue="-"):
            if isinstance(expr, str):
                continue
            places = [*self._reached(expr, function)]
            if "fn" in roles:
                self._aliases += ((BEHIND, of) for of in places)
            if writes or api.effect is Effect.EXTERNAL or not _ONLY_TOUCHED.issuperset(role.split("+")):
                kept += places
            elif api.returns is not None and (last(call.callee) in _ADDRESSES or self._is_alias(call.result, function)):
                self._aliases += ((node, of) for node in results for of in places)
            elif api.returns is not None:
                kept += places
        if api.effect not in HOST_EFFECTS and kept:
            kept.append(BEHIND)
        if kept and (results or len(kept) > 1):
            self._all_give([*kept, *results])

    def _api(self, call: ir.Call, function: ir.Function) -> Api | None:
        if call.receiver is None:
            return self._tables.lookup(call.callee, len(call.args))
        kind = self._kind(call.receiver, function)
        if kind.rstrip("& ").endswith("*"):
            return None
        if kind:
            return self._tables.method(kind.rstrip("& "), call.callee, len(call.args))
        found = (self._tables.method(kind, call.callee, len(call.args)) for kind in ("std::vector", "std::string"))
        return next((api for api in found if api is not None), None)

    def _unseen(self, call: ir.Call) -> Iterator[tuple[ir.Expr, bool]]:
        """What a function that is not seen is given, and whether it may take that, by its declarations."""
        listed = [flags for m in self._program.modules for flags in m.prototypes.get(last(call.callee), ())]
        fitting = [flags for flags in listed if len(flags) >= len(call.args)]
        if call.receiver is not None:
            yield call.receiver, True
        for n, arg in enumerate(call.args):
            yield arg, not fitting or any(flags[n] for flags in fitting)

    # -- places --------------------------------------------------------------------------------------------------------

    def _reached(self, expr: ir.Expr, function: ir.Function) -> Iterator[Node]:
        """The places that a value is of, or that its addresses lead to."""
        yield from self._owners(expr, function)
        if not isinstance(expr, ir.Const):
            for part in ir.variables(expr):
                if isinstance(part, ir.Addr):
                    yield from self._owners(part.base, function)

    def _owners(self, expr: ir.Expr, function: ir.Function) -> Iterator[Node]:
        """The places of which a value is that may have memory of elements."""
        match expr:
            case ir.Var(name):
                if may_own(self._kind(expr, function)):
                    yield self._variable(name, function)
            case ir.Field(_, name):
                if any(map(may_own, self._members.get(name, ("",)))):
                    yield ".", name
            case ir.Index(base):
                kind = self._kind(base, function).rstrip("& ")
                array = isinstance(base, ir.Var) and base.name in function.arrays
                if not may_own(kind[:-1] if kind.endswith("*") else kind if array else element_of(kind)):
                    return
                if kind.endswith("*") and not array:
                    yield BEHIND
                    return
                yield from self._owners(base, function)
                if not array and "<" not in kind:
                    yield BEHIND
            case ir.Deref(base):
                kind = self._kind(base, function).rstrip()
                if isinstance(base, ir.Var) and (base.name == "this" or kind.endswith("&")):
                    if may_own(kind):
                        yield self._variable(base.name, function)
                elif may_own(kind[:-1] if kind.endswith("*") else element_of(kind)):
                    yield BEHIND
            case ir.Choice(parts) | ir.Opaque(parts):
                for part in parts:
                    yield from self._owners(part, function)
            case _:
                pass

    def _variable(self, name: str, function: ir.Function) -> Node:
        """A variable by the function that has it: a lambda shares those of the one around it."""
        if "::" in name:
            return "", last(name)
        owner = function.name
        inside: ir.Function | None = function
        while inside is not None and ir.LAMBDA in owner and (name in inside.captures or name == "this"):
            owner = owner.rpartition(ir.LAMBDA)[0]
            inside = self._functions.get(owner)
        if name in self._program.globals and (inside is None or name not in inside.types):
            return "", last(name)
        return owner, name

    def _kind(self, expr: ir.Expr, function: ir.Function) -> str:
        """The type of a variable or a member, empty where that is not known."""
        match expr:
            case ir.Var(name):
                owner, plain = self._variable(name, function)
                if owner == "":
                    variable = self._program.globals.get(name.removeprefix("::"))
                    return variable.type if variable is not None else ""
                around = function if owner == function.name else self._functions.get(owner)
                return around.types.get(plain, "") if around is not None else ""
            case ir.Field(_, name):
                kinds = self._members.get(name, {""})
                return next(iter(kinds)) if len(kinds) == 1 else ""
            case ir.Index(base):
                kind = self._kind(base, function).rstrip("& ")
                return kind[:-1] if kind.endswith("*") else element_of(kind)
            case ir.Deref(base):
                kind = self._kind(base, function).rstrip()
                return kind[:-1] if kind.endswith(("&", "*")) else element_of(kind)
            case _:
                return ""
