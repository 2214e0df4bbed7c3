#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main(int argc, char **)
{
    cudaStream_t streams[64];
    float *v;
    cudaMalloc(&v, 4096);
    for (int i = 0; i < 64; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        scale<<<4, 256, 0, streams[i]>>>(v, 1024);
    }
    for (int i = 0; i < 64; i++)
        cudaStreamSynchronize(streams[i]);
    cudaFree(v);
    for (int i = 0; i < 64; i++)
        cudaStreamDestroy(streams[i]);
}
