"""What the classes of a program are: their methods and bases, and what runs on their objects without a call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from cudafix import ir
from cudafix.ir.link import Program, Reaching, handed_over, last, takes
from cudafix.ir.types import Type
from cudafix.models.api import Effect, plays, roles_of
from cudafix.models.number_types import is_byte
from cudafix.ordering.facts import paths
from cudafix.ordering.facts.clients import ELEMENT
from cudafix.ordering.facts.plain import ADDRESS, may_lead
from cudafix.ordering.facts.reach import Reach
from cudafix.ordering.facts.slicing import Slicer
from cudafix.ordering.facts.unwritten import assigned_unseen, may_be_assigned_unseen

# through which a call may reach a method of what they hold
_HOLDS_OTHERS = re.compile(r"(?:const )?(?:std|thrust|boost)::|\w*_ptr\b|(?:optional|reference_wrapper)\b")
_QUIET_BASES = ("std::", "thrust::", "cub::")  # whose constructors hand the object to nobody
_OF_ALLOCATORS = (("allocate", 1), ("deallocate", 2))  # with the number of parameters
# a memory resource of the standard library calls these (C++17, 23.12.2 [mem.res.class])
_RESOURCE = "memory_resource"
_OF_RESOURCES = frozenset(("do_allocate", "do_deallocate", "do_is_equal"))
# streams and error codes call the virtual functions of these (C++17, 30.6.3 [streambuf], 25.3 [locales], 22.5.2
# [syserr.errcat])
_CALLED_BY_STREAMS = re.compile(
    r"(?:basic_)?(?:stream|string|file|sync)buf|w(?:stream|string|file)buf|error_category|ctype|collate(?:_byname)?|"
    r"(?:codecvt|ctype|messages|numpunct|moneypunct|time_get|time_put)(?:_byname)?|(?:num|money)_(?:get|put)"
)
_STORED_IN = frozenset(
    "hw hrw hidden out swap new alias found stream_out event_out handle_out pool_out graph_out".split()
)
# what templates of the standard library call on objects of a class that they are given (C++20): containers, their
# adaptors and inserters ([container.requirements], [stack.defn], [queue.defn], [insert.iterators]), ranges
# ([range.access]), locks ([thread.req.lockable]), clocks ([time.clock.req]), generators of random numbers ([rand.req]),
# traits of characters ([char.traits.require]), formatters ([format.formatter]), pointers ([pointer.conversion])
_CALLED_BY_TEMPLATES = frozenset(
    "push_back push_front pop_back pop_front front back insert emplace emplace_back emplace_front begin end cbegin "
    "cend rbegin rend crbegin crend size max_size empty data swap clear erase lock unlock try_lock try_lock_for "
    "try_lock_until lock_shared unlock_shared try_lock_shared now min max discard seed generate param reset assign eq "
    "lt compare length find move copy to_char_type to_int_type eof not_eof parse format to_address pointer_to "
    "get".split()
)
# functions beside a class that these find by its objects ([range.access], [iterator.cust], [syserr.errcode.overview])
_FOUND_BY_OBJECTS = frozenset(
    "begin end rbegin rend size data iter_move iter_swap make_error_code make_error_condition".split()
)
_MAX_SUBOBJECTS = 256
_WORDS = re.compile(r"\w+")


class Observation(Enum):
    """What host code may learn, or tell, of what has happened before, beside what memory holds."""

    CLOCK = "time"  # it reads a clock, asks whether something has finished, or what others have done to files
    OUTPUT = "output"  # the user sees something, or that the process ends
    STATUS = "errors"  # it asks for the errors of what ran before


class Classes:
    """One for a program: what it says is found once."""

    def __init__(self, program: Program, reach: Reach) -> None:
        self.program = program
        self.reach = reach
        self._made_in: dict[str, str] = {}

    @staticmethod
    def of(program: Program, reach: Reach) -> Classes:
        return program.kept("classes", lambda: Classes(program, reach))

    def methods(self, kind: str, name: str, arity: int, path: str) -> tuple[list[ir.Function], bool]:
        """What a method call on an object of this type may reach: the method of its class; where that leaves it to
        others, those of its bases, or of the classes derived from it; of any class where it is not known which. And
        whether it can be nothing else.
        """
        plain = Type.of(kind).written_name
        cls, python = last(plain), path.endswith(ir.PYTHON)
        classes = self._meant(plain)
        own = [f for f in self.program.resolve(name, arity, path, plain or None) if f.cls is not None]
        if classes is not None:
            own = [f for f in own if "::" in name or f.cls in classes or last(f.cls or "") != cls]
        named = self.program.methods(name, arity)
        bases = self._bases.get(cls, set())
        inherited = [f for f in named if f.cls is not None and any(self._may_mean(base, f.cls) for base in bases)]
        known = python or (classes is not None and all(map(self._is_seen, bases)))
        if "::" in name or any(last(f.cls or "") == cls for f in own):
            whole = python or classes is not None
            brought = inherited if last(name) in self._brought and "::" not in name else []
            if last(name) == cls:  # `using B::B;`
                brought = [f for base in bases if last(base) in self._brought for f in self._constructors(base, arity)]
            if any(len(f.params) == arity or takes(f, arity) for f in own):
                return list(dict.fromkeys((*own, *brought))), whole and (not brought or known)
            return own + [f for f in inherited if "::" not in name], known  # `using B::f;`
        if inherited:
            return inherited, known
        derived = self._derived.get(cls, [])
        found = [f for f in derived if f in named]
        if found:
            bases = bases.union(*(f.bases for f in derived))
            others = [f for f in named if f not in found and any(self._may_mean(base, f.cls or "") for base in bases)]
            return found + others, known
        unseen = not python and (not classes if classes is not None else self._is_unseen(cls))
        return [] if unseen and not _HOLDS_OTHERS.match(plain) else named, python

    def _constructors(self, cls: str, arity: int) -> list[ir.Function]:
        return self.methods(cls, last(cls), arity, "")[0]

    def _meant(self, name: str) -> frozenset[str] | None:
        """The classes of the program that the name of a type may mean; None where something else may have the name:
        an alias, a parameter of a template, what a compiler deduces.
        """
        alike = self._of_name.get(last(name), frozenset())
        if name.startswith("::"):
            return alike & {name.removeprefix("::")}
        if not name or name.startswith(("auto", "decltype")):
            return None
        *scope, own = name.split("::")
        if not scope:
            return None if own in self._other_types else alike
        names = ir.found_as(name, self.program.namespaces)
        found = frozenset(cls for cls in alike if any(cls == one or cls.endswith(f"::{one}") for one in names))
        return found if found or self._type_names.isdisjoint(scope) else None

    def is_class(self, kind: str) -> bool:
        """Whether a type is a class of the program and nothing else."""
        return bool(self._meant(Type.of(kind).written_name))

    def may_be_of(self, kind: str, base: str) -> bool:
        """Whether an object of one type may be one of another: of the same class, or of one derived from it."""
        meant = self._meant(Type.of(base).written_name) or frozenset()
        own = self._meant(Type.of(kind).written_name)
        if own is None or own & meant:
            return True
        named = own | {b for cls in own for b in self._bases.get(last(cls), ())}
        return any(self._may_mean(one, cls) for one in named for cls in meant)

    def _may_mean(self, name: str, cls: str) -> bool:
        """Whether the name of a type may mean this class of the program."""
        meant = self._meant(name)
        return cls in meant if meant is not None else last(name) == last(cls)

    def _is_seen(self, name: str) -> bool:
        """Whether the name of a type means a class of the program, or one whose methods call nothing else."""
        return name.startswith(_QUIET_BASES) or bool(self._meant(name))

    @cached_property
    def _brought(self) -> frozenset[str]:
        """The last name components of the using-declarations of a program."""
        return frozenset[str]().union(*(module.brought for module in self.program.modules))

    @cached_property
    def _other_types(self) -> frozenset[str]:
        """What names types and is no class, in some file."""
        return frozenset[str]().union(*(module.types for module in self.program.modules))

    @cached_property
    def _of_name(self) -> dict[str, frozenset[str]]:
        """The classes of the program by their last name component."""
        found: dict[str, set[str]] = {}
        names = {f.cls for f in self.program.functions() if f.cls is not None}
        for name in names.union(*(module.members for module in self.program.modules)):
            found.setdefault(last(name), set()).add(name)
        return {name: frozenset(classes) for name, classes in found.items()}

    def _is_unseen(self, cls: str) -> bool:
        """Whether a type is a class that no file of the program defines."""
        return bool(cls) and not cls.startswith(("auto", "decltype")) and cls not in self._type_names

    def is_open(self, kind: str) -> bool:
        """Whether a type may be any: it is deduced, a parameter of a template, or an alias."""
        of = Type.of(kind)
        return of.is_deduced or (not of.pointers and of.core in self._other_types)

    def is_other_class(self, kind: str) -> bool:
        """Whether a type is a class by its name, and none of the standard library."""
        plain = Type.of(kind).written_name
        if not plain or plain.startswith(("auto", "decltype", "std::", "thrust::", "cuda::")):
            return False
        return "::" in plain or self._meant(plain) is not None

    def declares_none(self, callee: str) -> bool:
        """Whether this is a constructor, a destructor or a conversion of a class of the program that the file of the
        caller does not see, and that has none.
        """
        owner = callee.rpartition("::")[0]
        return owner in self._unseen and bool(self._meant(owner))

    @cached_property
    def _unseen(self) -> frozenset[str]:
        return frozenset[str]().union(*(module.unseen for module in self.program.modules))

    def is_unseen_base(self, base: str) -> bool:
        """Whether a class that others are derived from is in no file of the program, nor in the standard one."""
        return not self._is_seen(Type.of(base).written_name)

    def overriders(self, methods: list[ir.Function]) -> list[ir.Function]:
        """What may run instead of these methods, if they are virtual: those of the classes derived from theirs."""
        found: list[ir.Function] = []
        for method in methods:
            own, name = last(method.cls or ""), last(method.name)
            for other in self._derived.get(own, ()):
                same = last(other.name) == (f"~{last(other.cls or '')}" if name == f"~{own}" else name)
                if same and len(other.params) == len(method.params) and other not in methods and other not in found:
                    found.append(other)
        return found

    def of_objects(self, methods: list[ir.Function], kinds: set[str]) -> list[ir.Function]:
        """Those of these methods that may run on objects which are of these classes themselves: of the class, or of a
        base; of virtual destructors that of the class (C++17, 13.3 [class.virtual] 2, 8.3.5 [expr.delete] 3).
        """
        meant = [self._meant(kind) for kind in kinds]
        if not methods or not meant or not all(meant):
            return methods
        own = {cls for one in meant for cls in one or ()}
        within = [method for method in methods if method.cls in own]
        if last(methods[0].name).startswith("~"):
            bases = frozenset[str]().union(*(self._meant(base) or () for base in methods[0].bases))
            ended = (bases | {methods[0].cls}) & self._ended_virtually
            return within if ended and {method.cls for method in within} == own else methods
        bases = frozenset[str]().union(*(map(last, self._bases.get(last(cls), ())) for cls in own))
        return within + [m for m in methods if m not in within and last(m.cls or "") in bases] or methods

    @cached_property
    def _ended_virtually(self) -> frozenset[str]:
        return frozenset[str]().union(*(module.ended_virtually for module in self.program.modules))

    def runs_unseen(self, cls: str | None) -> str:
        """A function of a class that works on the device and runs where no call is written: an operator, or a copy
        constructor. Empty if there is none.
        """
        if cls is None:
            return ""
        return self._without_calls.get(last(cls), "")

    @cached_property
    def _without_calls(self) -> dict[str, str]:
        found: dict[str, str] = {}
        called = {
            id(f)
            for function in self.program.functions()
            for stmt in function.statements
            if isinstance(stmt, ir.Call)
            for f in self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path, function.cls)
        }
        for function in self.program.functions():
            name, owner = last(function.name), last(function.cls or "")
            operator = name.startswith("operator") and not name.startswith(("operator()", "operator new"))
            copies = name == owner and len(function.params) == 1 and _is_of(function.params[0], owner)
            if not (operator or copies and id(function) not in called) or not self.reach.works_on_device(function):
                continue
            if name == "operator=" and not may_be_assigned_unseen(self.program, owner):
                continue
            classes = [owner] if owner else [_class_of(p) for p in function.params]
            found.update((cls, function.name) for cls in classes if cls)
        return found

    @cached_property
    def _special(self) -> frozenset[str]:
        """The classes whose constructor or destructor works on the device, and those that they are derived from."""
        found = [
            f
            for f in self.program.functions()
            if f.cls is not None and last(f.name).removeprefix("~") == last(f.cls) and self.reach.works_on_device(f)
        ]
        return frozenset(last(name) for f in found for name in (f.cls or "", *f.bases))

    def made_in(self, kind: str) -> str:
        """The first of these classes of which objects are in a smart pointer or a container of this type, or in one
        that is a member of it. Empty if there is none.
        """
        if kind not in self._made_in:
            self._made_in[kind] = self._found_in(kind) if self._special else ""
        return self._made_in[kind]

    def _found_in(self, kind: str) -> str:
        special, members = self._special, self._members
        queue, seen = [kind], set[str]()
        while queue:
            current = queue.pop()
            if self.program.is_owner(current):
                continue
            names = [last(name) for name in ELEMENT.findall(current)] if "<" in current else []
            found = next((name for name in names if name in special), None)
            if found is not None:
                return found
            for name in (*names, *([of.last] if (of := Type.of(current)).is_object else ())):
                if name not in seen:
                    seen.add(name)
                    queue += members.get(name, ())
        return ""

    def runs_in_templates(self, function: ir.Function) -> bool:
        """Whether a function works on the device and may run where templates make, compare, assign or end objects."""
        return id(function) in self._in_templates

    @cached_property
    def leaving_work(self) -> list[ir.Function]:
        """Those of these functions that leave work on the device."""
        return [f for f in self._in_templates.values() if self.reach.leaves_work(f)]

    @cached_property
    def ends_streams(self) -> bool:
        """Whether one of these functions destroys a stream."""
        return any(map(self.reach.ends_streams, self._in_templates.values()))

    @cached_property
    def look_at_the_host(self) -> str:
        """A function that may run where templates make, copy, compare or end objects, and looks at memory that is not
        their own. Empty if there is none.
        """
        if self._given_unseen:
            return self._given_unseen
        looking = self.program.reaching_those("host memory", _looks_elsewhere)
        return next((f.name for f in self._of_templates if id(f) in looking), "")

    @cached_property
    def observe(self) -> dict[Observation, str]:
        """What else these functions may see of the order of things, or let the user see of it, each with a function
        that does.
        """
        found: dict[Observation, str] = {}
        for function in self._of_templates:
            for kind in self.observations(function):
                found.setdefault(kind, function.name)
        return found | dict.fromkeys(Observation if self._given_unseen else (), self._given_unseen)

    @cached_property
    def _given_unseen(self) -> str:
        """A class of which nothing is known, and of which templates of the program may make objects: a constructor, a
        destructor and operators of it may run without a lowered call. Empty if there is none.
        """
        return min((cls for module in self.program.modules for cls in module.unseen_arguments), default="")

    def observations(self, function: ir.Function) -> list[Observation]:
        """What a function may observe, by way of others too."""
        return [kind for kind in Observation if id(function) in self._observing(kind)]

    def _observing(self, kind: Observation) -> Reaching:
        return self.program.reaching_those(
            f"observes {kind.value}", lambda f: any(self._observed(stmt, f) is kind for stmt in f.statements)
        )

    def _observed(self, stmt: ir.Stmt, function: ir.Function) -> Observation | None:
        """What a statement itself observes. Code that is not seen, or not understood, may read a clock."""
        if not isinstance(stmt, ir.Call):
            return Observation.CLOCK if isinstance(stmt, ir.Unknown) else None
        api = self.reach.library(stmt, function)
        if api is None:
            if stmt.callee == "throw" or stmt.callee.startswith("#") or self.program.reached_by(stmt, function.cls):
                return None
            if stmt.receiver is not None:
                if self.declares_none(stmt.callee):
                    return None
                api = Slicer.of(self.program, self.reach.tables).method_by_name(stmt.callee, len(stmt.args))
            if api is None:
                return Observation.CLOCK
        if self.reach.tells_time(stmt, api) or api.effect in (Effect.QUERY, Effect.ELAPSED):
            return Observation.CLOCK
        if api.effect in (Effect.OUTPUT, Effect.MESSAGE, Effect.EXIT):
            return Observation.OUTPUT
        return Observation.STATUS if api.effect is Effect.STATUS else None

    @cached_property
    def stores_elsewhere(self) -> str:
        """A function that may run where templates make, copy, compare or end objects, or where one ends by its base,
        and stores addresses or handles in variables that are not its object's. Empty if there is none.
        """
        unseen = assigned_unseen(self.program)
        special = [
            f
            for f in self.program.functions()
            if last(f.cls or "") in unseen and (last(f.name) == last(f.cls or "") or last(f.name) == "operator=")
        ]
        run = (*self._of_templates, *special)
        return next((f.name for f in run if id(f) in self.storing_elsewhere or _stores_in_argument(f)), "")

    @cached_property
    def storing_elsewhere(self) -> Reaching:
        """The functions (by `id`) that store, or let others store, an address or a handle in a variable that others
        see, or through a pointer or a reference that is no parameter.
        """
        return self.program.reaching_those("stores elsewhere", self._stores_elsewhere)

    @cached_property
    def storing_addresses(self) -> Reaching:
        """The functions (by `id`) that store, or let others store, an address or a handle in more than a variable of
        their own.
        """
        return self.program.reaching_those("stores addresses", self._stores_addresses)

    @cached_property
    def making_objects(self) -> Reaching:
        """The functions (by `id`) that make objects of the host which may outlive the call."""
        return self.program.reaching_those("makes objects", lambda f: any(map(self._makes_object, f.statements)))

    def _makes_object(self, stmt: ir.Stmt) -> bool:
        if not isinstance(stmt, ir.Call) or stmt.receiver is not None:
            return False
        api = self.reach.tables.lookup(stmt.callee, len(stmt.args))
        return stmt.callee.startswith("operator new") or (api is not None and api.effect is Effect.ALLOC)

    def _stores_addresses(self, function: ir.Function) -> bool:
        for stmt in function.statements:
            if isinstance(stmt, ir.Assign):
                place = stmt.target
                own = isinstance(place, ir.Var) and "::" not in place.name and place.name not in function.captures
                if not own and (may_lead(stmt.value, function) or _is_null(stmt.value)):
                    return True
            elif isinstance(stmt, ir.Call) and not self.program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
                if any(may_lead(e, function) for e in self._may_store_in(stmt)):
                    return True
        return False

    def _stores_elsewhere(self, function: ir.Function) -> bool:
        """Whether a function stores, or lets another store, an address, a handle or a number that may decide, in a
        variable that others see, or through a pointer or a reference that is no parameter.
        """
        slicer = Slicer.of(self.program, self.reach.tables)
        for stmt in function.statements:
            if isinstance(stmt, ir.Assign) and _is_elsewhere(stmt.target, function):
                if may_lead(stmt.value, function) or _is_null(stmt.value) or slicer.decides(stmt.target):
                    return True
            elif isinstance(stmt, ir.HostAccess):
                if any(_is_elsewhere(place, function) and slicer.decides(place) for place in stmt.writes):
                    return True
            elif isinstance(stmt, ir.Call):
                if any(self._leads_elsewhere(e, function) for e in self._may_store_in(stmt)):
                    return True
        return False

    def _leads_elsewhere(self, given: ir.Expr, function: ir.Function) -> bool:
        """Whether who gets this, as a pointer or as a reference, may store elsewhere."""
        if isinstance(given, ir.Addr):
            return _is_elsewhere(given.base, function)
        if isinstance(given, ir.Var) and given.name.removeprefix("::") not in self.program.globals:
            return False  # an enumerator
        return _is_elsewhere(given, function)

    def _may_store_in(self, call: ir.Call) -> Iterator[ir.Expr]:
        """The arguments of a call that may be stored in: through a pointer, or as a reference."""
        own = self.program.resolve(call.callee, len(call.args), call.span.path)
        if call.receiver is None:
            api = self.reach.tables.lookup(call.callee, len(call.args))
        else:
            api = Slicer.of(self.program, self.reach.tables).method_by_name(call.callee, len(call.args))
        for n, expr in enumerate(call.given):
            if own:
                position = n - (call.receiver is not None)
                params = [f.params[position] for f in own if 0 <= position < len(f.params)]
                if isinstance(expr, ir.Addr) or any(param.by_reference for param in params):
                    yield expr
            elif api is None or plays(roles_of(api, len(call.given))[n], _STORED_IN):
                yield expr

    @cached_property
    def _in_templates(self) -> dict[int, ir.Function]:
        return {id(f): f for f in self._of_templates if self.reach.works_on_device(f)}

    @cached_property
    def _of_templates(self) -> list[ir.Function]:
        modules = self.program.modules
        made = {cls for module in modules for cls in module.template_arguments}
        ended = {cls for module in modules for cls in module.ended}
        ended |= {last(f.cls or "") for cls in ended for f in self._derived.get(cls, ())}
        unseen = {ir.OF_THREADS, *self._defaults_of_others}
        found = []
        for function in self.program.functions():
            name, owner = last(function.name), last(function.cls or "")
            special = name in (owner, f"~{owner}") or name.startswith("operator")
            special = (
                special
                or (name, len(function.params)) in _OF_ALLOCATORS
                or (bool(owner) and name in _CALLED_BY_TEMPLATES)
            )
            free = not owner and (name.startswith(("operator", "swap")) or name in _FOUND_BY_OBJECTS)
            special = special or (free and any(_class_of(param) in made for param in function.params))
            here = name.startswith(("operatornew", "operatordelete")) or (function.cls or "").startswith("std::")
            here = here or function.name in unseen or (name in _OF_RESOURCES and _RESOURCE in map(last, function.bases))
            here = here or any(_CALLED_BY_STREAMS.fullmatch(Type.of(base).last) for base in function.bases)
            if here or (special and (owner in made or free)) or (name == f"~{owner}" and owner in ended):
                found.append(function)
        if ir.FUNCTIONS in made:
            found += self._values_that_compare
        return found

    @property
    def _values_that_compare(self) -> Iterator[ir.Function]:
        """The functions of which there are values that may compare, or hash, elements of a container."""
        values = {
            id(f)
            for function in self.program.functions()
            for stmt in function.statements
            for name in handed_over(stmt)
            for f in self.program.resolve(name, 0, stmt.span.path)
        }
        for function in self.program.functions():
            gives = ir.LAMBDA in function.name or function.returns.strip() != "void"
            if gives and len(function.params) in (1, 2) and (ir.LAMBDA in function.name or id(function) in values):
                yield function

    @cached_property
    def _defaults_of_others(self) -> set[str]:
        """The functions that evaluate the default arguments of a declaration which the definition does not see."""
        found = {f.name for f in self.program.functions() if last(f.name) == ir.DEFAULTS}
        if found:
            for function in self.program.functions():
                found.difference_update(s.callee for s in function.statements if isinstance(s, ir.Call))
        return found

    @cached_property
    def callable(self) -> frozenset[str]:
        """The classes whose objects can be called, where that works on the device."""
        found = (f for f in self.program.functions() if last(f.name) == "operator()" and f.cls is not None)
        return frozenset(last(f.cls or "") for f in found if self.reach.works_on_device(f))

    @property
    def run_by_themselves(self) -> bool:
        """Whether something of a class works on the device and may run where no call is written."""
        return bool(self._without_calls or self._special)

    def type_of_member(self, cls: str, name: str) -> str:
        """Of a data member, by the last name component of its class; empty where that is not known.

        What a class does not declare is what its bases say, if these are one in that (C++17, 13.2 [class.member.lookup]
        4 to 6). A base that is not seen may hide it, or have another one for a class of the same name; a base that is
        made of a template says it in the words of that template.
        """
        known = self._types_of_members.get((cls, name))
        return known if known is not None else self._inherited(cls).get(name, "")

    def _inherited(self, cls: str) -> dict[str, str]:
        """The types of the data members that a class does not declare and its bases do, where these are all seen."""
        found = self._inherited_types.get(cls)
        if found is None:
            bases, stack = set[str](), [cls]
            while stack:
                bases.update(more := self._plain_bases.get(stack.pop(), {"<"}) - bases)
                stack += more
            found = {}
            if "<" not in bases:
                for (base, name), kind in self._types_of_members.items():
                    if base in bases:
                        found[name] = kind if found.get(name, kind) == kind else ""
            self._inherited_types[cls] = found
        return found

    @cached_property
    def _inherited_types(self) -> dict[str, dict[str, str]]:
        return {}

    @cached_property
    def _plain_bases(self) -> dict[str, set[str]]:
        """The direct bases of the classes that are seen, by last name components; `<` for one that a template makes."""
        found: dict[str, set[str]] = {}
        for module in self.program.modules:
            for cls, bases in module.bases.items():
                found.setdefault(last(cls), set()).update("<" if "<" in base else Type.of(base).last for base in bases)
        return found

    def has_member(self, cls: str, name: str) -> bool:
        """Whether a class, by its last name component, or a base of it has a data member, as far as that is known."""
        seen, stack = set[str](), [cls]
        while stack:
            current = stack.pop()
            if current not in self._declared_bases or (current, name) in self._types_of_members:
                return True
            seen.add(current)
            stack += self._declared_bases[current] - seen
        return False

    @cached_property
    def layouts(self) -> dict[str, frozenset[str] | None]:
        """By the last name component of the classes that are seen: all data members of an object of one, those of its
        bases too; None where a base is not seen.
        """
        own: dict[str, set[str]] = {}
        for module in self._in_cpp:
            for cls, fields in module.fields.items():
                own.setdefault(last(cls), set()).update(fields)
        found: dict[str, frozenset[str] | None] = {}
        for cls in own:
            lineage = self._lineage(cls)
            seen = own.keys() | self._declared_bases.keys()
            members = frozenset(name for one in lineage for name in own.get(one, ()))
            found[cls] = members if lineage <= seen else None
        return found

    def _lineage(self, cls: str) -> set[str]:
        """A class and its bases, by last name component."""
        found, stack = {cls}, [cls]
        while stack:
            more = self._declared_bases.get(stack.pop(), set()) - found
            found |= more
            stack += more
        return found

    def whole_lineage(self, cls: str) -> set[str] | None:
        """A class of the program and its bases, by last name component; None where one of them is not seen."""
        found = self._lineage(Type.of(cls).last)
        seen = all(self.is_class(one) for one in found) and found <= self._declared_bases.keys()
        return found if seen else None

    @cached_property
    def _together(self) -> dict[str, frozenset[str]]:
        """The data members that may be in one object with one of this name."""
        found: dict[str, set[str]] = {}
        for members in self.layouts.values():
            for name in members or ():
                found.setdefault(name, set()).update(members or ())
        of_open = {name for cls, whole in self.layouts.items() if whole is None for name in self._own_members(cls)}
        return {name: frozenset(others) for name, others in found.items() if name not in of_open}

    def _own_members(self, cls: str) -> set[str]:
        return {n for module in self._in_cpp for one, ms in module.fields.items() if last(one) == cls for n in ms}

    def are_apart(self, one: str, other: str, anywhere: bool) -> bool:
        """Whether data members of these names are never parts of one object of a class, and may be used as if they
        were: where the program takes objects for those of another class, or `anywhere`.
        """
        together = self._together
        if one not in together or other not in together or other in together[one]:
            return False
        retyped = self._retyped
        return anywhere or retyped is None or not retyped.isdisjoint(self._with_member[one] | self._with_member[other])

    @cached_property
    def _with_member(self) -> dict[str, set[str]]:
        """The classes whose objects have a data member of a name."""
        found: dict[str, set[str]] = {}
        for cls, members in self.layouts.items():
            for name in members or ():
                found.setdefault(name, set()).add(cls)
        return found

    @cached_property
    def _retyped(self) -> set[str] | None:
        """The classes, by last name component, as objects of which the program may use those of others, or the other
        way round: what it casts to (`Module.retyped`), with bases and what is derived. None where it may be any.
        """
        named = frozenset[str]().union(*(module.retyped for module in self._in_cpp))
        if "*" in named or any(module.overlaid for module in self.program.modules):
            return None
        related = named.union(*map(self._lineage, named))
        return {cls for cls in self.layouts if not related.isdisjoint(self._lineage(cls))}

    def is_retyped(self, declared: str, used: str, anywhere: bool) -> bool:
        """Whether a pointer or reference to an object of one type is used as one to an object of another one, where the
        program does that at all, or `anywhere`.
        """
        if not self.is_pun(declared, used):
            return False
        if anywhere or self._retyped is None or not (self.is_laid_out(declared) and self.is_laid_out(used)):
            return True
        return not self._retyped.isdisjoint((Type.of(declared).last, Type.of(used).last))

    def is_laid_out(self, kind: str) -> bool:
        """Whether a type is a class of which the data members are seen, and no pointer."""
        of = Type.of(kind)
        return "*" not in of.marks and self.layouts.get(of.last) is not None

    def is_pun(self, declared: str, used: str) -> bool:
        """Whether an object of one type is used as an object of another one, which is not part of it by its first
        member or base: one of them is a class that is seen.
        """
        if not (self.is_laid_out(declared) or self.is_laid_out(used)) or "" in (declared, used):
            return False
        one, other = Type.of(declared), Type.of(used)
        if not (self.is_laid_out(declared) and self.is_laid_out(used)):
            others = {one, other}
            return all(self.is_laid_out(k.text) or k.marks[-1:] == ("*",) or k.core in ir.HANDLES for k in others)
        a, b = one.last, other.last
        return a not in self._lineage(b) and b not in self._lineage(a)

    def are_bytes_of(self, one: str, other: str) -> bool:
        """Whether what is copied from an object of one type to one of the other type are its bytes."""
        if self.is_pun(one, other):
            return True
        kinds = Type.of(one), Type.of(other)
        alike = kinds[0].core == kinds[1].core and kinds[0].marks == kinds[1].marks
        if alike or "" in (one, other) or not any(map(self.is_laid_out, (one, other))):
            return False
        return any(not of.marks and (is_byte(of.core) or of.core in self._other_types) for of in kinds)

    @cached_property
    def _declared_bases(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for module in self.program.modules:
            for cls, bases in module.bases.items():
                found.setdefault(last(cls), set()).update(Type.of(base).last for base in bases)
        return found

    @cached_property
    def repeated(self) -> dict[str, frozenset[str]]:
        """The data members that an object may have several of by one name, in its class and the bases of that, with
        the classes that such an object may be seen as an object of.
        """
        fields: dict[str, set[str]] = {}
        for module in self._in_cpp:
            for cls, members in module.fields.items():
                fields.setdefault(cls, set()).update(members)
        found: dict[str, set[str]] = {}
        for cls in fields:
            subobjects = self._subobjects(cls)
            if len(subobjects) > 1:
                counts = Counter(name for one in subobjects for name in fields.get(one, ()))
                for name in (name for name, count in counts.items() if count > 1):
                    found.setdefault(name, set()).update(subobjects)
        return {name: frozenset(classes) for name, classes in found.items()}

    def path_to(self, name: str, kind: str) -> paths.Path:
        """The steps from an object of this type to a data member: to one of several of this name, unless the class is
        another one.
        """
        if name not in self.repeated:
            return (("field", name),)
        meant = self._meant(Type.of(kind).written_name)
        return ("field", name), paths.FIRST if meant and meant.isdisjoint(self.repeated[name]) else ("at", paths.ANY)

    def _subobjects(self, cls: str) -> list[str]:
        """The classes of an object of a class and of its base subobjects, one for each (C++17, 4.5 [intro.object] 2).
        Of a base that is a parameter of a template, those that may be given for it. Virtual bases are counted as
        others: there may be several where not all are virtual.
        """
        found = [cls]
        stack = [(cls, frozenset({cls}))]
        while stack and len(found) < _MAX_SUBOBJECTS:
            current, around = stack.pop()
            for base in self._whole_bases.get(current, ()):
                meant = self._meant(base)
                if not meant:
                    meant = self._of_name.get(last(base), frozenset()) | self._given_to(last(current))
                for one in meant - around:
                    found.append(one)
                    stack.append((one, around | {one}))
        return found

    @cached_property
    def _whole_bases(self) -> dict[str, list[str]]:
        """The bases of each class, by its whole name."""
        found: dict[str, list[str]] = {}
        for module in self._in_cpp:
            for cls, bases in module.bases.items():
                if len(bases) > len(found.get(cls, ())):
                    found[cls] = [Type.of(base).written_name for base in bases]
        return found

    def _given_to(self, template: str) -> frozenset[str]:
        """The classes of the program that stand among the arguments of a class template, in the type of anything."""
        words = {word for kind in self._all_types for text in _given(template, kind) for word in _WORDS.findall(text)}
        return frozenset[str]().union(*(self._of_name.get(word, frozenset()) for word in words))

    @cached_property
    def _all_types(self) -> frozenset[str]:
        """The types of variables and members that are templates."""
        kinds = {kind for function in self.program.functions() for kind in function.types.values()}
        for module in self._in_cpp:
            kinds.update(variable.type for variable in module.globals)
            kinds.update(kind for members in module.members.values() for kind in members)
        return frozenset(kind for kind in kinds if "<" in kind)

    @property
    def _in_cpp(self) -> list[ir.Module]:
        return [module for module in self.program.modules if not module.path.endswith(ir.PYTHON)]

    @staticmethod
    def class_of(kind: str) -> str:
        """The class of an object of this type, or of what a pointer of this type leads to, by last name component."""
        return Type.of(kind).last

    def type_of_part(self, kind: str, names: list[str]) -> str:
        """Of a data member of a data member, and so on, of an object of this type; empty where that is not known."""
        for name in names:
            kind = self.type_of_member(Type.of(kind).last, name)
        return kind

    def leads_to_pointers(self, kind: str) -> bool:
        """Whether a pointer of this type leads to pointers, or to objects that hold some."""
        return kind.count("*") > 1 or ("*" in kind and self.holds_pointers(kind))

    def holds_pointers(self, kind: str) -> bool:
        """Whether the class of a type has a pointer among its members, or in one of them."""
        return Type.of(kind).last in self._hold_pointers

    @cached_property
    def _hold_pointers(self) -> frozenset[str]:
        """The classes, by last name component, that have a pointer among their members, or in one of them."""
        members: dict[str, set[str]] = {}
        for module in self.program.modules:
            for cls, fields in module.fields.items():
                members.setdefault(last(cls), set()).update(member.type for member in fields.values())
        found = {cls for cls, kinds in members.items() if any(map(ADDRESS.search, kinds))}
        named = {cls: {Type.of(kind).last for kind in kinds} for cls, kinds in members.items()}
        while more := {cls for cls, names in named.items() if not found.isdisjoint(names)} - found:
            found |= more
        return frozenset(found)

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        """The types of the data members of each class, by its last name component; of those of one name, of all."""
        found: dict[str, tuple[str, ...]] = {}
        for module in self.program.modules:
            for cls, kinds in module.members.items():
                found[last(cls)] = (*found.get(last(cls), ()), *(kind for kind in kinds if not kind.endswith("*")))
        return found

    @cached_property
    def _type_names(self) -> set[str]:
        """The names of the types that the files of a program declare."""
        found = {last(f.cls) for f in self.program.functions() if f.cls is not None}
        for module in self.program.modules:
            found.update(last(cls) for cls in module.members)
            found |= module.types
        return found

    @cached_property
    def _types_of_members(self) -> dict[tuple[str, str], str]:
        """The types of data members by the last name component of their class; empty where two classes differ."""
        found: dict[tuple[str, str], str] = {}
        for module in self.program.modules:
            for cls, members in module.fields.items():
                for name, member in members.items():
                    key = last(cls), name
                    found[key] = member.type if found.get(key, member.type) == member.type else ""
        return found

    @cached_property
    def _bases(self) -> dict[str, set[str]]:
        """The classes that each class is derived from, by its last name component."""
        found: dict[str, set[str]] = {}
        for function in self.program.functions():
            if function.cls is not None:
                found.setdefault(last(function.cls), set()).update(function.bases)
        return found

    @cached_property
    def _derived(self) -> dict[str, list[ir.Function]]:
        """The methods of the classes that are derived from each class, by its last name component."""
        found: dict[str, list[ir.Function]] = {}
        for function in self.program.functions():
            for base in function.bases:
                found.setdefault(Type.of(base).last, []).append(function)
        return found


def _given(template: str, kind: str) -> list[str]:
    """What follows the name of a template in a type."""
    return re.findall(rf"\b{re.escape(template)}\s*<(.*)", kind, re.DOTALL)


def _looks_elsewhere(function: ir.Function) -> bool:
    """Whether a function looks at memory through a pointer, or at a variable of the program."""
    references = frozenset(param.name for param in function.params if param.by_reference)
    return any(
        not _is_own(place, references)
        for stmt in function.statements
        if isinstance(stmt, ir.HostAccess)
        for place in (*stmt.reads, *stmt.writes)
    )


def _is_elsewhere(place: ir.Expr, function: ir.Function) -> bool:
    """Whether a place is in a variable that others see, or behind a pointer or a reference that is no parameter."""
    while isinstance(place, ir.Field | ir.Index):
        place = place.base
    if isinstance(place, ir.Deref):
        given = ("this", *(param.name for param in function.params))
        return not (isinstance(place.base, ir.Var) and place.base.name in given)
    return isinstance(place, ir.Var) and "::" in place.name


def _stores_in_argument(function: ir.Function) -> bool:
    """Whether a constructor stores in what it is given, which is no object of its class."""
    owner = last(function.cls or "")
    given = {param.name for param in function.params if _class_of(param) != owner}
    for stmt in function.statements if last(function.name) == owner else ():
        place = stmt.target if isinstance(stmt, ir.Assign) else None
        while isinstance(place, ir.Field | ir.Index | ir.Deref):
            inner, place = place, place.base
            if isinstance(inner, ir.Deref | ir.Index) and isinstance(place, ir.Var) and place.name in given:
                return True
    return False


def _is_null(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.text in ("nullptr", "NULL", "0")


def _is_own(place: ir.Expr, references: frozenset[str]) -> bool:
    """Whether a place is in a local variable, or a part of the object or of one that a reference parameter is to: what
    a template gives it is what the call of that template reaches.
    """
    while isinstance(place, ir.Field):
        place = place.base
    if isinstance(place, ir.Deref) and isinstance(place.base, ir.Var):
        return place.base.name in ("this", *references)
    return isinstance(place, ir.Var) and "::" not in place.name


def _class_of(param: ir.Param) -> str:
    """The last name component of the class of a parameter, be it a reference."""
    of = Type.of(param.type)
    return of.last if of.is_direct else ""


def _is_of(param: ir.Param, cls: str) -> bool:
    return bool(cls) and _class_of(param) == cls
