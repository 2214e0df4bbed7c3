"""What variables may hold: cells, values and the points-to environment of the ordering engine.

A *cell* is a place that holds a value: a variable, a field, an array element, the content of a memory object. It is a
root and a path. Array elements are told apart by constant index, and by the index of a canonical loop, where `k` is the
generic round and `o` stands for all other rounds of the same range (docs/explanation/analysis.md: families).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from cudafix import ir
from cudafix.ordering.facts.paths import (
    ANY,
    FIRST,
    Index,
    Path,
    Step,
    array_of,
    is_summary,
    is_unique,
    is_vaguer,
    kind_of,
    overlaps,
    within_itself,
)
from cudafix.ordering.interpreter.state import Event, Stream

Root: TypeAlias = tuple[str, str | int, str]  # ("local", frame, name) | ("global", "", name) | ("memory", object, "")
Cell: TypeAlias = tuple[Root, Path]

_OWNS: Path = (FIRST, ("field", ir.OWNS))
_OWNED: Path = (FIRST, ("field", "ptr"))
_SHRUNK: Step = ("field", ir.SHRUNK)
_SIZE: Step = ("field", ir.SIZE)
REFERRED: Path = (("refers", ""),)  # of the result of a call that has returned a reference: to what
_ANY_PART: Path = (("at", ANY),)  # of an object of which no member tells where its parts are, see `Puns`


class _Unique(type):
    """Values that are equal are one object, as long as somebody holds it: sets of them are compared by identity, and
    what a value is made of is hashed once, when it is looked up.
    """

    __match_args__: tuple[str, ...]  # the names of the fields ([dataclasses])
    _made: WeakValueDictionary[tuple[Hashable, ...], Any]

    def __init__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> None:
        super().__init__(name, bases, names)
        cls._made = WeakValueDictionary()

    def __call__(cls, *fields: Hashable) -> Any:
        found = cls._made.get(fields)
        if found is None:
            rest = cls.__match_args__[len(fields) :]
            if rest:
                return cls(*fields, *(getattr(cls, name) for name in rest))  # what is not given has its default
            found = cls._made[fields] = super().__call__(*fields)
        return found


@dataclass(frozen=True, eq=False)
class Ptr(metaclass=_Unique):
    """A pointer to the memory object with this number; `interior` when it may point past its start."""

    object: int
    interior: bool = False


@dataclass(frozen=True, eq=False)
class Ref(metaclass=_Unique):
    """The address of a cell."""

    cell: Cell


@dataclass(frozen=True, eq=False)
class StreamValue(metaclass=_Unique):
    stream: Stream


@dataclass(frozen=True, eq=False)
class EventValue(metaclass=_Unique):
    event: Event


@dataclass(frozen=True, eq=False)
class Handle(metaclass=_Unique):
    """A library handle, plan, graph or descriptor, by where it was made."""

    name: str


@dataclass(frozen=True, eq=False)
class Number(metaclass=_Unique):
    """A constant or a loop index, by its text; `0` is also the null pointer and the default stream."""

    text: str


@dataclass(frozen=True, eq=False)
class Function(metaclass=_Unique):
    """A function, by its name as it is understood in the file at `path`."""

    name: str
    path: str


@dataclass(frozen=True, eq=False)
class Other(metaclass=_Unique):
    """Anything that is neither a pointer nor a handle."""


@dataclass(frozen=True, eq=False)
class Mixed(Other):
    """Marks the sum of what a function may have stored in a place that was not followed (`facts.alone`)."""


@dataclass(frozen=True, eq=False)
class Computed(Other):
    """Marks a value that was computed from the pointers and handles beside it: a number, or an object that has them."""


@dataclass(frozen=True, eq=False)
class Anywhere(Other):
    """An address that was made of text, bytes or a number: it may be that of any memory, whatever stands beside it."""


@dataclass(frozen=True, eq=False)
class Unset(metaclass=_Unique):
    """Nothing yet: what a cell with a stream may hold where no stream was made on one of the paths."""


Value: TypeAlias = Ptr | Ref | StreamValue | EventValue | Handle | Number | Function | Other | Unset
Values: TypeAlias = frozenset[Value]
_Group: TypeAlias = str | int | tuple[str | int, ...]

_LEADS = (Ptr, Ref, StreamValue, EventValue, Handle, Function, Anywhere)  # what is worth more than a number

OTHER = Other()
MIXED = Mixed()
COMPUTED = Computed()
ANYWHERE = Anywhere()
UNSET = Unset()
ZERO = Number("0")
EXTERNAL = 0  # the memory object that stands for everything that was not seen being allocated
NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset({Ptr(EXTERNAL)})
_OUT_OF_SIGHT: Root = ("memory", EXTERNAL, "")


def stream_of(handle: str) -> Root:
    """Where the stream of a handle of a library is noted, by the name of the handle."""
    return ("global", "", f"stream of {handle}")


@lru_cache(maxsize=1 << 14)
def reference(cell: Cell) -> Ptr | Ref:
    """`&cell`; the address of a memory object's first element is the pointer to the object."""
    root, path = cell
    return Ptr(int(root[1])) if root[0] == "memory" and path in ((FIRST,), ()) else Ref(cell)


@lru_cache(maxsize=1 << 14)
def at(value: Value, key: str) -> Cell | None:
    """The cell of `pointer[key]`, None if the value is no pointer."""
    if isinstance(value, Ptr):
        return ("memory", value.object, ""), (("at", ANY if value.interior else key),)
    if isinstance(value, Ref):
        root, path = value.cell
        if path and path[-1][0] == "at":
            base = path[-1][1]
            if path[-2:-1] and path[-2][0] == "at" and key != "0":  # in which row of an array of arrays it ends
                inner = next((n for n in range(len(path), 0, -1) if path[n - 1][0] != "at"), 0)
                return root, (*path[:inner], *(("at", ANY),) * (len(path) - inner))
            return root, (*path[:-1], ("at", key if base == "0" else base if key == "0" else ANY))
        return root, path
    return None


@lru_cache(maxsize=1 << 12)
def leading(values: Values) -> Values:
    """The pointers, handles and functions among values, and what may be one."""
    return frozenset(v for v in values if isinstance(v, _LEADS))


@lru_cache(maxsize=1 << 12)
def has_pointer(values: Values) -> bool:
    return any(isinstance(v, Ptr | Ref) for v in values)


@lru_cache(maxsize=1 << 12)
def has_handle(values: Values) -> bool:
    return any(isinstance(v, Handle) for v in values)


@lru_cache(maxsize=1 << 12)
def has_stream(values: Values) -> bool:
    return any(isinstance(v, StreamValue) for v in values)


@lru_cache(maxsize=1 << 12)
def has_queue(values: Values) -> bool:
    """Whether a stream or an event is among values."""
    return any(isinstance(v, StreamValue | EventValue) for v in values)


@lru_cache(maxsize=1 << 12)
def has_number(values: Values) -> bool:
    return any(isinstance(v, Number) for v in values)


@lru_cache(maxsize=1 << 14)
def moved(value: Value) -> Value | None:
    """`pointer + n`."""
    if isinstance(value, Ptr):
        return Ptr(value.object, True)
    if isinstance(value, Ref):
        cell = at(value, ANY)
        return Ref(cell) if cell else None
    return value if value is ANYWHERE else None


class Cells(dict[Path, Values]):
    """What the places of one object hold. What is stored in an environment is never changed; a copy is."""

    __slots__ = ("_index", "_of_wholes", "_owns_index", "_sums", "apart")

    def __init__(self, cells: Mapping[Path, Values] | Iterable[tuple[Path, Values]] = ()) -> None:
        super().__init__(cells)
        self._index: Index | None = None
        self._owns_index = False  # no other version has it
        self._sums: dict[tuple[Path, bool], Values] = {}
        self._of_wholes: dict[tuple[Path, bool, bool, bool], Values] = {}  # see `unwritten`
        self.apart: bool | None = None
        """Whether the members were compared (`Puns.has`): with which answer to `Puns.opened`, if so."""

    def copy(self) -> Cells:
        new = Cells(self)
        new._index = self._index
        new.apart = self.apart
        self._owns_index = False
        return new

    def __setitem__(self, path: Path, values: Values) -> None:
        if path not in self:
            self.apart = None
            if self._index is not None:
                if not self._owns_index:
                    self._index, self._owns_index = self._index.copy(), True
                self._index.add(path)
        if self._sums or self._of_wholes:
            self._sums, self._of_wholes = {}, {}
        super().__setitem__(path, values)

    @property
    def index(self) -> Index:
        if self._index is None:
            self._index, self._owns_index = Index(self), True
        return self._index

    def same(self, path: Path) -> Sequence[Path]:
        """The places that may be the one at `path`."""
        if is_unique(path):
            return (path,) if path in self else ()
        if self._index is None and len(self) < _FEW:
            n = len(path)
            return [other for other in self if len(other) == n and overlaps(other, path)]
        return [other for other in self.index.same(path) if other in self]

    def held(self, path: Path) -> Values:
        """What all places hold that may be the one at `path`."""
        if is_unique(path):
            return self.get(path, NOTHING)
        return NOTHING.union(*[self[other] for other in self.same(path)])

    def spread(self, path: Path, values: Values) -> Values:
        """Let the other places that may be the one at `path` hold values too; what that one has held so far, if only as
        a part of what it is in.
        """
        held = self.get(path)
        if held is None:
            held = self.unwritten(path, meeting=True)
        if not is_unique(path):
            known = path in self
            for other in self.same(path):
                if other != path:
                    if not known:
                        held |= self[other]  # a cell that stands for several holds what each of them held
                    self[other] |= values
        return held

    def holds_anywhere(self, path: Path, values: Values) -> None:
        """Let any part of the place at `path` hold values too, whether it has been written before or not."""
        for part in [path, (*path, ("at", ANY)), *self.inside(path)]:
            held = self.get(part)
            if held is None or not values <= held:
                self[part] = values if held is None else held | values

    def inside(self, path: Path) -> Sequence[Path]:
        """The places in one that may be the one at `path`, that one included."""
        if not path:
            return list(self)
        n = len(path)
        if self._index is None and len(self) < _FEW:
            return [other for other in self if other[:n] == path or (len(other) >= n and overlaps(other[:n], path))]
        index = self.index
        return [other for around in index.same(path) for other in index.inside[around]]

    def content(self, path: Path) -> Values:
        """What the places `inside` of one hold together."""
        return self._sum(path, False)

    def sum_of_fields(self, path: Path) -> Values:
        """What the fields of the struct at `path`, by that name, lead to together."""
        return self._sum(path, True)

    def members(self, opened: bool) -> Iterable[frozenset[str]]:
        """The names of the fields of each part, whichever element it is: of those that are compared for the first time
        with this answer to `Puns.opened`.
        """
        if self._index is None and len(self) < _FEW:
            return Index(self).members.values()
        return self.index.not_compared(opened)

    def unwritten(self, path: Path, meeting: bool = False, made: bool = False) -> Values:
        """What a part of a place is if nothing was written there, but something to all of a struct that it is in: what
        came from outside, or the sum of the parts of which it is one.

        Where a path that has written the part is `meeting` one that has not, the sum of a function that was not
        followed, which leads to host memory only, is left out: with it all parts would soon hold all of them. `made`:
        only what the whole was made of, not what it is by itself (a smart pointer is one, and has a deleter).
        """
        if not path:
            return NOTHING
        around, is_field = path[:-1], path[-1][0] == "field"
        key = around, is_field, meeting, made
        found = self._of_wholes.get(key)
        if found is None:
            found = self.unwritten(around, meeting, made)
            whole = self.held(around)
            made_of_others = COMPUTED in whole or Ptr(EXTERNAL) in whole
            if not ((meeting and MIXED in whole) or (made and not made_of_others)):
                if is_field or made_of_others:  # only the sum of its parts is known
                    found |= leading(whole)
                if not is_field:  # an operator of a struct picks from what it holds
                    found |= self.sum_of_fields(around)
            self._of_wholes[key] = found
        return found

    def _sum(self, path: Path, fields: bool) -> Values:
        found = self._sums.get((path, fields))
        if found is None:
            if fields:
                n = len(path)
                places = self if self._index is None and len(self) < _FEW else self.index.inside.get(path, ())
                of_fields = (p for p in places if len(p) > n and p[:n] == path and p[n][0] == "field")
                found = NOTHING.union(*[leading(self[p]) for p in of_fields])
            else:
                found = NOTHING.union(*[self[p] for p in self.inside(path)])
            self._sums[path, fields] = found
        return found


_FEW = 8  # so many places are looked through as fast as they are found in an index
NO_CELLS = Cells()
_NO_ROOTS: dict[Root, Cells] = {}


def _or_unset(values: Values, holds: bool = False) -> Values:
    """What a cell holds after one of two paths has not reached what wrote it. `holds`: it matters which objects a
    variable holds for certain.
    """
    made = (has_stream(values) or (holds and has_pointer(values))) and UNSET not in values
    return values | {UNSET} if made else values


def _sole(path: Path, values: Values) -> Values:
    """What may be written to a place, or not. What number is there then is not known, nor how large a container is: an
    initializer that was not followed may have left any.
    """
    number = has_number(values) and not leading(values)
    return values | {OTHER} if (number or path[-1:] == (_SIZE,)) and OTHER not in values else values


def _perhaps(inner: Cells, holds: bool) -> Cells:
    """The same for all cells of a root."""
    changed = None
    for path, values in inner.items():
        found = _or_unset(_sole(path, values), holds)
        if found is not values and found != values:
            changed = changed if changed is not None else inner.copy()
            changed[path] = found
    return inner if changed is None else changed


def _either(mine: Cells, theirs: Cells, holds: bool) -> Cells:
    """What the cells of a root hold after one of two paths, with `holds` as in `_or_unset`; `mine` itself if the other
    adds nothing.
    """
    merged = None
    for path in mine.keys() - theirs.keys():
        values, other = _perhaps_at(theirs, path, mine[path], holds), _elsewhere(theirs, path)
        if not (values | other) <= mine[path]:
            merged = merged if merged is not None else mine.copy()
            merged[path] = values | other
    for path, values in theirs.items():
        old = mine.get(path)
        if old is None or not values <= old:
            merged = merged if merged is not None else mine.copy()
            given = _perhaps_at(mine, path, values, holds) if old is None else values
            merged[path] = given | _elsewhere(mine, path) if old is None else old | given
    return mine if merged is None else merged


def _elsewhere(inner: Cells, path: Path) -> Values:
    """What a place holds that only the other of two paths has written by this name: an element may have been written by
    another index.
    """
    found = NOTHING if is_unique(path) else inner.held(path)
    if has_queue(found) and any(is_vaguer(other, path) for other in inner.same(path)):
        found |= {OTHER}
    return found | inner.unwritten(path, meeting=True)


def _perhaps_at(inner: Cells, path: Path, values: Values, holds: bool) -> Values:
    """What a place may hold that was written on one path only, and on the other at most by another index."""
    written = not is_unique(path) and has_stream(inner.held(path))
    return _sole(path, values) if written and not holds else _or_unset(_sole(path, values), holds)


class Puns:
    """The objects that are used as objects of more than one class: where their parts are in memory, no member tells
    (C++20, 7.2.1 [basic.lval] 11, 11.4.1 [class.mem] 26). It is one set for all states of a program: what is in it once
    stays there. Once one is written it has one cell, `_ANY_PART`, which holds what all of its parts may hold.
    """

    def __init__(self, apart: Callable[[str, str, bool], bool] | None = None) -> None:
        self._apart = apart
        """Whether two data members are never parts of one object of a class, and may be used as if they were: as the
        text says, or in any case.
        """
        self.opened = False  # addresses were copied as bytes: what they lead to may be used as any class
        self._found: set[Root] = set()
        self._known: dict[frozenset[str], bool] = {}

    def __bool__(self) -> bool:
        return self._apart is not None

    @property
    def version(self) -> tuple[int, bool]:
        """Another one after each change."""
        return len(self._found), self.opened

    def add(self, root: Root) -> None:
        self._found.add(root)

    def open(self) -> None:
        if not self.opened:
            self.opened = True
            self._known.clear()

    def has(self, root: Root, inner: Cells) -> bool:
        """Whether an object with these cells is used as one of several classes."""
        if root in self._found:
            return True
        if self._apart is None or len(inner) < 2 or inner.apart is self.opened:
            return False
        if any(len(names) > 1 and self._differ(names) for names in inner.members(self.opened)):
            self._found.add(root)
            return True
        inner.apart = self.opened
        return False

    def is_known(self, root: Root) -> bool:
        """Whether an object is known to be used as one of several classes."""
        return root in self._found

    def held(self, inner: Cells) -> Values:
        """What a part of such an object may hold: any address in it, or any other one."""
        whole = inner.get(_ANY_PART, NOTHING)
        if ANYWHERE in whole and len(inner) == 1:
            return whole - {MIXED} if MIXED in whole else whole
        return leading(inner.content(())) | {ANYWHERE}

    def _differ(self, names: frozenset[str]) -> bool:
        """Whether some of these members are of different classes."""
        if names not in self._known:
            assert self._apart is not None
            self._known[names] = any(self._apart(a, b, self.opened) for a in names for b in names if a < b)
        return self._known[names]


def _in_one(inner: Cells) -> Cells:
    """The cells of an object that is used as one of several classes, as one."""
    if not inner or (inner.keys() <= {_ANY_PART, REFERRED} and ANYWHERE in inner.get(_ANY_PART, NOTHING)):
        return inner
    parts = (values for path, values in inner.items() if path != REFERRED)
    whole = Cells({_ANY_PART: frozenset({ANYWHERE}).union(*parts)})
    if REFERRED in inner:
        whole[REFERRED] = inner[REFERRED]
    return whole


def _either_in_one(mine: Cells, theirs: Cells) -> Cells:
    """The same after one of two paths; `mine` itself if the other adds nothing."""
    one, other = _in_one(mine), _in_one(theirs)
    both = Cells((path, one.get(path, NOTHING) | other.get(path, NOTHING)) for path in one.keys() | other.keys())
    return mine if both == mine else both


NO_PUNS = Puns()


def _group(root: Root) -> _Group:
    """The variables of one call are kept together, by its name; so are all globals, and all memory."""
    return root[1] if root[0] == "local" else root[:1]


_VERSIONS = count()


class Environment:
    """Cells and their values. A missing cell holds nothing yet; the content of external memory is external.

    Copies are cheap, and where two of them meet again only the calls are compared that have worked in between: groups
    of roots are shared until one side writes.
    """

    __slots__ = ("_groups", "_overlaid", "_own", "gone", "owners", "puns", "several", "version")

    def __init__(self, overlaid: Mapping[str, frozenset[str]] | None = None, puns: Puns | None = None) -> None:
        self._overlaid = overlaid or {}
        """The data members that share memory with others, by name: what is written to one of them is in all."""
        self.puns = puns if puns is not None else NO_PUNS
        self._groups: dict[_Group, dict[Root, Cells]] = {}
        self._own: set[_Group] = set()
        """The groups that no other environment shares. The cells of a root are replaced, never changed."""
        self.gone: frozenset[Cell] = frozenset()
        """The cells that hold nothing that is still there, on whatever path: what they lead to was given back, or they
        were found to be null, and they were not written since.
        """
        self.several: frozenset[Root] = frozenset()
        """The memory that one `new` has made again while somebody held an earlier object: a write is to one of them."""
        self.owners: frozenset[Root] = frozenset()
        """The objects of Python that destroy a stream or an event when they end (`ir.OWNS`)."""
        self.version = next(_VERSIONS)
        """Another one after each change: environments of one version hold the same."""

    def copy(self) -> Environment:
        other = Environment(self._overlaid, self.puns)
        other._groups = self._groups.copy()
        self._own.clear()
        other.gone = self.gone
        other.several = self.several
        other.owners = self.owners
        other.version = self.version
        return other

    def touch(self) -> None:
        """What was found of it is to be found again."""
        self.version = next(_VERSIONS)

    def __iter__(self) -> Iterator[tuple[Root, Cells]]:
        """All roots that hold something."""
        for group in self._groups.values():
            yield from group.items()

    def __getitem__(self, root: Root) -> Cells:
        """The cells of a root; none if it holds nothing."""
        group = self._groups.get(root[1] if root[0] == "local" else root[:1])
        return NO_CELLS if group is None else group.get(root, NO_CELLS)

    def _set(self, root: Root, cells: Cells) -> None:
        if self.puns.is_known(root):
            cells = _in_one(cells)
        self._to_change(_group(root))[root] = cells

    def _to_change(self, key: _Group) -> dict[Root, Cells]:
        """A group that belongs to this environment alone."""
        self.touch()
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = {}
        elif key not in self._own:
            group = self._groups[key] = group.copy()
        self._own.add(key)
        return group

    def is_as(self, other: Environment, variables: Collection[Root] | None) -> bool:
        """Whether two environments hold the same but in local variables: in these too, None: in all."""
        if (self.gone, self.several, self.owners) != (other.gone, other.several, other.owners):
            return False
        if variables is None:
            return self._groups == other._groups
        shared = {key for key in self._groups.keys() | other._groups.keys() if isinstance(key, tuple)}
        return all(self._groups.get(key, _NO_ROOTS) == other._groups.get(key, _NO_ROOTS) for key in shared) and all(
            self[root] == other[root] for root in variables
        )

    def keep_variables(self, other: Environment, but: Collection[Root] | None) -> None:
        """Let local variables hold what they hold in another environment, but for these: None: for all."""
        if but is None:
            return
        for key, theirs in other._groups.items():
            if isinstance(key, tuple):
                continue
            own = {root: cells for root, cells in self._groups.get(key, _NO_ROOTS).items() if root in but}
            self._groups[key] = {root: cells for root, cells in theirs.items() if root not in but} | own
            self._own.add(key)
        self.gone |= {cell for cell in other.gone if cell[0][0] == "local" and cell[0] not in but}
        self.touch()

    def join(self, other: Environment) -> bool:
        changed = not self.gone <= other.gone or not other.several <= self.several
        if changed:
            self.touch()
        self.gone &= other.gone
        self.several |= other.several
        self.owners |= other.owners
        for key in self._groups.keys() | other._groups.keys():
            mine, theirs = self._groups.get(key, _NO_ROOTS), other._groups.get(key, _NO_ROOTS)
            if mine is not theirs:
                changed = self._join_group(key, mine, theirs) or changed
        return changed

    def _join_group(self, key: _Group, mine: dict[Root, Cells], theirs: dict[Root, Cells]) -> bool:
        new: dict[Root, Cells] = {}
        holds = bool(self.owners) and key != ("memory",)  # an object that is not there has no cells
        for root in mine.keys() - theirs.keys():
            if (cells := _perhaps(mine[root], holds)) is not mine[root]:
                new[root] = cells
        for root, cells in theirs.items():
            old = mine.get(root)
            if old is None:
                new[root] = _perhaps(cells, holds)
            elif old is not cells:
                punned = self.puns.is_known(root)
                merged = _either_in_one(old, cells) if punned else _either(old, cells, bool(self.owners))
                if merged is not old:
                    new[root] = merged
        if new:
            self._to_change(key).update(new)
        return bool(new)

    def read(self, cell: Cell) -> Values:
        root, path = cell
        found = self._read(root, path)
        if self.puns and root != _OUT_OF_SIGHT and self.puns.has(root, self[root]):
            return found | self.puns.held(self[root])
        if self._overlaid and root != _OUT_OF_SIGHT and self.is_overlaid(path):
            for part, values in self._through_others(self[root], path, found):
                if not part:
                    found |= values
                elif leading(values):  # it begins with that, or is the array that it is in
                    found |= {ANYWHERE}
        return found

    def class_of(self, cell: Cell) -> Values:
        """What says of which class the object in a place is, where somebody says it."""
        root, path = cell
        return self.read((root, (*path, ("field", ir.CLASS))))

    def is_overlaid(self, path: Path) -> bool:
        """Whether a place is in a member of a union."""
        return any(kind == "field" and name in self._overlaid for kind, name in path)

    def _through_others(self, inner: Cells, path: Path, held: Values) -> Iterator[tuple[Path, Values]]:
        """What is in a place in a member of a union because another member was written, as paths relative to it: the
        same, where that leads through the same parts; else any bytes ([basic.types], [class.union]).
        """
        for n, (kind, name) in enumerate(path):
            others = self._overlaid.get(name, ()) if kind == "field" else ()
            for other, values in inner.items() if others else ():
                if len(other) <= n or other[n][0] != "field" or other[n][1] not in others:
                    continue
                if other[:n] != path[:n] and not overlaps(other[:n], path[:n]):
                    continue
                there, here = other[n + 1 :], path[n + 1 :]
                part = there[: len(here)]
                if kind_of(part) == kind_of(here):
                    if part == here or overlaps(part, here):
                        yield there[len(here) :], values
                elif leading(values) or leading(held):
                    yield (), frozenset((ANYWHERE, *leading(values)))

    def _read(self, root: Root, path: Path) -> Values:
        if root[0] == "memory" and root[1] == EXTERNAL:
            return UNKNOWN
        inner = self[root]
        exact = inner.get(path)
        if exact is not None or not inner:
            found = exact or NOTHING
            # which element it is is not known, nor whether somebody has set that
            return found | {OTHER} if has_queue(found) and any(key == ANY for _, key in path) else found
        found = inner.held(path) if path else NOTHING
        if has_queue(found) and any(is_vaguer(other, path) for other in inner.same(path)):
            return found | {OTHER}  # a stream or an event that is stored at an unknown index need not be this one
        if not found:
            return inner.unwritten(path)
        # the element that is named may be another one than those that were written since the whole was made
        return found if is_unique(path) else found | inner.unwritten(path, meeting=True, made=True)

    def dropped(self, returned: Values = NOTHING, without: str = "") -> frozenset[Stream]:
        """The streams that may have been destroyed because nobody holds the object any more that owns them: no variable
        leads to it for certain, one step after the other, nor what a function has `returned`. Variables whose names
        begin with `without` hold nothing.
        """
        return frozenset(v.stream for v in self._dropped(returned, without) if isinstance(v, StreamValue))

    def dropped_events(self) -> frozenset[Event]:
        """The same of events."""
        return frozenset(v.event for v in self._dropped(NOTHING, "") if isinstance(v, EventValue))

    def is_owned_at(self, cell: Cell) -> bool:
        """Whether this is the place in an object of Python that has the handle which the object destroys."""
        return cell[0] in self.owners and cell[1] == _OWNED

    def _dropped(self, returned: Values, without: str) -> set[Value]:
        if not self.owners:
            return set()
        held = self._certainly_held(returned, without)
        made: set[Value] = set()
        alive: set[Value] = set()
        for root in self.owners:
            inner = self[root]
            values = inner.get(_OWNED, NOTHING) if _OWNS in inner else NOTHING
            owned = {value for value in values if isinstance(value, StreamValue | EventValue)}
            made |= owned
            if len(owned) == 1 and root in held and root not in self.several:
                alive |= owned
        return made - alive

    def leads_to_owner(self, values: Values) -> bool:
        """Whether an object is among values that owns a stream or an event."""
        return any(isinstance(v, Ptr) and ("memory", v.object, "") in self.owners for v in values if self.owners)

    def _certainly_held(self, returned: Values, without: str) -> set[Root]:
        """The objects of Python that some variable certainly leads to; those that cudafix has made itself, and those
        that are bound inside of an expression only, hold nothing.
        """
        found: set[Root] = set()
        front = [
            inner.get((), NOTHING)
            for root, inner in self
            if root[0] != "memory"
            and not ("@" in root[2] or root[2].startswith(("%", "python::")))
            and not (without and root[2].startswith(without))
        ]
        front.append(returned)
        while front:
            values = front.pop()
            value = next(iter(values)) if len(values) == 1 else None
            if not isinstance(value, Ptr) or value.interior or value.object == EXTERNAL:
                continue
            root: Root = ("memory", value.object, "")
            if root not in found:
                found.add(root)
                inner = self[root]
                fewer = (FIRST, _SHRUNK) in inner
                front += [one for path, one in inner.items() if not (is_summary(path) or (fewer and len(path) == 1))]
        return found

    def holders(self, number: int) -> list[Cell]:
        """Where a pointer to a memory object is kept outside of it."""
        root: Root = ("memory", number, "")
        return [
            (other, path)
            for other, inner in self
            if other != root
            for path, values in inner.items()
            if any(
                (isinstance(value, Ptr) and value.object == number)
                or (isinstance(value, Ref) and value.cell[0] == root)
                for value in values
            )
        ]

    def write(self, cells: Iterable[Cell], values: Values) -> None:
        targets = list(cells)
        strong = len(targets) == 1 and not is_summary(targets[0][1]) and targets[0][0] not in self.several
        for root, path in dict.fromkeys(targets):
            if root[0] == "memory" and root[1] == EXTERNAL:
                continue
            inner = self[root].copy()
            held = inner.spread(path, values)
            inner[path] = values if strong else held | _sole(path, values)
            self._set(root, inner)
            self._renewed(root)
            if path == _OWNS:
                self.owners |= {root}

    def write_each(self, stores: Iterable[tuple[Cell, Values]]) -> None:
        """Each of these cells may hold its values too."""
        found: dict[Root, list[tuple[Path, Values]]] = {}
        for (root, path), values in stores:
            found.setdefault(root, []).append((path, values))
        for root, stored in found.items():
            if root[0] == "memory" and root[1] == EXTERNAL:
                continue
            old = self[root]
            inner = old.copy()
            for path, values in stored:
                inner[path] = inner.spread(path, values) | _sole(path, values)
            if inner != old:
                self._set(root, inner)
            self._renewed(root)
            if any(path == _OWNS for path, _ in stored):
                self.owners |= {root}

    def replace(self, cell: Cell, values: Values) -> None:
        """A cell that is there holds this now, whichever of several it stands for."""
        self.refine(cell, values)
        self._renewed(cell[0])

    def refine(self, cell: Cell, values: Values) -> None:
        """What a cell holds is said in other words: nothing is stored there, nor in any that may be the same."""
        root, path = cell
        inner = self[root].copy()
        inner[path] = values
        self._set(root, inner)

    def _renewed(self, root: Root) -> None:
        """Something in a place is written: its cells may hold something again."""
        if self.gone:
            self.gone = frozenset(cell for cell in self.gone if cell[0] != root)

    def write_parts(self, cells: Iterable[Cell], parts: Mapping[Path, Values]) -> None:
        """Write parts of a cell: what `write` does for each of them, with one copy of what is there."""
        targets = list(cells)
        for root, base in dict.fromkeys(targets):
            if not parts or (root[0] == "memory" and root[1] == EXTERNAL):
                continue
            exact = len(targets) == 1 and not is_summary(base) and root not in self.several
            inner = self[root].copy()
            within: dict[Path, Values] = {}
            for part, values in parts.items():
                path = base + part
                if (around := within_itself(path)) is not None:
                    within[around] = within.get(around, NOTHING) | leading(values) | {COMPUTED}  # for all in it
                    continue
                held = inner.spread(path, values)
                inner[path] = values if exact and not is_summary(part) else held | _sole(path, values)
            for around, values in within.items():
                inner.holds_anywhere(around, values)
            anything = parts.get(_ANY_PART, NOTHING)
            if ANYWHERE in anything:  # of an object in one cell: any part of this may be any part of that
                for path in inner.inside(base):
                    if len(path) > len(base):
                        inner[path] |= anything
            self._set(root, inner)
            self._renewed(root)

    def may_hold(self, root: Root, base: Path, values: Values) -> None:
        """Any part of a place may hold any of these too, whether it has been written before or not."""
        inner = self[root].copy()
        inner.holds_anywhere(base, values)
        inner[base] |= {MIXED}
        self._set(root, inner)
        self._renewed(root)

    def forget(self, roots: Iterable[Root]) -> None:
        for root in roots:
            if self[root]:
                del self._to_change(_group(root))[root]
            self._renewed(root)

    def forget_calls(self, names: Collection[str]) -> None:
        """These calls have ended: their variables are gone."""
        for name in names:
            self._groups.pop(name, None)
        self.touch()
        if self.gone:
            self.gone = frozenset(cell for cell in self.gone if cell[0][0] != "local" or cell[0][1] not in names)

    def variables_of(self, name: str) -> dict[Root, Cells] | None:
        """What the variables of a call hold, to be given back to it with `give_back`."""
        self._own.discard(name)
        return self._groups.get(name)

    def give_back(self, name: str, variables: dict[Root, Cells] | None) -> None:
        """The variables of a call hold again what they have held."""
        self._own.discard(name)
        self.touch()
        if variables is None:
            self._groups.pop(name, None)
        else:
            self._groups[name] = variables

    def forget_inside(self, cells: Iterable[Cell]) -> None:
        """A struct gets another value: what its parts held is gone, if it is known which struct it is."""
        targets = list(cells)
        if len(targets) == 1 and not is_summary(targets[0][1]):
            root, path = targets[0]
            inner = self[root]
            if root[0] != "memory" and any(len(other) > len(path) and other[: len(path)] == path for other in inner):
                n = len(path)
                self._set(root, Cells((p, v) for p, v in inner.items() if len(p) <= n or p[:n] != path))
                self._renewed(root)

    def size(self, cell: Cell) -> Number | None:
        """How many elements the container has of which this is the size, as far as that is certainly known."""
        root, path = cell
        held = self[root].get(path, NOTHING)
        only = next(iter(held)) if len(held) == 1 else None
        return only if isinstance(only, Number) and self.has_a_size(cell) else None

    def has_a_size(self, cell: Cell) -> bool:
        """Whether this is the size of one container, and not of one of several."""
        root, path = cell
        if root[:2] == ("memory", EXTERNAL) or is_summary(path) or root in self.several:
            return False
        return not (self.puns and self.puns.has(root, self[root]))

    def resized(self, cells: Iterable[Cell] | None) -> None:
        """The containers in these places may have other sizes, None: all of them."""
        places: Iterable[Cell] = cells if cells is not None else [(root, ()) for root, _ in self]
        self.write_each(
            ((root, (*path, *inner)), frozenset({OTHER}))
            for root, path in list(dict.fromkeys(places))
            for inner, _ in self.under((root, path))
            if inner[-1:] == (_SIZE,)
        )

    def loses_elements(self, cells: Iterable[Cell]) -> None:
        """The containers in these places may have lost elements."""
        self.write_each(
            ((root, (*path, *inner)), held | {OTHER})
            for root, path in list(dict.fromkeys(cells))
            for inner, held in self.under((root, path))
            if inner and inner[0][0] == "at"
        )

    def under(self, cell: Cell) -> list[tuple[Path, Values]]:
        """The cells inside `cell`, itself included, as paths relative to it."""
        root, path = cell
        inner = self[root]
        if inner and self.puns.is_known(root):
            one = _in_one(inner)
            referred = [(REFERRED, one[REFERRED])] if REFERRED in one and not path else []
            return [*(((), one[_ANY_PART]), (_ANY_PART, one[_ANY_PART])), *referred] if _ANY_PART in one else referred
        n = len(path)
        return [(other[n:], inner[other]) for other in inner.inside(path)] if n else list(inner.items())

    def parts(self, cells: Iterable[Cell]) -> dict[Path, Values]:
        """What is inside of a place, itself included; where it may be one of several, what any of them holds there.
        What is in one of these inside of another is no part of that: `p->second` may be an element of a map or a part
        of it.
        """
        found: dict[Path, Values] = {}
        targets = list(dict.fromkeys(cells))
        for root, base in targets:
            n = len(base)
            inner = [path[n:] for other, path in targets if other == root and len(path) > n and path[:n] == base]
            is_punned = bool(self.puns) and self.puns.has(root, self[root])
            for path, values in self.under((root, base)):
                if any(path[: len(part)] == part for part in inner):
                    continue
                if is_punned:
                    values = self.read((root, base + path))
                values = values if len(targets) == 1 else _sole(path, values)
                found[path] = found[path] | values if path in found else values
        if len(targets) > 1:  # what one of them has by this name may be in another as a part of a whole
            beside: dict[tuple[Path, str], list[Path]] = {}  # of what is unwritten in one whole all fields say the same
            for path in found:
                beside.setdefault((path[:-1], path[-1][0] if path else ""), []).append(path)
            for root, base in targets:
                cells_of = self[root]
                for paths in beside.values():
                    if more := cells_of.unwritten(base + paths[0], meeting=True):
                        for path in paths:
                            if not more <= found[path] and base + path not in cells_of:
                                found[path] |= more
        return found

    def at_parts(self, cells: Collection[Cell], parts: Iterable[Path]) -> dict[Path, Values]:
        """What given parts of a place hold, also where only the whole of it has been written."""
        return {part: NOTHING.union(*(self.read((root, path + part)) for root, path in cells)) for part in parts}

    def content(self, value: Value) -> Values:
        """What the memory that a pointer leads to may hold, all elements of an array together."""
        if isinstance(value, Ptr):
            root: Root = ("memory", value.object, "")
            inner = self[root]
            found = inner.content(())
            return found | self.puns.held(inner) if self.puns and self.puns.has(root, inner) else found
        if isinstance(value, Ref):
            root, path = value.cell
            base, inner = array_of(path), self[root]
            if not (self._overlaid and self.is_overlaid(base)) and not (self.puns and self.puns.has(root, inner)):
                return inner.content(base)
        return NOTHING.union(*[values for _, values in self.inside(value)])

    def inside(self, value: Value) -> Iterator[tuple[Path, Values]]:
        """The cells of the memory that a pointer leads to, of all elements of an array, as paths relative to it."""
        if isinstance(value, Ptr):
            root: Root = ("memory", value.object, "")
            inner = self[root]
            punned = self.puns and self.puns.has(root, inner)
            for path, values in inner.items():
                yield path, self.read((root, path)) if punned else values
        elif isinstance(value, Ref):
            root, path = value.cell
            if self.puns and self.puns.has(root, self[root]):
                yield path, self.read((root, path))
            base = array_of(path)
            yield from self.under((root, base))
            if self._overlaid and self.is_overlaid(base):
                yield from self._through_others(self[root], base, NOTHING)
