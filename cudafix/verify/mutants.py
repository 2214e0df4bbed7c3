"""The evidence for an insertion: the program without one of the waits that were inserted must not pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import get_all_start_methods

from cudafix.findings import Edit
from cudafix.pipeline import executors
from cudafix.project.config import Config
from cudafix.rewrite import edits
from cudafix.verify.plan import Kind, Variant

_WAIT = re.compile(
    rb"^(?P<indent>[ \t]*)(?P<text>[^\n]*?"
    rb"(?P<call>(?:cu(?:da)?(?:StreamSynchronize|StreamWaitEvent|DeviceSynchronize|CtxSynchronize)"
    rb"|[\w.()]+\.(?:streamSynchronize|streamWaitEvent|deviceSynchronize|synchronize|wait_event|wait))"
    rb"\s*\([^\n;]*?\))[^\n\\]*?)"
    rb"(?P<end>[ \t]*\\?\r?)$",
    re.MULTILINE,
)
"""A line of inserted text that waits, in C++ or in Python. Inserted statements have lines of their own
(`cudafix/rewrite/statements.py`).
"""

Files = Mapping[str, bytes]


def mutants(files: Files, changes: Sequence[Edit]) -> Iterator[Variant]:
    """For each wait that these edits insert, the files that they change, with everything but that wait.

    What stands in a file that an edit makes is the codemod's own text, and no wait of this program's.
    """
    unique = list(dict.fromkeys(changes))
    number = 0
    for at, edit in enumerate(unique):
        if edit.path not in files:
            continue
        replaced = files[edit.path][edit.start : edit.end]
        for wait in _WAIT.finditer(edit.text):
            if wait["call"] in replaced:
                continue  # a statement that was there and is moved or wrapped
            number += 1
            without = edit.text[: wait.start("text")] + edit.text[wait.end("text") :]
            mutated = [*unique[:at], edit._replace(text=without), *unique[at + 1 :]]
            by_path: dict[str, list[Edit]] = {}
            for change in mutated:
                by_path.setdefault(change.path, []).append(change)
            texts = {path: edits.apply(files.get(path, b""), own) for path, own in by_path.items()}
            line = files[edit.path].count(b"\n", 0, edit.start) + 1
            about = f"`{wait['call'].decode(errors='replace')}` at {edit.path}:{line}"
            yield Variant(f"mutant/{number}", Kind.MUTANT, texts, about)


def rejected(pairs: Sequence[tuple[Files, Files, Config]], processes: int) -> list[tuple[str, ...]]:
    """For each before and after, in its configuration, the static checker's reasons against after."""
    if processes < 2 or len(pairs) < 2 or "fork" not in get_all_start_methods():
        return [_reasons(pair) for pair in pairs]
    with executors.processes(processes) as pool:
        return list(pool.map(_reasons, pairs, chunksize=4))


def _reasons(pair: tuple[Files, Files, Config]) -> tuple[str, ...]:
    from cudafix.pipeline.driver import prove  # the engine, for those who need it

    before, after, config = pair
    return tuple(prove(before, after, config))


def program_of(files: Files, changed: Sequence[str], clusters: Callable[[Files], list[list[str]]]) -> Files:
    """The files of the programs that a changed file belongs to; all where it belongs to none."""
    wanted = [cluster for cluster in clusters(files) if not set(cluster).isdisjoint(changed)]
    return {path: files[path] for cluster in wanted for path in cluster} or files
