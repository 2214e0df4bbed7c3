"""Where addresses go in a function of the device: what is only read through them, what keeps them, what they become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tree_sitter import Language, Node, Query
from tree_sitter_cuda import language

from cudafix.frontends.cuda.parse.queries import captures as captures_of
from cudafix.frontends.cuda.sema.declarations import Declarations
from cudafix.frontends.cuda.sema.names import CASTS
from cudafix.frontends.cuda.sema.origins import Origins
from cudafix.frontends.cuda.sema.type_texts import is_pointer, plain_name
from cudafix.models.device import device
from cudafix.models.number_types import is_address_number


class Const:
    """Which pointers to `const` stay such: their value goes only where it is read, to calls, or to another of them."""

    def __init__(self, text: bytes, names: set[str], index: Declarations) -> None:
        self.text = text
        self.names = names
        self.index = index
        self.references: set[str] = set()  # to elements
        self.lost: set[str] = set()

    def of(self, parts: Iterable[Node]) -> set[str]:
        known = set(self.names)
        uses: dict[str, list[Node]] = {}
        for node in (found for part in parts for found in captures_of(_identifiers(), part).get("name", ())):
            uses.setdefault(self.text[node.start_byte : node.end_byte].decode("utf-8", "replace"), []).append(node)
        origin = {name: {name} for name in known}
        queue = list(known)
        while queue:
            name = queue.pop()
            for node in uses.get(name, ()):
                made = self._goes(node)
                if made is None:
                    self.lost |= origin[name]
                elif made and not origin[name] <= origin.setdefault(made, set()):
                    origin[made] |= origin[name]
                    queue.append(made)
        return self.names - self.lost

    def _goes(self, node: Node) -> str | None:
        """Where the value of a pointer goes: "" where it is only read, the other pointer or reference to `const`, None
        elsewhere. What reads as a type may be an argument: `View v(p);`.
        """
        if self.text[node.start_byte : node.end_byte].decode("utf-8", "replace") in self.references:
            return self._element(node)
        parent = node.parent if node.type != "type_identifier" else None
        while parent is not None:
            kind = parent.type
            if kind in ("subscript_expression", "subscript_argument_list", "field_expression", "init_declarator") and (
                parent.child_by_field_name("argument") == node or kind == "subscript_argument_list"
            ):
                # between the brackets stands the pointer: `i[p]`
                return self._element(parent.parent if kind == "subscript_argument_list" and parent.parent else parent)
            if kind == "pointer_expression":
                return self._element(parent) if parent.children[0].type == "*" else None
            if kind == "init_declarator":
                declarator = parent.child_by_field_name("declarator")
                declaration = parent.parent
                if declarator == node or declarator is None or declaration is None:
                    return ""
                written = self.text[declaration.start_byte : parent.start_byte]
                plain = re.search(rb"\bconst\b", written) or re.search(rb"\bauto\b", written)
                inner = declarator
                while inner.type == "pointer_declarator" and (d := inner.child_by_field_name("declarator")) is not None:
                    inner = d
                pointer = inner != declarator or re.search(rb"\bauto\b", written)
                if plain and pointer and inner.type == "identifier":
                    return self.text[inner.start_byte : inner.end_byte].decode("utf-8", "replace")
                return None
            if kind == "assignment_expression":
                left = parent.child_by_field_name("left")
                if left == node:
                    return ""
                if left is not None and left.type == "identifier":
                    name = self.text[left.start_byte : left.end_byte].decode("utf-8", "replace")
                    return name if name in self.names else None
                return None
            if kind.endswith("_declarator") and kind != "init_declarator":  # here it is declared
                return ""
            if kind in ("expression_statement", "update_expression", "condition_clause", "comma_expression"):
                return ""
            if kind == "binary_expression":
                operator = parent.child_by_field_name("operator")
                if operator is None or operator.type not in ("+", "-"):
                    return ""
            elif kind == "unary_expression":
                return ""
            elif kind == "cast_expression":
                at = parent.child_by_field_name("type")
                if at is None or (re.search(rb"\bconst\b", self.text[at.start_byte : at.end_byte]) is None):
                    return None
            elif kind == "conditional_expression":
                if parent.child_by_field_name("condition") == node:
                    return ""
            elif kind == "argument_list":
                return self._given(parent)
            elif kind != "parenthesized_expression":
                return None
            node, parent = parent, parent.parent
        return None

    def _element(self, node: Node) -> str | None:
        """Where an element goes: it is read, unless its address is taken, which is a pointer to `const` again, or
        something refers to it, which may lose the `const`.
        """
        parent = node.parent
        while parent is not None and parent.type in ("parenthesized_expression", "conditional_expression"):
            node, parent = parent, parent.parent
        if parent is None:
            return None
        if parent.type == "pointer_expression" and parent.children[0].type == "&":
            return self._goes(parent)
        if parent.type == "cast_expression":
            kind = parent.child_by_field_name("type")
            written = self.text[kind.start_byte : kind.end_byte] if kind is not None else b"&"
            return self._referred(parent, written) if b"&" in written else ""
        if parent.type == "argument_list":
            call = parent.parent
            function = call.child_by_field_name("function") if call is not None else None
            if call is None or function is None:
                return None
            written = self.text[function.start_byte : function.end_byte]
            name = plain_name(written.decode("utf-8", "replace")).rpartition("::")[2]
            if name in CASTS:
                return self._referred(call, written) if b"&" in written else ""
            return self._given(parent) if self.index.takes_reference(name) else ""
        declarator = parent.child_by_field_name("declarator") if parent.type == "init_declarator" else None
        if declarator is not None and declarator != node and declarator.type == "reference_declarator":
            name = self.text[declarator.start_byte : declarator.end_byte].decode("utf-8", "replace").strip("& \n\t")
            if not name.isidentifier():
                return None
            self.references.add(name)
            return name
        # what is `const` is not stored in: the grammar reads `(int &)r = 1` as a cast of what is stored
        stored = parent.type == "update_expression" or parent.child_by_field_name("left") == node
        is_store = parent.type == "lambda_capture_initializer" or (stored and parent.type != "binary_expression")
        return None if is_store else ""

    def _referred(self, node: Node, written: bytes) -> str | None:
        """A cast to a reference."""
        return self._element(node) if re.search(rb"\bconst\b", written.partition(b"<")[2] or written) else None

    def _given(self, arguments: Node) -> str | None:
        """A call says itself what it writes; a cast to a pointer to `const` is none."""
        call = arguments.parent
        function = call.child_by_field_name("function") if call is not None else None
        if call is None or function is None or call.type != "call_expression":
            return None
        written = self.text[function.start_byte : function.end_byte]
        if re.match(rb"(?:reinterpret|static|const|bit|dynamic)_cast\b", written):
            if re.search(rb"\bconst\b", written.partition(b"<")[2]) is None:
                return None
            return self._goes(call)
        known = device(plain_name(written.decode("utf-8", "replace")), arguments.named_child_count)
        return "" if known is not None else None  # it may hand it back without `const`


@cache
def _identifiers() -> Query:
    return Query(Language(language()), "[(identifier) (type_identifier)] @name")


_COPIES_BYTES = re.compile(rb"(?:std::|cuda::std::)?(?:mem(?:cpy|move)|atomic(?:Exch|CAS|Add|Max|Min|Or))\b")
# a pointer as a number, the address of a variable
_ADDRESS = re.compile(
    rb"(?:\(\s*[\w\s:]*\)|_cast\s*<[^<>*]*>)\s*\(*\s*&?\s*([A-Za-z_]\w*)(?!\w|\s*(?:[\[.(]|->))"
    rb"|(?<![&\w)\]])\s*&\s*([A-Za-z_]\w*)(?!\w|\s*(?:[\[.(]|->))"
)


def _is_given_to_a_call(node: Node, at: int) -> bool:
    """Whether what stands somewhere in an expression is an argument: what the call returns is stored."""
    inner = node.descendant_for_byte_range(at, at + 1)
    while inner is not None and inner != node:
        if inner.type == "argument_list":
            return True
        inner = inner.parent
    return False


def keeps_addresses(
    captures: Mapping[str, list[Node]],
    roots: Origins,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    index: Declarations,
) -> bool:
    """Whether an address may be stored in memory as a number, or byte by byte: `q[0] = (long)p`, `memcpy(q, &p, 8)`."""
    numbers = {  # or of a type that may be one: of a parameter of the template, of a name that is not seen
        name
        for name, kind in roots.local.items()
        if (index.means_number(kind) or (kind.isidentifier() and index.class_of(kind) is None))
        and roots.of_name(name)[0]
    }
    pointers = {name for name, kind in roots.local.items() if kind.endswith("*")}

    def leads(name: str) -> bool:
        return is_pointer(kinds[name][0]) if name in kinds else bool(roots.of_name(name)[0])

    def has_address(node: Node) -> bool:
        written = text[node.start_byte : node.end_byte]
        if written.decode("utf-8", "replace") in numbers:
            return True
        return any(
            leads((match[1] or match[2]).decode())
            for match in _ADDRESS.finditer(written)
            if match[1] or not _is_given_to_a_call(node, node.start_byte + match.start(2))
        )

    def is_pointer_itself(node: Node) -> bool:  # of a type that may be a parameter of the template: `T *q`, `q[0] = p`
        while node.type == "parenthesized_expression" and node.named_children:
            node = node.named_children[0]
        if node.type == "identifier":
            name = text[node.start_byte : node.end_byte].decode("utf-8", "replace")
            return is_pointer(kinds[name][0]) if name in kinds else name in pointers and bool(roots.of_name(name)[0])
        return node.type == "binary_expression" and any(map(is_pointer_itself, node.named_children))

    for node in captures.get("assign", ()):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or right.type == "number_literal":
            continue
        base, reached = roots.reached(left)
        name = text[base.start_byte : base.end_byte].decode("utf-8", "replace")
        leads_out = name in kinds or name in pointers or name in roots.references  # not a variable of the kernel's own
        stores = base.type not in ("identifier", "this") or roots.of_name(name)[1] or (reached and leads_out)
        if stores and (has_address(right) or is_pointer_itself(right)):
            return True
    for node in captures.get("call", ()):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and arguments is not None and _COPIES_BYTES.match(text, function.start_byte):
            if any(map(has_address, arguments.named_children[1:])):
                return True
    return False


_IN_BYTES = re.compile(rb"(?:\w+::)*mem(?:cpy|move)\b")
_AS_NUMBER = re.compile(rb"(?:\w+::)*(?:bit_cast\b|__builtin_bit_cast\b|__cvta_generic_to_)")


def made_numbers(
    captures: Mapping[str, list[Node]],
    roots: Origins,
    text: bytes,
    kinds: Mapping[str, tuple[str, bool]],
    index: Declarations,
) -> Iterator[Node]:
    """Addresses that numbers are made of which are more than compared, and variables whose bytes are an address:
    `(size_t)p`, not `(size_t)p % 16 == 0`; `(char *)&p`, `memcpy(q, &p, 8)`.
    """

    def is_address(name: str) -> bool:
        kind = kinds[name][0] if name in kinds else roots.local.get(name, "")
        return is_pointer(kind) or (is_address_number(kind) and roots.holds_address(name))

    def is_place(node: Node) -> bool:
        while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
            node = node.named_children[-1]
        inner = node.child_by_field_name("argument") if node.type == "pointer_expression" else None
        return (
            inner is not None
            and inner.type == "identifier"
            and node.children[0].type == "&"
            and is_address(written(inner))
        )

    def written(node: Node | None) -> str:
        return text[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""

    casts = [
        (node, written(node.child_by_field_name("type")), node.child_by_field_name("value"))
        for node in captures.get("cast", ())
    ]
    for node in captures.get("call", ()):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        called = written(function)
        if function is None or arguments is None or not arguments.named_children:
            continue
        if _IN_BYTES.match(text, function.start_byte):
            yield from (value for value in arguments.named_children if is_place(value))
        if _AS_NUMBER.match(text, function.start_byte) or plain_name(called) in CASTS:
            casts.append((node, called.partition("<")[2].rpartition(">")[0], arguments.named_children[-1]))
    for node, kind, value in casts:
        if value is not None and is_place(value):
            yield value
        if value is None or kind.rstrip().endswith(("*", "&", ")")) or index.class_of(kind.strip()) is not None:
            continue
        if any(map(is_address, roots.carried(value))) and not _is_only_compared(node, text):
            yield value


def _is_only_compared(node: Node, text: bytes) -> bool:
    """Whether of a number only a truth value, a remainder or a few of its bits are used."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "cast_expression", "binary_expression"):
        operator = parent.child_by_field_name("operator") if parent.type == "binary_expression" else None
        other = parent.child_by_field_name("right") if operator is not None else None
        if operator is not None and operator.type in ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "%"):
            return True
        if operator is not None and operator.type == "&" and other is not None and other.type == "number_literal":
            return True
        parent = parent.parent
    return False
