"""Loops: canonical ranges, plain loops that become one access, range-based loops."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.branches import Branches
from cudafix.frontends.cuda.lower.syntax import cast_argument, first_named, is_constant_around
from cudafix.frontends.cuda.lower.terms import (
    PLACES,
    Plain,
    assigned_in,
    generic,
    is_temporary,
    leaves,
    root_of,
)
from cudafix.frontends.cuda.sema.declarators import declared
from cudafix.ir import (
    Addr,
    Block,
    Const,
    Expr,
    Field,
    Index,
    Opaque,
    Var,
)
from cudafix.ir.names import WORD, WORD_IN_BYTES
from cudafix.ir.types import Type
from cudafix.models.number_types import is_number

_PLACE = re.compile(r"[A-Za-z_][\w.]*")
_VARIABLE = re.compile(r"(?<![\w.>#])(?<!::)[A-Za-z_]\w*(?![\w.(\[#]|->|::)")  # a name on its own, no part of another


@dataclass(frozen=True)
class _Header:
    """The head of a canonical loop: its index, the text of its range and the names in that, whether one round is
    certain, and what is written for its bounds and its stride.
    """

    index: Var
    text: str
    words: frozenset[str]
    once: bool
    operands: tuple[Node, ...]


class Loops(Branches):
    """Lowers loops."""

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
        made_of = self._made_of(header) if header is not None else ()
        if made_of is None:
            header, made_of = None, ()
        sizes: tuple[Expr, ...] = ()
        if header is not None and (right := condition.child_by_field_name("right") if condition else None) is not None:
            if (container := self._asked_for(right)) is not None:
                counted = self._count(self.lvalue(container), container)
                if counted is None or header.text != "0:{}":
                    header = None
                else:
                    text, sizes = counted
                    header = replace(header, text=f"0:{text}", once=text.isdigit() and int(text) > 0)
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        before = self.collect(lambda: self._discard(condition)) if condition is not None else ()
        self.blocked = kept
        names = dict(self.versions)
        body = self._round(node.child_by_field_name("body"))
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        after = self.collect(lambda: self._discard(step)) if step is not None else ()
        self.blocked = kept
        variables: list[str] = []
        text = ""
        if header is not None:
            text, words = header.text, header.words
            assigned = assigned_in(body)
            changed = {w for w in words if self.versions.get(w, 0) != names.get(w, 0)}
            if (
                header.index in assigned
                or changed
                or any(isinstance(a, Var) and a.name.partition("@")[0] in words for a in assigned)
            ):
                header, made_of = None, ()
            else:
                variables = [word for word in _VARIABLE.findall(text) if isinstance(self.local(word), Var)]
                text = self.marked(text, words) if not sizes else text
        index = header.index if header is not None else None
        places = tuple(place for word in variables if isinstance(place := self.local(word), Var))
        made = ir.Loop(
            body, self.span(node), before, after if index is None else (), index,
            _pattern(text, variables) if header is not None else None, header is not None and header.once,
            condition is None, places or sizes if header is not None else (), self._plain_text(condition),
            tuple(place for place in made_of if place not in places),
        )  # fmt: skip
        if header is not None:
            self.ranged.append((made, header.words, after))
        self._emit_loop(made)

    def _made_of(self, header: _Header) -> tuple[Expr, ...] | None:
        """The places whose values are the bounds and the stride of a loop; None where a name in them may mean another
        value elsewhere, though it is spelled alike.
        """
        values: list[Expr] = []
        operands = [node for node in header.operands if self.number_of(self.normal(node), node) is None]
        read = self.collect(lambda: values.extend(self.value(node) for node in operands))
        values += (place for stmt in read if isinstance(stmt, ir.HostAccess) for place in stmt.reads)
        found: dict[Expr, None] = {}
        while values:
            match values.pop():
                case Opaque(parts):
                    values += parts
                case ir.Const(text):
                    if WORD.fullmatch(text) and (
                        self.file.index.are_several(text) or is_constant_around(self.raw, operands[0], text)
                    ):
                        return None
                case place if place != header.index:
                    found[place] = None
        return tuple(found)

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

    def _plain_text(self, condition: Node | None) -> str:
        """What a condition says itself: it has no calls, and no macros."""
        text = self.normal(condition).strip("()") if condition is not None else ""
        plain = "(" not in text and not any(word in self.file.macros for word in re.findall(r"\w+", text))
        return text if plain else ""

    def _discard(self, node: Node) -> None:
        self.value(node, None, False)

    def _header(self, first: Node | None, condition: Node | None, step: Node | None) -> _Header | None:
        """The head of a canonical loop, `for (i = a; i < b; i++)`; None for any other."""
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
        if self._asked_for(right) is not None:
            high = "{}"
            words = frozenset(WORD.findall(self.normal(right)))
            return _Header(index, "0:{}", words, False, ()) if (low, sign, stride) == ("0", "<", "1") else None
        if stride is None or "(" in low + high.replace("sizeof(", ""):
            return None
        if stride == "-1" and sign in (">=", ">") and (found := re.fullmatch(r"(.+)-1", low)) and sign == ">=":
            text = f"{high}:{found.group(1)}"  # the same indices as upwards
            low, high = high, found.group(1)
        elif stride == "1" and sign in ("<", "!="):
            low, high = self.number_of(low, condition) or low, self.number_of(high, condition) or high
            text = f"{low}:{high}"
        elif stride == "1" and sign == "<=":
            text = f"{low}:={high}"
        else:
            text = f"{low}:{sign}{high}:{stride}"
        first_one, last_one = self.number_of(low, condition), self.number_of(high, condition)
        once = first_one is not None and last_one is not None and sign in ("<", "!=")
        once = once and int(first_one or 0) < int(last_one or 0)
        words = frozenset(WORD.findall(f"{low} {high} {stride}"))
        by = step.child_by_field_name("right") if stride not in ("1", "-1") else None
        return _Header(index, text, words, once, (start, right, by) if by is not None else (start, right))

    def _count(self, container: Expr, node: Node) -> tuple[str, tuple[Expr, ...]] | None:
        """How many elements a loop over a container visits, one after the other: as text, with a mark for what is found
        out where the loop runs. None where that cannot be said of such a container.
        """
        root = container
        while isinstance(root, Field):
            root = root.base
        if not isinstance(root.base if isinstance(root, ir.Deref) else root, Var) or is_temporary(root):
            return None
        if isinstance(container, Var) and container.name in self.extents:
            return self.extents[container.name], ()
        of = Type.of(self.type_of(container))
        given = of.arguments if of.library.name == "array" else ()
        if len(given) == 2 and (count := self.number_of(given[1], node)) is not None:
            return count, ()
        size = self.size_of(container)
        return ("{}", (size,)) if size is not None else None

    def _asked_for(self, node: Node) -> Node | None:
        """The container of which an expression says how many elements it has: `v.size()`, `(int)v.size()`."""
        while node.type in ("parenthesized_expression", "cast_expression") or cast_argument(self.raw, node) is not None:
            inner = node.child_by_field_name("value") if node.type == "cast_expression" else None
            inner = inner or cast_argument(self.raw, node) or first_named(node)
            if inner is None:
                return None
            node = inner
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        arguments = node.child_by_field_name("arguments")
        if function is None or function.type != "field_expression" or arguments is None or arguments.named_child_count:
            return None
        name, container = function.child_by_field_name("field"), function.child_by_field_name("argument")
        operator = function.child_by_field_name("operator")
        plain = name is not None and self.raw(name) == "size" and operator is not None and operator.type == "."
        return container if plain and container is not None and _PLACE.fullmatch(self.raw(container)) else None

    def _while(self, node: Node) -> None:
        name = WORD_IN_BYTES.match(self.file.original, node.start_byte) if self.source.shift == 0 else None
        if name is not None and name[0] != b"while" and name[0].decode() not in self.file.every_macro:
            self.may_declare(node, name[0].decode())
        condition = node.child_by_field_name("condition")
        text = self.normal(condition).strip("()") if condition is not None else ""

        def run() -> None:
            kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
            before = self.collect(lambda: self._condition(condition))
            self.blocked = kept
            body = self._round(node.child_by_field_name("body"))
            once = text in ("true", "1")
            test = self._plain_text(condition)
            self._emit_loop(ir.Loop(body, self.span(node), before, at_least_once=once, forever=once, test=test))

        self.flush()
        self.scoped(run, node)

    def _condition(self, node: Node | None) -> None:
        if node is None:
            return
        inner = node.child_by_field_name("value") if node.type == "condition_clause" else node
        if inner is not None and inner.type == "declaration":
            objects = len(self.scopes[-1].destroyed)
            self._declaration(inner)
            declarator = inner.child_by_field_name("declarator")
            one = declared("", declarator, self.source.text) if declarator is not None else None
            if one is not None and (found := self.local(one.name)) is not None:
                self.converts(inner, found)
            if any(cls is not None for _, cls, _ in self.scopes[-1].destroyed[objects:]):
                self.unknown("an object that ends with each round of a loop", inner)
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
        if text in ("0", "false") and not leaves(body):
            self.merge(body)  # `do { … } while (0)` is a block
            return
        kept, self.blocked = self.blocked, self.blocked or "in the head of a loop"
        before = self.collect(lambda: self._condition(condition))
        self.blocked = kept
        if text in ("0", "false"):
            body = (*body, ir.Break(self.span(node)))
        forever, test = text in ("true", "1"), self._plain_text(condition)
        self._emit_loop(ir.Loop(body, self.span(node), before, at_least_once=True, forever=forever, test=test))

    def _range_for(self, node: Node) -> None:
        container_node, declarator = node.child_by_field_name("right"), node.child_by_field_name("declarator")
        if container_node is None or declarator is None:
            self.unread(ir.NOT_PARSED, node)
            return

        def run() -> None:
            first = node.child_by_field_name("initializer")
            if first is not None:
                self.statement(first)
            if container_node.type == "initializer_list":
                container = self.value(container_node)
            else:
                container = self.lvalue(container_node)
            one = declared(self.type_specifier(node), declarator, self.source.text)
            self.flush()
            is_list = container_node.type == "initializer_list"
            listed = self._handles_in(container_node) if is_list else ()
            options: tuple[Expr, ...] = ()
            if listed:
                container = self._list_of(container_node, listed)
            elif is_list:
                options = container.parts if isinstance(container, Opaque) else (container,)
                options = tuple(self._element_of_list(container_node, option) for option in options)
            iterators = self.iterated(container_node, container)
            counted = self._count(container, container_node) if iterators is None and not is_list else None
            counted = (str(len(listed)), ()) if listed else counted
            index = Var(f"{ir.ROUND}@{node.start_byte + self.source.shift}") if counted is not None else None
            element: Expr = Index(iterators[0] if iterators is not None else container, index or Opaque(()))
            if is_list and not listed:
                element = ir.Choice(options) if options else Opaque(())

            def bind() -> None:
                nonlocal element
                if iterators is not None:
                    given = self.overloaded(container_node, "*", iterators[:1])
                    element = given if given is not None else element
                if one is None:
                    self.unknown("a declaration that is not understood", declarator)
                    return
                pair = self.element_of_map(self.type_of(container)) if iterators is None else ""
                kind = one.type if not one.type.startswith("auto") else (pair or self.type_of(element) or one.type)
                own = pair and len(ir.template_arguments(self.type_of(container))) < 4  # in memory of `std::allocator`
                if not (options or (own and one.bindings)):
                    self.touch(container_node, element)
                if one.bindings:
                    self.bind_names(one, element, declarator)
                    return
                self.flush()
                if not one.reference and self.file.index.ending(kind) is not None:
                    self.unknown("a copy of an object that ends with each round of a loop", declarator)
                var = self.declare(one.name, kind, one.node, reference=one.may_refer and not options)
                cls = self.copied_class(element) if not one.may_refer and not pair else None
                if cls is not None and not cls.deleter:
                    self.build(declarator, var, cls, (element,))
                    return
                value = element
                if one.may_refer and not options:
                    value = self.bound_reference(declarator, kind, element, Addr(element))
                    value = self.or_copied(declarator, kind, element, value) if one.open else value
                assigns: Block = (ir.Assign(var, value, self.span(declarator)),)
                for option in options if len(options) > 1 and self.file.index.class_of(kind) is not None else ():
                    each: Block = (ir.Assign(var, option, self.span(declarator)),)  # with all that it holds
                    assigns = (
                        ir.If(ir.Test("other", None, "which element it is"), each, assigns, self.span(declarator)),
                    )
                for assign in assigns:
                    self.emit(assign)

            def compare() -> None:
                if iterators is not None:
                    self.overloaded(container_node, "!=", iterators)

            def advance() -> None:
                if iterators is not None:
                    self.overloaded(container_node, "++", iterators[:1])

            before, binding = self.collect(compare), self.collect(bind)
            names = dict(self.versions)
            body = self._round(node.child_by_field_name("body"))
            loop = ir.Loop((*binding, *body), self.span(node), before, self.collect(advance))
            if counted is not None and index is not None:
                within = {var.name.partition("@")[0] for var in ir.variables(container) if isinstance(var, Var)}
                assigned = {a.name.partition("@")[0] for a in assigned_in(body) if isinstance(a, Var)}
                if any(self.versions.get(word, 0) != names.get(word, 0) for word in within) or within & assigned:
                    self.emit(ir.Assign(index, Opaque(()), self.span(node)))
                else:
                    self.types[index.name] = "int"
                    loop.index, loop.range, loop.bounds = index, f"0:{counted[0]}", counted[1]
                    loop.at_least_once = counted[0].isdigit() and int(counted[0]) > 0
            self._emit_loop(loop)

        self.scoped(run, node)

    def _handles_in(self, node: Node) -> tuple[Expr, ...]:
        """The places of the streams or events that a braced list names; none for any other list."""
        children = [child for child in node.named_children if child.type != "comment"]
        if any(child.type not in ("identifier", "field_expression", "subscript_expression") for child in children):
            return ()
        values = tuple(map(self.value, children))
        known = all(isinstance(value, PLACES) and self.type_of(value) in ir.HANDLES for value in values)
        return values if known else ()

    def _list_of(self, node: Node, values: tuple[Expr, ...]) -> Var:
        """The array that a braced list is of (C++17, 11.6.4 [dcl.init.list] 5)."""
        made, span = self.temporary(self.type_of(values[0])), self.span(node)
        self.emit(ir.Declare(made, self.type_of(made), True, span))
        for n, value in enumerate(values):
            self.emit(ir.Assign(Index(made, Const(str(n))), value, span))
        return made

    def _element_of_list(self, node: Node, value: Expr) -> Expr:
        """What a braced list holds of a value: of an object, a copy (C++17, 11.6.4 [dcl.init.list] 5)."""
        cls = self.copied_class(value)
        if cls is None or cls.deleter:
            return value
        made = self.temporary(cls.name)
        self.build(node, made, cls, (value,))
        if self.file.index.ending(cls.name) is not None:
            self.unknown("a copy of an object that ends with a loop", node, (made,))
        return made

    def _emit_loop(self, loop: ir.Loop) -> None:
        """A loop of plain host code becomes one access; its integers lose their values."""
        plain = Plain()
        if plain.block(loop.condition) and plain.block(loop.body, inside=True) and plain.block(loop.step):
            if all(self._is_number(target) for target in plain.assigned):
                changed = plain.assigned | ({loop.index} if loop.index is not None else set())
                changed_names = {var.name for var in changed if isinstance(var, Var)}
                self.flush()
                reads = [generic(place, changed_names) for place in plain.reads]
                writes = [generic(place, changed_names) for place in plain.writes]
                own = plain.declared
                reads = [place for place in dict.fromkeys(reads) if root_of(place) not in own]
                writes = [place for place in dict.fromkeys(writes) if root_of(place) not in own]
                if reads or writes:
                    throws = any(isinstance(one, ir.HostAccess) and one.throws for one in ir.walk((loop,)))
                    self.emit(ir.HostAccess(tuple(reads), tuple(writes), loop.span, throws=throws))
                if loop.index is not None and loop.index.name.startswith(ir.ROUND):
                    own = own | {loop.index}
                for target in sorted(changed - own, key=repr):
                    self.emit(ir.Assign(target, Opaque(()), loop.span))
                return
        self.emit(loop)

    def _is_number(self, target: Expr) -> bool:
        return isinstance(target, Var) and target.name not in self.references and is_number(self.type_of(target))


def _pattern(text: str, variables: list[str]) -> str:
    """The text of a range with a mark in place of each of these words."""
    if not variables:
        return text
    escaped = text.replace("{", "{{").replace("}", "}}")
    return _VARIABLE.sub(lambda found: "{}" if found[0] in variables else found[0], escaped)


def _stride(text: str, name: str) -> str | None:
    if text in (f"{name}++", f"++{name}", f"{name}+=1", f"{name}={name}+1"):
        return "1"
    if text in (f"{name}--", f"--{name}", f"{name}-=1", f"{name}={name}-1"):
        return "-1"
    found = re.fullmatch(re.escape(name) + r"([*/+-]|<<|>>)=(\w+)", text)
    return found.group(1) + found.group(2) if found else None
