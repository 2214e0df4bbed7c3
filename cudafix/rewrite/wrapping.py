"""Which functions a rewrite calls in place of those of the runtime, and which of them it has to define.

With nothing said these are those of the runtime. The configuration names wrappers of the project (`wrappers`), or wants
such that work without memory pools (`pools = "fallback"`): those that the program has, else each file gets its own, in
front of whatever uses them.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from cudafix import ir
from cudafix.findings import Edit
from cudafix.ir.link import SOURCES
from cudafix.project.config import Config
from cudafix.rewrite import pool_setup
from cudafix.rewrite.groups import Group, Refused
from cudafix.rewrite.residue import is_guarded_by_a_name
from cudafix.rewrite.statements import style_of
from cudafix.rewrite.wrappers import Function, Wrappers
from cudafix.rewrite.writer import Callee, Writer

_APIS = {"cudaMalloc": "cudaMallocAsync", "cudaFree": "cudaFreeAsync"}
_OF_C = ".c"
_IN_PYTHON = '`pools = "fallback"` and `wrappers` are for CUDA C++: Python calls the runtime itself'
_INCLUDE = "Include the header that defines it, in front of what allocates and frees."
_NAME_OWN = "Write such functions yourself, in a header that the file includes, and name them in `wrappers`."
_CAST = "Give the call the address of the pointer, or cast it to `void **`."
_ADDRESS = re.compile(
    rb"&\w+(?:(?:\.|->|::)\w+|\[\w*\])*|\(\s*void\s*\*\s*\*\s*\).*|reinterpret_cast\s*<\s*void\b.*", re.DOTALL
)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w+)", re.MULTILINE)
_LABELS = ("finds", "asks", "cudaMallocAsync", "cudaFreeAsync")


class Sources(Protocol):
    """The files of some programs."""

    @property
    def files(self) -> Mapping[str, bytes]: ...

    def included(self, path: str) -> list[str]:
        """The files that a file includes."""


class Wrapping:
    """For some programs that are decided together. `known` are the wrappers of each of them, `starts` says where the
    function begins that holds a place.
    """

    def __init__(
        self,
        tree: Sources,
        config: Config,
        known: Iterable[Wrappers],
        starts: Callable[[str, int], int | None],
        writer: Callable[[str], Writer],
    ) -> None:
        self.tree = tree
        self.config = config
        self.known = list(known)
        self.starts = starts
        self.writer = writer
        self.falls_back = config.pools == "fallback" or any(one.fall_back for one in self.known)
        self.wraps = config.pools == "fallback" or config.wrappers is not None
        self._names: dict[str, dict[str, str]] = {}  # of the functions that a file gets
        self._needed: dict[str, dict[str, int]] = defaultdict(dict)  # those, and in front of what

    # -- what may be called ------------------------------------------------------------------------------------------

    def refused(self, group: Group) -> Refused | None:
        """Why no wrapper can be called at a site of a group."""
        for key, site in sorted(group.sites()) if self.wraps else ():
            here = ((site.call.span, "here"),)
            if key.path.endswith(ir.PYTHON):
                return Refused("site_not_editable", _IN_PYTHON, here, unlock=_NAME_OWN)
            api = _APIS.get(site.call.callee, site.call.callee)
            own = self._of_the_program(api, key.path, key.start)
            if own is not None:
                if own.untyped and api == "cudaMallocAsync" and not self._is_given_an_address(site.call):
                    text = f"`{own.name}` takes a `void **`, and is given what would need a cast"
                    return Refused("site_not_editable", text, here, unlock=_CAST)
                continue
            if self.config.wrappers is not None:
                name = self._wanted(api)
                return Refused("site_not_editable", f"`{name}` is not defined in front of it", here, unlock=_INCLUDE)
            if self._place(key.path, key.start) is None:
                text = "no function that works without memory pools can be defined in front of it"
                return Refused("site_not_editable", text, here, unlock=_NAME_OWN)
        return None

    def callee(self, api: str, path: str, at: int) -> Callee | None:
        """What is called for a function of the runtime at a place; None if that itself is called."""
        if not self.wraps:
            return None
        own = self._of_the_program(api, path, at)
        return Callee(own.name, own.untyped) if own is not None else Callee(self._defined(api, path, at))

    def asks(self, path: str, at: int) -> str | None:
        """The function that says whether the device has memory pools, for what only a pool can do; empty where nothing
        has to ask, None where there is none.
        """
        if not self.falls_back:
            return ""
        for api in _APIS.values():
            own = self._of_the_program(api, path, at)
            if own is not None:
                return own.asks
        if not self.wraps or self.config.wrappers is not None or self._place(path, at) is None:
            return None
        return self._defined("asks", path, at)

    def _is_given_an_address(self, call: ir.Call) -> bool:
        """Whether the first argument of a call is the address of a pointer, or is cast to one."""
        if not call.arg_spans:
            return False
        first = self.tree.files[call.span.path][call.arg_spans[0].start : call.arg_spans[0].end]
        return _ADDRESS.fullmatch(first) is not None

    def _wanted(self, api: str) -> str:
        assert self.config.wrappers is not None
        return self.config.wrappers.malloc if api == "cudaMallocAsync" else self.config.wrappers.free

    def _of_the_program(self, api: str, path: str, at: int) -> Function | None:
        """The wrapper of all the programs that is defined in front of a place."""
        found: list[Function] = []
        for known in self.known:
            pair = self._pair(known)
            one = pair[api] if pair is not None else None
            if one is None or not self._is_in_front(one, known, path, at):
                return None
            found.append(one.elsewhere)
        return found[0] if len(set(found)) == 1 else None

    def _pair(self, known: Wrappers) -> dict[str, Function] | None:
        """What allocates and what gives that back, in one program: they ask the same function, or none."""
        found: dict[str, Function] = {}
        for function in known.calls.values():
            wanted = self.config.wrappers is None or function.name == self._wanted(function.stands_for)
            if wanted and (function.asks or self.config.pools != "fallback"):
                found.setdefault(function.stands_for, function)
        alike = len({(function.asks, function.answers) for function in found.values()}) == 1
        return found if alike and len(found) == len(_APIS) else None

    def _is_in_front(self, function: Function, known: Wrappers, path: str, at: int) -> bool:
        defined = [one for one, spans in known.spans.items() if (function.start, function.end) in spans]
        included = self.tree.included(path)
        return any(one in included or (one == path and function.end <= at) for one in defined)

    # -- what is defined ---------------------------------------------------------------------------------------------

    def _place(self, path: str, at: int) -> int | None:
        """Where functions can be defined for a place: in front of whatever holds it, and under no condition."""
        data, start = self.tree.files[path], self.starts(path, at)
        if start is None or pool_setup.is_in_macro(data, at) or self._is_read_as_c(path):
            return None  # they are C++
        place = pool_setup.in_front_of_all(data, start)
        return _outside_conditions(data, place) if place is not None else None

    def _is_read_as_c(self, path: str) -> bool:
        return path.endswith(_OF_C) or any(
            other.endswith(_OF_C) and path in self.tree.included(other) for other in self.tree.files
        )

    def _defined(self, label: str, path: str, at: int) -> str:
        """The name of a function that the file gets."""
        place = self._place(path, at)
        assert place is not None
        for each in dict.fromkeys(("finds", "asks", label)):
            before = self._needed[path].get(each, place)
            self._needed[path][each] = min(before, place)
        if path not in self._names:
            self._names[path] = self._free(path)
        return self._names[path][label]

    def _free(self, path: str) -> dict[str, str]:
        """Names that no file has, and that no other file gets which may be in one translation unit with this one."""
        humps = pool_setup.has_humps(self.tree.files[path])
        plain = ("findMemoryPools", "hasMemoryPools", "streamMalloc", "streamFree") if humps else (
            "find_memory_pools", "has_memory_pools", "stream_malloc", "stream_free",
        )  # fmt: skip
        taken = {name for other, names in self._names.items() if self._may_meet(path, other) for name in names.values()}
        found: dict[str, str] = {}
        for label, name in zip(_LABELS, plain, strict=True):
            while name in taken or any(name.encode() in data for data in self.tree.files.values()):
                name += "_"
            found[label] = name
        return found

    def _may_meet(self, path: str, other: str) -> bool:
        pairs = ((path, other), (other, path))
        includes = any(os.path.basename(a).encode() in self.tree.files[b] for a, b in pairs)
        return path != other and (includes or not path.endswith(SOURCES) or not other.endswith(SOURCES))

    def edits(self, path: str) -> list[Edit]:
        """The definitions that a file needs for what was named in it so far."""
        needed = self._needed.get(path)
        if not needed:
            return []
        data, at = self.tree.files[path], min(needed.values())
        newline, unit = style_of(data)
        names = {label: self._names[path][label] for label in _LABELS if label in needed}
        inline = not path.endswith(SOURCES)
        functions = self.writer(path).fallback(names, pool_setup.has_braces_alone(data), inline, unit)
        text = "".join(newline.join(lines) + newline * 2 for lines in functions)
        return [Edit(path, at, at, text.encode())]

    def forget(self) -> None:
        """Nothing is named any more: another plan is written."""
        self._names.clear()
        self._needed.clear()


def _outside_conditions(data: bytes, at: int) -> int | None:
    """The place itself, or in front of the outermost `#if` around it but an include guard; None if a header is included
    in between.
    """
    around: list[int] = []
    for n, found in enumerate(_DIRECTIVE.finditer(data, 0, at)):
        if found[1].startswith(b"if"):
            guards = not n and found[1] == b"ifndef" and is_guarded_by_a_name(data)
            around.append(-1 if guards else found.start())
        elif found[1] == b"endif" and around:
            around.pop()
    outer = [place for place in around if place >= 0]
    if not outer:
        return at
    included = any(found[1] == b"include" for found in _DIRECTIVE.finditer(data, outer[0], at))
    return None if included else outer[0]
