"""A program whose buffer a kernel uses on `other`, a non-blocking stream, in a way that no plain call shows.

A free on the default stream that nothing orders behind that kernel would be a wrong rewrite: the pair has to stay, or
to move to `other`.
"""

from __future__ import annotations

from cudafix.findings import Report
from cudafix.pipeline import driver
from cudafix.project.config import Config

HEAD = """
#include <cuda_runtime.h>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>
__global__ void k(int *v) { *v = 1; }
template <class F> void submit(F f);
void run(int *d, cudaStream_t s) { k<<<1, 1, 0, s>>>(d); }
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


def analyze(*files: str) -> Report:
    """The report on `main.cu`, which is `HEAD` and the first text, and on headers and sources `1.h`, `2.cu`, …"""
    texts = {"main.cu": HEAD + files[0]}
    for number, text in enumerate(files[1:], 1):
        texts[f"{number}.{'cu' if '#include' in text else 'h'}"] = text
    return driver.analyze({path: text.encode() for path, text in texts.items()}, Config())


def check(report: Report) -> None:
    """The pair stays, or it is freed on `other`, also where the fix rests on an assumption about unseen code."""
    moved = [f for f in report.findings if f.codemod == "stream_ordered_pairs"]
    assert moved or report.refusals
    for finding in moved:
        assert any(place.text == "freed on `other`" for place in finding.related)
