"""Class templates of the standard library, of Thrust and of libcu++: what an object of them has in it.

A row has a name, the namespaces that it is in, and words that hold for it (the fields of `ClassTemplate`). A
using-directive may let a name stand without its namespace. What no row names is none of these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassTemplate:
    """A row. Without a name: any other type."""

    name: str = ""
    namespaces: frozenset[str] = frozenset()
    parts: bool = False  # objects of the types that it is given are parts of it, and are made of what it is given
    owner: bool = False  # it ends one object, which lies elsewhere ([unique.ptr], [util.smartptr.shared])
    optional: bool = False  # it has one object in it, or none ([optional])
    elements: bool = False  # its parts are any number of elements of one type ([container.requirements])
    braced: bool = False  # an initializer list has the values of its elements ([sequence.reqmts], [associative.reqmts])
    positions: bool = False  # a number says which element is meant, without a look at the others
    ranged: bool = False  # it is made of the elements of a range, or extended by them, which it reads there and then
    sequence: bool = False  # the first argument of `insert` and `emplace` says where ([sequence.reqmts])
    row: bool = False  # it is told how many elements it has, and numbers them from the first ([vector], [deque])
    numbered: bool = False  # its second argument is a number ([array], [views.span])
    linked: bool = False  # an element has no place from which that of another one could be computed
    pairs: bool = False  # its elements are pairs of a key and what that is mapped to ([associative.reqmts] 3)
    compares: bool = False  # it compares its elements, or computes where they belong, to find or to add one
    pageable: bool = False  # the default allocator gives memory for its elements ([default.allocator])
    adaptor: bool = False  # it works on another container ([container.adaptors])
    view: bool = False  # it shows elements that lie elsewhere ([views], [string.view])
    text: bool = False  # its elements are characters; it may be written without template arguments ([strings])
    stream: bool = False  # it makes a text, or reads one ([string.streams])
    device: bool = False  # what it shows is on the device (Thrust 2.2, "Containers", "Memory Management")
    callable: bool = False  # it has a function of any type ([func.wrap.func])
    atomic: bool = False  # [atomics.types.generic]

    @property
    def ends_objects(self) -> bool:
        """Whether objects of the types that it is given begin and end with it."""
        return self.parts or self.owner

    @property
    def holds_one(self) -> bool:
        """Whether `*x` is the one object that it is for."""
        return self.owner or self.optional

    @property
    def is_indexed(self) -> bool:
        """Whether `x[i]` is an element, or `*x` what it holds, of the first type that it is given."""
        return self.positions or self.row or self.holds_one

    @property
    def made_of(self) -> int | None:
        """How many of its first arguments are the types of what is in it; None for all of them."""
        return 2 if self.pairs else 1 if self.elements or self.holds_one or self.view else None


_ROWS = """
# C++17, 26.3 [sequences], 29.7 [template.valarray], 21.9 [support.initlist]
vector              std                    parts elements braced positions sequence row pageable ranged
deque               std                    parts elements braced positions sequence row linked pageable ranged
list                std                    parts elements braced sequence linked ranged
forward_list        std                    parts elements braced linked ranged
array               std cuda::std          parts elements braced positions numbered
valarray            std                    elements pageable ranged
initializer_list    std                    elements braced
# 26.4 [associative], 26.5 [unord]
map                 std                    parts elements braced pairs compares
multimap            std                    parts elements braced pairs compares
unordered_map       std                    parts elements braced pairs compares
unordered_multimap  std                    parts elements braced pairs compares
set                 std                    parts elements braced linked compares ranged
multiset            std                    parts elements braced linked compares ranged
unordered_set       std                    parts elements braced linked compares ranged
unordered_multiset  std                    parts elements braced linked compares ranged
# 26.6 [container.adaptors]
queue               std                    parts elements linked adaptor
stack               std                    parts elements linked adaptor
priority_queue      std                    parts elements compares adaptor ranged
# 23.4 [pairs], 23.5 [tuple], 23.6 [optional], 23.7 [variant]
pair                std cuda::std thrust   parts
tuple               std cuda::std thrust   parts
optional            std cuda::std thrust   parts optional
variant             std cuda::std          parts
# 23.11 [smartptr], 23.14.13 [func.wrap], 32.6 [atomics.types.generic]
unique_ptr          std                    owner
shared_ptr          std                    owner
function            std                    callable
move_only_function  std                    callable
atomic              std                    atomic
# 24.3 [string.classes], 24.4 [string.view], 30.8 [string.streams]
basic_string        std                    positions text ranged
string              std                    positions text ranged
wstring             std                    positions text ranged
u8string            std                    positions text ranged
u16string           std                    positions text ranged
u32string           std                    positions text ranged
string_view         std                    text view
wstring_view        std                    text view
u8string_view       std                    text view
u16string_view      std                    text view
u32string_view      std                    text view
stringstream        std                    text stream ranged
istringstream       std                    text stream ranged
ostringstream       std                    text stream ranged
# C++20, 22.7 [views]; C++23, 22.7.3 [mdspan]
span                std cuda::std          positions numbered view
mdspan              std cuda::std          view
# Thrust 2.2, "Containers", "Memory Management"
host_vector         thrust                 parts elements braced row pageable
universal_vector    thrust
device_vector       thrust                 device
device_ptr          thrust                 device
"""

OTHER = ClassTemplate()
"""What stands for a type that is made of none of these."""


def _read(rows: str) -> dict[str, ClassTemplate]:
    found: dict[str, ClassTemplate] = {}
    for line in rows.splitlines():
        if line and not line.startswith("#"):
            name, *words = line.split()
            homes = [word for word in words if word in ("std", "cuda::std", "thrust")]
            row = ClassTemplate(name, frozenset(homes), **{word: True for word in words if word not in homes})
            found |= {name: row, **{f"{home}::{name}": row for home in homes}}
    return found


_TEMPLATES = _read(_ROWS)


def class_template(name: str) -> ClassTemplate:
    """The row of a name, with the namespace that it is in or without any."""
    return _TEMPLATES.get(name, OTHER)
