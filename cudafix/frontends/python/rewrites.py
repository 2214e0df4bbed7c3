"""Whether a changed Python file is a right rewrite, told from the two texts alone.

It knows nothing of the codemods: the two syntax trees are laid side by side, and every difference has to be one of few
things whose meaning for the order of the device's work is known. Everything else is a reason against it.
"""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from cudafix.frontends.python import streams
from cudafix.frontends.python.ast_names import Names
from cudafix.models.python import HOST_PACKAGES

WAITS = frozenset(
    (
        "cupy.cuda.Device().synchronize()",
        "cupy.cuda.runtime.deviceSynchronize()",
        "numba.cuda.synchronize()",
        "cuda.bindings.runtime.cudaDeviceSynchronize()",
        "cuda.bindings.driver.cuCtxSynchronize()",
    )
)
POOL = "cupy.cuda.MemoryAsyncPool()"
_RAW = {"cupy.cuda.set_allocator", "cupy.cuda.using_allocator", "cupy.cuda.memory.set_allocator"}
_OBJECTS = {
    f"cupy.cuda.{module}{name}": name == "MemoryAsync"
    for module in ("", "memory.")
    for name in ("Memory", "MemoryAsync")
}
"""Raw memory and memory of the pool; the second takes a stream."""
_NONE = ("None", "", "cupy.cuda.memory._malloc")
_MANAGERS = {
    "cudafix_numba_memory.StreamOrderedMemoryManager": "cudafix_numba_memory.py",
    "rmm.allocators.numba.RMMNumbaManager": "",
}
_SETUP = frozenset(("rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())",))
_SETUP_CALLS = frozenset(("rmm.mr.set_current_device_resource", "rmm.mr.CudaAsyncMemoryResource"))
_IMPORTABLE = frozenset(("rmm", *_MANAGERS))


class Change(Exception):
    """A difference that is no right rewrite; the message says which."""


class _Names(Names):
    """The full names of what a file imports, and its pools."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        self.pools: set[str] = set()

    def full(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and node.id in self.pools:
            return POOL
        return super().full(node)


class _Side:
    """One text, and what it does with the allocators."""

    def __init__(self, text: bytes) -> None:
        self.tree = ast.parse(text)
        self.names = _Names(self.tree)
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                if self.names.full(statement.value) == POOL:
                    self.names.pools.add(statement.targets[0].id)

    def raw(self, node: ast.expr) -> tuple[str, str] | None:
        """A call that chooses raw memory: `("asks", function)`; with the asynchronous pool: `("pooled", function)`."""
        if not isinstance(node, ast.Call):
            return None
        name = self.names.full(node.func)
        if name in _RAW and len(node.args) + len(node.keywords) <= 1:
            given = self.names.full(node.args[0]) if node.args else ""
            if node.keywords:
                given = self.names.full(node.keywords[0].value) if node.keywords[0].arg == "allocator" else "?"
            if given in _NONE:
                return "asks", name
            return ("pooled", name) if given == f"{POOL}.malloc" else None
        if name in _OBJECTS and len(node.args) + len(node.keywords) == 1 + _OBJECTS[name]:
            values: dict[str, ast.expr] = dict(zip(("size", "stream"), node.args, strict=False))
            values.update({one.arg: one.value for one in node.keywords if one.arg is not None})
            stream = self.names.full(values["stream"]) if "stream" in values else ""
            if "size" in values and stream == ("cupy.cuda.Stream.null" if _OBJECTS[name] else ""):
                return "pooled" if _OBJECTS[name] else "asks", f"Memory({ast.unparse(values['size'])})"
        return None


class Comparison:
    """One file before and after. `allocators` and `managers` are the lines in which the memory of arrays moves."""

    def __init__(self, path: str, before: bytes, after: bytes, files: Mapping[str, bytes], manager: bytes) -> None:
        self.path = path
        self.old, self.new = _Side(before), _Side(after)
        self.files = files
        self.manager = manager
        self.allocators: list[int] = []
        self.managers: list[int] = []
        self._block(self.old.tree.body, self.new.tree.body, top=True, loops=0)

    def _block(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], top: bool, loops: int) -> None:
        shapes = [[self._shape(side, one) for one in block] for side, block in ((self.old, old), (self.new, new))]
        matcher = SequenceMatcher(None, shapes[0], shapes[1], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                for a, b in zip(old[i1:i2], new[j1:j2], strict=True):
                    self._pair(a, b, top, loops)
                continue
            if i1 != i2:
                raise Change(f"line {old[i1].lineno} is gone or says something else")
            for number in range(j1, j2):
                self._appeared(new, number, top, loops)

    def _shape(self, side: _Side, node: ast.stmt) -> str:
        """Equal for statements that may stand for each other: compound ones by their kind and header."""
        bodies = [name for name in ("body", "orelse", "finalbody", "handlers", "cases") if hasattr(node, name)]
        kept = {name: getattr(node, name) for name in bodies}
        for name in bodies:
            setattr(node, name, [])
        try:
            text = ast.dump(_Normal(side).visit(_copy(node)))
        finally:
            for name, value in kept.items():
                setattr(node, name, value)
        return text

    def _pair(self, old: ast.stmt, new: ast.stmt, top: bool, loops: int) -> None:
        again = loops + isinstance(old, ast.For | ast.While | ast.AsyncFor)
        inside = top and not isinstance(old, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for call, made in zip(_expressions(old), _expressions(new), strict=True):
            one, two = self.old.raw(call), self.new.raw(made)
            if one is not None and two is not None and one != two:
                if (one[0], two[0]) != ("asks", "pooled"):
                    raise Change(f"line {new.lineno}: an allocator changed")
                self.allocators.append(new.lineno)
                if self._makes_pool(made) and (again or not top):
                    if again or not self._runs_once(new):
                        raise Change(f"line {new.lineno}: the pool is made again and again")
        for name in ("body", "orelse", "finalbody"):
            a, b = getattr(old, name, None), getattr(new, name, None)
            if isinstance(a, list) and isinstance(b, list):
                self._block(a, b, inside, again)
        for name in ("handlers", "cases"):
            for branch, other in zip(getattr(old, name, []), getattr(new, name, []), strict=True):
                if self._header(self.old, branch) != self._header(self.new, other):
                    raise Change(f"line {other.body[0].lineno}: a branch changed")
                self._block(branch.body, other.body, inside, again)

    @staticmethod
    def _header(side: _Side, node: ast.ExceptHandler | ast.match_case) -> str:
        parts = (node.type, node.name) if isinstance(node, ast.ExceptHandler) else (node.pattern, node.guard)
        return " ".join(ast.dump(part) if isinstance(part, ast.AST) else str(part) for part in parts)

    def _makes_pool(self, node: ast.expr) -> bool:
        made = (one for one in ast.walk(node) if isinstance(one, ast.Call))
        return any(self.new.names.full(one.func) == POOL.removesuffix("()") for one in made)

    def _runs_once(self, statement: ast.stmt) -> bool:
        """Whether the function around a statement is called in one place, and not in a loop."""
        for function in ast.walk(self.new.tree):
            if isinstance(function, ast.FunctionDef) and function.lineno <= statement.lineno <= (
                function.end_lineno or 0
            ):
                calls = [
                    one
                    for one in ast.walk(self.new.tree)
                    if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == function.name
                ]
                around = [
                    loop
                    for loop in ast.walk(self.new.tree)
                    if isinstance(loop, ast.For | ast.While | ast.ListComp | ast.GeneratorExp | ast.SetComp)
                    for call in calls
                    if loop.lineno <= call.lineno <= (loop.end_lineno or 0)
                ]
                return len(calls) == 1 and not around
        return False

    def _appeared(self, block: Sequence[ast.stmt], number: int, top: bool, loops: int) -> None:
        node = block[number]
        names = self.new.names
        if isinstance(node, ast.Expr):
            words = names.full(node.value)
            if words in WAITS or (words in _SETUP and top and not loops) or self._is_stream_wait(node.value):
                return
            if isinstance(node.value, ast.Call) and names.full(node.value.func) == "numba.cuda.set_memory_manager":
                self._manager(node, node.value, block[:number], top, loops)
                return
        elif isinstance(node, ast.Assign) and names.full(node.value) == POOL and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(self.old.tree)):
                raise Change(f"line {node.lineno}: `{name}` means something else in this file")
            if top and not loops and block is self.new.tree.body:
                return
        elif isinstance(node, ast.Assign) and names.full(node.value) == streams.EVENT:
            name = getattr(node.targets[0], "id", "")
            if name and all(getattr(one, "id", None) != name for one in ast.walk(self.old.tree)):
                return
        elif isinstance(node, ast.Import | ast.ImportFrom) and top:
            module = node.module if isinstance(node, ast.ImportFrom) else None
            imported = {f"{module}.{a.name}" if module else a.name for a in node.names}
            bound = {a.asname or a.name.split(".")[0] for a in node.names}
            used = {
                one.id for one in ast.walk(self.old.tree) if isinstance(one, ast.Name)
            } | self.old.names.known.keys()
            if imported <= _IMPORTABLE and not (bound & used) - {"rmm"}:
                return
        raise Change(f"line {node.lineno}: a statement appeared that is not understood: {ast.unparse(node)[:60]}")

    def _is_stream_wait(self, node: ast.expr) -> bool:
        """Whether a statement makes a stream wait for another, or records an event for that: it only adds order."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute(), attr="wait_event"), args=[ast.Call(
                func=ast.Attribute(value=ast.Name() | ast.Attribute(), attr="record"), args=[], keywords=[]
            )], keywords=[]):  # fmt: skip
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="record" | "wait"), args=[given], keywords=[]
            ):
                made = (one for one in ast.walk(self.new.tree) if isinstance(one, ast.Assign))
                events = [one for one in made if getattr(one.targets[0], "id", None) == name]
                known = all(self.new.names.full(one.value) == streams.EVENT for one in events)
                return bool(events) and known and isinstance(given, ast.Name | ast.Call)
        return False

    def _manager(self, node: ast.stmt, call: ast.Call, before: Sequence[ast.stmt], top: bool, loops: int) -> None:
        given = self.new.names.full(call.args[0]) if len(call.args) == 1 else ""
        if given not in _MANAGERS or not top or loops:
            raise Change(f"line {node.lineno}: this memory manager is not known, or is installed too late")
        for earlier in before:
            if isinstance(earlier, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
                continue
            for one in ast.walk(earlier):
                if isinstance(one, ast.Call) and not self._is_of_the_host(one.func):
                    raise Change(f"line {earlier.lineno}: something runs before the memory manager is installed")
        beside = _MANAGERS[given]
        if beside and self.files.get(os.path.join(os.path.dirname(self.path), beside)) != self.manager:
            raise Change(f"`{beside}` is not the manager that cudafix ships")
        self.managers.append(node.lineno)

    def _is_of_the_host(self, function: ast.expr) -> bool:
        """Whether a call is one of the standard library or of a package that does not work on the device."""
        name = self.new.names.full(function)
        root = name.split(".")[0]
        if name == root and root not in self.new.names.known:
            return hasattr(builtins, root) and root not in ("exec", "eval", "__import__")
        known = root in sys.stdlib_module_names or root in HOST_PACKAGES
        return name in _SETUP_CALLS or (known and root in self.new.names.known.values())


class _Normal(ast.NodeTransformer):
    """Calls that choose an allocator, as the same word on both sides."""

    def __init__(self, side: _Side) -> None:
        self.side = side

    def visit_Call(self, node: ast.Call) -> ast.AST:  # the name that `ast` looks for
        found = self.side.raw(node)
        if found is not None:
            return ast.Constant(f"raw memory: {found[1]}")
        return self.generic_visit(node)


def _copy(node: ast.stmt) -> ast.stmt:
    import copy

    return copy.deepcopy(node)


def _expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The calls of a statement's own line, in order; not those of its bodies."""
    stack: list[ast.AST] = [
        value
        for name, field in ast.iter_fields(node)
        if name not in ("body", "orelse", "finalbody", "handlers", "cases")
        for value in (field if isinstance(field, list) else [field])
        if isinstance(value, ast.AST)
    ][::-1]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Call):
            yield current
            name = current.func
            if isinstance(name, ast.Attribute | ast.Name) and (
                ast.unparse(name).split(".")[-1] in ("set_allocator", "using_allocator", "Memory", "MemoryAsync")
            ):
                continue  # what it is given is compared as a whole
        stack += list(ast.iter_child_nodes(current))[::-1]
