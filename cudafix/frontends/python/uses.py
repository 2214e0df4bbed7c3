"""What a Python program calls, call by call: for codemods that ask where and how often a library is used.

Control flow is kept only as far as these questions need it: how many loops are around a call, whether it runs whenever
its function does, and in which order the calls of one function stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from cudafix import ir
from cudafix.frontends.python.meaning import Dotted, OwnFunction, Resolver, Scope, scope_of
from cudafix.frontends.python.names import Class, canonical, chain, decorators
from cudafix.frontends.python.nodes import children, walk
from cudafix.frontends.python.source import Source
from cudafix.frontends.python.tree import PythonTree

LAUNCH = "numba.cuda.<launch>"
"""The name of a call `kernel[grid, block, …](…)`."""
_DEVICE = frozenset(("jit", "declare_device", "vectorize", "guvectorize", "rawkernel"))


@dataclass(eq=False)
class Use:
    """A call. `name` is the full name of what is called (`numba.cuda.stream().synchronize` for a method of what a call
    returned, `object.synchronize` where that is not known), or the qualified name of a function of the program if
    `own`. `function` is "" at the top of a module. `certain`: it runs whenever its function does, up to exceptions.
    `context`: it is what a `with` statement enters.
    """

    path: str
    name: str
    node: cst.Call
    site: ir.Site
    function: str
    loops: int
    certain: bool
    resolver: Resolver
    own: bool = False
    context: bool = False
    expression: bool = False  # the statement is this call and nothing else

    def argument(self, position: int, name: str) -> cst.BaseExpression | None:
        """The argument at a position or of a name; None where it is not given."""
        for number, given in enumerate(self.node.args):
            if given.keyword is not None and given.keyword.value == name:
                return given.value
            if number == position and given.keyword is None and not given.star:
                return given.value
        return None


@dataclass(eq=False)
class File:
    """One file of a program. `statements` are the simple and compound statements at its top."""

    source: Source
    uses: list[Use]
    imports: frozenset[str]  # full names of what is imported anywhere in it
    names: frozenset[str]  # every identifier, and every text that is one (`getattr(x, "name")`)
    asked: Mapping[str, int]  # what the host asks objects and modules for, by name, and how often: `asked_in`

    @property
    def path(self) -> str:
        return self.source.path


@dataclass(eq=False)
class PythonProgram:
    """A script (or a module that no script imports, `script` false) and the files of the tree that it imports; of those
    in `unread` nothing is known. `has_rmm`: it may import RMM, as it does so already or its project depends on it.
    `default_stream_is_open`: other files may give it a default stream of each thread.
    """

    script: bool
    files: Mapping[str, File]
    tree: PythonTree
    unread: tuple[str, ...] = ()
    called: dict[str, list[Use]] = field(default_factory=dict)
    has_rmm: bool = field(init=False)
    default_stream_is_open: bool = False

    def __post_init__(self) -> None:
        self.has_rmm = any(name.split(".")[0] == "rmm" for file in self.files.values() for name in file.imports)

    @cached_property
    def main(self) -> File:
        return next(iter(self.files.values()))

    def uses(self) -> Iterator[Use]:
        for file in self.files.values():
            yield from file.uses

    def calls_of(self, function: str) -> list[Use]:
        """The calls of a function of the program."""
        if not self.called:
            for use in self.uses():
                if use.own:
                    self.called.setdefault(use.name, []).append(use)
        return self.called.get(function, [])

    def runs_again(self, use: Use, depth: int = 8) -> bool:
        """Whether a call may run more than once in a run of the program, as far as calls of functions are seen."""
        if use.loops:
            return True
        if not use.function or not depth:
            return not depth
        callers = self.calls_of(use.function)
        return len(callers) != 1 or self.runs_again(callers[0], depth - 1)


class _Reader:
    """Lists the uses of one file."""

    def __init__(self, tree: PythonTree, source: Source) -> None:
        outline = tree.outline(source.path)
        assert outline is not None
        self.tree = tree
        self.source = source
        self.outline = outline
        self.uses: list[Use] = []
        self.imports: set[str] = set()
        self.names: set[str] = set()
        self.function = ""
        self.resolver = Resolver(tree.modules, outline, None)
        self.scope: Scope | None = None
        self.loops = 0
        self.certain = True

    def read(self) -> File:
        self.body(self.source.module.body)
        return File(self.source, self.uses, frozenset(self.imports), frozenset(self.names),
                    asked_in(self.source.module))  # fmt: skip

    def site(self, node: cst.CSTNode, blocked: str | None) -> ir.Site:
        span = self.source.span(node)
        line = self.source.data.rfind(b"\n", 0, span.start) + 1
        head = self.source.data[line : span.start]
        indent = head[: len(head) - len(head.lstrip(b" \t"))]
        if blocked is None and head.strip():
            blocked = "something else stands in front of it on its line"
        return ir.Site(span, indent.decode("ascii", "replace"), "", "", blocked=blocked)

    def body(self, body: object, blocked: str | None = None) -> None:
        if isinstance(body, cst.IndentedBlock):
            body = body.body
        if isinstance(body, cst.SimpleStatementSuite):
            body, blocked = body.body, "its body is on the line of its header"
        assert isinstance(body, list | tuple)
        for statement in body:
            if isinstance(statement, cst.SimpleStatementLine):
                several = "several statements are on one line" if len(statement.body) > 1 else blocked
                for small in statement.body:
                    self.small(small, several)
            elif isinstance(statement, cst.BaseSmallStatement):
                self.small(statement, blocked)
            else:
                self.compound(statement)

    def small(self, node: cst.BaseSmallStatement, blocked: str | None) -> None:
        whole = node.value if isinstance(node, cst.Expr) else None
        if isinstance(node, cst.Import | cst.ImportFrom):
            self.imported(node)
            return
        self.expression(node, self.site(node, blocked), whole)

    def imported(self, node: cst.Import | cst.ImportFrom) -> None:
        if isinstance(node, cst.Import):
            self.imports |= {canonical(".".join(chain(alias.name) or [])) for alias in node.names}
            return
        module = "." * len(node.relative) + ".".join(chain(node.module) or [] if node.module is not None else [])
        self.imports.add(canonical(module))
        if not isinstance(node.names, cst.ImportStar):
            self.imports |= {canonical(f"{module}.{'.'.join(chain(alias.name) or [])}") for alias in node.names}

    def compound(self, node: cst.CSTNode) -> None:
        site = self.site(node, None)
        closed = self.site(node, "it is in the header of a compound statement")
        match node:
            case cst.If(test=test, body=body, orelse=orelse):
                self.expression(test, site)
                self.maybe(body)
                while isinstance(orelse, cst.If):
                    self.expression(orelse.test, closed)
                    self.maybe(orelse.body)
                    orelse = orelse.orelse
                if orelse is not None:
                    self.maybe(orelse.body)
            case cst.For(iter=iterable, body=body, orelse=orelse):
                self.expression(iterable, site)
                self.repeated(body)
                if orelse is not None:
                    self.maybe(orelse.body)
            case cst.While(test=test, body=body, orelse=orelse):
                self.loops += 1
                self.expression(test, closed)
                self.loops -= 1
                self.repeated(body)
                if orelse is not None:
                    self.maybe(orelse.body)
            case cst.With(items=items, body=body):
                for item in items:
                    before = len(self.uses)
                    self.expression(item.item, site if len(items) == 1 else closed, None)
                    for use in self.uses[before:]:
                        use.context = use.node is item.item
                self.body(body)
            case cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                self.maybe(body)
                for handler in handlers:
                    if handler.type is not None:
                        self.expression(handler.type, closed)
                    self.maybe(handler.body)
                if orelse is not None:
                    self.maybe(orelse.body)
                if finalbody is not None:
                    self.body(finalbody.body)
            case cst.FunctionDef():
                self.nested(node, None)
            case cst.ClassDef():
                cls = self.outline.classes.get(node.name.value)
                cls = cls if cls is not None and cls.node is node else None
                inner = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
                for statement in inner:
                    if isinstance(statement, cst.FunctionDef):
                        self.nested(statement, cls or Class(node.name.value, node))
                    elif isinstance(statement, cst.SimpleStatementLine):
                        self.body([statement], "it is in the body of a class")
            case cst.Match(subject=subject, cases=cases):
                self.expression(subject, site)
                for case in cases:
                    self.maybe(case.body)
            case _:
                self.expression(node, closed)

    def maybe(self, body: object) -> None:
        """A body that may not run."""
        certain, self.certain = self.certain, False
        self.body(body)
        self.certain = certain

    def repeated(self, body: object) -> None:
        self.loops += 1
        self.maybe(body)
        self.loops -= 1

    def nested(self, node: cst.FunctionDef, cls: Class | None) -> None:
        if decorators(node) & _DEVICE:
            self.names |= {one.value for one in _names(node)}
            return
        outer = self.function, self.resolver, self.scope, self.loops, self.certain
        owner = self.function or self.outline.id
        self.function = f"{owner}::{cls.name}::{node.name.value}" if cls else f"{owner}::{node.name.value}"
        self.scope = scope_of(node, self.function, self.scope, cls)
        self.resolver = Resolver(self.tree.modules, self.outline, self.scope)
        self.loops, self.certain = 0, True
        self.body(node.body)
        self.function, self.resolver, self.scope, self.loops, self.certain = outer

    def expression(self, node: cst.CSTNode, site: ir.Site, whole: cst.CSTNode | None = None) -> None:
        """The calls in an expression, in the order of evaluation as far as one call is inside another."""
        repeats = isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp | cst.Lambda)
        self.loops += repeats
        for inner in children(node):
            self.expression(inner, site, whole)
        self.loops -= repeats
        if isinstance(node, cst.Name):
            self.names.add(node.value)
        if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
            if node.evaluated_value.isidentifier():
                self.names.add(node.evaluated_value)
        if isinstance(node, cst.Call):
            name, own = self.name_of(node)
            self.uses.append(
                Use(
                    self.source.path, name, node, site, self.function, self.loops, self.certain, self.resolver, own,
                    expression=node is whole,
                )
            )  # fmt: skip

    def name_of(self, node: cst.Call) -> tuple[str, bool]:
        func = node.func
        if isinstance(func, cst.Subscript) and not isinstance(self.resolver.meaning(func.value), Dotted):
            return LAUNCH, False
        match self.resolver.meaning(func):
            case Dotted(name):
                return name, False
            case OwnFunction(name=name):
                return name, True
        if isinstance(func, cst.Attribute):
            origin = self.resolver.origin(func.value)
            if origin is not None:
                return f"{origin}.{func.attr.value}", False
            return f"object.{func.attr.value}", False
        return f"object.{func.value}" if isinstance(func, cst.Name) else "object.", False


def asked_in(module: cst.Module) -> Counter[str]:
    """How often each name stands in the code of the host as an attribute, as one that is imported from a module, or as
    a text (`getattr(x, "name")`). Left out is what a loop asks that does nothing but wait for the answer.
    """
    found: Counter[str] = Counter()
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        match node:
            case cst.FunctionDef() if decorators(node) & _DEVICE:
                stack += [*node.decorators, node.params]
                continue
            case cst.While(test=cst.UnaryOperation(operator=cst.Not(), expression=asked)) if _only_waits(node):
                if isinstance(asked, cst.Call) and not asked.args:
                    asked = asked.func
                stack += [asked.value if isinstance(asked, cst.Attribute) else asked, node.body]
                continue
            case cst.Attribute(value=value, attr=cst.Name(value=name)):
                found[name] += 1
                stack.append(value)
                continue
            case cst.ImportFrom(names=list() | tuple() as names):
                found.update(one.name.value for one in names if isinstance(one.name, cst.Name))
            case cst.SimpleString() if isinstance(node.evaluated_value, str):
                found[node.evaluated_value] += 1
        stack += children(node)
    return found


def _only_waits(loop: cst.While) -> bool:
    """Whether the body of a loop does nothing, or sleeps."""
    for one in walk(loop.body):
        if isinstance(one, cst.Expr):
            if not isinstance(one.value, cst.Call) or chain(one.value.func) != ["time", "sleep"]:
                return False
        elif isinstance(one, cst.BaseCompoundStatement | cst.BaseSmallStatement):
            if not isinstance(one, cst.Pass | cst.Continue):
                return False
    return loop.orelse is None


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            yield current
        stack += children(current)


def file_of(tree: PythonTree, path: str) -> File | None:
    """One file on its own; None where it cannot be read."""
    source = tree.source(path)
    if not isinstance(source, Source) or tree.outline(path) is None:
        return None
    return _Reader(tree, source).read()


def programs(tree: PythonTree, wanted: set[str], failed: dict[str, Exception] | None = None) -> Iterator[PythonProgram]:
    """The programs that hold one of the `wanted` files: scripts with what they import, then modules on their own.

    A file on which cudafix fails is one that cannot be read, and goes to `failed`; without that, the error is raised.
    """
    from cudafix.frontends.python import lower

    files: dict[str, File] = {}

    def program(path: str, script: bool) -> PythonProgram:
        found: dict[str, File] = {}
        unread: list[str] = []
        for one in tree.program(path):
            source = tree.source(one)
            if not isinstance(source, Source) or tree.outline(one) is None or one in (failed or ()):
                unread.append(one)
                continue
            try:
                if one not in files:
                    files[one] = _Reader(tree, source).read()
                found[one] = files[one]
            except Exception as error:
                if failed is None:
                    raise
                failed[one] = error
                unread.append(one)
        return PythonProgram(script, found, tree, tuple(unread))

    covered: set[str] = set()
    for path in sorted(tree.importers(wanted)):
        source, outline = tree.source(path), tree.outline(path)
        if isinstance(source, Source) and outline is not None:
            one = program(path, script=True)
            if path not in one.files:
                continue
            if lower.is_script(source.module, outline, tree.modules) or _works_at_its_top(one.main):
                yield one
                covered.update(tree.program(path))
    for path in sorted(wanted - covered):
        if isinstance(tree.source(path), Source) and tree.outline(path) is not None:
            one = program(path, script=False)
            if path in one.files:
                yield one


def _works_at_its_top(file: File) -> bool:
    """Whether the statements at the top of a file work on the device: nobody imports such a file."""
    return any(not use.function and use.name.startswith(("cupy.", "numba.cuda.")) for use in file.uses)
