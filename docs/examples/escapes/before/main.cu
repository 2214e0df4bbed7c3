#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

float *table[8];

void fill(int slot)
{
    cudaMalloc(&table[slot], 4096);
    scale<<<4, 256>>>(table[slot], 1024);
}

float *lent(int slot)
{
    return table[slot];
}

void clear(int slot)
{
    cudaFree(table[slot]);
}
