"""What runs before `main`, and as late as a thread begins: the initializers of variables at namespace scope."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.attributes import at_start
from cudafix.frontends.cuda.lower.context import File, Source
from cudafix.frontends.cuda.lower.macro_uses import is_function
from cudafix.frontends.cuda.lower.statements import Statements, is_written
from cudafix.frontends.cuda.sema.type_texts import element_type, is_pointer, keeps_references
from cudafix.ir.names import WORD_IN_BYTES

_QUIET = frozenset(
    "lambda_expression identifier init_declarator array_declarator pointer_declarator function_declarator".split()
)
_CALLS = re.compile(rb"\(|\bnew\b|\w\s*\{")
# what may make a variable a function, or hold some, and calls none
_GIVES = frozenset(
    "identifier qualified_identifier template_function pointer_expression initializer_list argument_list "
    "function_declarator".split()
)


class Initialized(NamedTuple):
    """What a function initializes: variables, each with its initializer; and what is known of functions then."""

    variables: Sequence[tuple[ir.GlobalVar, Node]]
    registered: Sequence[str] = ()  # code that is not seen has got these functions
    arguments: Sequence[str] = ()  # these functions are arguments of templates
    defining: Sequence[str] = ()  # what macros define may call these


def initializers(
    file: File,
    source: Source,
    at: int,
    registered: Sequence[str],
    arguments: Sequence[str],
    defining: Sequence[str],
) -> list[ir.Function]:
    """What runs before `main`: the initializers of globals that call something, and the constructors of objects (C++17,
    6.6.2 [basic.start.static]); and the functions that the compiler is told to run then, or at the end. What makes
    `thread_local` variables may run as late as they are used (6.6.3 [basic.start.dynamic] 5).
    """
    own = [one for one in file.index.initializers if one[0].name in file.index.of_threads]
    others = [one for one in file.index.initializers if one not in own]
    made = (
        _Initializers(file, source, ir.INITIALIZERS, at).function(
            Initialized(others, registered, arguments, defining), at_start(file)
        ),
        _Initializers(file, source, ir.OF_THREADS, at).function(Initialized(own), ()) if own else None,
    )
    return [function for function in made if function is not None]


class _Initializers:
    """Lowers the initializers of variables into one function, which stands `at` an offset."""

    def __init__(self, file: File, source: Source, name: str, at: int) -> None:
        self._file = file
        self._text = source.text
        self._name = name
        self._span = ir.Span(file.path, at, at)
        self._lowering = Statements(file, source, name, None, "", source.text)
        self._lowering.end = len(source.text)

    def function(self, what: Initialized, at_start: Sequence[tuple[str, bool]]) -> ir.Function | None:
        """The function; None if it would do nothing. Those `at_start` run without a call, or at the end."""
        block = self._lowering.collect(lambda: self._run(what, at_start))
        if not any(map(_runs, block)):
            return None
        return ir.Function(self._name, (), block, self._span, True, None, self._lowering.types)

    def _run(self, what: Initialized, at_start: Sequence[tuple[str, bool]]) -> None:
        lowering, span = self._lowering, self._span
        if what.registered:
            lowering.hand_out(tuple(map(ir.FuncRef, what.registered)), span)
        if what.defining:
            lowering.emit(self._of_macros(what.defining))
        if what.arguments:  # a call of a parameter of the template means one of them
            able = ir.Choice(tuple(map(ir.FuncRef, what.arguments)))
            lowering.emit(ir.Assign(ir.Var("::<arguments of templates>"), able, span))
        for variable, value in what.variables:
            self._file.begin(value)
            lowering.namespace = variable.name.removeprefix("::").rpartition("::")[0]
            lowering.begins = value.start_byte
            ending = len(lowering.ending)
            self._variable(variable, value)
            lowering.end_temporaries(ending)
        if what.defining:  # behind and in front of others: which comes first is not known
            lowering.emit(self._of_macros(what.defining))
        for called, at_end in at_start:
            callee, given = ("atexit", (ir.FuncRef(called),)) if at_end else (called, ())
            site = ir.Site(span, "", "", ";", blocked="outside of a function body")
            lowering.emit(ir.Call(callee, given, span, span, span.start, site))

    def _variable(self, variable: ir.GlobalVar, value: Node) -> None:
        lowering, index = self._lowering, self._file.index
        element = element_type(variable.type).rstrip()
        cls = index.class_of(element) if not is_pointer(element) else None
        text = self._text[value.start_byte : value.end_byte].decode("utf-8", "replace")
        written = is_written(variable, value, text) or value.type == "function_declarator"
        reads_as_function = value.type == "function_declarator"  # `std::span<T> x(a, n);`
        unseen = cls is None and lowering.unseen(element) is not None and not _is_misread(value)
        unseen = unseen and not self._holds_function(value)  # it is handed out, from the start
        made = unseen if cls is None else index.has(cls, cls.constructor)
        made = made or (written and bool(lowering.active(element)))
        if made or (reads_as_function and self._holds_address(value)):
            lowering.make_global(variable, value)
        elif variable.type.endswith(" &"):
            if not _is_misread(value):
                lowering.bind_global(variable, value)
        elif (
            self._holds_function(value)
            or (value.type == "initializer_list" and self._acts(value))
            or self._keeps_references(variable, value)
        ):
            lowering.start_global(variable, value)
        elif value.type == "argument_list" and not self._holds_address(value):
            lowering.arguments(value)
        elif written and (value.type not in _QUIET or value.type == "identifier") and self._acts(value):
            lowering.types[variable.name] = variable.type
            lowering.assign(ir.Var(variable.name), value, value)
        elif not (value.type.endswith("declarator") or _is_misread(value)) and self._holds_address(value):
            lowering.start_global(variable, value)

    def _words_in(self, node: Node) -> list[str]:
        return [word.decode() for word in WORD_IN_BYTES.findall(self._text, node.start_byte, node.end_byte)]

    def _holds_function(self, value: Node) -> bool:
        if value.type == "lambda_expression":
            return True
        return value.type in _GIVES and any(is_function(self._file, word) for word in self._words_in(value))

    def _holds_address(self, value: Node) -> bool:
        """Whether a constant initializer may have the address of another variable in it."""
        found = (one for word in self._words_in(value) for one in self._file.index.lookup.alike(word))
        by_name = any(one.array or is_pointer(one.type) for one in found)
        return by_name or self._text.find(b"&", value.start_byte, value.end_byte) >= 0

    def _keeps_references(self, variable: ir.GlobalVar, value: Node) -> bool:
        name = self._text[value.start_byte : value.end_byte].decode("utf-8", "replace")
        given = value.type not in ("init_declarator", "array_declarator") and name != variable.name.rpartition("::")[2]
        return given and keeps_references(variable.type)

    def _acts(self, value: Node) -> bool:
        """Whether an initializer may call something: as it says, by a macro, or by an operator or a conversion of an
        object that it names (C++17, 16.5 [over.oper], 15.3.2 [class.conv.fct]).
        """
        if _CALLS.search(self._text, value.start_byte, value.end_byte) is not None:
            return True
        words, macros, index = set(self._words_in(value)), self._file.macros, self._file.index
        if any(_CALLS.search(macros[word].body) is not None for word in words & macros.keys()):
            return True
        named = (one for word in words for one in index.lookup.alike(word))
        return any(index.class_behind(one.type) is not None for one in named)

    def _of_macros(self, functions: Sequence[str]) -> ir.Unknown:
        """What macros define is initialized before `main`, by functions of which it is not known how."""
        given = tuple(map(ir.FuncRef, functions))
        why = "what a macro at namespace scope defines"
        return ir.Unknown(why, self._span, (), tuple(functions), tuple(functions), given)


def _is_misread(value: Node) -> bool:
    """Whether the declaration around an initializer is none that the grammar could read."""
    node = value
    while node.parent is not None and node.type not in ("declaration", "field_declaration", "ERROR"):
        node = node.parent
    return node.has_error or not node.type.endswith("declaration")


def _runs(statement: ir.Stmt) -> bool:
    """Whether a statement of an initializer does more than give a variable a number."""
    if isinstance(statement, ir.Assign):
        return any(isinstance(expr, ir.FuncRef | ir.Addr | ir.Var) for expr in ir.variables(statement.value))
    return not isinstance(statement, ir.HostAccess)
