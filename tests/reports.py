"""A small tree with every kind of result, and its report in each format. `python -m tests.reports` writes the files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cudafix import __version__
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.report.listing import Listing
from cudafix.report.machine import FORMATS, render
from cudafix.report.selection import select

GOLDEN = Path(__file__).parent / "golden"
TREE = {
    # a pair in a loop behind characters of two and four bytes, a pair that runs once, and a blank in the path
    "src/two pairs.cu": b"""\xef\xbb\xbf#include <cuda_runtime.h>\r
__global__ void fill(float *p) { p[0] = 1; }\r
int main() {\r
    float *once;\r
    cudaMalloc(&once, 4);\r
    for (int i = 0; i < 9; i++) {\r
        float *d;\r
        /* \xc3\xa9 \xf0\x9f\x9a\x80 */ cudaMalloc(&d, 4); /* 100%, */\r
        fill<<<1, 1>>>(d);\r
        cudaFree(d);\r
    }\r
    cudaFree(once);\r
}\r
""",
    # refused: nothing frees it
    "src/refused.cu": b"""#include <cuda_runtime.h>
int main() {
    float *d;
    cudaMalloc(&d, 4);
}
""",
    # left for `--unsafe`: the caller is not seen
    "src/assumed.cu": b"""#include <cuda_runtime.h>
__global__ void assume(float *p) { p[0] = 1; }
void work() {
    float *d;
    cudaMalloc(&d, 4);
    assume<<<1, 1>>>(d);
    cudaFree(d);
}
""",
    # a defect
    "src/race.cu": b"""#include <cuda_runtime.h>
__global__ void race(float *p) { p[0] = 1; }
int main() {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    float *d;
    cudaMallocAsync(&d, 4, s);
    race<<<1, 1, 0, t>>>(d);
    cudaFreeAsync(d, t);
    cudaStreamSynchronize(t);
}
""",
}


def listing(tree: Mapping[str, bytes] = TREE, config: Config | None = None) -> Listing:
    """What `check` would report for a tree that lies in the current folder."""
    config = config or Config()
    report = analyze(tree, config)
    return Listing(tree, report, select(report, config))


def golden(name: str) -> Path:
    return GOLDEN / f"report.{name}"


def rendered(name: str) -> bytes:
    """The report, less what changes with the pages and with the version."""
    text = render(name, listing()).decode()
    if name == "sarif":
        text = re.sub(r'("help": \{)\n.*?\n( *\},)', r"\1\2", text, flags=re.DOTALL)
        text = text.replace(f'"{__version__}"', '"VERSION"')
    return text.encode()


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in FORMATS:
        golden(name).write_bytes(rendered(name))
