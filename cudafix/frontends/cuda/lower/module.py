"""Lower one parsed file to the IR.

What a reader of the IR should know beyond `cudafix.ir`:

- Arguments are lowered as written. Whoever binds a parameter that is `by_reference` takes the address of the argument;
  in the function's body such a parameter is `Deref(Var(name))` already.
- A call that only looks at a status (a check macro or function) leaves no `Call`; its argument's call is `CHECKED`.
- The constructor and the destructor of a local whose class the file defines are `Call`s of `C::C` and `C::~C` with the
  local as `receiver`, and so are those of a class that nobody sees; `new T` is a `Call` of `operator new`, `delete` of
  `operator delete`, `throw` of `throw`, `std::cout << a` of `std::cout`, an OpenMP region is announced by a `Call` of
  `#pragma omp parallel`.
- Assignments of objects whose class has an `operator=`, be it one that the compiler writes, are `Call`s of that; so are
  the copies that a class declares, or a base or a member of it. Which assignments may run unseen, a `Function` and a
  `Module` say (`unwritten`, `template_arguments`).
- Functions of numbers (`sqrt`, `rand`, `std::min`) are no calls. Plain loops are one `HostAccess`.
- A function-local static is a global variable named `function::variable`; initializers of globals that call something
  are in the function `<initializers>`, those of `thread_local` ones in another one (`ir.OF_THREADS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import filterfalse

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.context import File, Source
from cudafix.frontends.cuda.lower.expressions import KEEPS_REFERENCES
from cudafix.frontends.cuda.lower.statements import Statements, is_written, lower_defaults, lower_function
from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.frontends.cuda.preprocess.directives import scan
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import owners, sites
from cudafix.frontends.cuda.sema.comparisons import calls_functions
from cudafix.frontends.cuda.sema.declarations import DEFAULTED_DESTRUCTOR, Class, Declarations, Definition
from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT
from cudafix.frontends.cuda.sema.indexing import index, names_of_numbers
from cudafix.frontends.cuda.sema.kernels import summarize
from cudafix.frontends.cuda.sema.retyping import taken_for_others
from cudafix.frontends.cuda.sema.second_names import named_by_macros, of_c_linkage, second_names
from cudafix.frontends.cuda.sema.type_texts import element_type, is_pointer
from cudafix.models.api import Defined, Prototype
from cudafix.models.measuring import NAMES, named_in
from cudafix.models.shell import parts_of_commands
from cudafix.recursion import room


def declarations(parsed: Parsed, visible: Declarations | None = None) -> Declarations:
    """What a file declares in one configuration; `visible` is what its headers declare."""
    named = {
        name: macro.body
        for name, macro in parsed.macros.items()
        if macro.params is None and macro.kind == "constant" and _TYPE.fullmatch(macro.body)
    }
    numbers = names_of_numbers(parsed.text, parsed.original, named, visible)
    qualifiers = tuple(sorted(parsed.qualifiers))
    spelled = {name: body.decode("utf-8", "replace") for name, body in named.items()}  # `#define BUFFER Buffer<float>`
    types = dict(spelled)
    types |= {n: m.body.decode("utf-8", "replace") for n, m in parsed.macros.items() if m.body.rstrip().endswith(b"&")}
    changes = {name: [(0, macro)] for name, macro in parsed.macros.items()} | parsed.redefined
    names = {
        name: [(at, macro.names_instead if macro is not None else ("",)) for at, macro in listed]
        for name, listed in changes.items()
        if any(macro is not None and macro.names_instead != ("",) for _, macro in listed)
    }
    acting = _acting(parsed)
    found = index(parsed.tree.root_node, parsed.text, parsed.path, qualifiers, visible, numbers, types, names, acting)
    found.spelled.update(spelled)
    for name, body in named.items():
        if found.class_of(body.decode()) is not None:
            found.aliases.setdefault(name, (body.decode(),))
    found.macros = frozenset(name for name, macro in parsed.macros.items() if macro.params is None) - named.keys()
    _find_rows(found, parsed)
    return found


def _acting(parsed: Parsed) -> frozenset[str]:
    """The macros without parameters that stand for more than numbers and names of constants, or for such a macro."""
    bodies = {
        name: {word.decode("utf-8", "replace") for word in _WORDS.findall(macro.body)}
        for name, macro in parsed.macros.items()
        if macro.params is None
    }
    acting = {name for name, words in bodies.items() if any(w[:1].isalpha() and not w.isupper() for w in words)}
    while more := {name for name, words in bodies.items() if name not in acting and not words.isdisjoint(acting)}:
        acting |= more
    return frozenset(acting)


def _find_rows(found: Declarations, parsed: Parsed) -> None:
    """The private data members that are vectors of objects with a destructor, where the file does nothing with one but
    what is lowered (other files: see `_let_go`).
    """
    rows: list[tuple[Class, str, str, tuple[int, int]]] = []
    for cls in {id(cls): cls for cls in found.classes.values()}.values() if b"vector" in parsed.text else ():
        for name, kind in () if cls.templated else cls.fields.items():
            start, end = cls.places.get(name, (0, 0))
            row, written = owners.ROW.fullmatch(kind), _MEMBER.fullmatch(parsed.text, start, end)
            element = found.class_of(row[1].strip(), cls.name) if row is not None else None
            if row is None or written is None or element is None or name in cls.unions:
                continue
            if found.has(element, element.destructor) and _is_private(parsed.tree.root_node, start, end):
                rows.append((cls, name, row[1].strip(), written.span(1)))
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
    return not friends and _access(root, start, end) == b"private"


def _access(root: Node, start: int, end: int) -> bytes:
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


def _let_go(found: Declarations, parsed: Parsed) -> Iterator[Class]:
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


@room()
def lower(parsed: Parsed, found: Declarations | None = None) -> ir.Module:
    """The IR of one file in one configuration of its `#if`s. Never fails: what is not understood is `Unknown`.

    `found` is what it declares.
    """
    root, text = parsed.tree.root_node, parsed.text
    qualifiers = tuple(sorted(parsed.qualifiers))
    found = found if found is not None else declarations(parsed)
    hosts = [one for one in found.functions if one.side in ("host", "both")]
    file = File(
        parsed.path,
        parsed.original,
        found,
        parsed.macros_in(0, len(text)),
        sites.Styles(),
        tuple(parsed.errors),
        tuple(sorted(parsed.between)),
        qualifiers,
        {
            name.rpartition("::")[2]: text[one.body.start_byte : one.body.end_byte]
            for one in hosts
            for name in (one.name, *one.also)
        },
        frozenset(one.name.rpartition("::")[2] for one in found.functions if one.side == "kernel"),
        parsed.macros,
        parsed.macros_in,
        parsed.redefined,
        parsed.filled,
    )
    source = Source(text, 0, parsed.path)
    functions = [lower_function(file, one, source) for one in hosts]
    functions += [lower_defaults(file, one, source) for one in found.evaluating]
    file.begin(root)
    functions += _implicit(file, source, root)
    registered = _registered(file, hosts, parsed)
    arguments = {word.decode().rpartition("::")[2] for word in _TEMPLATE_ARGUMENT.findall(text)} & file.hosts.keys()
    at = found.initializers[0][1].start_byte if found.initializers else 0
    made = _initializers(file, source, at, registered, sorted(arguments), _defining(file, parsed))
    functions += file.functions
    _apply_attributes(functions, parsed)
    functions += made
    functions += _of_smart_pointers(found, functions, parsed.path)
    included = [at for at, directive in parsed.between if directive == "#include"]
    kernels, device, scopes = summarize(root, text, parsed.path, found, parsed.macros_in, included)
    if parsed.too_many_configurations:
        for function in functions:
            _too_many(function, parsed)
    for function in functions:
        cls = found.class_of(function.cls) if function.cls is not None else None
        if cls is not None:
            function.unbound = function.name.rpartition("::")[2] in cls.unbound
            function.dependent = cls.templated and bool(cls.bases)
    for name in found.of_threads:
        file.of_each_thread(found.globals[name].type)
    let_go = {cls.constructor for cls in _let_go(found, parsed)}
    file.deduced |= let_go
    rows = (place for cls in found.classes.values() for place in cls.rows.values())
    owned = file.owned.union(_referred_to(root, found, text), rows) - file.handed_on
    assigned, ended = _given_to_templates(found, parsed, owned)
    unique = {variable.name: variable for variable in (*found.globals.values(), *file.statics)}
    for function in functions:
        kinds = {name: element_type(kind) for name, kind in function.types.items()}
        function.types = {name: found.written_out(kind, function.name) for name, kind in kinds.items()}
    for variable in unique.values():
        kind = element_type(variable.type).rstrip()
        if variable.space == "host" and not (variable.elsewhere or kind.endswith(("*", "&"))):
            unseen = found.unseen(kind, variable.name.removeprefix("::"))
            variable.unseen = unseen.name if unseen is not None else ""
        variable.type = found.written_out(element_type(variable.type), variable.name.removeprefix("::"))
    root = parsed.tree.root_node
    members = {
        cls.name: {
            name: ir.Member(cls.fields[name], ir.Span(parsed.path, *at), _access(root, *at) == b"public")
            for name, at in cls.places.items()
        }
        for cls in found.classes.values()
    }
    defined = _defined(found, text)
    return ir.Module(
        parsed.path,
        tuple(functions),
        kernels,
        tuple(unique.values()),
        tuple(parsed.includes),
        parsed.configuration,
        file.styles.finish(),
        frozenset(file.references),
        {cls.name: (*cls.fields.values(), *cls.statics.values()) for cls in found.classes.values()},
        members,
        frozenset(filterfalse(found.means_itself, found.types | found.brought_classes))
        | {name for name, macro in parsed.macros.items() if macro.params is None},
        frozenset(found.brought),
        assigned | file.deduced,
        found.namespaces,
        {
            name: tuple(
                dict.fromkeys(tuple(param.may_change for param in listed) for listed in found.takes.get(name, ()))
            )
            for name in {name.rpartition("::")[2] for name in found.prototypes}
        },
        ended | file.deduced,
        device,
        scopes,
        parts_of_commands(parsed.original),
        named_in(scan(parsed.original).code if NAMES.search(parsed.original) is not None else b""),
        tuple(_lost(parsed, found, functions)),
        frozenset(file.checks),
        {cls.name: tuple(_base(found, base, cls) for base in cls.bases) for cls in found.classes.values()},
        found.overlays(),
        found.unseen_classes,
        second_names(unique.values(), found.initializers, parsed.path, root, text, parsed.original, parsed.macros)
        | named_by_macros(unique.values(), parsed.path, parsed.macros_in)
        | file.parameters_of_templates,
        of_c_linkage(unique.values(), parsed.path, root) if b'"C"' in parsed.original else frozenset(),
        frozenset(found.friends),
        taken_for_others(parsed, found),
        found.unseen_arguments(_with_macros(parsed)),
        _declared_alone(found, defined),
        defined,
        ended_virtually=frozenset(cls.name for cls in found.classes.values() if cls.virtual),
        owned=(found.owned(text, file.let_go) if found.owners or b"unique_ptr" in text else {})
        | {f"{name}{ir.ENDED}": False for name in let_go | file.rows_let_go},
    )


def _defined(found: Declarations, text: bytes) -> frozenset[Defined]:
    """The functions that a file defines."""
    named = ((one, name) for one in found.functions for name in (one.name, *one.also))
    parts = ((one, *name.rpartition("::")[::2]) for one, name in named)
    return frozenset(Defined(name, found.signature_of(one, text), scope, one.internal) for one, scope, name in parts)


def _declared_alone(found: Declarations, defined: Iterable[Defined]) -> frozenset[Prototype]:
    """The functions that a file declares and does not define."""
    own: dict[str, list[Defined]] = {}
    for one in defined:
        own.setdefault(one.name, []).append(one)
    listed = (one for known in (*found.outside.values(), *found.methods.values()) for one in known)
    return frozenset(one for one in listed if not one.is_defined(own.get(one.name, ())))


def _base(found: Declarations, name: str, derived: Class) -> str:
    """The whole name of a base, where the class is seen."""
    base = found.class_of(name, derived.name)
    return base.name if base is not None else name


def _lost(parsed: Parsed, found: Declarations, functions: Sequence[ir.Function]) -> Iterator[tuple[int, str]]:
    """The allocations in the text that no function has, since it could not be read or lowered."""
    too_large = [one.span for one in functions if any(name == "budget" for name, _ in one.problems)]
    if not too_large and not parsed.errors:
        return
    read = [(one.node.start_byte, one.node.end_byte) for one in found.functions]
    for match in _ALLOCATION.finditer(parsed.text):
        at = match.start()
        if any(span.start <= at < span.end for span in too_large):
            yield at, "budget"
        elif not any(start <= at < end for start, end in read):
            node, broken = parsed.tree.root_node.descendant_for_byte_range(at, match.end()), False
            while node is not None and node.parent is not None and "string" not in node.type:
                broken = broken or node.has_error or node.type == "expression_statement"
                node = node.parent
            if broken and node is not None and node.parent is None:
                yield at, "parse_error"


def _given_to_templates(
    found: Declarations, parsed: Parsed, owned: Iterable[tuple[int, int]]
) -> tuple[frozenset[str], frozenset[str]]:
    """The classes that a file gives templates, in macros and their arguments too (see `template_arguments`), but for
    the types of containers that are `owned`: of these, all that is made and ended is lowered.
    """
    text, *others = _with_macros(parsed)
    called = calls_functions([text, *others], lambda name: found.class_of(name) is not None)
    functions = frozenset((ir.FUNCTIONS,) if called else ())
    if not found.classes and (found.visible is None or not found.visible.classes):
        return functions, frozenset()
    for start, end in owned:
        text = text[:start] + b" " * (end - start) + text[end:]
    made, ended = found.template_arguments([text, *others])
    return made | functions, ended


def _referred_to(root: Node, found: Declarations, text: bytes) -> Iterator[tuple[int, int]]:
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
        row = owners.ROW.fullmatch(text[kind.start_byte : kind.end_byte].decode("utf-8", "replace"))
        if row is not None and inner.type.endswith("reference_declarator") and inner.children[0].type == "&":
            cls = found.class_of(row[1].strip())
            if cls is not None and found.has(cls, cls.destructor):
                yield kind.start_byte, kind.end_byte


def _with_macros(parsed: Parsed) -> list[bytes]:
    """The text of a file, and those of its macros that may name arguments of templates."""
    texts = [parsed.text]
    for macro in parsed.macros.values():
        if b"<" in macro.body:
            used = re.findall(rb"\b%s\s*\(([^()]*)\)" % macro.name.encode(), parsed.text) if macro.params else []
            texts += [macro.body, *(b"<%s>" % given for given in used)]
    return texts


def _apply_attributes(functions: Sequence[ir.Function], parsed: Parsed) -> None:
    """What attributes of functions and variables say about order: another definition may replace a weak function, and
    `cleanup` calls one at the end of a scope.
    """
    if b"weak" in parsed.original:
        weak = {name.decode() for names in _WEAK.findall(parsed.original) for name in names if name}
        mangled = "".join(name for name in weak if name.startswith("_Z"))
        for function in functions:
            name = function.name.rpartition("::")[2]
            if function.cls is None and (name in weak or f"{len(name)}{name}" in mangled):
                replaced = ir.Unknown("a weak function, which another one may replace", function.span, ())
                function.body = (replaced, *function.body)
    for found in _CLEANUP.finditer(parsed.original) if b"cleanup" in parsed.original else ():
        for function in functions:
            if function.span.start <= found.start() < function.span.end:
                function.problems = (*function.problems, ("cleanup", found.start()))


def _too_many(function: ir.Function, parsed: Parsed) -> None:
    for start, end in parsed.too_many_configurations:
        if start < function.span.end and end > function.span.start:
            function.problems = (*function.problems, ("too_many_configurations", start))


def _of_smart_pointers(found: Declarations, callers: Sequence[ir.Function], path: str) -> list[ir.Function]:
    """The functions of smart pointers that a file calls."""
    called = {stmt.callee for function in callers for stmt in ir.walk(function.body) if isinstance(stmt, ir.Call)}
    seen = (one for one in (found, found.visible) if one is not None)
    named = {cls.name: cls for one in seen for cls in one.owners.values()}
    return [f for cls in named.values() for f in owners.functions(cls, path) if f.name in called]


def _implicit(file: File, source: Source, root: Node) -> list[ir.Function]:
    """The constructors, destructors and assignments that the compiler writes: they call those of bases and members."""
    made = []
    for cls, name in file.index.implicit():
        lowering = Statements(file, source, f"{cls.name}::{name}", cls.name, "", source.text)
        file.index.inside = cls.name
        made.append(lowering.implicit_assignment(cls) if name == ASSIGNMENT else lowering.implicit(root, cls.start))
    return made


_ALLOCATION = re.compile(rb"\bcudaMalloc\s*\(")
_QUIET = frozenset(
    "lambda_expression identifier init_declarator array_declarator pointer_declarator function_declarator".split()
)
_CALLS = re.compile(rb"\(|\bnew\b|\w\s*\{")
_DEFINES = re.compile(rb"^(?!\s*(?:extern\s+)?template\b)[^{}]*?(?:=|\b\w+\s+\**\w+(?:\s*##\s*\w+)*\s*[({])")
_WORDS = re.compile(rb"[A-Za-z_]\w*")
# what may make a variable a function, or hold some, and calls none
_GIVES = frozenset(
    "identifier qualified_identifier template_function pointer_expression initializer_list argument_list "
    "function_declarator".split()
)
_TYPE = re.compile(rb"[A-Za-z_][\w:]*(?:(?:\s+[A-Za-z_]\w*)+|\s*<[^;{}()]*>)?")
_TEMPLATE_ARGUMENT = re.compile(rb"[<,]\s*&?\s*((?:\w+::)*[A-Za-z_]\w*)\s*(?=[,>])(?=[^;{}()]*>)")
_WEAK = re.compile(
    rb"\bweak(?:__)?\s*\)\s*\)[^;{}()]*?\b(\w+)\s*\("
    rb"|\b(\w+)\s*\([^;{}()]*\)\s*__attribute__\s*\(\(\s*(?:__)?weak"
    rb"|(?:#\s*pragma\s+|\b_*[Pp]ragma(?:__)?\s*\(\s*\")weak\s+(\w+)"
)
_CLEANUP = re.compile(rb"__attribute__\s*\(\([^;{}]*?\b(?:__)?cleanup(?:__)?\s*\(|\[\[\s*gnu::cleanup\s*\(")
_SCOPES = frozenset(("namespace_definition", "linkage_specification"))
_ATTRIBUTES = (
    rb"__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\)",
    rb"\[\[[^][]*\]\]",
)
_RUNS_BY_ITSELF = re.compile(rb"\b(?:__)?(con|de)structor(?:__)?\b")
_SECTION = re.compile(rb"\bsection(?:__)?\s*\(")
_SECTION_OF_OTHERS = re.compile(
    rb"\bsection(?:__)?\s*\(\s*\"(?!\.(?:pre)?init_array|\.fini_array|\.[cd]tors)[^\"]*\"\s*\)"
)
_SECTION_AT_START = re.compile(rb"\bsection(?:__)?\s*\(\s*\"\.(?:(?:pre)?init_array|ctors)")
_MARK = b"\0"
_MARKED = re.compile(rb"\b(\w+)\s*\([^()\0]*\)\s*\0([AZ])|\0([AZ])[^;{}()]*?\b(\w+)\s*\([^()]*\)\s*[\0\w\s]*[;{]")
_MARKED_VARIABLE = re.compile(rb"\0([az])([^;]*);")


def _at_start(file: File) -> list[tuple[str, bool]]:
    """The functions that run without a call, by an attribute or since a variable in a section of such pointers holds
    them, and whether that is at the end (GCC manual, "Common Function Attributes"; System V gABI, "Initialization and
    Termination Functions").
    """

    def may_run(text: bytes) -> bool:
        return _RUNS_BY_ITSELF.search(text) is not None or _SECTION.search(text) is not None

    def mark(match: re.Match[bytes]) -> bytes:
        text = match.group()
        text = macros[text].body if text in macros else text
        if found := _RUNS_BY_ITSELF.search(text):
            return _MARK + (b"A" if found[1] == b"con" else b"Z")
        if _SECTION.search(text) and not _SECTION_OF_OTHERS.search(text):
            return _MARK + (b"a" if _SECTION_AT_START.search(text) else b"z")
        return b" "

    macros = {
        macro.name.encode(): macro
        for macro in file.every_macro.values()
        if macro.params is None and may_run(macro.body)
    }
    if not macros and not may_run(file.original):
        return []
    names = [rb"\b" + name + rb"\b" for name in macros]
    text = re.sub(b"|".join((*_ATTRIBUTES, *names)), mark, file.original)
    found: list[tuple[str, bool]] = []
    for named, first, second, other in _MARKED.findall(text):
        found.append(((named or other).decode(), (first or second) == b"Z"))
    for kind, variable in _MARKED_VARIABLE.findall(text):
        words = (word.decode() for word in _WORDS.findall(variable))
        found += [(word, kind == b"z") for word in words if word in file.hosts]
    return found


def _registered(file: File, hosts: Sequence[Definition], parsed: Parsed) -> list[str]:
    """The functions that code which is not seen may have got from a macro at namespace scope: `REGISTER("f", f)`,
    `TEST(a, b) { … }`.
    """
    untyped = (
        one
        for one in hosts
        if one.node.child_by_field_name("type") is None and (one.cls is None or ir.begun_by_macro(one.cls))
    )
    found = [one.name for one in untyped if one.name != "main"]
    for start, end in _between_declarations(parsed.tree.root_node):
        defines = DEFAULTED_DESTRUCTOR.fullmatch(parsed.unmasked, start, end) is not None
        for word in _WORDS.findall(parsed.unmasked, start, end):
            macro = file.macros.get(word.decode())
            words = set(_WORDS.findall(macro.body)) if macro is not None else set()
            words |= set() if defines else {word}
            found += sorted(name for one in words if _is_function(file, name := one.decode()))
    return list(dict.fromkeys(found))


def _defining(file: File, parsed: Parsed) -> list[str]:
    """The functions that macros at namespace scope name, or are given, whose text may define a variable or an object:
    what initializes that may call them (`#define REGISTER(f) static int r_##f = add(f)`). A declaration of a function,
    and an instantiation of a template, run nothing (C++17, 17.7.2 [temp.explicit]).
    """
    found: list[str] = []
    for start, end in (*_between_declarations(parsed.tree.root_node), *_macros_of_members(file, parsed)):
        words = _WORDS.findall(parsed.unmasked, start, end)
        macros = [macro for word in words if (macro := file.macros.get(word.decode())) is not None]
        bodies = [macro.body for macro in macros if _DEFINES.search(macro.body) is not None]
        named = [name.decode() for text in bodies for name in _WORDS.findall(text)]
        found += filter(partial(_is_function, file), (*named, *(map(bytes.decode, words) if bodies else ())))
    return list(dict.fromkeys(found))


def _macros_of_members(file: File, parsed: Parsed) -> Iterator[tuple[int, int]]:
    """The uses of macros among the members of classes that may define one: it is made with each object."""
    defining = [name.encode() for name, macro in file.macros.items() if _DEFINES.search(macro.body) is not None]
    uses = re.finditer(rb"\b(?:%b)\b[^;{}]*" % b"|".join(map(re.escape, defining)), parsed.unmasked)
    for use in uses if defining else ():
        node = parsed.tree.root_node.descendant_for_byte_range(use.start(), use.start() + 1)
        while node is not None and node.type not in ("field_declaration_list", "compound_statement"):
            node = node.parent
        if node is not None and node.type == "field_declaration_list":
            yield use.span()


def _is_function(file: File, name: str) -> bool:
    """Whether a function has that name, of another file too."""
    return name in file.hosts or file.index.is_declared_function(name)


def _of_macros(file: File, functions: Sequence[str], at: int) -> ir.Unknown:
    """What macros define at namespace scope is initialized before `main`, by functions of which it is not known how."""
    given = tuple(map(ir.FuncRef, functions))
    why = "what a macro at namespace scope defines"
    return ir.Unknown(why, ir.Span(file.path, at, at), (), tuple(functions), tuple(functions), given)


def _between_declarations(node: Node) -> Iterator[tuple[int, int]]:
    """The ranges of what stands at namespace scope and does not read as a declaration."""
    at = node.start_byte if node.parent is not None else 0
    for child in node.children:
        yield at, child.start_byte
        at = child.end_byte
        if child.type in ("expression_statement", "ERROR"):
            yield child.start_byte, child.end_byte
        inner = child.child_by_field_name("body") if child.type in _SCOPES else None
        if inner is not None:
            yield from _between_declarations(inner)
    yield at, node.end_byte


def _initializers(
    file: File,
    source: Source,
    at: int,
    registered: Sequence[str],
    arguments: Sequence[str],
    defining: Sequence[str],
) -> list[ir.Function]:
    """What runs before `main`: the initializers of globals that call something, and the constructors of objects (C++17,
    6.6.2 [basic.start.static]); and the functions that the compiler is told to run then, or at the end. What makes
    `thread_local` variables may run as late as they are used (6.6.3 [basic.start.dynamic] 5).
    """
    own = [one for one in file.index.initializers if one[0].name in file.index.of_threads]
    others = [one for one in file.index.initializers if one not in own]
    made = (
        _initializing(file, source, ir.INITIALIZERS, at, others, registered, arguments, defining),
        _initializing(file, source, ir.OF_THREADS, at, own, (), (), ()) if own else None,
    )
    return [function for function in made if function is not None]


def _initializing(
    file: File,
    source: Source,
    name: str,
    at: int,
    variables: Sequence[tuple[ir.GlobalVar, Node]],
    registered: Sequence[str],
    arguments: Sequence[str],
    defining: Sequence[str],
) -> ir.Function | None:
    """A function that initializes variables; None if it would do nothing."""
    lowering = Statements(file, source, name, None, "", source.text)
    lowering.end = len(source.text)

    def holds_function(value: Node) -> bool:
        if value.type == "lambda_expression":
            return True
        words = _WORDS.findall(source.text, value.start_byte, value.end_byte) if value.type in _GIVES else ()
        return any(_is_function(file, word.decode()) for word in words)

    def holds_address(value: Node) -> bool:
        """Whether a constant initializer may have the address of another variable in it."""
        text = source.text[value.start_byte : value.end_byte]
        found = (one for word in _WORDS.findall(text) for one in file.index.lookup.alike(word.decode()))
        return b"&" in text or any(one.array or is_pointer(one.type) for one in found)

    def keeps_references(variable: ir.GlobalVar, value: Node) -> bool:
        name = source.text[value.start_byte : value.end_byte].decode("utf-8", "replace")
        given = value.type not in ("init_declarator", "array_declarator") and name != variable.name.rpartition("::")[2]
        return given and KEEPS_REFERENCES.search(variable.type) is not None

    def acts(value: Node) -> bool:
        """Whether an initializer may call something: as it says, by a macro, or by an operator or a conversion of an
        object that it names (C++17, 16.5 [over.oper], 15.3.2 [class.conv.fct]).
        """
        if _CALLS.search(source.text, value.start_byte, value.end_byte) is not None:
            return True
        words = {word.decode() for word in _WORDS.findall(source.text, value.start_byte, value.end_byte)}
        if any(_CALLS.search(file.macros[word].body) is not None for word in words & file.macros.keys()):
            return True
        named = (one for word in words for one in file.index.lookup.alike(word))
        return any(file.index.class_of(element_type(one.type).rstrip(" &*")) is not None for one in named)

    def run() -> None:
        if registered:
            lowering.hand_out(tuple(map(ir.FuncRef, registered)), ir.Span(file.path, at, at))
        if defining:
            lowering.emit(_of_macros(file, defining, at))
        if arguments:  # a call of a parameter of the template means one of them
            able = ir.Choice(tuple(map(ir.FuncRef, arguments)))
            lowering.emit(ir.Assign(ir.Var("::<arguments of templates>"), able, ir.Span(file.path, at, at)))
        for variable, value in variables:
            file.begin(value)
            lowering.namespace = variable.name.removeprefix("::").rpartition("::")[0]
            lowering.begins = value.start_byte
            ending = len(lowering.ending)
            element = element_type(variable.type).rstrip()
            cls = file.index.class_of(element) if not is_pointer(element) else None
            text = source.text[value.start_byte : value.end_byte].decode("utf-8", "replace")
            written = is_written(variable, value, text) or value.type == "function_declarator"
            reads_as_function = value.type == "function_declarator"  # `std::span<T> x(a, n);`
            unseen = cls is None and lowering.unseen(element) is not None and not _is_misread(value)
            unseen = unseen and not holds_function(value)  # it is handed out, from the start
            made = unseen if cls is None else file.index.has(cls, cls.constructor)
            made = made or (written and bool(lowering.active(element)))
            if made or (reads_as_function and holds_address(value)):
                lowering.make_global(variable, value)
            elif variable.type.endswith(" &"):
                if not _is_misread(value):
                    lowering.bind_global(variable, value)
            elif (
                holds_function(value)
                or (value.type == "initializer_list" and acts(value))
                or keeps_references(variable, value)
            ):
                lowering.start_global(variable, value)
            elif value.type == "argument_list" and not holds_address(value):
                lowering.arguments(value)
            elif (value.type not in _QUIET or (value.type == "identifier" and written)) and acts(value):
                lowering.types[variable.name] = variable.type
                lowering.assign(ir.Var(variable.name), value, value)
            elif not (value.type.endswith("declarator") or _is_misread(value)) and holds_address(value):
                lowering.start_global(variable, value)
            lowering.end_temporaries(ending)
        if defining:  # behind and in front of others: which comes first is not known
            lowering.emit(_of_macros(file, defining, at))
        for called, at_end in _at_start(file) if name == ir.INITIALIZERS else ():
            span = ir.Span(file.path, at, at)
            callee, given = ("atexit", (ir.FuncRef(called),)) if at_end else (called, ())
            site = ir.Site(span, "", "", ";", blocked="outside of a function body")
            lowering.emit(ir.Call(callee, given, span, span, at, site))

    block = lowering.collect(run)
    if not any(map(_runs, block)):
        return None
    span = ir.Span(file.path, at, at)
    return ir.Function(name, (), block, span, True, None, lowering.types)


def _is_misread(value: Node) -> bool:
    """Whether the declaration around an initializer is none that the grammar could read."""
    node = value
    while node.parent is not None and node.type not in ("declaration", "field_declaration", "ERROR"):
        node = node.parent
    return node.has_error or not node.type.endswith("declaration")


def _runs(statement: ir.Stmt) -> bool:
    """Whether a statement of an initializer does more than give a variable a number."""
    if isinstance(statement, ir.Assign):
        return any(isinstance(expr, ir.FuncRef | ir.Addr | ir.Var) for expr in ir.variables(statement.value))
    return not isinstance(statement, ir.HostAccess)
