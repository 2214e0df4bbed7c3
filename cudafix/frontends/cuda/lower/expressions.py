"""Expressions of host code: values and places, with the calls inside them lowered to statements before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

from tree_sitter import Node

from cudafix import ir, models
from cudafix.frontends.cuda.lower import assembly
from cudafix.frontends.cuda.lower.context import Bound, File, Scope, Source
from cudafix.frontends.cuda.lower.syntax import (
    cast_argument,
    cast_type,
    counts,
    first_named,
    is_constant_around,
)
from cudafix.frontends.cuda.lower.terms import (
    FIRST,
    NOTHING,
    PLACES,
    deref,
    flipped,
    index_of,
    is_temporary,
    matters,
    opaque,
    root_of,
    single_values,
    started,
)
from cudafix.frontends.cuda.lower.unchanged import asked, unchanged
from cudafix.frontends.cuda.preprocess.expansion import stands_for_another
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.frontends.cuda.sema.lookup import Use, of_library
from cudafix.frontends.cuda.sema.names import NULLS, PASSES
from cudafix.frontends.cuda.sema.owners import Optional
from cudafix.frontends.cuda.sema.second_names import is_memory_of_a_template
from cudafix.frontends.cuda.sema.type_texts import is_pointer, keeps_references, plain_name, pointee
from cudafix.ir import (
    NULL,
    Addr,
    Block,
    Const,
    Deref,
    Expr,
    Field,
    FuncRef,
    GlobalVar,
    Index,
    Offset,
    Opaque,
    Site,
    Span,
    Stmt,
    Var,
)
from cudafix.ir.names import WORD
from cudafix.ir.types import Type
from cudafix.models.constants import is_library_constant, is_variable_of_a_library
from cudafix.models.number_types import is_address_number, is_byte, is_floating, is_number

_LONGEST_TEXT = 400
MAX_DEPTH = 200
MAX_ARROWS = 8  # `operator->`s that `->` goes through
# words in the body of a macro that are no names: keywords of expressions and types
_NO_NAMES = frozenset(
    "alignof bool char const const_cast decltype delete double dynamic_cast else false float for if int long new "
    "noexcept nullptr operator reinterpret_cast return short signed sizeof static_cast struct this throw true typeid "
    "typename unsigned void volatile while do auto".split()
)
_CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9_]*|k[A-Z]\w*|__\w+__")
_OPAQUE_KIND = re.compile(r"\*$|^cu\w*(?:_t|Handle\w*)$|^CU\w+$")  # pointers and handles
_CALL = re.compile(r"(?!(?:sizeof|if|while)\b)\b[A-Za-z_]\w*\(")
_SPACE = re.compile(r"\s+")
_TIGHT = re.compile(r"(?<=\W) | (?=\W)")
_REMARKS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
_KEYWORD = (
    r"(?:if|for|while|switch|return|case|catch|do|else|try|sizeof|alignof|decltype|noexcept|typeid|throw|new|delete"
    r"|static_assert|bool|char|short|int|long|float|double|signed|unsigned|void|auto|size_t|u?int(?:8|16|32|64)_t"
    r"|(?:static|reinterpret|const|dynamic)_cast|struct|class|union|enum|const|volatile|mutable|and|or|not)"
)
_CALLED = re.compile(
    rf"((?:\.|->)\s*|(?:\w+\s*::\s*)*)\b(?!{_KEYWORD}\b)([A-Za-z_]\w*)\s*(?:<[^;(){{}}]*?>\s*)?(?=[({{])"
)
# expressions of which the value may be that of an operand
_PASS_ON = frozenset(
    ("parenthesized_expression", "identifier", "cast_expression", "comma_expression", "conditional_expression")
)
_LITERALS = frozenset(("number_literal", "true", "false", "char_literal", "user_defined_literal"))


def _is_api_constant(name: str) -> bool:
    """`cudaMemcpyDefault`, but not `cublas_handle`: no library has a constant in lower case, a header may have a
    variable.
    """
    return sites.is_api(name) and not name.islower()


ATOMIC_REF = re.compile(r"(?:const )?(?:(?:cuda::)?std::|cuda::)?atomic_ref\b")
SHOUT = re.compile(r"[A-Z][A-Z0-9_]+")
_COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">=", "<=>"))
_VECTORS_OF_THRUST = frozenset(("host_vector", "device_vector", "universal_vector"))
_VIEWS = frozenset(("span", "mdspan", "subrange", "ranges::subrange", "views::counted", "ranges::views::counted"))

_MOST_PARTS = 4  # of parts of parts

_INTEGER = re.compile(r"[0-9]+")


def is_iterator_of_map(kind: str) -> bool:
    """Whether a type is that of an iterator of a map."""
    of = Type.of(kind)
    return of.outer.pairs and of.last in ("iterator", "const_iterator") and of.is_direct


def _views_text(kind: str) -> bool:
    """Whether an object of a type is a view of a text, or has one in it."""
    of = Type.of(kind)
    return any(one.template.endswith("string_view") for one in (of, *of.inside))


class Expressions:
    """Lowers the expressions of one function. Statements collect in `out`, plain accesses in `reads` and `writes`."""

    readers: ClassVar[Mapping[str, Reader]]  # by the kind of a node, what evaluates one

    def __init__(self, file: File, source: Source, name: str, cls: str | None, namespace: str, text: bytes) -> None:
        self.file = file
        self.source = source
        self.name = name
        self.cls = cls
        self.namespace = namespace
        self.begins = 0  # where the function or initializer begins
        self.out: list[Stmt] = []
        self.labels: set[str] = set()  # that stand in front of what is lowered
        self.made: dict[Expr, str] = {}  # the results of calls in this block, and whose each is
        self.reads: dict[Expr, Node | None] = {}
        self.writes: dict[Expr, Node | None] = {}
        self.access: tuple[int, int, str] | None = None
        self.scopes: list[Scope] = [Scope()]
        self.types: dict[str, str] = {}
        self.used: dict[str, str] = {}  # names in use, with their types
        self.references: set[str] = set()
        self.gives = ""  # the type that it returns by value
        self.gives_one = True  # what it returns by its name is always the same
        self.lends = False  # the function returns a reference through which its caller may write
        self.lambdas: dict[str, str] = {}
        self.shared: set[str] = set()  # what lambdas in here name of the variables around them
        self.bindings: Mapping[str, Bound] = {}
        self.expanding: tuple[str, ...] = ()
        self.seen_as_written: set[str] = set()  # macros that are read as the ones of this file
        self.problems: list[tuple[str, int]] = []
        self.temporaries = 0
        self.depth = 0
        self.addressed = frozenset[str]()
        self.own: tuple[tuple[ir.Param, ...], Node, bytes] | None = None  # the function, where it is written
        self.instances: dict[str, Expr] = {}  # the variables of which each instantiation has one, and which one is here
        self.of_template: Expr | None = None  # the instantiation of the template that the function is of, if it is
        self.of_class: Expr = Opaque(())  # and that of its class
        self.place: sites.Place | None = None
        self.blocked: str | None = None
        self.fixed: str | None = None
        self.continuation = False
        self.macro_body: Node | None = None  # of the macro whose statements are lowered
        self.no_macros: set[str] = set()  # variables that have the name of one which is not defined here
        self.misnamed: list[int] = []  # declarations under the name of a macro
        self.used_at = 0  # where the outermost macro is used that is lowered
        self.effects = 0  # calls and launches so far
        self.branches = 0  # branches and loops around the current statement
        self.text = text
        self.around: tuple[Node, Source, Mapping[str, Bound]] | None = None  # the body of the function
        self.versions: dict[str, int] = {}  # how often a name was assigned so far
        self.counts: dict[Expr, str] = {}  # the range of the elements of an array that `new` made here
        self.memcpied: frozenset[int] = frozenset()  # the objects that a launch copies, by node
        self.listed: dict[int, tuple[Expr, ...]] = {}  # the values of `{a, b}`, by node
        self.ending: list[tuple[Var, Class, Node]] = []  # the temporary objects of the current statement
        self.given_away: list[Expr] = []  # the smart pointers that it moves from, until it is seen who takes them over
        self.moved_from: list[Expr] = []  # containers that somebody gets in the statement, to take their elements
        self.storage: set[str] = set()  # arrays and containers of a file that pins memory
        self.views: set[str] = set()  # the variables that got what a method of an object that is not seen returns
        self.owning: set[str] = set()  # the smart pointers that read as pointers to local objects
        self.rows: dict[str, Class] = {}  # the vectors that end their elements where that is lowered
        self.empty: dict[str, Node] = {}  # those that are empty since their declaration
        self.optional: dict[str, Optional] = {}  # the optional objects that read as pointers to what they hold
        self.numbers: dict[str, str] = {}  # the integers that local constants are
        self.extents: dict[str, str] = {}  # how many elements local arrays have, where it is an integer
        self.bumped: set[str] = set()  # the names assigned in the current loop body and not declared there
        self.unnamed: set[Expr] = set()  # what calls through pointers return
        self.unwritten: set[str] = set()  # see `ir.Function`
        self.implicitly = False  # an object is made where none is written: of a value that is not converted itself

    # -- text and positions -------------------------------------------------------------------------------------------

    def raw(self, node: Node) -> str:
        text = self.source.text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return self.as_pasted(text) if self.source.pasted else text

    def as_pasted(self, text: str) -> str:
        """A text with the names that `##` makes."""
        names = self.source.pasted
        return WORD.sub(lambda word: names.get(word[0], word[0]), text) if names else text

    def within(self, span: Span) -> Span:
        """The statement around a place, which something may be put in front of; the place itself outside of one."""
        return self.place.span if self.place is not None else span

    def span(self, node: Node) -> Span:
        source = self.source
        end = node.end_byte + source.shift
        if source.stop is not None and end > source.stop:
            end = source.stop
        elif self.file.filled and source.stop is None:
            end = self.file.end_of(end)
        return Span(source.path, node.start_byte + source.shift, end)

    def spelled(self, bound: Bound) -> str:
        """A macro argument as it is written where the outermost macro is used."""
        text = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
        text = bound.source.pasted.get(text, text)
        return self.spelled(bound.bindings[text]) if text in bound.bindings else text

    def normal(self, node: Node) -> str:
        """Normalized text: macro arguments put in, white space only between words."""
        text = self.raw(node)
        if self.file.redefined:
            text = WORD.sub(lambda found: self._as_redefined(found.group(), node), text)
        if self.bindings:
            text = WORD.sub(self._argument_text, text)
        return _TIGHT.sub("", _SPACE.sub(" ", text)).strip()

    def _as_redefined(self, word: str, node: Node) -> str:
        """A word, or the text of the macro that it is only here."""
        macro = self.hiding(word, node) if word in self.file.redefined and word not in self.bindings else None
        return macro.body.decode("utf-8", "replace").strip() if macro is not None and not macro.several else word

    def _argument_text(self, found: re.Match[str]) -> str:
        bound = self.bindings.get(found.group())
        if bound is None:
            return found.group()
        return bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")

    # -- output -------------------------------------------------------------------------------------------------------

    def emit(self, statement: Stmt) -> None:
        if self.access is not None:
            self.flush()
        self.out.append(statement)
        if isinstance(statement, ir.Call) and statement.result is not None:
            self.made[statement.result] = statement.callee

    def flush(self) -> None:
        if self.access is None:
            return
        start, end, path = self.access
        self.out.append(ir.HostAccess(tuple(self.reads), tuple(self.writes), Span(path, start, end)))
        self.reads, self.writes, self.access = {}, {}, None

    def touch(self, node: Node, place: Expr, write: bool = False) -> None:
        """Note that the host reads or writes a place, if it is memory that somebody else may see."""
        if isinstance(place, (Opaque, ir.Choice)):  # one of several
            for one in place.parts if isinstance(place, Opaque) else place.options:
                self.touch(node, one, write)
            return
        if not write:
            self.converts(node, place)
        if isinstance(place, (Index, Deref)) and self.is_on_the_device(self.type_of(place.base)):
            self.copied_element(node, place)
            return
        root = root_of(place)
        if isinstance(place, (Var, Field)) and self.holds_numbers(self.type_of(place)):  # a copy reads the elements
            self.touch(node, Index(place, Opaque(())), write)
        if self.may_be_overloaded(place):
            self.touch(node, Index(place, Opaque(())))
            self.touch(node, Index(place, Opaque(())), write=True)
        if keeps_references(self.type_of(root)):
            self.touch(node, Deref(root))
            self.touch(node, Deref(root), write=True)
        if isinstance(place, Var):
            name = place.name
            if name not in self.addressed and (
                "::" not in name or _OPAQUE_KIND.search(self.types.get(name, "")) is not None
            ):
                return
        elif not isinstance(place, (Field, Index, Deref)):
            return
        start, end, path = self.span(node)[1], self.span(node)[2], self.source.path
        if self.access is not None and self.access[2] != path:
            self.flush()
        if self.access is not None:
            start, end = min(start, self.access[0]), max(end, self.access[1])
        self.access = (start, end, path)
        (self.writes if write else self.reads)[place] = None
        for other in self.overlaid(place) if write else ():
            self.writes[other] = None

    def lend(self, node: Node, place: Expr) -> None:
        """Somebody gets the address of a place: a number that another member of its unions is may change from here on.
        Addresses in them are followed (`cudafix.ordering.interpreter.memory`).
        """
        for other in self.overlaid(place):
            if self.file.index.means_number(self.type_of(other)):
                self.emit(ir.Assign(other, opaque(other), self.span(node)))

    def overlaid(self, place: Expr) -> Iterator[Expr]:
        """The other members of the unions that a place is in."""
        while isinstance(place, (Field, Index)):
            if isinstance(place, Field):
                for name in self.file.index.overlaid(self.type_of(place.base), place.name):
                    yield Field(place.base, name)
            place = place.base

    def collect(self, run: Callable[[], None]) -> Block:
        """The statements that `run` emits, as a block of their own."""
        kept = self.out, self.made, self.reads, self.writes, self.access
        self.out, self.made, self.reads, self.writes, self.access = [], {}, {}, {}, None
        try:
            run()
            self.flush()
            return tuple(self.out)
        finally:
            self.out, self.made, self.reads, self.writes, self.access = kept

    def merge(self, block: Block) -> None:
        """Put the statements of a block here; accesses join the pending ones."""
        for statement in block:
            if isinstance(statement, ir.HostAccess) and (self.access is None or self.access[2] == statement.span.path):
                self.reads.update(dict.fromkeys(statement.reads))
                self.writes.update(dict.fromkeys(statement.writes))
                span = statement.span
                at = self.access or (span.start, span.end, span.path)
                self.access = (min(at[0], span.start), max(at[1], span.end), span.path)
            else:
                self.emit(statement)

    def unknown(self, why: str, node: Node, parts: tuple[Expr, ...] = (), anywhere: bool = False) -> Expr:
        """`anywhere`: it may run any statement of the function."""
        kept = self.source, self.bindings
        if anywhere and self.around is not None:
            text, self.source, self.bindings = self.around
        else:
            text = node
        names, called = self.words_of(text)
        self.source, self.bindings = kept
        reaches = () if parts or why == ir.THROUGH_POINTER else self._reached_by(names, changed=not anywhere)
        self.emit(ir.Unknown(why, self.span(node), parts, names, called, reaches))
        return Opaque(parts)

    def _reached_by(self, names: Iterable[str], changed: bool) -> tuple[Expr, ...]:
        """The variables that a text names, or that an object is of which it names a member."""
        found: dict[Expr, None] = {}
        for name in names:
            place = self.local(name)
            if place is not None:
                found[self.address(place) if changed else place] = None
            elif name == "this" or any(name in cls.fields for cls in self.file.index.lineage(self.cls)):
                found[Var("this")] = None
            elif (variable := self._global(name)) is not None:
                found[self.address(variable) if changed else variable] = None
        return tuple(found)

    def words_of(self, node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """`ir.Unknown.names` and `ir.Unknown.called` of a text, of which masks may hide some."""
        texts = [self.raw(node)]
        span = self.span(node)
        if span.path == self.file.path:
            texts.append(_REMARKS.sub(" ", self.file.original[span.start : span.end].decode("utf-8", "replace")))
        names: set[str] = set()
        called: dict[str, None] = {}
        while texts:
            text = texts.pop()
            if "<<<" in text:
                names.add(ir.LAUNCHES)
            fresh = set(WORD.findall(text)) - names
            names |= fresh
            for before, name in _CALLED.findall(text):
                called["." * before.startswith((".", "->")) + "".join(re.findall(r"\w+|::", before)) + name] = None
            for word in fresh:
                if word in self.bindings:
                    bound = self.bindings[word]
                    texts += (
                        bound.source.text[one.start_byte : one.end_byte].decode("utf-8", "replace")
                        for one in (bound.node, *bound.rest)
                    )
                if word in self.file.macros:
                    texts.append(self.file.macros[word].body.decode("utf-8", "replace"))
        return tuple(sorted(names)), tuple(name for name in called if not self._is_macro(name))

    def _is_macro(self, name: str) -> bool:
        """Whether a name is always that of a macro: in its own body it is that of something else."""
        macro = self.file.macros.get(name)
        return macro is not None and name not in WORD.findall(macro.body.decode("utf-8", "replace"))

    def unread(self, why: str, node: Node, parts: tuple[Expr, ...] = ()) -> Expr:
        """Unknown code of which not even the text is there: it may call any operator or method of the program."""
        self.unwritten.add("")
        return self.unknown(why, node, parts)

    def temporary(self, kind: str = "") -> Var:
        self.temporaries += 1
        made = Var(f"%{self.temporaries}")
        if kind:
            self.types[made.name] = kind
        return made

    # -- names --------------------------------------------------------------------------------------------------------

    def declare(self, name: str, kind: str, at: Node, reference: bool = False) -> Var:
        """A new local variable; it gets a name of its own where one of that name is visible or had another type, and
        where a macro declares it: what it is called does not depend on the other macros that are used in front of it.
        """
        if (macro := self.hiding(name, at)) is not None:
            if not macro.several and not macro.name_instead:
                self.no_macros.add(name)  # with `int 1;` the program does not compile
            else:
                word = re.search(rf"\b{re.escape(name)}\b", self.raw(at))
                self.misnamed.append(self.span(at).start + (word.start() if word is not None else 0))
        resolved = name
        visible = any(name in scope.names for scope in self.scopes)
        if visible or self.used.get(name, kind) != kind or self.source.stop is not None:
            resolved = f"{name}@{at.start_byte + self.source.shift}"
            while any(resolved in scope.names.values() for scope in self.scopes):  # of a use of the macro around this
                resolved += "@0"
        self.scopes[-1].names[name] = resolved
        self.scopes[-1].brought.pop(name, None)
        self.bumped.discard(name)
        self.numbers.pop(resolved, None)
        self.extents.pop(resolved, None)
        self.owning.discard(resolved)
        self.optional.pop(resolved, None)
        self.rows.pop(resolved, None)
        self.empty.pop(resolved, None)
        self.used[resolved] = kind
        self.types[resolved] = kind + " &" * reference
        if reference:
            self.references.add(resolved)
        else:
            self.references.discard(resolved)
        if name in self.addressed and resolved not in self.addressed:
            self.addressed |= {resolved}
        return Var(resolved)

    def local(self, name: str) -> Expr | None:
        for scope in reversed(self.scopes):
            if name in scope.brought:
                return None
            resolved = scope.names.get(name)
            if resolved is not None:
                var = Var(resolved)
                if resolved in self.instances:
                    return Index(var, self.instances[resolved])
                return Deref(var) if resolved in self.references else var
        return None

    def macro(self, name: str, node: Node) -> Macro | None:
        """The macro that a name is here."""
        macro = self.file.macros.get(name)
        if macro is None or macro.kind != "opaque" or name not in self.file.redefined:
            return macro
        return self.file.macro_at(name, self.used_at if self.source.stop is not None else node.start_byte)

    def last_name(self, macro: Macro, node: Node) -> str:
        """The name that a macro puts in its place, and macros of such names in theirs (C++17, 19.3.4 [cpp.rescan])."""
        name, seen = macro.body.decode("utf-8", "replace").strip(), {macro.name}
        while name not in seen and (inner := self.macro(name, node)) is not None and inner.name_instead:
            seen.add(name)
            name = inner.name_instead
        return name

    def hiding(self, name: str, node: Node) -> Macro | None:
        """The macro that a name is here, whatever else is called so (C++17, 5.2 [lex.phases] 4)."""
        macro = self.macro(name, node)
        hides = macro is not None and stands_for_another(macro) and name not in self.expanding
        return macro if hides and name not in self.no_macros else None

    def resolve(self, name: str, node: Node) -> Expr:
        hiding = self.hiding(name, node)
        if hiding is not None:
            return self._object_macro(hiding, node)
        found = self.local(name) or self.brought(name)
        if found is not None:
            return found
        index = self.file.index
        if self.cls is not None:
            own: Class | None = None
            for cls in index.lineage(self.cls):
                own = own or cls
                if name in cls.fields:
                    place = self.member(Deref(Var("this")), name)
                    # not looked up in a base that depends on a parameter (C++17, 17.6.2 [temp.dep] 3)
                    other = self._global(name) if own.templated and cls is not own else None
                    return place if other is None else ir.Choice((place, other))
                if name in cls.statics:
                    return self._static_member(cls, name, self._own_instance(cls))
        variable = self._global(name)
        if variable is not None:
            return variable
        if name in self.file.hosts or name in self.file.kernels:
            return FuncRef(name)
        if models.built_in().acts(name):
            self.file.references.add(name)
            return FuncRef(name)
        if index.is_declared_function(name):
            return FuncRef(name)
        if name in NULLS:
            return NULL
        if is_memory_of_a_template(node, name, self.source.text):
            self.file.parameters_of_templates.add(f"::{name}")
            return Var(f"::{name}")
        if index.is_enumerator(name) or _CONSTANT_NAME.fullmatch(name) or _is_api_constant(name):
            return Const(name)
        return Var(f"::{name}")

    def static_named(self, kind: str, name: str) -> Expr | None:
        """The static data member of this name that a class has, as it is written, or a base of it."""
        index = self.file.index
        cls = next((cls for cls in index.lineage(kind) if name in cls.statics), None)
        if cls is None:
            return None
        own, _, given = kind.removeprefix("const ").partition("<")
        if own.strip().rpartition("::")[2] != cls.name.rpartition("::")[2]:
            return self._static_member(cls, name, Opaque(()))  # of a base, or by another name
        if not given:
            return self._static_member(cls, name, self._own_instance(cls))
        complete = given.endswith(">") and len(ir.template_arguments(kind)) == cls.parameters
        return self._static_member(cls, name, Var(f"{ir.INSTANCE}<{given}") if complete else Opaque(()))

    def _own_instance(self, cls: Class) -> Expr:
        """Which instantiation of a class template its own name means here (C++17, 17.6.1 [temp.local] 1)."""
        return self.of_class if self.cls == cls.name else Opaque(())

    def _class_written(self, node: Node) -> str:
        """The class in front of the name of a member, with its template arguments."""
        scope: Node | None = None
        names: list[str] = []
        while node.type == "qualified_identifier" and (inner := node.child_by_field_name("name")) is not None:
            scope, node = node.child_by_field_name("scope"), inner
            names.append(self.raw(scope) if scope is not None else "")
        outer = [plain_name(one) for one in names[:-1]]
        return "::".join([*filter(None, outer), *names[-1:]])

    def _static_member(self, cls: Class, name: str, instance: Expr) -> Expr:
        """Of a template each instantiation has one (C++17, 17.7 [temp.spec] 5)."""
        var, kind = Var(f"{cls.name}::{name}"), cls.statics[name]
        if not cls.templated or name in cls.fixed:
            self.types.setdefault(var.name, kind)
            return var
        self.types.setdefault(var.name, f"{kind}[]")
        place = Index(var, instance)
        return opaque(place) if kind.endswith("]") else place

    def brought(self, name: str) -> Expr | None:
        """The variable at namespace scope that a declaration in a block around makes visible."""
        return self._global(name) if any(name in scope.brought for scope in self.scopes) else None

    def _global(self, name: str) -> Expr | None:
        """A variable at namespace scope, or what it refers to; one of several where it is not known which."""
        found = self._named_globals(name)
        for one in found:
            self.types.setdefault(one.name, one.type)
            if one.type.endswith(" &"):
                self.references.add(one.name)
        if not found:
            return None
        index = self.file.index
        places = [
            opaque(var) if index.lookup.are_several(one) else Deref(var) if var.name in self.references else var
            for one in found
            for var in (Var(one.name),)
        ]
        if len(places) == 1:
            return places[0]
        return Deref(ir.Choice(tuple(one.base if isinstance(one, Deref) else Addr(one) for one in places)))

    def _named_global(self, name: str) -> GlobalVar | None:
        found = self._named_globals(name)
        return found[0] if len(found) == 1 and not self.file.index.lookup.are_several(found[0]) else None

    def _named_globals(self, name: str) -> list[GlobalVar]:
        for scope in reversed(self.scopes):
            if name in scope.brought:
                return scope.brought[name]
        return self.file.index.variables(name, self.here)

    def resolve_variable(self, name: str, node: Node) -> Expr | None:
        """A member or global variable of that name, which a call goes through; not a macro or function."""
        if (found := self.brought(name)) is not None:
            return found
        if self.cls is not None:
            for cls in self.file.index.lineage(self.cls):
                if name in cls.fields:
                    return Field(Deref(Var("this")), name)
        return self._global(name)

    @property
    def here(self) -> Use:
        """The place of a name, for lookup. A member of a namespace or class may be defined outside of it (C++17, 6.4.1
        [basic.lookup.unqual] 6, 8).
        """
        home = self.name.partition("::<")[0].rpartition("::")[0]
        return Use(
            home if len(home) > len(self.namespace) else self.namespace,
            self.begins,
            tuple(space for scope in self.scopes for space in scope.opened),
            tuple(one for scope in self.scopes for one in scope.aliases.items()),
        )

    def constant(self, name: str, used: Node) -> str | None:
        """The integer that a name certainly means where it is used, a constant of this function or at namespace
        scope.
        """
        place = self.local(name)
        if place is not None:
            return self.numbers.get(place.name) if isinstance(place, Var) else None
        index, around = self.file.index, used
        while around.parent is not None and around.parent.type not in ("translation_unit", "declaration_list"):
            around = around.parent
        if not name.isidentifier() or self.source.shift or self._may_declare(around, name):
            return None
        if index.names_type(name) or (
            self.cls is not None and any(name in {**c.fields, **c.statics} for c in index.lineage(self.cls))
        ):
            return None
        variable = self._named_global(name)
        if variable is None:
            return None
        scope = variable.name.removesuffix(name).strip(":")
        return variable.number or None if f"{self.namespace}::".startswith(f"{scope}::") or not scope else None

    def number_of(self, text: str, used: Node) -> str | None:
        """The integer that a text certainly is where it is used."""
        if _INTEGER.fullmatch(text):
            return text
        macro = self.hiding(text, used)
        if macro is not None:
            body = macro.body.decode("utf-8", "replace").strip().strip("()").rstrip("uUlL")
            return body if _INTEGER.fullmatch(body) and not macro.several else None
        return self.constant(text, used)

    def _may_declare(self, node: Node, name: str) -> bool:
        """Whether something in there may have this name: a parameter of a template, a local enumerator, a member."""
        declares = rf"(?:\w\s+|::\s*){name}\b|\b{name}\s*=(?!=)|\benum\b[^;{{}}]*\{{[^}}]*\b{name}\b"
        return re.search(declares, self.raw(node)) is not None

    def _object_macro(self, macro: Macro, node: Node) -> Expr:
        """`#define N 1024` is a constant; `#define BUF ctx->buf` is what it stands for."""
        if macro.kind == "rename":
            return FuncRef(self.last_name(macro, node))
        if macro.either:
            return self.any_of(macro, node, lambda one: self._object_macro(one, node))
        if macro.kind == "opaque":
            return self.unread(f"macro `{macro.name}`", node)
        if not self._is_more_than_a_constant(macro, node, frozenset()):
            return NULL if macro.body.strip() in (b"NULL", b"nullptr") else Const(macro.name)
        expanded = self.expand(macro, {}, node, want_value=True)
        return expanded if expanded is not None else Opaque(())

    def _is_more_than_a_constant(self, macro: Macro, node: Node, around: frozenset[str]) -> bool:
        """Whether the body of a macro, or of one in it, names a variable here, or what nothing declares, or calls what
        does more than compute.
        """
        body = macro.body.decode("utf-8", "replace")
        words = set(WORD.findall(body))
        if macro.kind == "operates" and _CALLED.search(body) is not None:
            return True
        if any(self.local(word) is not None or self._global(word) is not None for word in words):
            return True
        if any(self.may_stand_for_any(word, node) for word in words - _NO_NAMES if not self.file.index.is_type(word)):
            return True
        if self.cls is not None and any(words & cls.fields.keys() for cls in self.file.index.lineage(self.cls)):
            return True
        inner = (self.file.macros[word] for word in words - around if word in self.file.macros)
        return any(self._is_more_than_a_constant(one, node, around | words) for one in inner)

    def type_of(self, expr: Expr) -> str:
        """The declared type of a place; empty if it is not known."""
        if isinstance(expr, Var):
            return self.types.get(expr.name, "").removesuffix(" &")
        if isinstance(expr, Deref):
            if isinstance(expr.base, Var):
                if expr.base.name in self.references:
                    return self.types.get(expr.base.name, "").removesuffix(" &")
                if expr.base.name == "this" and self.cls:
                    return self.cls
            if isinstance(expr.base, ir.Choice):
                return self.type_of(ir.Choice(tuple(map(Deref, expr.base.options))))
            if isinstance(expr.base, Addr):
                return self.type_of(expr.base.base)
            kind = self.type_of(expr.base)
            if is_iterator_of_map(kind):
                return self.element_of_map(kind)
            return kind.removesuffix(" &") if kind.endswith(" &") else pointee(kind)
        if isinstance(expr, Index):
            return pointee(self.type_of(expr.base))
        if isinstance(expr, Field):
            kind = self.type_of(expr.base)
            if (member := ir.member_of_pair(kind, expr.name)) is not None:
                return member
            if kind:
                for cls in self.file.index.lineage(kind):
                    if expr.name in cls.fields:
                        return cls.fields[expr.name]
            return ""
        if isinstance(expr, Offset):
            return self.type_of(expr.base)
        if isinstance(expr, ir.Choice):  # two objects of one class are one of it (C++17, 8.16 [expr.cond] 4, 5)
            kinds = set(map(self.type_of, expr.options))
            return kinds.pop() if len(kinds) == 1 else ""
        if isinstance(expr, Addr):
            inner = self.type_of(expr.base)
            return f"{inner}*" if inner.endswith("*") else f"{inner} *" if inner else ""
        return ""

    def size_of(self, place: Expr) -> Field | None:
        """How many elements a container has, if those are stored in a row, and may be addresses or handles."""
        kinds = self.file.index.meanings(self.type_of(place).removeprefix("const ").strip())
        given = [of.arguments if (of := Type.of(kind)).library.name == "vector" else () for kind in kinds]
        if not all(one and not is_number(one[0]) for one in given) or self.file.index.class_of(kinds[0]) is not None:
            return None
        return Field(place, ir.SIZE)

    def may_move(self, node: Node, place: Expr) -> None:
        """Somebody gets an object to take what it holds: of its containers it is not known what they have left."""
        kind = self.type_of(place)
        if isinstance(place, PLACES) and not (is_number(kind) or is_pointer(kind)):
            if kind not in ir.HANDLES:
                self.emit(ir.Assign(Field(place, ir.SIZE), NOTHING, self.span(node)))
            self.moved_from += self._rows_of(place)

    def _rows_of(self, place: Expr, within: int = 3) -> Iterator[Expr]:
        """The containers in an object: its members are moved one by one (C++17, 15.8.1 [class.copy.ctor] 14)."""
        kind = self.type_of(place)
        cls = self.file.index.class_of(kind) if within and not is_pointer(kind) else None
        if self.size_of(place) is not None:
            yield place
        elif cls is not None:
            for inner in (cls, *filter(None, map(self.file.index.class_of, cls.bases))):
                for name in inner.fields:
                    yield from self._rows_of(Field(place, name), within - 1)

    def takes_size(self, node: Node, place: Expr, values: tuple[Expr, ...]) -> None:
        """A container is made of the arguments of a constructor, or `resize`: of a number of elements, if the first one
        is a number (C++17, 26.3.11.2 [vector.cons]).
        """
        size = self.size_of(place)
        if size is None:
            return
        count = values[0] if values else Const("0")
        number = isinstance(count, Const) or (isinstance(count, Var) and is_number(self.type_of(count)))
        self.emit(ir.Assign(size, count if number else NOTHING, self.span(node)))

    def may_shrink(self, node: Node, place: Expr, values: tuple[Expr, ...]) -> None:
        """`resize`: the elements beyond the new size are gone (C++17, 26.3.11.3 [vector.capacity] 13)."""
        if values and self.size_of(place) is not None:
            self.emit(ir.Assign(Field(place, ir.SHRUNK), values[0], self.span(node)))

    def element_of_map(self, kind: str) -> str:
        """The type of the elements of a map, and of what its iterators lead to; empty for any other type."""
        of = Type.of(kind)
        given = of.arguments if of.library.pairs or is_iterator_of_map(kind) else ()
        return f"std::pair<const {given[0]}, {given[1]}>" if len(given) >= 2 else ""

    # -- values and places --------------------------------------------------------------------------------------------

    def value(self, node: Node, target: Expr | None = None, used: bool = True) -> Expr:
        """Evaluate an expression. A call puts its result into `target`; `used`: somebody looks at the value."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return self.unknown("nested too deeply", node)
            method = self.readers.get(node.type)
            if method is None:
                return self.other(node)
            result = method(self, node, target, used)
            if used and is_temporary(result) and node.type not in _PASS_ON:
                self.converts(node, result)
            return result
        finally:
            self.depth -= 1

    def lvalue(self, node: Node) -> Expr:
        """The place that an expression names, without reading it."""
        self.depth += 1
        try:
            kind = node.type
            if self.depth > MAX_DEPTH:
                return self.unknown("nested too deeply", node)
            if kind == "identifier":
                name = self.raw(node)
                bound = self.bindings.get(name)
                if bound is not None:
                    return self.in_argument(bound, self.lvalue)
                place = self.resolve(name, node)
                return self.value(node) if isinstance(place, Const) or self.may_stand_for_any(name, node) else place
            if kind == "subscript_expression":
                return self._subscript(node)
            if kind == "field_expression":
                return self._field(node)
            if kind == "pointer_expression" and node.children[0].type == "*":
                return self._deref(node)
            if kind in ("parenthesized_expression", "cast_expression"):
                inner = node.child_by_field_name("value") if kind == "cast_expression" else first_named(node)
                if inner is not None and inner.type != "compound_statement":
                    written = node.child_by_field_name("type")
                    place = self.lvalue(inner)
                    return self.ended(node, self.raw(written), place) if written is not None else place
            if kind == "qualified_identifier":
                return self.qualified(node)
            if kind == "template_function":
                return self.template_name(node)
            if kind == "call_expression" and (cast := cast_argument(self.raw, node)) is not None:
                return self.ended(node, cast_type(self.raw, node), self.lvalue(cast))
            if kind == "this":
                return Var("this")
            return self.value(node)
        finally:
            self.depth -= 1

    def in_argument(self, bound: Bound, run: Callable[[Node], Expr]) -> Expr:
        """Evaluate a macro argument where the macro was used."""
        kept = self.source, self.bindings, self.fixed, self.place, self.blocked, self.continuation, self.macro_body
        expanding = self.expanding
        bound.uses += 1
        if bound.uses > 1 and bound.reports and self.branches > bound.branches:
            return Opaque(())  # evaluated again only to say what failed
        self.source, self.bindings, self.place = bound.source, bound.bindings, bound.place
        self.continuation = bound.place is not None and bound.place.continuation
        self.macro_body, self.expanding = None, bound.expanding
        if bound.uses > 1:
            self.fixed = self.fixed or "in an argument that a macro uses more than once"
        elif self.branches > bound.branches:
            self.blocked = self.blocked or "in an argument that a macro may not evaluate"
        elif self.effects > bound.effects:
            self.blocked = self.blocked or "in an argument that a macro evaluates after another call"
        elif self.fixed == ir.IN_ANOTHER_FILE:
            self.fixed = None  # the argument stands in this file
        try:
            return run(bound.node)
        finally:
            self.source, self.bindings, self.fixed, self.place, self.blocked, self.continuation, self.macro_body = kept
            self.expanding = expanding

    def _argument(self, bound: Bound, target: Expr | None, used: bool) -> Expr:
        """The value of a macro argument. Of a pack, `f(), g()`, all are evaluated and the last is the value."""
        pack = bound.rest or (bound.node,)
        for node in pack[:-1]:
            self.in_argument(replace(bound, node=node), lambda argument: self.value(argument, None, False))
        return self.in_argument(bound, lambda _: self.value(pack[-1], target, used))

    def _identifier(self, node: Node, target: Expr | None, used: bool) -> Expr:
        name = self.raw(node)
        bound = self.bindings.get(name)
        if bound is not None:
            return self._argument(bound, target, used)
        found = self.resolve(name, node)
        if self.may_stand_for_any(name, node):
            return self.emit_call(node, node, name, (), (), None, target, used)
        if not self.type_of(found).endswith("]"):
            self.touch(node, found)
        return found

    def may_stand_for_any(self, name: str, node: Node) -> bool:
        """Whether a name means nothing that is declared here, and may be any macro. Where it is declared around here, a
        macro that was defined before would stand in its declaration too.
        """
        if self.file.index.is_perhaps_unseen(name):
            may_be = not self.file.index.is_constant_around(name)
        else:
            found = self.resolve(name, node)
            undeclared = found == Var(f"::{name}") and not self._named_globals(name)
            may_be = (undeclared or isinstance(found, Const)) and self._may_be_any_macro(name)
        return may_be and (name in self.file.every_macro or not is_constant_around(self.raw, node, name))

    def _may_be_any_macro(self, name: str) -> bool:
        """Whether a name that nothing in the program declares may be a macro of a header that is not here, which stands
        for any expression, but for constants of known libraries and of the build. Names in capitals may always be, as
        others may define them.
        """
        index = self.file.index
        if name in self.file.every_macro or (SHOUT.fullmatch(name) is None and not index.may_have_unseen_macros()):
            return False
        if is_variable_of_a_library(name):
            return False
        if index.is_enumerator(name) or index.is_constant_around(name):
            return False
        return not (is_library_constant(name) or _is_api_constant(name))

    def _literal(self, node: Node, target: Expr | None, used: bool) -> Expr:
        suffix = node.named_children[-1] if node.type == "user_defined_literal" else None
        name = f'operator""{self.raw(suffix)}' if suffix is not None else ""
        if suffix is not None and (
            self.raw(suffix).startswith("_")  # others are of the standard library ([usrlit.suffix])
            or name in self.file.hosts
            or self.file.index.is_declared_function(name)
        ):
            return self.emit_call(node, suffix, name, (Const(self.raw(node)),), (), None, target, used)
        return Const(self.raw(node))

    def _null(self, node: Node, target: Expr | None, used: bool) -> Expr:
        return NULL

    def _string(self, node: Node, target: Expr | None, used: bool) -> Expr:
        text = self.raw(node)
        return Const(text if len(text) <= _LONGEST_TEXT else ir.LONG_TEXT)

    def _this(self, node: Node, target: Expr | None, used: bool) -> Expr:
        return Var("this")

    def qualified(self, node: Node) -> Expr:
        name = plain_name(self.raw(node))
        scope, _, last = name.rpartition("::")
        cls = self.file.index.class_of(scope) if scope else None
        if (any_class := self._of_any_class(node, name, cls)) is not None:
            return any_class
        if cls is not None:
            if (static := self.static_named(self._class_written(node), last)) is not None:
                return static
            if self.cls is not None and last in cls.fields:
                return self.member(Deref(Var("this")), last)
        variable = self._global(name)
        if variable is not None:
            return variable
        if last in self.file.hosts or last in self.file.kernels or (cls is not None and last in cls.methods):
            return FuncRef(name.removeprefix("::"))
        if models.built_in().acts(name):
            self.file.references.add(last)
            return FuncRef(name.removeprefix("::"))
        if not scope and name.startswith("::"):
            return self.resolve(last, node)
        return Const(name)

    def _of_any_class(self, node: Node, name: str, cls: Class | None) -> Expr | None:
        """What a qualified name may mean whose scope is no class or namespace that is seen, but depends on a parameter
        of a template, is computed, or not known: a static data member of any class. None where it is not so.
        """
        index, (scope, _, last) = self.file.index, name.rpartition("::")
        if not scope:
            return None
        if not index.is_parameter(scope.partition("::")[0], self.name):
            lineage = list(index.lineage(self._class_written(node))) if cls is not None else []
            if any(last in one.fields or last in one.statics or last in one.methods for one in (cls, *lineage) if one):
                return None
            is_space = of_library(scope) or index.lookup.spaces_named(scope, self.here)
            if "<" not in self.raw(node) and (is_space or self._global(name) is not None):
                return None
        is_function = last in self.file.hosts or last in self.file.kernels or index.is_declared_function(last)
        return self._any_static_member(last, FuncRef(name) if is_function else Var(name))

    def _any_static_member(self, name: str, other: Expr) -> Expr | None:
        """One of all static data members of this name, or something else; None where none is seen."""
        members = self.file.index.static_members(name)
        self.file.members_by_name[name] = frozenset(f"{cls.name}::{name}" for cls in members)
        static = (self._static_member(cls, name, Opaque(())) for cls in members)
        places = tuple(place for one in static for place in single_values((one,)))
        is_array = any(cls.statics[name].endswith("]") for cls in members)
        if not places or is_array or isinstance(other, FuncRef):
            return ir.Choice((*places, other)) if places else None
        return Deref(ir.Choice((*map(Addr, places), Addr(other))))

    def _qualified(self, node: Node, target: Expr | None, used: bool) -> Expr:
        found = self.qualified(node)
        self.touch(node, found)
        return found

    def _template_name(self, node: Node, target: Expr | None, used: bool) -> Expr:
        found = self.template_name(node)
        self.touch(node, found)
        return found

    def template_name(self, node: Node) -> Expr:
        """A function template, or a variable template, whose variables are several."""
        name = plain_name(self.raw(node))
        variable = self._global(name)
        return opaque(variable) if variable is not None else FuncRef(name)

    def _parenthesized(self, node: Node, target: Expr | None, used: bool) -> Expr:
        inner = first_named(node)
        if inner is None:
            return Opaque(())
        if inner.type == "compound_statement":
            return self.statement_expression(inner, used)
        return self.value(inner, target, used)

    def _cast(self, node: Node, target: Expr | None, used: bool) -> Expr:
        inner = node.child_by_field_name("value")
        if inner is None:
            return Opaque(())
        kind = node.child_by_field_name("type")
        if kind is not None and self.raw(kind) == "void":
            return self.value(inner, target, False)
        self.sizes(kind)
        value = self.value(inner, self.unless_deduced(target), used)
        if self.raw(node).partition(")")[0].rstrip().endswith("&&"):
            self.may_move(node, value)
        return self.ended(node, self.raw(kind), value) if kind is not None else value

    def unless_deduced(self, target: Expr | None) -> Expr | None:
        """Where the value of a cast goes: not what is cast, if the type of that place is that of the cast."""
        kind = self.type_of(target) if target is not None else ""
        return target if kind and not kind.startswith("auto") else None

    def _subscript(self, node: Node) -> Expr:
        argument, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if argument is None:
            return Opaque(())
        named = self.lvalue(argument) if argument.type in ("identifier", "field_expression") else NOTHING
        base = self.of_unseen(named if self.holds_numbers(self.type_of(named)) else self.value(argument))
        index: Expr = Opaque(())
        for child in indices.named_children if indices is not None else ():
            index = self.value(child)
        counts = is_number(self.type_of(base)) and not self.holds_numbers(self.type_of(base))
        if isinstance(base, Const) or (counts and not is_number(self.type_of(index))):  # `0[p]`
            base, index = index, base
        given = self.overloaded(node, "[]", (base, index))
        if isinstance(base, Addr) and isinstance(base.base, Field) and not is_number(self.type_of(base.base)):
            return self.unknown("an element behind a member", node, (Addr(base.base.base),))
        return given if given is not None and is_temporary(given) else index_of(base, index)

    @staticmethod
    def of_unseen(base: Expr) -> Expr:
        """What is dereferenced: a qualified name that is not seen is a variable then, and no constant."""
        return Var(base.text) if isinstance(base, Const) and "::" in base.text else base

    def _subscript_value(self, node: Node, target: Expr | None, used: bool) -> Expr:
        return self._read(node, self._subscript(node))

    def _read(self, node: Node, place: Expr) -> Expr:
        """What a place holds; of an array, where that is."""
        if self.type_of(place).endswith("]"):
            return self.decayed(place)
        self.touch(node, place)
        return place

    def decayed(self, place: Expr) -> Expr:
        """A place, or the address of the first element if it is an array (C++17, 7.2 [conv.array])."""
        return Addr(Index(place, FIRST)) if self.type_of(place).endswith("]") else place

    def _field(self, node: Node) -> Expr:
        argument, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if argument is None or name is None:
            return Opaque(())
        operator = node.child_by_field_name("operator")
        arrow = operator is None or operator.type == "->"
        base = self.pointed(node, argument) if arrow else self.lvalue(argument)
        label = self.raw(name)
        if operator is not None and operator.type.endswith("*"):
            return self.unknown(ir.POINTER_TO_MEMBER, node, (base,))
        if name.type == "dependent_field_identifier" or not label.isidentifier():
            label = plain_name(label).rpartition("::")[2]  # `b.Base::e`: a member is known by its own name
        return self.member(base, label)

    def member(self, base: Expr, name: str) -> Expr:
        """A data member, or what it refers to."""
        kind, place = self.type_of(base), Field(base, name)
        static = self.static_named(kind, name)
        if static is not None and not self.file.index.is_parameter(Type.of(kind).core, self.name):
            return static
        if not self._declares(kind, name) and (any_class := self._any_static_member(name, place)) is not None:
            return any_class
        return Deref(place) if self.type_of(place).endswith(" &") else place

    def _declares(self, kind: str, name: str) -> bool:
        """Whether the class of a type is seen, and declares a member of this name, or a base of it does."""
        if ir.member_of_pair(kind, name) is not None:
            return True
        if self.file.index.is_parameter(Type.of(kind).core, self.name):
            return False
        return any(name in cls.fields or name in cls.methods for cls in self.file.index.lineage(kind))

    def bound(self, place: Expr, value: Expr) -> Expr:
        """What a data member gets that is made of a value: if it is a reference, where that is."""
        if not self.type_of(place).endswith(" &"):
            return value
        is_place = isinstance(value, (Var, Field, Index))
        bound = value.base if isinstance(value, Deref) else Addr(value) if is_place else opaque(value)
        return ir.Choice((bound, opaque(value))) if self._is_open_member(place) else bound

    def _is_open_member(self, place: Expr) -> bool:
        """Whether a data member may be a reference, or none."""
        known = self.file.index.lineage(self.type_of(place.base)) if isinstance(place, Field) else ()
        return isinstance(place, Field) and any(place.name in cls.open for cls in known)

    def pointed(self, node: Node, argument: Node) -> Expr:
        """What is in front of `->`: what a pointer leads to, or what the `operator->`s of classes give."""
        value = self.value(argument)
        for _ in range(MAX_ARROWS):
            given = self.overloaded(node, "->", (value,))
            if given is None:
                break
            value = given
        if is_temporary(value) and not self.type_of(value) and self._arrows_go_on():
            return deref(ir.Choice((value, self.emit_call(node, node, "operator->", (), (), value, None, True))))
        return deref(value)

    def _arrows_go_on(self) -> bool:
        """Whether an `operator->` returns an object that has one itself (C++17, 16.5.6 [over.ref])."""
        index = self.file.index
        kinds = (index.returned("operator->") | index.referred("operator->")) - {""}
        return any(not is_pointer(kind) and index.class_of(kind) is not None for kind in kinds)

    def _field_value(self, node: Node, target: Expr | None, used: bool) -> Expr:
        return self._read(node, self._field(node))

    def _deref(self, node: Node) -> Expr:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return Opaque(())
        inner = argument
        while inner.type == "parenthesized_expression" and (child := first_named(inner)) is not None:
            inner = child
        if inner.type == "binary_expression":
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            operator = inner.child_by_field_name("operator")
            if left is not None and right is not None and operator is not None and operator.type == "+":
                base, index = self.value(left), self.value(right)
                if (moved := self.overloaded(inner, "+", (base, index))) is None:
                    return index_of(base, index)
                return self._dereferenced(node, moved)
        return self._dereferenced(node, self.value(argument))

    def _dereferenced(self, node: Node, value: Expr) -> Expr:
        given = self.overloaded(node, "*", (value,))
        of = Type.of(self.type_of(value))
        if given is None and of.library.optional and Type.of(of.arguments[0]).is_pointer:
            return ir.Choice((deref(value), value))  # the pointer is in the object
        return given if given is not None else deref(self.of_unseen(value))

    def _pointer(self, node: Node, target: Expr | None, used: bool) -> Expr:
        if node.children[0].type == "*":
            place = self._deref(node)
            if not self.type_of(place).endswith("]"):
                self.touch(node, place)
            return place
        argument = node.child_by_field_name("argument")
        if argument is None:
            return Opaque(())
        place = self.lvalue(argument)
        self.lend(node, place)
        given = self.overloaded(node, "&", (place,))
        return given if given is not None else self.pointer_to(place)

    def pointer_to(self, place: Expr) -> Expr:
        """`&place`, of an array too that it is an element of."""
        if isinstance(place, (FuncRef, Const)):
            return place
        if isinstance(place, Deref):
            return Addr(place) if Type.of(self.type_of(place.base)).library.optional else place.base
        if isinstance(place, Index):
            if Type.of(self.type_of(place.base)).library.linked:
                return Addr(place)
            return self.moved(place.base, place.index)
        if isinstance(place, (Opaque, ir.Choice)):  # one of several
            parts = place.parts if isinstance(place, Opaque) else place.options
            return opaque(*(self.pointer_to(one) for one in parts))
        return self.address(place)

    def address(self, place: Expr) -> Expr:
        """Where a place is. Of what a reference names that a call has returned, only the value is known: a number may
        be anywhere.
        """
        made = self.reached_by(place) if is_temporary(place) else ""
        if isinstance(place, Index) and self.file.index.class_of(self.type_of(place.base)) is not None:
            made = "operator[]"
        kinds = self.file.index.referred(made) - {""}
        if kinds and all(map(self.file.index.means_number, kinds)):
            return opaque()
        return Addr(place)

    def moved(self, base: Expr, index: Expr) -> Expr:
        """`base + index`: another element where the elements are pointers or objects, else somewhere in the block."""
        if started(base) is not None:
            return Addr(index_of(base, index))
        if isinstance(base, Addr) and isinstance(base.base, Index):
            return Addr(Index(base.base.base, opaque(base.base.index, index)))
        if isinstance(base, Offset):
            return base
        kind = self.type_of(base)
        element = pointee(kind)
        if not element and kind and not self.may_be_any(kind):
            return Offset(base)
        plain = is_number(element) or self.file.index.names_type(element) or element in ("void", "char")
        if (plain and kind.endswith("*")) or isinstance(base, (Offset, Addr, Opaque)):
            return Offset(base)
        return Addr(Index(base, index))

    def look_through(self, node: Node, operator: str, left: Expr, right: Expr) -> None:
        """A view is compared by what it views (C++20, [string.view.comparison]); what is compared with neither a number
        nor a pointer may be one where its type is deduced.
        """
        for place, other in ((left, right), (right, left)):
            kind, against = self.type_of(place), self.type_of(other)
            deduced = operator in _COMPARES and kind.startswith("auto") and not is_pointer(kind)
            text = isinstance(other, Const) and '"' in other.text
            if _views_text(kind) or (
                deduced and (text or not (isinstance(other, Const) or is_number(against) or is_pointer(against)))
            ):
                self.touch(node, Deref(place))

    def listed_values(self, node: Node) -> tuple[Expr, ...]:
        self._list(node, None, True)
        return self.listed[node.id]

    def through_reference(self, place: Expr, node: Node) -> None:
        """What a call returned was assigned: it was a reference, to what is not known."""
        root = root_of(place)
        if not is_temporary(root) or self._is_made(root):
            return
        stored = self.out[-1].value if self.out and isinstance(self.out[-1], ir.Assign) else root
        given = self.given_for(root)  # it may be to one of these
        if self.may_lead(stored) and not self._is_number_at(place, root):
            self.unknown("a reference that a call returns is assigned", node, (root, stored, *given))
            self.emit(ir.Assign(Index(root, Opaque(())), stored, self.span(node)))  # or to what others can reach
            return
        for one in given:
            kind = self.type_of(one)
            if (
                isinstance(one, PLACES)
                and "*" not in kind
                and not keeps_references(kind)
                and self.file.index.class_of(kind) is None
            ):
                self.emit(ir.Assign(one, opaque(one, stored), self.span(node)))  # the number in there

    def given_for(self, result: Expr) -> tuple[Expr, ...]:
        """What the call in this statement was given that returned a temporary; nothing for any other value."""
        calls = (one for one in reversed(self.out) if isinstance(one, ir.Call) and one.result == result)
        return next((one.given for one in calls), ()) if is_temporary(result) else ()

    def _is_made(self, root: Expr) -> bool:
        """Whether a temporary is an object of its own, not what a reference names that a call has returned."""
        return isinstance(root, Var) and not self.types.get(root.name, "&").endswith("&")

    def reached_by(self, result: Expr) -> str:
        """The last name component of the function whose call gave this result; empty if there is none."""
        return self.made.get(result, "").rpartition("::")[2]

    def _is_number_at(self, place: Expr, root: Expr) -> bool:
        """Whether a place is a number, which a call has led to that returned `root`."""
        index, name = self.file.index, self.reached_by(root)
        if place == root:
            kinds = index.referred(name)
        else:
            given = (index.returned(name) | index.referred(name)) - {""} if getattr(place, "base", None) == root else ()
            kinds = {pointee(kind.removeprefix("const ")) for kind in given}
        return index.means_number(self.type_of(place)) or (bool(kinds) and all(map(index.means_number, kinds)))

    def assign(self, place: Expr, right: Node, node: Node, left: Node | None = None) -> Expr:
        """`place = right`; a call on the right writes its result there directly. The value that was assigned."""
        if right.type == "lambda_expression" and isinstance(place, Var):
            made = self.value(right)
            if isinstance(made, FuncRef):
                self.lambdas[place.name] = made.name
            self.emit(ir.Assign(place, made, self.span(node)))
            return made
        count = len(self.out)
        value = self.value(right, place if not is_temporary(place) else None)
        if isinstance(value, Const) and value.text == "0" and is_pointer(self.type_of(place)):
            value = NULL
        if left is not None:
            self.touch(left, place, write=True)
        if value is place and len(self.out) > count:
            self.bump(place)
            return value  # a call has put its result there
        if self.type_of(place) in ir.HANDLES or is_pointer(self.type_of(place)):
            value = self.as_handle(right, value)
        self.store(place, value, node)
        return value

    def store(self, place: Expr, value: Expr, node: Node) -> None:
        """An assignment, unless the target is a plain number that nobody can index or branch with."""
        self.bump(place)
        self.hands_on(node, value)
        kind = self.type_of(place)
        of = Type.of(kind)
        if of.library.optional:
            value = self.held(value, node)
        self.copied(node, kind, (value,))
        self.made_of_unseen(node, kind, (value,))
        if kind and not is_number(kind) and not is_pointer(kind) and self.file.index.class_of(kind) is None:
            self.hands_over(node, kind, (value,))
        disguised = is_floating(kind) and self.is_address(value)
        if isinstance(place, Var):
            to_bytes = of.marks == ("*",) and is_byte(of.core)
            if to_bytes and (whose := pointee(self.type_of(value))) and not is_number(whose):
                self.types[place.name] = "void *"  # through it the bytes of something else are read and written
            if is_floating(kind) and not disguised:
                return
        elif not isinstance(place, (Field, Index, Deref, ir.Choice)):
            if not self.may_lead(value):
                return  # not a place of which it is known where it is: what it gets must not matter
            if isinstance(place, Const):
                self.unknown(f"what is assigned to `{place.text}`", node, (value,))
                return
        elif (is_floating(kind) and not disguised) or (
            isinstance(place, (Index, Deref))
            and is_number(kind)
            and not is_reference(self, place)
            and not self.is_address(value)
        ):
            return
        self.emit(ir.Assign(place, value, self.span(node), counts(self.raw, node)))
        if isinstance(place, Field) and not self.may_lead(value):  # a number in another member of a union
            for other in self.overlaid(place):
                self.emit(ir.Assign(other, value, self.span(node)))

    def held(self, value: Expr, node: Node) -> Expr:
        """What an object is where another one holds it without a name: all that is in it."""
        kind = self.type_of(value)
        if is_pointer(kind) or self.file.index.class_of(kind) is None:
            return value
        made = value if is_temporary(value) else self.temporary(kind)
        if made != value:
            self.emit(ir.Assign(made, value, self.span(node)))
        return opaque(made)

    def copied(self, node: Node, kind: str, values: tuple[Expr, ...]) -> None:
        """What a container of values is made of, compared with or extended by, it reads there and then."""
        of = Type.of(kind)
        for value in values if of.library.ranged and not of.innermost.is_pointer else ():
            if is_pointer(self.type_of(value)):
                self.touch(node, deref(value))
        if of.template.removeprefix("std::") in _VIEWS:
            for value in values:
                if not is_number(self.type_of(value)) and not isinstance(value, Const):
                    self.touch(node, deref(value))
                    self.touch(node, deref(value), write=True)

    def holds_numbers(self, kind: str) -> bool:
        """Whether a type is a container whose elements are numbers."""
        of = Type.of(kind)
        if of.library.name in ("vector", "array"):
            return self.file.index.means_number(pointee(kind))
        return of.library.text and not (of.library.stream or of.arguments or of.marks)

    def is_on_the_device(self, kind: str) -> bool:
        """Whether Thrust copies what an object of this type shows."""
        return any(Type.of(one).outer.device for one in self.file.index.meanings(kind))

    def lead_to_elements(self, var: Expr, node: Node) -> None:
        """A vector of Thrust is a pointer to its elements, as long as no pointers can be in there."""
        for kind in self.file.index.meanings(self.type_of(var)):
            of = Type.of(kind)
            if of.library.name not in _VECTORS_OF_THRUST or of.marks:
                continue
            cls = self.file.index.class_of(of.arguments[0])
            kinds = list(cls.fields.values()) if cls is not None else of.arguments[:1]
            if kinds and all(map(self.file.index.means_number, kinds)):
                self.emit(ir.Assign(var, Addr(Index(var, Opaque(()))), self.span(node)))

    def copied_element(self, node: Node, place: Expr) -> None:
        """An element of memory of the device that Thrust shows as if it were the host's: it is copied, with a wait."""
        span = self.span(node)
        site = self.site(node)
        site.blocked = site.blocked or "in an expression"
        name_span = Span(span.path, span.start, span.start)
        self.emit(ir.Call("thrust::copy", (Addr(place),), span, name_span, span.end, site))

    def copied_inside(self, node: Node, kind: str, values: tuple[Expr, ...]) -> None:
        """The same for the elements of a container, which it makes of what it is given."""
        of = Type.of(kind)
        for one in of.inside:
            self.copied(node, one.text, values)
        if of.library.parts:
            self.made_of_unseen(node, kind, values)

    def held_by(self, place: Expr, depth: int = 0) -> Iterator[Expr]:
        """A place, and the members and elements in it that are no numbers: what a copy of it has."""
        yield place
        kind = self.type_of(place)
        if is_pointer(kind) or depth > _MOST_PARTS:
            return
        if pointee(kind) or (kind and self.may_be_any(kind)):
            yield Index(place, Opaque(()))
        for cls in self.file.index.lineage(kind):
            for name, member in cls.fields.items():
                if not is_number(member) or is_address_number(member):
                    yield from self.held_by(self.member(place, name), depth + 1)

    def may_lead(self, value: Expr) -> bool:
        """Whether a value may be a pointer, a handle or an object that holds one."""
        if isinstance(value, (Opaque, ir.Choice)):
            return any(self.may_lead(part) for part in (value.parts if isinstance(value, Opaque) else value.options))
        return not isinstance(value, Const) and not self.file.index.means_number(self.type_of(value))

    def is_address(self, value: Expr) -> bool:
        """Whether a value is an address, or computed from one."""
        if isinstance(value, (Opaque, ir.Choice)):
            return any(self.is_address(part) for part in (value.parts if isinstance(value, Opaque) else value.options))
        return is_pointer(self.type_of(value))

    def bump(self, place: Expr) -> None:
        """Remember that a variable has another value from here on."""
        if isinstance(place, (Var, Field)):
            name = place.name.lstrip(":").partition("@")[0]
            self.versions[name] = self.versions.get(name, 0) + 1
            self.bumped.add(name)

    def _measure(self, node: Node, target: Expr | None, used: bool) -> Expr:
        self.sizes(node.child_by_field_name("type"))
        return NOTHING

    def sizes(self, node: Node | None) -> None:
        """The sizes of an array in a declarator or a type, which may be computed (C17, 6.7.6.2)."""
        while node is not None:
            size = node.child_by_field_name("size")
            if size is not None and (size.child_count or size.type == "identifier"):
                self.value(size)
            node = node.child_by_field_name("declarator")

    def assembly(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """`asm`, as the file has it: it is masked in the text that is parsed."""
        span = self.span(node)
        text = self.file.original if span.path == self.file.path else self.source.text
        start, end = (span.start, span.end) if span.path == self.file.path else (node.start_byte, node.end_byte)
        written = assembly.given(text[start:end].decode("utf-8", "replace"))
        places = [self.resolve(name, node) for name in written.names if name != "this"]
        for place in (Deref(Var("this")), *places) if "this" in written.names else places:
            for write in (False, True):
                self.touch(node, place, write)
                if not is_number(self.type_of(place)):
                    self.touch(node, deref(place), write)
        for name in written.written:
            self.store(self.resolve(name, node), opaque(*places), node)
        if not written.known:
            self.emit(ir.Unknown("inline assembly", self.span(node)))  # no word of it is C++
            return Opaque(())
        if written.clock:
            self.emit(ir.Call("asm", (), span, Span(span.path, span.start, span.start), span.end, self.site(node)))
        return opaque(*places)

    def _list(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """`{a, b}`, and everything else that only evaluates its operands."""
        values: tuple[Expr, ...] = ()
        braces = node.type == "initializer_list"
        for child in node.named_children:
            listed = self.several(child) if braces else ()
            if listed:
                values += tuple(self.in_argument(one, self.value) for one in listed)
            elif child.type not in _NOT_VALUES or (braces and child.type == "string_literal"):
                values += (self.value(child),)
        if braces:
            self.listed[node.id] = values
        return opaque(*values)

    def _of_pack(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """What a fold or an expansion repeats runs once for each element of a pack, which may have none (C++20, 13.7.4
        [temp.variadic] 8).
        """
        values: list[Expr] = []
        kept, self.blocked = self.blocked, self.blocked or "repeated for each element of a pack"
        block = self.collect(lambda: values.append(self.other(node)))
        self.blocked = kept
        if not matters(block):
            self.merge(block)
            return values[0]
        self.emit(ir.Loop(block, self.span(node)))
        return opaque(*values)

    def other(self, node: Node) -> Expr:
        if node.type == "ERROR":
            return self.unread(ir.NOT_PARSED, node)
        if node.type in ("co_await_expression", "co_yield_statement"):
            self.problems.append(("coroutine", self.span(node).start))
            return self.unknown("coroutine", node, anywhere=True)
        if node.type.endswith("_statement"):
            return self.unknown("a statement inside of an expression", node)
        if node.child_count == 0:
            return Opaque(())
        return self._list(node, None, True)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def test(self, node: Node) -> ir.Test:
        """Evaluate a condition and say what it is about."""
        negated: Node | None = None
        text = self.condition_text(node)
        flips = False
        while True:
            if node.type in ("parenthesized_expression", "condition_clause"):
                inner = node.child_by_field_name("value") or first_named(node)
                if inner is None or inner.type == "compound_statement":
                    break
                node = inner
            elif node.type == "unary_expression" and node.children[0].type in ("!", "not"):
                inner = node.child_by_field_name("argument")
                if inner is None:
                    break
                negated, node, flips = node, inner, not flips
            elif node.type == "identifier" and (bound := self.bindings.get(self.raw(node))) is not None:
                tests: list[ir.Test] = []

                def evaluate(argument: Node, tests: list[ir.Test] = tests) -> Expr:
                    tests.append(self.test(argument))
                    return NOTHING

                self.in_argument(bound, evaluate)
                return flipped(tests[0], text) if flips else tests[0]
            elif node.type == "call_expression" and self._passes(node):
                arguments = node.child_by_field_name("arguments")
                inner = first_named(arguments) if arguments is not None else None
                if inner is None:
                    break
                node = inner
            else:
                break
        test = self._plain_test(node, text, negated)
        if test.kind == "other":
            test = test._replace(asked=self._asked(node))
        return flipped(test, text) if flips else test

    def _asked(self, node: Node) -> tuple[str, bool] | None:
        """What a condition asks of variables that keep their values while the function runs."""
        if self.bindings or self.source.stop is not None or ir.LAMBDA in self.name:
            return None
        names: dict[str, str] = {}
        for word in set(WORD.findall(self.raw(node))):
            place = self.local(word)
            if isinstance(place, Var) and word in self.unchanged:
                names[word] = place.name
            elif place is None and (number := self.number_of(word, node)) is not None:
                names[word] = number
            elif place is None and self._is_only_enumerator(word, node):
                names[word] = word
        return asked(node, self.source.text, names) if any(word in self.unchanged for word in names) else None

    def _is_only_enumerator(self, name: str, node: Node) -> bool:
        index = self.file.index
        known = index.is_enumerator(name) and not index.are_several(name) and self.hiding(name, node) is None
        return known and self._global(name) is None and not any(name in c.fields for c in index.lineage(self.cls))

    @cached_property
    def unchanged(self) -> frozenset[str]:
        """The variables that keep the value that they begin with."""
        if self.own is None:
            return frozenset()
        params, body, text = self.own
        return unchanged(self.file, params, body, text)

    def condition_text(self, node: Node) -> str:
        """The normalized text, marked so that it differs where a call is in it or its variables changed in between."""
        text = self.normal(node)
        if "(" in text and _CALL.search(text) is not None:
            return f"{text}@{self.span(node).start}"
        marks = [f"{word}#{self.versions[word]}" for word in sorted(set(WORD.findall(text))) if self.versions.get(word)]
        return " ".join([text, *marks])

    def marked(self, text: str, words: frozenset[str]) -> str:
        """A range with a mark for each of its variables that was assigned again."""
        return text + "".join(f"#{self.versions[word]}" for word in sorted(words) if self.versions.get(word))

    def callee_text(self, node: Node) -> str:
        function = node.child_by_field_name("function")
        return self.raw(sites.of_the_global_scope(function)) if function is not None else ""

    def _passes(self, node: Node) -> bool:
        """Whether the value of a call is that of its first argument."""
        name = self.callee_text(node)
        return name in PASSES and not self.file.is_own(name)

    def _plain_test(self, node: Node, text: str, negated: Node | None) -> ir.Test:
        if node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is not None and right is not None and operator is not None and operator.type in ("==", "!="):
                first, second = self.value(left), self.value(right)
                if (given := self.overloaded(node, operator.type, (first, second))) is not None:
                    if negated is not None:
                        self.overloaded(negated, "!", (given,))
                    return ir.Test("other", None, text)
                self.look_through(node, operator.type, first, second)
                if isinstance(first, (Const, Opaque)) and not isinstance(second, Const):
                    first, second = second, first
                same = operator.type == "=="
                if isinstance(second, Const) and isinstance(first, PLACES):
                    kind = self.type_of(first)
                    if sites.SUCCESS.fullmatch(second.text) or (
                        second.text == "0" and sites.STATUS_TYPE.fullmatch(kind)
                    ):
                        return ir.Test("ok" if same else "failed", first, text)
                    if second == NULL or (second.text == "0" and is_pointer(kind)):
                        return ir.Test("null" if same else "nonnull", first, text)
                return ir.Test("other", None, text)
        value = self.value(node)
        if negated is not None:
            self.overloaded(negated, "!", (value,))
        if isinstance(value, PLACES):
            kind = self.type_of(value)
            if sites.STATUS_TYPE.fullmatch(kind):
                return ir.Test("failed", value, text)
            if is_pointer(kind):
                return ir.Test("nonnull", value, text)
        return ir.Test("other", None, text)

    def through_pointer(self, node: Node, values: tuple[Expr, ...]) -> Expr:
        """A call of a function that is not named. It may return a reference to what it is given."""
        self.unknown(ir.THROUGH_POINTER, node, values)
        result = Opaque(values)
        self.unnamed.add(result)
        return result

    def perhaps(self, node: Node, when: str, run: Callable[[], Expr]) -> Expr:
        """What `run` evaluates, which the program may do or not."""
        values: list[Expr] = []
        kept, self.blocked = self.blocked, self.blocked or f"in `{self.callee_text(node) or when}`"
        block = self.collect(lambda: values.append(run()))
        self.blocked = kept
        if matters(block):
            self.emit(ir.If(ir.Test("other", None, when), block, (), self.span(node)))
        else:
            self.merge(block)
        return opaque(*values)

    def any_of(self, macro: Macro, node: Node, read: Callable[[Macro], Expr]) -> Expr:
        """A use of a macro that may be one of several: what `read` makes of each, which the program may do or not."""
        return opaque(*(self.perhaps(node, macro.name, partial(read, one)) for one in macro.either))

    def kept_references(self, node: Node, values: tuple[Expr, ...], kind: str = "std::reference_wrapper") -> Var:
        """A temporary object that keeps where these are."""
        options = list(single_values(values))
        kept = [one.base if isinstance(one, Deref) else Addr(one) for one in options if isinstance(one, PLACES)]
        made = self.temporary(kind)
        self.emit(ir.Assign(made, ir.Choice((*kept, *values)), self.span(node)))
        return made

    # -- supplied by the calls and the statements ---------------------------------------------------------------------

    def site(self, node: Node) -> Site:
        raise NotImplementedError

    def several(self, node: Node) -> tuple[Bound, ...]:
        raise NotImplementedError

    def may_be_overloaded(self, place: Expr) -> bool:
        raise NotImplementedError

    def made_of_unseen(self, node: Node, kind: str, values: Iterable[Expr]) -> None:
        raise NotImplementedError

    def expand(self, macro: Macro, bindings: Mapping[str, Bound], node: Node, want_value: bool) -> Expr | None:
        raise NotImplementedError

    def statement_expression(self, node: Node, used: bool) -> Expr:
        raise NotImplementedError

    def branch_on(self, condition: Node, then: ir.Block, other: ir.Block, node: Node) -> None:
        raise NotImplementedError

    def overloaded(self, node: Node, symbol: str, values: tuple[Expr, ...]) -> Expr | None:
        raise NotImplementedError

    def is_overloaded(self, symbol: str) -> bool:
        raise NotImplementedError

    def assigned(self, node: Node, place: Expr, cls: Class, right: Node) -> bool:
        raise NotImplementedError

    def may_be_any(self, kind: str) -> bool:
        raise NotImplementedError

    def leaves_unwritten(self, kind: str, value: Expr) -> None:
        raise NotImplementedError

    def emptied(self, node: Node, place: Var) -> Expr:
        raise NotImplementedError

    def emit_call(
        self,
        node: Node,
        name_node: Node,
        callee: str,
        values: tuple[Expr, ...],
        spans: tuple[Span, ...],
        receiver: Expr | None,
        target: Expr | None,
        used: bool,
        pasted: bool = False,
    ) -> Expr:
        raise NotImplementedError

    def made_of(self, node: Node, kind: str, value: Expr, target: Expr | None = None, certain: bool = True) -> Expr:
        raise NotImplementedError

    def made_of_braces(self, node: Node, kind: str, value: Expr) -> Expr:
        raise NotImplementedError

    def as_handle(self, node: Node, value: Expr) -> Expr:
        raise NotImplementedError

    def ended(self, node: Node, kind: str, value: Expr) -> Expr:
        raise NotImplementedError

    def hands_over(self, node: Node, callee: str, values: tuple[Expr, ...]) -> None:
        raise NotImplementedError

    def converts(self, node: Node, place: Expr) -> None:
        raise NotImplementedError

    def hands_on(self, node: Node, value: Expr) -> None:
        raise NotImplementedError


def is_reference(lowering: Expressions, place: Expr) -> bool:
    """Whether a place is what a local reference refers to."""
    return isinstance(place, Deref) and isinstance(place.base, Var) and place.base.name in lowering.references


_NOT_VALUES = frozenset(
    (
        "comment type_descriptor field_designator subscript_designator template_argument_list primitive_type "
        "type_identifier field_identifier string_literal gnu_asm_qualifier"
    ).split()
)
Reader = Callable[[Any, Node, "Expr | None", bool], Expr]  # the first is what lowers the function
VALUES: Mapping[str, Reader] = {
    "identifier": Expressions._identifier,
    "fold_expression": Expressions._of_pack,
    "parameter_pack_expansion": Expressions._of_pack,
    "null": Expressions._null,
    "string_literal": Expressions._string,
    "raw_string_literal": Expressions._string,
    "concatenated_string": Expressions._string,
    "this": Expressions._this,
    "qualified_identifier": Expressions._qualified,
    "template_function": Expressions._template_name,
    "parenthesized_expression": Expressions._parenthesized,
    "cast_expression": Expressions._cast,
    "subscript_expression": Expressions._subscript_value,
    "field_expression": Expressions._field_value,
    "pointer_expression": Expressions._pointer,
    "sizeof_expression": Expressions._measure,
    "alignof_expression": Expressions._measure,
    "offsetof_expression": Expressions._measure,
    "gnu_asm_expression": Expressions.assembly,
    "requires_expression": Expressions._measure,
    "initializer_list": Expressions._list,
    "compound_statement": lambda self, node, target, used: self.statement_expression(node, used),
    **dict.fromkeys(_LITERALS, Expressions._literal),
}
