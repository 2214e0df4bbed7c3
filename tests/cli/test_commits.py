"""`apply --commit`: fixes as commits that can be reviewed one by one, all of them or none."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cudafix.cli.main import main
from cudafix.rewrite import committing, writing
from cudafix.rewrite.committing import Step
from tests import reports

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(*arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(variable, "A")
    for variable in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(variable, "a@example.org")
    (tmp_path / "a.cu").write_bytes(b"old\n")
    (tmp_path / "b.cu").write_bytes(b"old\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "as it was")
    return tmp_path


def hook(tree: Path, name: str, script: str) -> None:
    file = tree / ".git" / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


STEPS = [Step("first\n", {"a.cu": b"new\n"}), Step("second\n", {"a.cu": b"newer\n", "made.py": b"made\n"})]


def commit() -> tuple[committing.Made, str]:
    """What was made, and the one line of what went wrong."""
    made = committing.commit({"a.cu": b"old\n", "b.cu": b"old\n"}, STEPS)
    return made, "; ".join(f"{Path(problem.path).name}: {problem.message}" for problem in made.problems)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, list[str]]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code or 0, capsys.readouterr().err.splitlines()


def is_as_it_was(tree: Path) -> bool:
    said = git("status", "--short") + git("log", "--format=%s")
    same = (tree / "a.cu").read_bytes() == (tree / "b.cu").read_bytes() == b"old\n"
    return same and not (tree / "made.py").exists() and said == "as it was\n"


def test_each_commit_is_a_step(tree: Path) -> None:
    made, _ = commit()
    assert made.number == 2
    assert git("log", "--format=%s", "--name-status").split() == [
        *("second", "M", "a.cu", "A", "made.py"),
        *("first", "M", "a.cu", "as", "it", "was", "A", "a.cu", "A", "b.cu"),
    ]
    assert git("show", "HEAD~1:a.cu") == "new\n"
    assert not git("status", "--short")
    _, problems = writing.undo()
    assert [p.message for p in problems] == [
        f"the last `apply` is committed: `git revert --no-edit {made.range}` takes it back"
    ]
    git("revert", "--no-edit", made.range)
    assert (tree / "a.cu").read_bytes() == b"old\n"


HOOKS = {
    "it fails": ("pre-commit", "echo no tabs here >&2; exit 1", ": git refuses the commit: no tabs here; nothing"),
    "the second time": ("commit-msg", "! grep -q second $1", ": git refuses the commit; nothing was written"),
    "it formats a file": ("pre-commit", "echo more >> a.cu", "a.cu: is changed by a hook of the commit; nothing"),
    "and commits that": ("pre-commit", "echo more >> a.cu; git add a.cu", "a.cu: is changed by a hook of the commit"),
    "another file": ("post-commit", "echo more >> b.cu", "b.cu: is changed by a hook of the commit; nothing"),
}


@pytest.mark.parametrize(("name", "script", "said"), HOOKS.values(), ids=HOOKS)
def test_a_hook_that_objects_leaves_all_as_it_was(tree: Path, name: str, script: str, said: str) -> None:
    hook(tree, name, script)
    made, line = commit()
    assert (made.number, said in line, ";" in line.replace("; nothing was written", "")) == (0, True, False)
    assert is_as_it_was(tree)


def test_what_is_not_committed_is_left_alone(tree: Path) -> None:
    (tree / "b.cu").write_bytes(b"mine\n")
    git("add", "b.cu")
    _, line = commit()
    assert "not committed: b.cu" in line
    assert git("status", "--short") == "M  b.cu\n"


def test_a_merge_that_is_under_way_is_not_ended(tree: Path) -> None:
    (tree / ".git" / "MERGE_HEAD").write_text(git("rev-parse", "HEAD"))
    assert "a merge, a rebase or the like is under way (MERGE_HEAD): finish it first" in commit()[1]


def test_without_git_nothing_is_written(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(tree / ".git")
    (tree / "a.cu").write_bytes(reports.TREE["src/two pairs.cu"])
    code, (line,) = run(capsys, "apply", "--commit", "all", "a.cu")
    assert (code, "is no git repository: `--commit` has nowhere to commit to" in line) == (2, True)
    assert (tree / "a.cu").read_bytes() == reports.TREE["src/two pairs.cu"]
    assert run(capsys, "apply", "--commit", "all", "-i")[0] == 2


@pytest.mark.parametrize(
    ("way", "subjects"),
    [
        ("all", ["src: stream_ordered_pairs, wait_between_streams (3 fixes)"]),
        ("codemod", ["src: stream_ordered_pairs (2 fixes)", "src: wait_between_streams (1 fix)"]),
        ("fix", ["src: wait_between_streams (1 fix)", *["src: stream_ordered_pairs (1 fix)"] * 2]),
    ],
)
def test_as_many_commits_as_somebody_wants_to_read(
    tree: Path, capsys: pytest.CaptureFixture[str], way: str, subjects: list[str]
) -> None:
    (tree / "src").mkdir()
    for name in ("src/two pairs.cu", "src/race.cu"):
        (tree / name).write_bytes(reports.TREE[name])
    git("add", "-A")
    git("commit", "-qm", "as it was")
    code, lines = run(capsys, "apply", "--commit", way, "src")
    assert code == 0
    assert f"; {len(subjects)} commit{'s' * (len(subjects) > 1)} made; `git revert --no-edit " in lines[-1]
    assert git("log", "--reverse", "--format=%s", "HEAD~" + str(len(subjects)) + "..").splitlines() == subjects
    body = git("log", "--format=%b")
    assert "src/two pairs.cu:19:19: stream_ordered_pairs: moves to stream `0` (churn)" in body
    assert "Proved by cudafix" in body
    assert run(capsys, "diff", "-q", "src") == (0, [])
