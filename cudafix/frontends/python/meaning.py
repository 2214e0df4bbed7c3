"""What an expression names: something in a package, or a function, a class or a module of the program itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, cast

import libcst as cst

from cudafix.frontends.python import bindings
from cudafix.frontends.python.names import (
    MADE,
    Bindings,
    Class,
    Outline,
    bindings_of,
    canonical,
    chain,
    decorators,
    imported_by,
    inner_reads,
    is_builtin,
)
from cudafix.frontends.python.nodes import only_part, walk, walk_own
from cudafix.frontends.python.questions import Questions
from cudafix.models.python import ANYTHING, STORES, STREAM, TAKES
from cudafix.project.including import PACKAGES, absolute

_SEQUENCES = frozenset("List list Sequence Iterable Collection".split())
_MAKES = frozenset("__init__ __new__ __post_init__ __slots__ __match_args__".split())
_SLICED = ("builtins.list()", "builtins.tuple()")
_CONTAINERS = (*_SLICED, "builtins.dict()")


class Dotted(NamedTuple):
    """Something that no file of the program defines, by its full name."""

    name: str


class OwnFunction(NamedTuple):
    """A function or method of the program. `name` is qualified, as the IR has it."""

    outline: Outline
    node: cst.FunctionDef
    name: str
    cls: Class | None = None


class OwnClass(NamedTuple):
    outline: Outline
    cls: Class


class OwnModule(NamedTuple):
    outline: Outline


class OwnGlobal(NamedTuple):
    """A variable of another module of the program."""

    outline: Outline
    name: str


Meaning: TypeAlias = Dotted | OwnFunction | OwnClass | OwnModule | OwnGlobal


_OF_THE_TREE = "<tree>."
"""What the names begin with of what a module of the tree has, not a package: no table knows them."""


def _of_a_package(dotted: str) -> Dotted:
    """What an imported name means that no module of the tree has."""
    return Dotted(canonical(dotted.lstrip(".")))


def _members(cls: Class) -> Iterator[str]:
    """The names that an object of a class has of itself, but for those that are asked for when it is made."""
    return (name for name in (*cls.methods, *cls.assigned, *cls.attributes) if name not in _MAKES)


def _related(outline: Outline, cls: Class, of: OwnClass) -> bool:
    """Whether one of two classes, one in this module, is a base of the other."""
    if outline is not of.outline:
        return of.cls.name in cls.bases or cls.name in of.cls.bases
    return of.cls in outline.ancestors(cls) or cls in outline.ancestors(of.cls)


def _overrides(of: OwnClass) -> bool:
    """Whether a class has a method for one that a base has."""
    own, *bases = of.outline.ancestors(of.cls)
    return any(name in base.methods for base in bases for name in own.methods if name not in _MAKES)


@dataclass
class Modules:
    """The modules of the tree, as far as they are asked for. `load` gives the outline of a file, None if unreadable;
    `gives_code` says whether a file or what it imports gives TensorRT code to call, `set_from_outside` whether some
    file sets a name of this kind in a module that it imports, `set_on_objects` whether one that names a module sets
    such an attribute of something. `beside` gives the files of all programs that a file is part of, `elsewhere` those
    that a module of this name may be if Python looks for modules in their folders.
    """

    find: Callable[[str, str], str | None]
    load: Callable[[str], Outline | None]
    gives_code: Callable[[str], bool]
    set_from_outside: Callable[[str], bool] = field(default=lambda name: False)
    set_on_objects: Callable[[str, str], bool] = field(default=lambda name, path: False)
    beside: Callable[[str], Collection[str]] = field(default=lambda path: ())
    elsewhere: Callable[[str], Collection[str]] = field(default=lambda dotted: ())
    questions: Questions = field(default_factory=Questions)

    def runs(self, node: cst.Import | cst.ImportFrom, path: str) -> bool:
        """Whether an import runs more than definitions, in a module of the program or in one that this imports."""
        words = imported_by(node)
        files = (self.find(absolute(word, path), path) for word in words)
        outlines = [self.load(file) for file in files if file is not None and file != path]
        return any(one is not None and self._runs(one) for one in outlines)

    def _runs(self, outline: Outline) -> bool:
        def answer() -> bool:
            return outline.acts or any(self.runs(one, outline.path) for one in outline.all_imports)

        return self.questions.ask(("runs", outline.path), False, answer)

    def meaning(self, dotted: str, path: str) -> Meaning:
        """What an imported name means, seen from the file at `path`. One that leads back to itself means nothing."""
        full = absolute(dotted, path)
        nothing: Meaning = _of_a_package(dotted)
        return self.questions.ask(("import", full, path), nothing, lambda: self._imported(dotted, full, path))

    def _imported(self, dotted: str, full: str, path: str) -> Meaning:
        separator = "/" if full != dotted else "."
        words = full.split(separator)
        for n in range(len(words), 0, -1):
            module = separator.join(words[:n])
            found = self.find(module, path)
            outline = self.load(found) if found is not None else None
            if outline is not None:
                meaning: Meaning | None = OwnModule(outline)
                for word in words[n:]:
                    meaning = self.member(meaning, word, path) if meaning is not None else None
                if meaning is not None:
                    return meaning
            others = [found] if found is not None else [one for one in self.elsewhere(module) if one != path]
            if any(self._may_have(self.load(one), words[n:]) for one in others):
                return Dotted(f"{_OF_THE_TREE}{dotted.lstrip('.')}")
            if outline is not None:
                break
        return _of_a_package(dotted)

    def _may_have(self, outline: Outline | None, words: Sequence[str]) -> bool:
        """Whether a module of the tree may be what an import means: it has the name, or nobody can tell."""
        if outline is None or not words:
            return True
        gives = outline.binds(words[0]) or words[0] in outline.imports or "__getattr__" in outline.functions
        return gives or self._starred(outline, words[0], 0) is not None or self.hides(outline)

    def member(self, owner: Meaning, name: str, path: str) -> Meaning | None:
        """`owner.name` in the file at `path`. `import package.module` binds the package: the tree may have the module
        without having the package.
        """
        match owner:
            case Dotted(dotted) if dotted.partition(".")[0] in PACKAGES:
                return self.meaning(f"{dotted}.{name}", path)
            case Dotted(dotted):
                return Dotted(canonical(f"{dotted}.{name}"))
            case OwnModule(outline):
                return self.top(outline, name)
            case OwnClass(outline, cls):
                return self.method(outline, cls, name)
            case _:
                return None

    def may_replace(self, of: OwnClass, outline: Outline | None) -> bool:
        """Whether an object of another class could do what this one is for: of one in a module that is no base of it
        and not derived from it, and has a member of the same name or a special method; of a base, where the class has
        another method of the same name; or of a library, where a method has the name of one of a plain object.
        """
        if outline is None:  # it cannot be read
            return True
        other = outline

        def answer() -> bool:
            mine = {name for one in of.outline.ancestors(of.cls) for name in _members(one)}
            others = {name for one in other.classes.values() if not _related(other, one, of) for name in _members(one)}
            special = any(name.startswith("__") for name in others)
            plain = any(bindings.tables().lookup(f"object.{name}", 1) is not None for name in mine)
            return special or plain or not mine.isdisjoint(others) or _overrides(of)

        return self.questions.ask(("may replace", of.outline.path, of.cls.name, outline.path), False, answer)

    def method(self, outline: Outline, cls: Class, name: str) -> OwnFunction | None:
        """A method of a class or of its bases in the same module. A value hides what bases have under its name."""
        for one in outline.ancestors(cls):
            if name in one.methods:
                return OwnFunction(outline, one.methods[name], f"{outline.id}::{one.name}::{name}", one)
            if name in one.held:
                return None
        return None

    def top(self, outline: Outline, name: str, depth: int = 0) -> Meaning | None:
        """What a global name of a module means; None for a variable."""
        if depth > 8:
            return None
        bound = self._bound(outline, name, depth)
        if bound is not None and not isinstance(bound, Dotted) and outline.top.star_behind_names:
            brought = self._starred(outline, name, depth)
            if self.hides(outline) or (brought is not None and brought != bound):
                return None  # an `import *` may bind the name anew
        if bound is None and not outline.assigned[name] and name not in outline.imports:
            bound = self._starred(outline, name, depth)
            if bound is None and is_builtin(name):
                bound = Dotted(f"builtins.{name}")
        return bound

    def _bound(self, outline: Outline, name: str, depth: int) -> Meaning | None:
        """What the statements of a module make of a name."""
        defined = name in outline.functions or name in outline.classes
        if defined and name in outline.imports:
            return None  # which of the two runs last is not looked at
        if name in outline.functions and outline.assigned[name] == 1 and name not in outline.rebound:
            return OwnFunction(outline, outline.functions[name], f"{outline.id}::{name}")
        if name in outline.classes and outline.assigned[name] == 1 and name not in outline.rebound:
            return OwnClass(outline, outline.classes[name])
        imported = outline.dotted_module(name)
        if imported:
            found = {self.meaning(dotted, outline.path) for dotted in imported}
            # what an `except ImportError` binds instead (`None`) is no other meaning: it is never called
            return self.kept(found.pop()) if len(found) == 1 else None
        value = outline.constant(name) if not self.set_from_outside(name) else None
        words = chain(value) if value is not None else None
        if words is not None:
            meaning = self.top(outline, words[0], depth + 1)
            for word in words[1:]:
                meaning = self.member(meaning, word, outline.path) if meaning is not None else None
            return self.kept(meaning) or OwnGlobal(outline, name) if isinstance(meaning, OwnGlobal) else meaning
        return OwnGlobal(outline, name) if outline.binds(name) else None

    def kept(self, meaning: Meaning | None) -> Meaning | None:
        """What a name goes on to mean that is bound to this. An assignment and `from module import name` copy what a
        variable holds then: the name means the variable only where that is never set again.
        """
        if isinstance(meaning, OwnGlobal):
            final = meaning.outline.constant(meaning.name) is not None and not self.set_from_outside(meaning.name)
            return meaning if final else None
        return meaning

    def _starred(self, outline: Outline, name: str, depth: int) -> Meaning | None:
        """What `from module import *` makes of a name: the last one that brings it counts. None where nobody does, or
        where a module that cannot be read may.
        """
        for module in reversed(outline.stars):
            other = self.starred(outline, module)
            if other is None:
                return None
            if other.exports(name):
                if other.assigned[name] or name in other.imports:
                    return self.kept(self.top(other, name, depth + 1))
                brought = self._starred(other, name, depth + 1) if depth < 8 else None
                if brought is not None or self.hides(other):
                    return self.kept(brought)
        return None

    def starred(self, outline: Outline, module: str) -> Outline | None:
        """The file of the tree behind `from module import *`."""
        found = self.find(absolute(module, outline.path), outline.path)
        return self.load(found) if found is not None and found != outline.path else None

    def hides(self, outline: Outline) -> bool:
        """Whether names of a module come from an `import *` of something that cannot be read."""

        def answer() -> bool:
            others = [self.starred(outline, module) for module in outline.stars]
            return any(other is None or self.hides(other) for other in others)

        return self.questions.ask(("hides", outline.path), False, answer)


@dataclass(eq=False)
class Scope:
    """The scope of one function. `shared` are the names that functions inside it use as well, `stands` the functions
    that names certainly mean in it.
    """

    qual: str
    bindings: Bindings
    params: tuple[str, ...]
    parent: Scope | None
    cls: Class | None
    this: str | None
    node: cst.CSTNode
    shared: frozenset[str] = frozenset()
    annotations: dict[str, cst.BaseExpression] = field(default_factory=dict)
    stands: dict[str, OwnFunction] = field(default_factory=dict)

    def binds(self, name: str) -> bool:
        return (
            (self.bindings.binds(name) or name in self.params or name in self.bindings.imports)
            and name not in self.bindings.globals
            and name not in self.bindings.nonlocals
        )

    def owner(self, name: str) -> Scope | None:
        """The function whose variable `name` is here; None for a global or builtin name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings.globals:
                return None
            if scope.binds(name):
                return scope
            scope = scope.parent
        return None


def scope_of(node: cst.FunctionDef | cst.Lambda, qual: str, parent: Scope | None, cls: Class | None) -> Scope:
    """The scope of a function. In a method the first parameter is the object."""
    found = bindings_of(node.body)
    params = node.params
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    if isinstance(params.star_arg, cst.Param):
        every.append(params.star_arg)
    if params.star_kwarg is not None:
        every.append(params.star_kwarg)
    names = tuple(p.name.value for p in every)
    this = None
    if isinstance(node, cst.FunctionDef) and cls is not None and names and not is_static(node):
        this = names[0]
    inner: set[str] = set()
    for one in walk_own(node.body):
        if isinstance(one, cst.FunctionDef | cst.ClassDef | cst.Lambda):  # each of those of one name
            inner |= inner_reads(one)
    shared = frozenset(n for n in inner if (found.assigned[n] or n in names) and n not in found.functions and n != this)
    annotations = {p.name.value: p.annotation.annotation for p in every if p.annotation is not None}
    return Scope(qual, found, names, parent, cls, this, node, shared, annotations)


def is_property(node: cst.FunctionDef) -> bool:
    return bool({"property", "cached_property", "getter"} & decorators(node))


def _gives_this(node: cst.FunctionDef) -> bool:
    """Whether all that a method returns is its object."""
    this = node.params.params[0].name.value if node.params.params else ""
    values = [one.value for one in walk_own(node.body) if isinstance(one, cst.Return)]
    return not node.decorators and all(isinstance(one, cst.Name) and one.value == this for one in values)


def is_static(node: cst.FunctionDef) -> bool:
    return "staticmethod" in decorators(node)


class Resolver:
    """Answers what expressions of one function name, of which class they are, and where their values come from."""

    def __init__(self, modules: Modules, outline: Outline, scope: Scope | None) -> None:
        self.modules = modules
        self.outline = outline
        self.scope = scope

    def _once(self, question: str, node: cst.BaseExpression, answer: Callable[[], object]) -> object:
        """Every question about a node is answered once; one that leads back to itself has no answer."""
        return self._answered((question, self.scope, self.outline.path, node), answer)

    def _once_for(self, question: str, name: str, owner: Scope | None, answer: Callable[[], object]) -> object:
        """The same about a variable, wherever it is named: one that is bound again and again has many values."""
        return self._answered((question, owner, self.outline.path, name), answer)

    def _answered(self, key: object, answer: Callable[[], object]) -> object:
        return self.modules.questions.ask(key, None, answer)

    def meaning(self, node: cst.BaseExpression) -> Meaning | None:
        """None for a variable and for whatever else has no name of its own."""
        return cast("Meaning | None", self._once("meaning", node, lambda: self._meaning(node)))

    def _meaning(self, node: cst.BaseExpression) -> Meaning | None:
        if node in self.outline.hiding:
            return None
        if isinstance(node, cst.Name):
            return self._name(node.value)
        if isinstance(node, cst.Attribute):
            if isinstance(node.value, cst.Name) and self.is_this(node.value.value):
                return self._member_of_this(node.attr.value)
            owner = self.meaning(node.value)
            if owner is not None and not isinstance(owner, OwnGlobal):
                return self.modules.member(owner, node.attr.value, self.outline.path)
            cls = self.cls_of(node.value)
            if cls is not None:
                return self.modules.method(cls.outline, cls.cls, node.attr.value)
        return None

    def is_this(self, name: str) -> bool:
        owner = self.scope.owner(name) if self.scope is not None else None
        return owner is not None and owner.this == name and not owner.bindings.assigned[name]

    def this_class(self) -> Class | None:
        scope = self.scope
        while scope is not None and scope.cls is None:
            scope = scope.parent
        return scope.cls if scope is not None else None

    def _name(self, name: str) -> Meaning | None:
        owner = self.scope.owner(name) if self.scope is not None else None
        if owner is None:
            return self.modules.top(self.outline, name)
        found = owner.bindings
        if name in owner.stands:
            return owner.stands[name]
        if name in found.functions and found.assigned[name] == 1:
            return OwnFunction(self.outline, found.functions[name], f"{owner.qual}::{name}")
        if name in found.imports and not found.assigned[name] and name not in owner.params:
            meanings = {self.modules.meaning(d, self.outline.path) for d in found.imports[name]}
            return self.modules.kept(meanings.pop()) if len(meanings) == 1 else None
        value = found.values.get(name)
        if found.assigned[name] == 1 and value is not None and name not in owner.params and name not in found.loops:
            if chain(value) is not None:
                return self._same(Resolver(self.modules, self.outline, owner).meaning(value))
        return None

    def _same(self, meaning: Meaning | None) -> Meaning | None:
        """What a variable means that is bound to an attribute: what a property gives is a value."""
        is_value = isinstance(meaning, OwnFunction) and meaning.cls is not None and is_property(meaning.node)
        return None if is_value else self.modules.kept(meaning)

    def _member_of_this(self, name: str) -> Meaning | None:
        cls = self.this_class()
        if cls is None:
            return None
        method = self.modules.method(self.outline, cls, name)
        if method is not None:
            return method
        values = self.values_of_field(OwnClass(self.outline, cls), name)
        value = values[0] if len(values) == 1 else None
        if value is not None and chain(value) is not None and not _is_none(value):
            return self._same(Resolver(self.modules, self.outline, None).meaning(value))
        return None

    def values_of_field(self, cls: OwnClass, name: str) -> list[cst.BaseExpression | None]:
        """What a field of an object of a class may be set to, or the class holds for it; None for what is not told."""
        related = cls.outline.related(cls.cls)
        found = [value for one in related for value in one.values.get(name, ())]
        found += [value for one in related for value in one.held.get(name, ())]
        if name in cls.outline.set_elsewhere or self.modules.set_on_objects(name, cls.outline.path):
            found.append(None)
        return found

    # -- classes and origins -------------------------------------------------------------------------------------------

    def cls_of(self, node: cst.BaseExpression) -> OwnClass | None:
        """The class of the program that an object is of, if that is certain."""
        return cast("OwnClass | None", self._once("class", node, lambda: self._cls_of(node)))

    def _cls_of(self, node: cst.BaseExpression) -> OwnClass | None:
        if node in self.outline.hiding:
            iterable = self.outline.hiding[node]
            return self.cls_of_elements(iterable) if iterable is not None else None
        match node:
            case cst.Name(value=name):
                if self.is_this(name):
                    cls = self.this_class()
                    return OwnClass(self.outline, cls) if cls is not None else None
                owner = self.scope.owner(name) if self.scope is not None else None
                if owner is not None:
                    inner = Resolver(self.modules, self.outline, owner)
                    own = owner.bindings
                    if name in own.functions or name in own.classes or name in own.imports:
                        return None
                    if name in owner.params:
                        note = owner.annotations.get(name) if not owner.bindings.assigned[name] else None
                        return self._trusted(inner.meaning(note)) if note is not None else None
                    if name in owner.bindings.loops and owner.bindings.assigned[name] == 1:
                        return inner.cls_of_elements(owner.bindings.loops[name][0])
                    return inner._cls_of_values(name, owner.bindings.all_values.get(name, []))
                return self._cls_of_global(self.meaning(node))
            case cst.Call(func=func):
                meaning = self.meaning(func)
                if isinstance(meaning, OwnFunction) and isinstance(func, cst.Attribute) and _gives_this(meaning.node):
                    return self.cls_of(func.value) if func.attr.value == "__enter__" else None
                return meaning if isinstance(meaning, OwnClass) else None
            case cst.Attribute(value=inner_node, attr=attr):
                if isinstance(found := self.meaning(node), OwnGlobal):
                    return self._cls_of_global(found)
                owner_class = self.cls_of(inner_node)
                if owner_class is not None:
                    values = [one for one in self.values_of_field(owner_class, attr.value) if not _is_none(one)]
                    if len(values) == 1 and values[0] is not None:
                        return Resolver(self.modules, owner_class.outline, None).cls_of(values[0])
        return None

    def _cls_of_global(self, meaning: Meaning | None) -> OwnClass | None:
        """The class of what a variable of a module holds, where only this module sets it."""
        if not isinstance(meaning, OwnGlobal) or self.modules.set_from_outside(meaning.name):
            return None
        bound = meaning.outline.top
        if meaning.name in bound.functions or meaning.name in bound.classes or meaning.name in bound.imports:
            return None
        top = Resolver(self.modules, meaning.outline, None)
        return top._cls_of_values(meaning.name, meaning.outline.values_of(meaning.name))

    def cls_of_elements(self, node: cst.BaseExpression) -> OwnClass | None:
        """The class that annotations give to the elements of a list."""
        match node:
            case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
                found = {self.cls_of_elements(left), self.cls_of_elements(right)}
                return found.pop() if len(found) == 1 else None
            case cst.Name(value=name) if node not in self.outline.hiding:
                owner = self.scope.owner(name) if self.scope is not None else None
                if owner is not None and name in owner.params and not owner.bindings.assigned[name]:
                    note = owner.annotations.get(name)
                    if isinstance(note, cst.Subscript) and (chain(note.value) or ["?"])[-1] in _SEQUENCES:
                        inner = Resolver(self.modules, self.outline, owner)
                        parts = [one.slice.value for one in note.slice if isinstance(one.slice, cst.Index)]
                        return self._trusted(inner.meaning(parts[0])) if len(parts) == 1 else None
        return None

    def _trusted(self, meaning: Meaning | None) -> OwnClass | None:
        """The class of an annotation, which nobody checks, where no object of another class of the programs, or of
        Python and NumPy, could stand in its place.
        """
        if not isinstance(meaning, OwnClass) or meaning.cls.is_protocol:
            return None
        paths = (self.outline.path, meaning.outline.path, *self.modules.beside(self.outline.path))
        outlines = (self.modules.load(path) for path in dict.fromkeys(paths))
        return meaning if not any(self.modules.may_replace(meaning, one) for one in outlines) else None

    def _cls_of_values(self, name: str, values: list[cst.BaseExpression | None]) -> OwnClass | None:
        return cast("OwnClass | None", self._once_for("class", name, self.scope, lambda: self._agreed(values)))

    def _agreed(self, values: list[cst.BaseExpression | None]) -> OwnClass | None:
        found = {self.cls_of(v) if v is not None else None for v in values if not _is_none(v)}
        return found.pop() if len(found) == 1 else None

    def origin(self, node: cst.BaseExpression) -> str | None:
        """Where a value comes from, as a dotted name: `numpy.zeros()`; `pointer` for what the CUDA API returned."""
        return cast("str | None", self._once("origin", node, lambda: self._origin(node)))

    def _origin(self, node: cst.BaseExpression) -> str | None:
        if node in self.outline.hiding:
            return None
        made = MADE.get(type(node))
        if made is not None:
            return made
        match node:
            case cst.Call(func=cst.Attribute(value=context, attr=cst.Name(value="__enter__"))):
                return self.origin(context) if self.cls_of(context) is None else None
            case cst.Call(func=func, args=args):
                meaning = self.meaning(func)
                if isinstance(meaning, Dotted):
                    if bindings.module_of(meaning.name) is not None:
                        return "pointer"
                    return f"{meaning.name}()" if ANYTHING.match(meaning.name) is None else None
                if meaning is None and isinstance(func, cst.Attribute):
                    inner = self.origin(func.value)
                    if inner is None or func.attr.value in TAKES:
                        return None
                    return f"{inner}.{func.attr.value}()"
                if isinstance(meaning, OwnFunction):
                    is_checked = len(args) >= 1 and isinstance(args[0].value, cst.Call)
                    is_pointer = is_checked and self.origin(args[0].value) == "pointer"
                    return "pointer" if is_pointer else self._returned(meaning)
                return None
            case cst.Name(value=name):
                owner = self.scope.owner(name) if self.scope is not None else None
                if owner is not None:
                    if name in owner.params or name in owner.bindings.imports:
                        return None
                    found = owner.bindings.all_values.get(name, [])
                    if name in owner.bindings.loops:
                        return self._of_loops(owner.bindings.loops[name], found)
                    return Resolver(self.modules, self.outline, owner)._origin_of_values(name, found)
                top = Resolver(self.modules, self.outline, None)
                return top._origin_of_values(name, self.outline.values_of(name))
            case cst.Attribute(value=inner_node, attr=attr):
                cls = self.cls_of(inner_node)
                if cls is not None:
                    values = self.values_of_field(cls, attr.value)
                    return Resolver(self.modules, cls.outline, None)._one_origin(values)
                base = self.origin(inner_node)
                return f"{base}.{attr.value}" if base is not None and base != "pointer" else None
            case cst.Subscript(value=inner_node, slice=parts):
                base = self.origin(inner_node)
                if base == "pointer" or (base in _SLICED and isinstance(only_part(parts), cst.Slice)):
                    return base
                return self.held(inner_node) if base in _CONTAINERS else _element_of(base)
            case cst.BinaryOperation(left=left, right=right):
                meanings = [self.meaning(one) for one in (left, right)]
                if any(isinstance(one, Dotted) and one.name.startswith("ctypes.") for one in meanings):
                    return "ctypes.Array"  # a type, as `c_int * 4`
                return self.origin(left) or self.origin(right)
        return None

    def _returned(self, function: OwnFunction) -> str | None:
        """Where all that a function returns comes from, if it is a part of TensorRT. It may return what it
        itself gives.
        """
        key = "returned", function.outline.path, function.node
        return cast("str | None", self._answered(key, lambda: self._of_returns(function)))

    def _of_returns(self, function: OwnFunction) -> str | None:
        node, outline = function.node, function.outline
        body = list(walk_own(node.body))
        if function.cls is not None or node.decorators or node.asynchronous is not None:
            return None
        if self.modules.set_from_outside(node.name.value) or any(isinstance(one, cst.Yield) for one in body):
            return None
        inside = Resolver(self.modules, outline, scope_of(node, function.name, None, None))
        found = inside._one_origin([one.value for one in body if isinstance(one, cst.Return)])
        return found if found is not None and found.startswith("tensorrt.") else None

    def _of_loops(self, iterables: list[cst.BaseExpression], values: list[cst.BaseExpression | None]) -> str | None:
        """Where the variable of loops comes from, if the other values that it is given come from there too."""
        others = [value for value in values if value is not None]
        if len(others) + len(iterables) < len(values):
            return None
        found = {*map(self._of_loop, iterables), *map(self.origin, others)}
        return found.pop() if len(found) == 1 else None

    def _of_loop(self, iterable: cst.BaseExpression) -> str | None:
        origin = self.origin(iterable)
        if origin == "builtins.range()":
            return "builtins.int()"
        return self.held(iterable) if origin in _CONTAINERS else _element_of(origin)

    def held(self, node: cst.BaseExpression) -> str | None:
        """Where all elements of a list or dictionary come from, if they are streams or containers themselves."""
        found = cast("str | None", self._once("held", node, lambda: self._held(node)))
        return found if found in _CONTAINERS or found == f"{STREAM}()" else None

    def holds_numbers(self, node: cst.BaseExpression) -> bool:
        """Whether the elements of a list are addresses, or numbers made of them."""
        return self._held(node) in ("pointer", "builtins.int()")

    def _held(self, node: cst.BaseExpression) -> str | None:
        if node in self.outline.hiding:
            return None
        match node:
            case cst.List(elements) | cst.Tuple(elements):
                return self._one_origin([e.value if isinstance(e, cst.Element) else None for e in elements])
            case cst.Dict(elements):
                return self._one_origin([e.value if isinstance(e, cst.DictElement) else None for e in elements])
            case cst.ListComp(elt=value) | cst.DictComp(value=value):
                return self.origin(value)
            case cst.Subscript(value=whole, slice=parts) if isinstance(only_part(parts), cst.Slice):
                return self._held(whole)
            case cst.Name(value=name):
                owner = self.scope.owner(name) if self.scope is not None else None
                inside = Resolver(self.modules, self.outline, owner)
                if owner is not None:
                    return inside._held_by([name], owner.bindings.all_values.get(name, []), owner.node)
                return inside._held_by([name], self.outline.values_of(name), self.outline.module)
            case cst.Attribute(value=cst.Name(value=this), attr=cst.Name(value=name)) if self.is_this(this):
                cls = self.this_class()
                values = self.values_of_field(OwnClass(self.outline, cls), name) if cls is not None else []
                if cls is not None and len(values) == 1 and values[0] is not None:
                    inside = Resolver(self.modules, self.outline, None)
                    return inside._held_by([this, name], values, cls.node)
        return None

    def _held_by(self, words: list[str], values: list[cst.BaseExpression | None], around: cst.CSTNode) -> str | None:
        """The same for a variable: what it is bound to holds, and what is stored in it."""
        stored = self._answered(("stored", self.outline.path, around), lambda: _stored(around))
        more = cast("dict[str, list[cst.BaseExpression | None]]", stored).get(".".join(words), [])

        def answer() -> str | None:
            found = {self.held(value) if value is not None else None for value in values if not _is_empty(value)}
            found |= {self.origin(value) if value is not None else None for value in more}
            return found.pop() if len(found) == 1 else None

        return cast("str | None", self._answered(("held", self.outline.path, around, *words), answer))

    def _origin_of_values(self, name: str, values: list[cst.BaseExpression | None]) -> str | None:
        return cast("str | None", self._once_for("origin", name, self.scope, lambda: self._one_origin(values)))

    def _one_origin(self, values: list[cst.BaseExpression | None]) -> str | None:
        found = [self.origin(v) if v is not None else None for v in values if not _is_none(v)]
        roots = {one.partition(".")[0] if one is not None else None for one in found}
        return found[0] if len(roots) == 1 and found else None


def _stored(around: cst.CSTNode) -> dict[str, list[cst.BaseExpression | None]]:
    """What is stored in the containers that variables and fields name; None for what is not told one by one."""
    found: dict[str, list[cst.BaseExpression | None]] = {}

    def store(owner: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        words = chain(owner)
        if words is not None:
            found.setdefault(".".join(words), []).append(value)

    for node in walk(around):
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute) and (name := node.func.attr.value) in STORES:
                store(node.func.value, node.args[-1].value if name in ("append", "insert") and node.args else None)
        elif isinstance(node, cst.Assign):
            for target in (one.target for one in node.targets):
                if isinstance(target, cst.Subscript):
                    store(target.value, node.value)
        elif isinstance(node, cst.AugAssign):
            store(node.target, None)
    return found


def _is_empty(node: cst.BaseExpression | None) -> bool:
    return _is_none(node) or (isinstance(node, cst.List | cst.Tuple | cst.Dict) and not node.elements)


def _element_of(origin: str | None) -> str | None:
    """The origin of an element; a container may hold anything."""
    return f"{origin}[]" if origin is not None and not origin.startswith(("builtins.", "collections.")) else None


def _is_none(node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"
