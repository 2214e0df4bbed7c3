"""Declarations of local variables: objects with constructors, references, statics, arrays and aggregates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower import held_objects
from cudafix.frontends.cuda.lower.blocks import Blocks
from cudafix.frontends.cuda.lower.expressions import is_reference
from cudafix.frontends.cuda.lower.new_and_delete import each, memory_of, type_of_expression
from cudafix.frontends.cuda.lower.syntax import cast_type, first_named
from cudafix.frontends.cuda.lower.terms import (
    is_temporary,
    matters,
    opaque,
    root_of,
)
from cudafix.frontends.cuda.sema import owners, sites
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.frontends.cuda.sema.declarators import CLASS_NODES, CONSTANT, Declared, declared, extent, integer
from cudafix.frontends.cuda.sema.heads import base_type, parameters
from cudafix.frontends.cuda.sema.lookup import of_library, renaming, using
from cudafix.frontends.cuda.sema.owners import Optional
from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.frontends.cuda.sema.type_texts import WORDS, element_type, is_pointer, keeps_references, pointee
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
    Test,
    Var,
    template_arguments,
)
from cudafix.ir.types import Type
from cudafix.models import built_in
from cudafix.models.api import ANY_SCOPE
from cudafix.models.number_types import is_floating, is_number

_HANDLE = re.compile(r"cuda[A-Z]\w*$")
_STRUCT_OF_CUDA = re.compile(r"cuda[A-Z]\w*|CU[a-z]\w*|CUDA_\w+")
"""Its structs are aggregates without initializers: `{0}` makes all members null (C++17, 11.6.1 [dcl.init.aggr] 8)."""
_PLAIN = frozenset(("std::string", "string"))
_USUAL = re.compile(r"(?:std|thrust)::\w*allocator\b")
_JUMPS = frozenset(("break", "continue", "return", "goto", "throw"))
# what a macro may be given as an argument, and is no type
_CODE = frozenset(
    "compound_statement initializer_list call_expression kernel_call_expression assignment_expression "
    "update_expression lambda_expression".split()
)
# expressions of which `decltype` may be a reference (C++17, 10.1.7.2 [dcl.type.simple] 4)
_MAY_REFER = frozenset("call_expression subscript_expression pointer_expression parenthesized_expression".split())
_MAKE_VALUES = frozenset("number_literal char_literal string_literal true false null nullptr lambda_expression".split())
_GIVES_ITERATORS = frozenset("begin end cbegin cend find lower_bound upper_bound".split())
_DECLTYPE = re.compile(r"decltype\s*\(\s*(\w+)\s*\)")
_STATIC = frozenset(("static", "thread_local", "__thread"))  # made once, and there until the thread ends
_OBJECT = re.compile(r"([\w:]+)\s*(?:\(\s*\)|\{\s*\})")  # made without arguments
_BY_VALUE_KINDS = frozenset(("type_identifier", "qualified_identifier"))


class Variables(Blocks):
    """Lowers the declarations of local variables."""

    def type_specifier(self, node: Node) -> str:
        return base_type(node, self.source.text, self.file.index)

    def parameters(self, node: Node | None) -> tuple[tuple[ir.Param, Node], ...]:
        return parameters(node, self.source.text, self.file.index)

    def _are_parameters(self, arguments: Node) -> bool:
        """Whether all arguments of `T name(int(), U(x))` read as parameters too: then it declares a function (C++17,
        11.2 [dcl.ambig.res]).
        """
        return bool(arguments.named_children) and all(map(self._is_parameter, arguments.named_children))

    def _is_parameter(self, argument: Node) -> bool:
        named, given = argument.child_by_field_name("function"), argument.child_by_field_name("arguments")
        if argument.type != "call_expression" or named is None or given is None:
            return False
        name = self.raw(named)
        index = self.file.index
        is_type = named.type == "primitive_type" or index.is_type(name) or index.class_of(name) is not None
        inner = given.named_children
        names = not inner or (len(inner) == 1 and inner[0].type == "identifier")
        return is_type and names and self.local(name) is None

    def _declaration(self, node: Node) -> None:
        base = self.type_specifier(node)
        words = {self.raw(c) for c in node.children if c.type in ("storage_class_specifier", "type_qualifier")}
        if "extern" in words:
            self._declares_outside(node, base)
            return
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in CLASS_NODES and self.source.stop is not None:
            if kind.child_by_field_name("body") is not None:
                self.unread("a class in a macro", node)
        if self._is_misread(node):
            self.unknown("a statement that reads as a declaration", node)
            return
        measured = _DECLTYPE.fullmatch(base.removesuffix(OPEN))
        if measured and (place := self.local(measured.group(1))) is not None:
            base = self.type_of(place) + " &" * is_reference(self, place)
        elif base.startswith("decltype") and (kind := node.child_by_field_name("type")) is not None:
            base = type_of_expression(self, kind) or base
            if base.startswith("decltype(") and "(" in base[len("decltype(") :]:  # of a call of what is not seen
                self.unknown("an object of a type that is not known", node)
                self.may_declare(node, base)
        for child in node.children_by_field_name("declarator"):
            one = declared(base, child, self.source.text)
            if one is None:
                self.unknown("a declaration that is not understood", child)
                continue
            if self.source.pasted:
                one = replace(one, name=self.as_pasted(one.name), type=self.as_pasted(one.type))
            value = child.child_by_field_name("value")
            if value is None and child.type != "init_declarator":
                value = node.child_by_field_name("value")  # `if (int x = f())`
            if value is not None and value.type == "argument_list" and self._are_parameters(value):
                self.unknown("a statement that declares a function", child)
                continue
            if "thread_local" in words:
                self.file.of_each_thread(one.type)
            if one.parameters is not None and one.bindings:  # `auto &[a, b](x);`
                self.unknown("a declaration that is not understood", child)
                continue
            if one.parameters is not None and not one.pointer_to_function:
                arguments = self._misread_arguments(one)
                if arguments is None and one.may_refer and self._names_no_type(one.parameters):
                    self.unknown("a declaration that is not understood", child)
                    self.declare(one.name, one.type, one.node)
                    continue
                if arguments is None and self.is_unseen(one.type):  # `MACRO f();`, of a macro that is not seen
                    self.unknown("a statement that reads as a declaration", child)
                    continue
                if arguments is None:  # a prototype, which hides the default arguments of others
                    listed = self.parameters(one.parameters)
                    self.file.index.declares_function(node, one, listed, self.source.text, self.source.path, ANY_SCOPE)
                    if any(param.optional for param, _ in listed):
                        self.problems.append(("parse_error", self.span(child).start))
                    continue
                if one.may_refer and len(arguments) == 1:
                    self._reference(one, child, arguments[0], one.type)
                elif words & _STATIC:
                    self._static(one, child, None, arguments)
                elif not self._optional_object(one, child, one.parameters, arguments) and not self._row(
                    one, child, None, arguments
                ):
                    self._object(one, child, arguments, ())
                continue
            if words & _STATIC:
                self._static(one, child, value)
            elif one.bindings:
                if value is not None and value.type == "initializer_list" and value.named_child_count == 1:
                    value = value.named_children[0]  # `auto &[a, b]{x};`
                place = self.lvalue(value) if value is not None else Opaque(())
                if value is not None:
                    self.touch(value, place)
                    self._ends_unseen(child, place)
                    if not one.reference:
                        place = self._copy_to_bind(child, value, place)
                self.bind_names(one, place, child)
                objects = place.options if isinstance(place, ir.Choice) else (place,)
                if self._may_name_others(one, place):
                    named = tuple(Addr(at) for at in objects if isinstance(at, (Var, Field, Index, Deref)))
                    self.unknown("a structured binding of parts that are not known", child, named)
            else:
                self._variable(one, child, value, base)
            if words & CONSTANT and (number := integer(value, one, self.source.text)):
                self.numbers[self.scopes[-1].names[one.name]] = number

    def _declares_outside(self, node: Node, base: str) -> None:
        """`extern T x;` is a member of the innermost namespace around (C++17, 6.5 [basic.link] 6, 7)."""
        for child in node.children_by_field_name("declarator"):
            one = declared(base, child, self.source.text)
            if one is not None and (one.parameters is None or one.pointer_to_function):
                name = f"::{self.namespace}::{one.name}" if self.namespace else f"::{one.name}"
                known = self.file.index.global_named(name)
                if known is None or known.name != name:
                    kind = one.type + " &" * (one.reference and not one.array)
                    known = ir.GlobalVar(name, kind, "host", one.array, self.span(child), elsewhere=True)
                self.scopes[-1].brought[one.name] = [known]
                self.scopes[-1].names.pop(one.name, None)

    def _using(self, node: Node) -> None:
        """A using-directive or using-declaration in a block."""
        for one in using(self.raw(node)):
            index, scope = self.file.index, self.scopes[-1]
            if one.is_directive:
                spaces = index.lookup.spaces_named(one.name, self.here)
                scope.opened += sorted(spaces) or ([] if of_library(one.name) else [""])
            elif found := index.variables(one.name if "::" in one.name else f"::{one.name}", self.here):
                scope.brought[one.last] = found
                scope.names.pop(one.last, None)

    def _renames(self, node: Node) -> None:
        """An alias of a namespace in a block."""
        if (renamed := renaming(self.raw(node))) is not None:
            name, meant = renamed
            self.scopes[-1].aliases[name] = self.file.index.lookup.spaces_named(meant, self.here)

    def _type_name(self, node: Node) -> None:
        """`typedef int A[n];`, `using A = int[n];`"""
        for child in (*node.children_by_field_name("declarator"), node.child_by_field_name("type")):
            self.sizes(child)

    def bind_names(self, one: Declared, place: Expr, node: Node) -> None:
        """The names of a structured binding: members of a class that is seen, elements of an array, else any part."""
        kind = self.type_of(place)
        certain = is_pointer(kind) or kind.endswith("]") or kind.startswith("std::")
        if not certain and self.file.index.specializes("tuple_size"):
            self.unread("a structured binding that may call `get`", node)
        for number, binding in enumerate(one.bindings):
            part = self.part_of(kind, place, number) or place
            known = part is not place
            if isinstance(part, Deref) and isinstance(part.base, Field) and not one.reference:
                var = self.declare(self.raw(binding), self.type_of(part), binding, reference=True)
                self.emit(ir.Assign(var, part.base, self.span(node)))  # of a copy: what it refers to is none
                continue
            # a part that is a reference is what it refers to, of a copy too (C++17, 11.5 [dcl.struct.bind] 3)
            unnamed = is_temporary(place) or isinstance(place, Opaque)
            others = self._may_name_others(one, place) or (unnamed and self._is_stored_in(binding))
            refers = one.reference or (not known and others)
            var = self.declare(self.raw(binding), self.type_of(part) if known else "", binding, refers)
            value = Addr(part) if refers else part if known else opaque(part)
            if refers and not known:
                value = ir.Choice((value, place, *self.given_for(place)))
            self.emit(ir.Assign(var, value, self.span(node)))

    def _copy_to_bind(self, node: Node, value: Node, place: Expr) -> Expr:
        """The object that the names of a structured binding by value are parts of."""
        kind = self.type_of(place)
        element = element_type(kind)
        cls = self.file.index.class_of(element) if not is_pointer(element) else None
        made = self.temporary(kind)
        if cls is not None and kind != element and self.is_copied(cls):
            self.emit(ir.Declare(made, element, True, self.span(node)))
            self.copy_elements(node, made, cls, place)
            return made
        return made if self.copied_to(value, place, made) else place

    def _is_stored_in(self, name: Node) -> bool:
        """Whether a name is assigned somewhere in the function."""
        word = re.escape(self.raw(name).encode())
        return re.search(rb"(?<![\w.>:])" + word + rb"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", self.text) is not None

    def _may_name_others(self, one: Declared, place: Expr) -> bool:
        """Whether the names of a structured binding may refer to what no part by its name is: elements of a tuple, or
        objects that its elements refer to, which a copy refers to as well.
        """
        kind = self.type_of(place)
        given = template_arguments(kind)
        if self.part_of(kind, place, 0) is not None or (
            given and all(is_number(one) or one in _PLAIN for one in given)
        ):
            return False
        of_references = "&" in kind.rstrip(" &") or kind.startswith("std::reference_wrapper")
        return one.reference or of_references or (kind.startswith("auto") and not is_temporary(place))

    def declares_in_parentheses(self, node: Node, inner: Node) -> bool:
        """`T(x);` reads as a call; where `T` is a type, it declares `x`, as all that may be a declaration is one
        ([stmt.ambig]).
        """
        call = inner
        while call.type in ("assignment_expression", "call_expression"):
            first = call.child_by_field_name("left" if call.type == "assignment_expression" else "function")
            if first is None or first.type not in ("assignment_expression", "call_expression"):
                break
            call = first
        function = call.child_by_field_name("function")
        listed = call.child_by_field_name("arguments")
        if call.type != "call_expression" or function is None or listed is None or listed.named_child_count != 1:
            return False
        name = self.raw(function)
        is_type = self.file.index.class_of(name) is not None or self.file.index.names_type(name)
        is_type = is_type and not _is_parameter_of_a_value(call, name, self.source.text)
        if self.local(name) is not None or self._is_function_here(name) or not (is_type or is_number(name)):
            return False
        declared = listed.named_children[0]
        while declared.type == "parenthesized_expression" and declared.named_child_count == 1:
            declared = declared.named_children[0]
        if call is inner and declared.type == "identifier":
            self._variable(Declared(self.raw(declared), name, False, False, declared), node, None, name)
            return True
        while declared.type in ("pointer_expression", "subscript_expression", "parenthesized_expression"):
            declared = declared.named_children[0]
        if declared.type == "identifier" and (call is not inner or declared != listed.named_children[0]):
            self.unknown("a declaration that is not understood", node)
            return True
        return False

    def _is_misread(self, node: Node) -> bool:
        """Whether statements read as a declaration: `p && f(p);`, `MACRO break;`, or `body x = 1;` where `body` is code
        that a macro was given.
        """
        kind = node.child_by_field_name("type")
        if kind is None or kind.type != "type_identifier":
            return False
        name = self.raw(kind)
        bound, macro = self.bindings.get(name), self.macro(name, kind)
        if bound is not None and (bound.rest or bound.node.type in _CODE or self.spelled(bound) in self.file.hosts):
            return True
        if bound is None and (self.local(name) is not None or self._is_function_here(name)):
            return True  # `p && f(p);`, `f ARGS;`
        if bound is None and macro is not None and macro.kind in ("operates", "transparent"):
            return True
        return any(self.raw(child) in _JUMPS for child in node.children_by_field_name("declarator"))

    def _is_function_here(self, name: str) -> bool:
        index = self.file.index
        return name in self.file.hosts and not index.names_type(name) and index.class_of(name) is None

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
                found.append(self._misread_element(child, self.resolve(first, kind), declarator))
                continue
            name = self.raw(kind)
            if kind.type == "primitive_type" or (
                kind.type in _BY_VALUE_KINDS and self.file.index.class_of(name) is not None
            ):
                return None
            if kind.type == "type_identifier" and (bound := self.bindings.get(name)) is not None:
                spelled = self.spelled(bound)
                if self.file.index.names_type(spelled) or self.file.index.class_of(spelled) is not None:
                    return None
                found.append(self.in_argument(bound, self.value))
            elif kind.type == "type_identifier" and (listed := self.several(kind)):
                found += [self.in_argument(one, self.value) for one in listed]
            elif kind.type == "type_identifier":
                if not (template or self.local(name) or self._is_known_value(name)):
                    return None
                found.append(self.resolve(name, kind))
                self.touch(kind, found[-1])
            elif kind.type == "qualified_identifier":
                found.append(self.qualified(kind))
                self.touch(kind, found[-1])
            else:
                return None
        return tuple(found)

    def _names_no_type(self, parameters: Node) -> bool:
        """Whether what reads as parameters is an expression: `const T &x(f(y))`, where no type is named `f`."""
        kinds = (child.child_by_field_name("type") for child in parameters.named_children)
        names = [self.raw(kind) for kind in kinds if kind is not None and kind.type in _BY_VALUE_KINDS]
        index = self.file.index
        return any(index.class_of(name) is None and not index.names_type(name) for name in names)

    def _misread_element(self, node: Node, base: Expr, declarator: Node) -> Expr:
        """The argument of `T x(a[i])`, which reads as a parameter; of `T x(a * b)` what it is made of."""
        indices = []
        inner: Node | None = declarator
        while inner is not None and inner.type == "abstract_array_declarator":
            indices.append(inner.child_by_field_name("size"))
            inner = inner.child_by_field_name("declarator")
        if not indices or inner is not None:
            return Opaque((base,))
        place = base
        for size in reversed(indices):
            place = Index(place, self.value(size) if size is not None else Opaque(()))
        self.touch(node, place)
        return place

    def _is_known_value(self, name: str) -> bool:
        found = self.resolve_variable(name, self.place.node) if self.place is not None else None
        return (
            found is not None
            or name in ("nullptr", "NULL")
            or name in self.file.macros
            or sites.is_api(name)
            or name in self.file.hosts
        )

    def _static(self, one: Declared, node: Node, value: Node | None, given: tuple[Expr, ...] = ()) -> None:
        """A function-local static: made once, lives as long as the program (what its destructor does to the device is
        behind the end of `main`, where the runtime is shut down).
        """
        if one.may_refer and (value is not None or given):
            bound_to = given[0] if given else self.lvalue(value) if value is not None else opaque()
            self._reference(one, node, bound_to, one.type)
            if isinstance(bound := self.local(one.name), Deref):  # or to what it was bound to before
                self.emit(ir.Assign(bound.base, ir.Choice((bound.base, opaque(bound_to))), self.span(node)))
            return
        name = self._name_of_static(one, node)
        self.scopes[-1].names[one.name] = name
        instance, var = self._instance_of_static(one, node, value), Var(name)
        place: Expr = var if instance is None else Index(var, instance)
        if instance is not None:
            self.instances[name] = instance
        kind = one.type if instance is None else f"{one.type}[]"
        self.types[name] = kind
        array = one.array or instance is not None
        self.file.statics.append(ir.GlobalVar(name, kind, "host", array, self.span(node), True))
        element = element_type(one.type).rstrip()
        cls = self.file.index.class_of(element) if not is_pointer(element) else None

        def make() -> None:
            expression = value is not None and value.type not in ("argument_list", "initializer_list")
            if value is not None and expression and cls is None and not one.array:
                result = self.value(value, place)
                if result is not place and not isinstance(result, Const) and not is_number(one.type):
                    self.store(place, result, node)
            elif given:
                self.initialize(node, place, one.type, given)
            else:
                self.initialize_with(node, place, one.type, value, self._extent(one))

        block = self.collect(make)
        if matters(block):
            self.emit(ir.If(Test("other", None, f"static {name}"), block, (), self.span(node)))
        else:
            self.merge(block)

    def _name_of_static(self, one: Declared, node: Node) -> str:
        """Each function has its own, overloads and specializations too, and so has each block (C++17, 6.3.3
        [basic.scope.block]).
        """
        name, start = f"{self.name}::{one.name}", self.span(node).start
        function = self.name.partition(ir.LAMBDA)[0]
        overloads = sum(definition.name == function for definition in self.file.index.functions)
        others = any(other.name == name and other.span.start != start for other in self.file.statics)
        return f"{name}@{start}" if overloads > 1 or others else name

    def _instance_of_static(self, one: Declared, node: Node, value: Node | None) -> Expr | None:
        """The instantiation of a template to which a function-local static belongs: each has one of its own (C++17,
        17.7 [temp.spec] 5). None of what is no template, and of a number that is the same for all.
        """
        words = {self.raw(child) for child in node.parent.children} if node.parent is not None else set[str]()
        if not CONSTANT.isdisjoint(words) and integer(value, one, self.source.text):
            return None
        return self.of_template

    def _variable(self, one: Declared, node: Node, value: Node | None, base: str) -> None:
        kind = one.type
        if kind.startswith("auto") and value is not None and value.type in ("argument_list", "initializer_list"):
            value = first_named(value) if value.named_child_count == 1 else value  # `auto x(y)`, `auto x{y}`
        if one.open and value is not None:
            one = self._settled(one, value)
        if value is not None and one.may_refer:
            self._referring(one, node, value, kind)
            return
        if value is not None and self._sole_object(one, node, value):
            return
        if self._optional_object(one, node, value) or self._row(one, node, value):
            return
        if value is None:
            self._uninitialized(one, node, kind)
        elif keeps_references(kind):
            braced = value.type in ("argument_list", "initializer_list")
            self._object(one, node, self.arguments(value)[0] if braced else (self.value(value),), ())
        elif value.type == "argument_list":
            values, spans = self.arguments(value)
            if is_number(kind) or is_pointer(kind) or _HANDLE.match(kind):
                self.copied(node, kind, values)
                var = self.declare(one.name, kind, one.node)
                self.store(var, values[0] if len(values) == 1 else opaque(*values), node)
            else:
                self._object(one, node, values, spans)
        elif value.type == "initializer_list":
            self._aggregate(one, node, value)
        elif value.type == "lambda_expression":
            self.emit(ir.Declare(Var(self._future_name(one, kind)), kind, False, self.span(node)))
            self.assign(self.declare(one.name, kind, one.node), value, node)
        else:
            self._initialized(one, node, value, kind)

    def _referring(self, one: Declared, node: Node, value: Node, kind: str) -> None:
        """A reference; one to an array is a pointer to its first element."""
        meant = kind
        if kind.startswith(("auto", "decltype")) and value.type == "identifier":
            meant = self.type_of(self.local(self.raw(value)) or opaque())
        if one.array or meant.endswith("]"):
            element = pointee(meant)
            var = self.declare(one.name, element + ("*" if element.endswith("*") else " *"), one.node)
            place = self.lvalue(value)
            first = self.decayed(place) if self.type_of(place).endswith("]") or is_temporary(place) else Addr(place)
            self.emit(ir.Assign(var, first, self.span(node)))
            return
        braced = value.type in ("argument_list", "initializer_list") and value.named_child_count == 1
        if braced and self.file.index.class_behind(kind) is None:
            value = value.named_children[0]
        self._reference(one, node, self.lvalue(value), kind)

    def _uninitialized(self, one: Declared, node: Node, kind: str) -> None:
        """A variable without an initializer."""
        cls = self.file.index.class_of(kind) if not one.array and not is_pointer(kind) else None
        if cls is not None or self.active(kind):
            self._object(one, node, (), ())
            return
        var = self.declare(one.name, kind, one.node)
        if not is_floating(kind) or var.name in self.addressed:
            self.emit(self._fresh(var, one, node))
        if one.array:
            self.sizes(node)
            if kind.count("[]") < 2 and (number := self.number_of(self._extent(one), node)) is not None:
                self.extents[var.name] = number
            self._elements(var, one, node)
        else:
            self._own_allocator(var, kind, self.span(node))
            self.begin_unseen(node, var, kind)
            self._owns(var, one)
            self.takes_size(node, var, ())

    def _initialized(self, one: Declared, node: Node, value: Node, kind: str) -> None:
        """`T x = value`. The initializer sees the names before the declaration."""
        cls = self.file.index.class_of(kind) if not is_pointer(kind) else None
        holder = Var(self._future_name(one, kind))
        if one.array or cls is not None:
            self.emit(ir.Declare(holder, element_type(kind), one.array, self.span(node)))
        if cls is None and not one.array and not kind.startswith("auto"):  # what an object is converted to
            self.types[holder.name] = kind
        count = len(self.out)
        result = self.value(value, holder)
        if kind.startswith("auto"):
            kind = self._deduced(result, value) or kind
        var = self.declare(one.name, kind, one.node)
        if kind.startswith("auto") and self.is_made_of_views(result):  # evaluated when somebody asks for it
            self.views.add(var.name)
        if isinstance(result, Const) and result.text == "0" and is_pointer(kind):
            result = NULL
        if cls is None and kind != one.type and not is_pointer(kind):
            cls = self.file.index.class_of(kind)  # `auto x = T(…)`
            one.type = kind
        own = self.file.index.class_of(self.type_of(result)) if cls is not None and result != holder else None
        copied = own is cls and cls is not None and self.copies(cls) and not self.is_new(result)
        if cls is not None and (copied or (not cls.deleter and self.is_no_object(value, result))):
            self.build(node, var, cls, (result,))
            self._owns(var, one)
            return
        returned = result == holder and len(self.out) > count
        if cls is None and not one.array and (kind in ir.HANDLES or is_pointer(kind)):
            result = self.as_handle(value, result)
        self._gets(one, node, var, cls, result, own, returned)
        if kind.startswith("auto") and not one.array:
            self._ends_unseen(node, result)
        one.type = kind
        if cls is None and not one.array:
            self._own_allocator(var, kind, self.span(node))
            self.begin_unseen(node, var, kind)
        if not is_pointer(kind):
            self._owns(var, one)

    def _gets(
        self, one: Declared, node: Node, var: Var, cls: Class | None, result: Expr, own: Class | None, returned: bool
    ) -> None:
        """A variable gets a value, an object of `own` perhaps, unless a call has `returned` it there."""
        converted = (
            own is None and cls is not None and bool(self.type_of(result)) and self.converting(cls.name) is not None
        )
        if not returned and not converted and not (one.array and isinstance(result, Const)):
            self.store(var, result, node)
            self.versions[var.name] = 0
            if cls is not None and own is cls:
                self.copy_parts(node, var, cls, result)
        if cls is not None and not one.array:
            self.made_of(node, cls.name, var if returned else result, var)
        self.lead_to_elements(var, node)

    def _settled(self, one: Declared, value: Node) -> Declared:
        """What may be a reference, when what it is initialized with is known (C++17, 10.1.7.4 [dcl.spec.auto] 5)."""
        if value.type in ("argument_list", "initializer_list"):
            return replace(one, open=value.named_child_count == 1)
        if one.type == "decltype(auto)" and value.type in _MAY_REFER:
            return replace(one, reference=True, open=False)
        named = self.local(self.raw(value)) if value.type == "identifier" else None
        if value.type in _MAKE_VALUES or (one.type == "decltype(auto)" and isinstance(named, Var)):
            return replace(one, open=False)
        return one

    def _fresh(self, var: Var, one: Declared, node: Node) -> ir.Declare:
        """The declaration of a variable that starts out fresh."""
        kind = element_type(one.type).rstrip()
        if b"HostRegister" in self.source.text and (one.array or self.holds_numbers(kind)):
            self.storage.add(var.name)
            self.scopes[-1].destroyed.append((var, None, kind))
        return ir.Declare(var, element_type(one.type), one.array, self.span(node))

    def _future_name(self, one: Declared, kind: str) -> str:
        if any(one.name in scope.names for scope in self.scopes) or self.source.stop is not None:
            return f"{one.name}@{one.node.start_byte + self.source.shift}"
        known = self.used.get(one.name)
        if known is None or known == kind or kind.startswith("auto"):
            return one.name
        return f"{one.name}@{one.node.start_byte + self.source.shift}"

    def _deduced(self, result: Expr, value: Node) -> str:
        """The type of `auto x = …`: of a cast, of a place, or of `new T`."""
        if value.type == "cast_expression":
            kind = value.child_by_field_name("type")
            text = self.raw(kind) if kind is not None else ""
        else:
            text = cast_type(self.raw, value) if value.type == "call_expression" else ""
        if iterator := self._iterator_of_map(value):
            return iterator
        if text:
            return re.sub(r"\s*\*", " *", text.replace("const", " ").strip(), count=1).strip()
        return self.type_of(self.decayed(result))

    def _iterator_of_map(self, value: Node) -> str:
        """The type of an iterator that a method of a map returns ([map.overview]); "" of any other value."""
        function = value.child_by_field_name("function") if value.type == "call_expression" else None
        name = function.child_by_field_name("field") if function is not None else None
        argument = function.child_by_field_name("argument") if function is not None else None
        if argument is None or name is None or argument.type != "identifier" or self.raw(name) not in _GIVES_ITERATORS:
            return ""
        place = self.local(self.raw(argument)) or self.resolve_variable(self.raw(argument), argument)
        kind = self.type_of(place).removeprefix("const ") if place is not None else ""
        of = Type.of(kind)
        return f"{kind}::iterator" if of.library.pairs and len(of.arguments) >= 2 and not of.marks else ""

    def _reference(self, one: Declared, node: Node, place: Expr, kind: str) -> None:
        place = self.made_of(node, kind, place)
        if kind.startswith(("auto", "decltype")):
            kind = self.type_of(place).removesuffix(" &") or kind
        if is_temporary(place):  # an object without another name
            assert isinstance(place, Var)
            name, cls = self.reached_by(place), self.file.index.ending(self.type_of(place))
            lives_on = bool(name) and bool(self.file.index.referred(name) - {""})
            if kind.startswith(("auto", "decltype")):
                self._ends_unseen(node, place)
            if cls is not None and not lives_on:
                self.scopes[-1].destroyed.append((place, cls, ""))
            elif cls is not None and self.file.index.returned(name) - {""}:
                self.unknown("an object that may end with its scope", node)
        var = self.declare(one.name, kind, one.node, reference=True)
        if not kind.startswith("auto") and (converted := self.converted_to(node, kind, place)) is not None:
            self.emit(ir.Assign(var, opaque(place, converted), self.span(node)))
            return
        if self.type_of(place):
            self.made_of_unseen(node, kind, (place,))
        self.lend(node, place)
        target = place.base if isinstance(place, Deref) else self.address(place)
        if keeps_references(self.type_of(root_of(place))) and not keeps_references(kind):
            target = ir.Choice((target, root_of(place)))  # it is converted to a reference to what it refers to
        else:
            target = self.bound_reference(node, kind, place, target)
        if one.open and not is_temporary(place):
            target = self.or_copied(node, kind, place, target)
        if holders := tuple(map(Addr, self._holders(place))):
            target = ir.Choice((target, *holders))
        self.emit(ir.Assign(var, target, self.span(node)))

    def _holders(self, place: Expr) -> Iterator[Expr]:
        """The objects of classes that are not seen in which a place may be: `*o` of a `std::optional`, what a function
        of a library returns a reference to.
        """
        given = (place.base,) if isinstance(place, Deref) else self.given_for(place)
        for one in given:
            kind = self.type_of(one)
            if isinstance(one, (Var, Field, Index, Deref)) and kind and not is_pointer(kind):
                if not (kind.endswith("&") or is_number(kind) or self.file.index.class_of(kind) is not None):
                    yield from (one, Index(one, Opaque(())))

    def _object(self, one: Declared, node: Node, values: tuple[Expr, ...], spans: tuple[Span, ...]) -> None:
        """A local object that a constructor makes."""
        spans = spans or self._spans_of(one, values)
        if (owner := self._sole_owner(one, values, spans)) is not None:
            one.type, values, spans = owner.name, values[:1], spans[:1]
        kind = one.type
        var = self.declare(one.name, kind, one.node)
        self.emit(self._fresh(var, one, node))
        self._own_allocator(var, kind, self.span(node))
        self.initialize(node, var, kind, values, spans)
        self._owns(var, one)

    def _spans_of(self, one: Declared, values: tuple[Expr, ...]) -> tuple[Span, ...]:
        """Where the arguments of `T x(a, b)` stand, which reads as a function."""
        listed = one.parameters.named_children if one.parameters is not None else []
        found = tuple(self.span(child) for child in listed if child.type != "comment")
        return found if len(found) == len(values) else ()

    def _sole_object(self, one: Declared, node: Node, value: Node) -> bool:
        """A local smart pointer that alone owns an object, from its declaration on until the end of the scope: the
        object is as good as a local one, and that a pointer to it.
        """
        if self.file.index.replaces_owners():
            return False
        kinds = [found for kind in self.file.index.meanings(one.type) if (found := owners.owned_by(kind))]
        function = value.child_by_field_name("function") if value.type == "call_expression" else None
        made = owners.made_by(self.raw(function)) if function is not None else ""
        arguments = value.child_by_field_name("arguments")
        if function is None and value.type in ("argument_list", "initializer_list") and value.named_child_count == 1:
            new = value.named_children[0]
            kind, array = new.child_by_field_name("type"), new.child_by_field_name("declarator")
            if (
                new.type != "new_expression"
                or kind is None
                or array is not None
                or new.child_by_field_name("placement")
            ):
                return False
            arguments, made = new.child_by_field_name("arguments"), self.raw(kind)
        held = kinds[0] if len(kinds) == 1 else made if one.type == "auto" and function is not None else ""
        cls, base = self.file.index.class_of(made), self.file.index.class_of(held)
        if cls is None or base is None or (cls is not base and base not in self.file.index.lineage(cls.name)):
            return False
        if cls is not base and self.file.index.has(cls, cls.destructor) and base.destructor not in base.methods:
            return False
        shared = "shared" in (one.type if one.type != "auto" else self.raw(value))
        if shared and any("shared_from_this" in base for c in self.file.index.lineage(cls.name) for base in c.bases):
            return False  # it may get other owners by itself
        if memory_of(self.file.index, cls.name, "operator new") or not self._is_left_alone(one, owners.KEPT):
            return False
        values, spans = self.arguments(arguments) if arguments is not None else ((), ())
        self.copied(node, made, values)
        owned = self.temporary(cls.name)
        self.emit(self._fresh(owned, replace(one, type=cls.name), node))
        self.build(node, owned, cls, values, spans)
        if self.file.index.has(cls, cls.destructor):
            self.scopes[-1].destroyed.append((owned, cls, ""))
        var = self.declare(one.name, f"{held} *", one.node)
        self.emit(ir.Assign(var, Addr(owned), self.span(node)))
        self.owning.add(var.name)
        return True

    def _optional_object(self, one: Declared, node: Node, value: Node | None, given: tuple[Expr, ...] = ()) -> bool:
        """A local optional object of a class, which only this function makes and ends, where the text says so: the
        variable reads as a pointer to it, null while there is none ([optional.assign], [optional.dtor]). `given` are
        the arguments of what reads as a function.
        """
        around = node.parent
        written = around.child_by_field_name("type") if around is not None else None
        named = owners.optional_in(one.type)
        cls = self.file.index.class_of(named) if named else None
        if cls is None or around is None or written is None or around.type != "declaration" or one.array:
            return False
        if len(around.children_by_field_name("declarator")) != 1 or self.raw(written) != one.type:
            return False
        empty = value is None or self.raw(value) in ("{}", "std::nullopt")
        in_place = not empty and value is not None and self._is_made_in_place(value)
        if not (empty or in_place) or cls.deleter or not self._is_left_alone(one, owners.PERHAPS):
            return False
        values, spans = given, self._spans_of(one, given)
        if in_place and value is not None and not given:
            values, spans = self.arguments(value)
        var = self.declare(one.name, f"{cls.name} *", one.node)
        held = self.temporary(cls.name)
        self.emit(self._fresh(held, replace(one, type=cls.name), node))
        self.emit(ir.Declare(var, f"{cls.name} *", False, self.span(node)))
        self.emit(ir.Assign(var, NULL, self.span(node)))
        if self.file.index.has(cls, cls.destructor):
            self.scopes[-1].destroyed.append((held, cls, ""))
            self.scopes[-1].owners[held] = var
        self.owning.add(var.name)
        self.optional[var.name] = Optional(held, cls, written)
        self.file.owned.add((written.start_byte, written.end_byte))
        if in_place:
            held_objects.make_optional(self, node, var, values[1:], spans[1:])
        return True

    def _is_made_in_place(self, value: Node) -> bool:
        """Whether an optional is made with an object, of the arguments behind the first one ([optional.ctor])."""
        first = value.named_children[0] if value.named_children else None
        plain = all(one.type not in ("initializer_list", "comment") for one in value.children)
        return (
            value.type in ("argument_list", "initializer_list", "parameter_list")
            and first is not None
            and self.raw(first) == "std::in_place"
            and plain
        )

    def _row(self, one: Declared, node: Node, value: Node | None, given: tuple[Expr, ...] = ()) -> bool:
        """A local vector or array of objects with a destructor, which only this function fills and empties, where the
        text says so ([vector], [array]).
        """
        around = node.parent if value is not None else node
        around = around if around is not None and around.type == "declaration" else node.parent
        written = around.child_by_field_name("type") if around is not None else None
        fixed = owners.array_of(one.type)
        element = fixed[0] if fixed else owners.row_of(one.type)
        cls = self.file.index.class_of(element) if element else None
        if cls is None or written is None or one.array or self.raw(written) != one.type:
            return False
        if around is None or len(around.children_by_field_name("declarator")) != 1 or _allocator(one.type):
            return False
        if not self.file.index.has(cls, cls.destructor):
            return False
        counted = value is not None and value.type == "argument_list" and value.named_child_count == 1
        if value is not None and self.raw(value) not in ("{}", "()") and not (counted and not fixed):
            return False
        uses, lent = (owners.IN_AN_ARRAY, None) if fixed else (owners.IN_A_ROW, cls)
        if not self._is_left_alone(one, uses, lent):
            return False
        count = self.arguments(value)[0] if counted else given
        if count and (fixed or not self._is_count(count)):
            return False
        size = f", {fixed[1]}" if fixed else ""
        var = self.declare(one.name, f"std::{'array' if fixed else 'vector'}<{element}{size}, {ir.ENDED}>", one.node)
        self.emit(ir.Declare(var, self.types[var.name], False, self.span(node)))
        self.file.owned.add((written.start_byte, written.end_byte))
        if fixed:
            if fixed[1].isdigit():
                self.extents[var.name] = fixed[1]
            each(self, node, cls, "", var, fixed[1])
            self.scopes[-1].destroyed.append((var, cls, f"0:{fixed[1]}"))
            return True
        self.takes_size(node, var, count)
        self.scopes[-1].destroyed.append((var, cls, "0:{}"))
        self.rows[var.name] = cls
        if count:
            held_objects.make_row(self, node, var, cls)
        else:
            self.empty[var.name] = around
        return True

    def _is_count(self, values: tuple[Expr, ...]) -> bool:
        """Whether the arguments of a constructor of a vector are how many elements it gets ([vector.cons])."""
        return len(values) == 1 and (isinstance(values[0], Const) or is_number(self.type_of(values[0])))

    def _is_left_alone(self, one: Declared, uses: owners.Uses = owners.HELD, lent: Class | None = None) -> bool:
        """Whether nothing in the function makes another owner of what this one holds: of a vector of objects of the
        class `lent`, nothing in the functions either that it is lent to.
        """
        return self._is_named_harmlessly(one.name, one.node, uses, lent)

    def _is_named_harmlessly(self, named: str, node: Node, uses: owners.Uses, lent: Class | None) -> bool:
        name = named.encode()
        word = re.compile(rb"\b%s\b" % re.escape(name))
        if self.source.shift or any(word.search(macro.body) for macro in self.file.macros.values()):
            return False
        return owners.makes_no_other(name, node, self.source.text, uses, lambda at: self._is_lent(at, lent))

    def _is_lent(self, node: Node, element: Class | None) -> bool:
        """Whether an argument is a vector of objects of a class that goes to a reference to one. What a function does
        with that, it says where it is defined (`lent_row`).
        """
        call = node.parent.parent if node.parent is not None else None
        function = call.child_by_field_name("function") if call is not None else None
        if call is None or call.type != "call_expression" or function is None or node.parent is None:
            return False
        if function.type == "field_expression":
            function = function.child_by_field_name("field") or function
        if element is None or function.type not in ("identifier", "qualified_identifier", "field_identifier"):
            return False
        name = self.raw(function).rpartition("::")[2]
        if self.local(name) is not None or name in self.file.macros:
            return False
        given = [child for child in node.parent.named_children if child.type != "comment"]
        params = self.file.index.parameters_at(name, given.index(node), len(given))
        return bool(params) and all(self.row_lent(param) is element for param in params or ())

    def row_lent(self, param: ir.Param) -> Class | None:
        """The class of the objects with a destructor in a vector that a parameter refers to."""
        element = owners.row_of(param.type)
        cls = self.file.index.class_of(element) if element else None
        is_reference = param.by_reference and not (param.rvalue or param.open)
        ends = cls is not None and self.file.index.has(cls, cls.destructor)
        return cls if is_reference and ends and not _allocator(param.type) else None

    def lent_row(self, param: ir.Param, node: Node) -> str:
        """The type of a parameter that refers to a vector of objects with a destructor, with which the function does
        nothing but what is lowered: what the text says of its type makes no objects. Empty for any other.
        """
        cls, kind = self.row_lent(param), node.child_by_field_name("type")
        if cls is None or kind is None or node.type != "parameter_declaration" or self.source.shift:
            return ""
        if self.raw(kind) != param.type.removeprefix("const "):
            return ""
        if param.name and not self._is_named_harmlessly(param.name, node, owners.IN_A_ROW, cls):
            return ""
        self.file.owned.add((kind.start_byte, kind.end_byte))
        return f"std::vector<{ir.template_arguments(param.type)[0]}, {ir.ENDED}>"

    def _own_allocator(self, var: Var, kind: str, span: Span) -> None:
        """The memory of a container with an allocator that is not the library's may be pinned or managed."""
        given = [allocator for one in self.file.index.meanings(kind) if (allocator := _allocator(one))]
        if any(not _USUAL.match(one) for one in given):
            site = ir.Site(span, "", "", ";", blocked="the allocator of a container")
            name_span = Span(span.path, span.start, span.start)
            elements = (Addr(Index(var, Opaque(()))), Const("0"), Const("0"))
            self.emit(ir.Call("cudaHostRegister", elements, span, name_span, span.end, site))

    def _sole_owner(self, one: Declared, values: tuple[Expr, ...], spans: tuple[Span, ...]) -> Class | None:
        """The class of a smart pointer that is given its deleter here and of which no other owner is made."""
        written = [Type.of(kind).library.name for kind in self.file.index.meanings(one.type) if owners.is_owner(kind)]
        cls = self.file.index.class_of(one.type)
        if len(written) != 1 or len(values) != 2 or (cls is not None and not cls.given):
            return None
        if not self._is_left_alone(one):
            return None
        deleter = self._deleter(self.as_called(one.node, values[1], spans[1] if len(spans) == 2 else None), one)
        if deleter is None:
            return None
        described = f"{written[0]} {self.source.path} {self.name} {one.name}"
        return self.file.index.sole_owner(described, deleter, one.node.start_byte, written[0] == "shared_ptr")

    def _deleter(self, value: Expr, one: Declared) -> str | None:
        """The function that is called where a function, a lambda without captures or an object of a class without
        members is the deleter; None if it is not known, or there is no call in the program's text to rewrite.
        """
        if isinstance(value, Var) and value.name in self.lambdas and self.type_of(value).startswith("auto"):
            value = FuncRef(self.lambdas[value.name])
        reference = value.base if isinstance(value, Addr) else value
        if not isinstance(reference, FuncRef):
            return self._functor(one)
        made = next((f for f in self.file.functions if f.name == reference.name), None)
        if made is None:
            return reference.name if not sites.is_api(reference.name) else None
        words = set(WORDS.findall(self.source.text[made.span.start : made.span.end].decode("utf-8", "replace")))
        around = {name.partition("@")[0] for name in made.captures}
        return reference.name if not words & around - {param.name.partition("@")[0] for param in made.params} else None

    def _functor(self, one: Declared) -> str | None:
        """What is called of an object of a class without members that is the last argument of a declaration."""
        given = one.node.parent.child_by_field_name("value") if one.node.parent is not None else None
        last = [child for child in given.named_children if child.type != "comment"][-1:] if given is not None else []
        written = _OBJECT.fullmatch(self.raw(last[0])) if last else None
        cls = self.file.index.class_of(written[1]) if written is not None else None
        if cls is None or cls.fields or cls.bases or cls.methods & {cls.constructor, cls.destructor}:
            return None
        return f"{cls.name}::operator()" if "operator()" in cls.methods else None

    def _elements(self, var: Var, one: Declared, node: Node) -> None:
        """The constructors of the elements of a local array, and at the end of its scope their destructors."""
        element = element_type(one.type).rstrip()
        cls = (self.file.index.class_of(element) or self.unseen(element)) if not is_pointer(element) else None
        if cls is None:
            return
        size = node.child_by_field_name("size")
        known = one.type.count("[]") == 1 and size is not None
        count = self.normal(size) if known and size is not None else f"?@{self.span(node).start}"
        each(self, node, cls, "", var, count)
        if self.file.index.has(cls, cls.destructor):
            self.scopes[-1].destroyed.append((var, cls, f"0:{count}"))

    def _owns(self, var: Var, one: Declared) -> None:
        cls = self.file.index.ending(self.as_written(one.type))
        if cls is not None:
            self.scopes[-1].destroyed.append((var, cls, ""))

    def _ends_unseen(self, node: Node, result: Expr) -> None:
        """What a function gives of which nothing is known may be an object of any class, which ends with the scope."""
        calls = (one for one in reversed(self.out) if isinstance(one, ir.Call))
        call = next((one for one in calls if one.result == result), None)
        if call is None or self.type_of(result).removeprefix("auto") or sites.is_api(call.callee):
            return
        name, count = call.callee.rpartition("::")[2], len(call.args)
        index = self.file.index
        if name in self.file.hosts and all(kind.startswith("auto") for kind in index.returned(name)):
            handed = [found.decode("utf-8", "replace") for found in _GIVES_A_RESULT.findall(self.file.hosts[name])]
            if any(self._gives_unseen(one) for one in handed):
                self.may_declare(node, name)
            return
        if name in self.file.hosts or index.is_declared_function(name) or index.returned(name) or index.referred(name):
            return
        if call.receiver is None:
            known = call.callee.startswith("std::") or built_in().lookup(call.callee, count) is not None
        else:
            kind = self.type_of(call.receiver).removeprefix("const ")
            known = kind.startswith("std::") or built_in().method(kind, name, count) is not None
        if not known and name.isidentifier():
            self.may_declare(node, name)

    def _gives_unseen(self, function: str) -> bool:
        """Whether nothing is known of a function, by its name."""
        index, name = self.file.index, function.rpartition("::")[2]
        if function.startswith("std::") or sites.is_api(name) or name in self.file.hosts or is_number(name):
            return False
        known = index.is_declared_function(name) or index.names_type(name) or index.class_of(name) is not None
        return not known and all(built_in().lookup(function, count) is None for count in range(_MOST_ARGUMENTS))

    def _aggregate(self, one: Declared, node: Node, value: Node) -> None:
        """`T x[n] = {a, b}`, `S s = {a, .f = b}`: one assignment for each pointer or handle in it."""
        kind = one.type
        children = [child for child in value.named_children if child.type != "comment"]
        cls = self.file.index.class_of(kind) if not one.array else None
        given = cls is None and len(children) == 2 and any(map(owners.is_owner, self.file.index.meanings(kind)))
        made = cls is not None and (bool(cls.inherits) or self.file.index.has(cls, cls.constructor))
        if given or made or (not one.array and self.active(kind)):
            values, spans = self.arguments(value)
            self._object(one, node, values, spans)
            return
        initials = [self.initial(child) for child in children]
        var = self.declare(one.name, kind, one.node)
        if not one.array and (is_number(kind) or is_pointer(kind) or kind.removeprefix("const ") in ir.HANDLES):
            self.store(var, initials[0][1] if initials else Const("0"), node)
            return
        self.emit(self._fresh(var, one, node))
        if cls is not None:
            self.start_null(self.span(node), var, cls)
        if not one.array:
            self._own_allocator(var, kind, self.span(node))
            self.begin_unseen(node, var, kind)
            self._owns(var, one)
        if cls is not None or one.array or not _STRUCT_OF_CUDA.fullmatch(kind) or initials != [("", Const("0"))]:
            self.fill(node, var, kind, value, initials, self._extent(one) or str(len(children)))
        ending = self.file.index.ending(element_type(kind)) if one.array else None
        if ending is not None:
            self.scopes[-1].destroyed.append((var, ending, f"0:{self._extent(one) or len(children)}"))

    def _extent(self, one: Declared) -> str:
        """The size of an array in its declaration; empty where it is not written."""
        size = extent(one.node.parent) if one.array and one.node.parent is not None else None
        return self.normal(size) if size is not None else ""


_GIVES_A_RESULT = re.compile(rb"\breturn\s+([A-Za-z_][\w:]*)\s*\(")
_MOST_ARGUMENTS = 8


def _allocator(kind: str) -> str:
    """The allocator that the type of a container or a string names (C++17, 24.3.2 [basic.string])."""
    of = Type.of(kind)
    number = 1 if of.library.row else 2 if of.library.name == "basic_string" else len(of.arguments)
    return of.arguments[number] if number < len(of.arguments) else ""


def _is_parameter_of_a_value(node: Node, name: str, text: bytes) -> bool:
    """Whether a template around a node has a parameter of this name that is no type."""
    around = node.parent
    while around is not None:
        listed = around.child_by_field_name("parameters") if around.type == "template_declaration" else None
        for parameter in listed.named_children if listed is not None else ():
            if not parameter.type.startswith(("type_parameter", "optional_type", "variadic_type")):
                if name.encode() in re.findall(rb"\w+", text[parameter.start_byte : parameter.end_byte]):
                    return True
        around = around.parent
    return False
