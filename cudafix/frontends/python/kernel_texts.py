"""What the kernels of a Python program may do besides work on arrays: print, trap, and use variables of their own.

CuPy compiles kernels from text. What such a text says is known where it is put together from literals alone, and where
all that it includes is of the toolkit; any other text may print, trap, and have managed variables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from cudafix.findings import Place
from cudafix.frontends.python.syntax import parsed, words
from cudafix.frontends.python.uses import File, PythonProgram
from cudafix.project.prefilter import NOTEBOOK

_MAKERS = frozenset(("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel"))
_LOADERS = re.compile(
    r"_?compile_\w*cache\w*|compile_using_\w+|load_file|LinkState|Linker|ObjectCode|nvrtc|(?:cu)?[mM]odule_?[lL]oad\w*|"
    r"(?:cu)?[lL]ibrary_?[lL]oad\w*|Module|create_ufunc|create_reduction_func|\w*SimpleReductionKernel"
)
"""Names by which a program may load device code in another way."""
_PRINTS = re.compile(r"printf|\bassert\b|__assert")
_MANAGED = re.compile(r"\b__managed__\b")
_TRAPS = re.compile(r"\b(?:__|__builtin_)?trap\b|\babort\b|\bterminate\b|\b__brkpt\b")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.DOTALL)
_UNSEEN = re.compile(r"##|\?\?|\basm\b|\b__asm\w*|\bcudaGraph\w*|<<<")
"""What makes other words of a text than those that stand in it (C++17 [cpp.concat]), or is no C++."""
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*(?:include\w*|import|embed)\b(.*)$", re.MULTILINE)
_OF_THE_TOOLKIT = re.compile(
    r"\s*<(?:cu(?:da)?_(?:fp16|bf16|fp8|fp6|fp4|runtime|runtime_api|pipeline|pipeline_primitives)\.h(?:pp)?|cuda\.h|mma\.h|"
    r"cooperative_groups\.h|cooperative_groups/[\w/]+\.h|cuda/[\w/]+|cuComplex\.h|math_constants\.h|"
    r"device_launch_parameters\.h|vector_types\.h|curand_kernel\.h|cub/[\w/]+\.cuh|thrust/[\w/]+\.h|cupy/[\w/]+\.(?:cuh|h)|"
    r"stdint\.h|cstdint|cmath|math\.h|cfloat|float\.h|climits|limits\.h|limits|type_traits|cstddef|stddef\.h|utility|"
    r"cstdio|stdio\.h|cassert|assert\.h|cstdlib|stdlib\.h|cstring|string\.h|algorithm|complex|numeric|functional|tuple|"
    r"array|initializer_list)>\s*(?://.*|/\*[^*]*\*/\s*)?"
)
_OPTIONS = re.compile(
    r"-D ?\w+(?:=[\w.+-]*)?|-U ?\w+|-I ?\S+|--?std[= ]c\+\+\w+|-?-use_fast_math|-lineinfo|--generate-line-info|"
    r"-G|-O\d|-w|"
    r"-?-(?:gpu-architecture|arch|maxrregcount|fmad|ftz|prec-div|prec-sqrt|ptxas-options)[= ][\w=.,-]+|-default-device"
)
_READS_ADDRESSES = re.compile(
    r"from_address|string_at|wstring_at|memoryview_at|memmove|memset|cast|as_array|in_dll|POINTER|contents|"
    r"__array_interface__|__array_struct__|cffi|_ctypes|_rawffi"
)
"""By their names, what reads or writes host memory at an address that is only a number."""


class Texts(NamedTuple):
    """Where kernels may print, trap, have managed variables, and where what they do is not seen; None if nowhere."""

    prints: Place | None = None
    managed: Place | None = None
    traps: Place | None = None
    unseen: Place | None = None


def examine(program: PythonProgram) -> Texts:
    """What the kernels of CuPy in a program may do."""
    found = Texts()
    for file in program.files.values():
        for node, text in _texts(file, program):
            here = _place(file, node)
            if text is None:
                found = found._replace(unseen=found.unseen or here)
                continue
            text = re.sub(r"\\\r?\n", "", text)
            if 'R"' not in text:
                text = _COMMENTS.sub(lambda found: found[1] or " ", text)
            included = all(_OF_THE_TOOLKIT.fullmatch(one) for one in _INCLUDES.findall(text))
            found = Texts(
                found.prints or (here if _PRINTS.search(text) else None),
                found.managed or (here if _MANAGED.search(text) else None),
                found.traps or (here if _TRAPS.search(text) else None),
                found.unseen or (here if not included or _UNSEEN.search(text) else None),
            )
    return found


def reads_addresses(program: PythonProgram) -> bool:
    """Whether the host may read memory at an address that is only a number."""
    return any(
        _READS_ADDRESSES.fullmatch(name)
        for file in program.files.values()
        for name in (*file.asked, *file.names, *(word for one in file.imports for word in one.split(".")))
    )


def _place(file: File, node: ast.AST) -> Place:
    if file.path.endswith(NOTEBOOK):
        return Place(file.path, 0, "here")
    lines = file.source.data.splitlines(keepends=True)[: getattr(node, "lineno", 1) - 1]
    return Place(file.path, sum(map(len, lines)) + getattr(node, "col_offset", 0), "here")


def _texts(file: File, program: PythonProgram) -> Iterator[tuple[ast.AST, str | None]]:
    """The text of each kernel that a file makes, with its options; None where it is not known."""
    tree = parsed(file)
    if tree is None:
        yield ast.Module([], []), None
        return
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    notes = {
        id(inner)
        for node in ast.walk(tree)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(note, ast.AST)
        for inner in ast.walk(note)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func) if (chain := words(func)) is not None and chain[-1] in _MAKERS:
                yield node, _of_call(node, file, program)
            case ast.Attribute(attr=name) | ast.Name(id=name) if id(node) not in notes:
                if _LOADERS.fullmatch(name) or (name in _MAKERS and id(node) not in called):
                    yield node, None
            case ast.Constant(value=str(name)) if name in _MAKERS or _LOADERS.fullmatch(name):
                yield node, None
            case ast.ImportFrom(names=names):
                for one in names:
                    if _LOADERS.fullmatch(one.name) or (one.name in _MAKERS and one.asname not in (None, one.name)):
                        yield node, None


def _of_call(call: ast.Call, file: File, program: PythonProgram) -> str | None:
    """All texts that a kernel is made of, one below the other."""
    found: list[str] = []
    for at, given in enumerate([*call.args, *(one.value for one in call.keywords)]):
        name = call.keywords[at - len(call.args)].arg if at >= len(call.args) else ""
        if name is None or name == "path" or isinstance(given, ast.Starred):
            return None
        if name == "options" or isinstance(given, ast.Tuple | ast.List):
            options = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
            values = [_text(one, file, program) for one in options]
            if name == "name_expressions":
                found += [one or "##" for one in values]
            elif not all(one is not None and _OPTIONS.fullmatch(one) for one in values):
                return None
            else:
                found += [one or "" for one in values]
            continue
        text = _text(given, file, program)
        if text is None:
            return None
        found.append(text)
    return "\n".join(found)


def _text(node: ast.expr, file: File, program: PythonProgram, depth: int = 8) -> str | None:
    """What an expression is that is made of literals alone, by way of names that are bound once."""
    match node:
        case ast.Constant(value=value):
            return value if isinstance(value, str) else "" if value is None or isinstance(value, bool | int) else None
        case ast.BinOp(left=left, op=ast.Add(), right=right) if depth:
            parts = [_text(one, file, program, depth - 1) for one in (left, right)]
            return "".join(one for one in parts if one is not None) if None not in parts else None
        case ast.Name(id=name) if depth:
            bound = _bound_once(name, file, program)
            return _text(bound[0], bound[1], program, depth - 1) if bound is not None else None
        case _:
            return None


def _bound_once(name: str, file: File, program: PythonProgram) -> tuple[ast.expr, File] | None:
    """What a name is bound to, where one statement binds it in the whole file, be it an import from a file of the
    program where that is so, and no file may set it as an attribute or by a text.
    """
    found: list[tuple[ast.expr, File] | None] = []
    for other in program.files.values():
        tree = parsed(other)
        for node in ast.walk(tree) if tree is not None else ():
            match node:
                case ast.Attribute(attr=one, ctx=ast.Store() | ast.Del()) | ast.Constant(value=one) if one == name:
                    return None
                case _ if other is file:
                    found += _bindings(node, name, file, program)
    return found[0] if len(found) == 1 else None


def _bindings(node: ast.AST, name: str, file: File, program: PythonProgram) -> list[tuple[ast.expr, File] | None]:
    """What a node binds a name to, one for each time; None for what is not known."""
    unknown: list[tuple[ast.expr, File] | None] = [None]
    match node:
        case ast.Assign(targets=[ast.Name(id=one)], value=given) if one == name:
            return [(given, file)]
        case ast.AnnAssign(target=ast.Name(id=one), value=ast.expr() as given) if one == name:
            return [(given, file)]
        case ast.Assign(targets=targets):
            stored = [inner for one in targets for inner in ast.walk(one) if isinstance(inner, ast.Name)]
            return unknown * sum(one.id == name and isinstance(one.ctx, ast.Store) for one in stored)
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            return unknown * _stores(target, name)
        case ast.comprehension(target=target) | ast.NamedExpr(target=target) | ast.AnnAssign(target=target):
            return unknown * _stores(target, name)
        case ast.withitem(optional_vars=ast.expr() as target):
            return unknown * _stores(target, name)
        case ast.Delete(targets=targets):
            return unknown * sum(_stores(one, name) for one in targets)
        case ast.arg(arg=one) | ast.FunctionDef(name=one) | ast.AsyncFunctionDef(name=one) | ast.ClassDef(name=one):
            return unknown * (one == name)
        case ast.ExceptHandler(name=one) | ast.MatchAs(name=one) | ast.MatchStar(name=one) | ast.MatchMapping(rest=one):
            return unknown * (one == name)
        case ast.Global(names=words_) | ast.Nonlocal(names=words_):
            return unknown * (name in words_)
        case ast.Import(names=aliases):
            return unknown * sum((one.asname or one.name.partition(".")[0]) == name for one in aliases)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            bound = unknown * sum((one.asname or one.name) in (name, "*") for one in aliases)
            path = program.tree.find(module, file.path) if bound and module and not level else None
            if (
                path is not None
                and path in program.files
                and path != file.path
                and all(one.name != "*" for one in aliases)
            ):
                there = next(one.name for one in aliases if (one.asname or one.name) == name)
                return [_bound_once(there, program.files[path], program)]
            return bound
    return []


def _stores(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(target))


_COMPILES = frozenset("jit njit rawkernel vectorize guvectorize overload intrinsic declare_device cfunc".split())
_PLAIN = frozenset(
    "staticmethod classmethod property setter getter contextmanager lru_cache cache cached_property dataclass wraps "
    "abstractmethod fixture parametrize".split()
)
"""Decorators that leave a function to Python."""
_LINKED = frozenset("link declare_device debug CUSource PTXSource Cubin Fatbin Object Archive LTOIR".split())
_EXTENDS = ("numba.core", "numba.extending", "numba.cuda.extending", "numba.cuda.cudaimpl", "llvmlite")


def numba_may_print(program: PythonProgram) -> bool:
    """Whether a kernel of Numba may print, or raise what the host sees later: one that is decorated and names `print`,
    raises or asserts; any function that does, where functions may be compiled by a call; any kernel, where `print` has
    another name, or code that is no Python is linked.
    """
    by_calls, prints = False, False
    for file in program.files.values():
        tree = parsed(file)
        if tree is None or any(name.startswith(_EXTENDS) for name in file.imports):
            return True
        if "print" in file.asked:
            return True
        direct: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                made = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
                direct |= {id(one) for one in made}
                tells = any(_tells(inner) for one in node.body for inner in ast.walk(one))
                prints = prints or tells
                if tells and any((words(one) or ["?"])[-1] not in _PLAIN for one in made):
                    return True
            elif isinstance(node, ast.Lambda):
                prints = prints or any(map(_tells, ast.walk(node)))
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name) and node.func.id == "print":
                    direct.add(id(node.func))
                compiles = (words(node.func) or ["?"])[-1] in _COMPILES
                if any(one.arg in _LINKED or (compiles and one.arg is None) for one in node.keywords):
                    return True
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) if id(node) not in direct:
                    if name in _LINKED and (name == "declare_device" or name[0].isupper()):
                        return True
                    if name == "print":
                        return True
                    by_calls = by_calls or name in _COMPILES
                case ast.Name() | ast.Attribute():
                    if (words(node) or ["?"])[-1] == "declare_device":
                        return True
                case ast.ImportFrom(names=names):
                    by_calls = by_calls or any(
                        one.name in _COMPILES and one.asname not in (None, one.name) for one in names
                    )
    return by_calls and prints


def _tells(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Name) and node.id == "print")
