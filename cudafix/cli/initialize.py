"""`cudafix init`: a commented configuration, made from what is found in the tree."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from cudafix.findings import ASSUMPTIONS
from cudafix.frontends.cuda.sema import sites
from cudafix.project import build, discovery
from cudafix.project.config import ASYNC_SINCE, Config

FILE = "cudafix.toml"
_CUDA = re.compile(rb"\bcuda(?:Malloc|Free)(?:Async)?\s*\(|\bcupy\b|\bcuda\.bindings")
_WRAPPED = re.compile(rb"(?<![\w.>:])([A-Za-z_]\w*)\s*\(\s*(?:\(void\)\s*)?cuda[A-Z]\w*\s*\(")
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)|\b(\w+)\s*\([^;(){}]*\)\s*(?:noexcept\s*)?\{", re.MULTILINE)
_KEYWORDS = frozenset("if while for switch return sizeof assert defined catch".split())
_FOREIGN = re.compile(r"(?i)(?:3rd|third)[-_]?party|external|extern|vendor|deps|submodules|_deps")
_CMAKE_VERSION = re.compile(r"(?i)find_package\s*\(\s*CUDA(?:Toolkit)?\s+(\d+)\.(\d+)")
_MOST = 8  # folders to list one by one


def propose(root: str) -> str:
    """The text of a configuration for the tree at `root`, which is the current folder."""
    found = discovery.discover([root], Config(root=Path(root))).files
    cuda = {path: data for path, data in found.items() if _CUDA.search(data) is not None}
    parts = [
        "# What cudafix is told about this tree. `cudafix check` reads it from here and from every folder below.\n",
        _paths(cuda),
        _exclude(found, root),
        _default_stream(found, root),
        _check_macros(found),
        _versions(root),
        _POOLS,
        _TABLES,
        _KEPT,
        _assumptions(),
        _OVERRIDES,
    ]
    return "\n".join(parts)


def _paths(cuda: Mapping[str, bytes]) -> str:
    tops = Counter(path.split(os.sep)[0] for path in cuda if os.sep in path)
    loose = sum(os.sep not in path for path in cuda)
    text = f"# Files and folders to work on when the command line names none ({_count(len(cuda), 'file')} with CUDA).\n"
    if not tops or loose or len(tops) > _MOST:
        return text + f"# Without it, all of this folder.\n# paths = {_list(sorted(tops)[:3] or ['src'])}\n"
    return text + f"paths = {_list(sorted(tops))}\n"


def _exclude(found: Mapping[str, bytes], root: str) -> str:
    folders: dict[str, None] = {}
    for path in found:
        parts = path.split(os.sep)[:-1]
        for depth, part in enumerate(parts, 1):
            folder = "/".join(parts[:depth])
            if _FOREIGN.fullmatch(part) or (Path(root, folder, "CMakeCache.txt")).is_file():
                folders[f"/{folder}/"] = None
                break
    text = "# Patterns as in .gitignore: code of others, generated code. What git ignores is left out anyway.\n"
    return text + (f"exclude = {_list(sorted(folders))}\n" if folders else '# exclude = ["/third_party/"]\n')


def _default_stream(found: Mapping[str, bytes], root: str) -> str:
    streams = build.default_streams(found, Config(), [root])
    text = '# "legacy", "per-thread" (`nvcc --default-stream`), or "auto": what the build files say.\n'
    if streams.unclear:
        text += f"# Decide: it may be another one because of {', '.join(streams.unclear[:3])}.\n"
    elif streams.per_thread or streams.perhaps:
        text += f"# They say: per-thread in {_count(len(streams.per_thread | streams.perhaps), 'file')}.\n"
    return text + '# default_stream = "auto"\n'


def _check_macros(found: Mapping[str, bytes]) -> str:
    uses: Counter[str] = Counter()
    defined: set[str] = set()
    for path, data in found.items():
        if path.endswith(".py") or b"cuda" not in data:
            continue
        uses.update(match.decode() for match in _WRAPPED.findall(data))
    names = {name for name in uses if name not in _KEYWORDS and not sites.is_api(name)}
    for data in found.values() if names else ():
        defined.update(name.decode("utf-8", "replace") for match in _DEFINED.findall(data) for name in match if name)
    unseen = sorted(name for name in names - defined if not sites.is_check_name(name))
    known = sorted(names - set(unseen), key=lambda name: (-uses[name], name))[:_MOST]
    text = "# Macros and functions of headers outside this tree that only look at the status they get.\n"
    if known:
        text += f"# Found, and understood as they are: {', '.join(known)}.\n"
    return text + (f"check_macros = {_list(unseen)}\n" if unseen else '# check_macros = ["CK"]\n')


def _versions(root: str) -> str:
    oldest: tuple[int, int] | None = None
    for file in (Path(root, "CMakeLists.txt"), *sorted(Path(root).glob("*/CMakeLists.txt"))):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for major, minor in _CMAKE_VERSION.findall(text):
            oldest = min(oldest or (99, 0), (int(major), int(minor)))
    text = _CUDA_TEXT
    if oldest is None or oldest >= ASYNC_SINCE:
        return text + '# cuda = "11.0"\n# guard = true\n'
    return text + f'cuda = "{oldest[0]}.{oldest[1]}"\n# guard = true\n'


def _assumptions() -> str:
    text = (
        "# What a fix may assume of code that was not seen, as `cudafix check` prints it; `true`, or a list of names.\n"
    )
    return text + "# [assume]\n" + "".join(f'# {name} = ["name"]\n' for name in ASSUMPTIONS)


_CUDA_TEXT = """\
# The oldest CUDA that the code is built with. `cudaMallocAsync` came with 11.2: below it pairs are refused, or
# with `guard = true` each statement that changes stands behind `#if CUDART_VERSION >= 11020`.
"""
_POOLS = """\
# Devices without memory pools (some vGPUs, Windows in TCC mode, old drivers): "required" or "fallback", and functions
# of the project that allocate and free on any device.
# pools = "required"
# wrappers = { malloc = "mem::allocate", free = "mem::release" }
# What the stream is called, where that means the right one.
# stream = "ctx.stream()"
"""
_TABLES = """\
# What calls that cudafix does not know do with device memory: a file of [[api]] rows, or rows.
# tables = [{ name = "filter_run", effect = "work", roles = "r w stream" }]
"""
_KEPT = """\
# Findings that are known and pass `cudafix check`: `cudafix check --update-baseline` writes them to this file.
# baseline = "cudafix-baseline.json"
# What makes `cudafix check` fail: of "defects", "churn" (pairs that come and go), "once" and "refusals".
# fail_on = ["defects", "churn"]
"""
_OVERRIDES = """\
# What stays in files that take no comment (in your own code: `// cudafix: ignore[name] reason`).
# [[ignore]]
# files = ["/third_party/"]
# names = ["stream_ordered_pairs"]
# reason = "kept as its authors wrote it"

# What is different in some files; `codemods`, `assume`, `default_stream` and `stream` are possible.
# [[overrides]]
# files = ["/legacy/"]
# codemods = { stream_ordered_pairs = false }
"""


def _list(names: list[str]) -> str:
    return json.dumps(names, ensure_ascii=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
