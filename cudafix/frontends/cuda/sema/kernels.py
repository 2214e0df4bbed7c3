"""What kernels do: which parameters they read and write, whether they print or trap, which globals they touch.

Device code is summarized by name, not executed: a parameter is written if a place that is reached through it, or
through a local pointer that may have come from it, is assigned, incremented, or handed to what may write it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from tree_sitter import Language, Node, Query
from tree_sitter_cuda import language

from cudafix import ir
from cudafix.frontends.cuda.parse.queries import captures as captures_of
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import (
    Declarations,
    Definition,
    base_type,
    declared,
    is_pointer,
    plain_name,
)
from cudafix.frontends.cuda.sema.names import CASTS
from cudafix.frontends.cuda.sema.origins import LONG, NAMES_OF_CALLEES, OUTSIDE, WORD, Origins, Roots, holds_numbers
from cudafix.ir.device_code import DEFAULT, LAMBDA, MANY, TEMPLATE, closed
from cudafix.models.api import Effect
from cudafix.models.device import device
from cudafix.models.number_types import is_address_number, is_number

# Nodes without what is in them: a pattern with children costs three times as long to compile as all of these.
_QUERY = """
[(assignment_expression) (lambda_capture_initializer)] @assign
(update_expression) @update
(call_expression) @call
[(init_declarator) (declaration) (for_range_loop)] @init
(function_declarator) @built
(new_expression) @new
(cast_expression) @cast
(gnu_asm_expression) @asm
"""
_INTRODUCER = re.compile(rb"\](?!\s*[;,=)\].+*/%&|?:])")  # what stands behind the `]` of an array begins no lambda
_PRINTS = re.compile(rb"\b(?:printf|vprintf|puts)\s*\(")
_TRAPS = re.compile(rb"\b(?:assert|__trap|__assert_fail|__builtin_trap|abort)\s*\(|\btrap;")
_KEYWORDS = frozenset(b"if while for switch return sizeof alignof decltype static_cast".decode().split())


# CUDA C++ Programming Guide, "Time Function"; PTX ISA, special registers `%clock`, `%clock64`, `%globaltimer`
_CLOCK = re.compile(
    rb"\b(?:clock64|clock|__nanotime|__globaltimer\w*)\s*\(|%(?:clock|globaltimer)\w*|\b(?:system|steady|high_resolution)_clock\b"
)
_READ_BY_ASSEMBLY = (
    rb"\basm\s*(?:volatile\b)?\s*\(\s*\"mov\.\w+\s+%0,\s*%%?(?:clock|globaltimer)\w*;\"\s*:\s*\"=\w+\"\s*\(\s*(\w+)\s*\)"
    rb"(?:\s*:\s*:\s*\"memory\")?\s*\)"
)
_SET_BY_CLOCK = re.compile(  # a variable of the function
    rb"\b(?:auto|const|int|long|unsigned|\w+_t)\s+(\w+)\s*=\s*clock(?:64)?\s*\(\s*\)(?=\s*;)|" + _READ_BY_ASSEMBLY
)
_DECLARED = re.compile(rb"\b(?:(?:unsigned|long|int|\w+_t)\s+)+(\w+(?:\s*,\s*\w+)*)\s*;")
_ONLY_WAITS = re.compile(
    rb"(?:[\s{};]|__nanosleep\s*\([\w\s]*\)|" + _READ_BY_ASSEMBLY.replace(rb"(\w+)", rb"\w+") + rb")*"
)


@cache
def _waits() -> Query:
    return Query(Language(language()), "[(while_statement) (do_statement)] @loop")


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
    times: bool = False
    keeps: bool = False
    globals_read: set[str] = field(default_factory=set)
    globals_written: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    stores: bool = False
    scope: str = ""
    calls: list[ir.DeviceCall] = field(default_factory=list)
    deep: set[int] = field(default_factory=set)  # parameters that are written through what an element of theirs holds
    certain: set[int] = field(default_factory=set)  # parameters that are written whatever `const` says


def summarize(
    root: Node,
    text: bytes,
    path: str,
    index: Declarations,
    macros_in: Callable[[int, int], Mapping[str, Macro]],
    included: Sequence[int] = (),
) -> tuple[tuple[ir.Kernel, ...], tuple[ir.Kernel, ...], ir.Scopes]:
    """The kernels of a file with what they reach in it; all functions that run on the device, each by itself; and where
    the names in them may be found. `macros_in` gives the macros by which a range of the text is read,
    `included` where an `#include` stands: what that brings into a function or a class may be anything.
    """
    sides = ("kernel", "device", "both")
    found = [one for one in index.functions if one.side in sides or _may_be_on_device(one, text)]
    objects = _OBJECTS.search(text) is not None
    if not (objects or any(one.side in sides for one in index.functions)):
        found = []
    touched: dict[bytes, tuple[str, ...]] = {}
    for variable in index.all_globals():
        if variable.space != "host":  # the device sees no host globals
            name = variable.name.rpartition("::")[2].encode()
            touched[name] = (*touched.get(name, ()), variable.name)
    touched = _initialized(text, touched) if touched else touched
    made = _made(root, text, found, touched) if touched and (found or objects) else {}

    def macros(node: Node) -> Mapping[str, Macro]:
        return macros_in(node.start_byte, node.end_byte)

    device = [_described(one, _summary(one, text, index, macros(one.node), touched, made), text, path) for one in found]
    device = [_with_included(one, touched) if _stands_in(included, one.span) else one for one in device]
    lambdas = (
        node
        for part in (root.children if found or objects else ())
        if _INTRODUCER.search(text, part.start_byte, part.end_byte)
        for node in captures_of(_lambdas(), part).get("lambda", ())
    )
    of_lambdas = [_of_lambda(node, text, path, macros(node), touched) for node in _outermost(lambdas)]
    device += [_with_included(one, touched) if _stands_in(included, one.span) else one for one in of_lambdas]
    device += _with_included_members(root, text, path, included, touched)
    if found or objects or touched or index.members or index.evaluating:
        device += _evaluated_unnamed(root, text, path, index, macros, touched)
    scopes = _scopes(text)
    kernels = closed(device, index.namespaces, [scopes]) if any(one.is_kernel for one in device) else ()
    return tuple(kernels), tuple(device), scopes


def _stands_in(included: Iterable[int], span: ir.Span) -> bool:
    return any(span.start <= at < span.end for at in included)


def _with_included(one: ir.Kernel, touched: Mapping[bytes, tuple[str, ...]]) -> ir.Kernel:
    """A function of which a part stands in another file, and may use all that is in scope (C++17, 19.2
    [cpp.include]).
    """
    every = frozenset(range(len(one.params)))
    names = frozenset(name for full in touched.values() for name in full)
    return replace(
        one,
        reads=one.reads | every,
        writes=one.writes | every,
        prints=True,
        traps=True,
        globals_read=one.globals_read | names,
        globals_written=one.globals_written | names,
        calls_unknown=one.calls_unknown | {"#include"},
        keeps=True,
        stores=True,
        calls=(*one.calls, ir.DeviceCall("", "", False, (every,) * MANY, (names,) * MANY)),
        times=True,
    )


def _with_included_members(
    root: Node, text: bytes, path: str, included: Iterable[int], touched: Mapping[bytes, tuple[str, ...]]
) -> Iterator[ir.Kernel]:
    """What objects of a class run of which members stand in another file: constructors, operators, a destructor."""
    for at in included:
        node = root.descendant_for_byte_range(at, at)
        while node is not None and node.type not in ("struct_specifier", "class_specifier"):
            node = node.parent if node.type not in ("function_definition", "lambda_expression") else None
        named = node.child_by_field_name("name") if node is not None else None
        if node is not None and named is not None:
            name = text[named.start_byte : named.end_byte].decode("utf-8", "replace")
            none, span = frozenset[int](), ir.Span(path, node.start_byte, node.end_byte)
            nothing = frozenset[str]()
            made = ir.Kernel(
                f"{plain_name(name)}::{DEFAULT}", (), none, none, False, False, nothing, nothing, nothing, span,
                member=True, is_kernel=False,
            )  # fmt: skip
            yield _with_included(made, touched)


_OBJECTS = re.compile(rb"\b(?:thrust|cub)\b|\boperator\s*\(\s*\)")
"""What function objects of algorithms come with: a class of them, or the name of a library that runs them."""


def _outermost(nodes: Iterable[Node]) -> Iterator[Node]:
    """Those that stand in no other one: what a lambda does holds what the lambdas in it do."""
    end = 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.end_byte > end:
            end = node.end_byte
            yield node


def _may_be_on_device(one: Definition, text: bytes) -> bool:
    """Whether a function without the qualifiers may run on the device: one that is `constexpr`
    (`--expt-relaxed-constexpr`), or has a macro in front, which may stand for them.
    """
    head = text[one.node.start_byte : one.body.start_byte]
    letters = rb"{1,}" if one.name.endswith("operator()") else rb"{2,}"
    return re.search(rb"\bconstexpr\b|^[^(]*\b[A-Z][A-Z0-9_]%s\b[^(]*\w\s*\(" % letters, head) is not None


def _described(one: Definition, summary: _Summary, text: bytes, path: str) -> ir.Kernel:
    head = text[one.node.start_byte : one.body.start_byte]
    words = {word.decode() for word in WORD.findall(head)}
    if one.node.parent is not None and one.node.parent.type == "template_declaration":
        words.add(TEMPLATE)
    return ir.Kernel(
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
        frozenset(summary.words | words),
        summary.stores,
        one.cls is not None,
        one.side == "kernel",
        tuple(sorted(set(summary.calls), key=_order)),
        frozenset(_mentions(one, head, text)),
        summary.times,
    )


def _order(call: ir.DeviceCall) -> tuple[object, ...]:
    """What calls are sorted by: in which order nodes and names are found is not the same in another text."""
    params, names = (tuple(tuple(sorted(one)) for one in given) for given in (call.params, call.globals))
    return call.name, call.scope, call.method, len(params), params, names, call.libraries


def _mentions(one: Definition, head: bytes, text: bytes) -> Iterator[str]:
    """Functions that run without a call in the body: in default arguments and initializers of members, and `begin` and
    `end` of a range (C++17, 9.5.4 [stmt.ranged]).
    """
    own = one.name.rpartition("::")[2].encode()
    parameters = head.partition(own)[2].lstrip().removeprefix(b"(")
    yield from ("".join(m[1].decode().split()).rpartition("::")[2] for m in _CALLED.finditer(parameters))
    if re.search(rb"\bfor\s*\([^;()]*[^:;()]:[^:;]", text[one.body.start_byte : one.body.end_byte]):
        yield from ("begin", "end", "operator++", "operator*", "operator!=")


def _types(text: bytes) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """The types that a text defines: their names, the words in what they are made of (bases, members, what an alias
    stands for; not the bodies of methods), and the functions that their initializers call.
    """

    def words(part: bytes) -> frozenset[str]:
        return frozenset(word.decode() for word in WORD.findall(part))

    for name, meant in _ALIAS_TYPE.findall(text):
        yield name.decode(), words(meant), frozenset()
    for meant, name in _TYPEDEF.findall(text):
        yield name.decode(), words(meant), frozenset()
    ends: dict[int, int] = {}  # of the classes behind, by where their bodies begin
    for match in reversed(list(_CLASS.finditer(text))):
        parts, start, depth, at = [match[2]], match.end(), 1, match.end()
        while depth and (brace := _BRACE.search(text, at)) is not None:
            at = brace.end()
            if at in ends:  # a class inside: it is known by its name
                parts.append(text[start:at])
                start = at = ends[at]
                parts.append(b"}")
                continue
            depth += 1 if brace[0] == b"{" else -1
            if depth == 2 and brace[0] == b"{" and _BODY.search(text, max(start, brace.start() - 200), brace.start()):
                parts.append(text[start : brace.start()] + b";")
                while depth > 1 and (brace := _BRACE.search(text, at)) is not None:
                    at = brace.end()
                    depth += 1 if brace[0] == b"{" else -1
                start = at
        ends[match.end()] = at
        statements = b"".join((*parts, text[start:at])).split(b";")
        called = (m for one in statements if _STARTS.match(one) for m in _CALLED.finditer(one))
        fields = b" ".join(one for one in statements if b"(" not in one or _STARTS.match(one))
        starts = frozenset("".join(m[1].decode().split()).rpartition("::")[2] for m in called)
        yield match[1].decode(), words(match[2] + b" " + fields), starts


_ALIAS_TYPE = re.compile(rb"\busing\s+(\w+)\s*=\s*([^;]*);")
_TYPEDEF = re.compile(rb"\btypedef\s+([^;{}]*?)(\w+)\s*;")
_CLASS = re.compile(
    rb"\b(?:struct|class|union)\s+(?:__align__\(\d+\)\s*|alignas\([^)]*\)\s*)?(\w+)\b(?!\s*[,>=])([^;{}()]*)\{"
)
_BRACE = re.compile(rb"[{}]")
_BODY = re.compile(rb"(?:\)|\b(?:const|noexcept|override|final|try))\s*(?::[^;]*|->[^;]*)?$")
_STARTS = re.compile(rb"[^(]*[^(=!<>]=[^=]|[^(]*\w\s*\{")


def _initialized(text: bytes, touched: Mapping[bytes, tuple[str, ...]]) -> dict[bytes, tuple[str, ...]]:
    """The variables of the device by name, each with those whose addresses it has from its initializer."""
    found = {name: dict.fromkeys(full) for name, full in touched.items()}
    edges = [
        (name, word)
        for match in _INITIALIZED.finditer(text)
        for name in {*WORD.findall(match[1])} & touched.keys()
        for word in {*WORD.findall(match[2])} & touched.keys()
    ]
    for _ in edges:  # a chain of pointers is as long as this
        for name, word in edges:
            found[name] |= found[word]
    return {name: tuple(full) for name, full in found.items()}


_INITIALIZED = re.compile(rb"\b(?:__device__|__managed__|__constant__|static)\b([^;(){}=]*)([={][^;]*);")


def _of_lambda(
    node: Node, text: bytes, path: str, macros: Mapping[str, Macro], touched: Mapping[bytes, tuple[str, ...]]
) -> ir.Kernel:
    """A lambda, which a kernel may be given: what it does besides to its arguments and to what it captures."""
    body = text[node.start_byte : node.end_byte]
    words = set(WORD.findall(body))
    for name in _in_macros(words, macros):
        words |= set(WORD.findall(macros[name].body))
        body += b"\n" + macros[name].body
    names = frozenset(name for word in words & touched.keys() for name in touched[word])
    called = {m[1].decode() for m in _CALLED.finditer(body)} - _KEYWORDS_TEXT
    return ir.Kernel(
        LAMBDA, (), frozenset(), frozenset(), _PRINTS.search(body) is not None, _TRAPS.search(body) is not None,
        names, names, frozenset(), ir.Span(path, node.start_byte, node.end_byte), True,
        frozenset(word.decode() for word in words), True, False, False,
        tuple(ir.DeviceCall(name, "", False, (), ()) for name in sorted(called) if device(name, 0) is None),
        times=_CLOCK.search(body) is not None,
    )  # fmt: skip


def _evaluated_unnamed(
    root: Node,
    text: bytes,
    path: str,
    index: Declarations,
    macros: Callable[[Node], Mapping[str, Macro]],
    touched: Mapping[bytes, tuple[str, ...]],
) -> Iterator[ir.Kernel]:
    """Default member initializers and default arguments that do more than read numbers, as functions without
    parameters: constructors of the class, and calls of the function, evaluate them (C++17, 15.6.2 [class.base.init] 9;
    11.3.6 [dcl.fct.default] 9). Those of a kernel are evaluated on the host.
    """
    launched = {one.name.rpartition("::")[2] for one in index.functions if one.side == "kernel"}
    for node in captures_of(_defaults(), root).get("default", ()):
        value = node.child_by_field_name("default_value")
        owner = _owner(node, text) if value is not None and value.type not in _PLAIN else ""
        if value is None or not owner or owner in launched:
            continue
        member = node.type == "field_declaration"
        words = set(WORD.findall(text, value.start_byte, value.end_byte))
        written = text[value.start_byte : value.end_byte]
        for name in _in_macros(words, macros(node)):
            written += b"\n" + macros(node)[name].body
        names = frozenset(name for word in {*WORD.findall(written)} & touched.keys() for name in touched[word])
        called = {"".join(match[1].decode().split()) for match in _CALLED.finditer(written)} - _KEYWORDS_TEXT
        calls = tuple(
            ir.DeviceCall(name, "", False, (), ())
            for name in sorted(called)
            if device(name, 0) is None and not index.is_type(name) and name not in macros(node)
        )
        prints, traps, times = (one.search(written) is not None for one in (_PRINTS, _TRAPS, _CLOCK))
        if names or calls or prints or traps or times:
            yield ir.Kernel(
                f"{owner}::{DEFAULT}", (), frozenset(), frozenset(), prints, traps, names, names, frozenset(),
                ir.Span(path, node.start_byte, node.end_byte), bool(names),
                frozenset(word.decode() for word in WORD.findall(written)), False, member, False, calls, times=times,
            )  # fmt: skip


def _owner(node: Node, text: bytes) -> str:
    """The last name of the class of a data member, or of the function of a parameter; "" if it has none."""
    within = node.parent
    while within is not None:
        if node.type == "field_declaration" and within.type in _CLASSES and within.child_by_field_name("name"):
            named = within.child_by_field_name("name")
        elif node.type != "field_declaration" and within.type == "function_declarator":
            named = within.child_by_field_name("declarator")
        else:
            within = within.parent
            continue
        name = text[named.start_byte : named.end_byte].decode("utf-8", "replace") if named is not None else ""
        return plain_name(name).rpartition("::")[2]
    return ""


_CLASSES = frozenset(("struct_specifier", "class_specifier", "union_specifier"))
_PLAIN = frozenset("number_literal char_literal string_literal true false null nullptr".split())


@cache
def _defaults() -> Query:
    return Query(Language(language()), "[(field_declaration) (optional_parameter_declaration)] @default")


def _scopes(text: bytes) -> ir.Scopes:
    def names(pattern: re.Pattern[bytes]) -> frozenset[str]:
        return frozenset("".join(found.decode().split()).removeprefix("::") for found in pattern.findall(text))

    aliases = frozenset((one.decode(), "".join(other.decode().split())) for one, other in _ALIAS.findall(text))
    return ir.Scopes(
        names(_NAMESPACE),
        names(_OPENS) | names(_USING),
        aliases,
        frozenset(w.decode() for w in _VALUE.findall(text)),
        tuple(_types(text)) if b"__device__" in text or b"__global__" in text or b"constexpr" in text else (),
    )


_NAMESPACE = re.compile(rb"\bnamespace\s+([\w:]+)\s*\{")
_OPENS = re.compile(rb"\busing\s+namespace\s+([\w:\s]+?)\s*;")
_USING = re.compile(rb"\busing\s+([\w:\s]+?)::\s*\w+\s*;")
_ALIAS = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::)?([\w:\s]+?)\s*;")
_VALUE = re.compile(rb"\b([A-Za-z_]\w*)\b(?=\s*[,;)}>=]|\s*<[\w\s,:*]*>\s*[,;)}>])")
_CALLED = re.compile(rb"((?:\b\w+\s*::\s*)*\b[A-Za-z_]\w*)\s*(?:<[\w\s,:*]*>\s*)?\(")
_KEYWORDS_TEXT = frozenset("if while for switch return sizeof alignof decltype defined asm __asm__".split()) | CASTS


@cache
def _lambdas() -> Query:
    return Query(Language(language()), "(lambda_expression) @lambda")


def _in_macros(words: Iterable[bytes], macros: Mapping[str, Macro]) -> list[str]:
    """The macros that a text uses, and those in their bodies."""
    found: dict[str, None] = {}
    queue = [word.decode() for word in words]
    while queue:
        name = queue.pop()
        if name in macros and name not in found:
            found[name] = None
            queue += [word.decode() for word in WORD.findall(macros[name].body)]
    return sorted(found)


def _times(body: Node, text: bytes, besides: bytes) -> bool:
    """Whether device code does more with a clock than wait until some time has passed, in a loop that does nothing.
    `besides`: what runs with the body, of macros and initializers.
    """
    if _CLOCK.search(besides):
        return True
    rest = bytearray(text[body.start_byte : body.end_byte])
    for loop in captures_of(_waits(), body).get("loop", ()):
        inner = loop.child_by_field_name("body")
        if inner is not None and _ONLY_WAITS.fullmatch(text, inner.start_byte, inner.end_byte):
            at, end = loop.start_byte - body.start_byte, loop.end_byte - body.start_byte
            rest[at:end] = b" " * (end - at)
    since = {found[1] or found[2] for found in _SET_BY_CLOCK.finditer(text, body.start_byte, body.end_byte)}
    left = _SET_BY_CLOCK.sub(b"", bytes(rest))
    declared = (found for found in _DECLARED.finditer(left) if since.issuperset(re.split(rb"\s*,\s*", found[1])))
    for found in reversed(list(declared)):
        left = left[: found.start()] + left[found.end() :]
    return _CLOCK.search(left) is not None or any(re.search(rb"\b%s\b" % name, left) for name in since)


def _evaluated(one: Definition) -> list[Node]:
    """What a call of a function evaluates: its body, and what stands between that and its parameters, where a
    constructor initializes bases and members (C++17, 15.6.2 [class.base.init] 7).
    """
    declarator = one.node.child_by_field_name("declarator")
    if declarator is None:
        return [one.body]
    between = (node for node in one.node.children if declarator.end_byte <= node.start_byte < one.body.start_byte)
    return [*(node for node in between if node.is_named), one.body]


def _summary(
    one: Definition,
    text: bytes,
    index: Declarations,
    macros: Mapping[str, Macro],
    touched: Mapping[bytes, tuple[str, ...]],
    made: Mapping[str, frozenset[str]],
) -> _Summary:
    parts = _evaluated(one)
    names = {param.name: number for number, (param, _) in enumerate(one.params) if param.name}
    kinds = {param.name: (param.type, param.by_reference) for param, _ in one.params}
    summary = _Summary(tuple(param.name for param, _ in one.params), scope=one.cls or one.namespace)
    body = b"\n".join(text[part.start_byte : part.end_byte] for part in parts)
    words = set(WORD.findall(body))
    used = _in_macros(words, macros)
    written_out = b"\n".join([body, *(macros[name].body for name in used)])
    summary.prints = _PRINTS.search(written_out) is not None or b"cout" in words
    summary.traps = _TRAPS.search(written_out) is not None
    besides = written_out[: len(body) - (one.body.end_byte - one.body.start_byte)] + written_out[len(body) :]
    summary.times = _CLOCK.search(written_out) is not None and _times(one.body, text, besides)
    if b"static" in words:
        touched = {**touched, **_statics(one, text, index)}
    here = {word: touched[word] for word in words & touched.keys()}
    summary.globals_read |= set().union(*here.values())
    summary.words = {sys.intern(word.decode()) for word in words - here.keys()} - names.keys()
    summary.words |= {
        sys.intern(f"operator{'[]' if sign == b'[' else sign.decode()}") for sign in _SIGNS.findall(written_out)
    }
    disguised = _TO_POINTER.search(written_out) is not None  # a number may be an address: `(float *)address`
    passed = {
        name
        for name, (kind, ref) in kinds.items()
        if ref or not is_number(kind) or (disguised and is_address_number(kind))
    }
    everything = frozenset(names[name] for name in passed if name)
    summary.reads |= {names[name] for name in passed if name.encode() in words and name}
    for name in used:
        macro = macros[name]
        inner = set(WORD.findall(macro.body))
        summary.words.update(sys.intern(found.decode()) for found in inner - touched.keys())
        for found in inner & touched.keys():
            summary.globals_read |= set(touched[found])
            summary.globals_written |= set(touched[found])
        for param in passed:
            if param.encode() in inner:
                summary.reads.add(names[param])
                summary.certain.add(names[param])
        local_names = frozenset(name for word in here for name in here[word])
        for match in _CALLED.finditer(macro.body):
            called = "".join(match[1].decode().split())
            if called not in macros and called not in _KEYWORDS_TEXT and called not in (macro.params or ()):
                given = (everything,) * MANY, (local_names,) * MANY
                if device(called, 0) is None and not index.is_type(called):
                    summary.calls.append(ir.DeviceCall(called, summary.scope, False, *given))
    if not passed and not here and one.cls is None and b"(" not in written_out:
        return summary
    captures: dict[str, list[Node]] = {}
    for part in parts:
        for kind, nodes in captures_of(_query(), part).items():
            captures.setdefault(kind, []).extend(nodes)
    numbers = {name: number for name, number in names.items() if name in passed}
    unparsed = [node for part in parts for node in _unparsed(part)]
    members = _members(one, words, index)
    roots = Origins(captures, unparsed, text, index, kinds, numbers, here, members, made)
    summary.keeps = _keeps_addresses(captures, roots, text, kinds, index)
    local = roots.local
    fields = {name: kind for cls in index.lineage(one.cls) for name, kind in cls.fields.items()} if one.cls else {}
    referring = {name for name in members if fields.get(name, "&").endswith("&")} - names.keys() - local.keys()

    def written(node: Node, by_method: bool = False) -> None:
        base, reached = roots.reached(node)
        reached |= by_method  # through what its members hold
        if base.type == "identifier":
            name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
            reached |= name in referring
            summary.stores |= reached and name not in names and name not in local and name.encode() not in here
        elif base.type != "this" or node.type != "field_expression":
            summary.stores = True
        if base.type == "identifier" and not reached:
            _, by_reference = kinds.get(name, ("", False))
            if name in names and not by_reference:
                return  # the kernel's own copy
            if name not in names and name.encode() not in here and name not in roots.references:
                return  # a local pointer is moved, not what it points to
        params, globals_ = roots.of(base)
        if base.type != "identifier":
            params, globals_ = roots.of(node)
        elif name in names:
            summary.certain |= params & {names[name]}  # it compiles: there is no `const`
        elif (
            by_method
            or b"." in (path := text[base.end_byte : node.end_byte])
            or b"->" in path
            or local.get(name, "*")[-1:] not in ("*", "]")
        ):
            summary.deep |= params
        summary.stores |= OUTSIDE in params
        summary.writes |= params
        summary.globals_written |= globals_

    for node in captures.get("assign", ()):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            written(left)
        if left is not None and right is not None and roots.reached(left)[0].type not in ("identifier", "this"):
            for name in roots.carried(right):  # another call may return it, whoever writes through that
                written_through(summary, roots.of_name(name))
    for node in captures.get("update", ()):
        argument = node.child_by_field_name("argument")
        if argument is not None:
            written(argument)
    for node in captures.get("new", ()):
        placement = node.child_by_field_name("placement")
        if placement is not None:
            written_through(summary, roots.of(placement))
        listed = [child for child in node.named_children if child.type == "argument_list"]
        if listed:  # `new (p) T(x)`
            written_through(summary, roots.of(listed[0]))
    for node in captures.get("call", ()):
        _call(node, text, summary, roots, written, kinds, macros, index, local, body)
    for node in unparsed:
        found = roots.of(node)
        written_through(summary, found)
        summary.keeps |= found[0] != frozenset()
        for match in _CALLED.finditer(text, node.start_byte, node.end_byte):
            name, arguments = "".join(match[1].decode().split()), ((found[0],) * MANY, (found[1],) * MANY)
            summary.calls.append(ir.DeviceCall(name, summary.scope, False, *arguments))
    in_parts = [roots.of(node) for node in _made_numbers(captures, roots, text, kinds, index)]
    in_parts += [roots.of_name(name) for name, kind in local.items() if roots.shows_parts(kind, b"union" in words)]
    for found in in_parts:  # which arithmetic gives the address back is not followed
        written_through(summary, found)
        summary.keeps |= found[0] != frozenset()
    if b"asm" in written_out and (acts := _assembly(written_out)):
        summary.certain |= everything
        summary.globals_read |= set().union(*touched.values())
        summary.globals_written |= set().union(*touched.values())
        summary.keeps = True
        summary.traps |= "trap" in acts or "exit" in acts
        summary.unknown.add("asm")
    pasted = any(b"##" in macros[name].body for name in used)
    if pasted:  # which names it makes is not known
        summary.unknown.add("##")
        summary.globals_read |= set().union(*touched.values())
        summary.globals_written |= set().union(*touched.values())
    head = text[one.node.start_byte : one.body.start_byte].partition(b"(")[0]
    if b"&" in head or (
        not is_number(one.returns) and one.returns != "void"
    ):  # its caller may write through what it returns
        summary.globals_written |= summary.globals_read
    if const := {
        number
        for number, (param, at) in enumerate(one.params)
        if number in summary.writes
        and _points_to_const(at, text, param)
        and _ends_there(param, body, index)
        and not (number in summary.deep and not holds_numbers(param, index))
    }:
        kept = _Const(text, {param.name for number, (param, _) in enumerate(one.params) if number in const}, index)
        summary.writes -= {names[name] for name in kept.of(parts)}
    if (bound := _initializers(one)) is not None and (OUTSIDE in summary.writes or summary.calls):
        # a reference may be bound there
        words = set(WORD.findall(text, bound.start_byte, bound.end_byte))
        summary.certain |= {number for name, number in names.items() if name in passed and name.encode() in words}
    summary.writes |= summary.certain
    summary.reads |= summary.certain
    return summary


def _initializers(one: Definition) -> Node | None:
    """What a constructor initializes the members with."""
    return next((child for child in one.node.children if child.type == "field_initializer_list"), None)


_SIGNS = re.compile(rb"(?:<<|>>)=?|->|&&|\|\||\+\+|--|[-+*/%&|^=!<>]=|[-+*/%&|^~!=<>]|\[(?=)")
_TO_POINTER = re.compile(rb"\*\s*(?:const\s*)?(?:__restrict__\s*)?(?:\)|>\s*\()|_cast\s*<")
# PTX ISA 9.0: instructions that write registers and shared memory of the block alone
_PTX_QUIET = re.compile(
    r"(?:mov|add|addc|sub|subc|mul|mul24|mad|madc|mad24|fma|div|rem|abs|neg|min|max|popc|clz|bfind|fns|brev|bfe|bfi|szext"
    r"|bmsk|dp4a|dp2a|sad|sqrt|rsqrt|rcp|sin|cos|lg2|ex2|tanh|copysign|testp|setp|set|selp|slct|and|or|xor|not|cnot|lop3"
    r"|shf|shl|shr|shfl|prmt|cvt|cvta|pack|mma|wmma|ldmatrix|movmatrix|wgmma|ld|ldu|prefetch|prefetchu|isspacep|vote|match"
    r"|activemask|bar|barrier|fence|membar|griddepcontrol|nanosleep|elect|redux|mapa|getctarank|setmaxnreg|tex|tld4|txq"
    r"|bra|ret|reg|pragma|discard|applypriority|createpolicy)(?:\.[\w:]+)*"
)
_PTX_SHARED = re.compile(
    r"(?:st|atom|red|stmatrix|cp\.async)[\w.:]*\.shared[\w.:]*|stmatrix[\w.:]*|mbarrier[\w.:]*|cp\.async[\w.:]*"
)
_ASSEMBLY = re.compile(rb"\b(?:asm|__asm|__asm__)\b\s*(?:volatile|__volatile__)?\s*\(")
_LITERAL = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def _assembly(text: bytes) -> set[str]:
    """The instructions in inline PTX that may write memory, stop the kernel, or are not known."""
    found: set[str] = set()
    for match in _ASSEMBLY.finditer(text):
        at = match.end()
        template = b""
        while (part := re.compile(rb'\s*"((?:[^"\\]|\\.)*)"').match(text, at)) is not None:
            template += part[1]
            at = part.end()
        if not template and text[at : at + 1] != b")":
            found.add("asm")  # its text is made by a macro
        for line in re.split(r"\\n|\\t|[;{}\n]", template.decode("utf-8", "replace")):
            said = re.sub(r"^\s*(?:\$?\w+\s*:)?\s*(?:@!?[%\w]+\s+)?\.?", "", line.partition("//")[0]).strip()
            word = said.split()[0] if said else ""
            to_shared = _PTX_SHARED.fullmatch(word) is not None and not word.startswith("cp.async.bulk")
            if word and not to_shared and _PTX_QUIET.fullmatch(word) is None:
                found.add(word.partition(".")[0])
    return found


class _Const:
    """Which pointers to `const` stay such: their value goes only where it is read, to calls, or to another of them."""

    def __init__(self, text: bytes, names: set[str], index: Declarations) -> None:
        self.text = text
        self.names = names
        self.index = index
        self.references: set[str] = set()  # to elements
        self.lost: set[str] = set()

    def of(self, parts: Iterable[Node]) -> set[str]:
        known = set(self.names)
        uses: dict[str, list[Node]] = {}
        for node in (found for part in parts for found in captures_of(_identifiers(), part).get("name", ())):
            uses.setdefault(self.text[node.start_byte : node.end_byte].decode("utf-8", "replace"), []).append(node)
        origin = {name: {name} for name in known}
        queue = list(known)
        while queue:
            name = queue.pop()
            for node in uses.get(name, ()):
                made = self._goes(node)
                if made is None:
                    self.lost |= origin[name]
                elif made and not origin[name] <= origin.setdefault(made, set()):
                    origin[made] |= origin[name]
                    queue.append(made)
        return self.names - self.lost

    def _goes(self, node: Node) -> str | None:
        """Where the value of a pointer goes: "" where it is only read, the other pointer or reference to `const`, None
        elsewhere. What reads as a type may be an argument: `View v(p);`.
        """
        if self.text[node.start_byte : node.end_byte].decode("utf-8", "replace") in self.references:
            return self._element(node)
        parent = node.parent if node.type != "type_identifier" else None
        while parent is not None:
            kind = parent.type
            if kind in ("subscript_expression", "subscript_argument_list", "field_expression", "init_declarator") and (
                parent.child_by_field_name("argument") == node or kind == "subscript_argument_list"
            ):
                # between the brackets stands the pointer: `i[p]`
                return self._element(parent.parent if kind == "subscript_argument_list" and parent.parent else parent)
            if kind == "pointer_expression":
                return self._element(parent) if parent.children[0].type == "*" else None
            if kind == "init_declarator":
                declarator = parent.child_by_field_name("declarator")
                declaration = parent.parent
                if declarator == node or declarator is None or declaration is None:
                    return ""
                written = self.text[declaration.start_byte : parent.start_byte]
                plain = re.search(rb"\bconst\b", written) or re.search(rb"\bauto\b", written)
                inner = declarator
                while inner.type == "pointer_declarator" and (d := inner.child_by_field_name("declarator")) is not None:
                    inner = d
                pointer = inner != declarator or re.search(rb"\bauto\b", written)
                if plain and pointer and inner.type == "identifier":
                    return self.text[inner.start_byte : inner.end_byte].decode("utf-8", "replace")
                return None
            if kind == "assignment_expression":
                left = parent.child_by_field_name("left")
                if left == node:
                    return ""
                if left is not None and left.type == "identifier":
                    name = self.text[left.start_byte : left.end_byte].decode("utf-8", "replace")
                    return name if name in self.names else None
                return None
            if kind.endswith("_declarator") and kind != "init_declarator":  # here it is declared
                return ""
            if kind in ("expression_statement", "update_expression", "condition_clause", "comma_expression"):
                return ""
            if kind == "binary_expression":
                operator = parent.child_by_field_name("operator")
                if operator is None or operator.type not in ("+", "-"):
                    return ""
            elif kind == "unary_expression":
                return ""
            elif kind == "cast_expression":
                at = parent.child_by_field_name("type")
                if at is None or (re.search(rb"\bconst\b", self.text[at.start_byte : at.end_byte]) is None):
                    return None
            elif kind == "conditional_expression":
                if parent.child_by_field_name("condition") == node:
                    return ""
            elif kind == "argument_list":
                return self._given(parent)
            elif kind != "parenthesized_expression":
                return None
            node, parent = parent, parent.parent
        return None

    def _element(self, node: Node) -> str | None:
        """Where an element goes: it is read, unless its address is taken, which is a pointer to `const` again, or
        something refers to it, which may lose the `const`.
        """
        parent = node.parent
        while parent is not None and parent.type in ("parenthesized_expression", "conditional_expression"):
            node, parent = parent, parent.parent
        if parent is None:
            return None
        if parent.type == "pointer_expression" and parent.children[0].type == "&":
            return self._goes(parent)
        if parent.type == "cast_expression":
            kind = parent.child_by_field_name("type")
            written = self.text[kind.start_byte : kind.end_byte] if kind is not None else b"&"
            return self._referred(parent, written) if b"&" in written else ""
        if parent.type == "argument_list":
            call = parent.parent
            function = call.child_by_field_name("function") if call is not None else None
            if call is None or function is None:
                return None
            written = self.text[function.start_byte : function.end_byte]
            name = plain_name(written.decode("utf-8", "replace")).rpartition("::")[2]
            if name in CASTS:
                return self._referred(call, written) if b"&" in written else ""
            return self._given(parent) if self.index.takes_reference(name) else ""
        declarator = parent.child_by_field_name("declarator") if parent.type == "init_declarator" else None
        if declarator is not None and declarator != node and declarator.type == "reference_declarator":
            name = self.text[declarator.start_byte : declarator.end_byte].decode("utf-8", "replace").strip("& \n\t")
            if not name.isidentifier():
                return None
            self.references.add(name)
            return name
        # what is `const` is not stored in: the grammar reads `(int &)r = 1` as a cast of what is stored
        stored = parent.type == "update_expression" or parent.child_by_field_name("left") == node
        is_store = parent.type == "lambda_capture_initializer" or (stored and parent.type != "binary_expression")
        return None if is_store else ""

    def _referred(self, node: Node, written: bytes) -> str | None:
        """A cast to a reference."""
        return self._element(node) if re.search(rb"\bconst\b", written.partition(b"<")[2] or written) else None

    def _given(self, arguments: Node) -> str | None:
        """A call says itself what it writes; a cast to a pointer to `const` is none."""
        call = arguments.parent
        function = call.child_by_field_name("function") if call is not None else None
        if call is None or function is None or call.type != "call_expression":
            return None
        written = self.text[function.start_byte : function.end_byte]
        if re.match(rb"(?:reinterpret|static|const|bit|dynamic)_cast\b", written):
            if re.search(rb"\bconst\b", written.partition(b"<")[2]) is None:
                return None
            return self._goes(call)
        known = device(plain_name(written.decode("utf-8", "replace")), arguments.named_child_count)
        return "" if known is not None else None  # it may hand it back without `const`


@cache
def _identifiers() -> Query:
    return Query(Language(language()), "[(identifier) (type_identifier)] @name")


def _call(
    node: Node,
    text: bytes,
    summary: _Summary,
    roots: Origins,
    written: Callable[..., None],
    kinds: Mapping[str, tuple[str, bool]],
    macros: Mapping[str, Macro],
    index: Declarations,
    local: Mapping[str, str],
    body: bytes,
) -> None:
    """What a call in device code may do to the memory that it is given."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    values = [child for child in arguments.children if child.is_named and child.type != "comment"]

    def all_written() -> None:
        for value in values:
            written_through(summary, roots.of(value))

    def calls(name: str, method: bool = False) -> None:
        given = [roots.of(value) for value in values]
        if any(value.end_byte - value.start_byte > LONG for value in values):
            all_written()
            summary.calls.append(ir.DeviceCall("", summary.scope, False, (), ()))
            return
        libraries = {
            scope.decode()
            for value in values
            for word in [*WORD.findall(text, value.start_byte, value.end_byte)]
            for scope in _SCOPE.findall(f"{kinds.get(word.decode(), ('',))[0]} {local.get(word.decode(), '')}".encode())
        }
        libraries |= {s.decode() for value in values for s in _SCOPE.findall(text, value.start_byte, value.end_byte)}
        params, names = tuple(one for one, _ in given), tuple(one for _, one in given)
        summary.calls.append(ir.DeviceCall(name, summary.scope, method, params, names, tuple(sorted(libraries))))

    if function.type == "field_expression":
        receiver, name_node = function.child_by_field_name("argument"), function.child_by_field_name("field")
        method = (
            plain_name(text[name_node.start_byte : name_node.end_byte].decode("utf-8", "replace")) if name_node else ""
        )
        row = device(f".{method}", len(values)) if not index.is_member(method) else None
        if receiver is not None and (row is None or row.effect is not Effect.HOST):
            written(receiver, True)
        for value in values:
            if roots.carries(value):
                written_through(summary, roots.of(value))
        calls(method, method=True)
        return
    if function.type == "lambda_expression":  # its body is read where it stands
        all_written()
        return
    if function.type not in NAMES_OF_CALLEES:
        written_through(summary, roots.of(function))
        all_written()
        calls("")  # what calls, casts and arrays give has no name
        return
    name = plain_name(text[function.start_byte : function.end_byte].decode("utf-8", "replace"))
    last = name.rpartition("::")[2]
    if last in CASTS or last in _KEYWORDS or function.type == "primitive_type":
        return
    if "::" not in name and (name in kinds or name in local):  # a function pointer, a functor, a lambda
        head = _head_of_lambda(name, body)  # a lambda's body is read where it stands
        words = WORD.findall(head) if head is not None else []
        lends = head is None or _LENDS.search(head) or any(index.references.may_be(word.decode()) for word in words)
        for value in values:
            if lends or roots.carries(value):
                written_through(summary, roots.of(value))
        if head is None:
            written_through(summary, roots.of(function))
            calls("")
        return
    macro = macros.get(name)
    if macro is not None and macro.params is not None:
        if not _MACRO_READS.fullmatch(macro.body):
            all_written()
        return
    if macro is not None:
        renamed = macro.body.decode("utf-8", "replace").strip()
        if re.fullmatch(r"[\w:]+", renamed) is None:
            all_written()
        calls(renamed if re.fullmatch(r"[\w:]+", renamed) else "")
        return
    if "::" not in name and index.class_of(last) is None and index.is_type(last):  # a conversion, or a template's class
        return
    made = index.class_of(name)
    if made is not None:  # its constructor, which runs wherever the class is named (`device_code`)
        if made.constructor in made.methods:
            calls(f"{name}::{last}")
        return
    if sites.is_api(last) and device(name, len(values)) is None:  # the device's own `cudaMalloc`, `cudaFree`
        all_written()
        if index.is_declared_function(last) or "::" in name:
            calls(name)
        return
    calls(name)


_SCOPE = re.compile(rb"(?<![\w:])(?:::)?([A-Za-z_]\w*)\s*::")


def _head_of_lambda(name: str, text: bytes) -> bytes | None:
    """The parameters of a lambda of this file that is kept under a name."""
    if not name.isidentifier():
        return None
    found = re.search(rb"\bauto\s+" + name.encode() + rb"\s*=\s*\[[^\]]*\]([^{;]*)", text)
    return found[1] if found is not None else None


_LENDS = re.compile(rb"[*&]|\bauto\b")  # in the head of a lambda: its body may write what it is given
_MACRO_READS = re.compile(rb"(?:(?!\+\+|--|[^=!<>]=[^=]|;|\w\s*\().)*", re.DOTALL)


def written_through(summary: _Summary, found: Roots) -> None:
    """Who is given this may write it, whatever `const` says."""
    summary.certain |= found[0]
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
    if holds_numbers(param, index):
        return True
    if index.class_of(param.type.rstrip(" *")) is not None:
        return False
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
    roots: Origins,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    index: Declarations,
) -> bool:
    """Whether an address may be stored in memory as a number, or byte by byte: `q[0] = (long)p`, `memcpy(q, &p, 8)`."""
    numbers = {  # or of a type that may be one: of a parameter of the template, of a name that is not seen
        name
        for name, kind in roots.local.items()
        if (index.means_number(kind) or (kind.isidentifier() and index.class_of(kind) is None))
        and roots.of_name(name)[0]
    }
    pointers = {name for name, kind in roots.local.items() if kind.endswith("*")}

    def leads(name: str) -> bool:
        return is_pointer(kinds[name][0]) if name in kinds else bool(roots.of_name(name)[0])

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
            return is_pointer(kinds[name][0]) if name in kinds else name in pointers and bool(roots.of_name(name)[0])
        return node.type == "binary_expression" and any(map(is_pointer_itself, node.named_children))

    for node in captures.get("assign", ()):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or right.type == "number_literal":
            continue
        base, reached = roots.reached(left)
        name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
        leads_out = name in kinds or name in pointers or name in roots.references  # not a variable of the kernel's own
        stores = base.type not in ("identifier", "this") or roots.of_name(name)[1] or (reached and leads_out)
        if stores and (has_address(right) or is_pointer_itself(right)):
            return True
    for node in captures.get("call", ()):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and arguments is not None and _COPIES_BYTES.match(text, function.start_byte):
            if any(map(has_address, arguments.named_children[1:])):
                return True
    return False


_IN_BYTES = re.compile(rb"(?:\w+::)*mem(?:cpy|move)\b")
_AS_NUMBER = re.compile(rb"(?:\w+::)*(?:bit_cast\b|__builtin_bit_cast\b|__cvta_generic_to_)")


def _made_numbers(
    captures: Mapping[str, list[Node]],
    roots: Origins,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    index: Declarations,
) -> Iterator[Node]:
    """Addresses that numbers are made of which are more than compared, and variables whose bytes are an address:
    `(size_t)p`, not `(size_t)p % 16 == 0`; `(char *)&p`, `memcpy(q, &p, 8)`.
    """

    def is_address(name: str) -> bool:
        kind = kinds[name][0] if name in kinds else roots.local.get(name, "")
        return is_pointer(kind) or (is_address_number(kind) and roots.holds_address(name))

    def is_place(node: Node) -> bool:
        while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
            node = node.named_children[-1]
        inner = node.child_by_field_name("argument") if node.type == "pointer_expression" else None
        return (
            inner is not None
            and inner.type == "identifier"
            and node.children[0].type == "&"
            and is_address(written(inner))
        )

    def written(node: Node | None) -> str:
        return text[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""

    casts = [
        (node, written(node.child_by_field_name("type")), node.child_by_field_name("value"))
        for node in captures.get("cast", ())
    ]
    for node in captures.get("call", ()):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        called = written(function)
        if function is None or arguments is None or not arguments.named_children:
            continue
        if _IN_BYTES.match(text, function.start_byte):
            yield from (value for value in arguments.named_children if is_place(value))
        if _AS_NUMBER.match(text, function.start_byte) or plain_name(called) in CASTS:
            casts.append((node, called.partition("<")[2].rpartition(">")[0], arguments.named_children[-1]))
    for node, kind, value in casts:
        if value is not None and is_place(value):
            yield value
        if value is None or kind.rstrip().endswith(("*", "&", ")")) or index.class_of(kind.strip()) is not None:
            continue
        if any(map(is_address, roots.carried(value))) and not _is_only_compared(node, text):
            yield value


def _is_only_compared(node: Node, text: bytes) -> bool:
    """Whether of a number only a truth value, a remainder or a few of its bits are used."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "cast_expression", "binary_expression"):
        operator = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
        other = parent.child_by_field_name("right") if operator is not None else None
        if operator is not None and operator.type in ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "%"):
            return True
        if operator is not None and operator.type == "&" and other is not None and other.type == "number_literal":
            return True
        parent = parent.parent
    return False


def _statics(one: Definition, text: bytes, index: Declarations) -> dict[bytes, tuple[str, ...]]:
    """The variables of a function that each call of it finds as the one before has left them (CUDA C++ Programming
    Guide, "Static Variables within Function"); of those in shared memory each block has its own.
    """
    found: dict[bytes, tuple[str, ...]] = {}
    for node in captures_of(_query(), one.body).get("init", ()):
        words = WORD.findall(text, node.start_byte, node.end_byte) if node.type == "declaration" else ()
        if b"static" in words and b"__shared__" not in words:
            for declarator in node.children_by_field_name("declarator"):
                variable = declared(base_type(node, text, index), declarator, text)
                if variable is not None:
                    found[variable.name.encode()] = (f"{one.name}::{variable.name}",)
    return found


def _members(one: Definition, words: Iterable[bytes], index: Declarations) -> frozenset[str]:
    """The names in a method that may be members of its object."""
    if one.cls is None:
        return frozenset()
    classes = list(index.lineage(one.cls))
    if not classes or any(index.class_of(base) is None for cls in classes for base in cls.bases):
        return frozenset(word.decode() for word in words)
    return frozenset(name for cls in classes for name in cls.fields)


def _made(
    root: Node, text: bytes, functions: Iterable[Definition], touched: Mapping[bytes, tuple[str, ...]]
) -> dict[str, frozenset[str]]:
    """The variables of the device that the text of a class names, its initializers and constructors: its objects may
    hold their addresses.
    """
    found: dict[str, frozenset[str]] = {}
    nodes = [
        (text[at.start_byte : at.end_byte].decode("utf-8", "replace"), node)
        for node in captures_of(_classes(), root).get("class", ())
        if (at := node.child_by_field_name("name")) is not None
    ]
    nodes += [(one.cls, one.node) for one in functions if one.cls is not None]
    for name, node in nodes:
        named = {full for word in WORD.findall(text, node.start_byte, node.end_byte) for full in touched.get(word, ())}
        last = name.rpartition("::")[2]
        found[last] = found.get(last, frozenset()) | named
    return found


@cache
def _classes() -> Query:
    return Query(Language(language()), "[(struct_specifier) (class_specifier)] @class")


def _unparsed(body: Node) -> list[Node]:
    """What the grammar could not read, with what stands in front of it: `counter<T> = 1` is a type and an error to it.
    May be anything.
    """
    found: list[Node] = []
    stack = [body]
    while stack:
        node = stack.pop()
        if node.is_error:
            before = node.prev_named_sibling
            found += [node] if before is None else [before, node]
        elif node.has_error:
            stack += node.children
    return found
