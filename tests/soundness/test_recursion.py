"""Functions that call themselves and work on the device: their activations, however many, are followed as one."""

# ruff: noqa: E501  (each row is a function, on one line)

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

KERNELS = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void k(float *out, const float *in, int n) { if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x]; }
__global__ void set(int *p) { *p = 42; }
"""
WAVELET = """
static void transform(float *in, float *out, int x, int y, int levels) {
    k<<<1, 256>>>(out, in, x * y);
    if (levels > 1) {
        cudaMemcpy(in, out, x * y / 4, cudaMemcpyDeviceToDevice);
        transform(in, out, x / 2, y / 2, levels - 1);
    }
}
int main() {
    float *in, *out, h[256];
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    transform(in, out, 16, 16, 3);
    cudaMemcpy(h, out, 1024, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return h[0] != 0;
}
"""
SCAN = """
static float **sums;
static int levels;
static void scan(float *out, const float *in, int n, int level) {
    int blocks = n / 256;
    k<<<blocks, 256>>>(out, in, n);
    if (blocks > 1) {
        k<<<blocks, 256>>>(sums[level], in, n);
        scan(sums[level], sums[level], blocks, level + 1);
        k<<<blocks, 256>>>(out, sums[level], n);
    }
}
int main() {
    float *in, *out, h[256];
    levels = 2;
    sums = (float **)malloc(levels * sizeof(float *));
    for (int i = 0; i < levels; i++) cudaMalloc(&sums[i], 1024);
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    scan(out, in, 256, 0);
    cudaMemcpy(h, out, 1024, cudaMemcpyDeviceToHost);
    for (int i = 0; i < levels; i++) cudaFree(sums[i]);
    cudaFree(in);
    cudaFree(out);
    free(sums);
    return h[0] != 0;
}
"""


@pytest.mark.parametrize("program", [WAVELET, SCAN], ids=["as its last step", "in its middle"])
def test_what_a_recursive_function_works_on_moves(program: str) -> None:
    report = analyze({"main.cu": (KERNELS + program).encode()}, Config())
    assert not report.refusals
    assert {finding.safety for finding in report.findings} == {Safety.PROVEN}


STREAMS = """
cudaStream_t s, t;
int *x, *y;
{declared}
int main(int argc, char **argv) {{
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    int *d, *e;
    cudaMalloc(&d, 4);
    cudaMalloc(&e, 4);
    x = d;
    y = e;
    {call}
    cudaFree(d);
    cudaFree(e);
    return 0;
}}
"""


def moved(declared: str, call: str) -> str:
    source = (KERNELS + STREAMS.format(declared=declared, call=call)).encode()
    report = analyze({"main.cu": source}, Config())
    return apply(source, list(dict.fromkeys(e for f in report.findings for e in f.edits))).decode()


def test_who_goes_on_behind_the_call_finds_its_own_variables() -> None:
    after = moved(
        "void f(int *p, int n, cudaStream_t on) { if (n > 0) f(y, n - 1, t); set<<<1, 1, 0, on>>>(p); }",
        "f(x, argc, s);",
    )
    assert "cudaFreeAsync(d, s)" in after
    assert "cudaFreeAsync(e, t)" in after


def test_a_struct_is_handed_on_with_what_it_holds() -> None:
    """The third activation works with `t` on `d`."""
    after = moved(
        "struct A { int *p; cudaStream_t a, b, c; };\n"
        "void f(A on, int n) { if (n > 0) { A next = {on.p, on.b, on.c, on.c}; f(next, n - 1); return; } set<<<1, 1, 0, on.a>>>(on.p); }",
        "A on = {x, s, s, t}; f(on, argc);",
    )
    assert "cudaFreeAsync(d" not in after or "cudaStreamWaitEvent(" in after or "cudaStreamSynchronize(" in after


@pytest.mark.parametrize(
    "declared",
    [
        "void f(int *p, int n, cudaStream_t a, cudaStream_t b) { set<<<1, 1, 0, a>>>(p); if (n > 0) f(p, n - 1, b, a); }",
        "void f(int *p, int n, cudaStream_t a, cudaStream_t b) { if (n > 0) f(p, n - 1, b, a); set<<<1, 1, 0, a>>>(p); }",
        "void f(int *p, int n, cudaStream_t a, cudaStream_t b) { if (n > 2) { f(p, n - 1, b, a); return; } set<<<1, 1, 0, a>>>(p); }",
        "void f(int *p, int n, cudaStream_t a, cudaStream_t b) { cudaStream_t c = a; if (n > 0) f(p, n - 1, b, a); set<<<1, 1, 0, c>>>(p); }",
        "void f(int *p, int n, cudaStream_t a, cudaStream_t b) { if (n > 1) f(p, n - 1, a, b); else if (n > 0) f(p, n - 1, b, a); set<<<1, 1, 0, a>>>(p); }",
    ],
)
def test_a_free_waits_for_all_streams_that_the_activations_use(declared: str) -> None:
    """`d` is used on `s` and on `t`, or on either: a free on one of them would come too early."""
    after = moved(declared, "f(x, argc, s, t);")
    assert "cudaFreeAsync(d" not in after or "cudaStreamWaitEvent(" in after or "cudaStreamSynchronize(" in after


def test_the_host_does_not_read_what_an_activation_still_writes() -> None:
    source = (
        KERNELS
        + """
void f(int *out, int n, cudaStream_t a) { if (n > 0) f(out, n - 1, a); else set<<<1, 1, 0, a>>>(out); }
int main(int argc, char **argv) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *d, *out;
    cudaMalloc(&d, 4);
    cudaMallocHost(&out, 4);
    f(out, argc, s);
    cudaFree(d);
    printf("%d", *out);
    return 0;
}
"""
    )
    report = analyze({"main.cu": source.encode()}, Config())
    edits = b"".join(edit.text for finding in report.findings for edit in finding.edits)
    assert report.refusals or b"cudaStreamSynchronize(s)" in edits


@pytest.mark.parametrize(
    "declared",
    [
        "void f(int *p, int n) { int *q; cudaMalloc(&q, 4); if (n > 0) f(q, n - 1); set<<<1, 1>>>(p); cudaFree(q); }",
        "void f(int *p, int n) { cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s); if (n > 0) f(p, n - 1); set<<<1, 1, 0, s>>>(p); cudaEventSynchronize(e); }",
        "void f(int **p, int n) { int *q = *p; if (n > 0) f(&q, n - 1); set<<<1, 1>>>(q); }",
        "void g(int *p, int n); void f(int *p, int n) { set<<<1, 1>>>(p); if (n > 0) g(p, n - 1); }\n"
        "void g(int *p, int n) { f(p, n); }",
    ],
    ids=["allocates", "keeps an event", "hands out an address", "by way of another function"],
)
def test_what_is_not_followed_is_not_seen(declared: str) -> None:
    report = analyze(
        {"main.cu": (KERNELS + STREAMS.format(declared=declared, call="int *z = x; f(&z, argc);" if "**" in declared else "f(x, argc);")).encode()},
        Config(),
    )  # fmt: skip
    assert "unknown_call" in {refusal.name for refusal in report.refusals}
