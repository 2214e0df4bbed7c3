"""What a text of C++ runs when a program starts: what stands outside of functions, less what is known to run nothing.

Known are definitions and declarations of functions, types and templates, and variables without an initializer whose
type is no class (C++17, 6.6.2 [basic.start.static]). Whether a name is that of a type, and what a macro stands for, one
text does not tell: what depends on that is `Doubtful`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

Span = tuple[int, int]

PASTED = b"##"
"""Stands in the words of a macro that makes names of parts of names."""
DECLARES = b"extern()"
"""Stands in the words of a macro that declares what it is given."""

_SCOPES = frozenset(
    "translation_unit declaration_list namespace_definition linkage_specification preproc_if preproc_ifdef "
    "preproc_else preproc_elif preproc_elifdef".split()
)
_OF_SCOPES = ("name", "value", "condition")  # what a scope is called, the language of a linkage, what an `#if` asks
_RUN_NOTHING = frozenset(
    "comment preproc_def preproc_function_def preproc_include preproc_call using_declaration alias_declaration "
    "type_definition static_assert_declaration namespace_alias_definition concept_definition".split()
)
_DEFINE_TYPES = frozenset(
    "class_specifier struct_specifier union_specifier enum_specifier template_declaration".split()
)
_NAMES_OF_TYPES = frozenset("type_identifier qualified_identifier template_type".split())
# what is known when the program is compiled: C++17, 10.1.5 [dcl.constexpr]; CUDA C++ Programming Guide, "Device Memory
# Space Specifiers"
_CONSTANT = frozenset((b"constexpr", b"constinit", b"__device__", b"__constant__", b"__managed__", b"__shared__"))
_OF_NUMBERS = frozenset("primitive_type sized_type_specifier enum_specifier".split())
_NAMES = frozenset(
    "identifier qualified_identifier operator_name destructor_name field_identifier template_function".split()
)
# `a * b`, `a & b`, `a[0]` and `a(b)` are parameters or expressions, by what `a` is (C++17, 9.8 [stmt.ambig])
_MAY_BE_OPERATORS = frozenset(
    "pointer_declarator reference_declarator abstract_array_declarator abstract_function_declarator array_declarator "
    "parenthesized_declarator function_declarator abstract_parenthesized_declarator".split()
)
_OBJECTS = frozenset(("identifier", "field_identifier", "qualified_identifier", "array_declarator"))
_OF_FUNCTIONS = frozenset("type_qualifier noexcept trailing_return_type ref_qualifier virtual_specifier".split())
_ATTRIBUTE = re.compile(
    rb"\b__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\)|\[\[[^][]*\]\]|\b__declspec\s*\([^()]*\)"
    rb"|\b(?:__)?(?:alignas|align__|launch_bounds__)\s*\([^()]*\)|\bextern\s*\"C\"\s*\{?|\bnamespace\b[\s\w:]*\{"
)
_MAY_DEFINE = re.compile(rb"[A-Za-z_]\w*\s*\(|[{;]|##|(?<![=!<>])=(?!=)")
_OF_C = re.compile(
    rb"(?:cu[a-z]*[A-Z]|CU)\w*\Z|(?:texture|surface)\Z|(?:char|short|int|long|float|double)\d\Z|size_t\Z"
)
_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_SPECIFIER = re.compile(
    rb"(?:__\w+|static|extern|inline|const|constexpr|virtual|explicit|friend|unsigned|signed|long|short|int|char|float"
    rb"|double|bool|void|auto|volatile|restrict|template|typename|class|struct|enum|union|public|private|protected"
    rb"|noexcept|final|override|thread_local|mutable|typedef|using|namespace|std|size_t|default|delete|sizeof)\Z"
)


_KNOWN_TYPE = re.compile(
    rb"\w+_t\Z|cl_\w+\Z|GL[a-z]+\Z|MPI_[A-Z][a-z]\w*\Z|FILE\Z|va_list\Z|dim3\Z|(?:u?char|u?short|u?int|u?long|float|double)\d\Z"
    rb"|cu(?:da|blas|fft|rand|sparse|solver|dnn)?[A-Z]\w*(?:Prop|Params?|Attributes?|Handle|Descriptor|Exec|Info)\Z"
    rb"|w?string(?:_view|stream)?\Z|vector\Z|(?:unordered_)?(?:multi)?(?:map|set)\Z|pair\Z|list\Z|deque\Z|array\Z|tuple\Z"
    rb"|[io]?f?stream\Z|[io]stringstream\Z|ostream\Z|istream\Z|complex\Z|(?:shared|unique|weak)_ptr\Z|function\Z|thread\Z"
    rb"|mutex\Z|initializer_list\Z|bitset\Z|optional\Z|span\Z"
)
"""Types of the language's libraries and of others, by their names."""


class Doubtful(NamedTuple):
    """A part of a text that runs something if a macro of its `words` does, or if none of `types` is the name of a type:
    with these it declares a function, and otherwise it makes what it `declares`.
    """

    words: frozenset[bytes]
    types: frozenset[bytes] = frozenset()
    declares: bytes = b""


def may_define(macro: bytes) -> bool:
    """Whether the text of a macro may be more than an attribute, specifiers, a name or a number."""
    text = _ATTRIBUTE.sub(b" ", macro)
    if _MAY_DEFINE.search(text) is not None:
        return True
    return sum(_SPECIFIER.match(word) is None for word in _WORD.findall(text)) > 1


def declares(macro: bytes) -> bool:
    """Whether the text of a macro declares something that is defined elsewhere."""
    return re.search(rb"\bextern\b", _ATTRIBUTE.sub(b" ", macro)) is not None


def parts(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """What stands outside of functions and classes, in namespaces and in branches of `#if` too."""
    for child in root.named_children:
        if child.type in _SCOPES:
            yield from parts(child)
        elif not any(root.child_by_field_name(field) == child for field in _OF_SCOPES):
            yield child


def members(body: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The members of a class, in branches of `#if` too."""
    for child in body.named_children:
        if child.type in _SCOPES:
            yield from members(child)
        else:
            yield child


def runs(part: tree_sitter.Node) -> bool | Doubtful:
    """Whether a part of a text outside of functions runs something: a `Doubtful` says no more of it than what it
    depends on, its words are the reader's.
    """
    if part.type in _RUN_NOTHING:
        return False
    if part.type in _DEFINE_TYPES:
        return Doubtful(frozenset())
    if part.type == "function_definition":
        return is_of_macro(part) or Doubtful(frozenset())
    kind = part.child_by_field_name("type")
    if part.type == "template_instantiation":  # of a class its static members are initialized, of a function nothing is
        declarator = part.child_by_field_name("declarator")
        return Doubtful(frozenset()) if declarator is not None and function_of(declarator) is not None else True
    if part.type not in ("declaration", "field_declaration") or kind is None:
        return True
    if part.child_by_field_name("default_value") is not None:  # of a class that could not be read as one
        return True
    doubts = Doubtful(frozenset())
    if any(child.text in _CONSTANT for child in part.children):
        return doubts
    is_extern = any(child.type == "storage_class_specifier" and child.text == b"extern" for child in part.children)
    for declarator in part.children_by_field_name("declarator"):
        function = function_of(declarator)
        if function is not None:
            if types := may_make(function, kind):
                doubts = Doubtful(frozenset(), doubts.types | types, last_name(function))
        elif declarator.type == "init_declarator":
            inner = declarator.child_by_field_name("declarator")
            is_object = not _is_plain(kind) and inner is not None and inner.type != "pointer_declarator"
            if is_object or not _is_number(declarator.child_by_field_name("value")):
                return True
        elif not is_extern and not _is_plain(kind) and declarator.type in _OBJECTS:
            return True
    return doubts


def _is_plain(kind: tree_sitter.Node) -> bool:
    """Whether what is of a type runs nothing when it is made: numbers, and what CUDA's interfaces to C name."""
    if kind.type in _OF_NUMBERS:
        return True
    return kind.type in ("type_identifier", "template_type") and _OF_C.match(last_of_type(kind)) is not None


def _is_number(value: tree_sitter.Node | None) -> bool:
    literals = ("number_literal", "char_literal", "string_literal", "true", "false", "null")
    return value is not None and (
        value.type in literals or (value.type == "initializer_list" and all(map(_is_number, value.named_children)))
    )


def is_of_macro(definition: tree_sitter.Node) -> bool:
    """Whether what reads as a function begins with a macro: `TEST(a, b) { … }`."""
    function = definition.child_by_field_name("declarator")
    if definition.child_by_field_name("type") is not None or function is None:
        return False
    name = function.child_by_field_name("declarator")
    return name is not None and name.type == "identifier" and name.text != b"main"


def function_of(declarator: tree_sitter.Node) -> tree_sitter.Node | None:
    """The declarator of a function in another one: not in that of a pointer to a function."""
    inner: tree_sitter.Node | None = declarator
    while inner is not None and inner.type in ("pointer_declarator", "reference_declarator", "function_declarator"):
        named = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
        if inner.type == "function_declarator" and named is not None and named.type in _NAMES:
            return inner
        inner = named
    return None


def may_make(function: tree_sitter.Node, kind: tree_sitter.Node) -> frozenset[bytes]:
    """The names that would have to be those of objects if `T f(a, b * c)` declared an object that is made of them;
    nothing if it declares a function (C++17, 11.2 [dcl.ambig.res]).
    """
    parameters = function.child_by_field_name("parameters")
    of_nothing = kind.text == b"void" and function.parent == kind.parent
    if of_nothing or parameters is None or not parameters.named_children:
        return frozenset()
    if any(child.type in _OF_FUNCTIONS for child in function.children):
        return frozenset()
    names = set[bytes]()
    for one in parameters.named_children:
        if one.type == "comment":
            continue
        named, declarator = one.child_by_field_name("type"), one.child_by_field_name("declarator")
        if one.type not in ("parameter_declaration", "optional_parameter_declaration") or named is None:
            return frozenset()
        if named.type not in _NAMES_OF_TYPES or any(child.type == "type_qualifier" for child in one.children):
            return frozenset()
        if declarator is not None and declarator.type not in _MAY_BE_OPERATORS:
            return frozenset()
        names.add(last_of_type(named))
    return frozenset(names)


def may_be_object(names: Iterable[bytes], types: AbstractSet[bytes]) -> bool:
    """Whether all of the names that `may_make` has found may be those of objects, where these are known types."""
    given = frozenset(names)
    return bool(given) and types.isdisjoint(given) and not any(map(_KNOWN_TYPE.match, given))


def last_of_type(named: tree_sitter.Node) -> bytes:
    """The name of a type without its scopes and its arguments."""
    node: tree_sitter.Node | None = named
    while node is not None and node.type in ("qualified_identifier", "template_type"):
        node = node.child_by_field_name("name")
    return (node.text or b"") if node is not None else b""


def last_name(function: tree_sitter.Node) -> bytes:
    named = function.child_by_field_name("declarator")
    found = _WORD.findall((named.text or b"") if named is not None else b"")
    return found[-1] if found else b""
