"""Kernels that a program has as CUDA C++ text, as Python functions: the statements that small kernels are made of.

What is not understood raises `NotImplementedError`, and the program is not judged.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from tests.late.python.device import POISONED, DeviceFault, end, the

_PARSER = Parser(Language(tree_sitter_cuda.language()))
_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_SIZES = {
    "char": 1,
    "bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "short": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "int": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "long": 8,
    "long long": 8,
    "int64_t": 8,
    "uint64_t": 8,
    "size_t": 8,
}


def format_of(kind: str) -> str:
    """The code that `memoryview` has for a type of C++."""
    words = [word for word in kind.split() if word not in ("const", "volatile", "__restrict__", "signed")]
    if words == ["float"] or words == ["double"]:
        return words[0][0]
    unsigned = "unsigned" in words or any(word.startswith("u") or word == "size_t" for word in words)
    rest = " ".join(word for word in words if word != "unsigned") or "int"
    if rest not in _SIZES:
        raise NotImplementedError(f"type {kind}")
    code = _SIGNED[_SIZES[rest]]
    return code.upper() if unsigned else code


def converted(code: str, value: Any) -> Any:
    """`value` as a variable of that type holds it."""
    if code in "fd":
        return float(value)
    bits = 8 * ctypes.sizeof(CTYPES[code])
    number = int(value) & (1 << bits) - 1
    return number - (1 << bits) if code.islower() and number >> (bits - 1) else number


CTYPES: dict[str, Any] = {
    "b": ctypes.c_int8,
    "B": ctypes.c_uint8,
    "h": ctypes.c_int16,
    "H": ctypes.c_uint16,
    "i": ctypes.c_int32,
    "I": ctypes.c_uint32,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "?": ctypes.c_bool,
}


class Pointer:
    """An address in a kernel. The block behind it is looked up at the first access: it stays while the kernel runs."""

    def __init__(self, address: int, code: str, at: int = 0) -> None:
        self.address, self.code, self.at = address, code, at
        self.items: Any = None

    def _checked(self, index: Any) -> int:
        if self.items is None:
            kind = CTYPES[self.code]
            here = self.address + (self.at + int(index)) * ctypes.sizeof(kind)
            the.access(here, ctypes.sizeof(kind))
            block = the.holding(here)
            assert block is not None
            self.first = (block.address - self.address) // ctypes.sizeof(kind)
            self.items = (kind * (block.size // ctypes.sizeof(kind))).from_address(block.address)
        at = self.at + int(index) - self.first
        if not 0 <= at < len(self.items):
            end(POISONED)
        return at

    def __getitem__(self, index: Any) -> Any:
        at = self._checked(index)
        return self.items[at]

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._checked(index)
        self.items[at] = converted(self.code, value)

    def __add__(self, by: Any) -> Pointer:
        return Pointer(self.address, self.code, self.at + int(by))

    def __sub__(self, by: Any) -> Any:
        return self.at - by.at if isinstance(by, Pointer) else self + -int(by)

    def __bool__(self) -> bool:
        return self.address != 0


@dataclass
class Dim:
    x: int = 0
    y: int = 0
    z: int = 0


def dimensions(given: Any) -> tuple[int, int, int]:
    each = (given,) if not isinstance(given, (tuple, list)) else tuple(given)
    x, y, z = (*(int(one) for one in each), 1, 1)[:3]
    return x, y, z


threadIdx, blockIdx, blockDim, gridDim = Dim(), Dim(), Dim(), Dim()


def over_the_grid(grid: Any, block: Any) -> Iterator[None]:
    """Each thread in turn; barriers inside of a block are none."""
    grid, block = dimensions(grid), dimensions(block)
    gridDim.x, gridDim.y, gridDim.z = grid
    blockDim.x, blockDim.y, blockDim.z = block
    for blockIdx.z, blockIdx.y, blockIdx.x in itertools.product(*map(range, reversed(grid))):
        for threadIdx.z, threadIdx.y, threadIdx.x in itertools.product(*map(range, reversed(block))):
            yield


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _modulo(a: int, b: int) -> int:
    return a - b * int(_divided(a, b))


def _printf(text: str, *values: Any) -> int:
    print(re.sub(r"%(\d*)l+([dux])", r"%\1\2", text) % values, end="")
    return 0


def _trap() -> None:
    raise DeviceFault


def _atomic(combine: Callable[[Any, Any], Any]) -> Callable[[Pointer, Any], Any]:
    def atomic(to: Pointer, by: Any) -> Any:
        was = to[0]
        to[0] = combine(was, by)
        return was

    return atomic


def _nothing(*_: Any) -> int:
    return 0


def _clock() -> int:
    return the.clock()


BUILTINS: dict[str, Any] = {
    "threadIdx": threadIdx,
    "blockIdx": blockIdx,
    "blockDim": blockDim,
    "gridDim": gridDim,
    "_divided": _divided,
    "_modulo": _modulo,
    "_converted": converted,
    "printf": _printf,
    "__trap": _trap,
    "clock64": _clock,
    "clock": _clock,
    "atomicAdd": _atomic(lambda was, by: was + by),
    "atomicMax": _atomic(max),
    "atomicMin": _atomic(min),
    "atomicExch": _atomic(lambda was, by: by),
    "min": min,
    "max": max,
    "abs": abs,
    "fabsf": abs,
    "sqrtf": lambda v: v**0.5,
    "__syncthreads": _nothing,
    "__threadfence": _nothing,
    "__threadfence_system": _nothing,
    "__nanosleep": _nothing,
}
_OPERATORS = {"&&": "and", "||": "or"}


class _Translation:
    """Python for the functions of one text."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parameters: dict[str, list[str]] = {}  # of each function: the code of each, "*" in front for pointers
        self.types: dict[str, str] = {}
        self.names = itertools.count()

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def function(self, node: Node) -> None:
        declarator = _child(node, "declarator")
        while declarator.type != "function_declarator":
            declarator = _child(declarator, "declarator")
        name = _text(_child(declarator, "declarator"))
        self.types, names, codes = {}, [], []
        for parameter in _child(declarator, "parameters").named_children:
            inner = _child(parameter, "declarator")
            pointer = ""
            while inner.type in ("pointer_declarator", "array_declarator"):
                pointer, inner = "*", inner.named_children[-1] if inner.type[0] == "p" else inner.named_children[0]
            names.append(_name(inner))
            codes.append(pointer + format_of(_text(_child(parameter, "type"))))
            self.types[names[-1]] = codes[-1]
        self.parameters[name] = codes
        self.emit(0, f"def {name}({', '.join(names)}):")
        self.emit(1, "pass")
        self.statement(_child(node, "body"), 1)

    def statement(self, node: Node, depth: int) -> None:
        kind = node.type
        if kind == "compound_statement":
            for each in node.named_children:
                self.statement(each, depth)
        elif kind == "expression_statement":
            for each in node.named_children:
                self.effect(each, depth)
        elif kind == "declaration":
            self.declaration(node, depth)
        elif kind == "return_statement":
            value = self.value(node.named_children[0]) if node.named_children else "None"
            self.emit(depth, f"return {value}")
        elif kind in ("break_statement", "continue_statement"):
            self.emit(depth, kind.partition("_")[0])
        elif kind == "if_statement":
            self.emit(depth, f"if {self.value(_child(node, 'condition'))}:")
            self.block(_child(node, "consequence"), depth + 1)
            if other := node.child_by_field_name("alternative"):
                self.emit(depth, "else:")
                self.block(other.named_children[0], depth + 1)
        elif kind == "while_statement":
            self.emit(depth, f"while {self.value(_child(node, 'condition'))}:")
            self.block(_child(node, "body"), depth + 1)
        elif kind == "do_statement":
            first = f"_first{next(self.names)}"
            self.emit(depth, f"{first} = True")
            self.emit(depth, f"while {first} or {self.value(_child(node, 'condition'))}:")
            self.emit(depth + 1, f"{first} = False")
            self.block(_child(node, "body"), depth + 1)
        elif kind == "for_statement":
            self.loop(node, depth)
        elif kind != "comment":
            raise NotImplementedError(kind)

    def block(self, node: Node, depth: int) -> None:
        self.emit(depth, "pass")
        self.statement(node, depth)

    def loop(self, node: Node, depth: int) -> None:
        if (start := node.child_by_field_name("initializer")) is not None:
            if start.type == "declaration":
                self.declaration(start, depth)
            else:
                self.effect(start, depth)
        first = f"_first{next(self.names)}"
        self.emit(depth, f"{first} = True")
        self.emit(depth, "while True:")
        if (update := node.child_by_field_name("update")) is not None:
            self.emit(depth + 1, f"if not {first}:")
            self.effect(update, depth + 2)
        self.emit(depth + 1, f"{first} = False")
        if (condition := node.child_by_field_name("condition")) is not None:
            self.emit(depth + 1, f"if not ({self.value(condition)}): break")
        self.block(_child(node, "body"), depth + 1)

    def declaration(self, node: Node, depth: int) -> None:
        code = format_of(_text(_child(node, "type")))
        for each in node.children_by_field_name("declarator"):
            value = each.child_by_field_name("value")
            inner = _child(each, "declarator") if each.type == "init_declarator" else each
            if inner.type == "pointer_declarator":
                name, kind = _name(inner.named_children[-1]), "*" + code
            elif inner.type == "array_declarator":
                name, kind = _name(inner.named_children[0]), "*" + code
                self.emit(depth, f"{name} = [0] * {self.value(inner.named_children[-1])}")
            else:
                name, kind = _name(inner), code
            self.types[name] = kind
            if value is not None:
                self.emit(depth, f"{name} = {self.held(kind, self.value(value))}")

    def held(self, kind: str, value: str) -> str:
        return value if kind.startswith("*") else f"_converted({kind!r}, {value})"

    def effect(self, node: Node, depth: int) -> None:
        if node.type == "assignment_expression":
            left, right = _child(node, "left"), self.value(_child(node, "right"))
            operator = _text(_child(node, "operator"))[:-1]
            target = self.value(left)
            if operator:
                right = self.binary(operator, target, right)
            self.emit(depth, f"{target} = {self.held(self.types.get(target, '*'), right)}")
        elif node.type == "update_expression":
            target = self.value(_child(node, "argument"))
            self.emit(depth, f"{target} = {target} {_text(_child(node, 'operator'))[0]} 1")
        elif node.type == "gnu_asm_expression":
            for output in _children(node, "gnu_asm_output_operand"):
                self.emit(depth, f"{_text(_child(output, 'value'))} = clock64()")
        elif node.type == "comma_expression":
            for each in node.named_children:
                self.effect(each, depth)
        else:
            self.emit(depth, self.value(node))

    def binary(self, operator: str, left: str, right: str) -> str:
        if operator in "/%":
            return f"{'_divided' if operator == '/' else '_modulo'}({left}, {right})"
        return f"({left} {_OPERATORS.get(operator, operator)} {right})"

    def value(self, node: Node) -> str:
        kind = node.type
        if kind == "number_literal":
            text = _text(node)
            return text.rstrip("uUlL") if text[:2].lower() == "0x" else text.rstrip("uUlLfF")
        if kind == "identifier":
            return _name(node)
        if kind in ("string_literal", "field_expression"):
            return _text(node)
        if kind in ("true", "false"):
            return kind.capitalize()
        if kind in ("parenthesized_expression", "condition_clause"):
            return f"({self.value(node.named_children[0])})"
        if kind == "binary_expression":
            operator = _text(_child(node, "operator"))
            return self.binary(operator, self.value(_child(node, "left")), self.value(_child(node, "right")))
        if kind == "unary_expression":
            operator = _text(_child(node, "operator"))
            return f"({'not ' if operator == '!' else operator}{self.value(_child(node, 'argument'))})"
        if kind == "subscript_expression":
            index = _child(node, "indices").named_children[0]
            return f"{self.value(_child(node, 'argument'))}[{self.value(index)}]"
        if kind == "pointer_expression":
            inner = _child(node, "argument")
            if _text(node)[0] == "*":
                return f"{self.value(inner)}[0]"
            if inner.type == "subscript_expression":
                index = _child(inner, "indices").named_children[0]
                return f"({self.value(_child(inner, 'argument'))} + {self.value(index)})"
        if kind == "conditional_expression":
            parts = [self.value(_child(node, name)) for name in ("consequence", "condition", "alternative")]
            return "({} if {} else {})".format(*parts)
        if kind == "cast_expression":
            code = _text(_child(node, "type"))
            value = self.value(_child(node, "value"))
            return value if "*" in code else f"_converted({format_of(code)!r}, {value})"
        if kind == "call_expression":
            given = [self.value(each) for each in _child(node, "arguments").named_children]
            return f"{_text(_child(node, 'function'))}({', '.join(given)})"
        raise NotImplementedError(kind)


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _name(node: Node) -> str:
    """An identifier; those that Python reserves get another name."""
    return _text(node) + "_" * keyword.iskeyword(_text(node))


def _child(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise NotImplementedError(f"{node.type} without {name}")
    return found


def _children(node: Node, kind: str) -> Iterator[Node]:
    for each in node.named_children:
        if each.type == kind:
            yield each
        yield from _children(each, kind)


class Kernel:
    """A function of CUDA C++ text."""

    def __init__(self, function: Callable[..., object], codes: Sequence[str]) -> None:
        self.function, self.codes = function, codes

    def launch(self, grid: Any, block: Any, stream: int, arguments: Sequence[Any]) -> None:
        """Queues it; the arguments are converted to the parameters at once, as a launch does."""
        if len(arguments) != len(self.codes):
            raise TypeError(f"{len(arguments)} arguments for {len(self.codes)} parameters")

        def work() -> None:
            given = [
                Pointer(int(each), code[1:]) if code[0] == "*" else converted(code, each)
                for each, code in zip(arguments, self.codes, strict=True)
            ]
            for _ in over_the_grid(grid, block):
                self.function(*given)

        the.launch(stream, work)


@functools.cache
def kernels(text: str) -> dict[str, Kernel]:
    """The functions of a text, by name."""
    translation = _Translation()
    for node in _children(_PARSER.parse(text.encode()).root_node, "function_definition"):
        translation.function(node)
    names = dict(BUILTINS)
    exec("\n".join(translation.lines), names)
    return {name: Kernel(names[name], codes) for name, codes in translation.parameters.items()}
