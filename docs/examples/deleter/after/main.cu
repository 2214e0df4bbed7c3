#include <cuda_runtime.h>
#include <memory>

struct Release {
    void operator()(float *p) const { cudaFree(p); }
};

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
    std::unique_ptr<float, Release> owner(v);
    scale<<<4, 256>>>(owner.get(), 1024);
}
