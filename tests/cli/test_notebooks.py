"""Notebooks: the module that their cells are, and edits of it as edits of the JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from cudafix.findings import Edit, Safety
from cudafix.frontends.python import notebook
from cudafix.frontends.python.notebook import ASSUMPTION, NotebookError
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.rewrite import edits
from tests.cases import ROOT

PAIR = ROOT / "fixtures" / "python_stream_ordered_pairs" / "cells_of_a_notebook_are_one_module" / "before"


def book(*cells: str, one_string: bool = False, language: str = "python", **layout: Any) -> bytes:
    """A notebook of code cells. `layout` goes to `json.dumps`."""
    made: list[object] = [
        {
            "cell_type": "code",
            "execution_count": number,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["cells\n"]}],
            "source": text if one_string else text.splitlines(keepends=True),
        }
        for number, text in enumerate(cells, start=1)
    ]
    table = {"cells": made, "metadata": {"kernelspec": {"language": language}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(table, **layout).encode()


def module(data: bytes) -> str:
    found = notebook.read("a.ipynb", data)
    assert found is not None
    return found.text.decode()


CELLS = ('x = "\\n"\ny = 1', "", "é = 'ü𝄞'\n\nfor i in range(3):\n\tprint(i)\n", "z = '''\n%not a magic\n'''")


@pytest.mark.parametrize("one_string", [False, True])
@pytest.mark.parametrize(
    "layout", [{"indent": 1}, {"indent": 4, "ensure_ascii": False}, {}, {"separators": (",", ":")}]
)
def test_an_edit_of_the_module_is_the_same_edit_of_the_cells(one_string: bool, layout: dict[str, Any]) -> None:
    data = book(*CELLS, one_string=one_string, **layout)
    read = notebook.read("a.ipynb", data)
    assert read is not None
    chance = random.Random(1)
    starts = [0, *(n + 1 for n, byte in enumerate(read.text) if byte == 10)]
    tried = 0
    for _ in range(400):
        text = chance.choice((b"a = 1\n    ", b"Async", b'"\xc3\xa9\\"', b"\nb = 2", b""))
        start = chance.choice(starts) if text.endswith(b" ") else chance.randrange(len(read.text))
        end = start if text.endswith(b" ") or chance.random() < 0.5 else min(start + 3, len(read.text))
        if any(at < len(read.text) and 0x80 <= read.text[at] < 0xC0 for at in (start, end)):
            continue  # inside a character
        if b"\n" in read.text[start:end]:
            continue  # the end of a cell is no text of it
        made = read.edit(Edit("a.ipynb", start, end, text))
        if made is not None:
            tried += 1
            changed = edits.apply(data, [made])
            cells = json.loads(changed)["cells"]
            sources = ["".join(cell["source"]) for cell in cells]
            joined = "".join(text + "\n" * bool(text and not text.endswith("\n")) for text in sources)
            wanted = edits.apply(read.text, [Edit("a.ipynb", start, end, text)]).decode()
            assert joined.rstrip("\n") == wanted.rstrip("\n")
            assert [len(cell["outputs"]) for cell in cells] == [1] * len(CELLS)
    assert tried > 100


def test_a_line_that_goes_takes_its_string_with_it() -> None:
    data = book("a = 1\nb = 2\nc = 3\n", indent=1)
    read = notebook.read("a.ipynb", data)
    assert read is not None
    made = read.edit(Edit("a.ipynb", 6, 12, b""))
    assert made is not None
    assert json.loads(edits.apply(data, [made]))["cells"][0]["source"] == ["a = 1\n", "c = 3\n"]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1\n"),
        ("x = 1\n!ls -l", "x = 1\nprint('!ls -l')\n"),
        ("files = !ls\n", "files = print('!ls')\n"),
        ("if x:\n    %run other.py\n", "if x:\n    exec('%run other.py')\n"),
        ("%%time\nx = 1", "\nx = 1\n"),
        ("%%timeit\nf()\n", "exec('%%timeit')\n\n"),
        ("%%writefile a.cu\nint main() {}\n", "\n\n"),
        ("# a title\n%%bash\nls\n", "\n\n\n"),
        ("x?\n", "pass\n"),
        ("!a \\\n  b\nx = 1\n", "print('!a \\\\')\n\nx = 1\n"),
        ("x = [\n    # an exercise\n", "exec('x = [')\n\n"),
        ("x = 5 \\\n  % 3\n", "x = 5 \\\n  % 3\n"),
        ("await f()\n", "await f()\n"),
    ],
)
def test_what_ipython_reads_becomes_a_statement(cell: str, text: str) -> None:
    assert module(book(cell)) == text


def test_another_language_is_left_alone() -> None:
    assert notebook.read("a.ipynb", book("x = 1", language="julia")) is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b'{"cells": 1}', b'{"worksheets": []}', b"\xff", b"\xef\xbb\xbf{}",
        b'{"cells": [{"cell_type": "code", "source": ["a", 4]}]}',
        b'{"cells": [{"cell_type": "code", "source": [4, "a"]}]}',
        b'{"cells": ' + b"[" * 100_000,
    ],
)  # fmt: skip
def test_no_notebook_is_one_line(data: bytes) -> None:
    with pytest.raises(NotebookError, match=r"^not a notebook[^\n]*$"):
        notebook.read("a.ipynb", data)
    (problem,) = analyze({"a.ipynb": data}, Config()).problems
    assert problem.path == "a.ipynb"


def test_a_fix_assumes_that_the_cells_run_in_order() -> None:
    data = (PAIR / "squares.ipynb").read_bytes()
    (finding,) = analyze({"squares.ipynb": data}, Config()).findings
    assert finding.safety is Safety.ASSUMES
    assert ASSUMPTION in finding.assumptions
    assert data[finding.offset :].startswith(b"cudart.cudaMalloc")


@pytest.mark.parametrize("old", ['"kept', '"nbformat_minor": 5', "Squares, on"])
def test_what_is_no_code_may_not_change(old: str) -> None:
    before = (PAIR / "squares.ipynb").read_text(encoding="utf-8")
    after = before.replace(old, old[:-1] + "6")
    assert after != before
    assert prove({"a.ipynb": before.encode()}, {"a.ipynb": after.encode()})


def test_a_notebook_and_the_module_that_it_imports() -> None:
    helper = b"def check(result):\n    if result[0].value:\n        raise RuntimeError\n"
    helper += b"    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]\n"
    code = (
        "from cuda.bindings import runtime as rt\nfrom helper import check",
        "p = check(rt.cudaMalloc(4))\nrt.cudaMemsetAsync(p, 0, 4, 0)",
        "rt.cudaFree(p)",
    )
    report = analyze({"a.ipynb": book(*code, indent=1), "helper.py": helper}, Config())
    assert [f.path for f in report.findings] == ["a.ipynb"]
