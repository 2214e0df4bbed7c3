#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main()
{
    float *v;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++) {
        cudaMalloc(&v, 4096);
        scale<<<4, 256>>>(v, 1024);
        cudaFree(v);
    }
    std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    printf("a round: %.1f us\n", taken.count() / 100);
}
