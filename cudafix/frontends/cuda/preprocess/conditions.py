"""The conditions of `#if`: what the compiler decides, and what is a free choice of whoever builds the program.

A condition is compiled once to a small tree and evaluated in an environment of known macros and chosen atoms. An atom
is what nothing in the file decides: `defined(X)`, `X`, or a comparison, by its normalized text. Values are intervals,
because a version of the toolkit is only known from below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Node: TypeAlias = "tuple[str, tuple[Node, ...], str]"  # operator, operands, normalized text
Interval: TypeAlias = tuple[float, float]

_WORD = re.compile(r"[A-Za-z_]\w*|(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*|'[^']*'|\"[^\"]*\"|&&|\|\||[=!<>]=|<<|>>|\S")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\Z")
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_TRUE, _FALSE = (1.0, 1.0), (0.0, 0.0)
_ANY = float("inf")

# cudaMallocAsync came with CUDA 11.2: a program that is to use it is built with that or a later one. Host code is
# compiled with __CUDA_ARCH__ undefined (CUDA programming guide, "__CUDA_ARCH__").
VERSIONS: Mapping[str, Interval] = {
    "CUDART_VERSION": (11020, _ANY),
    "CUDA_VERSION": (11020, _ANY),
    "__CUDART_API_VERSION": (11020, _ANY),
    "__CUDA_API_VERSION": (11020, _ANY),
    "__CUDACC_VER_MAJOR__": (11, _ANY),
    "__CUDACC_VER_MINOR__": (0, _ANY),
    "__cplusplus": (201402, _ANY),
    "__STDC__": _TRUE,
}
NVCC: Mapping[str, Interval] = {"__CUDACC__": _TRUE, "__NVCC__": _TRUE}
DEVICE: Mapping[str, Interval] = {"__CUDA_ARCH__": (900, _ANY)}
# free choices, but what a build machine with a GPU most often has
LIKELY = frozenset(("__x86_64__", "defined(__x86_64__)", "NDEBUG", "defined(NDEBUG)"))

# A toolkit that has cudaMallocAsync compiles for 64-bit hosts with Linux, Windows or, where the code names it, QNX.
# macOS and 32-bit hosts went with CUDA 11.0 and before (release notes); on Windows nvcc takes no compiler but
# Microsoft's (installation guide), and those that it takes elsewhere define __GNUC__. So the macros that tell platforms
# apart, with those that build files customarily define, all go with _WIN32 or against it.
_ABSENT = frozenset(
    ("__APPLE__", "__APPLE_CC__", "__MACH__", "MACOSX", "__MACOSX", "__MACOSX__", "__CYGWIN__", "__MINGW32__",
     "__MINGW64__", "_WIN32_WCE", "__arm__", "__i386__", "_M_IX86")
)  # fmt: skip
_WINDOWS = frozenset(
    ("_WIN32", "WIN32", "__WIN32__", "_WIN64", "WIN64", "__WIN64__", "_MSC_VER", "_MSC_FULL_VER", "_M_X64", "_M_AMD64")
)
_LINUX = frozenset(("__linux__", "__linux", "linux", "__gnu_linux__"))
_QNX = frozenset(("__QNX__", "__QNXNTO__"))
_NOT_WINDOWS = _LINUX | {"__unix__", "__unix", "unix", "__GNUC__", "__LP64__", "_LP64"}
_PLATFORM = _ABSENT | _WINDOWS | _QNX | _NOT_WINDOWS


def decider(name: str) -> str:
    """The macro that decides whether `name` is defined: itself, but for those of a platform."""
    if name in _QNX:
        return "__QNX__"
    return "_WIN32" if name in _WINDOWS or name in _NOT_WINDOWS else name


class Free(Exception):
    """Evaluation met an atom that nobody has chosen; `atom` is its text."""

    def __init__(self, atom: str) -> None:
        super().__init__(atom)
        self.atom = atom


def parse(keyword: bytes, text: bytes) -> Node:
    """The tree of the condition after `#keyword`. Malformed text becomes one atom."""
    source = text.decode("utf-8", "replace")
    words: list[str] = _WORD.findall(source)
    if keyword in (b"ifdef", b"ifndef", b"elifdef", b"elifndef"):
        node: Node = ("defined", (), words[0] if words else "")
        return ("!", (node,), "") if keyword.endswith(b"ndef") else node
    try:
        node, at = _expression(words, 0, 1)
    except (IndexError, RecursionError):
        at = -1
    return node if at == len(words) else ("atom", (), " ".join(words))


def _expression(words: list[str], at: int, level: int) -> tuple[Node, int]:
    left, end = _unary(words, at)
    while end < len(words) and _BINARY.get(words[end], 0) >= level:
        operator = words[end]
        right, end = _expression(words, end + 1, _BINARY[operator] + 1)
        left = (operator, (left, right), " ".join(words[at:end]))
    if level == 1 and end < len(words) and words[end] == "?":
        raise IndexError
    return left, end


def _unary(words: list[str], at: int) -> tuple[Node, int]:
    word = words[at]
    if word in ("!", "-", "+", "~"):
        operand, end = _unary(words, at + 1)
        return (word, (operand,), " ".join(words[at:end])), end
    if word == "(":
        inner, end = _expression(words, at + 1, 1)
        if words[end] != ")":
            raise IndexError
        return inner, end + 1
    if word == "defined":
        if words[at + 1] == "(":
            return ("defined", (), words[at + 2]), at + 4
        return ("defined", (), words[at + 1]), at + 2
    if _NUMBER.match(word):
        return ("number", (), word), at + 1
    if not (word[0].isalpha() or word[0] == "_"):
        raise IndexError
    if at + 1 < len(words) and words[at + 1] == "(":
        depth, end = 0, at + 1
        while True:
            depth += {"(": 1, ")": -1}.get(words[end], 0)
            end += 1
            if depth == 0:
                return ("atom", (), "".join(words[at:end])), end
    return ("name", (), word), at + 1


def names(node: Node) -> set[str]:
    """The macros that `node` asks about."""
    operator, operands, text = node
    if operator in ("defined", "name"):
        return {text}
    if operator == "atom":
        return set(re.findall(r"[A-Za-z_]\w*", text))
    return set().union(*(names(o) for o in operands))


@dataclass(slots=True)
class Environment:
    """`defined` maps each macro that is certainly defined to its body (None: some value); `gone` certainly are not.

    `chosen` holds the atoms decided so far, `met` those that were asked for. `fork` says whether
    an undecided atom raises `Free` or takes its default. `device` says whether device code is asking.
    """

    builtin: Mapping[str, Interval]
    chosen: dict[str, bool]
    defined: dict[str, str | None] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    met: dict[str, bool] = field(default_factory=dict)
    fork: bool = False
    device: bool = False

    def holds(self, node: Node) -> bool:
        """Whether the condition is true here."""
        operator, operands, text = node
        if operator == "!":
            return not self.holds(operands[0])
        if operator == "&&":
            return self.holds(operands[0]) and self.holds(operands[1])
        if operator == "||":
            return self.holds(operands[0]) or self.holds(operands[1])
        if operator == "defined":
            return self._is_defined(text)
        if operator == "name" and text in _PLATFORM and text not in self.defined:
            return self._is_defined(text)  # none of them is defined as 0
        value = self._value(node)
        if value is None or value[0] <= 0 <= value[1] and value[0] != value[1]:
            if operator == "name" and self.chosen.get(f"defined({text})") is False:
                return False
            return self._atom(text)
        return value != _FALSE

    def _is_defined(self, name: str) -> bool:
        if name in self.defined:
            return True
        if name in self.gone:
            return False
        if name == "__CUDA_ARCH__":
            return self.device
        if name in self.builtin or self.chosen.get(name):
            return True
        return name not in _ABSENT and self._is_free(name)

    def _is_free(self, name: str) -> bool:
        """Whether a macro is defined about which the file says nothing."""
        windows, qnx = "defined(_WIN32)", "defined(__QNX__)"
        if name in _WINDOWS:
            return not self.chosen.get(qnx) and self._atom(windows)
        if name in _QNX:
            return not self.chosen.get(windows) and self._atom(qnx)
        if name in _NOT_WINDOWS:
            return not (name in _LINUX and self.chosen.get(qnx)) and not self._is_free("_WIN32")
        return self._atom(f"defined({name})")

    def _atom(self, text: str) -> bool:
        if text in self.chosen:
            value = self.chosen[text]
        elif self.fork:
            raise Free(text)
        else:
            value = text in LIKELY
        self.met[text] = value
        return value

    def _value(self, node: Node, depth: int = 0) -> Interval | None:
        operator, operands, text = node
        if operator == "number":
            match = _NUMBER.match(text)
            digits = match[1] if match else "0"
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit() and not set(digits) & set("89")
            number = float(int(digits, 8 if octal else 10 if digits.isdigit() else 16))
            return number, number
        if operator == "name":
            return self._name(text, depth)
        if operator == "defined":
            return _TRUE if self._is_defined(text) else _FALSE
        values = [self._value(o, depth) for o in operands]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            return _apply(operator, values[0], values[1])
        if operator == "-" and len(values) == 1 and values[0] is not None:
            return -values[0][1], -values[0][0]
        return None

    def _name(self, name: str, depth: int) -> Interval | None:
        if name in ("true", "false"):
            return _TRUE if name == "true" else _FALSE
        if name in self.defined:
            body = self.defined[name]
            # a macro of macros: a chain longer than this is a cycle
            return self._value(parse(b"if", body.encode()), depth + 1) if body and depth < 20 else None
        if name == "__CUDA_ARCH__":
            return DEVICE[name] if self.device else _FALSE
        if name in self.gone or (name in _PLATFORM and not self._is_defined(name)):
            return _FALSE
        return self.builtin.get(name)


def _apply(operator: str, a: Interval, b: Interval) -> Interval | None:
    if operator in ("<", ">", "<=", ">="):
        if operator in (">", ">="):
            a, b, operator = b, a, operator.replace(">", "<")
        strict = operator == "<"
        if a[1] < b[0] or (not strict and a[1] == b[0]):
            return _TRUE
        return _FALSE if a[0] > b[1] or (strict and a[0] == b[1]) else None
    if operator in ("==", "!="):
        same = a[0] == a[1] == b[0] == b[1]
        apart = a[1] < b[0] or b[1] < a[0]
        if not same and not apart:
            return None
        return _TRUE if same == (operator == "==") else _FALSE
    if a[0] != a[1] or b[0] != b[1]:
        return None
    x, y = int(a[0]), int(b[0])
    if operator in ("/", "%") and y == 0 or operator in ("<<", ">>") and not 0 <= y < 64:
        return None
    result = {
        "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x // y, "%": lambda: x % y,
        "&": lambda: x & y, "|": lambda: x | y, "^": lambda: x ^ y, "<<": lambda: x << y, ">>": lambda: x >> y,
        "&&": lambda: int(bool(x and y)), "||": lambda: int(bool(x or y)),
    }[operator]()  # fmt: skip
    return float(result), float(result)
