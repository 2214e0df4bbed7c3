"""Work of arrays on streams of the program's own, and the waits that order it with the stream of their memory.

Once an array's memory is stream-ordered, it is allocated and freed on the null stream, at places that no statement
names. A piece of work on another stream is in order if it begins behind all earlier work of the null stream, and if the
null stream goes on behind it: then the work is as ordered as the text, and no release has to wait for anything. So a
*region*, a run of launches on such streams, stands between a wait of its streams for the null stream and a wait of the
null stream for them; a wait of the host does the same. The arguments of the launches are variables: nothing is
allocated or dropped inside a region. Blocking streams wait for the null stream, and it for them, without a word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from cudafix.findings import Edit
from cudafix.frontends.python.ast_names import Names
from cudafix.frontends.python.functions import DEVICE

CUPY_NULL, NUMBA_NULL = "cupy.cuda.Stream.null", "numba.cuda.legacy_default_stream()"
_EXTERNAL, _CUPY = re.compile(rb"\bexternal_stream\b(?!`)"), re.compile(rb"\bStream\b|\bstream[ \t]*=")
_CATCHES = re.compile(rb"\b(?:except|suppress|__exit__|raises)\b")
EVENT = "numba.cuda.event(timing=False)"
_MADE = ("cupy.cuda.Stream", "numba.cuda.external_stream")
_BLOCKING = ("numba.cuda.stream", "numba.cuda.default_stream")
_KERNELS = ("cupy.RawKernel", "cupy.RawModule().get_function")
_ARRAYS = tuple(f"numba.cuda.{name}" for name in ("device_array", "device_array_like", "to_device"))
_HOST_WAITS = (
    "cupy.cuda.Device().synchronize()",
    "cupy.cuda.runtime.deviceSynchronize()",
    "numba.cuda.synchronize()",
)
_NULL_WAITS = (*_HOST_WAITS, f"{CUPY_NULL}.synchronize()")
_METHODS = frozenset(("synchronize", "record", "wait_event", "done"))
_NUMBERS = frozenset(
    (
        *("int", "float", "len", "bool"),
        *(f"numpy.{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)),
        *(f"numpy.{name}" for name in ("float16", "float32", "float64", "complex64", "complex128", "intp")),
    )
)
"""What makes a number: an array of the device does not become one without a word."""
_PLAIN = frozenset("size nbytes shape ndim".split())
_VIEWS = _PLAIN | frozenset("T data real".split())
"""What of an array of CuPy is no new array; `imag` of real numbers is one, and so is `T` of Numba."""


class Unordered(Exception):
    """Why work on another stream is not, or cannot be put, in order; `node` is where."""

    def __init__(self, text: str, node: ast.AST) -> None:
        super().__init__(text)
        self.node = node


class Region(NamedTuple):
    """Statements of one block, `block[start:end]`, that launch on these streams. `opened` and `closed`: those that are
    in order before and behind it as it stands.
    """

    block: Sequence[ast.stmt]
    start: int
    end: int
    streams: tuple[str, ...]
    opened: frozenset[str]
    closed: frozenset[str]


@dataclass
class Streams:
    """The streams of one file. Raises `Unordered` where one of them goes out of sight. Where the program `catches`
    exceptions, one of them may end a run of launches in the middle: each launch is a region of its own then.
    """

    tree: ast.Module
    catches: bool

    def __post_init__(self) -> None:
        self.names = Names(self.tree)
        self.values: dict[str, list[ast.expr | None]] = {}
        self.nodes = list(_of_the_host(self.tree))
        for node in self.nodes:
            self._bind(node)
        self.made = {name: values for name, values in self.values.items() if any(map(self._is_made, values))}
        self.launches: dict[ast.Call, str] = {}

    def _bind(self, node: ast.AST) -> None:
        """Note what is bound to a name, wherever that is; None for what is not one expression."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, []).append(value)
                    else:
                        self._unknown(target)
            case ast.AnnAssign(target=ast.Name(id=name), value=given):
                self.values.setdefault(name, []).append(given)
            case ast.For(target=ast.Name(id=name), iter=iterable):
                counted = isinstance(iterable, ast.Call) and self.names.full(iterable.func) == "range"
                self.values.setdefault(name, []).append(ast.Constant(0) if counted else None)
            case ast.For() | ast.comprehension() | ast.AugAssign() | ast.NamedExpr():
                self._unknown(node.target)
            case ast.withitem(optional_vars=ast.expr() as target):
                self._unknown(target)
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self.values.setdefault(name, []).append(None)
            case ast.AsyncFunctionDef(name=name) | ast.ExceptHandler(name=str() as name):
                self.values.setdefault(name, []).append(None)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._unknown(target)

    def _unknown(self, target: ast.AST) -> None:
        for one in ast.walk(target):
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                self.values.setdefault(one.id, []).append(None)

    def _is_made(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and self.names.full(value.func) in _MADE

    # -- streams -------------------------------------------------------------------------------------------------------

    def in_sight(self) -> None:
        """Raises `Unordered` unless every stream has a name and is only launched on and waited for."""
        given = [value for values in self.made.values() for value in values]
        for node in self.nodes:
            if isinstance(node, ast.Name | ast.Attribute) and self._is_kind(node):
                above = self.parents[node]
                null = isinstance(above, ast.Attribute) and above.attr == "null"
                if not null and not (isinstance(above, ast.Call) and above.func is node and above in given):
                    raise Unordered("a stream is kept where it cannot be followed", node)
        for name, values in self.made.items():
            if None in values or not all(self._is_made(value) for value in values):
                raise Unordered(f"`{name}` is not only a stream", self.tree)
            self.is_free(name)
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id in self.made and isinstance(node.ctx, ast.Load):
                self._use(node)
        for node in self.nodes:
            if isinstance(node, ast.keyword) and node.arg == "stream":
                self._given(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
                stream = _stream_of(node)
                if stream is not None:
                    self._given(stream)
            elif isinstance(node, ast.withitem) and not isinstance(node.context_expr, ast.Call):
                if not isinstance(node.context_expr, ast.Name) or node.context_expr.id not in self.made:
                    raise Unordered("what this makes current is not known", node.context_expr)

    def _given(self, stream: ast.expr) -> None:
        """Raises `Unordered` unless a launch or a copy is given a stream that is followed, or a blocking one."""
        if isinstance(stream, ast.Constant) and stream.value in (0, None):
            return
        if self.names.full(stream) == CUPY_NULL:
            return
        if isinstance(stream, ast.Name):
            values = self.values.get(stream.id, [])
            blocking = (isinstance(v, ast.Call) and self.names.full(v.func) in _BLOCKING for v in values)
            if stream.id in self.made or (values and all(blocking)):
                return
        raise Unordered("work runs on a stream that is not named here", stream)

    def _is_kind(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether this names a class or a function that makes streams."""
        word = node.attr if isinstance(node, ast.Attribute) else node.id
        return word in ("Stream", "ExternalStream", "external_stream") or self.names.full(node) in _MADE

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def is_free(self, name: str) -> bool:
        """Whether a stream may be one that does not wait for the null stream."""
        free = False
        for value in self.made[name]:
            assert isinstance(value, ast.Call)
            if self.names.full(value.func) == "numba.cuda.external_stream":
                free = True
                continue
            given = {one.arg: one.value for one in value.keywords}
            flag = given.get("non_blocking", ast.Constant(False))
            if value.args or not given.keys() <= {"non_blocking"} or not isinstance(flag, ast.Constant):
                raise Unordered(f"what kind of stream `{name}` is cannot be told", value)
            free = free or bool(flag.value)
        return free

    def _use(self, node: ast.Name) -> None:
        above = self.parents[node]
        over = self.parents.get(above)
        if isinstance(above, ast.Attribute) and above.attr in _METHODS:
            return
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.args == [node]:
            if above.func.attr in ("record", "wait"):  # an event: it only adds order
                return
        call: ast.AST | None = over if isinstance(above, ast.keyword) else self.parents.get(over) if over else None
        if isinstance(call, ast.Call) and _stream_of(call) is node:
            self._launch(call, node.id)
            return
        if isinstance(above, ast.withitem) and isinstance(over, ast.With):
            self._context(over, node.id)
            return
        raise Unordered(f"`{node.id}` is used for more than launches and waits", node)

    def _context(self, node: ast.With, name: str) -> None:
        """`with stream:` around launches, on the stream that it makes current."""
        if len(node.items) != 1 or node.items[0].optional_vars is not None:
            raise Unordered("a stream is made current together with something else", node)
        for statement in node.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and self._is_kernel(call):
                self._arguments(call)
                self.launches.setdefault(call, name)
            elif self._waits_for(statement) is None:
                raise Unordered("more than launches runs while another stream is current", statement)

    def _is_kernel(self, call: ast.Call) -> bool:
        """Whether this calls a kernel of CuPy that makes no array of its own."""
        if not isinstance(call.func, ast.Name):
            return False
        values = self.values.get(call.func.id, [])
        return bool(values) and all(isinstance(v, ast.Call) and self._full_call(v) in _KERNELS for v in values)

    def _full_call(self, value: ast.Call) -> str:
        """`cupy.RawModule().get_function`, through the variable that the module is in."""
        func = value.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            inner = self.values.get(func.value.id, [])
            if len(inner) == 1 and isinstance(inner[0], ast.Call):
                return f"{self.names.full(inner[0].func)}().{func.attr}"
        return self.names.full(func)

    def _launch(self, call: ast.Call, name: str) -> None:
        if not isinstance(self.parents.get(call), ast.Expr):
            raise Unordered("a launch on another stream is no statement of its own", call)
        if not isinstance(call.func, ast.Subscript) and not self._is_kernel(call):
            raise Unordered("what runs on another stream may make arrays", call)
        self._arguments(call)
        self.launches[call] = name

    def _arguments(self, call: ast.Call) -> None:
        """Raises `Unordered` where an argument may be an array that is made, and dropped, with the launch."""
        numba = isinstance(call.func, ast.Subscript)
        stack = list(call.args) if numba else call.args[2:]
        stack += [one.value for one in call.keywords if one.arg != "stream"]
        while stack:
            one = stack.pop()
            if isinstance(one, ast.Tuple | ast.List):
                stack += one.elts
            elif isinstance(one, ast.Name) and numba:
                if not self._is_on_the_device(one.id):
                    raise Unordered(f"`{one.id}` may be an array of the host, which is copied for the launch", one)
            elif not isinstance(one, ast.Name) and not self._is_number(one) and not self._is_view(one, numba):
                raise Unordered("an argument may be an array that is made for the launch alone", one)

    def _is_on_the_device(self, name: str) -> bool:
        """Whether a variable only ever holds arrays of the device, or numbers."""
        values = self.values.get(name, [])
        return bool(values) and all(
            v is not None and (self._is_number(v) or (isinstance(v, ast.Call) and self.names.full(v.func) in _ARRAYS))
            for v in values
        )

    def _is_number(self, node: ast.expr, depth: int = 8) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.UnaryOp(operand=inner):
                return self._is_number(inner, depth)
            case ast.BinOp(left=left, right=right):
                return self._is_number(left, depth) and self._is_number(right, depth)
            case ast.Call(func=func):
                return self.names.full(func) in _NUMBERS
            case ast.Name(id=name):
                values = self.values.get(name, [])
                return bool(values and depth) and all(v is not None and self._is_number(v, depth - 1) for v in values)
            case _:
                return False

    @staticmethod
    def _is_view(node: ast.expr, numba: bool) -> bool:
        """Whether this is a field or a view of an array that a variable holds."""
        known = _PLAIN if numba else _VIEWS
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in known

    # -- regions -------------------------------------------------------------------------------------------------------

    def regions(self) -> Iterator[Region]:
        """The regions of streams that do not wait for the null stream. Raises `Unordered` (`in_sight`)."""
        self.in_sight()
        if not self.made:
            return
        for node in self.nodes:
            if isinstance(node, ast.With) and self._of(node):
                continue
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    yield from self._in_block(block)

    def _in_block(self, block: Sequence[ast.stmt]) -> Iterator[Region]:
        at = 0
        while at < len(block):
            streams = self._of(block[at])
            end = at + 1
            while streams and end < len(block) and not self.catches and self._of(block[end]):
                streams |= self._of(block[end])
                end += 1
            free = tuple(sorted(name for name in streams if self.is_free(name)))
            if free:
                yield Region(block, at, end, free, self._before(block, at), self._behind(block, end))
            at = end

    def _of(self, statement: ast.stmt) -> set[str]:
        """The streams that a statement launches on, if it does nothing else."""
        match statement:
            case ast.Expr(value=ast.Call() as call) if call in self.launches:
                return {self.launches[call]}
            case ast.With(items=[ast.withitem(context_expr=ast.Name(id=name))]) if name in self.made:
                return {name}.union(*(self._of(one) for one in statement.body))
            case _:
                return set()

    def _waits_for(self, statement: ast.stmt) -> frozenset[str] | None:
        """The streams that the host waits for in this statement."""
        words = self.names.full(statement.value) if isinstance(statement, ast.Expr) else ""
        if words in _HOST_WAITS:
            return frozenset(self.made)
        name, _, method = words.partition(".")
        return frozenset({name}) if method == "synchronize()" and name in self.made else None

    def _before(self, block: Sequence[ast.stmt], at: int) -> frozenset[str]:
        """The streams that are behind the null stream at a place: right before it the host has waited for the null
        stream, or they have been made to wait for it.
        """
        found: set[str] = set()
        while at > 0:
            words = self._text(block[at - 1])
            if words in _NULL_WAITS:
                return frozenset(self.made)
            one = next((name for name in self.made if words == f"{name}.wait_event({CUPY_NULL}.record())"), None)
            size = 1
            if one is None and at >= 3:
                event, _, rest = words.partition(".wait(")
                lines = (f"{event} = {EVENT}", f"{event}.record({NUMBA_NULL})")
                if tuple(self._text(line) for line in block[at - 3 : at - 1]) == lines and rest[:-1] in self.made:
                    one, size = rest[:-1], 3
            if one is None:
                break
            found.add(one)
            at -= size
        return frozenset(found)

    def _behind(self, block: Sequence[ast.stmt], at: int) -> frozenset[str]:
        """The streams that the null stream, or the host, has waited for right behind a place."""
        found: set[str] = set()
        while at < len(block):
            words = self._text(block[at])
            waited = self._waits_for(block[at])
            if waited is not None:
                found |= waited
                at += 1
                continue
            one = next((name for name in self.made if words == f"{CUPY_NULL}.wait_event({name}.record())"), None)
            if one is not None:
                found.add(one)
                at += 1
                continue
            event, _, rest = words.partition(" = ")
            if rest != EVENT or at + 2 >= len(block):
                break
            one = next((n for n in self.made if self._text(block[at + 1]) == f"{event}.record({n})"), None)
            if one is None or self._text(block[at + 2]) != f"{event}.wait({NUMBA_NULL})":
                break
            found.add(one)
            at += 3
        return frozenset(found)

    def _text(self, statement: ast.stmt) -> str:
        """A statement with full names: an expression, or the assignment of an event."""
        match statement:
            case ast.Expr(value=value):
                return self.names.full(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                return f"{name} = {self.names.full(call)}"
            case _:
                return ""


def _of_the_host(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but what is inside of functions that run on the device."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.FunctionDef) and any(_last_word(one) in DEVICE for one in node.decorator_list):
            continue
        stack += list(ast.iter_child_nodes(node))


def _last_word(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]


def _stream_of(call: ast.Call) -> ast.expr | None:
    """The stream of `kernel(…, stream=s)` or `kernel[grid, block, s, …](…)`."""
    for one in call.keywords:
        if one.arg == "stream":
            return one.value
    func = call.func
    if isinstance(func, ast.Subscript) and isinstance(func.slice, ast.Tuple) and len(func.slice.elts) > 2:
        return func.slice.elts[2]
    return None


def needed(texts: Iterable[bytes]) -> bool:
    """Whether any of the files of a program may make a stream that does not wait for the null stream."""
    return any(_EXTERNAL.search(text) or (b"cupy" in text and _CUPY.search(text)) for text in texts)


def catches(texts: Iterable[bytes]) -> bool:
    """Whether a program may go on behind an exception."""
    return any(_CATCHES.search(text) for text in texts)


def of_file(text: bytes, may_catch: bool) -> list[Region]:
    """The regions of a file. Raises `Unordered`."""
    return list(Streams(ast.parse(text), may_catch).regions())


def unordered(text: bytes, may_catch: bool) -> tuple[str, int] | None:
    """Why work on other streams is not in order with the memory of arrays in this file, and in which line; None if it
    is in order.
    """
    try:
        for region in of_file(text, may_catch):
            line = region.block[region.start].lineno
            if missing := [name for name in region.streams if name not in region.opened]:
                return f"work on `{missing[0]}` does not wait for the null stream, on which its arrays are made", line
            if missing := [name for name in region.streams if name not in region.closed]:
                return f"the null stream, on which arrays are freed, does not wait for `{missing[0]}`", line
    except Unordered as reason:
        return str(reason), getattr(reason.node, "lineno", 1)
    return None


def waits(path: str, text: bytes, cuda: str, events: tuple[str, str] | None, may_catch: bool) -> list[Edit]:
    """The waits that put the regions of a file in order. `cuda` is what the file calls `cupy.cuda` or `numba.cuda`;
    with `events`, two names that it does not have, they are Numba's. Raises `Unordered`.
    """
    lines = text.splitlines(keepends=True)
    starts = list(accumulate((len(line) for line in lines), initial=0))
    newline = "\r\n" if lines and lines[0].endswith(b"\r\n") else "\n"
    null = f"{cuda}.legacy_default_stream()" if events else f"{cuda}.Stream.null"

    def wait(later: str, earlier: str, event: str) -> list[str]:
        if events is None:
            return [f"{later}.wait_event({earlier}.record())"]
        return [f"{event} = {cuda}.event(timing=False)", f"{event}.record({earlier})", f"{event}.wait({later})"]

    edits: list[Edit] = []
    for region in of_file(text, may_catch):
        first, last = region.block[region.start], region.block[region.end - 1]
        indent = lines[first.lineno - 1][: first.col_offset]
        behind = lines[(last.end_lineno or 0) - 1][last.end_col_offset :].strip()
        if indent.strip() or (behind and not behind.startswith(b"#")):
            raise Unordered("there is no line of its own for a wait", first)
        names = events or ("", "")
        before = [one for s in region.streams if s not in region.opened for one in wait(s, null, names[0])]
        after = [one for s in region.streams if s not in region.closed for one in wait(null, s, names[1])]
        at = starts[first.lineno - 1] + first.col_offset
        end = starts[(last.end_lineno or 0) - 1] + len(lines[(last.end_lineno or 0) - 1].rstrip(b"\r\n"))
        space = indent.decode()
        if before:
            edits.append(Edit(path, at, at, "".join(f"{one}{newline}{space}" for one in before).encode()))
        if after:
            edits.append(Edit(path, end, end, "".join(f"{newline}{space}{one}" for one in after).encode()))
    return edits
