"""What is installed: every package, and nothing at the top level but `cudafix`."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def test_the_packages_list_equals_the_tree() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    tree = {
        ".".join(path.relative_to(ROOT).parent.parts)
        for path in (ROOT / "cudafix").rglob("*.py")
        if "__pycache__" not in path.parts
    }
    assert listed == sorted(tree | {"cudafix.codemods"})


def test_every_package_has_an_init_file() -> None:
    folders = {path.parent for path in (ROOT / "cudafix").rglob("*.py")} | {ROOT / "codemods"}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_the_wheel_holds_every_module_the_license_and_no_other_top_level_name(tmp_path: Path) -> None:
    """One test, since two builds at a time would write to one folder. The wheel comes from an sdist, as an index would
    serve both.
    """
    # --no-isolation: setuptools comes with the extra `dev`, and the test needs no network
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix").rglob("*.py")}
    modules |= {f"cudafix/codemods/{path.name}" for path in (ROOT / "codemods").glob("*.py")}
    page = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix" / "report" / "page").iterdir()}
    page |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix" / "report" / "schemas").iterdir()}
    data = {"cudafix/cli/example/main.cu", "cudafix/py.typed", "cudafix/verify/preload.cpp"}
    assert modules | page | data <= installed
    assert {name.split("/")[0] for name in installed if ".dist-info/" not in name} == {"cudafix"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in installed)
