"""Masks: bytes that the grammar stumbles over, replaced by others of the same length, so that every offset still fits.

Two kinds. Attributes that mean nothing for ordering, and uses of known macros, are masked before the first parse,
because some misparse without an error: `FOR_EACH(i, n) { … }` reads as a nested function, `CHECK(x)` lines without
semicolons read as a declaration. The rest is tried only where the tree has errors, one rule after the other, and a
rule's masks stay only if the tree gets better. Names that nobody defines are judged by their shape (`EXPORT void f()`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import tree_sitter
import tree_sitter_cuda

from cudafix.frontends.cuda.preprocess.directives import blank
from cudafix.frontends.cuda.preprocess.macros import Macro, closing, words

Edit: TypeAlias = tuple[int, bytes]  # offset and the bytes that replace as many bytes there

_BLOCK = 256  # bytes that are compared at once to find what changed
_LARGE = 500_000  # bytes from which on a file is repaired in one round, whatever is left
_HOPELESS = 5_000  # errors from which on it is no C++, or what is wrong is not one of the things below
_LANGUAGE = tree_sitter.Language(tree_sitter_cuda.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)

_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_NESTED_3 = rb"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_TYPE = rb"[A-Za-z_][\w:]*(?:<[^;{}()]{0,200}>)?"
_WORDS = rb"(?:" + _TYPE + rb"[\s*&]+){1,8}"  # what may stand before a declarator; a bound, as each start is tried
_ARGUMENTS = rb"\(" + _NESTED_3 + rb"\)"
_SHOUT = rb"[A-Z][A-Z0-9_]+"  # the shape of a macro that nobody defines

# known to the grammar in some places only; none of them says anything about order
_ATTRIBUTE = re.compile(
    rb"__(?<!\w__)(?:(?:align|launch_bounds|cluster_dims|block_size|maxnreg|attribute)__|attribute|declspec)\s*"
    + _ARGUMENTS
    + rb"|__(?<!\w__)(?:grid_constant__|restrict(?:__)?|forceinline(?:__)?|noinline__|inline(?:__)?|extension__)(?!\w)"
)
_LAMBDA = re.compile(rb"\]\s*((?:__(?:host|device)__\s*)+)")
_QUALIFIER = re.compile(rb"__(?:global|device|host|managed|constant|shared)__")
_KEYWORDS = frozenset(
    b"if for while switch return sizeof catch do else case default new delete throw goto using typedef template class"
    b" struct union enum namespace public private protected static const constexpr extern inline void int float double"
    b" char bool unsigned long short signed auto alignof decltype asm static_assert operator defined".split()
)
# a call at the beginning of a line with a block behind it, and one without a semicolon
_WITH_BLOCK = re.compile(
    rb"\n[ \t]+(?!(?:if|for|while|switch|else|return|catch|do)\b)([A-Za-z_]\w*)[ \t]*\([^;{}]{0,600}\{"
)
_WITHOUT_SEMICOLON = re.compile(rb"\n[ \t]+(" + _SHOUT + rb")[ \t]*\([^;{}]{0,600}\)(?=[ \t]*\r?\n\s*[A-Za-z_}])")
# a lone name in front of a statement, which reads as the type of a declaration: `cudaMalloc(&p, n); CUERR`
_LONE_STATEMENT = re.compile(
    rb"([A-Z](?<!\w[A-Z])[A-Z0-9_]+)[ \t]*\r?\n"
    rb"(?=\s*(?:cu(?:da)?[A-Z]\w*\s*\(|\w+\s*(?:=[^=]|<<<))|[ \t]+(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\s*\([^{}]*?\)\s*;)"
)
_COMPARED_TYPE = re.compile(rb"(?<![\w:])(?:::)?(?:\w+::)+\w+\s*<([^<>;{}]+)>\s*(?:[*&]?\s*\w|[({])")
_NEW_ARGUMENT = re.compile(rb"\(\s*new\b")
_POINTER_TO_FUNCTION = re.compile(
    rb"(?<![\w:])(?:::)?"
    + _TYPE
    + rb"\s*(\(\s*(?:(?:\w+::)+|\w+\s+)?[*&\s]*[*&]\s*)[A-Za-z_]\w*\s*(?:\[[^][(){};]*\]\s*)*(\)\s*\([^(){};]*\))"
)
_LAST_WORD = re.compile(rb"[A-Za-z_]\w*\Z")
_DEEP = 8  # macros that stand for each other
_CALL_LINE = re.compile(rb"(?<![\w.>:])([A-Za-z_]\w*)\s*\(")


@dataclass(slots=True)
class Masked:
    """The masked text, its tree, the ranges that are still errors, and the CUDA qualifiers that masks hid."""

    text: bytes
    tree: tree_sitter.Tree
    errors: tuple[tuple[int, int], ...]
    qualifiers: tuple[tuple[int, str], ...]


@dataclass(slots=True)
class _Work:
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
        elif depth < _DEEP:
            for word in re.findall(rb"[A-Za-z_]\w*", text):
                macro = self.macro(word)
                if macro is not None:
                    self.hide(offset, macro.body, depth + 1)


def mask(text: bytes, macros: Mapping[str, Macro], like: tuple[bytes, tree_sitter.Tree] | None = None) -> Masked:
    """Mask `text`, in which comments, directives and inactive branches are blank already, until it parses as it can.

    `like` are text and tree of the same file in another configuration: what the two share is not parsed again.
    """
    work = _Work(macros)
    if b"__" in text:
        text = _ATTRIBUTE.sub(lambda m: blank(m[0]), text)
        for match in _LAMBDA.finditer(text):
            work.qualifiers.append((match.start(1), match[1].decode().strip()))
        text = _LAMBDA.sub(lambda m: b"]" + blank(m[0][1:]), text)
    text = _apply(text, _written_types(text, macros))
    text = _apply(text, _known_statements(text, work))
    tree = _PARSER.parse(text) if like is None else _reparse(text, *like)
    misread = [
        *_nested_functions(text, tree),
        *_compared_types(text, tree),
        *_new_arguments(text, tree),
        *_pointers_to_functions(text, tree),
    ]
    if misread:
        masked = _apply(text, misread)
        text, tree = masked, _reparse(masked, text, tree)
    if tree.root_node.has_error:
        text, tree = _repair(text, tree, work)
    return Masked(text, tree, tuple(errors(tree)), tuple(work.qualifiers))


_OF_A_TYPE = re.compile(rb"[\w:<>, *&]*[\w>][ *&]*")
_TYPE_ARGUMENTS = re.compile(rb"[ \t]*\(([^(){};\n]*)\)(?=\s*(?:[A-Za-z_&*.>,)]|\.\.\.))")


def _written_types(text: bytes, macros: Mapping[str, Macro]) -> list[Edit]:
    """Uses of macros that write, or may write, a reference, `#define REF(T) T &`: what they stand for, if there is room
    for it, else a reference to a type that is deduced.
    """
    known: dict[bytes, list[tuple[Macro, bytes]]] = {}
    for name, macro in macros.items():
        bodies = [(one, _ATTRIBUTE.sub(b"", one.body).strip()) for one in (macro.either or (macro,))]
        bodies = [(one, body) for one, body in bodies if one.params and _OF_A_TYPE.fullmatch(body)]
        bodies = [(one, body) for one, body in bodies if body.endswith(b"&") or b"reference" in body]
        if bodies:
            known[name.encode()] = bodies
    if not known:
        return []
    edits: list[Edit] = []
    for match in re.finditer(rb"(?<![\w.])(?:%b)\b" % b"|".join(map(re.escape, known)), text):
        given = _TYPE_ARGUMENTS.match(text, match.end())
        macro, body = known[match[0]][0]
        args = [arg.strip() for arg in given[1].split(b",")] if given is not None else []
        if given is None or len(args) != len(macro.params or ()) or not all(map(_OF_A_TYPE.fullmatch, args)):
            continue
        values = dict(zip((param.encode() for param in macro.params or ()), args, strict=True))
        written = re.sub(rb"[A-Za-z_]\w*", lambda word: values.get(word[0], word[0]), body)  # noqa: B023
        room = given.end() - match.start()
        if len(written) > room:
            written = b"auto &"
        if len(written) <= room:
            edits.append((match.start(), written.ljust(room)))
    return edits


def _reparse(text: bytes, old_text: bytes, old: tree_sitter.Tree) -> tree_sitter.Tree:
    """Parse `text`, which has the length and the line ends of `old_text`, reusing what `old` knows."""
    tree = old.copy()
    row, counted, start = 0, 0, -1
    for at in range(0, len(text) + _BLOCK, _BLOCK):
        same = text[at : at + _BLOCK] == old_text[at : at + _BLOCK]
        if not same and start < 0:
            start = at
        elif same and start >= 0:
            end = min(at, len(text))
            row += text.count(b"\n", counted, start)
            first = (row, start - text.rfind(b"\n", 0, start) - 1)
            row += text.count(b"\n", start, end)
            last = (row, end - text.rfind(b"\n", 0, end) - 1)
            tree.edit(start, end, end, first, last, last)
            counted, start = end, -1
    return _PARSER.parse(text, tree)


def errors(tree: tree_sitter.Tree) -> list[tuple[int, int]]:
    """The ranges of what the grammar could not read. A missing semicolon is not among them, nor the type that it misses
    in the default argument `= {}` (a braced list has none: C++17, 11.3.6 [dcl.fct.default] 5).
    """
    return sorted((n.start_byte, n.end_byte) for n, parent in _faulty(tree) if not _is_harmless(n, parent))


def _is_harmless(faulty: tree_sitter.Node, parent: str) -> bool:
    is_type_of_list = faulty.type == "type_identifier" and parent == "compound_literal_expression"
    return faulty.is_missing and (faulty.type == ";" or is_type_of_list)


def _faulty(tree: tree_sitter.Tree) -> Iterator[tuple[tree_sitter.Node, str]]:
    """The nodes that are errors or missing tokens, with the types of their parents.

    A query for them takes a time that is quadratic in their depth, and so does `parent`.
    """
    stack = [(tree.root_node, "")]
    while stack:
        node, parent = stack.pop()
        if node.has_error:
            if node.is_error or node.is_missing:
                yield node, parent
            stack += [(child, node.type) for child in node.children]


def _apply(text: bytes, edits: Sequence[Edit]) -> bytes:
    if not edits:
        return text
    result = bytearray(text)
    for offset, new in edits:
        result[offset : offset + len(new)] = new
    return bytes(result)


# -- before the first parse -------------------------------------------------------------------------------------------


def _known_statements(text: bytes, work: _Work) -> list[Edit]:
    """Semicolons after statement macros that stand without one, and plain heads for macros that open a loop."""
    names = [m.name.encode() for m in work.macros.values() if _is_statement(m) or _ends_statement(m, work)]
    present = words(text) if len(names) > 20 else names
    names = [n for n in names if n in present]
    edits: list[Edit] = []
    for match in _WITHOUT_SEMICOLON.finditer(text):
        if match[1].decode() not in work.macros and starts_statement(text, match.start(1)):
            end = closing(text, text.index(b"(", match.end(1))) + 1
            if end > 0:
                edits += semicolon(text, match.start(1), end)
    for match in _LONE_STATEMENT.finditer(text):
        if match[1].decode() not in work.macros and starts_statement(text, match.start(1)):
            edits += semicolon(text, match.start(1), match.end(1))
    if not names:
        return edits
    behind = -1  # where the statement begins that follows one which got its semicolon
    for match in re.finditer(rb"(?<![\w.>:])(?:" + b"|".join(map(re.escape, names)) + rb")(?!\w)", text):
        macro = work.macro(match[0])
        if (
            macro is None
            or text[match.start() - 1 : match.start()] not in b" \t"
            or not (match.start() == behind or starts_statement(text, match.start()))
        ):
            continue
        end = match.end()
        if _is_nothing(macro):
            edits.append((match.start(), blank(match[0])))
        elif macro.params is not None:
            opening = _skip(text, end)
            if text[opening : opening + 1] != b"(":
                continue
            end = closing(text, opening) + 1
            if end <= 0:
                continue
            last = end - 2
            while text[last] in b" \t\r\n":
                last -= 1
            if text[last] == ord(";") and not macro.opens_loop:  # `CHECK(cudaFree(p););`, with `e = x;` in the body
                edits.append((last, b" "))
        if macro.opens_loop:
            edits += _head(text, match.start(), end, b"if" if macro.body.startswith((b"if", b"switch")) else b"while")
        elif macro.looks or macro.kind == "operates" or _ends_statement(macro, work):
            edits += semicolon(text, match.start(), end)
            behind = _skip(text, end)
    return edits


def _is_statement(macro: Macro) -> bool:
    """Whether a use may stand where a statement does, and be taken for something else."""
    return macro.kind in ("transparent", "operates") or macro.opens_loop or _is_nothing(macro)


def _ends_statement(macro: Macro, work: _Work, depth: int = 0) -> bool:
    """Whether a use without arguments ends in a semicolon of the macro's own, or of one that its text ends in."""
    if macro.params is not None or macro.kind == "opaque" or depth > _DEEP:  # braces that do not match, for example
        return False
    if macro.body.endswith(b";"):
        return True
    last = _LAST_WORD.search(macro.body)
    inner = work.macro(last[0]) if last is not None else None
    return inner is not None and inner is not macro and _ends_statement(inner, work, depth + 1)


def _is_nothing(macro: Macro) -> bool:
    """Whether nothing is left of a use: without a semicolon it reads as the type of what follows."""
    return macro.params is None and not macro.body


def _skip(text: bytes, at: int) -> int:
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
    following = _skip(text, end)
    first = text[following : following + 1]
    if following == end or not (first.isalpha() or first in (b"_", b"}", b"*", b"+", b"-", b"~")):
        return []
    for at in range(end, following):
        if text[at] in b" \t\r":
            return [(at, b";")]
    if text[max(0, start - 400) : start].rstrip().endswith(b"{") and text[start - 1 : start] in b" \t":
        return [(start - 1, b";")]
    return []


def _head(text: bytes, start: int, end: int, keyword: bytes) -> list[Edit]:
    """`keyword (arguments)` in the place of a macro that stands for the head of a loop or branch."""
    opening = text.find(b"(", start, end)
    if opening - start >= len(keyword) and not re.search(
        rb"\b(?:int|auto|size_t|const|float|double|char)\b|[{;]", text[opening:end]
    ):
        return [(start, keyword.ljust(opening - start))]
    head = keyword + b"(_)"
    if end - start < len(head) or b"\n" in text[start : start + len(head)]:
        return []
    return [(start, head + blank(text[start + len(head) : end]))]


def _nested_functions(text: bytes, tree: tree_sitter.Tree) -> Iterator[Edit]:
    """Turn what reads as a function inside a function, `NAME(…) { … }`, into a loop: it is a macro that opens one."""
    for match in _WITH_BLOCK.finditer(text):
        end = closing(text, text.index(b"(", match.end(1))) + 1
        if end <= 0 or text[(at := _skip(text, end)) : at + 1] != b"{":
            continue
        node = tree.root_node.descendant_for_byte_range(match.start(1), end)
        while node is not None and node.type != "function_definition":
            node = node.parent if node.start_byte == match.start(1) else None
        parent = node.parent if node is not None else None
        if node is not None and node.start_byte == match.start(1) and parent is not None:
            if parent.type in ("compound_statement", "case_statement", "else_clause", "if_statement", "for_statement"):
                yield from _head(text, match.start(1), end, b"while")


def _compared_types(text: bytes, tree: tree_sitter.Tree) -> Iterator[Edit]:
    """Let a name stand for the template arguments in `ns::Buffer<4> b(n);`, `if (ns::Buffer<4> b = f())` and
    `new ns::Buffer<4>(n)`: with a number, that reads as if `ns::Buffer` were compared with 4, and no object made.
    """
    for match in _COMPARED_TYPE.finditer(text):
        sign = tree.root_node.descendant_for_byte_range(match.start(1) - 1, match.start(1))
        less = sign.parent if sign is not None and sign.type == "<" else None
        more = less.parent if less is not None and less.type == "binary_expression" else None
        if less is None or more is None or more.type != "binary_expression":
            continue
        start: tree_sitter.Node | None = more
        while start is not None and start.start_byte == match.start() and start.type != "expression_statement":
            start = start.parent
        is_statement = start is not None and start.type == "expression_statement"
        right, around = more.child_by_field_name("right"), more.parent
        begins = right is not None and right.type in ("assignment_expression", "compound_literal_expression")
        declares = begins and around is not None and around.type == "condition_clause"
        if less.children[0].type == "new_expression" or (
            (is_statement or declares) and more.start_byte == match.start()
        ):
            yield match.start(1), re.sub(rb"\W", b"_", b"_" + match[1][1:])


def _new_arguments(text: bytes, tree: tree_sitter.Tree) -> Iterator[Edit]:
    """Let `T *p(new T);` be `T *p=new T ;`: it reads as a function of an object of the class `new`, or as a product."""
    for match in _NEW_ARGUMENT.finditer(text):
        node = tree.root_node.descendant_for_byte_range(match.start(), match.start() + 1)
        listed = node.parent if node is not None else None
        if listed is None or listed.named_child_count != 1:
            continue
        call = listed.parent
        times = call.parent if call is not None and call.type == "call_expression" else None
        statement = times.parent if times is not None and times.type == "binary_expression" else None
        product = times is not None and times.child_count > 1 and times.children[1].type in ("*", "&")
        declares = product and statement is not None and statement.type == "expression_statement"
        if listed.type == "parameter_list" or declares:
            yield match.start(), b"="
            yield listed.end_byte - 1, b" "


def _pointers_to_functions(text: bytes, tree: tree_sitter.Tree) -> Iterator[Edit]:
    """Let `void (*f)() = go;` be `void  *f    = go;`: it reads as a call of what `void(*f)` returns.

    In a function that may be what it is, if it begins with a name, `g(*f)(x)`: there, something has to be assigned.
    """
    for match in _POINTER_TO_FUNCTION.finditer(text):
        node = tree.root_node.descendant_for_byte_range(match.start(1), match.start(1) + 1)
        inner = node.parent.parent if node is not None and node.parent is not None else None
        if inner is not None and inner.type == "function_declarator" and inner.end_byte == match.end():
            around = inner.parent  # no function returns one: `void (*f)(void)(go);`
            if around is not None and around.type == "function_declarator":
                yield from _initialized(match, around)
            continue
        call = inner.parent if inner is not None and inner.type == "call_expression" else None
        statement = call.parent if call is not None and call.type == "call_expression" else None
        given = statement if statement is not None and statement.type != "expression_statement" else None
        statement = given.parent if given is not None else statement
        if inner is None or call is None or statement is None or statement.type != "expression_statement":
            continue
        if statement.start_byte != match.start() or call.end_byte != match.end():
            continue
        named = inner.children[0]
        apart = given is not None and given.type == "assignment_expression" and named.end_byte < match.start(1)
        if named.type == "primitive_type" or (apart and _may_declare(statement)) or _is_outside(statement):
            yield from _initialized(match, given if given is not None and given.type == "call_expression" else None)


def _initialized(match: re.Match[bytes], given: tree_sitter.Node | None) -> Iterator[Edit]:
    """`void (*f)()` as a pointer; `given` ends behind the value in parentheses that stands behind it."""
    yield match.start(1), re.sub(rb"[^*\s]", b" ", match[1].replace(b"&", b"*"))
    yield match.start(2), blank(match[2])
    if given is not None:
        yield match.string.index(b"(", match.end()), b"="
        yield given.end_byte - 1, b" "


def _may_declare(statement: tree_sitter.Node) -> bool:
    return statement.parent is not None and statement.parent.type in ("compound_statement", "case_statement")


def _is_outside(node: tree_sitter.Node) -> bool:
    """Whether a node is in no function."""
    around = node.parent
    while around is not None and around.type != "compound_statement":
        around = around.parent
    return around is None


# -- where the tree has errors ----------------------------------------------------------------------------------------


def _repair(text: bytes, tree: tree_sitter.Tree, work: _Work) -> tuple[bytes, tree_sitter.Tree]:
    faults = _faults(tree)
    if len(faults) > _HOPELESS:
        return text, tree
    for _ in range(3 if len(text) < _LARGE else 1):
        before = faults
        for rule in _RULES:
            if not faults:
                return text, tree
            hidden = len(work.qualifiers)
            edits = [e for start, end in _windows(text, faults) for e in rule(text, start, end, work)]
            new = _apply(text, edits)
            if new == text:
                continue
            candidate = _reparse(new, text, tree)
            left = _faults(candidate)
            if (len(left), sum(e - s for s, e in left)) < (len(faults), sum(e - s for s, e in faults)):
                text, tree, faults = new, candidate, left
            else:
                del work.qualifiers[hidden:]
        if faults == before:
            break
    return text, tree


def _faults(tree: tree_sitter.Tree) -> list[tuple[int, int]]:
    """The ranges of errors and of missing tokens, semicolons included; the fewer and the shorter, the better."""
    return sorted((n.start_byte, n.end_byte) for n, _ in _faulty(tree))


def _windows(text: bytes, faults: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in which rules look: around each fault, from the end of the statement before it to the one after."""
    merged: list[tuple[int, int]] = []
    for begin, stop in faults:
        start = max(text.rfind(b";", 0, begin), text.rfind(b"}", 0, begin)) + 1
        line = text.rfind(b"\n", 0, start) + 1
        for _ in range(2):
            line = text.rfind(b"\n", 0, max(0, line - 1)) + 1
        end = text.find(b"\n", stop)
        for _ in range(3):
            end = text.find(b"\n", end + 1) if end >= 0 else -1
        end = len(text) if end < 0 else end
        if merged and line <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((line, end))
    return merged


def _concatenations(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
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


def _type_arguments(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
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


def _array_of_pointers(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`new float *[n]`, `new const T[n]`."""
    for match in re.finditer(rb"\bnew\s+(const\s)?[\w:<>\s]+?(\*[\s*]*)?(?=\[)", text[start:end]):
        for number in (1, 2):
            if match[number]:
                yield start + match.start(number), blank(match[number])


def _delete_arrays(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`delete[](p)`, which reads as a lambda: the parentheses go."""
    for match in re.finditer(rb"\bdelete\s*\[\s*\]\s*\(", text[start:end]):
        close = closing(text, start + match.end() - 1)
        if close > 0:
            yield start + match.end() - 1, b" "
            yield close, b" "


def _declaring_macros(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`ALIGNED(float x, 16);`: a declaration as an argument stays, the macro around it goes."""
    for match in re.finditer(
        rb"\b([A-Za-z_]\w*\s*\()(\s*" + _TYPE + rb"[\s*&]+[A-Za-z_]\w*\s*)((?:,[^()]*)?\))\s*[=;]", text[start:end]
    ):
        if starts_statement(text, start + match.start()):
            yield start + match.start(1), blank(match[1])
            yield start + match.start(3), blank(match[3])


def _launch_braces(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`<<<{1, 2}, {3}>>>`: braces become parentheses."""
    for match in re.finditer(rb"<<<[^;]*?>>>", text[start:end]):
        if b"{" in match[0]:
            yield start + match.start(), match[0].replace(b"{", b"(").replace(b"}", b")")


def _semicolons(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`SHOUT(…)`, or any call alone on its line, at the beginning of a statement and without a semicolon."""
    for match in _CALL_LINE.finditer(text, start, end):
        name = match[1]
        if name in _KEYWORDS or not starts_statement(text, match.start()):
            continue
        close = closing(text, match.end() - 1) + 1
        if close <= 0:
            continue
        shaped = work.macro(name) or re.fullmatch(_SHOUT, name)
        if shaped or (b"\n" in text[close : _skip(text, close)] and text[match.start() - 1 : match.start()] in b" \t"):
            yield from semicolon(text, match.start(), close)


def _lone_names(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """A name alone on its line: `NAMESPACE_BEGIN` goes, a statement in a function gets its semicolon."""
    for match in re.finditer(rb"^([ \t]*)([A-Za-z_]\w*)[ \t]*(?=\r?$)", text[start:end], re.MULTILINE):
        macro, at = work.macro(match[2]), start + match.start(2)
        if match[2] in _KEYWORDS or not (macro or re.fullmatch(_SHOUT, match[2])):
            continue
        if match[1] and (macro is None or macro.kind != "constant"):
            if starts_statement(text, at):
                yield from semicolon(text, at, start + match.end(2))
        else:
            work.hide(at, match[2])
            yield at, blank(match[2])


_BEFORE_DECLARATION = re.compile(
    rb"(?<![\w.>:\"])("
    + _SHOUT
    + rb"|[A-Za-z_]\w*)(\s*"
    + _ARGUMENTS
    + rb")?\s+(?="
    + _WORDS
    + rb"[\w:~]+\s*[({;=\[,:]|"
    + _TYPE
    + rb"\s*\("
    + _NESTED_3
    + rb"\)\s*(?:const\s*)?[{:])"
)
_AFTER_TYPE = re.compile(rb"(?:\w|[*&>])\s+(" + _SHOUT + rb")\s+(?=[A-Za-z_][\w:]*\s*\()")
_TAG = re.compile(
    rb"\b(?:struct|class|union|enum)\s+("
    + _SHOUT
    + rb"|[A-Za-z_]\w*)(\s*"
    + _ARGUMENTS
    + rb")?\s+(?=[A-Za-z_]\w*(?:\s+final)?\s*[{:;])"
)
_AFTER_DECLARATOR = re.compile(rb"\)\s*(?:const\s*)?(" + _SHOUT + rb")(\s*" + _ARGUMENTS + rb")?\s*(?=[{;])")


def _attribute_macros(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
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


def _is_attribute(name: bytes, work: _Work) -> bool:
    macro = work.macro(name)
    if macro is None:
        return re.fullmatch(_SHOUT, name) is not None
    body = macro.body
    is_type = re.fullmatch(
        rb"(?:const\s+)?(?:unsigned\s+)?(?:int|float|double|char|long|short|half|void)\b[\s*\w]*", body
    )
    return macro.kind in ("constant", "opaque") and is_type is None


def _after_specifier(text: bytes, at: int) -> bool:
    before = text[max(0, at - 40) : at].rstrip()
    return re.search(rb"(?:\b(?:static|inline|extern|constexpr|virtual|friend|const)|\"C\"|>|__)\Z", before) is not None


def _assembly(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
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


def _case_ranges(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`case '0' ... '9':` of GNU C: for which values an arm runs does not matter."""
    for match in _CASE_RANGE.finditer(text, start, end):
        yield match.start(1), blank(match[1])


_TYPENAME = re.compile(rb"\btypename(?=\s+(?:::)?[A-Za-z_][\w:]*(?:<[^;{}()]{0,200}>(?:::\w+)*)?\s*[({])")
_MEASURED_TYPE = re.compile(rb"\bdecltype\s*\(\s*[A-Za-z_]\w*\s*\)(?=\s*[({])")


def _types_of_temporaries(text: bytes, start: int, end: int, work: _Work) -> Iterator[Edit]:
    """`typename V::value_type()`, `decltype(a)(3)`: an object of that type is made (C++17, 8.2.3 [expr.type.conv]).
    The latter becomes a call of a name that nobody declares.
    """
    for match in _TYPENAME.finditer(text, start, end):
        yield match.start(), blank(match[0])
    for match in _MEASURED_TYPE.finditer(text, start, end):
        name = re.sub(rb"\W", b"_", match[0])
        opening = _skip(text, match.end())
        if re.search(rb"\b%b\b" % name, text) is not None:
            continue
        if text[opening : opening + 1] == b"{":
            close = text.find(b"}", opening)
            if close < 0 or re.search(rb"[{;]", text[opening + 1 : close]):
                continue
            yield opening, b"("
            yield close, b")"
        yield match.start(), name


_RULES: tuple[Callable[[bytes, int, int, _Work], Iterator[Edit]], ...] = (
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
