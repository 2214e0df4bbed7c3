"""What the body of a function of the device does, by itself: what it reads, writes, prints, calls and touches."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Language, Node, Query
from tree_sitter_cuda import language

from cudafix import ir
from cudafix.frontends.cuda.parse.queries import captures as captures_of
from cudafix.frontends.cuda.preprocess.expansion import stands_for_another
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import Declarations, Definition
from cudafix.frontends.cuda.sema.declarators import declared
from cudafix.frontends.cuda.sema.device_addresses import Const, keeps_addresses, made_numbers
from cudafix.frontends.cuda.sema.heads import base_type
from cudafix.frontends.cuda.sema.names import CASTS
from cudafix.frontends.cuda.sema.origins import LONG, NAMES_OF_CALLEES, OUTSIDE, Origins, Roots, holds_numbers
from cudafix.frontends.cuda.sema.type_texts import is_pointer, plain_name
from cudafix.ir.device_code import MANY
from cudafix.ir.names import WORD_IN_BYTES
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
PRINTS = re.compile(rb"\b(?:printf|vprintf|puts)\s*\(")
TRAPS = re.compile(rb"\b(?:assert|__trap|__assert_fail|__builtin_trap|abort)\s*\(|\btrap;")
_KEYWORDS = frozenset(b"if while for switch return sizeof alignof decltype static_cast".decode().split())
# CUDA C++ Programming Guide, "Time Function"; PTX ISA, special registers `%clock`, `%clock64`, `%globaltimer`
CLOCK = re.compile(
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
class Summary:
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


CALLED = re.compile(rb"((?:\b\w+\s*::\s*)*\b[A-Za-z_]\w*)\s*(?:<[\w\s,:*]*>\s*)?\(")
KEYWORDS_TEXT = frozenset("if while for switch return sizeof alignof decltype defined asm __asm__".split()) | CASTS


def in_macros(words: Iterable[bytes], macros: Mapping[str, Macro]) -> list[str]:
    """The macros that a text uses, and those in their bodies."""
    found: dict[str, None] = {}
    queue = [word.decode() for word in words]
    while queue:
        name = queue.pop()
        if name in macros and name not in found:
            found[name] = None
            queue += [word.decode() for word in WORD_IN_BYTES.findall(macros[name].body)]
    return sorted(found)


def _times(body: Node, text: bytes, besides: bytes) -> bool:
    """Whether device code does more with a clock than wait until some time has passed, in a loop that does nothing.
    `besides`: what runs with the body, of macros and initializers.
    """
    if CLOCK.search(besides):
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
    return CLOCK.search(left) is not None or any(re.search(rb"\b%s\b" % name, left) for name in since)


def _evaluated(one: Definition) -> list[Node]:
    """What a call of a function evaluates: its body, and what stands between that and its parameters, where a
    constructor initializes bases and members (C++17, 15.6.2 [class.base.init] 7).
    """
    declarator = one.node.child_by_field_name("declarator")
    if declarator is None:
        return [one.body]
    between = (node for node in one.node.children if declarator.end_byte <= node.start_byte < one.body.start_byte)
    return [*(node for node in between if node.is_named), one.body]


def summary(
    one: Definition,
    text: bytes,
    index: Declarations,
    macros: Mapping[str, Macro],
    touched: Mapping[bytes, tuple[str, ...]],
    made: Mapping[str, frozenset[str]],
) -> Summary:
    parts = _evaluated(one)
    names = {param.name: number for number, (param, _) in enumerate(one.params) if param.name}
    kinds = {param.name: (param.type, param.by_reference) for param, _ in one.params}
    summary = Summary(tuple(param.name for param, _ in one.params), scope=one.cls or one.namespace)
    body = b"\n".join(text[part.start_byte : part.end_byte] for part in parts)
    words = set(WORD_IN_BYTES.findall(body))
    used = in_macros(words, macros)
    written_out = b"\n".join([body, *(macros[name].body for name in used)])
    summary.prints = PRINTS.search(written_out) is not None or b"cout" in words
    summary.traps = TRAPS.search(written_out) is not None
    besides = written_out[: len(body) - (one.body.end_byte - one.body.start_byte)] + written_out[len(body) :]
    summary.times = CLOCK.search(written_out) is not None and _times(one.body, text, besides)
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
        inner = set(WORD_IN_BYTES.findall(macro.body))
        summary.words.update(sys.intern(found.decode()) for found in inner - touched.keys())
        for found in inner & touched.keys():
            summary.globals_read |= set(touched[found])
            summary.globals_written |= set(touched[found])
        for param in passed:
            if param.encode() in inner:
                summary.reads.add(names[param])
                summary.certain.add(names[param])
        local_names = frozenset(name for word in here for name in here[word])
        for match in CALLED.finditer(macro.body):
            called = "".join(match[1].decode().split())
            if called not in macros and called not in KEYWORDS_TEXT and called not in (macro.params or ()):
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
    summary.keeps = keeps_addresses(captures, roots, text, kinds, index)
    local = roots.local
    if any(stands_for_another(macros[name]) and (name in names or name in local) for name in used):
        summary.certain |= everything  # what is called so here is something else
        summary.globals_written |= summary.globals_read
        summary.keeps = True
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
        for match in CALLED.finditer(text, node.start_byte, node.end_byte):
            name, arguments = "".join(match[1].decode().split()), ((found[0],) * MANY, (found[1],) * MANY)
            summary.calls.append(ir.DeviceCall(name, summary.scope, False, *arguments))
    in_parts = [roots.of(node) for node in made_numbers(captures, roots, text, kinds, index)]
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
        kept = Const(text, {param.name for number, (param, _) in enumerate(one.params) if number in const}, index)
        summary.writes -= {names[name] for name in kept.of(parts)}
    if (bound := _initializers(one)) is not None and (OUTSIDE in summary.writes or summary.calls):
        # a reference may be bound there
        words = set(WORD_IN_BYTES.findall(text, bound.start_byte, bound.end_byte))
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


def _call(
    node: Node,
    text: bytes,
    summary: Summary,
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
            for word in [*WORD_IN_BYTES.findall(text, value.start_byte, value.end_byte)]
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
        words = WORD_IN_BYTES.findall(head) if head is not None else []
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


def written_through(summary: Summary, found: Roots) -> None:
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


def _statics(one: Definition, text: bytes, index: Declarations) -> dict[bytes, tuple[str, ...]]:
    """The variables of a function that each call of it finds as the one before has left them (CUDA C++ Programming
    Guide, "Static Variables within Function"); of those in shared memory each block has its own.
    """
    found: dict[bytes, tuple[str, ...]] = {}
    for node in captures_of(_query(), one.body).get("init", ()):
        words = WORD_IN_BYTES.findall(text, node.start_byte, node.end_byte) if node.type == "declaration" else ()
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
