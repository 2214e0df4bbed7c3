"""Functions that stand for `cudaMallocAsync` and `cudaFreeAsync`: which are known, and what is written with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Report
from cudafix.pipeline import driver
from cudafix.project.config import Config, Wrappers
from cudafix.rewrite import wrappers
from cudafix.rewrite.edits import apply

ASKS = """inline bool has_pools() {
    int device = 0, has = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device);
    return has != 0;
}
"""
TAKE = """template <class T> inline cudaError_t take(T **p, size_t n, cudaStream_t s) {
    return has_pools() ? cudaMallocAsync(p, n, s) : cudaMalloc(p, n);
}
"""
GIVE = """inline cudaError_t give(void *p, cudaStream_t s) {
    if (!has_pools()) { return cudaFree(p); }
    return cudaFreeAsync(p, s);
}
"""
OTHER = GIVE.replace("has_pools", "other")
HEAD = "#include <cuda_runtime.h>\n"
KERNEL = "__global__ void k(float *p) { p[0] = 1; }\n"
PAIR = "float *d; cudaMalloc(&d, 4); k<<<1, 1, 0, s>>>(d); cudaFree(d);"
MAIN = f"int main() {{ cudaStream_t s; cudaStreamCreate(&s); for (int i = 0; i < 9; i++) {{ {PAIR} }} }}\n"
FALLBACK = Config(pools="fallback")
OWN = Config(wrappers=Wrappers("mem::take", "mem::give"))


def known(text: str, wanted: tuple[str, ...] = ()) -> set[str]:
    return set(wrappers.of_texts({"a.h": text.encode()}, wanted).calls)


@pytest.mark.parametrize(
    "text",
    [
        ASKS + TAKE + GIVE,
        f"namespace mem {{\n{ASKS + TAKE + GIVE}}}\n",
        f"#ifndef A_H\n#define A_H\n{ASKS + TAKE + GIVE}#endif\n",
        f"#ifndef N\n#define N 1\n#endif\n{ASKS + TAKE + GIVE}",
        (ASKS + TAKE + GIVE).replace("int device = 0, has = 0;", "static const bool once = true; int device, has;"),
        (ASKS + TAKE + GIVE).replace("template <class T> ", "").replace("T **", "void **"),
        (ASKS + TAKE + GIVE).replace("(p, n, s)", "((void **)p, n, s)").replace("(p, n);", "((void **)p, n);"),
    ],
    ids=["plain", "namespace", "guard", "condition in front", "kept for good", "untyped", "casts"],
)
def test_a_wrapper_with_a_fallback_is_known(text: str) -> None:
    assert known(text) == {"take", "give"}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ((ASKS + TAKE + GIVE).replace("!has_pools", "has_pools"), {"take"}),
        ((ASKS + TAKE + GIVE).replace("int device = 0, has = 0;", "int device = 0; static int has = 0;"), set()),
        ((ASKS + TAKE + GIVE).replace("has != 0", "has != limit"), set()),
        ((ASKS + TAKE + GIVE).replace("has != 0", "rand() != 0"), set()),
        ((ASKS + TAKE + GIVE).replace("has != 0", "*(int *)8 != 0"), set()),
        (ASKS + TAKE + GIVE.replace("void *p", "void *has_pools").replace("(p", "(has_pools"), {"take"}),
        ((ASKS + TAKE + GIVE).replace("cudaMallocAsync(p, n, s)", "cudaMallocAsync(p, n, 0)"), {"give"}),
        ((ASKS + TAKE + GIVE).replace("cudaMalloc(p, n);", "cudaMalloc(p, 2 * n);"), {"give"}),
        ((ASKS + TAKE + GIVE).replace("return cudaFreeAsync", "log(p); return cudaFreeAsync"), {"take"}),
        (f"#define has 1\n{ASKS + TAKE + GIVE}", set()),
        (f"#ifdef POOLS\n{ASKS + TAKE + GIVE}#endif\n", set()),
        (ASKS + TAKE + GIVE + "cudaError_t take(int **p, size_t n, cudaStream_t s);\n", {"give"}),
        (ASKS + TAKE + GIVE + "#define give(p, s) cudaFree(p)\n", {"take"}),
        (ASKS + TAKE + ASKS.replace("has_pools", "other").replace("!= 0", "== 0") + OTHER, set()),
        (TAKE + GIVE + ASKS, set()),
        ("cudaError_t take(void **p, size_t n, cudaStream_t s) { return cudaMallocAsync(p, n, s); }", set()),
    ],
    ids=[
        "the other way round", "what is kept changes", "a variable", "a function", "memory", "hidden",
        "another stream", "another size",
        "more", "a macro in it", "a condition", "overloaded", "a macro", "asked otherwise", "asked in front",
        "no fallback",
    ],
)  # fmt: skip
def test_what_may_be_another_function_is_none(text: str, rest: set[str]) -> None:
    assert known(text) == rest


def test_one_without_a_fallback_is_known_if_it_is_named() -> None:
    text = "namespace mem { cudaError_t take(void **p, size_t n, cudaStream_t s) { return cudaMallocAsync(p, n, s); } }"
    assert known(text, ("mem::take",)) == {"take"}


def report_of(files: dict[str, str], config: Config) -> Report:
    return driver.analyze({path: text.encode() for path, text in files.items()}, config)


def rewritten(files: dict[str, str], config: Config) -> dict[str, str]:
    """The files as they are written; that is proved again, and leaves nothing to do."""
    report = report_of(files, config)
    assert not report.refusals, report.refusals
    edits = [edit for finding in report.findings for edit in finding.edits]
    data = {path: text.encode() for path, text in files.items()}
    after = {path: apply(text, [e for e in edits if e.path == path]) for path, text in data.items()}
    assert after != data
    assert driver.prove(data, after, config) == []
    again = driver.analyze(after, config)
    assert (again.findings, again.refusals, again.sites) == ((), (), 0)
    return {path: text.decode() for path, text in after.items()}


def test_a_file_gets_functions_that_do_without_pools() -> None:
    after = rewritten(
        {"main.cu": HEAD + KERNEL + f"namespace n {{\n{MAIN}}}\n".replace("main", "run") + MAIN}, FALLBACK
    )
    text = after["main.cu"]
    assert "stream_malloc(&d, 4, s)" in text
    assert "stream_free(d, s)" in text
    assert "if (has_memory_pools()) {" in text
    assert text.index("stream_malloc(T") < text.index("namespace n {")
    assert known(text) == {"stream_malloc", "stream_free"}


def test_a_file_that_sets_up_the_pool_gets_what_asks() -> None:
    check = "#include <cstdlib>\nstatic void check(cudaError_t e) { if (e != cudaSuccess) exit(1); }\n"
    pair = PAIR.replace("cudaMalloc(&d, 4)", "check(cudaMalloc(&d, 4))").replace("cudaFree(d)", "check(cudaFree(d))")
    run = HEAD + check + KERNEL + f"void run(cudaStream_t s) {{ {pair} }}\n"
    main = HEAD + "void run(cudaStream_t s);\n" + MAIN.replace(PAIR, "run(s);")
    after = rewritten({"run.cu": run, "main.cu": main}, FALLBACK)
    assert "check(stream_free(d, s))" in after["run.cu"]
    assert known(after["main.cu"]) == set()
    assert "cudaDevAttrMemoryPoolsSupported" in after["main.cu"]


def test_those_of_the_program_are_called() -> None:
    own = HEAD + f"namespace mem {{\n{ASKS + TAKE + GIVE}}}\n"
    after = rewritten({"mem.h": own, "main.cu": '#include "mem.h"\n' + KERNEL + MAIN}, OWN)
    assert after["mem.h"] == own
    assert "mem::take(&d, 4, s)" in after["main.cu"]
    assert "if (mem::has_pools()) {" in after["main.cu"]
    untyped = own.replace("template <class T> ", "").replace("T **", "void **")
    main = ('#include "mem.h"\n' + KERNEL + MAIN).replace("cudaMalloc", "::cudaMalloc")
    assert "mem::take((void **)&d, 4, s)" in rewritten({"mem.h": untyped, "main.cu": main}, OWN)["main.cu"]


@pytest.mark.parametrize(
    ("files", "config", "why"),
    [
        (
            {
                "main.cu": HEAD
                + KERNEL
                + "#define NEW(p) cudaMalloc(&p, 4)\n"
                + MAIN.replace("cudaMalloc(&d, 4)", "NEW(d)")
            },
            FALLBACK,
            "no function that works without memory pools can be defined in front of it",
        ),
        ({"main.cu": HEAD + KERNEL + MAIN}, OWN, "`mem::take` is not defined in front of it"),
        (
            {"main.py": "from cuda.bindings import runtime as rt\nerr, p = rt.cudaMalloc(4)\nrt.cudaFree(p)\n"},
            FALLBACK,
            '`pools = "fallback"` and `wrappers` are for CUDA C++: Python calls the runtime itself',
        ),
    ],
    ids=["in a macro", "not included", "Python"],
)
def test_a_pair_that_cannot_call_one_stays(files: dict[str, str], config: Config, why: str) -> None:
    report = report_of(files, config)
    assert not report.findings
    assert [(refusal.name, refusal.message) for refusal in report.refusals] == [("site_not_editable", why)]


@pytest.mark.parametrize(
    ("text", "settings", "line"),
    [
        (ASKS + TAKE, "", "no `give` in the paths is known to be `cudaFreeAsync`"),
        (ASKS + TAKE + GIVE.replace("!", ""), "", "no `give` in the paths is known to be `cudaFreeAsync`"),
        (
            "cudaError_t take(void **p, size_t n, cudaStream_t s) { return cudaMallocAsync(p, n, s); }\n" + ASKS + GIVE,
            'pools = "fallback"\n',
            '`take` does not do without memory pools, and `pools` is `"fallback"`',
        ),
    ],
    ids=["not there", "another function", "no fallback"],
)
def test_wrappers_that_are_none_are_one_clear_line(
    text: str,
    settings: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "main.cu").write_text(HEAD + KERNEL + text + MAIN)
    (tmp_path / "cudafix.toml").write_text(settings + 'wrappers = { malloc = "take", free = "give" }\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check"])
    assert ended.value.code == 2
    assert line in capfd.readouterr().err


def test_a_migration_by_hand_with_the_wrong_fallback_is_not_proved() -> None:
    before = HEAD + KERNEL + MAIN
    for give, right in ((GIVE, True), (GIVE.replace("!has", "has"), False)):
        calls = MAIN.replace("cudaMalloc(&d, 4)", "take(&d, 4, s)").replace("cudaFree(d)", "give(d, s)")
        after = HEAD + KERNEL + ASKS + TAKE + give + calls
        found = driver.prove({"main.cu": before.encode()}, {"main.cu": after.encode()}, Config())
        assert (not found) is right, found


def test_a_function_that_others_may_ask_too_stays_what_it_is() -> None:
    before = HEAD + KERNEL + ASKS + TAKE + GIVE + MAIN
    after = before.replace("cudaMalloc(&d, 4)", "take(&d, 4, s)").replace("cudaFree(d)", "give(d, s)")
    for asks, expected in (("!= 0", []), ("== 0", ["main.cu: `has_pools` changed, which is no part of a migration"])):
        changed = after.replace("has != 0", f"has {asks}")
        found = driver.prove({"main.cu": before.encode()}, {"main.cu": changed.encode()}, Config())
        assert [line for line in found if "has_pools" in line] == expected, found
        assert bool(found) is bool(expected)


def test_names_are_those_that_nothing_has() -> None:
    text = HEAD + KERNEL + "int stream_free;\n" + MAIN
    assert re.search(r"\bstream_free_\(d, s\)", rewritten({"main.cu": text}, FALLBACK)["main.cu"])
