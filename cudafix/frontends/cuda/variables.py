"""Declarations of local variables: objects with constructors, references, statics, arrays and aggregates."""

from __future__ import annotations

import re

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda import sites
from cudafix.frontends.cuda.blocks import Blocks
from cudafix.frontends.cuda.declarations import (
    Declared,
    base_type,
    declared,
    element_type,
    is_floating,
    is_number,
    is_pointer,
    plain_name,
)
from cudafix.frontends.cuda.names import ACTIVE_TYPES
from cudafix.frontends.cuda.terms import (
    matters,
    opaque,
)
from cudafix.ir import (
    NULL,
    Addr,
    Const,
    Deref,
    Expr,
    Field,
    Index,
    Look,
    Opaque,
    Span,
    Test,
    Var,
)

_JUMPS = frozenset(("break", "continue", "return", "goto", "throw"))
# what a macro may be given as an argument, and is no type
_CODE = frozenset(
    "compound_statement initializer_list call_expression kernel_call_expression assignment_expression "
    "update_expression lambda_expression".split()
)
_BY_VALUE_KINDS = frozenset(("type_identifier", "qualified_identifier"))


class Variables(Blocks):
    """Lowers the declarations of local variables."""

    def _declaration(self, node: Node) -> None:
        base = base_type(node, self.source.text)
        words = {self.raw(c) for c in node.children if c.type in ("storage_class_specifier", "type_qualifier")}
        if "extern" in words:
            return
        if self._is_misread(node):
            self.unknown("a macro that reads as the type of a declaration", node)
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

    def _is_misread(self, node: Node) -> bool:
        """Whether statements read as a declaration: `MACRO break;`, or `body x = 1;` where `body` is code that a macro
        was given.
        """
        kind = node.child_by_field_name("type")
        if kind is None or kind.type != "type_identifier":
            return False
        name = self.raw(kind)
        bound, macro = self.bindings.get(name), self.file.macros.get(name)
        if bound is not None and (bound.rest or bound.node.type in _CODE):
            return True
        if bound is None and macro is not None and macro.kind in ("operates", "transparent"):
            return True
        return any(self.raw(child) in _JUMPS for child in node.children_by_field_name("declarator"))

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
                self.emit(ir.Declare(var, element_type(kind), one.array, self.span(node)))
            if one.array:
                self._elements(var, one, node)
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
            self.emit(ir.Declare(holder, element_type(kind), one.array, self.span(node)))
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
        if cls is None and kind != one.type and not is_pointer(kind):
            cls = self.file.index.class_of(kind)  # `auto x = T(…)`
            one.type = kind
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
        self.emit(ir.Declare(var, element_type(kind), one.array, span))
        cls = self.file.index.class_of(kind)
        name_span = Span(span.path, span.start, span.start)
        if cls is not None:
            if self.file.index.has(cls, cls.constructor):
                callee = f"{cls.name}::{cls.constructor}"
                self.emit(ir.Call(callee, values, span, name_span, span.end - 1, self.site(node), spans, var))
            self._owns(var, one)
        elif ACTIVE_TYPES.fullmatch(kind):
            callee = plain_name(kind)
            template_args = kind.partition("<")[2].removesuffix(">")
            self.emit(
                ir.Call(
                    callee,
                    values,
                    span,
                    name_span,
                    span.end - 1,
                    self.site(node),
                    spans,
                    None,
                    var,
                    Look.IGNORED,
                    template_args,
                )
            )
        elif values:
            self.emit(
                ir.Assign(
                    var, opaque(*values) if len(values) > 1 or not isinstance(values[0], Addr) else values[0], span
                )
            )

    def _elements(self, var: Var, one: Declared, node: Node) -> None:
        """The constructors of the elements of a local array, and at the end of its scope their destructors."""
        cls = self.file.index.class_of(element_type(one.type)) if not is_pointer(element_type(one.type)) else None
        if cls is None:
            return
        size = node.child_by_field_name("size")
        known = one.type.count("[]") == 1 and size is not None
        count = self.normal(size) if known and size is not None else f"?{self.span(node).start}"
        self.each(node, cls, "", (), (), var, count)
        if self.file.index.has(cls, cls.destructor):
            self.scopes[-1].destroyed.append((var, cls, f"0:{count}"))

    def _owns(self, var: Var, one: Declared) -> None:
        cls = self.file.index.class_of(one.type)
        if cls is not None and self.file.index.has(cls, cls.destructor):
            self.scopes[-1].destroyed.append((var, cls, ""))

    def _aggregate(self, one: Declared, node: Node, value: Node) -> None:
        """`T x[n] = {a, b}`, `S s = {a, .f = b}`: one assignment for each pointer or handle in it."""
        kind = one.type
        children = [child for child in value.named_children if child.type != "comment"]
        cls = self.file.index.class_of(kind) if not one.array else None
        if cls is not None and self.file.index.has(cls, cls.constructor):
            values, spans = self.arguments(value)
            self._object(one, node, values, spans, False)
            return
        values_ = [self._initial(child) for child in children]
        var = self.declare(one.name, kind, one.node)
        span = self.span(node)
        if not one.array and (is_number(kind) or is_pointer(kind)):
            self.store(var, values_[0][1] if values_ else Const("0"), node)
            return
        self.emit(ir.Declare(var, element_type(kind), one.array, span))
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
