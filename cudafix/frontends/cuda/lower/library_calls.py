"""Calls of functions of the standard library that give back what they are given, or keep or change where that is."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import ATOMIC_REF
from cudafix.frontends.cuda.lower.new_and_delete import make_object
from cudafix.frontends.cuda.lower.objects import Objects
from cudafix.frontends.cuda.lower.syntax import first_named
from cudafix.frontends.cuda.lower.terms import deref, is_temporary, opaque
from cudafix.frontends.cuda.sema.names import PASSES
from cudafix.frontends.cuda.sema.type_texts import is_pointer, keeps_references
from cudafix.ir import NULL, Addr, Const, Expr, Opaque, Var
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number

_REFERRING = frozenset(("std::ref", "std::cref", "std::tie", "std::forward_as_tuple"))
_GET = re.compile(r"(?:std::)?get<(\d)>")
_GET_REFERENCE = re.compile(r"(?:std::)?get<[^<>]*&\s*>")
_ONE_OF = re.compile(r"(?:(?:(?:cuda::)?std|thrust|(?:std::)?ranges)::)?(minmax|min|max|clamp)")
"""Functions that return a reference to one of what they compare, or references to both (C++17, 28.7.7 [alg.min.max],
28.7.8 [alg.clamp]); of an initializer list, they return values.
"""
_TAKEN_FROM = re.compile(r"(?:(?:cuda::)?std::)?atomic_(?:load|exchange)(?:_explicit)?")
_ADDRESS_OF = frozenset(("std::addressof", "__builtin_addressof"))
_ADVANCES = frozenset(("std::advance", "std::ranges::advance"))
_MAKES = frozenset(("make_unique", "make_shared", "std::make_unique", "std::make_shared"))


class Call(NamedTuple):
    """A call of a function by its name: `own` if the program itself has one of that name; where its value goes, and
    whether somebody looks at that.
    """

    node: Node
    function: Node
    arguments: Node | None
    name: str
    own: bool
    target: Expr | None
    used: bool


def of_the_library(lowering: Objects, call: Call) -> Expr | None:
    """The value of such a call; None for any other."""
    for read in (_reference, _element, _changed, _made, _passed):
        if (value := read(lowering, call)) is not None:
            return value
    return None


def _nodes(call: Call) -> list[Node]:
    return call.arguments.named_children if call.arguments is not None else []


def _reference(lowering: Objects, call: Call) -> Expr | None:
    """`std::ref(x)`, `std::tie(x, y)`: an object that keeps where these are; `std::addressof(x)`."""
    node, name, arguments, written = call.node, call.name, call.arguments, lowering.raw(call.function)
    if name in _REFERRING and arguments is not None and not call.own:
        values, _ = lowering.arguments(arguments)
        for value in values:
            lowering.hands_on(node, value)
        lowering.hands_over(node, "std::ref", values)
        return lowering.kept_references(node, values)
    keeps = ATOMIC_REF.match(name) or (name.startswith("std::") and keeps_references(written))
    if keeps and not call.own and lowering.local(name) is None:
        return lowering.kept_references(node, lowering.arguments(arguments)[0], written)
    if name in _ADDRESS_OF and len(_nodes(call)) == 1:
        return lowering.pointer_to(lowering.lvalue(_nodes(call)[0]))
    return None


def _element(lowering: Objects, call: Call) -> Expr | None:
    """`std::get<0>(x)`."""
    written = lowering.raw(call.function)
    if len(_nodes(call)) == 1 and not call.own and (element := _GET.fullmatch(written)):
        holder = lowering.lvalue(_nodes(call)[0])
        if (part := lowering.part_of(lowering.type_of(holder), holder, int(element[1]))) is not None:
            lowering.touch(call.node, part)
            return part
        of = Type.of(lowering.type_of(holder))
        if of.library.name in ("tuple", "pair") and any(one.is_reference for one in of.inside):
            return lowering.unread("an element that is a reference", call.node)
    if _GET_REFERENCE.match(written) and not call.own:
        return lowering.unread("an element that is a reference", call.node)
    return None


def _changed(lowering: Objects, call: Call) -> Expr | None:
    """`std::advance(i, n)`, `std::exchange(x, y)`, `std::invoke(f, x)`."""
    node, name, listed = call.node, call.name, _nodes(call)
    if name in _ADVANCES and len(listed) > 1:
        at = [child for child in listed if child.type != "comment"]
        moved, count = lowering.lvalue(at[0]), lowering.value(at[1])
        lowering.hands_over(node, name, (moved,))  # by its operators
        lowering.store(moved, lowering.moved(moved, opaque(count)), node)
        return Opaque(())
    if name == "std::invoke" and listed:
        values, _ = lowering.arguments(call.arguments)
        if not (isinstance(values[0], Addr) or lowering.class_at(values[0]) is not None):
            return lowering.through_pointer(node, values)
        return lowering.emit_call(node, call.function, name, values, (), None, call.target, call.used)
    if name == "std::exchange" and len(listed) == 2:
        return exchange(lowering, node, lowering.lvalue(listed[0]), listed[1])
    return None


def _made(lowering: Objects, call: Call) -> Expr | None:
    """`std::make_unique<T>(x)`."""
    written = lowering.raw(call.function)
    if call.name not in _MAKES or call.own or written.endswith(("make_unique", "make_shared")):
        return None
    if written.endswith("]>") and not is_number(written.partition("<")[2][:-3]):
        return None
    return make_object(lowering, call.node, call.function, call.arguments, call.target)


def _passed(lowering: Objects, call: Call) -> Expr | None:
    """`std::move(x)` and the like, which return what they are given."""
    name, arguments = call.name, call.arguments
    if name not in PASSES or call.own or (name == "std::move" and len(_nodes(call)) > 1):
        return None
    inner = first_named(arguments) if arguments is not None else None
    passed = lowering.value(inner, call.target, call.used) if inner is not None else Opaque(())
    if name in ("std::move", "std::forward"):
        lowering.may_move(call.node, passed)
    if lowering.owner(passed) is not None:
        lowering.given_away.append(passed)
    if is_temporary(passed) and lowering.file.index.ending(lowering.type_of(passed)) is not None:
        # no reference to what a function returns keeps it (C++17, 15.2 [class.temporary] 6)
        lowering.unknown("a temporary object that ends with its statement", call.node, (passed,))
    return passed


def exchange(lowering: Objects, node: Node, place: Expr, second: Node) -> Expr:
    """`std::exchange(x, y)`: `x` becomes `y`, and what it was is the value."""
    value = lowering.value(second)
    lowering.hands_over(node, "std::exchange", (place, value))
    old = lowering.temporary(lowering.type_of(place))
    lowering.touch(node, place)
    lowering.touch(node, place, write=True)
    lowering.emit(ir.Assign(old, place, lowering.span(node)))
    if value == Const("0") and is_pointer(lowering.type_of(place)):
        value = NULL
    lowering.store(place, value, node)
    lowering.through_reference(place, node)
    return old


def is_given_comparison(name: str, arguments: Node | None) -> bool:
    """Whether a call of `std::max` or the like has more arguments than it compares: it calls those that follow (C++17,
    28.7.7 [alg.min.max], 28.7.8 [alg.clamp]).
    """
    if (found := _ONE_OF.fullmatch(name)) is None or arguments is None:
        return False
    nodes = [child for child in arguments.named_children if child.type != "comment"]
    listed = bool(nodes) and nodes[0].type == "initializer_list"
    return len(nodes) > (1 if listed else 3 if found[1] == "clamp" else 2)


def one_of(
    lowering: Objects, node: Node, name: str, arguments: Node | None, values: tuple[Expr, ...]
) -> ir.Choice | Var | None:
    """What a call of `std::max` and the like names: one of the arguments that it compares, or an object that keeps
    where they are; what an atomic function takes from where its first argument leads; None for any other call.
    """
    if _TAKEN_FROM.fullmatch(name) and values:
        return ir.Choice((deref(values[0]),))
    found = _ONE_OF.fullmatch(name)
    nodes = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
    if found is None or len(values) < 2 or nodes[0].type == "initializer_list":
        return None
    compared = values[: 3 if found[1] == "clamp" else 2]
    return lowering.kept_references(node, compared) if found[1] == "minmax" else ir.Choice(compared)


def or_one(back: Expr, one: ir.Choice | Var | None) -> Expr:
    """What a call gives back, where it may be `one` of its arguments."""
    return back if one is None else one if isinstance(one, Var) else ir.Choice((back, *one.options))
