"""What a `#define` is for: a macro that passes one argument on, one that acts, a constant, another name for a function.

The kinds decide how lowering treats a use; they are read off the body by its shape, never by the macro's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from cudafix.frontends.cuda.preprocess.directives import Directive
from cudafix.ir.names import WORD_IN_BYTES

_DEFINE = re.compile(rb"[ \t\f]*([A-Za-z_]\w*)(\(([^)]*)\))?")
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"|' + rb"'(?:[^'\\]|\\.){1,8}'")
_CALL = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<<<.*?>>>\s*)?\(", re.DOTALL)
_NAME = re.compile(r"\w+")
# calls that a macro may make on the status it was given, or on its way out, without being an operation of its own
_REPORTING = re.compile(
    rb"(?:cuda|cu|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl|hip)?Get(?:Last)?(?:Error|Status)(?:String|Name|Enum)?\w*\Z"
    rb"|cudaPeekAtLastError\Z|_?cudaGetErrorEnum\Z|c(?:uda|ublas|ufft)\w*ErrorString\Z|\w*StatusTo\w*\Z"
    rb"|f?printf\Z|fputs\Z|puts\Z|perror\Z|fflush\Z|exit\Z|_?_exit\Z|abort\Z|assert\Z|terminate\Z|runtime_error\Z|string\Z"
    rb"|to_string\Z|if\Z|while\Z|sizeof\Z|switch\Z|for\Z|static_cast\Z|decltype\Z|__builtin_expect\Z|defined\Z"
    rb"|cudaDeviceReset\Z|MPI_Abort\Z|strerror\Z|alignas\Z|__[a-z]\w*__\Z|__declspec\Z|_Pragma\Z"
)
# a function that is handed the status and where it came from
_CHECKING = re.compile(
    rb"(?i)(?!\w*(?:alloc|free|sync|launch|copy|last|peek))\w*(?:check|assert|err(?:or)?(?![a-z])|handle|verify)\w*\Z"
)
_WHERE = re.compile(rb"\b__(?:LINE|FILE|func|FUNCTION)__\b")
_CONTROL = re.compile(rb"\b(?:return|goto|break|continue|throw|co_return|co_yield)\b|<<<")
_STATEMENT = re.compile(rb"[;{}]|[^=!<>]=[^=]|\+\+|--|\b(?:if|for|while|do|switch|delete|new)\b")
_ACTS = re.compile(rb"[;{]|\b(?:if|while|do|switch|delete)\b|[^=!<>]=[^=]|\+\+|--")
_API_NAME = re.compile(
    rb"(?:(?:cuda|hip|musa|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl)[A-Z_]\w*|cu[A-Z][a-z]\w*"
    rb"|free|malloc|calloc|realloc|exit|abort)\Z"
)
_ACTING_NAME = re.compile(rb"(?i:\w*(?:alloc|free|sync|launch|copy|last|peek))|" + _API_NAME.pattern)
_IS_COMPARED = re.compile(rb"[!=]=|[<>]=?|\b(?:if|assert|switch)\b|\?|\b(?:cuda|hip)Success\b")
TYPE_WORDS = frozenset(
    b"void char short int long float double signed unsigned bool size_t auto const struct class enum union".split()
)


def variadic_name(param: str) -> bytes:
    """What the body of a macro calls its last parameter, `...` or `pack...`."""
    return param.removesuffix("...").strip().encode() or b"__VA_ARGS__"


@dataclass(frozen=True, slots=True)
class Macro:
    """One `#define`. `body` is the text at `body_start` of the file at `path`, its line continuations made spaces.

    `params` is None for an object-like macro; a variadic one ends in `...` or in the name of its pack. `kind`:

    - `transparent`: function-like, evaluates one parameter, number `passes`, exactly once as an expression whose value
      it checks or passes on (`CHECK(x)`); its other parameters are evaluated at most once, as plain values; `looks`
      says whether it looks at the value (compares it, or hands it to a function, which may do more than look);
    - `operates`: the body acts itself (calls, launches, returns, jumps, statements): lowered like a function;
    - `constant`: an expression, a type, a qualifier or nothing, without a call that matters;
    - `rename`: another name for a callee, or one pasted together (`#define MALLOC cudaMalloc`, `cuda##x`);
    - `opaque`: anything else: unbalanced braces, a loop header, a definition, or one of several macros.

    `several`: it is one of several, and nothing says which; `body` has the words of all. `either`: these, where it
    certainly is one of them.
    """

    name: str
    params: tuple[str, ...] | None
    body: bytes
    body_start: int
    path: str
    kind: str
    passes: int | None
    looks: bool
    either: tuple[Macro, ...] = ()
    several: bool = False

    @property
    def name_instead(self) -> str:
        """The name that an object-like macro puts in its place; empty where it is anything else."""
        if self.params is not None or self.kind not in ("rename", "constant"):
            return ""
        return _named(self.body)

    @property
    def names_instead(self) -> tuple[str, ...]:
        """The names of which it puts one in its place, as a condition says; one "" where it may be anything else."""
        if not self.either:
            return (self.name_instead,)
        names = tuple(dict.fromkeys(one.name_instead for one in self.either))
        return names if all(names) else ("",)

    @property
    def opens_loop(self) -> bool:
        """Whether a use is the head of a loop or a branch: `#define FOR_EACH(i, n) for (int i = 0; i < n; i++)`."""
        return _HEAD.match(self.body) is not None and _without_tail(self.body) == b""


@lru_cache(maxsize=1 << 13)
def _named(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()
    return text if re.fullmatch(r"(?!\d)[\w:]+", text) else ""  # a number is none


_SIMPLE = re.compile(rb"\(?[-+]?[\w.]*\)?\Z")
_HEAD = re.compile(rb"\s*(?:for|while|if|switch)\s*\(")


def _without_tail(body: bytes) -> bytes:
    """What follows the last complete head (`for (…)`, `if (…)`) at the beginning of `body`."""
    match = _HEAD.match(body)
    while match is not None:
        end = closing(body, match.end() - 1)
        if end < 0:
            return body
        body = body[end + 1 :]
        match = _HEAD.match(body)
    return body.strip()


def closing(text: bytes, opening: int) -> int:
    """The offset of the bracket that closes the one at `opening`, or -1. Literals are skipped."""
    depth = 0
    for match in _BRACKET.finditer(text, opening, opening + _LONGEST):
        byte = match[0]
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


_LONGEST = 50_000  # bytes between two brackets that belong together; what is longer counts as unbalanced
_BRACKET = re.compile(rb"[(){}\[\]]|" + STRING.pattern)


def define(directive: Directive, path: str) -> Macro | None:
    """The macro that a `#define` directive makes, classified by its body; None for a malformed directive."""
    match = _DEFINE.match(directive.rest)
    if match is None:
        return None
    params = None if match[2] is None else tuple(p.strip().decode("utf-8", "replace") for p in match[3].split(b","))
    if params == ("",):
        params = ()
    rest = directive.rest[match.end() :].rstrip()
    if params and params[-1].endswith("..."):  # `, ##__VA_ARGS__` takes the comma away where nothing follows
        rest = re.sub(rb"(,\s*)##(?=\s*" + re.escape(variadic_name(params[-1])) + rb"\b)", rb"\1  ", rest)
    start = directive.rest_start + match.end() + len(rest) - len(rest.lstrip())
    body = rest.lstrip()
    kind, passes, looks = _classify(params, body)
    return Macro(match[1].decode(), params, body, start, path, kind, passes, looks)


_PASTED = re.compile(rb"\w+(?:\s*##\s*\w+)+")
_PASTE = re.compile(rb"\s*##\s*")


def with_body(macro: Macro, body: bytes) -> Macro:
    """The macro with another text, in the same place."""
    kind, passes, looks = _classify(macro.params, body)
    return replace(macro, body=body, kind=kind, passes=passes, looks=looks)


@lru_cache(maxsize=1 << 10)
def joined(macro: Macro) -> Macro | None:
    """The macro with one name for what `a ## b` makes, as long as that is written. None where it makes no names."""
    body = _PASTED.sub(lambda found: _PASTE.sub(lambda sign: b"_" * len(sign[0]), found[0]), macro.body)
    if b"##" in body:
        return None
    return with_body(macro, body)


def pasted(macro: Macro, arguments: Mapping[str, str]) -> dict[str, str] | None:
    """What the names in the body of a `joined` macro are; None where an argument is no name or number."""
    found: dict[str, str] = {}
    for match in _PASTED.finditer(macro.body):
        written = [part.decode() for part in _PASTE.split(match[0])]
        parts = [arguments.get(part, part if part not in (macro.params or ()) else "") for part in written]
        if not all(_NAME.fullmatch(part) for part in parts):
            return None
        found[_PASTE.sub(lambda sign: b"_" * len(sign[0]), match[0]).decode()] = "".join(parts)
    return found


def _classify(params: tuple[str, ...] | None, body: bytes) -> tuple[str, int | None, bool]:
    if params is None and _SIMPLE.match(body):
        return ("rename" if _API_NAME.match(body) else "constant"), None, False
    code = STRING.sub(lambda m: b'"' + b" " * (len(m[0]) - 2) + b'"', body)
    if not code:
        # a use with arguments evaluates none of them: the same as a function without a body
        return ("operates" if params else "constant"), None, False
    if b"##" in code:
        pasted = re.search(rb"\w*\s*##\s*\w+(?:\s*##\s*\w+)*", code)
        return ("rename" if pasted and not re.search(rb"[;{}]", code) else "opaque"), None, False
    if _HEAD.match(code) and not _without_tail(code):
        return "opaque", None, False
    if any(code.count(a) != code.count(b) for a, b in ((b"{", b"}"), (b"(", b")"))):
        return "opaque", None, False
    if re.search(rb"__global__|__device__|\b(?:class|namespace|template)\b", code) and b"{" in code:
        return "opaque", None, False
    calls = {name for name in _CALL.findall(code) if name not in TYPE_WORDS}
    names = {p.encode() for p in params or ()}
    located = _WHERE.search(code) is not None
    checking = {c for c in calls if _CHECKING.match(c) or (located and not _ACTING_NAME.match(c))}
    acting = {c for c in calls if not _REPORTING.match(c)} - checking
    if params is None:
        if _API_NAME.match(code):
            return "rename", None, False
        acts = (
            {c for c in calls if not c.startswith(b"__") and c != b"sizeof"}
            or _CONTROL.search(code)
            or re.search(rb";.|[{]", code)
        )
        return ("operates" if acts else "constant"), None, False
    if _CONTROL.search(code) or any(_API_NAME.match(c) for c in acting):
        return "operates", None, False
    passes = _passed(params, code)
    if passes is not None and not names & calls:
        inner = code.strip(b"() ;")
        identity = inner in names or inner == b"__VA_ARGS__"
        if identity:
            return "transparent", passes, False
        if not acting and (checking or b"assert" in calls or _IS_COMPARED.search(code) and _STATEMENT.search(code)):
            return "transparent", passes, True
    if acting or _ACTS.search(code):
        return "operates", None, False
    return "constant", None, False


def _passed(params: tuple[str, ...], code: bytes) -> int | None:
    """The one parameter that `code` evaluates exactly once, on every path; None if there is no such one.

    With several candidates: the one that initializes a variable or is compared, else the first. A parameter behind
    `if (…)`, `?`, `&&`, `||` or in a loop that is not `do … while (0)` may not run at all, or run twice.
    """
    candidates: list[tuple[bool, int]] = []
    for number, param in enumerate(params):
        pack = param == "..." or param.endswith("...")
        name = variadic_name(param) if pack else param.encode()
        uses = re.finditer(rb"(?<![\w.>])" + re.escape(name) + rb"\b(?!\s*##)", code)
        evaluated = [m for m in uses if not re.search(rb"#\s*\Z|\bsizeof\s*\(\s*\Z", code[: m.start()])]
        if len(evaluated) > 1 and not pack and len(params) == 1:
            return None
        if len(evaluated) != 1:
            continue
        use = evaluated[0]
        if not _always_runs(code[: use.start()]):
            continue
        initializes = re.search(rb"[^=!<>]=\s*\(*\s*(?:\([\w ]+\)\s*)?\(*\s*\Z", code[: use.start()]) is not None
        compared = re.match(rb"[\s)]*[!=]=", code[use.end() :]) is not None
        candidates.append((initializes or compared, number))
    if not candidates:
        return None
    chosen = [number for strong, number in candidates if strong]
    if len(chosen) > 1:
        return None
    return chosen[0] if chosen else candidates[0][1]


def _always_runs(before: bytes) -> bool:
    """Whether the expression after `before` runs exactly once when the macro's body runs."""
    # what stands in the same parentheses or in no parentheses at all decides
    depth, text = 0, []
    for byte in reversed(before):
        opens, closes = byte == 0x28, byte == 0x29
        depth -= opens and depth > 0
        if depth == 0:  # of what is closed, the parentheses
            text.append(byte)
        depth += closes
    outer = bytes(reversed(text))
    statement = re.split(rb"[;{}]", outer)[-1]
    if re.search(rb"\?|&&|\|\|", statement):
        return False
    # a head whose parentheses are closed before the expression, in this statement or around it
    heads = re.finditer(rb"\b(if|for|while|switch|else|case)\b\s*(\((?!\)))?", outer)
    return all(m[1] in (b"if", b"switch") and m[2] for m in heads) and not re.search(rb"\bfor\b|\belse\b", outer)


def words(text: bytes) -> set[bytes]:
    """The identifiers in `text`."""
    return set(WORD_IN_BYTES.findall(text))
