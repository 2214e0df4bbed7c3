"""Ignore patterns mean what git says they mean."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudafix.project import discovery
from cudafix.project.config import Config
from cudafix.project.ignore import Ignore

GIT = shutil.which("git")
FILES = ["a.cu", "b.cu", "x/a.cu", "x/b.cu", "x/y/a.cu", "x/y/ab.cu", "y/x/a.cu", "y/b.cu", "[a].cu", "y/!a.cu"]
LINES = st.one_of(
    st.sampled_from(
        "* !* !*/ *.cu !*.cu x x/ /x /x/ !x !/x/ y/ x/y !x/y/ x/* !x/* x/** **/y **/a.cu x/**/a.cu **/ ** /** a* ?.cu "
        "[ab].cu [!a].cu [^a].cu [a-b]?cu \\[a].cu [[]a].cu []a].cu !y/!a.cu y/\\!a.cu #x \\#x [a \\".split(" ")
    ),
    st.text("ab*?/![]\\.-cuxy ", max_size=6),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(LINES, max_size=5), st.lists(LINES, max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_the_files_that_are_found_are_those_that_git_would_add(outer: list[str], inner: list[str], end: str) -> None:
    assert GIT is not None
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("cudaFree(p);\n")
        (root / ".gitignore").write_bytes(end.join(outer).encode())
        (root / "x" / ".gitignore").write_bytes(end.join(inner).encode())
        subprocess.run([GIT, "init", "-q", scratch], check=True)
        command = [GIT, "-C", scratch, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore", "*.cu"]
        added = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
        found = discovery.discover([scratch], Config()).files
        assert sorted(str(Path(name).relative_to(root.resolve())) for name in found) == sorted(added)


@pytest.mark.parametrize(
    ("line", "path", "folder", "verdict"),
    [
        ("build/", "a/build", True, True),
        ("build/", "a/build", False, None),
        ("/build", "a/build", True, None),
        ("docs/*.cu", "docs/a.cu", False, True),
        ("docs/*.cu", "docs/b/a.cu", False, None),
        ("!keep.cu", "a/keep.cu", False, False),
        ("a\\ ", "a ", False, True),
        ("a  ", "a", False, True),
    ],
)
def test_a_line(line: str, path: str, folder: bool, verdict: bool | None) -> None:
    assert Ignore("/r", [line]).verdict("/r/" + path, folder) is verdict


def test_a_path_outside_the_folder_is_not_meant() -> None:
    assert Ignore("/r", ["*"]).verdict("/rest/a.cu", False) is None
