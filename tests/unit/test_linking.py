"""Sources of other folders: what links a program to the function that it calls."""

# ruff: noqa: E501  (each program is a line)

from __future__ import annotations

from pathlib import Path

import pytest

from cudafix.findings import Report, Safety
from cudafix.pipeline import programs as linking
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.outlines import Outlines
from cudafix.pipeline.programs import clusters_of
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config
from tests.other_stream import HEAD, check
from tests.other_stream import MAIN as MAIN_PROGRAM
from tests.soundness.test_ways_to_memory import cases

HEADER = b"#pragma once\nvoid scale(float *p, int n);\n"
KERNEL = b"""
#include "../inc/scale.h"
__global__ void k(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
void scale(float *p, int n) { k<<<1, 256>>>(p, n); }
"""
MAIN = b"""
#include "../inc/scale.h"
int main() {
    float *p;
    cudaMalloc(&p, 1024);
    scale(p, 256);
    cudaFree(p);
}
"""
FILES = {"app/main.cu": MAIN, "inc/scale.h": HEADER, "lib/scale.cu": KERNEL}


def programs(files: dict[str, bytes]) -> list[list[str]]:
    return [program for cluster in clusters_of(Tree(files)) for program in cluster]


def pairs(report: Report) -> list[Safety]:
    return [finding.safety for finding in report.findings if finding.codemod == "stream_ordered_pairs"]


@pytest.mark.parametrize("folder", ["", "/tree/", "deep/er/"])
def test_a_source_that_defines_what_a_header_declares_belongs_to_the_program(folder: str) -> None:
    files = {folder + path: data for path, data in FILES.items()}
    assert programs(files) == [[folder + path for path in ("app/main.cu", "inc/scale.h", "lib/scale.cu")]]
    assert pairs(analyze(files, Config())) == [Safety.PROVEN]


def test_without_the_source_the_call_is_unknown() -> None:
    report = analyze({path: FILES[path] for path in ("app/main.cu", "inc/scale.h")}, Config())
    assert [refusal.name for refusal in report.refusals] == ["unknown_call"]


def test_a_source_that_does_not_include_the_header_is_another_function() -> None:
    files = FILES | {"lib/scale.cu": KERNEL.replace(b'#include "../inc/scale.h"', b"")}
    assert programs(files) == [["app/main.cu", "inc/scale.h"]]


def test_a_static_function_is_not_what_a_header_declares() -> None:
    files = FILES | {"lib/scale.cu": KERNEL.replace(b"void scale", b"static void scale")}
    assert programs(files) == [["app/main.cu", "inc/scale.h"]]


def test_what_is_not_reached_is_not_linked() -> None:
    files = FILES | {"app/main.cu": MAIN.replace(b"scale(p, 256);", b"")}
    assert programs(files) == [["app/main.cu", "inc/scale.h"]]


def test_a_method_is_that_of_its_own_class() -> None:
    header = b"struct A { void run(); };\nstruct B { void run(); };\n"
    main = b'#include "../inc/ab.h"\nint main() { float *p; cudaMalloc(&p, 4); cudaFree(p); A a; a.run(); }\n'
    files = {
        "app/main.cu": main,
        "inc/ab.h": header,
        "lib/other.cu": b'#include "../inc/ab.h"\nvoid C::run() { cudaDeviceSynchronize(); }\n',
        "lib/ab.cu": b'#include "../inc/ab.h"\nvoid A::run() { cudaDeviceSynchronize(); }\n',
    }
    assert programs(files) == [["app/main.cu", "inc/ab.h", "lib/ab.cu"]]


def test_of_two_sources_the_nearer_is_meant() -> None:
    files = FILES | {"app/gpu/scale.cu": KERNEL.replace(b"../inc", b"../../inc")}
    assert programs(files) == [["app/main.cu", "inc/scale.h", "app/gpu/scale.cu"]]


@pytest.mark.parametrize(
    ("line", "header", "folders", "linked"),
    [
        (b"#include <unistd.h>", "other/unistd.h", {}, False),
        (b"#include <cuda.h>", "other/cuda.h", {}, False),
        (b"#include <sys/time.h>", "other/sys/time.h", {}, False),
        (b"#include <unistd.h>", "compat/unistd.h", {}, True),
        (b"#include <unistd.h>", "app/compat/unistd.h", {}, True),
        (b"#include <unistd.h>", "app/unistd.h", {}, True),
        (b"#include <unistd.h>", "other/unistd.h", {"app/main.cu": ("other",)}, True),
        (b'#include "unistd.h"', "other/unistd.h", {}, True),
        (b"#include <scale.h>", "other/scale.h", {}, True),
    ],
    ids=[
        "of the system",
        "of the toolkit",
        "in a folder of the system",
        "in a folder without a program",
        "below the source",
        "beside the source",
        "where the compilation database looks",
        "in quotes",
        "of the project",
    ],
)
def test_a_header_in_brackets_that_the_system_has_is_none_of_another_program(
    line: bytes, header: str, folders: dict[str, tuple[str, ...]], linked: bool
) -> None:
    files = {"app/main.cu": line + MAIN.partition(b"\n")[2].partition(b"\n")[2], header: HEADER}
    files["other/main.c"] = b"int main() { return 0; }\n"
    tree = Tree(files, include_folders=tuple(folders.items()))
    (program,) = (one for cluster in clusters_of(tree) for one in cluster)
    assert (header in program) == linked


@pytest.mark.parametrize("folder", ["", "/tree/"])
def test_a_prototype_without_a_header_leads_to_a_source_below(folder: str) -> None:
    main = MAIN.replace(b'#include "../inc/scale.h"', b"void scale(float *p, int n);")
    kernel = KERNEL.replace(b'#include "../inc/scale.h"', b"")
    files = {f"{folder}main.cu": main, f"{folder}kernel/scale.cu": kernel}
    assert programs(files) == [[f"{folder}main.cu", f"{folder}kernel/scale.cu"]]
    assert pairs(analyze(files, Config())) == [Safety.PROVEN]


def test_two_programs_that_share_a_source_are_proved_together() -> None:
    header = b"#pragma once\nvoid work(int n);\n"
    library = b"""
#include "work.h"
__global__ void k(float *p);
void work(int n) { float *p; cudaMalloc(&p, n); k<<<1, 1>>>(p); cudaFree(p); }
"""
    plain = b'#include "../lib/work.h"\nint main() { for (int i = 0; i < 3; i++) work(i); }\n'
    waits = b"""
#include "../lib/work.h"
__global__ void raise_flag(int *flag) { *flag = 1; }
int main() {
    int *flag;
    cudaMallocHost(&flag, 4);
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    raise_flag<<<1, 1, 0, s>>>(flag);
    work(4);
    return *flag;
}
"""
    files = {"lib/work.h": header, "lib/work.cu": library, "a/main.cu": plain}
    assert pairs(analyze(files, Config())) == [Safety.PROVEN]
    report = analyze(files | {"b/main.cu": waits}, Config())
    assert [refusal.name for refusal in report.refusals] == ["out_of_order"]


def test_a_program_of_too_many_files_goes_without_other_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudafix.pipeline.programs.MOST_FILES", 2)
    assert programs(FILES)[0] == ["app/main.cu", "inc/scale.h"]


@pytest.mark.parametrize("folder", ["app/", "lib/"])
def test_what_only_one_source_includes_is_defined_there(folder: str) -> None:
    files = {
        "app/main.cu": MAIN,
        "inc/scale.h": HEADER,
        f"{folder}scale.cu": b'#include "scale_impl.cuh"\n',
        f"{folder}scale_impl.cuh": KERNEL,
    }
    assert pairs(analyze(files, Config())) == [Safety.PROVEN]


WRAPPED = b"""
#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
extern "C" void work() { float *p; cudaMalloc((void **)&p, 4); k<<<1, 1>>>(p); cudaFree(p); }
"""


@pytest.mark.parametrize(("head", "there"), [(b"", False), (b"#include <cuda_runtime.h>\n", True)])
def test_a_c_file_that_only_calls_the_runtime_need_not_have_its_header(head: bytes, there: bool) -> None:
    """C allows a call of what nobody has declared; the types of the pool come from the header."""
    main = (
        head
        + b"void work(void);\nint more(void);\nint main(void) { cudaSetDevice(0); while (more()) work(); return 0; }\n"
    )
    report = analyze({"main.c": main, "work.cu": WRAPPED}, Config())
    (finding,) = report.findings
    (set_up,) = (edit for edit in finding.edits if b"cudaMemPool_t" in edit.text)
    assert (set_up.path == "main.c") is there


def test_a_source_beside_a_header_that_it_does_not_include_defines_what_that_declares() -> None:
    """Some sources only include what they use; definitions in a namespace are often indented."""
    files = {
        "main.cu": MAIN.replace(b"../inc/scale.h", b"lib/scale.h").replace(b"scale(p", b"lib::scale(p"),
        "lib/scale.h": b"namespace lib {\n  void scale(float *p, int n);\n}\n",
        "lib/kernels.cu": b"""
__global__ void k(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
namespace lib {
  void scale(float *p, int n) { k<<<1, 256>>>(p, n); }
}
""",
    }
    assert programs(files) == [["main.cu", "lib/scale.h", "lib/kernels.cu"]]
    assert pairs(analyze(files, Config())) == [Safety.PROVEN]
    including = b'#include "scale.h"\n' + files["lib/kernels.cu"]
    assert programs(files | {"lib/other.cu": including})[0] == ["main.cu", "lib/scale.h", "lib/other.cu"]


@pytest.mark.parametrize(
    "body",
    [
        "if (n > 1) {\n        n = 2;\n    }\n    else if (n < 0) {\n        n = 0;\n    }",
        "for (int i = 0; i < n; ++i)\n    {\n    }",
        "constexpr int two = 2;\n    if constexpr (two > 1) {\n    }",
        "try {\n    }\n    catch (...) {\n    }",
    ],
)
def test_a_statement_is_no_definition_that_a_program_lacks(body: str) -> None:
    """`else if (n < 0) {` looks like a function with the name of `if`, which every program uses."""
    main = MAIN_PROGRAM.replace(
        "%s", "for (int n = 0; n < 2; ++n) { if constexpr (sizeof n > 8) ++n; } try {} catch (...) {}"
    )
    other = f"#include <cuda_runtime.h>\nnamespace lib {{\nvoid apart(int n) {{\n    int *p; cudaMalloc(&p, 4);\n    {body}\n    cudaFree(p); }}\n}}\n"
    files = {"main.cu": main.encode(), "other.cu": other.encode()}
    assert programs(files) == [["main.cu"], ["other.cu"]]


@pytest.mark.parametrize(
    "head",
    [
        "__attribute__((noinline)) void go()",
        "__attribute__((noinline, aligned(16))) void go()",
        "[[gnu::noinline]] void go()",
        "std::function<void(int)> unused(int); void go() noexcept(true)",
        "inline auto unused = sizeof(int); void go()",
        "decltype(sizeof(int)) go()",
    ],
)
def test_what_stands_in_front_of_the_name_of_a_function_is_not_its_name(head: str) -> None:
    """The source that defines it is found, and what it does on `other` is seen."""
    main = HEAD + "cudaStream_t shared; int *given;\nint go();\n" + MAIN_PROGRAM % "shared = other; given = d; go();"
    source = f"#include <functional>\nextern cudaStream_t shared; extern int *given; __global__ void k(int *v);\nint apart; {head} {{ k<<<1, 1, 0, shared>>>(given); return 0; }}\n"
    files = {"main.cu": main.encode(), "other.cu": source.encode()}
    assert programs(files) == [["main.cu", "other.cu"]]
    check(analyze(files, Config()))


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the programs of a tree were looked for, in the one element."""
    counted = [0]
    look = linking._linked

    def linked(*args: object) -> list[list[str]]:
        counted[0] += 1
        return look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(linking, "_linked", linked)
    return counted


APART = FILES | {"app/main.cu": MAIN.replace(b"    scale(p, 256);\n", b"")}


@pytest.mark.parametrize(
    "changed",
    [
        {"app/main.cu": FILES["app/main.cu"] + b"// changed\n"},
        {"app/main.cu": FILES["app/main.cu"].replace(b"1024", b"4096")},
        {"app/main.cu": b"\n" + FILES["app/main.cu"], "inc/scale.h": HEADER + b"// changed\n"},
    ],
)
def test_a_change_that_names_nothing_else_links_nothing_anew(
    changed: dict[str, bytes], links: list[int], tmp_path: Path
) -> None:
    file = tmp_path / "cache"
    first = clusters_of(Tree(FILES), Cache(file))
    assert clusters_of(Tree(FILES | changed), Cache(file)) == first
    assert links == [1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (APART, FILES),
        (FILES, APART),
        (FILES, FILES | {"lib/scale.cu": KERNEL.replace(b"void scale", b"static void scale")}),
        (FILES, FILES | {"lib/scale.cu": KERNEL.replace(b'#include "../inc/scale.h"', b"")}),
        (FILES, FILES | {"inc/scale.h": HEADER.replace(b"scale", b"other")}),
        (FILES, FILES | {"lib/more.cu": KERNEL}),
        (FILES, FILES | {"lib/scale.cu": KERNEL + b"int main() { float *p; cudaMalloc(&p, 4); cudaFree(p); }\n"}),
    ],
)
def test_what_is_kept_of_links_is_what_would_be_found(
    before: dict[str, bytes], after: dict[str, bytes], tmp_path: Path
) -> None:
    file = tmp_path / "cache"
    assert clusters_of(Tree(before), Cache(file)) == clusters_of(Tree(before))
    assert clusters_of(Tree(after), Cache(file)) == clusters_of(Tree(after))
    assert clusters_of(Tree(before), Cache(file)) == clusters_of(Tree(before))


# a header, what `main` does, and a source: `B` uses the memory of `main` on another stream
WITHOUT_A_NAME = """
struct T { T(); ~T(); }; using Ts = std::vector<T>; || Ts v(2); || T::T() {} T::~T() B
struct T { T(); ~T(); }; using Ts = std::vector<T>; || Ts v(2); || T::T() B T::~T() {}
struct T { T(); ~T(); }; typedef std::vector<T> Ts; || Ts v(2); || T::T() B T::~T() {}
struct T { T(); ~T(); }; using Ts = T; || Ts v; || T::T() {} T::~T() B
struct T { T(); ~T(); }; struct W { T t; }; || W v; || T::T() {} T::~T() B
struct T { T(); ~T(); }; struct W : T { int x; }; || W v; || T::T() {} T::~T() B
struct T { ~T(); }; || T v; || T::~T() B
struct T { ~T(); }; || T v; || int q; T::~T() B
struct O { struct T { ~T(); }; }; || O::T v; || O::T::~T() B
struct T { ~T(); }; inline T make() { return T(); } || auto x = make(); || T::~T() B
struct T { ~T(); }; struct F { T make() { return {}; } }; || F f; f.make(); || T::~T() B
namespace n { struct T { T(); ~T(); }; } using Z = n::T; || Z v; || namespace n { T::T() {} T::~T() B }
template <class X> struct T { T(); }; using Z = T<int>; || Z v; || template <class X> T<X>::T() B template struct T<int>;
struct T { T &operator=(int); }; || T v; v = 3; || T &T::operator=(int) { B return *this; }
struct T { void operator()(int); }; || T v; v(3); || void T::operator()(int) B
struct T { operator bool() const; }; || T v; if (v) e = 0; || T::operator bool() const { B return true; }
struct T { operator int() const; }; || T v; int q = v; || T::operator int() const { B return 1; }
struct T { int x; T operator+(T b); }; || T v, w; v + w; || T T::operator+(T b) { B return b; }
struct T { int x; T *operator->(); }; || T v; v->x; || T *T::operator->() { B return this; }
struct T { static void *operator new(size_t n); }; || T *v = new T; || void *T::operator new(size_t n) { B return malloc(n); }
struct T { static void operator delete(void *); }; || T *v = new T; delete v; || void T::operator delete(void *n) B
struct T { int x; }; T operator+(T a, T b); || T v, w; v + w; || T operator+(T a, T b) { B return a; }
struct T { int x; }; T &operator<<(T &a, int b); || T v; v << 3; || T &operator<<(T &a, int b) { B return a; }
int operator""_x(unsigned long long); || 3_x; || int operator""_x(unsigned long long) { B return 1; }
void go(); || go(); || int q; void go() B
void go(); || go(); || namespace { int q; } void go() B
void go(); || go(); || /* a */ void go() B
void go(); || go(); || [[gnu::noinline]] void go() B
void go(); || go(); ||           void go() B
extern "C" void go(); || go(); || extern "C" { void go() B }
namespace n { void go(); } || n::go(); || namespace n { void go() B }
inline int n() { return 1; } || int *v = new int[3]; || void *operator new(size_t n) { if (gp) run(gp, gs); return malloc(n); }
inline int n() { return 1; } || int *v = new int[3]; || void *operator new[](size_t n) { if (gp) run(gp, gs); return malloc(n); }
inline int n() { return 1; } || delete e; || void operator delete(void *p) noexcept B
inline int n() { return 1; } || std::vector<int> v(3); || void *operator new(size_t n) { if (gp) run(gp, gs); return malloc(n); }
extern thread_local int t; || int n = t; || static int go() { run(gp, gs); return 1; } thread_local int t = go();
struct S { static thread_local int t; }; || int n = S::t; || static int go() { run(gp, gs); return 1; } thread_local int S::t = go();
struct S { static cudaStream_t s; static int *p; static void init(); static void go(); }; || S::init(); S::p = d; S::go(); || cudaStream_t S::s; int *S::p; void S::init() { s = gs; } void S::go() { run(p, s); }
struct S { inline static cudaStream_t s; inline static int *p; static void go(); }; || S::s = other; S::p = d; S::go(); || void S::go() { run(p, s); }
struct S { static cudaStream_t s; static void init(); }; || S::init(); run(d, S::s); || cudaStream_t S::s; void S::init() { s = gs; }
struct R { static inline R *first; R *next; R() : next(first) { first = this; } virtual void go() {} }; || for (R *r = R::first; r; r = r->next) r->go(); || struct X : R { void go() override B }; static X x;
struct R { virtual void go() {} static std::vector<R *> &all() { static std::vector<R *> v; return v; } }; || for (R *r : R::all()) r->go(); || struct X : R { X() { all().push_back(this); } void go() override B }; X x;
struct R { virtual void go() {} static std::vector<R *> &all() { static std::vector<R *> v; return v; } }; || for (R *r : R::all()) r->go(); || struct X : public R { void go() override B }; static int once = (R::all().push_back(new X), 1);
struct R { virtual void go() {} static std::vector<R *> &all() { static std::vector<R *> v; return v; } }; template <class T> struct Registers { Registers() { R::all().push_back(new T); } }; || for (R *r : R::all()) r->go(); || namespace n { class X : public R { void go() override B }; static Registers<X> x; }
struct R { virtual void go() {} static std::vector<R *> &all() { static std::vector<R *> v; return v; } }; || for (R *r : R::all()) r->go(); || struct X : R { void go() override B }; static R *make() { return new X; } static bool add(R *r) { R::all().push_back(r); return true; } static bool once = add(make());
"""
SHARED = "#pragma once\n#include <vector>\nextern int *gp; extern cudaStream_t gs; void run(int *d, cudaStream_t s);\n"


@pytest.mark.parametrize("folders", [("", "", ""), ("app/", "lib/", "lib/"), ("app/", "inc/", "lib/")])
@pytest.mark.parametrize("case", cases(WITHOUT_A_NAME))
def test_what_runs_without_its_name_or_is_not_first_on_its_line_is_linked(
    case: str, folders: tuple[str, str, str]
) -> None:
    header, statements, source = (part.strip(" ").replace("B", "{ run(gp, gs); }") for part in case.split("||"))
    main, inc, lib = folders
    include = '#include "../%st.h"\n' if main else '#include "%st.h"\n'
    program = f"int *gp; cudaStream_t gs;\n{MAIN_PROGRAM % f'gp = d; gs = other; {statements}'}"
    texts = {
        f"{main}main.cu": include % inc + HEAD + program,
        f"{inc}t.h": SHARED + header,
        f"{lib}t.cu": include % inc + source,
    }
    check(analyze({path: text.encode() for path, text in texts.items()}, Config()))


STORES = {
    "a stream": (
        "extern cudaStream_t gs;",
        "cudaStream_t gs;",
        "run(d, gs);",
        "cudaStreamCreateWithFlags(&gs, cudaStreamNonBlocking)",
    ),
    "a stream of an array": (
        "extern cudaStream_t gs[2];",
        "cudaStream_t gs[2];",
        "run(d, gs[1]);",
        "cudaStreamCreateWithFlags(&gs[1], cudaStreamNonBlocking)",
    ),
    "the address of an object": (
        "void run(int *, cudaStream_t); struct Box { cudaStream_t s; void go(int *p) { run(p, s); } }; extern Box own, *box;",
        "Box own, *box = &own;",
        "box->go(d);",
        "(box = new Box, cudaStreamCreateWithFlags(&box->s, cudaStreamNonBlocking))",
    ),
}


@pytest.mark.parametrize("stored", STORES)
def test_what_a_source_stores_in_variables_of_others_at_the_start_is_seen(stored: str) -> None:
    header, defined, used, value = STORES[stored]
    include = '#include "../inc/1.h"\n'
    files = {
        "app/main.cu": (HEAD + include + defined + MAIN_PROGRAM % used).encode(),
        "inc/1.h": ("#include <cuda_runtime.h>\n" + header).encode(),
        "lib/2.cu": (include + f"static int set() {{ return {value}; }} static int once = set();").encode(),
    }
    assert programs(files) == [["app/main.cu", "inc/1.h", "lib/2.cu"]]
    report = analyze(files, Config())
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert all(any(place.text.startswith(("freed on `gs", "freed on `box->s")) for place in f.related) for f in moved)


OF_ALL = {
    "pool.h": b"#pragma once\nstruct Pool { float *p; Pool() { cudaMalloc(&p, 4); } ~Pool() { cudaFree(p); } };\n",
    **{
        f"p{n}/main.cu": b'#include "../pool.h"\n__global__ void k(float *);\n'
        b"int main() { Pool pool; float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d); return 0; }\n"
        for n in range(4)
    },
}


def test_what_too_many_programs_have_stays_and_the_rest_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_TOGETHER", 4)
    report = analyze(OF_ALL, Config())
    assert [(r.name, r.path) for r in report.refusals] == [("budget", "pool.h")]
    assert report.refusals[0].message == "`pool.h` is part of too many programs to be proved for all of them"
    moves = [f.path for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert sorted(moves) == [f"p{n}/main.cu" for n in range(4)]
    assert report.sites == 5


def test_a_pair_with_a_file_that_stays_stays_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_TOGETHER", 4)
    giving = b"#pragma once\nstatic inline void give(float *p) { cudaFree(p); }\nstatic inline float *take() { float *p; cudaMalloc(&p, 4); return p; }\n"
    files = {
        "pool.h": giving,
        **{
            f"p{n}/main.cu": b'#include "../pool.h"\n__global__ void k(float *);\n'
            b"int main() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); give(d); give(take()); return 0; }\n"
            for n in range(4)
        },
    }
    report = analyze(files, Config())
    assert {r.name for r in report.refusals} == {"budget"}
    assert len(report.refusals) == report.sites == 5


def test_programs_that_fit_are_one_part() -> None:
    tree = Tree(OF_ALL)
    (cluster,) = clusters_of(tree)
    assert linking.parted(tree, cluster) == [linking.Part(cluster)]


@pytest.mark.parametrize(
    ("element", "linked"),
    [("0x7f, ", False), ("-1.5e+3f, ", False), ("scale_by, ", True), ("abc, ", True)],
    ids=["hexadecimal_numbers", "floating_numbers", "functions", "names_of_hexadecimal_letters"],
)
def test_a_long_table_names_what_is_in_it(element: str, linked: bool) -> None:
    """A file that holds a binary as an array is not parsed for it; a table of functions is."""
    name = element.strip(", ") if linked else "scale_by"
    table = (
        f'#include "inc.h"\nint (*table[])(int) = {{ {element * 1000} }};\nint use(int n) {{ return table[n](n); }}\n'
    )
    words = Outlines(Tree({"a.cu": table.encode()}).files).words("a.cu")
    assert (name.encode() in words.all) is linked
    assert b"use" in words.defined
