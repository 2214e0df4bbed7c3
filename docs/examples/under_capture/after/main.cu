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
    cudaGraph_t graph;
    float *v;
    cudaStreamCreate(&stream);
    cudaMalloc(&v, 4096);
    cudaMemsetAsync(v, 0, 4096, stream);
    scale<<<4, 256, 0, stream>>>(v, 1024);
    cudaFree(v);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
