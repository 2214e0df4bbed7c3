"""Events that an object owns carry a wait from one of its functions to another: where they can be, and where not."""

from __future__ import annotations

import pytest

from cudafix.findings import Report
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite import edits

PROGRAM = """
#include <cuda_runtime.h>
__global__ void fill(int *v, int *w);
struct Buffer {{
    int *data = nullptr;
    {more}
    {constructor}
    ~Buffer() {{
        {free}
    }}
    {qualifier} void run(int *w, cudaStream_t stream{self}) {{
        {before}
        fill<<<1, 1, 0, stream>>>({of}data, w);
    }}
}};
int main() {{
    int *w, *h;
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMallocManaged(&w, 4);
    {body}
    cudaStreamSynchronize(s);
    cudaStreamSynchronize(t);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    return {ends};
}}
"""
USUAL = {
    "more": "",
    "constructor": "Buffer() { cudaMalloc(&data, 4); }",
    "free": "cudaFree(data);",
    "qualifier": "",
    "self": "",
    "before": "",
    "of": "",
    "body": "{ Buffer one; one.run(w, s); }",
    "ends": "0",
}


def report(**parts: str) -> tuple[Report, bytes]:
    text = PROGRAM.format(**(USUAL | parts)).encode()
    return driver.analyze({"main.cu": text}, Config()), text


def written(**parts: str) -> str:
    """The program as it is rewritten; empty where the buffer stays."""
    found, text = report(**parts)
    changes = [edit for finding in found.findings for edit in finding.edits]
    return edits.apply(text, changes).decode() if found.findings and not found.refusals else ""


def test_the_event_is_created_recorded_waited_for_and_destroyed() -> None:
    lines = [line.strip() for line in written().splitlines()]
    at = [
        lines.index(line)
        for line in (
            "cudaEvent_t run_done = nullptr;",
            "cudaStreamWaitEvent(0, run_done, 0);",
            "cudaFreeAsync(data, 0);",
            "cudaEventDestroy(run_done);",
            "fill<<<1, 1, 0, stream>>>(data, w);",
            "cudaEventRecord(run_done, stream);",
        )
    ]
    assert at == sorted(at)
    assert any("cudaEventCreateWithFlags(&run_done, cudaEventDisableTiming);" in line for line in lines)


def test_a_free_under_a_condition() -> None:
    text = written(free="if (data != nullptr)\n            cudaFree(data);")
    assert text.index("cudaStreamWaitEvent(0, run_done, 0);") < text.index("cudaFreeAsync(data, 0);")
    assert text.index("cudaFreeAsync(data, 0);") < text.index("cudaEventDestroy(run_done);")


def test_the_host_waits_for_the_event_where_it_looks_at_the_result() -> None:
    text = written(body="{ Buffer one; one.run(w, s); } int seen = *w;", ends="seen")
    assert text.index("cudaEventSynchronize(run_done);") < text.index("cudaFreeAsync(data, 0);")


def test_the_name_is_new_and_in_the_style_of_the_member() -> None:
    text = written(
        more="int m_run_done = 0; int *m_data = nullptr;",
        constructor="Buffer() { cudaMalloc(&m_data, 4); }",
        free="cudaFree(m_data);",
        of="m_",
    )
    assert "cudaEvent_t m_run_done_again = nullptr;" in text


def test_each_constructor_creates_the_event() -> None:
    text = written(
        constructor="Buffer() { cudaMalloc(&data, 4); } explicit Buffer(int n) { cudaMalloc(&data, n); }",
        body="{ Buffer one, other(8); one.run(w, s); other.run(w, s); }",
    )
    assert text.count("cudaEventCreateWithFlags(&run_done,") == 2


IN_THE_WAY = {
    "two streams": {"body": "{ Buffer one; one.run(w, s); one.run(w, t); }"},
    "one of two streams": {
        "body": "for (int i = 0; i < 4; ++i) { Buffer b; b.run(w, i % 2 ? s : t); b.run(w, i % 3 ? s : t); }"
    },
    "several objects of one place": {
        "body": """Buffer *all[4];
    for (int i = 0; i < 4; ++i) { all[i] = new Buffer; all[i]->run(w, s); }
    all[0]->run(w, t);
    for (int i = 0; i < 4; ++i) delete all[i];"""
    },
    "a copy": {
        "free": "if (data) cudaFree(data);",
        "body": "{ Buffer one; Buffer other = one; other.run(w, s); other.data = nullptr; }",
    },
    "a constructor of the compiler": {
        "constructor": "Buffer() = default; explicit Buffer(int n) { cudaMalloc(&data, n); }",
        "body": "{ Buffer one, other(4); other.run(w, s); }",
    },
    "no statement to stand beside": {
        "constructor": "Buffer() {} void allocate() { cudaMalloc(&data, 4); }",
        "body": "{ Buffer one; one.allocate(); one.run(w, s); }",
    },
    "a constructor that hands over": {
        "constructor": "Buffer() : Buffer(4) { use(this); } explicit Buffer(int n) { cudaMalloc(&data, n); }"
    },
    "a constructor that returns early": {
        "constructor": "Buffer(bool c = true) { if (c) return; cudaMalloc(&data, 4); }",
        "body": "{ Buffer one(false); one.run(w, s); }",
    },
    "a destructor that returns early": {"free": "if (!data) return; cudaFree(data);"},
    "a static function": {
        "qualifier": "static",
        "self": ", Buffer &one",
        "of": "one.",
        "body": "{ Buffer one; Buffer::run(w, s, one); }",
    },
    "under capture": {
        "body": """{ Buffer one;
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
    one.run(w, s);
    cudaStreamEndCapture(s, &g);
    one.run(w, s); }"""
    },
    "another device": {"body": "{ Buffer one; cudaSetDevice(1); one.run(w, s); cudaSetDevice(0); }"},
    "a device that the constructor does not know": {
        "constructor": "Buffer() { use(0); } void allocate() { cudaMalloc(&data, 4); }",
        "body": "{ Buffer one; cudaSetDevice(1); one.allocate(); one.run(w, s); }",
    },
    "no constructor": {
        "constructor": "void allocate() { cudaMalloc(&data, 4); }",
        "body": "{ Buffer one; one.allocate(); one.run(w, s); }",
    },
}


@pytest.mark.parametrize("parts", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_the_pair_stays(parts: dict[str, str]) -> None:
    found, _ = report(**parts)
    assert not found.findings
    assert found.refusals
