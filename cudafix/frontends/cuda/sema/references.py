"""Which types are references that are not written with `&`: other names of types, parameters of templates, and what the
standard library names (C++17, 11.3.2 [dcl.ref] 6, 10.1.3 [dcl.typedef], 17.5.7 [temp.alias]).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cudafix.ir import template_arguments

OPEN = " &?"
"""Behind a type that may be a reference."""

_WORD = re.compile(r"(?<![\w:])[A-Za-z_]\w*")
_QUALIFIERS = re.compile(r"^(?:(?:const|volatile|typename|struct|class)\b\s*)+|(?:\s*\b(?:const|volatile))+$")
# those of the standard library
_MAKES = frozenset(("add_lvalue_reference", "add_rvalue_reference"))
_OF_ARGUMENTS = frozenset(
    "conditional enable_if remove_const remove_volatile remove_cv add_const add_volatile add_cv type_identity".split()
)
_DECAYS = frozenset(
    "remove_reference remove_cvref decay unwrap_ref_decay common_type make_signed make_unsigned underlying_type "
    "remove_pointer remove_extent remove_all_extents add_pointer aligned_storage iter_value iter_difference "
    "range_value range_difference range_size".split()
)
_MEMBERS = frozenset(("reference", "const_reference", "rvalue_reference", "type"))
_LIBRARIES = ("std::", "cuda::std::", "thrust::", "cub::")
# a list of arguments of a template, with those in its arguments
_LIST = re.compile(rb"\b((?:\w+::)*\w+)\s*<((?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*)>")
_BY_DEFAULT = re.compile(rb"\b(?:class|typename)\s+\w+\s*=\s*([^,>;{}]*&)\s*[,>]")
# other names of types, of C libraries, where there are no references
_OF_C = re.compile(
    r"(?:cu|CU|nccl|nv|Np|NP|MPI_|pthread_|hip|roc)\w*|(?:__half|s?size|u?int(?:_fast|_least)?\d+|u?int(?:ptr|max)"
    r"|ptrdiff|time|clock(?:id)?|off(?:64)?|pid|uid|gid|mode|dev|ino|key|wchar|wint|char\d+|max_align|nullptr|socklen"
    r"|sigset|timer|fpos|l?div|float|double|byte|sig_atomic|siginfo|stack|sem|id|nlink|blksize|blkcnt|s?useconds|rlim"
    r"|sa_family|in_port|in_addr|regex|regmatch|regoff|mbstate|wctype|wctrans|cnd|mtx|thrd|tss)_t"
)
_CASTS = (b"_cast", b"forward", b"move", b"declval", b"template")


def gives_references(text: bytes, is_reference: Callable[[str], bool]) -> bool:
    """Whether a text gives a template of the program a reference for one of its parameters (C++17, 17.9.1
    [temp.arg.explicit]), or may deduce one: `T &&` is `T &` for an lvalue (17.8.2.1 [temp.deduct.call] 3).
    """
    return _BY_DEFAULT.search(text) is not None or any(is_reference(kind) for kind in _given(text))


def _given(text: bytes) -> Iterator[str]:
    at = 0
    while (found := _LIST.search(text, at)) is not None:
        at = found.end(1)
        name = found[1]
        if name.endswith(_CASTS) or name.startswith((b"std::", b"thrust::", b"cub::")):
            continue
        listed = found[2].decode("utf-8", "replace")
        if "&" in listed or _WORD.search(listed) is not None:
            yield from template_arguments(f"{name.decode('utf-8', 'replace')}<{listed}>")


_NONE = frozenset[str]()
_MOST_TYPES = 1_000
"""Types that are looked at for one: where its name stands for more, it may be a reference."""


class References:
    """Whether types are references. `meanings` gives what a name stands for, `is_parameter` says whether it is one of a
    template, and `open_parameters` whether those may be references.
    """

    def __init__(
        self,
        meanings: Callable[[str], tuple[str, ...]],
        is_parameter: Callable[[str], bool],
        open_parameters: Callable[[], bool],
    ) -> None:
        self.meanings = meanings
        self.is_parameter = is_parameter
        self._open_parameters = open_parameters
        self._met: dict[str, tuple[str, bool | None]] = {}  # what is found on the way to one answer

    def written_out(self, kind: str) -> str:
        """A type as written, with `&` behind what a reference refers to, and `OPEN` behind what may be a reference."""
        referred, refers = self._answer(kind)
        return f"{referred} &" if refers else kind + OPEN if refers is None else kind

    def may_be(self, kind: str) -> bool:
        return self._answer(kind)[1] is not False

    def _answer(self, kind: str) -> tuple[str, bool | None]:
        self._met.clear()  # names may have got more meanings since
        return self._of(kind, _NONE)

    def _of(self, kind: str, through: frozenset[str]) -> tuple[str, bool | None]:
        """What a type refers to, and whether it is a reference; None where it may be one. A type that is part of
        itself, through names that stand for several types (`using Base = List<Base>`), adds nothing to what it is
        besides.
        """
        if kind not in self._met:
            if len(self._met) >= _MOST_TYPES:
                return kind, None
            self._met[kind] = kind, False
            self._met[kind] = self._found(kind, through)
        return self._met[kind]

    def _found(self, kind: str, through: frozenset[str]) -> tuple[str, bool | None]:
        kind = _QUALIFIERS.sub("", kind.strip()).strip()
        if kind.endswith("&"):
            return _QUALIFIERS.sub("", kind.rstrip("& ")).strip(), True
        if "(&)" in (plain := _outer(kind)) or "(&&)" in plain:  # to an array, or a function
            return "auto", True
        if kind.startswith(("decltype", "typeof", "__typeof")):
            return kind, None
        if not kind or kind.endswith(("*", "]", "...")) or kind.startswith("auto"):
            return kind, False
        if kind.endswith(")"):  # of a function; or what a macro makes of its arguments
            made = self.meanings(kind.partition("(")[0])
            return ("auto", True) if any(self._of(one, through)[1] for one in made) else (kind, False)
        listed = template_arguments(kind) if kind.endswith(">") else []
        last = plain.rpartition("::")[2]
        if plain.removeprefix("::").startswith(_LIBRARIES):
            return self._of_library(kind, last, listed, through)
        if last in through:
            return kind, False
        meant = [one for one in self.meanings(last) if _outer(one) != plain]
        if meant:
            inner = through | {last}
            found = [self._of(one, inner) for one in meant]
            if all(refers for _, refers in found):
                referred = {one for one, _ in found}
                one = referred.pop()
                if self.is_parameter(one) and len(listed) == 1:  # `template <class T> using R = T &;`
                    one = self._of(listed[0], inner)[0]
                return (one if not referred else "auto"), True
            if all(refers is False for _, refers in found) and not any(
                self._of(one, _NONE)[1] is not False for one in listed
            ):
                return kind, False
            return kind, None
        if plain == last:
            if self.is_parameter(last):
                return kind, None if self._open_parameters() else False
            return kind, None if last.endswith("_t") and _OF_C.fullmatch(last) is None else False
        home = kind[: len(kind) - len(last)].rstrip(": ")
        if last in _MEMBERS and (home.endswith(">") or self.is_parameter(home)):
            return kind, None
        return kind, False

    def _of_library(self, kind: str, last: str, listed: list[str], through: frozenset[str]) -> tuple[str, bool | None]:
        home = kind.rpartition("::")[0]
        if last in _MEMBERS and home.endswith(">"):
            inner = template_arguments(home)
            if last != "type":
                element = _QUALIFIERS.sub("", inner[0]) if inner else kind
                return element, None if element == "bool" or not inner else True
            last, listed = _outer(home).rpartition("::")[2], inner
        elif not last.endswith("_t") or not listed:
            return kind, False
        trait = last.removesuffix("_t")
        if trait in _MAKES and listed:
            return self._of(listed[0], through)[0], True
        if trait in _DECAYS:
            return kind, False
        if trait in _OF_ARGUMENTS and not any(self._of(one, through)[1] is not False for one in listed):
            return kind, False
        return kind, None


def _outer(kind: str) -> str:
    """The qualified name of a type, without the arguments of templates."""
    depth, found = 0, []
    for sign in kind:
        depth += sign == "<"
        if not depth:
            found.append(sign)
        depth -= sign == ">"
    return "".join("".join(found).split())
