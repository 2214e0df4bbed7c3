"""The difference between two lowered programs, as an overlay that the engine can prove.

This is the independent half of the validation: the text that would be written is parsed and lowered again, and what
comes out is laid beside the original, statement by statement. Whatever is neither the same nor a step that the engine
can run in the rewritten program alone is `Different`: such a rewrite is not proved.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from types import MappingProxyType

from cudafix import ir
from cudafix.ir import blocks_of, places_in, values_in, walk
from cudafix.ir.link import last
from cudafix.models import Tables
from cudafix.models.api import Api, Effect, Waits, roles_of
from cudafix.ordering.facts.getters import put
from cudafix.ordering.interpreter.program import Key, Overlay, key_of, stream_arguments

_STREAM_ORDERED = {"cudaMallocAsync": ("cudaMalloc", 2), "cudaFreeAsync": ("cudaFree", 1)}
_MAY_APPEAR = frozenset(
    {
        Effect.SYNC_STREAM,
        Effect.SYNC_EVENT,
        Effect.SYNC_DEVICE,
        Effect.RECORD,
        Effect.WAIT,
        Effect.EVENT_CREATE,
        Effect.EVENT_DESTROY,
        Effect.STREAM_DESTROY,
        Effect.FREE,
        Effect.RESET,
    }
)
_MAY_VANISH = frozenset(
    {
        Effect.STREAM_DESTROY,
        Effect.EVENT_DESTROY,
        Effect.FREE,
        Effect.RESET,
        Effect.SYNC_STREAM,
        Effect.SYNC_EVENT,
        Effect.SYNC_DEVICE,
        Effect.WAIT,
    }
)
_ASKED = frozenset(("out", "-", "device", "stream", "event", "kind"))
_ONLY_READ = frozenset(("-", "device", "pool", "stream", "event", "kind", "hr"))
_OFFSET = re.compile(r"@\d+")
_TEMPORARY = re.compile(r"%\d+")
_ANONYMOUS = re.compile(r"(?<=\b__anonymous_)\d+")
_NAME = re.compile(r"name='([^']*(?:@\d+|%\d+)[^']*)'")
_PLACE = re.compile(r"(?<=@)\d+")


def _asks_or_sets_up(api: Api) -> bool:
    """Whether a call that orders nothing changes nothing either, but for the pools: it only asks, or returns no status.
    Others set how kernels, graphs and libraries work from then on.
    """
    if api.effect is not Effect.NOTHING or api.waits is not Waits.NONE:
        return False
    roles = frozenset(role.rstrip("*") for role in api.roles)
    return not api.looks or not roles.isdisjoint(("pool", "pool_out")) or ("out" in roles and roles <= _ASKED)


def _names_in(stmt: ir.Stmt) -> str:
    match stmt:
        case ir.Call():
            _, arity = _STREAM_ORDERED.get(stmt.callee, (stmt.callee, len(stmt.args)))
            return repr((stmt.args[:arity], stmt.receiver, stmt.result))
        case ir.Assign():
            return repr((stmt.target, stmt.value))
        case ir.Declare():
            return repr(stmt.var)
        case ir.Launch():
            return repr((stmt.args, stmt.stream))
        case _:
            return ""


class Different(Exception):
    """The rewritten program differs in a way that is not understood. The message says where and how."""


def align(
    before: Sequence[ir.Module],
    after: Sequence[ir.Module],
    tables: Tables,
    shared: Mapping[str, Set[str]] = MappingProxyType({}),
    named_by: NamedBy = lambda function, call: None,
    stands_for: StandsFor = lambda function, call: None,
) -> Overlay:
    """The overlay that turns the program `before` into `after`. `shared` are functions of headers that do nothing but
    set up the pool, by the files that may call them; `named_by` tells the place that a call of `after` only says the
    value of, and `stands_for` the call of the runtime that the constructor or destructor of an object is. Raises
    Different.
    """
    overlay = Overlay()
    if len(before) != len(after):
        raise Different("the files are not the same ones")
    globals_ = frozenset(variable.name for module in before for variable in module.globals)
    added = frozenset(variable.name for module in after for variable in module.globals) - globals_
    known: dict[str, set[str]] = defaultdict(lambda: set(globals_))  # by function: its lambdas share its variables
    changed_files = (old for old, new in zip(before, after, strict=True) if old is not new)
    for function in (function for module in changed_files for function in module.functions):
        known[_outermost(function)].update(map(_plain, _variables(function)))

    @cache
    def members() -> Set[str]:
        parts = (part for module in before for function in module.functions for part in _parts(function))
        return {part.name for part in parts if isinstance(part, ir.Field)}

    kept: list[tuple[Sequence[ir.Function], frozenset[str]]] = []  # what is in both, and the names of what is not
    names = {name for module in before for name in _names(module)}
    for new in after:
        came = [f for f in new.functions if _may_set_up(f) and last(f.name) not in names]
        set_ups = frozenset(last(f.name) for f in came)
        kept.append(([f for f in new.functions if f not in came], set_ups | shared.get(new.path, frozenset())))
        for function in came:
            _Alignment(overlay, tables, _EMPTY, function, {}, globals_, added, members).sets_up(function)
    lambdas: dict[str, str] = {}  # their names carry offsets, as those of classes without a name do
    for old, (functions, _) in zip(before, kept, strict=True):
        lambdas.update(
            (b.name, a.name) for a, b in zip(old.functions, functions, strict=False) if _plain(b.name) != b.name
        )
    for old, new, (functions, set_ups) in zip(before, after, kept, strict=True):
        if old is new:
            continue
        if len(old.functions) != len(functions):
            raise Different(f"{old.path}: a function appeared or vanished")
        if len(old.kernels) != len(new.kernels):
            raise Different(f"{old.path}: a kernel appeared or vanished")
        for kernel, other in zip(old.kernels, new.kernels, strict=True):
            if kernel.facts() != other.facts():
                raise Different(f"{old.path}: the kernel `{kernel.name}` changed")
        for function, changed in zip(old.functions, functions, strict=True):
            if _plain(function.name) != _plain(changed.name) or function.also != changed.also:
                raise Different(f"{old.path}: `{function.name}` became `{changed.name}`")
            visible = known[_outermost(function)]
            alignment = _Alignment(
                overlay, tables, function, changed, lambdas, visible, added, members, set_ups, named_by, stands_for
            )
            alignment.block(function.body, changed.body)
            if sorted(alignment.freed_before) != sorted(alignment.freed_after):
                raise Different(f"`{function.name}`: other memory is freed, or it is freed at other places")
    return overlay


NamedBy = Callable[[ir.Function, ir.Call], ir.Expr | None]
StandsFor = Callable[[ir.Function, ir.Call], ir.Call | None]
_EMPTY = ir.Function("", (), (), ir.Span("", 0, 0))


def only_sets_up(function: ir.Function, tables: Tables) -> bool:
    """Whether a function takes nothing, orders nothing, and writes nothing but the pool and what it declares."""
    if function.problems or function.params or function.cls is not None:
        return False
    named = {name for name in _variables(function) if not name.startswith(f"{function.name}::")}  # its own, if static
    known = set(map(_plain, named)) - set(map(_plain, function.types))
    fields = {part.name for part in _parts(function) if isinstance(part, ir.Field)}
    alignment = _Alignment(Overlay(), tables, _EMPTY, function, {}, known, frozenset(), lambda: fields)
    try:
        alignment.sets_up(function)
    except Different:
        return False
    return True


def _may_set_up(function: ir.Function) -> bool:
    """Whether it is a function, and no lambda, that its own file alone can call, with nothing."""
    return function.internal and function.cls is None and not function.params and ir.LAMBDA not in function.name


def _names(module: ir.Module) -> Iterator[str]:
    """Whatever a program may call by a name that it gives it."""
    for function in module.functions:
        yield last(function.name)
        yield from (last(s.callee) for s in function.statements if isinstance(s, ir.Call))
    yield from (last(kernel.name) for kernel in module.kernels)


def _plain(text: str) -> str:
    return _TEMPORARY.sub("%", _OFFSET.sub("@", _ANONYMOUS.sub("", text)))


def _outermost(function: ir.Function) -> str:
    return function.name.partition(ir.LAMBDA)[0]


def _parts(function: ir.Function) -> Iterator[ir.Expr]:
    for stmt in function.statements:
        yield from values_in(stmt)
        for place in places_in(stmt):
            yield from ir.variables(place)


def _variables(function: ir.Function) -> Set[str]:
    """The variables that a function has or names, without its temporaries: those are new in each lowering."""
    named = (part.name for part in _parts(function) if isinstance(part, ir.Var))
    return {name for name in (*function.types, *named) if not name.startswith("%")}


def _touches(places: Iterable[ir.Expr], streams: frozenset[str]) -> str:
    """The memory that host code touches, less stream handles and members of local structs, which order nothing."""
    found = (
        p
        for p in places
        if isinstance(p, ir.Index | ir.Deref) or any(isinstance(e, ir.Index | ir.Deref) for e in ir.variables(p))
    )
    return "; ".join(sorted(text for p in found if (text := _plain(repr(p))) not in streams))


def _words(stmt: ir.Stmt) -> str:
    """What a statement is called in a message."""
    match stmt:
        case ir.Call():
            return f"a call of `{_plain(stmt.callee)}`"
        case ir.Launch():
            return f"a launch of `{stmt.kernel}`"
        case ir.Assign():
            return "an assignment"
        case ir.Declare():
            return f"the variable `{stmt.var.name.split('@')[0]}`"
        case _:
            return "a statement"


def _shape(stmt: ir.Stmt, streams: frozenset[str] = frozenset()) -> object:
    """What makes two statements the same one in both programs."""
    match stmt:
        case ir.Call():
            name, arity = _STREAM_ORDERED.get(stmt.callee, (stmt.callee, len(stmt.args)))
            return "call", _plain(name), _plain(repr((stmt.args[:arity], stmt.receiver, stmt.result)))
        case ir.Launch():
            return "launch", stmt.kernel, _plain(repr((stmt.args, stmt.stream, stmt.pointer)))
        case ir.Assign():
            return "assign", _plain(repr((stmt.target, stmt.value)))
        case ir.Declare():
            return "declare", _plain(stmt.var.name), _plain(stmt.type)
        case ir.HostAccess():
            return "host", _touches(stmt.reads, streams), _touches(stmt.writes, frozenset())
        case ir.Return():
            return "return", _plain(repr(stmt.value))
        case ir.Goto():
            return "goto", stmt.label
        case ir.Label():
            return "label", stmt.name
        case ir.Unknown():
            return "unknown", stmt.why
        case _:
            return type(stmt).__name__, tuple(_shape(inner, streams) for block in blocks_of(stmt) for inner in block)


def _freed(call: ir.Call, api: Api) -> str:
    """What a call frees, and of which kind: `free` is no form of `cudaFree`."""
    kind = "device" if api.memory in ("device", "async") else api.memory
    return f"{kind} {_plain(repr(call.args[:1]))}"


def _stream_arguments(call: ir.Call, tables: Tables) -> Iterable[ir.Expr]:
    api = tables.lookup(call.callee, len(call.args))
    if api is not None and call.receiver is None:
        yield from stream_arguments(api, call.args)


def _written(call: ir.Call, api: Api) -> Iterable[ir.Expr]:
    """What a call may write: whatever it is given the address of, and what it takes as a pointer to write to."""
    for arg, role in zip(call.args, roles_of(api, len(call.args)), strict=False):
        if isinstance(arg, ir.Addr):
            yield arg.base
        elif role not in _ONLY_READ and not isinstance(arg, ir.Const):
            yield arg


def opcodes(old: list[object], new: list[object]) -> list[tuple[str, int, int, int, int]]:
    """How two lists of shapes lie beside each other. Most rewrites touch a few statements: equal ends are cut first."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    middle = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]
    ends = len(old) - tail, len(old), len(new) - tail, len(new)
    return [("equal", 0, head, 0, head), *middle, ("equal", *ends)]


def _runs_where_one_failed(stmt: ir.If, statuses: set[ir.Expr]) -> bool:
    """What it does, it does only where one of the calls that returned these statuses has failed."""
    passes = stmt.then if stmt.test.kind == "ok" else stmt.other
    return not passes and stmt.test.kind in ("ok", "failed", "other") and stmt.test.place in statuses


def _repeated(function: ir.Function) -> set[Key]:
    """The statements that a macro writes which is defined outside of the function, at each use."""
    path, start, end = function.span  # in there, several parts of one expression may have its place
    elsewhere = (s for s in function.statements if s.span.path != path or not start <= s.span.start < end)
    places = Counter(key for key, _ in groupby(map(key_of, elsewhere)))
    return {key for key, count in places.items() if count > 1}


class _Alignment:
    """Lays one function beside its rewritten form. `known` are the variables that the original may name there, without
    offsets, and `members` those of its objects; `added` are globals that only the rewritten program has, and `set_ups`
    functions that do nothing but set up the pool. `named_by`, `stands_for`: see `align`.
    """

    def __init__(
        self,
        overlay: Overlay,
        tables: Tables,
        function: ir.Function,
        changed: ir.Function,
        lambdas: Mapping[str, str],
        known: Set[str],
        added: frozenset[str],
        members: Callable[[], Set[str]],
        set_ups: frozenset[str] = frozenset(),
        named_by: NamedBy = lambda function, call: None,
        stands_for: StandsFor = lambda function, call: None,
    ) -> None:
        self.overlay = overlay
        self.named_by = named_by
        self.stands_for = stands_for
        self.changed = changed
        self.placed: dict[ir.Expr, ir.Expr] = {}  # the places that calls name which only the rewritten program has
        self.set_ups = set_ups
        self.lambdas = lambdas
        self.members = members
        self.tables = tables
        self.function = function
        self.streams = frozenset(
            _plain(repr(arg))
            for s in walk(changed.body)
            if isinstance(s, ir.Call)
            for arg in _stream_arguments(s, tables)
        )
        copied = {name.partition("@")[0]: name for name in function.copies}  # by the closure, before anything is paired
        copies = ((name, copied.get(name.partition("@")[0])) for name in changed.copies)
        self.names: dict[str, str] = {new: old for new, old in copies if old is not None}
        self.moved: dict[str, str] = {}  # the places that ranges name, before and after, and the other way round
        self.moved_back: dict[str, str] = {}
        # what a macro's own text says, at each use; Python repeats a `finally` on each way out
        self.repeated, self.repeated_too = map(_repeated, (function, changed))
        # variables that only the rewritten program has
        self.new = {name for name in _variables(changed) if _plain(name) not in known} | added
        self.statuses: set[ir.Expr] = set()  # what calls that only the rewritten program has return
        self.gone_statuses: set[ir.Expr] = set()  # what calls that only the original has return
        self.freed_before: list[str] = []
        self.freed_after: list[str] = []

    def sets_up(self, function: ir.Function) -> None:
        """Raises Different if a function that only the rewritten program has does more than set up the pool."""
        if function.problems or not self._only_sets_up(function.body):
            raise Different(f"{function.span.path}: the function `{function.name}` appeared")

    def block(self, old: ir.Block, new: ir.Block) -> None:
        nothing = ("host", "", "")
        old = tuple(s for s in old if _shape(s, self.streams) != nothing)
        new = tuple(s for s in new if _shape(s, self.streams) != nothing)
        waiting: list[ir.Call] = []
        for tag, i1, i2, j1, j2 in opcodes(self._shapes(old), self._shapes(new)):
            gone, came = list(old[i1:i2]), list(new[j1:j2])
            if tag == "equal":
                for n, (a, b) in enumerate(zip(gone, came, strict=True), i1):
                    self._before(old[n:], waiting)
                    waiting = []
                    self._pair(a, b)
                continue
            came = self._rejoined(gone, came)
            while came:
                b = came.pop(0)
                if self._only_names(b, (*came, *new[j2:])):
                    continue
                match = next((a for a in gone if self._stands_for(a, b)), None)
                if match is not None:
                    for a in gone[: gone.index(match)]:
                        self._vanished(a)
                    gone = gone[gone.index(match) + 1 :]
                    self._before(old[i2 - len(gone) - 1 :], waiting)
                    waiting = []
                    self._pair(match, b)
                else:
                    waiting += self._appeared(b)
            for a in gone:
                self._vanished(a)
        if waiting:
            kept = [s for s in old if key_of(s) not in self.overlay.removed]
            if not kept:
                raise Different(f"`{self.function.name}`: statements appear where there were none")
            if self._is_apart(kept[-1], waiting):
                raise Different(
                    f"`{self.function.name}`: statements appear behind one that a macro writes several times"
                )
            self.overlay.after.setdefault(key_of(kept[-1]), waiting)

    def _stands_for(self, old: ir.Stmt, new: ir.Stmt) -> bool:
        if isinstance(old, ir.HostAccess):
            return _shape(old, self.streams) == _shape(new, self.streams)
        return type(old) is type(new) and bool(blocks_of(old)) and not self._only_in_new(new)

    def _rejoined(self, gone: Sequence[ir.Stmt], came: list[ir.Stmt]) -> list[ir.Stmt]:
        """What came, with host code in one piece that is one access in the original, where only lines that set up the
        pool break it apart. They order nothing: whether they run before or between is the same.
        """
        at = [n for n, stmt in enumerate(came) if isinstance(stmt, ir.HostAccess)]
        if len(at) < 2:
            return came
        pieces = [stmt for stmt in came if isinstance(stmt, ir.HostAccess)]
        reads = dict.fromkeys(place for piece in pieces for place in piece.reads)
        writes = dict.fromkeys(place for piece in pieces for place in piece.writes)
        whole = ir.HostAccess(tuple(reads), tuple(writes), pieces[0].span)
        between = [stmt for stmt in came[at[0] : at[-1]] if not isinstance(stmt, ir.HostAccess)]
        if not any(self._stands_for(stmt, whole) for stmt in gone) or not self._only_sets_up(between):
            return came
        return [*came[: at[0]], *between, whole, *came[at[-1] + 1 :]]

    def _shapes(self, block: ir.Block) -> list[object]:
        """The shapes of a block's statements; a check of a status goes with the call that returned it."""
        shapes: list[object] = []
        for stmt in block:
            shape = _shape(stmt, self.streams)
            if isinstance(stmt, ir.If) and shapes and stmt.test.kind in ("ok", "failed"):
                shape = shape, shapes[-1]
            shapes.append(shape)
        return shapes

    def _before(self, stmts: Sequence[ir.Stmt], calls: list[ir.Call]) -> None:
        """Calls appear in front of the first of some statements, or behind variables that a macro declares and sets."""
        if not calls:
            return
        for stmt in stmts:
            if not self._is_apart(stmt, calls):
                self.overlay.before.setdefault(key_of(stmt), calls)
                return
            if not isinstance(stmt, ir.Declare | ir.Assign):
                break
        if self._only_sets_up(calls):  # it orders nothing, wherever it runs
            return
        raise Different(f"`{self.function.name}`: statements appear before one that a macro writes again and again")

    def _is_apart(self, stmt: ir.Stmt, calls: Sequence[ir.Call]) -> bool:
        """Whether a macro writes a statement several times, and what appears there only at one of its uses."""
        return key_of(stmt) in self.repeated and not all(key_of(call) in self.repeated_too for call in calls)

    def _pair(self, old: ir.Stmt, new: ir.Stmt) -> None:
        if not blocks_of(old):
            self._same_names(old, new)
        if isinstance(old, ir.Call) and isinstance(new, ir.Call):
            renamed = self._renamed(new)
            if (old.callee, _plain(repr(old.args))) != (renamed.callee, _plain(repr(renamed.args))):
                self.overlay.replaced[key_of(old)] = renamed
            if old.look is not new.look:
                raise Different(f"`{old.callee}`: what the program does with the status changed")
            return
        inner_old, inner_new = blocks_of(old), blocks_of(new)
        if isinstance(old, ir.Loop) and isinstance(new, ir.Loop) and not self._is_same_range(old, new):
            raise Different(f"`{self.function.name}`: a loop changed")
        if isinstance(old, ir.Loop) and isinstance(new, ir.Loop) and old.index is not None and new.index is not None:
            self.names[new.index.name] = old.index.name
        if isinstance(old, ir.If) and isinstance(new, ir.If) and old.test.kind != new.test.kind:
            raise Different(f"`{self.function.name}`: a condition changed")
        if len(inner_old) != len(inner_new):
            raise Different(f"`{self.function.name}`: a branch appeared or vanished")
        for a, b in zip(inner_old, inner_new, strict=True):
            self.block(a, b)

    def _is_same_range(self, old: ir.Loop, new: ir.Loop) -> bool:
        """Whether two loops have as many rounds. A count that is not known is named by its place, which the rewrite has
        moved: two of one place have to stay two of one place.
        """
        mine, theirs = old.range or "", new.range or ""
        if (_PLACE.sub("", mine), old.forever) != (_PLACE.sub("", theirs), new.forever):
            return False
        moved = zip(_PLACE.findall(mine), _PLACE.findall(theirs), strict=True)
        return all(self.moved.setdefault(a, b) == b and self.moved_back.setdefault(b, a) == a for a, b in moved)

    def _same_names(self, old: ir.Stmt, new: ir.Stmt) -> None:
        """Names carry offsets, which the rewrite has moved: what stands at the same place is the same variable."""
        mine, theirs = _NAME.findall(_names_in(old)), _NAME.findall(_names_in(new))
        self.names.update(zip(theirs, mine, strict=False))

    def _vanished(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.Call):
            api = self.tables.lookup(stmt.callee, len(stmt.args))
            if api is not None and api.effect in _MAY_VANISH:
                if api.effect is Effect.FREE:
                    self.freed_before.append(_freed(stmt, api))
                self.overlay.removed.add(key_of(stmt))
                if stmt.result is not None:
                    self.gone_statuses.add(stmt.result)
                return
        if isinstance(stmt, ir.Assign) and stmt.value in self.gone_statuses:
            self.gone_statuses.add(stmt.target)
            return
        if isinstance(stmt, ir.If) and stmt.test.place in self.gone_statuses:
            return  # the check of a call that is gone
        if not isinstance(stmt, ir.Declare):
            raise Different(f"`{self.function.name}`: {_words(stmt)} vanished")

    def _only_in_new(self, stmt: ir.Stmt, new: Set[str] = frozenset()) -> bool:
        """A branch that does nothing but set up the pool, and look whether that has failed. `new`: declared around."""
        return all(self._only_sets_up(block, new) for block in blocks_of(stmt))

    def _only_sets_up(self, block: Sequence[ir.Stmt], new: Set[str] = frozenset()) -> bool:
        statuses: set[ir.Expr] = set()
        new = new | {stmt.var.name for stmt in block if isinstance(stmt, ir.Declare)}
        for stmt in block:
            if isinstance(stmt, ir.Call) and stmt.result is not None:
                statuses.add(stmt.result)
            elif isinstance(stmt, ir.Assign) and stmt.value in statuses:
                statuses.add(stmt.target)
                continue
            elif isinstance(stmt, ir.If) and _runs_where_one_failed(stmt, statuses):
                continue
            if not (self._harmless(stmt, new) if not blocks_of(stmt) else self._only_in_new(stmt, new)):
                return False
        return True

    def _harmless(self, stmt: ir.Stmt, new: Set[str] = frozenset()) -> bool:
        """It orders nothing, and writes nothing but variables that only the rewritten program has."""
        match stmt:
            case ir.Declare():
                return True
            case ir.Call():
                api = self.tables.lookup(stmt.callee, len(stmt.args))
                if self._calls_set_up(stmt):
                    return True
                return api is not None and _asks_or_sets_up(api) and self._only_new(_written(stmt, api), new)
            case ir.Assign():
                return self._only_new([stmt.target], new)
            case ir.HostAccess():
                return self._only_new(stmt.writes, new)
            case _:
                return False

    def _only_new(self, places: Iterable[ir.Expr], new: Set[str]) -> bool:
        return all(self._is_new(place, new) for place in places)

    def _is_new(self, place: ir.Expr, new: Set[str]) -> bool:
        """Whether only the rewritten program has a place. A temporary belongs to the call that sets it."""
        if isinstance(place, ir.Field):
            return place.name not in self.members() or self._is_new(place.base, new)
        return isinstance(place, ir.Var) and (place.name in self.new or place.name in new or place.name[:1] == "%")

    def _appeared(self, stmt: ir.Stmt) -> list[ir.Call]:
        if isinstance(stmt, ir.Declare):
            if stmt.var.name not in self.function.types:
                self.names[stmt.var.name] = f"%new {stmt.var.name}"
            self.new.add(stmt.var.name)
            return []
        if isinstance(stmt, ir.Call):
            if self._calls_set_up(stmt):
                return []
            if stmt.receiver is not None and self._is_new(stmt.receiver, frozenset()):
                stmt = self.stands_for(self.changed, stmt) or stmt
            api = self.tables.lookup(stmt.callee, len(stmt.args))
            if api is not None and self._may_appear(stmt, api):
                if api.effect is Effect.FREE:
                    self.freed_after.append(_freed(stmt, api))
                if stmt.result is not None:
                    self.statuses.add(stmt.result)
                return [self._renamed(stmt)]
        elif isinstance(stmt, ir.Assign) and stmt.value in self.statuses:
            self.statuses.add(stmt.target)
            return []
        elif isinstance(stmt, ir.If):
            if _runs_where_one_failed(stmt, self.statuses) or self._only_in_new(stmt):
                return []
        elif isinstance(stmt, ir.Assign | ir.HostAccess) and self._harmless(stmt):
            return []
        raise Different(f"`{self.function.name}`: {_words(stmt)} appeared, which is not understood")

    def _only_names(self, stmt: ir.Stmt, behind: Sequence[ir.Stmt]) -> bool:
        """Whether a statement only finds out what a place holds, for the next one that does more: the argument of that.
        Until then nothing is stored anywhere.
        """
        if not isinstance(stmt, ir.Call) or stmt.args or not isinstance(stmt.result, ir.Var):
            return False
        place = self._at(stmt)
        if place is None:
            return False
        self.placed[stmt.result] = place
        for n, user in enumerate(behind):
            if isinstance(user, ir.Call) and any(stmt.result in ir.variables(arg) for arg in user.args):
                return True
            reads_only = isinstance(user, ir.HostAccess) and not user.writes
            if not reads_only:
                return isinstance(user, ir.Call) and self._only_names(user, behind[n + 1 :])
        return False

    def _at(self, call: ir.Call) -> ir.Expr | None:
        """The place that a call names."""
        on = put(call.receiver, self.placed) if call.receiver is not None else None
        return self.named_by(self.changed, replace(call, receiver=on))

    def _calls_set_up(self, call: ir.Call) -> bool:
        return call.receiver is None and not call.args and last(call.callee) in self.set_ups

    def _may_appear(self, call: ir.Call, api: Api) -> bool:
        """Whether the engine can run a call in the rewritten program alone: it writes no variable that both have."""
        if api.effect in _MAY_APPEAR and api.effect is not Effect.EVENT_CREATE:
            return True
        may = api.effect is Effect.EVENT_CREATE or _asks_or_sets_up(api)
        return may and self._only_new(_written(call, api), frozenset())

    def _renamed(self, call: ir.Call) -> ir.Call:
        return ir.Call(
            self.lambdas.get(call.callee, call.callee),
            tuple(self._rename(a) for a in call.args),
            call.span,
            call.name_span,
            call.close,
            call.site,
            call.arg_spans,
            self._rename(call.receiver) if call.receiver is not None else None,
            self._rename(call.result) if call.result is not None else None,
            call.look,
            call.template_args,
            call.scope,
        )

    def _rename(self, expr: ir.Expr) -> ir.Expr:
        match expr:
            case ir.Var() if expr in self.placed:
                return self._rename(self.placed[expr])
            case ir.Var(name):
                return ir.Var(self.names.get(name, name))
            case ir.FuncRef(name):
                return ir.FuncRef(self.lambdas.get(name, name))
            case ir.Field(base, name):
                return ir.Field(self._rename(base), name)
            case ir.Index(base, index):
                return ir.Index(self._rename(base), self._rename(index))
            case ir.Deref(base):
                return ir.Deref(self._rename(base))
            case ir.Addr(base):
                return ir.Addr(self._rename(base))
            case ir.Offset(base):
                return ir.Offset(self._rename(base))
            case ir.Choice(options):
                return ir.Choice(self._all(options))
            case ir.Opaque(parts):
                return ir.Opaque(self._all(parts))
            case _:
                return expr

    def _all(self, exprs: Iterable[ir.Expr]) -> tuple[ir.Expr, ...]:
        return tuple(self._rename(e) for e in exprs)
