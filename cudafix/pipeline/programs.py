"""Which files make a program: `main` or a file that allocates, its headers, and the sources that define what is called.

Nothing is lowered for this. A source of another folder belongs to a program if it defines a function that the program
may reach, and if both include the header that declares it. What may be reached is looked for by name in the parsed
text: a name too many makes a program larger, and a name too few leaves a call that nobody defines, which is refused.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import NamedTuple

from cudafix.ir.link import SOURCES
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.outlines import SEVERAL, WORD, Name, Outline, Outlines
from cudafix.pipeline.tree import Tree
from cudafix.project import prefilter
from cudafix.project.including import shared_folders

MOST_FILES = 200
"""Files of one program. A program that links more of them is proved without the sources of other folders."""
MOST_TOGETHER = 1_000
"""Files of all programs that are decided together, each counted in every program that has it."""
MOST_CHOICES = 4
"""Programs that begin with one file and differ in which of several sources define the same function. Where they would
be more, none of these sources is in the program: what it calls of them is unknown."""
_REPLACED = (b"operatornew", b"operatordelete")
"""What a program may replace for all of its files (C++17, 20.5.4.6 [replacement.functions])."""
_OF_DEVICE = re.compile(rb"cu(?:da|[A-Z]|[a-z]+[A-Z_])|__global__$")
_ATTRIBUTES = frozenset((b"__attribute__", b"__attribute", b"gnu"))
_RUNS = frozenset((b"constructor", b"__constructor__", b"destructor", b"__destructor__"))
_SECTIONS = frozenset((b"section", b"__section__"))
"""Attributes by which a function may run without a call (GCC manual, "Common Function Attributes")."""


def clusters_of(tree: Tree, kept: Cache | None = None, context: frozenset[str] = frozenset()) -> list[list[list[str]]]:
    """Programs, as lists of files, grouped by the candidates that they share.

    Candidates that no `main` needs are programs of their own, with what they call; so are the sources that include one
    and that no other program has. What was found out about files in earlier runs is taken from what is `kept`. Programs
    of nothing but `context` are left out.
    """
    candidates = {p for p in tree.files if tree.is_candidate(p)}
    outlines = Outlines(tree.files, kept)
    facts = ((path, tree.files.facts(path).main, path in candidates) for path in tree.files)
    question = [(*fact, [header for _, header in tree.includes_of(fact[0])]) for fact in facts]
    programs: list[list[str]] = outlines.concluded(question, lambda: _linked(tree, candidates, outlines))
    outlines.keep()
    if tree.python is not None:
        programs += tree.python.programs()
    return _united([program for program in programs if not context.issuperset(program)], candidates)


class Part(NamedTuple):
    """Programs that are decided together. The sites of `shared` files stay as they are: too many programs have them. A
    part that `tells` is there to say so of the one that it begins with, and nothing else.
    """

    programs: list[list[str]]
    shared: tuple[str, ...] = ()
    tells: bool = False

    @property
    def only_read(self) -> frozenset[str]:
        """The files of which something is said elsewhere."""
        if not self.tells:
            return frozenset(self.shared)
        return frozenset(path for program in self.programs for path in program).difference(self.shared)


def parted(tree: Tree, cluster: list[list[str]]) -> list[Part]:
    """A cluster, or if it is too large, parts that may be decided one by one. A site moves only if it is proved for all
    programs that have it, and a site may always stay: so those of the files that most programs have stay, until what is
    left of the cluster falls apart.
    """
    shared: list[str] = []
    whole: list[list[list[str]]] = []
    left = [cluster]
    while left:
        programs = left.pop()
        having = Counter(path for program in programs for path in set(program) if tree.is_candidate(path))
        for path in shared:
            del having[path]
        if len(programs) == 1 or not having or sum(map(len, programs)) <= MOST_TOGETHER:
            whole.append(programs)
            continue
        most = max(having, key=lambda path: (having[path], path))
        shared.append(most)
        rest = having.keys() - {most}
        left += (part for part in _united(programs, rest) if any(not rest.isdisjoint(program) for program in part))
    shared.sort()
    parts = [
        Part(programs, tuple(path for path in shared if any(path in program for program in programs)))
        for programs in whole
    ]
    return parts + [Part([[path, *tree.included(path)]], (path,), tells=True) for path in shared]


def _linked(tree: Tree, candidates: set[str], outlines: Outlines) -> list[list[str]]:
    """The programs of C++ and CUDA."""
    covered = {p for p in candidates if p.endswith(prefilter.SUFFIX)}  # programs of their own
    linker = _Linker(tree, candidates, outlines)
    programs: list[list[str]] = []
    for main in linker.mains:
        for program in linker.programs(main):
            if not candidates.isdisjoint(program):
                programs.append(program)
                covered.update(program)
    sources = sorted(path for path in candidates if path.endswith(SOURCES))
    headers = sorted(path for path in candidates if not path.endswith(SOURCES))
    clients = (source for path in headers for source in linker.including(path))  # work with what it offers
    for path in dict.fromkeys((*sources, *clients)):
        if path not in covered:
            programs += linker.programs(path)
            covered.update(*programs)
    for path in headers:
        if path not in covered:
            programs += linker.programs(path)
            covered.add(path)
    return programs


class _Growth(NamedTuple):
    """The `files` of a program so far, the `fresh` ones whose headers are not there yet, and those that it goes
    `without`, because it has others.
    """

    files: dict[str, None]
    fresh: list[str]
    without: frozenset[str]


class _Linker:
    """The sources of a tree, and which of them a program needs."""

    def __init__(self, tree: Tree, candidates: set[str], outlines: Outlines) -> None:
        self._tree = tree
        self._candidates = candidates
        self._outlines = outlines
        self._offers: dict[str, dict[Name, list[str]]] = {}
        self._defining_by_header: dict[str, list[str]] = {}
        self._sources_by_header: dict[str, list[str]] = {}
        self._at_start: dict[str, set[bytes]] = {}  # see `_bases_at_start`
        self._reached: dict[str, set[bytes]] = {}  # see `_reached_at_start`
        self._indexed: set[str] = set()
        self._using: dict[bytes, list[tuple[str, set[bytes]]]] = {}  # what the definitions of a name use, by file
        self._variables_of: dict[str, AbstractSet[bytes]] = {}  # see `_of_others`
        self._running: dict[str, bool] = {}  # see `_has_attribute_to_run`
        self._running_by_macro: dict[str, bool] = {}
        self._beside: dict[str, list[str]] = defaultdict(list)  # sources without `main`, by folder
        self._includers: dict[str, list[str]] = defaultdict(list)  # the files that include a file themselves
        self._without_main: list[str] = []
        self._parts_of: dict[str, list[str]] = {}
        self._of_one: dict[str, bool] = {}
        self._excluding: dict[tuple[str, str], bool] = {}
        mains: list[str] = []
        for path in tree.files:
            for _, header in tree.includes_of(path):
                self._includers[header].append(path)
            if not path.endswith(SOURCES):
                continue
            if tree.files.facts(path).main:
                mains.append(path)
                continue
            self._without_main.append(path)
            self._beside[os.path.dirname(path)].append(path)
        self._included = self._included_sources()
        near = self._near_candidates()
        self.mains = [path for path in mains if path in near]

    def _near_candidates(self) -> set[str]:
        """The files from which a candidate may be reached, whatever is called: by includes, and by functions of other
        sources. Only programs with one of them are looked at.
        """
        in_folder: dict[str, list[str]] = defaultdict(list)
        for path in self._tree.files:
            if path.endswith(SOURCES):
                in_folder[os.path.dirname(path)].append(path)
        found = set(self._candidates)
        folders: set[str] = set()
        stack = list(found)
        while stack:
            path = stack.pop()
            near = list(self._includers.get(path, ()))
            if path.endswith(SOURCES):
                near += self._tree.included(path)  # a source is linked through its headers (`_offered`)
                for folder in _upward(os.path.dirname(path)):  # or from its folder, and those above it
                    if folder not in folders:
                        folders.add(folder)
                        near += in_folder.get(folder, ())
            fresh = [each for each in near if each not in found]
            found.update(fresh)
            stack += fresh
        return found

    def _included_sources(self) -> set[str]:
        """The sources that other sources include, directly or not."""
        found: set[str] = set()
        stack = [path for path in self._tree.files if path.endswith(SOURCES)]
        while stack:
            path = stack.pop()
            fresh = [p for _, p in self._tree.includes_of(path) if p not in found and p != path]
            found.update(fresh)
            stack += fresh
        return {path for path in found if path.endswith(SOURCES)}

    def including(self, header: str) -> list[str]:
        """The sources without `main` that include a file, directly or not."""
        found = {header}
        stack = [header]
        while stack:
            fresh = [path for path in self._includers.get(stack.pop(), ()) if path not in found]
            found.update(fresh)
            stack += fresh
        found.remove(header)
        return sorted(path for path in found if path.endswith(SOURCES) and not self._tree.files.facts(path).main)

    def programs(self, start: str) -> list[list[str]]:
        """A file with its headers, and the other sources that define what it calls: of sources that define the same
        function one, so there are several programs where it may be any of them.

        Those of other folders are left out where they would be too many: calls into a large library are unknown then.
        """
        for uncalled in (True, False):
            programs = self._grown(start, everywhere=True, uncalled=uncalled)
            if all(len(files) <= MOST_FILES for files in programs):
                return programs
        return self._grown(start, everywhere=False, uncalled=False)

    def _grown(self, start: str, everywhere: bool, uncalled: bool) -> list[list[str]]:
        programs: list[list[str]] = []
        left: list[_Growth] = [_Growth({}, [start], frozenset())]
        while left:
            files, fresh, without = left.pop()
            files.update(dict.fromkeys(p for path in fresh for p in (path, *self._tree.included(path))))
            linked, running = list[str](), list[str]()
            if everywhere and len(files) <= MOST_FILES:
                linked = self._linked(files, start)
                running = self._run_without_calls(files, start) if uncalled else []
            beside: Iterable[str] = ()
            if self._beside[os.path.dirname(start)] and self._tree.files.facts(start).main:
                used = set[bytes]().union(*(self._outlines.words(p).all for p in files))
                beside = self._beside_it(start, files, used, everywhere)
            called = [p for p in dict.fromkeys((*beside, *linked)) if p not in files and p not in without]
            running = [p for p in running if p not in files and p not in without and p not in called]
            if not called and not running:
                programs.append(list(files))
                continue
            most = MOST_CHOICES - len(programs) - len(left)
            for choice in self._choices(called, running, files, start, most):
                others = without.union(called, running).difference(choice)
                left.append(_Growth(dict(files), choice, others))
        return programs

    def _is_contested(self, source: str, files: Collection[str]) -> bool:
        """Whether files may call a function that this source defines, and another one that is linked in place of it."""
        names = {WORD.findall(function.partition(b"(")[0])[-1] for function in self._outlines.outline(source).alone}
        names &= set[bytes]().union(*(self._outlines.words(path).all for path in files))
        others = self._defining(self._without_main, names) if names else ()
        return any(self._exclude(source, other) for other in others)

    def _choices(
        self, called: Collection[str], running: Collection[str], files: Collection[str], start: str, most: int
    ) -> list[list[str]]:
        """What a program may have of sources that define what it calls, and of those that run without that, as one
        source defines a function: not what excludes a source that it has, of others that are called the nearest to its
        first file, of these any that go together.
        """
        here = [path for path in files if path.endswith(SOURCES)]
        kept = [path for path in running if not any(self._exclude(path, other) for other in here)]
        for _, paths in groupby(sorted(called, key=lambda p: _distance(p, start)), key=lambda p: _distance(p, start)):
            nearest = [path for path in paths if not any(self._exclude(path, other) for other in here)]
            here += nearest
            kept += nearest
        kept.sort(key=[*called, *running].index)
        choices: list[frozenset[str]] = [frozenset()]
        for path in kept:
            excluded = frozenset(other for other in kept if self._exclude(path, other))
            apart = [choice for choice in choices if not excluded.isdisjoint(choice)]
            choices = [choice - excluded | {path} for choice in choices]
            if apart:
                choices = [one for one in (*apart, *choices) if not any(one < other for other in (*apart, *choices))]
            choices = list(dict.fromkeys(choices))
            if len(choices) > most:
                break
        for path in running:
            if len(choices) <= most and self._is_contested(path, files):
                choices = list(dict.fromkeys(one for choice in choices for one in (choice, choice - {path})))
        if len(choices) > most:
            return [[p for p in called if p in kept and not any(self._exclude(p, other) for other in kept)]]
        return [[path for path in kept if path in choice] for choice in choices]

    def _exclude(self, path: str, other: str) -> bool:
        """Whether two sources define the same function, so that no program has both (C++17, 6.2 [basic.def.odr])."""
        key = (path, other) if path < other else (other, path)
        if key not in self._excluding:
            self._excluding[key] = path != other and self._define_the_same(path, other)
        return self._excluding[key]

    def _define_the_same(self, path: str, other: str) -> bool:
        one, two = self._outlines.outline(path).alone, self._outlines.outline(other).alone
        common = one.keys() & two.keys()
        if not common or path in self._tree.included(other) or other in self._tree.included(path):
            return False
        of_one, of_two = ({each, *self._tree.included(each)} for each in (path, other))
        own = set[bytes]().union(*(self._outlines.outline(file).renames for file in of_one ^ of_two))
        shared = [self._outlines.outline(file) for file in of_one & of_two]
        for function in common:
            words = one[function] | two[function] | {*WORD.findall(function)}
            fresh = words
            while fresh:  # a macro may say `inline`, and a name may stand for another type in each source
                known = (outline.uses[name] for outline in shared for name in fresh & outline.renames)
                fresh = set[bytes]().union(*known) - words
                words = words | fresh
            if own.isdisjoint(words) and words.isdisjoint(SEVERAL):
                return True
        return False

    def _beside_it(
        self, start: str, files: Collection[str], used: AbstractSet[bytes], everywhere: bool
    ) -> Iterator[str]:
        """Sources of the same folder that define what the files use and do not define themselves: what they call of
        another source besides is declared, and linked for that, if linking looks `everywhere`. If it does not, such a
        source is only left out where another one includes it, and it is not compiled on its own.
        """
        defined: set[bytes] | None = None
        for path in self._defining(self._beside[os.path.dirname(start)], used):
            if path not in files and (everywhere or path in self._included):
                defined = defined or set().union(*(self._outlines.words(p).defined for p in files))
                if defined >= self._defined(path) & used:
                    continue
            yield path

    def _defining(self, paths: Iterable[str], names: AbstractSet[bytes]) -> Iterator[str]:
        return (p for p in paths if not names.isdisjoint(self._defined(p)))

    def _defined(self, source: str) -> AbstractSet[bytes]:
        """The words that a source may define, in the files that it alone includes too."""
        own = self._outlines.words(source).defined
        parts = self._parts(source)
        return own.union(*(self._outlines.words(p).defined for p in parts)) if parts else own

    def _parts(self, source: str) -> list[str]:
        """The files that no other source includes."""
        if source not in self._parts_of:
            self._parts_of[source] = [p for p in self._tree.included(source) if self._is_of_one(p)]
        return self._parts_of[source]

    def _is_of_one(self, header: str) -> bool:
        """Whether one source includes a file, directly or not, and no other."""
        if header not in self._of_one:
            found, sources = {header}, 0
            stack = [header]
            while stack and sources < 2:
                fresh = [path for path in self._includers.get(stack.pop(), ()) if path not in found]
                found.update(fresh)
                sources += sum(path.endswith(SOURCES) for path in fresh)
                stack += fresh
            self._of_one[header] = sources == 1
        return self._of_one[header]

    def _linked(self, files: Collection[str], start: str) -> list[str]:
        """Sources that define a name which the files reach, and which a header declares that both include."""
        if all(source in files for path in files for source in self._defining_for(path)):
            return []
        offered: dict[Name, set[str]] = defaultdict(set)
        for path in files:
            for function, sources in self._offered(path).items():
                offered[function].update(sources)
        if all(p in files for sources in offered.values() for p in sources):
            return []
        outlines = {path: self._outlines.outline(path) for path in files}
        fresh = {b"main"}.union(*(outline.always for outline in outlines.values()))
        for path, outline in outlines.items():
            if path in self._candidates or path == start:  # what it exports is looked at too
                fresh |= outline.uses.keys()
        reached = self._reached_in(files, fresh)
        wanted = (sources for name, sources in sorted(offered.items()) if _is_reached(name, reached))
        return [path for sources in wanted for path in _nearest(sources, start)]

    def _reached_in(self, files: Collection[str], words: AbstractSet[bytes]) -> set[bytes]:
        """These words, and those that the definitions of them use in some files."""
        for path in files:
            if path not in self._indexed:
                self._indexed.add(path)
                for name, used in self._outlines.outline(path).uses.items():
                    self._using.setdefault(name, []).append((path, used))
        fresh, reached = set(words), set[bytes]()
        while fresh:
            reached |= fresh
            known = (self._using[name] for name in fresh & self._using.keys())
            fresh = set[bytes]().union(*(used for uses in known for path, used in uses if path in files)) - reached
        return reached

    def _run_without_calls(self, files: Collection[str], start: str) -> list[str]:
        """The sources of which something runs though nobody calls it by a name: they replace a global `operator new` or
        `operator delete`; an attribute has one of their functions run at the start or the end of the program, or puts a
        pointer to one into a section for that; they make `thread_local` variables; they make objects, when the program
        starts, of a class that is derived from one of these files with virtual functions; or what they initialize then
        with may store in variables of other sources.
        """
        classes = set[bytes]()
        for path in files:
            if b"virtual" in self._outlines.words(path).all:
                classes |= self._outlines.outline(path).classes
        sources = [path for path in files if path.endswith(SOURCES)]
        named = set[bytes]().union(*(self._outlines.words(path).all for path in sources))
        defined = set[bytes]().union(*(self._outlines.words(path).defined for path in sources))
        found: dict[str, None] = {}
        beside = self._beside[os.path.dirname(start)] if self._tree.files.facts(start).main else ()
        for source in dict.fromkeys((*beside, *(source for path in files for source in self._sources_for(path)))):
            if source not in files and self._runs_by_itself(source, files, classes, named, defined):
                found[source] = None
        return list(found)

    def _leaves_something(self, files: Collection[str], called: AbstractSet[bytes]) -> bool:
        """Whether anything is another thing after functions of some files have run: memory that nobody else has is not.
        What has a name that all may use is a variable, something that a function keeps, or the device.
        """
        reached = self._reached_in(files, called)
        outlines = (self._outlines.outline(path) for path in files)
        if any(
            not reached.isdisjoint(outline.variables) or not reached.isdisjoint(outline.keep) for outline in outlines
        ):
            return True
        words = (self._outlines.words(path) for path in files if not path.endswith(SOURCES))
        return any(not reached.isdisjoint(each.shared) for each in words) or any(map(_OF_DEVICE.match, reached))

    def _runs_by_itself(
        self,
        source: str,
        files: Collection[str],
        classes: AbstractSet[bytes],
        named: AbstractSet[bytes],
        defined: AbstractSet[bytes],
    ) -> bool:
        words = self._outlines.words(source)
        if self._has_attribute_to_run(source):
            return True
        if b"operator" in words.defined:
            exports = self._outlines.outline(source).exports
            if any(not name.scope and name.last.startswith(_REPLACED) for name in exports):
                return True
        if not self._may_name_others(source, defined):
            return False
        if b"thread_local" in words.all and self._outlines.outline(source).always:
            return True
        # a function of the program may store where it likes
        if not self._of_others(source).isdisjoint(named) or not defined <= words.defined:
            reached = self._reached_at_start(source)
            if not reached.isdisjoint(self._of_others(source) & named):
                return True
            called = reached & (defined - words.defined)
            if called and self._leaves_something(files, called):
                return True
        return not classes.isdisjoint(words.bases) and not classes.isdisjoint(self._bases_at_start(source))

    def _of_others(self, source: str) -> AbstractSet[bytes]:
        """The names of variables in a source that may be those of other ones, of static members in its headers too."""
        if source not in self._variables_of:
            headers = self._tree.included(source)
            found = set[bytes]().union(*(self._outlines.words(path).variables for path in (source, *headers)))
            found.update(*(self._outlines.words(path).shared for path in headers if not path.endswith(SOURCES)))
            self._variables_of[source] = found
        return self._variables_of[source]

    def _has_attribute_to_run(self, source: str) -> bool:
        """Whether an attribute may run a function of a source: written there, or by a macro of a header."""
        if source not in self._running:
            named = self._outlines.words(source).all
            own = not named.isdisjoint(_ATTRIBUTES) and not named.isdisjoint(_RUNS | _SECTIONS)
            self._running[source] = own or any(map(self._may_run, self._tree.included(source)))
        return self._running[source]

    def _may_run(self, header: str) -> bool:
        """Whether a macro of a header may be an attribute that runs a function."""
        if header not in self._running_by_macro:
            words = self._outlines.words(header).all
            self._running_by_macro[header] = not words.isdisjoint(_ATTRIBUTES) and not words.isdisjoint(_RUNS)
        return self._running_by_macro[header]

    def _may_name_others(self, source: str, defined: AbstractSet[bytes]) -> bool:
        """Whether a source declares anything that another one has: without that it cannot name it ([basic.lookup]).
        `defined` are the functions of the others.
        """
        if self._tree.included(source) or self._outlines.words(source).variables:
            return True
        outline = self._outlines.outline(source)
        if outline.uses or outline.classes:
            return True
        return not defined.isdisjoint(name.last for name in outline.declares)

    def _bases_at_start(self, source: str) -> set[bytes]:
        """What the classes are derived from of which a source makes objects when the program starts."""
        if source not in self._at_start:
            reached = self._reached_at_start(source)
            bases = (o.bases.get(name, ()) for o in self._own(source) for name in reached & o.bases.keys())
            self._at_start[source] = set().union(*bases)
        return self._at_start[source]

    def _reached_at_start(self, source: str) -> set[bytes]:
        """The names that the initializers of a source use, and the functions of its own that they call."""
        if source not in self._reached:
            own = frozenset((source, *self._parts(source)))
            self._reached[source] = self._reached_in(own, self._outlines.outline(source).always)
        return self._reached[source]

    def _own(self, source: str) -> list[Outline]:
        """The outlines of a source, and of the files that it alone includes."""
        return [self._outlines.outline(path) for path in (source, *self._parts(source))]

    def _offered(self, header: str) -> dict[Name, list[str]]:
        """The functions that a file declares, with the sources that define them."""
        if header not in self._offers:
            found: dict[Name, list[str]] = defaultdict(list)
            elsewhere: dict[Name, list[str]] = defaultdict(list)
            including = frozenset(self.including(header))
            for path in self._defining_for(header):
                for part in (path, *self._parts(path)):
                    for name in self._outlines.outline(header).offers(self._outlines.outline(part)):
                        (found if path in including else elsewhere)[name].append(path)
            self._offers[header] = elsewhere | found
        return self._offers[header]

    def _defining_for(self, header: str) -> list[str]:
        """The sources that may define what a file declares, by the words in both: those that include it, and those of
        its folder that do not.
        """
        if header not in self._defining_by_header:
            sources = self._sources_for(header)
            words = self._outlines.words(header).all if sources else frozenset()
            self._defining_by_header[header] = list(self._defining(sources, words))
        return self._defining_by_header[header]

    def _sources_for(self, header: str) -> list[str]:
        """The sources without `main` that include a file, and those of its folder; of a source those below its folder,
        where a function may be defined of which there is a prototype without a header.
        """
        if header not in self._sources_by_header:
            if header.endswith(SOURCES):
                folder = os.path.join(os.path.dirname(header), "")
                # names that start with `a/` are together in the order of names, in front of `a0`
                behind = folder[:-1] + chr(ord(folder[-1]) + 1) if folder else "\U0010ffff"
                first, last = bisect_left(self._without_main, folder), bisect_left(self._without_main, behind)
                self._sources_by_header[header] = self._without_main[first:last]
            else:
                own_folder = self._beside.get(os.path.dirname(header), ())
                self._sources_by_header[header] = list(dict.fromkeys((*self.including(header), *own_folder)))
        return self._sources_by_header[header]


def _is_reached(function: Name, reached: AbstractSet[bytes]) -> bool:
    """Whether the words that are reached may call a function: an operator is called without its name."""
    if function.last.startswith(b"operator"):
        return not function.scope or function.scope in reached
    return function.last in reached


def _upward(folder: str) -> Iterator[str]:
    """A folder, those above it, and the current one."""
    while folder and folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)
    yield from dict.fromkeys((folder, ""))


def _nearest(sources: Collection[str], start: str) -> Collection[str]:
    """Of several sources that define the same function, those that share most folders with a program's first file, and
    stand in the fewest others.
    """
    if len(sources) == 1:
        return sources
    ranked = sorted((_distance(path, start), path) for path in sources)
    return [path for rank, path in ranked if rank == ranked[0][0]]


def _distance(source: str, start: str) -> tuple[int, int]:
    return -shared_folders(source, start), source.count(os.sep)


def _united(programs: list[list[str]], candidates: set[str]) -> list[list[list[str]]]:
    parent = list(range(len(programs)))

    def find(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    first: dict[str, int] = {}
    for n, program in enumerate(programs):
        for path in program:
            if path in candidates:
                parent[find(n)] = find(first.setdefault(path, n))
    united: dict[int, list[list[str]]] = defaultdict(list)
    for n, program in enumerate(programs):
        united[find(n)].append(program)
    return list(united.values())
