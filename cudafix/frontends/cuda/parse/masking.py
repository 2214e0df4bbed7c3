"""Masks: bytes that the grammar stumbles over, replaced by others of the same length, so that every offset still fits.

Two kinds. Attributes that mean nothing for ordering, and uses of known macros, are masked before the first parse,
because some misparse without an error: `FOR_EACH(i, n) { … }` reads as a nested function, `CHECK(x)` lines without
semicolons read as a declaration. The rest is tried only where the tree has errors, one rule after the other, and a
rule's masks stay only if the tree gets better. Names that nobody defines are judged by their shape (`EXPORT void f()`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cuda

from cudafix.frontends.cuda.parse.mask_rules import (
    ARGUMENTS,
    DEEP,
    RULES,
    SHOUT,
    TYPE,
    Edit,
    Work,
    semicolon,
    skip,
    starts_statement,
)
from cudafix.frontends.cuda.preprocess.directives import blank
from cudafix.frontends.cuda.preprocess.macros import Macro, closing, words

_BLOCK = 256  # bytes that are compared at once to find what changed
_LARGE = 500_000  # bytes from which on a file is repaired in one round, whatever is left
_HOPELESS = 5_000  # errors from which on it is no C++, or what is wrong is not one of the things below
_LANGUAGE = tree_sitter.Language(tree_sitter_cuda.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
# known to the grammar in some places only; none of them says anything about order
_ATTRIBUTE = re.compile(
    rb"__(?<!\w__)(?:(?:align|launch_bounds|cluster_dims|block_size|maxnreg|attribute)__|attribute|declspec)\s*"
    + ARGUMENTS
    + rb"|__(?<!\w__)(?:grid_constant__|restrict(?:__)?|forceinline(?:__)?|noinline__|inline(?:__)?|extension__)(?!\w)"
)
_LAMBDA = re.compile(rb"\]\s*((?:__(?:host|device)__\s*)+)")
# a call at the beginning of a line with a block behind it, and one without a semicolon
_WITH_BLOCK = re.compile(
    rb"\n[ \t]+(?!(?:if|for|while|switch|else|return|catch|do)\b)([A-Za-z_]\w*)[ \t]*\([^;{}]{0,600}\{"
)
_WITHOUT_SEMICOLON = re.compile(rb"\n[ \t]+(" + SHOUT + rb")[ \t]*\([^;{}]{0,600}\)(?=[ \t]*\r?\n\s*[A-Za-z_}])")
# a lone name in front of a statement, which reads as the type of a declaration: `cudaMalloc(&p, n); CUERR`
_LONE_STATEMENT = re.compile(
    rb"([A-Z](?<!\w[A-Z])[A-Z0-9_]+)[ \t]*\r?\n"
    rb"(?=\s*(?:cu(?:da)?[A-Z]\w*\s*\(|\w+\s*(?:=[^=]|<<<))|[ \t]+(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\s*\([^{}]*?\)\s*;)"
)
_NESTED_TYPES = rb"[^<>;{}]|<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*>"
_COMPARED_TYPE = re.compile(rb"(?<![\w:])(?:::)?(?:\w+::)+\w+\s*<((?:" + _NESTED_TYPES + rb")+)>\s*(?:[*&]?\s*\w|[({])")
_NEW_ARGUMENT = re.compile(rb"\(\s*new\b")
_CALLS_IN_A_LIST = re.compile(
    rb"^[ \t]*\w[\w:<>,*& \t]*\w[ \t]*(\()[^;{}=\n]{0,200}?\w\s*\(\s*\)[^;{}=\n]{0,200}\)\s*;", re.MULTILINE
)
_POINTER_TO_FUNCTION = re.compile(
    rb"(?<![\w:])(?:::)?"
    + TYPE
    + rb"\s*(\(\s*(?:(?:\w+::)+|\w+\s+)?[*&\s]*[*&]\s*)[A-Za-z_]\w*\s*(?:\[[^][(){};]*\]\s*)*(\)\s*\([^(){};]*\))"
)
_LAST_WORD = re.compile(rb"[A-Za-z_]\w*\Z")


@dataclass(slots=True)
class Masked:
    """The masked text, its tree, the ranges that are still errors, and the CUDA qualifiers that masks hid."""

    text: bytes
    tree: tree_sitter.Tree
    errors: tuple[tuple[int, int], ...]
    qualifiers: tuple[tuple[int, str], ...]


def mask(
    text: bytes,
    macros: Mapping[str, Macro],
    like: tuple[bytes, tree_sitter.Tree] | None = None,
    redefined: Collection[str] = (),
) -> Masked:
    """Mask `text`, in which comments, directives and inactive branches are blank already, until it parses as it can.
    Macros that are `redefined` are no attributes anywhere.

    `like` are text and tree of the same file in another configuration: what the two share is not parsed again.
    """
    work = Work(macros)
    if b"__" in text:
        text = _ATTRIBUTE.sub(lambda m: blank(m[0]), text)
        for match in _LAMBDA.finditer(text):
            work.qualifiers.append((match.start(1), match[1].decode().strip()))
        text = _LAMBDA.sub(lambda m: b"]" + blank(m[0][1:]), text)
    lasting = {name: macro for name, macro in macros.items() if name not in redefined}
    text = _apply(text, _only_attributes(text, lasting))
    text = _apply(text, _written_types(text, macros))
    text = _apply(text, _known_statements(text, work))
    tree = _PARSER.parse(text) if like is None else _reparse(text, *like)
    misread = [
        *_nested_functions(text, tree),
        *_compared_types(text, tree),
        *_new_arguments(text, tree),
        *_calls_as_parameters(text, tree),
        *_pointers_to_functions(text, tree),
    ]
    if misread:
        masked = _apply(text, misread)
        text, tree = masked, _reparse(masked, text, tree)
    if tree.root_node.has_error:
        text, tree = _repair(text, tree, work)
    return Masked(text, tree, tuple(errors(tree)), tuple(work.qualifiers))


# none of these runs anything, as `cleanup` does, or changes where an object lives, as `thread` does
# (GCC manual, "Common Attributes"; Microsoft C++ reference, `__declspec`)
_HARMLESS = (
    rb"_*(?:align(?:ed)?|always_inline|noinline|forceinline|unused|used|packed|hot|cold|flatten|deprecated|dllexport|dllimport"
    rb"|visibility|warn_unused_result|nonnull|format|may_alias)_*\s*(?:%b)?" % ARGUMENTS
)
_OF_NO_ORDER = re.compile(
    rb"(?:__attribute__|__attribute|__declspec)\s*\(\s*\(?\s*%b(?:\s*,\s*%b)*\s*\)?\s*\)|__align__\s*%b"
    % (_HARMLESS, _HARMLESS, ARGUMENTS)
)


def _is_attribute(macro: Macro, macros: Mapping[str, Macro], depth: int = DEEP) -> bool:
    """Whether a use of a macro becomes nothing but attributes that say nothing about order, or other such macros."""
    for one in macro.either or (macro,):
        body, count = _OF_NO_ORDER.subn(b"", one.body)
        name = re.match(rb"\s*([A-Za-z_]\w*)\s*(%b)?\s*\Z" % ARGUMENTS, body)
        inner = macros.get(name[1].decode()) if name is not None and not count and depth else None
        if not (count and not body.strip()) and (inner is None or not _is_attribute(inner, macros, depth - 1)):
            return False
    return bool(macro.either) or not macro.several


def _only_attributes(text: bytes, macros: Mapping[str, Macro]) -> list[Edit]:
    """Uses of macros that are attributes, wherever they stand: `int ALIGNED(64) a[20]`, `float *p UNUSED`."""
    known = {name.encode(): macro for name, macro in macros.items() if _is_attribute(macro, macros)}
    edits: list[Edit] = []
    for match in re.finditer(rb"\b(?:%b)\b" % b"|".join(map(re.escape, known)), text) if known else ():
        end = match.end()
        if known[match[0]].params is not None:  # function-like: a name without parentheses is no use of it
            opening = skip(text, end)
            if text[opening : opening + 1] != b"(" or (end := closing(text, opening) + 1) == 0:
                continue
        edits.append((match.start(), blank(text[match.start() : end])))
    return edits


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


def _known_statements(text: bytes, work: Work) -> list[Edit]:
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
            opening = skip(text, end)
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
            behind = skip(text, end)
    return edits


def _is_statement(macro: Macro) -> bool:
    """Whether a use may stand where a statement does, and be taken for something else."""
    return macro.kind in ("transparent", "operates") or macro.opens_loop or _is_nothing(macro)


def _ends_statement(macro: Macro, work: Work, depth: int = 0) -> bool:
    """Whether a use without arguments ends in a semicolon of the macro's own, or of one that its text ends in."""
    if macro.params is not None or macro.kind == "opaque" or depth > DEEP:  # braces that do not match, for example
        return False
    if macro.body.endswith(b";"):
        return True
    last = _LAST_WORD.search(macro.body)
    inner = work.macro(last[0]) if last is not None else None
    return inner is not None and inner is not macro and _ends_statement(inner, work, depth + 1)


def _is_nothing(macro: Macro) -> bool:
    """Whether nothing is left of a use: without a semicolon it reads as the type of what follows."""
    return macro.params is None and not macro.body


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
        if end <= 0 or text[(at := skip(text, end)) : at + 1] != b"{":
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
    `new ns::Buffer<4>(n)`: with a number, that reads as if `ns::Buffer` were compared with 4, and no object made. The
    same of `std::list<std::list<std::list<T>>> b(n);`.
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


def _calls_as_parameters(text: bytes, tree: tree_sitter.Tree) -> Iterator[Edit]:
    """Outside of functions, let `static int x(f());` be `static int x=f() ;`, and `T x(f(), a);` be `T x{f(), a};`: it
    reads as a function that is given functions. Nobody declares one so, without a name for any of its parameters.
    """
    for match in _CALLS_IN_A_LIST.finditer(text):
        listed = tree.root_node.descendant_for_byte_range(match.start(1), match.start(1) + 1)
        listed = listed.parent if listed is not None and listed.type == "(" else listed
        function = listed.parent if listed is not None and listed.type == "parameter_list" else None
        around = function.parent if function is not None and function.type == "function_declarator" else None
        if listed is None or around is None or around.type != "declaration" or not _is_outside(around):
            continue
        calls = [_call_of(one) for one in listed.named_children]
        if None not in calls and any(calls):
            first, last = (b"=", b" ") if len(calls) == 1 else (b"{", b"}")
            yield listed.start_byte, first
            yield listed.end_byte - 1, last


def _call_of(parameter: tree_sitter.Node) -> bool | None:
    """Whether what reads as a parameter is `f()`; None if it is neither that nor a name."""
    kind, declarator = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
    if kind is None or kind.type not in ("type_identifier", "qualified_identifier"):
        return None
    if parameter.type != "parameter_declaration" or parameter.named_child_count != 1 + (declarator is not None):
        return None
    if declarator is None:
        return False
    inner = declarator.child_by_field_name("parameters")
    is_call = declarator.type == "abstract_function_declarator" and declarator.named_child_count == 1
    return True if is_call and inner is not None and not inner.named_child_count else None


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


def _repair(text: bytes, tree: tree_sitter.Tree, work: Work) -> tuple[bytes, tree_sitter.Tree]:
    faults = _faults(tree)
    if len(faults) > _HOPELESS:
        return text, tree
    for _ in range(3 if len(text) < _LARGE else 1):
        before = faults
        for rule in RULES:
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
