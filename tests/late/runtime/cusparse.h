// cuSPARSE: descriptors keep the pointers that they were made of.
#ifndef LATE_CUSPARSE_H
#define LATE_CUSPARSE_H
#include "late_libraries.h"
enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS = 0 };
enum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE };
enum cusparseIndexType_t { CUSPARSE_INDEX_32I = 2 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO };
enum cusparseSpMVAlg_t { CUSPARSE_SPMV_ALG_DEFAULT };
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE };
struct cusparseContext {
    cudaStream_t stream = 0;
    cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
};
struct cusparseDnVecDescr {
    int64_t n;
    float *values;
};
struct cusparseSpMatDescr {
    int64_t rows;
    int *offsets, *columns;
    float *values;
};
typedef cusparseContext *cusparseHandle_t;
typedef cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef cusparseSpMatDescr *cusparseSpMatDescr_t;
inline cusparseStatus_t cusparseCreate(cusparseHandle_t *h) { *h = new cusparseContext; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseDestroy(cusparseHandle_t) { return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseSetStream(cusparseHandle_t h, cudaStream_t s) { h->stream = s; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t h, cusparsePointerMode_t m) { h->mode = m; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *v, int64_t n, void *values, cudaDataType) { *v = new cusparseDnVecDescr{n, (float *)values}; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void *values) { v->values = (float *)values; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t v, void **values) { *values = v->values; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseDestroyDnVec(cusparseDnVecDescr_t) { return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *m, int64_t rows, int64_t, int64_t, void *offsets, void *columns, void *values,
                                          cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
{
    *m = new cusparseSpMatDescr{rows, (int *)offsets, (int *)columns, (float *)values};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t) { return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void *, cusparseSpMatDescr_t, cusparseDnVecDescr_t, const void *,
                                                cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, size_t *size) { *size = 256; return CUSPARSE_STATUS_SUCCESS; }
inline cusparseStatus_t cusparseSpMV(cusparseHandle_t h, cusparseOperation_t, const void *alpha, cusparseSpMatDescr_t m, cusparseDnVecDescr_t x, const void *beta,
                                     cusparseDnVecDescr_t y, cudaDataType, cusparseSpMVAlg_t, void *buffer)
{
    auto mm = *m; auto xx = *x; auto yy = *y;
    bool host = h->mode == CUSPARSE_POINTER_MODE_HOST;
    float a = host ? *(const float *)alpha : 0, b = host ? *(const float *)beta : 0;
    late::library(h->stream, [=] {
        float fa = host ? a : *(const float *)alpha, fb = host ? b : *(const float *)beta;
        if (buffer) *(int *)buffer = 1;
        for (int64_t i = 0; i < mm.rows; ++i) {
            float s = 0;
            for (int j = mm.offsets[i]; j < mm.offsets[i + 1]; ++j) s += mm.values[j] * xx.values[mm.columns[j]];
            yy.values[i] = fa * s + fb * yy.values[i];
        }
    });
    return CUSPARSE_STATUS_SUCCESS;
}
#endif
