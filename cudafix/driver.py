"""From files to a report: each cluster of programs is proved, in processes, or remembered from an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from cudafix import models
from cudafix.cache import Cache, signature
from cudafix.cluster import Cluster, lockstep, views_of
from cudafix.config import Config
from cudafix.findings import Finding, Problem, Refusal, Report
from cudafix.ordering import check
from cudafix.ordering.program import Overlay
from cudafix.tree import Tree, clusters_of


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
    asked = (sorted(config.disabled), config.default_stream, config.tables, config.only, config.certificates)
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
