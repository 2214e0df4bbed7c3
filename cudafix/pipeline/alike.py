"""Which views run the same: one proof is made for them.

Two views are one where the functions that the root may run are the same, and all else that these may lead to: the
kernels that they launch, the functions of objects that run where no call of them is written, on the host and on the
device, and what the files declare by the names that stand in any of these. What a program has besides, nothing of the
view can run or name: programs that differ there are one for it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.names import WORD
from cudafix.models import Tables
from cudafix.ordering.facts.slicing import Slicer
from cudafix.ordering.facts.unwritten import assigned_unseen
from cudafix.pipeline.tree import View
from cudafix.pipeline.views import functions_of, reached_from

_NAMED = (
    "brought",
    "checks",
    "ended_virtually",
    "friends",
    "of_c",
    "references",
    "second_names",
    "template_arguments",
    "types",
    "unseen",
    "unseen_arguments",
)  # sets of names in a `Module`
_MAPPED = (
    "bases",
    "members",
    "members_by_name",
    "namespaces",
    "overlaid",
    "owned",
    "prototypes",
)  # what it says of names


class Alike:
    """Tells views apart by what they run: configurations that differ elsewhere give the same proof."""

    def __init__(self, tables: Tables, views: Sequence[View]) -> None:
        self._tables = tables
        self._configurations = Counter(view.root.span for view in views)
        self._fingerprints = Fingerprints(tables)
        self._skeletons: dict[tuple[int, int], bytes] = {}  # by the `id` of slicer and function
        self._seen: set[object] = set()
        self._first: dict[object, View] = {}

    def first(self, view: View) -> View | None:
        """The first view asked for that runs the same statements from the same root, less quiet ones; None if one has
        run them with these too.
        """
        if self._configurations[view.root.span] == 1:
            return view
        beyond = self._fingerprints.beyond(view)
        same = fingerprint(view), beyond
        if same in self._seen:
            return None
        self._seen.add(same)
        slicer = Slicer.of(view.program, self._tables)

        def of(function: ir.Function) -> bytes:
            key = id(slicer), id(function)
            if key not in self._skeletons:
                self._skeletons[key] = _hash(slicer.skeleton(function))
            return self._skeletons[key]

        return self._first.setdefault((fingerprint(view, of), beyond), view)


def differences(one: View, other: View) -> frozenset[ir.Span]:
    """The functions in which two views differ."""
    a, b = ({f.span: _statements(f) for f in functions_of(view)} for view in (one, other))
    return frozenset(span for span in a.keys() | b.keys() if a.get(span) != b.get(span))


def fingerprint(view: View, of: Callable[[ir.Function], bytes] | None = None) -> object:
    """Equal for two views only if they run the same statements from the same root."""
    said = of or _statements
    unseen = tuple(sorted((*assigned_unseen(view.program), *(c for m in view.program.modules for c in m.ended))))
    return said(view.root), tuple(sorted(map(said, functions_of(view)))), unseen


class _Said(NamedTuple):
    """A text by its digest, with the words in it."""

    digest: bytes
    words: frozenset[str]


class _Fact(NamedTuple):
    """What a file says of a name."""

    text: str
    words: frozenset[str]


class Fingerprints:
    """What views may lead to besides the statements that they run."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._of_modules: dict[ir.Module, Mapping[str, list[_Fact]]] = {}
        self._of_kernels: dict[int, tuple[ir.Kernel, _Fact]] = {}
        self._with_objects: dict[int, tuple[ir.Function, bool]] = {}  # see `_runs_objects`

    def beyond(self, view: View) -> object:
        """Equal for two views of the same statements only if all else is the same that these may lead to."""
        program = view.program
        facts = [self._facts_of(module) for module in program.modules]
        implicit = program.kept("implicit functions by name", lambda: _implicit(program))
        own = functions_of(view)
        functions = {id(function): function for function in own}
        found: set[str] = set()
        kernels: set[str] = set()
        seen: set[str] = set()
        fresh = {word for function in own for word in _said(function).words}
        while fresh:
            seen |= fresh
            more: set[str] = set()
            for of_module in facts:
                for name in fresh & of_module.keys():
                    for fact in of_module[name]:
                        found.add(fact.text)
                        more |= fact.words
            for name in fresh & program.kernels.keys():
                for kernel in program.kernels[name]:
                    fact = self._of_kernel(kernel)
                    kernels.add(fact.text)
                    more |= fact.words
            started = [one for name in fresh & implicit.keys() for one in implicit[name] if id(one) not in functions]
            for function in reached_from(program, started):
                if id(function) not in functions:
                    functions[id(function)] = function
                    more |= _said(function).words
            fresh = more - seen
        for function in own:
            del functions[id(function)]
        others = tuple(sorted(_statements(function) for function in functions.values()))
        on_device = program.device_text if any(map(self._runs_objects, own)) else ()
        return _hash((others, sorted(found), sorted(kernels), on_device, self._of_all(program)))

    def _facts_of(self, module: ir.Module) -> Mapping[str, list[_Fact]]:
        if module not in self._of_modules:
            found: dict[str, list[_Fact]] = defaultdict(list)
            for name, fact in _facts_in(module):
                found[name].append(fact)
            self._of_modules[module] = found
        return self._of_modules[module]

    def _of_kernel(self, kernel: ir.Kernel) -> _Fact:
        if id(kernel) not in self._of_kernels:
            self._of_kernels[id(kernel)] = kernel, _fact(kernel.facts())
        return self._of_kernels[id(kernel)][1]

    def _runs_objects(self, function: ir.Function) -> bool:
        """Whether a function calls an algorithm that runs functions of what it is given on the device."""
        if id(function) not in self._with_objects:
            calls = (stmt for stmt in function.statements if isinstance(stmt, ir.Call))
            rows = (self._tables.lookup(call.callee, len(call.args)) for call in calls)
            self._with_objects[id(function)] = function, any(row is not None and row.templates for row in rows)
        return self._with_objects[id(function)][1]

    def _of_all(self, program: Program) -> object:
        """What matters of a program whatever its names are: a graph may launch any kernel, and a kernel that is not
        known uses any variable of the device.
        """

        def found() -> object:
            modules = program.modules
            kernels = [kernel for named in program.kernels.values() for kernel in named]
            return (
                any(kernel.prints for kernel in kernels),
                any(kernel.times for kernel in kernels),
                any(variable.space != "host" for variable in program.globals.values()),
                any(variable.space == "host" for variable in program.globals.values()),
                [any(module.commands[n] for module in modules) for n in range(2)],
                any(module.measures is not None for module in modules),
                any("*" in module.retyped for module in modules),
                any("thrust" in include for module in modules for include in module.includes),
                sorted({i for module in modules if module.path.endswith(ir.PYTHON) for i in module.includes}),
            )

        return program.kept("facts of all", found)


def _facts_in(module: ir.Module) -> Iterator[tuple[str, _Fact]]:
    """What a file says, by the names by which one gets to it: classes by those of their members too."""
    for cls, members in module.fields.items():
        fact = _fact(("fields", module.path, cls, sorted((name, member.type) for name, member in members.items())))
        yield from ((name, fact) for name in {last(cls), *members})
    for variable in module.globals:
        where = module.path if variable.internal else ""
        said = (variable.name, variable.type, variable.space, variable.array, variable.elsewhere, variable.unseen)
        yield last(variable.name), _fact(("variable", where, *said, variable.number))
    for kind in _MAPPED:
        for name, value in getattr(module, kind).items():
            text = sorted(value) if isinstance(value, frozenset | set) else value
            fact = _fact((kind, name, text))
            keys = {last(name), *map(last, value)} if kind == "bases" else {last(name)}
            yield from ((key, fact) for key in keys)
    for kind in _NAMED:
        for name in getattr(module, kind):
            yield last(name), _Fact(f"{kind} {name}", frozenset())
    for name in module.retyped - {"*"}:
        yield name, _Fact(f"retyped {name}", frozenset())
    for one in module.declares:
        keys = {one.name, last(one.scope)} if one.name.startswith("operator") else {one.name}  # no call names it
        yield from ((key, _Fact(f"declares {one}", frozenset())) for key in keys)
    for own in module.defines:
        yield own.name, _Fact(f"defines {own} {module.path if own.internal else ''}", frozenset())


def _implicit(program: Program) -> dict[str, list[ir.Function]]:
    """The functions that may run where no call names them, by the classes that they are of or take: constructors,
    destructors and operators, with which templates make, copy, compare and end objects.
    """
    found: dict[str, list[ir.Function]] = defaultdict(list)
    for function in program.functions():
        name = last(function.name)
        cls = last(function.cls or "")
        if name.startswith("operator") or (cls and name.removeprefix("~") == cls):
            taken = (word for param in function.params for word in WORD.findall(param.type))
            for word in {cls, *taken} if name.startswith("operator") else {cls}:
                found[word].append(function)
    return found


def _fact(said: object) -> _Fact:
    text = repr(said)
    return _Fact(text, frozenset(WORD.findall(text)))


def _statements(function: ir.Function) -> bytes:
    return _said(function).digest


_KNOWN_ELSEWHERE = frozenset(("_kept", "unwritten"))  # see `fingerprint`
_OF_FUNCTIONS = tuple(one.name for one in fields(ir.Function) if one.name not in _KNOWN_ELSEWHERE)


def _said(function: ir.Function) -> _Said:
    """All that a function says."""

    def found(one: ir.Function) -> _Said:
        text = repr([_in_order(getattr(one, name)) for name in _OF_FUNCTIONS])
        return _Said(_digest(text), frozenset(WORD.findall(text)))

    return function.kept("said", found)


def _in_order(value: object) -> object:
    if isinstance(value, dict):
        return sorted(value.items())
    return sorted(value) if isinstance(value, frozenset) else value


def _hash(meaning: Iterable[object]) -> bytes:
    return _digest(repr(meaning))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
