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
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import NamedTuple

from cudafix.ir.link import SOURCES
from cudafix.pipeline import starts
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.outlines import KEYWORDS, OPERATOR, SEVERAL, WORD, Name, Outlines
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
_OF_DEVICE = re.compile(
    rb"cu(?:da|[A-Z]|(?:blas|dnn|dss|fft|file|pti|rand|solver|sparse|statevec|tensor)[a-z]*[A-Z_])|__global__$"
    rb"|(?:nccl|npp[ics]|nvjpeg)\w*[A-Z]|(?:thrust|cub|rmm|torch)$"
)
_SAYS_NOTHING = re.compile(
    rb"\w+_t$|cuda(?:Success$|Error|Memcpy\w+To[A-Z]|MemcpyKind$|\w+(?:Prop|Desc|Params|Parms|Attr|Attributes|Handle)$"
    rb"|(?:Get\w+|Create\w+)?ChannelDesc$|Extent$|Pos$|PitchedPtr$|Array$|ResourceType|ReadMode|FilterMode|AddressMode"
    rb"|TextureObject$|SurfaceObject$|GetError(?:String|Name)$)|cu[a-z]+(?:Handle|Descr)$"
)
"""Names of types and constants, and of functions that only compute."""
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


class _Unit(NamedTuple):
    """A source with its headers: the names of its `variables`, and of those that may be `of_others`; the functions that
    `keep` something, and those that it `declares`; all that it has `known` names of, and which are `types` and macros;
    the sources that define what it declares, by its name (`offered`).
    """

    files: AbstractSet[str]
    variables: AbstractSet[bytes]
    of_others: AbstractSet[bytes]
    keep: AbstractSet[bytes]
    declares: AbstractSet[bytes]
    known: AbstractSet[bytes]
    types: AbstractSet[bytes]
    offered: Mapping[bytes, Collection[str]]

    def uses_device(self, names: AbstractSet[bytes]) -> bool:
        """Whether one of these names is that of a function of CUDA's libraries, or says that something is a kernel."""
        found = (name for name in names if _OF_DEVICE.match(name) is not None and name not in self.known)
        return any(_SAYS_NOTHING.match(name) is None for name in found)


class _Start(NamedTuple):
    """What a source does at the start: whether it `uses_device`, and the names of `variables` and `functions` that may
    be those of others.
    """

    uses_device: bool
    variables: AbstractSet[bytes]
    functions: AbstractSet[bytes]


class _Linker:
    """The sources of a tree, and which of them a program needs."""

    def __init__(self, tree: Tree, candidates: set[str], outlines: Outlines) -> None:
        self._tree = tree
        self._candidates = candidates
        self._outlines = outlines
        self._offers: dict[str, dict[Name, list[str]]] = {}
        self._defining_by_header: dict[str, list[str]] = {}
        self._sources_by_header: dict[str, list[str]] = {}
        self._units: dict[str, _Unit] = {}
        self._starts: dict[str, _Start] = {}  # see `_at_start`
        self._indexed: set[str] = set()
        self._using: dict[bytes, list[tuple[str, set[bytes]]]] = {}  # what the definitions of a name use, by file
        self._running: dict[str, bool] = {}  # see `_has_attribute_to_run`
        self._running_by_macro: dict[str, bool] = {}
        self._beside: dict[str, list[str]] = defaultdict(list)  # sources without `main`, by folder
        self._includers: dict[str, list[str]] = defaultdict(list)  # the files that include a file themselves
        self._without_main: list[str] = []
        self._defined_in: dict[str, AbstractSet[bytes]] = {}
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
        kept: list[str] = []
        for _, paths in groupby(sorted(called, key=lambda p: _distance(p, start)), key=lambda p: _distance(p, start)):
            nearest = [path for path in paths if not any(self._exclude(path, other) for other in here)]
            here += nearest
            kept += nearest
        for path in kept:  # in each choice, as one of them is called
            if any(self._exclude(path, other) for other in kept):
                here.remove(path)
        kept += [path for path in running if not any(self._exclude(path, other) for other in here)]
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
        if source not in self._defined_in:
            files = (source, *self._parts(source))
            own = set[bytes]().union(*(self._outlines.words(path).defined for path in files))
            self._defined_in[source] = own | {OPERATOR} if b"operator" in own else own
        return self._defined_in[source]

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
        fresh = {b"main", OPERATOR} | self._started(files, files)
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
        pointer to one into a section for that; or what they do at the start may store in variables of these files, call
        functions of theirs that leave something behind, or use the device.
        """
        sources = [path for path in files if path.endswith(SOURCES)]
        words = set[bytes]().union(*(self._outlines.words(path).all for path in sources))
        named = self._reached_in([path for path in files if not path.endswith(SOURCES)], words)
        units = [self._unit(path) for path in sources]
        named &= self._started(files, files).union(*(unit.variables | unit.of_others for unit in units)) - KEYWORDS
        found: dict[str, None] = {}
        beside = self._beside[os.path.dirname(start)] if self._tree.files.facts(start).main else ()
        for source in dict.fromkeys((*beside, *(source for path in files for source in self._sources_for(path)))):
            if source not in files and self._runs_by_itself(source, sources, named):
                found[source] = None
        return list(found)

    def _runs_by_itself(self, source: str, program: Collection[str], named: AbstractSet[bytes]) -> bool:
        """Whether a source runs something for the sources of a `program` that have `named` these variables."""
        if self._has_attribute_to_run(source):
            return True
        if b"operator" in self._outlines.words(source).defined:
            exports = self._outlines.outline(source).exports
            if any(not name.scope and name.last.startswith(_REPLACED) for name in exports):
                return True
        at_start = self._at_start(source)
        if at_start.uses_device or not at_start.variables.isdisjoint(named):
            return True
        return self._leave_something(program, at_start.functions)

    def _leave_something(self, sources: Collection[str], called: AbstractSet[bytes]) -> bool:
        """Whether anything is another thing after functions of some sources have run: memory that nobody else has is
        not. What has a name that all may use is a variable, something that a function keeps, or the device.
        """
        units: dict[str, set[bytes]] = {}
        stack = [(source, names) for source in sources if (names := called & self._defined(source))]
        while stack:
            source, names = stack.pop()
            unit = self._unit(source)
            known = units.get(source, set())
            reached = self._reached_in(unit.files, known | names)
            if unit.uses_device(reached) or not reached.isdisjoint(unit.variables | unit.keep):
                return True
            if fresh := reached - known:
                units[source] = reached
                abroad = (fresh & unit.declares) - {b"operator"}
                stack += (
                    (other, names)
                    for other in sources
                    if other != source and abroad and (names := abroad & self._defined(other))
                )
        return False

    def _at_start(self, source: str) -> _Start:
        """What a source does at the start, in functions of other sources too that it may be linked with."""
        if source in self._starts:
            return self._starts[source]
        units: dict[str, set[bytes]] = {}
        variables, functions = set[bytes](), set[bytes]()
        uses_device = False
        stack = list[tuple[str, set[bytes]]]()
        if not source.endswith(".c"):  # there initializers are constants (C17, 6.7.9, paragraph 4)
            stack.append((source, self._started(self._unit(source).files, self._unit(source).files)))
        while stack:
            path, names = stack.pop()
            unit = self._unit(path)
            known = units.get(path, set())
            reached = self._reached_in(unit.files, known | names)
            if starts.PASTED in reached:
                reached = self._reached_in(unit.files, reached.union(n for n in unit.known if _is_pasted(n, reached)))
            fresh = reached - known - {b"operator"}
            if not fresh:
                continue
            units[path] = reached
            uses_device = uses_device or unit.uses_device(fresh)
            variables |= fresh - unit.types if starts.DECLARES in fresh else fresh & unit.of_others
            abroad = fresh & unit.declares
            if OPERATOR in unit.declares:  # it is called without a name
                abroad.add(OPERATOR)
            functions |= abroad | (fresh - self._defined(path))
            for name in abroad:
                stack += ((other, {name}) for other in unit.offered.get(name, ()) if other != path)
        self._starts[source] = _Start(uses_device, variables, functions)
        return self._starts[source]

    def _unit(self, source: str) -> _Unit:
        if source not in self._units:
            files = frozenset((source, *self._tree.included(source)))
            outlines = [self._outlines.outline(path) for path in files]
            headers = [path for path in files if not path.endswith(SOURCES)]
            declares, offered = set[bytes](), defaultdict[bytes, list[str]](list)
            for path in files:
                declares.update(map(_called_by, self._outlines.outline(path).declares))
                for name, sources in self._offered(path).items():
                    offered[_called_by(name)] += sources
            by_macro = any(b"extern" in outline.uses.get(name, ()) for outline in outlines for name in outline.renames)
            of_others = self._variables(files if by_macro else headers)
            self._units[source] = _Unit(
                files,
                self._variables(files),
                of_others.union(*(self._outlines.words(path).variables for path in files)),
                set[bytes]().union(*(outline.keep for outline in outlines)),
                declares,
                declares.union(*(outline.uses.keys() for outline in outlines)),
                self._types(files).union(*(outline.renames for outline in outlines)),
                offered,
            )
        return self._units[source]

    def _variables(self, files: Collection[str]) -> set[bytes]:
        """The names of what some files declare that lives as long as the program."""
        types = self._types(files)
        found = set[bytes]()
        for path in files:
            outline = self._outlines.outline(path)
            found |= outline.variables
            found.update(one.declares for one in outline.doubtful if starts.may_be_object(one.types, types))
            if not path.endswith(SOURCES):
                found |= self._outlines.words(path).shared
        return found

    def _types(self, files: Iterable[str]) -> set[bytes]:
        """The names in some files that are those of types and of nothing else."""
        outlines = [self._outlines.outline(path) for path in files]
        others = {name.last for outline in outlines for name in outline.declares if name.last != name.scope}
        return (
            set[bytes]()
            .union(*(outline.types for outline in outlines))
            .difference(others, *(outline.variables for outline in outlines))
        )

    def _started(self, paths: Iterable[str], files: Collection[str]) -> set[bytes]:
        """The names that some files use when the program starts, where these files are all that they see."""
        types = self._types(files)
        outlines = [self._outlines.outline(path) for path in files]
        defining = set[bytes]().union(*(outline.defining for outline in outlines))
        known = set[bytes]()
        while known != (known := defining.copy()):  # macros that stand for such a one
            names = {name.rstrip(b"(") for name in known}
            for outline in outlines:
                macros = outline.renames - outline.types
                again = {name for name in macros if not names.isdisjoint(outline.uses.get(name, ()))}
                defining |= again
                defining.update(name + b"(" for name in again)
        found = set[bytes]()
        for path in paths:
            outline = self._outlines.outline(path)
            found |= outline.always
            for doubt in outline.doubtful:
                if starts.may_be_object(doubt.types, types) or not defining.isdisjoint(doubt.words):
                    found.update(word.rstrip(b"(") for word in doubt.words)
        return found

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


def _is_pasted(name: bytes, words: AbstractSet[bytes]) -> bool:
    """Whether a name is made of several words, and of numbers."""
    ends = {0}
    for stop in range(1, len(name) + 1):
        if any(name[at:stop] in words or name[at:stop].isdigit() for at in ends if stop - at < len(name)):
            ends.add(stop)
    return len(name) in ends


def _called_by(function: Name) -> bytes:
    """The name by which a function is called: an operator is where an object of its class is used."""
    if not function.last.startswith(b"operator"):
        return function.last
    return function.scope or OPERATOR


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
