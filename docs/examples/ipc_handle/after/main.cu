#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *v)
{
    v[threadIdx.x] = threadIdx.x;
}

int main()
{
    float *v;
    cudaMemPool_t pool;
    cudaMemPoolProps shared = {};
    shared.allocType = cudaMemAllocationTypePinned;
    shared.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    shared.location.type = cudaMemLocationTypeDevice;
    cudaMemPoolCreate(&pool, &shared);
    cudaMemPoolPtrExportData handle;
    cudaMallocFromPoolAsync((void **)&v, 4096, pool, 0);
    fill<<<1, 1024>>>(v);
    cudaDeviceSynchronize();
    cudaMemPoolExportPointer(&handle, v);
    fwrite(&handle, sizeof(handle), 1, stdout); // another process imports it, from the pool that it was given
    getchar();
    cudaFreeAsync(v, 0);
    cudaDeviceSynchronize();
    cudaMemPoolDestroy(pool);
}
