"""What Python calls where no call is written: the special methods behind operators, subscripts, conditions, loops and
texts, and those that a built-in function asks for (Python 3.13, Data model, 3.3).

There is one place for all of them: whoever lowers an operation that an object may define says which methods it asks
for. Where the class of the object is known, its method is called. Where it is not, a method of that name of any class
of the program may be; where no class of the program has one, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings
from cudafix.frontends.python.lowering import Lowering
from cudafix.frontends.python.meaning import OwnClass
from cudafix.frontends.python.names import SPECIAL
from cudafix.frontends.python.terms import NOTHING, choice, deref, is_plain
from cudafix.ir import Const, Expr, Index, Look, Span, Var
from cudafix.models.python import CALLED_BACK

_NOT_ASKED = frozenset(
    "__init__ __new__ __del__ __call__ __enter__ __exit__ __aenter__ __aexit__ __init_subclass__ __post_init__ "
    "__set_name__ __class_getitem__ __subclasshook__ __prepare__ __getattr__ __getattribute__ __setattr__ "
    "__get__ __set__ __delete__ __await__ __aiter__ __anext__".split()
)
"""Special methods that no function calls because it is given an object: what runs them is lowered where it stands."""

_ARITHMETIC = {
    "Add": "add", "Subtract": "sub", "Multiply": "mul", "MatrixMultiply": "matmul", "Divide": "truediv",
    "FloorDivide": "floordiv", "Modulo": "mod", "Power": "pow", "LeftShift": "lshift", "RightShift": "rshift",
    "BitAnd": "and", "BitOr": "or", "BitXor": "xor",
}  # fmt: skip
ITERATION = ("__iter__", "__next__", "__getitem__", "__len__", "__length_hint__", "__reversed__")
ORDER = ("__lt__", "__gt__", "__le__", "__ge__", "__eq__")
"""What an order of two objects asks for; `functools.total_ordering` takes any."""
TEXT = ("__format__", "__str__", "__repr__")
NUMBER = ("__int__", "__float__", "__index__")
"""What `"%d" % x` asks for."""
TRUTH = ("__bool__", "__len__")
KEY = ("__hash__", "__eq__", "__index__")
_ARRAY = ("__array__", "__array_ufunc__", "__array_function__", "__array_finalize__", "__float__", *ITERATION)
"""What NumPy asks of an operand that is no array."""
_COMPARISONS = {
    **dict.fromkeys(
        ("LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual"), ORDER
    ),
    "Equal": ("__eq__",), "NotEqual": ("__ne__", "__eq__"),
    **dict.fromkeys(("In", "NotIn"), ("__contains__", "__eq__", "__hash__", *ITERATION)),
    "Is": (), "IsNot": (),
}  # fmt: skip
OPERATORS: dict[str, tuple[str, ...]] = {
    **{word: (f"__{name}__", f"__r{name}__", *_ARRAY) for word, name in _ARITHMETIC.items()},
    **{f"{word}Assign": (f"__i{name}__", f"__{name}__", f"__r{name}__", *_ARRAY) for word, name in _ARITHMETIC.items()},
    **{word: (*names, *_ARRAY) if names else () for word, names in _COMPARISONS.items()},
    "Minus": ("__neg__",), "Plus": ("__pos__",), "BitInvert": ("__invert__",), "Not": TRUTH,
}  # fmt: skip
"""The methods that an operator asks its operands for, by the name of its node."""
_TAKES = re.compile(
    r"__(?:[ir]?(?:add|sub|mul|matmul|truediv|floordiv|mod|lshift|rshift|and|or|xor|pow)|lt|le|gt|ge|eq|ne|contains|"
    r"getitem|setitem|delitem|get|set)__"
)
"""Methods that are given more than the object."""

COMPARED = ("builtins.list()", "builtins.tuple()", "builtins.dict()", "collections.deque()")
"""Containers that are equal if what they hold is."""
COMPARE = frozenset("index count remove sort update union difference intersection issubset add discard".split())
"""Methods of containers that compare what these hold."""
ASKED = {
    "builtins.len": ("__len__",),
    "builtins.bool": TRUTH,
    "builtins.int": ("__int__", "__index__", "__trunc__"),
    "builtins.float": ("__float__", "__index__"),
    "builtins.abs": ("__abs__",),
    "builtins.hash": ("__hash__",),
    "builtins.next": ("__next__",),
    "builtins.iter": ("__iter__", "__getitem__"),
    "builtins.range": ("__index__",),
    **dict.fromkeys(("builtins.isinstance", "builtins.issubclass"), ("__instancecheck__", "__subclasscheck__")),
    **{f"builtins.{name}": () for name in "id type callable super object property staticmethod classmethod".split()},
}
"""The methods that a built-in function asks for, of its arguments alone; any other function may ask for any, and of
what its arguments hold too.
"""
_NO_TEXT = re.compile(
    r"builtins\.(?!(?:print|str(?:\(\)\.\w+)?|repr|format|ascii|input|exit|quit|[A-Z]\w*)$)|"
    r"(?:numpy|scipy|math|cmath|ctypes|struct|random|statistics|operator|itertools|bisect|heapq|time)\.|"
    r"object\.(?!(?:format|format_map|join|write|writelines|"
    r"debug|info|warning|error|critical|exception|log|print_help|add_argument|write_text)$)"
)
"""Functions that make no text of what they are given."""

Operand: TypeAlias = tuple[cst.BaseExpression | None, Expr]
"""A value, and the expression that names it, if there is one."""


class Special(Lowering):
    """Lowers the calls of special methods."""

    def asks(
        self,
        names: Iterable[str],
        node: cst.CSTNode,
        operands: Iterable[Operand],
        given: tuple[Expr, ...] = (),
        held: bool = False,
    ) -> list[Expr]:
        """Run what an operation asks objects for, and what they hold, if `held`. What the methods may have returned."""
        wanted = [name for name in dict.fromkeys(names) if name in self.unit.methods.every]
        if not wanted:
            return []
        found: list[Expr] = []
        unknown: list[Expr] = []
        for owner, value in operands:
            if isinstance(value, Const) or value == NOTHING:
                continue
            cls = self.resolver.cls_of(owner) if owner is not None else None
            if cls is not None:
                found += [self._asked(self._of(cls, name), node, value, given) for name in wanted]
                continue
            origin = self.resolver.origin(owner) if owner is not None else None
            if origin is None:
                unknown.append(value)
            if held and (origin is None or origin.startswith(("builtins.", "collections."))):
                unknown += [Index(value, NOTHING), Index(Index(value, NOTHING), NOTHING)]
        if unknown:
            found.append(self._asked(wanted, node, choice(*unknown), given))
        return [one for one in found if one != NOTHING]

    def asks_all(self, callee: str, node: cst.Call, operands: Iterable[Operand]) -> list[Expr]:
        """The same for what a function of a library is given; one that no table knows may do more to it than that."""
        names = ASKED.get(callee)
        if bindings.tables().lookup(callee, len(node.args)) is None:
            return []
        if names is not None:
            return self.asks(names, node, operands)
        without = _NOT_ASKED.union(TEXT) if _NO_TEXT.match(callee) else _NOT_ASKED
        return self.asks(sorted(_special(self.unit.methods.every) - without), node, operands, held=True)

    def operator(
        self, node: cst.CSTNode, operator: cst.CSTNode, operands: Sequence[Operand], held: bool = False
    ) -> list[Expr]:
        """What an operator asks its operands for; the methods get the other one."""
        names = OPERATORS.get(type(operator).__name__, ())
        if isinstance(operator, cst.Modulo):  # perhaps of a text
            names, held = (*names, *TEXT, *NUMBER), True
        if isinstance(operator, cst.Multiply | cst.MultiplyAssign):  # perhaps of a list
            names = (*names, "__index__")
        others = (choice(*(value for _, value in operands)),) if len(operands) > 1 else ()
        return self.asks(names, node, operands, others, held)

    def called(self, name: str, node: cst.CSTNode, this: Expr) -> Expr:
        """Run a method of the program of which no call is written, if there is one."""
        return self._asked([name] if name else [], node, this, ())

    def described(self, method: str, node: cst.CSTNode, values: Sequence[Expr], base: Expr, *given: Expr) -> list[Expr]:
        """What a class holds may be an object that says what reading or setting an attribute does."""
        return self.asks((method,), node, [(None, value) for value in values], (base, *given))

    def class_values(self, node: cst.BaseExpression, name: str) -> list[Expr]:
        """What classes of the file, or of that of the object's class, hold under this name for all of their objects,
        other than literals.
        """
        named = self.resolver.meaning(node)
        is_class = isinstance(named, OwnClass)
        owner = named if isinstance(named, OwnClass) else self.resolver.cls_of(node)
        outline = owner.outline if owner is not None else self.unit.outline
        return [
            Var(f"::{outline.id}::{cls.name}::{name}")
            for cls in (outline.classes.values() if owner is None else outline.related(owner.cls))
            if is_class
            or name in outline.set_on_classes
            or not all(one is not None and is_plain(one) for one in cls.held.get(name, ()))
            or self.unit.modules.set_on_objects(name, outline.path)
        ]

    def _of(self, cls: OwnClass, name: str) -> list[str]:
        """The method of a class and of those that derive from it; by its name alone where other files may have it."""
        every = [cls.cls, *(one for one in cls.outline.classes.values() if cls.cls in cls.outline.ancestors(one))]
        methods = [self.unit.modules.method(cls.outline, one, name) for one in every]
        if any(method is None for method in methods) and any(one.outside for one in cls.outline.ancestors(cls.cls)):
            return [name]
        return list(dict.fromkeys(method.name for method in methods if method is not None))

    def _asked(self, names: Sequence[str], node: cst.CSTNode, value: Expr, given: tuple[Expr, ...]) -> Expr:
        """One of these methods, of an object that may have none of them."""
        span = self.span(node)
        place = Span(span.path, span.start, span.start)
        result: Expr = NOTHING
        qualified = [[name] for name in names if "::" in name]
        plain = [name for name in names if "::" not in name]
        taking = [name for name in plain if _takes(name)] if given else []
        others = [name for name in plain if name not in taking]
        for group in (*qualified, taking, others):
            if not group:
                continue
            result = self.temporary() if result == NOTHING else result
            args = given if _takes(group[0].rpartition("::")[2]) else ()
            site = self.site(fixed="Python calls it")
            callee = group[0] if group in qualified else ir.any_of(group)
            call = ir.Call(callee, args, span, place, span.end, site, (), deref(value), result, Look.CHECKED)
            if group in qualified:  # another one may be what is called
                test = ir.Test("other", None, f"{callee}@{span.start}-{span.end}")
                self.emit(ir.If(test, (call,), (), span))
            else:
                self.emit(call)
        return result


def _takes(name: str) -> bool:
    """Whether a method is given what `asks` got for it."""
    return _TAKES.fullmatch(name) is not None or SPECIAL.fullmatch(name) is None


@cache
def _special(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in names if SPECIAL.fullmatch(name) or name in CALLED_BACK)
