"""Who calls what the program exports: `main`, or the most general client.

`main` decides for all that it reaches. What nobody in the program calls is exported, and is run under a client that may
do anything with it (DESIGN, "Whole program"):

- a class, and each one that is derived from it: its constructor, its functions and those that are given such an object
  in any order and number, its destructor. What works on members of an object that it has from elsewhere may do so at
  any time (`BEYOND`): then nothing of the class is proved;
- functions that share global variables: in any order and number, the variables as they are initialized;
- any other function: on its own.

A class that the file of `main` itself defines can be named in no other file, so that what nobody calls of it never
runs, if `main` makes objects of it. What manages memory in there is run all the same, on two objects and without a
caller, so that it moves with the rest of the class.

A client is a function of the IR. Between its calls stands a call of `CALLER`: there the unseen code goes on, which may
start work, and may look at everything that it can reach. What is proved under a client rests on an assumption that
names what the unseen code is not expected to do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ir.link import SOURCES, Program, handed_over, last
from cudafix.ir.names import WORD
from cudafix.ir.types import Type
from cudafix.ordering.facts.plain import NUMBERS
from cudafix.ordering.facts.unwritten import assigned_unseen, may_be_assigned_unseen

CALLER = "<caller>"
BEYOND = "<beyond>"
_CLIENT = "<client of "
_OBJECTS = "<objects of "
OBJECT = ir.Var("%object")
_OTHER = ir.Var("%other")
_RESULT = ir.Var("%result")
_MANAGES = frozenset(
    {"cudaMalloc", "cudaFree", "cudaMallocAsync", "cudaFreeAsync", "cudaMallocFromPoolAsync", "cudaDeviceReset"}
)
_FREES = frozenset({"cudaFree", "cudaFreeAsync"})


def is_client(function: ir.Function) -> bool:
    return function.name.startswith((_CLIENT, _OBJECTS))


def is_meant(function: ir.Function, call: ir.Call) -> bool:
    """Whether a call of a client stands for this one of the functions of its name: it ends where that ends."""
    return call.span.path == function.span.path and call.span.end == function.span.end


def never_runs(function: ir.Function) -> bool:
    """Whether it is the client of a class of which `main` decides alone."""
    return function.name.startswith(_OBJECTS)


def assumption(root: ir.Function) -> Assumption:
    """What a proof from this root expects of the unseen code that calls it."""
    if is_client(root):
        names = root.name.removeprefix(_CLIENT).removesuffix(">")
        return Assumption("used_through_its_functions", f"`{names}`")
    return Assumption("no_caller_relies_on_waits", f"`{last(root.name)}`")


def called(function: ir.Function) -> tuple[tuple[str, int, str], ...]:
    """The names that a function calls, with the number of arguments, and the file in which the name is looked up: that
    of the call, which for a client is the file of the function that it means.
    """
    return function.kept("called", lambda function: tuple(dict.fromkeys(_called(function))))


def _called(function: ir.Function) -> Iterator[tuple[str, int, str]]:
    for stmt in function.statements:
        if isinstance(stmt, ir.Call):
            yield stmt.callee, len(stmt.args), stmt.span.path
        if isinstance(stmt, ir.Unknown) and stmt.names is not None:
            for name in stmt.names:
                yield name, 0, stmt.span.path
        if isinstance(stmt, ir.Call | ir.Unknown):
            for arg in stmt.args if isinstance(stmt, ir.Call) else stmt.parts:
                if isinstance(arg, ir.Addr):
                    arg = arg.base
                if isinstance(arg, ir.FuncRef):  # may be called later, with any arguments
                    yield arg.name, 0, stmt.span.path


class _Graph:
    """The calls between the functions of a program, by `id`."""

    def __init__(self, program: Program) -> None:
        self.functions = list(program.functions())
        self.by_id = {id(f): f for f in self.functions}
        self.callees: dict[int, list[int]] = {}
        self.callers: dict[int, list[int]] = defaultdict(list)
        self.names: dict[int, set[str]] = {}  # what each calls, whether it is defined here or not
        for function in self.functions:
            found: dict[int, None] = {}
            names = self.names[id(function)] = set()
            for name, arity, path in called(function):
                names.add(name)
                own = program.resolve(name, arity, path, function.cls)
                found.update((id(callee), None) for callee in (*own, *program.derived_ends(name)))
            self.callees[id(function)] = list(found)
            for callee_id in found:
                self.callers[callee_id].append(id(function))

    def reach(self, start: Iterable[ir.Function], seen: set[int]) -> None:
        """Add what functions reach to what others are known to reach."""
        _close(seen, (id(f) for f in start), self.callees)

    def reaching(self, names: frozenset[str]) -> set[int]:
        """The functions that call one of the names, through others too."""
        return self.calling(n for n, called in self.names.items() if called & names)

    def calling(self, functions: Iterable[int]) -> set[int]:
        """These functions, and those that call them, through others too."""
        found: set[int] = set()
        _close(found, functions, self.callers)
        return found


def _close(found: set[int], start: Iterable[int], edges: dict[int, list[int]]) -> None:
    """Add what is reached from `start` to a set that is closed under `edges`."""
    stack = list(start)
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack.extend(edges.get(current, ()))


def roots(program: Program) -> list[ir.Function]:
    """Where to start, in source order: `main`, and the clients of what nobody calls.

    What reaches no allocation and no free is left out.
    """
    graph = _Graph(program)
    manages = graph.reaching(_MANAGES)
    main = program.main
    seen: set[int] = set()
    started = [main, *program.initializers()] if main is not None else []
    graph.reach(started, seen)
    of_main = frozenset(seen)
    exported: list[ir.Function] = []
    for only_uncalled in (True, False):  # then what calls itself in a circle
        for function in graph.functions:
            called_by_others = any(caller != id(function) for caller in graph.callers[id(function)])
            if id(function) not in seen and not (only_uncalled and called_by_others) and not _is_implicit(function):
                exported.append(function)
                graph.reach([function], seen)
    # an object at namespace scope is a matter of the clients of its class
    special = {id(function) for function in graph.functions if _is_special(function)}
    begun = set(special)
    graph.reach(started[1:], begun)
    first = any(graph.names[function] & _MANAGES for function in begun - special)
    found = [main] if main is not None and (first or id(main) in manages) else []
    unseen = _made_out_of_sight(program, graph, manages)
    for function in graph.functions:
        cls = last(function.cls or "")
        out_of_sight = cls in unseen or (_is_assignment(function) and may_be_assigned_unseen(program, cls))
        if cls and out_of_sight and function not in exported:
            exported.append(function)
    idle = frozenset(graph.by_id) - seen  # assignments that the compiler would write, if somebody asked for them
    closed = _of_main(program, graph, [f for f in exported if id(f) in manages], of_main, idle) - unseen
    for cls in sorted(closed):
        functions = [f for f in exported if f.cls is not None and last(f.cls) == cls]
        exported = [f for f in exported if f not in functions]
        if any(id(f) in manages for f in functions):
            found.append(_of_objects(cls, functions, graph, manages))
    return found + _clients(program, graph, exported, manages, of_main)


def _of_main(
    program: Program, graph: _Graph, exported: Sequence[ir.Function], seen: frozenset[int], idle: Set[int]
) -> set[str]:
    """The classes that the file of `main` defines, of which `main` makes objects, and of which nothing that is exported
    can run: no call has its name but in assignments that are `idle`, and it is nothing that may run where no call is
    seen.
    """
    main = program.main
    if main is None or not main.span.path.endswith(SOURCES):
        return set()
    if "" in assigned_unseen(program) or any(f.problems for f in graph.functions):  # something is not understood
        return set()
    places = [(last(cls), module.path) for module in program.modules for cls in module.members]
    times = Counter(cls for cls, _ in places)
    found = {last(f.cls) for f in exported if f.cls is not None}
    found &= {cls for cls, path in places if path == main.span.path and times[cls] == 1}
    found &= {last(f.cls) for f in graph.functions if id(f) in seen and f.cls is not None and _is_special(f)}
    named: set[int] = set()
    for caller in graph.functions if found else ():
        if id(caller) in idle and not may_be_assigned_unseen(program, last(caller.cls or "")):
            continue
        for stmt in caller.statements:
            named.update(id(f) for name in handed_over(stmt) for f in program.resolve(name, 0, stmt.span.path))
            if isinstance(stmt, ir.Call):
                named.update(id(f) for f in program.reached_by(stmt, caller.cls))
    for function in exported:
        cls, name = last(function.cls or ""), last(function.name)
        if _is_assignment(function):
            runs = may_be_assigned_unseen(program, cls) or id(function) in named
        elif name == cls:
            runs = any(_names(param, cls) for param in function.params)  # a copy
        else:
            runs = name.startswith(("operator", "~")) or id(function) in named
        if runs or not times.keys() >= set(map(last, function.bases)):  # a base that is not seen may call it
            found.discard(cls)
    return found


def _is_assignment(function: ir.Function) -> bool:
    return function.cls is not None and last(function.name) == "operator="


def _is_implicit(function: ir.Function) -> bool:
    """Whether it is an assignment that the compiler writes where it is asked for one."""
    return _is_assignment(function) and function.span.start == function.span.end


def _made_out_of_sight(program: Program, graph: _Graph, manages: set[int]) -> set[str]:
    """The classes that manage memory and of which objects are made where no constructor call is seen: global and static
    ones, elements of arrays and of containers, what a smart pointer owns. `main` alone does not decide for these.
    """
    special = {last(f.cls) for f in graph.functions if f.cls is not None and id(f) in manages and _is_special(f)}
    if not special:
        return set()
    kinds = {v.type for v in program.globals.values() if v.space == "host"}
    inside = {kind for module in program.modules for kinds in module.members.values() for kind in kinds}
    for function in program.functions():
        inside.update(function.types.values())
        for stmt in function.statements:
            if isinstance(stmt, ir.Call) and stmt.template_args and not stmt.callee.startswith("operator new"):
                inside.add(f"<{stmt.template_args}>")
    found = {of.last for of in map(Type.of, kinds) if of.is_object and of.last in special}
    for kind in kinds | inside:
        if "<" in kind and not program.is_owner(kind):
            found |= {last(name) for name in ELEMENT.findall(kind)} & special
    return found


ELEMENT = re.compile(r"(?<=[<,])\s*(?:const\s+|struct\s+|class\s+)*([A-Za-z_][\w:]*)\s*(?:\[\]\s*)?(?=[<>,])")


def _is_special(function: ir.Function) -> bool:
    """Whether it is a constructor or a destructor."""
    return function.cls is not None and last(function.name).removeprefix("~") == last(function.cls)


def _clients(
    program: Program, graph: _Graph, exported: Sequence[ir.Function], manages: set[int], of_main: Set[int]
) -> list[ir.Function]:
    clients: list[tuple[ir.Span, ir.Function]] = []
    left = {id(f): f for f in exported if last(f.name) != ir.INITIALIZERS}
    families = _Families(program, graph, of_main)
    managing = dict.fromkeys(f.cls for f in left.values() if f.cls is not None and id(f) in manages)
    handled: set[int] = set()
    for cls in dict.fromkeys(one for base in managing for one in (base, *families.derived(base))):
        client, functions = _of_class(families.of(cls), graph, left, manages)
        clients.append((client.span, client))
        handled.update(map(id, functions))
    everything = list(left.values())
    for number in handled:
        left.pop(number, None)
    for shared in _sharing(program, graph, everything):
        first = next((f for f in shared if id(f) in manages and id(f) in left), None)
        if len(shared) > 1 and first is not None:
            clients.append((first.span, _of_globals(shared, graph)))
            for function in shared:
                left.pop(id(function), None)
    clients += [(f.span, f) for f in left.values() if id(f) in manages]
    order = {f.span: n for n, f in enumerate(graph.functions)}
    return [client for _, client in sorted(clients, key=lambda one: order[one[0]])]


class _Family:
    """A class with its bases, as one object has them, and the functions of the program that such an object reaches, in
    the order of the program.
    """

    def __init__(self, cls: str, bases: frozenset[str], families: _Families) -> None:
        self.cls = cls
        self.classes = bases | {last(cls)}
        of_bases = (f for base in bases for f in families.methods.get(base, ()))
        self.members = families.in_order((*families.methods_as_written.get(cls, ()), *of_bases))
        inside = set(map(id, self.members))
        taking = families.in_order(f for one in self.classes for f in families.taking.get(one, ()))
        self.users = [f for f in taking if id(f) not in inside]
        inside.update(map(id, self.users))
        self.others = [f for f in families.may_work_on(self) if id(f) not in inside and families.works_on(f, self)]

    def is_object(self, param: ir.Param) -> bool:
        """Whether a parameter is such an object, or a reference or a pointer to one."""
        return _object_in(param) in self.classes


class _Families:
    """The classes of a program with their bases, and who works on their members."""

    def __init__(self, program: Program, graph: _Graph, of_main: Set[int]) -> None:
        self.program = program
        self.graph = graph
        self.of_main = of_main  # run with the objects that `main` has
        self.bases: dict[str, frozenset[str]] = {}  # those of bases too
        for function in graph.functions:
            if function.cls is not None:
                bases = frozenset(Type.of(base).last for base in function.bases)
                self.bases[function.cls] = self.bases.get(function.cls, frozenset()) | bases
        # the names of types that are no classes of the program
        self.unclear = frozenset[str]().union(*(module.types for module in program.modules))
        self.members: dict[str, dict[str, str]] = defaultdict(dict)  # the types of the data members
        for module in program.modules:
            for cls, fields in module.fields.items():
                self.members[last(cls)].update((name, member.type) for name, member in fields.items())
        self._order = {id(function): n for n, function in enumerate(graph.functions)}
        self.methods_as_written: dict[str, list[ir.Function]] = defaultdict(list)
        self.methods: dict[str, list[ir.Function]] = defaultdict(list)
        self.taking: dict[str, list[ir.Function]] = defaultdict(list)  # by the class of an object in a parameter
        self._at_work: dict[str, list[ir.Function]] = defaultdict(list)  # by a member that may be one of an object
        self._behind_pointers: list[ir.Function] = []
        for function in graph.functions:
            if function.cls is not None:
                self.methods_as_written[function.cls].append(function)
                self.methods[last(function.cls)].append(function)
            for name in function.kept("objects taken", _objects_in):
                self.taking[name].append(function)
            for name in function.kept("names at work", _names_at_work):
                self._at_work[name].append(function)
            if function.kept("behind pointers", _behind_pointers):
                self._behind_pointers.append(function)

    def in_order(self, functions: Iterable[ir.Function]) -> list[ir.Function]:
        """Functions in the order of the program, each once."""
        return sorted({id(f): f for f in functions}.values(), key=lambda f: self._order[id(f)])

    def may_work_on(self, family: _Family) -> list[ir.Function]:
        """The functions for which `works_on` has to be asked: it does not hold for others."""
        named = (f for name in self._names_in(family) for f in self._at_work.get(name, ()))
        return self.in_order((*named, *self._behind_pointers))

    def derived(self, cls: str) -> list[str]:
        """The classes that are derived from one."""
        return [name for name, bases in self.bases.items() if last(cls) in bases and name != cls]

    def of(self, cls: str) -> _Family:
        return _Family(cls, self.bases.get(cls, frozenset()), self)

    def works_on(self, function: ir.Function, family: _Family) -> bool:
        """Whether a function works on what members of an object hold that may be one of these."""
        if id(function) in self.of_main:
            return False
        names = self._names_in(family)
        found = (member for member in function.kept("members at work", _members_at_work) if member.name in names)
        if any(self._may_be_of(member.base, function, family) for member in found):
            return True
        if any(self._may_be_of(base, function, family) for base in function.kept("behind pointers", _behind_pointers)):
            return True
        return not names.isdisjoint(function.kept("words", _words))

    def _names_in(self, family: _Family) -> set[str]:
        """The members of an object by which one gets to something else than a number."""
        fields = (field for cls in family.classes for field in self.members.get(cls, {}).items())
        return {name for name, kind in fields if kind not in NUMBERS}

    def _may_be_of(self, base: ir.Expr, function: ir.Function, family: _Family) -> bool:
        """Whether an object in a function may be of a class. That of a derived class has a family of its own."""
        if base == ir.Deref(ir.Var("this")):
            return not self.unclear.isdisjoint(self.bases.get(function.cls or "", ()))
        return self._may_be(self._type(base, function), family)

    def _may_be(self, kind: str, family: _Family) -> bool:
        """Whether something of this type may be an object of a class, or hold one."""
        words = set(WORD.findall(kind))
        if not words.isdisjoint(family.classes):
            return True
        if not kind or kind.startswith(("auto", "decltype")):
            return True
        return words.isdisjoint(self.members) and _PLAIN.match(kind) is None

    def _type(self, expr: ir.Expr, function: ir.Function) -> str:
        """The type of an object; empty if it is not known."""
        match expr:
            case ir.Var("this"):
                return function.cls or ""
            case ir.Var(name):
                variable = self.program.globals.get(name.removeprefix("::"))
                return function.types.get(name) or (variable.type if variable is not None else "")
            case ir.Field(base, name):
                return self.members.get(Type.of(self._type(base, function)).last, {}).get(name, "")
            case ir.Deref(base) | ir.Addr(base) | ir.Offset(base) | ir.Index(base, _):
                return self._type(base, function)
            case _:
                return ""


# of the runtime and of its headers: these hold no objects of a program
_PLAIN = re.compile(
    r"(?:const )?(?:cuda\w*|cu[A-Z]\w*|CU\w*|dim3|u?(?:char|short|int|long|longlong|float|double)[1-4])\b"
)


def _members_at_work(function: ir.Function) -> frozenset[ir.Field]:
    """The members of objects that a function gives to somebody, stores, or stores in, or looks into."""
    found: set[ir.Field] = set()
    for stmt in function.statements:
        if isinstance(stmt, ir.Return) and function.returns in NUMBERS:
            continue
        values = list(ir.values_in(stmt))
        if isinstance(stmt, ir.HostAccess):  # whether a pointer is null is no use of what it leads to
            inside = (expr.base for expr in values if isinstance(expr, ir.Deref | ir.Index))
            values = [part for expr in inside for part in ir.variables(expr)]
        if not isinstance(stmt, ir.If | ir.Loop):
            values += [part for place in ir.places_in(stmt) for part in ir.variables(place)]
        found.update(expr for expr in values if isinstance(expr, ir.Field))
    return frozenset(found)


def _behind_pointers(function: ir.Function) -> list[ir.Expr]:
    """The objects of which a pointer to a member says which one a function means."""
    stmts = (stmt for stmt in function.statements if isinstance(stmt, ir.Unknown) and stmt.why == ir.POINTER_TO_MEMBER)
    return [stmt.parts[0] for stmt in stmts if stmt.parts]


def _words(function: ir.Function) -> frozenset[str]:
    """The words of text that is not understood."""
    return frozenset(name for stmt in function.statements if isinstance(stmt, ir.Unknown) for name in stmt.names or ())


def _names_at_work(function: ir.Function) -> frozenset[str]:
    """The names of members with which a function may work on what objects hold."""
    members = function.kept("members at work", _members_at_work)
    return function.kept("words", _words).union(member.name for member in members)


def _names(param: ir.Param, cls: str) -> bool:
    """Whether a parameter is a reference or a pointer to an object of a class."""
    return _class_in(param) == last(cls) and (param.by_reference or param.type.count("*") == 1)


def _class_in(param: ir.Param) -> str:
    return Type.of(param.type).last


def _object_in(param: ir.Param) -> str | None:
    """The last name component of the type of which a parameter is an object, or a reference or a pointer to one."""
    return _class_in(param) if param.by_reference or param.type.count("*") <= 1 else None


def _objects_in(function: ir.Function) -> frozenset[str]:
    return frozenset(name for name in map(_object_in, function.params) if name is not None)


def _of_class(
    family: _Family, graph: _Graph, exported: Mapping[int, ir.Function], manages: set[int]
) -> tuple[ir.Function, list[ir.Function]]:
    """The client of a class: an object, and every function that takes it. Also what it calls.

    What works on the members of an object in another way may do so at any time (`BEYOND`).
    """
    cls = family.cls
    inside = {id(f) for f in (*family.members, *family.users)}

    def runs(function: ir.Function) -> bool:
        """Whether somebody else than these functions may call it."""
        if id(function) in exported or (id(function) in inside and _is_implicit(function)):
            return True
        return any(caller not in inside for caller in graph.callers[id(function)])

    members, users = list(filter(runs, family.members)), list(filter(runs, family.users))
    special = [f for f in members if _is_special(f)]
    made = [f for f in special if f.cls == cls and not last(f.name).startswith("~")]
    made = made or [f for f in special if not last(f.name).startswith("~")]
    ended = [f for f in special if f.cls == cls and last(f.name).startswith("~")]
    ended = ended or [f for f in special if last(f.name).startswith("~")]
    between = [f for f in members if f not in special] + users
    span = next((f for f in members if id(f) in exported and id(f) in manages), (members or family.members)[0]).span
    body: list[ir.Stmt] = [ir.Declare(OBJECT, cls, False, span), _caller(span)]
    if made:
        arms = tuple((*_call(f, family), ir.Break(span)) for f in made)
        body.append(ir.Switch(arms, True, span))
        body.append(_caller(span))
    others = [f for f in family.others if runs(f)]
    body += _in_any_order(between, graph, span, family, others)
    for function in ended[:1]:
        body += _call(function, family)
    functions = [*members, *users]
    return _client(last(cls), functions, body, {OBJECT.name: cls}, span), functions


def _of_objects(cls: str, uncalled: Sequence[ir.Function], graph: _Graph, manages: set[int]) -> ir.Function:
    """Two objects of a class, what manages memory of it in any order on one of them, and their ends."""
    of_class = [f for f in graph.functions if f.cls is not None and last(f.cls) == cls]
    made = [f for f in of_class if last(f.name) == cls]
    between = [f for f in of_class if id(f) in manages and not _is_special(f)]
    ended = [f for f in of_class if last(f.name) == f"~{cls}"]
    span = uncalled[0].span
    body: list[ir.Stmt] = []
    for number, this in enumerate((_OTHER, OBJECT)):
        body.append(ir.Declare(this, cls, False, span))
        fitting = [f for f in made if number or not any(_names(p, cls) for p in f.params)]
        arms = tuple((_on_objects(f, cls, this), ir.Break(span)) for f in fitting)
        body.append(ir.Switch(arms, True, span))
    either = ir.Test("other", None, "somebody wants it")
    body.append(ir.Loop(tuple(ir.If(either, (_on_objects(f, cls, OBJECT),), (), f.span) for f in between), span))
    body += (_on_objects(f, cls, this) for this in (OBJECT, _OTHER) for f in ended[:1])
    params = tuple(ir.Param(_argument(f, p).name, p.type, p.by_reference) for f in of_class for p in f.params)
    types = {OBJECT.name: cls, _OTHER.name: cls} | {p.name: p.type for p in params}
    return ir.Function(f"{_OBJECTS}{cls}>", params, tuple(body), span, types=types)


def _on_objects(function: ir.Function, cls: str, this: ir.Var) -> ir.Call:
    """A call on an object, with the other one where it takes one. The calls on the two are at places of their own."""
    args: list[ir.Expr] = []
    for param in function.params:
        value: ir.Expr = _argument(function, param)
        if _names(param, cls):
            args.append(_OTHER if param.by_reference else ir.Addr(_OTHER))
        elif not (param.by_reference or "*" in param.type or param.type.startswith(("cu", "CU"))):
            args.append(ir.Opaque(()))  # a number: a call of a constructor may mean another one with a parameter
        else:
            args.append(ir.Deref(value) if param.by_reference else value)
    call = _plain_call(function, tuple(args), this)
    start = function.span.start + (this == _OTHER)
    return replace(call, span=ir.Span(function.span.path, start, function.span.end))


def _of_globals(functions: Sequence[ir.Function], graph: _Graph) -> ir.Function:
    """The client of functions that share globals, which start out as they are initialized."""
    span = functions[0].span
    body: list[ir.Stmt] = [_plain_call(f, (), None) for f in graph.functions if last(f.name) == ir.INITIALIZERS]
    body.append(_caller(span))
    body += _in_any_order(functions, graph, span, None)
    return _client("`, `".join(last(f.name) for f in functions), functions, body, {})


def _in_any_order(
    functions: Sequence[ir.Function],
    graph: _Graph,
    span: ir.Span,
    family: _Family | None,
    others: Sequence[ir.Function] = (),
) -> Iterator[ir.Stmt]:
    """Rounds that run any of the functions. Those that free come last, so that a round has something to free."""
    frees = graph.reaching(_FREES)
    either = ir.Test("other", None, "the caller wants it")
    rounds = tuple(ir.If(either, _call(f, family), (), f.span) for f in sorted(functions, key=lambda f: id(f) in frees))
    if rounds or others:
        yield ir.Loop((*map(_beyond, others), *rounds), span)


def _sharing(program: Program, graph: _Graph, functions: Sequence[ir.Function]) -> Iterator[list[ir.Function]]:
    """Functions grouped by the global pointers that they name, through what they call too."""
    shared = {name for name, v in program.globals.items() if v.space == "host" and ("*" in v.type or v.array)}
    naming: dict[str, list[int]] = defaultdict(list)
    for function in graph.functions:
        for name in _globals_in(function) & shared:
            naming[name].append(id(function))
    by_global: list[list[int]] = []
    for named in naming.values():
        found = graph.calling(named)
        by_global.append([n for n, function in enumerate(functions) if id(function) in found])
    parent = list(range(len(functions)))

    def find(n: int) -> int:
        while parent[n] != n:
            n = parent[n]
        return n

    for numbers in by_global:
        for n in numbers[1:]:
            parent[find(n)] = find(numbers[0])
    groups: dict[int, list[ir.Function]] = defaultdict(list)
    for n, function in enumerate(functions):
        groups[find(n)].append(function)
    yield from groups.values()


def _globals_in(function: ir.Function) -> set[str]:
    return function.kept("globals", _named_globals)


def _named_globals(function: ir.Function) -> set[str]:
    found: set[str] = set()

    def visit(expr: object) -> None:
        if isinstance(expr, ir.Var):
            if "::" in expr.name:
                found.add(expr.name.removeprefix("::"))
        elif isinstance(expr, tuple):
            for part in expr:
                visit(part)

    for stmt in function.statements:
        match stmt:
            case ir.Call():
                visit((stmt.args, stmt.receiver, stmt.result))
            case ir.Launch():
                visit((stmt.args, stmt.stream, stmt.pointer))
            case ir.Assign():
                visit((stmt.target, stmt.value))
            case ir.HostAccess():
                visit((stmt.reads, stmt.writes))
            case ir.Return():
                visit(stmt.value)
            case ir.Unknown():
                visit(stmt.parts)
            case _:
                pass
    return found


# ---------------------------------------------------------------------------------------------------------------------
# the client as a function


def _client(
    of: str,
    functions: Sequence[ir.Function],
    body: Sequence[ir.Stmt],
    types: dict[str, str],
    span: ir.Span | None = None,
) -> ir.Function:
    name = f"{_CLIENT}{of}>"
    params = tuple(ir.Param(_argument(f, p).name, p.type, p.by_reference) for f in functions for p in f.params)
    params += tuple(_object_of(f) for f in functions if f.cls is not None)
    kinds = types | {p.name: p.type for p in params}
    return ir.Function(name, params, tuple(body), span or functions[0].span, types=kinds)


def _object_of(function: ir.Function) -> ir.Param:
    """A pointer to an object of the caller's for a method of another class."""
    return ir.Param(f"{last(function.name)}.this@{function.span.start}", f"{function.cls} *")


def _argument(function: ir.Function, param: ir.Param) -> ir.Var:
    return ir.Var(f"{last(function.name)}.{param.name}@{function.span.start}")


def _call(function: ir.Function, family: _Family | None) -> tuple[ir.Stmt, ...]:
    """A call with arguments of the caller's, and what the caller does after it."""
    args: list[ir.Expr] = []
    member = family is not None and function in family.members
    for param in function.params:
        value: ir.Expr = _argument(function, param)
        if family is not None and not member and family.is_object(param):
            args.append(ir.Addr(OBJECT) if "*" in param.type and not param.by_reference else OBJECT)
        else:
            args.append(ir.Deref(value) if param.by_reference else value)
    receiver: ir.Expr | None = OBJECT if member else None
    if function.cls is not None and not member:
        receiver = ir.Deref(ir.Var(_object_of(function).name))
    span = function.span
    after = _caller(span, ir.FuncRef(function.name))
    if last(function.name) == last(function.cls or ""):  # there is no object of a constructor that has thrown
        handler: ir.Block = (after, ir.Return(None, span))
    else:
        handler = ()
    return ir.Try((_plain_call(function, tuple(args), receiver),), (handler,), span, all=True), after


def _beyond(function: ir.Function) -> ir.Call:
    """A function that works on the members of an object, of which nobody can say how it gets at that."""
    span = ir.Span(function.span.path, function.span.start, function.span.start)
    return ir.Call(BEYOND, (OBJECT, ir.FuncRef(function.name)), span, span, span.end, _site(span))


def _plain_call(function: ir.Function, args: tuple[ir.Expr, ...], receiver: ir.Expr | None) -> ir.Call:
    span = function.span
    result = _RESULT if function.returns != "void" else None
    return ir.Call(function.name, args, span, _nowhere(span), span.end, _site(span), (), receiver, result)


def _caller(span: ir.Span, *behind: ir.FuncRef) -> ir.Call:
    after = ir.Span(span.path, span.end - 1, span.end)
    return ir.Call(CALLER, (_RESULT, *behind), after, _nowhere(span), span.end, _site(span))


def _nowhere(span: ir.Span) -> ir.Span:
    return ir.Span(span.path, span.end, span.end)


def _site(span: ir.Span) -> ir.Site:
    return ir.Site(span, "", "", ";", blocked="unseen code calls it")
