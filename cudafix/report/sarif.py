"""SARIF 2.1.0, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; section numbers below are of that document. Refusals
are results of kind `informational`, fixes that rest on an assumption of kind `review`: by 3.27.10 both have the level
`none`, and a viewer does not count them as failures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from cudafix import __version__
from cudafix.findings import Finding, Place, Refusal
from cudafix.report import addresses, pages
from cudafix.report.listing import Entry, Level, Listing, whole_message
from cudafix.report.positions import Region
from cudafix.report.terminal import PAIRS, readable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "cudafix/v1"
_ROOT = "%SRCROOT%"
_KINDS = {Level.REVIEW: "review", Level.NONE: "informational"}


def render(listing: Listing) -> str:
    """The run as one SARIF log."""
    rules = sorted({entry.rule for entry in listing.entries})
    run = {
        "tool": {
            "driver": {
                "name": "cudafix",
                "semanticVersion": __version__,
                **_optional("informationUri", addresses.home()),
                "rules": [_rule(name, listing.entries) for name in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(listing, entry, rules.index(entry.rule)) for entry in listing.entries],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _optional(key: str, value: str | None) -> dict[str, str]:
    return {key: value} if value is not None else {}


def _rule(name: str, entries: Sequence[Entry]) -> dict[str, Any]:
    title, text = pages.title(name), pages.page(name, example=False)
    levels = {entry.level for entry in entries if entry.rule == name}
    usual = next((level for level in (Level.ERROR, Level.WARNING, Level.NOTE) if level in levels), Level.NONE)
    return {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": text, "markdown": text},
        **_optional("helpUri", addresses.page(name)),
        "defaultConfiguration": {"level": usual.value},
        "properties": {"tags": ["cuda", "stream-ordered-allocation"]},
    }


def _result(listing: Listing, entry: Entry, index: int) -> dict[str, Any]:
    item = entry.item
    result: dict[str, Any] = {"ruleId": entry.rule, "ruleIndex": index}
    result["kind"] = _KINDS.get(entry.level, "fail")
    result["level"] = "none" if entry.level in _KINDS else entry.level.value
    result["message"] = {"text": whole_message(entry)}
    result["locations"] = [_location(entry.path, entry.region)]
    result["partialFingerprints"] = {FINGERPRINT: entry.fingerprint}
    if item.related:
        places = [_place(listing, place) for place in item.related]
        result["relatedLocations"] = [{"id": n, **place} for n, place in enumerate(places, 1)]
        steps = [_place(listing, place) for place in _in_time(item, Place(item.path, item.offset, entry.message))]
        if steps:
            result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in steps]}]}]
    if isinstance(item, Finding):
        changes = _changes(listing, item)
        if changes:
            result["fixes"] = [{"description": {"text": entry.message}, "artifactChanges": changes}]
    if entry.suppressed is not None:
        kind = "inSource" if entry.suppressed.in_source else "external"
        result["suppressions"] = [{"kind": kind, "justification": readable(entry.suppressed.reason)}]
    properties = {"runs": item.runs.value} if item.runs is not None else {}
    if isinstance(item, Finding):
        properties["safety"] = item.safety.value
    if properties:
        result["properties"] = properties
    return result


def _in_time(item: Finding | Refusal, own: Place) -> list[Place]:
    """The places of a result as a program passes them (3.36, code flows), `own` among them; none if they are no steps.

    What leads to a defect comes before it. The waits and frees of a pair come behind the allocation; within a file in
    the order of the text, a wait that is inserted in front of a free before it. Two operations that a refusal is about
    are in the order in which they are issued.
    """
    if isinstance(item, Refusal):
        return [own, *item.related[:2]] if item.order else []
    if item.codemod in PAIRS:
        files = list(dict.fromkeys(place.path for place in (own, *item.related)))
        numbered = sorted(
            enumerate(item.related), key=lambda each: (files.index(each[1].path), each[1].offset, -each[0])
        )
        return [own, *(place for _, place in numbered)]
    return [*item.related, own] if item.runs is None else []


def _place(listing: Listing, place: Place) -> dict[str, Any]:
    return _location(listing.name(place.path), listing.region(place), readable(place.text))


def _location(path: str, region: Region, text: str | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(region)}}
    if text is not None:
        location["message"] = {"text": text}
    return location


def _artifact(path: str) -> dict[str, str]:
    uri = quote(os.fsencode(path))
    # 3.4.3: outside the repository only an absolute URI says where the file is
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _region(region: Region) -> dict[str, int]:
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def _changes(listing: Listing, finding: Finding) -> list[dict[str, Any]]:
    """The edits of a fix, file by file; none if the text of one cannot be written in JSON."""
    by_path = listing.selection.edits_of([finding])
    try:
        return [
            {
                "artifactLocation": _artifact(listing.name(path)),
                "replacements": [
                    {
                        "deletedRegion": _region(listing.positions.span(path, edit.start, edit.end)),
                        "insertedContent": {"text": edit.text.decode()},
                    }
                    for edit in sorted(changes, key=lambda edit: (edit.start, edit.end))
                ],
            }
            for path, changes in by_path.items()
        ]
    except UnicodeDecodeError:
        return []
