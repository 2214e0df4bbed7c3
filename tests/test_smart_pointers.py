"""`std::unique_ptr` with a deleter that is seen: who owns the memory, and where the deleter runs."""

from __future__ import annotations

import pytest

from cudafix import driver, edits
from cudafix.config import Config

HEAD = """
#include <cuda_runtime.h>
#include <memory>
#include <utility>
#include <vector>
__global__ void k(float *p);
struct Free { void operator()(void *p) const { cudaFree(p); } };
using U = std::unique_ptr<float, Free>;
struct HostFree { void operator()(void *p) const { cudaFreeHost(p); } };
using Pinned = std::unique_ptr<float[], HostFree>;
void unseen(U u);
void unseen_reference(U &u);
U make(int n) { float *p; cudaMalloc(&p, n); return U(p); }
"""
MOVES = {
    "a local": "int main() { U u = make(4); k<<<1, 1>>>(u.get()); }",
    "its type is not written": "int main() { auto u = make(4); k<<<1, 1>>>(u.get()); }",
    "moved into another": "int main() { U u = make(4); U v(std::move(u)); k<<<1, 1>>>(v.get()); }",
    "assigned": "int main() { U u = make(4); U v; v = std::move(u); k<<<1, 1>>>(v.get()); v = nullptr; }",
    "reset": "int main() { U u = make(4); k<<<1, 1>>>(u.get()); u.reset(); }",
    "released": "int main() { U u = make(4); k<<<1, 1>>>(u.get()); float *p = u.release(); cudaFree(p); }",
    "a parameter": """void take(U u) { k<<<1, 1>>>(u.get()); }
        int main() { U u = make(4); take(std::move(u)); take(make(8)); }""",
    "a reference": "void use(U &u) { k<<<1, 1>>>(u.get()); } int main() { U u = make(4); use(u); }",
    "a member": """struct A { U u; explicit A(U v) : u(std::move(v)) {} void run() { k<<<1, 1>>>(u.get()); } };
        int main() { A a(make(4)); a.run(); }""",
    "a part of an aggregate": """struct S { U u; int n; };
        int main() { U u = make(4); S s{std::move(u), 3}; k<<<1, 1>>>(s.u.get()); }""",
    "an array": "int main() { U u[2]; for (int i = 0; i < 2; ++i) u[i] = make(4); k<<<1, 1>>>(u[1].get()); }",
    "a temporary": "int main() { k<<<1, 1>>>(make(4).get()); }",
    "under a condition": "int main(int c, char **) { U u; if (c > 1) u = make(4); if (u) k<<<1, 1>>>(u.get()); }",
    "returned by its name": """U other() { U u = make(4); k<<<1, 1>>>(u.get()); return u; }
        int main() { U u = other(); k<<<1, 1>>>(u.get()); }""",
}
STAYS = {
    "given to a function that is not seen": "int main() { U u = make(4); unseen(std::move(u)); }",
    "lent to a function that is not seen": "int main() { U u = make(4); unseen_reference(u); }",
    "in a container": """int main() {
        std::vector<U> v; U u = make(4); v.push_back(std::move(u)); k<<<1, 1>>>(v[0].get()); }""",
    "made in a container": "int main() { std::vector<U> v; v.emplace_back(make(4)); k<<<1, 1>>>(v[0].get()); }",
    "in a lambda": "int main() { U u = make(4); auto f = [v = std::move(u)] { k<<<1, 1>>>(v.get()); }; f(); }",
    "in a pair": "int main() { U u = make(4); auto p = std::make_pair(std::move(u), 1); k<<<1, 1>>>(p.first.get()); }",
    "in a shared pointer": """int main() {
        U u = make(4); std::shared_ptr<float> s = std::move(u); k<<<1, 1>>>(s.get()); }""",
    "in a template": """template <class T> void hold(T t) { k<<<1, 1>>>(t.get()); }
        int main() { U u = make(4); hold(std::move(u)); }""",
    "in a global": "U g; int main() { g = make(4); k<<<1, 1>>>(g.get()); }",
    "in a static": "int main() { static U g = make(4); k<<<1, 1>>>(g.get()); }",
    "on the heap": "int main() { U *u = new U(make(4)); k<<<1, 1>>>(u->get()); delete u; }",
    "a reference to a member is handed out": """struct A { U u; U &get() { return u; } };
        int main() { A a; a.u = make(4); k<<<1, 1>>>(a.get().get()); a.get().reset(); }""",
    "freed twice": "int main() { U u = make(4); cudaFree(u.get()); }",
    "a deleter with a state": """struct On { cudaStream_t s; void operator()(float *p) const { cudaFree(p); } };
        int main() { float *p; cudaMalloc(&p, 4); std::unique_ptr<float, On> u(p, On{0}); k<<<1, 1>>>(u.get()); }""",
    "a deleter that is not seen": """struct Off { void operator()(float *p) const; };
        int main() { float *p; cudaMalloc(&p, 4); std::unique_ptr<float, Off> u(p); k<<<1, 1>>>(u.get()); }""",
}


def rewritten(program: str) -> tuple[str, bool]:
    """The program as it is rewritten, and whether something stays."""
    text = (HEAD + program).encode()
    report = driver.analyze({"main.cu": text}, Config())
    changes = [edit for finding in report.findings for edit in finding.edits]
    return edits.apply(text, changes).decode(), bool(report.refusals)


@pytest.mark.parametrize("program", MOVES.values(), ids=MOVES)
def test_the_memory_moves(program: str) -> None:
    text, stays = rewritten(program)
    assert "cudaFreeAsync(" in text
    assert not stays


@pytest.mark.parametrize("program", STAYS.values(), ids=STAYS)
def test_the_memory_stays(program: str) -> None:
    text, stays = rewritten(program)
    assert text == HEAD + program
    assert stays


ASKS = """int main() {{
    float *h;
    cudaMallocHost(&h, 4);
    Pinned host(h);
    cudaStream_t s;
    cudaStreamCreate(&s);
    {before}
    k<<<1, 1, 0, s>>>(u.get());
    cudaMemcpyAsync(host.get(), u.get(), 4, cudaMemcpyDeviceToHost, s);
    {after}
    return host[0] > 0;
}}"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("{ U u = make(4);", "}", id="the end of a block"),
        pytest.param("U u = make(4);", "u.reset();", id="reset"),
        pytest.param("U u = make(4);", "u = nullptr;", id="assigned"),
        pytest.param("U u = make(4);", "u = make(8);", id="another one"),
        pytest.param("U u = make(4);", "{ U v = std::move(u); }", id="moved"),
        pytest.param("U u = make(4);", "[](U v) {}(std::move(u));", id="a lambda"),
    ],
)
def test_the_host_still_waits_where_the_deleter_runs(before: str, after: str) -> None:
    text, stays = rewritten(ASKS.format(before=before, after=after))
    assert stays or text.index("cudaStreamSynchronize(0);") < text.index("cudaFreeAsync(p, 0);")


def test_the_host_need_not_wait_where_what_was_moved_from_ends() -> None:
    body = "U v; { U u = make(4); k<<<1, 1>>>(u.get()); v = std::move(u); } *h = 1;"
    text, stays = rewritten(f"int main() {{ float *h; cudaMallocHost(&h, 4); {body} cudaFreeHost(h); }}")
    assert not stays
    assert "Synchronize" not in text
