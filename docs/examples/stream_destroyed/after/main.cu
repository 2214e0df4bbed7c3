#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main(int argc, char **)
{
    bool keep = argc > 1;
    float *v;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&v, 4096);
    scale<<<4, 256, 0, stream>>>(v, 1024);
    cudaFree(v);
    if (!keep)
        cudaStreamDestroy(stream);
}
