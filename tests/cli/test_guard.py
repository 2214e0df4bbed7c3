"""`guard = true`: the rewritten code beside the code as it was, for a CUDA before 11.2."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Edit, Finding
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.report.selection import Selection, select
from cudafix.rewrite.edits import apply
from cudafix.rewrite.guard import CONDITION, guarded
from cudafix.verify import nvcc
from cudafix.verify.cases import sources_of
from tests.cases import Case, cases

pytestmark = pytest.mark.exhaustive

OLD = Config(cuda=(11, 0))
GUARDED = Config(cuda=(11, 0), guard=True)
CUDA = [case for case in cases() if not any(path.endswith(".py") for path in case.files("before"))]
HEAD = "#include <cuda_runtime.h>\n#define CHECK(x) do { if ((x) != cudaSuccess) return 1; } while (0)\n"
HEAD += "__global__ void k(float *p) { p[0] = 1; }\n"


def rewritten(files: dict[str, bytes], config: Config = GUARDED) -> dict[str, bytes]:
    selection = select(analyze(files, config), config, guarded=files)
    changes = selection.edits()
    return {path: apply(data, changes.get(path, ())) for path, data in files.items()}


def body(text: str) -> str:
    """What becomes of the statements of a `main`."""
    data = f"{HEAD}int main() {{\n{text}}}\n".encode()
    return rewritten({"a.cu": data})["a.cu"].decode().removeprefix(f"{HEAD}int main() {{\n").removesuffix("}\n")


def old_branches(data: bytes) -> bytes:
    """The text that a CUDA before 11.2 compiles."""
    pattern = re.escape(CONDITION) + rb"\r?\n.*?#else\r?\n(.*?)\r?\n?#endif"
    return re.sub(pattern, rb"\1", data, flags=re.DOTALL)


@pytest.mark.parametrize("case", CUDA, ids=lambda case: case.id)
def test_a_guarded_rewrite_is_proved_changes_nothing_again_and_keeps_the_old_text(case: Case) -> None:
    before = sources_of(case.files("before"))
    after = rewritten(before)
    assert prove(before, after) == [] or before == after
    assert rewritten(after) == after
    for path, data in before.items():
        assert old_branches(after[path]) == data


def test_a_guarded_rewrite_compiles(tmp_path: Path) -> None:
    compiler = nvcc.find()
    if compiler is None:
        pytest.skip(nvcc.MISSING)
    text = rewritten({"a.cu": f"{HEAD}int main() {{\n{LINES}}}\n".encode()})["a.cu"]
    assert text.count(CONDITION) == 2
    source = tmp_path / "a.cu"
    source.write_bytes(text)
    assert compiler.compile(source, ["-arch=sm_90"]).ok
    source.write_bytes(text.replace(CONDITION, b"#if 0"))
    assert compiler.compile(source, ["-arch=sm_90"]).ok


LINES = """    float *d;
    CHECK(cudaMalloc(&d,
                     4));
    for (int i = 0; i < 2; i++)
        k<<<1, 1>>>(d);
    if (d)
        CHECK(cudaFree(d));
"""


def test_a_check_stands_around_whole_statements() -> None:
    shown = body(LINES)
    assert "#else\n    CHECK(cudaMalloc(&d,\n                     4));\n#endif\n" in shown
    assert "#else\n    if (d)\n        CHECK(cudaFree(d));\n#endif\n" in shown


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    text = "\ufeff" + HEAD + "int main() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d); }"
    data = text.replace("\n", "\r\n").encode()
    after = rewritten({"a.cu": data})["a.cu"]
    assert after.count(b"\n") == after.count(b"\r\n")
    assert after.startswith(b"\xef\xbb\xbf#include")
    assert old_branches(after) == data


def test_a_conditional_group_is_inside_the_check_or_outside_of_it() -> None:
    shown = body("    float *d;\n    cudaMalloc(&d, 4\n#ifdef MORE\n        * 2\n#endif\n    );\n    cudaFree(d);\n")
    depth = 0
    for line in shown.splitlines():
        depth += line.startswith("#if") - line.startswith("#endif")
        assert 0 <= depth <= 2
    assert depth == 0


def test_without_a_guard_every_pair_is_refused_by_name() -> None:
    report = analyze({"a.cu": f"{HEAD}int main() {{\n{LINES}}}\n".encode()}, OLD)
    assert [refusal.name for refusal in report.refusals] == ["old_cuda"]
    assert "CUDA 11.0" in report.refusals[0].message
    assert not report.findings
    assert analyze({"a.cu": f"{HEAD}int main() {{\n{LINES}}}\n".encode()}, Config(cuda=(11, 2))).findings


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.cu",
            HEAD
            + "#define FREE(p) cudaFree(p)\nint main() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); FREE(d); }\n",
        ),
        (
            "a.py",
            "from cuda.bindings import runtime as rt\ne, d = rt.cudaMalloc(4)\nrt.cudaFree(d)\n",
        ),
    ],
)
def test_what_cannot_be_guarded_is_refused(path: str, text: str) -> None:
    assert analyze({path: text.encode()}, Config()).findings
    report = analyze({path: text.encode()}, GUARDED)
    assert [refusal.name for refusal in report.refusals] == ["old_cuda"]
    assert not report.findings


def test_a_defect_in_python_is_mended_without_a_guard() -> None:
    """`#if` is a comment there."""
    path, edit = "a.py", Edit("a.py", 0, 0, b"wait()\n")
    finding = Finding("wait_between_streams", path, 0, "", (edit,))
    selection = Selection((finding,), (), {path: b"use()\n"})
    assert selection.edits() == {path: [edit]}


def test_diff_and_apply_write_the_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cudafix.toml").write_text('cuda = "11.0"\nguard = true\n')
    Path("a.cu").write_text(f"{HEAD}int main() {{\n{LINES}}}\n")
    for command, code in (("diff", 0), ("apply", 0), ("check", 0)):
        with pytest.raises(SystemExit) as ended:
            cli.main([command])
        assert int(ended.value.code or 0) == code
    assert "+#if CUDART_VERSION >= 11020\n" in capfd.readouterr().out
    assert Path("a.cu").read_bytes().count(CONDITION) == 2


def test_no_edits_are_no_guard() -> None:
    assert guarded(b"int main() {}\n", []) == []
