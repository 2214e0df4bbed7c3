"""Code that is stream-ordered already: what is wrong is reported by `check`, or by `prove` beside the original; what is
right is not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.codemod import codemods
from cudafix.pipeline.driver import reasons
from cudafix.verify.cases import sources_of
from tests import fixtures
from tests.cases import ROOT, Case, Files, cases

CASES = cases()
DEFECTS = {name for name, declared in codemods().items() if declared.finds_defects}
ALONE = 204
"""Bad rewrites that `check` reports without the original. Of the others most are right programs that do something
else: they read a clock earlier, lose a line of output, or say nothing of a kernel that fails. The rest turns on what is
out of sight: other host threads, libraries, several devices, which elements two kernels touch, values in containers.
"""


def defects(files: Files, case: Case) -> list[str]:
    """What `check` reports, less the pairs that can move."""
    return [f.message for f in fixtures.report_of(files, case.config).findings if f.codemod in DEFECTS]


def test_every_bad_rewrite_is_reported() -> None:
    bad = [(case, case.files("before"), case.files(f"wrong/{wrong.name}")) for case in CASES for wrong in case.wrong]
    left = [(case, before, wrong) for case, before, wrong in bad if not defects(wrong, case)]
    assert len(bad) - len(left) >= ALONE
    missed = [
        case.id for case, before, wrong in left if not reasons(sources_of(before), sources_of(wrong), case.config)
    ]
    assert not missed


@pytest.mark.parametrize("case", [case for case in CASES if case.expect == "rewrite"], ids=lambda case: case.id)
def test_nothing_is_reported_of_a_good_rewrite(case: Case) -> None:
    assert defects(case.files("after"), case) == []


@pytest.mark.parametrize("case", [case for case in CASES if case.expect == "clean"], ids=lambda case: case.id)
def test_nothing_is_reported_of_clean_code(case: Case) -> None:
    assert defects(case.files("before"), case) == []


# ---------------------------------------------------------------------------------------------------------------------
# the command

FOLDER = ROOT / "fixtures/stream_ordered_pairs/device_printf_reaches_the_terminal_before_the_program_ends"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as left:
        cli.main(["prove", *map(str, arguments)])
    return (left.value.code, *capsys.readouterr())


def test_a_good_rewrite_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, FOLDER / "before", FOLDER / "after") == (0, "", "cudafix: proved\n")


def test_a_bad_rewrite_is_not_proved_and_the_two_places_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, said = run(capsys, FOLDER / "before/main.cu", FOLDER / "wrong/bare_rename/main.cu")
    assert (code, said) == (1, "cudafix: not proved\n")
    first, kernel, end = out.splitlines()
    assert first == "not proved: `report<<<…>>>` may not have run when the program ends"
    assert kernel.endswith("before/main.cu:23:5: `report<<<…>>>`")
    assert end.endswith("before/main.cu:26:1: `main` returns")


def test_what_only_the_rewrite_has_is_named_there(capsys: pytest.CaptureFixture[str]) -> None:
    case = ROOT / "fixtures/stream_ordered_pairs/an_event_of_the_object_carries_the_wait_to_its_destructor"
    code, out, _ = run(capsys, case / "before", case / "wrong/the_event_is_recorded_before_the_kernel")
    assert code == 1
    assert "the_event_is_recorded_before_the_kernel/table.cuh:9:11: the memory is freed" in out


@pytest.mark.parametrize("free", ["free", "cudaFreeHost", "cudaFreeArray"])
def test_device_memory_that_is_freed_as_another_kind_is_not_proved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, free: str
) -> None:
    """What frees in the place of `cudaFree` has to free the same kind of memory."""
    case = ROOT / "fixtures/stream_ordered_pairs/swapped_buffers_move_together"
    source = (case / "before/main.cu").read_text(encoding="utf-8")
    (tmp_path / "main.cu").write_text(source.replace("cudaFree(", f"{free}("))
    code, out, _ = run(capsys, case / "before", tmp_path)
    assert (code, out) == (1, "not proved: `main`: other memory is freed, or it is freed at other places\n")


def test_what_is_not_understood_is_named_as_the_program_spells_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    case = ROOT / "fixtures/stream_ordered_pairs/swapped_buffers_move_together"
    source = (case / "before/main.cu").read_text(encoding="utf-8")
    (tmp_path / "main.cu").write_text(source.replace("cudaFree(", "release("))
    code, out, _ = run(capsys, case / "before", tmp_path)
    assert (code, out) == (1, "not proved: `main`: a call of `release` appeared, which is not understood\n")


BEFORE = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void fill(int *p, int n) { p[0] = n; }
static int *seen;
static int number;
struct Layers { int first, last; };
void again(cudaStream_t s) { fill<<<1, 1, 0, s>>>(seen, number); }
int main(int argc, char **argv) {
    int *d, *e, *host, device = 0;
    cudaStream_t s, other;
    Layers layers, *l = &layers;
    cudaStreamCreate(&s);
    cudaStreamCreate(&other);
    cudaMallocHost(&host, 4);
    cudaMalloc(&e, 4);
    cudaMalloc(&d, 4);
    fill<<<1, 1, 0, s>>>(d, 1);
    fill<<<1, 1, 0, other>>>(host, 1);
    l->first += 1;
    HERE l->last += 2;
    again(other);
    cudaStreamSynchronize(other);
    cudaStreamSynchronize(s);
    cudaFree(d);
    printf("%d %d", host[0], l->first);
    return 0;
}
"""


def appeared(tmp_path: Path, lines: str) -> tuple[Path, Path]:
    """A program, and its migration by hand with these lines between two that are one access to the host's memory."""
    before, after = tmp_path / "before.cu", tmp_path / "after.cu"
    before.write_text(BEFORE.replace("HERE", ""))
    moved = BEFORE.replace("cudaMalloc(&d, 4)", "cudaMallocAsync(&d, 4, s)").replace(
        "cudaFree(d)", "cudaFreeAsync(d, s)"
    )
    after.write_text(moved.replace("HERE", lines))
    return before, after


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "int mine; cudaGetDevice(&mine);",
        "static bool once; if (!once) { int mine; cudaGetDevice(&mine); once = true; }",
        "if (argc > 1) { int mine; if (cudaGetDevice(&mine) != cudaSuccess) { return 1; } }",
    ],
)
def test_lines_that_order_nothing_may_appear(capsys: pytest.CaptureFixture[str], tmp_path: Path, lines: str) -> None:
    assert run(capsys, *appeared(tmp_path, lines)) == (0, "", "cudafix: proved\n")


@pytest.mark.parametrize(
    "around",
    [
        "LINE",
        "if (argc > 1) { LINE }",
        "if (argc > 1) { if (number) { LINE } }",
        "int mine; cudaGetDevice(&mine); LINE",
        "if (argc > 1) { int *e, *seen, number; cudaGetDevice(&number); } LINE",
        "static bool once; if (!once) { int mine; cudaGetDevice(&mine); LINE once = true; }",
    ],
)
@pytest.mark.parametrize("line", ["seen = d;", "number = 7;", "host[0] = 5;", "l->last = 3;", "e = d;"])
def test_lines_that_change_what_the_program_has_may_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, around: str, line: str
) -> None:
    assert run(capsys, *appeared(tmp_path, around.replace("LINE", line)))[0] == 1


@pytest.mark.parametrize("place", ["&device", "&number", "host", "&l->last"])
def test_a_call_that_only_the_rewrite_has_writes_to_variables_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, place: str
) -> None:
    assert run(capsys, *appeared(tmp_path, f"if (argc > 1) {{ cudaGetDevice({place}); }}"))[0] == 1


def test_another_program_is_not_proved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "other.cu").write_bytes(b"int main() { cudaFree(0); }\n")
    code, out, _ = run(capsys, FOLDER / "before", tmp_path)
    assert (code, out) == (1, "not proved: the files are not the same ones: `main.cu`, `other.cu`\n")


def test_the_default_stream_of_the_build_counts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = ROOT / "fixtures/wait_between_streams/the_per_thread_stream_needs_no_wait"
    sources = sorted((case / "before").iterdir())
    (tmp_path / "src").mkdir()
    for path in sources:
        (tmp_path / "src" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "src/Makefile").write_text("main: main.cu\n\tnvcc --default-stream per-thread -o main main.cu\n")
    assert run(capsys, tmp_path / "src", tmp_path / "src") == (0, "", "cudafix: proved\n")
    (tmp_path / "src/more").mkdir()
    (tmp_path / "src/more/more.cu").write_text("#include <cuda_runtime.h>\nvoid f() { cudaFree(0); }\n")
    (tmp_path / "src/more/Makefile").write_text("more.o: more.cu\n\tnvcc -c more.cu\n")
    code, out, said = run(capsys, tmp_path / "src", tmp_path / "src")
    assert (code, out) == (2, "")
    assert "default stream" in said


def test_a_path_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, said = run(capsys, FOLDER / "before", tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert said == f"cudafix: {tmp_path / 'nowhere'}: no such file or folder\n"
