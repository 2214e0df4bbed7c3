"""`check --format github-review`: a suggestion is whole, and makes of the file what `apply` does, or there is none."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Edit, Finding, Report, Safety
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.report import reviews
from cudafix.report.listing import Listing, Shown
from cudafix.report.machine import render
from cudafix.report.selection import Selection, select
from cudafix.rewrite import edits

# two pairs that lie in each other, and one by itself
PROGRAM = b"""#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
int main() {
    int *p, *q, *r;
    cudaMalloc(&p, 4);
    cudaMalloc(&q, 4);
    fill<<<1, 1>>>(p);
    cudaFree(p);
    fill<<<1, 1>>>(q);
    cudaFree(q);

    cudaMalloc(&r, 4);
    fill<<<1, 1>>>(r);
    cudaFree(r);
}
"""


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def listing(
    sources: Mapping[str, bytes], *findings: Finding, shown: dict[str, Shown] | None = None, left: int = 0
) -> Listing:
    """Of a report in which all findings but the last `left` are wanted."""
    chosen = findings[: len(findings) - left]
    selection = Selection(chosen, tuple((finding, "there before") for finding in findings[len(chosen) :]))
    return Listing(sources, Report(findings, ()), selection, shown=shown)


def fix(*changes: Edit, group: int = 0, safety: Safety = Safety.PROVEN) -> Finding:
    first = changes[0]
    codemod = "stream_ordered_pairs" if group else "wait_between_streams"
    return Finding(codemod, first.path, first.start, "m", changes, group=group, safety=safety)


def at(path: str, content: bytes, old: bytes, new: bytes) -> Edit:
    start = content.index(old)
    return Edit(path, start, start + len(old), new)


def taken(content: bytes, comments: list[dict[str, Any]]) -> bytes:
    """A file with suggestions taken as GitHub takes them: the lines of a comment become those of its block."""
    lines = content.decode().split("\n")
    for comment in sorted(comments, key=lambda comment: -int(comment["line"])):
        block = re.search(r"^(`{3,})suggestion\n((?:.*\n)*?)\1$", comment["body"], re.MULTILINE)
        assert block
        lines[comment.get("start_line", comment["line"]) - 1 : comment["line"]] = block[2].split("\n")[:-1]
    return "\n".join(lines).encode()


def comments_of(made: Listing) -> list[dict[str, Any]]:
    review = json.loads(render("github-review", made))
    assert review.keys() == {"event", "body", "comments"}
    for comment in review["comments"]:
        # an empty range and one of a single line are refused by GitHub
        assert comment.keys() - {"start_line", "start_side"} == {"path", "line", "side", "body"}
        assert comment.get("start_line", 0) < comment["line"]
    found: list[dict[str, Any]] = review["comments"]
    return found


def suggested(made: Listing) -> list[dict[str, Any]]:
    return [comment for comment in comments_of(made) if "suggestion\n" in comment["body"]]


def test_any_of_the_suggestions_is_what_apply_writes_for_its_fixes() -> None:
    files = {"a.cu": PROGRAM}
    report = driver.analyze(files, Config())
    made = Listing(files, report, select(report, Config()))
    found, comments = reviews.suggestions(made), suggested(made)
    assert [(one.first, one.last, len(one.fixes)) for one in found] == [(5, 10, 2), (12, 14, 1)]
    assert [comment["line"] for comment in comments] == [one.last for one in found]
    pairs = list(zip(found, comments, strict=True))
    for count in range(1, len(pairs) + 1):
        for some in combinations(pairs, count):
            fixes = [finding for one, _ in some for finding in one.fixes]
            wanted = edits.apply(PROGRAM, made.selection.edits_of(fixes)["a.cu"])
            assert taken(PROGRAM, [comment for _, comment in some]) == wanted


LINES = b"".join(b"line %d\n" % n for n in range(1, 21))


def test_fixes_whose_lines_meet_share_a_suggestion_and_others_do_not() -> None:
    one = fix(at("a.cu", LINES, b"line 2\n", b"two\n"), at("a.cu", LINES, b"line 5\n", b""), group=1)
    two = fix(at("a.cu", LINES, b"line 6\n", b"six\nmore\n"), group=2)
    three = fix(at("a.cu", LINES, b"line 9", b"nine"), group=3)
    made = listing({"a.cu": LINES}, one, two, three)
    assert [(each.first, each.last, each.text) for each in reviews.suggestions(made)] == [
        (2, 6, "two\nline 3\nline 4\nsix\nmore\n"),
        (9, 9, "nine\n"),
    ]
    assert taken(LINES, suggested(made)) == edits.apply(LINES, made.selection.edits()["a.cu"])


def test_an_insertion_keeps_the_line_that_it_stands_at() -> None:
    made = listing({"a.cu": LINES}, fix(Edit("a.cu", LINES.index(b"line 3"), LINES.index(b"line 3"), b"new\n")))
    (comment,) = suggested(made)
    assert (comment["line"], "start_line" in comment) == (3, False)
    assert taken(LINES, [comment]) == LINES.replace(b"line 3", b"new\nline 3")


def test_a_text_with_a_fence_in_it_is_fenced_by_a_longer_one() -> None:
    content = b"a\n```\nb\n"
    made = listing({"a.cu": content}, fix(at("a.cu", content, b"a", b"c"), at("a.cu", content, b"b", b"d")))
    assert taken(content, suggested(made)) == b"c\n```\nd\n"


A, B = (at(name, LINES, b"line 2", b"two") for name in ("a.cu", "b.cu"))
CRLF, LATIN, LAST = LINES.replace(b"\n", b"\r\n"), LINES.replace(b"line 2", b"line 2 \xe9"), b"one\nline 2"


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(listing({"a.cu": LINES, "b.cu": LINES}, fix(A, B)), id="two files"),
        pytest.param(listing({"a.cu": LINES, "b.cu": LINES}, fix(A, group=1), fix(B, group=1)), id="a group in two"),
        pytest.param(
            listing({"a.cu": LINES}, fix(A, group=1), fix(at("a.cu", LINES, b"line 8", b"8"), group=1), left=1),
            id="a part of a group",
        ),
        pytest.param(listing({"a.cu": LINES}, fix(A, group=1, safety=Safety.ASSUMES)), id="an assumption"),
        pytest.param(listing({"a.cu": CRLF}, fix(at("a.cu", CRLF, b"line 2", b"two"))), id="line ends of Windows"),
        pytest.param(listing({"a.cu": LATIN}, fix(at("a.cu", LATIN, b"line 2", b"two"))), id="not UTF-8"),
        pytest.param(listing({"a.cu": LAST}, fix(at("a.cu", LAST, b"line 2", b"two"))), id="no end of the last line"),
        pytest.param(listing({"a.cu": LINES}, fix(A), shown={"a.cu": Shown([range(3, 9)])}), id="lines not shown"),
        pytest.param(listing({}, fix(Edit("a.cu", 0, 0, b"new\n"))), id="a new file"),
    ],
)  # fmt: skip
def test_what_a_suggestion_cannot_hold_as_a_whole_is_none(made: Listing) -> None:
    assert suggested(made) == []
    review = json.loads(render("github-review", made))
    assert "`cudafix apply` writes it" in json.dumps(review) or "On lines that the diff does not show" in review["body"]


def test_with_since_each_comment_is_on_a_line_that_the_diff_shows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").rmdir()

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x"]
        return subprocess.run(["git", *who, *arguments], check=True, capture_output=True, text=True).stdout

    file = tmp_path / "src" / "a.cu"
    file.parent.mkdir()
    far = b"// far\n" * 9
    file.write_bytes(PROGRAM.replace(b"    fill<<<1, 1>>>(r);", far + b"    fill<<<1, 1>>>(r);"))
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        git(*command)
    file.write_bytes(file.read_bytes().replace(b"cudaMalloc(&r, 4)", b"cudaMalloc(&r, 8)"))
    with pytest.raises(SystemExit):
        cli.main(["check", "--no-cache", "--format", "github-review", "--since", "main"])
    review = json.loads(capfd.readouterr().out)
    (comment,) = review["comments"]
    assert (comment["path"], comment["line"]) == ("src/a.cu", 12)
    assert "suggestion\n" not in comment["body"]  # the free is not shown
    git("mv", "src/a.cu", "src/b.cu")
    (tmp_path / "src" / "b.cu").write_bytes(b"// new\n" + PROGRAM.replace(b"&r, 4", b"&r, 8"))
    with pytest.raises(SystemExit):
        cli.main(["check", "--no-cache", "--format", "gitlab-review", "--since", "main"])
    summary, *threads = json.loads(capfd.readouterr().out)
    assert summary["body"].startswith("cudafix has ")
    assert [thread["position"] for thread in threads][-1] == {
        "position_type": "text",
        "old_path": "src/a.cu",
        "new_path": "src/b.cu",
        "new_line": 15,
        "old_line": 23,
    }
    assert "```suggestion:-2+0\n" in threads[-1]["body"]
