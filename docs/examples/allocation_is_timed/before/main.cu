#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>

int main()
{
    float *v;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++) {
        cudaMalloc(&v, 4096);
        cudaFree(v);
    }
    std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    printf("cudaMalloc and cudaFree: %.1f us\n", taken.count() / 100);
}
