#pragma once
#include <hip/hip_runtime.h>

#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaStream_t hipStream_t
