#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *v;
    cudaMallocAsync(&v, 4096, stream);
    cudaFreeAsync(v, stream);
    scale<<<4, 256, 0, stream>>>(v, 1024);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
