"""Objects of libraries that keep a pointer from one call to the next: what uses them uses the memory."""

from __future__ import annotations

import pytest

from cudafix.config import Config
from cudafix.driver import analyze
from cudafix.edits import apply

SOLVE = """
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cusparseHandle_t h;
    cusparseCreate(&h);
    cusparseSetStream(h, s);
    cusparseSpSVDescr_t solver;
    cusparseSpSV_createDescr(&solver);
    void *buffer;
    cudaMalloc(&buffer, 4);
    cusparseSpSV_analysis(h, op, &one, matrix, x, y, kind, algorithm, solver, buffer);
    %s
    cudaFree(buffer);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
}
"""
MATMUL = """
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    float *bias;
    cudaMalloc(&bias, 4);
    cublasLtMatmulDesc_t product;
    cublasLtMatmulDescCreate(&product, compute, kind);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
    %s
    cudaFree(bias);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
}
"""


@pytest.mark.parametrize(
    ("program", "use", "free"),
    [
        pytest.param(SOLVE, "", b"cudaFreeAsync(buffer, s)", id="the analysis works on the buffer"),
        pytest.param(
            SOLVE,
            "cusparseSpSV_solve(h, op, &one, matrix, x, y, kind, algorithm, solver);",
            b"cudaFreeAsync(buffer, s)",
            id="the solve works on the buffer of the analysis",
        ),
        pytest.param(MATMUL, "", b"cudaFreeAsync(bias, 0)", id="an attribute that nothing uses"),
        pytest.param(
            MATMUL,
            "cublasLtMatmul(lt, product, &one, a, la, b, lb, &zero, c, lc, d, ld, algorithm, 0, 0, s);",
            b"cudaFreeAsync(bias, s)",
            id="the product reads the bias",
        ),
    ],
)
def test_a_free_waits_for_what_uses_the_object(program: str, use: str, free: bytes) -> None:
    data = (program % use).encode()
    report = analyze({"a.cu": data}, Config())
    edits = list(dict.fromkeys(e for f in report.findings for e in f.edits))
    assert free in apply(data, edits)
