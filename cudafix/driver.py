"""From files to a report: programs are put together, surveyed, proved, repaired, rewritten, and validated.

Files that share candidates (a header with an allocation, a library file of two programs) are decided together: a
site moves only if it is proved for every program, root and configuration that reaches it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from cudafix import ir, models
from cudafix.align import Different, align
from cudafix.cache import Cache, signature
from cudafix.codemod import codemods
from cudafix.codemod import module as codemod
from cudafix.config import Config
from cudafix.defects import Context, defects
from cudafix.edits import apply
from cudafix.findings import Edit, Finding, Problem, Refusal, Report, Runs
from cudafix.frontends.cuda import lower, source
from cudafix.frontends.python import prefilter
from cudafix.ir import walk
from cudafix.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering import check
from cudafix.ordering.program import Key, Outcome, Overlay, Violation, key_of
from cudafix.ordering.slicing import Slicer
from cudafix.pairs import in_one_function
from cudafix.repair import Group, Refused, Repair, groups_of, static_refusal
from cudafix.rewrite import Rewriter
from cudafix.writer import CUDA, Writer

if TYPE_CHECKING:
    from cudafix.frontends.python.tree import PythonTree

CANDIDATE = re.compile(rb"\bcuda(?:Malloc|Free)(?:Async)?\b")
_MAIN = re.compile(
    rb"^[ \t]*(?:extern\s+\"C\"\s+)?(?:(?:signed|static|inline)\s+)?(?:int|void|auto)\s+main\s*\(", re.MULTILINE
)
_PROBLEMS = {
    "generator": "is a generator",
    "coroutine": "is a coroutine",
    "implicit_call": "is called by Python itself",
    "finalizer": "works with memory or a stream that `__del__` gives back",
}
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


class Variant:
    """A file in one of its configurations, lowered when it is asked for."""

    def __init__(self, configuration: source.Configuration | None) -> None:
        self.values = configuration.values if configuration is not None else ()
        self.errors = 0
        self._configuration = configuration
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
            assert self._configuration is not None
            parsed = self._configuration.parse()
            self._configuration = None
            self.errors = len(parsed.errors)
            self._module = lower.lower(parsed)
        return self._module


@dataclass(slots=True)
class Tree:
    """The files of a run, lowered when they are asked for. Those of Python are kept apart (`python`)."""

    files: Mapping[str, bytes]
    variants: dict[str, list[Variant]] = field(default_factory=dict)
    macros: dict[str, dict[str, source.Macro]] = field(default_factory=dict)
    by_name: dict[str, list[str]] = field(default_factory=dict)
    includes: dict[str, list[str]] = field(default_factory=dict)
    names: dict[tuple[str, re.Pattern[bytes]], frozenset[bytes]] = field(default_factory=dict)
    direct: dict[str, list[str]] = field(default_factory=dict)
    views: dict[tuple[str, ...], list[View]] = field(default_factory=dict)  # of each program
    python: PythonTree | None = None

    def __post_init__(self) -> None:
        for path in self.files:
            self.by_name.setdefault(os.path.basename(path), []).append(path)
        if any(path.endswith(prefilter.SUFFIX) and prefilter.is_candidate(data) for path, data in self.files.items()):
            from cudafix.frontends.python.tree import PythonTree

            self.python = PythonTree(self.files)

    def is_candidate(self, path: str) -> bool:
        """Whether a file may allocate or free."""
        if path.endswith(prefilter.SUFFIX):
            return prefilter.is_candidate(self.files[path])
        return CANDIDATE.search(self.files[path]) is not None

    def writer(self, path: str) -> Writer:
        """The words of statements in this file."""
        if self.python is not None and path in self.python.paths:
            return self.python.lowered(path)[1] or CUDA
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
                for found in self._includes(stack.pop()):
                    if found not in seen and found != path:
                        seen[found] = None
                        stack.append(found)
            self.includes[path] = list(seen)
        return self.includes[path]

    def _includes(self, path: str) -> list[str]:
        if path not in self.direct:
            found = (self._find(path, target.strip('<>"')) for target in source.includes_of(self.files[path]))
            self.direct[path] = [p for p in found if p is not None]
        return self.direct[path]

    def words(self, path: str, pattern: re.Pattern[bytes]) -> frozenset[bytes]:
        """What `pattern` finds in a file."""
        if (path, pattern) not in self.names:
            self.names[path, pattern] = frozenset(pattern.findall(self.files[path]))
        return self.names[path, pattern]

    def _find(self, path: str, target: str) -> str | None:
        direct = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if direct in self.files:
            return direct
        wanted = os.path.normpath(target)
        found = [
            p
            for p in self.by_name.get(os.path.basename(wanted), [])
            if p == wanted or p.endswith(os.sep + wanted.lstrip("./"))
        ]
        if not found:
            return None
        return max(found, key=lambda p: (_shared_folders(p, path), -len(p)))

    def macros_of(self, path: str) -> dict[str, source.Macro]:
        if path.endswith(prefilter.SUFFIX):
            return {}
        if path not in self.macros:
            self.macros[path] = source.macros_of(path, self.files[path])
        return self.macros[path]

    def lowered(self, path: str) -> list[ir.Module]:
        """The file in each of its configurations."""
        return [variant.module for variant in self.variants_of(path)]

    def variants_of(self, path: str) -> list[Variant]:
        """The configurations of a file, with the macros of the headers that it includes."""
        if path not in self.variants and self.python is not None and path in self.python.paths:
            module, _, errors = self.python.lowered(path)
            self.variants[path] = [Variant.of(module, errors)]
        if path not in self.variants:
            visible: dict[str, source.Macro] = {}
            for header in reversed(self.included(path)):
                visible.update(self.macros_of(header))
            for name in ("cudaMalloc", "cudaFree"):
                visible.pop(name, None)  # refused by name later
            self.variants[path] = [Variant(c) for c in source.configurations(path, self.files[path], visible)]
        return self.variants[path]

    def rewritten(self, files: Mapping[str, bytes]) -> Tree:
        """The tree with other texts for some files; what they do not touch is not lowered again."""
        other = Tree(files)
        changed = {path for path, data in files.items() if self.files.get(path) != data}
        for path, variants in self.variants.items():
            if path not in changed and changed.isdisjoint(self.included(path)):
                other.variants[path] = variants
                other.includes[path] = self.included(path)
        other.macros = {path: macros for path, macros in self.macros.items() if path not in changed}
        return other

    def errors(self, path: str) -> int:
        """How many places of a file the grammar could not read."""
        self.lowered(path)
        return max(variant.errors for variant in self.variants_of(path))


def _shared_folders(a: str, b: str) -> int:
    """How many leading folders two paths share."""
    pairs = zip(a.split(os.sep), b.split(os.sep), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(frozen=True, slots=True)
class View:
    """One program in one configuration, from one root."""

    program: Program
    root: ir.Function


def analyze(files: Mapping[str, bytes], config: Config, jobs: int = 1, cache: Cache | None = None) -> Report:
    """Analyse the files together. The order of `files`, the number of `jobs` and what is in the `cache` do not matter
    for the result.
    """
    tree = Tree({path: files[path] for path in sorted(files)})
    clusters = clusters_of(tree)
    if cache is None:
        return _merged(_reports(tree, clusters, config, jobs))
    keys = [_key(tree, programs, config) for programs in clusters]
    known = cache.get(keys)
    missing = [n for n, key in enumerate(keys) if key not in known]
    if missing:
        reports = _reports(tree, [clusters[n] for n in missing], config, jobs)
        fresh = {keys[n]: report for n, report in zip(missing, reports, strict=True)}
        cache.put(fresh)
        known |= fresh
    return _merged([known[key] for key in keys])


def _key(tree: Tree, programs: list[list[str]], config: Config) -> bytes:
    """Equal only where the report must be the same: the same programs of the same files, asked in the same way."""
    asked = (sorted(config.disabled), config.default_stream, config.tables, config.only)
    paths = dict.fromkeys(path for program in programs for path in program)
    if tree.python is not None and not tree.python.paths.isdisjoint(paths):
        paths |= dict.fromkeys(sorted(tree.python.paths))  # a name may come from any module of the tree
    texts = [hashlib.sha256(tree.files[path]).digest() for path in paths]
    return hashlib.sha256(signature() + repr((asked, programs, texts)).encode("utf-8", "surrogateescape")).digest()


def _reports(tree: Tree, clusters: list[list[list[str]]], config: Config, jobs: int) -> list[Report]:
    if jobs > 1 and sum(len(tree.files[p]) for c in clusters for program in c for p in program) > 200_000:
        return _in_processes(tree, clusters, config, jobs)
    tables = models.load(config.tables)
    return [Cluster(tree, programs, tables, config).report() for programs in clusters]


def _merged(reports: Iterable[Report]) -> Report:
    findings: list[Finding] = []
    refusals: list[Refusal] = []
    problems: list[Problem] = []
    sites = 0
    pairs: set[tuple[str, int]] = set()
    offset = 0
    for report in reports:
        findings += [replace(f, group=f.group + offset) if f.group else f for f in report.findings]
        offset = max([offset, *(f.group for f in findings)])
        refusals += report.refusals
        problems += report.problems
        sites += report.sites
        pairs |= report.in_one_function
    findings.sort(key=lambda f: (f.path, f.offset, f.codemod))
    refusals.sort(key=lambda r: (r.path, r.offset, r.name))
    return Report(tuple(findings), tuple(refusals), tuple(problems), sites, frozenset(pairs))


_SHARED: tuple[Tree, Config] | None = None


def _work(programs: list[list[str]]) -> Report:
    assert _SHARED is not None
    tree, config = _SHARED
    return Cluster(tree, programs, models.load(config.tables), config).report()


def _in_processes(tree: Tree, clusters: list[list[list[str]]], config: Config, jobs: int) -> list[Report]:
    """The clusters in worker processes that share the files by fork; in this process where there is no fork."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _SHARED
    _SHARED = (tree, config)
    if "fork" not in multiprocessing.get_all_start_methods():
        return [_work(c) for c in clusters]
    context = multiprocessing.get_context("fork")
    weight = [sum(len(tree.files[p]) for program in c for p in program) for c in clusters]
    order = sorted(range(len(clusters)), key=lambda n: -weight[n])
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        done = dict(zip(order, pool.map(_work, [clusters[n] for n in order], chunksize=2), strict=True))
    return [done[n] for n in range(len(clusters))]


# ---------------------------------------------------------------------------------------------------------------------
# programs


def clusters_of(tree: Tree) -> list[list[list[str]]]:
    """Programs, as lists of files, grouped by the candidates that they share.

    A program is a file with `main` and what it needs: the headers that it includes, and the sources beside it (in
    its folder) that define a function which it calls. Candidates that no program needs are programs of their own.
    """
    candidates = {p for p in tree.files if tree.is_candidate(p)}
    covered = {p for p in candidates if p.endswith(prefilter.SUFFIX)}  # programs of their own (below)
    folders: dict[str, list[str]] = defaultdict(list)
    for path in tree.files:
        if path.endswith(SOURCES):
            folders[os.path.dirname(path)].append(path)
    programs: list[list[str]] = []
    wanted = {os.path.dirname(p) for p in candidates - covered}
    for folder in sorted(wanted):
        sources = folders[folder]
        mains = [p for p in sources if _MAIN.search(tree.files[p])]
        others = [p for p in sources if p not in mains]
        for main in mains:
            program = _program(tree, main, others, candidates)
            if any(p in candidates for p in program):
                programs.append(program)
                covered.update(program)
    for path in sorted(candidates):
        if path not in covered and path.endswith(SOURCES):
            programs.append([path, *tree.included(path)])
            covered.update(programs[-1])
    for path in sorted(candidates):
        if path not in covered:
            programs.append([path, *tree.included(path)])
            covered.add(path)
    if tree.python is not None:
        programs += tree.python.programs()
    return _united(programs, candidates)


def _program(tree: Tree, main: str, others: Sequence[str], candidates: set[str]) -> list[str]:
    """`main` with its headers, and the other sources that define what the program calls."""
    files = [main, *tree.included(main)]
    used = set().union(*(tree.words(p, _WORD) for p in files))
    rest = list(others)
    grown = True
    while grown:
        grown = False
        called = frozenset(used)
        for path in list(rest):
            if called & tree.words(path, _DEFINED):
                rest.remove(path)
                more = [p for p in (path, *tree.included(path)) if p not in files]
                files += more
                used.update(*(tree.words(p, _WORD) for p in more))
                grown = True
    return files


_WORD = re.compile(rb"\b[A-Za-z_]\w*")  # a function may also be handed over by its name
_DEFINED = re.compile(rb"^[A-Za-z_][\w\s:*&<>,\"]*?\b([A-Za-z_]\w*)\s*\([^;{}]*\)[^;{}()]*\{", re.MULTILINE)


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


# ---------------------------------------------------------------------------------------------------------------------
# one cluster


def views_of(tree: Tree, programs: list[list[str]]) -> list[View]:
    """Every program in every configuration, from every root.

    Configurations of different files are not multiplied: while one file with candidates takes each of its own, the
    others take the first one that agrees with it on the conditions that both have. Roots that reach no candidate are
    left out.
    """
    for paths in programs:
        if tuple(paths) not in tree.views:
            tree.views[tuple(paths)] = _views(tree, paths)
    return [view for paths in programs for view in tree.views[tuple(paths)]]


def _views(tree: Tree, paths: list[str]) -> list[View]:
    programs: list[Program] = []
    variants = [tree.variants_of(p) for p in paths]
    seen: set[tuple[int, ...]] = set()
    for n, own in enumerate(variants):
        varied = own if tree.is_candidate(paths[n]) or not n else own[:1]
        for chosen in varied:
            picked = tuple(chosen if m == n else _agreeing(others, chosen) for m, others in enumerate(variants))
            if tuple(map(id, picked)) not in seen:
                seen.add(tuple(map(id, picked)))
                programs.append(Program(variant.module for variant in picked))
    mains = [sum(f.name in ("main", "::main") for f in program.functions()) for program in programs]
    if 1 in mains:  # two do not link; none is what another program includes
        fewest = 1 if 0 in mains and _is_included_by_a_program(tree, paths[0]) else 0
        programs = [program for program, count in zip(programs, mains, strict=True) if fewest <= count <= 1]
    return [View(program, root) for program in programs for root in check.roots(program)]


def _is_included_by_a_program(tree: Tree, path: str) -> bool:
    """Whether a file with `main` in the same folder includes this one: `#define TESTING`, `#include "train.cu"`."""
    beside = (p for p in tree.files if p != path and os.path.dirname(p) == os.path.dirname(path))
    return CANDIDATE.search(tree.files[path]) is not None and any(
        p.endswith(SOURCES) and _MAIN.search(tree.files[p]) is not None and path in tree.included(p) for p in beside
    )


def _agreeing(variants: Sequence[Variant], chosen: Variant) -> Variant:
    wanted = dict(chosen.values)
    return next((m for m in variants if all(wanted.get(c, v) == v for c, v in m.values)), variants[0])


def _reached(program: Program, root: ir.Function) -> set[int]:
    """The functions (by `id`) that a root may run."""
    found: set[int] = set()
    stack = [root]
    while stack:
        function = stack.pop()
        if id(function) not in found:
            found.add(id(function))
            for name, arity in check.called(function):
                stack += program.resolve(name, arity, function.span.path, function.cls)
    return found


class Fingerprints:
    """Tells views apart by what they run: configurations that differ elsewhere give the same proof."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._whole: dict[int, tuple[ir.Function, bytes]] = {}

    def of(self, view: View) -> object:
        """Equal for two views only if they run the same statements from the same root."""
        return self._print(view, self._of)

    def skeleton(self, view: View) -> object:
        """Equal for two views only if they run the same statements, less quiet ones, from the same root."""
        slicer = Slicer.of(view.program, self._tables)
        return self._print(view, lambda function: _hash(slicer.skeleton(function)))

    def functions(self, view: View) -> dict[ir.Span, bytes]:
        """What a view runs, function by function."""
        return {f.span: self._of(f) for f in _functions(view)}

    def _print(self, view: View, of: Callable[[ir.Function], bytes]) -> object:
        kernels = sorted(
            (k.name, sorted(k.reads), sorted(k.writes), k.prints, k.traps)
            for ks in view.program.kernels.values()
            for k in ks
        )
        functions = tuple(sorted(of(f) for f in _functions(view)))
        return of(view.root), functions, repr(kernels), tuple(sorted(view.program.globals))

    def _of(self, function: ir.Function) -> bytes:
        if id(function) not in self._whole:
            print_ = _hash((function.name, function.params, function.body, function.problems))
            self._whole[id(function)] = function, print_
        return self._whole[id(function)][1]


def _functions(view: View) -> list[ir.Function]:
    reached = _reached(view.program, view.root)
    return [f for f in view.program.functions() if id(f) in reached]


def _hash(meaning: tuple[object, ...]) -> bytes:
    return hashlib.sha256(repr(meaning).encode("utf-8", "surrogatepass")).digest()


class Cluster:
    """The programs that share candidates: surveyed, repaired and rewritten as one."""

    def __init__(self, tree: Tree, programs: list[list[str]], tables: Tables, config: Config) -> None:
        self.tree = tree
        self.programs = programs
        self.tables = tables
        self.config = config
        self.per_thread = config.default_stream == "per-thread" or any(
            path.endswith(prefilter.SUFFIX) and prefilter.PER_THREAD.search(tree.files[path])
            for program in programs
            for path in program
        )
        self.paths = list(dict.fromkeys(p for program in programs for p in program))
        views = views_of(tree, programs)
        self.alike: dict[int, list[tuple[View, frozenset[ir.Span]]]] = {}  # by the `id` of one that stands for them
        self.views = views if len(views) == 1 else self._representatives(views)
        self.too_large: set[int] = set()

    def _representatives(self, views: list[View]) -> list[View]:
        """The views that have to be surveyed: of those that differ only in quiet statements, one.

        For the others, the functions are kept in which they differ: what matters there only while the host does not
        know all that it knew.
        """
        prints = Fingerprints(self.tables)
        found: dict[object, View] = {}
        for view in list({prints.of(v): v for v in reversed(views)}.values())[::-1]:
            first = found.setdefault(prints.skeleton(view), view)
            if first is not view:
                one, other = prints.functions(first), prints.functions(view)
                differ = frozenset(span for span in one.keys() | other.keys() if one.get(span) != other.get(span))
                self.alike.setdefault(id(first), []).append((view, differ))
        return list(found.values())

    def run(self, overlay: Overlay, views: Sequence[View]) -> list[Outcome]:
        return [check.run(v.program, self.tables, overlay, v.root, per_thread=self.per_thread) for v in views]

    def survey(self) -> list[Outcome]:
        """One run of the original program for each view; views that are too large are left out and their sites
        refused.
        """
        outcomes: list[Outcome] = []
        fitting: list[View] = []
        for view in self.views:
            try:
                outcomes += self.run(Overlay(), [view])
                fitting.append(view)
            except check.OutOfBudget:  # noqa: PERF203  # each view has a budget of its own
                self.too_large.add(id(view.program))
        self.views = fitting
        return outcomes

    def report(self) -> Report:
        survey = self.survey()
        groups = groups_of(survey)
        self._refuse(groups, survey)
        if self.config.only is not None:
            for group in groups:
                if (Runs.CHURN if group.churn else Runs.ONCE) is not self.config.only:
                    group.refused = group.refused or Refused("left_alone", "")
        relevant = self._relevant(groups, survey)
        outcomes = [o for _, o in relevant]
        repair = Repair(_Memory(self, relevant).run, outcomes, groups)
        plan = repair.search()
        rewriter = Rewriter(self.tree.files, self.config, self.views, survey, self.tree.writer)
        faults = self._defects(survey)
        edits = [*rewriter.edits(plan), *(e for f in faults for e in f.edits)]
        reason = self._validate(edits, outcomes, plan.overlay()) if edits else None
        if reason is not None:
            for group in plan.moving():
                group.refused = Refused("out_of_order", f"the rewritten text could not be proved again: {reason}")
            faults = [replace(f, edits=()) for f in faults]
        report = rewriter.report(plan, self._sites(), faults, bool(self.too_large))
        return replace(report, in_one_function=in_one_function(self._functions(), survey))

    def _defects(self, survey: list[Outcome]) -> list[Finding]:
        faulty = [(v, o) for v, o in zip(self.views, survey, strict=True) if o.violations]
        if not faulty:
            return []
        found = {
            name: (module.DEFECTS, module.propose)
            for name, declared in codemods().items()
            if declared.finds_defects
            and hasattr(module := codemod(name), "DEFECTS")
            and name not in self.config.disabled
        }
        outcomes = [o for _, o in faulty]
        return defects(
            outcomes,
            _Memory(self, faulty).run,
            Context(self.tree.files, self.tables, outcomes, self.tree.writer),
            found,
        )

    def _relevant(self, groups: list[Group], survey: list[Outcome]) -> list[tuple[View, Outcome]]:
        """The views that reach a site which may move."""
        keys = {key for group in groups if group.refused is None for key, _ in group.sites()}
        return [
            (view, outcome)
            for view, outcome in zip(self.views, survey, strict=True)
            if not keys.isdisjoint(outcome.allocations) or not keys.isdisjoint(outcome.frees)
        ]

    def _refuse(self, groups: list[Group], survey: list[Outcome]) -> None:
        for group in groups:
            group.refused = self._problem_at(group) or static_refusal(group, survey)

    def _problem_at(self, group: Group) -> Refused | None:
        """A function that was not understood, or a name that the program gives another meaning."""
        for key, _ in group.sites():
            for module in self.tree.lowered(key.path):
                for function in module.functions:
                    if function.problems and function.span.start <= key.start < function.span.end:
                        name, offset = function.problems[0]
                        span = ir.Span(key.path, offset, offset + 1)
                        text = _PROBLEMS.get(name, "is not understood as a whole")
                        return Refused(name, f"`{last(function.name)}` {text}", ((span, "here"),))
            for name in ("cudaMalloc", "cudaFree"):
                for path in (key.path, *self.tree.included(key.path)):
                    if name in self.tree.macros_of(path):
                        return Refused("renaming_header", f"`{path}` gives `{name}` another meaning")
        return None

    def _sites(self) -> dict[tuple[str, int], ir.Call]:
        """Every host call of `cudaMalloc`, reached or not."""
        found: dict[tuple[str, int], ir.Call] = {}
        for function in self._functions():
            for stmt in walk(function.body):
                if isinstance(stmt, ir.Call) and stmt.callee == "cudaMalloc":
                    found[stmt.span.path, stmt.span.start] = stmt
        return found

    def _functions(self) -> Iterator[ir.Function]:
        """The host functions of the files that may allocate, in every configuration."""
        for path in self.paths:
            candidate = self.tree.is_candidate(path)
            for variant in self.tree.variants_of(path):
                if candidate or variant.lowered:
                    yield from variant.module.functions

    def _validate(self, edits: Sequence[Edit], survey: Sequence[Outcome], proved: Overlay) -> str | None:
        """Parse, lower and prove the text that would be written. None if it is proved, else what is wrong.

        Where the text turns out to say what is `proved` already, it is not run again.
        """
        changed = {p: [e for e in edits if e.path == p] for p in {e.path for e in edits}}
        files = {p: apply(data, changed[p]) if p in changed else data for p, data in self.tree.files.items()}
        known = {(v.kind, v.later.span) for outcome in survey for v in outcome.violations}
        for violation in lockstep(
            self.tree, self.tree.rewritten(files), self.programs, self.tables, self.per_thread, proved
        ):
            if isinstance(violation, str):
                return violation
            assumed = violation.earlier is not None and violation.earlier.assumption is not None
            if not assumed and (violation.kind, violation.later.span) not in known:
                return f"{violation.words}: {violation.later.text}"
        return None


class _Memory:
    """Runs views again only where the overlay changed something that they reach."""

    def __init__(self, cluster: Cluster, views: Sequence[tuple[View, Outcome]]) -> None:
        self.cluster = cluster
        self.views = views
        self.reached = [_anchors(outcome) for _, outcome in views]
        self.done: list[dict[object, list[Outcome]]] = [{} for _ in views]

    def run(self, overlay: Overlay) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for (view, original), reached, done in zip(self.views, self.reached, self.done, strict=True):
            seen = (
                frozenset((k, c.args) for k, c in overlay.replaced.items() if k in reached),
                frozenset((k, _words(calls)) for k, calls in overlay.before.items() if k in reached),
                frozenset((k, _words(calls)) for k, calls in overlay.after.items() if k in reached),
                frozenset(overlay.removed & reached),
            )
            if seen not in done:
                known = frozenset((v.kind, v.later.span) for v in original.violations)
                done[seen] = list(self._run(overlay, view, known))
            outcomes += done[seen]
        return outcomes

    def _run(self, overlay: Overlay, view: View, known: frozenset[object]) -> Iterator[Outcome]:
        cluster = self.cluster
        first = check.run(view.program, cluster.tables, overlay, view.root, per_thread=cluster.per_thread, known=known)
        yield first
        for other, differ in cluster.alike.get(id(view), ()):
            if not differ.isdisjoint(first.uncalm):
                yield check.run(
                    other.program, cluster.tables, overlay, other.root, per_thread=cluster.per_thread, known=known
                )


def _words(calls: Sequence[ir.Call]) -> tuple[object, ...]:
    return tuple((c.callee, c.args) for c in calls)


def _anchors(outcome: Outcome) -> set[Key]:
    """The calls that an overlay may change or stand next to, as far as a view runs them."""
    found = {
        *(key_of(v.later.stmt) for v in outcome.violations if v.later.stmt is not None),
        *outcome.allocations,
        *outcome.frees,
        *outcome.resets,
    }
    found |= {key_of(call) for calls in outcome.destroys.values() for call in calls}
    return found


def lockstep(
    before: Tree,
    after: Tree,
    programs: Iterable[list[str]],
    tables: Tables,
    per_thread: bool,
    proved: Overlay | None = None,
) -> list[Violation | str]:
    """What is wrong with `after` as a rewrite of `before`: counterexamples, or why it could not be laid beside it.

    `proved`: the rewrite comes from this plan, which moves no group that is refused, and moves groups whole.
    """
    found: list[Violation | str] = []
    for paths in programs:
        if all(before.files[path] == after.files[path] for path in paths):
            continue
        for path in paths:
            if before.files[path] != after.files[path] and before.errors(path) < after.errors(path):
                return [f"{path}: a parse error that was not there"]
        views, rewritten = views_of(before, [paths]), views_of(after, [paths])
        if len(views) != len(rewritten):
            return ["the roots or configurations of the program changed"]
        prints, seen = Fingerprints(tables), set()
        for view, other in zip(views, rewritten, strict=True):
            if len(views) > 1:
                pair = prints.of(view), prints.of(other)
                if pair in seen:
                    continue
                seen.add(pair)
            try:
                overlay = align(view.program.modules, other.program.modules, tables)
                if overlay == Overlay() or (proved is not None and _same(overlay, proved, view.program, tables)):
                    continue
                if proved is None:
                    found += _unfit(view, overlay, tables, per_thread)
                found += check.run(view.program, tables, overlay, view.root, per_thread=per_thread).violations
            except Different as different:
                return [str(different)]
            except check.OutOfBudget:
                return ["the program is too large for the proof"]
    return found


def _same(overlay: Overlay, proved: Overlay, program: Program, tables: Tables) -> bool:
    """Whether an overlay of one program is what the plan said, as far as the program goes."""
    present = {key_of(stmt) for function in program.functions() for stmt in walk(function.body)}

    def steps(calls: Sequence[ir.Call]) -> tuple[object, ...]:
        return _words(
            [
                c
                for c in calls
                if (api := tables.lookup(c.callee, len(c.args))) is None or api.effect is not Effect.NOTHING
            ]
        )

    def meaning(one: Overlay) -> tuple[object, ...]:
        return (
            {k: (c.callee, c.args) for k, c in one.replaced.items() if k in present},
            {k: found for k, calls in one.before.items() if k in present and (found := steps(calls))},
            {k: found for k, calls in one.after.items() if k in present and (found := steps(calls))},
            one.removed & present,
        )

    return meaning(overlay) == meaning(proved)


def _unfit(view: View, overlay: Overlay, tables: Tables, per_thread: bool) -> list[str]:
    """Groups that a rewrite moves although they cannot move, or moves in part."""
    found: list[str] = []
    survey = check.run(view.program, tables, Overlay(), view.root, per_thread=per_thread)
    for group in groups_of([survey]):
        refused = static_refusal(group, [survey])
        blocking = {k for k, s in group.sites() if s.call.callee in ("cudaMalloc", "cudaFree")} - overlay.removed
        moves = blocking & overlay.replaced.keys()
        if moves and refused is not None:
            found.append(f"{refused.name}: {refused.text}")
        elif moves and moves != blocking:
            found.append("allocations and frees that may meet do not move together")
    return found


def prove(before: Mapping[str, bytes], after: Mapping[str, bytes], config: Config | None = None) -> list[str]:
    """Whether `after` is a right rewrite of `before`: the reasons why not, none if it is proved.

    Besides the orders of `before`, the stream-ordered memory of `after` must be used in order.
    """
    config = config or Config()
    tables = models.load(config.tables)
    per_thread = config.default_stream == "per-thread"
    old, new = Tree(dict(sorted(before.items()))), Tree(dict(sorted(after.items())))
    if old.files.keys() != new.files.keys():
        return ["the files are not the same ones"]
    programs = [p for cluster in clusters_of(old) for p in cluster]
    wrong = [
        v if isinstance(v, str) else v.words
        for v in lockstep(old, new, programs, tables, per_thread)
        if isinstance(v, str) or v.earlier is None or v.earlier.assumption is None
    ]
    for view in views_of(new, programs):
        outcome = check.run(view.program, tables, Overlay(), view.root, per_thread=per_thread)
        wrong += [v.words for v in outcome.violations]
    return list(dict.fromkeys(wrong))
