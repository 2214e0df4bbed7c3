"""The expressions in scope at a call that name a stream for certain, as a rewrite may write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from cudafix import ir
from cudafix.ir.link import last
from cudafix.ordering.facts import paths, ranges
from cudafix.ordering.facts.classes import Classes
from cudafix.ordering.facts.getters import Getters
from cudafix.ordering.facts.plain import may_be_handle
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.frames import State
from cudafix.ordering.interpreter.machine import Machine
from cudafix.ordering.interpreter.program import StreamName
from cudafix.ordering.interpreter.state import Stream
from cudafix.project.stream_names import StreamText

_SPELLED = re.compile(r"[A-Za-z_][\w:@]*")  # what the program itself calls a variable
_PRIVATE = re.compile(r"^m_|_$")
_KEY = re.compile(r'c\|"[^"\\\n@:{}]*"')  # of a dictionary, a plain text
_DEPTH = 4
"""How far streams of a Python program are looked for: `self.lanes[i].stream.ptr`."""


def named_streams(machine: Machine, state: State) -> dict[StreamName, Stream]:
    """The expressions in scope here that name a stream for certain. What is 0 may be a stream elsewhere: then it is
    the default stream here. The one that the configuration asks for comes first.
    """
    found: dict[StreamName, Stream] = {StreamName(ir.Const("0"), "0"): machine.default_of(state)}
    scope: dict[str, ir.Var] = {}  # the variables in scope, as statements spell them
    hidden: dict[str, str] = {}
    frame, file = machine.frame, machine.frame.function.span.path
    mentioned = ir.expressions_in(frame.function) if frame.is_lambda else ()
    shared = {e.name for e in mentioned if isinstance(e, ir.Var)}  # a lambda may capture nothing else
    here = {r for r, _ in state.env if r[0] == "local" and (r[1] == frame.name or r[2] in shared)}
    here = {r for r in here if r[1] == frame.name or machine.root(r[2]) == r}
    here = {r for r in here if not (r[1] == frame.name and _is_of_a_closure(machine, r[2])) and r[2][:5] != "this@"}
    for root, _ in state.env:  # an inner variable hides an outer one of the same name
        if root in here:
            hidden[root[2].split("@")[0]] = root[2]
    indices = {
        value.text: name
        for (kind, frame, name), inner in state.env
        if kind == "local" and frame == machine.frame.name and not name.startswith((ir.ROUND, "%"))
        for value in inner.get((), ())
        if isinstance(value, mem.Number) and (value.text.startswith("k|") or _is_picked(machine, value))
    }
    if not machine.in_python:
        _choose_elements(machine, state, indices.values())
    deep = machine.in_python and _holds_streams(state)
    ended = state.ended
    for root, inner in sorted(state.env, key=lambda item: item[0][0] != "local"):  # a local name is the nearest
        if root[0] == "local" and (root not in here or hidden[root[2].split("@")[0]] != root[2]):
            continue
        if root[0] == "global" and (
            root[1] not in ("", file) or not machine.scopes.is_declared(root[2], frame.function)
        ):
            continue
        if root[0] == "memory" or not _SPELLED.fullmatch(root[2]) or (frame.function.unbound and root[2] == "this"):
            continue
        if root[0] == "local":
            var, text = ir.Var(root[2]), last(root[2].split("@")[0])
        else:
            var, text = ir.Var(f"::{root[2]}"), _spelled(machine, root[2])
        if not text:
            continue
        scope.setdefault(text, var)
        punned = {path for path in inner if path and state.env.puns and state.env.puns.has(root, inner)}
        for path, values in inner.items():
            if len(values) == 1 and path not in punned:
                (value,) = values
                stream = _stream_in(machine, value, state, ended)
                if stream is not None:
                    name = _spell(var, text, _written(machine, path), indices) if _may_name(machine, path) else None
                    if name is not None and may_be_handle(machine.type_of(name.expr)):
                        found.setdefault(name, stream)
                elif not path and deep:
                    _inside(machine, state, value, StreamName(var, text), found, indices, ended)
                elif not path and not machine.in_python and isinstance(value, mem.Ref | mem.Ptr):
                    _members(machine, state, value, var, text, found, ended)
    if not machine.in_python:
        for name in _named_by_getters(machine):
            variable = next(e for e in ir.variables(name.expr) if isinstance(e, ir.Var))
            stream = _certain(machine, state, name.expr, ended) if variable in scope.values() else None
            if stream is not None and stream not in found.values():
                found.setdefault(name, stream)
    asked = machine.asked(file, frame.function.name.partition(ir.LAMBDA)[0]) if not machine.in_python else None
    place = _meant_by(machine, asked, scope) if asked is not None else None
    if asked is None or place is None or not (stream := _certain(machine, state, place, ended)):
        return found
    name = StreamName(place, asked.text)
    return {name: stream} | {other: one for other, one in found.items() if other != name}


def _named_by_getters(machine: Machine) -> tuple[StreamName, ...]:
    """The places that the current function names by calls which only return what is there, `lane.stream()`: what it
    writes once compiles, whoever may name the member.
    """
    function, getters = machine.frame.function, Getters.of(machine.program, machine.tables)

    def found(function: ir.Function) -> tuple[StreamName, ...]:
        names: dict[StreamName, None] = {}
        for call in (s for s in function.statements if isinstance(s, ir.Call) and not s.args):
            place = getters.named_by(function, call)
            around = _receiver(call.receiver, function) if place is not None else None
            if place is not None and around is not None and isinstance(place, ir.Field):
                names[StreamName(place, f"{around}{last(call.callee)}()")] = None
        return tuple(names)

    return function.kept("named by getters", found)


def _receiver(place: ir.Expr | None, function: ir.Function) -> str | None:
    """How an object is written in front of the name of a method that is called on it, None if that is not known."""
    match place:
        case ir.Deref(ir.Var("this")):
            return ""
        case ir.Var(name) if _SPELLED.fullmatch(name):
            return f"{last(name.split('@')[0])}."
        case ir.Deref(ir.Var(name)) if _SPELLED.fullmatch(name):
            return f"{last(name.split('@')[0])}{'.' if _is_reference(function, name) else '->'}"
        case ir.Field(base, name) if (around := _receiver(base, function)) is not None:
            return f"{around}{name}."
        case _:
            return None


def _is_reference(function: ir.Function, name: str) -> bool:
    return function.types.get(name, "").endswith("&") or any(p.by_reference and p.name == name for p in function.params)


def _certain(machine: Machine, state: State, place: ir.Expr, ended: frozenset[Stream]) -> Stream | None:
    """The one stream that a place holds for certain; None if it may hold another one, or may have `ended`, or a pointer
    on the way there may be null or lead elsewhere.
    """
    followed = (part.base for part in ir.variables(place) if isinstance(part, ir.Deref))
    if any(len(machine.values(state, pointer)) != 1 for pointer in followed):
        return None
    values = machine.values(state, place)
    cells = machine.cells(state, place)
    if len(values) != 1 or any(state.env.puns and state.env.puns.has(root, state.env[root]) for root, _ in cells):
        return None
    return _stream_in(machine, next(iter(values)), state, ended)


def _meant_by(machine: Machine, asked: StreamText, scope: Mapping[str, ir.Var]) -> ir.Expr | None:
    """The place that an expression of the configuration means in the current function; None where it means none, or
    that is not known.
    """
    function, classes = machine.frame.function, machine.classes
    getters = Getters.of(machine.program, machine.tables)
    owner = Classes.class_of(function.cls or "")
    this = ir.Deref(ir.Var("this")) if function.cls is not None and "this" in scope else None
    place: ir.Expr | None = None
    if any(name.split("@")[0] == asked.base for name in function.types):  # a variable of a function hides all others
        place = None if asked.calls or "::" in (named := scope.get(asked.base, ir.Var("::"))).name else named
    elif asked.calls:
        place = getters.place(function, asked.base, this) if this is not None and "::" not in asked.base else None
        place = place or getters.place(function, asked.base, None)
    elif asked.base == "this":
        place = ir.Var("this") if this is not None else None
    elif this is not None and classes.type_of_member(owner, asked.base):
        place = ir.Field(this, asked.base)
    elif not (owner and "::" not in asked.base and classes.has_member(owner, asked.base)):
        place = scope.get(asked.base)
    for step in asked.steps:
        if place is None:
            return None
        kind = getters.type_of(function, place) if place != ir.Var("this") else f"{function.cls} *"
        held = place if not (step.arrow or kind.endswith("&")) else ir.Deref(place)
        if step.element:
            place = ir.Index(held, ir.Const(step.name))
        elif step.calls:
            place = getters.place(function, step.name, held)
        elif held == this or _may_name(machine, (("field", step.name),)):
            place = ir.Field(held, step.name)
        else:
            return None
    return place


def _choose_elements(machine: Machine, state: State, indices: Collection[str]) -> None:
    """Let the streams that this round uses for certain be told apart from those of others."""
    function = machine.frame.function
    used = function.kept("elements of rounds", ranges.elements_of_rounds) if indices else {}
    for name in used.keys() & set(indices):
        for place in used[name]:
            if mem.has_stream(machine.values(state, place)):
                machine.streams(state, place)


def _is_of_a_closure(machine: Machine, name: str) -> bool:
    """Whether a variable of this call is the copy that the closure of a lambda has: only the lambda can name it."""
    return (machine.frame.function.name, name) in machine.closures


def _spelled(machine: Machine, name: str) -> str:
    """A variable at namespace scope or a static member, as the current function can name it; nothing if it cannot: it
    is of another function, or of a class and no function outside of that names it.
    """
    function = machine.frame.function
    scope, _, own = name.rpartition("::")
    if machine.in_python or scope == function.name:
        return own
    if scope in machine.scopes.functions or (
        scope
        and scope != function.cls
        and scope in machine.scopes.classes
        and name not in machine.scopes.members_named_outside
    ):
        return ""
    if scope not in machine.scopes.classes and machine.scopes.alike[own] > 1:  # a `using` may hide it
        return f"::{name}"
    around, parts = function.name.split("::"), name.split("::")
    shared = next((n for n, (a, b) in enumerate(zip(around, parts, strict=False)) if a != b), len(parts))
    return "::".join(parts[min(shared, len(parts) - 1) :])


def _members(
    machine: Machine,
    state: State,
    pointer: mem.Ref | mem.Ptr,
    var: ir.Expr,
    text: str,
    found: dict[StreamName, Stream],
    ended: frozenset[Stream],
) -> None:
    """Streams in the struct that a variable points to (`p->stream`, `this->stream`, or `*p`) or refers to."""
    cell = mem.at(pointer, "0")
    if cell is None or paths.is_summary(cell[1]):
        return
    root, base = cell  # what is stored at an index that is not known may be there, or not
    inside = state.env[root].items()
    known = ((_written(machine, path[len(base) :]), values) for path, values in inside if path[: len(base)] == base)
    function = machine.frame.function
    is_reference = isinstance(var, ir.Var) and _is_reference(function, var.name)
    for path, values in known:
        if len(values) == 1 and all(kind == "field" for kind, _ in path):
            if state.env.puns and state.env.puns.has(root, state.env[root]):
                continue
            (value,) = values
            place: ir.Expr = ir.Deref(var)
            for _, field_name in path:
                place = ir.Field(place, field_name)
            fields = ".".join(name for _, name in path)
            if text == "this":
                spelled = f"this->{fields}" if function.dependent else fields
            elif is_reference:
                spelled = f"{text}.{fields}" if path else text
            else:
                spelled = f"{text}->{fields}" if path else f"*{text}"
            stream = _stream_in(machine, value, state, ended)
            own = text == "this"
            if stream is not None and _may_name(machine, path[own:]) and (own or _compiles(machine, var, path)):
                found.setdefault(StreamName(place, spelled), stream)


def _inside(
    machine: Machine,
    state: State,
    pointer: mem.Value,
    name: StreamName,
    found: dict[StreamName, Stream],
    indices: dict[str, str],
    ended: frozenset[Stream],
) -> None:
    """Streams in the object of Python that `name` refers to: in its fields, in the elements of a list or
    dictionary, and in what these refer to.
    """
    front = [(name, pointer)]
    for _ in range(_DEPTH):
        deeper: list[tuple[StreamName, mem.Value]] = []
        for outer, one in front:
            cells = list(state.env.inside(one))
            fewer = any(path[-1:] == (("field", ir.SHRUNK),) for path, _ in cells)
            for path, values in cells:
                parts = _parts(outer, path, indices) if len(values) == 1 else ()
                for part in parts if not (fewer and len(path) == 1) else ():
                    (value,) = values
                    stream = _stream_in(machine, value, state, ended)
                    if stream is None:
                        deeper.append((part, value))
                    elif outer.text == "this" or _may_name(machine, path[1:]):
                        found.setdefault(part, stream)
        front = deeper


def _stream_in(machine: Machine, value: mem.Value, state: State, ended: frozenset[Stream]) -> Stream | None:
    """The stream that a place names which holds this value, if it has not `ended`."""
    stream = machine.stream_of(state, value)
    return stream if stream not in ended else None


def _may_name(machine: Machine, path: paths.Path) -> bool:
    """Whether members of an object can be named from outside: not those that are not public, or look so where no class
    is seen that declares them, and that no function outside of a class names.
    """
    declared = machine.scopes.members_declared
    names = {name for kind, name in path if kind == "field"}
    private = {name for name in names if not declared.get(name, _PRIVATE.search(name) is None)}
    return private <= machine.scopes.members_named_outside


def _compiles(machine: Machine, var: ir.Expr, path: paths.Path) -> bool:
    """Whether a variable may be followed to a member: not where it points to `void`, to a class without that member, or
    to one that is only declared in the files that are seen here.
    """
    if not path:
        return True
    cls = machine.classes.class_of(machine.type_of(var))
    around = machine.scopes.defining(cls)
    if not around:
        return cls != "void"
    file = machine.frame.function.span.path
    return machine.classes.has_member(cls, path[0][1]) and machine.scopes.sees(file, around)


def _holds_streams(state: State) -> bool:
    """Whether anything is a stream that was made: all else is named without looking for it."""
    held = (values for _, inner in state.env for values in inner.values())
    return any(isinstance(value, mem.StreamValue) for values in held for value in values)


def _parts(outer: StreamName, path: paths.Path, indices: dict[str, str]) -> Iterator[StreamName]:
    """A field (`outer.field`) or an element (`outer[0]`, `outer["key"]`, `outer[i]`) of an object of Python."""
    if not 1 <= len(path) <= 2 or path[0][0] != "at":
        return
    (_, key), *fields = path
    if fields:
        name = fields[0][1]
        if key == "0" and name.isidentifier():
            text = f"{outer.text}.{name}" if outer.text != "this" else name
            yield StreamName(ir.Field(ir.Deref(outer.expr), name), text)
        return
    word = key.removeprefix("c|")
    if key.isdigit() or _KEY.fullmatch(key):
        yield StreamName(ir.Index(outer.expr, ir.Const(word)), f"{outer.text}[{word}]")
    if word in indices:
        yield StreamName(ir.Index(outer.expr, ir.Var(indices[word])), f"{outer.text}[{indices[word].split('@')[0]}]")


def _is_picked(machine: Machine, value: mem.Number) -> bool:
    """Whether this may be what a round of a loop picks, whose rounds are looked at one by one."""
    return machine.in_python and bool(machine.family) and (value.text.isdigit() or value.text.startswith('"'))


def _written(machine: Machine, path: paths.Path) -> paths.Path:
    """The members and indices that name a cell: without the step that `Classes.path_to` adds where it is known which
    member it is.
    """
    repeated = machine.classes.repeated
    return tuple(
        step
        for n, step in enumerate(path)
        if not (step == paths.FIRST and n and path[n - 1][0] == "field" and path[n - 1][1] in repeated)
    )


def _spell(var: ir.Expr, text: str, path: paths.Path, indices: dict[str, str]) -> StreamName | None:
    place = var
    for kind, name in path:
        if kind == "field":
            place, text = ir.Field(place, name), f"{text}.{name}"
        elif name.isdigit():
            place, text = ir.Index(place, ir.Const(name)), f"{text}[{name}]"
        elif name in indices:
            place, text = ir.Index(place, ir.Var(indices[name])), f"{text}[{indices[name].split('@')[0]}]"
        else:
            return None
    return StreamName(place, text)
