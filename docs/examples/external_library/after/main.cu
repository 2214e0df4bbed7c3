#include <cuda_runtime.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    float *v;
    cudaMalloc(&v, 4096);
    cudaMemset(v, 0, 4096);
    float host[1024];
    cudaMemcpy(host, v, sizeof(host), cudaMemcpyDeviceToHost);
    MPI_Send(host, 1024, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    cudaFree(v);
    MPI_Finalize();
}
