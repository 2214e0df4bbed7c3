"""What makes `check` fail: defects and pairs that come and go, or what `fail_on` and `--fail-on` say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cudafix.cli.main import main
from tests import reports

FILES = {
    "defects": "src/race.cu",
    "churn": "src/loop.cu",
    "once": "src/once.cu",
    "refusals": "src/refused.cu",
}
ONCE = """#include <cuda_runtime.h>
__global__ void fill(float *p) { p[0] = 1; }
int main() {
    float *d;
    cudaMalloc(&d, 4);
    fill<<<1, 1>>>(d);
    cudaFree(d);
}
"""
LOOP = ONCE.replace("int main() {", "int main() { for (int i = 0; i < 9; i++) {").replace("d);\n}", "d);\n}}")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "once.cu").write_text(ONCE)
    (tmp_path / "src" / "loop.cu").write_text(LOOP)
    for name in ("src/race.cu", "src/refused.cu"):
        (tmp_path / name).write_bytes(reports.TREE[name])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("on", [None, "none", "defects", "churn", "once", "refusals", "churn,refusals", "once, churn"])
@pytest.mark.parametrize("configured", [False, True])
def test_each_kind_fails_where_it_is_named(
    tree: Path, capsys: pytest.CaptureFixture[str], on: str | None, configured: bool
) -> None:
    kinds = {"defects", "churn"} if on is None else set(re.findall(r"\w+", on)) - {"none"}
    arguments: tuple[str, ...] = ("--fail-on", on) if on is not None else ()
    if configured and on is not None:
        (tree / "cudafix.toml").write_text(f"fail_on = {json.dumps(sorted(kinds))}\n")
        arguments = ()
    for kind, file in FILES.items():
        assert check(capsys, file, *arguments)[0] == (kind in kinds), kind
    code, out, _ = check(capsys, "--format", "json", *arguments)
    assert code == bool(kinds)
    failing = {result["path"] for result in json.loads(out)["results"] if result["fails"]}
    assert failing == {FILES[kind] for kind in kinds}
    root = ElementTree.fromstring(check(capsys, "--format", "junit", *arguments)[1])
    assert {case.get("file") for case in root.iter("testcase") if case.find("failure") is not None} == failing
    quiet = check(capsys, "-q", "--format", "concise", *arguments)[1].splitlines()
    assert {line.split(":")[0] for line in quiet} == failing


def test_the_command_line_is_stronger_than_the_configuration(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "cudafix.toml").write_text('fail_on = ["once"]\n')
    assert check(capsys, FILES["once"])[0] == 1
    assert check(capsys, FILES["once"], "--fail-on", "defects")[0] == 0


def test_pairs_that_run_once_are_told_and_applied(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(capsys, FILES["once"])
    assert code == 0
    assert "stream_ordered_pairs: moves to stream `0` (once)" in out
    assert check(capsys, FILES["once"], "--format", "github")[1].startswith("::notice file=src/once.cu,")
    with pytest.raises(SystemExit):
        main(["apply", FILES["once"]])
    assert "cudaMallocAsync" in (tree / FILES["once"]).read_text()


def test_refusals_that_fail_are_warnings_and_a_baseline_knows_them(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = (FILES["refusals"], "--fail-on", "refusals")
    assert check(capsys, *how, "--format", "github")[1].startswith("::warning file=src/refused.cu,")
    assert check(capsys, *how, "--baseline", "known.json", "--update-baseline")[0] == 0
    code, out, _ = check(capsys, *how, "--baseline", "known.json", "--format", "concise")
    assert (code, out) == (0, "")
    (tree / FILES["refusals"]).write_bytes(reports.TREE[FILES["refusals"]].replace(b"&d", b"&d "))
    assert check(capsys, *how, "--baseline", "known.json")[0] == 1


@pytest.mark.parametrize("value", ["pairs", "defects,pairs", ""])
def test_an_unknown_kind_is_named(tree: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    code, _, err = check(capsys, "--fail-on", value)
    assert code == 2
    assert "is none of defects, churn, once, refusals and `none`" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fail_on = ["defect"]', "unknown value of `fail_on` `defect`; did you mean `defects`?"),
        ('fail_on = "churn"', '`fail_on` must be a list, as in `["defects", "churn"]`'),
    ],
)
def test_a_wrong_value_in_the_configuration_is_an_error(
    tree: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tree / "cudafix.toml").write_text(text)
    code, _, err = check(capsys)
    assert code == 2
    assert said in err
