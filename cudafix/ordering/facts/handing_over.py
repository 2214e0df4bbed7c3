"""Classes whose objects can be moved without a trace: what is made of another object has all that this one had, and the
end of the other one does nothing then. Vectors move their elements where they grow ([vector.capacity]).
"""

from __future__ import annotations

from collections.abc import Iterable

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.types import Type
from cudafix.models import Tables
from cudafix.models.api import Effect

_THIS = ir.Deref(ir.Var("this"))
_SWAPS = frozenset(("std::swap", "swap"))
_EMPTY = (ir.NULL, ir.Const("0"))


def hands_over(program: Program, tables: Tables, cls: str) -> bool:
    """Whether one constructor of a class takes an object of it, takes all its members over, and leaves null what the
    destructor frees, which does nothing else.
    """
    own = [f for f in program.functions() if f.cls == cls]
    made = [f for f in own if last(f.name) == last(cls) and len(f.params) == 1 and _is_of(f.params[0], cls)]
    ends = [f for f in own if last(f.name) == f"~{last(cls)}"]
    members = [module.fields[cls] for module in program.modules if cls in module.fields]
    if len(made) != 1 or len(ends) != 1 or len(members) != 1 or made[0].bases or not made[0].params[0].rvalue:
        return False
    freed = _freed(ends[0].body, tables)
    other = ir.Deref(ir.Var(made[0].params[0].name))
    after = _after(made[0].body, other)
    if freed is None or after is None or not freed <= members[0].keys():
        return False
    taken = all(after.get(ir.Field(_THIS, name)) == ir.Field(other, name) for name in members[0])
    return taken and all(after.get(ir.Field(other, name)) in _EMPTY for name in freed)


def _is_of(param: ir.Param, cls: str) -> bool:
    of = Type.of(param.type)
    return of.is_direct and of.last == last(cls)


def _freed(block: Iterable[ir.Stmt], tables: Tables) -> set[str] | None:
    """The members that a destructor frees; None if it may do anything else."""
    found: set[str] = set()
    for stmt in block:
        match stmt:
            case ir.HostAccess():
                inner: set[str] | None = set()
            case ir.If(ir.Test(kind="nonnull", place=ir.Field(base)), then, ()) if base == _THIS:
                inner = _freed(then, tables)
            case ir.Assign(ir.Field(base), value) if base == _THIS and value in _EMPTY:
                inner = set()
            case ir.Call(callee=callee, args=(ir.Field(base, name),), receiver=None) if base == _THIS:
                api = tables.lookup(callee, 1)
                inner = {name} if api is not None and api.effect is Effect.FREE else None
            case _:
                inner = None
        if inner is None:
            return None
        found |= inner
    return found


def _after(block: Iterable[ir.Stmt], other: ir.Expr) -> dict[ir.Expr, ir.Expr] | None:
    """What the members of two objects hold behind a constructor, as places in front of it; None if it may do anything
    else than give them values of each other.
    """
    held: dict[ir.Expr, ir.Expr] = {}

    def is_known(place: ir.Expr) -> bool:
        temporary = isinstance(place, ir.Var) and place.name.startswith("%")
        return temporary or (isinstance(place, ir.Field) and place.base in (_THIS, other))

    for stmt in block:
        match stmt:
            case ir.HostAccess():
                pass
            case ir.Assign(target, value) if is_known(target) and (is_known(value) or value in _EMPTY):
                held[target] = held.get(value, value)
            case ir.Call(callee=callee, args=(one, two), receiver=None) if callee in _SWAPS:
                if not (is_known(one) and is_known(two)):
                    return None
                held[one], held[two] = held.get(two, two), held.get(one, one)
            case _:
                return None
    return held
