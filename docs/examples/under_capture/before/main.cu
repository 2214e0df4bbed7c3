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
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudaMalloc(&v, 4096);
    scale<<<4, 256, 0, stream>>>(v, 1024);
    cudaStreamEndCapture(stream, &graph);
    cudaFree(v);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
