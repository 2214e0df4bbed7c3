"""The files of a run: which files a program consists of, and each file lowered once, when it is asked for."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from cudafix import ir
from cudafix.frontends.cuda.lower import module as lower
from cudafix.frontends.cuda.parse import source
from cudafix.frontends.cuda.preprocess.configurations import VARIABLE
from cudafix.frontends.cuda.preprocess.units import Listing, Step, Unit
from cudafix.frontends.cuda.sema.declarations import Declarations
from cudafix.interrupts import checkpoint
from cudafix.ir.link import SOURCES, Program
from cudafix.models.headers import is_known, stand_in
from cudafix.pipeline.surroundings import RUNTIME, WORD, Surroundings
from cudafix.pipeline.writers import CUDA, PythonWriter
from cudafix.project import prefilter
from cudafix.project.config import Config
from cudafix.project.files import Files
from cudafix.project.including import Headers
from cudafix.rewrite import wrappers
from cudafix.rewrite.wrappers import Wrappers
from cudafix.rewrite.writer import Writer

if TYPE_CHECKING:
    from cudafix.frontends.python.lowering import Methods
    from cudafix.frontends.python.tree import PythonTree


# a file may also say it itself, in front of the header of the runtime (CUDA programming guide, "Default Stream")
OF_THE_THREAD = re.compile(rb"_pt(?:sz|ds)\b|API_PT(?:SZ|DS)\b")
"""In names of functions for which stream 0 is that of the thread, however the file is compiled (CUDA's headers)."""
PER_THREAD = re.compile(rb"^[ \t]*#[ \t]*define(?:[ \t]|\\\r?\n)+CUDA_API_PER_THREAD_DEFAULT_STREAM\b", re.MULTILINE)

_NAMED = re.compile(rb'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+("[^"\n]+"|<[^>\n]+>)', re.MULTILINE)

_UNLESS_DEFINED = re.compile(  # what a file defines or declares unless it is a macro: guards of headers have no body
    rb"^[ \t]*#[ \t]*if(?:ndef[ \t]+|[^\n]*?![ \t]*defined[ \t(]*)(\w+)[^\n]*\n"
    rb"(?:(?![ \t]*#[ \t]*(?:endif|else|elif))[^\n]*\n){0,40}?"
    rb"(?:[ \t]*#[ \t]*define[ \t]+\1(?:\(|[ \t]+\S)|(?![ \t]*(?:#|//|/?\*))[^\n]*\b\1\b)",
    re.MULTILINE,
)


def _absent(target: str) -> str:
    """The name of a header that is not here."""
    return "<" + target.strip('<>"') + ">"


class DefaultStreams(NamedTuple):
    """What a file says itself of the default stream: whether it names functions for which that is the one of the
    thread, and whether it defines that for all.
    """

    named: bool
    defined: bool


class Variant:
    """A file in one of its configurations, lowered when it is asked for."""

    def __init__(
        self, configuration: source.Configuration | None, visible: Callable[[], Declarations] | None = None
    ) -> None:
        self.values = configuration.values if configuration is not None else ()
        self.errors = 0
        self._configuration = configuration
        self._visible = visible
        self._parsed: source.Parsed | None = None
        self._declarations: Declarations | None = None
        self._module: ir.Module | None = None

    @classmethod
    def of(cls, module: ir.Module, errors: int) -> Variant:
        """A file that has one configuration, lowered."""
        variant = cls(None)
        variant._module, variant.errors = module, errors
        return variant

    @property
    def lowered(self) -> bool:
        """Whether a program has asked for it."""
        return self._module is not None

    @property
    def module(self) -> ir.Module:
        if self._module is None:
            checkpoint()
            parsed = self._parse()
            found = lower.declarations(parsed, self._visible() if self._visible is not None else None)
            if self._declarations is None:
                self._declarations = found.header()
            self._module = lower.lower(parsed, found)
            self._parsed = self._visible = None
        return self._module

    def seen_from(self, visible: Callable[[], Declarations]) -> None:
        """Take what the headers declare from another tree, where they are the same."""
        if self._visible is not None:
            self._visible = visible

    @property
    def declarations(self) -> Declarations:
        """What it declares to the files that include it."""
        if self._declarations is None:
            self._declarations = lower.declarations(self._parse()).header()
        return self._declarations

    def _parse(self) -> source.Parsed:
        if self._parsed is None:
            assert self._configuration is not None
            self._parsed = self._configuration.parse()
            self._configuration = None
            self.errors = len(self._parsed.errors)
        return self._parsed


class GivenReferences(NamedTuple):
    """What a file gets from those that include it: whether they may give a reference `to_templates`, and other names of
    types that may be references, with what they stand for.
    """

    to_templates: bool = False
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Around(NamedTuple):
    """What a file gets from its build, and from the files of a program that include it."""

    macros: tuple[source.Macro, ...]
    references: GivenReferences
    constants: frozenset[str] = frozenset()
    """Names that are no macros of headers that are not here."""
    unseen: bool = False
    """Whether it may have macros of headers that are not here."""
    perhaps: frozenset[str] = frozenset()
    """Those that are defined here only where no such header has."""
    guards: tuple[tuple[str, bool], ...] = ()
    """Of headers of the toolkit, whether they are included in front."""


@dataclass(slots=True)
class Tree:
    """The files of a run, lowered when they are asked for. Those of Python are kept apart (`python`)."""

    texts: InitVar[Mapping[str, bytes]]
    check_macros: tuple[str, ...] = ()
    include_folders: InitVar[Iterable[tuple[str, tuple[str, ...]]]] = ()
    constants: InitVar[Iterable[tuple[str, tuple[str, ...]]]] = ()
    mentioned_folders: InitVar[Iterable[tuple[str, tuple[str, ...]]]] = ()
    wanted: tuple[str, ...] = ()
    """The functions of the program, by qualified name, that the configuration has written for those of the runtime."""
    files: Files = field(init=False)
    variants: dict[tuple[str, Around], list[Variant]] = field(default_factory=dict)
    read: dict[tuple[str, Methods], list[Variant]] = field(default_factory=dict)  # of Python, by `methods`
    macros: dict[str, dict[str, source.Macro]] = field(default_factory=dict)
    listings: dict[str, Listing] = field(default_factory=dict)
    targets: dict[tuple[str, str], str | None] = field(default_factory=dict)  # which file an `#include` in a file means
    by_name: dict[str, list[str]] = field(default_factory=dict)
    includes: dict[str, list[str]] = field(default_factory=dict)
    names: dict[tuple[str, re.Pattern[bytes]], frozenset[Any]] = field(default_factory=dict)
    direct: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # with where the `#include` stands
    visible: dict[tuple[str, GivenReferences, frozenset[str], bool, frozenset[str]], Declarations] = field(
        default_factory=dict
    )
    """What headers declare to a file, by what it gets from the files around it."""
    opened: dict[tuple[str, tuple[str, ...]], GivenReferences] = field(default_factory=dict)
    spoken: dict[str, frozenset[str]] = field(default_factory=dict)
    declared: dict[str, frozenset[str]] = field(default_factory=dict)  # at namespace scope
    lacking: dict[str, bool] = field(default_factory=dict)  # see `lacks_headers`
    default_streams: dict[str, DefaultStreams] = field(default_factory=dict)
    around: dict[tuple[str, ...], Surroundings] = field(default_factory=dict)  # by program
    seen: dict[tuple[str, tuple[str, ...]], tuple[source.Macro, ...]] = field(default_factory=dict)
    views: dict[tuple[str, ...], list[View]] = field(default_factory=dict)  # of each program
    wrapping: dict[tuple[str, ...], Wrappers] = field(default_factory=dict)  # likewise
    wraps: dict[str, bool] = field(default_factory=dict)  # whether a file may define some
    wrapped: dict[tuple[int, tuple[object, ...]], tuple[ir.Module, ir.Module]] = field(
        default_factory=dict
    )  # see `as_called`
    mains: dict[str, list[str]] | None = None  # by folder
    python: PythonTree | None = None
    folders: dict[str, tuple[str, ...]] = field(init=False)  # where the build looks for the headers of a source
    built_in: dict[str, tuple[str, ...]] = field(init=False)  # the macros that the build of a source gives constants
    mentioned: dict[str, tuple[str, ...]] = field(init=False)  # folders for headers that the build of a file names
    headers: Headers = field(init=False)

    def __post_init__(
        self,
        texts: Mapping[str, bytes],
        include_folders: Iterable[tuple[str, tuple[str, ...]]],
        constants: Iterable[tuple[str, tuple[str, ...]]],
        mentioned_folders: Iterable[tuple[str, tuple[str, ...]]],
    ) -> None:
        self.files = Files.of(texts)
        self.folders = dict(include_folders)
        self.built_in = dict(constants)
        self.mentioned = dict(mentioned_folders)
        self.headers = Headers(
            self.files.__contains__,
            lambda name: self.by_name.get(name, ()),
            self.folders,
            self.mains_of,
            self.mentioned,
        )
        for path in self.files:
            self.by_name.setdefault(os.path.basename(path), []).append(path)
        if any(path.endswith(prefilter.SUFFIX) and self.is_candidate(path) for path in self.files):
            from cudafix.frontends.python.tree import PythonTree

            self.python = PythonTree(self.files)

    @classmethod
    def of(cls, files: Mapping[str, bytes], config: Config) -> Tree:
        """Some files, as the configuration reads them."""
        return cls(
            files,
            config.check_macros,
            config.include_folders,
            config.constants,
            config.mentioned_folders,
            config.wrappers or (),
        )

    def is_candidate(self, path: str) -> bool:
        """Whether a file may allocate or free."""
        return self.files.facts(path).allocates

    def wrappers_of(self, paths: Sequence[str]) -> Wrappers:
        """The functions of a program that stand for those of the runtime."""
        key = tuple(paths)
        if key not in self.wrapping:
            texts = {path: self.files[path] for path in paths if self._may_wrap(path)}
            if texts:
                texts = {path: self.files[path] for path in paths if not path.endswith(prefilter.SUFFIX)}
            self.wrapping[key] = wrappers.of_texts(texts, self.wanted)
        return self.wrapping[key]

    def _may_wrap(self, path: str) -> bool:
        if path not in self.wraps:
            self.wraps[path] = not path.endswith(prefilter.SUFFIX) and wrappers.may_declare(self.files[path])
        return self.wraps[path]

    def as_called(self, module: ir.Module, known: Wrappers) -> ir.Module:
        """A module of a program in which its wrappers are the functions of the runtime: the same one each time."""
        if not known.calls:
            return module
        key = id(module), known.said_of(module.path)
        if key not in self.wrapped:
            self.wrapped[key] = module, wrappers.canonical(module, known)
        return self.wrapped[key][1]

    def mains_of(self, folder: str) -> list[str]:
        """The sources with `main` in a folder."""
        if self.mains is None:
            self.mains = {}
            for path in self.files:
                if path.endswith(SOURCES) and self.files.facts(path).main:
                    self.mains.setdefault(os.path.dirname(path), []).append(path)
        return self.mains.get(folder, [])

    def writer(self, path: str) -> Writer:
        """The words of statements in this file."""
        if self.python is not None and path in self.python.paths:
            bindings = self.python.lowered(path)[1]
            return PythonWriter(bindings) if bindings is not None else CUDA
        return CUDA

    def included(self, path: str) -> list[str]:
        """The files of the tree that a file includes, transitively, in order; the nearest one where several have the
        name.
        """
        if self.python is not None and path in self.python.paths:
            return self.python.program(path)[1:]
        if path not in self.includes:
            seen: dict[str, None] = {}
            stack = [path]
            while stack:
                for _, found in self.includes_of(stack.pop()):
                    if found not in seen and found != path:
                        seen[found] = None
                        stack.append(found)
            self.includes[path] = list(seen)
        return self.includes[path]

    def lacks_headers(self, path: str) -> bool:
        """Whether a file, or one that it includes, names a header that is not here, and of which nothing is known."""
        if path not in self.lacking:
            self.lacking[path] = any(map(self._lacks_headers, (path, *self.included(path))))
        return self.lacking[path]

    def _lacks_headers(self, path: str) -> bool:
        targets = (target for _, target in self.files.facts(path).includes if not is_known(target.strip('<>"')))
        return any(self._find(path, target) is None and not self._named(path, target) for target in targets)

    def includes_of(self, path: str) -> list[tuple[int, str]]:
        """The files of the tree that a file includes itself, with where the lines stand that do."""
        if path not in self.direct:
            targets = self.files.facts(path).includes
            found = ((at, self._find(path, target)) for at, target in targets)
            self.direct[path] = [(at, p) for at, p in found if p is not None]
            if through := [(at, each) for at, target in targets for each in self._named(path, target)]:
                self.direct[path] = sorted({*self.direct[path], *through})
        return self.direct[path]

    def _named(self, path: str, macro: str) -> list[str]:
        """The files that `#include MACRO` may mean in a file, by the definitions in front of it and in its headers."""
        if not macro.isidentifier():
            return []
        queue, seen, targets, wanted = [path], {path}, list[str](), macro.encode()
        for one in queue:
            targets += [target.decode() for name, target in self.words(one, _NAMED) if name == wanted]
            for _, other in self.includes_of(one):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        found = (self._find(path, target) for target in sorted(targets))
        return [each for each in dict.fromkeys(found) if each is not None]

    def _find(self, path: str, target: str) -> str | None:
        if (path, target) not in self.targets:
            name = target.strip('<>"').rpartition("/")[2]
            # most are headers of the system
            known = name in self.by_name or name in ("", ".", "..")
            self.targets[path, target] = self.headers.find(path, target) if known else None
        return self.targets[path, target]

    def words(self, path: str, pattern: re.Pattern[bytes]) -> frozenset[Any]:
        """What `pattern` finds in a file: text, or a tuple of its groups."""
        if (path, pattern) not in self.names:
            self.names[path, pattern] = frozenset(pattern.findall(self.files[path]))
        return self.names[path, pattern]

    def default_streams_in(self, path: str) -> DefaultStreams:
        """What a file says itself of the default stream."""
        if path not in self.default_streams:
            text = self.files[path]
            named = (b"_pt" in text or b"API_PT" in text) and OF_THE_THREAD.search(text) is not None
            defined = b"PER_THREAD" in text and PER_THREAD.search(text) is not None
            self.default_streams[path] = DefaultStreams(named, defined)
        return self.default_streams[path]

    def macros_of(self, path: str) -> dict[str, source.Macro]:
        """Every macro that a file defines."""
        self._read_directives(path)
        return self.macros[path]

    def listing_of(self, path: str) -> Listing:
        """The directives of a file that may change macros."""
        self._read_directives(path)
        return self.listings[path]

    def _read_directives(self, path: str) -> None:
        if path not in self.macros or path not in self.listings:
            python = path.endswith(prefilter.SUFFIX)
            found = ({}, Listing.of(())) if python else source.for_others(path, self.files[path])
            self.macros[path], self.listings[path] = found

    def unit(self, paths: Collection[str], names: Iterable[str], visited: Iterable[str] = ()) -> Unit:
        """Some files of a translation unit, for some of its macros (`units.Unit`)."""
        return Unit(
            paths,
            self.listing_of,
            self._find,
            lambda path: (found for _, found in self.includes_of(path)),
            names,
            visited,
        )

    def unit_with_headers(self, paths: Collection[str], names: Collection[str], visited: Iterable[str]) -> Unit:
        """As `unit`, with what is known of headers that are not here (`headers.stand_in`): names in brackets."""
        targets = {path: [target for _, target in self.files.facts(path).includes] for path in paths}
        absent = {path: [_absent(t) for t in found if self._find(path, t) is None] for path, found in targets.items()}

        def listing(path: str) -> Listing:
            if path not in absent:
                return source.for_others(path, stand_in(path.strip("<>")))[1]
            found = self.listing_of(path)
            by_macro = [Step("include", name) for name in absent[path] if name.strip("<>").isidentifier()]
            return Listing.of((*by_macro, *found.steps), found.guard) if by_macro else found

        def includes(path: str) -> Iterator[str]:
            if path in absent:
                yield from (found for _, found in self.includes_of(path))
                yield from absent[path]

        return Unit(
            {*paths, *chain.from_iterable(absent.values()), RUNTIME},
            cache(listing),
            lambda path, target: self._find(path, target) or _absent(target),
            includes,
            names,
            visited,
        )

    def _placed(self, path: str) -> Unit | None:
        """The unit of a file for the macros that are not the same wherever it uses them, because of its headers: those
        that are changed more than once, or under conditions on these, or perhaps used in front of the `#include`.
        """
        headers = self.included(path)
        listings = {one: self.listing_of(one) for one in (path, *headers)}
        changes: Counter[str] = Counter()
        for listing in listings.values():
            changes.update(listing.changes)
        places = self.includes_of(path)
        early = WORD.findall(self.files[path], 0, places[-1][0]) if places else ()
        placed = {name for name, count in changes.items() if count > 1} | ({w.decode() for w in early} & changes.keys())
        placed.update(name for header in headers for name in self._perhaps_hiding(header, path))
        fresh = set(placed)
        decided: set[str] = set()  # the files whose changes are placed
        while fresh:
            found: set[str] = set()
            for one, listing in listings.items():
                for name in fresh & listing.decides.keys():
                    changed, targets = listing.decides[name]
                    found |= changed
                    for target in targets:
                        for other in (self._find(one, target), *self._named(one, target)):
                            if other in listings and other not in decided:
                                behind = (other, *self.included(other))
                                decided.update(behind)
                                found.update(*(listings[each].changes for each in behind))
            fresh = found - placed
            placed |= fresh
        if not placed:
            return None
        used: set[str] = set()
        fresh = set(self.names_in(path) & changes.keys())
        while fresh:
            used |= fresh
            macros = (
                macros[name] for one in listings for macros in (self.macros_of(one),) for name in fresh & macros.keys()
            )
            fresh = {word.decode() for macro in macros for word in WORD.findall(macro.body)} & changes.keys() - used
        used = {name for name in used & placed if any(name in self.listing_of(one).changes for one in headers)}
        return self.unit(tuple(listings), used) if used else None

    def _perhaps_hiding(self, header: str, path: str) -> Iterator[str]:
        """The macros that a header defines under a condition, and that may have the names of variables of a file."""
        listing = self.listing_of(header)
        if listing.conditional:
            variables = self.words(path, VARIABLE)
            for name, macro in self.macros_of(header).items():
                if macro.params is None and name.encode() in variables and listing.is_conditional(macro.body_start):
                    yield name

    def variants_of(self, path: str, program: Collection[str] = ()) -> list[Variant]:
        """The configurations of a file, with the macros of the headers that it includes, and with those that all files
        of `program` that include it define in front of that.
        """
        if self.python is not None and path in self.python.paths:
            methods = self.python.methods(path, program)
            if (path, methods) not in self.read:
                module, _, errors = self.python.lowered(path, methods)
                self.read[path, methods] = [Variant.of(module, errors)]
            return self.read[path, methods]
        around = Around(
            self.defined_around(path, program),
            self._given_references(path, program),
            *self._around(tuple(program)).names_around(path),
            guards=self._around(tuple(program)).guards_around(path),
        )
        if around.unseen:
            defined = {
                name.decode() for one in (path, *self.included(path)) for name in self.words(one, _UNLESS_DEFINED)
            }
            around = around._replace(perhaps=frozenset(defined & self.names_in(path)))
        if (path, around) not in self.variants:
            visible = {name: source.check_macro(name) for name in self.check_macros}
            unit = self._placed(path)
            for header in reversed(self.included(path)):
                visible.update(self.macros_of(header))
            for name in unit.names if unit is not None else ():
                visible.pop(name, None)
            visible.update((macro.name, macro) for macro in around.macros)
            for name in ("cudaMalloc", "cudaFree"):
                visible.pop(name, None)  # refused by name later
            declared = partial(self._visible, path, around)
            self.variants[path, around] = [
                Variant(c, declared)
                for c in source.configurations(path, self.files[path], visible, unit, around.guards)
            ]
        return self.variants[path, around]

    def defined_around(self, path: str, program: Collection[str]) -> tuple[source.Macro, ...]:
        """The macros that a file may use and that only those of `program` define which include it."""
        key = tuple(program)
        if (path, key) not in self.seen:
            self.seen[path, key] = self._around(key).of(path)
        return self.seen[path, key]

    def differs(self, path: str, program: Collection[str]) -> bool:
        """Whether a file may be in several of its configurations in one program: it asks for macros that those do not
        define alike which include it.
        """
        return self._around(tuple(program)).differs(path)

    def _around(self, program: tuple[str, ...]) -> Surroundings:
        if not program:
            return Surroundings(self, ())  # of this tree's files, and not of those that it is a part of
        if program not in self.around:
            self.around[program] = Surroundings(self, program)
        return self.around[program]

    def names_in(self, path: str) -> frozenset[str]:
        """The words of a file, without those that begin with two underscores (`__global__`): they mean what the
        compiler says, whoever defines them for an editor.
        """
        if path not in self.spoken:
            words = self.words(path, WORD)
            self.spoken[path] = frozenset(word.decode() for word in words if not word.startswith(b"__"))
        return self.spoken[path]

    def declared_for(self, path: str) -> frozenset[str]:
        """The names of the variables at namespace scope and of the enumerators that a file declares, itself
        or in its headers, whatever its configuration.
        """
        if path not in self.declared:
            files = {path: None}
            for one in (queue := [path]):
                listing = self.listing_of(one)
                for at, header in self.includes_of(one):
                    if header not in files and not listing.is_conditional(at):
                        files[header] = None
                        queue.append(header)
            self.declared[path] = frozenset(name for one in files for name in self._declared_in(one))
        return self.declared[path]

    def _declared_in(self, path: str) -> Iterator[str]:
        """The variables at namespace scope and the enumerators that a file declares under no condition."""
        listing = self.listing_of(path)
        conditional = {
            word.decode() for at, end in listing.conditional for word in WORD.findall(self.files[path], at, end)
        }
        for variant in self.variants_of(path):
            for variable in variant.declarations.globals.values():
                if variable.span.path == path and not listing.is_conditional(variable.span.start):
                    yield variable.name.rpartition("::")[2]
            yield from variant.declarations.enumerators.keys() - conditional

    def _given_references(self, path: str, program: Collection[str]) -> GivenReferences:
        """What the files of a program that include a file may make a reference of in it."""
        if not program:
            return GivenReferences()
        key = (path, tuple(program))
        if key not in self.opened:
            self.opened[key] = GivenReferences()  # while it is found out
            including = (one for one in program if one != path and path in self.included(one))
            declared = [variant.declarations for one in including for variant in self.variants_of(one)]
            spoken = self.names_in(path)
            names = {
                (name, kinds)
                for one in declared
                for name, kinds in one.stand_for.items()
                if name in spoken and one.references.may_be(name)
            }
            given = "template" in spoken and any(one.gives_references for one in declared)
            self.opened[key] = GivenReferences(given, tuple(sorted(names)))
        return self.opened[key]

    def _visible(self, path: str, around: Around) -> Declarations:
        """What the headers declare that a file includes, in each of their configurations."""
        given = around.references
        key = (path, given, around.constants, around.unseen, around.perhaps)
        if key not in self.visible:
            variants = (v for header in reversed(self.included(path)) for v in reversed(self.variants_of(header)))
            found = Declarations.together(variant.declarations for variant in variants)
            found.gives_references |= given.to_templates
            found.stand_for = {**dict(given.names), **found.stand_for}
            found.constants, found.unseen_macros, found.perhaps = around.constants, around.unseen, around.perhaps
            self.visible[key] = found
        return self.visible[key]

    def part(self, paths: Iterable[str]) -> Tree:
        """Some of the files, with all that they include, as a tree: what is lowered is shared with this one."""
        other = Tree(
            self.files.only(paths),
            self.check_macros,
            self.folders.items(),
            self.built_in.items(),
            self.mentioned.items(),
            self.wanted,
        )
        other.wrapped = self.wrapped
        other.variants, other.macros, other.visible = self.variants, self.macros, self.visible
        other.read, other.listings = self.read, self.listings
        other.includes, other.direct = self.includes, self.direct
        other.names, other.spoken, other.default_streams = self.names, self.spoken, self.default_streams
        other.declared, other.lacking = self.declared, self.lacking
        other.around, other.seen, other.opened = self.around, self.seen, self.opened
        if other.python is not None:
            other.python = self.python
        return other

    def take(self, other: Tree) -> None:
        """Take over what another tree has lowered of files that are the same here, with the same headers."""
        asked = [(tree.check_macros, tree.folders, tree.built_in, tree.mentioned) for tree in (self, other)]
        if asked[0] != asked[1]:
            return
        same = {
            path for path in self.files if path in other.files and self.files.digest(path) == other.files.digest(path)
        }
        self.macros |= {path: macros for path, macros in other.macros.items() if path in same}
        self.listings |= {path: listing for path, listing in other.listings.items() if path in same}
        for (path, around), variants in other.variants.items():  # what is around follows from the program, by value
            if path in same and (headers := self.included(path)) == other.included(path) and same.issuperset(headers):
                self.variants[path, around] = variants
                for variant in variants:
                    variant.seen_from(partial(self._visible, path, around))
        for (path, methods), variants in other.read.items():
            if path in same and (files := self.included(path)) == other.included(path) and same.issuperset(files):
                self.read[path, methods] = variants
        if self.python is not None and other.python is not None:
            if self.python.paths == other.python.paths and self.python.paths <= same:
                self.python = other.python
            else:
                self.python.take(other.python, same)

    def rewritten(self, files: Mapping[str, bytes]) -> Tree:
        """The tree with other texts for some files; what they do not touch is not lowered again."""
        texts = {path: data for path, data in files.items() if self.files.get(path) != data}
        other = Tree(
            self.files.replaced(texts),
            self.check_macros,
            self.folders.items(),
            self.built_in.items(),
            self.mentioned.items(),
            self.wanted,
        )
        other.wrapped = self.wrapped
        for (path, around), variants in self.variants.items():
            if path in self.files:
                concerned = (path, *self.included(path), *(macro.path for macro in around.macros))
                if texts.keys().isdisjoint(concerned):
                    other.variants[path, around] = variants
                    other.includes[path] = self.included(path)
        for (path, methods), variants in self.read.items():
            if path in self.files and texts.keys().isdisjoint((path, *self.included(path))):
                other.read[path, methods] = variants
        other.macros = {path: macros for path, macros in self.macros.items() if path not in texts}
        other.listings = {path: listing for path, listing in self.listings.items() if path not in texts}
        if self.python is not None and other.python is not None:
            other.python.take(self.python, self.files.keys() - texts.keys())
        return other

    def errors(self, path: str, program: Collection[str]) -> int:
        """How many places of a file of a program the grammar could not read."""
        variants = self.variants_of(path, program)
        return max(variant.errors for variant in variants if variant.module)


@dataclass(frozen=True, slots=True)
class View:
    """One program in one configuration, from one root."""

    program: Program
    root: ir.Function


def including_program(tree: Tree, path: str) -> str | None:
    """A file with `main` in the same folder that includes this one: `#define TESTING`, `#include "train.cu"`."""
    if not tree.is_candidate(path):
        return None
    beside = (p for p in tree.mains_of(os.path.dirname(path)) if p != path)
    return next((p for p in beside if path in tree.included(p)), None)


def is_included_by_a_program(tree: Tree, path: str) -> bool:
    return including_program(tree, path) is not None
