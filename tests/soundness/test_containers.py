"""Containers of device pointers, and of structs that hold them: allocated in one loop, freed in another."""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline import driver
from cudafix.pipeline.driver import prove
from cudafix.project.config import Config
from cudafix.rewrite import edits

HEAD = """
#include <algorithm>
#include <array>
#include <cuda_runtime.h>
#include <map>
#include <vector>
__global__ void k(float *p) { *p = 1; }
struct Layer { float *w; float *b; int n; };
void unseen(std::vector<float *> v);
"""
LAYERS = """for (auto &l : v) k<<<1, 1>>>(l.w);
    for (auto &l : v) { cudaFree(l.w); cudaFree(l.b); }"""
USED = """for (auto p : v) k<<<1, 1>>>(p);
    for (auto p : v) cudaFree(p);"""
MOVES = {
    "pushed": """std::vector<float *> v;
        for (int i = 0; i < 4; ++i) { float *p; cudaMalloc(&p, 4); v.push_back(p); }"""
    + USED,
    "in its place": "std::vector<float *> v(4); for (int i = 0; i < 4; ++i) cudaMalloc(&v[i], 4);" + USED,
    "by reference": "std::vector<float *> v(4); for (auto &p : v) cudaMalloc(&p, 4);" + USED,
    "an array": "std::array<float *, 4> v; for (auto &p : v) cudaMalloc(&p, 4);" + USED,
    "the last one": """std::vector<float *> v;
        for (int i = 0; i < 4; ++i) { v.emplace_back(); cudaMalloc(&v.back(), 4); }"""
    + USED,
    "popped": """std::vector<float *> v;
        for (int i = 0; i < 4; ++i) { float *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); v.push_back(p); }
        while (!v.empty()) { cudaFree(v.back()); v.pop_back(); }""",
    "through an iterator": """std::vector<float *> v(4);
        for (int i = 0; i < 4; ++i) { cudaMalloc(&v[i], 4); k<<<1, 1>>>(v[i]); }
        for (auto it = v.begin(); it != v.end(); ++it) cudaFree(*it);""",
    "a map": """std::map<int, float *> v;
        for (int i = 0; i < 4; ++i) { float *p; cudaMalloc(&p, 4); v[i] = p; }
        for (auto &one : v) k<<<1, 1>>>(one.second);
        for (auto &one : v) cudaFree(one.second);""",
    "vectors in a vector": """std::vector<std::vector<float *>> v(2);
        for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) { float *p; cudaMalloc(&p, 4); v[i].push_back(p); }
        for (auto &row : v) for (auto p : row) k<<<1, 1>>>(p);
        for (auto &row : v) for (auto p : row) cudaFree(p);""",
    "structs in their place": """std::vector<Layer> v(4);
        for (int i = 0; i < 4; ++i) { cudaMalloc(&v[i].w, 4); cudaMalloc(&v[i].b, 4); }"""
    + LAYERS,
    "structs pushed": """std::vector<Layer> v;
        for (int i = 0; i < 4; ++i) { Layer l; cudaMalloc(&l.w, 4); cudaMalloc(&l.b, 4); v.push_back(l); }"""
    + LAYERS,
    "structs of braces": """std::vector<Layer> v;
        for (int i = 0; i < 4; ++i) { float *w, *b; cudaMalloc(&w, 4); cudaMalloc(&b, 4); v.push_back({w, b, i}); }"""
    + LAYERS,
    "pointers to structs": """std::vector<Layer *> v;
        for (int i = 0; i < 4; ++i) { Layer *l = new Layer; cudaMalloc(&l->w, 4); v.push_back(l); }
        for (auto l : v) k<<<1, 1>>>(l->w);
        for (auto l : v) { cudaFree(l->w); delete l; }""",
    "on streams of their own": """std::vector<float *> v(4); std::vector<cudaStream_t> s(4);
        for (int i = 0; i < 4; ++i) { cudaStreamCreate(&s[i]); cudaMalloc(&v[i], 4); }
        for (int i = 0; i < 4; ++i) k<<<1, 1, 0, s[i]>>>(v[i]);
        for (int i = 0; i < 4; ++i) { cudaFree(v[i]); cudaStreamDestroy(s[i]); }""",
}
STAYS = {
    "managed memory among it": """std::vector<float *> v;
        for (int i = 0; i < 4; ++i) {
            float *p; if (i % 2) cudaMalloc(&p, 4); else cudaMallocManaged(&p, 4); v.push_back(p); }"""
    + USED,
    "nobody frees what is cleared": """std::vector<float *> v;
        for (int i = 0; i < 4; ++i) { float *p; cudaMalloc(&p, 4); v.push_back(p); }
        for (auto p : v) k<<<1, 1>>>(p);
        v.clear();""",
    "given away": "std::vector<float *> v(4); for (auto &p : v) cudaMalloc(&p, 4); unseen(v);" + USED,
    "an address inside of it is freed": """std::vector<float *> v(4); for (auto &p : v) cudaMalloc(&p, 4);
        for (auto p : v) k<<<1, 1>>>(p);
        for (auto p : v) cudaFree(p + 1);""",
    "streams that one free cannot wait for": """std::vector<float *> v(4); std::vector<cudaStream_t> s(4);
        for (int i = 0; i < 4; ++i) {
            cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking); cudaMalloc(&v[i], 4); }
        for (int i = 0; i < 4; ++i) k<<<1, 1, 0, s[3 - i]>>>(v[i]);
        for (int i = 0; i < 4; ++i) cudaFree(v[i]);""",
    "an algorithm frees": """std::vector<float *> v(4); for (auto &p : v) cudaMalloc(&p, 4);
        for (auto p : v) k<<<1, 1>>>(p);
        std::for_each(v.begin(), v.end(), [](float *p) { cudaFree(p); });""",
}


def program(body: str) -> bytes:
    return (HEAD + "int main() {\n    " + body + "\n}\n").encode()


@pytest.mark.parametrize("body", MOVES.values(), ids=MOVES)
def test_the_memory_moves(body: str) -> None:
    report = driver.analyze({"main.cu": program(body)}, Config())
    assert report.findings
    assert not report.refusals


@pytest.mark.parametrize("body", STAYS.values(), ids=STAYS)
def test_the_memory_stays(body: str) -> None:
    report = driver.analyze({"main.cu": program(body)}, Config())
    assert report.refusals
    assert not report.findings


@pytest.mark.parametrize("name", ["pushed", "structs of braces", "vectors in a vector", "popped"])
def test_a_rewrite_on_a_stream_that_nothing_waits_for_is_rejected(name: str) -> None:
    before = program("cudaStream_t t; cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);\n    " + MOVES[name])
    report = driver.analyze({"main.cu": before}, Config())
    changes = [edit for finding in report.findings for edit in finding.edits]
    after = edits.apply(before, changes)
    assert prove({"main.cu": before}, {"main.cu": after}) == []
    elsewhere = after.replace(b", 0);", b", t);")
    assert prove({"main.cu": before}, {"main.cu": elsewhere}) != []


BESIDE_THRUST = [
    "std::map<int, std::vector<int>> m; m[3].push_back(4); m[3].clear();",
    "std::vector<int> m[3]; m[1].push_back(4);",
    "std::array<std::vector<int>, 3> m; m[1].reserve(4);",
    "std::unordered_map<int, std::vector<std::pair<int, float>>> m; m[1].emplace_back(1, 2.0f);",
    'if (std::ifstream("a", std::ios::binary).is_open()) return 1;',
]


@pytest.mark.parametrize("body", BESIDE_THRUST)
def test_what_a_container_of_the_standard_library_holds_has_a_type(body: str) -> None:
    """Beside Thrust, which has methods of the same names that work on the device, the type decides."""
    source = f"""
#include <cuda_runtime.h>
#include <thrust/sort.h>
__global__ void k(float *p) {{ *p = 1; }}
int host() {{ {body} return 0; }}
int main() {{ float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); if (host()) return 1; cudaFree(d); return 0; }}
"""
    report = driver.analyze({"main.cu": source.encode()}, Config())
    assert all(f.safety is Safety.PROVEN for f in report.findings)
    assert not any(refusal.name == "unknown_call" for refusal in report.refusals)


def test_an_element_of_thrust_in_a_container_is_no_host_memory() -> None:
    source = b"""
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <map>
__global__ void k(float *p) { *p = 1; }
int main() {
    std::map<int, thrust::device_vector<int>> m;
    float *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    m[3].push_back(4);
    cudaFree(d);
    return 0;
}
"""
    report = driver.analyze({"main.cu": source}, Config())
    assert not any(f.safety is Safety.PROVEN and not f.related for f in report.findings)
