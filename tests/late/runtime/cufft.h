// cuFFT: a plan keeps a stream and a work area. The transform is none: each element is doubled, through the work area.
#ifndef LATE_CUFFT_H
#define LATE_CUFFT_H
#include "late_libraries.h"
#include <map>
typedef int cufftHandle;
typedef float2 cufftComplex;
typedef float cufftReal;
enum cufftResult { CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN };
enum cufftType { CUFFT_C2C = 0x29, CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c };
constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;
namespace late
{
struct Plan {
    int n = 0;
    cudaStream_t stream = 0;
    float2 *area = nullptr;
};
inline std::map<int, Plan> &plans() { static auto *all = new std::map<int, Plan>; return *all; }
inline int &plan_count() { static int count = 0; return count; }
} // namespace late
inline cufftResult cufftCreate(cufftHandle *p) { *p = ++late::plan_count(); late::plans()[*p]; return CUFFT_SUCCESS; }
inline cufftResult cufftPlan1d(cufftHandle *p, int n, cufftType, int batch) { cufftCreate(p); late::plans()[*p].n = n * batch; return CUFFT_SUCCESS; }
inline cufftResult cufftPlan2d(cufftHandle *p, int n, int m, cufftType t) { return cufftPlan1d(p, n * m, t, 1); }
inline cufftResult cufftPlanMany(cufftHandle *p, int, int *n, int *, int, int, int *, int, int, cufftType t, int batch) { return cufftPlan1d(p, n[0], t, batch); }
inline cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
inline cufftResult cufftMakePlan1d(cufftHandle p, int n, cufftType, int batch, size_t *size)
{
    late::plans()[p].n = n * batch;
    *size = sizeof(float2) * n * batch;
    return CUFFT_SUCCESS;
}
inline cufftResult cufftGetSize(cufftHandle p, size_t *size) { *size = sizeof(float2) * late::plans()[p].n; return CUFFT_SUCCESS; }
inline cufftResult cufftSetWorkArea(cufftHandle p, void *area) { late::plans()[p].area = (float2 *)area; return CUFFT_SUCCESS; }
inline cufftResult cufftSetStream(cufftHandle p, cudaStream_t s) { late::plans()[p].stream = s; return CUFFT_SUCCESS; }
inline cufftResult cufftDestroy(cufftHandle p) { late::plans().erase(p); return CUFFT_SUCCESS; }
inline cufftResult cufftExecC2C(cufftHandle p, cufftComplex *in, cufftComplex *out, int)
{
    auto found = late::plans().find(p);
    if (found == late::plans().end())
        return CUFFT_INVALID_PLAN;
    auto plan = found->second;
    late::library(plan.stream, [=] {
        for (int i = 0; i < plan.n; ++i) {
            float2 v = {in[i].x * 2, in[i].y * 2};
            if (plan.area) plan.area[i] = v;
            out[i] = plan.area ? plan.area[i] : v;
        }
    });
    return CUFFT_SUCCESS;
}
inline cufftResult cufftExecR2C(cufftHandle p, cufftReal *in, cufftComplex *out)
{
    auto plan = late::plans()[p];
    late::library(plan.stream, [=] {
        for (int i = 0; i < plan.n / 2 + 1; ++i) {
            float2 v = {in[i] * 2, 0};
            if (plan.area) plan.area[i] = v;
            out[i] = v;
        }
    });
    return CUFFT_SUCCESS;
}
#endif
