#include <cuda_runtime.h>

void work(float *v);

int main()
{
    float *v;
    cudaMalloc(&v, 4096);
    work(v);
    cudaFree(v);
}
