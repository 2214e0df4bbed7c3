"""The header of a project that sets up the pool for all of its programs: who includes it, and what it may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix import models
from cudafix.cli import main as cli
from cudafix.pipeline import driver
from cudafix.pipeline.shared_set_up import functions_of
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

RAISES = """    cudaMemPool_t pool;
    unsigned long long size = ~0ull;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &size);
"""
FUNCTION = f"inline void keep_it()\n{{\n{RAISES}}}\n"
HEADER = f"#pragma once\n#include <cuda_runtime.h>\n\n{FUNCTION}"
CHECK = "#pragma once\n#include <cstdlib>\n#define CHECK(x) do { if ((x) != cudaSuccess) exit(1); } while (0)\n"
LOOP = """__global__ void k(float *p) { p[0] = 1; }

int main()
{
    for (int i = 0; i < 9; i++) {
        float *d;
        cudaMalloc(&d, 4);
        k<<<1, 1>>>(d);
        cudaFree(d);
    }
}
"""
MAIN = f'#include <cuda_runtime.h>\n#include "../gpu/check.h"\n\n{LOOP}'
FILES = {"apps/one.cu": MAIN, "apps/two.cu": MAIN, "gpu/check.h": CHECK, "gpu/pool.h": HEADER}
WITH = Config(pool_setup="gpu/pool.h")


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def rewritten(files: dict[str, str], config: Config = WITH) -> dict[str, str]:
    data = encoded(files)
    edits = [edit for finding in driver.analyze(data, config).findings for edit in finding.edits]
    return {p: apply(text, [e for e in edits if e.path == p]).decode() for p, text in data.items()}


def proved(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return driver.prove(encoded(before), encoded(after))


def test_all_programs_include_it_and_call_its_function() -> None:
    after = rewritten(FILES)
    assert after["gpu/pool.h"] == HEADER
    for path in ("apps/one.cu", "apps/two.cu"):
        assert after[path].startswith(
            '#include <cuda_runtime.h>\n#include "../gpu/check.h"\n#include "../gpu/pool.h"\n\n__global__'
        )
        assert after[path].count("    keep_it();\n    for (") == 1
        assert "MemPool" not in after[path]
    assert proved(FILES, after) == []
    assert not any(finding.edits for finding in driver.analyze(encoded(after), WITH).findings)


@pytest.mark.parametrize(
    ("includes", "wanted"),
    [
        ('#include "gpu/check.h"\n', "gpu/pool.h"),
        ('#include "check.h"\n#include "gpu/more.h"\n#include "gpu/check.h"\n', "gpu/pool.h"),
        ("#include <cstdio>\n", "../gpu/pool.h"),
        ('#include "../gpu/check.h"\n#ifdef MORE\n#include <cstdio>\n#endif\n', "../gpu/pool.h"),
    ],
    ids=["from the root", "mostly from the root", "no neighbour", "under a condition"],
)
def test_it_is_named_as_the_other_headers_are(includes: str, wanted: str) -> None:
    files = FILES | {"apps/one.cu": f"{includes}\n{LOOP}", "gpu/more.h": "#pragma once\n"}
    after = rewritten(files)
    always = includes.partition("#ifdef")
    assert after["apps/one.cu"].startswith(f'{always[0]}#include "{wanted}"\n{always[1]}')
    assert proved(files, after) == []


def test_a_file_that_includes_it_only_calls() -> None:
    files = FILES | {"apps/one.cu": MAIN.replace("\n\n", '\n#include "../gpu/pool.h"\n\n', 1)}
    after = rewritten(files)
    assert after["apps/one.cu"].count("pool.h") == 1
    assert after["apps/one.cu"].count("keep_it();") == 1
    assert proved(files, after) == []


@pytest.mark.parametrize(
    "main",
    [
        MAIN.replace("int main", "#define keep_it() cudaDeviceReset()\nint main"),
        MAIN.replace("int main", "void keep_it(int);\nint main"),
        MAIN.replace("{\n    for", "{\n    auto keep_it = [] { cudaDeviceSynchronize(); };\n    for"),
        LOOP,
    ],
    ids=["a macro", "another function", "a variable", "nothing to stand behind"],
)
def test_a_file_where_it_cannot_be_called_has_a_function_of_its_own(main: str) -> None:
    files = {"apps/one.cu": main, "gpu/pool.h": HEADER, "gpu/check.h": CHECK}
    after = rewritten(files)
    assert "pool.h" not in after["apps/one.cu"]
    assert "cudaMemPoolSetAttribute" in after["apps/one.cu"]


NO_SET_UP = {
    "waits": FUNCTION.replace("{\n", "{\n    cudaDeviceSynchronize();\n"),
    "chooses a device": FUNCTION.replace("{\n", "{\n    cudaSetDevice(1);\n"),
    "writes a global": "extern int total;\n" + FUNCTION.replace("{\n", "{\n    total = 1;\n"),
    "writes what is declared elsewhere": FUNCTION.replace("{\n", "{\n    total = 1;\n"),
    "writes what an inner block hides": FUNCTION.replace("{\n", "{\n    { int total; }\n    total = 1;\n"),
    "writes before it declares": FUNCTION.replace("{\n", "{\n    total = 1;\n    int total;\n"),
    "calls what is unknown": FUNCTION.replace("{\n", "{\n    note();\n"),
    "does nothing": "inline void keep_it()\n{\n}\n",
    "sets something else": FUNCTION.replace("cudaMemPoolAttrReleaseThreshold", "cudaMemPoolReuseAllowOpportunistic"),
    "takes a value": FUNCTION.replace("()", "(int n)", 1),
    "is a member": f"struct A {{\n{FUNCTION}}};\n",
    "is there twice": f"#ifdef A\n{FUNCTION}#else\ninline void keep_it() {{ cudaDeviceReset(); }}\n#endif\n",
    "is defined out of line in each source": FUNCTION.replace("inline ", ""),
    "returns early": FUNCTION.replace("{\n", "{\n    static bool done;\n    while (done) ;\n"),
}


@pytest.mark.parametrize("function", NO_SET_UP.values(), ids=NO_SET_UP)
def test_a_function_that_does_more_is_none(function: str) -> None:
    assert not functions_of(Tree(encoded({"pool.h": f"#pragma once\n{function}"})), "pool.h", models.load(()))


SET_UP = {
    "plain": FUNCTION,
    "static": FUNCTION.replace("inline", "static inline"),
    "once": FUNCTION.replace("{\n", "{\n    static bool done = false;\n    if (!done) {\n    done = true;\n", 1)
    + "}\n",
    "checked": f'#include "check.h"\n{FUNCTION}'.replace("    cudaD", "    CHECK(cudaD").replace("l, 0)", "l, 0))"),
}


@pytest.mark.parametrize("function", SET_UP.values(), ids=SET_UP)
@pytest.mark.parametrize("guard", ["#pragma once\n{}", "#ifndef POOL_H\n#define POOL_H\n{}\n#endif\n"])
def test_a_function_that_sets_up_the_pool_is_called(function: str, guard: str) -> None:
    files = FILES | {"gpu/pool.h": guard.replace("{}", function)}
    after = rewritten(files)
    assert "keep_it();" in after["apps/one.cu"]
    assert proved(files, after) == []


MORE = {
    "a macro": HEADER + "#define NUMBER 2\n",
    "another function": HEADER + "inline int number() { return 2; }\n",
    "a variable": HEADER + "static int number;\n",
    "a function that waits": HEADER + "inline void also() { cudaDeviceSynchronize(); }\n",
    "no guard": HEADER.replace("#pragma once\n", ""),
    "a header that the file does not include": HEADER.replace("#include", '#include "other.h"\n#include'),
    "a header that is not seen": HEADER.replace("#include", '#include "unseen.h"\n#include'),
    "a header of the tree in brackets": HEADER.replace(
        "#include", '#include "unseen.h"\n#include <gpu/other.h>\n#include', 1
    ),
    "a header in another case": HEADER.replace("#include", "#ifdef A\n#include <cuda.h>\n#endif\n#include", 1),
    "a condition": HEADER + "#ifdef NUMBER\n#endif\n",
}


@pytest.mark.parametrize("header", MORE.values(), ids=MORE)
def test_a_header_that_holds_more_is_not_included(header: str) -> None:
    files = FILES | {"gpu/pool.h": header, "gpu/other.h": "#pragma once\n#define float double\n"}
    assert "pool.h" not in rewritten(files)["apps/one.cu"]
    included = rewritten(FILES) | {"gpu/pool.h": header, "gpu/other.h": files["gpu/other.h"]}
    assert proved(files, included)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"gpu/pool.h": HEADER.replace("    cudaMemPool_t", "    cudaSetDevice(1);\n    cudaMemPool_t")}),
        ({"gpu/pool.h": "#pragma once\n"}, {}),
        ({"apps/one.cu": MAIN.replace("int main", "#define keep_it() k<<<1, 1>>>(0)\nint main")}, None),
        ({"apps/one.cu": MAIN.replace("int main", "void keep_it(int);\nint main")}, None),
    ],
    ids=["the header changes", "the header gets it", "the name is a macro", "the name is another function too"],
)
def test_what_is_not_the_known_function_is_not_proved(before: dict[str, str], after: dict[str, str] | None) -> None:
    good = rewritten(FILES)
    if after is None:
        front = before["apps/one.cu"].partition("int main")[0].rpartition("}\n")[2]
        after = {"apps/one.cu": good["apps/one.cu"].replace("int main", f"{front}int main")}
    assert proved(FILES, good) == []
    assert proved(FILES | before, good | after)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (None, "`pool_setup`: gpu/pool.h: no such file"),
        ("#pragma once\n", "has no function that only sets up the pool"),
        (HEADER.replace("{\n", "{\n    cudaDeviceSynchronize();\n", 1), "has no function that only sets up the pool"),
    ],
    ids=["absent", "empty", "one that waits"],
)
def test_a_header_that_does_not_do_it_is_one_line(
    header: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpu").mkdir()
    Path("cudafix.toml").write_text('pool_setup = "gpu/pool.h"\n')
    Path("main.cu").write_text(LOOP)
    if header is not None:
        Path("gpu/pool.h").write_text(header)
    with pytest.raises(SystemExit) as left:
        cli.main(["diff", "--no-cache"])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert said in error
    assert error.count("\n") == 1


def test_a_file_that_is_named_alone_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "cudafix.toml").write_text('pool_setup = "gpu/pool.h"\n')
    monkeypatch.chdir(tmp_path / "apps")
    with pytest.raises(SystemExit) as left:
        cli.main(["apply", "one.cu"])
    assert not left.value.code, capsys.readouterr()
    assert '#include "../gpu/pool.h"\n' in Path("one.cu").read_text()
    assert Path("two.cu").read_text() == MAIN
    with pytest.raises(SystemExit):
        cli.main(["diff"])
    assert (tmp_path / "gpu/pool.h").read_text() == HEADER


@pytest.mark.parametrize(
    ("around", "included"),
    [
        ('#include "../gpu/check.h"\n', True),
        ('#ifdef NUMBER\n#include "../gpu/check.h"\n#endif\n', False),
        ('#ifdef NUMBER\n/*\n#endif\n*/\n#include "../gpu/check.h"\n#endif\n', False),
        ("#include <cstdio>\n", False),
    ],
    ids=["always", "under a condition", "under one that seems to end", "never"],
)
def test_it_brings_no_header_that_a_file_does_not_have_anyway(around: str, included: bool) -> None:
    checked = SET_UP["checked"]
    files = FILES | {
        "apps/one.cu": f"#include <cuda_runtime.h>\n{around}{LOOP}",
        "gpu/pool.h": f"#pragma once\n{checked}",
    }
    after = rewritten(files)
    assert ("pool.h" in after["apps/one.cu"]) == included
    assert proved(files, after) == []
    forced = files["apps/one.cu"].replace("__global__", '#include "../gpu/pool.h"\n__global__', 1)
    assert bool(proved(files, files | {"apps/one.cu": forced})) != included


def test_a_guard_with_another_case_is_no_guard() -> None:
    text = f"#ifndef POOL_H\n#define POOL_H\n#include <cuda_runtime.h>\n#else\n{FUNCTION}#endif\n"
    files = FILES | {"gpu/pool.h": text}
    assert "pool.h" not in rewritten(files)["apps/one.cu"]


def test_code_for_older_releases_has_a_function_of_its_own() -> None:
    """Nothing says that the header can be compiled there."""
    assert "pool.h" not in rewritten(FILES, Config(pool_setup="gpu/pool.h", cuda=(11, 0), guard=True))["apps/one.cu"]
