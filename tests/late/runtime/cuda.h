// Contexts of the driver: the primary ones.
#ifndef LATE_CUDA_H
#define LATE_CUDA_H
#include "cuda_runtime.h"
typedef size_t CUcontext;
typedef int CUdevice;
typedef int CUresult;
constexpr CUresult CUDA_SUCCESS = 0;
inline CUresult cuInit(unsigned) { return 0; }
inline CUresult cuDeviceGet(CUdevice *d, int i) { *d = i; return 0; }
inline CUresult cuCtxGetCurrent(CUcontext *c) { int d; cudaGetDevice(&d); *c = d + 1; return 0; }
inline CUresult cuCtxSetCurrent(CUcontext c) { cudaSetDevice((int)c - 1); return 0; }
inline CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) { *c = d + 1; return 0; }
inline CUresult cuDevicePrimaryCtxRelease(CUdevice) { return 0; }
inline CUresult cuCtxSynchronize() { cudaDeviceSynchronize(); return 0; }
#endif
