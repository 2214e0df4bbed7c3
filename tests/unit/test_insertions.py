"""In which words, and where, waits are inserted."""

from __future__ import annotations

from tests import fixtures

TOP = """#include <cuda_runtime.h>
#include <cstdio>
__global__ void fill(int *p, int n) { p[threadIdx.x] = n; }
__global__ void add(int *sum, const int *p) { sum[threadIdx.x] += p[threadIdx.x]; }
"""


def written(text: str) -> str:
    files = {"main.cu": (TOP + text).encode()}
    return fixtures.rewritten(files, fixtures.report_of(files))["main.cu"].decode()


CLEANUP = """
#define TRY(call) do { %s if (%s != cudaSuccess) goto cleanup; } while (0)
int process(int *out, cudaStream_t s) {
    cudaError_t rc = cudaSuccess;
    int *p = NULL;
    TRY(cudaMalloc(&p, 128));
    fill<<<1, 32, 0, s>>>(p, 1);
    TRY(cudaMemcpyAsync(out, p, 128, cudaMemcpyDeviceToHost, s));
cleanup:
    if (p)
        cudaFree(p);
    return rc;
}
int main() {
    int *out;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocHost(&out, 128);
    process(out, s);
    printf("%%d\\n", out[0]);
}
"""


def test_a_check_that_jumps_stands_in_front_of_its_label_only() -> None:
    text = written(CLEANUP % ("", "(call)"))
    assert "TRY(cudaStream" not in text
    assert "        cudaStreamSynchronize(s);\n        cudaFreeAsync(p, s);\n" in text


def test_a_check_that_stores_the_status_stands_nowhere_else() -> None:
    assert "TRY(cudaStream" not in written(CLEANUP % ("rc = (call);", "rc"))


LANES = """
%s
class Lane {
 public:
  Lane() { %s(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};
int main() {
  Lane left, right;
  int *sum;
  %s(cudaMallocManaged(&sum, 128));
  for (int i = 0; i < 9; ++i) {
    int *p;
    %s(cudaMalloc(&p, 128));
    fill<<<1, 32, 0, left.stream()>>>(p, i);
    %s(cudaStreamSynchronize(left.stream()));
    add<<<1, 32, 0, right.stream()>>>(sum, p);
    fill<<<1, 32, 0, left.stream()>>>(sum + 64, i);
    %s(cudaFree(p));
  }
  %s(cudaDeviceSynchronize());
  printf("%%d\\n", *sum);
}
"""
CHECK = 'void cudaOk(cudaError_t e) {\n  if (e != cudaSuccess) {\n    printf("error");\n    exit(1);\n  }\n}'


def test_private_members_are_not_named_in_loops() -> None:
    text = written(LANES % ("", *("",) * 6))
    assert "cudaEventRecord(done, right.stream());" in text
    assert "right.stream_" not in text


def test_a_check_function_that_is_named_like_the_runtime_is_one() -> None:
    text = written(LANES % (CHECK, *("cudaOk",) * 6))
    assert "    cudaOk(cudaEventRecord(done, right.stream()));\n" in text


def test_blocks_are_indented_as_those_of_the_file() -> None:
    assert "\n  cudaMemPool_t pool;\n" in written(LANES % ("", *("",) * 6))


SUMS = """
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *sum;
    cudaMallocManaged(&sum, 128);
    cudaMemset(sum, 0, 128);
    int rounds = 9;
    while (rounds-- > 0) {
        int *p;
        cudaMalloc(&p, 128);
        %s
        fill<<<1, 32, 0, s>>>(p, rounds);
        add<<<1, 32, 0, s>>>(sum, p);
        cudaFree(p);
    }
    cudaDeviceSynchronize();
    printf("%%d\\n", *sum);
}
"""


def test_what_a_loop_needs_of_work_in_front_of_it_is_waited_for_there() -> None:
    text = written(SUMS % "")
    front, loop = text.split("    while (rounds-- > 0) {")
    assert "cudaStreamWaitEvent(s, done, 0);" in front
    assert "WaitEvent" not in loop
    assert "Synchronize" not in loop.split("    }\n")[0]


def test_what_a_loop_needs_of_work_in_it_is_waited_for_there() -> None:
    front, loop = written(SUMS % "cudaMemset(sum, rounds, 128);").split("    while (rounds-- > 0) {")
    assert "WaitEvent" not in front
    assert "cudaStreamWaitEvent(s, done, 0);" in loop


ERRORS = """
int process(const int *in, int *out, cudaStream_t copy, cudaStream_t compute) {
    int ret = -1;
    int *p = NULL, *q = NULL;
    cudaEvent_t ready;
    if (cudaEventCreate(&ready) != cudaSuccess) return -1;
    if (cudaMalloc(&p, 128) != cudaSuccess) goto done;
    if (cudaMalloc(&q, 128) != cudaSuccess) goto first;
    if (cudaMemcpyAsync(p, in, 128, cudaMemcpyHostToDevice, copy) != cudaSuccess) goto second;
    cudaEventRecord(ready, copy);
    cudaStreamWaitEvent(compute, ready, 0);
    add<<<1, 32, 0, compute>>>(q, p);
    add<<<1, 32, 0, compute>>>(p, q);
    if (cudaMemcpyAsync(out, p, 128, cudaMemcpyDeviceToHost, compute) == cudaSuccess) ret = 0;
second:
    cudaFree(q);
first:
    cudaFree(p);
done:
    cudaEventDestroy(ready);
    return ret;
}
int main() {
    int *in, *out;
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMallocHost(&in, 128);
    cudaMallocHost(&out, 128);
    for (int i = 0; i < 3; i++)
        if (process(in, out, s, t) == 0) printf("%d\\n", out[0]);
}
"""


def test_memory_is_allocated_on_the_stream_that_would_wait_for_that() -> None:
    text = written(ERRORS)
    assert "cudaMallocAsync(&p, 128, copy)" in text
    assert text.count("cudaStreamWaitEvent(") == 1
