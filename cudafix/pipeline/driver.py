"""From files to a report: each cluster of programs is proved, in processes, or remembered from an earlier run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from cudafix import ir, models
from cudafix.findings import Finding, Place, Problem, Refusal, Report
from cudafix.frontends.python.notebook import Notebooks
from cudafix.ordering.interpreter import check
from cudafix.ordering.interpreter.program import Overlay, Violation, Wrong
from cudafix.pipeline import asked, pools
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.execution import Asked, Decided, Limit, decide, needed, shard_of
from cudafix.pipeline.lockstep import lockstep
from cudafix.pipeline.programs import Part, clusters_of, parted
from cudafix.pipeline.shared_set_up import included
from cudafix.pipeline.sharing import Shard
from cudafix.pipeline.tree import Tree
from cudafix.pipeline.views import views_of
from cudafix.project import failures, prefilter
from cudafix.project.config import Config
from cudafix.rewrite import residue
from cudafix.rewrite.align import Different
from cudafix.rewrite.certificates import Scenes
from cudafix.rewrite.wrappers import declared_in, plain_text

Progress = Callable[[int, int], None]


def analyze(
    files: Mapping[str, bytes],
    config: Config,
    jobs: int = 1,
    cache: Cache | None = None,
    progress: Progress = lambda _, __: None,
    executor: Executor | None = None,
    seconds: float | None = None,
    focus: Collection[str] | None = None,
) -> Report:
    """Analyse the files together. The order of `files`, the number of `jobs`, the `executor` and what is in the `cache`
    do not matter for the result. `progress` gets what is done and what there is to do, in bytes.

    With a limit in `seconds`, the report says of programs that are not decided by then that they are not, and has a
    problem for each: that is not kept in the `cache`. What was decided of the others is.

    With a `focus`, only what is decided together with one of these files is: of them the report says what it would say
    without, of the other files perhaps less.

    Raises `ExecutorError` if the workers cannot be used.
    """
    limit = Limit.of(seconds) if seconds is not None else None
    books = Notebooks(files)
    tree = Tree.of(books.texts, config)
    python = focus is None or any(path.endswith(prefilter.SUFFIX) for path in focus)
    arrays = _arrays(tree, config, cache)[1] if python else Report((), ())
    parts = _parts(tree, config, cache)
    if focus is not None:
        parts = [part for part in parts if any(not program.isdisjoint(focus) for program in map(set, part.programs))]
    reports = _reports(tree, parts, config, jobs, cache, progress, executor, limit)
    report = books.report(_merged([_merged(reports.values()), arrays]))
    report = replace(report, refusals=tuple(_told_where(refusal, tree.files) for refusal in report.refusals))
    return replace(report, context=config.context.intersection(files))


def prove_shard(
    files: Mapping[str, bytes],
    config: Config,
    shard: Shard,
    jobs: int = 1,
    cache: Cache | None = None,
    progress: Progress = lambda _, __: None,
    executor: Executor | None = None,
) -> dict[bytes, Report]:
    """What a shard has to prove, for the cache of a run that merges them all. Raises `ExecutorError`."""
    books = Notebooks(files)
    tree = Tree.of(books.texts, config)
    found = dict([_arrays(tree, config, cache)]) if shard.number == 1 else {}
    parts = _parts(tree, config, cache)
    mine = [parts[n] for n in shard_of(tree, [part.programs for part in parts], shard.number, shard.of)]
    found |= _reports(tree, mine, config, jobs, cache, progress, executor)
    return {key: report for key, report in found.items() if not report.problems}  # the run that merges tries again


def _arrays(tree: Tree, config: Config, cache: Cache | None) -> tuple[bytes, Report]:
    """The memory of arrays, with its key: one report for all Python files, as a name may come from any of them."""
    files = tree.files
    paths = [path for path in files if path.endswith(prefilter.SUFFIX)]
    key = asked.of_arrays(config, files, paths)
    if not pools.concerns(files):
        return key, Report((), ())
    known = cache.reports([key]) if cache is not None else {}
    if key not in known:
        known = {key: pools.examine(files, config, tree.python)}
        if cache is not None and not known[key].problems:
            cache.put_entries(known)
    return key, known[key]


def _parts(tree: Tree, config: Config, cache: Cache | None) -> list[Part]:
    """What is decided together, one by one."""
    return [part for cluster in clusters_of(tree, cache, config.context) for part in parted(tree, cluster)]


def _reports(
    tree: Tree,
    parts: list[Part],
    config: Config,
    jobs: int,
    cache: Cache | None,
    progress: Progress,
    executor: Executor | None,
    limit: Limit | None = None,
) -> dict[bytes, Report]:
    """The reports on parts by their keys, in order; with certificates, where they are asked for. Of a part that is not
    decided within a `limit` it is reported that it is not.
    """
    keys = [
        asked.of_files("part", config, tree.files, needed(tree, part.programs, config), tuple(part)) for part in parts
    ]
    of_scenes, of_shown = ({key: asked.digest((what, key)) for key in keys} for what in ("scenes", "certificates"))
    wanted = of_shown if config.certificates else {key: key for key in keys}
    kept = cache.reports(wanted.values()) if cache is not None else {}
    known = {key: kept[wanted[key]] for key in keys if wanted[key] in kept}
    missing = [n for n, key in enumerate(keys) if key not in known]
    before: dict[bytes, Decided] = {}
    if config.certificates and cache is not None:
        reports = cache.reports([keys[n] for n in missing])
        scenes = cache.entries([of_scenes[key] for key in reports], Scenes)
        before = {key: Decided(reports[key], scenes[of_scenes[key]]) for key in reports if of_scenes[key] in scenes}
    questions = [Asked(parts[n], before.get(keys[n])) for n in missing]
    sizes = [tree.files.size({path for program in parts[n].programs for path in program}) for n in missing]
    done = 0
    for place, decided in decide(tree, questions, config, jobs, executor, limit):
        key = keys[missing[place]]
        known[key] = decided.shown or decided.report
        if cache is not None and not decided.report.problems:  # a failure may be one of this run alone
            fresh: dict[bytes, object] = {key: decided.report, of_scenes[key]: decided.scenes}
            cache.put_entries(fresh if decided.shown is None else {**fresh, of_shown[key]: decided.shown})
        done += sizes[place]
        progress(done, sum(sizes))
    for key, part in zip(keys, parts, strict=True):
        if limit is not None and key not in known:
            paths = (path for program in part.programs for path in program)
            known[key] = failures.of_time(tree.files, paths, config.context | part.only_read, limit.seconds)
    return {key: known[key] for key in keys}


_NOT_KNOWN = re.compile(r"code that is not seen: `(?:\w+::)*(\w+)` is not known")


def _told_where(refusal: Refusal, files: Mapping[str, bytes]) -> Refusal:
    """A call of an unknown function that some file does define, of which nothing says that it belongs to the program:
    what would link it, instead of the file that is there.
    """
    found = _NOT_KNOWN.search(refusal.message)
    if refusal.name != "unknown_call" or found is None:
        return refusal
    name = found[1].encode()
    definition = re.compile(rb"^[\w:<>*& \t]+\b%s\s*\([^;{}()]*\)[\w \t\n]*\{" % re.escape(name), re.MULTILINE)
    for path, data in files.items():
        if path != refusal.path and name in data and definition.search(data):
            text = (
                f"`{path}` defines a `{found[1]}`, but nothing links it to this program: include a header that "
                "declares it in both files, or describe it in a table of your own (`tables` in the configuration)."
            )
            return replace(refusal, unlock=text)
    return refusal


def _merged(reports: Iterable[Report]) -> Report:
    findings: list[Finding] = []
    refusals: list[Refusal] = []
    problems: list[Problem] = []
    sites = 0
    left_alone: list[str] = []
    pairs: set[tuple[str, int]] = set()
    offset = 0
    for report in reports:
        moved = [replace(f, group=f.group + offset) if f.group else f for f in report.findings]
        findings += moved
        offset = max([offset, *(f.group for f in moved)])
        refusals += report.refusals
        problems += report.problems
        sites += report.sites
        left_alone += report.left_alone
        pairs |= report.in_one_function
    findings.sort(key=lambda f: (f.path, f.offset, f.codemod))
    refusals.sort(key=lambda r: (r.path, r.offset, r.name))
    found = Report(tuple(findings), tuple(refusals), tuple(problems), sites, frozenset(pairs))
    return replace(found, left_alone=tuple(left_alone))


class Reason(NamedTuple):
    """Why a rewrite is not proved, in words, and the statements that it is about: in the original, in the rewrite."""

    text: str
    before: tuple[Place, ...] = ()
    after: tuple[Place, ...] = ()


def prove(before: Mapping[str, bytes], after: Mapping[str, bytes], config: Config | None = None) -> list[str]:
    """Whether `after` is a right rewrite of `before`: the reasons why not in words, none if it is proved."""
    return list(dict.fromkeys(reason.text for reason in reasons(before, after, config)))


def reasons(before: Mapping[str, bytes], after: Mapping[str, bytes], config: Config | None = None) -> list[Reason]:
    """Why `after` is not a right rewrite of `before`; empty if it is proved to be one.

    Besides the orders of `before`, the stream-ordered memory of `after` must be used in order.
    """
    config = config or Config()
    books, others = Notebooks(before), Notebooks(after)
    before, after = books.texts, others.texts
    wrong = list(map(Reason, books.same_but_for_code(others)))
    every = {path: data for path, data in after.items() if path in before or data != pools.manager()}
    tables = models.load(config.tables)
    per_thread = config.default_stream == "per-thread" or not config.per_thread.isdisjoint(before)
    old, new = (Tree.of(dict(sorted(files.items())), config) for files in (before, every))
    if old.files.keys() != new.files.keys():
        names = ", ".join(f"`{name}`" for name in sorted(old.files.keys() ^ new.files.keys())[:3])
        return [Reason(f"the files are not the same ones: {names}")]
    programs = [p for cluster in clusters_of(old) for p in cluster]
    wrong += map(Reason, pools.prove(before, after, {path for program in programs for path in program}))
    wrong += map(Reason, _included_otherwise(old, new, programs))
    shared: set[str] = set()
    targets: dict[str, set[str]] = {}
    original = {id(s) for view in views_of(old, programs) for f in view.program.functions() for s in f.statements}
    wrong += [
        Reason(v) if isinstance(v, str) else _reason(v, original)
        for v in lockstep(old, new, programs, tables, per_thread)
        if isinstance(v, str) or not v.is_assumed
    ]
    with suppress(Different):  # which `lockstep` has told
        for n, paths in enumerate(programs):
            found = included(old, new, paths, tables)
            shared |= set().union(*found.functions.values())
            for path, headers in found.headers.items():
                targets[path] = {
                    target
                    for at, target in new.files.facts(path).includes
                    if any(place == at and p in headers for place, p in new.includes_of(path))
                }
                programs[n] = [*programs[n], *(header for header in headers if header not in programs[n])]
    for view in views_of(new, programs):
        outcome = check.run(view.program, tables, Overlay(), view.root, per_thread=per_thread)
        # what the host does not wait for, it may not have waited for in `before` either
        wrong += [_reason(v, set()) for v in outcome.violations if v.kind is not Wrong.HOST_RACE]
    if not wrong:  # what the IR drops is as it was
        wrong += map(Reason, _changed_wrappers(old, new, programs))
        texts = _without_wrappers(old, programs), _without_wrappers(new, programs)
        gone, came = residue.new_variables(*texts)
        variables = gone, came | shared
        wrong += (
            Reason(f"{path}: `{text}` changed, which is no part of a migration")
            for path in old.files
            if (text := residue.changed(texts[0][path], texts[1][path], path, tables, variables, targets.get(path, ())))
        )
    return list(dict.fromkeys(wrong))


def _without_wrappers(tree: Tree, programs: Sequence[Sequence[str]]) -> dict[str, bytes]:
    """The texts of a tree, in which what stands for a function of the runtime is that."""
    texts = dict(tree.files)
    for paths in programs:
        known = tree.wrappers_of(paths)
        texts |= {path: plain_text(texts[path], path, known) for path in paths if texts[path] is tree.files[path]}
    return texts


def _changed_wrappers(old: Tree, new: Tree, programs: Sequence[Sequence[str]]) -> Iterator[str]:
    """The functions for those of the runtime that are others now: the texts and the IR are compared without them, and
    other code may ask what they do.
    """
    for paths in programs:
        for path, spans in old.wrappers_of(paths).spans.items():
            if old.files[path] != new.files[path]:
                there = declared_in(old.files[path]).functions
                now = {function.elsewhere for function in declared_in(new.files[path]).functions}
                changed = (f for f in there if (f.start, f.end) in spans and f.elsewhere not in now)
                yield from (
                    f"{path}: `{function.name}` changed, which is no part of a migration" for function in changed
                )


def _included_otherwise(old: Tree, new: Tree, programs: list[list[str]]) -> Iterator[str]:
    """The files that functions include whose text is not the same, or is not there: the IR has nothing of it."""
    stmts = (s for view in views_of(old, programs) for f in view.program.functions() for s in f.statements)
    included = (s for s in stmts if isinstance(s, ir.Unknown) and s.why.startswith(ir.INCLUDED))
    for name in sorted({name for s in included for name in s.called or ("a file",)}):
        last = os.path.basename(name)
        meant = [path for path in old.files if os.path.basename(path) == last]
        if not meant:
            yield f"`{name}` is included in a function, and is none of the files that are compared"
        elif any(bytes(old.files[path]) != bytes(new.files[path]) for path in meant):
            yield f"`{name}` changed, and is included in a function"


def _reason(v: Violation, original: Collection[int]) -> Reason:
    """A counterexample; `original` are the statements (by `id`) of the program as it was."""
    sides: tuple[list[Place], list[Place]] = [], []
    if v.earlier is not None and v.earlier.stmt is not None:
        span = v.earlier.stmt.span
        sides[id(v.earlier.stmt) not in original].append(Place(span.path, span.start, v.earlier.text))
    new = v.later.stmt is not None and id(v.later.stmt) not in original
    sides[new].append(Place(v.later.span.path, v.later.span.start, v.later.text))
    return Reason(v.words, *map(tuple, sides))
