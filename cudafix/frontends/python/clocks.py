"""Whether a Python program may look at a clock.

A clock comes from a module, so what a program mentions of its modules is looked at, wherever it stands: a module that
neither the tables nor the list below describe may tell the time, and so may a function of theirs that a row says does.
A module or class with clocks that is handed on, not called, may be asked for them out of sight.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from cudafix.frontends.python import bindings
from cudafix.frontends.python.syntax import parsed, words
from cudafix.frontends.python.uses import File, PythonProgram
from cudafix.models.api import Effect
from cudafix.models.python import (
    BUILTINS_THAT_REACH_MODULES,
    CLOCK_METHODS,
    CLOCKS_OF_GPU_LIBRARIES,
    FILE_READERS,
    GPU_LIBRARIES,
    HAS_CLOCKS,
    NO_CLOCKS,
    REACHES_MODULES,
)
from cudafix.project.prefilter import NOTEBOOK

_TELL = frozenset((Effect.CLOCK, Effect.TIMER, Effect.EXTERNAL, Effect.READ))
_LIVE_FILE = re.compile(r"(?:^|/)(?:proc|sys|dev|run)(?:/(?!null$)|$)")
"""Files that are made when they are read: proc(5), sysfs(5)."""
_DATES = re.compile(r"[<>=|]?M(?:8.*)?|.*datetime64.*", re.DOTALL)
"""Types of dates in NumPy: a text that is made one may be "now" (NumPy reference, Datetimes and Timedeltas)."""
_TIMES_OF_RECORDS = re.compile(
    rb"asctime|relativeCreated|\bcreated\b|msecs|[fF]ormatTime|makeRecord|LogRecord|__dict__|\bvars\b|\b(?:dict|file)Config\b"
)
"""What of a record of `logging` has a time, and what shows all of it (Python library, LogRecord attributes)."""
_LOGGERS = re.compile(
    r"logging\.(?:getLogger|StreamHandler|FileHandler|NullHandler|basicConfig|Formatter|disable|debug|info|warning|error"
    r"|critical|exception|log|captureWarnings|getLevelName|addLevelName|Logger|[A-Z]+)(?:\.\w+)*"
)
_MAGIC = re.compile(
    rb'"\s*%%?(?!(?:matplotlib|config|pip|conda|cd|pwd|env|autoreload|load_ext\s+autoreload)\b)[A-Za-z]|'
    rb'"\s*!\s*(?!(?:pip3?|conda|mamba|apt|apt-get|mkdir|pwd|git|nvcc)\b)|=\s*[!%]\s*[A-Za-z]'
)
"""Lines of notebooks that are no Python, but for those that only set something up."""
_STAMPED = re.compile(r".*\.(?:pdf|svgz?|e?ps|pgf|gz|tgz|zip|tar|xlsx|docx)", re.DOTALL)
"""Files into which libraries write when they were made."""
_Targets = dict[str, set[str]]


def may_be_read(program: PythonProgram) -> bool:
    """Whether a program may look at a clock."""
    known = _aliases(program)
    every: _Targets = {}
    for names in known.values():
        for name, targets in names.items():
            every.setdefault(name, set()).update(targets)
    return any(_may_tell(file, program, known[file.path], every) for file in program.files.values())


def _aliases(program: PythonProgram) -> Mapping[str, _Targets]:
    """For each file what its names may be of other packages, by any of its imports and by those of the program's files
    that it imports from.
    """
    known: dict[str, _Targets] = {path: {} for path in program.files}
    taken: list[tuple[str, str, str]] = []  # file, name in it, name in another file of the program
    for path, file in program.files.items():
        for node in ast.walk(tree) if (tree := parsed(file)) is not None else ():
            match node:
                case ast.Import(names=names):
                    for one in names:
                        target = one.name if one.asname else one.name.partition(".")[0]
                        if program.tree.find(target, path) is not None:
                            target = f".{target}"
                        known[path].setdefault(one.asname or target.lstrip("."), set()).add(target)
                case ast.ImportFrom(module=module, names=names, level=level):
                    own = level > 0 or program.tree.find((module or "").partition(".")[0], path) is not None
                    for alias in names:
                        name = alias.asname or alias.name
                        target = f"{'.' if own else ''}{module or ''}.{alias.name}"
                        known[path].setdefault(name, set()).add(target)
                        if own:
                            taken.append((path, name, alias.name))
    for _ in range(4):
        for path, name, there in taken:
            for other in known.values():
                found = other.items() if there == "*" else [(name, other.get(there, set()))]
                for word, targets in list(found):
                    known[path].setdefault(word, set()).update(targets)
    return known


def _may_tell(file: File, program: PythonProgram, known: _Targets, every: _Targets) -> bool:
    tree = parsed(file)
    if tree is None or (file.path.endswith(NOTEBOOK) and _MAGIC.search(file.source.data)):
        return True
    if any(name in CLOCK_METHODS or name in REACHES_MODULES for name in file.asked):
        return True
    if any(_brings_clocks(target) for target in known.get("*", ())):
        return True
    if any(_opens(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and not _is_of(node.func, known)):
        return True
    return any(_is_clock(name, call, program) for name, call in _mentions(tree, known, every)) or any(_texts(tree))


def _brings_clocks(target: str) -> bool:
    """Whether `import *` of a package may bring a clock."""
    module = target.removesuffix(".*")
    root = module.partition(".")[0]
    return bool(root) and root not in GPU_LIBRARIES and (root not in NO_CLOCKS or module in HAS_CLOCKS)


def _is_of(function: ast.expr, known: _Targets) -> bool:
    """Whether a function is named by a name that is imported."""
    chain = words(function)
    return chain is not None and chain[0] in known


def _opens(call: ast.Call) -> bool:
    """Whether a call may be `path.open(mode)` of a file to read."""
    mode = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "mode"), None)
    writes = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not set(mode.value) & set("r+")
    return isinstance(call.func, ast.Attribute) and call.func.attr == "open" and not writes


def _texts(tree: ast.AST) -> Iterator[bool]:
    """For each text whether it may make something a clock."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip()
            yield text.lower() in ("now", "today") or any(
                (_LIVE_FILE.search(text), _DATES.fullmatch(text), _STAMPED.fullmatch(text))
            )


def _mentions(tree: ast.AST, known: _Targets, every: _Targets) -> Iterator[tuple[str, ast.Call | None]]:
    """What a file mentions of packages and of built-in functions, by full names, with the call if it is called."""
    stack: list[tuple[ast.AST, ast.Call | None]] = [(tree, None)]
    while stack:
        node, call = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        chain = words(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if chain is not None:
            for target in known.get(chain[0], (f"builtins.{chain[0]}",)):
                yield ".".join([target, *chain[1:]]), call
                for at, word in enumerate(chain[1:], 1) if target.startswith(".") else ():
                    yield from ((".".join([one, *chain[at + 1 :]]), call) for one in every.get(word, ()))
            continue
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            called = node if isinstance(node, ast.Call) and name == "func" else None
            below = value if isinstance(value, list) else [value]
            stack += [(one, called) for one in below if isinstance(one, ast.AST)]


def _is_clock(name: str, call: ast.Call | None, program: PythonProgram) -> bool:
    """Whether what is mentioned by a full name may tell the time, or lead to what does."""
    root, _, rest = name.partition(".")
    if not root:
        return False
    if name in ("builtins.open", "io.open", "codecs.open"):
        return call is None or _may_read_times(call)
    if root == "builtins":
        return not rest or rest.partition(".")[0] in BUILTINS_THAT_REACH_MODULES
    if root in GPU_LIBRARIES:
        return CLOCKS_OF_GPU_LIBRARIES.match(name) is not None
    if name in FILE_READERS or name.startswith("pandas.read_"):
        return call is None or not _is_ordinary(call.args[0] if call.args else None)
    if root == "logging":
        return _LOGGERS.fullmatch(name) is None or not _shows_no_times(name, call, program)
    if root not in NO_CLOCKS or any(word in REACHES_MODULES for word in rest.split(".")):
        return True
    if name in HAS_CLOCKS:
        return call is None
    if root not in HAS_CLOCKS and "." not in name:
        return False
    row = bindings.tables().any_form(name)
    return row is not None and (row.effect in _TELL or row.timed or row.returns == "time")


def _may_read_times(call: ast.Call) -> bool:
    """Whether `open` may open a file to read that is made when it is read."""
    given = {one.arg: one.value for one in call.keywords} | dict(zip(("file", "mode"), call.args, strict=False))
    if None in given or any(isinstance(one, ast.Starred) for one in call.args):
        return True
    mode = given.get("mode")
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not set(mode.value) & set("r+"):
        return False
    return not _is_ordinary(given.get("file"))


def _is_ordinary(path: ast.expr | None) -> bool:
    """Whether a path is a text that names an ordinary file."""
    return isinstance(path, ast.Constant) and isinstance(path.value, str) and not _LIVE_FILE.search(path.value)


def _shows_no_times(name: str, call: ast.Call | None, program: PythonProgram) -> bool:
    """Whether what `logging` writes has no times: its formats are texts of the program that name none, as does the one
    that it has by default (Python library, logging.basicConfig).
    """
    if any(_TIMES_OF_RECORDS.search(file.source.data) for file in program.files.values()):
        return False
    if name not in ("logging.basicConfig", "logging.Formatter"):
        return True
    if call is None or any(one.arg is None for one in call.keywords):
        return False
    formats = [*call.args, *(one.value for one in call.keywords if one.arg in ("format", "fmt", "style", "handlers"))]
    return all(isinstance(one, ast.Constant | ast.List | ast.Tuple) for one in formats)
