"""The rules of masking: what the grammar stumbles over, and what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cudafix.frontends.cuda.preprocess.directives import blank
from cudafix.frontends.cuda.preprocess.macros import Macro, closing

Edit: TypeAlias = tuple[int, bytes]  # offset and the bytes that replace as many bytes there
_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_NESTED_3 = rb"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
TYPE = rb"[A-Za-z_][\w:]*(?:<[^;{}()]{0,200}>)?"
_WORDS = rb"(?:" + TYPE + rb"[\s*&]+){1,8}"  # what may stand before a declarator; a bound, as each start is tried
ARGUMENTS = rb"\(" + _NESTED_3 + rb"\)"
SHOUT = rb"[A-Z][A-Z0-9_]+"  # the shape of a macro that nobody defines
_QUALIFIER = re.compile(rb"__(?:global|device|host|managed|constant|shared)__")
_KEYWORDS = frozenset(
    b"if for while switch return sizeof catch do else case default new delete throw goto using typedef template class"
    b" struct union enum namespace public private protected static const constexpr extern inline void int float double"
    b" char bool unsigned long short signed auto alignof decltype asm static_assert operator defined".split()
)
DEEP = 8  # macros that stand for each other
_CALL_LINE = re.compile(rb"(?<![\w.>:])([A-Za-z_]\w*)\s*\(")


@dataclass(slots=True)
class Work:
    macros: Mapping[str, Macro]
    qualifiers: list[tuple[int, str]] = field(default_factory=list)

    def macro(self, name: bytes) -> Macro | None:
        return self.macros.get(name.decode("utf-8", "replace"))

    def hide(self, offset: int, text: bytes, depth: int = 0) -> None:
        """Note the qualifiers that masking `text` (or the body of a macro that it names) takes away."""
        found = _QUALIFIER.findall(text)
        if found and depth and re.search(rb"[;{]", text) is not None:
            return  # those of what the macro declares itself, not of what follows its use
        if found:
            self.qualifiers.append((offset, " ".join(q.decode() for q in found)))
        elif depth < DEEP:
            for word in re.findall(rb"[A-Za-z_]\w*", text):
                macro = self.macro(word)
                if macro is not None:
                    self.hide(offset, macro.body, depth + 1)


def skip(text: bytes, at: int) -> int:
    while at < len(text) and text[at] in b" \t\r\n":
        at += 1
    return at


def starts_statement(text: bytes, at: int) -> bool:
    at -= 1
    while at >= 0 and text[at] in b" \t\r\n":
        at -= 1
    return (
        at < 0
        or text[at] in b";{}):"
        or text[max(0, at - 3) : at + 1] == b"else"
        or text[max(0, at - 1) : at + 1] == b"do"
    )


def semicolon(text: bytes, start: int, end: int) -> list[Edit]:
    """A semicolon behind the statement `[start, end)`, if a new one or the end of the block follows.

    It takes the first free byte. Between `)` and a `}` on the next line there is none: a missing semicolon is harmless
    there, unless the statement is alone in its block, which then reads as an initializer; an empty statement before it
    prevents that.
    """
    following = skip(text, end)
    first = text[following : following + 1]
    if following == end or not (first.isalpha() or first in (b"_", b"}", b"*", b"+", b"-", b"~")):
        return []
    for at in range(end, following):
        if text[at] in b" \t\r":
            return [(at, b";")]
    if text[max(0, start - 400) : start].rstrip().endswith(b"{") and text[start - 1 : start] in b" \t":
        return [(start - 1, b";")]
    return []


def _concatenations(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`"a" PRIu64 "b"`, `HEADER "b"`."""
    for match in re.finditer(
        rb"(?:\b([A-Za-z_]\w*)\s+(?="
        + _STRING
        + rb"))?("
        + _STRING
        + rb")((?:\s*(?:"
        + _STRING
        + rb"|[A-Za-z_]\w*))*)",
        text[start:end],
        re.DOTALL,
    ):
        if match[1] and match[1] not in _KEYWORDS and match[1] not in (b"extern", b"L", b"u8", b"R"):
            yield start + match.start(1), blank(match[1])
        for word in re.finditer(rb"(" + _STRING + rb")|[A-Za-z_]\w*", match[3], re.DOTALL):
            if not word[1]:
                yield start + match.start(3) + word.start(), blank(word[0])


_TYPE_WORD = rb"(?:const|unsigned|signed|struct|enum|union|class|long|short|int|char|float|double|bool|void|volatile)"
_TYPE_ARGUMENT = re.compile(
    rb"(?<=[(,])(\s*)((?:"
    + _TYPE_WORD
    + rb"\b\s*)+(?:[\w:]+\s*)?(?:\*\s*|&\s*)*|[A-Za-z_][\w:]*(?:<[\w\s,:*]*>)?\s*(?:\*+\s*)+)(?=[,)])"
)
_PARENTHESIS = re.compile(rb"[()]")
_DECLARED = re.compile(
    rb"(?<!\w)(?!(?:return|else|do|case|throw|goto|new|delete|co_return|co_yield|co_await)\b)[A-Za-z_]\w*[ \t]+"
    rb"[A-Za-z_]\w*\s*\Z"
)
"""A type and the name of a function: what follows in parentheses are parameters, and no arguments of a macro."""


def _type_arguments(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`ALLOC(float *, n)`: the type becomes a name."""
    opened, at = [start], start  # the parentheses around
    for match in _TYPE_ARGUMENT.finditer(text, start, end):
        for found in _PARENTHESIS.finditer(text, at, match.start()):
            if found[0] == b"(":
                opened.append(found.start())
            elif len(opened) > 1:
                opened.pop()
        at = match.start()
        name = re.search(rb"([A-Za-z_]\w*)\s*\Z", text[max(start, opened[-1] - 80) : opened[-1]])
        if name is None or name[1] in _KEYWORDS or _DECLARED.search(text, start, opened[-1]):
            continue
        body = re.sub(rb"[^\w\n]", b"_", match[2].rstrip())
        yield match.start(2), b"_" + body[1:]


def _array_of_pointers(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`new float *[n]`, `new const T[n]`."""
    for match in re.finditer(rb"\bnew\s+(const\s)?[\w:<>\s]+?(\*[\s*]*)?(?=\[)", text[start:end]):
        for number in (1, 2):
            if match[number]:
                yield start + match.start(number), blank(match[number])


def _delete_arrays(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`delete[](p)`, which reads as a lambda: the parentheses go."""
    for match in re.finditer(rb"\bdelete\s*\[\s*\]\s*\(", text[start:end]):
        close = closing(text, start + match.end() - 1)
        if close > 0:
            yield start + match.end() - 1, b" "
            yield close, b" "


def _declaring_macros(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`ALIGNED(float x, 16);`: a declaration as an argument stays, the macro around it goes."""
    for match in re.finditer(
        rb"\b([A-Za-z_]\w*\s*\()(\s*" + TYPE + rb"[\s*&]+[A-Za-z_]\w*\s*)((?:,[^()]*)?\))\s*[=;]", text[start:end]
    ):
        if starts_statement(text, start + match.start()):
            yield start + match.start(1), blank(match[1])
            yield start + match.start(3), blank(match[3])


def _launch_braces(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`<<<{1, 2}, {3}>>>`: braces become parentheses."""
    for match in re.finditer(rb"<<<[^;]*?>>>", text[start:end]):
        if b"{" in match[0]:
            yield start + match.start(), match[0].replace(b"{", b"(").replace(b"}", b")")


def _semicolons(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`SHOUT(…)`, or any call alone on its line, at the beginning of a statement and without a semicolon."""
    for match in _CALL_LINE.finditer(text, start, end):
        name = match[1]
        if name in _KEYWORDS or not starts_statement(text, match.start()):
            continue
        close = closing(text, match.end() - 1) + 1
        if close <= 0:
            continue
        shaped = work.macro(name) or re.fullmatch(SHOUT, name)
        if shaped or (b"\n" in text[close : skip(text, close)] and text[match.start() - 1 : match.start()] in b" \t"):
            yield from semicolon(text, match.start(), close)


def _lone_names(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """A name alone on its line: `NAMESPACE_BEGIN` goes, a statement in a function gets its semicolon."""
    for match in re.finditer(rb"^([ \t]*)([A-Za-z_]\w*)[ \t]*(?=\r?$)", text[start:end], re.MULTILINE):
        macro, at = work.macro(match[2]), start + match.start(2)
        if match[2] in _KEYWORDS or not (macro or re.fullmatch(SHOUT, match[2])):
            continue
        if match[1] and (macro is None or macro.kind != "constant"):
            if starts_statement(text, at):
                yield from semicolon(text, at, start + match.end(2))
        else:
            work.hide(at, match[2])
            yield at, blank(match[2])


_BEFORE_DECLARATION = re.compile(
    rb"(?<![\w.>:\"])("
    + SHOUT
    + rb"|[A-Za-z_]\w*)(\s*"
    + ARGUMENTS
    + rb")?\s+(?="
    + _WORDS
    + rb"[\w:~]+\s*[({;=\[,:]|"
    + TYPE
    + rb"\s*\("
    + _NESTED_3
    + rb"\)\s*(?:const\s*)?[{:])"
)
_AFTER_TYPE = re.compile(rb"(?:\w|[*&>])\s+(" + SHOUT + rb")\s+(?=[A-Za-z_][\w:]*\s*\()")
_TAG = re.compile(
    rb"\b(?:struct|class|union|enum)\s+("
    + SHOUT
    + rb"|[A-Za-z_]\w*)(\s*"
    + ARGUMENTS
    + rb")?\s+(?=[A-Za-z_]\w*(?:\s+final)?\s*[{:;])"
)
_AFTER_DECLARATOR = re.compile(rb"\)\s*(?:const\s*)?(" + SHOUT + rb")(\s*" + ARGUMENTS + rb")?\s*(?=[{;])")


def _attribute_macros(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`EXPORT void f()`, `void CALLBACK f()`, `class API C {`, `API(int) f()`, `void f() NOEXCEPT {`."""
    at, braces = start, _Braces(text)
    while (match := _BEFORE_DECLARATION.search(text, at, end)) is not None:
        at = match.end(1)
        if match[1] in _KEYWORDS or match[1].startswith(b"__") or not _is_attribute(match[1], work):
            continue
        if not (starts_statement(text, match.start()) or _after_specifier(text, match.start())):
            continue
        if work.macro(match[1]) is None and braces.are_of_a_block(match.start()):
            # of a header that is not here: a statement of its own, or any attribute
            yield from semicolon(text, match.start(), match.end(2) if match[2] else match.end(1))
            continue
        work.hide(match.start(), match[1])
        inner = match[2].strip()[1:-1] if match[2] else b""
        if (
            match[2]
            and re.fullmatch(rb"[\w\s:*&<>,]+", inner)
            and not re.match(rb"\s*[A-Za-z_][\w:]*\s+[*&\w]+\s*\(", text[match.end() : end])
        ):
            # the argument is the type: only the name and the parentheses go
            opening = text.index(b"(", match.end(1))
            yield match.start(1), blank(text[match.start(1) : opening + 1])
            yield match.end(2) - 1, b" "
        else:
            yield match.start(1), blank(match[1] + (match[2] or b""))
    for pattern in (_AFTER_TYPE, _TAG, _AFTER_DECLARATOR):
        for match in pattern.finditer(text, start, end):
            if match[1] in _KEYWORDS or (pattern is not _AFTER_TYPE and not _is_attribute(match[1], work)):
                continue
            if pattern is _AFTER_DECLARATOR and not _ends_declarator(text, match.start()):
                continue
            work.hide(match.start(1), match[1])
            yield match.start(1), blank(match[1] + (match[2] or b"" if pattern is not _AFTER_TYPE else b""))


_BRACE = re.compile(rb"[{}]")
_SCOPE = re.compile(rb"\b(?:namespace|class|struct|union|enum|extern)\b")
_ENDS_PARAMETERS = re.compile(rb"\)\s*(?:(?:const|volatile|noexcept|override|final|mutable|try)\s*|&\s*)*\Z")


@dataclass(slots=True)
class _Braces:
    """The braces that are open at an offset; one asks for offsets in ascending order."""

    text: bytes
    at: int = 0
    opened: list[int] = field(default_factory=list)

    def are_of_a_block(self, at: int) -> bool:
        """Whether statements may stand there, and not only the members of a class or a namespace."""
        text = self.text
        for brace in _BRACE.finditer(text, self.at, at):
            if brace[0] == b"{":
                self.opened.append(brace.start())
            elif self.opened:
                self.opened.pop()
        self.at = at
        if not self.opened:
            return False
        last = self.opened[-1]
        head = text[max(text.rfind(one, 0, last) for one in (b";", b"{", b"}")) + 1 : last]
        return _SCOPE.search(head) is None or _ENDS_PARAMETERS.search(head) is not None


def _ends_declarator(text: bytes, close: int) -> bool:
    """Whether a closing parenthesis is that of parameters, which stand behind a name, and not that of a cast."""
    depth, at = 1, close
    while depth and (at := max(text.rfind(b"(", 0, at), text.rfind(b")", 0, at))) >= 0:
        depth += 1 if text[at : at + 1] == b")" else -1
    name = re.search(rb"([A-Za-z_]\w*)\s*\Z", text[max(0, at - 80) : max(0, at)])
    return name is not None and name[1] not in _KEYWORDS


def _is_attribute(name: bytes, work: Work) -> bool:
    macro = work.macro(name)
    if macro is None:
        return re.fullmatch(SHOUT, name) is not None
    body = macro.body
    is_type = re.fullmatch(
        rb"(?:const\s+)?(?:unsigned\s+)?(?:int|float|double|char|long|short|half|void)\b[\s*\w]*", body
    )
    return macro.kind in ("constant", "opaque") and is_type is None


def _after_specifier(text: bytes, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip()
    return re.search(rb"(?:\b(?:static|inline|extern|constexpr|virtual|friend|const)|\"C\"|>|__)\Z", before) is not None


def _assembly(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`asm volatile (…)` becomes `asm("")`: still there, for those who ask what device code may do."""
    for match in re.finditer(
        rb"\b(asm|__asm__|__asm)\b((?:\s*(?:volatile|__volatile__|goto|inline))*\s*)\(", text[start:end]
    ):
        opening = start + match.end() - 1
        close = closing(text, opening)
        if close - opening > 3 and b"\n" not in text[opening : opening + 3]:
            yield start + match.start(1), b"asm".ljust(len(match[1])) + blank(match[2])
            yield opening + 1, b'""' + blank(text[opening + 3 : close])


_CASE = rb"(?:'(?:[^'\\\n]|\\.)+'|[-+\w]+)"
_CASE_RANGE = re.compile(rb"\bcase\b\s*%b(\s*\.\.\.\s*%b)\s*:" % (_CASE, _CASE))


def _case_ranges(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`case '0' ... '9':` of GNU C: for which values an arm runs does not matter."""
    for match in _CASE_RANGE.finditer(text, start, end):
        yield match.start(1), blank(match[1])


_TYPENAME = re.compile(rb"\btypename(?=\s+(?:::)?[A-Za-z_][\w:]*(?:<[^;{}()]{0,200}>(?:::\w+)*)?\s*[({])")
_MEASURED_TYPE = re.compile(rb"\bdecltype\s*\(\s*[A-Za-z_]\w*\s*\)(?=\s*[({])")


def _types_of_temporaries(text: bytes, start: int, end: int, work: Work) -> Iterator[Edit]:
    """`typename V::value_type()`, `decltype(a)(3)`: an object of that type is made (C++17, 8.2.3 [expr.type.conv]).
    The latter becomes a call of a name that nobody declares.
    """
    for match in _TYPENAME.finditer(text, start, end):
        yield match.start(), blank(match[0])
    for match in _MEASURED_TYPE.finditer(text, start, end):
        name = re.sub(rb"\W", b"_", match[0])
        opening = skip(text, match.end())
        if re.search(rb"\b%b\b" % name, text) is not None:
            continue
        if text[opening : opening + 1] == b"{":
            close = text.find(b"}", opening)
            if close < 0 or re.search(rb"[{;]", text[opening + 1 : close]):
                continue
            yield opening, b"("
            yield close, b")"
        yield match.start(), name


RULES: tuple[Callable[[bytes, int, int, Work], Iterator[Edit]], ...] = (
    _semicolons,
    _concatenations,
    _attribute_macros,
    _type_arguments,
    _array_of_pointers,
    _delete_arrays,
    _launch_braces,
    _declaring_macros,
    _lone_names,
    _assembly,
    _case_ranges,
    _types_of_temporaries,
)
