"""What a macro may mean at one place: one of several bodies, or none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cudafix.frontends.cuda.preprocess.macros import STRING, Macro, variadic_name, words
from cudafix.models.number_types import is_floating, is_number


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a macro may be at a place: one of `macros`, or none, since it was taken back (`gone`) or because nothing in
    front says anything (`unset`). `given` says whether an option of the compiler may give it another value.
    """

    macros: tuple[Macro, ...] = ()
    gone: bool = False
    unset: bool = False
    given: bool = False
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        bodies = [macro.body for macro in self.macros]
        object.__setattr__(self, "_hash", hash((self.gone, self.unset, self.given, *bodies)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def defined(self) -> bool:
        """Whether it is certainly defined."""
        return bool(self.macros) and not self.gone and not self.unset

    @property
    def perhaps(self) -> bool:
        """Whether it is not known if it is defined."""
        return bool(self.macros) and (self.gone or self.unset)

    @property
    def value(self) -> str | None:
        """The text that a condition sees, if it is one."""
        known = len(self.macros) == 1 and self.macros[0].params is None and not self.given
        return self.macros[0].body.decode("utf-8", "replace") if known else None

    def one(self) -> Macro | None:
        """The macro by which a use is read. What an unknown condition leaves undefined is not used there, for that
        would name nothing; after an `#undef` the name may be that of a function.
        """
        return merged(self.macros, self.gone)


UNSET = Meaning(unset=True)
GONE = Meaning(gone=True)


def joined(meanings: Iterable[Meaning]) -> Meaning:
    """What is meant where it may be any of these."""
    distinct = list(dict.fromkeys(meanings))
    if len(distinct) == 1:
        return distinct[0]
    macros = {(m.params, m.body, m.kind): m for one in reversed(distinct) for m in reversed(one.macros)}
    flags = (any(getattr(one, flag) for one in distinct) for flag in ("gone", "unset", "given"))
    return Meaning(tuple(reversed(macros.values())), *flags)


def merged(macros: Iterable[Macro], gone: bool = False) -> Macro | None:
    """The macro by which a use is read that may mean any of these, or no macro (`gone`): opaque, unless they differ in
    nothing that matters.
    """
    found = list(macros)
    if len(found) == 1 and not gone:
        return found[0]
    one = next(iter(merge(found).values()), None)
    if one is None or not gone and _do_the_same(found):
        return one
    body = b" ".join(macro.body for macro in found)
    if gone:  # a macro in itself is the name of something else (C++17, 19.3.4 [cpp.rescan] 2)
        body += b" %b%b" % (one.name.encode(), b"()" if one.params is not None else b"")
    either = () if gone else tuple(found)
    return replace(one, body=body, kind="opaque", passes=None, looks=False, either=either, several=True)


def _do_the_same(macros: Sequence[Macro]) -> bool:
    """Whether it does not matter which of the macros is meant."""
    first, *others = macros
    if all((one.params, one.body) == (first.params, first.body) for one in others):
        return True
    if all(map(_leaves, macros)):
        return all(one.params == first.params for one in others)
    if any((one.kind, one.passes, _evaluated(one)) != (first.kind, first.passes, _evaluated(first)) for one in others):
        return False
    return first.kind == "transparent" or first.kind == "constant" and not any(map(_may_be_memory, macros))


def checks_alike(one: Macro, other: Macro) -> bool:
    """Whether two macros are the same, or do the same with the status that they are given but for what they say."""
    if (one.params, one.body) == (other.params, other.body):
        return True
    return one.kind == other.kind == "transparent" and one.looks == other.looks and _do_the_same((one, other))


def _evaluated(macro: Macro) -> tuple[object, ...]:
    """Which of its parameters a macro may evaluate, as far as its words tell."""
    used = words(macro.body)
    params = macro.params or ()
    shown = tuple(variadic_name(one) in used if one.endswith("...") else one.encode() in used for one in params)
    return macro.params is None, shown, _UNEVALUATED.search(macro.body) is not None


_UNEVALUATED = re.compile(rb"(?i)\b(?:sizeof|decltype|noexcept|typeid|\w*assert\w*)\b")


def _may_be_memory(macro: Macro) -> bool:
    """Whether a constant may name a variable, and not only types, qualifiers, attributes and other macros."""
    given = {variadic_name(one) for one in macro.params or ()}
    return any(word not in given for word in _VARIABLE.findall(STRING.sub(b"", macro.body)))


def merge(macros: Iterable[Macro]) -> dict[str, Macro]:
    """By name. Of several bodies that may be meant, one that looks wins; if they do different things, it is opaque.

    Bodies that are plain host expressions (`fopen_s(&f, name, mode)` or `(f = fopen(name, mode))`, by platform) change
    nothing that a proof rests on: the last one stands for all. So does one of several that end the process
    (`exit(x)`, or a word to the user before that): behind it nothing runs, whichever is meant.
    """
    result: dict[str, Macro] = {}
    for macro in macros:
        old = result.get(macro.name)
        if old is not None and (old.params, old.body) != (macro.params, macro.body):
            alike = old.kind == macro.kind and old.passes == macro.passes
            if alike and macro.kind == "transparent":
                macro = replace(macro, looks=old.looks or macro.looks)
            elif old.params == macro.params and _leaves(old) and _leaves(macro):
                macro = old if old.kind == "operates" else macro
            elif _is_number_in_one(old, macro) or any(
                (PLACE if alike and macro.kind == "constant" else _MATTERS).search(m.body) for m in (old, macro)
            ):
                both = b"%b %b" % (old.body, macro.body)
                macro = replace(macro, body=both, kind="opaque", passes=None, looks=False, several=True)
        result[macro.name] = macro
    return result


_VARIABLE = re.compile(
    rb"(?<![\w.])(?!(?:void|char|short|int|long|float|double|signed|unsigned|bool|const|static|inline|extern|restrict"
    rb"|volatile|constexpr|struct|class|enum|auto|true|false|nullptr|NULL|sizeof|__\w+|\w+_t|[A-Z][A-Z0-9_]+)\b)[A-Za-z_]\w*"
)
PLACE = re.compile(rb"\[|->|(?:^|[-+(,=/&|<>!?:])\s*\*\s*[\w(]")
"""An element, or what a pointer leads to."""
# What a macro body must not hold if one of several bodies may stand for all of them.
_MATTERS = re.compile(
    rb"cu(?:da|blas|fft|sparse|rand|solver|dnn|[A-Z])|<<<|##|\b(?:return|goto|break|continue|throw|exit)\b|[{};]"
)
# A body that ends the process whatever comes before, and what must not stand in front of that.
_LEAVES = re.compile(rb"\b(?:exit|_exit|abort)\s*\([^()]*\)\s*;?\s*\}?\s*;?\s*\Z")
_BEFORE_LEAVING = re.compile(
    rb"cu(?:da|blas|fft|sparse|rand|solver|dnn|[A-Z])|<<<|##|[?]|&&|[|][|]"
    rb"|\b(?:return|goto|break|continue|throw|exit|if|else|for|while|do|switch|case)\b"
)


def _leaves(macro: Macro) -> bool:
    """Whether all that a macro does is to say something, at most, and to end the process."""
    body = STRING.sub(b'""', macro.body)
    end = _LEAVES.search(body)
    return end is not None and _BEFORE_LEAVING.search(body, 0, end.start()) is None


def _is_number_in_one(*macros: Macro) -> bool:
    """Whether some of the macros are types of numbers, and not all are types of floating ones."""
    kinds = [macro.body.decode("utf-8", "replace") for macro in macros]
    return any(map(is_number, kinds)) and not all(map(is_floating, kinds))
