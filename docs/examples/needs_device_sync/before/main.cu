#include <cuda_runtime.h>
#include <vector>

__device__ float total;

__global__ void sum(const float *v)
{
    for (int i = 0; i < 1024; i++)
        total += v[i];
}

int main(int argc, char **)
{
    float *v;
    cudaMalloc(&v, 4096);
    cudaMemset(v, 0, 4096);
    cudaDeviceSynchronize();
    std::vector<cudaStream_t> streams;
    for (int i = 0; i < argc; i++) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        sum<<<1, 1, 0, stream>>>(v);
        streams.push_back(stream);
    }
    cudaFree(v);
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
}
