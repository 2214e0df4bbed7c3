// Makes orders that a program only seems to have fail: LD_PRELOAD this library, and
//
//   - operations on chosen streams start late, so that whatever does not really wait for them runs first;
//   - a block is overwritten at the point of its stream where it is freed, as its next owner could do at once;
//   - a block is overwritten where it is allocated, so that an access that comes too early, and a read of memory that
//     was never written, cannot find what it hopes for.
//
// A program that is ordered by CUDA's rules does the same as without it, only slower. CUDAFIX_DELAY=BIT=VALUE chooses
// the streams: those whose number (0 for the legacy stream, then by first use) has VALUE as its bit BIT. For any two of
// four streams, one of 0=0, 0=1, 1=0, 1=1 delays the first and not the second.
//
// CUDAFIX_REACHED=FILE makes that file once an operation was seen: a program may find the driver in a way that nobody can
// get in between, and what then does not fail says nothing.
//
// With CUDAFIX_PEAK=FILE it changes nothing, and counts: FILE.PID holds the most bytes of device memory that the process
// had at one time. That is what blocking calls allocated, as asked for, and what the pools that stream-ordered calls
// allocated from held, free blocks too. Pools only grow where something is allocated from them, so that is where they are
// asked; the question waits for nothing (CUDA driver API, cuMemPoolGetAttribute).
//
// With CUDAFIX_EARLY=1 it does something else: blocking streams are created before the first operation and handed out
// where the program creates its own. By CUDA's rules that orders nothing anew (a blocking stream waits for the legacy
// stream whenever it was created), but the race detector only knows it of streams that were there early.
//
// How it gets in between: nvcc links the runtime (cudart) statically, so the runtime's functions cannot be interposed.
// But each runtime, static or shared, opens libcuda.so.1 and asks dlsym for cuGetProcAddress, and that for all the rest;
// dlsym is interposed here. Python's packages do the same: CuPy and cuda-python contain a runtime and look the driver up
// with dlsym, Numba through ctypes. A program that links libcuda itself calls it directly and is left alone.

#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

using Lookup = void *(*)(void *, const char *);

Lookup real_dlsym() {
    static Lookup found = [] {
        for (const char *version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
            if (void *address = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Lookup>(address);
        std::fputs("cudafix: dlsym not found\n", stderr);
        std::abort();
    }();
    return found;
}

// A function of the driver, as it is.
template <class Function>
Function driver(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library ? reinterpret_cast<Function>(real_dlsym()(library, name)) : nullptr;
}
#define TEXT_OF(name) #name
#define DRIVER(name) ([] { static auto found = driver<decltype(&name)>(TEXT_OF(name)); return found; }())

long number_in(const char *variable, long otherwise) {
    const char *text = std::getenv(variable);
    return text ? std::atol(text) : otherwise;
}

struct Settings {
    int bit = -1, value = 0;
    long milliseconds = number_in("CUDAFIX_DELAY_MS", 20);
    long delays = number_in("CUDAFIX_DELAYS", 50);  // of one stream, so that a long program ends
    bool early = number_in("CUDAFIX_EARLY", 0) != 0;
    bool adverse = false;
    bool counts = std::getenv("CUDAFIX_PEAK") != nullptr;
    Settings() {
        const char *text = std::getenv("CUDAFIX_DELAY");
        adverse = text && std::sscanf(text, "%d=%d", &bit, &value) == 2;
    }
};

const Settings &settings() {
    static const Settings read;
    return read;
}

struct Stream {
    int number;
    long delays;
};

std::mutex lock;
std::map<CUstream, Stream> streams;
std::map<CUdeviceptr, size_t> blocks;
std::map<CUdeviceptr, size_t> blocking;  // those of the blocking calls
std::set<CUmemoryPool> pools;
size_t blocking_bytes = 0, peak = 0;
std::vector<CUstream> early;
CUcontext early_context = nullptr;

CUstream named(CUstream stream, bool per_thread) {
    return stream ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

bool captures(CUstream stream) {
    CUstreamCaptureStatus status;
    auto ask = DRIVER(cuStreamIsCapturing);
    return !ask || ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void CUDA_CB sleep_a_while(void *) { usleep(static_cast<useconds_t>(settings().milliseconds * 1000)); }

void reached() {
    static bool told = [] {
        const char *path = std::getenv("CUDAFIX_REACHED");
        int file = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;
        return file >= 0 && !close(file);
    }();
    static_cast<void>(told);
}

void make_early_streams() {
    CUcontext context = nullptr;
    if (!settings().early || !DRIVER(cuCtxGetCurrent) || DRIVER(cuCtxGetCurrent)(&context) != CUDA_SUCCESS) return;
    std::lock_guard<std::mutex> hold(lock);
    if (!context || early_context) return;
    early_context = context;
    for (int n = 0; n < 64; ++n) {
        CUstream stream;
        if (DRIVER(cuStreamCreate)(&stream, CU_STREAM_DEFAULT) == CUDA_SUCCESS) early.push_back(stream);
    }
}

// Called before each operation on a stream.
void delay(CUstream stream) {
    make_early_streams();
    if (!settings().adverse) return;
    reached();
    {
        std::lock_guard<std::mutex> hold(lock);
        int next = static_cast<int>(streams.size()) + (streams.count(CU_STREAM_LEGACY) ? 0 : 1);
        auto &known = streams.try_emplace(stream, Stream{stream == CU_STREAM_LEGACY ? 0 : next, 0}).first->second;
        if (((known.number >> settings().bit) & 1) != settings().value || known.delays >= settings().delays) return;
        ++known.delays;
    }
    // a host function keeps its place in the stream and needs no room on the device
    if (!captures(stream)) DRIVER(cuLaunchHostFunc)(stream, sleep_a_while, nullptr);
}

void overwrite(CUdeviceptr block, size_t size, CUstream stream, unsigned char byte) {
    if (size && !captures(stream)) DRIVER(cuMemsetD8Async)(block, byte, size, stream);
}

// On a stream of its own, which orders nothing else.
void overwrite_now(CUdeviceptr block, size_t size, unsigned char byte) {
    CUstream own;
    if (!size || DRIVER(cuStreamCreate)(&own, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
    overwrite(block, size, own, byte);
    DRIVER(cuStreamSynchronize)(own);
    DRIVER(cuStreamDestroy)(own);
}

void allocated(CUdeviceptr block, size_t size) {
    std::lock_guard<std::mutex> hold(lock);
    blocks[block] = size;
}

size_t released(CUdeviceptr block) {
    std::lock_guard<std::mutex> hold(lock);
    auto found = blocks.find(block);
    if (found == blocks.end()) return 0;
    size_t size = found->second;
    blocks.erase(found);
    return size;
}

// Called with `lock` held, where the process has got memory. The file is written at once: a process may end in any way.
void look_at_peak() {
    size_t now = blocking_bytes;
    for (CUmemoryPool pool : pools) {
        cuuint64_t reserved = 0;
        if (DRIVER(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) == CUDA_SUCCESS)
            now += reserved;
    }
    if (now <= peak) return;
    peak = now;
    std::string path = std::getenv("CUDAFIX_PEAK") + ("." + std::to_string(getpid()));
    int file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    if (file < 0) return;
    char text[32];
    int length = std::snprintf(text, sizeof text, "%20zu\n", peak);
    if (pwrite(file, text, static_cast<size_t>(length), 0) != length) std::fputs("cudafix: CUDAFIX_PEAK\n", stderr);
    close(file);
}

void got_blocking(CUdeviceptr block, size_t size) {
    std::lock_guard<std::mutex> hold(lock);
    blocking[block] = size;
    blocking_bytes += size;
    look_at_peak();
}

void gave_blocking(CUdeviceptr block) {
    std::lock_guard<std::mutex> hold(lock);
    auto found = blocking.find(block);
    if (found == blocking.end()) return;
    blocking_bytes -= found->second;
    blocking.erase(found);
}

// `pool`: null for the one that the current device has now.
void got_from(CUmemoryPool pool) {
    CUdevice device;
    auto ask = DRIVER(cuDeviceGetMemPool);
    if (!pool && (!ask || DRIVER(cuCtxGetDevice)(&device) != CUDA_SUCCESS || ask(&pool, device) != CUDA_SUCCESS)) return;
    std::lock_guard<std::mutex> hold(lock);
    pools.insert(pool);
    look_at_peak();
}

// ---------------------------------------------------------------------------------------------------------------------
// operations that only start late

void look(CUstream &found, CUstream stream) { found = stream; }
void look(CUstream &found, const CUlaunchConfig *config) { found = config->hStream; }
template <class Other>
void look(CUstream &, Other) {}

template <class Name, bool PerThread, class Function>
struct Late;
template <class Name, bool PerThread, class... Arguments>
struct Late<Name, PerThread, CUresult (*)(Arguments...)> {
    static inline CUresult (*real)(Arguments...) = nullptr;
    static CUresult call(Arguments... arguments) {
        CUstream stream = nullptr;
        (look(stream, arguments), ...);
        delay(named(stream, PerThread));
        return real(arguments...);
    }
};

#define LATE(X)                                                                                                        \
    X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuGraphLaunch) X(cuMemcpyAsync)               \
    X(cuMemcpyPeerAsync) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemcpy2DAsync)             \
    X(cuMemcpy3DAsync) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) X(cuMemsetD2D8Async)                 \
    X(cuMemsetD2D16Async) X(cuMemsetD2D32Async)

// ---------------------------------------------------------------------------------------------------------------------
// allocations, streams, reset

template <bool PerThread>
struct Allocate {
    static inline decltype(&cuMemAllocAsync) real = nullptr;
    static CUresult call(CUdeviceptr *block, size_t size, CUstream stream) {
        stream = named(stream, PerThread);
        delay(stream);
        CUresult result = real(block, size, stream);
        if (result == CUDA_SUCCESS && settings().counts && !captures(stream)) got_from(nullptr);
        if (result == CUDA_SUCCESS && settings().adverse) allocated(*block, size), overwrite(*block, size, stream, 0xA5);
        return result;
    }
};

template <bool PerThread>
struct AllocateFromPool {
    static inline decltype(&cuMemAllocFromPoolAsync) real = nullptr;
    static CUresult call(CUdeviceptr *block, size_t size, CUmemoryPool pool, CUstream stream) {
        stream = named(stream, PerThread);
        delay(stream);
        CUresult result = real(block, size, pool, stream);
        if (result == CUDA_SUCCESS && settings().counts && !captures(stream)) got_from(pool);
        if (result == CUDA_SUCCESS && settings().adverse) allocated(*block, size), overwrite(*block, size, stream, 0xA5);
        return result;
    }
};

template <bool PerThread>
struct Free {
    static inline decltype(&cuMemFreeAsync) real = nullptr;
    static CUresult call(CUdeviceptr block, CUstream stream) {
        stream = named(stream, PerThread);
        // on an idle stream a free takes effect at once, and a query finds the stream idle (docs/FACTS.md)
        if (settings().adverse && !captures(stream) && DRIVER(cuStreamQuery)(stream) == CUDA_SUCCESS) {
            overwrite_now(block, released(block), 0xDB);
            return real(block, stream);
        }
        delay(stream);
        if (settings().adverse) overwrite(block, released(block), stream, 0xDB);
        return real(block, stream);
    }
};

// The blocking pair, so that `before` finds the same bytes in fresh memory.
struct AllocateBlocking {
    static inline decltype(&cuMemAlloc) real = nullptr;
    static CUresult call(CUdeviceptr *block, size_t size) {
        make_early_streams();
        CUresult result = real(block, size);
        if (result == CUDA_SUCCESS && settings().counts) got_blocking(*block, size);
        if (result == CUDA_SUCCESS && settings().adverse) allocated(*block, size), overwrite_now(*block, size, 0xA5);
        return result;
    }
};

struct FreeBlocking {
    static inline decltype(&cuMemFree) real = nullptr;
    static CUresult call(CUdeviceptr block) {
        released(block);
        if (settings().counts) gave_blocking(block);
        return real(block);
    }
};

struct DestroyPool {
    static inline decltype(&cuMemPoolDestroy) real = nullptr;
    static CUresult call(CUmemoryPool pool) {
        {
            std::lock_guard<std::mutex> hold(lock);
            pools.erase(pool);
        }
        return real(pool);
    }
};

bool take_early(CUstream *stream, unsigned flags) {
    CUcontext context = nullptr;
    make_early_streams();
    if (!settings().early || flags != CU_STREAM_DEFAULT) return false;
    if (DRIVER(cuCtxGetCurrent)(&context) != CUDA_SUCCESS) return false;
    std::lock_guard<std::mutex> hold(lock);
    if (context != early_context || early.empty()) return false;
    *stream = early.back();
    early.pop_back();
    return true;
}

struct Create {
    static inline decltype(&cuStreamCreate) real = nullptr;
    static CUresult call(CUstream *stream, unsigned flags) {
        return take_early(stream, flags) ? CUDA_SUCCESS : real(stream, flags);
    }
};

struct CreateWithPriority {
    static inline decltype(&cuStreamCreateWithPriority) real = nullptr;
    static CUresult call(CUstream *stream, unsigned flags, int priority) {
        return !priority && take_early(stream, flags) ? CUDA_SUCCESS : real(stream, flags, priority);
    }
};

struct Reset {
    static inline decltype(&cuDevicePrimaryCtxReset) real = nullptr;
    static CUresult call(CUdevice device) {
        {
            std::lock_guard<std::mutex> hold(lock);
            early.clear();
            early_context = nullptr;
            blocks.clear();
            blocking.clear();
            blocking_bytes = 0;
            pools.clear();
        }
        return real(device);
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// getting in between

template <class Hook>
void *install(void *real) {
    Hook::real = reinterpret_cast<decltype(Hook::real)>(real);
    return reinterpret_cast<void *>(&Hook::call);
}

// What to call instead of the driver's function `name` (without a version), which is at `real`.
void *instead_of(const std::string &name, bool per_thread, void *real) {
#define LATE_HOOK(function)                                                                                            \
    if (name == #function) {                                                                                           \
        struct Name;                                                                                                   \
        using Type = decltype(&function);                                                                              \
        return per_thread ? install<Late<Name, true, Type>>(real) : install<Late<Name, false, Type>>(real);            \
    }
    LATE(LATE_HOOK)
    if (name == "cuMemAllocAsync") return per_thread ? install<Allocate<true>>(real) : install<Allocate<false>>(real);
    if (name == "cuMemAllocFromPoolAsync")
        return per_thread ? install<AllocateFromPool<true>>(real) : install<AllocateFromPool<false>>(real);
    if (name == "cuMemFreeAsync") return per_thread ? install<Free<true>>(real) : install<Free<false>>(real);
    if (name == "cuMemAlloc") return install<AllocateBlocking>(real);
    if (name == "cuMemFree") return install<FreeBlocking>(real);
    if (name == "cuMemPoolDestroy") return install<DestroyPool>(real);
    if (name == "cuStreamCreate") return install<Create>(real);
    if (name == "cuStreamCreateWithPriority") return install<CreateWithPriority>(real);
    if (name == "cuDevicePrimaryCtxReset") return install<Reset>(real);
    return real;
}

// cuGetProcAddress has had two types: the second, from CUDA 12.0 on, also reports a status.
struct Ask {
    using Type = CUresult (*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    static inline Type real = nullptr;
    static CUresult call(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
};
struct AskOld {
    using Type = CUresult (*)(const char *, void **, int, cuuint64_t);
    static inline Type real = nullptr;
    static CUresult call(const char *, void **, int, cuuint64_t);
};

void *replaced(const char *name, int version, cuuint64_t flags, void *address) {
    if (!address) return nullptr;
    if (!std::strcmp(name, "cuGetProcAddress"))
        return version >= 12000 ? install<Ask>(address) : install<AskOld>(address);
    return instead_of(name, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, address);
}

CUresult Ask::call(const char *name, void **address, int version, cuuint64_t flags,
                   CUdriverProcAddressQueryResult *status) {
    CUresult result = real(name, address, version, flags, status);
    if (result == CUDA_SUCCESS && address) *address = replaced(name, version, flags, *address);
    return result;
}

CUresult AskOld::call(const char *name, void **address, int version, cuuint64_t flags) {
    CUresult result = real(name, address, version, flags);
    if (result == CUDA_SUCCESS && address) *address = replaced(name, version, flags, *address);
    return result;
}

bool cut(std::string &name, const char *ending) {
    size_t length = std::strlen(ending);
    if (name.size() < length || name.compare(name.size() - length, length, ending)) return false;
    name.resize(name.size() - length);
    return true;
}

// Not inlined: `dlsym` below has to stay without a frame of its own.
__attribute__((noinline)) void *driver_symbol(void *handle, const char *name) {
    void *address = real_dlsym()(handle, name);
    if (!address) return nullptr;
    if (!std::strcmp(name, "cuGetProcAddress_v2")) return install<Ask>(address);
    if (!std::strcmp(name, "cuGetProcAddress")) return install<AskOld>(address);
    std::string base = name;
    bool per_thread = cut(base, "_ptsz");
    cut(base, "_v2");
    return instead_of(base, per_thread, address);
}

}  // namespace

// What RTLD_NEXT finds depends on who calls: the jump that the compiler makes of the call in tail position lets the real
// function see our caller instead of us.
extern "C" __attribute__((visibility("default"))) void *dlsym(void *handle, const char *name) noexcept {
    bool ours = handle != RTLD_NEXT && name[0] == 'c' && name[1] == 'u';
    return (ours ? driver_symbol : real_dlsym())(handle, name);
}
