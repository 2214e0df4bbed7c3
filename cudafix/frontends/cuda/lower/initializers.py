"""How objects begin: variables, bases and members of objects, elements of arrays, fields of aggregates, and what `new`
makes. Each by its type and what it is given, wherever that is written.
"""

from __future__ import annotations

from collections import deque

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.expressions import MAX_DEPTH
from cudafix.frontends.cuda.lower.new_and_delete import each
from cudafix.frontends.cuda.lower.objects import Objects
from cudafix.frontends.cuda.lower.terms import opaque, single_values
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.frontends.cuda.sema.type_texts import WIDE, is_pointer, keeps_references
from cudafix.ir import NULL, Addr, Const, Expr, Field, FuncRef, Index, Opaque, Span, Var
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number


def _is_filled(kind: str) -> bool:
    """Whether what is in braces behind a type are elements of it: those of an array also where they say which one it
    is ([array.cons]).
    """
    of = Type.of(kind)
    return of.library.braced or of.deduced.name == "array"


class Initializers(Objects):
    """What an initializer does with the place that it is for."""

    # -- of any type --------------------------------------------------------------------------------------------------

    def initialize_with(self, node: Node, place: Expr, kind: str, value: Node | None, count: str = "") -> None:
        """`T x`, `T x = a`, `T x(a)` and `T x{a}`; an array has `count` elements, where that is known."""
        index, array = self.file.index, kind.endswith("]")
        cls = self.class_in(kind.rstrip("[]") if array else kind)
        if value is None:
            if array:
                each(self, node, cls or self.unseen(kind), "", place, count or f"?@{self.span(node).start}")
            else:
                self.initialize(node, place, kind, ())
        elif value.type == "argument_list":
            self.initialize(node, place, kind, *self.arguments(value))
        elif value.type == "initializer_list":
            made = cls is not None and (bool(cls.inherits) or index.has(cls, cls.constructor))
            if array or (cls is not None and not made) or any(map(_is_filled, index.meanings(kind))):
                self.fill(node, place, kind, value, count=count)
            else:
                self.initialize(node, place, kind, *self.arguments(value))
        elif kind.endswith(" &"):
            self.store(place, self.bound(place, self.lvalue(value)), node)
        elif cls is None or array:
            self.assign(place, value, node)
            self.begin_unseen(node, place, kind)
        else:
            before = len(self.out)
            given = self.value(value, place)
            if given == place and len(self.out) > before:  # a call has made it there
                self.made_of(node, cls.name, place, place)
            else:
                self.initialize_as(node, place, kind, given)

    def initialize(
        self, node: Node, place: Expr, kind: str, values: tuple[Expr, ...], spans: tuple[Span, ...] = ()
    ) -> None:
        """`T x(a, b)`, and `T x{a, b}` where `T` is no aggregate (C++17, 11.6 [dcl.init] 17)."""
        cls = self.class_in(kind)
        if cls is not None:
            self.build(node, place, cls, values, spans)
        elif active := self.active(kind):
            self.hands_over(node, active, values)
            self.constructor(node, active, values, spans, place)
            self.lead_to_elements(place, node)
        elif not values:
            self.begin_unseen(node, place, kind)
        else:
            if self.is_unseen(kind):
                self.constructor(node, kind, values, spans)
            else:
                self.begin_unseen(node, place, kind)
            if self._is_made_by_others(kind, values):
                self.constructor(node, kind, values, spans)
            if len(values) == 1 and self._is_one(kind, values[0]):
                value = NULL if values[0] == Const("0") and is_pointer(kind) else values[0]
                self.store(place, self.bound(place, value), node)
            else:
                self._hold(node, place, kind, values, spans)
                if node.type != "initializer_list":
                    self.takes_size(node, place, values)

    def initialize_as(self, node: Node, place: Expr, kind: str, value: Expr) -> None:
        """`T x = value`: as a copy of an object of the class, unless that is a new one; of a value that is none by a
        constructor that converts it.
        """
        cls = self.class_in(kind) if kind else self.copied_class(value)
        if cls is not None and self.class_at(value) is cls:
            self.build(node, place, cls, (value,))
            return
        became = self.made_of(node, kind, value, place)
        if became != place:
            became = NULL if became == Const("0") and is_pointer(kind) else became
            self.store(place, self.bound(place, became), node)

    def _is_made_by_others(self, kind: str, values: tuple[Expr, ...]) -> bool:
        """Whether a function is given to the constructor of a type that is left to who uses a template: it may be that
        of a thread. Not where the type is that of the function.
        """
        return self._is_open(kind) and any(
            isinstance(value, FuncRef)
            or (isinstance(value, Var) and value.name in self.lambdas)
            or Type.of(self.type_of(value)).library.callable
            or self._is_open(self.type_of(value).strip(" &"))
            and self.type_of(value).strip(" &") != kind
            for value in values
        )

    def _is_one(self, kind: str, value: Expr) -> bool:
        """Whether an object is what the only value is that it is made of: not one that has other objects in it."""
        if kind.rstrip(" &").removeprefix("const ") == self.type_of(value).removeprefix("const "):
            return True
        if self.is_unseen(kind) or keeps_references(kind):
            return False
        meant = map(Type.of, self.file.index.meanings(kind))
        return not any(one.library.parts or one.deduced.text or one.deduced.view for one in meant)

    def _hold(self, node: Node, place: Expr, kind: str, values: tuple[Expr, ...], spans: tuple[Span, ...]) -> None:
        """An object of a class that is not seen, or of the standard library, holds what it is made of."""
        span = self.span(node)
        if keeps_references(kind):
            values = (*values, *map(self.address, single_values(values)))
        self.hands_over(node, kind, values)
        self.copied(node, kind, values)
        if Type.of(kind).library.parts:
            self.made_of_unseen(node, kind, values)
        if self.are_elements(kind, values):
            for value in values:
                self.emit(ir.Assign(Index(place, Opaque(())), value, span))
            return
        held = (part for value in values for part in self.held_by(value))
        address = values[0] if len(values) == 1 and isinstance(values[0], Addr) else None
        self.emit(ir.Assign(place, address or opaque(*held), span))

    # -- braces -------------------------------------------------------------------------------------------------------

    def fill(
        self,
        node: Node,
        place: Expr,
        kind: str,
        value: Node,
        initials: list[tuple[str, Expr]] | None = None,
        count: str = "",
    ) -> None:
        """The elements or members that braces initialize: `T x[n] = {a, b}`, `S s = {a, .f = b}`."""
        children = [child for child in value.named_children if child.type != "comment"]
        values = initials if initials is not None else [self.initial(child) for child in children]
        if any(map(self.several, children)):
            self.unread("braces with a macro that stands for several values", node)
        array = kind.endswith("]")
        cls = self.class_in(kind) if not array else None
        given = tuple(initial for _, initial in values)
        if not array:
            self.copied(node, kind, given)
        if array or cls is not None:
            for made in cls.bases if cls is not None else (kind.rstrip("[]"),):
                self.made_of_unseen(node, made, given)
        if array:
            self._fill_array(node, place, kind, children, values, count)
        elif cls is not None and len(given) == 1 and self._is_of(given[0], cls):
            self.initialize_as(node, place, kind, given[0])  # a copy (C++17, 11.6.4 [dcl.init.list] 3.1)
        elif cls is not None:
            if any(label for label, _ in values):
                self._fill_named(node, place, cls, children, values)
            else:
                self.fill_members(node, place, cls, deque(zip(children, given, strict=True)), rest=True)
        else:
            self._fill_container(node, place, kind, children, values)

    def _is_of(self, value: Expr, cls: Class) -> bool:
        own = self.class_at(value)
        return own is not None and cls in self.file.index.lineage(own.name)

    def _fill_array(
        self, node: Node, place: Expr, kind: str, children: list[Node], values: list[tuple[str, Expr]], count: str
    ) -> None:
        index, span, element = self.file.index, self.span(node), kind.removesuffix("[]")
        if is_number(element) and not WIDE.search(element):
            return
        cls = self.class_in(element)
        objects = cls is not None and (index.has(cls, cls.constructor) or index.has(cls, cls.destructor))
        if cls is not None and index.has(cls, cls.constructor) and count not in ("", str(len(children))):
            self.unknown("elements of an array that braces leave out", node)
        if not objects and (not values or (len(values) == 1 and isinstance(values[0][1], Const))):
            if not is_number(element):
                self.emit(ir.Assign(Index(place, Opaque(())), NULL, span))
            return
        items = deque[tuple[Node | None, Expr]]()
        items.extend((children[n] if n < len(children) else None, initial) for n, (_, initial) in enumerate(values))
        number = 0
        while items:
            at = Index(place, Const(str(number)))
            if cls is not None or self.active(element) or element.endswith("]"):
                self._take(node, at, element, items)
            else:
                _, initial = items.popleft()
                if not is_number(element) or not isinstance(initial, Const):
                    self.emit(ir.Assign(at, initial, span))
            number += 1

    def fill_members(
        self, node: Node, place: Expr, cls: Class, items: deque[tuple[Node | None, Expr]], rest: bool
    ) -> None:
        """The bases of an aggregate, then its members, get the values between braces one after the other (C++17, 11.6.1
        [dcl.init.aggr] 2, 12); `rest`: those for which none is left start as null. A base that is not seen takes any
        number of them.
        """
        if items and any(self.class_in(base) is None for base in cls.bases):
            any_of = opaque(*(value for _, value in items))
            self.emit(ir.Assign(place, any_of, self.span(node)))
            for name in cls.fields:
                self.store(Field(place, name), any_of, node)
            items.clear()
            return
        for base in cls.bases:
            if items:
                self._take(node, place, base, items)
        names = list(cls.fields)
        for number, name in enumerate(names):
            if any(other in names[:number] for other in cls.overlaid(name)):
                continue
            kind, part = cls.fields[name], Field(place, name)
            if items and not (rest and self._is_only_number(kind, items[0][1])):
                self._take(node, part, kind, items, cls.extents.get(name, ""))
            elif items:
                items.popleft()
            elif rest and not self._is_only_number(kind, NULL):
                self.store(part, NULL, node)

    def _is_only_number(self, kind: str, value: Expr) -> bool:
        """Whether a member is a number that neither an address nor an index fits into, or a constant."""
        wide = WIDE.search(kind) is not None and not isinstance(value, Const)
        return is_number(kind) and not (wide and value != NULL) and not self.is_address(value)

    def _take(
        self, node: Node, place: Expr, kind: str, items: deque[tuple[Node | None, Expr]], count: str = ""
    ) -> None:
        """An element or a member gets the next value, or as many as it has parts, where it is an aggregate without
        braces of its own.
        """
        child, value = items[0]
        left, cls = len(items), self.class_in(kind)
        if not self._elides_braces(kind, child, value):
            items.popleft()
            self._begin_part(child, node, place, kind, value)
        elif self.depth > MAX_DEPTH:
            self.unknown("nested too deeply", node, (place, value))
        elif cls is not None:
            self.depth += 1
            self.fill_members(node, place, cls, items, False)
            self.depth -= 1
        elif count.isdigit():
            for number in range(int(count)):
                if items:
                    self._take(node, Index(place, Const(str(number))), kind.removesuffix("[]"), items)
        else:  # as many as nobody knows
            any_of = opaque(*(one for _, one in items))
            self.emit(ir.Assign(Index(place, Opaque(())), any_of, self.span(node)))
            items.extend([(None, any_of)] * left)
            for _ in range(left):
                items.popleft()
        if len(items) == left:
            items.popleft()

    def _elides_braces(self, kind: str, child: Node | None, value: Expr) -> bool:
        """Whether a value is for the first part of an aggregate of this type: it is known to be no such object."""
        given = self.type_of(value)
        if (child is not None and child.type in ("initializer_list", "string_literal")) or not (
            given or isinstance(value, Const)
        ):
            return False
        if kind.endswith("]"):
            return not given.endswith("]")
        cls, own = self.class_in(kind), self.class_at(value)
        if cls is None or cls.inherits or cls.constructor in cls.methods or self.is_unclear(given):
            return False
        return own is None or cls not in self.file.index.lineage(own.name)

    def _fill_named(
        self, node: Node, place: Expr, cls: Class, children: list[Node], values: list[tuple[str, Expr]]
    ) -> None:
        """`{.a = x, .b = y}`: the members that are not named start as null."""
        named = {label: (child, initial) for child, (label, initial) in zip(children, values, strict=True)}
        names = list(cls.fields)
        for number, name in enumerate(names):
            if any(other in names[:number] for other in cls.overlaid(name)) and name not in named:
                continue
            kind, part = cls.fields[name], Field(place, name)
            child, initial = named.get(name, (None, NULL))
            if self._is_only_number(kind, initial):
                continue
            if child is not None:
                self._begin_part(child, node, part, kind, initial)
            else:
                self.store(part, NULL, node)

    def _begin_part(self, child: Node | None, node: Node, place: Expr, kind: str, value: Expr) -> None:
        """An element or a member, of its own braces or of a value; `child` is what is written for it."""
        braces = child if child is not None and child.type == "initializer_list" else None
        listed = self.listed.get(braces.id) if braces is not None else None
        labelled = braces is not None and any(one.type == "initializer_pair" for one in braces.named_children)
        if braces is None or listed is None or labelled:
            self.initialize_as(child or node, place, kind, value)
        elif kind.endswith("]"):
            self.fill(braces, place, kind, braces, [("", one) for one in listed], str(len(listed)))
        elif self.class_in(kind) is not None or self.active(kind):
            self.initialize(braces, place, kind, listed)
        else:
            self.initialize_as(braces, place, kind, value)

    def _fill_container(
        self, node: Node, place: Expr, kind: str, children: list[Node], values: list[tuple[str, Expr]]
    ) -> None:
        span, given = self.span(node), tuple(initial for _, initial in values)
        of, holds_many = Type.of(kind), _is_filled(kind)
        element = (*of.arguments, "")[0] if holds_many else ""
        leads = is_pointer(element) or WIDE.search(element) is not None
        leads = leads or (holds_many and not element and any(map(self.may_lead, given)))
        fixed = of.library.name == "array"
        if (leads and children) or self.are_elements(kind, given):
            counted = not fixed and len(values) == 2 and is_number(self.type_of(given[0]) or "int")  # `v{n, p}`
            ordered = leads and (fixed or of.library.row) and not counted
            unclear = not ordered or any(child.type == "initializer_list" for child in children)
            for number, initial in enumerate(given):
                self.emit(ir.Assign(Index(place, Const(str(number)) if not unclear else Opaque(())), initial, span))
            self.made_of_unseen(node, kind, given)
            if not leads:
                self.hands_over(node, kind, given)
            return
        for label, initial in values:
            if label:
                self.made_of_unseen(node, self.type_of(Field(place, label)), (initial,))
                self.emit(ir.Assign(Field(place, label), initial, span))
        self.hands_over(node, kind, given)
        if values and not any(label for label, _ in values):
            self.made_of_unseen(node, kind, given)
            held = (part for initial in given for part in self.held_by(initial))
            self.emit(ir.Assign(place, opaque(*held), span))

    def are_elements(self, kind: str, values: tuple[Expr, ...]) -> bool:
        """Whether a container is made of objects, or of one of them so many times: not of a range, or as a copy."""
        if not any(map(_is_filled, self.file.index.meanings(kind))):
            return False
        made = [value for value in values if self.may_lead(value)]
        return bool(made) and all(
            isinstance(value, Opaque) or self.file.index.class_of(self.type_of(value)) is not None for value in made
        )
