"""`check --format`: what other tools read, held against their schemas and against files that people have looked at."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cudafix.cli import main as cli
from cudafix.findings import Edit, Finding, Report
from cudafix.report import addresses
from cudafix.report.listing import Listing
from cudafix.report.machine import FORMATS, render
from cudafix.report.selection import Selection
from cudafix.rewrite.edits import apply
from tests import reports

SCHEMA = json.loads((Path(__file__).parents[1] / "schemas" / "sarif-2.1.0-rtm.5.json").read_text())


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def one(message: str = "m", path: str = "a.cu", data: bytes = b"x\n", edits: tuple[Edit, ...] = ()) -> Listing:
    """A listing with one defect at the start of a file."""
    finding = Finding("wait_between_streams", path, 0, message, edits)
    return Listing({path: data}, Report((finding,), ()), Selection((finding,), ()))


def sarif(listing: Listing) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render("sarif", listing))
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


@pytest.mark.parametrize("name", FORMATS)
def test_the_report_is_the_one_that_people_have_looked_at(name: str) -> None:
    """`python -m tests.reports` writes the files anew: look at the difference."""
    assert reports.rendered(name).decode() == reports.golden(name).read_text(encoding="utf-8")


def test_a_sarif_log_fits_the_schema_and_tells_findings_from_refusals() -> None:
    run = sarif(reports.listing())
    kinds = {(result["ruleId"], result["kind"], result["level"]) for result in run["results"]}
    assert kinds == {
        ("stream_ordered_pairs", "fail", "warning"),
        ("stream_ordered_pairs", "fail", "note"),
        ("stream_ordered_pairs", "review", "none"),
        ("free_not_found", "informational", "none"),
        ("wait_between_streams", "fail", "error"),
    }
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_sarif_rule_helps_with_the_page_of_explain() -> None:
    rules = {rule["id"]: rule for rule in sarif(reports.listing())["tool"]["driver"]["rules"]}
    assert "## Fix safety" in rules["stream_ordered_pairs"]["help"]["markdown"]
    assert "## What would unlock it" in rules["free_not_found"]["help"]["markdown"]


def test_a_sarif_fix_made_by_lines_and_characters_is_what_apply_writes() -> None:
    listing = reports.listing()
    result = next(r for r in sarif(listing)["results"] if r["level"] == "warning")
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "src/two%20pairs.cu", "uriBaseId": "%SRCROOT%"}
    path = "src/two pairs.cu"
    data = reports.TREE[path].decode("utf-8-sig")  # SARIF does not count the byte order mark
    starts = [0, *(match.end() for match in re.finditer("\n", data))]
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        data = data[:start] + replacement["insertedContent"]["text"] + data[end:]
    finding = next(f for f in listing.selection.chosen if f.message == "moves to stream `0`" and f.offset > 200)
    assert data.encode("utf-8-sig") == apply(reports.TREE[path], finding.edits)


def test_what_is_no_utf8_makes_no_wrong_fix_and_a_valid_log() -> None:
    edit = Edit("a.cu", 0, 0, b"\xff")
    listing = one(path="a.cu", data=b"\xff\xfe x", edits=(edit,))
    (result,) = sarif(listing)["results"]
    assert "fixes" not in result
    assert json.loads(render("json", listing))["results"][0]["edits"] is None


def test_a_code_flow_goes_as_the_program_does() -> None:
    flows = {}
    for result in sarif(reports.listing())["results"]:
        for flow in result.get("codeFlows", ()):
            steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
            path = steps[0]["physicalLocation"]["artifactLocation"]["uri"]
            flows[path] = [(s["physicalLocation"]["region"]["startLine"], s["message"]["text"][:16]) for s in steps]
    assert flows["src/race.cu"] == [(8, "the allocation `"), (9, "`race<<<…>>>` ma")]
    assert flows["src/assumed.cu"] == [(5, "`cudaMalloc` and"), (7, "the host waits f"), (7, "freed on `0`")]


def test_a_sarif_log_names_the_addresses_that_the_package_was_published_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "informationUri" not in sarif(reports.listing())["tool"]["driver"]
    given = {"homepage": "https://example.org", "documentation": "https://example.org/docs"}
    monkeypatch.setattr(addresses, "_labelled", lambda: given)
    driver = sarif(reports.listing())["tool"]["driver"]
    assert driver["informationUri"] == "https://example.org"
    assert {rule["helpUri"].removeprefix("https://example.org/docs/reference/") for rule in driver["rules"]} == {
        "codemods/stream_ordered_pairs.html",
        "codemods/wait_between_streams.html",
        "refusals/free_not_found.html",
    }


def test_a_path_that_is_no_text_is_a_valid_uri(tmp_path: Path) -> None:
    path = b"\xff#.cu".decode("utf-8", "surrogateescape")
    listing = one(path=path)
    (result,) = sarif(listing)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%FF%23.cu"
    for name in FORMATS:
        assert render(name, listing).decode()


def test_paths_start_at_the_repository_wherever_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.cu").write_bytes(reports.TREE["src/race.cu"])
    shown = []
    for folder, path in ((".", "a"), ("a", "."), ("a/b", "../x.cu")):
        monkeypatch.chdir(tmp_path / folder)
        with pytest.raises(SystemExit) as ended:
            cli.main(["check", "--format", "gitlab", path])
        assert ended.value.code == 1
        shown.append(capfd.readouterr().out)
    assert json.loads(shown[0])[0]["location"] == {"path": "a/x.cu", "lines": {"begin": 9, "end": 9}}
    assert shown[0] == shown[1] == shown[2]


def test_a_file_outside_the_repository_has_an_absolute_uri(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("outside") / "a.cu"
    (result,) = sarif(one(path=str(path)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": f"file://{path}"}


def test_a_fingerprint_stays_when_lines_move_and_tells_equal_lines_apart() -> None:
    before = reports.listing()
    moved = {path: b"\n\n// more\n" + data.removeprefix(b"\xef\xbb\xbf") for path, data in reports.TREE.items()}
    after = reports.listing(moved)
    prints = [entry.fingerprint for entry in before.entries]
    assert prints == [entry.fingerprint for entry in after.entries]
    assert len(set(prints)) == len(prints)
    twice = reports.TREE["src/race.cu"].replace(b"cudaFreeAsync", b"race<<<1, 1, 0, t>>>(d);\n    cudaFreeAsync")
    entries = reports.listing(
        {"a.cu": twice.replace(b"<<<1, 1, 0, t>>>(d);\n    f", b"<<<1, 1, 0, t>>>(d);\n  f")}
    ).entries
    assert len({entry.fingerprint for entry in entries}) == len(entries)


def test_gitlab_asks_for_unique_fingerprints_and_known_severities() -> None:
    data = json.loads(render("gitlab", reports.listing()))
    assert {entry["severity"] for entry in data} == {"major", "minor", "info"}
    assert len({entry["fingerprint"] for entry in data}) == len(data) == 3
    assert {key for entry in data for key in entry} == {
        "description", "check_name", "fingerprint", "severity", "location",
    }  # fmt: skip


def test_a_github_command_stays_one_line_whatever_a_name_holds() -> None:
    shown = render("github", one(message="50%\nof `a::b`", path="a,b:c.cu"))
    assert shown.decode() == (
        "::error file=a%2Cb%3Ac.cu,line=1,col=1,endLine=1,endColumn=2,title=cudafix%3A wait_between_streams"
        "::a,b:c.cu:1:1: 50%25\N{REPLACEMENT CHARACTER}of `a::b`\n"
    )


def test_junit_is_xml_and_counts_failures() -> None:
    root = ElementTree.fromstring(render("junit", reports.listing()))
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert len(root.findall("testsuite/testcase/failure")) == 2
    assert "\n  src/race.cu:8:5: the allocation" in (root.findall("testsuite/testcase/failure")[0].text or "")
    assert ElementTree.fromstring(render("junit", one(message="\x00\x1b\ufffe<&>"))) is not None


def test_a_clean_tree_is_a_valid_report_in_every_format() -> None:
    listing = Listing({}, Report((), ()), Selection((), ()))
    assert sarif(listing)["results"] == []
    assert json.loads(render("gitlab", listing)) == []
    assert render("github", listing) == b""
    root = ElementTree.fromstring(render("junit", listing))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_the_report_goes_to_standard_output_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path, data in reports.TREE.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "--format", "json"])
    shown = capfd.readouterr()
    assert ended.value.code == 1
    assert len(json.loads(shown.out)["results"]) == 5
    assert shown.err.startswith("4 allocation sites: 2 can be rewritten")
    with pytest.raises(SystemExit):
        cli.main(["check", "--format", "json", "--quiet"])
    shown = capfd.readouterr()
    assert {result["level"] for result in json.loads(shown.out)["results"]} == {"error", "warning"}
    assert shown.err == ""


def test_input_that_cannot_be_read_makes_no_report(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "--format", "sarif", "nothing.cu"])
    shown = capfd.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err == "cudafix: nothing.cu: no such file or folder\n"
