"""What a file declares: classes, globals, functions, kernels, enumerators; and how a declarator reads.

A file sees what the headers declare that it includes (`visible`). A class that is not seen has no entry, and its
members are then unknown names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tree_sitter import Node

from cudafix.frontends.cuda.sema.declarators import ASSIGNMENT, Declared
from cudafix.frontends.cuda.sema.lookup import Lookup, Names, Use
from cudafix.frontends.cuda.sema.other_names import other_names
from cudafix.frontends.cuda.sema.references import References
from cudafix.frontends.cuda.sema.signatures import PARAMETER, qualifiers, signature
from cudafix.frontends.cuda.sema.type_texts import (
    IN_A_ROW,
    WORDS,
    elements,
    is_pointer,
    plain_name,
    text_of,
)
from cudafix.ir import DELETER, GlobalVar, Opaque, Param, Span, found_as, template_arguments
from cudafix.ir.names import WORD, scopes_around
from cudafix.ir.types import Type
from cudafix.models.api import EITHER, Prototype
from cudafix.models.number_types import is_floating, is_number
from cudafix.models.types import is_plain, is_standard

# its cv-qualifiers, the key of a class, the name, and what is behind it
_TYPE = re.compile(
    r"((?:(?:const|volatile|typename)\s+)*)((?:(?:struct|class)\s+)?)((?:::)?[A-Za-z_]\w*(?:::\w+)*)(.*)", re.DOTALL
)
CALLED = re.compile(r"(operator\s*(?:\(\s*\)|[^\w\s(]+)|\w+)\s*\(")
_LIBRARIES = frozenset(("std", "thrust", "cub", "cuda"))
# a type that stands among the arguments of a template, but in those of which the template makes and destroys objects
# without assigning any, and of casts
_ARGUMENT = re.compile(
    rb"(?<=[<,=])\s*(?:const\s+|struct\s+|class\s+|typename\s+)*(?:::)?([A-Za-z_][\w:]*)\s*(?:const\b|&|\[\w*\]|\.\.\.|\s)*(?=[<>,])"
)
# a name, and arguments of a template; not of a kernel that is launched
_GIVEN = re.compile(rb"(?<![\w:])([A-Za-z_][\w:]*)\s*<([^<>;{}()]*)>(?!\s*<<<)")
_MEASURED_ARGUMENT = re.compile(rb"[<,]\s*(?:const\s+)?(?:decltype|(?:__)?typeof(?:__)?)\s*\(")
_KEEPS = re.compile(
    rb"\b(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|default_delete|forward|move|\w+_cast)\s*<"
)
_ANGLES = re.compile(rb"[<>;{]")
_NAMED = re.compile(rb"[\s&*]*[A-Za-z_]")
_ARRAY_MADE = re.compile(rb"\bmake_(?:unique|shared)\w*\s*<\s*([\w:]+)\s*\[")
_CALLS = re.compile(r"[\w>\])}]\s*\(")  # not the parenthesis of `n - (k - 1)`
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_CONSTANTS = frozenset(("nullptr", "true", "false", "sizeof", "std", "numeric_limits", "max", "min"))
_OWNS = re.compile(rb"\bunique_ptr\s*<\s*([\w:]+)\s*>")
_FUNCTION_POINTER = re.compile(
    r"decltype\s*\(\s*&\s*[\w:]+\s*\)|decltype\s*\(\s*[\w:]+\s*\)\s*\*"
    r"|[\w:*\s]+\(\s*\*\s*\)\s*\([\w:*\s]*\)"
)
_ENUMERATION = re.compile(  # of CUDA's libraries: what is only named there leads nowhere
    r"cudaDataType(?:_t)?|cudaMemcpyKind|cufftType(?:_t)?|curandRngType(?:_t)?"
    r"|cu(?:blas(?:Lt)?|dnn|sparse|solver)\w*(?:ComputeType|DataType|Operation|Algo|Mode|Type|Format|Order|Math)_t"
)
# what may be a class: no type of the standard library, of CUDA and its libraries, and no handle
_CLASS = re.compile(
    r"(?!std::(?!experimental\b)|thrust::|cub::|cuda|cu[A-Z]|CU[a-z]|CUDA_|CUTE?_|nccl|nv|Npp|NPP|MPI_|auto\b|void\b|decltype\b"
    r"|\w+_t\b|pthread_|FILE\b|dim3\b|chrono::|(?:duration|time_point)\s*<)[A-Za-z_]"
)
# integers in each class of the standard library, and its types of elements (C++17, [container.requirements.general])
_OF_CLOCKS = frozenset(("time_point", "duration", "rep", "period"))  # C++17, 23.17.3 [time.clock.req]
_SIZES = frozenset(("size_type", "difference_type"))
_OF_ELEMENTS = frozenset("value_type element_type mapped_type key_type first_type second_type".split())
# C++17, 23.15.7 [meta.trans]: those that are one of the types that they are given, without references
_TRAIT = re.compile(
    r"(?:std::)?(?:remove_(?:(?:all_)?(p)ointer|c?v?ref|reference|cv|const|volatile|extent)|decay|common_type"
    r"|type_identity|(conditional|enable_if))(?:_t\s*<.*>|\s*<.*>::type)",
    re.DOTALL,
)
_NAME_OF_TYPE = re.compile(r"[\w:]+(?:\s*<.*>(?:::\w+)*)?", re.DOTALL)
# Objects of the standard library whose call makes a number and touches no memory but their own.
NUMBER_OBJECT = re.compile(
    r"(?:std::|thrust::)?(?:random::)?(?:\w+_distribution|(?:random|default_random)\w*|mt19937\w*|minstd_\w*|\w*rand\w*_engine"
    r"|\w+_engine|ranlux\w*|knuth_b|hash|less|greater|plus|minus|multiplies|minimum|maximum)\b"
)
_QUALIFIERS = re.compile(r"\w+::|\s+")


def _same_types(one: Sequence[Param], other: Sequence[Param]) -> bool:
    """Whether two lists of parameters are those of one function, however their types are qualified."""
    kinds = [[(_QUALIFIERS.sub("", param.type), param.by_reference) for param in listed] for listed in (one, other)]
    return kinds[0] == kinds[1]


@dataclass(slots=True)
class Class:
    """A class that this file defines: its data members with their types (with `&` of those that are references, and of
    the `open` ones, which may be), and the names of its methods.
    """

    name: str
    fields: dict[str, str] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)  # those that are static: they have no object
    open: set[str] = field(default_factory=set)
    bases: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()  # the bases of which it has the constructors, too: `using Base::Base;`
    start: int = 0
    initialized: set[str] = field(
        default_factory=set
    )  # the data members that a constructor sets to more than a constant
    null: list[str] = field(default_factory=list)  # those that are null unless a constructor says otherwise
    extents: dict[str, str] = field(default_factory=dict)  # of the data members that are arrays, where it is written
    places: dict[str, tuple[int, int]] = field(default_factory=dict)  # where the data members are declared
    # where the types of those are written that are vectors whose elements end where that is lowered
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)
    # of the data members that are in unions, through anonymous ones too: where each starts, and the member of it
    unions: dict[str, dict[int, int]] = field(default_factory=dict)
    defaulted: bool = False  # the compiler writes the constructor without parameters, beside others
    copied: bool = False  # it writes the constructor that copies or moves an object, beside others
    assigned: bool = False  # it writes an assignment, beside others
    ended: bool = False  # it writes the destructor that the class declares, or that of a specialization
    compared: set[str] = field(default_factory=set)  # the comparisons that the compiler writes, `= default`
    uncopied: bool = False  # its constructor that copies an object is deleted
    virtual: bool = False  # it declares its destructor as virtual
    idle: bool = False  # its destructor is written, and empty
    templated: bool = False  # it is a template, or a member of one
    parameters: int = 0  # of how many, if it is no member of one, no specialization, and has no pack of them
    fixed: set[str] = field(default_factory=set)  # the static members that a literal makes: the same in each of them
    unseen: bool = False  # nothing is known of it but its name
    alternatives: tuple[Class, ...] = ()  # those that are seen of which it is one or another, or none of them
    deleter: str = ""  # of a smart pointer: the function that is called with what it holds
    shared: bool = False  # of a smart pointer: other ones may own that too
    given: bool = False  # of a smart pointer: the deleter is a pointer to a function, which each one has for itself

    def overlaid(self, name: str) -> list[str]:
        """The data members that share their memory with one."""
        own = self.unions.get(name, {})
        return [other for other, at in self.unions.items() if any(own.get(n, m) != m for n, m in at.items())]

    def compares_by_parts(self, operator: str) -> bool:
        """Whether the compiler writes this comparison: `==` also beside a `<=>` that it writes (C++20, 11.10.1
        [class.compare.default] 4).
        """
        beside = operator == "operator==" and operator not in self.methods and "operator<=>" in self.compared
        return beside or operator in self.compared

    @property
    def constructor(self) -> str:
        return self.name.rpartition("::")[2]

    @property
    def destructor(self) -> str:
        return "~" + self.constructor

    @property
    def type(self) -> str:
        """How an object of it is declared."""
        deleted, ends, _ = self.deleter.partition("::~")
        return f"std::unique_ptr<{deleted}>" if ends else self.name


@dataclass(slots=True)
class Definition:
    """A function definition: where, of which class and namespace, and on which side it runs."""

    name: str
    node: Node
    body: Node
    params: tuple[tuple[Param, Node], ...]
    namespace: str
    cls: str | None
    internal: bool
    side: str  # "host" | "device" | "both" | "kernel"
    returns: str
    by_reference: bool = False  # it returns a reference
    also: tuple[str, ...] = ()  # its other names, as a macro gives it one or another


# `S::~S() = default;` at namespace scope (C++17, 11.4.2 [dcl.fct.def.default])
DEFAULTED_DESTRUCTOR = re.compile(rb"((?:::\s*)?(?:\w+\s*::\s*)+~\s*\w+)\s*\(\s*(?:void)?\s*\)\s*=\s*default\s*;")


@cache
def _class_named(kind: str) -> str:
    """The name in a type as written that may be that of a class; empty where it is a number, one of the types that the
    tables know, or no plain name.
    """
    of = Type.of(kind)
    plain = of.core.removeprefix("::")
    known = is_number(plain) or NUMBER_OBJECT.match(plain) or is_plain(of.name)
    known = known or ("::" not in of.name and is_standard(of.name))
    return "" if known or of.marks or _NAME_OF_TYPE.fullmatch(plain) is None else plain


def _each(classes: Iterable[Class | None]) -> tuple[Class | None, ...]:
    """Each of these once."""
    return tuple({id(one): one for one in classes}.values())


def _takes_pack(params: tuple[Param, ...]) -> bool:
    """Whether the last of these parameters stands for any number of them."""
    return bool(params) and params[-1].type.rstrip(" &").endswith("...")


@dataclass(slots=True)
class Declarations:
    """Everything that one file declares. Classes and globals are found by their last name component too.

    `visible` is what the headers declare that it includes.
    """

    classes: dict[str, Class] = field(default_factory=dict)
    functions: list[Definition] = field(default_factory=list)
    globals: dict[str, GlobalVar] = field(default_factory=dict)
    initializers: list[tuple[GlobalVar, Node]] = field(default_factory=list)  # or their declarators
    of_threads: set[str] = field(default_factory=set)  # the variables that each thread has for itself
    enumerators: dict[str, set[Span]] = field(default_factory=dict)  # where each is declared
    enumerations: set[str] = field(default_factory=set)  # the types of these, by their last name components
    friends: set[str] = field(default_factory=set)  # functions that classes declare as theirs, by last name component
    prototypes: set[str] = field(default_factory=set)
    # functions outside of classes that are declared, by last name component
    outside: dict[str, set[Prototype]] = field(default_factory=dict)
    methods: dict[str, set[Prototype]] = field(default_factory=dict)  # those of classes, by name
    types: frozenset[str] = frozenset()  # names of types that are no classes: aliases and template parameters
    parameters: dict[str, frozenset[str]] = field(default_factory=dict)  # of templates, by what they declare
    parameters_elsewhere: frozenset[str] = frozenset()  # of templates of which it is not seen what they declare
    brought: set[str] = field(default_factory=set)  # the last name components of using-declarations
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the types that a name stands for, as written
    # of these the ones whose scope is known, by that; and the namespaces that using-directives open anywhere
    aliases_in: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    aliased: dict[tuple[str, str], int] = field(default_factory=dict)  # where this file has the first in each scope
    opened: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()  # names of enumerations, of arrays, and of pointers to classes
    macros: frozenset[str] = frozenset()  # the other macros without parameters
    acting: frozenset[str] = frozenset()  # those of them that stand for more than numbers and names of constants
    spelled: dict[str, str] = field(default_factory=dict)  # the macros without parameters that may name a type
    renames: Mapping[str, Sequence[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)  # see `index`
    numbers: dict[str, str] = field(default_factory=dict)  # other names of plain numbers, which mean nothing else
    either: frozenset[str] = frozenset()  # those of them that are several floating types, by the configuration
    by_reference: dict[str, tuple[bool, ...]] = field(default_factory=dict)
    takes: dict[str, list[tuple[Param, ...]]] = field(default_factory=dict)  # parameters, by last name component
    # the parameters of functions with default arguments, by qualified name; and declarations of this file that evaluate
    # any
    offers: dict[str, list[tuple[Param, ...]]] = field(default_factory=dict)
    evaluating: list[Definition] = field(default_factory=list)
    evaluated: set[str] = field(default_factory=set)  # their names
    gives: dict[str, set[str]] = field(default_factory=dict)  # what functions return by value, as `takes`
    refers: dict[str, set[str]] = field(default_factory=dict)  # to what they return references ("": to nothing)
    stand_for: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what all other names of types stand for
    gives_references: bool = False  # parameters of templates may be references
    # of the build and of including files: no macros of headers that are not here
    constants: frozenset[str] = frozenset()
    unseen_macros: bool = False  # there may be macros of such headers
    perhaps: frozenset[str] = frozenset()  # those that are defined here only where none of these has
    visible: Declarations | None = None
    local: dict[str, dict[str, Class]] = field(default_factory=dict)  # the classes in function bodies, by function
    inside: str = ""  # the function that is lowered
    reading: int | None = None  # where a function is declared that is being noted
    members: dict[tuple[str, str], Node] = field(default_factory=dict)  # the initializers of `initialized` members
    given: frozenset[str] = frozenset()  # the parameters of templates that may be functions
    # namespaces in which names of a namespace are found too
    namespaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    owners: dict[str, Class] = field(default_factory=dict)  # smart pointers that are named
    several: dict[str, Class] = field(default_factory=dict)  # classes that stand for others: see `unseen`
    _made: dict[str, bool] = field(default_factory=dict)  # constructors and destructors, by qualified name
    _members: dict[str, bool] = field(default_factory=dict, init=False)  # see `is_member`
    _unseen: dict[str, Class] = field(default_factory=dict, init=False)
    # see `class_of` and `_named_alike`
    _classes: dict[tuple[str | int | None, ...], tuple[Class | None, ...]] = field(default_factory=dict, init=False)
    _alike: tuple[int, dict[str, list[Class]]] = field(default=(-1, {}), init=False)
    _lookup: Lookup | None = field(default=None, init=False)
    _references: References | None = field(default=None, init=False)

    @classmethod
    def together(cls, headers: Iterable[Declarations]) -> Declarations:
        """What several headers declare, or one in its configurations; where two have a name, the last one."""
        found = cls()
        other_types: set[str] = set()
        for header in headers:
            for name, one in header.classes.items():
                if name == one.name:
                    found.classes[name] = one
                else:
                    found.classes.setdefault(name, one)
            found.globals.update(
                (name, one) for name, one in header.globals.items() if name == one.name or name not in found.globals
            )
            found.names.include(header.names)
            found.several.update(header.several)
            for name, at in header.enumerators.items():
                found.enumerators.setdefault(name, set()).update(at)
            found.enumerations |= header.enumerations
            found.prototypes |= header.prototypes
            for name, declared_as in header.outside.items():
                found.outside.setdefault(name, set()).update(declared_as)
            for name, declared_as in header.methods.items():
                found.methods.setdefault(name, set()).update(declared_as)
            found.types |= header.types
            found.defined |= header.defined
            found.spelled.update(header.spelled)
            found.macros |= header.macros
            for name, hidden in header.parameters.items():
                found.parameters[name] = found.parameters.get(name, frozenset()) | hidden
            found.parameters_elsewhere |= header.parameters_elsewhere
            found.brought |= header.brought
            other_types |= header.types - header.numbers.keys()
            found.either |= header.either
            for name, kind in header.numbers.items():
                if not are_alike((found.numbers.setdefault(name, kind), kind)):
                    other_types.add(name)
            for name, others in header.namespaces.items():
                found.namespaces[name] = (*found.namespaces.get(name, ()), *others)
            for name, kinds in header.aliases.items():
                found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), *kinds)))
            for name, scopes in header.aliases_in.items():
                there_in = found.aliases_in.setdefault(name, {})
                for scope, kinds in scopes.items():
                    there_in[scope] = tuple(dict.fromkeys((*there_in.get(scope, ()), *kinds)))
            found.opened |= header.opened
            for name, kinds in header.stand_for.items():
                found.stand_for[name] = tuple(dict.fromkeys((*found.stand_for.get(name, ()), *kinds)))
            found.gives_references |= header.gives_references
            found.by_reference.update(header.by_reference)
            for name, listed in header.takes.items():
                known = found.takes.setdefault(name, [])
                known += (one for one in listed if one not in known)
            for name, offered in header.offers.items():
                there = found.offers.setdefault(name, [])
                there += (one for one in offered if one not in there)
            found.evaluated |= header.evaluated
            for name, given in header.gives.items():
                found.gives.setdefault(name, set()).update(given)
            for name, referred in header.refers.items():
                found.refers.setdefault(name, set()).update(referred)
        found.numbers = {n: k for n, k in found.numbers.items() if n not in other_types and n not in found.classes}
        return found

    def header(self) -> Declarations:
        """What a file sees that includes this one; without the syntax tree."""
        empty: dict[str, Any] = {
            "functions": [],
            "initializers": [],
            "evaluating": [],
            "members": {},
            "local": {},
            "aliased": {},
        }
        return replace(self, **empty, visible=None, inside="", _made={})

    def renamed(self, one: Declared, several: bool) -> list[Declared]:
        """A function by the name that a macro puts in the place of the written one: macros know no scopes (C++17, 19.3
        [cpp.replace] 9). By each of them, if it may have `several`, where a condition says which.
        """
        scope, separator, last = one.name.rpartition("::")
        listed = [names for at, names in self.renames.get(last, ()) if at <= one.node.start_byte]
        names = listed[-1] if listed and (several or len(listed[-1]) == 1) else ("",)
        return [replace(one, name=f"{scope}{separator}{name}") if name else one for name in names]

    def opens(self, namespace: str, other: str) -> None:
        """What a namespace has, or an alias of one, is found in another one (C++17, 6.4.3.2 [namespace.qual])."""
        if namespace and other and namespace != other:
            self.namespaces[namespace] = tuple(dict.fromkeys((*self.namespaces.get(namespace, ()), other)))

    def template_arguments(self, texts: Iterable[bytes]) -> tuple[frozenset[str], frozenset[str]]:
        """The classes, by last name component, that these texts give templates which may make and assign objects of
        them, "" where that may be any; and those that they give any templates, smart pointers too, which end them.
        """
        texts = list(texts)
        words = {word for text in texts for word in _arguments(_KEEPS.sub(b"(", text))}
        words |= {word for text in texts for word in _ARRAY_MADE.findall(text)}
        # the elements of a variable of the type of an array are not lowered
        arrays = (Type.of(one.kind) for text in texts for one in other_names(text) if one.is_array)
        words |= {of.name.encode() for of in arrays if of.is_object}
        kept = {word for text in texts for word in _arguments(text)}
        found = frozenset(self._classes_of(words))
        return found | {""} if any(map(_MEASURED_ARGUMENT.search, texts)) else found, frozenset(self._classes_of(kept))

    def unseen_arguments(self, texts: Iterable[bytes]) -> frozenset[str]:
        """The classes of which nothing is known that these texts give templates of the program, default arguments
        included: such a template may make, copy, compare and end objects of them.
        """
        found: set[str] = set()
        for match in (match for text in texts for match in _GIVEN.finditer(text)):
            name = match[1].decode("utf-8", "replace")
            if name == "template" or self.taken(name) or self._makes_objects(self.class_of(name)):
                kinds = (word.decode("utf-8", "replace") for word in _arguments(b"<%s>" % match[2]))
                found.update(one for one in kinds if self.is_unseen(one) and not (one.isupper() or self.taken(one)))
        return frozenset(found)

    def _makes_objects(self, cls: Class | None) -> bool:
        """Whether a class may have, or make, an object of a type that it is given."""
        kinds = cls.fields.values() if cls is not None else ()
        return cls is not None and (
            bool(cls.methods or cls.bases) or not all(one.endswith(("*", "&")) for one in kinds)
        )

    def _classes_of(self, words: Iterable[bytes]) -> Iterator[str]:
        """The constructors of the classes that these words may name, in whatever scope they stand."""
        inner = {name for known in self.local.values() for name in known}
        outer = self.visible.classes.values() if self.visible is not None else ()
        inner |= {cls.constructor for cls in (*self.classes.values(), *outer)}
        for word in words:
            name = word.decode("utf-8", "replace")
            if (cls := self.class_of(name)) is not None:
                yield cls.constructor
            if name in inner:
                yield name

    def is_type(self, name: str) -> bool:
        """Whether `name(x)` is a conversion."""
        if name in self.classes or (name in self.types and self.class_of(name) is not None):
            return False
        return (
            name in self.types
            or name.endswith("_t")
            or is_number(name)
            or (self.visible is not None and self.visible.is_type(name))
        )

    def names_type(self, name: str) -> bool:
        """Whether it is an alias or a template parameter."""
        return name in self.types or (self.visible is not None and name in self.visible.types)

    def is_brought(self, name: str) -> bool:
        """Whether a using-declaration brings what has this name."""
        return name in self.brought or (self.visible is not None and name in self.visible.brought)

    @property
    def brought_classes(self) -> set[str]:
        """What using-declarations bring that has the name of a class."""
        return {name for name in self.brought if self._named_alike(name)}

    def means_number(self, kind: str) -> bool:
        """Whether a type is a plain number, or an alias of one."""
        of = Type.of(kind)
        return not of.marks and is_number(self.numbers.get(of.core, of.core))

    def is_declared_function(self, name: str) -> bool:
        return name in self.prototypes or (self.visible is not None and name in self.visible.prototypes)

    def is_declared_outside(self, name: str) -> bool:
        """Whether the program declares a function of this name itself, outside of classes."""
        return name in self.outside or (self.visible is not None and name in self.visible.outside)

    def declares_function(
        self, node: Node, one: Declared, listed: Sequence[tuple[Param, Node]], text: bytes, path: str, scope: str
    ) -> None:
        """A declaration of a function outside of classes with these parameters, which is no definition."""
        at: Node | None = node
        while at is not None and at.type != "linkage_specification":
            at = at.parent
        if "::" not in plain_name(one.name):  # else there is another declaration (C++17, 11.3 [dcl.meaning] 1)
            is_c = path.endswith(".c")
            made = self._prototype(one, listed, text)._replace(of_c=at is not None or is_c, scope=scope)
            if is_c and not listed:  # in C17 6.7.6.3 14 empty parentheses say nothing of parameters
                made = made._replace(most=sys.maxsize)
            self.outside.setdefault(made.name, set()).add(made)

    def declares_method(self, cls: Class, one: Declared, listed: Sequence[tuple[Param, Node]], text: bytes) -> None:
        """A declaration of a method in its class, which is no definition."""
        made = self._prototype(one, listed, text)
        special = one.name in (cls.constructor, ASSIGNMENT)
        if one.name == cls.destructor or (special and cls.constructor in WORD.findall(" ".join(made.types[:1]))):
            return  # the compiler may write them: `S::~S() = default;`
        if one.name == cls.constructor and not listed:
            return
        types = (*made.types, *qualifiers(one.node, text))
        self.methods.setdefault(one.name, set()).add(made._replace(scope=cls.name, is_method=True, types=types))

    def signature(self, listed: Sequence[tuple[Param, Node]], text: bytes) -> tuple[str, ...]:
        """The types of parameters in one spelling."""
        return signature(listed, text, self._stands_for)

    def signature_of(self, one: Definition, text: bytes) -> tuple[str, ...]:
        """The types of the parameters of a definition, and of a method its qualifiers."""
        types = self.signature(one.params, text)
        return (*types, *qualifiers(one.node, text)) if one.cls is not None else types

    def _stands_for(self, name: str) -> tuple[str, ...]:
        if name in self.numbers and (name in self.either or (self.visible is not None and name in self.visible.either)):
            return (EITHER,)
        if (number := self.numbers.get(name)) is not None:
            return (number,)
        if (kinds := self.meanings(name)) != (name,):
            return kinds
        if self.references.is_parameter(name):
            return (PARAMETER,)
        return tuple(kind for kind in self.references.meanings(name) if "{" not in kind)

    def _prototype(self, one: Declared, listed: Sequence[tuple[Param, Node]], text: bytes) -> Prototype:
        is_open = any(param.type.endswith("...") for param, _ in listed)
        required = sum(not param.optional and not param.type.endswith("...") for param, _ in listed)
        most = sys.maxsize if is_open else len(listed)
        return Prototype(plain_name(one.name), self.signature(listed, text), required, most=most)

    def hidden_by(self, name: str, namespace: str) -> str:
        """The qualified name of the function of a namespace around a call that hides the one outside of all namespaces
        (C++17, 6.4.1 [basic.lookup.unqual]); `name` itself if there is none.
        """
        while namespace:
            for seen in (self, self.visible):
                if seen is not None and any(one.name == f"{namespace}::{name}" for one in seen.functions):
                    return f"{namespace}::{name}"
            namespace = namespace.rpartition("::")[0]
        return name

    def is_enumerator(self, name: str) -> bool:
        return name in self.enumerators or (self.visible is not None and name in self.visible.enumerators)

    def is_enumeration(self, kind: str) -> bool:
        """Whether a type as written has the name of an enumeration, and of nothing else."""
        last = kind.removeprefix("enum ").rpartition("::")[2]
        seen = last in self.enumerations or (self.visible is not None and last in self.visible.enumerations)
        return seen and self.class_of(kind) is None and self.meanings(kind) == (kind,)

    def are_several(self, name: str) -> bool:
        """Whether a name is that of enumerators in several places, which may have several values."""
        seen = self.visible.enumerators.get(name, set()) if self.visible is not None else set()
        return len(self.enumerators.get(name, set()) | seen) > 1

    def is_constant_around(self, name: str) -> bool:
        """Whether the build defines it as a constant, or the files that include this one declare it."""
        return self.visible is not None and name in self.visible.constants

    def may_have_unseen_macros(self) -> bool:
        """Whether a header that is not here may define macros of any name."""
        return self.visible is not None and self.visible.unseen_macros

    def is_perhaps_unseen(self, name: str) -> bool:
        """Whether a macro that is defined here may be another one, of a header that is not here."""
        return self.visible is not None and name in self.visible.perhaps

    def global_named(self, name: str) -> GlobalVar | None:
        found = self.globals.get(name)
        return found if found is not None or self.visible is None else self.visible.globals.get(name)

    def in_a_library(self, name: str) -> str:
        """A qualified name, or what it means of a library through an alias of a namespace: `fs::exists`."""
        scope = name.partition("::")[0]
        outer = self.visible.namespaces if self.visible is not None else {}
        others = (*self.namespaces.get(scope, ()), *outer.get(scope, ()))
        meant = next((other for other in others if other.partition("::")[0] in _LIBRARIES), None)
        return meant + name.removeprefix(scope) if meant is not None else name

    def names_object(self, name: str) -> bool:
        """Whether some variable with this last name component is an object of a class."""
        last = name.rpartition("::")[2]
        if not last.isidentifier():
            return False
        variable = self.global_named(f"::{last}")
        outer = self.visible.classes if self.visible is not None else {}
        kinds = [variable.type] if variable is not None else []
        kinds += [cls.statics[last] for cls in (*self.classes.values(), *outer.values()) if last in cls.statics]
        return any(not is_pointer(kind) and self.class_of(kind) is not None for kind in kinds)

    def names_variable(self, name: str) -> bool:
        """Whether a variable at namespace scope, or a data member, may have this last name component."""
        seen = [one for one in (self, self.visible) if one is not None]
        return any(
            any(other.rpartition("::")[2] == name for other in one.globals)
            or any(name in cls.fields or name in cls.statics for cls in one.classes.values())
            for one in seen
        )

    @property
    def lookup(self) -> Lookup:
        """What names mean, as soon as all is declared."""
        if self._lookup is None:
            seen = (one for one in (self, self.visible) if one is not None)
            self._lookup = Lookup((one.names, one.globals) for one in seen)
        return self._lookup

    def variables(self, name: str, use: Use) -> list[GlobalVar]:
        """The variables at namespace scope that a name may mean where it is used: one where lookup decides that."""
        if (found := self.lookup.variables(name, use)) or "::" not in name:
            return found
        scope, plain = "" if name.startswith("::") else use.scope, name.removeprefix("::")
        while True:  # through what may be a name of a namespace
            names = found_as(f"{scope}::{plain}" if scope else plain, self.all_namespaces)
            if "::" in plain or scope:
                meant = (one for other in names if (one := self.global_named(f"::{other}")) is not None)
                if found := list({one.name: one for one in meant}.values()):
                    return found
            if not scope:
                return []
            scope = scope.rpartition("::")[0]

    def all_globals(self) -> Iterable[GlobalVar]:
        outer = self.visible.globals if self.visible is not None else {}
        return (outer | self.globals).values()

    def takes_reference(self, name: str) -> bool:
        """Whether a function with this last name component has a parameter that is a reference."""
        outer = self.visible.by_reference if self.visible is not None else {}
        return any(self.by_reference.get(name, outer.get(name, ())))

    def parameters_at(self, name: str, number: int, count: int) -> list[Param] | None:
        """The parameters that argument `number` of `count` may go to, in a call of functions with this last name
        component; None if none of them is seen.
        """
        known = self.taken(name)
        fitting = [listed for listed in known if len(listed) >= count or _takes_pack(listed)] or known
        found = [
            listed[min(number, len(listed) - 1)] for listed in fitting if number < len(listed) or _takes_pack(listed)
        ]
        return found if known else None

    def taken(self, name: str) -> list[tuple[Param, ...]]:
        """The parameters of each of the functions with this last name component that are seen."""
        outer = self.visible.takes.get(name, []) if self.visible is not None else []
        return [*self.takes.get(name, []), *outer]

    def takes_object(self, name: str, count: int) -> bool:
        """Whether a function with this last name component, of so many parameters, takes an object that is seen."""
        listed = (params for params in self.taken(name) if len(params) == count)
        return any(self.class_of(param.type) is not None for params in listed for param in params)

    def with_defaults(self, one: Definition) -> tuple[tuple[Param, Node], ...]:
        """The parameters of a definition, with the default arguments that declarations of it give, and those of the
        functions that it overrides (C++17, 11.3.6 [dcl.fct.default] 4, 10).
        """
        own = [param for param, _ in one.params]
        seen = [declared for declared in (self, self.visible) if declared is not None]
        for name in self._overridden(one.name, one.cls):
            offers = (listed for declared in seen for listed in declared.offers.get(name, ()))
            for listed in [listed for listed in offers if _same_types(listed, own)]:
                for n, (mine, theirs) in enumerate(zip(own, listed, strict=True)):
                    if theirs.optional and not mine.optional:
                        own[n] = mine._replace(default=theirs.default, optional=True)
                    elif (
                        theirs.optional
                        and name != one.name
                        and (theirs.default is None or theirs.default != mine.default)
                    ):
                        own[n] = mine._replace(default=Opaque(()))
        return tuple((param, at) for param, (_, at) in zip(own, one.params, strict=True))

    def evaluates_for(self, name: str, cls: str | None) -> list[str]:
        """The functions of which a call may evaluate default arguments before this one runs."""
        known = self.evaluated | (self.visible.evaluated if self.visible is not None else set())
        return [one for one in self._overridden(name, cls) if one in known] if known else []

    def _overridden(self, name: str, cls: str | None) -> list[str]:
        """A function, and those that it overrides."""
        last = name.rpartition("::")[2]
        return list(dict.fromkeys((name, *(f"{base.name}::{last}" for base in self.lineage(cls)))))

    def all_taken(self) -> Iterator[tuple[Param, ...]]:
        """The parameters of all functions that are seen."""
        for one in (self, self.visible):
            for listed in one.takes.values() if one is not None else ():
                yield from listed

    def is_member(self, name: str) -> bool:
        """Whether a class that is seen has a method of this name."""
        if name not in self._members:
            outer = self.visible.classes if self.visible is not None else {}
            classes = (*self.classes.values(), *outer.values())
            self._members[name] = any(name in cls.methods for cls in classes)
        return self._members[name]

    def returned(self, name: str) -> set[str]:
        """The types that functions with this last name component return by value; empty for a reference."""
        outer = self.visible.gives.get(name, set()) if self.visible is not None else set()
        return self.gives.get(name, set()) | outer

    def referred(self, name: str) -> set[str]:
        """The types to which functions with this last name component return references; empty for a value."""
        outer = self.visible.refers.get(name, set()) if self.visible is not None else set()
        return self.refers.get(name, set()) | outer

    def is_reference_member(self, member: str) -> bool:
        """Whether a data member of this name of any class is a reference, or may be one."""
        seen = [self] if self.visible is None else [self, self.visible]
        return any(c.fields.get(member, "").endswith("&") for one in seen for c in one.classes.values())

    def class_named(self, name: str) -> Class | None:
        """The class with exactly this qualified name."""
        found = self.classes.get(name)
        if (found is None or found.name != name) and self.visible is not None:
            found = self.visible.classes.get(name)
        return found if found is not None and found.name == name else None

    def is_unseen(self, kind: str, around: str = "", followed: set[str] | None = None) -> bool:
        """Whether a type as written in a function or class (`around`; the one that is lowered if none is given) can
        only be a class of which nothing is known: its name is that of no type that the program or a table has, and it
        may depend on no parameter of a template (C++17, 17.6.2.1 [temp.dep.type]), wherever that is: what is made of
        a template is met outside of it, too. Aliases may mean each other (`followed` are those that have been).
        """
        followed = set() if followed is None else followed
        if self._several(kind) is not None or self.is_ambiguous(kind, around):
            return True
        of = Type.of(kind)
        if not of.marks and (trait := _TRAIT.fullmatch(of.core)) is not None:
            given = map(Type.of, of.arguments[1 if trait[2] else 0 :])  # no condition
            parts = (one.core for one in given if trait[1] or "*" not in one.marks)
            return any(self.is_unseen(one, around, followed) for one in parts)
        kind = _class_named(kind)
        of = Type.of(kind)
        if of.last in _OF_ELEMENTS and (of.template.startswith("std::") or of.outer.elements):
            return any(self.is_unseen(one, around, followed) for one in of.arguments)
        if not kind or _CLASS.match(self.in_a_library(kind)) is None:
            return False
        name = plain_name(kind)
        first, *rest = name.split("::")
        last = rest[-1] if rest else first
        if name in followed or self._is_other(name):
            return False
        of_standard = _SIZES | _OF_CLOCKS if first.endswith("_clock") else _SIZES
        if len(rest) == 1 and is_standard(first) and last in of_standard and not self._other_names(first):
            return False
        if meant := self._other_names(first):
            followed.add(name)
            return any(self.is_unseen("::".join((one, *rest)), around, followed) for one in meant)
        if rest and name not in followed and self._is_parameter(first, around or self.inside):
            followed.add(name)
            return any(self.is_unseen(one, around, followed) for one in self._other_names(last))
        if self._is_defined(first) or self._is_parameter(first, around or self.inside):
            return False
        others = self._other_names(last) if rest else ()  # of this class, or of another one
        if rest and name not in map(plain_name, others) and (others or self._is_defined(last)):
            followed.add(name)
            return any(self.is_unseen(one, around, followed) for one in others)
        home = name.rpartition("::")[0]
        return self.class_of(kind, around) is None and not (home and self.class_of(home, around) is not None)

    def _other_names(self, name: str) -> tuple[str, ...]:
        """What a name means that is an alias or a macro."""
        written = self.spelled.get(name)
        return tuple(one for one in ((written,) if written else self.meanings(name)) if plain_name(one) != name)

    def _is_other(self, name: str) -> bool:
        """Whether it is the name of a macro that is no type, or of a variable."""
        seen = (self, self.visible) if self.visible is not None else (self,)
        return any(name in one.macros for one in seen) or self.global_named(f"::{name}") is not None

    def _is_defined(self, name: str) -> bool:
        """Whether this is the name of a type that is no class, or of a parameter of a template."""
        seen = (self, self.visible) if self.visible is not None else (self,)
        return self.names_type(name) or any(name in one.defined for one in seen)

    def unseen(self, kind: str, around: str = "", followed: set[str] | None = None) -> Class | None:
        """The class of an object of this type, or of those that the standard library makes in it, if it can only be one
        of which nothing is known: it may have any constructor and any destructor, which are functions that are not
        seen. Aliases may mean each other (`followed` are those that have been).
        """
        followed = set() if followed is None else followed
        of = Type.of(kind)
        if of.library.ends_objects and not of.marks:
            given = of.arguments[: of.library.made_of]
            return next((one for part in given if (one := self.unseen(part, around, followed)) is not None), None)
        if of.marks:
            return None
        name = of.name
        if (known := self._several(name)) is not None:
            return known
        if self.is_ambiguous(kind, around):
            return self._class_of_several(self._possible_classes(of.written_name, around))
        if meant := self._other_names(name):
            if name in followed:
                return None
            followed.add(name)
            others = (self.unseen(one, around, followed) for one in meant)
            return next((one for one in others if one is not None), None)
        return self._class_unseen(name) if self.is_unseen(kind, around) else None

    def _class_unseen(self, name: str) -> Class:
        if name not in self._unseen:
            last = name.rpartition("::")[2]
            self._unseen[name] = Class(name, methods={last, f"~{last}"}, unseen=True)
        return self._unseen[name]

    def _class_of_several(self, possible: Sequence[Class | None]) -> Class:
        """The class that stands for each of several (`alternatives`), and for one that is not seen."""
        name = "_or_".join("_".join(WORDS.findall(cls.name)) if cls is not None else "other" for cls in possible)
        if (known := self._several(name)) is not None:
            return known
        seen = tuple(cls for cls in possible if cls is not None)
        return self.several.setdefault(name, Class(name, methods={name, f"~{name}"}, unseen=True, alternatives=seen))

    def _one_of(self, possible: Sequence[Class | None], rest: str) -> str:
        """The type of an object of one of several classes; `auto` for what leads to one, which may have any methods.
        `rest` is what is written behind the name.
        """
        marks = rest[rest.rindex(">") + 1 :] if rest.startswith("<") and ">" in rest else rest
        leads = any(sign in marks for sign in "*&")
        return f"{'auto' if leads else self._class_of_several(possible).name}{marks}"

    def _several(self, name: str) -> Class | None:
        """The class of this name that stands for several. This file has its functions, too."""
        outer = self.visible.several if self.visible is not None else {}
        return self.several.setdefault(name, outer[name]) if name in outer else self.several.get(name)

    @property
    def unseen_classes(self) -> frozenset[str]:
        """The names of those of which an object has been met."""
        return frozenset(self._unseen.keys() | self.several.keys())

    def class_of(self, kind: str, around: str = "") -> Class | None:
        """The class of an object of this type as written in a function or class (`around`; the one that is lowered if
        none is given), or None if it is not seen, or not certain.
        """
        possible = self._possible_classes(kind, around)
        return possible[0] if len(possible) == 1 else None

    def _possible_classes(self, kind: str, around: str) -> tuple[Class | None, ...]:
        """The classes of which an object of this type may be: several where it is not certain which; None among them
        where something that is no class that is seen may have the name.
        """
        scope = around or self.inside
        local = self._local_class(kind, scope) if self.local else None
        # while declarations are still being collected, and smart pointers named
        counts = len(self.classes), len(self.aliases), len(self.owners), len(self.functions)
        key = kind, scope, *counts, id(local), self.reading
        if key not in self._classes:
            self._classes[key] = self._possible(kind, scope, frozenset())
        return self._classes[key]

    def class_behind(self, kind: str, around: str = "") -> Class | None:
        """The class of what a type is, or leads to through pointers, references and arrays."""
        return self.class_of(Type.of(kind).core, around)

    def _outer_class(self, kind: str, scope: str, meant: frozenset[str]) -> Class | None:
        """The class that a type is in a scope; aliases may mean each other (`meant` are those on the way)."""
        possible = self._possible(kind, scope, meant)
        return possible[0] if len(possible) == 1 else None

    def _possible(self, kind: str, scope: str, meant: frozenset[str]) -> tuple[Class | None, ...]:
        """See `_possible_classes`, `_outer_class`."""
        elaborated = kind.startswith(("struct ", "class "))
        name = plain_name(kind.removeprefix("struct ").removeprefix("class "))
        last = name.rpartition("::")[2]
        is_whole = "::" in name or elaborated
        local = self._local_class(kind, scope)
        if local is not None and is_whole:
            return (local,)
        found: list[Class | None] = [*self._classes_by_name(name.removeprefix("::"), scope, name, meant)]
        if local is not None:  # in a block that need not be around the use (C++17, 6.3.3 [basic.scope.block])
            found = [local, *(one for one in found if one is not None and self._is_around(one, scope))]
        elif not is_whole and self._is_parameter(last, scope) and last not in meant:
            owner = self._owner(kind) if not found else None
            return (owner,) if owner is not None else ()
        if found and is_whole:
            return _each(found)
        kinds = () if last in meant else [one for one in self._meanings_in(name, scope, meant) if one != last]
        if kinds and not (found and self._is_elsewhere(last, scope)):
            inner = meant | {last}
            classes = [one for other in kinds for one in self._possible(other, scope, inner) or (None,)]
            # an alias may hide the class, and need not: it is not known where the use stands in its scope
            found += classes if found else (one for one in classes if one is not None)
        if found:
            return _each(found)
        owner = self._owner(kind)
        return (owner,) if owner is not None else ()

    def _is_around(self, cls: Class, scope: str) -> bool:
        """Whether a class is a member of a namespace or class around a scope, or the scope is in it."""
        home = cls.name.rpartition("::")[0]
        return any(home == level or cls.name == level for level in scopes_around(scope))

    def _is_elsewhere(self, name: str, scope: str) -> bool:
        """Whether all aliases of a name are members of classes in which, and in whose derived classes, a scope is not:
        an unqualified name means none of them there (C++17, 6.4.1 [basic.lookup.unqual] 7, 8).
        """
        there = self._places_of(name)
        levels = list(scopes_around(scope))
        if there is None or any(self.local.get(level) for level in levels):
            return False
        around = [cls for level in levels if level and (cls := self.class_named(level)) is not None]
        known = [one for cls in around for one in self._and_bases(cls)]
        bases = [(base, cls.name.rpartition("::")[0] or "::") for cls in known for base in cls.bases]
        if any(base == name or self.class_of(base, outer) is None for base, outer in bases):
            return False
        return not any(self.class_named(place) is None or self.class_named(place) in known for place in there)

    def _classes_by_name(self, name: str, scope: str, written: str, meant: frozenset[str]) -> list[Class]:
        """The classes that a name may mean in a scope (C++17, 6.4.1 [basic.lookup.unqual], 6.4.3 [basic.lookup.qual]):
        several where the inner one may be declared behind the use, or in a base that depends on a parameter of a
        template, in which an unqualified name is not looked for (17.6.2 [temp.dep] 3). Where headers that are not seen
        may open a namespace, the only one whose name ends so.
        """
        names = found_as(name, self.all_namespaces)
        possible = list[Class]()
        around = "" if written.startswith("::") else scope
        while around.strip(":"):
            inner = self.class_named(around)
            own = next((cls for one in names if (cls := self.class_named(f"{around}::{one}")) is not None), None)
            if own is not None:
                possible.append(own)
                if inner is not None or self._is_before(own, scope):
                    return possible
            if inner is not None and "::" not in name:
                if name == around.rpartition("::")[2]:
                    return [*possible, inner]
                of_bases = (self.class_named(f"{base.name}::{name}") for base in self._and_bases(inner))
                if (of_base := next(filter(None, of_bases), None)) is not None:
                    possible.append(of_base)
                    if not inner.templated:
                        return possible
            around = around.rpartition("::")[0]
        for one in names:
            if (found := self.class_named(one)) is not None:
                return [*possible, found]
        if possible:
            return possible
        home, _, last = name.rpartition("::")
        if home:
            outer = self._outer_class(home, scope, meant) if home.rpartition("::")[2] not in meant else None
            for base in self._and_bases(outer) if outer is not None else ():
                if (found := self.class_named(f"{base.name}::{last}")) is not None:
                    return [found]
        ending = [
            cls
            for cls in self._named_alike(last)
            if any(cls.name.endswith(f"::{one}") for one in names)
            and self.class_named(cls.name.rpartition("::")[0]) is None
        ]
        return ending if len(ending) == 1 else []

    def _is_before(self, cls: Class, scope: str) -> bool:
        """Whether a member of a namespace is certainly declared in front of a function or class."""
        start = self._start_of(scope)
        return start is not None and (self.classes.get(cls.name) is not cls or cls.start < start)

    def _start_of(self, scope: str) -> int | None:
        """Where this file first defines a function or class of this name, if it does, or where one stands that is read
        now.
        """
        if self.reading is not None:
            return self.reading
        starts = [one.node.start_byte for one in self.functions if one.name == scope]
        if (cls := self.classes.get(scope)) is not None and cls.name == scope:
            starts.append(cls.start)
        return min(starts, default=None)

    def overlaid(self, kind: str, name: str) -> list[str]:
        """The data members that share their memory with one of an object of this type: of any class that has such a
        member where it is not known which the type is.
        """
        classes = list(self.lineage(kind))
        if not classes:
            outer = self.visible.classes.values() if self.visible is not None else ()
            classes = [cls for cls in (*outer, *self.classes.values()) if name in cls.unions]
        return list(dict.fromkeys(other for cls in classes for other in cls.overlaid(name)))

    def overlays(self) -> dict[str, frozenset[str]]:
        """The data members that share their memory with others, by name, where one of these may be an address."""
        found: dict[str, set[str]] = {}
        for cls in self.classes.values():
            for name in cls.unions:
                others = cls.overlaid(name)
                if not all(self.means_number(elements(cls.fields.get(one, ""))[0]) for one in (name, *others)):
                    found.setdefault(name, set()).update(others)
        return {name: frozenset(others) for name, others in found.items()}

    def specializes(self, template: str) -> bool:
        """Whether a class template of the standard library is specialized for a class of the program."""
        return bool(self._named_alike(template))

    def _named_alike(self, last: str) -> list[Class]:
        """The classes with this last name component."""
        outer = self.visible.classes if self.visible is not None else {}
        count = len(self.classes) + len(outer)
        if self._alike[0] != count:
            found: dict[str, list[Class]] = {}
            for name, cls in {**outer, **self.classes}.items():
                if name == cls.name:
                    found.setdefault(name.rpartition("::")[2], []).append(cls)
            self._alike = count, found
        return self._alike[1].get(last, [])

    @property
    def all_namespaces(self) -> Mapping[str, tuple[str, ...]]:
        """`namespaces`, and those of the headers."""
        outer = self.visible.namespaces if self.visible is not None else {}
        if not outer or not self.namespaces:
            return outer or self.namespaces
        return {one: (*outer.get(one, ()), *self.namespaces.get(one, ())) for one in (*outer, *self.namespaces)}

    def written_out(self, kind: str, scope: str) -> str:
        """A type as written in a scope, with the whole name of its class where that is seen; `auto` where something
        hides the class of this name.
        """
        parts = _TYPE.fullmatch(kind)
        if parts is None or is_number(parts[3]):
            return kind
        rest = parts[4]
        if rest.startswith("<") and (given := template_arguments(rest)):
            written = [self.written_out(one, scope) for one in given]
            rest = rest if written == given else f"<{', '.join(written)}{rest[rest.rindex('>') :]}"
        cls = self.class_of(parts[2] + parts[3], scope)
        if cls is not None:
            return f"{parts[1]}{cls.name}{rest}"
        name = parts[2] + parts[3]
        if len(possible := self._possible_classes(name, scope)) > 1:
            return f"{parts[1]}{self._one_of(possible, rest)}"
        meant = self.meanings(name) if not any(name in hiding for hiding in self.parameters.values()) else (name,)
        if len(meant) == 1 and meant[0].startswith("std::"):
            return f"{parts[1]}{meant[0]}{rest}"
        hidden = "::" not in parts[3] and not parts[2] and self._named_alike(parts[3])
        return f"{parts[1]}{'auto' if hidden else parts[2] + parts[3]}{rest}"

    def hides(self, name: str, parameters: frozenset[str]) -> None:
        """Note the parameters of the templates around a class or function of this whole name."""
        if parameters:
            self.parameters[name] = self.parameters.get(name, frozenset()) | parameters

    def has_function(
        self,
        one: Declared,
        listed: tuple[tuple[Param, Node], ...],
        returned: str,
        referred: str,
        hidden: frozenset[str],
        scope: str,
    ) -> None:
        """Note what a function takes and returns. A parameter of a template (one of `hidden`) is any type."""
        last = plain_name(one.name).rpartition("::")[2]
        self.reading = one.node.start_byte
        returned, referred = self._meant_in(returned, scope), self._meant_in(referred, scope)
        types = [_shown(self._meant_in(param.type, scope), hidden) for param, _ in listed]
        self.reading = None
        params = tuple(param._replace(type=kind) for (param, _), kind in zip(listed, types, strict=True))
        self.takes.setdefault(last, []).append(params)
        self.gives.setdefault(last, set()).add(_shown(returned, hidden))
        self.refers.setdefault(last, set()).add(_shown(referred, hidden))

    def _meant_in(self, kind: str, scope: str) -> str:
        """A type as written in a scope, whose name means something else in another one, by what it stands for; `auto`
        where it may be one of several.
        """
        parts = _TYPE.fullmatch(kind)
        if parts is not None and len(possible := self._possible_classes(parts[3], scope)) > 1:
            return f"{parts[1]}{self._one_of(possible, parts[4])}"
        if parts is None or len(self.meanings(parts[3].rpartition("::")[2])) < 2:
            return kind
        meant = self._meanings_in(parts[3], scope, frozenset())
        return f"{parts[1]}{meant[0] if len(meant) == 1 else 'auto'}{parts[4]}"

    def means_itself(self, name: str) -> bool:
        """Whether an alias is of the class of its own name: `typedef struct A A;`."""
        cls = self.class_of(name)
        return cls is not None and cls.name.rpartition("::")[2] == name

    def _is_parameter(self, name: str, scope: str) -> bool:
        """Whether a template around a scope has a parameter of this name, which hides what is outside (C++17, 6.3.9
        [basic.scope.temp]).
        """
        if name in self.parameters_elsewhere:
            return True
        while scope:
            if name in self.parameters.get(scope, ()):
                return True
            scope = scope.rpartition("::")[0]
        return self.visible is not None and self.visible._is_parameter(name, scope)

    def is_parameter(self, name: str, scope: str) -> bool:
        """Whether a template around a function or class has a parameter of this name."""
        return self._is_parameter(name, scope)

    def static_members(self, name: str) -> list[Class]:
        """The classes with a static data member of this name, other than one that a literal makes: it stays."""
        seen = (self.visible, self) if self.visible is not None else (self,)
        classes = {cls.name: cls for one in seen for cls in one.classes.values()}
        return [cls for cls in classes.values() if name in cls.statics and name not in cls.fixed]

    def _owner(self, kind: str) -> Class | None:
        """The class of a `std::unique_ptr` with a deleter that is seen and holds nothing; its functions are in `owners`
        beside this file.
        """
        written = _owner_of(kind)
        if not written:
            return self.owners.get(kind)
        if self.replaces_owners():
            return None
        if is_given_its_deleter(kind):
            return self._owner_that_is_given(kind)
        cls = self.class_of(written[-1])
        if cls is None or not (self._deletes(cls) if len(written) == 1 else self._is_deleter(cls)):
            return None
        held = written[0] if len(written) == 2 else ""
        name = "_".join(("unique_ptr", *WORDS.findall(held), *WORDS.findall(cls.name)))
        if name not in self.owners:
            methods = {name, f"~{name}", "get", "release", "reset"}
            special = "operator()" if held else cls.destructor
            self.owners[name] = Class(name, methods=methods, start=cls.start, deleter=f"{cls.name}::{special}")
        return self.owners[name]

    def _owner_that_is_given(self, kind: str) -> Class:
        """The class of a `std::unique_ptr` of this type, whose deleter is a pointer to a function. It can be made of no
        other type of deleter without a conversion, so that two spellings of one type may be two classes.
        """
        name = "_".join(WORDS.findall(kind.removeprefix("std::")))
        if name not in self.owners:
            methods = {name, f"~{name}", "get", "release", "reset"}
            self.owners[name] = Class(name, methods=methods, deleter=DELETER, given=True)
        return self.owners[name]

    def replaces_owners(self) -> bool:
        """Whether the program says itself what a smart pointer does where it ends: `std::default_delete` may be
        specialized (C++17, 20.5.4.2.1 [namespace.std]), and a template of its own may have the name of a smart pointer.
        """
        return any(map(self.specializes, ("default_delete", "unique_ptr", "shared_ptr")))

    def owned(self, text: bytes, let_go: Set[str]) -> dict[str, bool]:
        """`ir.Module.owned` of a file with this text, in which these smart pointers are let go."""
        met = {
            cls.deleter.split("::")[-2]: cls.name not in let_go for cls in self.owners.values() if "::~" in cls.deleter
        }
        return dict.fromkeys((one.decode().rpartition("::")[2] for one in _OWNS.findall(text)), False) | met

    @staticmethod
    def _is_deleter(cls: Class) -> bool:
        """Whether an object of a class can be called, and holds nothing."""
        return "operator()" in cls.methods and not cls.fields and not cls.bases

    def _deletes(self, cls: Class) -> bool:
        """Whether `delete` of an object of a class runs something, and gives its memory back to the library."""
        memory = any(method.startswith("operator delete") for one in self._and_bases(cls) for method in one.methods)
        return self.has(cls, cls.destructor) and not cls.templated and not memory

    def sole_owner(self, described: str, deleter: str, start: int, shared: bool) -> Class:
        """The class of a smart pointer that is given its deleter where it is declared, of that object alone."""
        words = "_".join(WORDS.findall(described))
        same = sum(name.startswith(f"{words}_at_") and cls.start < start for name, cls in self.owners.items())
        name = f"{words}_at_{same}"  # it has to be the same when the text around it is rewritten
        methods = {name, f"~{name}", "get", "reset"}
        self.owners[name] = Class(name, methods=methods, start=start, deleter=deleter, shared=shared)
        return self.owners[name]

    def _local_class(self, kind: str, around: str) -> Class | None:
        """A class in the body of a function, or of one around it."""
        plain = kind.removeprefix("struct ").removeprefix("class ")
        while around and self.local:
            known = self.local.get(around, {})
            if (found := known.get(plain) or known.get(plain_name(plain))) is not None:
                return found
            around = around.rpartition("::")[0]
        return None

    def meanings(self, kind: str) -> tuple[str, ...]:
        """The types that a type as written may stand for, itself where it is no alias."""
        own = self.aliases.get(kind, ())
        outer = self.visible.aliases.get(kind, ()) if self.visible is not None else ()
        return tuple(dict.fromkeys((*own, *outer))) or (kind,)

    def _meanings_in(self, name: str, scope: str, meant: frozenset[str]) -> tuple[str, ...]:
        """What an alias of this name may mean in a scope: what the innermost one that has it says (C++17, 6.4.1
        [basic.lookup.unqual], 6.4.3 [basic.lookup.qual]); all that it means anywhere where that is not known.
        """
        home, _, last = name.removeprefix("::").rpartition("::")
        kinds = self.meanings(last)
        if len(kinds) < 2 or not (scope or home):
            return kinds
        there = self._places_of(last)
        if there is None:
            return kinds
        opened = self.opened | (self.visible.opened if self.visible is not None else frozenset())
        beside = [place for place in there if any(f"::{place}".endswith(f"::{one}") for one in opened)]
        found = list[str]()
        for level in scopes_around(scope if not name.startswith("::") else ""):
            place = f"{level}::{home}" if level and home else home or level
            cls = self.class_named(place)
            if cls is None and home and home.rpartition("::")[2] not in meant:
                cls = self._outer_class(home, level, meant | {last})
            bases = [base.name for base in self._and_bases(cls)] if cls is not None else []
            others = (f"{place}()", *(beside if cls is None and not home else ()))
            found += (kind for one in (place, *others, *bases) for kind in there.get(one, ()))
            in_class = cls is not None and (bool(home) or not cls.templated or place in there)
            if found and (in_class or (place in there and self._is_aliased_before(place, last, scope))):
                break
        return tuple(dict.fromkeys(found)) or kinds

    def _places_of(self, name: str) -> dict[str, tuple[str, ...]] | None:
        """What an alias means in each scope that has it; None if there may be others."""
        there: dict[str, tuple[str, ...]] = {}
        for seen in (self, self.visible):
            for place, listed in seen.aliases_in.get(name, {}).items() if seen is not None else ():
                there[place] = (*there.get(place, ()), *listed)
        return there if {kind for listed in there.values() for kind in listed} == set(self.meanings(name)) else None

    def _is_aliased_before(self, place: str, name: str, scope: str) -> bool:
        """Whether an alias in a namespace is certainly declared in front of a function or class."""
        start = self._start_of(scope)
        return start is not None and self.aliased.get((place, name), -1) < start

    def is_one_of_seen(self, kind: str) -> bool:
        """Whether a type may be of one class or another, each of which is seen."""
        possible = self._possible_classes(kind, "")
        return len(possible) > 1 and None not in possible

    def is_ambiguous(self, kind: str, around: str = "") -> bool:
        """Whether a type may be of one class or another, or of a class or none that is seen."""
        of = Type.of(kind)
        return not of.marks and len(self._possible_classes(of.written_name, around)) > 1

    @property
    def references(self) -> References:
        """Which types are references."""
        if self._references is None:
            self._references = self._make_references()
        return self._references

    def _make_references(self) -> References:
        seen = [self] if self.visible is None else [self, self.visible]

        def meanings(name: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(kind for one in seen for kind in one.stand_for.get(name, ())))

        def is_parameter(name: str) -> bool:
            return self.names_type(name) and not meanings(name)

        return References(meanings, is_parameter, lambda: any(one.gives_references for one in seen))

    def ending(self, kind: str) -> Class | None:
        """The class of an object of this type as written, if it has a destructor, or may have one."""
        cls = (self.class_of(kind) or self.unseen(kind)) if not is_pointer(kind) else None
        return cls if cls is not None and self.has(cls, cls.destructor) else None

    def forget(self) -> None:
        """Find out anew which constructors and destructors there are: members have got other types."""
        self._made.clear()

    def has(self, cls: Class, special: str) -> bool:
        """Whether a class has a constructor, destructor or assignment, be it one that the compiler writes since a base
        or a member has one.
        """
        if special in cls.methods or (cls.initialized and special == cls.constructor):
            return True
        name = f"{cls.name}::{special}"
        if name not in self._made:
            self._made[name] = False
            parts = [part for _, part, _ in self.parts(cls)]
            if special == ASSIGNMENT:
                of_part = [special for _ in parts]
            else:
                of_part = [p.destructor if special == cls.destructor else p.constructor for p in parts]
            self._made[name] = any(self.has(part, own) for part, own in zip(parts, of_part, strict=True))
        return self._made[name]

    def declares_copy(self, cls: Class, special: str) -> bool:
        """Whether a class declares a copy or move constructor or assignment: it takes an object of the class, and no
        template is one (C++17, 15.8.1 [class.copy.ctor], 15.8.2 [class.copy.assign]).
        """
        listed = self.parameters_at(special, 0, 1) or []
        of_class = [p for p in listed if self.class_of(p.type) is cls]
        return special in cls.methods and any(p.by_reference or special == ASSIGNMENT for p in of_class)

    def ends_idly(self, cls: Class) -> bool:
        """Whether an object of a class ends without doing anything: its destructor and those of its parts are empty."""
        if cls.destructor in cls.methods and not cls.idle:
            return False
        return all(self.ends_idly(part) for _, part, _ in self.parts(cls))

    def implicit(self) -> Iterator[tuple[Class, str]]:
        """The constructors, destructors and assignments of this file's classes that the compiler writes."""
        for cls in {id(cls): cls for cls in self.classes.values()}.values():
            for special in (cls.constructor, cls.destructor, ASSIGNMENT):
                assigned = cls.assigned or not self.declares_copy(cls, ASSIGNMENT)
                beside = {cls.constructor: cls.defaulted, cls.destructor: cls.ended, ASSIGNMENT: assigned}[special]
                written = special in cls.methods and not beside
                starts_null = special == cls.constructor and cls.null and cls.methods
                if not written and (starts_null or self.has(cls, special)):
                    yield cls, special

    def parts(self, cls: Class) -> list[tuple[str, Class, str]]:
        """The bases (under the empty name) and the members of a class that are objects of classes, or arrays of them:
        of those also how many elements they have. Not those of a union: nothing runs on them unless it is written
        (C++20, 11.9.3 [class.base.init] 9, 11.4.7 [class.dtor] 12).
        """
        found = [
            ("", base, "") for name in cls.bases if (base := self._part(name, cls)) is not None and base is not cls
        ]
        for name, kind in cls.fields.items():
            element, count = elements(kind)
            member = self._part(element, cls) if not is_pointer(element) else None
            if member is not None and member is not cls and name not in cls.unions:
                if count == "?":  # the same for its constructor and its destructor
                    count = cls.extents.get(name) or f"?@{cls.start}"
                found.append((name, member, count))
        return found

    def rows_in(self, cls: Class) -> Iterator[Class]:
        """The classes of the objects in vectors of an object of a class, where these end where that is lowered."""
        for _, part, count in self.parts(cls):
            if count == IN_A_ROW:
                yield part
            yield from self.rows_in(part)

    def _part(self, kind: str, cls: Class) -> Class | None:
        """The class of a base or a member of a class, be it seen or not."""
        return self.class_of(kind, cls.name) or self.unseen(kind, cls.name)

    def acts(self, value: Node, kind: str, cls: Class, text: bytes) -> bool:
        """Whether the initializer of a data member of this type calls something, or names what is a pointer, a handle,
        an object or memory of the device.
        """
        if not is_pointer(kind) and self.class_of(kind, cls.name) is not None:
            return True  # a constructor makes it
        written = _STRINGS.sub("", text_of(value, text))
        if self._is_one_of_an_enumeration(written, kind, cls):
            return False
        named = set(WORDS.findall(written)) - _CONSTANTS
        if (self.may_have_unseen_macros() and named) or (named and _CALLS.search(written)):
            return True
        words = [word for word in named if not word.isupper() or self._is_no_constant(word, cls)]
        if words and not (is_number(kind) or _ENUMERATION.fullmatch(kind)):
            return True
        return any(word in self.acting or self._leads(word, cls) for word in words)

    def _is_no_constant(self, word: str, cls: Class) -> bool:
        """Whether a word in capital letters, as those of constants and macros are, is another name."""
        if word in self.acting or self.class_of(word, cls.name) is not None:
            return True
        return self.global_named("::" + word) is not None

    def _is_one_of_an_enumeration(self, written: str, kind: str, cls: Class) -> bool:
        """Whether an initializer is the name of an enumerator, and the type that of an enumeration: a constant, which
        is a number (C++17, 10.2 [dcl.enum] 1 and 5).
        """
        name = _QUALIFIERS.sub("", written.strip("={} "))
        seen = [self] if self.visible is None else [self, self.visible]
        types = set[str]().union(*(one.enumerations for one in seen))
        return (
            self.is_enumerator(name)
            and name not in self.acting
            and _QUALIFIERS.sub("", kind) in types
            and self.meanings(kind) == (kind,)
            and self.global_named("::" + name) is None
            and not any(name in one.fields for one in (cls, *self.lineage(cls.name)))
            and not self.may_have_unseen_macros()
        )

    def _leads(self, word: str, cls: Class) -> bool:
        """Whether a name in a class means more than a number of the host."""
        if self.class_of(word, cls.name) is not None:
            return True
        for one in (cls, *self.lineage(cls.name)):
            if word in one.fields:
                return not self.means_number(one.fields[word])
        variable = self.global_named("::" + word)
        return variable is not None and (variable.space != "host" or not self.means_number(variable.type))

    def lineage(self, name: str | None) -> Iterator[Class]:
        """A class and those of its bases that the file defines."""
        own = (self.class_named(name) or self.class_of(name)) if name else None
        if own is not None:
            yield from self._and_bases(own)

    def _and_bases(self, own: Class) -> Iterator[Class]:
        seen: set[int] = set()
        queue = [own]
        while queue:
            current = queue.pop(0)
            if id(current) not in seen:
                seen.add(id(current))
                yield current
                # a base is looked up around the class (C++17, 13 [class.derived] 2)
                outer = current.name.rpartition("::")[0] or "::"
                queue += [
                    base
                    for name in current.bases
                    if not self._is_parameter(name, current.name) and (base := self.class_of(name, outer)) is not None
                ]


def _arguments(text: bytes) -> Iterator[bytes]:
    """The names of the types that stand among the arguments of templates."""
    for match in _ARGUMENT.finditer(text):
        end = match.end()
        if text[end : end + 1] == b"<" and text[match.start() - 1 : match.start()] == b",":
            depth = 0
            for found in _ANGLES.finditer(text, end):
                depth += 1 if found[0] == b"<" else -1
                if depth == 0 or found[0] in b";{":
                    end = found.end()
                    break
            if _NAMED.match(text, end):
                continue  # a parameter of a function: `(int n, Buffer<T> &b)`
        yield match[1]


def is_given_its_deleter(kind: str) -> bool:
    """Whether a type is that of a `std::unique_ptr` whose deleter is a pointer to a function."""
    written = _owner_of(kind)
    return len(written) == 2 and _FUNCTION_POINTER.fullmatch(written[1]) is not None


def _owner_of(kind: str) -> tuple[str, ...]:
    """What a `std::unique_ptr` owns, and its deleter if that is written; empty for any other type, and where these are
    made of templates.
    """
    of = Type.of(kind)
    is_owner = of.library.name == "unique_ptr" and not of.marks and len(of.arguments) <= 2
    return of.arguments if is_owner and not any("<" in one for one in of.arguments) else ()


def are_alike(kinds: Collection[str]) -> bool:
    """Whether types of numbers are the same one, or all are floating ones."""
    return len(set(kinds)) == 1 or all(map(is_floating, kinds))


def _shown(kind: str, hidden: frozenset[str]) -> str:
    """A type as written, `auto` where it is a parameter of a template."""
    parts = _TYPE.fullmatch(kind) if hidden else None
    return f"{parts[1]}auto{parts[4]}" if parts is not None and parts[3] in hidden else kind
