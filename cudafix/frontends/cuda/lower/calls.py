"""Calls and launches of host code: check wrappers, macros, methods, constructors, kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from tree_sitter import Node

from cudafix import ir, models
from cudafix.frontends.cuda.lower import held_objects
from cudafix.frontends.cuda.lower.assignments import pointer_to_function
from cudafix.frontends.cuda.lower.context import Bound
from cudafix.frontends.cuda.lower.expressions import ATOMIC_REF
from cudafix.frontends.cuda.lower.initializers import Initializers
from cudafix.frontends.cuda.lower.library_calls import (
    Call,
    exchange,
    is_given_comparison,
    of_the_library,
    one_of,
    or_one,
)
from cudafix.frontends.cuda.lower.syntax import cast_argument, cast_type, first_named, is_cast, written_type
from cudafix.frontends.cuda.lower.terms import PLACES, opaque
from cudafix.frontends.cuda.preprocess.macros import Macro, variadic_name
from cudafix.frontends.cuda.preprocess.macros import words as words_in
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import NUMBER_OBJECT, Class
from cudafix.frontends.cuda.sema.names import (
    COMPARING,
    EVALUATES,
    LOOKING,
    PERHAPS_EVALUATED,
    PURE,
    QUIET,
    UNEVALUATED,
)
from cudafix.frontends.cuda.sema.type_texts import (
    WIDE,
    elements,
    is_pointer,
    keeps_references,
    plain_name,
    pointee,
    tidy,
)
from cudafix.ir import Addr, Const, Deref, Expr, Field, FuncRef, Index, Look, Opaque, Site, Span, Var
from cudafix.ir.names import HANDLE_KINDS
from cudafix.ir.types import Type
from cudafix.models.constants import computes_a_number
from cudafix.models.number_types import is_number
from cudafix.models.types import is_standard

# what makes, moves or ends the objects that a container or an owner of the standard library holds
_ON_ELEMENTS = frozenset(
    (
        "reset emplace emplace_back emplace_front push push_back push_front pop pop_back pop_front insert erase clear "
        "assign resize reserve shrink_to_fit swap try_emplace insert_or_assign remove remove_if"
    ).split()
)
_MAKES_ELEMENTS = frozenset(
    (
        "push_back push_front push emplace_back emplace_front emplace insert emplace_hint try_emplace insert_or_assign"
    ).split()
)
_ADDS = frozenset(("push_back", "push_front", "push"))
_CALLED = re.compile(rb"(?<!\w)[A-Za-z_]\w*(?=\s*\()")
_RUNTIME = re.compile(r"cuda[A-Z]")
# what moves the elements of a container, or changes them
_CHANGES = frozenset(
    "push_back push_front emplace_back emplace_front insert emplace assign resize reserve clear erase shrink_to_fit "
    "append replace swap pop_back pop_front".split()
)
_FILLS_A_ROW = frozenset(("push_back", "emplace_back", "reserve", "resize", "pop_back", "clear"))
_COPIES = frozenset(("assign", "insert", "insert_after"))
_PASTE = re.compile(r"(\w*)\s*##\s*(\w+)")
_MEASURED = re.compile(rb"decltype\s*\(\s*(\w+)\s*\)")
_ATOMIC_METHODS = frozenset(("load", "store", "exchange"))
_COMPARES = re.compile(rb"[!=]=\s*(?:cuda|CUDA_|\w+_STATUS_)?S(?:uccess|UCCESS)|\bif\s*\(\s*\w+\s*\)")
_ITERATORS = frozenset(("begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin", "crend"))
_ELEMENTS = frozenset(("front", "back"))
_INTO = _ITERATORS | _ELEMENTS | {"data"}
_OF_ADAPTORS = frozenset(("front", "back", "top", "push", "emplace", "pop"))
_LEAVES_FUNCTION = frozenset(("setjmp", "longjmp", "_setjmp", "sigsetjmp", "siglongjmp"))


def _acts(node: Node) -> bool:
    """Whether an argument calls something."""
    return node.type == "call_expression" or any(map(_acts, node.named_children))


_CALLS_API = re.compile(r"\bcu[A-Z]\w*\s*\(|\bcu(?:da|blas|fft|sparse|rand|solver|dnn)\w*\s*\(|<<<")
_PRINTS = re.compile(r"(?:^|::)\w*printf(?:_s)?\Z")
_COUNTS = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:hh?|ll?|[jztL])?n")
_STATEMENT_KEYWORDS = frozenset("case catch default do else for goto if return switch throw try while".split())


class Calls(Initializers):
    """Lowers calls: who is called with what, and who looks at the status; what a call means is not decided here."""

    plain_call = False  # the call runs a function of this file that calls nothing itself
    use: Site | None = None  # the statement that uses the macro which is lowered here

    # -- sites --------------------------------------------------------------------------------------------------------

    def site(self, node: Node) -> Site:
        place = self.place
        if place is None:
            span = self.span(node)
            return Site(span, "", "", ";", blocked=ir.OUTSIDE)
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
            needs_do=place.needs_do,
            continuation=place.continuation,
            blocked=fixed or blocked,
            fixed=fixed,
            use=self.use,
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
        macro = self.macro(name, node)
        if macro is not None:
            if macro.kind != "transparent" or name in self.expanding or self._vanishes(macro):
                return None
            passes = macro.passes or 0
            return (values[passes], macro.looks) if passes < len(values) else None
        body = self.file.hosts.get(name.rpartition("::")[2])
        if not sites.is_check_name(name, body is not None) or is_standard(
            name.removeprefix("::").removeprefix("std::")
        ):
            return None
        if body is not None and not sites.only_looks(body):
            return None
        first = values[0]
        inner = self._status_source(first)
        if inner is None:
            return None
        if inner.type == "call_expression":
            callee = self.callee_text(inner)
            api = sites.is_api(callee)
            if sites.TEXT_OF_STATUS.fullmatch(callee) is not None:
                return None
            checks = api or (body is None and len(values) == 1) or self.checked(inner) is not None
        else:
            named = inner.type == "identifier" and self.raw(inner) not in self.bindings
            kind = self.type_of(self.lvalue(inner)) if named else ""
            checks = body is None and sites.STATUS_TYPE.fullmatch(kind) is not None
        if checks and body is None and EVALUATES.fullmatch(name) is None:
            self.file.checks.add(name)
        return (first, True) if checks else None

    def _vanishes(self, macro: Macro) -> bool:
        """Whether `NDEBUG` may take away what a macro is given."""
        called = (name.decode() for name in _CALLED.findall(macro.body))
        return any(map(self.file.takes_away, called))

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
                    return node if sites.is_api(self.callee_text(node)) else None
                node = inner
            else:
                return None

    def _acting_check(self, node: Node) -> Node | None:
        """The API call in a check macro that also returns or jumps: `CHECK(cudaFree(p))`."""
        macro, arguments = self.macro(self.callee_text(node), node), node.child_by_field_name("arguments")
        values = [c for c in arguments.named_children if c.type == "call_expression"] if arguments is not None else []
        if macro is None or macro.kind != "operates" or len(values) != 1 or not sites.only_looks(macro.body):
            return None
        return values[0] if sites.is_api(self.callee_text(values[0])) else None

    # -- calls --------------------------------------------------------------------------------------------------------

    def arguments(self, node: Node | None) -> tuple[tuple[Expr, ...], tuple[Span, ...]]:
        listed = list(self._listed(node))
        values = [self.value(at) if bound is None else self.in_argument(bound, self.value) for at, bound in listed]
        if node is not None and any(is_cast(self.raw, at) for at, _ in listed) and self._is_overloaded(node):
            values = [self._retyped(at, value) for (at, _), value in zip(listed, values, strict=True)]
        return tuple(values), tuple(self.span(at) for at, _ in listed)

    def _is_overloaded(self, arguments: Node) -> bool:
        """Whether a call may mean one of several functions of the program: a function of a library is one."""
        around = arguments.parent
        named = around.child_by_field_name("function") if around is not None else None
        if named is None:
            return True  # a constructor
        name = plain_name(self.raw(named))
        seen = len(self.file.index.taken(name.rpartition("::")[2].rpartition(".")[2]))
        return seen > 1 or (not seen and models.built_in().any_form(name) is None)

    def _retyped(self, node: Node, value: Expr) -> Expr:
        """What is given for a parameter, of the type of a cast where that chooses the function: a stream or an event as
        something else, or something else as one.
        """
        if not is_cast(self.raw, node) or not isinstance(value, PLACES):
            return value
        meant = written_type(self.raw, node)
        types = map(Type.of, (self.type_of(value), meant))
        own, other = (HANDLE_KINDS.get(of.core) if of.is_direct else None for of in types)
        if own == other:
            return value
        made = self.temporary(meant)
        self.emit(ir.Assign(made, value, self.span(node)))
        return made

    def _listed(self, node: Node | None) -> Iterator[tuple[Node, Bound | None]]:
        """The arguments of a call as written; for `__VA_ARGS__`, one for each that it stands for, with that."""
        for child in node.named_children if node is not None else ():
            if child.type != "comment":
                yield from ((child, bound) for bound in self._pack(child) or self.several(child) or (None,))

    def several(self, node: Node) -> tuple[Bound, ...]:
        """The values that a macro stands for: in `f(ARGS)`, where `ARGS` is `a, b`."""
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        name = self.raw(called or node) if called is not None or node.type.endswith("identifier") else ""
        bound = self.bindings.get(name)
        if bound is not None:
            name = self.spelled(bound)
        macro = self.macro(name, node)
        if macro is None or b"," not in macro.body or macro.name in self.expanding:
            return ()
        parsed = self.file.macro_body(macro, False)
        inner = first_named(parsed[0]) if parsed is not None else None
        if parsed is None or inner is None or inner.type != "comma_expression":
            return ()
        found: list[Node] = []
        while inner is not None and inner.type == "comma_expression":
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            found += [left] if left is not None else []
            inner = right
        found += [inner] if inner is not None else []
        bindings: Mapping[str, Bound] = {}
        if called is not None and (given := node.child_by_field_name("arguments")) is not None:
            bindings = self.bind(macro, [child for child in given.named_children if child.type != "comment"]) or {}
        around = self.place, self.effects, self.branches, False, (*self.expanding, macro.name)
        return tuple(Bound(one, parsed[1], bindings, 0, (), *around) for one in found)

    def _pack(self, node: Node) -> tuple[Bound, ...]:
        """What `__VA_ARGS__` stands for."""
        around = self.bindings.get(self.raw(node)) if node.type == "identifier" else None
        return tuple(replace(around, node=one, uses=0, rest=()) for one in around.rest) if around is not None else ()

    def call(self, node: Node, target: Expr | None, used: bool) -> Expr:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return self.other(node)
        if node.child_count > 2:
            for child in node.children:
                if child.type == "kernel_call_syntax":
                    return self._launch(node, function, child, arguments)
        cast = cast_argument(self.raw, node)
        if cast is not None:
            given = self.value(cast, self.unless_deduced(target), used)
            if cast_type(self.raw, node).endswith("&&"):
                self.may_move(node, given)
            return self.ended(node, cast_type(self.raw, node), given)
        bracketed = function.type == "parenthesized_expression"
        while function.type == "parenthesized_expression" and (inner := first_named(function)) is not None:
            function = inner
        function = sites.of_the_global_scope(function)
        kind = function.type
        if bracketed and kind == "identifier" and not self._is_function(self.raw(function)):
            operand = first_named(arguments) if arguments is not None else None
            cast_to = self.raw(function)  # `(T)(x)`
            return self.ended(node, cast_to, self.value(operand, target, used)) if operand is not None else Opaque(())
        named = function.child_by_field_name("name") if kind == "template_function" else function
        bound = self.bindings.get(self.raw(named)) if named is not None else None  # `func<int>(x)`, `func(x)`
        if kind in ("identifier", "template_function"):
            if bound is not None and bound.node.type in ("identifier", "qualified_identifier"):
                name = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
                return self._named(node, function, arguments, name, target, used, "the name is an argument of a macro")
            if bound is not None:
                called = self.in_argument(bound, self.value)
                if not isinstance(called, FuncRef):
                    return self._called_object(node, function, arguments, called, target, used)
                values, spans = self.arguments(arguments)
                return self.emit_call(node, function, called.name, values, spans, None, target, used)
        if kind == "identifier" and self._is_no_callee(self.raw(function)):
            return self.unread(ir.NOT_PARSED, node)
        if kind == "identifier":
            return self._named(node, function, arguments, self.raw(function), target, used, bracketed=bracketed)
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
        if kind == "call_expression" and (pointer := pointer_to_function(self, node)) is not None:
            return pointer
        if kind == "call_expression" and (picked := self._picked(function)) is not None:
            fixed = None if picked in self.file.macros else "a macro picks the name"
            return self._named(node, function, arguments, picked, target, used, fixed)
        callee = self.value(function)
        written = function.child_by_field_name("type" if kind == "compound_literal_expression" else "function")
        if self.class_at(callee) is None and written is not None:
            name = plain_name(self.raw(written))
            standard = name.startswith("std::") and NUMBER_OBJECT.match(name) is not None
            if kind == "compound_literal_expression" or standard or self.file.index.class_of(name) is not None:
                callee = self.temporary(name)  # `Add{}(x, y)`, `std::hash<T>()(x)`
        return self._called_object(node, function, arguments, callee, target, used)

    def _is_no_callee(self, name: str) -> bool:
        """Whether no call of C++ can have this name: a keyword, or a variable that is a number. What reads as one is
        text that the grammar has recovered from, around a macro for example.
        """
        if name in _STATEMENT_KEYWORDS:
            return True
        return name not in self.file.macros and self.local(name) is not None and is_number(self.type_of(Var(name)))

    def _called_object(
        self, node: Node, function: Node, arguments: Node | None, place: Expr, target: Expr | None, used: bool
    ) -> Expr:
        """A call of what a place holds: of the `operator()` of an object, or through a pointer."""
        kind = self.type_of(place)
        if NUMBER_OBJECT.match(kind):  # `std::less<>()(x, y)` runs the operator of the class of these
            values = self.arguments(arguments)[0]
            self.hands_over(node, kind if kind.startswith("std::") else f"std::{kind}", values)
            return opaque(place, *values)
        cls = self.file.index.class_of(kind)
        known = cls is not None and "operator()" in cls.methods
        if not known and (cls is not None or not self._is_object(kind)):
            return self._computed(node, place, arguments, target)
        values, spans = self.arguments(arguments)
        return self.emit_call(node, function, "operator()", values, spans, place, target, used)

    def _keeps_its_lambda(self, place: Var, name: str) -> bool:
        """Whether a variable holds the lambda that it was given, whatever else is done: one of the lambda's own type,
        or one that is set where that stands, and else only called or read.
        """
        others = re.findall(rb"(?<![\w.>:])" + name.encode() + rb"\b(?!\s*[(;\]])", self.text)
        return "auto" in self.type_of(place) or len(others) <= 1

    def _picked(self, node: Node) -> str | None:
        """The name that a macro picks out of its arguments by their number: `PICK(__VA_ARGS__, F3, F2, F1)(…)`, where
        `PICK(_1, _2, _3, NAME, ...)` is `NAME`.
        """
        macro = self.macro(self.callee_text(node), node)
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
        if "(" in plain or plain == "void":  # `void (*)()`, and what a pointer of that type leads to
            return False
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
        values = self.for_any(node, arguments, self.arguments(arguments)[0])
        return self.through_pointer(node, (callee, *values))

    def _named(
        self, node: Node, function: Node, arguments: Node | None, name: str, target: Expr | None, used: bool,
        fixed: str | None = None, bracketed: bool = False,
    ) -> Expr:  # fmt: skip
        macro = self.macro(name, node)
        if bracketed and macro is not None and macro.params is not None:
            macro = None  # a macro with parameters is used where its parenthesis follows (C++17, 19.3 [cpp.replace] 10)
        if "::" in name and macro is None:
            name = self.file.index.in_a_library(self._by_macro(name))
        elif macro is None and sites.is_api(name):
            name = self.file.index.hidden_by(name, self.namespace)
        if macro is None and name not in self.file.hosts:
            if name in UNEVALUATED:
                return Opaque(())
            if name in PERHAPS_EVALUATED:
                return self.perhaps(node, name, lambda: opaque(*self.arguments(arguments)[0]))
            if self.file.takes_away(name):
                return self.perhaps(node, "NDEBUG", lambda: self._asserted(node, arguments))
        if macro is not None and self._may_be_unseen(macro, arguments):
            return self._perhaps_unseen(node, function, macro, arguments, fixed)
        if macro is not None and name not in self.expanding:
            kept, self.fixed = self.fixed, self.fixed or fixed
            done = self._macro(node, function, macro, arguments, target, used)
            self.fixed = kept
            if done is not None:
                return done
            names = [one.name_instead for one in macro.either or (macro,)]
            if all(names):
                reason = f"the name is made by the macro `{macro.name}`"
                if macro.either:
                    return self._one_of_names(macro, reason, node, function, arguments, used)
                name, fixed = self.last_name(macro, node), reason
                inner = self.macro(name, node)
                if inner is not None and inner.params is not None and name not in self.expanding and not bracketed:
                    return self._named(node, function, arguments, name, target, used, fixed)  # with what follows here
            elif self.hiding(name, node) is not None and self._names_another(name):
                return self._unread(macro, node, self.arguments(arguments)[0])
        elif fixed is None:
            checked = self.checked(node)
            if checked is not None:
                return self._through(arguments, checked, target)
        call = Call(node, function, arguments, name, self.file.is_own(name), target, used)
        if (value := of_the_library(self, call)) is not None:
            return value
        if kind := self._measured(function):  # `decltype(x)(y)`
            empty = Type.of(kind).deduced.positions and arguments is not None and not arguments.named_child_count
            if is_number(kind) or empty:
                return opaque(*self.arguments(arguments)[0])
        local = self.local(name) if "::" not in name else None
        if isinstance(local, Var) and local.name in self.lambdas and self._keeps_its_lambda(local, name):
            call = call._replace(name=self.lambdas[local.name])
        elif (value := self._object_or_conversion(call, local)) is not None:
            return value
        return self._function(call, local is not None, fixed)

    def _object_or_conversion(self, call: Call, local: Expr | None) -> Expr | None:
        """What a call of an object, the `local` one or another, or of a function of the library that only computes, and
        a conversion give; None for a call of any other function.
        """
        node, function, arguments, name, own, target, used = call
        if local is not None:
            return self._called_object(node, function, arguments, local, target, used)
        if (place := self._object_named(function, name)) is not None:
            return self._called_object(node, function, arguments, place, target, used)
        if name in self.file.index.given and name not in self.file.hosts:
            return self._computed(node, Var(name), arguments, target)
        if own:
            return None
        if (meant := self.active(name)) not in ("", name):  # another name of it
            result = target if target is not None else self.temporary(meant)
            self.initialize(node, result, meant, *self.arguments(arguments))
            return result
        plain = name.removeprefix("std::")
        if not (name in PURE or plain in PURE or self.file.index.is_type(plain)):
            return None
        values, spans = self.arguments(arguments)
        self.hands_over(node, name, values)
        self.copied(node, self.raw(function), values)
        if Type.of(self.raw(function)).library.parts:
            self.made_of_unseen(node, self.raw(function), values)
        if plain in COMPARING:
            self.compared(node, values)
        if plain == "make_pair" and (pair := self._pair_of(node, function, values)) is not None:
            return pair
        one = one_of(self, node, name, arguments, values)
        pointers = not name.startswith("std::") and any(is_pointer(self.type_of(value)) for value in values)
        if pointers or is_given_comparison(name, arguments):
            back = self.emit_call(node, function, name, values, spans, None, None if one else target, used)
            return or_one(back, one)
        return one or opaque(*(part for value in values for part in self.held_by(value)))

    def _function(self, call: Call, is_lambda: bool, fixed: str | None) -> Expr:
        """A call of a function, a method of the object around, or a constructor; or through a pointer."""
        node, function, arguments, name, own, target, used = call
        if name in _LEAVES_FUNCTION:
            self.problems.append(("control_flow", self.span(node).start))
        values, spans = self.arguments(arguments)
        self.copied(node, self.raw(function), values)
        if (cls := self._class_made(function, name, is_lambda)) is not None:
            return self._construct(node, function, cls, values, spans, target)
        if not is_lambda:
            self.meets_several(node, name)
        receiver: Expr | None = None
        if not is_lambda and "::" not in name:
            lineage = list(self.file.index.lineage(self.cls)) if self.cls is not None else []
            inherited = bool(lineage) and name not in lineage[0].methods
            if any(name in cls.methods for cls in lineage):
                # not looked up in a base that depends on a parameter (C++17, 17.6.2 [temp.dep] 3): either may be meant
                receiver = Deref(Var("this")) if not (inherited and lineage[0].templated) else None
            elif name not in self.file.hosts:
                place = self.resolve_variable(name, function)
                if place is not None:
                    return self.through_pointer(node, (place, *values))
        if not is_lambda and "::" in name:
            name = self._through_type(name)
        if receiver is None and not self._is_function(name) and self.file.may_be_made(name.rpartition("::")[2]):
            self.unread(f"`{name}`, which a macro may define", node)
            return opaque(*values)
        one = one_of(self, node, name, arguments, values) if not own else None
        target = None if one is not None else target
        kept = self.fixed
        self.fixed = self.fixed or fixed
        try:
            back = self.emit_call(node, function, name, values, spans, receiver, target, used, pasted=fixed is not None)
        finally:
            self.fixed = kept
        return or_one(back, one)

    def _class_made(self, function: Node, name: str, is_lambda: bool) -> Class | None:
        """The class of which a call makes an object."""
        index = self.file.index
        if "unique_ptr" in name and (cls := index.class_of(tidy(function, self.source.text))) is not None:
            return cls
        if is_lambda:
            return None
        return index.class_named(plain_name(name)) if "::" in name else index.class_of(name)

    def _object_named(self, function: Node, name: str) -> Expr | None:
        """The data member or qualified variable that a name without an object means. A member hides functions at
        namespace scope (C++17, 6.4.1 [basic.lookup.unqual] 8); `::name` of which nothing is seen is a function:
        `::sqrtf(x)`.
        """
        if "::" not in name:
            lineage = self.file.index.lineage(self.cls)
            hides = any(name in cls.fields or name in cls.statics for cls in lineage)
            return self.resolve_variable(name, function) if hides else None
        place = self.qualified(function)
        outermost = name.rpartition("::")[0] == ""
        return place if isinstance(place, Var) and not (outermost and place.name not in self.types) else None

    def _measured(self, function: Node) -> str:
        """The type of a variable of this function where `decltype(x)` stands; empty for anything else."""
        written = self.file.original[function.start_byte : function.end_byte] if not self.source.shift else b""
        found = _MEASURED.fullmatch(written)
        place = self.local(found[1].decode()) if found is not None else None
        return self.type_of(place) if place is not None else ""

    def _through_type(self, name: str) -> str:
        """The callee of `T::f()`, where `T` stands for a class: an alias, or the parameter of a template."""
        index = self.file.index
        scope, _, last = name.rpartition("::")
        if scope and index.is_one_of_seen(scope):
            return ir.any_of([last])
        if not index.names_type(scope.partition("::")[0]) and not index.is_brought(scope):
            return name
        meanings = index.meanings(scope)
        classes = {cls.name for kind in meanings if (cls := index.class_of(kind)) is not None}
        if len(classes) == len(meanings) == 1:
            return f"{classes.pop()}::{last}"
        if not classes and len(meanings) == 1 and meanings != (scope,):
            return f"{meanings[0]}::{last}" if index.is_brought(scope) else name
        return ir.any_of([last]) if classes or meanings == (scope,) else name

    def _asserted(self, node: Node, arguments: Node | None) -> Expr:
        checked = self.checked(node)
        return self._through(arguments, checked, None) if checked else opaque(*self.arguments(arguments)[0])

    def _may_be_unseen(self, macro: Macro, arguments: Node | None) -> bool:
        """Whether a macro with parameters may be another one, of a header that is not here. Checks of calls of the API
        are taken to be checks, as those are that no file defines.
        """
        if macro.params is None or macro.name in self.expanding or macro.name in self.seen_as_written:
            return False
        is_check = arguments is not None and _CALLS_API.search(self.raw(arguments)) is not None
        return not (is_check or computes_a_number(macro.name)) and self.file.index.is_perhaps_unseen(macro.name)

    def _perhaps_unseen(
        self, node: Node, function: Node, macro: Macro, arguments: Node | None, fixed: str | None
    ) -> Expr:
        """A use of a macro that is the one which is seen, or another one."""

        def another() -> Expr:
            values, spans = self.arguments(arguments)
            return self.emit_call(node, function, macro.name, values, spans, None, None, True)

        def seen() -> Expr:
            return self._named(node, function, arguments, macro.name, None, True, fixed)

        self.seen_as_written.add(macro.name)
        values = [self.perhaps(node, macro.name, run) for run in (another, seen)]
        self.seen_as_written.discard(macro.name)
        return opaque(*values)

    def _by_macro(self, name: str) -> str:
        """A name with a scope or an object in front, as `Declarations.renamed` has it."""
        scope, separator, last = name.rpartition("::")
        macro = self.file.macros.get(last)
        return f"{scope}{separator}{(macro.name_instead if macro is not None else '') or last}"

    def _names_another(self, name: str) -> bool:
        """Whether the name of a macro is also that of a function, or of an object that may be called."""
        return sites.is_api(name) or name in PURE or self.local(name) is not None or self.file.is_own(name)

    def _one_of_names(
        self, macro: Macro, reason: str, node: Node, function: Node, arguments: Node | None, used: bool
    ) -> Expr:
        """A call of a name that a macro makes one of several."""
        kept, self.expanding = self.expanding, (*self.expanding, macro.name)
        try:
            return self.any_of(
                macro, node, lambda one: self._named(node, function, arguments, one.name_instead, None, used, reason)
            )
        finally:
            self.expanding = kept

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
        values = self._as_given(node, callee, listed, values)
        span = self.span(node)
        name_span, template_args, class_args = self._name_of(name_node)
        class_args = class_args or self._arguments_of_alias(name_node, callee)
        scope = ""
        if ir.is_any_of(callee) and name_node.type == "qualified_identifier":
            around = name_node.child_by_field_name("scope")
            scope = self.raw(around) if around is not None and self.raw(name_node).count("::") == 1 else ""
        if pasted:
            name_span = Span(span.path, span.start, span.start)
        if callee.removeprefix("std::") in COMPARING and callee not in self.file.hosts:
            self.compared(node, values)
        elif receiver is not None and Type.of(self.type_of(receiver)).library.compares:
            self.compared(node, (receiver,))
        if callee not in self.file.hosts and not sites.is_api(callee) and callee.startswith("std::"):
            self._applied(node, values)
        kind = self._given_by(callee, receiver)
        if target is not None and self._is_converted(kind, self.type_of(target)):
            target = None
        made = self._made_by(node, callee)
        result = self._result(callee, receiver, target, used, kind, made)
        site = self._site_of_call(node, callee)
        if isinstance(target, Var) and receiver is not None and self.may_be_overloaded(receiver):
            self.views.add(target.name)
        self._lends_arguments(node, callee, values)
        look = Look.CHECKED if used else Look.IGNORED
        call = ir.Call(
            callee,
            values,
            span,
            name_span,
            span.end - 1,
            site,
            spans,
            receiver,
            result,
            look,
            template_args,
            scope,
            class_args,
        )
        either: ir.Stmt = call
        for given, places in self._of_other_lengths(callee, listed, values, spans):
            other = replace(call, args=given, arg_spans=places)
            either = ir.If(ir.Test("other", None, "the length of a pack"), (other,), (either,), span)
        self.emit(either)
        for value in values:
            if isinstance(value, (Addr, ir.Offset)):
                self._changes_bytes(node, value.base)
            elif callee in ("std::swap", "swap", "std::exchange"):
                self._changes_bytes(node, value)
        if made is not None and target is None and isinstance(result, Var):
            self._ends(node, result, made)
        return result if result is not None else Opaque(())

    def _as_given(self, node: Node, callee: str, listed: Node | None, values: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The arguments of a call as the function gets them; what it may do to them, as nobody knows it."""
        if listed is not None:
            nodes = [at for at, _ in self._listed(listed)]
            values = self.converted(node, callee, nodes, values)
            if sites.is_api(callee):
                values = tuple(self.as_handle(at, value) for at, value in zip(nodes, values, strict=True))
        if not sites.is_api(callee):
            self.hands_over(node, callee, values)
            if _PRINTS.search(callee) is not None:
                self._counts_characters(node, listed, values)
        for number, value in enumerate(values):
            params = self.file.index.parameters_at(callee.rpartition("::")[2], number, len(values))
            if params is None or not all(p.by_reference for p in params):
                self.hands_on(node, value)
        return values

    def _name_of(self, node: Node) -> tuple[Span, str, str]:
        """Where the name of a callee is, without its template arguments, these, and those of its class."""
        of_class = ""
        if node.type in ("template_function", "template_method", "qualified_identifier"):
            at = node
            while at.type == "qualified_identifier" and (inner := at.child_by_field_name("name")) is not None:
                outer, at = at.child_by_field_name("scope"), inner
                given = outer.child_by_field_name("arguments") if outer is not None else None
                of_class = tidy(given, self.source.text)[1:-1].strip() if given is not None else ""
            written = at.child_by_field_name("arguments")
            if written is not None:
                name = at.child_by_field_name("name")
                span = self.span(name if name is not None else node)
                return span, tidy(written, self.source.text)[1:-1].strip(), of_class
        return self.span(node), "", of_class

    def _arguments_of_alias(self, node: Node, callee: str) -> str:
        """The template arguments of the class that another name in front of a callee stands for, `?` if they are not
        known: that class may be another instantiation of a template than its own name means there.
        """
        scope = node.child_by_field_name("scope") if node.type == "qualified_identifier" else None
        written = plain_name(self.raw(scope)) if scope is not None else ""
        if written.rpartition("::")[2] == callee.rpartition("::")[0].rpartition("::")[2]:
            return ""
        meanings = self.file.index.meanings(written) if written else ()
        given = ir.template_arguments(meanings[0]) if len(meanings) == 1 else []
        return ", ".join(given) or "?" * bool(written)

    def _result(
        self, callee: str, receiver: Expr | None, target: Expr | None, used: bool, kind: str, made: Class | None
    ) -> Expr | None:
        """Where a call puts what it returns, of a `kind`, or an object of a class that it has `made`."""
        if target is None and (used or made is not None):
            return self.temporary(made.type if made is not None else kind)
        if isinstance(target, Var) and self.types.get(target.name, "auto").startswith("auto"):
            known = made.type if made is not None else kind if kind.startswith("std::") else ""
            if "::" not in callee and not kind.endswith("&") and self.file.index.class_behind(kind) is not None:
                known = known or kind
            if not known and receiver is None and "::" in callee and callee.rpartition("::")[2][:1].isupper():
                known = callee if self.is_unseen(callee) else ""  # by its name, a constructor
            self.types[target.name] = known or self.types.get(target.name, "auto")
        return target

    def _site_of_call(self, node: Node, callee: str) -> Site:
        body = self.file.hosts.get(callee.rpartition("::")[2])
        plain_body = body is not None and b"(" not in body and b"delete" not in body
        self.plain_call = plain_body or (callee.rpartition("::")[2] in QUIET and not self.file.is_own(callee))
        site = self.site(node)
        self.plain_call = False
        if site.prefix.strip() and _RUNTIME.match(callee):  # another library's statuses may be another type
            self.file.styles.saw((site.prefix, site.suffix), site.span)
        return site

    def _lends_arguments(self, node: Node, callee: str, values: tuple[Expr, ...]) -> None:
        """A call may change what it is given the address of, or a reference to."""
        flags = self.file.index.by_reference.get(callee.rpartition("::")[2], ()) if callee in self.file.hosts else ()
        for number, value in enumerate(values):
            if isinstance(value, Addr):
                self.bump(value.base)
                self.lend(node, value.base)
            elif number < len(flags) and flags[number]:
                self.bump(value)
                self.lend(node, value)

    def _counts_characters(self, node: Node, listed: Node | None, values: tuple[Expr, ...]) -> None:
        """`%n` in a format stores a number (C17, 7.21.6.1 [fprintf] 8); a format that is not written may have one."""
        written = self.raw(listed) if listed is not None else ""
        stored = tuple(value for value in values if isinstance(value, Addr))
        if stored and ('"' not in written or _COUNTS.search(written) is not None):
            self.unknown("a format that stores a number", node, stored)
            for value in stored:
                self.store(value.base, opaque(value.base), node)

    def _of_other_lengths(
        self, callee: str, listed: Node | None, values: tuple[Expr, ...], spans: tuple[Span, ...]
    ) -> Iterator[tuple[tuple[Expr, ...], tuple[Span, ...]]]:
        """The arguments of a call that expands a pack, for each number of them that another function of the name takes:
        a pack may have any number of elements, and none (C++20, 13.7.4 [temp.variadic] 8).
        """
        nodes = [at for at, _ in self._listed(listed)]
        packs = [n for n, at in enumerate(nodes) if at.type == "parameter_pack_expansion"]
        if len(packs) != 1 or sites.is_api(callee):
            return
        (at,) = packs
        taken = {len(params) for params in self.file.index.taken(callee.rpartition("::")[2])}
        for count in sorted(taken - {len(values)}):
            more = count - len(values) + 1
            if more >= 0:
                yield (
                    (*values[:at], *values[at : at + 1] * more, *values[at + 1 :]),
                    (*spans[:at], *spans[at : at + 1] * more, *spans[at + 1 :]),
                )

    def _changes_bytes(self, node: Node, place: Expr) -> None:
        """A call may write the numbers in a member of a union: they are the bytes of what its other members hold."""
        field = place
        while isinstance(field, ir.Index):
            field = field.base
        kind = self.type_of(field)
        if not isinstance(field, ir.Field) or not is_number(elements(kind)[0]):
            return
        for other in list(self.overlaid(field)):
            self.touch(node, ir.Index(field, Opaque(())), write=True)
            self.touch(node, other, write=True)

    def _method(self, node: Node, function: Node, arguments: Node | None, target: Expr | None, used: bool) -> Expr:
        argument, name_node = function.child_by_field_name("argument"), function.child_by_field_name("field")
        operator = function.child_by_field_name("operator")
        if argument is None or name_node is None:
            return self.other(node)
        arrow = operator is not None and operator.type == "->"
        receiver = self.pointed(function, argument) if arrow else self.lvalue(argument)
        if self._is_to_member(function) or self._is_to_member(argument):  # `(o.*f)(x)`, `(o.*p.f)(x)`
            values, _ = self.arguments(arguments)
            return self.through_pointer(node, (Opaque(()), receiver, *values))
        name = self._by_macro(plain_name(self.raw(name_node)))
        if not arrow and name in _ON_ELEMENTS and "<" in (kind := self.type_of(receiver)) and not self.is_unseen(kind):
            self.begin_unseen(node, receiver, kind)
        if not arrow and isinstance(receiver, Var) and receiver.name in self.owning and name == "get":
            return receiver
        if not arrow and name in _FILLS_A_ROW and (row := held_objects.row_at(self, receiver)) is not None:
            return held_objects.row_method(self, node, name, receiver, row, arguments)
        if not arrow and isinstance(receiver, Var) and receiver.name in self.optional:
            return held_objects.optional_method(self, node, name, receiver, arguments)
        if name in self.file.macros:
            self.unwritten.add("")  # it stands for any method
        kind = self.type_of(receiver)
        if ir.member_of_pair(kind, name) is not None:  # a data member that can be called
            return self._called_object(node, function, arguments, Field(receiver, name), target, used)
        cls = self.file.index.class_of(kind) if kind else None
        if cls is not None and cls.deleter:
            values, _ = self.arguments(arguments)
            element = isinstance(receiver, Index) and held_objects.row_at(self, receiver.base) is not None
            if name in cls.methods and not (name == "release" and element):  # which one is left empty, is not known
                return self._of_owner(node, cls, name, values, receiver)
            return self.let_go(node, "a smart pointer that is handed on", cls, (receiver, *values))
        if cls is not None:
            if name in cls.fields and name not in cls.methods:
                return self._computed(node, Field(receiver, name), arguments, target)
        elif (
            value := self._standard_method(node, name_node, name, receiver, kind, arguments, target, used)
        ) is not None:
            return value
        values, spans = self.arguments(arguments)
        if cls is None and name.startswith("compare_exchange_") and values and self._is_small_number(values[0]):
            for changed in (receiver, values[0]):
                self.touch(node, changed)
                self.touch(node, changed, write=True)
            self.store(values[0], opaque(receiver, *values), node)
            return opaque(receiver, *values)
        library = Type.of(kind).library
        of_atomic = cls is None and library.atomic
        if name.startswith("compare_exchange_") and of_atomic and len(values) > 1 and isinstance(values[0], PLACES):
            return self._compare_exchange(node, receiver, values[0], values[1])
        if name in _CHANGES and self.holds_numbers(kind):
            self.touch(node, Index(receiver, Opaque(())))
            self.touch(node, Index(receiver, Opaque(())), write=True)
        if name in _ADDS and Type.of(kind).deduced.positions and arguments is not None:
            values = self._elements_of(arguments, kind, values)
        if name in _COPIES:
            self.copied(node, kind, values)
        if cls is None:
            self.copied_inside(node, kind, values)
        if cls is None and name in _MAKES_ELEMENTS and library.parts:
            behind = name in ("emplace", "insert", "emplace_hint") and library.sequence
            self._makes_elements(node, receiver, kind, values[1:] if behind else values)
        if name == "resize":
            self.may_shrink(node, receiver, values)
        result = self.emit_call(node, name_node, name, values, spans, receiver, target, used)
        if name == "resize":
            self.takes_size(node, receiver, values)
        return result

    def _standard_method(
        self,
        node: Node,
        name_node: Node,
        name: str,
        receiver: Expr,
        kind: str,
        arguments: Node | None,
        target: Expr | None,
        used: bool,
    ) -> Expr | None:
        """What a method of the standard library gives that only looks at its object, or at elements of it; None for any
        other method.
        """
        if ATOMIC_REF.match(kind):
            return self._of_atomic_reference(node, receiver, name, self.arguments(arguments)[0])
        library = Type.of(kind).deduced
        if library.atomic and name in _ATOMIC_METHODS and arguments is not None:
            given = [child for child in arguments.named_children if child.type != "comment"]
            if name == "exchange" and given:
                return exchange(self, node, receiver, given[0])
            if name == "store" and given:
                self.assign(receiver, given[0], node, node)
                return Opaque(())
            self.touch(node, receiver)
            return receiver
        container = library.positions or (self.may_be_any(kind) and not self.file.index.is_member(name))
        unknown = not kind and not self.file.index.is_member(name)
        if name == "at" and (container or unknown or library.pairs):
            values, _ = self.arguments(arguments)
            place = Index(receiver, values[0] if values else Opaque(()))
            self.touch(node, place)
            self.emit(ir.HostAccess((place,), (), self.span(node), throws=True))
            return place
        if name in _INTO and container:
            place = Index(receiver, Opaque(()))
            if name in _ELEMENTS:
                self.touch(node, place)
                return place
            return Addr(place)
        if keeps_references(kind):
            self.touch(node, receiver)
        adapted = Type.of(kind).arguments[:1] if library.adaptor and name in _OF_ADAPTORS else ()
        if any(map(self.file.index.means_number, adapted)):
            self.touch(node, Index(receiver, Opaque(())))
        if name not in LOOKING or self._may_be_own(kind.rstrip(" &*."), name):
            return None
        values, spans = self.arguments(arguments)
        self.copied_inside(node, kind, values)
        if any(is_pointer(self.type_of(value)) for value in values):
            return self.emit_call(node, name_node, name, values, spans, receiver, target, used)
        if name not in _ITERATORS:
            return opaque(receiver, *values)
        place = Index(receiver, Opaque(()))  # through an iterator, the elements are stored in too
        return opaque(receiver, place, Addr(place), *values)

    def emptied(self, node: Node, place: Var) -> Expr:
        return held_objects.emptied(self, node, place)

    def _makes_elements(self, node: Node, receiver: Expr, kind: str, values: tuple[Expr, ...]) -> None:
        """A container makes an element of what it is given, by reference: a constructor of the program runs, and may
        keep the address of that; so does `std::reference_wrapper` ([container.requirements], [refwrap.const]).
        """
        places = [value for value in values if isinstance(value, PLACES)]
        many = Type.of(kind).deduced.positions or pointee(kind)
        element = Index(receiver, Opaque(())) if many else receiver
        if keeps_references(kind) and places:
            for address in map(self.address, places):
                self.emit(ir.Assign(element, address if many else opaque(receiver, address), self.span(node)))
        for one in ir.template_arguments(kind):
            cls = self.file.index.class_of(one)
            if cls is None or one.endswith("*") or not self.file.index.has(cls, cls.constructor):
                continue
            if any(self.file.index.class_of(self.type_of(value)) is cls for value in places):
                continue  # it is copied
            made = self.temporary(cls.name)
            self.perhaps(node, f"a `{cls.name}` is made", partial(self._made, node, made, cls.name, values))
            self.emit(ir.Assign(element, made if many else opaque(receiver, *self.held_by(made)), self.span(node)))

    def _made(self, node: Node, place: Expr, kind: str, values: tuple[Expr, ...]) -> Expr:
        self.initialize(node, place, kind, values)
        return place

    def _of_atomic_reference(self, node: Node, receiver: Expr, name: str, values: tuple[Expr, ...]) -> Expr:
        """A method of `std::atomic_ref` works on the object that it was made of ([atomics.ref.ops]): that may get what
        the method is given, and what it holds may become the value of the call and that of what was expected.
        """
        place, span = Deref(receiver), self.span(node)
        self.touch(node, receiver)
        expected = values[0] if name.startswith("compare_exchange_") and values else None
        back = ir.Choice((place, opaque(receiver, *values)))
        if values:
            self.emit(ir.Assign(place, ir.Choice((place, opaque(*values))), span))
        if isinstance(expected, PLACES):
            self.touch(node, expected, write=True)
            self.emit(ir.Assign(expected, ir.Choice((expected, back)), span))
            return Opaque(())
        return back

    def _compare_exchange(self, node: Node, place: Expr, expected: Expr, desired: Expr) -> Expr:
        """The object gets what is desired, or what was expected becomes what it holds ([atomics.types.operations])."""
        span = self.span(node)
        for changed in (place, expected):
            self.touch(node, changed)
            self.touch(node, changed, write=True)
        stored, loaded = ir.Assign(place, desired, span), ir.Assign(expected, place, span)
        self.emit(ir.If(ir.Test("other", None, self.condition_text(node)), (stored,), (loaded,), span))
        return Opaque(())

    def _is_small_number(self, value: Expr) -> bool:
        """Whether a value is a number that no address fits into."""
        kind = self.type_of(value)
        return is_number(kind) and WIDE.search(kind) is None

    def _may_be_own(self, kind: str, method: str) -> bool:
        """Whether a method of an object of this type, which is no class that is seen, may be one of the program's."""
        index = self.file.index
        return any(map(self._is_open, index.meanings(kind))) if kind else index.is_member(method)

    def _pair_of(self, node: Node, function: Node, values: tuple[Expr, ...]) -> Expr | None:
        """What `make_pair(a, b)` returns, an object that holds these two (C++17, 23.4.3 [pairs.spec] 8); None where one
        may be an object, which is copied, or made of what is given.
        """
        given = ["void (*)()" if isinstance(value, FuncRef) else self.type_of(value) for value in values]
        given = [
            "int" if isinstance(v, Const) and v.text.isdecimal() else k for v, k in zip(values, given, strict=True)
        ]
        kinds = ir.template_arguments(self.raw(function)) or given
        if len(values) != 2 or len(kinds) != 2:
            return None
        if any(self.file.index.class_of(kind) or self.is_unseen(kind) for kind in (*kinds, *given) if kind):
            return None
        for value, kind in zip(values, given, strict=True):
            if not kind and not isinstance(value, Const | Addr) and self.may_lead(value):
                return None
        made = self.temporary(f"std::pair<{', '.join(kinds)}>" if all(kinds) else "")
        for name, value in zip(("first", "second"), values, strict=True):
            self.emit(ir.Assign(Field(made, name), value, self.span(node)))
        return made

    def _is_to_member(self, node: Node) -> bool:
        """Whether it is `o.*m`."""
        operator = node.child_by_field_name("operator") if node.type == "field_expression" else None
        return operator is not None and operator.type.endswith("*")

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
        settings, _ = self.arguments(config)
        bound = self.bindings.get(self.raw(function)) if function.type == "identifier" else None
        if bound is not None:
            written = bound.source.text[bound.node.start_byte : bound.node.end_byte].decode("utf-8", "replace")
        else:
            written = self.raw(function)
        kernel = plain_name(written.strip("()& "))
        macro = self.macro(kernel, node)
        if macro is not None and macro.params is None and re.fullmatch(rb"[\w:<>, ]+", macro.body.strip()):
            kernel = plain_name(macro.body.decode("utf-8", "replace").strip())
        self.memcpied = self._memcpied(kernel, arguments)
        values, _ = self.arguments(arguments)
        self.memcpied = frozenset()
        stream = self.as_handle(config, settings[3]) if len(settings) > 3 else None
        self.emit(
            ir.Launch(kernel, values, stream, self.span(node), self.site(node), self._kernel_pointer(kernel, node))
        )
        return Opaque(())

    def _memcpied(self, kernel: str, arguments: Node | None) -> frozenset[int]:
        """The arguments of a launch that are variables of a class that is not seen and become parameters of that class:
        no conversion is looked for (C++17, 11.6 [dcl.init] 17.6.1).
        """
        listed = [child for child, bound in self._listed(arguments) if bound is None]
        found = set()
        for number, child in enumerate(listed if listed == list(_written(arguments)) else ()):
            variable = self.local(self.raw(child)) if child.type == "identifier" else None
            own = self.unseen(kind) if variable is not None and self.is_unseen(kind := self.type_of(variable)) else None
            params = self.file.index.parameters_at(kernel.rpartition("::")[2], number, len(listed)) or []
            if own is None or not params or any(p.by_reference or not self.is_unseen(p.type) for p in params):
                continue
            if all(self.unseen(p.type) is own for p in params):
                found.add(child.id)
        return frozenset(found)

    def _kernel_pointer(self, name: str, node: Node) -> Expr | None:
        """What leads to the kernel of a launch, where name lookup finds something else than a kernel first."""
        if name.isidentifier() and name in self.file.index.given and self.local(name) is None:
            return Opaque(())  # an argument of the template
        found = self.resolve(name, node) if name.isidentifier() else None
        unseen = found == Var(f"::{name}") and self._named_global(name) is None  # of another file
        return None if found is None or unseen or isinstance(found, FuncRef) else found

    # -- macros -------------------------------------------------------------------------------------------------------

    def _macro(
        self, node: Node, function: Node, macro: Macro, arguments: Node | None, target: Expr | None, used: bool
    ) -> Expr | None:
        """A use of a macro with arguments; None where it is an ordinary call after all."""
        nodes = [c for c in arguments.named_children if c.type != "comment"] if arguments is not None else []
        if macro.params is None:
            return None
        expands = any(len(self._pack(one)) > 1 for one in nodes)  # `__VA_ARGS__` is several arguments
        if macro.either:

            def read(one: Macro) -> Expr:
                done = self._macro(node, function, one, arguments, None, used)
                return self._unread(one, node, self.arguments(arguments)[0]) if done is None else done

            return self.any_of(macro, node, read)
        # what is evaluated of the other arguments, and when, the body says; of one not seen nothing is known
        acts = macro.path and any(_acts(child) for n, child in enumerate(nodes) if n != macro.passes)
        if macro.kind == "transparent" and not expands and not acts and not self._vanishes(macro):
            checked = self.checked(node)
            if checked is None:
                return self._unread(macro, node, self.arguments(arguments)[0])
            return self._through(arguments, checked, target)
        bindings = self.bind(macro, nodes)
        if bindings is not None and b"##" in macro.body:
            done = self.expand(macro, bindings, node, want_value=used or target is not None)
            if done is not None:
                return done
        if macro.kind == "rename":
            return self._pasted(node, macro, bindings, nodes, target, used)
        if bindings is not None and macro.kind in ("operates", "constant", "transparent"):
            done = self.expand(macro, bindings, node, want_value=used or target is not None or macro.kind == "constant")
            if done is not None:
                return done
        if macro.kind == "opaque":  # it may evaluate what it is given, or not
            return self._unread(
                macro, node, (self.perhaps(node, macro.name, lambda: opaque(*self.arguments(arguments)[0])),)
            )
        values, _ = self.arguments(arguments)
        if macro.kind == "constant":
            return opaque(*values)
        return self._unread(macro, node, values)

    def _unread(self, macro: Macro, node: Node, values: tuple[Expr, ...]) -> Expr:
        """A macro of which it is not understood what it does: to what it is given, or to all that it names."""
        self.unread(f"macro `{macro.name}`", node, () if self._names_more(macro) else values)
        return opaque(*values)

    def _names_more(self, macro: Macro) -> bool:
        """Whether the body of a macro, or of one in it, makes names, or has that of a variable or function."""
        seen: set[str] = set()
        queue = [macro]
        while queue:
            one = queue.pop()
            words = {word.decode() for word in words_in(one.body)} - set(one.params or ())
            if b"##" in one.body or any(word in self.file.hosts or self.local(word) is not None for word in words):
                return True
            if any(self.file.index.is_declared_function(word) or self._global(word) is not None for word in words):
                return True
            queue += (self.file.macros[word] for word in words - seen if word in self.file.macros)
            seen |= words
        return False

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
        around = self.place, self.effects, self.branches, reports, self.expanding
        return Bound(node, self.source, self.bindings, 0, (), *around)

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
        return self._unread(macro, node, tuple(self.value(one) for one in nodes))


def _written(node: Node | None) -> Iterator[Node]:
    yield from (child for child in node.named_children if child.type != "comment") if node is not None else ()
