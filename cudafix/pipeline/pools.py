"""The memory of arrays: what codemods find in Python programs that never name an allocation.

A codemod with a function `examine` is asked about every program; what it would write is compared with the original once
more (`frontends.python.rewrites`) before it counts. A place in a file of several programs moves only if it may move in
each of them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from cudafix.codemod import codemods
from cudafix.codemod import module as codemod
from cudafix.findings import Edit, Finding, Problem, Refusal, Report
from cudafix.project import failures, prefilter
from cudafix.project.config import Config
from cudafix.project.files import ChangedError, Files
from cudafix.project.including import PACKAGES
from cudafix.rewrite.edits import OverlapError, apply

if TYPE_CHECKING:
    from cudafix.frontends.python.rewrites import Comparison
    from cudafix.frontends.python.tree import PythonTree

_Refusals: TypeAlias = dict[tuple[str, int, str], Refusal]  # by path, offset and codemod

MIGRATES = frozenset(("cupy_async_allocator", "numba_memory_manager"))
"""Codemods whose findings are allocation sites."""


def manager() -> bytes:
    """The one file that cudafix adds to a project: a memory manager for Numba."""
    from cudafix.codemods import numba_memory_manager

    content: bytes = numba_memory_manager.manager()
    return content


def candidates(files: Mapping[str, bytes]) -> set[str]:
    """The files that may ask for memory in one of these ways, or end a context. Those of the libraries are left out."""
    known = Files.of(files)
    found = {path for path in known if known.facts(path).arrays}
    return {path for path in found if not _is_of_a_library(path, files)}


def _is_of_a_library(path: str, files: Mapping[str, bytes]) -> bool:
    """Whether a file stands in the package of a library that the tables describe."""
    words = path.split(os.sep)
    return any(
        word in PACKAGES and os.sep.join((*words[: n + 1], "__init__.py")) in files for n, word in enumerate(words[:-1])
    )


def _foreign(files: Mapping[str, bytes]) -> set[str]:
    """The files that may take memory from a library with an allocator of its own."""
    known = Files.of(files)
    found = {path for path in known if known.facts(path).others}
    return {path for path in found if not _is_of_a_library(path, files)}


def concerns(files: Mapping[str, bytes]) -> bool:
    """Whether any of the files is worth a parse for `examine`."""
    return bool(candidates(files) or _foreign(files) or _with_cupy(files))


def _with_cupy(files: Mapping[str, bytes]) -> set[str]:
    """The files that import CuPy, whatever they do with it."""
    known = Files.of(files)
    found = {p for p in known if any(name.partition(".")[0] == "cupy" for name in known.facts(p).imports)}
    return {path for path in found if not _is_of_a_library(path, files)}


def _not_parsed(paths: Iterable[str], tree: PythonTree) -> tuple[list[Problem], _Refusals]:
    """Those of the files that cannot be parsed: a line for each, and a refusal where no allocation in it has one."""
    from cudafix.frontends.python.source import UnreadableError, sites_in_text

    problems: list[Problem] = []
    refusals: _Refusals = {}
    for path in sorted(paths):
        data = tree.files[path]
        line = prefilter.error_of_syntax(data)
        if line is not None and isinstance(tree.source(path), UnreadableError):
            problem, refusal = failures.not_parsed(path, data, line, bool(sites_in_text(data)))
            problems.append(problem)
            if refusal is not None:
                refusals[path, refusal.offset, refusal.name] = refusal
    return problems, refusals


def examine(files: Mapping[str, bytes], config: Config, known: PythonTree | None = None) -> Report:
    """What the codemods find in the programs of these files. `known` has read some of them."""
    wanted = candidates(files) - config.context
    others = _foreign(files) - config.context
    looked_at = (wanted | others | _with_cupy(files)) - config.context
    if not looked_at:
        return Report((), ())
    from cudafix.frontends.python import foreign, uses
    from cudafix.frontends.python.tree import PythonTree

    tree = known if known is not None else PythonTree(files)
    names = [name for name in codemods() if hasattr(codemod(name), "examine") and not config.is_off_everywhere(name)]
    findings: dict[tuple[str, int, str], Finding] = {}
    refusals: _Refusals = {}
    groups = 0
    for path in sorted(others):
        with failures.alone(path):
            file = uses.file_of(tree, path)
            for refusal in foreign.examine(file) if file is not None else ():
                refusals[refusal.path, refusal.offset, "foreign"] = refusal
    failed: dict[str, Exception] = {}
    for program in uses.programs(tree, wanted, failed):
        program.has_rmm = program.has_rmm or program.main.path in config.rmm
        program.default_stream_is_open = not config.perhaps_per_thread.isdisjoint(program.files)
        found: list[Finding] = []
        try:
            items = [(name, item) for name in names for item in codemod(name).examine(program)]
            for name, item in items:
                if isinstance(item, Finding):
                    found.append(replace(item, group=item.group + groups if item.group else 0))
                elif item.path not in config.context:
                    refusals.setdefault((item.path, item.offset, name), item)
            groups = max([groups, *(f.group for f in found)])
            found, refused = _of_given(found, config.context)
            refusals = refused | refusals
            wrong = _reason(files, found)
        except ChangedError:
            raise
        except Exception as error:
            failed[program.main.path] = error
            continue
        for finding in found:
            if wrong is not None and finding.edits:
                finding = replace(finding, edits=())
                if finding.codemod in MIGRATES:
                    key = finding.path, finding.offset, finding.codemod
                    text = f"the rewritten text could not be proved again: {wrong}"
                    refusals.setdefault(key, _refused(finding, "own_edit_failed", text))
                    continue
            findings.setdefault((finding.path, finding.offset, finding.codemod), finding)
    groups_that_stay = {findings[key].group for key in refusals if key in findings} - {0}
    for key, finding in list(findings.items()):
        if key in refusals:
            del findings[key]
        elif finding.group in groups_that_stay:
            del findings[key]
            refusals[key] = _refused(finding, "out_of_order", "another place that moves with it stays")
    sites = sum(f.codemod in MIGRATES for f in findings.values()) + len(refusals)
    problems, not_parsed = _not_parsed(looked_at - failed.keys(), tree)
    for path, reason in failed.items():
        own = failures.of(Files.of(files), [path], config.context, reason)
        problems += own.problems
        for refusal in own.refusals:
            refusals.setdefault((path, refusal.offset, failures.NAME), refusal)
            sites += 1
    refusals |= not_parsed
    return Report(tuple(findings.values()), tuple(refusals.values()), tuple(problems), sites)


def _of_given(found: list[Finding], context: AbstractSet[str]) -> tuple[list[Finding], _Refusals]:
    """What is in the files that were given. What would change others is refused, with all that moves with it."""
    given = [finding for finding in found if finding.path not in context]
    known = {edit for finding in given for edit in finding.edits if edit.path not in context}
    closed = {
        f.group or id(f): e.path if e.path in context else f.path for f in found for e in f.edits if e not in known
    }
    kept: list[Finding] = []
    refused: _Refusals = {}
    for finding in given:
        path = closed.get(finding.group or id(finding))
        if path is None:
            kept.append(finding)
        elif finding.codemod in MIGRATES:
            text = f"`{path}` would have to change with it and was not given"
            key = finding.path, finding.offset, finding.codemod
            refused[key] = _refused(finding, "site_not_editable", text)
        else:
            kept.append(replace(finding, edits=()))
    return kept, refused


def _refused(finding: Finding, name: str, text: str) -> Refusal:
    from cudafix.refusals import REFUSALS

    return Refusal(name, finding.path, finding.offset, text, REFUSALS[name].unlock, finding.related, finding.runs)


def _reason(files: Mapping[str, bytes], findings: list[Finding]) -> str | None:
    """Why the text that the findings would write is no right rewrite."""
    by_path: dict[str, list[Edit]] = {}
    for finding in findings:
        for edit in finding.edits:
            by_path.setdefault(edit.path, []).append(edit)
    if not by_path:
        return None
    try:
        after = dict(files) | {path: apply(files.get(path, b""), edits) for path, edits in by_path.items()}
    except OverlapError as error:
        return str(error)
    moves = any(finding.codemod in MIGRATES for finding in findings)
    return next(differences(files, after, by_path), None) or next(_unordered(after, by_path if moves else ()), None)


def _unordered(files: Mapping[str, bytes], paths: Iterable[str]) -> Iterator[str]:
    """Where work on other streams is not in order with stream-ordered memory of arrays."""
    from cudafix.frontends.python import streams

    read = [path for path in paths if files[path] != manager()]
    may_catch = streams.catches(files[one] for one in read)
    for path in read if streams.needed(files[one] for one in read) else ():
        found = streams.unordered(files[path], may_catch) if path.endswith(".py") else None
        if found is not None:
            yield f"{path}:{found[1]}: {found[0]}"


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes], paths: Mapping[str, object]) -> Iterator[str]:
    """What in the changed files is no right rewrite."""
    from cudafix.frontends.python.rewrites import Change, Comparison

    for path in paths:
        if path not in before:
            if after[path] != manager():
                yield f"{path}: a file that was not there, and not one that cudafix writes"
        elif before[path] != after[path]:
            try:
                Comparison(path, before[path], after[path], after, manager())
            except (Change, SyntaxError) as different:
                yield f"{path}: {different}"


def _compared(path: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Comparison | None:
    from cudafix.frontends.python.rewrites import Change, Comparison

    try:
        return Comparison(path, before[path], after[path], after, manager())
    except (Change, SyntaxError):
        return None  # `differences` says why


def prove(before: Mapping[str, bytes], after: Mapping[str, bytes], proved: Collection[str]) -> Iterator[str]:
    """Why `after` is no right rewrite of the Python files that the ordering engine did not look at (`proved`)."""
    from cudafix.codemods.sync_before_close import examine as ends
    from cudafix.frontends.python import conditions, uses
    from cudafix.frontends.python.tree import PythonTree

    changed = {
        path: None
        for path in after
        if path.endswith(prefilter.SUFFIX) and before.get(path) != after[path] and path not in proved
    }
    yield from differences(before, after, changed)
    moved = {
        path: compared
        for path in changed
        if path in before and (compared := _compared(path, before, after)) is not None
    }
    for program in uses.programs(PythonTree(before), candidates(before)):
        if any(path in moved and moved[path].allocators for path in program.files):
            if not program.script:
                yield "unseen_caller: no script of the tree imports this module"
            for obstacle in conditions.cupy(program):
                yield f"{obstacle.name}: {obstacle.text}"
        if any(path in moved and moved[path].managers for path in program.files):
            for obstacle in conditions.numba(program):
                yield f"{obstacle.name}: {obstacle.text}"
    for program in uses.programs(PythonTree(after), candidates(after)):
        if any(path in moved and (moved[path].allocators or moved[path].managers) for path in program.files):
            yield from _unordered(after, program.files)
        for item in ends(program):
            yield item.message
