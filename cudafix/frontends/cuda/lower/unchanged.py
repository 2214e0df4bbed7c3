"""Conditions that have one value while a function runs, as far as the text of the function shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from cudafix.frontends.cuda.lower.context import File
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.type_texts import text_of
from cudafix.ir import Param
from cudafix.ir.names import WORD_IN_BYTES

_SCALAR = re.compile(
    r"(?:const )?(?:bool|char|(?:(?:un)?signed )?(?:short|int|long|long long|char)(?: int)?|unsigned|size_t"
    r"|(?:std::)?u?int(?:8|16|32|64)_t)"
)
_ELSEWHERE = re.compile(r"\b(?:static|extern|thread_local|volatile|register|decltype|auto)\b")
_LOOKS = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||", "and", "or", "+", "-", "*", "/", "%", "&", "|", "^"))
_CONDITIONS = frozenset(("condition_clause", "if_statement", "while_statement", "do_statement", "switch_statement"))
_VOLATILE = re.compile(rb"\bvolatile\b")
_OPPOSITE = {"!=": "==", "<=": ">", ">=": "<"}
_SWAPPED = {"<": ">", "==": "==", "&&": "&&", "||": "||"}  # with the operands in the other order
_LITERALS = frozenset(("number_literal", "true", "false"))
# C17, 7.21.6: what is given to them is passed by value
_PRINTING = frozenset(("printf", "fprintf", "snprintf", "sprintf"))


def unchanged(file: File, params: Iterable[Param], body: Node, text: bytes) -> frozenset[str]:
    """The parameters and local variables of a function that are numbers and keep the value that they begin with: each
    use of the name is one that reads (C++17, 7.1 [conv.lval]), and no macro that is used there has it. A parameter that
    is no reference is an object of the call (8.2.2 [expr.call] 4).
    """
    if file.hides_volatile or _VOLATILE.search(text[(body.parent or body).start_byte : body.end_byte]) is not None:
        return frozenset()
    found = {
        param.name for param in params if not (param.by_reference or param.open) and _is_scalar(file, param.type)
    } - {""}
    if body.has_error or re.search(rb"\b(?:enum|using|goto|asm|__asm__)\b", text[body.start_byte : body.end_byte]):
        return frozenset()
    words: list[Node] = []
    stack = [body]
    while stack:
        node = stack.pop()
        if node.type == "declaration":
            found |= set(_declared(file, node, text))
        if node.type in ("identifier", "type_identifier", "field_identifier"):
            words.append(node)
        stack += node.children
    others = _named_otherwise(body.parent or body, text)
    for node in words:
        name = text_of(node, text)
        if name in found and node.type == "identifier" and not _only_reads(file, node, text, others):
            found.discard(name)
    return frozenset(found) - _in_macros(file, {text_of(node, text) for node in words})


def _is_scalar(file: File, kind: str) -> bool:
    return _SCALAR.fullmatch(kind) is not None or file.index.is_enumeration(kind.removeprefix("const "))


def _declared(file: File, node: Node, text: bytes) -> Iterator[str]:
    """The variables that a declaration makes with a value."""
    kind = node.child_by_field_name("type")
    first = node.child_by_field_name("declarator")
    if kind is None or first is None or not _is_scalar(file, " ".join(text_of(kind, text).split())):
        return
    if _ELSEWHERE.search(text[node.start_byte : first.start_byte].decode("utf-8", "replace")) is not None:
        return
    for one in node.children_by_field_name("declarator"):
        name = one.child_by_field_name("declarator") if one.type == "init_declarator" else None
        if name is not None and name.type == "identifier":
            yield text_of(name, text)


def _only_reads(file: File, node: Node, text: bytes, others: frozenset[str]) -> bool:
    """Whether a name stands where its value is read, or where it is declared. `others` are no names of functions."""
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None:
        return False
    operator = around.child_by_field_name("operator")
    match around.type:
        case "init_declarator":
            declaration = around.parent
            if around.child_by_field_name("declarator") == node:
                return True
            kind = declaration.child_by_field_name("type") if declaration is not None else None
            name = around.child_by_field_name("declarator")
            plain = name is not None and name.type == "identifier" and kind is not None
            return plain and kind is not None and _is_scalar(file, " ".join(text_of(kind, text).split()))
        case "binary_expression":
            looks = operator is not None and operator.type in _LOOKS
            return looks and operator is not None and not file.index.takes_reference(f"operator{operator.type}")
        case "unary_expression":
            return operator is not None and operator.type in ("!", "not", "-", "+", "~")
        case "conditional_expression":
            return around.child_by_field_name("condition") == node or _only_reads(file, around, text, others)
        case "argument_list":
            return _by_value(file, node, around, text, others)
        case kind:
            return kind in _CONDITIONS


def _named_otherwise(function: Node, text: bytes) -> frozenset[str]:
    """The names in a function that stand for more than what their calls run: a variable hides the functions of its name
    (C++17, 6.3.10 [basic.scope.hiding] 1), and may be an object or a pointer that takes its arguments otherwise.
    """
    found: set[str] = set()
    stack = [function]
    while stack:
        node = stack.pop()
        call = node.parent if node.parent is not None and node.parent.type == "call_expression" else None
        called = call is not None and call.child_by_field_name("function") == node
        if node.type in ("identifier", "field_identifier") and not called:
            found.add(text_of(node, text))
        stack += node.children
    return frozenset(found)


def _by_value(file: File, node: Node, arguments: Node, text: bytes, others: frozenset[str]) -> bool:
    """Whether an argument of a call is copied: all functions of this name take it by value, as far as they are seen,
    and no variable or member has the name.
    """
    call = arguments.parent
    function = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
    if function is None or function.type not in ("identifier", "template_function"):
        return False
    name = text_of(function, text).partition("<")[0].strip()
    if name in file.every_macro or name in others or file.index.names_variable(name):
        return False
    if name in file.kernels or (sites.is_api(name) and not file.is_own(name)) or name in _PRINTING:
        return True
    given = [child for child in arguments.named_children if child.type != "comment"]
    params = file.index.parameters_at(name, given.index(node), len(given)) if node in given else None
    return bool(params) and not any(param.by_reference or param.open for param in params or ())


def _in_macros(file: File, words: set[str]) -> frozenset[str]:
    """The words in the texts of the macros that some words name, and of those that these use."""
    found: set[str] = set()
    left = [word for word in words if word in file.macros]
    seen = set(left)
    while left:
        inside = {word.decode() for word in WORD_IN_BYTES.findall(file.macros[left.pop()].body)}
        found |= inside
        more = {word for word in inside if word in file.macros} - seen
        seen |= more
        left += more
    return frozenset(found)


def asked(node: Node, text: bytes, names: Mapping[str, str]) -> tuple[str, bool] | None:
    """What a condition asks of variables that keep their values, as one text for all that ask the same, and whether it
    holds where the answer is yes; None where it asks anything else. `names` are the variables, enumerators and
    constants by their names in the text.
    """
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type in _LITERALS:
        return text_of(node, text), True
    if node.type == "identifier":
        name = names.get(text_of(node, text))
        return (name, True) if name is not None else None
    operator = node.child_by_field_name("operator")
    if node.type == "unary_expression" and operator is not None and operator.type in ("!", "not"):
        argument = node.child_by_field_name("argument")
        inner = asked(argument, text, names) if argument is not None else None
        return (inner[0], not inner[1]) if inner is not None else None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if node.type != "binary_expression" or operator is None or left is None or right is None:
        return None
    if operator.type not in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
        return None
    one, two = asked(left, text, names), asked(right, text, names)
    if one is None or two is None:
        return None
    written = [name if holds else f"!{name}" for name, holds in (one, two)]
    sign = _OPPOSITE.get(operator.type, operator.type)
    if sign == "<" or (sign != ">" and written[0] > written[1]):
        sign, written = _SWAPPED[sign], written[::-1]
    return f"({written[0]} {sign} {written[1]})", operator.type not in _OPPOSITE
