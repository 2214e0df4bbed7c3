#include <cuda_runtime.h>

__device__ float total;

__global__ void sum(const float *v)
{
    for (int i = 0; i < 1024; i++)
        total += v[i];
}

int main()
{
    float *v;
    cudaMalloc(&v, 4096);
    cudaMemset(v, 0, 4096);
    cudaDeviceSynchronize();
    cudaStream_t streams[4];
    for (int i = 0; i < 4; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        sum<<<1, 1, 0, streams[i]>>>(v);
    }
    for (int i = 0; i < 4; i++)
        cudaStreamSynchronize(streams[i]);
    cudaFree(v);
    for (int i = 0; i < 4; i++)
        cudaStreamDestroy(streams[i]);
}
