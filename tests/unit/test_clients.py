"""What nobody in the tree calls: proved under its most general client, with what is expected of that client."""

from __future__ import annotations

import pytest

from cudafix.findings import Finding, Report, Safety
from cudafix.pipeline import driver
from cudafix.project.config import Config

HEAD = """
#include <cuda_runtime.h>
#include <cstdio>
__global__ void k(float *p, int n) { p[0] = n; }
"""


def analyze(text: str) -> Report:
    return driver.analyze({"lib.cu": (HEAD + text).encode()}, Config())


def moved(text: str) -> Finding:
    report = analyze(text)
    (finding,) = (f for f in report.findings if f.codemod == "stream_ordered_pairs")
    assert finding.safety is Safety.ASSUMES
    return finding


def refused(text: str) -> set[str]:
    report = analyze(text)
    assert not report.findings
    return {refusal.name for refusal in report.refusals}


CLASS = """
class Scratch {
public:
    explicit Scratch(int n) { %(construct)s cudaMalloc(&d_, n); }
    ~Scratch() { %(destroy)s }
    %(functions)s
private:
    float *d_ = nullptr;
    cudaStream_t s_ = nullptr;
};
"""


def scratch(construct: str = "", destroy: str = "cudaFree(d_);", functions: str = "") -> str:
    return CLASS % {"construct": construct, "destroy": destroy, "functions": functions}


def test_constructor_and_destructor_are_a_pair() -> None:
    finding = moved(scratch(functions="void forward(int m) { k<<<1, 1>>>(d_, m); }"))
    (assumed,) = finding.assumptions
    assert "`Scratch`" in assumed


def test_the_stream_of_the_object_is_used_where_it_lives() -> None:
    finding = moved(
        scratch(
            construct="cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking);",
            destroy="cudaFree(d_); cudaStreamDestroy(s_);",
            functions="void forward(int m) { k<<<1, 1, 0, s_>>>(d_, m); }",
        )
    )
    assert [e.text for e in finding.edits].count(b", s_") == 2


def test_functions_run_in_any_order_and_number() -> None:
    finding = moved(
        """
        class Buffer {
        public:
            Buffer() : d_(nullptr) { cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking); }
            ~Buffer() { release(); cudaStreamDestroy(s_); }
            void prepare(int n) { release(); cudaMalloc(&d_, n); }
            void release() { if (d_) { cudaFree(d_); d_ = nullptr; } }
            void use() { k<<<1, 1, 0, s_>>>(d_, 1); }
        private:
            float *d_;
            cudaStream_t s_;
        };
        """
    )
    assert any(b"cudaStreamSynchronize(s_)" in e.text for e in finding.edits)


@pytest.mark.parametrize(
    "functions",
    [
        "float *data() { return d_; }",
        "void data(float **out) { *out = d_; }",
        "void data(float *&out) { out = d_; }",
    ],
)
def test_what_is_handed_out_is_out_of_sight(functions: str) -> None:
    assert refused(scratch(functions=functions)) == {"escapes"}


def test_a_stream_of_the_caller_is_not_known_at_the_free() -> None:
    assert refused(scratch(functions="void forward(cudaStream_t s) { k<<<1, 1, 0, s>>>(d_, 1); }")) == {"out_of_order"}


def test_a_function_that_takes_the_object_is_part_of_its_class() -> None:
    user = """
    void use(Scratch &scratch, cudaStream_t s) { scratch.run(s); }
    """
    functions = "void run(cudaStream_t s) { k<<<1, 1, 0, s>>>(d_, 1); }"
    assert refused(scratch(functions=functions) + user) == {"out_of_order"}


def test_a_derived_class_is_a_client_too() -> None:
    report = analyze(
        """
        class Base {
        public:
            Base() { cudaMalloc(&d_, 4); }
            ~Base() { cudaFree(d_); }
        protected:
            float *d_;
        };
        class Derived : public Base {
        public:
            Derived() { cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking); }
            void run() { k<<<1, 1, 0, s_>>>(d_, 1); }
        private:
            cudaStream_t s_;
        };
        """
    )
    assert not report.findings


def test_a_device_that_changes_between_the_functions() -> None:
    assert "device_changes" in refused(scratch(functions="void pick(int n) { cudaSetDevice(n); }"))


GLOBALS = """
static float *buffer = nullptr;
static cudaStream_t stream;
void init(int n) {{ cudaStreamCreate(&stream); cudaMalloc(&buffer, n); }}
void step(int m) {{ k<<<1, 1, 0, stream>>>(buffer, m); }}
void finish() {{ {finish} cudaStreamDestroy(stream); }}
"""


def test_functions_that_share_a_global_are_one_client() -> None:
    finding = moved(GLOBALS.format(finish="cudaFree(buffer); buffer = nullptr;"))
    (assumed,) = finding.assumptions
    assert "`init`, `step`, `finish`" in assumed


def test_a_global_that_nobody_frees() -> None:
    assert refused(GLOBALS.format(finish="")) == {"free_not_found"}


def test_main_decides_where_it_calls_everything() -> None:
    text = scratch(functions="void forward(int m) { k<<<1, 1>>>(d_, m); }")
    report = analyze(text + "int main() { Scratch s(4); s.forward(1); return 0; }")
    (finding,) = (f for f in report.findings if f.codemod == "stream_ordered_pairs")
    assert finding.safety is Safety.PROVEN
