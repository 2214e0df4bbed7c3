"""What is known of files from an earlier run, and when it is not believed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cudafix.pipeline import sources
from cudafix.pipeline.cache import Cache
from cudafix.project import files
from cudafix.project.config import Config
from cudafix.project.files import ChangedError, Files, Version

TEXT = b'#include "a.h"\nint main() { cudaMalloc(&p, 4); } // cudafix: ignore[escapes] x\n'


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.cu", "b/c.cu", "b/d.h"):
        write(tmp_path / name, TEXT)
    return tmp_path


def write(path: Path, text: bytes, age: float = 60) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    then = time.time() - age
    os.utime(path, (then, then))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read. When their inodes last changed counts as long ago."""
    names: list[str] = []
    read = files.read

    def counted(path: str) -> object:
        names.append(path)
        return read(path)

    monkeypatch.setattr(files, "read", counted)
    monkeypatch.setattr(files, "_RACY", -(10**12))
    return names


def remembered(cache: Cache | None = None) -> Files:
    found = sources.remembered(["."], Config(), cache or Cache())
    assert found.problems == ()
    return found.files


def test_only_what_has_changed_is_read_again(tree: Path, reads: list[str]) -> None:
    first = remembered()
    assert sorted(reads) == ["a.cu", "b/c.cu", "b/d.h"]
    reads.clear()
    again = remembered()
    assert reads == []
    assert again.entries == first.entries
    write(tree / "b/c.cu", TEXT + b"\n", age=30)
    write(tree / "new.cu", TEXT)
    (tree / "a.cu").unlink()
    assert list(remembered()) == ["b/c.cu", "b/d.h", "new.cu"]
    assert sorted(reads) == ["b/c.cu", "new.cu"]
    reads.clear()
    remembered()
    assert reads == []


def test_a_text_of_the_same_size_and_times_is_noticed_by_what_nobody_can_set(tree: Path, reads: list[str]) -> None:
    remembered()
    status = (tree / "a.cu").stat()
    (tree / "a.cu").write_bytes(TEXT.replace(b"Malloc", b"Xalloc"))
    os.utime(tree / "a.cu", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert b"Xalloc" in remembered()["a.cu"]  # st_ctime is another one


def test_a_file_that_was_written_just_now_is_read_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = remembered()
    assert all(entry.version is None for entry in first.entries.values())  # their inodes were made just now
    monkeypatch.setattr(files, "_RACY", -(10**12))
    assert all(entry.version is not None for entry in remembered().entries.values())


def test_a_file_that_changes_during_the_run_is_an_error(tree: Path, reads: list[str]) -> None:
    remembered()
    found = remembered()
    write(tree / "a.cu", TEXT + b"//")
    with pytest.raises(ChangedError, match=r"a\.cu: changed while it was read"):
        found["a.cu"]
    (tree / "a.cu").unlink()
    with pytest.raises(ChangedError, match=r"a\.cu: cannot be read"):
        found["a.cu"]


def test_what_is_kept_in_memory_is_bounded(tree: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT", len(TEXT))
    found = remembered()
    reads.clear()
    assert {name: found[name] for name in found} == dict.fromkeys(found, TEXT)
    assert reads == ["a.cu", "b/c.cu", "b/d.h"]
    assert found["b/d.h"] == TEXT
    assert len(reads) == 3  # the last one is still there
    assert found.only(["a.cu"]).keys() == {"a.cu"}
    assert "b/d.h" not in found.only(["a.cu"])


def test_what_the_bytes_say() -> None:
    facts = Files.of({"a.cu": TEXT})["a.cu"], Files.of({"a.cu": TEXT}).facts("a.cu")
    assert facts == (TEXT, files.Facts(True, True, True, includes=((0, '"a.h"'),)))
    nothing = Files.of({"a.h": b'x #include "b.h"\nvoid remain(); // cudaMallocHost\n'}).facts("a.h")
    assert nothing == files.Facts(False, False, False)
    assert Files.of({"a.py": b"import cupy\ncupy.cuda.set_allocator(None)\n"}).facts("a.py").arrays


def test_texts_can_be_replaced_and_the_others_stay() -> None:
    found = Files.of({"b": b"1", "a": b"2"})
    other = found.replaced({"a": b"cudaFree"})
    assert (dict(found), dict(other)) == ({"a": b"2", "b": b"1"}, {"a": b"cudaFree", "b": b"1"})
    assert list(other) == ["a", "b"]
    assert other.facts("a").allocates
    with pytest.raises(KeyError):
        found.only(["b"])["a"]


def test_a_version_tells_files_apart(tree: Path) -> None:
    versions = {Version.of((tree / name).stat()) for name in ("a.cu", "b/c.cu", "b/d.h")}
    assert len(versions) == 3


@pytest.mark.parametrize(
    ("text", "allocates"),
    [
        pytest.param(b"cudaMalloc(&p, 4); // a comment", True, id="code"),
        pytest.param(b"// cudaMalloc(&p, 4);\n/* cudaFree(p); */", False, id="comments"),
        pytest.param(b'f("/*"); cudaMalloc(&p, 4); g("*/");', True, id="between literals that look like a comment"),
        pytest.param(b'dlsym(h, "cudaMalloc"); // cudaFree', True, id="in a literal"),
        pytest.param(b"f('\"'); cudaFree(p); // \"", True, id="behind a quote"),
        pytest.param(b'f(R"(\n" /* )"); cudaMalloc(&p, 4);', True, id="behind a raw literal"),
        pytest.param(b"// goes on \\\ncudaMalloc(&p, 4);", True, id="a comment of several lines"),
    ],
)
def test_what_a_comment_says_allocates_nothing(text: bytes, allocates: bool) -> None:
    assert files.facts("a.cu", text).allocates is allocates
