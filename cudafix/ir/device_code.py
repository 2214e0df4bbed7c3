"""What device functions do with what they call: kernels of one file, or of all files of a program.

A call may mean any function of its name that lookup may find. It means one of these alone only where lookup finds one
in a scope around the call, and no library is searched too; everything else may be what a table says, or unknown.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cudafix import ir
from cudafix.ir.names import WORD, scopes_around
from cudafix.ir.types import Type
from cudafix.models.api import plays, roles_of
from cudafix.models.device import device

_WRITES = frozenset(("w", "rw", "hw", "hrw", "swap", "out"))
# libraries of whose functions those that touch memory are in the tables
_DOCUMENTED = frozenset(("std", "cuda", "cuda::std", "cooperative_groups", "nvcuda", "nvcuda::wmma"))
_LIBRARIES = _DOCUMENTED | {"thrust", "cub", "cg", "wmma"}
LAMBDA = "<lambda>"
DEFAULT = "<default>"
"""What default member initializers of a class, or default arguments of a function, evaluate: `C::<default>`."""
MANY = 12
"""So many arguments has a call of which their number is not known."""
TEMPLATE = "<template>"
"""Among the names of a function: it is a template, whose operators are those of any class."""


def last(name: str) -> str:
    return name.rsplit("::", 1)[-1]


def closed(
    functions: Iterable[ir.Kernel], namespaces: Mapping[str, tuple[str, ...]], scopes: Iterable[ir.Scopes]
) -> list[ir.Kernel]:
    """The kernels among some functions of some files, each with what it may reach."""
    return _Closure(functions, namespaces, scopes).kernels()


class DeviceCode(NamedTuple):
    """The kernels of a program by last name component, each with what it reaches in all files."""

    kernels: Mapping[str, Sequence[ir.Kernel]]


class Closures:
    """What the kernels of programs reach, by content: most configurations of a program do not differ in device code."""

    def __init__(self) -> None:
        self._digests: dict[ir.Module, bytes] = {}
        self._found: dict[tuple[bytes, ...], DeviceCode] = {}

    def of(self, modules: Sequence[ir.Module], namespaces: Mapping[str, tuple[str, ...]]) -> DeviceCode:
        digests = self.text_of(modules, namespaces)
        if digests not in self._found:
            self._found[digests] = self._closed(modules, namespaces)
        return self._found[digests]

    def text_of(self, modules: Sequence[ir.Module], namespaces: Mapping[str, tuple[str, ...]]) -> tuple[bytes, ...]:
        """Equal only for the same device code."""
        return (*map(self._digest, modules), hashlib.sha256(repr(sorted(namespaces.items())).encode()).digest())

    def _digest(self, module: ir.Module) -> bytes:
        if module not in self._digests:
            said = [(one.facts(), one.calls, one.span) for one in (*module.device, *module.kernels)]
            scopes = [sorted(part) for part in module.scopes[:4]], module.scopes.types
            text = repr((said, scopes)).encode("utf-8", "surrogatepass")
            self._digests[module] = hashlib.sha256(text).digest()
        return self._digests[module]

    def _closed(self, modules: Sequence[ir.Module], namespaces: Mapping[str, tuple[str, ...]]) -> DeviceCode:
        found: dict[str, list[ir.Kernel]] = defaultdict(list)
        alone = sum(bool(module.device) for module in modules) < 2  # closed with its file
        for kernel in (
            (one for module in modules for one in module.kernels)
            if alone
            else closed(
                [one for module in modules for one in module.device], namespaces, [module.scopes for module in modules]
            )
        ):
            found[last(kernel.name)].append(kernel)
        return DeviceCode(found)


class FunctionObjects:
    """What algorithms of CUB and Thrust run on the device, each function with what it may reach: call operators and
    other operators, constructors and destructors of what they are given, and lambdas.
    """

    def __init__(
        self, functions: Iterable[ir.Kernel], namespaces: Mapping[str, tuple[str, ...]], scopes: Iterable[ir.Scopes]
    ) -> None:
        given = (replace(one, is_kernel=_runs_for_objects(one)) for one in functions if not one.is_kernel)
        self._closure = _Closure(given, namespaces, scopes)
        self._all = self._closure.kernels()
        self._classes = {_class_of(one) for one in self._all if one.member} | self._closure.made_of.keys()

    def of(self, types: Iterable[str]) -> list[ir.Kernel]:
        """Those that objects of these types have. A type that is not known, or empty, is any."""
        words: set[str] = set()
        for kind in types:
            plain = Type.of(kind).name
            is_known = "*" in kind or plain.partition("::")[0] in _LIBRARIES or last(plain) in self._classes
            if not is_known and not _NUMBER.fullmatch(plain):
                return self._all
            words.update(WORD.findall(kind))
        classes = self._closure.expand(frozenset(words)) & self._classes
        return [one for one in self._all if (_class_of(one) in classes if one.member else one.names & classes)]


_OF_A_VALUE = ir.DeviceCall("", "", False, (), ())
"""A call of what a variable holds."""
_NUMBER = re.compile(r"(?:(?:unsigned|signed|long|short|int|char|bool|float|double|\w+_t) ?)+")


def _runs_for_objects(one: ir.Kernel) -> bool:
    """Whether a function is called without its name."""
    name = last(one.name)
    is_made = one.member and _class_of(one) == name.removeprefix("~")
    return name.startswith("operator") or name in (LAMBDA, DEFAULT) or is_made


class _Closure:
    def __init__(
        self, functions: Iterable[ir.Kernel], namespaces: Mapping[str, tuple[str, ...]], scopes: Iterable[ir.Scopes]
    ) -> None:
        files = list(scopes)
        self.values = frozenset[str]().union(*(file.values for file in files))
        self.namespaces = dict(namespaces)
        for name, meant in (alias for file in files for alias in file.aliases):
            self.namespaces[name] = (*self.namespaces.get(name, ()), meant)
        opened = frozenset[str]().union(*(file.opens for file in files))
        self.own = frozenset[str]().union(*(file.declares for file in files)) - _LIBRARIES
        full = {name for one in opened for name in ir.found_as(f"{one}::x", self.namespaces)}
        self.opened = {name.removesuffix("::x") for name in full}
        self.made_of: dict[str, set[str]] = defaultdict(set)
        self.started_by: dict[str, set[str]] = defaultdict(set)
        for name, words, called in (one for file in files for one in file.types):
            self.made_of[name] |= words
            self.started_by[name] |= called
        self.named: dict[str, list[ir.Kernel]] = defaultdict(list)
        self.all = [replace(one) for one in functions]
        self.written: dict[int, set[int]] = {}  # the parameters that each writes, by `id`
        for one in self.all:
            self.named[last(one.name)].append(one)
        self.expanded: dict[frozenset[str], frozenset[str]] = {}
        self.meant: dict[int, tuple[list[ir.Kernel], bool]] = {}  # see `_meant`, by the `id` of calls that are held
        self.started: dict[tuple[frozenset[str], frozenset[str]], list[ir.Kernel]] = {}  # see `_implicit`
        self.callers: dict[int, set[int]] = defaultdict(set)  # who depends on what a function does, by `id`
        # operators that no sign of their own calls: `,`, literals, `new`
        self.always = [
            one
            for name, group in self.named.items()
            if name.startswith(('operator"', "operator,", "operator new", "operator delete"))
            for one in group
        ]
        # what runs without a call: operators by their name, constructors and destructors by their class
        self.implicit: dict[str, list[ir.Kernel]] = defaultdict(list)
        for name, group in self.named.items():
            if name.startswith("operator") and name != "operator()":
                self.implicit[name if not name[8:9].isalnum() else TEMPLATE] += group
            for one in group if name.startswith("operator") else ():
                self.implicit[_class_of(one)] += [one] if name[8:9].isalnum() else []
            for one in group if name == DEFAULT else ():
                self.implicit[_class_of(one)].append(one)
                self.implicit[TEMPLATE] += [one] if one.member else []
            made = [one for one in group if one.member and _class_of(one) == name.removeprefix("~")]
            if made:
                self.implicit[name.removeprefix("~")] += made
                self.implicit[TEMPLATE] += made

    def kernels(self) -> list[ir.Kernel]:
        """All that a function does only grows with what others do: the order of the steps does not matter."""
        reached = self._reached()
        fresh = set(map(id, reached))
        while fresh:
            for one in reversed(reached):  # mostly callees in front of their callers
                if id(one) in fresh:
                    fresh.discard(id(one))
                    if self._close(one):
                        fresh |= self.callers[id(one)]
        return [one for one in self.all if one.is_kernel]

    def _reached(self) -> list[ir.Kernel]:
        found: dict[int, ir.Kernel] = {}
        queue = [one for one in self.all if one.is_kernel]
        while queue:
            one = queue.pop()
            if id(one) not in found:
                found[id(one)] = one
                for call in one.calls:
                    queue += self._meant(call)[0]
                queue += self._implicit(one)
        return list(found.values())

    def _implicit(self, one: ir.Kernel) -> list[ir.Kernel]:
        """The functions that run where no call of them is written, each once."""
        key = one.names, one.mentions
        if key not in self.started:
            names = self.expand(one.names)
            mentioned = one.mentions.union(*(self.started_by[name] for name in names & self.started_by.keys()))
            found = [f for name in self.implicit.keys() & names for f in self.implicit[name]]
            found += [f for name in self.named.keys() & mentioned for f in self.named[name]]
            self.started[key] = list({id(f): f for f in (*found, *self.always)}.values())
        return self.started[key]

    def expand(self, names: frozenset[str]) -> frozenset[str]:
        """Names, and those that the types among them are made of: bases, members, what an alias stands for."""
        if names not in self.expanded:
            found, queue = set(names), list(names & self.made_of.keys())
            while queue:
                inner = self.made_of[queue.pop()] - found
                found |= inner
                queue += inner & self.made_of.keys()
            self.expanded[names] = frozenset(found)
        return self.expanded[names]

    def _meant(self, call: ir.DeviceCall) -> tuple[list[ir.Kernel], bool]:
        """The functions that a call may mean, and whether it means one of these and nothing else."""
        if id(call) not in self.meant:
            self.meant[id(call)] = self._look_up(call)
        return self.meant[id(call)]

    def _look_up(self, call: ir.DeviceCall) -> tuple[list[ir.Kernel], bool]:
        if not call.name:
            values = (f for name in self.values & self.named.keys() for f in self.named[name] if not f.is_kernel)
            return [*self.named.get("operator()", ()), *self.named.get(LAMBDA, ()), *values], False
        named = self.named.get(last(call.name), [])
        if call.method:
            methods = [one for one in named if one.member]
            return methods, bool(methods) and device(f".{call.name}", len(call.params)) is None
        scopes = list(scopes_around(call.scope))
        if "::" in call.name:
            plain = call.name.removeprefix("::")
            places = [plain] if call.name.startswith("::") else [f"{s}::{plain}" if s else plain for s in scopes]
            full = {name for place in places for name in ir.found_as(place, self.namespaces)}
            sure = [one for one in named if one.name in full]
            first = plain.partition("::")[0]
            if sure:
                return sure, first not in _LIBRARIES
            # the first part may be a parameter of a template, or an alias of a class
            any_class = first not in _LIBRARIES
            return [one for one in named if (one.member and any_class) or one.name.endswith(f"::{plain}")], False
        opened = {other for scope in scopes for other in self.namespaces.get(scope, ())}
        seen = {*scopes, *opened, *self.opened}
        sure = [one for one in named if _takes(one, len(call.params)) and one.name.rpartition("::")[0] in seen]
        return named, bool(sure) and not self._searched(call) - _DOCUMENTED

    def _searched(self, call: ir.DeviceCall) -> set[str]:
        """The libraries in which the function of a bare name may be."""
        found = {name for one in call.libraries for name in ir.found_as(f"{one}::x", self.namespaces)[-1:]}
        return {name for one in (*found, *self.opened) if not self._is_own(name := one.removesuffix("::x"))}

    def _is_own(self, namespace: str) -> bool:
        """Whether a namespace, or what it stands for, is the program's alone."""
        first = namespace.removeprefix("::").partition("::")[0]
        return first in self.own or (first in self.namespaces and first not in _LIBRARIES)

    def _close(self, one: ir.Kernel) -> bool:
        before = _sizes(one)
        for call in one.calls:
            found, sure = self._meant(call)
            for callee in found:
                self.callers[id(callee)].add(id(one))
                self._passed(one, call, callee)
                _joined(one, callee)
            if not sure:
                self._in_a_library(one, call)
        for callee in self._implicit(one):
            self.callers[id(callee)].add(id(one))
            _joined(one, callee)
            if callee.stores or callee.writes or callee.calls_unknown:  # on which objects is not known
                one.writes |= one.reads
                one.globals_written |= one.globals_read
        return _sizes(one) != before

    def _passed(self, one: ir.Kernel, call: ir.DeviceCall, callee: ir.Kernel) -> None:
        most = len(callee.params) - 1
        for number, (params, names) in enumerate(zip(call.params, call.globals, strict=True)):
            at = min(number, most)
            if at in callee.writes:
                one.writes |= params
                one.globals_written |= names

    def _in_a_library(self, one: ir.Kernel, call: ir.DeviceCall) -> None:
        """What a function does that is none of these: by the tables; else it is unknown."""
        count = len(call.params)
        if not call.name:
            self._anything(one, call, "" if self._meant(call)[0] else "()")
            return
        names = [f".{call.name}"] if call.method else ir.found_as(call.name, self.namespaces)
        unknown = True
        bare = not call.method and "::" not in call.name
        libraries = sorted(self._searched(call)) if bare else []
        for name in (*names, *(f"{library}::{call.name}" for library in libraries)):
            api = device(name, count)
            unknown &= api is None
            roles = roles_of(api, count) if api is not None else ()
            for role, params, global_names in zip(roles, call.params, call.globals, strict=False):
                if plays(role, _WRITES):
                    one.writes |= params
                    one.globals_written |= global_names
        if unknown:
            self._anything(one, call, call.name)

    def _anything(self, one: ir.Kernel, call: ir.DeviceCall, name: str) -> None:
        one.calls_unknown |= {name} - {""}
        for params, names in zip(call.params, call.globals, strict=True):
            one.writes |= params
            one.globals_written |= names
        for callee in self._meant(_OF_A_VALUE)[0]:  # it may call what it is given
            self.callers[id(callee)].add(id(one))
            _joined(one, callee)


def _class_of(one: ir.Kernel) -> str:
    return last(one.name.rpartition("::")[0])


def _takes(one: ir.Kernel, arity: int) -> bool:
    params = one.params
    if arity == MANY:
        return True
    if params and "..." in params[-1].type:
        return True
    return len(params) >= arity and all(param.optional for param in params[arity:])


def _joined(one: ir.Kernel, callee: ir.Kernel) -> None:
    """Add what a callee does but with its arguments."""
    one.prints |= callee.prints
    one.traps |= callee.traps
    one.times |= callee.times
    one.keeps |= callee.keeps
    one.names |= callee.names
    one.mentions |= callee.mentions
    one.globals_read |= callee.globals_read
    one.globals_written |= callee.globals_written
    one.calls_unknown |= callee.calls_unknown


def _sizes(one: ir.Kernel) -> tuple[object, ...]:
    sets = one.reads, one.writes, one.names, one.mentions, one.globals_read, one.globals_written, one.calls_unknown
    return (*map(len, sets), one.prints, one.traps, one.times, one.keeps)
