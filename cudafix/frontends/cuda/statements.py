"""Statements of host code: control flow, declarations, scopes with their destructors, and runs of plain host code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda import sites
from cudafix.frontends.cuda.calls import Calls
from cudafix.frontends.cuda.declarations import (
    Declared,
    Definition,
    base_type,
    declared,
    is_floating,
    is_number,
    is_pointer,
    parameters,
    plain_name,
    text_of,
)
from cudafix.frontends.cuda.expressions import (
    MAX_DEPTH,
    Bound,
    Expressions,
    File,
    Scope,
    Source,
    first_named,
    matters,
    opaque,
)
from cudafix.frontends.cuda.macros import Macro
from cudafix.ir import (
    NULL,
    Addr,
    Block,
    Const,
    Deref,
    Expr,
    Field,
    FuncRef,
    Index,
    Look,
    Offset,
    Opaque,
    Span,
    Stmt,
    Test,
    Var,
)

# Classes whose constructor or destructor does something that ordering may depend on.
ACTIVE_TYPES = re.compile(
    r"(?:std::)?(?:thread|jthread|lock_guard|unique_lock|scoped_lock|async|ifstream|ofstream|fstream)\b.*|thrust::.*|cub::.*|cudaxx::.*"
)
_ADDRESSED = re.compile(r"(?<![&\w)\]])&\s*(?:\(\s*)?([A-Za-z_]\w*\b)(?!\s*(?:\[|\.|->))")
# calls that fill in a variable before they return, and keep no address of it
_HANDED_OUT = re.compile(
    r"\bcu(?!da(?:Mem(?:cpy|set|PrefetchAsync)|LaunchKernel|HostRegister|GraphAdd|Stream(?:Wait|Write)))\w*\(\s*(?:\([\w\s*]*\)\s*)?&\s*\w+\b(?!\s*[\[.-])"
)
_ALIASED = re.compile(r"&\s*\w+\s*=\s*\(?\s*([A-Za-z_]\w*)")
_BY_VALUE_KINDS = frozenset(("type_identifier", "qualified_identifier"))
_SKIPPED = frozenset(
    (
        "comment ; { } using_declaration alias_declaration type_definition static_assert_declaration struct_specifier "
        "class_specifier union_specifier enum_specifier preproc_call preproc_include preproc_def namespace_alias_definition "
        "attribute_declaration access_specifier template_declaration empty_declaration"
    ).split()
)
_INTEGER = re.compile(r"[0-9]+")


class Statements(Calls):
    """Lowers the body of one function."""

    end = 0  # where the function ends

    def __init__(self, file: File, source: Source, name: str, cls: str | None, namespace: str, text: bytes) -> None:
        super().__init__(file, source, name, cls, namespace, text)
        self.ranged: list[tuple[ir.Loop, frozenset[str], Block]] = []  # canonical loops, their bounds and their steps

    # -- blocks -------------------------------------------------------------------------------------------------------

    def statement_list(self, nodes: Iterable[Node], start: int) -> None:
        pragmas = self.file.pragmas if self.source.shift == 0 else ()
        previous = start
        for node in nodes:
            if node.type in _SKIPPED:
                continue
            if pragmas:
                self._pragmas(previous, node)
                previous = node.end_byte
            self.statement(node)

    def _pragmas(self, start: int, node: Node) -> None:
        """`#pragma omp parallel` before a statement: several host threads run it."""
        pragmas = self.file.pragmas
        at = bisect_left(pragmas, (start, ""))
        while at < len(pragmas) and pragmas[at][0] < node.start_byte:
            offset, text = pragmas[at]
            words = text.replace("#", " ").replace("pragma", " ", 1).split()
            if words[:1] == ["omp"] and any(
                word.startswith(("parallel", "sections", "task", "target", "teams")) for word in words
            ):
                name = " ".join(word for word in words[:2])
                span = Span(self.source.path, offset, offset)
                site = ir.Site(span, "", "", ";", blocked="a pragma")
                self.emit(ir.Call(f"#pragma {name}", (), span, span, offset, site))
            at += 1

    def scoped(self, run: Callable[[], None], end: Node, breaks: bool = False, continues: bool = False) -> None:
        """Run in a new scope; at its end the destructors of its locals run."""
        self.scopes.append(Scope(breaks=breaks, continues=continues))
        try:
            run()
            self._destroy(self.scopes[-1:], end)
        finally:
            self.scopes.pop()

    def _destroy(self, scopes: Iterable[Scope], at: Node) -> None:
        for scope in scopes:
            for variable, cls in reversed(scope.destroyed):
                if self.out and isinstance(self.out[-1], (ir.Return, ir.Break, ir.Continue, ir.Goto)):
                    return
                end = self.span(at).end
                span = Span(self.source.path, max(end - 1, 0), end)
                site = ir.Site(span, "", "", ";", blocked="a destructor at the end of a scope")
                callee = f"{cls.name}::~{cls.name.rpartition('::')[2]}"
                self.emit(
                    ir.Call(
                        callee, (), span, Span(span.path, span.start, span.start), span.end, site, (), Var(variable)
                    )
                )

    def body_of(self, node: Node | None, breaks: bool = False, continues: bool = False) -> Block:
        """The block of a branch or loop body, which may be one statement without braces."""
        if node is None:
            return ()

        def run() -> None:
            if node.type == "compound_statement":
                self.statement_list(node.children, node.start_byte)
            else:
                self.statement(node, braceless=True)

        self.branches += 1
        try:
            return self.collect(lambda: self.scoped(run, node, breaks, continues))
        finally:
            self.branches -= 1

    def statement(self, node: Node, braceless: bool = False) -> None:
        self.depth += 1
        kept = self.place
        try:
            if self.depth > MAX_DEPTH:
                self.unknown("nested too deeply", node)
                return
            method = _STATEMENTS.get(node.type)
            if method is None:
                if node.type in _SKIPPED:
                    return
                if not node.type.endswith(("expression", "identifier", "literal")):
                    self.unknown("parse_error" if node.type == "ERROR" else f"`{node.type}`", node)
                    return
                method = Statements._expression
            self._at(node, braceless)
            method(self, node)
        finally:
            self.place = kept
            self.depth -= 1

    def _at(self, node: Node, braceless: bool) -> None:
        span = self.span(node)
        original = self.file.original if span.path == self.file.path else self.source.text
        at = span.start if span.path == self.file.path else node.start_byte
        self.place = sites.Place(node, span, sites.line_indent(original, at), braceless, continuation=self.continuation)

    # -- simple statements --------------------------------------------------------------------------------------------

    def _expression(self, node: Node) -> None:
        inner = first_named(node) if node.type == "expression_statement" else node
        if inner is None:
            return
        place = self.place
        if place is not None and inner.type in ("call_expression", "cast_expression", "parenthesized_expression"):
            place.core = self.core(inner)
            if place.core is not None:
                original = self.file.original if place.span.path == self.file.path else self.source.text
                start = place.span.start if place.span.path == self.file.path else node.start_byte
                text = original[start : start + node.end_byte - node.start_byte]
                before, after = place.core.start_byte - node.start_byte, node.end_byte - place.core.end_byte
                place.style = sites.wrapper(text, before, after)
                if place.style is None:
                    place.core = None
        if inner.type == "identifier":
            macro = self.file.macros.get(self.raw(inner))
            if (
                macro is not None
                and macro.params is None
                and macro.kind == "operates"
                and macro.name not in self.expanding
            ):
                if self.expand(macro, {}, inner, want_value=False) is None:
                    self.unknown(f"macro `{macro.name}`", inner)
                return
        if inner.type == "binary_expression":
            operator = inner.child_by_field_name("operator")
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if operator is not None and operator.type in ("&&", "||") and left is not None and right is not None:
                self._short_circuit(inner, left, right, operator.type)
                return
        self.value(inner, None, False)

    def _compound(self, node: Node) -> None:
        self.scoped(lambda: self.statement_list(node.children, node.start_byte), node)

    def statement_expression(self, node: Node) -> Expr:
        """`({ …; x; })`"""
        values: list[Expr] = []
        statements = [child for child in node.named_children if child.type != "comment"]

        def run() -> None:
            self.statement_list(statements[:-1], node.start_byte)
            last = statements[-1] if statements else None
            inner = first_named(last) if last is not None and last.type == "expression_statement" else None
            if inner is not None:
                values.append(self.value(inner))
            elif last is not None:
                self.statement(last)

        self.scoped(run, node)
        return values[0] if values else Opaque(())

    def _return(self, node: Node) -> None:
        inner = first_named(node)
        value = self.value(inner) if inner is not None else None
        self._destroy(reversed(self.scopes), node)
        blocked = self.place is not None and self.place.calls > 0
        site = self.site(node)
        if blocked:
            site.blocked = "a call runs in the same statement"
        self.emit(ir.Return(value, self.span(node), site))

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
            self.unknown("computed goto", node)
            return
        name = self.raw(label)
        pattern = re.compile(rb"(?<![\w?:])" + re.escape(name.encode()) + rb"\s*:(?!:)")
        if any(scope.destroyed for scope in self.scopes):
            self.unknown("goto past a destructor", node)
        elif (
            self.bindings or self.source.shift or pattern.search(self.source.text, node.end_byte, self.end) is not None
        ):
            self.emit(ir.Goto(name, self.span(node)))
        else:
            self.unknown("backward goto", node)

    def _labeled(self, node: Node) -> None:
        label = node.child_by_field_name("label")
        braceless = self.place is not None and self.place.needs_braces
        if label is not None:
            self.emit(ir.Label(self.raw(label), self.span(node)))
        for child in node.named_children:
            if child != label and child.type != "comment":
                self.statement(child, braceless=braceless)

    def _throw(self, node: Node) -> None:
        inner = first_named(node)
        value = self.value(inner) if inner is not None else Opaque(())
        span = self.span(node)
        self.emit(
            ir.Call("throw", (value,), span, Span(span.path, span.start, span.start + 5), span.end, self.site(node))
        )

    def _asm(self, node: Node) -> None:
        self.unknown("inline assembly", node)

    def _nested_function(self, node: Node) -> None:
        """`FOR_EACH(i, n) { … }` reads as a function in a function."""
        self.unknown("a macro that opens a block", node)

    def _attributed(self, node: Node) -> None:
        braceless = self.place is not None and self.place.needs_braces
        for child in node.named_children:
            if child.type != "attribute_declaration":
                self.statement(child, braceless=braceless)

    # -- declarations -------------------------------------------------------------------------------------------------

    def _declaration(self, node: Node) -> None:
        base = base_type(node, self.source.text)
        words = {self.raw(c) for c in node.children if c.type in ("storage_class_specifier", "type_qualifier")}
        if "extern" in words:
            return
        for child in node.children_by_field_name("declarator"):
            one = declared(base, child, self.source.text)
            if one is None:
                self.unknown("a declaration that is not understood", child)
                continue
            value = child.child_by_field_name("value")
            if value is None and child.type != "init_declarator":
                value = node.child_by_field_name("value")  # `if (int x = f())`
            if one.parameters is not None and not one.pointer_to_function:
                arguments = self._misread_arguments(one)
                if arguments is None:
                    continue  # a prototype
                self._object(one, child, arguments, (), "static" in words)
                continue
            if "static" in words:
                self._static(one, child, value)
            elif one.bindings:
                result = self.value(value) if value is not None else Opaque(())
                for binding in one.bindings:
                    var = self.declare(self.raw(binding), "", binding)
                    self.emit(ir.Assign(var, opaque(result), self.span(child)))
            else:
                self._variable(one, child, value, base)

    def _misread_arguments(self, one: Declared) -> tuple[Expr, ...] | None:
        """The arguments of `T x(a, b)`, which reads as a function; None if it is one."""
        found: list[Expr] = []
        children = (
            [c for c in one.parameters.named_children if c.type != "comment"] if one.parameters is not None else []
        )
        if not children:
            return None
        template = one.type.endswith(">")  # `std::vector<T> x(n)` in a function is an object
        for child in children:
            kind = child.child_by_field_name("type")
            if child.type != "parameter_declaration" or kind is None or len(child.named_children) > 1:
                if kind is None or child.child_by_field_name("declarator") is None:
                    return None
                # `T x(a * b)` reads as a pointer, `T x(f(y))` as a function parameter
                declarator = child.child_by_field_name("declarator")
                first = self.raw(kind)
                if declarator is None or self.local(first) is None:
                    return None
                found.append(Opaque((self.resolve(first, kind),)))
                continue
            name = self.raw(kind)
            if kind.type == "primitive_type" or (
                kind.type in _BY_VALUE_KINDS and self.file.index.class_of(name) is not None
            ):
                return None
            if kind.type == "type_identifier":
                if not (template or self.local(name) or self._is_known_value(name)):
                    return None
                found.append(self.resolve(name, kind))
            elif kind.type == "qualified_identifier":
                found.append(self.qualified(kind))
            else:
                return None
        return tuple(found)

    def _is_known_value(self, name: str) -> bool:
        found = self.resolve_variable(name, self.place.node) if self.place is not None else None
        return (
            found is not None
            or name in ("nullptr", "NULL")
            or name in self.file.macros
            or sites.is_api(name)
            or name in self.file.hosts
        )

    def _static(self, one: Declared, node: Node, value: Node | None) -> None:
        """A function-local static: made once, lives as long as the program."""
        name = f"{self.name}::{one.name}"
        self.scopes[-1].names[one.name] = name
        self.types[name] = one.type
        self.file.statics.append(ir.GlobalVar(name, one.type, "host", one.array, self.span(node), True))
        if value is not None and value.type != "initializer_list":
            results: list[Expr] = []
            block = self.collect(lambda: results.append(self.value(value, Var(name))))
            if matters(block):
                self.emit(ir.If(Test("other", None, f"static {name}"), block, (), self.span(node)))

    def _variable(self, one: Declared, node: Node, value: Node | None, base: str) -> None:
        kind = one.type
        if one.reference and value is not None and not one.array:
            self._reference(one, node, value, kind)
            return
        if value is None:
            cls = self.file.index.class_of(kind) if not one.array and not is_pointer(kind) else None
            if cls is not None or ACTIVE_TYPES.fullmatch(kind):
                self._object(one, node, (), (), False)
                return
            var = self.declare(one.name, kind, one.node)
            if not is_floating(kind) or var.name in self.addressed:
                self.emit(ir.Declare(var, kind, one.array, self.span(node)))
            return
        if value.type == "argument_list":
            if is_number(kind) or is_pointer(kind) or kind.startswith("cuda"):
                values, _ = self.arguments(value)
                var = self.declare(one.name, kind, one.node)
                self.store(var, values[0] if len(values) == 1 else opaque(*values), node)
                return
            values, spans = self.arguments(value)
            self._object(one, node, values, spans, False)
            return
        if value.type == "initializer_list":
            self._aggregate(one, node, value)
            return
        if value.type == "lambda_expression":
            var = self.declare(one.name, kind, one.node)
            self.assign(var, value, node)
            return
        cls = self.file.index.class_of(kind) if not is_pointer(kind) else None
        # the initializer sees the names before the declaration
        holder = Var(self._future_name(one, kind))
        if one.array or cls is not None:
            self.emit(ir.Declare(holder, kind, one.array, self.span(node)))
        count = len(self.out)
        result = self.value(value, holder)
        if kind.startswith("auto"):
            kind = self._deduced(result, value) or kind
        var = self.declare(one.name, kind, one.node)
        if isinstance(result, Const) and result.text == "0" and is_pointer(kind):
            result = NULL
        if not (result == holder and len(self.out) > count) and not (one.array and isinstance(result, Const)):
            self.store(var, result, node)
            self.versions[var.name] = 0
        if cls is not None:
            self._owns(var, one)

    def _future_name(self, one: Declared, kind: str) -> str:
        if any(one.name in scope.names for scope in self.scopes):
            return f"{one.name}@{one.node.start_byte + self.source.shift}"
        known = self.used.get(one.name)
        if known is None or known == kind or kind.startswith("auto"):
            return one.name
        return f"{one.name}@{one.node.start_byte + self.source.shift}"

    def _deduced(self, result: Expr, value: Node) -> str:
        """The type of `auto x = …`: of a cast, of a place, or of `new T`."""
        kind = None
        if value.type == "cast_expression":
            kind = value.child_by_field_name("type")
        elif value.type == "call_expression" and self._cast_argument(value) is not None:
            function = value.child_by_field_name("function")
            written = function.child_by_field_name("arguments") if function is not None else None
            kind = written.named_children[0] if written is not None and written.named_children else None
        if kind is not None:
            text = self.raw(kind).replace("const", " ").strip()
            return re.sub(r"\s*\*", " *", text, count=1).strip()
        return self.type_of(result)

    def _reference(self, one: Declared, node: Node, value: Node, kind: str) -> None:
        place = self.lvalue(value)
        if kind.startswith("auto"):
            kind = self.type_of(place) or kind
        var = self.declare(one.name, kind, one.node, reference=True)
        target = place.base if isinstance(place, Deref) else Addr(place)
        self.emit(ir.Assign(var, target, self.span(node)))

    def _object(
        self, one: Declared, node: Node, values: tuple[Expr, ...], spans: tuple[Span, ...], static: bool
    ) -> None:
        """A local object that a constructor makes."""
        if static:
            self._static(one, node, None)
            return
        kind = one.type
        var = self.declare(one.name, kind, one.node)
        span = self.span(node)
        self.emit(ir.Declare(var, kind, one.array, span))
        cls = self.file.index.class_of(kind)
        name_span = Span(span.path, span.start, span.start)
        if cls is not None:
            last = cls.name.rpartition("::")[2]
            if last in cls.methods:
                callee = f"{cls.name}::{last}"
                self.emit(ir.Call(callee, values, span, name_span, span.end - 1, self.site(node), spans, var))
            self._owns(var, one)
        elif ACTIVE_TYPES.fullmatch(kind):
            callee = plain_name(kind)
            self.emit(
                ir.Call(
                    callee, values, span, name_span, span.end - 1, self.site(node), spans, None, var, Look.IGNORED, kind
                )
            )
        elif values:
            self.emit(
                ir.Assign(
                    var, opaque(*values) if len(values) > 1 or not isinstance(values[0], Addr) else values[0], span
                )
            )

    def _owns(self, var: Var, one: Declared) -> None:
        cls = self.file.index.class_of(one.type)
        if cls is not None and "~" + cls.name.rpartition("::")[2] in cls.methods:
            self.scopes[-1].destroyed.append((var.name, cls))

    def _aggregate(self, one: Declared, node: Node, value: Node) -> None:
        """`T x[n] = {a, b}`, `S s = {a, .f = b}`: one assignment for each pointer or handle in it."""
        kind = one.type
        children = [child for child in value.named_children if child.type != "comment"]
        cls = self.file.index.class_of(kind) if not one.array else None
        last = cls.name.rpartition("::")[2] if cls is not None else ""
        if cls is not None and last in cls.methods:
            values, spans = self.arguments(value)
            self._object(one, node, values, spans, False)
            return
        values_ = [self._initial(child) for child in children]
        var = self.declare(one.name, kind, one.node)
        span = self.span(node)
        if not one.array and (is_number(kind) or is_pointer(kind)):
            self.store(var, values_[0][1] if values_ else Const("0"), node)
            return
        self.emit(ir.Declare(var, kind, one.array, span))
        if cls is not None:
            self._owns(var, one)
        zeros = not values_ or (len(values_) == 1 and isinstance(values_[0][1], Const))
        element = kind.removesuffix("[]")
        if one.array:
            if is_number(element):
                return
            if zeros:
                self.emit(ir.Assign(Index(var, Opaque(())), NULL, span))
                return
            for number, (_, initial) in enumerate(values_):
                self.emit(ir.Assign(Index(var, Const(str(number))), initial, span))
            return
        if cls is not None:
            names = list(cls.fields)
            for number, name in enumerate(names):
                if is_number(cls.fields[name]):
                    continue
                found = [v for label, v in values_ if label == name]
                if not found and number < len(values_) and not values_[number][0]:
                    found = [values_[number][1]]
                self.emit(ir.Assign(Field(var, name), found[0] if found else NULL, span))
            return
        for label, initial in values_:
            if label:
                self.emit(ir.Assign(Field(var, label), initial, span))
        if values_ and not any(label for label, _ in values_):
            self.emit(ir.Assign(var, opaque(*(initial for _, initial in values_)), span))

    def _initial(self, child: Node) -> tuple[str, Expr]:
        if child.type == "initializer_pair":
            designator, value = child.child_by_field_name("designator"), child.child_by_field_name("value")
            label = self.raw(designator).lstrip(".") if designator is not None else ""
            return label, self.value(value) if value is not None else Opaque(())
        return "", self.value(child)

    # -- branches -----------------------------------------------------------------------------------------------------

    def _if(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        then_node, else_node = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if condition is None:
            self.unknown("parse_error", node)
            return

        def run() -> None:
            nested = self.place is not None and self.place.needs_braces and _is_else(node)
            kept = self.blocked
            if nested:
                self.blocked = kept or "in the condition of an `else if`"
            value = condition
            if condition.type == "condition_clause":
                first = condition.child_by_field_name("initializer")
                if first is not None:
                    for child in first.children:
                        if child.type == "declaration":
                            self._declaration(child)
                        elif child.is_named:
                            self.value(child, None, False)
                value = condition.child_by_field_name("value") or condition
            if value.type == "declaration":
                self._declaration(value)
                declarator = value.child_by_field_name("declarator")
                one = declared("", declarator, self.source.text) if declarator is not None else None
                found = self.local(one.name) if one is not None else None
                kind = self.type_of(found) if found is not None else ""
                how = "nonnull" if is_pointer(kind) else "failed" if sites.STATUS_TYPE.fullmatch(kind) else "other"
                test = Test(how, found if how != "other" else None, self.condition_text(value))
                self.blocked = kept
                self._branch_on(test, then_node, else_node, node)
                return
            plan = self._plan(value)
            self.blocked = kept
            then = self.body_of(then_node)
            other = self._else_block(else_node)
            self.compose(plan, then, other, node)

        self.scoped(run, node)

    def _branch_on(self, test: Test, then_node: Node | None, else_node: Node | None, node: Node) -> None:
        then = self.body_of(then_node)
        self._emit_if(test, then, self._else_block(else_node), node)

    def _else_block(self, node: Node | None) -> Block:
        if node is None:
            return ()
        if node.type == "else_clause":
            inner = [child for child in node.named_children if child.type != "comment"]
            return self.body_of(inner[-1]) if inner else ()
        return self.body_of(node)

    def _plan(self, node: Node, first: bool = True) -> _Plan:
        """A condition as a tree of tests; each leaf has the statements that run before its test."""
        inner = node
        while inner.type in ("parenthesized_expression", "condition_clause"):
            child = inner.child_by_field_name("value") or first_named(inner)
            if child is None or child.type == "compound_statement":
                break
            inner = child
        if inner.type == "unary_expression" and inner.children[0].type in ("!", "not"):
            argument = inner.child_by_field_name("argument")
            if argument is not None and _contains_logic(argument):
                plan = self._plan(argument, first)
                return _Plan("not", (plan,), (), plan.test, self.condition_text(node))
        if inner.type == "binary_expression":
            operator = inner.child_by_field_name("operator")
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if operator is not None and left is not None and right is not None and operator.type in ("&&", "||"):
                self.depth += 1
                one = self._plan(left, first) if self.depth < MAX_DEPTH else self._leaf(left)
                kept = self.blocked
                self.blocked = kept or f"in the second operand of `{operator.type}`"
                two = self._plan(right, False)
                self.blocked = kept
                self.depth -= 1
                return _Plan(
                    operator.type,
                    (one, two),
                    (),
                    Test("other", None, self.condition_text(node)),
                    self.condition_text(node),
                )
        return self._leaf(node)

    def _leaf(self, node: Node) -> _Plan:
        tests: list[Test] = []
        block = self.collect(lambda: tests.append(self.test(node)))
        return _Plan("", (), block, tests[0], tests[0].text)

    def compose(self, plan: _Plan, then: Block, other: Block, node: Node) -> None:
        """Emit the branches of a condition; `a || b` gets `then` twice where that tells the engine something."""
        if plan.operator == "not":
            self.compose(plan.parts[0], other, then, node)
            return
        if not plan.operator:
            self.merge(plan.before)
            self._emit_if(plan.test, then, other, node)
            return
        left, right = plan.parts
        twice = other if plan.operator == "&&" else then
        if not plan.tells():
            self._run_plan(plan, node)
            self._emit_if(Test("other", None, plan.text), then, other, node)
            return
        if _size(twice) > (60 if right.calls() else 8):
            self._run_plan(plan, node)
            self._emit_if(Test("other", None, plan.text), then, other, node)
            return
        inner = self.collect(lambda: self.compose(right, then, other, node))
        if plan.operator == "&&":
            self.compose(left, inner, other, node)
        else:
            self.compose(left, then, inner, node)

    def _run_plan(self, plan: _Plan, node: Node) -> None:
        """Evaluate a condition without branching on it."""
        if not plan.operator:
            self.merge(plan.before)
            return
        if plan.operator == "not":
            self._run_plan(plan.parts[0], node)
            return
        left, right = plan.parts
        self._run_plan(left, node)
        block = self.collect(lambda: self._run_plan(right, node))
        if not matters(block):
            self.merge(block)
        elif plan.operator == "&&":
            self.emit(ir.If(left.test, block, (), self.span(node)))
        else:
            self.emit(ir.If(left.test, (), block, self.span(node)))

    def _emit_if(self, test: Test, then: Block, other: Block, node: Node) -> None:
        if not matters(then) and not matters(other):
            self.merge(then)
            self.merge(other)
            return
        self.emit(ir.If(test, then, other, self.span(node)))

    def _switch(self, node: Node) -> None:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is None or body is None:
            self.unknown("parse_error", node)
            return
        self.test(condition)
        arms: list[Block] = []
        has_default = False
        current: list[Node] = []

        def run() -> None:
            nonlocal has_default
            for child in body.children:
                if child.type == "case_statement":
                    has_default = has_default or child.children[0].type == "default"
                    value = child.child_by_field_name("value")
                    after = [c for c in child.named_children if c != value]
                    arms.append(self.collect(lambda after=after: self.statement_list(after, child.start_byte)))  # type: ignore[misc]
                elif child.type not in _SKIPPED:
                    current.append(child)
            if current:
                self.unknown("a switch with statements outside of its cases", node)

        block = self.collect(lambda: self.scoped(run, node, breaks=True))
        self.merge(block)
        if any(matters(arm) for arm in arms):
            self.emit(ir.Switch(tuple(arms), has_default, self.span(node)))
        else:
            for arm in arms:
                self.merge(arm)

    # -- loops --------------------------------------------------------------------------------------------------------

    def _for(self, node: Node) -> None:
        self.scoped(lambda: self._for_parts(node), node)

    def _for_parts(self, node: Node) -> None:
        first, condition, step = (node.child_by_field_name(f) for f in ("initializer", "condition", "update"))
        if first is not None:
            if first.type == "declaration":
                self._declaration(first)
            else:
                self.value(first, None, False)
        self.flush()
        header = self._header(first, condition, step)
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        before = self.collect(lambda: self._discard(condition)) if condition is not None else ()
        self.blocked = kept
        names = dict(self.versions)
        body = self._round(node.child_by_field_name("body"))
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        after = self.collect(lambda: self._discard(step)) if step is not None else ()
        self.blocked = kept
        index, bounds, once = header if header is not None else (None, None, False)
        if index is not None and bounds is not None:
            text, words = bounds
            assigned = _assigned(body)
            changed = {w for w in words if self.versions.get(w, 0) != names.get(w, 0)}
            if (
                index in assigned
                or changed
                or any(isinstance(a, Var) and a.name.partition("@")[0] in words for a in assigned)
            ):
                index, bounds, once = None, None, False
            else:
                marks = "".join(f"#{self.versions[w]}" if self.versions.get(w) else "" for w in sorted(words))
                bounds = (text + marks, words)
        made = ir.Loop(
            body, self.span(node), before, after if index is None else (), index,
            bounds[0] if bounds is not None else None, once, forever=condition is None,
        )  # fmt: skip
        if bounds is not None:
            self.ranged.append((made, bounds[1], after))
        self._emit_loop(made)

    def _round(self, body: Node | None) -> Block:
        """The body of a loop. A loop in it whose bounds differ from round to round is not canonical."""
        outer, self.bumped = self.bumped, set()
        first = len(self.ranged)
        lowered = self.body_of(body, True, True)
        for loop, words, step in self.ranged[first:]:
            if words & self.bumped:
                loop.index, loop.range, loop.step, loop.at_least_once = None, None, step, False
        self.bumped |= outer
        return lowered

    def _discard(self, node: Node) -> None:
        self.value(node, None, False)

    def _header(
        self, first: Node | None, condition: Node | None, step: Node | None
    ) -> tuple[Var, tuple[str, frozenset[str]], bool] | None:
        """The index, the range and whether one round is certain, of `for (i = a; i < b; i++)`."""
        if first is None or condition is None or step is None or condition.type != "binary_expression":
            return None
        init = first.child_by_field_name("declarator") if first.type == "declaration" else first
        if init is None or init.type not in ("init_declarator", "assignment_expression"):
            return None
        name_node = init.child_by_field_name("declarator" if init.type == "init_declarator" else "left")
        start = init.child_by_field_name("value" if init.type == "init_declarator" else "right")
        left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
        operator = condition.child_by_field_name("operator")
        if name_node is None or start is None or left is None or right is None or operator is None:
            return None
        name = self.raw(name_node)
        index = self.local(name)
        if self.raw(left) != name or not isinstance(index, Var):
            return None
        stride = _stride(self.normal(step), name)
        low, high, sign = self.normal(start), self.normal(right), operator.type
        if stride is None or "(" in low + high.replace("sizeof(", ""):
            return None
        if stride == "-1" and sign in (">=", ">") and (found := re.fullmatch(r"(.+)-1", low)) and sign == ">=":
            text = f"{high}:{found.group(1)}"  # the same indices as upwards
            low, high = high, found.group(1)
        elif stride == "1" and sign in ("<", "!="):
            text = f"{low}:{high}"
        elif stride == "1" and sign == "<=":
            text = f"{low}:={high}"
        else:
            text = f"{low}:{sign}{high}:{stride}"
        once = self._number(low) is not None and self._number(high) is not None
        once = once and sign in ("<", "!=") and int(self._number(low) or 0) < int(self._number(high) or 0)
        words = frozenset(re.findall(r"[A-Za-z_]\w*", f"{low} {high}"))
        return index, (text, words), once

    def _number(self, text: str) -> str | None:
        if _INTEGER.fullmatch(text):
            return text
        macro = self.file.macros.get(text)
        if macro is not None and macro.params is None:
            body = macro.body.decode("utf-8", "replace").strip().strip("()").rstrip("uUlL")
            return body if _INTEGER.fullmatch(body) else None
        return None

    def _while(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        text = self.normal(condition).strip("()") if condition is not None else ""

        def run() -> None:
            kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
            before = self.collect(lambda: self._condition(condition))
            self.blocked = kept
            body = self._round(node.child_by_field_name("body"))
            once = text in ("true", "1")
            self._emit_loop(ir.Loop(body, self.span(node), before, at_least_once=once, forever=once))

        self.flush()
        self.scoped(run, node)

    def _condition(self, node: Node | None) -> None:
        if node is None:
            return
        inner = node.child_by_field_name("value") if node.type == "condition_clause" else node
        if inner is not None and inner.type == "declaration":
            self._declaration(inner)
        elif inner is not None:
            self._run_plan(self._plan(inner), node)

    def _do(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        text = self.normal(condition).strip("()") if condition is not None else ""
        self.flush()
        once = text in ("0", "false")
        self.branches -= once
        body = self._round(node.child_by_field_name("body"))
        self.branches += once
        if text in ("0", "false") and not _leaves(body):
            self.merge(body)  # `do { … } while (0)` is a block
            return
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        before = self.collect(lambda: self._condition(condition))
        self.blocked = kept
        if text in ("0", "false"):
            body = (*body, ir.Break(self.span(node)))
        self._emit_loop(ir.Loop(body, self.span(node), before, at_least_once=True, forever=text in ("true", "1")))

    def _range_for(self, node: Node) -> None:
        container_node, declarator = node.child_by_field_name("right"), node.child_by_field_name("declarator")
        if container_node is None or declarator is None:
            self.unknown("parse_error", node)
            return

        def run() -> None:
            first = node.child_by_field_name("initializer")
            if first is not None:
                self.statement(first)
            if container_node.type == "initializer_list":
                container = self.value(container_node)
            else:
                container = self.lvalue(container_node)
            one = declared(base_type(node, self.source.text), declarator, self.source.text)
            self.flush()
            element: Expr = Index(container, Opaque(()))
            options: tuple[Expr, ...] = ()
            if container_node.type == "initializer_list":
                options = container.parts if isinstance(container, Opaque) else (container,)
                element = ir.Choice(options) if options else Opaque(())

            def bind() -> None:
                if one is None:
                    self.unknown("a declaration that is not understood", declarator)
                    return
                kind = one.type if not one.type.startswith("auto") else (self.type_of(element) or one.type)
                for binding in one.bindings:
                    var = self.declare(self.raw(binding), "", binding)
                    self.emit(ir.Assign(var, opaque(element), self.span(declarator)))
                if one.bindings:
                    return
                if not options:
                    self.touch(container_node, element)
                self.flush()
                var = self.declare(one.name, kind, one.node, reference=one.reference and not options)
                self.emit(
                    ir.Assign(var, Addr(element) if one.reference and not options else element, self.span(declarator))
                )

            binding = self.collect(bind)
            body = self._round(node.child_by_field_name("body"))
            self._emit_loop(ir.Loop((*binding, *body), self.span(node)))

        self.scoped(run, node)

    def _emit_loop(self, loop: ir.Loop) -> None:
        """A loop of plain host code becomes one access; its integers lose their values."""
        plain = _Plain()
        if plain.block(loop.condition) and plain.block(loop.body, inside=True) and plain.block(loop.step):
            if all(self._is_number(target) for target in plain.assigned):
                changed = plain.assigned | ({loop.index} if loop.index is not None else set())
                changed_names = {var.name for var in changed if isinstance(var, Var)}
                self.flush()
                reads = [generic(place, changed_names) for place in plain.reads]
                writes = [generic(place, changed_names) for place in plain.writes]
                own = plain.declared
                reads = [place for place in dict.fromkeys(reads) if _root(place) not in own]
                writes = [place for place in dict.fromkeys(writes) if _root(place) not in own]
                if reads or writes:
                    self.emit(ir.HostAccess(tuple(reads), tuple(writes), loop.span))
                for target in sorted(changed - own, key=repr):
                    self.emit(ir.Assign(target, Opaque(()), loop.span))
                return
        self.emit(loop)

    def _is_number(self, target: Expr) -> bool:
        return isinstance(target, Var) and is_number(self.type_of(target))

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _try(self, node: Node) -> None:
        body = self.body_of(node.child_by_field_name("body"))
        handlers = []
        for child in node.named_children:
            if child.type != "catch_clause":
                continue

            def run(clause: Node = child) -> None:
                for param, at in parameters(clause.child_by_field_name("parameters"), self.source.text):
                    if param.name:
                        self.declare(param.name, param.type, at)
                inner = clause.child_by_field_name("body")
                if inner is not None:
                    self.statement_list(inner.children, inner.start_byte)

            handlers.append(self.collect(lambda child=child, run=run: self.scoped(run, child)))  # type: ignore[misc]
        self.emit(ir.Try(body, tuple(handlers), self.span(node)))

    def make_lambda(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """A lambda becomes a function of its own that shares the variables around it."""
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        name = f"{self.name}::<lambda@{self.span(node).start}>"
        if body is None:
            return self.unknown("parse_error", node)
        captures = node.child_by_field_name("captures")
        for child in captures.named_children if captures is not None else ():
            if child.type == "lambda_capture_initializer":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                if left is not None and right is not None:
                    self.store(self.declare(self.raw(left), "", left), self.value(right), child)
        device = any(child.type in ("__device__", "__global__") for child in node.children)
        if device and not any(child.type == "__host__" for child in node.children):
            return FuncRef(name)
        inner = Statements(self.file, self.source, name, self.cls, self.namespace, self.text)
        inner.scopes = [Scope({k: v for scope in self.scopes for k, v in scope.names.items()})]
        inner.types, inner.used = dict(self.types), dict(self.used)
        inner.references, inner.lambdas = set(self.references), self.lambdas
        inner.addressed, inner.bindings, inner.expanding = self.addressed, self.bindings, self.expanding
        inner.depth, inner.end = self.depth, self.end
        made = inner.function(parameters(listed, self.source.text), body, node, internal=True)
        self.file.functions.append(made)
        return FuncRef(name)

    def expand(self, macro: Macro, bindings: Mapping[str, Bound], node: Node, want_value: bool) -> Expr | None:
        """Lower the body of a macro here. None if the body does not parse, or is too deep in other macros."""
        if len(self.expanding) > 20 or macro.name in self.expanding:
            return None
        orders = ((False,), (True,)) if want_value else ((True,), (False,))
        for (as_statement,) in orders:
            parsed = self.file.macro_body(macro, as_statement)
            if parsed is not None:
                break
        else:
            return None
        body, source = parsed
        kept = self.source, self.bindings, self.expanding, self.fixed, self.continuation, self.place
        if macro.path != self.file.path:
            self.fixed = self.fixed or "defined in another file"
        text = self.file.original[macro.body_start : macro.body_start + len(macro.body)]
        self.continuation = macro.path == self.file.path and b"\n" in text
        self.source, self.bindings, self.expanding = source, bindings, (*self.expanding, macro.name)
        try:
            if as_statement:
                self.scoped(lambda: self.statement_list(body.children, body.start_byte), body)
                return Opaque(())
            self.place = sites.Place(body, self.span(body), "", False, continuation=self.continuation)
            if want_value:
                return self.value(body)
            return self.value(body, None, False)
        finally:
            self.source, self.bindings, self.expanding, self.fixed, self.continuation, self.place = kept

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
        listed = tuple(params)
        for param, at in listed:
            if param.name:
                self.declare(param.name, param.type, at, param.by_reference)
        renamed = tuple(
            ir.Param(self.scopes[-1].names.get(param.name, param.name), param.type, param.by_reference)
            for param, _ in listed
        )

        def run() -> None:
            if initializers is not None:
                self._member_initializers(initializers)
            self.statement_list(body.children, body.start_byte)

        def whole() -> None:
            self._at(body, False)
            if body.type == "compound_statement":
                self.scoped(run, body)
            else:
                self.scoped(lambda: self.statement(body), body)

        span = self.span(node)
        try:
            lowered = self.collect(whole)
        except RecursionError:
            lowered = (ir.Unknown("nested too deeply", self.span(body), ()),)
        problems = list(self.problems)
        problems += [("parse_error", start) for start, end in self.file.errors if start < span.end and end > span.start]
        return ir.Function(
            self.name, renamed, lowered, span, internal, self.cls, self.types, tuple(dict.fromkeys(problems)), returns
        )

    def _member_initializers(self, node: Node) -> None:
        """`: p(nullptr), Base(n)` of a constructor."""
        for child in node.named_children:
            if child.type != "field_initializer":
                continue
            parts = [part for part in child.named_children if part.type != "comment"]
            if not parts:
                continue
            name = plain_name(self.raw(parts[0]))
            values, spans = self.arguments(parts[-1]) if len(parts) > 1 else ((), ())
            span = self.span(child)
            cls = self.file.index.class_of(name)
            if cls is not None and cls.name.rpartition("::")[2] in cls.methods and name != self.cls:
                last = cls.name.rpartition("::")[2]
                self._at(child, False)
                site = self.site(child)
                site.blocked = "in the initializer list of a constructor"
                self.emit(
                    ir.Call(f"{cls.name}::{last}", values, span, span, span.end - 1, site, spans, Deref(Var("this")))
                )
                continue
            place = Field(Deref(Var("this")), name)
            value = values[0] if len(values) == 1 else opaque(*values) if values else NULL
            if isinstance(value, Const) and value.text == "0" and is_pointer(self.type_of(place)):
                value = NULL
            self.store(place, value, child)


class _Plan:
    """A condition: a leaf with the statements before its test, or `&&`, `||`, `not` of others."""

    __slots__ = ("before", "operator", "parts", "test", "text")

    def __init__(self, operator: str, parts: tuple[_Plan, ...], before: Block, test: Test, text: str) -> None:
        self.operator, self.parts, self.before, self.test, self.text = operator, parts, before, test, text

    def calls(self) -> bool:
        return matters(self.before) or any(part.calls() for part in self.parts)

    def tells(self) -> bool:
        """Whether branching on the operands apart says more than branching on the whole."""
        if not self.operator:
            return self.test.kind != "other" or matters(self.before)
        return any(part.tells() for part in self.parts)


class _Plain:
    """What a block of plain host code touches; `block` is False if the block holds anything else."""

    def __init__(self) -> None:
        self.reads: dict[Expr, None] = {}
        self.writes: dict[Expr, None] = {}
        self.assigned: set[Expr] = set()
        self.declared: set[Expr] = set()

    def block(self, statements: Block, inside: bool = False) -> bool:
        for statement in statements:
            if isinstance(statement, ir.HostAccess):
                self.reads.update(dict.fromkeys(statement.reads))
                self.writes.update(dict.fromkeys(statement.writes))
            elif isinstance(statement, ir.Assign):
                self.assigned.add(statement.target)
            elif isinstance(statement, ir.Declare):
                self.declared.add(statement.var)
            elif isinstance(statement, ir.If):
                if not (self.block(statement.then, inside) and self.block(statement.other, inside)):
                    return False
            elif isinstance(statement, (ir.Break, ir.Continue)):
                if not inside:
                    return False
            elif isinstance(statement, ir.Loop):
                if not all(self.block(part, True) for part in (statement.condition, statement.body, statement.step)):
                    return False
                if statement.index is not None:
                    self.assigned.add(statement.index)
            elif isinstance(statement, ir.Switch):
                if not all(self.block(arm, True) for arm in statement.arms):
                    return False
            else:
                return False
        return True


def generic(place: Expr, changed: set[str]) -> Expr:
    """A place in a loop, for all rounds: an index that changes stands for any index."""
    if isinstance(place, Index):
        index = place.index if isinstance(place.index, Const) or not _mentions(place.index, changed) else Opaque(())
        return Index(generic(place.base, changed), index)
    if isinstance(place, Field):
        return Field(generic(place.base, changed), place.name)
    if isinstance(place, Deref):
        return Deref(generic(place.base, changed))
    if isinstance(place, Offset):
        return Offset(generic(place.base, changed))
    if isinstance(place, Addr):
        return Addr(generic(place.base, changed))
    return place


def _mentions(expr: Expr, names: set[str]) -> bool:
    if isinstance(expr, Var):
        return expr.name in names
    if isinstance(expr, (Field, Deref, Addr, Offset)):
        return _mentions(expr.base, names)
    if isinstance(expr, Index):
        return _mentions(expr.base, names) or _mentions(expr.index, names)
    if isinstance(expr, Opaque):
        return any(_mentions(part, names) for part in expr.parts)
    if isinstance(expr, ir.Choice):
        return any(_mentions(part, names) for part in expr.options)
    return False


def _root(place: Expr) -> Expr:
    """The variable whose own memory a place lies in; a place behind a pointer is its own root."""
    while isinstance(place, (Field, Index)):
        place = place.base
    return place


def _assigned(block: Block) -> set[Expr]:
    """What a block assigns, in its branches and loops too."""
    found: set[Expr] = set()
    stack: list[Stmt] = list(block)
    while stack:
        statement = stack.pop()
        if isinstance(statement, ir.Assign):
            found.add(statement.target)
        elif isinstance(statement, ir.Call):
            if statement.result is not None:
                found.add(statement.result)
            found.update(arg.base for arg in statement.args if isinstance(arg, Addr))
        elif isinstance(statement, ir.If):
            stack += [*statement.then, *statement.other]
        elif isinstance(statement, ir.Loop):
            stack += [*statement.condition, *statement.body, *statement.step]
            if statement.index is not None:
                found.add(statement.index)
        elif isinstance(statement, ir.Switch):
            for arm in statement.arms:
                stack += arm
        elif isinstance(statement, ir.Try):
            stack += statement.body
            for handler in statement.handlers:
                stack += handler
    return found


def _leaves(block: Block) -> bool:
    """Whether a `break` or `continue` in a block belongs to the loop around it."""
    for statement in block:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if isinstance(statement, ir.If) and (_leaves(statement.then) or _leaves(statement.other)):
            return True
        if isinstance(statement, ir.Try) and (_leaves(statement.body) or any(map(_leaves, statement.handlers))):
            return True
        if isinstance(statement, ir.Switch):  # its own `break`s stay inside
            return True
    return False


def _size(block: Block) -> int:
    total = 0
    for statement in block:
        total += 1
        if isinstance(statement, ir.If):
            total += _size(statement.then) + _size(statement.other)
        elif isinstance(statement, ir.Loop):
            total += _size(statement.condition) + _size(statement.body) + _size(statement.step)
        elif isinstance(statement, ir.Switch):
            total += sum(map(_size, statement.arms))
        elif isinstance(statement, ir.Try):
            total += _size(statement.body) + sum(map(_size, statement.handlers))
    return total


def _contains_logic(node: Node) -> bool:
    while node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
        node = inner
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return operator is not None and operator.type in ("&&", "||")


def _is_else(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "else_clause"


def _stride(text: str, name: str) -> str | None:
    if text in (f"{name}++", f"++{name}", f"{name}+=1", f"{name}={name}+1"):
        return "1"
    if text in (f"{name}--", f"--{name}", f"{name}-=1", f"{name}={name}-1"):
        return "-1"
    found = re.fullmatch(re.escape(name) + r"([*/+-]|<<|>>)=(\w+)", text)
    return found.group(1) + found.group(2) if found else None


def addressed_names(text: str, by_reference: Mapping[str, tuple[bool, ...]]) -> frozenset[str]:
    """Names whose address is taken, that a reference is bound to, or that a function of this file takes by reference."""
    text = _HANDED_OUT.sub("", text)
    names = set(_ADDRESSED.findall(text)) | set(_ALIASED.findall(text))
    for function, flags in by_reference.items():
        if any(flags) and function in text:
            for found in re.finditer(rf"\b{re.escape(function)}\s*(?:<[^;()]*>)?\(([^;]*)\)", text):
                names.update(re.findall(r"[A-Za-z_]\w*", found.group(1)))
    return frozenset(names)


def lower_function(file: File, definition: Definition, source: Source) -> ir.Function:
    """One host function."""
    node = definition.node
    text = text_of(definition.body, source.text)
    lowering = Statements(file, source, definition.name, definition.cls, definition.namespace, source.text)
    lowering.addressed = addressed_names(text, file.index.by_reference)
    lowering.end = node.end_byte
    initializers = next((child for child in node.children if child.type == "field_initializer_list"), None)
    return lowering.function(
        definition.params, definition.body, node, definition.internal, definition.returns, initializers
    )


_STATEMENTS: dict[str, Callable[[Statements, Node], None]] = {
    "expression_statement": Statements._expression,
    "compound_statement": Statements._compound,
    "declaration": Statements._declaration,
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
__all__ = ["Expressions", "Statements", "lower_function"]
