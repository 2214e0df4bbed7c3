// cuRAND: a generator keeps a stream.
#ifndef LATE_CURAND_H
#define LATE_CURAND_H
#include "late_libraries.h"
enum curandStatus_t { CURAND_STATUS_SUCCESS = 0 };
enum curandRngType_t { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161 };
struct curandGenerator_st {
    cudaStream_t stream = 0;
    std::shared_ptr<unsigned> state = std::make_shared<unsigned>(1);
};
typedef curandGenerator_st *curandGenerator_t;
inline curandStatus_t curandCreateGenerator(curandGenerator_t *g, curandRngType_t) { *g = new curandGenerator_st; return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t s) { g->stream = s; return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) { *g->state = (unsigned)seed; return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t n)
{
    unsigned from = *g->state;
    *g->state += n;
    late::library(g->stream, [=] { for (size_t i = 0; i < n; ++i) out[i] = (float)(from + i); });
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned *out, size_t n)
{
    unsigned from = *g->state;
    *g->state += n;
    late::library(g->stream, [=] { for (size_t i = 0; i < n; ++i) out[i] = from + i; });
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t n, float mean, float) { return curandGenerateUniform(g, out, n); }
inline curandStatus_t curandDestroyGenerator(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
#endif
