"""What the lowering of a file, a function and a macro body carries along."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

from tree_sitter import Language, Node, Parser
from tree_sitter_cuda import language

from cudafix import ir, models
from cudafix.frontends.cuda.parse.mask_rules import semicolon, starts_statement
from cudafix.frontends.cuda.preprocess.configurations import Redefined
from cudafix.frontends.cuda.preprocess.macros import Macro, closing, variadic_name
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import Class, Declarations
from cudafix.frontends.cuda.sema.names import DEBUG_ONLY
from cudafix.ir.names import WORD_IN_BYTES
from cudafix.ir.types import Type

_LANGUAGE = Language(language())


@dataclass(frozen=True, slots=True)
class Source:
    """Text that nodes point into, and where its byte 0 stands in the file at `path`."""

    text: bytes
    shift: int
    path: str
    stop: int | None = None  # where the text of a macro body ends in the file
    pasted: Mapping[str, str] = field(default_factory=dict, hash=False)  # what names in it are that `##` makes


@dataclass(slots=True)
class Bound:
    """An argument of a macro: the node, and the text and bindings that it is to be read in."""

    node: Node
    source: Source
    bindings: Mapping[str, Bound]
    uses: int = 0
    rest: tuple[Node, ...] = ()  # what `...` receives
    place: sites.Place | None = None  # the statement that uses the macro,
    effects: int = 0  # with the calls before it
    branches: int = 0  # and the branches and loops around it
    reports: bool = False  # the macro only looks at a status, and its branches are for failures
    expanding: tuple[str, ...] = ()  # the macros around the use: those of the body are none there ([cpp.subst] 1)


_DEFINES = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+\(([^)]*)\)((?:[^\\\n]|\\.)*)", re.MULTILINE | re.DOTALL)
# the head of a function, with a body or at the end
_DEFINED_FUNCTION = re.compile(
    rb"[\w*&>]\s+(\w+(?:\s*##\s*\w+)*)\s*\([^(){};]*\)\s*(?:const\s*)?(?:noexcept\s*)?(?:\{|\Z)"
)
_GIVEN = re.compile(rb"\w[ \t]*\(([^(){};]*)\)")  # what may be the arguments of a macro
# an API call without which the rest has nothing to work with
_WORKS = re.compile(
    rb"\b(\w+)(?=\s*\(+[^;()]*\bcu(?:da|blas|fft|rand|sparse|solver)?\w*(?:Malloc|Alloc|Create)\w*\s*\()"
)
_ASSERTS = re.compile(rb"\bassert\s*\(")


@dataclass
class File:
    """What all functions of one file share while they are lowered."""

    path: str
    original: bytes
    index: Declarations
    macros: Mapping[str, Macro]
    styles: sites.Styles
    errors: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, str], ...]
    qualifiers: tuple[tuple[int, str], ...]  # CUDA qualifiers that a mask hid
    hosts: dict[str, bytes]  # host functions by their last name component: the text of the body
    kernels: frozenset[str]
    every_macro: Mapping[str, Macro]  # wherever it holds; `macros` are those of what is lowered
    macros_in: Callable[[int, int], Mapping[str, Macro]]
    redefined: Redefined = field(default_factory=dict)
    filled: tuple[tuple[int, int], ...] = ()  # see `Parsed`
    functions: list[ir.Function] = field(default_factory=list)
    statics: list[ir.GlobalVar] = field(default_factory=list)
    references: set[str] = field(default_factory=set)
    checks: set[str] = field(default_factory=set)  # of headers that are not here
    parameters_of_templates: set[str] = field(default_factory=set)  # that may be other names of variables
    # what may be static data members of any class, by last name component, and which ones of these are seen
    members_by_name: dict[str, frozenset[str]] = field(default_factory=dict)
    deduced: set[str] = field(default_factory=set)  # the classes of objects that go where any type is taken
    owned: set[tuple[int, int]] = field(default_factory=set)  # types of containers of which all is lowered
    let_go: set[str] = field(default_factory=set)  # the smart pointers that may be used, or end, where nothing is seen
    rows_let_go: set[str] = field(default_factory=set)  # the classes of objects in vectors of which that is true
    handed_on: set[tuple[int, int]] = field(default_factory=set)  # those that get objects made elsewhere after all
    bodies: dict[tuple[str, int, str, bytes, bool], tuple[Node, Source] | None] = field(default_factory=dict)

    def end_of(self, end: int) -> int:
        """Where what ends at an offset of the text ends in the file: no edit tears the name of a macro apart."""
        number = bisect_right(self.filled, end, key=itemgetter(0)) - 1
        return max(end, self.filled[number][1]) if number >= 0 else end

    def macro_at(self, name: str, offset: int) -> Macro | None:
        """What one of the `redefined` is where it is used."""
        changes = self.redefined[name]
        return changes[max(0, bisect_right(changes, offset, key=itemgetter(0)) - 1)][1]

    def begin(self, node: Node) -> None:
        """Lower a part of the file from here on."""
        self.macros = self.macros_in(node.start_byte, node.end_byte)

    def of_each_thread(self, kind: str) -> None:
        """Objects of this type are made and ended by each thread that uses them, where no statement shows it (C++17,
        6.7.2 [basic.stc.thread]).
        """
        cls = self.index.class_behind(kind) if "*" not in Type.of(kind).marks else None
        if cls is not None:
            self.deduced.add(cls.constructor)

    def takes_away(self, name: str) -> bool:
        """Whether a check that this file does not define may be gone with what it is given: not where the file works
        inside of it, which then is not built so.
        """
        if DEBUG_ONLY.fullmatch(name) is None or self.asserts_hold or self._is_declared(name):
            return False
        if (api := models.built_in().any_form(name)) is not None and not api.any:
            return False  # a function of a library: `glDebugMessageCallback`
        return name.encode() not in self._working

    def is_own(self, name: str) -> bool:
        """Whether the program itself defines or declares a function of this name: it is none of a library."""
        return name in self.hosts or self.index.is_declared_outside(name)

    def _is_declared(self, name: str) -> bool:
        return self.index.is_declared_function(name) or name in self.hosts or name in self.every_macro

    @cached_property
    def hides_volatile(self) -> bool:
        """Whether a macro may be what makes a variable `volatile`, or its type."""
        return any(b"volatile" in macro.body for macro in self.every_macro.values() if macro.params is None)

    @cached_property
    def asserts_hold(self) -> bool:
        """Whether the file works inside of `assert`, on its own or through a macro: it is then not built with NDEBUG,
        with which it would do nothing.
        """
        asserting = {name for name, macro in self.every_macro.items() if macro.params and _ASSERTS.search(macro.body)}
        return not self._working.isdisjoint((b"assert", *(name.encode() for name in asserting)))

    @cached_property
    def _working(self) -> frozenset[bytes]:
        """The functions and macros inside of whose arguments the file works."""
        return frozenset(_WORKS.findall(self.original))

    def macro_body(self, macro: Macro, as_statement: bool) -> tuple[Node, Source] | None:
        """The parsed body of a macro: a compound statement, or an expression; None where it is neither."""
        key = (macro.path, macro.body_start, macro.name, macro.body, as_statement)
        if key not in self.bodies:
            self.bodies[key] = _parse_body(macro, as_statement)
        return self.bodies[key]

    def may_be_made(self, name: str) -> bool:
        """Whether a function of this name may be one that a macro defines."""
        return name in self._made or any(one.fullmatch(name) for one in self._patterns)

    @cached_property
    def _defining(self) -> list[tuple[bytes, list[bytes]]]:
        """The names of the functions that macros define, as they are written, and the parameters of these."""
        every = self.every_macro.values()
        given = [(macro.body, [p.encode() for p in macro.params]) for macro in every if macro.params]
        for params, body in _DEFINES.findall(self.original):  # also those that are undefined further down
            given.append((body.replace(b"\\\n", b" "), [param.strip() for param in params.split(b",")]))
        return [(name, params) for body, params in given for name in _DEFINED_FUNCTION.findall(body)]

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        found: set[str] = set()
        for name, params in self._defining:
            parts = [part.strip() for part in name.split(b"##")]
            if len(parts) > 1 and any(part in params for part in parts):
                found.add("".join(r"\w*" if part in params else part.decode() for part in parts))
        return [re.compile(pattern) for pattern in sorted(found)]

    @cached_property
    def _made(self) -> set[str]:
        """The words that macros get, if one of these defines a function of such a name."""
        if not any(name in params for name, params in self._defining):
            return set()
        return {word.decode() for listed in _GIVEN.findall(self.original) for word in WORD_IN_BYTES.findall(listed)}


def _blank_strings(found: re.Match[bytes]) -> bytes:
    return b'"' + b" " * (len(found.group()) - 2) + b'"'


# what no type stands in front of: behind a parameter it begins the next statement
_JUMP = re.compile(rb"\s+(?:break|continue|return|goto|throw|if|for|while|do|switch)\b")


_USE = re.compile(rb"([A-Za-z_]\w*)\s*\(")
_HEADS = frozenset((b"if", b"for", b"while", b"switch"))


def _separated(body: bytes, params: tuple[str, ...]) -> bytes:
    """The body with semicolons behind the parameters that stand for statements: `__VA_ARGS__ break;` would read as a
    declaration of `break`.
    """
    for param in params:
        name = variadic_name(param) if param.endswith("...") else param.encode()
        for match in re.finditer(rb"(?<![\w.>:])" + re.escape(name) + rb"(?!\w)", body):
            if (param.endswith("...") or _JUMP.match(body, match.end())) and starts_statement(body, match.start()):
                for at, text in semicolon(body, match.start(), match.end()):
                    body = body[:at] + text + body[at + len(text) :]
    return body


def _calls_apart(body: bytes) -> bytes:
    """The body with a semicolon behind each statement that is a use of a macro, and that another one follows:
    `CHECK(a) CHECK(b)`.
    """
    for match in _USE.finditer(body):
        if match[1] not in _HEADS and starts_statement(body, match.start()):
            end = closing(body, match.end() - 1) + 1
            if end and _USE.match(body[end:].lstrip()):
                for at, text in semicolon(body, match.start(), end):
                    body = body[:at] + text + body[at + len(text) :]
    return body


_LITERAL = rb'"(?:[^"\\\n]|\\.)*"'
_NAME_OF_A_LITERAL = rb"\b(?!(?:and|or|xor|not|bit\w+)\b)[A-Za-z_]\w*\b(?!\s*\()"
_JOINED = re.compile(rb"(%b)((?:\s*(?:%b|%b))+)" % (_LITERAL, _LITERAL, _NAME_OF_A_LITERAL))


def _without_names_of_literals(body: bytes) -> bytes:
    """The body without the names that a string literal is followed by, which stand for literals too: `"a" format "b"`,
    `"%" PRIu64`.
    """

    def kept(found: re.Match[bytes]) -> bytes:
        return found[0] if found[0].startswith(b'"') else b" " * len(found[0])

    return _JOINED.sub(lambda found: found[1] + re.sub(_LITERAL + rb"|\w+", kept, found[2]), body)


def _bare(body: bytes) -> bytes:
    """The body without parentheses around all of it: the grammar does not know `((*p)[0] = 1, (*p)[1] = 2);`."""
    inner = body.strip()
    if inner.startswith(b"(") and closing(inner, 0) == len(inner) - 1:
        start = body.index(b"(")
        end = body.rindex(b")")
        return body[:start] + b" " + body[start + 1 : end] + b" " + body[end + 1 :]
    return body


def _parse_body(macro: Macro, as_statement: bool) -> tuple[Node, Source] | None:
    body = re.sub(rb"(?<!#)#\s*\w+", _blank_strings, macro.body)  # `#x` is a string
    if b"##" in body:
        return None
    if as_statement:
        body = _separated(_bare(body), macro.params or ())
    head = b"void f(){" if as_statement else b"int v=("
    tail = b"\n;}" if as_statement else b"\n);"
    if not as_statement:
        body = re.sub(rb";\s*\Z", lambda found: b" " * len(found.group()), body)
    literal = _without_names_of_literals(body)
    for written in (body, literal, _calls_apart(literal)) if as_statement else (body, literal):
        text = head + written + tail
        root = Parser(_LANGUAGE).parse(text).root_node
        if not root.has_error:
            break
    else:
        return None
    if as_statement:
        node = root.children[0].child_by_field_name("body") if root.children else None
    else:
        declaration = root.children[0].child_by_field_name("declarator") if root.children else None
        node = declaration.child_by_field_name("value") if declaration is not None else None
    if node is None:
        return None
    return node, Source(text, macro.body_start - len(head), macro.path, macro.body_start + len(macro.body))


@dataclass(slots=True)
class Scope:
    names: dict[str, str] = field(default_factory=dict)
    # the variables at namespace scope that declarations in the block make visible: `using N::x;`, `extern T x;`
    brought: dict[str, list[ir.GlobalVar]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)  # by using-directives; "" for one that is not seen
    aliases: dict[str, frozenset[str]] = field(default_factory=dict)  # of namespaces
    # objects, or arrays of so many of them; without a class, memory that is given back
    destroyed: list[tuple[ir.Expr, Class | None, str]] = field(default_factory=list)
    owners: dict[ir.Expr, ir.Var] = field(default_factory=dict)  # of those that end only if these hold them
    breaks: bool = False  # `break` leaves up to here
    continues: bool = False
    catches: bool = False  # `throw` leaves up to here


def together(scopes: Iterable[Scope]) -> Scope:
    """What is visible in scopes that stand in each other, the outermost first."""
    made = Scope()
    for scope in scopes:
        for name in scope.names:
            made.brought.pop(name, None)
        for name in scope.brought:
            made.names.pop(name, None)
        made.names |= scope.names
        made.brought |= scope.brought
        made.opened += scope.opened
        made.aliases |= scope.aliases
    return made
