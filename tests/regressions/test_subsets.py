"""Any of the fixes may be taken without the others: what is then written is proved as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import pytest

from cudafix.findings import Report
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.report.selection import select
from cudafix.rewrite import edits
from cudafix.verify.cases import sources_of
from tests.cases import Case, cases

pytestmark = pytest.mark.exhaustive

UNSAFE = Config(unsafe=True)


def against(files: Mapping[str, bytes], report: Report, groups: Collection[int]) -> list[str]:
    """Why the files with the fixes of these groups only are no right rewrite."""
    picked = [(f.path, f.offset, f.codemod) for f in report.findings if f.group in groups]
    chosen = select(report, UNSAFE, picked=picked)
    after = {path: edits.apply(files.get(path, b""), changes) for path, changes in chosen.edits().items()}
    return driver.prove(files, {**files, **after}, UNSAFE)


def groups_of(report: Report) -> list[int]:
    return sorted({finding.group for finding in report.findings if finding.group})


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_group_of_a_fixture_holds_alone_and_is_not_needed_by_the_others(case: Case) -> None:
    files = sources_of(case.files("before"))
    report = driver.analyze(files, UNSAFE)
    groups = groups_of(report)
    for group in groups if len(groups) > 1 else ():
        assert not against(files, report, {group})
        assert not against(files, report, set(groups) - {group})


HEAD = """#include <cuda_runtime.h>
__global__ void one(int *p) { p[0] = 1; }
__global__ void two(int *p, int *q) { p[0] = q[0]; }
int main() {
    int *p, *q, *r, *h;
    cudaStream_t s, t;
    cudaMallocHost(&h, 4);
"""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
    cudaMalloc(&p, 4);
    cudaMalloc(&q, 4);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    two<<<1, 1, 0, s>>>(p, q);
    cudaStreamSynchronize(s);
    cudaFree(p);
    cudaFree(q);
}
""",
            id="one wait serves two allocations",
        ),
        pytest.param(
            """
    cudaMalloc(&p, 4);
    cudaMalloc(&q, 4);
    cudaMalloc(&r, 4);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    one<<<1, 1, 0, s>>>(q);
    two<<<1, 1, 0, t>>>(p, r);
    cudaDeviceSynchronize();
    cudaFree(r);
    cudaFree(q);
    cudaFree(p);
}
""",
            id="either of two waits would do",
        ),
        pytest.param(
            """
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaMalloc(&p, 4);
    cudaMalloc(&q, 4);
    cudaMalloc(&r, 4);
    one<<<1, 1, 0, s>>>(p);
    one<<<1, 1, 0, t>>>(q);
    cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(p);
    cudaFree(q);
    h[0]++;
    cudaMemcpyAsync(h, r, 4, cudaMemcpyDeviceToHost, t);
    cudaFree(r);
    return h[0];
}
""",
            id="each free was a wait for the host",
        ),
    ],
)
def test_every_subset_holds(body: str) -> None:
    files = {"main.cu": (HEAD + body).encode()}
    report = driver.analyze(files, UNSAFE)
    groups = groups_of(report)
    assert len(groups) == body.count("cudaMalloc(")
    for size in range(1, len(groups) + 1):
        for some in combinations(groups, size):
            assert not against(files, report, some), some


def test_pairs_that_lean_on_the_order_which_others_make_move_together() -> None:
    """`cudaMallocAsync` on the legacy stream stands between the work of two blocking streams; `cudaMalloc` does not."""
    body = """
    cudaStream_t u;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
    cudaMallocManaged(&r, 4);
    cudaMalloc(&p, 4);
    one<<<1, 1, 0, s>>>(r);
    one<<<1, 1, 0, u>>>(p);
    cudaFree(p);
    cudaMalloc(&q, 4);
    one<<<1, 1, 0, t>>>(r);
    one<<<1, 1>>>(q);
    cudaDeviceSynchronize();
    cudaFree(q);
}
"""
    files = {"main.cu": (HEAD + body).encode()}
    report = driver.analyze(files, UNSAFE)
    assert len(report.findings) == 2
    assert len(groups_of(report)) == 1
    assert not against(files, report, groups_of(report))
