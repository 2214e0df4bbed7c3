"""What a file of C++ or CUDA says about functions: enough to find the files of a program without lowering any of them.

An outline is made from the text alone, so it is kept by its content, from run to run too. What is concluded from the
outlines of many files holds as long as these say the same, whatever else changes in the files.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cudafix.frontends.cuda.parse.queries import captures
from cudafix.pipeline.bodies import Parts, blanked, parts_of
from cudafix.pipeline.cache import Cache, signature
from cudafix.project import failures
from cudafix.project.files import SILENT, Files

if TYPE_CHECKING:
    import tree_sitter

WORD = re.compile(rb"\b[A-Za-z_]\w*")  # a function may also be handed over by its name
# what may stand in front of a parenthesis and is no function: `else if (a) {`, `void __launch_bounds__(256) k() {`
_NO_FUNCTION = (
    rb"(?!(?:if|for|while|switch|catch|return|constexpr|requires|noexcept|explicit|decltype|typeof|sizeof|alignas|alignof"
    rb"|void|bool|char|short|int|long|float|double|signed|unsigned|__launch_bounds__|__align__|__attribute__|__declspec)\b)"
)
_DEFINITION = (
    rb"[A-Za-z_][\w\s:*&<>,\"]*?\b" + _NO_FUNCTION + rb"([A-Za-z_]\w*)\s*\([^;{}]*\)(?:[^;{}()/]|//.*$|/\*[^*]*\*/)*\{"
)
_DEFINED = re.compile(rb"^" + _DEFINITION, re.MULTILINE)
_DEFINED_INSIDE = re.compile(rb"^[ \t]{0,8}" + _DEFINITION, re.MULTILINE)  # of a namespace, as many indent it
_ARGUMENTS = re.compile(rb"<[^<>]*>")
_OPERATOR = re.compile(rb"\boperator\b[^(]*(?:\(\s*\))?")  # also `operator()`
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_DELIMITER = re.compile(rb"([{};])")
_PARENTHESIS = re.compile(rb"([()])")
_NAMESPACE = re.compile(rb"^\s*(?:inline\s+)?(?:namespace\b|extern\s*$)")  # a literal is left out
_CALLED = re.compile(rb"\b" + _NO_FUNCTION + rb"([A-Za-z_]\w*)\s*\(")
_BASES = re.compile(rb"\b(?:class|struct)\b[^;:{}()=]*:((?:::|[^;:{}()=])+)\{")
_MEMBER = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^<>]*>\s*)?::\s*(?:~|operator\b)")
_EXTERN = re.compile(rb"\bextern\b[^;{}]*?\b([A-Za-z_]\w*)\s*(?:\[[^;]*|\)\s*\([^;]*)?;")  # `extern void (*hook)(int);`
_STATIC = re.compile(rb"\bstatic\b")
_INITIALIZED = re.compile(rb"(?<!operator)(?<![=!<>+*/%&|^-])=(?!=)[^>]*\Z")  # a variable, perhaps with a lambda
SEVERAL = frozenset((b"static", b"template", b"constexpr", b"consteval", b"weak", b"__weak__", b"selectany")) | {
    b"inline",
    b"__inline__",
    b"__inline",
    b"__forceinline__",
    b"__forceinline",
}
"""Words of functions of which a program may have several definitions."""
_OF_SEVERAL = re.compile(rb"\b(?:" + b"|".join(sorted(SEVERAL)) + rb")\b|(?i:inline)")
_PERHAPS = re.compile(rb"([A-Za-z_]\w*)\s*[=;,({\[]")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_SHARED = re.compile(rb"\b(?:static|inline)\b[^;{}()]*?\b([A-Za-z_]\w*)\s*(?:[;={]|\[[^;]*;)")  # static members too
# Nodes without what is in them: a pattern with children costs four times as long to compile as all of these.
_QUERY = """
    (function_definition) @definition
    [(function_declarator) (operator_cast)] @declarator
    [(class_specifier) (struct_specifier)] @class
    [(alias_declaration) (type_definition) (preproc_def) (preproc_function_def)] @macro
    [(base_class_clause) (field_declaration)] @part
    [(declaration) (init_declarator) (ERROR)] @value
    [(translation_unit) (declaration_list)] @scope
"""
_TABLE = re.compile(rb"\{[^{}]{4096,}\}")
_OF_NUMBERS = b"0123456789abcdefABCDEFxXuUlLpP,.+-{} \t\r\n"
_NAME = re.compile(rb"[\s,{+-][A-Za-z]")
_VARIABLES = frozenset(("identifier", "array_declarator"))


_WITHOUT_REFERENCES = 2
"""A version of the format of `marshal` in which equal values are equal bytes, whichever of them are one object."""


class Name(NamedTuple):
    """A function's name, and the class or namespace directly around it as far as it is written there."""

    scope: bytes
    last: bytes


class Words(NamedTuple):
    """Every name in a text, those that look like the name of a function which is defined there, those that its classes
    are derived from, and those of variables that another source defines; and those that it declares `static` or
    `inline`, which in a header may be those of a static member.
    """

    all: frozenset[bytes]
    defined: frozenset[bytes]
    bases: frozenset[bytes]
    variables: frozenset[bytes]
    shared: frozenset[bytes]


class Outline(NamedTuple):
    """What a file says about functions: the words that each definition uses, by the function's name, and what is used
    outside of them (`always`); the functions that it `declares`, and those that it defines for other files (`exports`);
    its `classes`, and what each is derived from (`bases`). `alone` are the functions of which a program has no second
    definition (C++17, 6.2 [basic.def.odr]), each with the words it is written in; `renames` are names of macros and
    types that stand for something else. `variables` are those that live as long as the program, and the functions that
    `keep` something from call to call.
    """

    uses: dict[bytes, set[bytes]]
    always: set[bytes]
    declares: set[Name]
    exports: set[Name]
    classes: set[bytes]
    bases: dict[bytes, set[bytes]]
    alone: dict[bytes, set[bytes]]
    renames: set[bytes]
    variables: set[bytes]
    keep: set[bytes]

    def offers(self, source: Outline) -> Iterator[Name]:
        """The functions that this header declares and a source defines."""
        for name in source.exports:
            of_namespace = name.scope not in self.classes and Name(b"", name.last) in self.declares
            if name in self.declares or of_namespace:
                yield name


class Outlines:
    """The outlines of the files of a run, made when they are asked for."""

    def __init__(self, files: Files, kept: Cache | None = None) -> None:
        self._files = files
        self._cache = kept
        self._fresh: dict[bytes, bytes] = {}
        self._words: dict[str, Words] = {}
        self._outlines: dict[str, Outline] = {}
        self._short: dict[str, bytes] = {}  # see `_code`
        self._said: dict[tuple[str, str], bytes] = {}  # digests of what was asked for, by kind and path

    def keep(self) -> None:
        """Keep what was made, for later runs."""
        if self._cache is not None and self._fresh:
            self._cache.put(self._fresh)

    def words(self, path: str) -> Words:
        if path not in self._words:
            self._words[path] = Words(*map(frozenset, self._of_file("words", path, _words_of)))
        return self._words[path]

    def outline(self, path: str) -> Outline:
        if path not in self._outlines:
            uses, always, declares, exports, classes, bases, alone, *names_of = self._of_file(
                "outline", path, _outline_of
            )
            names = {Name(*each) for each in declares}, {Name(*each) for each in exports}
            used, derived, once = ({name: set(words) for name, words in each} for each in (uses, bases, alone))
            self._outlines[path] = Outline(used, set(always), *names, set(classes), derived, once, *map(set, names_of))
        return self._outlines[path]

    def concluded(self, question: object, conclude: Callable[[], Any]) -> Any:
        """What `conclude` finds, of plain types; what it found in an earlier run, to the same `question`, where the
        outlines that it asked for say the same now.
        """
        key = self._key("concluded", hashlib.sha256(repr(question).encode("utf-8", "surrogateescape")).digest())
        before = self._load(key)
        if before is not None:
            leaned_on, found = before
            if all(self._says(kind, path, text, said) for kind, path, text, said in leaned_on):
                return found
        found = conclude()
        leaned_on = [(kind, path, self._files.digest(path), said) for (kind, path), said in self._said.items()]
        self._keep(key, marshal.dumps((leaned_on, found), _WITHOUT_REFERENCES))
        return found

    def _says(self, kind: str, path: str, text: bytes, said: bytes) -> bool:
        """Whether a file still says what it has said, when its text had this digest."""
        if self._files.digest(path) != text:
            self._of_file(kind, path, _words_of if kind == "words" else _outline_of)
            return self._said[kind, path] == said
        return True

    def _of_file(self, kind: str, path: str, make: Callable[[bytes], Any]) -> Any:
        """What `make` says of the text of a file, kept by that."""
        key = self._key(kind, self._files.digest(path))
        content = self._content(key)
        if content is None:
            with failures.alone(path):
                content = marshal.dumps(make(self._code(path)), _WITHOUT_REFERENCES)
            self._keep(key, content)
        self._said[kind, path] = hashlib.sha256(content).digest()
        return marshal.loads(content)  # noqa: S302 its check sum was right

    def _code(self, path: str) -> bytes:
        """The text of a file without long initializers of numbers."""
        if path in self._short:
            return self._short[path]
        text = self._files[path]
        code = _TABLE.sub(_emptied, text)
        if len(code) < len(text):
            self._short[path] = code
        return code

    def _key(self, kind: str, digest: bytes) -> bytes:
        form = f"{kind} {sys.implementation.cache_tag}".encode()  # `marshal` is not the same in each Python
        return hashlib.sha256(form + signature() + digest).digest()

    def _content(self, key: bytes) -> bytes | None:
        return self._cache.get([key]).get(key) if self._cache is not None else None

    def _load(self, key: bytes) -> Any:
        content = self._content(key)
        return marshal.loads(content) if content is not None else None  # noqa: S302 its check sum was right

    def _keep(self, key: bytes, content: bytes) -> None:
        if self._cache is not None:
            self._fresh[key] = content


@cache
def _grammar() -> tuple[tree_sitter.Language, tree_sitter.Query]:
    import tree_sitter  # where all outlines are known there is nothing to parse
    import tree_sitter_cuda

    language = tree_sitter.Language(tree_sitter_cuda.language())
    return language, tree_sitter.Query(language, _QUERY)


def _captures(data: bytes) -> dict[str, list[tree_sitter.Node]]:
    import tree_sitter

    language, query = _grammar()
    return captures(query, tree_sitter.Parser(language).parse(data).root_node)


def _emptied(table: re.Match[bytes]) -> bytes:
    """Of a file that holds a binary as an array, the numbers are nearly all."""
    return table[0] if table[0].translate(None, _OF_NUMBERS) or _NAME.search(table[0]) else b"{0}"


def _words_of(data: bytes) -> Any:
    """The fields of `Words`, sorted."""
    code = SILENT.sub(b" ", data)
    every = frozenset(WORD.findall(code))
    variables = sorted(frozenset(_EXTERN.findall(code))) if b"extern" in every else []
    shared = sorted(frozenset(_SHARED.findall(code))) if not every.isdisjoint((b"static", b"inline")) else []
    if b"{" not in data:
        return sorted(every), [], [], variables, shared
    pattern = _DEFINED_INSIDE if b"namespace" in every else _DEFINED
    bases = {word for clause in _BASES.findall(code) for word in WORD.findall(clause)}
    return sorted(every), sorted({*pattern.findall(data), *_defined_outside(code)}), sorted(bases), variables, shared


def _defined_outside(code: bytes) -> Iterator[bytes]:
    """The names in front of the braces that are in no others but those of namespaces, wherever on a line they stand,
    and the classes of destructors and operators, which are not called by a name.
    """
    inside = 0  # braces that are open, behind one that is not of a namespace
    head, *pieces = _DELIMITER.split(_DIRECTIVE.sub(b" ", code))
    for delimiter, text in zip(pieces[::2], pieces[1::2], strict=True):
        if delimiter == b"{" and (inside or _NAMESPACE.match(head) is None):
            if not inside and b"(" in head and _INITIALIZED.search(_outermost(head)) is None:
                yield from _CALLED.findall(_outermost(head))[:1]
                yield from _MEMBER.findall(head)
                if b"operator" in head:
                    yield b"operator"
            inside += 1
        elif delimiter == b"}" and inside:
            inside -= 1
        head = text


def _outermost(code: bytes) -> bytes:
    """The parentheses that are in no others, without what is in them: `__declspec(align(16)) void f(int n = g())`."""
    pieces = _PARENTHESIS.split(code)
    inside = 0
    for n, piece in enumerate(pieces):
        inside -= piece == b")"
        if inside > 0:
            pieces[n] = b""
        inside += piece == b"("
    return b"".join(pieces)


def _outline_of(data: bytes) -> Any:
    """The fields of an `Outline`, sorted."""
    return _Reader(data).outline()


class _Reader:
    """Reads the outline of a file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._captures = _captures(data)
        self._uses: dict[bytes, set[bytes]] = {}
        self._always: set[bytes] = set()
        self._declares: set[tuple[bytes, bytes]] = set()
        self._exports: set[tuple[bytes, bytes]] = set()
        self._bases: dict[bytes, set[bytes]] = {}
        self._alone: dict[bytes, set[bytes]] = {}
        self._renames: set[bytes] = set()
        self._variables: set[bytes] = set()
        self._keep: set[bytes] = set()
        self._shared: set[bytes] = set()  # functions that are declared to be of the file, or in several
        self._classes = [
            (node.start_byte, node.end_byte, self._words_of(named)[0])
            for node in self._captures.get("class", ())
            if (named := node.child_by_field_name("name")) is not None and node.child_by_field_name("body") is not None
        ]
        declarators = map(_declared, self._captures.get("declarator", ()))
        self._names = sorted((_qualified(node).start_byte, node.end_byte) for node in declarators if node is not None)

    def outline(self) -> Any:
        """All of it."""
        outside = self._outside_of_definitions()
        self._declarations(outside)
        for node in self._captures.get("macro", ()):
            self._macro(node)
        for node in self._captures.get("part", ()):
            self._part(node)
        self._values(outside)
        for one in list(self._alone):
            if not self._shared.isdisjoint(WORD.findall(one.partition(b"(")[0])[-1:]):
                del self._alone[one]
        uses, bases, alone = (
            sorted((name, sorted(words)) for name, words in found.items())
            for found in (self._uses, self._bases, self._alone)
        )
        own = sorted({name for _, _, name in self._classes})
        return (
            uses,
            sorted(self._always),
            sorted(self._declares),
            sorted(self._exports),
            own,
            bases,
            alone,
            *map(sorted, (self._renames, self._variables, self._keep)),
        )

    def _words_of(self, node: tree_sitter.Node) -> list[bytes]:
        return WORD.findall(self._data, node.start_byte, node.end_byte)

    def _use(self, name: bytes, words: Iterable[bytes]) -> None:
        self._uses.setdefault(name, set()).update(words)

    def _class_around(self, at: int) -> bytes:
        """The innermost class around an offset; empty outside of classes."""
        around = [cls for cls in self._classes if cls[0] < at < cls[1]]
        return max(around)[2] if around else b""

    def _outside_of_definitions(self) -> list[tuple[int, int]]:
        """Read the functions that are defined. Returns the ranges between them."""
        outside: list[tuple[int, int]] = []
        end = 0
        for node in sorted(self._captures.get("definition", ()), key=lambda node: node.start_byte):
            body = node.child_by_field_name("body")
            if body is None:
                continue
            head = bisect_left(self._names, (node.start_byte, 0))
            if head < len(self._names) and self._names[head][0] < body.start_byte:
                self._definition(node, body, *self._names[head])
            if node.start_byte >= end:
                outside.append((end, node.start_byte))
                end = node.end_byte
        outside.append((end, len(self._data)))
        return outside

    def _definition(self, node: tree_sitter.Node, body: tree_sitter.Node, start: int, stop: int) -> None:
        """A function is defined, whose name is there."""
        data, words = self._data, self._words_of(node)
        *scopes, last = _names(data, start, stop)
        cls = self._class_around(start)
        if _STATIC.search(data, body.start_byte, body.end_byte) is not None:
            self._keep.update(WORD.findall(data, start, stop))
        if not last.startswith(b"operator"):
            self._use(last, words)
        elif scope := cls or b"".join(scopes[-1:]):
            self._use(scope, words)  # it is called where an object of the class is used
        else:
            self._always.update(words)
        if not cls and _STATIC.search(data, node.start_byte, start) is None:
            self._exports.add((scopes[-1] if scopes else b"", last))
            if named := _signature(node, data, start):
                self._alone[named] = {*WORD.findall(data, node.start_byte, body.start_byte)} - {last}

    def _declarations(self, outside: Iterable[tuple[int, int]]) -> None:
        """What is declared outside of functions."""
        data, at = self._data, 0
        for first, behind in outside:
            while at < len(self._names) and self._names[at][0] < behind:
                start, stop = self._names[at]
                at += 1
                if start >= first and (last := _names(data, start, stop)[-1]):
                    self._declares.add((self._class_around(start), last))
                    if _OF_SEVERAL.search(_DELIMITER.split(data[max(start - 200, 0) : start])[-1]) is not None:
                        self._shared.add(last)

    def _macro(self, node: tree_sitter.Node) -> None:
        value = node.child_by_field_name("value") or node.child_by_field_name("type")
        if value is None:
            return
        words = self._words_of(value)
        for one in (*node.children_by_field_name("name"), *node.children_by_field_name("declarator")):
            for name in self._words_of(one):
                self._use(name, words)
                self._renames.add(name)

    def _part(self, node: tree_sitter.Node) -> None:
        """A base or a member: it is made and destroyed with the class."""
        is_base = node.type == "base_class_clause"
        part = node if is_base else node.child_by_field_name("type")
        cls = self._class_around(node.start_byte)
        for value in node.children_by_field_name("default_value"):
            if _STATIC.search(self._data, node.start_byte, value.start_byte) is not None:
                self._always.update(self._words_of(value))
            elif cls:
                self._use(cls, self._words_of(value))
        if part is None or not cls:
            return
        words = self._words_of(part)
        self._use(cls, words)
        if is_base:
            self._bases.setdefault(cls, set()).update(words)

    def _values(self, outside: Sequence[tuple[int, int]]) -> None:
        """What initializes variables outside of functions, and what could not be read there."""
        values = [
            node
            for node in self._captures.get("value", ())
            if any(first <= node.start_byte < behind for first, behind in outside)
        ]
        unread = any(node.type == "ERROR" for node in values)
        parts = parts_of(self._data) if unread else Parts([], [blanked(self._data)])
        for function in parts.functions:
            name = _names(function, 0, function.find(b"("))[-1]
            self._use(name, WORD.findall(function))
            if _STATIC.search(function) is not None:
                self._keep.add(name)
        statements = [
            child
            for node in self._captures.get("scope", ())
            for child in node.named_children
            if child.type == "expression_statement"  # `REGISTER("f", f);`
        ]
        for node in values:
            self._variables.update(name for one in _variables_of(node) for name in self._words_of(one)[-1:])
        if unread:
            self._variables.update(name for text in parts.outside for name in _PERHAPS.findall(text))
        for one in (*(one for node in values for one in _given(node)), *statements):
            for text in parts.outside:
                self._always.update(WORD.findall(text, one.start_byte, one.end_byte))


def _signature(definition: tree_sitter.Node, data: bytes, start: int) -> bytes:
    """The function that is defined, by its namespaces and the types of its parameters; empty if a program may have
    several definitions of it, or if an `#if` may leave out this one.
    """
    kinds = definition.child_by_field_name("declarator")
    while kinds is not None and kinds.type != "function_declarator":
        kinds = kinds.child_by_field_name("declarator")
    body = definition.child_by_field_name("body")
    head = data[definition.start_byte : start]
    if kinds is None or body is None or _OF_SEVERAL.search(head) is not None:
        return b""
    if b"__global__" in head or (b"__device__" in head and b"__host__" not in head):
        return b""  # each file has its own, unless its code for the device is linked with that of others
    named, parameters = kinds.child_by_field_name("declarator"), kinds.child_by_field_name("parameters")
    if named is None or parameters is None or (named.type == "identifier" and not head.strip()) or kinds.has_error:
        return b""
    scopes = [b"".join(data[start : named.end_byte].split())]
    around = definition.parent
    while around is not None and around.type != "translation_unit":
        if around.type == "namespace_definition" and (name := around.child_by_field_name("name")) is not None:
            scopes.append(data[name.start_byte : name.end_byte])
        elif around.type not in ("declaration_list", "linkage_specification"):
            return b""  # a template, an unnamed namespace, a branch of an `#if`, or what could not be read
        around = around.parent
    if b"<" in scopes[0] or around is None:
        return b""
    types = [_type_of(parameter, data) for parameter in parameters.named_children if parameter.type != "comment"]
    types = [] if types == [b"void"] else types
    const = b" const" if b"const" in data[parameters.end_byte : kinds.end_byte] else b""
    return b"::".join(reversed(scopes)) + b"(" + b",".join(types) + b")" + const


def _type_of(parameter: tree_sitter.Node, data: bytes) -> bytes:
    """The text of a parameter without its name and what it is if nothing is given."""
    value = parameter.child_by_field_name("default_value")
    name = parameter.child_by_field_name("declarator")
    while name is not None and name.type != "identifier":
        name = name.child_by_field_name("declarator") or next(
            (child for child in name.named_children if child.type.endswith(("identifier", "declarator"))), None
        )
    end = parameter.end_byte if value is None else value.start_byte
    if name is None:
        text = data[parameter.start_byte : end]
    else:
        text = data[parameter.start_byte : name.start_byte] + b" " + data[name.end_byte : end]
    return b" ".join(_TOKEN.findall(SILENT.sub(b" ", text).rstrip(b" =\t\r\n")))


def _declared(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """What names a function: its declarator, or the whole of a conversion."""
    return node if node.type == "operator_cast" else node.child_by_field_name("declarator")


def _given(node: tree_sitter.Node) -> Iterable[tree_sitter.Node]:
    """The parts of a declaration outside of functions that run or make something: what could not be read, all of it."""
    if node.type == "ERROR":
        return (node,)
    if node.type == "init_declarator":
        return node.children_by_field_name("value")
    declarators = node.children_by_field_name("declarator")
    if any(map(_is_object, declarators)):
        return node.children_by_field_name("type")
    kind = node.child_by_field_name("type")
    return [
        given
        for one in declarators
        if kind is not None and one.type == "function_declarator" and _may_be_arguments(one, kind)
        for given in (kind, *one.children_by_field_name("parameters"))
    ]


def _variables_of(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The names of what a declaration outside of functions declares, but functions and constants."""
    kind = node.child_by_field_name("type")
    if node.type != "declaration" or kind is None:
        return
    constant = kind.type == "primitive_type" and any(child.text in (b"const", b"constexpr") for child in node.children)
    for declarator in node.children_by_field_name("declarator"):
        inner: tree_sitter.Node | None = declarator
        through: set[str] = set()
        while inner is not None and inner.type not in ("identifier", "qualified_identifier"):
            through.add(inner.type)
            if inner.type == "function_declarator" and not _may_be_arguments(inner, kind):
                through.add("function")
            inner = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
        is_function = "function" in through and through.isdisjoint(("parenthesized_declarator",))
        if inner is not None and not is_function and not (constant and "pointer_declarator" not in through):
            yield inner


def _may_be_arguments(declarator: tree_sitter.Node, kind: tree_sitter.Node) -> bool:
    """Whether `T f(a, b())` may declare an object: then each of these is a name, or a call of one; of a number, one is
    a call.
    """
    parameters = declarator.child_by_field_name("parameters")
    given = parameters.named_children if parameters is not None else []
    if not given or any(one.type != "parameter_declaration" for one in given):
        return False
    calls = [one.child_by_field_name("declarator") for one in given]
    if any(call is not None and call.type != "abstract_function_declarator" for call in calls):
        return False
    return any(calls) or kind.type != "primitive_type"


def _is_object(declarator: tree_sitter.Node) -> bool:
    """Whether what is declared is of the type in front of it, as a pointer to that is not."""
    if declarator.type == "init_declarator":
        inner = declarator.child_by_field_name("declarator")
        return inner is None or inner.type != "pointer_declarator"
    return declarator.type in _VARIABLES


def _qualified(name: tree_sitter.Node) -> tree_sitter.Node:
    """The name of a function with its scopes: those of a conversion are around it."""
    while (around := name.parent) is not None and around.type == "qualified_identifier":
        name = around
    return name


def _names(data: bytes, start: int, stop: int) -> list[bytes]:
    """The names of a declarator: those of its scopes, and that of the function, with what an operator is of."""
    text = _ARGUMENTS.sub(b"", data[start:stop])
    operator = _OPERATOR.search(text)
    if operator is None:
        return WORD.findall(text) or [b""]
    return [*WORD.findall(text[: operator.start()]), b"".join(operator[0].split())]
