"""A review of a pull request: the body of GitHub's call "create a review for a pull request", or those of GitLab's for
threads of a merge request. Nothing is sent.

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
_ABOVE = 100  # lines above that of a comment; GitLab's suggestions reach no further
_TOO_LARGE = "One suggestion cannot hold the whole fix: `cudafix apply` writes it."
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


class Comment(NamedTuple):
    """A text about the lines `first` to `last` of a file, by its name in the report, and what it suggests for them."""

    path: str
    first: int
    last: int
    body: str
    suggestion: str | None = None


class Review(NamedTuple):
    """A comment for each result that concerns a reader, in the order of their places, and a summary."""

    comments: Sequence[Comment]
    summary: str


def render(listing: Listing) -> str:
    """The review as JSON, for GitHub."""
    review = reviewed(listing)
    comments = [
        _comment(one.path, one.first, one.last, one.body + ("" if one.suggestion is None else _fenced(one.suggestion)))
        for one in review.comments
    ]
    made = {"event": "COMMENT", "body": review.summary, "comments": comments}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def for_gitlab(listing: Listing) -> str:
    """The review as JSON, for GitLab: a list of the bodies of its call "create a thread in the merge request diff".

    https://docs.gitlab.com/api/discussions/#create-a-new-thread-in-the-merge-request-diff: a line that is unchanged is
    named by its old number too. A suggestion is about the line of its comment and those above that it counts, at most
    100 (https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/#multi-line-suggestions). The commits
    that a position names are known to whoever sends it.
    """
    review = reviewed(listing)
    threads: list[dict[str, Any]] = [{"body": review.summary}]
    for path, first, last, body, text in review.comments:
        if text is not None:
            far = last - first > _ABOVE
            body += _TOO_LARGE if far else _fenced(text, f"suggestion:-{last - first}+0")
        name, line = listing.before(path, last)
        position: dict[str, Any] = {"position_type": "text", "old_path": name, "new_path": path, "new_line": last}
        threads.append({"body": body, "position": position | ({} if line is None else {"old_line": line})})
    return json.dumps(threads, indent=1, ensure_ascii=False) + "\n"


def reviewed(listing: Listing) -> Review:
    """What there is to say, and to suggest."""
    entries = {key(entry.item): entry for entry in told(listing.entries)}
    comments: list[Comment] = []
    beside: list[Entry] = []
    suggested = 0
    for suggestion in suggestions(listing):
        about = [entries[key(fix)] for fix in suggestion.fixes if key(fix) in entries]
        name = listing.name(suggestion.path)
        body = "".join(f"{_said(entry)}\n\n" for entry in about)
        fits = len(body) + len(_fenced(suggestion.text)) <= _LONGEST
        if about and fits and listing.is_shown(name, suggestion.first, suggestion.last):
            comments.append(Comment(name, suggestion.first, suggestion.last, body, suggestion.text))
            suggested += len(about)
            for entry in about:
                del entries[key(entry.item)]
    for entry in entries.values():
        if listing.is_shown(entry.path, entry.region.line, entry.region.line):
            comments.append(Comment(entry.path, entry.region.line, entry.region.line, _said(entry) + _elsewhere(entry)))
        else:
            beside.append(entry)
    comments.sort(key=lambda comment: comment[:3])
    return Review(comments, _summary(comments, beside, suggested))


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
    return f"\n\n{_TOO_LARGE}" if has_fix else ""


def _fenced(text: str, what: str = "suggestion") -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
    return f"{fence}{what}\n{text}{fence}"


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
