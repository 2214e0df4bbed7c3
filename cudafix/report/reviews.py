"""A review of a pull request: the body of GitHub's call "create a review for a pull request". Nothing is sent.

https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request: a comment names lines of the new file
(`side` RIGHT), from `start_line` to `line`; one line has no `start_line`. GitHub takes the review as a whole or not at
all, and only comments on lines that its diff shows (`Listing.shown`).

Whoever reads the review may take one suggestion and leave another. So a suggestion is whole: it makes all edits of its
fixes, and of all that moves with them, or there is none. That needs all of them in one file, on lines from the first to
the last that the comment can name. Fixes whose lines meet share a suggestion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cudafix.findings import Finding, Safety
from cudafix.report.listing import Entry, Listing, key, told, whole_message
from cudafix.report.terminal import readable
from cudafix.rewrite import edits

_LONGEST = 65536  # characters of a comment; GitHub refuses longer ones
_BOM = b"\xef\xbb\xbf"
_NOT_KEPT = re.compile("[^\\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f]")
"""What a text may lose on its way through a form: above all CR, as GitHub decides on line ends itself."""
_FENCES = re.compile("`{3,}")


class Suggestion(NamedTuple):
    """Replace the lines `first` to `last` (from 1) of a file by `text`: whole lines, or none."""

    path: str
    first: int
    last: int
    text: str
    fixes: tuple[Finding, ...]


def render(listing: Listing) -> str:
    """The review as JSON: a comment for each result that concerns a reader, and a summary."""
    entries = {key(entry.item): entry for entry in told(listing.entries)}
    comments: list[dict[str, Any]] = []
    beside: list[Entry] = []
    suggested = 0
    for suggestion in suggestions(listing):
        about = [entries[key(fix)] for fix in suggestion.fixes if key(fix) in entries]
        name = listing.name(suggestion.path)
        body = "\n\n".join([*map(_said, about), _fenced(suggestion.text)])
        if about and len(body) <= _LONGEST and listing.is_shown(name, suggestion.first, suggestion.last):
            comments.append(_comment(name, suggestion.first, suggestion.last, body))
            suggested += len(about)
            for entry in about:
                del entries[key(entry.item)]
    for entry in entries.values():
        if listing.is_shown(entry.path, entry.region.line, entry.region.line):
            comments.append(
                _comment(entry.path, entry.region.line, entry.region.line, _said(entry) + _elsewhere(entry))
            )
        else:
            beside.append(entry)
    comments.sort(key=lambda comment: (comment["path"], comment.get("start_line", comment["line"]), comment["line"]))
    review = {"event": "COMMENT", "body": _summary(comments, beside, suggested), "comments": comments}
    return json.dumps(review, indent=1, ensure_ascii=False) + "\n"


def suggestions(listing: Listing) -> list[Suggestion]:
    """What can be suggested, in the order of its place. No line is in two of them."""
    made = [one for fixes in _units(listing) if (one := _suggestion(listing, fixes)) is not None]
    found: list[Suggestion] = []
    for one in sorted(made, key=lambda one: (one.path, one.first, one.last)):
        # also where one ends in front of the other: which of two insertions there is the first is for `edits` to say
        if found and found[-1].path == one.path and one.first <= found[-1].last + 1:
            both = _suggestion(listing, (*found.pop().fixes, *one.fixes))
            found += [both] if both is not None else []
        else:
            found.append(one)
    return found


def _units(listing: Listing) -> Iterator[tuple[Finding, ...]]:
    """Fixes that are taken together or not at all, if all of them are wanted and proven.

    A group moves together. Fixes of defects have none: each is proved on top of those in front of it
    (`cudafix.rewrite.defects`), so those of a file stay together.
    """
    wanted = {key(fix): fix for fix in listing.selection.chosen if fix.safety is not Safety.ASSUMES}
    units: dict[int | str, list[Finding]] = {}
    for finding in listing.report.findings:
        if finding.edits:
            units.setdefault(finding.group or finding.path, []).append(finding)
    for unit in units.values():
        if all(key(fix) in wanted for fix in unit):
            yield tuple(wanted[key(fix)] for fix in unit)


def _suggestion(listing: Listing, fixes: Sequence[Finding]) -> Suggestion | None:
    changes = listing.selection.edits_of(fixes)
    if len(changes) != 1:
        return None
    ((path, own),) = changes.items()
    content = listing.positions.sources.get(path)
    changed = edits.regions(content, own) if content is not None else []
    if content is None or not changed:
        return None
    old, new = edits.lines(content), edits.lines(edits.apply(content, own))
    start, stop = changed[0].start, changed[-1].stop
    if start == stop:  # between two lines: a comment is about one of them
        start, stop = (start, stop + 1) if stop < len(old) else (start - 1, stop)
    after = new[start : len(new) - (len(old) - stop)]
    if start < 0 or not all(line.endswith(b"\n") for line in (*old[start:stop], *after)):
        return None  # how GitHub ends a last line is not known
    try:
        before, text = (b"".join(part).decode() for part in (old[start:stop], after))
    except UnicodeDecodeError:
        return None
    if _NOT_KEPT.search(before + text) or (start == 0 and content.startswith(_BOM)):
        return None
    return Suggestion(path, start + 1, stop, text, tuple(fixes))


def _comment(path: str, first: int, last: int, body: str) -> dict[str, Any]:
    start: Mapping[str, Any] = {"start_line": first, "start_side": "RIGHT"} if first < last else {}
    return {"path": path, **start, "line": last, "side": "RIGHT", "body": body}


def _said(entry: Entry) -> str:
    return f"**{entry.rule}** (line {entry.region.line}): {whole_message(entry)}"


def _elsewhere(entry: Entry) -> str:
    has_fix = isinstance(entry.item, Finding) and entry.item.edits
    return "\n\nOne suggestion cannot hold the whole fix: `cudafix apply` writes it." if has_fix else ""


def _fenced(text: str) -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
    return f"{fence}suggestion\n{text}{fence}"


def _summary(comments: Sequence[object], beside: Sequence[Entry], suggested: int) -> str:
    count = len(comments) + len(beside)
    if not count:
        return "cudafix: nothing to say about this change."
    lines = [f"cudafix has {count} comment{'s' * (count != 1)} on this change."]
    if suggested:
        lines.append("Each suggestion holds whole fixes: take any of them, or none.")
    if beside:
        lines.append("On lines that the diff does not show:\n")
        lines += (f"- `{readable(e.path)}:{e.region.line}`: **{e.rule}**: {whole_message(e)}" for e in beside)
    return "\n".join(lines)
