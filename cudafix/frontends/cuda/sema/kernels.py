"""What kernels do: which parameters they read and write, whether they print or trap, which globals they touch.

Device code is summarized by name, not executed: a parameter is written if a place that is reached through it, or
through a local pointer that may have come from it, is assigned, incremented, or handed to what may write it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from tree_sitter import Language, Node, Query
from tree_sitter_cuda import language

from cudafix import ir
from cudafix.frontends.cuda.parse.queries import captures as captures_of
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema.declarations import Declarations, Definition
from cudafix.frontends.cuda.sema.declarators import CLASS_NODES
from cudafix.frontends.cuda.sema.device_clocks import CLOCK
from cudafix.frontends.cuda.sema.device_functions import (
    CALLED,
    KEYWORDS_TEXT,
    PRINTS,
    TRAPS,
    Summary,
    in_macros,
    summary,
)
from cudafix.frontends.cuda.sema.type_texts import plain_name
from cudafix.ir.device_code import DEFAULT, LAMBDA, MANY, TEMPLATE, closed
from cudafix.ir.names import WORD_IN_BYTES
from cudafix.models.device import device

_INTRODUCER = re.compile(rb"\](?!\s*[;,=)\].+*/%&|?:])")  # what stands behind the `]` of an array begins no lambda


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

    device = [_described(one, summary(one, text, index, macros(one.node), touched, made), text, path) for one in found]
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


def _described(one: Definition, summary: Summary, text: bytes, path: str) -> ir.Kernel:
    head = text[one.node.start_byte : one.body.start_byte]
    words = {word.decode() for word in WORD_IN_BYTES.findall(head)}
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
    yield from ("".join(m[1].decode().split()).rpartition("::")[2] for m in CALLED.finditer(parameters))
    if re.search(rb"\bfor\s*\([^;()]*[^:;()]:[^:;]", text[one.body.start_byte : one.body.end_byte]):
        yield from ("begin", "end", "operator++", "operator*", "operator!=")


def _types(text: bytes) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """The types that a text defines: their names, the words in what they are made of (bases, members, what an alias
    stands for; not the bodies of methods), and the functions that their initializers call.
    """

    def words(part: bytes) -> frozenset[str]:
        return frozenset(word.decode() for word in WORD_IN_BYTES.findall(part))

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
        called = (m for one in statements if _STARTS.match(one) for m in CALLED.finditer(one))
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
        for name in {*WORD_IN_BYTES.findall(match[1])} & touched.keys()
        for word in {*WORD_IN_BYTES.findall(match[2])} & touched.keys()
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
    words = set(WORD_IN_BYTES.findall(body))
    for name in in_macros(words, macros):
        words |= set(WORD_IN_BYTES.findall(macros[name].body))
        body += b"\n" + macros[name].body
    names = frozenset(name for word in words & touched.keys() for name in touched[word])
    called = {m[1].decode() for m in CALLED.finditer(body)} - KEYWORDS_TEXT
    return ir.Kernel(
        LAMBDA, (), frozenset(), frozenset(), PRINTS.search(body) is not None, TRAPS.search(body) is not None,
        names, names, frozenset(), ir.Span(path, node.start_byte, node.end_byte), True,
        frozenset(word.decode() for word in words), True, False, False,
        tuple(ir.DeviceCall(name, "", False, (), ()) for name in sorted(called) if device(name, 0) is None),
        times=CLOCK.search(body) is not None,
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
        words = set(WORD_IN_BYTES.findall(text, value.start_byte, value.end_byte))
        written = text[value.start_byte : value.end_byte]
        for name in in_macros(words, macros(node)):
            written += b"\n" + macros(node)[name].body
        names = frozenset(name for word in {*WORD_IN_BYTES.findall(written)} & touched.keys() for name in touched[word])
        called = {"".join(match[1].decode().split()) for match in CALLED.finditer(written)} - KEYWORDS_TEXT
        calls = tuple(
            ir.DeviceCall(name, "", False, (), ())
            for name in sorted(called)
            if device(name, 0) is None and not index.is_type(name) and name not in macros(node)
        )
        prints, traps, times = (one.search(written) is not None for one in (PRINTS, TRAPS, CLOCK))
        if names or calls or prints or traps or times:
            yield ir.Kernel(
                f"{owner}::{DEFAULT}", (), frozenset(), frozenset(), prints, traps, names, names, frozenset(),
                ir.Span(path, node.start_byte, node.end_byte), bool(names),
                frozenset(map(bytes.decode, WORD_IN_BYTES.findall(written))), False, member, False, calls, times=times,
            )  # fmt: skip


def _owner(node: Node, text: bytes) -> str:
    """The last name of the class of a data member, or of the function of a parameter; "" if it has none."""
    within = node.parent
    while within is not None:
        if node.type == "field_declaration" and within.type in CLASS_NODES and within.child_by_field_name("name"):
            named = within.child_by_field_name("name")
        elif node.type != "field_declaration" and within.type == "function_declarator":
            named = within.child_by_field_name("declarator")
        else:
            within = within.parent
            continue
        name = text[named.start_byte : named.end_byte].decode("utf-8", "replace") if named is not None else ""
        return plain_name(name).rpartition("::")[2]
    return ""


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


@cache
def _lambdas() -> Query:
    return Query(Language(language()), "(lambda_expression) @lambda")


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
        named = {
            full
            for word in WORD_IN_BYTES.findall(text, node.start_byte, node.end_byte)
            for full in touched.get(word, ())
        }
        last = name.rpartition("::")[2]
        found[last] = found.get(last, frozenset()) | named
    return found


@cache
def _classes() -> Query:
    return Query(Language(language()), "[(struct_specifier) (class_specifier)] @class")
