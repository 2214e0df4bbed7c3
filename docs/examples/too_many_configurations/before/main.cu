#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

int main(int argc, char **)
{
    float *v;
    cudaMalloc(&v, 4096);
#ifdef OPTION_A
    scale<<<4, 256>>>(v, 1);
#endif
#ifdef OPTION_B
    scale<<<4, 256>>>(v, 2);
#endif
#ifdef OPTION_C
    scale<<<4, 256>>>(v, 3);
#endif
#ifdef OPTION_D
    scale<<<4, 256>>>(v, 4);
#endif
#ifdef OPTION_E
    scale<<<4, 256>>>(v, 5);
#endif
#ifdef OPTION_F
    scale<<<4, 256>>>(v, 6);
#endif
#ifdef OPTION_G
    scale<<<4, 256>>>(v, 7);
#endif
    scale<<<4, 256>>>(v, 1024);
    cudaFree(v);
}
