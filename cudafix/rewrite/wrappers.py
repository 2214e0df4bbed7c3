"""Functions of a program that are `cudaMallocAsync` and `cudaFreeAsync`, or do what those do on any device.

Devices without memory pools (`cudaDevAttrMemoryPoolsSupported` is 0) have no `cudaMallocAsync`: it returns
`cudaErrorNotSupported` there. A wrapper with a fallback calls `cudaMalloc` and `cudaFree` on them. That is right
wherever the stream-ordered calls are: memory of `cudaMalloc` may be used by all that comes, and `cudaFree` waits for
the device (docs/FACTS.md), so that nothing which was in order is out of it. What has to be proved is that memory is
given back as it was allocated: both wrappers ask one function, which says the same of a device each time.

A wrapper is known by its text alone, and takes what the runtime's function takes; what is written otherwise is a
function like any other. In the IR its calls are calls of the runtime, and its definition is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from cudafix import ir
from cudafix.frontends.cuda.sema import sites
from cudafix.ir import walk
from cudafix.ir.link import last
from cudafix.ir.names import WORD
from cudafix.rewrite.residue import is_guarded_by_a_name

_TOKEN = re.compile(
    rb"(?P<directive>^[ \t]*#(?:\\\r?\n|/\*.*?\*/|[^\n])*)"
    rb"|(?P<skip>\s+|//(?:\\\r?\n|[^\n])*|/\*.*?\*/)"
    rb'|(?P<text>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    rb"|(?P<word>\w+)|::|->|<<|>>|&&|\|\||[-+*/%&|^=!<>]=|\+\+|--|.",
    re.MULTILINE | re.DOTALL,
)
_MENTIONS = re.compile(
    rb"\bcudaError_t\s+\w+\s*\([^()]*\)[\w\s]*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\bcuda(?:Malloc|Free)Async\b"
)
_IF = re.compile(rb"[ \t]*#[ \t]*(if\w*|endif)")
_DEFINES = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)")

_BEFORE = frozenset(("static", "inline", "constexpr", "__host__"))
_SIZES = (("size_t",), ("std", "::", "size_t"))
_CASTS = (
    ("(", "void", "*", "*", ")"),
    ("reinterpret_cast", "<", "void", "*", "*", ">"),
    ("static_cast", "<", "void", "*", "*", ">"),
)
_CALLS = {"cudaMallocAsync": "cudaMalloc", "cudaFreeAsync": "cudaFree"}
_ARITY = {"cudaMallocAsync": 3, "cudaFreeAsync": 2}

# What a function may be made of that says the same of a device each time: constants of the device, and plain values.
_QUERIES = frozenset("cudaGetDevice cudaGetDeviceCount cudaDeviceGetAttribute cudaDriverGetVersion".split())
_ATTRIBUTES = frozenset(
    "cudaDevAttrMemoryPoolsSupported cudaDevAttrComputeCapabilityMajor cudaDevAttrTccDriver".split()
)
_INTEGERS = frozenset("int bool unsigned long".split())
_TYPES = _INTEGERS | frozenset("char auto size_t cudaError_t".split())
_PLAIN = frozenset("return if else for true false cudaSuccess CUDART_VERSION const static_cast".split())


class Function(NamedTuple):
    """A function that is known: its qualified name, and its text.

    `stands_for` the function of the runtime; empty for one that says the same of a device each time, such as whether it
    has pools. A wrapper with a fallback `asks` such a one, by its qualified name; `answers` is how that finds out, as
    text with that of the functions which it calls. It `needs` the functions of these names. If it is `untyped`, the
    address of a pointer to anything but `void` needs a cast, which the runtime's template makes.
    """

    name: str
    start: int
    end: int
    stands_for: str = ""
    asks: str = ""
    answers: tuple[str, ...] = ()
    untyped: bool = False
    needs: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()  # that its definition is made of

    @property
    def elsewhere(self) -> Function:
        """What another definition of it is equal to."""
        return self._replace(start=0, end=0, words=frozenset())


class _Token(NamedTuple):
    word: str
    start: int
    end: int


def may_declare(data: bytes) -> bool:
    """Whether a text may define a wrapper."""
    return b"Async" in data and _MENTIONS.search(data) is not None


class Declared(NamedTuple):
    """What a file declares at namespace scope: the functions that are known, whatever may be another function, by
    qualified name, and its macros.
    """

    functions: tuple[Function, ...]
    others: frozenset[str]
    macros: frozenset[str]


def declared_in(data: bytes) -> Declared:
    """What a file declares. A function is known if it is defined once, under no condition."""
    found: list[Function] = []
    named: list[str] = []  # what may be the name of a function, at each declaration
    macros: set[str] = set()
    for scope, tokens, conditional in _declarations(data, macros):
        words = tuple(token.word for token in tokens)
        head = words[: words.index("{")] if "{" in words else words
        around = "::".join(scope)
        read = _function(words, _Known(around, found)) if not conditional else None
        if read is not None:
            name = "::".join((*scope, read.name))
            start, end = tokens[0].start, tokens[-1].end
            found.append(read._replace(name=name, start=start, end=end, words=frozenset(words)))
        if read is not None or not _is_prototype(words):
            names = {a for a, b in pairwise(head) if b == "(" and WORD.fullmatch(a)}
            named += ["::".join((*scope, name)) for name in names]
    known = [one for one in found if named.count(one.name) == 1]
    names = {one.name for one in known}
    known = [one for one in known if names.issuperset(one.needs)]
    return Declared(tuple(known), frozenset(named) - {one.name for one in known}, frozenset(macros))


class _Known(NamedTuple):
    """The functions in front of a definition that stands in the namespace `around`."""

    around: str
    functions: Sequence[Function]

    def asked(self, name: str) -> Function | None:
        """The function without parameters that is meant by a name: the nearest one around it."""
        scope = self.around.split("::") if self.around else []
        names = ["::".join((*scope[:n], name.removeprefix("::"))) for n in range(len(scope), -1, -1)]
        known = {one.name: one for one in self.functions if one.answers}
        return next((known[one] for one in names if one in known), None)


def _is_prototype(words: tuple[str, ...]) -> bool:
    """Whether a declaration is that of a wrapper that is defined elsewhere."""
    return words[-1:] == (";",) and "{" not in words and _function((*words[:-1], "{", "}"), _Known("", ())) is not None


def _declarations(data: bytes, macros: set[str]) -> Iterator[tuple[tuple[str, ...], list[_Token], bool]]:
    """The declarations at namespace scope, with the namespaces around each, and whether it stands under a condition.
    Notes the names of `macros`.
    """
    scope: list[tuple[str, ...]] = []
    current: list[_Token] = []
    depth = conditions = at = 0
    guarded = int(is_guarded_by_a_name(data))
    touched = False
    while at < len(data) and (match := _TOKEN.match(data, at)) is not None:
        at = match.end()
        kind = match.lastgroup
        if kind == "directive":
            if (branch := _IF.match(match[0])) is not None:
                conditions += -1 if branch[1] == b"endif" else 1
            if (define := _DEFINES.match(match[0])) is not None:
                macros.add(define[1].decode())
            touched = touched or bool(current)
            continue
        if kind == "skip":
            continue
        token = _Token(match[0].decode("utf-8", "replace"), match.start(), match.end())
        current.append(token)
        ended = False
        if token.word == "{":
            opened = _namespace(current[:-1]) if not depth else None
            if opened is not None:
                scope.append(opened)
                current = []
                continue
            depth += 1
        elif token.word == "}" and not depth:
            if scope:
                scope.pop()
            current = []
        elif token.word == "}":
            depth -= 1
            ended = not depth
        elif token.word == ";" and not depth:
            ended = True
        if ended:
            yield tuple(name for names in scope for name in names), current, touched or conditions != guarded
            current, touched = [], False


def _namespace(head: Sequence[_Token]) -> tuple[str, ...] | None:
    """The names of the namespace that a brace opens; None if it opens something else."""
    words = [token.word for token in head if token.word != "inline"]
    if words[:1] == ["namespace"] and all(word == "::" or WORD.fullmatch(word) for word in words):
        return tuple(word for word in words[1:] if word != "::")
    if len(words) == 2 and words[0] == "extern" and words[1].startswith('"C'):
        return ()
    return None


def _function(words: tuple[str, ...], known: _Known) -> Function | None:
    """What a definition is, with the name as it is written."""
    template = ""
    if words[:2] == ("template", "<"):
        if words[2:3] not in (("class",), ("typename",)) or words[4:5] != (">",):
            return None
        template, words = words[3], words[5:]
    while words[:1] and words[0] in _BEFORE:
        words = words[1:]
    if "(" not in words or ")" not in words or "{" not in words:
        return None
    opens, closes = words.index("("), words.index(")")
    kind, name, params, body = words[: opens - 1], words[opens - 1], words[opens + 1 : closes], words[closes + 1 :]
    if body[:1] == ("noexcept",):
        body = body[1:]
    if body[:1] != ("{",) or body[-1:] != ("}",) or opens < 2 or not WORD.fullmatch(name):
        return None
    body = body[1:-1]
    if _INTEGERS.issuperset(kind) and params in ((), ("void",)) and not template:
        return _that_answers(name, body, known)
    given = _parameters(params, template) if kind == ("cudaError_t",) else None
    if given is None:
        return None
    wrapper = _wrapper(name, body, given, known) if body else Function(name, 0, 0)
    return wrapper._replace(untyped=not template) if wrapper is not None else None


def _parameters(params: tuple[str, ...], template: str) -> tuple[str, ...] | None:
    """The names of the parameters of a wrapper: of `cudaMallocAsync` if there are three, of `cudaFreeAsync` if two."""
    parts: list[tuple[str, ...]] = [()]
    for word in params:
        if word == ",":
            parts.append(())
        else:
            parts[-1] = (*parts[-1], word)
    if any(len(part) < 2 or not WORD.fullmatch(part[-1]) for part in parts):
        return None
    types, names = [part[:-1] for part in parts], tuple(part[-1] for part in parts)
    if len(set(names)) < len(names) or types[-1] != ("cudaStream_t",):
        return None
    if len(parts) == 3:
        pointer = ("void", "*", "*"), (template, "*", "*")
        return names if types[0] in pointer and types[1] in _SIZES else None
    pointer_to_free = ("void", "*"), (template, "*")
    return names if len(parts) == 2 and types[0] in pointer_to_free else None


def _wrapper(name: str, body: tuple[str, ...], given: tuple[str, ...], known: _Known) -> Function | None:
    """What a body does with the parameters of a wrapper: one of the calls, or one or the other by what it asks."""
    api = "cudaMallocAsync" if len(given) == 3 else "cudaFreeAsync"
    by_stream, by_device = _call(api, given), _call(_CALLS[api], given[:-1])
    body = _plain_pointer(body, given[0])
    if body == ("return", *by_stream, ";"):
        return Function(name, 0, 0, api)
    for test, first, second in _choices(body):
        negated = test[:1] == ("!",)
        asked = known.asked(_asked(test[1:] if negated else test))
        if asked is not None and last(asked.name) in given:
            return None  # a parameter hides it
        right = (first, second) == ((by_device, by_stream) if negated else (by_stream, by_device))
        if asked is not None and right:
            return Function(name, 0, 0, api, asked.name, asked.answers, needs=(asked.name,))
    return None


def _call(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    arguments = [word for one in given for word in (",", one)][1:]
    return name, "(", *arguments, ")"


def _plain_pointer(body: tuple[str, ...], pointer: str) -> tuple[str, ...]:
    """A body without the casts of the pointer to `void **`, and without the `::` in front of the runtime's names."""
    words: list[str] = []
    for n, word in enumerate(body):
        if not (word == "::" and body[n + 1 : n + 2] and body[n + 1] in (*_CALLS, *_CALLS.values())):
            words.append(word)
    text, plain = tuple(words), (pointer,)
    for cast in _CASTS:
        for whole in ((*cast, "(", pointer, ")"), (*cast, pointer)):
            n = next((n for n in range(len(text)) if text[n : n + len(whole)] == whole), -1)
            while n >= 0:
                text = (*text[:n], *plain, *text[n + len(whole) :])
                n = next((n for n in range(len(text)) if text[n : n + len(whole)] == whole), -1)
    return text


def _choices(body: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """The test of a body that returns one of two calls, the call where it holds, and the other one."""
    if body[:1] == ("return",) and "?" in body and body[-1] == ";":
        test, rest = body[1 : body.index("?")], body[body.index("?") + 1 : -1]
        if ":" in rest:
            yield test, rest[: rest.index(":")], rest[rest.index(":") + 1 :]
    if body[:2] == ("if", "(") and "return" in body:
        n = body.index("return")
        test = body[2:n]
        braces = test[-1:] == ("{",)
        test = test[:-1] if braces else test
        if test[-1:] == (")",) and ";" in body[n:]:
            end = body.index(";", n)
            behind = body[end + 1 :]
            if braces:
                if behind[:1] != ("}",):
                    return
                behind = behind[1:]
            if behind[:1] == ("else",):
                behind = behind[1:]
            if behind[:1] == ("{",) and behind[-1:] == ("}",):
                behind = behind[1:-1]
            if behind[:1] == ("return",) and behind[-1:] == (";",):
                yield test[:-1], body[n + 1 : end], behind[1:-1]


def _asked(test: tuple[str, ...]) -> str:
    """The function that a test calls with nothing; empty if it is another test."""
    if len(test) < 3 or test[-2:] != ("(", ")"):
        return ""
    name = test[:-2]
    return "".join(name) if re.fullmatch(r"(?:::)?\w+(?:::\w+)*", "".join(name)) else ""


def _that_answers(name: str, body: tuple[str, ...], known: _Known) -> Function | None:
    """A function that finds out the same of a device each time: from what it declares itself, constants of devices, and
    functions that do so too. What it keeps is `const`: it is found out once (C++17, 9.7 [stmt.dcl] 4).
    """
    own: set[str] = set()
    answers: list[str] = []
    needs: list[str] = []
    declares, depth = False, 0  # whether the statement declares variables, and how deep in parentheses a word stands
    for n, word in enumerate(body):
        depth += (word in ("(", "[")) - (word in (")", "]"))
        declares = declares and word not in (";", "{", "}")
        before, behind = body[n - 1] if n else "", body[n + 1] if n + 1 < len(body) else ""
        asked = known.asked(word) if body[n + 1 : n + 3] == ("(", ")") and word not in own else None
        answers += [word] if asked is None else ["{", *asked.answers, "}"]
        if asked is not None:
            needs.append(asked.name)
        elif word == "static":
            if behind not in ("const", "constexpr"):
                return None
        elif not WORD.fullmatch(word):
            if word in ("*", "->"):  # what a pointer leads to may change
                return None
            if word.startswith(('"', "'")) or (word == "::" and WORD.fullmatch(before)):
                return None
        elif word in _QUERIES:
            if behind != "(":
                return None
        elif word not in own | _TYPES | _PLAIN | _ATTRIBUTES:
            if before not in _TYPES and not (declares and before == "," and not depth):
                return None  # what is declared nowhere here may change
            declares = declares or not depth
            own.add(word)
        elif word in own and behind == "(":
            return None
    if "return" not in body:
        return None
    numbers = {word: f"%{n}" for n, word in enumerate(sorted(own, key=body.index))}  # their names do not matter
    return Function(name, 0, 0, answers=tuple(numbers.get(word, word) for word in answers), needs=tuple(needs))


class Wrappers(NamedTuple):
    """The wrappers of one program, by the last component of the name; likewise the qualified names of the functions
    that they ask; where all of these are `defined`, by file, and the last components of their names.
    """

    calls: Mapping[str, Function]
    asked: Mapping[str, str]
    spans: Mapping[str, tuple[tuple[int, int], ...]]
    defined: frozenset[str]

    def said_of(self, path: str) -> tuple[object, ...]:
        """What tells it apart from others for one file."""
        calls = sorted((name, one.name, one.stands_for) for name, one in self.calls.items())
        return *calls, *sorted(self.asked.items()), *self.spans.get(path, ()), *sorted(self.defined)

    @property
    def fall_back(self) -> bool:
        """Whether one of them works on devices without pools."""
        return any(one.asks for one in self.calls.values())


def of_program(files: Mapping[str, Declared], wanted: Collection[str]) -> Wrappers:
    """The wrappers of a program, by what its files declare. Those without a fallback are wrappers only if they are
    `wanted`, by their qualified names. Wrappers that do not all ask in the same way are none: what one allocates
    another one may free. Nor is one where another function or a macro may be meant by its name.
    """
    all_of = [(path, one) for path, declared in files.items() for one in declared.functions]
    seen = [(path, one) for path, one in all_of if not _is_hidden(one, files)]
    plain = {(path, one.name) for path, one in seen}
    seen = [(path, one) for path, one in seen if all((path, name) in plain for name in one.needs)]
    ways = {one.answers for _, one in all_of if one.asks}
    chosen = [
        (path, one) for path, one in seen if one.stands_for and (len(ways) == 1 if one.asks else one.name in wanted)
    ]
    meant: dict[str, set[Function]] = {}
    for _, one in chosen:
        meant.setdefault(last(one.name), set()).add(one.elsewhere)
    chosen = [(path, one) for path, one in chosen if len(meant[last(one.name)]) == 1]
    asked = [(path, one) for path, one in seen if chosen and not one.stands_for and one.answers in ways]
    inner = {(path, name) for path, one in asked for name in one.needs}
    kept = [*chosen, *asked, *((path, one) for path, one in seen if (path, one.name) in inner)]
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    for path, one in kept:
        spans[path] = (*spans.get(path, ()), (one.start, one.end))
    names = {last(one.name): one.name for _, one in asked}
    defined = frozenset(last(one.name) for _, one in kept)
    return Wrappers({last(one.name): one for _, one in chosen}, names, spans, defined)


def _is_hidden(function: Function, files: Mapping[str, Declared]) -> bool:
    """Whether something else may be meant by the name of a function, or by its text: a macro, or what is declared in
    its namespace or further in.
    """
    scope, _, own = function.name.rpartition("::")
    within = f"{scope}::" if scope else ""
    alike = (other for declared in files.values() for other in declared.others if last(other) == own)
    macros = (declared.macros for declared in files.values())
    return any(other.startswith(within) for other in alike) or not all(map(function.words.isdisjoint, macros))


def canonical(module: ir.Module, wrappers: Wrappers) -> ir.Module:
    """A module in which calls of wrappers are calls of the runtime, without the definitions; itself if it has none."""
    spans = wrappers.spans.get(module.path, ())

    def is_defined_in(span: ir.Span) -> bool:
        return any(start <= span.start < end for start, end in spans)

    members = {name for fields in module.fields.values() for name in fields}
    variables = members | {last(variable.name) for variable in module.globals}
    working = {last(function.name) for function in module.functions if not _only_looks(function)}
    functions = [
        _rewritten(function, variables, working, wrappers)
        for function in module.functions
        if last(function.name.partition(ir.LAMBDA)[0]) not in wrappers.defined or not is_defined_in(function.span)
    ]
    if not spans and all(one is other for one, other in zip(functions, module.functions, strict=True)):
        return module
    kept = tuple(  # but the `static` variables of these functions
        variable
        for variable in module.globals
        if last(variable.name.rpartition("::")[0]) not in wrappers.defined or not is_defined_in(variable.span)
    )
    return replace(module, functions=tuple(functions), globals=kept)


def _only_looks(function: ir.Function) -> bool:
    """Whether a function that is given a status does no work of its own, as `sema.sites.only_looks` has it."""
    called = (stmt.callee for stmt in walk(function.body) if isinstance(stmt, ir.Call))
    launches = any(isinstance(stmt, ir.Launch) for stmt in walk(function.body))
    return not launches and sites.only_looks(" ".join(f"{name}(" for name in called).encode())


def _rewritten(function: ir.Function, variables: Set[str], working: Collection[str], wrappers: Wrappers) -> ir.Function:
    """A function in which calls of wrappers are calls of the runtime. `working` are the functions of its file that do
    more than look at a status: what only looks at that of the runtime is no call (`lower.calls`).
    """

    def block(old: ir.Block) -> ir.Block:
        new = list(map(statement, old))
        looks = {n for n in range(1, len(old)) if new[n - 1] is not old[n - 1] and looks_at(new[n - 1], old[n])}
        return tuple(stmt for n, stmt in enumerate(new) if n not in looks)

    def looks_at(call: ir.Stmt, stmt: ir.Stmt) -> bool:
        return (
            isinstance(call, ir.Call)
            and isinstance(stmt, ir.Call)
            and call.result is not None
            and stmt.args[:1] == (call.result,)
            and all(isinstance(arg, ir.Const) for arg in stmt.args[1:])
            and stmt.receiver is None
            and stmt.result is None
            and sites.is_check_name(stmt.callee)
            and last(stmt.callee) not in working
        )

    def statement(stmt: ir.Stmt) -> ir.Stmt:
        match stmt:
            case ir.Call(receiver=None):
                return _called(stmt, function, hidden, wrappers)
            case ir.If():
                return replace(stmt, then=block(stmt.then), other=block(stmt.other))
            case ir.Loop():
                return replace(stmt, condition=block(stmt.condition), body=block(stmt.body), step=block(stmt.step))
            case ir.Switch():
                return replace(stmt, arms=tuple(map(block, stmt.arms)))
            case ir.Try():
                return replace(stmt, body=block(stmt.body), handlers=tuple(map(block, stmt.handlers)))
            case _:
                return stmt

    hidden = variables | {param.name for param in function.params} | {name.split("@")[0] for name in function.types}
    calls = (stmt for stmt in walk(function.body) if isinstance(stmt, ir.Call) and stmt.receiver is None)
    if all(_called(call, function, hidden, wrappers) is call for call in calls):
        return function
    return replace(function, body=block(function.body))


def _called(call: ir.Call, around: ir.Function, hidden: Collection[str], wrappers: Wrappers) -> ir.Stmt:
    name = last(call.callee)
    function, asked = wrappers.calls.get(name), wrappers.asked.get(name)
    meant = function.name if function is not None else asked
    if meant is None or not _means(call.callee, meant, around, hidden):
        return call
    if function is not None:
        return replace(call, callee=function.stands_for) if len(call.args) == _ARITY[function.stands_for] else call
    return ir.Assign(call.result or ir.Var("%asked"), ir.Opaque(()), call.span) if not call.args else call


def _means(written: str, name: str, around: ir.Function, hidden: Collection[str]) -> bool:
    """Whether a call means the function of this qualified name: it has all of it, or stands in its namespace, where no
    variable and no member of a base may hide it (C++17, 6.4.1 [basic.lookup.unqual]).
    """
    scope = name.rpartition("::")[0]
    if "::" in written:
        return written.removeprefix("::") == name
    within = not scope or f"{around.name}::".startswith(f"{scope}::")
    return within and not around.bases and written not in hidden


def plain_text(data: bytes, path: str, wrappers: Wrappers) -> bytes:
    """A text without the definitions of wrappers, in which their calls are calls of the runtime."""
    if not wrappers.calls:
        return data
    out: list[bytes] = []
    at = 0
    for start, end in sorted(wrappers.spans.get(path, ())):
        out.append(data[at:start])
        at = end
    text = b"".join((*out, data[at:]))
    for name, function in wrappers.calls.items():
        scopes = b"".join(rb"(?:%s\s*::\s*)?" % scope.encode() for scope in function.name.split("::")[:-1])
        pattern = rb"(?<![\w:.>])(?:::\s*)?" + scopes + rb"\b" + name.encode() + rb"(?=\s*(?:<[^<>;()]*>\s*)?\()"
        text = re.sub(pattern, function.stands_for.encode(), text)
    for name in wrappers.asked:
        text = re.sub(rb"(?<![\w.>])(?:\w+\s*::\s*)*\b" + name.encode() + rb"\s*\(\s*\)", b"true", text)
    return text


def of_texts(texts: Mapping[str, bytes], wanted: Collection[str] = ()) -> Wrappers:
    """The wrappers of a program, by the texts of its files in C++."""
    declared = {path: declared_in(text) for path, text in texts.items() if may_declare(text)}
    names = {last(one.name).encode() for each in declared.values() for one in each.functions}
    for path, text in texts.items() if names else ():
        if path not in declared and (b"cudaDevAttr" in text or any(name in text for name in names)):
            declared[path] = declared_in(text)
    return of_program(declared, wanted)
