// Stands in for libcuda.so.1: writes every call down, and does what a caller can see.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace {

const char *text(CUstream stream) {
    static char buffer[32];
    if (stream == CU_STREAM_LEGACY) return "legacy";
    if (stream == CU_STREAM_PER_THREAD) return "per-thread";
    std::snprintf(buffer, sizeof buffer, "%zu", reinterpret_cast<size_t>(stream));
    return buffer;
}

CUstream capturing = nullptr;
size_t reserved = 0;  // by the pool, which keeps what was freed
std::set<CUstream> busy;

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream stream, void **, void **) {
    return std::printf("launch on %s\n", text(stream)), CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction, void **, void **) {
    return std::printf("launch on %s\n", text(config->hStream)), CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn, void *) {
    return std::printf("delay %s\n", text(stream)), CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr, unsigned char byte, size_t size, CUstream stream) {
    busy.insert(stream);
    return std::printf("write %02X to %zu bytes on %s\n", byte, size, text(stream)), CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *block, size_t size, CUstream stream) {
    std::printf("allocate %zu bytes on %s\n", size, text(stream));
    reserved += size;
    *block = reinterpret_cast<CUdeviceptr>(std::malloc(size));
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr, CUstream stream) {
    return std::printf("free on %s\n", text(stream)), CUDA_SUCCESS;
}

#undef cuMemAlloc
CUresult cuMemAlloc_v2(CUdeviceptr *block, size_t size) {
    std::printf("allocate %zu bytes\n", size);
    *block = reinterpret_cast<CUdeviceptr>(std::malloc(size));
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    static size_t next = 100;
    *stream = reinterpret_cast<CUstream>(next++);
    return std::printf("create %s with %u\n", text(*stream), flags), CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    busy.erase(stream);
    return std::printf("wait for %s\n", text(stream)), CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) { return busy.count(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; }
CUresult cuStreamDestroy_v2(CUstream stream) { return std::printf("destroy %s\n", text(stream)), CUDA_SUCCESS; }

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    *status = stream == capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) { return capturing = stream, CUDA_SUCCESS; }

CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice) {
    return *pool = reinterpret_cast<CUmemoryPool>(1), CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute attribute, void *value) {
    if (attribute != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) return CUDA_ERROR_INVALID_VALUE;
    return *static_cast<cuuint64_t *>(value) = reserved, CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = reinterpret_cast<CUcontext>(1);
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **address, int, cuuint64_t, CUdriverProcAddressQueryResult *) {
    static const struct {
        const char *name;
        void *address;
    } known[] = {
#define KNOWN(function, at) {#function, reinterpret_cast<void *>(at)}
        KNOWN(cuGetProcAddress, cuGetProcAddress_v2), KNOWN(cuLaunchKernel, cuLaunchKernel),
        KNOWN(cuLaunchKernelEx, cuLaunchKernelEx),    KNOWN(cuMemAllocAsync, cuMemAllocAsync),
        KNOWN(cuMemFreeAsync, cuMemFreeAsync),        KNOWN(cuMemAlloc, cuMemAlloc_v2),
        KNOWN(cuStreamCreate, cuStreamCreate),        KNOWN(cuStreamBeginCapture, cuStreamBeginCapture_v2),
    };
    for (auto &entry : known)
        if (!std::strcmp(entry.name, name)) return *address = entry.address, CUDA_SUCCESS;
    return CUDA_ERROR_NOT_FOUND;
}
}
