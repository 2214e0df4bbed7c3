"""Objects that others of the standard library hold, and that end where that is lowered: the elements of vectors, and
what optional objects hold.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.objects import Objects
from cudafix.frontends.cuda.lower.terms import is_temporary, opaque
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.frontends.cuda.sema.type_texts import IN_A_ROW, elements, is_pointer
from cudafix.ir import NULL, Addr, Const, Deref, Expr, Field, Index, Opaque, Site, Span, Var
from cudafix.models.number_types import is_number


def row_at(lowering: Objects, place: Expr) -> Class | None:
    """The class of the elements of a vector whose elements end where that is lowered."""
    variable = place.base if isinstance(place, Deref) else place
    if isinstance(place, Field):
        element, count = elements(lowering.type_of(place))
        return lowering.file.index.class_of(element) if count == IN_A_ROW else None
    return lowering.rows.get(variable.name) if isinstance(variable, Var) else None


def row_method(lowering: Objects, node: Node, name: str, place: Expr, cls: Class, arguments: Node | None) -> Expr:
    """A method of a vector that makes, moves or ends elements ([vector.capacity], [vector.modifiers])."""
    span = lowering.span(node)
    at = Span(span.path, span.end - 1, span.end - 1)
    values, spans = lowering.arguments(arguments)
    if name == "resize":
        if len(values) != 1 or not _is_empty_yet(lowering, place, node):
            return lowering.row_let_go(node, "a vector that gets another size", cls, (place, *values))
        lowering.takes_size(node, place, values)
        make_row(lowering, node, place, cls)
        return Opaque(())
    lowering.filled(place)
    whole = lowering.within(span)
    unsaid = Site(at, "", "", ";", blocked="a vector ends what it holds")

    def end(element: Expr) -> ir.Call:
        return ir.Call(f"{cls.name}::{cls.destructor}", (), at, at, at.end, unsaid, (), element)

    def each(body: Callable[[Expr], ir.Block]) -> ir.Loop:
        index = lowering.temporary("size_t")
        return ir.Loop(body(Index(place, index)), whole, index=index, range="0:{}", bounds=(Field(place, ir.SIZE),))

    def moved(element: Expr) -> ir.Block:
        new = lowering.temporary(cls.name)
        made = lowering.collect(lambda: lowering.moves(node, new, cls, element))
        return (*made, end(element), ir.Assign(element, new, at))

    if name == "clear":
        lowering.emit(each(lambda element: (end(element),)))
    elif name == "pop_back":
        lowering.emit(end(Index(place, Opaque(()))))
    elif not lowering.moves_idly(cls):
        lowering.emit(ir.If(ir.Test("other", None, lowering.when_it_grows(cls)), (each(moved),), (), whole))
    left: Expr | None = None
    if name in ("push_back", "emplace_back"):
        made = lowering.temporary(cls.name)
        own = lowering.file.index.class_of(lowering.type_of(values[0])) if len(values) == 1 else None
        if own is cls and not cls.deleter:
            lowering.moves(node, made, cls, values[0])
            left = values[0] if is_temporary(values[0]) and not lowering.moves_idly(cls) else None
        else:
            lowering.initialize(node, made, cls.name, values, spans)
        values = (made,)
    start = Span(span.path, span.start, span.start)
    lowering.emit(ir.Call(name, values, span, start, at.end, lowering.site(node), (), place))
    if name == "clear":
        lowering.emit(ir.Assign(Field(place, ir.SIZE), Const("0"), at))
    if left is not None:
        lowering.emit(end(left))
    return Opaque(())


def _is_empty_yet(lowering: Objects, place: Expr, node: Node) -> bool:
    """Whether nothing can have been put into a local vector since its declaration; something is, now."""
    declaration = lowering.filled(place)
    around, block = node.parent, declaration.parent if declaration is not None else None
    while around is not None and around != block and not around.type.endswith(("for_statement", "for_range_loop")):
        if around.type in ("while_statement", "do_statement", "labeled_statement", "lambda_expression"):
            return False
        around = around.parent
    return block is not None and around == block


def make_row(lowering: Objects, node: Node, place: Expr, cls: Class) -> None:
    """The elements of a vector of so many, each made without arguments ([vector.cons], [vector.capacity])."""
    span, index = lowering.span(node), lowering.temporary("size_t")
    element = Index(place, index)
    if lowering.file.index.has(cls, cls.constructor):
        at = Span(span.path, span.start, span.start)
        site = lowering.site(node)
        site.blocked = site.blocked or "a vector makes its elements"
        made: ir.Block = (ir.Call(f"{cls.name}::{cls.constructor}", (), span, at, span.end, site, (), element),)
    else:
        made = lowering.collect(lambda: lowering.start_null(span, element, cls))
    bounds = (Field(place, ir.SIZE),)
    lowering.emit(ir.Loop(made, lowering.within(span), index=index, range="0:{}", bounds=bounds))


def optional_method(lowering: Objects, node: Node, name: str, place: Var, arguments: Node | None) -> Expr:
    """A method of a local optional object ([optional.assign], [optional.observe])."""
    if name == "value":  # which may throw
        lowering.emit(ir.HostAccess((Deref(place),), (), lowering.span(node), throws=True))
        return Deref(place)
    if name == "has_value":
        return opaque(place)
    listed = arguments is not None and any(one.type == "initializer_list" for one in arguments.children)
    values, spans = lowering.arguments(arguments)
    emptied(lowering, node, place)
    if name != "emplace":
        return Opaque(())
    return make_optional(lowering, node, place, values, spans, listed)


def make_optional(
    lowering: Objects, node: Node, place: Var, values: tuple[Expr, ...], spans: tuple[Span, ...], listed: bool = False
) -> Expr:
    """A local optional object that holds nothing makes what it holds, of these values ([optional.assign])."""
    held = lowering.optional[place.name]
    if listed or any(_may_be_object(lowering, value) for value in values):
        lowering.file.handed_on.add((held.type.start_byte, held.type.end_byte))
        return lowering.unknown("an object that an optional is given", node, (place, held.place, *values))
    lowering.initialize(node, held.place, held.cls.name, values, spans)
    lowering.emit(ir.Assign(place, Addr(held.place), lowering.span(node)))
    return Opaque(())


def emptied(lowering: Objects, node: Node, place: Var) -> Expr:
    """A local optional object ends what it holds."""
    held, span = lowering.optional[place.name], lowering.span(node)
    at = Span(span.path, span.end - 1, span.end - 1)
    emptied = ir.Assign(place, NULL, at)
    if lowering.file.index.has(held.cls, held.cls.destructor):
        site = Site(at, "", "", ";", blocked="an optional ends what it holds")
        call = ir.Call(f"{held.cls.name}::{held.cls.destructor}", (), at, at, at.end, site, (), held.place)
        lowering.emit(ir.If(ir.Test("held", place, "it holds something"), (emptied, call), (), at))
    else:
        lowering.emit(emptied)
    lowering.emit(ir.HostAccess((), (held.place,), span))  # its memory is there for the next object
    return Opaque(())


def _may_be_object(lowering: Objects, value: Expr) -> bool:
    """Whether a value may be an object of a class, rather than a number or a pointer."""
    kind = lowering.type_of(value).removeprefix("const ").rstrip(" &")
    return not (is_number(kind) or is_pointer(kind) or kind in ir.HANDLES or isinstance(value, Const | Addr))
