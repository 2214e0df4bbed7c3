"""Where an address that a local variable of device code holds may come from: which parameters of the function, and
which variables of the device.

The local variables between which an address may pass are one class, whatever the order of the statements
(B. Steensgaard, "Points-to Analysis in Almost Linear Time", POPL 1996, section 3). An address may pass with every value
but those of which a rule of C++ says that they hold none: the elements of what points to numbers, the results of
comparisons, the difference of two pointers (C++17, 8.7 [expr.add] 5), and what functions return of which the type is a
number too small for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.sema.declarations import Declarations
from cudafix.frontends.cuda.sema.declarators import Declared, declared
from cudafix.frontends.cuda.sema.heads import base_type
from cudafix.frontends.cuda.sema.names import CASTS
from cudafix.frontends.cuda.sema.type_texts import is_pointer, plain_name
from cudafix.ir.names import WORD_IN_BYTES
from cudafix.ir.types import Type
from cudafix.models.api import plays, roles_of
from cudafix.models.device import device

Roots = tuple[frozenset[int], frozenset[str]]
"""Numbers of parameters, names of variables of the device."""

NOWHERE: Roots = (frozenset(), frozenset())
OUTSIDE = -1
"""In the place of a parameter: what a member of the object leads to, on which a method is called."""

LONG = 4_000  # bytes of an expression that may stand for anything: calls in calls would be read again and again
_WITHOUT = frozenset(
    "number_literal char_literal string_literal raw_string_literal concatenated_string true false null nullptr "
    "sizeof_expression alignof_expression user_defined_literal comment type_descriptor requires_expression".split()
)
_NO_ADDRESS = frozenset(("==", "!=", "<", ">", "<=", ">=", "<=>", "&&", "||"))
_OF_PARTS = frozenset(
    "parenthesized_expression comma_expression update_expression assignment_expression initializer_list argument_list "
    "initializer_pair compound_literal_expression".split()
)
_READS = frozenset(("r", "rw"))
_COPIES = frozenset(("memcpy", "memmove"))
# too small for an address, or of another kind
_SMALL = re.compile(
    r"(?:(?:un)?signed )?(?:char|short|int|short int)|unsigned|bool|float|double|u?int(?:[12]?\d|3[012])_t"
    r"|u(?:char|short|int)"
    r"|uint(?:8|32)|(?:__)?half|(?:__)?nv_bfloat16|dim3|(?:u?(?:char|short|int)|float|double)[1-4]|cu(?:Double)?Complex"
)
NAMES_OF_CALLEES = frozenset(
    "identifier field_identifier qualified_identifier template_function template_method primitive_type".split()
)
_BUILT_IN = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_LVALUES = frozenset(("identifier", "subscript_expression", "field_expression", "pointer_expression"))


class Origins:
    """The origins of the variables of one function.

    `types` are those of its parameters, with whether they are references; `numbers` gives the parameters that may hold
    an address; `globals_` the variables of the device that it names; `members` those of the objects of its class, if it
    is a method; `made` what the constructors and initializers of a class name of the device's variables.
    """

    def __init__(
        self,
        captures: Mapping[str, list[Node]],
        unparsed: Sequence[Node],
        text: bytes,
        index: Declarations,
        types: Mapping[str, tuple[str, bool]],
        numbers: Mapping[str, int],
        globals_: Mapping[bytes, tuple[str, ...]],
        members: frozenset[str],
        made: Mapping[str, frozenset[str]],
    ) -> None:
        self._text = text
        self._index = index
        self._types = types
        self.local: dict[str, str] = {}
        self.references: set[str] = set()
        self._dimensions: dict[str, int] = {}
        self._held: dict[str, Roots] = {name: (frozenset((number,)), frozenset()) for name, number in numbers.items()}
        for variable, full in globals_.items():
            self._held[variable.decode()] = frozenset(), frozenset(full)
        self._class_of: dict[str, str] = {}  # of local variables, by one of them
        self._elements_of: dict[tuple[int, int, int], Node | None] = {}  # by the local variables that are known
        self._words: dict[tuple[int, int], frozenset[str]] = {}  # in each expression, by where it stands
        flows = [*self._initialized(captures), *self._assigned(captures), *self._given(captures)]
        members -= self.local.keys() | types.keys()
        self.references |= set(filter(index.is_reference_member, members))
        for name in members:
            self._held.setdefault(name, (frozenset((OUTSIDE,)), frozenset()))
        for node in unparsed:
            words = frozenset(map(bytes.decode, WORD_IN_BYTES.findall(text, node.start_byte, node.end_byte)))
            flows += [(word, words) for word in words]
        for name, kind in self.local.items():
            for cls in index.lineage(Type.of(kind).core):
                self._join(name, (frozenset(), made.get(cls.name.rpartition("::")[2], frozenset())))
        self._solve(flows)

    # -- what is asked ------------------------------------------------------------------------------------------------

    def of(self, node: Node) -> Roots:
        """What the names in an expression may lead to."""
        if node.end_byte - node.start_byte > LONG:
            return self._union(self._held)
        return self._union(self._named(node))

    def of_name(self, name: str) -> Roots:
        return self._held.get(self._representative(name), NOWHERE)

    def holds_address(self, name: str) -> bool:
        return self.of_name(name) != NOWHERE

    def reached(self, node: Node) -> tuple[Node, bool]:
        """The node that an lvalue starts from, and whether memory outside of that variable is reached: `p[i]`, `*p`,
        `p->x`; not `s.x`, and not the elements of an array.
        """
        base, steps = self._base(node)
        name = self._name(base) if base.type == "identifier" else ""
        outside = name in self.references or self._types.get(name, ("", False))[1]
        reached = steps > self._dimensions.get(name, 0) or (outside and base != node)
        return base, reached or self._leads_through_reference(node, name)

    def _leads_through_reference(self, node: Node, name: str) -> bool:
        """Whether a member on the way to an lvalue is a reference, or may be one, to memory outside of the variable."""
        while (inner := self._inner(node)) is not None:
            field = node.child_by_field_name("field") if node.type == "field_expression" else None
            if field is not None:
                member, kind = self._name(field), self._type(name) if self._base(inner)[0] == inner else ""
                known = list(self._index.lineage(Type.of(kind).core)) if kind else []
                own = {cls.fields[member] for cls in known if member in cls.fields}
                if any(one.endswith("&") for one in own) or (not own and self._index.is_reference_member(member)):
                    return True
                if not known and "&" in kind.partition("<")[2]:  # `pair<int &, int>`
                    return True
            node = inner
        return False

    def carries(self, node: Node) -> bool:
        """Whether an address may pass with a value."""
        return bool(self._carried(node))

    def carried(self, node: Node) -> frozenset[str]:
        """The names of which an address may pass with a value."""
        return self._carried(node)

    def shows_parts(self, kind: str, any_union: bool) -> bool:
        """Whether a type has a union in which numbers lie over what may be an address. `any_union`: a class that is not
        known may be one.
        """
        if (
            any_union
            and self._index.class_of(Type.of(kind).core) is None
            and not self._index.means_number(Type.of(kind).core)
        ):
            return True
        for cls in self._index.lineage(Type.of(kind).core):
            for name in cls.unions:
                over = [cls.fields.get(other, "") for other in cls.overlaid(name)]
                holds = any(is_pointer(other) or not self._is_small(Type.of(other).core) for other in over)
                own = cls.fields.get(name, "")
                if holds and not is_pointer(own) and self._is_small(Type.of(own).core):
                    return True
        return False

    # -- values -------------------------------------------------------------------------------------------------------

    def _name(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _named(self, node: Node) -> frozenset[str]:
        at = node.start_byte, node.end_byte
        if at not in self._words:
            self._words[at] = frozenset(word.decode() for word in WORD_IN_BYTES.findall(self._text, *at))
        return self._words[at]

    def _carried(self, node: Node | None, elements: bool = False) -> frozenset[str]:
        """The names of which an address may pass with a value. `elements`: an lvalue is not read, it is referred to."""
        if node is None or node.type in _WITHOUT:
            return frozenset()
        kind = node.type
        if kind == "identifier":
            return frozenset((self._name(node),))
        if node.end_byte - node.start_byte > LONG:
            return self._named(node)
        if kind in ("subscript_expression", "field_expression", "pointer_expression"):
            base, steps = self._base(node)
            if base.type == "subscript_expression":
                return self._named(base)
            if base == node or base.type != "identifier":  # `&x`, or of what a call returns
                inner = node.child_by_field_name("argument") if base == node else base
                return self._carried(inner, elements=base == node)
            holds = elements or not self._is_number(self._name(base), node, steps)
            return frozenset((self._name(base),)) if holds else frozenset()
        if kind == "binary_expression":
            return self._of_operator(node)
        if kind == "unary_expression":
            return frozenset() if node.children[0].type in ("!", "not") else self._of_parts(node)
        if kind == "cast_expression":
            return self._carried(node.child_by_field_name("value"), elements)
        if kind == "conditional_expression":
            branches = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
            return frozenset[str]().union(*(self._carried(each, elements) for each in branches))
        if kind == "call_expression":
            return self._of_call(node, elements)
        if kind in _OF_PARTS:
            return self._of_parts(node, elements)
        return self._named(node)

    def _of_parts(self, node: Node, elements: bool = False) -> frozenset[str]:
        return frozenset[str]().union(*(self._carried(child, elements) for child in node.named_children))

    def _of_operator(self, node: Node) -> frozenset[str]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return self._named(node)
        if operator.type in _NO_ADDRESS:
            return frozenset()
        if operator.type == "-" and self._is_pointer(left) and self._is_pointer(right):
            return frozenset()
        return self._carried(left) | self._carried(right)

    def _is_pointer(self, node: Node) -> bool:
        while node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node.type == "identifier":
            return is_pointer(self._type(self._name(node)))
        kind = node.child_by_field_name("type") if node.type == "cast_expression" else None
        return kind is not None and self._name(kind).rstrip().endswith("*")

    def _of_call(self, node: Node, elements: bool) -> frozenset[str]:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return self._named(node)
        values = [child for child in arguments.named_children if child.type != "comment"]
        name = self._callee(function)
        last = name.rpartition("::")[2]
        if last in CASTS:
            return frozenset[str]().union(*(self._carried(value, "&" in self._name(function)) for value in values))
        api = device(name, len(values)) if function.type != "field_expression" else None
        if api is not None and not self._index.is_declared_function(last):
            roles = (role.rstrip("*") for role in roles_of(api, len(values)))
            found = frozenset[str]()
            for role, value in zip(roles, values, strict=False):
                loads = plays(role, _READS) and last not in _COPIES and not elements
                found |= self._loaded(value) if loads else self._carried(value, elements)
            return found if api.roles else frozenset[str]().union(*(self._carried(value, elements) for value in values))
        kinds = self._index.returned(last)
        if kinds and not self._index.referred(last) and all(map(self._is_small, kinds)):
            return frozenset()
        refers = function.type == "field_expression" or self._may_refer(last)
        return self._carried(function).union(*(self._carried(value, refers) for value in values))

    def _callee(self, function: Node) -> str:
        """The name of what is called; "" where a lambda, or what an expression gives, is."""
        if function.type == "field_expression":
            function = function.child_by_field_name("field") or function
        return plain_name(self._name(function)) if function.type in NAMES_OF_CALLEES else ""

    def _may_refer(self, name: str) -> bool:
        """Whether a function may take what it is given by reference."""
        return self._index.takes_reference(name) or self._index.parameters_at(name, 0, 0) is None

    def _loaded(self, node: Node) -> frozenset[str]:
        """What the memory holds that an argument points to."""
        if (inner := _without_address(node)) != node:
            return self._carried(inner)
        names = self._carried(node)
        return frozenset(name for name in names if not self._is_number(name, None, 1))

    def _type(self, name: str) -> str:
        return self._types[name][0] if name in self._types else self.local.get(name, "")

    def _is_number(self, name: str, node: Node | None, steps: int) -> bool:
        """Whether what is read at so many steps from a variable is a number, by its type."""
        kind = self._type(name)
        if not kind:
            return False
        own = steps <= self._dimensions.get(name, 0)  # a number in a variable of the function may be an address
        is_one = self._is_small if own else self._index.means_number
        last = node.child_by_field_name("field") if node is not None and node.type == "field_expression" else None
        member = self._name(last) if last is not None else ""
        found = [cls.fields[member] for cls in self._index.lineage(Type.of(kind).core) if member in cls.fields]
        if found:
            return all(map(is_one, found))
        if steps < kind.count("*") + kind.count("[]"):
            return False
        return _holds_numbers(self._index, kind) and (not own or self._is_small(Type.of(kind).core))

    def _is_small(self, kind: str) -> bool:
        """Whether a value of a type has no room for an address; or is none."""
        return kind == "void" or _SMALL.fullmatch(self._index.numbers.get(kind, kind)) is not None

    # -- between which variables an address may pass -------------------------------------------------------------------

    def _initialized(self, captures: Mapping[str, list[Node]]) -> Iterator[tuple[str, frozenset[str]]]:
        found: list[tuple[Declared, Node | None]] = []
        for node in captures.get("init", ()):
            value = node.child_by_field_name("right" if node.type == "for_range_loop" else "value")
            typed = node.parent if node.type == "init_declarator" else node
            if typed is None:
                continue
            base = base_type(typed, self._text, self._index)
            for declarator in node.children_by_field_name("declarator"):
                one = declared(base, declarator, self._text) if declarator.type != "init_declarator" else None
                if one is not None:
                    found.append((one, value))
                    self._declares(one)
        for one, value in found:
            names = [self._name(at) for at in one.bindings] or [one.name]
            for name in names if value is not None else ():
                yield name, self._carried(value, one.may_refer or bool(one.bindings) or self._is_built(one, value))
        for node in captures.get("built", ()):  # `View v(p);` reads like the declaration of a function
            name_node, given = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
            if name_node is not None and name_node.type == "identifier" and given is not None:
                yield self._name(name_node), self._named(given)

    def _is_built(self, one: Declared, value: Node | None) -> bool:
        """Whether a constructor may be given what initializes a variable, and keep a reference to it: `View v(*p);`."""
        kind = Type.of(one.type).core
        if value is None or is_pointer(one.type.rstrip("[]")) or self._index.means_number(kind):
            return False
        return value.type in ("argument_list", "initializer_list") or self._index.class_of(kind) is not None

    def _declares(self, one: Declared) -> None:
        for name in [self._name(at) for at in one.bindings] or [one.name]:
            kind = "" if one.bindings else one.type
            if self.local.setdefault(name, kind) != kind:  # two of this name: it may be any
                self.local[name] = ""
            self._dimensions[name] = min(self._dimensions.get(name, one.type.count("[]")), one.type.count("[]"))
            if one.may_refer or one.bindings:
                self.references.add(name)

    def _assigned(self, captures: Mapping[str, list[Node]]) -> Iterator[tuple[str, frozenset[str]]]:
        for node in captures.get("assign", ()):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None:
                continue
            base, _ = self._base(left)
            captured = node.type == "lambda_capture_initializer"
            if captured:
                self._declares(Declared(self._name(left), "", False, node.children[0].type == "&", left))
            for name in self._declared_in(base):
                self._declares(Declared(name, "", False, True, left))
            names = [self._name(base)] if base.type == "identifier" else sorted(self._named(left))
            carried = self._carried(right, elements=captured or base.type != "identifier")
            yield from ((name, carried) for name in names)

    def _declared_in(self, node: Node) -> frozenset[str]:
        """The variable of `float (&t)[4] = …`, which the grammar reads as a call with the address of `t`."""
        arguments = node.child_by_field_name("arguments") if node.type == "call_expression" else None
        values = arguments.named_children if arguments is not None else []
        if len(values) != 1 or values[0].type != "pointer_expression":
            return frozenset()
        return self._named(values[0]) - self.local.keys() - self._types.keys() - self._held.keys()

    def _given(self, captures: Mapping[str, list[Node]]) -> Iterator[tuple[str, frozenset[str]]]:
        """Variables that a call, or inline assembly, may store what it is given in: `pick(&q, p)`, `view.set(p)`."""
        for node in captures.get("asm", ()):
            for child in node.named_children:
                if child.type == "gnu_asm_output_operand_list":
                    yield from ((name, self._named(node)) for name in self._named(child))
        for node in captures.get("new", ()):
            placement, built = node.child_by_field_name("placement"), node.child_by_field_name("arguments")
            if placement is not None and built is not None:
                yield from ((name, self._carried(built, True)) for name in self._named(placement))
        for node in captures.get("call", ()):
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is None or arguments is None:
                continue
            values = [child for child in arguments.named_children if child.type != "comment"]
            name = self._callee(function)
            last = name.rpartition("::")[2]
            is_method = function.type == "field_expression"
            if last in CASTS or not values:
                continue
            api = device(name, len(values)) if not is_method and not self._index.is_declared_function(last) else None
            stored = [True] * len(values)
            if api is not None:
                stored = ["w" in role for role in roles_of(api, len(values))] + [False] * len(values)
            refers = api is None and (is_method or self._may_refer(last))
            given = [value for value, stores in zip(values, stored, strict=False) if stores]
            places = [value for value in given if self._is_place(value, refers)] + [function] * is_method
            for place in places:
                base, _ = self._base(_without_address(place))
                either = self._named(base) if base.type == "subscript_expression" else frozenset[str]()
                for stored_in in (self._name(base),) if base.type == "identifier" else sorted(either):
                    others = (self._carried(value, refers) for value in values if value != place)
                    yield stored_in, frozenset[str]().union(*others)

    def _base(self, node: Node) -> tuple[Node, int]:
        """The node that an lvalue starts from, and how many addresses are followed from there: `p[i]`, `*p`, `p->x`.
        Where either of `a[b]` may be the pointer, it starts from that (C++17, 8.2.1 [expr.sub] 1).
        """
        steps = 0
        while (inner := self._inner(node)) is not None:
            operator = node.child_by_field_name("operator") if node.type == "field_expression" else None
            steps += node.type in ("subscript_expression", "pointer_expression")
            steps += operator is not None and operator.type == "->"
            node = inner
        return node, steps

    def _inner(self, node: Node) -> Node | None:
        """What an lvalue is a part of, or is found through."""
        kind = node.type
        if kind == "subscript_expression":
            return self._subscripted(node)
        if kind == "field_expression":
            return node.child_by_field_name("argument")
        if kind == "pointer_expression" and node.children[0].type == "*":
            return node.child_by_field_name("argument")
        if kind == "cast_expression":
            return node.child_by_field_name("value")
        return node.named_children[0] if kind == "parenthesized_expression" and node.named_children else None

    def _subscripted(self, node: Node) -> Node | None:
        """What a subscript expression takes an element of; None where either part may be the pointer."""
        at = node.start_byte, node.end_byte, len(self.local)
        if at not in self._elements_of:
            self._elements_of[at] = self._pointer_of(node)
        return self._elements_of[at]

    def _pointer_of(self, node: Node) -> Node | None:
        left, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        others = [child for child in indices.named_children if child.type != "comment"] if indices is not None else []
        if left is None or len(others) != 1 or self._is_counted(others[0]) or self._has_elements(left):
            return left
        if self._is_counted(left):
            return others[0]
        may_point = any(self._type(name) or name in self._held for name in self._carried(others[0]))
        return None if may_point else left

    def _is_counted(self, node: Node) -> bool:
        """Whether the type of an expression is a number, no pointer."""
        kind = node.type
        if kind == "parenthesized_expression" and node.named_children:
            return self._is_counted(node.named_children[-1])
        if kind in ("number_literal", "char_literal", "true", "false", "sizeof_expression"):
            return True
        if kind == "identifier":
            return self._index.means_number(self._type(self._name(node)))
        if kind == "cast_expression":
            cast = node.child_by_field_name("type")
            return cast is not None and self._index.means_number(self._name(cast))
        if kind in ("binary_expression", "unary_expression", "update_expression"):
            return all(map(self._is_counted, node.named_children))
        if kind in ("field_expression", "subscript_expression", "pointer_expression"):
            base, steps = self._base(node)
            if base == node or base.type != "identifier":
                return False
            kind = self._type(self._name(base))
            last = node.child_by_field_name("field") if node.type == "field_expression" else None
            if last is not None:
                fields = (cls.fields.get(self._name(last), "") for cls in self._index.lineage(Type.of(kind).core))
                found = [field for field in fields if field]
                is_built_in = not kind and self._name(base) in _BUILT_IN
                return is_built_in or (bool(found) and all(map(self._index.means_number, found)))
            return steps >= kind.count("*") + kind.count("[]") and self._index.means_number(Type.of(kind).core)
        return False

    def _has_elements(self, node: Node) -> bool:
        """Whether an expression is known to be a pointer, an array, or an object of a class."""
        if node.type == "identifier":
            kind = self._type(self._name(node))
            return is_pointer(kind) or self._index.class_behind(kind) is not None
        return self._is_pointer(node)

    def _is_place(self, node: Node, refers: bool) -> bool:
        """Whether an argument may be a place that an address is stored in, or lead to one."""
        inner = _without_address(node)
        base, steps = self._base(inner)
        if base.type == "subscript_expression":
            return True
        if inner.type not in _LVALUES or base.type != "identifier":
            return False
        name = self._name(base)
        to_numbers = inner == node and not refers and is_pointer(self._type(name)) and self._is_number(name, None, 1)
        return not to_numbers and not self._is_number(name, inner, steps)

    def _solve(self, flows: Iterable[tuple[str, frozenset[str]]]) -> None:
        small = frozenset(filter(self._never_holds, self.local))
        pending = [(name, sources - small) for name, sources in flows if name not in small]
        for name, sources in pending:
            if name in self.local and name not in self._types:
                for other in sources & self.local.keys() - self._types.keys():
                    self._unite(name, other)
        changed = True
        while changed:
            changed = False
            for name, sources in pending:
                changed = self._join(name, self._union(sources)) or changed
                roots = self.of_name(name)
                for other, (kind, _) in self._types.items():  # what is stored behind a parameter is found there again
                    number = next(iter(self._held.get(other, NOWHERE)[0]), None) if other != name else None
                    if number in roots[0] and name in self.local and not _holds_numbers(self._index, kind):
                        changed = self._join(other, roots) or changed

    def _never_holds(self, name: str) -> bool:
        return name in self.local and name not in self.references and self._is_small(self.local[name])

    def _union(self, names: Iterable[str]) -> Roots:
        found = [self.of_name(name) for name in names]
        params = frozenset[int]().union(*(one for one, _ in found))
        return params, frozenset[str]().union(*(one for _, one in found))

    def _representative(self, name: str) -> str:
        while (other := self._class_of.get(name, name)) != name:
            name = other
        return name

    def _unite(self, one: str, other: str) -> None:
        one, other = self._representative(one), self._representative(other)
        if one != other:
            self._class_of[other] = one
            self._join(one, self._held.pop(other, NOWHERE))

    def _join(self, name: str, found: Roots) -> bool:
        name = self._representative(name)
        held = self._held.get(name, NOWHERE)
        joined = held[0] | found[0], held[1] | found[1]
        if joined != held and (name in self.local or name in self._types or held != NOWHERE):
            self._held[name] = joined
            return True
        return False


def _without_address(node: Node) -> Node:
    """`x` of `&x`."""
    if node.type == "pointer_expression" and node.children[0].type == "&":
        return node.child_by_field_name("argument") or node
    return node


def _holds_numbers(index: Declarations, kind: str) -> bool:
    """Whether what a type is, or leads to, holds numbers alone."""
    plain = Type.of(kind).core
    cls = index.class_of(plain)
    return index.means_number(plain) or (
        cls is not None and not cls.bases and all(map(index.means_number, cls.fields.values()))
    )


def holds_numbers(param: ir.Param, index: Declarations) -> bool:
    """Whether what a parameter points to is known to hold no pointers."""
    return _holds_numbers(index, param.type)
