// Two streams work on a buffer that each round allocates, uses and frees.
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
    cudaStream_t left, right;
    cudaEvent_t filled, used;
    CHECK(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
    float *a, *b, *c;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < warm_up + rounds; ++round) {
        if (round == warm_up) {
            CHECK(cudaDeviceSynchronize());
            start = std::chrono::steady_clock::now();
        }
        fill<<<blocks, 256, 0, left>>>(a, n, float(round));
        CHECK(cudaEventRecord(filled, left));
        CHECK(cudaStreamWaitEvent(right, filled, 0));
        scale<<<blocks, 256, 0, left>>>(b, a, n);
        add<<<blocks, 256, 0, right>>>(c, a, a, n);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(used, right));
        CHECK(cudaStreamWaitEvent(left, used, 0));
    }
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaEventDestroy(used));
    CHECK(cudaEventDestroy(filled));
    CHECK(cudaStreamDestroy(left));
    CHECK(cudaStreamDestroy(right));
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
