"""The host waits behind a loop for what it need not wait for in each round."""

from __future__ import annotations

import pytest

from cudafix.findings import Runs
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply
from tests import fixtures

PROGRAM = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void k(float *p, float *h) {{ p[0] = 1; h[0] = 2; }}
int look(float *h) {{ return h[0] > 1; }}
int main(int n, char **argv) {{
    float *d, *h;
    cudaStream_t s, t;
    cudaMallocHost(&h, 4);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    {body}
    printf("%f", h[0]);
    return 0;
}}
"""
USE = "cudaMalloc(&d, 4); k<<<1, 1, 0, s>>>(d, h);"
WAIT = "cudaStreamSynchronize("


def migrated(text: str) -> str:
    report = driver.analyze({"main.cu": text.encode()}, Config(default_stream="legacy"))
    assert not report.refusals
    return apply(text.encode(), [edit for finding in report.findings for edit in finding.edits]).decode()


def in_main(text: str) -> str:
    return "".join(text[text.index("int main") :].replace("keep_pool_memory();", "").split())


# @R stands for a round, @U for one without its free; the wait is wanted at `@W`
CASES = {
    "a for": "for (int i = 0; i < n; i++) { @R } @W",
    "a while": "while (n--) { @R } @W",
    "a do": "do { @R } while (n--); @W",
    "a round without braces around it": "for (int i = 0; i < n; i++)\n    { @R }\n    @W",
    "behind both": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { @R } } @W",
    "behind the inner one": "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { @R } @W look(h); }",
    "with a break": "for (int i = 0; i < n; i++) { @R if (i == rand()) break; } @W",
    "with a continue": "for (int i = 0; i < n; i++) { if (i == 7) continue; @R } @W",
    "behind a comment": "puts(\"1\"); // if (n)\n    for (int i = 0; i < n; i++) { @R } @W",
    # the host looks in each round
    "read in the round": "for (int i = 0; i < n; i++) { @U @W cudaFree(d); look(h); }",
    "written in the round": "for (int i = 0; i < n; i++) { h[0] = i; @U @W cudaFree(d); }",
    # a way out of the loop does not pass behind it
    "a return": "for (int i = 0; i < n; i++) { @U @W cudaFree(d); if (i == 7) return look(h); }",
    "a goto": "for (int i = 0; i < n; i++) { @U @W cudaFree(d); if (i == 7) goto end; } look(h); end:",
    # there is no place behind it, or the stream has another name there, or is another one
    "a branch without braces": "if (n > 1) for (int i = 0; i < n; i++) { @U @W cudaFree(d); }",
    "a stream of the round": """for (int i = 0; i < n; i++) {
        cudaStream_t u; cudaStreamCreate(&u);
        cudaMalloc(&d, 4); k<<<1, 1, 0, u>>>(d, h); @W cudaFree(d); cudaStreamDestroy(u); }""",
    "another one in the next round": """for (int i = 0; i < n; i++) {
        @U @W cudaFree(d); cudaStream_t u = s; s = t; t = u; }""",
}  # fmt: skip


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_the_host_waits_where_it_has_to(body: str) -> None:
    body = PROGRAM.format(body=body.replace("@R", "@U cudaFree(d);").replace("@U", USE))
    stream = "0" if "cudaStream_t u" in body else "s"
    wanted = body.replace("@W", f"cudaStreamSynchronize({'u' if ', u>>>' in body else 's'});")
    wanted = wanted.replace("cudaMalloc(&d, 4)", f"cudaMallocAsync(&d, 4, {stream})")
    wanted = wanted.replace("cudaFree(d)", f"cudaFreeAsync(d, {stream})")
    assert in_main(migrated(body.replace("@W", ""))) == in_main(wanted)


def test_a_macro_that_is_a_loop_keeps_its_wait() -> None:
    macro = "#define ROUNDS(n) for (int r = 0; r < n; r++) { @U cudaFree(d); }\n".replace("@U", USE)
    text = PROGRAM.format(body="ROUNDS(4)").replace("int look", macro + "int look")
    after = migrated(text)
    assert WAIT in after[after.index("define ROUNDS") : after.index("int look")]
    assert after.count(WAIT) == 1


@pytest.mark.parametrize(
    ("test", "runs"), [("break;", Runs.ONCE), ("continue;", Runs.CHURN)], ids=["breaks", "a_continue_is_not_looked_at"]
)
def test_a_block_that_breaks_leave_is_no_loop(test: str, runs: Runs) -> None:
    text = f"""#include <cuda_runtime.h>
__global__ void fill(int *p) {{ p[0] = 1; }}
int main() {{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    do {{
        int *p;
        if (cudaMalloc(&p, 4) != cudaSuccess) {test}
        fill<<<1, 1, 0, stream>>>(p);
        cudaFree(p);
    }} while (0);
}}
"""
    assert [finding.runs for finding in fixtures.report_of({"main.cu": text.encode()}).findings] == [runs]


PYTHON = """from cuda import cudart


def run(n, h, s, t):
    for i in range(n):
        _, p = cudart.cudaMalloc(4096)
        cudart.cudaMemsetAsync(p, 0, 4096, s)
        {use}
        cudart.cudaFree(p)
    {behind}
    print(h)


_, h = cudart.cudaMallocHost(4096)
run(3, h, cudart.cudaStreamCreateWithFlags(1)[1], cudart.cudaStreamCreateWithFlags(1)[1])
"""
READ, OTHER = "cudart.cudaMemcpyAsync(h, p, 4, 2, s)", "cudart.cudaMemsetAsync(p, 1, 4096, t)"


@pytest.mark.parametrize(
    ("use", "behind", "inside", "outside"),
    [
        (READ, "pass", [], ["StreamSynchronize"]),
        (f"{READ}; print(h)", "pass", ["StreamSynchronize"], []),
        (READ, "else: print(h)", ["StreamSynchronize"], []),
        (
            f"cudart.cudaStreamSynchronize(s); {OTHER}; cudart.cudaMemsetAsync(p, 2, 4096, s)",
            "cudart.cudaDeviceSynchronize()",
            ["EventRecord", "StreamWaitEvent"],
            ["EventCreateWithFlags", "EventDestroy"],
        ),
    ],
    ids=["read behind the loop", "read in the round", "read in its else", "an event"],
)
def test_python_has_such_places_too(use: str, behind: str, inside: list[str], outside: list[str]) -> None:
    text = PYTHON.format(use=use, behind=behind).encode()
    report = driver.analyze({"main.py": text}, Config())
    assert not report.refusals
    after = apply(text, [edit for finding in report.findings for edit in finding.edits]).decode()
    added = [line for line in after.splitlines() if line.strip() and line not in text.decode()]
    for depth, names in ((8, inside), (4, outside)):
        found = [name for line in added if len(line) - len(line.lstrip()) == depth for name in NAMES if name in line]
        assert found == names


NAMES = ("StreamSynchronize", "EventRecord", "StreamWaitEvent", "EventCreateWithFlags", "EventDestroy")
