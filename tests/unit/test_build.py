"""What build files say plainly about the default stream, and what becomes of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.tree import Tree
from cudafix.project.build import DefaultStreams, constants, default_streams, mentioned_folders
from cudafix.project.config import Config, Override

NONE: frozenset[str] = frozenset()


@pytest.fixture(autouse=True)
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def asked(*paths: str, config: Config | None = None) -> DefaultStreams:
    return default_streams(paths, config or Config(root=Path.cwd()))


@pytest.mark.parametrize(
    "text",
    [
        "NVCCFLAGS = -O3 --default-stream per-thread\n",
        "NVCCFLAGS += -default-stream=per-thread # fast\n",
        "ifdef DEBUG\nX = 1\nendif\nCFLAGS = -DCUDA_API_PER_THREAD_DEFAULT_STREAM\n",
        "CFLAGS = -DCUDA_API_PER_THREAD_DEFAULT_STREAM=0\n",  # that it is defined is what counts
        "F ?= -O3 \\\n\t--default-stream per-thread\nall:\n\tnvcc $(F) a.cu\n",
        "F = -O3 \\\r\n  --default-stream per-thread\r\nall:\r\n\tnvcc -c \\\r\n\t  $(F) a.cu\r\n",
        "all:\n\tnvcc -O3 \\\n\t  --default-stream per-thread a.cu\n",
    ],
)
def test_a_makefile_that_says_it_plainly(text: str) -> None:
    write(src__Makefile=text)
    assert asked("src/a.cu", "src/deep/b.cu", "other/c.cu").per_thread == {"src/a.cu", "src/deep/b.cu"}


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("# NVCCFLAGS = --default-stream per-thread\n", ()),
        ("NVCCFLAGS = # --default-stream per-thread\n", ()),
        ("NVCCFLAGS = --default-stream legacy\n", ()),
        ("ifeq ($(GPU),yes)\n  F = --default-stream per-thread\nendif\n", ("Makefile:2",)),
        ("F = -O3 \\\n  --default-stream per-thread\nall:\n\tnvcc $(F) a.cu\n\tnvcc \\\n\t  b.cu\n", ("Makefile:2",)),
    ],
)
def test_a_makefile_that_does_not(text: str, unclear: tuple[str, ...]) -> None:
    write(Makefile=text)
    assert asked("a.cu")[:4] == (NONE, frozenset({"a.cu"}) if unclear else NONE, unclear, NONE)


@pytest.mark.parametrize(
    ("name", "text", "given"),
    [
        ("Makefile", "F = -O3\n%.o: %.cu\n\tnvcc $(F) -c $< -o $@\n", True),
        ("Makefile", "F = --default-stream per-thread\n%.o: %.cu\n\tnvcc $(F) -c $<\n", True),
        ("Makefile", "override F = -O3\n%.o: %.cu\n\tnvcc $(F) -c $<\n", False),
        ("Makefile", "a: a.cu\n\tnvcc -O3 a.cu \\\n\t  -o a\n", False),
        ("Makefile", "a: a.cu\n\tnvcc -O3 a.cu \\\n\t  $(F) -o a\n", True),
        ("CMakeLists.txt", "project(p CUDA)\nadd_executable(a a.cu)\n", True),
        ("compile_commands.json", '[{"directory": ".", "file": "a.cu", "command": "nvcc -c a.cu"}]', False),
    ],
)
def test_who_starts_a_build_may_give_options(name: str, text: str, given: bool) -> None:
    Path(name).write_text(text)
    assert asked("a.cu").to_be_chosen == (frozenset({"a.cu"}) if given else NONE)


@pytest.mark.parametrize(
    ("build", "reaches"),
    [
        ("all:\n\tnvcc --default-stream per-thread src/main.cu\n", False),  # its own
        ("all:\n\tnvcc --default-stream per-thread $(CURDIR)/src/main.cu\n", False),
        ("F = --default-stream per-thread\nclean:\n\trm -f src/*.o\n", False),
        ("all:\n\tnvcc --default-stream per-thread src/other.cu\n", False),
        ("all:\n\tnvcc --default-stream per-thread ../a/src/main.cu\n", True),
        ("all:\n\tnvcc --default-stream per-thread $(TOP)/src/main.cu\n", True),
        ("all:\n\tcd .. && nvcc --default-stream per-thread a/src/main.cu\n", True),
        ("all:\n\tnvcc --default-stream per-thread ../a/src/*.cu\n", True),
    ],
)
def test_a_build_elsewhere_speaks_for_the_sources_that_it_names(build: str, reaches: bool) -> None:
    write(b__Makefile=build)
    write(**{"a/src/main.cu": "", "b/src/main.cu": "", "a/Makefile": "all:\n\tnvcc src/main.cu\n"})
    assert bool(asked("a/src/main.cu").unclear) is reaches


@pytest.mark.parametrize(("license", "reaches"), [("", True), ("b/LICENSE.txt", False)])
def test_a_folder_without_sources_speaks_for_the_one_around_it(license: str, reaches: bool) -> None:  # noqa: A002
    write(**{"a.cu": "", "b/cmake/flags.cmake": 'set(CMAKE_CUDA_FLAGS "--default-stream per-thread")\n'})
    if license:
        write(**{license: ""})
    assert bool(asked("a.cu").unclear) is reaches


def test_the_nearest_makefile_counts() -> None:
    write(Makefile="F = --default-stream per-thread\n", own__Makefile="all:\n")
    assert asked("a.cu", "own/b.cu", "sub/c.cu").per_thread == {"a.cu", "sub/c.cu"}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --default-stream per-thread")\n', True),
        ("add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--default-stream=per-thread>)\n", True),
        ("list(APPEND CUDA_NVCC_FLAGS\n  --default-stream per-thread\n)\n", True),
        ("add_compile_options($<$<CONFIG:Debug>:--default-stream=per-thread>)\n", False),
        ("if(PTDS)\n  add_compile_options(--default-stream=per-thread)\nendif()\n", False),
        ("target_compile_options(one PRIVATE --default-stream=per-thread)\n", False),
    ],
)
def test_cmake_options_are_inherited_where_they_are_plain(text: str, plain: bool) -> None:
    write(**{"CMakeLists.txt": text, "src__CMakeLists.txt": "add_executable(a a.cu)\n"})
    found = asked("src/a.cu")
    assert found.per_thread == ({"src/a.cu"} if plain else NONE)
    assert bool(found.unclear) is not plain


def test_the_compilation_database_knows_each_source() -> None:
    here = str(Path.cwd())
    entries = [
        {"directory": here, "file": "src/a.cu", "command": "nvcc --default-stream 'per-thread' -c src/a.cu"},
        {"directory": f"{here}/build", "file": "../src/b.cpp", "arguments": ["nvcc", "-default-stream", "per-thread"]},
        {"directory": here, "file": f"{here}/src/c.cu", "command": "nvcc -c src/c.cu"},
    ]
    write(**{"build__compile_commands.json": json.dumps(entries), "Makefile": "F = --default-stream per-thread\n"})
    # what it does not know, the Makefile does
    assert asked("src/a.cu", "src/b.cpp", "src/c.cu", "src/d.cu").per_thread == {"src/a.cu", "src/b.cpp", "src/d.cu"}


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, {}]", '[{"file": 1}]', '[{"file": "a.cu", "command": "\'"}]'])
def test_a_broken_compilation_database_says_nothing(text: str) -> None:
    write(**{"compile_commands.json": text})
    assert asked("a.cu")[:3] == (NONE, NONE, ())


def test_an_option_of_nvcc_leaves_open_what_another_compiler_gets() -> None:
    write(Makefile="F = --default-stream per-thread\n")
    assert asked("a.cu", "b.cpp") == DefaultStreams(frozenset({"a.cu"}), frozenset({"b.cpp"}), ("Makefile:1",))


def test_the_configuration_decides_where_it_says_anything() -> None:
    write(Makefile="F = --default-stream per-thread\n")
    config = Config(root=Path.cwd(), overrides=(Override(("old/",), default_stream="legacy"),))
    assert asked("a.cu", "old/b.cu", config=config).per_thread == {"a.cu"}
    assert asked("a.cu", config=Config(default_stream="legacy")) == DefaultStreams(NONE, NONE, ())


@pytest.fixture
def _no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    (tmp_path / "elsewhere").mkdir()


PLAIN = "F = --default-stream per-thread\nall:\n\tnvcc $(F) src/a.cu\n"
DATABASE = '[{"directory": "%s", "file": "src/a.cu", "command": "nvcc --default-stream per-thread -c src/a.cu"}]'


@pytest.mark.usefixtures("_no_repository")
@pytest.mark.parametrize("here", [".", "p", "p/src", "elsewhere"])
@pytest.mark.parametrize("given", ["p", "p/src", "p/src/a.cu"])
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"Makefile": PLAIN}, "yes"),
        ({"CMakeLists.txt": "project(p CUDA)\nadd_compile_options(--default-stream per-thread)\n"}, "yes"),
        ({"CMakeLists.txt": "project(p CUDA)\n", "cmake/f.cmake": "set(F --default-stream per-thread)\n"}, "perhaps"),
        ({"Makefile": "all:\n\tnvcc src/a.cu\n", "scripts/b.sh": "make F='--default-stream per-thread'\n"}, "perhaps"),
        ({"build/Makefile": "all:\n\tnvcc --default-stream per-thread ../src/a.cu\n"}, "perhaps"),
        ({"compile_commands.json": DATABASE % "."}, "yes"),
        ({"build/compile_commands.json": DATABASE % ".."}, "yes"),
        ({"cmake-build-debug/compile_commands.json": DATABASE % ".."}, "yes"),
        ({"Makefile": "all:\n\tnvcc src/a.cu\n"}, "no"),
        ({"notes.txt": "nothing\n"}, "unbuilt"),
    ],
)
def test_the_build_is_found_from_any_folder(
    files: dict[str, str], says: str, given: str, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(**{f"p/{name}": text for name, text in files.items()})
    write(**{"p/src/a.cu": ""})
    top = Path.cwd()
    monkeypatch.chdir(here)
    source = str(top / "p/src/a.cu")
    found = default_streams([source], Config(), [os.path.relpath(top / given)])
    assert [source in each for each in (found.per_thread, found.perhaps, found.unbuilt)] == [
        says == "yes",
        says == "perhaps",
        says == "unbuilt",
    ]


@pytest.mark.usefixtures("_no_repository")
@pytest.mark.parametrize(("above", "reaches"), [("p", True), ("p/x/y", True), ("p/x/y/z/w", False)])
def test_a_build_above_what_is_named_is_found_nearby(above: str, reaches: bool) -> None:
    write(**{"p/Makefile": PLAIN, f"{above}/src/a.cu": ""})
    found = default_streams([f"{above}/src/a.cu"], Config(), [f"{above}/src"])
    assert (found.per_thread == {f"{above}/src/a.cu"}) is reaches
    assert (found.unbuilt == {f"{above}/src/a.cu"}) is not reaches


@pytest.mark.usefixtures("_no_repository")
def test_the_folder_of_the_configuration_belongs_to_the_tree() -> None:
    write(**{"p/ci/build.sh": "nvcc --default-stream per-thread ../src/a.cu\n", "p/a/b/c/src/a.cu": ""})
    assert not default_streams(["p/a/b/c/src/a.cu"], Config(), ["p/a/b/c/src"]).perhaps
    assert default_streams(["p/a/b/c/src/a.cu"], Config(root=Path("p").absolute()), ["p/a/b/c/src"]).perhaps


def test_what_lies_above_the_repository_is_not_read() -> None:
    write(**{"Makefile": PLAIN, "p/src/a.cu": ""})
    Path("p/.git").mkdir()
    assert default_streams(["p/src/a.cu"], Config(), ["."]).unbuilt == {"p/src/a.cu"}


def test_a_tree_that_is_too_large_is_looked_at_around_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudafix.project.build_files._MOST_ENTRIES", 3)
    write(**{f"{letter}/x": "" for letter in "bcdefgh"}, Makefile="all:\n\tnvcc a.cu\n")
    write(**{"z/y/Makefile": PLAIN, "z/y/a.cu": "", "z/b.cu": ""})
    found = asked("z/y/a.cu", "z/b.cu")
    assert found.per_thread == {"z/y/a.cu"}
    assert found.unbuilt == {"z/b.cu"}  # a build of it may be where nothing was looked at


def test_many_files_alike_are_data() -> None:
    write(Makefile="all:\n\tnvcc a.cu\n")
    write(**{f"data/{number}.txt": "--default-stream per-thread\n" for number in range(501)})
    assert not asked("a.cu").perhaps
    write(**{"flags.txt": "--default-stream per-thread\n"})
    assert asked("a.cu").perhaps


def test_a_link_to_itself_and_a_pipe_are_passed_over() -> None:
    write(Makefile=PLAIN)
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe.sh")
    assert asked("src/a.cu").per_thread == {"src/a.cu"}


PROGRAM = b"""#include <cuda_runtime.h>
#include <thread>
__global__ void k(float *p) { p[0] = 1; }
float *d;
void use() { k<<<1, 1>>>(d); }
int main() { cudaMalloc(&d, 4); use(); cudaFree(d); }
"""


def names(files: dict[str, bytes], config: Config) -> list[str]:
    return [refusal.name for refusal in analyze(files, config).refusals]


TWO = {
    "a.cu": b"void other();\n" + PROGRAM.replace(b"use();", b"other();"),
    "b.cu": b"#include <cuda_runtime.h>\nvoid other() { cudaDeviceSynchronize(); }\n",
}


@pytest.mark.parametrize(
    ("per_thread", "perhaps", "refused"),
    [("", "", False), ("ab", "", False), ("a", "", True), ("a", "b", True), ("", "a", True)],
)
def test_a_program_with_two_default_streams_is_refused(per_thread: str, perhaps: str, refused: bool) -> None:
    config = Config(
        per_thread=frozenset(f"{name}.cu" for name in per_thread),
        perhaps_per_thread=frozenset(f"{name}.cu" for name in perhaps),
    )
    assert names(TWO, config) == ["mixed_default_streams"] * refused


@pytest.mark.parametrize("files", [["a.cu"], ["a.cu", "b.cu"]])
def test_a_definition_in_a_source_leaves_it_open(files: list[str]) -> None:
    """nvcc includes the header of the runtime in front of a `.cu` file: the definition comes too late."""
    says_it = b"#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n"
    assert names(TWO | {name: says_it + TWO[name] for name in files}, Config()) == ["mixed_default_streams"]


OPEN = "ifdef X\nF = --default-stream per-thread\nendif\n"
ONE_PAIR = """#include <cuda_runtime.h>
#include <thread>
__global__ void k(int *p) { p[0] = 1; }
static void work() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaFree(p); }
"""


def test_a_condition_is_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    behind = (
        "cudaStream_t b; cudaStreamCreate(&b); k<<<1, 1, 0, b>>>(x); work(); k<<<1, 1>>>(x); cudaDeviceSynchronize();"
    )
    main = f"int main() {{ int *x; cudaMallocManaged(&x, 4); {behind} return *x; }}\n"
    write(**{"Makefile": OPEN, "a.cu": ONE_PAIR + main, "b.cu": "int x;"})
    with pytest.raises(SystemExit):
        cli.main(["check"])
    assert capfd.readouterr().err == (
        "cudafix: Makefile:2: may change the default stream of files; say `default_stream`\n"
    )


def test_a_condition_is_not_told_where_the_pair_stays_for_another_reason(capfd: pytest.CaptureFixture[str]) -> None:
    write(**{"Makefile": OPEN, "a.cu": ONE_PAIR + "int main() { std::thread t(work); t.join(); }\n"})
    with pytest.raises(SystemExit):
        cli.main(["check"])
    out, err = capfd.readouterr()
    assert "refused: control_flow" in out
    assert err == ""


WAITS = "#pragma once\n#define DONE() cudaDeviceSynchronize()\n"
RETURNS = "#pragma once\n#define DONE() ((void)0)\n"
USES = """#include <cuda_runtime.h>
#include {header}
__global__ void k(float *v) {{ *v = 1; }}
int main() {{
    float *v;
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMalloc(&v, 4);
    k<<<1, 1, 0, s>>>(v);
    DONE();
    k<<<1, 1, 0, t>>>(v);
    cudaStreamSynchronize(t);
    cudaFree(v);
}}
"""


def tree(header: str) -> None:
    """Two headers of one name: where the host waits, and where it does not."""
    for path, text in (
        ("app/main.cu", USES.format(header=header)),
        ("app/inc/through.h", "#pragma once\n#include <settings.h>\n"),
        ("app/inc/settings.h", WAITS),
        ("other/settings.h", RETURNS),
    ):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def orders(capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether the free has to wait for the first stream, as far as `diff` says."""
    with pytest.raises(SystemExit):
        cli.main(["diff", "--no-cache", "."])
    said = capsys.readouterr()
    assert "1 in the diff" in said.err
    return "+    cudaStreamSynchronize(s);" in said.out or "cudaStreamWaitEvent" in said.out


@pytest.mark.parametrize("header", ['"settings.h"', "<settings.h>", '"through.h"'])
@pytest.mark.parametrize(
    "option",
    [
        ["-I", "{}"],
        ["-I{}"],
        ["-I={}"],
        ["-isystem", "{}"],
        ["-iquote{}"],
        ["--include-path", "{}"],
        ["--include-path={}"],
    ],
)
def test_the_compilation_database_says_which_of_two_headers_is_meant(
    header: str, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tree(header)
    for folder, waits in (("other", True), ("app/inc", False)):
        words = [word.format(folder) for word in option]
        entry = {
            "directory": str(Path.cwd()),
            "file": "app/main.cu",
            "arguments": ["nvcc", *words, "-c", "app/main.cu"],
        }
        Path("compile_commands.json").write_text(json.dumps([entry]))
        assert orders(capsys) is waits


def test_without_a_compilation_database_the_nearest_header_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    tree('"settings.h"')
    assert not orders(capsys)


def constants_of(path: str) -> set[str]:
    asked(path)
    return set(dict(constants([path], Config(root=Path.cwd()))).get(path, ()))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CFLAGS = -O3 -DN=8192 -DF=1.5f -D STEP=0x10u -DON\n", "N F STEP ON"),
        ("all:\n\tnvcc -DN=8 -o a a.cu\n", "N"),
        ("CFLAGS = -DN=8 \\\n  -DM=9\n", "N M"),
        ("CFLAGS = -DREAL=double -DKIND='unsigned int' -DLIMIT=INT_MAX\n", "REAL KIND LIMIT"),
        ('CFLAGS = -DPLACE=\\"data/in\\" \'-DOTHER="a b"\'\n', "PLACE OTHER"),
        ("CFLAGS = '-DN=(1<<20)' -D'M=4 * (2 + 1)'\n", "N M"),
        ("SIZE ?= 64\nCFLAGS = -DN=$(SIZE)\n", "N"),
        ("ONE = 64\nSIZE = $(ONE)\nCFLAGS = -DN=${SIZE}\n", "N"),
        ("#CFLAGS = -DN=8\n", ""),
        ("ifeq ($(A),b)\nCFLAGS += -DN=8\nendif\nCFLAGS += -DM=8\n", "M"),
        ("CFLAGS = -DT=stop() -DU=stop -DV=STOP '-DW=1 + stop()' -D'X=1 - f(2)'\n", ""),
        ("CFLAGS = -DN=$(SIZE) -DM=$(shell nproc) -DK=`nproc`\n", ""),
        ("SIZE = $(shell nproc)\nCFLAGS = -DN=$(SIZE)\n", ""),
        ("SIZE = 64\nSIZE = stop()\nCFLAGS = -DN=$(SIZE)\n", ""),
        ("CFLAGS = -DN=8\nother: CFLAGS = '-DN=stop()'\n", ""),
        ("CFLAGS = -DN=8\nifdef A\nCFLAGS = '-DN=stop()'\nendif\n", ""),
        ("all:\n\tcmake -DN=8 ..\n", ""),
        ("a: a.cu\n\tnvcc -o a a.cu\nb: b.cu\n\tnvcc -DN=8 -o b b.cu\n", ""),
        ("F = -DN=8\na: a.cu\n\tnvcc -o a $<\nb: b.cu\n\tnvcc $(F) -o b $<\n", ""),
        (
            "E = -DN=8\nF = $(E) -O3\na: a.cu\n\tnvcc $(F) -c $<\nb: b.cu\n\tnvcc $(F) -c $<\na: a.o\n\tg++ -o a a.o\n",
            "N",
        ),
        ("F = -DN=8\nF += -O3\na: a.cu\n\tnvcc $(F) -o a $<\n", "N"),
        ("F = -DN=8\nb: F += -DM=9\na: a.cu\n\tnvcc $(F) -o a $<\n", "N"),
        ("F = -DN=8\na: a.cu\n\tnvcc $(F) -UN -o a $<\n", ""),
    ],
)
def test_the_constants_that_a_makefile_defines(text: str, names: str) -> None:
    write(Makefile=text, **{"a.cu": ""})
    assert constants_of("a.cu") == set(names.split())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("add_definitions(-DN=8 -DON)\n", "N ON"),
        ("add_compile_definitions(N=8\n  ON)\n", "N ON"),
        ('target_compile_definitions(a PUBLIC N=8 PRIVATE "M=(1 << 20)" PLACE="data")\n', "N M PLACE"),
        ("target_compile_options(a PRIVATE -DN=8)\n", "N"),
        ('set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -O3 -DN=8")\n', "N"),
        ('set(SIZE 64 CACHE STRING "how many")\nadd_definitions(-DN=${SIZE})\n', "N"),
        ("if(A)\n  add_definitions(-DN=8)\nendif()\nadd_definitions(-DM=8)\n", "M"),
        ("add_compile_definitions($<$<CONFIG:Debug>:N=8>)\n", ""),
        ("add_compile_definitions(N=8)\nadd_compile_definitions($<$<CONFIG:Debug>:N=stop()>)\n", ""),
        ("add_definitions(-DN=${SIZE})\n", ""),
        ("set(SIZE 64)\nset(SIZE stop)\nadd_definitions(-DN=${SIZE})\n", ""),
        ('add_compile_definitions("T=stop()" U=stop)\n', ""),
        ("execute_process(COMMAND ${CMAKE_COMMAND} -DN=8)\n", ""),
        ("add_definitions(-DN=8 -DM=9)\nremove_definitions(-DN=8)\n", "M"),
        ('add_definitions(-DN=8)\nset(CMAKE_CXX_FLAGS "-UN")\n', ""),
        ('string(REPLACE "-DN=8" "" CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS}")\n', ""),
        ("add_executable(a a.cu)\nadd_executable(b b.cu)\ntarget_compile_definitions(b PRIVATE N=8)\n", ""),
        ("add_library(b b.cu)\nadd_executable(a a.cu)\ntarget_compile_options(b PRIVATE -DN=8)\n", ""),
        ("add_executable(a a.cu)\ntarget_compile_definitions(a PRIVATE N=8)\n", "N"),
        ("add_library(a a.cu)\ntarget_compile_definitions(a PRIVATE M=9 INTERFACE N=8)\n", "M"),
    ],
)
def test_the_constants_that_cmake_defines(text: str, names: str) -> None:
    write(**{"CMakeLists.txt": text, "a.cu": ""})
    assert constants_of("a.cu") == set(names.split())


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("src/Makefile", "CFLAGS = -DN=8\n", "N"),
        ("cmake/flags.cmake", "add_definitions(-DN=8)\n", "N"),
        ("other/Makefile", "CFLAGS = -DN=8\n", ""),
        ("build.sh", "nvcc -DN=8 src/a.cu\n", ""),
    ],
)
def test_the_constants_of_a_build_are_those_of_its_folders(path: str, text: str, names: str) -> None:
    write(**{path: text, "src/a.cu": "", "other/b.cu": ""})
    assert constants_of("src/a.cu") == set(names.split())


def test_what_a_script_defines_as_something_else_is_no_constant() -> None:
    write(Makefile="CFLAGS = -DN=8 -DM=8\n", **{"a.cu": "", "build.sh": "nvcc '-DN=stop()' a.cu\n"})
    assert constants_of("a.cu") == {"M"}


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["nvcc -DN=8 -D M -c a.cu"], "N M"),
        (["nvcc '-DN=stop()' -DM=8 -c a.cu"], "M"),
        (["nvcc -DN=8 -DM=8 -c a.cu", "nvcc -DN=8 -c a.cu"], "N"),
    ],
)
def test_the_constants_that_a_command_defines(commands: list[str], names: str) -> None:
    entries = [{"directory": ".", "file": "a.cu", "command": command} for command in commands]
    write(**{"a.cu": "", "compile_commands.json": json.dumps(entries), "Makefile": "CFLAGS = -DOTHER=8\n"})
    assert constants_of("a.cu") == set(names.split())


def test_what_was_proved_with_other_constants_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    program = """
#include <cuda_runtime.h>
#include <cstdio>
#include "unseen/timer.h"
__global__ void work(int *d) { d[0] = 1; }
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *d;
    cudaMalloc(&d, 4);
    work<<<1, 1, 0, s>>>(d);
    cudaFree(d);
    std::printf("%d", ROUNDS);
    cudaStreamSynchronize(s);
}
"""
    for value, proved in (("100", True), ("stop()", False), ("200", True)):
        write(**{"main.cu": program, "Makefile": f"main: main.cu\n\tnvcc '-DROUNDS={value}' -o main main.cu\n"})
        with pytest.raises(SystemExit):
            cli.main(["check", "--format", "json", "-j", "1"])
        (found,) = json.loads(capsys.readouterr().out)["results"]
        inserted = [edit["text"] for edit in found["edits"]]
        assert any("Synchronize" in text for text in inserted) is not proved, found


@pytest.mark.parametrize(
    ("path", "text", "header"),
    [
        ("a/CMakeLists.txt", "include_directories(../common)\n", "common/help.h"),
        ("a/CMakeLists.txt", 'target_include_directories(a PRIVATE\n    "${CMAKE_CURRENT_SOURCE_DIR}/../common")\n',
         "common/help.h"),
        ("a/CMakeLists.txt", "target_include_directories(a PRIVATE ${CMAKE_SOURCE_DIR}/common)\n", "common/help.h"),
        ("a/CMakeLists.txt", "if(WIN32)\n  include_directories(../common)\nendif()\n", "common/help.h"),
        ("a/CMakeLists.txt", "include_directories(../common ../a/deep/b)\n", "a/deep/b/help.h"),
        ("a/CMakeLists.txt", "# include_directories(../common)\n", "a/deep/b/help.h"),
        ("a/CMakeLists.txt", "include_directories(${UNKNOWN}/common ../nowhere)\n", "a/deep/b/help.h"),
        ("a/Makefile", "CFLAGS = -O3 -I../common\n", "common/help.h"),
        ("a/Makefile", "INCLUDES := -I ../common\n", "common/help.h"),
        ("a/Makefile", "CFLAGS = -O3 -Incommon\n", "a/deep/b/help.h"),
        ("CMakeLists.txt", "include_directories(common)\n", "common/help.h"),
        ("other/CMakeLists.txt", "include_directories(../common)\n", "a/deep/b/help.h"),
        ("README.md", "include_directories(common)\n", "a/deep/b/help.h"),
    ],
)  # fmt: skip
def test_of_several_headers_the_build_says_which_is_meant(path: str, text: str, header: str) -> None:
    files = {"a/main.cu": "#include <help.h>\n", "common/help.h": "", "a/deep/b/help.h": "", "other/main.cu": ""}
    write(**{path: text}, **files)
    folders = mentioned_folders(files, Config(root=Path.cwd()))
    tree = Tree({name: text.encode() for name, text in files.items()}, mentioned_folders=folders)
    assert tree.included("a/main.cu") == [header]


def test_a_header_that_the_build_does_not_mention_is_found() -> None:
    files = {"a/main.cu": "#include <help.h>\n", "a/deep/help.h": "", "common/other.h": ""}
    write(**{"a/CMakeLists.txt": "include_directories(../common)\n"}, **files)
    folders = mentioned_folders(files, Config(root=Path.cwd()))
    tree = Tree({name: text.encode() for name, text in files.items()}, mentioned_folders=folders)
    assert tree.included("a/main.cu") == ["a/deep/help.h"]
