"""The simple statements, lambdas, macro bodies, and whole functions of host code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.assignments import assignment
from cudafix.frontends.cuda.lower.calls import Calls
from cudafix.frontends.cuda.lower.context import Bound, File, Scope, Source, together
from cudafix.frontends.cuda.lower.expressions import SHOUT, VALUES
from cudafix.frontends.cuda.lower.loops import Loops
from cudafix.frontends.cuda.lower.new_and_delete import NEW_AND_DELETE
from cudafix.frontends.cuda.lower.operators import OPERATORS, short_circuit
from cudafix.frontends.cuda.lower.syntax import first_named
from cudafix.frontends.cuda.lower.terms import is_temporary, matters, opaque, root_of
from cudafix.frontends.cuda.preprocess.expansion import UNREADABLE
from cudafix.frontends.cuda.preprocess.macros import Macro, joined, pasted
from cudafix.frontends.cuda.sema import owners, sites
from cudafix.frontends.cuda.sema.declarations import Class, Declarations, Definition
from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT, default_value, extent
from cudafix.frontends.cuda.sema.heads import hidden_qualifiers
from cudafix.frontends.cuda.sema.names import NULLS, STANDARD_STREAMS
from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.frontends.cuda.sema.template_parameters import instance, is_generic, names, templates_of
from cudafix.frontends.cuda.sema.type_texts import (
    IN_A_ROW,
    element_type,
    is_pointer,
    keeps_references,
    may_refer,
    plain_name,
    text_of,
)
from cudafix.ir import (
    NULL,
    Addr,
    Const,
    Deref,
    Expr,
    Field,
    FuncRef,
    Index,
    Opaque,
    Span,
    Var,
)
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number

_ADDRESSED = re.compile(r"(?<![&\w)\]])&\s*(?:\(\s*)?([A-Za-z_]\w*\b)(?!\s*(?:\[|\.|->))")
# calls that fill in a variable before they return, and keep no address of it
_HANDED_OUT = re.compile(
    r"\bcu(?!da(?:Mem(?:cpy|set|PrefetchAsync)|LaunchKernel|HostRegister|GraphAdd|Stream(?:Wait|Write)))\w*\(\s*(?:\([\w\s*]*\)\s*)?&\s*\w+\b(?!\s*[\[.-])"
)
_ALIASED = re.compile(r"&\s*\w+\s*=\s*\(?\s*([A-Za-z_]\w*)")
_CALLABLE = re.compile(r"\boperator\s*[^\s\w]+?(?=\s*\()|\b[A-Za-z_]\w*")


_DECLARES = re.compile(rb"\w[\s*&]+\w")  # two words: a macro that stands for a declaration
_RETURNED = re.compile(r"\breturn\s+\(?\s*([A-Za-z_]\w*)\s*\)?\s*;")


MOST_STATEMENTS = 20_000
"""Semicolons of a function. One with more was made by a program, and takes minutes."""
_NO_NAMES = frozenset(("lambda_capture_initializer", "comment"))


@dataclass
class _Captures:
    """The captures of a lambda as they are written."""

    all: bool = False  # `=`
    object: bool = False  # `*this`
    copied: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    initialized: dict[str, tuple[Node, Expr, bool]] = field(default_factory=dict)  # with what, and whether by reference


_BEGINS_WITH_ANOTHER = ("binary_expression", "cast_expression", "parenthesized_expression", "comma_expression")


def _first_operand(node: Node) -> Node:
    """What a statement begins with that is no more than a name, `LOG << x;`, `(void)PROFILED;`, or the statement."""
    first: Node | None = node
    while first is not None and first.type in _BEGINS_WITH_ANOTHER:
        operator = first.child_by_field_name("operator")
        if operator is not None and operator.type != "<<":
            return node
        first = first.child_by_field_name("left") or first.child_by_field_name("value") or first_named(first)
    return first if first is not None and first.type == "identifier" else node


class Statements(Loops):
    """Lowers the body of one function."""

    readers = MappingProxyType(
        {
            **VALUES,
            **OPERATORS,
            **NEW_AND_DELETE,
            "assignment_expression": assignment,
            "call_expression": Calls.call,
            "compound_literal_expression": lambda self, node, target, _: self.braced(node, target),
            "lambda_expression": lambda self, node, target, used: self.make_lambda(node, target, used),
        }
    )
    delegates = False  # a constructor that another one of the class begins

    def _expression(self, node: Node) -> None:
        inner = first_named(node) if node.type == "expression_statement" else node
        if inner is None:
            return
        if node.type == "expression_statement" and self.declares_in_parentheses(node, inner):
            return
        place = self.place
        if place is not None and inner.type in ("call_expression", "cast_expression", "parenthesized_expression"):
            place.core = self.core(inner)
            if place.core is not None:
                original = self.file.original if place.span.path == self.file.path else self.source.text
                start = place.span.start if place.span.path == self.file.path else node.start_byte
                size = place.span.end - place.span.start
                before = place.core.start_byte - node.start_byte
                after = size - (place.core.end_byte - node.start_byte)
                text = original[start : start + size]
                place.style = sites.wrapper(text, before, after, self.source.stop is not None)
                if place.style is None:
                    place.core = None
                elif self._checks_by_declaration(place.style[0], inner):
                    place.style = "", ";"  # what it declares may be there already
        if inner.type == "identifier":
            macro = self.macro(self.raw(inner), inner)
            if (
                macro is not None
                and macro.params is None
                and (macro.kind == "operates" or _DECLARES.search(macro.body))
                and macro.name not in self.expanding
            ):
                if self.expand(macro, {}, inner, want_value=False) is None:
                    self.unread(f"macro `{macro.name}`", inner)
                return
        first = _first_operand(inner)
        if name := self._macro_not_seen(first):
            if first.type == "identifier":  # else the call is one of a function that is not seen
                span = self.span(first)
                self.emit(ir.Call(name, (), span, span, span.end, self.site(node)))
            if inner.type != "identifier":
                self.value(inner, None, False)
            self.may_declare(first, name)
            return
        if inner.type == "binary_expression":
            operator = inner.child_by_field_name("operator")
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if operator is not None and operator.type in ("&&", "||") and left is not None and right is not None:
                short_circuit(self, inner, left, right, operator.type)
                return
            compared = left.child_by_field_name("operator") if left is not None else None
            if operator is not None and operator.type.startswith(">") and compared is not None and compared.type == "<":
                self.unknown("a declaration that reads like a comparison", node, anywhere=True)
                return
        self.value(inner, None, False)

    def _macro_not_seen(self, node: Node) -> str:
        """The name of the macro that a statement is, `PROFILED;` or `PROFILE_SCOPE("f");`, which no file of the program
        defines; empty for any other statement.
        """
        name_node = node.child_by_field_name("function") if node.type == "call_expression" else node
        if name_node is None or name_node.type != "identifier":
            return ""
        name = self.raw(name_node)
        known = name in self.file.every_macro or name in self.bindings or self.local(name) is not None
        known = known or name in self.file.kernels  # in whose declaration a macro would have been replaced too
        if known or self.file.index.is_enumerator(name) or self._is_function(name) or self.file.index.is_type(name):
            return ""
        if self.resolve_variable(name, name_node) is not None or self.file.index.class_of(name) is not None:
            return ""
        if node.type == "identifier":
            return name if not sites.is_api(name) and name not in NULLS | STANDARD_STREAMS else ""
        listed = self.raw(node.child_by_field_name("arguments") or node)[1:-1].strip()
        is_check = sites.is_check_name(name) and (not listed or "(" in listed)
        return name if SHOUT.fullmatch(name) is not None and not is_check else ""

    def _checks_by_declaration(self, prefix: str, node: Node) -> bool:
        """Whether the check macro that a statement begins with declares something in the scope of the statement."""
        name = prefix.strip().removesuffix("(").strip()
        macro = self.macro(name, node) if name.isidentifier() else None
        return macro is not None and sites.declares(macro.body)

    def _compound(self, node: Node) -> None:
        ended: list[Expr] = []
        start = len(self.out)

        def run() -> None:
            self.statement_list(node.children, node.start_byte)
            declared = [stmt for stmt in self.out[start:] if isinstance(stmt, ir.Declare)]
            ended.extend(self._ending_here(declared, self.source.text[node.start_byte : node.end_byte]))

        self.scoped(run, node)
        if ended and not (self.out and isinstance(self.out[-1], (ir.Return, ir.Break, ir.Continue, ir.Goto))):
            at = Span(self.source.path, node.end_byte - 1, node.end_byte)
            self.emit(ir.HostAccess((), tuple(ended), at, ends=True))

    def _ending_here(self, declared: Sequence[ir.Declare], text: bytes) -> Iterator[Expr]:
        """The variables of a block of which somebody may have the address, and what such own. Where the block ends,
        their memory is given back, and the next one to use that memory writes there. (A block that is the body of
        another statement is one of the IR.)
        """
        yield from (stmt.var for stmt in declared if is_temporary(stmt.var))  # what smart pointers own
        arrays = {stmt.var.name for stmt in declared if stmt.array}
        for name, resolved in self.scopes[-1].names.items():
            kind = self.types.get(resolved, "")
            if resolved in arrays:
                yield Index(Var(resolved), Opaque(()))
            if not kind or kind[-1:] in "*&" or resolved in (*self.storage, *arrays):
                continue
            of = Type.of(kind)
            made = of.library.ends_objects and not of.marks
            if made or self.file.index.class_of(kind) or re.search(rb"&\s*%b\b" % re.escape(name.encode()), text):
                yield Deref(Var(resolved)) if owners.owned_by(kind) else Var(resolved)

    def statement_expression(self, node: Node, used: bool) -> Expr:
        """`({ …; x; })`, and a block that a macro was given."""
        values: list[Expr] = []
        statements = [child for child in node.named_children if child.type != "comment"]

        def run() -> None:
            self.statement_list(statements[:-1], node.start_byte)
            last = statements[-1] if statements else None
            inner = first_named(last) if last is not None and last.type == "expression_statement" else None
            if inner is not None:
                values.append(self.value(inner, None, used))
            elif last is not None:
                self.statement(last)

        self.scoped(run, node)
        return values[0] if values else Opaque(())

    def _return(self, node: Node) -> None:
        inner = first_named(node)
        value = self.value(inner) if inner is not None else None
        if value is not None and (owner := self.owner(value)) is not None and not is_temporary(value):
            if isinstance(value, Var) and "::" not in value.name:  # a local one is moved from
                moved = self.temporary(owner.name)
                self.build(node, moved, owner, (value,))
                value = moved
            else:
                self.hands_on(node, value)
        if inner is not None and value is not None:
            value = self._made_to_return(inner, value)
        if inner is not None and value is not None and (cls := self._copied(inner, value)) is not None:
            given = self.temporary(cls.name)
            self.build(node, given, cls, (value,))
            value = given
        if value is not None and self.lends:
            self.touch(node, value, write=True)  # by whom it is called, which nobody sees there
        self.end_temporaries(0)
        self._destroy(reversed(self.scopes), node, given=value)
        blocked = self.place is not None and self.place.calls > 0
        site = self.site(node)
        if blocked:
            site.blocked = "a call runs in the same statement"
        self.emit(ir.Return(value, self.span(node), site))

    def _made_to_return(self, node: Node, value: Expr) -> Expr:
        """The object that a function returns, where it is made of braces or of a value that is none."""
        cls = self.file.index.class_of(self.gives) if self.gives and not is_pointer(self.gives) else None
        self.made_of_unseen(node, self.gives, self.listed.get(node.id, (value,)))
        if Type.of(self.gives).library.optional:
            return self.held(value, node)
        if keeps_references(self.gives) and cls is None:
            return self.kept_references(node, self.listed.get(node.id, (value,)), self.gives)
        if cls is None or node.type != "initializer_list":
            return self.made_of(node, self.gives, value)
        return self.made_of_braces(node, cls.name, value)

    def _copied(self, node: Node, value: Expr) -> Class | None:
        """The class of what a function returns by value, if that is copied or moved from: no temporary object, which is
        what it returns itself, nor the one local object that it returns by its name, of which compilers do the same
        (C++17, 15.8.3 [class.copy.elision]).
        """
        cls = self.copied_class(value)
        if cls is None or cls.deleter:
            return None
        if not self.gives.startswith("auto") and cls is not self.file.index.class_of(self.gives):
            return None
        while node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
            node = inner
        outside = self.scopes[0].names.values()
        local = isinstance(value, Var) and "::" not in value.name and value.name not in outside
        return cls if not (local and node.type == "identifier" and self.gives_one) else None

    def _break(self, node: Node) -> None:
        leaving = []
        for scope in reversed(self.scopes):
            leaving.append(scope)
            if scope.breaks:
                break
        self._destroy(leaving, node)
        self.emit(ir.Break(self.span(node)))

    def _continue(self, node: Node) -> None:
        leaving = []
        for scope in reversed(self.scopes):
            leaving.append(scope)
            if scope.continues:
                break
        self._destroy(leaving, node)
        self.emit(ir.Continue(self.span(node)))

    def _goto(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        if label is None or any(child.type == "ERROR" for child in node.children):
            self.unknown("computed goto", node, anywhere=True)
            return
        name = self.raw(label)
        pattern = re.compile(rb"(?<![\w?:])" + re.escape(name.encode()) + rb"\s*:(?!:)")
        if any(cls is not None for scope in self.scopes for _, cls, _ in scope.destroyed):
            self.unknown("goto past a destructor", node, anywhere=True)
        elif name in self.labels:
            self.unknown("backward goto", node, anywhere=True)
        elif (
            self.bindings or self.source.shift or pattern.search(self.source.text, node.end_byte, self.end) is not None
        ):
            self.emit(ir.Goto(name, self.span(node)))
        else:
            self.unknown("backward goto", node, anywhere=True)

    def _labeled(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        braceless = self.place is not None and self.place.needs_braces
        if label is not None:
            self.labels.add(self.raw(label))
            self.emit(ir.Label(self.raw(label), self.span(node)))
        for child in node.named_children:
            if child != label and child.type != "comment":
                self.statement(child, braceless=braceless)

    def _throw(self, node: Node) -> None:
        inner = first_named(node)
        value = self.value(inner) if inner is not None else Opaque(())
        ending = self.file.index.ending(self.type_of(value))
        if ending is not None and not self.file.index.ends_idly(ending):
            self.unknown("an object that ends where it is caught", node, (value,))
        self.keeps_copy(node, value)
        self.end_temporaries(0)
        leaving = []
        for scope in reversed(self.scopes):
            leaving.append(scope)
            if scope.catches:
                break
        else:
            leaving.append(Scope(destroyed=self._parts_made()))
        self._destroy(leaving, node)
        span = self.span(node)
        self.emit(
            ir.Call("throw", (value,), span, Span(span.path, span.start, span.start + 5), span.end, self.site(node))
        )

    def _parts_made(self) -> list[tuple[Expr, Class | None, str]]:
        """The bases and members that end where a constructor is left (C++17, 18.2 [except.ctor] 3)."""
        cls = self.file.index.class_of(self.cls) if self.cls is not None else None
        if cls is None or not self.name.endswith(f"::{cls.constructor}"):
            return []
        if self.delegates:  # the object is complete (5)
            ends = self.file.index.has(cls, cls.destructor)
            return [(Deref(Var("this")), cls, "")] if ends else []
        return self._ending_parts(cls)

    def _ending_parts(self, cls: Class) -> list[tuple[Expr, Class | None, str]]:
        """The bases and members of an object with a destructor, as `Scope.destroyed` has them."""
        this = Deref(Var("this"))
        return [
            (Field(this, name) if name else this, part, f"0:{count}" if count else "")
            for name, part, count in self.file.index.parts(cls)
            if self.file.index.has(part, part.destructor)
        ]

    def _asm(self, node: Node) -> None:
        self.assembly(node, None, False)

    def _nested_function(self, node: Node) -> None:
        """`FOR_EACH(i, n) { … }` reads as a function in a function."""
        self.unread("a macro that opens a block", node)

    def _attributed(self, node: Node) -> None:
        braceless = self.place is not None and self.place.needs_braces
        for child in node.named_children:
            if child.type != "attribute_declaration":
                self.statement(child, braceless=braceless)

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _try(self, node: Node) -> None:
        body = self.body_of(node.child_by_field_name("body"), catches=True)
        handlers = []
        for child in node.named_children:
            if child.type != "catch_clause":
                continue

            def run(clause: Node = child) -> None:
                for param, at in self.parameters(clause.child_by_field_name("parameters")):
                    ending = self.file.index.ending(param.type)  # what is derived from it is told where it is thrown
                    idle = ending is None or (
                        param.by_reference and (ending.unseen or self.file.index.ends_idly(ending))
                    )
                    if not idle:
                        self.unknown("an object that ends where it is caught", at)
                    var = self.declare(param.name, param.type, at) if param.name else self.temporary()
                    if param.by_reference:  # the object may be of a class derived from it
                        self.types[var.name] = f"{param.type} &"
                    cls = self.file.index.class_of(param.type) if not is_pointer(param.type) else None
                    if cls is not None and not param.by_reference and self.is_copied(cls):
                        self.build(at, var, cls, (Deref(self.temporary(f"{cls.name} *")),))
                inner = clause.child_by_field_name("body")
                if inner is not None:
                    self.statement_list(inner.children, inner.start_byte)

            handlers.append(self.collect(lambda child=child, run=run: self.scoped(run, child)))  # type: ignore[misc]
        last = node.named_children[-1].child_by_field_name("parameters")
        self.emit(ir.Try(body, tuple(handlers), self.span(node), last is not None and self.raw(last) == "(...)"))

    def make_lambda(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """A lambda becomes a function of its own that shares the variables around it."""
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        name = f"{self.name}{ir.LAMBDA}{self.span(node).start}>"
        if body is None:
            return self.unread(ir.NOT_PARSED, node)
        at = self.span(node).start
        captures = self._captures(node, at)
        words = {child.type for child in node.children}
        if self.source.shift == 0 and self.file.qualifiers:
            words |= hidden_qualifiers(self.file.qualifiers, node.start_byte, body.start_byte)
        if "__device__" in words and "__host__" not in words:
            used_names = sorted(set(re.findall(r"[A-Za-z_]\w*", self.raw(body))))
            found = [
                self.resolve(one, node) for one in used_names if self.local(one) is not None or self._is_member(one)
            ]
            found += [value for _, value, _ in captures.initialized.values()]
            return opaque(*(part for place in found for part in self.held_by(place)))
        inner = Statements(self.file, self.source, name, self.cls, self.namespace, self.text)
        inner.scopes = [together(self.scopes)]
        inner.begins = self.begins
        inner.types, inner.used = dict(self.types), dict(self.used)
        inner.references, inner.lambdas = set(self.references), self.lambdas
        inner.instances, inner.of_class = self.instances, self.of_class
        inner.of_template = Opaque(()) if is_generic(node, self.source.text) else self.of_template
        inner.addressed, inner.bindings, inner.expanding = self.addressed, self.bindings, self.expanding
        copies = self._give_copies(inner, captures, at)
        inner.depth, inner.end = self.depth, self.end
        trailing = [c for c in declarator.named_children if c.type == "trailing_return_type"] if declarator else []
        written = self.raw(trailing[0]).removeprefix("->").strip() if trailing else "auto"
        written = self.file.index.references.written_out(written)
        inner.gives = written if not written.endswith(("&", OPEN)) else ""
        inner.gives_one = len(set(_RETURNED.findall(self.raw(body)))) < 2
        shared = frozenset(inner.scopes[0].names.values())
        params = self.parameters(listed)
        made = inner.function(params, body, node, internal=True)
        named = ir.names_in(made) | inner.shared
        self.shared |= named & shared
        made.by_reference = may_refer(written) if trailing else False
        made.captures = shared | copies.keys()
        made.copies = frozenset(self._make_copies(node, copies, captures, named))
        self._closure_ends(node, made.copies)
        made.object = f"this@{at}" if captures.object else ""
        if re.search(rb"\bmutable\b", self.source.text[node.start_byte : body.start_byte]):
            made.body = (*self._of_other_closures(made, node), *made.body)
        last = name.rpartition("::")[2]
        self.file.index.takes[last] = [tuple(param for param, _ in params)]
        values = (s.value for s in ir.walk(made.body) if isinstance(s, ir.Return) and s.value is not None)
        kinds = {inner.type_of(value) for value in values}
        kinds = {written} if trailing else kinds
        self.file.index.gives[last] = {kind for kind in kinds if not kind.endswith(("&", OPEN))}
        self.file.functions.append(made)
        return FuncRef(name)

    def _closure_ends(self, node: Node, copies: Iterable[str]) -> None:
        """The objects in a closure end with it: with the block, where it is a variable that is only called, else at a
        moment that is not known, since whoever gets the closure may copy and keep it.
        """
        index = self.file.index
        ending = [(copy, cls) for copy in sorted(copies) if (cls := index.ending(self.types.get(copy, ""))) is not None]
        ending = [(copy, cls) for copy, cls in ending if not (cls.deleter or index.ends_idly(cls)) or cls.unseen]
        if not ending:
            return
        if self._is_only_called(node):
            self.scopes[-1].destroyed += [(Var(copy), cls, "") for copy, cls in ending]
        else:
            for copy, _ in ending:
                self.unknown(f"an object in a closure, which {ir.AT_ANY_TIME}", node, (Var(copy),))

    def _is_only_called(self, node: Node) -> bool:
        """Whether a lambda initializes a local variable that is used for nothing but calls."""
        declaration = node.parent
        one = declaration.child_by_field_name("declarator") if declaration is not None else None
        block = declaration.parent.parent if declaration is not None and declaration.parent is not None else None
        if declaration is None or one is None or block is None or declaration.type != "init_declarator":
            return False
        if one.type != "identifier" or block.type != "compound_statement" or self.source.stop is not None:
            return False
        text, name = self.source.text[declaration.end_byte : block.end_byte], re.escape(self.raw(one).encode())
        return re.search(rb"\b%b\b(?!\s*\()" % name, text) is None

    def _is_member(self, name: str) -> bool:
        return any(name in cls.fields for cls in self.file.index.lineage(self.cls))

    def _captures(self, node: Node, at: int) -> _Captures:
        """What a lambda captures, and how. What its initializers evaluate, they evaluate here, once."""
        listed = node.child_by_field_name("captures")
        found = _Captures()
        for child in listed.children if listed is not None else ():
            if child.type == "lambda_capture_initializer":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                if left is None or right is None:
                    self.unread("a capture that is not understood", child)
                    continue
                refers = any(one.type == "&" for one in child.children)
                place = self.lvalue(right) if refers else self.value(right)
                found.initialized[self.raw(left)] = (child, place, refers)
        others = [c for c in listed.children if c.type not in _NO_NAMES] if listed is not None else []
        for text in "".join(map(self.raw, others))[1:-1].split(","):
            bound = self.bindings.get(text.lstrip("&"))
            if bound is not None:  # in a macro
                text = "&" * text.startswith("&") + self.spelled(bound)
            if text in ("=", "&"):
                found.all = text == "="
            elif text.startswith("*"):
                found.object = True
            elif text.startswith("&"):
                found.shared.add(text.lstrip("& .").removesuffix("..."))
            elif text.removesuffix("...").isidentifier() and text != "this":
                found.copied.add(text.removesuffix("..."))
        return found

    def _give_copies(self, inner: Statements, captures: _Captures, at: int) -> dict[str, str]:
        """Let the names in a lambda mean the copies that its closure has, under names that carry the offset of the
        lambda. Which variable each copies, or "" for what an initializer makes.
        """
        copies: dict[str, str] = {}
        names = inner.scopes[0].names
        for name, resolved in list(names.items()):
            if "::" in resolved or not (name in captures.copied or (captures.all and name not in captures.shared)):
                continue  # what has static storage is not captured
            copy = names[name] = f"{name}@{at}"
            copies[copy] = resolved
            inner.types[copy] = self.types.get(resolved, "").removesuffix(" &")
            if resolved in self.lambdas:
                self.lambdas[copy] = self.lambdas[resolved]
            if resolved in self.addressed:
                inner.addressed |= {copy}
        for name, (_, value, refers) in captures.initialized.items():
            copy = names[name] = f"{name}@{at}"
            copies[copy] = ""
            kind = self.type_of(value).removesuffix(" &")
            plain = is_pointer(kind) or is_number(kind) or kind.startswith("cuda")
            known = refers or plain or self.file.index.class_of(kind) is not None
            inner.types[copy] = (kind if known else "") + " &" * refers
            if refers:
                inner.references.add(copy)
            if isinstance(value, Var) and value.name in self.lambdas and not refers:
                self.lambdas[copy] = self.lambdas[value.name]
        for copy in copies:
            inner.used[copy] = inner.types[copy]
            self.types[copy] = inner.types[copy]
        if captures.object:
            copies[f"this@{at}"] = "this"
            self.types[f"this@{at}"] = inner.types[f"this@{at}"] = self.cls or ""
        return copies

    def _make_copies(
        self, node: Node, copies: Mapping[str, str], captures: _Captures, used: Collection[str]
    ) -> Iterator[str]:
        """The closure object begins: its copies are made of what the variables hold now (C++17, 8.1.5.2
        [expr.prim.lambda.capture] 10, 15). What nobody names is not captured by a default.
        """
        span = self.span(node)
        for copy, whose in copies.items():
            name = copy.partition("@")[0]
            if not whose:
                child, value, refers = captures.initialized[name]
                if refers:
                    self.lend(child, value)
                    value = value.base if isinstance(value, Deref) else self.address(value)
                    self.emit(ir.Assign(Var(copy), value, span))
                elif not self.copied_to(child, value, Var(copy)):
                    if self.types[copy] and self.file.index.class_of(self.types[copy]) is None:
                        self.emit(ir.Assign(Var(copy), value, span))
                    else:
                        self.store(Var(copy), value, child)
                yield copy
                continue
            if copy not in used and name not in captures.copied and whose != "this":
                continue
            original: Expr = Deref(Var(whose)) if whose == "this" or whose in self.references else Var(whose)
            if self.types.get(copy, "").endswith("]"):
                self.emit(ir.Declare(Var(copy), element_type(self.types.get(copy, "")), True, span))
            if not self.copied_to(node, original, Var(copy)):
                self.emit(ir.Assign(Var(copy), original, span))
            yield copy

    def _of_other_closures(self, made: ir.Function, node: Node) -> Iterator[ir.Stmt]:
        """A `mutable` lambda changes the copies of the closure that is called, and not those of the copies of that:
        when a call begins, it is not known what those hold that some call changes.
        """
        span = self.span(node)
        for place in dict.fromkeys(_changed(made)):
            root = root_of(place)
            if not isinstance(root, Var) or root.name not in made.copies:
                continue
            kind = self.types.get(root.name, "") if place == root else ""
            named = all(isinstance(part, (Var, Field)) for part in ir.variables(place))
            if named and not kind.endswith("]") and self.file.index.class_of(kind) is None:
                yield ir.Assign(place, Opaque((place,)), span)
            else:
                yield ir.Unknown("a `mutable` lambda changes what it has captured", span, (Addr(root),), ())

    def _joined(self, bound: Bound, node: Node) -> str:
        """A macro argument where `##` joins it: as it is written, but for what another macro was given, which is
        replaced before (C++17, 19.3.1 [cpp.subst] 1); empty where that is more than a name.
        """
        name, seen = self.spelled(bound), set[str]()
        written = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
        while written in bound.bindings and name not in seen and (macro := self.hiding(name, node)) is not None:
            seen.add(name)
            name = "" if macro.several else macro.body.decode("utf-8", "replace").strip()
        return name

    def expand(self, macro: Macro, bindings: Mapping[str, Bound], node: Node, want_value: bool) -> Expr | None:
        """Lower the body of a macro here. None if the body does not parse, or is too deep in other macros."""
        if len(self.expanding) > 20 or macro.name in self.expanding:
            return None
        names: dict[str, str] | None = None
        if b"##" in macro.body:
            names, made = pasted(macro, {n: self._joined(one, node) for n, one in bindings.items()}), joined(macro)
            if names is None or made is None:
                return None
            macro = made
        orders = ((False,), (True,)) if want_value else ((True,), (False,))
        for (as_statement,) in orders:
            parsed = self.file.macro_body(macro, as_statement)
            if parsed is not None:
                break
        else:
            return None
        body, source = parsed
        if as_statement and self.place is not None and self.place.needs_braces and _is_torn(body, self.place.node):
            return None
        kept = self.source, self.bindings, self.expanding, self.fixed, self.continuation, self.place, self.macro_body
        used_by, around, blocked, used_at = self.use, self.place, self.blocked, self.used_at
        if used_by is None and around is not None:
            self.use = ir.Site(around.span, around.indent, "", ";", around.needs_braces, blocked=self.blocked)
        elif used_by is None:
            self.blocked = self.blocked or ir.OUTSIDE
        if macro.path != self.file.path:
            self.fixed = self.fixed or ir.IN_ANOTHER_FILE
        if names:
            self.fixed = self.fixed or "in a macro that makes names"
        text = self.file.original[macro.body_start : macro.body_start + len(macro.body)]
        self.continuation = macro.path == self.file.path and b"\n" in text
        source = replace(source, pasted=names) if names else source
        self.used_at = node.start_byte if self.source.stop is None else self.used_at
        self.source, self.bindings, self.expanding = source, bindings, (*self.expanding, macro.name)
        self.macro_body = body
        try:
            if as_statement:
                self.statement_list(body.children, body.start_byte)  # no scope of its own (C++17, 19.3 [cpp.replace])
                return Opaque(())
            self.place = sites.Place(body, self.span(body), "", False, True, continuation=self.continuation)
            if want_value:
                self.blocked = self.blocked or "in a macro whose value is used"
                return self.value(body)
            return self.value(body, None, False)
        finally:
            self.source, self.bindings, self.expanding, self.fixed, self.continuation, self.place, self.macro_body = (
                kept
            )
            self.use, self.blocked, self.used_at = used_by, blocked, used_at

    # -- whole functions ----------------------------------------------------------------------------------------------

    def function(
        self,
        params: Iterable[tuple[ir.Param, Node]],
        body: Node,
        node: Node,
        internal: bool,
        returns: str = "void",
        initializers: Node | None = None,
    ) -> ir.Function:
        self.around = body, self.source, self.bindings
        params = tuple(params)
        self.own = tuple(param for param, _ in params), body, self.source.text
        # an object without a name ends as well
        listed = tuple((p if p.name else p._replace(name=f"%parameter {n}"), at) for n, (p, at) in enumerate(params))
        for param, at in listed:
            if param.type != "...":
                row = self.lent_row(param, at)
                var = self.declare(param.name, row or param.type, at, param.by_reference)
                if row and (element := self.row_lent(param)) is not None:
                    self.rows[var.name] = element
                cls = self.file.index.ending(param.type)
                if cls is not None and not param.by_reference:
                    self.scopes[-1].destroyed.append((var, cls, ""))
        renamed = tuple(self._renamed(param, at) for param, at in listed)

        def run() -> None:
            for param, at in listed:
                self._default(param, at)
                if param.open and isinstance(place := self.local(param.name), Deref):
                    target = self.or_copied(at, param.type, place, place.base)
                    self.emit(ir.Assign(place.base, target, self.span(at)))
            for name in self.file.index.evaluates_for(self.name, self.cls):
                self._defaults_of(name, node)
            self._construct_parts(initializers, node.start_byte)
            self.end_moves(node)
            self.statement_list(body.children, body.start_byte)

        def whole() -> None:
            self._at(body, False)
            if body.type == "compound_statement":
                self.scoped(run, body)
            else:
                self.scoped(lambda: self.statement(body), body)
            self._destroy(self.scopes[:1], body)  # the parameters

        span = self.span(node)
        many = self.source.text.count(b";", body.start_byte, body.end_byte)
        try:
            lowered = self.collect(whole) if many <= MOST_STATEMENTS else None
        except RecursionError:
            lowered = None
        if lowered is None:
            lowered = (ir.Unknown("too large", self.span(body), (), *self.words_of(body)),)
            self.problems.append(("budget", body.start_byte))
        errors = sorted(
            (end - start, _where(start, end, span, self.file.errors))
            for start, end in (*self.file.errors, *((at, at + 1) for at in self.misnamed))
            if start < span.end and end > span.start
        )
        macros = [("macro", at) for at in (*self._unreadable(span), *self.misnamed)] if errors else []
        problems = macros + [("parse_error", at) for _, at in errors] + self.problems  # the smallest is the nearest
        if errors and not any(isinstance(stmt, ir.Unknown) and stmt.why == ir.NOT_PARSED for stmt in ir.walk(lowered)):
            lowered = (ir.Unknown(ir.NOT_PARSED, self.span(body), (), *self.words_of(body)), *lowered)
        return ir.Function(
            self.name, renamed, lowered, span, internal, self.cls, self.types, tuple(dict.fromkeys(problems)), returns,
            unwritten=frozenset(self.unwritten),
        )  # fmt: skip

    def _unreadable(self, span: ir.Span) -> Iterator[int]:
        """Where macros stand that could not be written out."""
        if span.path == self.file.path and self.file.filled:
            for match in re.finditer(UNREADABLE, self.source.text[span.start : span.end]):
                at = span.start + match.start()
                if self.file.original[at : at + 1] != UNREADABLE:
                    yield at

    def _renamed(self, param: ir.Param, at: Node) -> ir.Param:
        """A parameter under the name that it has in the body."""
        value = default_value(at)
        default: Expr | None = param.default
        if default is None and value is not None and self._is_name(value):
            default = self.value(value)
        return param._replace(name=self.scopes[-1].names.get(param.name, param.name), default=default)

    def _is_name(self, value: Node) -> bool:
        """Whether a default argument is a name, and no macro that may stand for anything."""
        if value.type == "identifier":
            return not self.may_stand_for_any(self.raw(value), value)
        return value.type == "qualified_identifier"

    def _default(self, param: ir.Param, at: Node) -> None:
        """What a call that leaves an argument out evaluates for it, where that is more than a name or a literal."""
        value = default_value(at)
        cls = self.converting(param.type) or (self.file.index.class_of(param.type) if value is not None else None)
        if value is None or (
            (self._is_name(value) or isinstance(param.default, Const))
            and (cls is None or is_pointer(param.type))
            and not self.file.index.names_object(self.raw(value))  # which would be converted
        ):
            return
        found = self.local(param.name) if param.name else None
        kept, self.blocked = self.blocked, self.blocked or "a default argument"

        def run() -> None:
            if cls is not None and not is_pointer(param.type) and not param.by_reference:
                self.initialize_with(at, found or self.temporary(cls.name), cls.name, value)
            elif value.type == "initializer_list" and cls is not None and not is_pointer(param.type):
                self.build(at, found or self.temporary(cls.name), cls, self.arguments(value)[0])
            elif found is not None and self.converting(param.type) is not None:
                given = self.value(value, found)
                if (made := self.made_of(at, param.type, given, found)) != found:
                    self.store(found, made, at)
            elif found is not None:
                self.assign(found, value, at)
            else:
                self._discard(value)

        block = self.collect(run)
        self.blocked = kept
        if matters(block):
            self.emit(ir.If(ir.Test("other", None, f"default of {param.name}"), block, (), self.span(at)))

    def _defaults_of(self, name: str, at: Node) -> None:
        """What a call evaluates for the arguments that it leaves out, if the declaration gives them."""
        span = self.span(at)
        site = ir.Site(span, "", "", ";", blocked="a default argument")
        start = Span(span.path, span.start, span.start)
        call = ir.Call(f"{name}::{ir.DEFAULTS}", (), span, start, span.end - 1, site)
        self.emit(ir.If(ir.Test("other", None, "arguments are left out"), (call,), (), span))

    def defaults(self, params: Iterable[tuple[ir.Param, Node]], node: Node) -> ir.Function:
        """What the default arguments of a declaration evaluate, as a function."""

        def run() -> None:
            for n, (param, at) in enumerate(params):
                named = param if param.name else param._replace(name=f"%parameter {n}")
                self.declare(named.name, named.type, at, named.by_reference)
                self._default(named, at)

        body = self.collect(lambda: self.scoped(run, node))
        name = f"{self.name}::{ir.DEFAULTS}"
        return ir.Function(
            name, (), body, self.span(node), True, self.cls, self.types, unwritten=frozenset(self.unwritten)
        )

    def make_global(self, variable: ir.GlobalVar, value: Node) -> None:
        """An object at namespace scope that a constructor makes; `value` is its initializer or, without one, its
        declarator.
        """
        var = Var(variable.name)
        self.types[var.name] = variable.type
        kept, self.blocked = self.blocked, "the initializer of a global variable"
        if value.type == "function_declarator":  # `T x(f);`
            self.initialize(value, var, variable.type, self._of_declarator(value))
        else:
            written = is_written(variable, value, self.raw(value))
            around = value.parent if written else None
            declarator = around.child_by_field_name("declarator") if around is not None else value
            size = extent(declarator) if variable.array and declarator is not None else None
            count = self.normal(size) if size is not None else ""
            self.initialize_with(value, var, variable.type, value if written else None, count)
        self.blocked = kept

    def _of_declarator(self, node: Node) -> tuple[Expr, ...]:
        """The values in `T x(f);`, which reads as a function."""
        listed = node.child_by_field_name("parameters")
        return tuple(self.resolve(self.raw(child), child) for child in (listed.named_children if listed else ()))

    def bind_global(self, variable: ir.GlobalVar, value: Node) -> None:
        """A reference at namespace scope."""
        inner = first_named(value) if value.type in ("argument_list", "initializer_list") else value
        place = self.lvalue(inner if inner is not None else value)
        target = place.base if isinstance(place, Deref) else self.address(place)
        self.emit(ir.Assign(Var(variable.name), target, self.span(value)))

    def start_global(self, variable: ir.GlobalVar, value: Node) -> None:
        """A variable at namespace scope that is made of functions or addresses: it is one, or holds some."""
        var = Var(variable.name)
        self.types[var.name] = variable.type
        children = [child for child in value.named_children if child.type != "comment"]
        if value.type in ("argument_list", "initializer_list"):
            values = tuple(self.value(child) for child in children)
        else:
            values = self._of_declarator(value) if value.type == "function_declarator" else (self.value(value),)
        if self.is_unseen(element_type(variable.type).rstrip()):
            self.hand_out(values, self.span(value))
        if keeps_references(variable.type):
            self.store(var, opaque(*values, *map(self.address, values)), value)
            return
        holds_several = variable.array or "<" in variable.type  # a container, for example
        aggregate = holds_several or self.file.index.class_of(variable.type) is not None
        if value.type != "initializer_list" or (len(values) == 1 and not aggregate):
            self.store(var, values[0] if len(values) == 1 else opaque(*values), value)
        else:
            self.fill(value, var, variable.type, value, [("", initial) for initial in values])

    def hand_out(self, values: tuple[Expr, ...], span: Span) -> None:
        """Code that is not seen gets these before `main` begins."""
        kept = Var(ir.HANDED_OUT)
        self.emit(ir.Assign(kept, opaque(kept, *values), span))

    def implicit(self, at: Node, start: int) -> ir.Function:
        """A constructor or destructor that the compiler writes, for a class that begins at `start`."""
        body = self.collect(lambda: self.scoped(lambda: self._construct_parts(None, start), at, close=start))
        span = Span(self.source.path, start, start)
        bases = _bases(self.file, self.cls)
        return ir.Function(self.name, (), body, span, False, self.cls, self.types, bases=bases)

    def implicit_assignment(self, cls: Class) -> ir.Function:
        """The assignment that the compiler writes: of the bases, then of the members (C++17, 15.8.2
        [class.copy.assign] 12), by their own assignments where they have some.
        """
        index, this, other = self.file.index, Deref(Var("this")), Deref(Var("%other"))
        assigned = [one for one in index.parts(cls) if index.has(one[1], ASSIGNMENT)]
        todo: list[tuple[str, Class | None, str]] = []
        for name, base, _ in index.parts(cls):
            if not name and ("", base, "") in assigned:
                todo.append(("", base, ""))
            elif not name:
                todo += [(inner, None, "") for one in index.lineage(base.name) for inner in one.fields]
        own = {name: (name, part, count) for name, part, count in assigned if name}
        todo += [own.get(name, (name, None, "")) for name in cls.fields]

        def run() -> None:
            for made, (name, part, count) in enumerate(todo):  # each call has an offset of its own
                span = Span(self.source.path, cls.start + made, cls.start + made)
                to: Expr = Field(this, name) if name else this
                value: Expr = Field(other, name) if name else other
                if part is None:
                    self.emit(ir.Assign(to, value, span))
                    continue
                if count == IN_A_ROW:
                    self.emit(ir.Unknown("a vector of objects that is assigned", span, (to, value)))
                    continue
                number = self.temporary("size_t") if count else None
                to, value = (Index(to, number), Index(value, number)) if number is not None else (to, value)
                site = ir.Site(span, "", "", ";", blocked="in an assignment that the compiler writes")
                call = ir.Call(f"{part.name}::{ASSIGNMENT}", (value,), span, span, span.end, site, (), to)
                self.emit(call if number is None else ir.Loop((call,), span, index=number, range=f"0:{count}"))

        self.types["%other"] = f"{cls.name} &"
        body, span = self.collect(run), Span(self.source.path, cls.start, cls.start)
        param = ir.Param("%other", cls.name, by_reference=True)
        bases = _bases(self.file, self.cls)
        return ir.Function(self.name, (param,), body, span, False, self.cls, self.types, bases=bases)

    def _construct_parts(self, initializers: Node | None, start: int) -> None:
        """In a constructor, make the bases and members; in a destructor, destroy them at every end."""
        cls = self.file.index.class_of(self.cls) if self.cls is not None else None
        last = self.name.rpartition("::")[2]
        if cls is None or last not in (cls.constructor, cls.destructor):
            return
        this = Deref(Var("this"))
        parts = [(Field(this, name) if name else this, part, n) for name, part, n in self.file.index.parts(cls)]
        if last == cls.destructor:
            self.scopes[-1].destroyed += self._ending_parts(cls)
            return
        text = self.raw(initializers) if initializers is not None else ""
        if initializers is not None and re.match(rf":\s*{re.escape(cls.constructor)}\s*[({{<]", text) is not None:
            self.delegates = True
            for name, child in self._named_initializers(initializers):  # another constructor makes the parts
                self._member_initializer(name, child)
            return
        around = Span(self.source.path, start, start)
        written = dict(self._named_initializers(initializers)) if initializers is not None else {}
        made = 0

        def begin(name: str, place: Expr, part: Class | None, count: str) -> None:
            nonlocal made
            if name in written:
                self._member_initializer(name, written.pop(name))
            elif name in cls.initialized and name in cls.fields:
                self._initialize(cls, Field(this, name), self.file.index.members.get((cls.name, name)))
            elif count == IN_A_ROW:
                self.emit(ir.Assign(Field(place, ir.SIZE), Const("0"), around))
            elif part is not None and self.file.index.has(part, part.constructor):
                span = Span(self.source.path, start + made, start + made)
                made += 1  # each call has an offset of its own
                site = ir.Site(span, "", "", ";", blocked="before the body of a constructor")
                callee = f"{part.name}::{part.constructor}"
                index = self.temporary("size_t") if count else None
                receiver = Index(place, index) if index is not None else place
                call = ir.Call(callee, (), span, span, span.start, site, (), receiver)
                self.emit(call if index is None else ir.Loop((call,), span, index=index, range=f"0:{count}"))
            elif part is not None and not count:
                self.start_null(around, place, part)
            elif name in cls.null:
                self.emit(ir.Assign(Field(this, name), NULL, around))

        # the bases, then the members, in the order of their declarations (C++17, 15.6.2 [class.base.init] 13)
        bases = {part.constructor: (place, part, n) for place, part, n in parts if not isinstance(place, Field)}
        for name in [name for name in written if "::" in name and name.rpartition("::")[2] in bases]:
            written[name.rpartition("::")[2]] = written.pop(name)
        for name in [name for name in written if name not in cls.fields and name not in bases]:  # of a class not seen
            self._member_initializer(name, written.pop(name))
        for name, (place, part, count) in bases.items():
            begin(name, place, part, count)
        members = {place.name: (part, n) for place, part, n in parts if isinstance(place, Field)}
        for name in dict.fromkeys((*cls.fields, *cls.null)):
            begin(name, Field(this, name), *members.get(name, (None, "")))

    def _initialize(self, cls: Class, place: Field, value: Node | None) -> None:
        """A data member whose declaration says what it starts with."""
        if value is None:
            span = Span(self.source.path, cls.start, cls.start)
            self.emit(ir.Unknown("a member that a header initializes", span, (place.base,)))
            return
        kept, self.blocked = self.blocked, self.blocked or "the initializer of a member"
        kind = cls.fields[place.name]
        self.initialize_with(value, place, kind, value, cls.extents.get(place.name, ""))
        self.blocked = kept

    def _named_initializers(self, node: Node) -> Iterator[tuple[str, Node]]:
        """The initializers of a constructor, `: p(nullptr), Base(n)`, with what they initialize."""
        for child in node.named_children:
            if child.type == "field_initializer":
                name = next((part for part in child.named_children if part.type != "comment"), None)
                if name is not None:
                    yield plain_name(self.raw(name)), child

    def _member_initializer(self, name: str, node: Node) -> None:
        """`member(a, b)`, `Base{a}`, and the constructor that another one delegates to."""
        own = self.file.index.class_of(self.cls or "")
        field_ = next((f for c in self.file.index.lineage(self.cls) if (f := c.fields.get(name))), None)
        last = name.rpartition("::")[2]
        bases = (base for base in (own.bases if own is not None else ()) if base.rpartition("::")[2] == last)
        kind = field_ or next(bases, name)
        cls, this = self.class_in(kind), Deref(Var("this"))
        place = Field(this, name) if field_ or (cls is None and not self.active(kind)) else this
        parts = [part for part in node.named_children if part.type != "comment"]
        given = parts[-1] if len(parts) > 1 and any(one.type != "comment" for one in parts[-1].named_children) else None
        kept, self.blocked = self.blocked, self.blocked or "in the initializer list of a constructor"
        self._at(node, False)
        if given is not None:
            extent = own.extents.get(name, "") if own is not None else ""
            self.initialize_with(node, place, kind, given, extent)
        elif cls is not None and (self.file.index.has(cls, cls.constructor) or place is this):
            self.initialize(node, place, kind, ())
        elif not self.active(kind):
            self.store(place, NULL, node)
        self.blocked = kept


def addressed_names(text: str, index: Declarations) -> frozenset[str]:
    """Names whose address is taken, or that a reference or a reference parameter of this file is bound to."""
    text = _HANDED_OUT.sub("", text)
    names = set(_ADDRESSED.findall(text)) | set(_ALIASED.findall(text))
    for function in {*_CALLABLE.findall(text)}:
        if index.takes_reference(function):
            for found in re.finditer(rf"\b{re.escape(function)}\s*(?:<[^;()]*>)?\(([^;]*)\)", text):
                names.update(re.findall(r"[A-Za-z_]\w*", found.group(1)))
    return frozenset(names)


def _changed(function: ir.Function) -> list[Expr]:
    """The places that a function stores in itself, or that it gives to somebody who may store in them."""
    places: list[Expr] = []
    for stmt in ir.walk(function.body):
        places += [part.base for part in ir.values_in(stmt) if isinstance(part, Addr)]
        match stmt:
            case ir.Assign(target):
                places.append(target)
            case ir.HostAccess(writes=writes):
                places += writes
            case ir.Call():
                given = stmt.given if not sites.is_api(stmt.callee) else ()
                places += [*given, *([stmt.result] if stmt.result is not None else [])]
            case ir.Unknown(parts=parts):
                places += parts
            case _:
                pass
    return places


def is_written(variable: ir.GlobalVar, value: Node, text: str) -> bool:
    """Whether this is what a variable is initialized with, and not its declarator: `text` is what it says."""
    is_name = value.type == "identifier" and text == variable.name.rpartition("::")[2]
    if value.type == "qualified_identifier" and value.parent is not None:  # `Net b::n;`
        is_name = value in value.parent.children_by_field_name("declarator")
    return not (is_name or value.type.endswith("declarator"))


def lower_function(file: File, definition: Definition, source: Source) -> ir.Function:
    """One host function."""
    file.begin(definition.node)
    node = definition.node
    file.index.inside = definition.name
    text = text_of(definition.body, source.text)
    lowering = Statements(file, source, definition.name, definition.cls, definition.namespace, source.text)
    lowering.addressed = addressed_names(text, file.index)
    lowering.begins, lowering.end = node.start_byte, node.end_byte
    head = source.text[node.start_byte : definition.body.start_byte].partition(b"(")[0]
    lowering.gives = definition.returns if not definition.by_reference else ""
    lowering.gives_one = len(set(_RETURNED.findall(text))) < 2
    lowering.lends = definition.by_reference and re.search(rb"\bconst\b", head) is None
    own, around = templates_of(node, source.text)
    lowering.of_template = instance(node, source.text, (*names(around), *names(own)))
    lowering.of_class = instance(node, source.text, names(around), len(own)) or Opaque(())
    initializers = next((child for child in node.children if child.type == "field_initializer_list"), None)
    params = file.index.with_defaults(definition)
    made = lowering.function(params, definition.body, node, definition.internal, definition.returns, initializers)
    made.bases = _bases(file, definition.cls)
    made.by_reference = definition.by_reference
    made.also = definition.also
    made.templates, made.defaults = names(own), tuple(default for _, default in own)
    made.class_templates = names(around)
    return made


def lower_defaults(file: File, definition: Definition, source: Source) -> ir.Function:
    """The default arguments of a function that is only declared."""
    file.begin(definition.node)
    file.index.inside = definition.name
    lowering = Statements(file, source, definition.name, definition.cls, definition.namespace, source.text)
    lowering.begins, lowering.end = definition.node.start_byte, definition.node.end_byte
    return lowering.defaults(definition.params, definition.node)


def _bases(file: File, cls: str | None) -> tuple[str, ...]:
    """The classes that a class is derived from, as far as they are seen."""
    lineage = file.index.lineage(cls)
    return tuple(dict.fromkeys(file.index.written_out(base, one.name) for one in lineage for base in one.bases))


Statements.handlers = {
    "using_declaration": Statements._using,
    "namespace_alias_definition": Statements._renames,
    "expression_statement": Statements._expression,
    "compound_statement": Statements._compound,
    "declaration": Statements._declaration,
    "type_definition": Statements._type_name,
    "alias_declaration": Statements._type_name,
    "if_statement": Statements._if,
    "for_statement": Statements._for,
    "while_statement": Statements._while,
    "do_statement": Statements._do,
    "for_range_loop": Statements._range_for,
    "switch_statement": Statements._switch,
    "return_statement": Statements._return,
    "break_statement": Statements._break,
    "continue_statement": Statements._continue,
    "goto_statement": Statements._goto,
    "labeled_statement": Statements._labeled,
    "throw_statement": Statements._throw,
    "try_statement": Statements._try,
    "gnu_asm_expression": Statements._asm,
    "function_definition": Statements._nested_function,
    "attributed_statement": Statements._attributed,
}


def _is_torn(body: Node, use: Node) -> bool:
    """Whether a macro is not one statement where it is used as a branch or loop body without braces: only its first
    one is in there, or the `else` behind the use belongs to an `if` of the macro.
    """
    inside = [child for child in body.named_children if child.type != "comment"]
    if inside and inside[-1].type == "expression_statement" and not inside[-1].named_children:
        del inside[-1]  # the `;` behind a block
    last = inside[-1] if inside else None
    while last is not None and last.type in ("for_statement", "while_statement", "for_range_loop", "labeled_statement"):
        last = last.named_children[-1]
    ends_open = last is not None and last.type == "if_statement" and last.child_by_field_name("alternative") is None
    followed = use.parent is not None and use.parent.child_by_field_name("alternative") is not None
    return len(inside) > 1 or (ends_open and followed)


def _where(start: int, end: int, around: Span, errors: Sequence[tuple[int, int]]) -> int:
    """Where to look for an error. One in which a whole function stands begins with text that may be right: what the
    grammar stumbles over is the first of the errors inside of it.
    """
    if not (start < around.start and around.end < end):
        return start
    return min((first for first, last in errors if start < first and last <= end), default=start)
