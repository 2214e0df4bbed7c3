"""Clusters are proved in batches: in this process, in others of this machine, or on any executor.

A batch holds all that its proofs depend on, so it does not matter where it is worked on, and how often: what a lost
worker had is given to another one, each cluster alone. One that kills this too, or on which cudafix fails, is refused.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace as with_values
from typing import NamedTuple

from cudafix import models
from cudafix.findings import Report
from cudafix.pipeline.cache import signature
from cudafix.pipeline.cluster import Cluster
from cudafix.pipeline.executors import ExecutorError, processes
from cudafix.pipeline.programs import Part
from cudafix.pipeline.tree import Tree, including_program
from cudafix.pipeline.views import views_of
from cudafix.project import failures, prefilter
from cudafix.project.config import Config
from cudafix.project.files import ChangedError, Files
from cudafix.rewrite.certificates import Scenes, certified

Programs = list[list[str]]
"""The programs of one cluster, as lists of files."""

PAYS = 0.3
"""Seconds of work in this process after which others are started: about what it takes to start them."""
_BATCHES = 16  # for each process, so that none is left with a long one at the end
_LEAST = 100_000  # bytes of source text in a batch: some tenths of a second of work
_AHEAD = 4  # batches for each worker that are made before it asks: they hold texts
_MOST_WORKERS = 64  # of a cluster whose size is not known


class Decided(NamedTuple):
    """What became of a cluster: the report without certificates, what they are made of, and the report with them, where
    it is asked for.
    """

    report: Report
    scenes: Scenes
    shown: Report | None = None


class Asked(NamedTuple):
    """Programs that are decided together, and what is known of them."""

    part: Part
    before: Decided | None = None

    @property
    def programs(self) -> Programs:
        return self.part.programs


class Limit(NamedTuple):
    """How long proofs may take, in seconds, and until when: a moment of `time.monotonic`."""

    seconds: float
    until: float

    @classmethod
    def of(cls, seconds: float) -> Limit:
        return cls(seconds, time.monotonic() + seconds)


class Batch(NamedTuple):
    """Some clusters, and the files that their proofs depend on."""

    asked: Sequence[Asked]
    files: Files
    config: Config


class Done(NamedTuple):
    """What became of the clusters of a batch, in order, and the `signature` of the cudafix that decided it."""

    decided: list[Decided]
    signature: bytes


_one_at_a_time = threading.Lock()  # the threads of one worker
_last: tuple[Config, Tree] | None = None  # what they worked on: the next batch has some of the same headers


def work(batch: Batch) -> Done:
    """Prove the clusters of a batch, as one of many."""
    done = _work(batch)
    gc.collect()  # programs refer to themselves in circles, and what is looked for by itself is rarely found
    return done


def _work(batch: Batch, drawn_from: Tree | None = None) -> Done:
    """Prove the clusters of a batch. What the tree that it was drawn from has read is not read again."""
    global _last
    with _one_at_a_time:
        config = batch.config
        tree = Tree.of(batch.files, config)
        if _last is not None and _last[0] == batch.config:
            tree.take(_last[1])
        if drawn_from is not None:
            tree.take(drawn_from)
        _last = batch.config, tree
        tables = models.load(batch.config.tables)
        decided = [_decided(tree, asked, tables, batch.config) for asked in batch.asked]
        return Done(decided, signature())


def _decided(tree: Tree, asked: Asked, tables: models.Tables, config: Config) -> Decided:
    """What becomes of a cluster, whatever fails on the way."""
    try:
        return _decide(tree.part(needed(tree, asked.programs, config)), asked, tables, _settings(asked, config))
    except (ChangedError, OSError):
        raise
    except Exception as error:
        return _failed(tree, asked, config, error)


def _settings(asked: Asked, config: Config) -> Config:
    """The settings of a part: of some of its files is said elsewhere what becomes of them."""
    only_read = asked.part.only_read
    return with_values(config, context=config.context | only_read) if only_read else config


def _failed(tree: Tree, asked: Asked, config: Config, error: Exception | None) -> Decided:
    paths = (path for program in asked.programs for path in program)
    context = _settings(asked, config).context
    report = failures.of(tree.files, paths, context, error)
    return Decided(report, Scenes({}, per_thread=False), report if config.certificates else None)


def _decide(tree: Tree, asked: Asked, tables: models.Tables, config: Config) -> Decided:
    """Of a cluster that is known, no proof is made again for the certificates: its scenes are known too."""
    found = asked.before
    if found is None:
        report, scenes = Cluster(tree, asked.part, tables, config).report()
        found = Decided(failures.without_unread(tree.files, asked.programs, report), scenes)
    if config.certificates:
        views = views_of(tree, asked.programs) if found.scenes.of else []
        found = found._replace(shown=certified(found.report, found.scenes, views, tables))
    tree.views.clear()  # with all that was found out about these programs; the files stay for the next cluster
    return found


def needed(tree: Tree, programs: Programs, config: Config) -> list[str]:
    """The files that the report on a cluster depends on: those of its programs; of a file that a program with `main`
    includes, such a program; of Python all modules, as a name may come from any of them; the header that sets up pools.
    """
    paths = dict.fromkeys(path for program in programs for path in program)
    if any(path.endswith(prefilter.SUFFIX) for path in paths) and tree.python is not None:
        paths |= dict.fromkeys(sorted(tree.python.paths))
    for program in programs:
        including = including_program(tree, program[0])
        if including is not None:
            paths |= dict.fromkeys((including, *tree.included(including)))
    if config.pool_setup is not None and config.pool_setup in tree.files:
        paths |= dict.fromkeys((config.pool_setup, *tree.included(config.pool_setup)))
    return list(paths)


def decide(
    tree: Tree,
    asked: Sequence[Asked],
    config: Config,
    jobs: int,
    executor: Executor | None = None,
    limit: Limit | None = None,
) -> Iterator[tuple[int, Decided]]:
    """What becomes of each cluster, with its place among those that are `asked`, in the order in which they get done.

    With an `executor`, all work is done there. Without one, `jobs` processes are used once it pays. Raises
    `ExecutorError`.

    What is not done within a `limit` is given up. So that as much as can be gets done before, the small ones come
    first, each alone, and all in processes, which can be ended.
    """
    sizes = dict(enumerate(_sizes(tree, [each.programs for each in asked])))
    left = sorted(sizes, key=lambda n: sizes[n])
    start = time.perf_counter()
    while (
        left
        and executor is None
        and limit is None
        and (jobs == 1 or len(left) == 1 or time.perf_counter() - start < PAYS)
    ):
        chosen = _first(left, sizes, _LEAST)
        left = left[len(chosen) :]
        yield from zip(chosen, _work(_batch(tree, asked, chosen, config), tree).decided, strict=True)
        if left:  # as in `work`; who asks for little wants the answer first
            gc.collect()
    if not left:
        return
    most = sum(sizes[n] for n in left) // (_BATCHES * (jobs if executor is None else _MOST_WORKERS))
    planned = _planned(left, sizes, max(most, _LEAST)) if limit is None else [[n] for n in left]
    with suppress(_TimeOverError):
        if executor is not None:
            try:
                yield from _on(executor, _AHEAD * _MOST_WORKERS, tree, asked, planned, config, limit)
            except _LostError:
                raise ExecutorError("a worker was killed (out of memory?)") from None
            return
        while planned:
            suspects: list[int] = []
            try:
                with processes(min(jobs, len(planned))) as pool:
                    yield from _on(pool, _AHEAD * jobs, tree, asked, planned, config, limit)
                return
            except _LostError as lost:
                planned = list(lost.waiting)
                suspects = [n for chosen in lost.running for n in chosen]
            yield from _one_by_one(suspects, tree, asked, config, limit)


class _TimeOverError(Exception):
    """The moment has come until which something was to be done."""


def _next_done(running: Iterable[Future[Done]], limit: Limit | None) -> set[Future[Done]]:
    """Those of the `running` that are done, at least one. Raises `_TimeOverError`."""
    left = max(limit.until - time.monotonic(), 0) if limit is not None else None
    done = wait(running, left, return_when=FIRST_COMPLETED).done
    if not done:
        raise _TimeOverError
    return done


def _one_by_one(
    suspects: Sequence[int], tree: Tree, asked: Sequence[Asked], config: Config, limit: Limit | None
) -> Iterator[tuple[int, Decided]]:
    """Clusters of which one has killed its worker: each alone, so that it is known which one."""
    left = list(reversed(suspects))
    while left:
        with suppress(BrokenExecutor), processes(1) as pool:
            while left:
                batch = _batch(tree, asked, [left[-1]], config)
                (future,) = _next_done([pool.submit(work, batch._replace(files=batch.files.held()))], limit)
                (found,) = future.result().decided
                yield left.pop(), found
        if left:
            n = left.pop()
            yield n, _failed(tree, asked[n], config, None)


def _sizes(tree: Tree, clusters: Sequence[Programs]) -> list[int]:
    return [tree.files.size({path for program in programs for path in program}) for programs in clusters]


def shard_of(tree: Tree, clusters: Sequence[Programs], number: int, of: int) -> list[int]:
    """The places of the clusters that shard `number` (from 1) of some shards has: all have about the same to do."""
    sizes = _sizes(tree, clusters)
    loads = [0] * of
    mine: list[int] = []
    for n in sorted(range(len(clusters)), key=lambda n: (-sizes[n], clusters[n])):
        least = loads.index(min(loads))
        loads[least] += sizes[n]
        if least == number - 1:
            mine.append(n)
    return sorted(mine)


def _first(left: Sequence[int], sizes: Mapping[int, int], size: int) -> list[int]:
    """As many clusters from the front as have this size together, at least one."""
    chosen: list[int] = []
    for n in left:
        if chosen and sum(sizes[m] for m in chosen) + sizes[n] > size:
            break
        chosen.append(n)
    return chosen


def _planned(left: Sequence[int], sizes: Mapping[int, int], most: int) -> list[list[int]]:
    """Batches of neighbours, which share headers; the largest first, as it may take longest."""
    rest = sorted(left)
    planned: list[list[int]] = []
    while rest:
        planned.append(_first(rest, sizes, most))
        rest = rest[len(planned[-1]) :]
    return sorted(planned, key=lambda chosen: -sum(sizes[n] for n in chosen))


def _batch(tree: Tree, asked: Sequence[Asked], chosen: Sequence[int], config: Config) -> Batch:
    paths = dict.fromkeys(path for n in chosen for path in needed(tree, asked[n].programs, config))
    return Batch([asked[n] for n in chosen], tree.files.only(paths), config)


class _LostError(Exception):
    """A worker was killed, and all of them ended: which batches had been begun, and which not."""

    def __init__(self, running: Sequence[list[int]], waiting: Sequence[list[int]]) -> None:
        super().__init__("a worker was killed")
        self.running = running
        self.waiting = waiting


def _on(
    executor: Executor,
    ahead: int,
    tree: Tree,
    asked: Sequence[Asked],
    planned: Sequence[list[int]],
    config: Config,
    limit: Limit | None,
) -> Iterator[tuple[int, Decided]]:
    """Raises `_LostError` and `_TimeOverError`."""
    waiting = list(reversed(planned))
    running: dict[Future[Done], list[int]] = {}
    chosen: list[int] = []  # what is begun, or taken back, just now
    try:
        while waiting or running:
            while waiting and len(running) < ahead:
                chosen = waiting.pop()
                batch = _batch(tree, asked, chosen, config)
                running[executor.submit(work, batch._replace(files=batch.files.held()))] = chosen
                chosen = []
            for future in _next_done(running, limit):
                chosen = running.pop(future)
                done = future.result()
                if done.signature != signature():
                    raise ExecutorError("the workers have another version of cudafix, or of its parsers")
                begun, chosen = chosen, []
                yield from zip(begun, done.decided, strict=True)
    except BrokenExecutor:
        raise _LostError([*([chosen] if chosen else []), *running.values()], waiting[::-1]) from None
    finally:
        for future in running:
            future.cancel()
