"""`check --format`: the report as JSON, SARIF, JUnit XML, or as GitHub and GitLab take reports and reviews.

JSON and SARIF hold everything; JUnit holds what makes `check` fail, the others that and notes. The same input gives the
same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from cudafix.report import reviews, sarif
from cudafix.report.listing import Entry, Level, Listing, failing, told
from cudafix.report.results import Result, results
from cudafix.report.statistics import as_json, statistics
from cudafix.report.terminal import readable

_GITLAB = {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTE: "info"}
_GITHUB = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")


def json_report(listing: Listing) -> str:
    """Everything that `check` knows. `version` changes when a key goes or changes its meaning."""
    data = {
        "version": 1,
        "statistics": as_json(statistics(listing.positions.sources, listing.report, listing.selection)),
        "results": [_result(listing, result) for result in results(listing)],
        "left": [
            {"path": listing.name(finding.path), "line": listing.positions.point(finding.path, finding.offset)[0]}
            | {"rule": finding.codemod, "reason": reason}
            for finding, reason in listing.selection.left
        ],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _result(listing: Listing, result: Result) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rule": result.rule,
        "level": result.level.value,
        "fails": result.fails,
        "path": listing.name(result.path),
        **result.region._asdict(),
        "message": result.message,
        "fingerprint": result.fingerprint,
        "runs": result.runs.value if result.runs is not None else None,
        "related": [
            {"path": listing.name(path), **region._asdict(), "message": message}
            for path, region, message in result.related
        ],
    }
    if result.suppressed is not None:
        data["suppressed"] = result.suppressed
    if result.safety is None:
        return data | {"unlock": result.unlock}
    return data | {
        "safety": result.safety.value,
        "assumptions": [each._asdict() for each in result.assumptions],
        "defaults": [each._asdict() for each in result.defaults],
        "group": result.group,
        "edits": _edits(listing, result),
    }


def _edits(listing: Listing, result: Result) -> list[dict[str, Any]] | None:
    """In bytes of the file, so that any tool can make them; None if a text is no UTF-8."""
    try:
        return [
            {"path": listing.name(edit.path), "start": edit.start, "end": edit.end, "text": edit.text.decode()}
            for edit in result.edits
        ]
    except UnicodeDecodeError:
        return None


def gitlab(listing: Listing) -> str:
    """A code quality report: https://docs.gitlab.com/ci/testing/code_quality/."""
    data = [
        {
            "description": f"{entry.rule}: {entry.message}",
            "check_name": entry.rule,
            "fingerprint": entry.fingerprint,
            "severity": _GITLAB[entry.level],
            "location": {"path": entry.path, "lines": {"begin": entry.region.line, "end": entry.region.end_line}},
        }
        for entry in told(listing.entries)
    ]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def github(listing: Listing) -> str:
    """Workflow commands that make annotations: GitHub shows ten of each level for a step."""
    return "".join(map(_command, told(listing.entries)))


def _command(entry: Entry) -> str:
    line, column, end_line, end_column = entry.region
    place = f"file={_property(entry.path)},line={line},col={column},endLine={end_line},endColumn={end_column}"
    text = _data(f"{entry.path}:{line}:{column}: {entry.message}")  # the log shows no more than the text
    return f"::{_GITHUB[entry.level]} {place},title={_property(f'cudafix: {entry.rule}')}::{text}\n"


def _data(text: str) -> str:
    # the toolkit's escapeData: a line end would end the command
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # the toolkit's escapeProperty: these two separate properties
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(listing: Listing) -> str:
    """One suite for each file with failures, one case for each of them; one case that passes where there are none."""
    found = failing(listing.entries)
    root = ElementTree.Element("testsuites", name="cudafix", tests=str(max(len(found), 1)), failures=str(len(found)))
    for path in sorted({entry.path for entry in found}):
        here = [entry for entry in found if entry.path == path]
        suite = _suite(root, _xml(path), len(here), len(here))
        for entry in here:
            line, column = entry.region.line, entry.region.column
            name = f"{entry.rule} at {line}:{column}"
            case = ElementTree.SubElement(
                suite, "testcase", name=name, classname=_xml(path), file=_xml(path), line=str(line), time="0"
            )
            failure = ElementTree.SubElement(case, "failure", type=entry.rule, message=_xml(entry.message))
            failure.text = "\n".join(map(_xml, _lines(listing, entry)))
    if not found:
        ElementTree.SubElement(_suite(root, "cudafix", 1, 0), "testcase", name="check", classname="cudafix", time="0")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, name: str, tests: int, failures: int) -> ElementTree.Element:
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    return ElementTree.SubElement(root, "testsuite", {"name": name, **counts})


def _lines(listing: Listing, entry: Entry) -> list[str]:
    lines = [f"{entry.path}:{entry.region.line}:{entry.region.column}: {entry.rule}: {entry.message}"]
    for place in entry.item.related:
        region = listing.region(place)
        lines.append(f"  {listing.name(place.path)}:{region.line}:{region.column}: {readable(place.text)}")
    return lines


def _xml(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold; control characters are gone already."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", readable(text))


def render(name: str, listing: Listing) -> bytes:
    """The report in one of `FORMATS`. Of a path that is no text, what cannot be written is a question mark."""
    return FORMATS[name](listing).encode(errors="replace")


FORMATS: dict[str, Callable[[Listing], str]] = {
    "json": json_report,
    "sarif": sarif.render,
    "github": github,
    "github-review": reviews.render,
    "gitlab": gitlab,
    "gitlab-review": reviews.for_gitlab,
    "junit": junit,
}
