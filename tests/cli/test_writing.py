"""Writing the fixes: whole or not at all, killed at any point, taken back, and never where it was not asked for."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix.rewrite import writing

GIT = shutil.which("git")
ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "fixtures" / "stream_ordered_pairs"
CASE = PAIRS / "pinned_result_is_read_after_the_free"
NAMES = ("a.cu", "b.cu")


def test_replace_writes_all_files_and_keeps_the_mode(tmp_path: Path) -> None:
    before, after = {}, {}
    for number in range(3):
        path = tmp_path / f"{number}.cu"
        path.write_bytes(b"old")
        path.chmod(0o750)
        before[str(path)], after[str(path)] = b"old", b"new"
    assert writing.replace(before, after) == []
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"new"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o750}
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_files_stay_with_their_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.chown(path, 1234, 1235)
    assert writing.replace({str(path): b"old"}, {str(path): b"new"}) == []
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 1235, 0o640)
    assert writing.undo() == ([str(path)], [])
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 1235, 0o640)


def test_nothing_is_written_when_one_file_changed_after_the_analysis(tmp_path: Path) -> None:
    first, second = tmp_path / "a.cu", tmp_path / "b.cu"
    first.write_bytes(b"old")
    second.write_bytes(b"edited meanwhile")
    problems = writing.replace(dict.fromkeys(map(str, (first, second)), b"old"), {str(first): b"1", str(second): b"2"})
    assert [problem.message for problem in problems] == ["changed since it was analysed"]
    assert (first.read_bytes(), second.read_bytes()) == (b"old", b"edited meanwhile")
    assert len(list(tmp_path.iterdir())) == 2


def test_files_get_their_old_bytes_back_when_a_later_one_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / name) for name in ("a.cu", "b.cu")]
    for path in paths:
        Path(path).write_bytes(b"old")
    real = os.replace

    def fails_for_b(source: str, target: str) -> None:
        if target == paths[1]:
            raise PermissionError(1, "Operation not permitted")
        real(source, target)

    monkeypatch.setattr(os, "replace", fails_for_b)
    problems = writing.replace(dict.fromkeys(paths, b"old"), dict.fromkeys(paths, b"new"))
    assert [(problem.path, problem.message) for problem in problems] == [
        (paths[1], "cannot be replaced: Operation not permitted")
    ]
    assert [Path(path).read_bytes() for path in paths] == [b"old", b"old"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"old")
    path.chmod(0o444)
    assert [problem.message for problem in writing.replace({str(path): b"old"}, {str(path): b"new"})] == [
        "is read-only"
    ]


# ---------------------------------------------------------------------------------------------------------------------
# killed

# Runs `replace` or `undo` on two files, and kills itself in front of the n-th call that changes something on the disk.
# Exit code 77: there was no n-th call.
KILLED = """
import os, signal, sys
from cudafix.rewrite import writing
command, n = sys.argv[1], int(sys.argv[2])
count = 0
def watched(function):
    def call(*args, **kwargs):
        global count
        count += 1
        if count == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return call
for name in ("replace", "unlink", "mkdir", "open", "fsync", "rmdir", "chmod"):
    setattr(os, name, watched(getattr(os, name)))
names = ("a.cu", "b.cu")
if command == "replace":
    problems = writing.replace(dict.fromkeys(names, b"old"), dict.fromkeys(names, b"new" * 9999))
else:
    problems = writing.undo()[1]
assert not problems, problems
sys.exit(77)
"""


def killed(folder: Path, command: str, number: int) -> bool:
    """Whether the run was killed; else it came to its end."""
    run = subprocess.run(
        [sys.executable, "-c", KILLED, command, str(number)], cwd=folder, capture_output=True, check=False
    )
    assert run.returncode in (-signal.SIGKILL, 77), run.stderr.decode()
    return run.returncode == -signal.SIGKILL


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in NAMES]


@pytest.mark.parametrize("command", ["replace", "undo"])
def test_killed_at_any_point_each_file_is_old_or_new_and_the_next_run_makes_all_of_them_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    old, new = b"old", b"new" * 9999
    points = 0
    for number in range(1, 200):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        for name in NAMES:
            (folder / name).write_bytes(old)
        if command == "undo":
            assert writing.replace(dict.fromkeys(NAMES, old), dict.fromkeys(NAMES, new)) == []
        if not killed(folder, command, number):
            assert contents(folder) == [new if command == "replace" else old] * 2
            break
        points += 1
        found = contents(folder)
        assert set(found) <= {old, new}
        writing.undo()
        assert contents(folder) == [old] * 2
        assert sorted(path.name for path in folder.iterdir()) == list(NAMES)
        assert writing.replace(dict.fromkeys(NAMES, old), dict.fromkeys(NAMES, new)) == []
        assert contents(folder) == [new] * 2
    assert points > 10


def test_an_apply_that_was_killed_is_taken_back_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        (tmp_path / name).write_bytes(b"old")
    number = 1
    while killed(tmp_path, "replace", number) and len(set(contents(tmp_path))) == 1:
        number += 1
    assert len(set(contents(tmp_path))) == 2  # some are new
    assert writing.replace({"a.cu": b"old"}, {"a.cu": b"other"}) == []
    assert contents(tmp_path) == [b"other", b"old"]


# ---------------------------------------------------------------------------------------------------------------------
# the command line


def cudafix(folder: Path, *arguments: str, answers: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, input=answers, capture_output=True, text=True, check=False)


def git(folder: Path, *arguments: str) -> None:
    assert GIT is not None
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run([GIT, *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    shutil.copytree(CASE / "before", folder)
    return folder


@pytest.fixture
def repository(tree: Path) -> Path:
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "as it was")
    return tree


def test_undo_restores_the_last_apply_exactly(tree: Path) -> None:
    file = tree / "main.cu"
    file.chmod(0o640)
    before = file.read_bytes()
    applied = cudafix(tree, "apply")
    assert applied.returncode == 0
    assert applied.stderr.endswith("1 file written; `cudafix undo` takes it back\n")
    assert file.read_bytes() == (CASE / "after" / "main.cu").read_bytes()
    run = cudafix(tree, "undo")
    assert (run.returncode, run.stderr) == (0, "1 file has the old bytes again\n")
    assert file.read_bytes() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    again = cudafix(tree, "undo")
    assert again.returncode == 2
    assert "there is no `apply` to undo" in again.stderr


def test_undo_leaves_files_that_have_changed_since(tree: Path) -> None:
    assert cudafix(tree, "apply").returncode == 0
    changed = (tree / "main.cu").read_bytes() + b"// mine\n"
    (tree / "main.cu").write_bytes(changed)
    run = cudafix(tree, "undo")
    assert run.returncode == 2
    assert "main.cu: changed since `apply`; nothing was undone" in run.stderr
    assert (tree / "main.cu").read_bytes() == changed


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_undo_finds_the_apply_from_anywhere_in_the_repository(repository: Path) -> None:
    before = (repository / "main.cu").read_bytes()
    assert cudafix(repository, "apply").returncode == 0
    (repository / "inside").mkdir()
    assert cudafix(repository / "inside", "undo").returncode == 0
    assert (repository / "main.cu").read_bytes() == before


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_a_dirty_tree_is_refused_unless_told(repository: Path) -> None:
    (repository / "notes.txt").write_text("one\n")
    git(repository, "add", "notes.txt")
    before = (repository / "main.cu").read_bytes()
    run = cudafix(repository, "apply")
    assert run.returncode == 2
    assert "not committed: notes.txt; commit or stash first, or use `--allow-dirty`" in run.stderr
    assert (repository / "main.cu").read_bytes() == before
    assert cudafix(repository, "apply", "--allow-dirty").returncode == 0
    assert (repository / "main.cu").read_bytes() != before


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_a_file_that_git_does_not_know_is_not_written_without_being_told(repository: Path) -> None:
    git(repository, "rm", "-q", "--cached", "main.cu")
    git(repository, "commit", "-qm", "not mine")
    run = cudafix(repository, "apply")
    assert run.returncode == 2
    assert "not committed: main.cu" in run.stderr


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_untracked_files_that_stay_as_they_are_do_not_matter(repository: Path) -> None:
    (repository / "build.log").write_text("made\n")
    assert cudafix(repository, "apply").returncode == 0


def test_a_read_only_file_is_reported_before_anything_is_written(tree: Path) -> None:
    shutil.copy(tree / "main.cu", tree / "second.cu")
    (tree / "second.cu").chmod(0o444)
    before = (tree / "main.cu").read_bytes()
    run = cudafix(tree, "apply")
    assert run.returncode == 2
    assert "second.cu: is read-only" in run.stderr
    assert (tree / "main.cu").read_bytes() == before


def test_a_link_out_of_the_tree_is_not_followed(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.cu"
    (tree / "main.cu").rename(outside)
    (tree / "main.cu").symlink_to(outside)
    before = outside.read_bytes()
    run = cudafix(tree, "apply", "main.cu")
    assert run.returncode == 2
    assert f"main.cu: is reached by a symbolic link that leads out of the tree, to `{outside}`" in run.stderr
    assert outside.read_bytes() == before
    assert (tree / "main.cu").is_symlink()


def test_a_folder_that_is_a_link_out_of_the_tree_is_not_followed(tree: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "linked").symlink_to(tree)
    before = (tree / "main.cu").read_bytes()
    run = cudafix(work, "apply", "linked")
    assert run.returncode == 2
    assert "leads out of the tree" in run.stderr
    assert (tree / "main.cu").read_bytes() == before


def test_a_link_within_the_tree_stays_one_and_its_file_is_written(tree: Path) -> None:
    (tree / "src").mkdir()
    (tree / "main.cu").rename(tree / "src" / "real.cu")
    (tree / "main.cu").symlink_to("src/real.cu")
    assert cudafix(tree, "apply", "main.cu").returncode == 0
    assert (tree / "main.cu").is_symlink()
    assert (tree / "src" / "real.cu").read_bytes() == (CASE / "after" / "main.cu").read_bytes()


def test_no_state_folder_no_write(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUDAFIX_STATE_DIR", str(tmp_path / "file"))
    before = (tree / "main.cu").read_bytes()
    run = cudafix(tree, "apply")
    assert run.returncode == 2
    assert "the undo record cannot be written" in run.stderr
    assert (tree / "main.cu").read_bytes() == before


def test_a_file_that_is_made_is_taken_away_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    (tree / "a.py").write_bytes(b"old")
    assert writing.replace({"a.py": b"old"}, {"a.py": b"new", "made.py": b"made"}) == []
    assert (tree / "made.py").read_bytes() == b"made"
    assert writing.undo() == (["a.py", "made.py"], [])
    assert (tree / "a.py").read_bytes() == b"old"
    assert not (tree / "made.py").exists()


def test_a_file_that_is_there_already_is_not_made(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    (tree / "a.py").write_bytes(b"old")
    (tree / "made.py").write_bytes(b"another")
    problems = writing.replace({"a.py": b"old"}, {"a.py": b"new", "made.py": b"made"})
    assert [(problem.path, problem.message) for problem in problems] == [
        ("made.py", "is there already, and was not analysed")
    ]
    assert (tree / "a.py").read_bytes() == b"old"
    assert (tree / "made.py").read_bytes() == b"another"
