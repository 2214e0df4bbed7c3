"""Objects of libraries that keep a pointer from one call to the next: what uses them uses the memory."""

from __future__ import annotations

import pytest

from cudafix.pipeline.driver import prove

PROGRAM = """
int main() {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cusparseHandle_t h;
    cusparseCreate(&h);
    cusparseSetStream(h, s);
    void *buffer;
    cudaMalloc(&buffer, 4);
    %s
    cudaStreamSynchronize(s);
    cusparseSetStream(h, t);
    %s
    cudaFree(buffer);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}
"""
SOLVER = """cusparseSpSVDescr_t d; cusparseSpSV_createDescr(&d);
    cusparseSpSV_analysis(h, op, &one, matrix, x, y, kind, algorithm, d, buffer);"""
PRODUCT = """cusparseSpGEMMDescr_t d; cusparseSpGEMM_createDescr(&d);
    cusparseSpGEMM_workEstimation(h, op, op, &one, a, b, &zero, c, kind, algorithm, d, &size, buffer);"""
MATMUL = """cublasLtMatmulDesc_t d; cublasLtMatmulDescCreate(&d, compute, kind);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &buffer, sizeof(buffer));"""


@pytest.mark.parametrize(
    ("keeps", "uses"),
    [
        pytest.param(SOLVER, "cusparseSpSV_solve(h, op, &one, matrix, x, y, kind, algorithm, d);", id="solve"),
        pytest.param(
            PRODUCT,
            "cusparseSpGEMM_compute(h, op, op, &one, a, b, &zero, c, kind, algorithm, d, &size, nullptr);",
            id="step of a sparse product",
        ),
        pytest.param(
            PRODUCT,
            "cusparseSpGEMM_copy(h, op, op, &one, a, b, &zero, c, kind, algorithm, d);",
            id="last step of a sparse product",
        ),
        pytest.param(
            MATMUL,
            "cublasLtMatmul(lt, d, &one, a, la, b, lb, &zero, c, lc, e, le, algorithm, 0, 0, t);",
            id="product with a bias",
        ),
        pytest.param("", SOLVER, id="analysis"),
    ],
)
def test_a_free_on_another_stream_than_the_last_use_is_rejected(keeps: str, uses: str) -> None:
    def moved(program: str, stream: str) -> list[str]:
        after = program.replace("cudaMalloc(&buffer, 4)", f"cudaMallocAsync(&buffer, 4, {stream})")
        after = after.replace("cudaFree(buffer)", f"cudaFreeAsync(buffer, {stream})")
        return prove({"a.cu": program.encode()}, {"a.cu": after.encode()})

    program = PROGRAM % (keeps, uses)
    assert any("may still run when the memory is freed" in reason for reason in moved(program, "s"))
    if not keeps:
        assert not moved(program, "t")
    else:
        assert not moved(PROGRAM % (keeps, ""), "s")
