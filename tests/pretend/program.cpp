// Finds the driver as the CUDA runtime does, statically linked or not, and uses three streams.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

static decltype(&cuGetProcAddress_v2) ask;

template <class Function>
static Function find(const char *name, cuuint64_t flags = 0) {
    void *address = nullptr;
    ask(name, &address, 13000, flags, nullptr);
    return reinterpret_cast<Function>(address);
}

int main(int, char **arguments) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    ask = reinterpret_cast<decltype(ask)>(dlsym(library, "cuGetProcAddress_v2"));
    ask = find<decltype(ask)>("cuGetProcAddress");
    auto launch = find<decltype(&cuLaunchKernel)>("cuLaunchKernel");
    auto launch_with = find<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx");
    auto launch_per_thread =
        find<decltype(&cuLaunchKernel)>("cuLaunchKernel", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    auto allocate = find<decltype(&cuMemAllocAsync)>("cuMemAllocAsync");
    auto release = find<decltype(&cuMemFreeAsync)>("cuMemFreeAsync");
    auto create = find<decltype(&cuStreamCreate)>("cuStreamCreate");
    auto capture = find<decltype(&cuStreamBeginCapture)>("cuStreamBeginCapture");

    CUdeviceptr block, other;
    CUstream late;
    CUlaunchConfig config{};
    config.hStream = reinterpret_cast<CUstream>(12);
    if (!std::strcmp(arguments[1], "streams")) {
        CUstream one = reinterpret_cast<CUstream>(11);
        allocate(&block, 64, one);                                          // stream number 1
        launch_with(&config, nullptr, nullptr, nullptr);                    // number 2
        launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);    // number 0
        launch_per_thread(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);  // number 3
        release(block, one);
        allocate(&other, 16, one);
        release(other, reinterpret_cast<CUstream>(14));  // which is idle
        capture(one, CU_STREAM_CAPTURE_MODE_GLOBAL);
        allocate(&other, 64, one);
        release(other, one);
    } else {
        find<decltype(&cuMemAlloc)>("cuMemAlloc")(&block, 32);
        create(&late, CU_STREAM_DEFAULT);
        std::printf("got %zu\n", reinterpret_cast<size_t>(late));
        create(&late, CU_STREAM_NON_BLOCKING);
        std::printf("got %zu\n", reinterpret_cast<size_t>(late));
    }
}
