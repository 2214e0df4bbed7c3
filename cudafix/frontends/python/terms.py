"""Small questions about nodes and expressions."""

from __future__ import annotations

import libcst as cst

from cudafix import ir
from cudafix.ir import Const, Expr, Opaque

NOTHING = Opaque(())
NONE = ir.NULL


def opaque(*values: Expr) -> Expr:
    """A computed value: what it was made of, without literals."""
    parts: dict[Expr, None] = {}
    for value in values:
        if isinstance(value, Opaque | ir.Choice):
            inner = value.parts if isinstance(value, Opaque) else value.options
            parts.update(dict.fromkeys(part for part in inner if not isinstance(part, Const)))
        elif not isinstance(value, Const):
            parts[value] = None
    return Opaque(tuple(parts)) if parts else NOTHING


def choice(*values: Expr) -> Expr:
    """One of several values."""
    options: dict[Expr, None] = {}
    for value in values:
        options.update(dict.fromkeys(value.options if isinstance(value, ir.Choice) else (value,)))
    return next(iter(options)) if len(options) == 1 else ir.Choice(tuple(options))


def is_deep(value: Expr, levels: int = 16) -> bool:
    """Whether more levels of expressions are nested in one. What a path may lead to has two readings for each of its
    names, so that it doubles.
    """
    if levels == 0:
        return True
    match value:
        case ir.Field(base) | ir.Deref(base) | ir.Addr(base) | ir.Offset(base):
            return is_deep(base, levels - 1)
        case ir.Index(base, index):
            return is_deep(base, levels - 1) or is_deep(index, levels - 1)
        case ir.Choice(parts) | ir.Opaque(parts):
            return any(is_deep(part, levels - 1) for part in parts)
        case _:
            return False


def deref(value: Expr) -> Expr:
    """The object that a variable refers to."""
    return value.base if isinstance(value, ir.Addr) else ir.Deref(value)


def is_plain(node: cst.BaseExpression) -> bool:
    """Whether an expression is a literal or `None`."""
    return literal(node) is not None or (isinstance(node, cst.Name) and node.value == "None")


def is_place(value: Expr) -> bool:
    """Whether a value may be an object; how many elements a list has is a number."""
    return isinstance(value, ir.Var | ir.Field | ir.Index) and not (
        isinstance(value, ir.Field) and value.name == ir.SIZE
    )


def literal(node: cst.BaseExpression) -> str | None:
    """The text of a literal."""
    match node:
        case cst.Integer(value):
            return str(int(value.replace("_", ""), 0))
        case cst.Float(value):
            return value
        case cst.SimpleString():
            spelt = node.evaluated_value  # two spellings of one text are one key, `b"a"` is another one than `"a"`
            return f'"{spelt}"' if isinstance(spelt, str) else repr(spelt)
        case cst.Name(value="True"):
            return "true"
        case cst.Name(value="False"):
            return "false"
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            text = literal(inner)
            return f"-{text}" if text is not None else None
        case _:
            return None
