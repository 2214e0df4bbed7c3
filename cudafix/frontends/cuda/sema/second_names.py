"""Variables at namespace scope that have a second name.

A reference to an array and a parameter of a template are other names of what they are made of (C++17, 11.3.2
[dcl.ref], 17.3.2 [temp.arg.nontype]). The linker gives a variable one more by `alias`, `asm` labels, `#pragma weak` and
the bounds of a section (GCC manual, "Common Variable Attributes", "Asm Labels"; GNU ld, "Input Section Example"), and
makes one of all with C linkage that have one name (C++17, 10.5 [dcl.link] 6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from cudafix.frontends.cuda.preprocess.expansion import stands_for_another
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema.declarators import CONSTANT
from cudafix.ir import Function, GlobalVar
from cudafix.ir.names import WORD_IN_BYTES

_REFERENCE = re.compile(rb"[\s(]*&")
_ALIAS = re.compile(rb'\b(?:__)?(?:alias|weakref|asm)(?:__)?\s*\(\s*"([\w.$]+)"')
_TO_ARRAY = re.compile(rb"\(\s*&&?\s*(\w+)\s*\)\s*\[[^;{}=]*\]\s*([={(][^;]*);")
_TEMPLATE = re.compile(rb"\w\s*<(?![<=])")
_END = re.compile(rb"[;{}<>()]|&&|\|\|")
_LABEL = re.compile(rb"\b(?:__)?(?:alias|weakref|asm|section)(?:__)?\s*\(")
_PRAGMA = re.compile(rb"#[ \t]*pragma[ \t]+(?:weak|redefine_extname)[ \t]+(\w+)[ \t]*=?[ \t]*(\w+)")
_BOUND = re.compile(r"__(?:start|stop)_\w+")
_MAY_BE_MEMORY = re.compile(rb"[&*]|\bauto\b|\bdecltype\b")


def second_names(
    variables: Iterable[GlobalVar],
    initializers: Sequence[tuple[GlobalVar, Node]],
    path: str,
    root: Node,
    text: bytes,
    written: bytes,
    macros: Mapping[str, Macro],
) -> frozenset[str]:
    """The variables of the host that a file gives a second name, and these names, as the IR has them. `text` is what
    `root` was read from, `written` the same before anything was masked.
    """
    own = [one for one in variables if one.space == "host"]
    found = {name.decode() for pair in _PRAGMA.findall(written) for name in pair}
    naming = {name for name, macro in macros.items() if _LABEL.search(macro.body)}
    for one in own:
        if _BOUND.fullmatch(_last(one.name)):
            found.add(_last(one.name))
        if one.span.path != path:
            continue
        declaration = _declaration_around(one, written)
        words = {word.decode() for word in WORD_IN_BYTES.findall(declaration)}
        if _LABEL.search(declaration) or not words.isdisjoint(naming):
            symbols = b" ".join(_ALIAS.findall(declaration)).decode()  # mangled: `_ZN1a5frameE`
            found |= words | {name for other in own if (name := _last(other.name)) in symbols}
        if one.array and _REFERENCE.match(text, one.span.start):
            found.add(_last(one.name))
    for one, value in initializers:
        if one.array and one.span.path == path and _REFERENCE.match(text, one.span.start):
            given = text[value.start_byte : value.end_byte]
            called = b"(" in given and value.type not in ("init_declarator", "array_declarator")
            found |= {_last(v.name) for v in own if called} | {word.decode() for word in WORD_IN_BYTES.findall(given)}
    for reference in _TO_ARRAY.finditer(text):
        if not _is_in_function(root, reference.start()):
            found |= {word.decode() for word in WORD_IN_BYTES.findall(reference[0])}
    found |= _given_to_templates([one for one in own if one.span.path != path or _changes(one, text)], root, text)
    return frozenset(
        name for one in own if _last(one.name) in found for name in (one.name, f"::{one.name.removeprefix('::')}")
    )


def named_by_macros(
    variables: Iterable[GlobalVar], path: str, macros_in: Callable[[int, int], Mapping[str, Macro]]
) -> frozenset[str]:
    """The variables that a file declares under the name of a macro, and their names: those that it stands for."""
    found: set[str] = set()
    for one in variables:
        if one.space == "host" and one.span.path == path:
            scope, separator, last = one.name.removeprefix("::").rpartition("::")
            macro = macros_in(one.span.start, one.span.end).get(last)
            if macro is not None and stands_for_another(macro):
                names = (last, *(word.decode() for word in WORD_IN_BYTES.findall(macro.body)))
                found.update(f"{before}{scope}{separator}{name}" for name in names for before in ("", "::"))
    return frozenset(found)


def of_c_linkage(declared: Iterable[GlobalVar | Function], path: str, root: Node) -> frozenset[str]:
    """The last name components of the variables and functions that a file declares with C linkage."""
    if path.endswith(".c"):
        return frozenset(_last(one.name) for one in declared if one.span.path == path)
    blocks = [(node.start_byte, node.end_byte) for node in _nodes(root, "linkage_specification")]
    return frozenset(
        _last(one.name)
        for one in declared
        if one.span.path == path and any(start <= one.span.start < end for start, end in blocks)
    )


def is_memory_of_a_template(node: Node, name: str, text: bytes) -> bool:
    """Whether a template around a node has a parameter of this name that may be an address or a reference."""
    around = node.parent
    while around is not None:
        listed = around.child_by_field_name("parameters") if around.type == "template_declaration" else None
        for parameter in listed.named_children if listed is not None else ():
            written = text[parameter.start_byte : parameter.end_byte]
            if _MAY_BE_MEMORY.search(written) and name.encode() in WORD_IN_BYTES.findall(written.partition(b"=")[0]):
                return True
        around = around.parent
    return False


def _given_to_templates(variables: Iterable[GlobalVar], root: Node, text: bytes) -> set[str]:
    """The last name components of the variables that are template arguments."""
    names = {_last(one.name).encode() for one in variables}
    listed = [text[node.start_byte : node.end_byte] for node in _nodes(root, "template_parameter_list")]
    listed += _in_angles(text) if any(name in text for name in names) else ()
    return {word.decode() for one in listed for word in WORD_IN_BYTES.findall(one) if word in names}


def _in_angles(text: bytes) -> Iterator[bytes]:
    """What may be a list of template arguments. The grammar reads some as comparisons: `A<int *, a>::value`."""
    for opened in _TEMPLATE.finditer(text):
        depth, brackets = 1, 0
        for one in _END.finditer(text, opened.end()):
            if one[0] in (b";", b"{", b"}") or (not brackets and one[0] in (b"&&", b"||")):
                break
            brackets += (one[0] == b"(") - (one[0] == b")")
            if brackets < 0:
                break
            if not brackets and one[0] in (b"<", b">") and text[one.start() - 1 : one.start()] != b"-":
                depth += 1 if one[0] == b"<" else -1
            if depth == 0:
                yield text[opened.end() : one.start()]
                break


def _is_in_function(root: Node, at: int) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None and node.type not in ("function_definition", "lambda_expression"):
        node = node.parent
    return node is not None


def _changes(one: GlobalVar, text: bytes) -> bool:
    """Whether a variable of this file is none that is constant."""
    start = max(text.rfind(mark, 0, one.span.start) for mark in (b";", b"}", b"{"))
    return CONSTANT.isdisjoint(word.decode() for word in WORD_IN_BYTES.findall(text, start + 1, one.span.start))


def _declaration_around(one: GlobalVar, text: bytes) -> bytes:
    """The text of the declaration of a variable."""
    start = max(text.rfind(mark, 0, one.span.start) for mark in (b";", b"}", b"{"))
    end = text.find(b";", one.span.end)
    return text[start + 1 : end if end >= 0 else len(text)]


def _nodes(root: Node, kind: str) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == kind:
            yield node
        stack += node.named_children


def _last(name: str) -> str:
    return name.rpartition("::")[2]
