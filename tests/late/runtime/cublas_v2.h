// cuBLAS: a handle keeps a stream and says where scalars are. Results that go to the host are waited for.
#ifndef LATE_CUBLAS_H
#define LATE_CUBLAS_H
#include "late_libraries.h"
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
struct cublasContext {
    cudaStream_t stream = 0;
    cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
    float *workspace = nullptr;
};
typedef cublasContext *cublasHandle_t;
inline cublasStatus_t cublasCreate(cublasHandle_t *h) { *h = new cublasContext; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t) { cudaDeviceSynchronize(); return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t s) { h->stream = s; h->workspace = nullptr; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetStream(cublasHandle_t h, cudaStream_t *s) { *s = h->stream; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t h, cublasPointerMode_t m) { h->mode = m; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void *w, size_t) { h->workspace = (float *)w; return CUBLAS_STATUS_SUCCESS; }
namespace late
{
template <class F> void scaled(cublasHandle_t h, const float *alpha, F work)
{
    float *w = h->workspace;
    if (h->mode == CUBLAS_POINTER_MODE_HOST)
        library(h->stream, [=, a = *alpha] { if (w) *w = a; work(a); });
    else
        library(h->stream, [=] { if (w) *w = *alpha; work(*alpha); });
}
template <class F> void reduced(cublasHandle_t h, F work)
{
    float *w = h->workspace;
    library(h->stream, [=] { if (w) *w = 0; work(); });
    if (h->mode == CUBLAS_POINTER_MODE_HOST)
        cudaStreamSynchronize(h->stream);
}
} // namespace late
inline cublasStatus_t cublasSscal(cublasHandle_t h, int n, const float *alpha, float *x, int dx)
{
    late::scaled(h, alpha, [=](float a) { for (int i = 0; i < n; ++i) x[i * dx] *= a; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSaxpy(cublasHandle_t h, int n, const float *alpha, const float *x, int dx, float *y, int dy)
{
    late::scaled(h, alpha, [=](float a) { for (int i = 0; i < n; ++i) y[i * dy] += a * x[i * dx]; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasScopy(cublasHandle_t h, int n, const float *x, int dx, float *y, int dy)
{
    late::library(h->stream, [=] { for (int i = 0; i < n; ++i) y[i * dy] = x[i * dx]; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSgemv(cublasHandle_t h, cublasOperation_t, int m, int n, const float *alpha, const float *A, int lda,
                                  const float *x, int dx, const float *beta, float *y, int dy)
{
    float b = h->mode == CUBLAS_POINTER_MODE_HOST ? *beta : 0;
    bool host = h->mode == CUBLAS_POINTER_MODE_HOST;
    late::scaled(h, alpha, [=](float a) {
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int j = 0; j < n; ++j) sum += A[i + j * lda] * x[j * dx];
            y[i * dy] = a * sum + (host ? b : *beta) * y[i * dy];
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSgemm(cublasHandle_t h, cublasOperation_t, cublasOperation_t, int m, int n, int k, const float *alpha,
                                  const float *A, int lda, const float *B, int ldb, const float *beta, float *C, int ldc)
{
    float b = h->mode == CUBLAS_POINTER_MODE_HOST ? *beta : 0;
    bool host = h->mode == CUBLAS_POINTER_MODE_HOST;
    late::scaled(h, alpha, [=](float a) {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                float sum = 0;
                for (int l = 0; l < k; ++l) sum += A[i + l * lda] * B[l + j * ldb];
                C[i + j * ldc] = a * sum + (host ? b : *beta) * C[i + j * ldc];
            }
    });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSdot(cublasHandle_t h, int n, const float *x, int dx, const float *y, int dy, float *result)
{
    late::reduced(h, [=] { float s = 0; for (int i = 0; i < n; ++i) s += x[i * dx] * y[i * dy]; *result = s; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSasum(cublasHandle_t h, int n, const float *x, int dx, float *result)
{
    late::reduced(h, [=] { float s = 0; for (int i = 0; i < n; ++i) s += x[i * dx] < 0 ? -x[i * dx] : x[i * dx]; *result = s; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasIsamax(cublasHandle_t h, int n, const float *x, int dx, int *result)
{
    late::reduced(h, [=] { int at = 0; for (int i = 0; i < n; ++i) if (x[i * dx] > x[at * dx]) at = i; *result = at + 1; });
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetVector(int n, int size, const void *x, int, void *y, int)
{
    cudaMemcpy(y, x, (size_t)n * size, cudaMemcpyHostToDevice);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVector(int n, int size, const void *x, int, void *y, int)
{
    cudaMemcpy(y, x, (size_t)n * size, cudaMemcpyDeviceToHost);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int, void *y, int, cudaStream_t s)
{
    cudaMemcpyAsync(y, x, (size_t)n * size, cudaMemcpyHostToDevice, s);
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int, void *y, int, cudaStream_t s)
{
    cudaMemcpyAsync(y, x, (size_t)n * size, cudaMemcpyDeviceToHost, s);
    return CUBLAS_STATUS_SUCCESS;
}
#endif
