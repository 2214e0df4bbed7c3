"""What `__del__` does: Python calls it at any time once nobody refers to the object any more, and no statement says so.

Most of them give back what the object holds: handles, files, host memory. That looks at nothing which a copy could
still be writing, and leaves no work on the device, so that it does not matter when it runs. All that is not understood
as such is taken to be more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping

import libcst as cst

from cudafix.frontends.python.names import canonical, chain
from cudafix.frontends.python.nodes import walk
from cudafix.models.python import MODULES

_GIVES_BACK = re.compile(
    r"free|destroy|release|close|reset|delete|unload|detach|stop|join|shutdown|quit|terminate|clear|clean|finali[sz]e|"
    r"synchronize|^pop$|^__del__$|^__exit__$",
    re.IGNORECASE,
)
_ASKS = frozenset("hasattr getattr isinstance callable id type".split())
"""Functions that look at nothing which an object holds in memory."""
_TELLS = frozenset("print debug info warning error".split())
_PUTS = frozenset(
    "append appendleft extend extendleft insert add update setdefault sort reverse rotate put put_nowait __setitem__ "
    "__setattr__".split()
)
"""Methods that put something into what others hold."""
_TRUTH = ("__bool__", "__len__")
_RUNS_THROUGH = ("__iter__", "__next__", "__getitem__", "__len__")
_COMPARES = ("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__")


class _OtherError(Exception):
    """Something that does more than to give back."""


def asked_at_the_end(
    methods: Mapping[str, cst.FunctionDef], imports: Mapping[str, Collection[str]]
) -> frozenset[str] | None:
    """The names of methods and attributes that `__del__` asks the parts of its object for, if it does no more than to
    give back; None if it may do anything. Where a class of the program has one of that name, it runs.
    """
    ending = _Ending(methods, imports)
    try:
        ending.method("__del__")
    except _OtherError:
        return None
    return frozenset(ending.asked)


def stores_at_the_end(methods: Mapping[str, cst.FunctionDef]) -> bool:
    """Whether `__del__`, or a method of its class that it may call, stores in what others hold: in a global variable,
    an element, or an attribute of another object than its own.
    """
    seen, names = set[str](), ["__del__"]
    while names:
        name = names.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        function = methods[name]
        this = function.params.params[0].name.value if function.params.params else ""
        outside: set[str] = set()
        for node in walk(function.body):
            match node:
                case cst.Global(names=listed) | cst.Nonlocal(names=listed):
                    outside.update(one.name.value for one in listed)
                case cst.Attribute(value=cst.Name(value=base), attr=cst.Name(value=called)) if base == this:
                    names.append(called)
                case _:
                    pass
        if any(_stores(node, this, outside) for node in walk(function.body)):
            return True
    return False


def _stores(node: cst.CSTNode, this: str, outside: Collection[str]) -> bool:
    match node:
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            starred = isinstance(target, cst.Tuple | cst.List) and any(
                isinstance(one, cst.StarredElement) for one in target.elements
            )
            return starred or any(_is_of_others(part, this, outside) for part in _parts(target))
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in _PUTS
        case cst.Call(func=cst.Name(value="setattr")):
            return True
        case _:
            return False


def _is_of_others(target: cst.BaseExpression, this: str, outside: Collection[str]) -> bool:
    match target:
        case cst.Name(value=name):
            return name in outside
        case cst.Attribute(value=cst.Name(value=base)):
            return base != this
        case _:
            return True


class _Ending:
    """Reads `__del__`, and the methods of its class that it calls."""

    def __init__(self, methods: Mapping[str, cst.FunctionDef], imports: Mapping[str, Collection[str]]) -> None:
        self.methods = methods
        self.imports = imports
        self.asked: set[str] = set()
        self.seen: set[str] = set()
        self.this = ""

    def method(self, name: str) -> None:
        """A method of the class, or what a property gives."""
        if name not in self.methods or name in self.seen:
            return
        self.seen.add(name)
        function = self.methods[name]
        if function.decorators or function.asynchronous is not None:
            raise _OtherError
        this, self.this = self.this, function.params.params[0].name.value if function.params.params else ""
        self.body(function.body)
        self.this = this

    def body(self, node: cst.BaseSuite) -> None:
        for statement in node.body:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self.small(small)
            elif isinstance(statement, cst.BaseSmallStatement):
                self.small(statement)
            else:
                self.compound(statement)

    def compound(self, node: cst.CSTNode) -> None:
        match node:
            case cst.If(test=test, body=body, orelse=orelse):
                self.test(test)
                self.body(body)
                if orelse is not None:
                    self.compound(orelse)
            case cst.Else(body=body) | cst.Finally(body=body):
                self.body(body)
            case cst.For(iter=iterable, body=body, orelse=None, asynchronous=None) if _calls(body):
                self.asked.update(_RUNS_THROUGH)
                self.value(iterable)
                self.body(body)
            case cst.While(test=test, body=body, orelse=None):
                self.test(test)
                self.body(body)
            case cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self.body(body)
                for handler in handlers:
                    self.body(handler.body)
                for part in (orelse, final):
                    if part is not None:
                        self.compound(part)
            case cst.With(items=items, body=body, asynchronous=None):
                self.asked.update(("__enter__", "__exit__"))
                for item in items:
                    self.value(item.item)
                self.body(body)
            case _:
                raise _OtherError

    def small(self, node: cst.BaseSmallStatement) -> None:
        match node:
            case cst.Expr(value=cst.Call() | cst.SimpleString() as value):
                self.value(value)
            case cst.Assign(targets=targets, value=value) if not isinstance(value, cst.Subscript):
                for target in (one.target for one in targets):
                    if not isinstance(target, cst.Name | cst.Attribute):
                        raise _OtherError
                    self.value(target)
                self.value(value)
            case cst.Return(value=value) if not isinstance(value, cst.Subscript):
                if value is not None:
                    self.value(value)
            case cst.Del(target=target):
                self.values(_parts(target))
            case cst.Pass() | cst.Break() | cst.Continue() | cst.Raise() | cst.Global() | cst.Import():
                pass
            case cst.ImportFrom():
                pass
            case _:
                raise _OtherError

    def test(self, node: cst.BaseExpression) -> None:
        """A condition: it looks at no element of anything."""
        self.asked.update(_TRUTH)
        match node:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                self.test(inner)
            case cst.BooleanOperation(left=left, right=right):
                self.test(left)
                self.test(right)
            case cst.Comparison(left=left, comparisons=comparisons):
                self.asked.update(_COMPARES)
                self.values((left, *(one.comparator for one in comparisons)))
                if any(isinstance(one.operator, cst.In | cst.NotIn) for one in comparisons):
                    raise _OtherError
            case cst.Subscript():
                raise _OtherError
            case _:
                self.value(node)

    def values(self, nodes: Iterable[cst.BaseExpression]) -> None:
        for node in nodes:
            self.value(node)

    def value(self, node: cst.BaseExpression) -> None:
        match node:
            case cst.Name() | cst.SimpleString() | cst.BaseNumber():
                pass
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.value(owner)
                self.attribute(owner, name)
            case cst.Subscript(value=owner, slice=parts):
                self.asked.add("__getitem__")
                self.values((owner, *(one.slice.value for one in parts if isinstance(one.slice, cst.Index))))
            case cst.Tuple() | cst.List():
                self.values(_parts(node))
            case cst.Call():
                self.call(node)
            case _:
                raise _OtherError

    def attribute(self, owner: cst.BaseExpression, name: str) -> None:
        if not isinstance(owner, cst.Name) or owner.value != self.this:
            self.asked.add(name)
        else:
            self.method(name)

    def call(self, node: cst.Call) -> None:
        given = [argument.value for argument in node.args]
        words = chain(node.func)
        if any(map(self.is_of_cuda, given)) or self.is_of_cuda(node):  # a check function around it
            self.values(given)
        elif words is not None and len(words) == 1 and words[0] in _ASKS and words[0] not in self.imports:
            self.values(given)
            texts = (one.evaluated_value for one in given if isinstance(one, cst.SimpleString))
            self.asked.update(text for text in texts if isinstance(text, str))
        elif words is not None and words[-1] in _TELLS and all(map(_is_text, given)):
            pass
        elif isinstance(node.func, cst.Attribute):
            self.method_of(node.func, given)
        else:
            raise _OtherError

    def method_of(self, func: cst.Attribute, given: Iterable[cst.BaseExpression]) -> None:
        owner, name = func.value, func.attr.value
        self.values(given)
        if isinstance(owner, cst.Call) and chain(owner.func) == ["super"]:
            if name != "__del__":
                raise _OtherError
            return
        self.value(owner)
        root = (chain(owner) or [""])[0]
        if isinstance(owner, cst.Name) and root == self.this and name in self.methods:
            self.method(name)
        elif not _GIVES_BACK.search(name) or (root in self.imports and not self.is_plain_module(root)):
            raise _OtherError
        else:
            self.asked.add(name)

    def is_plain_module(self, name: str) -> bool:
        """Whether this is a module of the standard library."""
        roots = {dotted.partition(".")[0] for dotted in self.imports[name]}
        return roots <= sys.stdlib_module_names - {"ctypes"}

    def is_of_cuda(self, node: cst.BaseExpression) -> bool:
        """Whether this calls a function of the CUDA API that gives something back, or waits."""
        words = chain(node.func) if isinstance(node, cst.Call) else None
        if words is None or not _GIVES_BACK.search(words[-1]):
            return False
        names = {canonical(".".join((dotted, *words[1:]))) for dotted in self.imports.get(words[0], ())}
        return bool(names) and all(name.startswith(tuple(f"{module}." for module in MODULES)) for name in names)


def _parts(node: cst.BaseExpression) -> Iterable[cst.BaseExpression]:
    if not isinstance(node, cst.Tuple | cst.List):
        return (node,)
    if any(isinstance(one, cst.StarredElement) for one in node.elements):
        raise _OtherError
    return (one.value for one in node.elements)


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.SimpleString | cst.BaseNumber)


def _calls(body: cst.BaseSuite) -> bool:
    """Whether a loop does more than to read what it runs through."""
    return any(isinstance(one, cst.Expr) and isinstance(one.value, cst.Call) for one in walk(body))
