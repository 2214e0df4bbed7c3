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
    std::shared_ptr<float> owner(v, cudaFree);
    std::shared_ptr<float> reader = owner;
    scale<<<4, 256>>>(reader.get(), 1024);
}
