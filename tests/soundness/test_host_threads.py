"""What another host thread may look at is ordered by the host thread that waits."""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config

PROGRAM = """
__global__ void k(int *p) { *p = 42; }
std::atomic<int> ready;
void show(const int *h) { while (!ready.load()) { } printf("%d\\n", *h); }
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *h, *p;
    cudaMallocHost(&h, 4);
    cudaMalloc(&p, 4);
    THREAD_FIRST
    k<<<1, 1, 0, s>>>(p);
    cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(p);
    ready.store(1);
    THREAD_LAST
    t.join();
    cudaStreamSynchronize(s);
}
"""


@pytest.mark.parametrize("where", ["THREAD_FIRST", "THREAD_LAST"])
@pytest.mark.parametrize("thread", ["std::thread t(show, h);", "std::thread t([=] { show(h); });"])
def test_a_thread_that_reads_after_the_free_needs_the_wait(where: str, thread: str) -> None:
    program = PROGRAM.replace(where, thread).replace("THREAD_FIRST", "").replace("THREAD_LAST", "")
    after = program.replace("cudaMalloc(&p, 4)", "cudaMallocAsync(&p, 4, s)")
    bare = after.replace("cudaFree(p)", "cudaFreeAsync(p, s)")
    waits = after.replace("cudaFree(p)", "cudaStreamSynchronize(s); cudaFreeAsync(p, s)")
    assert prove({"a.cu": program.encode()}, {"a.cu": bare.encode()})
    assert not prove({"a.cu": program.encode()}, {"a.cu": waits.encode()})


@pytest.mark.parametrize(
    "work",
    [
        "void one(int *p) { k<<<1, 1>>>(p); }\nvoid work(int *p) { each(3, one, p); }",
        "void work(int *p) { foreign(p); }",
        "void one(int *p) { k<<<1, 1>>>(p); }\nvoid work(int *p) { std::thread t(one, p); t.join(); }",
    ],
)
def test_a_thread_may_work_on_the_device_through_others(work: str) -> None:
    program = """
__global__ void k(int *p) { *p = 42; }
void each(int n, void (*f)(int *), int *p) { for (int i = 0; i < n; i++) f(p); }
WORK
int main() {
    int *p;
    cudaMalloc(&p, 4);
    std::thread t(work, p);
    t.join();
    cudaFree(p);
}
"""
    report = analyze({"a.cu": program.replace("WORK", work).encode()}, Config())
    assert [r.name for r in report.refusals] == ["several_host_threads"]


@pytest.mark.parametrize(
    "threads",
    [
        "std::thread t(work, &n); t.join();",
        "pthread_t t; pthread_create(&t, nullptr, work, &n); pthread_join(t, nullptr);",
    ],
)
def test_a_thread_that_has_only_worked_on_the_host_leaves_no_work_when_it_is_joined(threads: str) -> None:
    program = f"""
void *work(void *n) {{ return n; }}
int main() {{
    int n, *p;
    cudaMalloc(&p, 4);
    {threads}
    cudaFree(p);
    {threads.replace(" t", " u").replace("(t", "(u").replace("&t", "&u")}
}}
"""
    report = analyze({"a.cu": program.encode()}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


def test_a_thread_that_starts_threads_for_the_host_works_on_the_host() -> None:
    program = b"""
void one(int *n) { ++*n; }
void work(int *n) { std::thread t(one, n); t.join(); }
int main() {
    int n = 0, *p;
    cudaMalloc(&p, 4);
    std::thread t(work, &n);
    t.join();
    cudaFree(p);
}
"""
    report = analyze({"a.cu": program}, Config())
    assert [f.safety for f in report.findings] == [Safety.PROVEN]


PARTS = """
__global__ void k(int *p) { *p = 42; }
int *p;
struct Part { void run() { k<<<1, 1>>>(p); } };
struct Whole {
    Part *part;
    void run() {
        #pragma omp parallel for
        for (int i = 0; i < 4; i++) part->run();
    }
};
int main() {
    Part part;
    Whole whole;
    whole.part = &part;
    cudaMalloc(&p, 4);
    whole.run();
    cudaFree(p);
}
"""


def test_a_method_of_another_class_with_the_same_name_runs_in_several_threads() -> None:
    report = analyze({"a.cu": PARTS.encode()}, Config())
    assert [refusal.name for refusal in report.refusals] == ["several_host_threads"]


SHARED = """
__global__ void slow(int *h) { *h = 1; }
__global__ void k(int *p) { *p = 42; }
void work() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaFree(p); }
void *start(void *) { work(); return nullptr; }
void each(void (*f)());
int main() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int *h;
    cudaHostAlloc(&h, 4, cudaHostAllocMapped);
    work();
    slow<<<1, 1, 0, s>>>(h);
    %s
    return *h;
}
"""
ELSEWHERE = {
    "a thread": "std::thread t(work); t.join();",
    "a thread that runs a lambda": "std::thread t([] { work(); }); t.join();",
    "a lambda with a name": "auto f = [] { work(); }; std::thread t(f); t.join();",
    "a task": "auto f = std::async(std::launch::async, work); f.wait();",
    "POSIX": "pthread_t t; pthread_create(&t, nullptr, start, nullptr); pthread_join(t, nullptr);",
    "a vector of threads": "std::vector<std::thread> v; v.emplace_back(work); v[0].join();",
    "a region": "#pragma omp parallel\n{ work(); }",
    "the rounds of a region": "#pragma omp parallel for\nfor (int i = 0; i < 3; ++i) { work(); }",
}


@pytest.mark.parametrize("start", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_other_threads_run_too_stays(start: str) -> None:
    """Where `main` calls `work` its free is the wait for nothing, where the thread does it is the one for `slow`."""
    report = analyze({"a.cu": (SHARED % start).encode()}, Config())
    assert not [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert {refusal.name for refusal in report.refusals} == {"several_host_threads"}


def test_functions_that_no_thread_is_given_move() -> None:
    report = analyze(
        {"a.cu": (SHARED % "cudaStreamSynchronize(s); std::thread t([h] { *h = 2; }); t.join();").encode()}, Config()
    )
    assert [f.codemod for f in report.findings] == ["stream_ordered_pairs"]


def test_threads_that_are_joined_by_an_algorithm_in_another_thread() -> None:
    program = """
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>
int highest(std::atomic_int *most, int n) {
    int old = most->load();
    while (old < n && !most->compare_exchange_strong(old, n)) ;
    return old;
}
void work(std::atomic_int *most) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.push_back(std::thread([=] { highest(most, i); }));
    std::for_each(threads.begin(), threads.end(), [](std::thread &t) { t.join(); });
}
int main() {
    std::atomic_int most(0);
    int *p;
    cudaMalloc(&p, 4);
    std::thread t(work, &most);
    t.join();
    cudaFree(p);
}
"""
    # needless: what a closure has copied of the address is taken for one that was made of a number
    (refusal,) = analyze({"a.cu": program.encode()}, Config()).refusals
    assert refusal.name == "escapes"
