"""Which files are found, and what is said about those that cannot be worked on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudafix.findings import Problem
from cudafix.project import discovery, files
from cudafix.project.config import Config
from cudafix.project.paths import SUFFIXES

CUDA = "cudaFree(p);\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root: Path, *names: str, text: str = CUDA) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(*paths: str, config: Config | None = None) -> list[str]:
    sources = discovery.discover(paths or ["."], config or Config())
    assert sources.problems == ()
    return list(sources.files)


def problems(*paths: str) -> list[tuple[str, str]]:
    found = discovery.discover(paths, Config())
    return [(each.path, each.message) for each in (*found.problems, *found.folders, *found.files.unread())]


def test_the_suffixes_of_cuda_code_are_found_in_sorted_order(tree: Path) -> None:
    names = ["b.cu", "a.cuh", "c/a.cpp", "c/b.cc", "c.cxx", "d.c", "e.h", "f.hpp", "g.inl", "h.py", "i.ipynb"]
    names += ["j.hh", "k.hxx", "l.tpp", "m.inc"]
    write(tree, *names, "h.pyc", "README.md", "cu")
    assert found() == sorted(names)


def test_hidden_entries_are_left_out(tree: Path) -> None:
    write(tree, "a.cu", ".git/b.cu", ".build/c.cu", "._a.cu")
    assert found() == ["a.cu"]


def test_a_file_is_found_once_however_it_is_named(tree: Path) -> None:
    write(tree, "d/a.cu")
    assert found("d/a.cu", "./d", str(tree / "d"), "d/../d/a.cu") == ["d/a.cu"]


def test_a_file_outside_the_current_folder_has_an_absolute_name(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree, "a.cu", "sub/b.cu")
    monkeypatch.chdir(tree / "sub")
    assert found("..") == [str(tree / "a.cu"), "b.cu"]


def test_ignore_files_are_honoured_the_deepest_last(tree: Path) -> None:
    write(tree, "a.cu", "b.cu", "build/c.cu", "d/keep.cu", "d/b.cu", "d/build/e.cu", "f/g.cu", "local.cu")
    write(tree, ".gitignore", text="build/\nb.cu\n/f\n")
    write(tree, "d/.gitignore", text="# the one here is wanted\n!b.cu\nbuild/\n")
    (tree / ".git").mkdir()
    write(tree, ".git/info/exclude", text="local.cu\n")
    assert found() == ["a.cu", "d/b.cu", "d/keep.cu"]


def test_ignore_files_above_the_folder_count_up_to_the_root_of_the_repository(tree: Path) -> None:
    write(tree, "outside/repo/src/a.cu", "outside/repo/src/gen.cu", "outside/repo/src/x.cu")
    write(tree, "outside/.gitignore", text="*.cu\n")
    write(tree, "outside/repo/.gitignore", text="gen.cu\n/src/x.cu\n")
    (tree / "outside/repo/.git").mkdir()
    assert found("outside/repo/src") == ["outside/repo/src/a.cu"]


def test_what_the_user_names_is_taken_even_if_it_is_ignored(tree: Path) -> None:
    write(tree, "a.cu", "build/b.cu", ".hidden/c.cu")
    write(tree, ".gitignore", text="build/\na.cu\n")
    (tree / ".git").mkdir()
    assert found("a.cu", "build", ".hidden") == [".hidden/c.cu", "a.cu", "build/b.cu"]


def test_excludes_of_the_configuration_win_over_ignore_files(tree: Path) -> None:
    write(tree, "a.cu", "third_party/x/b.cu", "src/third_party/c.cu", "src/d_gen.cu")
    write(tree, "src/.gitignore", text="!*.cu\n")
    config = Config(root=tree, exclude=("/third_party", "*_gen.cu"))
    assert found(config=config) == ["a.cu", "src/third_party/c.cu"]


def test_symbolic_links_are_not_followed_in_a_walk(tree: Path) -> None:
    write(tree, "src/a.cu", "outside/b.cu")
    (tree / "src/loop").symlink_to("..")
    (tree / "src/b.cu").symlink_to("../outside/b.cu")
    assert found("src") == ["src/a.cu"]


def test_a_link_that_the_user_names_stands_for_its_target(tree: Path) -> None:
    write(tree, "src/a.cu", "b.cu")
    (tree / "link").symlink_to("src")
    (tree / "c.cu").symlink_to("b.cu")
    (tree / "self.cu").symlink_to("self.cu")
    (tree / "gone.cu").symlink_to("nothing.cu")
    assert found("link", "c.cu") == ["b.cu", "src/a.cu"]
    assert problems("self.cu", "gone.cu") == [
        ("self.cu", "a symbolic link that leads nowhere"),
        ("gone.cu", "a symbolic link that leads nowhere"),
    ]


def test_bytes_survive_as_they_are(tree: Path) -> None:
    raw = b"\xef\xbb\xbfcudaFree(p); // \xff\r\n\ttail"
    (tree / "a.cu").write_bytes(raw)
    assert discovery.discover(["."], Config()).files == {"a.cu": raw}


def test_bad_input_is_one_line_each(tree: Path) -> None:
    write(tree, "README.md", "ok.cu")
    (tree / "binary.cu").write_bytes(b"cudaFree\0")
    os.mkfifo(tree / "pipe.cu")
    assert problems("nothing", "README.md", "binary.cu", "pipe.cu", "ok.cu") == [
        ("nothing", "no such file or folder"),
        ("README.md", f"not a CUDA source ({' '.join(sorted(SUFFIXES))})"),
        ("binary.cu", "a binary file: NUL byte at offset 8"),
        ("pipe.cu", "not a regular file"),
    ]


def test_headers_in_utf_16_are_left_out_of_a_folder(tree: Path) -> None:
    write(tree, "a.cu")
    (tree / "resource.h").write_bytes("#define IDI_ICON 101\r\n".encode("utf-16"))
    assert found(".") == ["a.cu"]
    assert not problems(".")
    assert problems("resource.h") == [("resource.h", "a binary file: NUL byte at offset 3")]
    (tree / "b.cu").write_bytes("int main() {}\r\n".encode("utf-16"))
    assert problems(".") == [("b.cu", "a binary file: NUL byte at offset 3")]


def test_a_folder_without_cuda_code_is_a_problem(tree: Path) -> None:
    write(tree, "src/a.cpp", text="int main() { free(0); }\n")
    write(tree, "src/b.txt", "ok/a.cu")
    assert problems("src", "ok") == [("src", "no CUDA code in this folder")]


def test_a_file_without_cuda_code_is_no_problem(tree: Path) -> None:
    write(tree, "a.h", text="#pragma once\n")
    assert found("a.h") == ["a.h"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_an_unreadable_file_or_folder_is_a_problem(tree: Path) -> None:
    write(tree, "a.cu", "d/b.cu")
    (tree / "a.cu").chmod(0)
    (tree / "d").chmod(0)
    try:
        assert problems(".") == [
            ("d", "cannot be read: Permission denied"),
            ("a.cu", "cannot be read: Permission denied"),
        ]
    finally:
        (tree / "d").chmod(0o755)


def test_a_file_that_cannot_be_opened_is_a_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree, "a.cu")

    def refuses(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuses)
    assert files.read("a.cu") == Problem("a.cu", "cannot be read: Permission denied")


def test_a_file_that_changes_while_it_is_read_is_a_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree, "a.cu")
    real = os.fstat

    def then_someone_writes(handle: int) -> os.stat_result:
        before = real(handle)
        write(tree, "a.cu", text="something else\n")
        return before

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", then_someone_writes)
        result = files.read("a.cu")
    assert result == Problem("a.cu", "changed while it was read")
