"""Object-like macros that are written out in the text: the macros of a place say what the words there are.

Macros are replaced before anything is looked up (C++17, 5.2 [lex.phases] 4). Most may stay in the text, as lowering
looks into the macro; but not where blocks begin or end in it, `#define BEGIN {`, nor where its name is also that of
something else, `#define a b` around a few lines. There its text stands in the place of its name, filled up with spaces:
no offset changes. Where there is no room, a name that is the macro's in an expression is left to lowering, and all else
is made unreadable. So are uses of macros with parameters where lowering looks for no macro: behind a scope or an
object, under the name of a class.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TypeAlias

from cudafix.frontends.cuda.preprocess.macros import STRING, Macro, closing, with_body, words

Steps: TypeAlias = Mapping[str, Sequence[tuple[int, Macro | None]]]
"""The macros that a file changes: from which offset on which one holds, if any."""
Range: TypeAlias = tuple[int, int]

UNREADABLE = b"@"
"""In no token of C++ (C++17, 5.3 [lex.charset])."""
_BRACKET = re.compile(rb"[(){}\[\]]")
_CLOSES = {b")": b"(", b"}": b"{", b"]": b"["}
_WORD = re.compile(rb"(?<!\w)[A-Za-z_]\w*")
_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
_NUMBER = re.compile(rb"\(?-?\d[\w.]*\)?\Z")
_SCOPE = re.compile(rb"\b(?:namespace|extern)\b")
_OF_AN_OBJECT = re.compile(rb"(?:(?<!\.)\.|->)\s*\Z")
_FAR = 400  # bytes in front of a word in which what it is may begin
_LABEL = re.compile(rb"\bgoto\s+\Z")
_IN_A_SCOPE = re.compile(rb"::\s*\Z")
_INITIALIZED = re.compile(rb"\)\s*(?:noexcept\s*)?:\s*(?:[\w:<>]+\s*[({][^(){}]*[)}]\s*,\s*)*\Z")
_SCOPED = re.compile(rb"\s*::")
_CALL = re.compile(rb"\s*\(")
_CLASS = re.compile(rb"\b(?:(?:class|struct|union|using)\s+|typedef\b[^;{}]*?)(\w+)(?=\s*[;={:\[])")
_DECLARED = re.compile(rb"(?:[\w>]\s|[*&]\s*|[\w>*&],\s*)\Z")
_BLANKS = re.compile(rb"[ \t]*")
_STATEMENTS = frozenset(
    "if else for while do switch case default return break continue goto throw try catch true false nullptr".split()
)
"""Keywords that are read as such, whatever macro has their name."""
_DEEPEST = 20  # macros that stand for each other


def opens_or_closes(macro: Macro) -> bool:
    """Whether a use begins or ends what stands around it. Those of namespaces change no order."""
    if macro.params is not None or _BRACKET.search(macro.body) is None or _SCOPE.search(macro.body):
        return False
    opened: list[bytes] = []
    for sign in _BRACKET.findall(STRING.sub(b"", macro.body)):
        if sign not in _CLOSES:
            opened.append(sign)
        elif not opened or opened.pop() != _CLOSES[sign]:
            return True
    return bool(opened)


def stands_for_another(macro: Macro) -> bool:
    """Whether the text of an object-like macro is not its own name."""
    return macro.params is None and macro.body.strip() != macro.name.encode()


def written_out(
    text: bytes, literals: Sequence[Range], steps: Steps, extra: Mapping[str, Macro]
) -> tuple[bytes, tuple[Range, ...]]:
    """The text with the macros written out that would be misread, and where spaces fill up the rest of their names.
    `extra` hold from the beginning, `steps` from their places on; nothing in the `literals` is a macro.
    """
    place = _Place(steps, extra)
    used = {word.decode() for word in words(text)}
    names = [name for name in used if place.may_matter(name)]
    functions = [name for name in used if place.may_be_called(name)]
    if not names and not functions:
        return text, ()
    kept = sorted(_pasted(text, [name for name in used if place.pastes(name)]))
    result, filled, behind = bytearray(text), list[Range](), 0
    uses = _uses(text, names, literals)
    elsewhere = {name for name in names if any(place.at(name, at) is None for at, _ in uses[name])}
    hiding = elsewhere | {name for name in names if _is_declared(text, name, uses[name], place)}
    for start, end, name in sorted((*span, name) for name, spans in uses.items() for span in spans):
        macro = place.at(name, start)
        if macro is None or start < behind or not (stands_for_another(macro) or name in _STATEMENTS):
            continue
        if any(opened < start < closed for opened, closed in kept):
            continue
        torn, member = name in _STATEMENTS or opens_or_closes(macro), _is_of_an_object(text, start, end)
        if not (torn or member or name in hiding):
            continue
        body = _expanded(macro, start, place, torn)
        room = _room(result, start, end, len(body) if torn and body is not None else 0)
        if body is not None and room is not None and len(body) <= room[1] - room[0]:
            start, behind = room
        elif torn or member or (name in elsewhere and _is_no_expression(text, start, end)):
            body, behind = UNREADABLE, end
        else:
            continue
        result[start:behind] = body.ljust(behind - start)
        filled.append((start + len(body), behind))
    for start, end in _misread(text, functions, literals, place, bytes(result)):
        result[start:end] = UNREADABLE.ljust(end - start)
        filled.append((start + 1, end))
    return bytes(result), tuple(sorted(filled))


def _misread(
    text: bytes, names: Collection[str], literals: Sequence[Range], place: _Place, written: bytes
) -> Iterator[Range]:
    """The names of macros with parameters where lowering takes them for something else: uses behind a scope or an
    object, and under the name of a class; and what is none, as the parenthesis comes from another macro (C++17, 19.3
    [cpp.replace] 10).
    """
    classes = {match[1].decode() for match in _CLASS.finditer(text)} if names else set[str]()
    for name, spans in _uses(text, names, literals).items() if names else ():
        for start, end in spans:
            macro = place.at(name, start)
            if macro is None or written[start:end] != text[start:end]:
                continue
            inside = _IN_A_SCOPE.search(text, max(0, start - 9), start) or _OF_AN_OBJECT.search(
                text, max(0, start - 9), start
            )
            if not _CALL.match(text, end):
                if _CALL.match(written, end):
                    yield start, end
            elif (inside and any(map(_begins_with_a_name, macro.either or (macro,)))) or name in classes:
                yield start, end


def _begins_with_a_name(macro: Macro) -> bool:
    """Whether a use may stand behind `::`, `.` or `->`."""
    found = _WORD.match(macro.body.strip()) if macro.params is not None else None
    return found is not None and found[0].decode() not in _STATEMENTS


def _pasted(text: bytes, names: Collection[str]) -> Iterator[Range]:
    """The arguments of macros that paste: what `##` joins is not replaced before (C++17, 19.3.1 [cpp.subst] 1)."""
    for match in (
        re.finditer(rb"(?<!\w)(?:%b)\s*\(" % b"|".join(name.encode() for name in names), text) if names else ()
    ):
        yield match.end() - 1, closing(text, match.end() - 1)


def unlike(macros: Mapping[str, Macro]) -> dict[str, Macro]:
    """Those of the macros that may have to be written out in the texts of others."""

    def may_be(macro: Macro) -> bool:
        return opens_or_closes(macro) or any(map(_begins_with_a_name, macro.either or (macro,)))

    return {name: macro for name, macro in macros.items() if may_be(macro)}


def whole(macro: Macro, others: Mapping[str, Macro]) -> Macro:
    """A macro with those of the others written out in its text that would be misread; opaque where there is no room."""
    if others.keys().isdisjoint(word.decode() for word in words(macro.body)):
        return macro
    text, _ = written_out(macro.body, [match.span() for match in STRING.finditer(macro.body)], {}, others)
    if text == macro.body:
        return macro
    return replace(macro, kind="opaque", several=True) if UNREADABLE in text else with_body(macro, text)


def _is_of_an_object(text: bytes, start: int, end: int) -> bool:
    """Whether a word names a member in `a.b`. Functions have each of their names (`sema.indexing`)."""
    return _OF_AN_OBJECT.search(text, max(0, start - 9), start) is not None and not _CALL.match(text, end)


def _is_no_expression(text: bytes, start: int, end: int) -> bool:
    """Whether a word names what lowering looks up otherwise than a variable or a function: a scope or what is in one, a
    label, a member that a constructor initializes.
    """
    before = text[max(0, start - _FAR) : start]
    if _SCOPED.match(text, end) or _LABEL.search(before):
        return True
    return _INITIALIZED.search(before) is not None or (
        _IN_A_SCOPE.search(before) is not None and not _CALL.match(text, end)
    )


class _Place:
    """Which macro a name is at an offset."""

    def __init__(self, steps: Steps, extra: Mapping[str, Macro]) -> None:
        self._steps = steps
        self._extra = extra

    def at(self, name: str, at: int) -> Macro | None:
        changes = self._steps.get(name, ())
        number = bisect_right(changes, at, key=itemgetter(0))
        return changes[number - 1][1] if number else self._extra.get(name)

    def pastes(self, name: str) -> bool:
        """Whether a macro of this name may join its arguments with something."""
        macros = (macro for macro in (*(macro for _, macro in self._steps.get(name, ())), self._extra.get(name)))
        return any(macro is not None and bool(macro.params) and b"##" in macro.body for macro in macros)

    def may_be_called(self, name: str) -> bool:
        """Whether a name may be that of a macro with parameters."""
        macros = (macro for macro in (*(macro for _, macro in self._steps.get(name, ())), self._extra.get(name)))
        return any(one.params is not None for macro in macros if macro is not None for one in macro.either or (macro,))

    def may_matter(self, name: str) -> bool:
        """Whether uses of a name may have to be written out."""
        changes = self._steps.get(name, ())
        macros = [macro for _, macro in changes] + ([self._extra[name]] if name in self._extra else [])
        return any(
            macro is not None
            and (stands_for_another(macro) or name in _STATEMENTS)
            and (changes or name in _STATEMENTS or _NAME.match(macro.body.strip()) or opens_or_closes(macro))
            for macro in macros
        )


def _uses(text: bytes, names: Collection[str], literals: Sequence[Range]) -> dict[str, list[Range]]:
    found: dict[str, list[Range]] = {name: [] for name in names}
    for match in _WORD.finditer(text):
        name = match[0].decode()
        if name in found:
            number = bisect_right(literals, match.start(), key=itemgetter(0)) - 1
            if number < 0 or literals[number][1] <= match.start():
                found[name].append(match.span())
    return found


def _is_declared(text: bytes, name: str, uses: Sequence[Range], place: _Place) -> bool:
    """Whether something may be declared under the name of a macro that stands for another name: it has that."""
    for at, _ in uses:
        macro = place.at(name, at)
        if macro is not None and _NAME.match(macro.body.strip()) and _DECLARED.search(text, max(0, at - 99), at):
            return True
    return False


def _expanded(macro: Macro, at: int, place: _Place, torn: bool, around: tuple[str, ...] = ()) -> bytes | None:
    """What a use at an offset stands for, with the macros in it; one in itself is none (C++17, 19.3.4 [cpp.rescan] 2).
    None for what is more than names and numbers, unless blocks begin or end in it.
    """
    body, around = macro.body.strip(), (*around, macro.name)
    simple = not body or _NAME.match(body) or _NUMBER.match(body)
    if macro.several or macro.params is not None or b"##" in body or len(around) > _DEEPEST or not (torn or simple):
        return None
    parts: list[bytes] = []
    for part in _parts(body):
        inner = place.at(part.decode("utf-8", "replace"), at) if _NAME.match(part) else None
        if inner is not None and stands_for_another(inner) and inner.name not in around:
            written = _expanded(inner, at, place, torn or opens_or_closes(inner), around)
            if written is None and not torn:
                return None
            part = part if written is None else written
        parts.append(part)
    return b"".join(parts)


def _parts(body: bytes) -> Iterator[bytes]:
    """The words and literals of a text, and what stands between them."""
    at = 0
    for match in re.finditer(STRING.pattern + rb"|" + _WORD.pattern, body):
        yield body[at : match.start()]
        yield match[0]
        at = match.end()
    yield body[at:]


def _room(text: bytearray, start: int, end: int, size: int) -> Range | None:
    """The range of a word, with the spaces around it that are needed for so many bytes."""
    blanks = _BLANKS.match(text, end)
    until = max(end, min(start + size, blanks.end() if blanks is not None else end))
    begin = max(min(start, until - size), 0)
    return None if text[begin:start].strip(b" \t") else (begin, until)
