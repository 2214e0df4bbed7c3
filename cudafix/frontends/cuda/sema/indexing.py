"""From the tree of a file to what it declares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarations import (
    CALLED,
    Class,
    Declarations,
    Definition,
)
from cudafix.frontends.cuda.sema.declarators import (
    CLASS_NODES,
    CONSTANT,
    Declared,
    declared,
    extent,
    integer,
    of_bits,
)
from cudafix.frontends.cuda.sema.heads import (
    base_type,
    evaluates,
    hidden_qualifiers,
    parameters,
    referred,
    result,
    returned,
)
from cudafix.frontends.cuda.sema.lookup import renaming, using
from cudafix.frontends.cuda.sema.special_members import (
    defaulted,
    defaulted_destructor,
    is_left_to_the_compiler,
    is_virtual,
)
from cudafix.frontends.cuda.sema.template_parameters import parameters_of
from cudafix.frontends.cuda.sema.type_texts import may_refer, plain_name, text_of
from cudafix.frontends.cuda.sema.written_types import names_of_types
from cudafix.ir import GlobalVar, Param, Span

_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]")
_QUALIFIED = re.compile(r"(?:::)?(?:\w+::)*[A-Za-z_]\w*")
_BARE_NAMES = re.compile(r"(?:\bthis\s*->\s*|(?<![\w.>:])|(?<=[^-]>))([A-Za-z_]\w*)")  # not behind `x.`, `x->`, `x::`
_NAMESPACE = re.compile(r"\b(?!inline\b)[A-Za-z_]\w*")
_LOCAL_CLASS = re.compile(rb"\b(?:struct|class|union)\b[^;(){}]*\{")
_SPACES = {"__device__": "device", "__constant__": "constant", "__managed__": "managed"}
_NULL = frozenset(("", "0", "NULL", "nullptr"))
_HOLDS = re.compile(r"\*\Z|\Acu(?!daEvent_t)\w+\Z")  # pointers, streams, handles; of an event null says nothing


class _Scope(NamedTuple):
    """Where a declaration stands: the namespace, the class, whether nobody outside of the file can name it, and the
    parameters of the templates around it.
    """

    namespace: str = ""
    cls: Class | None = None
    internal: bool = False
    hidden: frozenset[str] = frozenset()


def index(
    root: Node,
    text: bytes,
    path: str,
    qualifiers: tuple[tuple[int, str], ...],
    visible: Declarations | None,
    numbers: dict[str, str],
    spelled: Mapping[str, str],
    renames: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]],
    acting: frozenset[str] = frozenset(),
    either: frozenset[str] = frozenset(),
) -> Declarations:
    """Walk a translation unit, down to function bodies. `qualifiers` are those that a mask hid, by offset, `numbers`
    the other names of plain numbers, `spelled` the macros that may name a type, `renames` those that stand for a name:
    from which offset on, and for which, or for one of which ("" for none). `either` are those of the numbers that have
    another type in other configurations.
    """
    found = names_of_types(text, visible, numbers, spelled, renames, acting)
    found.either = either
    walk = _Walk(found, text, path, qualifiers)
    walk.run(root)
    found.parameters_elsewhere = walk.parameters_elsewhere()
    for cls in found.classes.values():
        cls.fields = {name: found.written_out(kind, cls.name) for name, kind in cls.fields.items()}
        cls.statics = {name: found.written_out(kind, cls.name) for name, kind in cls.statics.items()}
    return found


class _Walk:
    """Reads the declarations of a translation unit from its tree, the first one first."""

    def __init__(self, found: Declarations, text: bytes, path: str, qualifiers: tuple[tuple[int, str], ...]) -> None:
        self._found = found
        self._text = text
        self._path = path
        self._qualifiers = qualifiers
        self._parameters = Counter(_TYPE_PARAMETER.findall(text))  # of templates that are no function and no class
        self._homes: dict[int | str, str] = {}  # the functions of local classes, by node and by name
        self._stack: list[tuple[Node, _Scope]] = []
        self._readers: dict[str, Callable[[Node, _Scope], None]] = {
            "function_definition": self._function,
            "expression_statement": self._statement,
            "compound_statement": self._block,
            "declaration": self._declaration,
            "field_declaration": self._declaration,
            **dict.fromkeys(CLASS_NODES, self._class),
            "namespace_definition": self._namespace,
            "using_declaration": self._using,
            "namespace_alias_definition": self._namespace_alias,
            "enum_specifier": self._enumeration,
            "friend_declaration": self._friend,
            "template_declaration": self._template,
            **dict.fromkeys(("linkage_specification", "declaration_list", "type_definition", "ERROR"), self._inner),
        }

    def run(self, root: Node) -> None:
        """Read what is in a translation unit."""
        self._then(root.children, _Scope())
        while self._stack:
            node, scope = self._stack.pop()
            reader = self._readers.get(node.type)
            if reader is not None:
                reader(node, scope)

    def parameters_elsewhere(self) -> frozenset[str]:
        """The type parameters of templates that were not read as those of a function or a class."""
        return frozenset(name.decode("utf-8", "replace") for name, count in self._parameters.items() if count > 0)

    def _then(self, nodes: Sequence[Node], scope: _Scope) -> None:
        """Read these nodes next."""
        self._stack.extend((node, scope) for node in reversed(nodes))

    def _inner(self, node: Node, scope: _Scope) -> None:
        self._then(node.named_children, scope)

    def _template(self, node: Node, scope: _Scope) -> None:
        listed = node.child_by_field_name("parameters")
        if listed is not None:
            scope = scope._replace(hidden=scope.hidden | _named_in(listed, self._text))
            if _is_scope(node.named_children[-1]):
                self._parameters.subtract(_TYPE_PARAMETER.findall(self._text, listed.start_byte, listed.end_byte))
        self._inner(node, scope)

    def _function(self, node: Node, scope: _Scope) -> None:
        found, text = self._found, self._text
        _function(found, node, text, scope, self._qualifiers)
        body = node.child_by_field_name("body")
        if body is not None and _LOCAL_CLASS.search(text, body.start_byte, body.end_byte):
            function = found.functions[-1]
            if function.node == node and function.side in ("host", "both"):
                for local in _classes_in(body):
                    self._homes[local.id] = function.name
                    self._stack.append((local, _Scope(function.name, None, True, scope.hidden)))

    def _statement(self, node: Node, scope: _Scope) -> None:
        if scope.cls is None:
            defaulted_destructor(self._found, node, scope.namespace, self._text)

    def _block(self, node: Node, scope: _Scope) -> None:
        if scope.cls is None:
            _body_of_macro(self._found, node, self._text, scope.namespace)

    def _declaration(self, node: Node, scope: _Scope) -> None:
        _declaration(self._found, node, self._text, self._path, scope)
        inner = node.child_by_field_name("type")
        if inner is not None and (inner.type in CLASS_NODES or inner.type == "enum_specifier"):
            self._stack.append((inner, scope))

    def _class(self, node: Node, scope: _Scope) -> None:
        body, parent = node.child_by_field_name("body"), node.parent
        if body is None:
            return
        named = node.child_by_field_name("name")
        inside = scope.cls
        # the members of an anonymous union are members of the class around it
        if named is not None or inside is None or parent is None or _named(parent):
            name = plain_name(text_of(named, self._text)) if named is not None else ""
            inside = self._new_class(node, name, scope)
        self._then(body.children, scope._replace(cls=inside))

    def _new_class(self, node: Node, name: str, scope: _Scope) -> Class:
        found, text, cls, parent = self._found, self._text, scope.cls, node.parent
        outer = f"{cls.name}::" if cls is not None else f"{scope.namespace}::" if scope.namespace else ""
        made = Class(outer + (name or f"__anonymous_{node.start_byte}"), start=node.start_byte)
        templated = parent is not None and parent.type == "template_declaration"
        made.templated = templated or (cls is not None and cls.templated)
        if templated and cls is None:
            made.parameters = parameters_of(node, text)
        found.hides(made.name, scope.hidden)
        found.classes[made.name] = made
        home = self._homes.get(node.id) or (self._homes.get(cls.name) if cls is not None else None)
        if home is not None:
            self._homes[made.name] = home
            found.local.setdefault(home, {})[made.name.rpartition("::")[2]] = made
        else:
            found.classes.setdefault(made.name.rpartition("::")[2], made)
        if parent is not None and parent.type == "type_definition":
            self._type_definition(parent, made, name, outer)
        for child in node.children:
            if child.type == "base_class_clause":
                kinds = ("type_identifier", "qualified_identifier", "template_type")
                bases = (text_of(base, text) for base in child.named_children if base.type in kinds)
                made.bases = tuple(map(plain_name, bases))
        return made

    def _type_definition(self, node: Node, cls: Class, name: str, outer: str) -> None:
        """The names that `typedef struct S {} T, *P;` gives a class: of one without a name, the first is its own."""
        found, text = self._found, self._text
        if not name:
            alias = node.child_by_field_name("declarator")
            if alias is not None:
                cls.name = outer + text_of(alias, text)
                found.classes[cls.name] = found.classes.setdefault(text_of(alias, text), cls)
            return
        for alias in node.children_by_field_name("declarator"):
            other = text_of(alias, text)
            if alias.type == "type_identifier" and other != name:
                found.aliases.setdefault(other, (cls.name,))
            elif alias.type == "pointer_declarator":
                found.defined |= {other.strip("* ")}

    def _namespace(self, node: Node, scope: _Scope) -> None:
        found, text = self._found, self._text
        named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        name = "::".join(_NAMESPACE.findall(text_of(named, text))) if named is not None else ""
        joined = "::".join(part for part in (scope.namespace, name) if part)
        is_inline = text[node.start_byte : node.end_byte].partition(b"{")[0].find(b"inline") >= 0
        if joined:
            found.names.opens(joined, is_inline)
        if body is not None:
            self._then(body.children, scope._replace(namespace=joined, internal=scope.internal or named is None))
        if is_inline:
            found.opens(joined.rpartition("::")[0], joined)

    def _using(self, node: Node, scope: _Scope) -> None:
        found, text, cls = self._found, self._text, scope.cls
        if cls is None:
            for one in using(text_of(node, text)):
                found.names.uses(scope.namespace, one, node.start_byte)
                if scope.namespace:
                    found.opens(scope.namespace, one.name if one.is_directive else one.name.rpartition("::")[0])
            return
        named = "".join(text_of(node.named_children[-1], text).split())
        last = named.rpartition("::")[2]
        of_base = tuple(base for base in cls.bases if base.rpartition("::")[2] == last)
        if plain_name(named.rpartition("::")[0]).rpartition("::")[2] == last:
            cls.inherits += of_base or cls.bases  # by another name of one of them

    def _namespace_alias(self, node: Node, scope: _Scope) -> None:
        if (renamed := renaming(text_of(node, self._text))) is not None:
            self._found.names.renames(scope.namespace, *renamed, node.start_byte)

    def _enumeration(self, node: Node, scope: _Scope) -> None:
        body = node.child_by_field_name("body")
        self._found.enumerations |= _names_of_enumeration(node, self._text)
        for child in body.named_children if body is not None else ():
            if child.type == "enumerator":
                at = Span(self._path, child.start_byte, child.end_byte)
                self._found.enumerators.setdefault(text_of(child.children[0], self._text), set()).add(at)

    def _friend(self, node: Node, scope: _Scope) -> None:
        head = text_of(node, self._text).partition("{")[0]
        self._found.friends.update("".join(name.split()) for name in CALLED.findall(head))
        self._then(node.named_children, scope._replace(cls=None))


def _names_of_enumeration(node: Node, text: bytes) -> set[str]:
    """The names of an enumeration: its own, and those of a `typedef` around it."""
    outer = node.parent if node.parent is not None and node.parent.type == "type_definition" else None
    names = [node.child_by_field_name("name")]
    names += outer.children_by_field_name("declarator") if outer is not None else []
    return {text_of(one, text) for one in names if one is not None and one.type == "type_identifier"}


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
    stated = before.named_children if before is not None and before.type == "expression_statement" else ()
    call = stated[0] if stated else None  # nothing is in an empty statement: `; {`
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


def _declaration(found: Declarations, node: Node, text: bytes, path: str, scope: _Scope) -> None:
    """A declaration of functions, data members or variables."""
    cls = scope.cls
    base = base_type(node, text, found)
    words = {child.type if child.child_count == 0 else text_of(child, text) for child in node.children}
    for child in node.children_by_field_name("declarator"):
        one = declared(base, child, text)
        if one is None:
            continue
        is_object = cls is None and "extern" not in words and _is_object(found, one, text)
        if one.parameters is not None and not one.pointer_to_function and not is_object:
            _declared_function(found, node, child, one, text, path, scope)
        elif cls is None:
            name = "::" + "::".join(part for part in (scope.namespace, one.name) if part)
            of_template = False
            if "::" in one.name:
                name = plain_name(one.name)  # the definition of a static member
                known = found.global_named(name)
                of_template = "<" in one.name and (known is None or known.array)
            _declared_variable(found, node, child, one, name, words, text, path, scope, of_template)
        else:
            _declared_member(found, node, child, one, text, cls, words)
            if "static" in words:  # only declared here
                said = words if "inline" in words else words | {"extern"}
                of_template = cls.templated and one.name not in cls.fixed
                named = f"{cls.name}::{one.name}"
                _declared_variable(found, node, child, one, named, said, text, path, scope, of_template)


def _declared_function(
    found: Declarations, node: Node, child: Node, one: Declared, text: bytes, path: str, scope: _Scope
) -> None:
    namespace, cls, _, _ = scope
    # `A &A::operator=(A &&) noexcept = default;` reads as a variable
    value = child.child_by_field_name("value")
    if value is not None and text_of(value, text) == "default" and defaulted(found, cls, namespace, one, text):
        return
    for named in found.renamed(one, several=cls is None):
        if cls is not None:
            cls.methods.add(named.name)
            cls.unbound |= {named.name} if _is_static(node, text) else set()
            cls.virtual |= named.name == cls.destructor and is_virtual(child)
        found.prototypes.add(named.name)
        _offers(found, node, named, text, namespace, cls)
        listed = parameters(named.parameters, text, found)
        if cls is None:
            found.declares_function(node, named, listed, text, path, namespace)
        elif not any(c.type == "=" for c in node.children):  # neither pure nor deleted ([class.abstract])
            found.declares_method(cls, named, listed, text)
        _takes_and_returns(found, child, named, listed, text, scope)


def _declared_member(
    found: Declarations, node: Node, child: Node, one: Declared, text: bytes, cls: Class, words: Collection[str]
) -> None:
    """A data member."""
    static = "static" in words
    kind = of_bits(one.type, child, text)
    (cls.statics if static else cls.fields)[one.name] = kind + " &" * (one.may_refer and not static)
    if one.open:
        cls.open.add(one.name)
    if unions := _unions_around(node, child):
        cls.unions[one.name] = unions
    if static:
        if not CONSTANT.isdisjoint(words) and integer(node.child_by_field_name("default_value"), one, text):
            cls.fixed.add(one.name)
        return
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


def _declared_variable(
    found: Declarations,
    node: Node,
    child: Node,
    one: Declared,
    name: str,
    words: Collection[str],
    text: bytes,
    path: str,
    scope: _Scope,
    of_template: bool,
) -> None:
    """A variable at namespace scope, or a static data member. That of a template is a family of variables, one for each
    instantiation of the template (C++17, 17.5.1.3 [temp.static] 1, 17.7 [temp.spec] 5): an array of them.
    """
    constant = not CONSTANT.isdisjoint(words)
    value = child.child_by_field_name("value")
    space = next((_SPACES[word] for word in ("__managed__", "__constant__", "__device__") if word in words), "host")
    made = GlobalVar(
        name,
        one.type + "[]" * of_template + " &" * (one.may_refer and not (one.array or of_template)),
        space,
        one.array or of_template,
        Span(path, child.start_byte, child.end_byte),
        # a member has the linkage of its class
        scope.internal or (scope.cls is None and ("static" in words or constant)),
        integer(value, one, text) if constant and "<" not in one.name else "",
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


def _takes_and_returns(
    found: Declarations,
    declarator: Node,
    one: Declared,
    listed: tuple[tuple[Param, Node], ...],
    text: bytes,
    scope: _Scope,
) -> None:
    """Note what a function takes, returns and refers to."""
    namespace, cls, _, hidden = scope
    result, reference = returned(found, one, declarator, text), referred(found, one, declarator, text)
    found.has_function(one, listed, result, reference, hidden, cls.name if cls is not None else namespace)


def _offers(found: Declarations, node: Node, one: Declared, text: bytes, namespace: str, cls: Class | None) -> None:
    """Note the default arguments of a function, and what they evaluate if it is only declared here, or overridden."""
    listed = parameters(one.parameters, text, found)
    if not any(param.optional for param, _ in listed):
        return
    name = "::".join(part for part in (cls.name if cls is not None else namespace, plain_name(one.name)) if part)
    found.offers.setdefault(name, []).append(tuple(param for param, _ in listed))
    runs_elsewhere = node.child_by_field_name("body") is None or any(child.type == "virtual" for child in node.children)
    if runs_elsewhere and evaluates(one, text, found):
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
    """Whether `T x(f);` makes an object of functions and variables, though it reads as a function."""
    given = one.parameters.named_children if one.parameters is not None else []
    names = {text_of(child, text) for child in given if child.named_child_count == 1}
    if not names or any(found.names_type(name) or found.class_of(name) is not None for name in names):
        return False
    known = {function.name.rpartition("::")[2] for function in found.functions}
    return all(
        name in known or f"::{name}" in found.globals or found.is_declared_function(name.rpartition("::")[2])
        for name in names
    )


def _is_static(node: Node, text: bytes) -> bool:
    return any(child.type == "storage_class_specifier" and text_of(child, text) == "static" for child in node.children)


def _function(
    found: Declarations, node: Node, text: bytes, at: _Scope, qualifiers: tuple[tuple[int, str], ...]
) -> None:
    """A function that is defined, or declared as the compiler writes it."""
    namespace, cls, internal, hidden = at
    body = node.child_by_field_name("body")
    declarator = node.child_by_field_name("declarator")
    base = base_type(node, text, found)
    one = declared(base, declarator, text) if declarator is not None else None
    if one is None or declarator is None:
        return
    one, *others = found.renamed(one, several=cls is None and "::" not in one.name)
    if is_left_to_the_compiler(found, node, one, text, cls, namespace):
        return
    if cls is not None:
        cls.methods.add(one.name)
        cls.unbound |= {one.name} if _is_static(node, text) else set()
        cls.virtual |= one.name == cls.destructor and is_virtual(node)
        cls.idle |= one.name == cls.destructor and body is not None and body.named_child_count == 0
    listed = parameters(one.parameters, text, found) if one.parameters is not None else ()
    _offers(found, node, one, text, namespace, cls)
    for each in (one, *others):
        _takes_and_returns(found, declarator, each, listed, text, at)
    if body is None:
        found.prototypes.update(each.name for each in (one, *others))
        return
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
    found.functions.append(
        Definition(
            qualified,
            node,
            body,
            listed,
            namespace,
            owner,
            internal or (cls is None and _is_static(node, text)),
            _side(node, body, qualifiers),
            one.type or "void",
            may_refer(result(found, one, declarator, text)),
            tuple("::".join(part for part in (outer, plain_name(each.name)) if part) for each in others),
        )
    )
    for each in (one, *others):
        found.by_reference[plain_name(each.name).rpartition("::")[2]] = tuple(param.by_reference for param, _ in listed)


def _side(node: Node, body: Node, qualifiers: tuple[tuple[int, str], ...]) -> str:
    """Where a function runs that is defined: host, device, both or kernel."""
    words = {child.type for child in node.children}
    if qualifiers:
        before = node.prev_sibling
        start = before.end_byte if before is not None else node.start_byte
        words |= hidden_qualifiers(qualifiers, start, body.start_byte)
    if "__global__" in words:
        return "kernel"
    if "__device__" in words:
        return "both" if "__host__" in words else "device"
    return "host"
