"""What is installed: every package, and nothing at the top level but `cudafix`; and what a release says of itself."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from tree_sitter import Language
from tree_sitter_cuda import language

from cudafix import __version__
from docs import man, published

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_packages_list_equals_the_tree() -> None:
    listed = project()["tool"]["setuptools"]["packages"]
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
    wheel, sdist = tmp_path / f"cudafix-{__version__}-py3-none-any.whl", tmp_path / f"cudafix-{__version__}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix").rglob("*.py")}
    modules |= {f"cudafix/codemods/{path.name}" for path in (ROOT / "codemods").glob("*.py")}
    page = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix" / "report" / "page").iterdir()}
    page |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudafix" / "report" / "schemas").iterdir()}
    data = {"cudafix/cli/example/main.cu", "cudafix/py.typed", "cudafix/verify/preload.cpp"}
    assert modules | page | data <= installed
    shared = {f"cudafix-{__version__}.data/data/share/man/man1/{path.name}" for path in man.texts()}
    assert shared == {name for name in installed if ".data/" in name}
    assert {name.split("/")[0] for name in installed - shared if ".dist-info/" not in name} == {"cudafix"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in installed)
    with tarfile.open(sdist) as packed:  # what the wheel is built from, and no tests
        given = {name.partition("/")[2].partition("/")[0] for name in packed.getnames()} - {""}
    described = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg", "cudafix.egg-info"}
    assert given == {"cudafix", "codemods", "docs", *described}
    # the modules of the wheel, and not those of the tree
    asked = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); from cudafix.cli.main import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", asked, "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, "cudaFreeAsync" in run.stdout) == (0, True), run.stderr


def test_the_manual_pages_are_what_help_says() -> None:
    written = {path: path.read_text(encoding="utf-8") for path in man.FOLDER.iterdir()}
    assert written == man.texts(), "options changed: run `python -m docs.man`"


def test_the_grammar_is_the_one_that_the_front_end_was_written_for() -> None:
    (wanted,) = (
        each for each in map(Requirement, project()["project"]["dependencies"]) if each.name == "tree-sitter-cuda"
    )
    assert version("tree-sitter-cuda") in wanted.specifier
    assert "0.22" not in wanted.specifier
    grammar = Language(language())
    kinds = sorted({grammar.node_kind_for_id(n) or "" for n in range(grammar.node_kind_count)})
    fields = sorted(grammar.field_name_for_id(n) or "" for n in range(1, grammar.field_count + 1))
    digest = hashlib.sha256(json.dumps([kinds, fields]).encode()).hexdigest()
    assert digest[:16] == "12cb6f53d37a0fdf", (
        "a release of the grammar has other kinds of nodes: look at what the front end names"
    )


def test_every_python_that_is_named_is_tested() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    tested = workflow["jobs"]["python"]["strategy"]["matrix"]["python"]
    named = [line.rpartition(" :: ")[2] for line in project()["project"]["classifiers"] if " :: Python :: 3." in line]
    assert named == tested
    assert project()["project"]["requires-python"] == f">= {named[0]}"


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = yaml.safe_load((ROOT / "packaging/conda/cudafix/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == __version__
    run = {Requirement(each).name: Requirement(each).specifier for each in recipe["requirements"]["run"]}
    assert str(run.pop("python")) == project()["project"]["requires-python"].replace(" ", "")
    wanted = map(Requirement, project()["project"]["dependencies"])
    assert run == {each.name: each.specifier for each in wanted}


def test_the_container_is_made_from_all_that_the_wheel_is_made_from() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = {name for line in lines if re.match(r"COPY \w", line) for name in line.split()[1:-1]}
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "cudafix", "codemods", "docs/man"}
    assert all((ROOT / name).exists() for name in copied)


README = """[one](docs/a.md#there) and ![two
lines](docs/b.svg) [web](https://example.org)

```sh
echo "[no](link)"
```
"""


def test_a_release_has_absolute_links_and_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(published, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## Unreleased\n\n## {__version__} (today)\n\n- new\n\n## 0\n\n- old\n"
    )
    published.main("https://example.org/us/cudafix", f"v{__version__}", "https://us.example.org")
    assert capsys.readouterr().out == "- new\n"
    text = (tmp_path / "README.md").read_text()
    at = f"https://example.org/us/cudafix/{{}}/v{__version__}/docs"
    assert f"[one]({at.format('blob')}/a.md#there)" in text
    assert f"lines]({at.format('raw')}/b.svg) [web](https://example.org)" in text
    assert 'echo "[no](link)"' in text
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    assert urls["Documentation"] == "https://us.example.org"
    with pytest.raises(SystemExit, match=r"the tag is v9, and the version"):
        published.main("https://example.org", "v9", "")
    with pytest.raises(SystemExit, match=r"no section `## 3`"):
        published.news("# Changelog\n", "3")


def test_the_readme_has_no_link_that_an_index_could_not_follow() -> None:
    text = published.readme((ROOT / "README.md").read_text(encoding="utf-8"), "https://example.org", "v1")
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [link for link in found if not link.startswith(("https://", "#"))] == []
    pictures = re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", text)
    assert pictures
    assert all("/raw/" in link for link in pictures)
