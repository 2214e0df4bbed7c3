"""Calls and launches of host code: check wrappers, macros, methods, constructors, kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda import sites
from cudafix.frontends.cuda.context import Bound
from cudafix.frontends.cuda.declarations import (
    ASSIGNMENT,
    WORDS,
    Class,
    element_type,
    is_number,
    is_pointer,
    plain_name,
    pointee,
    tidy,
)
from cudafix.frontends.cuda.expressions import KEEPS_REFERENCES, MAX_DEPTH, Expressions, first_named
from cudafix.frontends.cuda.macros import Macro, variadic_name
from cudafix.frontends.cuda.names import (
    COMPARING,
    DEBUG_ONLY,
    LOOKING,
    PASSES,
    PERHAPS_EVALUATED,
    PURE,
    QUIET,
    UNEVALUATED,
)
from cudafix.frontends.cuda.terms import deref, is_temporary, matters, opaque, root_of
from cudafix.ir import NULL, Addr, Const, Deref, Expr, Field, FuncRef, Index, Look, Opaque, Param, Site, Span, Var

# what may be a class: no type of the standard library, of CUDA and its libraries, and no handle
_CLASS = re.compile(
    r"(?!std::|thrust::|cub::|cuda|cu[A-Z]|CU|nccl|nv|Npp|NPP|MPI_|auto\b|decltype\b|\w+_t\b|pthread_|FILE\b|dim3\b"
    r"|(?:vector|array|map|set|list|deque|queue|stack|string|pair|tuple|optional|variant|function|span|unordered_\w+"
    r"|[io]?fstream|[io]?stringstream|complex|bitset)\b"
    r")[A-Za-z_]"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ADDS = frozenset(("push_back", "push_front", "push"))
_CONVERSION = re.compile(r"operator\s+(?!new\b|delete\b|co_await\b)\w")
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "<=>"))
# the operators that a comparison is made of where its own is not declared (C++20)
_REWRITTEN = {"!=": ("==",), **dict.fromkeys(("<", ">", "<=", ">="), ("<=>",))}
_OPERATOR = re.compile(r"operator(?!\s*(?:=|new\b|delete\b)$)")
_SORTED = re.compile(r"(?:std::)?(?:(?:unordered_)?(?:multi)?(?:map|set)|priority_queue)\s*<")
_CALLED = re.compile(rb"(?<!\w)[A-Za-z_]\w*(?=\s*\()")
_REFERRING = frozenset(("std::ref", "std::cref", "std::tie", "std::forward_as_tuple"))
_PLACES = (Var, Field, Index, Deref)
_RUNTIME = re.compile(r"cuda[A-Z]")
_MAKES = frozenset(("make_unique", "make_shared", "std::make_unique", "std::make_shared"))
# what moves the elements of a container, or changes them
_CHANGES = frozenset(
    "push_back push_front emplace_back emplace_front insert emplace assign resize reserve clear erase shrink_to_fit "
    "append replace swap pop_back pop_front".split()
)
_COPIES = frozenset(("assign", "insert", "insert_after"))
_SWAPS = frozenset(("swap", "exchange"))
# the functions of the standard library that assign what they are given, or what that points to
_ASSIGNING = _SWAPS | frozenset(
    "iter_swap swap_ranges sort stable_sort partial_sort nth_element rotate reverse shuffle random_shuffle partition "
    "stable_partition remove remove_if unique copy copy_if copy_n copy_backward move move_backward fill fill_n "
    "generate generate_n transform replace replace_if merge inplace_merge make_heap push_heap pop_heap sort_heap "
    "next_permutation prev_permutation ref tie forward_as_tuple".split()
)
# those that take references
_REFERS = COMPARING | _ASSIGNING
_DEDUCED = frozenset("auto decltype typeof __typeof__ __typeof typename".split())
_PASTE = re.compile(r"(\w*)\s*##\s*(\w+)")
_STD_CONTAINER = re.compile(r"(?:std::)?(?:vector|array|string|span|deque|basic_string)\b")
# Objects of the standard library whose call makes a number and touches no memory but their own.
_NUMBER_OBJECT = re.compile(
    r"(?:std::|thrust::)?(?:random::)?(?:\w+_distribution|(?:random|default_random)\w*|mt19937\w*|minstd_\w*|\w*rand\w*_engine"
    r"|\w+_engine|ranlux\w*|knuth_b|hash|less|greater|plus|minus|multiplies|minimum|maximum)\b"
)
_COMPARES = re.compile(rb"[!=]=\s*(?:cuda|CUDA_|\w+_STATUS_)?S(?:uccess|UCCESS)|\bif\s*\(\s*\w+\s*\)")
_INTO = frozenset(("data", "begin", "end", "cbegin", "cend", "front", "back"))
_ELEMENTS = frozenset(("front", "back"))
_SOMETIMES = frozenset(("conditional_expression", "lambda_expression"))
_LEAVES_FUNCTION = frozenset(("setjmp", "longjmp", "_setjmp", "sigsetjmp", "siglongjmp"))


def _acts(node: Node) -> bool:
    """Whether an argument calls something."""
    return node.type == "call_expression" or any(map(_acts, node.named_children))


class Calls(Expressions):
    """Lowers calls: who is called with what, and who looks at the status; what a call means is not decided here."""

    plain_call = False  # the call runs a function of this file that calls nothing itself

    # -- sites --------------------------------------------------------------------------------------------------------

    def site(self, node: Node) -> Site:
        place = self.place
        if place is None:
            span = self.span(node)
            return Site(span, "", "", ";", blocked="outside of a function body")
        blocked, fixed = self.blocked, self.fixed
        if place.span.path != self.source.path or not place.span.start <= self.span(node).start < place.span.end:
            blocked = blocked or "in an argument of a macro"
        if place.calls and blocked is None:
            blocked = "another call runs earlier in the same statement"
        if not self.plain_call:
            place.calls += 1
            self.effects += 1
        style = place.style if place.core is not None and place.core == node else None
        made = Site(
            place.span,
            place.indent,
            *(style or ("", ";")),
            needs_braces=place.needs_braces,
            continuation=place.continuation,
            blocked=fixed or blocked,
            fixed=fixed,
        )
        if style is None:
            self.file.styles.wants_style(made)
        return made

    # -- check wrappers -----------------------------------------------------------------------------------------------

    def checked(self, node: Node) -> tuple[Node, bool] | None:
        """If a call only checks one of its arguments: that argument, and whether its value is looked at."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type not in ("identifier", "qualified_identifier"):
            return None
        name = self.raw(function)
        values = [child for child in arguments.named_children if child.type != "comment"]
        if not values or name in self.bindings:
            return None
        macro = self.file.macros.get(name)
        if macro is not None:
            if macro.kind != "transparent" or name in self.expanding or self._vanishes(macro):
                return None
            passes = macro.passes or 0
            return (values[passes], macro.looks) if passes < len(values) else None
        if not sites.is_check_name(name):
            return None
        body = self.file.hosts.get(name.rpartition("::")[2])
        if body is not None and not sites.only_looks(body):
            return None
        first = values[0]
        inner = self._status_source(first)
        if inner is None:
            return None
        if inner.type == "call_expression":
            api = sites.is_api(self._callee_text(inner))
            return (first, True) if api or (body is None and len(values) == 1) or self.checked(inner) else None
        named = inner.type == "identifier" and self.raw(inner) not in self.bindings
        kind = self.type_of(self.lvalue(inner)) if named else ""
        return (first, True) if body is None and sites.STATUS_TYPE.fullmatch(kind) else None

    def _vanishes(self, macro: Macro) -> bool:
        """Whether `NDEBUG` may take away what a macro is given."""
        called = (name.decode() for name in _CALLED.findall(macro.body))
        return not self.file.asserts_hold and any(map(DEBUG_ONLY.fullmatch, called))

    def _status_source(self, node: Node) -> Node | None:
        """The call or variable whose status an argument is, through parentheses, casts and comparisons."""
        while True:
            if node.type == "parenthesized_expression":
                inner = first_named(node)
            elif node.type == "cast_expression":
                inner = node.child_by_field_name("value")
            elif node.type == "binary_expression":
                inner = node.child_by_field_name("left")
                if inner is not None and sites.SUCCESS.fullmatch(self.raw(inner)):
                    inner = node.child_by_field_name("right")
            elif node.type == "assignment_expression":
                inner = node.child_by_field_name("right")
            else:
                return node if node.type in ("call_expression", "identifier") else None
            if inner is None:
                return None
            node = inner

    def core(self, node: Node) -> Node | None:
        """The API call that an expression statement wraps in checks and nothing else."""
        while True:
            if node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
                node = inner
            elif node.type == "cast_expression" and (value := node.child_by_field_name("value")) is not None:
                node = value
            elif node.type == "call_expression":
                found = self.checked(node)
                inner = found[0] if found is not None else self._acting_check(node)
                if inner is None:
                    return node if sites.is_api(self._callee_text(node)) else None
                node = inner
            else:
                return None

    def _acting_check(self, node: Node) -> Node | None:
        """The API call in a check macro that also returns or jumps: `CHECK(cudaFree(p))`."""
        macro, arguments = self.file.macros.get(self._callee_text(node)), node.child_by_field_name("arguments")
        values = [c for c in arguments.named_children if c.type == "call_expression"] if arguments is not None else []
        if macro is None or macro.kind != "operates" or len(values) != 1 or not sites.only_looks(macro.body):
            return None
        return values[0] if sites.is_api(self._callee_text(values[0])) else None

    # -- calls --------------------------------------------------------------------------------------------------------

    def arguments(self, node: Node | None) -> tuple[tuple[Expr, ...], tuple[Span, ...]]:
        listed = list(self._listed(node))
        values = [self.value(at) if bound is None else self.in_argument(bound, self.value) for at, bound in listed]
        return tuple(values), tuple(self.span(at) for at, _ in listed)

    def _listed(self, node: Node | None) -> Iterator[tuple[Node, Bound | None]]:
        """The arguments of a call as written; for `__VA_ARGS__`, one for each that it stands for, with that."""
        for child in node.named_children if node is not None else ():
            if child.type != "comment":
                yield from ((child, bound) for bound in self._pack(child) or (None,))

    def _pack(self, node: Node) -> tuple[Bound, ...]:
        """What `__VA_ARGS__` stands for."""
        around = self.bindings.get(self.raw(node)) if node.type == "identifier" else None
        return tuple(replace(around, node=one, uses=0, rest=()) for one in around.rest) if around is not None else ()

    def call(self, node: Node, target: Expr | None, used: bool) -> Expr:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return self._other(node)
        if node.child_count > 2:
            for child in node.children:
                if child.type == "kernel_call_syntax":
                    return self._launch(node, function, child, arguments)
        cast = self._cast_argument(node)
        if cast is not None:
            return self.value(cast, target, used)
        bracketed = function.type == "parenthesized_expression"
        while function.type == "parenthesized_expression" and (inner := first_named(function)) is not None:
            function = inner
        kind = function.type
        if bracketed and kind == "identifier" and not self._is_function(self.raw(function)):
            operand = first_named(arguments) if arguments is not None else None
            return self.value(operand, target, used) if operand is not None else Opaque(())  # the cast `(T)(x)`
        named = function.child_by_field_name("name") if kind == "template_function" else function
        bound = self.bindings.get(self.raw(named)) if named is not None else None  # `func<int>(x)`, `func(x)`
        if kind in ("identifier", "template_function"):
            if bound is not None and bound.node.type in ("identifier", "qualified_identifier"):
                name = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
                return self._named(node, function, arguments, name, target, used, "the name is an argument of a macro")
        if kind == "identifier":
            return self._named(node, function, arguments, self.raw(function), target, used)
        if kind in ("qualified_identifier", "template_function"):
            return self._named(node, function, arguments, plain_name(self.raw(function)), target, used)
        if kind == "field_expression":
            return self._method(node, function, arguments, target, used)
        if kind == "primitive_type":
            return opaque(*self.arguments(arguments)[0])
        if kind == "lambda_expression":
            made = self.value(function)
            if isinstance(made, FuncRef):
                values, spans = self.arguments(arguments)
                return self.emit_call(node, function, made.name, values, spans, None, target, used)
        if kind == "pointer_expression" and function.children[0].type == "*":
            callee = self.value(function.children[-1])
            if isinstance(callee, FuncRef):
                values, spans = self.arguments(arguments)
                return self.emit_call(node, function, callee.name, values, spans, None, target, used)
        if kind == "call_expression" and (picked := self._picked(function)) is not None:
            fixed = None if picked in self.file.macros else "a macro picks the name"
            return self._named(node, function, arguments, picked, target, used, fixed)
        callee = self.value(function)
        written = function.child_by_field_name("type" if kind == "compound_literal_expression" else "function")
        if self._class_at(callee) is None and written is not None:
            name = plain_name(self.raw(written))
            standard = name.startswith("std::") and _NUMBER_OBJECT.match(name) is not None
            if kind == "compound_literal_expression" or standard or self.file.index.class_of(name) is not None:
                callee = self.temporary(name)  # `Add{}(x, y)`, `std::hash<T>()(x)`
        return self._called_object(node, function, arguments, callee, target, used)

    def _called_object(
        self, node: Node, function: Node, arguments: Node | None, place: Expr, target: Expr | None, used: bool
    ) -> Expr:
        """A call of what a place holds: of the `operator()` of an object, or through a pointer."""
        kind = self.type_of(place)
        if _NUMBER_OBJECT.match(kind):
            return opaque(place, *self.arguments(arguments)[0])
        cls = self.file.index.class_of(kind)
        known = cls is not None and "operator()" in cls.methods
        if not known and (cls is not None or not self._is_object(kind)):
            return self._computed(node, place, arguments, target)
        values, spans = self.arguments(arguments)
        return self.emit_call(node, function, "operator()", values, spans, place, target, used)

    def _picked(self, node: Node) -> str | None:
        """The name that a macro picks out of its arguments by their number: `PICK(__VA_ARGS__, F3, F2, F1)(…)`, where
        `PICK(_1, _2, _3, NAME, ...)` is `NAME`.
        """
        macro = self.file.macros.get(self._callee_text(node))
        arguments = node.child_by_field_name("arguments")
        if macro is None or arguments is None:
            return None
        bindings = self.bind(macro, [c for c in arguments.named_children if c.type != "comment"]) or {}
        bound = bindings.get(macro.body.decode("utf-8", "replace").strip())
        if bound is None or bound.node.type != "identifier":
            return None
        name = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
        return name if name not in bound.bindings else None

    def _is_object(self, kind: str) -> bool:
        """Whether a type can only be a class, of another file: a call of such an object is its `operator()`."""
        plain = kind.partition("<")[0]
        if not plain or is_pointer(kind) or is_number(kind) or plain.startswith(("auto", "decltype")):
            return False
        return not self.file.index.names_type(plain) and plain.removeprefix("std::") not in (
            "function",
            "reference_wrapper",
        )

    def _is_function(self, name: str) -> bool:
        if name in self.bindings or name in self.file.hosts or name in self.file.macros or sites.is_api(name):
            return True
        return (
            self.local(name) is not None or self.file.index.is_declared_function(name) or self._global(name) is not None
        )

    def _computed(self, node: Node, callee: Expr, arguments: Node | None, target: Expr | None) -> Expr:
        values, _ = self.arguments(arguments)
        self.unknown("call through a function pointer", node, (callee, *values))
        return Opaque((callee, *values))

    def _named(
        self, node: Node, function: Node, arguments: Node | None, name: str, target: Expr | None, used: bool,
        fixed: str | None = None,
    ) -> Expr:  # fmt: skip
        macro = self.file.macros.get(name)
        if macro is None and name not in self.file.hosts:
            if name in UNEVALUATED:
                return Opaque(())
            if name in PERHAPS_EVALUATED:
                return self._perhaps(node, name, lambda: opaque(*self.arguments(arguments)[0]))
            if DEBUG_ONLY.fullmatch(name) and not self.file.asserts_hold:
                return self._perhaps(node, "NDEBUG", lambda: self._asserted(node, arguments))
        if macro is not None and name not in self.expanding and fixed is None:
            done = self._macro(node, function, macro, arguments, target, used)
            if done is not None:
                return done
            if macro.params is None and macro.kind in ("rename", "constant"):
                body = macro.body.decode("utf-8", "replace").strip()
                if re.fullmatch(r"[\w:]+", body):
                    name, fixed = body, f"the name is made by the macro `{macro.name}`"
        elif fixed is None:
            checked = self.checked(node)
            if checked is not None:
                return self._through(arguments, checked, target)
        if name in _REFERRING and arguments is not None:
            return self._referring(node, arguments)
        if name == "std::exchange" and arguments is not None and len(arguments.named_children) == 2:
            return self._exchange(node, *arguments.named_children)
        if (
            name in _MAKES
            and not self.raw(function).endswith(("make_unique", "make_shared"))
            and (not (of := self.raw(function)).endswith("]>") or is_number(of.partition("<")[2][:-3]))
        ):
            return self._make_object(node, function, arguments, target)
        if name in PASSES and not (name == "std::move" and arguments is not None and arguments.named_child_count > 1):
            inner = first_named(arguments) if arguments is not None else None
            passed = self.value(inner, target, used) if inner is not None else Opaque(())
            if self.owner(passed) is not None:
                self.given_away.append(passed)
            return passed
        local = self.local(name) if "::" not in name else None
        if local is not None:
            if isinstance(local, Var) and local.name in self.lambdas:
                name = self.lambdas[local.name]
            else:
                return self._called_object(node, function, arguments, local, target, used)
        elif name not in self.file.hosts and (
            name in PURE or name.removeprefix("std::") in PURE or self.file.index.is_type(name.removeprefix("std::"))
        ):
            values, spans = self.arguments(arguments)
            self.hands_over(node, name, values)
            self.copied(node, self.raw(function), values)
            if name.removeprefix("std::") in COMPARING:
                self.compared(node, values)
            if name.startswith("std::") or not any(is_pointer(self.type_of(value)) for value in values):
                return opaque(*values)
            return self.emit_call(node, function, name, values, spans, None, target, used)
        if name in _LEAVES_FUNCTION:
            self.problems.append(("control_flow", self.span(node).start))
        values, spans = self.arguments(arguments)
        self.copied(node, self.raw(function), values)
        receiver: Expr | None = None
        if "unique_ptr" in name and (cls := self.file.index.class_of(tidy(function, self.source.text))) is not None:
            return self._construct(node, function, cls, values, spans, target)
        if local is None and "::" in name and (cls := self.file.index.class_named(plain_name(name))) is not None:
            return self._construct(node, function, cls, values, spans, target)
        if local is None and "::" not in name:
            made = self.file.index.class_of(name)
            if made is not None:
                return self._construct(node, function, made, values, spans, target)
            if self.cls is not None and any(name in cls.methods for cls in self.file.index.lineage(self.cls)):
                receiver = Deref(Var("this"))
            elif name not in self.file.hosts:
                place = self.resolve_variable(name, function)
                if place is not None:
                    self.unknown("call through a function pointer", node, (place, *values))
                    return Opaque((place, *values))
        kept = self.fixed
        self.fixed = self.fixed or fixed
        try:
            return self.emit_call(node, function, name, values, spans, receiver, target, used, pasted=fixed is not None)
        finally:
            self.fixed = kept

    def _referring(self, node: Node, arguments: Node) -> Expr:
        """`std::ref(x)`, `std::tie(x, y)`: an object that keeps where these are."""
        values, _ = self.arguments(arguments)
        self.hands_over(node, "std::ref", values)
        kept = [one.base if isinstance(one, Deref) else Addr(one) for one in values if isinstance(one, _PLACES)]
        made = self.temporary("std::reference_wrapper")
        self.emit(ir.Assign(made, Opaque((*kept, *values)), self.span(node)))
        return made

    def _asserted(self, node: Node, arguments: Node | None) -> Expr:
        checked = self.checked(node)
        return self._through(arguments, checked, None) if checked else opaque(*self.arguments(arguments)[0])

    def _perhaps(self, node: Node, when: str, run: Callable[[], Expr]) -> Expr:
        """What `run` evaluates, which the program may do or not."""
        values: list[Expr] = []
        kept, self.blocked = self.blocked, self.blocked or f"in `{self._callee_text(node)}`"
        block = self.collect(lambda: values.append(run()))
        self.blocked = kept
        if matters(block):
            self.emit(ir.If(ir.Test("other", None, when), block, (), self.span(node)))
        else:
            self.merge(block)
        return opaque(*values)

    def _exchange(self, node: Node, first: Node, second: Node) -> Expr:
        """`std::exchange(x, y)`: `x` becomes `y`, and what it was is the value."""
        place, value = self.lvalue(first), self.value(second)
        self.hands_over(node, "std::exchange", (place, value))
        old = self.temporary(self.type_of(place))
        self.touch(node, place)
        self.touch(node, place, write=True)
        self.emit(ir.Assign(old, place, self.span(node)))
        if value == Const("0") and is_pointer(self.type_of(place)):
            value = NULL
        self.store(place, value, node)
        return old

    def resolve_variable(self, name: str, node: Node) -> Expr | None:
        """A member or global variable of that name, which a call goes through; not a macro or function."""
        if self.cls is not None:
            for cls in self.file.index.lineage(self.cls):
                if name in cls.fields:
                    return Field(Deref(Var("this")), name)
        return self._global(name)

    def _construct(
        self,
        node: Node,
        function: Node,
        cls: Class,
        values: tuple[Expr, ...],
        spans: tuple[Span, ...],
        target: Expr | None,
    ) -> Expr:
        """`T(args)`: a temporary, or the object that `target` names."""
        if not self.file.index.has(cls, cls.constructor):
            return opaque(*values)
        receiver = target if isinstance(target, Var) else self.temporary(cls.name)
        own = self.file.index.class_of(self.type_of(values[0])) if len(values) == 1 else None
        if cls.constructor in cls.methods and not cls.deleter and (own is not cls or self.copies(cls)):
            self.emit_call(node, function, f"{cls.name}::{cls.constructor}", values, spans, receiver, None, False)
        else:
            self.build(node, receiver, cls, values, spans)
        if target is None:
            self._ends(node, receiver, cls)
        elif receiver is target and self.types.get(receiver.name, "auto").startswith("auto"):
            self.types[receiver.name] = cls.name
        return receiver

    def braced(self, node: Node, target: Expr | None) -> Expr:
        """`T{a, b}`: as `T(a, b)` where the class has a constructor, else its members in their order."""
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        cls = self.file.index.class_of(self.raw(kind)) if kind is not None else None
        if kind is not None and value is not None and self.is_unseen(self.raw(kind)):
            values, spans = self.arguments(value)
            self.constructor(node, self.raw(kind), values, spans)
            return opaque(*values)
        if cls is None or kind is None or value is None:
            if kind is not None and value is not None and (made := self._other(node)):
                self.hands_over(node, self.raw(kind), self.listed.get(value.id, ()))
                self.copied(node, self.raw(kind), self.listed.get(value.id, ()))
                return made
            return self._other(node)
        if self.file.index.has(cls, cls.constructor):
            return self._construct(node, kind, cls, *self.arguments(value), target)
        kept = self.file.index.has(cls, cls.destructor) or any(map(_OPERATOR.match, cls.methods))
        if not kept or any(c.type == "initializer_pair" for c in value.children):
            return self._other(node)
        values, _ = self.arguments(value)
        receiver = target if isinstance(target, Var) else self.temporary(cls.name)
        self.build(node, receiver, cls, values)
        if target is None:
            self._ends(node, receiver, cls)
        return receiver

    def converted(self, node: Node, callee: str, nodes: list[Node], values: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The arguments of a call, with the objects that are made where a parameter is an object: of braces, of a value
        that is none, or as a copy.
        """
        index, given = self.file.index, list(values)
        for number, (child, value) in enumerate(zip(nodes, values, strict=False)):
            params = index.parameters_at(callee.rpartition("::")[2], number, len(values)) or []
            kinds = {p.type for p in params}
            for kind in kinds:
                self.copied(child, kind, self.listed.get(child.id, (value,)))
            classes = [c for kind in kinds if not is_pointer(kind) and (c := index.class_of(kind)) is not None]
            braces, kind = child.type == "initializer_list", self.type_of(value)
            own = index.class_of(kind) if kind and not is_pointer(kind) else None
            by_value = any(not p.by_reference for p in params)
            if own is not None:
                if any(not p.by_reference and self._is_open(p.type) for p in params):
                    if index.ending(kind) is not None:
                        self.unknown("a copy of an object for a template", child)
                    self.keeps_copy(child, value)
                elif own not in classes or not by_value or is_temporary(value) or not self.is_copied(own):
                    continue
            elif not (braces or self.is_no_object(child, value)) or (len(kinds) > 1 and not braces):
                continue
            if not any(index.has(c, special) for c in classes for special in (c.constructor, c.destructor)):
                continue
            if len(classes) > 1 or (braces and any(c.type == "initializer_pair" for c in child.children)):
                self.unknown("an object whose class is not written", child)
                continue
            given[number] = receiver = self.temporary(classes[0].name)
            self.build(child, receiver, classes[0], self.listed.get(child.id, ()) if braces else (value,))
            if not by_value:
                self._ends(child, receiver, classes[0])
        return tuple(given)

    def is_no_object(self, node: Node, value: Expr) -> bool:
        """Whether a value is known to be a number or a pointer, of which an object is made where one is expected."""
        kind = self.type_of(value)
        return is_pointer(kind) or is_number(kind) or isinstance(value, Const) or node.type == "string_literal"

    def build(
        self, node: Node, receiver: Expr, cls: Class, values: tuple[Expr, ...], spans: tuple[Span, ...] = ()
    ) -> None:
        """An object of the values in its parentheses or braces: by a constructor, as a copy, or member by member."""
        index = self.file.index
        if cls.constructor in cls.methods:
            self.hands_over(node, cls.constructor, values)
        own = index.class_of(self.type_of(values[0])) if len(values) == 1 else None
        if cls.deleter:
            held = (self._released(node, values[0]),) if values and self.owner(values[0]) else values[:1]
            self._of_owner(node, cls, cls.constructor, held, receiver)
            return
        if own is cls and not self.copies(cls) and not is_pointer(self.type_of(values[0])):
            self.emit(ir.Assign(receiver, values[0], self.span(node)))
            self.copy_parts(node, receiver, cls, values[0])
            return
        if index.has(cls, cls.constructor):
            span = self.span(node)
            site = self.site(node)
            name_span = Span(span.path, span.start, span.start)
            callee = f"{cls.name}::{cls.constructor}"
            given = values if cls.constructor in cls.methods else ()
            self.emit(ir.Call(callee, given, span, name_span, span.end - 1, site, spans, receiver))
        if cls.constructor not in cls.methods:
            for name, one in zip(cls.fields, values, strict=False):
                place = Field(receiver, name)
                if (part := self.copied_class(one)) is not None:
                    self.build(node, place, part, (one,))
                else:
                    self.emit(ir.Assign(place, self.bound(place, one), self.span(node)))

    def copy_parts(self, node: Node, place: Expr, cls: Class, value: Expr) -> None:
        """What the copy that the compiler writes does with bases and members that declare how they are copied (C++17,
        15.8.1 [class.copy.ctor] 14). A temporary object is not copied (11.6 [dcl.init] 17.6.1).
        """
        for name, part, count in self.file.index.parts(cls) if not is_temporary(value) else ():
            to, source = (Field(place, name), Field(value, name)) if name else (place, value)
            if part.deleter or not self.is_copied(part):
                continue
            if count or self.depth > MAX_DEPTH:
                self.unknown("elements of an array that are copied", node, (to, source))
                continue
            self.depth += 1
            if self.copies(part):
                self.build(node, to, part, (source,))
            else:
                self.copy_parts(node, to, part, source)
            self.depth -= 1

    def copied_class(self, value: Expr) -> Class | None:
        """The class of an object that is copied or moved where another one is made of it, as the class, a base or a
        member of it declares; None for any other value, and for a temporary object, which is that other one.
        """
        cls = self._class_at(value)
        return cls if cls is not None and self.is_copied(cls) and (cls.deleter or not is_temporary(value)) else None

    def is_copied(self, cls: Class) -> bool:
        """Whether a class, a base or a member of it declares what happens when it is copied or moved."""
        found, stack = {cls.name}, [cls]
        while stack:
            current = stack.pop()
            if self.copies(current):
                return True
            fresh = [part for _, part, _ in self.file.index.parts(current) if part.name not in found]
            found.update(part.name for part in fresh)
            stack += fresh
        return False

    def converts(self, node: Node, place: Expr) -> None:
        """An object is read, which may be as something else: what its conversions do, be they meant or not."""
        for name in self._conversions(place):
            self.emit_call(node, node, name, (), (), place, None, False)

    def _conversions(self, place: Expr) -> list[str]:
        kind = self.type_of(place)
        cls = self.file.index.class_of(kind) if kind and not is_pointer(kind) else None
        return ["".join(name.split()) for name in sorted(cls.methods) if _CONVERSION.match(name)] if cls else []

    def _is_converted(self, kind: str, wanted: str) -> bool:
        """Whether an object of a class with conversions is given where something else is wanted."""
        own = self.file.index.class_of(kind) if kind and not is_pointer(kind) else None
        if own is None or not wanted or self.file.index.class_of(wanted) is own:
            return False
        return any(map(_CONVERSION.match, own.methods))

    def _as_handle(self, node: Node, value: Expr) -> Expr:
        """What an object gives a library that takes no objects: what its conversion returns, if it has one only."""
        names = self._conversions(value)
        if len(names) != 1 or not ("*" in names[0] or "_t" in names[0]):
            return value
        return self.emit_call(node, node, names[0], (), (), value, None, True)

    # -- smart pointers (cudafix.frontends.cuda.owners) ----------------------------------------------------------------

    def owner(self, value: Expr) -> Class | None:
        """The class of a smart pointer whose deleter is seen; None for any other value."""
        kind = self.type_of(value)
        cls = self.file.index.class_of(kind) if kind and not is_pointer(kind) else None
        return cls if cls is not None and cls.deleter else None

    def _of_owner(self, node: Node, cls: Class, name: str, given: tuple[Expr, ...], owner: Expr) -> Expr:
        """Call a function of a smart pointer."""
        span = self.span(node)
        result = self.temporary() if name in ("get", "release") else None
        name_span = Span(span.path, span.start, span.start)
        self.plain_call = name == "get"
        site = self.site(node)
        self.plain_call = False
        self.emit(ir.Call(f"{cls.name}::{name}", given, span, name_span, span.end, site, (), owner, result))
        return result if result is not None else Opaque(())

    def _released(self, node: Node, place: Expr) -> Expr:
        """What a smart pointer held that something else takes over: there is no copy of one, so it is moved from."""
        cls = self.owner(place)
        assert cls is not None
        if place in self.given_away:
            self.given_away.remove(place)
        return self._of_owner(node, cls, "release", (), place)

    def _replaced(self, node: Node, place: Expr, cls: Class, right: Node) -> None:
        """`place = right` for a smart pointer."""
        value = NULL if right.type == "initializer_list" and not right.named_children else self.value(right)
        if self.owner(value) is not None:
            self._of_owner(node, cls, "reset", (self._released(node, value),), place)
        elif value == NULL:
            self._of_owner(node, cls, "reset", (), place)
        else:
            self.unknown("what a smart pointer becomes", node, (place, value))

    def hands_on(self, node: Node, value: Expr) -> None:
        """A smart pointer is given to somebody who may take it over, or not."""
        if self.owner(value) is not None and not is_temporary(value):
            self.unknown("a smart pointer that is handed on", node, (value,))

    def end_moves(self, node: Node) -> None:
        """What a statement has moved from, and nobody was seen to take over."""
        for place in self.given_away:
            self.hands_on(node, place)
        self.given_away.clear()

    def copies(self, cls: Class) -> bool:
        """Whether a class declares what happens when it is copied or moved."""
        if cls.deleter:
            return True
        listed = self.file.index.parameters_at(cls.constructor, 0, 1) or []
        return cls.constructor in cls.methods and any(
            p.by_reference and self.file.index.class_of(p.type) is cls for p in listed
        )

    def overloaded(self, node: Node, symbol: str, values: tuple[Expr, ...]) -> Expr | None:
        """The call of an operator of a class, be it a member or a function beside it; None where it is none."""
        classes = [self._class_at(value) for value in values]
        kind = self.type_of(values[0])
        if (symbol in _COMPARISONS or symbol == "[]") and kind.endswith(">"):  # of a container
            self.copied_inside(node, kind, values[1:])
            self.compared(node, values)
        if not any(classes):
            self._perhaps_overloaded(node, f"operator{symbol}", values)
            return None
        orders = (values, values[::-1]) if symbol in _COMPARISONS else (values,)
        for name in (symbol, *_REWRITTEN.get(symbol, ())):
            for given in orders:
                if (made := self._called(node, f"operator{name}", given)) is not None:
                    return made
        return None

    def _class_at(self, value: Expr) -> Class | None:
        """The class of an object that is seen; None for a pointer to one."""
        kind = self.type_of(value)
        return self.file.index.class_of(kind) if kind and not is_pointer(kind) else None

    def _called(self, node: Node, name: str, values: tuple[Expr, ...]) -> Expr | None:
        """The call of a member of the first object, or of a function that takes them all; None if there is none."""
        index, classes = self.file.index, [self._class_at(value) for value in values]
        taken = index.taken(name)
        lineage = index.lineage(classes[0].name) if classes[0] is not None else ()
        if any(len(listed) == len(values) - 1 for listed in taken) and any(name in cls.methods for cls in lineage):
            return self.emit_call(node, node, name, values[1:], (), values[0], None, True)
        if any(self._fits(listed, classes) for listed in taken):
            return self.emit_call(node, node, name, values, (), None, None, True)
        return None

    def _fits(self, params: tuple[Param, ...], classes: list[Class | None]) -> bool:
        """Whether a function takes an object of one of these classes at its place."""
        index = self.file.index
        return len(params) == len(classes) and any(
            self._is_open(param.type) or any(index.class_of(param.type) is one for one in index.lineage(cls.name))
            for param, cls in zip(params, classes, strict=True)
            if cls is not None
        )

    def _perhaps_overloaded(self, node: Node, name: str, values: tuple[Expr, ...]) -> None:
        """An operator on an object of a type that is left to the caller of a template: it may be one of a class."""
        kind = self.type_of(values[0])
        if kind and not is_pointer(kind) and self._is_open(kind) and self.file.index.is_member(name):
            self.emit_call(node, node, name, values[1:], (), values[0], None, True)

    def compared(self, node: Node, values: tuple[Expr, ...]) -> None:
        """The standard library compares elements of what it is given: by the operators of their class."""
        written = (word for value in values for word in WORDS.findall(self.type_of(value)))
        classes = {cls.name: cls for word in written if (cls := self.file.index.class_of(word)) is not None}
        for cls in classes.values():
            one = self.temporary(cls.name)
            self.store(one, opaque(*values, *(Index(value, Opaque(())) for value in values)), node)
            for symbol in ("<", "=="):
                self.overloaded(node, symbol, (one, one))

    def _applied(self, node: Node, values: tuple[Expr, ...]) -> None:
        """An algorithm calls the function objects that it is given, with it is not seen what."""
        for value in values:
            cls = self._class_at(value)
            if cls is not None and any("operator()" in one.methods for one in self.file.index.lineage(cls.name)):
                for count in {len(listed) for listed in self.file.index.taken("operator()")}:
                    self.emit_call(node, node, "operator()", (Opaque(()),) * count, (), value, None, False)

    def iterated(self, node: Node, container: Expr) -> tuple[Expr, Expr] | None:
        """What the `begin` and the `end` of an object give a loop over it; None if its class has none."""
        if self._class_at(container) is None:
            return None
        first, last = (self._called(node, name, (container,)) for name in ("begin", "end"))
        return (first, last) if first is not None and last is not None else None

    def is_overloaded(self, symbol: str) -> bool:
        return bool(self.file.index.taken(f"operator{symbol}"))

    def assigned(self, node: Node, place: Expr, cls: Class, right: Node) -> bool:
        """`place = right` for an object of a class with an own assignment or a destructor: the right side may be a
        temporary object, which ends with the statement. False for any other class.
        """
        index = self.file.index
        if cls.deleter:
            self._replaced(node, place, cls, right)
            return True
        own = index.has(cls, ASSIGNMENT)
        if not own and not index.has(cls, cls.destructor):
            return False
        value: Expr
        if right.type == "initializer_list":
            value = made = self.temporary(cls.name)
            self.build(right, made, cls, self.arguments(right)[0])
            self._ends(right, made, cls)
        else:
            value = self.value(right)
        if own:
            self.emit_call(node, node, f"{cls.name}::{ASSIGNMENT}", (value,), (), place, None, False)
        else:
            self.store(place, value, node)
        return True

    # -- what may be assigned where no assignment is lowered (see `ir.Function`) ---------------------------------------

    def is_unclear(self, kind: str) -> bool:
        """Whether an object of a class that is seen may be of this type, though it does not say so. The parameter of a
        template is none of these: what goes there is noted where it goes there.
        """
        words = [word for one in self.file.index.meanings(kind) for word in WORDS.findall(one)]
        return not kind or not _DEDUCED.isdisjoint(words)

    def leaves_unwritten(self, target: str, value: Expr) -> None:
        """A value is assigned where no operator is seen, to something of the type `target`, which may not be known."""
        kind = self._kind_of(value)
        cls = self.file.index.class_of(kind) if kind and not is_pointer(kind) else None
        if not self.is_unclear(target) and (cls is None or cls is self.file.index.class_of(target)):
            return
        if cls is not None:
            self.unwritten.add(cls.constructor)
        else:
            self.unwritten.add(ir.NO_OBJECT if not self.may_lead(value) or not self.is_unclear(kind) else "")

    def _kind_of(self, value: Expr) -> str:
        if kind := self.type_of(value):
            return kind
        name = self.reached_by(value)
        if sites.is_api(name):
            return "cudaError_t"
        kinds = self.file.index.returned(name) | self.file.index.referred(name)
        return kinds.pop() if len(kinds) == 1 else ""

    def hands_over(self, node: Node, callee: str, values: tuple[Expr, ...]) -> None:
        """Objects are given to a function that is not seen, or to one that takes objects of any type."""
        index, name = self.file.index, callee.rpartition("::")[2]
        for number, value in enumerate(values):
            kind = self.type_of(value) or (self._kind_of(value) if is_temporary(value) else "")
            cls = index.class_of(element_type(kind).rstrip(" *&")) if kind else None
            unclear = name in _ASSIGNING and self.is_unclear(kind) and self.may_lead(value)
            if (cls is None and not unclear) or (is_pointer(kind) and name in _SWAPS):
                continue
            params = index.parameters_at(name, number, len(values)) if not callee.startswith("std::") else None
            if params is not None and not any(self._is_open(word) for p in params for word in WORDS.findall(p.type)):
                continue
            self.unwritten.add(cls.constructor if cls is not None else "")
            if params is None and name not in _REFERS:
                self.keeps_copy(node, value)

    def keeps_copy(self, node: Node, value: Expr) -> None:
        """An object is copied or moved to where it is not seen who ends the copy."""
        cls = self.copied_class(value)
        if cls is not None and not cls.deleter:
            made = self.temporary(cls.name)
            self.build(node, made, cls, (value,))
            self.unknown("a copy of an object of which it is not known who ends it", node, (made,))

    def is_unseen(self, kind: str) -> bool:
        """Whether a type can only be a class of which nothing is known."""
        kind = kind.removeprefix("struct ").removeprefix("class ").rstrip()
        index = self.file.index
        if _CLASS.match(kind) is None or kind.endswith(("*", "]", "&")) or is_number(kind) or index.names_type(kind):
            return False
        return index.class_of(kind) is None and _NUMBER_OBJECT.match(kind) is None

    def constructor(self, node: Node, kind: str, values: tuple[Expr, ...], spans: tuple[Span, ...]) -> None:
        """The constructor of a class that is not seen is a function of its name, which a table may know."""
        if values:
            span = self.span(node)
            name_span = Span(span.path, span.start, span.start)
            site = ir.Site(span, "", "", ";", blocked="a constructor")
            self.emit(ir.Call(plain_name(kind), values, span, name_span, span.end - 1, site, spans))

    def may_be_overloaded(self, place: Expr) -> bool:
        """Whether an operator on an object may run a function that is not seen, on all that the object leads to."""
        return (isinstance(place, Var) and place.name in self.views) or (
            isinstance(place, (Var, Field, Index, Deref)) and self.is_unseen(self.type_of(place))
        )

    def is_made_of_views(self, value: Expr) -> bool:
        """Whether an operator made this of an object of which that is true."""
        return isinstance(value, Opaque) and any(
            self.is_made_of_views(part) or self.may_be_overloaded(part) for part in value.parts
        )

    def _is_open(self, kind: str) -> bool:
        """Whether a type is left to the call: `auto`, or the parameter of a template."""
        index = self.file.index
        return kind.startswith("auto") or (index.names_type(kind) and index.class_of(kind) is None)

    def _ends(self, node: Node, made: Var, cls: Class) -> None:
        """A temporary object ends with the statement. Not if somebody takes it over: who it is returned to, or a
        function that is not seen, such as that of a container.
        """
        if not self.file.index.has(cls, cls.destructor) or self.place is None:
            return
        outer = node.parent
        while outer is not None and outer.type in ("parenthesized_expression", "qualified_identifier"):
            outer = outer.parent
        if outer is None or outer.type in (
            "return_statement",
            "throw_statement",
            "init_declarator",
            "initializer_list",
        ):
            return
        if outer.type == "argument_list":
            given = [child for child in outer.named_children if child.type != "comment"]
            number = next((n for n, child in enumerate(given) if child.end_byte >= node.end_byte), 0)
            params = self.file.index.parameters_at(self._receiving(outer), number, len(given))
            if params is None and not self._is_value(outer):
                return  # the engine sees that the function is not known
            params = params or []
            taken = [p for p in params if not p.by_reference and not is_pointer(p.type)]
            if any(self._is_open(p.type) for p in taken) or 0 < len(taken) < len(params) or not params:
                self.unknown("a temporary object of which it is not known who ends it", node)
                return
            if taken:
                return  # it is the parameter, which the function ends
        at: Node | None = outer
        while at is not None and at != self.place.node:
            if at.type in _SOMETIMES or any(child.type in ("&&", "||") for child in at.children):
                at = None
                break
            at = at.parent
        if at is None or at.type not in ("expression_statement", "declaration", "return_statement"):
            self.unknown("a temporary object that ends in the middle of a statement", node, (made,))
        else:
            self.ending.append((made, cls, node))

    def _is_value(self, arguments: Node) -> bool:
        """Whether arguments go to a function that is a value: a pointer to one, a function object."""
        function = arguments.parent.child_by_field_name("function") if arguments.parent is not None else None
        if function is None:
            return False
        named = ("identifier", "qualified_identifier", "template_function", "field_expression")
        return function.type not in named or self.local(self.raw(function)) is not None

    def _receiving(self, arguments: Node) -> str:
        """The last name component of the function or class that gets some arguments."""
        call = arguments.parent
        function = call.child_by_field_name("function") if call is not None else None
        if call is None:
            return ""
        if function is None:  # `T x(a)`, `new T(a)`
            declaration = call.parent if call.type == "init_declarator" else call
            function = declaration.child_by_field_name("type") if declaration is not None else None
            if function is None:
                return ""
            cls = self.file.index.class_of(self.raw(function))
            return cls.constructor if cls is not None else ""
        if function.type == "field_expression":
            function = function.child_by_field_name("field") or function
        local = self.local(self.raw(function))
        if isinstance(local, Var) and local.name in self.lambdas:
            return self.lambdas[local.name].rpartition("::")[2]
        return plain_name(self.raw(function)).rpartition("::")[2]

    def end_temporaries(self, kept: int) -> None:
        """The destructors of the temporary objects of a statement, the last one first."""
        while len(self.ending) > kept:
            made, cls, node = self.ending.pop()
            end = self.span(node).end - 1
            span = Span(self.source.path, end, end)
            site = Site(span, "", "", ";", blocked="the destructor of a temporary object")
            self.emit(ir.Call(f"{cls.name}::{cls.destructor}", (), span, span, end, site, (), made))

    def _made_by(self, node: Node, callee: str) -> Class | None:
        """The class with a destructor of which a function returns an object."""
        kinds = self.file.index.returned(callee.rpartition("::")[2])
        classes = [c for kind in kinds if (c := self.file.index.ending(kind)) is not None]
        if len(kinds) > 1 and classes:
            self.unknown("an object of which it is not known whether the call makes it", node)
        return classes[0] if classes and len(kinds) == 1 else None

    def _given_by(self, callee: str, receiver: Expr | None) -> str:
        """The type of what a call gives, where that is a status, or one class for all functions that may be meant."""
        index, name = self.file.index, callee.rpartition("::")[2]
        own = index.class_of(self.type_of(receiver)) if receiver is not None else None
        if receiver is not None and (own is None or not any(name in c.methods for c in index.lineage(own.name))):
            return ""
        if kind := sites.status_type(callee):
            return kind
        if name == "now" and "::" in callee and name not in self.file.hosts:  # of a clock, or of an alias of one
            return "std::chrono::time_point"
        kinds = index.returned(name) - {""} | {f"{kind} &" for kind in index.referred(name) - {""}}
        kind = kinds.pop() if len(kinds) == 1 else ""
        return kind if index.class_of(kind.strip(" *&")) is not None else ""

    def _through(self, arguments: Node | None, checked: tuple[Node, bool], target: Expr | None) -> Expr:
        """A check around one argument: only that argument's calls happen."""
        node, looks = checked
        for child in arguments.named_children if arguments is not None else ():
            if child != node and child.type not in (
                "comment",
                "string_literal",
                "concatenated_string",
                "number_literal",
            ):
                self.value(child)
        return self.value(node, target, looks)

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
        listed = node.child_by_field_name("arguments") if node.type == "call_expression" else None
        if listed is not None:
            nodes = [at for at, _ in self._listed(listed)]
            values = self.converted(node, callee, nodes, values)
            if sites.is_api(callee):
                values = tuple(self._as_handle(at, value) for at, value in zip(nodes, values, strict=True))
        if not sites.is_api(callee):
            self.hands_over(node, callee, values)
        for number, value in enumerate(values):
            params = self.file.index.parameters_at(callee.rpartition("::")[2], number, len(values))
            if params is None or not all(p.by_reference for p in params):
                self.hands_on(node, value)
        span = self.span(node)
        name_span = self.span(name_node)
        template_args = ""
        if name_node.type in ("template_function", "template_method", "qualified_identifier"):
            at = name_node
            while at.type == "qualified_identifier" and (inner := at.child_by_field_name("name")) is not None:
                at = inner
            written = at.child_by_field_name("arguments")
            if written is not None:
                template_args = tidy(written, self.source.text)[1:-1].strip()
                name = at.child_by_field_name("name")
                name_span = self.span(name) if name is not None else name_span
        if pasted:
            name_span = Span(span.path, span.start, span.start)
        if callee.removeprefix("std::") in COMPARING and callee not in self.file.hosts:
            self.compared(node, values)
        elif receiver is not None and _SORTED.match(self.type_of(receiver)):
            self.compared(node, (receiver,))
        if callee not in self.file.hosts and not sites.is_api(callee) and callee.startswith("std::"):
            self._applied(node, values)
        kind = self._given_by(callee, receiver)
        if target is not None and self._is_converted(kind, self.type_of(target)):
            target = None
        result: Expr | None = target
        made = self._made_by(node, callee)
        if target is None and (used or made is not None):
            result = self.temporary(made.name if made is not None else kind)
        elif isinstance(target, Var) and self.types.get(target.name, "auto").startswith("auto"):
            known = made.name if made is not None else kind if kind.startswith("std::") else ""
            if not known and receiver is None and "::" in callee and callee.rpartition("::")[2][:1].isupper():
                known = callee if self.is_unseen(callee) else ""  # by its name, a constructor
            self.types[target.name] = known or self.types.get(target.name, "auto")
        body = self.file.hosts.get(callee.rpartition("::")[2])
        plain_body = body is not None and b"(" not in body and b"delete" not in body
        self.plain_call = plain_body or (body is None and callee.rpartition("::")[2] in QUIET)
        site = self.site(node)
        self.plain_call = False
        if site.prefix.strip() and _RUNTIME.match(callee):  # another library's statuses may be another type
            self.file.styles.saw((site.prefix, site.suffix), site.span)
        root = root_of(receiver) if receiver is not None else None
        if isinstance(root, Var) and any(map(self.may_lead, values)):
            self.holding.add(root.name)
        if isinstance(target, Var) and receiver is not None and self.may_be_overloaded(receiver):
            self.views.add(target.name)
        flags = self.file.index.by_reference.get(callee.rpartition("::")[2], ()) if callee in self.file.hosts else ()
        for number, value in enumerate(values):
            if isinstance(value, Addr):
                self.bump(value.base)
            elif number < len(flags) and flags[number]:
                self.bump(value)
        self.emit(
            ir.Call(
                callee,
                values,
                span,
                name_span,
                span.end - 1,
                site,
                spans,
                receiver,
                result,
                Look.CHECKED if used else Look.IGNORED,
                template_args,
            )
        )
        if made is not None and target is None and isinstance(result, Var):
            self._ends(node, result, made)
        return result if result is not None else Opaque(())

    def _method(self, node: Node, function: Node, arguments: Node | None, target: Expr | None, used: bool) -> Expr:
        argument, name_node = function.child_by_field_name("argument"), function.child_by_field_name("field")
        operator = function.child_by_field_name("operator")
        if argument is None or name_node is None:
            return self._other(node)
        arrow = operator is not None and operator.type == "->"
        receiver = self.pointed(function, argument) if arrow else self.lvalue(argument)
        name = plain_name(self.raw(name_node))
        if name in self.file.macros:
            self.unwritten.add("")  # it stands for any method
        kind = self.type_of(receiver)
        cls = self.file.index.class_of(kind) if kind else None
        if cls is not None and cls.deleter:
            values, _ = self.arguments(arguments)
            if name in cls.methods:
                return self._of_owner(node, cls, name, values, receiver)
            return self.unknown("a smart pointer that is handed on", node, (receiver, *values))
        if cls is not None:
            if name in cls.fields and name not in cls.methods:
                return self._computed(node, Field(receiver, name), arguments, target)
        else:
            container = _STD_CONTAINER.match(kind) is not None
            if name == "at" and (container or not kind):
                values, _ = self.arguments(arguments)
                place = Index(receiver, values[0] if values else Opaque(()))
                self.touch(node, place)
                return place
            if name in _INTO and container:
                place = Index(receiver, Opaque(()))
                if name in _ELEMENTS:
                    self.touch(node, place)
                    return place
                return Addr(place)
            if KEEPS_REFERENCES.search(kind):
                self.touch(node, receiver)
            if name in LOOKING:
                values, spans = self.arguments(arguments)
                self.copied_inside(node, kind, values)
                if not any(is_pointer(self.type_of(value)) for value in values):
                    return opaque(receiver, *values)
                return self.emit_call(node, name_node, name, values, spans, receiver, target, used)
        values, spans = self.arguments(arguments)
        if name in _CHANGES and self.holds_numbers(kind):
            self.touch(node, Index(receiver, Opaque(())))
            self.touch(node, Index(receiver, Opaque(())), write=True)
        if name in _ADDS and _STD_CONTAINER.match(kind) and arguments is not None:
            values = self._elements_of(arguments, kind, values)
        if name in _COPIES:
            self.copied(node, kind, values)
        if cls is None:
            self.copied_inside(node, kind, values)
        return self.emit_call(node, name_node, name, values, spans, receiver, target, used)

    def _elements_of(self, arguments: Node, kind: str, values: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """What a container of structs gets: `v.push_back({a, b})` makes a struct of the braces first."""
        nodes = [child for child in arguments.named_children if child.type != "comment"]
        cls = self.file.index.class_of(pointee(kind))
        if cls is None or len(nodes) != 1 or nodes[0].type != "initializer_list":
            return values
        if self.file.index.has(cls, cls.constructor) or self.file.index.has(cls, cls.destructor) or cls.bases:
            return values
        if any(child.type == "initializer_pair" for child in nodes[0].children):
            return values
        made = self.temporary(cls.name)
        self.build(nodes[0], made, cls, self.listed.get(nodes[0].id, ()))
        return (made,)

    def _launch(self, node: Node, function: Node, config: Node, arguments: Node | None) -> Expr:
        settings = [self.value(child) for child in config.children if child.is_named and child.type != "comment"]
        values, _ = self.arguments(arguments)
        bound = self.bindings.get(self.raw(function)) if function.type == "identifier" else None
        if bound is not None:
            written = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
        else:
            written = self.raw(function)
        kernel = plain_name(written.strip("()& "))
        macro = self.file.macros.get(kernel)
        if macro is not None and macro.params is None and re.fullmatch(rb"[\w:<>, ]+", macro.body.strip()):
            kernel = plain_name(macro.body.decode("utf-8", "replace").strip())
        stream = self._as_handle(config, settings[3]) if len(settings) > 3 else None
        self.emit(ir.Launch(kernel, values, stream, self.span(node), self.site(node)))
        return Opaque(())

    # -- new and delete -----------------------------------------------------------------------------------------------

    def new(self, node: Node, target: Expr | None, used: bool) -> Expr:
        """`new T[n](args)`: memory from `operator new`, then the constructor, if the file defines the class."""
        kind = node.child_by_field_name("type")
        declarator, arguments = node.child_by_field_name("declarator"), node.child_by_field_name("arguments")
        placement = node.child_by_field_name("placement")
        size = [self.value(c) for c in declarator.named_children] if declarator is not None else []
        values, spans = self.arguments(arguments) if arguments is not None else ((), ())
        name = tidy(kind, self.source.text) if kind is not None else ""
        if placement is not None:
            place, _ = self.arguments(placement)
            self.unknown("placement new", node, (*place, *values))
            return place[0] if place else Opaque(())
        pointer = name + ("*" if name.endswith("*") else " *")
        return self._new(node, name, pointer, size, declarator, values, spans, target)

    def _make_object(self, node: Node, function: Node, arguments: Node | None, target: Expr | None) -> Expr:
        """`std::make_unique<T>(args)`: what `new T(args)` does, and an owner that holds the result."""
        name = " ".join(self.raw(function).partition("<")[2].removesuffix(">").split())
        values, spans = self.arguments(arguments)
        owner = f"std::{'shared' if 'shared' in self.raw(function) else 'unique'}_ptr<{name}>"
        if name.endswith("[]"):  # of so many numbers
            return self._new(node, name[:-2], owner, list(values), None, (), (), target)
        return self._new(node, name, owner, [], None, values, spans, target)

    def _new(
        self,
        node: Node,
        name: str,
        pointer: str,
        size: list[Expr],
        declarator: Node | None,
        values: tuple[Expr, ...],
        spans: tuple[Span, ...],
        target: Expr | None,
    ) -> Expr:
        """An object of the class `name`, or an array of them, made of `values` in new memory; the result is of the type
        `pointer`.
        """
        result = target if target is not None else self.temporary()
        if isinstance(result, Var) and (
            result.name.startswith("%") or not self.types.get(result.name, "auto").strip("auto")
        ):
            self.types[result.name] = pointer
        self.copied(node, name, values)
        span = self.span(node)
        site = self.site(node)
        self.emit(
            ir.Call(
                "operator new", (opaque(*size),), span, Span(span.path, span.start, span.start), span.end, site,
                (), None, result, Look.CHECKED, name,
            )
        )  # fmt: skip
        if any(map(self.may_lead, values)) and self.is_unseen(name):
            self.constructor(node, name, (*values, result), ())
            self.store(deref(result), opaque(*values), node)
        cls = self.file.index.class_of(name)
        if cls is not None and values and declarator is None and not self.file.index.has(cls, cls.constructor):
            self.build(node, deref(result), cls, values)
        else:
            count = self.normal(declarator).strip("[]") if declarator is not None else ""
            self.each(node, cls, "", values, spans, result, count)
        return result

    def delete(self, node: Node, target: Expr | None, used: bool) -> Expr:
        inner = node.named_children[-1] if node.named_children else None
        if inner is None:
            return Opaque(())
        value = self.value(inner)
        span = self.span(node)
        empty = Span(span.path, span.start, span.start)
        count = "?" if any(child.type == "[" for child in node.children) else ""
        self.each(node, self.file.index.class_of(self.type_of(Deref(value))), "~", (), (), value, count)
        self.emit(ir.Call("operator delete", (value,), span, empty, span.end, self.site(node), (self.span(inner),)))
        return Opaque(())

    def each(
        self,
        node: Node,
        cls: Class | None,
        tilde: str,
        values: tuple[Expr, ...],
        spans: tuple[Span, ...],
        base: Expr,
        count: str,
    ) -> None:
        """The constructor or destructor of `*base`, or of each of the `count` elements that `base` points to."""
        if cls is None or not self.file.index.has(cls, tilde + cls.constructor):
            return
        span = self.span(node)
        index = self.temporary("size_t") if count else None
        receiver = Index(base, index) if index is not None else deref(base)
        site = self.site(node)
        site.blocked = site.blocked or "in `new` or `delete`"
        name_span = Span(span.path, span.start, span.start)
        call = ir.Call(
            f"{cls.name}::{tilde}{cls.constructor}", values, span, name_span, span.end, site, spans, receiver
        )
        if index is not None:
            if count == "?":  # `delete[]` destroys as many as the `new` made
                bounds = self.counts.get(base, f"0:?{span.start}")
            else:
                bounds = self.marked("0:" + count, frozenset(_NAME.findall(count)))
                self.counts[base] = bounds
            self.emit(ir.Loop((call,), span, index=index, range=bounds))
        else:
            self.emit(call)

    # -- macros -------------------------------------------------------------------------------------------------------

    def _macro(
        self, node: Node, function: Node, macro: Macro, arguments: Node | None, target: Expr | None, used: bool
    ) -> Expr | None:
        """A use of a macro with arguments; None where it is an ordinary call after all."""
        nodes = [c for c in arguments.named_children if c.type != "comment"] if arguments is not None else []
        if macro.params is None:
            return None
        expands = any(len(self._pack(one)) > 1 for one in nodes)  # `__VA_ARGS__` is several arguments
        # what is evaluated of the other arguments, and when, the body says; of one not seen nothing is known
        acts = macro.path and any(_acts(child) for n, child in enumerate(nodes) if n != macro.passes)
        if macro.kind == "transparent" and not expands and not acts and not self._vanishes(macro):
            checked = self.checked(node)
            if checked is None:
                return self.unknown(f"macro `{macro.name}`", node, self.arguments(arguments)[0])
            return self._through(arguments, checked, target)
        bindings = self.bind(macro, nodes)
        if macro.kind == "rename":
            return self._pasted(node, macro, bindings, nodes, target, used)
        if bindings is not None and macro.kind in ("operates", "constant", "transparent"):
            done = self.expand(macro, bindings, node, want_value=used or target is not None or macro.kind == "constant")
            if done is not None:
                return done
        values, _ = self.arguments(arguments)
        if macro.kind == "constant":
            return opaque(*values)
        return self.unknown(f"macro `{macro.name}`", node, values)

    def bind(self, macro: Macro, nodes: list[Node]) -> dict[str, Bound] | None:
        params = macro.params or ()
        given = [one for node in nodes for one in self._pack(node) or (self._bound(macro, node),)]
        bindings: dict[str, Bound] = {}
        for number, param in enumerate(params):
            if param.endswith("..."):
                rest = given[number:]
                name = variadic_name(param).decode()
                if any(one.source != rest[0].source or one.bindings is not rest[0].bindings for one in rest):
                    return None  # some are from the arguments of a macro around this use, some are not
                if rest:
                    bindings[name] = replace(rest[0], rest=tuple(one.node for one in rest))
                return bindings
            if number >= len(given):
                return None
            bindings[param] = given[number]
        return bindings if len(given) == len(params) else None

    def _bound(self, macro: Macro, node: Node) -> Bound:
        reports = _COMPARES.search(macro.body) is not None and sites.only_looks(macro.body)
        return Bound(node, self.source, self.bindings, 0, (), self.place, self.effects, self.branches, reports)

    def _pasted(
        self,
        node: Node,
        macro: Macro,
        bindings: Mapping[str, Bound] | None,
        nodes: list[Node],
        target: Expr | None,
        used: bool,
    ) -> Expr | None:
        """`#define cuda(x) check(cuda##x)`: the argument is a call whose name gets a prefix."""
        body = macro.body.decode("utf-8", "replace")
        for found in _PASTE.finditer(body):
            bound = (bindings or {}).get(found.group(2))
            if bound is None or bound.node.type != "call_expression":
                continue
            function, arguments = (bound.node.child_by_field_name(f) for f in ("function", "arguments"))
            if function is None or function.type != "identifier":
                continue
            reason = f"the name is made by the macro `{macro.name}`"
            name = found.group(1) + self.raw(function)
            return self._named(bound.node, function, arguments, name, target, True, reason)
        inner = re.match(r"([A-Za-z_]\w*)\s*\(", body)
        if bindings is not None and inner is not None and "##" not in body:
            return self.expand(macro, bindings, node, want_value=used)
        return self.unknown(f"macro `{macro.name}`", node, tuple(self.value(one) for one in nodes))
