"""What a proof costs as a program grows: processor time for long functions, deep calls and many files.

    python benchmarks/costs.py [--files 1000]

Each is measured at a size, and at twice and four times that size. `ratio` is how much longer the last takes than the
first: 4 if the cost is linear.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from cudafix.findings import Report
from cudafix.pipeline import driver
from cudafix.project import discovery
from cudafix.project.config import Config

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import generate_tree

HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#define CHECK(call) do { if ((call) != cudaSuccess) { printf("%s\\n", #call); return 1; } } while (0)
__global__ void scale(float *v, int n) { v[threadIdx.x] *= n; }
"""
SITES = 10
STEPS = (
    "    scale<<<1, 32, 0, {s}>>>(d{site}, {n});",
    "    CHECK(cudaGetLastError());",
    "    h[{n} % 32] += {n};",
    "    CHECK(cudaMemcpyAsync(d{site}, h, sizeof(h), cudaMemcpyHostToDevice, {s}));",
    '    if (h[0] > {n}) printf("%f\\n", h[{n} % 32]);',
)


def long_function(statements: int, streams: str = "s") -> dict[str, bytes]:
    """One function with this many statements and `SITES` buffers. On several `streams`, each of which works on every
    buffer, the frees need waits.
    """
    names = ", ".join(f"*d{site}" for site in range(SITES))
    lines = [f"int main() {{\n    float h[32] = {{1}}, {names};\n    cudaStream_t {', '.join(streams)};"]
    lines += [f"    CHECK(cudaStreamCreateWithFlags(&{s}, cudaStreamNonBlocking));" for s in streams]
    lines += [f"    CHECK(cudaMalloc(&d{site}, sizeof(h)));" for site in range(SITES)]
    for n in range(statements - 2 * SITES - 4):
        site = n // len(STEPS) % SITES
        stream = streams[n // len(STEPS) // SITES % len(streams)]
        lines.append(STEPS[n % len(STEPS)].format(n=n, site=site, s=stream))
    lines += [f"    CHECK(cudaFree(d{site}));" for site in range(SITES)]
    lines.append("    return 0;\n}\n")
    return {"main.cu": (HEAD + "\n".join(lines)).encode()}


def on_two_streams(statements: int) -> dict[str, bytes]:
    """The same with waits to insert."""
    return long_function(statements, "st")


def call_chain(depth: int) -> dict[str, bytes]:
    """Functions that each call the next one, this deep, and pass two buffers through; allocated, used and freed at the
    bottom.
    """
    parts = [
        HEAD,
        "int allocate_0(float **a, float **b) {\n    CHECK(cudaMalloc(a, 128));\n    CHECK(cudaMalloc(b, 128));\n"
        "    return 0;\n}\n",
        "int use_0(float *a, float *b, cudaStream_t s) {\n    scale<<<1, 32, 0, s>>>(a, 2);\n"
        "    CHECK(cudaMemcpyAsync(b, a, 128, cudaMemcpyDeviceToDevice, s));\n    return 0;\n}\n",
        "int release_0(float *a, float *b) {\n    CHECK(cudaFree(a));\n    CHECK(cudaFree(b));\n    return 0;\n}\n",
    ]
    for n in range(1, depth):
        for name, params, given in (
            ("allocate", "float **a, float **b", "a, b"),
            ("use", "float *a, float *b, cudaStream_t s", "a, b, s"),
            ("release", "float *a, float *b", "a, b"),
        ):
            parts.append(
                f"int {name}_{n}({params}) {{\n    int status = {name}_{n - 1}({given});\n"
                f'    if (status) printf("{n}\\n");\n    return status;\n}}\n'
            )
    last = depth - 1
    parts.append(
        "int main() {\n    float *a, *b;\n    cudaStream_t s;\n    CHECK(cudaStreamCreate(&s));\n"
        f"    for (int i = 0; i < 9; i++) {{\n        allocate_{last}(&a, &b);\n        use_{last}(a, b, s);\n"
        f"        release_{last}(a, b);\n    }}\n    return 0;\n}}\n"
    )
    return {"main.cu": "".join(parts).encode()}


def tree(files: int) -> Mapping[str, bytes]:
    """A tree of this many files, of which one in a hundred allocates."""
    with tempfile.TemporaryDirectory() as folder:
        generate_tree.generate(Path(folder), files, every=10, kilobytes=2)
        found = discovery.discover([folder], Config()).files
        return {path: bytes(found[path]) for path in found}


def measure(make: Callable[[int], Mapping[str, bytes]], size: int) -> tuple[float, Report]:
    """Seconds of processor time for a check, and what it says."""
    files = make(size)
    start = time.process_time()
    report = driver.analyze(files, Config())
    return time.process_time() - start, report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=1000, help="the largest tree")
    files = parser.parse_args().files
    print("| | size | s | size | s | size | s | ratio | rewritten |\n|---|---|---|---|---|---|---|---|---|")
    for name, make, largest in (
        ("statements of one function", long_function, 2000),
        ("the same on two streams", on_two_streams, 2000),
        ("functions that call each other", call_chain, 30),
        ("files", tree, files),
    ):
        measure(make, largest // 4)  # the parser and the tables are loaded
        seen = [(size, *measure(make, size)) for size in (largest // 4, largest // 2, largest)]
        cells = " | ".join(f"{size} | {seconds:.2f}" for size, seconds, _ in seen)
        report = seen[-1][2]
        print(f"| {name} | {cells} | {seen[-1][1] / seen[0][1]:.1f} | {len(report.findings)} of {report.sites} |")


if __name__ == "__main__":
    main()
