"""`std::unique_ptr` with a deleter that is seen, as a class with the functions that the standard gives it (C++17,
23.11.1.2 [unique.ptr.single]). What it holds stands in the object's own place, so that `*p`, `p[i]` and `p->x` read
as they do for a pointer. That it holds nothing stays possible wherever it ends, so that no order is built on the wait
of a `cudaFree` in a deleter.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix import ir
from cudafix.frontends.cuda.declarations import Class
from cudafix.ir import NULL, Deref, Var

_HELD = Deref(Var("this"))
_OLD = Var("%old")
_NEW = Var("p")


def functions(owner: Class, path: str) -> Iterator[ir.Function]:
    """The member functions of a smart pointer, each at an offset of its own in the file that names the type."""
    given = ir.Param("p", "void *", default=NULL, optional=True)

    def made(number: int, name: str, params: tuple[ir.Param, ...], returns: str, *body: ir.Stmt) -> ir.Function:
        span = ir.Span(path, owner.start + number, owner.start + number)
        return ir.Function(f"{owner.name}::{name}", params, body, span, True, owner.name, {}, (), returns)

    def assign(target: ir.Expr, value: ir.Expr) -> ir.Assign:
        return ir.Assign(target, value, ir.Span(path, owner.start, owner.start))

    def delete(place: ir.Expr) -> ir.If:
        span = ir.Span(path, owner.start, owner.start)
        site = ir.Site(span, "", "", ";", blocked="a smart pointer calls its deleter")
        call = ir.Call(f"{owner.deleter}::operator()", (place,), span, span, span.end, site)
        return ir.If(ir.Test("nonnull", place, "it holds something"), (call,), (), span)

    def give(value: ir.Expr) -> ir.Return:
        return ir.Return(value, ir.Span(path, owner.start, owner.start))

    yield made(0, owner.constructor, (given,), "void", assign(_HELD, _NEW))
    yield made(1, owner.destructor, (), "void", delete(_HELD))
    yield made(2, "get", (), "void *", give(_HELD))
    yield made(3, "release", (), "void *", assign(_OLD, _HELD), assign(_HELD, NULL), give(_OLD))
    yield made(4, "reset", (given,), "void", assign(_OLD, _HELD), assign(_HELD, _NEW), delete(_OLD))
