"""The API tables: what a call of a library function means for ordering. `load()` gives the one object that answers.

The tables are data, one file a library. A name that no table has is unknown: `lookup` and `method` answer None, and the
engine takes the worst case. A user adds rows with `load(extra)`, each a mapping (in TOML: `[[api]]`):

    name = "mylib_{s,d}gemv"            # a name, a family of names (see `rows`), or a method, `Buffer.data`
    effect = "work"                     # an `Effect` of `api`
    roles = "handle - - r r w"          # one word for each parameter, or a list of them: the table in `api`
    memory = "device"                   # the other fields of `Api`, where they are needed: memory, on, waits,
    waits = "own"                       # returns, holds, why (strings), sync, any, idle, looks, anywhere,
                                        # timed (booleans)
    source = "mylib 2.1, Section 4"     # where it is documented; `your own table` where the row does not say

A user's row replaces the built-in row of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import chain

from cudafix.models import nearest
from cudafix.models.api import HOST_MEMORY, Api, Effect, Prototype, roles_of
from cudafix.models.rows import UNDOCUMENTED, Table, build, expand
from cudafix.models.types import is_standard

__all__ = ["TableError", "Tables", "built_in", "load"]

_HOME = {
    "cusparseLt": ("cusparselt",),
    **{name: (name,) for name in ("cublas", "cufft", "cusparse", "curand", "cusolver", "cudnn")},
    **{name: (name,) for name in ("cutensor", "cudss", "nvjpeg")},
    **dict.fromkeys(("npp", "nppPlusV::"), ("npp",)),
    "cv::": ("opencv",),
    "cl": ("opencl", "host"),
    **dict.fromkeys(("thrust::", "cub::"), ("thrust",)),
    **dict.fromkeys(("nccl", "pnccl", "MPI_", "PMPI_", "MPIX_", "nvshmem", "cuFile"), ("nccl_mpi",)),
    **dict.fromkeys(("ucp_", "uct_", "ucs_", "ucm_"), ("nccl_mpi",)),
    **dict.fromkeys(("cuda", "make_cuda"), ("runtime", "host")),
}
_MODULES = (*dict.fromkeys(module for modules in _HOME.values() for module in modules), "driver", "tensorrt", "python")
_PREFIX = re.compile("|".join(_HOME))
_DRIVER = re.compile("cu[A-Z]")
_API = re.compile(  # names that are declared by hand are those of the libraries
    "(?:cuda|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl|nvrtc|nvml|nvjpeg|cutensor|nvshmem)[A-Z_]|cu[A-Z]|MPI_[A-Z]"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*\.")  # a full name in Python, or a method of a C++ type
LONGEST_PREFIX = 60
"""Of a library that is known by how the names of its functions begin."""
_MOST_ARGUMENTS = 25  # of a function of a library
_STANDARD = ("std::", "ranges::", "cuda::std::", "std::experimental::", "experimental::")
_VERSION = re.compile(r"(?:_v\d+|_ptsz|_ptds)+$")
_QUALIFIER = re.compile(r"\b(?:const|volatile|struct|class|static|typename)\b")
_CLOCKED = re.compile(r"^(?:chrono|steady_clock|system_clock|high_resolution_clock|ios|ios_base|filesystem)::")


class TableError(ValueError):
    """A user's row is wrong. The message says which row, what is wrong, and which words would be right."""


class Tables:
    """All rows of all tables. Rows are parsed when they are asked for; equal questions get the same object."""

    def __init__(self, extra: Iterable[Mapping[str, object]] = ()) -> None:
        self._known: dict[str, Api] = {}
        self._exact: set[str] = set()
        self._policies: set[str] = set()
        self._own: set[str] = set()
        self._own_patterns: list[tuple[re.Pattern[str], str]] = []
        self._answers: dict[tuple[str, int] | tuple[str, str, int], Api | None] = {}
        self._undefined: dict[str, list[Prototype]] = {}
        self._own_families(extra)

    def without(self, undefined: Iterable[Prototype]) -> Tables:
        """These tables for programs that declare these functions themselves and do not define them: no row says what
        they do, but those of the user; and with C linkage, in which a program has one function of a name, those of a
        library of C (C++17, 10.5 [dcl.link] 6, 20.5.4.3.4 [extern.names]).
        """
        found = [one for one in undefined if one.name not in self._own and _API.match(one.name) is None]
        if not found:
            return self
        made = copy(self)  # with what is found out about rows in common
        made._undefined = dict(self._undefined)
        for one in found:
            made._undefined[one.name] = [*made._undefined.get(one.name, ()), one]
        return made

    def lookup(self, name: str, arity: int) -> Api | None:
        """The row of the free function `name`, as written at a call with `arity` arguments; None if no table knows it.

        Template arguments, a leading `::`, `std::` and the versions that headers add (`_v2`, `_ptsz`) do not matter.
        `DeviceReduce::Sum` is looked for in `cub`; casts and iterators of `thrust` may be bare, but `sort` may be
        anybody's. Last come the patterns of a library (`nppi*_Ctx`) and libraries by prefix (`glut*`). A call with more
        arguments than any form of the function takes is a call of something else: None. Fewer are allowed (default
        arguments) where the library has C++ headers.
        """
        asked = (name, arity)
        if asked not in self._answers:
            self._answers[asked] = _documented(self._function(name, arity))
        api = self._answers[asked]
        own = self._undefined.get(name.removeprefix("::"), ())
        if not own or api is None:
            return api
        of_c = not api.source.startswith("C++")
        return None if any(one.takes(arity) and not (one.of_c and of_c) for one in own) else api

    def any_form(self, name: str) -> Api | None:
        """The row of the free function `name`, whatever it is given."""
        return next((api for arity in range(_MOST_ARGUMENTS) if (api := self.lookup(name, arity)) is not None), None)

    def acts(self, name: str) -> bool:
        """Whether a row has a free function of this name that does more than compute and print. A constructor is none:
        nobody can take its address (C++17, 15.1 [class.ctor] 10).
        """
        api = self.any_form(name)
        if api is None or (api.source.startswith("C++") and is_standard(name.rpartition("::")[2])):
            return False
        return api.acts

    def is_in_namespace(self, name: str) -> bool:
        """Whether the functions of this name are members of a namespace: those of C++ and not of C."""
        api = self.any_form(name)
        return api is not None and api.source.startswith("C++")

    def _function(self, name: str, arity: int) -> Api | None:
        plain = _plain(name)
        for candidate in (plain, _VERSION.sub("", plain), f"cub::{plain}" if "::" in plain else f"thrust::{plain}"):
            api = self._form(candidate, arity)
            if self._policies and arity > 2 and (behind := self._form(candidate, arity - 1, with_policy=True)):
                return _either(api, replace(behind, roles=("-", *roles_of(behind, arity - 1)[: arity - 1])))
            if api and not (candidate == f"thrust::{plain}" and api.returns is None):
                return api
        if (api := self._by_pattern(plain)) is not None and self._takes(plain, api, arity):
            return api
        prefixes = (f"{plain[:length]}*" for length in range(min(len(plain) - 1, LONGEST_PREFIX), 1, -1))
        return next((api for key in prefixes if (api := self._row(key)) is not None), None)

    def _form(self, name: str, arity: int, with_policy: bool = False) -> Api | None:
        """The row of the form with so many arguments; or that of those behind an execution policy."""
        for key in (f"{name}/{arity}", name):
            api = self._row(key)
            if api and self._takes(key, api, arity) and (not with_policy or key in self._policies):
                return api
        return None

    def method(self, type: str, name: str, arity: int = 0) -> Api | None:  # noqa: A002
        """The row of the method `name` of an object declared as `type` (`const std::vector<float *> &`), as written at
        a call with `arity` arguments.

        Argument 0 of the row is the object. `auto`, or no type, finds only what plain types of the standard library
        have; it is for objects whose type no declaration of the program can be. A call with more arguments than the row
        has is a call of something else: None.
        """
        asked = (type, name, arity)
        if asked not in self._answers:
            api = _documented(self._method(type, name))
            more = api is not None and len(roles_of(api, arity + 1)) < arity + bool(api.roles)
            self._answers[asked] = None if more else api
        return self._answers[asked]

    def _method(self, type: str, name: str) -> Api | None:  # noqa: A002
        plain = _plain("".join(_QUALIFIER.sub("", type).split()).rstrip("*&"))
        while _CLOCKED.match(plain):
            plain = _CLOCKED.sub("", plain)
        for candidate in (plain or "auto", f"thrust::{plain}"):
            key = f"{candidate}.{_plain(name)}"
            api = self._row(key) or self._by_pattern(key)
            if api is not None:
                return api
        return None

    def _by_pattern(self, name: str) -> Api | None:
        patterns = chain(self._own_patterns, *map(_patterns, _modules(name)))
        return next((self._row(key) for pattern, key in patterns if pattern.fullmatch(name)), None)

    def names(self) -> Iterator[str]:
        """Every name that has a row: functions (`name`, `name/arity`) and methods (`type.name`)."""
        yield from dict.fromkeys(chain(*map(_index, _MODULES), self._known))

    def _row(self, key: str) -> Api | None:
        if key in self._known:
            return self._known[key]
        if key.partition("/")[0] in self._own:
            return None
        for module in _modules(key):
            if (found := _index(module).get(key)) is not None:
                table, line, source = found
                self._known[key] = api = table.parse(line, source)
                if table.exact:
                    self._exact.add(key)
                if table.policies:
                    self._policies.add(key)
                return api
        return None

    def _takes(self, key: str, api: Api, arity: int) -> bool:
        if any(role.endswith("*") for role in api.roles):
            return arity >= len(api.roles) - 1
        return arity == len(api.roles) if key in self._exact else arity <= len(api.roles)

    def _own_families(self, extra: Iterable[Mapping[str, object]]) -> None:
        for number, row in enumerate(extra, 1):
            name = row.get("name")
            where = f"API row {number} ({name})" if name else f"API row {number}"
            try:
                api = _checked(row)
                names = expand(str(name))
            except ValueError as error:
                raise TableError(f"{where}: {error}") from None
            self._known.update(dict.fromkeys(names, api))
            self._own.update(names)
            self._own_patterns += map(_pattern, filter(_is_pattern, names))


def load(extra: Sequence[Mapping[str, object]] = ()) -> Tables:
    """The built-in tables and the user's rows. Raises TableError for the first wrong row, in one line."""
    return Tables(extra) if extra else built_in()


@cache
def built_in() -> Tables:
    """The built-in tables alone, made once: what they are asked is found once."""
    return Tables()


_TEXTS = frozenset(("name", "effect", "roles", "memory", "on", "waits", "returns", "holds", "why", "source"))
_FLAGS = frozenset(("sync", "any", "idle", "looks", "bytes", "reads_files", "anywhere", "timed", "asks"))
_YOURS = Table(source="your own table", rows="")


def _checked(row: Mapping[str, object]) -> Api:
    """A user's row as data. Raises ValueError without the place."""
    for key, value in row.items():
        if key not in _TEXTS | _FLAGS:
            raise ValueError(f"unknown field `{key}`; {nearest.hint(key, _TEXTS | _FLAGS)}")
        if key in _FLAGS and not isinstance(value, bool):
            raise ValueError(f"`{key}` must be true or false, not {value!r}")
        is_list = key == "roles" and isinstance(value, list) and all(isinstance(role, str) for role in value)
        if key in _TEXTS and not isinstance(value, str) and not is_list:
            raise ValueError(f"`{key}` must be a string, not {value!r}")
    for needed in ("name", "effect"):
        if not row.get(needed):
            raise ValueError(f"`{needed}` is missing; give it as a string")
    effect, roles = str(row["effect"]), row.get("roles", "")
    words = [str(role) for role in roles] if isinstance(roles, list) else str(roles).split()
    if effect in (Effect.ALLOC.value, Effect.FREE.value) and "memory" not in row:
        raise ValueError(f"`memory` is missing; an `{effect}` row says which kind of memory it is")
    if effect in (Effect.EXTERNAL.value, Effect.AT_EXIT.value, Effect.ANY_TIME.value) and "why" not in row:
        raise ValueError(f"`why` is missing; an `{effect}` row says what is out of reach")
    fields = {key: str(row[key]) for key in ("memory", "on", "waits", "returns", "holds", "why") if key in row}
    flags = ("sync", "any", "idle", "bytes", "reads_files", "anywhere", "timed", "asks")
    fields |= {key: "" for key in flags if row.get(key)}
    if not row.get("looks", True):
        fields["silent"] = ""
    return build(effect, words, fields, _YOURS, str(row.get("source") or _YOURS.source))


def _modules(key: str) -> tuple[str, ...]:
    """The tables that may have `key`, so that a program without cuFFT never reads the rows of cuFFT."""
    if _DOTTED.match(key):
        return ("host", "thrust", "python") if key.startswith(("thrust", "cub")) else ("host", "tensorrt", "python")
    prefix = _PREFIX.match(key)
    return _HOME[prefix[0]] if prefix else ("driver", "host") if _DRIVER.match(key) else ("host",)


def _documented(api: Api | None) -> Api | None:
    return None if api is UNDOCUMENTED else api


def _either(one: Api | None, other: Api) -> Api:
    """Two forms of a function with as many arguments: each of these may play the roles that it has in both."""
    if one is None:
        return other
    count = len(other.roles)
    return replace(one, roles=tuple(map(_both, roles_of(one, count), other.roles)))


def _both(a: str, b: str) -> str:
    memory = {a, b} & HOST_MEMORY
    if memory:
        letters = "".join(role[1:] for role in memory)
        both = f"h{'r' * ('r' in letters)}{'w' * ('w' in letters)}"
        return f"{both}+put" if "put" in (a, b) else both
    return next((role for role in (a, b) if role not in ("-", "fn")), a if a != "-" else b)


@cache
def _index(module: str) -> dict[str, tuple[Table, str, str]]:
    """Name to table, line and document: made when the first name of the library is asked for."""
    index: dict[str, tuple[Table, str, str]] = {}
    tables: tuple[Table, ...] = import_module(f"cudafix.models.{module}").TABLES
    for table in tables:
        for name, line, source in table.index():
            index.setdefault(name, (table, line, source))
    return index


@cache
def _patterns(module: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(map(_pattern, filter(_is_pattern, _index(module))))


def _is_pattern(name: str) -> bool:
    return "*" in name[:-1]


def _pattern(name: str) -> tuple[re.Pattern[str], str]:
    return re.compile("[^.]*".join(map(re.escape, name.split("*")))), name


@cache
def _plain(name: str) -> str:
    """`name` without template arguments, a leading `::`, `std::` and inline namespaces of libraries."""
    if "<" in name and not name.startswith("operator"):
        depth, out = 0, []
        for char in name:
            depth += char == "<"
            if not depth:
                out.append(char)
            depth -= char == ">"
        name = "".join(out)
    name = name.strip().removeprefix("operator ").replace(" ::", "::").replace(":: ", "::").removeprefix("::")
    for standard in _STANDARD:
        name = name.removeprefix(standard)
    return name
