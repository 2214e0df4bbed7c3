"""From files to a report: each cluster of programs is proved, in processes, or remembered from an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from cudafix import codemod, models, pools
from cudafix.cache import Cache, signature
from cudafix.certificates import Scenes, certified
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
    known = cache.get([key], Report).get(key)
    if known is None:
        known = pools.examine(files, config)
        cache.put({key: known})
    return known


def _analyze(files: Mapping[str, bytes], config: Config, jobs: int, cache: Cache | None, progress: Progress) -> Report:
    """Of a cluster that is known, no proof is made again for the certificates: its scenes are known too."""
    tree = Tree({path: files[path] for path in sorted(files)}, config.check_macros)
    clusters = clusters_of(tree)
    if cache is None:
        found = _decisions(tree, [(programs, None) for programs in clusters], config, jobs, progress)
        return _merged([each.shown or each.report for each in found])
    keys = [_key(tree, programs, config) for programs in clusters]
    of_scenes, of_shown = ({key: _digest((what, key)) for key in keys} for what in ("scenes", "certificates"))
    wanted = of_shown if config.certificates else {key: key for key in keys}
    known = cache.get(wanted.values(), Report)
    missing = [n for n, key in enumerate(keys) if wanted[key] not in known]
    if missing:
        decided: list[Decided | None] = [None for _ in missing]
        if config.certificates:
            reports = cache.get([keys[n] for n in missing], Report)
            scenes = cache.get([of_scenes[keys[n]] for n in missing], Scenes)
            decided = [_known(reports.get(keys[n]), scenes.get(of_scenes[keys[n]])) for n in missing]
        asked = [(clusters[n], before) for n, before in zip(missing, decided, strict=True)]
        fresh: dict[bytes, Report | Scenes] = {}
        for n, before, now in zip(missing, decided, _decisions(tree, asked, config, jobs, progress), strict=True):
            key = keys[n]
            if before is None:
                fresh |= {key: now.report, of_scenes[key]: now.scenes}
            if now.shown is not None:
                fresh[of_shown[key]] = now.shown
            known[wanted[key]] = now.shown or now.report
        cache.put(fresh)
    return _merged([known[wanted[key]] for key in keys])


class Decided(NamedTuple):
    """What became of a cluster: the report without certificates, what they are made of, and the report with them, where
    it is asked for.
    """

    report: Report
    scenes: Scenes
    shown: Report | None = None


def _known(report: Report | None, scenes: Scenes | None) -> Decided | None:
    return Decided(report, scenes) if report is not None and scenes is not None else None


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
    )
    if tree.python is not None and not tree.python.paths.isdisjoint(paths):
        paths |= dict.fromkeys(sorted(tree.python.paths))  # a name may come from any module of the tree
    texts = [hashlib.sha256(tree.files[path]).digest() for path in paths]
    return _digest((asked, programs, texts))


def _digest(asked: object) -> bytes:
    return hashlib.sha256(signature() + repr(asked).encode("utf-8", "surrogateescape")).digest()


Asked: TypeAlias = tuple[list[list[str]], Decided | None]
"""A cluster, and what is known of it."""


def _decisions(tree: Tree, asked: Sequence[Asked], config: Config, jobs: int, progress: Progress) -> list[Decided]:
    weights = [sum(len(tree.files[p]) for program in programs for p in program) for programs, _ in asked]
    if jobs > 1 and sum(weights) > 200_000:
        return _in_processes(tree, asked, config, jobs, weights, progress)
    tables = models.load(config.tables)
    decided: list[Decided] = []
    for n, (programs, before) in enumerate(asked, 1):
        decided.append(_decided(tree, programs, before, tables, config))
        progress(sum(weights[:n]), sum(weights))
    return decided


def _decided(
    tree: Tree, programs: list[list[str]], before: Decided | None, tables: models.Tables, config: Config
) -> Decided:
    found = before or Decided(*Cluster(tree, programs, tables, config).report())
    if not config.certificates:
        return found
    views = views_of(tree, programs) if found.scenes.of else []
    return found._replace(shown=certified(found.report, found.scenes, views, tables))


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


def _work(asked: Asked) -> Decided:
    assert _SHARED is not None
    tree, config = _SHARED
    return _decided(tree, *asked, models.load(config.tables), config)


def _in_processes(
    tree: Tree, asked: Sequence[Asked], config: Config, jobs: int, weights: list[int], progress: Progress
) -> list[Decided]:
    """The clusters in worker processes that share the files by fork; in this process where there is no fork."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _SHARED
    _SHARED = (tree, config)
    if "fork" not in multiprocessing.get_all_start_methods():
        return [_work(each) for each in asked]
    context = multiprocessing.get_context("fork")
    order = sorted(range(len(asked)), key=lambda n: -weights[n])
    done: dict[int, Decided] = {}
    bytes_done = 0
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for n, decided in zip(order, pool.map(_work, [asked[n] for n in order], chunksize=2), strict=True):
            done[n] = decided
            bytes_done += weights[n]
            progress(bytes_done, sum(weights))
    return [done[n] for n in range(len(asked))]


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
