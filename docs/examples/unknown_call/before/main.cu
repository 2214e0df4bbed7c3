#include <cuda_runtime.h>

void smooth(float *v, int n, cudaStream_t stream);

int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *v;
    cudaMalloc(&v, 4096);
    cudaMemsetAsync(v, 0, 4096, stream);
    smooth(v, 1024, stream);
    cudaFree(v);
    cudaStreamDestroy(stream);
}
