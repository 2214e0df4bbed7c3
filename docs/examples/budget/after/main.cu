#include <cuda_runtime.h>

__global__ void merge(float *v, int half)
{
    int i = threadIdx.x;
    if (i < half && v[i] > v[half + i]) {
        float lower = v[half + i];
        v[half + i] = v[i];
        v[i] = lower;
    }
}

int main()
{
    float *v;
    cudaMalloc(&v, 32768 * sizeof(float));
    for (int n = 2; n <= 32768; n *= 2)
        for (int i = 0; i < 32768; i += n)
            merge<<<1, n / 2 < 1024 ? n / 2 : 1024>>>(v + i, n / 2);
    cudaFree(v);
}
