"""What an editor offers at a place: the fix, all proven fixes of the file, and a comment that holds the result back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cudafix.api.checks import Report
from cudafix.findings import Edit, Safety
from cudafix.report.results import Result
from cudafix.report.suppressions import ignoring


class Offer(NamedTuple):
    """Something that can be done. `result` is what it is about, None: the whole file. `preferred`: the usual answer.
    `reason`: the text ends where somebody has to write one.
    """

    title: str
    edits: Mapping[str, Sequence[Edit]]
    result: Result | None = None
    preferred: bool = False
    reason: bool = False


def at(report: Report, results: Sequence[Result]) -> Iterator[Offer]:
    """What can be done about some results of a report."""
    for result in results:
        if result.edits:
            changes = report.changes([result])
            resting = "" if result.safety is not Safety.ASSUMES else ": assumes that "
            resting += "; ".join(each.message for each in result.assumptions) if resting else ""
            yield Offer(f"cudafix: {_deed(result)}{resting}", changes, result, preferred=result.chosen)
    for result in results:
        edit = ignoring(result.path, report.sources[result.path], result.rule, result.offset, "")
        if edit is not None:
            yield Offer(
                f"cudafix: ignore `{result.rule}` here, with a reason", {edit.path: [edit]}, result, reason=True
            )


def of_file(report: Report, path: str) -> Offer | None:
    """All fixes of a file that `apply` would make, with what moves together with them; None where there are none."""
    proven = [r for r in report.results if r.path == path and r.chosen and r.edits]
    if not proven:
        return None
    return Offer("cudafix: make all proven fixes of this file", report.changes(proven))


def _deed(result: Result) -> str:
    if result.rule.endswith("stream_ordered_pairs"):
        return "make this pair stream-ordered"
    return f"fix this (`{result.rule}`)"
