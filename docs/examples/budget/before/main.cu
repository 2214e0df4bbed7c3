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

static void sort2(float *v) { merge<<<1, 1>>>(v, 1); }
static void sort4(float *v) { sort2(v); sort2(v + 2); merge<<<1, 2>>>(v, 2); }
static void sort8(float *v) { sort4(v); sort4(v + 4); merge<<<1, 4>>>(v, 4); }
static void sort16(float *v) { sort8(v); sort8(v + 8); merge<<<1, 8>>>(v, 8); }
static void sort32(float *v) { sort16(v); sort16(v + 16); merge<<<1, 16>>>(v, 16); }
static void sort64(float *v) { sort32(v); sort32(v + 32); merge<<<1, 32>>>(v, 32); }
static void sort128(float *v) { sort64(v); sort64(v + 64); merge<<<1, 64>>>(v, 64); }
static void sort256(float *v) { sort128(v); sort128(v + 128); merge<<<1, 128>>>(v, 128); }
static void sort512(float *v) { sort256(v); sort256(v + 256); merge<<<1, 256>>>(v, 256); }
static void sort1024(float *v) { sort512(v); sort512(v + 512); merge<<<1, 512>>>(v, 512); }
static void sort2048(float *v) { sort1024(v); sort1024(v + 1024); merge<<<1, 1024>>>(v, 1024); }
static void sort4096(float *v) { sort2048(v); sort2048(v + 2048); merge<<<1, 1024>>>(v, 2048); }
static void sort8192(float *v) { sort4096(v); sort4096(v + 4096); merge<<<1, 1024>>>(v, 4096); }
static void sort16384(float *v) { sort8192(v); sort8192(v + 8192); merge<<<1, 1024>>>(v, 8192); }
static void sort32768(float *v) { sort16384(v); sort16384(v + 16384); merge<<<1, 1024>>>(v, 16384); }

int main()
{
    float *v;
    cudaMalloc(&v, 32768 * sizeof(float));
    sort32768(v);
    cudaFree(v);
}
