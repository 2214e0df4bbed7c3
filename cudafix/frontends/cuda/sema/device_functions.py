"""What the body of a function of the device does, by itself: what it reads, writes, prints, calls and touches."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
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
from cudafix.frontends.cuda.sema.device_clocks import CLOCK, times
from cudafix.frontends.cuda.sema.heads import base_type
from cudafix.frontends.cuda.sema.names import CASTS
from cudafix.frontends.cuda.sema.origins import LONG, NAMES_OF_CALLEES, OUTSIDE, Origins, Roots, holds_numbers
from cudafix.frontends.cuda.sema.ptx import instructions
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
    """What a function does by itself. `touched` are the variables that words name, `made` what functions return."""
    body = _Body(one, text, index, macros, touched)
    found = Summary(tuple(param.name for param, _ in one.params), scope=one.cls or one.namespace)
    _read_words(body, found)
    for name in body.used:
        _read_macro(body, found, name)
    if body.passed or body.here or one.cls is not None or b"(" in body.written_out:
        _Memory(body, found, made).read()
        _read_unknown_text(body, found)
        _leave_const(body, found)
        found.writes |= found.certain
        found.reads |= found.certain
    return found


class _Body:
    """What a call of a function evaluates, and the names in there. `passed` are the parameters that may lead to memory,
    `everything` their numbers, `here` the words that name variables outside, `used` the macros.
    """

    def __init__(
        self,
        one: Definition,
        text: bytes,
        index: Declarations,
        macros: Mapping[str, Macro],
        touched: Mapping[bytes, tuple[str, ...]],
    ) -> None:
        self.one = one
        self.text = text
        self.index = index
        self.macros = macros
        self.parts = _evaluated(one)
        self.names = {param.name: number for number, (param, _) in enumerate(one.params) if param.name}
        self.kinds = {param.name: (param.type, param.by_reference) for param, _ in one.params}
        self.body = b"\n".join(text[part.start_byte : part.end_byte] for part in self.parts)
        self.words = set(WORD_IN_BYTES.findall(self.body))
        self.used = in_macros(self.words, macros)
        self.written_out = b"\n".join([self.body, *(macros[name].body for name in self.used)])
        self.touched = {**touched, **_statics(one, text, index)} if b"static" in self.words else touched
        self.here = {word: self.touched[word] for word in self.words & self.touched.keys()}
        disguised = _TO_POINTER.search(self.written_out) is not None  # a number may be an address: `(float *)address`
        self.passed = {
            name
            for name, (kind, ref) in self.kinds.items()
            if ref or not is_number(kind) or (disguised and is_address_number(kind))
        }
        self.everything = frozenset(self.names[name] for name in self.passed if name)

    def all_touched(self) -> set[str]:
        """All variables outside."""
        return set().union(*self.touched.values())


def _read_words(body: _Body, found: Summary) -> None:
    """What the words in a function say."""
    one, words, written_out = body.one, body.words, body.written_out
    found.prints = PRINTS.search(written_out) is not None or b"cout" in words
    found.traps = TRAPS.search(written_out) is not None
    end = len(body.body)
    besides = written_out[: end - (one.body.end_byte - one.body.start_byte)] + written_out[end:]
    found.times = CLOCK.search(written_out) is not None and times(one.body, body.text, besides)
    found.globals_read |= set().union(*body.here.values())
    found.words = {sys.intern(word.decode()) for word in words - body.here.keys()} - body.names.keys()
    found.words |= {
        sys.intern(f"operator{'[]' if sign == b'[' else sign.decode()}") for sign in _SIGNS.findall(written_out)
    }
    found.reads |= {body.names[name] for name in body.passed if name.encode() in words and name}


def _read_macro(body: _Body, found: Summary, name: str) -> None:
    """What a macro does that a function uses: it may write whatever it names, and call with whatever is there."""
    macro = body.macros[name]
    inner = set(WORD_IN_BYTES.findall(macro.body))
    found.words.update(sys.intern(word.decode()) for word in inner - body.touched.keys())
    for word in inner & body.touched.keys():
        found.globals_read |= set(body.touched[word])
        found.globals_written |= set(body.touched[word])
    for param in body.passed:
        if param.encode() in inner:
            found.reads.add(body.names[param])
            found.certain.add(body.names[param])
    outside = frozenset(name for word in body.here for name in body.here[word])
    for match in CALLED.finditer(macro.body):
        called = "".join(match[1].decode().split())
        if called not in body.macros and called not in KEYWORDS_TEXT and called not in (macro.params or ()):
            if device(called, 0) is None and not body.index.is_type(called):
                given = (body.everything,) * MANY, (outside,) * MANY
                found.calls.append(ir.DeviceCall(called, found.scope, False, *given))


def _read_unknown_text(body: _Body, found: Summary) -> None:
    """What assembly, and names that macros make, may do."""
    one = body.one
    if b"asm" in body.written_out and (acts := instructions(body.written_out)):
        found.certain |= body.everything
        found.globals_read |= body.all_touched()
        found.globals_written |= body.all_touched()
        found.keeps = True
        found.traps |= "trap" in acts or "exit" in acts
        found.unknown.add("asm")
    if any(b"##" in body.macros[name].body for name in body.used):  # which names it makes is not known
        found.unknown.add("##")
        found.globals_read |= body.all_touched()
        found.globals_written |= body.all_touched()
    head = body.text[one.node.start_byte : one.body.start_byte].partition(b"(")[0]
    if b"&" in head or not (is_number(one.returns) or one.returns == "void"):
        found.globals_written |= found.globals_read  # its caller may write through what it returns


def _leave_const(body: _Body, found: Summary) -> None:
    """What `const` says is not written, after all that is written; but where a reference may be bound."""
    one, text = body.one, body.text
    const = {
        number
        for number, (param, at) in enumerate(one.params)
        if number in found.writes
        and _points_to_const(at, text, param)
        and _ends_there(param, body.body, body.index)
        and not (number in found.deep and not holds_numbers(param, body.index))
    }
    if const:
        kept = Const(text, {param.name for number, (param, _) in enumerate(one.params) if number in const}, body.index)
        found.writes -= {body.names[name] for name in kept.of(body.parts)}
    if (bound := _initializers(one)) is not None and (OUTSIDE in found.writes or found.calls):
        words = set(WORD_IN_BYTES.findall(text, bound.start_byte, bound.end_byte))
        named = (item for item in body.names.items() if item[0] in body.passed)
        found.certain |= {number for name, number in named if name.encode() in words}


class _Memory:
    """What the statements of a function do to memory, by its tree."""

    def __init__(self, body: _Body, found: Summary, made: Mapping[str, frozenset[str]]) -> None:
        self._body = body
        self._found = found
        self._text = body.text
        self._captures: dict[str, list[Node]] = {}
        for part in body.parts:
            for kind, nodes in captures_of(_query(), part).items():
                self._captures.setdefault(kind, []).extend(nodes)
        self._unparsed = [node for part in body.parts for node in _unparsed(part)]
        numbers = {name: number for name, number in body.names.items() if name in body.passed}
        members = _members(body.one, body.words, body.index)
        self._roots = Origins(
            self._captures, self._unparsed, body.text, body.index, body.kinds, numbers, body.here, members, made
        )
        self._local = self._roots.local
        lineage = body.index.lineage(body.one.cls) if body.one.cls else ()
        fields = {name: kind for cls in lineage for name, kind in cls.fields.items()}
        referring = {name for name in members if fields.get(name, "&").endswith("&")}
        self._referring = referring - body.names.keys() - self._local.keys()  # members that may be references

    def read(self) -> None:
        """Read all statements."""
        body, found, roots = self._body, self._found, self._roots
        found.keeps = keeps_addresses(self._captures, roots, self._text, body.kinds, body.index)
        hidden = (name for name in body.used if name in body.names or name in self._local)
        if any(stands_for_another(body.macros[name]) for name in hidden):
            found.certain |= body.everything  # what is called so here is something else
            found.globals_written |= found.globals_read
            found.keeps = True
        for node in self._captures.get("assign", ()):
            self._assignment(node)
        for node in self._captures.get("update", ()):
            argument = node.child_by_field_name("argument")
            if argument is not None:
                self._written(argument)
        for node in self._captures.get("new", ()):
            self._new(node)
        for node in self._captures.get("call", ()):
            self._call(node)
        for node in self._unparsed:
            self._unread(node)
        in_parts = [roots.of(node) for node in made_numbers(self._captures, roots, self._text, body.kinds, body.index)]
        kinds = self._local.items()
        in_parts += [roots.of_name(name) for name, kind in kinds if roots.shows_parts(kind, b"union" in body.words)]
        for one in in_parts:  # which arithmetic gives the address back is not followed
            written_through(found, one)
            found.keeps |= one[0] != frozenset()

    def _of(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            self._written(left)
        if left is not None and right is not None and self._roots.reached(left)[0].type not in ("identifier", "this"):
            for name in self._roots.carried(right):  # another call may return it, whoever writes through that
                written_through(self._found, self._roots.of_name(name))

    def _new(self, node: Node) -> None:
        placement = node.child_by_field_name("placement")
        if placement is not None:
            written_through(self._found, self._roots.of(placement))
        listed = [child for child in node.named_children if child.type == "argument_list"]
        if listed:  # `new (p) T(x)`
            written_through(self._found, self._roots.of(listed[0]))

    def _unread(self, node: Node) -> None:
        found = self._roots.of(node)
        written_through(self._found, found)
        self._found.keeps |= found[0] != frozenset()
        for match in CALLED.finditer(self._text, node.start_byte, node.end_byte):
            name, arguments = "".join(match[1].decode().split()), ((found[0],) * MANY, (found[1],) * MANY)
            self._found.calls.append(ir.DeviceCall(name, self._found.scope, False, *arguments))

    def _written(self, node: Node, by_method: bool = False) -> None:
        """A place is written; `by_method`, through what its members hold too."""
        body, found, roots, text = self._body, self._found, self._roots, self._text
        base, reached = roots.reached(node)
        reached |= by_method
        if base.type != "identifier":
            found.stores |= base.type != "this" or node.type != "field_expression"
            params, globals_ = roots.of(node)
        else:
            name = self._of(base)
            outside = name.encode() in body.here
            reached |= name in self._referring
            found.stores |= reached and name not in body.names and name not in self._local and not outside
            if not reached and name in body.names and not body.kinds.get(name, ("", False))[1]:
                return  # the kernel's own copy
            if not reached and name not in body.names and not outside and name not in roots.references:
                return  # a local pointer is moved, not what it points to
            params, globals_ = roots.of(base)
            path = text[base.end_byte : node.end_byte]
            if name in body.names:
                found.certain |= params & {body.names[name]}  # it compiles: there is no `const`
            elif by_method or b"." in path or b"->" in path or self._local.get(name, "*")[-1:] not in ("*", "]"):
                found.deep |= params
        found.stores |= OUTSIDE in params
        found.writes |= params
        found.globals_written |= globals_

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _call(self, node: Node) -> None:
        """What a call in device code may do to the memory that it is given."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        values = [child for child in arguments.children if child.is_named and child.type != "comment"]
        if function.type == "field_expression":
            self._method(function, values)
        elif function.type == "lambda_expression":  # its body is read where it stands
            self._all_written(values)
        elif function.type not in NAMES_OF_CALLEES:
            written_through(self._found, self._roots.of(function))
            self._all_written(values)
            self._calls("", values)  # what calls, casts and arrays give has no name
        elif function.type != "primitive_type":
            self._named(function, plain_name(self._of(function)), values)

    def _all_written(self, values: Iterable[Node]) -> None:
        for value in values:
            written_through(self._found, self._roots.of(value))

    def _calls(self, name: str, values: Sequence[Node], method: bool = False) -> None:
        """A function is called with these values, which it may or may not have."""
        found, text = self._found, self._text
        given = [self._roots.of(value) for value in values]
        if any(value.end_byte - value.start_byte > LONG for value in values):
            self._all_written(values)
            found.calls.append(ir.DeviceCall("", found.scope, False, (), ()))
            return
        libraries = {
            scope.decode()
            for value in values
            for word in map(bytes.decode, WORD_IN_BYTES.findall(text, value.start_byte, value.end_byte))
            for scope in _SCOPE.findall(f"{self._body.kinds.get(word, ('',))[0]} {self._local.get(word, '')}".encode())
        }
        libraries |= {s.decode() for value in values for s in _SCOPE.findall(text, value.start_byte, value.end_byte)}
        params, names = tuple(one for one, _ in given), tuple(one for _, one in given)
        found.calls.append(ir.DeviceCall(name, found.scope, method, params, names, tuple(sorted(libraries))))

    def _method(self, function: Node, values: Sequence[Node]) -> None:
        receiver, named = function.child_by_field_name("argument"), function.child_by_field_name("field")
        method = plain_name(self._of(named)) if named is not None else ""
        row = device(f".{method}", len(values)) if not self._body.index.is_member(method) else None
        if receiver is not None and (row is None or row.effect is not Effect.HOST):
            self._written(receiver, True)
        self._all_written(value for value in values if self._roots.carries(value))
        self._calls(method, values, method=True)

    def _named(self, function: Node, name: str, values: Sequence[Node]) -> None:
        """A call by a name."""
        body, index = self._body, self._body.index
        last = name.rpartition("::")[2]
        if last in CASTS or last in _KEYWORDS:
            return
        if "::" not in name and (name in body.kinds or name in self._local):  # a function pointer, a functor, a lambda
            self._local_callee(function, name, values)
        elif (macro := body.macros.get(name)) is not None and macro.params is not None:
            if not _MACRO_READS.fullmatch(macro.body):
                self._all_written(values)
        elif macro is not None:
            renamed = macro.body.decode("utf-8", "replace").strip()
            is_name = re.fullmatch(r"[\w:]+", renamed) is not None
            if not is_name:
                self._all_written(values)
            self._calls(renamed if is_name else "", values)
        elif "::" not in name and index.class_of(last) is None and index.is_type(last):
            return  # a conversion, or a template's class
        elif (made := index.class_of(name)) is not None:
            if made.constructor in made.methods:  # it runs wherever the class is named (`device_code`)
                self._calls(f"{name}::{last}", values)
        elif sites.is_api(last) and device(name, len(values)) is None:  # the device's own `cudaMalloc`, `cudaFree`
            self._all_written(values)
            if index.is_declared_function(last) or "::" in name:
                self._calls(name, values)
        else:
            self._calls(name, values)

    def _local_callee(self, function: Node, name: str, values: Sequence[Node]) -> None:
        """A variable of the function is called. The body of a lambda is read where it stands."""
        head, references = _head_of_lambda(name, self._body.body), self._body.index.references
        words = WORD_IN_BYTES.findall(head) if head is not None else []
        lends = head is None or _LENDS.search(head) or any(references.may_be(word.decode()) for word in words)
        self._all_written(value for value in values if lends or self._roots.carries(value))
        if head is None:
            written_through(self._found, self._roots.of(function))
            self._calls("", values)


def _initializers(one: Definition) -> Node | None:
    """What a constructor initializes the members with."""
    return next((child for child in one.node.children if child.type == "field_initializer_list"), None)


_SIGNS = re.compile(rb"(?:<<|>>)=?|->|&&|\|\||\+\+|--|[-+*/%&|^=!<>]=|[-+*/%&|^~!=<>]|\[(?=)")
_TO_POINTER = re.compile(rb"\*\s*(?:const\s*)?(?:__restrict__\s*)?(?:\)|>\s*\()|_cast\s*<")


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
    if index.class_behind(param.type) is not None:
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
