// The result comes back into pinned memory on a stream of its own; the free is the only wait before it is read.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

__global__ void square(int *v, int n, long long ns)
{
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < ns);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = i * i;
}

int main()
{
    const int n = 1024;
    const size_t bytes = n * sizeof(int);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int *h_v;
    CHECK(cudaMallocHost(&h_v, bytes));
    for (int i = 0; i < n; ++i)
        h_v[i] = -1;

    int *d_v;
    CHECK(cudaMalloc(&d_v, bytes));
    square<<<n / 256, 256, 0, stream>>>(d_v, n, 30000000);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(h_v, d_v, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFree(d_v));

    int bad = 0;
    for (int i = 0; i < n; ++i)
        bad += h_v[i] != i * i;
    printf("%s\n", bad == 0 ? "PASS" : "FAIL");
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(h_v));
    CHECK(cudaStreamDestroy(stream));
    return bad != 0;
}
