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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.attributes import apply_attributes
from cudafix.frontends.cuda.lower.before_main import initializers
from cudafix.frontends.cuda.lower.context import File, Source
from cudafix.frontends.cuda.lower.macro_uses import given_by_macros
from cudafix.frontends.cuda.lower.rows import access, find_rows, referred_to, rows_let_go
from cudafix.frontends.cuda.lower.statements import Statements, lower_defaults, lower_function
from cudafix.frontends.cuda.parse.source import Parsed
from cudafix.frontends.cuda.preprocess.directives import scan
from cudafix.frontends.cuda.preprocess.macros import Macro
from cudafix.frontends.cuda.sema import owners, sites
from cudafix.frontends.cuda.sema.comparisons import calls_functions
from cudafix.frontends.cuda.sema.declarations import Class, Declarations, Definition
from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT
from cudafix.frontends.cuda.sema.indexing import index
from cudafix.frontends.cuda.sema.kernels import summarize
from cudafix.frontends.cuda.sema.retyping import taken_for_others
from cudafix.frontends.cuda.sema.second_names import named_by_macros, of_c_linkage, second_names
from cudafix.frontends.cuda.sema.type_texts import element_type
from cudafix.frontends.cuda.sema.written_types import names_of_either, names_of_numbers
from cudafix.ir.names import WORD_IN_BYTES
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
    numbers = {name: kind for name, kind in numbers.items() if name not in parsed.macros or name in named}
    qualifiers = tuple(sorted(parsed.qualifiers))
    spelled = {name: body.decode("utf-8", "replace") for name, body in named.items()}  # `#define BUFFER Buffer<float>`
    types = dict(spelled)
    types |= {n: m.body.decode("utf-8", "replace") for n, m in parsed.macros.items() if m.body.rstrip().endswith(b"&")}
    changes = {name: [(0, macro)] for name, macro in parsed.macros.items()} | parsed.redefined
    renaming = {
        name: listed
        for name, listed in changes.items()
        if any(macro is not None and macro.names_instead != ("",) for _, macro in listed)
    }
    names = {name: list(_names_instead(name, renaming)) for name in renaming}
    acting = _acting(parsed)
    either = names_of_either(parsed.original, numbers)
    found = index(
        parsed.tree.root_node, parsed.text, parsed.path, qualifiers, visible, numbers, types, names, acting, either
    )
    found.spelled.update(spelled)
    for name, body in named.items():
        if found.class_of(body.decode()) is not None:
            found.aliases.setdefault(name, (body.decode(),))
    found.macros = frozenset(name for name, macro in parsed.macros.items() if macro.params is None) - named.keys()
    find_rows(found, parsed)
    return found


def _acting(parsed: Parsed) -> frozenset[str]:
    """The macros without parameters that stand for more than numbers and names of constants, or for such a macro."""
    bodies = {
        name: {word.decode("utf-8", "replace") for word in WORD_IN_BYTES.findall(macro.body)}
        for name, macro in parsed.macros.items()
        if macro.params is None
    }
    acting = {name for name, words in bodies.items() if any(w[:1].isalpha() and not w.isupper() for w in words)}
    while more := {name for name, words in bodies.items() if name not in acting and not words.isdisjoint(acting)}:
        acting |= more
    return frozenset(acting)


def _names_instead(
    name: str, renaming: Mapping[str, Sequence[tuple[int, Macro | None]]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The names that macros put in the place of one, from which place on: the last ones, where macros have these names
    too (C++17, 19.3.4 [cpp.rescan]).
    """

    def of(one: str, at: int) -> tuple[str, ...]:
        before = [macro for place, macro in renaming.get(one, ()) if place <= at]
        return before[-1].names_instead if before and before[-1] is not None else ("",)

    chain, queue = {name}, [name]
    while queue:
        meant = {one for _, macro in renaming.get(queue.pop(), ()) if macro is not None for one in macro.names_instead}
        queue += meant & renaming.keys() - chain
        chain |= meant
    for at in sorted({at for one in chain for at, _ in renaming.get(one, ())}):
        listed = of(name, at)
        seen = {name}
        while len(listed) == 1 and listed[0] not in seen and (further := of(listed[0], at)) != ("",):
            seen.add(listed[0])
            listed = further
        yield at, listed


@room()
def lower(parsed: Parsed, found: Declarations | None = None) -> ir.Module:
    """The IR of one file in one configuration of its `#if`s. Never fails: what is not understood is `Unknown`.

    `found` is what it declares.
    """
    root, text = parsed.tree.root_node, parsed.text
    found = found if found is not None else declarations(parsed)
    hosts = [one for one in found.functions if one.side in ("host", "both")]
    file = _begin(parsed, found, hosts)
    functions = _functions(parsed, found, file, hosts)
    included = [at for at, directive in parsed.between if directive == "#include"]
    kernels, device, scopes = summarize(root, text, parsed.path, found, parsed.macros_in, included)
    for name in found.of_threads:
        file.of_each_thread(found.globals[name].type)
    let_go = {cls.constructor for cls in rows_let_go(found, parsed)}
    file.deduced |= let_go
    rows = (place for cls in found.classes.values() for place in cls.rows.values())
    owned = file.owned.union(referred_to(root, found, text), rows) - file.handed_on
    assigned, ended = _given_to_templates(found, parsed, owned)
    variables = tuple({variable.name: variable for variable in (*found.globals.values(), *file.statics)}.values())
    _write_out(found, functions, variables)
    classes = {cls.name: cls for cls in found.classes.values()}
    defined = _defined(found, text)
    return ir.Module(
        parsed.path,
        tuple(functions),
        kernels,
        variables,
        tuple(parsed.includes),
        parsed.configuration,
        check_style=file.styles.finish(),
        references=frozenset(file.references),
        members={name: (*cls.fields.values(), *cls.statics.values()) for name, cls in classes.items()},
        fields={name: _members(cls, parsed) for name, cls in classes.items()},
        types=frozenset(filterfalse(found.means_itself, found.types | found.brought_classes))
        | {name for name, macro in parsed.macros.items() if macro.params is None},
        brought=frozenset(found.brought),
        template_arguments=assigned | file.deduced,
        namespaces=found.namespaces,
        prototypes=_prototypes(found),
        ended=ended | file.deduced,
        device=device,
        scopes=scopes,
        commands=parts_of_commands(parsed.original),
        measures=named_in(scan(parsed.original).code if NAMES.search(parsed.original) is not None else b""),
        lost=tuple(_lost(parsed, found, functions)),
        checks=frozenset(file.checks),
        bases={name: tuple(_base(found, base, cls) for base in cls.bases) for name, cls in classes.items()},
        overlaid=found.overlays(),
        unseen=found.unseen_classes,
        second_names=second_names(
            variables, found.initializers, parsed.path, root, text, parsed.original, parsed.macros
        )
        | named_by_macros(variables, parsed.path, parsed.macros_in)
        | file.parameters_of_templates,
        members_by_name=file.members_by_name,
        of_c=_of_c(found, (*variables, *functions), parsed),
        friends=frozenset(found.friends),
        retyped=taken_for_others(parsed, found),
        unseen_arguments=found.unseen_arguments(_with_macros(parsed)),
        declares=_declared_alone(found, defined),
        defines=defined,
        ended_virtually=frozenset(name for name, cls in classes.items() if cls.virtual),
        owned=(found.owned(text, file.let_go) if found.owners or b"unique_ptr" in text else {})
        | {f"{name}{ir.ENDED}": False for name in let_go | file.rows_let_go},
    )


def _of_c(found: Declarations, declared: Iterable[ir.GlobalVar | ir.Function], parsed: Parsed) -> frozenset[str]:
    """The last name components of what has C linkage, functions by their first declaration ([dcl.link] 5)."""
    outside = (found.outside, found.visible.outside if found.visible is not None else {})
    before = {name for listed in outside for name, ones in listed.items() if any(one.of_c for one in ones)}
    is_c = b'"C"' in parsed.original or parsed.path.endswith(".c")
    own = of_c_linkage(declared, parsed.path, parsed.tree.root_node) if is_c else frozenset()
    return own | before


def _begin(parsed: Parsed, found: Declarations, hosts: Sequence[Definition]) -> File:
    """What the functions of a file share while they are lowered."""
    text = parsed.text
    return File(
        parsed.path,
        parsed.original,
        found,
        parsed.macros_in(0, len(text)),
        sites.Styles(),
        tuple(parsed.errors),
        tuple(sorted(parsed.between)),
        tuple(sorted(parsed.qualifiers)),
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


def _functions(parsed: Parsed, found: Declarations, file: File, hosts: Sequence[Definition]) -> list[ir.Function]:
    """The host functions of a file, with those that the compiler and the library write, and what runs before `main`."""
    root, text = parsed.tree.root_node, parsed.text
    source = Source(text, 0, parsed.path)
    functions = [lower_function(file, one, source) for one in hosts]
    functions += [lower_defaults(file, one, source) for one in found.evaluating]
    file.begin(root)
    functions += _implicit(file, source, root)
    given = given_by_macros(file, hosts, parsed)
    arguments = {word.decode().rpartition("::")[2] for word in _TEMPLATE_ARGUMENT.findall(text)} & file.hosts.keys()
    at = found.initializers[0][1].start_byte if found.initializers else 0
    made = initializers(file, source, at, given.registered, sorted(arguments), given.defining)
    functions += file.functions
    apply_attributes(functions, parsed)
    functions += made
    functions += _of_smart_pointers(found, functions, parsed.path)
    functions += _of_several_classes(found, functions, parsed.path)
    for function in functions:
        _too_many(function, parsed)
        cls = found.class_of(function.cls) if function.cls is not None else None
        if cls is not None:
            function.unbound = function.name.rpartition("::")[2] in cls.unbound
            function.dependent = cls.templated and bool(cls.bases)
    return functions


def _write_out(found: Declarations, functions: Iterable[ir.Function], variables: Iterable[ir.GlobalVar]) -> None:
    """The types of variables as they are, without aliases; and the destructors that are not seen, of those that live
    until the end of the program.
    """
    for function in functions:
        kinds = {name: element_type(kind) for name, kind in function.types.items()}
        function.types = {name: found.written_out(kind, function.name) for name, kind in kinds.items()}
    for variable in variables:
        kind = element_type(variable.type).rstrip()
        if variable.space == "host" and not (variable.elsewhere or kind.endswith(("*", "&"))):
            unseen = found.unseen(kind, variable.name.removeprefix("::"))
            variable.unseen = unseen.name if unseen is not None else ""
        variable.type = found.written_out(element_type(variable.type), variable.name.removeprefix("::"))


def _members(cls: Class, parsed: Parsed) -> dict[str, ir.Member]:
    """The data members of a class."""
    root = parsed.tree.root_node
    return {
        name: ir.Member(cls.fields[name], ir.Span(parsed.path, *at), access(root, *at) == b"public")
        for name, at in cls.places.items()
    }


def _prototypes(found: Declarations) -> dict[str, tuple[tuple[bool, ...], ...]]:
    """The functions that are declared, by last name component: of each its parameters that it may store in."""
    listed = {name: found.takes.get(name, ()) for name in {name.rpartition("::")[2] for name in found.prototypes}}
    return {
        name: tuple(dict.fromkeys(tuple(param.may_change for param in one) for one in forms))
        for name, forms in listed.items()
    }


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


def _with_macros(parsed: Parsed) -> list[bytes]:
    """The text of a file, and those of its macros that may name arguments of templates."""
    texts = [parsed.text]
    for macro in parsed.macros.values():
        if b"<" in macro.body:
            used = re.findall(rb"\b%s\s*\(([^()]*)\)" % macro.name.encode(), parsed.text) if macro.params else []
            texts += [macro.body, *(b"<%s>" % given for given in used)]
    return texts


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


def _of_several_classes(found: Declarations, callers: Sequence[ir.Function], path: str) -> Iterator[ir.Function]:
    """The constructors and destructors that a file calls for objects of which it is not known which of several classes
    they are: they do what those of any of them do, or something else.
    """
    called = {stmt.callee for function in callers for stmt in ir.walk(function.body) if isinstance(stmt, ir.Call)}
    span, why = ir.Span(path, 0, 0), "an object of one class or another"
    site, of_object = ir.Site(span, "", "", ";", blocked=why), ir.Deref(ir.Var("this"))
    for cls in found.several.values():
        for tilde in ("", "~"):
            name = f"{cls.name}::{tilde}{cls.constructor}"
            kinds = [(one, tilde + one.constructor) for one in cls.alternatives]
            meant = tuple(f"{one.name}::{special}" for one, special in kinds if found.has(one, special))
            calls = (ir.Call(one, (), span, span, 0, site, (), of_object) for one in meant)
            perhaps = (ir.If(ir.Test("other", None, why), (call,), (), span) for call in calls)
            body: ir.Block = (ir.Unknown(why, span, (), meant, meant), *perhaps)
            if name in called:
                yield ir.Function(name, (), body, span, True, cls.name)


def _implicit(file: File, source: Source, root: Node) -> list[ir.Function]:
    """The constructors, destructors and assignments that the compiler writes: they call those of bases and members."""
    made = []
    for cls, name in file.index.implicit():
        lowering = Statements(file, source, f"{cls.name}::{name}", cls.name, "", source.text)
        file.index.inside = cls.name
        made.append(lowering.implicit_assignment(cls) if name == ASSIGNMENT else lowering.implicit(root, cls.start))
    return made


_ALLOCATION = re.compile(rb"\bcudaMalloc\s*\(")
_TYPE = re.compile(rb"[A-Za-z_][\w:]*(?:(?:\s+[A-Za-z_]\w*)+|\s*<[^;{}()]*>)?")
_TEMPLATE_ARGUMENT = re.compile(rb"[<,]\s*&?\s*((?:\w+::)*[A-Za-z_]\w*)\s*(?=[,>])(?=[^;{}()]*>)")
