"""Smart pointers with a deleter that is seen, as classes with the functions that the standard gives them: a
`std::unique_ptr` with a functor, with a pointer to a function, which is a part of each, or of an object that it deletes
(C++17, 23.11.1.2 [unique.ptr.single]), and a local
`std::unique_ptr` or `std::shared_ptr` that is given a function, a lambda or a functor where it is declared and of which
no other owner is made (23.11.2.2.2 [util.smartptr.shared.dest]: then its end is the last owner's). What it holds stands
in the object's own place, so that `*p`, `p[i]` and `p->x` read as they do for a pointer. That it holds nothing stays
possible wherever it ends, unless `new` made that, so that no order is built on the wait of a `cudaFree` in a deleter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.ir import DELETER, NULL, Deref, Field, Var
from cudafix.ir.types import Type

_HELD = Deref(Var("this"))
_OLD = Var("%old")
_NEW = Var("p")
_CALLED = Var(DELETER)
_OWN = Field(_HELD, DELETER)


_MAKES = frozenset(("make_unique", "make_shared", "std::make_unique", "std::make_shared"))


def is_owner(kind: str) -> bool:
    """Whether a type is that of a smart pointer, which may be given its deleter with what it holds."""
    of = Type.of(kind)
    return of.library.owner and not of.marks


def owned_by(kind: str) -> str:
    """The class of which a smart pointer of this type deletes an object; empty for any other type."""
    return _named_in(Type.of(kind)) if is_owner(kind) else ""


def made_by(function: str) -> str:
    """The class of which this function makes an object for a smart pointer; empty for any other function."""
    of = Type.of(function)
    return _named_in(of) if of.name in _MAKES else ""


def optional_in(kind: str) -> str:
    """The class of which an optional object of this type may have one in it; empty for any other type."""
    of = Type.of(kind)
    return _named_in(of) if of.library.optional and not of.marks else ""


def row_of(kind: str) -> str:
    """The type of the elements of a vector of objects; empty for any other type, and for one with an allocator."""
    of = Type.of(kind)
    is_row = of.library.name == "vector" and not of.marks and len(of.arguments) == 1
    return of.arguments[0] if is_row and not Type.of(of.arguments[0]).marks else ""


def array_of(kind: str) -> tuple[str, ...]:
    """The class of the elements of an array of the standard library, and how many it has."""
    of = Type.of(kind)
    is_array = of.library.name == "array" and not of.marks and len(of.arguments) == 2
    return of.arguments if is_array and Type.of(of.arguments[0]).is_name and "<" not in of.arguments[1] else ()


def _named_in(of: Type) -> str:
    """What the only template argument of a type names; empty where that is no name."""
    return of.arguments[0] if len(of.arguments) == 1 and Type.of(of.arguments[0]).is_name else ""


class Optional(NamedTuple):
    """A local optional object: where what it holds is, its class, and the type as it is written."""

    place: Var
    cls: Class
    type: Node


class Uses(NamedTuple):
    """What a function may do with an owner that leaves what that holds to it."""

    calls: frozenset[str]  # methods without arguments
    makes: frozenset[str] = frozenset()  # methods that make what it holds, each a statement by itself
    empty: frozenset[bytes] = frozenset()  # what it is assigned to be empty
    compares: frozenset[str] = frozenset(("&&", "||"))
    subscripts: bool = False
    takes: frozenset[str] = frozenset()  # methods with arguments


_POINTERS = frozenset(("==", "!=", "&&", "||"))
KEPT = Uses(frozenset(("get", "use_count")), compares=_POINTERS, subscripts=True)
"""Of a smart pointer that is never empty."""
HELD = KEPT._replace(calls=KEPT.calls | {"reset"}, empty=frozenset((b"nullptr",)))
"""Of a smart pointer ([unique.ptr], [util.smartptr.shared])."""
PERHAPS = Uses(frozenset(("value", "has_value", "reset")), frozenset(("emplace",)), frozenset((b"std::nullopt",)))
"""Of an optional object, which is in the optional: nothing copies or moves it ([optional.optional])."""

IN_A_ROW = Uses(
    frozenset("size empty capacity clear pop_back front back".split()),
    frozenset(("push_back", "emplace_back", "reserve", "resize")),
    subscripts=True,
    takes=frozenset(("at",)),
)
"""Of a vector, which ends its elements ([vector])."""
IN_AN_ARRAY = Uses(frozenset("size empty front back".split()), subscripts=True, takes=frozenset(("at",)))
"""Of an array, which is an aggregate of its elements ([array])."""


def makes_no_other(
    name: bytes, declaration: Node, text: bytes, uses: Uses = HELD, is_lent: Callable[[Node], bool] = lambda _: False
) -> bool:
    """Whether the function around a declaration does nothing else with the owner of this name, which could make
    another owner of what it holds, or let it end elsewhere. (Whatever else has this name there is asked for the same.)
    `is_lent` says of an argument whether a function that is given it as a reference does nothing else with it either.
    """
    body: Node | None = declaration
    while body is not None and body.type not in ("function_definition", "lambda_expression"):
        body = body.parent
    if body is None or body.type == "lambda_expression":
        return False
    stack = [body]
    while stack:
        node = stack.pop()
        stack += node.children
        said = not node.children and node.type != "field_identifier" and text[node.start_byte : node.end_byte] == name
        if said and node.type != "identifier":
            return False  # `T x(name)` reads as a function
        if said and not _leaves_it(node, text, uses) and not _is_only_lent(node, is_lent):
            return False
    return True


def leave_them(names: Collection[str], root: Node, text: bytes, uses: Uses) -> set[str]:
    """The data members among these names with which a file does nothing else. (Whatever else has a name there is asked
    for the same.)
    """
    left, stack = set(names), [root]
    while stack:
        node = stack.pop()
        stack += node.children
        said = "" if node.children else text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if said in left and not _is_harmless(node, text, uses):
            left.discard(said)
    return left


def _is_harmless(node: Node, text: bytes, uses: Uses) -> bool:
    around = node.parent
    if node.type == "identifier" or around is None:
        return node.type == "identifier" and _leaves_it(node, text, uses)
    if node.type != "field_identifier":
        return False
    if around.type == "field_expression" and around.child_by_field_name("field") == node:
        return _leaves_it(around, text, uses)
    return around.type == "field_declaration"


def _is_only_lent(node: Node, is_lent: Callable[[Node], bool]) -> bool:
    """Whether an expression that names an owner is an argument, in no lambda."""
    around = node.parent
    if around is None or around.type != "argument_list" or not is_lent(node):
        return False
    while around is not None and around.type not in ("function_definition", "lambda_expression"):
        around = around.parent
    return around is not None and around.type == "function_definition"


def _leaves_it(node: Node, text: bytes, uses: Uses) -> bool:
    """Whether an expression that names an owner does one of these things with it."""
    around = node.parent
    above = around
    while above is not None and above.type != "function_definition":
        if above.type == "lambda_expression":
            return False  # it may be copied with the lambda
        above = above.parent
    if around is None:
        return False
    operator = around.child_by_field_name("operator")
    sign = text[operator.start_byte : operator.end_byte].decode() if operator is not None else ""
    if around.child_by_field_name("declarator") == node:
        return True  # the declaration, or one of another variable of this name
    if around.type == "reference_declarator" and around.parent is not None:
        return around.parent.type == "parameter_declaration"
    match around.type:
        case "field_expression":
            if sign == "->":
                return True
            call, member = around.parent, around.child_by_field_name("field")
            if call is None or call.type != "call_expression" or member is None:
                return False
            called = text[member.start_byte : member.end_byte].decode()
            given = call.child_by_field_name("arguments")
            if called in uses.makes:
                return call.parent is not None and call.parent.type == "expression_statement"
            return called in uses.takes or (called in uses.calls and given is not None and not given.named_children)
        case "pointer_expression":
            return sign == "*"
        case "subscript_expression":
            return uses.subscripts and around.child_by_field_name("argument") == node
        case "unary_expression":
            return sign == "!"
        case "binary_expression":
            return sign in uses.compares
        case "assignment_expression":
            right = around.child_by_field_name("right")
            empty = right is not None and text[right.start_byte : right.end_byte] in uses.empty
            alone = around.parent is not None and around.parent.type == "expression_statement"  # it gives a reference
            return sign == "=" and empty and alone and around.child_by_field_name("left") == node
        case "conditional_expression":
            return around.child_by_field_name("condition") == node
        case "for_range_loop":
            return around.child_by_field_name("right") == node
        case kind:
            return kind == "condition_clause"


_CALLABLE = "void (*)(void *)"


def functions(owner: Class, path: str) -> Iterator[ir.Function]:
    """The member functions of a smart pointer, each at an offset of its own in the file that names the type."""
    # a `std::shared_ptr` calls its deleter for a null pointer too, unless it is empty ([util.smartptr.shared.dest])
    known = "nonnull" if owner.shared else "held"
    deleted = owner.deleter.partition("::~")
    kind = f"{deleted[0]} *" if deleted[1] else "void *"  # `std::default_delete` ([unique.ptr.dltr.dflt])
    given = ir.Param("p", kind, default=NULL, optional=True)

    def made(number: int, name: str, params: tuple[ir.Param, ...], returns: str, *body: ir.Stmt) -> ir.Function:
        span = ir.Span(path, owner.start + number, owner.start + number)
        kinds = {"%old": kind, "p": kind, "by": _CALLABLE, DELETER: _CALLABLE}
        return ir.Function(f"{owner.name}::{name}", params, body, span, True, owner.name, kinds, (), returns)

    def assign(target: ir.Expr, value: ir.Expr) -> ir.Assign:
        return ir.Assign(target, value, ir.Span(path, owner.start, owner.start))

    def delete(place: ir.Expr) -> ir.Block:
        span = ir.Span(path, owner.start, owner.start)
        site = ir.Site(span, "", "", ";", blocked="a smart pointer calls its deleter")
        body: ir.Block = (ir.Call(owner.deleter, (place,), span, span, span.end, site),)
        if deleted[1]:
            end = ir.Call(owner.deleter, (), span, span, span.end, site, (), Deref(place))
            body = (end, ir.Call("operator delete", (place,), span, span, span.end, site))
        holds = ir.If(ir.Test(known, place, "it holds something"), body, (), span)
        return (assign(_CALLED, _OWN), holds) if owner.given else (holds,)

    def give(value: ir.Expr) -> ir.Return:
        return ir.Return(value, ir.Span(path, owner.start, owner.start))

    def holds(value: ir.Expr) -> ir.Block:
        """What it holds becomes another pointer; the deleter stays."""
        kept = assign(_HELD, value)
        return (assign(_CALLED, _OWN), kept, assign(_OWN, _CALLED)) if owner.given else (kept,)

    by = ir.Param("by", _CALLABLE, optional=True)
    params, takes = ((given, by), (assign(_OWN, Var("by")),)) if owner.given else ((given,), ())
    yield made(0, owner.constructor, params, "void", assign(_HELD, _NEW), *takes)
    yield made(1, owner.destructor, (), "void", assign(_OLD, _HELD), *delete(_OLD))
    yield made(2, "get", (), "void *", give(_HELD))
    yield made(3, "release", (), "void *", assign(_OLD, _HELD), *holds(NULL), give(_OLD))
    yield made(4, "reset", (given,), "void", assign(_OLD, _HELD), *holds(_NEW), *delete(_OLD))
