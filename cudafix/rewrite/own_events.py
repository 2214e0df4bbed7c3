"""Events that live as long as an object, and carry a wait from one of its functions to another.

Where the stream that used a buffer has no name at the free, the function that used it can record an event that the
object owns: it is created in every constructor, and destroyed in the destructor. The proof decides whether one event
is enough: a wait is for the last record only, and an event that was never recorded orders nothing (CUDA runtime API,
`cudaEventRecord`, `cudaStreamWaitEvent`). An event belongs to the device that is current where it is created.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cudafix import ir
from cudafix.ir import walk
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.ordering.interpreter.program import Key, Operation, StreamName, key_of
from cudafix.ordering.interpreter.state import StreamKind
from cudafix.rewrite.naming import named_stream

_THIS = ir.Var("this")


def inserted(name: str, args: tuple[ir.Expr, ...], at: ir.Stmt, look: ir.Look = ir.Look.IGNORED) -> ir.Call:
    """A call that only the rewritten program has, beside the statement `at`."""
    site = at.site if isinstance(at, ir.Call | ir.Launch) else ir.Site(at.span, "", "", ";")
    return ir.Call(name, args, at.span, at.span, at.span.end, site, look=look)


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """An event as a data member of a class: recorded behind the operation `recorded` on `stream`, created in front of
    each of `made` (in the constructors), destroyed behind `ended` (in the destructor).
    """

    name: str
    declared: ir.Span  # the data member that it is declared behind
    recorded: Key
    stream: StreamName
    made: tuple[Key, ...]
    ended: Key
    statements: Mapping[Key, ir.Stmt] = field(compare=False)  # at these places

    @property
    def place(self) -> ir.Expr:
        return ir.Field(ir.Deref(_THIS), self.name)

    def paths(self) -> list[str]:
        """The files that it is written to."""
        return [self.declared.path, *(key.path for key in self.statements)]

    def steps(self) -> Iterator[tuple[Key, bool, ir.Call]]:
        """What runs at which statement, in front of it or behind it."""
        for key in self.made:
            disable = ir.Const("cudaEventDisableTiming")
            yield key, False, inserted("cudaEventCreateWithFlags", (ir.Addr(self.place), disable), self.statements[key])
        at = self.statements[self.recorded]
        yield self.recorded, True, inserted("cudaEventRecord", (self.place, self.stream.expr), at)
        yield self.ended, True, inserted("cudaEventDestroy", (self.place,), self.statements[self.ended])


class OwnEvents:
    """Finds the class that can own an event, for an operation and the call that frees what it used."""

    def __init__(self, programs: Sequence[Program], tables: Tables) -> None:
        self.programs = programs
        self.tables = tables

    def between(self, op: Operation, free: ir.Call) -> OwnEvent | None:
        """The event that is recorded behind an operation for a wait in front of a free; None where the two are not in
        functions of one class, or it cannot be created and destroyed there.
        """
        if not isinstance(op.stmt, ir.Call | ir.Launch) or not _may_insert(op.stmt):
            return None
        if op.device == "?":
            return None  # an event is of the device that is current where it is created
        if any(s.kind is StreamKind.UNKNOWN for s in op.streams):
            return None  # it may be another stream in each call
        for program in self.programs:
            user, owner = _around(program, op.stmt), _around(program, free)
            if user is None or owner is None or user.cls is None or user.cls != owner.cls or user is owner:
                continue
            member = _freed_member(free)
            found = (m.fields.get(user.cls, {}).get(member) for m in program.modules)
            declared = {one.span for one in found if one is not None}
            stream = named_stream(op.stmt, self.tables)
            if len(declared) == 1 and stream is not None and stream.text and _names_this(user):
                return _event(program, user, op.stmt, stream, member, *declared)
        return None


def _around(program: Program, stmt: ir.Stmt) -> ir.Function | None:
    """The method whose text a statement is in: not a lambda, which may outlive the object."""
    found = [f for f in program.functions() if is_inside(stmt.span, f.span)]
    return found[0] if len(found) == 1 else None


def is_inside(inner: ir.Span | Key, outer: ir.Span) -> bool:
    """Whether a place begins in another one."""
    return inner.path == outer.path and outer.start <= inner.start < outer.end


def _freed_member(free: ir.Call) -> str:
    match free.args[:1]:
        case (ir.Field(ir.Deref(ir.Var("this")), name),):
            return name
        case _:
            return ""


def _names_this(function: ir.Function) -> bool:
    """Whether a function names a member of its object: then it is not a `static` one."""
    return any(expr == _THIS for expr in ir.expressions_in(function))


def _event(
    program: Program,
    user: ir.Function,
    used: ir.Call | ir.Launch,
    stream: StreamName,
    member: str,
    declared: ir.Span,
) -> OwnEvent | None:
    special = [f for f in program.functions() if f.cls == user.cls and not f.name.partition("<lambda@")[1]]
    plain = last(user.cls or "")
    made = [_first(f, plain) for f in special if last(f.name) == plain]
    ended = [_last(f) for f in special if last(f.name) == f"~{plain}"]
    if not made or len(ended) != 1 or any(s is None for s in (*made, *ended)):
        return None
    first, behind = [s for s in made if s is not None], ended[0]
    assert behind is not None
    return OwnEvent(
        _name(program, last(user.name), member),
        declared,
        key_of(used),
        stream,
        tuple(map(key_of, first)),
        key_of(behind),
        {key_of(s): s for s in (*first, behind, used)},
    )


def _name(program: Program, method: str, member: str) -> str:
    """A name in the style of the data member, which the program does not use."""
    prefix, suffix = "m_" * member.startswith("m_"), "_" * member.endswith("_")
    taken = {name for module in program.modules for fields in module.fields.values() for name in fields}
    taken |= {last(name) for module in program.modules for f in module.functions for name in (f.name, *f.types)}
    stem = re.sub(r"\W", "", method) + "_done"
    while prefix + stem + suffix in taken:
        stem += "_again"
    return prefix + stem + suffix


def _may_insert(stmt: ir.Stmt) -> bool:
    if not isinstance(stmt, ir.Call | ir.Launch) or stmt.site.named:
        return False
    return stmt.site.blocked is None and stmt.site.fixed is None


def _first(constructor: ir.Function, plain: str) -> ir.Stmt | None:
    """The statement of a constructor that an event is created in front of: none that hands over to another
    constructor, and nothing leaves before it.
    """
    for stmt in constructor.body:
        if isinstance(stmt, ir.Call) and last(stmt.callee) == plain and stmt.receiver == ir.Deref(_THIS):
            return None
        if _is_whole(stmt, constructor):
            return stmt
        if any(isinstance(inner, ir.Return) for inner in walk((stmt,))):
            return None
    return None


def _last(destructor: ir.Function) -> ir.Stmt | None:
    """The statement of a destructor that an event is destroyed behind: every end of it passes there."""
    if any(isinstance(stmt, ir.Return) for stmt in walk(destructor.body)):
        return None
    return next((stmt for stmt in reversed(destructor.body) if _is_whole(stmt, destructor)), None)


def _is_whole(stmt: ir.Stmt, function: ir.Function) -> bool:
    """Whether a statement of a function's outermost block is one of its text, that statements may stand beside."""
    if isinstance(stmt, ir.Call | ir.Launch):
        return (
            _may_insert(stmt)
            and not (stmt.site.needs_braces or stmt.site.needs_do)
            and is_inside(stmt.site.span, function.span)
        )
    if not isinstance(stmt, ir.If) or not is_inside(stmt.span, function.span):
        return False
    checked = (s.site.span for s in function.body if isinstance(s, ir.Call | ir.Launch))
    return not any(is_inside(stmt.span, site) for site in checked)  # the check of a status is no statement of its own
