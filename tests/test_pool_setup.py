"""The function that sets up the pool: which programs get it, where it stands, and in which words."""

from __future__ import annotations

import pytest

from cudafix import driver, pool_setup
from cudafix.config import Config
from cudafix.edits import apply

HEAD = "#include <cuda_runtime.h>\n__global__ void k(float *p) { p[0] = 1; }\n"
PAIR = "float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d);"
CALL = "keep_pool_memory();"


def rewritten(files: dict[str, str], config: Config | None = None) -> dict[str, str]:
    data = {path: text.encode() for path, text in files.items()}
    report = driver.analyze(data, config or Config(pool_setup="function"))
    assert any(finding.edits for finding in report.findings), report
    edits = [edit for finding in report.findings for edit in finding.edits]
    return {p: apply(text, [e for e in edits if e.path == p]).decode() for p, text in data.items()}


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("int main() { for (int i = 0; i < 9; i++) { PAIR } }", "for ("),
        ("void step() { PAIR }\nint main() {\n    while (more())\n        step();\n}", "while ("),
        ("int main() { cudaSetDevice(1);\n for (int i = 0; i < 9; i++) { PAIR } }", "for ("),
        (
            "namespace n {\nint run() { for (int i = 0; i < 9; i++) { PAIR } return 0; }\n}\nint main() { n::run(); }",
            "for (",
        ),
    ],
    ids=["in a loop", "in a function that a loop calls", "behind the choice of the device", "in a namespace"],
)
def test_what_churns_calls_it_once(body: str, before: str) -> None:
    after = rewritten({"main.cu": HEAD + body.replace("PAIR", PAIR)})["main.cu"]
    assert after.count("cudaMemPoolAttrReleaseThreshold") == 1
    assert after.count(f"static void {CALL[:-1]}") == 1
    definition, call = after.index("static void"), after.index(CALL)
    assert definition < call < after.index(before, definition)
    if "cudaSetDevice" in after:
        assert after.index("cudaSetDevice(1)") < call


def test_a_lambda_whose_place_has_moved_is_no_new_function() -> None:
    lines = "auto more = [] { return 1; };\n    for (int i = 0; i < more(); i++) { PAIR }".replace("PAIR", PAIR)
    threads = 'std::thread worker([] { std::puts("started"); }); worker.join();'
    source = f"#include <cstdio>\n#include <thread>\n{HEAD}int main() {{\n    {lines}\n    {threads}\n}}\n"
    assert CALL in rewritten({"main.cu": source})["main.cu"]


def test_what_runs_once_gets_none() -> None:
    assert "MemPool" not in rewritten({"main.cu": HEAD + f"int main() {{ {PAIR} }}"})["main.cu"]


@pytest.mark.parametrize(
    "macro",
    [
        "#define ROUND() do { PAIR } while (0)\nint main() { for (int i = 0; i < 9; i++) ROUND(); }",
        "#define ROUND() \\\n    do { \\\n        PAIR \\\n    } while (0)\n" "int main() { while (more()) ROUND(); }",
        "#define WITH(x) x\n#define NEW(d) cudaMalloc(&d, 4)\n"
        "int main() { float *d; while (more()) { WITH(NEW(d)); k<<<1, 1>>>(d); cudaFree(d); } }",
        "#define STEPS(n) for (int i = 0; i < n; i++) { PAIR }\nint main() { STEPS(9) }",
    ],
    ids=["on one line", "on several lines", "in the argument of another", "with its loop"],
)  # fmt: skip
def test_nothing_is_written_into_a_macro(macro: str) -> None:
    source = (HEAD + macro.replace("PAIR", PAIR)).encode()
    report = driver.analyze({"main.cu": source}, Config())
    after = apply(source, [edit for finding in report.findings for edit in finding.edits]).decode()
    for line in after.replace("\\\n", " ").splitlines():
        assert not (line.startswith("#") and ("MemPool" in line or CALL in line))


def test_two_programs_that_share_a_file_share_its_definition() -> None:
    shared = HEAD + f"inline void step() {{ {PAIR} }}\n"
    main = '#include "step.cuh"\nint main() { for (int i = 0; i < 9; i++) step(); }\n'
    after = rewritten({"step.cuh": shared, "one.cu": main, "two.cu": main})
    for program in ("one.cu", "two.cu"):
        assert sum(after[path].count("ReleaseThreshold") for path in (program, "step.cuh")) == 1


@pytest.mark.parametrize(
    ("threshold", "wanted"), [(64 << 20, "threshold = 67108864ull;"), (2**64 - 1, "threshold = ~0ull;"), (0, "")]
)
def test_the_configuration_says_how_much_is_kept(threshold: int, wanted: str) -> None:
    source = {"main.cu": HEAD + f"int main() {{ for (int i = 0; i < 9; i++) {{ {PAIR} }} }}"}
    after = rewritten(source, Config(pool_setup="function", pool_threshold=threshold))["main.cu"]
    assert wanted in after
    assert ("MemPool" in after) == bool(threshold)


def test_its_name_is_written_as_the_others_are_and_is_free() -> None:
    camel = b"static void runAll() {\n}\nvoid copyBack() {\n}\nint main() {\n}\n"
    found = pool_setup.defined_in(camel, camel.index(b"int main"), [camel])
    assert found == (camel.index(b"int main"), "keepPoolMemory")
    found = pool_setup.defined_in(camel, camel.index(b"int main"), [camel, b"int keepPoolMemory;"])
    assert found is not None
    assert found.name == "keepPoolMemory_"


@pytest.mark.parametrize(
    ("source", "front"),
    [
        ("#include <a>\n// what it does\nint main() {}\n", "// what it does"),
        ("int a; // of a\n\n// license\n\n/* main\n\nruns */\nint main() {}\n", "/* main"),
        ("int a;\ntemplate <class T>\nvoid f() {}\n", "template"),
        ("#ifdef A\nvoid f() {}\n#endif\n", "void"),
        ('extern "C" {\nvoid f() {}\n}\n', "void"),
        ("class A {\n    void f() {}\n};\n", None),
        ("int a; void f() {}\n", None),
    ],
)
def test_it_stands_in_front_of_the_function_and_its_comment(source: str, front: str | None) -> None:
    start = max(source.find("void f"), source.find("int main"))
    found = pool_setup.defined_in(source.encode(), start, [source.encode()])
    assert (found.at if found is not None else None) == (source.index(front) if front is not None else None)


@pytest.mark.parametrize(
    ("macro", "works"),
    [
        ("#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)", True),
        ("#define CHECK(x) do { if ((x) != cudaSuccess) abort(); } while (0)", True),
        ("#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) return 1; } while (0)", False),
        ("#define CHECK(x) if ((x) != cudaSuccess) goto failed", False),
        ("#define CHECK(x) do { err = (x); if (err != cudaSuccess) exit(1); } while (0)", False),
        ("#define OTHER(x) x", False),
    ],
)
def test_a_check_that_leaves_its_function_or_needs_its_variables_is_not_used(macro: str, works: bool) -> None:
    assert pool_setup.works_in_it("CHECK(", [macro.encode()], ()) == works
