"""A tree of any size, the same for the same arguments: projects of ten files, one in `--every` with allocations.

    python benchmarks/generate_tree.py FOLDER [--files 50000] [--every 10] [--kilobytes 9]

Such a project is a program of its own: `main.cu` allocates, launches and frees, a source beside it releases, and both
include headers of the project and one that all projects share. The other projects are the rest of such a repository:
kernels, host code and headers that never name an allocation. What is timed is `benchmarks/speed.py FOLDER`.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

SHARED = """#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(call) do { if ((call) != cudaSuccess) { printf("%s\\n", #call); exit(1); } } while (0)
"""
MAIN = """#include "../shared/check.h"
#include "project.h"

__global__ void scale(float *v, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= {number};
}}

int main() {{
    const int n = {number} * 256;
    float *d_v, *h_v = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; i++) h_v[i] = i;
    CHECK(cudaMalloc(&d_v, n * sizeof(float)));
    CHECK(cudaMemcpy(d_v, h_v, n * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<n / 256, 256>>>(d_v, n);
    CHECK(cudaMemcpy(h_v, d_v, n * sizeof(float), cudaMemcpyDeviceToHost));
    release_{project}(d_v);
    printf("%f\\n", h_v[1] + work_{project}_0(n, 1));
    free(h_v);
    return 0;
}}
"""
RELEASE = """#include "project.h"
#include "../shared/check.h"

void release_{project}(float *d_v) {{
    CHECK(cudaFree(d_v));
}}
"""
FUNCTION = """
{qualifier}double work_{project}_{number}(int n, double x) {{
    double sum = {constant};
    for (int i = 0; i < n; i++) {{
        if (i % {modulus} == 0) {{
            sum += x * i + {constant}; // term {number}
        }} else {{
            sum -= (x + {modulus}) / (i + 1);
        }}
    }}
    return sum;
}}
"""


def filler(chance: random.Random, project: int, first: int, size: int, qualifier: str) -> str:
    """Functions of about this size together, in bytes."""
    text, number = "", first
    while len(text) < size:
        values = {"constant": chance.randint(1, 999), "modulus": chance.randint(2, 9)}
        text += FUNCTION.format(qualifier=qualifier, project=project, number=number, **values)
        number += 1
    return text


def write_project(folder: Path, project: int, size: int, allocates: bool) -> None:
    """Write the ten files of a project."""
    chance = random.Random(project)  # noqa: S311 the same tree each time
    own = folder / f"p{project // 100:04}" / f"project{project:06}"
    own.mkdir(parents=True, exist_ok=True)
    release = f"void release_{project}(float *d_v);\n" if allocates else ""
    (own / "project.h").write_text(f"#pragma once\n{release}" + filler(chance, project, 0, size, "inline "))
    if allocates:
        (own / "main.cu").write_text(MAIN.format(project=project, number=chance.randint(2, 99)))
        (own / "release.cu").write_text(RELEASE.format(project=project))
    else:
        text = filler(chance, project, 2000, size, "__host__ __device__ ")
        (own / "main.cu").write_text(f'#include "project.h"\n{text}\nint main() {{ return 0; }}\n')
        (own / "release.cu").write_text(f'#include "project.h"\n{filler(chance, project, 1000, size, "")}')
    for n in range(7):
        suffix = ("cu", "cpp", "h", "cuh", "cpp", "c", "hpp")[n]
        text = filler(chance, project, 3000 + 1000 * n, size, "static ")
        (own / f"part{n}.{suffix}").write_text(f"#include <cmath>\n{text}")


def generate(folder: Path, files: int, every: int, kilobytes: int) -> None:
    """Write the tree."""
    for project in range(files // 10):
        write_project(folder, project, kilobytes * 1000, project % every == 0)
    for shared in sorted(folder.glob("p*")):
        (shared / "shared").mkdir(exist_ok=True)
        (shared / "shared" / "check.h").write_text(SHARED)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a tree of CUDA code to measure with.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--every", type=int, default=10, help="one project in so many has allocations")
    parser.add_argument("--kilobytes", type=int, default=9, help="size of a file, about")
    given = parser.parse_args()
    generate(given.folder, given.files, given.every, given.kilobytes)


if __name__ == "__main__":
    main()
