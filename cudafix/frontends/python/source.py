"""One Python file: its tree, the byte range of every node, and the filter that most files do not pass."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import libcst as cst
from libcst._nodes.internal import CodegenState

from cudafix.frontends.python.nodes import children
from cudafix.ir import Span
from cudafix.project import prefilter

_ALLOCATES = re.compile(rb"\b(?:cudaMalloc|cuMemAlloc)(?=\s*\()")
_CHAINED = re.compile(r"\b(?:and|or)\b")
_LONGEST = 3000  # operands of one `and` or `or`
_OPENS = re.compile(r"[(\[{]|\b(?:lambda|not|await|else|yield)\b|[-+~*]")  # what something is nested in
_OPEN = 500  # of these on one line, or brackets that no line closes


@dataclass(frozen=True, slots=True)
class Source:
    """A file that libcst has read. Spans are bytes of the file; `shift` is the length of a byte order mark."""

    path: str
    data: bytes
    module: cst.Module
    spans: Mapping[int, tuple[int, int]]  # by the `id` of the node, which `module` keeps alive
    shift: int

    def span(self, node: cst.CSTNode) -> Span:
        """The bytes of a node, without the parentheses and the white space around it."""
        start, end = self.spans[id(node)]
        return Span(self.path, start + self.shift, end + self.shift)

    def text(self, node: cst.CSTNode) -> str:
        """The text of a node."""
        span = self.span(node)
        return self.data[span.start : span.end].decode("utf-8", "replace")


class UnreadableError(ValueError):
    """A file that is no Python that libcst reads. `offset` is where, in bytes."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"unreadable at byte {offset}")
        self.offset = offset


def read(path: str, data: bytes) -> Source:
    """Parse a file. Raises UnreadableError.

    Only UTF-8 (and so ASCII) is read: in another encoding the offsets of the tree are not those of the file.
    """
    shift = len(prefilter.BOM) if data.startswith(prefilter.BOM) else 0
    if prefilter.is_in_another_encoding(data):
        raise UnreadableError(shift)
    try:
        text = data[shift:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(shift + error.start) from None
    if _is_too_deep(text):
        raise UnreadableError(shift)
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        lines = text.split("\n")
        before = "\n".join(lines[: error.raw_line - 1])
        raise UnreadableError(min(shift + len(before.encode()) + 1, max(len(data) - 1, 0))) from None
    except RecursionError:
        raise UnreadableError(shift) from None
    written = _Written(module, text)
    try:
        module._codegen(written)
    except (RecursionError, KeyError):  # nested too deeply; what libcst does on its way out hides the first error
        raise UnreadableError(shift) from None
    if "".join(written.tokens) != text:  # a form feed before a statement, for one: the offsets would be wrong behind it
        raise UnreadableError(shift)
    _mangle(module)
    return Source(path, data, module, written.spans, shift)


def _mangle(node: cst.CSTNode, cls: str = "") -> None:
    """Give the private names in bodies of classes the names that they have for all others (Python 3.13, 6.2.2)."""
    stack = [(node, cls)]
    while stack:
        current, cls = stack.pop()
        if isinstance(current, cst.Name) and cls and current.value[:2] == "__" and current.value[-2:] != "__":
            object.__setattr__(current, "value", f"_{cls}{current.value}")
        if isinstance(current, cst.ClassDef):
            stack += [(one, cls) for one in children(current) if one is not current.body]
            stack.append((current.body, current.name.value.lstrip("_") or cls))
        else:
            stack += [(one, cls) for one in children(current)]


def _is_too_deep(text: str) -> bool:
    """Whether the parser of libcst could overflow its stack, which ends the process.

    It has no bound; that of Python is far below where this happens, for all but one kind of nesting: `a and b and c` is
    nested in libcst, and flat in Python.
    """
    chained = sum(1 for _ in _CHAINED.finditer(text)) > _LONGEST
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the user's code does
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree = compile(text, "<file>", "exec", flags, dont_inherit=True)
    except SyntaxError as error:  # libcst may know a newer Python, and has the last word on all but depth
        unclosed = max(accumulate(line.count("(") - line.count(")") for line in text.splitlines()), default=0)
        opened = max((sum(1 for _ in _OPENS.finditer(line)) for line in text.splitlines()), default=0)
        deep = "too many" in error.msg or "too deeply" in error.msg
        return chained or deep or max(unclosed, opened) > _OPEN
    except (RecursionError, MemoryError):  # the latter is how Python says that the stack of its parser is full
        return True
    except ValueError:  # a NUL byte
        return False
    return chained and any(isinstance(node, ast.BoolOp) and len(node.values) > _LONGEST for node in ast.walk(tree))


class _Written(CodegenState):
    """A tree while it is written out again, to see at which bytes each node stands: what `ByteSpanPositionProvider`
    finds, at a third of its cost.
    """

    def __init__(self, module: cst.Module, text: str) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.spans: dict[int, tuple[int, int]] = {}
        self.ascii = text.isascii()
        self.position = 0
        self.starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.position += len(value) if self.ascii else len(value.encode())

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.spans.setdefault(id(node), (self.starts.pop(), self.position))

    def record_syntactic_position(  # type: ignore[override] # that one is made by `contextmanager`
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Inner:
        return _Inner(self, node, start_node, end_node)


class _Inner:
    """Notes where a node stands without its parentheses and the white space around it."""

    __slots__ = ("end_node", "node", "start", "start_node", "written")

    def __init__(
        self, written: _Written, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.written, self.node, self.start_node, self.end_node = written, node, start_node, end_node

    def __enter__(self) -> None:
        self.start = self.written.position

    def __exit__(self, *_: object) -> None:
        spans, start, end = self.written.spans, self.start, self.written.position
        if self.start_node is not None:
            start = spans[id(self.start_node)][0]
        if self.end_node is not None:
            end = spans[id(self.end_node)][1]
        spans[id(self.node)] = start, end


def sites_in_text(data: bytes) -> list[tuple[int, int]]:
    """Where a file that cannot be parsed seems to allocate: the ranges of the names."""
    return [match.span() for match in _ALLOCATES.finditer(data)]
