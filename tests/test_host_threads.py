"""What another host thread may look at is ordered by the host thread that waits."""

from __future__ import annotations

import pytest

from cudafix.driver import prove

PROGRAM = """
__global__ void k(int *p) { *p = 42; }
std::atomic<int> ready;
void show(const int *h) { while (!ready.load()) { } printf("%d\\n", *h); }
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *h, *p;
    cudaMallocHost(&h, 4);
    cudaMalloc(&p, 4);
    THREAD_FIRST
    k<<<1, 1, 0, s>>>(p);
    cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(p);
    ready.store(1);
    THREAD_LAST
    t.join();
    cudaStreamSynchronize(s);
}
"""


@pytest.mark.parametrize("where", ["THREAD_FIRST", "THREAD_LAST"])
@pytest.mark.parametrize("thread", ["std::thread t(show, h);", "std::thread t([=] { show(h); });"])
def test_a_thread_that_reads_after_the_free_needs_the_wait(where: str, thread: str) -> None:
    program = PROGRAM.replace(where, thread).replace("THREAD_FIRST", "").replace("THREAD_LAST", "")
    after = program.replace("cudaMalloc(&p, 4)", "cudaMallocAsync(&p, 4, s)")
    bare = after.replace("cudaFree(p)", "cudaFreeAsync(p, s)")
    waits = after.replace("cudaFree(p)", "cudaStreamSynchronize(s); cudaFreeAsync(p, s)")
    assert prove({"a.cu": program.encode()}, {"a.cu": bare.encode()})
    assert not prove({"a.cu": program.encode()}, {"a.cu": waits.encode()})
