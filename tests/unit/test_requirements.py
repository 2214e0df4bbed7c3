"""Which package the project around a program depends on, and so which memory manager it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.project import requirements
from cudafix.project.config import Config

PROGRAM = """\
import numpy as np
from numba import cuda


@cuda.jit
def square(v):
    i = cuda.grid(1)
    v[i] = i * i


for _ in range(5):
    v = cuda.to_device(np.zeros(256))
    square[1, 256](v)
    print(v.copy_to_host().sum())
"""


@pytest.fixture(autouse=True)
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    requirements._has_rmm.cache_clear()


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def has_rmm(path: str) -> bool:
    return path in requirements.with_rmm([path], Config(root=Path.cwd()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["numba-cuda>=0.20", "RMM_cu13==26.10.*,>=0.0.0a0"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["numba", "rmm-cu12"]\ndocs = ["sphinx"]\n'),
        ("pyproject.toml", '[dependency-groups]\ngpu = [{include-group = "x"}, "numba", "rmm-cu12"]\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    numba>=0.60\n    rmm-cu13 >= 25.2\n"),
        ("setup.cfg", "[options]\ninstall_requires = numba; rmm\n"),
        ("setup.cfg", "[options.extras_require]\ngpu =\n    numba\n    rmm\n"),
        ("requirements.txt", "--extra-index-url https://example.invalid\nnumba\nrmm-cu13==26.10.* # memory\n"),
        ("requirements-gpu.txt", "numba\nrmm-cu12==25.2 \\\n    --hash=sha256:0123\n"),
        ("environment.yml", "dependencies:\n- python=3.12\n- numba\n- rapidsai::rmm=26.10\n"),
        ("environment.yaml", "dependencies:\n- pip\n- pip:\n  - rmm-cu13\n"),
    ],
)
def test_projects_that_have_rmm(name: str, text: str) -> None:
    write(name, text)
    assert has_rmm("src/deep/main.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["numba", "rmm-tools", "cudf"]\n'),
        ("pyproject.toml", '[project]\ndependencies = ["numba"]\n[project.optional-dependencies]\npool = ["rmm"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\na = ["numba", "rmm"]\nb = ["numba"]\n'),
        ("pyproject.toml", '[project]\ndependencies = ["numba", "rmm-cu13; sys_platform == \'linux\'"]\n'),
        ("pyproject.toml", '[project]\ndependencies = ["rmm"\n'),
        ("pyproject.toml", '[project]\ndependencies = "rmm"\n[tool.ruff]\nline-length = 100\n'),
        ("setup.cfg", "[options]\ninstall_requires = file: requirements.in\n"),
        ("setup.cfg", "install_requires = rmm\n"),
        ("requirements.txt", "# rmm\nnumba\n./rmm\n-e rmm\n"),
        ("requirements-dev.txt", "rmm\n"),
        ("environment.yml", "dependencies: {rmm: 1}\n"),
        ("environment.yml", "dependencies: [numba, librmm]\n"),
        ("environment.yml", "dependencies: [rmm\n"),
        ("notes.txt", "rmm\n"),
    ],
)
def test_projects_that_may_not_have_it(name: str, text: str) -> None:
    write(name, text)
    assert not has_rmm("src/deep/main.py")


def test_the_nearest_list_decides() -> None:
    write("pyproject.toml", '[project]\ndependencies = ["numba", "rmm"]\n')
    write("examples/requirements.txt", "numba\n")
    write("tools/pyproject.toml", "[tool.ruff]\nline-length = 100\n")
    assert not has_rmm("examples/main.py")
    assert has_rmm("tools/main.py")


def test_requirements_include_others() -> None:
    write("requirements.txt", "-r base/gpu.txt\n")
    write("base/gpu.txt", "--requirement=../requirements.txt\nrmm\n")
    assert has_rmm("main.py")


def test_nothing_outside_of_the_repository_counts(tmp_path: Path) -> None:
    write("requirements.txt", "rmm\n")
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    assert not has_rmm("inner/main.py")


def difference(capsys: pytest.CaptureFixture[str]) -> str:
    requirements._has_rmm.cache_clear()
    with pytest.raises(SystemExit) as ended:
        cli.main(["diff", "main.py"])
    assert not ended.value.code
    return capsys.readouterr().out


def test_the_manager_is_that_of_rmm_where_the_project_depends_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    write("main.py", PROGRAM)
    write("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = ["numba", "rmm-cu13"]\n')
    shown = difference(capsys).splitlines()
    assert [line for line in shown if line.startswith("+") and not line.startswith("+++")] == [
        "+import rmm",
        "+from rmm.allocators.numba import RMMNumbaManager",
        "+rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())",
        "+cuda.set_memory_manager(RMMNumbaManager)",
    ]
    write("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = ["numba"]\n')
    assert "rmm" not in difference(capsys)
    assert Path("main.py").read_text() == PROGRAM
