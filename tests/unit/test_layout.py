"""What is written stands as the lines around it do."""

from __future__ import annotations

from tests import fixtures

ROUNDS = """#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
int main()
{
    %s
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int i = 0; i < count; ++i) {
        cudaMalloc(&p, sizeof(int));
        fill<<<1, 1, 0, stream>>>(p);
        cudaFree(p);
    }
    return size;
}
"""


def written(text: str) -> str:
    files = {"main.cu": text.encode()}
    return fixtures.rewritten(files, fixtures.report_of(files))["main.cu"].decode()


def test_declarations_are_lined_up_where_those_of_the_file_are() -> None:
    one = written(
        ROUNDS % "int *p;\n    int           count = 3;\n    unsigned long size[2] = {};\n    short         n = 1;"
    )
    assert "    int                device;\n    cudaMemPool_t      pool;\n    unsigned long long threshold" in one
    other = written(ROUNDS % "int *p;\n    int count = 3;\n    unsigned long size = 0;")
    assert "    int device;\n    cudaMemPool_t pool;\n    unsigned long long threshold" in other


def test_arguments_below_each_other_stay_so() -> None:
    below = ROUNDS.replace("cudaMalloc(&p, sizeof(int));", "cudaMalloc((void **)&p,\n                   sizeof(int));")
    setting = "int *p;\n    int count = 3, size = 0;"
    moved = "        cudaMallocAsync((void **)&p,\n                        sizeof(int), stream);\n"
    assert moved in written(below % setting)


def test_arguments_that_stand_elsewhere_stay_there() -> None:
    below = ROUNDS.replace("cudaMalloc(&p, sizeof(int));", "cudaMalloc((void **)&p,\n            sizeof(int));")
    moved = "        cudaMallocAsync((void **)&p,\n            sizeof(int), stream);\n"
    assert moved in written(below % "int *p;\n    int count = 3, size = 0;")
