"""What a rewrite of a text may not lose, decided without cudafix: each path of a small CUDA C++ program, run exactly.

`check(before, after)` parses both texts with tree-sitter, runs them along each path (the values of `argc` and `atoi`
are tried) with concrete values, and compares what the two runs guarantee (`tests.reference`). The language is a subset
of C++ with its exact meaning: structs, arrays, `std::array`, `std::vector`, references, pointers, lambdas, functions,
`std::swap` and the like. Kernels are those of `KERNELS`. What is not in the subset raises `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from tests.happens_before import BLOCKING, NON_BLOCKING
from tests.reference import Choices, Leave, Memory, Named, Runtime, Trace, compare

KERNELS = {  # positions of the arguments that a kernel reads and writes, and whether it prints
    "fill": ((), (0,), False),
    "add": ((0,), (1,), False),
    "both": ((0,), (0,), False),
    "show": ((0,), (), True),
}
MAX_STEPS = 2_000
_NOTHING = ("cudaMemPool", "cudaDeviceGetDefaultMemPool", "cudaGetDevice", "cudaSetDevice", "cudaGetLastError")
_PARSER = Parser(Language(tree_sitter_cuda.language()))


class Unsupported(Exception):
    """A construct that is not in the subset."""


@dataclass(eq=False, slots=True)
class Slot:
    """A memory location of the host."""

    value: Any = None


@dataclass(eq=False, slots=True)
class Content:
    """The first element of a memory object, which the host reads or writes when it looks at the value."""

    memory: Memory


@dataclass(eq=False, slots=True)
class Sequenced:
    """An array, a `std::array` or a `std::vector`."""

    slots: list[Slot]


@dataclass(eq=False, slots=True)
class Struct:
    fields: dict[str, Slot]


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer into an array, or an iterator: also to the end of it. A variable is an array of one."""

    slots: tuple[Slot, ...]
    at: int = 0


@dataclass(eq=False, slots=True)
class Closure:
    """A lambda: the variables that it has copied, and the scopes in which it finds the others."""

    node: Node
    copies: dict[str, Slot]
    scopes: list[dict[str, Slot]]


def copied(value: Any) -> Any:
    """A copy of a value: structs, arrays and closures with all that they hold, pointers as they are."""
    match value:
        case Sequenced(slots):
            return Sequenced([Slot(copied(slot.value)) for slot in slots])
        case Struct(fields):
            return Struct({name: Slot(copied(slot.value)) for name, slot in fields.items()})
        case Closure(node, copies, scopes):
            return Closure(node, {name: Slot(copied(slot.value)) for name, slot in copies.items()}, scopes)
    return value


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def _named(node: Node | None) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"] if node is not None else []


def _declarator(node: Node) -> tuple[str, list[str], list[Node]]:
    """The name of a declarator, what it makes of it (`*`, `&`, `[]`, from the outside), and the sizes of its arrays."""
    kinds: list[str] = []
    sizes: list[Node] = []
    while node.type not in ("identifier", "field_identifier", "structured_binding_declarator"):
        match node.type:
            case "pointer_declarator":
                kinds.append("*")
            case "reference_declarator":
                kinds.append("&")
                node = _named(node)[0]
                continue
            case "array_declarator":
                kinds.append("[]")
                if (size := node.child_by_field_name("size")) is not None:
                    sizes.insert(0, size)
            case other:
                raise Unsupported(other)
        inner = node.child_by_field_name("declarator")
        assert inner is not None
        node = inner
    return _text(node), kinds, sizes


class Interpreter:
    """One run of a program along one path."""

    def __init__(self, root: Node, choices: Choices, *, rewritten: bool) -> None:
        self.runtime = Runtime(rewritten=rewritten)
        self.choices = choices
        self.functions: dict[str, Node] = {}
        self.structs: dict[str, Node] = {}
        self.globals: dict[str, Slot] = {}
        self.scopes: list[dict[str, Slot]] = [self.globals]
        self.result: Any = None
        self.steps = 0
        for node in root.named_children:
            self._top(node)

    def _top(self, node: Node) -> None:
        match node.type:
            case "function_definition":
                declarator = node.child_by_field_name("declarator")
                while declarator is not None and declarator.type != "function_declarator":
                    declarator = declarator.child_by_field_name("declarator") or _named(declarator)[0]
                assert declarator is not None
                self.functions[_text(declarator.child_by_field_name("declarator"))] = node
            case "struct_specifier":
                self.structs[_text(node.child_by_field_name("name"))] = node
            case "template_declaration":
                self._top(_named(node)[-1])
            case "declaration":
                self.declare(node)
            case "preproc_include" | "comment" | "using_declaration" | "preproc_def" | ";":
                pass
            case other:
                raise Unsupported(other)

    def main(self) -> Trace:
        argc = 1 + self.choices.pick(3)
        with suppress(Leave):
            self.call_function(self.functions["main"], [Slot(argc), Slot(None)])
        self.runtime.look("exit", "exit")
        return self.runtime.trace

    # -- names and types -------------------------------------------------------------------------------------------

    def find(self, name: str) -> Slot:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise Unsupported(f"`{name}` is not declared")

    def default(self, kind: Node | None, pointers: Sequence[str] = (), sizes: Sequence[Node] = ()) -> Any:
        """The value of a variable without an initializer."""
        if sizes:
            count = self.value(sizes[0])
            return Sequenced([Slot(self.default(kind, pointers, sizes[1:])) for _ in range(count)])
        if "*" in pointers or kind is None:
            return None
        name = kind.child_by_field_name("name") if kind.type == "qualified_identifier" else kind
        assert name is not None
        if name.type == "template_type":
            arguments = _named(name.child_by_field_name("arguments"))
            match _text(name.child_by_field_name("name")):
                case "vector":
                    return Sequenced([])
                case "array":
                    return Sequenced([Slot(self.of_type(arguments[0])) for _ in range(self.value(arguments[1]))])
                case "function":
                    return None
            raise Unsupported(_text(kind))
        if _text(name) in self.structs:
            return self.new_struct(_text(name))
        return None

    def of_type(self, descriptor: Node) -> Any:
        """A default value of a type that is a template argument."""
        pointer = descriptor.child_by_field_name("declarator")
        return self.default(descriptor.child_by_field_name("type") or descriptor, ["*"] if pointer is not None else [])

    def new_struct(self, name: str) -> Struct:
        fields: dict[str, Slot] = {}
        for member in _named(self.structs[name].child_by_field_name("body")):
            if member.type != "field_declaration":
                raise Unsupported(member.type)
            value = member.child_by_field_name("default_value")
            for declarator in member.children_by_field_name("declarator"):
                field, kinds, sizes = _declarator(declarator)
                made = self.default(member.child_by_field_name("type"), kinds, sizes)
                fields[field] = Slot(made if value is None else self.value(value))
        return Struct(fields)

    # -- statements ------------------------------------------------------------------------------------------------

    def declare(self, node: Node) -> None:
        kind = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            if declarator.type == "function_declarator":  # `T name(argument);` that looks like a function
                raise Unsupported(_text(declarator))
            init = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if declarator.type == "init_declarator":
                inner = declarator.child_by_field_name("declarator")
                assert inner is not None
                declarator = inner
            if declarator.type == "structured_binding_declarator":
                self.bind(declarator, init)
                continue
            name, kinds, sizes = _declarator(declarator)
            if "&" in kinds:
                assert init is not None
                self.scopes[-1][name] = self.place(init)
                continue
            self.scopes[-1][name] = Slot(self.initial(kind, kinds, sizes, init))

    def bind(self, declarator: Node, init: Node | None) -> None:
        """`auto [a, b] = expression;`: names of the parts of a copy."""
        assert init is not None
        made = copied(self.value(init))
        slots = made.slots if isinstance(made, Sequenced) else list(made.fields.values())
        for name, slot in zip(_named(declarator), slots, strict=True):
            self.scopes[-1][_text(name)] = slot

    def initial(self, kind: Node | None, kinds: Sequence[str], sizes: Sequence[Node], init: Node | None) -> Any:
        made = self.default(kind, kinds, sizes)
        if init is None:
            return made
        if init.type == "initializer_list":
            return self.fill(made, init)
        if init.type == "argument_list":
            arguments = _named(init)
            if isinstance(made, Sequenced):
                return self.vector(kind, arguments)
            return copied(self.value(arguments[0])) if arguments else made
        return copied(self.value(init))

    def vector(self, kind: Node | None, arguments: Sequence[Node]) -> Any:
        """`std::vector<T> v(n)`, `v(n, value)`, `v(begin, end)`, `v(other)`."""
        values = [self.value(argument) for argument in arguments]
        match values:
            case [int(count)]:
                template = kind.child_by_field_name("name") if kind is not None else None
                assert template is not None
                element = _named(template.child_by_field_name("arguments"))[0]
                return Sequenced([Slot(self.of_type(element)) for _ in range(count)])
            case [int(count), value]:
                return Sequenced([Slot(copied(value)) for _ in range(count)])
            case [Address(slots, first), Address(_, last)]:
                return Sequenced([Slot(copied(slot.value)) for slot in slots[first:last]])
            case [value]:
                return copied(value)
        raise Unsupported("a constructor")

    def fill(self, made: Any, init: Node) -> Any:
        """What a list in braces initializes."""
        items = _named(init)
        if isinstance(made, Sequenced):
            if not made.slots:
                return Sequenced([Slot(copied(self.value(item))) for item in items])
            slots = made.slots
        elif isinstance(made, Struct):
            slots = list(made.fields.values())
        else:
            return copied(self.value(items[0])) if items else 0
        for slot, item in zip(slots, items, strict=False):
            slot.value = self.fill(slot.value, item) if item.type == "initializer_list" else copied(self.value(item))
        for slot in slots[len(items) :]:
            slot.value = 0 if slot.value is None else slot.value
        return made

    def block(self, nodes: Iterable[Node]) -> None:
        self.scopes.append({})
        try:
            for node in nodes:
                self.statement(node)
        finally:
            self.scopes.pop()

    def statement(self, node: Node) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.runtime.bad("too many steps")
        match node.type:
            case "declaration":
                self.declare(node)
            case "expression_statement":
                for child in _named(node):
                    self.value(child)
            case "compound_statement":
                self.block(_named(node))
            case "if_statement":
                condition = node.child_by_field_name("condition")
                assert condition is not None
                chosen = "consequence" if self.value(_named(condition)[0]) else "alternative"
                arm = node.child_by_field_name(chosen)
                if arm is not None:
                    self.block(_named(arm) if arm.type == "else_clause" else [arm])
            case "for_statement":
                self.for_loop(node)
            case "while_statement":
                condition = node.child_by_field_name("condition")
                assert condition is not None
                while self.value(_named(condition)[0]):
                    if self.round(node.child_by_field_name("body")):
                        break
            case "for_range_loop":
                self.range_for(node)
            case "return_statement":
                raise Leave("return", copied(self.value(_named(node)[0])) if _named(node) else None)
            case "break_statement":
                raise Leave("break")
            case "continue_statement":
                raise Leave("continue")
            case "comment" | "empty_statement":
                pass
            case other:
                raise Unsupported(other)

    def round(self, body: Node | None) -> bool:
        """One round of a loop: whether it leaves the loop."""
        assert body is not None
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.runtime.bad("too many steps")
        try:
            self.block([body])
        except Leave as leave:
            if leave.how == "break":
                return True
            if leave.how != "continue":
                raise
        return False

    def for_loop(self, node: Node) -> None:
        self.scopes.append({})
        if (start := node.child_by_field_name("initializer")) is not None:
            self.declare(start) if start.type == "declaration" else self.value(start)
        condition, update = (node.child_by_field_name(name) for name in ("condition", "update"))
        while condition is None or self.value(condition):
            if self.round(node.child_by_field_name("body")):
                break
            if update is not None:
                self.value(update)
        self.scopes.pop()

    def range_for(self, node: Node) -> None:
        declarator, right = node.child_by_field_name("declarator"), node.child_by_field_name("right")
        assert declarator is not None
        assert right is not None
        name, kinds, _ = _declarator(declarator)
        over = self.fill(Sequenced([]), right) if right.type == "initializer_list" else self.value(right)
        for slot in list(over.slots):
            self.scopes.append({name: slot if "&" in kinds else Slot(copied(slot.value))})
            left = self.round(node.child_by_field_name("body"))
            self.scopes.pop()
            if left:
                break

    # -- expressions -----------------------------------------------------------------------------------------------

    def place(self, node: Node) -> Slot:
        """The memory location that an lvalue names; of a prvalue, a temporary that holds it."""
        match node.type:
            case "identifier":
                return self.find(_text(node))
            case "parenthesized_expression":
                return self.place(_named(node)[0])
            case "field_expression":
                argument, field = node.child_by_field_name("argument"), _text(node.child_by_field_name("field"))
                assert argument is not None
                whole = self.value(argument)
                if isinstance(whole, Address):
                    whole = self.at(whole).value
                if not isinstance(whole, Struct):
                    raise Unsupported(_text(node))
                return whole.fields[field]
            case "subscript_expression":
                argument, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
                assert argument is not None
                return self.element(self.value(argument), self.value(_named(indices)[0]))
            case "pointer_expression" if _text(node).startswith("*"):
                argument = node.child_by_field_name("argument")
                assert argument is not None
                return self.element(self.value(argument), 0)
            case "call_expression":
                found = self.call(node)
                return found if isinstance(found, Slot) else Slot(found)
        return Slot(self.value(node))

    def element(self, base: Any, index: Any) -> Slot:
        if isinstance(base, Memory):
            return Slot(Content(self.runtime.live(base)))
        if isinstance(base, Sequenced):
            base = Address(tuple(base.slots))
        if not isinstance(base, Address):
            raise self.runtime.bad(f"{base} is no pointer")
        return self.at(Address(base.slots, base.at + index))

    def at(self, address: Address) -> Slot:
        if not 0 <= address.at < len(address.slots):
            raise self.runtime.bad("an address that is out of range")
        return address.slots[address.at]

    def read(self, slot: Slot, node: Node) -> Any:
        if isinstance(slot.value, Content):
            self.host(node, reads=[slot.value.memory])
            return 0
        return slot.value

    def host(self, node: Node, reads: Sequence[Memory] = (), writes: Sequence[Memory] = ()) -> None:
        for memory in (*reads, *writes):
            if memory.kind in ("device", "async"):
                raise self.runtime.bad("the host touches memory of the device")
        self.runtime.look("memory", f"host@{node.start_point[0] + 1}", reads, writes)

    def value(self, node: Node) -> Any:
        match node.type:
            case "number_literal":
                return int(_text(node).rstrip("uUlL"), 0) if "." not in _text(node) else 0
            case "null":
                return 0
            case "true" | "false":
                return node.type == "true"
            case "string_literal" | "sizeof_expression":
                return Named("constant", "?")
            case "lambda_expression":
                return self.closure(node)
            case "call_expression":
                found = self.call(node)
                return self.read(found, node) if isinstance(found, Slot) else found
            case "assignment_expression":
                return self.assign(node)
            case "update_expression":
                return self.update(node)
            case "binary_expression":
                return self.binary(node)
            case "unary_expression":
                argument = node.child_by_field_name("argument")
                assert argument is not None
                value = self.value(argument)
                return not value if _text(node).startswith("!") else -value
            case "conditional_expression":
                parts = [node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")]
                condition, yes, no = (part for part in parts if part is not None)
                return self.value(yes if self.value(condition) else no)
            case "pointer_expression" if _text(node).startswith("&"):
                argument = node.child_by_field_name("argument")
                assert argument is not None
                return self.address(argument)
            case "cast_expression":
                inner = node.child_by_field_name("value")
                assert inner is not None
                return self.value(inner)
            case "compound_literal_expression":
                kind, init = node.child_by_field_name("type"), node.child_by_field_name("value")
                assert init is not None
                return self.fill(self.default(kind), init)
            case "comma_expression":
                for part in _named(node)[:-1]:
                    self.value(part)
                return self.value(_named(node)[-1])
            case "identifier" if _text(node).startswith("cuda"):
                return Named("constant", _text(node))
            case "identifier" if _text(node) in self.functions and not any(_text(node) in s for s in self.scopes):
                return self.functions[_text(node)]
            case "identifier" if _text(node) in ("SIZE_MAX", "UINT64_MAX"):
                return 0
            case "identifier" | "parenthesized_expression" | "field_expression" | "subscript_expression":
                return self.read(self.place(node), node)
            case "pointer_expression":
                return self.read(self.place(node), node)
        raise Unsupported(f"{node.type}: {_text(node)}")

    def address(self, node: Node) -> Any:
        if node.type == "subscript_expression":
            argument, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
            assert argument is not None
            base = self.value(argument)
            index = self.value(_named(indices)[0])
            if isinstance(base, Memory):
                return base
            base = Address(tuple(base.slots)) if isinstance(base, Sequenced) else base
            return Address(base.slots, base.at + index)
        slot = self.place(node)
        return slot.value.memory if isinstance(slot.value, Content) else Address((slot,))

    def assign(self, node: Node) -> Any:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = _text(node.child_by_field_name("operator"))
        assert left is not None
        assert right is not None
        if left.type == "call_expression" and "tie" in _text(left.child_by_field_name("function")):
            return self.assign_tie(left, right)
        value = copied(self.value(right))
        slot = self.place(left)
        if isinstance(slot.value, Content):
            memory = slot.value.memory
            self.host(node, reads=[memory] if operator != "=" else (), writes=[memory])
        elif operator == "=":
            slot.value = value
        elif operator in ("+=", "-="):
            slot.value = slot.value + (value if operator == "+=" else -value)
        else:
            raise Unsupported(operator)
        return value

    def assign_tie(self, left: Node, right: Node) -> None:
        """`std::tie(a, b) = std::make_tuple(b, a)`: the values first, then what they are assigned to."""
        targets = [self.place(argument) for argument in _named(left.child_by_field_name("arguments"))]
        values = copied(self.value(right))
        for slot, value in zip(targets, values.slots, strict=True):
            slot.value = value.value

    def update(self, node: Node) -> Any:
        argument = node.child_by_field_name("argument")
        assert argument is not None
        slot = self.place(argument)
        step = 1 if "++" in _text(node) else -1
        before = slot.value
        slot.value = Address(before.slots, before.at + step) if isinstance(before, Address) else before + step
        return slot.value if _text(node)[:2] in ("++", "--") else before

    def binary(self, node: Node) -> Any:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = _text(node.child_by_field_name("operator"))
        assert left is not None
        assert right is not None
        a = self.value(left)
        if operator in ("&&", "||"):
            return bool(self.value(right)) if bool(a) is (operator == "&&") else bool(a)
        b = self.value(right)
        if isinstance(a, Sequenced):
            a = Address(tuple(a.slots))
        if isinstance(a, Address) and operator in ("+", "-") and isinstance(b, int):
            return Address(a.slots, a.at + (b if operator == "+" else -b))
        if isinstance(a, Memory) and operator == "+":
            return a
        if operator in ("==", "!="):
            equal = a is b if isinstance(a, Memory) or isinstance(b, Memory) else a == b
            return equal is (operator == "==")
        numbers: dict[str, Callable[[Any, Any], Any]] = {
            "+": lambda x, y: x + y,
            "-": lambda x, y: x - y,
            "*": lambda x, y: x * y,
            "%": lambda x, y: x % y,
            "/": lambda x, y: x // y,
            "^": lambda x, y: x ^ y,
            "<": lambda x, y: x < y,
            ">": lambda x, y: x > y,
            "<=": lambda x, y: x <= y,
            ">=": lambda x, y: x >= y,
        }
        if operator not in numbers or not isinstance(a, int) or not isinstance(b, int):
            if operator in numbers and isinstance(a, int | Named) and isinstance(b, int | Named):
                return Named("constant", "?")  # a size
            raise Unsupported(_text(node))
        return numbers[operator](a, b)

    # -- calls -----------------------------------------------------------------------------------------------------

    def closure(self, node: Node) -> Closure:
        """C++ [expr.prim.lambda.capture]: what is captured by copy is copied where the expression is evaluated."""
        captures = node.child_by_field_name("captures")
        assert captures is not None
        default = _named(captures)[0] if _named(captures) else None
        copies: dict[str, Slot] = {}
        scopes = list(self.scopes)
        listed: set[str] = set()
        for part in _text(captures)[1:-1].split(","):
            word = part.strip()
            if word in ("", "=", "&"):
                continue
            name, _, init = word.partition("=")
            name = name.strip()
            listed.add(name.lstrip("&"))
            if init:
                initializer = next(
                    child.child_by_field_name("right")
                    for child in _named(captures)
                    if child.type == "lambda_capture_initializer" and _text(child.child_by_field_name("left")) == name
                )
                assert initializer is not None
                copies[name] = Slot(copied(self.value(initializer)))
            elif not name.startswith("&"):
                copies[name] = Slot(copied(self.find(name).value))
        if default is not None and default.type == "lambda_default_capture" and _text(default) == "=":
            body = node.child_by_field_name("body")
            assert body is not None
            for name in _identifiers(body) - listed:
                for scope in reversed(self.scopes[1:]):
                    if name in scope:
                        copies[name] = Slot(copied(scope[name].value))
                        break
        return Closure(node, copies, scopes)

    def call_closure(self, closure: Closure, arguments: Sequence[Slot]) -> Any:
        declarator = closure.node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        body = closure.node.child_by_field_name("body")
        scopes = [*closure.scopes, closure.copies]
        return self.run(body, parameters, arguments, scopes)

    def call_function(self, function: Node, arguments: Sequence[Slot]) -> Any:
        declarator = function.child_by_field_name("declarator")
        kind = ""
        while declarator is not None and declarator.type != "function_declarator":
            kind += "&" * (declarator.type == "reference_declarator")
            declarator = declarator.child_by_field_name("declarator") or _named(declarator)[0]
        assert declarator is not None
        parameters, body = declarator.child_by_field_name("parameters"), function.child_by_field_name("body")
        return self.run(body, parameters, arguments, [self.globals])

    def run(
        self, body: Node | None, parameters: Node | None, arguments: Sequence[Slot], scopes: list[dict[str, Slot]]
    ) -> Any:
        names: dict[str, Slot] = {}
        given = list(arguments)
        for parameter in _named(parameters):
            declarator = parameter.child_by_field_name("declarator")
            slot = given.pop(0) if given else None
            if declarator is None:
                continue
            name, kinds, _ = _declarator(declarator)
            if slot is None:
                default = parameter.child_by_field_name("default_value")
                assert default is not None
                slot = Slot(self.value(default))
            value = slot.value
            if "[]" in kinds or ("*" in kinds and isinstance(value, Sequenced)):
                value = Address(tuple(value.slots)) if isinstance(value, Sequenced) else value
                names[name] = Slot(value)
            else:
                names[name] = slot if "&" in kinds else Slot(copied(value))
        assert body is not None
        caller, self.scopes = self.scopes, [*scopes, names]
        try:
            self.block(_named(body))
        except Leave as leave:
            if leave.how != "return":
                raise
            return leave.value
        finally:
            self.scopes = caller
        return None

    def call(self, node: Node) -> Any:
        function = node.child_by_field_name("function")
        arguments = _named(node.child_by_field_name("arguments"))
        assert function is not None
        configuration = next((child for child in node.named_children if child.type == "kernel_call_syntax"), None)
        if configuration is not None:
            return self.launch(node, _text(function), _named(configuration), arguments)
        if function.type == "field_expression":
            argument, field = function.child_by_field_name("argument"), _text(function.child_by_field_name("field"))
            assert argument is not None
            whole = self.value(argument)
            if isinstance(whole, Sequenced):
                return self.method(whole, field, arguments)
            if isinstance(whole, Struct) and field in whole.fields:
                return self.callee(whole.fields[field].value, arguments)
            raise Unsupported(_text(function))
        name = _text(function)
        if name.startswith("std::"):
            return self.standard(name[5:].partition("<")[0], node, arguments)
        if name in ("printf", "puts"):
            for argument in arguments[1:]:
                self.value(argument)
            self.runtime.look("output", f"output@{node.start_point[0] + 1}")
            return 0
        if name == "atoi":
            return self.choices.pick(3)
        if name in ("malloc", "free", "exit"):
            return self.library(name, node, arguments)
        if name.startswith("cuda"):
            return 0 if name.startswith(_NOTHING) else self.library(name, node, arguments)
        return self.callee(self.value(function), arguments)

    def callee(self, found: Any, arguments: Sequence[Node]) -> Any:
        slots = [self.place(argument) for argument in arguments]
        if isinstance(found, Closure):
            return self.call_closure(found, slots)
        if isinstance(found, Node):
            return self.call_function(found, slots)
        raise self.runtime.bad(f"{found} is called")

    def launch(self, node: Node, name: str, configuration: Sequence[Node], arguments: Sequence[Node]) -> None:
        s = self.runtime.stream(self.value(configuration[3])) if len(configuration) > 3 else "0"
        memories = [self.runtime.live(self.value(argument)) for argument in arguments]
        reads, writes, prints = KERNELS[name]
        text = f"{name}@{node.start_point[0] + 1}"
        self.runtime.op(text, s, [memories[n] for n in reads], [memories[n] for n in writes], prints)

    def method(self, whole: Sequenced, name: str, arguments: Sequence[Node]) -> Any:
        slots = whole.slots
        match name:
            case "push_back" | "emplace_back":
                slots.append(Slot(copied(self.value(arguments[0]))))
                return None
            case "pop_back":
                slots.pop()
                return None
            case "clear":
                slots.clear()
                return None
            case "size":
                return len(slots)
            case "front" | "back":
                return slots[0 if name == "front" else -1]
            case "at":
                return self.element(whole, self.value(arguments[0]))
            case "begin" | "data":
                return Address(tuple(slots))
            case "end":
                return Address(tuple(slots), len(slots))
            case "erase":
                del slots[self.value(arguments[0]).at]
                return None
            case "insert":
                slots.insert(self.value(arguments[0]).at, Slot(copied(self.value(arguments[1]))))
                return None
            case "swap":
                other = self.value(arguments[0])
                whole.slots, other.slots = other.slots, slots
                return None
        raise Unsupported(name)

    def standard(self, name: str, node: Node, arguments: Sequence[Node]) -> Any:
        match name:
            case "swap" | "iter_swap":
                a, b = (self.place(argument) for argument in arguments)
                if name == "iter_swap":
                    a, b = self.at(a.value), self.at(b.value)
                a.value, b.value = b.value, a.value
                return None
            case "exchange":
                slot, value = self.place(arguments[0]), copied(self.value(arguments[1]))
                old, slot.value = slot.value, value
                return old
            case "move" | "ref":
                return self.place(arguments[0])
            case "make_tuple" | "make_pair" | "tuple" | "pair":
                return Sequenced([Slot(copied(self.value(argument))) for argument in arguments])
            case "rotate" | "reverse":
                ends = [self.value(argument) for argument in arguments]
                part = list(ends[0].slots[ends[0].at : ends[-1].at])
                values = [slot.value for slot in part]
                turn = ends[1].at - ends[0].at if name == "rotate" else 0
                new = values[turn:] + values[:turn] if name == "rotate" else values[::-1]
                for slot, value in zip(part, new, strict=True):
                    slot.value = value
                return None
            case "copy":
                first, last, target = (self.value(argument) for argument in arguments)
                for n in range(last.at - first.at):
                    self.at(Address(target.slots, target.at + n)).value = copied(first.slots[first.at + n].value)
                return None
            case "begin" | "end":
                return self.method(self.value(arguments[0]), name, ())
        raise Unsupported(f"std::{name}")

    def library(self, name: str, node: Node, arguments: Sequence[Node]) -> Any:
        runtime = self.runtime
        where = str(node.start_point[0] + 1)
        a = [self.value(argument) for argument in arguments]
        match name:
            case "malloc":
                return runtime.allocate(name)
            case "cudaMalloc" | "cudaMallocHost" | "cudaMallocManaged":
                self.at(a[0]).value = runtime.allocate(name)
            case "cudaMallocAsync":
                self.at(a[0]).value = runtime.allocate(name, runtime.stream(a[2]))
            case "free" | "cudaFree" | "cudaFreeHost":
                runtime.free(name, a[0])
            case "cudaFreeAsync":
                runtime.free(name, a[0], runtime.stream(a[1]), where)
            case "cudaMemcpy" | "cudaMemcpyAsync":
                s = runtime.stream(a[4]) if len(a) > 4 else "0"
                target, source = runtime.live(a[0]), runtime.live(a[1])
                runtime.copy(f"copy@{where}", target, source, s, name == "cudaMemcpy", lambda: self.choices.pick(2))
            case "cudaMemsetAsync" | "cudaMemset":
                s = runtime.stream(a[3]) if len(a) > 3 else "0"
                runtime.op(f"memset@{where}", s, [], [runtime.live(a[0])])
            case "cudaStreamCreate" | "cudaStreamCreateWithFlags":
                blocking = len(a) == 1 or "NonBlocking" not in str(a[1])
                self.at(a[0]).value = runtime.create_stream(BLOCKING if blocking else NON_BLOCKING)
            case "cudaStreamDestroy":
                runtime.destroyed.add(runtime.stream(a[0]))
            case "cudaEventCreate" | "cudaEventCreateWithFlags":
                self.at(a[0]).value = runtime.create_event()
            case "cudaEventDestroy":
                runtime.destroyed.add(runtime.event(a[0]))
            case "cudaEventRecord":
                runtime.record(runtime.event(a[0]), runtime.stream(a[1] if len(a) > 1 else 0))
            case "cudaStreamWaitEvent":
                runtime.wait_event(runtime.stream(a[0]), runtime.event(a[1]))
            case "cudaEventSynchronize":
                runtime.synchronize_event(runtime.event(a[0]))
            case "cudaStreamSynchronize":
                runtime.graph.synchronize(runtime.stream(a[0]))
            case "cudaDeviceSynchronize":
                runtime.synchronize_device()
            case "exit":
                raise Leave("exit")
            case _:
                raise Unsupported(name)
        return 0


def _identifiers(node: Node) -> set[str]:
    found = {_text(node)} if node.type == "identifier" else set()
    return found.union(*(_identifiers(child) for child in node.named_children))


@lru_cache(maxsize=8)
def _parsed(text: str) -> Node:
    root = _PARSER.parse(text.encode()).root_node
    if root.has_error:
        raise Unsupported("a parse error")
    return root


def without_kernels(text: str) -> str:
    """The text without the definitions of kernels, which `KERNELS` describes."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("__global__"))


def check(before: str, after: str) -> list[str] | None:
    """What `after` loses that `before` guarantees; None if there are too many paths to look at, or none on which
    `before` is right. Raises `Unsupported`.
    """
    p, q = _parsed(without_kernels(before)), _parsed(without_kernels(after))
    return compare(
        lambda choices: Interpreter(p, choices, rewritten=False).main(),
        lambda choices: Interpreter(q, choices, rewritten=True).main(),
    )
