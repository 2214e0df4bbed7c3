"""What becomes of a program where cudafix itself fails, or for which there is no time, or of a file that nobody can
read: a refusal, and nothing else.

Whatever goes wrong inside is a result of that program. The rest is decided as if it were not there, and `apply` leaves
the program alone.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from cudafix.findings import Problem, Refusal, Report
from cudafix.project import prefilter
from cudafix.project.files import CANDIDATE, ChangedError, FailedError, Files

NAME = "internal_error"
UNREAD, NOT_PARSED = "unreadable_file", "parse_error"
OUT_OF_TIME = "budget"
_MORE_TIME = "Run it again, with a larger `--proof-limit` or without: what was proved by then is not proved again."
_KILLED = "a worker process was killed, by the system for want of memory perhaps; `-j 1` uses none"


def of(files: Files, paths: Iterable[str], context: frozenset[str], error: Exception | None) -> Report:
    """The report on the files of a program that cudafix failed on; without an `error`, its process was killed."""
    from cudafix.refusals import REFUSALS

    what = _KILLED if error is None else words(error)
    given = [path for path in dict.fromkeys(paths) if path not in context]
    refusals = [
        Refusal(NAME, path, found.start(), f"cudafix failed on this program: {what}", REFUSALS[NAME].unlock)
        for path in given
        if files.facts(path).allocates and (found := CANDIDATE.search(files[path])) is not None
    ]
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    problem = Problem(given[0] if given else ".", f"internal error{more and f' (here{more})'}: {what}")
    return Report((), tuple(refusals), (problem,), len(refusals))


def of_time(files: Files, paths: Iterable[str], context: frozenset[str], seconds: float) -> Report:
    """The report on the files of programs that are not decided within so many seconds."""
    said = f"not proved within the time limit of {seconds:g} s"
    given = [path for path in dict.fromkeys(paths) if path not in context]
    refusals = [
        Refusal(OUT_OF_TIME, path, found.start(), f"its program was {said}", _MORE_TIME)
        for path in given
        if files.facts(path).allocates and (found := CANDIDATE.search(files[path])) is not None
    ]
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    problem = Problem(given[0] if given else ".", f"{said}{more and f' (here{more})'}")
    return Report((), tuple(refusals), (problem,), len(refusals))


def made_readable(data: bytes) -> str:
    """What makes a file of Python one that can be parsed."""
    if prefilter.is_in_another_encoding(data):
        return "Save the file in UTF-8, and say so in its first line: no other encoding is read."
    return "Fix what `python -m py_compile` reports for the file."


def not_parsed(path: str, data: bytes, line: int, known: bool) -> tuple[Problem, Refusal | None]:
    """A file of Python that cannot be parsed from a line on; a refusal too where none is `known` of it."""
    offset = min(sum(map(len, data.splitlines(keepends=True)[: line - 1])), max(len(data) - 1, 0))
    what = f"cannot be parsed (line {line}): what it does with device arrays is not known"
    return Problem(path, what), None if known else Refusal(NOT_PARSED, path, offset, what, made_readable(data))


@contextmanager
def alone(path: str) -> Iterator[None]:
    """What fails here concerns one file: nothing is known of that one then. Raises `FailedError`."""
    try:
        yield
    except (ChangedError, OSError, MemoryError):
        raise
    except Exception as error:
        raise FailedError(Problem(path, f"internal error: {words(error)}")) from error


def words(error: Exception) -> str:
    """What failed, and where, in one line."""
    if os.environ.get("CUDAFIX_TRACEBACK"):
        traceback.print_exception(error, file=sys.stderr)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}{f' ({said[:200]})' if said else ''}{where}"


def without_unread(files: Files, programs: Iterable[Iterable[str]], report: Report) -> Report:
    """A report on programs without what would be changed where one of them includes a file that cannot be read: it may
    declare anything, and run it.
    """
    unread = sorted({path for program in programs for path in program if files.facts(path).unread})
    if not unread:
        return report
    from cudafix.refusals import REFUSALS

    moves = [finding for finding in report.findings if finding.edits]
    refusals = [
        Refusal(
            UNREAD, f.path, f.offset, f"`{unread[0]}` is part of the program, and cannot be read", unlock, runs=f.runs
        )
        for unlock in (REFUSALS[UNREAD].unlock,)
        for f in moves
    ]
    kept = tuple(finding for finding in report.findings if not finding.edits)
    return replace(report, findings=kept, refusals=(*report.refusals, *refusals))


def of_unread(files: Files, report: Report) -> Report:
    """A report with the files of which nothing is known: a refusal and a line for each."""
    from cudafix.refusals import REFUSALS

    problems = files.unread()
    unlock = REFUSALS[UNREAD].unlock
    refusals = (Refusal(UNREAD, one.path, 0, one.message, unlock) for one in problems if one.path not in report.context)
    every = sorted((*report.refusals, *refusals), key=lambda one: (one.path, one.offset, one.name))
    return replace(report, refusals=tuple(every), problems=(*problems, *report.problems))
