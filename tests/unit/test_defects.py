"""A defect is reported where it is certain: what nobody has seen is no defect."""

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config

CROSSING = """
#include <cuda_runtime.h>
__global__ void k(float *p) {{ p[0] = 1; }}
{signature} {{
    {first}
    float *d;
    cudaMallocAsync(&d, 4, {stream});
    {use}
    cudaFreeAsync(d, {stream});
    {last}
}}
"""


def found(**parts: str) -> list[str]:
    report = driver.analyze({"main.cu": CROSSING.format(**({"first": "", "last": ""} | parts)).encode()}, Config())
    return [finding.codemod for finding in report.findings]


def test_a_use_on_another_stream_that_is_known() -> None:
    first = "cudaStream_t s, t; cudaStreamCreateWithFlags(&s, 1); cudaStreamCreateWithFlags(&t, 1);"
    assert found(signature="int main()", first=first, stream="s", use="k<<<1, 1, 0, t>>>(d);", last="return 0;")


@pytest.mark.parametrize("use", ["k<<<1, 1>>>(d);", "unseen(d);", "k<<<1, 1, 0, other()>>>(d);"])
def test_streams_that_may_be_the_same(use: str) -> None:
    assert not found(signature="void f(cudaStream_t s)", stream="s", use=use)


MAIN = """
#include <cuda_runtime.h>
#include <vector>
__global__ void k(float *p, float *h) {{ h[0] = p[0]; }}
void drop(float *p) {{ if (p) cudaFreeAsync(p, 0); }}
int main(int n, char **) {{
    float *a, *b, *c = nullptr, *h;
    cudaHostAlloc(&h, 4, cudaHostAllocMapped);
    cudaMallocAsync(&a, 4, 0);
    cudaMallocAsync(&b, 4, 0);
    {body}
}}
"""
SWAPPED = "for (int i = 0; i < n; ++i) { float *t = a; a = b; b = t; }"
BEHIND = {
    "whichever it is": f"{SWAPPED} cudaFreeAsync(a, 0); k<<<1, 1>>>(a, h);",
    "freed twice, whichever it is": f"{SWAPPED} cudaFreeAsync(a, 0); cudaFreeAsync(a, 0);",
    "through a function": f"{SWAPPED} drop(a); k<<<1, 1>>>(a, h);",
    "an offset": f"{SWAPPED} cudaFreeAsync(a, 0); k<<<1, 1>>>(a + 1, h);",
    "behind a null check": "if (a) cudaFreeAsync(a, 0); k<<<1, 1>>>(a, h);",
    "in the second round": "for (int i = 0; i < 3; ++i) { k<<<1, 1>>>(a, h); cudaFreeAsync(a, 0); }",
    "on one way to a label": "if (n > 3) goto end; cudaFreeAsync(a, 0); end: cudaFreeAsync(a, 0);",
    "under a condition": "if (n > 1) { cudaMallocAsync(&c, 4, 0); cudaFreeAsync(c, 0); } k<<<1, 1>>>(c, h);",
}
NOT_BEHIND = {
    "the other one": f"{SWAPPED} cudaFreeAsync(a, 0); k<<<1, 1>>>(b, h);",
    "allocated again": f"{SWAPPED} cudaFreeAsync(a, 0); cudaMallocAsync(&a, 4, 0); k<<<1, 1>>>(a, h);",
    "set to another": f"{SWAPPED} cudaFreeAsync(a, 0); a = b; k<<<1, 1>>>(a, h);",
    "set to null": f"{SWAPPED} cudaFreeAsync(a, 0); a = nullptr; if (a) k<<<1, 1>>>(a, h); drop(a);",
    "under the same condition": "if (n > 1) cudaFreeAsync(a, 0); if (n <= 1) k<<<1, 1>>>(a, h);",
    "in the last round": "for (int i = 0; i < 3; ++i) { k<<<1, 1>>>(a, h); if (i == 2) cudaFreeAsync(a, 0); }",
    "and left": "for (int i = 0; i < 3; ++i) { k<<<1, 1>>>(a, h); if (n) { cudaFreeAsync(a, 0); break; } }",
    "allocated in each round": """for (int i = 0; i < 3; ++i) {
        cudaMallocAsync(&c, 4, 0); k<<<1, 1>>>(c, h); cudaFreeAsync(c, 0); }""",
    "each its own": """float *v[3];
        for (int i = 0; i < 3; ++i) { cudaMallocAsync(&v[i], 4, 0); cudaFreeAsync(v[i], 0); }""",
    "cleaned up where it was not freed": """if (n > 3) goto end; cudaFreeAsync(a, 0); a = nullptr;
        end: if (a) cudaFreeAsync(a, 0);""",
    "walked through": "float *p = a; for (int i = 0; i < 2; ++i) { cudaFreeAsync(p, 0); p = b; }",
}


def in_main(body: str) -> list[str]:
    report = driver.analyze({"main.cu": MAIN.format(body=body).encode()}, Config())
    others = ("stream_ordered_pairs", "pool_release_threshold")
    return [f.codemod for f in report.findings if f.codemod not in others]


@pytest.mark.parametrize("body", BEHIND.values(), ids=BEHIND)
def test_a_use_behind_the_free(body: str) -> None:
    assert "free_behind_last_use" in in_main(body)


@pytest.mark.parametrize("body", NOT_BEHIND.values(), ids=NOT_BEHIND)
def test_no_use_behind_the_free(body: str) -> None:
    assert not in_main(body)


LANES = """std::vector<cudaStream_t> lanes;
    for (int i = 0; i < n; ++i) {{
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStream{kind});
        {before}
        k<<<1, 1, 0, s>>>(a, h);
        lanes.push_back(s);
    }}
    {wait}
    cudaFreeAsync(a, 0);"""
FIRST = "cudaDeviceSynchronize();"


@pytest.mark.parametrize("wait", ["", "cudaStreamSynchronize(0);", "if (n < 0) return 1;"])
def test_a_free_that_nobody_of_several_streams_is_waited_for(wait: str) -> None:
    assert "wait_between_streams" in in_main(FIRST + LANES.format(kind="NonBlocking", before="", wait=wait))


@pytest.mark.parametrize(
    ("kind", "wait"),
    [
        ("NonBlocking", "for (cudaStream_t s : lanes) cudaStreamSynchronize(s);"),
        ("NonBlocking", "for (int i = 0; i < n; ++i) cudaStreamSynchronize(lanes[i]);"),
        ("NonBlocking", "if (n > 1) cudaDeviceSynchronize();"),
        ("NonBlocking", "unseen(lanes);"),
        ("NonBlocking", "cudaDeviceSynchronize();"),
        ("Default", ""),
    ],
)
def test_a_free_that_may_be_waited_for(kind: str, wait: str) -> None:
    assert "wait_between_streams" not in in_main(FIRST + LANES.format(kind=kind, before="", wait=wait))


def test_a_stream_that_was_destroyed_on_every_path() -> None:
    made = "cudaStream_t s; cudaStreamCreate(&s); cudaStreamDestroy(s);"
    assert in_main(f"{made} cudaStreamSynchronize(s);") == ["free_before_stream_destroy"]
    assert in_main(f"{made} cudaMemsetAsync(h, 0, 4, s);") == ["free_before_stream_destroy"]
    assert not in_main(f"{made.replace('cudaStreamD', 'if (n) cudaStreamD')} cudaStreamSynchronize(s);")
    assert not in_main(f"{made} cudaStreamCreate(&s); cudaStreamSynchronize(s);")


RESETS = "float *d; cudaMalloc(&d, 4); cudaFree(d); cudaDeviceReset();"
MADE_AGAIN = {
    "an event": "cudaEvent_t e; cudaEventCreate(&e); cudaEventDestroy(e);" + RESETS,
    "a stream": "cudaStream_t s; cudaStreamCreate(&s); cudaStreamDestroy(s);" + RESETS,
    "a vector of events": "int n = rand(); std::vector<cudaEvent_t> e(n);"
    "for (int i = 0; i < n; i++) cudaEventCreate(&e[i]);"
    "for (int i = 0; i < n; i++) cudaEventDestroy(e[i]);" + RESETS,
}
OF_BEFORE = {
    "behind the reset": "cudaEvent_t e; cudaEventCreate(&e);" + RESETS + "cudaEventDestroy(e);",
    "kept": "static cudaEvent_t e; if (!e) cudaEventCreate(&e);" + RESETS + "cudaEventDestroy(e);",
    "of the last call": "static cudaEvent_t e; static bool f; if (f) cudaEventDestroy(e);"
    "f = true; cudaEventCreate(&e);" + RESETS,
}


def found_where_it_runs_twice(body: str) -> set[str]:
    source = "#include <cuda_runtime.h>\n#include <vector>\n"
    source += f"int once() {{ {body} return 0; }}\nint main() {{ once(); once(); return 0; }}\n"
    return {finding.codemod for finding in driver.analyze({"main.cu": source.encode()}, Config()).findings}


@pytest.mark.parametrize("body", MADE_AGAIN.values(), ids=list(MADE_AGAIN))
def test_what_is_made_after_a_reset_is_not_ended_by_it(body: str) -> None:
    assert found_where_it_runs_twice(body) == {"stream_ordered_pairs"}


@pytest.mark.parametrize("body", OF_BEFORE.values(), ids=list(OF_BEFORE))
def test_what_was_made_before_a_reset_is_ended_by_it(body: str) -> None:
    assert "destroy_before_reset" in found_where_it_runs_twice(body)
