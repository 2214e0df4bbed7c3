"""Constructors, destructors and operators that a class says the compiler writes, or deletes."""

from __future__ import annotations

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarations import DEFAULTED_DESTRUCTOR, Class, Declarations
from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT, Declared
from cudafix.frontends.cuda.sema.heads import parameters
from cudafix.frontends.cuda.sema.type_texts import plain_name


def is_left_to_the_compiler(
    found: Declarations, node: Node, one: Declared, text: bytes, cls: Class | None, namespace: str
) -> bool:
    """Note that a function is deleted, or defaulted, which leaves nothing to read."""
    clauses = {child.type for child in node.children}
    if cls is not None and one.name == cls.constructor and "delete_method_clause" in clauses:
        given = parameters(one.parameters, text, found) if one.parameters is not None else ()
        cls.uncopied |= len(given) == 1 and given[0][0].constant
    if "default_method_clause" not in clauses:
        return False
    if defaulted(found, cls, namespace, one, text):
        return True
    compares = cls is not None and one.name in ("operator==", "operator<=>")
    if cls is not None and compares:
        cls.compared.add(one.name)
    return compares


def defaulted(found: Declarations, cls: Class | None, namespace: str, one: Declared, text: bytes) -> bool:
    """Note that the compiler writes a constructor, a destructor or an assignment, `= default`; False if it is none."""
    scope, _, special = plain_name(one.name).rpartition("::")
    owner = cls or _owner_behind(found, scope, namespace)
    if owner is None or special not in (owner.constructor, owner.destructor, ASSIGNMENT):
        return False
    if special == ASSIGNMENT:
        owner.assigned = True
    elif special == owner.constructor:
        given = parameters(one.parameters, text, found) if one.parameters is not None else ()
        owner.defaulted |= one.parameters is not None and not given
        owner.copied |= len(given) == 1
    elif cls is None or is_virtual(one.node):
        owner.ended = True
        owner.virtual |= cls is not None
        owner.methods |= {special} if cls is not None else set()  # what is derived may have more to end
    return True


def defaulted_destructor(found: Declarations, node: Node, namespace: str, text: bytes) -> None:
    """Note the compiler-written destructor in `S::~S() = default;`, read as an assignment by the grammar."""
    written = DEFAULTED_DESTRUCTOR.fullmatch(text, node.start_byte, node.end_byte)
    if written is None:
        return
    scope, _, special = "".join(written[1].decode("utf-8", "replace").split()).rpartition("::")
    owner = _owner_behind(found, scope.removeprefix("::"), "" if scope.startswith("::") else namespace)
    if owner is not None and special == owner.destructor:
        owner.ended = True


def _owner_behind(found: Declarations, scope: str, namespace: str) -> Class | None:
    """The class of this file of which a member is defined behind it, in a namespace: the innermost one of this name;
    None where a class of the same name in another namespace may be meant (C++17, 6.4.1 [basic.lookup.unqual]).
    """
    if not scope:
        return None
    around = namespace
    while (one := found.classes.get("::".join(part for part in (around, scope) if part))) is None and around:
        around = around.rpartition("::")[0]
    named = {cls.name for cls in found.classes.values() if f"::{cls.name}".endswith(f"::{scope}")}
    exact = one is not None and one.name == "::".join(part for part in (namespace, scope) if part)
    return one if exact or len(named) == 1 else None


def is_virtual(declared: Node) -> bool:
    """Whether a member function is declared as virtual where its declaration begins (C++17, 13.3 [class.virtual])."""
    node: Node | None = declared
    while node is not None and node.type not in ("function_definition", "declaration", "field_declaration"):
        node = node.parent
    return node is not None and any(child.type in ("virtual", "virtual_function_specifier") for child in node.children)
