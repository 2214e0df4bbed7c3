#include <cuda_runtime.h>
#include <memory>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main()
{
    float *v;
    cudaMalloc(&v, 4096);
    std::unique_ptr<float, decltype(&cudaFree)> owner(v, &cudaFree);
    scale<<<4, 256>>>(owner.get(), 1024);
}
