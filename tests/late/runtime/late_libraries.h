// What the libraries of CUDA have in common here: a routine is one operation of a stream.
#ifndef LATE_LIBRARIES_H
#define LATE_LIBRARIES_H
#include "cuda_runtime.h"
#include <complex>
namespace late
{
template <class F> void library(cudaStream_t stream, F work) { enqueue(Config(1, 1, 0, stream), work); }
} // namespace late
struct float2 {
    float x, y;
};
#endif
