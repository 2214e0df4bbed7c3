"""Certificates: one path of the program as the engine ran it, before and after."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudafix.findings import Certificate, Finding, Refusal, Report, Step
from cudafix.pipeline import driver
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.report import words
from cudafix.report.terminal import PAIRS
from cudafix.verify.cases import sources_of
from tests.cases import Case, cases

pytestmark = pytest.mark.exhaustive

ASKED = Config(certificates=True)


def analyzed(text: str) -> Report:
    return driver.analyze({"main.cu": text.encode()}, ASKED)


def of(report: Report) -> Certificate:
    (item,) = items(report)
    assert item.certificate is not None
    return item.certificate


def told(steps: tuple[Step, ...]) -> list[str]:
    """Each step as `kind lane < steps that it waits for`."""
    return [
        f"{step.kind} {step.lane or 'host'}" + "".join(f" <{n}" for n in step.after) + " waits" * step.waits
        for step in steps
    ]


HEAD = """
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
__global__ void copy(const int *p, int *q) { q[0] = p[0]; }
"""


def test_a_counterexample_on_a_path_that_fails_is_shown_on_that_path() -> None:
    report = analyzed(
        HEAD
        + """
#include <cstdio>
int main(int argc, char **) {
    int *in, *out;
    cudaStream_t streams[8];
    cudaMallocHost(&out, 32);
    cudaMalloc(&in, 4);
    for (int i = 0; i < argc; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        copy<<<1, 1, 0, streams[i]>>>(in, out + i);
    }
    if (argc > 5) {
        cudaFree(in);
        printf("%d", out[0]);
        return 1;
    }
    cudaDeviceSynchronize();
    cudaFree(in);
    return 0;
}
"""
    )
    (refusal,) = items(report)
    shown = of(report)
    assert shown.lost is not None
    assert [shown.after[n].kind for n in shown.lost] == ["kernel", "free"]
    assert "synchronize" not in {step.kind for step in shown.after}
    said = [clause.text for clause in words.clauses(refusal)]
    assert "`cudaFree` makes the host wait between the two" in said


def test_a_use_behind_a_free_is_shown_with_the_free() -> None:
    report = analyzed(
        HEAD
        + """
void build(cudaGraph_t *graph, cudaStream_t s, int *p) {
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    fill<<<1, 1, 0, s>>>(p);
    cudaStreamEndCapture(s, graph);
}
void run(cudaStream_t s) {
    int *p;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMalloc(&p, 4);
    build(&graph, s, p);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaFree(p);
}
int main() {
    cudaStream_t s;
    cudaStreamCreate(&s);
    run(s);
    run(s);
}
"""
    )
    (refusal,) = items(report)
    shown = of(report)
    assert refusal.message == "`cudaGraphLaunch` may use memory that is freed by then"
    assert [place.text for place in refusal.related] == ["the memory is freed", "`cudaGraphLaunch`"]
    assert shown.lost is not None
    assert [shown.after[n].kind for n in shown.lost] == ["free", "work"]


def test_a_counterexample_in_a_failing_path_of_loops_without_rounds_is_shown_there() -> None:
    """Three pairs that are released together, and a loop in front of it that would wait: as in batchCUBLAS."""
    report = analyzed(
        HEAD
        + """
#include <cstdio>
int look(int *a, int *b, int *c, cudaStream_t *streams, int n, int test) {
    int *host = (int *)malloc(4);
    for (int i = 0; i < n; i++) {
        fill<<<1, 1, 0, streams[test]>>>(a);
        if (cudaGetLastError() != cudaSuccess) {
            if (a) cudaFree(a);
            if (b) cudaFree(b);
            if (c) cudaFree(c);
            return 0;
        }
    }
    for (int i = 0; i < n; i++)
        cudaStreamSynchronize(streams[i]);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 1;
}
int main(int argc, char **) {
    cudaStream_t streams[8];
    for (int i = 0; i < argc; i++)
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    int *a, *b, *c;
    cudaMalloc(&a, 4);
    cudaMalloc(&b, 4);
    cudaMalloc(&c, 4);
    printf("%d", look(a, b, c, streams, argc, argc));
    return 0;
}
"""
    )
    refusals = [refusal for refusal in report.refusals if refusal.order]
    assert refusals
    for refusal in refusals:
        shown = refusal.certificate
        assert shown is not None
        assert shown.lost is not None
        assert not shown.sketch
        assert "cudaStreamSynchronize" not in {step.place.text.strip("`") for step in shown.before}


def test_a_counterexample_that_no_single_path_shows_is_sketched() -> None:
    """In each program there is one kind of stream only, in the proof there may be both."""
    report = analyzed(
        HEAD
        + """
cudaStream_t make(int which) {
    cudaStream_t stream = nullptr;
    if (which)
        cudaStreamCreate(&stream);
    else
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}
void release(int *p) { cudaFree(p); }
int main(int argc, char **) {
    int *v;
    cudaStream_t stream = make(argc);
    cudaMalloc(&v, 4);
    fill<<<1, 1, 0, stream>>>(v);
    release(v);
    cudaStreamDestroy(stream);
    return 0;
}
"""
    )
    (refusal,) = items(report)
    shown = of(report)
    assert isinstance(refusal, Refusal)
    assert refusal.order
    assert shown.sketch
    assert told(shown.before) == ["kernel stream", "free host <0 waits"]
    assert shown.lost == (0, 1)
    assert [step.place[:2] for step in shown.after] == [place[:2] for place in refusal.related]


def test_where_no_order_can_be_drawn_the_page_says_so() -> None:
    report = analyzed(
        HEAD
        + """
int main() {
    int *v;
    cudaMalloc(&v, 64);
    fill<<<1, 1>>>(v);
    v++;
    cudaFree(v);
    return 0;
}
"""
    )
    (refusal,) = items(report)
    assert isinstance(refusal, Refusal)
    assert (refusal.name, refusal.order) == ("out_of_order", False)
    (said,) = words.clauses(refusal)
    assert said.text.startswith("no missing order can be drawn: what stands in the way is what the message says")


def test_of_arrays_the_page_says_that_their_release_has_no_line() -> None:
    source = """import cupy as cp

cp.cuda.set_allocator(None)
with cp.cuda.Stream(non_blocking=True):
    x = cp.arange(8)
"""
    (refusal,) = driver.analyze({"main.py": source.encode()}, ASKED).refusals
    assert refusal.name == "several_streams"
    (said,) = words.clauses(refusal)
    assert "one of the two operations is the release of an array" in said.text


def test_only_what_orders_this_memory_is_said() -> None:
    report = analyzed(
        HEAD
        + """
int main() {
    int *p, *q, *h;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    h = (int *)malloc(4);
    cudaMalloc(&q, 4);
    cudaMalloc(&p, 4);
    cudaMemcpy(h, q, 4, cudaMemcpyDeviceToHost);
    fill<<<1, 1>>>(p);
    cudaMemcpy(h, q, 4, cudaMemcpyDeviceToHost);
    copy<<<1, 1, 0, s>>>(p, q);
    cudaStreamSynchronize(s);
    cudaMemcpy(h, q, 4, cudaMemcpyDeviceToHost);
    cudaFree(p);
}
"""
    )
    (fix,) = (item for item in items(report) if isinstance(item, Finding))
    assert [clause.text for clause in words.clauses(fix) if clause.about == "ordered"] == [
        "`cudaMemcpy` on the default stream returns when it is done",
        "the host waits for `copy<<<…>>>` on `s` (`cudaStreamSynchronize`)",
    ]


def test_the_wait_of_a_free_becomes_an_inserted_wait() -> None:
    shown = of(
        analyzed(
            HEAD
            + """
int main() {
    int *p, *h;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMallocHost(&h, 4);
    cudaMalloc(&p, 4);
    fill<<<1, 1, 0, s>>>(p);
    cudaMemcpyAsync(h, p, 4, cudaMemcpyDeviceToHost, s);
    cudaFree(p);
    int got = h[0];
    return got;
}
"""
        )
    )
    assert told(shown.before)[:5] == [
        "allocate host",
        "kernel s",
        "copy s",
        "free host <2 waits",
        "host host",
    ]
    assert told(shown.after)[:6] == [
        "allocate s",
        "kernel s",
        "copy s",
        "synchronize host <2 waits",
        "free s",
        "host host",
    ]
    assert [step.inserted for step in shown.after].index(True) == 3
    assert [place.text for place in shown.memory] == ["p"]
    assert shown.lost is None


def test_events_are_arrows_from_where_they_are_recorded_to_where_they_are_waited_for() -> None:
    shown = of(
        analyzed(
            HEAD
            + """
int main() {
    int *p, *q;
    cudaStream_t a, b;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    cudaMallocManaged(&q, 4);
    cudaMalloc(&p, 4);
    fill<<<1, 1, 0, a>>>(p);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    copy<<<1, 1, 0, b>>>(p, q);
    cudaFree(p);
    cudaDeviceSynchronize();
    return q[0];
}
"""
        )
    )
    before = told(shown.before)
    assert before[:6] == [
        "allocate host",
        "kernel a",
        "record a",
        "wait b <2",
        "kernel b",
        "free host <4 waits",
    ]


def test_a_path_takes_the_arm_that_goes_on_and_one_round_of_a_loop() -> None:
    shown = of(
        analyzed(
            HEAD
            + """
int main(int argc, char **) {
    int *p;
    if (cudaMalloc(&p, 4) != cudaSuccess) return 1;
    if (argc > 9) {
        cudaFree(p);
        return 2;
    }
    for (int i = 0; i < argc; ++i) fill<<<1, 1>>>(p);
    cudaFree(p);
}
"""
        )
    )
    assert [step.kind for step in shown.before] == ["allocate", "kernel", "free", "end"]
    assert [step.kind for step in shown.after][:3] == ["allocate", "kernel", "free"]


def test_a_refusal_shows_which_order_would_be_lost() -> None:
    shown = of(
        analyzed(
            HEAD
            + """
int main(int argc, char **) {
    int *p;
    cudaMalloc(&p, 4);
    cudaStream_t *s = new cudaStream_t[argc];
    for (int i = 0; i < argc; ++i) {
        cudaStream_t one;
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        fill<<<1, 1, 0, one>>>(p);
    }
    cudaFree(p);
}
"""
        )
    )
    assert shown.lost is not None
    earlier, later = (shown.after[n] for n in shown.lost)
    assert (earlier.kind, later.kind) == ("kernel", "free")
    assert shown.lost[0] not in later.after


def test_a_plain_report_holds_no_certificate_and_has_its_own_place_in_the_cache() -> None:
    files = {"main.cu": (HEAD + "int main() { int *p; cudaMalloc(&p, 4); fill<<<1, 1>>>(p); cudaFree(p); }").encode()}
    for config, held in ((Config(), False), (ASKED, True), (Config(), False), (ASKED, True)):
        (finding,) = driver.analyze(files, config, 1, Cache()).findings
        assert (finding.certificate is not None) is held


def items(report: Report) -> list[Finding | Refusal]:
    return [*report.findings, *report.refusals]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_every_fixture_has_certificates_that_agree_with_its_findings(case: Case) -> None:
    files = sources_of(case.files("before"))
    plain, shown = driver.analyze(files, Config()), driver.analyze(files, ASKED)
    assert list(map(str, items(plain))) == [str(replace(item, certificate=None)) for item in items(shown)]
    for refusal in shown.refusals:
        if refusal.order:
            certificate = refusal.certificate
            assert certificate is not None
            assert certificate.lost is not None
            lost = [certificate.after[n].place for n in certificate.lost]
            assert [place[:2] for place in lost] == [place[:2] for place in refusal.related]
    for item in shown.findings:
        if item.certificate is None:
            continue
        steps = item.certificate.after
        assert bool(steps) == bool(item.edits)
        assert item.certificate.before
        if item.codemod not in PAIRS:
            assert item.certificate.lost is None
            assert (item.certificate.faulty is not None) == (len(item.related) > 0)
            continue
        assert item.certificate.lost is None
        allocated = [n for n, step in enumerate(steps) if step.mine and step.kind == "allocate"]
        freed = [n for n, step in enumerate(steps) if step.mine and step.kind == "free"]
        assert allocated, item
        assert freed, item
        assert min(allocated) < max(freed)
        assert {"allocated", "freed", "assumes", "holds"} <= {clause.about for clause in words.clauses(item)}
    for certificate in (item.certificate for item in items(shown) if item.certificate is not None):
        for steps in (certificate.before, certificate.after):
            assert all(m < n and steps[m].lane != step.lane for n, step in enumerate(steps) for m in step.after)
