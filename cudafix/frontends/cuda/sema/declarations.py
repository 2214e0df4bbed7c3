"""What a file declares: classes, globals, functions, kernels, enumerators; and how a declarator reads.

A file sees what the headers declare that it includes (`visible`). A class that is not seen has no entry, and its
members are then unknown names.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from tree_sitter import Node

from cudafix.frontends.cuda.sema.lookup import Lookup, Names, Use, renaming, using
from cudafix.frontends.cuda.sema.references import OPEN, References, gives_references, other_names
from cudafix.ir import Const, GlobalVar, Opaque, Param, Span, found_as, template_arguments
from cudafix.models.number_types import is_floating, is_number
from cudafix.models.types import is_plain, is_standard

ASSIGNMENT = "operator="
TYPE_NODES = frozenset(
    (
        "primitive_type type_identifier sized_type_specifier qualified_identifier template_type struct_specifier "
        "class_specifier union_specifier enum_specifier placeholder_type_specifier decltype dependent_type"
    ).split()
)
CLASS_NODES = frozenset(("struct_specifier", "class_specifier", "union_specifier"))
_DECLARATORS = frozenset(
    (
        "identifier field_identifier type_identifier qualified_identifier destructor_name operator_name operator_cast "
        "template_function structured_binding_declarator"
    ).split()
)
_TYPE_NAMES = re.compile(
    rb"\busing\s+(\w+)\s*=|\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]|\benum\s+(\w+)|\btypedef\b[^;{}()]*?(\w+)\s*;"
    rb"|\btypedef\b[^;{}()]*\(\s*(?:\w+\s+|(?:\w+::)+)?\*\s*(?:const\s+)?(\w+)\s*\)\s*\("  # a pointer to a function
)
_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)(?:\s+|\s*\.\.\.\s*)(\w+)\s*[,>=]")
# its cv-qualifiers, the key of a class, the name, and what is behind it
_TYPE = re.compile(
    r"((?:(?:const|volatile|typename)\s+)*)((?:(?:struct|class)\s+)?)((?:::)?[A-Za-z_]\w*(?:::\w+)*)(.*)", re.DOTALL
)
# `using N::C;`
_BROUGHT = re.compile(rb"\busing\s+(?:typename\s+)?((?:::)?(?:\w+\s*::\s*)+(\w+))\s*;")
# `using D = C;`, `typedef C D;`: other names of a type that has a name itself
_ALIASES = re.compile(
    rb"\busing\s+(\w+)\s*=\s*(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s*;"
    rb"|\btypedef\s+(?:struct\s+|class\s+|typename\s+)?([\w:]+(?:\s*<[^;{}()]*>)?)\s+(\w+)\s*;"
)
_COMPOUND = re.compile(rb"\busing\s+(\w+)\s*=[^;{}=()]*[\]*]\s*;")
# `enum class E`, `typedef enum { A } E;`, `typedef float Row[4];`
_OTHER_TYPES = re.compile(
    rb"\benum\s+(?:(?:class|struct)\s+)?(\w+)|\btypedef\s+enum\b[^{};]*\{[^{}]*\}\s*(\w+)"
    rb"|\btypedef\b[^;{}()]*?(\w+)\s*\[[^;{}]*;"
)
_CALLED = re.compile(r"(operator\s*(?:\(\s*\)|[^\w\s(]+)|\w+)\s*\(")
_WIDTH = re.compile(rb"\s*:(?!:)\s*(\w+|\S)")
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
_LIBRARIES = frozenset(("std", "thrust", "cub", "cuda"))
_NAMESPACE = re.compile(r"\b(?!inline\b)[A-Za-z_]\w*")
# `using X = …decltype(…)…;`: a type that may be any
_MEASURED = re.compile(
    rb"\busing\s+(\w+)\s*=[^;]*\b(?:decltype|typeof)\b|\btypedef\b[^;]*\b(?:decltype|typeof)\b[^;]*?(\w+)\s*;"
)
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
# a parameter of a template that may be a function: `template <auto F>`, `template <void (*F)(int *)>`
_FUNCTION_PARAMETER = re.compile(
    rb"\btemplate\s*<(?=[^;{}]*?[<,]?\s*(?:auto\s*(?:\.\.\.\s*)?(\w+)\s*[,>=]|[^;{},]*\(\s*[*&]\s*(\w+)\s*\)\s*\())"
)
_ANGLES = re.compile(rb"[<>;{]")
_NAMED = re.compile(rb"[\s&*]*[A-Za-z_]")
_ARRAY_MADE = re.compile(rb"\bmake_(?:unique|shared)\w*\s*<\s*([\w:]+)\s*\[")
# `typedef A Row[4];`, `using Row = A[4];`: the elements of a variable of such a type are not lowered
_ARRAY_NAMED = re.compile(
    rb"\b(?:typedef|using\s+\w+\s*=)\s*(?:(?:const|struct|class)\s+)*([A-Za-z_][\w:]*)(?:\s*<[^;{}]*>)?(?:\s+\w+)?\s*\["
)
_LOCAL_CLASS = re.compile(rb"\b(?:struct|class|union)\b[^;(){}]*\{")
_CALLS = re.compile(r"[\w>\])}]\s*\(")  # not the parenthesis of `n - (k - 1)`
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
WORDS = re.compile(r"\b[A-Za-z_]\w*")
_CONSTANTS = frozenset(("nullptr", "true", "false", "sizeof", "std", "numeric_limits", "max", "min"))
_SPACES = {"__device__": "device", "__constant__": "constant", "__managed__": "managed"}
_OWNS = re.compile(rb"\bunique_ptr\s*<\s*([\w:]+)\s*>")
_OWNER = re.compile(r"(?:std::)?unique_ptr\s*<([^<>,]*)(?:,([^<>,]*))?>")
_STD_ARRAY = re.compile(r"(?:std::)?array\s*<(.*),([^,<>]*)>")
_OPERATOR = re.compile(r"\boperator\s+(?=[^\w\s])")
_HOLDERS = tuple(
    f"{name}<"
    for name in (
        "std::vector vector thrust::host_vector std::array std::unique_ptr std::shared_ptr std::span std::optional"
    ).split()
)
_MAP = re.compile(r"std::(?:unordered_)?map\s*<")
_BLANKS = re.compile(rb"\s+")
_BESIDE = re.compile(r" +(?=[^\w ]|$)|(?<=[^\w ]) +|^ +")
_NULL = frozenset(("", "0", "NULL", "nullptr"))
_HOLDS = re.compile(r"\*\Z|\Acu(?!daEvent_t)\w+\Z")  # pointers, streams, handles; of an event null says nothing
_DISAMBIGUATOR = re.compile(r"\btemplate\s+(?!<)")
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
WIDE = re.compile(
    r"\b(?:long|size_t|u?int64(?:_t)?|__int64|u?intptr_t|ptrdiff_t|ulong|uint64)\b"
)  # a pointer fits into it
_ENUMERATION = re.compile(  # of CUDA's libraries: what is only named there leads nowhere
    r"cudaDataType(?:_t)?|cudaMemcpyKind|cufftType(?:_t)?|curandRngType(?:_t)?"
    r"|cu(?:blas(?:Lt)?|dnn|sparse|solver)\w*(?:ComputeType|DataType|Operation|Algo|Mode|Type|Format|Order|Math)_t"
)
_INTEGER = re.compile(r"([0-9]+)[uUlL]*")
CONSTANT = frozenset(("const", "constexpr"))
# what may be a class: no type of the standard library, of CUDA and its libraries, and no handle
_CLASS = re.compile(
    r"(?!std::(?!experimental\b)|thrust::|cub::|cuda|cu[A-Z]|CU[a-z]|CUDA_|CUTE?_|nccl|nv|Npp|NPP|MPI_|auto\b|void\b|decltype\b"
    r"|\w+_t\b|pthread_|FILE\b|dim3\b|chrono::|(?:duration|time_point)\s*<)[A-Za-z_]"
)
# the templates of the standard library that make and end objects of the first of their arguments, of two, or of all
MAKES_OBJECTS = re.compile(
    r"(?:std::|thrust::)?(?:(host_vector|vector|deque|(?:forward_)?list|array|(?:unordered_)?(?:multi)?set|optional|queue|stack"
    r"|priority_queue|unique_ptr|shared_ptr)|((?:unordered_)?(?:multi)?map)|pair|tuple|variant)\s*<.*>",
    re.DOTALL,
)
# integers in each class of the standard library, and its types of elements (C++17, [container.requirements.general])
_OF_CLOCKS = frozenset(("time_point", "duration", "rep", "period"))  # C++17, 23.17.3 [time.clock.req]
_SIZES = frozenset(("size_type", "difference_type"))
_OF_ELEMENTS = re.compile(r"std::\w+\s*<.*>::(?:value|element|mapped|key|first|second)_type(?: const)?", re.DOTALL)
SPECIFIERS = re.compile(r"^(?:(?:typename|struct|class|const|volatile)\s+)+")
# C++17, 23.15.7 [meta.trans]: those that are one of the types that they are given, without references
_TRAIT = re.compile(
    r"(?:std::)?(?:remove_(?:(?:all_)?(p)ointer|c?v?ref|reference|cv|const|volatile|extent)|decay|common_type"
    r"|type_identity|(conditional|enable_if))(?:_t\s*<.*>|\s*<.*>::type)",
    re.DOTALL,
)
_NAME_OF_TYPE = re.compile(r"[\w:]+(?:\s*<.*>(?:::\w+)*)?(?: const)?", re.DOTALL)
# Objects of the standard library whose call makes a number and touches no memory but their own.
NUMBER_OBJECT = re.compile(
    r"(?:std::|thrust::)?(?:random::)?(?:\w+_distribution|(?:random|default_random)\w*|mt19937\w*|minstd_\w*|\w*rand\w*_engine"
    r"|\w+_engine|ranlux\w*|knuth_b|hash|less|greater|plus|minus|multiplies|minimum|maximum)\b"
)


def element_type(kind: str) -> str:
    """A type without its array dimensions, as the IR names it."""
    while kind.endswith("[]"):
        kind = kind[:-2]
    return kind


def elements(kind: str) -> tuple[str, str]:
    """The type of the elements of an array or `std::array` and how many there are: `?` if the type does not tell, empty
    for all other types.
    """
    if kind.endswith("]"):
        return element_type(kind).rstrip(), "?"
    if found := _STD_ARRAY.fullmatch(kind):
        return found.group(1).strip(), found.group(2).strip()
    return kind, ""


def is_pointer(kind: str) -> bool:
    return kind.endswith(("*", "]"))


def pointee(kind: str) -> str:
    """The type of `*x` and `x[i]` for an `x` of this type; empty if it is not known."""
    if kind.endswith("]"):
        return kind[: kind.rindex("[")].rstrip()
    if kind.endswith("*"):
        return kind[:-1].rstrip()
    if _MAP.match(kind):
        return second_argument(kind)
    if kind.startswith(_HOLDERS) and kind.endswith(">"):
        return template_arguments(kind)[0].removesuffix("[]").strip()
    return ""


def second_argument(kind: str) -> str:
    """The second template argument of a type as written; empty if it has only one."""
    return (*template_arguments(kind), "", "")[1]


def extent(declarator: Node) -> Node | None:
    """The size of an array of one dimension, as far as it is written."""
    while declarator.type != "array_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return None
        declarator = inner
    inner = declarator.child_by_field_name("declarator")
    return declarator.child_by_field_name("size") if inner is not None and "array" not in inner.type else None


@lru_cache(maxsize=1 << 16)
def plain_name(name: str) -> str:
    """A qualified name without its template arguments: `A<T>::f` is `A::f`, and so is `A<T>::template f`."""
    name = _DISAMBIGUATOR.sub("", name)
    while "<" in name and not name.startswith("operator"):
        shorter = _TEMPLATE_ARGUMENTS.sub("", name)
        if shorter == name:
            return name
        name = shorter
    if "operator" in name:
        return name.replace(" ", "")
    return _BESIDE.sub("", name)  # two words are no name, but stand where text is broken: `int main`


def text_of(node: Node, text: bytes) -> str:
    return text[node.start_byte : node.end_byte].decode("utf-8", "replace")


def tidy(node: Node, text: bytes) -> str:
    return _BLANKS.sub(b" ", text[node.start_byte : node.end_byte]).decode("utf-8", "replace").strip()


@dataclass(slots=True)
class Declared:
    """One declarator. `type` has the stars of the declarator and `[]` for each array dimension; not the `&`. `open`: it
    may be a reference, too.
    """

    name: str
    type: str
    array: bool
    reference: bool
    node: Node
    parameters: Node | None = None  # of a function declarator
    pointer_to_function: bool = False
    bindings: tuple[Node, ...] = ()  # the names of a structured binding
    open: bool = False

    @property
    def may_refer(self) -> bool:
        return self.reference or self.open


def integer(value: Node | None, one: Declared, text: bytes) -> str:
    """The literal that initializes an integer; nothing where it is another value, or another variable."""
    if value is None or one.array or one.reference or not is_number(one.type):
        return ""
    found = _INTEGER.fullmatch(text_of(value, text))
    return found[1] if found is not None else ""


def _of_bits(kind: str, declarator: Node, text: bytes) -> str:
    """The type of a member: of a bit-field (C++17, 12.2.4 [class.bit]) that of a number with so many bits, none where
    the width is not a literal. Where the type does not say whether it has a sign, it is taken to have one: that of an
    enumeration too.
    """
    width = _WIDTH.match(text, declarator.end_byte)
    if width is None or kind in ("bool", "_Bool"):
        return kind
    bits = int(width[1]) if width[1].isdigit() else 0
    unsigned = "unsigned" in kind or "uint" in kind
    return kind if bits >= 32 else f"{'u' * unsigned}int{bits}_t"


def declared(base: str, node: Node, text: bytes) -> Declared | None:
    """What a declarator of the type `base` declares (see `base_type`); None if it is not understood."""
    kind = base.removesuffix(OPEN).removesuffix(" &")
    array, reference, parameters, nested = 0, False, None, False
    is_reference, is_open = base.endswith(" &"), base.endswith(OPEN)  # of which there are no pointers and no arrays
    while True:
        name = node.type
        if name in _DECLARATORS:
            bindings: tuple[Node, ...] = ()
            if name == "structured_binding_declarator":
                bindings = tuple(child for child in node.children if child.type == "identifier")
            elif name == "operator_cast":
                parameters = node
                is_reference = is_open = False
                meant = text[node.start_byte : node.end_byte].decode("utf-8", "replace").partition("(")[0]
                kind = " ".join(meant.removeprefix("operator").split())
            label = _OPERATOR.sub("operator", text[node.start_byte : node.end_byte].decode("utf-8", "replace"))
            to_function = nested and parameters is not None
            reference = reference or is_reference
            is_open = is_open and not reference
            kind += "[]" * array
            return Declared(label, kind, array > 0, reference, node, parameters, to_function, bindings, is_open)
        if name in ("pointer_declarator", "array_declarator"):
            is_reference = is_open = False
        if name == "pointer_declarator":
            if is_pointer(kind) or kind.startswith("cuda"):
                array = 0  # a pointer to an array (of pointers, streams or events) is none
            kind += "*" if kind.endswith("*") else " *"
        elif name == "array_declarator":
            array += 1
        elif name in ("reference_declarator", "variadic_declarator"):
            reference = reference or name == "reference_declarator"
        elif name == "function_declarator":
            if parameters is None:
                parameters = node.child_by_field_name("parameters")
        elif name == "parenthesized_declarator":
            nested = True
        elif name not in ("init_declarator", "attributed_declarator"):
            return None
        inner = node.child_by_field_name("declarator")
        if inner is None:
            named = [child for child in node.named_children if child.type.endswith(("declarator", "identifier"))]
            if not named:
                return None
            inner = named[-1]
        node = inner


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
                constant = "*" not in written and base == kind and any(map(_is_const, child.children))
                default = _default(child, kind, text)
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
                one.reference and not base.endswith("&") and "*" not in kind and any(map(_is_const, child.children))
            )
            default = _default(child, kind, text)
            found.append((Param(one.name, kind, one.may_refer, default, optional, constant, rvalue, one.open), child))
    return tuple(found)


def _is_const(node: Node) -> bool:
    return node.type == "type_qualifier" and node.child_count > 0 and node.children[0].type == "const"


def default_value(param: Node) -> Node | None:
    """The default argument of a parameter: the grammar takes `{}` for a literal of a type that is missing."""
    value = param.child_by_field_name("default_value")
    kind = value.child_by_field_name("type") if value is not None else None
    return value.child_by_field_name("value") if value is not None and kind is not None and kind.is_missing else value


def _default(param: Node, kind: str, text: bytes) -> Const | None:
    value = default_value(param)
    if value is not None and value.type in ("number_literal", "null"):
        return Const(text_of(value, text))
    if value is not None and text_of(value, text) == "{}" and (is_pointer(kind) or kind == "cudaStream_t"):
        return Const("nullptr")
    return None


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
    unseen: bool = False  # nothing is known of it but its name
    deleter: str = ""  # of a smart pointer: the function that is called with what it holds

    def overlaid(self, name: str) -> list[str]:
        """The data members that share their memory with one."""
        own = self.unions.get(name, {})
        return [other for other, at in self.unions.items() if any(own.get(n, m) != m for n, m in at.items())]

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


# `S::~S() = default;` at namespace scope (C++17, 11.4.2 [dcl.fct.def.default])
DEFAULTED_DESTRUCTOR = re.compile(rb"((?:::\s*)?(?:\w+\s*::\s*)+~\s*\w+)\s*\(\s*(?:void)?\s*\)\s*=\s*default\s*;")


@cache
def _class_named(kind: str) -> str:
    """The name in a type as written that may be that of a class; empty where it is a number, one of the types that the
    tables know, or no plain name.
    """
    kind = SPECIFIERS.sub("", kind).rstrip().removeprefix("::")
    name = plain_name(kind)
    known = is_number(kind) or NUMBER_OBJECT.match(kind) or is_plain(name) or ("::" not in name and is_standard(name))
    return "" if known or _NAME_OF_TYPE.fullmatch(kind) is None else kind


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
    enumerators: set[str] = field(default_factory=set)
    friends: set[str] = field(default_factory=set)  # functions that classes declare as theirs, by last name component
    prototypes: set[str] = field(default_factory=set)
    # functions outside of classes that are declared, by last name component: how many parameters, and whether they
    # have C linkage
    outside: dict[str, set[tuple[int, bool]]] = field(default_factory=dict)
    types: frozenset[str] = frozenset()  # names of types that are no classes: aliases and template parameters
    parameters: dict[str, frozenset[str]] = field(default_factory=dict)  # of templates, by what they declare
    parameters_elsewhere: frozenset[str] = frozenset()  # of templates of which it is not seen what they declare
    brought: set[str] = field(default_factory=set)  # the last name components of using-declarations
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the types that a name stands for, as written
    compound: frozenset[str] = frozenset()  # aliases of pointers and arrays (C++17, 6.9.2 [basic.compound])
    defined: frozenset[str] = frozenset()  # names of enumerations, of arrays, and of pointers to classes
    macros: frozenset[str] = frozenset()  # the other macros without parameters
    spelled: dict[str, str] = field(default_factory=dict)  # the macros without parameters that may name a type
    renames: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)  # see `index`
    numbers: dict[str, str] = field(default_factory=dict)  # other names of plain numbers, which mean nothing else
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
    members: dict[tuple[str, str], Node] = field(default_factory=dict)  # the initializers of `initialized` members
    given: frozenset[str] = frozenset()  # the parameters of templates that may be functions
    # namespaces in which names of a namespace are found too
    namespaces: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    owners: dict[str, Class] = field(default_factory=dict)  # smart pointers that are named
    _made: dict[str, bool] = field(default_factory=dict)  # constructors and destructors, by qualified name
    _members: dict[str, bool] = field(default_factory=dict, init=False)  # see `is_member`
    _unseen: dict[str, Class] = field(default_factory=dict, init=False)
    # see `class_of` and `_named_alike`
    _classes: dict[tuple[str, str, int, int, int], Class | None] = field(default_factory=dict, init=False)
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
            found.enumerators |= header.enumerators
            found.prototypes |= header.prototypes
            for name, declared_as in header.outside.items():
                found.outside.setdefault(name, set()).update(declared_as)
            found.types |= header.types
            found.compound |= header.compound
            found.defined |= header.defined
            found.spelled.update(header.spelled)
            found.macros |= header.macros
            for name, hidden in header.parameters.items():
                found.parameters[name] = found.parameters.get(name, frozenset()) | hidden
            found.parameters_elsewhere |= header.parameters_elsewhere
            found.brought |= header.brought
            other_types |= header.types - header.numbers.keys()
            for name, kind in header.numbers.items():
                if not _alike((found.numbers.setdefault(name, kind), kind)):
                    other_types.add(name)
            for name, others in header.namespaces.items():
                found.namespaces[name] = (*found.namespaces.get(name, ()), *others)
            for name, kinds in header.aliases.items():
                found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), *kinds)))
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
        empty: dict[str, Any] = {"functions": [], "initializers": [], "evaluating": [], "members": {}, "local": {}}
        return replace(self, **empty, visible=None, inside="", _made={})

    def renamed(self, one: Declared) -> Declared:
        """A function by the name that a macro puts in the place of the written one: macros know no scopes (C++17, 19.3
        [cpp.replace] 9).
        """
        scope, separator, last = one.name.rpartition("::")
        names = [other for at, other in self.renames.get(last, ()) if at <= one.node.start_byte]
        return replace(one, name=f"{scope}{separator}{names[-1]}") if names and names[-1] else one

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
        words |= {word for text in texts for one in (_ARRAY_MADE, _ARRAY_NAMED) for word in one.findall(text)}
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
        """The constructors of the classes that these words name, be it in the body of a function."""
        local = {name for known in self.local.values() for name in known}
        for word in words:
            name = word.decode("utf-8", "replace")
            if (cls := self.class_of(name)) is not None:
                yield cls.constructor
            elif name in local:
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

    def is_compound(self, name: str) -> bool:
        """Whether a name stands for a pointer or an array wherever it is an alias."""
        both = [self, self.visible] if self.visible is not None else [self]
        return any(name in one.compound for one in both) and not any(name in one.aliases for one in both)

    def is_brought(self, name: str) -> bool:
        """Whether a using-declaration brings what has this name."""
        return name in self.brought or (self.visible is not None and name in self.visible.brought)

    @property
    def brought_classes(self) -> set[str]:
        """What using-declarations bring that has the name of a class."""
        return {name for name in self.brought if self._named_alike(name)}

    def is_seen_type(self, kind: str) -> bool:
        """Whether it is a class that is seen, an alias or a template parameter."""
        return self.names_type(kind) or self.class_of(kind) is not None

    def means_number(self, kind: str) -> bool:
        """Whether a type is a plain number, or an alias of one."""
        kind = kind.removeprefix("const ")
        return is_number(self.numbers.get(kind, kind))

    def is_declared_function(self, name: str) -> bool:
        return name in self.prototypes or (self.visible is not None and name in self.visible.prototypes)

    def is_declared_outside(self, name: str) -> bool:
        """Whether the program declares a function of this name itself, outside of classes."""
        return name in self.outside or (self.visible is not None and name in self.visible.outside)

    def declares_function(self, node: Node, one: Declared, count: int, path: str) -> None:
        """A declaration of a function outside of classes, which is no definition."""
        at: Node | None = node
        while at is not None and at.type != "linkage_specification":
            at = at.parent
        if "::" not in one.name:  # else there is another declaration (C++17, 11.3 [dcl.meaning] 1)
            self.outside.setdefault(one.name, set()).add((count, at is not None or path.endswith(".c")))

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
        fitting = [listed for listed in known if len(listed) >= count] or known
        return [listed[number] for listed in fitting if number < len(listed)] if known else None

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
        if (trait := _TRAIT.fullmatch(SPECIFIERS.sub("", kind).rstrip())) is not None:
            given = (one.rstrip("& ") for one in template_arguments(kind)[1 if trait[2] else 0 :])  # no condition
            parts = (one.rstrip("* ") if trait[1] else one for one in given)
            return any(self.is_unseen(one, around, followed) for one in parts if not one.endswith("*"))
        kind = _class_named(kind)
        if _OF_ELEMENTS.fullmatch(kind) is not None:
            return any(self.is_unseen(one, around, followed) for one in template_arguments(kind))
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
        if (makes := MAKES_OBJECTS.fullmatch(kind)) is not None:
            given = template_arguments(kind)[: 1 if makes[1] else 2 if makes[2] else None]
            return next((one for part in given if (one := self.unseen(part, around, followed)) is not None), None)
        name = plain_name(SPECIFIERS.sub("", kind).strip().removeprefix("::"))
        if meant := self._other_names(name):
            if name in followed:
                return None
            followed.add(name)
            others = (self.unseen(one, around, followed) for one in meant)
            return next((one for one in others if one is not None), None)
        if not self.is_unseen(kind, around):
            return None
        if name not in self._unseen:
            last = name.rpartition("::")[2]
            self._unseen[name] = Class(name, methods={last, f"~{last}"}, unseen=True)
        return self._unseen[name]

    @property
    def unseen_classes(self) -> frozenset[str]:
        """The names of those of which an object has been met."""
        return frozenset(self._unseen)

    def class_of(self, kind: str, around: str = "") -> Class | None:
        """The class of an object of this type as written in a function or class (`around`; the one that is lowered if
        none is given), or None if it is not seen, or not certain.
        """
        scope = around or self.inside
        if self.local and (local := self._local_class(kind, scope)) is not None:
            return local
        # while declarations are still being collected, and smart pointers named
        key = kind, scope, len(self.classes), len(self.aliases), len(self.owners)
        if key not in self._classes:
            self._classes[key] = self._outer_class(kind, scope, frozenset())
        return self._classes[key]

    def _outer_class(self, kind: str, scope: str, meant: frozenset[str]) -> Class | None:
        """A class at namespace scope, or in a class; aliases may mean each other (`meant` are those on the way)."""
        elaborated = kind.startswith(("struct ", "class "))
        name = plain_name(kind.removeprefix("struct ").removeprefix("class "))
        found = self._class_by_name(name.removeprefix("::"), "" if name.startswith("::") else scope, meant)
        last = name.rpartition("::")[2]
        if "::" not in name and not elaborated and (self._is_parameter(last, scope) and last not in meant):
            return None if found is not None else self._owner(kind)
        if found is not None and ("::" in name or elaborated):
            return found
        if last not in meant and (kinds := [one for one in self.meanings(last) if one != last]):
            inner = meant | {last}
            classes = [self._local_class(one, scope) or self._outer_class(one, scope, inner) for one in kinds]
            if found is not None:  # one of them may hide it
                return found if all(one is found for one in classes) else None
            known = [one for one in classes if one is not None]
            found = next((c for c in known if self.has(c, c.destructor)), known[0] if known else None)
        return found if found is not None else self._owner(kind)

    def _class_by_name(self, name: str, scope: str, meant: frozenset[str]) -> Class | None:
        """The class that a name means in a scope (C++17, 6.4.1 [basic.lookup.unqual], 6.4.3 [basic.lookup.qual]). Where
        headers that are not seen may open a namespace, the only one whose name ends so.
        """
        names = found_as(name, self.all_namespaces)
        around = scope
        while around.strip(":"):
            for one in names:
                if (found := self.class_named(f"{around}::{one}")) is not None:
                    return found
            inner = self.class_named(around)
            if inner is not None and "::" not in name:
                if name == around.rpartition("::")[2]:
                    return inner
                for base in self._and_bases(inner):
                    if (found := self.class_named(f"{base.name}::{name}")) is not None:
                        return found
            around = around.rpartition("::")[0]
        for one in names:
            if (found := self.class_named(one)) is not None:
                return found
        home, _, last = name.rpartition("::")
        if home:
            outer = self._outer_class(home, scope, meant) if home.rpartition("::")[2] not in meant else None
            for base in self._and_bases(outer) if outer is not None else ():
                if (found := self.class_named(f"{base.name}::{last}")) is not None:
                    return found
        ending = [
            cls
            for cls in self._named_alike(last)
            if any(cls.name.endswith(f"::{one}") for one in names)
            and self.class_named(cls.name.rpartition("::")[0]) is None
        ]
        return ending[0] if len(ending) == 1 else None

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
    ) -> None:
        """Note what a function takes and returns. A parameter of a template (one of `hidden`) is any type."""
        last = plain_name(one.name).rpartition("::")[2]
        types = (_shown(param.type, hidden) for param, _ in listed)
        params = tuple(param._replace(type=kind) for (param, _), kind in zip(listed, types, strict=True))
        self.takes.setdefault(last, []).append(params)
        self.gives.setdefault(last, set()).add(_shown(returned, hidden))
        self.refers.setdefault(last, set()).add(_shown(referred, hidden))

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

    def _owner(self, kind: str) -> Class | None:
        """The class of a `std::unique_ptr` with a deleter that is seen and holds nothing; its functions are in `owners`
        beside this file.
        """
        written = _OWNER.fullmatch(kind)
        if written is None:
            return self.owners.get(kind)
        cls = self.class_of((written[2] or written[1]).strip())
        if cls is None or not (self._deletes(cls) if written[2] is None else self._is_deleter(cls)):
            return None
        held = written[1] if written[2] is not None else ""
        name = "_".join(("unique_ptr", *WORDS.findall(held), *WORDS.findall(cls.name)))
        if name not in self.owners:
            methods = {name, f"~{name}", "get", "release", "reset"}
            special = "operator()" if held else cls.destructor
            self.owners[name] = Class(name, methods=methods, start=cls.start, deleter=f"{cls.name}::{special}")
        return self.owners[name]

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

    def sole_owner(self, described: str, deleter: str, start: int) -> Class:
        """The class of a smart pointer that is given its deleter where it is declared, of that object alone."""
        words = "_".join(WORDS.findall(described))
        same = sum(name.startswith(f"{words}_at_") and cls.start < start for name, cls in self.owners.items())
        name = f"{words}_at_{same}"  # it has to be the same when the text around it is rewritten
        self.owners[name] = Class(name, methods={name, f"~{name}", "get", "reset"}, start=start, deleter=deleter)
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
                    count = cls.extents.get(name) or f"?{cls.start}"
                found.append((name, member, count))
        return found

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
        words = [word for word in WORDS.findall(written) if not word.isupper() and word not in _CONSTANTS]
        if self.may_have_unseen_macros() and set(WORDS.findall(written)) - _CONSTANTS:
            return True
        if words and (_CALLS.search(written) or not (is_number(kind) or _ENUMERATION.fullmatch(kind))):
            return True
        return any(self._leads(word, cls) for word in words)

    def _leads(self, word: str, cls: Class) -> bool:
        """Whether a name in a class means more than a number of the host."""
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
            if len(kinds) == defined[name] and name not in classes and _alike(kinds):
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
        written = _BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        kinds = found.get(written, [known.get(written, written)])
        if is_number(kinds[-1]) and _alike(kinds):
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(kinds[-1])
    for kind, stars, new, other_new, other_kind, other_stars in _NAMES_OF_POINTERS.findall(text):
        written = _BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        pointed = found.get(written, [known.get(written, written)])[-1]
        if is_number(pointed) or pointed == "void":
            pointer = f"{pointed} {'*' * (stars or other_stars).count(b'*')}"
            found.setdefault((new or other_new).decode("utf-8", "replace"), []).append(pointer)
    return found


def _alike(kinds: Collection[str]) -> bool:
    """Whether types of numbers are the same one, or all are floating ones."""
    return len(set(kinds)) == 1 or all(map(is_floating, kinds))


def index(
    root: Node,
    text: bytes,
    path: str,
    qualifiers: tuple[tuple[int, str], ...],
    visible: Declarations | None,
    numbers: dict[str, str],
    spelled: Mapping[str, str],
    renames: Mapping[str, Sequence[tuple[int, str]]],
) -> Declarations:
    """Walk a translation unit, down to function bodies. `qualifiers` are those that a mask hid, by offset, `numbers`
    the other names of plain numbers, `spelled` the macros that may name a type, `renames` those that stand for a name:
    from which offset on, and for which ("" for none).
    """
    found = Declarations(
        numbers=numbers,
        types=frozenset(n.decode("utf-8", "replace") for names in _TYPE_NAMES.findall(text) for n in names if n),
        compound=frozenset(name.decode("utf-8", "replace") for name in _COMPOUND.findall(text)),
        defined=frozenset(n.decode("utf-8", "replace") for names in _OTHER_TYPES.findall(text) for n in names if n),
        visible=visible,
        given=frozenset(n.decode() for names in _FUNCTION_PARAMETER.findall(text) for n in names if n),
        stand_for={**other_names(text), **{name: (kind,) for name, kind in spelled.items()}},
        renames=renames,
    )
    found.gives_references = gives_references(text, found.references.may_be)
    for new, kind, other_kind, other_new in _ALIASES.findall(text):
        name = (new or other_new).decode("utf-8", "replace")
        meant = _BLANKS.sub(b" ", kind or other_kind).decode("utf-8", "replace")
        found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), meant)))
    for meant_name, last_name in _BROUGHT.findall(text):
        name, meant = last_name.decode("utf-8", "replace"), b"".join(meant_name.split()).decode("utf-8", "replace")
        found.brought.add(name)
        if not f"::{meant}".endswith(f"::{name}::{name}"):  # not the constructors of a base
            found.aliases[name] = tuple(dict.fromkeys((*found.aliases.get(name, ()), meant)))
    for new, other_new in _MEASURED.findall(text):
        found.aliases[(new or other_new).decode("utf-8", "replace")] = ("decltype",)
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
                    found.enumerators.add(text_of(child.children[0], text))
        elif kind == "friend_declaration":
            head = text_of(node, text).partition("{")[0]
            found.friends.update("".join(name.split()) for name in _CALLED.findall(head))
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


def _shown(kind: str, hidden: frozenset[str]) -> str:
    """A type as written, `auto` where it is a parameter of a template."""
    parts = _TYPE.fullmatch(kind) if hidden else None
    return f"{parts[1]}auto{parts[4]}" if parts is not None and parts[3] in hidden else kind


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
            one = found.renamed(one)
            if cls is not None:
                cls.methods.add(one.name)
                cls.virtual |= one.name == cls.destructor and _is_virtual(child)
            found.prototypes.add(one.name)
            _offers(found, node, one, text, namespace, cls)
            listed = parameters(one.parameters, text, found)
            if cls is None:
                found.declares_function(node, one, len(listed), path)
            found.has_function(
                one, listed, _returned(found, one, child, text), _referred(found, one, child, text), hidden
            )
            continue
        if cls is not None:
            kind = _of_bits(one.type, child, text)
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


def may_refer(kind: str) -> bool:
    """Whether a function that returns this type, as written, may return a reference ([dcl.spec.auto])."""
    return kind.endswith(("&", OPEN)) or kind.startswith("decltype")


def _result(found: Declarations, one: Declared, declarator: Node, text: bytes) -> str:
    if one.may_refer:
        return one.type + (" &" if one.reference else OPEN)
    if one.type.startswith("auto"):
        for child in declarator.named_children:
            if child.type == "trailing_return_type":
                return found.references.written_out(text_of(child, text).removeprefix("->").strip())
    return one.type


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
    one = found.renamed(one)
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
        cls.virtual |= one.name == cls.destructor and _is_virtual(node)
        cls.idle |= one.name == cls.destructor and body is not None and body.named_child_count == 0
    listed = parameters(one.parameters, text, found) if one.parameters is not None else ()
    _offers(found, node, one, text, namespace, cls)
    found.has_function(
        one, listed, _returned(found, one, declarator, text), _referred(found, one, declarator, text), hidden
    )
    if body is None:
        found.prototypes.add(one.name)
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
    static = cls is None and any(
        child.type == "storage_class_specifier" and text_of(child, text) == "static" for child in node.children
    )
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
        )
    )
    found.by_reference[plain_name(one.name).rpartition("::")[2]] = tuple(param.by_reference for param, _ in listed)
