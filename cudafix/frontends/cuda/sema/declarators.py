"""How a declarator reads: the name, the type and the parts of what it declares."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from cudafix.frontends.cuda.sema.references import OPEN
from cudafix.frontends.cuda.sema.type_texts import is_pointer, text_of
from cudafix.ir import Const
from cudafix.models.number_types import is_number

ASSIGNMENT = "operator="
CLASS_NODES = frozenset(("struct_specifier", "class_specifier", "union_specifier"))
_DECLARATORS = frozenset(
    (
        "identifier field_identifier type_identifier qualified_identifier destructor_name operator_name operator_cast "
        "template_function structured_binding_declarator"
    ).split()
)
_WIDTH = re.compile(rb"\s*:(?!:)\s*(\w+|\S)")
_OPERATOR = re.compile(r"\boperator\s+(?=[^\w\s])")
_INTEGER = re.compile(r"([0-9]+)[uUlL]*")
CONSTANT = frozenset(("const", "constexpr"))


def extent(declarator: Node) -> Node | None:
    """The size of an array of one dimension, as far as it is written."""
    while declarator.type != "array_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return None
        declarator = inner
    inner = declarator.child_by_field_name("declarator")
    return declarator.child_by_field_name("size") if inner is not None and "array" not in inner.type else None


@dataclass(slots=True)
class Declared:
    """One declarator. `type` has the stars of the declarator and `[]` for each array dimension; not the `&`. `open`: it
    may be a reference, too.
    """

    name: str
    type: str
    array: bool
    reference: bool
    node: Node
    parameters: Node | None = None  # of a function declarator
    pointer_to_function: bool = False
    bindings: tuple[Node, ...] = ()  # the names of a structured binding
    open: bool = False

    @property
    def may_refer(self) -> bool:
        return self.reference or self.open


def integer(value: Node | None, one: Declared, text: bytes) -> str:
    """The literal that initializes an integer; nothing where it is another value, or another variable."""
    if value is None or one.array or one.reference or not is_number(one.type):
        return ""
    found = _INTEGER.fullmatch(text_of(value, text))
    return found[1] if found is not None else ""


def of_bits(kind: str, declarator: Node, text: bytes) -> str:
    """The type of a member: of a bit-field (C++17, 12.2.4 [class.bit]) that of a number with so many bits, none where
    the width is not a literal. Where the type does not say whether it has a sign, it is taken to have one: that of an
    enumeration too.
    """
    width = _WIDTH.match(text, declarator.end_byte)
    if width is None or kind in ("bool", "_Bool"):
        return kind
    bits = int(width[1]) if width[1].isdigit() else 0
    unsigned = "unsigned" in kind or "uint" in kind
    return kind if bits >= 32 else f"{'u' * unsigned}int{bits}_t"


def declared(base: str, node: Node, text: bytes) -> Declared | None:
    """What a declarator of the type `base` declares (see `base_type`); None if it is not understood."""
    kind = base.removesuffix(OPEN).removesuffix(" &")
    array, reference, parameters, nested = 0, False, None, False
    is_reference, is_open = base.endswith(" &"), base.endswith(OPEN)  # of which there are no pointers and no arrays
    while True:
        name = node.type
        if name in _DECLARATORS:
            bindings: tuple[Node, ...] = ()
            if name == "structured_binding_declarator":
                bindings = tuple(child for child in node.children if child.type == "identifier")
            elif name == "operator_cast":
                parameters = node
                is_reference = is_open = False
                meant = text[node.start_byte : node.end_byte].decode("utf-8", "replace").partition("(")[0]
                kind = " ".join(meant.removeprefix("operator").split())
            written = text[node.start_byte : node.end_byte].decode("utf-8", "replace")
            if name == "operator_cast":
                written = written.partition("(")[0].rstrip() + "()"  # without `const`, `override`
            label = _OPERATOR.sub("operator", written)
            to_function = nested and parameters is not None
            reference = reference or is_reference
            is_open = is_open and not reference
            kind += "[]" * array
            return Declared(label, kind, array > 0, reference, node, parameters, to_function, bindings, is_open)
        if name in ("pointer_declarator", "array_declarator"):
            is_reference = is_open = False
        if name == "pointer_declarator":
            if is_pointer(kind) or kind.startswith("cuda"):
                array = 0  # a pointer to an array (of pointers, streams or events) is none
            kind += "*" if kind.endswith("*") else " *"
        elif name == "array_declarator":
            array += 1
        elif name in ("reference_declarator", "variadic_declarator"):
            reference = reference or name == "reference_declarator"
        elif name == "function_declarator":
            if parameters is None:
                parameters = node.child_by_field_name("parameters")
        elif name == "parenthesized_declarator":
            nested = True
        elif name not in ("init_declarator", "attributed_declarator"):
            return None
        inner = node.child_by_field_name("declarator")
        if inner is None:
            named = [child for child in node.named_children if child.type.endswith(("declarator", "identifier"))]
            if not named:
                return None
            inner = named[-1]
        node = inner


def is_const(node: Node) -> bool:
    return node.type == "type_qualifier" and node.child_count > 0 and node.children[0].type == "const"


def default_value(param: Node) -> Node | None:
    """The default argument of a parameter: the grammar takes `{}` for a literal of a type that is missing."""
    value = param.child_by_field_name("default_value")
    kind = value.child_by_field_name("type") if value is not None else None
    return value.child_by_field_name("value") if value is not None and kind is not None and kind.is_missing else value


def default_of(param: Node, kind: str, text: bytes) -> Const | None:
    value = default_value(param)
    if value is not None and value.type in ("number_literal", "null"):
        return Const(text_of(value, text))
    if value is not None and text_of(value, text) == "{}" and (is_pointer(kind) or kind == "cudaStream_t"):
        return Const("nullptr")
    return None
