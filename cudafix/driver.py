"""From files to a report: each cluster of programs is proved, in processes, or remembered from an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from cudafix import codemod, models, pools
from cudafix.cache import Cache, signature
from cudafix.cluster import Cluster, lockstep, views_of
from cudafix.config import Config
from cudafix.findings import Finding, Problem, Refusal, Report
from cudafix.frontends.python import prefilter
from cudafix.frontends.python.notebook import Notebooks
from cudafix.ordering import check
from cudafix.ordering.program import Overlay, Wrong
from cudafix.programs import clusters_of
from cudafix.tree import Tree

Progress = Callable[[int, int], None]


def analyze(
    files: Mapping[str, bytes],
    config: Config,
    jobs: int = 1,
    cache: Cache | None = None,
    progress: Progress = lambda _, __: None,
) -> Report:
    """Analyse the files together. The order of `files`, the number of `jobs` and what is in the `cache` do not matter
    for the result. `progress` gets what is done and what there is to do, in bytes.
    """
    books = Notebooks(files)
    arrays = _arrays(books.texts, config, cache)
    return books.report(_merged([_analyze(books.texts, config, jobs, cache, progress), arrays]))


def _arrays(files: Mapping[str, bytes], config: Config, cache: Cache | None) -> Report:
    """The memory of arrays: one report for all Python files, as a name may come from any of them."""
    if cache is None or not pools.concerns(files):
        return pools.examine(files, config)
    python = sorted(path for path in files if path.endswith(prefilter.SUFFIX))
    texts = [(path, hashlib.sha256(files[path]).digest()) for path in python]
    key = _digest(("arrays", [name for name in codemod.names() if config.is_off_everywhere(name)], texts))
    known = cache.get([key])
    if key not in known:
        known = {key: pools.examine(files, config)}
        cache.put(known)
    return known[key]


def _analyze(files: Mapping[str, bytes], config: Config, jobs: int, cache: Cache | None, progress: Progress) -> Report:
    tree = Tree({path: files[path] for path in sorted(files)}, config.check_macros)
    clusters = clusters_of(tree)
    if cache is None:
        return _merged(_reports(tree, clusters, config, jobs, progress))
    keys = [_key(tree, programs, config) for programs in clusters]
    known = cache.get(keys)
    missing = [n for n, key in enumerate(keys) if key not in known]
    if missing:
        reports = _reports(tree, [clusters[n] for n in missing], config, jobs, progress)
        fresh = {keys[n]: report for n, report in zip(missing, reports, strict=True)}
        cache.put(fresh)
        known |= fresh
    return _merged([known[key] for key in keys])


def _key(tree: Tree, programs: list[list[str]], config: Config) -> bytes:
    """Equal only where the report must be the same: the same programs of the same files, asked in the same way."""
    paths = dict.fromkeys(path for program in programs for path in program)
    off: list[object] = [*sorted(config.disabled)]
    if config.overrides:
        off = [
            (path, [name for name in codemod.names() if not config.is_on(name, path)], config.default_stream_of(path))
            for path in paths
        ]
    streams = [sorted(found & paths.keys()) for found in (config.per_thread, config.perhaps_per_thread)]
    cuda = (config.cuda, config.guard) if config.is_too_old else None
    asked = (
        off,
        config.default_stream,
        streams,
        config.tables,
        config.check_macros,
        cuda,
        config.only,
        config.certificates,
    )
    if tree.python is not None and not tree.python.paths.isdisjoint(paths):
        paths |= dict.fromkeys(sorted(tree.python.paths))  # a name may come from any module of the tree
    texts = [hashlib.sha256(tree.files[path]).digest() for path in paths]
    return _digest((asked, programs, texts))


def _digest(asked: object) -> bytes:
    return hashlib.sha256(signature() + repr(asked).encode("utf-8", "surrogateescape")).digest()


def _reports(
    tree: Tree, clusters: list[list[list[str]]], config: Config, jobs: int, progress: Progress
) -> list[Report]:
    weights = [sum(len(tree.files[p]) for program in c for p in program) for c in clusters]
    if jobs > 1 and sum(weights) > 200_000:
        return _in_processes(tree, clusters, config, jobs, weights, progress)
    tables = models.load(config.tables)
    reports: list[Report] = []
    for n, programs in enumerate(clusters, 1):
        reports.append(Cluster(tree, programs, tables, config).report())
        progress(sum(weights[:n]), sum(weights))
    return reports


def _merged(reports: Iterable[Report]) -> Report:
    findings: list[Finding] = []
    refusals: list[Refusal] = []
    problems: list[Problem] = []
    sites = 0
    pairs: set[tuple[str, int]] = set()
    offset = 0
    for report in reports:
        moved = [replace(f, group=f.group + offset) if f.group else f for f in report.findings]
        findings += moved
        offset = max([offset, *(f.group for f in moved)])
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


def _in_processes(
    tree: Tree, clusters: list[list[list[str]]], config: Config, jobs: int, weights: list[int], progress: Progress
) -> list[Report]:
    """The clusters in worker processes that share the files by fork; in this process where there is no fork."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _SHARED
    _SHARED = (tree, config)
    if "fork" not in multiprocessing.get_all_start_methods():
        return [_work(c) for c in clusters]
    context = multiprocessing.get_context("fork")
    order = sorted(range(len(clusters)), key=lambda n: -weights[n])
    done: dict[int, Report] = {}
    bytes_done = 0
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for n, report in zip(order, pool.map(_work, [clusters[n] for n in order], chunksize=2), strict=True):
            done[n] = report
            bytes_done += weights[n]
            progress(bytes_done, sum(weights))
    return [done[n] for n in range(len(clusters))]


def prove(before: Mapping[str, bytes], after: Mapping[str, bytes], config: Config | None = None) -> list[str]:
    """Whether `after` is a right rewrite of `before`: the reasons why not, none if it is proved.

    Besides the orders of `before`, the stream-ordered memory of `after` must be used in order.
    """
    config = config or Config()
    books, others = Notebooks(before), Notebooks(after)
    before, after = books.texts, others.texts
    wrong = list(books.same_but_for_code(others))
    every = {path: data for path, data in after.items() if path in before or data != pools.manager()}
    tables = models.load(config.tables)
    per_thread = config.default_stream == "per-thread" or not config.per_thread.isdisjoint(before)
    old, new = (Tree(dict(sorted(files.items())), config.check_macros) for files in (before, every))
    if old.files.keys() != new.files.keys():
        return ["the files are not the same ones"]
    programs = [p for cluster in clusters_of(old) for p in cluster]
    wrong += pools.prove(before, after, {path for program in programs for path in program})
    wrong += [
        v if isinstance(v, str) else v.words
        for v in lockstep(old, new, programs, tables, per_thread)
        if isinstance(v, str) or v.earlier is None or v.earlier.assumption is None
    ]
    for view in views_of(new, programs):
        outcome = check.run(view.program, tables, Overlay(), view.root, per_thread=per_thread)
        wrong += [v.words for v in outcome.violations if v.kind is not Wrong.HOST_RACE]  # of `before` too
    return list(dict.fromkeys(wrong))
