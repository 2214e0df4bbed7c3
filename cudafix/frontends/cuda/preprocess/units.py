"""What macros mean at the places of a translation unit: its directives are followed through the files that it includes.

Of each file only the directives are kept that may change a macro (`Listing`). They are followed in the order of the
compiler, for the macros of interest alone: files that do not change them are left out (`Unit`). Where it is not known
whether a branch is read, both ways are followed, and a macro means what it means on either (`Meaning`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, TypeAlias

from cudafix.frontends.cuda.preprocess.conditions import NVCC, VERSIONS, Environment, Free, Node, names
from cudafix.frontends.cuda.preprocess.macros import Macro, words
from cudafix.frontends.cuda.preprocess.meanings import GONE, UNSET, Meaning, joined
from cudafix.ir.names import WORD

_ASKED = 6  # unknown macros in one condition of a header
_STEPS = 100_000  # directives that are followed for one file
_NESTED = 20  # a file in itself: how often it is read
_PLATFORMS = frozenset(("_WIN32", "__QNX__"))  # decide for others (`conditions`)
_COMPILER = frozenset((*VERSIONS, *NVCC, "__CUDA_ARCH__"))


@dataclass(frozen=True, slots=True)
class Step:
    """A directive: `if`, `elif`, `else`, `endif` (with the `condition`), `define`, `undef`, `push`, `pop` (with the
    `name`), `include` (the target is the name), `once`. `guards` marks an include guard, or a default value and the
    definition in it: an option of the compiler may have given another one.
    """

    keyword: str
    name: str = ""
    macro: Macro | None = None
    condition: Node | None = None
    guards: bool = False
    asks: frozenset[str] = field(init=False, compare=False, repr=False)
    """The macros in the condition."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "asks", frozenset(names(self.condition)) if self.condition is not None else _NONE)


_NONE = frozenset[str]()


@dataclass(frozen=True, slots=True)
class Listing:
    """The directives of a file that may change macros."""

    steps: tuple[Step, ...]

    guard: str
    """The macro that keeps the whole file out once it is defined."""
    changes: Mapping[str, int]
    """How many directives change each macro. A macro that is taken back counts as one that changes twice."""
    asks: frozenset[str]
    """The macros in conditions other than guards."""
    decides: Mapping[str, tuple[set[str], set[str]]]
    """By macros in conditions: which macros are changed under them, and what is included."""
    conditional: tuple[tuple[int, int], ...] = ()
    """The ranges of the file that stand under a condition other than a guard."""

    @classmethod
    def of(cls, steps: Iterable[Step], guard: str = "", conditional: Iterable[tuple[int, int]] = ()) -> Listing:
        """Each `if` has its `endif`."""
        steps = tuple(steps)
        changes: dict[str, int] = {}
        around: list[set[str]] = []
        decides: dict[str, tuple[set[str], set[str]]] = {}
        for step in steps:
            if step.keyword == "if":
                around.append(set())
            elif step.keyword == "endif":
                around.pop()
            if step.condition is not None:
                around[-1] |= step.asks
            elif step.keyword in ("define", "undef", "push", "pop", "include"):
                for name in chain.from_iterable(around):
                    decides.setdefault(name, (set(), set()))[step.keyword == "include"].add(step.name)
                if step.keyword != "include":
                    changes[step.name] = changes.get(step.name, 0) + (1 if step.macro is not None else 2)
        asks = chain.from_iterable(step.asks for step in steps if not step.guards)
        return cls(steps, guard, changes, frozenset(asks), decides, tuple(conditional))

    def is_conditional(self, at: int) -> bool:
        """Whether what stands at an offset is read under a condition only."""
        return any(start <= at < end for start, end in self.conditional)


class Guard(NamedTuple):
    """An include guard that only its own file defines, and asks for, and nobody takes back."""

    mask: int
    defined: Meaning
    perhaps: Meaning


class Region(NamedTuple):
    """All files that may be read where one is, and all on which it depends what that does: the bits of the files, the
    macros that they ask for or change, those that they push or pop, and the words of conditions.
    """

    files: AbstractSet[str]
    mask: int
    names: tuple[str, ...]
    pushed: tuple[str, ...]
    words: AbstractSet[str]


class Part(NamedTuple):
    """What a file itself adds to a region: its bits, and the macros that it asks for, changes, pushes or pops."""

    mask: int
    asked: AbstractSet[str]
    changed: AbstractSet[str]
    pushed: AbstractSet[str]


class Unit:
    """The files of a translation unit, and of their directives those that may change some of its macros (`names`) or
    decide about that.
    """

    def __init__(
        self,
        files: Collection[str],
        listing: Callable[[str], Listing],
        find: Callable[[str, str], str | None],
        includes: Callable[[str], Iterable[str]],
        wanted: Iterable[str],
        visited: Iterable[str] = (),
    ) -> None:
        """`find` says which file an `#include` in a file means. Those that are `visited` are followed anyway."""
        self.find = find
        self.names: set[str] = set()
        self.files: set[str] = set()
        self.asks: set[str] = set()
        self.kept: dict[tuple[int, str], Kept] = {}  # see `Walk.included`
        self.effects: dict[tuple[object, ...], Effect] = {}  # see `Walk._read`
        self.seen: set[str] = set()  # the files that were followed once
        self._numbers: dict[tuple[object, ...], int] = {}
        self._listing = listing
        self._includes = includes
        self._steps: dict[str, tuple[Step, ...]] = {}
        self._behind: dict[str, frozenset[str]] = {}
        self._regions: dict[str, Region | None] = {}
        self._parts: dict[str, Part] = {}
        self._spoken: dict[str, set[str]] = {}  # the words in the bodies of each macro
        self._all: dict[str, Meaning] = {}
        includers: dict[str, list[str]] = {}
        for path in files:
            for other in includes(path):
                includers.setdefault(other, []).append(path)
        wanted = frozenset(wanted)
        fresh, paths = set(wanted), list(visited)
        while fresh or paths:
            for path in files:
                if found := fresh & listing(path).changes.keys():
                    self.names |= found
                    paths.append(path)
            changed = set(paths)
            while paths:
                path = paths.pop()
                if path not in self.files:
                    self.files.add(path)
                    changed.add(path)
                    paths += includers.get(path, ())
            asked: set[str] = set()
            for path in changed:
                self._steps.pop(path, None)
                for step in self.steps(path):
                    asked |= step.asks
                    asked.update({step.name} if step.keyword == "through" else ())
            fresh = asked - self.asks - self.names
            self.asks |= asked
        self.once = {path: 1 << number for number, path in enumerate(sorted(self.files))}
        """By file, the bit that says whether it was read and is not read again (`#pragma once`)."""
        self.guards = self._find_guards(files, wanted)

    def steps(self, path: str) -> tuple[Step, ...]:
        """The directives of a file that matter. The name of an `#include` is that of the file that it means."""
        if path not in self._steps:
            found: list[Step] = []
            opened: list[int] = []  # where the groups begin
            last = -1  # the last that is no condition
            for step in self._listing(path).steps:
                if step.keyword == "if":
                    opened.append(len(found))
                elif step.keyword == "include" and step.name.isidentifier():
                    if self.files.isdisjoint(self._includes(path)):
                        continue
                    step = Step("through", step.name)
                elif step.keyword == "include":
                    target = self.find(path, step.name)
                    if target is None or target not in self.files:
                        continue
                    step = Step("include", target)
                elif step.keyword == "endif" and last < (begin := opened.pop()):
                    del found[begin:]
                    continue
                elif step.name and step.name not in self.names:
                    continue
                if step.keyword not in ("if", "elif", "else", "endif"):
                    last = len(found)
                found.append(step)
            self._steps[path] = tuple(found)
        return self._steps[path]

    def guard(self, path: str) -> str:
        return self._listing(path).guard

    def _find_guards(self, files: Iterable[str], wanted: Collection[str]) -> dict[str, Guard]:
        """The macros of which nothing matters but whether their files were read. They take the bits behind `once`."""
        changes: Counter[str] = Counter()
        for path in files:
            changes.update(self._listing(path).changes)
        found: dict[str, Guard] = {}
        others: set[str] = set()  # what is asked for but to guard
        for path, mask in self.once.items():
            name, steps = self.guard(path), self.steps(path)
            inside = 0
            if name in self.names and name not in wanted and changes[name] == 1 and len(steps) > 1:
                first, second = steps[:2]
                if first.asks == {name} and first.guards and second.name == name and second.guards and second.macro:
                    defined = Meaning((second.macro,), given=True)
                    found[name] = Guard(mask << len(self.once), defined, joined((defined, UNSET)))
                    inside = 1
            for step in steps[inside:]:
                others |= step.asks
                others.update((step.name,) if step.keyword == "through" else ())
                if step.macro is not None:
                    spoken = {word.decode() for word in words(step.macro.body)}
                    self._spoken.setdefault(step.name, set()).update(spoken)
                    others |= spoken
        return {name: guard for name, guard in found.items() if name not in others}

    def region(self, path: str) -> Region | None:
        """The region of a file; None of one that includes nothing."""
        if path not in self._regions:
            self._regions[path] = None  # for those that include it themselves
            files = self._reached(path)
            self._regions[path] = self._region(files) if len(files) > 1 else None
        return self._regions[path]

    def _reached(self, path: str) -> AbstractSet[str]:
        files, queue = {path}, [path]
        for one in queue:
            for step in self.steps(one):
                if step.keyword == "through":
                    return self.files
                if step.keyword == "include" and step.name not in files:
                    region = self.region(step.name)
                    if region is not None:
                        files |= region.files
                    else:
                        files.add(step.name)
                        queue.append(step.name)
        return files

    def _region(self, files: AbstractSet[str]) -> Region:
        parts = [self._part(one) for one in files]
        mask = 0
        for part in parts:
            mask |= part.mask
        asked = set[str]().union(*(part.asked for part in parts))
        changed = set[str]().union(*(part.changed for part in parts))
        pushed = set[str]().union(*(part.pushed for part in parts))
        fresh = asked
        while fresh := fresh & self._spoken.keys():  # a macro may be one of others
            fresh = set[str]().union(*(self._spoken[name] for name in fresh)) - asked
            asked |= fresh
        names = ((asked | changed) & self.names) - self.guards.keys()
        return Region(files, mask, tuple(sorted(names)), tuple(sorted(pushed)), asked)

    def _part(self, path: str) -> Part:
        if path not in self._parts:
            steps = self.steps(path)
            guard = self.guards.get(self.guard(path))
            mask = self.once[path] | (guard.mask if guard is not None else 0)
            asked = set[str]().union(*(step.asks for step in steps))
            asked.update(step.name for step in steps if step.keyword == "through")
            changed = {step.name for step in steps if step.keyword in ("define", "undef", "push", "pop")}
            pushed = {step.name for step in steps if step.keyword in ("push", "pop")}
            self._parts[path] = Part(mask, asked, changed, pushed)
        return self._parts[path]

    def number(self, *key: object) -> int:
        """The same for the same key."""
        return self._numbers.setdefault(key, len(self._numbers))

    def changed_by(self, path: str, target: str) -> frozenset[str]:
        """The macros that an `#include` in a file may change."""
        if target.isidentifier():
            return frozenset[str]().union(*map(self._changed_behind, self._includes(path)))
        found = self.find(path, target)
        return self._changed_behind(found) if found is not None else frozenset()

    def _changed_behind(self, found: str) -> frozenset[str]:
        if found not in self.files:
            return frozenset()
        if found not in self._behind:
            files, queue = {found}, [found]
            while queue:
                fresh = {other for other in self._includes(queue.pop()) if other in self.files} - files
                files |= fresh
                queue += fresh
            changes = (self.names & self._listing(each).changes.keys() for each in files)
            self._behind[found] = frozenset[str]().union(*changes)
        return self._behind[found]

    def all_of(self, name: str) -> Meaning:
        """What a macro may be if nothing is known of the place."""
        if not self._all:
            found: dict[str, list[Meaning]] = {name: [GONE, UNSET] for name in self.names}
            for step in (step for path in sorted(self.files) for step in self.steps(path)):
                if step.macro is not None:
                    found[step.name].append(Meaning((step.macro,), given=True))
            self._all = {name: joined(meanings) for name, meanings in found.items()}
        return self._all.get(name) or joined((GONE, UNSET))


@dataclass(frozen=True, slots=True)
class Kept:
    """What an `#include` has changed, and what is known behind it; `trace` stands for all that has led there."""

    changed: Mapping[str, Meaning]
    trace: int
    behind: _Known


Pushed: TypeAlias = tuple[str, tuple[Meaning, ...] | None, tuple[Meaning, ...] | None, bool]
"""A macro, what was pushed of it and is not popped, every meaning that was, and whether it is torn (`_Known`)."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What following a file has done: how many directives that took, what it has changed (`marked` are the bits that it
    has put), and the bits of its `Unit.region` and what was pushed behind it.
    """

    steps: int
    changed: Mapping[str, Meaning]
    marked: int
    certain: int
    possible: int
    pushed: tuple[Pushed, ...]


class _Group:
    """An open `#if … #endif`."""

    __slots__ = ("before", "bits", "branch", "closed", "dead", "ends", "not_so")

    def __init__(self, dead: bool) -> None:
        self.dead = dead  # nothing in it is read
        self.closed = False  # one of the branches so far is certainly read
        self.branch: dict[str, Meaning] | None = None  # what its changes have replaced
        self.before = (0, 0)  # the bits in front of the branch
        self.ends: list[dict[str, Meaning]] = []  # what the branches so far have changed, where several may be read
        self.bits: list[tuple[int, int]] = []  # those behind the same branches
        self.not_so: list[Node] = []


@dataclass(slots=True)
class _Known:
    """What is known at a place. `every` meaning that was pushed; `torn` are the macros that are pushed or popped in a
    branch that is perhaps read; `left` is how many directives may still be followed. Of files that are read once, and
    of their `Unit.guards`, it is `certain` or `possible` that they were read; a guard in `state` is any other macro.
    """

    state: dict[str, Meaning]
    environment: Environment
    pushed: dict[str, tuple[Meaning, ...]]
    every: dict[str, tuple[Meaning, ...]]
    torn: set[str]
    left: int
    certain: int = 0
    possible: int = 0

    def copy(self) -> _Known:
        old = self.environment
        environment = replace(old, defined=dict(old.defined), gone=set(old.gone))
        return _Known(
            dict(self.state), environment, dict(self.pushed), dict(self.every), set(self.torn), self.left,
            self.certain, self.possible,
        )  # fmt: skip


class Walk:
    """Follows the directives of a unit from the beginning of a file. `chosen` are the free conditions that are decided
    (`conditions`), `start` are the macros in the beginning; `enter` is called wherever a file is included and not kept
    out.
    """

    def __init__(
        self,
        unit: Unit,
        chosen: Mapping[str, bool] = {},
        start: Mapping[str, Macro] = {},
        enter: Callable[[str, Walk], None] | None = None,
    ) -> None:
        self.unit = unit
        self._start = start
        self._chosen = {atom: value for atom, value in chosen.items() if not unit.asks.isdisjoint(WORD.findall(atom))}
        self._enter = enter
        self._known = _Known({}, Environment({}, self._chosen), {}, {}, set(), _STEPS)
        self._shared = False  # whether what is known is kept for others
        self._trace = unit.number(*sorted(self._chosen.items()))
        self._branches: list[dict[str, Meaning]] = []
        self._open: list[str] = []
        self._changed: set[str] = set()
        self._marked = 0  # the bits that were put
        self._decisions: dict[str, int] = {}  # the number of those that matter in the region of a file
        for name in unit.names & start.keys():
            self._set(name, Meaning((start[name],)))
        others = (unit.names - unit.guards.keys()) | self._known.state.keys()
        self._names = tuple(sorted(others)) if self._known.state else ()  # of interest anywhere, if some are given

    def of(self, name: str) -> Meaning:
        """What a macro is here."""
        meaning = self._known.state.get(name)
        if meaning is None:
            if (guard := self.unit.guards.get(name)) is not None:
                if self._known.certain & guard.mask:
                    return guard.defined
                return guard.perhaps if self._known.possible & guard.mask else UNSET
            return Meaning((self._start[name],)) if name in self._start else UNSET
        return meaning

    def put(self, name: str, meaning: Meaning) -> None:
        """From here on a macro means this."""
        self._follow(name, meaning)
        self._put(name, meaning)

    def push(self, name: str) -> None:
        """`#pragma push_macro`."""
        self._follow(name, "push")
        self._push(name)

    def pop(self, name: str) -> bool:
        """`#pragma pop_macro`. Whether that may change the macro."""
        self._follow(name, "pop")
        return self._pop(name)

    def included(self, path: str, target: str) -> Mapping[str, Meaning]:
        """Follow an `#include` in a file. The macros of the unit that this may have changed."""
        found = self.unit.find(path, target)
        named = target.isidentifier()
        if not named and found not in self.unit.files:
            return {}
        key = (self._trace, target)
        if key not in self.unit.kept:
            self._changed.clear()
            self._marked = 0
            if named:
                self._include_named(path, target)
            elif found is not None:
                self._include(found)
            if self._known.left < 0:
                for name in self.unit.names:
                    self._put(name, self.unit.all_of(name))
            self._changed.update(name for name, guard in self.unit.guards.items() if self._marked & guard.mask)
            changed = {name: self.of(name) for name in sorted(self._changed & self.unit.names)}
            self.unit.kept[key] = Kept(changed, self.unit.number(self._trace, target), self._known)
        kept = self.unit.kept[key]
        self._known, self._shared, self._trace = kept.behind, True, kept.trace
        return kept.changed

    def read(self, path: str) -> bool:
        """Follow a whole file. Whether that was done to the end."""
        self._read(path)
        return self._known.left >= 0

    def _follow(self, *step: object) -> None:
        if self.unit.files:
            self._trace = self.unit.number(self._trace, *step)

    def _own(self) -> _Known:
        """What is known, to be changed."""
        if self._shared:
            self._known, self._shared = self._known.copy(), False
        return self._known

    def _mark(self, mask: int, possible: bool = True, certain: bool = True) -> None:
        """Put a bit."""
        known = self._own()
        known.certain = known.certain | mask if certain else known.certain & ~mask
        known.possible = known.possible | mask if possible else known.possible & ~mask
        self._marked |= mask

    def _put(self, name: str, meaning: Meaning) -> None:
        guard = self.unit.guards.get(name)
        if guard is not None and name not in self._known.state:
            # what is supposed not to be defined is, in the next line
            supposed = meaning.unset and not meaning.gone and not meaning.macros
            if supposed or meaning in (guard.defined, guard.perhaps):
                self._mark(guard.mask, not supposed, meaning.defined)
                return
        if self._branches:
            self._branches[-1].setdefault(name, self.of(name))
        self._changed.add(name)
        self._set(name, meaning)

    def _set(self, name: str, meaning: Meaning) -> None:
        known = self._own()
        known.state[name] = meaning
        known.environment.defined.pop(name, None)
        known.environment.gone.discard(name)
        if meaning.defined:
            known.environment.defined[name] = meaning.value
        elif meaning.gone and not meaning.unset and not meaning.macros:
            known.environment.gone.add(name)

    def _push(self, name: str) -> None:
        known = self._own()
        known.every[name] = tuple(dict.fromkeys((*known.every.get(name, ()), self.of(name))))
        if self._branches or name in known.torn:
            self._tear(name)
        else:
            known.pushed[name] = (*known.pushed.get(name, ()), self.of(name))

    def _tear(self, name: str) -> None:
        """From here on nothing is known of how what is popped was pushed."""
        known = self._own()
        known.torn.add(name)
        known.pushed.pop(name, None)

    def _pop(self, name: str) -> bool:
        known = self._own()
        if self._branches:
            self._tear(name)
        if name in known.torn:
            self._put(name, joined((self.of(name), *known.every.get(name, ()))))
        elif pushed := known.pushed.get(name):
            known.pushed[name] = pushed[:-1]
            self._put(name, pushed[-1])
        else:
            return False
        return True

    def _include_named(self, path: str, macro: str) -> None:
        """Follow `#include MACRO`."""
        meaning = self.of(macro)
        bodies = (one.body.decode("utf-8", "surrogateescape").strip() for one in meaning.macros)
        found = list(dict.fromkeys(self.unit.find(path, body) for body in bodies))
        for one in found:
            if one in self.unit.files:
                self._include(one, perhaps=len(found) > 1 or not meaning.defined)

    def _include(self, found: str, perhaps: bool = False) -> None:
        if self._known.left < 0:
            return
        once = self.unit.once[found]
        if self._known.certain & once or self.of(self.unit.guard(found)).defined:
            return
        if self._enter is not None:
            self._enter(found, self)
        if self._open.count(found) > _NESTED:
            self._own().left = -1
            return
        if not self._known.possible & once and not perhaps:
            self._read(found)
            return
        group = _Group(False)
        self._begin(group)
        self._read(found)
        self._end(group)
        self._close(group)

    def _read(self, path: str) -> None:
        """Follow a file. What that does depends on the macros of interest and on which files behind it were read: where
        these are as before, so is what it does.
        """
        unit, known = self.unit, self._known
        if path not in unit.seen or self._enter is not None or known.left < 0 or (region := unit.region(path)) is None:
            unit.seen.add(path)
            self._follow_steps(path)
            return
        key = (
            path,
            self._decided_in(path, region),
            known.certain & region.mask,
            known.possible & region.mask,
            *map(known.state.get, self._names or region.names),
            () if region.files.isdisjoint(self._open) else tuple(one for one in self._open if one in region.files),
            *((bool(self._branches), *self._pushed(region)) if region.pushed else ()),
        )
        effect = unit.effects.get(key)
        if effect is not None and effect.steps <= known.left:
            self._do(effect, region)
            return
        around, self._changed = self._changed, set()
        marked, self._marked = self._marked, 0
        left = known.left
        self._follow_steps(path)
        known = self._known
        if known.left >= 0:
            unit.effects[key] = Effect(
                left - known.left,
                {name: self.of(name) for name in self._changed},
                self._marked,
                known.certain & region.mask,
                known.possible & region.mask,
                tuple(self._pushed(region)),
            )
        self._changed |= around
        self._marked |= marked

    def _decided_in(self, path: str, region: Region) -> int:
        if path not in self._decisions:
            asked = region.words | _PLATFORMS
            of_all = bool(self._names)
            mattering = ((a, v) for a, v in self._chosen.items() if of_all or not asked.isdisjoint(WORD.findall(a)))
            self._decisions[path] = self.unit.number("decisions", *sorted(mattering))
        return self._decisions[path]

    def _pushed(self, region: Region) -> Iterator[Pushed]:
        known = self._known
        return ((n, known.pushed.get(n), known.every.get(n), n in known.torn) for n in region.pushed)

    def _do(self, effect: Effect, region: Region) -> None:
        known = self._own()
        known.left -= effect.steps
        for name, meaning in effect.changed.items():
            self._put(name, meaning)
        known.certain = known.certain & ~region.mask | effect.certain
        known.possible = known.possible & ~region.mask | effect.possible
        self._marked |= effect.marked
        for name, pushed, every, torn in effect.pushed:
            if torn:
                self._tear(name)
            known.pushed.update({name: pushed} if pushed is not None else {})
            known.every.update({name: every} if every is not None else {})

    def _follow_steps(self, path: str) -> None:
        self._open.append(path)
        steps = self.unit.steps(path)
        self._own().left -= len(steps)
        groups: list[_Group] = []
        active = True
        for step in steps if self._known.left >= 0 else ():
            if step.keyword == "if":
                groups.append(_Group(not active))
                active = active and self._branch(groups[-1], step)
            elif step.keyword in ("elif", "else"):
                self._end(groups[-1])
                active = self._branch(groups[-1], step)
            elif step.keyword == "endif":
                self._end(groups[-1])
                active = not groups[-1].dead
                self._close(groups.pop())
            elif active:
                self._change(path, step)
        while groups:  # where following was given up
            self._end(groups[-1])
            self._close(groups.pop())
        self._open.pop()

    def _change(self, path: str, step: Step) -> None:
        if step.keyword == "define" and step.macro is not None:
            self._put(step.name, Meaning((step.macro,), given=step.guards))
        elif step.keyword == "undef":
            self._put(step.name, GONE)
        elif step.keyword == "push":
            self._push(step.name)
        elif step.keyword == "pop":
            self._pop(step.name)
        elif step.keyword == "once":
            self._mark(self.unit.once[path])
        elif step.keyword == "include":
            self._include(step.name)
        elif step.keyword == "through":
            self._include_named(path, step.name)

    # -- branches -----------------------------------------------------------------------------------------------------

    def _branch(self, group: _Group, step: Step) -> bool:
        """Begin a branch. Whether it may be read."""
        if group.dead or group.closed:
            return False
        holds = self._holds(step)
        if holds is False:
            return False
        group.closed = holds is True
        if holds is None or group.ends:
            self._begin(group)
            for condition in group.not_so:
                self._suppose(condition, False)
            if step.condition is not None:
                self._suppose(step.condition, True)
                group.not_so.append(step.condition)
        return True

    def _begin(self, group: _Group) -> None:
        group.branch = {}
        group.before = self._known.certain, self._known.possible
        self._branches.append(group.branch)

    def _end(self, group: _Group) -> None:
        if group.branch is not None:
            group.ends.append({name: self.of(name) for name in group.branch})
            group.bits.append((self._known.certain, self._known.possible))
            self._undo(group.branch)
            known = self._own()
            known.certain, known.possible = group.before
            group.branch = None

    def _undo(self, branch: Mapping[str, Meaning]) -> None:
        self._branches.pop()
        for name, meaning in branch.items():
            self._set(name, meaning)

    def _close(self, group: _Group) -> None:
        """Join what the branches have changed that may be read."""
        if not group.ends:
            return
        if not group.closed:  # none of them may be read
            self._begin(group)
            for condition in group.not_so:
                self._suppose(condition, False)
            self._end(group)
        for name in dict.fromkeys(chain.from_iterable(group.ends)):
            before = self.of(name)
            self._put(name, joined([end.get(name, before) for end in group.ends]))
        known = self._own()
        known.certain, known.possible = -1, 0
        for certain, possible in group.bits:
            known.certain &= certain
            known.possible |= possible

    def _suppose(self, condition: Node, holds: bool) -> None:
        """Where a condition holds that asks whether a macro is defined, it is, or not."""
        operator, operands, name = condition
        if operator == "!":
            self._suppose(operands[0], not holds)
        elif operator == "defined" and (meaning := self.of(name)).perhaps:
            self._put(name, replace(meaning, gone=False, unset=False) if holds else replace(meaning, macros=()))

    def _holds(self, step: Step) -> bool | None:
        """Whether a branch is taken if it is asked for; None where macros decide of which nothing is known."""
        if step.condition is None:
            return True
        asked = step.asks
        if step.guards:
            (meaning,) = map(self.of, asked)
            return None if meaning.perhaps else not meaning.macros
        if not asked.isdisjoint(_COMPILER):
            return None  # the compiler knows
        return _decided(step.condition, self._known.environment, self._chosen, _ASKED)


def _decided(condition: Node, environment: Environment, chosen: Mapping[str, bool], asked: int) -> bool | None:
    """What a condition is whatever the macros are of which nothing is known; None where they decide."""
    if asked < 0:
        return None
    try:
        return replace(environment, chosen=dict(chosen), met={}, fork=True).holds(condition)
    except Free as free:
        yes, no = (_decided(condition, environment, {**chosen, free.atom: v}, asked - 1) for v in (True, False))
        return yes if yes is no else None
