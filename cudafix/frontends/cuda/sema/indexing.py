"""From the tree of a file to what it declares."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarations import (
    CALLED,
    DEFAULTED_DESTRUCTOR,
    Class,
    Declarations,
    Definition,
    are_alike,
    is_given_its_deleter,
)
from cudafix.frontends.cuda.sema.declarators import (
    ASSIGNMENT,
    CLASS_NODES,
    CONSTANT,
    Declared,
    declared,
    default_of,
    default_value,
    extent,
    integer,
    is_const,
    of_bits,
)
from cudafix.frontends.cuda.sema.lookup import renaming, using
from cudafix.frontends.cuda.sema.references import OPEN, gives_references, other_names
from cudafix.frontends.cuda.sema.type_texts import BLANKS, is_pointer, may_refer, plain_name, text_of, tidy
from cudafix.ir import GlobalVar, Param, Span
from cudafix.models.number_types import is_number

_TYPE_NAMES = re.compile(
    rb"\busing\s+(\w+)\s*=|\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]|\benum\s+(\w+)|\btypedef\b[^;{}()]*?(\w+)\s*;"
    rb"|\btypedef\b[^;{}()]*\(\s*(?:\w+\s+|(?:\w+::)+)?\*\s*(?:const\s+)?(\w+)\s*\)\s*\("  # a pointer to a function
)
_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]")
# `using N::C;`
_BROUGHT = re.compile(rb"\busing\s+(?:typename\s+)?((?:::)?(?:\w+\s*::\s*)+(\w+))\s*;")
# `using D = C;`, `typedef C D;`: other names of a type that has a name itself
_ALIASES = re.compile(
    rb"\busing\s+(\w+)\s*=\s*(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s*;"
    rb"|\btypedef\s+(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s+(\w+)\s*;"
)
# `enum class E`, `typedef enum { A } E;`, `typedef float Row[4];`
_OTHER_TYPES = re.compile(
    rb"\benum\s+(?:(?:class|struct)\s+)?(\w+)|\btypedef\s+enum\b[^{};]*\{[^{}]*\}\s*(\w+)"
    rb"|\btypedef\b[^;{}()]*?(\w+)\s*\[[^;{}]*;"
)
# `typedef unsigned char Byte;`, `using Real = float;`: what may be another name of a number
_NAMES_OF_NUMBERS = re.compile(
    rb"\btypedef\s+(\w+(?:::\w+)?(?:\s+\w+)*)\s+(\w+)\s*;|\busing\s+(\w+)\s*=\s*(\w+(?:::\w+)?(?:\s+\w+)*)\s*;"
)
_NAMES_OF_POINTERS = re.compile(
    rb"\btypedef\s+(?:const\s+)?(\w+(?:::\w+)?(?:\s+\w+)*?)\s*((?:\*\s*)+)(\w+)\s*;"
    rb"|\busing\s+(\w+)\s*=\s*(?:const\s+)?(\w+(?:::\w+)?(?:\s+\w+)*?)\s*((?:\*\s*)+);"
)
_QUALIFIED = re.compile(r"(?:::)?(?:\w+::)*[A-Za-z_]\w*")
_BARE_NAMES = re.compile(r"(?:\bthis\s*->\s*|(?<![\w.>:])|(?<=[^-]>))([A-Za-z_]\w*)")  # not behind `x.`, `x->`, `x::`
_CLASS_NAME = re.compile(rb"\b(?:struct|class|union)\s+(\w+)")
_ONE_WORD = re.compile(r"(?<![\w:])[A-Za-z_]\w*\b(?!\s*(?:::|<))")
_NAMESPACE_ALIASES = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::)?([\w:]+)\s*;")
_NAMESPACE = re.compile(r"\b(?!inline\b)[A-Za-z_]\w*")
# `using X = …decltype(…)…;`: a type that may be any
_MEASURED = re.compile(
    rb"\busing\s+(\w+)\s*=[^;]*\b(?:decltype|typeof)\b|\btypedef\b[^;]*\b(?:decltype|typeof)\b[^;]*?(\w+)\s*;"
)
# `using X = std::unique_ptr<T, decltype(&f)>;`: a smart pointer with a pointer to a function
_NAMES_OF_OWNERS = re.compile(
    rb"\busing\s+(\w+)\s*=\s*((?:std::)?unique_ptr\s*<[^;{}<>]*>)\s*;"
    rb"|\btypedef\s+((?:std::)?unique_ptr\s*<[^;{}<>]*>)\s*(\w+)\s*;"
)
_OWNS_ALONE = re.compile(r"(?:std::)?unique_ptr\s*<[^;{}]*>")
# a parameter of a template that may be a function: `template <auto F>`, `template <void (*F)(int *)>`
_TEMPLATE = re.compile(rb"\btemplate\s*<")
_END_OF_HEAD = re.compile(rb"[;{}]|\Z")
_AUTO_PARAMETER = re.compile(rb"[<,]?\s*auto\s*(?:\.\.\.\s*)?(\w+)\s*[,>=]")
_FUNCTION_PARAMETER = re.compile(rb"\((?=\s*[*&]\s*(\w+)\s*\)\s*\()")
_LOCAL_CLASS = re.compile(rb"\b(?:struct|class|union)\b[^;(){}]*\{")
_SPACES = {"__device__": "device", "__constant__": "constant", "__managed__": "managed"}
_NULL = frozenset(("", "0", "NULL", "nullptr"))
_HOLDS = re.compile(r"\*\Z|\Acu(?!daEvent_t)\w+\Z")  # pointers, streams, handles; of an event null says nothing


def base_type(node: Node, text: bytes, index: Declarations) -> str:
    """The type specifier of a declaration or parameter, without qualifiers and storage classes. Other names of plain
    numbers are resolved, and of references: `&` is behind what these refer to, `OPEN` behind what may be one.
    """
    kind = node.child_by_field_name("type")
    if kind is None:
        return ""
    if kind.type in CLASS_NODES or kind.type == "enum_specifier":
        name = kind.child_by_field_name("name")
        if name is None and kind.type == "enum_specifier":
            return "int"  # its values are those of an integer (C++17, 10.2 [dcl.enum] 8)
        return text_of(name, text) if name is not None else f"__anonymous_{kind.start_byte}"
    written = tidy(kind, text)
    if (numbers := index.numbers) and written not in numbers:
        written = _ONE_WORD.sub(lambda word: numbers.get(word[0], word[0]), written)
    return numbers.get(written) or index.references.written_out(written)


def parameters(node: Node | None, text: bytes, index: Declarations) -> tuple[tuple[Param, Node], ...]:
    """The parameters of a parameter list, with the node of each; an unnamed one has the name ``""``."""
    found = []
    for child in node.children if node is not None else ():
        if child.type == "...":  # of C
            found.append((Param("", "..."), child))
            continue
        if child.type not in (
            "parameter_declaration",
            "optional_parameter_declaration",
            "variadic_parameter_declaration",
        ):
            continue
        base = base_type(child, text, index)
        inner = child.child_by_field_name("declarator")
        one = declared(base, inner, text) if inner is not None else None
        written = text_of(inner, text) if inner is not None else ""
        rvalue = written.startswith("&&")
        if one is None:
            pointer = "*" in written
            kind = base.removesuffix(OPEN).removesuffix(" &") + " *" * pointer
            is_open = base.endswith(OPEN) and not ("&" in written or pointer)
            refers = "&" in written or (base != kind and not pointer)
            if not (base == "void" and not written):
                optional = child.child_by_field_name("default_value") is not None
                constant = "*" not in written and base == kind and any(map(is_const, child.children))
                default = default_of(child, kind, text)
                found.append((Param("", kind, refers, default, optional, constant, rvalue, is_open), child))
        else:
            kind = one.type
            if kind.endswith("[]") and not one.reference:  # an array parameter is a pointer
                kind = kind.removesuffix("[]")
                kind += "*" if kind.endswith("*") else " *"
            if child.type == "variadic_parameter_declaration":
                kind += "..."
            optional = child.type == "optional_parameter_declaration"
            constant = (
                one.reference and not base.endswith("&") and "*" not in kind and any(map(is_const, child.children))
            )
            default = default_of(child, kind, text)
            found.append((Param(one.name, kind, one.may_refer, default, optional, constant, rvalue, one.open), child))
    return tuple(found)


# default arguments that evaluate nothing, where the parameter is no object
_EVALUATES_NOTHING = frozenset(
    (
        "number_literal null identifier qualified_identifier string_literal char_literal true false sizeof_expression"
    ).split()
)


def _evaluates(one: Declared, text: bytes, found: Declarations) -> bool:
    """Whether a default argument of a declaration may do something, or make an object of a class that is seen."""
    for param, node in parameters(one.parameters, text, found):
        value = default_value(node)
        is_object = not is_pointer(param.type) and found.class_of(param.type) is not None
        if value is None:
            continue
        if is_object or not (value.type in _EVALUATES_NOTHING or text_of(value, text) == "{}"):
            return True
        if found.names_object(text_of(value, text)):  # it is converted
            return True
        if value.type == "identifier" and found.may_have_unseen_macros():
            return True
    return False


def hidden_qualifiers(qualifiers: tuple[tuple[int, str], ...], start: int, end: int) -> set[str]:
    """The CUDA qualifiers between two offsets that a mask hid."""
    first = bisect_left(qualifiers, (start, ""))
    words: set[str] = set()
    while first < len(qualifiers) and qualifiers[first][0] < end:
        words.update(qualifiers[first][1].split())
        first += 1
    return words


def names_of_numbers(
    text: bytes, original: bytes, macros: Mapping[str, bytes], visible: Declarations | None
) -> dict[str, str]:
    """The other names of plain numbers in a file, and the types that they mean: those of `macros`, which are types, and
    those that `text` defines and that mean the same wherever `original` defines them, in other configurations too, or
    a floating number everywhere: of others it is not known whether they may be an index, or may hold an address.
    """
    known = dict(visible.numbers) if visible is not None else {}
    own = _defined_as_numbers(text, known)
    if own or known:
        everywhere = _defined_as_numbers(original, known)
        defined, classes = _defined_types(original)
        known = {name: kind for name, kind in known.items() if name not in defined}
        for name, (*_, kind) in own.items():
            kinds = everywhere.get(name, ())
            if len(kinds) == defined[name] and name not in classes and are_alike(kinds):
                known[name] = kind
    for name, body in macros.items():
        if is_number(kind := body.decode("utf-8", "replace")):
            known[name] = kind
    return known


@lru_cache(maxsize=64)
def _defined_types(original: bytes) -> tuple[Counter[str], frozenset[str]]:
    """How often a file defines each name of a type that is no class, and the names of classes; kept for its next
    configuration.
    """
    types = Counter(name.decode("utf-8", "replace") for names in _TYPE_NAMES.findall(original) for name in names)
    return types, frozenset(name.decode() for name in _CLASS_NAME.findall(original))


def _defined_as_numbers(text: bytes, known: Mapping[str, str]) -> dict[str, list[str]]:
    """The other names of plain numbers and of pointers to them."""
    found: dict[str, list[str]] = {}
    for kind, new, other_new, other_kind in _NAMES_OF_NUMBERS.findall(text):
        written = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        kinds = found.get(written, [known.get(written, written)])
        if is_number(kinds[-1]) and are_alike(kinds):
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(kinds[-1])
    for kind, stars, new, other_new, other_kind, other_stars in _NAMES_OF_POINTERS.findall(text):
        written = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        pointed = found.get(written, [known.get(written, written)])[-1]
        if is_number(pointed) or pointed == "void":
            pointer = f"{pointed} {'*' * (stars or other_stars).count(b'*')}"
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(pointer)
    return found


def _function_parameters(text: bytes) -> Iterator[str]:
    """The first parameter that may be a function in the head of each template, or behind it."""
    for template in _TEMPLATE.finditer(text):
        end = _END_OF_HEAD.search(text, template.end())
        head = text[template.end() : end.start() if end is not None else len(text)]
        auto, pointer = _AUTO_PARAMETER.search(head), _FUNCTION_PARAMETER.search(head)
        start = max(head.rfind(b",", 0, pointer.start()), 0) if pointer is not None else len(head)
        if auto is not None and auto.start() <= start:
            yield auto[1].decode()
        elif pointer is not None:
            comma = head.find(b",", pointer.start())
            pointers = _FUNCTION_PARAMETER.finditer(head, pointer.start(), comma if comma >= 0 else len(head))
            yield [one[1].decode() for one in pointers][-1]


def index(
    root: Node,
    text: bytes,
    path: str,
    qualifiers: tuple[tuple[int, str], ...],
    visible: Declarations | None,
    numbers: dict[str, str],
    spelled: Mapping[str, str],
    renames: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]],
) -> Declarations:
    """Walk a translation unit, down to function bodies. `qualifiers` are those that a mask hid, by offset, `numbers`
    the other names of plain numbers, `spelled` the macros that may name a type, `renames` those that stand for a name:
    from which offset on, and for which, or for one of which ("" for none).
    """
    found = Declarations(
        numbers=numbers,
        types=frozenset(n.decode("utf-8", "replace") for names in _TYPE_NAMES.findall(text) for n in names if n),
        defined=frozenset(n.decode("utf-8", "replace") for names in _OTHER_TYPES.findall(text) for n in names if n),
        visible=visible,
        given=frozenset(_function_parameters(text)),
        stand_for={**other_names(text), **{name: (kind,) for name, kind in spelled.items()}},
        renames=renames,
    )
    found.gives_references = gives_references(text, found.references.may_be)
    for new, kind, other_kind, other_new in _ALIASES.findall(text):
        name = (new or other_new).decode("utf-8", "replace")
        meant = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), meant)))
    for meant_name, last_name in _BROUGHT.findall(text):
        name, meant = last_name.decode("utf-8", "replace"), b"".join(meant_name.split()).decode("utf-8", "replace")
        found.brought.add(name)
        if not f"::{meant}".endswith(f"::{name}::{name}"):  # not the constructors of a base
            found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), meant)))
    for new, other_new in _MEASURED.findall(text):
        found.aliases[(new or other_new).decode("utf-8", "replace")] = ("decltype",)
    for new, kind, other_kind, other_new in _NAMES_OF_OWNERS.findall(text):
        meant = BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        if is_given_its_deleter(meant):
            name = (new or other_new).decode("utf-8", "replace")
            known = (one for one in found.aliases.get(name, ()) if one != "decltype")
            found.aliases[name] = tuple(dict.fromkeys((*known, meant)))
    for new, kind in _NAMESPACE_ALIASES.findall(text):
        found.opens(new.decode(), kind.decode("utf-8", "replace"))
    elsewhere = Counter(_TYPE_PARAMETER.findall(text))
    none = frozenset[str]()
    homes: dict[int | str, str] = {}  # the functions of local classes, by node and by name
    stack: list[tuple[Node, str, Class | None, bool, frozenset[str]]]  # the last are parameters of templates
    stack = [(child, "", None, False, none) for child in reversed(root.children)]
    while stack:
        node, namespace, cls, internal, hidden = stack.pop()
        kind = node.type
        if kind == "function_definition":
            _function(found, node, text, namespace, cls, internal, qualifiers, hidden)
            body = node.child_by_field_name("body")
            if body is not None and _LOCAL_CLASS.search(text, body.start_byte, body.end_byte):
                function = found.functions[-1]
                if function.node == node and function.side in ("host", "both"):
                    for local in _classes_in(body):
                        homes[local.id] = function.name
                        stack.append((local, function.name, None, True, hidden))
        elif kind == "expression_statement" and cls is None:
            _defaulted_destructor(found, node, namespace, text)
        elif kind == "compound_statement" and cls is None:
            _body_of_macro(found, node, text, namespace)
        elif kind in ("declaration", "field_declaration"):
            _declaration(found, node, text, path, namespace, cls, internal, hidden)
            inner = node.child_by_field_name("type")
            if inner is not None and (inner.type in CLASS_NODES or inner.type == "enum_specifier"):
                stack.append((inner, namespace, cls, internal, hidden))
        elif kind in CLASS_NODES:
            body = node.child_by_field_name("body")
            if body is None:
                continue
            name_node = node.child_by_field_name("name")
            name = plain_name(text_of(name_node, text)) if name_node is not None else ""
            if name_node is None and cls is not None and node.parent is not None and not _named(node.parent):
                inside = cls  # an anonymous union: its members are members of the class around it
            else:
                outer = f"{cls.name}::" if cls is not None else f"{namespace}::" if namespace else ""
                inside = Class(outer + (name or f"__anonymous_{node.start_byte}"), start=node.start_byte)
                templated = node.parent is not None and node.parent.type == "template_declaration"
                inside.templated = templated or (cls is not None and cls.templated)
                found.hides(inside.name, hidden)
                found.classes[inside.name] = inside
                home = homes.get(node.id) or (homes.get(cls.name) if cls is not None else None)
                if home is not None:
                    homes[inside.name] = home
                    found.local.setdefault(home, {})[inside.name.rpartition("::")[2]] = inside
                else:
                    found.classes.setdefault(inside.name.rpartition("::")[2], inside)
                if name_node is None and node.parent is not None and node.parent.type == "type_definition":
                    alias = node.parent.child_by_field_name("declarator")
                    if alias is not None:
                        inside.name = outer + text_of(alias, text)
                        found.classes[inside.name] = found.classes.setdefault(text_of(alias, text), inside)
                elif node.parent is not None and node.parent.type == "type_definition":  # `typedef struct S {} T, *P;`
                    for alias in node.parent.children_by_field_name("declarator"):
                        other = text_of(alias, text)
                        if alias.type == "type_identifier" and other != name:
                            found.aliases.setdefault(other, (inside.name,))
                        elif alias.type == "pointer_declarator":
                            found.defined |= {other.strip("* ")}
                for child in node.children:
                    if child.type == "base_class_clause":
                        inside.bases = tuple(
                            plain_name(text_of(base, text))
                            for base in child.named_children
                            if base.type in ("type_identifier", "qualified_identifier", "template_type")
                        )
            stack.extend((child, namespace, inside, internal, hidden) for child in reversed(body.children))
        elif kind == "namespace_definition":
            name_node = node.child_by_field_name("name")
            inner_name = "::".join(_NAMESPACE.findall(text_of(name_node, text))) if name_node is not None else ""
            joined = "::".join(part for part in (namespace, inner_name) if part)
            body = node.child_by_field_name("body")
            is_inline = text[node.start_byte : node.end_byte].partition(b"{")[0].find(b"inline") >= 0
            if joined:
                found.names.opens(joined, is_inline)
            if body is not None:
                within = internal or name_node is None
                stack.extend((child, joined, cls, within, hidden) for child in reversed(body.children))
            if is_inline:
                found.opens(joined.rpartition("::")[0], joined)
        elif kind == "using_declaration" and cls is not None:
            named = "".join(text_of(node.named_children[-1], text).split())
            last = named.rpartition("::")[2]
            of_base = tuple(base for base in cls.bases if base.rpartition("::")[2] == last)
            if plain_name(named.rpartition("::")[0]).rpartition("::")[2] == last:
                cls.inherits += of_base or cls.bases  # by another name of one of them
        elif kind == "using_declaration":
            for one in using(text_of(node, text)):
                found.names.uses(namespace, one, node.start_byte)
                if namespace:
                    found.opens(namespace, one.name if one.is_directive else one.name.rpartition("::")[0])
        elif kind == "namespace_alias_definition":
            if (renamed := renaming(text_of(node, text))) is not None:
                found.names.renames(namespace, *renamed, node.start_byte)
        elif kind == "enum_specifier":
            body = node.child_by_field_name("body")
            for child in body.named_children if body is not None else ():
                if child.type == "enumerator":
                    at = Span(path, child.start_byte, child.end_byte)
                    found.enumerators.setdefault(text_of(child.children[0], text), set()).add(at)
        elif kind == "friend_declaration":
            head = text_of(node, text).partition("{")[0]
            found.friends.update("".join(name.split()) for name in CALLED.findall(head))
            stack.extend((child, namespace, None, internal, hidden) for child in reversed(node.named_children))
        elif kind in ("template_declaration", "linkage_specification", "declaration_list", "type_definition", "ERROR"):
            listed = node.child_by_field_name("parameters") if kind == "template_declaration" else None
            if listed is not None:
                hidden |= _named_in(listed, text)
                if _is_scope(node.named_children[-1]):
                    elsewhere.subtract(_TYPE_PARAMETER.findall(text, listed.start_byte, listed.end_byte))
            stack.extend((child, namespace, cls, internal, hidden) for child in reversed(node.named_children))
    found.parameters_elsewhere = frozenset(
        name.decode("utf-8", "replace") for name, count in elsewhere.items() if count > 0
    )
    for cls in found.classes.values():
        cls.fields = {name: found.written_out(kind, cls.name) for name, kind in cls.fields.items()}
        cls.statics = {name: found.written_out(kind, cls.name) for name, kind in cls.statics.items()}
    return found


def _is_scope(node: Node) -> bool:
    """Whether a template of this is a function or a class, or more of the head of one."""
    if node.type == "declaration":
        declarator = node.child_by_field_name("declarator")
        return declarator is not None and declarator.type.endswith("function_declarator")
    return node.type in ("function_definition", "template_declaration", "friend_declaration", *CLASS_NODES)


def _named_in(listed: Node, text: bytes) -> frozenset[str]:
    """The names of the parameters of a template."""
    found = set[str]()
    for child in listed.named_children:
        kept_for = child.child_by_field_name("default_type") or child.child_by_field_name("default_value")
        stack = [one for one in child.named_children if one != kept_for]
        while stack:
            node = stack.pop()
            if node.type in ("type_identifier", "identifier"):
                found.add(text_of(node, text))
            stack.extend(node.named_children)
    return frozenset(found)


def _body_of_macro(found: Declarations, body: Node, text: bytes, namespace: str) -> None:
    """A block at namespace scope: the body of a function that a macro in front of it begins, `TEST_CASE("f") { … }`."""
    before = body.prev_named_sibling
    call = before.named_children[0] if before is not None and before.type == "expression_statement" else None
    name = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
    if call is None or name is None or text[call.end_byte : body.start_byte].strip():
        return
    macro = plain_name(text_of(name, text))
    made = _made_by_macro(found, call, body, macro, namespace, text)
    outer = made.name if made is not None else namespace
    qualified = "::".join(part for part in (outer, macro) if part)
    owner = made.name if made is not None else None
    found.functions.append(Definition(qualified, body, body, (), namespace, owner, False, "host", "void"))


def _made_by_macro(
    found: Declarations, head: Node, body: Node, macro: str, namespace: str, text: bytes
) -> Class | None:
    """The class of a function that a macro begins which is not seen, where the body names members of a class that the
    macro is given: it may be a member of a class that is derived from that. None if it names none.
    """
    given = plain_name(text_of(head, text)).partition("(")[2].partition(")")[0]
    used = set(_BARE_NAMES.findall(text[body.start_byte : body.end_byte].decode("utf-8", "replace")))
    bases: list[str] = []
    for argument in given.split(","):
        base = plain_name(argument.strip())
        known = found.class_of(base, namespace or "::") if _QUALIFIED.fullmatch(base) else None
        lineage = found.lineage(known.name) if known is not None else ()
        if any(not used.isdisjoint((*one.fields, *one.statics, *one.methods)) for one in lineage):
            bases.append(base)
    if not bases:
        return None
    words = [argument.strip().rpartition("::")[2] for argument in given.split(",")]
    name = f"{macro}({','.join(word for word in words if _QUALIFIED.fullmatch(word))})"
    made = Class("::".join(part for part in (namespace, name) if part), bases=tuple(bases), start=body.start_byte)
    made.methods.add(macro)
    found.classes[made.name] = made
    return made


def _classes_in(body: Node) -> Iterator[Node]:
    """The classes that a function body defines, those inside of them left out."""
    stack = list(body.named_children)
    while stack:
        node = stack.pop()
        if node.type in CLASS_NODES and node.child_by_field_name("body") is not None:
            yield node
        else:
            stack.extend(node.named_children)


def _named(parent: Node) -> bool:
    """Whether the declaration around a class body gives the class or an object a name."""
    return parent.type == "type_definition" or parent.child_by_field_name("declarator") is not None


def _declaration(
    found: Declarations,
    node: Node,
    text: bytes,
    path: str,
    namespace: str,
    cls: Class | None,
    internal: bool,
    hidden: frozenset[str],
) -> None:
    base = base_type(node, text, found)
    words = {child.type if child.child_count == 0 else text_of(child, text) for child in node.children}
    static = "static" in words
    space = next((_SPACES[word] for word in ("__managed__", "__constant__", "__device__") if word in words), "host")
    for child in node.children_by_field_name("declarator"):
        one = declared(base, child, text)
        if one is None:
            continue
        is_object = cls is None and "extern" not in words and _is_object(found, one, text)
        if one.parameters is not None and not one.pointer_to_function and not is_object:
            # `A &A::operator=(A &&) noexcept = default;` reads as a variable
            value = child.child_by_field_name("value")
            if value is not None and text_of(value, text) == "default" and _defaulted(found, cls, namespace, one, text):
                continue
            for named in found.renamed(one, several=cls is None):
                if cls is not None:
                    cls.methods.add(named.name)
                    cls.unbound |= {named.name} if _is_static(node, text) else set()
                    cls.virtual |= named.name == cls.destructor and _is_virtual(child)
                found.prototypes.add(named.name)
                _offers(found, node, named, text, namespace, cls)
                listed = parameters(named.parameters, text, found)
                if cls is None:
                    found.declares_function(node, named, listed, text, path, namespace)
                elif not any(c.type == "=" for c in node.children):  # neither pure nor deleted ([class.abstract])
                    found.declares_method(cls, named, listed, text)
                found.has_function(
                    named, listed, _returned(found, named, child, text), _referred(found, named, child, text), hidden
                )
            continue
        if cls is not None:
            kind = of_bits(one.type, child, text)
            (cls.statics if static else cls.fields)[one.name] = kind + " &" * (one.may_refer and not static)
            if one.open:
                cls.open.add(one.name)
            if unions := _unions_around(node, child):
                cls.unions[one.name] = unions
            if not static:
                cls.places[one.name] = node.start_byte, node.end_byte
                value = node.child_by_field_name("default_value")
                if value is not None and found.acts(value, one.type, cls, text):
                    cls.initialized.add(one.name)
                    found.members[cls.name, one.name] = value
                elif value is not None and not one.array and _HOLDS.search(one.type) is not None:
                    if text_of(value, text).strip("{} ") in _NULL:
                        cls.null.append(one.name)
                if one.array and (size := extent(child)) is not None:
                    cls.extents[one.name] = "".join(text_of(size, text).split())
                continue
            name = f"{cls.name}::{one.name}"
            words |= {"extern"} - ({"extern"} if "inline" in words else set())  # only declared here
        elif "::" in one.name:
            name = plain_name(one.name)  # the definition of a static member
        else:
            name = "::" + "::".join(part for part in (namespace, one.name) if part)
        constant = not CONSTANT.isdisjoint(words)
        value = child.child_by_field_name("value")
        made = GlobalVar(
            name,
            one.type + " &" * (one.may_refer and not one.array),
            space,
            one.array,
            Span(path, child.start_byte, child.end_byte),
            internal or (cls is None and (static or constant)),  # a member has the linkage of its class
            integer(value, one, text) if constant else "",
            "extern" in words and value is None,
        )
        found.names.declares(made, found.globals.get(name), child.start_byte)
        found.globals[name] = made
        found.globals.setdefault("::" + name.rpartition("::")[2], made)
        if space == "host" and ("extern" not in words or value is not None):
            value = value if value is not None else node.child_by_field_name("default_value")  # of an inline member
            found.initializers.append((made, value if value is not None else child))
            if "thread_local" in words:
                found.of_threads.add(name)


def _offers(found: Declarations, node: Node, one: Declared, text: bytes, namespace: str, cls: Class | None) -> None:
    """Note the default arguments of a function, and what they evaluate if it is only declared here, or overridden."""
    listed = parameters(one.parameters, text, found)
    if not any(param.optional for param, _ in listed):
        return
    name = "::".join(part for part in (cls.name if cls is not None else namespace, plain_name(one.name)) if part)
    found.offers.setdefault(name, []).append(tuple(param for param, _ in listed))
    runs_elsewhere = node.child_by_field_name("body") is None or any(child.type == "virtual" for child in node.children)
    if runs_elsewhere and _evaluates(one, text, found):
        owner = cls.name if cls is not None else None
        found.evaluating.append(Definition(name, node, node, listed, namespace, owner, True, "host", "void"))
        found.evaluated.add(name)


def _unions_around(node: Node, declarator: Node) -> dict[int, int]:
    """Where the unions start that a data member is in, through anonymous ones too, and in which member of each it is
    (C++20, 11.5.2 [class.union.anon]).
    """
    found: dict[int, int] = {}
    member, at = node, declarator.start_byte
    while member.parent is not None and (around := member.parent.parent) is not None and around.type in CLASS_NODES:
        if around.type == "union_specifier":
            found[around.start_byte] = at
        if around.child_by_field_name("name") is not None or around.parent is None or _named(around.parent):
            break
        member, at = around.parent, around.start_byte
    return found


def _is_object(found: Declarations, one: Declared, text: bytes) -> bool:
    """Whether `T x(f);` makes an object of functions and variables of this file, though it reads as a function."""
    given = one.parameters.named_children if one.parameters is not None else []
    names = {text_of(child, text) for child in given if child.named_child_count == 1}
    if not names or any(found.names_type(name) or found.class_of(name) is not None for name in names):
        return False
    known = {function.name.rpartition("::")[2] for function in found.functions}
    return all(name in known or f"::{name}" in found.globals for name in names)


def _defaulted(found: Declarations, cls: Class | None, namespace: str, one: Declared, text: bytes) -> bool:
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
    elif cls is None or _is_virtual(one.node):
        owner.ended = True
        owner.virtual |= cls is not None
        owner.methods |= {special} if cls is not None else set()  # what is derived may have more to end
    return True


def _is_static(node: Node, text: bytes) -> bool:
    return any(child.type == "storage_class_specifier" and text_of(child, text) == "static" for child in node.children)


def _is_virtual(declared: Node) -> bool:
    """Whether a member function is declared as virtual where its declaration begins (C++17, 13.3 [class.virtual])."""
    node: Node | None = declared
    while node is not None and node.type not in ("function_definition", "declaration", "field_declaration"):
        node = node.parent
    return node is not None and any(child.type in ("virtual", "virtual_function_specifier") for child in node.children)


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


def _defaulted_destructor(found: Declarations, node: Node, namespace: str, text: bytes) -> None:
    """Note the compiler-written destructor in `S::~S() = default;`, read as an assignment by the grammar."""
    written = DEFAULTED_DESTRUCTOR.fullmatch(text, node.start_byte, node.end_byte)
    if written is None:
        return
    scope, _, special = "".join(written[1].decode("utf-8", "replace").split()).rpartition("::")
    owner = _owner_behind(found, scope.removeprefix("::"), "" if scope.startswith("::") else namespace)
    if owner is not None and special == owner.destructor:
        owner.ended = True


def _returned(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    """What a function returns by value: its type in front, or behind its parameters."""
    kind = _result(found, one, declarator, text)
    return "" if kind.endswith("&") else kind.removesuffix(OPEN)


def _referred(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    """To what a function returns a reference."""
    kind = _result(found, one, declarator, text)
    return kind.rstrip("&? ").removeprefix("const ") if kind.endswith(("&", OPEN)) else ""


def _result(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    if one.may_refer:
        return one.type + (" &" if one.reference else OPEN)
    if one.type.startswith("auto"):
        for child in declarator.named_children:
            if child.type == "trailing_return_type":
                return found.references.written_out(text_of(child, text).removeprefix("->").strip())
    if one.type == "auto":
        return _owner_in(declarator, text) or one.type
    return one.type


def _owner_in(declarator: Node, text: bytes) -> str:
    """The type of the smart pointers that all statements `return std::unique_ptr<T, D>(p);` of a function make, which
    is what it returns (C++17, 10.1.7.4.1 [dcl.type.auto.deduct] 4); empty if they make something else.
    """
    definition = declarator.parent
    body = definition.child_by_field_name("body") if definition is not None else None
    stack, kinds = [body] if body is not None else [], set[str]()
    while stack:
        node = stack.pop()
        if node.type == "return_statement":
            value = next((child for child in node.named_children if child.type != "comment"), None)
            named = "function" if value is not None and value.type == "call_expression" else "type"
            made = value.child_by_field_name(named) if value is not None else None
            kinds.add(text_of(made, text) if made is not None else "")
        elif node.type != "lambda_expression" and node.type not in CLASS_NODES:
            stack += node.children
    kind = kinds.pop() if len(kinds) == 1 else ""
    return kind if _OWNS_ALONE.fullmatch(kind) is not None else ""


def _function(
    found: Declarations,
    node: Node,
    text: bytes,
    namespace: str,
    cls: Class | None,
    internal: bool,
    qualifiers: tuple[tuple[int, str], ...],
    hidden: frozenset[str],
) -> None:
    body = node.child_by_field_name("body")
    declarator = node.child_by_field_name("declarator")
    base = base_type(node, text, found)
    one = declared(base, declarator, text) if declarator is not None else None
    if one is None or declarator is None:
        return
    one, *others = found.renamed(one, several=cls is None and "::" not in one.name)
    if cls is not None and one.name == cls.constructor and any(c.type == "delete_method_clause" for c in node.children):
        given = parameters(one.parameters, text, found) if one.parameters is not None else ()
        cls.uncopied |= len(given) == 1 and given[0][0].constant
    if any(child.type == "default_method_clause" for child in node.children):
        if _defaulted(found, cls, namespace, one, text):
            return
        if cls is not None and one.name in ("operator==", "operator<=>"):
            cls.compared.add(one.name)
            return
    if cls is not None:
        cls.methods.add(one.name)
        cls.unbound |= {one.name} if _is_static(node, text) else set()
        cls.virtual |= one.name == cls.destructor and _is_virtual(node)
        cls.idle |= one.name == cls.destructor and body is not None and body.named_child_count == 0
    listed = parameters(one.parameters, text, found) if one.parameters is not None else ()
    _offers(found, node, one, text, namespace, cls)
    for each in (one, *others):
        found.has_function(
            each, listed, _returned(found, each, declarator, text), _referred(found, each, declarator, text), hidden
        )
    if body is None:
        found.prototypes.update(each.name for each in (one, *others))
        return
    words = {child.type for child in node.children}
    if qualifiers:
        before = node.prev_sibling
        start = before.end_byte if before is not None else node.start_byte
        words |= hidden_qualifiers(qualifiers, start, body.start_byte)
    if "__global__" in words:
        side = "kernel"
    elif "__device__" in words:
        side = "both" if "__host__" in words else "device"
    else:
        side = "host"
    name = plain_name(one.name)
    owner = cls.name if cls is not None else None
    outer = owner or namespace
    scope, _, _ = name.rpartition("::")
    if owner is None and scope:
        known = found.class_of(scope)
        owner = known.name if known is not None else "::".join(part for part in (namespace, scope) if part)
        if known is not None:
            name, outer = f"{owner}::{name.rpartition('::')[2]}", ""
    elif owner is None and node.child_by_field_name("type") is None and name != "main":
        made = _made_by_macro(found, declarator, body, name, namespace, text)
        if made is not None:
            owner = outer = made.name
            inner = declarator.child_by_field_name("declarator")
            if inner is not None and inner.type == "identifier":  # these are what the macro is given
                listed = ()
    qualified = "::".join(part for part in (outer, name) if part)
    found.hides(qualified, hidden)
    static = cls is None and _is_static(node, text)
    found.functions.append(
        Definition(
            qualified,
            node,
            body,
            listed,
            namespace,
            owner,
            internal or static,
            side,
            one.type or "void",
            may_refer(_result(found, one, declarator, text)),
            tuple("::".join(part for part in (outer, plain_name(each.name)) if part) for each in others),
        )
    )
    for each in (one, *others):
        found.by_reference[plain_name(each.name).rpartition("::")[2]] = tuple(param.by_reference for param, _ in listed)
