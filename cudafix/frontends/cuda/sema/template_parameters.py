"""The parameters of templates, as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.sema.type_texts import text_of
from cudafix.ir import Expr, Opaque, Var

_AUTO = re.compile(rb"\bauto\b")
Parameters: TypeAlias = list[tuple[str, str]]
"""The parameters of a template that are types, with their default arguments; "" for what is no type or has none."""


def templates_of(node: Node, text: bytes) -> tuple[Parameters, Parameters]:
    """The parameters of the template that a function is, and of that of its class. A method that is defined outside of
    its class names these in order (C++17, 17.5.1.1 [temp.mem.func] 1); in front of a specialization it does not.
    """
    own = _template_around(node)
    named = _arguments_of_its_class(node)
    if named is None:
        return _parameters(own, text), _parameters(_template_of_its_class(own or node), text)
    outer = _template_around(own) if own is not None else None
    around = _parameters(outer or own, text)
    in_order = ir.template_arguments(text_of(named, text)) == list(names(around))
    return _parameters(own if outer is not None else None, text), around if in_order else []


def parameters_of(cls: Node, text: bytes) -> int:
    """How many arguments a class template takes; 0 for a specialization, and where that is not one number."""
    name = cls.child_by_field_name("name")
    primary = name is not None and name.type == "type_identifier"
    return len(_parameters(_template_around(cls), text)) if primary else 0


def _template_around(node: Node) -> Node | None:
    around = node.parent
    return around if around is not None and around.type == "template_declaration" else None


def _template_of_its_class(node: Node) -> Node | None:
    """The template that the class around a method is, if that is no specialization."""
    body = node.parent
    cls = body.parent if body is not None and body.type == "field_declaration_list" else None
    name = cls.child_by_field_name("name") if cls is not None else None
    return _template_around(cls) if cls is not None and name is not None and name.type == "type_identifier" else None


def _arguments_of_its_class(node: Node) -> Node | None:
    """`<P>` of `Work<P>::run`, of a method that is defined outside of its class."""
    named = node.child_by_field_name("declarator")
    while named is not None and named.type != "qualified_identifier":
        inner = named.child_by_field_name("declarator")
        named = inner if inner is not None else next(iter(named.named_children), None)
    found: Node | None = None
    while named is not None and named.type == "qualified_identifier":
        scope = named.child_by_field_name("scope")
        found = scope.child_by_field_name("arguments") if scope is not None else None
        named = named.child_by_field_name("name")
    return found


def names(parameters: Parameters) -> tuple[str, ...]:
    """Those of the parameters of a template, in order."""
    return tuple(name for name, _ in parameters)


def _parameters(template: Node | None, text: bytes) -> Parameters:
    """None of what is no template, or where one parameter may stand for several arguments."""
    listed = template.child_by_field_name("parameters") if template is not None else None
    found: Parameters = []
    for parameter in listed.named_children if listed is not None else ():
        if parameter.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
            name = parameter.child_by_field_name("name")
            name = name or next((one for one in parameter.named_children if one.type == "type_identifier"), None)
            default = parameter.child_by_field_name("default_type")
            found.append((text_of(name, text) if name else "", text_of(default, text) if default else ""))
        elif parameter.type in ("parameter_declaration", "optional_parameter_declaration"):
            found.append(("", ""))
        elif parameter.type != "comment":
            return []
    return found


def instance(node: Node, text: bytes, known: Sequence[str], others: int = 0) -> Expr | None:
    """Which instantiation a function is of, by the parameters that are `known` of the templates around it, without
    `others`. None of what is no template, or an explicit specialization (C++17, 17.7.3 [temp.expl.spec]).
    """
    around = [node]
    while (outer := around[-1].parent) is not None:
        around.append(outer)
    listed = [one.child_by_field_name("parameters") for one in around if one.type == "template_declaration"]
    count = sum(one.named_child_count for one in listed if one is not None)
    generic = any(is_generic(one, text) for one in around)
    if not count and not generic:
        return None
    complete = count == len(known) + others and all(known) and not generic
    return Var(f"{ir.INSTANCE}<{', '.join(known)}>") if complete else Opaque(())


def is_generic(function: Node, text: bytes) -> bool:
    """Whether this is a lambda, or a function, that is a template by the types of its parameters (C++17, 8.1.5
    [expr.prim.lambda] 5; C++20, 9.3.3.6 [dcl.fct] 22).
    """
    if function.type not in ("lambda_expression", "function_definition"):
        return False
    stack = [child for child in function.named_children if child.type.endswith("declarator")]
    if any(child.type == "template_parameter_list" for child in function.named_children):
        return True
    while stack:
        node = stack.pop()
        if node.type == "parameter_list":
            return any(map(_AUTO.search, (text[one.start_byte : one.end_byte] for one in node.named_children)))
        stack += [child for child in node.named_children if child.type.endswith(("declarator", "parameter_list"))]
    return False
