"""Small questions about expressions and blocks of the IR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudafix import ir
from cudafix.ir import Addr, Block, Const, Deref, Expr, Field, FuncRef, Index, Offset, Opaque, Stmt, Var

NOTHING = Opaque(())
FIRST = Const("0")
PLACES = (Var, Field, Index, Deref)


def deref(value: Expr) -> Expr:
    """`*value`; of a function, the function (C++17, 8.3.1 [expr.unary.op] 1, 7.3 [conv.func])."""
    return value.base if isinstance(value, Addr) else value if isinstance(value, FuncRef) else Deref(value)


def index_of(base: Expr, index: Expr) -> Expr:
    """`base[index]`; `(p + n)[i]` is somewhere in what `p` points into, `(&a[0])[i]` is `a[i]`, and `(&a[0][0])[i]` may
    be in any row of `a`: the compilers of CUDA let a pointer run from one row to the next.
    """
    if isinstance(base, Offset):
        return Index(base.base, Opaque(()))
    start = started(base)
    if isinstance(start, Index):
        return Index(_any_element(start), Opaque(()))
    return Index(start or base, index)


def _any_element(place: Expr) -> Expr:
    return Index(_any_element(place.base), Opaque(())) if isinstance(place, Index) else place


def started(value: Expr) -> Expr | None:
    """The array of which a value is the start: `a` of `&a[0]`."""
    if isinstance(value, Addr) and isinstance(value.base, Index) and value.base.index == FIRST:
        return value.base.base
    return None


def is_temporary(value: Expr) -> bool:
    """Whether a value is what a call inside of an expression has made."""
    return isinstance(value, Var) and value.name.startswith("%")


def single_values(values: Iterable[Expr]) -> Iterator[Expr]:
    """What values are one of, or computed from."""
    for value in values:
        if isinstance(value, ir.Choice | Opaque):
            yield from single_values(value.options if isinstance(value, ir.Choice) else value.parts)
        else:
            yield value


def opaque(*values: Expr) -> Expr:
    """A computed value: what it was made of, without literals."""
    parts: dict[Expr, None] = {}
    for value in values:
        if isinstance(value, (Opaque, ir.Choice)):
            inner = value.parts if isinstance(value, Opaque) else value.options
            parts.update(dict.fromkeys(part for part in inner if not isinstance(part, Const)))
        elif not isinstance(value, Const):
            parts[value] = None
    return Opaque(tuple(parts)) if parts else NOTHING


def matters(block: Block) -> bool:
    """Whether a block does more than read and write plain memory."""
    return any(not isinstance(statement, ir.HostAccess) for statement in block)


_FLIPPED = {"nonnull": "null", "null": "nonnull", "ok": "failed", "failed": "ok", "other": "other"}


def flipped(test: ir.Test, text: str) -> ir.Test:
    asked = (test.asked[0], not test.asked[1]) if test.asked is not None else None
    return ir.Test(_FLIPPED[test.kind], test.place, text, asked)


class Plain:
    """What a block of plain host code touches; `block` is False if the block holds anything else."""

    def __init__(self) -> None:
        self.reads: dict[Expr, None] = {}
        self.writes: dict[Expr, None] = {}
        self.assigned: set[Expr] = set()
        self.declared: set[Expr] = set()

    def block(self, statements: Block, inside: bool = False) -> bool:
        for statement in statements:
            if isinstance(statement, ir.HostAccess):
                self.reads.update(dict.fromkeys(statement.reads))
                self.writes.update(dict.fromkeys(statement.writes))
            elif isinstance(statement, ir.Assign):
                self.assigned.add(statement.target)
            elif isinstance(statement, ir.Declare):
                self.declared.add(statement.var)
            elif isinstance(statement, ir.If):
                if not (self.block(statement.then, inside) and self.block(statement.other, inside)):
                    return False
            elif isinstance(statement, (ir.Break, ir.Continue)):
                if not inside:
                    return False
            elif isinstance(statement, ir.Loop):
                if not all(self.block(part, True) for part in (statement.condition, statement.body, statement.step)):
                    return False
                if statement.index is not None:
                    self.assigned.add(statement.index)
            elif isinstance(statement, ir.Switch):
                if not all(self.block(arm, True) for arm in statement.arms):
                    return False
            else:
                return False
        return True


def generic(place: Expr, changed: set[str]) -> Expr:
    """A place in a loop, for all rounds: an index that changes stands for any index."""
    if isinstance(place, Index):
        index = place.index if isinstance(place.index, Const) or not mentions(place.index, changed) else Opaque(())
        return Index(generic(place.base, changed), index)
    if isinstance(place, Field):
        return Field(generic(place.base, changed), place.name)
    if isinstance(place, Deref):
        return Deref(generic(place.base, changed))
    if isinstance(place, Offset):
        return Offset(generic(place.base, changed))
    if isinstance(place, Addr):
        return Addr(generic(place.base, changed))
    return place


def mentions(expr: Expr, names: set[str]) -> bool:
    if isinstance(expr, Var):
        return expr.name in names
    if isinstance(expr, (Field, Deref, Addr, Offset)):
        return mentions(expr.base, names)
    if isinstance(expr, Index):
        return mentions(expr.base, names) or mentions(expr.index, names)
    if isinstance(expr, Opaque):
        return any(mentions(part, names) for part in expr.parts)
    if isinstance(expr, ir.Choice):
        return any(mentions(part, names) for part in expr.options)
    return False


def root_of(place: Expr) -> Expr:
    """The variable whose own memory a place lies in; a place behind a pointer is its own root."""
    while isinstance(place, (Field, Index)):
        place = place.base
    return place


def assigned_in(block: Block) -> set[Expr]:
    """What a block assigns, in its branches and loops too."""
    found: set[Expr] = set()
    stack: list[Stmt] = list(block)
    while stack:
        statement = stack.pop()
        if isinstance(statement, ir.Assign):
            found.add(statement.target)
        elif isinstance(statement, ir.Call):
            if statement.result is not None:
                found.add(statement.result)
            found.update(arg.base for arg in statement.args if isinstance(arg, Addr))
        elif isinstance(statement, ir.If):
            stack += [*statement.then, *statement.other]
        elif isinstance(statement, ir.Loop):
            stack += [*statement.condition, *statement.body, *statement.step]
            if statement.index is not None:
                found.add(statement.index)
        elif isinstance(statement, ir.Switch):
            for arm in statement.arms:
                stack += arm
        elif isinstance(statement, ir.Try):
            stack += statement.body
            for handler in statement.handlers:
                stack += handler
    return found


def leaves(block: Block) -> bool:
    """Whether a `break` or `continue` in a block belongs to the loop around it."""
    for statement in block:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if isinstance(statement, ir.If) and (leaves(statement.then) or leaves(statement.other)):
            return True
        if isinstance(statement, ir.Try) and (leaves(statement.body) or any(map(leaves, statement.handlers))):
            return True
        if isinstance(statement, ir.Switch):  # its own `break`s stay inside
            return True
    return False


def size_of(block: Block) -> int:
    total = 0
    for statement in block:
        total += 1
        if isinstance(statement, ir.If):
            total += size_of(statement.then) + size_of(statement.other)
        elif isinstance(statement, ir.Loop):
            total += size_of(statement.condition) + size_of(statement.body) + size_of(statement.step)
        elif isinstance(statement, ir.Switch):
            total += sum(map(size_of, statement.arms))
        elif isinstance(statement, ir.Try):
            total += size_of(statement.body) + sum(map(size_of, statement.handlers))
    return total
