// Three buffers that are allocated once, by hand, in front of the loop; the host reads a result in each round.
// Reads bytes of each buffer, bytes that the kernels touch, and rounds, until there are no more; prints microseconds a round.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

__global__ void fill(float *out, size_t n, float value)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x))
        out[i] = value;
}

__global__ void scale(float *out, const float *in, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x))
        out[i] = 2 * in[i];
}

__global__ void add(float *out, const float *a, const float *b, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x))
        out[i] = a[i] + b[i];
}

// Microseconds a round.
static double measure(size_t bytes, size_t touched, int rounds)
{
    const size_t n = touched / sizeof(float);
    const int warm_up = 5;
    const int blocks = n < 256 * 1056 ? int((n + 255) / 256) : 1056;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    float *result;
    CHECK(cudaMallocHost(&result, sizeof(float)));
    int bad = 0;
    float *a, *b, *c;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < warm_up + rounds; ++round) {
        if (round == warm_up) {
            CHECK(cudaStreamSynchronize(stream));
            start = std::chrono::steady_clock::now();
        }
        fill<<<blocks, 256, 0, stream>>>(a, n, float(round));
        scale<<<blocks, 256, 0, stream>>>(b, a, n);
        add<<<blocks, 256, 0, stream>>>(c, a, b, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(result, c, sizeof(float), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        bad += *result != 3 * float(round);
    }
    CHECK(cudaStreamSynchronize(stream));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFreeHost(result));
    if (bad) {
        fprintf(stderr, "wrong result\n");
        exit(1);
    }
    CHECK(cudaStreamDestroy(stream));
    return took.count() / rounds;
}

int main()
{
    size_t bytes, touched;
    int rounds;
    while (scanf("%zu %zu %d", &bytes, &touched, &rounds) == 3) {
        printf("%.2f\n", measure(bytes, touched, rounds));
        fflush(stdout);
    }
    return 0;
}
