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
//
// There are two devices. Each has its legacy stream; a kernel is launched on a stream of the current device, and may use
// memory of the other one only as far as peer access, or the access of the pool, allows. cudaFree waits for the device of
// the memory. What a stream is given while it is captured becomes part of a graph, which runs as one operation.
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
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>
#include <vector>

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

namespace
{
struct Operation;
using Queued = std::shared_ptr<Operation>;
} // namespace

struct CUgraph_st {
    std::vector<std::function<void()>> works;
    bool invalid = false, global = true;
};

struct CUgraphExec_st {
    std::shared_ptr<CUgraph_st> graph;
    Queued last;
};

struct CUstream_st {
    int number;
    bool blocking, destroyed = false;
    Queued last;
    int queries = 0;
    int device = 0, priority = 0;
    CUgraph_st *captured = nullptr; // what it becomes part of
    bool begun = false;             // the capture began here
};

struct CUevent_st {
    Queued recorded;
    bool destroyed = false;
    long long time = 0;
    int queries = 0;
    int device = 0;
    CUgraph_st *captured = nullptr;
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
    int device = 0;
    bool open = true;
};

struct DeviceFault {
};

constexpr int devices = 2;
thread_local int current = 0;

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
    CUstream_st *legacies[devices] = {};
    bool access[devices][devices] = {};      // the first may use cudaMalloc memory of the second
    bool pool_access[devices][devices] = {}; // ... memory of the pool of the second
    bool several = false;

    Device()
    {
        legacies[0] = create(true, 0);
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

    CUstream_st *legacy(int device)
    {
        return legacies[device] ? legacies[device] : legacies[device] = create(true, device);
    }

    bool is_legacy(CUstream_st *stream) { return stream == legacies[stream->device]; }

    CUstream_st *resolve(cudaStream_t stream)
    {
        static thread_local CUstream_st *own[devices] = {};
        if (stream == nullptr || stream == cudaStreamLegacy)
            return legacy(current);
        if (stream == cudaStreamPerThread)
            return own[current] ? own[current] : own[current] = create(true, current);
        for (auto *known : streams)
            if (known == stream && !known->destroyed)
                return known;
        fflush(stdout);
        _exit(78);
    }

    CUstream_st *create(bool blocking, int device)
    {
        streams.push_back(new CUstream_st{(int)streams.size(), blocking, false, nullptr, 0, device});
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
        if (is_legacy(stream)) {
            for (auto *other : streams)
                if (other->blocking && other != stream && other->device == stream->device)
                    add(other);
        } else if (stream->blocking) {
            add(legacy(stream->device));
        }
        return found;
    }

    /// `work` of `stream`; without any, or with `memory`, it takes no time.
    Queued enqueue(CUstream_st *stream, std::function<void()> work, bool memory = false, Queued also = nullptr)
    {
        auto queued = std::make_shared<Operation>();
        queued->stream = stream;
        if (stream->captured) {
            if (work)
                stream->captured->works.push_back(std::move(work));
            queued->done = true;
            return queued;
        }
        if (is_legacy(stream)) // not allowed while a blocking stream is captured
            for (auto *other : streams)
                if (other->captured && other->blocking)
                    other->captured->invalid = true;
        queued->work = std::move(work);
        queued->after = before(stream);
        if (also && !also->done)
            queued->after.push_back(also);
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

    /// Runs everything (of one device), in an order that CUDA allows.
    void drain(int device = -1)
    {
        std::vector<Queued> waiting;
        for (auto &queued : pending)
            if (device < 0 || queued->stream->device == device)
                waiting.push_back(queued);
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
        if (is_legacy(stream))
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
        auto left = is_legacy(stream) ? before(stream) : std::vector<Queued>{stream->last};
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

    /// A call that may not come while a stream is captured: the capture is lost.
    bool lost(bool always)
    {
        bool found = false;
        for (auto *stream : streams)
            if (stream->captured && (always || stream->captured->global))
                found = stream->captured->invalid = true;
        return found;
    }

    /// Memory of the other device that a kernel of this one may not use.
    void shut(int device, bool closed)
    {
        if (!several)
            return;
        for (auto &[at, block] : blocks) {
            bool mine = block.device == device || !block.open || block.released ||
                        (block.kind != Kind::device && block.kind != Kind::pool);
            if (mine || (block.kind == Kind::device ? access : pool_access)[device][block.device])
                continue;
            mprotect(at, block.bytes, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
        }
    }

    char *map(size_t bytes, Kind kind, int device)
    {
        size_t whole = (bytes + 4095) / 4096 * 4096;
        int access = kind == Kind::pool ? PROT_NONE : PROT_READ | PROT_WRITE;
        char *at = (char *)mmap(nullptr, whole + 4096, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(at + whole, 4096, PROT_NONE);
        if (kind != Kind::pool)
            memset(at, 0xA5, bytes);
        blocks[at] = Block{bytes, kind, true, nullptr, false, device, kind != Kind::pool};
        return at;
    }

    void open(char *at)
    {
        Block &block = blocks[at];
        if (block.released) // by a free that nothing orders behind the allocation
            return;
        block.open = true;
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

/// A copy between devices behind all that they were given, and in front of all that they are given after it.
void copy_between(Device &device, void *to, const void *from, size_t bytes, int onto, int off)
{
    auto *on = device.legacy(current);
    auto earlier = std::vector<Queued>();
    auto known = device.streams;
    auto queued = device.enqueue(on, [=] { memmove(to, from, bytes); });
    for (auto *stream : known)
        if ((stream->device == onto || stream->device == off) && stream != on && stream->last && !stream->last->done)
            queued->after.push_back(stream->last);
    for (auto *stream : known)
        if ((stream->device == onto || stream->device == off) && stream != on)
            device.enqueue(stream, nullptr, true, queued);
    for (int each : {onto, off})
        if (device.legacy(each) != on && device.legacy(each)->last == nullptr)
            device.enqueue(device.legacy(each), nullptr, true, queued);
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool blocking)
{
    Call call;
    auto &device = call.device;
    auto *on = device.resolve(stream);
    kind = direction(device, to, from, kind);
    if (blocking && kind == cudaMemcpyDeviceToDevice && device.holding(to) && device.holding(from) &&
        device.holding(to)->device != device.holding(from)->device) {
        copy_between(device, to, from, bytes, device.holding(to)->device, device.holding(from)->device);
        return call.result();
    }
    if (kind == cudaMemcpyHostToDevice && !device.holding(from) && !on->captured) {
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
    if (call.device.lost(false))
        return call.result(cudaErrorStreamCaptureUnsupported);
    *block = bytes ? call.device.map(bytes, kind, current) : nullptr;
    return call.result();
}

/// A release that first waits for the whole device.
cudaError_t release(void *block, bool (*fits)(Kind))
{
    Call call;
    if (!block)
        return call.result();
    if (call.device.lost(false))
        return call.result(cudaErrorStreamCaptureUnsupported);
    Block *found = call.device.starting(block);
    if (!found || !fits(found->kind))
        return call.result(cudaErrorInvalidValue);
    if (found->kind == Kind::pool)
        call.device.run(found->allocation);
    else
        call.device.drain(found->kind == Kind::device ? found->device : -1);
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
    auto *on = call.device.resolve(config.stream);
    if (on->device != current) {
        call.result(cudaErrorInvalidResourceHandle);
        return;
    }
    Device *device = &call.device;
    call.device.enqueue(on, [config, thread, device, on] {
        struct Shut {
            Device *device;
            int number;
            Shut(Device *device, int number) : device(device), number(number) { device->shut(number, true); }
            ~Shut() { device->shut(number, false); }
        } shut(device, on->device);
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
    char *at = call.device.map(bytes, Kind::pool, on->device);
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
    call.device.blocks[(char *)from] = Block{bytes, Kind::registered, true, nullptr, false, current, true};
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
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    auto error = cudaStreamCreateWithFlags(stream, flags);
    (*stream)->priority = priority;
    return error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    Call call;
    *stream = call.device.create(!(flags & cudaStreamNonBlocking), current);
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
    auto *on = call.device.resolve(stream);
    if (on->captured) {
        on->captured->invalid = true;
        return call.result(cudaErrorStreamCaptureUnsupported);
    }
    call.device.wait(on);
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
    auto *on = call.device.resolve(stream);
    if (event->captured) {
        on->captured = event->captured;
        return call.result();
    }
    call.device.enqueue(on, nullptr, true, event->recorded);
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
    (*event)->device = current;
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
    auto *on = call.device.resolve(stream);
    if (on->device != event->device)
        return call.result(cudaErrorInvalidResourceHandle);
    event->captured = on->captured;
    if (on->captured)
        return call.result();
    event->recorded = call.device.enqueue(on, [=] { event->time = device->ran; }, true);
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
    if (call.device.lost(true))
        return call.result(cudaErrorStreamCaptureUnsupported);
    call.device.drain(current);
    return call.result();
}

cudaError_t cudaDeviceReset()
{
    Call call;
    call.device.drain(current);
    for (auto &[at, block] : call.device.blocks)
        if (block.live && block.kind != Kind::registered && block.device == current) {
            call.device.close(at);
            block.live = block.kind == Kind::pool; // documented to be leaked
        }
    for (auto *stream : call.device.streams)
        if (stream->device == current)
            stream->destroyed = !call.device.is_legacy(stream);
    return call.result();
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = devices;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    Call call;
    if (device < 0 || device >= devices)
        return call.result(cudaErrorInvalidDevice);
    call.device.several |= device != 0;
    current = device;
    return call.result();
}

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    Call call;
    call.device.access[current][peer] = true;
    return call.result();
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    Call call;
    call.device.access[current][peer] = false;
    return call.result();
}

cudaError_t cudaMemcpyPeer(void *to, int onto, const void *from, int off, size_t bytes)
{
    Call call;
    copy_between(call.device, to, from, bytes, onto, off);
    return call.result();
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), [=] { memmove(to, from, bytes); });
    return call.result();
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    const char *pools = getenv("LATE_POOLS");
    *value = pools ? atoi(pools) : 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *into, int)
{
    *into = {"late", 9, 0, 1, 1024, (size_t)64 << 30};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -1;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    Call call;
    *priority = call.device.resolve(stream)->priority;
    return call.result();
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = (cudaMemPool_t)(size_t)(device + 1);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count)
{
    Call call;
    for (size_t i = 0; i < count; ++i)
        call.device.pool_access[access[i].location.id][(size_t)pool - 1] = access[i].flags != cudaMemAccessFlagsProtNone;
    return call.result();
}

// Graphs.

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    Call call;
    auto *on = call.device.resolve(stream);
    if (call.device.is_legacy(on) || on->captured)
        return call.result(cudaErrorStreamCaptureUnsupported);
    on->captured = new CUgraph_st;
    on->captured->global = mode == cudaStreamCaptureModeGlobal;
    on->begun = true;
    return call.result();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    Call call;
    auto *on = call.device.resolve(stream);
    *graph = nullptr;
    if (!on->captured || !on->begun)
        return call.result(cudaErrorStreamCaptureUnsupported);
    auto *made = on->captured;
    for (auto *each : call.device.streams)
        if (each->captured == made) {
            each->captured = nullptr;
            each->begun = false;
        }
    if (made->invalid)
        return call.result(cudaErrorStreamCaptureInvalidated);
    *graph = made;
    return call.result();
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    Call call;
    auto *on = call.device.resolve(stream);
    *status = !on->captured           ? cudaStreamCaptureStatusNone
              : on->captured->invalid ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    return call.result();
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
    *graph = new CUgraph_st;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    Call call;
    if (!graph)
        return call.result(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st{std::make_shared<CUgraph_st>(*graph), nullptr};
    return call.result();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t)
{
    return cudaGraphInstantiate(exec, graph, 0);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *)
{
    Call call;
    exec->graph = std::make_shared<CUgraph_st>(*graph);
    return call.result();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    Call call;
    if (!exec)
        return call.result(cudaErrorInvalidValue);
    auto works = exec->graph;
    exec->last = call.device.enqueue(
        call.device.resolve(stream),
        [works] {
            for (auto &work : works->works)
                work();
        },
        false, exec->last);
    return call.result();
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), nullptr);
    return call.result();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *, cudaGraph_t graph, const cudaGraphNode_t *, size_t, void *to,
                                     const void *from, size_t bytes, cudaMemcpyKind)
{
    graph->works.push_back([=] { memmove(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *, cudaGraph_t graph, const cudaGraphNode_t *, size_t,
                                   const cudaMemsetParams *given)
{
    auto to = *given;
    graph->works.push_back([to] {
        for (size_t i = 0; i < to.width; ++i)
            memcpy((char *)to.dst + i * to.elementSize, &to.value, to.elementSize);
    });
    return cudaSuccess;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *, cudaGraph_t graph, const cudaGraphNode_t *, size_t,
                                 const cudaHostNodeParams *given)
{
    auto to = *given;
    graph->works.push_back([to] { to.fn(to.userData); });
    return cudaSuccess;
}

// Others.

cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *, size_t, unsigned)
{
    Call call;
    call.device.enqueue(call.device.resolve(stream), nullptr);
    return call.result();
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned)
{
    return cudaEventRecord(event, stream);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *made, const cudaResourceDesc *what, const cudaTextureDesc *,
                                    const void *)
{
    *made = (cudaTextureObject_t)what->res.linear.devPtr;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) { return cudaSuccess; }

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
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
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

extern "C" int gettimeofday(struct timeval *now, void *) noexcept
{
    long long ran = Device::the().ran;
    *now = {ran / 1000, ran % 1000 * 1000};
    return 0;
}

extern "C" time_t time(time_t *into) noexcept
{
    time_t now = Device::the().ran;
    if (into)
        *into = now;
    return now;
}

extern "C" int timespec_get(struct timespec *now, int base) noexcept
{
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

extern "C" clock_t times(struct tms *into) noexcept
{
    clock_t now = Device::the().ran;
    if (into)
        *into = {now, now, now, now};
    return now;
}

extern "C" int getrusage(int, struct rusage *into) noexcept
{
    memset(into, 0, sizeof *into);
    gettimeofday(&into->ru_utime, nullptr);
    return 0;
}

unsigned long long late::ticks() { return (unsigned long long)Device::the().ran * 1000000; }
