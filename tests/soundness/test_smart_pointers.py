"""Smart pointers with a deleter that is seen: who owns the memory, and where the deleter runs."""

from __future__ import annotations

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite import edits
from tests.other_stream import MAIN, analyze
from tests.soundness.test_ways_to_memory import cases

PINNED = """
struct HostFree { void operator()(void *p) const { cudaFreeHost(p); } };
using Pinned = std::unique_ptr<float[], HostFree>;
"""
HEAD = f"""
#include <cuda_runtime.h>
#include <memory>
#include <utility>
#include <vector>
__global__ void k(float *p);
struct Free {{ void operator()(void *p) const {{ cudaFree(p); }} }};
using U = std::unique_ptr<float, Free>;
{PINNED}void unseen(U u);
void unseen_reference(U &u);
U make(int n) {{ float *p; cudaMalloc(&p, n); return U(p); }}
"""
ALONE = """
#include <cuda_runtime.h>
#include <memory>
#include <vector>
__global__ void k(float *p);
struct Free { void operator()(void *p) const { cudaFree(p); } };
using S = std::shared_ptr<float>;
float *block(int n) { float *p; cudaMalloc(&p, n); return p; }
void unseen_shared(S s);
"""
GIVE_BACK = "void give_back(float *p) { cudaFree(p); }\n"
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
    "in a vector": """int main() {
        std::vector<U> v; U u = make(4); v.push_back(std::move(u)); k<<<1, 1>>>(v[0].get()); }""",
    "made in a vector": "int main() { std::vector<U> v; v.emplace_back(make(4)); k<<<1, 1>>>(v[0].get()); }",
    "on the heap": "int main() { U *u = new U(make(4)); k<<<1, 1>>>(u->get()); delete u; }",
    "returned by its name": """U other() { U u = make(4); k<<<1, 1>>>(u.get()); return u; }
        int main() { U u = other(); k<<<1, 1>>>(u.get()); }""",
}
STAYS = {
    "given to a function that is not seen": "int main() { U u = make(4); unseen(std::move(u)); }",
    "lent to a function that is not seen": "int main() { U u = make(4); unseen_reference(u); }",
    "in a container": """#include <deque>
        int main() { std::deque<U> v; U u = make(4); v.push_back(std::move(u)); k<<<1, 1>>>(v[0].get()); }""",
    "made in a container": """#include <list>
        int main() { std::list<U> v; v.emplace_back(make(4)); k<<<1, 1>>>(v.front().get()); }""",
    "in a vector that is handed on": """void unseen(std::vector<U> &v);
        int main() { std::vector<U> v; v.emplace_back(make(4)); k<<<1, 1>>>(v[0].get()); unseen(v); }""",
    "in a lambda": "int main() { U u = make(4); auto f = [v = std::move(u)] { k<<<1, 1>>>(v.get()); }; f(); }",
    "in a pair": "int main() { U u = make(4); auto p = std::make_pair(std::move(u), 1); k<<<1, 1>>>(p.first.get()); }",
    "assigned through a tuple of references": """#include <tuple>
        int main() { U u = make(4); int n; k<<<1, 1>>>(u.get()); std::tie(u, n) = std::make_tuple(U(), 1); }""",
    "in a shared pointer": """int main() {
        U u = make(4); std::shared_ptr<float> s = std::move(u); k<<<1, 1>>>(s.get()); }""",
    "in a template": """template <class T> void hold(T t) { k<<<1, 1>>>(t.get()); }
        int main() { U u = make(4); hold(std::move(u)); }""",
    "in a global": "U g; int main() { g = make(4); k<<<1, 1>>>(g.get()); }",
    "in a static": "int main() { static U g = make(4); k<<<1, 1>>>(g.get()); }",
    "for the whole thread": "int main() { thread_local U g = make(4); k<<<1, 1>>>(g.get()); }",
    "a reference to a member is handed out": """struct A { U u; U &get() { return u; } };
        int main() { A a; a.u = make(4); k<<<1, 1>>>(a.get().get()); a.get().reset(); }""",
    "freed twice": "int main() { U u = make(4); cudaFree(u.get()); }",
    "a deleter with a state": """struct On { cudaStream_t s; void operator()(float *p) const { cudaFree(p); } };
        int main() { float *p; cudaMalloc(&p, 4); std::unique_ptr<float, On> u(p, On{0}); k<<<1, 1>>>(u.get()); }""",
    "a deleter that is not seen": """struct Off { void operator()(float *p) const; };
        int main() { float *p; cudaMalloc(&p, 4); std::unique_ptr<float, Off> u(p); k<<<1, 1>>>(u.get()); }""",
}
ONE_OWNER = {
    "a shared pointer with a lambda": """int main() {
        S s(block(4), [](float *p) { cudaFree(p); }); k<<<1, 1>>>(s.get()); }""",
    "a shared pointer with a class": "int main() { std::shared_ptr<float> s(block(4), Free()); k<<<1, 1>>>(s.get()); }",
    "a shared pointer with a function": "int main() { S s(block(4), give_back); k<<<1, 1>>>(s.get()); }",
    "a shared pointer with the address of a function": "int main() { S s(block(4), &give_back); k<<<1, 1>>>(s.get());}",
    "a shared pointer with a lambda that has a name": """int main() {
        auto drop = [](float *p) { cudaFree(p); }; float *p = block(4); S s(p, drop); k<<<1, 1>>>(s.get()); }""",
    "a shared pointer that is emptied": """int main() {
        S s(block(4), Free()); if (s) k<<<1, 1>>>(s.get()); s.reset(); if (!s || s == nullptr) s = nullptr; }""",
    "a unique pointer with a lambda": """int main() { auto drop = [](float *p) { cudaFree(p); };
        std::unique_ptr<float, decltype(drop)> u(block(4), drop); k<<<1, 1>>>(u.get()); }""",
    "a unique pointer with a function": """int main() {
        std::unique_ptr<float, void (*)(float *)> u(block(4), give_back); k<<<1, 1>>>(u.get()); }""",
    "a unique pointer in braces": """int main() {
        std::unique_ptr<float, void (*)(float *)> u{block(4), [](float *p) { cudaFree(p); }};
        k<<<1, 1>>>(u.get()); }""",
    "a shared pointer with `cudaFree` itself": "int main() { S s(block(4), cudaFree); k<<<1, 1>>>(s.get()); }",
    "a unique pointer with the address of `cudaFree`": """int main() {
        std::unique_ptr<float, decltype(&cudaFree)> s(block(4), &cudaFree); k<<<1, 1>>>(s.get()); }""",
    "two of one name": """int main() { { S s(block(4), give_back); k<<<1, 1>>>(s.get()); }
        { S s(block(8), Free()); k<<<1, 1>>>(s.get()); } }""",
}
SHARED = {
    "copied": "S t = s; k<<<1, 1>>>(t.get());",
    "copied by `auto`": "auto t = s; k<<<1, 1>>>(t.get());",
    "copied in parentheses": "S t(s); k<<<1, 1>>>(t.get());",
    "moved": "S t(std::move(s)); k<<<1, 1>>>(t.get());",
    "assigned to another": "S t; t = s; k<<<1, 1>>>(t.get());",
    "an alias of it": "std::shared_ptr<int> t(s, (int *)s.get()); k<<<1, 1>>>(s.get());",
    "watched": "std::weak_ptr<float> w(s); k<<<1, 1>>>(w.lock().get());",
    "given to a function": "unseen_shared(s);",
    "referred to": "S &t = s; t.reset(); k<<<1, 1>>>(t.get());",
    "its address is taken": "S *t = &s; t->reset(); k<<<1, 1>>>(t->get());",
    "in a lambda": "auto f = [s] { k<<<1, 1>>>(s.get()); }; f();",
    "in a lambda by everything": "auto f = [=] { k<<<1, 1>>>(s.get()); }; f();",
    "in a lambda by reference": "auto f = [&] { s.reset(); }; f();",
    "in a container": "std::vector<S> v; v.push_back(s); k<<<1, 1>>>(v[0].get());",
    "in a list": "std::vector<S> v{s, s}; k<<<1, 1>>>(v[0].get());",
    "swapped": "S t; t.swap(s); k<<<1, 1>>>(t.get());",
    "swapped with another": "S t; s.swap(t); k<<<1, 1>>>(t.get());",
    "set to other memory": "s.reset(block(8)); k<<<1, 1>>>(s.get());",
    "set to other memory with a deleter": "s.reset(block(8), give_back); k<<<1, 1>>>(s.get());",
    "assigned": "s = S(block(8), give_back); k<<<1, 1>>>(s.get());",
    "kept in a global": "kept = s; k<<<1, 1>>>(s.get());",
    "a choice": "S t = s ? s : S(); k<<<1, 1>>>(t.get());",
    "a macro copies it": "KEEP(); k<<<1, 1>>>(s.get());",
    "a macro is given it": "KEEP_THIS(s); k<<<1, 1>>>(s.get());",
}
GIVEN = {
    "a lambda with captures": "int o = 0; S s(block(4), [o](float *p) { if (!o) cudaFree(p); });",
    "a lambda in a variable": "std::function<void(float *)> drop = [](float *p) { cudaFree(p); }; S s(block(4), drop);",
    "a function that is not seen": "S s(block(4), elsewhere);",
    "a function in a variable": "void (*drop)(float *) = give_back; S s(block(4), drop);",
    "an allocator too": "S s(block(4), give_back, std::allocator<int>());",
    "made by a function": "S s = from(block(4));",
    "made behind `=`": "S s = S(block(4), give_back);",
    "for the whole program": "static S s(block(4), give_back);",
    "for the whole thread": "thread_local S s(block(4), give_back);",
}


def rewritten(program: str) -> tuple[str, bool]:
    """The program as it is rewritten, and whether something stays."""
    text = program.encode()
    report = driver.analyze({"main.cu": text}, Config())
    changes = [edit for finding in report.findings for edit in finding.edits]
    return edits.apply(text, changes).decode(), bool(report.refusals)


@pytest.mark.parametrize("program", MOVES.values(), ids=MOVES)
def test_the_memory_moves(program: str) -> None:
    text, stays = rewritten(HEAD + program)
    assert "cudaFreeAsync(" in text
    assert not stays


@pytest.mark.parametrize("program", STAYS.values(), ids=STAYS)
def test_the_memory_stays(program: str) -> None:
    text, stays = rewritten(HEAD + program)
    assert text == HEAD + program
    assert stays


@pytest.mark.parametrize("program", ONE_OWNER.values(), ids=ONE_OWNER)
def test_memory_with_one_owner_moves(program: str) -> None:
    text, stays = rewritten(ALONE + (GIVE_BACK if "give_back" in program else "") + program)
    assert "cudaFreeAsync(" in text
    assert not stays


@pytest.mark.parametrize("use", SHARED.values(), ids=SHARED)
def test_memory_that_may_get_another_owner_stays(use: str) -> None:
    around = f"{ALONE}{GIVE_BACK if 'give_back' in use else ''}S kept;\n"
    around += "#define KEEP() kept = s\n" if "KEEP()" in use else "#define KEEP_THIS(x) kept = x\n"
    program = f"{around}int main() {{ S s(block(4), [](float *p) {{ cudaFree(p); }}); {use} }}"
    text, stays = rewritten(program)
    assert text == program
    assert stays


@pytest.mark.parametrize("made", GIVEN.values(), ids=GIVEN)
def test_memory_with_a_deleter_that_is_not_known_stays(made: str) -> None:
    around = f"#include <functional>\nvoid elsewhere(float *p);\n{ALONE}{GIVE_BACK if 'give_back' in made else ''}"
    around += f"{GIVE_BACK}S from(float *p) {{ return S(p, give_back); }}\n" if "from" in made else ""
    program = f"{around}int main() {{ {made} k<<<1, 1>>>(s.get()); }}"
    text, stays = rewritten(program)
    assert text == program
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
        pytest.param("{ S u(block(4), [](float *p) { cudaFree(p); });", "}", id="the end of a shared pointer"),
        pytest.param("S u(block(4), give_back);", "u.reset();", id="a shared pointer that is reset"),
    ],
)
def test_the_host_still_waits_where_the_deleter_runs(before: str, after: str) -> None:
    around = ALONE + PINNED + GIVE_BACK if "block" in before else HEAD
    text, stays = rewritten(around + ASKS.format(before=before, after=after))
    assert stays or text.index("cudaStreamSynchronize(0);") < text.index("cudaFreeAsync(p, 0);")


def test_the_host_need_not_wait_where_what_was_moved_from_ends() -> None:
    body = "U v; { U u = make(4); k<<<1, 1>>>(u.get()); v = std::move(u); } *h = 1;"
    text, stays = rewritten(f"{HEAD}int main() {{ float *h; cudaMallocHost(&h, 4); {body} cudaFreeHost(h); }}")
    assert not stays
    assert "Synchronize" not in text


OBJECTS = """
#include <cuda_runtime.h>
#include <memory>
#include <vector>
__global__ void k(float *p);
struct Base { virtual ~Base() {} virtual void step() = 0; };
struct Gpu : Base {
    float *d = nullptr;
    explicit Gpu(int n = 4) { cudaMalloc(&d, n); }
    ~Gpu() { cudaFree(d); }
    void step() override { k<<<1, 1>>>(d); cudaDeviceSynchronize(); }
};
"""
OTHERS = """
struct Known : std::enable_shared_from_this<Known> {
    float *d = nullptr;
    Known() { cudaMalloc(&d, 4); }
    ~Known() { cudaFree(d); }
    void step();
};
std::vector<std::shared_ptr<Known>> everybody;
void Known::step() { everybody.push_back(shared_from_this()); }
struct Taker { std::unique_ptr<Gpu> kept; };
void unseen(std::unique_ptr<Gpu> g);
"""
OWNED = """auto g = std::make_unique<Gpu>(8); g->step();
auto g = std::make_shared<Gpu>(8); g->step(); if (g) (*g).step();
const auto g = std::make_unique<Gpu>(); g->step(); Gpu *p = g.get(); p->step();
std::unique_ptr<Gpu> g = std::make_unique<Gpu>(); g->step();
std::unique_ptr<Gpu> g(new Gpu); g->step();
std::unique_ptr<Gpu> g{new Gpu(8)}; if (g != nullptr) g->step();
std::shared_ptr<Gpu> g(new Gpu(8)); g->step();
std::unique_ptr<Base> g = std::make_unique<Gpu>(8); g->step();
for (int i = 0; i < c; i++) { auto g = std::make_unique<Gpu>(i); g->step(); }
if (c > 1) { auto g = std::make_unique<Gpu>(c); if (c > 2) return 1; g->step(); }
auto g = std::make_unique<Gpu>(8); auto h = std::make_unique<Gpu>(4); h->step(); g->step();""".splitlines()
HANDED_ON = """auto g = std::make_unique<Gpu>(8); unseen(std::move(g));
auto g = std::make_unique<Gpu>(8); Taker t{std::move(g)}; t.kept.release();
auto g = std::make_unique<Gpu>(8); g.release();
auto g = std::make_unique<Gpu>(8); std::unique_ptr<Gpu> &h = g; h.release();
auto g = std::make_unique<Gpu>(8); auto f = [&] { g.release(); }; f();
auto g = std::make_unique<Gpu>(8); std::vector<std::unique_ptr<Gpu>> v; v.push_back(std::move(g)); v.back().release();
auto g = std::make_unique<Gpu>(8); static std::unique_ptr<Gpu> h; h.swap(g);
auto g = std::make_shared<Gpu>(8); static auto h = g; h->step();
auto g = std::make_shared<Gpu>(8); static std::shared_ptr<Base> h(g); h->step();
auto g = std::make_shared<Known>(); g->step();""".splitlines()


@pytest.mark.parametrize("body", OWNED)
def test_an_object_that_a_local_smart_pointer_alone_owns_ends_with_it(body: str) -> None:
    source = f"{OBJECTS}int main(int c, char **) {{ {body} return 0; }}"
    report = driver.analyze({"a.cu": source.encode()}, Config())
    assert {f.safety.value for f in report.findings if b"Gpu(int" in source.encode()[f.offset - 60 : f.offset]} == {
        "proven"
    }


@pytest.mark.parametrize("body", HANDED_ON)
def test_an_object_that_may_get_another_owner_does_not_end_with_the_first(body: str) -> None:
    source = f"{OBJECTS}{OTHERS}int main(int c, char **) {{ {body} return 0; }}"
    report = driver.analyze({"a.cu": source.encode()}, Config())
    concerned = b"Known()" if "Known" in body else b"Gpu(int"
    assert not any(concerned in source.encode()[f.offset - 60 : f.offset] for f in report.findings)


def test_the_wait_of_a_destructor_that_a_smart_pointer_runs_is_kept() -> None:
    """The kernel on the other stream is waited for by the `cudaFree` in the destructor, at the end of the block."""
    source = (
        OBJECTS
        + """
__global__ void fill(int *h) { *h = 1; }
int main() {
    int *h;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMallocHost(&h, 4);
    {
        auto g = std::make_unique<Gpu>(8);
        fill<<<1, 1, 0, s>>>(h);
    }
    return *h;
}
"""
    )
    report = driver.analyze({"a.cu": source.encode()}, Config())
    moved = [f for f in report.findings if b"Gpu(int" in source.encode()[f.offset - 60 : f.offset]]
    assert all(any(b"cudaStreamSynchronize(s)" in edit.text for edit in f.edits) for f in moved)


# a stream that an object destroys which a template ends: nothing may be inserted on it behind that
STREAMS = r"""
auto c = std::make_shared<Ctx>(); auto b = c; c->s = other; run(d, other); c.reset(); b.reset();
auto c = std::make_shared<Made>(); auto b = c; run(d, c->s); c.reset(); b.reset();
{ std::vector<Ctx> c(1); c[0].s = other; run(d, other); }
std::vector<Ctx> c; c.emplace_back(); c[0].s = other; run(d, other); c.pop_back();
struct W { std::vector<Ctx> c; }; { W w; w.c.resize(1); w.c[0].s = other; run(d, other); }
struct W { std::shared_ptr<Ctx> c; }; { W w; w.c.reset(new Ctx{other}); run(d, other); }
{ std::optional<Ctx> c; c.emplace(Ctx{other}); run(d, other); }
run(d, other); std::make_unique<Ctx>(Ctx{other});
std::shared_ptr<Ctx> c(new Ctx{other}), b = c; run(d, other); c = nullptr; b = nullptr;
std::vector<std::unique_ptr<Ctx>> c; c.emplace_back(new Ctx{other}); run(d, other); c.clear();
"""
CONTEXTS = """
struct Ctx { cudaStream_t s; ~Ctx() { cudaStreamDestroy(s); } };
struct Made {
    cudaStream_t s;
    Made() { cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); }
    ~Made() { cudaStreamDestroy(s); }
};
"""


@pytest.mark.parametrize("body", cases(STREAMS))
def test_a_stream_may_be_destroyed_where_no_call_is_written(body: str) -> None:
    report = analyze(CONTEXTS + MAIN % body)
    assert report.refusals
    assert not report.findings


@pytest.mark.parametrize("body", ["Ctx c{other};", "std::unique_ptr<Ctx> c(new Ctx{other});"])
def test_where_the_end_of_an_object_is_seen_its_stream_is_waited_for_before(body: str) -> None:
    report = analyze(CONTEXTS + MAIN % f"{{ {body} run(d, other); }}")
    assert [f.safety.value for f in report.findings] == ["proven"]
