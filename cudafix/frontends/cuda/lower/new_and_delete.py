"""`new`, `delete` and what makes and ends objects like them: the memory, and the objects in there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import Reader
from cudafix.frontends.cuda.lower.objects import Objects
from cudafix.frontends.cuda.lower.syntax import written_type
from cudafix.frontends.cuda.lower.terms import deref, opaque
from cudafix.frontends.cuda.sema.declarations import Class, Declarations
from cudafix.frontends.cuda.sema.type_texts import plain_name, pointee, tidy
from cudafix.ir import Deref, Expr, Field, Index, Look, Opaque, Span, Var
from cudafix.ir.names import WORD

_OF_EXPRESSION = re.compile(r"(?:decltype|(?:__)?typeof(?:__)?)\b")


def new(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    """`new T[n](args)`: memory from `operator new`, then the constructor, if the file defines the class."""
    kind = node.child_by_field_name("type")
    declarator, arguments = node.child_by_field_name("declarator"), node.child_by_field_name("arguments")
    placement = node.child_by_field_name("placement")
    size = [lowering.value(c) for c in declarator.named_children] if declarator is not None else []
    values, spans = lowering.arguments(arguments) if arguments is not None else ((), ())
    name = tidy(kind, lowering.source.text) if kind is not None else ""
    if placement is not None:
        return _placed(lowering, node, placement, values)
    if kind is not None and _OF_EXPRESSION.match(name):
        name = type_of_expression(lowering, kind) or name
        if _OF_EXPRESSION.match(name):
            lowering.unknown("an object of the type of an expression", node, values)
    pointer = name + ("*" if name.endswith("*") else " *")
    return _new(lowering, node, name, pointer, size, declarator, values, spans, target)


def type_of_expression(lowering: Objects, kind: Node) -> str:
    """The type that `decltype(x.member)` names (C++17, 10.1.7.2 [dcl.type.simple] 4); empty if it is not known."""
    node = next((child for child in kind.named_children if child.type != "comment"), None)
    path: list[str] = []
    while node is not None and node.type == "field_expression":
        member, argument = node.child_by_field_name("field"), node.child_by_field_name("argument")
        if member is None or argument is None or member.type != "field_identifier":
            return ""
        path.append(lowering.raw(member))
        node = argument
    if node is None or node.type not in ("identifier", "this"):
        return ""
    place: Expr | None = Var("this") if node.type == "this" else lowering.local(lowering.raw(node))
    place = place if place is not None else lowering.resolve_variable(lowering.raw(node), node)
    if place is None:
        return ""
    for name in reversed(path):
        place = Field(Deref(place) if lowering.type_of(place).endswith("*") else place, name)
    return lowering.type_of(place)


def new_pointer(lowering: Objects, node: Node, value: Node, target: Expr | None) -> Expr:
    """`new T *(value)`, of which `node` is the `new T`."""
    kind, placement = node.child_by_field_name("type"), node.child_by_field_name("placement")
    values = lowering.listed_values(value) if value.type == "initializer_list" else (lowering.value(value),)
    if placement is not None:
        return _placed(lowering, node, placement, values)
    name = f"{tidy(kind, lowering.source.text) if kind is not None else ''} *"
    return _new(lowering, node, name, f"{name}*", [], None, values, (), target)


def _placed(lowering: Objects, node: Node, placement: Node, values: tuple[Expr, ...]) -> Expr:
    """An object in memory that is there."""
    place, _ = lowering.arguments(placement)
    lowering.unknown("placement new", node, (*place, *values))
    return place[0] if place else Opaque(())


def make_object(lowering: Objects, node: Node, function: Node, arguments: Node | None, target: Expr | None) -> Expr:
    """`std::make_unique<T>(args)`: what `new T(args)` does, and an owner that holds the result."""
    name = " ".join(lowering.raw(function).partition("<")[2].removesuffix(">").split())
    values, spans = lowering.arguments(arguments)
    owner = f"std::{'shared' if 'shared' in lowering.raw(function) else 'unique'}_ptr<{name}>"
    if name.endswith("[]"):  # of so many numbers
        return _new(lowering, node, name[:-2], owner, list(values), None, (), (), target)
    return _new(lowering, node, name, owner, [], None, values, spans, target)


def _new(
    lowering: Objects,
    node: Node,
    name: str,
    pointer: str,
    size: list[Expr],
    declarator: Node | None,
    values: tuple[Expr, ...],
    spans: tuple[Span, ...],
    target: Expr | None,
) -> Expr:
    """An object of the class `name`, or an array of them, made of `values` in new memory; the result is of the type
    `pointer`.
    """
    result = target if target is not None else lowering.temporary()
    if isinstance(result, Var) and (
        result.name.startswith("%") or not lowering.types.get(result.name, "auto").strip("auto")
    ):
        lowering.types[result.name] = pointer
    lowering.copied(node, name, values)
    span = lowering.span(node)
    site = lowering.site(node)
    array = "[]" if declarator is not None or size else ""
    callee = memory_of(lowering.file.index, name, f"operator new{array}") if "shared_ptr" not in pointer else ""
    lowering.emit(
        ir.Call(
            callee or "operator new", (opaque(*size),), span, Span(span.path, span.start, span.start), span.end,
            site, (), None, result, Look.CHECKED, "" if callee else name,
        )
    )  # fmt: skip
    cls = lowering.class_in(name)
    if values and not array and lowering.is_unseen(name):  # it gets the address of the object, too
        lowering.constructor(node, name, (*values, result), ())
        lowering.store(deref(result), opaque(*values), node)
    elif cls is not None and values and array:
        lowering.unknown("an array of objects of `new` with their values", node, (result, *values))
    elif values and not array:
        kept, lowering.blocked = lowering.blocked, lowering.blocked or "in `new` or `delete`"
        lowering.initialize(node, deref(result), name, values, spans)
        lowering.blocked = kept
    else:
        count = lowering.normal(declarator).strip("[]") if declarator is not None else ""
        each(lowering, node, cls or lowering.unseen(name), "", result, count)
    return result


def delete(lowering: Objects, node: Node, target: Expr | None, used: bool) -> Expr:
    """The destructors, then the memory is given back."""
    inner = node.named_children[-1] if node.named_children else None
    if inner is None:
        return Opaque(())
    value = lowering.value(inner)
    span = lowering.span(node)
    empty = Span(span.path, span.start, span.start)
    count = "?" if any(child.type == "[" for child in node.children) else ""
    kind = pointee(written_type(lowering.raw, inner)) or lowering.type_of(Deref(value))
    cls = lowering.file.index.class_of(kind)
    each(lowering, node, cls or lowering.unseen(kind), "~", value, count)
    if cls is not None and not lowering.file.index.has(cls, f"~{cls.constructor}"):
        lowering.file.deduced.add(cls.name.rpartition("::")[2])  # an object of a derived class may end
    callee = (
        memory_of(lowering.file.index, kind, "operator delete[]" if count else "operator delete") or "operator delete"
    )
    lowering.emit(ir.Call(callee, (value,), span, empty, span.end, lowering.site(node), (lowering.span(inner),)))
    return Opaque(())


def memory_of(index: Declarations, kind: str, function: str) -> str:
    """The function of a class, or of a base, that its objects get their memory from or give it back to (C++17,
    6.7.4 [basic.stc.dynamic] 2): of a class in managed memory. Nothing where it has none.
    """
    name = plain_name(function)
    cls = index.class_of(kind)
    for one in index.lineage(cls.name) if cls is not None else ():
        if any(plain_name(method) == name for method in one.methods):
            return f"{one.name}::{name}"
    return ""


def each(lowering: Objects, node: Node, cls: Class | None, tilde: str, base: Expr, count: str) -> None:
    """The constructor without arguments, or the destructor, of `*base` or of each of the `count` elements that
    `base` points to.
    """
    if cls is None or not lowering.file.index.has(cls, tilde + cls.constructor):
        if cls is not None and not tilde and not count:
            lowering.start_null(lowering.span(node), deref(base), cls)
        return
    span = lowering.span(node)
    index = lowering.temporary("size_t") if count else None
    receiver = Index(base, index) if index is not None else deref(base)
    site = lowering.site(node)
    site.blocked = site.blocked or "in `new` or `delete`"
    name_span = Span(span.path, span.start, span.start)
    call = ir.Call(f"{cls.name}::{tilde}{cls.constructor}", (), span, name_span, span.end, site, (), receiver)
    if index is not None:
        if count == "?":  # `delete[]` destroys as many as the `new` made
            bounds = lowering.counts.get(base, f"0:?@{span.start}")
        else:
            bounds = lowering.marked("0:" + count, frozenset(WORD.findall(count)))
            lowering.counts[base] = bounds
        lowering.emit(ir.Loop((call,), lowering.within(span), index=index, range=bounds))
    else:
        lowering.emit(call)


NEW_AND_DELETE: Mapping[str, Reader] = {"new_expression": new, "delete_expression": delete}
