// Thrust: algorithms on raw device pointers and device_ptr, on the stream of the policy; they wait for it, those of
// par_nosync only where they return a value.
#ifndef LATE_THRUST_H
#define LATE_THRUST_H
#include "../late_libraries.h"
#include <algorithm>
#include <numeric>
namespace thrust
{
struct Policy {
    cudaStream_t stream = 0;
    bool sync = true;
    Policy on(cudaStream_t s) const { return {s, sync}; }
};
namespace cuda { inline Policy par{0, true}, par_nosync{0, false}; }
inline Policy device{0, true};
struct host_t {} inline host;
template <class T> struct device_ptr {
    T *p = nullptr;
    device_ptr() = default;
    explicit device_ptr(T *p) : p(p) {}
    T *get() const { return p; }
    device_ptr operator+(ptrdiff_t n) const { return device_ptr(p + n); }
    ptrdiff_t operator-(device_ptr o) const { return p - o.p; }
};
template <class T> device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <class T> T *raw_pointer_cast(device_ptr<T> p) { return p.p; }
template <class T> T *raw_pointer_cast(T *p) { return p; }
template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct maximum { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class F> void run(Policy p, bool value, F f)
{
    late::library(p.stream, f);
    if (p.sync || value)
        cudaStreamSynchronize(p.stream);
}
template <class T> T *raw(T *p) { return p; }
template <class T> T *raw(device_ptr<T> p) { return p.p; }
template <class I, class T> void fill(Policy p, I a, I b, T v) { run(p, false, [=] { std::fill(raw(a), raw(b), v); }); }
template <class I> void sequence(Policy p, I a, I b) { run(p, false, [=] { std::iota(raw(a), raw(b), 0); }); }
template <class I> void sort(Policy p, I a, I b) { run(p, false, [=] { std::sort(raw(a), raw(b)); }); }
template <class I, class O> void copy(Policy p, I a, I b, O to) { run(p, false, [=] { std::copy(raw(a), raw(b), raw(to)); }); }
template <class I, class O, class F> void transform(Policy p, I a, I b, O to, F f) { run(p, false, [=] { std::transform(raw(a), raw(b), raw(to), f); }); }
template <class I, class T> T reduce(Policy p, I a, I b, T v) { T r{}; run(p, true, [=, &r] { r = std::accumulate(raw(a), raw(b), v); }); return r; }
template <class I> void fill(I a, I b, int v) { fill(device, a, b, v); }
template <class I> void sort(I a, I b) { sort(device, a, b); }
template <class I> void sequence(I a, I b) { sequence(device, a, b); }
} // namespace thrust
#endif
