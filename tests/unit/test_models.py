"""The API tables: every row is well formed, the families name what the libraries have, and FACTS holds row by row."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudafix import models
from cudafix.models import LONGEST_PREFIX, TableError, Tables, load
from cudafix.models.api import HOST_EFFECTS, Api, Effect, Waits, field_of, played, roles_of
from cudafix.models.device import device
from cudafix.models.rows import ROLES, UNDOCUMENTED, Table, expand
from cudafix.verify import nvcc


@pytest.fixture(scope="module")
def tables() -> Tables:
    return load()


def known(tables: Tables, name: str, arity: int) -> Api:
    api = tables.lookup(name, arity)
    assert api is not None, name
    return api


def test_every_row_parses_and_its_roles_exist(tables: Tables) -> None:
    names = list(tables.names())
    assert len(names) > 7000
    for name in names:
        plain, _, number = name.partition("/")
        kind, dot, method = plain.rpartition(".")
        api = tables.method(kind, method) if dot else tables.lookup(plain, int(number or 0))
        api = api or next((found for n in range(30) if (found := tables.lookup(plain, n))), None)
        assert api is not None, name
        assert {"stream" if field_of(one, "stream") else one for one in played(api)} <= ROLES, name
        assert api.source, name


def test_no_prefix_is_longer_than_what_is_looked_for(tables: Tables) -> None:
    functions = (name for name in tables.names() if name.endswith("*") and "." not in name)
    assert max(map(len, functions)) <= LONGEST_PREFIX
    assert tables.lookup("cutlass::" + "a" * 100_000, 1) is tables.lookup("cutlass::plus", 1)


def test_rows_are_consistent(tables: Tables) -> None:
    for name in tables.names():
        api = next((found for n in range(30) if (found := tables.lookup(name.partition("/")[0], n))), None)
        if api is None:
            continue
        if api.effect in (Effect.ALLOC, Effect.FREE):
            assert api.memory is not None, name
        if api.effect is Effect.EXTERNAL:
            assert api.why, name
        if api.on == "handle" and api.effect in (Effect.WORK, Effect.COPY):
            assert {"handle", "stream"} & set(api.roles), name
        if api.holds is not None:
            assert {"keeper_out", "handle_out"} & set(api.roles), name
        if "alias" in played(api):
            assert "of" in played(api), name
        if "keep" in played(api):
            holders = {"keeper", "keeper_out", "graph"} & played(api)
            by_library = api.effect is Effect.EXTERNAL or api.effect in HOST_EFFECTS
            assert holders or api.returns == "keeper" or by_library, name


DOCUMENTS = re.compile(
    r"the worst case\b"
    r"|CUDA (?:Runtime|Driver|Math) API(?: of CUDA)? \d|CUDA C\+\+ Programming Guide \d|cu[A-Z]\w+ \d"
    r"|(?:CUB|Thrust), CCCL \d"
    r"|NPP \d|nvJPEG \d|NVML \d|NVRTC \d|NCCL \d|NVSHMEM \d|TensorRT \d+ NvInfer|cuda-python \d|cuFile API reference"
    r"|NVTX \d|NVIDIA/cuda-samples|MPI \d|UCX \d|OpenMP \d|OpenCV \d|https://registry\.khronos\.org/"
    r"|OpenGL \d|freeglut API|GLFW \d|C17 \d|C\+\+20\b|POSIX\.1-20|GCC manual|Intel Intrinsics Guide|Windows API"
    r"|BLAS Technical Forum|MathWorks|zlib\.h \d|Python \d|NumPy \d|matplotlib \d|google\.colab|\w+\([2357]\)"
)
"""How the names of the documents begin that a row may rest on."""


def test_each_row_says_where_it_is_documented_or_that_it_is_the_worst_case() -> None:
    for module in models._MODULES:
        for name, (table, line, source) in models._index(module).items():
            api = table.parse(line, source)
            assert DOCUMENTS.match(source), f"{module}: {name}: {source!r}"
            assert api.source == source, name
            if source.startswith("the worst case"):
                hidden = api.anywhere and api.timed and api.effect is not Effect.NOTHING
                assert hidden or api.effect is Effect.EXTERNAL or "timed" in line, name


def test_a_row_that_names_all_functions_of_a_library_says_the_worst_or_what_is_documented_of_all() -> None:
    """A pattern holds for functions that nobody has looked at: those of a table of its own, or that keep nothing."""
    every = {
        name: source
        for module in ("host", "opencl", "opencv")
        for name, (_, _, source) in models._index(module).items()
        if name.endswith("*") and "." not in name
    }
    unlimited = {name for name, source in every.items() if not source.startswith("the worst case")}
    assert {name for name in unlimited if not name.startswith(("cl", "cv::"))} == {
        *("nvrtc*", "nvJitLink*", "nvPTXCompiler*"),  # compilers: they reach no device
        *("cblas_*", "LAPACKE_*", "_mm_*", "_mm256_*", "_mm512_*", "__builtin_*"),  # of values and arguments
        *(f"gl{letter}*" for letter in string.ascii_uppercase),  # all memory of the host, and the time
    }


def test_a_row_without_a_document_is_no_row() -> None:
    table = Table("", "twice host -\n@ C17 7.24\nonce host -\n")
    rows = {name: table.parse(line, source) for name, line, source in table.index()}
    assert rows["twice"] is UNDOCUMENTED
    assert (rows["once"].effect, rows["once"].source) == (Effect.HOST, "C17 7.24")


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("std::copy", "- hr hr hw"),
        ("std::sort", "hrw hrw hrw"),  # with a comparison, or behind a policy
        ("std::transform", "hr hr hr hw fn"),
        ("std::transform", "- hr hr hr hw fn"),
        ("std::inclusive_scan", "hr hr hrw hw"),
        ("std::exclusive_scan", "hr hr hrw hw fn"),
        ("std::merge", "hr hr hr hr hrw hw"),
        ("std::fill_n", "- hw - put"),
    ],
)
def test_an_execution_policy_shifts_the_arguments_of_an_algorithm(tables: Tables, name: str, roles: str) -> None:
    count = len(roles.split())
    assert known(tables, name, count).roles == tuple(roles.split())


def test_a_user_row_has_a_document_of_its_own_or_is_called_so() -> None:
    row = {"name": "my_read", "effect": "read", "roles": "hw"}
    assert known(load([row]), "my_read", 1).source == "your own table"
    assert known(load([{**row, "source": "mylib 2.1"}]), "my_read", 1).source == "mylib 2.1"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a[SD]{,_64}", ["aS", "aS_64", "aD", "aD_64"]),
        ("{x{1,2},[yz]3}", ["x1", "x2", "y3", "z3"]),
        ("operator[]", ["operator[]"]),
        ("{,p}q", ["q", "pq"]),
    ],
)
def test_families_expand(pattern: str, names: list[str]) -> None:
    assert expand(pattern) == names


# What FACTS says of a call: effect, whom the host waits for, memory.
FACTS = [
    ("cudaMalloc", 2, Effect.ALLOC, Waits.NONE, "device"),
    ("cudaFree", 1, Effect.FREE, Waits.DEVICE, "device"),
    ("cudaMallocAsync", 3, Effect.ALLOC, Waits.NONE, "async"),
    ("cudaMallocAsync", 4, Effect.ALLOC, Waits.NONE, "async"),
    ("cudaFreeAsync", 2, Effect.FREE, Waits.NONE, "async"),
    ("cudaFreeAsync", 1, Effect.FREE, Waits.NONE, "async"),
    ("cudaFreeHost", 1, Effect.FREE, Waits.DEVICE, "pinned"),
    ("cudaMallocManaged", 2, Effect.ALLOC, Waits.NONE, "managed"),
    ("cudaMallocHost", 2, Effect.ALLOC, Waits.NONE, "pinned"),
    ("cudaHostAlloc", 3, Effect.ALLOC, Waits.NONE, "pinned"),
    ("cudaMallocPitch", 4, Effect.ALLOC, Waits.NONE, "pitched"),
    ("cudaMallocArray", 4, Effect.ALLOC, Waits.NONE, "array"),
    ("cudaMemset", 3, Effect.WORK, Waits.NONE, None),
    ("cudaStreamDestroy", 1, Effect.STREAM_DESTROY, Waits.NONE, None),
    ("cudaDeviceReset", 0, Effect.RESET, Waits.NONE, None),
    ("cudaIpcGetMemHandle", 2, Effect.IPC, Waits.NONE, None),
    ("cudaDeviceEnablePeerAccess", 2, Effect.PEER, Waits.NONE, None),
    ("cudaMemGetInfo", 2, Effect.FREE_MEMORY, Waits.NONE, None),
    ("cudaMemPrefetchAsync", 4, Effect.WORK, Waits.NONE, None),
    ("cudaLaunchHostFunc", 3, Effect.HOST_FUNC, Waits.NONE, None),
    ("cublasDestroy", 1, Effect.HANDLE_DESTROY, Waits.MAYBE, None),
    ("cublasSdot", 7, Effect.WORK, Waits.MAYBE, None),
    ("thrust::sort", 2, Effect.WORK, Waits.OWN, None),
    ("cub::DeviceReduce::Sum", 5, Effect.WORK, Waits.NONE, None),
    ("malloc", 1, Effect.ALLOC, Waits.NONE, "host"),
    ("printf", 3, Effect.OUTPUT, Waits.NONE, None),
    ("exit", 1, Effect.EXIT, Waits.NONE, None),
    ("std::chrono::steady_clock::now", 0, Effect.CLOCK, Waits.NONE, None),
    ("MPI_Send", 6, Effect.MESSAGE, Waits.NONE, None),
]


@pytest.mark.parametrize(("name", "arity", "effect", "waits", "memory"), FACTS)
def test_facts(tables: Tables, name: str, arity: int, effect: Effect, waits: Waits, memory: str | None) -> None:
    api = known(tables, name, arity)
    assert (api.effect, api.waits, api.memory) == (effect, waits, memory)


def test_copies_say_whether_they_block(tables: Tables) -> None:
    assert known(tables, "cudaMemcpy", 4).sync
    assert not known(tables, "cudaMemcpyAsync", 5).sync
    assert known(tables, "cudaMemcpyToSymbol", 3).roles[:2] == ("w", "r")
    assert known(tables, "cuMemcpyDtoH_v2", 3).sync


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("cublasSgemm", "handle - - - - - hr r - r - hr rw -"),
        ("cublasZgemm_v2_64", "handle - - - - - hr r - r - hr rw -"),
        ("cublasDgemmStridedBatched", "handle - - - - - hr r - - r - - hr rw - - -"),
        ("cublasIsamax", "handle - r - w"),
        ("cublasDznrm2_v2", "handle - r - w"),
        ("cublasCgeru_64", "handle - - hr r - r - rw -"),
        ("cufftExecC2C", "handle rw w -"),
        ("cufftExecD2Z", "handle rw w"),
        ("cusparseSpMV", "handle - hr r r hr rw - - rw"),
        ("cusparseCreateCsr", "keeper_out - - - keep keep keep - - - -"),
        ("cusparseSpSV_createDescr", "keeper_out"),
        ("cusparseSpSV_analysis", "handle - hr r r rw - - keeper keep"),
        ("cusparseSpGEMM_compute", "handle - - hr r r hr rw - - keeper out keep"),
        ("cublasLtMatmulDescCreate", "keeper_out - -"),
        ("curandGenerateUniform", "handle w -"),
        ("cusolverDnDgetrs", "handle - - - r - r rw - w"),
        ("cudnnConvolutionForward", "handle hr - r - r - - rw - hr - rw"),
    ],
)
def test_families_have_the_libraries_parameters(tables: Tables, name: str, roles: str) -> None:
    assert known(tables, name, len(roles.split())).roles == tuple(roles.split())


def test_names_that_no_library_has_are_unknown(tables: Tables) -> None:
    for name in ("cublasSgemmNot", "cublasISamax", "foo::sort", "my_kernel_wrapper", "cudaFrobnicate", "cublasHgemv"):
        assert tables.lookup(name, 4) is None, name


def test_a_bare_name_is_no_algorithm_of_a_library_that_works_on_the_device(tables: Tables) -> None:
    for name in ("transform_if", "sort_by_key", "gather", "Sum", "square", "device_vector"):
        assert all(tables.lookup(name, arity) is None for arity in range(10)), name
    assert known(tables, "sort", 2).effect is Effect.HOST


def test_a_call_that_does_not_fit_is_of_something_else(tables: Tables) -> None:
    assert tables.lookup("cudaMemcpy", 5) is None
    assert tables.lookup("cublasSgemm", 12) is None
    assert known(tables, "cublasSgemm", 13).on == "global"  # the interface without a handle
    assert tables.lookup("transform", 2) is None


def test_overloads_are_told_by_their_arguments(tables: Tables) -> None:
    assert known(tables, "cudaMemPrefetchAsync", 4).roles[3] == "stream"
    assert known(tables, "cudaMemPrefetchAsync", 5).roles[4] == "stream"
    assert known(tables, "cub::DeviceSelect::Flagged", 7).roles[6] == "stream?"
    assert known(tables, "cub::DeviceSelect::Flagged", 8).roles[7] == "stream"


@pytest.mark.parametrize(
    ("written", "same_as"),
    [
        ("std::sort", "sort"),
        ("::printf", "printf"),
        ("std::max<int>", "max"),
        ("cub::DeviceReduce::Sum<float *, float *>", "cub::DeviceReduce::Sum"),
        ("DeviceReduce::Sum", "cub::DeviceReduce::Sum"),
        ("cuMemAlloc_v2", "cuMemAlloc"),
        ("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync"),
        ("make_zip_iterator", "thrust::make_zip_iterator"),
        ("steady_clock::now", "std::chrono::steady_clock::now"),
        ("raw_pointer_cast", "thrust::raw_pointer_cast"),
        ("glutSwapBuffers", "glutPostRedisplay"),
    ],
)
def test_names_as_people_write_them(tables: Tables, written: str, same_as: str) -> None:
    for arity in range(8):
        assert tables.lookup(written, arity) == tables.lookup(same_as, arity)
    assert any(tables.lookup(written, arity) for arity in range(8))


@pytest.mark.parametrize(
    ("type_", "name", "effect", "returns"),
    [
        ("std::vector<std::pair<int, float *>>", "push_back", Effect.HOST, None),
        ("const std::vector<float> &", "data", Effect.HOST, "same"),
        ("std::unique_ptr<float[]>", "get", Effect.HOST, "same"),
        ("string", "c_str", Effect.HOST, "same"),
        ("std::chrono::duration<double, std::milli>", "count", Effect.HOST, None),
        ("std::chrono::steady_clock::time_point", "time_since_epoch", Effect.HOST, "same"),
        ("std::ofstream", "close", Effect.OUTPUT, "same"),
        ("std::thread", "join", Effect.EXTERNAL, None),
        ("thrust::device_vector<int>", "data", Effect.HOST, "same"),
        ("thrust::cuda::par", "on", Effect.HANDLE_CREATE, "handle"),
        ("auto", "count", Effect.HOST, "same"),
    ],
)
def test_methods(tables: Tables, type_: str, name: str, effect: Effect, returns: str | None) -> None:
    api = tables.method(type_, name)
    assert api is not None
    assert (api.effect, api.returns) == (effect, returns)


def test_methods_of_unknown_types_are_unknown(tables: Tables) -> None:
    assert tables.method("Solver", "size") is None
    assert tables.method("auto", "run") is None


def test_a_method_that_gets_more_than_its_row_has_is_another_one(tables: Tables) -> None:
    assert tables.method("std::vector<int>", "size", 2) is None
    assert tables.method("std::vector<int>", "insert", 3) is not None
    assert tables.method("std::ifstream", "open", 4) is None


def test_a_container_keeps_what_is_put_into_it(tables: Tables) -> None:
    api = tables.method("std::vector<float *>", "push_back")
    assert api is not None
    assert api.roles == ("keeper", "keep*")


def test_device_functions() -> None:
    def effect(name: str, arity: int) -> Effect | None:
        api = device(name, arity)
        return api.effect if api else None

    assert effect("printf", 2) is Effect.OUTPUT
    assert effect("assert", 1) is Effect.EXIT
    assert effect("__trap", 0) is Effect.EXIT
    assert effect("__shfl_down_sync", 3) is Effect.HOST
    assert effect("sqrtf", 1) is Effect.HOST
    assert effect("make_float4", 4) is Effect.HOST
    assert effect("std::swap", 2) is Effect.HOST
    assert effect("cg::this_thread_block", 0) is Effect.HOST
    assert effect(".shfl_down", 2) is Effect.HOST
    assert effect("reduce", 2) is None
    assert effect("intersect", 2) is None
    assert effect("my_helper", 1) is None
    atomic = device("atomicAdd", 2)
    assert atomic is not None
    assert atomic.roles == ("rw", "-", "-")


def test_a_user_row_wins_and_may_be_a_family() -> None:
    tables = load(
        [
            {"name": "my_{s,d}gemv", "effect": "work", "roles": "handle r r w", "on": "handle", "waits": "own"},
            {"name": "Buffer.data", "effect": "host", "roles": ["-"], "returns": "same", "looks": False},
            {"name": "cudaMallocAsync", "effect": "nothing"},
        ]
    )
    assert known(tables, "my_dgemv", 4).waits is Waits.OWN
    assert tables.method("Buffer", "data") is not None
    assert tables.lookup("cudaMallocAsync", 4) is None
    assert known(load(), "cudaMallocAsync", 4).effect is Effect.ALLOC


def test_a_user_row_may_name_a_family_by_its_ends_and_a_stream_in_a_struct() -> None:
    row = {"name": "my*_Async", "effect": "work", "roles": "use* stream.queue", "idle": True}
    tables = load([row, {"name": "my_copy_Async", "effect": "nothing", "roles": "-"}])
    api = known(tables, "my_filter_Async", 5)
    assert roles_of(api, 5) == ["use", "use", "use", "use", "stream.queue"]
    assert api.idle
    assert roles_of(api, 1) == ["stream.queue"]
    assert known(tables, "my_copy_Async", 1).effect is Effect.NOTHING
    assert tables.lookup("my_filter", 5) is None
    with pytest.raises(TableError, match=r"unknown role `streem\.queue`; did you mean `stream`"):
        load([{"name": "f", "effect": "work", "roles": "streem.queue"}])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"effect": "work"}, "API row 1: `name` is missing; give it as a string"),
        ({"name": "f"}, "API row 1 (f): `effect` is missing; give it as a string"),
        ({"name": "f", "effect": "wrok"}, r"API row 1 \(f\): unknown effect `wrok`; did you mean `work`\?"),
        ({"name": "f", "effect": "work", "roles": "x"}, r"API row 1 \(f\): unknown role `x`; known: "),
        ({"name": "f", "effect": "work", "roles": "r* w*"}, r"API row 1 \(f\): only one role may be repeated"),
        (
            {"name": "f", "effect": "work", "wait": "own"},
            r"API row 1 \(f\): unknown field `wait`; did you mean `waits`\?",
        ),
        ({"name": "f", "effect": "alloc", "roles": "new"}, r"API row 1 \(f\): `memory` is missing; an `alloc` row"),
        ({"name": "f", "effect": "external"}, r"API row 1 \(f\): `why` is missing"),
        ({"name": "f", "effect": "copy", "sync": "yes"}, r"API row 1 \(f\): `sync` must be true or false, not 'yes'"),
        ({"name": "f", "effect": "work", "memory": 3}, r"API row 1 \(f\): `memory` must be a string, not 3"),
        ({"name": "f{a,b", "effect": "work"}, r"API row 1 \(f\{a,b\): `f\{a,b` opens a brace that it does not close"),
    ],
)
def test_a_wrong_user_row_is_one_clear_line(row: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message.replace("API row 1 (f)", r"API row 1 \(f\)")) as error:
        load([row])
    assert "\n" not in str(error.value)


def installed(header: str, folder: Path) -> Path:
    """Where the toolkit keeps a header: the preprocessor knows."""
    compiler = nvcc.find()
    if compiler is None:
        pytest.skip(nvcc.MISSING)
    source = folder / "includes.cu"
    source.write_text(f"#include <{header}>\n")
    run = subprocess.run([compiler.path, "-M", source], capture_output=True, text=True, check=True)
    return next(Path(path) for path in run.stdout.split() if Path(path).name == header)


def declarations(path: Path, pattern: str) -> Iterator[tuple[str, list[str]]]:
    """Name and parameters of each function that a header declares."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.DOTALL)
    for match in re.finditer(pattern, text):
        parameters = re.sub(r"__dv\([^,]*?\)(?=\s*[,)]|$)", "", " ".join(match[2].split())).split(",")
        parameters = [parameter.strip() for parameter in parameters if parameter.strip() not in ("", "void")]
        if all(re.search(r"\w[ *]", parameter) for parameter in parameters):
            yield match[1], parameters


@pytest.mark.parametrize(
    ("header", "pattern"),
    [
        ("cuda_runtime_api.h", r"CUDARTAPI (cuda[A-Z]\w+)\(([^;{}]*?)\)\s*;"),
        ("cuda.h", r"CUDAAPI (cu[A-Z]\w+)\(([^;{}]*?)\);"),
    ],
)
def test_rows_fit_the_headers_of_the_toolkit(tables: Tables, tmp_path: Path, header: str, pattern: str) -> None:
    seen = 0
    for name, parameters in declarations(installed(header, tmp_path), pattern):
        api = known(tables, name, len(parameters))
        seen += 1
        if api.effect in (Effect.NOTHING, Effect.EXTERNAL):
            continue
        for role, parameter in zip(api.roles, parameters, strict=False):
            plain = "*" not in parameter
            is_stream = bool(re.search(r"\b(?:cudaStream_t|CUstream)\b", parameter)) and plain
            is_event = bool(re.search(r"\b(?:cudaEvent_t|CUevent)\b", parameter)) and plain
            assert (role == "stream") == is_stream, f"{name}: {parameter} is {role}"
            assert (role == "event") == is_event, f"{name}: {parameter} is {role}"
    assert seen > 250


def test_the_tables_cost_little_to_import() -> None:
    script = "import sys; import cudafix.models; print(sum(m.startswith('cudafix.models.') for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 4, (
        "the vocabulary, the parser, `nearest`, `types`: a library's rows are read when it is asked for"
    )


@pytest.mark.parametrize(
    ("name", "acts"), [("memcpy", True), ("cudaFree", True), ("std::istream_iterator", False), ("std::abs", False)]
)
def test_which_names_are_functions_that_do_more_than_compute(name: str, acts: bool) -> None:
    assert models.load().acts(name) is acts
