"""The function that sets up the pool: which programs get it, where it stands, and in which words."""

from __future__ import annotations

import re

import pytest

from cudafix.findings import Finding
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite import pool_setup
from cudafix.rewrite.edits import apply
from cudafix.rewrite.pool_setup import has_braces_alone

HEAD = "#include <cuda_runtime.h>\n__global__ void k(float *p) { p[0] = 1; }\n"
PAIR = "float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d);"
CALL = "keep_pool_memory();"


def rewritten(files: dict[str, str], config: Config | None = None) -> dict[str, str]:
    data = {path: text.encode() for path, text in files.items()}
    report = driver.analyze(data, config or Config())
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


@pytest.mark.parametrize("at", ["here", "in a header"])
def test_its_variables_have_not_the_names_of_macros(at: str) -> None:
    macros = "#define device 0\n  # define pool get_pool()\n#define pool_ 3\n#define threshold(x) (x)\n#define kept 1\n"
    body = f"int main() {{ for (int i = 0; i < 9; i++) {{ {PAIR} }} }}"
    files = {"main.cu": macros + HEAD + body, "own.h": ""}
    if at == "in a header":
        files = {"main.cu": '#include "own.h"\n' + HEAD + body, "own.h": macros}
    after = rewritten(files, Config())["main.cu"]
    assert "int device_;" in after
    assert "cudaMemPool_t pool__;" in after
    assert "cudaMemPoolSetAttribute(pool__, cudaMemPoolAttrReleaseThreshold, &threshold_)" in after


@pytest.mark.parametrize(("include", "device"), [("", "device"), ('#include "theirs.h"\n', "device_of_pool")])
def test_its_variables_have_no_short_names_where_a_header_is_not_here(include: str, device: str) -> None:
    after = rewritten({"main.cu": include + HEAD + f"int main() {{ for (int i = 0; i < 9; i++) {{ {PAIR} }} }}"})
    assert f"cudaGetDevice(&{device})" in after["main.cu"]


@pytest.mark.parametrize(
    ("first", "event"), [("", "done"), ("#define done 1\n", "done_"), ('#include "theirs.h"\n', "work_is_done")]
)
def test_an_event_has_not_the_name_of_a_macro(first: str, event: str) -> None:
    uses = "cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t); float *d;\n"
    pair = "cudaMallocAsync(&d, 4, s);\n    k<<<1, 1, 0, t>>>(d);\n    cudaFreeAsync(d, t);\n"
    after = rewritten({"main.cu": f"{first}{HEAD}int main() {{\n    {uses}    {pair}}}\n"})
    assert f"cudaEventRecord({event}, s);" in after["main.cu"]


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


def test_two_files_of_one_translation_unit_have_names_of_their_own() -> None:
    loops = f"for (int i = 0; i < 9; i++) {{ {PAIR} }}"
    step = f"{HEAD}inline void step() {{ {loops} }}\n"
    one = f'#include "step.cuh"\nvoid again() {{ {loops} }}\nint main() {{ cudaSetDevice(0); again(); step(); }}\n'
    two = '#include "step.cuh"\nint main() { step(); }\n'
    after = rewritten({"step.cuh": step, "one.cu": one, "two.cu": two})
    names = [re.search(r"static (?:inline )?void (\w+)", after[path]) for path in ("step.cuh", "one.cu")]
    assert all(names)
    assert len({name[1] for name in names if name is not None}) == 2
    for path, name in zip(("step.cuh", "one.cu"), names, strict=True):
        assert name is not None
        assert f" {name[1]}();" in after[path]


@pytest.mark.parametrize(
    ("threshold", "wanted"), [(64 << 20, "threshold = 67108864ull;"), (2**64 - 1, "threshold = ~0ull;"), (0, "")]
)
def test_the_configuration_says_how_much_is_kept(threshold: int, wanted: str) -> None:
    source = {"main.cu": HEAD + f"int main() {{ for (int i = 0; i < 9; i++) {{ {PAIR} }} }}"}
    after = rewritten(source, Config(pool_threshold=threshold))["main.cu"]
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
        ("int a;\nclass A {\n    void f() {}\n};\n", "class"),
        (
            "int a;\n\n// a pair\ntemplate <class T>\nstruct A : B {\n  struct C {\n    void f() {}\n  };\n};\n",
            "// a pair",
        ),
        ("#ifdef A\nint a() {\n#else\nint b() {\n#endif\n}\nvoid f() {}\n", None),
        ("int a() {\n    struct A { void f() {} };\n}\n", None),
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


# ---------------------------------------------------------------------------------------------------------------------
# memory that is stream-ordered already

MIGRATED = "float *d; cudaMallocAsync(&d, 4, 0); k<<<1, 1>>>(d); cudaFreeAsync(d, 0);"
LOOP = "int main() {\n    for (int i = 0; i < 9; i++) { PAIR }\n}\n"
SET = "cudaMemPool_t pool; unsigned long long t = 0; cudaDeviceGetDefaultMemPool(&pool, 0);\n    "
OWN = "cudaMemPool_t pool; cudaMemPoolProps props = {}; cudaMemPoolCreate(&pool, &props);\n    "


def unset(files: dict[str, str], config: Config | None = None) -> list[Finding]:
    report = driver.analyze({path: text.encode() for path, text in files.items()}, config or Config())
    return [finding for finding in report.findings if finding.codemod == "pool_release_threshold"]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (LOOP, 1),
        ("void step() { PAIR }\nint main() { while (more()) step(); }\n", 1),
        ("int main() { for (int i = 0; i < 9; i++) { PAIR }\n for (int i = 0; i < 9; i++) { PAIR } }\n", 1),
        ("int main() { PAIR }\n", 0),
        ("void step() { for (int i = 0; i < 9; i++) { PAIR } }\n", 0),
        ("#define STEP() do { PAIR } while (0)\nint main() { for (int i = 0; i < 9; i++) STEP(); }\n", 1),
        ("#define STEPS() for (int i = 0; i < 9; i++) { PAIR }\n#define ALL() STEPS()\nint main() { ALL() }\n", 1),
    ],
    ids=["a loop", "a call in a loop", "two loops", "once", "no main", "a macro in a loop", "a loop in a macro"],
)
def test_memory_that_comes_and_goes_is_found_where_the_pool_gives_it_back(body: str, count: int) -> None:
    files = {"main.cu": HEAD + body.replace("PAIR", MIGRATED)}
    assert len(unset(files)) == count
    if count:
        after = rewritten(files)
        assert after["main.cu"].count("ReleaseThreshold") == 1
        assert unset(after) == []
        assert driver.prove({p: t.encode() for p, t in files.items()}, {p: t.encode() for p, t in after.items()}) == []


@pytest.mark.parametrize(
    ("setup", "pair"),
    [
        (SET + "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &t);", MIGRATED),
        (OWN + "cudaDeviceSetMemPool(0, pool);", MIGRATED),
        (OWN, MIGRATED.replace("Async(&d, 4, 0)", "FromPoolAsync(&d, 4, pool, 0)")),
        (OWN, MIGRATED.replace("(&d, 4, 0)", "(&d, 4, pool, 0)")),
    ],
    ids=["the program sets it", "the device has another pool", "from a pool", "from a pool by the C++ overload"],
)
def test_a_pool_that_the_program_chooses_is_its_own(setup: str, pair: str) -> None:
    body = LOOP.replace("PAIR", pair)
    assert unset({"main.cu": HEAD + body.replace("{\n", "{\n    " + setup + "\n", 1)}) == []


def test_the_configuration_decides_whether_it_is_found() -> None:
    files = {"main.cu": HEAD + LOOP.replace("PAIR", MIGRATED)}
    assert unset(files, Config(pool_threshold=0)) == []
    assert unset(files, Config(disabled=frozenset({"pool_release_threshold"}))) == []
    assert unset(files, Config(context=frozenset({"main.cu"}))) == []
    assert len(unset(files, Config(pool_threshold=1))) == 1


@pytest.mark.parametrize("first", [MIGRATED, PAIR], ids=["migrated first", "blocking first"])
def test_it_comes_with_the_pairs_that_move(first: str) -> None:
    second = PAIR if first == MIGRATED else MIGRATED
    files = {"main.cu": HEAD + LOOP.replace("PAIR", f"{{ {first} }} {{ {second} }}")}
    assert unset(files) == []
    after = rewritten(files)
    assert after["main.cu"].count("ReleaseThreshold") == 1
    assert unset(after) == []


@pytest.mark.parametrize(
    "pairs",
    [
        "if (argc > 1) cudaMallocAsync(&a, 4, s); else cudaMallocAsync(&a, 4, s);\n"
        "        k<<<1, 1, 0, t>>>(a); cudaFreeAsync(a, s);",
        "cudaMallocAsync(&a, 4, s); k<<<1, 1, 0, t>>>(a); cudaFreeAsync(a, s);",
    ],
    ids=["where braces are added", "in one block"],
)
def test_it_is_found_beside_what_is_out_of_order(pairs: str) -> None:
    streams = "cudaStream_t s, t; float *a;\n    cudaStreamCreate(&s); cudaStreamCreate(&t);\n"
    body = f"int main(int argc, char **) {{\n    {streams}"
    files = {"main.cu": f"{HEAD}{body}    for (int i = 0; i < 9; i++) {{\n        {pairs}\n    }}\n}}\n"}
    after = rewritten(files)
    assert after["main.cu"].count("ReleaseThreshold") == 1
    assert "cudaStreamWaitEvent" in after["main.cu"]
    assert unset(after) == []


def test_a_function_on_one_line_does_not_say_where_braces_stand() -> None:
    assert has_braces_alone(b"void f() { g(); }\nvoid g() { h(); }\nint main()\n{\n}\n")
    assert not has_braces_alone(b"void f() { g(); }\nint main() {\n}\n")
