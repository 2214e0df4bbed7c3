#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main()
{
    const int n = 1024;
    float host[n] = {};
    float *v;
    cudaMalloc(&v, sizeof(host));
    cudaMemcpy(v, host, sizeof(host), cudaMemcpyHostToDevice);
    scale<<<4, 256>>>(v, n);
    cudaMemcpy(host, v, sizeof(host), cudaMemcpyDeviceToHost);
    cudaFree(v);
    return host[0] != 0;
}
