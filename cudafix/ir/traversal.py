"""What a statement, a block or a function holds, nested parts included."""

from __future__ import annotations

from collections.abc import Iterator

from cudafix.ir.nodes import (
    Addr,
    Assign,
    Call,
    Choice,
    Deref,
    Expr,
    Field,
    Function,
    HostAccess,
    If,
    Index,
    Launch,
    Loop,
    Offset,
    Opaque,
    Return,
    Stmt,
    Unknown,
    Var,
    walk,
)


def variables(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    match expr:
        case Field() | Deref() | Addr() | Offset():
            yield from variables(expr.base)
        case Index():
            yield from variables(expr.base)
            yield from variables(expr.index)
        case Choice():
            for option in expr.options:
                yield from variables(option)
        case Opaque():
            for part in expr.parts:
                yield from variables(part)
        case _:
            pass


def expressions_in(function: Function) -> Iterator[Expr]:
    """What the calls and launches of a function are given, and everything inside it."""
    for stmt in walk(function.body):
        for expr in given_to(stmt):
            yield from variables(expr)


def given_to(stmt: Stmt) -> tuple[Expr, ...]:
    """What a call or a launch is given, its object or stream too; nothing for any other statement."""
    if isinstance(stmt, Call):
        return stmt.given
    if isinstance(stmt, Launch):
        return stmt.args if stmt.stream is None else (*stmt.args, stmt.stream)
    return ()


def values_in(stmt: Stmt) -> Iterator[Expr]:
    """What a statement evaluates, and everything inside it; not what its blocks do."""
    match stmt:
        case Call() | Launch():
            found = given_to(stmt)
        case Unknown():
            found = stmt.parts
        case Assign():
            found = (stmt.value,)
        case Return() if stmt.value is not None:
            found = (stmt.value,)
        case HostAccess():
            found = (*stmt.reads, *stmt.writes)
        case _:
            found = ()
    for expr in found:
        yield from variables(expr)


def places_in(stmt: Stmt) -> Iterator[Expr]:
    """The places that a statement stores in or tests."""
    match stmt:
        case Assign():
            yield stmt.target
        case Call(result=result) if result is not None:
            yield result
        case If() if stmt.test.place is not None:
            yield stmt.test.place
        case Loop(bounds=bounds, reads=reads):
            yield from bounds
            yield from reads
        case _:
            pass


def names_in(function: Function) -> frozenset[str]:
    """The variables that a function names."""
    found: set[str] = set()
    for stmt in walk(function.body):
        parts = (*values_in(stmt), *(part for place in places_in(stmt) for part in variables(place)))
        found.update(part.name for part in parts if isinstance(part, Var))
    return frozenset(found)
