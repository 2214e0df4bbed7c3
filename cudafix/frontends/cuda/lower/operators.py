"""Operators: arithmetic, logic, shifts into streams, `?:` and `,`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import SHOUT, Reader
from cudafix.frontends.cuda.lower.new_and_delete import new_pointer
from cudafix.frontends.cuda.lower.objects import Objects
from cudafix.frontends.cuda.lower.terms import PLACES, is_temporary, matters, opaque
from cudafix.frontends.cuda.sema.names import STANDARD_STREAMS
from cudafix.frontends.cuda.sema.type_texts import is_pointer
from cudafix.ir import Addr, Block, Const, Deref, Expr, Offset, Opaque, Var
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number

_VIEWS = re.compile(r"(?:std::)?(?:ranges::)?views::")
# Iterators over elements in a row: stepping one is adding to an address ([iterator.concept.contiguous]). Others look at
# what they were made of for what comes next ([re.regiter.incr], [istream.iterator.ops], [list.overview]).


def binary(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    left_node, right_node = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator_node = node.child_by_field_name("operator")
    if left_node is None or right_node is None or operator_node is None:
        return lowering.other(node)
    operator = operator_node.type
    if operator == "*" and left_node.type == "new_expression":  # `new T *(x)` reads as `(new T) * (x)`
        return new_pointer(lowering, left_node, right_node, target)
    if operator in ("&&", "||"):
        return short_circuit(lowering, node, left_node, right_node, operator)
    if operator in ("<<", ">>"):
        chain = _stream_chain(lowering, node, operator)
        if chain is not None:
            return chain
    left = lowering.value(left_node)
    if operator == "<<" and _is_macro_of_a_log(lowering, left_node):
        right = lowering.perhaps(node, "it is logged", lambda: lowering.value(right_node))
    else:
        right = lowering.value(right_node)
    if (
        operator == "|"
        and _VIEWS.match(lowering.raw(right_node))
        and not lowering.holds_numbers(lowering.type_of(left))
    ):
        return lowering.unknown("a view of a range", node, (left, right))
    if (result := lowering.overloaded(node, operator, (left, right))) is not None:
        return result
    kind, other = lowering.type_of(left), lowering.type_of(right)
    if operator == ">>" and not is_number(kind) and isinstance(right, PLACES):
        lowering.store(right, opaque(left, right), node)  # a stream may have been extracted from
    lowering.look_through(node, operator, left, right)
    lowering.copied(node, kind, (right,))
    lowering.copied(node, other, (left,))
    if operator in ("+", "-"):
        if is_pointer(other) and operator == "+" and not is_pointer(kind):
            return lowering.moved(right, left)
        if is_pointer(kind) and not (operator == "-" and is_pointer(other)):
            return lowering.moved(left, right) if operator == "+" else lowering.moved(left, opaque(right))
        if isinstance(left, Offset) or (isinstance(left, PLACES) and not kind and not other):
            return left if isinstance(left, Offset) else Offset(left)
    return opaque(left, right)


def _is_macro_of_a_log(lowering: Objects, node: Node) -> bool:
    """Whether `VLOG(2) << …` begins with a macro that is not in the tree: it may leave out what follows."""
    while node.type == "binary_expression" and (left := node.child_by_field_name("left")) is not None:
        node = left
    name = lowering.callee_text(node) if node.type == "call_expression" else lowering.raw(node)
    return SHOUT.fullmatch(name) is not None and name not in lowering.file.macros and name not in lowering.file.hosts


def short_circuit(lowering: Objects, node: Node, left_node: Node, right_node: Node, operator: str) -> Expr:
    if lowering.is_overloaded(operator):
        return _both(lowering, node, left_node, right_node, operator)
    test = lowering.test(left_node)
    right: list[Expr] = []
    kept = lowering.blocked
    lowering.blocked = f"in the second operand of `{operator}`"
    block = lowering.collect(lambda: right.append(lowering.value(right_node)))
    lowering.blocked = kept
    if matters(block):
        branches: tuple[Block, Block] = (block, ()) if operator == "&&" else ((), block)
        lowering.emit(ir.If(test, *branches, lowering.span(node)))
    else:
        lowering.merge(block)
    parts = (test.place,) if test.place is not None else ()
    return opaque(*parts, *right)


def _both(lowering: Objects, node: Node, left_node: Node, right_node: Node, operator: str) -> Expr:
    """`a && b` where a class has an operator of that name: the right operand may be evaluated in any case."""
    left, right = lowering.value(left_node), list[Expr]()
    block = lowering.collect(lambda: right.append(lowering.value(right_node)))
    lowering.emit(ir.If(ir.Test("other", None, lowering.condition_text(node)), block, (), lowering.span(node)))
    given = lowering.overloaded(node, operator, (left, *right))
    return given if given is not None else opaque(left, *right)


def _stream_chain(lowering: Objects, node: Node, operator: str) -> Expr | None:
    """`std::cout << a << b` is one call of `std::cout`; on another stream object a call of its `operator<<`."""
    operands: list[Node] = []
    current = node
    while current.type == "binary_expression":
        inner, right = current.child_by_field_name("left"), current.child_by_field_name("right")
        sign = current.child_by_field_name("operator")
        if inner is None or right is None or sign is None or sign.type != operator:
            break
        operands.append(right)
        current = inner
    head = lowering.raw(current)
    if head in STANDARD_STREAMS:
        callee, receiver = ("std::" + head.removeprefix("std::")), None
    elif current.type in ("identifier", "field_expression", "pointer_expression", "parenthesized_expression"):
        if current.type == "identifier" and head in lowering.bindings:
            return None
        place = lowering.lvalue(current)
        kind = lowering.type_of(place)
        if "stream" not in kind.lower() or kind.startswith("cuda"):
            return None
        callee, receiver = f"operator{operator}", place
    else:
        return None
    arguments = tuple(lowering.value(operand) for operand in reversed(operands))
    for argument in arguments:
        lowering.overloaded(node, operator, (Opaque(()), argument))
    if operator == ">>":  # into a text, or into a variable
        arguments = tuple(
            Addr(a) if isinstance(a, PLACES) and not is_pointer(lowering.type_of(a)) else a for a in arguments
        )
    lowering.emit(
        ir.Call(
            callee,
            arguments,
            lowering.span(node),
            lowering.span(current),
            lowering.span(node).end,
            lowering.site(node),
            tuple(lowering.span(operand) for operand in reversed(operands)),
            receiver,
        )
    )
    return Opaque(())


def unary(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return lowering.other(node)
    value = lowering.value(argument)
    sign = node.children[0].type
    if isinstance(value, Const) and sign == "-":
        return Const("-" + value.text)
    given = lowering.overloaded(node, sign, (value,))
    return given if given is not None else opaque(value)


def update(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return Opaque(())
    place = lowering.lvalue(argument)
    postfix = node.children[0] == argument
    symbol = node.children[-1 if postfix else 0].type
    given = lowering.overloaded(node, symbol, (place, Const("0")) if postfix else (place,))
    if given is not None:
        return given
    lowering.touch(argument, place)
    lowering.touch(argument, place, write=True)
    kind = lowering.type_of(place)
    of = Type.of(kind)
    steps_alone = of.last.endswith("iterator") and of.outer.positions and not of.outer.linked
    if kind and not (of.is_pointer or is_number(kind) or steps_alone):
        lowering.touch(argument, Deref(place))
    lowering.store(place, Offset(place) if is_pointer(kind) else opaque(place), node)
    lowering.through_reference(place, node)
    return place


def conditional(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    condition, then, other = (node.child_by_field_name(f) for f in ("condition", "consequence", "alternative"))
    if condition is None or other is None:
        return lowering.other(node)
    test = lowering.test(condition)
    values: list[Expr] = []
    kept = lowering.blocked
    lowering.blocked = "in one arm of `?:`"

    def arm(child: Node) -> Callable[[], None]:
        return lambda: values.append(lowering.value(child, None, used))

    first = lowering.collect(arm(then)) if then is not None else ()
    second = lowering.collect(arm(other))
    lowering.blocked = kept
    if len(values) == 1:
        values.insert(0, Opaque(()))
    if not matters(first) and not matters(second):
        lowering.merge(first)
        lowering.merge(second)
        return values[0] if values[0] == values[1] else ir.Choice((values[0], values[1]))
    if not used:
        lowering.emit(ir.If(test, first, second, lowering.span(node)))
        return Opaque(())
    result = target if isinstance(target, Var) else lowering.temporary()
    span = lowering.span(node)
    for value in values if any(map(is_temporary, values)) else ():
        lowering.keeps_copy(node, value)  # both become objects of their own
    lowering.emit(
        ir.If(test, (*first, ir.Assign(result, values[0], span)), (*second, ir.Assign(result, values[1], span)), span)
    )
    return result


def comma(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    first = lowering.value(left, None, lowering.is_overloaded(",")) if left is not None else Opaque(())
    last = lowering.value(right, target, used) if right is not None else Opaque(())
    given = lowering.overloaded(node, ",", (first, last))
    return given if given is not None else last


OPERATORS: Mapping[str, Reader] = {
    "binary_expression": binary,
    "unary_expression": unary,
    "update_expression": update,
    "conditional_expression": conditional,
    "comma_expression": comma,
}
