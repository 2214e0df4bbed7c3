"""Assignments, and declarations that read as such."""

from __future__ import annotations

import re

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import Expressions
from cudafix.frontends.cuda.lower.syntax import is_cast, is_test_of_status, written_type
from cudafix.frontends.cuda.lower.terms import opaque, root_of
from cudafix.frontends.cuda.sema.type_texts import is_pointer, keeps_references
from cudafix.ir import Block, Const, Deref, Expr, Index, Offset, Opaque, Var
from cudafix.models.number_types import is_floating, is_number

_BY_TRUTH = frozenset(("|=", "+=", "-="))
"""Assignments that change nothing where the right side is `false`, which is 0 (C++17, 7.6 [conv.prom] 6)."""
_CALL_OF_THE_RUNTIME = re.compile(r"cuda[A-Z]\w*\s*\([^()]*\)\Z")  # `0`, which is success, or more
_REFERENCE_TO_ARRAY = re.compile(r"\(\s*&\s*(\w+)\s*\)")


def assignment(lowering: Expressions, node: Node, target: Expr | None, used: bool) -> Expr:
    """An assignment; its value is the place that is assigned to."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None:
        return lowering.other(node)
    owner = lowering.local(lowering.raw(left)) if left.type == "identifier" else None
    if isinstance(owner, Var) and owner.name in lowering.optional:  # it is assigned nothing but `std::nullopt`
        return lowering.emptied(node, owner)
    if (declared := _declaration(lowering, node, left, right)) is not None:
        return declared
    if operator is not None and operator.type != "=":
        return _compound(lowering, node, left, right, operator.type)
    place = lowering.lvalue(left)
    if keeps_references(lowering.type_of(root_of(place))):  # it goes to what these are
        value = lowering.value(right)
        lowering.touch(left, place, write=True)
        lowering.store(Deref(place), ir.Choice((Deref(place), opaque(value))), node)
        lowering.store(place, opaque(place, value), node)
        return place
    if isinstance(place, Var) and lowering.is_on_the_device(lowering.type_of(place)):  # one vector into another
        value = lowering.value(right)
        lowering.copied_element(node, Index(place, Opaque(())))
        lowering.copied_element(node, Index(value, Opaque(())))
        lowering.store(place, opaque(place, value), node)
        lowering.lead_to_elements(place, node)
        return place
    _simple(lowering, node, left, right, place)
    return place


def _simple(lowering: Expressions, node: Node, left: Node, right: Node, place: Expr) -> None:
    """`place = right`, of what is in memory of the host."""
    kind = lowering.type_of(place)
    cls = lowering.file.index.class_of(kind) if not is_pointer(kind) else None
    if is_cast(lowering.raw, left):
        lowering.unwritten.add("")  # it may be another class that is assigned
    if cls is not None and lowering.assigned(node, place, cls, right):
        lowering.through_reference(place, node)
        return
    kind = lowering.type_of(place)
    if is_number(kind) and isinstance(place, Var) and _keeps_truth(lowering, place, left, right, node):
        return
    value = lowering.assign(place, right, node, left)
    if cls is not None:
        if right.type == "initializer_list":
            made = lowering.made_of_braces(right, cls.name, value)
        else:
            made = lowering.made_of(right, cls.name, value, place if value == place else None)
        if made is not value and made != place:
            lowering.store(place, made, node)
    lowering.leaves_unwritten(kind, value if right.type != "initializer_list" else Var(""))
    if not is_floating(written_type(lowering.raw, right)):  # a floating number leads nowhere, whatever it was made of
        lowering.through_reference(place, node)


def _declaration(lowering: Expressions, node: Node, left: Node, right: Node) -> Expr | None:
    """What reads as an assignment and declares a reference to an array, or a pointer to a function."""
    if left.type == "subscript_expression" and _declares(lowering, left):
        place = lowering.lvalue(right)
        name = _REFERENCE_TO_ARRAY.search(lowering.raw(left))
        if name is not None:
            reference = lowering.declare(name[1], "auto *", left)
            lowering.emit(ir.Assign(reference, lowering.address(place), lowering.span(node)))
        return lowering.unknown("a reference to an array", node, (place,))
    if (pointer := pointer_to_function(lowering, left)) is not None:
        if right.type != "initializer_list":
            lowering.assign(pointer, right, node)
            return pointer
        for value in lowering.listed_values(right):
            lowering.emit(ir.Assign(Index(pointer, Opaque(())), value, lowering.span(node)))
    return pointer


def _compound(lowering: Expressions, node: Node, left: Node, right: Node, operator: str) -> Expr:
    """`place += right` and the like."""
    place = lowering.lvalue(left)
    kind = lowering.type_of(place)
    by_truth = operator in _BY_TRUTH or (operator == "&=" and kind == "bool")
    summed = operator in ("|=", "+=") and _CALL_OF_THE_RUNTIME.match(lowering.raw(right)) is not None
    if is_number(kind) and ((by_truth and is_test_of_status(lowering.raw, right)) or summed):
        lowering.touch(left, place)
        lowering.touch(left, place, write=True)
        value = opaque(place)
        if kind == "bool" and operator != "-=":  # true + true is true in a `bool` (7.8 [conv.integral] 2)
            value = Const("false" if operator == "&=" else "true")
        changed = (ir.Assign(place, value, lowering.span(node), operator in _BY_TRUTH),)
        where_true, where_false = ((), changed) if operator == "&=" else (changed, ())
        lowering.branch_on(right, where_true, where_false, node)
        return place
    value = lowering.value(right)
    lowering.touch(left, place)
    lowering.touch(left, place, write=True)
    lowering.copied(node, kind, (value,))
    moved = operator in ("+=", "-=") and (is_pointer(kind) or not kind)
    if lowering.overloaded(node, operator, (place, value)) is None:
        lowering.store(place, Offset(place) if moved else opaque(place, value), node)
    return place


def _keeps_truth(lowering: Expressions, place: Expr, left: Node, right: Node, node: Node) -> bool:
    """`flag = flag && …`, or `||`, with a test of a status: it stores a constant, or nothing new."""
    while right.type == "parenthesized_expression" and right.named_child_count == 1:
        right = right.named_children[0]
    sign = right.child_by_field_name("operator") if right.type == "binary_expression" else None
    if sign is None or sign.type not in ("&&", "||") or lowering.is_overloaded(sign.type):
        return False
    one, two = right.child_by_field_name("left"), right.child_by_field_name("right")
    if one is None or two is None:
        return False
    first = lowering.raw(one) == lowering.raw(left)
    other = two if first else one
    if not is_test_of_status(lowering.raw, other) or not (first or lowering.raw(two) == lowering.raw(left)):
        return False
    both = sign.type == "&&"
    changed: Block = (ir.Assign(place, Const("false" if both else "true"), lowering.span(node)),)
    then: Block = () if both else changed
    otherwise: Block = changed if both else ()
    if not first:
        lowering.branch_on(other, then, otherwise, node)
        return True
    test, kept = lowering.test(one), lowering.blocked
    lowering.blocked = f"in the second operand of `{sign.type}`"
    block = lowering.collect(lambda: lowering.branch_on(other, then, otherwise, node))
    lowering.blocked = kept
    lowering.emit(ir.If(test, block if both else (), () if both else block, lowering.span(node)))
    return True


def _declares(lowering: Expressions, left: Node) -> bool:
    """`float (&row)[4] = …` reads like an assignment to an element of what `float(&row)` returns."""
    called = left.child_by_field_name("argument")
    function = called.child_by_field_name("function") if called is not None else None
    return function is not None and (
        function.type == "primitive_type" or lowering.file.index.is_type(lowering.raw(function))
    )


def pointer_to_function(lowering: Expressions, node: Node) -> Var | None:
    """The variable that `void (*f)(T)` declares, which reads as a call of what `void(*f)` returns."""
    inner = node.child_by_field_name("function") if node.type == "call_expression" else None
    name = inner.child_by_field_name("function") if inner is not None and inner.type == "call_expression" else None
    given = inner.child_by_field_name("arguments") if inner is not None else None
    place = given.named_children[0] if given is not None and given.named_child_count == 1 else None
    if name is None or place is None or place.type != "pointer_expression":
        return None
    params = node.child_by_field_name("arguments")
    taken = [lowering.raw(child) for child in params.named_children] if params is not None else []
    index = lowering.file.index
    typed = all(index.names_type(one) or index.class_of(one) is not None or is_number(one) for one in taken)
    of_type = name.type == "primitive_type" or index.is_type(lowering.raw(name)) or index.names_type(lowering.raw(name))
    declared = place.child_by_field_name("argument")
    array = declared is not None and declared.type == "subscript_expression"
    if array and declared is not None:
        declared = declared.child_by_field_name("argument")
    if not of_type or not (typed or name.type == "primitive_type") or declared is None:
        return None
    if declared.type != "identifier":
        return None
    return lowering.declare(lowering.raw(declared), f"{lowering.raw(name)} *" + "[]" * array, declared)
