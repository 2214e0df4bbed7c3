"""`cudafix.check`: the supported way from Python to what the command `check` finds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cudafix
from cudafix.cli import main as cli
from cudafix.report.suppressions import ignoring
from cudafix.rewrite import edits
from tests import reports

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    for path, data in reports.TREE.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_results_are_those_of_the_json_report(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = cudafix.check("src")
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "src", "--format", "json"])
    written = json.loads(capfd.readouterr().out)["results"]
    keys = "rule", "level", "path", "line", "column", "end_line", "end_column", "message", "fingerprint"
    told = [(r.rule, r.level.value, r.path, *r.region, r.message, r.fingerprint) for r in report.results]
    assert told == [tuple(result[key] for key in keys) for result in written]
    assert len(report.findings) + len(report.refusals) == len(report.results)
    assert ended.value.code == bool(report.failing)


def test_the_fixes_are_those_of_apply(tree: Path) -> None:
    fixed = cudafix.check().fixed()
    with pytest.raises(SystemExit):
        cli.main(["apply", "-q", "--allow-dirty"])
    assert fixed.keys() == {path for path, data in reports.TREE.items() if (tree / path).read_bytes() != data}
    assert fixed == {path: (tree / path).read_bytes() for path in fixed}


def test_one_fix_brings_all_that_moves_with_it_and_no_other(tree: Path) -> None:
    report = cudafix.check("src/two pairs.cu")
    once = next(result for result in report.findings if result.runs is cudafix.Runs.ONCE)
    (text,) = report.fixed([once]).values()
    assert (text.count(b"cudaMallocAsync"), text.count(b"cudaFreeAsync")) == (1, 1)
    for edit in once.edits:
        assert report.sources[edit.path][edit.start : edit.end] == b""


def test_a_fix_that_assumes_is_made_where_it_is_wanted(tree: Path) -> None:
    report = cudafix.check("src/assumed.cu")
    assert report.fixed() == {}
    assert b"cudaMallocAsync" in report.fixed(report.findings)["src/assumed.cu"]
    asserted = cudafix.Config(assume=dict.fromkeys({a.name for a in report.findings[0].assumptions}, ("*",)))
    assert cudafix.check("src/assumed.cu", asserted).fixed() != {}


def test_a_text_stands_in_place_of_the_file_or_of_one_that_is_not_there(tree: Path) -> None:
    data = reports.TREE["src/refused.cu"]
    freed = data.replace(b"}\n", b"    cudaFree(d);\n}\n")
    for paths in ((), "src", "src/refused.cu"):
        report = cudafix.check(paths, texts={"src/refused.cu": freed, "src/new.cu": data})
        rules = {result.rule for result in report.results if result.path == "src/refused.cu"}
        assert rules == {"stream_ordered_pairs"}
        assert [r.rule for r in report.results if r.path == "src/new.cu"] == ["free_not_found"] * (
            not paths or paths == "src"
        )
    assert (tree / "src/refused.cu").read_bytes() == data


def test_proofs_are_shown_where_they_are_asked_for(tree: Path) -> None:
    (result,) = cudafix.check("src/race.cu", proofs=True).findings
    assert result.proof
    assert all(place.path == "src/race.cu" for clause in result.proof for place in clause.places)


def test_what_cannot_be_looked_at_is_an_error_with_a_line_for_each(tree: Path) -> None:
    with pytest.raises(cudafix.InputError, match=r"^nowhere\.cu: no such file or folder$"):
        cudafix.check("nowhere.cu")
    (tree / "cudafix.toml").write_text("excluded = []")
    with pytest.raises(cudafix.InputError, match="unknown key `excluded`"):
        cudafix.check()


def test_the_example_of_the_reference_does_what_it_says(tree: Path) -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    code, said = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)[:2]
    for name in ("assumed.cu", "refused.cu", "two pairs.cu"):
        (tree / "src" / name).unlink()
    (tree / "src" / "main.cu").write_bytes(
        b"#include <cuda_runtime.h>\n__global__ void k(float *p) { p[0] = 1; }\nint main() {\n    float *d;\n"
        b"    cudaMalloc(&d, 4);\n    k<<<1, 1>>>(d);\n    cudaFree(d);\n}\n"
    )
    (tree / "src" / "race.cu").unlink()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.stdout) == ("", said)
    assert b"cudaMallocAsync" in (tree / "src" / "main.cu").read_bytes()


def test_every_name_of_the_package_is_there() -> None:
    assert all(getattr(cudafix, name) is not None for name in cudafix.__all__)
    with pytest.raises(AttributeError):
        cudafix.chekc  # type: ignore[attr-defined]  # noqa: B018


def test_standard_input_is_the_text_of_a_file(tree: Path) -> None:
    data = reports.TREE["src/refused.cu"].replace(b"}\n", b"    cudaFree(d);\n}\n")

    def check(*options: str) -> tuple[int, str, str]:
        command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "check", *options]
        ran = subprocess.run(command, input=data, capture_output=True, check=False)
        return ran.returncode, ran.stdout.decode(), ran.stderr.decode()

    for paths in ((), ("src/refused.cu",), ("src",)):
        code, out, _ = check("--stdin-filename", "src/refused.cu", "-q", "--fail-on", "defects,once", *paths)
        assert code == 1
        assert "src/refused.cu:4:5: stream_ordered_pairs" in out
        assert ("src/race.cu" in out) == (paths == ("src",))
    assert check("--stdin-filename", "src/new.cu", "-q", "--fail-on", "defects,once")[1].startswith(
        "src/new.cu:4:5: stream_ordered_pairs"
    )
    code, _, error = check("--stdin-filename", "src/refused.txt")
    assert (code, "not a CUDA source" in error) == (2, True)
    code, _, error = check("--stdin-filename", "src/refused.cu", "--fix-suppressions")
    assert (code, "only reports" in error) == (2, True)


@pytest.mark.parametrize(
    ("path", "text", "after"),
    [
        ("a.cu", "int f() {\n    @g(x);\n}\n", "int f() {\n    g(x); // cudafix: ignore[free_not_found] why\n}\n"),
        (
            "a.cu",
            "int f() {\r\n    @g(x);\r\n}\r\n",
            "int f() {\r\n    g(x); // cudafix: ignore[free_not_found] why\r\n}\r\n",
        ),
        (
            "a.cu",
            "int f() {\n    C(@g(x,\n        y));\n}\n",
            "int f() {\n    C(g(x,\n        y)); // cudafix: ignore[free_not_found] why\n}\n",
        ),
        (
            "a.cu",
            f"int f() {{\n    @g({'x' * 90});\n}}\n",
            f"int f() {{\n    // cudafix: ignore[free_not_found] why\n    g({'x' * 90});\n}}\n",
        ),
        ("a.cu", "#define M \\\n    @g(x); \\\n    h()\nint f() { M; }\n", None),
        ("a.py", "def f():\n    @g(x)\n", "def f():\n    g(x) # cudafix: ignore[free_not_found] why\n"),
        (
            "a.py",
            "def f():\n    @g(x,\n      y)\n",
            "def f():\n    g(x,\n      y) # cudafix: ignore[free_not_found] why\n",
        ),
        ("a.ipynb", "@{}", None),
    ],
)
def test_a_comment_is_written_where_it_holds_the_result_back(path: str, text: str, after: str | None) -> None:
    data = text.replace("@", "").encode()
    edit = ignoring(path, data, "free_not_found", text.index("@"), "why")
    assert (edits.apply(data, [edit]).decode() if edit is not None else None) == after


def test_what_a_build_says_now_counts_in_a_process_that_asked_before(tree: Path) -> None:
    def lies_on(said: str) -> bool:
        (tree / "CMakeLists.txt").write_text(f"project(p LANGUAGES CUDA)\nadd_executable(p src/race.cu)\n{said}")
        results = cudafix.check("src/two pairs.cu").results
        return any(one.name == "legacy_default_stream" for result in results for one in result.defaults)

    (tree / "CMakeLists.txt").unlink(missing_ok=True)
    assert any(result.defaults for result in cudafix.check("src/two pairs.cu").results)  # no build says it
    assert not lies_on("")
