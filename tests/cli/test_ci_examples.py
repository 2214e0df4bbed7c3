"""The pre-commit hook, the GitHub Action and the GitLab template: they fit their schemas, and what they call works.

Their commands are run as they stand. Twice all of it is run as a runner does it: a clone, an empty environment into
which cudafix is installed, each step in a shell of its own, and the expressions replaced by what they stand for.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from cudafix import __version__
from tests import reports
from tests.cli.test_baseline import program

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
CLEAN = b"#include <cuda_runtime.h>\nint main() { cudaFree(0); }\n"
IDENTITY = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def comes_and_goes(name: str, buffer: str) -> str:
    """A program with a pair in a loop, on the lines of `program`."""
    text = program(name, buffer).replace("int main() {", "int main() { for (int i = 0; i < 9; i++) {")
    return text.removesuffix("}\n") + "}}\n"


ISSUES = ("bug", "needless-refusal", "wrong-rewrite")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def bash(
    script: str, folder: Path, variables: Mapping[str, str] = {}, scripts: Path = Path(sys.executable).parent
) -> subprocess.CompletedProcess[str]:
    """Run a script as the runners do, with the `cudafix` of this environment, or of other `scripts`."""
    executable = shutil.which("bash")
    assert executable is not None
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [executable, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | IDENTITY | {"PATH": path} | dict(variables),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a clean commit (`base`) and one behind it that brings a pair which can move."""
    source = tmp_path / "src" / "a.cu"
    source.parent.mkdir()
    source.write_bytes(CLEAN)
    made = bash("git init -q -b main; git add -A; git commit -qm base; git tag base", tmp_path)
    assert made.returncode == 0, made.stderr
    source.write_text(comes_and_goes("a", "p"))
    assert bash("git commit -qam change", tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "docs/ci/github.yml"),
        ("vendor.github-workflows", ".github/workflows/ci.yml"),
        ("vendor.github-workflows", ".github/workflows/release.yml"),
        ("vendor.gitlab-ci", "docs/ci/gitlab.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        *(("vendor.github-issue-forms", f".github/ISSUE_TEMPLATE/{name}.yml") for name in ISSUES),
    ],
)
def test_it_fits_the_schema(schema: str, file: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def action(folder: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the action; what it did, and the log that it leaves for code scanning."""
    install, check = read("action.yml")["runs"]["steps"]
    asked = {value for step in (install, check) for value in step["env"].values()}
    named = {f"${{{{ inputs.{name} }}}}" for name in read("action.yml")["inputs"]}
    assert asked == named | {"${{ steps.install.outputs.command }}"}
    (folder / "output").unlink(missing_ok=True)
    variables = {name: inputs.get(name.lower(), "") for name in check["env"]} | {"COMMAND": "cudafix"}
    run = bash(check["run"], folder, {"GITHUB_OUTPUT": str(folder / "output"), **variables})
    assert (folder / "output").read_text() == "sarif=cudafix.sarif\n", run.stderr
    return run, json.loads((folder / "cudafix.sarif").read_text())


def test_the_action_fails_on_findings_and_annotates_them(repository: Path) -> None:
    run, log = action(repository)
    assert run.returncode == 1
    assert run.stdout.startswith("::warning file=src/a.cu,line=5,col=5,")
    assert len(log["runs"][0]["results"]) == 1


def test_the_action_takes_its_inputs(repository: Path) -> None:
    assert action(repository, since="base")[0].returncode == 1
    run, log = action(repository, since="HEAD")
    assert (run.returncode, log["runs"][0]["results"]) == (0, [])
    assert bash("cudafix check --baseline known.json --update-baseline", repository).returncode == 0
    assert action(repository, baseline="known.json", paths="src src/a.cu")[0].returncode == 0
    (repository / "other.toml").write_text("fail_on = []\n")
    assert action(repository, config="other.toml", arguments="--jobs 1 --no-cache")[0].returncode == 0


def test_the_action_fails_where_cudafix_cannot_work(repository: Path) -> None:
    _, check = read("action.yml")["runs"]["steps"]
    variables = {**dict.fromkeys(check["env"], ""), "COMMAND": "cudafix", "PATHS": "nothing", "GITHUB_OUTPUT": "output"}
    run = bash(check["run"], repository, variables)
    assert run.returncode == 1
    assert "no such file or folder" in run.stderr
    assert not (repository / "output").exists()


def test_the_workflow_uses_the_action_as_it_is() -> None:
    steps = read("docs/ci/github.yml")["jobs"]["check"]["steps"]
    (step,) = (step for step in steps if "cudafix@" in step.get("uses", ""))
    assert set(step["with"]) <= set(read("action.yml")["inputs"])
    (upload,) = (step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert set(read("action.yml")["outputs"]) == {"sarif", "command"}
    assert upload["with"]["sarif_file"] == "${{ steps.cudafix.outputs.sarif }}"


@pytest.mark.parametrize(("since", "code"), [("", 1), ("base", 1), ("HEAD", 0)])
def test_the_gitlab_job_leaves_its_reports(repository: Path, since: str, code: int) -> None:
    job = read("docs/ci/gitlab.yml")["cudafix"]
    variables = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": since} if since else {}
    run = bash("\n".join(job["script"]), repository, {"CI_PROJECT_DIR": str(repository), **variables})
    assert run.returncode == code, run.stderr
    named = job["artifacts"]["reports"]
    assert len(json.loads((repository / named["codequality"]).read_text())) == code
    assert f'failures="{code}"' in (repository / named["junit"]).read_text()
    assert bash("\n".join(job["before_script"]), repository).returncode != 0  # CUDAFIX is not set


def test_the_hook_is_named_by_the_tag_of_a_release() -> None:
    text = (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n# \.pre-commit-config\.yaml\n(.*?)```", text, re.DOTALL)
    (repository,) = yaml.safe_load(shown)["repos"]
    assert repository["rev"] == f"v{__version__}"
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in read(".pre-commit-hooks.yaml")]


def test_the_hook_looks_at_what_is_about_to_be_committed(repository: Path) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    assert bash(hook["entry"], repository).returncode == 0  # what is committed already passes
    (repository / "src" / "b.cu").write_bytes(reports.TREE["src/race.cu"])
    bash("git add -A", repository)
    run = bash(hook["entry"], repository)
    assert run.returncode == 1
    assert "src/b.cu:9:5: wait_between_streams: " in run.stdout
    assert "stream_ordered_pairs" not in run.stdout


# ---------------------------------------------------------------------------------------------------------------------
# as a runner does it


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installation from the repository gets."""
    folder = tmp_path_factory.mktemp("published") / "cudafix"
    for name in ("cudafix", "codemods"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs" / "man", folder / "docs" / "man")
    for name in ("pyproject.toml", "README.md", "LICENSE", "action.yml"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def scripts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `bin` of an environment without cudafix, which finds what it needs without a network."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    (own,) = folder.glob("lib/python*/site-packages")
    for old in own.glob("setuptools*"):  # Python 3.11 brings one that is too old
        shutil.rmtree(old)
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # pip reads it as: no isolation
    return folder / "bin"


def replaced(text: str, expressions: Mapping[str, str]) -> str:
    """A value of a workflow with its expressions replaced; `KeyError` for one that is not among `expressions`."""
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: expressions[found[1]], text)


BASE = "github.base_ref && format('origin/{0}', github.base_ref) || ''"


@pytest.mark.parametrize(("base", "findings"), [("main", 1), ("", 2)])
def test_the_workflow_runs_from_the_checkout_to_the_report(
    tmp_path: Path, scripts: Path, published: Path, base: str, findings: int
) -> None:
    origin, work = tmp_path / "origin", tmp_path / "work"
    (origin / "src").mkdir(parents=True)
    (origin / "src" / "a.cu").write_text(comes_and_goes("a", "p"))
    setup = "git init -q -b main; git add -A; git commit -qm base; git checkout -qb topic"
    assert bash(setup, origin).returncode == 0
    (origin / "src" / "b.cu").write_text(comes_and_goes("b", "q"))
    assert bash("git add -A; git commit -qm change", origin).returncode == 0
    workflow, action = read("docs/ci/github.yml")["jobs"]["check"], read("action.yml")
    assert workflow["steps"].pop(0)["uses"].startswith("actions/checkout@")
    assert bash(f"git clone -q {origin} {work}", tmp_path).returncode == 0
    expressions = {"github.workspace": str(work), BASE: f"origin/{base}" if base else ""}
    variables = {name: replaced(value, expressions) for name, value in workflow["env"].items()}
    (ours,) = (step for step in workflow["steps"] if step["uses"] == f"OWNER/cudafix@v{__version__}")
    inputs = {f"inputs.{name}": given["default"] for name, given in action["inputs"].items()}
    inputs |= {f"inputs.{name}": replaced(value, expressions) for name, value in ours["with"].items()}
    outputs = tmp_path / "outputs"
    codes = []
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        own = {name: replaced(value, inputs) for name, value in step.get("env", {}).items()}
        own |= {"GITHUB_ACTION_PATH": str(published), "GITHUB_OUTPUT": str(outputs), "RUNNER_TEMP": str(tmp_path)}
        own |= {"PYTHONPATH": sysconfig.get_path("purelib")}  # what cudafix needs, without a network
        done = bash(step["run"], work, {**variables, **own}, scripts)
        codes.append(done.returncode)
        if "id" in step:
            written = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
            inputs |= {f"steps.{step['id']}.outputs.{name}": value for name, value in written.items()}
        assert done.returncode in (0, 1), done.stderr
    assert codes == [0, 1], done.stderr  # installed; findings
    assert done.stdout.count("::warning file=src/") == findings
    sarif = replaced(action["outputs"]["sarif"]["value"], inputs)
    (upload,) = (step for step in workflow["steps"] if "upload-sarif" in step["uses"])
    named = replaced(upload["with"]["sarif_file"], {f"steps.{ours['id']}.outputs.sarif": sarif})
    assert len(json.loads((work / named).read_text())["runs"][0]["results"]) == findings
    assert list((work / ".cache" / "cudafix").iterdir())  # what actions/cache keeps


def test_the_gitlab_job_runs_from_the_installation_to_its_reports(
    repository: Path, scripts: Path, published: Path
) -> None:
    job = read("docs/ci/gitlab.yml")["cudafix"]
    given = {"CI_PROJECT_DIR": str(repository), "CUDAFIX": str(published)}
    variables = {name: value.replace("$CI_PROJECT_DIR", str(repository)) for name, value in job["variables"].items()}
    run = bash("\n".join([*job["before_script"], *job["script"]]), repository, {**given, **variables}, scripts)
    assert run.returncode == 1, run.stderr
    assert len(json.loads((repository / job["artifacts"]["reports"]["codequality"]).read_text())) == 1
    assert [(repository / path).is_dir() for path in job["cache"]["paths"]] == [True]
