#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *v)
{
    v[threadIdx.x] = threadIdx.x;
}

int main()
{
    float *v;
    cudaIpcMemHandle_t handle;
    cudaMalloc(&v, 4096);
    fill<<<1, 1024>>>(v);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, v);
    fwrite(&handle, sizeof(handle), 1, stdout); // another process opens it
    getchar();
    cudaFree(v);
}
