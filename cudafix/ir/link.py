"""Programs: which functions, kernels and globals a name means.

A program is a set of modules, each in one configuration. Names resolve by qualified name and arity, first in the file
itself (`static` functions and anonymous namespaces stay in it), then among all files of the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar, cast

from cudafix import ir
from cudafix.ir import device_code
from cudafix.ir.names import WORD
from cudafix.ir.types import Type
from cudafix.models.api import Defined, Prototype

T = TypeVar("T")


SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
"""How the names of files end that are compiled on their own."""


def last(name: str) -> str:
    at = name.rfind("::")
    return name[at + 2 :] if at >= 0 else name


def _last_names(function: ir.Function) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(last, (function.name, *function.also))))


def takes(function: ir.Function, arity: int) -> bool:
    """Whether a function can be called with this number of arguments, which is not that of its parameters."""
    if function.params and function.params[-1].type.rstrip().endswith("..."):
        return True
    return len(function.params) > arity and all(param.optional for param in function.params[arity:])


def _may_take(function: ir.Function, arity: int) -> bool:
    """Whether a function has parameters for so many arguments."""
    params = function.params
    return len(params) >= arity or (bool(params) and params[-1].type.rstrip().endswith("..."))


def handed_over(stmt: ir.Stmt) -> Iterator[str]:
    """The functions that a statement hands to somebody who may call them. Text that is not understood may call all that
    it names.
    """
    if isinstance(stmt, ir.Unknown) and stmt.names is not None:
        yield from stmt.names
    if isinstance(stmt, ir.Call | ir.Unknown | ir.Assign | ir.Return):
        yield from (value.name for value in ir.values_in(stmt) if isinstance(value, ir.FuncRef))


class Program:
    """The modules of one program, by name. `main` is None for code that only others call."""

    def __init__(self, modules: Iterable[ir.Module], closures: device_code.Closures | None = None) -> None:
        """Programs that are given the same `closures` share what they find out of device code."""
        self.modules = tuple(modules)
        self._closures = closures or device_code.Closures()
        self.globals: dict[str, ir.GlobalVar] = {}
        self.namespaces: dict[str, tuple[str, ...]] = {}
        self.home: dict[int, ir.Module] = {}
        self._functions: dict[str, list[ir.Function]] = defaultdict(list)
        self._kept: dict[str, object] = {}
        self._resolved: dict[tuple[str, int, str, str | None], list[ir.Function]] = {}
        self._callees: dict[int, tuple[ir.Function, ...]] = {}
        for module in self.modules:
            for function in module.functions:
                for name in function.kept("last names", _last_names):
                    self._functions[name].append(function)
                self.home[id(function)] = module
            for name, others in module.namespaces.items():
                self.namespaces[name] = (*self.namespaces.get(name, ()), *others)
            for variable in module.globals:
                self.globals.setdefault(variable.name.removeprefix("::"), variable)

    @property
    def device(self) -> device_code.DeviceCode:
        """The kernels, each with what it reaches in all files."""
        return self.kept("device code", lambda: self._closures.of(self.modules, self.namespaces))

    @property
    def device_text(self) -> tuple[bytes, ...]:
        """Equal for two programs only if all of their code for the device is the same."""
        return self._closures.text_of(self.modules, self.namespaces)

    @property
    def kernels(self) -> Mapping[str, Sequence[ir.Kernel]]:
        """The kernels by last name component."""
        return self.device.kernels

    @property
    def function_objects(self) -> device_code.FunctionObjects:
        """What algorithms that run on the device may call."""
        return self.kept("function objects", self._function_objects)

    def _function_objects(self) -> device_code.FunctionObjects:
        functions = [one for module in self.modules for one in module.device]
        return device_code.FunctionObjects(functions, self.namespaces, [module.scopes for module in self.modules])

    def kernels_named(self, name: str) -> Sequence[ir.Kernel]:
        """The kernels that a launch by a name may mean, none where that may be one that is not seen."""
        found = self.kernels.get(last(name), [])
        if "::" not in name:
            return found
        full = ir.found_as(name.removeprefix("::"), self.namespaces)
        return [one for one in found if any(f"::{one.name}".endswith(f"::{other}") for other in full)]

    def hides_libraries(self, name: str) -> bool:
        """Whether a bare name is that of a kernel which hides the functions of that name in the namespaces of
        libraries: no file has a using-directive or a using-declaration that may find one of these (C++17, 6.4.1
        [basic.lookup.unqual] 1, 2).
        """
        own = "::" not in name and any(kernel.name == name for kernel in self.kernels.get(name, ()))
        return own and not any(module.scopes.opens for module in self.modules)

    @property
    def main(self) -> ir.Function | None:
        return next((f for f in self._functions.get("main", []) if f.name in ("main", "::main")), None)

    def functions(self) -> Iterable[ir.Function]:
        for module in self.modules:
            yield from module.functions

    def types_of_members(self) -> dict[str, set[str]]:
        """The types of the data members of all classes, by their names."""
        return self.kept("types of members", self._types_of_members)

    def _types_of_members(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for module in self.modules:
            for members in module.fields.values():
                for name, member in members.items():
                    found.setdefault(name, set()).add(member.type)
        return found

    def initializers(self) -> Iterator[ir.Function]:
        """What initializes globals, in front of `main`."""
        return (function for function in self.functions() if last(function.name) == ir.INITIALIZERS)

    @property
    def undefined(self) -> Mapping[str, frozenset[Prototype]]:
        """The functions that the program declares and no file of it defines, by last name component: what they do is
        not known, be it a name of a library.
        """

        def found() -> Mapping[str, frozenset[Prototype]]:
            defined: dict[str, set[Defined]] = defaultdict(set)
            for module in self.modules:
                for made in module.defines:
                    if not (made.internal and module.path.endswith(SOURCES)):
                        defined[made.name].add(made)
            by_name: dict[str, set[Prototype]] = defaultdict(set)
            for one in (one for module in self.modules for one in module.declares):
                if not one.is_defined(defined.get(one.name, ())):
                    by_name[one.name].add(one)
            return {name: frozenset(known) for name, known in by_name.items()}

        return self.kept("undefined", found)

    def kept(self, fact: str, make: Callable[[], T]) -> T:
        """What `make` returns, made once for this program."""
        if fact not in self._kept:
            self._kept[fact] = make()
        return cast(T, self._kept[fact])

    def type_of_global(self, name: str) -> str:
        """The type of a variable of the host at namespace scope that is no array, in any file; "" of others."""
        return self.kept("types of globals", self._types_of_globals).get(last(name), "") if "::" in name else ""

    def _types_of_globals(self) -> dict[str, str]:
        found: dict[str, set[str]] = defaultdict(set)
        for variable in (one for module in self.modules for one in module.globals):
            found[last(variable.name)].add(variable.type if variable.space == "host" and not variable.array else "")
        return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}

    def reaching(self, fact: str, holds: Callable[[ir.Stmt], bool]) -> Reaching:
        """The functions (by `id`) with a statement for which `holds`, or that call one of these. Kept by `fact`."""
        return self.reaching_those(fact, lambda function: any(map(holds, function.statements)))

    def reaching_those(self, fact: str, holds: Callable[[ir.Function], bool]) -> Reaching:
        """The functions (by `id`) for which `holds`, or that call one of these. Kept by `fact`."""
        return self.kept(fact, lambda: Reaching(self, holds))

    def callees(self, function: ir.Function) -> Sequence[ir.Function]:
        """The functions that one calls, or hands to somebody who may."""
        if id(function) not in self._callees:
            found: dict[ir.Function, None] = {}
            for stmt in function.statements:
                if isinstance(stmt, ir.Call):
                    found.update(dict.fromkeys(self.reached_by(stmt, function.cls)))
                for name in handed_over(stmt):
                    found.update(dict.fromkeys(self.resolve(name, 0, stmt.span.path)))
            self._callees[id(function)] = tuple(found)
        return self._callees[id(function)]

    @cached_property
    def by_id(self) -> Mapping[int, ir.Function]:
        return {id(function): function for function in self.functions()}

    def reached_by(self, call: ir.Call, cls: str | None) -> list[ir.Function]:
        """The functions that a call in a method of `cls` may reach, whatever the class of the object is: `part->run()`
        in a method `run` is no call of itself.
        """
        if call.callee == ir.DELETER:
            return self.kept("deleters", self._deleters)
        found = self.resolve(call.callee, len(call.args), call.span.path, cls)
        if call.receiver is None or "::" in call.callee:
            return [*found, *self.derived_ends(call.callee)]
        of_this = call.receiver == ir.Deref(ir.Var("this"))
        others = (f for f in self._functions.get(call.callee, ()) if f.cls is not None and (f.bases or not of_this))
        return list(dict.fromkeys((*found, *others)))

    def functions_that_are_values(self) -> list[tuple[str, str]]:
        """The names of functions that are stored, or given to somebody or to a template, with the files of these."""
        named = self.names_of_values
        return self.kept("functions that are values", lambda: [one for one in named if self.resolve(one[0], 0, one[1])])

    @cached_property
    def names_of_values(self) -> list[tuple[str, str]]:
        """What may name a function that is stored, or given to somebody or to a template, with the file."""
        names: dict[tuple[str, str], None] = {}
        for function in self.functions():
            words = [word for kind in function.types.values() for word in WORD.findall(kind.partition("<")[2])]
            for stmt in function.statements:
                words += [expr.name for expr in ir.values_in(stmt) if isinstance(expr, ir.FuncRef)]
                words += WORD.findall(stmt.template_args) if isinstance(stmt, ir.Call) else ()
            names.update(((word, function.span.path), None) for word in words)
        return list(names)

    def _deleters(self) -> list[ir.Function]:
        """What a deleter may be that is a pointer to a function."""
        named = self.functions_that_are_values()
        return list(dict.fromkeys(f for name, path in named for f in self.resolve(name, 1, path)))

    def is_owner(self, kind: str) -> bool:
        """Whether a type is a smart pointer or a vector of which each use and each end is lowered, in all files."""
        of = Type.of(kind)
        if not of.arguments or not of.is_direct:
            return False
        held, owned = Type.of(of.arguments[0]), self.kept("owned", self._owned)
        if of.arguments[-1] == ir.ENDED:
            if held.arguments:  # a smart pointer: any of them may be meant
                return not any(one.endswith(ir.ENDED) and not lowered for one, lowered in owned.items())
            return owned.get(f"{held.last}{ir.ENDED}", True)
        alone = of.library.name == "unique_ptr" and len(of.arguments) == 1 and not held.marks
        return alone and not held.arguments and owned.get(held.last, False)

    def _owned(self) -> dict[str, bool]:
        found: dict[str, bool] = {}
        for module in self.modules:
            for cls, lowered in module.owned.items():
                found[cls] = lowered and found.get(cls, True)
        return found

    def derived_ends(self, name: str) -> Sequence[ir.Function]:
        """The destructors of the classes that are derived from that of a destructor: where it is virtual, it is one of
        these that ends an object (C++17, 8.3.5 [expr.delete] 3). None for the name of another function.
        """
        if not last(name).startswith("~"):
            return ()
        return self.kept("destructors of derived classes", self._derived_ends).get(last(name)[1:], ())

    def _derived_ends(self) -> dict[str, list[ir.Function]]:
        found: dict[str, list[ir.Function]] = defaultdict(list)
        for function in self.functions():
            for base in function.bases if last(function.name).startswith("~") else ():
                found[last(base)].append(function)
        return found

    def methods(self, name: str, arity: int) -> list[ir.Function]:
        """The methods of this name, of any class in any file, that a call with `arity` arguments may reach."""
        named = (f for one in ir.names_of(name) for f in self._functions.get(one, ()))
        return [f for f in named if f.cls is not None and _may_take(f, arity)]

    def resolve(self, name: str, arity: int, path: str, cls: str | None = None) -> list[ir.Function]:
        """The functions that a call of `name` with `arity` arguments in the file `path` may reach.

        Default arguments let a call give fewer arguments than the function has parameters.
        """
        any_of = ir.is_any_of(name)
        if not any_of and last(name) not in self._functions:
            return []
        question = (name, arity, "", None) if any_of else (name, arity, path, cls)
        if question not in self._resolved:
            found = self.methods(name, arity) if any_of else self._resolve(name, arity, path, cls)
            self._resolved[question] = found
        return self._resolved[question]

    def _resolve(self, name: str, arity: int, path: str, cls: str | None) -> list[ir.Function]:
        outermost, name = name.startswith("::"), name.removeprefix("::")
        found = [f for f in self._functions[last(name)] if _may_take(f, arity)]
        if outermost:  # no method that hides it (C++17, 6.4.3 [basic.lookup.qual] 4)
            cls, found = None, [f for f in found if f.cls is None or "::" in name]
        # a `static` function of a header is one of each file that includes it
        found = [
            f
            for f in found
            if not f.internal or f.span.path == path or "::" not in f.name or not f.span.path.endswith(SOURCES)
        ]
        if "::" in name:
            meant = ir.found_as(name, self.namespaces)
            # overloads in an inline namespace are found with those around it (C++20, [namespace.qual])
            within = (
                [f for f in found if any(f"::{n}".endswith(f"::{one}") for n in (f.name, *f.also))] for one in meant
            )
            found = list(dict.fromkeys(f for group in within for f in group))
        elif cls is not None:
            found = [f for f in found if f.cls is not None and last(f.cls) == last(cls)] or found
        else:
            found = [f for f in found if f.cls is None or f.name == name] or found
        exact = [f for f in found if len(f.params) == arity]
        if exact:  # the types of the arguments decide between it and one with default arguments or a pack
            exact = [f for f in found if f in exact or takes(f, arity)]
        found = exact or found
        return [f for f in found if f.span.path == path] or found


class Reaching:
    """The functions of a program (by `id`) for which something `holds`, or that call one of these, through others too.
    Of a function that nobody asks about, and that none of those calls, it is not found out.
    """

    def __init__(self, program: Program, holds: Callable[[ir.Function], bool]) -> None:
        self._program = program
        self._holds = holds
        self._known: dict[int, bool] = {}

    def __contains__(self, function: int) -> bool:
        if function not in self._known:
            found = self._program.by_id.get(function)
            if found is None:
                return False
            self._find_out(found)
        return self._known[function]

    def __bool__(self) -> bool:
        return any(map(self.__contains__, self._program.by_id))

    def _find_out(self, start: ir.Function) -> None:
        """Functions that call each other in a circle are one (R. Tarjan, "Depth-First Search and Linear Graph
        Algorithms", 1972). All that are open when one is found that counts lead there, by calls or through a circle.
        """
        order: dict[int, int] = {}
        lowest: dict[int, int] = {}
        opened: list[int] = []
        calls: list[tuple[int, Iterator[ir.Function]]] = [(0, iter((start,)))]  # who is asked, and whom it calls
        while calls:
            caller, callees = calls[-1]
            callee = next(callees, None)
            if callee is None:
                calls.pop()
                if lowest.get(caller) == order.get(caller):  # nothing counts in this circle, or behind it
                    while opened and order[opened[-1]] >= order[caller]:
                        self._known[opened.pop()] = False
                else:
                    lowest[calls[-1][0]] = min(lowest[calls[-1][0]], lowest[caller])
                continue
            each = id(callee)
            known = self._known.get(each)
            if known is None and each in order:
                lowest[caller] = min(lowest[caller], order[each])
            elif known or (known is None and self._holds(callee)):
                self._known.update(dict.fromkeys((*opened, each), True))
                return
            elif known is None:
                order[each] = lowest[each] = len(order)
                opened.append(each)
                calls.append((each, iter(self._program.callees(callee))))
