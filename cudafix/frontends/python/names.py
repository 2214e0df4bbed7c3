"""What the names of a module mean: imports, aliases, functions, classes, and the scopes of functions.

A *dotted name* is the full name of something in a package: `cuda.bindings.runtime.cudaMalloc`, `numpy.zeros`,
`builtins.print`. Older names of a module are replaced by the newest one (`cuda.cudart` is `cuda.bindings.runtime`).
"""

from __future__ import annotations

import builtins
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

_RENAMED = {
    "cuda.cudart": "cuda.bindings.runtime",
    "cuda.cuda": "cuda.bindings.driver",
    "cuda.nvrtc": "cuda.bindings.nvrtc",
    "cuda.ccudart": "cuda.bindings.runtime",
    "cupy_backends.cuda.api.runtime": "cupy.cuda.runtime",
    "cupy_backends.cuda.api.driver": "cupy.cuda.driver",
}
_BUILTINS = frozenset(dir(builtins))
_OLDER = re.compile("|".join(map(re.escape, _RENAMED)))

def canonical(dotted: str) -> str:
    """The newest name of what `dotted` names."""
    found = _OLDER.match(dotted)
    if found is not None and dotted[found.end() : found.end() + 1] in ("", "."):
        return _RENAMED[found[0]] + dotted[found.end() :]
    return dotted


def chain(node: cst.BaseExpression) -> list[str] | None:
    """`a.b.c` as words; None for anything else."""
    words: list[str] = []
    while isinstance(node, cst.Attribute):
        words.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    words.append(node.value)
    return words[::-1]


def identifier(path: str) -> str:
    """A module's path as one word, the first part of the names of what it defines."""
    return re.sub(r"\W", "_", path.removesuffix(".py"))


@dataclass(eq=False)
class Class:
    """A class of a module. `outside` is true where a base class is not of the same module: it may have any method."""

    name: str
    node: cst.ClassDef
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    attributes: dict[str, cst.BaseExpression] = field(default_factory=dict)
    assigned: Counter[str] = field(default_factory=Counter)
    values: dict[str, cst.BaseExpression] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    outside: bool = False


class Bindings(cst.CSTVisitor):
    """Collects what one body binds and reads; bodies of functions and classes inside it are not entered."""

    def __init__(self) -> None:
        self.assigned: Counter[str] = Counter()
        self.values: dict[str, cst.BaseExpression] = {}
        self.all_values: dict[str, list[cst.BaseExpression | None]] = {}
        self.loops: dict[str, cst.BaseExpression] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.functions: dict[str, cst.FunctionDef] = {}
        self.classes: dict[str, cst.ClassDef] = {}
        self.seen: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.field_values: dict[str, cst.BaseExpression] = {}
        self.imports: dict[str, set[str]] = {}
        self.stars = False
        self.yields = False

    def bind(self, target: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        if isinstance(target, cst.Name):
            self.assigned[target.value] += 1
            self.all_values.setdefault(target.value, []).append(value)
            if value is not None:
                self.values[target.value] = value
        elif isinstance(target, cst.Attribute):
            words = chain(target)
            if words is not None and len(words) == 2:
                self.fields[".".join(words)] += 1
                if value is not None:
                    self.field_values[".".join(words)] = value
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self.bind(element.value, None)

    def visit_Assign(self, node: cst.Assign) -> None:  # noqa: N802
        for target in node.targets:
            self.bind(target.target, node.value)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:  # noqa: N802
        self.bind(node.target, node.value)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self.bind(node.target, None)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self.bind(node.target, node.value)

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self.bind(node.target, None)
        if isinstance(node.target, cst.Name):
            self.loops[node.target.value] = node.iter

    def visit_Del(self, node: cst.Del) -> None:  # noqa: N802
        self.bind(node.target, None)

    def visit_WithItem(self, node: cst.WithItem) -> None:  # noqa: N802
        if node.asname is not None:
            self.bind(node.asname.name, node.item)

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:  # noqa: N802
        if node.name is not None:
            self.bind(node.name.name, None)

    def visit_MatchAs(self, node: cst.MatchAs) -> None:  # noqa: N802
        if node.name is not None:
            self.assigned[node.name.value] += 1

    def visit_Global(self, node: cst.Global) -> None:  # noqa: N802
        self.globals.update(item.name.value for item in node.names)

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:  # noqa: N802
        self.nonlocals.update(item.name.value for item in node.names)

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802
        self.seen[node.value] += 1

    def visit_Attribute(self, node: cst.Attribute) -> bool:  # noqa: N802
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:  # noqa: N802
        node.value.visit(self)
        return False

    def visit_Annotation(self, node: cst.Annotation) -> bool:  # noqa: N802
        return False

    def loaded(self, name: str) -> bool:
        """Whether a name is read, and not only assigned."""
        return self.seen[name] > self.assigned[name] - (name in self.functions) - (name in self.classes)

    def visit_Yield(self, node: cst.Yield) -> None:  # noqa: N802
        self.yields = True

    def visit_Lambda(self, node: cst.Lambda) -> bool:  # noqa: N802
        node.body.visit(self)
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802
        self.functions[node.name.value] = node
        self.assigned[node.name.value] += 1
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:  # noqa: N802
        self.classes[node.name.value] = node
        self.assigned[node.name.value] += 1
        return False

    def _imported(self, name: str, dotted: str) -> None:
        self.imports.setdefault(name, set()).add(canonical(dotted))

    def visit_Import(self, node: cst.Import) -> bool:  # noqa: N802
        for alias in node.names:
            words = chain(alias.name) or []
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self._imported(alias.asname.name.value, ".".join(words))
            elif words:
                self._imported(words[0], words[0])
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:  # noqa: N802
        module = "." * len(node.relative) + ".".join(chain(node.module) or [] if node.module is not None else [])
        if isinstance(node.names, cst.ImportStar):
            self.stars = True
            return False
        for alias in node.names:
            word = ".".join(chain(alias.name) or [])
            name = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(name, cst.Name):
                self._imported(name.value, f"{module}{'' if module.endswith('.') else '.'}{word}")
        return False


def bindings_of(body: cst.CSTNode) -> Bindings:
    """What a function's or a module's own statements bind and read."""
    found = Bindings()
    for child in body.children:
        child.visit(found)
    return found


def inner_reads(node: cst.CSTNode) -> frozenset[str]:
    """Every name that occurs in a node, functions inside it included."""
    found: set[str] = set()
    stack: list[cst.CSTNode] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            found.add(current.value)
        stack.extend(current.children)
    return frozenset(found)


class Outline:
    """A module's imports, functions, classes and global names, from its tree alone."""

    def __init__(self, path: str, module: cst.Module) -> None:
        self.path = path
        self.id = identifier(path)
        top = bindings_of(module)
        self.top = top
        self.imports = top.imports
        self.stars = top.stars
        self.assigned = top.assigned
        self.values = top.values
        self.functions = top.functions
        self.classes = {name: self._class(name, node) for name, node in top.classes.items()}
        self._globals_written = self._written(module)

    def _class(self, name: str, node: cst.ClassDef) -> Class:
        found = Class(name, node)
        body = bindings_of(node.body)
        found.methods = body.functions
        found.attributes = body.values
        found.bases = tuple(".".join(words) for base in node.bases if (words := chain(base.value)) is not None)
        known = self.top.classes
        harmless = {"object", "ABC", "abc.ABC", "Protocol"}
        found.outside = len(found.bases) != len(node.bases) or any(
            base not in known and base not in harmless for base in found.bases
        )
        for method in found.methods.values():
            first = method.params.params[0].name.value if method.params.params else ""
            inner = bindings_of(method.body)
            for place, times in inner.fields.items():
                owner, _, attribute = place.partition(".")
                if owner == first:
                    found.assigned[attribute] += times
                    if place in inner.field_values:
                        found.values[attribute] = inner.field_values[place]
        return found

    @staticmethod
    def _written(module: cst.Module) -> frozenset[str]:
        """Global names that a function assigns."""
        found: set[str] = set()
        stack: list[cst.CSTNode] = [module]
        while stack:
            current = stack.pop()
            if isinstance(current, cst.Global):
                found.update(item.name.value for item in current.names)
            stack.extend(current.children)
        return frozenset(found)

    def constant(self, name: str) -> cst.BaseExpression | None:
        """The value of a global that is assigned once."""
        if self.assigned[name] == 1 and name not in self._globals_written:
            return self.values.get(name)
        return None

    def dotted_module(self, name: str) -> set[str]:
        """What an imported name may mean; empty for a name that is not imported."""
        return self.imports.get(name, set())

    def ancestors(self, cls: Class) -> Iterator[Class]:
        """The class and its bases in this module."""
        stack, seen = [cls], set()
        while stack:
            current = stack.pop(0)
            if current.name not in seen:
                seen.add(current.name)
                yield current
                stack += [self.classes[base] for base in current.bases if base in self.classes]


def absolute(dotted: str, path: str) -> str:
    """A relative import (`..common.check`) as the path of what it names, with `/`; others unchanged."""
    if not dotted.startswith("."):
        return dotted
    level = len(dotted) - len(dotted.lstrip("."))
    folder = os.path.dirname(path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    return os.path.join(folder, *dotted.lstrip(".").split("."))


def is_builtin(name: str) -> bool:
    return name in _BUILTINS
