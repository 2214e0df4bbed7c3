"""`cudafix init` writes a configuration that says what was found, and that `check` takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix import codemod
from cudafix.cli import main as cli
from cudafix.findings import ASSUMPTIONS
from cudafix.project import config

SOURCE = (
    '#include "err.h"\nint main() { float *d; RUN_IT(cudaMalloc(&d, 4)); CHECK(cudaFree(d)); if (cudaFree(0)) {} }\n'
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path, text in {
        "src/main.cu": SOURCE,
        "src/seen.cu": "#define SEEN(x) run(x)\nvoid f(float *d) { SEEN(cudaFree(d)); }\n",
        "tools/a.cu": "int main() { float *d; cudaMalloc(&d, 4); }\n",
        "docs/notes.cpp": "int x;\n",
        "src/third_party/lib/b.cu": SOURCE,
        "CMakeLists.txt": "find_package(CUDAToolkit 10.2 REQUIRED)\n",
        "src/Makefile": "NVCCFLAGS = --default-stream per-thread\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def init(capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["init"])
    out, err = capfd.readouterr()
    assert out == ""
    return int(ended.value.code or 0), err


def test_it_says_what_was_found(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert init(capfd) == (0, "cudafix: wrote cudafix.toml\n")
    settings = config.load(tree / "cudafix.toml", codemod.names())
    assert settings.paths == ("src", "tools")
    assert settings.exclude == ("/src/third_party/",)
    assert settings.check_macros == ("RUN_IT",)
    assert settings.cuda == (10, 2)
    text = Path("cudafix.toml").read_text()
    assert "# Decide: it may be another one because of src/Makefile:1.\n" in text  # or CMake, which does not say it
    assert "understood as they are: CHECK, SEEN.\n" in text


def test_every_line_that_is_commented_out_is_right(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    init(capfd)
    lines = Path("cudafix.toml").read_text().splitlines()
    said = {match[1] for line in lines if (match := re.match(r"([a-z_]+) = ", line))}
    code = [
        line.removeprefix("# ")
        for line in lines
        if not line.startswith("# ") or ((match := re.match(r"# ([a-z_]+) = |# \[", line)) and match[1] not in said)
    ]
    Path("all.toml").write_text("\n".join(code))
    settings = config.load(Path("all.toml"), codemod.names())
    assert settings.overrides
    assert settings.guard
    assert set(settings.assume) == set(ASSUMPTIONS)


def test_check_takes_it(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    init(capfd)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check"])
    assert ended.value.code == 0
    assert "refused: old_cuda" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["cudafix.toml", "pyproject.toml"])
def test_a_configuration_that_is_there_stays(tree: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).write_text("[tool.cudafix]\n" if name == "pyproject.toml" else "# mine\n")
    before = Path(name).read_text()
    assert init(capfd) == (2, f"cudafix: {name}: has a configuration already\n")
    assert Path(name).read_text() == before
    assert Path("cudafix.toml").exists() is (name == "cudafix.toml")
