"""What a file means where another one includes it: the macros that are defined in front of it."""

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.pipeline.programs import clusters_of
from cudafix.pipeline.tree import Tree
from cudafix.project.config import Config

HELPER = b"void fill(float *p, int n) { LOOK(n); for (int i = 0; i < n; i++) p[i] = SCALE(i); }\n"
MAIN = b"""
#include <cuda_runtime.h>
#include <stdio.h>
%s
__global__ void k(float *p) { *p = 1; }
int main() {
    float h[4], *d;
    cudaMalloc(&d, 16);
    fill(h, 4);
    k<<<1, 1>>>(d);
    cudaFree(d);
    return 0;
}
"""
MACROS = b'#define LOOK(n) printf("%d", n)\n#define SCALE(i) (2.0f * (i))\n'
INCLUDE = b'#include "fill.h"\n'


def decided(files: dict[str, bytes]) -> list[str]:
    """`proven`, `assumes`, or the name of the refusal, of each site."""
    report = analyze(files, Config())
    moved = [f.safety.value for f in report.findings if f.codemod == "stream_ordered_pairs"]
    return sorted([*moved, *(refusal.name for refusal in report.refusals)])


SEEN = {
    "in the including file": {"main.cu": MAIN % (MACROS + INCLUDE), "fill.h": HELPER},
    "in a header in front of it": {
        "main.cu": MAIN % (b'#include "macros.h"\n' + INCLUDE),
        "macros.h": MACROS,
        "fill.h": HELPER,
    },
    "around the including header": {
        "main.cu": MAIN % (MACROS + b'#include "all.h"\n'),
        "all.h": INCLUDE,
        "fill.h": HELPER,
    },
    "a source that is included": {"main.cu": MAIN % (MACROS + b'#include "fill.cu"\n'), "fill.cu": HELPER},
    "by all that include it": {
        "main.cu": MAIN % (MACROS + INCLUDE + b'#include "more.h"\n'),
        "more.h": MACROS + INCLUDE,
        "fill.h": b"#pragma once\n" + HELPER,
    },
}


@pytest.mark.parametrize("where", SEEN)
def test_a_macro_is_seen(where: str) -> None:
    assert decided(SEEN[where]) == ["proven"]


NOT_SEEN = {
    "nowhere": {"main.cu": MAIN % INCLUDE, "fill.h": HELPER},
    "behind the include": {"main.cu": MAIN % (INCLUDE + MACROS), "fill.h": HELPER},
    "taken back": {"main.cu": MAIN % (MACROS + b"#undef LOOK\n#undef SCALE\n" + INCLUDE), "fill.h": HELPER},
    "by one of two that include it": {
        "main.cu": MAIN % (b'#include "more.h"\n' + MACROS + INCLUDE),
        "more.h": INCLUDE,
        "fill.h": HELPER,
    },
    "in other words": {
        "main.cu": MAIN % (MACROS + INCLUDE + b'#include "more.h"\n'),
        "more.h": MACROS.replace(b'printf("%d", n)', b"launch_something(n)") + INCLUDE,
        "fill.h": HELPER,
    },
    "in another program": {
        "main.cu": MAIN % INCLUDE,
        "fill.h": HELPER,
        "other/main.cu": MAIN % (MACROS + b'#include "../fill.h"\n'),
    },
}


@pytest.mark.parametrize("where", NOT_SEEN)
def test_a_macro_that_may_not_be_meant_is_a_call_that_is_not_known(where: str) -> None:
    assert "assumes" in decided(NOT_SEEN[where])


def test_an_edit_in_the_including_file_moves_the_macro() -> None:
    """The macro stands behind an edit: what is written is proved with its new place."""
    frees = b"#define RELEASE(p) cudaFree(p)\n"
    main = MAIN % (frees + b'#include "release.h"\n')
    files = {"main.cu": main.replace(b"cudaFree(d)", b"release(d)").replace(b"fill(h, 4);", b""),
             "release.h": b"void release(float *p) { RELEASE(p); }\n"}  # fmt: skip
    report = analyze(files, Config())
    (refusal,) = report.refusals
    assert refusal.name == "site_not_editable"


def programs(files: dict[str, bytes]) -> list[set[str]]:
    return [set(program) for cluster in clusters_of(Tree(files)) for program in cluster]


def test_a_source_that_another_one_includes_is_no_source_of_its_own() -> None:
    helper = b"void fill(float *p, int n) { p[n] = 0; }\n"
    files = {
        "main.cu": MAIN % b'#include "fill.cu"\n',
        "fill.cu": helper,
        "other.cu": MAIN % b'#include "fill.h"\n',
        "fill.h": helper,
    }
    assert programs(files) == [{"main.cu", "fill.cu"}, {"other.cu", "fill.h"}]


def test_a_source_is_linked_where_a_name_would_be_missing() -> None:
    files = {
        "main.cu": MAIN % b'#include "fill.cu"\n',
        "fill.cu": b"void fill(float *p, int n) { p[n] = 0; }\n",
        "other.cu": MAIN % b"void fill(float *p, int n);\n",
    }
    assert programs(files) == [{"main.cu", "fill.cu"}, {"other.cu", "fill.cu"}]


def test_a_comment_between_head_and_body_hides_no_definition() -> None:
    files = {
        "main.cu": MAIN % b"void fill(float *p, int n);\n",
        "fill.cu": b"void fill(float *p, int n)\n  // float *p;\n{ p[n] = 0; }\n",
    }
    assert programs(files) == [{"main.cu", "fill.cu"}]


def test_of_two_sources_that_are_equally_near_the_one_in_fewer_folders_is_meant() -> None:
    helper = b'#include "fill.h"\nvoid fill(float *p, int n) { p[n] = 0; }\n'
    header = b"void fill(float *p, int n);\n"
    files = {
        "a/main.cu": MAIN % INCLUDE,
        "a/fill.h": header,
        "a/fill.cu": helper,
        "a/old/fill.h": header,
        "a/old/fill.cu": helper.replace(b"fill.h", b"../fill.h"),
    }
    assert programs(files) == [{"a/main.cu", "a/fill.h", "a/fill.cu"}]


def test_a_name_of_the_runtime_that_the_including_file_renames_is_not_touched() -> None:
    pair = b"void churn() { float *p; cudaMalloc(&p, 4); cudaFree(p); }\n"
    main = b'#define cudaMalloc hipMalloc\n#define cudaFree hipFree\n#include "churn.h"\nint main() { churn(); }\n'
    assert decided({"main.cu": main, "churn.h": pair}) == ["renaming_header"]


HEADER = """#pragma once
__global__ void apply(int *out) { out[threadIdx.x] += %s; }
"""
INCLUDING = """
#include <cuda_runtime.h>
__device__ int table[64];
%s
#include "apply.cuh"
int main() {
    int *out, *scratch, values[64] = {1};
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&out, 256);
    for (int round = 0; round < 3; round++) {
        cudaMemcpyToSymbol(table, values, sizeof values);
        cudaMalloc(&scratch, 4);
        apply<<<1, 64, 0, s>>>(out);
        cudaFree(scratch);
    }
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


@pytest.mark.parametrize(
    ("in_front", "value"),
    [
        ("", "table[threadIdx.x]"),
        ("__device__ int load(int i) { return table[i]; }", "load(threadIdx.x)"),
        ("#define LOAD(i) table[i]", "LOAD(threadIdx.x)"),
    ],
)
def test_a_kernel_in_a_header_may_use_what_stands_in_front_of_the_include(in_front: str, value: str) -> None:
    files = {"main.cu": (INCLUDING % in_front).encode(), "apply.cuh": (HEADER % value).encode()}
    report = analyze(files, Config())
    moved = [{place.text for place in finding.related} for finding in report.findings]
    assert {"freed on `0`", "`0` waits for `s`, inserted in front of this"} in moved
