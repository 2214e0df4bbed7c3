"""How statements name streams and other places."""

from __future__ import annotations

from collections.abc import Iterable

from cudafix import ir
from cudafix.models import Tables
from cudafix.ordering.interpreter.program import StreamName, stream_arguments

DEFAULT = StreamName(ir.Const("0"), "0")


def named_stream(stmt: ir.Stmt | None, tables: Tables) -> StreamName | None:
    """The stream that an operation's own statement names; the default stream where it names none."""
    if isinstance(stmt, ir.Launch):
        return DEFAULT if stmt.stream is None else StreamName(stmt.stream, spelled(stmt.stream))
    if isinstance(stmt, ir.Call):
        api = tables.lookup(stmt.callee, len(stmt.args))
        if api is None:
            return None
        named = next(stream_arguments(api, stmt.args), None)
        return DEFAULT if named is None else StreamName(named, spelled(named))
    return None


def spelled(expr: ir.Expr) -> str:
    """The source text of a simple place."""
    match expr:
        case ir.Var(name):
            return name.removeprefix("::").split("@")[0]
        case ir.Field(ir.Deref(ir.Var("this")), name):
            return name
        case ir.Field(ir.Deref(base), name):
            return f"{spelled(base)}->{name}"
        case ir.Field(base, name):
            return f"{spelled(base)}.{name}"
        case ir.Index(base, index):
            return f"{spelled(base)}[{spelled(index)}]"
        case ir.Deref(base):
            return f"*{spelled(base)}"
        case ir.Addr(base):
            return f"&{spelled(base)}"
        case ir.Const(text):
            return text
        case _:
            return ""


def spelled_call(call: ir.Call, names: Iterable[StreamName] = ()) -> str:
    """The source text of a call that is given simple places, or streams by these names."""
    texts = {name.expr: name.text for name in names}
    return f"{call.callee}({', '.join(texts.get(arg) or spelled(arg) for arg in call.args)})"
