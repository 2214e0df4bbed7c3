"""`// cudafix: ignore[name] reason`: what it holds back, where, and what is said about a wrong one."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from cudafix.cli import main as cli
from tests.cli.test_reports import SCHEMA

HEAD = "#include <cuda_runtime.h>\n__global__ void k(float *p) { p[0] = 1; }\n"
NAME = "stream_ordered_pairs"
WHY = f"cudafix: ignore[{NAME}] shared by address"


def two(first: str = "", middle: str = "", second: str = "", before: str = "", behind: str = "") -> str:
    """Two pairs that can move, on the lines 5 and 7, and places for comments."""
    return (
        f"{HEAD}{before}\nint main() {{ float *p, *q;\n    cudaMalloc(&p, 4);{first}\n    k<<<1, 1>>>(p);{middle}\n"
        f"    cudaMalloc(&q, 4);{second}\n    k<<<1, 1>>>(q);\n    cudaFree(p);\n    cudaFree(q);{behind}\n}}\n"
    )


class Cudafix:
    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, list[str], str]:
        """Exit code, the headlines, and the rest of what is said."""
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, *(("--fail-on", "defects,churn,once") if arguments[0] == "check" else ())])
        out, err = self._capture.readouterr()
        return int(ended.value.code or 0), [line for line in out.splitlines() if line.startswith("a.cu:")], out + err


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cudafix:
    monkeypatch.chdir(tmp_path)
    return Cudafix(capfd)


def lines(headlines: list[str]) -> list[int]:
    return [int(line.split(":")[1]) for line in headlines]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (two(), [5, 7]),
        (two(first=f" // {WHY}"), [7]),
        (two(first=f" /* {WHY} */"), [7]),
        (two(first=f" // note // {WHY}"), [7]),
        (two(middle=f"\n    // {WHY}\n    // and more"), [5]),
        (two(middle=f"\n    // {WHY}\n"), [5]),
        (two(before=f"// {WHY}"), []),
        (two(before=f"// cudafix: ignore-file[{NAME}] all of it"), []),
        (two(behind=f"\n// cudafix: ignore-file[free_not_found, {NAME}] all of it"), None),
        (two(first=f' printf("// {WHY}");'), [5, 7]),
    ],
)
def test_what_it_holds_back(run: Cudafix, text: str, left: list[int] | None) -> None:
    Path("a.cu").write_text(text)
    code, headlines, said = run("check")
    if left is None:  # the name that is not needed is told
        assert [line.split(": ", 2)[1] for line in headlines] == ["suppression"]
    else:
        found = [line for line in headlines if " stream_ordered_pairs: " in line]
        assert lines(found) == left
        assert "suppression:" not in said
        assert code == (1 if left else 0)
        assert (f"{2 - len(left)} left: suppressed" in said) is (len(left) < 2)


def test_a_statement_of_several_lines(run: Cudafix) -> None:
    text = two().replace("cudaMalloc(&p, 4);", f"cudaMalloc(&p,\n        4); // {WHY}")
    Path("a.cu").write_text(text)
    assert lines(run("check")[1]) == [8]


def test_a_function_before_which_it_stands_and_no_other(run: Cudafix) -> None:
    other = "static void g() {\n    float *r;\n    cudaMalloc(&r, 4);\n    cudaFree(r);\n}\n"
    Path("a.cu").write_text(two(before=f"// {WHY}\n{other}").replace("float *p, *q;", "float *p, *q; g();"))
    assert lines(run("check")[1]) == [11, 13]


def test_apply_leaves_what_is_suppressed_and_what_moves_with_it(run: Cudafix) -> None:
    Path("a.cu").write_text(two(first=f" // {WHY}"))
    run("apply")
    text = Path("a.cu").read_text()
    assert f"cudaMalloc(&p, 4); // {WHY}\n" in text
    assert "cudaFree(p);" in text
    assert "cudaMallocAsync(&q" in text


def test_a_refusal_is_suppressed_by_its_name(run: Cudafix) -> None:
    source = f"{HEAD}int main() {{\n    float *p;\n    cudaMalloc(&p, 4);COMMENT\n}}\n"
    Path("a.cu").write_text(source.replace("COMMENT", " // cudafix: ignore[free_not_found] lives until the end"))
    code, headlines, said = run("check")
    assert (code, headlines) == (0, [])
    assert "1 left: suppressed" in said


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        (f"cudafix: ignore[{NAME}]", f"`ignore[{NAME}]` needs a reason behind it"),
        (f"cudafix: ignore[{NAME}] --", f"`ignore[{NAME}]` needs a reason behind it"),
        ("cudafix: ignore why", "`ignore` needs the names of codemods or refusals: `ignore[name] reason`"),
        ("cudafix: ignore[] why", "`ignore` needs the names of codemods or refusals: `ignore[name] reason`"),
        ("cudafix: ignore[escape] why", "no codemod and no refusal is named `escape`; did you mean `escapes`?"),
        ("cudafix: ignore[escapes] why", "`ignore[escapes]` is not needed: nothing of that name is here"),
    ],
)
def test_a_wrong_one_is_reported_and_holds_nothing_back(run: Cudafix, comment: str, message: str) -> None:
    Path("a.cu").write_text(two(first=f" // {comment}"))
    code, headlines, _ = run("check")
    assert code == 1
    assert f"a.cu:5:24: suppression: {message}" in headlines
    assert len(headlines) == 3


def test_fix_suppressions_takes_out_what_is_not_needed_and_nothing_else(run: Cudafix) -> None:
    text = two(
        first=f" // cudafix: ignore[escapes, {NAME}] two names",
        second=" // cudafix: ignore[escapes] why",
        before="// cudafix: ignore-file[budget] large",
        behind=f"\n    // {WHY}",
    )
    text = text.replace("}\n", "} // cudafix: ignore[nothing] wrong, but not unneeded\n")
    Path("a.cu").write_bytes(text.replace("\n", "\r\n").encode())
    code, headlines, said = run("check", "--fix-suppressions")
    assert "cudafix: took out 4 suppressions\n" in said
    after = Path("a.cu").read_bytes().decode()
    assert f"cudaMalloc(&p, 4); // cudafix: ignore[{NAME}] two names\r\n" in after
    assert "    cudaMalloc(&q, 4);\r\n    k" in after
    assert "budget" not in after
    assert WHY not in after
    assert "ignore[nothing]" in after
    assert code == 1
    assert all("suppression: no codemod" in line or NAME in line for line in headlines)
    assert "took out 0 suppressions" in run("check", "--fix-suppressions")[2]


def test_what_the_run_did_not_look_for_is_not_called_unneeded(run: Cudafix) -> None:
    Path("a.cu").write_text(two(first=f" // {WHY}"))
    assert "suppression:" not in run("check", "--only", "churn")[2]
    Path("b.cu").write_text(HEAD + "int x; // cudafix: ignore[wait_between_streams] off here\n")
    Path("cudafix.toml").write_text("codemods = { wait_between_streams = false }\n")
    assert "suppression:" not in run("check")[2]


PYTHON = """from cuda.bindings import runtime as rt


{before}
def main():
    error, p = rt.cudaMalloc(4){behind}
    rt.cudaFree(p)


main()
"""


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        ("", "", 1),
        ("", "  # cudafix: ignore[python_stream_ordered_pairs] a test", 0),
        ("# cudafix: ignore[python_stream_ordered_pairs] a test", "", 0),
        ("# cudafix: ignore-file[python_stream_ordered_pairs] a test", "", 0),
        ("X = '# cudafix: ignore-file[python_stream_ordered_pairs] text'", "", 1),
    ],
)
def test_python(run: Cudafix, before: str, behind: str, found: int) -> None:
    Path("a.py").write_text(PYTHON.format(before=before, behind=behind))
    code, _, said = run("check")
    assert code == found, said
    assert said.count("suppression") == 0


CELL = "python_stream_ordered_pairs"


def notebook(*cells: str, one_string: bool) -> bytes:
    made: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": cell if one_string else cell.splitlines(keepends=True),
        }
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


@pytest.mark.parametrize("one_string", [False, True])
@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        ("", "", 2),
        ("", f"  # cudafix: ignore[{CELL}] a test", 1),
        (f"\n# cudafix: ignore[{CELL}] a test", "", 1),
        (f"\n# cudafix: ignore-file[{CELL}] a test", "", 0),
    ],
)
def test_cells_of_a_notebook(run: Cudafix, before: str, behind: str, found: int, one_string: bool) -> None:
    cells = (
        "from cuda.bindings import runtime as rt" + before,
        "error, p = rt.cudaMalloc(4)" + behind + "\nerror, q = rt.cudaMalloc(4)",
        "rt.cudaFree(p)\nrt.cudaFree(q)",
    )
    Path("a.ipynb").write_bytes(notebook(*cells, one_string=one_string))
    _, _, said = run("check", "--unsafe")
    assert said.count(f": {CELL}: moves") == found, said
    assert "suppression:" not in said


@pytest.mark.parametrize("one_string", [False, True])
def test_what_is_not_needed_in_a_notebook_is_taken_out(run: Cudafix, one_string: bool) -> None:
    cells = [
        f"%time 1\nfrom cuda.bindings import runtime as rt\n# cudafix: ignore-file[{CELL}] gone\nx = 1",
        f"y = 1  # cudafix: ignore[{CELL}] gone",
        f"error, p = rt.cudaHostAlloc(4, 0)\n# cudafix: ignore[{CELL}] gone",
    ]
    Path("a.ipynb").write_bytes(notebook(*cells, one_string=one_string))
    code, _, said = run("check")
    assert code == 1
    assert said.count("is not needed") == 3
    assert run("check", "--fix-suppressions")[0] == 0
    left = [cell.replace(f"# cudafix: ignore-file[{CELL}] gone\n", "") for cell in cells]
    left = [
        cell.replace(f"  # cudafix: ignore[{CELL}] gone", "").replace(f"# cudafix: ignore[{CELL}] gone", "")
        for cell in left
    ]
    read = json.loads(Path("a.ipynb").read_bytes())["cells"]
    assert ["".join(cell["source"]).rstrip("\n") for cell in read] == [cell.rstrip("\n") for cell in left]


def test_a_report_keeps_what_is_suppressed_with_its_reason(run: Cudafix, capfd: pytest.CaptureFixture[str]) -> None:
    refused = "float *r;\n    cudaMalloc(&r, 4); // cudafix: ignore[free_not_found] lives on\n}\n"
    Path("a.cu").write_text(two(first=f" // {WHY}").removesuffix("}\n") + "    " + refused)
    with pytest.raises(SystemExit):
        cli.main(["check", "--format", "sarif"])
    log = json.loads(capfd.readouterr().out)
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    results = log["runs"][0]["results"]
    held = {r["ruleId"]: r["suppressions"][0]["justification"] for r in results if "suppressions" in r}
    assert held == {NAME: "shared by address", "free_not_found": "lives on"}
    assert len(results) == 3
    for name, found in (("gitlab", 1), ("json", 3)):
        with pytest.raises(SystemExit):
            cli.main(["check", "--format", name])
        data = json.loads(capfd.readouterr().out)
        assert len(data if name == "gitlab" else data["results"]) == found


def test_explain_has_a_page(run: Cudafix) -> None:
    code, _, said = run("explain", "suppression")
    assert code == 0
    assert "--fix-suppressions" in said


IGNORE = f"""[[ignore]]
files = ["vendor/"]
names = ["{NAME}", "free_not_found"]
reason = "kept as its authors wrote it"
"""


def test_the_configuration_ignores_results_of_files_that_take_no_comment(run: Cudafix) -> None:
    Path("vendor").mkdir()
    for path in ("a.cu", "vendor/b.cu"):
        Path(path).write_text(two())
    Path("cudafix.toml").write_text(IGNORE)
    code, headlines, said = run("check")
    assert (code, lines(headlines)) == (1, [5, 7])
    assert "vendor/b.cu" not in said
    assert "2 left: suppressed" in said
    assert "not needed" not in said
    assert run("diff", "vendor")[2].startswith("0 fixes") or "vendor/b.cu" not in run("diff", "vendor")[2]
    log = json.loads(run("check", "--format", "sarif", "-q", "vendor")[2] or "{}")
    assert log["runs"][0]["results"] == []
    held = json.loads(sarif_of(run))["runs"][0]["results"]
    assert [one["suppressions"] for one in held] == [[{"kind": "external", "justification": WHY_NOT}]] * 2


WHY_NOT = "kept as its authors wrote it"


def sarif_of(run: Cudafix) -> str:
    said = run("check", "--format", "sarif", "vendor")[2]
    return said[: said.rindex("}") + 1]


def test_what_the_configuration_ignores_in_vain_is_said(run: Cudafix) -> None:
    Path("vendor").mkdir()
    Path("vendor/b.cu").write_text(HEAD)
    Path("a.cu").write_text(two())
    Path("cudafix.toml").write_text(IGNORE)
    line = f"cudafix: `ignore` of {NAME}, free_not_found in vendor/ is not needed: nothing of it is there"
    assert line in run("check")[2]
    assert "not needed" not in run("check", "--quiet")[2]
    assert "not needed" not in run("check", "a.cu")[2]  # its files were not looked at


@pytest.mark.parametrize(
    "text",
    [
        two(first=f" // note: {WHY}"),
        two(first=f" /* note\n  {WHY} */"),
        two(first=f' printf("x"); // see {WHY}'),
    ],
)
def test_in_the_middle_of_a_comment_it_holds_nothing_and_says_so(run: Cudafix, text: str) -> None:
    Path("a.cu").write_text(text)
    code, headlines, said = run("check", "--no-cache")
    assert code == 1
    assert sum(" stream_ordered_pairs: " in line for line in headlines) == 2
    assert "suppression: `cudafix: ignore` holds nothing back in the middle of a comment" in said


def test_in_a_string_it_is_no_comment(run: Cudafix) -> None:
    Path("a.cu").write_text(two(first=f' printf("{WHY}"); printf("// {WHY}");'))
    assert "suppression" not in run("check", "--no-cache")[2]


def test_in_the_middle_of_a_comment_of_python_too(run: Cudafix) -> None:
    Path("a.py").write_text(f"from cuda.bindings import runtime  # see {WHY}\ny = 'cudafix: ignore[a]'\n")
    said = run("check", "--no-cache")[2]
    assert said.count("holds nothing back in the middle") == 1
    assert "a.py:1:42: suppression" in said
