"""What works on the host alone is one step: long functions, and any in a program that is too large to be followed.

Every program here counts as too large, or every function as long. What a call may do to device memory, streams or
events must still be seen.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.ordering.facts import alone
from cudafix.ordering.interpreter import calls, engine
from cudafix.pipeline import driver
from cudafix.project.config import Config

HEAD = """
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
__global__ void k(int *v) { *v = 1; }
struct Tree { Tree *left, *right; int value; };
struct Box { int *p; cudaStream_t s; };
"""
MAIN = """
int main() {
    int *d, *e = nullptr;
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&d, 4);
    cudaDeviceSynchronize();
    %s
    cudaFree(d);
    cudaDeviceSynchronize();
    return 0;
}
"""


@pytest.fixture(autouse=True, params=("the program is too large", "no function is short"))
def one_step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "no function is short":
        monkeypatch.setattr(alone, "SHORT", -1)
        monkeypatch.setattr(calls, "FEW_LEADS", calls.MOST_LEADS)
    else:
        monkeypatch.setattr(engine, "MAX_STEPS", 0)


ALONE = {
    "it computes": ("int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }", "int n = fib(30);"),
    "it builds a tree": (
        "Tree *add(Tree *t, int v) { if (!t) { t = new Tree(); t->value = v; return t; }"
        " if (v < t->value) t->left = add(t->left, v); else t->right = add(t->right, v); return t; }",
        "Tree *t = nullptr; for (int i = 0; i < 9; i++) t = add(t, i);",
    ),
    "it prints": ('void show(int n) { for (int i = 0; i < n; i++) std::cout << i << "\\n"; }', "show(3);"),
    "it sorts": (
        "void order(int *v, int n) { std::sort(v, v + n, [](int a, int b) { return a > b; }); }",
        "int v[3] = {1, 2, 3}; order(v, 3);",
    ),
}


@pytest.mark.parametrize("use", ALONE)
def test_work_of_the_host_is_no_obstacle(use: str) -> None:
    declarations, statements = ALONE[use]
    report = driver.analyze({"main.cu": (HEAD + declarations + MAIN % statements).encode()}, Config())
    assert [f.safety for f in report.findings if f.codemod == "stream_ordered_pairs"] == [Safety.PROVEN]


LAUNCH = "k<<<1, 1, 0, other>>>(e);"
SEEN = {
    "it copies the pointer": ("void copy(int *from, int **to) { *to = from; }", f"copy(d, &e); {LAUNCH}"),
    "it swaps pointers": (
        "void swap(int *&a, int *&b) { int *c = a; a = b; b = c; }",
        f"swap(d, e); {LAUNCH} swap(d, e);",
    ),
    "it returns the pointer": ("int *same(int *p) { return p; }", f"e = same(d); {LAUNCH}"),
    "it stores the pointer in a global": (
        "int *kept; void keep(int *p) { kept = p; }",
        "keep(d); k<<<1, 1, 0, other>>>(kept);",
    ),
    "it stores a stream": (
        "void into(Box &b, int *p, cudaStream_t s) { b.p = p; b.s = s; }",
        "Box b; into(b, d, other); k<<<1, 1, 0, b.s>>>(b.p);",
    ),
    "it stores an address on the way": (
        "struct Link { Box *box; }; void link(Link &l, Box *b) { l.box = b; }",
        "Box b, c; Link l; link(l, &b); l.box->p = d; k<<<1, 1, 0, other>>>(b.p);",
    ),
    "it copies an address of an address": (
        "void same(int ***to, int **from) { *to = from; }",
        f"int **q = nullptr; same(&q, &e); *q = d; {LAUNCH}",
    ),
    "it calls a method of another class": (
        "struct Base { virtual void run(int *p, cudaStream_t s) {} };"
        " struct Runs : Base { void run(int *p, cudaStream_t s) { k<<<1, 1, 0, s>>>(p); } };"
        " void go(Base *b, int *p, cudaStream_t s) { b->run(p, s); }",
        "Runs r; go(&r, d, other);",
    ),
    "it stores a function": (
        "void (*hook)(int *, cudaStream_t); void launch(int *p, cudaStream_t s) { k<<<1, 1, 0, s>>>(p); }"
        " void hang() { hook = launch; }",
        "hang(); hook(d, other);",
    ),
    "it picks one of two": (
        "int *one(int *a, int *b, int n) { return n ? a : b; }",
        f"e = one(d, nullptr, 1); {LAUNCH}",
    ),
    "it stores an address, and may throw": (
        "struct Link { Box *box; }; void link(Link &l, Box *b) { l.box = b; if (b->p) throw 1; }",
        "Box b, c; Link l; l.box = &c; try { link(l, &b); } catch (...) {} l.box->p = d; k<<<1, 1, 0, other>>>(b.p);",
    ),
    "it stores null": (
        "struct Link { Box *box; }; void drop(Link &l) { l.box = nullptr; }",
        "Box b; Link l; l.box = &b; drop(l); if (!l.box) k<<<1, 1, 0, other>>>(d);",
    ),
    "it stores an address in a variable that it reads": (
        "Box *first; void note(Box *b) { if (!first) first = b; }",
        "Box b; note(&b); first->p = d; k<<<1, 1, 0, other>>>(b.p);",
    ),
    "it stores a number": (
        "void pick(int *n) { *n = 1; }",
        "int n = 0; cudaStream_t both[2] = {0, other}; pick(&n); k<<<1, 1, 0, both[n]>>>(d);",
    ),
    "it stores a number in a global": (
        "int which; void pick() { which = 1; }",
        "cudaStream_t both[2] = {0, other}; which = 0; pick(); k<<<1, 1, 0, both[which]>>>(d);",
    ),
    "it stores a number in an array": (
        "void pick(int *n, int m) { for (int i = 0; i < m; i++) n[i] = 1; }",
        "int n[2] = {0, 0}; cudaStream_t both[2] = {0, other}; pick(n, 2); k<<<1, 1, 0, both[n[1]]>>>(d);",
    ),
}


@pytest.mark.parametrize("use", SEEN)
def test_what_it_does_with_device_memory_is_seen(use: str) -> None:
    declarations, statements = SEEN[use]
    report = driver.analyze({"main.cu": (HEAD + declarations + MAIN % statements).encode()}, Config())
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert len(moved) + len(report.refusals) == 1
    for finding in moved:
        assert finding.safety is not Safety.PROVEN or any("freed on `other`" in p.text for p in finding.related)


def test_what_the_host_reads_in_it_is_waited_for() -> None:
    text = HEAD + (
        "int sum(int *v, int n) { int s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }"
        "int main() { int *d, *h, *x; cudaMallocHost(&h, 4); cudaMalloc(&d, 4); cudaMalloc(&x, 4);"
        " cudaMemcpyAsync(h, d, 4, cudaMemcpyDeviceToHost, 0); cudaFree(x); int s = sum(h, 1);"
        " cudaFree(d); cudaFreeHost(h); return s; }"
    )
    report = driver.analyze({"main.cu": text.encode()}, Config())
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert moved
    assert any(b"Synchronize" in e.text for f in moved for e in f.edits)
