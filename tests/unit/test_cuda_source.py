"""The CUDA source reader: what the grammar stumbles over is masked, byte for byte, in every configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
import tree_sitter

from cudafix.frontends.cuda.parse.source import Macro, Parsed, for_others, macros_of, read
from cudafix.frontends.cuda.preprocess.meanings import Meaning
from cudafix.frontends.cuda.preprocess.units import Unit, Walk
from cudafix.project.files import includes_of


def parse(text: str, macros: Mapping[str, Macro] | None = None, path: str = "a.cu") -> list[Parsed]:
    data = text.encode()
    result = read(path, data, macros or {})
    assert result
    for parsed in result:
        faithful(parsed, data)
    return result


def faithful(parsed: Parsed, data: bytes) -> None:
    """Same length, same line ends: what stands at an offset of the text stands there in the file, or is a mask."""
    assert parsed.original == data
    assert len(parsed.text) == len(data)
    assert [m.start() for m in re.finditer(b"\n", parsed.text)] == [m.start() for m in re.finditer(b"\n", data)]
    assert parsed.tree.root_node.end_byte <= len(data)


def nodes(parsed: Parsed, kind: str) -> list[tree_sitter.Node]:
    found, todo = [], [parsed.tree.root_node]
    while todo:
        node = todo.pop()
        if node.type == kind:
            found.append(node)
        todo.extend(reversed(node.children))
    return found


def functions(parsed: Parsed) -> list[str]:
    names = []
    for node in nodes(parsed, "function_definition"):
        declarator = node.child_by_field_name("declarator")
        assert declarator is not None
        assert declarator.text is not None
        names.append(declarator.text.decode().split("(")[0].strip("* "))
    return names


def calls(parsed: Parsed) -> list[str]:
    return [
        f.text.decode()
        for n in nodes(parsed, "call_expression")
        if (f := n.child_by_field_name("function")) is not None and f.text is not None
    ]


CLEAN = [
    "int main() { return 0; }",
    "template <int N> __global__ void k(float *p) { p[threadIdx.x] = N; }\n"
    "void f(float *p, cudaStream_t s) { k<3><<<1, 2, 0, s>>>(p); }",
    "void f() { for (auto &p : v) cudaMalloc(&p, n); }",
    "class A { public: A(int n) { cudaMalloc(&p, n); } ~A() { cudaFree(p); } float *p; };",
    "void f() { auto g = [&](int i) { return i; }; float x{1.0f}; }",
    'namespace n { struct S { int x; }; }\nextern "C" void f() { g(); }',
    "void f() { if (a) g(); else h(); }\nint MIN(int a, int b) { return a < b ? a : b; }",
]


@pytest.mark.parametrize("text", CLEAN)
def test_what_the_grammar_reads_stays_as_it_is(text: str) -> None:
    (parsed,) = parse(text)
    assert parsed.text == text.encode()
    assert parsed.errors == ()


STUMBLES = [
    "void f() { auto g = [=] __device__ (int i) { return i; }; }",
    "void f() { auto g = [=] __host__ __device__ (int i) { return i; }; }",
    "struct __align__(16) A { int x; };\nvoid f() {}",
    "__global__ void __launch_bounds__(256) f(int *p) {}",
    "__global__ void __launch_bounds__(256, 2, 1) f(int *p) {}",
    "__global__ void __launch_bounds__(MAX(A, B), C) f(int *p) {}",
    "__global__ void __cluster_dims__(2, 1, 1) f(int *p) {}",
    "__global__ void f(const __grid_constant__ P p, float *__restrict__ q) {}",
    "static __forceinline__ __device__ int f() { return 1; }",
    "__attribute__((noinline)) void f() {}",
    "__declspec(dllexport) void f() {}",
    "void f() { __shared__ __align__(16) float s[3]; }",
    'void f() { printf("a" PRIu64 "b\\n", x); }',
    'void f() { printf("%" PRIu64, x); printf(HEADER "b"); }',
    "void f() { k<<<{1, 2}, {3}>>>(x); }",
    "void f() { float **a = new float *[n]; }",
    "void f() { const float **a = new const float *[n]; }",
    "EXPORT void f() { g(); }",
    "EXPORT\nvoid f() { g(); }",
    "HD int f() { return 1; }",
    "static INLINE int f() { return 1; }",
    "void CALLBACK f() { g(); }",
    "API(int) f() { return 1; }",
    "int f() NOEXCEPT { return 1; }",
    "class API A : public B { int x; };\nvoid f() {}",
    "NAMESPACE_BEGIN\nvoid f() { g(); }\nNAMESPACE_END\n",
    "void f() { p = ALLOC(float, n); q = ALLOC(float *, n); r = ALLOC(unsigned int, 3); }",
    "void f() { if (typeid(T) == typeid(double)) g(); }",
    "void f() {\n  CHECK(a(1))\n  CHECK(b(2))\n}",
    "void f() {\n  CHECK(a(1))\n}",
    "void f() { CHECK(a(1)) CHECK(b(2)) }",
    "void f() {\n  CHECK(a(1))\n  int x = 1;\n  x = 2;\n}",
    "void f() {\n  if (x)\n    CHECK(a(1))\n  else\n    CHECK(b(2))\n}",
    "void f() {\n  lower(a(1))\n  lower(b(2))\n}",
    'void f() { asm volatile("bar.sync %0;" : : "r"(x) : "memory"); }',
    "void f() {\n#pragma unroll 4\n  for (;;) g();\n}",
    "void f(float *x) {\n  ALIGNED(float y, 16);\n}",
]


@pytest.mark.parametrize("text", STUMBLES)
def test_what_the_grammar_stumbles_over_is_masked(text: str) -> None:
    (parsed,) = parse(text)
    assert parsed.errors == ()
    assert "f" in functions(parsed)


def test_a_function_of_checks_without_semicolons_is_still_a_function() -> None:
    for body in ("  CHECK(a(1))\n", "  CHECK(a(1))\n  CHECK(b(2))\n"):
        for define in ("", "#define CHECK(x) do { if ((x) != cudaSuccess) abort(); } while (0)\n"):
            (parsed,) = parse(f"{define}void f() {{\n{body}}}\n")
            assert functions(parsed) == ["f"]
            assert "a" in calls(parsed)


def test_a_loop_macro_is_a_loop_and_no_function() -> None:
    for define in ("", "#define FOR_EACH(i, n) for (int i = 0; i < n; i++)\n"):
        (parsed,) = parse(f"{define}void f() {{\n  FOR_EACH(i, n) {{\n    g(i);\n  }}\n}}\n")
        assert functions(parsed) == ["f"]
        assert len(nodes(parsed, "while_statement")) == 1
        assert parsed.errors == ()


def test_a_lone_macro_after_a_call_is_no_type_of_the_next_call() -> None:
    (parsed,) = parse("void f() {\n  cudaMalloc(&a, n); CUERR\n  cudaMalloc(&b, n); CUERR\n}\n")
    assert calls(parsed) == ["cudaMalloc", "cudaMalloc"]


def test_qualifiers_that_a_mask_hides_are_told() -> None:
    text = "#define KERNEL __global__ static\nKERNEL void k(int *p) { *p = 1; }\n"
    text += "void f() { auto g = [=] __device__ () {}; }\n"
    (parsed,) = parse(text)
    assert parsed.errors == ()
    assert sorted(parsed.qualifiers) == [
        (text.index("KERNEL void"), "__global__"),
        (text.index("__device__"), "__device__"),
    ]


# -- conditionals -----------------------------------------------------------------------------------------------------


def test_branches_that_split_statements_are_plain_code_in_each_configuration() -> None:
    text = (
        "void f(int a\n#ifdef X\n, int b\n#endif\n) {\n#ifdef X\n  if (b) {\n#else\n  {\n#endif\n    cudaFree(p);\n"
        "  }\n  g(1,\n#ifndef X\n    2\n#else\n    3\n#endif\n  );\n#ifdef X\n  if (c) h(); else\n#endif\n    i();\n}\n"
    )
    first, second = parse(text)
    assert first.configuration == (("defined(X)", False),)
    assert second.configuration == (("defined(X)", True),)
    assert first.errors == second.errors == ()
    assert len(nodes(first, "if_statement")) == 0
    assert len(nodes(second, "if_statement")) == 2


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("#if 0", False), ("#if 1", True), ("#if 2 > 1 && !0", True), ("#ifdef __CUDACC__", True),
        ("#ifdef __cplusplus", True), ("#ifdef __CUDA_ARCH__", False), ("#if __CUDA_ARCH__ >= 600", False),
        ("#if CUDART_VERSION >= 11020", True), ("#if CUDART_VERSION < 9000", False),
        ("#if defined(CUDA_VERSION) && CUDA_VERSION > 8000", True),
        ("#define A 3\n#if A == 3", True), ("#define A 3\n#if A != 3", False), ("#define A\n#ifdef A", True),
        ("#define A\n#undef A\n#ifdef A", False), ("#define B 2\n#define A B\n#if A == 2", True),
        ("#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 10", False),
    ],
)  # fmt: skip
def test_what_the_compiler_decides_is_decided(condition: str, taken: bool) -> None:
    (parsed,) = parse(f"void f() {{\n{condition}\n  cudaFree(p);\n#endif\n}}\n")
    assert ("cudaFree" in calls(parsed)) == taken
    assert parsed.configuration == ()


@pytest.mark.parametrize(
    "condition",
    ["#ifdef X", "#if X", "#if X > 2", "#if defined X || defined(Y)", "#ifdef _WIN32", "#if CUDART_VERSION >= 12000",
     "#ifndef X\n#define X 1\n#endif\n#if X"],
)  # fmt: skip
def test_what_nobody_decides_is_read_both_ways(condition: str) -> None:
    parsed = parse(f"void f() {{\n{condition}\n  cudaFree(p);\n#endif\n}}\n")
    assert {"cudaFree" in calls(p) for p in parsed} == {True, False}


def test_one_variable_has_one_value_in_a_configuration() -> None:
    text = "void f() {\n#ifdef X\n  a();\n#endif\n#if !defined(X)\n  b();\n#endif\n#ifndef X\n  c();\n#endif\n}\n"
    assert [calls(p) for p in parse(text)] == [["b", "c"], ["a"]]


def test_a_chain_of_conditions_has_one_configuration_for_each_branch() -> None:
    text = "void f() {\n#if A == 1\n  a();\n#elif A == 2\n  b();\n#elif defined(C)\n  c();\n#else\n  d();\n#endif\n}\n"
    assert sorted(c for p in parse(text) for c in calls(p)) == ["a", "b", "c", "d"]


def test_a_definition_in_a_branch_decides_later_conditions() -> None:
    text = (
        "#ifdef X\n#define USE 1\n#else\n#define USE 0\n#endif\nvoid f() {\n#if USE\n  a();\n#else\n  b();\n#endif\n}\n"
    )
    assert sorted((dict(p.configuration)["defined(X)"], *calls(p)) for p in parse(text)) == [(False, "b"), (True, "a")]


def test_branches_of_includes_constants_and_types_are_not_multiplied() -> None:
    text = (
        "#ifdef _WIN32\n#include <windows.h>\n#else\n#include <unistd.h>\n#endif\n#ifdef D\ntypedef double real;\n"
        "#else\ntypedef float real;\n#endif\n#ifdef BIG\n#define N 100\n#else\n#define N 10\n#endif\n"
        "void f() {\n#ifdef BIG\n"
        "  int n = 3;\n#endif\n  g();\n}\n"
    )
    (parsed,) = parse(text)
    assert parsed.includes == ("<unistd.h>",)
    assert parsed.macros["N"].body == b"10"


def test_conditions_of_different_functions_are_not_multiplied() -> None:
    text = "".join(
        f"void f{i}() {{\n#ifdef X{i}\n  a{i}();\n#endif\n#ifdef Y{i}\n  b{i}();\n#endif\n}}\n" for i in range(9)
    )
    parsed = parse(text)
    assert len(parsed) == 4
    for i in range(9):
        seen = {(f"a{i}" in calls(p), f"b{i}" in calls(p)) for p in parsed}
        assert len(seen) == 4
    assert all(p.too_many_configurations == () for p in parsed)


def test_conditions_of_a_callee_and_of_its_caller_are_multiplied() -> None:
    text = "void g() {\n#ifdef X\n  a();\n#endif\n}\nvoid f() {\n  g();\n#ifdef Y\n  b();\n#endif\n}\n"
    seen = {("a" in calls(p), "b" in calls(p)) for p in parse(text)}
    assert len(seen) == 4


def test_the_macros_of_a_platform_go_together() -> None:
    asked = ("_WIN32", "WIN32", "_WIN64", "_MSC_VER", "__linux__", "linux", "__GNUC__", "__APPLE__", "MACOSX")
    body = "".join(f"#ifdef {name}\n  on{name}();\n#endif\n" for name in asked)
    linux, windows = parse(f"void f() {{\n{body}#if _MSC_VER >= 1900\n  late();\n#endif\n}}\n")[:2]
    assert calls(linux) == ["on__linux__", "onlinux", "on__GNUC__"]
    assert calls(windows)[:4] == ["on_WIN32", "onWIN32", "on_WIN64", "on_MSC_VER"]
    assert not {"on__linux__", "on__GNUC__", "on__APPLE__"} & set(calls(windows))


@pytest.mark.parametrize("name", ["__APPLE__", "MACOSX", "__MINGW32__", "__arm__"])
def test_a_platform_without_the_asynchronous_calls_is_not_read(name: str) -> None:
    assert [calls(p) for p in parse(f"void f() {{\n#if defined({name})\n  a();\n#else\n  b();\n#endif\n}}\n")] == [
        ["b"]
    ]
    defined = f"#define {name} 1\nvoid f() {{\n#if {name}\n  a();\n#else\n  b();\n#endif\n}}\n"
    assert [calls(p) for p in parse(defined)] == [["a"]]  # the file says it itself


def test_qnx_is_neither_linux_nor_windows_where_the_code_names_it() -> None:
    asked = {"__QNX__": "q", "__linux__": "l", "_WIN32": "w"}
    text = "void f() {\n" + "".join(f"#ifdef {name}\n  {call}();\n#endif\n" for name, call in asked.items()) + "}\n"
    assert sorted(calls(p) for p in parse(text)) == [["l"], ["q"], ["w"]]


def test_a_file_of_conditions_alone_has_one_configuration_at_least() -> None:
    part = "#if defined(PART_%d) || defined(ALL)\n#define RUN_%d(f) CALL(f)\n#else\n#define RUN_%d(f)\n#endif\n"
    parsed = parse("".join(part % (n, n, n) for n in range(400)) + "void g() { h(); }\n", path="a.h")
    assert parsed


def test_too_many_combinations_are_told() -> None:
    body = "".join(f"#ifdef X{i}\n  a{i}();\n#endif\n" for i in range(7))
    text = f"void f() {{\n{body}}}\nvoid g() {{\n  h();\n}}\n"
    parsed = parse(text)
    assert len(parsed) == 64
    assert parsed[0].too_many_configurations == ((0, text.index("void g") - 1),)


def test_device_code_takes_the_branch_of_the_device() -> None:
    text = (
        "__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 700\n  a(p);\n#else\n  b(p);\n#endif\n}\n"
        "void f() {\n#ifdef __CUDA_ARCH__\n  c();\n#else\n  d();\n#endif\n}\n"
    )
    (parsed,) = parse(text)
    assert calls(parsed) == ["a", "d"]


def test_an_include_guard_is_taken() -> None:
    (parsed,) = parse('#ifndef A_H\n#define A_H\n#include "b.h"\nvoid f() { g(); }\n#endif\n', path="a.h")
    assert functions(parsed) == ["f"]
    assert parsed.includes == ('"b.h"',)
    assert parsed.configuration == ()


def test_pragmas_are_told_except_unroll() -> None:
    text = "void f() {\n#pragma unroll\n#pragma omp parallel for\n  for (;;) g();\n}\n"
    (parsed,) = parse(text)
    assert parsed.between == ((text.index("#pragma omp"), "omp parallel for"),)


def test_comments_and_directives_are_blank_and_strings_are_not() -> None:
    text = 'char *s = "/* no */ // comment"; /* yes\n#define X */ int y; // "\nchar c = \'"\'; int z;\n'
    (parsed,) = parse(text)
    assert b'"/* no */ // comment"' in parsed.text
    assert b"int y;" in parsed.text
    assert b"int z;" in parsed.text
    assert b"#define" not in parsed.text


# -- macros -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("define", "kind", "passes", "looks"),
    [
        (
            "CHECK(x) do { cudaError_t e = x; if (e != cudaSuccess) { puts(cudaGetErrorName(e)); exit(1); } } while(0)",
            "transparent", 0, True,
        ),
        ("CHECK(x) assert((x) == cudaSuccess)", "transparent", 0, True),
        ("CHECK(x) x", "transparent", 0, False),
        ("CHECK(x) (x)", "transparent", 0, False),
        ("CHECK(x) gpuAssert((x), __FILE__, __LINE__)", "transparent", 0, True),
        ("CHECK(...) check_status((__VA_ARGS__), #__VA_ARGS__)", "transparent", 0, True),
        ("CHECK(msg, x) { cudaError_t e = x; if (e) { printf(\"%s\", msg); exit(1); } }", "transparent", 1, True),
        ("CHECK(x) if ((x) != cudaSuccess) return -1", "operates", None, False),
        ("CHECK(x) { cudaError_t e = x; if (e) goto cleanup; }", "operates", None, False),
        ("CHECK(x) { if (x) printf(\"%d\", x); }", "operates", None, False),
        ("LAST(msg) getLastError(msg, __FILE__, __LINE__)", "operates", None, False),
        ("NEW(n) mallocAssert(n, __FILE__, __LINE__)", "operates", None, False),
        ("MAYBE(x) if (debug) x", "operates", None, False),
        ("CHECK(x)", "operates", None, False),
        ("FREE(p) do { if (p) cudaFree(p); p = NULL; } while (0)", "operates", None, False),
        ("SYNC(x) { x; cudaDeviceSynchronize(); }", "operates", None, False),
        ("CLEANUP() { cudaFree(a); cudaFree(b); }", "operates", None, False),
        ("SYNC cudaDeviceSynchronize()", "operates", None, False),
        ("RUN(n) kernel<<<n, 1>>>(p)", "operates", None, False),
        ("N 100", "constant", None, False),
        ("BYTES (N * sizeof(float))", "constant", None, False),
        ("MIN(a, b) ((a) < (b) ? (a) : (b))", "constant", None, False),
        ("BLOCKS(n) (((n) + 255) / 256)", "constant", None, False),
        ("HD __host__ __device__", "constant", None, False),
        ("REAL float", "constant", None, False),
        ("MALLOC cudaMalloc", "rename", None, False),
        ("cuda(x) cuda##x", "rename", None, False),
        ("FOR(i, n) for (int i = 0; i < n; i++)", "opaque", None, False),
        ("BEGIN {", "opaque", None, False),
        ("KERNEL(name) __global__ void name() { }", "opaque", None, False),
    ],
)  # fmt: skip
def test_the_kind_of_a_macro_is_read_off_its_body(define: str, kind: str, passes: int | None, looks: bool) -> None:
    (macro,) = macros_of("a.h", f"#define {define}\n".encode()).values()
    assert (macro.kind, macro.passes, macro.looks) == (kind, passes, looks)


def test_the_offsets_of_a_macro_body_fit_the_file() -> None:
    data = b"// x\r\n#define  F( a,b ) \\\r\n  cudaFree(a); /* c */ \\\r\n  cudaFree(b)\r\nint x;\r\n"
    macro = macros_of("a.h", data)["F"]
    assert macro.params == ("a", "b")
    at = macro.body_start
    assert data[at : at + 8] == b"cudaFree"
    assert macro.body.index(b"cudaFree(b)") + at == data.index(b"cudaFree(b)")
    assert b"\\" not in macro.body
    assert b"/*" not in macro.body


TIMER = b"""#ifndef TIMER_H
#define TIMER_H
#define START
#ifdef COUNTERS
#undef START
#define START for (int e = 0; e < 4; e++) { if (start(e)) continue;
#endif
%s
#undef START
#define START timer_start();
#endif
#endif
"""


@pytest.mark.parametrize(
    ("condition", "known", "bodies"),
    [
        ("#ifdef TIME", {}, None),
        ("#ifdef TIME", {"TIME": "1"}, "timer_start();"),
        ("#ifdef TIME", {"TIME": "0"}, "timer_start();"),
        ("#if TIME", {"TIME": "1"}, "timer_start();"),
        ("#if TIME", {"TIME": "0", "COUNTERS": ""}, "for (int e = 0; e < 4; e++) { if (start(e)) continue;"),
        ("#if TIME", {"TIME": ""}, None),
        ("#if TIME > N", {"TIME": "2"}, None),
        ("#if defined(TIME) || defined(FLOPS)", {"TIME": "1"}, "timer_start();"),
        ("#if defined(FLOPS) || defined(TIME)", {"TIME": "1"}, "timer_start();"),
        ("#if defined(FLOPS) && defined(TIME)", {"TIME": "1"}, None),
        ("#if __CUDACC_VER_MAJOR__ > 5", {"TIME": "1"}, None),  # the compiler knows
        ("#ifdef _WIN32", {"TIME": "1"}, None),
        ("#if 1", {}, "timer_start();"),
        ("#ifdef NOT_HERE\n#define TIME\n#endif\n#ifdef TIME", {}, None),
        ("#ifdef NOT_HERE\n#undef TIME\n#endif\n#ifdef TIME", {"TIME": "1"}, None),
        ("#undef TIME\n#ifndef TIME", {"TIME": "1"}, "timer_start();"),
        ("#ifndef TIME\n#define TIME 1\n#endif\n#if TIME", {}, None),  # an option of the compiler may say otherwise
        ("#ifndef TIME\n#define TIME 1\n#endif\n#if TIME == 2", {"TIME": "2"}, "timer_start();"),
    ],
)
def test_which_macro_of_a_header_stands_behind_it(condition: str, known: dict[str, str], bodies: str | None) -> None:
    front = "".join(f"#define {name} {value}\n" for name, value in known.items()).encode()
    found = behind(front + b'#include "timer.h"\n', {"timer.h": TIMER % condition.encode()}, "START").one()
    assert found is not None
    assert (found.body.decode() if found.kind != "opaque" or bodies is not None else None) == bodies


def behind(source: bytes, headers: dict[str, bytes], name: str) -> Meaning:
    """What a macro is at the end of a source."""
    listings = {path: for_others(path, data)[1] for path, data in {"main.cu": source, **headers}.items()}

    def find(path: str, target: str) -> str | None:
        found = target.strip('"<>')
        return found if found in listings else None

    def includes(path: str) -> list[str]:
        targets = (step.name for step in listings[path].steps if step.keyword == "include")
        return [found for target in targets if (found := find(path, target)) is not None]

    walk = Walk(Unit(listings, listings.__getitem__, find, includes, [name], ["main.cu"]))
    assert walk.read("main.cu")
    return walk.of(name)


@pytest.mark.parametrize(
    ("name", "values"),
    [("A", ("1", "2")), ("B", ("",)), ("C", ("", None)), ("D", (None,)), ("E", ("3",)), ("F", ("x",)), ("H", (None,))],
)
def test_what_is_defined_in_front_of_an_include(name: str, values: tuple[str | None, ...]) -> None:
    data = b"""#define A 1
#define B
#define F(x) x
#ifdef Q
#define C
#undef A
#define A 2
#endif
#define D 2
#undef D
#ifndef E
#define E 3
#endif
"""
    meaning = behind(data, {}, name)
    bodies = {macro.body.decode() for macro in meaning.macros} | ({None} if meaning.gone or meaning.unset else set())
    assert bodies == set(values)


def test_macros_of_headers_are_visible() -> None:
    header = macros_of("a.h", b"#define check(x) do { if ((x) != cudaSuccess) exit(1); } while (0)\n")
    (parsed,) = parse("void f() {\n  check(a(1))\n  check(b(2))\n}\n", header)
    assert functions(parsed) == ["f"]
    assert parsed.macros["check"].path == "a.h"


def test_a_macro_with_two_live_meanings_is_opaque() -> None:
    (parsed,) = parse(
        "#define F(p) cudaFree(p)\nvoid f() { F(a); }\n#undef F\n#define F(p) free(p)\nvoid g() { F(a); }\n"
    )
    assert parsed.macros["F"].kind == "opaque"


def test_a_check_macro_that_looks_in_debug_builds_only_looks() -> None:
    data = b"#ifdef DEBUG\n#define CHECK(x) do { if ((x) != cudaSuccess) exit(1); } while (0)\n"
    data += b"#else\n#define CHECK(x) x\n#endif\n"
    macro = macros_of("a.h", data)["CHECK"]
    assert (macro.kind, macro.passes, macro.looks) == ("transparent", 0, True)
    assert {p.macros["CHECK"].looks for p in read("a.h", data)} == {True, False}


def test_a_macro_that_a_condition_chooses_makes_two_configurations() -> None:
    text = "#ifdef X\n#define F(p) cudaFree(p)\n#else\n#define F(p) free(p)\n#endif\nvoid f() { F(a); }\n"
    assert {p.macros["F"].body for p in parse(text)} == {b"cudaFree(p)", b"free(p)"}


def test_includes_keep_their_quotes() -> None:
    assert includes_of(b'#include "a.h"\n  #  include <b/c.h> // x\n') == ((0, '"a.h"'), (15, "<b/c.h>"))


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n", b"#", b"#if", b"#define", b"#define X", b"#include", b"#else", b"#endif", b"#elif X\nint x;",
        b"#if X\nint x;", b"#if X\n#else\n#else\n#endif", b"#if (\nint x;\n#endif", b"#if 1 / 0\nint x;\n#endif",
        b"/* open", b'"open', b"'open", b'char *s = "open\nint x;', b'R"x(open', b"#define X /* open\nint x;",
        b"\xef\xbb\xbfint x;",
        b"\xff\xfe\x00\x01int x;\r\n#ifdef \xff\r\nint y;\r\n#endif\r\n", b"int\x0cx;\x0b\x00int y;",
        b"#define A B\n#define B A\n#if A\nint x;\n#endif", b"#ifdef X\r\ncudaFree(p);\r\n#endif", b"}}}}", b"{{{{(((",
        b"((((((((((" * 50,
        b"#if " + b"(" * 3000 + b"\nf();\n#endif", b"#define F(\nF(1)\n", b"F(" * 200,
        b"#define LOOP(x) for (\nvoid f() {\n LOOP(1) {}\n}",
        b"#if A ? B : C\nf();\n#endif", b"a\\\n#if X\\\n && Y\nf();\n#endif\\",
    ],
)  # fmt: skip
def test_bad_input_is_read_as_well_as_it_can_be(data: bytes) -> None:
    for path in ("a.cu", "a.c", "a.hpp"):
        for parsed in read(path, data, {}):
            faithful(parsed, data)
    macros_of("a.h", data)
    includes_of(data)


def test_line_ends_and_byte_order_mark_survive() -> None:
    data = b"\xef\xbb\xbfvoid f() {\r\n#ifdef X\r\n  CHECK(a(1))\r\n#endif\r\n  g();\r\n}\r\n"
    for parsed in read("a.cu", data, {}):
        faithful(parsed, data)
        assert parsed.errors == ()


def test_an_error_in_one_function_leaves_the_others() -> None:
    text = "void f() { cudaMalloc(&p, n); }\nvoid g() { x y z ( ; }\nvoid h() { cudaFree(p); }\n"
    (parsed,) = parse(text)
    assert {"f", "h"} <= set(functions(parsed))
    assert parsed.errors
    assert all(text.index("void g") <= start < text.index("void h") for start, _ in parsed.errors)
