#include <cuda.h>
#include <cuda_runtime.h>

__global__ void fill(float *v)
{
    v[threadIdx.x] = threadIdx.x;
}

int main()
{
    for (int round = 0; round < 100; ++round) {
        CUdeviceptr v;
        cuMemAlloc(&v, 4096);
        fill<<<1, 1024>>>(reinterpret_cast<float *>(v));
        cuMemFree(v);
    }
}
