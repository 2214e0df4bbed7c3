"""Where the compiler is found, and what a run of it answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cudafix.verify import nvcc
from cudafix.verify.nvcc import Nvcc

FOUND = nvcc.find()
PROGRAM = "#include <thrust/device_vector.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"


def compiler(folder: Path) -> Path:
    path = folder / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    path.chmod(0o755)
    return path


def test_path_comes_before_cuda_home_and_cuda_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (compiler(tmp_path / name) for name in ("path", "home", "cuda"))
    monkeypatch.setenv("PATH", str(first.parent))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda"))
    assert nvcc.find() == Nvcc(first)
    monkeypatch.setenv("PATH", "")
    assert nvcc.find() == Nvcc(second)
    monkeypatch.delenv("CUDA_HOME")
    assert nvcc.find() == Nvcc(third)


def test_the_packages_of_the_extra_come_last_with_their_library_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compiler(tmp_path / "nvidia" / "cu13")
    for name in ("PATH", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    found = list(nvcc._candidates())
    assert found[-1] == Nvcc(path, (f"-L{tmp_path / 'nvidia' / 'cu13' / 'lib'}",))


def test_a_failed_run_says_what_the_compiler_said(tmp_path: Path) -> None:
    result = Nvcc(compiler(tmp_path), ("-L/lib",)).compile(tmp_path / "a.cu", ["-O0"], tmp_path / "a")
    assert result == (False, f"-O0 {tmp_path / 'a.cu'} -o {tmp_path / 'a'} -L/lib\n")


def test_a_compiler_that_cannot_be_run_is_a_failed_run(tmp_path: Path) -> None:
    assert Nvcc(tmp_path / "nothing").compile(tmp_path / "a.cu") == (
        False,
        f"{tmp_path / 'nothing'} cannot be run: No such file or directory",
    )


@pytest.mark.skipif(FOUND is None, reason=nvcc.MISSING)
@pytest.mark.parametrize("link", [False, True])
def test_a_program_compiles_and_links(tmp_path: Path, link: bool) -> None:
    assert FOUND is not None
    (tmp_path / "a.cu").write_text(PROGRAM)
    output = tmp_path / "a" if link else None
    result = FOUND.compile(tmp_path / "a.cu", ["-std=c++17"], output)
    assert result.ok, result.log
    assert sorted(os.listdir(tmp_path)) == (["a", "a.cu"] if link else ["a.cu"])
