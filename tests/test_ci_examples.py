"""The pre-commit hook, the GitHub Action and the GitLab template: they fit their schemas, and what they call works.

Their commands are run as they stand, but for the installation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import reports
from tests.test_baseline import program

ROOT = Path(__file__).parents[1]
CLEAN = b"#include <cuda_runtime.h>\nint main() { cudaFree(0); }\n"
IDENTITY = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def bash(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as the runners do, with the `cudafix` of this environment."""
    executable = shutil.which("bash")
    assert executable is not None
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [executable, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | IDENTITY | {"PATH": path} | variables,
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
    source.write_text(program("a", "p"))
    assert bash("git commit -qam change", tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "docs/ci/github.yml"),
        ("vendor.gitlab-ci", "docs/ci/gitlab.yml"),
    ],
)
def test_it_fits_the_schema(schema: str, file: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def action(folder: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the action; what it did, and the log that it leaves for code scanning."""
    install, check = read("action.yml")["runs"]["steps"]
    assert install["run"] == 'python3 -m pip install --quiet "$GITHUB_ACTION_PATH"'
    assert set(check["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in read("action.yml")["inputs"]}
    (folder / "output").unlink(missing_ok=True)
    variables = {name: inputs.get(name.lower(), "") for name in check["env"]}
    run = bash(check["run"], folder, GITHUB_OUTPUT=str(folder / "output"), **variables)
    assert (folder / "output").read_text() == "sarif=cudafix.sarif\n", run.stderr
    return run, json.loads((folder / "cudafix.sarif").read_text())


def test_the_action_fails_on_findings_and_annotates_them(repository: Path) -> None:
    run, log = action(repository)
    assert run.returncode == 1
    assert run.stdout.startswith("::notice file=src/a.cu,line=5,col=5,")
    assert len(log["runs"][0]["results"]) == 1


def test_the_action_takes_its_inputs(repository: Path) -> None:
    assert action(repository, since="base")[0].returncode == 1
    run, log = action(repository, since="HEAD")
    assert (run.returncode, log["runs"][0]["results"]) == (0, [])
    assert bash("cudafix check --baseline known.json --update-baseline", repository).returncode == 0
    assert action(repository, baseline="known.json", paths="src src/a.cu")[0].returncode == 0


def test_the_action_fails_where_cudafix_cannot_work(repository: Path) -> None:
    _, check = read("action.yml")["runs"]["steps"]
    variables = {"PATHS": "nothing", "BASELINE": "", "SINCE": "", "GITHUB_OUTPUT": "output"}
    run = bash(check["run"], repository, **variables)
    assert run.returncode == 1
    assert "no such file or folder" in run.stderr
    assert not (repository / "output").exists()


def test_the_workflow_uses_the_action_as_it_is() -> None:
    steps = read("docs/ci/github.yml")["jobs"]["check"]["steps"]
    (step,) = (step for step in steps if "cudafix@" in step.get("uses", ""))
    assert set(step["with"]) <= set(read("action.yml")["inputs"])
    (upload,) = (step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert set(read("action.yml")["outputs"]) == {"sarif"}
    assert upload["with"]["sarif_file"] == "${{ steps.cudafix.outputs.sarif }}"


@pytest.mark.parametrize(("since", "code"), [("", 1), ("base", 1), ("HEAD", 0)])
def test_the_gitlab_job_leaves_its_reports(repository: Path, since: str, code: int) -> None:
    job = read("docs/ci/gitlab.yml")["cudafix"]
    variables = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": since} if since else {}
    run = bash("\n".join(job["script"]), repository, CI_PROJECT_DIR=str(repository), **variables)
    assert run.returncode == code, run.stderr
    named = job["artifacts"]["reports"]
    assert len(json.loads((repository / named["codequality"]).read_text())) == code
    assert f'failures="{code}"' in (repository / named["junit"]).read_text()
    assert bash("\n".join(job["before_script"]), repository).returncode != 0  # CUDAFIX is not set


def test_the_hook_looks_at_what_is_about_to_be_committed(repository: Path) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    assert bash(hook["entry"], repository).returncode == 0  # what is committed already passes
    (repository / "src" / "b.cu").write_bytes(reports.TREE["src/race.cu"])
    bash("git add -A", repository)
    run = bash(hook["entry"], repository)
    assert run.returncode == 1
    assert "src/b.cu:9:5: wait_between_streams: " in run.stdout
    assert "stream_ordered_pairs" not in run.stdout
