"""Data members that are vectors of objects with a destructor: whether the files do with them only what is lowered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import owners
from cudafix.frontends.cuda.sema.declarations import Class, Declarations


def find_rows(found: Declarations, parsed: Parsed) -> None:
    """The private data members that are vectors of objects with a destructor, where the file does nothing with one but
    what is lowered (other files: see `rows_let_go`).
    """
    rows: list[tuple[Class, str, str, tuple[int, int]]] = []
    for cls in {id(cls): cls for cls in found.classes.values()}.values() if b"vector" in parsed.text else ():
        for name, kind in () if cls.templated else cls.fields.items():
            start, end = cls.places.get(name, (0, 0))
            row, written = owners.row_of(kind), _MEMBER.fullmatch(parsed.text, start, end)
            element = found.class_of(row, cls.name) if row else None
            if not row or written is None or element is None or name in cls.unions:
                continue
            if found.has(element, element.destructor) and _is_private(parsed.tree.root_node, start, end):
                rows.append((cls, name, row, written.span(1)))
    names = {name for _, name, _, _ in rows if not any(_names(macro, name) for macro in parsed.macros.values())}
    left = owners.leave_them(names, parsed.tree.root_node, parsed.text, owners.IN_A_ROW) if names else set()
    for cls, name, kind, place in rows:
        if name in left:
            cls.fields[name] = f"std::vector<{kind}, {ir.ENDED}>"
            cls.rows[name] = place
    if left:
        found.forget()


_MEMBER = re.compile(rb"(?:mutable\s+)?((?:std::)?vector\s*<[^;{}()]*>)\s*\w+\s*;")


def _names(macro: Macro, name: str) -> bool:
    return re.search(rb"\b%s\b" % name.encode(), macro.body) is not None


def _is_private(root: Node, start: int, end: int) -> bool:
    """Whether a member that is declared there can be named in its class alone, of which nobody is a friend."""
    body = _members_around(root, start, end)[1]
    friends = body is not None and any(one.type == "friend_declaration" for one in body.children)
    return not friends and access(root, start, end) == b"private"


def access(root: Node, start: int, end: int) -> bytes:
    """Who may name a member that is declared there: the last access specifier in front of it, else that of the class
    (C++17, 14.1 [class.access.spec] 1, 14 [class.access] 3); nothing if that is no member.
    """
    node, body = _members_around(root, start, end)
    if node is None or body is None or body.parent is None:
        return b""
    said = [b"private" if body.parent.type == "class_specifier" else b"public"]
    before = (one for one in body.children if one.type == "access_specifier" and one.end_byte <= node.start_byte)
    said.extend((one.text or b"").rstrip(b": ") for one in before)
    return said[-1]


def _members_around(root: Node, start: int, end: int) -> tuple[Node | None, Node | None]:
    """The member that is declared there, and the list of the members of its class."""
    node = root.descendant_for_byte_range(start, end - 1)
    while node is not None and node.type != "field_declaration":
        node = node.parent
    return node, node.parent if node is not None else None


def rows_let_go(found: Declarations, parsed: Parsed) -> Iterator[Class]:
    """The classes of the objects in vectors that are members of classes of the headers, with which a file does more
    than is lowered.
    """
    classes = found.visible.classes.values() if found.visible is not None else ()
    rows = [(cls, name) for cls in classes for name in cls.rows]
    hidden = {name for _, name in rows if any(_names(macro, name) for macro in parsed.macros.values())}
    named = {name for _, name in rows if name.encode() in parsed.text} - hidden
    left = owners.leave_them(named, parsed.tree.root_node, parsed.text, owners.IN_A_ROW) if named else set()
    for cls, name in rows:
        if name in hidden | named - left:
            yield from (part for member, part, _ in found.parts(cls) if member == name)


def referred_to(root: Node, found: Declarations, text: bytes) -> Iterator[tuple[int, int]]:
    """The types of the vectors of objects that a file says its functions refer to, where it only declares them: that
    makes no objects, and where a function is defined, it says what it does with them.
    """
    stack = [root] if b"vector" in text and (found.classes or found.visible is not None) else []
    while stack:
        node = stack.pop()
        if node.type in ("function_definition", "lambda_expression", "template_declaration"):
            inner = node.child_by_field_name("body")
            stack += [inner] if inner is not None and node.type != "template_declaration" else []
            continue
        stack += node.children
        kind, inner = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        if node.type != "parameter_declaration" or kind is None or inner is None:
            continue
        row = owners.row_of(text[kind.start_byte : kind.end_byte].decode("utf-8", "replace"))
        if row and inner.type.endswith("reference_declarator") and inner.children[0].type == "&":
            cls = found.class_of(row)
            if cls is not None and found.has(cls, cls.destructor):
                yield kind.start_byte, kind.end_byte
