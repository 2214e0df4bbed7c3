"""The host waits once in front of several branches, or calls, for what it would wait for in each of them."""

from __future__ import annotations

import re

import pytest

from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply

PROGRAM = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void k(int *p, int *h) {{ p[0] = 1; h[0] = 2; }}
int look(int *h) {{ return h[0]; }}
void drop(int *&x) {{ if (x) {{ cudaFree(x); x = nullptr; }} }}
int main(int n, char **argv) {{
    int *p = nullptr, *q = nullptr, *h;
    cudaStream_t s, t;
    cudaMallocHost(&h, 8);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    {body}
    printf("%d", h[0]);
    return 0;
}}
"""

# @P and @Q allocate and use, p and q, on one stream; F(…) frees; the waits are wanted at `@W`
CASES = {
    "two that ask for memory": "@P @Q @W if (p) F(p); if (q) F(q);",
    "both ways": "@P @W if (n > 1) { puts(\"1\"); F(p); } else F(p);",
    # more work lies between
    "work between": "@P if (p) { @W F(p); } @Q if (q) { @W F(q); }",
    # what stands in front of it would run mostly for others
    "an error is handled": "@P if (n > 3) { @W F(p); return look(h); } if (n > 2) { @W F(p); exit(look(h)); } @W F(p);",
    "the memory is mostly kept": """@P @Q for (int i = 0; i < n; i++) {
        if (n > 7) { @W F(p); look(h); cudaMalloc(&p, 4 * n); }
        if (n > 9) { @W F(q); look(h); cudaMalloc(&q, 4 * n); }
        k<<<1, 1, 0, s>>>(p, h); k<<<1, 1, 0, s>>>(q, h); }""",
}  # fmt: skip


def _in_main(text: str) -> str:
    kept = re.sub(r"keep_pool_memory\(\);|[{}\s]", "", text[text.index("int main") :])
    return kept.replace("CHECK", "")


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_there_is_one_wait_where_one_is_enough(body: str) -> None:
    for name, memory in (("@P", "p"), ("@Q", "q")):
        body = body.replace(name, f"cudaMalloc(&{memory}, 4); k<<<1, 1, 0, s>>>({memory}, h);")
    text = PROGRAM.format(body=re.sub(r"@W|F(?=\()", lambda at: {"@W": "", "F": "cudaFree"}[at[0]], body))
    report = driver.analyze({"main.cu": text.encode()}, Config(default_stream="legacy"))
    assert not report.refusals
    wanted = re.sub(r"\bF\((\w)\)", r"cudaFreeAsync(\1, s)", body.replace("@W", "cudaStreamSynchronize(s);"))
    wanted = re.sub(r"cudaMalloc\(([^;]*)\);", r"cudaMallocAsync(\1, s);", wanted)
    after = apply(text.encode(), [edit for finding in report.findings for edit in finding.edits]).decode()
    assert _in_main(after) == _in_main(PROGRAM.format(body=wanted))


@pytest.mark.parametrize(
    ("between", "waits"),
    [
        ("", ["cudaStreamSynchronize(0);drop(p"]),
        ("look(h); k<<<1, 1>>>(q, h);", ["cudaStreamSynchronize(0);cudaFreeAsync(x"]),
    ],
    ids=["nothing happens between the calls", "both calls need it"],
)
def test_there_is_one_wait_for_several_calls(between: str, waits: list[str]) -> None:
    body = "cudaMalloc(&p, 4); cudaMalloc(&q, 4); k<<<1, 1>>>(p, h); drop(p); @B drop(q);".replace("@B", between)
    text = PROGRAM.format(body=body)
    report = driver.analyze({"main.cu": text.encode()}, Config(default_stream="legacy"))
    after = apply(text.encode(), [edit for finding in report.findings for edit in finding.edits]).decode()
    assert re.findall(r"cudaStreamSynchronize\(0\);\w+\(\w", re.sub(r"\s", "", after)) == waits
