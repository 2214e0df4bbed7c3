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
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float *v, *host;
    cudaMallocHost(&host, 4096);
    cudaMallocAsync(&v, 4096, stream);
    cudaMemsetAsync(v, 0, 4096, stream);
    scale<<<4, 256, 0, stream>>>(v, 1024);
    cudaMemcpyAsync(host, v, 4096, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(v, stream);
    cudaStreamSynchronize(stream);
    float first = host[0];
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    return first != 0;
}
