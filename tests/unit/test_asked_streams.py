"""`stream` of the configuration: where an expression names the stream, and where it does not."""

from __future__ import annotations

from functools import cache

import pytest

from cudafix.pipeline import driver
from cudafix.project import stream_names
from cudafix.project.config import Config, Override

HEAD = """#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
struct Base { virtual cudaStream_t lane() const { return s; } cudaStream_t s; };
struct Other : Base { cudaStream_t lane() const override { return t; } cudaStream_t t; };
struct Lanes { cudaStream_t first() const { return a; } cudaStream_t a; };
static cudaStream_t shared;
cudaStream_t current() { return shared; }
class Context {
  public:
    Context() { cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking); lanes_.a = s_; count_ = 0; }
    ~Context() { cudaStreamDestroy(s_); }
    cudaStream_t stream() const { return s_; }
    cudaStream_t counted() { count_++; return s_; }
    cudaStream_t first() const { return lanes_.first(); }
    const Lanes &lanes() const { return lanes_; }
    void run();
  private:
    cudaStream_t s_;
    Lanes lanes_;
    int count_;
};
"""
USE = "float *d; cudaMalloc(&d, 4); k<<<1, 1, 0, ctx.stream()>>>(d); cudaFree(d);"
RUN = USE.replace("ctx.stream()", "s_").join(["void Context::run() { ", " }\nint main() { Context c; c.run(); }"])


def moved(main: str, asked: str, overrides: tuple[Override, ...] = ()) -> str:
    """On which stream the pair of a program is allocated, else why not; the text that is written has been proved."""
    data = (HEAD + main).encode()
    config = Config(stream=stream_names.parse(asked) if asked else None, overrides=overrides)
    report = driver.analyze({"main.cu": data}, config)
    (message,) = [*(f.message for f in report.findings), *(r.message for r in report.refusals)]
    return message.removeprefix("moves to stream ")


@cache
def plain(main: str) -> str:
    return moved(main, "")


@pytest.mark.parametrize(
    ("main", "asked"),
    [
        (f"int main() {{ Context ctx; {USE} }}", "ctx.stream()"),
        (f"int main() {{ Context ctx; {USE} }}", "ctx.first()"),
        (f"int main() {{ Context ctx; {USE} }}", "ctx.lanes().a"),
        (f"void f(Context &ctx) {{ {USE} }}\nint main() {{ Context c; f(c); }}", "ctx.stream()"),
        (f"void f(Context *p) {{ Context &ctx = *p; {USE} }}\nint main() {{ Context c; f(&c); }}", "p->stream()"),
        (RUN, "stream()"),
        (RUN, "this->s_"),
        (
            "int main() { cudaStreamCreate(&shared); float *d; cudaMalloc(&d, 4); k<<<1, 1, 0, shared>>>(d);"
            " cudaFree(d); }",
            "current()",
        ),
    ],
    ids=["getter", "getter of a getter", "reference", "parameter", "pointer", "own method", "this", "function"],
)
def test_it_names_the_stream_that_it_means(main: str, asked: str) -> None:
    assert moved(main, asked) == f"`{asked}`"


@pytest.mark.parametrize(
    ("main", "asked"),
    [
        (f"int main() {{ Context ctx; {USE} }}", "ctx.counted()"),
        (f"int main() {{ Context ctx; {USE} }}", "ctx.nothing()"),
        (f"int main() {{ Context ctx; {USE} }}", "ctx.s_"),
        (f"int main() {{ Context ctx, other; {USE} }}", "other.stream()"),
        (
            "void f(Context *p) { float *d; cudaMalloc(&d, 4); if (p) k<<<1, 1, 0, p->stream()>>>(d);"
            " cudaDeviceSynchronize(); cudaFree(d); }\n"
            "int main(int n, char **) { Context c; f(n > 1 ? &c : nullptr); }",
            "p->stream()",
        ),
        (f"Context other;\nint main() {{ Context ctx; {USE} {{ Context other; }} }}", "other.stream()"),
        (
            "void f(Base &b) { float *d; cudaMalloc(&d, 4); k<<<1, 1, 0, b.s>>>(d); cudaFree(d); }\n"
            "int main() { Other o; cudaStreamCreate(&o.s); cudaStreamCreate(&o.t); f(o); }",
            "b.lane()",
        ),
    ],
    ids=["it does more", "it is not there", "it is private", "another stream", "null", "another variable", "virtual"],
)
def test_it_is_not_used_where_it_may_mean_another(main: str, asked: str) -> None:
    assert moved(main, asked) == plain(main)


def test_an_override_is_for_functions() -> None:
    main = f"void f(Context &ctx) {{ {USE} }}\nint main() {{ Context c; f(c); }}"
    asked = stream_names.parse("ctx.first()")
    for names, expected in (((), "`ctx.first()`"), (("f",), "`ctx.first()`"), (("g",), "`ctx.stream()`")):
        override = Override(("main.cu",), stream=asked, functions=names)
        assert moved(main, "ctx.stream()", (override,)) == expected


def test_work_on_a_stream_without_a_name_is_told() -> None:
    use = USE.replace("ctx.stream()", "ctx.counted()")
    use = use.replace("cudaFree", "cudaStreamSynchronize(ctx.counted()); cudaFree")
    data = (HEAD + f"int main() {{ Context ctx; {use} }}").encode()
    (finding,) = driver.analyze({"main.cu": data}, Config()).findings
    (place,) = [place for place in finding.related if "another stream than `0`" in place.text]
    assert data[place.offset :].startswith(b"k<<<")


def test_a_migration_by_hand_may_name_it() -> None:
    before = (HEAD + f"int main() {{ Context ctx; {USE} }}").encode()
    after = before.replace(b"cudaMalloc(&d, 4)", b"cudaMallocAsync(&d, 4, ctx.NAME())").replace(
        b"cudaFree(d); }\n}", b"cudaFreeAsync(d, ctx.NAME()); }\n}"
    )
    after = after.replace(b"(d); cudaFree(d);", b"(d); cudaFreeAsync(d, ctx.NAME());")
    for name, proved in ((b"first", True), (b"counted", False)):
        found = driver.prove({"main.cu": before}, {"main.cu": after.replace(b"NAME", name)}, Config())
        assert (not found) is proved, found


@pytest.mark.parametrize("text", ["", "s +", "f(1)", "a; b", "this", "ctx..s", "a[i]", "x()()", "0", "(s)"])
def test_other_expressions_are_none(text: str) -> None:
    assert stream_names.parse(text) is None
