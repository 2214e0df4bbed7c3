"""What a user names for cudafix to write, files that cannot be read, and names that lead far: nothing is lost."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Problem
from cudafix.pipeline import driver, outlines
from cudafix.project.files import ChangedError
from tests.cases import ROOT

CASE = ROOT / "fixtures" / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before"
(SOURCE,) = (path.read_bytes() for path in CASE.glob("*.cu"))

PAGE = ("diff", "--html")
BASELINE = ("check", "--update-baseline", "--baseline")
PRUNED = ("check", "--prune-baseline", "--baseline")
PROOFS = ("check", "--shard", "1/1", "--proofs")
WRITE = {"page": PAGE, "baseline": BASELINE, "pruned baseline": PRUNED, "proofs": PROOFS}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cu").write_bytes(SOURCE)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        cli.main([*arguments, "--no-cache", "-j", "1"])
    out, err = capsys.readouterr()
    code = left.value.code
    return (code if isinstance(code, int) else 0), out, err


def held(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options", WRITE.values(), ids=WRITE)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.cu", SOURCE),
        ("new.cuh", None),
        ("cudafix.toml", None),
        ("NEW.CU", None),
        ("Makefile", b"all:\n"),
        ("notes.html", b"<!doctype html>\n<p>mine\n"),
        ("package.json", b'{\n "version": "1.0",\n "findings": []\n}\n'),
        ("empty.json", b""),
        ("folder", ""),
        ("pipe", "fifo"),
    ],
)
def test_what_is_no_file_of_cudafix_is_not_written_over(
    tree: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], name: str, content: bytes | str | None
) -> None:
    path = tree / name
    if content == "":
        path.mkdir()
        (path / "index.html").write_text("mine")
    elif content == "fifo":
        os.mkfifo(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    before = held(tree)
    code, out, err = run(capsys, *options, name)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith(f"cudafix: {name}")
    assert held(tree) == before


@pytest.mark.parametrize("options", [PAGE, BASELINE, PROOFS], ids=["page", "baseline", "proofs"])
def test_a_link_to_a_source_is_not_written_over(
    tree: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    (tree / "out").symlink_to("a.cu")
    code, _, err = run(capsys, *options, "out")
    assert (code, err.count("\n")) == (2, 1)
    assert (tree / "a.cu").read_bytes() == SOURCE


@pytest.mark.parametrize("options", [PAGE, BASELINE, PROOFS], ids=["page", "baseline", "proofs"])
def test_what_cudafix_wrote_is_written_again_and_a_link_to_it_stays(
    tree: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    (tree / "link").symlink_to("out")
    for name in ("out", "out", "link"):
        assert run(capsys, *options, name)[0] == 0
    assert (tree / "link").is_symlink()
    assert (tree / "out").stat().st_size > 10
    assert {path.name for path in tree.iterdir()} == {"a.cu", "out", "link"}


def test_results_are_exported_into_an_empty_folder_only(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = held(tree)
    for option in ("--export", "--save-case"):
        for name in ("a.cu", "."):
            code, _, err = run(capsys, "verify", "--run", "true", "--build", "true", option, name)
            assert (code, err.count("\n")) == (2, 1), err
    assert held(tree) == before


UNREADABLE = {
    "binary": b"\0int x;",
    "far too long": b"// generated\n" * (2**21),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_the_rest_is_decided_where_one_file_cannot_be_read(
    tree: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tree / "b.cu").write_bytes(content)
    (tree / "pipe.cu").symlink_to("nowhere")  # not looked at
    os.mkfifo(tree / "c.cuh")
    code, out, err = run(capsys, "check")
    assert code == 2
    assert "unreadable_file" in out
    assert "stream_ordered_pairs" in out
    assert [line.split(": ")[1] for line in err.splitlines()] == ["b.cu", "c.cuh"]
    for form in ("json", "sarif", "github", "gitlab", "junit"):
        code, out, _ = run(capsys, "check", "--format", form, "--fail-on", "once")
        assert (code, "stream_ordered_pairs" in out) == (2, True)
        assert form != "json" or "unreadable_file" in out
    assert run(capsys, "apply")[0] == 2
    assert (tree / "a.cu").read_bytes() != SOURCE
    assert (tree / "b.cu").read_bytes() == content


NO_PYTHON = {
    "no parenthesis": b"import cupy\ndef f(:\n    a = cupy.zeros(4)\n",
    "python 2": b"import cupy as cp\nprint 'x'\n",
    "an indentation": b"from cupy import zeros\nif 1:\n    a = zeros(4)\n  b = 1\n",
    "an allocator": b"import cupy.cuda\ncupy.cuda.set_allocator(None\n",
}


@pytest.mark.parametrize("content", NO_PYTHON.values(), ids=NO_PYTHON)
def test_a_file_with_cupy_that_cannot_be_parsed_is_a_line(
    tree: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tree / "b.py").write_bytes(content)
    for _ in range(2):  # what is known of the others is kept
        code, out, err = run(capsys, "check")
        assert code == 2
        assert "refused: parse_error: cannot be parsed" in out
        assert "stream_ordered_pairs" in out
        assert err.startswith("cudafix: b.py: cannot be parsed (line ")
    code, out, _ = run(capsys, "check", "--format", "json")
    assert (code, "parse_error" in out) == (2, True)
    assert run(capsys, "apply")[0] == 2
    assert (tree / "a.cu").read_bytes() != SOURCE
    assert (tree / "b.py").read_bytes() == content


def test_a_file_with_cupy_and_a_call_of_the_runtime_that_cannot_be_parsed_is_a_line_and_one_refusal(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "b.py").write_bytes(b"import cupy\nfrom cuda.bindings import runtime\nerr, p = runtime.cudaMalloc(4\n")
    code, out, err = run(capsys, "check")
    assert (code, out.count("b.py:"), "`<file>`" in out) == (2, 1, False)  # a path is named once
    assert err.startswith("cudafix: b.py: cannot be parsed")


def test_a_file_without_cupy_that_cannot_be_parsed_is_none(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "b.py").write_bytes(b"import numpy\nprint 'x'\n")
    (tree / "c.py").write_bytes(b'import cupy\nprint("\\d", cupy.zeros(4))\n')
    code, _, err = run(capsys, "check", "--fail-on", "once")
    assert (code, "b.py" in err, "c.py" in err) == (1, False, False)


def test_a_program_that_includes_a_file_that_cannot_be_read_is_left_alone(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    included = b'#include "b.h"\n' + SOURCE
    (tree / "b.h").write_bytes(b"\0")
    (tree / "other").mkdir()
    (tree / "other" / "b.h").write_bytes(b"\n")  # not the one that is meant
    (tree / "c.cu").write_bytes(included)
    code, out, _ = run(capsys, "check", "--format", "json")
    assert code == 2
    assert "`b.h` is part of the program, and cannot be read" in out
    assert run(capsys, "apply")[0] == 2
    assert (tree / "a.cu").read_bytes() != SOURCE
    assert (tree / "c.cu").read_bytes() == included


def test_a_name_that_leads_through_thousands_of_others_is_resolved(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    length = 5000
    lines = ["import cupy", "", "", "def itself(n):", "    return itself(n - 1)", "", "", "x0 = cupy.zeros(4)"]
    lines += [f"x{n + 1} = x{n}" for n in range(length)]
    lines += ["", "", "def work():", "    y0 = cupy.zeros(10)"]
    lines += [f"    y{n + 1} = y{n}" for n in range(length)]
    lines += [f"    return y{length}", "", ""]
    lines += [f"print(x{length}.sum(), work(), itself(3))", "a = b", "b = a", "print(a.sum())"]
    (tree / "main.py").write_text("\n".join(lines) + "\n")
    code, _, err = run(capsys, "check", "main.py")
    assert code in (0, 1), err
    assert "error" not in err


def test_imports_that_lead_through_thousands_of_modules_or_in_a_circle_are_resolved(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tree / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for n in range(400):
        (package / f"m{n}.py").write_text(f"from package.m{n + 1} import make\n")
    (package / "m400.py").write_text(
        "import cupy\nfrom package.m0 import other\n\n\ndef make():\n    return cupy.zeros(4)\n"
    )
    (tree / "main.py").write_text("from package.m0 import make\n\nfor _ in range(9):\n    print(make().sum())\n")
    code, _, err = run(capsys, "check", "main.py", "package")
    assert code in (0, 1), err


def test_a_file_that_is_changed_while_the_others_are_proved_is_a_line(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "b.cu").write_bytes(SOURCE)
    asked = driver.analyze

    def late(*arguments: Any) -> Any:
        if "gone" not in seen:
            seen.append("gone")
            raise ChangedError(Problem("b.cu", "cannot be read: No such file or directory"))
        return asked(*arguments)

    seen: list[str] = []
    monkeypatch.setattr(driver, "analyze", late)
    code, out, err = run(capsys, "check")
    assert (code, err) == (2, "cudafix: b.cu: cannot be read: No such file or directory\n")
    assert "a.cu" in out
    assert "stream_ordered_pairs" in out


def test_the_rest_is_decided_where_cudafix_fails_on_one_file(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "b.cu").write_bytes(SOURCE + b"// odd\n")
    made = outlines._words_of

    def fails(data: bytes) -> Any:
        if b"odd" in data:
            raise RecursionError("too deep")
        return made(data)

    monkeypatch.setattr(outlines, "_words_of", fails)
    code, out, err = run(capsys, "check")
    assert code == 2
    assert err.startswith("cudafix: b.cu: internal error: RecursionError (too deep)")
    assert err.count("\n") == 1
    assert "stream_ordered_pairs" in out


HOSTILE = {
    "comments that never end": b"/*" * 200_000,
    "a name of a million letters": b"int " + b"v" * 1_000_000 + b";\n",
    "a million spaces": b"a" + b" " * 1_000_000 + b"\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_words_are_found_in_a_time_that_is_linear_in_the_text(text: bytes) -> None:
    start = time.process_time()
    outlines._words_of(SOURCE + text)
    assert time.process_time() - start < 5


def test_macros_that_double_sixty_times_end(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doubled = b"".join(b"#define B%d(x) B%d(x) B%d(x)\n" % (n + 1, n, n) for n in range(60))
    (tree / "a.cu").write_bytes(doubled + SOURCE.replace(b"int main() {", b"int main() {\n    int v;\n    B60(v)", 1))
    assert run(capsys, "check")[0] in (0, 1)


@pytest.mark.parametrize("options", [PAGE, BASELINE, PROOFS], ids=["page", "baseline", "proofs"])
def test_what_somebody_has_added_to_a_file_of_cudafix_is_not_written_over(
    tree: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    assert run(capsys, *options, "out")[0] == 0
    with (tree / "out").open("a") as out:
        out.write("my notes\n")
    before = held(tree)
    code, _, err = run(capsys, *options, "out")
    assert (code, err.count("\n")) == (2, 1), err
    assert "it is left as it is" in err
    assert held(tree) == before
