"""A file that is given by itself is proved with what it includes or imports; that is read, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from cudafix.cli import main as cli
from cudafix.project import discovery
from cudafix.project.config import Config
from cudafix.project.context import with_context
from tests.cli.test_baseline import git

MAIN = """#include <cuda_runtime.h>
#include "h.cuh"
int main() {
    float *d;
    cudaMalloc(&d, 4);
    work(d);
    cudaFree(d);
    return 0;
}
"""
KERNEL = "#pragma once\n__global__ void k(float *d) { *d = 1; }\n"
WORK = "inline void work(float *d) { k<<<1, 1>>>(d); }\n"
HEADER = KERNEL + WORK
ON_OTHER = """#pragma once
__global__ void k(float *d) { *d = 1; }
inline void work(float *d) {
    static cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    k<<<1, 1, 0, s>>>(d);
}
"""
WITH_A_PAIR = """#pragma once
__global__ void k(float *d) { *d = 1; }
inline void work(float *d) {
    float *p;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    k<<<1, 1>>>(d);
    cudaFree(p);
}
"""


class Run(NamedTuple):
    code: int
    out: str
    err: str


Cudafix = Callable[..., Run]


@pytest.fixture
def cudafix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cudafix:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments])
        out, err = capfd.readouterr()
        return Run(int(ended.value.code or 0), out, err)

    return run


def write(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def decided(run: Run) -> list[tuple[str, int, str]]:
    """Where something is said, and what: the safety of a fix or the name of a refusal."""
    results = json.loads(run.out)["results"]
    return [(r["path"], r["line"], r.get("safety") or r["rule"]) for r in results]


def read_for(*paths: str, config: Config | None = None) -> list[str]:
    config = config or Config()
    found = with_context(discovery.discover(paths, config), config)
    assert found.problems == ()
    assert found.context <= found.files.keys()
    return sorted(found.context)


MOVES = [("main.cu", 5, "proven")]
UNSEEN = [("main.cu", 5, "unknown_call")]


def test_a_function_of_a_header_is_known(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN})
    assert decided(cudafix("check", "--format", "json", "main.cu")) == UNSEEN
    write({"h.cuh": HEADER})
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES
    write({"h.cuh": ON_OTHER})
    assert decided(cudafix("check", "--format", "json", "main.cu")) == [("main.cu", 5, "out_of_order")]
    write({"h.cuh": HEADER})  # also in a warm run
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES


def test_nothing_is_said_of_what_was_only_read(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN, "h.cuh": WITH_A_PAIR})
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES
    assert "\n1 allocation site: 1 can be rewritten (1 once), 0 refused\n" in cudafix("check", "main.cu").out
    assert len(decided(cudafix("check", "--format", "json", "."))) == 2
    for command in ("main.cu", "."):
        changed = cudafix("diff", command).out.count("+++ ")
        assert changed == (1 if command == "main.cu" else 2)
    log = json.loads(cudafix("check", "--format", "sarif", "main.cu").out)
    found = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in log["runs"][0]["results"]]
    assert found == ["main.cu"]
    statistics = json.loads(cudafix("check", "--statistics", "--format", "json", "main.cu").out)["statistics"]
    assert (statistics["sites"], statistics["migrated"]) == (1, 0)
    assert cudafix("apply", "main.cu").code == 0
    assert Path("h.cuh").read_text() == WITH_A_PAIR
    assert "cudaFreeAsync" in Path("main.cu").read_text()


@pytest.mark.parametrize("command", ["check", "diff", "apply"])
def test_what_needs_an_edit_in_it_is_refused(cudafix: Cudafix, command: str) -> None:
    header = HEADER + "inline void release(float *d) { cudaFree(d); }\n"
    write({"main.cu": MAIN.replace("cudaFree(d)", "release(d)"), "h.cuh": header})
    before = Path("main.cu").read_bytes()
    run = cudafix(command, "main.cu")
    assert run.code == 0
    said = run.out + run.err
    if command == "apply":
        assert "1 stays as it is (1 refused); `cudafix check` says why" in said
    else:
        assert (
            "site_not_editable: `cudaFree` is in `h.cuh`, which would have to change with it and was not given" in said
        )
    assert command != "check" or "unlock: Give `h.cuh` too" in said
    assert Path("main.cu").read_bytes() == before
    fails = ("--fail-on", "once") if command == "check" else ()
    assert cudafix(command, "main.cu", "h.cuh", *fails).code == (1 if command == "check" else 0)
    assert (Path("main.cu").read_bytes() != before) == (command == "apply")


def test_a_wait_that_would_stand_in_it_is_refused(cudafix: Cudafix) -> None:
    header = """#pragma once
__global__ void k(float *d) { *d = 1; }
struct Worker {
    float *d;
    cudaStream_t s;
    Worker() { cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); }
    void run() { k<<<1, 1, 0, s>>>(d); }
    ~Worker() { cudaStreamDestroy(s); }
};
"""
    body = """#include "h.cuh"
int main() {
    float *d;
    cudaMalloc(&d, 4);
    {
        Worker w;
        w.d = d;
        w.run();
    }
    cudaFree(d);
    return 0;
}
"""
    write({"main.cu": body, "h.cuh": header})
    run = cudafix("check", "main.cu")
    assert "site_not_editable: the place of a wait is in `h.cuh`" in run.out
    assert "1 allocation site: 0 can be rewritten, 1 refused" in run.out
    assert "2 files" not in cudafix("apply", "main.cu").err
    assert Path("h.cuh").read_text() == header


def test_the_threshold_is_not_set_in_it(cudafix: Cudafix) -> None:
    write(
        {
            "train.cu": "int main() { return step(); }\n",
            "test.cu": """#include <cuda_runtime.h>
__global__ void k(float *d) { *d = 1; }
int step() {
    for (int i = 0; i < 9; i++) {
        float *d;
        cudaMalloc(&d, 4);
        k<<<1, 1>>>(d);
        cudaFree(d);
    }
    return 0;
}
#include "train.cu"
""",
        }
    )
    assert cudafix("apply", "test.cu").code == 0
    assert Path("train.cu").read_text() == "int main() { return step(); }\n"
    assert "cudaMemPoolAttrReleaseThreshold" in Path("test.cu").read_text()


def test_a_defect_in_it_is_not_reported(cudafix: Cudafix) -> None:
    race = """#pragma once
__global__ void k(float *d) { *d = 1; }
inline void work(float *) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    float *d;
    cudaMallocAsync(&d, 4, s);
    k<<<1, 1, 0, t>>>(d);
    cudaFreeAsync(d, t);
}
"""
    write({"main.cu": MAIN, "h.cuh": race})
    assert all(path == "main.cu" for path, _, _ in decided(cudafix("check", "--format", "json", "main.cu")))
    assert any(path == "h.cuh" for path, _, _ in decided(cudafix("check", "--format", "json", ".")))


def test_two_given_files_share_it(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN, "b.cu": MAIN, "h.cuh": HEADER})
    assert decided(cudafix("check", "--format", "json", "main.cu", "b.cu")) == [("b.cu", 5, "proven"), *MOVES]


def test_suppressions_in_it_are_not_judged(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN, "h.cuh": HEADER + "// cudafix: ignore[stream_ordered_pairs] for another program\n"})
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES
    assert "not needed" in cudafix("check", ".").out
    before = Path("h.cuh").read_bytes()
    cudafix("check", "--fix-suppressions", "main.cu")
    assert Path("h.cuh").read_bytes() == before


def test_a_baseline_keeps_what_it_knows_of_it(cudafix: Cudafix) -> None:
    git("init", "-q")
    write({"main.cu": MAIN, "h.cuh": WITH_A_PAIR})
    assert cudafix("check", "--baseline", "known.json", "--update-baseline", ".").code == 0
    before = Path("known.json").read_text()
    assert before.count("h.cuh") == 1
    assert cudafix("check", "--baseline", "known.json", "main.cu").code == 0
    assert cudafix("check", "--baseline", "known.json", "--prune-baseline", "main.cu").code == 0
    assert cudafix("check", "--baseline", "known.json", "--update-baseline", "main.cu").code == 0
    assert Path("known.json").read_text() == before


def test_a_change_in_it_is_a_change_since(cudafix: Cudafix) -> None:
    git("init", "-q")
    write({"main.cu": MAIN, "h.cuh": ON_OTHER})
    git("add", "-A")
    git("commit", "-qm", "x")
    assert cudafix("check", "--since", "HEAD", "main.cu").code == 0
    write({"h.cuh": HEADER})  # now the pair can move
    run = cudafix("check", "--since", "HEAD", "--format", "json", "--fail-on", "once", "main.cu")
    assert (run.code, decided(run)) == (1, MOVES)


def test_it_is_found_as_in_a_tree(cudafix: Cudafix) -> None:
    git("init", "-q")
    write(
        {
            "src/a.cu": '#include "b.cuh"\n#include "deep/c.cuh"\n#include <d.h>\n#include "../e.inl"',
            "src/b.cuh": '#include "b2.cuh"\nvoid free() { cudaFree(0); }\n',
            "src/b2.cuh": '#include "b.cuh"\n',
            "include/deep/c.cuh": "",
            "other/d.h": "",
            "src/near/d.h": "",
            "e.inl": "",
            "cstdio.h": "",
            "unused.h": "",
        }
    )
    expected = ["e.inl", "include/deep/c.cuh", "src/b.cuh", "src/b2.cuh", "src/near/d.h"]
    assert read_for("src/a.cu") == expected
    assert read_for("src/a.cu", ".") == []
    assert read_for(".") == []
    assert read_for("src/a.cu", "src/b.cuh") == [name for name in expected if name != "src/b.cuh"]
    os.chdir("src")
    assert [os.path.relpath(name, "..") for name in read_for("a.cu")] != []


def test_the_folders_of_the_build_come_first(cudafix: Cudafix, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-system"
    outside.mkdir()
    (outside / "system.h").write_text("")
    write({"src/main.cu": MAIN + "#include <system.h>\n", "include/h.cuh": HEADER, "other/h.cuh": ON_OTHER})
    options = ["-I", "../include", f"-I{outside}", "-isystem", str(outside)]
    entry = {"directory": str(tmp_path / "src"), "file": "main.cu", "arguments": ["nvcc", *options, "main.cu"]}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    assert read_for("src/main.cu", config=Config(root=tmp_path)) == ["include/h.cuh"]
    assert decided(cudafix("check", "--format", "json", "src/main.cu")) == [("src/main.cu", 5, "proven")]


def test_without_a_repository_nothing_is_looked_for_by_its_name(cudafix: Cudafix) -> None:
    write({"src/a.cu": '#include "b.h"\n#include "../c.h"\n#include "/d.h"\n', "other/b.h": "", "c.h": ""})
    assert read_for("src/a.cu") == ["c.h"]


def test_an_ignored_header_is_read(cudafix: Cudafix) -> None:
    git("init", "-q")
    write({"main.cu": MAIN, "h.cuh": HEADER, "build/gen.h": "", "a.cu": '#include "gen.h"\n#include "build/gen.h"\n'})
    Path(".gitignore").write_text("h.cuh\nbuild/\n")
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES
    assert read_for("a.cu") == ["build/gen.h"]
    Path("cudafix.toml").write_text('exclude = ["h.cuh"]')
    assert decided(cudafix("check", "--format", "json", "main.cu")) == MOVES


def test_links_are_followed_within_the_tree(cudafix: Cudafix, tmp_path: Path) -> None:
    git("init", "-q")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "x.h").write_text("")
    write(
        {"src/a.cu": "".join(f'#include "{name}"\n' for name in ("h.cuh", "x.h", "l.h", "out/x.h")), "common/h.cuh": ""}
    )
    Path("src/h.cuh").symlink_to("../common/h.cuh")
    Path("src/x.h").symlink_to(outside / "x.h")
    Path("src/out").symlink_to(outside)
    Path("src/l.h").symlink_to("l.h")
    assert read_for("src/a.cu") == ["common/h.cuh"]


def test_what_cannot_be_read_is_as_if_it_were_not_there(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN})
    for content, code in ((b"\0", 2), (HEADER.encode("utf-16"), 0)):
        Path("h.cuh").write_bytes(content)
        run = cudafix("check", "--format", "json", "main.cu")
        assert (run.code, decided(run)) == (code, UNSEEN)
    Path("h.cuh").unlink()
    Path("h.cuh").mkdir()
    assert decided(cudafix("check", "--format", "json", "main.cu")) == UNSEEN


def test_a_header_that_is_given_reads_what_it_includes(cudafix: Cudafix) -> None:
    write({"main.cuh": MAIN.replace("int main", "static int run"), "h.cuh": HEADER})
    assert decided(cudafix("check", "--format", "json", "main.cuh")) == [("main.cuh", 5, "assumes")]


def test_a_migration_by_hand_is_proved_with_it(cudafix: Cudafix) -> None:
    write({"main.cu": MAIN, "h.cuh": HEADER})
    write({"good.cu": MAIN.replace("Malloc(&d, 4)", "MallocAsync(&d, 4, 0)").replace("Free(d)", "FreeAsync(d, 0)")})
    assert cudafix("prove", "main.cu", "good.cu").code == 0
    write({"h.cuh": ON_OTHER})
    assert cudafix("prove", "main.cu", "good.cu").code == 1


# -- Python ------------------------------------------------------------------------------------------------------------

SCRIPT = """from cuda.bindings import runtime as cudart
from helper import check, work

d = check(cudart.cudaMalloc(4))
work(d)
check(cudart.cudaFree(d))
"""
HELPER = """from cuda.bindings import runtime as cudart

def check(result):
    if result[0].value:
        raise RuntimeError(result[0])
    return result[1] if len(result) == 2 else None

def work(d):
    check(cudart.cudaMemset(d, 0, 4))
"""


def test_a_module_that_a_script_imports_is_read(cudafix: Cudafix) -> None:
    write({"a.py": SCRIPT})
    assert decided(cudafix("check", "--format", "json", "a.py")) == [("a.py", 4, "unknown_call")]
    write({"helper.py": HELPER})
    assert decided(cudafix("check", "--format", "json", "a.py")) == [("a.py", 4, "proven")]
    write({"helper.py": HELPER + "    keep(d)\n"})
    assert decided(cudafix("check", "--format", "json", "a.py")) == [("a.py", 4, "unknown_call")]


def test_what_needs_an_edit_in_a_module_is_refused(cudafix: Cudafix) -> None:
    write({"a.py": SCRIPT.replace("check(cudart.cudaFree(d))", "free(d)").replace("work\n", "work, free\n")})
    write({"helper.py": HELPER + "\ndef free(d):\n    check(cudart.cudaFree(d))\n"})
    run = cudafix("check", "a.py")
    assert "site_not_editable: `cudaFree` is in `helper.py`" in run.out
    assert run.out.endswith(
        "1 allocation site: 0 can be rewritten, 1 refused\n      1 refused: site_not_editable\n"
        "`cudafix explain site_not_editable` says more about a refusal\n"
    )


def test_modules_are_found_as_in_a_tree(cudafix: Cudafix) -> None:
    git("init", "-q")
    notebook = {"cells": [{"cell_type": "code", "source": ["import one\n", "from pkg import two"], "outputs": []}]}
    write(
        {
            "src/a.py": "import one\nimport pkg.two\nfrom pkg import three as t\nimport cupy, os\n",
            "src/one.py": "import a\n",
            "pkg/__init__.py": "",
            "pkg/two.py": "from . import four\n",
            "pkg/three.py": "from ..src import unused\n",
            "pkg/four.py": "",
            "cupy.py": "",
            "src/unused.py": "",
            "src/n.ipynb": json.dumps(notebook),
        }
    )
    pkg = ["cupy.py", "pkg/__init__.py", "pkg/four.py", "pkg/three.py", "pkg/two.py", "src/one.py", "src/unused.py"]
    assert read_for("src/a.py") == pkg
    assert read_for("src/n.ipynb") == sorted([*pkg, "src/a.py"])


def test_arrays_whose_allocator_a_module_sets_are_those_of_the_module(cudafix: Cudafix) -> None:
    write(
        {
            "a.py": "import cupy as cp\nimport helper\n\nhelper.set_up()\nx = cp.zeros(4)\ndel x\n",
            "helper.py": "import cupy as cp\n\ndef set_up():\n    cp.cuda.set_allocator(None)\n",
        }
    )
    assert decided(cudafix("check", "--format", "json", "a.py")) == []
    assert decided(cudafix("check", "--format", "json", "a.py", "helper.py")) == [("helper.py", 4, "proven")]
