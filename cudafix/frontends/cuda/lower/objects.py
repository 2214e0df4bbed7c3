"""Objects of classes: how they are made, copied, converted, assigned and ended, and what their operators do."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import MAX_DEPTH, Expressions
from cudafix.frontends.cuda.lower.syntax import cast_argument, cast_type
from cudafix.frontends.cuda.lower.terms import is_temporary, opaque, root_of
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import NUMBER_OBJECT, Class
from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT
from cudafix.frontends.cuda.sema.heads import base_type
from cudafix.frontends.cuda.sema.names import ACTIVE_TYPES, COMPARING
from cudafix.frontends.cuda.sema.type_texts import (
    IN_A_ROW,
    WORDS,
    element_type,
    elements,
    is_pointer,
    keeps_references,
    plain_name,
    text_of,
)
from cudafix.ir import (
    DELETER,
    HANDLES,
    NULL,
    Addr,
    Assign,
    Const,
    Deref,
    Expr,
    Field,
    FuncRef,
    Index,
    Look,
    Opaque,
    Param,
    Site,
    Span,
    Var,
)
from cudafix.ir.types import Type
from cudafix.models.number_types import is_narrow, is_number

_QUALIFIED = re.compile(r"^(?:(?:const|volatile|struct|class|typename)\s+)+|\s+(?:const|volatile)$")
_VIEW_OBJECT = re.compile(r"(?:cuda::)?std::(?:span|mdspan)")
_CONVERSION = re.compile(r"operator\s+(?!new\b|delete\b|co_await\b)\w")
_COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "<=>"))
# the operators that a comparison is made of where its own is not declared (C++20)
_REWRITTEN = {"!=": ("==",), **dict.fromkeys(("<", ">", "<=", ">="), ("<=>",))}
_OWNS = frozenset(("shared_ptr", "unique_ptr", "reset"))
_NAMED = re.compile(rb"&?\s*(?:::\s*)?([A-Za-z_]\w*)")
_OF_A_MIGRATION = re.compile(rb"\[\]\(void \*held_*\) \{(?:[^{}]|\{[^{}]*\})*\}")
# of values: an element that is a reference is a name of something else
_MADE_EXPLICITLY = re.compile(r"(?:vector|array|deque|list|(?:unordered_)?(?:multi)?(?:map|set)|unique_ptr|thread)<")
"""The classes of the standard library of which no object is made by a conversion ([container.requirements])."""
_THREAD = re.compile(r"(?:std::)?j?thread")
_SWAPS = frozenset(("swap", "exchange"))
# the functions of the standard library that assign what they are given, or what that points to
_ASSIGNING = _SWAPS | frozenset(
    "iter_swap swap_ranges sort stable_sort partial_sort nth_element rotate reverse shuffle random_shuffle partition "
    "stable_partition remove remove_if unique copy copy_if copy_n copy_backward move move_backward fill fill_n "
    "generate generate_n transform replace replace_if merge inplace_merge make_heap push_heap pop_heap sort_heap "
    "next_permutation prev_permutation ref tie forward_as_tuple".split()
)
# those that work on the elements of a range, which they assign, compare or convert ([algorithms], [numeric.ops],
# [specialized.algorithms])
_ON_RANGES = (_ASSIGNING - {"ref", "tie", "forward_as_tuple"}) | frozenset(
    "for_each for_each_n all_of any_of none_of find find_if find_if_not find_end find_first_of adjacent_find count "
    "count_if mismatch equal is_permutation search search_n replace_copy replace_copy_if remove_copy remove_copy_if "
    "unique_copy reverse_copy rotate_copy sample shift_left shift_right is_partitioned partition_copy partition_point "
    "is_sorted is_sorted_until partial_sort_copy lower_bound upper_bound equal_range binary_search includes set_union "
    "set_difference set_intersection set_symmetric_difference is_heap is_heap_until min_element max_element "
    "minmax_element lexicographical_compare lexicographical_compare_three_way iota accumulate reduce inner_product "
    "transform_reduce partial_sum exclusive_scan inclusive_scan transform_exclusive_scan transform_inclusive_scan "
    "adjacent_difference uninitialized_copy uninitialized_copy_n uninitialized_fill uninitialized_fill_n "
    "uninitialized_move uninitialized_move_n uninitialized_default_construct uninitialized_value_construct destroy "
    "destroy_n destroy_at construct_at".split()
)
_WHOLES = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*(?!\w|\s*(?:\.|->|::))")  # names of no object of which a part is meant
# those that take references
_REFERS = COMPARING | _ASSIGNING
_DEDUCED = frozenset("auto decltype typeof __typeof__ __typeof typename".split())
_TAKES_OVER = frozenset(("return_statement", "throw_statement", "init_declarator", "initializer_list"))
_SOMETIMES = frozenset(("conditional_expression", "lambda_expression"))


def _unqualified(kind: str) -> str:
    """A type without what does not keep a reference from being bound to an object of it."""
    kind = kind.strip(" &")
    # what a pointer leads to is a part of its type, as arguments of templates are
    kind = kind.rpartition("*")[0] + "*" if "*" in kind else _QUALIFIED.sub("", kind)
    return re.sub(r"\b(?:std::|volatile\b|struct\b|class\b|typename\b)|\s", "", kind)


class Objects(Expressions):
    """What expressions and declarations do with objects, for the calls that they are made of."""

    # -- supplied by the calls ----------------------------------------------------------------------------------------

    def arguments(self, node: Node | None) -> tuple[tuple[Expr, ...], tuple[Span, ...]]:
        raise NotImplementedError

    # -- supplied by the initializers ---------------------------------------------------------------------------------

    def initialize(
        self, node: Node, place: Expr, kind: str, values: tuple[Expr, ...], spans: tuple[Span, ...] = ()
    ) -> None:
        raise NotImplementedError

    def initialize_as(self, node: Node, place: Expr, kind: str, value: Expr) -> None:
        raise NotImplementedError

    def row_lent(self, param: Param) -> Class | None:
        raise NotImplementedError

    def fill_members(
        self, node: Node, place: Expr, cls: Class, items: deque[tuple[Node | None, Expr]], rest: bool
    ) -> None:
        raise NotImplementedError

    # -- made, copied, converted --------------------------------------------------------------------------------------

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
        if not self.file.index.has(cls, cls.constructor) and not self._is_kept(cls):
            return opaque(*values)
        target = target if self._is_to_be(target, cls) else None
        receiver = target if isinstance(target, Var) else self.temporary(cls.name)
        own = self.file.index.class_of(self.type_of(values[0])) if len(values) == 1 else None
        copied = own is cls and (self.is_new(values[0]) or not self.copies(cls))
        if cls.constructor in cls.methods and not cls.deleter and not copied and not self._takes_list(cls):
            self.emit_call(node, function, f"{cls.name}::{cls.constructor}", values, spans, receiver, None, False)
        else:
            self.build(node, receiver, cls, values, spans)
        if target is None:
            self._ends(node, receiver, cls)
        elif receiver is target and self.types.get(receiver.name, "auto").startswith("auto"):
            self.types[receiver.name] = cls.name
        return receiver

    def _is_to_be(self, target: Expr | None, cls: Class) -> bool:
        """Whether what gets an object may be that object: it is of its class, or of a type that is not known yet."""
        kind = self.type_of(target) if target is not None else ""
        return not kind or kind.startswith("auto") or self.file.index.class_of(kind) is cls

    def _is_kept(self, cls: Class) -> bool:
        """Whether something may run on an object of a class without a constructor."""
        return self.file.index.has(cls, cls.destructor) or bool(cls.methods)

    def braced(self, node: Node, target: Expr | None) -> Expr:
        """`T{a, b}`: as `T(a, b)` where the class has a constructor, else its members in their order."""
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        cls = self.file.index.class_of(self.raw(kind)) if kind is not None else None
        target = target if cls is None or self._is_to_be(target, cls) else None
        if kind is not None and value is not None and cls is None and keeps_references(self.raw(kind)):
            return self.kept_references(node, self.arguments(value)[0], self.raw(kind))
        if kind is not None and value is not None and self.is_unseen(self.raw(kind)):
            values, spans = self.arguments(value)
            self.constructor(node, self.raw(kind), values, spans)
            return opaque(*values)
        if kind is not None and value is not None and (active := self.active(self.raw(kind))):
            result = target if target is not None else self.temporary(active)
            self.initialize(node, result, active, *self.arguments(value))
            return result
        if cls is None or kind is None or value is None:
            if kind is not None and value is not None and (made := self.other(node)):
                self.hands_over(node, self.raw(kind), self.listed.get(value.id, ()))
                self.copied(node, self.raw(kind), self.listed.get(value.id, ()))
                self.made_of_unseen(node, self.raw(kind), self.listed.get(value.id, ()))
                return made
            return self.other(node)
        if self.file.index.has(cls, cls.constructor):
            return self._construct(node, kind, cls, *self.arguments(value), target)
        initials = [self.initial(child) for child in value.named_children if child.type != "comment"]
        values = tuple(value for _, value in initials)
        fills_members = not cls.bases and len(values) <= len(cls.fields)
        if not self._is_kept(cls) and not (fills_members and any(map(self.may_lead, values))):
            return opaque(*values)
        receiver = target if isinstance(target, Var) else self.temporary(cls.name)
        named = tuple(label for label, _ in initials)
        self.build(node, receiver, cls, values, named=named if all(named) else ())
        if target is None:
            self._ends(node, receiver, cls)
        return receiver

    def initial(self, child: Node) -> tuple[str, Expr]:
        """What braces give a member, and its name if that is written: `.f = b`."""
        if child.type == "initializer_pair":
            designator, value = child.child_by_field_name("designator"), child.child_by_field_name("value")
            label = self.raw(designator).lstrip(".") if designator is not None else ""
            return label, self.value(value) if value is not None else Opaque(())
        return "", self.value(child)

    def converted(
        self, node: Node, callee: str, nodes: Sequence[Node] | None, values: tuple[Expr, ...]
    ) -> tuple[Expr, ...]:
        """The arguments of a call, with the objects that are made where a parameter is an object: of braces, of a value
        that is none, or as a copy. (Without `nodes`, none of them are braces.)
        """
        index, given = self.file.index, list(values)
        if callee.startswith("std::"):  # what a program adds to it takes objects of its classes as they are
            return values
        at = node.parent if node.type == "initializer_list" and node.parent is not None else node
        for number, (child, value) in enumerate(zip(nodes or [at] * len(values), values, strict=False)):
            params = index.parameters_at(callee.rpartition("::")[2], number, len(values)) or []
            self._lends(value, params)
            kinds = {p.type for p in params}
            for kind in kinds:
                self.copied(child, kind, self.listed.get(child.id, (value,)))
                self.made_of_unseen(child, kind, self.listed.get(child.id, (value,)))
            classes = [c for kind in kinds if not is_pointer(kind) and (c := index.class_of(kind)) is not None]
            braces, kind = child.type == "initializer_list", self.type_of(value)
            own = index.class_of(kind) if kind and not is_pointer(kind) else None
            taken = [p for p in params if own is not None and index.class_of(p.type) is own]
            by_value = any(not p.by_reference for p in taken or params)
            if own is not None:
                exact = nodes is None and len(classes) > 1 and own in classes  # the overload that takes it as it is
                classes = [own] if exact else classes
                if not exact and any(not p.by_reference and self._is_open(p.type) for p in params):
                    if index.ending(kind) is not None:
                        self.unknown("a copy of an object for a template", child)
                    self.keeps_copy(child, value)
                elif own not in classes:
                    given[number] = self._converted_for(child, callee, params, value)
                    continue
                elif not by_value or self.is_new(value) or not self.is_copied(own):
                    continue
            elif not (braces or self.is_no_object(child, value)) or (len(kinds) > 1 and not braces):
                given[number] = self._converted_for(child, callee, params, value)
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

    def _lends(self, value: Expr, params: list[Param]) -> None:
        """A function gets a vector to fill; where it is none that is there, one is made of what stands there."""
        for element in filter(None, map(self.row_lent, params)):
            if not isinstance(value, Var | Field | Index | Deref):
                self.file.deduced.add(element.constructor)
        if any(param.by_reference for param in params):
            self.filled(value)

    def _converted_for(self, node: Node, callee: str, params: list[Param], value: Expr) -> Expr:
        """What a function gets that takes objects, and is given something else."""
        own, index = self.class_at(value), self.file.index
        params = [p for p in params if not (p.takes_objects_only and self.converting(p.type) is not None)]
        sliced = [p.type for p in params if not p.by_reference and self.sliced(p.type, value) is not None]
        if sliced and len(params) > 1:
            self.unknown("an object whose class is not written", node)
        elif sliced:
            return self.made_of(node, sliced[0], value)
        taken = [p for p in params if self.converting(p.type) is not None]
        if not taken or self.implicitly:
            return value
        if own is not None and any(index.class_of(p.type) in list(index.lineage(own.name)) for p in params):
            return value
        others = [p for p in params if p not in taken]
        if own is None and any(is_number(p.type) or is_pointer(p.type) or self._is_open(p.type) for p in others):
            return value
        classes = {cls.name: cls for p in taken if (cls := self.converting(p.type)) is not None}
        classes.pop(callee.rpartition("::")[0], None)  # a copy
        if len(classes) != 1:
            return value
        (cls,) = classes.values()
        if others:
            return self.made_of(node, cls.name, value, certain=False)
        return (self.ended if all(p.by_reference for p in taken) else self.made_of)(node, cls.name, value)

    def sliced(self, kind: str, value: Expr) -> Class | None:
        """The class of an object that is copied from the base of another one."""
        own = self.class_at(value)
        cls = self.file.index.class_of(kind) if own is not None and not is_pointer(kind) else None
        if own is None or cls is None or cls is own or cls.deleter or not self.is_copied(cls):
            return None
        return cls if cls in self.file.index.lineage(own.name) else None

    def converting(self, kind: str) -> Class | None:
        """The class of an object of this type, if one is made of a single value of another type (C++17, 15.3.1
        [class.conv.ctor]).
        """
        index = self.file.index
        cls = index.class_of(kind) if kind and not is_pointer(kind) else None
        if cls is None or cls.deleter or cls.constructor not in cls.methods:
            return None
        for listed in index.taken(cls.constructor):
            if listed and all(p.optional for p in listed[1:]) and index.class_of(listed[0].type) is not cls:
                return cls
        return None

    def made_of(self, node: Node, kind: str, value: Expr, target: Expr | None = None, certain: bool = True) -> Expr:
        """The object that is made of a value where one of the type `kind` is expected, in `target` if there is one
        (where a call may have put its result); the value itself where it is one, or none can be made. It may be one
        where its type is not known.
        """
        if value != target and (base := self.sliced(kind, value)) is not None:
            made = target if target is not None else self.temporary(base.name)
            self.build(node, made, base, (value,))
            return made
        cls, index = self.converting(kind), self.file.index
        if cls is None or self.implicitly:
            return value
        returned = value == target
        own = self.class_at(value) if not returned else None
        if own is not None:
            classes = list(index.lineage(own.name))
            taken = (index.class_of(listed[0].type) for listed in index.taken(cls.constructor) if listed)
            if cls in classes or not any(one in classes for one in taken):
                return value
        written = self.type_of(value) if not returned else ""
        known = own is not None or (bool(written) and not self.is_unclear(written) and not self._is_open(written))
        known = known or (not returned and self.is_no_object(node, value))
        if not known and (name := self.reached_by(value)):
            kinds = (index.returned(name) | index.referred(name)) - {""}
            if any(index.class_behind(one) is not None or self.is_unclear(one) for one in kinds):
                return value
            known = bool(kinds)
        made = target if target is not None else self.temporary(cls.name)

        def make() -> None:
            self.implicitly = True
            self.build(node, made, cls, (value if not returned else Opaque(()),))
            self.implicitly = False

        if known and certain:
            make()
            return made
        block = self.collect(make)
        self.emit(ir.If(ir.Test("other", None, f"{cls.name} is made"), block, (), self.span(node)))
        return made if target is not None else ir.Choice((value, made))

    def made_of_braces(self, node: Node, kind: str, value: Expr) -> Expr:
        """The object that is made of braces where one of the class `kind` is expected; the value itself where nothing
        runs then.
        """
        cls = self.file.index.class_of(kind)
        if cls is None or not self.file.index.has(cls, cls.constructor):
            return value
        if any(child.type == "initializer_pair" for child in node.children):
            return self.unknown("an object whose class is not written", node)
        made, values = self.temporary(cls.name), self.listed.get(node.id, ())
        spans = tuple(self.span(child) for child in node.named_children if child.type != "comment")
        self.build(node, made, cls, values, spans if len(spans) == len(values) else ())
        return made

    def for_any(self, node: Node, arguments: Node | None, values: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """What a function gets that is not known: its parameters may be copies of objects, or be made of braces and
        numbers.
        """
        index, given = self.file.index, list(values)
        nodes = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
        for number, (child, value) in enumerate(zip(nodes, values, strict=False)):
            if (cls := self.copied_class(value)) is not None:
                made = self.temporary(cls.name)
                block = self.collect(lambda made=made, cls=cls, value=value: self.build(node, made, cls, (value,)))  # type: ignore[misc]
                self.emit(ir.If(ir.Test("other", None, f"{cls.name} is copied"), block, (), self.span(node)))
                given[number] = ir.Choice((value, made))
            elif child.type == "initializer_list" or self.is_no_object(child, value):
                params = (listed[number] for listed in index.all_taken() if len(listed) == len(values))
                classes = (index.class_of(p.type) for p in params if not is_pointer(p.type))
                self.file.deduced.update(cls.constructor for cls in classes if cls is not None)
        return tuple(given)

    def ended(self, node: Node, kind: str, value: Expr) -> Expr:
        """The same for a temporary object, which ends with the statement."""
        if (converted := self.converted_to(node, kind, value)) is not None:
            return converted
        if not kind.endswith("&"):
            self.made_of_unseen(node, kind, (value,))
        made = self.made_of(node, kind, value) if not kind.endswith("&") else value
        if made is value and self._is_of_another_class(kind, value):
            return self._as_another(node, kind, value)
        if made is value and (narrow := self._narrowed(kind, value)):
            made = self.temporary(narrow)
            self.emit(ir.Assign(made, value, self.span(node)))
            return made
        if made is not value and isinstance(made, Var) and (cls := self.converting(kind)) is not None:
            self._ends(node, made, cls)
        return made

    def _narrowed(self, kind: str, value: Expr) -> str:
        """The type of numbers that a cast gives a value of another one, if that may lose some of it."""
        if not isinstance(value, Const | Var | Field | ir.Index | Deref):
            return ""
        kinds = [one for one in self.file.index.meanings(kind.strip()) if is_narrow(one)]
        return kinds[0] if kinds and self.type_of(value) != kinds[0] else ""

    def _is_of_another_class(self, kind: str, value: Expr) -> bool:
        """Whether a value, or what it leads to, is of a class that is seen, and a cast takes it for one of another."""
        if isinstance(value, Const | FuncRef):
            return False
        plain = kind.strip()
        leads = plain.endswith("*")
        wanted = self.file.index.class_behind(plain)
        given = self.type_of(Deref(value) if leads else value)
        own = self.file.index.class_behind(given) if "*" not in Type.of(given).marks else None
        if wanted is None or plain.count("*") > 1 or given == "" or own is wanted:
            return False
        if own is None:
            void = leads and given.removeprefix("const ") == "void"  # what that leads to is as the cast says
            return given.endswith("*") or given in HANDLES or void
        return True  # a base or a derived class decides too which members are meant (C++17, 13.2 [class.member.lookup])

    def _as_another(self, node: Node, kind: str, value: Expr) -> Expr:
        """What such a cast gives, with its type."""
        made = self.temporary(kind)
        if kind.strip().endswith("&"):
            self.emit(Assign(made, Addr(value), self.span(node)))
            return Deref(made)
        self.emit(Assign(made, value, self.span(node)))
        return made

    def converted_to(self, node: Node, kind: str, value: Expr) -> Expr | None:
        """What the conversions of an object give that is cast to another type; None where it has none."""
        names = self._conversions(value)
        own, wanted = self.file.index.class_of(self.type_of(value)), self.file.index.class_behind(kind)
        is_base = own is not None and any(one is wanted for one in self.file.index.lineage(own.name))
        if not names or is_base or kind == "void":
            return None
        given = [self.emit_call(node, node, name, (), (), value, None, True) for name in names]
        if any(name.removesuffix("()").endswith("&") for name in names):
            self.unknown("a conversion to a reference", node, tuple(given))
        return given[0] if len(given) == 1 else opaque(*given)

    def bound_reference(self, node: Node, kind: str, place: Expr, address: Expr) -> Expr:
        """Where a reference to `kind` leads that is initialized with a place: there, or to a copy. Where the types are
        not reference-compatible, the reference is bound to a temporary ([dcl.init.ref] 5); whether those of classes
        are, `converted_to` knows.
        """
        if isinstance(place, ir.Choice):  # one of several
            return ir.Choice(tuple(self.bound_reference(node, kind, one, self.address(one)) for one in place.options))
        if place in self.unnamed:  # it may be a reference to an argument
            address = ir.Choice((address, self.pointer_to(place)))
        wanted, own = _unqualified(kind), _unqualified(self.type_of(place))
        if is_temporary(place) or wanted == own or "auto" in wanted or _MADE_EXPLICITLY.match(wanted):
            return address
        if self.file.index.class_behind(kind) is not None and not is_pointer(kind):
            return address
        copy = self.temporary(kind)
        self.emit(ir.Assign(copy, place, self.span(node)))
        return ir.Choice((address, ir.Addr(copy)))

    def or_copied(self, node: Node, kind: str, place: Expr, address: Expr) -> Expr:
        """Where what may be a reference leads: to a place, or to a copy of what is there."""
        cls = self.file.index.class_of(kind) if not is_pointer(kind) else None
        if cls is not None and (self.is_copied(cls) or self.file.index.ending(kind) is not None):
            self.unknown("an object that may be a reference", node, (place,))
        copy = self.temporary(kind)
        self.emit(ir.Assign(copy, place, self.span(node)))
        return ir.Choice((address, Addr(copy)))

    def is_no_object(self, node: Node, value: Expr) -> bool:
        """Whether a value is known to be a number or a pointer, of which an object is made where one is expected."""
        kind = self.type_of(value)
        return is_pointer(kind) or is_number(kind) or isinstance(value, Const) or node.type == "string_literal"

    def build(
        self,
        node: Node,
        receiver: Expr,
        cls: Class,
        values: tuple[Expr, ...],
        spans: tuple[Span, ...] = (),
        named: tuple[str, ...] = (),
    ) -> None:
        """An object of the values in its parentheses or braces: by a constructor, as a copy, or member by member, in
        the order of its members or by their names.
        """
        index = self.file.index
        if cls.constructor in cls.methods:
            self.hands_over(node, cls.constructor, values)
        own = index.class_of(self.type_of(values[0])) if len(values) == 1 else None
        if cls.deleter:
            held = self._held_by(node, cls, values, spans)
            self._of_owner(node, cls, cls.constructor, held, receiver)
            return
        if own is cls and not is_pointer(self.type_of(values[0])) and self.is_new(values[0]):
            self.ending = [one for one in self.ending if one[0] != values[0]]  # they are one object
            self.emit(ir.Assign(receiver, values[0], self.span(node)))
            return
        if own is cls and not is_pointer(self.type_of(values[0])) and not self.copies(cls):
            self.takes_rows_over(node, cls, (receiver, *values))
        if own is cls and not is_pointer(self.type_of(values[0])) and (cls.copied or not self.copies(cls)):
            by_parts = self.collect(lambda: self._copy_by_parts(node, receiver, cls, values[0]))
            if not self.copies(cls):
                self.merge(by_parts)
                return
            written = self.collect(lambda: self._construct_by(node, receiver, cls, values, spans))
            self.emit(ir.If(ir.Test("other", None, "it is moved, or copied"), written, by_parts, self.span(node)))
            return
        self._construct_by(node, receiver, cls, values, spans)
        if cls.inherits:
            self._by_inherited(node, receiver, cls, values, spans)
        elif cls.constructor not in cls.methods:
            for name, one in zip(named, values, strict=False):
                self.initialize_as(node, Field(receiver, name), cls.fields.get(name, ""), one)
            if not named:
                self.fill_members(
                    node, receiver, cls, deque(zip(_written(node, values), values, strict=True)), rest=False
                )

    def _copy_by_parts(self, node: Node, receiver: Expr, cls: Class, value: Expr) -> None:
        self.emit(ir.Assign(receiver, value, self.span(node)))
        self.copy_parts(node, receiver, cls, value)

    def _construct_by(
        self, node: Node, receiver: Expr, cls: Class, values: tuple[Expr, ...], spans: tuple[Span, ...]
    ) -> None:
        """Call the constructor of a class, be it one that the compiler writes."""
        if not self.file.index.has(cls, cls.constructor):
            self.start_null(self.span(node), receiver, cls)
            return
        span = self.span(node)
        site = self.site(node)
        name_span = Span(span.path, span.start, span.start)
        callee = f"{cls.name}::{cls.constructor}"
        given = values if cls.constructor in cls.methods else ()
        own = self.file.index.class_of(self.type_of(values[0])) if len(values) == 1 else None
        given = self.converted(node, callee, None, given) if own is not cls else given
        call = ir.Call(callee, given, span, name_span, span.end - 1, site, spans, receiver)
        if values and cls.constructor not in cls.methods:  # of what the braces leave out, if anything
            self.emit(ir.If(ir.Test("other", None, "braces leave members out"), (call,), (), span))
        elif values and self._takes_list(cls):
            listed = ir.Call(callee, (opaque(*values),), span, name_span, span.end - 1, site, (), receiver)
            self.emit(ir.If(ir.Test("other", None, "the values are in braces"), (listed,), (call,), span))
        else:
            self.emit(call)

    def _by_inherited(
        self, node: Node, receiver: Expr, cls: Class, values: tuple[Expr, ...], spans: tuple[Span, ...]
    ) -> None:
        """`using Base::Base;`: the constructors of a base make that of these values (C++17, 15.6.3
        [class.inhctor.init]). Where the class has some of its own, it may be one of them.
        """

        def run() -> None:
            for base in cls.inherits:
                self.initialize(node, receiver, base, values, spans)

        block = self.collect(run)
        if cls.constructor in cls.methods or len(cls.inherits) > 1:
            self.emit(ir.If(ir.Test("other", None, "a constructor is inherited"), block, (), self.span(node)))
        else:
            self.merge(block)

    def _takes_list(self, cls: Class) -> bool:
        """Whether a constructor of a class is preferred where the values are in braces ([over.match.list])."""
        return any("initializer_list" in one.type for one in self._only_parameters(cls))

    def _only_parameters(self, cls: Class) -> list[Param]:
        """The parameters of those constructors of a class that may be called with one value."""
        return self.file.index.parameters_at(cls.constructor, 0, 1) or []

    def start_null(self, span: Span, place: Expr, cls: Class) -> None:
        """The data members of an object without a constructor which are null from the beginning (C++17, 15.6.2
        [class.base.init] 9).
        """
        for name in cls.null:
            self.emit(ir.Assign(Field(place, name), NULL, span))
        for name in cls.rows:
            self.emit(ir.Assign(Field(Field(place, name), ir.SIZE), Const("0"), span))
        for name, part, count in self.file.index.parts(cls):
            if not count and not self.file.index.has(part, part.constructor):
                self.start_null(span, Field(place, name) if name else place, part)

    def copy_parts(self, node: Node, place: Expr, cls: Class, value: Expr) -> None:
        """What the copy that the compiler writes does with bases and members that declare how they are copied (C++17,
        15.8.1 [class.copy.ctor] 14). A temporary object is not copied (11.6 [dcl.init] 17.6.1).
        """
        for name, part, count in self.file.index.parts(cls) if not self.is_new(value) else ():
            to, source = (Field(place, name), Field(value, name)) if name else (place, value)
            if count == IN_A_ROW:
                self.row_let_go(node, "a vector of objects that is copied or moved", part, (to, source))
                continue
            if part.deleter or not self.is_copied(part):
                continue
            if self.depth > MAX_DEPTH:
                self.unknown("nested too deeply", node, (to, source))
                continue
            if count:
                self.copy_elements(node, to, part, source)
                continue
            self.depth += 1
            if self.copies(part):
                self.build(node, to, part, (source,))
            else:
                self.copy_parts(node, to, part, source)
            self.depth -= 1

    def copy_elements(self, node: Node, place: Expr, cls: Class, value: Expr) -> None:
        """The same for each element of an array."""
        number = self.temporary("size_t")
        to, source = Index(place, number), Index(value, number)
        block = self.collect(lambda: self.build(node, to, cls, (source,)))
        span = self.span(node)
        self.emit(ir.Loop(block, span, index=number, range=f"0:?@{span.start}"))

    def is_new(self, value: Expr) -> bool:
        """Whether a value is an object that an expression has just made: what it initializes is that object, no copy of
        it (C++17, 11.6 [dcl.init] 17.6.1). Not what a reference refers to that a call returns.
        """
        return is_temporary(value) and not (isinstance(value, Var) and self.types.get(value.name, "").endswith("&"))

    def copied_class(self, value: Expr) -> Class | None:
        """The class of an object that is copied or moved where another one is made of it, as the class, a base or a
        member of it declares; None for any other value, and for a temporary object, which is that other one.
        """
        cls = self.class_at(value)
        return cls if cls is not None and self.is_copied(cls) and (cls.deleter or not self.is_new(value)) else None

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
        """An object is read, which may be as something else: what its conversions do, be they meant or not. A kernel
        gets its bytes: copies that are made and end before may look at anything, but must not matter to who owns what
        (CUDA C++ Programming Guide 13.0, "__global__ Function Argument Processing").
        """
        kind = self.type_of(place) if isinstance(place, (Var, Field, Index, Deref)) else ""
        if self.is_unseen(kind) and (unseen := self.unseen(kind)) is not None:
            span = self.span(node)
            site = ir.Site(span, "", "", ";", blocked="a conversion")
            called = partial(ir.Call, args=(), span=span, name_span=Span(span.path, span.start, span.start))
            if node.id in self.memcpied:
                copy = self.temporary(unseen.name)
                for name in (unseen.constructor, f"~{unseen.constructor}"):
                    self.emit(called(f"{unseen.name}::{name}", close=span.end - 1, site=site, receiver=copy))
                return
            call = called(f"{unseen.name}::operator auto", close=span.end - 1, site=site, receiver=place)
            self.emit(ir.If(ir.Test("other", None, f"an object of {kind} is converted"), (call,), (), span))
        for name in self._conversions(place):
            block = self.collect(lambda name=name: self._convert(node, name, place))  # type: ignore[misc]
            self.emit(ir.If(ir.Test("other", None, f"{name} is meant"), block, (), self.span(node)))

    def _convert(self, node: Node, name: str, place: Expr) -> None:
        given = self.emit_call(node, node, name, (), (), place, None, True)
        if name.partition("(")[0].endswith("&"):
            self.unknown("a conversion to a reference", node, (given,))

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

    def as_handle(self, node: Node, value: Expr) -> Expr:
        """What an object gives a library that takes no objects: what its conversion returns, if it has one only."""
        names = self._conversions(value)
        if len(names) != 1 or not ("*" in names[0] or "_t" in names[0]):
            return value
        return self.emit_call(node, node, names[0], (), (), value, None, True)

    # -- smart pointers (sema.owners) ----------------------------------------------------------------------------------

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
        if name == cls.constructor and self._lives_on(owner, cls):  # it ends with the process
            for deleter in given[1:]:
                self.emit(ir.Call("atexit", (deleter,), span, name_span, span.end, site))
        return result if result is not None else Opaque(())

    def _lives_on(self, owner: Expr, cls: Class) -> bool:
        """Whether a smart pointer may be what one at namespace scope, or a static one, becomes."""
        root = root_of(owner)
        known = self.file.index.all_globals()
        return (isinstance(root, Var) and "::" in root.name) or any(
            self.file.index.class_of(one.type) is cls for one in known if "unique_ptr" in one.type
        )

    def _held_by(self, node: Node, cls: Class, values: tuple[Expr, ...], spans: tuple[Span, ...]) -> tuple[Expr, ...]:
        """What a smart pointer is made of: what it holds, and its deleter if that is its own."""
        other = self.owner(values[0]) if values else None
        if other is not None:  # it is moved from, deleter and all ([unique.ptr.single.ctor] 19)
            own = (Field(values[0], DELETER),) if cls.given and other.given else ()
            return (self._released(node, values[0]), *own)
        if not cls.given or len(values) != 2:
            return values[:1]
        return values[0], self.as_called(node, values[1], spans[1] if len(spans) == 2 else None)

    def as_called(self, node: Node, value: Expr, span: Span | None) -> Expr:
        """A function that the program does not define, named in the text as a value, as one of the program that calls
        it. Where the call is one of `cudaFree` and has to change, a lambda is written there.
        """
        place = value.base if isinstance(value, Addr) else value
        if span is None or self.source.shift or self.source.stop is not None:
            return value
        named = _NAMED.fullmatch(self.source.text, span.start, span.end)
        name = named[1].decode() if named is not None else ""
        known = name in self.file.hosts or name in self.file.macros or self.file.index.is_declared_function(name)
        unseen = place == Var(f"::{name}") and self.resolve_variable(name, node) is None
        if known or not (unseen or (place == FuncRef(name) and sites.is_api(name))):
            return value
        function = f"{self.name}{ir.LAMBDA}{span.start}>"
        site = Site(span, "", "", ";", named=True)
        self.file.styles.wants_style(site)
        given, status, text = Var("held"), Var("%1"), _OF_A_MIGRATION.sub(b"", self.file.original)
        while re.search(rb"\b%s\b" % given.name.encode(), text):  # what the text has of this name is something else
            given = Var(f"{given.name}_")
        call = ir.Call(name, (given,), span, span, span.end, site, (), None, status, Look.CHECKED)
        inside = Site(span, "", "", ";", blocked="a call runs in the same statement", named=True)
        kinds = {given.name: "void *", status.name: sites.status_type(name)}
        body: ir.Block = (call, ir.Return(status, span, inside))
        self.file.functions.append(
            ir.Function(function, (ir.Param(given.name, "void *"),), body, span, True, self.cls, kinds)
        )
        return FuncRef(function)

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
        if (other := self.owner(value)) is not None:
            self._of_owner(node, cls, "reset", (self._released(node, value),), place)
            if cls.given and other.given:  # behind that ([unique.ptr.single.asgn] 1)
                self.emit(ir.Assign(Field(place, DELETER), Field(value, DELETER), self.span(node)))
        elif value == NULL:
            self._of_owner(node, cls, "reset", (), place)
        else:
            self.let_go(node, "what a smart pointer becomes", cls, (place, value))

    def moves_idly(self, cls: Class) -> bool:
        """Whether an object takes over another one, member by member, and the end of that does nothing then: a smart
        pointer, or a class that has no more than those (C++17, 15.8.1 [class.copy.ctor] 8, [unique.ptr.single.ctor]).
        """
        index = self.file.index
        if cls.deleter:
            return True
        if cls.destructor in cls.methods or self.copies(cls) or index.declares_copy(cls, ASSIGNMENT) or cls.unseen:
            return False
        return (
            not cls.bases
            and not cls.copied
            and not cls.assigned
            and all(self.moves_idly(part) and not count for _, part, count in index.parts(cls))
        )

    def when_it_grows(self, cls: Class) -> str:
        """How a vector of a class gets its elements into other memory: where the class can be copied, and its move may
        throw, it copies them ([vector.modifiers] 2).
        """
        taken = [p for p in self._only_parameters(cls) if self.file.index.class_of(p.type) is cls]
        return ir.MOVES if cls.uncopied or all(param.rvalue for param in taken) else ir.COPIES

    def moves(self, node: Node, place: Expr, cls: Class, value: Expr) -> None:
        """An object is made of another one, which is there afterwards, too, and has to end."""
        if self.moves_idly(cls):
            self.emit(ir.Assign(place, value, self.span(node)))
            self._left_empty(node, cls, value)
        elif self.copies(cls):
            self._construct_by(node, place, cls, (value,), ())
        else:
            self._copy_by_parts(node, place, cls, value)

    def _left_empty(self, node: Node, cls: Class, value: Expr) -> None:
        """The smart pointers in an object that was moved from hold nothing."""
        for name, part, _ in self.file.index.parts(cls):
            if part.deleter:
                self.emit(ir.Assign(Field(value, name), NULL, self.span(node)))
            else:
                self._left_empty(node, part, Field(value, name))

    def hands_on(self, node: Node, value: Expr) -> None:
        """A smart pointer is given to somebody who may take it over, or not."""
        cls = self.owner(value)
        if cls is not None and not is_temporary(value):
            self.let_go(node, "a smart pointer that is handed on", cls, (value,))

    def let_go(self, node: Node, why: str, cls: Class, values: tuple[Expr, ...]) -> Expr:
        """A smart pointer is used in a way that is not known."""
        self.file.let_go.add(cls.name)
        return self.unknown(why, node, values)

    def filled(self, place: Expr) -> Node | None:
        """Something may be put into a vector; its declaration, if nothing can have been before."""
        return self.empty.pop(place.name, None) if isinstance(place, Var) else None

    def row_let_go(self, node: Node, why: str, cls: Class, values: tuple[Expr, ...]) -> Expr:
        """A vector of objects of a class is used in a way that is not known: some may be made, copied or ended."""
        self.file.deduced.add(cls.constructor)
        self.file.rows_let_go.add(cls.constructor)
        return self.unknown(why, node, values)

    def takes_rows_over(self, node: Node, cls: Class, values: tuple[Expr, ...]) -> None:
        """An object is copied or moved, assigned or exchanged, with the vectors of objects that it may have."""
        for element in self.file.index.rows_in(cls):
            self.row_let_go(node, "vectors of objects that are copied or moved", element, values)

    def end_moves(self, node: Node) -> None:
        """What a statement has moved from: objects that nobody was seen to take over, and containers, of which nothing
        says which elements they have left (C++17, 20.5.5.15 [lib.types.movedfrom]).
        """
        for place in self.given_away:
            self.hands_on(node, place)
        self.given_away.clear()
        for place in self.moved_from:
            self.emit(ir.Assign(ir.Index(place, ir.Opaque(())), ir.Opaque(()), self.span(node)))
        self.moved_from.clear()

    def copies(self, cls: Class) -> bool:
        """Whether a class declares what happens when it is copied or moved."""
        if cls.deleter:
            return True
        return self.file.index.declares_copy(cls, cls.constructor)

    # -- operators ----------------------------------------------------------------------------------------------------

    def overloaded(self, node: Node, symbol: str, values: tuple[Expr, ...]) -> Expr | None:
        """The call of an operator of a class, be it a member or a function beside it; None where it is none."""
        classes = [self.class_at(value) for value in values]
        kind = self.type_of(values[0])
        by_key = symbol == "[]" and not any(Type.of(one).library.positions for one in self.file.index.meanings(kind))
        if (symbol in _COMPARISONS or by_key) and kind.endswith(">"):  # of a container
            self.copied_inside(node, kind, values[1:])
            self.compared(node, values)
        if not any(classes):
            self._perhaps_overloaded(node, f"operator{symbol}", values)
            return self._of_unseen(node, symbol, values)
        orders = (values, values[::-1]) if symbol in _COMPARISONS else (values,)
        for name in (symbol, *_REWRITTEN.get(symbol, ())):
            for given in orders:
                if (made := self._called(node, f"operator{name}", given)) is not None:
                    return made
        return self._of_unseen(node, symbol, values)

    def _of_unseen(self, node: Node, symbol: str, values: tuple[Expr, ...]) -> Expr | None:
        """The call of an operator of a class that is not seen; None for any other."""
        unseen = [self.unseen(kind) is not None and self.is_unseen(kind) for kind in map(self.type_of, values)]
        if not any(unseen):
            return None
        if symbol == "&" and len(values) == 1:  # which gives the address wherever there is no such operator
            self.converts(node, values[0])
            return None
        kind = self.unseen(self.type_of(values[0])) if unseen[0] else None
        if kind is not None:  # a member, or a function beside the class: the object is given to it, either way
            spans = tuple(self.span(node) for _ in values[1:])
            return self.emit_call(
                node, node, f"{kind.name}::operator{symbol}", values[1:], spans, values[0], None, True
            )
        return self.unknown(f"`operator{symbol}` of a class that is not seen", node, values)

    def class_at(self, value: Expr) -> Class | None:
        """The class of an object that is seen; None for a pointer to one."""
        kind = self.type_of(value)
        return self.file.index.class_of(kind) if kind and not is_pointer(kind) else None

    def _called(self, node: Node, name: str, values: tuple[Expr, ...]) -> Expr | None:
        """The call of a member of the first object, or of a function that takes them all; None if there is none."""
        index, classes = self.file.index, [self.class_at(value) for value in values]
        if (own := classes[0]) is not None and own.compares_by_parts(name) and len(values) == 2:
            self._compare_parts(node, name.removeprefix("operator"), own, values)
            return opaque(*values)
        taken = index.taken(name)
        lineage = index.lineage(classes[0].name) if classes[0] is not None else ()
        if any(len(listed) == len(values) - 1 for listed in taken) and any(name in cls.methods for cls in lineage):
            given = self.converted(node, name, None, values[1:])
            return self.emit_call(node, node, name, given, (), values[0], None, True)
        if any(self._fits(listed, classes) for listed in taken):
            return self.emit_call(node, node, name, self.converted(node, name, None, values), (), None, None, True)
        return None

    def _compare_parts(self, node: Node, symbol: str, cls: Class, values: tuple[Expr, ...]) -> None:
        """What the comparison that the compiler writes compares, in this order, until it knows the result: the bases,
        the members, and their elements (C++20, 11.10.1 [class.compare.default] 6).
        """
        bases = [base for name, base, _ in self.file.index.parts(cls) if not name]
        parts: list[tuple[Expr, ...]] = [tuple(self._as_base(node, one, base) for one in values) for base in bases]
        for name, kind in cls.fields.items():
            members: tuple[Expr, ...] = tuple(Field(value, name) for value in values)
            if elements(kind)[1]:
                members = tuple(Index(member, Opaque(())) for member in members)
            parts.append(members)
        for number, both in enumerate(parts):
            compare = partial(self._compare, node, symbol, both)
            if number:
                self.perhaps(node, f"operator{symbol}", compare)
            else:
                compare()

    def _compare(self, node: Node, symbol: str, values: tuple[Expr, ...]) -> Expr:
        result = self.overloaded(node, symbol, values)
        return result if result is not None else opaque(*values)

    def _as_base(self, node: Node, value: Expr, cls: Class) -> Var:
        """An object as one of a class that its own is derived from."""
        made = self.temporary(cls.name)
        self.store(made, value, node)
        return made

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
        if self.file.index.takes_object(name, len(values)) and any(
            kind and not is_pointer(kind) and self._is_open(kind) for kind in map(self.type_of, values)
        ):
            self.perhaps(node, name, lambda: self.emit_call(node, node, name, values, (), None, None, True))

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
        """An algorithm calls the function objects that it is given, with it is not seen what: copies of them (C++17,
        28.3 [algorithms.general] 10), or themselves.
        """
        for value in values:
            cls = self.class_at(value)
            if cls is not None and any("operator()" in one.methods for one in self.file.index.lineage(cls.name)):
                copy = self.temporary(cls.name)
                copied = self.collect(partial(self._call_any, node, copy, of=value))
                itself = self.collect(partial(self._call_any, node, value))
                self.emit(ir.If(ir.Test("other", None, "a copy is called"), copied, itself, self.span(node)))

    def _call_any(self, node: Node, object_: Expr, of: Expr | None = None) -> None:
        """A function object is called, a copy `of` another one if there is one."""
        if of is not None:
            self.store(object_, of, node)
        for count in {len(listed) for listed in self.file.index.taken("operator()")}:
            self.emit_call(node, node, "operator()", (Opaque(()),) * count, (), object_, None, False)

    def iterated(self, node: Node, container: Expr) -> tuple[Expr, Expr] | None:
        """What the `begin` and the `end` of an object give a loop over it; None if its class has none."""
        if self.class_at(container) is None:
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
        if ASSIGNMENT not in cls.methods:
            self.takes_rows_over(node, cls, (place,))
        own = index.has(cls, ASSIGNMENT)
        if not own and not index.has(cls, cls.destructor):
            return False
        value: Expr
        if right.type == "initializer_list":
            taken = index.taken(ASSIGNMENT) if own else ()
            if any("initializer_list" in param.type for params in taken for param in params):
                self.unknown("a list that an assignment takes", right, (place, *self.arguments(right)[0]))
                return True
            value = made = self.temporary(cls.name)
            self.build(right, made, cls, self.arguments(right)[0])
            self._ends(right, made, cls)
        else:
            value = self.value(right)
            value = value if own else self.ended(right, cls.name, value)
        if own:
            name = f"{cls.name}::{ASSIGNMENT}"
            self.emit_call(node, node, name, self.converted(right, name, None, (value,)), (), place, None, False)
        else:
            self.store(place, value, node)
        return True

    # -- what may be assigned where no assignment is lowered (see `ir.Function`) --------------------------------------

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
        self._deduced_from_words(node, callee, len(values))
        on_ranges = callee.removeprefix("std::") in _ON_RANGES and len(values) > 1
        if on_ranges and (arguments := node.child_by_field_name("arguments")) is not None:
            named = (self.resolve(word, node) for word in set(_WHOLES.findall(self.raw(arguments))))  # `std::begin(a)`
            classes = (index.class_behind(self.type_of(one)) for one in named)
            made = {cls.constructor for cls in classes if cls is not None}
            self.file.deduced |= made
            self.unwritten |= made
        for number, value in enumerate(values):
            kind = self.type_of(value) or (self._kind_of(value) if is_temporary(value) else "")
            cls = index.class_behind(kind) if kind else None
            unclear = name in _ASSIGNING and self.is_unclear(kind) and self.may_lead(value)
            if (cls is None and not unclear) or (kind.endswith("*") and name in _SWAPS):
                continue
            params = index.parameters_at(name, number, len(values)) if not callee.startswith("std::") else None
            if params is not None and cls is not None and not is_pointer(kind):
                params = [p for p in params if not is_pointer(p.type)]  # what it is converted to is no object of it
            if params is not None and not any(self._is_open(word) for p in params for word in WORDS.findall(p.type)):
                continue
            taken = [p.type.partition("<")[0].strip(" &*") for p in params or ()]
            owned = name.partition("<")[0] in _OWNS or not is_pointer(
                kind
            )  # `std::shared_ptr<void>(new T)` ends the `T`
            if on_ranges and params is None:
                owned = True  # a pointer to its elements is an iterator
            if cls is not None:
                self.takes_rows_over(node, cls, (value,))
            if cls is not None and (any(map(self._is_open, taken)) if params else owned):
                self.file.deduced.add(cls.constructor)
            self.unwritten.add(cls.constructor if cls is not None else "")
            if params is None and name not in _REFERS:
                self.keeps_copy(node, value)

    def _deduced_from_words(self, node: Node, callee: str, count: int) -> None:
        """The classes that the arguments of a function template name: of a cast, `f((T *)nullptr)`, no value says what
        is deduced from it (C++17, 17.8.2.1 [temp.deduct.call]).
        """
        index, name = self.file.index, callee.rpartition("::")[2]
        arguments = node.child_by_field_name("arguments")
        written = self.raw(arguments) if arguments is not None else ""
        if callee.startswith("std::") or not any(sign in written[1:] for sign in "(<"):
            return
        params = [param for number in range(count) for param in index.parameters_at(name, number, count) or ()]
        if any(self._is_open(word) for param in params for word in WORDS.findall(param.type)):
            named = map(index.class_of, WORDS.findall(written))
            self.file.deduced.update(cls.constructor for cls in named if cls is not None)

    def keeps_copy(self, node: Node, value: Expr) -> None:
        """An object is copied or moved to where it is not seen who ends the copy."""
        self.copied_to(node, value)

    def copied_to(self, node: Node, value: Expr, place: Expr | None = None) -> bool:
        """Copy an object whose class declares how to where it is not seen who ends the copy, or copies it again: to a
        place, if there is one. False for what is copied member by member, and for what is no such object.
        """
        cls = self.copied_class(value)
        if cls is None or cls.deleter:
            return False
        made = place if place is not None else self.temporary(cls.name)
        self.build(node, made, cls, (value,))
        self.unknown("a copy of an object of which it is not known who ends it", node, (made,))
        return True

    def is_unseen(self, kind: str) -> bool:
        """Whether a type can only be a class of which nothing is known. Those of a pack may be any."""
        of = Type.of(kind)
        is_pack = of.marks == ("...",) and of.core == of.written_name and of.core not in ("", "auto")
        return is_pack or self.file.index.is_unseen(self.as_written(kind))

    def unseen(self, kind: str) -> Class | None:
        """The class of an object of this type, or of those that are made in it, if nothing is known of that."""
        return self.file.index.unseen(self.as_written(element_type(kind).rstrip())) if not is_pointer(kind) else None

    def as_written(self, kind: str) -> str:
        """A type, or what is written instead where it is a macro or a parameter of one; empty for no name of a type."""
        for _ in range(MAX_DEPTH):
            of = Type.of(kind)
            name = of.core.removeprefix("::") if not of.marks else ""
            macro = self.file.macros.get(name)
            if macro is not None and macro.params is None:
                kind = macro.body.decode("utf-8", "replace").strip()
            elif name in self.bindings:
                kind = text_of(self.bindings[name].node, self.bindings[name].source.text)
            else:
                return kind
            if kind == name or kind.endswith("__"):  # `int *` is masked
                return ""
        return ""

    def begin_unseen(self, node: Node, place: Expr, kind: str) -> None:
        """An object of a class that is not seen is made in a place: its constructor may do anything."""
        if (cls := self.unseen(kind)) is not None:
            span = self.span(node)
            site = ir.Site(span, "", "", ";", blocked="a constructor")
            name_span = Span(span.path, span.start, span.start)
            callee = f"{cls.name}::{cls.constructor}"
            self.emit(ir.Call(callee, (), span, name_span, span.end - 1, site, (), place))

    def class_in(self, kind: str) -> Class | None:
        """The class of the object that something of this type is; None for a pointer or a reference to one."""
        return self.file.index.class_of(kind) if kind and not kind.endswith(("*", "]", "&")) else None

    def active(self, kind: str) -> str:
        """A type, or what it is another name of, if making an object of it does something that ordering may depend on:
        starts a thread, for example. Empty for any other.
        """
        if kind.endswith(("*", "]", "&")):
            return ""
        kind = Type.of(kind).core.removeprefix("::")
        index = self.file.index
        if index.class_of(kind) is not None:
            return ""
        found = [kind]
        for one in found:  # another name of another name
            found += [other for other in index.meanings(one) if other not in found]
        return next((one for one in found if ACTIVE_TYPES.fullmatch(one) and not one.endswith("*")), "")

    def constructor(
        self, node: Node, kind: str, values: tuple[Expr, ...], spans: tuple[Span, ...], result: Expr | None = None
    ) -> None:
        """The constructor of a class that is not seen, or that does something, is a function of its name, which a table
        may know.
        """
        self.meets_several(node, kind)
        if values or result is not None:
            span = self.span(node)
            name_span = Span(span.path, span.start, span.start)
            site = ir.Site(span, "", "", ";", blocked="a constructor") if result is None else self.site(node)
            known = result if isinstance(result, (Var, Field, Index)) else None
            given = kind.partition("<")[2].removesuffix(">") if result is not None else ""
            close, callee = span.end - 1, plain_name(kind)
            call = ir.Call(callee, values, span, name_span, close, site, spans, None, known, Look.IGNORED, given)
            self.emit(call)

    def meets_several(self, node: Node, kind: str) -> None:
        """An object is made and ends somewhere, of which it is not known which of several classes it is."""
        if (cls := self.unseen(kind)) is not None and cls.alternatives:
            span = self.span(node)
            site = ir.Site(span, "", "", ";", blocked="an object of one class or another")
            at, place = Span(span.path, span.start, span.start), self.temporary(cls.name)
            for name in (cls.constructor, cls.destructor):
                self.emit(ir.Call(f"{cls.name}::{name}", (), span, at, span.end - 1, site, (), place))

    def made_of_unseen(self, node: Node, kind: str, values: Iterable[Expr]) -> None:
        """A place of this type gets values: where it is an object of a class that is not seen, or holds some, and these
        are no such objects, a constructor or an assignment of that class takes them.
        """
        given = tuple(value for value in values if self._is_no_unseen_object(value))
        for one in self._objects_in(kind.rstrip(" &")) if given else ():
            if self.is_unseen(one) or (one != kind.rstrip(" &") and _THREAD.fullmatch(self.active(one))):
                self.constructor(node, one, given, ())

    def _is_no_unseen_object(self, value: Expr) -> bool:
        """Whether a value may be a pointer or a handle, and not an object of a class that is not seen."""
        if isinstance(value, (Opaque, ir.Choice)):
            parts = value.parts if isinstance(value, Opaque) else value.options
            return any(map(self._is_no_unseen_object, parts))
        kind = self.type_of(value).rstrip(" &")
        return self.may_lead(value) and not self.is_unseen(kind) and not _THREAD.fullmatch(self.active(kind))

    def _objects_in(self, kind: str) -> Iterator[str]:
        """A type, and those of the objects that the standard library makes in one of it."""
        yield kind
        of = Type.of(kind)
        if of.library.parts:
            for one in of.arguments[: 1 if of.library.numbered else None]:
                yield from self._objects_in(one)

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
        return kind.startswith(("auto", "decltype")) or (index.names_type(kind) and index.class_of(kind) is None)

    def may_be_any(self, kind: str) -> bool:
        """Whether a type is not known, or left to the call: a parameter of a template, or made of one (`C<T>`)."""
        of = Type.of(kind)
        return of.is_direct and (not of.template or self._is_open(of.template))

    def part_of(self, kind: str, place: Expr, number: int) -> Expr | None:
        """What `get<number>` or a name of a structured binding refers to ([dcl.struct.bind]); None if not known."""
        cls = self.file.index.class_of(kind) if not is_pointer(kind) else None
        names = list(cls.fields) if cls is not None and not cls.bases else []
        of_map = isinstance(place, Index) and Type.of(self.type_of(place.base)).library.pairs
        if of_map or (isinstance(place, Var) and ir.member_of_pair(kind, "first") is not None):
            return Field(place, ("first", "second")[number]) if number < 2 else None
        if number < len(names):
            return self.member(place, names[number])
        is_array = kind.endswith("]") or (isinstance(place, Var) and Type.of(kind).library.name == "array")
        return Index(place, Const(str(number))) if is_array else None

    # -- temporaries --------------------------------------------------------------------------------------------------

    def _ends(self, node: Node, made: Var, cls: Class) -> None:
        """A temporary object ends with the statement. Not if somebody takes it over: who it is returned to, or a
        function that is not seen, such as that of a container.
        """
        if not self.file.index.has(cls, cls.destructor):
            return
        outer = node.parent
        while outer is not None and (
            outer.type in ("parenthesized_expression", "qualified_identifier") or self._is_discarded(outer)
        ):
            outer = outer.parent
        in_loop = outer is not None and outer.parent is not None and outer.parent.type == "for_range_loop"
        of_number = outer is not None and is_number(self._made_of_it(outer))
        if of_number:
            self.converts(node, made)
        elif outer is None or (outer.type in _TAKES_OVER and not in_loop):
            return
        if outer is not None and outer.type == "argument_list" and not of_number:
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
            classes = [self.file.index.class_of(p.type) for p in taken]
            if any(one in self.file.index.lineage(cls.name) for one in classes if one is not None):
                return  # it is the parameter, which the function ends
            if None in classes:  # the parameter is made of it: `std::any`
                self.unknown("a temporary object of which it is not known who ends it", node, (made,))
        at: Node | None = outer
        while at is not None and not self._is_statement(at):
            if at.type in _SOMETIMES or any(child.type in ("&&", "||") for child in at.children):
                at = None
                break
            at = at.parent
        if at is None or at.type not in ("expression_statement", "declaration", "return_statement"):
            self.unknown("a temporary object that ends in the middle of a statement", node, (made,))
        else:
            self.ending.append((made, cls, node))

    def _made_of_it(self, outer: Node) -> str:
        """The type of what is initialized with a temporary object in this expression; empty where that is not known."""
        at: Node | None = outer
        while at is not None and at.type in ("argument_list", "initializer_list", "parenthesized_expression"):
            at = at.parent
        if at is None:
            return ""
        if at.type == "return_statement":
            return self.gives
        if at.type == "init_declarator":
            declarator = at.child_by_field_name("declarator")
            while declarator is not None and declarator.type == "array_declarator":
                declarator = declarator.child_by_field_name("declarator")
            is_one = declarator is not None and declarator.type == "identifier"
            return base_type(at.parent, self.source.text, self.file.index) if is_one and at.parent is not None else ""
        if at.type == "field_initializer" and (cls := self.file.index.class_of(self.cls or "")) is not None:
            return cls.fields.get(self.raw(at.named_children[0]), "")
        kind = at.child_by_field_name("type" if at.type == "new_expression" else "function")
        made = at.type == "new_expression" or (kind is not None and kind.type == "primitive_type")
        return self.raw(kind) if kind is not None and made else cast_type(self.raw, at)

    def _is_discarded(self, node: Node) -> bool:
        """Whether it is `static_cast<void>(…)`, or the parentheses of it."""
        call = node.parent if node.type == "argument_list" else node
        return call is not None and cast_argument(self.raw, call) is not None and cast_type(self.raw, call) == "void"

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

    def _is_statement(self, node: Node) -> bool:
        """Whether it is the statement that is lowered, or the declaration at namespace scope."""
        return node == self.place.node if self.place is not None else node.type == "declaration"

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
        if len(kinds) > 1 and all(cls.unseen for cls in classes):
            self.ending += [(self.temporary(cls.name), cls, node) for cls in classes]
        elif len(kinds) > 1:
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
        number = callee.startswith("std::") and NUMBER_OBJECT.match(callee) is not None
        made = _THREAD.fullmatch(callee) or _VIEW_OBJECT.fullmatch(callee)
        if number or (made and name not in self.file.hosts):  # its constructor
            return callee
        kinds = index.returned(name) - {""} | {f"{kind} &" for kind in index.referred(name) - {""}}
        kind = kinds.pop() if len(kinds) == 1 else ""
        standard = (kind.startswith("std::optional<") or keeps_references(kind)) and name in self.file.hosts
        of = Type.of(kind)
        objects = (
            of.library.parts and of.library.positions and of.is_direct and not any(one.pointers for one in of.inside)
        )
        if objects and receiver is not None:  # whose methods are called on its elements
            element = of.arguments[0]
            return kind if index.class_of(element) is not None and not index.names_type(element) else ""
        return kind if standard or index.class_behind(kind) is not None else ""


def _written(node: Node, values: tuple[Expr, ...]) -> Sequence[Node | None]:
    """What is written for each of the values in braces, as far as that is known."""
    braces = node if node.type == "initializer_list" else node.child_by_field_name("value")
    listed = [child for child in braces.named_children if child.type != "comment"] if braces is not None else []
    is_list = braces is not None and braces.type == "initializer_list"
    return listed if is_list and len(listed) == len(values) else [None] * len(values)
