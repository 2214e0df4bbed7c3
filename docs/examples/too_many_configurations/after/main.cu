#include <cuda_runtime.h>

__global__ void scale(float *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= 2;
}

static void pair()
{
    float *v;
    cudaMalloc(&v, 4096);
    scale<<<4, 256>>>(v, 1024);
    cudaFree(v);
}

int main(int argc, char **)
{
    pair();
#ifdef OPTION_A
    argc++;
#endif
#ifdef OPTION_B
    argc++;
#endif
#ifdef OPTION_C
    argc++;
#endif
#ifdef OPTION_D
    argc++;
#endif
#ifdef OPTION_E
    argc++;
#endif
#ifdef OPTION_F
    argc++;
#endif
#ifdef OPTION_G
    argc++;
#endif
    return argc;
}
