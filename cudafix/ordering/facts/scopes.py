"""Which variables at namespace scope the files of a program see, and which of them are several of one name."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from cudafix import ir
from cudafix.ir.link import SOURCES, Program, last


class Scopes:
    """One for a program: what it says is found once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._around: dict[str, dict[str, list[ir.GlobalVar]]] = {}

    @staticmethod
    def of(program: Program) -> Scopes:
        return program.kept("scopes", lambda: Scopes(program))

    @cached_property
    def internal(self) -> dict[tuple[str, str], ir.GlobalVar]:
        """The variables that only their file sees, by name and file."""
        modules = self.program.modules
        return {(v.name.removeprefix("::"), m.path): v for m in modules for v in m.globals if v.internal}

    @cached_property
    def copies(self) -> dict[str, frozenset[str]]:
        """The `static` variables of headers that several sources include: each of these has its own. By name."""
        sources = [m.path for m in self.program.modules if m.path.endswith(SOURCES)]
        inner = set().union(*(self._included[path] for path in sources))
        found: dict[str, frozenset[str]] = {}
        for module in self.program.modules:
            units = frozenset(p for p in sources if p not in inner and module.path in self._included[p])
            if len(units) > 1:
                for variable in module.globals:
                    if variable.internal and variable.space == "host":
                        name = variable.name.removeprefix("::")
                        found[name] = found.get(name, frozenset()) | units
        return found

    def is_included(self, path: str) -> bool:
        """Whether another file includes this one."""
        return any(path in self._included[module.path] for module in self.program.modules if module.path != path)

    @cached_property
    def _declared(self) -> dict[str, dict[str, int]]:
        """The names of the variables that each file declares, and where it first does."""
        found: dict[str, dict[str, int]] = {}
        for module in self.program.modules:
            own = found.setdefault(module.path, {})
            for variable in module.globals:
                name = variable.name.removeprefix("::")
                own[name] = min(variable.span.start, own.get(name, variable.span.start))
        return found

    def is_declared(self, name: str, function: ir.Function) -> bool:
        """Whether a function may name a variable: its file declares it in front of the function, or a header does that
        it includes. A method sees all members of its class (C++17, 6.3.7 [basic.scope.class] 1), and Python looks names
        up when it runs.
        """
        path = function.span.path
        at = self._declared[path].get(name) if path in self._declared else None
        at_start = last(function.name) == ir.INITIALIZERS  # from above to below
        in_front = at is not None and (at < function.span.end or at_start or path.endswith(ir.PYTHON))
        if in_front or (at is not None and name.rpartition("::")[0] == function.cls):
            return True
        return any(name in self._declared[header] for header in self._included.get(path, ()) if header != path)

    def of_device_around(self, path: str) -> dict[str, list[ir.GlobalVar]]:
        """The variables of the device, by last name component, of the files that include one: it may use them, if they
        stand in front of that.
        """
        if path not in self._around:
            found: dict[str, list[ir.GlobalVar]] = {}
            for module in self.program.modules:
                for variable in module.globals if path in self._included[module.path] else ():
                    if variable.space != "host":
                        found.setdefault(last(variable.name), []).append(variable)
            self._around[path] = found
        return self._around[path]

    @cached_property
    def members_named_outside(self) -> set[str]:
        """The members that functions outside of classes name, and are no friends of one (C++17, 14.3 [class.friend] 1);
        static ones with their class.
        """
        found: set[str] = set()
        friends = frozenset[str]().union(*(module.friends for module in self.program.modules))
        for function in self.program.functions():
            if function.cls is None and last(function.name.partition(ir.LAMBDA)[0]) not in friends:
                for expr in ir.expressions_in(function):
                    if isinstance(expr, ir.Field) or (isinstance(expr, ir.Var) and "::" in expr.name):
                        found.add(expr.name)
        return found

    @cached_property
    def members_declared(self) -> dict[str, bool]:
        """The data members that classes declare, by name: whether all of that name are public."""
        found: dict[str, bool] = {}
        for module in self.program.modules:
            for members in module.fields.values():
                for name, member in members.items():
                    found[name] = found.get(name, True) and member.public
        return found

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of all functions."""
        return frozenset(function.name for function in self.program.functions())

    @cached_property
    def alike(self) -> Counter[str]:
        """How many variables of namespaces there are by each last name component."""
        homes = self.functions | self.classes
        return Counter(last(name) for name in self.program.globals if name.rpartition("::")[0] not in homes)

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names of all classes."""
        return frozenset(cls for module in self.program.modules for cls in module.members)

    def defining(self, cls: str) -> frozenset[str]:
        """The files that define a class of this last name component."""
        return self._defining.get(cls, frozenset())

    @cached_property
    def _defining(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for module in self.program.modules:
            for cls in module.fields:
                found.setdefault(last(cls), set()).add(module.path)
        return {cls: frozenset(paths) for cls, paths in found.items()}

    def sees(self, path: str, files: frozenset[str]) -> bool:
        """Whether a file is one of these, or includes one."""
        return path in files or not files.isdisjoint(self._included[path])

    @cached_property
    def _included(self) -> dict[str, set[str]]:
        """The files of a program that each of its files includes, through others too."""
        by_name = {m.path.rpartition("/")[2]: m for m in self.program.modules}
        found: dict[str, set[str]] = {}
        for module in self.program.modules:
            seen, queue = {module.path}, [module]
            while queue:
                targets = (target.strip('<>"').rpartition("/")[2] for target in queue.pop().includes)
                queue += [h for name in targets if (h := by_name.get(name)) is not None and h.path not in seen]
                seen.update(h.path for h in queue)
            found[module.path] = seen - {module.path}
        return found
