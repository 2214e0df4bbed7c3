"""A Python file as a module of the IR.

The statements at the top of a script are its `main`; those of a module that only others import run before theirs.
Functions are named by their file: `src_infer::Engine::allocate`. What is lowered and what is dropped is as in
`cudafix.ir`; the object model comes down to this: a variable holds a reference, an object is a piece of host memory
with fields, a container one with elements, and everything that an unknown object or function might do is a call of
something unknown.
"""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.findings import Edit
from cudafix.frontends.python import bindings
from cudafix.frontends.python.lowering import CURRENT, Methods, Unit
from cudafix.frontends.python.meaning import Dotted, Modules, OwnClass, OwnFunction, Resolver
from cudafix.frontends.python.names import Outline, decorators, identifier
from cudafix.frontends.python.nodes import walk_own
from cudafix.frontends.python.source import Source, sites_in_text
from cudafix.frontends.python.statements import HEADER, Statements, contexts_of, function
from cudafix.frontends.python.styles import DRIVER, NEW_DRIVER, Bindings
from cudafix.frontends.python.terms import NOTHING
from cudafix.ir import FuncRef, Span
from cudafix.models.measuring import named_in_python
from cudafix.models.python import GPU_LIBRARIES, HOST_PACKAGES
from cudafix.models.shell import parts_of_commands
from cudafix.project.prefilter import NOTEBOOK

_RUNTIME_IMPORT = re.compile(r"\bcudart\b|\bcuda\.bindings\b")
_ENDS = frozenset(
    "cudaStreamDestroy cuStreamDestroy cudaDeviceReset cuCtxDestroy cuDevicePrimaryCtxReset "
    "cuDevicePrimaryCtxRelease".split()
)
_ROUNDS = 3
_EXPLICIT = frozenset(("__init__", "__enter__", "__exit__"))
_PRINTS = (b"printf", b"assert", b"__trap")


class Lowered(NamedTuple):
    module: ir.Module
    bindings: Bindings


def lower(source: Source, outline: Outline, modules: Modules, methods: Methods) -> Lowered:
    """Lower a file that was read. `methods` are those of the objects that it may meet."""
    unit = Unit(source, outline, modules, methods)
    script = is_script(source.module, outline, modules)
    name = "main" if script else f"{outline.id}::<initializers>"
    for _ in range(_ROUNDS):  # one of these functions may use another one
        unit.contexts = contexts_of(unit)
    top = Statements(unit, None, outline.id)
    if script:
        top.emit(ir.Assign(CURRENT, ir.Const("0"), Span(source.path, 0, 0)))
    for statement in source.module.body:
        if isinstance(statement, cst.ClassDef):
            _class_body(unit, top, statement)
        elif isinstance(statement, cst.FunctionDef):
            top.at(statement, HEADER)
            top.header(statement, FuncRef(f"{outline.id}::{statement.name.value}"))
        else:
            top.statement(statement)
            top.began = top.began or any(isinstance(one, cst.Call) for one in walk_own(statement))
    for found in outline.functions.values():
        function(unit, found, f"{outline.id}::{found.name.value}", None, None)
    for cls in outline.classes.values():
        for method_name, method in cls.functions():
            function(unit, method, f"{outline.id}::{cls.name}::{method_name}", None, cls)
    while unit.pending:
        work, unit.pending = unit.pending, []
        for one in work:
            one()
    _mark_implicit(unit.functions)
    end = len(source.data)
    body = ir.Function(
        name,
        (),
        tuple(top.out),
        Span(source.path, 0, end),
        types=top.types,
        problems=tuple(top.problems[:1]),
    )
    names = sorted({*outline.assigned, *outline.rebound} - set(outline.functions) - set(outline.classes))
    variables = tuple(
        ir.GlobalVar(f"::{outline.id}::{one}", "", "host", False, Span(source.path, 0, 0)) for one in names
    )
    module = ir.Module(
        source.path,
        (body, *unit.functions),
        _kernels(unit),
        variables,
        _unseen(outline, modules),
        commands=parts_of_commands(source.data),
        measures=next(iter(unit.measures), named_in_python(source.data)),
    )
    return Lowered(module, _bindings(unit))


def _unseen(outline: Outline, modules: Modules) -> tuple[str, ...]:
    """The packages that a file imports, that are not in the tree, and that set no hooks as far as nobody has said."""
    roots = {name.split(".")[0]: name for names in outline.imports.values() for name in names if name}
    return tuple(
        sorted(
            root
            for root, name in roots.items()
            if not (root in sys.stdlib_module_names or root in HOST_PACKAGES or root in GPU_LIBRARIES)
            and modules.find(root, outline.path) is None
            and modules.find(name, outline.path) is None
        )
    )


def _class_body(unit: Unit, top: Statements, node: cst.ClassDef) -> None:
    """What a class runs when it is defined, and what it holds for all of its objects, where that is more than a
    literal.
    """
    top.at(node, HEADER)
    for name, value in top.class_body(node):
        if node.name.value in unit.outline.classes and "dataclass" not in decorators(node):
            place = ir.Var(f"::{unit.outline.id}::{node.name.value}::{name}")
            top.emit(ir.Assign(place, value, unit.source.span(node)))
    top.at(node, HEADER)
    top.header(node, NOTHING)


def unreadable(path: str, data: bytes, offset: int) -> ir.Module:
    """A file that cannot be parsed: one function with a problem, and what seems to allocate in it."""
    calls = []
    for start, end in sites_in_text(data):
        span = Span(path, start, end)
        site = ir.Site(span, "", "", "", blocked="the file cannot be parsed", fixed="the file cannot be parsed")
        calls.append(ir.Call("cudaMalloc", (ir.Opaque(()), ir.Opaque(())), span, span, end, site))
    problems = (("parse_error", offset),)
    whole = Span(path, 0, len(data))
    return ir.Module(
        path, (ir.Function(f"{identifier(path)}::<file>", (), tuple(calls), whole, problems=problems),), (), (), ()
    )


def is_script(module: cst.Module, outline: Outline, modules: Modules) -> bool:
    """Whether a file is run: a notebook, or one that asks for `__main__` or whose own statements call functions of it
    or of the CUDA API.
    """
    if outline.path.endswith(NOTEBOOK):
        return True
    resolver = Resolver(modules, outline, None)
    for statement in module.body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            continue
        for node in walk_own(statement):
            if isinstance(node, cst.Name) and node.value == "__name__":
                return True
            if isinstance(node, cst.Call):
                meaning = resolver.meaning(node.func)
                if isinstance(meaning, OwnFunction | OwnClass):
                    return True
                if isinstance(meaning, Dotted) and bindings.module_of(meaning.name) is not None:
                    return True
    return False


def _kernels(unit: Unit) -> tuple[ir.Kernel, ...]:
    """The kernels that are launched, where their source is in the file: whether they can print is in the text."""
    data = unit.source.data
    if b"__global__" not in data:
        return ()
    prints = any(word in data for word in _PRINTS)
    nothing: frozenset[int] = frozenset()
    none: frozenset[str] = frozenset()
    return tuple(
        ir.Kernel(name, (), nothing, nothing, prints, prints, none, none, none, span)
        for name, span in unit.launches.items()
    )


def _bindings(unit: Unit) -> Bindings:
    names = (name for name in unit.outline.imports if unit.outline.assigned[name] == 0)
    driver = next((name for name in names if unit.modules.top(unit.outline, name) == Dotted(DRIVER)), "")
    return Bindings(unit.styles, driver, _driver_import(unit) if not driver else None)


def _driver_import(unit: Unit) -> Edit | None:
    """An import of the driver bindings behind the file's import of the runtime bindings, if that is not in a `try`."""
    found: cst.SimpleStatementLine | None = None
    old = False
    for statement in unit.source.module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                text = unit.source.text(small) if isinstance(small, cst.Import | cst.ImportFrom) else ""
                if _RUNTIME_IMPORT.search(text):
                    found, old = statement, "bindings" not in text
    if found is None:
        return None
    data, end = unit.source.data, unit.source.span(found.body[-1]).end
    at = data.find(b"\n", end)
    at = len(data) if at < 0 else at - (data[at - 1 : at] == b"\r")
    newline = unit.source.module.default_newline
    name = "from cuda import cuda" if old else "from cuda.bindings import driver"
    return Edit(unit.source.path, at, at, f"{newline}{name} as {NEW_DRIVER}".encode())


def _mark_implicit(functions: list[ir.Function]) -> None:
    """Name what `__del__` and the other methods that Python calls by itself reach: no statement says when they run.

    Where `__del__` destroys a stream or ends the context, every function of the file may meet a stream that is gone.
    """
    by_name = {function.name: function for function in functions}
    for why in ("finalizer", "implicit_call"):
        stack = [f for f in functions if _is_implicit(f) and f.name.endswith("::__del__") == (why == "finalizer")]
        reached: dict[str, ir.Function] = {}
        while stack:
            function = stack.pop()
            if function.name not in reached:
                reached[function.name] = function
                called = (s.callee for s in ir.walk(function.body) if isinstance(s, ir.Call))
                stack += [by_name[name] for name in called if name in by_name]
        calls = [s for f in reached.values() for s in ir.walk(f.body) if isinstance(s, ir.Call)]
        ends = [call for call in calls if call.callee in _ENDS] if why == "finalizer" else []
        classes = {f.cls: f for f in reached.values() if f.name.endswith("::__del__")}
        for function in functions:
            found = classes.get(function.cls) or reached.get(function.name)
            if ends or found is not None:
                offset = ends[0].span.start if ends else found.span.start if found is not None else 0
                function.problems = (*function.problems, (why, offset))


def _is_implicit(function: ir.Function) -> bool:
    name = function.name.rpartition("::")[2]
    return function.cls is not None and name.startswith("__") and name.endswith("__") and name not in _EXPLICIT
