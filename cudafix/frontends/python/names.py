"""What the names of a module mean: imports, aliases, functions, classes, and the scopes of functions.

A *dotted name* is the full name of something in a package: `cuda.bindings.runtime.cudaMalloc`, `numpy.zeros`,
`builtins.print`. Older names of a module are replaced by the newest one (`cuda.cudart` is `cuda.bindings.runtime`).
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from cudafix.frontends.python.nodes import children, walk, walk_own

_RENAMED = {
    "cuda.cudart": "cuda.bindings.runtime",
    "cuda.cuda": "cuda.bindings.driver",
    "cuda.nvrtc": "cuda.bindings.nvrtc",
    "cuda.ccudart": "cuda.bindings.runtime",
    "cupy_backends.cuda.api.runtime": "cupy.cuda.runtime",
    "cupy_backends.cuda.api.driver": "cupy.cuda.driver",
    "cupy.cuda.stream.Stream": "cupy.cuda.Stream",
    "cupy.cuda.stream.Event": "cupy.cuda.Event",
    "cupy.cuda.device.Device": "cupy.cuda.Device",
    "cupy.cuda.stream.get_current_stream": "cupy.cuda.get_current_stream",
    "cupy.core.core": "cupy._core.core",
}
_DYNAMIC = frozenset(("__getattr__", "__getattribute__", "__setattr__", "__new__"))
_GIVES_OTHERS = frozenset(("__getattribute__", "__setattr__", "__new__"))
_RUN_BY_CLASSES = frozenset(("__class_getitem__", "__init_subclass__", "__array_finalize__"))
_OF_CLASSES = frozenset(("__new__", "__init_subclass__", "__class_getitem__"))
_DESCRIPTORS = frozenset("property cached_property partialmethod singledispatchmethod getter setter deleter ?".split())
_METACLASSES = frozenset(("ABCMeta", "EnumMeta", "EnumType", "type"))
_CLASS_DECORATORS = frozenset("dataclass total_ordering final unique runtime_checkable".split())
"""Decorators that leave a class what it is, but for methods that they add."""
_BUILTINS = frozenset(dir(builtins))
SPECIAL = re.compile(r"__\w+__")
_OF_DATA = frozenset("__slots__ __match_args__ __doc__ __module__ __qualname__ __annotations__".split())
"""Special names of classes that are no methods."""
_PLAIN = frozenset(("None", "True", "False"))
_BINDING = frozenset(
    (
        cst.Name, cst.Attribute, cst.Arg, cst.Annotation, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Del,
        cst.NamedExpr, cst.For, cst.WithItem, cst.ExceptHandler, cst.MatchAs, cst.MatchStar,
        cst.MatchMapping, cst.Global, cst.Nonlocal, cst.Lambda,
        cst.FunctionDef, cst.ClassDef, cst.Import, cst.ImportFrom,
    )
)  # fmt: skip
"""The nodes that `Bindings` looks at; to compare a node with each of them is slow."""
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
    """A class of a module. `outside` is true where a base class is not of the same module, or a decorator or metaclass
    may make it another one: it may have any method. `values`: what its methods set of its own objects, `held`: what its
    body binds; None for what no name of the module tells.
    """

    name: str
    node: cst.ClassDef
    methods: dict[str, cst.FunctionDef] = field(default_factory=dict)
    setters: dict[str, cst.FunctionDef] = field(default_factory=dict)
    deleters: frozenset[str] = frozenset()
    attributes: dict[str, cst.BaseExpression] = field(default_factory=dict)
    held: dict[str, list[cst.BaseExpression | None]] = field(default_factory=dict)
    assigned: Counter[str] = field(default_factory=Counter)
    targets: list[cst.Attribute] = field(default_factory=list)  # what its methods set of their own object
    values: dict[str, list[cst.BaseExpression | None]] = field(default_factory=dict)
    set_on_class: set[str] = field(default_factory=set)  # what class methods set
    bases: tuple[str, ...] = ()
    outside: bool = False
    may_be_others: bool = False  # what a call of it gives may be an older object, or one with other methods or fields
    is_protocol: bool = False  # an object that is said to be of it is of another class
    runs_code: bool = False  # what is done with the class itself may run methods: of a metaclass, or class methods

    def functions(self) -> Iterator[tuple[str, cst.FunctionDef]]:
        """Its methods and setters, by the names that they have in the IR."""
        yield from self.methods.items()
        yield from ((setter(name), function) for name, function in self.setters.items())


def setter(name: str) -> str:
    """The name of the method that assigning to an attribute runs."""
    return f"{name}.setter"


MADE: dict[type[cst.CSTNode], str] = {
    **dict.fromkeys((cst.List, cst.ListComp), "builtins.list()"),
    cst.Tuple: "builtins.tuple()",
    **dict.fromkeys((cst.Dict, cst.DictComp), "builtins.dict()"),
    **dict.fromkeys((cst.Set, cst.SetComp, cst.GeneratorExp), "builtins.set()"),
    **dict.fromkeys((cst.SimpleString, cst.FormattedString, cst.TemplatedString), "builtins.str()"),
    cst.ConcatenatedString: "builtins.str()",
    **dict.fromkeys((cst.Integer, cst.Float, cst.Imaginary, cst.Comparison), "builtins.int()"),
}
"""Where the value of a literal, a display or a comparison comes from."""


class Bindings:
    """What one body binds and reads; bodies of functions and classes inside it are not entered."""

    def __init__(self, body: cst.CSTNode) -> None:
        self.assigned: Counter[str] = Counter()
        self.values: dict[str, cst.BaseExpression] = {}
        self.all_values: dict[str, list[cst.BaseExpression | None]] = {}
        self.loops: dict[str, list[cst.BaseExpression]] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.set_inside: Counter[str] = Counter()
        self.functions: dict[str, cst.FunctionDef] = {}
        self.setters: dict[str, cst.FunctionDef] = {}
        self.deleters: set[str] = set()
        self.classes: dict[str, cst.ClassDef] = {}
        self.fields: Counter[str] = Counter()
        self.targets: list[cst.Attribute] = []
        self.field_values: dict[str, list[cst.BaseExpression | None]] = {}
        self.imports: dict[str, set[str]] = {}
        self.stars: list[str] = []
        self.star_behind_names = False
        self._seen: Counter[str] = Counter()
        self._is_module = isinstance(body, cst.Module)
        stack = [body]
        while stack:
            node = stack.pop()
            inner = self._visit(node)
            stack += reversed(children(node) if inner is None else inner)

    def bind(self, target: cst.BaseExpression, value: cst.BaseExpression | None) -> None:
        """`target = value`; without a value for what a loop or a tuple gives."""
        if isinstance(target, cst.Name):
            self.assigned[target.value] += 1
            self.all_values.setdefault(target.value, []).append(value)
            if value is not None:
                self.values[target.value] = value
        elif isinstance(target, cst.Attribute):
            self.targets.append(target)
            words = chain(target)
            if words is not None and len(words) == 2:
                self.fields[".".join(words)] += 1
                self.field_values.setdefault(".".join(words), []).append(value)
        elif isinstance(target, cst.Tuple | cst.List):
            parts = value.elements if isinstance(value, cst.Tuple | cst.List) else ()
            starred = any(isinstance(one, cst.StarredElement) for one in (*target.elements, *parts))
            paired = len(parts) == len(target.elements) and not starred
            for number, element in enumerate(target.elements):
                self.bind(element.value, parts[number].value if paired else None)

    def binds(self, name: str) -> bool:
        """Whether the body binds a name itself: a `nonlocal` one of a function inside it may be of further out."""
        return self.assigned[name] > self.set_inside[name]

    def loaded(self, name: str) -> bool:
        """Whether a name is read, and not only assigned."""
        return self._seen[name] > self.assigned[name] - (name in self.functions) - (name in self.classes)

    def _visit(self, node: cst.CSTNode) -> list[cst.CSTNode] | None:
        """Take note of a node; what to look at below it, None for everything."""
        if type(node) not in _BINDING:
            return None
        match node:
            case cst.Name(value=name):
                self._seen[name] += 1
            case cst.Attribute(value=inner) | cst.Arg(value=inner):
                return [inner]
            case cst.Annotation():
                return []
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    self.bind(target.target, value)
            case cst.AnnAssign(target=target, value=given) if given is not None:
                self.bind(target, given)
            case cst.AnnAssign(target=cst.Name(value=name)):  # the name is one of this scope, and nothing is bound
                self.assigned[name] += 1
            case cst.AugAssign(target=target) | cst.Del(target=target):
                self.bind(target, None)
            case cst.NamedExpr(target=target, value=value):
                self.bind(target, value)
            case cst.For(target=target, iter=iterable):
                self.bind(target, None)
                if isinstance(target, cst.Name):
                    self.loops.setdefault(target.value, []).append(iterable)
            case cst.WithItem(item=item, asname=cst.AsName(name=name_node)):
                self.bind(name_node, cst.Call(cst.Attribute(item, cst.Name("__enter__"))))
            case cst.ExceptHandler(name=cst.AsName(name=name_node)):
                self.bind(name_node, None)
            case (
                cst.MatchAs(name=cst.Name() as name_node)
                | cst.MatchStar(name=cst.Name() as name_node)
                | cst.MatchMapping(rest=cst.Name() as name_node)
            ):
                self.bind(name_node, None)
            case cst.Global(names=names):
                self.globals.update(item.name.value for item in names)
            case cst.Nonlocal(names=names):
                self.nonlocals.update(item.name.value for item in names)
            case cst.Lambda(body=body):
                return [body]
            case cst.FunctionDef(name=cst.Name(value=name)):
                if "setter" in decorators(node):
                    self.setters[name] = node
                    return []
                if "deleter" in decorators(node):
                    self.deleters.add(name)
                    return []
                self.functions[name] = node
                self.assigned[name] += 1
                if not self._is_module:  # what functions inside it assign of this one's names
                    for inside in (one for one in walk(node.body) if isinstance(one, cst.Nonlocal)):
                        for one_name in inside.names:
                            self.bind(one_name.name, None)
                            self.set_inside[one_name.name.value] += 1
                return []
            case cst.ClassDef(name=cst.Name(value=name)):
                self.classes[name] = node
                self.assigned[name] += 1
                return []
            case cst.Import():
                self._import(node)
                return []
            case cst.ImportFrom():
                self._import_from(node)
                return []
        return None

    def _imported(self, name: str, dotted: str) -> None:
        self.imports.setdefault(name, set()).add(dotted)

    def _import(self, node: cst.Import) -> None:
        for alias in node.names:
            words = chain(alias.name) or []
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self._imported(alias.asname.name.value, ".".join(words))
            elif words:
                self._imported(words[0], words[0])

    def _import_from(self, node: cst.ImportFrom) -> None:
        module = "." * len(node.relative) + ".".join(chain(node.module) or [] if node.module is not None else [])
        if isinstance(node.names, cst.ImportStar):
            self.stars.append(module)
            self.star_behind_names |= bool(self.assigned or self.imports)
            return
        for alias in node.names:
            word = ".".join(chain(alias.name) or [])
            name = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(name, cst.Name):
                self._imported(name.value, f"{module}{'' if module.endswith('.') else '.'}{word}")


def decorators(node: cst.FunctionDef | cst.ClassDef) -> set[str]:
    """The last words of a function's decorators."""
    found = set()
    for decorator in node.decorators:
        inner = decorator.decorator
        words = chain(inner.func if isinstance(inner, cst.Call) else inner)
        found.add(words[-1] if words is not None else "?")
    return found


def is_of_class(method: cst.FunctionDef) -> bool:
    """Whether the first parameter of a method is the class."""
    return "classmethod" in decorators(method) or method.name.value in _OF_CLASSES


def _named_in(node: cst.CSTNode) -> set[str]:
    """The names that say what a value is: not those of the arguments of calls, but for what these call."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            found.add(current.value)
        elif isinstance(current, cst.Attribute):
            stack.append(current.value)
        elif isinstance(current, cst.Call):
            stack += [current.func, *(one.value for one in current.args if isinstance(one.value, cst.Call))]
        elif not isinstance(current, cst.Lambda):
            stack += children(current)
    return found


def _attributes_set(nodes: Iterable[cst.CSTNode]) -> Iterator[cst.Attribute]:
    """The attributes that are targets of assignments, deletions, loops and contexts."""
    stack: list[cst.CSTNode | None] = []
    for node in nodes:
        if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.Del | cst.For | cst.CompFor):
            stack.append(node.target)
        elif isinstance(node, cst.WithItem) and node.asname is not None:
            stack.append(node.asname.name)
    while stack:
        target = stack.pop()
        if isinstance(target, cst.Attribute):
            yield target
        elif isinstance(target, cst.Tuple | cst.List):
            stack += [element.value for element in target.elements]
        elif isinstance(target, cst.StarredElement):
            stack.append(target.value)


def _hiding(nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, cst.BaseExpression | None]:
    """The names in comprehensions and in bodies of classes that mean a variable of these, and not what the function or
    module around them calls so; of the variable of a comprehension, what that runs through.
    """
    found: dict[cst.CSTNode, cst.BaseExpression | None] = {}

    def hide(inside: Iterable[cst.CSTNode], given: Mapping[str, cst.BaseExpression | None]) -> None:
        found.update((one, given[one.value]) for one in inside if isinstance(one, cst.Name) and one.value in given)

    for node in nodes:
        if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp):
            given: dict[str, cst.BaseExpression | None] = {}
            clause: cst.CompFor | None = node.for_in
            outside = set(walk(node.for_in.iter))  # what it runs through first belongs to the scope around it
            while clause is not None:
                is_name = isinstance(clause.target, cst.Name)
                names = [one.value for one in walk(clause.target) if isinstance(one, cst.Name)]
                given.update(dict.fromkeys(names, clause.iter if is_name else None))
                clause = clause.inner_for_in
            hide((one for one in walk(node) if one not in outside), given)
        elif isinstance(node, cst.ClassDef):
            hide(walk_own(node.body), dict.fromkeys(bindings_of(node.body).all_values))
    return found


def imported_by(node: cst.Import | cst.ImportFrom) -> list[str]:
    """The modules that a statement imports, and whatever else it takes from one: these may be modules too."""
    if isinstance(node, cst.Import):
        return [".".join(chain(alias.name) or []) for alias in node.names]
    module = "." * len(node.relative) + ".".join(chain(node.module) or [] if node.module is not None else [])
    names = [] if isinstance(node.names, cst.ImportStar) else [".".join(chain(one.name) or []) for one in node.names]
    return [module, *(f"{module}{'' if module.endswith('.') else '.'}{name}" for name in names)]


def methods_of(node: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    """The methods of a class, and the special ones that are others of them (`__repr__ = __str__`)."""
    body = bindings_of(node.body)
    same = {
        name: body.functions[value.value]
        for name, value in body.values.items()
        if isinstance(value, cst.Name) and value.value in body.functions and SPECIAL.fullmatch(name)
    }
    return {**body.functions, **{name: method for name, method in same.items() if body.assigned[name] == 1}}


def bound_otherwise(node: cst.ClassDef) -> str | None:
    """A name under which a class may have another method than `methods_of` says: by a condition, a loop or a value."""
    body, methods = bindings_of(node.body), methods_of(node)
    defined = Counter(one.name.value for one in _definitions(node) if not {"setter", "deleter"} & decorators(one))
    for name in body.assigned:
        if name in body.functions and body.assigned[name] > defined[name]:
            return name
        if SPECIAL.fullmatch(name) and name not in methods and name not in _OF_DATA:
            values = body.all_values.get(name, [])
            if not all(isinstance(one, cst.BaseString | cst.BaseNumber) or _is_name(one, _PLAIN) for one in values):
                return name
    return next((name for name in body.imports if SPECIAL.fullmatch(name)), None)


def _set_by_name(nodes: Iterable[cst.CSTNode]) -> frozenset[str]:
    """The attributes that `setattr(…, "name", …)` and its like set."""
    calls = (one for one in nodes if isinstance(one, cst.Call) and len(one.args) > 2)
    named = (one.args[1].value for one in calls if (chain(one.func) or ["?"])[-1] in ("setattr", "__setattr__"))
    texts = (one.evaluated_value for one in named if isinstance(one, cst.SimpleString))
    return frozenset(text for text in texts if isinstance(text, str))


def _is_descriptor(value: cst.BaseExpression, methods: Mapping[str, cst.FunctionDef]) -> bool:
    """Whether a class holds `property(…)` or its like, or one of its own by another name."""
    if isinstance(value, cst.Name) and value.value in methods:
        return bool(methods[value.value].decorators)
    return isinstance(value, cst.Call) and (chain(value.func) or ["?"])[-1] in _DESCRIPTORS


def _definitions(node: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    return (one for one in node.body.body if isinstance(one, cst.FunctionDef))


def _named(node: cst.ClassDef) -> Iterator[str]:
    return (one.name.value for one in _definitions(node))


def _is_name(node: cst.BaseExpression | None, names: Collection[str]) -> bool:
    return isinstance(node, cst.Name) and node.value in names


def bindings_of(body: cst.CSTNode) -> Bindings:
    """What a function's or a module's own statements bind and read."""
    return Bindings(body)


def inner_reads(node: cst.CSTNode) -> frozenset[str]:
    """Every name that occurs in a node, functions inside it included."""
    return frozenset(one.value for one in walk(node) if isinstance(one, cst.Name))


class Outline:
    """A module's imports, functions, classes and global names, from its tree alone."""

    def __init__(self, path: str, module: cst.Module) -> None:
        self.path = path
        self.module = module
        self._ancestors: dict[Class, list[Class]] = {}
        self._values_of: dict[str, list[cst.BaseExpression | None]] = {}
        self.id = identifier(path)
        top = bindings_of(module)
        self.top = top
        self.imports = top.imports
        self.stars = top.stars
        self.assigned = top.assigned
        self.values = top.values
        self.functions = top.functions
        self.classes = {name: self._class(name, node) for name, node in top.classes.items()}
        self.rebound = self._written(module)
        self.setters = frozenset(name for cls in self.classes.values() for name in (*cls.setters, *cls.deleters))
        every = list(walk(module))
        self.methods = frozenset(
            name for cls in every if isinstance(cls, cst.ClassDef) for name in (*methods_of(cls), *_named(cls))
        )
        bodies = [bindings_of(cls.body) for cls in every if isinstance(cls, cst.ClassDef)]
        self.described = frozenset(
            name for body in bodies for name, value in body.values.items() if _is_descriptor(value, body.functions)
        )
        self.defined = frozenset(one.name.value for one in every if isinstance(one, cst.FunctionDef | cst.ClassDef))
        own = [one for one in module.body if not isinstance(one, cst.FunctionDef | cst.ClassDef)]
        inside = [one for statement in own for one in walk_own(statement)]
        self.all_imports = [one for one in inside if isinstance(one, cst.Import | cst.ImportFrom)]
        self.acts = any(isinstance(one, cst.Call | cst.Subscript) for one in inside)
        targets = list(_attributes_set(every))
        self.replaces = self._set_as_attributes(targets) | (self.methods & _set_by_name(every))
        self.hiding = _hiding(every)
        imports = [one for one in every if isinstance(one, cst.Import | cst.ImportFrom)]
        imported = {name for one in imports for name in bindings_of(one).imports}
        self.patches = frozenset(one.attr.value for one in targets if (chain(one.value) or [""])[0] in imported)
        self.set_on_classes = frozenset(
            target.attr.value
            for target in targets
            if isinstance(target.value, cst.Name) and target.value.value in self.classes
        ).union(*(cls.set_on_class for cls in self.classes.values()))

    def _class(self, name: str, node: cst.ClassDef) -> Class:
        found = Class(name, node)
        body = bindings_of(node.body)
        found.methods = methods_of(node)
        found.setters = body.setters
        found.deleters = frozenset(body.deleters)
        found.attributes = body.values
        found.held = body.all_values
        found.bases = tuple(".".join(words) for base in node.bases if (words := chain(base.value)) is not None)
        found.is_protocol = any(base.rpartition(".")[2] == "Protocol" for base in found.bases)
        known = self.top.classes
        meta = [one.value for one in node.keywords if one.keyword is not None and one.keyword.value == "metaclass"]
        own_meta = any((chain(one) or ["?"])[-1] not in _METACLASSES for one in meta)
        found.runs_code = own_meta or not _RUN_BY_CLASSES.isdisjoint(found.methods)
        harmless = {"object", "ABC", "abc.ABC", "Protocol"}
        found.outside = (
            bool(_DYNAMIC & found.methods.keys())
            or own_meta
            or not decorators(node) <= _CLASS_DECORATORS
            or len(found.bases) != len(node.bases)
            or any(base not in known and base not in harmless for base in found.bases)
        )
        for method in (*found.methods.values(), *found.setters.values()):
            first = method.params.params[0].name.value if method.params.params else ""
            inner = bindings_of(method.body)
            params = (one.name.value for one in walk(method.params) if isinstance(one, cst.Param))
            local = {*inner.assigned, *inner.imports, *params}
            if inner.assigned[first] or "staticmethod" in decorators(method):
                continue  # it is any object
            found.targets += [one for one in inner.targets if chain(one.value) == [first]]
            for place, times in inner.fields.items():
                owner, _, attribute = place.partition(".")
                if owner == first:
                    if is_of_class(method):
                        found.set_on_class.add(attribute)
                    found.assigned[attribute] += times
                    found.values.setdefault(attribute, []).extend(
                        None if value is None or _named_in(value) & local else value
                        for value in inner.field_values[place]
                    )
        found.may_be_others = (
            bool(_GIVES_OTHERS & found.methods.keys())
            or own_meta
            or not decorators(node) <= _CLASS_DECORATORS
            or found.assigned["__dict__"] > 0
            or bound_otherwise(node) is not None
        )
        return found

    def _set_as_attributes(self, targets: list[cst.Attribute]) -> frozenset[str]:
        """The names that the module sets as attributes of something: a method, or a function of a module, of this name
        is then another one. What a class sets of its own objects counts where it has a method of that name.
        """
        own = {id(target) for cls in self.classes.values() for target in cls.targets}
        found = {target.attr.value for target in targets if id(target) not in own}
        self.set_elsewhere = frozenset(found)
        for cls in self.classes.values():
            found |= {name for name in cls.assigned if any(name in one.methods for one in self.related(cls))}
        return frozenset(found)

    def related(self, cls: Class) -> list[Class]:
        """The class, its bases, and those that derive from it: an object of one may be one of another."""
        return [one for one in self.classes.values() if cls in self.ancestors(one) or one in self.ancestors(cls)]

    @staticmethod
    def _written(module: cst.Module) -> frozenset[str]:
        """Global names that a function assigns."""
        found: set[str] = set()
        stack: list[cst.CSTNode] = [module]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.Global):
                found.update(item.name.value for item in node.names)
            elif isinstance(node, cst.SimpleStatementLine):
                stack += [one for one in node.body if isinstance(one, cst.Global)]
            else:
                stack += children(node)
        return frozenset(found)

    def values_of(self, name: str) -> list[cst.BaseExpression | None]:
        """What a global name is bound to; None for what is no literal and no display where a function binds it."""
        if name in self._values_of:
            return self._values_of[name]
        found = self._values_of[name] = list(self.top.all_values.get(name, ()))
        if name in self.rebound:
            for node in (one for one in walk(self.module) if isinstance(one, cst.FunctionDef)):
                inner = bindings_of(node.body)
                if name in inner.globals:
                    given = inner.all_values.get(name, [])
                    found += [value if type(value) in MADE else None for value in given]
        return found

    def binds(self, name: str) -> bool:
        """Whether the module has a global of this name; a function may be the only one that binds it."""
        return self.assigned[name] > 0 or name in self.rebound

    def constant(self, name: str) -> cst.BaseExpression | None:
        """The value of a global that is assigned once."""
        if self.assigned[name] == 1 and name not in self.rebound:
            return self.values.get(name)
        return None

    def exports(self, name: str) -> bool:
        """Whether `from module import *` brings a name of this module: by `__all__` where that can be read."""
        listed = self.values.get("__all__")
        if listed is None:
            return not name.startswith("_")
        if not isinstance(listed, cst.List | cst.Tuple) or self.assigned["__all__"] != 1:
            return True  # it may
        given = [one.value for one in listed.elements]
        return any(not isinstance(one, cst.SimpleString) or one.evaluated_value == name for one in given)

    def dotted_module(self, name: str) -> set[str]:
        """What an imported name may mean; empty for a name that is not imported."""
        return self.imports.get(name, set())

    def ancestors(self, cls: Class) -> Sequence[Class]:
        """The class and its bases in this module, in the order in which Python looks for a method (the C3 order)."""
        stack = [cls]
        while stack:
            one = stack[-1]
            bases = [self.classes[base] for base in one.bases if base in self.classes]
            if self._ancestors.setdefault(one, [one]) != [one]:  # [one] is that of a class that is its own base
                stack.pop()
            elif missing := [base for base in bases if base not in self._ancestors]:
                stack += missing[:1]
            else:
                stack.pop()
                orders = [list(self._ancestors[base]) for base in bases]
                self._ancestors[one] = [one, *(orders[0] if len(orders) == 1 else _merged([*orders, bases]))]
        return self._ancestors[cls]


def _merged(orders: list[list[Class]]) -> Iterator[Class]:
    """These orders as one that keeps each of them; what does not fit together comes in the order of the first."""
    while orders := [one for one in orders if one]:
        heads = (one[0] for one in orders)
        found = next((head for head in heads if all(head not in one[1:] for one in orders)), orders[0][0])
        yield found
        orders = [[cls for cls in one if cls is not found] for one in orders]


def is_builtin(name: str) -> bool:
    return name in _BUILTINS
