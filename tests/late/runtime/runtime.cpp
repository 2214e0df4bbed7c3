// The runtime behind cuda_runtime.h: queued work runs only when an order lets it, or when somebody waits for it.
//
// What waits, and for whom, is docs/FACTS.md. Each operation knows those that CUDA orders before it: the one before it
// on its stream, what an event carries over, and, between the legacy stream and blocking ones, either way. LATE_ORDER
// says which of the legal orders this run takes:
//
//   late      an operation runs only when something waits for it, or for one behind it; else never
//   early     an operation runs as soon as it is queued
//   frees     stream-ordered frees run as soon as they are queued, with what they need; all else late
//   starve:N  the work of the N-th stream is late (0 is the legacy one), all else early
//   only:N    the work of the N-th stream is early with what it needs, all else late
//   random:N  a random order, N is the seed
//
// Memory that is not allocated yet, or freed already, cannot be accessed: a program that does ends with code 77. Use of
// a destroyed stream ends it with code 78. LATE_REPORT names a file for the number of blocks that were not freed.
// A clock of the host shows one millisecond for each operation that has run.
#include "cuda_runtime.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

namespace
{
struct Operation;
using Queued = std::shared_ptr<Operation>;
} // namespace

struct CUstream_st {
    int number;
    bool blocking, destroyed = false;
    Queued last;
    int queries = 0;
};

struct CUevent_st {
    Queued recorded;
    bool destroyed = false;
    long long time = 0;
    int queries = 0;
};

namespace
{
struct Operation {
    std::function<void()> work;
    std::vector<Queued> after;
    CUstream_st *stream;
    bool done = false, frees = false;
    bool memory = false; // allocates or frees, or only marks a point: takes no time
};

enum class Kind { device, pool, pinned, registered, managed };

struct Block {
    size_t bytes;
    Kind kind;
    bool live = true; // no call has freed it
    Queued allocation; // of a block of the pool
    bool released = false; // its release has taken effect
};

struct DeviceFault {
};

struct Order {
    enum { late, early, frees, starve, only, random } kind = late;
    int number = 0;
    unsigned long long dice = 1;

    Order()
    {
        const char *text = getenv("LATE_ORDER");
        std::string said = text ? text : "late";
        auto colon = said.find(':');
        if (colon != std::string::npos)
            number = std::stoi(said.substr(colon + 1));
        said = said.substr(0, colon);
        kind = said == "early"    ? early
               : said == "frees"  ? frees
               : said == "starve" ? starve
               : said == "only"   ? only
               : said == "random" ? random
                                  : late;
        dice = number + 1;
    }

    /// A random number below `sides` (a linear congruential generator: the same on every machine).
    unsigned roll(unsigned sides)
    {
        dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
        return (unsigned)(dice >> 33) % sides;
    }
};

struct Device {
    std::recursive_mutex lock;
    Order order;
    std::vector<Queued> pending; // in the order of the calls
    std::vector<CUstream_st *> streams;
    std::map<char *, Block> blocks;
    cudaError_t sticky = cudaSuccess;
    std::atomic<long long> ran{0}, calls{0};

    Device()
    {
        streams.push_back(new CUstream_st{0, true, false, nullptr, 0});
        struct sigaction action = {};
        action.sa_handler = [](int) { _exit(77); };
        sigaction(SIGSEGV, &action, nullptr);
        sigaction(SIGBUS, &action, nullptr);
        atexit([] { the().finish(); });
        pthread_t watch;
        auto body = [](void *device) -> void * { ((Device *)device)->nudge(); };
        pthread_create(&watch, nullptr, body, this);
        pthread_detach(watch);
    }

    /// Never destroyed: static objects of the program may call until the very end.
    static Device &the()
    {
        static Device *device = new Device;
        return *device;
    }

    CUstream_st *legacy() { return streams[0]; }

    CUstream_st *resolve(cudaStream_t stream)
    {
        static thread_local CUstream_st *own = nullptr;
        if (stream == nullptr || stream == cudaStreamLegacy)
            return legacy();
        if (stream == cudaStreamPerThread)
            return own ? own : own = create(true);
        for (auto *known : streams)
            if (known == stream && !known->destroyed)
                return known;
        fflush(stdout);
        _exit(78);
    }

    CUstream_st *create(bool blocking)
    {
        streams.push_back(new CUstream_st{(int)streams.size(), blocking, false, nullptr, 0});
        return streams.back();
    }

    /// What CUDA orders before the next operation on `stream`.
    std::vector<Queued> before(CUstream_st *stream)
    {
        std::vector<Queued> found;
        auto add = [&](CUstream_st *other) {
            if (other->last && !other->last->done)
                found.push_back(other->last);
        };
        add(stream);
        if (stream == legacy()) {
            for (auto *other : streams)
                if (other->blocking && other != stream)
                    add(other);
        } else if (stream->blocking) {
            add(legacy());
        }
        return found;
    }

    /// `work` of `stream`; without any, or with `memory`, it takes no time.
    Queued enqueue(CUstream_st *stream, std::function<void()> work, bool memory = false, Queued also = nullptr)
    {
        auto queued = std::make_shared<Operation>();
        queued->work = std::move(work);
        queued->after = before(stream);
        if (also && !also->done)
            queued->after.push_back(also);
        queued->stream = stream;
        queued->memory = memory || !queued->work;
        stream->last = queued;
        pending.push_back(queued);
        return queued;
    }

    /// Runs an operation, and first what is ordered before it.
    void run(const Queued &queued)
    {
        if (!queued || queued->done)
            return;
        auto after = std::move(queued->after);
        queued->after.clear();
        for (auto &earlier : after)
            run(earlier);
        queued->done = true;
        if (sticky == cudaSuccess) {
            try {
                if (queued->work)
                    queued->work();
            } catch (DeviceFault) {
                sticky = cudaErrorLaunchFailure;
            }
        }
        queued->work = nullptr;
        ++ran;
        for (size_t i = 0; i < pending.size(); ++i)
            if (pending[i] == queued) {
                pending.erase(pending.begin() + i);
                break;
            }
    }

    bool starved(const Queued &queued)
    {
        if (queued->stream->number == order.number)
            return true;
        for (auto &earlier : queued->after)
            if (!earlier->done && starved(earlier))
                return true;
        return false;
    }

    /// Runs what the order wants to run now.
    void progress()
    {
        auto waiting = pending;
        for (auto &queued : waiting) {
            bool now = order.kind == Order::early || (order.kind == Order::frees && queued->frees) ||
                       (order.kind == Order::only && queued->stream->number == order.number) ||
                       (order.kind == Order::starve && !starved(queued)) ||
                       (order.kind == Order::random && order.roll(8) == 0);
            if (now)
                run(queued);
        }
    }

    /// Runs everything, in an order that CUDA allows.
    void drain()
    {
        auto waiting = pending;
        if (order.kind == Order::random)
            for (size_t i = waiting.size(); i > 1; --i)
                std::swap(waiting[i - 1], waiting[order.roll(i)]);
        if (order.kind == Order::late)
            std::reverse(waiting.begin(), waiting.end());
        if (order.kind == Order::starve)
            for (auto &queued : waiting)
                if (!queued->done && !starved(queued))
                    run(queued);
        for (auto &queued : waiting)
            run(queued);
    }

    /// The legacy stream stands for all blocking ones (docs/FACTS.md).
    void wait(CUstream_st *stream)
    {
        if (stream == legacy())
            for (auto &earlier : before(stream))
                run(earlier);
        run(stream->last);
    }

    /// Whether nothing that takes time is left to do for an operation: no query finds a stream busy with memory.
    bool idle(const Queued &queued)
    {
        if (!queued || queued->done)
            return true;
        auto over = [this](auto &earlier) { return idle(earlier); };
        return queued->memory && std::all_of(queued->after.begin(), queued->after.end(), over);
    }

    bool idle(CUstream_st *stream)
    {
        auto left = stream == legacy() ? before(stream) : std::vector<Queued>{stream->last};
        return std::all_of(left.begin(), left.end(), [this](auto &queued) { return idle(queued); });
    }

    /// A host that calls nothing for a while waits for the device in a way of its own: something has to run.
    [[noreturn]] void nudge()
    {
        for (long long seen = -1;;) {
            struct timespec pause = {0, 150000000};
            nanosleep(&pause, nullptr);
            std::unique_lock<std::recursive_mutex> held(lock, std::try_to_lock);
            if (held && calls == seen && !pending.empty())
                run(pending.front());
            seen = calls;
        }
    }

    char *map(size_t bytes, Kind kind)
    {
        size_t whole = (bytes + 4095) / 4096 * 4096;
        int access = kind == Kind::pool ? PROT_NONE : PROT_READ | PROT_WRITE;
        char *at = (char *)mmap(nullptr, whole + 4096, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(at + whole, 4096, PROT_NONE);
        if (kind != Kind::pool)
            memset(at, 0xA5, bytes);
        blocks[at] = Block{bytes, kind, true, nullptr, false};
        return at;
    }

    void open(char *at)
    {
        Block &block = blocks[at];
        if (block.released) // by a free that nothing orders behind the allocation
            return;
        mprotect(at, block.bytes, PROT_READ | PROT_WRITE);
        memset(at, 0xA5, block.bytes);
    }

    void close(char *at)
    {
        Block &block = blocks[at];
        block.released = true;
        mprotect(at, block.bytes, PROT_NONE);
    }

    /// The block that holds an address, or null.
    Block *holding(const void *address)
    {
        auto next = blocks.upper_bound((char *)address);
        if (next == blocks.begin())
            return nullptr;
        --next;
        return (char *)address < next->first + next->second.bytes && next->second.live ? &next->second : nullptr;
    }

    Block *starting(void *address)
    {
        auto found = blocks.find((char *)address);
        return found != blocks.end() && found->second.live ? &found->second : nullptr;
    }

    /// The end of the process: what nobody has waited for is lost, or runs now.
    void finish()
    {
        if (order.kind != Order::late && order.kind != Order::only)
            drain();
        const char *name = getenv("LATE_REPORT");
        FILE *file = name ? fopen(name, "w") : nullptr;
        if (!file)
            return;
        int left = 0;
        for (auto &[at, block] : blocks)
            left += block.live && (block.kind == Kind::device || block.kind == Kind::pool);
        fprintf(file, "%d\n", left);
        fclose(file);
    }
};

thread_local cudaError_t last_error = cudaSuccess;

/// A call of the host: others wait, and what the order wants runs before it and behind it.
struct Call {
    Device &device = Device::the();
    std::lock_guard<std::recursive_mutex> held{device.lock};

    Call()
    {
        ++device.calls;
        device.progress();
    }
    ~Call() { device.progress(); }

    cudaError_t result(cudaError_t error = cudaSuccess)
    {
        if (device.sticky != cudaSuccess)
            error = device.sticky;
        if (error != cudaSuccess && error != cudaErrorNotReady)
            last_error = error;
        return error;
    }
};

bool is_device(Block *block) { return block && (block->kind == Kind::device || block->kind == Kind::pool); }

/// `kind` of a copy, by the memory itself where it says "default".
cudaMemcpyKind direction(Device &device, void *to, const void *from, cudaMemcpyKind kind)
{
    if (kind != cudaMemcpyDefault)
        return kind;
    bool onto = is_device(device.holding(to)), off = is_device(device.holding(from));
    return onto && off ? cudaMemcpyDeviceToDevice
           : onto      ? cudaMemcpyHostToDevice
           : off       ? cudaMemcpyDeviceToHost
                       : cudaMemcpyHostToHost;
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool blocking)
{
    Call call;
    auto &device = call.device;
    auto *on = device.resolve(stream);
    kind = direction(device, to, from, kind);
    if (kind == cudaMemcpyHostToDevice && !device.holding(from)) {
        // Pageable memory is staged before the call returns; the blocking copy first waits for its stream.
        if (blocking)
            device.wait(on);
        auto staged = std::make_shared<std::string>((const char *)from, bytes);
        device.enqueue(on, [=] { memcpy(to, staged->data(), bytes); });
        return call.result();
    }
    auto queued = device.enqueue(on, [=] { memmove(to, from, bytes); });
    bool pageable = (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) && !device.holding(to);
    if (blocking ? kind != cudaMemcpyDeviceToDevice : pageable)
        device.run(queued);
    return call.result();
}

cudaError_t set(void *to, int value, size_t bytes, cudaStream_t stream)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), [=] { memset(to, value, bytes); });
    return call.result();
}

cudaError_t allocate(void **block, size_t bytes, Kind kind)
{
    Call call;
    *block = bytes ? call.device.map(bytes, kind) : nullptr;
    return call.result();
}

/// A release that first waits for the whole device.
cudaError_t release(void *block, bool (*fits)(Kind))
{
    Call call;
    if (!block)
        return call.result();
    Block *found = call.device.starting(block);
    if (!found || !fits(found->kind))
        return call.result(cudaErrorInvalidValue);
    if (found->kind == Kind::pool)
        call.device.run(found->allocation);
    else
        call.device.drain();
    found->live = false;
    call.device.close((char *)block);
    return call.result();
}
} // namespace

long long clock64()
{
    static long long ticks = 0;
    return ticks += 1000000000;
}

void __trap() { throw DeviceFault(); }

void late::enqueue(const Config &config, std::function<void()> thread)
{
    Call call;
    call.device.enqueue(call.device.resolve(config.stream), [config, thread] {
        gridDim = config.grid;
        blockDim = config.block;
        for (unsigned block = 0; block < config.grid.x * config.grid.y * config.grid.z; ++block)
            for (unsigned at = 0; at < config.block.x * config.block.y * config.block.z; ++at) {
                auto spread = [](unsigned i, dim3 of) {
                    return uint3{i % of.x, i / of.x % of.y, i / of.x / of.y};
                };
                blockIdx = spread(block, config.grid);
                threadIdx = spread(at, config.block);
                thread();
            }
    });
}

cudaError_t cudaMalloc(void **block, size_t bytes) { return allocate(block, bytes, Kind::device); }
cudaError_t cudaMallocHost(void **block, size_t bytes) { return allocate(block, bytes, Kind::pinned); }
cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned) { return allocate(block, bytes, Kind::pinned); }
cudaError_t cudaMallocManaged(void **block, size_t bytes, unsigned) { return allocate(block, bytes, Kind::managed); }

cudaError_t cudaFree(void *block)
{
    return release(block, [](Kind kind) { return kind != Kind::pinned && kind != Kind::registered; });
}

cudaError_t cudaFreeHost(void *block)
{
    return release(block, [](Kind kind) { return kind == Kind::pinned; });
}

cudaError_t cudaMallocAsync(void **block, size_t bytes, cudaStream_t stream)
{
    Call call;
    auto *on = call.device.resolve(stream);
    if (!bytes) {
        *block = nullptr;
        return call.result();
    }
    char *at = call.device.map(bytes, Kind::pool);
    Device *device = &call.device;
    call.device.blocks[at].allocation = call.device.enqueue(on, [=] { device->open(at); }, true);
    *block = at;
    return call.result();
}

cudaError_t cudaFreeAsync(void *block, cudaStream_t stream)
{
    Call call;
    auto *on = call.device.resolve(stream);
    if (!block)
        return call.result();
    Block *found = call.device.starting(block);
    if (!found || (found->kind != Kind::device && found->kind != Kind::pool))
        return call.result(cudaErrorInvalidValue);
    found->live = false;
    Device *device = &call.device;
    call.device.enqueue(on, [=] { device->close((char *)block); }, true)->frees = true;
    return call.result();
}

cudaError_t cudaHostRegister(void *from, size_t bytes, unsigned)
{
    Call call;
    call.device.blocks[(char *)from] = Block{bytes, Kind::registered, true, nullptr, false};
    return call.result();
}

cudaError_t cudaHostUnregister(void *from)
{
    // It waits for nothing that is documented; the memory stays what it is.
    Call call;
    call.device.blocks.erase((char *)from);
    return call.result();
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *into, const void *block)
{
    Call call;
    Block *found = call.device.holding(block);
    auto type = !found                         ? cudaMemoryTypeUnregistered
                : is_device(found)             ? cudaMemoryTypeDevice
                : found->kind == Kind::managed ? cudaMemoryTypeManaged
                                               : cudaMemoryTypeHost;
    *into = {type, 0, (void *)block, is_device(found) ? nullptr : (void *)block};
    return call.result();
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    *free = *total = (size_t)64 << 30;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, 0, true);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(to, from, bytes, kind, stream, false);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    for (size_t row = 0; row < height; ++row)
        cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    for (size_t row = 0; row < height; ++row)
        cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, stream);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) { return set(to, value, bytes, 0); }
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t on) { return set(to, value, bytes, on); }

cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t stream)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), nullptr);
    return call.result();
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    Call call;
    *stream = call.device.create(!(flags & cudaStreamNonBlocking));
    return call.result();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    Call call;
    call.device.resolve(stream)->destroyed = true;
    return call.result();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    Call call;
    call.device.wait(call.device.resolve(stream));
    return call.result();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    Call call;
    auto *on = call.device.resolve(stream);
    if (call.device.idle(on)) {
        call.device.wait(on);
        return call.result();
    }
    if (++on->queries % 4 == 0)
        call.device.wait(on);
    return call.result(cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    Call call;
    if (event->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    call.device.enqueue(call.device.resolve(stream), nullptr, true, event->recorded);
    return call.result();
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    Call call;
    *flags = call.device.resolve(stream)->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return call.result();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), [=] { function(data); });
    return call.result();
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), [=] { function(stream, cudaSuccess, data); });
    return call.result();
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new CUevent_st;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Call call;
    if (event->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    event->destroyed = true;
    return call.result();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    Call call;
    if (event->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    Device *device = &call.device;
    event->recorded = call.device.enqueue(call.device.resolve(stream), [=] { event->time = device->ran; }, true);
    return call.result();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Call call;
    if (event->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    call.device.run(event->recorded);
    return call.result();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    Call call;
    if (event->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    if (call.device.idle(event->recorded)) {
        call.device.run(event->recorded);
        return call.result();
    }
    if (++event->queries % 4 == 0)
        call.device.run(event->recorded);
    return call.result(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    Call call;
    if (!start->recorded || !stop->recorded || start->destroyed || stop->destroyed)
        return call.result(cudaErrorInvalidResourceHandle);
    if (!start->recorded->done || !stop->recorded->done)
        return call.result(cudaErrorNotReady);
    *milliseconds = (float)(stop->time - start->time);
    return call.result();
}

cudaError_t cudaDeviceSynchronize()
{
    Call call;
    call.device.drain();
    return call.result();
}

cudaError_t cudaDeviceReset()
{
    Call call;
    call.device.drain();
    for (auto &[at, block] : call.device.blocks)
        if (block.live && block.kind != Kind::registered) {
            call.device.close(at);
            block.live = block.kind == Kind::pool; // documented to be leaked
        }
    for (auto *stream : call.device.streams)
        stream->destroyed = stream->number != 0;
    return call.result();
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    *value = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *into, int)
{
    *into = {"late", 9, 0, 1, 1024, (size_t)64 << 30};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = nullptr;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaPeekAtLastError()
{
    Call call;
    return call.device.sticky != cudaSuccess ? call.device.sticky : last_error;
}

cudaError_t cudaGetLastError()
{
    Call call;
    auto error = call.device.sticky != cudaSuccess ? call.device.sticky : last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    }
    return "unknown";
}

// The clocks of the host, and of libstdc++, which asks through this one.
extern "C" int clock_gettime(clockid_t, struct timespec *now) noexcept
{
    long long ran = Device::the().ran;
    now->tv_sec = ran / 1000;
    now->tv_nsec = ran % 1000 * 1000000;
    return 0;
}

extern "C" clock_t clock() noexcept { return (clock_t)(Device::the().ran * (CLOCKS_PER_SEC / 1000)); }
