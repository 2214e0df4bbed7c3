"""What kernels do: which parameters they read and write, whether they print or trap, which globals they touch.

Device code is summarized by name, not executed: a parameter is written if a place that is reached through it, or
through a local pointer that may have come from it, is assigned, incremented, or handed to what may write it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Language, Node, Query, QueryCursor
from tree_sitter_cuda import language

from cudafix import ir
from cudafix.frontends.cuda import sites
from cudafix.frontends.cuda.declarations import (
    Declarations,
    Definition,
    base_type,
    declared,
    is_number,
    is_pointer,
    plain_name,
)
from cudafix.frontends.cuda.macros import Macro
from cudafix.frontends.cuda.names import CASTS
from cudafix.models.device import device

# Nodes without what is in them: a pattern with children costs three times as long to compile as all of these.
_QUERY = """
[(assignment_expression) (lambda_capture_initializer)] @assign
(update_expression) @update
(call_expression) @call
[(init_declarator) (declaration) (for_range_loop)] @init
(function_declarator) @built
(new_expression) @new
"""
_WORD = re.compile(rb"[A-Za-z_]\w*")
_PRINTS = re.compile(rb"\b(?:printf|vprintf|puts)\s*\(")
_TRAPS = re.compile(rb"\b(?:assert|__trap|__assert_fail|__builtin_trap|abort)\s*\(|\btrap;")
_STORES = re.compile(rb"\b(?:st|atom|red|cp|stmatrix|multimem)\b")
_KEYWORDS = frozenset(b"if while for switch return sizeof alignof decltype static_cast".decode().split())


@cache
def _query() -> Query:
    return Query(Language(language()), _QUERY)


@dataclass(slots=True)
class _Summary:
    """A device function: facts about its parameters and about the outside, before those of its callees are added."""

    names: tuple[str, ...]
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    prints: bool = False
    traps: bool = False
    keeps: bool = False
    globals_read: set[str] = field(default_factory=set)
    globals_written: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    calls: list[tuple[str, tuple[frozenset[int], ...], tuple[frozenset[str], ...]]] = field(default_factory=list)


def summarize(
    root: Node, text: bytes, path: str, index: Declarations, macros: Mapping[str, Macro]
) -> tuple[ir.Kernel, ...]:
    """One `Kernel` for each `__global__` function of a file."""
    kernels = [one for one in index.functions if one.side == "kernel"]
    if not kernels:
        return ()
    device = [one for one in index.functions if one.side in ("kernel", "device", "both")]
    touched = {
        variable.name.rpartition("::")[2].encode(): variable.name
        for variable in index.all_globals()
        if variable.space != "host"  # the device sees no host globals
    }
    summaries: dict[str, list[_Summary]] = {}
    own: list[tuple[Definition, _Summary]] = []
    local = {one.name.rpartition("::")[2] for one in device}
    for one in device:
        summary = _summary(one, text, index, macros, touched, local)
        summaries.setdefault(one.name.rpartition("::")[2], []).append(summary)
        if one.side == "kernel":
            own.append((one, summary))
    _close(summaries)
    found = []
    for one, summary in own:
        found.append(
            ir.Kernel(
                one.name,
                tuple(param for param, _ in one.params),
                frozenset(summary.reads),
                frozenset(summary.writes),
                summary.prints,
                summary.traps,
                frozenset(summary.globals_read),
                frozenset(summary.globals_written),
                frozenset(summary.unknown),
                ir.Span(path, one.node.start_byte, one.node.end_byte),
                summary.keeps,
                frozenset(summary.words),
            )
        )
    return tuple(found)


def _close(summaries: dict[str, list[_Summary]]) -> None:
    """Add what callees do, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for group in summaries.values():
            for summary in group:
                for name, positions, roots in summary.calls:
                    for callee in summaries.get(name, ()):
                        changed = _add(summary, callee, positions, roots) or changed


def _add(
    caller: _Summary, callee: _Summary, positions: tuple[frozenset[int], ...], roots: tuple[frozenset[str], ...]
) -> bool:
    before = (
        len(caller.reads), len(caller.writes), caller.prints, caller.traps, caller.keeps,
        len(caller.globals_read), len(caller.globals_written), len(caller.unknown), len(caller.words),
    )  # fmt: skip
    last = len(callee.names) - 1
    for number, (params, global_names) in enumerate(zip(positions, roots, strict=True)):
        at = min(number, last)
        if at in callee.reads:
            caller.reads |= params
            caller.globals_read |= global_names
        if at in callee.writes:
            caller.writes |= params
            caller.globals_written |= global_names
    caller.prints |= callee.prints
    caller.traps |= callee.traps
    caller.keeps |= callee.keeps
    caller.words |= callee.words
    caller.globals_read |= callee.globals_read
    caller.globals_written |= callee.globals_written
    caller.unknown |= callee.unknown
    return before != (
        len(caller.reads), len(caller.writes), caller.prints, caller.traps, caller.keeps,
        len(caller.globals_read), len(caller.globals_written), len(caller.unknown), len(caller.words),
    )  # fmt: skip


_LONG = 4_000  # bytes of an expression that may stand for anything: calls in calls would be read again and again


class _Roots:
    """Which parameters and device globals a name in the body may stand for."""

    def __init__(self, names: Mapping[str, int], globals_: Mapping[bytes, str], text: bytes) -> None:
        self.params = {name: frozenset((number,)) for name, number in names.items()}
        self.globals = {name.decode(): frozenset((full,)) for name, full in globals_.items()}
        self.text = text
        self.references: set[str] = set()  # local ones: what is assigned to them goes where they lead
        self._names: dict[int, frozenset[str]] = {}  # in each expression

    def of(self, node: Node) -> tuple[frozenset[int], frozenset[str]]:
        params: frozenset[int] = frozenset()
        globals_: frozenset[str] = frozenset()
        if node.end_byte - node.start_byte > _LONG:
            return params.union(*self.params.values()), globals_.union(*self.globals.values())
        if node.id not in self._names:
            words = _WORD.findall(self.text, node.start_byte, node.end_byte)
            self._names[node.id] = frozenset(word.decode() for word in words)
        for name in self._names[node.id]:
            params |= self.params.get(name, frozenset())
            globals_ |= self.globals.get(name, frozenset())
        return params, globals_

    def join(self, name: str, found: tuple[frozenset[int], frozenset[str]]) -> bool:
        params = self.params.get(name, frozenset()) | found[0]
        globals_ = self.globals.get(name, frozenset()) | found[1]
        changed = params != self.params.get(name, frozenset()) or globals_ != self.globals.get(name, frozenset())
        if params:
            self.params[name] = params
        if globals_:
            self.globals[name] = globals_
        return changed


def _base(node: Node) -> tuple[Node, bool]:
    """The node that an lvalue starts from, and whether memory behind it is reached (`p[i]`, `*p`, `s.x`)."""
    reached = False
    while True:
        kind = node.type
        inner: Node | None = None
        if kind == "subscript_expression" or kind == "field_expression" or kind == "pointer_expression":
            inner, reached = node.child_by_field_name("argument"), True
        elif kind == "cast_expression":
            inner = node.child_by_field_name("value")
        elif kind == "parenthesized_expression":
            inner = node.named_children[0] if node.named_children else None
        if inner is None:
            return node, reached
        node = inner


def _summary(
    one: Definition,
    text: bytes,
    index: Declarations,
    macros: Mapping[str, Macro],
    touched: Mapping[bytes, str],
    local: set[str],
) -> _Summary:
    names = {param.name: number for number, (param, _) in enumerate(one.params) if param.name}
    kinds = {param.name: (param.type, param.by_reference) for param, _ in one.params}
    summary = _Summary(tuple(param.name for param, _ in one.params))
    body = text[one.body.start_byte : one.body.end_byte]
    words = set(_WORD.findall(body))
    summary.prints = _PRINTS.search(body) is not None or (b"cout" in words)
    summary.traps = _TRAPS.search(body) is not None
    here = {word: touched[word] for word in words & touched.keys()}
    summary.globals_read |= set(here.values())
    summary.words = {sys.intern(word.decode()) for word in words - here.keys()} - names.keys()
    passed = {name for name, (kind, ref) in kinds.items() if ref or not is_number(kind)}
    summary.reads |= {names[name] for name in passed if name.encode() in words and name}
    for word in words:
        macro = macros.get(word.decode())
        if macro is not None:
            inner = set(_WORD.findall(macro.body))
            summary.words.update(sys.intern(found.decode()) for found in inner - touched.keys())
            summary.prints |= _PRINTS.search(macro.body) is not None
            summary.traps |= _TRAPS.search(macro.body) is not None
            for found in inner & touched.keys():
                summary.globals_read.add(touched[found])
                summary.globals_written.add(touched[found])
            for name in passed:
                if name.encode() in inner:
                    summary.reads.add(names[name])
                    summary.writes.add(names[name])
    if not passed and not here and b"(" not in body:
        return summary
    cursor = QueryCursor(_query())
    captures = cursor.captures(one.body)
    roots = _Roots({name: number for name, number in names.items() if name in passed}, here, text)
    summary.keeps = _keeps_addresses(captures, roots, text, kinds, *_aliases(captures, roots, text, kinds, index))

    def written(node: Node, scalar_too: bool = False) -> None:
        base, reached = _base(node)
        if base.type == "identifier" and not reached:
            name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
            _, by_reference = kinds.get(name, ("", False))
            if name in names and not by_reference and not scalar_too:
                return  # the kernel's own copy
            if name not in names and name not in roots.globals and name not in roots.params:
                return
            if name not in names and name.encode() not in here and name not in roots.references and not scalar_too:
                return  # a local pointer is moved, not what it points to
        params, globals_ = roots.of(base)
        if base.type != "identifier":
            params, globals_ = roots.of(node)
        summary.writes |= params
        summary.globals_written |= globals_

    for node in captures.get("assign", ()):
        left = node.child_by_field_name("left")
        if left is not None:
            written(left)
    for node in captures.get("update", ()):
        argument = node.child_by_field_name("argument")
        if argument is not None:
            written(argument)
    for node in captures.get("new", ()):
        placement = node.child_by_field_name("placement")
        if placement is not None:
            written_through(summary, roots.of(placement))
    for node in captures.get("call", ()):
        _call(node, text, summary, roots, written, kinds, local, macros, index)
    if b"asm" in words and _STORES.search(body) is not None:
        summary.writes |= {names[name] for name in passed if name}
        summary.globals_written |= set(here.values())
    const = {
        number
        for number, (param, at) in enumerate(one.params)
        if _points_to_const(at, text, param) and _ends_there(param, body, index)
    }
    summary.writes -= const
    return summary


def _call(
    node: Node,
    text: bytes,
    summary: _Summary,
    roots: _Roots,
    written: Callable[[Node], None],
    kinds: Mapping[str, tuple[str, bool]],
    local: set[str],
    macros: Mapping[str, Macro],
    index: Declarations,
) -> None:
    """What a call in device code may do to the memory that it is given."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    values = [child for child in arguments.children if child.is_named and child.type != "comment"]
    if function.type == "field_expression":
        receiver = function.child_by_field_name("argument")
        if receiver is not None and roots.of(receiver) != _NONE:
            written(function)
        for value in values:
            if not _is_element(value, text, kinds):
                written_through(summary, roots.of(value))
        return

    def all_written() -> None:
        for value in values:
            written_through(summary, roots.of(value))

    if function.type == "lambda_expression":
        body = function.child_by_field_name("body")
        if body is None or _LENDS.search(text, text.find(b"]", function.start_byte), body.start_byte):
            all_written()
        return
    inner = function.child_by_field_name("function") if function.type == "call_expression" else None
    if inner is not None and inner.type in ("call_expression", "parenthesized_expression"):
        summary.unknown.add("()")  # what calls return has no name
        all_written()
        return
    name = plain_name(text[function.start_byte : function.end_byte].decode("utf-8", "replace"))
    last = name.rpartition("::")[2]
    held = roots.of(function) if function.type == "identifier" else _NONE
    if held != _NONE and _head_of_lambda(last, text) is None:  # a functor: it may write what it holds
        written_through(summary, held)
    if last in CASTS or last in _KEYWORDS or function.type == "primitive_type":
        return
    macro = macros.get(name)
    if macro is not None:
        if macro.params is not None and not _MACRO_READS.fullmatch(macro.body):
            all_written()
        return
    if last in local:
        found = [roots.of(value) for value in values]
        summary.calls.append((last, tuple(params for params, _ in found), tuple(names for _, names in found)))
        return
    if (
        index.class_of(last) is not None
        or index.is_type(last.strip("()"))
        or function.type == "parenthesized_expression"
    ):
        return
    api = device(name, len(values))
    if api is not None:
        for number, value in enumerate(values):
            role = api.roles[min(number, len(api.roles) - 1)] if api.roles else "-"
            if number < len(api.roles) or role.endswith("*"):
                if role.rstrip("*") in ("w", "rw", "hw", "hrw", "swap", "out"):
                    written_through(summary, roots.of(value))
        return
    if sites.is_api(last):  # the device's own `cudaMalloc`, `cudaFree`
        all_written()
        return
    head = _head_of_lambda(last, text) if last not in summary.unknown else None
    if head is not None:  # its body was read where it stands
        if _LENDS.search(head):
            all_written()
        return
    summary.unknown.add(last)
    all_written()


def _head_of_lambda(name: str, text: bytes) -> bytes | None:
    """The parameters of a lambda of this file that is kept under a name."""
    if not name.isidentifier():
        return None
    found = re.search(rb"\bauto\s+" + name.encode() + rb"\s*=\s*\[[^\]]*\]([^{;]*)", text)
    return found[1] if found is not None else None


_NONE: tuple[frozenset[int], frozenset[str]] = (frozenset(), frozenset())
_LENDS = re.compile(rb"[*&]|\bauto\b")  # in the head of a lambda: its body may write what it is given
_MACRO_READS = re.compile(rb"(?:(?!\+\+|--|[^=!<>]=[^=]|;|\w\s*\().)*", re.DOTALL)


def written_through(summary: _Summary, found: tuple[frozenset[int], frozenset[str]]) -> None:
    summary.writes |= found[0]
    summary.globals_written |= found[1]


def _points_to_const(node: Node, text: bytes, param: ir.Param) -> bool:
    """`const T *p`: the kernel cannot write what it points to without a cast."""
    if param.type.count("*") > 1 or not (is_pointer(param.type) or param.by_reference):
        return False
    written = text[node.start_byte : node.end_byte]
    head = written.split(b"*")[0].split(b"&")[0]
    return re.search(rb"\bconst\b", head) is not None


def _ends_there(param: ir.Param, body: bytes, index: Declarations) -> bool:
    """Whether no pointer is kept in what a parameter points to, which the kernel might write through: `s->out[i]`."""
    kind = param.type.rstrip(" *")
    if index.means_number(kind):
        return True
    cls = index.class_of(kind)
    if cls is not None:
        return not cls.bases and all(map(index.means_number, cls.fields.values()))
    reached = re.search(rb"\b" + param.name.encode() + rb"\s*(?:\[[^\]]*\]\s*)?(?:->|\.)", body)
    return not param.by_reference and reached is None


_COPIES_BYTES = re.compile(rb"(?:std::|cuda::std::)?(?:mem(?:cpy|move)|atomic(?:Exch|CAS|Add|Max|Min|Or))\b")
# a pointer as a number, the address of a variable
_ADDRESS = re.compile(
    rb"(?:\(\s*[\w\s:]*\)|_cast\s*<[^<>*]*>)\s*\(*\s*&?\s*([A-Za-z_]\w*)(?!\w|\s*(?:[\[.(]|->))"
    rb"|(?<![&\w)\]])\s*&\s*([A-Za-z_]\w*)(?!\w|\s*(?:[\[.(]|->))"
)


def _is_given_to_a_call(node: Node, at: int) -> bool:
    """Whether what stands somewhere in an expression is an argument: what the call returns is stored."""
    inner = node.descendant_for_byte_range(at, at + 1)
    while inner is not None and inner != node:
        if inner.type == "argument_list":
            return True
        inner = inner.parent
    return False


def _keeps_addresses(
    captures: Mapping[str, list[Node]],
    roots: _Roots,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    numbers: set[str],
    pointers: set[str],
) -> bool:
    """Whether an address may be stored in memory as a number, or byte by byte: `q[0] = (long)p`, `memcpy(q, &p, 8)`."""

    def leads(name: str) -> bool:
        return is_pointer(kinds[name][0]) if name in kinds else name in roots.params

    def has_address(node: Node) -> bool:
        written = text[node.start_byte : node.end_byte]
        if written.decode("utf-8", "replace") in numbers:
            return True
        return any(
            leads((match[1] or match[2]).decode())
            for match in _ADDRESS.finditer(written)
            if match[1] or not _is_given_to_a_call(node, node.start_byte + match.start(2))
        )

    def is_pointer_itself(node: Node) -> bool:  # of a type that may be a parameter of the template: `T *q`, `q[0] = p`
        while node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node.type == "identifier":
            name = text[node.start_byte : node.end_byte].decode("utf-8", "replace")
            return is_pointer(kinds[name][0]) if name in kinds else name in pointers and name in roots.params
        return node.type == "binary_expression" and any(map(is_pointer_itself, node.named_children))

    for node in captures.get("assign", ()):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or right.type == "number_literal":
            continue
        base, reached = _base(left)
        name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
        leads_out = name in kinds or name in pointers or name in roots.references  # not a variable of the kernel's own
        stores = base.type not in ("identifier", "this") or name in roots.globals or (reached and leads_out)
        if stores and (has_address(right) or is_pointer_itself(right)):
            return True
    for node in captures.get("call", ()):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and arguments is not None and _COPIES_BYTES.match(text, function.start_byte):
            if any(map(has_address, arguments.named_children[1:])):
                return True
    return False


def _aliases(
    captures: Mapping[str, list[Node]],
    roots: _Roots,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    index: Declarations,
) -> tuple[set[str], set[str]]:
    """Local pointers and references that may have come from a parameter. Returns the numbers that may be made of one,
    and the pointers.
    """
    edges: list[tuple[str, Node]] = []
    numbers: set[str] = set()
    pointers: set[str] = set()
    for node in captures.get("init", ()):
        declarator = node.child_by_field_name("declarator")
        value = node.child_by_field_name("right" if node.type == "for_range_loop" else "value")
        typed = node.parent if node.type == "init_declarator" else node
        if declarator is None or value is None or typed is None:
            continue
        base = base_type(typed, text, index.numbers)
        one = declared(base, declarator, text)
        if one is None:
            continue
        if one.bindings:  # `auto &[a, b] = …`
            names = {text[at.start_byte : at.end_byte].decode("utf-8", "replace") for at in one.bindings}
            edges += [(name, value) for name in names]
            roots.references |= names
            continue
        pointer = is_pointer(one.type) or one.reference
        if is_pointer(one.type) and not one.array:
            pointers.add(one.name)
        if one.reference:
            roots.references.add(one.name)
        if not pointer and is_number(base) and not _is_address(value, text, kinds):
            continue
        if not pointer and base.startswith("auto") and _is_element(value, text, kinds):
            continue
        if not pointer and (is_number(base) or (_is_address(value, text, kinds) and not index.is_seen_type(base))):
            numbers.add(one.name)
        edges.append((one.name, value))
    for node in captures.get("built", ()):  # `View v(p);` reads like the declaration of a function
        name_node, given = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
        if name_node is not None and name_node.type == "identifier" and given is not None:
            edges.append((text[name_node.start_byte : name_node.end_byte].decode("utf-8", "replace"), given))
    for node in captures.get("assign", ()):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            continue
        base_node, _ = _base(left)
        if base_node.type == "call_expression":  # `float (&row)[4] = …` reads like one
            edges += [(name.decode(), right) for name in _WORD.findall(text, left.start_byte, left.end_byte)]
        if base_node.type == "identifier" and not _is_element(right, text, kinds) and right.type != "number_literal":
            name = text[base_node.start_byte : base_node.end_byte].decode("utf-8", "replace")
            if left.type == "identifier" or left.type == "field_expression" or left.type == "subscript_expression":
                if name not in kinds or is_pointer(kinds[name][0]):
                    if left.type == "identifier" or not _is_arithmetic(right):
                        edges.append((name, right))
    changed = True
    while changed:
        changed = False
        for name, value in edges:
            found = roots.of(value)
            if name in kinds and not (found[0] | found[1]):
                continue
            changed = roots.join(name, found) or changed
    return {name for name in numbers if name in roots.params}, pointers


def _is_address(node: Node, text: bytes, kinds: Mapping[str, tuple[str, bool]]) -> bool:
    """Whether a number may be made of a pointer."""
    casts = node.type == "cast_expression" or text.startswith(b"reinterpret_cast", node.start_byte)
    return casts and not _is_element(node, text, kinds)


def _is_arithmetic(node: Node) -> bool:
    return node.type in ("binary_expression", "number_literal", "call_expression", "conditional_expression")


def _is_element(node: Node, text: bytes, kinds: Mapping[str, tuple[str, bool]]) -> bool:
    """Whether a value is an element that a pointer to numbers points to, or arithmetic of such."""
    while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
        node = node.named_children[-1]
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return False
        if operator.type not in ("+", "-"):
            return True
        return _is_element(left, text, kinds) and _is_element(right, text, kinds)
    if node.type in ("number_literal", "true", "false", "char_literal", "unary_expression"):
        return True
    if node.type == "subscript_expression" or (node.type == "pointer_expression" and node.children[0].type == "*"):
        base, _ = _base(node)
        name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
        kind = kinds.get(name, ("", False))[0]
        return kind.count("*") == 1 and is_number(kind[:-1].strip())
    if node.type == "identifier":
        name = text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return is_number(kinds.get(name, ("", False))[0])
    return False
