"""Types as values: one that is written is taken apart once, and asked what it is.

The IR holds types as the program writes them. `Type.of` gives the value of such a text; whoever wants to know something
of a type asks that, and nobody reads the text again. What a word of it means is not known here: `T` may be a class, a
parameter of a template, or another name of any type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cudafix.ir.names import template_arguments
from cudafix.models.class_templates import OTHER, ClassTemplate, class_template

# cv-qualifiers, and what says that a name is one of a type (C++17, 10.1.7.1 [dcl.type.cv], 10.1.7.3 [dcl.type.elab])
_BEFORE = re.compile(r"(?:\s*\b(?:const|volatile|struct|class|typename)\b)+\s*")
_BEHIND = re.compile(
    r"\s*(\*|&\s*\?|&&|&|\[[^\[\]]*\]|\.\.\.|\b(?:const|volatile|__restrict__|__restrict|restrict)\b)\Z"
)
_SCOPE = re.compile(r"\s*::\s*(?:template\s+)?")
_QUALIFIED = re.compile(r"\b(?:const|volatile)\b")
_QUALIFIERS = frozenset(("const", "volatile"))
_REFERENCES = frozenset(("&", "&&", "&?"))
_POINTERS = frozenset(("*", "[]"))


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type. There is one value for each text, so that types are equal if they are written alike.

    `marks` are what declarators add, from the inside out, as in `float *[]`: `*`, `[]`, `&`, `&&`, `...`, and `&?` of
    what may be a reference. They have no qualifiers: what a pointer may be used for is not asked.
    """

    text: str
    core: str  # without `marks` and qualifiers: `::A<const B *>` of `const struct ::A<const B *> &`
    marks: tuple[str, ...]
    qualified: bool  # what is not behind any mark is `const` or `volatile`
    name: str  # the name in `core`, without template arguments: `A::C` of `::A<B>::C`
    arguments: tuple[str, ...]  # the last template arguments in `core`, as written
    is_pointer: bool  # it is a pointer or an array, and no reference to one
    library: ClassTemplate  # of which template `core` is, if the tables know that

    @staticmethod
    @lru_cache(maxsize=1 << 16)
    def of(text: str) -> Type:
        """The value of a type as it is written."""
        core, marks, qualified = text.strip(), list[str](), False
        while (behind := _BEHIND.search(core)) is not None:
            core, mark = core[: behind.start()], behind[1]
            if mark[0] in "*&[.":
                marks.append("[]" if mark[0] == "[" else "".join(mark.split()))
                qualified = False
            elif mark in _QUALIFIERS:
                qualified = True
        if (before := _BEFORE.match(core)) is not None:
            core = core[before.end() :]
            qualified = qualified or _QUALIFIED.search(before[0]) is not None
        name = _without_arguments(core.removeprefix("::").lstrip()) if "<" in core else core.removeprefix("::").lstrip()
        name = _SCOPE.sub("::", name) if "::" in name else name
        arguments = tuple(template_arguments(core))
        library = class_template(name)
        if not (core.endswith(">") if arguments else library.text):
            library = OTHER
        is_pointer = bool(marks) and marks[0] in _POINTERS
        return Type(text, core, tuple(reversed(marks)), qualified, name, arguments, is_pointer, library)

    @property
    def written_name(self) -> str:
        """The name with `::` in front where that is written, which hides no other one ([basic.lookup.qual])."""
        return f"::{self.name}" if self.core.startswith("::") else self.name

    @property
    def deduced(self) -> ClassTemplate:
        """The template, also where its arguments are left to the compiler ([over.match.class.deduct])."""
        return self.library if self.arguments else class_template(self.name)

    @property
    def outer(self) -> ClassTemplate:
        """The template that it is made of, or that it is a member of: `vector` of `std::vector<A>::iterator`."""
        found = class_template(self.template)
        return found if found is not OTHER else class_template(self.name.rpartition("::")[0])

    @property
    def template(self) -> str:
        """The name up to the first template arguments: `A` of `A<B>::C`."""
        return self.core.removeprefix("::").partition("<")[0].strip()

    @property
    def last(self) -> str:
        """The last name component."""
        return self.name.rpartition("::")[2]

    @property
    def is_name(self) -> bool:
        """Whether nothing is written but a name, which has no template arguments."""
        return self.text == self.written_name and " " not in self.text and self.text != ""

    @property
    def is_deduced(self) -> bool:
        """Whether the program does not write which type it is (C++17, 10.1.7.4 [dcl.spec.auto], 10.1.7.2)."""
        return self.core.startswith(("auto", "decltype"))

    @property
    def own_marks(self) -> tuple[str, ...]:
        """Those of what it is, or refers to."""
        return tuple(mark for mark in self.marks if mark not in _REFERENCES)

    @property
    def is_reference(self) -> bool:
        """Whether it is, or may be, a reference."""
        return bool(self.marks) and self.marks[-1] in _REFERENCES

    @property
    def leads(self) -> bool:
        """Whether it is a pointer, or a reference to one."""
        return self.own_marks[-1:] == ("*",)

    @property
    def is_object(self) -> bool:
        """Whether it is an object, or an array of them, and no pointer or reference."""
        return all(mark == "[]" for mark in self.marks)

    @property
    def is_direct(self) -> bool:
        """Whether it is an object, or a reference to one, and no pointer, array or pack."""
        return not self.own_marks

    @property
    def inside(self) -> Iterator[Type]:
        """What stands among the template arguments, and among those of these."""
        for one in map(Type.of, self.arguments):
            yield one
            yield from one.inside

    @property
    def innermost(self) -> Type:
        """The first type in it that has no arguments, or is a pointer: `float *` in `vector<pair<float *, int>>`."""
        return Type.of(self.arguments[0]).innermost if self.arguments and not self.is_pointer else self

    @property
    def pointers(self) -> int:
        """How many pointers and arrays are followed to what has no marks."""
        return sum(mark in _POINTERS for mark in self.marks)


def _without_arguments(name: str) -> str:
    """A name without its template arguments; between parentheses `>` ends none (C++17, 17.2 [temp.names] 3)."""
    found, depth, parentheses = list[str](), 0, 0
    for sign in name:
        parentheses += (sign == "(") - (sign == ")")
        if sign == ">" and depth and not parentheses:
            depth -= 1
        elif sign == "<" and not parentheses:
            depth += 1
        elif not depth:
            found.append(sign)
    return "".join(found).strip()


def member_of_pair(kind: str, name: str) -> str | None:
    """The type of `first` or `second` of a `std::pair`, which may be a reference ([pairs.pair]); None for any other."""
    of = Type.of(kind)
    if of.library.name != "pair" or not of.is_direct or len(of.arguments) != 2 or name not in ("first", "second"):
        return None
    return of.arguments[name == "second"] if not any("&" in one for one in of.arguments) else None
