"""Edits, diffs that `git apply` takes byte for byte, and files that are replaced whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cudafix.findings import Edit
from cudafix.rewrite import edits

GIT = shutil.which("git")
NAMES = [
    "a.cu",
    "with blank.cu",
    'quo"te.cu',
    "back\\slash.cu",
    "tab\there.cu",
    "h\u00e4.cu",
    "d/e f/x.cu",
    "2024-01-01.cu",
]
TEXT = st.lists(
    st.sampled_from(
        [b"\n", b"\r\n", b"\r", b"x", b"int a;", b"\t", b" ", b"\xff", b"\xc3\xa4", b"-", b"+", b"@@", b"\\"]
    ),
    max_size=40,
).map(b"".join)


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    content = draw(TEXT)
    cuts = sorted(draw(st.lists(st.integers(0, len(content)), max_size=8)))
    made = [Edit("a.cu", start, end, draw(TEXT)) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    return content, made


def git_apply(folder: Path, patch: bytes) -> None:
    assert GIT is not None
    command = [GIT, "apply", "--whitespace=nowarn", "-"]
    run = subprocess.run(command, input=patch, cwd=folder, capture_output=True, check=False)
    assert run.returncode == 0, (run.stderr, patch)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes(), st.sampled_from(NAMES))
def test_a_diff_applied_by_git_gives_the_same_bytes_as_apply(change: tuple[bytes, list[Edit]], name: str) -> None:
    content, made = change
    try:
        after = edits.apply(content, made)
    except edits.OverlapError:
        assume(False)
    assume(content and after)  # git takes a patch that empties a file for one that deletes it
    patch = edits.diff(name, content, made)
    if after == content:
        assert patch == b""
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        git_apply(Path(scratch), patch)
        assert path.read_bytes() == after


def test_a_diff_applies_inside_a_subfolder_of_a_repository(tmp_path: Path) -> None:
    assert GIT is not None
    subprocess.run([GIT, "init", "-q", str(tmp_path)], check=True)
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "a.cu").write_bytes(b"one\ntwo\n")
    git_apply(folder, edits.diff("a.cu", b"one\ntwo\n", [Edit("a.cu", 0, 3, b"1")]))
    assert (folder / "a.cu").read_bytes() == b"1\ntwo\n"


def test_a_diff_has_three_lines_of_context_and_joins_near_changes() -> None:
    content = b"".join(b"%d\n" % n for n in range(30))
    at = {n: content.index(b"\n%d\n" % n) + 1 for n in (5, 11, 25)}
    made = [Edit("a.cu", at[n], at[n], b"new\n") for n in (25, 11, 5)]
    assert edits.diff("a.cu", content, made).decode().splitlines() == [
        *("--- a/a.cu", "+++ b/a.cu", "@@ -3,12 +3,14 @@", " 2", " 3", " 4", "+new", " 5", " 6", " 7", " 8", " 9"),
        *(" 10", "+new", " 11", " 12", " 13"),
        *("@@ -23,6 +25,7 @@", " 22", " 23", " 24", "+new", " 25", " 26", " 27"),
    ]


def test_a_line_between_two_changes_is_not_taken_out_and_put_back() -> None:
    content = b"allocate(a);\nallocate(b);\nallocate(c);\n"
    made = [Edit("a.cu", 0, 0, b"raise();\n"), Edit("a.cu", 13, 21, b"allocate_async")]
    assert edits.diff("a.cu", content, made).split(b"\n")[3:-1] == [
        b"+raise();",
        b" allocate(a);",
        b"-allocate(b);",
        b"+allocate_async(b);",
        b" allocate(c);",
    ]


def test_a_missing_final_newline_is_marked() -> None:
    patch = edits.diff("a.cu", b"one\ntwo", [Edit("a.cu", 4, 7, b"2")])
    assert patch.endswith(b"-two\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n")


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a b.cu", b"--- a/a b.cu\t\n"),
        ('a"b.cu', b'--- "a/a\\"b.cu"\n'),
        ("h\u00e4.cu", b'--- "a/h\\303\\244.cu"\n'),
    ],
)
def test_paths_are_quoted_as_git_quotes_them(name: str, header: bytes) -> None:
    assert edits.diff(name, b"x\n", [Edit(name, 0, 1, b"y")]).startswith(header)


def test_the_same_edit_twice_is_made_once() -> None:
    edit = Edit("a.cu", 1, 1, b"!")
    assert edits.apply(b"ab", [edit, edit]) == b"a!b"


def test_insertions_at_one_place_keep_their_order_and_precede_a_replacement() -> None:
    made = [Edit("a.cu", 1, 2, b"B"), Edit("a.cu", 1, 1, b"2"), Edit("a.cu", 1, 1, b"1"), Edit("a.cu", 2, 2, b"3")]
    assert edits.apply(b"abc", made) == b"a21B3c"


@pytest.mark.parametrize("other", [(1, 3), (2, 5), (3, 3), (2, 4)])
def test_overlapping_edits_are_an_error(other: tuple[int, int]) -> None:
    with pytest.raises(edits.OverlapError):
        edits.apply(b"abcdef", [Edit("a.cu", 2, 4, b"x"), Edit("a.cu", *other, b"y")])
